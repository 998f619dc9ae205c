#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""whylate requests: which requests there are, against tests/oracle/requests.py and the programs' own notes
(truth.tsv); what they cost, against identities that hold for any trace, the notes, and the calls and block requests
that babeltrace2 prints; which of them are picked; both ways in, and what was kept of the trace."""
import collections
import functools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

import whylate_test as t

MS = 1000000
ORACLE = t.SOURCE + "/tests/oracle/requests.py"
PRESETS = ("server", "client", "process")
BOTH = ("two-hosts-client", "two-hosts-server")
UNITS = {"disk-bytes": "bytes", "net-bytes": "bytes", "calls": "calls"}
tap = t.Tap()


@functools.lru_cache(maxsize=None)
def listed(*arguments):
    """The report on traces, which are named alone, with options."""
    names = [a for a in arguments if a in t.TRACES]
    paths = t.trace(*names) if len(names) > 1 else [t.trace(names[0])]
    return t.report("requests", *paths, "--quiet", "--limit", "0", *[a for a in arguments if a not in names])


def truth(name):
    with open(t.trace(name) + "/truth.tsv", encoding="utf-8") as file:
        return [line.split() for line in file]


def web_truth():
    """{tid: (begin, kind, ns)}: a thread of app serves one request."""
    return {int(r[3]): (int(r[0]), r[1], int(r[2])) for r in truth("web-mixed")}


@functools.lru_cache(maxsize=None)
def events(name):
    """(time, cpu, tid or None, event, fields as text) of babeltrace2's text; tid: who runs there by the last switch."""
    text = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", t.trace(name)], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode("utf-8", "replace")
    current, found = {}, []
    for m in re.finditer(r"^\[(\d+)\.(\d{9})\] \S+ (\w+): \{ cpu_id = (\d+)[^}]*\}, (.*)$", text, re.M):
        cpu = int(m[4])
        found.append((int(m[1] + m[2]), cpu, current.get(cpu), m[3], m[5]))
        if m[3] == "sched_switch":
            current[cpu] = int(re.search(r"next_tid = (\d+)", m[5])[1])
    return found


@functools.lru_cache(maxsize=None)
def calls(name):
    """{tid: [(entry, exit, call, returned)]}."""
    opened, found = {}, collections.defaultdict(list)
    for time, _, tid, event, fields in events(name):
        if event.startswith("syscall_entry_"):
            opened[tid] = (time, event[len("syscall_entry_"):])
        elif event.startswith("syscall_exit_") and tid in opened:
            entry, call = opened.pop(tid)
            if call == event[len("syscall_exit_"):]:
                found[tid].append((entry, time, call, int(re.search(r"\bret = (-?\d+)", fields)[1])))
    return found


def within(name, tid, request, *names):
    """The thread's calls of these names that it made for a request: those that begin or return in it."""
    return [c for c in calls(name)[tid] if c[2] in names and request["begin"] <= c[1] and c[0] < request["end"]]


def top(request):
    return request["causes"][0]["kind"], request["causes"][0]["label"]


def cost(request, kind, pattern):
    return sum(c["ns"] for c in request["causes"] if c["kind"] == kind and re.fullmatch(pattern, c["label"]))


# --- which there are ------------------------------------------------------------------------------------------------

def flat(requests, parent=None):
    """(begin, end, first, last, begin of the one that it is part of), and those without an answer."""
    for r in requests:
        yield r, (r["begin"], r["first_tid"], r["end"], r["last_tid"], parent)
        yield from flat(r["inner"], r["begin"])


def with_oracle(name, preset):
    """Asked for all threads, so that the tracer's own are there. Those without an answer end with their process: the
    oracle takes the event sched_process_exit for that, whylate the last switch away from it, some ms later."""
    said = subprocess.run([sys.executable, ORACLE, t.trace(name), "--preset", preset], check=True,
                          stdout=subprocess.PIPE)
    theirs = json.loads(said.stdout)
    answer = listed(name, "--preset", preset, "--thread", "all")
    mine = list(flat(answer["requests"]))
    answered, not_answered = set(), {}
    for r in theirs:
        parent = theirs[r["parent"]]["begin"] if r["parent"] is not None else None
        if r["unfinished"]:
            not_answered[r["begin"], r["begin_tid"]] = r["end"]
        else:
            answered.add((r["begin"], r["begin_tid"], r["end"], r["end_tid"], parent))
    if answer["inferred_connections"]:  # made before the trace: the oracle knows calls and ports only
        begins = {(r["begin"], r["begin_tid"]) for r in theirs}
        mine = [(r, line) for r, line in mine if line[:2] in begins]
    if preset == "client":  # the oracle finds parents of servers' requests only
        mine = [(r, line[:4] + (None,)) for r, line in mine]
    found = {line for r, line in mine if not r["unfinished"]}
    assert len(found) + len(not_answered) == len(mine) and theirs, (len(found), len(not_answered), len(mine))
    assert found == answered, "only whylate: %s\nonly the oracle: %s" % (sorted(found - answered)[:5],
                                                                         sorted(answered - found)[:5])
    ends = {line[:2]: line[2] for r, line in mine if r["unfinished"]}
    assert ends.keys() == not_answered.keys(), (ends, not_answered)
    assert all(0 <= ends[key] - not_answered[key] < 5 * MS for key in ends), (ends, not_answered)


def of_tracer():
    """Left out unless asked for, and counted: those that processes called lttng or lttng-... finished."""
    for name, preset in (("web-mixed", "server"), ("wide", "server"), ("ust-func", "client"), ("ust-func", "server"), ("fork1", "process")):
        some, every = (listed(name, "--preset", preset, *o) for o in ((), ("--thread", "all")))
        pids = {th["pid"] for th in delay_of(name)["threads"] if th["tid"] == th["pid"] and re.match("lttng(-|$)", th["name"])}
        tids = {th["tid"] for th in delay_of(name)["threads"] if th["pid"] in pids}
        tracers = {r["id"] for r in every["requests"] if r["last_tid"] in tids}
        assert tracers and some["of_tracer"] == len(tracers), (name, some["of_tracer"], tracers)
        assert {r["id"] for r in every["requests"]} - tracers == {r["id"] for r in some["requests"]}, name


def web_app():
    """app notes each request's begin (when the question is read and understood), its duration and its thread."""
    found = listed("web-mixed", "--process", "app")["requests"]
    notes = web_truth()
    assert len(found) == len(notes) == 40
    for request in found:
        begin, _, ns = notes.pop(request["last_tid"])
        assert request["first_tid"] == request["last_tid"] and not request["unfinished"], request
        # from when its bytes came: they lie there while app accepts the connection and starts a thread
        assert 0 < begin - request["begin"] < 50 * MS, (begin, request["begin"])
        assert request["begin"] < begin < request["end"], request
        # the note is taken after the last write: not before the end, but for the time of the write's return
        assert request["end"] - (begin + ns) < MS / 10, (request["end"], begin + ns)
        assert re.fullmatch(r"app \(%d\), asked by 127\.0\.0\.1:\d+" % request["last_tid"], request["label"]), request
    assert not notes


def web_nginx():
    """Without --process: nginx's 40, each with one of app inside it, and in time."""
    found, notes = listed("web-mixed")["requests"], web_truth()
    assert len(found) == 40 and all(r["label"].startswith("nginx (") for r in found)
    inner = [i for r in found for i in r["inner"]]
    assert [len(r["inner"]) for r in found] == [1] * 40
    assert {i["last_tid"] for i in inner} == set(notes) and not any(i["inner"] for i in inner)
    assert all(r["begin"] < i["begin"] and i["end"] < r["end"] for r in found for i in r["inner"])
    assert {i["id"] for i in inner} == {r["id"] for r in listed("web-mixed", "--process", "app")["requests"]}
    # the client's 40 have nginx's own questions to app inside
    client = listed("web-mixed", "--preset", "client")["requests"]
    assert len(client) == 40 and all(r["label"].startswith("webclient (") for r in client)
    inner = [i for r in client for i in r["inner"]]
    assert len(inner) == 40 and all(i["label"].startswith("nginx (") for i in inner)


def calls_by_name():
    """syscall:NAME: every call of that name that babeltrace2 shows whole, begin and end to the nanosecond."""
    for name, call in (("web-mixed", "fsync"), ("web-mixed", "flock"), ("disk-read", "pread64"), ("fork1", "clone")):
        want = {(c[0], c[1], tid) for tid, of in calls(name).items() for c in of if c[2] == call}
        got = {(r["begin"], r["end"], r["last_tid"])
               for r in listed(name, "--preset", "syscall:" + call, "--thread", "all")["requests"]}
        assert want and got == want, (name, call, got ^ want)


def processes():
    """process: from the fork that made it. Its end is the switch away from it after sched_process_exit."""
    for name in ("fork1", "startup-chain", "signals"):
        forks, exits = {}, {}
        for time, _, _, event, fields in events(name):
            if event == "sched_process_fork":
                child, = re.findall(r"child_tid = (\d+)", fields)
                pid = re.findall(r"child_pid = (\d+)", fields)
                if not pid or pid == [child]:
                    forks[int(child)] = time
            elif event == "sched_process_exit":
                exits[int(re.search(r"\btid = (\d+)", fields)[1])] = time
        found = listed(name, "--preset", "process", "--thread", "all")["requests"]
        assert {r["last_tid"]: r["begin"] for r in found} == forks, name
        assert {r["last_tid"] for r in found if not r["unfinished"]} == forks.keys() & exits.keys(), name
        late = [r["end"] - exits[r["last_tid"]] for r in found if not r["unfinished"]]
        assert late and min(late) >= 0 and statistics.median(late) < MS, (name, late)


def events_of_thread():
    """Between two events of a thread: the same as the call that they are the ends of."""
    for name, call in (("disk-read", "pread64"), ("web-mixed", "fsync")):
        by_events, by_call = (listed(name, "--thread", "all", *how)["requests"] for how in (
            ("--begin", "syscall_entry_" + call, "--end", "syscall_exit_" + call), ("--preset", "syscall:" + call)))
        assert by_call and [(r["begin"], r["end"], r["last_tid"]) for r in by_events] == [
            (r["begin"], r["end"], r["last_tid"]) for r in by_call], name
        assert [r["causes"] for r in by_events] == [r["causes"] for r in by_call], name


def events_captured():
    """From a fork to the exit of the thread with that TID, as babeltrace2 shows them; fields have different names."""
    found = listed("fork4", "--begin", "sched_process_fork child_tid=$t", "--end", "sched_process_exit tid=$t",
                   "--thread", "all")["requests"]
    opened, want = {}, {}
    for time, _, tid, event, fields in events("fork4"):
        if event == "sched_process_fork":
            opened[re.search(r"child_tid = (\d+)", fields)[1]] = time
        elif event == "sched_process_exit":
            exits = re.search(r"\btid = (\d+)", fields)[1]
            if exits in opened:
                want[opened.pop(exits)] = (time, tid, False)
    assert len(want) > 1000
    got = {r["begin"]: (r["end"], r["last_tid"], r["unfinished"]) for r in found}
    assert {begin: line for begin, line in got.items() if not line[2]} == want, "others"
    assert {begin for begin, line in got.items() if line[2]} == set(opened.values()), opened


def events_on_idle_cpus():
    """Block requests: mostly their completion interrupts an idle CPU. The device and sector join both ends."""
    found = listed("disk-read", "--begin", "block_rq_issue dev=$d sector=$s", "--end", "block_rq_complete dev=$d sector=$s",
                   "--thread", "all")["requests"]
    opened, want = {}, {}
    for time, _, tid, event, fields in events("disk-read"):
        if event in ("block_rq_issue", "block_rq_complete"):
            key = re.search(r"dev = (\d+), sector = (\d+)", fields).groups()
            if event == "block_rq_issue":
                opened[key] = time
            elif key in opened:
                want[opened.pop(key)] = time
    assert len(want) > 300 and not opened
    assert {r["begin"]: r["end"] for r in found if not r["unfinished"]} == want, (
        len(want), sum(r["unfinished"] for r in found))


def client_inside():
    """nginx reads a second question after it has connected for the first, and before it writes that on: what it asks
    app then is still of the first (syscalls of TID 213 from 11:00:23.279115620 to .281143869, babeltrace2)."""
    found = listed("web-mixed", "--preset", "client")["requests"]
    assert [len(r["inner"]) for r in found] == [1] * 40, [(r["id"], len(r["inner"])) for r in found if len(r["inner"]) != 1]


# --- what they cost -------------------------------------------------------------------------------------------------

def web_causes():
    """What each kind of request does, and then has as its largest cause: where it took more than the rest can."""
    notes, seen = web_truth(), collections.Counter()
    for request in listed("web-mixed", "--process", "app")["requests"]:
        tid = request["last_tid"]
        _, kind, ns = notes[tid]
        slow = ns > 30 * MS
        if kind == "disk" and slow:
            assert top(request) == ("block-device", "vda, preadv2 of /data.bin"), (tid, top(request))
        if kind == "log" and slow:
            assert top(request) == ("block-device", "vda, fsync of /applog"), (tid, top(request))
        if kind == "lock" and slow:
            assert top(request) == ("lock-owner", "flock /applock, held by lockholder"), (tid, top(request))
        if kind == "cpu":
            assert top(request) == ("cpu", "app, user code"), (tid, top(request))
        # each part is no longer than the calls that it was waited in, and most of them if that is long
        for what, cause, label, names in (("disk", "block-device", r"vda, preadv2 of .*", ("preadv2",)),
                                          ("log", "block-device", r"vda, fsync of .*", ("fsync",)),
                                          ("lock", "lock-owner", r"flock /applock, .*", ("flock",))):
            part = cost(request, cause, label)
            whole = sum(c[1] - c[0] for c in within("web-mixed", tid, request, *names))
            assert part <= whole, (tid, what, part, whole)
            assert part == 0 or kind == what, (tid, kind, what, part)
            if kind == what and slow:
                assert part > 0.7 * whole, (tid, what, part, whole)
                seen[what] += 1
    assert seen == {"disk": 4, "log": 2, "lock": 5}, seen


def hosts_kinds():
    """Of the client's 30 operations the server makes a disk read, a computation or a sleep each; told by what it
    takes beyond what all of them take. The first two are over before the server's trace begins."""
    names, times = [r[1] for r in truth("two-hosts-client")], [int(r[0]) for r in truth("two-hosts-client")]
    report = listed(*BOTH, "--preset", "client", "--host", "client", "--process", "python3")
    found, server = report["requests"], next(h for h in report["hosts"] if h["hostname"] == "server")
    # by babeltrace2 its first event is 815.6 ms earlier, by how much its clock is behind (the traces' README)
    assert abs(server["begin"] - events("two-hosts-server")[0][0] - 816 * MS) < MS, server
    assert len(found) == len(names) == 30
    assert all(0 <= request["begin"] - at < 10 * MS for request, at in zip(found, times)), "others than the client noted"
    db = r"python3 \(216\) on server"  # front.py is another python3 there
    parts = {"disk": ("block-device", r"vda, preadv2 of /data\.bin"), "cpu": ("cpu", db + ", user code"),
             "sleep": ("timer", db + " in clock_nanosleep")}
    costs = [{kind: cost(r, *part) for kind, part in parts.items()} for r in found]
    usual = {kind: statistics.median(c[kind] for c in costs) for kind in parts}
    early = [r for r in found if r["end"] < server["begin"]]
    assert len(early) == 2 and all(top(r) == ("network", "10.9.0.1:7000, sender not traced") for r in early), early
    largest = 0
    for name, request, of in list(zip(names, found, costs))[2:]:
        told = max(of, key=lambda kind: of[kind] - usual[kind])
        assert told == name, (name, told, of, usual, request["id"])
        largest += of[told] > 0.5 * (request["ns"] - cost(request, "network", ".*"))
    # but for the fourth: its reads were served in some 0.1 ms each
    assert largest == 27, largest
    # on the way of those that the server's trace has whole are the client, front.py and db.py, on two hosts
    for request in found[3:]:
        assert {th["host"] for th in request["threads"]} == {0, 1}, request
        assert len({th["tid"] for th in request["threads"] if th["host"] == 1}) >= 2, request


def sums(name, preset):
    """Every moment of a request is one cause's, and one thread's."""
    report = listed(name, "--preset", preset, "--thread", "all")
    total, by_cause, touched = 0, collections.Counter(), collections.Counter()
    for request in report["requests"]:
        assert request["ns"] == request["end"] - request["begin"] >= 0
        assert sum(c["ns"] for c in request["causes"]) == request["ns"], request
        assert sum(th["ns"] for th in request["threads"]) == request["ns"], request
        assert all(c["ns"] >= 0 for c in request["causes"])
        assert len({(c["kind"], c["label"]) for c in request["causes"]}) == len(request["causes"]), request
        total += request["ns"]
        for cause in request["causes"]:
            by_cause[cause["kind"], cause["label"]] += cause["ns"]
            touched[cause["kind"], cause["label"]] += 1
    assert sum(c["ns"] for c in report["summary"]) == total
    assert {(c["kind"], c["label"]): c["ns"] for c in report["summary"]} == dict(by_cause)
    assert {(c["kind"], c["label"]): c["requests"] for c in report["summary"]} == dict(touched)
    assert report["count"] == len(report["requests"])
    return report["count"]


def all_sums(preset, names):
    found = {name: sums(name, preset) for name in names}
    assert sum(found.values()) > len(names) / 2, found # few of some recordings, and ./check takes some recordings only


def node(summary, key):
    return summary["ns"] if summary["key"] == key else sum(node(c, key) for c in summary["children"])


def one_owner(name, preset, follow):
    """Every stretch of a thread is of one request or none: what the threads worked for requests and what they worked
    for none is all that they worked, and their lives are that, what they waited, and what is not known of them."""
    lives = [th["summary"] for th in delay_of(name)["threads"]]
    cpu, wait = (listed(name, "--preset", preset, "--follow", follow, "--thread", "all", "--metric", metric)
                 for metric in ("cpu", "wait"))
    worked, waited = (sum(c["ns"] for c in r["summary"]) for r in (cpu, wait))
    assert cpu["unassigned_ns"] == wait["unassigned_ns"]
    assert worked + cpu["unassigned_working_ns"] == sum(node(life, "working") for life in lives), (name, preset)
    left = sum(life["ns"] for life in lives) - worked - waited - cpu["unassigned_ns"]
    assert 0 <= left <= sum(node(life, "unknown") for life in lives), (name, preset, left)
    for report in (cpu, wait):
        for cause in report["summary"]:
            assert cause["ns"] == sum(c["ns"] for r in report["requests"] for c in r["causes"]
                                      if (c["kind"], c["label"]) == (cause["kind"], cause["label"]))
    return worked + waited


@functools.lru_cache(maxsize=None)
def delay_of(name):
    return t.report("delay", t.trace(name), "--thread", "all", "--quiet", "--limit", "1")


def all_owners(follow):
    # in lost and snapshot there is time of which nothing is known
    for name in t.sample(("web-mixed", "wide", "two-hosts-server", "startup-chain", "ust-func", "lost", "snapshot"), 3):
        for preset in PRESETS + ("syscall:*",):
            assert one_owner(name, preset, follow) > 0, (name, preset)


def counted(metric, of):
    """A metric of each of app's requests, which have a thread each: `of` says what it should be."""
    unit, found = UNITS[metric], listed("web-mixed", "--process", "app", "--follow", "thread", "--metric", metric)
    got, want = {}, {}
    for request in found["requests"]:
        got[request["last_tid"]] = sum(c[unit] for c in request["causes"])
        want[request["last_tid"]] = of(request["last_tid"], request)
        assert not {"ns", "bytes", "calls"} & set(request["causes"][0] if request["causes"] else ()) - {unit}
        assert request["threads"] == [], request
    assert len(got) == 40 and sum(want.values()) > 0
    assert got == want, {tid: (got[tid], want[tid]) for tid in got if got[tid] != want[tid]}
    assert sum(c[unit] for c in found["summary"]) == sum(want.values())


def metric_calls():
    def of(tid, request):
        return sum(request["begin"] <= entry < request["end"] for entry, _, _, _ in calls("web-mixed")[tid])

    counted("calls", of)


def metric_net_bytes():
    """From the read that begins it to the last write; app reads and writes connections by recvfrom and sendto."""
    def of(tid, request):
        return sum(max(c[3], 0) for c in within("web-mixed", tid, request, "recvfrom", "sendto")
                   if not (c[2] == "recvfrom" and c[1] > request["end"]))

    counted("net-bytes", of)


def metric_disk():
    """The block requests that diskread issued in its reads: bytes and time, from issue to completion."""
    open_, total, time_of, number = {}, 0, 0, 0
    reads = [c for tid, of in calls("disk-read").items() for c in of if c[2] == "pread64"]
    readers = {tid for tid, of in calls("disk-read").items() if any(c[2] == "pread64" for c in of)}
    for time, _, _, event, fields in events("disk-read"):
        key = re.search(r"dev = (\d+), sector = (\d+)", fields)
        if event == "block_rq_issue":
            tid, size = int(re.search(r"\btid = (\d+)", fields)[1]), int(re.search(r"\bbytes = (\d+)", fields)[1])
            if tid in readers and 'comm = "diskread"' in fields and any(c[0] <= time < c[1] for c in reads):
                open_[key.groups()] = (time, size)
        elif event == "block_rq_complete" and key.groups() in open_:
            began, size = open_.pop(key.groups())
            total, time_of, number = total + size, time_of + time - began, number + 1
    assert number > 20 and not open_, (number, open_)
    arguments = ("disk-read", "--preset", "syscall:pread64", "--process", "diskread", "--metric")
    bytes_, device = listed(*arguments, "disk-bytes"), listed(*arguments, "disk-time")
    assert [(c["kind"], c["label"], c["bytes"]) for c in bytes_["summary"]] == [
        ("block-device", "/data.bin, pread64 on vda", total)], (bytes_["summary"], total)
    assert [c["ns"] for c in device["summary"]] == [time_of], (device["summary"], time_of)


def follow_thread():
    """The same requests, as begin and end do not depend on it; and one thread that worked on each, though its way may
    go on to others that it waited for."""
    flow, thread = (listed("web-mixed", "--process", "app", "--follow", how) for how in ("flow", "thread"))
    assert [(r["id"], r["begin"], r["end"], r["last_tid"]) for r in flow["requests"]] == [
        (r["id"], r["begin"], r["end"], r["last_tid"]) for r in thread["requests"]]
    assert all(not r["inner"] for r in thread["requests"])
    # without flow nobody is inside another: nginx's 40 and app's 40
    every = listed("web-mixed", "--follow", "thread")["requests"]
    assert collections.Counter(r["label"].split(" ")[0] for r in every) == {"nginx": 40, "app": 40}
    # nginx works on several at a time: of the time of one it is the worker for others too, which flow tells apart
    assert sum(cost(r, "other-request", ".*") for r in listed("web-mixed")["requests"]) > 0


def user_can_change():
    """wide, polls and the like read no file of /etc slowly; what is marked has the kind of cause that it may have."""
    for name in t.sample(("web-mixed", "wide", "startup-chain", "zero-read", "callstack"), 2):
        for preset in ("server", "process"):
            for cause in listed(name, "--preset", preset, "--thread", "all")["summary"]:
                if cause["user_can_change"] == "configuration":
                    assert cause["kind"] == "block-device" and " of /" in cause["label"], cause
                assert cause["user_can_change"] != "input" or preset == "server", cause


def costs_of(request):
    return request["id"], request["threads"], [(c["kind"], c["label"], c["ns"]) for c in request["causes"]]


def window():
    """Requests that begin and end in it."""
    every = listed("web-mixed")["requests"]
    begin = listed("web-mixed")["window"]["begin"]
    some = listed("web-mixed", "--from", "+700ms", "--to", "+400ms")["requests"]
    want = [r["id"] for r in every if begin + 700 * MS <= r["begin"] and r["end"] <= begin + 1100 * MS]
    assert 2 < len(want) < 38 and [r["id"] for r in some] == want, (want, [r["id"] for r in some])
    assert [costs_of(r) for r in every if r["id"] in want] == [costs_of(r) for r in some]


# --- all ways ---------------------------------------------------------------------------------------------------------

WAYS = (("web-mixed",), ("web-mixed", "--process", "app"), ("fork1", "--preset", "process"), ("startup-chain", "--preset", "process"),
        (*BOTH, "--preset", "client", "--host", "client", "--process", "python3"), ("wide", "--preset", "syscall:*"), ("lost",))


def rank(values, percent):
    """Nearest rank."""
    return sorted(values)[max(1, -(-len(values) * percent // 100)) - 1]


def tree():
    """Children add up to their parents, the whole to the latencies; percentiles of the root are those of these."""
    def look(node):
        assert node["ns"] >= sum(c["ns"] for c in node["children"]), node
        assert not node["children"] or node["ns"] == sum(c["ns"] for c in node["children"]), node
        assert all(0 < c["requests"] <= node["requests"] for c in node["children"]), node
        assert node["p50_ns"] <= node["p95_ns"] <= node["p99_ns"] <= node["ns"], node
        assert len({c["label"] for c in node["children"]}) == len(node["children"]), node
        return 1 + sum(map(look, node["children"]))

    for arguments in WAYS:
        report = listed(*arguments)
        latencies, root = [r["ns"] for r in report["requests"]], report["tree"]
        assert look(root) > 5 and root["ns"] == sum(latencies) and root["requests"] == len(latencies), arguments
        assert [root["p%d_ns" % p] for p in (50, 95, 99)] == [rank(latencies, p) for p in (50, 95, 99)], arguments


def backends():
    """nginx asks hungapp at port 8101, which never answers, and goodapp at 8102 (the traces' README): both are named, with who
    reads there; who asked nginx has a port of its own and serves nothing."""
    causes = {(c["kind"], c["label"]): c["requests"]
              for c in t.report("requests", t.trace("nginx-retry"), "--limit", "0")["summary"]}
    assert causes["timeout", "127.0.0.1:8101 (hungapp)"] == 4, causes
    assert ("network", "127.0.0.1:8102 (goodapp)") in causes, causes
    assert not any("(webuser" in label for kind, label in causes if kind == "network"), causes


def contrasts():
    """The answer, the list of causes, the tree and what some spend time on count alike: 8 of the 40 asked app to log (truth.tsv),
    each of which waited for its fsync; a timer's interrupts, which all have, set nothing apart."""
    text = t.output("requests", t.trace("web-mixed"), "--utc").decode()
    logs = sum("log" in str(note) for note in web_truth().values())
    listed_ = {(kind, label): (int(n), float(share)) for share, n, kind, label in
               re.findall(r"^ +([\d.]+) % .* +(\d+)  (\S+) +(.*)$", text.split("The slowest first")[0], re.M)}
    apart = " ".join(text.split("others do not\n")[1].split("\n\n")[0].split())
    found = re.findall(r"(\S+): ((?:(?! of 40 requests).)+?): (\d+) of 40 requests, ", apart)
    assert len(found) >= 4, apart
    for kind, label, n in found:
        assert listed_[kind.lstrip(")"), label][0] == int(n), (kind, label, n)
    assert listed_["block-device", "vda, fsync of /applog"][0] == logs == 8, (listed_, logs)
    assert "local_timer" not in apart
    assert re.search(r"^ +8 .*  block-device: vda, fsync of /applog$", text, re.M), "the tree"
    head = " ".join(text.split("Where the time went")[0].split())
    assert re.search(r"40 server requests: half of them within [\d.]+ ms, 90 % within [\d.]+ ms, the slowest 139.4 ms \(#3,", head), head
    assert "The 4 slowest (114.5 ms or longer) spent 87 % waiting for a disk (vda, preadv2 of /data.bin)." in head, head
    assert len(text.split("Where the time went")[0].splitlines()) <= 12 # what comes first is short


def lattice():
    """Who comes to a node leaves it, but at the begin and the end; all time is some node's; ways go one way. Costs are
    the difference of the shortest ways on, by the nodes' mean times."""
    branched = 0
    for arguments in WAYS:
        report = listed(*arguments)
        graph, ids = report["lattice"], {r["id"]: r["ns"] for r in report["requests"]}
        nodes, edges = graph["nodes"], graph["edges"]
        assert graph["merged"] == min(len(ids), 500) or len(ids) > 500
        into, out, rest = collections.Counter(), collections.Counter(), {len(nodes) - 1: 0}
        for edge in edges:
            assert edge["from"] < edge["to"], edge
            into[edge["to"]] += edge["requests"]
            out[edge["from"]] += edge["requests"]
        for i, node_ in enumerate(nodes):
            assert i == 0 or into[i] == node_["requests"], (arguments, i, node_)
            assert i == len(nodes) - 1 or out[i] == node_["requests"], (arguments, i, node_)
        assert nodes[0]["requests"] == nodes[-1]["requests"] == graph["merged"]
        if graph["merged"] == len(ids):
            assert sum(n["ns"] for n in nodes) == sum(ids.values()), arguments
        mean = [n["ns"] // n["requests"] for n in nodes]
        for i in range(len(nodes) - 2, -1, -1):
            rest[i] = min(mean[e["to"]] + rest[e["to"]] for e in edges if e["from"] == i)
            assert rest[i] == nodes[i]["rest_ns"], (arguments, i, rest[i], nodes[i])
        for edge in edges:
            assert edge["cost_ns"] == mean[edge["to"]] + rest[edge["to"]] - rest[edge["from"]], (arguments, edge)
        for condition in graph["conditions"]:
            of = condition["requests"]
            assert 0 < len(of) < graph["merged"] and set(of) <= set(ids), condition
            assert all(e["requests"] == len(of) and e["condition"] == condition["id"] for e in condition["branches"])
            if graph["merged"] == len(ids):
                others = [ns for i, ns in ids.items() if i not in of]
                assert abs(condition["mean_ns"] - sum(ids[i] for i in of) / len(of)) <= 1, condition
                assert abs(condition["others_mean_ns"] - sum(others) / len(others)) <= 1, condition
            branched += 1
        together = [frozenset(c["requests"]) for c in graph["conditions"]]
        assert len(set(together)) == len(together), "one condition is told twice"
    assert branched > 10


def graph_of_ways():
    """Graphviz's language: as many nodes and edges as in JSON where ways may be of any length; else no way is longer than asked for,
    and no request gets lost."""
    text, graph = (t.output("requests", t.trace("web-mixed"), "--format", "dot", "--depth", "100000").decode(), listed("web-mixed")["lattice"])
    assert text.startswith("digraph requests {\n") and text.endswith("}\n")
    assert len(re.findall(r"^  n\d+ \[label=\"(?:[^\"\\]|\\.)*\"", text, re.M)) == len(graph["nodes"])
    assert {(int(a), int(b)) for a, b in re.findall(r"^  n(\d+) -> n(\d+) ", text, re.M)} == {
        (e["from"], e["to"]) for e in graph["edges"]}
    for depth, more in ((12, ()), (3, ("--depth", "3")), (20, ("--depth", "20"))):
        text = t.output("requests", t.trace("web-mixed"), "--format", "dot", *more).decode()
        nodes = dict(re.findall(r"^  n(\d+) \[label=\".*\\n(\d+) request", text, re.M))
        edges = re.findall(r"^  n(\d+) -> n(\d+) \[label=\"(\d+)", text, re.M)
        longest = {}
        for a, b, _ in sorted(edges, key=lambda edge: (int(edge[0]), int(edge[1]))):
            longest[b] = max(longest.get(b, 0), longest.get(a, 1) + 1)
        assert 2 < max(longest.values()) <= depth, (depth, longest)
        for node, requests in nodes.items():
            for end in {0, 1} - ({1} if node == "0" else {0} if node == str(len(nodes) - 1) else set()):
                assert sum(int(n) for *ends, n in edges if ends[end] == node) == int(requests), (depth, node)


# --- picks ----------------------------------------------------------------------------------------------------------

def picked(*picks):
    report = listed("web-mixed", *[a for pick in picks for a in ("--pick", pick)])
    assert report["not_picked"] + len(report["requests"]) == 40 or not picks
    return {r["id"] for r in report["requests"]}


def picks():
    every = listed("web-mixed")["requests"]
    order = [r["id"] for r in sorted(every, key=lambda r: (r["ns"], r["id"]))]
    assert picked() == set(order)
    for one in order[:3]:
        assert picked(str(one)) == {one}
    # of 40 the ranks up to 36, 20, 4 and 39.96 are at or below p90, p50, p10 and p99.9
    assert picked("p90") == set(order[36:]) and picked("p10..p50") == set(order[4:20])
    assert picked("p0..p50") | picked("p50..p100") == set(order) and not picked("p0..p50") & picked("p50")
    assert picked("p99.9") == {order[-1]}
    port = re.search(r":(\d+)$", every[7]["label"])[1]
    assert picked("*:" + port) == {every[7]["id"]} and picked("nginx*") == set(order)
    assert picked("*:" + port, str(every[3]["id"]), str(every[3]["id"])) == {every[7]["id"], every[3]["id"]}


def pick_inner():
    """The number of one inside another lists it alone."""
    inner = listed("web-mixed")["requests"][5]["inner"][0]
    found, = listed("web-mixed", "--pick", str(inner["id"]))["requests"]
    assert (found["begin"], found["end"], found["label"]) == (inner["begin"], inner["end"], inner["label"])


def pick_peaks():
    """Peaks part the requests by latency, each request in one; fork4's processes have more than one."""
    arguments = ("fork4", "--preset", "process")
    every, parts = {r["id"]: r["ns"] for r in listed(*arguments)["requests"]}, []
    while len(parts) < 10:
        done = t.run("requests", t.trace("fork4"), *arguments[1:], "--pick", "peak:%d" % (len(parts) + 1), "--limit", "0",
                     "--format", "json")
        if done.returncode:
            assert done.returncode == 2, done
            break
        parts.append({r["id"] for r in json.loads(done.stdout)["requests"]})
    assert len(parts) > 1 and sum(map(len, parts)) == len(every) and set().union(*parts) == set(every), parts
    for one, other in zip(parts, parts[1:]):
        assert max(every[i] for i in one).bit_length() < min(every[i] for i in other).bit_length(), parts


def refused():
    for option, value, said in (
            ("--pick", "999", "--pick '999': none of the 40 requests"), ("--pick", "apache*", "--pick 'apache*': none"),
            ("--pick", "peak:9", "--pick 'peak:9': none"), ("--pick", "p90..p10", "--pick 'p90..p10': must be"),
            ("--pick", "p101", "--pick 'p101': must be"), ("--pick", "peak:x", "--pick 'peak:x': must be"),
            ("--pick", "", "--pick '': must be"), ("--preset", "servers", "--preset 'servers': must be one of"),
            ("--preset", "syscall:", "--preset 'syscall:': must be one of"),
            ("--metric", "time", "--metric 'time': must be one of latency"),
            ("--follow", "taint", "--follow 'taint': must be one of flow, thread"),
            ("--a", "1", "requests has no option 'a'"), ("--begin", "sched_switch", "--end is missing"),
            ("--end", "sched_switch", "--begin is missing"), ("--process", "nobody", "nobody")):
        done = t.run("requests", t.trace("web-mixed"), option, value)
        lines = done.stderr.decode().splitlines()
        assert done.returncode == 2 and not done.stdout, (option, value, done)
        assert len(lines) == 1 and said in lines[0], (option, value, lines)


# --- ways in --------------------------------------------------------------------------------------------------------

def same(names, arguments, parameters):
    paths = t.trace(*names) if len(names) > 1 else [t.trace(names[0])]
    mine = t.output("requests", *paths, *arguments)
    done = t.babeltrace2(*paths, "--component=sink.whylate.requests", "--params=" + parameters)
    assert done.returncode == 0, done.stderr.decode()
    mine, done.stdout = t.unnamed(mine, paths), t.unnamed(done.stdout, paths)
    assert len(mine) > 1000 and mine == done.stdout, (len(mine), len(done.stdout))


def direct_and_babeltrace():
    for name in ("lost", "ust-func"):
        for preset in PRESETS:
            one, other = (t.output("requests", t.trace(name), "--preset", preset, "--format", "json", "--quiet", "--reader", how)
                          for how in ("direct", "babeltrace"))
            assert one == other, (name, preset)


def kept():
    """The answer is the same whether nothing, another command's, or this one's was kept."""
    questions = (("--process", "app"), ("--preset", "client", "--metric", "net-bytes"), ("--preset", "syscall:read"),
                 ("--preset", "syscall:fsync"), ("--preset", "process"), ("--follow", "thread", "--metric", "disk-bytes"),
                 ("--metric", "calls"))
    path = t.trace("web-mixed")
    for first in t.sample(("delay", "requests", "profile")):
        with tempfile.TemporaryDirectory(dir=t.CACHE) as folder:
            if first == "delay":
                t.output("delay", path, "--thread", "app", "--cache", folder)
            elif first == "profile":
                t.output("profile", path, "--cache", folder)
            for arguments in questions:
                command = ["requests", path, "--format", "json", *arguments]
                fresh, once, twice = (t.output(*command, "--cache", where) for where in ("off", folder, folder))
                assert fresh == once == twice, (first, arguments)
            assert os.listdir(folder), "nothing was kept"


def csv():
    """A row for each request, with its largest cause."""
    lines = t.output("requests", t.trace("web-mixed"), "--format", "csv", "--limit", "0").decode().split("\r\n")
    assert lines[0].startswith("id,kind,label,host,tid,begin,end,ns,") and lines[-1] == "" and len(lines) == 42
    for line, request in zip(lines[1:], listed("web-mixed")["requests"]):
        assert line.startswith("%d,server,\"%s\",0,%d,%d,%d,%d,false," % (
            request["id"], request["label"], request["last_tid"], request["begin"], request["end"], request["ns"])), line
        assert ",%d,ns" % request["causes"][0]["ns"] in line, line


def csv_groups():
    """Each request that a group of the report has is told so, with what sets these apart, and no other one is."""
    arguments = ["requests", t.trace("web-mixed")]
    report = t.report(*arguments, "--limit", "0")
    rows = t.output(*arguments, "--limit", "0", "--format", "csv").decode().split("\r\n")
    assert rows[0].endswith(",unit,group,goes_with"), rows[0]
    counts = {}
    for row, request in zip(rows[1:], report["requests"]):
        group = next((g for g in report["groups"] if g["from_ns"] <= request["ns"] <= g["to_ns"]
                      and not request["unfinished"] and not request["spans_gap"]), None)
        expected = "" if not group else group["pick"] or "slow"
        told = ". ".join(trait["sentence"] for trait in group["apart"]) if group else ""
        assert row.endswith(",%s,%s" % (expected, '"%s"' % told if "," in told else told)), (row, group)
        counts[expected] = counts.get(expected, 0) + 1
    for group in report["groups"]:
        assert counts.get(group["pick"] or "slow") == group["count"], (group, counts)


def limit():
    """The slowest are kept, in order of their begin; the summary is of all."""
    some, every = (t.report("requests", t.trace("web-mixed"), "--limit", n) for n in ("5", "0"))
    slowest = sorted(every["requests"], key=lambda r: -r["ns"])[:5]
    assert some["requests"] == sorted(slowest, key=lambda r: r["begin"]) and some["requests_omitted"] == 35
    assert some["summary"] == every["summary"] and "requests_omitted" not in every


for trace_name, preset_name in t.sample((
        ("web-mixed", "server"), ("web-mixed", "client"), ("two-hosts-server", "server"), ("two-hosts-server", "client"),
        ("two-hosts-client", "server"), ("two-hosts-client", "client"), ("wide", "server"), ("wide", "client"),
        ("startup-chain", "server"), ("ust-func", "client"), ("snapshot", "server"), ("fork1", "client")), 3):
    tap.case("%s, %s: the oracle's" % (trace_name, preset_name), with_oracle, trace_name, preset_name)
tap.case("the tracer's own are left out", of_tracer)
tap.case("web-mixed, app: those that it noted", web_app)
tap.case("web-mixed: nginx's, with app's inside", web_nginx)
tap.case("syscall:NAME", calls_by_name)
tap.case("process", processes)
tap.case("--begin and --end of a thread", events_of_thread)
tap.case("--begin and --end with captures", events_captured)
tap.case("--begin and --end on idle CPUs", events_on_idle_cpus)
tap.case("web-mixed: a client's, with nginx's inside", client_inside)
tap.case("web-mixed: the cause of each kind", web_causes)
tap.case("two hosts: kinds told apart", hosts_kinds)
for preset_name in PRESETS:
    tap.case("causes and threads add up, %s, on each trace" % preset_name, all_sums, preset_name, t.sample(t.TRACES, 8))
tap.case("causes and threads add up, system calls", all_sums, "syscall:*",
         t.sample(("wide", "startup-chain", "web-mixed", "lost", "snapshot", "futex", "signals", "hang")))
for how in ("flow", "thread"):
    tap.case("each stretch has one owner at most, --follow " + how, all_owners, how)
tap.case("calls of each request", metric_calls)
tap.case("network bytes of each request", metric_net_bytes)
tap.case("disk bytes and time", metric_disk)
tap.case("--follow thread", follow_thread)
tap.case("what users can change", user_can_change)
tap.case("a window", window)
tap.case("all ways as one tree", tree)
tap.case("where ways part", lattice)
tap.case("nginx-retry: who was asked, and who serves there", backends)
tap.case("the answer, the list, the tree and the contrasts agree", contrasts)
tap.case("the graph of all ways", graph_of_ways)
tap.case("--pick", picks)
tap.case("--pick one inside another", pick_inner)
tap.case("--pick peaks", pick_peaks)
tap.case("wrong usage", refused)
for form in ("json", "text", "csv"):
    tap.case("web-mixed through Babeltrace, " + form, same, ["web-mixed"], ["--process", "app", "--format", form],
             'process="app",format="%s"' % form)
tap.case("both hosts through Babeltrace", same, BOTH,
         ["--preset", "client", "--pick", "p50", "--pick", "3", "--metric", "wait", "--limit", "0", "--format", "json"],
         'preset="client",pick=["p50",3],metric="wait",limit=0,format="json"')
tap.case("read directly and through Babeltrace", direct_and_babeltrace)
tap.case("kept for further questions", kept)
tap.case("CSV", csv)
tap.case("CSV: groups", csv_groups)
tap.case("--limit", limit)
sys.exit(tap.done())
