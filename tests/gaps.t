#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lost events make answers wider, never wrong.

tests/unit/lose_events.c takes events out of sound traces in holes at random places (fixed seeds), tells
the session, and compares what it then says without a mark with what it says of the whole trace: states,
lives, operations, wakers, who a wait leads to. Nothing may differ but the name of the call that a thread
is in, until its next call event (it prints how often). And on the recorded trace `lost`: what touches its
holes is marked in every report and format. WHYLATE_LONG=1 makes many more trials, on more traces."""
import csv
import io
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import whylate_test as t

tap = t.Tap()
LONG = bool(os.environ.get("WHYLATE_LONG"))
SMALL = ("startup-chain", "pipe-chain", "polls", "disk-read", "preempt", "futex", "hang", "signals", "wide",
         "snapshot", "cfs-quota", "web-mixed", "two-hosts-server") + (("fork1", "callstack") if LONG else ())
HOLES = ((5, 20_000_000), (3, 2_000_000_000), (40, 1_000_000))  # so many, of up to so many ns


def wider(name):
    dropped = 0
    for seed in range(1, 41 if LONG else 3):
        for holes, longest in HOLES:
            done = subprocess.run([os.path.join(t.BUILD, "lose_events"), t.trace(name), str(seed), str(holes),
                                   str(longest)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            assert done.returncode == 0, "seed %d, %d holes up to %d ns: %s%s" % (
                seed, holes, longest, done.stdout.decode(), done.stderr.decode())
            dropped += int(done.stdout.split(b"dropped ")[1].split()[0])
    assert dropped > 500, dropped


def gaps_of(report):
    return [(g["begin"], g["end"]) for g in report["coverage"]["gaps"]]


def touched(gaps, begin, end):
    return any(b < end and e > begin for b, e in gaps)


def marked_instances():
    """Every instance of a state off the CPU that overlaps a hole has the mark, in JSON and in CSV; no other has."""
    report = t.report("delay", t.trace("lost"), "--thread", "all", "--limit", "0")
    gaps, seen = gaps_of(report), 0
    for thread in report["threads"]:
        leaves = {}

        def walk(node):
            leaves[node["id"]] = node["key"]
            for child in node["children"]:
                walk(child)
        walk(thread["summary"])
        for number, instances in thread["instances"].items():
            key = leaves[int(number)]
            if not key.startswith(("blocked/", "interrupted/preempted")):
                continue
            for at in instances:
                if touched(gaps, at["begin"], at["end"]):
                    assert at.get("spans_gap"), (thread["name"], key, at)
                    seen += 1
                elif key.startswith("blocked/"):
                    assert not at.get("spans_gap"), (thread["name"], key, at)
    assert seen > 100, seen
    rows = list(csv.DictReader(io.StringIO(t.output(
        "delay", t.trace("lost"), "--thread", "all", "--limit", "0", "--format", "csv").decode())))
    assert len(rows) > seen
    for row in rows:
        if row["key"].startswith("blocked/"):
            assert (row["spans_gap"] == "true") == touched(gaps, int(row["begin"]), int(row["end"])), row


def long_calls():
    """A plain state machine invents system calls of two seconds here (the traces' README). The longest that both
    ends were seen of is wait4's 1.009 s, over holes: it, its peak and its row have the mark."""
    report = t.report("profile", t.trace("lost"), "--limit", "0")
    for profile in report["profiles"]:
        assert profile["max_ns"] < 1_100_000_000, profile["operation"]
        assert profile["max_ns"] < 100_000_000 or profile["spans_gap"], profile["operation"]
        assert sum(p.get("spans_gap", 0) for p in profile["peaks"]) <= profile["spans_gap"]
    text = t.output("profile", t.trace("lost")).decode()
    rows = {line.split()[0]: line for line in text.split("\n\n")[1].split("\n")[2:] if line.startswith("  syscall:")}
    for profile in report["profiles"]:
        if profile["operation"] in rows:
            assert (" * " in rows[profile["operation"]]) == (profile["spans_gap"] > 0), rows
    assert "  * some of these span lost events" in text
    overview = t.report("overview", t.trace("lost"), "--limit", "0")
    calls = {c["name"]: c for c in overview["system_calls"]}
    assert calls["wait4"]["spans_gap"] >= 2, calls["wait4"]  # two of about a second, among holes of 1 ms to 0.4 s
    for group in overview["waits"]:
        if group["longest_ns"] > 500_000_000:
            assert group["spans_gap"], group


def verdicts():
    """No line of a verdict speaks of a time that touches a hole without saying so."""
    report = t.report("delay", t.trace("lost"), "--thread", "all", "--limit", "0")
    gaps = gaps_of(report)
    for thread in report["threads"]:
        for block in thread["causality"]:
            assert block["spans_gap"] == touched(gaps, block["begin"], block["end"]), block
        whole = t.report("delay", t.trace("lost"), "--thread", str(thread["tid"]))["verdict"]
        longest = max(thread["causality"], key=lambda b: b["end"] - b["begin"], default=None)
        if longest and longest["spans_gap"] and longest["end"] - longest["begin"] > 1_000_000_000:
            assert any("lost" in line for line in whole), (thread["name"], whole)


def counted():
    """What stands out counts the lost events and the gaps that the coverage lists, and their time: each moment once."""
    report = t.report("overview", t.trace("lost"))
    gaps = report["coverage"]["gaps"]
    item, = [one for one in report["stands_out"] if one["kind"] == "lost-events"]
    ns = until = 0
    for gap in sorted(gaps, key=lambda one: (one["begin"], one["end"])):
        end = min(gap["end"], report["window"]["end"])  # the last one goes on behind the last event
        ns += max(end - max(gap["begin"], until), 0)
        until = max(until, end)
    assert item["sentence"].startswith("Lost events: {:,} events".format(report["coverage"]["discarded_events"])), item
    assert ", %d gaps)" % len(gaps) in item["sentence"] and item["ns"] == ns, (item, len(gaps), ns)


def raw_times(path):
    """timestamp_begin and _end of each packet, in cycles, which are ns here."""
    with open(path, "rb") as file:
        data = file.read()
    return [struct.unpack_from("<QQ", data, at + 32) for at, _ in t.packets(path)]


def early_end():
    """A disk that fills up: the second of CPU 1's two packets was not written. What it did since the first one's end is
    lost up to the trace's last event, both readers say so, and no CPU is blamed for what nobody saw: here writers moved
    to CPU 1 looked as if they had waited a second beside an idle CPU 0. CPUs' streams of the whole trace end at times
    that differ, too, and nothing is lost."""
    assert not t.report("overview", t.trace("lock-lapse"))["coverage"]["gaps"]
    with tempfile.TemporaryDirectory() as place:
        cut = shutil.copytree(t.trace("lock-lapse"), place + "/cut")
        streams = [f for f in t.kernel_files(cut) if os.path.basename(f).startswith("ch_")]
        first, last = streams
        times = raw_times(last)
        assert len(times) == 2 and raw_times(first)[-1][1] != times[-1][1]
        metadata = next(f for f in t.kernel_files(cut) if f.endswith("metadata"))
        with open(metadata, "rb") as file:
            offset = int(re.search(rb"offset = (\d+)", file.read()).group(1))
        os.truncate(last, t.packets(last)[1][0])
        for name in os.listdir(os.path.dirname(last) + "/index"):
            os.remove(os.path.dirname(last) + "/index/" + name)
        os.rmdir(os.path.dirname(last) + "/index")
        text = subprocess.run(["babeltrace2", "--clock-seconds", cut], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=True).stdout.decode()
        seconds, ns = re.match(r"\[(\d+)\.(\d+)\]", text.splitlines()[-1]).groups()
        for reader in ("direct", "babeltrace"):
            report = t.report("overview", cut, "--full", "--reader", reader, "--cache", "off")
            gaps = [(g["cpu"], g["begin"], g["end"]) for g in report["coverage"]["gaps"]]
            assert gaps == [(1, offset + times[0][1], int(seconds + ns))], gaps
            stands = {s["kind"]: s["sentence"] for s in report["stands_out"]}
            assert "recording of CPU 1 ends" in stands["lost-events"], stands
            assert not {"wakeup", "cpu"} & set(stands), stands
        both = [t.output("delay", cut, "--thread", "all", "--format", "json", "--reader", reader, "--cache", "off")
                for reader in ("direct", "babeltrace")]
        assert both[0] == both[1]


for trace in SMALL:
    tap.case("%s with holes: answers only get wider" % trace, wider, trace)
tap.case("lost: instances over holes are marked", marked_instances)
tap.case("lost: no long call without a mark", long_calls)
tap.case("lost: no verdict without a mark", verdicts)
tap.case("lost: what stands out has the coverage's numbers", counted)
tap.case("lock-lapse without the end of a CPU's stream", early_end)
sys.exit(tap.done())
