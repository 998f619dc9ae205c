#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Locks on recorded traces: who held them, in which order, and who is stuck.

futex: truth.tsv has a line of each thread right after it gave the mutex up, so
the order of its lines is the order of the owners. web-mixed, lock-lapse, wide and
hang: what their README says, times from truth.tsv. Which calls were made when is
read from babeltrace2's text, not from whylate."""
import re
import subprocess
import sys

import whylate_test as t

MS = 1000000
tap = t.Tap()


def truth(name, columns=4):
    with open(t.trace(name) + "/truth.tsv") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return [row for row in rows if len(row) == columns]


def flat(blocks):
    for block in blocks:
        yield block
        yield from flat(block.get("children", []))


def waits(name, *arguments):
    """Own waits of each thread asked for, with the thread."""
    report = t.report("delay", t.trace(name), "--limit", "0", *arguments)
    return [(thread, block) for thread in report["threads"] for block in thread["causality"]]


def events(name, pattern):
    """(time, cpu, event, text) of babeltrace2's lines with that event."""
    text = subprocess.run(["babeltrace2", "--clock-seconds", t.trace(name)], check=True,
                          capture_output=True).stdout.decode()
    for line in text.splitlines():
        match = re.match(r"\[(\d+)\.(\d+)\] \S+ \S+ (\w+): \{ cpu_id = (\d+) \}(.*)", line)
        if match and re.match(pattern, match.group(3)):
            yield (int(match.group(1)) * 10 ** 9 + int(match.group(2)), int(match.group(4)),
                   match.group(3), match.group(5))


def hand_overs():
    """Whoever notes in truth.tsv, during a wait for the mutex, that it has had it (after a wait
    of its own; short ones are not noted) is among the wait's owners, and gave it up just
    before. The last owner is who woke the waiter."""
    lines = [(int(row[0]), int(row[2])) for row in truth("futex")]
    matched = naps = 0
    for thread, block in waits("futex", "--thread", "lock-*"):
        if block["begin"] < lines[0][0] or block["woken_by"]["kind"] != "thread" or "lock" not in block:
            continue  # the two lines before that are torn
        owners = block["lock"]["sequence"]
        assert owners[-1]["tid"] == block["woken_by"]["tid"], block
        assert thread["tid"] not in [owner["tid"] for owner in owners], block
        for time, tid in lines:
            if owners[0]["begin"] + MS < time <= owners[-1]["end"]:
                assert any(owner["tid"] == tid and 0 <= time - owner["end"] < MS for owner in owners), (
                    time, tid, owners)
                matched += 1
        nap = [h for h in block["lock"]["holders"] if h["longest_ns"] > 25 * MS]
        if block["ns"] > 25 * MS:  # lock-0 napped 30 ms with it
            assert len(nap) == 1 and nap[0]["name"] == "lock-0", block["lock"]["holders"]
            assert nap[0]["longest"] == "blocked/syscall:clock_nanosleep", nap
            assert 28 * MS < nap[0]["longest_ns"] < 31 * MS, nap
            naps += 1
        else:
            assert not nap, block
    # four naps, and three others that wait for each to end
    assert naps == 12 and matched > 60, (naps, matched)


def turns_sum():
    """Holdings do not overlap, lie in the wait, and make up its length with what is between."""
    found = 0
    for name, thread in (("futex", "lock-*"), ("lock-lapse", "writer-*"), ("web-mixed", "app")):
        for _, block in waits(name, "--thread", thread):
            lock = block.get("lock")
            if not lock:
                continue
            found += 1
            at = block["begin"]
            total = lock["between_ns"]
            for holding in lock["sequence"]:
                assert at <= holding["begin"] < holding["end"] <= block["end"], (holding, block)
                at = holding["end"]
                total += holding["end"] - holding["begin"]
            assert total == block["ns"], (total, block)
            for holder in lock["holders"]:
                parts = [h["end"] - h["begin"] for h in lock["sequence"] if h["tid"] == holder["tid"]]
                assert sum(parts) == holder["ns"] and len(parts) == holder["count"], holder
                assert (holder["working_ns"] + holder["interrupted_ns"] + holder["blocked_ns"] +
                        holder["unknown_ns"] == holder["ns"]), holder
    assert found > 150, found


def convoy():
    """Queue and waits of the mutex, counted from the calls on it in babeltrace2's text: who
    waits is who has entered FUTEX_WAIT and not left it."""
    address = None
    report = t.report("overview", t.trace("futex"))
    lock = report["locks"][0]
    assert lock["kind"] == "mutex" and lock["certainty"] == "inferred", lock
    address = str(int(lock["name"].split(":")[1], 16))
    running, waiting, longest, calls = {}, set(), 0, 0
    for time, cpu, name, text in events("futex", r"sched_switch|syscall_(entry|exit)_futex"):
        if name == "sched_switch":
            running[cpu] = int(re.search(r"next_tid = (\d+)", text).group(1))
        elif name == "syscall_entry_futex" and "uaddr = %s," % address in text and "op = 128," in text:
            waiting.add(running[cpu])
            longest = max(longest, len(waiting))
        elif name == "syscall_exit_futex" and running[cpu] in waiting:
            waiting.discard(running[cpu])
            calls += "ret = -11," not in text
    assert (lock["queue"], lock["waits"]) == (longest, calls), (lock, longest, calls)
    assert lock["waiters"] == 4 and lock["convoy"]["queue"] <= longest, lock
    # lock-0 naps 4 times 30 ms with it, and three wait meanwhile: more than 300 ms of the sum
    assert lock["holders"][0]["name"] == "lock-0" and lock["holders"][0]["ns"] > 300 * MS, lock
    assert lock["convoy"]["handovers"] >= 5, lock["convoy"]


def flocks():
    """Requests of kind lock: the thread's wait in flock is lockholder's, nearly all of it."""
    asked = {int(row[3]): int(row[2]) for row in truth("web-mixed", 5) if row[1] == "lock"}
    found = {}
    for thread, block in waits("web-mixed", "--thread", "app"):
        if block["leaf"] == "blocked/syscall:flock":
            found[thread["tid"]] = block
    assert set(found) <= set(asked) and len(found) >= 5, (sorted(found), sorted(asked))
    for tid, block in found.items():
        first = block["lock"]["holders"][0]
        assert block["lock"]["kind"] == "flock" and first["name"] == "lockholder", block["lock"]
        assert first["certainty"] == "seen" and first["ns"] > 0.9 * block["ns"], (first, block["ns"])
        assert block["ns"] <= asked[tid], (block, asked[tid])  # part of the handling time
        assert block["cause"]["kind"] == "lock-owner" and block["cause"]["certainty"] == "seen", block


def priority_inheritance():
    """Four times pi-waiter wants what pi-holder has; sched_pi_setprio names whom it raises."""
    noted = [int(row[3].split("ns=")[1]) for row in truth("wide") if row[3].startswith("pi-lock")]
    lock, = t.report("overview", t.trace("wide"))["locks"]
    assert lock["kind"] == "pi-mutex" and lock["waits"] == len(noted) == 4, (lock, noted)
    assert 0 <= sum(noted) - lock["ns"] < 1 * MS, (sum(noted), lock["ns"])  # notes hold the call
    assert [h["name"] for h in lock["holders"]] == ["pi-holder"], lock
    assert lock["certainty"] == "seen" and lock["longest"]["name"] == "pi-waiter", lock
    raised = [text for _, _, _, text in events("wide", "sched_pi_setprio") if "newprio" in text]
    old, new = map(int, re.search(r'comm = "pi-holder".*oldprio = (-?\d+), newprio = (-?\d+)',
                                  raised[0]).groups())
    inversion = lock["priority_inversion"]
    assert (inversion["owner_priority"], inversion["boosted_to"]) == (old, new), inversion
    assert inversion["waiter_priority"] == new and inversion["name"] == "pi-holder", inversion


def flusher():
    """Collapsing the file's range holds its lock: writers wait for the flusher most."""
    lock, = t.report("overview", t.trace("lock-lapse"))["locks"]
    assert lock["kind"] == "file" and lock["certainty"] == "inferred", lock
    assert lock["holders"][0]["name"] == "flusher", lock["holders"]
    assert lock["holders"][0]["ns"] > 0.6 * lock["ns"] and lock["waiters"] == 4, lock


def spinning():
    """A writer that waited 20 ms at 10:21:41.3177: babeltrace2 shows the flusher in a pwrite64 until
    .334135 and writer-2's, begun before, ending after that: until then the flusher had the lock."""
    first, = [b for _, b in waits("lock-lapse", "--thread", "writer-1")
              if b["leaf"] == "blocked/syscall:pwrite64" and b["begin"] == 1795256501317741705]
    ends = {}
    for time, _, name, text in events("lock-lapse", "syscall_exit_pwrite64"):
        if first["begin"] < time < first["end"] and "ret = 512 " not in text:
            ends["flusher"] = time  # it writes more than the writers' 512 bytes
    last = max(h["end"] for h in first["lock"]["sequence"] if h["name"] == "flusher")
    assert abs(last - ends["flusher"]) < 1 * MS, (last, ends)
    assert first["lock"]["holders"][0]["name"] == "flusher", first["lock"]["holders"]
    verdict = t.report("delay", t.trace("lock-lapse"), "--thread", "writer-1", "--from", "%dns" % first["begin"],
                       "--to", "%dns" % first["end"])["verdict"]
    assert any("for writer-2 (229) in pwrite64" in line and "writer-2 worked" in line and
               "spinning for a lock that flusher (226) had (inferred)" in line for line in verdict), verdict
    verdict = t.report("delay", t.trace("wide"), "--thread", "pi-waiter")["verdict"]
    assert any("in futex" in line and "a lock that pi-holder (232) had" in line for line in verdict), verdict


def event_loop():
    """nginx waits for all its clients and servers at once: what ended such a wait and was for another request led
    to nothing, which its answers' sockets show. Nothing is left that could not be decided."""
    client = min(int(row[3]) for row in truth("web-mixed", 5))
    verdict = t.report("delay", t.trace("web-mixed"), "--thread", "235")["verdict"]
    assert any("which waited for app (239) in epoll_wait" in line for line in verdict), verdict
    assert any(line.startswith("Also woke these waits, but changed nothing: ") for line in verdict), verdict
    assert not any(line.startswith("Not sure: ") for line in verdict), verdict
    verdict = t.report("delay", t.trace("web-mixed"), "--thread", str(client))["verdict"]  # of app: no loop between
    assert not any(line.startswith("Not sure: ") for line in verdict), verdict


def deadlocks(name, expected):
    found = t.report("overview", t.trace(name), "--quiet")["deadlocks"]
    assert [[x["name"] for x in d["threads"]] for d in found] == expected, found
    assert all(d["certainty"] == "inferred" for d in found), found


tap.case("futex: the owners in each wait, in truth.tsv's order", hand_overs)
tap.case("holdings tile their wait", turns_sum)
tap.case("futex: queue and waits as in babeltrace2's text", convoy)
tap.case("web-mixed: flocks are lockholder's", flocks)
tap.case("wide: the PI mutex's owner and what it was raised to", priority_inheritance)
tap.case("lock-lapse and wide: who spins is no owner", spinning)
tap.case("web-mixed: the way through an event loop", event_loop)
tap.case("lock-lapse: the flusher has the file's lock", flusher)
for name in t.TRACES:
    tap.case("deadlocks in " + name, deadlocks, name, [["dead-1", "dead-2"]] if name == "hang" else [])
sys.exit(tap.done())
