#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Input that is well formed but cannot be: packets at a time far from all others, names cut in the middle of a
character; and files beside the trace that were damaged: saved profiles, kallsyms. (Damaged traces: reader.t.)"""
import json
import os
import random
import shutil
import struct
import sys
import tempfile

import ctf
import whylate_test as t

tap = t.Tap()
TRIALS = 400 if os.environ.get("WHYLATE_LONG") else 25
TIMES_AT = 24 + 8       # of begin and end in a packet of lttng-modules 2.13, behind header and instance


class Raw(str):
    """Text whose bytes are no UTF-8, for ctf.py."""

    def encode(self):
        return str.encode(self, "latin-1")


def copy_of(name, place):
    shutil.copytree(t.trace(name), place + "/t")
    for folder, _, files in os.walk(place + "/t"):
        if folder.endswith("kernel"):
            return sorted(os.path.join(folder, f) for f in files if f != "metadata")
    raise AssertionError(name)


def packets(data):
    at = 0
    while at < len(data):
        yield at
        at += struct.unpack_from("<Q", data, at + TIMES_AT + 24)[0] // 8


def report_of(directory, status):
    done = t.run("delay", "--thread", "all", "--format", "json", "--quiet", directory)
    assert done.returncode == status, (done.returncode, done.stderr)
    return json.loads(done.stdout)


def far_packet(name, shift):
    """A packet whose begin and end are both set decades away costs its own events, and the trace stays as long as
    it was. What is left is counted without it: the same trace with that packet taken out of its file."""
    chance = random.Random(name)
    whole = report_of(t.trace(name), 0)
    with tempfile.TemporaryDirectory() as place:
        streams = copy_of(name, place)
        path = max(streams, key=lambda p: sum(1 for _ in packets(open(p, "rb").read())))
        with open(path, "rb") as file:
            data = file.read()
        at = chance.choice(list(packets(data))[1:-1])
        begin, end = struct.unpack_from("<QQ", data, at + TIMES_AT)
        size = struct.unpack_from("<Q", data, at + TIMES_AT + 24)[0] // 8
        with open(path, "r+b") as file:
            file.seek(at + TIMES_AT)
            file.write(struct.pack("<QQ", (begin + shift) % 2**64, (end + shift) % 2**64))
        far = report_of(place + "/t", 4)
        with open(path, "wb") as file:
            file.write(data[:at] + data[at + size:])
        without = report_of(place + "/t", 0)
    assert far["coverage"]["events"] == without["coverage"]["events"] < whole["coverage"]["events"]
    assert far["hosts"][0]["begin"] == whole["hosts"][0]["begin"] and far["hosts"][0]["end"] == whole["hosts"][0]["end"]
    assert len(far["coverage"]["damage"]) == 1, far["coverage"]["damage"]


def far_clock():
    """A clock of which nothing is a time leaves no packet; said, not guessed."""
    with tempfile.TemporaryDirectory() as place:
        trace = ctf.Trace({"other": []})
        trace.event(5, 0, "other")
        trace.write(place + "/t")
        with open(place + "/t/metadata", "r+", encoding="ascii") as file:
            text = file.read()
            file.seek(0)
            file.write(text.replace("offset = %d" % ctf.OFFSET, "offset = %d" % (2**63 - 1)))
        done = t.run("overview", place + "/t")
    assert done.returncode == 3 and not done.stdout and b"damaged" in done.stderr, (done.returncode, done.stderr)


def cut_names():
    """comm is cut at 15 bytes, wherever a character ends (here after one of three of U+20AC); patterns still fit,
    and say nothing of UTF-8 themselves."""
    with tempfile.TemporaryDirectory() as place:
        trace = ctf.Trace({"sched_switch": [("prev_comm", "string"), ("prev_tid", "i32"), ("prev_prio", "i32"),
                                            ("prev_state", "i64"), ("next_comm", "string"), ("next_tid", "i32"),
                                            ("next_prio", "i32")],
                           "sched_process_exec": [("filename", "string"), ("tid", "i32"), ("old_tid", "i32")]})
        name = Raw("abcdefghijklmn\xe2")
        idle = {"prev_comm": "swapper/0", "prev_tid": 0, "prev_prio": 20, "prev_state": 0}
        trace.event(100, 0, "sched_switch", **idle, next_comm=name, next_tid=7, next_prio=20)
        trace.event(200, 0, "sched_process_exec", filename=Raw("/bin/\xf0x\xc3"), tid=7, old_tid=7)
        trace.event(300, 0, "sched_switch", prev_comm=name, prev_tid=7, prev_prio=20, prev_state=1,
                    next_comm="swapper/0", next_tid=0, next_prio=20)
        trace.write(place + "/t")
        for arguments in (("--target", "sched_process_exec filename=*/?x*"),
                          ("--target", b"sched_process_exec filename=*\xc3"), ("--thread", b"*\xc3"),
                          ("--thread", "*x?"), ("--thread", "?x*"), ("--process", "/?x?")):
            found = t.run("delay", *arguments, "--format", "json", "--quiet", place + "/t")
            expected = 2 if arguments[0] == "--process" else 0
            assert found.returncode == expected, (arguments, found.returncode, found.stderr)
            if not expected:
                assert [thread["tid"] for thread in json.loads(found.stdout)["threads"]] == [7], arguments
            else:
                assert not found.stdout and found.stderr.count(b"\n") == 1, found.stderr


def overwrite(data, chance):
    how, at, length = chance.randrange(4), chance.randrange(len(data)), chance.randrange(1, 40)
    if how == 0:
        return data[:at]
    if how == 1:
        return data[:at] + data[at:at + length] * 3 + data[at + length:]
    if how == 2:
        return data[:at] + chance.choice((b"-1", b"9" * 18, b"null", b"{}", b"\0", b"\"")) + data[at + 1:]
    return data[:at] + chance.randbytes(len(data[at:at + length])) + data[at + length:]


def damaged(name, data, *arguments):
    """Whatever is in the file: a report, or one line that names the file and no report."""
    refused = 0
    for seed in range(TRIALS):
        with tempfile.TemporaryDirectory() as place:
            with open(place + "/f", "wb") as file:
                file.write(overwrite(data, random.Random("%s %d" % (name, seed))))
            done = t.run(*arguments, place + "/f", "--quiet", "--format", "json", t.trace("hang"))
        assert done.returncode in (0, 2), (seed, done.returncode, done.stderr[-400:])
        if done.returncode:
            assert not done.stdout and done.stderr.count(b"\n") == 1 and b"/f: " in done.stderr, (seed, done.stderr)
            refused += 1
        else:
            json.loads(done.stdout)
    assert 0 < refused < TRIALS, refused


def saved(option):
    with tempfile.TemporaryDirectory() as place:
        t.output("profile", "--operation", "syscall:f*", "--save", place + "/s", "--quiet", t.trace("hang"))
        with open(place + "/s", "rb") as file:
            data = file.read()
    damaged(option, data, "profile", "--operation", "syscall:f*", "--force", option) if option == "--resume" else \
        damaged(option, data, "profile", "--operation", "syscall:f*", option)


SYMBOLS = b"".join(b"%x t function_%d\t[module]\n" % (0xffffffff81000000 + 64 * i, i) for i in range(200))

tap.case("callstack: a packet 36 years later", far_packet, "callstack", 1 << 60)
tap.case("callstack: a packet 36 years earlier", far_packet, "callstack", -(1 << 60))
tap.case("a clock that is none", far_clock)
tap.case("names cut in a character", cut_names)
tap.case("damaged profiles for --compare", saved, "--compare")
tap.case("damaged profiles for --resume", saved, "--resume")
tap.case("damaged kallsyms", damaged, "kallsyms", SYMBOLS, "overview", "--kallsyms")
sys.exit(tap.done())
