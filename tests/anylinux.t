#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of ftrace and perf: traces/any-linux has one workload that LTTng, trace-cmd and perf recorded at the same time.
What is expected of the latter two is what whylate says of LTTng's, and what a walk over the ring buffer's pages and
perf's records counts that shares nothing with whylate's. Damage: no signal, and all but what is damaged is used."""
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import whylate_test as t

tap = t.Tap()
TRACE = t.trace("any-linux")
LTTNG, FTRACE, PERF, CTF = [os.path.join(TRACE, name) for name in
                            ("lttng", "ftrace/trace.dat", "perf/perf.data", "perf-ctf")]
STAGES = ("stage-a", "stage-b", "stage-c")
TEMPORARY = tempfile.mkdtemp(prefix="whylate-anylinux-")
# Three tracers' probes of one tracepoint run one after the other, in an emulated machine: up to 0.31 ms apart.
APART = 400_000
UNDATED = "ftrace (trace-cmd), times count from the machine's start"  # and the file says no more


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(name, data):
    path = os.path.join(TEMPORARY, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return path


# --- the two forms, by a walk of their own ----------------------------------------------------------------------------

def options(data):
    """(id, value) of version 7's options, and where their first section's offset stands."""
    at = data.index(b"\0", 10) + 1 + 1 + 1 + 4
    at = data.index(b"\0", data.index(b"\0", at) + 1) + 1
    place, found = at, []
    section, = struct.unpack_from("<Q", data, at)
    while section:
        size, = struct.unpack_from("<Q", data, section + 8)
        at, end, section = section + 16, section + 16 + size, 0
        while at < end:
            number, size = struct.unpack_from("<HI", data, at)
            value = data[at + 6:at + 6 + size]
            at += 6 + size
            if number == 0:
                section, = struct.unpack("<Q", value)
                break
            found.append((number, value))
    return place, found


def cpus(data):
    """(where it stands in the option, CPU, offset, size) of the buffer's CPUs."""
    value = dict(options(data)[1])[3]
    at = value.index(b"\0", value.index(b"\0", 8) + 1) + 1 + 8
    return [struct.unpack_from("<IQQ", value, k) for k in range(at, len(value), 20)]


def page_records(data, at):
    """How many records a page of 4096 bytes holds."""
    used = struct.unpack_from("<Q", data, at + 8)[0] & 0x7ffffff
    end, at, count = at + 16 + used, at + 16, 0
    while at + 4 <= end:
        word, = struct.unpack_from("<I", data, at)
        kind, delta = word & 31, word >> 5
        if kind in (30, 31):
            at += 8
        elif kind == 29:
            if not delta:
                break
            at += 4 + struct.unpack_from("<I", data, at + 4)[0]
        else:
            at += 4 + (((struct.unpack_from("<I", data, at + 4)[0]) + 3) & ~3 if kind == 0 else 4 * kind)
            count += 1
    return count


def ftrace_records(data):
    return sum(page_records(data, at) for _, offset, size in cpus(data) for at in range(offset, offset + size, 4096))


def perf_records(data):
    """(offset, type, size) of each."""
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        yield at, kind, size
        at += size


def perf_threads(data):
    """TIDs that perf found in /proc: names without a time."""
    found = set()
    for at, kind, size in perf_records(data):
        if kind == 3 and struct.unpack_from("<Q", data, at + size - 24)[0] == 0:
            found.add(struct.unpack_from("<I", data, at + 12)[0])
    return found


def perf_offset(data):
    """What the file says of the time of day less its clock: feature 29, clock data."""
    flags = int.from_bytes(data[72:104], "little")
    at, size = struct.unpack_from("<QQ", data, 40)
    at += size + 16 * bin(flags & ((1 << 29) - 1)).count("1")
    at, = struct.unpack_from("<Q", data, at)
    day, clock = struct.unpack_from("<QQ", data, at + 8)
    return day - clock


# --- the same meaning -------------------------------------------------------------------------------------------------

def waits(path, offset=0, reader=()):
    """{stage: its waits as (begin, end, what it is, who ended it and where, why)}, times of day."""
    found = t.report("delay", "--cache", "off", "--thread", "all", "--limit", "0", *reader, path)
    return found, {thread["name"]: [(b["begin"] + offset, b["end"] + offset, b["leaf"], b["woken_by"]["kind"],
                                     b["woken_by"].get("name"), b["woken_by"]["context"], b["cause"]["kind"])
                                    for b in thread["causality"]]
                   for thread in found["threads"] if thread["name"] in STAGES}


BASE, OF_LTTNG = waits(LTTNG)
BEGIN, END = BASE["window"]["begin"] + 5_000_000, BASE["window"]["end"] - 5_000_000


def inside(list_of):
    return [w for w in list_of if BEGIN <= w[0] and w[1] <= END]


def compare(path, offset, allowed, reader=()):
    """The same waits; `allowed` says which differ in their cause's kind, and why."""
    found, others = waits(path, offset, reader)
    for stage in STAGES:
        mine, theirs = inside(OF_LTTNG[stage]), inside(others[stage])
        assert len(mine) == len(theirs) > 40, (stage, len(mine), len(theirs))
        for a, b in zip(mine, theirs):
            assert abs(a[0] - b[0]) < APART and abs(a[1] - b[1]) < APART, (stage, a, b)
            assert a[2:6] == b[2:6], (stage, a, b)
            assert a[6] == b[6] or (a[6], b[6]) in allowed, (stage, a, b)
    return found


def same_as_lttng_ftrace():
    # The threads of stage-b were made by clone3, whose flags are in memory: that they are one process is not in the
    # trace, so two of them on one futex are not known to share it.
    found = compare(FTRACE, perf_offset(read(PERF)), {("lock-owner", "process")})
    host = found["hosts"][0]
    assert (host["tracer"], host["kernel"], host["hostname"], host["cpus"]) == \
        (UNDATED, "6.1.0-47-cloud-amd64", "tracebox", 2), host
    assert found["coverage"]["events"] == ftrace_records(read(FTRACE))
    assert not found["coverage"]["gaps"]


def same_as_lttng_perf():
    found = compare(PERF, 0, set())
    assert found["hosts"][0]["tracer"] == "perf 6.1.192", found["hosts"]
    samples = sum(kind == 9 for _, kind, _ in perf_records(read(PERF)))
    assert found["coverage"]["events"] == samples + len(perf_threads(read(PERF))), found["coverage"]["events"]


def same_as_lttng_ctf():
    for reader in ("direct", "babeltrace"):
        found = compare(CTF, perf_offset(read(PERF)), set(), ("--reader", reader))
        assert found["hosts"][0]["hostname"] == "tracebox" and found["hosts"][0]["tracer"].startswith("perf")


tap.case("trace.dat: the same waits, wakers and causes as LTTng's", same_as_lttng_ftrace)
tap.case("perf.data: the same", same_as_lttng_perf)
tap.case("perf's data converted to CTF: the same, through both readers", same_as_lttng_ctf)


# --- what is a trace --------------------------------------------------------------------------------------------------

def tracer(*arguments):
    return [host["tracer"] for host in t.report("overview", "--cache", "off", *arguments)["hosts"]]


def found_in_directories():
    assert tracer(TRACE) == ["lttng-modules 2.13.9"]  # the fullest one counts
    assert tracer(os.path.dirname(FTRACE)) == [UNDATED]
    assert tracer(os.path.dirname(PERF)) == ["perf 6.1.192"]
    both = os.path.join(TEMPORARY, "both")
    os.makedirs(both)
    shutil.copy(FTRACE, both)
    shutil.copy(PERF, both)
    assert tracer(both) == [UNDATED]
    assert b"from 25.07 s after its start" in t.output("overview", "--cache", "off", FTRACE)
    other = write("any-name", read(FTRACE))
    assert tracer(other) == [UNDATED]
    done = t.run("overview", LTTNG, FTRACE)
    assert done.returncode == 3 and b"of two tracers" in done.stderr, done.stderr
    done = t.run("overview", FTRACE, PERF)
    assert done.returncode == 3 and b"of two tracers" in done.stderr, done.stderr
    done = t.run("overview", "--reader", "babeltrace", FTRACE)
    assert done.returncode == 3 and b"Babeltrace cannot read" in done.stderr, done.stderr


def kept_and_asked_again():
    cache = os.path.join(TEMPORARY, "cache")
    first = t.output("overview", "--cache", cache, FTRACE)
    assert os.listdir(cache) and t.output("overview", "--cache", cache, FTRACE) == first
    assert t.output("overview", "--cache", "off", "--jobs", "1", FTRACE) == first


def named_events():
    for target in ("sched_process_exec filename=/in/bin/pipechain", "sched:sched_process_exec filename=*/pipechain",
                   "sched_wakeup_new tid=263", "syscall_entry_clock_nanosleep which_clock=0 nth=3"):
        mine = t.report("delay", "--cache", "off", "--target", target, FTRACE)["target"]
        theirs = t.report("delay", "--cache", "off", "--target", target, PERF)["target"]
        assert mine["tid"] == theirs["tid"] and mine["event"] == theirs["event"], (target, mine, theirs)
        if ":" in target or "which_clock" in target:
            continue
        lttng = t.report("delay", "--cache", "off", "--target", target, LTTNG)["target"]
        assert lttng["tid"] == mine["tid"], (target, lttng, mine)
    done = t.run("delay", "--cache", "off", "--target", "sched_wakeup_new nothing=1", FTRACE)
    assert done.returncode == 2 and b"prio" in done.stderr, done.stderr


def many_traces():
    fleet = os.path.join(TEMPORARY, "fleet")
    for name, path in (("one", FTRACE), ("two", PERF)):
        os.makedirs(os.path.join(fleet, name))
        shutil.copy(path, os.path.join(fleet, name))
    lines = [json.loads(line) for line in t.output("batch", fleet).decode().splitlines() if line]
    assert sorted(h["tracer"] for line in lines for h in line.get("hosts", [])) == [UNDATED, "perf 6.1.192"], lines


tap.case("files by their first bytes, directories by the fullest tracer", found_in_directories)
tap.case("what is kept of one answers as the first time", kept_and_asked_again)
tap.case("events are named as LTTng's, or as the kernel has them", named_events)
tap.case("batch finds them", many_traces)


# --- forms ------------------------------------------------------------------------------------------------------------

def packed(data):
    """The same trace.dat, its pages in zlib's chunks of ten."""
    place, found = options(data)
    at = data.index(b"\0", 10) + 1 + 1 + 1 + 4
    out = bytearray(data[:at]) + b"zlib\0001.0\0"
    place = len(out)
    out += bytes(8)
    new = []
    for number, value in found:
        if number in (16, 17, 18):
            section, = struct.unpack("<Q", value)
            size, = struct.unpack_from("<Q", data, section + 8)
            body = data[section + 16:section + 16 + size]
            small = zlib.compress(body)
            new.append((number, struct.pack("<Q", len(out))))
            out += struct.pack("<HHIQII", number, 1, 0, len(small) + 8, len(small), len(body)) + small
        elif number != 3:
            new.append((number, value))
    begin, table = len(out), b""
    out += struct.pack("<HHIQ", 3, 1, 0, 0)
    for cpu, offset, size in cpus(data):
        pages = data[offset:offset + size]
        chunks = [pages[k:k + 40960] for k in range(0, len(pages), 40960)]
        body = b"".join(struct.pack("<II", len(zlib.compress(c)), len(c)) + zlib.compress(c) for c in chunks)
        table += struct.pack("<IQQ", cpu, len(out), len(body))
        out += struct.pack("<I", len(chunks)) + body
    new += [(3, struct.pack("<Q", begin) + b"\0mono\0" + struct.pack("<II", 4096, 2) + table), (0, bytes(8))]
    section = b"".join(struct.pack("<HI", k, len(v)) + v for k, v in new)
    struct.pack_into("<Q", out, place, len(out))
    return bytes(out) + struct.pack("<HHIQ", 0, 0, 0, len(section)) + section


def version_6(data):
    """The same again as version 6, one thing after the other."""
    found = dict(options(data)[1])

    def body(number):
        section, = struct.unpack("<Q", found[number])
        size, = struct.unpack_from("<Q", data, section + 8)
        return data[section + 16:section + 16 + size]

    out = bytearray(data[:10] + b"6\0\0\x08" + struct.pack("<I", 4096) + body(16) + body(17) + body(18))
    out += struct.pack("<IIQI", 0, 0, 0, 2) + b"options  \0"
    for number in (4, 5, 9):
        out += struct.pack("<HI", number, len(found[number])) + found[number]
    out += struct.pack("<H", 0) + b"flyrecord\0"
    at = (len(out) + 32 + 4095) // 4096 * 4096
    pages = b""
    for _, offset, size in cpus(data):
        out += struct.pack("<QQ", at + len(pages), size)
        pages += data[offset:offset + size]
    return bytes(out) + bytes(at - len(out)) + pages


def piped(data):
    """perf.data as through a pipe: what the header had comes as records."""
    entry, at, size = struct.unpack_from("<QQQ", data, 16)
    out = data[:8] + struct.pack("<Q", 16)
    for k in range(at, at + size, entry):
        ids, length = struct.unpack_from("<QQ", data, k + entry - 16)
        body = data[k:k + entry - 16] + data[ids:ids + length]
        out += struct.pack("<IHH", 64, 0, 8 + len(body)) + body
    flags = int.from_bytes(data[72:104], "little")
    begin, size = struct.unpack_from("<QQ", data, 40)
    at = begin + size
    for feature in range(256):
        if flags >> feature & 1:
            offset, length = struct.unpack_from("<QQ", data, at)
            at += 16
            body = data[offset:offset + length]
            body += bytes(-len(body) % 8)
            if feature == 1:
                out += struct.pack("<IHHI", 66, 0, 12, length)[:12] + bytes(4) + body if False else \
                    struct.pack("<IHHII", 66, 0, 16, len(body), 0) + body
            elif len(body) < 60000:
                out += struct.pack("<IHHQ", 80, 0, 16 + len(body), feature) + body
    return out + data[begin:begin + size]


def squeezed(data):
    """perf.data as perf record -z writes it: its samples in packed records of one stream."""
    begin, size = struct.unpack_from("<QQ", data, 40)
    done = subprocess.run(["zstd", "-q", "-c"], input=data[begin:begin + size], stdout=subprocess.PIPE, check=True)
    body, small = b"", done.stdout
    for k in range(0, len(small), 40000):
        part = small[k:k + 40000]
        body += struct.pack("<IHHQ", 83, 0, (16 + len(part) + 7) // 8 * 8, len(part)) + part + bytes(-len(part) % 8)
    out = bytearray(data[:begin]) + body
    struct.pack_into("<Q", out, 48, len(body))
    flags = int.from_bytes(data[72:104], "little")
    shift = len(body) - size
    tail = bytearray(data[begin + size:])
    for k in range(bin(flags).count("1")):
        offset, length = struct.unpack_from("<QQ", tail, 16 * k)
        struct.pack_into("<QQ", tail, 16 * k, offset + shift, length)
    return bytes(out + tail)


def threads_of(path):
    return t.report("delay", "--cache", "off", "--thread", "all", "--limit", "0", path)["threads"]


def other_forms():
    mine = threads_of(FTRACE)
    assert threads_of(write("packed.dat", packed(read(FTRACE)))) == mine
    assert threads_of(write("six.dat", version_6(read(FTRACE)))) == mine
    theirs = threads_of(PERF)
    assert threads_of(write("pipe.data", piped(read(PERF)))) == theirs
    if shutil.which("zstd"):
        assert threads_of(write("z.data", squeezed(read(PERF)))) == theirs


def clocks():
    data = read(FTRACE)
    done = t.run("overview", write("counter.dat", data.replace(b"\0mono\0", b"\0cntr\0").replace(
        b"[mono]", b"mono, ").replace(b" counter ", b"[counter]").replace(b"\0cntr\0", b"\0\0\0\0\0\0")))
    assert done.returncode == 3 and b"tells no durations" in done.stderr, done.stderr


def said_of_proc():
    """statedump.json: descriptors get names, threads their process, times their day."""
    data = read(FTRACE)
    dump = {"schema": "whylate-statedump-1", "begin": {"monotonic": 20_000_000_000, "realtime": 1_000_000_020_000_000_000},
            "host": {"name": "elsewhere", "boot_id": "b"},
            "processes": [{"pid": 203, "ppid": 1, "namespaces": {"pid": 4026531836},
                           "threads": [{"tid": 203, "name": "lttng-sessiond", "state": "S"}, {"tid": 212, "name": "Client manageme", "state": "S"},
                                       {"tid": 99999, "name": "never-ran", "state": "S"}],
                           "files": [{"fd": 73, "path": "socket:[12355]"}, {"fd": 21, "path": "/proc/lttng"}]}],
            "interrupts": [{"irq": 25, "action": "virtio2-req.0"}], "block_devices": [{"major": 254, "minor": 0, "name": "vda"}], "future": [1]}
    path = write("proc/trace.dat", data)
    without = t.report("delay", "--cache", "off", "--thread", "all", "--limit", "0", path)
    write("proc/statedump.json", json.dumps(dump).encode())
    found = t.report("delay", "--cache", "off", "--thread", "all", "--limit", "0", path)
    of = {thread["tid"]: thread for thread in found["threads"]}
    assert (of[212]["pid"], of[99999]["pid"], of[99999]["name"]) == (203, 203, "never-ran"), of[212]
    # as `proc-after.txt` of the recording has it: descriptor 73 of process 203 was this socket
    kinds = [{b["resource"]["kind"] for b in of_tid["causality"] if b["leaf"].startswith("blocked/syscall:recvmsg")}
             for of_tid in ([x for x in without["threads"] if x["tid"] == 212][0], of[212])]
    assert kinds == [{"other"}, {"socket"}], kinds
    assert found["hosts"][0]["begin"] // 10**9 == 10**9 + 25, found["hosts"][0]
    assert found["coverage"]["undescribed_threads"] < without["coverage"]["undescribed_threads"]
    write("proc/statedump.json", b"{ no")
    done = t.run("overview", "--cache", "off", path)
    assert done.returncode == 4 and b"statedump.json" in t.run(
        "overview", "--cache", "off", "--format", "json", path).stdout, done


def attribute(kind, config, chains=False):
    """Of a file through a pipe: its number is that of its kind of event."""
    return struct.pack("<IIQQQQQ", kind, 128, config, 1, 1 | 2 | 4 | 128 | 1024 | 1 << 16 | (32 if chains else 0), 0,
                       1 << 18) + bytes(80) + struct.pack("<Q", kind << 16 | config)


def mapped(pid, path, begin, size, offset, time, build_id=b""):
    """PERF_RECORD_MMAP2, and what each record has at its end: PID, TID, time, CPU, number."""
    name = path.encode() + bytes(8 - len(path) % 8)
    about = struct.pack("<B3x20s", len(build_id), build_id) if build_id else bytes(24)
    body = struct.pack("<IIQQQ", pid, pid, begin, size, offset) + about + struct.pack("<II", 5, 2) + name
    return record(10, (1 << 14 if build_id else 0) | 2, body, pid, time)


def record(kind, misc, body, pid, time):
    body += struct.pack("<IIQIIQ", pid, pid, time, 0, 0, 1 << 16) if time is not None else b""
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def sample(kind, config, pid, time, raw=b"", chain=None):
    ip = chain[0] if chain else 0
    body = struct.pack("<QQIIQII", kind << 16 | config, ip, pid, pid, time, 0, 0)
    if chain is not None:
        body += struct.pack("<QQ", len(chain) + 1, 2 ** 64 - 512) + struct.pack("<%dQ" % len(chain), *chain)
    raw += bytes(-(4 + len(raw)) % 8)
    return record(9, 2, body + struct.pack("<I", len(raw)) + raw, pid, None)


def tracepoint(number, name, fields):
    """(its format, what makes a record of its values)"""
    text, at = "name: %s\nID: %d\nformat:\n" % (name, number), 0
    for kind, field, size in (("unsigned short", "common_type", 2), ("unsigned char", "common_flags", 1),
                              ("unsigned char", "common_preempt_count", 1), ("int", "common_pid", 4), *fields):
        text += "\tfield:%s %s;\toffset:%d;\tsize:%d;\tsigned:%d;\n" % (kind, field, at, size, kind in ("int", "long"))
        at += size
    return text.encode(), "<HBBi" + "".join({4: "i", 8: "q", 16: "16s"}[size] for _, _, size in fields)


def programs_made():
    """A process that samples see in its program, in a library, then in what it executed, and there in another library
    at the same place: what perf tells of an exec's mappings comes before the exec itself."""
    comm = ("char", "%s_comm[16]", 16)
    switch = tracepoint(1, "sched_switch", [(comm[0], comm[1] % "prev", 16), ("int", "prev_pid", 4), ("int", "prev_prio", 4),
                                            ("long", "prev_state", 8), (comm[0], comm[1] % "next", 16),
                                            ("int", "next_pid", 4), ("int", "next_prio", 4)])
    executes = tracepoint(2, "sched_process_exec", [("char", "filename[16]", 16), ("int", "pid", 4), ("int", "old_pid", 4)])
    formats = struct.pack("<I", 1) + b"sched\0" + struct.pack("<I", 2) + b"".join(
        struct.pack("<Q", len(text)) + text for text, _ in (switch, executes))
    head = b"field: local_t commit; offset:8; size:8; signed:1;"
    tracing = b"\x17\x08\x44tracing0.6\0\0\x08" + struct.pack("<I", 4096) + b"header_page\0" + \
        struct.pack("<Q", len(head)) + head + b"header_event\0" + struct.pack("<QI", 0, 0) + formats + struct.pack("<IIQ", 0, 0, 0)
    tracing += bytes(-len(tracing) % 8)
    out = b"PERFILE2" + struct.pack("<Q", 16)
    for body in (attribute(2, 1), attribute(2, 2), attribute(1, 0, True)):
        out += struct.pack("<IHH", 64, 0, 8 + len(body)) + body
    out += struct.pack("<IHHII", 66, 0, 16, len(tracing), 0) + tracing
    out += record(3, 0, struct.pack("<II8s", 5, 5, b"worker"), 0, 0)
    program, library = 0x555500001000, 0x7f0000026000
    out += mapped(5, "/opt/one", program, 0x8000, 0x1000, 0) + mapped(5, "/opt/libold.so", library, 0x9000, 0x26000, 0)

    def switched(before, after, name_before, name_after, time, state=0):
        return sample(2, 1, before, time, struct.pack(switch[1], 1, 0, 0, before, name_before, before, 120, state,
                                                      name_after, after, 120))

    def ran(address, first, count):
        return b"".join(sample(1, 0, 5, first + k * 1_000_000, b"", [address]) for k in range(count))

    out += switched(0, 5, b"swapper/0", b"worker", 1_000_000)
    out += ran(program + 16, 2_000_000, 10) + ran(library + 16, 12_000_000, 30)
    out += record(3, 1 << 13, struct.pack("<II8s", 5, 5, b"two"), 5, 41_000_000 + 1)
    out += mapped(5, "/opt/two", program, 0x8000, 0x1000, 41_000_000 + 2) + \
        mapped(5, "/opt/libnew.so", library, 0x9000, 0x26000, 41_000_000 + 3, b"0123456789abcdefghij")
    out += sample(2, 2, 5, 41_000_000 + 4, struct.pack(executes[1], 2, 0, 0, 5, b"/opt/two", 5, 5))
    out += ran(library + 16, 42_000_000, 40) + ran(program + 16, 82_000_000, 20)
    return out + switched(5, 0, b"two", b"swapper/0", 101_000_000, 1)


def programs_by_mappings():
    path = write("maps/perf.data", programs_made())
    text = t.output("functions", "--cache", "off", "--thread", "all", path).decode()
    found = dict(reversed(pair) for pair in re.findall(r"^ +([0-9.]+) % +[0-9.]+ ms  (\S+)$", text[text.index("What ran"):], re.M))
    assert found == {"libnew.so": "40.0", "libold.so": "30.0", "two": "20.0", "one": "10.0"}, found


tap.case("perf: samples by what was mapped where, before and after an exec", programs_by_mappings)
tap.case("version 6, packed pages, perf's pipe and packed records: the same threads", other_forms)
tap.case("a clock that is no time is refused", clocks)
tap.case("what /proc said beside it is taken", said_of_proc)


# --- damage -----------------------------------------------------------------------------------------------------------

def events_of(path):
    done = t.run("overview", "--cache", "off", "--format", "json", path)
    assert done.returncode in (0, 4), (path, done.returncode, done.stderr)
    return json.loads(done.stdout)["coverage"], done.returncode


def a_page_lost():
    """Only that page is lost; where it was is a gap."""
    data = bytearray(read(FTRACE))
    _, offset, _ = cpus(data)[0]
    whole, page = ftrace_records(data), offset + 5 * 4096
    gone = page_records(data, page)
    first, = struct.unpack_from("<Q", data, page)
    after, = struct.unpack_from("<Q", data, page + 4096)
    data[page:page + 4096] = b"\xff" * 4096
    coverage, status = events_of(write("page.dat", data))
    assert status == 4 and coverage["events"] == whole - gone, (coverage["events"], whole, gone)
    assert len(coverage["gaps"]) == 1 and coverage["gaps"][0]["begin"] <= first and \
        after <= coverage["gaps"][0]["end"] <= after + 1_000_000, coverage["gaps"]


def pages_overwritten():
    """The kernel's own mark: so many records were overwritten before this page."""
    data = bytearray(read(FTRACE))
    _, offset, _ = cpus(data)[1]
    page = offset + 3 * 4096
    commit, = struct.unpack_from("<Q", data, page + 8)
    struct.pack_into("<Q", data, page + 8, commit | 0x80000000)
    coverage, status = events_of(write("missed.dat", data))
    assert status == 0 and coverage["events"] == ftrace_records(read(FTRACE)) and len(coverage["gaps"]) == 1, coverage


def records_lost():
    """perf: one record is none; the others are read. A LOST record is a gap of so many events."""
    data = bytearray(read(PERF))
    whole = events_of(PERF)[0]["events"]
    found = [r for r in perf_records(data) if r[1] == 9]
    at = found[len(found) // 2][0]
    struct.pack_into("<IHH", data, at, 0, 0, 3)
    coverage, status = events_of(write("record.data", data))
    assert status == 4 and coverage["events"] == whole - 1, (coverage["events"], whole)
    data = bytearray(read(PERF))
    at, _, size = next(r for r in found[len(found) // 2:] if r[2] >= 56)
    # of a sample: identifier, ip, TID, time, CPU; of LOST: whose, how many, then TID, time, CPU, identifier
    data[at:at + 56] = struct.pack("<IHHQQ", 2, 0, 56, 0, 123) + data[at + 24:at + 48] + bytes(8)
    if size > 56:
        data[at + 56:at + size] = struct.pack("<IHH", 68, 0, size - 56) + bytes(size - 64)
    coverage, status = events_of(write("lost.data", data))
    assert coverage["discarded_events"] == 123 and len(coverage["gaps"]) == 1, (status, coverage)


def cut_and_flipped():
    """No signal, no end without a word; the seed makes it the same each time."""
    for path, seed in ((FTRACE, 1), (PERF, 2)):
        data, chance, states = read(path), random.Random(seed), set()
        for number in range(12):
            copy = bytearray(data)
            if number % 3 == 0:
                copy = copy[:chance.randrange(len(copy))]
            elif number % 3 == 1:
                for _ in range(3):
                    copy[chance.randrange(12000)] = chance.randrange(256)
            else:
                for _ in range(40):
                    copy[chance.randrange(len(copy))] ^= 1 << chance.randrange(8)
            done = t.run("overview", "--cache", "off", write("damaged", copy), program=os.path.join(t.SANITIZED, "whylate"))
            assert done.returncode in (0, 3, 4), (path, number, done.returncode, done.stderr[-400:])
            assert done.returncode != 3 or b"whylate: " in done.stderr
            states.add(done.returncode)
        assert 4 in states, states
    for name in ("empty.dat", "empty.data"):
        done = t.run("overview", write(name, b""))
        assert done.returncode == 3, done.stderr


tap.case("a page that is damaged is a gap, and all others are read", a_page_lost)
tap.case("what the kernel overwrote is a gap", pages_overwritten)
tap.case("perf: a record that is none, and lost ones", records_lost)
tap.case("cut and flipped: no signal", cut_and_flipped)
shutil.rmtree(TEMPORARY)
sys.exit(tap.done())
