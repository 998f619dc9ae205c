#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A rotated trace says what the whole one says: the packets of recorded
traces, divided between two chunks as `lttng rotate` lays them out, must give
the same report, byte for byte. A user-space trace beside them is left alone."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import whylate_test as t
from chunked import chunk_name, kernel_of, rotate

tap = t.Tap()


def same(name, *arguments):
    with tempfile.TemporaryDirectory(dir=t.CACHE) as place:
        chunks = rotate(kernel_of(t.trace(name)), place)
        assert all(any(chunk.values()) for chunk in chunks)
        whole = t.output("delay", t.trace(name), *arguments, "--format", "json", "--quiet")
        parts = t.output("delay", place, *arguments, "--format", "json", "--quiet")
        assert whole == parts, "the reports differ"


def every(name, length):
    """Reports while it goes on do not mind where one chunk ends and the next begins."""
    with tempfile.TemporaryDirectory(dir=t.CACHE) as place:
        rotate(kernel_of(t.trace(name)), place)
        options = ["--thread", "all", "--every", length, "--format", "json", "--quiet"]
        whole = t.output("delay", t.trace(name), *options)
        assert whole.count(b"\n") > 2
        assert whole == t.output("delay", place, *options), "the reports differ"


def beside_user_space():
    """ust-func has a user-space trace beside the kernel's: the same without it."""
    whole = t.trace("ust-func")
    kernel = kernel_of(whole)
    assert t.output("delay", whole, "--thread", "all", "--format", "json") == \
        t.output("delay", kernel, "--thread", "all", "--format", "json")


def named_twice():
    """A trace named twice, or with a part of it, is read once."""
    trace = t.trace("startup-chain")
    once = t.output("overview", trace, "--format", "json")  # the text names the traces, in commands
    assert once == t.output("overview", trace, kernel_of(trace), "--format", "json")


def missing():
    """A chunk that is not there is a gap: from the end of the packet before it to the begin of the one behind, of each
    CPU, with so many packets lost as it had (packets are numbered)."""
    with tempfile.TemporaryDirectory(dir=t.CACHE) as place:
        chunks = rotate(kernel_of(t.trace("callstack")), place, 3)
        shutil.rmtree(os.path.join(place, "archives", chunk_name(1)))
        report = json.loads(t.output("overview", place, "--format", "json", "--quiet"))
    expected = []
    for cpu, name in enumerate(sorted(chunks[0])):
        assert all(chunk[name] for chunk in chunks), chunks
        # begin and end stand in front of the sizes; both clocks of this recording have one distance
        begin, end = chunks[0][name][-1][40:48], chunks[2][name][0][32:40]
        expected.append((cpu, struct.unpack("<Q", end)[0] - struct.unpack("<Q", begin)[0]))
    gaps = [(gap["cpu"], gap["end"] - gap["begin"]) for gap in report["coverage"]["gaps"]]
    assert sorted(gaps) == expected, (gaps, expected)
    assert report["coverage"]["discarded_packets"] == sum(map(len, chunks[1].values()))


def really_rotated():
    """As LTTng lays it out: events are those that babeltrace2 reads in the three, and nothing is lost where one ends. Its
    packets in one directory give the same report."""
    trace = t.trace("rotated")
    found = sorted(path for path, _, files in os.walk(trace) if "metadata" in files)
    assert len(found) == 3, found
    with tempfile.TemporaryDirectory(dir=t.CACHE) as place:
        whole = os.path.join(place, "kernel")
        os.makedirs(whole)
        shutil.copy(os.path.join(found[0], "metadata"), whole)
        # the current chunk comes before "archives" by name, and is the last one
        for name in ("ch_0", "ch_1"):
            with open(os.path.join(whole, name), "wb") as file:
                for chunk in found[1:] + found[:1]:
                    with open(os.path.join(chunk, name), "rb") as part:
                        file.write(part.read())
        for words in (("delay", "--thread", "all"), ("overview",), ("profile",)):
            assert t.output(words[0], place, *words[1:], "--format", "json") == \
                t.output(words[0], trace, *words[1:], "--format", "json"), words
    report = json.loads(t.output("overview", trace, "--format", "json"))
    events = sum(len(subprocess.check_output(["babeltrace2", chunk]).splitlines()) for chunk in found)
    coverage = report["coverage"]
    assert coverage["events"] == events and coverage["gaps"] == [] and coverage["discarded_packets"] == 0, coverage


# of the small traces only these have more than one packet a stream
tap.case("callstack in two chunks, a target", same, "callstack", "--target",
         "sched_process_exec nth=last")
tap.case("lost in two chunks, all threads", same, "lost", "--thread", "all")
tap.case("callstack in two chunks, a report each 300 ms", every, "callstack", "300ms")
def while_it_rotates():
    """What LTTng keeps under names with a dot while it rotates is not read: the chunk in it is not whole."""
    with tempfile.TemporaryDirectory(dir=t.CACHE) as place:
        rotate(kernel_of(t.trace("startup-chain")), place)
        whole = t.output("overview", place, "--format", "json", "--quiet")
        first = os.path.join(place, "archives", chunk_name(0))
        shutil.copytree(first, os.path.join(place, ".tmp_new_chunk"))
        for name in os.listdir(kernel_of(os.path.join(place, ".tmp_new_chunk"))):
            os.truncate(os.path.join(kernel_of(os.path.join(place, ".tmp_new_chunk")), name), 1)
        assert whole == t.output("overview", place, "--format", "json", "--quiet"), "it was read"
        assert len(t.output("batch", place, "--format", "json").splitlines()) == 1


tap.case("while LTTng rotates", while_it_rotates)
tap.case("a session that LTTng rotated", really_rotated)
tap.case("a chunk is missing", missing)
tap.case("a user-space trace beside", beside_user_space)
tap.case("a trace named twice", named_twice)
sys.exit(tap.done())
