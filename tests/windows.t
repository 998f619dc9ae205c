#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A window of a trace that is passed over around it (--lead-in DURATION) is answered as where all is read (--lead-in all):
the expected report is that one, which the other tests check. Only what is named below may be less known."""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import whylate_test as t

tap = t.Tap()
# what a timer, a packet or a request that was on its way for longer may lose; nothing may be said instead
# packets to a socket of several threads are told under one of them, who was first
ONE_OF = re.compile(r"^(for packets from .* to .*) \(\d+\)$")
# bytes behind a packet's begin, of LTTng's kernel traces; ms, in the last packet of zero-read
PACKET_SIZE, DISCARDED, LATE = 32 + 24, 32 + 40, 2250
LESS = ("timer, not seen when it was armed",)


def ask(trace, begin, length, lead, *words):
    done = subprocess.run([t.WHYLATE, *words, "--cache", "off", "--from", "+%dms" % begin, "--to", "+%dms" % length,
                           "--lead-in", lead, trace], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    assert done.returncode in (0, 4), done.stderr
    return done.stdout


def report(*question):
    return json.loads(ask(*question, "delay", "--thread", "all", "--format", "json"))


def differences(whole, passed, path=""):
    """Where the second says something else, but for what it may not know."""
    if isinstance(whole, dict) and isinstance(passed, dict):
        for key in sorted(set(whole) | set(passed)):
            if key != "coverage":
                yield from differences(whole.get(key), passed.get(key), path + "/" + key)
    elif isinstance(whole, list) and isinstance(passed, list) and len(whole) == len(passed):
        for number, pair in enumerate(zip(whole, passed)):
            yield from differences(*pair, "%s[%d]" % (path, number))
    elif whole != passed and not (path.endswith("/label") and passed is not None and whole is not None and
                                  (passed in LESS or ONE_OF.sub(r"\1", passed) == ONE_OF.sub(r"\1", whole))):
        yield "%s: %s, read whole %s" % (path, passed, whole)


def same(name, begin, length, lead):
    whole, passed = (report(t.trace(name), begin, length, how) for how in ("all", lead))
    assert "read_from" not in whole["coverage"] and "read_until" not in whole["coverage"]
    assert passed["coverage"]["read_from"] == passed["window"]["begin"] - int(lead[:-2]) * 1000000
    assert passed["coverage"]["events"] < whole["coverage"]["events"]
    found = list(differences(whole, passed))
    assert not found, "%d differences: %s" % (len(found), "\n".join(found[:10]))


# the trace, where the window begins and how long it is (ms): in its middle, with waits that begin and end outside
for case in (("startup-chain", 500, 100), ("web-mixed", 900, 250), ("futex", 200, 60), ("make-chain", 400, 100),
             ("fork4", 700, 200), ("disk-read", 500, 100), ("preempt", 500, 100), ("two-hosts-server", 900, 200)):
    tap.case("%s from %d ms on: as read whole" % case[:2], same, *case, "300ms" if case[1] > 300 else "50ms")


def any_jobs():
    """Threads that pass over CPUs beside each other tell the same."""
    trace = t.trace("web-mixed")
    wanted = ask(trace, 900, 250, "300ms", "delay", "--thread", "all", "--format", "json", "--jobs", "1")
    for jobs in ("2", "3", "8"):
        assert wanted == ask(trace, 900, 250, "300ms", "delay", "--thread", "all", "--format", "json", "--jobs", jobs), jobs


tap.case("the same bytes with 1, 2, 3 and 8 threads", any_jobs)


def read_whole(name, *words):
    """Lost events, call stacks: nothing is passed over."""
    whole, passed = (ask(t.trace(name), 500, 100, lead, *words) for lead in ("all", "10ms"))
    assert whole == passed


tap.case("lost events before it: all is read", read_whole, "lost", "delay", "--thread", "all", "--format", "json")
tap.case("call stacks: all is read", read_whole, "callstack", "delay", "--thread", "all", "--format", "json")


def damaged():
    """A packet before the window that makes no sense: all is read, and the damage is told as if nothing had been passed
    over."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(t.trace("web-mixed"), place + "/trace")
        path = max((f for f in t.kernel_files(place + "/trace") if os.path.basename(f) != "metadata"),
                   key=os.path.getsize)
        with open(path, "r+b") as file:
            file.seek(os.path.getsize(path) // 8)
            file.write(b"\xff" * 64)
        whole, passed = (ask(place + "/trace", 900, 250, lead, "delay", "--thread", "all", "--format", "json")
                         for lead in ("all", "10ms"))
        whole, passed = json.loads(whole), json.loads(passed)
        assert whole["coverage"]["damage"] and "read_from" not in passed["coverage"], passed["coverage"]
        for member in ("damage", "gaps"):
            assert whole["coverage"][member] == passed["coverage"][member], passed["coverage"]
        assert not list(differences(whole, passed))


tap.case("damage before it: all is read", damaged)


def lost_late():
    """Events lost before the seventh of ten packets: passing over begins, and is given up behind six packets; what was
    copied of the first one to read it is read again."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(t.trace("zero-read"), place + "/trace")
        path = next(f for f in t.kernel_files(place + "/trace") if os.path.basename(f) != "metadata")
        with open(path, "r+b") as file:
            packets, at = [], 0
            while at < os.path.getsize(path):
                file.seek(at + PACKET_SIZE)
                packets.append(at)
                at += struct.unpack("<Q", file.read(8))[0] // 8
            assert len(packets) == 10
            for at in packets[6:]:
                file.seek(at + DISCARDED)
                file.write(struct.pack("<Q", 7))
        whole, passed = (report(place + "/trace", LATE, 50, lead) for lead in ("all", "10ms"))
        assert "read_from" not in passed["coverage"] and not list(differences(whole, passed))
        for member in ("discarded_events", "gaps"):
            assert whole["coverage"][member] == passed["coverage"][member], passed["coverage"]
        assert whole["coverage"]["discarded_events"] == 7, whole["coverage"]


tap.case("events lost late before it: all is read", lost_late)


def said():
    text = ask(t.trace("web-mixed"), 900, 250, "300ms", "delay", "--thread", "webclient").decode()
    assert "only what lasts was read" in text and "--lead-in all" in text, text[-1500:]
    wrong = subprocess.run([t.WHYLATE, "delay", "--lead-in", "1s", t.trace("web-mixed")], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=False)
    assert wrong.returncode == 2 and b"--from" in wrong.stderr, wrong


tap.case("the coverage says what was passed over; without a window it is refused", said)
sys.exit(tap.done())
