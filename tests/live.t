#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Live traces, and reports while a trace goes on (--every).

A live trace comes from tests/relay.py, which plays recorded ones as lttng-relayd does, with
beacons of inactivity between the packets; it must give the bytes that the recorded one gives.
A report of a stretch must say of each thread what one of the whole trace with that --from and
--to says, and an endless recording must need no more memory than a long one."""
import json
import os
import signal
import subprocess
import sys
import tempfile

import jsonschema

import ctf
import relay as r
import whylate_test as t

tap = t.Tap()


def kernel_of(directory):
    return next(path for path, _, files in sorted(os.walk(directory))
                if "metadata" in files and "/ust" not in path)


def command_line(relay, command, params):
    env = dict(os.environ)
    if t.preload():
        env["LD_PRELOAD"] = t.preload()
    return dict(args=["babeltrace2", "--plugin-path=" + t.PLUGINS, "--input-format=lttng-live", relay.url,
                      "--component=sink.whylate." + command, "--params=" + params],
                env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def live(name, command, params, **keywords):
    with r.Relay(kernel_of(t.trace(name)), **keywords) as relay:
        done = subprocess.run(timeout=6000, check=False, **command_line(relay, command, params))
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def lines(*arguments):
    """The reports of a run with --every."""
    return [json.loads(line) for line in t.output(*arguments, "--format", "json", "--quiet").splitlines()]


def whole(*arguments):
    return t.report(*arguments, "--quiet")


def same_as_recorded(relay, name, command, params, *options):
    recorded = t.output(command, t.trace(name), *options, "--reader", "babeltrace", "--quiet")
    assert recorded
    got = live(name, command, params, **relay)
    assert got == recorded, (len(got), len(recorded))


def while_it_lives():
    """The session goes on, without events: the reports that are due are there. SIGINT ends it, and
    the last stretch is reported too. pipe-chain is 1.268 s: three whole stretches of 400 ms."""
    with tempfile.TemporaryDirectory(dir=t.CACHE) as place, \
            r.Relay(kernel_of(t.trace("pipe-chain"))) as relay:
        relay.hold.clear()
        path = os.path.join(place, "reports")
        process = subprocess.Popen(**command_line(
            relay, "overview", 'every="400ms",format="json",output="%s"' % path))
        assert relay.drained.wait(300), "the relay was not asked to the end"
        t.until(lambda: open(path, "rb").read().count(b"\n") >= 3, "three reports were there")
        before = open(path, "rb").read()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=600)
        after = open(path, "rb").read()
    assert before.count(b"\n") == 3, (before.count(b"\n"), errors.decode())
    assert after.startswith(before) and after.count(b"\n") == 4, errors.decode()
    last = [json.loads(line) for line in after.splitlines()][-1]
    recorded = lines("overview", t.trace("pipe-chain"), "--every", "400ms")
    assert [w["window"] for w in (last, json.loads(before.splitlines()[0]))] == \
        [recorded[i]["window"] for i in (3, 0)]


def quiet_time():
    """A second without events after the last one: its stretch is reported when it is over, though
    the session has not ended. The last event is in the fourth stretch."""
    with tempfile.TemporaryDirectory(dir=t.CACHE) as place, \
            r.Relay(kernel_of(t.trace("pipe-chain")), idle=1_000_000_000) as relay:
        relay.hold.clear()
        path = os.path.join(place, "reports")
        process = subprocess.Popen(**command_line(
            relay, "overview", 'every="400ms",format="json",output="%s"' % path))
        assert relay.drained.wait(300)
        t.until(lambda: open(path, "rb").read().count(b"\n") >= 4, "four reports were there")
        got = [json.loads(line) for line in open(path, "rb").read().splitlines()]
        relay.hold.set()
        process.communicate(timeout=600)
        assert process.returncode == 0
    assert len(got) == 4, len(got)
    assert got[3]["window"]["end"] - got[3]["window"]["begin"] == 400_000_000
    assert got[3]["coverage"]["events"] > 0


def interrupted():
    """Without --every, too, a live session that is left gives the report of what came."""
    with r.Relay(kernel_of(t.trace("pipe-chain"))) as relay:
        relay.hold.clear()
        process = subprocess.Popen(**command_line(relay, "overview", 'format="json"'))
        assert relay.drained.wait(300)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=600)
    report = json.loads(out)
    recorded = whole("overview", t.trace("pipe-chain"))
    assert report["coverage"]["events"] == recorded["coverage"]["events"], errors.decode()


def up_to():
    """--to ends a live session that goes on."""
    with r.Relay(kernel_of(t.trace("pipe-chain"))) as relay:
        relay.hold.clear()
        done = subprocess.run(timeout=600, check=False, **command_line(
            relay, "overview", 'every="200ms",to="+500ms",format="json"'))
    ends = [json.loads(line)["window"] for line in done.stdout.splitlines()]
    assert done.returncode == 0 and [w["end"] - w["begin"] for w in ends] == \
        [200_000_000, 200_000_000, 100_000_000], ends


def totals(report):
    """Each thread's part of the window by its state, and its waits that ended in the window."""
    end = report["window"]["end"]
    return {(x["tid"], x["begin"]): (
        [(n["key"], n["ns"]) for n in x["summary"]["children"]],
        [(w["begin"], w["end"], w["woken_by"]["kind"], w["woken_by"]["tid"])
         for w in x["causality"] if w["end"] < end]) for x in report["threads"]}


def as_of_the_whole(name, every):
    """Each stretch against the whole trace with --from and --to: states and wake-ups."""
    options = ["delay", t.trace(name), "--thread", "all", "--limit", "0"]
    reports = lines(*options, "--every", every)
    assert len(reports) > 2
    for report in reports:
        window = report["window"]
        mine, its = totals(report), totals(whole(
            *options, "--from", "%dns" % window["begin"], "--to", "%dns" % window["end"]))
        assert mine and set(mine) == set(its), set(mine) ^ set(its)
        for key, one in mine.items():
            assert one == its[key], (window, key, one, its[key])
    ends = [x["window"]["end"] for x in reports]
    assert [x["window"]["begin"] for x in reports[1:]] == ends[:-1]


def profile_counts():
    """Operations are counted in one stretch only: the sum is the whole trace's, but for those that
    began in an earlier stretch than they ended in, which no --from/--to counts either."""
    trace = t.trace("web-mixed")
    once = sum(p["count"] for p in whole("profile", trace, "--limit", "0")["profiles"])
    parts = sum(p["count"] for x in lines("profile", trace, "--limit", "0", "--every", "300ms")
                for p in x["profiles"])
    assert once * 0.97 < parts <= once, (parts, once)


def forms():
    """Text has a heading each, JSON is an object a line that the schema takes, CSV has one head."""
    trace = t.trace("pipe-chain")
    text = t.output("overview", "--full", trace, "--every", "500ms").decode()
    assert [text.count("==== Report %d: " % n) for n in (1, 2, 3, 4)] == [1, 1, 1, 0]
    for command, more in (("overview", ()), ("delay", ("--thread", "stage-a")), ("profile", ())):
        schema = json.load(open(t.SOURCE + "/share/schema/whylate-%s-1.json" % command))
        for report in lines(command, trace, *more, "--every", "500ms"):
            jsonschema.validate(report, schema)
    csv = t.output("delay", trace, "--thread", "stage-a", "--every", "500ms", "--format", "csv").decode()
    assert csv.count("host,tid,") == 1 and csv.startswith("host,tid,")
    begins = [int(row.split(",")[6]) for row in csv.splitlines()[1:]]
    assert max(begins) - min(begins) > 1_000_000_000


def gives_status(status, part, *arguments):
    done = t.run(*arguments)
    assert done.returncode == status, (done.returncode, done.stderr)
    assert part in done.stderr.decode(), done.stderr


def refused():
    trace = t.trace("pipe-chain")
    for option, value in (("--last", "1s"), ("--to", "-1s"), ("--from", "sched_switch")):
        gives_status(2, "--every and " + option, "overview", trace, "--every", "1s", option, value)
    gives_status(2, "a millisecond", "overview", trace, "--every", "10us")
    gives_status(2, "no such thread", "delay", trace, "--thread", "nobody", "--every", "500ms")
    gives_status(5, "cannot write", "overview", trace, "--every", "500ms", "--output", "/nowhere/x")
    # stage-a lives in two of three stretches: the first has no report of it, and says so
    done = t.run("delay", trace, "--thread", "217", "--every", "500ms", "--format", "json")
    assert done.returncode == 0 and 0 < len(done.stdout.splitlines()) < 3
    assert b"no report of" in done.stderr


def full_disk():
    with open("/dev/full", "wb") as full:
        done = t.run("overview", t.trace("pipe-chain"), "--every", "500ms", stdout=full)
    assert done.returncode == 5 and b"cannot write" in done.stderr, done.stderr


def peak(directory):
    """Resident memory, in KB, of the larger of reading and reporting; without a sanitizer if there is such a build, as
    that keeps what is freed."""
    program = os.environ.get("WHYLATE_PLAIN", t.BUILD) + "/whylate"
    code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, "
            "stdout=subprocess.DEVNULL); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    done = subprocess.run([sys.executable, "-c", code, program, "overview", directory, "--every", "10s",
                           "--quiet"], check=True, stdout=subprocess.PIPE)
    return int(done.stdout)


CLASSES = {
    "sched_switch": [("prev_comm", "string"), ("prev_tid", "i32"), ("prev_prio", "i32"), ("prev_state", "i64"),
                     ("next_comm", "string"), ("next_tid", "i32"), ("next_prio", "i32")],
    "sched_process_fork": [("parent_comm", "string"), ("parent_tid", "i32"), ("parent_pid", "i32"),
                           ("child_comm", "string"), ("child_tid", "i32"), ("child_pid", "i32")],
    "sched_wakeup_new": [("comm", "string"), ("tid", "i32"), ("prio", "i32"), ("target_cpu", "i32")],
    "sched_waking": [("comm", "string"), ("tid", "i32"), ("prio", "i32"), ("target_cpu", "i32")],
    "syscall_entry_read": [("fd", "i32")], "syscall_exit_read": [("ret", "i64")],
}


def busy(directory, seconds):
    """A daemon that starts 40 short-lived processes a second and waits for each: 320 events a second.
    TIDs come round again after 2000 processes."""
    trace = ctf.Trace(CLASSES)

    def switch(at, prev, state, following):
        trace.event(at, 0, "sched_switch", prev_comm="p%d" % prev, prev_tid=prev, prev_prio=20,
                    prev_state=state, next_comm="p%d" % following, next_tid=following, next_prio=20)

    for i in range(seconds * 40):
        at, tid = i * 25_000_000, 100 + i % 2000
        switch(at, 0, 0, 50)
        trace.event(at + 1, 0, "sched_process_fork", parent_comm="p50", parent_tid=50, parent_pid=50,
                    child_comm="p%d" % tid, child_tid=tid, child_pid=tid)
        trace.event(at + 2, 0, "sched_wakeup_new", comm="p%d" % tid, tid=tid, prio=20, target_cpu=0)
        trace.event(at + 3, 0, "syscall_entry_read", fd=3)
        switch(at + 4, 50, 1, tid)
        trace.event(at + 5_000_000, 0, "sched_waking", comm="p50", tid=50, prio=20, target_cpu=0)
        switch(at + 5_000_001, tid, 16, 50)
        trace.event(at + 5_000_002, 0, "syscall_exit_read", ret=1)
        switch(at + 6_000_000, 50, 1, 0)
    return trace.write(directory, 5000)


def bounded():
    """Five minutes and twenty (./check: two and eight): the second is read with the memory of the first, and 40 * 5 ms of
    each second the daemon waited for the processes, in every report."""
    lengths = (2, 8) if "WHYLATE_PART" in os.environ else (5, 20)
    with tempfile.TemporaryDirectory(dir=t.CACHE) as place:
        sizes = [peak(busy(os.path.join(place, str(minutes)), minutes * 60)) for minutes in lengths]
        reports = lines("delay", os.path.join(place, str(lengths[0])), "--thread", "50", "--every", "10s")
    print("# %d and %d KB" % tuple(sizes))
    assert sizes[1] < sizes[0] * 1.1 + 1000, sizes
    assert len(reports) == 6 * lengths[0]
    for report in reports[1:-1]:
        read = [n for n in report["threads"][0]["summary"]["children"] if n["key"] == "blocked"][0]
        read = [n for n in read["children"] if n["key"] == "blocked/syscall:read"][0]
        # from 4 ns to 5 ms into each of 400
        assert (read["count"], read["ns"]) == (400, 400 * (5_000_000 - 4)), read


# as JSON: the text names the trace in the commands that it suggests
tap.case("live: overview", same_as_recorded, {}, "pipe-chain", "overview", 'quiet=yes,format="json"', "--format", "json")
tap.case("live: delay, slowly, three beacons a packet", same_as_recorded, {"pace": 0.002, "beacons": 3},
         "pipe-chain", "delay", 'thread="all",format="json"', "--thread", "all", "--format", "json")
tap.case("live: profile, no beacons", same_as_recorded, {"beacons": 0}, "web-mixed", "profile",
         'format="json"', "--format", "json")
tap.case("live: a report every 200 ms", same_as_recorded, {}, "pipe-chain", "overview",
         'every="200ms",format="json"', "--every", "200ms", "--format", "json")
tap.case("reports come while the session lives", while_it_lives)
tap.case("a report when its time is over, without an event", quiet_time)
tap.case("a live session left by a signal", interrupted)
tap.case("--to ends a live session", up_to)
for trace_name, length in (("pipe-chain", "200ms"), ("web-mixed", "300ms"), ("futex", "250ms")):
    tap.case("%s every %s: as of the whole trace" % (trace_name, length), as_of_the_whole, trace_name,
             length)
tap.case("profiles add up", profile_counts)
tap.case("text, JSON Lines, CSV", forms)
tap.case("what --every does not go with", refused)
tap.case("a full disk", full_disk)
tap.case("memory does not follow the length", bounded)
sys.exit(tap.done())
