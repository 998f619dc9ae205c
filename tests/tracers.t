#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""whylate record with ftrace and perf: what is asked for and cannot be had is said, what is made is undone, whatever
ends it. With WHYLATE_REAL_TRACEFS=1, as root, recording is tried with the real tracefs, and a perf that is played (in
a mount namespace of this test's own, with a /run of its own); otherwise the virtual machine does (make check-vm), as a
machine has one tracefs, and what is wrong with it stays until the machine is started again. The files are taken apart
here, by the format that trace-cmd.dat.v6(5) fixes, not by whylate."""
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import whylate_test as t
from trace_dat import TraceDat

INSIDE = "WHYLATE_TEST_TRACEFS"
tap = t.Tap()


def enter():
    """A namespace with tracefs and an empty /run, if root can have one; the test goes on in it."""
    if INSIDE in os.environ or os.geteuid() != 0 or not os.environ.get("WHYLATE_REAL_TRACEFS"):
        return
    place = tempfile.mkdtemp(dir=t.CACHE, prefix="tracefs-")
    inside = ["unshare", "--mount", "sh", "-c",
              'mount -t tmpfs none /run && if mount -t tracefs none "$0" && test -d "$0/instances"; then %s="$0"; else %s=; fi; '
              'export %s; exec "$@"' % (INSIDE, INSIDE, INSIDE), place]
    if subprocess.run([*inside, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        status = subprocess.run([*inside, sys.executable, __file__], check=False).returncode
        os.rmdir(place)
        sys.exit(status)
    os.rmdir(place)


enter()
TRACEFS = os.environ.get(INSIDE, "")
FOLDER = tempfile.TemporaryDirectory()


def without(*names):
    """A PATH that has all programs but these."""
    path = "%s/without-%s" % (FOLDER.name, "-".join(names))
    if not os.path.isdir(path):
        os.mkdir(path)
        for place in ("/usr/sbin", "/usr/bin", "/sbin", "/bin"):
            for name in os.listdir(place) if os.path.isdir(place) else []:
                if name not in names and not os.path.lexists(path + "/" + name):
                    os.symlink(place + "/" + name, path + "/" + name)
    return path


NO_LTTNG = without("lttng", "lttng-sessiond")


def environment(**more):
    return {**os.environ, "PATH": NO_LTTNG, "WHYLATE_TRACEFS": TRACEFS or "/nonexistent", **more}


def start(*arguments, **more):
    return subprocess.Popen([t.WHYLATE, *arguments], cwd=FOLDER.name, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, start_new_session=True, env=environment(**more))


def run(*arguments, **more):
    process = start(*arguments, **more)
    out, err = process.communicate(timeout=600)
    return process.returncode, out.decode(), err.decode()


def place(name):
    return FOLDER.name + "/" + name


# --- what is asked ----------------------------------------------------------------------------------------------------

def refused():
    for line, said in ((["--tracer", "etw"], "lttng, ftrace or perf"), (["--tracer", "ftrace", "--samples"], "--samples goes"),
                       (["--tracer", "perf", "--snapshot"], "--snapshot goes"),
                       (["--tracer", "ftrace", "--drill", "1ms"], "--drill goes"),
                       (["--tracer", "perf", "--snapshot", "--trigger", "sched_switch"], "--trigger goes"),
                       (["--tracer", "perf", "--functions", "vfs_read"], "--functions goes"),
                       (["--tracer", "ftrace", "--callstacks"], "--callstacks goes")):
        status, out, err = run("record", *line, "--", "true")
        assert status == 2 and said in err and out == "", (line, status, err)


def shown():
    """What --dry-run shows is all that is done, with the same names at both ends; nothing is made."""
    status, out, _ = run("record", "--tracer", "ftrace", "--session", "s", "--snapshot", "--dry-run", "--", "sleep", "1",
                         WHYLATE_TRACEFS="/nonexistent")
    lines = out.splitlines()
    assert status == 0 and lines[0] == "mkdir /nonexistent/instances/s" and "rmdir /nonexistent/instances/s" in lines, out
    assert "echo 'mono' >/nonexistent/instances/s/trace_clock" in lines, out
    assert "echo '1' >/nonexistent/instances/s/options/overwrite" in lines, out
    assert "echo 'sched:sched_switch' >>/nonexistent/instances/s/set_event" in lines, out
    assert "echo 'raw_syscalls:sys_*' >>/nonexistent/instances/s/set_event" in lines, out
    assert lines.index("echo '1' >/nonexistent/instances/s/tracing_on") < lines.index("sleep 1"), out
    assert lines.index("sleep 1") < lines.index("echo '0' >/nonexistent/instances/s/tracing_on",
                                                lines.index("sleep 1")), out
    made = set(re.findall(r"^echo 'p:(\S+)", out, re.M))
    assert made == set(re.findall(r"^echo '-:(\S+)'", out, re.M)), out
    status, out, _ = run("record", "--tracer", "ftrace", "--preset", "minimal", "--dry-run")
    assert "raw_syscalls" not in out and "'p:" not in out and "options/overwrite" in out, out
    status, out, _ = run("record", "--tracer", "perf", "--samples=99", "--output", "o", "--dry-run", "--", "true")
    assert status == 0 and "perf record -a -k CLOCK_MONOTONIC" in out and "freq=99,call-graph=fp" in out, out
    assert "sched:sched_switch/call-graph=fp/" in out and "perf.data" in out, out
    assert not os.path.exists(place("o"))


def not_there():
    """No tracer at all: what both need is said; each by itself says what it needs."""
    status, _, err = run("record", "--output", "none", "--", "touch", place("ran"), WHYLATE_TRACEFS="/nonexistent")
    assert status == 125 and "apt-get install lttng-tools" in err and "without LTTng" in err, (status, err)
    status, _, err = run("record", "--tracer", "ftrace", "--output", "none", "--", "touch", place("ran"),
                         WHYLATE_TRACEFS="/nonexistent")
    assert status == 125 and ("mount -t tracefs" in err or "needs root" in err or "locked down" in err), (status, err)
    status, _, err = run("record", "--tracer", "perf", "--output", "none", "--", "touch", place("ran"),
                         PATH=without("lttng", "lttng-sessiond", "perf"))
    assert status == 125 and "apt-get install linux-perf" in err, (status, err)
    assert not os.path.exists(place("none")) and not os.path.exists(place("ran"))


# --- ftrace -----------------------------------------------------------------------------------------------------------

def instances():
    return sorted(os.listdir(TRACEFS + "/instances"))


def probes():
    try:
        with open(TRACEFS + "/kprobe_events", encoding="ascii") as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []


def ours():
    """Of this test's recordings: others may be made meanwhile, elsewhere."""
    return [name for name in instances() if name.startswith("whylate-t")]


def nothing_left(*outputs):
    assert ours() == [], instances()
    assert not os.path.isdir("/run/whylate") or os.listdir("/run/whylate") == [], os.listdir("/run/whylate")
    for output in outputs:
        assert not os.path.exists(place(output)), os.listdir(place(output))


def record_with_ftrace():
    """Without LTTng, and said; the program's life is in it, in the trace's own clock; what was there is beside it."""
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    status, out, err = run("record", "--session", "whylate-t1", "--output", "o1", "--", "sh", "-c", "echo on; exec sleep 0.2")
    after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    assert status == 0 and out == "on\n", (status, out, err)
    assert "LTTng cannot record here, so ftrace does" in err and "recorded " + place("o1") in err, err
    nothing_left()
    trace = TraceDat(place("o1/trace.dat"))
    assert {"sched:sched_switch", "raw_syscalls:sys_enter", "irq:softirq_entry"} <= set(trace.formats), sorted(trace.formats)
    assert any(option == 4 and b"[mono]" in data for option, data in trace.options), trace.options
    system, = [data for option, data in trace.options if option == 5]  # as trace-cmd has it
    assert system.rstrip(b"\0").decode().split() == [os.uname().sysname, os.uname().nodename, os.uname().release,
                                                     os.uname().machine], system
    events = list(trace.events())
    assert all(before < at < after for _, at, _ in events), (before, after)
    pid = int(re.search(r"child_tid=(\d+)", err).group(1))
    own = [name for name, _, body in events if struct.unpack_from("=i", body, 4)[0] == pid]
    assert {"sched:sched_switch", "sched:sched_process_exec", "sched:sched_process_exit", "raw_syscalls:sys_enter"} <= set(own)
    for cpu in trace.pages:  # in order of time
        assert [struct.unpack_from("=Q", page)[0] for page in cpu] == sorted(struct.unpack_from("=Q", page)[0] for page in cpu)
    dump = statedump("o1", "ftrace")
    assert before < dump["begin"]["monotonic"] <= dump["end"]["monotonic"] < after, dump["begin"]
    assert sorted(set(os.listdir(place("o1"))) - {"kallsyms"}) == ["hostname", "interrupts", "settings", "statedump.json",
                                                                  "trace.dat"], os.listdir(place("o1"))


def statedump(output, tracer):
    with open(place(output) + "/statedump.json", encoding="utf-8") as file:
        dump = json.load(file)
    assert dump["schema"] == "whylate-statedump-1" and dump["tracer"] == tracer and dump["clock"] == "mono", dump["tracer"]
    assert dump["host"]["release"] == os.uname().release and dump["host"]["machine"] == os.uname().machine, dump["host"]
    return dump


def knows_what_was_there():
    """A process with a file, a thread, a connection and an epoll descriptor, as it is known here."""
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname())
    with open(place("opened"), "w", encoding="ascii") as opened:
        status, _, err = run("record", "--tracer", "ftrace", "--session", "whylate-t2", "--output", "o2", "--", "true")
        assert status == 0, err
        dump = statedump("o2", "ftrace")
        me, = [p for p in dump["processes"] if p["pid"] == os.getpid()]
        files = {f["fd"]: f for f in me["files"]}
        assert files[opened.fileno()]["path"] == place("opened"), files
        assert files[opened.fileno()]["flags"] & os.O_ACCMODE == os.O_WRONLY, files
        inode = os.fstat(client.fileno()).st_ino
        assert files[client.fileno()]["path"] == "socket:[%d]" % inode
    assert me["ppid"] == os.getppid() and me["threads"][0]["tid"] == os.getpid(), me
    mine, = [s for s in dump["sockets"] if s["inode"] == inode]
    assert mine == {"inode": inode, "kind": "tcp", "local": "127.0.0.1:%d" % client.getsockname()[1],
                    "peer": "127.0.0.1:%d" % server.getsockname()[1], "state": "established"}, mine
    listening, = [s for s in dump["sockets"] if s["inode"] == os.fstat(server.fileno()).st_ino]
    assert listening["state"] == "listen" and "peer" not in listening, listening
    with open("/proc/partitions", encoding="ascii") as file:
        lines = [line.split() for line in file.read().splitlines()[2:]]
    assert [(d["major"], d["minor"], d["name"]) for d in dump["block_devices"]] == [(int(a), int(b), n) for a, b, _, n in lines]


def others_stay():
    """An instance, and probes, of somebody else; and one whose name looks like ours, of a process that lives."""
    names = ["not-ours", "whylate-%d" % os.getpid(), "whylate-x"]
    for name in names:
        os.mkdir(TRACEFS + "/instances/" + name)
    try:
        status, _, err = run("record", "--tracer", "ftrace", "--session", "whylate-t3", "--output", "o3", "--", "true")
        assert status == 0, err
        status, out, err = run("record", "--cleanup")
        assert status == 0 and not any(name in out for name in names), (out, err)
        assert set(names) <= set(instances()), instances()
        status, _, err = run("record", "--tracer", "ftrace", "--session", "not-ours", "--output", "o4", "--", "true")
        assert status == 125 and "File exists" in err, (status, err)
        assert "not-ours" in instances()
        nothing_left("o4")
    finally:
        for name in names:
            os.rmdir(TRACEFS + "/instances/" + name)


def interrupted():
    """By each signal, while it records and at any moment before: whole, or nothing is left."""
    for i, number in enumerate((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)):
        process = start("record", "--tracer", "ftrace", "--session", "whylate-t5", "--output", "o5")
        for line in iter(process.stderr.readline, b""):
            if b"Ctrl-C ends it" in line:
                break
        process.send_signal(number)
        _, err = process.communicate(timeout=600)
        assert process.returncode == 0 and b"recorded " in err, (number, process.returncode, err)
        nothing_left()
        assert list(TraceDat(place("o5/trace.dat")).events())
        subprocess.run(["rm", "-r", place("o5")], check=True)
        process = start("record", "--tracer", "ftrace", "--session", "whylate-t5", "--output", "o5")
        process.stderr.readline()  # that it is being set up
        time.sleep(i * 0.03)
        process.send_signal(number)
        process.communicate(timeout=600)
        assert process.returncode in (-number, 0), process.returncode
        nothing_left(*["o5"] * (process.returncode != 0))
        subprocess.run(["rm", "-rf", place("o5")], check=True)


def killed():
    """By SIGKILL: the next says so, --cleanup removes it all, and not what a recording that runs has."""
    process = start("record", "--tracer", "ftrace", "--session", "whylate-t6", "--output", "o6", "--", "sleep", "600")
    t.until(lambda: os.path.exists(place("o6/statedump.json")), "it records")
    other = start("record", "--tracer", "ftrace", "--session", "whylate-t7", "--output", "o7")
    t.until(lambda: os.path.exists(place("o7/statedump.json")), "the other records")
    process.kill()
    process.wait()
    assert ours() == ["whylate-t6", "whylate-t7"], ours()
    _, _, err = run("record", "--tracer", "ftrace", "--session", "whylate-t8", "--output", "o8", "--", "true")
    assert "--cleanup" in err, err
    status, out, err = run("record", "--cleanup")
    assert status == 0 and "whylate-t6" in out and place("o6") in out and "t7" not in out + err, (out, err)
    assert ours() == ["whylate-t7"] and not os.path.exists(place("o6")), ours()
    assert [line for line in probes() if "whylate_%d/" % process.pid in line] == []
    status, out, _ = run("record", "--cleanup")
    assert status == 0 and out == "Nothing was left behind.\n", out
    other.send_signal(signal.SIGINT)
    _, err = other.communicate(timeout=600)
    assert other.returncode == 0 and b"recorded" in err, err
    nothing_left()
    # a directory that is somebody else's by now is not removed
    process = start("record", "--tracer", "ftrace", "--session", "whylate-t6", "--output", "o6")
    t.until(lambda: os.path.exists(place("o6/statedump.json")), "it records")
    process.kill()
    process.wait()
    os.rename(place("o6"), place("o6-kept"))
    os.mkdir(place("o6"))
    status, out, _ = run("record", "--cleanup")
    assert status == 0 and os.path.isdir(place("o6")) and os.path.isdir(place("o6-kept")), out
    nothing_left()


def flight_recorder():
    """Each snapshot has what came since the one before; the end what came since the last."""
    process = start("record", "--tracer", "ftrace", "--snapshot", "--session", "whylate-t9", "--output", "o9")
    for line in iter(process.stderr.readline, b""):
        if b"Ctrl-C ends it" in line:
            break
    edges, parts = [time.clock_gettime_ns(time.CLOCK_MONOTONIC)], []
    for _ in range(2):
        status, _, err = run("snapshot")
        edges.append(time.clock_gettime_ns(time.CLOCK_MONOTONIC))
        assert status == 0, err
        parts.append(re.search(r"written to (\S+);", err).group(1))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    nothing_left()
    parts.append(place("o9"))
    assert len(set(parts)) == 3 and all(part.startswith(place("o9")) for part in parts), parts
    last = 0
    for i, part in enumerate(parts):
        times = sorted(at for _, at, _ in TraceDat(part + "/trace.dat").events())
        assert last < times[0] and (i == 2 or times[-1] < edges[i + 1]), (i, last, times[0], times[-1], edges)
        last = times[-1]
        with open(part + "/statedump.json", encoding="utf-8") as file:
            dump = json.load(file)
        assert dump["end"]["monotonic"] <= times[-1] + 10**9, dump["end"]
    status, _, err = run("snapshot")
    assert status == 125 and "record --snapshot" in err or "lttng-tools" in err, (status, err)


def full_disk():
    """What was recorded until then is kept, and said to be all."""
    os.mkdir(place("small"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", place("small")], check=True)
    try:
        status, _, err = run("record", "--tracer", "ftrace", "--session", "whylate-ta", "--output", "small/o", "--no-settings",
                             "--", "sh", "-c", "cat /dev/zero >small/fill; for i in $(seq 300); do /bin/true; done")
        assert status == 125 and "is full" in err, (status, err)
        nothing_left()
        assert list(TraceDat(place("small/o/trace.dat")).events())
    finally:
        subprocess.run(["umount", place("small")], check=True)


PERF = r'''#!/usr/bin/env python3
"""Plays perf record: answers what it is told, writes its file when it is ended by SIGINT; FAIL says how it fails."""
import os, re, signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
if os.environ.get("FAIL"):
    print(os.environ["FAIL"], file=sys.stderr)
    sys.exit(1)
line = " ".join(sys.argv[1:])
with open(os.environ["PLAY"] + "/asked", "w") as file:
    file.write(line)
told, answers = map(int, re.search(r"--control=fd:(\d+),(\d+)", line).groups())
def end(*_):
    with open(re.search(r"-o (\S+)", line).group(1), "w") as file:
        file.write("PERFILE2")
    sys.exit(0)
signal.signal(signal.SIGINT, end)
assert os.read(told, 100) == b"enable\n"
os.write(answers, b"ack\n")
while True:
    signal.pause()
'''


def perf():
    """What it is asked, when it is told to begin and to end; what it says when it fails."""
    bin = without("lttng", "lttng-sessiond", "perf")
    with open(FOLDER.name + "/perf", "w", encoding="ascii") as file:
        file.write(PERF)
    os.chmod(FOLDER.name + "/perf", 0o755)
    path = FOLDER.name + ":" + bin
    status, out, err = run("record", "--callstacks", "--output", "p1", "--", "sh", "-c", "echo on; exit 3", PATH=path,
                           PLAY=FOLDER.name)
    assert status == 3 and out == "on\n" and "so perf does" in err, (status, out, err)
    with open(place("asked"), encoding="ascii") as file:
        asked = file.read()
    assert "-e sched:sched_switch/call-graph=fp/" in asked and "-D -1" in asked and "irq_work" not in asked, asked
    assert open(place("p1/perf.data"), encoding="ascii").read() == "PERFILE2"
    statedump("p1", "perf")
    assert sorted(set(os.listdir(place("p1"))) - {"kallsyms"}) == ["hostname", "interrupts", "perf.data", "settings",
                                                                  "statedump.json"], os.listdir(place("p1"))
    for said, told in (("Error: unknown option `control'", "older than 5.10"), ("E: linux-tools-6.1 is not there", "linux-perf"),
                       ("event syntax error: 'x'", "event syntax error: 'x'")):
        status, _, err = run("record", "--tracer", "perf", "--output", "p2", "--", "touch", place("ran"), PATH=path,
                             PLAY=FOLDER.name, FAIL=said)
        assert status == 125 and told in err, (status, err)
        nothing_left("p2", "ran")
    process = start("record", "--tracer", "perf", "--output", "p3", PATH=path, PLAY=FOLDER.name)
    t.until(lambda: os.path.exists(place("p3/statedump.json")), "it records")
    child, = open("/proc/%d/task/%d/children" % (process.pid, process.pid), encoding="ascii").read().split()
    process.kill()
    process.wait()
    t.until(lambda: not os.path.exists("/proc/" + child), "perf ends with it")
    status, out, _ = run("record", "--cleanup")
    assert status == 0 and place("p3") in out, out
    nothing_left("p3")


tap.case("what tracers do not have is refused", refused)
tap.case("--dry-run shows what is done", shown)
tap.case("no tracer: what is missing is said", not_there)
REAL = (("a program, by ftrace, as LTTng is not there", record_with_ftrace),
        ("what was there when it began", knows_what_was_there),
        ("what is somebody else's stays", others_stay),
        ("interrupted", interrupted),
        ("killed, and cleaned up", killed),
        ("a flight recorder", flight_recorder),
        ("a full disk", full_disk),
        ("perf, played", perf))
for name, case in REAL if TRACEFS else ():
    tap.case(name, case)
sys.exit(tap.done())
