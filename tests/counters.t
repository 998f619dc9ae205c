#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hardware counters (contexts perf:cpu:NAME on sched_switch) through the whole way of the data: two crafted traces of
one program, of which the second needs twice the cycles for the same instructions. Expectations are the numbers below."""
import json
import sys
import tempfile

import ctf
import whylate_test as t

tap = t.Tap()
MS = 1000000
SWITCH = [("prev_comm", "string"), ("prev_tid", "i32"), ("prev_prio", "i32"), ("prev_state", "long"),
          ("next_comm", "string"), ("next_tid", "i32"), ("next_prio", "i32")]
NAMES = ("perf_cpu_instructions", "perf_cpu_cycles", "perf_cpu_cache_misses")
FORK = [("parent_comm", "string"), ("parent_tid", "i32"), ("parent_pid", "i32"), ("child_comm", "string"),
        ("child_tid", "i32"), ("child_pid", "i32")]


def crafted(folder, name, runs, names=NAMES):
    """`worker` runs as often as `runs` has (length in ms, what was counted meanwhile), with 1 ms of idling between."""
    trace = ctf.Trace({"sched_switch": SWITCH, "sched_process_fork": FORK}, [(n, "u64") for n in names])
    now, values = 1 * MS, [5000, 7000, 11]

    def at():
        return dict(zip(names, values))

    def switch(prev, following, state):
        trace.event(now, 0, "sched_switch", at(), prev_comm=prev[0], prev_tid=prev[1], prev_prio=20, prev_state=state,
                    next_comm=following[0], next_tid=following[1], next_prio=20)

    idle, worker = ("swapper/0", 0), ("worker", 100)
    trace.event(now, 0, "sched_process_fork", at(), parent_comm="sh", parent_tid=50, parent_pid=50, child_comm="worker",
                child_tid=100, child_pid=100)
    for length, counted in runs:
        now += MS
        switch(idle, worker, 0)
        now += length * MS
        values = [a + b for a, b in zip(values, counted)]
        switch(worker, idle, 1)
        values = [values[0] + 3, values[1] + 9, values[2]]  # of the idle loop
    return trace.write("%s/%s/kernel" % (folder, name)).rsplit("/", 1)[0]


A = [(10, (30 * MS, 20 * MS, 3000)), (10, (30 * MS, 20 * MS, 5000))]
B = [(20, (30 * MS, 40 * MS, 133000)), (20, (30 * MS, 40 * MS, 135000))]


def working(document):
    return next(c for c in document["threads"][0]["summary"]["children"] if c["key"] == "working")


def exact():
    """The sums of both runs, in both readers; none of the idle loop's."""
    with tempfile.TemporaryDirectory() as folder:
        trace = crafted(folder, "a", A)
        arguments = ("delay", trace, "--thread", "worker", "--format", "json", "--cache", "off")
        out = t.output(*arguments)
        assert out == t.output(*arguments, "--reader", "babeltrace")
        assert working(json.loads(out))["counters"] == {
            "instructions": 60 * MS, "cycles": 40 * MS, "cache_misses": 8000, "branch_misses": None, "ns": 20 * MS, "runs": 2}
        text = t.output("delay", trace, "--thread", "worker", "--cache", "off").decode()
        assert "60.0 M instructions, 1.50 a cycle; 0.13 cache misses per 1000" in " ".join(text.split()), text


def nothing():
    """Zeros of a processor without counters, and other contexts: nothing is claimed."""
    with tempfile.TemporaryDirectory() as folder:
        zeros = crafted(folder, "zeros", [(10, (0, 0, 0))] * 2)
        other = crafted(folder, "other", A, ("perf_cpu_page_faults", "perf_cpu_migrations", "nice"))
        for trace in (other,):
            out = json.loads(t.output("delay", trace, "--thread", "worker", "--format", "json", "--cache", "off"))
            assert "counters" not in working(out), working(out)
        out = json.loads(t.output("delay", zeros, "--thread", "worker", "--format", "json", "--cache", "off"))
        assert "counters" not in working(out) or working(out)["counters"]["runs"] == 0, working(out)


def compared():
    """Twice the cycles for as many instructions, with 33.5 times the misses: 78 cycles for each more."""
    with tempfile.TemporaryDirectory() as folder:
        a, b, more = crafted(folder, "a", A), crafted(folder, "b", B), crafted(folder, "more", A * 3)
        found, = json.loads(t.output("diff", a, b, "--format", "json", "--cache", "off"))["counters"]
        assert found["cause"] == "memory" and abs(found["share"] - 1) < 1e-6, found
        assert (found["a"]["ns"], found["b"]["ns"], found["b"]["cache_misses"]) == (20 * MS, 40 * MS, 268000), found
        assert "slower because of memory: 2.00 times the cycles for each instruction, with 33.5 times" in found["sentence"]
        text = " ".join(t.output("diff", a, b, "--cache", "off").decode().split())
        assert "by hardware counters" in text and found["sentence"] in text, text
        found, = json.loads(t.output("diff", a, more, "--format", "json", "--cache", "off"))["counters"]
        assert found["cause"] == "work" and "more work: 3.00 times the instructions" in found["sentence"], found
        assert "counters" not in json.loads(t.output("diff", a, a, "--format", "json", "--cache", "off")) or not json.loads(
            t.output("diff", a, a, "--format", "json", "--cache", "off"))["counters"]


tap.case("exact, in both readers", exact)
tap.case("nothing is claimed without", nothing)
tap.case("memory told from more work", compared)
sys.exit(tap.done())
