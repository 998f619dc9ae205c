# SPDX-License-Identifier: MIT
"""Readers of exported formats that are not whylate's: protoc with the published field numbers (tests/export/*.proto),
Python's json, csv, sqlite3 and gzip. Each gives plain lists, so that a test can count and add up.

A timeline is Timeline(slices, arrows): slices are (pid, tid, category, name, begin, end) in ns, sorted, the CPUs' of pid
None and the CPU's number (the second host's moved by STEP); arrows are (number, begin, end), each (pid, tid, ns).
"""
import ast
import collections
import gzip
import json
import re
import subprocess

from whylate_test import SOURCE

Timeline = collections.namedtuple("Timeline", "slices arrows threads")
STEP = 10000000  # by which numbers of the second host are moved, whylate-export(1)


def protoc(message, proto, data):
    """The text of a message that is encoded in `data`."""
    done = subprocess.run(["protoc", "-I" + SOURCE + "/tests/export", "--decode=" + message, proto], input=data,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    text = done.stdout.decode()
    unknown = re.findall(r"^ *\d+[: ].*", text, re.M)
    assert not unknown, "fields that are not published: %s" % unknown[:3]
    return text


def parse(text):
    """protoc's text as nested dicts of lists: {"packet": [{…}]}."""
    top = {}
    stack = [top]
    for line in text.splitlines():
        line = line.strip()
        if line == "}":
            stack.pop()
        elif line.endswith("{"):
            inner = {}
            stack[-1].setdefault(line[:-2], []).append(inner)
            stack.append(inner)
        else:
            key, value = line.split(": ", 1)
            if value[0] == '"':  # escaped as C has it
                value = ast.literal_eval("b" + value).decode()
            elif value.lstrip("-").isdigit():
                value = int(value)
            stack[-1].setdefault(key, []).append(value)
    assert len(stack) == 1
    return top


def one(message, key, default=None):
    values = message.get(key, [default])
    assert len(values) == 1, (key, values)
    return values[0]


class Tracks:
    """What a reader of Perfetto's format keeps for the one packet sequence: descriptors, interned texts."""

    def __init__(self):
        self.of, self.hosts, self.texts = {}, [], {"event_categories": {}, "event_names": {}, "debug_annotation_names": {}}

    def describe(self, track):
        uuid = one(track, "uuid")
        assert uuid not in self.of, "a track described twice"
        name = one(track, "name", "")
        if "thread" in track:
            thread = one(track, "thread")
            assert "process" in self.of[one(track, "parent_uuid")], "a thread without its process"
            self.of[uuid] = (one(thread, "pid"), one(thread, "tid"), one(thread, "thread_name"))
        elif "process" in track:
            self.of[uuid] = ("process", one(one(track, "process"), "pid"))
        elif name.startswith("CPU "):
            self.of[uuid] = (None, int(name[4:]) + STEP * self.hosts.index(one(track, "parent_uuid")), None)
        else:
            self.hosts.append(uuid)
            self.of[uuid] = ("CPUs", name)

    def intern(self, data):
        for kind in self.texts.keys() & data.keys():
            for entry in data[kind]:
                number = one(entry, "iid")
                assert number > 0 and number not in self.texts[kind], "interned twice"
                self.texts[kind][number] = one(entry, "name")


def perfetto(path):
    """Slices are paired as trace_processor does: by track, in order of time, the last begun ends first."""
    with open(path, "rb") as file:
        packets = parse(protoc("perfetto.protos.Trace", "perfetto.proto", file.read()))["packet"]
    tracks, events, flows = Tracks(), [], {}
    cleared = False
    for packet in packets:
        assert one(packet, "trusted_packet_sequence_id") == 1
        cleared |= one(packet, "sequence_flags", 0) & 1
        if "track_descriptor" in packet:
            tracks.describe(one(packet, "track_descriptor"))
        if "interned_data" in packet:
            tracks.intern(one(packet, "interned_data"))
        if "track_event" not in packet:
            continue
        event = one(packet, "track_event")
        assert cleared and one(packet, "sequence_flags") & 2, "interned names without their state"
        name = category = None
        if one(event, "type") != "TYPE_SLICE_END":
            name = tracks.texts["event_names"][one(event, "name_iid")]
            category = tracks.texts["event_categories"][one(event, "category_iids")]
        events.append((one(packet, "timestamp"), one(event, "track_uuid"), one(event, "type"), category, name,
                       event.get("flow_ids", []), event.get("terminating_flow_ids", [])))
    events.sort(key=lambda e: e[0])  # stable
    slices, stacks = [], collections.defaultdict(list)
    for time, uuid, kind, category, name, begins, ends in events:
        pid, tid, _ = tracks.of[uuid]
        for flow in begins:
            assert flow not in flows, "an arrow that begins twice"
            flows[flow] = [(pid, tid, time), None]
        for flow in ends:
            assert flow not in flows or not flows[flow][1], "an arrow that ends twice"
            flows.setdefault(flow, [None, None])[1] = (pid, tid, time)
        if kind == "TYPE_SLICE_BEGIN":
            stacks[uuid].append((time, category, name))
        elif kind == "TYPE_SLICE_END":
            begin, category, name = stacks[uuid].pop()
            slices.append((pid, tid, category, name, begin, time))
        else:
            slices.append((pid, tid, category, name, time, time))
    assert not any(stacks.values()), "slices that never end"
    threads = {(track[0], track[1]): track[2] for track in tracks.of.values() if isinstance(track[0], int)}
    key = lambda s: tuple(-1 if part is None else part for part in s)  # noqa: E731
    return Timeline(sorted(slices, key=key), sorted((n, *ends) for n, ends in flows.items()), threads)


def perfetto_samples(path):
    """[(ns, pid, tid, names of the functions, outermost first, whether the innermost is the kernel's)]"""
    with open(path, "rb") as file:
        packets = parse(protoc("perfetto.protos.Trace", "perfetto.proto", file.read()))["packet"]
    kinds = ("function_names", "frames", "callstacks", "mapping_paths", "source_paths", "mappings")
    known = {kind: {} for kind in kinds}
    samples = []
    for packet in packets:
        for kind in kinds:
            for entry in one(packet, "interned_data", {}).get(kind, []):
                assert one(entry, "iid") > 0 and one(entry, "iid") not in known[kind], "interned twice"
                known[kind][one(entry, "iid")] = entry
        if "perf_sample" not in packet:
            continue
        assert one(packet, "sequence_flags") & 2, "interned stacks without their state"
        sample = one(packet, "perf_sample")
        assert "cpu" not in sample, "nobody kept that"
        frames = [known["frames"][number] for number in known["callstacks"][one(sample, "callstack_iid")]["frame_ids"]]
        for frame in frames:
            assert "rel_pc" in frame  # must be where a mapping is
            for path_number in known["mappings"][one(frame, "mapping_id")]["path_string_ids"]:
                assert one(known["mapping_paths"][path_number], "str")
            if "line_number" in frame:
                assert one(known["source_paths"][one(frame, "source_path_iid")], "str")
        samples.append((one(packet, "timestamp"), one(sample, "pid"), one(sample, "tid"),
                        [one(known["function_names"][one(frame, "function_name_id")], "str") for frame in frames],
                        one(sample, "cpu_mode") == "MODE_KERNEL"))
    return samples


def ns(number):
    """µs with three decimals, as text so that nothing is rounded."""
    whole, part = number.split(".")
    return int(whole) * 1000 + int(part)


def trace_event(path):
    """Begins and ends are paired by thread, in order of time, as viewers do."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file, parse_float=ns)
    origin = int(document["otherData"]["begin_ns"])
    cpus, threads, slices, flows, stacks = set(), {}, [], {}, collections.defaultdict(list)
    arguments = collections.defaultdict(list)
    for event in sorted(document["traceEvents"], key=lambda e: e.get("ts", -1)):  # stable
        who = (event["pid"], event["tid"])
        if event["ph"] == "M" and event["name"] == "process_name" and event["args"]["name"].startswith("CPUs"):
            cpus.add(event["pid"])
        elif event["ph"] == "M" and event["name"] == "thread_name" and event["pid"] not in cpus:
            threads[who] = event["args"]["name"]
        if event["ph"] == "M":
            continue
        if event["pid"] in cpus:
            who = (None, event["tid"])
        time = origin + event["ts"]
        if event["ph"] == "B":
            stacks[who].append((*who, event["cat"], event["name"], time))
            arguments[who].append(event.get("args"))
        elif event["ph"] == "E":
            assert event.get("args") == arguments[who].pop(), event  # some readers keep an end's only
            slices.append((*stacks[who].pop(), time))
            assert event["name"] == slices[-1][3], event
        elif event["ph"] == "X":
            assert event["dur"] == 0
            slices.append((*who, event["cat"], event["name"], time, time))
        else:
            ends = flows.setdefault(event["id"], [None, None])
            assert event["ph"] in "sf" and ends["sf".index(event["ph"])] is None
            assert event["ph"] == "s" or event["bp"] == "e"
            ends["sf".index(event["ph"])] = (*who, time)
    assert not any(stacks.values()), "slices that never end"
    key = lambda s: tuple(-1 if part is None else part for part in s)  # noqa: E731
    return Timeline(sorted(slices, key=key), sorted((n, *ends) for n, ends in flows.items()), threads)


def speedscope(path):
    """{profile's name: [(names of the open frames, outermost first, begin, end)]}, by the rules that the format's
    description gives: balanced, in order, indices into the shared frames, within startValue and endValue."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    profiles = collections.defaultdict(list)
    for profile in document["profiles"]:
        assert profile["type"] in ("evented", "sampled") and profile["unit"] == "nanoseconds"
        if profile["type"] == "sampled":
            continue
        stack, last = [], profile["startValue"]
        for event in profile["events"]:
            assert last <= event["at"] <= profile["endValue"], "out of order"
            if stack and event["at"] > last:
                profiles[profile["name"]].append((tuple(frames[f] for f in stack), last, event["at"]))
            last = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert event["type"] == "C" and stack.pop() == event["frame"], "not balanced"
        assert not stack, "a frame that is never closed"
        profiles[profile["name"]] += []
    return dict(profiles)


def speedscope_samples(path):
    """{profile's name: [(names of the frames, outermost first, weight)]}"""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    profiles = {}
    for profile in document["profiles"]:
        if profile["type"] != "sampled":
            continue
        assert len(profile["samples"]) == len(profile["weights"]) and min(profile["weights"]) > 0
        assert (profile["startValue"], profile["endValue"]) == (0, sum(profile["weights"]))
        profiles[profile["name"]] = [([frames[f] for f in stack], weight)
                                     for stack, weight in zip(profile["samples"], profile["weights"])]
    return profiles


def folded(data):
    """{stack: ns}: a line as flamegraph.pl takes it apart."""
    stacks = collections.Counter()
    for line in data.decode().splitlines():
        stack, weight = re.fullmatch(r"(.*) (\d+)", line).groups()
        frames = tuple(stack.split(";"))
        assert frames not in stacks and all(frames), line
        stacks[frames] = int(weight)
    return stacks


def pprof(data):
    """[(frames, outermost first, count, ns, labels)], and the names of the two values."""
    text = protoc("perftools.profiles.Profile", "profile.proto", gzip.decompress(data))
    profile = parse(text)
    strings = profile["string_table"]
    assert strings[0] == "" and len(set(strings)) == len(strings)
    names = {one(f, "id"): strings[one(f, "name")] for f in profile["function"]}
    locations = {one(place, "id"): names[one(one(place, "line"), "function_id")] for place in profile["location"]}
    assert len(locations) == len(profile["location"]) and 0 not in locations
    types = [(strings[one(v, "type")], strings[one(v, "unit")]) for v in profile["sample_type"]]
    assert strings[one(profile, "default_sample_type")] in [name for name, _ in types]
    samples = []
    for sample in profile["sample"]:
        labels = {strings[one(label, "key")]: strings[one(label, "str")] if "str" in label else one(label, "num", 0)
                  for label in sample["label"]}
        count, time = sample["value"]
        samples.append((tuple(locations[number] for number in reversed(sample["location_id"])), count, time, labels))
    return samples, types
