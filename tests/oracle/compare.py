# SPDX-License-Identifier: MIT
"""Compare whylate's JSON of all threads with the oracle's, to the nanosecond.

Usage: compare.py WHYLATE_JSON ORACLE_JSON
The first is `whylate delay --thread all --limit 0 --format json TRACE`, the
second is what oracle.py prints. Exit status 1 and the first differences if
they differ.
"""
import json
import sys


def leaves(node, out):
    """Two-level leaves: ns and instances by key; `unknown` has one level."""
    if len(node["path"]) == 2 or node["key"] == "unknown":
        out[node["key"]] = (node["ns"], node["count"])
    for child in node["children"]:
        leaves(child, out)
    return out


def ours(report):
    threads = {}
    for thread in report["threads"]:
        blocked = []
        for block in thread["causality"]:
            woken = block["woken_by"]
            kind, tid, context = woken["kind"], woken["tid"], woken["context"]
            if kind == "softirq" and not any(f.startswith("softirq") for f in woken["stack"]):
                context = "softirq"
            if kind == "unknown":
                tid = None
            blocked.append((block["begin"], block["end"], block["leaf"], kind, tid, context))
        key = (thread["tid"], thread["begin"])
        threads[key] = {"end": thread["end"], "pid": thread["pid"], "name": thread["name"],
                        "leaves": leaves(thread["summary"], {}), "blocked": blocked}
    return threads


def waker(block):
    """The oracle's waker in whylate's words, where two readings are sound:
    ksoftirqd's softIRQ is numbered by the last raise on that CPU, and the idle
    loop wakes nobody by itself, so that such a waker is unknown."""
    kind, tid, context = (block["waker"][k] for k in ("kind", "tid", "context"))
    if kind == "thread" and tid == 0:
        kind, context = "unknown", "unknown"
    if kind == "unknown":
        tid = None
    return kind, tid, context


def theirs(report):
    threads = {}
    for thread in report["threads"]:
        blocked = [(b["begin"], b["end"], b["leaf"]) + waker(b) for b in thread["blocked"]]
        threads[(thread["tid"], thread["begin"])] = {
            "end": thread["end"], "pid": thread["pid"], "name": thread["name"],
            "leaves": {k: (v["ns"], v["count"]) for k, v in thread["leaves"].items() if v["ns"]},
            "blocked": blocked}
    return threads


def main():
    with open(sys.argv[1]) as file:
        mine = json.load(file)
    with open(sys.argv[2]) as file:
        other = json.load(file)
    a, b = ours(mine), theirs(other)
    wrong = []
    for key in sorted(set(a) | set(b)):
        if key not in a or key not in b:
            wrong.append("thread %d born %d: only in %s" % (
                key[0], key[1], "whylate" if key in a else "the oracle"))
            continue
        for what in ("end", "pid", "name"):
            if a[key][what] != b[key][what]:
                wrong.append("thread %d: %s %r, oracle %r" % (
                    key[0], what, a[key][what], b[key][what]))
        for leaf in sorted(set(a[key]["leaves"]) | set(b[key]["leaves"])):
            x, y = a[key]["leaves"].get(leaf), b[key]["leaves"].get(leaf)
            if x != y:
                wrong.append("thread %d (%s) %s: %s, oracle %s" % (
                    key[0], a[key]["name"], leaf, x, y))
        if a[key]["blocked"] != b[key]["blocked"]:
            for x, y in zip(a[key]["blocked"], b[key]["blocked"]):
                if x != y:
                    wrong.append("thread %d (%s) wait: %s, oracle %s" % (
                        key[0], a[key]["name"], x, y))
                    break
            else:
                wrong.append("thread %d: %d waits, oracle %d" % (
                    key[0], len(a[key]["blocked"]), len(b[key]["blocked"])))
    for what in ("events", "discarded_events", "discarded_packets", "entries_unseen",
                 "exits_unseen", "wakeups_unseen"):
        if mine["coverage"][what] != other["coverage"][what]:
            wrong.append("coverage %s: %d, oracle %d" % (
                what, mine["coverage"][what], other["coverage"][what]))
    for line in wrong[:40]:
        print(line)
    print("%d differences in %d threads" % (len(wrong), len(a)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
