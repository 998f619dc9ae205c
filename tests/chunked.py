# SPDX-License-Identifier: MIT
"""Recorded traces laid out as `lttng rotate` does: their packets divided between chunks."""
import os
import shutil
import struct

# packet header of lttng-modules 2.8+: magic, UUID, stream id, stream instance id; then the context: begin, end, content
# size, packet size (bits)
PACKET_SIZE_AT = 4 + 16 + 4 + 8 + 8 + 8 + 8


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


def chunk_name(number):
    return "20261121T0913%02d+0000-20261121T0913%02d+0000-%d" % (14 + number, 15 + number, number)


def rotate(kernel, place, count=2):
    """The chunks of a session at `place` that was rotated count - 1 times: [{stream: packets}], of each chunk."""
    found = [{} for _ in range(count)]
    for number in range(count):
        chunk = os.path.join(place, "archives", chunk_name(number), "kernel")
        os.makedirs(chunk)
        shutil.copy(os.path.join(kernel, "metadata"), chunk)
    for name in sorted(os.listdir(kernel)):
        path = os.path.join(kernel, name)
        if name in ("metadata", "index") or not os.path.getsize(path):
            continue
        parts = packets(path)
        for number in range(count):
            some = parts[len(parts) * number // count:len(parts) * (number + 1) // count]
            found[number][name] = some
            if some:
                with open(os.path.join(place, "archives", chunk_name(number), "kernel", name), "wb") as file:
                    file.write(b"".join(some))
    symbols = os.path.join(os.path.dirname(kernel), "..", "kallsyms")
    if os.path.exists(symbols):  # of the functions in its call stacks
        shutil.copy(symbols, place)
    return found


def kernel_of(directory):
    for path, _, files in os.walk(directory):
        if "metadata" in files and "/ust/" not in path + "/":
            return path
    raise AssertionError("no trace in " + directory)
