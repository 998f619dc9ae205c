# SPDX-License-Identifier: MIT
"""LTTng's metadata of CTF 1.8 as CTF 2 (CTF2-SPEC-2.0): the same layout of packets and
events, declared as lttng-tools 2.15 declares it. For the tests: no trace in that format can
be recorded where they run. Understands just what LTTng writes."""
import json
import re

TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|([A-Za-z_][A-Za-z_0-9.]*|-?\d+)|(:=|\.\.\.|[][{}<>:;=,()])')
ROLES = {"magic": "packet-magic-number", "stream_id": "data-stream-class-id",
         "stream_instance_id": "data-stream-id", "timestamp_end": "packet-end-default-clock-timestamp",
         "timestamp_begin": "default-clock-timestamp", "timestamp": "default-clock-timestamp",
         "content_size": "packet-content-length", "packet_size": "packet-total-length",
         "packet_seq_num": "packet-sequence-number", "id": "event-record-class-id",
         "events_discarded": "discarded-event-record-counter-snapshot"}


class Converter:
    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        self.tokens = [("text", m.group(1)) if m.group(1) is not None else ("word", m.group(2) or m.group(3))
                       for m in TOKEN.finditer(text)]
        self.at, self.aliases, self.fragments = 0, {}, []
        self.order, self.uuid, self.environment, self.trace = "little-endian", None, {}, {}

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead][1] if self.at + ahead < len(self.tokens) else None

    def take(self, expected=None):
        token = self.peek()
        assert expected is None or token == expected, (token, expected, self.tokens[self.at - 5:self.at + 5])
        self.at += 1
        return token

    def properties(self):
        self.take("{")
        found = {}
        while self.peek() != "}":
            name = self.take()
            self.take("=")
            found[name] = self.take()
            self.take(";")
        self.take("}")
        return found

    def integer(self):
        said = self.properties()
        order = {"be": "big-endian", "le": "little-endian"}.get(said.get("byte_order"), self.order)
        signed = said.get("signed") in ("1", "true")
        return {"type": "fixed-length-%s-integer" % ("signed" if signed else "unsigned"), "length": int(said["size"]),
                "alignment": int(said.get("align", 1)), "byte-order": order,
                **({"text": True} if said.get("encoding", "none") != "none" else {})}

    def enumeration(self):
        self.take(":")
        kind = dict(self.type())
        self.take("{")
        mappings, value = {}, 0
        while self.peek() != "}":
            label = self.take()
            if self.peek() == "=":
                self.take()
                value = int(self.take())
            last = value
            if self.peek() == "...":
                self.take()
                last = int(self.take())
            mappings.setdefault(label.lstrip("_"), []).append([value, last])
            value = last + 1
            if self.peek() == ",":
                self.take()
        self.take("}")
        return {**kind, "mappings": mappings}

    def members(self, packets):
        """(name, field class) of what stands in braces; lists get their lengths' names."""
        self.take("{")
        found = []
        while self.peek() != "}":
            kind = self.type([name for name, _ in found], dict(found))
            name = self.take()
            name = name[1:] if name.startswith("_") else name
            while self.peek() == "[":
                self.take()
                length = self.take()
                self.take("]")
                kind = self.list(kind, length)
            self.take(";")
            if packets and name in ROLES and "integer" in kind["type"]:
                kind = {**kind, "roles": [ROLES[name]]}
            if packets and name == "uuid":
                kind = {"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]}
            found.append((name, kind))
        self.take("}")
        return found

    @staticmethod
    def list(element, length):
        text = element.pop("text", False) if isinstance(element, dict) else False
        if length.isdigit():
            if text:
                return {"type": "static-length-string", "length": int(length)}
            return {"type": "static-length-array", "element-field-class": element, "length": int(length)}
        where = {"path": [length[1:] if length.startswith("_") else length]}
        return {"type": "dynamic-length-array", "element-field-class": element, "length-field-location": where}

    def structure(self, packets=False):
        if self.peek() != "{":
            return dict(self.aliases["struct " + self.take()])
        members = self.members(packets or self.deep)
        kind = {"type": "structure",
                "member-classes": [{"name": name, "field-class": self.clean(inner)} for name, inner in members]}
        if self.peek() == "align":
            self.take()
            self.take("(")
            kind["minimum-alignment"] = int(self.take())
            self.take(")")
        return kind

    @staticmethod
    def clean(kind):
        return {key: value for key, value in kind.items() if key != "text"}

    def variant(self, known):
        self.take("<")
        tag = self.take()
        tag = tag[1:] if tag.startswith("_") else tag
        self.take(">")
        options = []
        for name, inner in self.members(self.deep):
            ranges = known[tag]["mappings"][name]
            options.append({"name": name, "field-class": inner, "selector-field-ranges": ranges})
        return {"type": "variant", "selector-field-location": {"path": [tag]}, "options": options}

    deep = False

    def type(self, _names=(), known=None):
        word = self.take()
        if word == "integer":
            return self.integer()
        if word == "string":
            if self.peek() == "{":
                self.properties()
            return {"type": "null-terminated-string"}
        if word == "enum":
            return self.enumeration()
        if word == "struct":
            return self.structure()
        if word == "variant":
            return self.variant(known or {})
        if word == "unsigned":
            word += " " + self.take()
        return dict(self.aliases[word])

    def block(self, types):
        """name = value and name := type of a block; `types` are in packets' headers and the like."""
        self.take("{")
        found = {}
        while self.peek() != "}":
            name = self.take()
            if self.take() == ":=":
                self.deep = types
                self.take("struct")
                found[name] = self.structure(types)
                self.deep = False
            else:
                found[name] = self.tokens[self.at]
                self.take()
            self.take(";")
        self.take("}")
        self.take(";")
        return found

    def run(self):
        while self.peek():
            word = self.take()
            if word == "typealias":
                kind = self.type()
                self.take(":=")
                name = self.take()
                while self.peek() != ";":
                    name += " " + self.take()
                self.take(";")
                self.aliases[name] = kind
            elif word == "struct":
                name = self.take()
                self.deep = True
                self.aliases["struct " + name] = self.structure(True)
                self.deep = False
                self.take(";")
            else:
                self.top(word)
        trace = {"type": "trace-class", "environment": self.environment, **self.trace}
        preamble = {"type": "preamble", "version": 2, "uuid": list(bytes.fromhex(self.uuid.replace("-", "")))}
        return b"".join(b"\x1e" + json.dumps(f).encode() + b"\n" for f in [preamble, trace] + self.fragments)

    def top(self, word):
        said = self.block(word in ("trace", "stream"))
        value = lambda name, otherwise="0": said[name][1] if name in said else otherwise
        if word == "trace":
            self.uuid = value("uuid")
            self.trace = {"packet-header-field-class": said["packet.header"]}
        elif word == "env":
            self.environment = {k: v if kind == "text" else int(v) for k, (kind, v) in said.items()}
        elif word == "clock":
            offset = int(value("offset"))
            self.fragments.append({"type": "clock-class", "id": value("name"), "name": value("name"),
                                   "uid": value("uuid"), "frequency": int(value("freq")),
                                   "offset-from-origin": {"seconds": offset // 10 ** 9, "cycles": offset % 10 ** 9}})
        elif word == "stream":
            self.fragments.append({"type": "data-stream-class", "id": int(value("id")), "default-clock-class-id": "monotonic",
                                   "packet-context-field-class": said["packet.context"],
                                   "event-record-header-field-class": said["event.header"],
                                   **({"event-record-common-context-field-class": said["event.context"]}
                                      if "event.context" in said else {})})
        elif word == "event":
            self.fragments.append({"type": "event-record-class", "id": int(value("id")), "name": value("name"),
                                   "data-stream-class-id": int(value("stream_id")),
                                   **({"payload-field-class": said["fields"]} if "fields" in said else {})})


def convert(metadata):
    """The text of a CTF 1.8 metadata as the bytes of a CTF 2 metadata file."""
    return Converter(metadata).run()
