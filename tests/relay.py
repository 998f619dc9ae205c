# SPDX-License-Identifier: MIT
"""A relay daemon for tests: plays a recorded trace to src.ctf.lttng-live as
lttng-relayd does for a live session, on the loopback interface.

    with Relay(directory, pace=0.0) as relay:
        babeltrace2 --input-format=lttng-live relay.url

What it plays are the packets of the trace's files; between them it says that a
stream is inactive up to some time (a beacon), as a live session's timer does, or
that there is nothing yet. After the last packet of all streams it goes on with
beacons for `idle` seconds of trace time, then hangs up once `hold` is set.

The protocol (LTTng live, version 2.4; big-endian): each command is a head of
data size (u64), command (u32), version (u32), and its data.
"""
import os
import socket
import struct
import threading
import time

CONNECT, LIST, ATTACH, NEXT_INDEX, PACKET, METADATA, NEW_STREAMS, CREATE, DETACH = range(1, 10)
INDEX_OK, INDEX_RETRY, INDEX_HUP, INDEX_ERROR, INDEX_INACTIVE = range(1, 6)
NEW_METADATA = 1
HOSTNAME, SESSION = "testhost", "play"
TIMEOUT = 600  # seconds: a test that hangs ends by itself
# of lttng-modules 2.8+: magic, UUID, stream class, stream, begin, end, content, packet size,
# sequence number, events discarded
PACKET_HEAD = struct.Struct("<I16sIQQQQQQQ")
MAGIC = 0xC1FC1FC1


class Stream:
    def __init__(self, number, path):
        self.number, self.path, self.name = number, path, os.path.basename(path)
        self.next = self.beacons = 0
        self.packets = []  # (offset, packet head)
        with open(path, "rb") as file:
            self.data = file.read()
        at = 0
        while self.name != "metadata" and at < len(self.data):
            head = PACKET_HEAD.unpack_from(self.data, at)
            assert head[0] == MAGIC and head[7], (path, at)
            self.packets.append((at, head))
            at += head[7] // 8


class Relay:
    """`pace`: seconds of real time that each answer takes; `beacons`: of them before each packet;
    `idle`: ns of trace time that goes on after the last packet, in steps of `step`."""

    def __init__(self, kernel, pace=0.0, beacons=1, idle=0, step=100_000_000):
        self.pace, self.beacons, self.idle, self.step = pace, beacons, idle, step
        self.hold = threading.Event()  # clear: the session does not end
        self.hold.set()
        self.failure = None
        self.drained = threading.Event()  # all packets and beacons are played, and more was asked for
        self.asked_again = 0
        names = sorted(n for n in os.listdir(kernel)
                       if n != "index" and os.path.getsize(os.path.join(kernel, n)))
        self.streams = [Stream(i + 1, os.path.join(kernel, n)) for i, n in enumerate(names)]
        self.last = max(p[1][5] for s in self.streams for p in s.packets)
        self.class_ids = {s.number: s.packets[0][1][2] for s in self.streams if s.packets}
        self.metadata_sent = False
        self.quiet = {}
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.settimeout(TIMEOUT)
        self.url = "net://127.0.0.1:%d/host/%s/%s" % (self.server.getsockname()[1], HOSTNAME, SESSION)
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.hold.set()
        try:
            self.server.shutdown(socket.SHUT_RDWR)  # ends accept()
        except OSError:
            pass
        self.server.close()
        self.thread.join(TIMEOUT)
        if self.failure:
            raise self.failure

    def serve(self):
        try:
            while True:  # babeltrace2 first asks what the input is like, perhaps
                client, _ = self.server.accept()
                client.settimeout(TIMEOUT)
                with client:
                    self.talk(client)
        except OSError:
            pass  # closed: the test is over
        except Exception as error:  # pylint: disable=broad-except
            self.failure = error

    def talk(self, client):
        answers = {CONNECT: self.connect, LIST: self.list, ATTACH: self.attach,
                   NEXT_INDEX: self.next_index, PACKET: self.packet, METADATA: self.metadata,
                   NEW_STREAMS: self.new_streams, CREATE: lambda data: struct.pack(">I", 1),
                   DETACH: lambda data: struct.pack(">I", 1)}
        while True:
            head = self.receive(client, 16)
            if not head:
                return
            size, command, _ = struct.unpack(">QII", head)
            data = self.receive(client, size)
            if self.pace:
                time.sleep(self.pace)
            client.sendall(answers[command](data))

    @staticmethod
    def receive(client, size):
        data = b""
        while len(data) < size:
            try:
                more = client.recv(size - len(data))
            except ConnectionError:
                more = b""
            if not more:
                return b""
            data += more
        return data

    @staticmethod
    def connect(data):
        return struct.pack(">QIII", 1, 2, 4, struct.unpack(">QIII", data)[3])

    def list(self, _):
        return struct.pack(">IQIII64s255s", 1, 1, 1000, 0, len(self.streams), HOSTNAME.encode(),
                           SESSION.encode())

    def attach(self, _):
        self.metadata_sent = False
        streams = b"".join(struct.pack(">QQI4096s255s", s.number, 1, s.name == "metadata",
                                       b"kernel", s.name.encode()) for s in self.streams)
        return struct.pack(">II", 1, len(self.streams)) + streams

    def new_streams(self, _):
        over = all(s.name == "metadata" or self.over(s) for s in self.streams)
        return struct.pack(">II", 4 if over else 2, 0)

    def over(self, stream):
        return (stream.next == len(stream.packets) and self.hold.is_set() and
                self.quiet.get(stream.number, 0) >= self.idle)

    def metadata(self, _):
        text = b"" if self.metadata_sent else self.streams[self.names().index("metadata")].data
        self.metadata_sent = True
        return struct.pack(">QI", len(text), 1 if text else 2) + text

    def names(self):
        return [s.name for s in self.streams]

    def next_index(self, data):
        stream = self.streams[struct.unpack(">Q", data)[0] - 1]
        flags = 0 if self.metadata_sent else NEW_METADATA
        if stream.next == len(stream.packets):
            return self.after_last(stream, flags)
        offset, head = stream.packets[stream.next]
        if stream.beacons < self.beacons:
            stream.beacons += 1
            return self.index(stream, INDEX_INACTIVE, flags, end=head[4] - 1)
        stream.beacons = 0
        stream.next += 1
        return self.index(stream, INDEX_OK, flags, offset, head)

    def after_last(self, stream, flags):
        quiet = self.quiet.get(stream.number, 0)
        if quiet < self.idle:
            self.quiet[stream.number] = quiet + self.step
            return self.index(stream, INDEX_INACTIVE, flags, end=self.last + quiet + self.step)
        if self.hold.is_set():
            return self.index(stream, INDEX_HUP, flags)
        # who asks again and again for more has handed on what there was
        if all(s.next == len(s.packets) for s in self.streams):
            self.asked_again += 1
        if self.asked_again >= 2 * len(self.streams):
            self.drained.set()
        return self.index(stream, INDEX_RETRY, flags)

    def index(self, stream, status, flags, offset=0, head=None, end=0):
        _, _, class_id, _, begin, packet_end, content, size, _, discarded = head or [0] * 10
        return struct.pack(">QQQQQQQII", offset, size, content, begin, packet_end if head else end,
                           discarded, class_id if head else self.class_ids[stream.number], status,
                           flags)

    def packet(self, data):
        number, offset, length = struct.unpack(">QQI", data)
        part = self.streams[number - 1].data[offset:offset + length]
        return struct.pack(">III", 1, len(part), 0) + part
