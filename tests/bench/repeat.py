#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""repeat.py TRACE COUNT DIRECTORY: a kernel trace COUNT times as long, for measuring.

Makes COUNT copies below DIRECTORY, each a trace of its own (UUID) of the same host, with a clock
that begins one trace's length later than the one before. Threads live on from one to the next.
Needs babeltrace2, for the metadata as text; TRACE's packets must be as lttng-modules 2.8 and later
write them (sizes in the packet context)."""
import os
import re
import struct
import subprocess
import sys
import uuid

if len(sys.argv) != 4:
    sys.exit("usage: repeat.py TRACE COUNT DIRECTORY")
source = [place for place, _, files in sorted(os.walk(sys.argv[1])) if "metadata" in files][0]


def packets(data):
    """Offset and times of each packet, behind its header of magic, UUID, stream and instance ID."""
    at = 0
    while at < len(data):
        begin, end, _, size = struct.unpack_from("<4Q", data, at + 32)
        yield at, begin, end
        at += size // 8


streams = {name: bytearray(open(os.path.join(source, name), "rb").read()) for name in os.listdir(source)
           if name not in ("metadata", "index")}
times = [t for data in streams.values() for _, *pair in packets(data) for t in pair]
metadata = subprocess.run(["babeltrace2", "-o", "ctf-metadata", source], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
own = re.search(r'(?<=uuid = ")[^"]+', metadata).group()
offset = re.search(r"(?<=offset = )\d+(?=;)", metadata)
for number in range(int(sys.argv[2])):
    place = os.path.join(sys.argv[3], "%03d" % number, "kernel")
    os.makedirs(place)
    new = uuid.uuid5(uuid.UUID(own), str(number))
    begins = int(offset.group()) + number * (max(times) - min(times) + 10**8)
    with open(os.path.join(place, "metadata"), "w") as file:
        file.write("/* CTF 1.8 */\n" + (metadata[:offset.start()] + str(begins) +
                                        metadata[offset.end():]).replace(own, str(new)))
    for name, data in streams.items():
        for at, *_ in packets(data):
            data[at + 4:at + 20] = new.bytes
        with open(os.path.join(place, name), "wb") as file:
            file.write(data)
