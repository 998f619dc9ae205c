# SPDX-License-Identifier: MIT
"""What holds on every trace, for the whole of it and in any window: states
tile each thread's life, children sum to their parent, waits contain what
explains them, the critical path tiles the window, and the same command gives
the same bytes. The sums are of every report's own figures; the lives that
they must sum to are of the report of the whole trace.

Usage: invariants.t [DIRECTORY[,DIRECTORY]...]: other traces than the shipped ones.
"""
import hashlib
import json
import os
import random
import sys

from whylate_test import TRACES, Tap, output, sample, trace

LONG = bool(os.environ.get("WHYLATE_LONG"))
STATES = ("working", "interrupted", "blocked", "unknown")


def overlap(life, begin, end):
    return min(life[1], end) - max(life[0], begin)


class Lives:
    """(host, tid) -> [(begin, end)], from the report of the whole trace."""

    def __init__(self, whole):
        self.of = {}
        self.order = []
        for t in whole["threads"]:
            self.of.setdefault((t["host"], t["tid"]), []).append((t["begin"], t["end"]))
            self.order.append((t["host"], t["tid"], t["begin"], t["end"]))

    def at(self, host, tid, time):
        """The life that a thread lived at a wake-up: the newest begun by then."""
        return max((life for life in self.of[host, tid] if life[0] <= time), default=None)


def check_node(node, where):
    children = node["children"]
    if children:
        total = sum(c["ns"] for c in children)
        assert total == node["ns"], "%s %s: %d ns, its children %d" % (where, node["key"], node["ns"], total)
    for child in children:
        assert child["key"] == "/".join(child["path"]), "%s: key %r, path %r" % (where, child["key"], child["path"])
        assert child["path"][:-1] == node["path"], "%s: %r is below %r" % (where, child["path"], node["path"])
        assert child["ns"] >= 0 and child["count"] > 0, "%s %s: %d ns, %d times" % (
            where, child["key"], child["ns"], child["count"])
        check_node(child, where)


def merged(lists):
    """The maximal intervals under some lists of intervals."""
    out = []
    for begin, end in sorted(i for intervals in lists for i in intervals):
        if out and out[-1][1] == begin:
            out[-1][1] = end
        else:
            assert not out or out[-1][1] < begin, "instances overlap at %d" % begin
            out.append([begin, end])
    return [tuple(i) for i in out]


def check_instances(node, instances, where):
    """As many as the node counts, longest first, and those of the children together."""
    mine = instances[str(node["id"])]
    where = "%s %s" % (where, node["key"])
    assert len(mine) == node["count"], "%s: count %d, %d instances" % (where, node["count"], len(mine))
    lengths = [i["ns"] for i in mine]
    assert lengths == sorted(lengths, reverse=True), where + ": instances are not sorted by length"
    assert sum(lengths) == node["ns"], "%s: %d ns, instances %d" % (where, node["ns"], sum(lengths))
    spans = sorted((i["begin"], i["end"]) for i in mine)
    assert all(i["end"] - i["begin"] == i["ns"] for i in mine), where + ": an instance's ns is not its length"
    assert all(a[1] < b[0] for a, b in zip(spans, spans[1:])), where + ": instances touch or overlap"
    if node["children"]:
        below = merged(check_instances(c, instances, where) for c in node["children"])
        assert below == spans, where + ": instances are not those of the children together"
    return spans


def share_of(block):
    share = block["share"]
    return sum(share.get(state + "_ns", 0) for state in STATES)


def answerable(block):
    """When the thread of the share was answerable for the wait."""
    via = block.get("via", [])
    share = block["share"]
    assert block["begin"] <= share["begin"] < share["end"] <= block["end"], block
    if block["cause"]["certainty"] == "inferred" and not via:  # or a reason says from when to when
        return share["begin"], share["end"]
    if via and via[-1]["kind"] == "work":
        queued = via[-1]["time"]
        return queued if block["begin"] < queued < block["end"] else block["begin"], block["end"]
    return block["begin"], min(via[0]["time"], block["end"]) if via else block["end"]


def check_block(block, lives, where):
    where = "%s wait %d..%d" % (where, block["begin"], block["end"])
    assert block["end"] - block["begin"] == block["ns"] > 0, where + ": ns is not its length"
    children = block.get("children", [])
    if "share" in block:
        host = block["share"]["host"]
        tid = block["share"]["tid"]
        life = lives.at(host, tid, block["end"])
        assert life, "%s: share of %d, which did not live" % (where, tid)
        # a hand-over: that thread was answerable until it sent; a worker, from when its item was queued
        begin, end = answerable(block)
        lived = overlap(life, begin, end)
        assert share_of(block) == lived, "%s: share of %d is %d, it lived %d of %d" % (
            where, tid, share_of(block), lived, block["ns"])
        below = sum(c["ns"] for c in children if c["tid"] == tid and c["begin"] >= begin)
        assert not children or below == block["share"]["blocked_ns"], \
            "%s: children %d, blocked share %d" % (where, below, block["share"]["blocked_ns"])
        first = [c for c in children if c["begin"] < begin]  # of who queued the worker's item
        assert all(c["end"] <= begin and c["tid"] == first[0]["tid"] for c in first), where + ": children of whom?"
    last = block["begin"]
    for child in children:
        assert last <= child["begin"] and child["end"] <= block["end"], \
            "%s: child %d..%d is outside, or out of order" % (where, child["begin"], child["end"])
        last = child["end"]
        check_block(child, lives, where)


def check_thread(thread, lives, window):
    where = "%s (%d)" % (thread["name"], thread["tid"])
    begin, end = window
    summary = thread["summary"]
    ns = {c["key"]: c["ns"] for c in summary["children"]}
    assert set(ns) <= set(STATES), "%s: states %s" % (where, sorted(ns))
    assert sum(ns.values()) == summary["ns"] == thread["end"] - thread["begin"], \
        "%s lived %d..%d, states sum to %d" % (where, thread["begin"], thread["end"], sum(ns.values()))
    assert begin <= thread["begin"] and thread["end"] <= end, where + " lived outside the window"
    check_node(summary, where)
    spans = check_instances(summary, thread["instances"], where)
    assert spans == [(thread["begin"], thread["end"])] or not summary["ns"], where + ": total is not its life"
    blocks = thread["causality"]
    assert sum(b["ns"] for b in blocks) == ns.get("blocked", 0), where + ": waits are not the time blocked"
    assert [b["begin"] for b in blocks] == sorted(b["begin"] for b in blocks), where + ": waits are not in order"
    for block in blocks:
        check_block(block, lives, where)


def check_report(report, lives):
    window = report["window"]["begin"], report["window"]["end"]
    there = [(h, t, max(b, window[0]), min(e, window[1])) for h, t, b, e in lives.order
             if min(e, window[1]) > max(b, window[0])]
    said = [(t["host"], t["tid"], t["begin"], t["end"]) for t in report["threads"]]
    assert sorted(there) == sorted(s for s in said if s[3] > s[2]), "threads in the window: not those of the whole trace"
    assert said == sorted(said), "threads are not in order of host, tid, begin"
    for thread in report["threads"]:
        check_thread(thread, lives, window)


def leaf_spans(thread):
    """(leaf of two levels, begin, end) of all of a thread's time."""
    def walk(node):
        if len(node["path"]) == 2 or node["key"] == "unknown":
            for i in thread["instances"][str(node["id"])]:
                yield node["key"], i["begin"], i["end"]
        else:
            for child in node["children"]:
                yield from walk(child)
    return sorted(walk(thread["summary"]), key=lambda s: s[1:])


def check_same_leaves(whole, part):
    """A window shows of each state what the whole trace shows in it."""
    begin, end = part["window"]["begin"], part["window"]["end"]
    spans = {}
    for t in whole["threads"]:
        cut = [(k, max(b, begin), min(e, end)) for k, b, e in leaf_spans(t) if min(e, end) > max(b, begin)]
        spans.setdefault((t["host"], t["tid"]), set()).update(cut)
    for t in part["threads"]:
        for span in leaf_spans(t):
            assert span in spans[t["host"], t["tid"]], "%s (%d): %s is not what the whole trace shows" % (
                t["name"], t["tid"], span)


def check_path(directories, tid, window):
    arguments = ["--from", "%dns" % window[0], "--to", "%dns" % window[1]] if window else []
    report = json.loads(output("delay", "--thread", str(tid), "--format", "json", *arguments, *directories))
    begin, end = report["window"]["begin"], report["window"]["end"]
    assert not window or (begin, end) == window, "window %d..%d" % (begin, end)
    for what in ("critical_path", "lineage"):
        pieces = report[what]
        if not pieces and len(report["threads"]) > 1:
            continue    # the TID of several threads (used again, or on both hosts): no path
        assert pieces, "thread %d: no %s" % (tid, what)
        assert pieces[0]["begin"] == begin and pieces[-1]["end"] == end, "thread %d: %s is %d..%d, window %d..%d" % (
            tid, what, pieces[0]["begin"], pieces[-1]["end"], begin, end)
        for a, b in zip(pieces, pieces[1:]):
            assert a["end"] == b["begin"], "thread %d: %s has a hole or overlap at %d" % (tid, what, a["end"])
        if what == "critical_path":
            assert sum(p["ns"] for p in pieces) == end - begin, "thread %d: %s does not sum" % (tid, what)
            assert all(p["ns"] == p["end"] - p["begin"] > 0 for p in pieces), "thread %d: empty piece" % tid


def all_threads(directories, window=None):
    arguments = ["--from", "%dns" % window[0], "--to", "%dns" % window[1]] if window else []
    return output("delay", "--thread", "all", "--limit", "0", "--format", "json", *arguments, *directories)


def windows(whole, dice):
    """Five windows: two between the ends of states, three anywhere; of a long trace one of each, but in make
    check-long."""
    begin, end = whole["window"]["begin"], whole["window"]["end"]
    edges = sorted({b["begin"] for t in whole["threads"] for b in t["causality"]} |
                   {b["end"] for t in whole["threads"] for b in t["causality"]})
    few = whole["coverage"]["events"] > 50000 and not LONG
    for i in (0, 2) if few else range(5):
        draw = (lambda: dice.choice(edges)) if i < 2 else (lambda: dice.randint(begin, end))
        low, high = 0, 0
        while low >= high:
            low, high = sorted((draw(), draw()))
        yield low, high


def paths(tap, name, directories, report, dice, window=None):
    busy = [t["tid"] for t in report["threads"] if t["begin"] < t["end"] == report["window"]["end"]
            and any(c["key"] == "working" for c in t["summary"]["children"])]
    for tid in sorted(dice.sample(busy, min(1 if report["coverage"]["events"] > 500000 else 2, len(busy)))):
        tap.case("%s: critical path of thread %d" % (name, tid), check_path, directories, tid, window)


def check_trace(tap, name, directories):
    dice = random.Random(name)
    text = all_threads(directories)
    again = hashlib.sha256(all_threads(directories)).digest()
    tap.ok(hashlib.sha256(text).digest() == again, name + ": the same bytes twice")
    whole = json.loads(text)
    lives = Lives(whole)
    tap.case(name + ": all of it", check_report, whole, lives)
    paths(tap, name, directories, whole, dice)
    for number, window in enumerate(windows(whole, dice), 1):
        title = "%s: window %d (%dns to %dns)" % (name, number, *window)
        try:
            part = json.loads(all_threads(directories, window))
        except (AssertionError, ValueError) as error:
            tap.ok(False, title, error)
            continue
        tap.ok(part["window"] == {"begin": window[0], "end": window[1]}, title + " is the one asked for")
        tap.case(title, check_report, part, lives)
        tap.case(title + ": states as in the whole", check_same_leaves, whole, part)
        paths(tap, title, directories, part, dice, window)


def main():
    tap = Tap()
    if len(sys.argv) > 1:
        cases = [(one, one.split(",")) for one in sys.argv[1:]]
    else:
        # a million events of few kinds: with WHYLATE_LONG=1
        cases = [(name, [trace(name)]) for name in sample(TRACES) if LONG or name != "zero-read"]
        cases.append(("both hosts", trace("two-hosts-client", "two-hosts-server")))
    for name, directories in cases:
        try:
            check_trace(tap, name, directories)
        except (AssertionError, ValueError) as error:
            tap.ok(False, name, error)
    return tap.done()


sys.exit(main())
