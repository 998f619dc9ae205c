#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hostile names, through the whole way of the data: control characters, escape sequences, invalid UTF-8, quotes, commas,
markup, formulas, kilobytes. A terminal never gets one, JSON is valid UTF-8, CSV is RFC 4180's and no formula. Numbers,
depths and sizes: tests/unit/test_hostile.c."""
import csv
import io
import json
import sys
import tempfile

import ctf
import whylate_test as t

tap = t.Tap()
NAMES = [b"\x1b[2J\x1b]0;owned\x07", b"a\nb\rc\td\x08e", b"\xff\xfe\xc3\x28", b"\xc2\x9b31m", b"\xe2\x80\xae drow",
         b'q"u,o\'te;', b"<b>&amp;</b>", b"=cmd|' /C calc'!A0", b"+1+1", b"-2", b"@SUM(1)", b"\t=1+1", b"%s%n%s", b"",
         b"x" * 1000, b"y\x1b[31m" * 13000, "\u0085\u2028\u00e9".encode()]


class Bytes(bytes):
    """What ctf.py writes as a string."""

    def encode(self):
        return bytes(self)


def written(directory):
    trace = ctf.Trace({
        "sched_switch": [("prev_comm", "string"), ("prev_tid", "i32"), ("prev_prio", "i32"), ("prev_state", "i64"),
                         ("next_comm", "string"), ("next_tid", "i32"), ("next_prio", "i32")],
        "sched_wakeup": [("comm", "string"), ("tid", "i32"), ("prio", "i32"), ("target_cpu", "i32")],
        "sched_process_exec": [("filename", "string"), ("tid", "i32"), ("old_tid", "i32")],
        "syscall_entry_openat": [("dfd", "i32"), ("filename", "string"), ("flags", "i32"), ("mode", "u32")],
        "syscall_exit_openat": [("ret", "i64")],
        "syscall_entry_read": [("fd", "u32"), ("count", "u64")],
        "syscall_exit_read": [("ret", "i64")]}, hostname="host")
    time = 0

    def event(name, **values):
        nonlocal time
        time += 1000000
        trace.event(time, 0, name, **values)

    def switch(prev, prev_tid, state, following, tid):
        event("sched_switch", prev_comm=Bytes(prev), prev_tid=prev_tid, prev_prio=20, prev_state=state,
              next_comm=Bytes(following), next_tid=tid, next_prio=20)
    for number, name in enumerate(NAMES):
        switch(b"idle", 0, 0, name, 100 + number)
        event("sched_process_exec", filename=Bytes(b"/bin/" + name), tid=100 + number, old_tid=100 + number)
        event("syscall_entry_openat", dfd=-100, filename=Bytes(b"/file/" + name), flags=0, mode=0)
        event("syscall_exit_openat", ret=3)
        event("syscall_entry_read", fd=3, count=1)
        switch(name, 100 + number, 1, b"idle", 0)
        event("sched_wakeup", comm=Bytes(name), tid=100 + number, prio=20, target_cpu=0)
        switch(b"idle", 0, 0, name, 100 + number)
        event("syscall_exit_read", ret=1)
        switch(name, 100 + number, 0, b"idle", 0)
    return trace.write(directory)


def controls(text):
    """Characters that a terminal may act upon; and marks that turn text round."""
    return sorted({c for c in text if (ord(c) < 32 and c != "\n") or 0x7f <= ord(c) < 0xa0 or
                   0x202a <= ord(c) <= 0x202e or 0x2066 <= ord(c) <= 0x2069 or c in "\u2028\u2029"})


def in_text(path, command):
    for options in ([], ["--verbose", "--limit", "0"]):
        assert not controls(t.output(*command, *options, path).decode("utf-8")), command


def in_json(path, command):
    report = json.loads(t.output(*command, path, "--format", "json").decode("utf-8"))
    if "all" in command:
        names = {thread["name"] for thread in report["threads"]}
        assert {n.decode() for n in NAMES if n.isascii() and n} <= names, names


def in_csv(path):
    text = t.output("delay", "--thread", "all", "--limit", "0", "--format", "csv", path).decode("utf-8")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert len({len(row) for row in rows}) == 1 and len(rows) > 3 * len(NAMES)
    assert text.count("\r\n") == len(rows), "a row is not a line"
    number = rows[0].index("tid")
    for row in rows[1:]:
        for i, cell in enumerate(row):
            assert not cell or cell[0] not in "=+-@" or (i == number and cell.lstrip("-").isdigit()), cell[:80]
        assert not controls("".join(row)), row


def refused(path):
    """Messages on standard error name what was asked for; the terminal gets it as it may."""
    for value in ("\x1b[31mx", "a\nb"):
        for arguments in (["delay", "--thread", value, path], ["delay", "--target", value, path], ["overview", value + "/t"],
                          ["overview", path, "--" + value]):
            done = t.run(*arguments)
            err = done.stderr.decode()
            assert done.returncode in (2, 3) and not controls(err) and err.count("\n") == 1, (arguments, err)


with tempfile.TemporaryDirectory() as scratch:
    place = written(scratch + "/t")
    for what in (["delay", "--thread", "all"], ["delay", "--thread", "100"], ["overview"], ["profile", "--operation", "*"]):
        tap.case("text: " + " ".join(what), in_text, place, what)
        tap.case("JSON: " + " ".join(what), in_json, place, what)
    tap.case("CSV", in_csv, place)
    tap.case("messages", refused, place)
sys.exit(tap.done())
