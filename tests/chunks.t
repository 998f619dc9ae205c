#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A rotated trace says what the whole one says: the packets of recorded
traces, divided between two chunks as `lttng rotate` lays them out, must give
the same report, byte for byte. A user-space trace beside them is left alone."""
import os
import shutil
import struct
import sys
import tempfile

import whylate_test as t

# packet header of lttng-modules 2.8+: magic, UUID, stream id, stream instance
# id; then the context: begin, end, content size, packet size (bits) …
PACKET_SIZE_AT = 4 + 16 + 4 + 8 + 8 + 8 + 8

tap = t.Tap()


def packets(path):
    with open(path, "rb") as file:
        data = file.read()
    at, found = 0, []
    while at < len(data):
        size = struct.unpack_from("<Q", data, at + PACKET_SIZE_AT)[0] // 8
        assert struct.unpack_from("<I", data, at)[0] == 0xC1FC1FC1 and size > 0, (path, at)
        found.append(data[at:at + size])
        at += size
    return found


def rotate(kernel, place):
    """Two chunks below `place`, as of a session that was rotated once."""
    counts = []
    chunks = [os.path.join(place, "archives", name, "kernel")
              for name in ("20261121T091314+0000-20261121T091315+0000-0",
                           "20261121T091315+0000-20261121T091316+0000-1")]
    for chunk in chunks:
        os.makedirs(chunk)
        shutil.copy(os.path.join(kernel, "metadata"), chunk)
    for name in sorted(os.listdir(kernel)):
        path = os.path.join(kernel, name)
        if name in ("metadata", "index") or not os.path.getsize(path):
            continue
        parts = packets(path)
        counts.append(len(parts))
        half = len(parts) // 2
        for chunk, some in zip(chunks, (parts[:half], parts[half:])):
            if some:
                with open(os.path.join(chunk, name), "wb") as file:
                    file.write(b"".join(some))
    symbols = os.path.join(os.path.dirname(kernel), "..", "kallsyms")
    if os.path.exists(symbols): # of the functions in its call stacks
        shutil.copy(symbols, place)
    return counts


def kernel_of(directory):
    for path, folders, files in os.walk(directory):
        if "metadata" in files and "/ust/" not in path + "/":
            return path
    raise AssertionError("no trace in " + directory)


def same(name, *arguments):
    with tempfile.TemporaryDirectory(dir=t.CACHE) as place:
        counts = rotate(kernel_of(t.trace(name)), place)
        assert max(counts) > 1, counts
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


# of the small traces only these have more than one packet a stream
tap.case("callstack in two chunks, a target", same, "callstack", "--target",
         "sched_process_exec nth=last")
tap.case("lost in two chunks, all threads", same, "lost", "--thread", "all")
tap.case("callstack in two chunks, a report each 300 ms", every, "callstack", "300ms")
tap.case("a user-space trace beside", beside_user_space)
tap.case("a trace named twice", named_twice)
sys.exit(tap.done())
