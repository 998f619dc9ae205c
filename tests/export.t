#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""whylate export: every format read by somebody else's reader (tests/exports.py), and what is in it held against
tests/oracle/: times of states per thread, blocked intervals, who woke (oracle.py), finished system calls
(latencies.py). Those read babeltrace2's text and know nothing of whylate. One format against the other, so that they
do not drift apart; the cut trace against babeltrace2's own; the examples of the manual page; and what is left when it
fails."""
import collections
import csv
import errno
import functools
import hashlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import exports
import whylate_test as t

BOTH = ("two-hosts-client", "two-hosts-server")
FORMATS = ("perfetto", "trace-event", "folded", "speedscope", "pprof", "sqlite")
WIB = {"running": "working", "interrupted": "interrupted", "ready": "interrupted", "blocked": "blocked",
       "unknown": "unknown"}
STEP = exports.STEP
tap = t.Tap()
place = tempfile.TemporaryDirectory()


def paths(names):
    return t.trace(*names) if len(names) > 1 else [t.trace(names[0])]


def export(form, names, *options, to=None):
    """Exports to a file, and says where that is."""
    path = to or os.path.join(place.name, "%s-%s-%d" % ("-".join(names), form, len(os.listdir(place.name))))
    done = t.run("export", *paths(names), "--as", form, "--output", path, "--quiet", *options)
    assert done.returncode == 0, (done.returncode, done.stderr.decode())
    return path


def kept(script, name, *options):
    """What a program of tests/oracle prints of a trace; kept in the cache, as it depends on nothing else."""
    with open(t.SOURCE + "/tests/oracle/" + script, "rb") as file:
        key = hashlib.sha256(file.read()).hexdigest()[:16]
    path = "%s/%s-%s-%s.json" % (t.CACHE, script[:-3], key, name)
    if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(t.trace(name)):
        with open("%s.%d" % (path, os.getpid()), "wb") as file:
            subprocess.run([sys.executable, t.SOURCE + "/tests/oracle/" + script, *options, t.trace(name)],
                           stdout=file, check=True)
        os.rename("%s.%d" % (path, os.getpid()), path)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


@functools.lru_cache(maxsize=None)
def oracle(name):
    return kept("oracle.py", name)["threads"]


@functools.lru_cache(maxsize=None)
def calls(name):
    """{system call: (count, ns)} of those that were seen from entry to exit."""
    found = kept("latencies.py", name)["operations"]
    return {key[len("syscall:"):]: (value["count"], value["sum_ns"])
            for key, value in found.items() if key.startswith("syscall:")}


def expected_states(names):
    """{(unique TID): {working, interrupted, blocked, unknown: ns}} by the oracle; lives of one TID together."""
    sums = collections.defaultdict(collections.Counter)
    for host, name in enumerate(names):
        for thread in oracle(name):
            for leaf, value in thread["leaves"].items():
                sums[thread["tid"] + host * STEP][leaf.split("/")[0]] += value["ns"]
    return {tid: {k: v for k, v in wib.items() if v} for tid, wib in sums.items() if any(wib.values())}


def woken(names):
    """[(TID, time)] of waits that ended with a wake-up whose waker is known: not by the idle loop itself, which wakes
    nobody (docs/semantics.md, "Windows and summaries")."""
    found = []
    for host, name in enumerate(names):
        for thread in oracle(name):
            for block in thread["blocked"]:
                waker = block["waker"]
                if waker["kind"] not in ("unknown", "none") and not (waker["kind"] == "thread" and waker["tid"] == 0):
                    found.append((thread["tid"] + host * STEP, block["end"] if host == 0 else None))
    return found


def states_of(timeline):
    """The same of slices."""
    sums = collections.defaultdict(collections.Counter)
    for pid, tid, category, _, begin, end in timeline.slices:
        if pid is not None and category in WIB:
            sums[tid][WIB[category]] += end - begin
    return {tid: {k: v for k, v in wib.items() if v} for tid, wib in sums.items() if any(wib.values())}


@functools.lru_cache(maxsize=None)
def timeline(form, names):
    return getattr(exports, form.replace("-", "_"))(export(form, names))


def check_nesting(slices):
    """On a track each slice lies in the one around it, or behind it."""
    tracks = collections.defaultdict(list)
    for pid, tid, _, _, begin, end in slices:
        tracks[pid, tid].append((begin, -end))
    for track, spans in tracks.items():
        stack = []
        for begin, end in sorted(spans):
            while stack and stack[-1] <= begin:
                stack.pop()
            assert not stack or -end <= stack[-1], (track, begin, -end, stack)
            stack.append(-end)


def check_timeline(form, names):
    found = timeline(form, names)
    assert states_of(found) == expected_states(names)
    check_nesting(found.slices)
    ended = collections.Counter(s[3] for s in found.slices if s[2] == "syscall")
    total = collections.Counter()
    for name in names:
        total.update({key: count for key, (count, _) in calls(name).items()})
    # besides those seen from both ends there are those that were open at the trace's begin or end
    assert all(ended[key] >= total[key] for key in total), total - ended
    lives = collections.Counter(thread["tid"] + host * STEP for host, name in enumerate(names)
                                for thread in oracle(name))
    extra = ended - total
    assert sum(extra.values()) <= 2 * sum(lives.values()), extra
    assert {tid for _, tid in found.threads} == set(lives)


def check_arrows(form, names):
    """As many arrows as wake-ups by a known waker, at their times, to the thread that was woken."""
    found, want = timeline(form, names), woken(names)
    assert len(found.arrows) == len(want) > 100, (len(found.arrows), len(want))
    ends = collections.Counter((arrow[2][1], arrow[2][2]) for arrow in found.arrows)
    known = collections.Counter(w for w in want if w[1] is not None)
    assert not known - ends, known - ends
    assert collections.Counter(arrow[2][1] for arrow in found.arrows) == collections.Counter(w[0] for w in want)
    # who was current where the wake-up happened: a thread, else (the idle loop) a CPU
    wakers = collections.Counter()
    for host, name in enumerate(names):
        for thread in oracle(name):
            for block in thread["blocked"]:
                if block["waker"]["tid"] and block["waker"]["kind"] not in ("unknown", "none"):
                    wakers[thread["tid"] + host * STEP, block["waker"]["tid"] + host * STEP] += 1
    assert collections.Counter((arrow[2][1], arrow[1][1]) for arrow in found.arrows
                               if arrow[1][0] is not None) == wakers
    slices = collections.defaultdict(set)
    for pid, tid, category, _, begin, _ in found.slices:
        slices[pid, tid, begin].add(category)
    for _, begin, end in found.arrows:
        assert begin[2] == end[2], "an arrow takes no time"
        assert "wakeup" in slices[begin], "it begins at the instant of the wake-up"
        assert slices[end] - {"wakeup"}, "it ends where a state begins"


def check_cpus(names):
    """Runs of a CPU by a count of its own: sched_switch on it in babeltrace2's text, where the thread changes."""
    done = t.babeltrace2("--clock-seconds", t.trace(names[0]))
    changes, current = collections.Counter(), {}
    for line in done.stdout.decode().splitlines():
        cpu = int(re.search(r"cpu_id = (\d+)", line).group(1))
        if " sched_switch: " in line:
            old, new = (int(re.search(key + r"_tid = (\d+)", line).group(1)) for key in ("prev", "next"))
            changes[cpu] += 1 if current.get(cpu, old) != new or cpu not in current else 0
            if cpu not in current:
                changes[cpu] += 1  # the run before the first switch
            current[cpu] = new
    runs = collections.Counter(s[1] for s in timeline("perfetto", names).slices if s[0] is None and s[2] in ("cpu", "idle"))
    # a run of no length, or not known, is none
    assert set(runs) == set(changes) and all(changes[c] - 3 <= runs[c] <= changes[c] for c in runs), (runs, changes)


def check_speedscope(names):
    """Profiles of threads; the innermost frames are their states."""
    profiles = exports.speedscope(export("speedscope", names))
    want = expected_states(names)
    kinds = (("Working", "working"), ("SoftIRQ", "interrupted"), ("IRQ", "interrupted"), ("Vector", "interrupted"),
             ("High-res", "interrupted"), ("Ready", "interrupted"), ("Blocked", "blocked"), ("Unknown", "unknown"))
    sums = collections.defaultdict(collections.Counter)
    for name, stacks in profiles.items():
        tid = int(re.search(r" \((\d+)\)", name).group(1)) + (STEP if " on server" in name else 0)
        for frames, begin, end in stacks:
            kind = [wib for word, wib in kinds if frames[-1].startswith(word)]
            assert kind, frames
            sums[tid][kind[0]] += end - begin
    # ksoftirqd works in softIRQs
    for tid, wib in want.items():
        assert sum(sums[tid].values()) == sum(wib.values()) and sums[tid]["blocked"] == wib.get("blocked", 0), tid


@functools.lru_cache(maxsize=None)
def database(names, *options):
    return sqlite3.connect(export("sqlite", names, *options))


def ask(names, sql, *values):
    return database(names).execute(sql, values).fetchall()


def check_sqlite(names):
    assert ask(names, "PRAGMA integrity_check") == [("ok",)] and not ask(names, "PRAGMA foreign_key_check")
    # ready is told from interrupted here; the leaf says both
    rows = ask(names, "SELECT host, tid, leaf, SUM(ns) FROM intervals JOIN threads USING (thread) GROUP BY 1, 2, 3")
    want = collections.Counter()
    for host, name in enumerate(names):
        for thread in oracle(name):
            for leaf, value in thread["leaves"].items():
                want[host, thread["tid"], leaf] += value["ns"]
    assert {row[:3]: row[3] for row in rows} == {key: value for key, value in want.items() if value}
    blocks = sum(len(thread["blocked"]) for name in names for thread in oracle(name))
    assert ask(names, "SELECT COUNT(*) FROM blocks") == [(blocks,)]
    known = ask(names, "SELECT COUNT(*) FROM wakeups WHERE kind <> 'unknown'")
    assert known == [(len(woken(names)),)], known
    rows = ask(names, "SELECT name, COUNT(*), SUM(ns) FROM syscalls WHERE ns IS NOT NULL GROUP BY 1")
    total = collections.defaultdict(lambda: (0, 0))
    for name in names:
        for key, (count, spent) in calls(name).items():
            total[key] = (total[key][0] + count, total[key][1] + spent)
    assert {row[0]: row[1:] for row in rows} == dict(total)
    assert not ask(names, "SELECT * FROM wakeups JOIN blocks USING (block) WHERE time <> blocks.end OR woken <> thread")
    assert not ask(names, "SELECT * FROM blocks JOIN wakeups USING (wakeup) WHERE wakeups.block <> blocks.block")


def check_objects():
    """By whom preempted, and which device interrupted (traces/README.md: the hogs, disk-read's vda; the names of IRQs are
    those of the kernel's irq_handler_entry)."""
    rows = ask(("preempt",), "SELECT object FROM intervals JOIN threads USING (thread) "
               "WHERE name = 'victim' AND leaf = 'interrupted/preempted' AND ns > 20000000")
    assert len(rows) > 10 and all("hog-0" in row[0] and "hog-1" in row[0] for row in rows), rows
    rows = ask(("disk-read",), "SELECT DISTINCT object FROM intervals WHERE leaf LIKE 'interrupted/irq:%'")
    text = subprocess.run(["babeltrace2", t.trace("disk-read")], stdout=subprocess.PIPE, check=True).stdout.decode()
    devices = set(re.findall(r'irq_handler_entry: .* name = "([^"]+)"', text))
    assert rows and {row[0] for row in rows} <= devices, (rows, devices)
    assert not ask(("preempt",), "SELECT * FROM intervals WHERE object IS NOT NULL AND state IN ('running', 'blocked')")


def check_csv(names):
    """The same rows as the database has."""
    directory = export("csv", names)
    for table in ("hosts", "threads", "intervals", "blocks", "wakeups", "syscalls", "runs", "counters", "counted_runs"):
        with open("%s/%s.csv" % (directory, table), encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        cursor = database(names).execute("SELECT * FROM %s" % table)
        assert rows[0] == [column[0] for column in cursor.description], rows[0]
        same = [["" if value is None else str(value) for value in row] for row in cursor]
        assert rows[1:] == same and (rows[1:] or table in ("blocks", "counters", "counted_runs")), table
        single = t.output("export", *paths(names), "--as", "csv", "--table", table)
        with open("%s/%s.csv" % (directory, table), "rb") as file:
            assert single == file.read()


def stacks(names, kind, *options):
    return exports.folded(t.output("export", *paths(names), "--as", "folded", "--stacks", kind, *options))


def leaf_sum(name, comm, *prefixes):
    return sum(value["ns"] for thread in oracle(name) if thread["name"] == comm
               for leaf, value in thread["leaves"].items() if leaf.startswith(prefixes))


def check_folded():
    """Sums per thread by the oracle; the tree of pipe-chain by what its programs are known to do (traces/README.md)."""
    off = ("blocked", "interrupted/preempted", "interrupted/wait-cpu")
    for comm in ("stage-a", "stage-b", "stage-c"):
        found = stacks(("pipe-chain",), "off-cpu", "--thread", comm)
        assert {frames[1] for frames in found} == {comm}
        assert sum(found.values()) == leaf_sum("pipe-chain", comm, *off)
        found = stacks(("pipe-chain",), "waker", "--thread", comm)
        assert sum(found.values()) == leaf_sum("pipe-chain", comm, "blocked")
        assert all("--" in frames for frames in found)
    found = stacks(("pipe-chain",), "off-cpu", "--process", "stage-b")
    largest = max((frames for frames in found if frames[1] == "stage-c"), key=found.get)
    assert largest[2:] == ("pread64", "device:vda", "block-device vda"), largest
    found = stacks(("pipe-chain",), "waker", "--thread", "stage-a")
    assert max(found, key=found.get) == ("stage-a", "stage-a", "read", "--", "syscall:write", "stage-b")
    # cpu.stat beside the trace says that boxed was throttled for 2.18 s, and nobody ran instead
    found = stacks(("cfs-quota",), "off-cpu", "--thread", "boxed")
    throttled = sum(ns for frames, ns in found.items() if frames[-2:] == ("preempted", "CPU idle: throttled (inferred)"))
    assert abs(throttled - 2.18e9) < 0.02e9, throttled
    # victim waits for both hogs, about equally
    found = stacks(("preempt",), "off-cpu", "--thread", "victim")
    hogs = [sum(ns for frames, ns in found.items() if frames[2] == "preempted" and frames[-1] == "by " + hog)
            for hog in ("hog-0", "hog-1")]
    assert min(hogs) > 0.9 * max(hogs) > 0.5e9, hogs
    everybody = stacks(("pipe-chain",), "off-cpu")
    assert not any(frames[0] == "kthreadd" for frames in everybody), "slept all the time"
    assert any(frames[0] == "kthreadd" for frames in stacks(("pipe-chain",), "off-cpu", "--thread", "all"))


def check_path():
    """As the critical path of `delay`, piece by piece: by thread and leaf."""
    target = ("--target", "sched_process_exec filename=*/autostart")
    report = t.report("delay", t.trace("startup-chain"), *target)
    want = collections.Counter()
    for piece in report["critical_path"]:
        want[piece["name"], piece["leaf"]] += piece["ns"]
    got = collections.Counter()
    for frames, spent in stacks(("startup-chain",), "critical-path", *target).items():
        at = max(i for i, frame in enumerate(frames) if re.match("(working|interrupted|blocked)/|unknown$", frame))
        got[frames[at - 1], frames[at]] += spent
    assert got == want, (got - want, want - got)
    assert sum(got.values()) == report["window"]["end"] - report["window"]["begin"]


def check_pprof():
    """The sums of the folded stacks; labels say of whom, and how many waits there were."""
    data = t.output("export", t.trace("pipe-chain"), "--as", "pprof", "--process", "stage-b")
    samples, types = exports.pprof(data)
    assert types == [("waits", "count"), ("wait", "nanoseconds")]
    sums, counts = collections.Counter(), collections.Counter()
    for frames, count, spent, labels in samples:
        sums[frames] += spent
        assert labels["pid"] == 215 and labels["process"] == "stage-b" and labels["thread"] == frames[1]
        counts[labels["tid"], labels["cause"] == "wait-cpu"] += count
    assert sums == stacks(("pipe-chain",), "off-cpu", "--process", "stage-b")
    for thread in oracle("pipe-chain"):
        if thread["pid"] == 215:
            assert counts[thread["tid"], False] == len(thread["blocked"])
            ready = sum(thread["leaves"].get(leaf, {"count": 0})["count"]
                        for leaf in ("interrupted/preempted", "interrupted/wait-cpu"))
            assert counts[thread["tid"], True] == ready
    assert data == t.output("export", t.trace("pipe-chain"), "--as", "pprof", "--process", "stage-b"), "not the same bytes"


def check_callstacks():
    """Kernel functions between the system call and what it waited for, by name: the trace has them (README of traces)."""
    found = stacks(("callstack",), "off-cpu", "--process", "grep")
    disk = collections.Counter()
    for frames, spent in found.items():
        if frames[-1] == "block-device vda":
            disk["read" in frames and "filemap_read" in frames[frames.index("read"):]] += spent
    assert disk[True] > disk[False], disk
    assert any(row[0] and "filemap_read" in row[0].split(";") for row in ask(
        ("callstack",), "SELECT callstack FROM blocks WHERE cause = 'block-device'"))


def check_functions():
    """User functions around system calls: as many as were entered and left by babeltrace2's text."""
    slices = timeline("perfetto", ("ust-func",)).slices
    text = "\n".join(text_of(t.trace("ust-func")))
    entered, left = text.count(":func_entry: "), text.count(":func_exit: ")
    check_nesting(slices)
    kinds = collections.Counter(s[2] for s in slices if s[0] is not None)
    assert entered == left == kinds["user-function"] > 100, (entered, left, kinds)
    kernel = re.findall(r" (ext4_create|ext4_sync_file|jbd2_log_wait_commit|submit_bio|do_sys_openat2|vfs_write)_(entry|"
                        r"exit|return): ", text)
    exits = sum(end != "entry" for _, end in kernel)
    assert 0 < kinds["function"] <= exits and exits - kinds["function"] < exits // 50, (kinds, exits)


def check_restricted():
    """Window, thread and length restrict what is in it, and change nothing of the rest."""
    names = ("pipe-chain",)
    whole = timeline("perfetto", names)
    begin, end = min(s[4] for s in whole.slices) + 300 * 10**6, min(s[4] for s in whole.slices) + 400 * 10**6
    part = exports.perfetto(export("perfetto", names, "--thread", "stage-a", "--from", "%dns" % begin,
                                   "--to", "%dns" % end))
    assert set(part.threads.values()) == {"stage-a"}
    keep = lambda s: s[1] == 214 and s[0] is not None and s[2] != "wakeup"  # noqa: E731
    want = sorted((*s[:4], max(s[4], begin), min(s[5], end)) for s in whole.slices
                  if keep(s) and s[4] < end and s[5] > begin)
    assert sorted(s for s in part.slices if keep(s)) == want and want
    long = exports.perfetto(export("perfetto", names, "--min-duration", "1ms"))
    check_nesting(long.slices)
    assert [s for s in long.slices if s[2] in WIB] == [s for s in whole.slices if s[2] in WIB and s[5] - s[4] >= 10**6]
    assert all(s[5] - s[4] >= 10**6 for s in long.slices if s[2] not in ("wakeup",))
    assert all(arrow[1] and arrow[2] for arrow in long.arrows) and long.arrows


def check_plugin(form):
    path = os.path.join(place.name, "plugin-" + form)
    done = t.babeltrace2(t.trace("pipe-chain"), "--component=sink.whylate.export",
                         '--params=as="%s",output="%s",thread=["stage-a","stage-b"]' % (form, path))
    assert done.returncode == 0, done.stderr.decode()
    mine = export(form, ("pipe-chain",), "--thread", "stage-a", "--thread", "stage-b")
    with open(path, "rb") as one, open(mine, "rb") as other:
        assert one.read() == other.read()


def text_of(directory, *options):
    done = t.babeltrace2("--clock-seconds", "--no-delta", directory, *options)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().splitlines()


def check_cut():
    """The cut trace is what babeltrace2 prints of the window; whylate reads it both ways."""
    whole = text_of(t.trace("pipe-chain"))
    begin = int(re.match(r"\[(\d+)\.(\d+)\]", whole[0]).expand(r"\1\2"))
    cut = export("ctf", ("pipe-chain",), "--from", "+300ms", "--to", "+100ms")
    inside = [line for line in whole
              if begin + 300 * 10**6 <= int(re.match(r"\[(\d+)\.(\d+)\]", line).expand(r"\1\2")) <= begin + 400 * 10**6]
    assert text_of(cut) == inside and len(inside) > 500
    one = t.output("delay", "--thread", "all", "--format", "json", cut)
    assert one == t.output("delay", "--thread", "all", "--format", "json", "--reader", "babeltrace", cut)
    report = json.loads(one)
    assert report["coverage"]["events"] == len(inside)


def check_around():
    """--around a finding: its longest wait's events, half its length more on both sides, as babeltrace2 prints them."""
    overview = t.report("overview", t.trace("startup-chain"))
    finding = next(f for f in overview["findings"] if f["title"].startswith("Xorg"))
    delay = t.report("explain", finding["id"], t.trace("startup-chain"))["delay"]["window"]
    more = (delay["end"] - delay["begin"]) // 2
    cut = os.path.join(place.name, "around")
    done = t.run("export", t.trace("startup-chain"), "--as", "ctf", "--around", finding["id"], "--output", cut, "--quiet")
    assert done.returncode == 0, done
    stamps = [[int(x) for x in re.match(rb"\[(\d+)\.(\d+)\]", line).groups()]
              for line in t.babeltrace2(cut, "--clock-seconds").stdout.splitlines()]
    whole = [[int(x) for x in re.match(rb"\[(\d+)\.(\d+)\]", line).groups()]
             for line in t.babeltrace2(t.trace("startup-chain"), "--clock-seconds").stdout.splitlines()]
    wanted = [x for x in whole if delay["begin"] - more <= x[0] * 10 ** 9 + x[1] <= delay["end"] + more]
    assert stamps == wanted and wanted, (len(stamps), len(wanted))
    done = t.run("export", t.trace("startup-chain"), "--as", "ctf", "--anonymise", "--output", cut + "-not")
    assert done.returncode == 2 and b"--anonymise" in done.stderr and not os.path.exists(cut + "-not"), done
    for words in (("--around", "w-zzzzzz"), ("--around", "nonsense"), ("--around", finding["id"], "--last", "1ms")):
        done = t.run("export", t.trace("startup-chain"), "--as", "ctf", *words, "--output", cut + "-not")
        assert done.returncode == 2 and b"--around" in done.stderr and not os.path.exists(cut + "-not"), done


def check_cut_hosts():
    """Each trace by its own clock: the client's window in the server's trace is some 0.816 s earlier there."""
    cut = export("ctf", BOTH, "--from", "+13.5s", "--to", "+1s")
    hosts = t.report("delay", "--thread", "all", "--limit", "1", *paths(BOTH))["hosts"]
    begin = hosts[0]["begin"] + 13500 * 10**6
    for host, name in zip(hosts, BOTH):
        own = begin - host["clock_offset"]
        lines = text_of(cut + "/" + name)
        stamps = [int(re.match(r"\[(\d+)\.(\d+)\]", line).expand(r"\1\2")) for line in text_of(t.trace(name))]
        assert len(lines) == sum(own <= stamp <= own + 10**9 for stamp in stamps) > 10, name
    again = t.report("delay", "--thread", "all", "--limit", "1", cut)
    assert [host["hostname"] for host in again["hosts"]] == ["client", "server"]


def check_cut_lost():
    """Where Babeltrace cannot write which events were lost, that is said: status 4; the trace is whole otherwise."""
    path = os.path.join(place.name, "cut-lost")
    done = t.run("export", t.trace("lost"), "--as", "ctf", "--from", "+200ms", "--to", "+100ms", "--output", path)
    assert done.returncode == 4 and b"does not say which events the tracer lost" in done.stderr, done.stderr
    assert len(text_of(path)) > 300
    again = t.run("export", t.trace("lost"), "--as", "ctf", "--output", path)
    assert again.returncode == 2 and b"exists already" in again.stderr


def check_examples():
    """The queries of the manual page run, and give what the oracle says."""
    with open(t.BUILD + "/man/whylate-export.1", encoding="utf-8") as file:
        page = file.read()
    blocks = re.findall(r'\.\\" query\n\.EX\n(.*?)\.EE', page, re.S)
    answers = []
    for block in blocks:
        sql = block.replace("\\-", "-").replace("\\(aq", "'").replace("\\&", "")
        answers.append(ask(("pipe-chain",), sql))
        assert answers[-1], sql
    assert len(blocks) == 6, len(blocks)
    waits = sorted((b["end"] - b["begin"] for thread in oracle("pipe-chain") for b in thread["blocked"]
                    if b["leaf"] != "blocked/kthread" and b["waker"]["kind"] != "none"), reverse=True)
    assert [row[2] for row in answers[0]] == waits[:10]
    assert {row[0]: row[1:3] for row in answers[1]} == calls("pipe-chain")
    assert [row[2] for row in answers[1]] == sorted((row[2] for row in answers[1]), reverse=True)
    failed = collections.Counter()  # all had a result of less than 0 in the trace's text
    for name, error in re.findall(r"syscall_exit_(\w+): .*?\bret = -(\d+)", "\n".join(text_of(t.trace("pipe-chain")))):
        failed[name, {512: "ERESTARTSYS"}.get(int(error)) or errno.errorcode[int(error)]] += 1
    assert {row[:2]: row[2] for row in answers[2]} == failed and len(failed) == 6, (answers[2], failed)
    waker = [row for row in answers[3] if row[0] == "stage-b" and row[2] == "stage-a"][0]
    assert waker[1] == "syscall:write" and waker[4] == sum(
        b["end"] - b["begin"] for thread in oracle("pipe-chain") for b in thread["blocked"]
        if thread["name"] == "stage-a" and b["waker"]["tid"] == 215 and b["waker"]["context"] == "syscall:write")
    shares = collections.Counter()
    for name, _, share in answers[4]:
        shares[name] += share
    assert set(shares) == {"stage-b", "stage-c"} and all(abs(total - 1) < 0.01 for total in shares.values())


def check_kept():
    """What was kept of a trace gives the same bytes: open functions and calls are in it, too."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("pipe-chain", "ust-func"):
            said = [t.output("export", t.trace(name), "--as", "trace-event", "--quiet", "--cache", cache)
                    for cache in ("off", folder, folder)]
            assert said[0] == said[1] == said[2] and len(os.listdir(folder)) > 0


def check_refused():
    """Usage, and outputs that cannot be."""
    trace = t.trace("pipe-chain")
    for words, says in ((["--as", "xml"], b"one of perfetto"), ([], b"--as FORMAT"),
                        (["--as", "csv"], b"--table NAME"), (["--as", "csv", "--stacks", "waker"], b"folded or pprof"),
                        (["--as", "sqlite", "--table", "threads"], b"--as csv"),
                        (["--as", "csv", "--table", "ran"], b"one of hosts"),
                        (["--as", "folded", "--stacks", "critical-path"], b"--target"),
                        (["--as", "ctf"], b"--output DIRECTORY"),
                        (["--as", "ctf", "--output", "x", "--thread", "stage-a"], b"by time only"),
                        (["--as", "folded", "--format", "json"], b"no option 'format'"),
                        (["--as", "folded", "--thread", "stage-x"], b"it has 'stage-a', 'stage-")):
        done = t.run("export", trace, *words)
        assert done.returncode == 2 and says in done.stderr and not done.stdout, (words, done)
    for form in FORMATS:
        done = t.run("export", trace, "--as", form, "--output", "/dev/full")
        assert done.returncode == 5 and b"No space left" in done.stderr, (form, done)
        done = t.run("export", trace, "--as", form, "--output", place.name + "/no/file")
        assert done.returncode == 5, (form, done)
    with tempfile.TemporaryDirectory() as folder:
        done = t.run("export", trace, "--as", "sqlite", "--output", folder + "/x", env={**os.environ, "TMPDIR": folder + "/no"})
        assert done.returncode == 5 and b"TMPDIR" in done.stderr and not os.listdir(folder), done
    refused = t.babeltrace2(trace, "--component=sink.whylate.export", '--params=as="ctf",output="%s/x"' % place.name)
    assert refused.returncode != 0 and b"sink.ctf.fs" in refused.stderr


def check_without_tmpdir():
    """Where TMPDIR names nothing, as on most machines, all is written, too: also what libraries sort in files of their own."""
    bare = {name: value for name, value in os.environ.items() if name not in ("TMPDIR", "SQLITE_TMPDIR")}
    for form in t.sample(FORMATS + ("ctf",)):
        with tempfile.TemporaryDirectory() as folder:
            done = t.run("export", t.trace("zero-read"), "--as", form, "--output", folder + "/out", "--cache", "off", env=bare)
            assert done.returncode == 0 and os.listdir(folder) == ["out"], (form, done)


def written(path):
    """What an output has in it: bytes, or of a directory the names and sizes."""
    if os.path.isdir(path):
        return sorted((os.path.relpath(os.path.join(root, name), path), os.path.getsize(os.path.join(root, name)))
                      for root, _, names in os.walk(path) for name in names)
    with open(path, "rb") as file:
        return file.read()


def check_killed(form, number):
    """Nothing is left behind, or, where all was written before it ended, the whole output: never a part of one."""
    trace = t.trace("zero-read")
    whole = "%s/whole-%s" % (place.name, form)
    if not os.path.exists(whole):
        t.output("export", trace, "--as", form, "--output", whole, "--cache", "off")
    for wait in (0.1, 0.4, 0.7):
        with tempfile.TemporaryDirectory() as folder:
            with subprocess.Popen([t.WHYLATE, "export", trace, "--as", form, "--output", folder + "/out", "--cache", "off"],
                                  env={**os.environ, "TMPDIR": folder}, stderr=subprocess.PIPE) as child:
                time.sleep(wait)
                child.send_signal(number)
                child.communicate()
            assert child.returncode in (0, -number)
            # what removes a cut trace is not waited for; an output takes its name as the last thing that is done
            t.until(lambda: os.listdir(folder) == ["out"] or not os.listdir(folder) and child.returncode,
                    "nothing or all was left")
            assert not os.listdir(folder) or written(folder + "/out") == written(whole)


def check_terminal():
    """Bytes for a terminal are refused: standard output as one, by script(1)'s way."""
    import pty
    for form, status in (("perfetto", 2), ("pprof", 2), ("sqlite", 2)):
        primary, secondary = pty.openpty()
        done = subprocess.run([t.WHYLATE, "export", t.trace("pipe-chain"), "--as", form], stdout=secondary,
                              stderr=subprocess.PIPE, check=False)
        os.close(secondary)
        os.close(primary)
        assert done.returncode == status and b"terminal" in done.stderr, (form, done)


def check_equal(names):
    one, other = timeline("perfetto", names), timeline("trace-event", names)
    assert one.slices == other.slices and one.arrows == other.arrows and one.threads == other.threads


for chosen in (("pipe-chain",), BOTH):
    label = " and ".join(chosen)
    for one in ("perfetto", "trace-event"):
        tap.case("%s, %s: states and calls are the oracle's" % (label, one), check_timeline, one, chosen)
        tap.case("%s, %s: arrows are the wake-ups" % (label, one), check_arrows, one, chosen)
    tap.case(label + ": both timelines have the same in them", check_equal, chosen)
    tap.case(label + ", sqlite: the oracle's sums, blocks, wake-ups and calls", check_sqlite, chosen)
    tap.case(label + ", csv: the same rows", check_csv, chosen)
    tap.case(label + ", speedscope: balanced, and the oracle's times", check_speedscope, chosen)
tap.case("intervals: who ran instead, which device interrupted", check_objects)
tap.case("pipe-chain: runs of the CPUs", check_cpus, ("pipe-chain",))
for chosen in ("preempt", "lost", "snapshot"):
    tap.case(chosen + ", perfetto: states and calls are the oracle's", check_timeline, "perfetto", (chosen,))
tap.case("folded stacks: the oracle's sums", check_folded)
tap.case("folded stacks of a critical path: delay's", check_path)
tap.case("pprof: as the folded stacks", check_pprof)
tap.case("kernel call stacks", check_callstacks)
tap.case("functions of user space and the kernel", check_functions)
tap.case("windows, threads, lengths", check_restricted)
for one in FORMATS:
    tap.case("the plugin writes the same: " + one, check_plugin, one)
tap.case("a window cut out", check_cut)
tap.case("a finding cut out", check_around)
tap.case("a window cut out of two hosts", check_cut_hosts)
tap.case("a window with lost events", check_cut_lost)
tap.case("the manual page's queries", check_examples)
tap.case("from what was kept of a trace", check_kept)
tap.case("what is refused", check_refused)
tap.case("not to a terminal", check_terminal)
tap.case("without TMPDIR", check_without_tmpdir)
for one, how in t.sample((("sqlite", signal.SIGINT), ("ctf", signal.SIGTERM), ("ctf", signal.SIGKILL), ("csv", signal.SIGINT))):
    tap.case("%s, ended by signal %d: nothing, or all, is left" % (one, how), check_killed, one, how)
place.cleanup()
sys.exit(tap.done())
