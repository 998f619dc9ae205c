# SPDX-License-Identifier: MIT
"""Findings and whylate explain: ids are the same wherever a finding is shown, and again in a copy of the trace at
another place; explain shows what the report named; sums are those of the report that they are of."""
import json
import re
import subprocess
import sys
import tempfile

import whylate_test as t
from jsonschema import Draft202012Validator

tap = t.Tap()
REPORTS = {"overview": ("startup-chain",), "delay": ("futex", "--thread", "lock-2"), "profile": ("fork4",),
           "requests": ("web-mixed",)}
LETTERS = {"overview": "swi", "delay": "w", "profile": "p", "requests": "c"}


def findings(command, name, *arguments, path=None):
    return t.report(command, path or t.trace(name), "--quiet", "--limit", "0", *arguments)["findings"]


def check_ids(command):
    """Unique, of the right kind, largest first, the same as in the text."""
    found = findings(command, *REPORTS[command])
    ids = [one["id"] for one in found]
    assert len(ids) > 3 and len(set(ids)) == len(ids), ids
    assert all(re.fullmatch("[%s]-[a-z2-7]{6}" % LETTERS[command], i) for i in ids), ids
    assert [one["ns"] for one in found] == sorted((one["ns"] for one in found), reverse=True)
    name, *arguments = REPORTS[command]
    full = ("--full",) if command == "overview" else ()
    text = t.output(command, t.trace(name), "--quiet", "--limit", "0", *full, *arguments).decode()
    section = text.split("\nFindings\n")[1].split("\n\n")[0]
    assert re.findall(r"^  ([swipc]-[a-z2-7]{6}) ", section, re.M) == ids


def check_explained(command):
    """Each of the largest is found by its id, and is what the report said."""
    name, *arguments = REPORTS[command]
    same = [a for a in arguments if command == "delay"]
    with open(t.SOURCE + "/share/schema/whylate-explain-1.json", encoding="utf-8") as file:
        schema = Draft202012Validator(json.load(file))
    for one in findings(command, name, *arguments)[:4]:
        report = json.loads(t.output("explain", one["id"], t.trace(name), "--format", "json", "--quiet", *same))
        assert not list(schema.iter_errors(report)), list(schema.iter_errors(report))[0]
        shown = report["finding"]
        assert (shown["id"], shown["title"], shown["ns"]) == (one["id"], one["title"], one["ns"]), (shown, one)
        if one["example"] is None:
            assert report["delay"] is None
            continue
        thread, = report["delay"]["threads"]
        assert report["delay"]["window"] == {k: one["example"][k] for k in ("begin", "end")}
        assert thread["tid"] == one["example"]["tid"]
        text = t.output("explain", one["id"], t.trace(name), "--quiet", *same).decode()
        assert text.startswith(one["id"] + ": ") and "Window: " in text, text[:300]


def check_whole_waits(name):
    """What an item is seen best in is of the thread that is named, while it lives, and up to the wait's end."""
    for one in t.report("overview", t.trace(name), "--quiet")["stands_out"]:
        text = " ".join(t.output("explain", one["finding"], t.trace(name), "--quiet").decode().split())
        verdict = text.split("Where the time of ", 1)[1].split(" Window: ")[0]
        assert "not woken before the window's end" not in verdict, (one["finding"], verdict)


def check_elsewhere():
    """A copy at another place, another host's time zone, another name: the same ids."""
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(["cp", "-r", t.trace("futex"), directory + "/other name"], check=True)
        a = findings("overview", "futex")
        b = findings("overview", None, path=directory + "/other name")
        assert a == b


def check_sums():
    """What one thread waited in futex, by the delay report's own summary."""
    report = t.report("delay", t.trace("futex"), "--thread", "lock-2", "--quiet", "--limit", "0")
    blocked = next(c for c in report["threads"][0]["summary"]["children"] if c["key"] == "blocked")
    futex = next(c for c in blocked["children"] if c["key"] == "blocked/syscall:futex")
    found = [one for one in report["findings"] if "blocked/syscall:futex" in one["title"]]
    assert sum(one["ns"] for one in found) == futex["ns"], (found, futex["ns"])
    everything = sum(one["ns"] for one in report["findings"] if "blocked/" in one["title"])
    assert everything == blocked["ns"], (everything, blocked["ns"])


def check_peaks():
    """Peaks are found with their counts: those with roots, all of them but what is idle at the first one."""
    report = t.report("profile", t.trace("fork4"), "--quiet", "--limit", "0")
    peaks = [peak for profile in report["profiles"] for peak in profile["peaks"]
             if peak["roots"] and peak["roots"][0]["path"][-1] != "idle, for a next request"]
    assert sum(p["count"] for p in peaks) == sum(one["count"] for one in report["findings"])
    assert sum(p["sum_ns"] for p in peaks) == sum(one["ns"] for one in report["findings"])


def check_words():
    """A word of the reports is explained, without a trace; of an unknown one the nearest is named."""
    for words, begin in ((["futex"], "futex: "), (["critical", "path"], "critical path: "), (["qdisc"], "queueing discipline (qdisc): ")):
        done = t.run("explain", *words)
        assert done.returncode == 0 and done.stdout.decode().startswith(begin), done
        assert max(map(len, done.stdout.decode().splitlines())) <= 80, done.stdout
    # kinds of causes and states as tables and JSON have them: each has an explanation, which is the term's
    for word, begin in (("lock-owner", "lock owner"), ("send-queue", "queueing discipline"), ("wait-cpu", "ready: "),
                        ("interrupted/host:preempted", "host"), ("blocked/syscall:read", "system call")):
        done = t.run("explain", word)
        assert done.returncode == 0 and begin.lower() in done.stdout.decode().lower(), (word, done)
    with open(t.SOURCE + "/share/schema/whylate-delay-1.json", encoding="utf-8") as file:
        kinds = json.load(file)["$defs"]["cause"]["properties"]["kind"]["enum"]
    refused = [kind for kind in kinds if t.run("explain", kind).returncode]
    assert not refused, refused
    done = t.run("explain", "mutx")
    assert done.returncode == 2 and b"the nearest one is 'mutex'" in done.stderr, done


def check_refused():
    for arguments, words in ((("w-zzzzzz", t.trace("futex")), b"no such finding"), ((t.trace("futex"),), b"id of a finding"),
                             (("w-zzzzzz",), b"no trace given"), (("x-aaaaaa", t.trace("futex")), b"id of a finding")):
        done = t.run("explain", *arguments)
        assert done.returncode == 2 and words in done.stderr, done


for report_of in REPORTS:
    tap.case("ids of " + report_of, check_ids, report_of)
    tap.case("explained, of " + report_of, check_explained, report_of)
for name_of in ("pool-wait", "futex", "barrier-turns", "gc-signal", "lock-lapse", "dm-crypt"):
    tap.case(name_of + ": whole waits are explained", check_whole_waits, name_of)
tap.case("a trace at another place", check_elsewhere)
tap.case("sums are the summary's", check_sums)
tap.case("peaks", check_peaks)
tap.case("words explained", check_words)
tap.case("what is refused", check_refused)
sys.exit(tap.done())
