#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""whylate diff: what differs between requests whose kinds the programs noted (truth.tsv); system calls against the
latencies that babeltrace2 shows, and their distance computed from these; the ways to one target in two runs, by their
events; identities of the sums; equal sides; wrong usage; both ways in."""
import bisect
import collections
import functools
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import whylate_test as t

MS = 1000000
DISK, LOCK, FSYNC = (("block-device", "vda, preadv2 of /data.bin"), ("lock-owner", "flock /applock, held by lockholder"),
                     ("block-device", "vda, fsync of /applog"))
APP = ("web-mixed", "--process", "app")
tap = t.Tap()


def paths(arguments):
    """Names of traces as their directories."""
    return [t.trace(a) if a in t.TRACES else a for a in arguments]


@functools.lru_cache(maxsize=None)
def diff(*arguments):
    return t.report("diff", *paths(arguments), "--limit", "0")


@functools.lru_cache(maxsize=None)
def requests(*arguments):
    return t.report("requests", *paths(arguments), "--limit", "0")["requests"]


def app_by_kind(least):
    """{kind: ids of app's requests} of those that the program itself says took as long, in ns."""
    with open(t.trace("web-mixed") + "/truth.tsv", encoding="utf-8") as file:
        noted = {int(r[3]): (r[1], int(r[2])) for r in (line.split() for line in file)}
    found = collections.defaultdict(list)
    for request in requests(*APP):
        kind, ns = noted[request["last_tid"]]
        if ns >= least:
            found[kind].append(str(request["id"]))
    return found


def name_of(cause):
    return cause["kind"], cause["label"]


# --- causes ---------------------------------------------------------------------------------------------------------

def kinds():
    """A plain request against each other kind that took long: what that kind does."""
    plain, slow = app_by_kind(0)["plain"], app_by_kind(30 * MS)
    assert len(plain) == 8 and [len(slow[kind]) for kind in ("disk", "log", "lock")] == [4, 2, 5], slow
    for kind, cause in (("disk", DISK), ("log", FSYNC), ("lock", LOCK)):
        for a in plain[:3]:
            for b in slow[kind]:
                first = diff(*APP, "--a", a, "--b", b)["causes"][0]
                assert name_of(first) == cause and first["a"] == 0 and first["b"] == first["difference"], (a, b, first)
                back = diff(*APP, "--a", b, "--b", a)["causes"][0]
                assert name_of(back) == cause and back["difference"] == -first["difference"], (b, a, back)
    # nginx's request has that of app inside
    outer = {i["last_tid"]: str(r["id"]) for r in requests("web-mixed") for i in r["inner"]}
    tids = {str(r["id"]): r["last_tid"] for r in requests(*APP)}
    report = diff("web-mixed", "--a", outer[tids[plain[0]]], "--b", outer[tids[slow["disk"][0]]])
    assert name_of(report["causes"][0]) == DISK, report["causes"][0]


def slow_fast():
    """The slowest fifth against the rest: what slow requests wait for, above all else; nginx's too."""
    for arguments in (APP, ("web-mixed",)):
        report = diff(*arguments, "--slow-fast", "p80")
        order = [r["id"] for r in sorted(requests(*arguments), key=lambda r: (r["ns"], r["id"]))]
        assert set(report["a"]["requests"]) == set(order[:32]) and set(report["b"]["requests"]) == set(order[32:])
        three = report["causes"][:3]
        assert {name_of(c) for c in three} == {DISK, LOCK, FSYNC}, three
        assert all(c["difference"] > 0 for c in three) and name_of(three[0]) == DISK
        assert abs(report["causes"][3]["difference"]) < three[2]["difference"] / 2
        both = [c for c in report["calls"] if c["significant"]]
        assert {"preadv2", "fsync"} <= {c["name"] for c in both} and both[0]["name"] == "preadv2", both


def sums(*arguments):
    """Each side's mean is that of its requests, and the causes' differences add up to the difference of both."""
    report = diff(*arguments)
    names = [a for a in arguments if a in t.TRACES]
    options = [a for i, a in enumerate(arguments) if a not in names and not (
        a in ("--a", "--b", "--slow-fast") or i and arguments[i - 1] in ("--a", "--b", "--slow-fast"))]
    for side, name in (("a", names[0]), ("b", names[-1])):
        every = {r["id"]: r["ns"] for r in requests(name, *options)}
        for request in requests(name, *options):
            every.update((i["id"], i["ns"]) for i in request["inner"])
        mean = sum(every[i] for i in report[side]["requests"]) / len(report[side]["requests"])
        assert abs(report[side]["mean"] - mean) <= 0.5, (side, report[side]["mean"], mean)
        assert abs(sum(c[side] for c in report["causes"]) - mean) <= len(report["causes"]) / 2 + 1, side
    assert report["unit"] == "ns" and len(report["causes"]) > 5
    assert abs(report["difference"] - (report["b"]["mean"] - report["a"]["mean"])) <= 1
    total = sum(c["difference"] for c in report["causes"])
    assert abs(total - report["difference"]) <= len(report["causes"]) / 2 + 1, (total, report["difference"])
    sizes = [abs(c["difference"]) for c in report["causes"]]
    assert sizes == sorted(sizes, reverse=True)
    for cause in report["causes"]:
        assert abs(cause["b"] - cause["a"] - cause["difference"]) <= 1, cause
        assert (cause["a_requests"] > 0) == (cause["a_example"] is not None), cause
        assert (cause["error"] is None) == (cause["significant"] is None) == (
            min(len(report[side]["requests"]) for side in "ab") < 2), cause
        if cause["significant"] is not None and abs(abs(cause["difference"]) - cause["error"]) > 1:
            assert cause["significant"] == (abs(cause["difference"]) > cause["error"]), cause


def errors():
    """The error of a cause's difference: 2.576 standard errors of the difference of two means, from each request's
    own cost of it, 0 where it has none."""
    report = diff(*APP, "--slow-fast", "p80")
    costs = {r["id"]: {name_of(c): c["ns"] for c in r["causes"]} for r in requests(*APP)}
    for cause in report["causes"]:
        variance = 0
        for side in "ab":
            values = [costs[i].get(name_of(cause), 0) for i in report[side]["requests"]]
            mean = sum(values) / len(values)
            assert abs(mean - cause[side]) <= 0.51, (cause, mean)
            assert cause[side + "_requests"] == sum(name_of(cause) in costs[i] for i in report[side]["requests"])
            variance += sum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values)
        assert abs(cause["error"] - 2.576 * math.sqrt(variance)) < 1 + 1e-6 * cause["error"], (cause, variance)
    assert {c["significant"] for c in report["causes"]} == {True, False}


def metrics():
    """In the metric's unit: what the requests report says of each side's requests."""
    for metric, unit in (("disk-bytes", "bytes"), ("net-bytes", "bytes"), ("calls", "calls"), ("cpu", "ns"), ("wait", "ns"),
                         ("disk-time", "ns")):
        report = diff(*APP, "--metric", metric, "--slow-fast", "p50")
        costs = {r["id"]: sum(c[unit] for c in r["causes"]) for r in requests(*APP, "--metric", metric)}
        assert report["unit"] == unit
        for side in "ab":
            mean = sum(costs[i] for i in report[side]["requests"]) / 20
            assert len(report[side]["requests"]) == 20 and abs(report[side]["mean"] - mean) <= 0.5, (metric, side, mean)
        # how long calls took is told in its own unit
        shown = t.output("diff", *paths(APP), "--metric", metric, "--slow-fast", "p80").decode()
        assert re.search(r"^  preadv2 .* \+446\.9 ms +\d", shown, re.M), (metric, shown)
    # of system calls the latencies are compared, whatever requests cost
    assert diff(*APP, "--metric", "calls", "--slow-fast", "p50")["calls"] == diff(*APP, "--slow-fast", "p50")["calls"]


def windows():
    """Those that `requests` finds in each; offsets are from the trace's begin, for both ends."""
    report = diff("web-mixed", "--a", "+100ms..+900ms", "--b", "+900ms..")
    begin = report["a"]["window"]["begin"] - 100 * MS
    assert report["a"]["window"]["end"] == report["b"]["window"]["begin"] == begin + 900 * MS
    for side, window in (("a", ("--from", "+100ms", "--to", "+800ms")), ("b", ("--from", "+900ms"))):
        assert report[side]["requests"] == [r["id"] for r in requests("web-mixed", *window)], side
        assert len(report[side]["requests"]) > 3
    # system calls are those of all threads in the windows, but for the tracer's
    for side, (low, high) in (("a", (100 * MS, 900 * MS)), ("b", (900 * MS, 10 ** 12))):
        want = collections.Counter(c[2] for c in calls("web-mixed") if begin + low <= c[0] and c[1] <= begin + high)
        assert {c["name"]: c[side + "_count"] for c in report["calls"]
                if c[side + "_count"] and not c["name"].startswith("busy:")} == want, side


# --- ways -----------------------------------------------------------------------------------------------------------

def way(*arguments):
    """A request's steps by its text report, as (thread's name, kind, label), in order of time."""
    text = t.output("requests", *paths(arguments), "--limit", "0").decode()
    lines = text.split("THREAD               DOING\n")[1].split("\n\n")[0].splitlines()
    found = [re.fullmatch(r" +[\d.]+ \S+ +[\d.]+ \S+  (.*?) \(\d+\)(?: on \S+)? +([a-z-]+): (.*)", line) for line in lines]
    assert all(found), lines
    return [m.groups() for m in found]


def longest_common(a, b):
    row = [0] * (len(b) + 1)
    for x in a:
        row, above = [0], row
        for j, y in enumerate(b):
            row.append(above[j] + 1 if x == y else max(above[j + 1], row[j]))
    return row[-1]


def alignment(*arguments):
    """What is matched, and all divergences, are the two requests: their steps, and their difference. The number of
    matched steps is that of the longest common subsequence."""
    report = diff(*arguments)
    names = [a for a in arguments if a in t.TRACES]
    options = [a for i, a in enumerate(arguments) if a not in names and not (
        a in ("--a", "--b", "--slow-fast") or i and arguments[i - 1] in ("--a", "--b", "--slow-fast"))]
    both, ns, ways = report["alignment"], {}, {}
    for side, name in (("a", names[0]), ("b", names[-1])):
        of = report[side]["requests"]
        every = {r["id"]: r["ns"] for r in requests(name, *options)}
        every.update((i["id"], i["ns"]) for r in requests(name, *options) for i in r["inner"])
        assert both[side] == sorted(of, key=lambda i: (every[i], i))[(len(of) - 1) // 2], "not the median"
        ns[side], ways[side] = every[both[side]], way(name, *options, "--pick", str(both[side]))
        apart = [s for d in both["divergences"] for s in d[side + "_steps"]]
        assert len(apart) + both["matched"] == len(ways[side]), (side, len(apart), both["matched"], len(ways[side]))
        assert sum(s["ns"] for s in apart) + both[side + "_matched_ns"] == ns[side], side
        assert all(s["ns"] == s["end"] - s["begin"] > 0 for s in apart)
        assert not collections.Counter((s["name"], s["kind"], s["label"]) for s in apart) - collections.Counter(ways[side])
        assert both[side + "_left_out_ns"] == 0
    for divergence in both["divergences"]:
        for side in "ab":
            assert divergence[side + "_ns"] == sum(s["ns"] for s in divergence[side + "_steps"]), divergence
        assert divergence["difference"] == divergence["b_ns"] - divergence["a_ns"]
    assert both["matched"] == longest_common(ways["a"], ways["b"]) > 3
    assert (sum(d["difference"] for d in both["divergences"]) + both["b_matched_ns"] - both["a_matched_ns"]
            == ns["b"] - ns["a"]), "they do not add up"


def divergence():
    """A plain and a slow disk request part where the disk is read."""
    a, b = app_by_kind(0)["plain"][0], app_by_kind(30 * MS)["disk"][0]
    first = diff(*APP, "--a", a, "--b", b)["alignment"]["divergences"][0]
    disk = sum(s["ns"] for s in first["b_steps"] if (s["kind"], s["label"]) == DISK)
    assert disk > 0.8 * first["b_ns"] and not any(s["kind"] == "block-device" for s in first["a_steps"]), first


# --- system calls ---------------------------------------------------------------------------------------------------

@functools.lru_cache(maxsize=None)
def calls(name):
    """(entry, exit, call, TID) of babeltrace2's text, but for those of the tracer's processes."""
    text = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", t.trace(name)], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode("utf-8", "replace")
    threads = t.report("delay", t.trace(name), "--thread", "all", "--quiet", "--limit", "1")["threads"]
    pids = {th["pid"] for th in threads if re.match("lttng(-|$)", th["name"])}
    tracers = {th["tid"] for th in threads if th["pid"] in pids}
    current, opened, found = {}, {}, []
    for m in re.finditer(r"^\[(\d+)\.(\d{9})\] \S+ (\w+): \{ cpu_id = (\d+)[^}]*\}, (.*)$", text, re.M):
        time, tid = int(m[1] + m[2]), current.get(m[4])
        if m[3] == "sched_switch":
            current[m[4]] = int(re.search(r"next_tid = (\d+)", m[5])[1])
        elif m[3] == "sched_process_fork":  # it returns from the call that made it without having entered it
            opened.pop(int(re.search(r"child_tid = (\d+)", m[5])[1]), None)
        elif m[3].startswith("syscall_entry_") and tid not in tracers:
            opened[tid] = (time, m[3][len("syscall_entry_"):])
        elif m[3].startswith("syscall_exit_") and tid in opened:
            entry, call = opened.pop(tid)
            if call == m[3][len("syscall_exit_"):]:
                found.append((entry, time, call, tid))
    return found


def latencies(name, call):
    return sorted(c[1] - c[0] for c in calls(name) if c[2] == call)


def distance(a, b):
    """Octaves between two sorted lists: the area between their distributions over the logarithm, exactly."""
    edges = sorted(set(a + b))
    return sum(abs(bisect.bisect_right(a, x) / len(a) - bisect.bisect_right(b, x) / len(b)) * math.log2(y / x)
               for x, y in zip(edges, edges[1:]))


def forks():
    """Counts, means and sums of every call, as babeltrace2 shows them; distances but for what buckets of a 16th of an
    octave make of them."""
    report = diff("fork1", "fork4")
    assert {c["name"] for c in report["calls"]} == {c[2] for name in ("fork1", "fork4") for c in calls(name)}
    for call in report["calls"]:
        a, b = latencies("fork1", call["name"]), latencies("fork4", call["name"])
        assert (call["a_count"], call["b_count"]) == (len(a), len(b)), call
        assert abs(call["a_mean"] - (sum(a) / len(a) if a else 0)) <= 0.51, call
        assert abs(call["b_mean"] - (sum(b) / len(b) if b else 0)) <= 0.51, call
        assert abs(call["contribution"] - (sum(b) - sum(a))) <= 1, call
        if a and b:
            assert abs(call["distance"] - distance(a, b)) < 1 / 16, (call, distance(a, b))
            assert call["significant"] == (call["distance"] > max(call["floor"], 0.07)), call
        else:
            assert call["distance"] is call["floor"] is call["significant"] is None, call
    sizes = [abs(c["contribution"]) for c in report["calls"]]
    assert sizes == sorted(sizes, reverse=True)


def forks_made_of():
    """Four that fork on two CPUs wait for these, and are put off them; and the kernel works longer for each."""
    by_name = {c["name"]: c for c in diff("fork1", "fork4")["calls"]}
    wait4, clone = by_name["wait4"], by_name["clone"]
    assert wait4["significant"] and clone["significant"], (wait4, clone)
    assert {c["name"] for c in diff("fork1", "fork4")["calls"][:2]} == {"wait4", "clone"}
    change = {name: {p["what"]: p["difference"] for p in by_name[name]["made_of"]} for name in ("wait4", "clone")}
    most = {name: max(parts, key=parts.get) for name, parts in change.items()}
    assert most == {"wait4": "waiting for CPU", "clone": "own work in the kernel"}, change
    assert change["wait4"]["preempted"] > 0 and change["clone"]["preempted"] > 0, change
    text = " ".join(t.output("diff", *t.trace("fork1", "fork4")).decode().split())
    for name, parts in change.items():
        assert re.search(r" %s \d+, \d+ .* a call: .*%s \+" % (name, most[name]), text), (name, text)
        assert re.search(r" %s \d+, \d+ [^:]* a call: [^:]*preempted \+" % name, text), (name, text)
    for name, side in (("fork1", "a"), ("fork4", "b")):
        told = next(p[side] for p in clone["made_of"] if p["what"] == "preempted")
        assert abs(told - preempted(name, "clone")) <= 1, (name, told, preempted(name, "clone"))


def preempted(name, call):
    """Mean time that a call's thread was switched away in it while it could run (prev_state 0), ns, by the switches that
    babeltrace2 shows. Of more than 2000 calls, those that are looked at: each second, third, ... one by when they end."""
    text = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", t.trace(name)], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode("utf-8", "replace")
    away, stretches = {}, collections.defaultdict(list)
    for m in re.finditer(r"^\[(\d+)\.(\d{9})\] \S+ sched_switch: .* prev_tid = (\d+), .*? prev_state = (\d+), .* "
                         r"next_tid = (\d+)", text, re.M):
        time, before, state, after = int(m[1] + m[2]), int(m[3]), int(m[4]), int(m[5])
        if after in away:
            stretches[after].append((away.pop(after), time))
        if state in (0, 256):
            away[before] = time
    spans = sorted((c for c in calls(name) if c[2] == call), key=lambda c: c[1])
    spans = spans[::(len(spans) + 1999) // 2000]
    return sum(min(end, c[1]) - max(begin, c[0]) for c in spans for begin, end in stretches[c[3]]
               if begin < c[1] and c[0] < end) / len(spans)


def buckets(values):
    """{bucket: how many}; 16 to an octave."""
    return collections.Counter(math.floor(16 * math.log2(v)) for v in values)


def floors():
    """What chance gives: both sides drawn anew from all calls together, 400 times; the distance that 99 % do not
    reach. Here and there it is estimated, from other draws."""
    draw, number = random.Random(8), 0
    for call in diff("fork1", "fork4")["calls"]:
        if not (20 <= call["a_count"] < 1000 and call["b_count"] < 1500 and call["distance"] is not None):
            continue
        pool = latencies("fork1", call["name"]) + latencies("fork4", call["name"])
        found = []
        for _ in range(400):
            a, b = (buckets(draw.choices(pool, k=call[side + "_count"])) for side in "ab")
            below = area = 0
            for bucket in range(min(min(a), min(b)), max(max(a), max(b)) + 1):
                below += a[bucket] / call["a_count"] - b[bucket] / call["b_count"]
                area += abs(below) / 16
            found.append(area)
        want = sorted(found)[395]
        assert abs(call["floor"] - want) < 0.3 * want, (call["name"], call["floor"], want)
        number += 1
    assert number >= 3, number


def made_of():
    """A call is made of parts whose means add up to its own, where each call was looked at."""
    number = 0
    for arguments in (("fork1", "fork4"), (*APP, "--slow-fast", "p80"), ("startup-chain", "pipe-chain"), ("futex", "hang")):
        for call in diff(*arguments)["calls"]:
            for side in "ab":
                if call[side + "_count"] == call[side + "_looked_at"]:
                    total = sum(p[side] for p in call["made_of"])
                    assert abs(total - call[side + "_mean"]) <= 6, (arguments, side, call)
                    number += 1
                else:
                    assert 1000 < call[side + "_looked_at"] <= 2000 < call[side + "_count"], call
            assert all(abs(p["b"] - p["a"] - p["difference"]) <= 1 for p in call["made_of"]), call
    assert number > 50, number


def for_requests():
    """Of groups of requests, only calls that were made for them."""
    report = diff(*APP, "--follow", "thread", "--slow-fast", "p80")
    ids = {r["id"]: r for r in requests(*APP, "--follow", "thread")}
    for side in "ab":
        want = collections.Counter(
            c[2] for i in report[side]["requests"] for c in calls("web-mixed")
            if c[3] == ids[i]["last_tid"] and ids[i]["begin"] <= c[0] < ids[i]["end"])
        got = {c["name"]: c[side + "_count"] for c in report["calls"] if c[side + "_count"]}
        assert got == want, (side, got, want)


# --- the ways to a target -------------------------------------------------------------------------------------------

AUTOSTART = ("--target", "sched_process_exec filename=*/autostart")
STARTUPS = ("startup-base", "startup-nap0")


def startups():
    """Two runs of startup-chain: as it is, and without Xorg's naps."""
    return [os.path.join(t.trace("whatif-startup"), name) for name in STARTUPS]


@functools.lru_cache(maxsize=None)
def target(*arguments):
    report = t.report("diff", *arguments, "--limit", "0", "--quiet")
    whole = report["target"]
    assert report["a"]["mean"] == whole["a_ns"] and report["difference"] == whole["difference_ns"]
    for side in "ab":
        assert whole[side + "_ns"] == report[side]["window"]["end"] - report[side]["window"]["begin"]
        assert sum(p[side + "_ns"] for p in whole["parts"]) == whole[side + "_ns"], side
    assert sum(p["difference_ns"] for p in whole["parts"]) == whole["difference_ns"], "the parts do not add up"
    for part in whole["parts"]:
        assert part["difference_ns"] == part["b_ns"] - part["a_ns"], part
        assert all((part[s + "_ns"] > 0) == (part[s + "_count"] > 0) for s in "ab"), part
    sizes = [abs(p["difference_ns"]) for p in whole["parts"]]
    assert sizes == sorted(sizes, reverse=True)
    return report


def events(folder):
    """(time, name, fields) of a trace, from babeltrace2's text."""
    text = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", folder], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode("utf-8", "replace")
    return [(int(m[1] + m[2]), m[3], m[4])
            for m in re.finditer(r"^\[(\d+)\.(\d{9})\] \S+ (\w+): \{ [^}]*\}, (.*)$", text, re.M)]


def way_and_naps(folder):
    """What the events say: from the fork of xinit to autostart's exec; who they are; how long Xorg was off the CPU in
    clock_nanosleep before it answered xinit, from the switch to the waking, and how often."""
    tids, begin, end, slept, naps, out = {}, {}, None, 0, 0, None
    for time, name, fields in events(folder):
        if name == "sched_process_fork":
            begin[int(re.search(r"child_tid = (\d+)", fields)[1])] = time
        elif name == "sched_process_exec":
            program, tid = re.search(r'filename = "[^"]*/([^"/]+)", tid = (\d+)', fields).groups()
            tids[program] = int(tid)
            if program == "x-session":
                out = "answered"
            elif program == "autostart" and end is None:
                end = time
        xorg = tids.get("Xorg")
        if out != "answered" and xorg:
            if name == "sched_switch" and "prev_tid = %d," % xorg in fields and "prev_state = 1," in fields:
                out = time
            elif name == "sched_waking" and "tid = %d," % xorg in fields and out:
                slept, naps, out = slept + time - out, naps + 1, None
    return {"ns": end - begin[tids["xinit"]], "tids": tids, "slept": slept, "naps": naps}


def naps():
    """Xorg's naps are the answer: the first line, and the first part, with what the events say of them."""
    a, b = (way_and_naps(folder) for folder in startups())
    whole = target(*startups(), *AUTOSTART)["target"]
    assert (whole["a_ns"], whole["b_ns"]) == (a["ns"], b["ns"]), (whole["a_ns"], whole["b_ns"], a, b)
    first = whole["parts"][0]
    assert (first["a"]["tid"], first["b"]["tid"]) == (a["tids"]["Xorg"], b["tids"]["Xorg"]), first
    assert (first["leaf"], first["cause"]) == ("blocked/syscall:clock_nanosleep", "timer"), first
    assert (first["a_ns"], first["a_count"]) == (a["slept"], a["naps"]) and first["a_count"] == 40, (first, a)
    assert (first["b_ns"], first["b_count"]) == (b["slept"], b["naps"]) == (0, 0), (first, b)
    assert whole["caution"] is None and "xinit" in whole["begin"], whole
    text = t.output("diff", *startups(), *AUTOSTART, "--quiet").decode().split("\n")
    assert re.match(r"811\.9 ms sooner in B: Xorg \(249 in A, 254 in B\) slept 799\.2 ms in A \(40 times,$", text[0]), text[0]
    # the other way round the same is later
    back = target(*reversed(startups()), *AUTOSTART)["target"]
    assert back["difference_ns"] == -whole["difference_ns"]
    assert [-p["difference_ns"] for p in back["parts"]] == [p["difference_ns"] for p in whole["parts"]]
    assert back["parts"][0]["sentence"].split(";")[0].endswith(": 799.2 ms later"), back["parts"][0]


def answer():
    """The first sentences. Of two traces without requests: the thread whose life changed most is xinit, which no longer waits
    for Xorg's naps, and what is said of it is what --thread xinit says. Of requests: what the slow ones spend more on is
    what truth.tsv says that they do. The text begins with what JSON has."""
    def told(*arguments):
        report = t.report("diff", *arguments, "--quiet")
        text = " ".join(t.output("diff", *arguments, "--quiet").decode().split("\n\n")[0].split())
        assert " ".join(report["answer"]) == text, (text, report["answer"])
        return report

    report = told(*startups())
    a, b = (way_and_naps(folder) for folder in startups())
    assert report["target"] is None and not report["causes"], report
    most = report["changed_most"]
    assert (most["a"]["name"], most["a"]["tid"], most["b"]["tid"]) == ("xinit", a["tids"]["xinit"], b["tids"]["xinit"]), most
    assert most == t.report("diff", *startups(), "--thread", "xinit", "--quiet")["target"]
    assert "the life of xinit (248 in A, 253 in B) changed most" in report["answer"][0], report["answer"]
    assert "Xorg (249 in A, 254 in B) slept 799.2 ms in A (40 times, clock_nanosleep) and 0 ns in B" in report["answer"][1]
    # nothing differs from itself
    report = told(startups()[0], startups()[0])
    assert report["changed_most"] is None and report["answer"][0].startswith("Nothing differs beyond chance"), report["answer"]
    # eight slow requests, of which four are "disk" ones and two each "lock" and "log" (truth.tsv; slow_fast())
    report = told(t.trace("web-mixed"), "--process", "app", "--slow-fast", "p80")
    first, why = report["answer"]
    assert re.match(r"A request took \S+ ms in A and \S+ ms in B, in the mean: \S+ ms longer\.", first), first
    assert re.match(r"Of that: \S+ ms waiting for a disk \(vda, preadv2 of /data\.bin\), in 4 of A's 32 and 4 of B's 8; "
                    r".*waiting for a lock \(flock /applock, held by lockholder\).* waiting for a disk \(vda, fsync of /applog\)", why)


def one_thread_each():
    """No thread of two runs is listed as two, neither on the ways nor among the causes of requests."""
    tids = [way_and_naps(folder)["tids"] for folder in startups()]
    parts = target(*startups(), *AUTOSTART)["target"]["parts"]
    pairs = {(p["a"]["tid"], p["b"]["tid"]) for p in parts}
    for program in ("xinit", "Xorg", "x-session", "autostart"):
        assert (tids[0][program], tids[1][program]) in pairs, (program, pairs)
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs}) == 6, pairs
    causes = t.report("diff", *startups(), "--preset", "process", "--limit", "0", "--quiet")["causes"]
    named = {m for c in causes for m in re.findall(r"kdeinit \([^)]*\)", c["label"])}
    assert named == {"kdeinit (251 in A, 256 in B)", "kdeinit (252 in A, 257 in B)"}, named
    # the sleep of 40 ms is on both sides
    sleep = [c for c in causes if c["label"] == "kdeinit (252 in A, 257 in B) in clock_nanosleep"]
    assert len(sleep) == 1 and sleep[0]["a"] and sleep[0]["b"] and abs(sleep[0]["difference"]) < MS, sleep


def one_thread():
    """--thread alone: from its birth to its end; a window that is asked is taken."""
    report = target(*startups(), "--thread", "x-session")
    whole = report["target"]
    assert (whole["a"]["tid"], whole["b"]["tid"]) == (250, 255) and whole["end"] == "its end", whole
    said = ("--from", "sched_process_exec filename=*/x-session")
    begins = [next(time for time, name, fields in events(folder) if name == "sched_process_exec" and "/x-session" in fields)
              for folder in startups()]
    for options in ((*said, *AUTOSTART), (*said, "--thread", "x-session")):
        report = target(*startups(), *options)
        assert [report[s]["window"]["begin"] for s in "ab"] == begins, (options, report["target"])
        assert report["target"]["begin"] == "the window's begin", report["target"]
    # many of one name that one thread created are told together
    parts = target(*(t.trace(name) for name in ("fork1", "fork4")), "--thread", "bash")["target"]["parts"]
    assert re.match(r"forker \(all that forker \(\d+ in A, \d+ in B\) created\)$", parts[0]["thread"]), parts[0]
    assert parts[0]["a"] is parts[0]["b"] is None and parts[0]["leaf"] == "interrupted/wait-cpu", parts[0]


def same_target():
    """A trace and itself: nothing differs, and each thread is itself."""
    folder = startups()[0]
    report = target(folder, folder, *AUTOSTART)
    assert report["target"]["verdict"].startswith("As long in B as in A") and report["target"]["difference_ns"] == 0
    assert all(p["a"] == p["b"] and p["difference_ns"] == 0 for p in report["target"]["parts"])
    limited = t.report("diff", *startups(), *AUTOSTART, "--limit", "3", "--quiet")["target"]
    assert len(limited["parts"]) == 3
    assert limited["parts_omitted"] == len(target(*startups(), *AUTOSTART)["target"]["parts"]) - 3


def target_refused():
    base, other = startups()
    for traces, options, said in (
            ([base], AUTOSTART, "--target of diff needs two traces"),
            ([base, other, base], AUTOSTART, "diff compares two traces, 3 are given"),
            ([base, t.trace("pipe-chain")], AUTOSTART, "in the second trace, "),
            ([t.trace("pipe-chain"), base], AUTOSTART, "such events happened, but none with these values"),
            ([base, other], (*AUTOSTART, "--preset", "process"), "--target compares the ways to one event in two traces"),
            ([base, other], (*AUTOSTART, "--a", "p0..p50"), "--target compares the ways to one event in two traces"),
            ([base, other], (*AUTOSTART, "--metric", "cpu"), "--target compares the ways to one event in two traces"),
            ([base, other], (*AUTOSTART, "--to", "+1s"), "--to and --target exclude each other"),
            ([base, t.trace("pipe-chain")], ("--thread", "Xorg"), "the trace has no such thread")):
        done = t.run("diff", *traces, *options)
        lines = done.stderr.decode().splitlines()
        assert done.returncode == 2 and not done.stdout, (options, done)
        assert len(lines) == 1 and said in lines[0], (options, lines)


# --- equal sides ----------------------------------------------------------------------------------------------------

def nothing_differs(report):
    assert report["difference"] == 0 and not any(c["difference"] for c in report["causes"])
    assert not any(c["significant"] for c in report["causes"] + report["calls"]), report
    assert report["calls"] and all(c["distance"] == 0 and c["contribution"] == 0 for c in report["calls"])
    if report["alignment"]:
        assert report["alignment"]["divergences"] == [] and report["alignment"]["matched"] > 0


def itself():
    for name, *options in (("fork4",), ("web-mixed",), ("wide", "--preset", "client"), ("startup-chain", "--preset", "process"),
                           ("lost",), ("lock-lapse",)):
        nothing_differs(t.report("diff", *paths((name, name)), *options, "--limit", "0", "--quiet"))
    nothing_differs(diff("web-mixed", "--a", "p0..p50", "--b", "p0..p50"))
    nothing_differs(diff("web-mixed", "--a", "4", "--b", "4"))
    text = t.output("diff", *paths(("web-mixed", "web-mixed"))).decode()
    assert "Nothing: the causes cost the same on both sides." in text and re.search("None beyond chance, of \\d+", text), text


def hosts():
    """A trace of several hosts is one directory."""
    with tempfile.TemporaryDirectory(dir=t.CACHE) as folder:
        for name in ("two-hosts-client", "two-hosts-server"):
            shutil.copytree(t.trace(name), os.path.join(folder, name))
        options = ("--preset", "client", "--host", "client", "--process", "python3")
        report = t.report("diff", folder, folder, *options, "--limit", "0")
        nothing_differs(report)
        assert len(report["a"]["requests"]) == 30 and len(report["a"]["hosts"]) == len(report["b"]["hosts"]) == 2
        # two of its kinds, by the client's notes: the 19th operation reads the disk, the 20th computes
        ids = report["a"]["requests"]
        first = t.report("diff", folder, *options, "--a", str(ids[19]), "--b", str(ids[18]))["causes"][0]
        assert name_of(first) == DISK, first


# --- usage, ways in -------------------------------------------------------------------------------------------------

def turns():
    """Xorg naps 40 times (traces/README.md), so it has 39 turns between naps; without naps it does not loop."""
    found = [c for c in t.report("diff", *startups(), "--limit", "0")["calls"] if c["name"] == "busy:Xorg"]
    assert [(c["a_count"], c["b_count"]) for c in found] == [(39, 0)], found


def settings():
    """Two recordings with the settings beside them that are written here: what differs, what it touches by its kind, what
    only one side has; and that nothing is said of one without such a file but what the trace shows."""
    with tempfile.TemporaryDirectory() as folder:
        a, b = (os.path.join(folder, side) for side in "ab")
        shutil.copytree(t.trace("web-mixed"), a)
        shutil.copytree(t.trace("wide"), b)
        assert t.report("diff", a, b)["settings"]["recorded_a"] is False
        both = "sysctl\tvm.swappiness\t60\nmount\t/\text4 /dev/vda rw\n"
        for side, text in ((a, "block\tvda/scheduler\tnone\nsysctl\tkernel.odd\t1\npackage\tonly-a\t1.0\nnote\tsysctl\t1\n"),
                           (b, "block\tvda/scheduler\tmq-deadline\nsysctl\tkernel.odd\t2\n")):
            with open(os.path.join(side, "settings"), "w", encoding="utf-8") as file:
                file.write("# whylate settings 1\n" + both + text)
        found = t.report("diff", a, b, "--limit", "0")["settings"]
        assert found["recorded_a"] and found["recorded_b"], found
        listed = {(d["kind"], d["name"]): d for d in found["differences"] if d["kind"] != "read"}
        assert {key: (d["a"], d["b"]) for key, d in listed.items()} == {
            ("block", "vda/scheduler"): ("none", "mq-deadline"), ("sysctl", "kernel.odd"): ("1", "2"),
            ("package", "only-a"): ("1.0", None)}, listed
        touched = listed["block", "vda/scheduler"]
        assert touched["touches"] == "waits for the disk vda" and touched["a_ns"] > 0, touched
        assert listed["sysctl", "kernel.odd"]["touches"] is None, listed
        order = [d["touches"] is None for d in found["differences"]]
        assert order == sorted(order), "what touches nothing comes last"
        said = t.output("diff", a, b).decode()
        assert "block vda/scheduler: 'none' in A, 'mq-deadline' in B" in said, said


def refused():
    one = [t.trace("web-mixed")]
    for traces, options, said in (
            (one, [], "needs two sides"), (one, ["--a", "2"], "needs two sides"),
            (one, ["--slow-fast", "p0"], "--slow-fast 'p0': must be a percentile"),
            (one, ["--slow-fast", "90"], "--slow-fast '90': must be a percentile"),
            (one, ["--slow-fast", "p80..p90"], "--slow-fast 'p80..p90': must be a percentile"),
            (one, ["--slow-fast", "p90", "--a", "3"], "--slow-fast and --a exclude each other"),
            (one, ["--slow-fast", "p90", "--b", "3"], "--slow-fast and --b exclude each other"),
            (one, ["--a", "999", "--b", "2"], "--a '999': none of the 40 requests"),
            (one, ["--a", "2", "--b", "nobody*"], "--b 'nobody*': none of the 40 requests"),
            (one, ["--a", "2", "--b", ""], "--b '': must be"),
            (one, ["--a", "peak:0", "--b", "2"], "--a 'peak:0': must be"),
            (one, ["--a", "10:00:00..10:00:01", "--b", "2"], "no part of the trace"),
            (one, ["--a", "+2ms..+1ms", "--b", "2"], "no part of the trace"),
            (one, ["--a", "p90..p10", "--b", "2"], "--a 'p90..p10': must be"),
            (one, ["--a", "x..y", "--b", "2"], "a window begins and ends at times"),
            (one, ["--metric", "time"], "--metric 'time': must be one of"),
            (one, ["--pick", "2"], "diff has no option 'pick'"),
            (one * 3, [], "diff compares two traces, 3 are given")):
        done = t.run("diff", *traces, *options)
        lines = done.stderr.decode().splitlines()
        assert done.returncode == 2 and not done.stdout, (options, done)
        assert len(lines) == 1 and said in lines[0], (options, lines)
    assert t.run("diff", t.trace("web-mixed"), "/nonexistent").returncode == 3


def same(name, arguments, parameters):
    mine = t.output("diff", t.trace(name), *arguments)
    done = t.babeltrace2(t.trace(name), "--component=sink.whylate.diff", "--params=" + parameters)
    assert done.returncode == 0, done.stderr.decode()
    assert len(mine) > 1000 and mine == done.stdout, (len(mine), len(done.stdout))


def direct_and_babeltrace():
    for arguments in (("fork1", "fork4"), ("web-mixed", "--a", "p0..p50", "--b", "p50..p100", "--metric", "wait"),
                      (*startups(), *AUTOSTART)):
        one, other = (t.output("diff", *paths(arguments), "--format", "json", "--reader", how)
                      for how in ("direct", "babeltrace"))
        assert one == other, arguments


def kept():
    for arguments in (("fork1", "fork4"), (*APP, "--slow-fast", "p80", "--metric", "net-bytes")):
        with tempfile.TemporaryDirectory(dir=t.CACHE) as folder:
            t.output("delay", t.trace(arguments[0]), "--thread", "all", "--cache", folder)
            command = ["diff", *paths(arguments), "--format", "json", "--cache"]
            fresh, once, twice = (t.output(*command, where) for where in ("off", folder, folder))
            assert fresh == once == twice and os.listdir(folder), arguments


tap.case("a plain request and one of each kind", kinds)
tap.case("slow against fast", slow_fast)
for options_ in ((*APP, "--slow-fast", "p80"), ("web-mixed", "--a", "2", "--b", "9"), ("web-mixed", "--a", "p90", "--b", "p0..p10"),
                 ("fork1", "fork4", "--preset", "process"), ("web-mixed", "web-mixed", "--a", "p0..p50", "--b", "p90")):
    tap.case("the causes add up: " + " ".join(options_), sums, *options_)
    tap.case("the ways add up: " + " ".join(options_), alignment, *options_)
tap.case("what chance makes of a cause", errors)
tap.case("other metrics", metrics)
tap.case("windows", windows)
tap.case("where a plain and a disk request part", divergence)
tap.case("fork1 and fork4: counts, means, distances", forks)
tap.case("fork1 and fork4: what wait4 and clone are made of", forks_made_of)
tap.case("what chance makes of a call", floors)
tap.case("what calls are made of adds up", made_of)
tap.case("calls made for requests", for_requests)
tap.case("startup-chain without Xorg's naps", naps)
tap.case("the answer", answer)
tap.case("no thread is two", one_thread_each)
tap.case("one thread in two traces", one_thread)
tap.case("a target in a trace and itself, and --limit", same_target)
tap.case("targets that cannot be compared", target_refused)
tap.case("a trace and itself", itself)
tap.case("settings that differ", settings)
tap.case("turns of a thread that loops", turns)
tap.case("several hosts", hosts)
tap.case("wrong usage", refused)
for form in ("text", "json"):
    tap.case("web-mixed through Babeltrace, " + form, same, "web-mixed",
             ["--process", "app", "--slow-fast", "p80", "--format", form], 'process="app",slow-fast="p80",format="%s"' % form)
tap.case("windows through Babeltrace", same, "fork4", ["--a", "..+1s", "--b", "+1s..+2s", "--format", "json"],
         'a="..+1s",b="+1s..+2s",format="json"')
tap.case("read directly and through Babeltrace", direct_and_babeltrace)
tap.case("kept for further questions", kept)
sys.exit(tap.done())
