#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""whylate record on a real kernel: boots a virtual machine (tests/vm/image makes it), whose test is tests/vm/guest, hands
on what that prints, and looks at what it recorded from outside. Run by `make check-vm`; not by `make check`, as it takes
minutes and needs qemu and mmdebstrap.

WHYLATE_VM_PAYLOAD is where whylate was installed to (DESTDIR), vm_work and vm_drill are in WHYLATE_BUILD; WHYLATE_VM_CACHE where
images are kept; WHYLATE_VM_KEEP where recordings are to be left; WHYLATE_VM_LIMIT how many seconds the machine may run."""
import glob
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading

import trace_dat
import whylate_test as t

HERE = os.path.dirname(os.path.realpath(__file__))
PAYLOAD = os.environ["WHYLATE_VM_PAYLOAD"]
IMAGES = os.environ["WHYLATE_VM_CACHE"]
LIMIT = int(os.environ.get("WHYLATE_VM_LIMIT", "2400"))  # seconds for the whole machine
PLACE = "usr/local/lib/vm"  # of the test inside
RESULTS_SIZE = 512 << 20  # bytes; the file is sparse
DATA_SIZE = 8 << 20
tap = t.Tap()


def tools():
    for program in ("qemu-system-x86_64", "mkfs.ext4"):
        if not shutil.which(program):
            raise SystemExit(program + " is missing: apt-get install qemu-system-x86 mmdebstrap uidmap e2fsprogs")
    if t.preload():
        raise SystemExit("a build with sanitizers does not run in the machine: it has no libasan")


def image():
    # a session of its own, so that all of it can be told to end and to clean up
    with subprocess.Popen([HERE + "/image", IMAGES], stdout=subprocess.PIPE, start_new_session=True) as maker:
        try:
            out, _ = maker.communicate()
        except BaseException:
            os.killpg(maker.pid, signal.SIGTERM)
            maker.wait()
            raise
    if maker.returncode != 0:
        raise SystemExit("there is no image")
    return out.decode().rstrip("\n")


def whylate_inside():
    for place, _, files in os.walk(PAYLOAD):
        if "whylate" in files and place.endswith("/bin"):
            return place[len(PAYLOAD.rstrip("/")):] + "/whylate"
    raise SystemExit("no bin/whylate below " + PAYLOAD)


def by_root(member):
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    return member


def make_payload(path, scratch):
    """The tar file that vm-init unpacks over the root file system."""
    setting = scratch + "/setting.json"
    with open(setting, "w", encoding="ascii") as file:
        json.dump({"whylate": whylate_inside()}, file)
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        tar.add(PAYLOAD, arcname=".", filter=by_root)
        for name in (HERE + "/guest", t.SOURCE + "/tests/whylate_test.py", t.BUILD + "/vm_work", t.BUILD + "/vm_drill", setting):
            tar.add(name, arcname=PLACE + "/" + os.path.basename(name), filter=by_root)


def make_data(path, scratch):
    """The disk that is read from: an ext4 with one file."""
    os.mkdir(scratch + "/data")
    with open(scratch + "/data/data.bin", "wb") as file:
        file.write(os.urandom(DATA_SIZE))
    subprocess.run(["mkfs.ext4", "-q", "-d", scratch + "/data", path, "%dk" % (DATA_SIZE * 3 // 1024)],
                   stdout=subprocess.DEVNULL, check=True)


def drive(path, writable=False, slow=False):
    # snapshot=on: what is written goes to an unnamed file of qemu's
    return ["-drive", "if=virtio,format=raw,file=%s%s%s" % (
        path, "" if writable else ",snapshot=on", ",throttling.iops-total=50" if slow else "")]


def command(directory, scratch):
    # thread=single: with one thread a processor the kernel hung once, while LTTng patched its tracepoints in and the host
    # was busy. A machine that hangs panics, and qemu ends
    return ["qemu-system-x86_64", "-accel", "tcg,thread=single", "-machine", "q35", "-cpu", "max", "-smp", "2", "-m", "2G",
            "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-nic", "none",
            "-kernel", directory + "/vmlinuz", "-initrd", directory + "/initrd.img",
            "-append", "root=/dev/vda rw console=ttyS0 init=/usr/local/sbin/vm-init panic=-1 quiet "
            "softlockup_panic=1 watchdog_thresh=60",
            *drive(directory + "/root.ext4"), *drive(scratch + "/payload.tar"),
            *drive(scratch + "/results.tar", writable=True), *drive(scratch + "/data.ext4", slow=True),
            "-serial", "file:" + scratch + "/console", "-serial", "stdio"]


def boot(directory, scratch):
    """Runs the machine, hands on its TAP. True if it said all it planned to."""
    with subprocess.Popen(command(directory, scratch), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          env={**os.environ, "TMPDIR": scratch}) as machine:
        alarm = threading.Timer(LIMIT, machine.kill)
        alarm.start()
        planned = None
        try:
            for line in machine.stdout:
                text = line.decode(errors="replace").rstrip("\r\n")
                case = re.match(r"(not )?ok \d+ - (.*)", text)
                plan = re.match(r"1\.\.(\d+)$", text)
                if case:
                    tap.ok(not case.group(1), case.group(2))
                elif plan:
                    planned = int(plan.group(1))
                else:
                    print("# " + text.removeprefix("# "), flush=True)
        finally:
            alarm.cancel()
            if machine.poll() is None:
                machine.terminate()
    return planned == tap.count


def tail(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return "".join(file.readlines()[-40:])


def oracle_agrees(results, trace):
    """The second implementation of the states, on traces that neither has seen."""
    mine, other = results + "/mine.json", results + "/oracle.json"
    with open(mine, "wb") as file:
        file.write(t.output("delay", "--thread", "all", "--limit", "0", "--format", "json", "--cache", "off", trace))
    with open(other, "wb") as file:
        subprocess.run([sys.executable, t.SOURCE + "/tests/oracle/oracle.py", trace], stdout=file, check=True)
    done = subprocess.run([sys.executable, t.SOURCE + "/tests/oracle/compare.py", mine, other], stdout=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.stdout.decode()


def switches_of_lttng(trace):
    """Time (in the trace's clock), who went and who came, of each switch."""
    done = subprocess.run(["babeltrace2", "--clock-cycles", trace], stdout=subprocess.PIPE, check=True)
    found = re.findall(rb"^\[(\d+)\].* sched_switch: .*prev_tid = (\d+).* next_tid = (\d+)", done.stdout, re.M)
    return [(int(at), int(left), int(came)) for at, left, came in found]


def switches_of_ftrace(path):
    trace = trace_dat.TraceDat(path)
    form = trace.formats["sched:sched_switch"]
    at = {name: int(re.search(r"pid_t %s;\s+offset:(\d+);" % name, form).group(1)) for name in ("prev_pid", "next_pid")}
    return sorted((when, struct.unpack_from("=i", body, at["prev_pid"])[0], struct.unpack_from("=i", body, at["next_pid"])[0])
                  for name, when, body in trace.events() if name == "sched:sched_switch")


def same_switches(results):
    """The program's switches, from its first to its last line: the same ones, in the same order, in LTTng and ftrace;
    at the same time, as far as one probe runs after the other."""
    lttng, = glob.glob(results + "/same/same/lttng")
    with open(results + "/same/same.notes", encoding="ascii") as file:
        noted = [line.split("\t") for line in file]
    begin, end, tid = int(noted[0][2]), max(int(line[3]) for line in noted), int(noted[0][1])
    mine = [[s for s in all if begin <= s[0] <= end and tid in s[1:]]
            for all in (switches_of_lttng(lttng), switches_of_ftrace(results + "/same/same/ftrace/trace.dat"))]
    assert len(mine[0]) > 20, mine[0]
    assert [s[1:] for s in mine[0]] == [s[1:] for s in mine[1]], mine
    apart = sorted(abs(a[0] - b[0]) for a, b in zip(*mine))
    print("# switches: %d, apart by %.1f us in the median, %.1f us at most" % (
        len(apart), apart[len(apart) // 2] / 1e3, apart[-1] / 1e3))
    assert apart[len(apart) // 2] < 200000, apart


def same_answers(results):
    """The program's waits: as many, in the same calls, ended by the same, for the same reasons, by whylate's own readers."""
    with open(results + "/same/same.notes", encoding="ascii") as file:
        tid = int(file.readline().split("\t")[1])
    answers = {}
    for tracer in ("lttng", "ftrace", "perf"):
        report = t.report("delay", "--thread", str(tid), "--limit", "0", "--cache", "off", results + "/same/same/" + tracer)
        thread, = [thread for thread in report["threads"] if thread["tid"] == tid]
        answers[tracer] = [(w["leaf"], w["cause"]["kind"], w["woken_by"]["kind"], w["woken_by"].get("tid"),
                            w["woken_by"]["context"]) for w in thread["causality"] if w["tid"] == tid]
    assert len(answers["lttng"]) > 5 and answers["lttng"] == answers["ftrace"] == answers["perf"], answers


def file_names(results):
    """What the program opened, which ftrace has by a probe alone."""
    trace = trace_dat.TraceDat(results + "/same/same/ftrace/trace.dat")
    assert any(name.endswith(":file_name") and b"/run/data/data.bin\0" in body for name, _, body in trace.events())


def ended(number, _):
    raise SystemExit("ended by signal %d" % number)


def main():
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, ended)
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    tools()
    with tempfile.TemporaryDirectory(dir=t.CACHE, prefix="vm-") as scratch:
        directory = image()
        make_payload(scratch + "/payload.tar", scratch)
        make_data(scratch + "/data.ext4", scratch)
        with open(scratch + "/results.tar", "wb") as file:
            file.truncate(RESULTS_SIZE)
        whole = boot(directory, scratch)
        tap.ok(whole, "the machine ran to its end", tail(scratch + "/console"))
        results = scratch + "/results"
        with tarfile.open(scratch + "/results.tar") as tar:
            tar.extractall(results)
        kept = os.environ.get("WHYLATE_VM_KEEP")
        if kept:
            shutil.copytree(results, kept, dirs_exist_ok=True)
            shutil.copy(scratch + "/console", kept)
        tap.case("LTTng and ftrace: the same switches", same_switches, results)
        tap.case("LTTng, ftrace and perf: the same waits, wakers and causes", same_answers, results)
        tap.case("ftrace: names of files", file_names, results)
        for name in ("disk", "snapshot", "flight", "trigger"):
            for trace in sorted(glob.glob(results + "/" + name + "/*/**/kernel", recursive=True)) or [name]:
                tap.case(name + ": the same as the oracle", oracle_agrees, results, trace)
    return tap.done()


sys.exit(main())
