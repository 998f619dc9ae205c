#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The direct reader against Babeltrace, and on damaged traces.

Both ways in hand on the same events, field by field, and give the same bytes for every shipped
trace and command. Damage is made at random places with fixed seeds; what must hold then: no
signal, no hang, a status that says so, states that still tile each thread's life, and no event
made up: what is lost is near the damage. WHYLATE_LONG=1 (make check-long) makes hundreds of
trials a trace instead of a few, on more traces."""
import itertools
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import ctf2
import ust
import whylate_test as t

tap = t.Tap()
COMMANDS = (("delay", "--thread", "all", "--limit", "0"), ("overview",), ("profile", "--operation", "*"), ("functions",))
LONG = bool(os.environ.get("WHYLATE_LONG"))
LARGE = ("zero-read", "callstack", "lock-lapse", "fork4", "ust-func")
SMALL = [n for n in t.TRACES if n not in LARGE] if LONG else ["polls", "hang", "wide", "snapshot", "startup-chain"]


def commands_of(name):
    """zero-read has a million events of few kinds; callstack's profile of all takes as long as those of ten others."""
    return COMMANDS[:{"zero-read": 1, "callstack": 2}.get(name)] if not LONG else COMMANDS


def same(name):
    for command in commands_of(name):
        arguments = (*command, "--quiet", "--format", "json", t.trace(name))
        direct = t.output(*arguments, "--reader", "direct")
        assert direct == t.output(*arguments, "--reader", "babeltrace"), command[0]
        assert len(json.loads(direct)["hosts"]) == 1


def same_events(*names):
    """What tests/unit/print_events.c prints: each event with all its fields, in the same order; first packets of
    streams and lost events, which Babeltrace may tell a little earlier than events before them."""
    paths = [t.trace(name) for name in names]
    readers = [subprocess.Popen([os.path.join(t.BUILD, "print_events"), how, *paths], stdout=subprocess.PIPE)
               for how in ("direct", "babeltrace")]
    asides = ([], [])

    def events(which):
        for line in readers[which].stdout:
            if b" kind=" in line:
                yield line
            else:
                asides[which].append(line)
    count = 0
    for direct, other in itertools.zip_longest(events(0), events(1)):
        count += 1
        if direct != other:
            for reader in readers:
                reader.kill()
            raise AssertionError("event %d: %s is not %s" % (count, direct, other))
    assert [reader.wait() for reader in readers] == [0, 0]
    assert sorted(asides[0]) == sorted(asides[1]) and asides[0], asides
    want = sum(json.loads(t.output("overview", "--quiet", "--format", "json", path))["coverage"]["events"]
               for path in paths) + sum(ust.count_events(path) for path in paths)
    assert count == want, (count, want)


def targets():
    """Filters see the same fields and contexts both ways, and complain alike."""
    for name, target in (("startup-chain", "sched_process_exec filename=*/autostart"),
                         ("wide", "sched_switch $ctx.procname=pi-holder next_tid=0 nth=2"),
                         ("wide", "syscall_entry_futex $ctx.vtid=233 op=134"),
                         ("polls", "net_if_receive_skb cpu=7"), ("polls", "sched_switch nosuch=1"),
                         ("hang", "syscall_entry_flock fd=4 cpu=0")):
        done = [t.run("delay", "--target", target, t.trace(name), "--reader", how)
                for how in ("direct", "babeltrace")]
        assert done[0].returncode == done[1].returncode, target
        assert done[0].stdout == done[1].stdout and done[0].stderr == done[1].stderr, (
            target, done[0].stderr, done[1].stderr)


def as_ctf2(name):
    """The same streams under CTF 2 metadata: the same answers. Babeltrace 2.0 cannot read that."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(t.trace(name), place + "/t")
        path = [f for f in t.kernel_files(place + "/t") if f.endswith("metadata")][0]
        text = subprocess.run(["babeltrace2", "-o", "ctf-metadata", os.path.dirname(path)], check=True,
                              stdout=subprocess.PIPE).stdout.decode()
        with open(path, "wb") as file:
            file.write(ctf2.convert(text))
        for command in commands_of(name):
            arguments = (*command, "--quiet", "--format", "json")
            assert t.output(*arguments, place + "/t") == t.output(*arguments, t.trace(name)), command[0]
        refused = t.run("overview", "--reader", "babeltrace", place + "/t")
        assert refused.returncode == 3 and b"CTF 2" in refused.stderr, refused.stderr


def no_uuid():
    """Metadata that gives neither the trace nor its clock a UUID: the same events and answers both ways."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(t.trace("fork4"), place + "/t")
        path = [f for f in t.kernel_files(place + "/t") if f.endswith("metadata")][0]
        text = subprocess.run(["babeltrace2", "-o", "ctf-metadata", os.path.dirname(path)], check=True,
                              stdout=subprocess.PIPE).stdout.decode()
        text, count = re.subn(r'\buuid = "?[-0-9a-f]{36}"?;', "", text)
        assert count == 2, count
        with open(path, "w") as file:
            file.write("/* CTF 1.8 */\n" + text)
        want = json.loads(t.output("overview", "--quiet", "--format", "json", t.trace("fork4")))
        for how in ("direct", "babeltrace"):
            found = json.loads(t.output("overview", "--quiet", "--format", "json", place + "/t", "--reader", how))
            assert found["coverage"] == want["coverage"] and found["threads"] == want["threads"], how


def tiles(report):
    """Every thread's states still add up to its life (semantics.md, "In every window …")."""
    for thread in report["threads"]:
        assert thread["summary"]["ns"] == thread["end"] - thread["begin"], thread
        total = sum(child["ns"] for child in thread["summary"]["children"])
        assert total == thread["summary"]["ns"], thread


def read_damaged(directory, build=t.BUILD):
    done = t.run("delay", "--thread", "all", "--format", "json", "--quiet", directory, program=build + "/whylate")
    assert done.returncode in (0, 3, 4), (done.returncode, done.stderr.decode()[-400:])
    if done.returncode == 3:
        assert not done.stdout and done.stderr.count(b"\n") == 1, done.stderr
        return None
    report = json.loads(done.stdout)
    tiles(report)
    assert ("damage" in report["coverage"]) == (done.returncode == 4), done.returncode
    return report


def overwrite(data, chance):
    at = chance.randrange(len(data))
    length = chance.randrange(1, 65)
    return data[:at] + chance.randbytes(len(data[at:at + length])) + data[at + length:]


DAMAGES = {
    "cut": lambda data, chance: data[:chance.randrange(len(data))],
    "overwritten": overwrite,
    "zeros at the end": lambda data, chance: (lambda at: data[:at] + bytes(len(data) - at))(
        chance.randrange(len(data)))}


def events_of(directory):
    done = subprocess.run([os.path.join(t.BUILD, "print_events"), "direct", directory], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    return [line for line in done.stdout.split(b"\n") if b" kind=" in line]


def damaged(name, what, which, trials):
    """`trials` damages; if `trials` is negative, as many for every file; every third is read with sanitizers. What is read
    besides the damaged record itself (it may still read as one, and its last bytes as another) was recorded: same time,
    same fields."""
    recorded, made_up = set(events_of(t.trace(name))), 0
    whole = read_damaged(t.trace(name))["coverage"]["events"]
    most = []
    count = len(t.kernel_files(t.trace(name))) - 1
    for seed in range(trials if trials > 0 else -trials * count):
        chance = random.Random("%s %s %s %d" % (name, what, which, seed))
        with tempfile.TemporaryDirectory() as place:
            shutil.copytree(t.trace(name), place + "/t")
            files = [f for f in t.kernel_files(place + "/t") if f.endswith("metadata") == (which == "metadata")]
            path = files[seed % len(files)] if trials < 0 else chance.choice(files)
            with open(path, "rb") as file:
                data = file.read()
            with open(path, "wb") as file:
                file.write(DAMAGES[what](data, chance))
            report = read_damaged(place + "/t", t.BUILD if seed % 3 else t.SANITIZED)
            if which == "streams":
                made_up = max(made_up, sum(event not in recorded for event in events_of(place + "/t")))
        events = report["coverage"]["events"] if report else 0
        assert events <= whole, (seed, events, whole)
        most.append(whole - events)
    assert made_up <= 3, made_up
    if (what, which) == ("overwritten", "streams"):
        most.sort()
        print("# %s: of %d events, an overwrite of up to 64 bytes lost %d (median), %d (nine in ten at most), %d (most)"
              % (name, whole, most[len(most) // 2], most[len(most) * 9 // 10], most[-1]))


def cut_costs_its_packet(name):
    """Cut in the middle of its last packet, a stream loses no event of the packets before."""
    stream = max((f for f in t.kernel_files(t.trace(name)) if not f.endswith("metadata")),
                 key=lambda f: len(t.packets(f)))
    begin, size = t.packets(stream)[-1]
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(t.trace(name), place + "/t")
        path = [f for f in t.kernel_files(place + "/t") if os.path.basename(f) == os.path.basename(stream)][0]
        os.truncate(path, begin + size // 2)
        half = read_damaged(place + "/t")["coverage"]
        os.truncate(path, begin)
        without = read_damaged(place + "/t")["coverage"]
    assert half["damage"][0]["file"].endswith(os.path.basename(stream)), half["damage"]
    assert half["events"] > without["events"], (half, without)
    assert half["gaps"], half  # what was lost is a gap, not silence


def padding_cut(name):
    """What is cut off the end of a packet behind its content is nothing."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(t.trace(name), place + "/t")
        for path in t.kernel_files(place + "/t"):
            if not path.endswith("metadata"):
                begin, _ = t.packets(path)[-1]
                with open(path, "rb") as file:
                    content, = struct.unpack_from("<Q", file.read(), begin + 24 + 8 + 8 * 2)
                assert begin + content // 8 < os.path.getsize(path), "no padding"
                os.truncate(path, begin + content // 8)
        assert read_damaged(place + "/t") == read_damaged(t.trace(name))


def header_overwritten(name):
    """What LTTng's index says mends a packet's header; without it, that packet is lost; a wrong index does no harm."""
    whole = events_of(t.trace(name))
    chance = random.Random(name)
    for number in range(6 if LONG or len(whole) < 70000 else 2):
        with tempfile.TemporaryDirectory() as place:
            shutil.copytree(t.trace(name), place + "/t")
            path = chance.choice([f for f in t.kernel_files(place + "/t") if not f.endswith("metadata")])
            index = os.path.join(os.path.dirname(path), "index", os.path.basename(path) + ".idx")
            with open(path, "rb") as file:
                data = file.read()
            begin, _ = chance.choice(t.packets(path))
            with open(path, "wb") as file:      # magic, UUID, stream, times
                file.write(data[:begin] + chance.randbytes(48) + data[begin + 48:])
            assert events_of(place + "/t") == whole, (number, path, begin)
            report = read_damaged(place + "/t", t.BUILD if number else t.SANITIZED)
            assert len(report["coverage"]["damage"]) == 1, report["coverage"]["damage"]
            with open(index, "r+b") as file:    # sizes that lead nowhere
                file.seek(16 + 8)
                file.write(chance.randbytes(os.path.getsize(index) - 24))
            wrong = events_of(place + "/t")
            os.unlink(index)
            without = events_of(place + "/t")
            assert wrong == without and set(without) < set(whole), (number, path, begin)


def index_wrong(name):
    """Where headers are sound nothing is asked of the index."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(t.trace(name), place + "/t")
        for folder, _, files in os.walk(place + "/t"):
            for file in files:
                if file.endswith(".idx"):
                    with open(os.path.join(folder, file), "r+b") as index:
                        index.seek(16)
                        index.write(random.Random(file).randbytes(200))
        assert read_damaged(place + "/t") == read_damaged(t.trace(name))


def missing_packet(name):
    """A packet taken out of the middle is a gap, from the sequence numbers."""
    stream = max((f for f in t.kernel_files(t.trace(name)) if not f.endswith("metadata")),
                 key=lambda f: len(t.packets(f)))
    found = t.packets(stream)
    assert len(found) >= 3, found
    begin, size = found[1]
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(t.trace(name), place + "/t")
        path = [f for f in t.kernel_files(place + "/t") if os.path.basename(f) == os.path.basename(stream)][0]
        with open(path, "rb") as file:
            data = file.read()
        with open(path, "wb") as file:
            file.write(data[:begin] + data[begin + size:])
        report = read_damaged(place + "/t")["coverage"]
    assert report["discarded_packets"] == 1 and len(report["gaps"]) >= 1, report


for name in t.sample(t.TRACES, 8):
    tap.case("%s: the same bytes both ways" % name, same, name)
    if LONG or name != "zero-read":     # a million events of few kinds
        tap.case("%s: the same events both ways" % name, same_events, name)
tap.case("two hosts: the same events both ways", same_events, "two-hosts-client", "two-hosts-server")
tap.case("targets: the same both ways", targets)
tap.case("a trace without UUIDs: the same both ways", no_uuid)
for name in ("wide", "polls", "callstack"):
    tap.case("%s: as CTF 2" % name, as_ctf2, name)
for name in t.sample(SMALL, 8):
    tap.case("%s: a stream cut" % name, damaged, name, "cut", "streams", -20 if LONG else 6)
    tap.case("%s: a stream overwritten" % name, damaged, name, "overwritten", "streams", 200 if LONG else 6)
    tap.case("%s: a stream with zeros at the end" % name, damaged, name, "zeros at the end", "streams",
             20 if LONG else 6)
    tap.case("%s: metadata overwritten" % name, damaged, name, "overwritten", "metadata", 50 if LONG else 4)
    tap.case("%s: metadata cut" % name, damaged, name, "cut", "metadata", 20 if LONG else 3)
tap.case("zero-read: a cut costs the packet that it hits", cut_costs_its_packet, "zero-read")
tap.case("startup-chain: padding cut off", padding_cut, "startup-chain")
for name in ("fork4", "wide", *(("callstack", "zero-read") if LONG else ())):     # a million events, 24 times over
    tap.case("%s: a packet's header overwritten" % name, header_overwritten, name)
tap.case("wide: a wrong index", index_wrong, "wide")
tap.case("zero-read: a packet is missing", missing_packet, "zero-read")
sys.exit(tap.done())
