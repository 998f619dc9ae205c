#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""large.py: what grows faster than the trace. Traces of much of one kind, at two sizes, and what a command takes of them.

    large.py make KIND COUNT DIRECTORY   writes the trace
    large.py [KIND[=COUNT]...]           a line for each kind and command: processor time and memory at COUNT and at a
                                         quarter of it (WHYLATE names the program; TMPDIR has room for 2 GB)

What is linear takes four times as much of four times as many; of turns and spread, whose events are as many whatever the
count, the same. tests/large.t makes small ones and holds their reports to
what was written."""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import ctf  # noqa: E402

SWITCH = [("prev_comm", "string"), ("prev_tid", "i32"), ("prev_prio", "i32"), ("prev_state", "i64"),
          ("next_comm", "string"), ("next_tid", "i32"), ("next_prio", "i32")]
WAKE = [("comm", "string"), ("tid", "i32"), ("prio", "i32"), ("target_cpu", "i32")]
FORK = [("parent_comm", "string"), ("parent_tid", "i32"), ("parent_pid", "i32"), ("child_comm", "string"),
        ("child_tid", "i32"), ("child_pid", "i32")]
STATE = [("tid", "i32"), ("pid", "i32"), ("ppid", "i32"), ("name", "string"), ("type", "i32"), ("mode", "i32"),
         ("submode", "i32"), ("status", "i32"), ("file_table_address", "u64")]
CLASSES = {
    "sched_switch": SWITCH, "sched_wakeup": WAKE, "sched_waking": WAKE, "sched_process_fork": FORK,
    "sched_process_exit": [("comm", "string"), ("tid", "i32"), ("prio", "i32")],
    "lttng_statedump_process_state": STATE,
    "lttng_statedump_file_descriptor": [("file_table_address", "u64"), ("fd", "i32"), ("flags", "u32"), ("fmode", "u32"),
                                        ("filename", "string")],
    "syscall_entry_openat": [("dfd", "i32"), ("filename", "string"), ("flags", "i32"), ("mode", "u16")],
    "syscall_exit_openat": [("ret", "i64")],
    "syscall_entry_read": [("fd", "u32"), ("count", "u64")],
    "syscall_exit_read": [("ret", "i64")],
    "syscall_entry_futex": [("uaddr", "u64"), ("op", "i32"), ("val", "u32"), ("utime", "u64"), ("uaddr2", "u64"),
                            ("val3", "u32")],
    "syscall_exit_futex": [("ret", "i64")],
    "syscall_entry_flock": [("fd", "u32"), ("cmd", "u32")],
    "syscall_exit_flock": [("ret", "i64")],
}
PACKET = 20000      # events
ROUNDS = 250000     # of four events, whatever the count is of
IDLE = ("swapper/0", 0)
BLOCKED, RUNNING, DEAD = 1, 0, 16


class Large(ctf.Trace):
    """Writes each packet when it is full. Of CPU 0; time goes on by a microsecond an event."""

    def __init__(self, directory, classes=None):
        super().__init__(classes or CLASSES)
        self.directory, self.now, self.count, self.running = directory, 1000, 0, IDLE
        os.makedirs(directory)
        with open(directory + "/metadata", "w", encoding="ascii") as file:
            file.write(self.metadata())

    def add(self, event, /, cpu=0, **values):
        self.event(self.now, cpu, event, **values)
        self.now += 1000
        self.count += 1
        if len(self.cpus[cpu]) == PACKET:
            self.flush(cpu)

    def flush(self, cpu):
        with open("%s/channel0_%d" % (self.directory, cpu), "ab") as file:
            file.write(self.packet(cpu, self.cpus.pop(cpu)))

    def to(self, comm, tid, state=BLOCKED):
        """Who runs leaves the CPU to another."""
        self.add("sched_switch", prev_comm=self.running[0], prev_tid=self.running[1], prev_prio=20,
                 prev_state=state if self.running[1] else RUNNING, next_comm=comm, next_tid=tid, next_prio=20)
        self.running = (comm, tid)

    def end(self):
        for cpu in list(self.cpus):
            self.flush(cpu)

    def opened(self, name, fd):
        self.add("syscall_entry_openat", dfd=-100, filename=name, flags=0, mode=0)
        self.add("syscall_exit_openat", ret=fd)

    def futex(self, uaddr, op):
        self.add("syscall_entry_futex", uaddr=uaddr, op=op, val=1, utime=0, uaddr2=0, val3=0)


def threads_alive(trace, count):
    """Of one process, all there at once, each of which runs once."""
    for i in range(count):
        trace.add("lttng_statedump_process_state", tid=10 + i, pid=10, ppid=1, name="worker", type=0, mode=5, submode=0,
                  status=5, file_table_address=1)
    for i in range(count):
        trace.add("sched_wakeup", comm="worker", tid=10 + i, prio=20, target_cpu=0)
        trace.to("worker", 10 + i)
    trace.to(*IDLE)


def threads_passing(trace, count):
    """Each a process that is forked, runs and ends."""
    trace.to("parent", 5)
    for i in range(count):
        trace.add("sched_process_fork", parent_comm="parent", parent_tid=5, parent_pid=5, child_comm="parent",
                  child_tid=10 + i, child_pid=10 + i)
        trace.to("parent", 10 + i, RUNNING)
        trace.add("sched_process_exit", comm="parent", tid=10 + i, prio=20)
        trace.to("parent", 5, DEAD)
    trace.to(*IDLE)


def threads_ready(trace, count):
    """All woken before the first of them runs."""
    for i in range(count):
        trace.add("sched_wakeup", comm="worker", tid=10 + i, prio=20, target_cpu=0)
    for i in range(count):
        trace.to("worker", 10 + i)
    trace.to(*IDLE)


def descriptors(trace, count):
    """One process opens so many files and reads each."""
    trace.to("reader", 5)
    for i in range(count):
        trace.opened("/data/%d" % i, i)
        trace.add("syscall_entry_read", fd=i, count=10)
        trace.add("syscall_exit_read", ret=10)
    trace.to(*IDLE)


def locks(trace, count):
    """Two threads, and a wait for so many mutexes, each of its own; given by the other."""
    names = ("left", 5), ("right", 6)
    for tid in 5, 6:
        trace.add("lttng_statedump_process_state", tid=tid, pid=5, ppid=1, name="left", type=0, mode=5, submode=0, status=5,
                  file_table_address=1)
    trace.to(*names[0])
    for i in range(count):
        mine, other = names[i % 2], names[1 - i % 2]
        trace.futex(4096 + 64 * i, 128)             # FUTEX_WAIT_PRIVATE
        trace.to(*other)
        if i:
            trace.add("syscall_exit_futex", ret=0)
        trace.futex(4096 + 64 * i, 129)             # FUTEX_WAKE_PRIVATE
        trace.add("sched_waking", comm=mine[0], tid=mine[1], prio=20, target_cpu=0)
        trace.add("syscall_exit_futex", ret=1)
    trace.to(*IDLE)


def locks_held(trace, count):
    """So many files' locks are taken, and given back only at the end."""
    trace.to("holder", 5)
    for i in range(count):
        trace.opened("/lock/%d" % i, i)
        trace.add("syscall_entry_flock", fd=i, cmd=2)
        trace.add("syscall_exit_flock", ret=0)
    for i in range(count):
        trace.add("syscall_entry_flock", fd=i, cmd=8)
        trace.add("syscall_exit_flock", ret=0)
    trace.to(*IDLE)


def waiters(trace, count):
    """So many threads wait for one mutex, and get it one after the other."""
    for i in range(count):
        trace.to("waiter", 10 + i)
        trace.futex(4096, 128)
    for i in range(count):
        trace.to("waiter", 9 + i if i else 5)
        if i:
            trace.add("syscall_exit_futex", ret=0)
        trace.futex(4096, 129)
        trace.add("sched_waking", comm="waiter", tid=10 + i, prio=20, target_cpu=0)
        trace.add("syscall_exit_futex", ret=1)
    trace.to(*IDLE)


def intervals(trace, count):
    """One thread, in and out of calls."""
    trace.to("busy", 5)
    for _ in range(count // 2):
        trace.add("syscall_entry_read", fd=0, count=10)
        trace.add("syscall_exit_read", ret=10)
    trace.to(*IDLE)


def naps(trace, count):
    """One thread that sleeps and is woken by another, again and again."""
    trace.to("waker", 6)
    for _ in range(count):
        trace.to("sleeper", 5)
        trace.to("waker", 6)
        trace.add("sched_waking", comm="sleeper", tid=5, prio=20, target_cpu=0)
    trace.to(*IDLE)


def names(trace, count):
    """Files with names of 64 KB, all different, and threads with such names."""
    for i in range(count):
        trace.add("sched_wakeup", comm="c%d" % i * 7000, tid=10 + i, prio=20, target_cpu=0)
        trace.to("c%d" % i * 7000, 10 + i)
        trace.opened("/%d" % i * 10000, 3)
        if len(trace.cpus[0]) > 200:
            trace.flush(0)
    trace.to(*IDLE)


def streams(trace, count):
    """A stream a CPU, of 100 events each."""
    for _ in range(25):
        for cpu in range(count):
            tid, name = 10 + cpu, "on-%d" % cpu
            for one, other in (((IDLE[0], 0), (name, tid)), ((name, tid), (IDLE[0], 0))) * 2:
                trace.add("sched_switch", cpu=cpu, prev_comm=one[0], prev_tid=one[1], prev_prio=20, prev_state=1 if one[1] else 0,
                          next_comm=other[0], next_tid=other[1], next_prio=20)


def fields(trace, count):
    """Events of so many fields, a thousand of them."""
    values = {"f%d" % i: i % 250 for i in range(count)}
    for _ in range(1000):
        trace.add("wide", **values)
        trace.to("busy", 5) if trace.running == IDLE else trace.to(*IDLE)
        if len(trace.cpus[0]) > 200:
            trace.flush(0)


def classes(trace, count):
    """So many kinds of events that nobody knows."""
    for i in range(count):
        trace.add("kind_%d" % i, value=i)


def turns(trace, count):
    """As many events however many threads take turns: each is woken by the one before, runs and reads."""
    for i in range(ROUNDS):
        tid = 10 + i % count
        trace.add("sched_waking", comm="turn", tid=tid, prio=20, target_cpu=0)
        trace.to("turn", tid)
        trace.add("syscall_entry_read", fd=0, count=10)
        trace.add("syscall_exit_read", ret=10)
    trace.to(*IDLE)


def spread(trace, count):
    """As many events however many CPUs they are spread over, with a thread each."""
    for i in range(ROUNDS):
        cpu = i % count
        name, tid = "on-%d" % cpu, 10 + cpu
        trace.add("sched_switch", cpu=cpu, prev_comm=IDLE[0], prev_tid=0, prev_prio=20, prev_state=0, next_comm=name,
                  next_tid=tid, next_prio=20)
        trace.add("syscall_entry_read", cpu=cpu, fd=0, count=10)
        trace.add("syscall_exit_read", cpu=cpu, ret=10)
        trace.add("sched_switch", cpu=cpu, prev_comm=name, prev_tid=tid, prev_prio=20, prev_state=1, next_comm=IDLE[0],
                  next_tid=0, next_prio=20)


# how many are asked of each
KINDS = {
    "threads_alive": (threads_alive, 1000000), "threads_passing": (threads_passing, 1000000),
    "threads_ready": (threads_ready, 1000000), "descriptors": (descriptors, 1000000), "locks": (locks, 1000000),
    "locks_held": (locks_held, 1000000), "waiters": (waiters, 100000), "intervals": (intervals, 10000000),
    "naps": (naps, 1000000), "names": (names, 2000), "streams": (streams, 4096), "fields": (fields, 10000),
    "classes": (classes, 40000), "turns": (turns, 30000), "spread": (spread, 64),
}
COMMANDS = (("overview",), ("delay", "--thread", "all"), ("profile",), ("requests",), ("check",),
            ("overview", "--format", "html"), ("export", "--as", "csv"))


def make(kind, count, directory):
    """How many events there are."""
    known = dict(CLASSES)
    if kind == "fields":
        known["wide"] = [("f%d" % i, "u8") for i in range(count)]
    if kind == "classes":
        known.update(("kind_%d" % i, [("value", "u32")]) for i in range(count))
    trace = Large(directory, known)
    KINDS[kind][0](trace, count)
    trace.end()
    return trace.count


def cost(arguments):
    """Seconds of processor time, MB, status of one run."""
    child = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def measure(kind, count):
    place = tempfile.mkdtemp(prefix="large-")
    try:
        # by processes of their own: what this one has had in memory would be counted as its children's
        events = [int(subprocess.run([sys.executable, __file__, "make", kind, str(n), place + "/%d" % n], check=True,
                                     stdout=subprocess.PIPE).stdout) for n in (count // 4, count)]
        for command in COMMANDS:
            found = []
            for n in (count // 4, count):
                out = ["--output", "%s/out" % place] if command[0] == "export" else []
                found.append(cost([os.environ.get("WHYLATE", "whylate"), *command, *out, "--cache", "off", "%s/%d" % (place, n)]))
                shutil.rmtree(place + "/out", ignore_errors=True)
            (less, small, ended), (more, large, status) = found
            print("%-16s %8d %-28s %7.2f s %7.2f s %6.2f us/event  x%4.1f  %6.0f MB %6.0f MB %5.0f B/event  %d %d" % (
                kind, count, " ".join(command), less, more, more * 1e6 / events[1], more / max(less, 0.01), small, large,
                large * 2**20 / events[1], ended, status), flush=True)
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        print(make(sys.argv[2], int(sys.argv[3]), sys.argv[4]))
    else:
        for word in sys.argv[1:] or KINDS:
            name, _, number = word.partition("=")
            measure(name, int(number or KINDS[name][1]))
