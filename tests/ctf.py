# SPDX-License-Identifier: MIT
"""Writes small CTF 1.8 traces as lttng-modules would, from events given as literals: for what no recorded trace has,
through the whole way of the data. One stream per CPU, one packet each unless asked for, fields not aligned; of a
little- or big-endian machine whose longs have 64 or 32 bits."""
import os
import struct

INTEGERS = {"i32": (32, 1, "i"), "u32": (32, 0, "I"), "i64": (64, 1, "q"), "u64": (64, 0, "Q"), "u8": (8, 0, "B"),
            "u16": (16, 0, "H")}
ORDERS = {"le": "<", "be": ">"}
MAGIC = 0xC1FC1FC1
UUID = bytes(range(16))
OFFSET = 1700000000000000000  # ns from the epoch to the clock's zero


class Layout:
    """How a machine writes what it records: `order` a key of ORDERS, `bits` of its longs ("long", "ulong")."""

    def __init__(self, order="le", bits=64):
        self.order, self.kinds = order, dict(INTEGERS)
        self.kinds.update(long=INTEGERS["i%d" % bits], ulong=INTEGERS["u%d" % bits])

    def integer(self, kind, more=""):
        size, is_signed, _ = self.kinds[kind]
        return "integer { size = %d; align = 8; signed = %d; byte_order = %s; %s}" % (size, is_signed, self.order, more)

    def pack(self, kinds, *values):
        """`kinds`: struct's letters; no padding."""
        return struct.pack(ORDERS[self.order] + kinds, *values)

    def declared(self, fields):
        """TSDL of a struct: fields are (name, type), type a key of `kinds`, 'string', or ['i32'] for a sequence."""
        out = []
        for name, kind in fields:
            if isinstance(kind, list):
                out.append("%s __%s_length; %s _%s[ __%s_length ];" % (
                    self.integer("u8"), name, self.integer(kind[0]), name, name))
            elif kind == "string":
                out.append("string _%s;" % name)
            else:
                out.append("%s _%s;" % (self.integer(kind), name))
        return " ".join(out)

    def packed(self, fields, values):
        out = b""
        for name, kind in fields:
            value = values[name]
            if isinstance(kind, list):
                out += self.pack("B", len(value)) + b"".join(self.pack(self.kinds[kind[0]][2], v) for v in value)
            elif kind == "string":
                out += value.encode() + b"\0"
            else:
                out += self.pack(self.kinds[kind][2], value)
        return out


class Trace:
    """classes: {event name: [(field, type)]}; context: [(field, type)] of every event. `offset`: what the tracer took
    for the clock's distance from the epoch. `user`: a user-space trace, with that text in its environment besides. `uuid`: of the host's clock, and of
    a kernel trace."""

    def __init__(self, classes, context=(), tracer=(2, 13, 0), kernel="6.1.0", hostname="crafted", layout=Layout(),
                 offset=OFFSET, user=None, uuid=UUID):
        self.classes, self.context, self.tracer, self.kernel = classes, list(context), tracer, kernel
        self.hostname, self.layout = hostname, layout
        self.offset, self.user = offset, user
        self.clock = uuid
        self.uuid = uuid if user is None else bytes(reversed(uuid))
        self.ids = {name: i for i, name in enumerate(classes)}
        self.cpus = {}

    def event(self, time, cpu, name, context=None, /, **values):
        """Times are ns from the clock's zero; per CPU they must not fall."""
        record = self.layout.pack("HQ", self.ids[name], time) + self.layout.packed(self.context, context or {})
        self.cpus.setdefault(cpu, []).append((time, record + self.layout.packed(self.classes[name], values)))

    def metadata(self):
        integer, declared = self.layout.integer, self.layout.declared
        clock = integer("u64", "map = clock.monotonic.value; ")
        context = "event.context := struct { %s };" % declared(self.context) if self.context else ""
        text = """/* CTF 1.8 */
trace { major = 1; minor = 8; uuid = "%s"; byte_order = %s;
  packet.header := struct { %s magic; %s uuid[16]; %s stream_id; }; };
env { hostname = "%s"; %s
  tracer_major = %d; tracer_minor = %d; tracer_patchlevel = %d; };
clock { name = "monotonic"; uuid = "%s"; description = "Monotonic Clock"; freq = 1000000000; offset = %d; };
stream { id = 0; event.header := struct { %s id; %s timestamp; };
  packet.context := struct { %s timestamp_begin; %s timestamp_end; %s content_size; %s packet_size; %s events_discarded;
    %s cpu_id; };
  %s };
""" % (uuid_text(self.uuid), self.layout.order, integer("u32"), integer("u8"), integer("u32"), self.hostname,
            'domain = "kernel"; sysname = "Linux"; kernel_release = "%s"; tracer_name = "lttng-modules";' % self.kernel
            if self.user is None else 'domain = "ust"; tracer_name = "lttng-ust"; ' + self.user,
            *self.tracer, uuid_text(self.clock), self.offset, integer("u16"), clock, clock, clock, integer("u64"), integer("u64"),
            integer("u64"), integer("u32"), context)
        for name, number in self.ids.items():
            text += 'event { name = "%s"; id = %d; stream_id = 0; fields := struct { %s }; };\n' % (
                name, number, declared(self.classes[name]))
        return text

    def write(self, directory, packet_events=None):
        """One packet a CPU, or one each `packet_events` events."""
        os.makedirs(directory)
        with open(directory + "/metadata", "w", encoding="ascii") as file:
            file.write(self.metadata())
        for cpu, events in self.cpus.items():
            step = packet_events or len(events)
            with open(directory + "/channel0_%d" % cpu, "wb") as file:
                for at in range(0, len(events), step):
                    file.write(self.packet(cpu, events[at:at + step]))
        return directory

    def packet(self, cpu, events):
        body = b"".join(record for _, record in events)
        head = self.layout.pack("I16sI", MAGIC, self.uuid, 0)
        size = 8 * (len(head) + 5 * 8 + 4 + len(body))
        return head + self.layout.pack("QQQQQI", events[0][0], events[-1][0], size, size, 0, cpu) + body


def uuid_text(uuid):
    text = uuid.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
