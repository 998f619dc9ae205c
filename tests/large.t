# SPDX-License-Identifier: MIT
"""Much of one kind, in small: all of it is in the reports. bench/large.py writes the traces, and measures large ones."""
import json
import sys
import tempfile

import whylate_test as t

sys.path.insert(0, t.SOURCE + "/tests/bench")
import large  # noqa: E402

large.ROUNDS = 2000

tap = t.Tap()


def report(place, *arguments):
    return json.loads(t.output(*arguments, "--cache", "off", "--quiet", "--format", "json", place))


def made(kind, count, check):
    with tempfile.TemporaryDirectory() as place:
        events = large.make(kind, count, place + "/t")
        whole = report(place + "/t", "overview")
        assert whole["coverage"]["events"] == events, (whole["coverage"], events)
        assert not whole["coverage"].get("damage"), whole["coverage"]
        check(place + "/t", count)


def threads_of(place):
    return report(place, "delay", "--thread", "all", "--limit", "0")["threads"]


def threads(tids):
    """Each thread is there, once."""
    def check(place, count):
        found = sorted(thread["tid"] for thread in threads_of(place))
        assert found == tids(count), (len(found), count, found[:5])
    return check


def calls(name, each=1, unfinished=0):
    """Each call was an operation, but for those that the trace ends in."""
    def check(place, count):
        rows = report(place, "profile", "--operation", "syscall:" + name, "--limit", "0")["profiles"]
        assert sum(row["count"] for row in rows) == count * each - unfinished, (rows[:2], count)
    return check


def long_names(place, count):
    found = {thread["tid"]: thread["name"] for thread in threads_of(place)}
    assert all(found[10 + i] == "c%d" % i * 7000 for i in range(count)), sorted(found)


for _kind, _count, _check in t.sample((
        ("threads_alive", 3000, threads(lambda n: list(range(10, 10 + n)))),
        ("threads_passing", 3000, threads(lambda n: [5] + list(range(10, 10 + n)))),
        ("threads_ready", 1000, threads(lambda n: list(range(10, 10 + n)))),
        ("descriptors", 3000, calls("read")), ("locks", 3000, calls("futex", 2, 1)), ("locks_held", 2000, calls("flock", 2)),
        ("waiters", 500, calls("futex", 2, 1)), ("intervals", 20000, calls("read", 0.5)),
        ("naps", 3000, threads(lambda n: [5, 6])), ("names", 20, long_names),
        ("streams", 300, threads(lambda n: list(range(10, 10 + n)))), ("fields", 1000, threads(lambda n: [5])),
        ("classes", 2000, lambda place, count: None),
        ("turns", 100, threads(lambda n: list(range(10, 10 + n)))), ("spread", 16, threads(lambda n: list(range(10, 10 + n)))))):
    tap.case(_kind, made, _kind, _count, _check)
sys.exit(tap.done())
