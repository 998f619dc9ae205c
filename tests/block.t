#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Disk waits on recorded traces: every request that a wait is put down to, with its queue and service times, against
a slow pairing of babeltrace2's text; fsyncs through the journal; who finished a request, and for whom it was.

The pairing here is by search, not by tables: a completion belongs to the last issue before it of the same device and
sector, and a bio to the first issue after it that covers its sector."""
import re
import subprocess
import sys

import whylate_test as t

tap = t.Tap()
LINE = re.compile(r"^\[(\d+)\.(\d{9})\] \S+ (\w+): (.*)$")
WANTED = re.compile(r"block_(bio_queue|rq_)|jbd2_end_commit|syscall_(entry|exit)_(fsync|sync)\b|workqueue_queue_work")
FIELD = re.compile(r"\b(\w+) = (-?\d+|0x[0-9A-Fa-f]+|\"[^\"]*\")")
CAUSE = re.compile(r"^(?P<disk>[^,(]+)( \(of [^)]+\))?, (flush of its cache|sector (?P<sector>\d+))")


class Request:
    """One issue of a device's sectors, with the bios in it and its completions."""

    def __init__(self, time, fields, bios):
        self.issue, self.sector, self.sectors = time, fields["sector"], fields["nr_sector"]
        self.bios, self.issuer, self.completed, self.insert = bios, fields["tid"], [], None

    def queued(self):
        begins = [b[0] for b in self.bios] + ([self.insert] if self.insert is not None else [])
        return self.issue - min(begins) if begins else None


class Text:
    """What the trace says, read from babeltrace2's text."""

    def __init__(self, name):
        out = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", t.trace(name)], check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode(errors="replace")
        self.requests, self.events, bios, inserts = [], [], [], []
        for line in out.split("\n"):
            match = LINE.match(line)
            if not match or not WANTED.match(match.group(3)):
                continue
            time, event = int(match.group(1) + match.group(2)), match.group(3)
            fields = {k: v if v[0] == '"' else int(v, 0) for k, v in FIELD.findall(match.group(4))}
            self.events.append((time, event, fields))
            if event == "block_bio_queue":
                bios.append((time, fields["sector"], fields["nr_sector"], fields["tid"]))
            elif event == "block_rq_insert":
                inserts.append((time, fields["sector"]))
            elif event == "block_rq_issue":
                inside = [b for b in bios if fields["nr_sector"] and
                          fields["sector"] <= b[1] < fields["sector"] + fields["nr_sector"]]
                bios = [b for b in bios if b not in inside]
                request = Request(time, fields, inside)
                for insert in [i for i in inserts if i[1] == fields["sector"] and fields["nr_sector"]]:
                    request.insert = insert[0]
                    inserts.remove(insert)
                self.requests.append(request)
            elif event == "block_rq_complete":
                self.complete(time, fields)

    def complete(self, time, fields):
        """A flush completes without sector; a write to the medium again, without length, after its flush."""
        flush = fields["nr_sector"] == 0 and fields["sector"] == 2 ** 64 - 1
        for request in reversed(self.requests):
            if (request.sectors == 0 if flush else request.sectors and request.sector == fields["sector"]):
                request.completed.append(time)
                return

    def find(self, sector, time):
        """The request of that sector (None: a flush) whose last completion up to `time` is the newest."""
        found = None
        for request in self.requests:
            ends = [c for c in request.completed if c <= time]
            if (request.sectors == 0 if sector is None else request.sectors and request.sector == sector) and ends:
                if not found or ends[-1] >= found[1]:
                    found = (request, ends[-1])
        return found


TEXTS = {}


def text(name):
    if name not in TEXTS:
        TEXTS[name] = Text(name)
    return TEXTS[name]


def flat(blocks):
    for block in blocks:
        yield block
        yield from flat(block.get("children", []))


def waits(name, *arguments):
    found = t.report("delay", t.trace(name), "--limit", "0", *arguments)["threads"]
    return [b for thread in found for b in thread["causality"]]


def check_request(name, block):
    """The times of the request that ended this wait. False if its issue is not in the trace."""
    cause = block["cause"]
    match = CAUSE.match(cause["label"])
    assert match, cause
    # with a kernel worker between, it had completed when the worker's item was queued
    via = block.get("via", [])
    until = via[-1]["time"] if via and via[-1]["kind"] == "work" else block["end"]
    found = text(name).find(int(match.group("sector")) if match.group("sector") else None, until)
    if "served_ns" not in cause:
        assert not found or "not known" in cause["label"], (block, found[0].__dict__)
        return False
    assert found, block
    request, end = found
    assert cause["served_ns"] == end - request.issue, (block, request.__dict__)
    assert cause.get("queued_ns") == request.queued(), (block, request.__dict__)
    return True


def every_request(name, at_least):
    """All waits of all threads, whatever ended them."""
    checked = 0
    for block in flat(waits(name, "--thread", "all")):
        if block["cause"]["kind"] == "block-device":
            checked += check_request(name, block)
    assert checked >= at_least, checked


def fsyncs():
    """wide's eight: its own data, then the journal's blocks by jbd2, each with both times; what jbd2 committed."""
    calls, tree = [], waits("wide", "--thread", "widemain")
    for time, event, fields in text("wide").events:
        if event.startswith("syscall_") and "fsync" in event and fields["tid"] == 230:
            calls.append(time)
    assert len(calls) == 16, calls
    with open(t.trace("wide") + "/truth.tsv") as file:
        noted = [int(line.split("\t")[0]) for line in file if "fsync" in line]
    assert len(noted) == 8
    for begin, end, note in zip(calls[::2], calls[1::2], noted):
        assert 0 <= begin - note < 1000000, (begin, note)
        commits = [f["transaction"] for time, event, f in text("wide").events
                   if event == "jbd2_end_commit" and begin < time < end]
        assert len(commits) == 1, commits
        inside = [b for b in tree if begin <= b["begin"] and b["end"] <= end]
        data, journal = inside[0], inside[-1]
        assert journal["woken_by"]["name"] == "jbd2/vda-8" and journal["cause"]["certainty"] == "seen"
        assert "committed transaction %d to the journal of vda for it" % commits[0] in journal["cause"]["label"], journal
        # its data: 64 KiB that it asked for itself, finished by the worker that the interrupt queued
        assert data["cause"]["kind"] == "block-device" and data["cause"]["certainty"] == "seen", data
        assert "64 KiB, issued by itself, finished by kworker/" in data["cause"]["label"], data
        assert [v["kind"] for v in data["via"]] == ["request", "work"] and data["via"][0]["tid"] == 230, data["via"]
        assert all(c["begin"] >= data["via"][1]["time"] for c in data["children"]), data  # not what it did before
        written = [b for b in journal["children"] if b["cause"]["kind"] == "block-device"]
        assert len(written) == 2, journal  # the blocks, and the commit block with its flushes
        for block in [data] + written:
            assert check_request("wide", block) and "queued_ns" in block["cause"], block
        for block in written:
            assert "issued by itself for widemain (230) (inferred)" in block["cause"]["label"], block
            assert block["end"] - block["begin"] <= block["cause"]["served_ns"] + block["cause"]["queued_ns"]
        bios = text("wide").find(int(CAUSE.match(written[0]["cause"]["label"]).group("sector")), written[0]["end"])[0].bios
        assert " of %d bios" % len(bios) in written[0]["cause"]["label"] and {b[3] for b in bios} == {140}, written[0]


def synced():
    """wide's sync: the writeback's item that it queued itself, and requests that were on their way already."""
    tree = [b for b in waits("wide", "--thread", "widemain") if b["leaf"] == "blocked/syscall:sync"]
    begin = [time for time, event, f in text("wide").events if event == "syscall_entry_sync" and f["tid"] == 230][0]
    queued = [time for time, event, f in text("wide").events
              if event == "workqueue_queue_work" and f["tid"] == 230 and begin < time < tree[0]["end"]]
    own = [b for b in tree if "queued by widemain (230)" in b["cause"]["label"]]
    assert own and own[0]["via"][0]["time"] in queued, (own, queued)
    late = [b for b in tree if "before this wait began" in b["cause"]["label"]]
    assert late
    for block in late:
        sector = int(CAUSE.match(block["cause"]["label"]).group("sector"))
        request = text("wide").find(sector, block["via"][-1]["time"])[0]
        assert request.bios[0][3] != 230 and request.bios[0][0] < block["begin"], (block, request.__dict__)
        # what the worker did for this thread's item is for it
        assert (" for it " in block["cause"]["label"]) == (request.bios[0][3] == 25), block


def logged():
    """web-mixed's log requests: every wait in fsync is put down to the disk, at once, by a worker, or by jbd2 whose
    own waits are. Nothing tells there when requests were queued, and the report says so."""
    tree = [b for b in waits("web-mixed", "--process", "app") if b["leaf"] == "blocked/syscall:fsync"]
    assert len(tree) >= 10, len(tree)
    other = 0
    for block in tree:
        name = block["woken_by"]["name"] or ""
        if name.startswith("jbd2/"):
            assert block["cause"]["certainty"] == "inferred" and "the journal of vda" in block["cause"]["label"], block
            below = [b for b in block["children"] if b["ns"] > block["ns"] / 10]
            assert all(b["cause"]["kind"] == "block-device" for b in below), block
        elif block["cause"]["kind"] != "block-device":
            other += block["ns"]
    assert other <= 0.02 * sum(b["ns"] for b in tree), other
    said = t.output("delay", t.trace("web-mixed"), "--thread", "243").decode()
    assert "queue time not recorded, served" in " ".join(said.split()), said
    said = t.output("delay", t.trace("wide"), "--thread", "widemain").decode()
    assert "queue time not recorded" not in said


def journalled():
    """ust-func's main thread waits in fsync for jbd2, and that for the disk: the commit block's issuer is kblockd's
    worker, so that it was for jbd2 is inferred."""
    tree = [b for b in waits("ust-func", "--thread", "proxyapp") if b["woken_by"]["name"] == "jbd2/vda-8"]
    assert len(tree) >= 36, len(tree)  # of 40 commits; some had ended before they were waited for
    below = 0
    for block in tree:
        devices = [b for b in block["children"] if b["cause"]["kind"] == "block-device"]
        assert devices, block
        below += sum(b["ns"] for b in devices)
        assert all(b["cause"]["certainty"] == "inferred" for b in devices if "kworker" in b["cause"]["label"])
    total = sum(b["ns"] for b in tree)
    assert below >= 0.8 * total, (below, total)  # the rest is jbd2's own work, and its waiting for a CPU


def latencies(name):
    """The profile's operations: one of each request, however it was merged; times exact."""
    requests = text(name).requests
    for kind, wanted in (("queued", [r.queued() for r in requests if r.queued() is not None]),
                         ("served", [r.completed[0] - r.issue for r in requests if r.completed])):
        profiles = [p for p in t.report("profile", t.trace(name), "--operation", "*", "--limit", "0")["profiles"]
                    if p["operation"] == "block-%s:vda" % kind]
        got = [(p["count"], p["sum_ns"], p["min_ns"], p["max_ns"]) for p in profiles]
        assert got == ([(len(wanted), sum(wanted), min(wanted), max(wanted))] if wanted else []), (got, kind)


def missing():
    """What recording would add is said where it is missing."""
    for name, names in (("web-mixed", {"block_bio_queue", "workqueue_queue_work"}), ("wide", set())):
        said = t.report("delay", t.trace(name), "--thread", "all", "--limit", "1")["coverage"]["missing"]
        assert {m.split(":")[0] for m in said} & {"block_bio_queue", "workqueue_queue_work"} == names, (name, said)


for one, count in (("wide", 60), ("disk-read", 60), ("web-mixed", 50), ("ust-func", 100), ("two-hosts-client", 100),
                   ("startup-chain", 50)):
    tap.case("every request of " + one, every_request, one, count)
for case in (fsyncs, synced, logged, journalled):
    tap.case(case.__name__, case)
for one in ("wide", "two-hosts-client", "disk-read"):
    tap.case("latencies of requests: " + one, latencies, one)
tap.case("missing events", missing)
sys.exit(tap.done())
