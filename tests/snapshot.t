#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A flight recorder's last seconds (the trace `snapshot`): what the last operations of pipe-chain waited for, as they
noted it themselves (truth.tsv) and the traces' README has it; and what cannot be known of it, as a small reader of
babeltrace2's text finds it by itself: where each CPU's events begin, calls that began before, threads that nobody
described, descriptors that nobody opened."""
import re
import subprocess
import sys

import whylate_test as t

MS = 1000000
TRACE = t.trace("snapshot")
tap = t.Tap()


def truth():
    """(begin, end, root) of each operation; a note is written when it has ended."""
    with open(TRACE + "/truth.tsv", encoding="ascii") as file:
        for line in file:
            time, _, tid, remark = line.rstrip("\n").split("\t")
            root, length = re.fullmatch(r"op \d+ root=(\w+) ns=(\d+)", remark).groups()
            assert tid == "218"
            yield int(time) - int(length), int(time), root


def events():
    """(time in ns, CPU, name, fields as text) of each event, as babeltrace2 prints them."""
    done = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", TRACE], stdout=subprocess.PIPE, check=True)
    for line in done.stdout.decode(errors="replace").splitlines():
        found = re.match(r"\[(\d+)\.(\d{9})\] \S+ (\w+): \{ cpu_id = (\d+) \}, \{ ?(.*) \}$", line)
        assert found, line
        yield int(found[1]) * 10**9 + int(found[2]), int(found[4]), found[3], found[5]


def number(name, fields):
    return int(re.search(r"\b%s = (-?\d+)" % name, fields)[1])


class Facts:
    """What that reader finds."""

    def __init__(self):
        self.first = {}      # of each CPU: the time of its first event
        self.evidence = {}   # of each TID: when it was first named, or emitted an event
        self.born, self.opened, self.unentered = set(), set(), set()
        self.read(list(events()))
        self.known = max(self.first.values())

    def read(self, rows):
        current, entered = {}, {}
        for time, cpu, name, fields in rows:  # who runs before the first switch: its prev
            self.first.setdefault(cpu, time)
            if name == "sched_switch":
                current.setdefault(cpu, number("prev_tid", fields))
        for time, cpu, name, fields in rows:
            seen = [current[cpu]]
            if name == "sched_switch":
                seen += [number("prev_tid", fields), number("next_tid", fields)]
                current[cpu] = seen[-1]
            elif name in ("sched_waking", "sched_wakeup", "sched_wakeup_new"):
                seen.append(number("tid", fields))
            elif name == "sched_process_fork":
                self.born.add(number("child_tid", fields))
                # a child leaves the call that it was born in
                entered[number("child_tid", fields)] = entered.get(current[cpu])
            elif name.startswith("syscall_entry_"):
                entered[current[cpu]] = name[14:]
                self.opened |= set(re.findall(r'\b(?:filename|pathname) = "(.*?)"', fields))
            elif name.startswith("syscall_exit_"):
                if entered.pop(current[cpu], None) is None:
                    self.unentered.add((time, current[cpu], name[13:]))
            for tid in seen:
                self.evidence.setdefault(tid, time)


FACTS = Facts()


def operation(begin, end, root):
    """From stage-a over stage-b, which waits for stage-c, to what that did: one of three (README)."""
    report = t.report("delay", TRACE, "--thread", "stage-a", "--from", "%dns" % begin, "--to", "%dns" % end,
                      "--limit", "0")
    path = report["critical_path"]
    assert path[0]["begin"] == report["window"]["begin"] and path[-1]["end"] == report["window"]["end"]
    assert sum(piece["ns"] for piece in path) == report["window"]["end"] - report["window"]["begin"]

    def went(leaf):
        return sum(p["ns"] for p in path if p["name"] == "stage-c" and p["leaf"].startswith(leaf))

    # stage-c's work and reads besides; the file is in memory at times: then the 8 reads are its work in them
    found = {"timer": went("blocked/syscall:clock_nanosleep"),
             "disk": went("blocked/syscall:pread64") + went("working/syscall:pread64"), "cpu": went("working/user")}
    assert max(found, key=found.get) == root, (found, root)
    waits = [b for b in report["threads"][0]["causality"] if b["leaf"] == "blocked/syscall:read"]
    wait = max(waits, key=lambda b: b["ns"])
    assert wait["resource"]["kind"] == "pipe" and wait["woken_by"]["name"] == "stage-b", wait
    inner = max(wait["children"], key=lambda b: b["ns"])
    assert inner["leaf"] == "blocked/syscall:futex" and inner["woken_by"]["name"] == "stage-c", inner
    assert inner["ns"] > 0.8 * wait["ns"], (inner["ns"], wait["ns"])
    sleeps = [b for b in inner["children"] if b["leaf"] == "blocked/syscall:clock_nanosleep"]
    reads = [b for b in inner["children"] if b["leaf"] == "blocked/syscall:pread64"]
    if root == "timer":
        assert len(sleeps) == 1 and not reads, inner
        assert sleeps[0]["cause"] == {**sleeps[0]["cause"], "kind": "timer", "certainty": "seen"}, sleeps
        assert 20 * MS - MS / 10 < sleeps[0]["ns"] < 22 * MS, sleeps  # 20 ms were asked for
    elif root == "disk":
        assert not sleeps and 1 <= len(reads) <= 8, inner
        assert all(b["cause"]["kind"] == "block-device" for b in reads), reads
    else:
        assert not sleeps and not reads and found["cpu"] > 14 * MS, (inner, found)  # 15 ms of computing
    assert not any(b["spans_gap"] for b in waits) and begin > FACTS.known  # all CPUs were known then


def operations():
    rows = list(truth())
    assert len(rows) == 21 and {root for _, _, root in rows} == {"cpu", "disk", "timer"}
    for row in rows:
        operation(*row)


def verdict():
    """The first sentence about the last operation says it: stage-c slept, and who waited for that."""
    begin, end, root = list(truth())[-1]
    assert root == "timer"
    first = t.report("delay", TRACE, "--thread", "stage-a", "--from", "%dns" % begin, "--to",
                     "%dns" % end)["verdict"][0]
    for word in ("stage-c", "clock_nanosleep", "timer", "stage-b", "futex", "stage-a", "pipe"):
        assert word in first, (word, first)


def begins():
    """From when each CPU is known; nothing is said of a thread before there is a reason to."""
    report = t.report("delay", TRACE, "--thread", "all", "--limit", "0")
    late = FACTS.known - min(FACTS.first.values())
    assert report["hosts"][0]["begin"] == min(FACTS.first.values())
    assert report["coverage"]["cpu_unknown_ns"] == late > 900 * MS
    line, = [m for m in report["coverage"]["missing"] if m.startswith("CPU ")]
    cpu, ms = re.match(r"CPU (\d+) of tracebox: its events begin (\S+) ms after", line).groups()
    assert FACTS.first[int(cpu)] == FACTS.known and abs(float(ms) * MS - late) < MS, line
    told = t.output("delay", TRACE, "--thread", "stage-a").decode()
    assert re.search(r"^Coverage", told, re.M) and " ".join(line.split()) in " ".join(told.split())
    assert {x["tid"] for x in report["threads"]} == set(FACTS.evidence) - {0}
    early = 0
    for thread in report["threads"]:
        # off the CPU without having been seen to leave: since all CPUs are known, not longer
        first = FACTS.evidence[thread["tid"]]
        assert thread["begin"] >= min(first, FACTS.known), (thread["name"], thread["begin"], first)
        early += first < FACTS.known
    assert early > 3


def unseen():
    coverage = t.report("delay", TRACE, "--thread", "all")["coverage"]
    assert coverage["entries_unseen"] == len(FACTS.unentered) > 0, FACTS.unentered
    assert coverage["undescribed_threads"] == len(set(FACTS.evidence) - FACTS.born - {0}) > 0
    assert any(m.startswith("lttng_statedump_process_state") for m in coverage["missing"])
    assert coverage["discarded_events"] == 0 and coverage["gaps"] == []


def names():
    """A file has a name only if its opening is in the trace; other descriptors are numbers."""
    report = t.report("delay", TRACE, "--thread", "all", "--limit", "0")
    named, numbered = set(), set()

    def walk(blocks):
        for block in blocks:
            resource = block.get("resource") or {}  # null: of a call whose entry was not seen
            if resource.get("kind") == "file":
                named.add(resource["name"])
            elif resource.get("kind") == "other" and "fd" in resource:
                assert resource["name"] == str(resource["fd"]), resource
                numbered.add((block["tid"], resource["name"]))
            walk(block.get("children", []))

    for thread in report["threads"]:
        walk(thread["causality"])
    assert "/data.bin" in named and named <= FACTS.opened, (named, FACTS.opened)
    assert numbered  # lttng-consumerd's were opened long before


tap.case("what the last operations of pipe-chain waited for", operations)
tap.case("the verdict on the last one", verdict)
tap.case("from when each CPU, and each thread, is known", begins)
tap.case("calls that began before, threads that nobody described", unseen)
tap.case("names of descriptors", names)
sys.exit(tap.done())
