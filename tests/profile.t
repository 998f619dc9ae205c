# SPDX-License-Identifier: MIT
"""whylate profile on recorded traces: peaks, root causes, time-lapse, split
and saved profiles. Counts and sums by themselves are latencies.t's matter.

Expectations are from traces/README.md and truth.tsv, from babeltrace2's text
by a small computation here, or from tests/oracle: oracle.py gives each
thread's states and wakers, latencies.py the operations; what the operations
spent their time on follows from the two (class Seen). The rest are identities.
"""
import bisect
import collections
import functools
import itertools
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

import ust
import whylate_test as t

sys.path.insert(0, t.SOURCE + "/tests/oracle")
import latencies    # noqa: E402
import oracle       # noqa: E402

MS = 1000000
tap = t.Tap()


# --- reading the program's report ------------------------------------------------------------------------------
def profiles(name, *arguments):
    """All profiles that the program prints for a shipped trace, or for a directory. What several cases ask of a shipped one
    with every operation, in the same words, is asked once (seconds)."""
    if "/" not in name and arguments == ("--operation", "*"):
        return json.loads(every_operation(name))["profiles"]
    directory = name if "/" in name else t.trace(name)
    return t.report("profile", directory, "--limit", "0", "--quiet", *arguments)["profiles"]


@functools.cache
def every_operation(name):
    return t.output("profile", t.trace(name), "--limit", "0", "--quiet", "--operation", "*", "--format", "json")


def one(name, operation, *arguments):
    found = profiles(name, "--operation", operation, *arguments)
    assert [p["operation"] for p in found] == [operation], [p["operation"] for p in found]
    return found[0]


def without_apart(profile):
    """What sets peaks apart depends on how many are searched, and which roots' worth is told on how many things there
    are; those, rhythms and correlations are not of several recordings."""
    peaks = [{k: v for k, v in peak.items() if not k.startswith("apart") and k != "rhythm"} for peak in profile["peaks"]]
    for peak in peaks:
        peak["roots"] = [{k: v for k, v in root.items() if k != "worth"} for root in peak["roots"]]
    return {**profile, "peaks": peaks, "correlations": None}


def counts(profile):
    return {b["bucket"]: b["count"] for b in profile["buckets"]}


def ranges(profile):
    return [(p["first_bucket"], p["mode_bucket"], p["last_bucket"]) for p in profile["peaks"]]


def differences(have, want):
    return [(k, have.get(k), want.get(k)) for k in sorted(set(have) | set(want)) if have.get(k) != want.get(k)]


def children(node):
    return node.get("children", [])


def child(node, name):
    found = [c for c in children(node) if c["node"] == name]
    assert len(found) == 1, (node["node"], name, [c["node"] for c in children(node)])
    return found[0]


def paths(peak):
    return [root["path"] for root in peak["roots"]]


def followed(path, *words):
    """Do the words begin elements of the path, in that order?"""
    rest = iter(path)
    return all(any(element.startswith(word) for element in rest) for word in words)


# --- knowing it independently ----------------------------------------------------------------------------------
def bucket(ns):
    return latencies.bucket(ns, 1)


def histogram(values):
    out = {}
    for ns in values:
        out[bucket(ns)] = out.get(bucket(ns), 0) + 1
    return out


def text(name):
    """(time, event, CPU, fields as text) of each line of babeltrace2's text."""
    command = ["babeltrace2", "--clock-seconds", "--no-delta", t.trace(name)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        for line in process.stdout:
            sec, ns, event, cpu, rest = oracle.LINE.match(line.decode("utf-8", "replace")).groups()
            yield int(sec + ns), event, int(cpu), rest


def truth(name):
    with open(t.trace(name) + "/truth.tsv", encoding="ascii") as file:
        return [line.rstrip("\n").split("\t") for line in file]


class Seen:
    """What tests/oracle knows of a trace: the operations, and what each thread was doing all the time."""

    def __init__(self, name):
        traces = oracle.find_traces(t.trace(name))
        self.events, discards = oracle.read_events(traces)
        machine = oracle.Machine(traces, self.events, discards)
        machine.process()
        self.end = machine.end
        self.lives = {}     # TID -> [(begin, end, [(begin, end, leaf, oracle's Blocked or None)], name)]
        for thread in machine.threads:
            begin, end, stretches = machine.finish(thread)
            ksoftirqd = any(n.startswith("ksoftirqd/") for _, n in thread.names)
            leaf = lambda kind, data: machine.leaf(kind, data, machine.is_kthread(thread), ksoftirqd)
            self.lives.setdefault(thread.tid, []).append(
                (begin, end, [(b, e, leaf(kind, data), data if kind == "blocked" else None)
                              for b, e, kind, data in stretches], thread.name_at(machine.end + 1)))
        self.operations = []    # (operation, begin, end, latencies.py's Thread)
        latencies.Host(traces, lambda *operation: self.operations.append(operation)).run()

    def life(self, tid, time):
        """The life that the thread lived at a time."""
        return [life for life in self.lives[tid] if life[0] <= time][-1]

    @staticmethod
    def during(life, begin, end):
        """What the thread did from begin to end, clipped."""
        stretches = life[2]
        i = bisect.bisect_right(stretches, begin, key=lambda s: s[1])
        for b, e, leaf, blocked in itertools.takewhile(lambda s: s[0] < end, stretches[i:]):
            yield max(b, begin), min(e, end), leaf, blocked

    def of(self, operation, thread=""):
        """Those of one name, by threads whose newest name begins with `thread`: (begin, end, thread)."""
        for name, begin, end, who in self.operations:
            if name == operation and who.comm.startswith(thread):
                yield begin, end, who


@functools.lru_cache(maxsize=6)     # reading a trace takes seconds, and it holds all events
def seen_in(name):
    return Seen(name)


# --- fork1, fork4: OSprof's first figure -------------------------------------------------------------------------
CLONES = {18: 394, 19: 581, 20: 26, 21: 146, 22: 51, 23: 7, 24: 1}  # the issue's, counted by hand


@functools.cache
def clones(name):
    """(TID, ns, ns preempted) of each clone. A CPU runs the next_tid of its last sched_switch; a call ends with its
    thread's syscall_exit_clone (the child's belongs to no entry); preempted: switched out with a prev_state of 0 or
    the preempted flag (0x100), until switched in again."""
    current, open_calls, away, found = {}, {}, {}, []
    for time, event, cpu, rest in text(name):
        if event == "sched_switch":
            fields = oracle.fields_of(rest)
            out, back = fields["prev_tid"], fields["next_tid"]
            if out in open_calls and fields["prev_state"] in (0, 0x100):
                away[out] = time
            if back in away:
                open_calls[back][1] += time - away.pop(back)
            current[cpu] = back
        elif event == "syscall_entry_clone" and cpu in current:
            open_calls[current[cpu]] = [time, 0]
        elif event == "syscall_exit_clone" and current.get(cpu) in open_calls:
            begin, preempted = open_calls.pop(current[cpu])
            found.append((current[cpu], time - begin, preempted))
    return found


def distance(a, b):
    """Earth Mover's Distance of two histograms, in octaves: the area between their cumulated shares."""
    apart = area = 0
    for k in range(64):
        apart += a.get(k, 0) / sum(a.values()) - b.get(k, 0) / sum(b.values())
        area += abs(apart)
    return area


def fork_peaks():
    clone = one("fork4", "syscall:clone")
    assert counts(clone) == CLONES == histogram(ns for _, ns, _ in clones("fork4")), counts(clone)
    assert ranges(clone) == [(18, 19, 20), (21, 21, 24)], ranges(clone)
    assert clone["count"] == sum(CLONES.values())
    assert len(ranges(one("fork1", "syscall:clone"))) == 1, "fork1 has one dominant peak"


def fork_roots():
    """"The trace shows both peaks to be the call's own work in the kernel" """
    for name in ("fork4", "fork1"):
        for peak in one(name, "syscall:clone")["peaks"]:
            assert paths(peak) == [["syscall:clone", "working/syscall:clone"]], paths(peak)
            assert peak["status"] == "root cause found"
            assert peak["roots"][0]["maxcount"] > 0.9 * peak["count"], peak["roots"]


def fork_preempted():
    """"with preemption's share rising from 4 % at 21 to over half at 24" """
    mine, all_ns = {}, {}
    for _, ns, preempted in clones("fork4"):
        mine[bucket(ns)] = mine.get(bucket(ns), 0) + preempted
        all_ns[bucket(ns)] = all_ns.get(bucket(ns), 0) + ns
    tree = one("fork4", "syscall:clone")["peaks"][1]["tree"]
    said = {int(k): ns for k, ns in child(tree, "interrupted/preempted")["ns_by_bucket"].items()}
    assert said == {k: mine[k] for k in (21, 22, 23, 24)}, (said, mine)
    shares = [said[k] / all_ns[k] for k in (21, 22, 23, 24)]
    assert 0.035 < shares[0] < 0.045 and shares == sorted(shares) and shares[-1] > 0.5, shares


def fork_distance():
    """The distance is that of the counts, and says that fork4 is not fork1, while its own halves are alike."""
    calls = clones("fork4")
    tids = [tid for tid in {c[0] for c in calls} if sum(c[0] == tid for c in calls) == 300]    # the four forkers
    assert len(tids) == 4, tids

    def compare(saved, now):
        with tempfile.TemporaryDirectory() as folder:
            t.output("profile", *saved, "--operation", "syscall:clone", "--save", folder + "/saved")
            report = t.report("profile", *now, "--operation", "syscall:clone", "--compare", folder + "/saved")
        assert len(report["comparison"]["operations"]) == 1, report["comparison"]
        return report["comparison"]["operations"][0]
    apart = compare([t.trace("fork1")], [t.trace("fork4")])
    by_hand = distance(CLONES, histogram(ns for _, ns, _ in clones("fork1")))
    assert abs(apart["distance"] - by_hand) < 1e-3, (apart, by_hand)
    assert apart["changed"], apart
    for partner in tids[1:]:    # the three ways to make halves of four
        halves = [{tids[0], partner}, set(tids) - {tids[0], partner}]
        by_hand = distance(*(histogram(c[1] for c in calls if c[0] in half) for half in halves))
        both = compare(*([t.trace("fork4"), *itertools.chain(*(("--thread", str(tid)) for tid in half))]
                         for half in halves))
        assert abs(both["distance"] - by_hand) < 1e-3, (both, by_hand)
        assert apart["distance"] > 2 * both["distance"] and not both["changed"], (apart, both)


# --- lock-lapse: DARC's intermittent lock ------------------------------------------------------------------------
WRITERS = ("lock-lapse", "syscall:pwrite64", "--thread", "writer-*")


def lock_peaks():
    main, second = one(*WRITERS)["peaks"]
    assert main["mode_bucket"] == 13 and (second["first_bucket"], second["last_bucket"]) == (21, 25), (main, second)
    assert paths(main) == [["syscall:pwrite64", "working/syscall:pwrite64"]], paths(main)
    found = paths(second)
    assert ["syscall:pwrite64", "working/syscall:pwrite64"] in found, "the kernel spins before it sleeps"
    assert any(p[1] == "blocked/lock:/shared.dat" for p in found), found
    # "a lock that another writer or the flusher holds", and "followed down, they reach the flusher's burst"
    holders = {p[2] for p in found if len(p) > 2}
    assert {"by:flusher", "by:writer-0", "by:writer-1", "by:writer-2"} == holders, holders
    lock = [p for p in found if p[1].startswith("blocked/")]
    assert any(followed(p[3:], "by:flusher", "working/syscall:pwrite64") for p in lock), lock
    assert second["status"] == "root cause found"


def lock_lapse():
    """Rows are counts by the time at which a call began; the second peak is in the bursts only."""
    begin = int(subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", t.trace("lock-lapse")],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               check=True).stdout.split(b"]", 1)[0][1:].replace(b".", b""))
    step, rows = 100 * MS, {}
    for b, e, _ in seen_in("lock-lapse").of("syscall:pwrite64", "writer-"):
        row = rows.setdefault(begin + (b - begin) // step * step, {})
        row[str(bucket(e - b))] = row.get(str(bucket(e - b)), 0) + 1
    lapse = one(*WRITERS, "--time-lapse", "100ms")["time_lapse"]
    assert lapse["step_ns"] == step
    assert {row["begin"]: row["counts"] for row in lapse["rows"]} == rows, "not the calls that began in them"
    assert [row["begin"] for row in lapse["rows"]] == sorted(rows), "rows out of order"
    bursts = [(int(r[0]), int(r[0]) + int(r[3].split("ns=")[1])) for r in truth("lock-lapse")]
    assert len(bursts) == 6
    met = set()
    for row in lapse["rows"]:
        if any(int(k) >= 21 for k in row["counts"]):
            over = [b for b in bursts if b[0] < row["begin"] + step and row["begin"] < b[1]]
            assert over, "a slow call outside of the bursts, in the row at %d" % row["begin"]
            met.update(over)
    assert met == set(bursts), "a burst that made no call slow"


def inside_calls():
    """Calls of touch_atime by the system call that the thread was in, from the text alone."""
    calls, entered, met = {}, set(), collections.Counter()
    for _, event, _, rest in text("callstack"):
        tid = re.search(r"\btid = (\d+)", rest)
        if not tid:
            continue
        if event.startswith("syscall_entry_"):
            calls[tid[1]] = event[len("syscall_entry_"):]
        elif event.startswith("syscall_exit_"):
            calls.pop(tid[1], None)
        elif event == "touch_atime_entry":
            entered.add(tid[1])
        elif event == "touch_atime_exit" and tid[1] in entered:
            entered.discard(tid[1])
            met[calls.get(tid[1])] += 1
    assert len(met) > 3, met
    for call, number in met.items():
        found = profiles("callstack", "--operation", "syscall:%s > function:touch_atime" % call)
        assert [(p["operation"], p["count"]) for p in found] == [("function:touch_atime", number)], (call, number)
    assert profiles("callstack", "--operation", "syscall:* > function:touch_atime")[0]["count"] == sum(met.values())
    for pattern, words in (("syscall:nanosleep > function:touch_atime", b"none of these is inside syscall:nanosleep; right around"),
                           ("busy > function:touch_atime", b"'busy' is not inside others"),
                           ("syscall:read > blocked:*", b"'blocked:*' is not inside others")):
        done = t.run("profile", "--operation", pattern, t.trace("callstack"))
        assert done.returncode == 2 and words in b" ".join(done.stderr.split()), (pattern, done.stderr)


def lock_rhythm():
    """The writers' slow calls come in bursts, each as flusher begins to write: the numbers are of the calls as the text
    has them. Clusters are parted by eye: within one they begin less than 100 ms apart."""
    calls = sorted((b, e) for b, e, _ in seen_in("lock-lapse").of("syscall:pwrite64", "writer-"))
    slow = [b for b, e in calls if bucket(e - b) >= 21]
    first = [b for before, b in zip([0] + slow, slow) if b - before > 100 * MS]
    flusher = sorted(b for b, _, _ in seen_in("lock-lapse").of("syscall:pwrite64", "flusher"))
    starts = [b for before, b in zip([0] + flusher, flusher) if b - before > 100 * MS]
    found = one(*WRITERS)["peaks"][1]["rhythm"]
    gaps = sorted(b - a for a, b in zip(first, first[1:]))
    assert [o["time"] for o in found["occasions"]] == first, found
    assert found["period"]["ns"] == gaps[len(gaps) // 2] and found["period"]["times"] == len(first) == 6, found
    assert (found["period"]["least_ns"], found["period"]["most_ns"]) == (gaps[0], gaps[-1]), (found, gaps)
    lags = [b - max(s for s in starts if s <= b) for b in first]
    follows = found["follows"]
    assert (follows["thread"], follows["operation"]) == ("flusher", "syscall:pwrite64"), follows
    assert (follows["least_ns"], follows["most_ns"], follows["count"]) == (min(lags), max(lags), 6), (follows, lags)
    assert "rhythm" not in one(*WRITERS)["peaks"][0], "of what most calls do"


def no_rhythm():
    """Where nothing happens every so often, nothing is claimed."""
    for name in ("web-mixed", "fork4", "zero-read", "disk-read", "futex"):
        for profile in t.report("profile", t.trace(name), "--limit", "0")["profiles"]:
            assert not [p for p in profile["peaks"] if "rhythm" in p], (name, profile["operation"])


# --- zero-read: interrupts and preemption on one CPU ---------------------------------------------------------------
class ZeroRead:
    """What reads spent their time on, from the text alone: there is one CPU and no event is lost, so that between two
    events the time is that of the innermost interrupt (hrtimers count for what is around them), else of the thread."""
    PREFIXES = ("x86_irq_vectors_", "irq_", "timer_hrtimer_expire_")

    def __init__(self):
        self.reads = []             # (ns, {part: ns}) of each, from 2^13 ns on
        self.runs = []              # (time, name of who runs from then on)
        self.current = self.last = None
        self.frames, self.open, self.out = [], {}, {}   # open: TID -> (begin, parts); out: TID -> (since, why)
        self.calls = 0
        for time, event, _, rest in text("zero-read"):
            if event.startswith(("syscall_entry_read", "syscall_exit_read")) and event[-4:] == "read":
                self.spend(time)
                self.call(time, event)
            elif event == "sched_switch":
                self.spend(time)
                self.switch(time, oracle.fields_of(rest))
            elif event == "sched_waking":
                self.wake(time, oracle.fields_of(rest)["tid"])
            elif event.startswith(self.PREFIXES) and event.endswith(("_entry", "_exit")):
                self.spend(time)
                if event.endswith("_entry"):
                    self.frames.append(event[:-len("_entry")])
                elif self.frames:
                    self.frames.pop()

    def spend(self, time):
        if self.current in self.open:
            frames = [f for f in self.frames if not f.startswith("timer_")]
            self.add(self.current, frames[-1] if frames else "own", time - self.last)
        self.last = time

    def add(self, tid, part, ns):
        parts = self.open[tid][1]
        parts[part] = parts.get(part, 0) + ns

    def call(self, time, event):
        if event == "syscall_entry_read":
            self.open[self.current] = (time, {})
        elif self.current in self.open:
            begin, parts = self.open.pop(self.current)
            self.calls += 1
            if time - begin >= 1 << 13:
                self.reads.append((time - begin, parts))

    def switch(self, time, fields):
        out, back = fields["prev_tid"], fields["next_tid"]
        self.frames = []
        if out in self.open:
            self.out[out] = (time, "preempted" if fields["prev_state"] in (0, 0x100) else "blocked")
        if back in self.out:
            since, why = self.out.pop(back)
            self.add(back, why, time - since)
            self.split(back, why, since, time)
        self.current = back
        self.runs.append((time, fields["next_comm"]))

    def wake(self, time, tid):
        if tid in self.out and self.out[tid][1] == "blocked":
            self.add(tid, "blocked", time - self.out[tid][0])
            self.out[tid] = (time, "wait-cpu")

    def split(self, tid, why, begin, end):
        """Who ran meanwhile."""
        for since, name in reversed(self.runs):
            if end > begin:
                self.add(tid, why + " by:" + name, end - max(since, begin))
                end = max(since, begin)
            if since <= begin:
                return

    def sum(self, part, first, last):
        return sum(parts.get(part, 0) for ns, parts in self.reads if first <= bucket(ns) <= last)


def zero_read():
    read, seen = one("zero-read", "syscall:read"), ZeroRead()
    assert read["count"] == 499356 == seen.calls, (read["count"], seen.calls)
    peaks = read["peaks"]
    main = max(peaks, key=lambda p: p["count"])
    assert main["mode_bucket"] == 10 and main["peak"] == 1, main
    timers = [p for p in peaks[1:] if any(path[1] == "interrupted/vector:local_timer" for path in paths(p))]
    others = [p for p in peaks[1:] for path in paths(p)
              if path[1] in ("interrupted/wait-cpu", "interrupted/preempted") and path[2] == "by:zeroread"]
    assert timers and others and timers[0]["peak"] < others[0]["peak"], "the timer's interrupt, then preemption"
    names = {"working/syscall:read": "own", "interrupted/vector:local_timer": "x86_irq_vectors_local_timer",
             "interrupted/preempted": "preempted", "interrupted/wait-cpu": "wait-cpu"}
    for peak in peaks[1:]:
        first, last = peak["first_bucket"], peak["last_bucket"]
        for node, part in names.items():
            said = [c for c in children(peak["tree"]) if c["node"] == node]
            assert sum(c["ns"] for c in said) == seen.sum(part, first, last), (peak["peak"], node)
            for by in (by for c in said for by in children(c) if by["node"].startswith("by:")):
                assert by["ns"] == seen.sum("%s %s" % (part, by["node"]), first, last), (peak["peak"], node, by["node"])
    for k in range(13, 18):     # and bucket by bucket: where the interrupt is most of it
        said = child(timers[0]["tree"], "interrupted/vector:local_timer")["ns_by_bucket"].get(str(k), 0)
        assert said == seen.sum("x86_irq_vectors_local_timer", k, k), k


# --- block requests, kernel functions ------------------------------------------------------------------------------
def request_key(fields, issued):
    """Device and sector. A flush of the device's cache has none: 0 when it is issued, all ones when it completes."""
    return fields["dev"], fields["sector"] if fields["nr_sector"] or not issued else 2 ** 64 - 1


def requests(seen):
    """(time, woken TID) -> (complete, insert or None, issue, issuer) of the request that completed last on that CPU, and
    a list of all. (A write that was to be on the medium completes again, without a length, when the flush after it
    has.)"""
    inserted, issued, before, done, woken, completed = {}, {}, {}, {}, {}, []
    for time, cpu, event, _, rest in seen.events:
        if event == "sched_waking":
            woken[time, oracle.fields_of(rest)["tid"]] = done.get(cpu)
        if not event.startswith("block_rq_"):
            continue
        fields = oracle.fields_of(rest)
        key = request_key(fields, event != "block_rq_complete")
        if event == "block_rq_insert":
            inserted[key] = time
        elif event == "block_rq_issue":
            issued[key] = inserted.pop(key, None), time, fields["tid"]
        elif event == "block_rq_complete" and (key in issued or key in before and not fields["nr_sector"]):
            before[key] = issued.pop(key, None) or before[key]
            done[cpu] = (time, *before[key])
            completed.append(done[cpu])
    return woken, completed


def finished(seen, found, waker, thread, begin, end):
    """The request that a kernel worker finished when it woke a thread, where no events tell what workers do: the last
    one that the thread issued and that completed in its wait, else the one that woke the worker last. None: neither."""
    if waker["kind"] != "thread" or not seen.life(waker["tid"], end)[3].startswith("kworker/"):
        return None
    own = [r for r in found[1] if r[3] == thread and begin <= r[0] <= end]
    if own:
        return own[-1]
    last = [e for _, e, _, blocked in seen.life(waker["tid"], end)[2] if blocked and e <= end][-1]
    request = found[0].get((last, waker["tid"]))
    return request if request and request[0] >= begin else None


def disk_waits(name, operation):
    """The parts "queued" and "served" of the waits that an interrupt ended, from the block events alone: the request
    is the last one that completed on the CPU that woke the thread. Those that a worker ended: see finished()."""
    seen = seen_in(name)
    found = requests(seen)
    queued = served = 0
    for begin, end, who in seen.of(operation):
        for b, e, _, blocked in seen.during(seen.life(who.tid, begin), begin, end):
            if blocked is None or blocked.waker is None:
                continue
            if blocked.waker["kind"] in ("irq", "softirq", "vector"):
                request = found[0][e, who.tid]
            else:
                request = finished(seen, found, blocked.waker, who.tid, b, e)
            if not request:
                continue
            complete, insert, issue, _ = request
            assert complete > b, (name, operation, "woken at %d by no request" % e)
            served += min(complete, e) - max(issue, b)
            queued += max(min(issue, e) - max(insert, b), 0) if insert else 0
    assert served > 0
    tops = [c for p in one(name, operation)["peaks"] for c in children(p["tree"]) if c["node"].startswith("blocked/device:")]
    said = {part: sum(c["ns"] for top in tops for c in children(top) if c["node"] == part) for part in ("queued", "served")}
    assert said == {"queued": queued, "served": served}, (name, operation, said, queued, served)


def disk_read():
    for name, operation in t.sample((("disk-read", "syscall:pread64"), ("pipe-chain", "syscall:pread64"),
                            ("two-hosts-server", "syscall:preadv2"), ("startup-chain", "syscall:pread64"),
                            ("web-mixed", "syscall:fsync")), 2):
        disk_waits(name, operation)
    slow = one("disk-read", "syscall:pread64")["peaks"][-1]
    # 40 direct reads of a throttled disk (README); the interrupts of virtio0 are seen in the text
    irqs = {oracle.fields_of(rest)["irq"] for _, event, _, rest in text("disk-read")
            if event == "irq_handler_entry" and oracle.fields_of(rest)["name"].startswith("virtio0")}
    path = slow["roots"][0]["path"]
    assert path[:3] == ["syscall:pread64", "blocked/device:vda", "served"] and len(path) == 4, path
    assert path[3] in {"irq:%d" % irq for irq in irqs}, (path, irqs)
    assert slow["roots"][0]["share"] > 0.5


def issuers(name):
    """Whom block requests were for: the system call of the thread that issued it, by the event's own tid and what the
    oracle says that the thread was doing then. (None of these was issued in an interrupt.)"""
    seen, issued, want = seen_in(name), {}, {}
    for time, _, event, _, rest in seen.events:
        if event not in ("block_rq_issue", "block_rq_complete"):
            continue
        fields = oracle.fields_of(rest)
        key = request_key(fields, event == "block_rq_issue")
        if event == "block_rq_issue":
            life = seen.life(fields["tid"], time)
            (_, _, leaf, _), = seen.during(life, time, time + 1)
            call = ("for:" + leaf[len("working/"):],) if leaf.startswith("working/syscall:") else ()
            issued[key] = time, call + ("by:" + life[3],)
            assert leaf.startswith("working/"), (time, leaf)
        elif key in issued:
            begin, path = issued.pop(key)
            want[path] = [n + more for n, more in zip(want.get(path, (0, 0)), (1, time - begin))]
    have = {}
    for top in (c for p in one(name, "block-served:vda")["peaks"] for c in children(p["tree"])):
        for path, c in [((top["node"], c["node"]), c) for c in children(top)] or [((top["node"],), top)]:
            have[path] = [n + more for n, more in zip(have.get(path, (0, 0)), (c["operations"], c["ns"]))]
    assert have == want, (name, differences(have, want))


def requests_for():
    for name in t.sample(("disk-read", "web-mixed", "pipe-chain")):
        issuers(name)


TRACED = {"vfs_read", "ext4_file_read_iter", "filemap_read"}   # of what reads call (README)


def symbols():
    with open(t.trace("callstack") + "/kallsyms", encoding="ascii") as file:
        lines = sorted((int(line.split()[0], 16), line.split()[2]) for line in file if line.split()[1] in "tTwW")
    addresses = [address for address, _ in lines]
    return lambda address: lines[bisect.bisect_right(addresses, address) - 1][1]


def stacks(tid, begin, end):
    """The callstack-kernel context, outermost first, of each time the thread was switched out within [begin, end]."""
    for time, event, _, rest in text("callstack"):
        if event == "sched_switch" and begin <= time <= end:
            context, payload = oracle.split_context(rest)
            if oracle.fields_of(payload)["prev_tid"] == tid:
                yield [int(word, 16) for word in re.findall(r"\[\d+\] = (0x\w+)", context)][::-1]


def in_order(names, functions):
    rest = iter(names)
    return all(any(name == f for name in rest) for f in functions)


def slow_read(*arguments):
    """The path of the first root of the slow peak of callstack's read, from the traced functions on, and its example."""
    peak = one(*(arguments or ("callstack", "syscall:read")))["peaks"][-1]
    root = peak["roots"][0]
    wait = [i for i, node in enumerate(root["path"]) if node == "blocked/device:vda"]
    assert wait, root
    return [node[len("function:"):] for node in root["path"][1:wait[0]]], root


def callstack():
    """The functions on the way to the wait are those of the switch's call stack in the text, by the same names."""
    functions, root = slow_read()
    assert all(node.startswith("function:") for node in root["path"][1:len(functions) + 1]), root["path"]
    assert followed(root["path"], "syscall:read", "function:vfs_read", "function:filemap_read", "blocked/device:vda",
                    "served", "irq:"), root["path"]
    name, example = symbols(), root["example"]
    seen = [[name(word - 1) for word in stack] for stack in stacks(example["tid"], example["begin"], example["end"])]
    last = functions.index("filemap_read")      # the last one traced: after it, each call is from the stack
    assert set(functions[:last + 1]) == TRACED, functions
    after = [names[names.index("filemap_read") + 1:] for names in seen if "filemap_read" in names]
    assert any(names[:len(functions) - last - 1] == functions[last + 1:] for names in after), (functions, seen)


def addresses(folder):
    """Without symbols, or with some that are no use (all zero; of places above all that is called), the functions that
    are not traced are addresses, of the same path."""
    names, root = slow_read()
    shutil.copytree(t.trace("callstack"), folder + "/bare")
    os.unlink(folder + "/bare/kallsyms")
    shutil.copytree(folder + "/bare", folder + "/zeros")
    with open(folder + "/zeros/kallsyms", "w", encoding="ascii") as file:
        file.write("0000000000000000 T vfs_read\n" * 100)
    with open(folder + "/other", "w", encoding="ascii") as file:
        file.write("fffffffffffff000 T far_away\n")
    name = symbols()
    for arguments in ((folder + "/bare", "syscall:read"), (folder + "/zeros", "syscall:read"),
                      ("callstack", "syscall:read", "--kallsyms", folder + "/other")):
        functions, other = slow_read(*arguments)
        assert other["maxcount"] == root["maxcount"] and other["ns"] == root["ns"], (other, root)
        plain = [f for f in functions if f not in TRACED]
        assert plain and all(f.startswith("0x") for f in plain), functions
        # the words of the stack around what has a name are the tracer's and the entry code's
        assert in_order([name(int(f, 16) - 1) for f in plain], [n for n in names if n not in TRACED]), (functions, names)
    beside, _ = slow_read(folder + "/bare", "syscall:read", "--kallsyms", t.trace("callstack") + "/kallsyms")
    assert beside == names, (beside, names)


# --- what holds for every tree -------------------------------------------------------------------------------------
def check_node(node, where, parent=None):
    where = "%s > %s" % (where, node["node"])
    assert node["maxcount"] <= node["operations"], "%s: maxcount %d in %d operations" % (
        where, node["maxcount"], node["operations"])
    assert parent is None or node["operations"] <= parent["operations"], "%s: in more operations than what is around" % where
    assert node["operations"] > 0 and node["ns"] >= 0, where + ": occurs in no operation"
    below = children(node)
    names = [(c["node"], tuple(c.get("functions", ()))) for c in below]
    assert len(names) == len(set(names)), "%s: parts twice: %s" % (where, sorted(names))
    assert [c["maxcount"] for c in below] == sorted((c["maxcount"] for c in below), reverse=True), where + ": out of order"
    if below:
        own = [c for c in below if parent is None and c["node"] == "working/" + node["node"]]
        assert not own or (own[0]["ns"], own[0]["maxcount"]) == (node["own_ns"], node["own_maxcount"]), where
        total = sum(c["ns"] for c in below) + (0 if own else node["own_ns"])
        assert total == node["ns"], "%s: %d ns, its parts %d" % (where, node["ns"], total)
        assert max([node["own_maxcount"]] + [c["maxcount"] for c in below]) > 0, where + ": no part is the largest"
        assert node["own_maxcount"] + sum(c["maxcount"] for c in below) >= node["operations"], \
            where + ": operations of which no part is the largest"
    for c in below:
        check_node(c, where, node)
    named = node.get("resources")
    if named is not None:
        assert node["node"].startswith("blocked/") or node["node"] == "packet", where
        assert sum(r["ns"] for r in named) == node["ns"], where + ": what its waits were for is not its time"
        assert sum(r["waits"] for r in named) >= node["operations"], where
        assert [r["ns"] for r in named] == sorted((r["ns"] for r in named), reverse=True), where


def ends(node, percentage, path=()):
    """Where root-cause paths end, by the rule of roots.h: parts within a percentage of the highest maxcount among
    their siblings; what is left of a node besides its parts is one of them."""
    path += tuple("function:" + f for f in node.get("functions", ())) + (node["node"],)
    assert node["root"], path
    below = children(node)
    apart = len(path) == 1 and any(c["node"] == "working/" + node["node"] for c in below)
    own = 0 if apart else node.get("own_maxcount", 0)
    most = max([own] + [c["maxcount"] for c in below])
    if not most:
        yield path, node["maxcount"], node["ns"]
        return
    if own and own * 100 >= most * percentage:
        yield path, own, node["own_ns"]
    for c in below:
        good = c["maxcount"] > 0 and c["maxcount"] * 100 >= most * percentage
        assert c["root"] == good, (path, c["node"], c["maxcount"], most)
        if good:
            yield from ends(c, percentage, path)
        else:
            assert not any_root(c), (path, c["node"])


def heaviest(node, path=()):
    """Every way down by the part with most time, as (path, ns): more than one where parts are equal."""
    path += tuple("function:" + f for f in node.get("functions", ())) + (node["node"],)
    below = children(node)
    apart = len(path) == 1 and any(c["node"] == "working/" + node["node"] for c in below)
    own = 0 if apart else node.get("own_ns", 0)
    most = max([own] + [c["ns"] for c in below])
    if not below or own == most:
        yield path, own if below else node["ns"]
    for c in below:
        if c["ns"] == most > own:
            yield from heaviest(c, path)


def any_root(node):
    return node["root"] or any(any_root(c) for c in children(node))


def check_peak(peak, operation, percentage=20, few=3):
    tree, where = peak["tree"], "%s peak %d" % (operation, peak["peak"])
    assert tree["node"] == operation and tree["root"]
    assert tree["maxcount"] == tree["operations"] == peak["count"] > 0, where
    assert tree["ns"] == peak["sum_ns"], where
    check_node(tree, where)
    for part in children(tree):
        buckets = {int(k): ns for k, ns in part["ns_by_bucket"].items()}
        assert sum(buckets.values()) == part["ns"], "%s %s: ns_by_bucket is not its time" % (where, part["node"])
        assert all(peak["first_bucket"] <= k <= peak["last_bucket"] for k in buckets), where
    together = {}
    for k, ns in itertools.chain(*(part["ns_by_bucket"].items() for part in children(tree))):
        together[k] = together.get(k, 0) + ns
    assert sum(tree["ns_by_bucket"].values()) == tree["ns"], where
    if sum(part["ns"] for part in children(tree)) == tree["ns"]:
        assert together == tree["ns_by_bucket"], where + ": the parts of a bucket's operations are not their time"
    want = sorted(ends(tree, percentage))
    assert sorted((tuple(r["path"]), r["maxcount"], r["ns"]) for r in peak["roots"]) == want, where
    more = [(path, ns) for path, ns in heaviest(tree) if all(ns > r["ns"] for r in peak["roots"])]
    named = peak.get("most_time")
    assert (tuple(named["path"]), named["ns"]) in more if named else not more, (where, named, more)
    order = [r["maxcount"] for r in peak["roots"]]
    assert order == sorted(order, reverse=True), where + ": roots out of order"
    for root in peak["roots"]:
        assert abs(root["share"] - root["ns"] / max(peak["sum_ns"], 1)) < 1e-4, (where, root)
    deep = any(node.get("cut") and not any(c["maxcount"] for c in children(node)) for node in root_nodes(tree))
    want = "too few operations" if peak["count"] < few else "maximum depth reached" if deep else "root cause found"
    assert peak["status"] == want, (where, peak["status"], want)


def root_nodes(node):
    if node["root"]:
        yield node
        for c in children(node):
            yield from root_nodes(c)


def gap(buckets):
    """Three octaves without any operation, somewhere between these buckets?"""
    return any(b - a > 3 for a, b in zip(buckets, buckets[1:]))


def separated(have, a, b):
    """The rule of the manual page: a valley that is low enough, and not by chance; or three octaves of nothing."""
    between = range(a["mode_bucket"], b["mode_bucket"] + 1)
    top = min(have[a["mode_bucket"]], have[b["mode_bucket"]])
    low, where = min((have.get(k, 0), k) for k in between)
    assert where < b["first_bucket"], "the valley belongs to the peak on its left"
    return gap([k for k in between if k in have]) or \
        math.log2((1 + top) / (1 + low)) >= 1.5 and top - low >= 1.5 * math.sqrt(top + low)


def check_profile(profile, percentage=20, few=3):
    name, peaks = profile["operation"], profile["peaks"]
    have = counts(profile)
    assert sum(have.values()) == profile["count"] > 0, name
    assert [p["peak"] for p in peaks] == list(range(1, len(peaks) + 1)), name
    inside = []
    for peak in peaks:
        span = range(peak["first_bucket"], peak["last_bucket"] + 1)
        assert peak["first_bucket"] in have and peak["last_bucket"] in have, name + ": a peak begins or ends empty"
        assert peak["count"] == sum(have.get(k, 0) for k in span), name
        assert have[peak["mode_bucket"]] == max(have.get(k, 0) for k in span), name + ": the mode is not the highest"
        some = [k for k in span if k in have]
        assert not gap(some), "%s: buckets %s are one peak, with three octaves or more of nothing between" % (name, some)
        inside += some
        check_peak(peak, name, percentage, few)
    assert inside == sorted(have), "%s: buckets %s, in peaks %s" % (name, sorted(have), inside)
    assert sum(p["sum_ns"] for p in peaks) == profile["sum_ns"], name
    for a, b in zip(peaks, peaks[1:]):
        assert separated(have, a, b), "%s: peaks %d and %d are one" % (name, a["peak"], b["peak"])
    for b in profile["buckets"]:
        ns = sum(peak["tree"]["ns_by_bucket"].get(str(b["bucket"]), 0) for peak in peaks)
        assert b["count"] * b["from_ns"] <= ns <= b["count"] * (b["to_ns"] - 1), (name, b, ns)


def check_examples(profile, seen):
    """An example is an operation of its peak that was really there."""
    for peak in profile["peaks"]:
        for root in peak["roots"]:
            example = root["example"]
            where = profile["operation"], example["begin"], example["end"]
            assert peak["first_bucket"] <= bucket(example["end"] - example["begin"]) <= peak["last_bucket"], where
            # who issued a request is in its events, also where lost events hide who runs
            tids = seen.get(where, ()) if not where[0].startswith("block-") else ()
            assert not tids or example["tid"] in tids, (where, example)
            assert where in seen or not where[0].startswith(("syscall:", "irq:", "function:", "wait-cpu")), where


def trees(name):
    found = profiles(name, "--operation", "*")
    assert len(found) > 20
    totals = [p["sum_ns"] for p in found]
    assert totals == sorted(totals, reverse=True), "most time first"
    for profile in found:
        check_profile(profile)
    for percentage, few in ((1, 1), (100, 50)):
        for profile in profiles(name, "--maxcount-percentage", str(percentage), "--min-operations", str(few)):
            check_profile(profile, percentage, few)


# --- what operations spent their time on, by the oracle ------------------------------------------------------------
def spent(life, begin, end, seen):
    """{part: ns} of one operation of a thread: each state, its own work, all waits as one."""
    parts = {}
    for b, e, leaf, _ in seen.during(life, begin, end):
        kind = leaf.split("/")[0]
        key = leaf if kind in ("interrupted", "unknown") else kind
        parts[key] = parts.get(key, 0) + e - b
    return parts


def part_of(node):
    """A node of the tree in spent()'s words."""
    kind = node.split("/")[0]
    return "interrupted/hrtimer" if node.startswith("interrupted/hrtimer:") else \
        node if kind in ("interrupted", "unknown") else kind


def flat(node, key, into):
    """Adds to into[part] what the node, and the functions called in it, spent."""
    for c in children(node):
        if c["node"].startswith("function:"):
            rest = c["own_ns"] if children(c) else c["ns"]
            into["working"] = into.get("working", 0) + rest
            flat(c, key, into)
        else:
            part = part_of(c["node"])
            into[part] = into.get(part, 0) + key(c)


def make_up(name, seen):
    """Each system call's time by its parts, in each peak, and in each bucket where no function is traced."""
    found = profiles(name, "--operation", "syscall:*", "--depth", "0")
    peaks, buckets = {}, {}
    for operation, begin, end, who in seen.operations:
        if operation.startswith("syscall:"):
            for part, ns in spent(seen.life(who.tid, begin), begin, end, seen).items():
                key = operation, bucket(end - begin)
                buckets.setdefault(key, {})
                buckets[key][part] = buckets[key].get(part, 0) + ns
    for profile in found:
        for peak in profile["peaks"]:
            span = range(peak["first_bucket"], peak["last_bucket"] + 1)
            want, have = {}, {}
            for k in span:
                of_bucket = buckets.get((profile["operation"], k), {})
                for part, ns in of_bucket.items():
                    want[part] = want.get(part, 0) + ns
                said = {}
                for c in children(peak["tree"]):
                    part = part_of(c["node"])
                    said[part] = said.get(part, 0) + c["ns_by_bucket"].get(str(k), 0)
                if not any(part.startswith("function:") for part in said):
                    assert {p: ns for p, ns in said.items() if ns} == {p: ns for p, ns in of_bucket.items() if ns}, \
                        (profile["operation"], k, said, of_bucket)
            flat(peak["tree"], lambda c: c["ns"], have)
            have = {part: ns for part, ns in have.items() if ns}
            assert have == {part: ns for part, ns in want.items() if ns}, (profile["operation"], peak["peak"], have, want)


def waits(name, seen):
    """blocked:* are the waits that began with a switch and were ended, trap:page_fault those in page faults."""
    outs = {(oracle.fields_of(rest)["prev_tid"], time) for time, _, event, _, rest in seen.events if event == "sched_switch"}
    want = {"blocked": [], "trap": []}
    for tid, lives in seen.lives.items():
        for life in lives:
            for begin, end, leaf, blocked in life[2]:
                if blocked is not None and blocked.waker is not None and blocked.wake_time == end and (tid, begin) in outs:
                    want["blocked"].append(end - begin)
                    if leaf == "blocked/trap:page_fault":
                        want["trap"].append(end - begin)
    have = {"blocked": [{}, 0], "trap": [{}, 0]}
    for profile in profiles(name, "--operation", "*"):
        kind = profile["operation"].split(":")[0]
        if kind in have:
            have[kind][1] += profile["sum_ns"]
            for k, n in counts(profile).items():
                have[kind][0][k] = have[kind][0].get(k, 0) + n
    for kind, values in want.items():
        assert have[kind] == [histogram(values), sum(values)], (kind, have[kind], len(values), sum(values))


def examples(name, seen):
    calls = ust.calls(t.trace(name))
    names = ust.names(t.trace(name), t.trace(name) + "/proxyapp") if calls else {}
    there = {("function:" + names[call.address], call.begin, call.end): {call.tid} for call in calls}
    for operation, begin, end, who in seen.operations:
        there.setdefault((operation, begin, end), set()).add(who.tid if who is not None and who.tid else None)
    for profile in profiles(name, "--operation", "*"):
        check_examples(profile, there)


def by_oracle(name):
    try:
        seen = seen_in(name)
    except (AssertionError, ValueError) as error:
        return tap.ok(False, name + ": the oracle", error)
    tap.case(name + ": system calls' parts are the oracle's states", make_up, name, seen)
    tap.case(name + ": waits as operations", waits, name, seen)
    return tap.case(name + ": examples are operations of their peak", examples, name, seen)


# --- maxcounts, a second time --------------------------------------------------------------------------------------
class Part:
    """A part of one operation (sum, largest occurrence), and then of all (ns, operations, maxcount), as roots.h says:
    "A part that occurs several times in an operation counts with its largest occurrence, the rest goes to the caller;
    preemptions and interrupts of one kind are summed, and so is all that a waker did." """

    def __init__(self, sums=False):
        self.sums, self.parts = sums, {}
        self.sum = self.largest = 0
        self.ns = self.own_ns = self.operations = self.maxcount = self.own_maxcount = 0

    def take(self, name, ns, sums):
        part = self.parts.setdefault(name, Part(sums))
        part.sum += ns
        part.largest = max(part.largest, ns)
        return part

    def worth(self):
        return self.sum if self.sums else self.largest

    def settle(self, one_operation, value):
        """Adds one operation's parts: those in the same bucket as the largest gain a maxcount."""
        own = max(value - sum(p.worth() for p in one_operation.parts.values()), 0)
        most = max([own] + [p.worth() for p in one_operation.parts.values()])
        self.own_ns += one_operation.sum - sum(p.sum for p in one_operation.parts.values())
        self.own_maxcount += own == most or own > 0 and bucket(own) == bucket(most)
        for name, part in one_operation.parts.items():
            mine = self.parts.setdefault(name, Part(part.sums))
            mine.ns += part.sum
            mine.operations += 1
            mine.maxcount += bucket(part.worth()) == bucket(most)
            mine.settle(part, part.worth())


def follow(seen, part, blocked, begin, end, met):
    """"What the waker was doing while we were blocked." """
    waker = blocked.waker
    if waker is None or waker["kind"] != "thread" or not waker["tid"]:
        return
    life = seen.life(waker["tid"], blocked.wake_time)
    by = part.take("by:" + life[3], end - begin, part.sums)
    if life in met:
        by.take("cycle", end - begin, True)
        return
    if life[0] > begin:
        by.take("before its birth", min(life[0], end) - begin, True)
    for b, e, leaf, wait in seen.during(life, begin, end):
        below = by.take(waits_for(leaf, wait), e - b, True)
        if wait is not None:
            follow(seen, below, wait, b, e, met + [life])


def tree_of(seen, calls):
    top = Part()
    for begin, end, who in calls:
        call, life = Part(), seen.life(who.tid, begin)
        call.sum = end - begin
        for b, e, leaf, blocked in seen.during(life, begin, end):
            if leaf.startswith("working/"):
                continue
            part = call.take(waits_for(leaf, blocked), e - b, blocked is None)
            if blocked is not None:
                follow(seen, part, blocked, b, e, [life])
        top.ns += call.sum
        top.settle(call, call.sum)
    return top


def waits_for(leaf, blocked):
    """What writers and the flusher wait for, in the report's words: the file's lock if a call on the file ended it."""
    if leaf != "blocked/syscall:pwrite64":
        return {"blocked/syscall:clock_nanosleep": "blocked/sleep"}.get(leaf, leaf)
    held = blocked.waker is not None and blocked.waker["context"] == "syscall:pwrite64"
    return "blocked/lock:/shared.dat" if held else "blocked/file"


def compare_tree(node, part, where, differ):
    """Down to interrupts, who had the CPU, and hardware, which are not made up here."""
    have = {c["node"]: c for c in children(node)}
    if where and not where.split(" > ")[-1].startswith(("blocked/", "by:", "syscall:")):
        return
    own = have.pop("working/" + node["node"], None) if " > " not in where else None
    have = {k: v for k, v in have.items() if k.startswith(("by:", "blocked/", "working/", "interrupted/", "cycle"))}
    for name in sorted(set(have) | set(part.parts)):
        at = "%s > %s" % (where, name)
        mine, said = part.parts.get(name), have.get(name)
        if mine is None or said is None:
            differ.append("%s: only %s" % (at, "here" if said is None else "in the report"))
            continue
        if (mine.ns, mine.operations, mine.maxcount) != (said["ns"], said["operations"], said["maxcount"]):
            differ.append("%s: %s, here %d ns, %d operations, maxcount %d" % (
                at, [said[k] for k in ("ns", "operations", "maxcount")], mine.ns, mine.operations, mine.maxcount))
        compare_tree(said, mine, at, differ)
    if (part.own_ns, part.own_maxcount) != (node.get("own_ns", node["ns"]), node.get("own_maxcount", part.own_maxcount)) \
            and any(k.startswith(("by:", "working/", "interrupted/")) for k in have):
        differ.append("%s: besides its parts %s, here %d ns, maxcount %d" % (
            where, [node.get(k) for k in ("own_ns", "own_maxcount")], part.own_ns, part.own_maxcount))
    if own is not None and own["maxcount"] != part.own_maxcount:
        differ.append("%s: own maxcount %d, here %d" % (where, own["maxcount"], part.own_maxcount))


def maxcounts():
    """The trees of lock-lapse's pwrite64, node by node: time, operations and maxcounts."""
    seen = seen_in("lock-lapse")
    for who in ("writer-", ""):
        arguments = ("--thread", who + "*") if who else ()
        for peak in one("lock-lapse", "syscall:pwrite64", "--depth", "0", *arguments)["peaks"]:
            calls = [c for c in seen.of("syscall:pwrite64", who)
                     if peak["first_bucket"] <= bucket(c[1] - c[0]) <= peak["last_bucket"]]
            assert len(calls) == peak["count"]
            differ = []
            compare_tree(peak["tree"], tree_of(seen, calls), "syscall:pwrite64", differ)
            assert not differ, "peak %d%s\n%s" % (peak["peak"], who and " of writers", "\n".join(differ))


# --- save, resume, compare -----------------------------------------------------------------------------------------
def saved(folder, name, *arguments):
    path = "%s/%s.json" % (folder, "".join(c if c.isalnum() else "_" for c in "".join((name,) + arguments)))
    t.output("profile", t.trace(name), "--quiet", "--save", path, *arguments)
    with open(path, encoding="utf-8") as file:
        return path, json.load(file)["profiles"]


def add_trees(*trees):
    """{path: [ns, operations, maxcount, own_ns, own_maxcount, {resource: (ns, waits)}]} of trees together."""
    out = {}

    def walk(node, path):
        path += ((node["node"], tuple(node.get("functions", ()))),)
        row = out.setdefault(path, [0] * 5 + [{}])
        # a node without parts is all its own
        own = node.get("own_ns", node["ns"]), node.get("own_maxcount", 0)
        for i, n in enumerate((node["ns"], node["operations"], node["maxcount"], *own)):
            row[i] += n
        for r in node.get("resources", []):
            ns, count = row[5].get(r["resource"], (0, 0))
            row[5][r["resource"]] = ns + r["ns"], count + r["waits"]
        for c in children(node):
            walk(c, path)
    for tree in trees:
        walk(tree, ())
    return out


def both_counts(a, b):
    total = counts(a)
    for k, n in counts(b).items():
        total[k] = total.get(k, 0) + n
    return total


def added(a, b, both):
    """Is `both` the sum of a and b, in a's peaks? How many trees were compared: those of peaks that b has too."""
    name, compared = a["operation"], 0
    total = both_counts(a, b)
    assert counts(both) == total, name
    assert (both["count"], both["sum_ns"]) == (a["count"] + b["count"], a["sum_ns"] + b["sum_ns"]), name
    assert (both["min_ns"], both["max_ns"]) == (min(a["min_ns"], b["min_ns"]), max(a["max_ns"], b["max_ns"])), name
    assert both["p50_ns"] is None, name + ": the percentile of half the operations"
    assert ranges(both) == ranges(a), name
    for mine, peak in zip(a["peaks"], both["peaks"]):
        span = mine["first_bucket"], mine["last_bucket"]
        assert peak["count"] == sum(n for k, n in total.items() if span[0] <= k <= span[1]), name
        for other in b["peaks"]:
            if (other["first_bucket"], other["last_bucket"]) == span:
                compared += 1
                assert peak["sum_ns"] == mine["sum_ns"] + other["sum_ns"], name
                have, want = add_trees(peak["tree"]), add_trees(mine["tree"], other["tree"])
                assert have == want, "%s: %s" % (name, differences(have, want))
                check_ends(peak)
    return compared


def resume_adds(folder):
    """The first half saved and the second added: what adding the two by hand gives, in the first one's peaks."""
    compared = 0
    for name, half in (("fork4", "+1300ms"), ("lock-lapse", "+1800ms"), ("zero-read", "+1500ms"), ("wide", "+480ms")):
        first, second = ("--operation", "*", "--to", half), ("--operation", "*", "--from", half)
        path, before = saved(folder, name, *first)
        before = {p["operation"]: p for p in before}
        after = {p["operation"]: p for p in profiles(name, *second)}
        both = {p["operation"]: p for p in profiles(name, *second, "--resume", path, "--force")}
        assert set(both) == set(before) | set(after)
        for operation in set(before) & set(after):
            compared += added(before[operation], after[operation], both[operation])
        for operation in set(before) - set(after):
            for key in ("buckets", "sum_ns", "min_ns", "max_ns"):
                assert both[operation][key] == before[operation][key], operation
        for operation in set(after) - set(before):
            assert without_apart(both[operation]) == without_apart(after[operation]), operation
    assert compared > 20, compared


def check_ends(peak):
    want = sorted(ends(peak["tree"], 20))
    assert sorted((tuple(r["path"]), r["maxcount"], r["ns"]) for r in peak["roots"]) == want, peak["peak"]


def resume_whole(folder):
    """Two of the forkers saved, the other two added: all four's, where the peaks are the same."""
    tids = sorted({tid for tid, _, _ in clones("fork4")}, key=lambda tid: -sum(c[0] == tid for c in clones("fork4")))[:4]
    scope = lambda some: [*itertools.chain(*(("--thread", str(tid)) for tid in some)), "--operation", "syscall:clone"]
    path, before = saved(folder, "fork4", *scope(tids[:2]))
    now = profiles("fork4", *scope(tids[2:]), "--resume", path, "--force")[0]
    whole = profiles("fork4", *scope(tids))[0]
    assert counts(now) == counts(whole) and now["sum_ns"] == whole["sum_ns"]
    assert ranges(before[0]) == ranges(now)
    if ranges(now) == ranges(whole):
        for a, b in zip(now["peaks"], whole["peaks"]):
            assert add_trees(a["tree"]) == add_trees(b["tree"])
            assert sorted(paths(a)) == sorted(paths(b)) and a["status"] == b["status"]
    # in place: a search is gone on with in its own file
    t.output("profile", t.trace("fork4"), "--quiet", *scope(tids[2:]), "--resume", path, "--save", path, "--force")
    with open(path, encoding="utf-8") as file:
        assert counts(json.load(file)["profiles"][0]) == counts(whole)


def saves_all(folder):
    """--limit cuts what is printed, not what is saved; saving changes nothing in the report."""
    arguments = ("profile", t.trace("fork4"), "--operation", "*", "--format", "json")
    plain = json.loads(t.output(*arguments, "--limit", "0"))
    plain.pop("answer", None)  # sentences about this report: what is saved has none
    for i, limit in enumerate(("0", "1", "20")):
        path = "%s/all-%d" % (folder, i)
        assert t.output(*arguments, "--limit", limit, "--save", path) == t.output(*arguments, "--limit", limit)
        with open(path, "rb") as file:
            assert json.load(file) == plain, "saved with --limit %s: not the whole report" % limit


def no_clone_at(name):
    """A time in the middle at which no clone is under way: as many were entered as parents have come back."""
    events = [(time, event, rest) for time, event, _, rest in text(name) if event.endswith("_clone")]
    times, under_way = [], 0
    for time, event, rest in events:
        under_way += event == "syscall_entry_clone"
        under_way -= event == "syscall_exit_clone" and oracle.fields_of(rest)["ret"] != 0
        if not under_way:
            times.append(time + 1)
    return times[len(times) // 2]


def resume_refused(folder):
    path, before = saved(folder, "fork1", "--operation", "syscall:clone")
    arguments = ["profile", t.trace("fork4"), "--operation", "syscall:clone", "--resume", path, "--threshold", "0.2"]
    done = t.run(*arguments, "--save", folder + "/not")
    error = done.stderr.decode()
    assert done.returncode == 2 and not done.stdout, done
    assert error.count("\n") == 1 and "syscall:clone" in error and "--force" in error and "0.20" in error, error
    assert not os.path.exists(folder + "/not")
    forced = t.report(*arguments, "--force", "--limit", "0")["profiles"][0]
    assert counts(forced) == both_counts(before[0], one("fork4", "syscall:clone")) and ranges(forced) == ranges(before[0])
    # the recording that it has: once, unless asked for; another part of it is another
    done = t.run("profile", t.trace("fork1"), "--operation", "syscall:clone", "--resume", path)
    error = done.stderr.decode()
    assert done.returncode == 2 and not done.stdout and error.count("\n") == 1, done
    assert "has this recording already" in error and "--force" in error, error
    middle = "%d.%09d" % divmod(no_clone_at("fork1"), 10**9)
    half, first = saved(folder, "fork1", "--operation", "syscall:clone", "--to", middle)
    rest = one("fork1", "syscall:clone", "--resume", half, "--from", middle, "--threshold", "64")
    assert rest["count"] == before[0]["count"] > first[0]["count"] > 0, (rest["count"], before[0]["count"], first[0]["count"])
    # another operation that has changed does not matter if it is not asked for
    other, _ = saved(folder, "fork1")
    t.output("profile", t.trace("fork4"), "--operation", "syscall:wait4", "--resume", other, "--threshold", "64", "--quiet")


def resume_deeper(folder):
    """What was cut at --depth 1 is looked into in what is added."""
    path, before = saved(folder, "lock-lapse", *WRITERS[2:], "--operation", "syscall:pwrite64", "--depth", "1")
    peak = before[0]["peaks"][1]
    lock = child(peak["tree"], "blocked/lock:/shared.dat")
    assert peak["status"] == "maximum depth reached" and lock["cut"] and not children(lock), peak["status"]
    whole = child(one(*WRITERS)["peaks"][1]["tree"], "blocked/lock:/shared.dat")
    peak = one(*WRITERS, "--resume", path, "--force")["peaks"][1]
    deeper = child(peak["tree"], "blocked/lock:/shared.dat")
    assert (deeper["ns"], deeper["maxcount"]) == (2 * whole["ns"], 2 * whole["maxcount"]), "the same twice"
    have = {k: v[:3] for k, v in add_trees(deeper).items() if len(k) > 1}
    assert have == {k: v[:3] for k, v in add_trees(whole).items() if len(k) > 1}, "deeper: once"
    assert any("by:flusher" in path for path in paths(peak)), paths(peak)
    again, _ = saved(folder, "lock-lapse", *WRITERS[2:], "--operation", "syscall:pwrite64", "--depth", "2")
    assert one(*WRITERS, "--resume", again, "--depth", "4", "--force")["peaks"][1]["tree"]["operations"] == 2 * peak["count"] // 2


def resume_split(folder):
    """A search that was split by threads goes on split by threads, and not otherwise."""
    path, before = saved(folder, "lock-lapse", "--operation", "syscall:pwrite64", "--per", "thread")
    arguments = ("--operation", "syscall:pwrite64", "--resume", path)
    now = profiles("lock-lapse", *arguments, "--per", "thread", "--force")
    want = {(p["operation"], p["scope"]["thread"]): 2 * p["count"] for p in before}
    assert {(p["operation"], p["scope"].get("thread")): p["count"] for p in now} == want, [
        (p["scope"], p["count"]) for p in now]
    for per in ([], ["--per", "cpu"]):
        for option in ("--resume", "--compare"):
            done = t.run("profile", t.trace("lock-lapse"), option, path, *per)
            assert done.returncode == 2 and b"--per thread" in done.stderr, done


def resume_resolution(folder):
    """The buckets are the file's, as the counts are."""
    path, before = saved(folder, "fork1", "--operation", "syscall:clone", "--resolution", "3")
    now = one("fork1", "syscall:clone", "--resume", path, "--force")
    assert now["resolution"] == 3 and counts(now) == {k: 2 * n for k, n in counts(before[0]).items()}
    done = t.run("profile", t.trace("fork1"), "--resume", path, "--resolution", "2")
    assert done.returncode == 2 and b"resolution" in done.stderr, done


def compare_itself(folder):
    for name, arguments in (("fork4", ("--operation", "*")), ("lock-lapse", ("--per", "thread")),
                            ("wide", ("--per", "resource", "--resolution", "4"))):
        path, before = saved(folder, name, *arguments)
        comparison = t.report("profile", t.trace(name), "--limit", "0", "--quiet", "--compare", path,
                              *arguments)["comparison"]
        assert comparison["changed"] == 0 and comparison["file"] == path and comparison["threshold"] == 0.25
        assert len(comparison["operations"]) == len(before)
        for entry in comparison["operations"]:
            assert entry["distance"] == 0 and not entry["changed"], entry
            assert entry["count"] == entry["saved_count"], entry
    text_report = t.output("profile", t.trace(name), "--quiet", "--compare", path, *arguments).decode()
    assert "WARNING" not in text_report


def compare_drawn(folder):
    """Both histograms in the text, bucket by bucket, from the counts in both files."""
    path, before = saved(folder, "fork1")
    there = counts([p for p in before if p["operation"] == "syscall:clone"][0])
    here = counts(one("fork4", "syscall:clone"))
    said = t.output("profile", t.trace("fork4"), "--quiet", "--operation", "syscall:clone", "--compare", path).decode()
    drawn = {int(row[1]): (int(row[2]), int(row[3]), row[4].strip(), row[5].strip()) for row in
             re.finditer(r"^ +(\d+) +[\d.]+ \S+ +(\d+) +(\d+) +\d* +(#* *)\|( ?=*)$", said, re.M)}
    assert {k: row[:2] for k, row in drawn.items()} == {k: (here.get(k, 0), there.get(k, 0)) for k in
                                                        set(here) | set(there)}, said
    only, = t.report("profile", t.trace("fork4"), "--quiet", "--operation", "syscall:clone", "--compare", path)["profiles"]
    assert {b["bucket"]: b["count"] for b in only["saved_buckets"]} == there and counts(only) == here, only["saved_buckets"]
    assert "saved_buckets" not in before[0]
    longest = [max(len(row[i]) for row in drawn.values()) for i in (2, 3)]
    for k, row in drawn.items():
        for i in (0, 1):
            assert bool(row[i]) == bool(row[i + 2]), (k, row)
            assert (row[i] == max(r[i] for r in drawn.values())) == (len(row[i + 2]) == longest[i]), (k, row)


def compare_others(folder):
    """Sorted, with each operation's distance by hand; what one of them lacks has none."""
    path, before = saved(folder, "fork1")
    comparison = t.report("profile", t.trace("web-mixed"), "--limit", "0", "--quiet", "--compare", path)["comparison"]
    mine = {p["operation"]: counts(p) for p in profiles("web-mixed", "--operation", "syscall:*")}
    theirs = {p["operation"]: counts(p) for p in before}
    assert {e["operation"] for e in comparison["operations"]} == set(mine) | set(theirs)
    order = [(not e["changed"], e["distance"] is None, -(e["distance"] or 0)) for e in comparison["operations"]]
    assert order == sorted(order), "not what changed first, largest distance first, then what only one has"
    for entry in comparison["operations"]:
        a, b = mine.get(entry["operation"]), theirs.get(entry["operation"])
        assert entry["count"] == sum((a or {}).values()) and entry["saved_count"] == sum((b or {}).values()), entry
        if a and b:
            assert abs(entry["distance"] - distance(a, b)) < 1e-3, (entry, distance(a, b))
        assert entry["changed"] == (a is not None and b is not None and
                                    entry["distance"] > max(0.25, entry["noise"])), entry
    changed = sum(e["changed"] for e in comparison["operations"])
    assert comparison["changed"] == changed > 0
    said = t.output("profile", t.trace("web-mixed"), "--quiet", "--compare", path).decode()
    assert "WARNING: %d operations changed" % changed in said


# --- turns -----------------------------------------------------------------------------------------------------------
def turns_unasked():
    """pipe-chain's stages loop, and stage-c's reads of a slow disk make a few of its turns, and of those who wait for
    it, long (truth.tsv): found though nobody asked for it, each thread by itself. Not so where profiles must not
    depend on how many turns there are."""
    found = [p for p in profiles("pipe-chain") if p["operation"] == "busy"]
    assert sorted(re.sub(r" .*", "", p["scope"]["thread"]) for p in found) == ["stage-a", "stage-b", "stage-c"], found
    slow = [p for p in found if p["scope"]["thread"].startswith("stage-c")][0]["peaks"][-1]
    assert any("blocked/device:vda" in root["path"] for root in slow["roots"]), slow["roots"]
    assert not [p for p in profiles("pipe-chain", "--per", "cpu") if p["operation"] == "busy"]


# --- scopes ----------------------------------------------------------------------------------------------------------
def parts_add(name, per):
    whole = {p["operation"]: p for p in profiles(name, "--operation", "*")}
    parts = {}
    for part in profiles(name, "--operation", "*", "--per", per):
        assert list(part["scope"]) == [per] and part["scope"][per], part["scope"]
        assert part["scope"][per] not in [p["scope"][per] for p in parts.get(part["operation"], [])], (
            "twice", part["operation"], part["scope"])
        parts.setdefault(part["operation"], []).append(part)
    assert set(parts) == set(whole)
    for operation, profile in whole.items():
        some = parts[operation]
        total = {}
        for k, n in itertools.chain(*(counts(p).items() for p in some)):
            total[k] = total.get(k, 0) + n
        assert total == counts(profile), (operation, total, counts(profile))
        assert sum(p["sum_ns"] for p in some) == profile["sum_ns"], operation
        assert min(p["min_ns"] for p in some) == profile["min_ns"], operation
        assert max(p["max_ns"] for p in some) == profile["max_ns"], operation


def per_thread(name):
    """The parts are the threads' own calls, by latencies.py."""
    want = {}
    names = {}
    seen = seen_in(name)
    for operation, begin, end, who in seen.operations:
        if operation.startswith("syscall:"):
            names[id(who)] = who
            want.setdefault((operation, id(who)), []).append(end - begin)
    want = sorted((o, "%s (%d)" % (names[i].comm, names[i].tid), len(v), sum(v)) for (o, i), v in want.items())
    have = sorted((p["operation"], p["scope"]["thread"], p["count"], p["sum_ns"]) for p in profiles(name, "--per", "thread"))
    assert have == want, [x for x in itertools.zip_longest(have, want) if x[0] != x[1]][:5]


def per_thread_preempted(name):
    """Over all system calls of a thread: what interrupted them is what the oracle's states say of complete calls."""
    want, have = {}, {}
    seen = seen_in(name)
    for operation, begin, end, who in seen.operations:
        if operation.startswith("syscall:"):
            for part, ns in spent(seen.life(who.tid, begin), begin, end, seen).items():
                if part.startswith("interrupted/"):
                    key = "%s (%d)" % (who.comm, who.tid), part
                    want[key] = want.get(key, 0) + ns
    for profile in profiles(name, "--per", "thread"):
        for c in (c for p in profile["peaks"] for c in children(p["tree"]) if c["node"].startswith("interrupted/")):
            key = profile["scope"]["thread"], part_of(c["node"])
            have[key] = have.get(key, 0) + c["ns"]
    assert have == want and any(part == "interrupted/preempted" for _, part in want), "differ"
    # which is no more than the delay report has of the whole thread
    report = t.report("delay", t.trace(name), "--thread", "all", "--limit", "1")
    for thread in report["threads"]:
        who = "%s (%d)" % (thread["name"], thread["tid"])
        states = [n for n in thread["summary"]["children"] if n["key"] == "interrupted"]
        for node in (n for s in states for n in s["children"]):
            assert want.get((who, node["key"]), 0) <= node["ns"], (who, node["key"])


def resources():
    """--resource picks the calls on a file: all pwrite64 of the writers and the flusher (README: one file)."""
    cpus = [cpu for _, event, cpu, _ in text("lock-lapse") if event == "syscall_exit_pwrite64"]
    calls = len(cpus)
    some = profiles("lock-lapse", "--per", "cpu", "--operation", "syscall:pwrite64")    # where they ended
    assert {p["scope"]["cpu"]: p["count"] for p in some} == {"CPU %d" % cpu: cpus.count(cpu) for cpu in set(cpus)}
    for part in profiles("lock-lapse", "--per", "process", "--operation", "syscall:*")[:5]:
        pid = part["scope"]["process"].split("(")[-1].rstrip(")")
        found = {**one("lock-lapse", part["operation"], "--process", pid), "scope": part["scope"]}
        assert without_apart(found) == without_apart(part)
    for pattern in ("file:/shared.dat", "/shared.dat", "/shared.*"):
        some = profiles("lock-lapse", "--resource", pattern)
        names = {p["operation"]: p["count"] for p in some}
        assert names["syscall:pwrite64"] == calls, names
        # the flusher's own: it allocates and syncs the file
        assert all(n in names for n in ("syscall:fallocate",)), names
        split = {p["operation"]: p for p in profiles("lock-lapse", "--per", "resource")
                 if p["scope"]["resource"] == "file:/shared.dat"}
        assert {o: p["count"] for o, p in split.items()} == names, (names, list(split))
    vda = profiles("disk-read", "--operation", "*", "--resource", "device:vda")
    kinds = {p["operation"].split(":")[0] for p in vda}
    assert {"block-served", "blocked"} <= kinds, kinds


# --- what is searched, and how far -------------------------------------------------------------------------------------
def single_peak():
    whole = one(*WRITERS)["peaks"]
    for number in (1, 2):
        some = one(*WRITERS, "--peak", str(number))["peaks"]
        assert some[number - 1] == whole[number - 1]
        assert set(some[2 - number]) == {"peak", "first_bucket", "mode_bucket", "last_bucket", "count"}, some[2 - number]
        assert all(some[2 - number][k] == whole[2 - number][k] for k in some[2 - number])


def statuses():
    for peak in one(*WRITERS, "--min-operations", "39")["peaks"]:       # 38 are in the second
        want = "too few operations" if peak["peak"] == 2 else "root cause found"
        assert peak["status"] == want, peak["status"]
    assert one(*WRITERS, "--min-operations", "38")["peaks"][1]["status"] == "root cause found"
    peak = one(*WRITERS, "--depth", "1")["peaks"][1]
    assert peak["status"] == "maximum depth reached", peak["status"]
    for part in children(peak["tree"]):
        assert not children(part), "deeper than --depth 1"
    whole = one(*WRITERS)["peaks"][1]
    assert [(c["node"], c["ns"], c["maxcount"]) for c in children(peak["tree"])] == \
        [(c["node"], c["ns"], c["maxcount"]) for c in children(whole["tree"])], "the depth changes what is above it"


def percentages():
    """Fewer roots with a higher percentage, and one of each kind is always there."""
    last = None
    for percentage in (1, 20, 60, 100):
        found = {tuple(p) for p in paths(one(*WRITERS, "--maxcount-percentage", str(percentage))["peaks"][1])}
        assert found and (last is None or len(found) <= len(last)), percentage
        last = found


def wide_enough():
    """Text at 80 columns fits, but for command lines to copy; the bars grow with the count."""
    for name, arguments in t.sample((("fork4", []), ("lock-lapse", ["--time-lapse", "100ms", "--operation", "syscall:pwrite64"]),
                                     ("callstack", ["--operation", "*"]), ("web-mixed", ["--operation", "syscall:*"])), 2):
        for line in t.output("profile", t.trace(name), "--quiet", *arguments).decode().split("\n"):
            assert len(line) <= 80 or line.lstrip().startswith("whylate "), line
    bars = {}
    for line in t.output("profile", t.trace("fork4"), "--operation", "syscall:clone").decode().split("\n"):
        words = line.split()
        if len(words) == 6 and words[0].isdigit() and set(words[5]) == {"#"}:
            bars[int(words[0])] = (int(words[3]), len(words[5]))
    assert {k: n for k, (n, _) in bars.items()} == CLONES, bars
    assert [n for n, _ in sorted(bars.values())] == [n for n, _ in sorted(bars.values(), key=lambda b: b[1])], bars
    # a logarithmic axis: equal ratios of counts are equal lengths, to one character at each end
    a, b, c = bars[24][1], bars[23][1], bars[22][1]     # 1, 7, 51: about the same ratio
    assert abs((b - a) - (c - b)) <= 2, (a, b, c)


def overview():
    """"overview lists operations with more than one peak" of three calls or more."""
    want = {}
    for profile in profiles("fork4"):
        large = sum(peak["count"] >= 3 for peak in profile["peaks"])
        if large > 1:
            want[profile["operation"][len("syscall:"):]] = large
    assert want["clone"] == 2
    said = " ".join(t.output("overview", "--full", t.trace("fork4"), "--limit", "0").decode().split())
    said = said.split("More than one peak of latency: ", 1)[1].split(" Findings ", 1)[0]
    found = {word.split(" (")[0]: int(word.split("(")[1].rstrip(")")) for word in said.split("), ")}
    assert found == want, (found, want)


for case in (fork_peaks, fork_roots, fork_preempted, fork_distance, lock_peaks, lock_lapse, lock_rhythm, no_rhythm, inside_calls, zero_read, disk_read,
             requests_for, callstack, maxcounts, resources, single_peak, statuses, percentages, wide_enough, overview):
    tap.case(case.__name__.replace("_", " "), case)
with tempfile.TemporaryDirectory() as scratch:
    for case in (addresses, saves_all, resume_adds, resume_whole, resume_refused, resume_deeper, resume_split,
                 resume_resolution, compare_itself, compare_drawn, compare_others):
        tap.case(case.__name__.replace("_", " "), case, scratch)
for one_name in t.sample(("lock-lapse", "wide", "two-hosts-client")):
    for one_per in ("thread", "process", "resource", "cpu"):
        tap.case("%s per %s adds up" % (one_name, one_per), parts_add, one_name, one_per)
tap.case("turns that nobody asked for", turns_unasked)
for one_name in ("preempt", "fork4"):
    tap.case(one_name + " per thread, by the oracle", per_thread, one_name)
    tap.case(one_name + " per thread, what interrupted the calls", per_thread_preempted, one_name)
for one_name in t.sample(t.TRACES, 8):
    tap.case(one_name + ": trees add up, roots are by the rule", trees, one_name)
    if one_name != "zero-read":     # the oracle keeps all events in memory
        by_oracle(one_name)
sys.exit(tap.done())
