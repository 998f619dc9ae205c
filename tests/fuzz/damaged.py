#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""damaged.py COUNT TRACE...: copies of recorded traces, each damaged at one to three places, and what a command makes of
them. A line for each that breaks a rule, and sums; status 1 if there was one.

    --first N      the number of the first copy (0): copy N is damaged in the same way each time
    --keep DIR     where copies that broke a rule stay
    --jobs N       how many at a time (2)

What must hold: no signal and no status but 0 (read), 3 (no trace) or 4 (not whole); at most ten times the processor time of
the sound trace, and half a second; at most three times its memory, and 100 MB; and where only what is inside packets was
changed, all events of the others (counted in babeltrace2's text of the sound trace, by the times that its index has of each
packet)."""
import argparse
import collections
import json
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

WHYLATE = os.environ.get("WHYLATE", "whylate")
COMMANDS = (["overview"], ["delay", "--thread", "all"], ["profile"], ["requests"], ["functions"], ["check"])
HEADER = 128       # bytes of a packet that say how large it is; LTTng's are shorter
Packet = collections.namedtuple("Packet", "offset size begin end events")


def files_of(trace):
    return sorted(os.path.relpath(os.path.join(at, name), trace) for at, _, names in os.walk(trace) for name in names
                  if name != ".unpacked")


def packets_of(trace, name, times):
    """Of a stream with an index (LTTng's ctf_packet_index: big-endian, its header says how long a record is)."""
    at, base = os.path.split(name)
    try:
        with open(os.path.join(trace, at, "index", base + ".idx"), "rb") as file:
            data = file.read()
    except OSError:
        return []
    length = struct.unpack(">IIII", data[:16])[3]
    found = []
    for i in range(16, len(data) - length + 1, length):
        offset, size, _, begin, end = struct.unpack(">QQQQQ", data[i:i + 40])
        found.append((offset, size // 8, begin, end))
    cpu = int(base.rsplit("_", 1)[1]) if re.search(r"_\d+$", base) else -1
    return [Packet(*one, sum(1 for when in times.get(cpu, ()) if one[2] <= when <= one[3])) for one in found]


class Sound:
    """A trace that nothing happened to."""

    def __init__(self, trace):
        self.trace, self.files = trace, files_of(trace)
        self.costs = {}
        for command in COMMANDS:
            status, seconds, memory, report = run(command, trace, 600)
            assert status in (0, 3), (trace, command, status)
            self.costs[command[0]] = seconds, memory
            if command[0] == "overview":
                self.events = report["coverage"]["events"]
        times = collections.defaultdict(list)
        text = subprocess.run(["babeltrace2", "--clock-cycles", trace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=False).stdout.decode(errors="replace")
        for line in text.split("\n"):
            found = re.match(r"\[0*(\d+)\].*?\{ cpu_id = (\d+) \}", line)
            if found:
                times[int(found.group(2))].append(int(found.group(1)))
        self.packets = {name: packets_of(trace, name, times) for name in self.files}
        if sum(len(one) for one in times.values()) != self.events:   # user space's too, or a form without packets
            self.packets = {}


def run(command, trace, limit):
    """Status (negative: a signal), processor seconds, KiB, its report or None."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen([WHYLATE, *command, "--format", "json", "--cache", "off", "--quiet", trace], stdout=out,
                                 stderr=err, stdin=subprocess.DEVNULL,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)))
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = 0
        status = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        out.seek(0)
        text = out.read()
        err.seek(0)
        said = err.read()
    if b"Sanitizer" in said or b"runtime error" in said:
        status = -99
    try:
        report = json.loads(text)
    except ValueError:
        report = None
    return status, used.ru_utime + used.ru_stime, used.ru_maxrss, report


def damage(sound, copy, dice, inside):
    """Changes one file, `inside` one of its packets; returns how, where, and how many events may be lost by that: by
    packet, None: any number."""
    name = dice.choice([one for one in sound.files if sound.packets.get(one)] if inside else sound.files)
    path = os.path.join(copy, name)
    with open(path, "rb") as file:
        data = bytearray(file.read())
    how = "inside" if inside else dice.choice(("flip", "flip", "cut", "zero", "same", "move", "insert", "drop", "gone"))
    size = max(len(data), 1)
    at = dice.randrange(size)
    length = min(dice.choice((1, 2, 8, 64, 512, 4096)), size - at)
    lost = None
    packets = sound.packets.get(name)
    if inside:
        packet = dice.choice(packets)
        if packet.size > HEADER * 2:
            at = packet.offset + dice.randrange(HEADER, packet.size)
            length = min(length, packet.offset + packet.size - at)
            lost = {(name, packet.offset): packet.events}
    if how in ("flip", "inside"):
        for i in range(at, min(at + length, len(data))):
            data[i] ^= 1 << dice.randrange(8)
    elif how == "cut":
        del data[at:]
    elif how == "zero":
        data[at:at + length] = bytes(len(data[at:at + length]))
    elif how == "same":
        data[at:at + length] = bytes([dice.randrange(256)]) * len(data[at:at + length])
    elif how == "move":
        other = dice.randrange(size)
        data[other:other + length] = data[at:at + length]
    elif how == "insert":
        data[at:at] = dice.randbytes(length)
    elif how == "drop":
        del data[at:at + length]
    if how == "gone":
        os.unlink(path)
        sound.files.remove(name)
    else:
        with open(path, "wb") as file:
            file.write(data)
    return how, name, at, length, lost


def try_one(number, sounds, keep):
    dice = random.Random(number)
    one = dice.choice(sounds)
    inside = any(one.packets.values()) and dice.random() < 0.4
    command = COMMANDS[0] if inside else dice.choice(COMMANDS)
    left = argparse.Namespace(files=list(one.files), packets=one.packets)
    copy = tempfile.mkdtemp(prefix="damaged-%d-" % number)
    shutil.copytree(one.trace, copy + "/t", dirs_exist_ok=True)
    done, lost = [], {}
    for _ in range(dice.choice((1, 1, 2, 3))):
        if left.files:
            *what, may = damage(left, copy + "/t", dice, inside)
            done.append(what)
            lost = None if lost is None or may is None else {**lost, **may}
    seconds, memory = one.costs[command[0]]
    status, took, used, report = run(command, copy + "/t", int(seconds * 10 + 12))
    broken = []
    if status not in (0, 2, 3, 4):
        broken.append("status %d" % status)
    if took > seconds * 10 + 0.5:
        broken.append("%.1f s, sound %.1f s" % (took, seconds))
    # a process begins as a copy of this one, whose memory counts for it
    if used > max(memory * 3 + 100000, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss):
        broken.append("%d KiB, sound %d KiB" % (used, memory))
    if status in (0, 4) and lost is not None and command[0] == "overview":
        whole = one.events - sum(lost.values())
        if not report or report["coverage"]["events"] < whole:
            broken.append("%s events, of whole packets %d" % (report and report["coverage"]["events"], whole))
    if broken:
        print("%d: whylate %s of %s: %s; %s" % (number, " ".join(command), one.trace, ", ".join(broken), done), flush=True)
    if broken and keep:
        shutil.rmtree(os.path.join(keep, str(number)), ignore_errors=True)
        shutil.move(copy, os.path.join(keep, str(number)))
    else:
        shutil.rmtree(copy)
    return status, bool(broken), lost is not None and command[0] == "overview"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("traces", nargs="+")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    begun = time.time()
    sounds = [Sound(trace) for trace in asked.traces]
    if asked.keep:
        os.makedirs(asked.keep, exist_ok=True)
    with ThreadPoolExecutor(asked.jobs) as pool:
        ends = list(pool.map(lambda number: try_one(number, sounds, asked.keep),
                             range(asked.first, asked.first + asked.count)))
    counts = collections.Counter(status for status, _, _ in ends)
    print("%d copies of %d traces in %d s; status %s; events held to whole packets in %d; %d broke a rule" % (
        len(ends), len(sounds), time.time() - begun, ", ".join("%d: %d" % one for one in sorted(counts.items())),
        sum(held for _, _, held in ends), sum(broken for _, broken, _ in ends)))
    return any(broken for _, broken, _ in ends)


if __name__ == "__main__":
    sys.exit(main())
