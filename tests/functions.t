#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""User-space traces beside a kernel trace: their functions, their events as markers, their damage.

ust-func is compared with tests/ust.py, which reads babeltrace2's text and keeps a stack for each thread; made-up traces
(tests/ctf.py) have what no recorded one has. A user-space trace changes no report that does not ask for it."""
import bisect
import collections
import csv
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import ctf
import ust
import whylate_test as t

tap = t.Tap()
KERNEL_FUNCTIONS = {"ext4_create", "ext4_sync_file", "jbd2_log_wait_commit", "submit_bio", "do_sys_openat2", "vfs_write"}
READERS = ("direct", "babeltrace")


def both(*arguments):
    """What both readers print, which must be the same."""
    direct, other = (t.output(*arguments, "--reader", reader) for reader in READERS)
    assert direct == other, arguments
    return direct


def profiles(trace, *arguments):
    text = both("profile", "--operation", "function:*", "--limit", "0", "--format", "json", *arguments, trace)
    return json.loads(text)["profiles"]


@functools.lru_cache(None)
def names():
    return ust.names(t.trace("ust-func"), t.trace("ust-func") + "/proxyapp")


def answer():
    """The first sentences: what took the time, and why; what is known of the recordings is in the README of the traces. JSON
    has the same sentences as the text."""
    def told(name, *arguments):
        sentences = t.report("functions", t.trace(name), *arguments)["answer"]
        text = " ".join(t.output("functions", t.trace(name), *arguments).decode().split("\n\n")[0].split())
        assert text.endswith(" ".join(sentences)) and 1 <= len(sentences) <= 5, (name, text, sentences)
        return sentences

    # main -> comm_select -> http_read_reply -> store_swap_out -> store_create -> fsync -> jbd2 -> disk
    fsync, checksum = told("ust-func")[:2]
    assert re.match(r"proxyapp \(\d+\) spent \d+ % of \S+ ms in fsync \(in jbd2_log_wait_commit\), called by main > comm_select > "
                    r"\.\.\. > store_create, waiting for jbd2/vda-8: .* waiting for a disk \(vda\)\.$", fsync), fsync
    assert "working in checksum, called by main > comm_select > client_write." in checksum, checksum
    # writers wait for each other and for the flusher; they, and it, sleep by their own timers most of the time
    stands, = told("lock-lapse")
    assert re.match(r"\d+ calls of pwrite64 stand out, by writer-\d .*waiting for a lock \(file /shared\.dat, held by flusher", stands)
    # xinit waits for Xorg, which sleeps; the shells that wait for their children are no story
    first = told("startup-chain")[0]
    assert re.match(r"xinit \(221\) spent .* in pselect6, waiting for Xorg: .* asleep, by a timer \(Xorg in clock_nanosleep", first)
    assert not any("wait4" in sentence for sentence in told("startup-chain"))
    # a deadlock, and a flock that hang keeps while it sleeps
    held, dead = told("hang")
    assert "flock-wait" in held and "held by hang" in held and "in a deadlock" in dead and "dead-1 (221)" in dead, (held, dead)
    # victim is preempted by both hogs, about equally
    assert re.match(r"victim \(206\) spent \d+ % .* taken by hog-[01]\); .* taken by hog-[01]\)\.$", told("preempt")[0])
    assert told("web-mixed", "--metric", "cpu")[0].startswith("webclient (3 threads) spent ")
    # nobody is told of where a call's time has not this much of it
    assert all("100 % of" in s or "stand" in s or s.startswith("No call took 100 %")
               for s in told("disk-read", "--threshold", "100"))


def latencies():
    """Each function's calls, their number and times; 327 entries and 327 exits, as many as there are in the text."""
    want = collections.defaultdict(list)
    for call in ust.calls(t.trace("ust-func")):
        want["function:" + names()[call.address]].append(call.end - call.begin)
    have = {p["operation"]: p for p in profiles(t.trace("ust-func"))}
    for name in KERNEL_FUNCTIONS:
        del have["function:" + name]
    assert set(have) == set(want) and sum(len(times) for times in want.values()) == 327
    for name, times in want.items():
        one = have[name]
        assert (one["count"], one["sum_ns"], one["min_ns"], one["max_ns"]) == \
            (len(times), sum(times), min(times), max(times)), name
    events = [name for _, name, _ in ust.events(t.trace("ust-func"))]
    assert [events.count("lttng_ust_cyg_profile:func_" + end) for end in ("entry", "exit")] == [327, 327]


def called(node):
    return [child["node"] for child in node.get("children", ()) if child["node"].startswith("function:") and
            child["node"][len("function:"):] not in KERNEL_FUNCTIONS]


def nesting():
    """What a function calls is among its parts, and no other function."""
    calls, want = ust.calls(t.trace("ust-func")), collections.defaultdict(set)
    for call in calls:
        if call.parent is not None:
            want["function:" + names()[calls[call.parent].address]].add("function:" + names()[call.address])
    for profile in profiles(t.trace("ust-func"), "--maxcount-percentage", "1", "--depth", "20"):
        if profile["operation"][len("function:"):] in KERNEL_FUNCTIONS:
            continue
        have = {node for peak in profile["peaks"] for node in called(peak["tree"])}
        assert have == want[profile["operation"]], (profile["operation"], have)


def targets():
    """Any event of user space can be a target or a boundary of the window, with its fields and contexts."""
    trace = t.trace("ust-func")
    events = [e for e in ust.events(trace) if e[1].endswith(":func_exit")]
    for words, event in (("nth=last", events[-1]), ("nth=5", events[4]), ("$ctx.vtid=248 nth=last", events[-1]),
                         ("addr=%d" % ust.number(events[0][2], "addr"), events[0])):
        target = "lttng_ust_cyg_profile:func_exit " + words
        report = json.loads(both("delay", "--target", target, "--from", "lttng_ust_cyg_profile:func_entry",
                                 "--format", "json", trace))
        assert report["target"]["time"] == event[0], (words, report["target"], event)
        assert report["target"]["tid"] == ust.number(event[2], "vtid")
        first = next(e for e in ust.events(trace) if e[1].endswith(":func_entry"))
        assert report["window"]["begin"] == first[0]
    done = t.run("delay", "--target", "lttng_ust_cyg_profile:func_exit nosuch=1", trace)
    assert done.returncode == 2 and b"addr, call_site" in done.stderr, done


def requests():
    """--begin and --end: a request from each entry of the function that is called once a request to its exit."""
    trace = t.trace("ust-func")
    calls = ust.calls(trace)
    count = collections.Counter(call.address for call in calls if call.depth == 2)
    address = count.most_common(1)[0][0]
    words = " addr=%d" % address
    report = json.loads(both("requests", "--begin", "lttng_ust_cyg_profile:func_entry" + words, "--end",
                             "lttng_ust_cyg_profile:func_exit" + words, "--limit", "0", "--format", "json", trace))
    have = sorted((r["begin"], r["end"]) for r in report["requests"])
    assert have == sorted((c.begin, c.end) for c in calls if c.address == address), have[:3]


def unchanged():
    """Without its user-space trace each report is the same, but for what check says of it."""
    with tempfile.TemporaryDirectory() as place:
        alone = place + "/ust-func"
        shutil.copytree(t.trace("ust-func"), alone)
        for directory in ust.directories(alone, True):
            shutil.rmtree(directory)
        for command in t.sample((("overview",), ("delay", "--thread", "all", "--limit", "0"), ("profile",),
                                 ("profile", "--operation", "syscall:*", "--operation", "irq:*"), ("requests",),
                                 ("delay", "--thread", "all", "--every", "100ms"))):
            for form in ("text", "json"):
                arguments = (*command, "--verbose", "--format", form)
                assert t.unnamed(both(*arguments, t.trace("ust-func")), [t.trace("ust-func")]) == \
                    t.unnamed(both(*arguments, alone), [alone]), arguments


def cached():
    """A second question is answered alike, and a user-space trace that is another by now is read anew."""
    with tempfile.TemporaryDirectory() as place:
        trace = place + "/trace"
        shutil.copytree(t.trace("ust-func"), trace)
        cache = ("--cache", place + "/cache")
        for command in (("profile", "--operation", "function:*", "--format", "json"), ("check",),
                        ("delay", "--target", "lttng_ust_cyg_profile:func_exit nth=7", "--format", "json")):
            first = t.output(*command, trace, "--cache", "off")
            for _ in range(3):
                assert t.output(*command, trace, *cache) == first, command
        shutil.rmtree(ust.directories(trace, True)[0])
        assert b'"function:main' not in t.output("profile", "--operation", "function:*", "--format", "json", trace, *cache)


def damaged(harm):
    """One warning that names it; what the kernel's trace tells is told as if it were not there."""
    with tempfile.TemporaryDirectory() as place:
        trace = place + "/trace"
        shutil.copytree(t.trace("ust-func"), trace)
        user = ust.directories(trace, True)[0]
        harm(user)
        for reader in READERS:
            done = t.run("overview", "--reader", reader, "--cache", "off", trace)
            whole = t.unnamed(t.output("overview", t.trace("ust-func")), [t.trace("ust-func")])
            assert done.returncode == 0 and t.unnamed(done.stdout, [trace]) == whole, (reader, done)
            warnings = done.stderr.decode().splitlines()
            assert len(warnings) == 1 and user in warnings[0] and "user-space" in warnings[0], (reader, warnings)
            done = t.run("overview", "--reader", reader, "--cache", "off", "--quiet", trace)
            assert done.returncode == 0 and not done.stderr, (reader, done)
        done = t.run("profile", "--operation", "function:*", "--reader", "direct", "--cache", "off", trace)
        assert done.returncode in (0, 4) and b"Traceback" not in done.stderr, done
        assert b"damaged" in t.output("check", "--cache", "off", trace)


def streams(user):
    return sorted(os.path.join(user, name) for name in os.listdir(user) if name.startswith("uch"))


def cut_short(user):
    path = max(streams(user), key=os.path.getsize)
    os.truncate(path, os.path.getsize(path) // 2 - 1000)


def no_packet(user):
    with open(streams(user)[0], "r+b") as file:
        file.write(b"\xff" * 64)


def bad_metadata(user):
    with open(user + "/metadata", "r+b") as file:
        file.seek(os.path.getsize(user + "/metadata") // 2)
        file.write(b"\0" * 600)


# --- whylate functions -----------------------------------------------------------------------------------------------
def nodes(node, path=()):
    """Each node below, with its path; what waits explain is left out."""
    path += (node["name"],)
    yield path, node
    for child in node.get("children", ()):
        yield from nodes(child, path)


STATES = ("working_ns", "interrupted_ns", "blocked_ns", "unknown_ns")


def check_sums(tree):
    """Inclusive: its own and its calls'; ns: that of the states."""
    for _, node in nodes(tree):
        for key in ("ns",) + STATES:
            below = sum(child["inclusive"][key] for child in node.get("children", ()))
            assert node["inclusive"][key] == node["exclusive"][key] + below, node["name"]
        for times in (node["inclusive"], node["exclusive"]):
            assert times["ns"] == sum(times[state] for state in STATES) and min(times.values()) >= 0, node["name"]


def sums(name):
    """The exclusive times of all a thread's calls are its life, state by state as the delay report sums them up, which
    the oracle checks."""
    report = json.loads(both("functions", "--thread", "all", "--limit", "0", "--format", "json", t.trace(name)))
    lives = {}
    for thread in json.loads(t.output("delay", "--thread", "all", "--limit", "1", "--format", "json", t.trace(name)))["threads"]:
        lives[thread["host"], thread["tid"], thread["begin"]] = {
            "ns": thread["summary"]["ns"], **{c["key"] + "_ns": c["ns"] for c in thread["summary"]["children"]}}
    seen = 0
    for group in report["threads"]:
        check_sums(group["tree"])
        for key in ("ns",) + STATES:
            want = sum(lives[x["host"], x["tid"], x["begin"]].get(key, 0) for x in group["threads"])
            have = sum(node["exclusive"][key] for _, node in nodes(group["tree"]))
            assert have == want == group["tree"]["inclusive"][key], (group["name"], key, have, want)
        seen += len(group["threads"])
    assert seen == len(lives), (seen, len(lives))
    for key in ("ns",) + STATES:
        assert sum(f["exclusive"][key] for f in report["functions"]) == report["total"][key] == \
            sum(group["tree"]["inclusive"][key] for group in report["threads"])


def accounting():
    """Calls and inclusive times of each function by babeltrace2's text and nm; 327 calls, 327 returns."""
    report = t.report("functions", t.trace("ust-func"), "--limit", "0")
    calls, want = ust.calls(t.trace("ust-func")), collections.defaultdict(lambda: [0, 0])
    for call in calls:
        above = call.parent
        while above is not None and calls[above].address != call.address:
            above = calls[above].parent
        want[names()[call.address]][0] += 1
        want[names()[call.address]][1] += 0 if above is not None else call.end - call.begin
    have = {f["name"]: [f["calls"], f["inclusive"]["ns"]] for f in report["functions"] if f["kind"] == "function"}
    assert have == dict(want), (have, want)
    assert report["user"]["entries"] == report["user"]["exits"] == sum(f[0] for f in have.values()) == 327
    assert not any(report["user"][key] for key in ("entries_unseen", "exits_unseen", "dropped", "no_thread", "lost_events"))
    places = {f["name"]: f["place"] for f in report["functions"] if f["kind"] == "function"}
    assert all(os.path.basename(place).startswith("app.c:") for place in places.values()), places


def walk():
    """"main -> comm_select -> http_read_reply -> store_swap_out -> store_create -> fsync -> jbd2 -> disk" (the traces'
    README); shares are of main's time, and of user functions babeltrace2's text has them too."""
    report = t.report("functions", t.trace("ust-func"), "--threshold", "20", "--limit", "0")
    found = {tuple(b["path"][1:]): b for b in report["bottlenecks"]}
    path = ("main", "comm_select", "http_read_reply", "store_swap_out", "store_create", "syscall:fsync", "ext4_sync_file",
            "jbd2_log_wait_commit", "jbd2/vda-8", "block-device: vda")
    for i in range(1, len(path) + 1):
        assert path[:i] in found, path[:i]
    whole, = [call.end - call.begin for call in ust.calls(t.trace("ust-func")) if names()[call.address] == "main"]
    sums = collections.Counter()
    for call in ust.calls(t.trace("ust-func")):
        sums[names()[call.address]] += call.end - call.begin
    for name in path[:5]:
        one = next(b for p, b in found.items() if p[-1] == name)
        assert one["ns"] == sums[name] and abs(one["share"] - sums[name] / whole) < 1e-5, (name, one)
    shares = [found[path[:i]]["share"] for i in range(1, len(path) + 1)]
    assert shares == sorted(shares, reverse=True) and shares[0] == 1 and shares[-1] >= 0.2, shares
    few = {tuple(b["path"][1:]) for b in t.report("functions", t.trace("ust-func"), "--threshold", "60")["bottlenecks"]}
    assert few == {p for p, b in found.items() if b["share"] >= 0.6}, few  # a path is in only if those around it are
    blocked = t.report("functions", t.trace("ust-func"), "--metric", "blocked")["bottlenecks"]
    assert path[:8] in {tuple(b["path"][1:]) for b in blocked}
    cpu = t.report("functions", t.trace("ust-func"), "--metric", "cpu")["bottlenecks"]
    assert any(b["path"][-1] == "checksum" for b in cpu) and not any("jbd2/vda-8" in b["path"] for b in cpu)


def callers():
    """Who calls checksum, how often, for how long: by the text."""
    report = t.report("functions", t.trace("ust-func"), "--function", "checksum")
    calls, want = ust.calls(t.trace("ust-func")), collections.defaultdict(lambda: [0, 0])
    for call in calls:
        path, above = [], call.parent
        while above is not None:
            path.insert(0, names()[calls[above].address])
            above = calls[above].parent
        if names()[call.address] == "checksum":
            want[" > ".join(path)][0] += 1
            want[" > ".join(path)][1] += call.end - call.begin
    assert {c["path"]: [c["calls"], c["inclusive"]["ns"]] for c in report["callers"]} == dict(want), want
    assert sum(c["inclusive"]["ns"] for c in report["callers"]) == report["total"]["ns"]
    assert not t.report("functions", t.trace("ust-func"))["callers"]


def recursion():
    """fact calls itself six deep, and the innermost sleeps (the traces' README): begins and ends as in the text."""
    report = t.report("functions", t.trace("ust-func"), "--function", "fact", "--timeline")
    calls = [c for c in ust.calls(t.trace("ust-func")) if names()[c.address] == "fact"]
    one, = report["timeline"]
    nested = [r for r in one["rectangles"] if r["name"] == "fact"]
    assert [(r["begin"], r["end"]) for r in nested] == [(c.begin, c.end) for c in calls] and len(nested) == 6
    depths = [r["depth"] for r in nested]
    assert depths == list(range(depths[0], depths[0] + 6)), depths
    asleep, = [r for r in one["rectangles"] if r["kind"] == "wait"]
    assert asleep["name"] == "blocked/syscall:clock_nanosleep" and asleep["cause"]["kind"] == "timer", asleep
    assert asleep["depth"] == depths[-1] + 2 and nested[-1]["begin"] < asleep["begin"] < asleep["end"] < nested[-1]["end"]
    tree, = [g["tree"] for g in report["threads"]]
    assert tree["inclusive"]["ns"] == calls[0].end - calls[0].begin  # only what is inside of fact
    text = t.output("functions", t.trace("ust-func"), "--function", "fact", "--timeline").decode()
    assert len([line for line in text.splitlines() if line.endswith(" fact")]) == 6, text


def between_events():
    """--from and --to: everything between a start and a stop event, depth and least duration selectable."""
    trace = t.trace("ust-func")
    first = [c for c in ust.calls(trace) if names()[c.address] == "store_swap_out"][3]
    words = " addr=%d" % first.address
    window = ("--from", "lttng_ust_cyg_profile:func_entry" + words + " nth=4", "--to",
              "lttng_ust_cyg_profile:func_exit" + words + " nth=4")
    report = json.loads(both("functions", "--timeline", "--format", "json", *window, trace))
    assert (report["window"]["begin"], report["window"]["end"]) == (first.begin, first.end)
    one, = [x for x in report["timeline"] if x["tid"] == first.tid]
    have = [(r["name"], r["begin"], r["end"]) for r in one["rectangles"] if r["name"] in set(names().values())]
    want = [(names()[c.address], c.begin, c.end) for c in ust.calls(trace) if c.begin < first.end and c.end > first.begin]
    assert sorted(have) == sorted(want), (have, want)
    flat = t.report("functions", trace, "--timeline", "--depth", "3", *window)["timeline"]
    assert {r["depth"] for x in flat for r in x["rectangles"]} == {0, 1, 2}
    least = t.report("functions", trace, "--timeline", "--min-duration", "1ms", *window)["timeline"]
    all_of = [r for x in report["timeline"] for r in x["rectangles"]]
    assert [r for x in least for r in x["rectangles"]] == [r for r in all_of if r["ns"] >= 1000000]


def while_on_requests():
    """Limited to requests: the Working time of the threads is what these cost on CPUs, the rest what they waited (both
    summed by `requests`, without calls), and nothing is left of nginx's waits between requests."""
    trace, some = t.trace("web-mixed"), ("--limit", "0", "--format", "json")
    asked = t.report("requests", trace, "--limit", "0")
    spans = [(r["begin"], r["end"]) for r in asked["requests"]]
    whole = t.report("functions", trace, "--limit", "0", "--process", "nginx")
    for words in ((), ("--pick", "3"), ("--pick", "p90")):
        report = json.loads(both("functions", "--preset", "server", *words, *some, trace))
        cpu, wait = (sum(c["ns"] for c in json.loads(t.output("requests", "--metric", metric, *words, *some, trace))
                         ["summary"]) for metric in ("cpu", "wait"))
        assert report["total"]["working_ns"] == cpu > 0, (words, report["total"], cpu)
        assert report["total"]["interrupted_ns"] + report["total"]["blocked_ns"] == wait > 0, (words, report["total"], wait)
        for group in report["threads"]:
            check_sums(group["tree"])
        picked = t.report("requests", trace, *words, "--limit", "0")
        assert report["requests"] == {"kind": "server", "count": picked["count"], "not_picked": picked["not_picked"]}
        workers = {x["tid"] for r in picked["requests"] for x in r["threads"]}
        assert {x["tid"] for g in report["threads"] for x in g["threads"]} <= workers | {213}
    report = t.report("functions", trace, "--preset", "server", "--process", "nginx", "--timeline", "--limit", "0")
    nginx, = report["timeline"]  # not the master (212), which answers nobody
    assert nginx["tid"] == 213 and all(any(r["begin"] < end and begin < r["end"] for begin, end in spans)
                                       for r in nginx["rectangles"])
    none = max(b - a for (_, a), (b, _) in zip([(0, whole["window"]["begin"])] + spans, spans))  # before the first one
    assert none > 500000000 and max(r["ns"] for r in nginx["rectangles"] if r["kind"] == "wait") < none
    union = sum(max(0, end - max([begin] + [e for _, e in spans[:i]])) for i, (begin, end) in enumerate(spans))
    assert report["total"]["ns"] <= union < whole["total"]["ns"], (report["total"], union)
    assert "requests" not in whole
    causes = [{w["name"] for g in one["threads"] for _, n in nodes(g["tree"]) for w in n.get("waits", ())}
              for one in (whole, report)]
    assert ["idle: for a next request" in one for one in causes] == [True, False], causes
    text = t.output("functions", trace, "--pick", "3").decode()
    assert "worked on 1 request (server); 39 others are not picked." in " ".join(text.split()), text
    done = t.run("functions", trace, "--preset", "server", "--to", "+10ms")
    assert done.returncode == 2 and b"no request begins and ends in the window" in done.stderr, done
    done = t.run("functions", trace, "--pick", "7777")
    assert done.returncode == 2 and b"--pick '7777'" in done.stderr, done


def folded():
    """Folded stacks and rows have the same times as the JSON."""
    report = t.report("functions", t.trace("ust-func"), "--limit", "0")
    lines = t.output("functions", t.trace("ust-func"), "--format", "folded").decode().splitlines()
    stacks = [line.rsplit(" ", 1) for line in lines]
    assert sum(int(ns) for _, ns in stacks) == report["total"]["ns"] and len({s for s, _ in stacks}) == len(stacks)
    blocked = sum(int(ns) for stack, ns in stacks if stack.endswith(";[blocked]"))
    assert blocked == report["total"]["blocked_ns"]
    group = report["threads"][0]
    path = next(p for p, n in nodes(group["tree"]) if n["name"] == "store_create")
    own = dict(stacks)[";".join(path)]
    assert int(own) == next(n for p, n in nodes(group["tree"]) if p == path)["exclusive"]["working_ns"]
    rows = list(csv.DictReader(t.output("functions", t.trace("ust-func"), "--format", "csv").decode().splitlines()))
    assert {(r["function"], int(r["calls"]), int(r["own_blocked_ns"])) for r in rows} == \
        {(f["name"], f["calls"], f["exclusive"]["blocked_ns"]) for f in report["functions"]}


class Symbols:
    """/proc/kallsyms as a file: the function that an address is in."""

    def __init__(self, path):
        rows = (line.split() for line in open(path))
        self.list = sorted((int(row[0], 16), row[2]) for row in rows if row[1] in "tTwW")

    def at(self, address):
        place = bisect.bisect_right(self.list, (address, "~"))
        return self.list[place - 1][1] if place else None


def call_stacks():
    """The kernel path of grep's waits in read and of ls's in getdents64: functions from kallsyms for the addresses in
    babeltrace2's text of the longest wait's switch, without the way in and the switch itself."""
    trace = t.trace("callstack")
    symbols = Symbols(trace + "/kallsyms")
    report = t.report("functions", trace, "--limit", "0")
    text = t.babeltrace2(trace, "--clock-seconds").stdout.decode().splitlines()
    for name, call in (("grep", "read"), ("ls", "getdents64")):
        wait = next(w for w in report["waits"] if w["name"] == name and w["leaf"] == "blocked/syscall:" + call)
        stamp = "[%d.%09d]" % divmod(wait["longest"]["begin"], 10 ** 9)
        line, = [x for x in text if x.startswith(stamp) and "sched_switch" in x and 'prev_comm = "%s"' % name in x]
        addresses = [int(x, 16) for x in re.findall(r"\] = (0x[0-9A-F]+)", line)]
        want = [symbols.at(address - 1) for address in reversed(addresses)]
        inner = next(i for i, x in enumerate(want) if x in ("schedule", "__schedule"))
        outer = next(i for i, x in enumerate(want) if x.startswith("ksys_") or x.startswith("__x64_sys_"))
        assert wait["kernel"] == want[outer:inner] and len(wait["kernel"]) >= 3, (wait["kernel"], want)
        assert wait["longest"]["woken_kernel"], wait
        # in the tree the same way is below the call, probes and stacks together
        tree = next(g["tree"] for g in report["threads"] if g["name"] == name)
        paths = [p for p, n in nodes(tree) if n["kind"] == "sampled" and p[1] == "syscall:" + call]
        assert any(p[-1] == wait["kernel"][-1] and set(p[2:]) <= set(wait["kernel"]) | KERNEL_PROBES for p in paths), paths


KERNEL_PROBES = {"vfs_read", "ext4_file_read_iter", "filemap_read", "submit_bio", "touch_atime", "ext4_readdir",
                 "iterate_dir"}


def no_such_function():
    done = t.run("functions", "--function", "nosuch", t.trace("ust-func"))
    assert done.returncode == 2 and not done.stdout and b"'nosuch'" in done.stderr and b"it has 'fact', 'main'" in done.stderr, done


def lost_events():
    """What overlaps a hole of the trace may be several calls, and does not stand out."""
    report = t.report("functions", t.trace("lost"), "--limit", "0")
    gaps = report["coverage"]["gaps"]
    assert gaps and report["stand_outs"] is not None
    for one in report["stand_outs"]:
        call = one["call"]
        assert not any(g["begin"] < call["end"] and call["begin"] < g["end"] for g in gaps), call


def unreturned():
    """dead-1 and dead-2 deadlock, flock-wait waits for a flock (the traces' README): none of their calls returns."""
    report = t.report("functions", t.trace("hang"))
    stuck = {u["name"]: [f["name"] for f in u["stack"]] for u in report["unreturned"] if u["longest_of_its_kind"]}
    causes = {u["name"]: u["cause"] for u in report["unreturned"]}
    # 218 took it: babeltrace2 has its syscall_exit_flock with ret = 0
    assert causes["flock-wait"].endswith("held by hang (218)") and causes["dead-1"].startswith("deadlock"), causes
    assert stuck == {"dead-1": ["syscall:futex"], "dead-2": ["syscall:futex"], "flock-wait": ["syscall:flock"]}, stuck


def binaries(harm, state):
    """Without the program's names: a note that says why, and addresses."""
    with tempfile.TemporaryDirectory() as place:
        trace = place + "/trace"
        shutil.copytree(t.trace("ust-func"), trace)
        harm(trace + "/proxyapp")
        report = t.report("functions", trace, "--cache", "off", "--limit", "0")
        assert [b["state"] for b in report["binaries"] if b["path"].endswith("/proxyapp")] == [state], report["binaries"]
        found = {f["name"] for f in report["functions"] if f["kind"] == "function"}
        base = min(names())
        want = {"proxyapp+0x%x" % (address - base + int(nm_first(), 16)) for address in
                {c.address for c in ust.calls(t.trace("ust-func"))}}
        assert found == want, (found, want)
        assert b"proxyapp" in t.output("functions", trace, "--cache", "off").split(b"Of the functions")[1]
        again = t.report("functions", trace, "--cache", "off", "--limit", "0", "--binary-path", t.trace("ust-func"))
        assert {"main", "fact"} <= {f["name"] for f in again["functions"]} and not again["binaries"], again["binaries"]


def nm_first():
    lines = subprocess.run(["nm", t.trace("ust-func") + "/proxyapp"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return min(line.split()[0] for line in lines.splitlines() if line.split()[1] in "tT")


def stripped(path):
    subprocess.run(["strip", "--strip-all", path], check=True)


def other_build(path):
    """One byte of its build-id (e9a377b4...) is another."""
    data = open(path, "rb").read()
    place = data.index(bytes.fromhex("e9a377b4b8cc1aba31a167b19524d0048d01c7d3"))
    open(path, "wb").write(data[:place] + b"\0" + data[place + 1:])


# --- made-up traces ------------------------------------------------------------------------------------------------
KERNEL = {"sched_switch": [("prev_comm", "string"), ("prev_tid", "i32"), ("prev_prio", "i32"), ("prev_state", "i64"),
                           ("next_comm", "string"), ("next_tid", "i32"), ("next_prio", "i32")],
          "other": []}
USER = {"lttng_ust_cyg_profile:func_entry": [("addr", "u64"), ("call_site", "u64")],
        "lttng_ust_cyg_profile:func_exit": [("addr", "u64"), ("call_site", "u64")],
        "lttng_ust_cyg_profile_fast:func_entry": [("addr", "u64")],
        "lttng_ust_cyg_profile_fast:func_exit": [], "app:tick": [("n", "i32")]}


def kernel_trace():
    trace = ctf.Trace(KERNEL)
    trace.event(1000, 0, "sched_switch", prev_comm="idle", prev_tid=0, prev_prio=20, prev_state=0, next_comm="a",
                next_tid=5, next_prio=20)
    trace.event(9000, 0, "sched_switch", prev_comm="a", prev_tid=5, prev_prio=20, prev_state=1, next_comm="idle",
                next_tid=0, next_prio=20)
    trace.event(9900, 0, "other")
    return trace


def made_up(place, user):
    kernel_trace().write(place + "/kernel")
    user.write(place + "/ust/pid/a-5")
    return place


def clocks(shift):
    """One clock, whose distance from the epoch was taken otherwise for the user-space trace: order and times are those
    of the clock. Without the contexts vtid and vpid: by the trace's environment and who the CPU runs."""
    user = ctf.Trace(USER, offset=ctf.OFFSET + shift, user="vpid = 5;")
    user.event(2000, 0, "lttng_ust_cyg_profile_fast:func_entry", addr=0x100)
    user.event(3000, 0, "app:tick", n=7)
    user.event(8999, 0, "lttng_ust_cyg_profile_fast:func_exit")
    with tempfile.TemporaryDirectory() as place:
        trace = made_up(place + "/trace", user)
        profile, = profiles(trace, "--cache", "off")
        assert (profile["operation"], profile["count"], profile["sum_ns"]) == ("function:0x100", 1, 6999), profile
        report = json.loads(both("delay", "--target", "app:tick n=7", "--format", "json", "--cache", "off", trace))
        assert report["target"]["time"] == ctf.OFFSET + 3000 and report["target"]["tid"] == 5, report["target"]
        done = t.babeltrace2(trace, "--component=sink.whylate.profile", '--params=operation="function:*",format="json"')
        assert done.returncode == 0, done
        assert json.loads(done.stdout)["profiles"][0]["sum_ns"] == 6999


def switch(trace, time, prev, next_, state):
    tids = {"idle": 0, "a": 5, "b": 6}
    trace.event(time, 0, "sched_switch", prev_comm=prev, prev_tid=tids[prev], prev_prio=20, prev_state=state,
                next_comm=next_, next_tid=tids[next_], next_prio=20)


def functions_of(place, switches, end, calls):
    """The report of both readers on a made-up trace: calls are (time, function, "entry" or "exit")."""
    kernel, user = ctf.Trace(KERNEL), ctf.Trace(USER, user="vpid = 5;")
    for at in switches:
        switch(kernel, *at)
    kernel.event(end, 0, "other")
    for time, address, what in calls:
        user.event(time, 0, "lttng_ust_cyg_profile:func_" + what, addr=address, call_site=1)
    kernel.write(place + "/kernel")
    user.write(place + "/ust/pid/a-5")
    return json.loads(both("functions", "--format", "json", "--thread", "5", "--limit", "0", "--cache", "off", place))


def stands_out():
    """Twelve calls of f for 1000 ns, 500 of them in g; and one of 40000, in which it was preempted for 30000, called h
    for 500 and not g: 9000 ns more than usual were its own."""
    f, g, h = 0x100, 0x200, 0x300
    calls = []
    for begin in [2000 + 4000 * i for i in range(10)] + [100000, 104000]:
        calls += [(begin, f, "entry"), (begin + 200, g, "entry"), (begin + 700, g, "exit"), (begin + 1000, f, "exit")]
    calls += [(55000, f, "entry"), (55500, h, "entry"), (56000, h, "exit"), (95000, f, "exit")]
    switches = [(1000, "idle", "a", 0), (60000, "a", "b", 0), (90000, "b", "a", 1), (200000, "a", "idle", 1)]
    with tempfile.TemporaryDirectory() as place:
        report = functions_of(place, switches, 210000, sorted(calls))
    one, = report["stand_outs"]
    assert (one["call"]["begin"] - ctf.OFFSET, one["call"]["ns"], one["median_ns"], one["excess_ns"], one["calls"]) == \
        (55000, 40000, 1000, 39000, 13), one
    different = {(d["kind"], d["what"]): d for d in one["differences"]}
    assert set(different) == {("time", "wait-cpu: CPU taken by b"), ("time", "own work"), ("new-call", "0x300"),
                              ("missing-call", "0x200")}, different
    assert different["time", "wait-cpu: CPU taken by b"]["ns"] == 30000 and different["time", "own work"]["ns"] == 9000
    assert different["new-call", "0x300"]["having"] == 1 and different["missing-call", "0x200"]["having"] == 12
    tree, = [x["tree"] for x in report["threads"]]
    check_sums(tree)
    found, = [c for c in tree["children"] if c["name"] == "0x100"]
    assert found["calls"] == 13 and found["inclusive"]["ns"] == 52000 and found["inclusive"]["interrupted_ns"] == 30000
    assert found["exclusive"]["ns"] == 52000 - 12 * 500 - 500


def user_call_stacks():
    """Contexts callstack-kernel and callstack-user: of who falls asleep at the switch, of the waker at the wake-up."""
    stacks = [("callstack_kernel", ["u64"]), ("callstack_user", ["u64"])]
    trace = ctf.Trace({**KERNEL, "sched_waking": [("comm", "string"), ("tid", "i32"), ("prio", "i32"),
                                                  ("target_cpu", "i32")]}, context=stacks)

    def event(time, name, kernel=(), user=(), **values):
        trace.event(time, 0, name, {"callstack_kernel": kernel, "callstack_user": user}, **values)

    def switched(time, prev, next_, state, kernel=(), user=()):
        tids = {"idle": 0, "a": 5, "b": 6}
        event(time, "sched_switch", kernel, user, prev_comm=prev, prev_tid=tids[prev], prev_prio=20, prev_state=state,
              next_comm=next_, next_tid=tids[next_], next_prio=20)
    switched(1000, "idle", "a", 0)
    switched(2000, "a", "b", 1, [0xffffffff81000020, 0xffffffff81000010], [0x5002, 0x4004])
    event(5000, "sched_waking", [0xffffffff81000030], [0x7008], comm="a", tid=5, prio=20, target_cpu=0)
    switched(6000, "b", "a", 0)
    event(9000, "other")
    with tempfile.TemporaryDirectory() as place:
        path = trace.write(place + "/t")
        report = json.loads(both("functions", "--thread", "5", "--format", "json", "--cache", "off", path))
    wait, = report["waits"]
    assert (wait["count"], wait["ns"], wait["kernel"]) == (1, 3000, ["0xffffffff81000010", "0xffffffff81000020"]), wait
    # outermost first; a return address stands for the call before it, the innermost for itself
    assert wait["user"] == ["0x4003", "0x5002"], wait
    assert wait["longest"]["woken_kernel"] == ["0xffffffff81000030"] and wait["longest"]["woken_user"] == ["0x7008"], wait


def seen_by_half():
    """The thread begins in 0x900 and leaves it at 3000; 0x200 in 0x100 is not left, as by longjmp(): its time is its
    caller's; 0x300 in 0x400 has not returned when the trace ends."""
    calls = [(2000, 0x500, "entry"), (2500, 0x500, "exit"), (3000, 0x900, "exit"), (4000, 0x100, "entry"),
             (4500, 0x200, "entry"), (5000, 0x100, "exit"), (6000, 0x400, "entry"), (7000, 0x300, "entry")]
    switches = [(1000, "idle", "a", 0), (9000, "a", "idle", 1)]
    with tempfile.TemporaryDirectory() as place:
        report = functions_of(place, switches, 9900, calls)
    tree, = [x["tree"] for x in report["threads"]]
    check_sums(tree)
    paths = {p[1:]: n for p, n in nodes(tree)}
    assert set(paths) == {(), ("0x900",), ("0x900", "0x500"), ("0x100",), ("0x400",), ("0x400", "0x300")}, paths
    assert [paths[p]["calls"] for p in (("0x900",), ("0x900", "0x500"), ("0x100",))] == [0, 1, 1]
    assert paths["0x900",]["inclusive"]["ns"] == 2000 and paths["0x100",]["exclusive"]["ns"] == 1000
    assert paths["0x400", "0x300"]["exclusive"] == {"ns": 2900, "working_ns": 2000, "interrupted_ns": 0,
                                                    "blocked_ns": 900, "unknown_ns": 0}
    assert paths["0x400",]["open"] == paths["0x400", "0x300"]["open"] == 1
    one, = report["unreturned"]
    assert [(f["name"], f["ns"], f["seen"]) for f in one["stack"]] == [("0x400", 3900, "open"), ("0x300", 2900, "open")]
    assert (report["user"]["entries_unseen"], report["user"]["exits_unseen"]) == (1, 1)


def part():
    """Two runs: the fourth call of main is 0x300 in one, 0x400 in the other; and one run against itself."""
    def run(place, third):
        kernel, user = ctf.Trace(KERNEL), ctf.Trace(USER, user="vpid = 5;")
        switch(kernel, 1000, "idle", "a", 0)
        switch(kernel, 9000, "a", "idle", 1)
        kernel.event(9900, 0, "other")
        stack = []
        for i, address in enumerate([0x100, 0x200, 0x200, third, 0x500]):
            if i > 1:
                user.event(2000 + i * 1000 - 500, 0, "lttng_ust_cyg_profile:func_exit", addr=stack.pop(), call_site=1)
            user.event(2000 + i * 1000, 0, "lttng_ust_cyg_profile:func_entry", addr=address, call_site=1)
            stack.append(address)
        kernel.write(place + "/kernel")
        user.write(place + "/ust/pid/a-5")
        return place
    with tempfile.TemporaryDirectory() as place:
        a, b = run(place + "/a", 0x300), run(place + "/b", 0x400)
        one, = json.loads(both("diff", "--format", "json", "--cache", "off", a, b))["call_sequences"]
        assert (one["alike"], one["a_calls"], one["b_calls"], one["same"], one["stack"]) == (3, 5, 5, False, ["0x100"]), one
        assert one["a_next"] == {"name": "0x300", "time": ctf.OFFSET + 5000} and one["b_next"]["name"] == "0x400", one
        assert b"3 calls alike, the last 0x200; then in 0x100 A calls 0x300" in \
            b" ".join(both("diff", "--cache", "off", a, b).split()), both("diff", "--cache", "off", a, b)
        one, = json.loads(both("diff", "--format", "json", "--cache", "off", a, a))["call_sequences"]
        assert (one["alike"], one["same"], one["a_next"]) == (5, True, None), one
    assert [s["alike"] for s in t.report("diff", t.trace("ust-func"), t.trace("ust-func"))["call_sequences"]] == [327]
    assert t.report("diff", t.trace("ust-func"), "--slow-fast", "p90", "--preset", "syscall:fsync")["call_sequences"] == []


def other_host():
    """A user-space trace of a host whose kernel was not traced is left alone, and check says so."""
    user = ctf.Trace(USER, hostname="elsewhere", user="vpid = 5;")
    user.event(3000, 0, "app:tick", n=7)
    with tempfile.TemporaryDirectory() as place:
        trace = made_up(place + "/trace", user)
        assert b"of no host" in both("check", "--cache", "off", trace)
        done = t.run("delay", "--target", "app:tick", "--cache", "off", trace)
        assert done.returncode == 2 and b"no event 'app:tick'" in done.stderr, done


tap.case("the answer", answer)
tap.case("ust-func: each function's calls and times", latencies)
tap.case("ust-func: what each function calls", nesting)
tap.case("ust-func: user-space events as targets", targets)
tap.case("ust-func: user-space events as boundaries of requests", requests)
tap.case("ust-func: nothing else changes", unchanged)
tap.case("ust-func: second questions", cached)
for one in ("ust-func", "callstack", "startup-chain", "wide", "lost", "preempt"):
    tap.case("exclusive times are the threads' lives: " + one, sums, one)
tap.case("ust-func: calls and times of functions", accounting)
tap.case("ust-func: the walk from main to the disk", walk)
tap.case("ust-func: where a function is called from", callers)
tap.case("ust-func: six nested calls, the innermost asleep", recursion)
tap.case("ust-func: what is between two events", between_events)
tap.case("web-mixed: only while threads work on requests", while_on_requests)
tap.case("ust-func: folded stacks and rows", folded)
tap.case("callstack: the kernel's way to waits", call_stacks)
tap.case("lost: calls over lost events do not stand out", lost_events)
tap.case("hang: calls that do not return", unreturned)
tap.case("a function that is not called", no_such_function)
tap.case("the program is missing", binaries, os.remove, "missing")
tap.case("the program is stripped", binaries, stripped, "stripped")
tap.case("the program is another build", binaries, other_build, "other-build")
tap.case("a stream cut short", damaged, cut_short)
tap.case("bytes that are no packet", damaged, no_packet)
tap.case("damaged metadata", damaged, bad_metadata)
tap.case("the user-space clock is measured 20 us late", clocks, 20000)
tap.case("the user-space clock is measured 20 us early", clocks, -20000)
tap.case("the user-space clock is measured alike", clocks, 0)
tap.case("a call that stands out, and what is different in it", stands_out)
tap.case("call stacks of user space, of who sleeps and who wakes", user_call_stacks)
tap.case("calls seen by half", seen_by_half)
tap.case("two runs, up to where their calls part", part)
tap.case("a user-space trace of another host", other_host)
sys.exit(tap.done())
