# SPDX-License-Identifier: MIT
"""Killed, or out of room, at every step of what is written: stop_at (tests/unit/stop_at.c) counts the system calls that
make, change, name or remove a file. Nothing is damaged, nothing is left behind."""
import errno
import os
import subprocess
import sys
import tempfile

import whylate_test as t

tap = t.Tap()
TRACE = t.trace("startup-chain")
NOT_REACHED = 99
WANTED = t.output("overview", TRACE)


def stopped(step, how, *arguments):
    return subprocess.run([t.BUILD + "/stop_at", str(step), str(how), t.WHYLATE, *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=600)


FAILURES = [errno.ENOSPC, errno.EIO]


def steps(hows, *arguments):
    """Each step by its number, with what came of it, until there are no more; stopped in these ways in turn."""
    for step in range(1, 10000):
        with tempfile.TemporaryDirectory() as place:
            done = stopped(step, hows[step % len(hows)], *[a.replace("PLACE", place) for a in arguments])
            if done.returncode == NOT_REACHED:
                assert step > 5, step
                return
            yield step, place, done


def image_killed():
    """What there is afterwards is used, or made anew; of the steps at most one leaves a file that has no final name."""
    left = 0
    for step, place, _ in steps(["kill"], "overview", "--cache", "PLACE/kept", TRACE):
        names = os.listdir(place + "/kept") if os.path.isdir(place + "/kept") else []
        left += any(name.startswith("new-") for name in names)
        assert len(names) <= 1, (step, names)
        for _ in range(2):
            assert t.output("overview", "--cache", place + "/kept", TRACE) == WANTED, step
    assert left <= 2, left


def image_full():
    """The answer is the same, and what was begun is gone."""
    for step, place, done in steps(FAILURES, "overview", "--cache", "PLACE/kept", TRACE):
        names = os.listdir(place + "/kept") if os.path.isdir(place + "/kept") else []
        assert done.returncode == 0 and done.stdout == WANTED, (step, done.stderr)
        assert not [name for name in names if not name.endswith(".image")], (step, names)


def page_killed():
    """All of it, or what was there before."""
    whole = t.output("overview", *WINDOW, "--format", "html", TRACE)
    for step, place, _ in steps(["kill"], "overview", *WINDOW, "--format", "html", "--output", "PLACE/page", TRACE):
        names = os.listdir(place)
        assert names in ([], ["page"]), (step, names)
        if names:
            with open(place + "/page", "rb") as file:
                assert file.read() == whole, step


def page_full():
    for step, place, done in steps([errno.ENOSPC], "overview", *WINDOW, "--format", "html", "--output", "PLACE/page", TRACE):
        assert done.returncode in (0, 5) and os.listdir(place) == (["page"] if done.returncode == 0 else []), (
            step, done.returncode, done.stderr, os.listdir(place))


def files_below(place):
    found = {}
    for at, _, names in os.walk(place):
        for name in names:
            with open(os.path.join(at, name), "rb") as file:
                found[os.path.relpath(os.path.join(at, name), place)] = file.read()
    return found


# Of little, as each further buffer that is written to the same file is one more step of the same kind.
WINDOW = ["--from", "+20ms", "--to", "+40ms"]
OUTPUTS = {"csv": ["export", "--as", "csv", *WINDOW, "--output", "PLACE/out"],
           "sqlite": ["export", "--as", "sqlite", *WINDOW, "--output", "PLACE/out"],
           "perfetto": ["export", "--as", "perfetto", *WINDOW, "--output", "PLACE/out"],
           "profiles": ["profile", "--operation", "syscall:p*", "--save", "PLACE/out"],
           "ctf": ["export", "--as", "ctf", *WINDOW, "--output", "PLACE/out"]}


def whole_of(kind):
    with tempfile.TemporaryDirectory() as place:
        t.run(*[a.replace("PLACE", place) for a in OUTPUTS[kind]], TRACE)
        whole = files_below(place)
    assert whole
    return whole


def alike(have, whole):
    """Babeltrace gives each trace that it writes an identity of its own: sizes only."""
    return set(have) <= set(whole) and all(
        len(data) == len(whole[name]) if name.startswith("out/startup-chain/") else data == whole[name]
        for name, data in have.items())


def output_killed(kind):
    """What has its name is whole: all of it, but for tables, which get theirs one after the other. What else lies there
    is at most one thing, which has another name."""
    whole = whole_of(kind)
    for step, place, _ in steps(["kill"], *OUTPUTS[kind], TRACE):
        have = {name: data for name, data in files_below(place).items() if name.split("/")[0] == "out"}
        assert alike(have, whole) and (kind == "csv" or len(have) in (0, len(whole))), (step, list(have))
        assert len([name for name in os.listdir(place) if name != "out"]) <= 1, (step, os.listdir(place))


def output_full(kind):
    """Either it is whole and the command ended with 0, or there is nothing and it said so."""
    whole = whole_of(kind)
    for step, place, done in steps(FAILURES, *OUTPUTS[kind], TRACE):
        have = files_below(place)
        assert done.returncode in (0, 5), (step, done.returncode, done.stderr)
        assert alike(have, whole) and len(have) == (0 if done.returncode else len(whole)), (step, done.returncode, list(have), done.stderr)
        assert done.returncode == 0 or done.stderr.count(b"\n") >= 1, (step, done.stderr)


for _kind in t.sample(OUTPUTS):
    tap.case("killed at each step of " + _kind, output_killed, _kind)
    tap.case("no room at each step of " + _kind, output_full, _kind)
tap.case("killed at each step of keeping a trace", image_killed)
tap.case("no room at each step of keeping a trace", image_full)
tap.case("killed at each step of a page", page_killed)
tap.case("no room at each step of a page", page_full)
sys.exit(tap.done())
