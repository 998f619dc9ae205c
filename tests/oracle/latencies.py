#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""latencies.py - an independent, slow and obvious second implementation of the latencies of operations.

Usage: latencies.py [--resolution R] [--thread GLOB]... [--from NS] [--to NS] TRACE_DIR

Pairs entries and exits as semantics.md says, and prints one JSON object: {"operations": {NAME: {"count", "sum_ns",
"min_ns", "max_ns", "p50_ns", "p90_ns", "p99_ns", "buckets": {"10": N}, "bucket_ns": {"10": NS}}}}. The operations are

  syscall:NAME                              entry to the same thread's next system-call exit
  irq:N softirq:N vector:NAME hrtimer       entry to the matching exit on the same CPU
  wait-cpu                                  woken (or forked) to switched in
  block-queued:DEV block-served:DEV         first bio or insert to issue, and issue to complete, of one device
                                            and sector; of a request's bios, which are those inside it
  function:NAME                             NAME_entry to NAME_exit or NAME_return of the same thread

An operation counts if both its ends were seen, and lie in [--from, --to]; it is of the thread that is current when it
begins (wait-cpu: of the one that waits), which --thread compares by its newest name in the whole trace. Everything is
per host. Events are read as a stream from the text of `babeltrace2`, twice: the first pass finds what its warnings tell
of lost events, and who ran on each CPU before its first switch.

Quotations in comments ("...") are sentences of semantics.md; [ev] marks the event notes, lttng-events.md. What is not
about latencies - the name tables, prev_state, the trace's metadata - is shared with oracle.py.
"""
import argparse
import array
import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile

from oracle import LINE, X86_64_IDS, PrevState, cpu_of_stream, fields_of, find_traces, first_packet_begins, \
    metadata_text, split_context

DISCARDED = re.compile(r"Tracer discarded (?:an unknown number of|\d+) (?:event|packet)s? between "
                       r"\[(\d+)\.(\d{9})\] and \[(\d+)\.(\d{9})\].*?within stream \"([^\"]*)\"")
SYSCALL = re.compile(r"(compat_)?(?:syscall_(entry|exit)|sys)_(.+)$")
VECTOR = re.compile(r"x86_irq_vectors_(.+)_(entry|exit)$")
FUNCTION = re.compile(r"(.+)_(entry|exit|return)$")
FUNCTION_PAYLOAD = re.compile(r"\{ ip = \w+, parent_ip = \w+ \}$")      # "exactly the payload fields ip and parent_ip"
NEVER = ("exit", "exit_group", "rt_sigreturn", "sigreturn")             # they return nowhere, or are no operations
COMMS = {"sched_migrate_task", "sched_pi_setprio", "sched_stat_wait", "sched_stat_sleep", "sched_stat_iowait",
         "sched_stat_blocked", "sched_stat_runtime", "sched_process_exit"}


# --------------------------------------------------------------------------------------------------------------
# The stream of events, and what has to be known before it
# --------------------------------------------------------------------------------------------------------------
def babeltrace2(traces, errors):
    environment = dict(os.environ, BABELTRACE_TERM_COLOR="NEVER", LC_ALL="C.UTF-8")
    return subprocess.Popen(["babeltrace2", "--clock-seconds", "--no-delta"] + [t.dir for t in traces],
                            stdout=subprocess.PIPE, stderr=errors, env=environment)


def read_line(raw):
    """-> (stamp, CPU, event name, contexts and payload as text)."""
    m = LINE.match(raw.decode("utf-8", "replace").rstrip("\n"))
    if not m:
        sys.exit("latencies: cannot read line %r" % raw)
    sec, ns, name, cpu, rest = m.groups()
    return int(sec + ns), int(cpu), name, rest


def read_events(traces):
    """"Events with equal stamps: the lower CPU first, on one CPU in stream order." """
    with babeltrace2(traces, subprocess.DEVNULL) as process:
        same = []
        for raw in process.stdout:
            event = read_line(raw)
            if same and event[0] != same[0][0]:
                yield from sorted(same, key=lambda e: e[1])
                same.clear()
            same.append(event)
        yield from sorted(same, key=lambda e: e[1])


def packet_begin(trace, path, end):
    """Begin of the packet of a stream file that ends (lost events) or begins (lost packets) at `end`."""
    size, at = os.path.getsize(path), 0
    with open(path, "rb") as f, tempfile.NamedTemporaryFile() as one:
        while at < size:
            f.seek(at)
            one.seek(0)
            one.write(f.read(4096))
            one.flush()
            packet = trace.first_packet(one.name)       # reads the first of a file
            if packet is None:
                break
            begin = packet["timestamp_begin"] + trace.clock_offset
            if end in (begin, packet["timestamp_end"] + trace.clock_offset):
                return begin
            at += packet["packet_size"] // 8
    sys.exit("latencies: no packet of %s ends or begins at %d" % (path, end))


def first_pass(traces):
    """-> gaps of lost events [(begin, end, cpu)], and {cpu: TID} of who ran before the CPU's first switch: "the `tid`
    context of the CPU's events, if the trace has it, else the first switch's prev_tid"; nobody if a gap came before."""
    first, seen = {}, set(first_packet_begins(traces))
    with tempfile.TemporaryFile() as errors:
        with babeltrace2(traces, errors) as process:
            for raw in process.stdout:
                ts, cpu, name, rest = read_line(raw)
                seen.add(cpu)
                if cpu not in first:
                    tid = context_tid(traces, rest)
                    if tid is None and name == "sched_switch":
                        tid = fields_of(rest)["prev_tid"]
                    if tid is not None:
                        first[cpu] = (ts, tid)
                        if len(first) == len(seen):
                            break
            while process.stdout.read(1 << 20):
                pass
        errors.seek(0)
        text = errors.read().decode("utf-8", "replace")
    if process.returncode:
        sys.stderr.write("latencies: babeltrace2 status %d\n%s" % (process.returncode, text[-2000:]))
    gaps = []
    for m in DISCARDED.finditer(text):
        begin, end, path = int(m.group(1) + m.group(2)), int(m.group(3) + m.group(4)), m.group(5)
        trace = next(t for t in traces if os.path.realpath(t.dir) == os.path.dirname(os.path.realpath(path)))
        # an event with the very stamp at which the packet before ended is in that packet, in stream order, unless
        # the packet with the hole begins at the same stamp
        if packet_begin(trace, path, end) > begin:
            begin += 1
        gaps.append((begin, end, cpu_of_stream(traces, path)))
    assert len(gaps) == text.count("Tracer discarded"), "a warning about discarded events was not understood"
    return sorted(gaps), {cpu: tid for cpu, (ts, tid) in first.items()
                          if not any(c == cpu and b <= ts for b, _, c in gaps)}


def context_tid(traces, rest):
    if any(t.has_context for t in traces):
        return fields_of(split_context(rest)[0]).get("tid")
    return None


def classify(name):
    """-> method of Host and its arguments for one event name (None: it tells nothing)."""
    simple = {
        "sched_switch": ("switch",), "sched_waking": ("waking",), "sched_wakeup": ("wakeup",),
        "sched_wakeup_new": ("wakeup_new",), "sched_process_fork": ("fork",), "sched_process_exec": ("exec",),
        "sched_process_free": ("free",), "sched_process_wait": ("wait",), "exit_syscall": ("sysexit", None, False),
        "lttng_statedump_process_state": ("comm", "name"), "lttng_statedump_block_device": ("device",),
        "block_bio_queue": ("bio",), "block_rq_insert": ("insert",), "block_rq_issue": ("issue",), "block_rq_complete": ("complete",),
        "irq_handler_entry": ("enter", "irq", "irq"), "irq_handler_exit": ("leave", "irq", "irq"),
        "irq_softirq_entry": ("enter", "softirq", "vec"), "irq_softirq_exit": ("leave", "softirq", "vec"),
        "softirq_entry": ("enter", "softirq", "vec"), "softirq_exit": ("leave", "softirq", "vec"),
        "timer_hrtimer_expire_entry": ("enter", "hrtimer", "hrtimer"),
        "timer_hrtimer_expire_exit": ("leave", "hrtimer", "hrtimer"),
        "hrtimer_expire_entry": ("enter", "hrtimer", "hrtimer"), "hrtimer_expire_exit": ("leave", "hrtimer", "hrtimer"),
    }.get(name)
    if simple or name in COMMS:
        return simple or ("comm", "comm")
    m = VECTOR.match(name)
    if m:
        return ("enter" if m.group(2) == "entry" else "leave", "vector:" + m.group(1), None)
    m = SYSCALL.match(name)
    if m:
        return ("sysexit" if m.group(2) == "exit" else "sysentry", m.group(3), bool(m.group(1)))
    return None


# --------------------------------------------------------------------------------------------------------------
# The state machine
# --------------------------------------------------------------------------------------------------------------
class Thread:
    """One life of a TID. `kind` is virgin (nothing known yet), unknown (after a gap), run, preempted, waitcpu or
    blocked, from `since` on. That a sched_waking came before its thread was blocked needs no note: it "is remembered"
    for the sake of the waker, and the blocking ends at the sched_wakeup."""

    def __init__(self, tid, kind="virgin"):
        self.tid, self.comm = tid, ""
        self.kind, self.since, self.cpu = kind, None, None
        self.left = None                # switched out last
        self.later = None               # when it was woken while it may have been running unseen, in a gap
        self.syscall = None             # (operation or None, begin)
        self.functions = []             # [(name, begin)]
        self.by_fork = self.wakeup_new_seen = False

    def to(self, kind, ts):
        self.kind, self.since = kind, ts

    def forget(self, ts):
        """"its system call is closed as exit unseen" """
        self.to("unknown", ts)
        self.syscall, self.functions, self.cpu = None, [], None


class Host:
    def __init__(self, traces, count):
        self.traces, self.count = traces, count
        self.prev_state = PrevState(traces[0].env)
        self.word = traces[0].word
        self.has_waking = any('"sched_waking"' in metadata_text(t.dir) for t in traces)
        self.lost, self.first_tid = first_pass(traces)
        self.packet_begin = first_packet_begins(traces)
        first = min(self.packet_begin.values())
        # "From the host's first packet to a CPU's own first packet nothing is known of that CPU: a gap."
        self.all_gaps = sorted([(b, e) for b, e, _ in self.lost] +
                               [(first, b) for b in self.packet_begin.values() if b > first])
        self.live, self.dead = {}, set()    # TID -> Thread; TIDs that were in use
        self.idle = {}                      # CPU -> Thread: "TID 0 is one idle thread per CPU"
        self.current = {}                   # CPU -> Thread, None: unknown
        self.frames = {}                    # CPU -> [((kind, number), begin, thread)]
        self.gap_until = {}                 # CPU -> end of the last gap of lost events that has begun
        self.waiting_first = {tid: cpu for cpu, tid in self.first_tid.items() if tid}
        self.bios = []                          # (dev, sector, begin, thread), not issued yet
        self.inserted, self.issued = {}, {}     # (dev, sector) -> (begin, thread)
        self.diskname, self.block = {}, []      # the name may come later than the requests

    def run(self):
        kinds, lost = {}, list(reversed(self.lost))
        has_context = any(t.has_context for t in self.traces)
        for ts, cpu, name, rest in read_events(self.traces):
            while lost and lost[-1][0] <= ts:
                self.gap_begins(*lost.pop())
            gap = ts < self.gap_until.get(cpu, ts)
            cur = self.current.get(cpu)
            if cur is None and not gap:
                cur = self.find_current(ts, cpu, rest)
            if name not in kinds:
                kinds[name] = (classify(name), FUNCTION.match(name))
            kind, function = kinds[name]
            if kind is None and function is None:
                continue
            if has_context:
                rest = split_context(rest)[1]
            if gap:
                cur = None                  # "Other events of that CPU inside the gap belong to no thread"
            if function and FUNCTION_PAYLOAD.match(rest):
                self.on_function(ts, cur, *function.groups())
            elif kind:
                getattr(self, "on_" + kind[0])(ts, cpu, cur, gap, rest, *kind[1:])
        for operation, dev, begin, end, thread in self.block:
            name = self.diskname.get(dev, "%d:%d" % (dev >> 20, dev & 0xfffff))
            self.count(operation + name, begin, end, thread)

    # -- gaps, and who is current --------------------------------------------------------------------------------
    def gap_begins(self, begin, end, cpu):
        """"From b that CPU's current thread is unknown until an event after e names it ... its interrupt frames are
        dropped, its system call is closed as exit unseen." """
        cur = self.current.get(cpu)
        if cur is not None:
            cur.forget(begin)
        self.current[cpu] = None
        self.frames[cpu] = []
        self.first_tid.pop(cpu, None)
        self.gap_until[cpu] = max(end, self.gap_until.get(cpu, end))

    def contradicted(self, t, ts, since=None):
        """"If what is seen next contradicts it ..., it is unknown ..., and the thread's system-call frame is dropped."
        That needs a gap of any CPU that overlaps the stretch."""
        since = t.since if since is None else min(since, t.since)
        if any(b < ts and e > since for b, e in self.all_gaps):
            t.forget(ts)
            return True
        return False

    def find_current(self, ts, cpu, rest):
        """The first events of a CPU ("as if it had been" known), or "an event after e names it" with a tid context."""
        tid = context_tid(self.traces, rest)
        first = self.first_tid.pop(cpu, None)
        tid = first if tid is None else tid
        if tid == 0:
            self.current[cpu] = self.idle.setdefault(cpu, Thread(0, "run"))
        elif tid is not None:
            self.become_current(self.get(tid), ts, cpu)
        return self.current.get(cpu)

    def become_current(self, t, ts, cpu):
        """t is found to run on a CPU without having been seen to be switched in."""
        self.waiting_first.pop(t.tid, None)
        if t.kind in ("blocked", "waitcpu", "preempted"):
            self.contradicted(t, ts)
        self.leave_cpu(t)
        self.enter_cpu(t, ts, cpu)

    def enter_cpu(self, t, ts, cpu):
        t.to("run", ts)
        t.cpu = cpu
        self.current[cpu] = t

    def leave_cpu(self, t):
        if t.cpu is not None and self.current.get(t.cpu) is t:
            self.current[t.cpu] = None
        t.cpu = None

    def get(self, tid):
        if tid not in self.live:
            self.live[tid] = Thread(tid)
        return self.live[tid]

    def named(self, tid, ts):
        """The thread of an event that names it; if it is the one that runs on a CPU that has emitted nothing yet, it
        is known to run from here."""
        t = self.get(tid)
        cpu = self.waiting_first.get(tid)
        if cpu is not None and t.kind == "virgin" and self.packet_begin[cpu] <= ts:
            self.first_tid.pop(cpu, None)
            self.become_current(t, ts, cpu)
        return t

    def over(self, t):
        self.leave_cpu(t)
        self.dead.add(t.tid)
        if self.live.get(t.tid) is t:
            del self.live[t.tid]

    # -- scheduling ----------------------------------------------------------------------------------------------
    def on_switch(self, ts, cpu, cur, gap, rest):
        f = fields_of(rest)
        prev, following = f["prev_tid"], f["next_tid"]
        self.frames[cpu] = []               # [ev] "CPU stack must be empty (else events were lost: clear it)"
        if cur is not None and cur.tid != prev:
            cur.forget(ts)
        self.current[cpu] = None
        if prev:                            # [ev] "For prev_tid 0 ignore prev_state"
            self.switch_out(ts, cpu, self.get(prev), f)
        if following:
            self.switch_in(ts, cpu, self.get(following), gap, f)
        elif not gap:
            self.current[cpu] = self.idle.setdefault(cpu, Thread(0, "run"))

    def switch_out(self, ts, cpu, t, f):
        t.comm = f["prev_comm"]
        if t.kind in ("blocked", "waitcpu", "preempted"):
            self.contradicted(t, ts, t.left)    # "seen as prev"; who waits for a CPU was off it before
        elif t.cpu != cpu:
            self.leave_cpu(t)
        t.cpu, t.left = None, ts
        state = self.prev_state.decode(f["prev_state"])
        if state == "dead":
            self.over(t)
        else:
            t.to("preempted" if state == "preempted" else "blocked", ts)

    def switch_in(self, ts, cpu, t, gap, f):
        t.comm = f["next_comm"]
        self.waiting_first.pop(t.tid, None)
        if t.kind in ("virgin", "unknown") and t.later is not None:
            t.to("waitcpu", t.later)        # it was off the CPU then, as is known now
        t.later = None
        if t.kind == "waitcpu":
            self.count("wait-cpu", t.since, ts, t)
        elif t.kind == "blocked":           # "blocked and switched in with no wake-up"
            self.contradicted(t, ts)
        self.leave_cpu(t)
        if gap:                             # D of the picture: "ran at that instant, unknown after it"
            t.forget(ts)
        else:
            self.enter_cpu(t, ts, cpu)

    def on_waking(self, ts, cpu, cur, gap, rest):
        f = fields_of(rest)
        if f["tid"]:
            t = self.named(f["tid"], ts)
            t.comm = f["comm"]
            again = t.kind == "waitcpu" and self.contradicted(t, ts)
            if t.kind in ("virgin", "unknown") and self.may_run_unseen(ts):
                t.later = ts
            elif t.kind in ("blocked", "virgin", "unknown") or again:
                t.to("waitcpu", ts)         # "waiting for CPU and woken again" needs a gap

    def may_run_unseen(self, ts):
        """Some CPU lost events and has not named its thread since: whose state is unknown may be there."""
        return any(b <= ts and self.current.get(c) is None for b, e, c in self.lost)

    def on_wakeup(self, ts, cpu, cur, gap, rest):
        f = fields_of(rest)
        if f["tid"]:
            t = self.named(f["tid"], ts)
            t.comm = f["comm"]
            if t.kind in ("virgin", "unknown") and self.may_run_unseen(ts):
                return
            if t.kind in ("virgin", "unknown") and t.later is not None:
                t.to("waitcpu", t.later)
            elif t.kind in ("blocked", "virgin", "unknown") or \
                    t.kind == "waitcpu" and not self.has_waking and self.contradicted(t, ts):
                t.to("waitcpu", ts)

    def on_wakeup_new(self, ts, cpu, cur, gap, rest):
        f = fields_of(rest)
        t = self.live.get(f["tid"])
        if t is None or not t.by_fork or t.wakeup_new_seen:
            t = self.birth(f["tid"], ts)    # "or sched_wakeup_new where the fork was not seen"
        t.wakeup_new_seen, t.comm = True, f["comm"]

    def on_fork(self, ts, cpu, cur, gap, rest):
        f = fields_of(rest)
        if f["parent_tid"]:
            self.named(f["parent_tid"], ts).comm = f["parent_comm"]
        child = self.birth(f["child_tid"], ts)
        child.by_fork, child.comm = True, f["child_comm"]

    def birth(self, tid, ts):
        """"From its sched_process_fork until it is first switched in it waits for CPU." The call it inherits has no
        latency, so that it has no open one here."""
        if tid in self.live:
            self.over(self.live[tid])
        t = self.get(tid)
        t.to("waitcpu", ts)
        return t

    def on_exec(self, ts, cpu, cur, gap, rest):
        f = fields_of(rest)
        tid = f.get("tid", f.get("pid"))
        old = f.get("old_tid", f.get("old_pid", tid))
        if old != tid and old in self.live:     # [ev] "the thread lives on as tid = pid and the other threads die"
            t = self.live[old]
            if tid in self.live:
                self.over(self.live[tid])
            del self.live[old]
            t.tid = tid
            self.live[tid] = t
        base = f["filename"].rsplit("/", 1)[-1]
        self.named(tid, ts).comm = base.encode("utf-8", "replace")[:15].decode("utf-8", "ignore")

    def on_free(self, ts, cpu, cur, gap, rest):
        f = fields_of(rest)
        if f["tid"] in self.live:
            self.live[f["tid"]].comm = f["comm"]
            self.over(self.live[f["tid"]])

    def on_wait(self, ts, cpu, cur, gap, rest):
        if cur is not None:
            cur.comm = fields_of(rest)["comm"]  # [ev] "comm and prio of the *caller*"

    def on_comm(self, ts, cpu, cur, gap, rest, key):
        f = fields_of(rest)
        if f["tid"] in self.live or f["tid"] and f["tid"] not in self.dead:
            self.named(f["tid"], ts).comm = f[key]

    # -- system calls, functions, interrupts ---------------------------------------------------------------------
    def syscall_name(self, name, rest, compat):
        """[ev] Older tracers' tables are short: "... come as `unknown` + id". From 424 on all architectures have the
        same numbers. What another table than that of x86-64 would name stays `unknown`."""
        if name == "unknown":
            i = fields_of(rest).get("id")
            native = self.word == 64 and not compat
            if i == -1 or i in ((15, 139) if native else (119, 173)):
                return "rt_sigreturn"           # [ev] "by then the number reads -1"
            if i is not None and (native or i >= 424):
                return X86_64_IDS.get(i, name)
        return name

    def on_sysentry(self, ts, cpu, cur, gap, rest, name, compat):
        if cur is not None:
            name = self.syscall_name(name, rest, compat)
            cur.syscall = None if name in NEVER else ("syscall:" + name, ts)

    def on_sysexit(self, ts, cpu, cur, gap, rest, name, compat):
        # "the thread's next system-call exit, whatever its name"; of sigreturns "an exit of one is ignored"
        if cur is None or cur.syscall is None or self.syscall_name(name, rest, compat) in ("rt_sigreturn", "sigreturn"):
            return
        self.count(cur.syscall[0], cur.syscall[1], ts, cur)
        cur.syscall = None

    def on_function(self, ts, cur, name, side):
        if cur is None:
            return
        if side == "entry":
            cur.functions.append((name, ts))
            return
        for i in range(len(cur.functions) - 1, -1, -1):     # pop to the matching frame
            if cur.functions[i][0] == name:
                self.count("function:" + name, cur.functions[i][1], ts, cur)
                del cur.functions[i:]
                return

    def on_enter(self, ts, cpu, cur, gap, rest, kind, field):
        if not gap:
            key = (kind, fields_of(rest)[field] if field else None)
            self.frames.setdefault(cpu, []).append((key, ts, cur))

    def on_leave(self, ts, cpu, cur, gap, rest, kind, field):
        if gap:
            return
        key = (kind, fields_of(rest)[field] if field else None)
        frames = self.frames.setdefault(cpu, [])
        for i in range(len(frames) - 1, -1, -1):            # [ev] "exit: pop to the matching frame"
            if frames[i][0] == key:
                operation = "%s:%d" % key if kind in ("irq", "softirq") else kind
                self.count(operation, frames[i][1], ts, frames[i][2])
                del frames[i:]
                return

    # -- block requests ------------------------------------------------------------------------------------------
    def on_device(self, ts, cpu, cur, gap, rest):
        f = fields_of(rest)
        self.diskname[f["dev"]] = f["diskname"]

    def on_bio(self, ts, cpu, cur, gap, rest):
        f = fields_of(rest)
        self.bios.append((f["dev"], f["sector"], ts, cur))

    def on_insert(self, ts, cpu, cur, gap, rest):
        f = fields_of(rest)
        self.inserted[f["dev"], f["sector"]] = (ts, cur)

    def on_issue(self, ts, cpu, cur, gap, rest):
        f = fields_of(rest)
        # a flush of the cache: sector 0 and no length when issued, all ones when it completes
        key = (f["dev"], f["sector"] if f["nr_sector"] else 2 ** 64 - 1)
        asked = [self.inserted.pop(key)] if key in self.inserted else []
        inside = [b for b in self.bios if b[:1] == key[:1] and f["sector"] <= b[1] < f["sector"] + f["nr_sector"]]
        asked += [b[2:] for b in inside]
        self.bios = [b for b in self.bios if b not in inside]
        if asked:
            begin, cur = min(asked, key=lambda a: a[0])
            self.block.append(("block-queued:", f["dev"], begin, ts, cur))
        self.issued[key] = (ts, cur)

    def on_complete(self, ts, cpu, cur, gap, rest):
        f = fields_of(rest)
        begin, thread = self.issued.pop((f["dev"], f["sector"]), (None, None))
        if begin is not None:
            self.block.append(("block-served:", f["dev"], begin, ts, thread))


# --------------------------------------------------------------------------------------------------------------
# Profiles
# --------------------------------------------------------------------------------------------------------------
def bucket(latency, resolution):
    """"the largest k with 2^k <= d^r (d = 0 goes to bucket 0)" """
    return (latency ** resolution).bit_length() - 1 if latency else 0


def profile(latencies, resolution):
    values = sorted(latencies)
    counts, sums = {}, {}
    for d in values:
        k = bucket(d, resolution)
        counts[k] = counts.get(k, 0) + 1
        sums[k] = sums.get(k, 0) + d
    out = {"count": len(values), "sum_ns": sum(values), "min_ns": values[0], "max_ns": values[-1]}
    for percent in (50, 90, 99):            # nearest rank
        out["p%d_ns" % percent] = values[-(-percent * len(values) // 100) - 1]
    out["buckets"] = {str(k): n for k, n in sorted(counts.items())}
    out["bucket_ns"] = {str(k): n for k, n in sorted(sums.items())}
    return out


def main():
    parser = argparse.ArgumentParser(description="latencies of the operations in a kernel trace, as JSON")
    parser.add_argument("trace")
    parser.add_argument("--resolution", type=int, default=1)
    parser.add_argument("--thread", action="append")
    parser.add_argument("--from", type=int, dest="begin")
    parser.add_argument("--to", type=int, dest="end")
    options = parser.parse_args()
    if options.resolution < 1:
        parser.error("--resolution: at least 1")
    latencies, threads = {}, {}

    def count(operation, begin, end, thread):
        if (options.begin is None or begin >= options.begin) and (options.end is None or end <= options.end):
            latencies.setdefault(operation, array.array("q")).append(end - begin)
            if options.thread:
                threads.setdefault(operation, []).append(thread)

    hosts = {}
    for trace in find_traces(options.trace):    # "A host is one traced machine: hostname and clock UUID."
        clock = re.search(r"\bclock\s*\{[^}]*\buuid\s*=\s*\"?([0-9a-fA-F-]+)", metadata_text(trace.dir))
        hosts.setdefault((trace.env.get("hostname"), clock and clock.group(1)), []).append(trace)
    for traces in hosts.values():
        Host(traces, count).run()
    if options.thread:                          # by the newest names, which are known only now
        def wanted(thread):
            return thread is not None and thread.tid != 0 and \
                any(fnmatch.fnmatchcase(thread.comm, glob) for glob in options.thread)
        for operation, values in latencies.items():
            latencies[operation] = [d for d, t in zip(values, threads[operation]) if wanted(t)]
    json.dump({"operations": {name: profile(values, options.resolution)
                              for name, values in sorted(latencies.items()) if values}}, sys.stdout, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
