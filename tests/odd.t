#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Old and odd machines: the events of a recorded trace as a big-endian one would have written them,
one whose longs have 32 bits, both, with the same bytes out of both readers; one CPU only; what
Babeltrace's sink.ctf.fs writes.

`odd.t DIRECTORY...`: public traces of old tracers that are not shipped, by the name of their
directory: bug446190 (lttng-modules 2.5, ARM), many-threads (2.8)."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

import ctf
import whylate_test as t

tap = t.Tap()

WAKE = [("comm", "string"), ("tid", "i32"), ("prio", "i32"), ("target_cpu", "i32")]
# of each event the fields that reports are made from; a long is prev_state, a result, an address
CLASSES = {
    "sched_switch": [("prev_comm", "string"), ("prev_tid", "i32"), ("prev_prio", "i32"), ("prev_state", "long"),
                     ("next_comm", "string"), ("next_tid", "i32"), ("next_prio", "i32")],
    "sched_waking": WAKE, "sched_wakeup": WAKE, "sched_wakeup_new": WAKE,
    "sched_process_fork": [("parent_comm", "string"), ("parent_tid", "i32"), ("parent_pid", "i32"),
                           ("child_comm", "string"), ("child_tid", "i32"), ("child_pid", "i32")],
    "sched_process_exec": [("filename", "string"), ("tid", "i32"), ("old_tid", "i32")],
    "irq_handler_entry": [("irq", "i32"), ("name", "string")],
    "irq_handler_exit": [("irq", "i32"), ("ret", "i32")],
    "irq_softirq_entry": [("vec", "u32")], "irq_softirq_exit": [("vec", "u32")],
    "irq_softirq_raise": [("vec", "u32")],
    "syscall_entry_read": [("fd", "u32"), ("count", "ulong")], "syscall_exit_read": [("ret", "long")],
    "syscall_entry_write": [("fd", "u32"), ("count", "ulong")], "syscall_exit_write": [("ret", "long")],
    "syscall_entry_openat": [("dfd", "i32"), ("filename", "string")], "syscall_exit_openat": [("ret", "long")],
    "syscall_entry_close": [("fd", "u32")], "syscall_exit_close": [("ret", "long")],
    "syscall_entry_wait4": [("upid", "i32")], "syscall_exit_wait4": [("ret", "long")],
    "syscall_entry_nanosleep": [], "syscall_exit_nanosleep": [("ret", "long")],
    "block_rq_insert": [("dev", "u32"), ("sector", "u64"), ("nr_sector", "u32")],
    "block_rq_issue": [("dev", "u32"), ("sector", "u64"), ("nr_sector", "u32"), ("tid", "i32")],
    "block_rq_complete": [("dev", "u32"), ("sector", "u64"), ("nr_sector", "u32")],
}
EVENT = re.compile(r"\[(\d+)\.(\d{9})\] \(\S+\) \S+ (\w+): \{ (?:cpu_id = )?(\d+) \}, (?:\{[^{}]*\}, )?\{ (.*) \}$")
FIELD = re.compile(r'(\w+) = (?:"((?:[^"\\]|\\.)*)"|(?:\( [^()]*: container = )?(-?(?:0x)?[0-9A-Fa-f]+))')


def events_of(directory):
    """(ns, CPU, name, {field: value}) of the recorded events that CLASSES has, in order."""
    text = subprocess.run(["babeltrace2", "--clock-seconds", directory], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode(errors="replace")
    found = []
    for line in text.split("\n"):
        match = EVENT.match(line)
        if match and match.group(3) in CLASSES:
            fields = {k: text if number == "" else int(number, 0)
                      for k, text, number in FIELD.findall(match.group(5))}
            found.append((int(match.group(1)) * 10**9 + int(match.group(2)), int(match.group(4)), match.group(3),
                          fields))
    return found


def written(events, place, order, bits):
    trace = ctf.Trace(CLASSES, tracer=(2, 13, 9), layout=ctf.Layout(order, bits))
    for time, cpu, name, fields in events:
        values = {field: fields.get(field, "" if kind == "string" else 0) for field, kind in CLASSES[name]}
        if "count" in values:
            values["count"] &= 0x7FFFFFFF # fits the smaller long
        trace.event(time - ctf.OFFSET, cpu, name, **values)
    return trace.write(place, 4000)


def layouts(name):
    """The same bytes out whatever the machine's order and longs, and whoever reads."""
    events = events_of(t.trace(name))
    assert any(e[3].get("prev_state") == 1 for e in events)
    assert len(events) > 3000 and len({e[2] for e in events}) > 12, (len(events), Counter(e[2] for e in events))
    commands = (("delay", "--thread", "all"), ("overview",), ("profile", "--operation", "*"), ("functions",))
    reports = {options: {} for options in commands}
    with tempfile.TemporaryDirectory(dir=t.CACHE) as place:
        for order in ("le", "be"):
            for bits in (64, 32):
                # each in turn at the same place: reports may name it
                directory = written(events, os.path.join(place, "trace"), order, bits)
                # whose events are the same has the same reports: reader.t compares every command's by both readers
                for options, reader in [(options, "direct") for options in commands] + [(commands[0], "babeltrace")]:
                    reports[options][order, bits, reader] = t.output(*options, directory, "--format", "json", "--reader",
                                                                     reader, "--quiet")
                shutil.rmtree(directory)
    for options in commands:
        first = reports[options]["le", 64, "direct"]
        assert json.loads(first)["coverage"]["events"] == len(events)
        for key, report in reports[options].items():
            assert report == first, (options, key, len(report), len(first))


def one_cpu(name):
    """A machine of one CPU: what CPU 0 recorded, with no other one named. Both readers agree, and every thread's
    states are its life in the window."""
    events = [(time, cpu, event, dict(fields, target_cpu=0)) for time, cpu, event, fields in events_of(t.trace(name))
              if cpu == 0]
    with tempfile.TemporaryDirectory(dir=t.CACHE) as place:
        directory = written(events, os.path.join(place, "trace"), "le", 64)
        reports = [t.output("delay", directory, "--thread", "all", "--format", "json", "--quiet", "--reader", reader)
                   for reader in ("direct", "babeltrace")]
    assert reports[0] == reports[1]
    report = json.loads(reports[0])
    assert report["hosts"][0]["cpus"] == 1 and len(report["threads"]) > 10, report["hosts"]
    for thread in report["threads"]:
        parts = sum(node["ns"] for node in thread["summary"]["children"])
        assert thread["summary"]["ns"] == parts == thread["end"] - thread["begin"], thread["tid"]


def rewritten(name, *options):
    """sink.ctf.fs keeps the environment, so it is read as LTTng's: the same report, but for the trace's UUID and,
    in the coverage, event classes that nothing was recorded of."""
    def plain(report):
        for place in report["hosts"] + report.get("recordings", []):
            place["trace_uuid"] = None
        report["coverage"]["missing"] = None
        return report

    with tempfile.TemporaryDirectory(dir=t.CACHE) as place:
        # from 2.1 on it writes CTF 2 unless told otherwise, and 2.0 knows no other version and no such parameter
        says = subprocess.run(["babeltrace2", "--version"], check=True, capture_output=True).stdout
        version = "" if says.startswith(b"Babeltrace 2.0.") else ',ctf-version="1"'
        subprocess.run(["babeltrace2", t.trace(name), "--component=sink.ctf.fs", "--params",
                        'path="%s",quiet=yes%s' % (place, version)], check=True, stdout=subprocess.DEVNULL)
        recorded = plain(t.report(*options, t.trace(name), "--quiet"))
        for reader in ("auto", "babeltrace"):
            assert plain(t.report(*options, place, "--quiet", "--reader", reader)) == recorded, reader


def without_environment(name):
    """The same of a trace whose metadata lost all that names its tracer: it is read as of today's kernels, by both
    readers alike, and the report says that the kernel is not known."""
    with tempfile.TemporaryDirectory(dir=t.CACHE) as place:
        directory = written(events_of(t.trace(name)), os.path.join(place, "trace"), "le", 64)
        path = os.path.join(directory, "metadata")
        with open(path, encoding="ascii") as file:
            text = re.sub(r"env \{.*?\};\n", "", file.read(), flags=re.S)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        reports = [t.output("overview", directory, "--format", "json", "--quiet", "--reader", reader)
                   for reader in ("auto", "direct", "babeltrace")]
        assert b"version not said" in t.output("overview", "--full", directory, "--quiet")
    assert len(set(reports)) == 1
    assert json.loads(reports[0])["hosts"][0]["kernel"] is None


def old_calls(directory):
    """bug446190: every finished call is in a profile. Counted from babeltrace2's text: an entry and the next exit
    of the thread that the CPU runs; but for ARM's sigreturn (119, which the tracer has no name for): no frame."""
    text = subprocess.run(["babeltrace2", "--clock-seconds", directory], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode(errors="replace")
    runs, inside, calls = {}, {}, []
    for line in text.split("\n"):
        match = re.match(r"\[(\d+)\.(\d+)\] \(\S+\) \S+ (\w+): \{ cpu_id = (\d+) \}", line)
        if not match:
            continue
        time, name, cpu = int(match.group(1)) * 10**9 + int(match.group(2)), match.group(3), match.group(4)
        thread = runs.get(cpu)
        if name == "sched_switch":
            runs[cpu] = int(re.search(r"next_tid = (\d+)", line).group(1))
        elif name.startswith("sys_") and thread:
            inside[thread] = None if " id = 119," in line else (time, name[4:])
        elif name == "exit_syscall" and inside.get(thread):
            begin, name = inside.pop(thread)
            calls.append((name, time - begin))
    profiles = t.report("profile", directory, "--limit", "0", "--quiet")["profiles"]
    assert {p["operation"]: p["count"] for p in profiles} == Counter("syscall:" + name for name, _ in calls)
    assert len(calls) == 1799 and len(profiles) == 55
    assert min(p["min_ns"] for p in profiles) == min(c[1] for c in calls) == 1000
    assert max(p["max_ns"] for p in profiles) == max(c[1] for c in calls) == 5904091700


def old_chain(directory):
    """weston waits for its graphics chip: IRQ 151, named RGX, wakes a kernel worker, that wakes weston."""
    waits = t.report("delay", directory, "--thread", "338", "--limit", "0", "--quiet")["threads"][0]["causality"]
    wait = next(w for w in waits if w["begin"] == 1412670963793673139)
    assert (wait["end"], wait["leaf"]) == (1412670963793951339, "blocked/syscall:ioctl")
    assert (wait["woken_by"]["kind"], wait["woken_by"]["name"]) == ("thread", "kworker/u16:0")
    worker = wait["children"][-1]
    assert (worker["woken_by"]["kind"], worker["woken_by"]["context"], worker["woken_by"]["label"]) == \
        ("irq", "irq:151", "RGX")


def old_races(directory):
    """many-threads: a wake-up while its thread still runs. Thread 2673 is woken at .892427304, leaves at .892427466
    asleep, its sched_wakeup follows at .892428529 and it runs at .892429058: it waited in between, by the first."""
    report = t.report("delay", directory, "--thread", "2673", "--limit", "0", "--quiet")
    wait = next(w for w in report["threads"][0]["causality"] if w["begin"] == 1457113582892427466)
    assert wait["end"] == 1457113582892428529 and wait["woken_by"]["kind"] == "thread", wait
    assert report["coverage"]["wakeups_unseen"] == 0


for directory in sys.argv[1:]:
    for known, checks in (("bug446190", (old_calls, old_chain)), ("many-threads", (old_races,))):
        if known in directory:
            for check in checks:
                tap.case("%s: %s" % (known, check.__name__), check, directory)
if len(sys.argv) == 1:
    for which in ("pipe-chain", "startup-chain"):
        tap.case(which + " in other layouts", layouts, which)
    tap.case("one CPU only", one_cpu, "pipe-chain")
    tap.case("written by sink.ctf.fs: delay", rewritten, "pipe-chain", "delay", "--thread", "all")
    tap.case("written by sink.ctf.fs: profile", rewritten, "futex", "profile")
    tap.case("no environment", without_environment, "pipe-chain")
sys.exit(tap.done())
