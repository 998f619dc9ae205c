# SPDX-License-Identifier: MIT
"""A trace.dat taken apart, by what trace-cmd.dat.v6(5) and the kernel's include/linux/ring_buffer.h say; shares no code
with whylate."""
import os
import re
import struct
import sys


class TraceDat:
    """Its sections: each must be where the one before says, to the last byte."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.at = 0
        assert self.take(10) == b"\x17\x08\x44tracing" and self.text() == b"6"
        assert self.take(2) == bytes([sys.byteorder == "big", struct.calcsize("l")])
        self.page = self.number(4)
        assert self.page == os.sysconf("SC_PAGESIZE")
        for name in (b"header_page", b"header_event"):
            assert self.text() == name
            assert b"field:" in self.take(self.number(8)) or name == b"header_event"
        self.own = [self.take(self.number(8)) for _ in range(self.number(4))]
        self.formats = {}
        for _ in range(self.number(4)):
            system = self.text().decode()
            for _ in range(self.number(4)):
                text = self.take(self.number(8)).decode()
                self.formats[system + ":" + re.match(r"name: (\S+)\n", text).group(1)] = text
        self.take(self.number(4))
        self.take(self.number(4))
        self.take(self.number(8))
        cpus = self.number(4)
        assert self.take(10) == b"options  \0"
        self.options = []
        while (option := self.number(2)) != 0:
            self.options.append((option, self.take(self.number(4))))
        assert self.take(10) == b"flyrecord\0"
        parts = [(self.number(8), self.number(8)) for _ in range(cpus)]
        assert parts[0][0] % self.page == 0 and self.at <= parts[0][0], (parts, self.at)
        for (at, size), after in zip(parts, parts[1:] + [(len(self.data), 0)]):
            assert at + size == after[0] and size % self.page == 0, (parts, len(self.data))
        self.pages = [[self.data[p:p + self.page] for p in range(at, at + size, self.page)] for at, size in parts]

    def take(self, size):
        self.at += size
        assert self.at <= len(self.data), "cut"
        return self.data[self.at - size:self.at]

    def number(self, size):
        return int.from_bytes(self.take(size), sys.byteorder)

    def text(self):
        end = self.data.index(b"\0", self.at)
        found = self.data[self.at:end]
        self.at = end + 1
        return found

    def ids(self):
        return {int(re.search(r"^ID: (\d+)", text, re.M).group(1)): name for name, text in self.formats.items()}

    def events(self):
        """Name, time in ns and bytes of each, CPU by CPU (ring_buffer.h: type_len, time_delta)."""
        names = self.ids()
        for pages in self.pages:
            for page in pages:
                now, commit = struct.unpack_from("=QQ", page)
                at, end = 16, 16 + (commit & 0xfffffff)
                while at < end:
                    word, = struct.unpack_from("=I", page, at)
                    kind, delta = word & 31, word >> 5
                    at += 4
                    if kind == 29:  # padding
                        at += struct.unpack_from("=I", page, at)[0]
                        break
                    if kind in (30, 31):  # time that passed; a time
                        now = (now if kind == 30 else 0) + delta + (struct.unpack_from("=I", page, at)[0] << 27)
                        at += 4
                        continue
                    now += delta
                    size = struct.unpack_from("=I", page, at)[0] - 4 if kind == 0 else kind * 4
                    at += 4 * (kind == 0)
                    body = page[at:at + size]
                    at += (size + 3) & ~3
                    yield names[struct.unpack_from("=H", body)[0]], now, body
