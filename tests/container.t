# SPDX-License-Identifier: MIT
"""Containers through the whole way of the data. No recorded trace has any, so two small ones are written here as
lttng-modules 2.13 and 2.8 would (babeltrace2 reads them); what must come out follows from pid_namespaces(7): TIDs of a
container are those that its processes have of themselves."""
import json
import subprocess
import sys
import tempfile

from jsonschema import Draft202012Validator

import ctf
import whylate_test as t

HOST, HOST_CGROUP, BOX, INNER, CGROUP = 4026531836, 4026531835, 4026532201, 4026532305, 4026532500
MS = 1000000
tap = t.Tap()

SWITCH = [("prev_comm", "string"), ("prev_tid", "i32"), ("prev_prio", "i32"), ("prev_state", "i64"), ("next_comm", "string"),
          ("next_tid", "i32"), ("next_prio", "i32")]
WAKING = [("comm", "string"), ("tid", "i32"), ("prio", "i32"), ("target_cpu", "i32")]
FORK = [("parent_comm", "string"), ("parent_tid", "i32"), ("parent_pid", "i32"), ("parent_ns_inum", "u32"),
        ("child_comm", "string"), ("child_tid", "i32"), ("vtids", ["i32"]), ("child_pid", "i32"), ("child_ns_inum", "u32")]
STATE = [("tid", "i32"), ("pid", "i32"), ("ppid", "i32"), ("name", "string"), ("type", "i32"), ("mode", "i32"),
         ("submode", "i32"), ("status", "i32")]
LEVEL = [("vtid", "i32"), ("vpid", "i32"), ("vppid", "i32"), ("ns_level", "u32"), ("ns_inum", "u32")]
CLASSES = {"sched_switch": SWITCH, "sched_waking": WAKING, "sched_process_fork": FORK,
           "syscall_entry_read": [("fd", "i32"), ("count", "u64")], "syscall_exit_read": [("ret", "i64")],
           "syscall_entry_write": [("fd", "i32"), ("count", "u64")], "syscall_exit_write": [("ret", "i64")]}


class Kernel:
    """One CPU: a clock that goes on by itself, and who runs."""

    def __init__(self, trace, context):
        self.trace, self.context, self.now, self.running = trace, context, 0, (0, "swapper/0")

    def event(self, name, /, **values):
        self.now += MS
        self.trace.event(self.now, 0, name, self.context(self.running[0]), **values)

    def switch(self, tid, comm, state=1):
        before, self.running = self.running, (tid, comm)
        self.now += MS
        self.trace.event(self.now, 0, "sched_switch", self.context(before[0]), prev_comm=before[1], prev_tid=before[0],
                         prev_prio=20, prev_state=0 if before[0] == 0 else state, next_comm=comm, next_tid=tid, next_prio=20)

    def fork(self, comm, tid, pid, vtids, parent_ns, child_ns):
        parent = self.running
        self.event("sched_process_fork", parent_comm=parent[1], parent_tid=parent[0], parent_pid=parent[0],
                   parent_ns_inum=parent_ns, child_comm=comm, child_tid=tid, vtids=vtids, child_pid=pid, child_ns_inum=child_ns)


def history(kernel):
    """nginx (500, 1 in the container) makes worker (510, 12 there), which reads what nginx writes; nginx makes a container
    of its own: app (520, 14 in the container, 1 in its own)."""
    kernel.switch(500, "nginx")
    kernel.fork("worker", 510, 510, [510, 12], BOX, BOX)
    kernel.fork("app", 520, 520, [520, 14, 1], BOX, INNER)
    kernel.switch(510, "worker")
    kernel.event("syscall_entry_read", fd=3, count=1)
    kernel.switch(500, "nginx")
    kernel.event("syscall_entry_write", fd=4, count=1)
    kernel.event("sched_waking", comm="worker", tid=510, prio=20, target_cpu=0)
    kernel.event("syscall_exit_write", ret=1)
    kernel.switch(510, "worker")
    kernel.event("syscall_exit_read", ret=1)
    kernel.switch(520, "app")
    kernel.switch(0, "swapper/0")


def record_213(directory):
    """A statedump with process_pid_ns and process_cgroup_ns."""
    classes = dict(CLASSES, lttng_statedump_process_state=STATE,
                   lttng_statedump_process_pid_ns=[("tid", "i32")] + LEVEL,
                   lttng_statedump_process_cgroup_ns=[("tid", "i32"), ("ns_inum", "u32")])
    kernel = Kernel(ctf.Trace(classes), lambda tid: {})
    for tid, name, levels, cgroup in (
            (1, "init", [(0, HOST, 1)], HOST_CGROUP), (500, "nginx", [(1, BOX, 1), (0, HOST, 500)], CGROUP)):
        kernel.event("lttng_statedump_process_state", tid=tid, pid=tid, ppid=0, name=name, type=0, mode=5, submode=0, status=5)
        for level, number, vtid in levels:
            kernel.event("lttng_statedump_process_pid_ns", tid=tid, vtid=vtid, vpid=vtid, vppid=0, ns_level=level,
                         ns_inum=number)
        kernel.event("lttng_statedump_process_cgroup_ns", tid=tid, ns_inum=cgroup)
    history(kernel)
    return kernel.trace.write(directory)


def record_28(directory):
    """process_state once per level; no cgroup namespaces."""
    classes = dict(CLASSES, lttng_statedump_process_state=STATE + LEVEL)
    kernel = Kernel(ctf.Trace(classes, tracer=(2, 8, 0), kernel="4.4.0"), lambda tid: {})
    for tid, name, level, number, vtid in ((1, "init", 0, HOST, 1), (500, "nginx", 1, BOX, 1), (500, "nginx", 0, HOST, 500)):
        kernel.event("lttng_statedump_process_state", tid=tid, pid=tid, ppid=0, name=name, type=0, mode=5, submode=0, status=5,
                     vtid=vtid, vpid=vtid, vppid=0, ns_level=level, ns_inum=number)
    history(kernel)
    return kernel.trace.write(directory)


def record_contexts(directory):
    """No statedump, no forks: contexts only."""
    classes = {name: CLASSES[name] for name in CLASSES if name != "sched_process_fork"}
    ids = {500: (1, 1, BOX, CGROUP), 510: (12, 12, BOX, CGROUP), 520: (1, 1, INNER, CGROUP)}
    context = [("vtid", "i32"), ("vpid", "i32"), ("pid_ns", "u32"), ("cgroup_ns", "u32")]
    kernel = Kernel(ctf.Trace(classes, context),
                    lambda tid: dict(zip([c[0] for c in context], ids.get(tid, (tid, tid, HOST, HOST_CGROUP)))))
    kernel.fork = lambda *arguments: None
    history(kernel)
    return kernel.trace.write(directory)


def tids(directory, *arguments):
    return [x["tid"] for x in t.report("delay", directory, *arguments)["threads"]]


def readable(directory, events):
    """The files are a trace to babeltrace2."""
    done = subprocess.run(["babeltrace2", directory], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    assert done.stdout.count(b"\n") == events, done.stdout.count(b"\n")
    assert not done.stderr, done.stderr


def selection(directory):
    for name in ("4026532201", "pid:[4026532201]", "500", "510", "nginx"):
        assert tids(directory, "--container", name) == [500, 510, 520], name
    box = ("--container", "4026532201")
    assert tids(directory, *box, "--thread", "1") == [500]
    assert tids(directory, *box, "--thread", "12") == [510]
    assert tids(directory, *box, "--process", "14") == [520]
    assert tids(directory, *box, "--thread", "all") == [500, 510, 520]
    assert tids(directory, "--container", "4026532305", "--thread", "1") == [520]
    assert tids(directory, "--thread", "510") == [510]


def members(directory):
    """The thread's ids in its container, and the wait as on the host."""
    report = t.report("delay", directory, "--container", "nginx", "--process", "12")
    (worker,) = report["threads"]
    assert (worker["tid"], worker["vtid"], worker["vpid"], worker["pid_ns"]) == (510, 12, 12, BOX), worker
    assert report["lineage"][-1]["vtid"] == 12
    wait, last = worker["causality"]
    assert last["cause"]["kind"] == "still-blocked", last
    assert wait["leaf"] == "blocked/syscall:read" and wait["woken_by"]["tid"] == 500, wait
    text = t.output("delay", directory, "--container", "nginx", "--process", "12").decode()
    assert "worker (pid 510, 12 in pid:[4026532201])" in text, text
    assert "nginx (pid 500, 1 in pid:[4026532201])" in text, text


def listed(directory, kinds):
    report = t.report("overview", directory)
    found = [(c["kind"], c["namespace"], c["level"], c["parent"], c["first"] and c["first"]["tid"], c["threads"], c["names"])
             for c in report["containers"]]
    expected = [("pid", BOX, 1, HOST, 500, 3, ["nginx", "worker", "app"]), ("pid", INNER, 2, BOX, 520, 1, ["app"]),
                ("cgroup", CGROUP, None, None, None, 3, ["nginx", "worker", "app"])]
    assert found == [e for e in expected if e[0] in kinds], found
    text = t.output("overview", "--full", directory).decode()
    assert "Containers: namespaces other than the host's\n  pid:[4026532201]: 3 threads, first process nginx (500)" in text, text
    inside = t.report("overview", directory, "--container", "4026532305", "--limit", "0")
    names = [x["tid"] for x in inside["threads"] + inside["idle_threads"]]
    assert names == [520], names
    assert {x["tid"] for x in t.report("overview", directory, "--limit", "0")["threads"]} > {520}


def profiled(directory):
    """Both calls are of the container; only one of worker."""
    def operations(*arguments):
        report = t.report("profile", directory, *arguments)
        return sorted((p["operation"], p["count"]) for p in report["profiles"])
    assert operations("--container", "nginx") == [("syscall:read", 1), ("syscall:write", 1)]
    assert operations("--container", "nginx", "--thread", "12") == [("syscall:read", 1)]
    assert operations("--container", "4026532305") == []


def schemas(directory):
    for command, arguments in (("overview", []), ("delay", ["--container", "nginx"]),
                               ("profile", ["--container", "nginx", "--operation", "*"])):
        schema = json.loads(t.output(command, "--json-schema"))
        errors = list(Draft202012Validator(schema).iter_errors(t.report(command, directory, *arguments)))
        assert not errors, (command, errors[0].message[:300])


def component(directory):
    """The component class takes the same words, and says the same."""
    done = t.babeltrace2(directory, "--component=sink.whylate.delay",
                         '--params=container="4026532201",thread="12",format="json"')
    assert done.returncode == 0, done.stderr
    assert done.stdout == t.output("delay", directory, "--container", "4026532201", "--thread", "12", "--format", "json")


def cgroup(directory):
    """worker and app are in their parent's cgroup namespace; their ids are of their own PID namespaces."""
    assert tids(directory, "--container", "cgroup:[4026532500]") == [500, 510, 520]
    assert tids(directory, "--container", "4026532500", "--thread", "1") == [500, 520]


def by_contexts(directory):
    """What contexts do not say is which namespace is inside which."""
    assert tids(directory, "--container", "4026532201") == [500, 510]
    assert tids(directory, "--container", "4026532201", "--thread", "12") == [510]
    assert tids(directory, "--container", "cgroup:[4026532500]") == [500, 510, 520]


def stretches():
    """(when the virtual CPU has the host's CPU from, and to), ms: no two alike, or several clocks would fit."""
    begin, seed = 2, 7
    for _ in range(80):
        seed = seed * 1103515245 % 2147483647
        runs, waits = 9 + seed % 14, 12 + seed // 64 % 17
        yield begin, begin + runs
        begin += runs + waits


def record_guest(directory):
    """The host's hog (30) takes the CPU from the virtual CPU (21) of qemu (20). In that guest worker (510, 12 in the
    container) of nginx's (500, 1 in it) never sleeps."""
    state = {"type": 0, "mode": 5, "submode": 0, "status": 5}
    host = Kernel(ctf.Trace(dict(CLASSES, lttng_statedump_process_state=STATE), hostname="iron"), lambda tid: {})
    guest = Kernel(ctf.Trace(dict(CLASSES, lttng_statedump_process_state=STATE,
                                  lttng_statedump_process_pid_ns=[("tid", "i32")] + LEVEL),
                             hostname="web", uuid=bytes(range(100, 116))), lambda tid: {})
    for tid, pid, name in ((20, 20, "qemu"), (21, 20, "CPU 0/KVM"), (30, 30, "hog")):
        host.trace.event(MS, 0, "lttng_statedump_process_state", {}, tid=tid, pid=pid, ppid=0, name=name, **state)
    for at, (begin, end) in enumerate(stretches()):
        host.now = (begin - 1) * MS
        host.switch(21, "CPU 0/KVM", 0)
        if not at:
            guest.now = begin * MS
            for tid, name, levels in ((500, "nginx", [(1, BOX, 1), (0, HOST, 500)]),
                                      (510, "worker", [(1, BOX, 12), (0, HOST, 510)])):
                guest.trace.event(guest.now, 0, "lttng_statedump_process_state", {}, tid=tid, pid=tid, ppid=0, name=name,
                                  **state)
                for level, number, vtid in levels:
                    guest.trace.event(guest.now, 0, "lttng_statedump_process_pid_ns", {}, tid=tid, vtid=vtid, vpid=vtid,
                                      vppid=0, ns_level=level, ns_inum=number)
            guest.switch(510, "worker")
        for call in range((end - begin) // 2 - 1):
            guest.now = (begin + 1 + 2 * call) * MS - MS // 2
            guest.event("syscall_entry_write", fd=1, count=1)
            guest.now -= MS - MS // 4
            guest.event("syscall_exit_write", ret=1)
        host.now = (end - 1) * MS
        host.switch(30, "hog", 0)
    return host.trace.write(directory + "/iron"), guest.trace.write(directory + "/web")


def in_guest(host_trace, guest_trace):
    """What the host's hog took is no work of the thread in the guest's container; it is known by its number there."""
    report = t.report("delay", host_trace, guest_trace, "--container", "nginx", "--thread", "12")
    (worker,) = report["threads"]
    assert (report["hosts"][worker["host"]]["hostname"], worker["tid"], worker["vtid"]) == ("web", 510, 12), worker
    taken = {third["key"]: third["ns"] for part in worker["summary"]["children"] for state in part["children"]
             if state["key"] == "interrupted/host:preempted" for third in state["children"]}
    every = list(stretches())
    # hog had the CPU between two stretches; worker's last event is in the last one
    expected = sum(after[0] - before[1] for before, after in zip(every, every[1:])) * MS
    assert taken == {"interrupted/host:preempted/by:hog": expected}, (taken, expected)
    text = t.output("delay", host_trace, guest_trace, "--container", "nginx", "--thread", "12").decode()
    assert "worker (pid 510, 12 in pid:[4026532201])" in text and "hog" in text, text
    machine = t.report("overview", host_trace, guest_trace)
    assert [(c["namespace"], c["threads"]) for c in machine["containers"]] == [(BOX, 2)], machine["containers"]


def refused(directory, container, *words):
    done = t.run("delay", directory, "--container", container)
    error = done.stderr.decode()
    assert done.returncode == 2 and not done.stdout, done
    assert ("--container '%s'" % container) in error and all(w in error for w in words), error


def errors(directory):
    refused(directory, "4026532999", "no such", "pid:[4026532201] (nginx)", "pid:[4026532305] (app)")
    refused(directory, "apache", "no such", "pid:[4026532201] (nginx)")
    refused(directory, "ngnx", "it has pid:[4026532201] (nginx), ")  # the nearest first
    refused(directory, "apq", "it has pid:[4026532305] (app), ")
    refused(directory, "1", "init (1) is in no container")
    recorded = t.trace("wide")
    refused(recorded, "4026532201", "the trace tells of no container", "in the host's")
    assert t.run("delay", recorded, "--container", "").returncode == 2
    assert t.run("overview", recorded, "--container", "nginx").returncode == 2


def host(name):
    """Of a recorded trace, all are in the host's namespaces, and have its TIDs there; the list of containers is empty."""
    everybody = tids(t.trace(name), "--thread", "all")
    assert tids(t.trace(name), "--container", str(HOST)) == everybody
    assert t.report("overview", t.trace(name))["containers"] == []
    assert not [x for x in t.report("delay", t.trace(name), "--thread", "all")["threads"] if "vtid" in x]


with tempfile.TemporaryDirectory() as top:
    new, old, contexts = record_213(top + "/new"), record_28(top + "/old"), record_contexts(top + "/contexts")
    for trace, events in ((new, 20), (old, 16), (contexts, 11)):
        tap.case("%s is a trace" % trace.rsplit("/", 1)[1], readable, trace, events)
    for trace, kinds in ((new, ("pid", "cgroup")), (old, ("pid",))):
        for case in (selection, members, profiled, schemas, component):
            tap.case("%s: %s" % (trace.rsplit("/", 1)[1], case.__name__), case, trace)
        tap.case("%s: listed" % trace.rsplit("/", 1)[1], listed, trace, kinds)
    tap.case("cgroup namespaces", cgroup, new)
    tap.case("contexts alone", by_contexts, contexts)
    tap.case("errors", errors, new)
    tap.case("a container in a guest, beside its host", in_guest, *record_guest(top + "/guest"))
    for recorded_name in ("wide", "pipe-chain"):
        tap.case("the host's own: " + recorded_name, host, recorded_name)
sys.exit(tap.done())
