#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""oracle.py - an independent, slow and obvious second implementation of the state machine of semantics.md.

Usage: oracle.py TRACE_DIR [--from NS --to NS] [--choice KEY=VALUE]... [--verbose]

Prints one JSON object: window, coverage counts, and per thread the leaves (ns, count of maximal intervals)
and the blocked intervals with their wakers.  Events come from `babeltrace2 --clock-seconds --no-delta` (text),
lost events from its warnings, packet begins from the CTF stream files themselves.  Quotations in comments
("...") are sentences of semantics.md; [ev] marks the event notes, lttng-events.md.

Places where the page can be read in more than one way are switches in CHOICES below, so that the other
reading can be tried with --choice.
"""
import collections
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

CHOICES = {
    # id -> name table for (compat_)syscall_*_unknown / sys_unknown: "table", or "literal" (the name is `unknown`)
    "unknown_ids": "table",
    # rule "without a statedump ... whose name has a kernel thread's form": "trace" = the trace has no
    # process_state record at all, "thread" = this thread was never described
    "kthread_by_name": "trace",
    # gap from the host's first packet to a CPU's first packet counts in "from its first evidence if a gap came before"
    "initial_gap_life": "yes",
    # a thread that became unknown at a gap and is next seen woken: "evidence" = unknown up to the wake-up,
    # "backdate" = blocked since the end of the last gap
    "gap_unknown": "evidence",
    # D of the Gaps picture (switched in inside a gap): an open syscall frame is closed as exit unseen: yes/no
    "gap_d_exit_unseen": "yes",
    # blocked and switched in without wake-up across a gap: counted as wake-up unseen: yes/no
    "gap_wakeup_counted": "yes",
    # a sched_wakeup seen before the switch-out uses up the remembered sched_waking: yes/no
    "wakeup_forgets_waking": "yes",
    # frames taken to have begun earlier (entry unseen) also change the context of wake-ups made in them: yes/no
    "relabel_wakers": "yes",
    # preempted and then woken over a gap is a contradiction too: yes/no
    "preempted_woken_contradicts": "no",
}

NONE_WAKER = {"kind": "none", "tid": None, "context": "unknown"}


def unknown_waker():
    return {"kind": "unknown", "tid": None, "context": "unknown"}


# --------------------------------------------------------------------------------------------------------------
# Reading the trace
# --------------------------------------------------------------------------------------------------------------
def metadata_text(directory):
    """Text of the metadata file; packetized metadata is unwrapped here (header: 37 bytes)."""
    with open(os.path.join(directory, "metadata"), "rb") as f:
        data = f.read()
    for order in "<>":
        if len(data) >= 37 and struct.unpack(order + "I", data[:4])[0] == 0x75D11D57:
            text, at = b"", 0
            while at + 37 <= len(data):
                content, packet = struct.unpack(order + "II", data[at + 24:at + 32])
                text += data[at + 37:at + content // 8]
                at += packet // 8
            return text.decode("utf-8", "replace")
    return data.decode("utf-8", "replace")


class Trace:
    """One kernel CTF trace: environment and packet layout."""

    def __init__(self, directory):
        self.dir = directory
        text = metadata_text(directory)
        env = re.search(r"\benv\s*\{(.*?)\};", text, re.S)
        self.env = dict(re.findall(r"(\w+)\s*=\s*\"?([^\";]*)\"?;", env.group(1))) if env else {}
        self.is_kernel = self.env.get("domain") == "kernel" or self.env.get("tracer_name") == "lttng-modules"
        block = re.search(r"\btrace\s*\{(.*?)\};", text, re.S).group(1)     # single fields may have another order
        self.big_endian = bool(re.search(r"byte_order\s*=\s*be", block))
        self.align, self.size = {}, {}
        for body, name in re.findall(r"typealias\s+integer\s*\{([^}]*)\}\s*:=\s*([\w ]+?)\s*;", text):
            self.size[name] = int(re.search(r"size\s*=\s*(\d+)", body).group(1))
            al = re.search(r"align\s*=\s*(\d+)", body)
            self.align[name] = int(al.group(1)) if al else 8
        self.word = self.size.get("unsigned long", 64)
        self.header = self.members(re.search(r"packet\.header\s*:=\s*struct\s*\{(.*?)\}", text, re.S).group(1))
        self.context = self.members(re.search(r"struct\s+packet_context\s*\{(.*?)\}", text, re.S).group(1))
        clock = re.search(r"\bclock\s*\{(.*?)\};", text, re.S).group(1)
        number = lambda key, default: int((re.search(r"\b%s\s*=\s*(\d+)" % key, clock) or [0, default])[1])
        freq = number("freq", 1000000000)
        assert freq == 1000000000, "clock of %d Hz" % freq
        self.clock_offset = number("offset_s", 0) * 1000000000 + number("offset", 0)
        self.has_context = bool(re.search(r"\bevent\.context\s*:=", text))

    @staticmethod
    def members(body):
        return [(t.strip(), n, int(k) if k else 1)
                for t, n, k in re.findall(r"([\w ]+?)\s+(\w+)(?:\[(\d+)\])?\s*;", body)]

    def first_packet(self, path):
        """Values of header and packet context of the first packet of a stream file (None: no packet)."""
        with open(path, "rb") as f:
            data = f.read(4096)
        if len(data) < 64:
            return None
        pos, values = 0, {}
        for fields in (self.header, self.context):
            pos = -(-pos // max(self.align[t] for t, _, _ in fields)) * max(self.align[t] for t, _, _ in fields)
            for t, name, count in fields:
                pos = -(-pos // self.align[t]) * self.align[t]
                raw = data[pos // 8:(pos + self.size[t]) // 8]
                values[name] = int.from_bytes(raw, "big" if self.big_endian else "little")
                pos += self.size[t] * count
        if values.get("magic") != 0xC1FC1FC1:
            return None
        return values


def find_traces(top):
    found = []
    for directory, subdirs, files in os.walk(top):
        subdirs.sort()
        if "metadata" in files:
            t = Trace(directory)
            if t.is_kernel:
                found.append(t)
    if not found:
        sys.exit("oracle: no kernel trace under %s" % top)
    return found


LINE = re.compile(r"\[(\d+)\.(\d{9})\] (?:[^ ]+ )?([^ ]+): \{ cpu_id = (\d+) \}, (.*)$")
GROUP_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]')
FIELD = re.compile(r'(\w+) = (?:"((?:[^"\\]|\\.)*)"|\( [^()]*?: container = (-?\d+) \)|(-?\w+))')
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def unescape(s):
    return re.sub(r"\\(.)", lambda m: ESCAPES.get(m.group(1), m.group(1)), s) if "\\" in s else s


def fields_of(text):
    """Named scalar members of a text like `{ a = 1, b = "x", c = ( "L" : container = 5 ) }`."""
    out = {}
    for m in FIELD.finditer(text):
        name, string, container, word = m.groups()
        if string is not None:
            out[name] = unescape(string)
        elif container is not None:
            out[name] = int(container)
        else:
            try:
                out[name] = int(word, 0)
            except ValueError:
                out[name] = word
    return out


def split_context(text):
    """`{ context }, { payload }` -> both, minding braces in strings; `{ payload }` is of a channel without context."""
    depth = 0
    for m in GROUP_TOKEN.finditer(text):
        c = m.group()
        if c == "{":
            depth += 1
        elif c == "}":
            depth -= 1
            if depth == 0 and m.end() < len(text):
                return text[:m.end()], text[m.end() + 2:]
    return "", text


def read_events(traces):
    """All events, as (ts, cpu, name, context text or None, payload text), and discards [(b, e, cpu, kind, n)]."""
    command = ["babeltrace2", "--clock-seconds", "--no-delta"] + [t.dir for t in traces]
    environment = dict(os.environ, BABELTRACE_TERM_COLOR="NEVER", LC_ALL="C.UTF-8")
    errfile = tempfile.TemporaryFile()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errfile, env=environment) as p:
        events = []
        context = any(t.has_context for t in traces)
        match = LINE.match
        for raw in p.stdout:
            m = match(raw.decode("utf-8", "replace").rstrip("\n"))
            if not m:
                sys.exit("oracle: cannot read line %r" % raw)
            sec, ns, name, cpu, rest = m.groups()
            ctx = None
            if context:
                ctx, rest = split_context(rest)
            events.append((int(sec + ns), int(cpu), sys.intern(name), ctx, rest))
    errfile.seek(0)
    errors = errfile.read().decode("utf-8", "replace")
    if p.returncode:
        sys.stderr.write("oracle: babeltrace2 status %d\n%s" % (p.returncode, errors[-2000:]))
    # "Events with equal stamps: the lower CPU first, on one CPU in stream order" (several channels: as babeltrace2 has it)
    events.sort(key=lambda e: (e[0], e[1]))

    discards = []
    pattern = re.compile(r"Tracer discarded (an unknown number of|\d+) (event|packet)s? between "
                         r"\[(\d+)\.(\d{9})\] and \[(\d+)\.(\d{9})\].*?within stream \"([^\"]*)\"")
    seen = len(re.findall(r"Tracer discarded", errors))
    for m in pattern.finditer(errors):
        count = 0 if m.group(1).startswith("an") else int(m.group(1))
        cpu = cpu_of_stream(traces, m.group(7))
        discards.append((int(m.group(3) + m.group(4)), int(m.group(5) + m.group(6)), cpu, m.group(2), count))
    assert len(discards) == seen, "a warning about discarded events was not understood"
    discards.sort()
    return events, discards


def stream_files(trace):
    for name in sorted(os.listdir(trace.dir)):
        path = os.path.join(trace.dir, name)
        if name != "metadata" and os.path.isfile(path) and not name.startswith("."):
            yield path


def cpu_of_stream(traces, path):
    for t in traces:
        if os.path.dirname(os.path.realpath(path)) == os.path.realpath(t.dir) and os.path.exists(path):
            return t.first_packet(path)["cpu_id"]
    return int(re.search(r"_(\d+)$", path).group(1))


def first_packet_begins(traces):
    """cpu -> begin of its first packet, in ns from origin."""
    begins = {}
    for t in traces:
        for path in stream_files(t):
            p = t.first_packet(path)
            if p:
                ns = p["timestamp_begin"] + t.clock_offset
                begins[p["cpu_id"]] = min(ns, begins.get(p["cpu_id"], ns))
    return begins


# --------------------------------------------------------------------------------------------------------------
# prev_state
# --------------------------------------------------------------------------------------------------------------
class PrevState:
    """[ev] 1.1 'prev_state has two encodings'."""

    def __init__(self, env):
        k = re.match(r"(\d+)\.(\d+)", env.get("kernel_release", "6.1"))
        kernel = (int(k.group(1)), int(k.group(2)))
        tracer = tuple(int(env.get("tracer_" + x, d)) for x, d in (("major", 2), ("minor", 13), ("patchlevel", 0)))
        self.report = kernel >= (4, 14) and (
            tracer >= (2, 11) or (2, 10, 12) <= tracer < (2, 11) or (2, 9, 15) <= tracer < (2, 10))
        if self.report:
            self.pmax, self.dead = 0x100, 0x10 | 0x20
        elif kernel >= (4, 14):                 # raw bits of the new kernel
            self.pmax, self.dead = 4096, 0x10 | 0x20 | 0x80
        else:                                   # raw bits, TASK_DEAD is 64
            self.dead = 16 | 32 | 64
            self.pmax = (0 if kernel < (3, 2) else 512 if kernel < (3, 9) else 1024 if kernel < (4, 2)
                         else 2048 if kernel < (4, 8) else 4096)

    def decode(self, value):
        """-> 'preempted', 'dead', 'stopped', 'traced' or 'blocked'."""
        if value == 0 or value & self.pmax:     # "prev_state 0, or with the preempted flag -> preempted"
            return "preempted"
        if value & self.dead:                   # "dead or zombie -> the thread is over"
            return "dead"
        if value & 4:
            return "stopped"
        if value & 8:
            return "traced"
        return "blocked"                        # "anything else -> blocked"

    def idle_sleep(self, value):                # "the idle-sleep state (0x80 in the report form, kernels >= 4.14)"
        return self.report and bool(value & 0x80)


# --------------------------------------------------------------------------------------------------------------
# Event names, over the tracer versions
# --------------------------------------------------------------------------------------------------------------
X86_64_IDS = {15: "rt_sigreturn", 57: "fork", 58: "vfork", 158: "arch_prctl"}
X86_64_IDS.update({304 + i: n for i, n in enumerate(
    "open_by_handle_at clock_adjtime syncfs sendmmsg setns getcpu process_vm_readv process_vm_writev kcmp finit_module "
    "sched_setattr sched_getattr renameat2 seccomp getrandom memfd_create kexec_file_load bpf execveat userfaultfd "
    "membarrier mlock2 copy_file_range preadv2 pwritev2 pkey_mprotect pkey_alloc pkey_free statx io_pgetevents rseq"
    .split())})
X86_64_IDS.update({424 + i: n for i, n in enumerate(
    "pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount fsopen fsconfig fsmount "
    "fspick pidfd_open clone3 close_range openat2 pidfd_getfd faccessat2 process_madvise epoll_pwait2 mount_setattr "
    "quotactl_fd landlock_create_ruleset landlock_add_rule landlock_restrict_self memfd_secret process_mrelease "
    "futex_waitv set_mempolicy_home_node cachestat fchmodat2 map_shadow_stack futex_wake futex_wait futex_requeue"
    .split())})

EVIDENCE_EVENTS = {"sched_migrate_task", "sched_pi_setprio", "sched_stat_wait", "sched_stat_sleep",
                   "sched_stat_iowait", "sched_stat_blocked", "sched_stat_runtime", "sched_process_exit"}


def classify(name):
    """-> (handler, argument...) for one event name."""
    simple = {
        "sched_switch": "switch", "sched_waking": "waking", "sched_wakeup": "wakeup",
        "sched_wakeup_new": "wakeup_new", "sched_process_fork": "fork", "sched_process_exec": "exec",
        "sched_process_free": "free", "sched_process_wait": "wait",
        "lttng_statedump_process_state": "statedump",
        "irq_handler_entry": ("in", "irq"), "irq_handler_exit": ("out", "irq"),
        "irq_softirq_entry": ("in", "softirq"), "irq_softirq_exit": ("out", "softirq"),
        "softirq_entry": ("in", "softirq"), "softirq_exit": ("out", "softirq"),
        "timer_hrtimer_expire_entry": ("in", "hrtimer"), "timer_hrtimer_expire_exit": ("out", "hrtimer"),
        "hrtimer_expire_entry": ("in", "hrtimer"), "hrtimer_expire_exit": ("out", "hrtimer"),
        "exit_syscall": ("sysexit", None),      # "`exit_syscall` names nothing: `syscall:unknown`"
    }.get(name)
    if simple:
        return simple if isinstance(simple, tuple) else (simple,)
    m = re.match(r"(?:compat_)?syscall_(entry|exit)_(.+)$", name)
    if m:
        return ("sysentry" if m.group(1) == "entry" else "sysexit", m.group(2))
    m = re.match(r"(?:compat_)?sys_(.+)$", name)
    if m:
        return ("sysentry", m.group(1))
    m = re.match(r"x86_irq_vectors_(.+)_(entry|exit)$", name)
    if m:
        return ("in" if m.group(2) == "entry" else "out", "vector", m.group(1))
    if "page_fault" in name and not name.startswith("kvm"):
        return ("fault", "user" in name)
    if name in EVIDENCE_EVENTS:
        return ("evidence",)
    return ("other",)


KTHREAD_NAME = re.compile(
    r"(kworker/|ksoftirqd/\d|migration/\d|rcu_|rcu[bcops]/|rcuo[bgps]+/|jbd2/|irq/\d+-|kthreadd$|kswapd\d|kcompactd\d|khugepaged$|"
    r"ksmd$|kauditd$|khungtaskd$|oom_reaper$|watchdog/\d|watchdogd$|cpuhp/\d|idle_inject/\d|posixcputmr/\d|stopper/\d|"
    r"kblockd$|kdevtmpfs$|scsi_eh_\d|scsi_tmf_\d|writeback$|bdi-default$|flush-\d|ext4-|xfs[-_]|btrfs-|md\d|dm[-_]|loop\d|"
    r"kintegrityd|crypto$|netns$|mm_percpu_wq$|slub_flushwq$|inet_frag_wq$|ata_sff$|khelper$|kjournald|sirq-|"
    r"kcryptd|kpsmoused$|ktimers/\d|ktimersoftd/\d|napi/|nfsd$|lockd$|rpciod$|hwrng$|vballoon$|card\d)")


# --------------------------------------------------------------------------------------------------------------
# Threads
# --------------------------------------------------------------------------------------------------------------
class Blocked:
    """What is known of one blocked interval; its leaf is decided at the end."""

    def __init__(self, reason, syscall, trap, seen, pending):
        self.reason = reason        # stopped, traced or blocked
        self.syscall = syscall      # innermost syscall frame
        self.trap = trap            # page-fault frame open
        self.seen = seen            # a system-call event or user page fault was seen in the known history
        self.pending = pending      # context of a sched_waking that came before the switch-out
        self.waker = None
        self.wake_time = None


FORKS = ("fork", "vfork", "clone", "clone3")
CLONE_THREAD = 0x10000  # clone(2), linux/sched.h


class Thread:
    def __init__(self, tid, first_seen):
        self.tid, self.pid = tid, None
        self.names = []             # (ts, comm)
        self.first_seen = first_seen
        self.born = None            # fork or wakeup_new
        self.after_life = None      # end of an earlier life of this TID
        self.end = None
        self.by_fork = self.wakeup_new_seen = False
        # state: virgin (no evidence yet), unknown, run, preempted, waitcpu, blocked
        self.kind, self.data, self.t0 = "virgin", None, None
        self.segs = []              # [begin, end, kind, data]; run's data is (interrupt frames, syscall)
        self.cpu = None
        self.evidence = False
        # frames of the thread
        self.syscall = self.since = None
        self.flags = None           # of clone, while it is open
        self.trap = False
        # known history
        self.hist = None
        self.seen = False
        self.last_sc = None         # last system-call entry, exit or user page fault
        self.after_sigreturn = False
        self.remembered = None      # context of a sched_waking while not blocked
        self.later = None           # (ts, waker) of one while it may have been running unseen
        self.left = None            # switched out last
        self.unseen = None          # (from, until) of its last time off CPU that overlaps a gap
        self.wakes = []             # (ts, waker) made outside interrupt frames
        # facts about being a kernel thread
        self.sd_type = None
        self.child_of_kthreadd = self.execd = self.idle_sleep = self.had_syscall = False

    def name_at(self, limit):
        """"A thread's name is its newest comm in the window"."""
        best = None
        for ts, n in self.names:
            if ts < limit or best is None:
                best = n
        return best if best is not None else ""

    def to(self, ts, kind, data=None):
        """Close the open stretch and begin another."""
        if self.kind != "virgin" and ts > self.t0:
            self.segs.append([self.t0, ts, self.kind, self.data])
        self.t0, self.kind, self.data = ts, kind, data

    def learn(self, ts):
        """The known history starts here."""
        self.hist, self.seen, self.last_sc, self.after_sigreturn = ts, False, None, False
        self.syscall, self.trap = None, False

    def split(self, at):
        """Make `at` a boundary of stretches; returns the stretches from it on (the open one not included)."""
        if self.kind != "virgin" and self.t0 < at:
            self.segs.append([self.t0, at, self.kind, self.data])
            self.t0 = at
        i = len(self.segs)
        while i and self.segs[i - 1][0] >= at:
            i -= 1
        if i and self.segs[i - 1][1] > at:
            b, e, k, d = self.segs[i - 1]
            self.segs[i - 1:i] = [[b, at, k, d], [at, e, k, d]]
        return self.segs[i:]


IDLE = "idle"


class Machine:
    def __init__(self, traces, events, discards):
        self.events = events
        self.begin, self.end = events[0][0], events[-1][0]      # "The trace runs from its first to its last event"
        self.env = traces[0].env
        self.word = traces[0].word
        self.prev_state = PrevState(self.env)
        self.discarded_events = sum(n for _, _, _, k, n in discards if k == "event")
        self.discarded_packets = sum(n for _, _, _, k, n in discards if k == "packet")
        self.entries_unseen = self.exits_unseen = self.wakeups_unseen = 0
        self.live = {}                                          # tid -> Thread
        self.last_end = {}                                      # tid -> end of its last life
        self.threads = []
        self.anomalies = collections.Counter()
        cpus = sorted({e[1] for e in events})
        # "From the host's first packet to a CPU's own first packet nothing is known of that CPU: a gap.
        #  S is the time from which every CPU is known (the last of their first packets)."
        self.packet_begin = first_packet_begins(traces)
        for e in events:
            self.packet_begin.setdefault(e[1], e[0])
        first = min(self.packet_begin.values())
        self.S = max(self.packet_begin.values())
        self.initial_gaps = [(first, b) for b in self.packet_begin.values() if b > first and b > self.begin]
        self.lost = sorted((b, e, c) for b, e, c, _, _ in discards)
        self.cpu_lost = {c: [(b, e) for b, e, x in self.lost if x == c] for c in cpus}
        self.all_gaps = sorted(self.initial_gaps + [(b, e) for b, e, _ in self.lost])
        self.current = {c: None for c in cpus}
        self.frames = {c: () for c in cpus}
        self.last_switch = {c: None for c in cpus}
        self.first_pass()

    def first_pass(self):
        """Who ran on each CPU before its first switch; whether there is sched_waking, a statedump."""
        names = {e[2] for e in self.events}
        self.has_waking = "sched_waking" in names
        self.has_statedump = "lttng_statedump_process_state" in names
        # "Before the first one it is the `tid` context of the CPU's events, if the trace has it, else the first
        #  switch's prev_tid: hold events back until it is known, and apply them then as if it had been".  A gap of
        #  lost events before that: never known.
        self.first_tid = {}
        pending = set(self.current)
        for ts, cpu, name, ctx, rest in self.events:
            if cpu not in pending:
                continue
            if any(b <= ts for b, _ in self.cpu_lost[cpu]):
                pending.discard(cpu)
                continue
            tid = fields_of(ctx).get("tid") if ctx else None
            if tid is None and name == "sched_switch":
                tid = fields_of(rest)["prev_tid"]
            if tid is not None:
                self.first_tid[cpu] = tid
                pending.discard(cpu)
            if not pending:
                break
        # not yet "begun" CPUs, by the thread that runs there
        self.waiting_first = {t: c for c, t in self.first_tid.items() if t}

    # -- gaps --------------------------------------------------------------------------------------------------
    def in_gap(self, cpu, ts):
        """Lost events of this CPU's stream; intervals are half open."""
        return any(b <= ts < e for b, e in self.cpu_lost[cpu])

    def overlapping_gap(self, s, t):
        """Begin of the first gap of any CPU that overlaps [s, t)."""
        for b, e in self.all_gaps:
            if b < t and e > s:
                return b
        return None

    def overlapping_lost(self, s, t):
        """Does a gap of any CPU's lost events overlap [s, t)? s None: from the beginning."""
        return any(b < t and (s is None or e > s) for b, e, _ in self.lost)

    def found_off_since(self, t):
        """"was so since S, or since the end of the last gap after S" - never later than t itself."""
        since = self.S
        for b, e in self.all_gaps:
            if b < t:
                since = max(since, e)
        return max(self.begin, min(since, t))

    def gap_begins(self, b, cpu):
        """"From b that CPU's current thread is unknown until an event after e names it.  The thread that was current is
        unknown from b to its next evidence; its interrupt frames are dropped, its system call is closed as exit unseen." """
        t = self.current[cpu]
        self.current[cpu] = None
        self.frames[cpu] = ()
        self.first_tid.pop(cpu, None)
        if isinstance(t, Thread):
            if t.syscall is not None:
                self.exits_unseen += 1
            self.make_unknown(t, b)

    def make_unknown(self, t, ts):
        t.to(ts, "unknown")
        t.syscall, t.trap, t.remembered, t.cpu = None, False, None, None

    def contradiction(self, t, ts, since=None):
        """"If what is seen next contradicts it, it is unknown from the later of b and its begin, and the thread's
        system-call frame is dropped."  False if no gap overlaps the stretch. `since`: who waits for a CPU was
        blocked or preempted before, which is part of the stretch off the CPU."""
        since = t.t0 if since is None else min(since, t.t0)
        b = self.overlapping_gap(since, ts)
        if b is None:
            return False
        u = max(b, since)
        if u < t.t0:
            for seg in t.split(u):
                seg[2], seg[3] = "unknown", None
            if t.segs and t.segs[-1][1] == u and t.segs[-1][2] == "blocked":
                t.segs[-1][3].waker, t.segs[-1][3].wake_time = unknown_waker(), u
            for seg in [s for s in t.segs if s[0] < u and s[1] == u and s[2] == "blocked"]:
                seg[3].waker, seg[3].wake_time = unknown_waker(), u
        if t.kind == "blocked" and u > t.t0:
            t.data.waker, t.data.wake_time = unknown_waker(), u
        t.to(max(u, t.t0), "unknown")
        t.learn(ts)
        t.remembered = None
        return True

    def may_run_unseen(self, ts):
        """Some CPU lost events and has not named its thread since: whose state is unknown may be there."""
        return any(self.current[c] is None and any(b <= ts for b, _ in gaps) for c, gaps in self.cpu_lost.items())

    def was_woken(self, t):
        """It was off the CPU when it was woken, as is known now."""
        ts, w = t.later
        t.later = None
        self.wake(t, ts, w)

    # -- lives -------------------------------------------------------------------------------------------------
    def get(self, tid, ts):
        t = self.live.get(tid)
        if t is None:
            t = self.live[tid] = Thread(tid, ts)
            t.after_life = self.last_end.get(tid)
            self.threads.append(t)
        return t

    def over(self, t, ts):
        t.to(ts, "over")
        t.end = ts
        self.last_end[t.tid] = ts
        if self.live.get(t.tid) is t:
            del self.live[t.tid]
        for c, x in self.current.items():
            if x is t:
                self.current[c] = None

    def birth(self, tid, ts):
        """"A TID used again is a new thread." """
        old = self.live.get(tid)
        if old is not None:
            self.anomalies["tid used again while alive"] += 1
            self.over(old, ts)
        t = self.get(tid, ts)
        t.born, t.evidence = ts, True
        t.to(ts, "waitcpu")
        t.learn(ts)
        return t

    def run(self, t, ts, cpu):
        t.cpu = cpu
        t.evidence = True
        t.to(ts, "run", (self.frames[cpu], t.syscall))

    def become_current(self, t, ts, cpu):
        """t is known to run on cpu without having been seen to be switched in."""
        if t.kind in ("virgin", "unknown"):
            t.learn(ts)
        elif t.kind in ("blocked", "waitcpu", "preempted"):
            if not self.contradiction(t, ts, t.left):
                self.anomalies["current though off CPU"] += 1
                if t.kind == "blocked":
                    t.data.waker, t.data.wake_time = unknown_waker(), ts
        elif t.kind == "run" and t.cpu != cpu:
            self.anomalies["current on two CPUs"] += 1
            self.current[t.cpu] = None
        self.current[cpu] = t
        self.run(t, ts, cpu)

    def named(self, tid, ts):
        """The thread of a scheduling event that names it; one that runs on a CPU that has emitted nothing yet is
        current there (see first_pass) as soon as there is evidence of it."""
        t = self.get(tid, ts)
        cpu = self.waiting_first.get(tid)
        if cpu is not None and t.kind == "virgin" and self.packet_begin[cpu] <= ts:
            del self.waiting_first[tid]
            self.first_tid.pop(cpu, None)
            self.become_current(t, ts, cpu)
        t.evidence = True
        return t

    # -- contexts of wake-ups ----------------------------------------------------------------------------------
    def waker(self, ts, cpu, comm):
        """"The waker is the context of that event: the innermost frame of the CPU that emitted it, and its current thread." """
        if self.in_gap(cpu, ts):                # "wakers there are unknown"
            return unknown_waker()
        cur, frames = self.current[cpu], self.frames[cpu]
        tid = 0 if cur is IDLE else cur.tid if cur is not None else None
        if frames:
            kind, number = frames[-1]
            return {"kind": kind, "tid": tid, "context": kind if kind == "hrtimer" else "%s:%s" % (kind, number)}
        if re.match(r"ksoftirqd/\d+$", comm):   # "ksoftirqd/N woken outside any interrupt frame: the waker is the softIRQ work of that CPU"
            return {"kind": "softirq", "tid": tid, "context": "softirq"}
        if cur is None:
            return unknown_waker()
        w = {"kind": "thread", "tid": tid, "context": "thread"}
        if cur is not IDLE:
            if cur.syscall is not None:
                w["context"] = "syscall:" + cur.syscall
            cur.wakes.append((ts, w))
        return w

    def wakeup_waker(self, ts, cpu, comm):
        """"its own context is the waker, but inside a reschedule or call_function vector, or in the idle loop, the waker
        is unknown" """
        frames = self.frames[cpu]
        if any(k == "vector" and n in ("reschedule", "call_function", "call_function_single") for k, n in frames):
            return unknown_waker()
        if self.current[cpu] is IDLE and not frames and not re.match(r"ksoftirqd/\d+$", comm):
            return unknown_waker()
        return self.waker(ts, cpu, comm)

    # -- main loop ---------------------------------------------------------------------------------------------
    def process(self):
        kinds = {}
        lost = list(self.lost)
        gap_at = 0
        for ts, cpu, name, ctx, rest in self.events:
            while gap_at < len(lost) and lost[gap_at][0] <= ts:
                self.gap_begins(lost[gap_at][0], lost[gap_at][2])
                gap_at += 1
            kind = kinds.get(name)
            if kind is None:
                kind = kinds[name] = classify(name)
            gap = self.in_gap(cpu, ts) if self.cpu_lost[cpu] else False
            cur = self.current[cpu]
            context = fields_of(ctx) if ctx else {}
            if cur is None and not gap:
                # first events of a CPU, or a `tid` context that names the current thread after a gap
                tid = context.get("tid", self.first_tid.get(cpu))
                self.first_tid.pop(cpu, None)
                if tid is not None:
                    if tid == 0:
                        self.current[cpu] = IDLE
                    else:
                        self.waiting_first.pop(tid, None)
                        self.become_current(self.get(tid, ts), ts, cpu)
                    cur = self.current[cpu]
            if gap:
                cur = None                      # "Other events of that CPU inside the gap belong to no thread"
            if isinstance(cur, Thread) and "pid" in context:
                cur.pid = context["pid"]
            if kind[0] != "other":
                getattr(self, "on_" + kind[0])(ts, cpu, cur, gap, fields_of(rest), *kind[1:])
        for b, e, cpu in lost[gap_at:]:
            self.gap_begins(min(b, self.end), cpu)
        for t in list(self.live.values()):
            t.to(self.end, "over")
            t.end = self.end

    # -- scheduling --------------------------------------------------------------------------------------------
    def on_switch(self, ts, cpu, cur, gap, f):
        prev, nxt = f["prev_tid"], f["next_tid"]
        self.frames[cpu] = ()                   # [ev] 4: the CPU's interrupt stack must be empty at a switch
        if isinstance(cur, Thread) and cur.tid != prev:
            self.anomalies["switch away of another thread than the current"] += 1
            self.make_unknown(cur, ts)
        self.current[cpu] = None
        if prev != 0:                           # "For prev_tid 0 ignore prev_state" [ev]
            self.switch_out(ts, cpu, prev, f)
        self.last_switch[cpu] = ts
        if nxt == 0:
            self.current[cpu] = None if gap else IDLE
        else:
            self.switch_in(ts, cpu, nxt, gap, f)

    def switch_out(self, ts, cpu, tid, f):
        p = self.get(tid, ts)
        p.names.append((ts, f["prev_comm"]))
        p.evidence = True
        if p.kind in ("virgin", "unknown"):     # "known again at its switch away"; "way out counts from the switch inside the gap"
            p.learn(ts)
        elif p.kind != "run":                   # "seen as prev" while off CPU
            if not self.contradiction(p, ts, p.left):
                self.anomalies["prev though off CPU"] += 1
                if p.kind == "blocked":
                    p.data.waker, p.data.wake_time = unknown_waker(), ts
        elif p.cpu != cpu:
            self.anomalies["prev though current elsewhere"] += 1
            self.current[p.cpu] = None
        state = self.prev_state.decode(f["prev_state"])
        if self.prev_state.idle_sleep(f["prev_state"]) and state != "dead":
            p.idle_sleep = True
        p.cpu = None
        if p.later is not None:
            p.remembered, p.later = p.later[1], None
        p.left = ts
        if state == "dead":
            self.over(p, ts)
        elif state == "preempted":
            p.to(ts, "preempted")
        else:
            p.to(ts, "blocked", Blocked(state, p.syscall, p.trap, p.seen, p.remembered))
        p.remembered = None                     # "is remembered until T's next switch"

    def switch_in(self, ts, cpu, tid, gap, f):
        n = self.get(tid, ts)
        n.names.append((ts, f["next_comm"]))
        self.waiting_first.pop(tid, None)
        if self.overlapping_lost(n.left, ts):
            n.unseen = (n.left, ts)
        if n.kind in ("virgin", "unknown") and n.later is not None:
            self.was_woken(n)
        elif n.kind == "virgin":
            # "A thread found off CPU without having been seen to leave (... by a first switch in with no wake-up) was so
            #  since S ... waiting for CPU in the third."
            since = self.found_off_since(ts) if n.after_life is None else max(n.after_life, self.found_off_since(ts))
            n.to(since, "waitcpu")
            n.learn(since)
        elif n.kind == "unknown":
            n.learn(ts)
        elif n.kind == "blocked":
            # "Switched in while still blocked (no waking seen): the blocking ends there, waker unknown, counted."
            overlap = self.overlapping_gap(n.t0, ts) is not None
            if not overlap or CHOICES["gap_wakeup_counted"] == "yes":
                self.wakeups_unseen += 1
            if not self.contradiction(n, ts):
                n.data.waker, n.data.wake_time = unknown_waker(), ts
        elif n.kind == "run":
            self.anomalies["switched in though current"] += 1
            if n.cpu is not None and self.current.get(n.cpu) is n:
                self.current[n.cpu] = None
        n.remembered = None
        n.evidence = True
        if gap:                                 # D: "ran at that instant, unknown after it"
            if n.syscall is not None and CHOICES["gap_d_exit_unseen"] == "yes":
                self.exits_unseen += 1
            self.make_unknown(n, ts)
        else:
            self.current[cpu] = n
            self.run(n, ts, cpu)

    def wake(self, t, ts, waker):
        """T's blocking ends: it waits for CPU from here."""
        if t.kind == "blocked":
            t.data.waker, t.data.wake_time = waker, ts
        elif t.kind == "virgin" or (t.kind == "unknown" and CHOICES["gap_unknown"] == "backdate"):
            # "found off CPU ... by its first wake-up ... was so since S ... Blocked"
            since = self.found_off_since(ts)
            if t.after_life is not None:
                since = max(since, t.after_life)
            if t.kind == "unknown":
                since = max(since, t.t0)
            blocked = Blocked("blocked", None, False, False, None)
            blocked.waker, blocked.wake_time = waker, ts
            t.to(since, "blocked", blocked)
            t.learn(since)
        elif t.kind == "unknown":
            t.learn(ts)
        t.to(ts, "waitcpu")

    def on_waking(self, ts, cpu, cur, gap, f):
        if f["tid"] == 0:
            return
        t = self.named(f["tid"], ts)
        t.names.append((ts, f["comm"]))
        w = self.waker(ts, cpu, f["comm"])
        again = (t.kind == "waitcpu" or t.kind == "preempted" and CHOICES["preempted_woken_contradicts"] == "yes") \
            and self.contradiction(t, ts)       # "waiting for CPU and woken again"
        if t.kind in ("virgin", "unknown") and self.may_run_unseen(ts):
            t.later = (ts, w)
        elif again:
            t.to(ts, "waitcpu")
        elif t.kind in ("blocked", "virgin", "unknown"):
            self.wake(t, ts, w)
        else:                                   # "while T is not blocked is remembered until T's next switch"
            t.remembered = w

    def on_wakeup(self, ts, cpu, cur, gap, f):
        if f["tid"] == 0:
            return
        t = self.named(f["tid"], ts)
        t.names.append((ts, f["comm"]))
        if t.kind in ("virgin", "unknown") and self.may_run_unseen(ts):
            return
        if t.kind in ("virgin", "unknown") and t.later is not None:
            self.was_woken(t)
        lost = self.has_waking and any(b < ts for b, _, _ in self.lost)
        if t.kind == "virgin" and lost:         # its sched_waking was lost in a gap
            since = self.found_off_since(ts)
            t.to(since if t.after_life is None else max(since, t.after_life), "waitcpu")
            t.learn(t.t0)
        elif t.kind == "blocked" and t.data.pending is None and self.has_waking and \
                self.overlapping_lost(t.t0, ts):
            self.wake(t, ts, unknown_waker())
        elif t.kind == "blocked" and t.data.pending is not None:
            # "if T then switches out as blocked and a sched_wakeup(T) follows, the blocking ends at that sched_wakeup, and
            #  the waker is the remembered context"
            self.wake(t, ts, t.data.pending)
        elif t.kind in ("blocked", "virgin", "unknown"):
            self.wake(t, ts, self.wakeup_waker(ts, cpu, f["comm"]))
        elif t.kind == "waitcpu" and not self.has_waking:
            if self.contradiction(t, ts):
                t.to(ts, "waitcpu")
        elif t.kind == "run" and CHOICES["wakeup_forgets_waking"] == "yes":
            t.remembered = None

    def on_wakeup_new(self, ts, cpu, cur, gap, f):
        t = self.live.get(f["tid"])
        if t is None or not t.by_fork or t.wakeup_new_seen:
            t = self.birth(f["tid"], ts)        # "sched_wakeup_new where the fork was not seen"
            if isinstance(cur, Thread) and cur.syscall == "clone" and cur.flags is not None:
                t.pid = cur.pid if cur.flags & CLONE_THREAD else t.tid
            # who wakes a new thread made it: "A child of fork, vfork, clone, clone3 inherits that frame"
            if isinstance(cur, Thread) and cur.syscall in FORKS:
                t.syscall = cur.syscall
        t.wakeup_new_seen = True
        t.names.append((ts, f["comm"]))

    def on_fork(self, ts, cpu, cur, gap, f):
        parent = None
        if f["parent_tid"] != 0:
            parent = self.named(f["parent_tid"], ts)
            parent.names.append((ts, f["parent_comm"]))
            if "parent_pid" in f:
                parent.pid = f["parent_pid"]
        child = self.birth(f["child_tid"], ts)  # "From its sched_process_fork until it is first switched in it waits for CPU."
        child.by_fork = True
        child.names.append((ts, f["child_comm"]))
        if "child_pid" in f:
            child.pid = f["child_pid"]
        if f["parent_tid"] == 2:
            child.child_of_kthreadd = True
        # "A child of fork, vfork, clone, clone3 inherits that frame and leaves it at its own system-call exit"
        if parent is not None and parent.syscall in FORKS:
            child.syscall = parent.syscall

    def on_exec(self, ts, cpu, cur, gap, f):
        tid = f.get("tid", f.get("pid"))
        old = f.get("old_tid", f.get("old_pid", tid))
        if old != tid and old in self.live:     # [ev] "the thread lives on as tid = pid and the other threads die"
            self.anomalies["exec by a thread that is not the leader"] += 1
            t = self.live[old]
            if tid in self.live:
                self.over(self.live[tid], ts)
            del self.live[old]
            t.tid = tid
            self.live[tid] = t
        t = self.named(tid, ts)
        t.execd = True
        t.pid = tid                             # the thread that execs is, or becomes, the leader
        # "exec sets the first 15 characters of the file's base name"
        base = f["filename"].rsplit("/", 1)[-1]
        t.names.append((ts, base.encode("utf-8", "replace")[:15].decode("utf-8", "ignore")))

    def on_free(self, ts, cpu, cur, gap, f):
        tid = f["tid"]
        t = self.live.get(tid)
        if tid == 0 or (t is None and tid in self.last_end):
            return                              # the end of a life that its last switch has already ended
        t = self.get(tid, ts)
        t.names.append((ts, f["comm"]))
        t.evidence = True
        if t.kind in ("blocked", "waitcpu", "preempted"):
            self.contradiction(t, ts, t.left)   # it has exited, which it cannot have done off the CPU
        self.over(t, ts)                        # "or sched_process_free"

    def on_wait(self, ts, cpu, cur, gap, f):
        if isinstance(cur, Thread):             # [ev] comm is of the caller
            cur.names.append((ts, f["comm"]))

    def on_evidence(self, ts, cpu, cur, gap, f):
        if f["tid"] == 0 or (f["tid"] not in self.live and f["tid"] in self.last_end):
            return
        t = self.named(f["tid"], ts)
        t.names.append((ts, f["comm"]))

    def on_statedump(self, ts, cpu, cur, gap, f):
        if f["tid"] == 0 or (f["tid"] not in self.live and f["tid"] in self.last_end and f["status"] in (4, 7)):
            return
        t = self.get(f["tid"], ts)
        t.names.append((ts, f["name"]))
        t.pid = f["pid"]
        t.sd_type = f["type"]
        # "a lttng_statedump_process_state record with status *wait* (only for a thread with no evidence yet; every other
        #  status gives no state)"; 5 is wait
        if f["status"] == 5 and not t.evidence:
            t = self.named(f["tid"], ts)
            if t.kind == "virgin":
                since = self.found_off_since(ts)
                if t.after_life is not None:
                    since = max(since, t.after_life)
                t.to(since, "blocked", Blocked("blocked", None, False, False, None))
                t.learn(since)

    # -- system calls, faults ----------------------------------------------------------------------------------
    def syscall_name(self, name, f):
        """The name and whether it is a sigreturn."""
        if name == "unknown" and "id" in f:
            i = f["id"]
            sigreturn = i in (15, 139) if self.word == 64 else i in (119, 173)
            if i == -1 or sigreturn:            # [ev] "by then the number reads -1"
                return "rt_sigreturn", True
            if self.word == 64 and CHOICES["unknown_ids"] == "table":
                name = X86_64_IDS.get(i, name)
        return name, name in ("rt_sigreturn", "sigreturn")

    def on_sysentry(self, ts, cpu, cur, gap, f, name):
        if not isinstance(cur, Thread):
            return
        name, sigreturn = self.syscall_name(name, f)
        t = cur
        t.trap = False                          # "the thread's next system-call entry or exit, or page fault"
        t.seen = t.had_syscall = True
        t.last_sc = ts
        t.after_sigreturn = sigreturn
        if sigreturn:                           # "close any open frame and push none"
            t.syscall = None
        else:
            if t.syscall is not None:           # "Any other entry while a syscall frame is open means that the exit was lost"
                self.ended_unseen(t, ts)
            t.syscall, t.since = name, ts
            t.flags = f.get("flags") if name == "clone" else None
        t.to(ts, "run", (self.frames[cpu], t.syscall))

    def ended_unseen(self, t, ts):
        """The exit of the open call was lost: in the gap over which the thread was off the CPU meanwhile, if so."""
        self.exits_unseen += 1
        call, t.syscall = t.syscall, None
        if t.unseen is not None and (t.since is None or t.unseen[1] > t.since):
            t.to(ts, t.kind, t.data)
            for seg in t.split(t.unseen[1]):
                if seg[2] == "run" and seg[3][1] == call:
                    seg[3] = (seg[3][0], None)
                elif seg[2] == "blocked" and seg[3].syscall == call:
                    seg[3].syscall = None

    def on_sysexit(self, ts, cpu, cur, gap, f, name):
        if not isinstance(cur, Thread):
            return
        t = cur
        if name is None:
            name, sigreturn = "unknown", t.after_sigreturn and t.syscall is None
        else:
            name, sigreturn = self.syscall_name(name, f)
        if sigreturn:                           # "an exit of one is ignored"
            t.after_sigreturn = False
            return
        if t.syscall not in (None, name) and name != "unknown" and t.unseen is not None and \
                (t.since is None or t.unseen[1] > t.since):
            self.ended_unseen(t, ts)
        if t.syscall is None:
            # "An exit whose entry was not seen is entry unseen: the frame is taken to have begun at the start of the thread's
            #  known history, or at its last system-call entry, exit or user page fault if later; what was working/user or
            #  blocked without a system call since then becomes that call's."
            self.entries_unseen += 1
            since = t.hist if t.last_sc is None else max(t.hist, t.last_sc)
            if t.unseen is not None and t.unseen[0] is not None:
                since = max(since, t.unseen[0])  # begun before the gap, its entry would have been seen
            t.to(ts, "run", t.data)
            for seg in t.split(since):
                if seg[2] == "run" and seg[3][1] is None:
                    seg[3] = (seg[3][0], name)
                elif seg[2] == "blocked" and seg[3].syscall is None:
                    seg[3].syscall = name
            if CHOICES["relabel_wakers"] == "yes":
                for when, w in reversed(t.wakes):
                    if when < since:
                        break
                    if w["context"] == "thread":
                        w["context"] = "syscall:" + name
        t.syscall, t.trap = None, False
        t.seen = t.had_syscall = True
        t.last_sc = ts
        t.after_sigreturn = False
        t.to(ts, "run", (self.frames[cpu], None))

    def on_fault(self, ts, cpu, cur, gap, f, user):
        if isinstance(cur, Thread):
            cur.trap = True
            if user:
                cur.seen = True
                cur.last_sc = ts

    # -- interrupts --------------------------------------------------------------------------------------------
    @staticmethod
    def frame(kind, f, vector):
        if kind == "irq":
            return (kind, f["irq"])
        if kind == "softirq":
            return (kind, f["vec"])
        return (kind, vector)

    def set_frames(self, ts, cpu, cur, frames):
        self.frames[cpu] = frames
        if isinstance(cur, Thread):
            cur.to(ts, "run", (frames, cur.syscall))

    def on_in(self, ts, cpu, cur, gap, f, kind, vector=None):
        if not gap:
            self.set_frames(ts, cpu, cur, self.frames[cpu] + (self.frame(kind, f, vector),))

    def on_out(self, ts, cpu, cur, gap, f, kind, vector=None):
        if gap:
            return
        frame, frames = self.frame(kind, f, vector), self.frames[cpu]
        if frame in frames:                     # pop to the matching frame
            while frames[-1] != frame:
                frames = frames[:-1]
            self.set_frames(ts, cpu, cur, frames[:-1])
            return
        self.entries_unseen += 1
        if isinstance(cur, Thread):
            # "An interrupt's exit without entry: from the last switch on that CPU, if within the known history."
            since = max(cur.hist, self.last_switch[cpu] or cur.hist)
            cur.to(ts, "run", cur.data)
            for seg in cur.split(since):
                if seg[2] == "run":
                    seg[3] = ((frame,) + seg[3][0], seg[3][1])
            if CHOICES["relabel_wakers"] == "yes":
                for when, w in reversed(cur.wakes):
                    if when < since:
                        break
                    if w["kind"] == "thread":
                        w["kind"] = kind
                        w["context"] = kind if kind == "hrtimer" else "%s:%s" % frame

    # -- results -----------------------------------------------------------------------------------------------
    def is_kthread(self, t):
        """"A kernel thread is one that ..." - for its whole life."""
        if t.sd_type == 1 or t.child_of_kthreadd and not t.execd or t.idle_sleep:
            return True
        described = self.has_statedump if CHOICES["kthread_by_name"] == "trace" else t.sd_type is not None
        if self.lost and t.sd_type is None:     # its record may be among what was lost
            described = False
        return not described and not t.had_syscall and any(KTHREAD_NAME.match(n) for _, n in t.names)

    @staticmethod
    def leaf(kind, data, kthread, ksoftirqd):
        """The table of "Working, Interrupted, Blocked"."""
        if kind == "unknown":
            return "unknown"
        if kind == "preempted":
            return "interrupted/preempted"
        if kind == "waitcpu":
            return "interrupted/wait-cpu"
        if kind == "run":
            frames, syscall = data
            if not frames:
                return ("working/syscall:" + syscall if syscall is not None
                        else "working/kthread" if kthread else "working/user")
            for what, number in reversed(frames):
                if what == "hrtimer":           # "belongs to the irq, vector or softirq around it"
                    continue
                if what == "softirq" and ksoftirqd:
                    return "working/softirq:%s" % number
                return "interrupted/%s:%s" % (what, number)
            return "interrupted/hrtimer"
        assert kind == "blocked", kind
        if data.reason in ("stopped", "traced"):
            return "blocked/" + data.reason
        if kthread:
            return "blocked/kthread"
        if data.syscall is not None:
            return "blocked/syscall:" + data.syscall
        if data.trap and data.seen:             # a thread that never enters user mode: its fault ends when it is switched out
            return "blocked/trap:page_fault"
        if data.seen:
            return "blocked/trap:other"
        return "blocked/unknown"

    def life_begin(self, t, first_known):
        """"A thread not seen born lives from the trace's begin; from its first evidence if a gap came before." """
        if t.born is not None:
            return t.born
        first = t.first_seen if first_known is None else min(t.first_seen, first_known)
        if t.after_life is not None:
            return first
        gaps = [b for b, _, _ in self.lost]
        if CHOICES["initial_gap_life"] == "yes":
            gaps += [b for b, _ in self.initial_gaps]
        return first if any(b < t.first_seen for b in gaps) else self.begin

    def finish(self, t):
        """Complete list of stretches of a life, checked to tile it."""
        segs = t.segs
        begin = self.life_begin(t, segs[0][0] if segs else t.t0 if t.kind != "virgin" and t.hist is not None else None)
        begin = min(begin, t.end)
        if segs:
            if segs[0][0] > begin:
                segs.insert(0, [begin, segs[0][0], "unknown", None])
        elif t.end > begin:
            segs.append([begin, t.end, "unknown", None])
        at = begin
        for b, e, _, _ in segs:
            assert b == at and e > b, "TID %d: stretch [%d,%d) after %d" % (t.tid, b, e, at)
            at = e
        assert at == t.end or not segs, "TID %d: life ends at %d, not %d" % (t.tid, t.end, at)
        return begin, t.end, segs

    def report(self, lo, hi):
        out = []
        for t in self.threads:
            begin, end, segs = self.finish(t)
            b, e = max(begin, lo), min(end, hi)
            if t.tid == 0 or e <= b:            # "Threads with an empty life in the window are left out"
                continue
            kthread = self.is_kthread(t)
            ksoftirqd = any(re.match(r"ksoftirqd/\d+$", n) for _, n in t.names)
            leaves, blocked, last = {}, [], None
            for sb, se, kind, data in segs:
                cb, ce = max(sb, lo), min(se, hi)
                if ce <= cb:
                    continue
                key = self.leaf(kind, data, kthread, ksoftirqd)
                entry = leaves.setdefault(key, {"ns": 0, "count": 0})
                entry["ns"] += ce - cb
                if key != last:                 # "A node's instances are the maximal intervals under it"
                    entry["count"] += 1
                last = key
                if kind == "blocked":
                    woken = data.waker is not None and data.wake_time < hi and data.wake_time == se
                    if blocked and blocked[-1]["end"] == cb and blocked[-1]["waker"] is None:
                        blocked[-1]["end"] = ce     # one interval, split by a relabelling
                        blocked[-1]["waker"] = data.waker if woken else NONE_WAKER
                    else:
                        blocked.append({"begin": cb, "end": ce, "leaf": key,
                                        "waker": data.waker if woken else
                                        None if data.waker and data.wake_time > se else NONE_WAKER})
            for x in blocked:
                x["waker"] = x["waker"] or NONE_WAKER
            # "Working + Interrupted + Blocked + Unknown = the part of the thread's life in the window. Exactly."
            assert sum(x["ns"] for x in leaves.values()) == e - b
            assert sum(x["end"] - x["begin"] for x in blocked) == \
                sum(v["ns"] for k, v in leaves.items() if k.startswith("blocked/"))
            out.append({"tid": t.tid, "pid": t.pid, "name": t.name_at(hi), "begin": b, "end": e, "kthread": kthread,
                        "leaves": dict(sorted(leaves.items())), "blocked": blocked})
        out.sort(key=lambda x: (x["tid"], x["begin"]))
        return {"begin": lo, "end": hi,
                "coverage": {"events": len(self.events), "discarded_events": self.discarded_events,
                             "discarded_packets": self.discarded_packets, "entries_unseen": self.entries_unseen,
                             "exits_unseen": self.exits_unseen, "wakeups_unseen": self.wakeups_unseen},
                "threads": out}


def main(argv):
    path, lo, hi, verbose = None, None, None, False
    args = list(argv)
    while args:
        a = args.pop(0)
        if a == "--from":
            lo = int(args.pop(0))
        elif a == "--to":
            hi = int(args.pop(0))
        elif a == "--choice":
            key, value = args.pop(0).split("=")
            assert key in CHOICES, "choices: " + ", ".join(CHOICES)
            CHOICES[key] = value
        elif a == "--verbose":
            verbose = True
        elif a.startswith("-") or path is not None:
            sys.exit(__doc__)
        else:
            path = a
    if path is None:
        sys.exit(__doc__)
    traces = find_traces(path)
    events, discards = read_events(traces)
    if not events:
        sys.exit("oracle: no events")
    machine = Machine(traces, events, discards)
    machine.process()
    result = machine.report(machine.begin if lo is None else lo, machine.end if hi is None else hi)
    if verbose:
        sys.stderr.write("begin %d S %d initial gaps %s anomalies %s\n" %
                         (machine.begin, machine.S, machine.initial_gaps, dict(machine.anomalies)))
    json.dump(result, sys.stdout, ensure_ascii=False)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main(sys.argv[1:])
