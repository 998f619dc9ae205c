#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Why a ready thread did not run, who stopped one, the critical path's sums, and
the waiting that threads and resources impose on others, on recorded traces.

Expectations come from the programs' own notes (truth.tsv), traces/README.md, the
kernel's counters beside a trace, or from small computations over the text that
babeltrace2 prints (class Text below: who ran where, who woke whom), which share no
code with whylate; never from whylate's own output. Sums are checked as identities."""
import csv
import io
import random
import re
import subprocess
import sys

import whylate_test as t

MS = 1000000
tap = t.Tap()


def truth(name):
    with open(t.trace(name) + "/truth.tsv", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return [(int(r[0]), int(r[1]), int(r[2]), r[3]) for r in rows if len(r) == 4]


class Text:
    """A trace as babeltrace2 prints it: (time, cpu, event, {field: value}), in order."""
    LINE = re.compile(r"\[(\d+)\.(\d{9})\] \([^)]*\) (?:\S+ )?(\w+): \{ cpu_id = (\d+) \}, (.*)")
    FIELD = re.compile(r"(\w+) = (?:\"([^\"]*)\"|(-?\w+))")
    WANTED = {"sched_switch", "sched_waking", "sched_wakeup", "signal_generate", "power_cpu_idle"}

    def __init__(self, name, *more):
        wanted = self.WANTED | set(more)
        out = subprocess.run(["babeltrace2", "--clock-seconds", t.trace(name)], stdout=subprocess.PIPE, check=True,
                             stderr=subprocess.DEVNULL).stdout.decode(errors="replace")
        self.events = []
        for line in out.split("\n"):
            found = self.LINE.match(line)
            if found and (found.group(3) in wanted or "irq_vectors" in found.group(3) or
                          found.group(3).startswith("syscall_")):
                fields = {k: a or b for k, a, b in self.FIELD.findall(found.group(5))}
                self.events.append((int(found.group(1) + found.group(2)), int(found.group(4)), found.group(3), fields))
        assert len(self.events) > 1000, len(self.events)

    def waits(self, tids, call):
        """[(tid, begin, end)] of waits in that system call: from the switch away to the wake-up."""
        current, call_of, since, found = {}, {}, {}, []
        for time, cpu, name, fields in self.events:
            tid = current.get(cpu)
            if name.startswith("syscall_entry_"):
                call_of[tid] = name[14:]
            elif name.startswith("syscall_exit_"):
                call_of.pop(tid, None)
            elif name == "sched_switch":
                prev = int(fields["prev_tid"])
                current[cpu] = int(fields["next_tid"])
                if prev in tids and int(fields["prev_state"]) not in (0, 256) and call_of.get(prev) == call:
                    since[prev] = time
                since.pop(int(fields["next_tid"]), None)
            elif name in ("sched_waking", "sched_wakeup") and int(fields["tid"]) in since:
                found.append((int(fields["tid"]), since.pop(int(fields["tid"])), time))
        return found


def overview(name):
    return t.report("overview", t.trace(name), "--limit", "0")


def thread(report, name):
    found = [w for w in report["waiting"] if w["kind"] == "thread" and w["name"] == name]
    assert len(found) == 1, (name, found)
    return found[0]


def resource(report, kind, name):
    found = [w for w in report["waiting"] if w["kind"] == "resource" and w["resource"]["kind"] == kind
             and w["resource"]["name"].startswith(name)]
    assert len(found) == 1, (kind, name, found)
    return found[0]


def first(report, kind):
    return [w for w in report["waiting"] if w["kind"] == kind][0]


def check_sums(report):
    """What must hold in any trace."""
    sums = report["waiting_sums"]
    parts = ("working_ns", "wait_cpu_ns", "sleep_ns", "device_ns", "limit_ns", "network_ns", "silence_ns", "other_ns", "ran_ns",
             "in_way_ns")
    of_threads = [w for w in report["waiting"] if w["kind"] == "thread"]
    assert all(w["ns"] == sum(w[p] for p in parts) for w in of_threads), "parts do not sum"
    assert sum(w["ns"] for w in of_threads) == sums["by_threads_ns"] <= sums["imposed_ns"], sums
    for w in report["waiting"]:
        assert 0 < w["example"]["ns"] <= w["example"]["end"] - w["example"]["begin"], w
        assert w["example"]["ns"] <= w["ns"], w
        assert report["window"]["begin"] <= w["example"]["begin"] < w["example"]["end"] <= report["window"]["end"], w
    # most first; the recorder's own threads, also most first, stand last
    order = [w["ns"] for w in report["waiting"]]
    assert sum(a < b for a, b in zip(order, order[1:])) <= 1, "not most first"
    for knot in report["knots"]:
        assert (knot["kind"] == "circle") == (len(knot["threads"]) > 1), knot
        assert abs(knot["share"] - knot["ns"] / sums["imposed_ns"]) < 1e-3, knot


def pipe_chain():
    """stage-b and stage-a both wait for what stage-c does: twice the truth's operations, by their roots."""
    report = overview("pipe-chain")
    who = thread(report, "stage-c")
    assert first(report, "thread") == who and who["waiters"] >= 2, first(report, "thread")
    noted = {"timer": 0, "disk": 0, "cpu": 0}
    count = dict(noted)
    for row in truth("pipe-chain"):
        if row[3].startswith("op "):
            root = row[3].split("root=")[1].split()[0]
            noted[root] += int(row[3].split("ns=")[1])
            count[root] += 1
    assert min(count.values()) >= 5, count
    # a nap of 20 ms each; reads of the throttled disk are most of a disk operation
    assert 2 * 20 * MS * count["timer"] <= who["sleep_ns"] <= 2 * noted["timer"], (who, noted)
    assert 0.8 * 2 * noted["disk"] <= who["device_ns"] <= 2 * noted["disk"], (who, noted)
    assert 2 * 14 * MS * count["cpu"] <= who["working_ns"], (who, noted)  # 15 ms of CPU are burnt
    assert any(k["threads"] and k["threads"][0]["name"] == "stage-c" for k in report["knots"]), report["knots"]
    assert resource(report, "device", "vda")["ns"] >= who["device_ns"]


def futex():
    """The mutex's waits, added up from the text; four naps of 30 ms with three others waiting."""
    report = overview("futex")
    tids = {w["tid"] for w in report["waiting"] if w["kind"] == "thread" and w["name"].startswith("lock-")}
    assert len(tids) == 4, tids
    waits = Text("futex").waits(tids, "futex")
    lock = [w for w in report["waiting"] if w.get("resource", {}).get("kind") == "futex"][0]
    assert abs(lock["ns"] - sum(e - b for _, b, e in waits)) < 0.02 * lock["ns"], (lock["ns"], len(waits))
    assert lock["waiters"] == 4, lock
    who = first(report, "thread")
    assert who["name"] == "lock-0", who
    assert who["sleep_ns"] >= 3 * 4 * 28 * MS, who  # each nap keeps the three others, but for its first moments
    circle = [k for k in report["knots"] if k["kind"] == "circle"]
    assert len(circle) == 1 and {x["tid"] for x in circle[0]["threads"]} == tids, circle
    assert circle[0]["resource"]["kind"] == "futex", circle


def lock_lapse():
    """Writers wait for each other and for the flusher, all in pwrite64 to one file."""
    report = overview("lock-lapse")
    lock = resource(report, "lock", "/shared.dat")
    circle = [k for k in report["knots"] if k["kind"] == "circle"]
    assert len(circle) == 1 and circle[0]["resource"]["kind"] == "lock", circle
    names = sorted(x["name"] for x in circle[0]["threads"])
    assert names == ["flusher", "writer-0", "writer-1", "writer-2"], names
    writers = {x["tid"] for x in circle[0]["threads"]}
    waits = Text("lock-lapse").waits(writers, "pwrite64")
    total = sum(e - b for _, b, e in waits)
    # some waits in pwrite64 are for the journal or pages; the flusher also waits in fallocate
    assert 0.8 * total <= lock["ns"] <= 1.1 * total, (lock["ns"], total)
    four = [w for w in report["waiting"] if w["kind"] == "thread" and w["tid"] in writers]
    assert four[0]["name"] == "flusher", [w["name"] for w in four]


def startup_chain():
    report = overview("startup-chain")
    who = first(report, "thread")
    blocked = [int(r[3].split("=")[1]) for r in truth("startup-chain") if "blocked_ns" in r[3]][0]
    assert who["name"] == "Xorg" and blocked - 5 * MS < who["ns"] <= blocked, (who, blocked)
    assert 0.9 * 854 * MS < who["sleep_ns"] < 854 * MS, who  # 40 naps, README
    assert who["example"]["name"] == "xinit", who
    assert any(k["threads"] and k["threads"][0]["name"] == "Xorg" for k in report["knots"]), report["knots"]


def preempt():
    """One CPU, no disk: nobody but who runs imposes anything; both hogs about equally (README)."""
    report = overview("preempt")
    hogs = [w for w in report["waiting"] if w["kind"] == "thread"][:2]
    assert {w["name"] for w in hogs} == {"hog-0", "hog-1"}, hogs
    assert all(w["ran_ns"] == w["ns"] for w in hogs), hogs
    assert abs(hogs[0]["ns"] - hogs[1]["ns"]) < 0.05 * hogs[0]["ns"], hogs
    assert all(w["example"]["name"] == "victim" for w in hogs), hogs
    # time that both were ready or preempted while the other ran, from the switches alone: hog-0 and
    # hog-1 are never blocked once they compute, so what one runs the other waits
    tids = {w["name"]: w["tid"] for w in hogs}
    ran = {tid: 0 for tid in tids.values()}
    alive, last, blocked = set(), None, set()
    for time, _, name, fields in Text("preempt").events:
        if name != "sched_switch":
            continue
        if last and last[1] in ran and len(alive) == 2 and not blocked:
            ran[last[1]] += time - last[0]
        prev, following = int(fields["prev_tid"]), int(fields["next_tid"])
        if prev in ran and int(fields["prev_state"]) in (16, 32):
            alive.discard(prev)
        elif prev in ran and int(fields["prev_state"]) not in (0, 256):
            blocked.add(prev)
        if following in ran:
            alive.add(following)
            blocked.discard(following)
        last = (time, following)
    for who in hogs:  # at least the other hog waited all that time, at most the victim did too
        assert 0.9 * ran[who["tid"]] < who["ns"] < 2.2 * ran[who["tid"]], (who, ran)


def cfs_quota():
    with open(t.trace("cfs-quota") + "/cpu.stat", encoding="ascii") as file:
        stat = dict(line.split() for line in file)
    report = overview("cfs-quota")
    quota = resource(report, "cpu", "quota")
    assert 0.95 * int(stat["throttled_usec"]) * 1000 <= quota["ns"] <= 1.01 * int(stat["throttled_usec"]) * 1000, quota
    assert report["waiting"][0] == quota and quota["example"]["name"] == "boxed", report["waiting"][0]
    pieces = t.report("delay", t.trace("cfs-quota"), "--thread", "boxed")["critical_path"]
    throttled = [p for p in pieces if p.get("cause", {}).get("kind") == "throttled"]
    assert all(p["cause"]["certainty"] == "inferred" for p in throttled), throttled
    # the quota's period is 100 ms (README): all name it
    named = [p for p in throttled if re.search(r" every (9[7-9]|10[0-3])\.\d+ ms", p["cause"]["label"])]
    assert len(named) == len(throttled) > 10, [p["cause"]["label"] for p in throttled]


def web_mixed():
    """The lock kept 120 of every 180 ms by lockholder, and the disk, are what the requests wait for."""
    report = overview("web-mixed")
    assert first(report, "resource")["resource"] == {"kind": "device", "name": "vda"}, first(report, "resource")
    who = thread(report, "lockholder")
    assert first(report, "thread") == who and who["sleep_ns"] > 0.9 * who["ns"], who
    lock = [w for w in report["waiting"] if w["kind"] == "resource" and "applock" in w["resource"]["name"]][0]
    text = Text("web-mixed")
    callers = {int(f["tid"]) for _, _, n, f in text.events if n in ("sched_waking", "sched_wakeup") and f["comm"] == "app"}
    waits = text.waits(callers, "flock")
    assert abs(lock["ns"] - sum(e - b for _, b, e in waits)) <= 0.02 * lock["ns"], (lock, waits)
    # each of these waits is one of the app's, of nginx for it, of the client for that one: as a rule
    # three; a client waits for two requests of one connection at times
    assert 1.5 * lock["ns"] < who["ns"] < 4 * lock["ns"], (who["ns"], lock["ns"])


def disk_read():
    report = overview("disk-read")
    disk = resource(report, "device", "vda")
    assert report["waiting"][0] == disk, report["waiting"][0]
    noted = sum(int(r[3].split()[1]) for r in truth("disk-read"))
    # the program's notes hold its own work on a slow machine too; diskread, and who reads a program in, wait
    assert 0.5 * noted < disk["ns"] < 1.3 * noted, (disk["ns"], noted)
    assert disk["example"]["name"] == "diskread", disk


def hang():
    """flock-wait waits to the end for the flock that `hang` (the main thread) keeps while it sleeps (README)."""
    report = overview("hang")
    who = first(report, "thread")
    waits = [w for w in report["waits"] if w["name"] == "flock-wait" and w["leaf"] == "blocked/syscall:flock"]
    assert len(waits) == 1 and who["name"] == "hang", (waits, who)
    assert who["sleep_ns"] > 0.95 * waits[0]["ns"] and who["example"]["name"] == "flock-wait", (who, waits)


def signals():
    """Who ran where signal 19 and 18 were generated, from the text."""
    current, sent = {}, {}
    for _, cpu, name, fields in Text("signals").events:
        if name == "sched_switch":
            current[cpu] = (fields["next_comm"], int(fields["next_tid"]))
        elif name == "signal_generate" and fields["sig"] in ("18", "19"):
            sent[int(fields["sig"])] = (current[cpu], int(fields["pid"]))
    assert set(sent) == {18, 19}, sent
    stoppee = sent[19][1]
    report = t.report("delay", t.trace("signals"), "--thread", str(stoppee), "--limit", "0")
    stops = [b for b in report["threads"][0]["causality"] if b["leaf"] == "blocked/stopped"]
    assert [b["cause"]["label"] for b in stops] == ["by %s (%d), signal 19 (SIGSTOP); continued by %s (%d), signal 18 (SIGCONT)" % (
        *sent[19][0], *sent[18][0])], stops
    assert stops[0]["cause"]["kind"] == "stopped", stops
    shown = t.output("delay", "--thread", str(stoppee), t.trace("signals")).decode()
    assert "(by stopper (224), signal 19 (SIGSTOP); continued by stopper (224), signal 18 (SIGCONT))" in shown, shown


def wake_ups(name):
    """Every wait for an idle CPU on a few critical paths: the wake-up's CPU, when the other one took note, and how
    deep it slept, read from the text."""
    text = Text(name)
    wakes, arrivals, states = {}, {}, {}
    for time, cpu, event, fields in text.events:
        if event == "sched_waking":
            wakes[time, int(fields["tid"])] = cpu
        elif event == "sched_wakeup":
            arrivals.setdefault((cpu, int(fields["tid"])), []).append(time)
        elif "reschedule_entry" in event or "call_function" in event and event.endswith("entry"):
            arrivals.setdefault((cpu, None), []).append(time)
        elif event == "power_cpu_idle" and fields["state"] != "4294967295":
            states.setdefault(int(fields["cpu_id"]), []).append([time, None, int(fields["state"])])
        elif event == "power_cpu_idle" and states.get(int(fields["cpu_id"])):
            states[int(fields["cpu_id"])][-1][1] = time
    left = {"remote": 0, "slow": 0, "deep": 0}
    for who in t.report("delay", t.trace(name), "--thread", "all")["threads"]:
        if not any(n["key"] == "interrupted" for n in who["summary"]["children"]) or who["tid"] % 3:
            continue
        path = t.report("delay", t.trace(name), "--thread", str(who["tid"]))["critical_path"]
        for piece in path:
            label = piece.get("cause", {}).get("label", "")
            waker = wakes.get((piece["begin"], piece["tid"]))
            remote = re.match(r"CPU (\d+) was idle: remote wake-up from CPU (\d+)", label)
            slow = re.match(r"CPU (\d+) was idle: slow wake-up", label)
            if waker is None or not (remote or slow):
                continue
            target = int((remote or slow).group(1))
            came = [a for a in arrivals.get((target, piece["tid"]), []) + arrivals.get((target, None), [])
                    if piece["begin"] <= a <= piece["end"]]
            if remote:
                assert waker == int(remote.group(2)) != target, (piece, waker)
                assert came and any(2 * (a - piece["begin"]) >= piece["ns"] for a in came), (piece, came)
                left["remote"] += 1
            else:
                # the last it took note, as its sched_wakeup or an interrupt says, was before half of it
                own = [a for a in arrivals.get((target, piece["tid"]), []) if piece["begin"] <= a <= piece["end"]]
                assert waker == target or not own or 2 * (min(own) - piece["begin"]) < piece["ns"], (piece, own)
                left["slow"] += 1
            slept = [s for s in states.get(target, []) if s[0] <= piece["begin"] < (s[1] or 1 << 62)]
            state = re.search(r"C-state (\d+)", label)
            assert (int(state.group(1)) if state else None) == (slept[0][2] if slept else None), (piece, slept)
            left["deep"] += bool(slept)
    print("# %s: %s" % (name, left))
    assert left["remote"] > 5 and left["slow"] > 5, left
    assert left["deep"] > 5 or name != "wide", left


def check_totals(name, dice):
    """Each list of the path's sums is the window, and what its pieces add up to."""
    everyone = t.report("delay", t.trace(name), "--thread", "all")
    begin, end = everyone["window"]["begin"], everyone["window"]["end"]
    tids = [x["tid"] for x in everyone["threads"]]
    alone = [x for x in everyone["threads"] if tids.count(x["tid"]) == 1]
    for _ in range(6):
        low, high = sorted(dice.sample(range(begin, end), 2))
        there = [x["tid"] for x in alone if x["begin"] < high and x["end"] > low]
        report = t.report("delay", t.trace(name), "--thread", str(dice.choice(there)), "--from", "%dns" % low,
                          "--to", "%dns" % high)
        assert report["critical_path"], (name, low, high)
        totals, pieces = report["critical_path_totals"], report["critical_path"]
        for entries in totals.values():
            assert sum(x["ns"] for x in entries) == high - low, (name, low, high)
            assert sum(x["count"] for x in entries) == len(pieces), (name, low, high)
        for entry in totals["by_thread"]:
            mine = [p for p in pieces if (p["host"], p["tid"]) == (entry["host"], entry["tid"])]
            for state in ("working", "interrupted", "blocked", "unknown"):
                assert entry[state + "_ns"] == sum(p["ns"] for p in mine if p["leaf"].split("/")[0] == state), entry
        for entry in totals["by_kind"]:
            some = [p for p in pieces if re.sub(r"(?<!trap):.*", "", p["leaf"]) == entry["leaf"] and
                    p.get("cause", {"kind": entry["kind"]})["kind"] == entry["kind"]]
            assert entry["ns"] == sum(p["ns"] for p in some), entry
        waiting = [p for p in pieces if p["leaf"] in ("interrupted/wait-cpu", "interrupted/preempted")]
        assert all(p["cause"]["kind"] in ("wait-cpu", "throttled") and p["cause"]["label"] for p in waiting), name


def steps():
    """--path: as many lines as there are pieces, the same in CSV, and tables that name the same figures."""
    arguments = ["--thread", "stage-a", t.trace("pipe-chain")]
    report = t.report("delay", *arguments)
    text = t.output("delay", "--path", "--utc", *arguments).decode()
    listed = text.split("every step of it, in order of time\n")[1].split("\n\n")[0].split("\n")
    assert len(listed) == len(report["critical_path"]), (len(listed), len(report["critical_path"]))
    for line, piece in zip(listed, report["critical_path"]):
        assert "%s (%d)" % (piece["name"], piece["tid"]) in line and piece["leaf"] in line, (line, piece)
    rows = list(csv.DictReader(io.StringIO(t.output("delay", "--path", "--format", "csv", *arguments).decode())))
    assert [(int(r["begin"]), int(r["end"]), r["leaf"], int(r["tid"])) for r in rows] == [
        (p["begin"], p["end"], p["leaf"], p["tid"]) for p in report["critical_path"]]
    assert "State summary" not in text and "by thread" in text and "by kind" in text, text[-500:]
    several = t.output("delay", "--path", "--thread", "stage-*", t.trace("pipe-chain")).decode()
    assert re.match(r"Where the time of 3 threads, stage-a \(pid \d+\) and others went", several), several
    as_plugin = t.babeltrace2(t.trace("pipe-chain"), "--component=sink.whylate.delay",
                              "--params=thread=\"stage-a\",path=yes,utc=yes").stdout.decode()
    assert as_plugin == text, "the plugin's --path is another"


def rows(name):
    """The section in text: of the first ten those with 1 % or more, none repeated, no command twice."""
    report = overview(name)
    lines = t.output("overview", "--full", t.trace(name)).decode().split("Who and what others waited for", 1)[1]
    lines = lines.split("\n\n")[0].split("\n")
    imposed = report["waiting_sums"]["imposed_ns"]
    large = [x for x in report["waiting"][:10] if x["ns"] >= imposed / 100]
    shown = [line for line in lines if re.match(r"  (Bottleneck, \d+ % of it: )?\d[\d.]* .?s of \d+ thread", line)]
    assert len(shown) == len(large), (name, len(shown), len(large))
    marked = sum(1 for line in lines if line.startswith("  Bottleneck"))
    assert marked == len(report["knots"]), (name, marked, report["knots"])
    commands = re.findall(r"whylate delay (?:[^\n]*\\\n)*[^\n]*", "\n".join(lines))  # a long one goes on behind a backslash
    assert len(set(commands)) == len(commands) == len({(x["example"]["tid"], x["example"]["begin"]) for x in large}), name
    omitted = len(report["waiting"]) - len(large)
    assert not omitted or "  [... %d more; --limit 0 shows all ...]" % omitted in lines, (name, omitted)


for case in (pipe_chain, futex, lock_lapse, startup_chain, preempt, cfs_quota, web_mixed, disk_read, hang, signals, steps):
    tap.case(case.__name__.replace("_", "-"), case)
for one in ("startup-chain", "futex", "fork1", "preempt", "hang", "lock-lapse"):
    tap.case("rows of %s" % one, rows, one)
for one in ("wide", "signals", "web-mixed"):
    tap.case("wake-ups of %s" % one, wake_ups, one)
for one in t.TRACES:
    tap.case("sums of %s" % one, lambda n: check_sums(overview(n)), one)
for one in ("pipe-chain", "futex", "lock-lapse", "startup-chain", "preempt", "cfs-quota", "web-mixed", "disk-read", "lost",
            "snapshot", "signals", "wide", "fork1"):
    tap.case("totals of paths of %s" % one, check_totals, one, random.Random(one))
tap.case("both hosts", lambda: check_sums(t.report("overview", "--limit", "0", *t.trace("two-hosts-client",
                                                                                       "two-hosts-server"))))
sys.exit(tap.done())
