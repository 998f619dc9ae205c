#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""whylate check: what each shipped trace lacks, as the traces' README has it and babeltrace2's metadata shows; what
it says is what the reports' coverage says; both ways in."""
import json
import os
import re
import shutil
import sys
import tempfile

import ctf
import whylate_test as t

tap = t.Tap()
COMMANDS = ["overview", "delay", "profile", "requests", "diff", "functions"]


def found(*arguments):
    report = t.report("check", *arguments)
    assert [c["command"] for c in report["commands"]] == COMMANDS
    return {c["command"]: c["answer"] for c in report["commands"]}, {f["name"]: f for f in report["findings"]}


def whole():
    """Recorded with all the events that the README names: nothing but refinements is missing."""
    for name in ("startup-chain", "wide", "disk-read", "futex", "ust-func"):
        answers, findings = found(t.trace(name))
        assert set(answers.values()) == {"yes"}, (name, answers, findings)
        assert not any(f["impossible"] or f["degraded"] for f in findings.values()), (name, findings)
    # wide alone has block bios and work queues; only callstack has call stacks and symbols
    assert {"block_bio_queue", "workqueue_queue_work"} <= set(found(t.trace("disk-read"))[1])
    assert set(found(t.trace("wide"))[1]) == {"kallsyms", "callstack-kernel", "samples (callstack-user)", "functions"}
    assert "callstack-kernel" not in found(t.trace("callstack"))[1]


def callstack():
    """"callstack has no page faults, vectors or network events" (the traces' README)."""
    answers, findings = found(t.trace("callstack"))
    assert {"x86_irq_vectors_local_timer_entry", "x86_exceptions_page_fault_user",
            "net_if_receive_skb"} <= set(findings), findings
    assert answers["delay"] == "degraded"
    # Debian's modules have no such events: that is a poorer answer, not a degraded one for ever
    assert findings["x86_exceptions_page_fault_user"]["degraded"] == []
    assert "x86_exceptions" in findings["x86_exceptions_page_fault_user"]["remedy"]


def snapshot():
    answers, findings = found(t.trace("snapshot"))
    assert set(answers.values()) == {"degraded"}
    dump = findings["lttng_statedump_process_state"]
    assert dump["kind"] == "statedump" and "regenerate statedump" in dump["remedy"], dump
    # the rings of the two CPUs reach back differently far: the first packets' begins (babeltrace2) are 972 ms apart
    late, = [f for f in findings.values() if f["kind"] == "trace"]
    assert late["name"].startswith("CPU 0") and "972" in late["means"], late


def lost():
    answers, findings = found(t.trace("lost"))
    hole, = [f for f in findings.values() if f["kind"] == "lost-events"]
    assert "267955 events" in hole["name"] and "--subbuf-size" in hole["remedy"], hole
    assert findings["tid"]["kind"] == "context" and "lost events" in findings["tid"]["means"]
    assert set(answers.values()) == {"degraded"}
    assert t.run("check", t.trace("lost"), "--strict").returncode == 4


def without_waking():
    """A trace that has sched_wakeup alone, as where sched_waking was not enabled (its name is taken from the metadata of
    one that has both): check says that wakers are less certain; who is then named as waker is who it was, or nobody."""
    def wakers(trace):
        threads = t.report("delay", trace, "--thread", "stage-*", "--limit", "0")["threads"]
        return {(x["tid"], b["begin"]): (b["woken_by"]["kind"], b["woken_by"].get("tid"))
                for x in threads for b in x["causality"]}

    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(t.trace("pipe-chain"), folder + "/t")
        path, = [p for p in t.kernel_files(copy) if p.endswith("metadata")]
        with open(path, "r+b") as file:
            data = file.read()
            assert data.count(b'name = "sched_waking"') == 1
            file.seek(0)
            file.write(data.replace(b'name = "sched_waking"', b'name = "sched_unread"'))
        answers, findings = found(copy)
        assert set(answers.values()) == {"degraded"}, answers
        lack = findings["sched_waking"]
        assert lack["degraded"] == COMMANDS and "sched_waking" in lack["remedy"], lack
        assert "waker" in lack["means"] or "woke" in lack["means"], lack
        both, alone = wakers(t.trace("pipe-chain")), wakers(copy)
        missing = t.report("delay", copy, "--thread", "stage-a")["coverage"]["missing"]
    assert "sched_waking" not in found(t.trace("pipe-chain"))[1]
    assert any(m.startswith("sched_waking") for m in missing), missing
    assert set(both) == set(alone) and len(both) > 100
    changed = {key: (both[key], alone[key]) for key in both if both[key] != alone[key]}
    assert changed and all(now[0] == "unknown" for _, now in changed.values()), changed


def user_trace():
    _, findings = found(t.trace("ust-func"))
    beside, = [f for f in findings.values() if f["kind"] == "user-trace"]
    assert beside["name"].startswith("1 user-space trace") and not beside["degraded"], beside
    assert not any(f["kind"] == "user-trace" for f in found(t.trace("wide"))[1].values())


def same_as_coverage():
    """Each line of a report's coverage is a finding of check, with the same words."""
    for name in ("callstack", "snapshot", "lost", "polls"):
        _, findings = found(t.trace(name))
        for line in t.report("overview", t.trace(name))["coverage"]["missing"]:
            head = line.split(": ")[0]
            assert head in findings, (name, line)
            assert findings[head]["means"].split(";")[0] in line, (name, line)


def both_ways():
    for name in ("lost", "snapshot", "callstack"):
        direct = t.output("check", t.trace(name), "--quiet")
        assert direct == t.output("check", t.trace(name), "--quiet", "--reader", "babeltrace"), name


def refuses(command, path, missing, impossible):
    """What check calls "no" is not answered: status 4 and one line, what is missing and how it is recorded; with
    --force the caution stands first, in JSON too."""
    asked = [command, path] + {"diff": ["--slow-fast", "p50"], "delay": ["--thread", "all"]}.get(command, [])
    done = t.run(*asked)
    if not impossible:
        if command == "diff":  # it has an answer, but no requests to give one of
            return
        assert done.returncode == 0, (command, done)
        return
    lines = done.stderr.decode().strip().split("\n")
    assert done.returncode == 4 and not done.stdout and len(lines) == 1, (command, done)
    assert missing in lines[0] and "lttng enable-event -k" in lines[0] and "--force" in lines[0], lines
    if command == "diff":  # between what? there is no request
        assert t.run(*asked, "--force").stdout == b""
        return
    done = t.run(*asked, "--force")
    first = done.stdout.decode().split("\n")[0]
    assert done.returncode == 0 and first.startswith("CAUTION: ") and missing in first, (command, done)
    assert missing in t.report(*asked, "--force")["coverage"]["caution"], command


def most_lost():
    """95 % of lost's events are lost (README of the traces): said first. Of a whole trace nothing is."""
    assert t.output("delay", t.trace("lost"), "--thread", "bash").startswith(b"CAUTION: 95 % of the events were lost")
    assert b"CAUTION" not in t.output("overview", t.trace("polls"))
    assert "caution" not in t.report("overview", t.trace("polls"))["coverage"]


def either():
    """Without switches, or without system calls: what cannot be answered at all, and the reports' coverage says so."""
    switch = [("prev_comm", "string"), ("prev_tid", "i32"), ("prev_prio", "i32"), ("prev_state", "i64"),
              ("next_comm", "string"), ("next_tid", "i32"), ("next_prio", "i32")]
    classes = {"sched_switch": switch, "syscall_entry_read": [("fd", "u32"), ("count", "u64")],
               "syscall_exit_read": [("ret", "i64")]}
    for left, missing, answers in (
            ("syscall", "sched_switch", {"overview": "no", "delay": "no", "profile": "degraded", "requests": "no", "diff": "no",
                                          "functions": "no"}),
            ("sched", "system calls", {"overview": "degraded", "delay": "degraded", "profile": "degraded", "requests": "no",
                                       "diff": "degraded", "functions": "degraded"})):
        trace = ctf.Trace({name: fields for name, fields in classes.items() if name.startswith(left)})
        for i in range(4):
            a, b = ("a", "b") if i % 2 else ("b", "a")
            if left == "sched":
                trace.event(1000 * i, 0, "sched_switch", prev_comm=a, prev_tid=ord(a), prev_prio=20, prev_state=0,
                            next_comm=b, next_tid=ord(b), next_prio=20)
            elif i % 2:
                trace.event(1000 * i, 0, "syscall_exit_read", ret=0)
            else:
                trace.event(1000 * i, 0, "syscall_entry_read", fd=0, count=1)
        with tempfile.TemporaryDirectory() as folder:
            path = trace.write(folder + "/t")
            told, findings = found(path)
            assert told == answers, (left, told)
            assert findings[missing]["impossible"] == [c for c in COMMANDS if answers[c] == "no"], findings[missing]
            coverage = t.report("requests", path, "--force")["coverage"]["missing"]
            assert any(line.startswith(missing + ": ") for line in coverage), coverage
            for command, answer in answers.items():
                refuses(command, path, missing, answer == "no")


def network():
    """callstack has no network events: of requests and their difference something lacks, as of delay."""
    findings = found(t.trace("callstack"))[1]
    assert findings["net_if_receive_skb"]["degraded"] == COMMANDS, findings["net_if_receive_skb"]
    missing = t.report("requests", t.trace("callstack"))["coverage"]["missing"]
    assert any(line.startswith("net_if_receive_skb: ") for line in missing), missing


def text():
    lines = t.output("check", t.trace("lost")).decode()
    assert re.search(r"^  delay +partly +Why was the target not reached sooner\?", lines, re.M), lines
    assert "lttng enable-channel -k" in lines and "lttng add-context -k -t tid" in lines


def answer():
    """The first lines: which questions can be answered, the gravest that is missing, the line that records it. What is
    missing in which trace is in the README of the traces."""
    def told(name):
        report = t.report("check", t.trace(name))
        text = " ".join(t.output("check", t.trace(name)).decode().split("\n\n")[0].split())
        assert all(sentence in text for sentence in report["answer"]), (name, text)
        return report["answer"], report["record_with"]

    sentences, line = told("startup-chain")
    assert sentences == ["This trace answers every question: all that the answers rest on was recorded."], sentences
    assert line == "lttng enable-event -k 'block_rq_*,block_bio_*,block_split,workqueue_*'", line
    sentences, line = told("callstack")  # "no network events"
    assert "in part only" in sentences[0] and sentences[1].startswith("Not recorded: net_if_receive_skb: "), sentences
    assert line == "lttng enable-event -k 'net_*'", line
    sentences, line = told("lost")  # "267,955 events discarded", no contexts: after a gap nobody knows who runs
    assert sentences[1].startswith("Events were lost (") and "267955 events" in sentences[1], sentences
    assert line.startswith("lttng enable-channel -k ") and line.endswith(" NAME && lttng add-context -k -c NAME -t tid"), line
    sentences, line = told("wide")  # nothing but call stacks and functions, which cost too much to record by the way
    assert len(sentences) == 1 and line is None, (sentences, line)
    # a trace of nothing but switches: what to record then is all
    trace = ctf.Trace({"sched_switch": [("prev_comm", "string"), ("prev_tid", "i32"), ("prev_prio", "i32"), ("prev_state", "i64"),
                                        ("next_comm", "string"), ("next_tid", "i32"), ("next_prio", "i32")]})
    for i in range(4):
        trace.event(1000 * i, 0, "sched_switch", prev_comm="ab"[i % 2], prev_tid=7 + i % 2, prev_prio=20, prev_state=0,
                    next_comm="ba"[i % 2], next_tid=8 - i % 2, next_prio=20)
    with tempfile.TemporaryDirectory() as folder:
        report = t.report("check", trace.write(folder + "/t"))
    assert report["answer"][0] == "This trace answers in part: overview, delay, profile, diff, functions; not at all: requests."
    assert report["record_with"] == "whylate record -- PROGRAM", report["record_with"]


def damaged():
    """A stream cut short is named, and the status is 4."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(t.trace("polls"), folder + "/t")
        files = [os.path.join(d, f) for d, _, names in os.walk(copy) for f in names]
        path = max((f for f in files if not f.endswith("metadata")), key=os.path.getsize)  # of the busiest channel
        os.truncate(path, os.path.getsize(path) - 5000)
        done = t.run("check", copy, "--format", "json")
        assert done.returncode == 4, done
        kinds = {f["kind"]: f for f in json.loads(done.stdout)["findings"]}
        assert kinds["damage"]["name"].endswith(os.path.basename(path)), kinds
        assert "cut short" in kinds["damage"]["means"] and "lost" in kinds["damage"]["means"], kinds
        assert kinds["lost-events"]["remedy"] is None, kinds  # no buffer keeps a file from being cut
        # one hole from the cut to the channel's end, told once, and not past what the other streams tell
        gaps = json.loads(done.stdout)["coverage"]["gaps"]
        assert len({(g["begin"], g["end"]) for g in gaps}) == len(gaps), gaps


tap.case("traces with all that is needed", whole)
tap.case("callstack lacks page faults, vectors, network", callstack)
tap.case("snapshot: no statedump, a CPU that begins late", snapshot)
tap.case("lost: holes", lost)
tap.case("without sched_waking: wakers less certain", without_waking)
tap.case("ust-func: a user-space trace beside it", user_trace)
tap.case("the same words as the coverage", same_as_coverage)
tap.case("read directly and through Babeltrace", both_ways)
tap.case("no switches, no system calls", either)
tap.case("most events lost: said first", most_lost)
tap.case("no network events", network)
tap.case("text", text)
tap.case("the answer, and the line that mends it", answer)
tap.case("a damaged stream", damaged)
sys.exit(tap.done())
