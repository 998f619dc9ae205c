#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--jobs N: the same bytes with any number of threads, from every reader, of whole and of damaged traces, and the same
errors. What one thread says is checked by all other tests; here only that the others say it too."""
import os
import shutil
import subprocess
import sys
import tempfile

import whylate_test as t

tap = t.Tap()
QUESTIONS = (["overview", "--full"], ["delay", "--thread", "all"], ["profile", "--operation", "*"], ["requests"],
             ["functions"])


def answer(*words):
    done = subprocess.run([t.WHYLATE, *words, "--cache", "off"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout, done.stderr


def same(numbers, *words):
    wanted = answer(*words, "--jobs", "1")
    assert wanted[1] or wanted[0], "nothing is said"
    for number in numbers:
        got = answer(*words, "--jobs", number)
        assert got == wanted, "%s: --jobs %s says status %d, %d bytes; --jobs 1 %d, %d" % (
            " ".join(words), number, got[0], len(got[1]), wanted[0], len(wanted[1]))


def questions(name, numbers, asked):
    for question in asked:
        same(numbers, *question, "--format", "json", t.trace(name))


tap.case("the same bytes with 1, 2, 3 and 8 threads", questions, "startup-chain", ("2", "3", "8"), QUESTIONS)
# what stands out, and for whom: of several hosts, of locks, files and CPUs that several waited for
for name in ("affinity", "web-mixed", "pool-wait", "cfs-quota", "sqlite-busy", "fork4"):
    tap.case("%s: the same bytes with 1 and 8 threads" % name, questions, name, ("8",), QUESTIONS[:3])
for name in ("two-hosts-server", "ust-func", "callstack", "lost"):
    tap.case("%s: the same bytes with 1 and 2 threads" % name, questions, name, ("2",), QUESTIONS[:2])


def kept():
    """Of a trace that was read before: what was looked up while its events were followed is not known then."""
    with tempfile.TemporaryDirectory() as cache:
        for question in QUESTIONS[:3]:
            words = [t.WHYLATE, *question, "--format", "json", "--cache", cache, t.trace("web-mixed"), "--jobs"]
            wanted = subprocess.run([*words, "1"], stdout=subprocess.PIPE, check=True).stdout
            for number in ("8", "2", "1"):
                got = subprocess.run([*words, number], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
                assert got.stdout == wanted and not got.stderr, (question, number, got.stderr)


tap.case("of a trace that is kept", kept)


def through_babeltrace():
    same(("2", "8"), "overview", "--reader", "babeltrace", t.trace("startup-chain"))
    same(("2", "8"), "delay", "--thread", "all", "--format", "json", "--reader", "babeltrace", t.trace("callstack"))


tap.case("through Babeltrace too", through_babeltrace)


def stretches():
    same(("2",), "overview", "--every", "10ms", "--format", "json", t.trace("startup-chain"))
    same(("2",), "delay", "--thread", "all", "--from", "+5ms", "--to", "+20ms", t.trace("startup-chain"))
    same(("2",), "export", "--as", "csv", "--output", "-", t.trace("startup-chain"))


tap.case("stretches, a window, an export", stretches)


def damaged():
    """Stream files cut in the middle of a packet, and one with its bytes changed."""
    with tempfile.TemporaryDirectory() as scratch:
        place = os.path.join(scratch, "trace")
        shutil.copytree(t.trace("startup-chain"), place)
        files = sorted((os.path.getsize(os.path.join(folder, n)), os.path.join(folder, n))
                       for folder, _, names in os.walk(place) for n in names if n != "metadata")
        os.truncate(files[-1][1], files[-1][0] * 2 // 3)
        with open(files[-2][1], "r+b") as file:
            file.seek(files[-2][0] // 2)
            file.write(b"\xa5" * 600)
        assert answer("overview", place)[0] == 4
        same(("2", "8"), "overview", "--full", "--format", "json", place)
        same(("2", "8"), "delay", "--thread", "all", "--format", "json", place)


tap.case("a damaged trace", damaged)


def two_traces():
    """Both are read at the same time, and each side of the report is made beside the other; where events are named, one
    after the other: a filter keeps what it met."""
    base, nap = (os.path.join(t.trace("whatif-startup"), name) for name in ("startup-base", "startup-nap0"))
    for form in ("json", "text"):
        same(("2", "8"), "diff", "--format", form, t.trace("web-mixed"), t.trace("pool-wait"))
        same(("2",), "diff", "--format", form, t.trace("startup-chain"), t.trace("web-mixed"))
    same(("2", "8"), "diff", base, nap)
    same(("2", "8"), "diff", base, nap, "--target", "sched_process_exec filename=*/autostart")
    same(("2",), "diff", base, nap, "--begin", "sched_process_fork", "--end", "sched_process_exit")
    same(("2",), "diff", base, base, "--reader", "babeltrace")
    same(("2",), "diff", base, os.path.join(base, "none"))
    same(("2",), "diff", os.path.join(base, "none"), base)
    same(("2",), "diff", os.path.join(base, "no"), os.path.join(base, "none"))


tap.case("a diff of two traces", two_traces)


def wrong():
    for number in ("0", "-1", "many", "", "1025"):
        status, out, err = answer("overview", "--jobs", number, t.trace("startup-chain"))
        assert status == 2 and not out and b"--jobs" in err, (number, status, err)


tap.case("a number that is none", wrong)
sys.exit(tap.done())
