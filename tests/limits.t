#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--fail-if, --budget, --junit: what is measured, against latencies, states and lost events that are taken from
babeltrace2's text here; outcomes, exit status and files."""
import collections
import functools
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

import whylate_test as t

tap = t.Tap()


@functools.lru_cache(maxsize=None)
def latencies(name):
    """{call: sorted ns} of calls whose entry and exit are both in the text, by who runs on each CPU."""
    text = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", t.trace(name)], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode("utf-8", "replace")
    current, open_calls, found = {}, {}, collections.defaultdict(list)
    for m in re.finditer(r"^\[(\d+)\.(\d{9})\] \S+ (\w+): \{ cpu_id = (\d+)[^}]*\}, (.*)$", text, re.M):
        time, cpu, event = int(m[1] + m[2]), int(m[4]), m[3]
        tid = current.get(cpu)
        if event == "sched_switch":
            current[cpu] = int(re.search(r"next_tid = (\d+)", m[5])[1])
        elif event.startswith("syscall_entry_") and tid is not None:
            open_calls[tid] = (event[len("syscall_entry_"):], time)
        elif event.startswith("syscall_exit_") and tid in open_calls:
            call, begin = open_calls.pop(tid)
            if call == event[len("syscall_exit_"):]:
                found[call].append(time - begin)
    return {call: sorted(values) for call, values in found.items()}


def rank(values, percent):
    return values[max(math.ceil(len(values) * percent / 100), 1) - 1]


def judged(command, name, *limits, more=()):
    """(exit status, the limits of the JSON report)."""
    arguments = [a for limit in limits for a in ("--fail-if", limit)]
    done = t.run(command, t.trace(name), "--quiet", "--format", "json", *arguments, *more)
    return done.returncode, json.loads(done.stdout).get("limits")


def check_percentiles(command, name):
    calls = [c for c, v in latencies(name).items() if len(v) >= 20][:4]
    assert calls
    limits, expected = [], []
    for call in calls:
        values = latencies(name)[call]
        for function, value in (("p50", rank(values, 50)), ("p99", rank(values, 99)), ("p99.9", rank(values, 99.9)),
                                ("min", values[0]), ("max", values[-1]), ("sum", sum(values))):
            # just beyond it, and just at it
            limits += ["%s(syscall:%s) > %dns" % (function, call, value),
                       "%s(syscall:%s) >= %dns" % (function, call, value)]
            expected += [(value, "kept"), (value, "exceeded")]
    status, got = judged(command, name, *limits)
    assert status == 1, status
    for limit, (value, outcome), one in zip(limits, expected, got):
        assert (one["value"], one["outcome"]) == (value, outcome), (limit, value, one)
        assert one["limit"] == limit and (one["cause"] is None) == (outcome == "kept"), one


def check_states():
    """Shares are those of the summary in the delay report."""
    report = t.report("delay", t.trace("startup-chain"), "--process", "xinit", "--quiet") # it is asked for nothing
    threads = report["threads"]
    life = sum(one["end"] - one["begin"] for one in threads)
    for state in ("working", "interrupted", "blocked"):
        ns = sum(child["ns"] for one in threads for child in one["summary"]["children"] if child["key"] == state)
        _, got = judged("overview", "startup-chain", state + "(process=xinit) >= %dns" % ns,
                        state + "(process=xinit) > %dns" % ns, state + "(process=xinit) > 0.1%")
        assert [one["outcome"] for one in got] == ["exceeded", "kept", "exceeded"], got
        assert got[0]["value"] == ns and abs(got[2]["value"] - ns / life) < 1e-5, (got, ns, life)



def check_idle():
    """"blocked" does not count what a server waits for its next request: nginx, an event loop, answers only while it
    has one, as its clients' notes say."""
    name = "web-mixed"
    asked = sorted((r["begin"], r["end"]) for r in t.report("requests", t.trace(name), "--limit", "0")["requests"]
                   if r["label"].startswith("nginx"))
    busy, last = 0, 0
    for begin, end in asked:
        busy += max(end - max(begin, last), 0)
        last = max(last, end)
    threads = t.report("delay", t.trace(name), "--process", "nginx", "--quiet")["threads"]
    whole = sum(child["ns"] for one in threads for child in one["summary"]["children"] if child["key"] == "blocked")
    _, got = judged("overview", name, "blocked(process=nginx) > 1ns")
    assert 0 < got[0]["value"] <= busy * 1.02 < whole, (got, busy, whole)
    _, got = judged("overview", name, "blocked(process=nginx) per thread > 99%")
    assert got[0]["outcome"] == "kept", got


def check_status():
    """0, 1, 4, and 1 before 4; floors; nothing there."""
    over, under, unknown = "max(syscall:*) > 1ns", "max(syscall:*) > 1h", "max(syscall:no_such) > 1ms"
    under = "max(syscall:*) > 9999s"
    for limits, status in (([under], 0), ([over], 1), ([unknown], 4), ([unknown, over, under], 1),
                           ([over + " if count >= 99999999"], 0), ([unknown + " if count >= 1"], 0),
                           (["count(syscall:no_such) > 0"], 0), (["blocked(thread=no_such) > 1%"], 4),
                           (["lost > 0"], 0)):
        for command in ("overview", "profile"):
            assert judged(command, "pipe-chain", *limits)[0] == status, (command, limits, status)


def check_nobody():
    """A name that is no thread's: what there is, nearest first; one that only did not live then has no such list."""
    for what in ("thread", "process"):
        done = t.run("overview", t.trace("pipe-chain"), "--fail-if", "blocked(%s=xvictim) > 1s" % what)
        error = done.stderr.decode()
        assert done.returncode == 4 and "no %s 'xvictim' lived in the window; the trace has '" % what in error, error
        names = re.findall(r"'([^']*)'", error.split("the trace has", 1)[1])
        assert len(names) == 5 and "'%s' lived" % names[0] not in error, error
    threads = t.report("delay", t.trace("pipe-chain"), "--thread", "all")["threads"]
    names = collections.Counter(x["name"] for x in threads)
    ended = min((x for x in threads if names[x["name"]] == 1), key=lambda x: x["end"])
    assert max(x["end"] for x in threads) > ended["end"] + 10**6, ended
    done = t.run("overview", t.trace("pipe-chain"), "--last", "1us", "--fail-if", "blocked(thread=%s) > 1s" % ended["name"])
    assert done.returncode == 4 and "the trace has" not in done.stderr.decode(), (ended["name"], done.stderr.decode())


def check_lost():
    """As many as babeltrace2 says were discarded."""
    said = subprocess.run(["babeltrace2", t.trace("lost"), "-o", "dummy"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=True).stderr.decode()
    said += subprocess.run(["babeltrace2", t.trace("lost")], stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, check=True).stderr.decode()
    lost = sum(int(n) for n in re.findall(r"discarded (\d+) event", said))
    status, got = judged("overview", "lost", "lost > 0")
    assert status == 1 and got[0]["value"] == lost > 0, (got, lost)
    # an operation over the hole does not decide
    status, got = judged("profile", "lost", "max(syscall:wait4) > 20ms")
    assert status == 4 and got[0]["outcome"] == "not-judged" and "lost events" in got[0]["why"], got


def check_duration():
    """To the target: from the trace's first event to it."""
    target = "sched_process_exec filename=*/autostart"
    window = t.report("delay", t.trace("startup-chain"), "--target", target)["window"]
    ns = window["end"] - window["begin"]
    status, got = judged("delay", "startup-chain", "duration >= %dns" % ns, "duration > %dns" % ns,
                         more=("--target", target))
    assert status == 1 and [one["outcome"] for one in got] == ["exceeded", "kept"], got
    assert "Xorg" in got[0]["cause"], got[0]["cause"]
    # who was there before the trace, and still is: longer than was seen, for sure not shorter
    status, got = judged("overview", "startup-chain", "duration(thread=180) > 9999s", "duration(thread=180) > 1ms")
    assert [one["outcome"] for one in got] == ["not-judged", "exceeded"], got


def check_requests():
    requests = t.report("requests", t.trace("web-mixed"), "--quiet", "--limit", "0")["requests"]
    values = sorted(one["ns"] for one in requests)
    for command in ("requests", "overview"):
        status, got = judged(command, "web-mixed", "count(requests) != 0".replace("!=", ">"),
                             "p90(requests) >= %dns" % rank(values, 90), "p90(requests) > %dns" % rank(values, 90))
        assert status == 1 and got[0]["value"] == len(values), got
        assert [one["outcome"] for one in got[1:]] == ["exceeded", "kept"], (got, rank(values, 90))


def check_cause():
    """disk-read's slow reads waited for the disk (traces/README.md)."""
    _, got = judged("profile", "disk-read", "p99(syscall:pread64) > 1ms")
    assert "device:vda" in got[0]["cause"], got
    profile, = t.report("profile", t.trace("disk-read"), "--operation", "syscall:pread64")["profiles"]
    assert got[0]["value"] == profile["p99_ns"], (got, profile["p99_ns"])


def budget(text):
    file = tempfile.NamedTemporaryFile("w", suffix=".budget", delete=False)
    with file:
        file.write(text)
    return file.name


BUDGET = """# what we promise
reads <here> & "there":   p99(syscall:read) > 1ns if count >= 1

many: count(syscall:read) > 999999
nothing: max(syscall:no_such) > 1ms
floor: max(syscall:read) > 1ns if count >= 999999
"""


def check_junit():
    """Read by Python's parser, and by the rules that the schemas of Ant's task and of xunit have in common."""
    path, out = budget(BUDGET), tempfile.mktemp(suffix=".xml")
    done = t.run("overview", t.trace("pipe-chain"), "--budget", path, "--junit", out, "--quiet")
    assert done.returncode == 1, done
    root = xml.parse(out).getroot()
    assert root.tag == "testsuites" and [s.tag for s in root] == ["testsuite"]
    suite = root[0]
    assert set(suite.attrib) >= {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp")), suite.get("timestamp")
    assert [e.tag for e in suite] == ["properties"] + ["testcase"] * 4 + ["system-out", "system-err"]
    cases = suite.findall("testcase")
    assert [c.get("name") for c in cases] == ['reads <here> & "there"', "many", "nothing", "floor"]
    assert [[e.tag for e in c] for c in cases] == [["failure"], [], ["error"], ["skipped"]]
    assert [suite.get(k) for k in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "1"]
    for case in cases:
        assert case.get("classname") and float(case.get("time")) >= 0
        for e in case:
            assert e.get("message"), e
    os.unlink(path)
    os.unlink(out)


def check_budget():
    """Names in the reports; a bad line is named."""
    path = budget(BUDGET)
    done = t.run("profile", t.trace("pipe-chain"), "--budget", path)
    assert done.returncode == 1
    text = done.stdout.decode()
    for words in ("EXCEEDED: reads", "kept: many", "NOT JUDGED: nothing", "does not apply: floor"):
        assert words in text, (words, text[:2000])
    assert "limit exceeded: reads" in done.stderr.decode()
    os.unlink(path)
    for text, words in (("a: b\n", "line 1"), ("# x\n\n\np99(syscall:read) > 1\n", "line 4"), ("# x\n", "no limit")):
        path = budget(text)
        done = t.run("overview", t.trace("pipe-chain"), "--budget", path)
        assert done.returncode == 2 and words in done.stderr.decode(), done.stderr
        os.unlink(path)
    assert t.run("overview", t.trace("pipe-chain"), "--budget", "/nonexistent").returncode == 2
    assert t.run("overview", t.trace("pipe-chain"), "--budget", "/dev/zero").returncode == 2
    assert t.run("overview", t.trace("pipe-chain"), "--junit", "/tmp/x").returncode == 2
    done = t.run("overview", t.trace("pipe-chain"), "--every", "1s", "--fail-if", "lost > 0")
    assert done.returncode == 2 and b"exclude" in done.stderr


def check_plugin():
    """The same limits in the same bytes through Babeltrace."""
    limit = "p99(syscall:pread64) > 1ms"
    out = tempfile.mktemp()
    done = t.babeltrace2(t.trace("disk-read"), "--component=sink.whylate.profile", "--params",
                         'fail-if=["%s"],format="json",output="%s"' % (limit, out))
    assert done.returncode == 1 and b"limit exceeded: " + limit.encode() in done.stderr, done
    with open(out, "rb") as file:
        got = file.read()
    os.unlink(out)
    assert got == t.run("profile", t.trace("disk-read"), "--format", "json", "--fail-if", limit).stdout
    for limit, status in (("p99(syscall:pread64) > 1h", 0), ("max(syscall:no_such) > 1ms", 1)):
        limit = limit.replace("1h", "999s")
        done = t.babeltrace2(t.trace("disk-read"), "--component=sink.whylate.profile", "--params",
                             'fail-if="%s"' % limit)
        assert done.returncode == status and done.stdout.startswith(b"Limits"), (limit, done)


def check_damaged():
    """1 for a limit wins over 4 for damage."""
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(["cp", "-r", t.trace("pipe-chain"), directory + "/x"], check=True)
        subprocess.run(["chmod", "-R", "u+w", directory], check=True)
        largest = max((f for f in t.kernel_files(directory + "/x") if "metadata" not in f and os.path.isfile(f)),
                      key=os.path.getsize)
        os.truncate(largest, os.path.getsize(largest) * 2 // 3 + 5)
        assert t.run("overview", directory + "/x", "--quiet").returncode == 4
        assert t.run("overview", directory + "/x", "--quiet", "--fail-if", "max(syscall:*) > 1ns").returncode == 1
        assert t.run("overview", directory + "/x", "--quiet", "--fail-if", "max(syscall:*) > 999s").returncode == 4
        # nobody knows what was in the part that is cut off
        done = t.run("overview", directory + "/x", "--quiet", "--fail-if", "lost > 0", "--format", "json")
        limit, = json.loads(done.stdout)["limits"]
        assert done.returncode == 4 and limit["outcome"] == "not-judged" and "damaged" in limit["why"], limit


for which, where in (("profile", "fork4"), ("overview", "disk-read"), ("delay", "pipe-chain")):
    some = ("--thread", "all")
    if which == "delay":
        tap.case("a limit of one thread, delay", lambda: judged("delay", "pipe-chain", "lost > 0", more=some))
    else:
        tap.case("latencies of %s, %s" % (where, which), check_percentiles, which, where)
tap.case("states are the summary's", check_states)
tap.case("idle waits are not counted", check_idle)
tap.case("exit status", check_status)
tap.case("a name that is nobody's", check_nobody)
tap.case("lost events", check_lost)
tap.case("durations", check_duration)
tap.case("requests", check_requests)
tap.case("the cause", check_cause)
tap.case("JUnit's XML", check_junit)
tap.case("budgets", check_budget)
tap.case("through Babeltrace", check_plugin)
tap.case("of a damaged trace", check_damaged)
sys.exit(tap.done())
