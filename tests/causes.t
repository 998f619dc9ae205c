# SPDX-License-Identifier: MIT
"""Every wait of more than a millisecond of the programs that noted what they did (truth.tsv, traces/README.md) ends in
the cause noted. A wait is taken apart down the chain: what the thread it leads to worked, was ready without a CPU, and its
own waits in turn; what is left at the end of a hand-over is the messenger's. Expectations are from the notes alone."""
import collections
import subprocess
import sys

import whylate_test as t

MS = 1000000
tap = t.Tap()

# kind: a cause's, or "cpu" and "ready" for a thread's own time; who: name of that thread; wait: the block it ends in
End = collections.namedtuple("End", "kind who ns wait")


def ends(wait):
    """The parts of a wait by what each ends in; they sum to its length."""
    if "share" not in wait:
        yield End(wait["cause"]["kind"], wait["name"], wait["ns"], wait)
        return
    share, left = wait["share"], wait["ns"]
    for key, kind in (("working_ns", "cpu"), ("interrupted_ns", "ready"), ("unknown_ns", "unknown")):
        if share[key]:
            yield End(kind, share["name"], share[key], wait)
        left -= share[key]
    for child in wait["children"]:
        yield from ends(child)
        left -= child["ns"]
    assert left >= 0, ("more than the wait", wait)
    if left:  # the way of a packet or request; else what ended before the waker was born
        yield End(wait["cause"]["kind"] if "via" in wait else "before", wait["name"], left, wait)


def main_end(wait):
    """(kind, who) with the largest share of the wait, and the share."""
    sums = collections.Counter()
    for end in ends(wait):
        sums[end.kind, end.who] += end.ns
    (found, ns), = sums.most_common(1)
    return found, ns / wait["ns"]


def truth(name, columns=4):
    with open(t.trace(name) + "/truth.tsv", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return [r for r in rows if len(r) == columns]


def threads(name, *names):
    arguments = [a for n in names for a in ("--thread", n)]
    found = t.report("delay", t.trace(name), "--limit", "0", *arguments)["threads"]
    assert found
    return found


def long_waits(thread):
    return [b for b in thread["causality"] if b["ns"] > MS]


def flat(waits):
    for wait in waits:
        yield wait
        yield from flat(wait.get("children", []))


def is_timer(end, low, high):
    """A timer of `low` to `high` ms that the thread armed itself."""
    resource = end.wait.get("resource", {})
    asked = resource.get("length_ns", resource.get("timeout_ns", -1))
    return (end.kind == "timer" and low * MS <= asked <= high * MS and "armed by itself" in end.wait["cause"]["label"])


def pipe_chain():
    """op N root=R ns=L, noted at its end: whoever of the three waited in it waited for R, done by stage-c. Between two
    operations stage-a naps 2 ms (seen in its arguments), and the others wait for that."""
    operations = [(int(r[0]), *(w.split("=")[1] for w in r[3].split()[2:])) for r in truth("pipe-chain")]
    roots = {"cpu": ("cpu", "stage-c"), "disk": ("block-device", "stage-c"), "timer": ("timer", "stage-c")}
    checked = collections.Counter()
    for thread in threads("pipe-chain", "stage-*"):
        for wait in long_waits(thread):
            if wait["leaf"] in ("blocked/syscall:execve", "blocked/syscall:wait4"):
                continue  # before and after
            # the next operation's nap and call begin where one ends; 3 ms: the first note was late
            inside = [o for o in operations if o[0] - int(o[2]) - 3 * MS <= wait["begin"] and wait["end"] <= o[0]]
            parts = list(ends(wait))
            nap = [e for e in parts if e.who == "stage-a" and is_timer(e, 1.9, 2.1)]
            found, share = main_end(wait)
            if nap and found[1] in ("stage-a", "stage-b"):
                checked["nap"] += 1
            elif wait["begin"] > operations[-1][0] or not inside:
                checked["outside"] += 1
            else:
                assert found == roots[inside[0][1]] and share > 0.5, (inside, found, share, wait["begin"])
                if inside[0][1] == "timer":
                    assert any(is_timer(e, 19.9, 20.1) for e in parts), wait
                if inside[0][1] == "disk":
                    assert all(e.wait["cause"]["label"].startswith("vda, sector") for e in parts
                               if e.kind == "block-device"), wait
                checked[inside[0][1]] += 1
    # 21 operations, 7 of each kind: two or three waits each (cpu: stage-c works itself), disk a read at a time besides
    assert checked["cpu"] >= 12 and checked["timer"] >= 18 and checked["disk"] >= 60, checked
    assert checked["nap"] >= 40 and checked["outside"] <= 4, checked


def polls():
    """Each wait that found fd=N ready ended in feeder's write, which came after feeder's nap of 5 to 12 ms."""
    poller, feeder = sorted(threads("polls", "poller", "feeder"), key=lambda x: x["tid"])
    notes = [r for r in truth("polls") if int(r[2]) == poller["tid"] and "fd=" in r[3]]
    long = [b for b in long_waits(poller) if b["resource"]["kind"] == "pipe"]
    assert len(long) >= 20, len(long)
    for wait in long:
        noted = [r for r in notes if int(r[0]) >= wait["end"]][0]
        assert wait["resource"]["fd"] == int(noted[3].split("fd=")[1]), (noted, wait)
        assert wait["cause"]["kind"] == "process" and wait["woken_by"]["tid"] == feeder["tid"], wait
        # the pipe that feeder wrote to is the one that was ready
        assert wait["cause"]["label"] == "feeder (%d) in write on pipe:%s" % (
            feeder["tid"], wait["resource"]["name"]), wait["cause"]
        (_, who), share = main_end(wait)
        assert who == "feeder" and share > 0.45, (who, share, wait)
        if wait is not long[0]:  # feeder was started meanwhile
            assert main_end(wait)[0] == ("timer", "feeder"), main_end(wait)
    naps = [b for b in long_waits(feeder)]
    assert all(main_end(b)[0] == ("timer", "feeder") for b in naps) and len(naps) == 24
    timer = [b for b in long_waits(poller) if b["resource"]["kind"] == "timerfd"]
    assert len(timer) == 1 and main_end(timer[0])[0] == ("timer", "poller"), timer
    assert "armed by itself in timerfd_settime" in timer[0]["cause"]["label"], timer


def futex():
    """Whoever waits for the mutex while lock-0 naps 30 ms with it waits for that timer; all other waits of a
    millisecond are for the others' turns."""
    found = threads("futex", "lock-*")
    naps = [(b["begin"], b["end"]) for x in found for b in x["causality"] if x["name"] == "lock-0"
            and b["leaf"] == "blocked/syscall:clock_nanosleep" and b["ns"] > 25 * MS]
    assert len(naps) == 4
    during = turns = 0
    for thread in found:
        for wait in long_waits(thread):
            if wait["leaf"] != "blocked/syscall:futex":
                continue
            overlap = sum(max(0, min(e, wait["end"]) - max(b, wait["begin"])) for b, e in naps)
            (kind, who), share = main_end(wait)
            others = {"lock-%d" % i for i in range(4)} - {thread["name"]}
            assert all(e.who in others or e.who == thread["name"] and e.kind in ("before", "process", "lock-owner")
                       for e in ends(wait)), wait
            if overlap > 5 * MS:
                assert (kind, who) == ("timer", "lock-0") and share > 0.8, (kind, who, share)
                asked = [e for e in ends(wait) if e.kind == "timer" and e.ns > 5 * MS]
                assert len(asked) == 1 and is_timer(asked[0], 29.9, 30.1), wait
                during += 1
            else:
                assert who in others and kind in ("cpu", "ready", "timer"), (kind, who, wait)
                turns += 1
    assert during == 12 and turns > 100, (during, turns)  # three wait during each nap
    noted = [int(r[3].split()[1]) for r in truth("futex")]
    assert sum(ns > 25 * MS for ns in noted) == 12  # as they say themselves


def hang():
    """Nobody ended them: the two that hold each other's mutex, and flock-wait; `hang` sleeps on."""
    for thread in threads("hang", "dead-1", "dead-2", "flock-wait"):
        last = thread["causality"][-1]
        assert last["end"] == thread["end"] and last["ns"] > 500 * MS, last
        assert last["cause"]["kind"] in ("still-blocked", "deadlock", "lock-owner"), last
        for wait in long_waits(thread)[:-1]:  # the 50 ms before each took its second one
            assert main_end(wait)[0][0] in ("timer", "block-device"), wait


def disk_read():
    """`direct` and `fault`: all that the reader waited for in the time noted was the disk, by requests of its own."""
    reader, = threads("disk-read", "diskread")
    notes = [(int(r[0]), r[3].split()) for r in truth("disk-read")]
    calls = {"direct": "blocked/syscall:pread64", "fault": "blocked/trap:page_fault"}
    checked = collections.Counter()
    for wait in long_waits(reader):
        noted = [w for time, w in notes if time - int(w[1]) <= wait["begin"] and wait["end"] <= time]
        if not noted:
            # caches are dropped by a shell in between; the reads and faults before the first note are for warming
            checked["other " + wait["leaf"]] += 1
            continue
        assert wait["leaf"] == calls[noted[0][0]], (noted, wait["leaf"])
        assert main_end(wait) == (("block-device", "diskread"), 1), wait
        label = wait["cause"]["label"]
        assert label.startswith("vda, sector") and "issued by itself" in label, label
        assert wait["cause"]["served_ns"] > 0.5 * wait["ns"], wait
        checked[noted[0][0]] += 1
    # Shorter ones may have been kept off the CPU instead: before the disk was throttled, a request was done before its
    # issuer slept. From 9 ms on there is a wait in each.
    for time, (kind, ns, *_) in notes:
        inside = [b for b in long_waits(reader) if time - int(ns) <= b["begin"] and b["end"] <= time]
        assert inside or int(ns) < 9 * MS, (time, kind, ns)
    assert checked["direct"] >= 20 and checked["fault"] >= 50, checked
    assert all(k in ("direct", "fault", "other blocked/syscall:clone3", "other blocked/syscall:wait4")
               for k in checked), checked


def startup_chain():
    """Xorg's sleeps (README) are what xinit waited for in select (noted: its length); then disk, CPU and a sleep of 40 ms
    in the chain down to autostart."""
    found = {(x["name"], x["tid"]): x for x in threads("startup-chain", "xinit", "Xorg", "x-session", "kdeinit", "autostart")}
    by_name = collections.defaultdict(list)
    for (name, _), thread in found.items():
        by_name[name] += long_waits(thread)
    select, = [b for b in by_name["xinit"] if b["leaf"] == "blocked/syscall:pselect6"]
    noted, = [int(r[3].split("=")[1]) for r in truth("startup-chain") if "blocked_ns" in r[3]]
    assert abs(select["ns"] - noted) < 5 * MS, (select["ns"], noted)
    assert main_end(select)[0] == ("timer", "Xorg") and main_end(select)[1] > 0.9, main_end(select)
    sleeps = [e for e in ends(select) if e.kind == "timer"]
    assert len(sleeps) == 40 and all(is_timer(e, 9.9, 30.1) for e in sleeps), len(sleeps)
    for name, waits in by_name.items():
        for wait in waits:
            call = wait["leaf"].split(":")[-1]
            if call in ("pread64", "execve", "read"):
                assert main_end(wait) == (("block-device", name), 1), wait
            elif call == "clock_nanosleep":
                assert main_end(wait) == (("timer", name), 1), wait
            elif call == "wait4":  # all down to what each did: nothing is left open, and the 40 ms sleep is in it
                kinds = collections.Counter()
                for end in ends(wait):
                    kinds[end.kind] += end.ns
                assert set(kinds) <= {"cpu", "ready", "timer", "block-device", "before", "child"}, kinds
                assert kinds["before"] + kinds["child"] < 0.05 * wait["ns"], kinds
                long = [e for e in ends(wait) if e.kind == "timer"]
                if name != "kdeinit" or wait["ns"] > 50 * MS:
                    assert len(long) == 1 and is_timer(long[0], 39.9, 40.1), long


def signals():
    """Who stopped and continued whom, who sent the signal, the child, the timer: by the pids that truth.tsv has."""
    notes = truth("signals")
    main, stopped = int(notes[0][2]), int(notes[0][3].split("pid=")[1].split()[0])
    found = {x["tid"]: x for x in threads("signals", "all")}
    stop, = [b for b in long_waits(found[stopped]) if b["leaf"] == "blocked/stopped"]
    assert stop["cause"]["kind"] == "stopped" and "stopper (%d)" % main in stop["cause"]["label"], stop["cause"]
    noted = {r[3].split()[0]: int(r[3].split("ns=")[1]) for r in notes}
    assert abs(stop["ns"] - noted["stopped"]) < 5 * MS
    # meanwhile stopper slept, 60 ms (README)
    assert main_end(stop)[0] == ("timer", "stopper") and any(is_timer(e, 59.9, 60.1) for e in ends(stop)), stop
    waits = {b["leaf"].split(":")[-1]: b for b in long_waits(found[main])}
    pause = waits["pause"]
    signaller = pause["woken_by"]["tid"]
    assert pause["cause"]["kind"] == "signal" and pause["woken_by"]["name"] == "signaller", pause
    assert pause["cause"]["label"] == "signal 10 (SIGUSR1) from signaller (%d)" % signaller, pause["cause"]
    assert main_end(pause)[0] == ("timer", "signaller"), main_end(pause)
    timed = waits["rt_sigtimedwait"]
    end, = ends(timed)
    assert is_timer(end, 34.9, 35.1) and end.who == "stopper", timed
    spawns = [b for b in long_waits(found[main]) if b["leaf"] == "blocked/syscall:clone3"]
    assert len(spawns) == sum(r[3].startswith("spawn") for r in notes) == 3
    for wait in spawns:
        child = found[wait["woken_by"]["tid"]]
        assert wait["cause"]["kind"] == "child" and wait["woken_by"]["context"] == "syscall:execve", wait
        assert child["name"] == "true" and wait["begin"] <= child["begin"] + 3 * MS < wait["end"] + 3 * MS, (child["begin"], wait)
        assert main_end(wait)[0] == ("cpu", "true"), main_end(wait)


def wide():
    """An echo's answer comes after the echo thread's nap of 3 ms, over loopback; an fsync waits for the disk."""
    found = {x["name"]: x for x in threads("wide", "widemain", "echo")}
    notes = [(int(r[0]), r[3].split()) for r in truth("wide")]
    answers = 0
    for time, (kind, length) in notes:
        begin, end = time, time + int(length.split("=")[1])
        inside = [b for b in long_waits(found["widemain"]) if begin - MS < b["begin"] and b["end"] <= end + MS]
        if kind == "echo":
            wait, = inside
            assert wait["resource"]["name"] == "127.0.0.1:6001" and wait["cause"]["kind"] == "network", wait
            assert wait["cause"]["label"] == "packet from 127.0.0.1:6001, sent by echo (%d) in %s" % (
                found["echo"]["tid"], "write"), wait["cause"]
            assert [v["kind"] for v in wait["via"]] == ["packet", "softirq"] and wait["via"][0]["name"] == "echo", wait
            assert main_end(wait)[0] == ("timer", "echo"), main_end(wait)
            answers += 1
        elif kind == "fsync":
            assert inside and all(b["leaf"] == "blocked/syscall:fsync" for b in inside), inside
            disk = sum(e.ns for b in inside for e in ends(b) if e.kind == "block-device")
            assert disk > 0.8 * sum(b["ns"] for b in inside), (disk, [main_end(b) for b in inside])
            assert all(e.wait["cause"]["label"].startswith("vda") for b in inside for e in ends(b)
                       if e.kind == "block-device"), inside
    assert answers == 8


def led_to(wait, tid):
    """The waits in the tree that lead to thread `tid`, at whatever depth."""
    if wait.get("share", {}).get("tid") == tid:
        return [wait]
    return [found for child in wait.get("children", []) for found in led_to(child, tid)]


def by_call(waits, begin, end, length):
    """A thread's time in [begin, end) by the calls that it waited in; the rest, of `length`, is work."""
    sums = collections.Counter()
    for wait in waits:
        sums[wait["leaf"].split(":")[-1]] += max(0, min(wait["end"], end) - max(wait["begin"], begin))
    sums["work"] = length - sum(sums.values())
    return sums


# where a request of that kind spends its time in app (README): in which call, or in its own work
WEB = {"plain": "work", "cpu": "work", "disk": "preadv2", "log": "fsync", "lock": "flock"}


def web_request(waits, nginx, served, kind, begin, end):
    """One request, served by thread `served` of app; whether webclient's wait led there."""
    long = end - begin > 10 * MS  # shorter: the pages were in memory, the lock was free
    spent = by_call(served["causality"], begin, end, end - begin)
    assert not long or spent[WEB[kind]] > 0.5 * (end - begin), (kind, spent)
    for wait in long_waits(served):
        if begin <= wait["begin"] and wait["end"] <= end:
            (cause, who), _ = main_end(wait)
            call = wait["leaf"].split(":")[-1]
            assert call != "preadv2" or (cause, who) == ("block-device", "app"), (kind, wait)
            assert call != "fsync" or cause in ("block-device", "cpu", "ready"), (kind, cause, wait)
            assert call != "flock" or who in ("lockholder", "app"), (kind, who, wait)
    led = [w for b in waits if b["begin"] < end and b["end"] > begin for w in led_to(b, served["tid"]) if w["end"] > begin]
    for wait in led:
        share = wait["share"]
        spent = by_call(wait["children"], wait["begin"], wait["end"], share["working_ns"] + share["interrupted_ns"] +
                        share["blocked_ns"])
        assert wait["ns"] < 10 * MS or max(spent, key=spent.get) == WEB[kind], (kind, spent, wait["begin"])
    if not led:  # the answer came while nginx worked for the other client, and woke nobody
        assert not [b for b in nginx if b["begin"] < end - MS // 3 and b["end"] > end], (kind, begin)
    return bool(led)


def web_mixed():
    """40 requests, with the thread that served each: webclient's wait leads over nginx to that thread, and there to what
    the request's kind says."""
    everybody = threads("web-mixed", "webclient", "nginx", "app")
    app = {x["tid"]: x for x in everybody if x["name"] == "app"}
    # nginx's master waits all through
    nginx = [b for x in everybody if x["name"] == "nginx" for b in x["causality"] if b["cause"]["kind"] != "still-blocked"]
    waits = [b for x in everybody if x["name"] == "webclient" for b in long_waits(x)
             if b["leaf"] == "blocked/syscall:recvfrom"]
    assert waits and all(b["cause"]["kind"] == "network" and "sent by nginx" in b["cause"]["label"] for b in waits)
    rows = truth("web-mixed", 5)
    assert len(rows) == 40 and collections.Counter(r[1] for r in rows) == {k: 8 for k in WEB}, rows
    led = [web_request(waits, nginx, app[int(tid)], kind, int(time), int(time) + int(ns)) for time, kind, ns, tid, _ in rows]
    print("# web-mixed: %d of %d requests led to app" % (sum(led), len(led)))
    assert sum(led) >= 36, led


def kinds():
    """The schemas name the kinds of causes that the program's table has."""
    subprocess.run([sys.executable, t.SOURCE + "/share/schema/kinds.py"], check=True)


for case in (kinds, pipe_chain, polls, futex, hang, disk_read, startup_chain, signals, wide, web_mixed):
    tap.case(case.__name__.replace("_", "-"), case)
sys.exit(tap.done())
