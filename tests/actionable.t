#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Of the time that user threads were blocked, over all recorded traces, 97 % and more ends in what a person can act on: a
thread and what it did, a device, a lock, a limit, a timer and who armed it, a peer's address. The rest says why it does not.
Added up from the JSON report down to the last link of each chain; waits that had not ended when the trace did are left out,
and so are the tracer's own threads."""
import collections
import glob
import json
import os
import re
import sys

import whylate_test as t

tap = t.Tap()
# No chains of whole programs: a million calls of one kind; switches without names of what was waited for.
LEFT_OUT = {"zero-read", "snapshot"}
TRACER = re.compile(r"lttng|Client manageme|Notification|Rotation|Health|Agent |Application|Apps |Action|Timer m")
WHY_NOT = re.compile(r"not seen|not known|not recorded|lost|not decidable|cannot tell|grace period|vector |softIRQ|IRQ \d|end of")


def ends(wait):
    """(kind, label, ns) of the last links of a wait's chains; they sum to its length."""
    cause, left = wait["cause"], wait["ns"]
    if "share" in wait:
        share = wait["share"]
        own = share["working_ns"] + share["interrupted_ns"]
        yield "thread", share["name"], own
        if share["unknown_ns"]:
            yield "unknown", "not known what %s did" % share["name"], share["unknown_ns"]
        left -= own + share["unknown_ns"]
        for child in wait["children"]:
            yield from ends(child)
            left -= child["ns"]
    assert left >= 0, wait
    if left:
        yield cause["kind"], cause["label"] or "", left


def can_be_acted_on(kind, label):
    if kind in ("unknown", "softirq", "irq"):
        return False
    if kind == "network":
        return bool(re.search(r"sent by|from \S", label))
    return not (kind == "timer" and re.search("not seen|vector", label))


def recordings(name):
    """One folder may hold several runs."""
    return glob.glob(t.trace(name) + "/startup-*") or [t.trace(name)]


def blocked_time(name):
    """{(kind, label): ns} of the user threads of a trace."""
    sums = collections.Counter()
    for path in recordings(name):
        for thread in t.report("delay", path, "--thread", "all", "--limit", "0", "--quiet")["threads"]:
            if TRACER.match(thread["name"]) or '"blocked/kthread"' in json.dumps(thread["summary"]):
                continue
            for wait in thread["causality"]:
                for kind, label, ns in ends(wait):
                    if kind not in ("still-blocked", "deadlock"):
                        sums[kind, label] += ns
    return sums


def check_all(names):
    total = bad = 0
    for name in names:
        for (kind, label), ns in blocked_time(name).items():
            total += ns
            if can_be_acted_on(kind, label):
                continue
            bad += ns
            assert WHY_NOT.search(label), (name, kind, label, ns)
    assert total > 10**10, total
    assert bad <= 0.03 * total or len(names) < len(ALL), (bad, total)   # some recordings have little else
    print("# %.2f %% of %.1f s" % (100 - 100 * bad / total, total / 1e9))


def all_names():
    found = {re.sub(r"\.tar\.xz$", "", entry) for entry in os.listdir(t.SOURCE + "/traces")}
    return sorted(found - {"README.md"} - LEFT_OUT)


ALL = all_names()
tap.case("blocked time ends in what can be acted on", check_all, t.sample(ALL))
sys.exit(tap.done())
