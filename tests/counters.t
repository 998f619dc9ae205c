#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hardware counters (contexts perf:cpu:NAME on sched_switch) through the whole way of the data: two crafted traces of
one program, of which the second needs twice the cycles for the same instructions. Expectations are the numbers below."""
import csv
import io
import json
import re
import sqlite3
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


def exported():
    """Runs one by one and their sums, in both exports, and only those that lie in the window. `worker` begins at 2 ms and
    13 ms of the clock and runs 10 ms each time."""
    with tempfile.TemporaryDirectory() as folder:
        trace = crafted(folder, "a", A)
        base = ctf.OFFSET
        for options, last in ((), 2), (("--to", str((base + 20 * MS) // 10**9) + ".020000000"), 1):
            t.output("export", trace, "--as", "sqlite", "--output", folder + "/t.db", "--cache", "off", *options)
            with sqlite3.connect(folder + "/t.db") as database:
                runs = database.execute("SELECT tid, counted_runs.begin, counted_runs.end, ns, instructions, cycles, cache_misses, "
                                        "branch_misses FROM counted_runs JOIN threads USING (thread)").fetchall()
                sums = database.execute("SELECT name, counter, count, runs, ns FROM counters JOIN threads USING (thread)").fetchall()
                page = open(t.BUILD + "/man/whylate-export.1", encoding="utf-8").read()
                query, = re.findall(r'\.\\" query of counters\n\.EX\n(.*?)\.EE', page, re.S)
                assert database.execute(query).fetchall() == [
                    ("worker", 100, last * 30 * MS, 1.5, (3000 if last == 1 else 8000) / (last * 30000))], query
            database.close()
            want = [(100, base + 2 * MS, base + 12 * MS, 10 * MS, 30 * MS, 20 * MS, 3000, None),
                    (100, base + 13 * MS, base + 23 * MS, 10 * MS, 30 * MS, 20 * MS, 5000, None)]
            assert runs == want[:last], runs
            assert sums == [("worker", "instructions", last * 30 * MS, last, last * 10 * MS),
                            ("worker", "cycles", last * 20 * MS, last, last * 10 * MS),
                            ("worker", "cache_misses", 3000 if last == 1 else 8000, last, last * 10 * MS)], sums
        rows = list(csv.DictReader(io.StringIO(t.output(
            "export", trace, "--as", "csv", "--table", "counted_runs", "--cache", "off").decode())))
        assert [row["cache_misses"] for row in rows] == ["3000", "5000"] and rows[0]["branch_misses"] == "", rows
        none = crafted(folder, "none", A, ("nice",))
        out = t.output("export", none, "--as", "csv", "--table", "counters", "--cache", "off").decode()
        assert out == "thread,counter,count,runs,ns\r\n", out


TICK = "x86_irq_vectors_local_timer_%s"
ENTRY, SPIN, COPY = 0xffffffff81000000, 0xffffffff81001000, 0xffffffff81002000


def of_functions():
    """Ticks' stacks say that the first run is all in spin, the second in spin and copy, the third (of one sample alone) in
    nobody knows what besides: spin has the counters of the first only."""
    trace = ctf.Trace({"sched_switch": SWITCH, TICK % "entry": [("vector", "i32")], TICK % "exit": [("vector", "i32")]},
                      [(n, "u64") for n in NAMES] + [("callstack_kernel", ["u64"])])
    values = [0, 0, 0]

    def event(at, name, stack=(), **fields):
        trace.event(at, 0, name, dict(zip(NAMES, values), callstack_kernel=list(stack)), **fields)

    def switch(at, prev, following):
        event(at, "sched_switch", prev_comm=prev[0], prev_tid=prev[1], prev_prio=20, prev_state=1 if prev[1] else 0,
              next_comm=following[0], next_tid=following[1], next_prio=20)

    idle, worker = ("swapper/0", 0), ("worker", 100)
    switch(1 * MS, worker, idle)
    for number, (ticks, counted) in enumerate([((SPIN, SPIN), (40 * MS, 10 * MS, 100)), ((SPIN, COPY), (2 * MS, 10 * MS, 90000)),
                                               ((SPIN,), (3 * MS, 10 * MS, 70000))]):
        begin = (2 + 20 * number) * MS
        switch(begin, idle, worker)
        for place, function in enumerate(ticks):
            event(begin + (3 + 4 * place) * MS, TICK % "entry", (ENTRY + 0x15, function + 0x20), vector=236)
            event(begin + (3 + 4 * place) * MS + 9000, TICK % "exit", vector=236)
        values[:] = [a + b for a, b in zip(values, counted)]
        switch(begin + 10 * MS, worker, idle)
    with tempfile.TemporaryDirectory() as folder:
        path = trace.write(folder + "/t/kernel").rsplit("/", 1)[0]
        with open(folder + "/kallsyms", "w", encoding="ascii") as file:
            for address, name in (ENTRY, "asm_sysvec_apic_timer_interrupt"), (SPIN, "spin"), (COPY, "copy"), (COPY + 0x1000, "_etext"):
                print("%x T %s" % (address, name), file=file)
        arguments = ("functions", path, "--kallsyms", folder + "/kallsyms", "--cache", "off")
        counted, = json.loads(t.output(*arguments, "--format", "json"))["counted"]
        assert counted["tid"] == 100 and counted["counters"] == {
            "instructions": 45 * MS, "cycles": 30 * MS, "cache_misses": 160100, "branch_misses": None, "ns": 30 * MS,
            "runs": 3}, counted
        assert [(one["name"], one["counters"]["instructions"], one["counters"]["runs"]) for one in counted["functions"]] == [
            ("spin", 40 * MS, 1)], counted
        text = " ".join(t.output(*arguments).decode().split())
        assert "spin: 40.0 M instructions, 4.00 a cycle; 0.0025 cache misses per 1000 instructions (1 run, 10.00 ms)" in text, text
        assert "worker (100): 45.0 M instructions, 1.50 a cycle" in text, text


tap.case("exact, in both readers", exact)
tap.case("in the exports", exported)
tap.case("of functions that whole runs were in", of_functions)
tap.case("nothing is claimed without", nothing)
tap.case("memory told from more work", compared)
sys.exit(tap.done())
