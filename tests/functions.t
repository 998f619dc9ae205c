#!/usr/bin/env python3
"""User-space traces beside a kernel trace: their functions, their events as markers, their damage.

ust-func is compared with tests/ust.py, which reads babeltrace2's text and keeps a stack for each thread; made-up traces
(tests/ctf.py) have what no recorded one has. A user-space trace changes no report that does not ask for it."""
import collections
import json
import os
import shutil
import sys
import tempfile

import ctf
import ust
import whylate_test as t

tap = t.Tap()
READERS = ("direct", "babeltrace")


def both(*arguments):
    """What both readers print, which must be the same."""
    direct, other = (t.output(*arguments, "--reader", reader) for reader in READERS)
    assert direct == other, arguments
    return direct


def profiles(trace, *arguments):
    text = both("profile", "--operation", "function:0x*", "--limit", "0", "--format", "json", *arguments, trace)
    return json.loads(text)["profiles"]


def latencies():
    """Each function's calls, their number and times; 327 entries and 327 exits, as many as there are in the text."""
    want = collections.defaultdict(list)
    for call in ust.calls(t.trace("ust-func")):
        want["function:0x%x" % call.address].append(call.end - call.begin)
    have = {p["operation"]: p for p in profiles(t.trace("ust-func"))}
    assert set(have) == set(want) and sum(len(times) for times in want.values()) == 327
    for name, times in want.items():
        one = have[name]
        assert (one["count"], one["sum_ns"], one["min_ns"], one["max_ns"]) == \
            (len(times), sum(times), min(times), max(times)), name
    names = [name for _, name, _ in ust.events(t.trace("ust-func"))]
    assert [names.count("lttng_ust_cyg_profile:func_" + end) for end in ("entry", "exit")] == [327, 327]


def called(node):
    return [child["node"] for child in node.get("children", ()) if child["node"].startswith("function:0x")]


def nesting():
    """What a function calls is among its parts, and no other function."""
    calls, want = ust.calls(t.trace("ust-func")), collections.defaultdict(set)
    for call in calls:
        if call.parent is not None:
            want["function:0x%x" % calls[call.parent].address].add("function:0x%x" % call.address)
    for profile in profiles(t.trace("ust-func"), "--maxcount-percentage", "1", "--depth", "20"):
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
        for command in (("overview",), ("delay", "--thread", "all", "--limit", "0"), ("profile",),
                        ("profile", "--operation", "syscall:*", "--operation", "irq:*"), ("requests",),
                        ("delay", "--thread", "all", "--every", "100ms")):
            for form in ("text", "json"):
                arguments = (*command, "--verbose", "--format", form)
                assert both(*arguments, t.trace("ust-func")).replace(t.trace("ust-func").encode(), b"") == \
                    both(*arguments, alone).replace(alone.encode(), b""), arguments


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
        assert b'"function:0x' not in t.output("profile", "--operation", "function:*", "--format", "json", trace, *cache)


def damaged(harm):
    """One warning that names it; what the kernel's trace tells is told as if it were not there."""
    with tempfile.TemporaryDirectory() as place:
        trace = place + "/trace"
        shutil.copytree(t.trace("ust-func"), trace)
        user = ust.directories(trace, True)[0]
        harm(user)
        for reader in READERS:
            done = t.run("overview", "--reader", reader, "--cache", "off", trace)
            assert done.returncode == 0 and done.stdout == t.output("overview", t.trace("ust-func")), (reader, done)
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
        done = t.babeltrace2(trace, "--component=sink.whylate.profile", '--params=operation="function:0x*",format="json"')
        assert done.returncode == 0, done
        assert json.loads(done.stdout)["profiles"][0]["sum_ns"] == 6999


def other_host():
    """A user-space trace of a host whose kernel was not traced is left alone, and check says so."""
    user = ctf.Trace(USER, hostname="elsewhere", user="vpid = 5;")
    user.event(3000, 0, "app:tick", n=7)
    with tempfile.TemporaryDirectory() as place:
        trace = made_up(place + "/trace", user)
        assert b"of no host" in both("check", "--cache", "off", trace)
        done = t.run("delay", "--target", "app:tick", "--cache", "off", trace)
        assert done.returncode == 2 and b"no event 'app:tick'" in done.stderr, done


tap.case("ust-func: each function's calls and times", latencies)
tap.case("ust-func: what each function calls", nesting)
tap.case("ust-func: user-space events as targets", targets)
tap.case("ust-func: user-space events as boundaries of requests", requests)
tap.case("ust-func: nothing else changes", unchanged)
tap.case("ust-func: second questions", cached)
tap.case("a stream cut short", damaged, cut_short)
tap.case("bytes that are no packet", damaged, no_packet)
tap.case("damaged metadata", damaged, bad_metadata)
tap.case("the user-space clock is measured 20 us late", clocks, 20000)
tap.case("the user-space clock is measured 20 us early", clocks, -20000)
tap.case("the user-space clock is measured alike", clocks, 0)
tap.case("a user-space trace of another host", other_host)
sys.exit(tap.done())
