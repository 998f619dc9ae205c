#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""foreign_seeds.py ANY-LINUX OUT: seeds for fuzz_foreign, of traces/any-linux: some pages of its trace.dat and some
records of its perf.data, in each form that such a file has, with no more formats than they need."""
import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import zlib

PAGE = 1024
WANTED = ("sched_switch", "sched_waking", "sched_process_exec", "sched_process_fork", "sys_enter", "sys_exit",
          "irq_handler_entry", "irq_handler_exit", "softirq_entry", "softirq_exit", "hrtimer_expire_entry", "block_rq_issue")
DUMP = {"schema": "whylate-statedump-1", "begin": {"monotonic": 20_000_000_000, "realtime": 1_000_000_020_000_000_000},
        "host": {"name": "h", "boot_id": "b", "machine": "x86_64"},
        "processes": [{"pid": 203, "ppid": 1, "namespaces": {"pid": 4026531836, "cgroup": 4026531835},
                       "threads": [{"tid": 203, "name": "a", "state": "S", "inner": [7, 3]}],
                       "files": [{"fd": 3, "path": "socket:[12]"}]}],
        "interrupts": [{"irq": 25, "action": "disk"}], "block_devices": [{"major": 254, "minor": 0, "name": "vda"}]}


def read(path):
    with open(path, "rb") as file:
        return file.read()


# --- formats: a system's name, how many, and each one's length and text -------------------------------------------------

def formats_in(data, at):
    systems, = struct.unpack_from("<I", data, at)
    at, found = at + 4, {}
    for _ in range(systems):
        end = data.index(b"\0", at)
        name, (count,), at = data[at:end], struct.unpack_from("<I", data, end + 1), end + 5
        for _ in range(count):
            size, = struct.unpack_from("<Q", data, at)
            found.setdefault(name, []).append(data[at + 8:at + 8 + size].decode())
            at += 8 + size
    return found


def small(found):
    """(those wanted, without what is not read, by number)"""
    out, ids, systems = b"", set(), 0
    for system, texts in found.items():
        few = [text[:text.index("print fmt")] for text in texts if re.match(r"name: (\S+)", text).group(1) in WANTED]
        if few:
            systems += 1
            out += system + b"\0" + struct.pack("<I", len(few)) + b"".join(
                struct.pack("<Q", len(text)) + text.encode() for text in few)
            ids |= {int(re.search(r"ID: (\d+)", text).group(1)) for text in few}
    return struct.pack("<I", systems) + out, ids


def headers(word=8):
    text = b"field: local_t commit; offset:8; size:%d; signed:1;\n" % word
    return b"header_page\0" + struct.pack("<Q", len(text)) + text + b"header_event\0" + struct.pack("<Q", 0)


# --- trace.dat ----------------------------------------------------------------------------------------------------------

def options(data):
    at = data.index(b"\0", 10) + 1 + 1 + 1 + 4
    section, = struct.unpack_from("<Q", data, data.index(b"\0", data.index(b"\0", at) + 1) + 1)
    found = {}
    while section:
        size, = struct.unpack_from("<Q", data, section + 8)
        at, end, section = section + 16, section + 16 + size, 0
        while at < end:
            number, size = struct.unpack_from("<HI", data, at)
            found[number] = data[at + 6:at + 6 + size]
            at += 6 + size
            if number == 0:
                section, = struct.unpack("<Q", found.pop(0))
                break
    return found


def cut_page(page, ids):
    """Its first records, of those kinds: the time of others goes to the next one."""
    used, = struct.unpack_from("<Q", page, 8)
    at, end, out, passed = 16, 16 + (used & 0x7ffffff), b"", 0
    while at + 4 <= end:
        word, = struct.unpack_from("<I", page, at)
        kind, delta = word & 31, word >> 5
        if kind == 29 and not delta:
            break
        size = 8 if kind >= 30 else 4 + (((struct.unpack_from("<I", page, at + 4)[0]) + 3) & ~3 if kind in (0, 29) else 4 * kind)
        body = page[at + (8 if kind == 0 else 4):]
        if kind < 29 and struct.unpack_from("<H", body)[0] not in ids:
            passed += delta
        else:
            if kind < 29 and delta + passed < 1 << 27:
                word, passed = kind | (delta + passed) << 5, 0
            if 16 + len(out) + size > PAGE:
                break
            out += struct.pack("<I", word) + page[at + 4:at + size]
        at += size
    return page[:8] + struct.pack("<Q", len(out)) + out + bytes(PAGE - 16 - len(out))


def trace_dat(data):
    found = options(data)
    section, = struct.unpack("<Q", found[18])
    texts, ids = small(formats_in(data, section + 16))
    value, pages = found[3], []
    at = value.index(b"\0", value.index(b"\0", 8) + 1) + 1 + 8
    for k in range(at, len(value), 20):
        _, offset, _ = struct.unpack_from("<IQQ", value, k)
        pages.append(b"".join(cut_page(data[p:p + 4096], ids) for p in range(offset, offset + 3 * 4096, 4096)))
    begin = data[:10]
    yield six(begin, texts, pages, found)
    for packing in (b"none", b"zlib"):
        yield seven(begin, texts, pages, found, packing)


def six(begin, texts, pages, found):
    out = begin + b"6\0\0\x08" + struct.pack("<I", PAGE) + headers() + struct.pack("<I", 0) + texts
    out += struct.pack("<IIQI", 0, 0, 0, len(pages)) + b"options  \0"
    for number in (4, 5, 9):
        out += struct.pack("<HI", number, len(found[number])) + found[number]
    out += struct.pack("<H", 0) + b"flyrecord\0"
    at = len(out) + 16 * len(pages)
    for page in pages:
        out += struct.pack("<QQ", at, len(page))
        at += len(page)
    return out + b"".join(pages)


def seven(begin, texts, pages, found, packing):
    out = bytearray(begin + b"7\0\0\x08" + struct.pack("<I", PAGE) + packing + b"\0001\0" + bytes(8))
    place, new = len(out) - 8, [(k, found[k]) for k in (4, 5, 9)] + [(1, b"0x10"), (14, struct.pack("<IIQ", 0, 0, 0))]
    for number, body in ((16, headers()), (18, texts)):
        new.append((number, struct.pack("<Q", len(out))))
        body = body if packing == b"none" else struct.pack("<II", len(zlib.compress(body)), len(body)) + zlib.compress(body)
        out += struct.pack("<HHIQ", number, packing != b"none", 0, len(body)) + body
    for name in (b"", b"other"):
        begin, table = len(out), b""
        out += struct.pack("<HHIQ", 3, packing != b"none", 0, 0)
        for cpu, page in enumerate(pages):
            chunks = [zlib.compress(page[:PAGE]), zlib.compress(page[PAGE:])]
            body = page if packing == b"none" else b"".join(
                struct.pack("<II", len(c), size) + c for c, size in zip(chunks, (PAGE, 2 * PAGE)))
            table += struct.pack("<IQQ", cpu, len(out), len(body))
            out += (b"" if packing == b"none" else struct.pack("<I", 2)) + body
        new.append((3, struct.pack("<Q", begin) + name + b"\0mono\0" + struct.pack("<II", PAGE, len(pages)) + table))
    section = b"".join(struct.pack("<HI", k, len(v)) + v for k, v in new + [(0, bytes(8))])
    struct.pack_into("<Q", out, place, len(out))
    return bytes(out) + struct.pack("<HHIQ", 0, 0, 0, len(section)) + section


# --- perf.data ----------------------------------------------------------------------------------------------------------

def perf_data(data):
    entry, at, size, begin, length = struct.unpack_from("<QQQQQ", data, 16)
    flags = int.from_bytes(data[72:104], "little")
    features, place = {}, begin + length
    for feature in (k for k in range(256) if flags >> k & 1):
        offset, size_of = struct.unpack_from("<QQ", data, place)
        features[feature], place = data[offset:offset + size_of], place + 16
    tracing = features[1]
    head = tracing.index(b"\0", 10) + 1 + 1 + 1 + 4
    at_formats = head
    for _ in range(2):  # header_page, header_event
        at_formats = tracing.index(b"\0", at_formats) + 1
        at_formats += 8 + struct.unpack_from("<Q", tracing, at_formats)[0]
    own, = struct.unpack_from("<I", tracing, at_formats)
    at_formats += 4
    for _ in range(own):
        at_formats += 8 + struct.unpack_from("<Q", tracing, at_formats)[0]
    texts, ids = small(formats_in(tracing, at_formats))
    features = {k: features[k] for k in (3, 4, 5, 6, 29)}
    features[1] = tracing[:head] + headers() + struct.pack("<I", 0) + texts + struct.pack("<IIQ", 0, 0, 0)
    attributes = [(data[k:k + entry - 16], data[slice(*(lambda o, n: (o, o + n))(*struct.unpack_from("<QQ", data, k + entry - 16)))])
                  for k in range(at, at + size, entry)]
    attributes = [a for a in attributes if struct.unpack_from("<I", a[0])[0] != 2 or struct.unpack_from("<Q", a[0], 8)[0] in ids]
    records = some_records(data, begin, begin + length, {struct.unpack_from("<Q", i, k)[0] for _, i in attributes for k in (0, 8)})
    yield as_file(attributes, features, records)
    yield as_pipe(attributes, features, records)
    small_ones = subprocess.run(["zstd", "-q", "-c"], input=records, stdout=subprocess.PIPE, check=True).stdout
    yield as_file(attributes, features, struct.pack("<IHH", 81, 0, 8 + len(small_ones)) + small_ones)


def some_records(data, at, end, ids):
    """What perf found in /proc, a few; 60 samples of those kinds; what was lost; a mapping."""
    out, seen = b"", {}
    while at < end and seen.get(9, 0) < 60:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        limit = {9: 60, 3: 6, 7: 4, 10: 3, 1: 1}.get(kind, 0)
        if seen.get(kind, 0) < limit and (kind != 9 or struct.unpack_from("<Q", data, at + 8)[0] in ids):
            seen[kind] = seen.get(kind, 0) + 1
            out += data[at:at + size]
            last = data[at:at + size] if kind == 9 else b""
        at += size
    return out + struct.pack("<IHHQQ", 2, 0, 56, 0, 12) + last[24:48] + last[8:16]


def as_file(attributes, features, records):
    out, ids = bytearray(104), []
    for _, words in attributes:
        ids.append((len(out), len(words)))
        out += words
    table = len(out)
    for (attribute, _), where in zip(attributes, ids):
        out += attribute + struct.pack("<QQ", *where)
    begin = len(out)
    out += records
    at = len(out) + 16 * len(features)
    for k in sorted(features):
        out += struct.pack("<QQ", at, len(features[k]))
        at += len(features[k])
    out += b"".join(features[k] for k in sorted(features))
    entry = len(attributes[0][0]) + 16
    struct.pack_into("<8sQQQQQQQQ", out, 0, b"PERFILE2", 104, entry, table, entry * len(attributes), begin, len(records), 0, 0)
    out[72:104] = sum(1 << k for k in features).to_bytes(32, "little")
    return bytes(out)


def as_pipe(attributes, features, records):
    out = b"PERFILE2" + struct.pack("<Q", 16)
    for attribute, words in attributes:
        out += struct.pack("<IHH", 64, 0, 8 + len(attribute) + len(words)) + attribute + words
    for k, body in features.items():
        body += bytes(-len(body) % 8)
        out += (struct.pack("<IHHII", 66, 0, 16, len(body), 0) if k == 1 else struct.pack("<IHHQ", 80, 0, 16 + len(body), k)) + body
    return out + records


def main(place, out):
    os.makedirs(out, exist_ok=True)
    dump = json.dumps(DUMP).encode()
    found = [*trace_dat(read(place + "/ftrace/trace.dat")), *perf_data(read(place + "/perf/perf.data"))]
    for number, file in enumerate(found):
        beside = dump if number % 2 else b""
        seed = bytes([number + 1]) + struct.pack("<H", len(beside)) + beside + file
        with open(os.path.join(out, hashlib.sha1(seed).hexdigest()[:10]), "wb") as to:
            to.write(seed)


main(*sys.argv[1:])
