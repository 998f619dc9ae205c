# SPDX-License-Identifier: MIT
"""whylate serve: its answers are those of the JSON reports, to the nanosecond; who may not ask is refused; nothing that
comes in ends it, and signals do. The Trace Server Protocol is driven by the client that trace viewers use, on node (its
package comes from npm's registry, where ./check installs it; nothing else reaches a network)."""
import base64
import collections
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import whylate_test as t
from server import PATH_TYPE, THREAD, TRACE, Server, experiment, model, whole

tap = t.Tap()


# --- the answers are the reports' -------------------------------------------------------------------------------------

def rows_of_tree(tree):
    """[{column: cell}]"""
    names = [header["name"] for header in tree["headers"]]
    return [dict(zip(names, entry["labels"])) for entry in tree["entries"]]


def flat(record, prefix=""):
    """The record as a row of a data tree has it."""
    found = {}
    for key, value in record.items():
        if isinstance(value, dict):
            found.update(flat(value, prefix + key + "."))
        elif not isinstance(value, list):
            found[prefix + key] = ("true" if value else "false") if isinstance(value, bool) else \
                "" if value is None else repr(value) if isinstance(value, float) else str(value)
    return found


def same_rows(rows, records):
    assert len(rows) == len(records), (len(rows), len(records))
    for row, record in zip(rows, records):
        want = flat(record)
        for key, value in row.items():
            have = want.get(key, "")
            assert value == have or (have and value and float(value) == float(have)), (key, value, have)
        assert set(want) <= set(row), set(want) - set(row)


def check_trees(trees):
    """`trees`: output -> its model."""
    overview = t.report("overview", TRACE, "--limit", "0")
    for output, member in (("states", "threads"), ("waits", "waits"), ("bottlenecks", "waiting"), ("findings", "findings")):
        assert overview[member]
        same_rows(rows_of_tree(trees(output)), overview[member])
    same_rows(rows_of_tree(trees("requests")), t.report("requests", TRACE, "--limit", "0")["requests"])


def check_states(entries, rows):
    """The states of each thread add up to what the delay report has of it, and tile its life."""
    tids = {int(e["id"]): int(e["labels"][1]) for e in entries if e.get("hasData", True)}
    threads = {thread["tid"]: thread for thread in
               t.report("delay", TRACE, "--thread", "all", "--limit", "0", "--depth", "1")["threads"]}
    assert len(rows) == len(tids) == len(threads)
    for row in rows:
        thread = threads[tids[int(row["entryId"])]]
        sums = collections.Counter()
        at = int(row["states"][0]["start"])
        for state in row["states"]:
            assert int(state["start"]) == at, (state, at)
            at = int(state["end"])
            key = state["style"]["parentKey"]
            sums["blocked" if key.startswith("cause-") else key] += at - int(state["start"])
        have = {child["key"]: child["ns"] for child in thread["summary"]["children"]}
        assert sums["working-user"] + sums["working-kernel"] == have.get("working", 0), thread["name"]
        assert sums["interrupted"] + sums["ready"] == have.get("interrupted", 0), (thread["name"], sums, have)
        assert sums["blocked"] == have.get("blocked", 0), thread["name"]
        assert sums["unknown"] == have.get("unknown", 0), thread["name"]


def check_sampled(full, sampled):
    """What is sampled is true, and holds each time that was asked for."""
    states = {int(row["entryId"]): {(int(s["start"]), int(s["end"]), s["style"]["parentKey"].split("-")[0])
                                    for s in row["states"]} for row in full}
    for row in sampled:
        mine = states[int(row["entryId"])]
        short = {(begin, end): kind for begin, end, kind in mine}
        for state in row["states"]:
            kind = short[int(state["start"]), int(state["end"])]
            assert state["style"]["parentKey"].split("-")[0] in (kind, "blocked"), state
        times = [(int(s["start"]), int(s["end"])) for s in row["states"]]
        assert times == sorted(set(times))


def check_path(tree, rows, arrows):
    path = t.report("delay", TRACE, "--thread", THREAD, "--limit", "0")["critical_path"]
    assert path
    tids = {int(e["id"]): int(e["labels"][1]) for e in tree["entries"]}
    have = sorted((int(s["start"]), int(s["end"]), tids[int(row["entryId"])]) for row in rows for s in row["states"])
    want = sorted((s["begin"], s["end"], s["tid"]) for s in path)
    assert have == want, (have[:5], want[:5], len(have), len(want))
    hops = sum(a[2] != b[2] for a, b in zip(want, want[1:]))
    assert len(arrows) == hops, (len(arrows), hops)


def check_histograms(names, series):
    """`names`: entry -> the profile's name."""
    profiles = {p["operation"]: p for p in t.report("profile", TRACE, "--limit", "0")["profiles"]}
    assert set(names.values()) == set(profiles)
    assert len(series) == len(profiles)
    for one in series:
        buckets = profiles[one["seriesName"]]["buckets"]
        assert [int(y) for y in one["yValues"]] == [b["count"] for b in buckets]
        assert [(int(x["start"]), int(x["end"]) + 1) for x in one["xRanges"]] == [(b["from_ns"], b["to_ns"]) for b in buckets]


def check_lapses(series, operations=()):
    arguments = [a for operation in operations for a in ("--operation", operation)]
    profiles = {p["operation"]: p for p in t.report("profile", TRACE, "--limit", "0", *arguments)["profiles"]}
    assert {one["seriesName"].split()[0] for one in series} == set(profiles)
    for one in series:
        assert sum(int(y) for y in one["yValues"]) == profiles[one["seriesName"].split()[0]]["count"], one["seriesName"]
        assert len(one["xValues"]) == len(one["yValues"])


def check_cpu_use(series, begin, end):
    """Steps are as wide as each other, so their mean is that of all: who ran is in the exported table of runs."""
    runs = [line.split(",") for line in
            t.output("export", TRACE, "--as", "csv", "--table", "runs").decode().splitlines()]
    column = {name: i for i, name in enumerate(runs[0])}
    busy = collections.Counter()
    for run in runs[1:]:
        if run[column["thread"]]:
            busy[int(run[column["cpu"]])] += int(run[column["ns"]])
    for one in series:
        times = [int(x) for x in one["xValues"]] + [end]
        assert times[0] == begin
        total = sum(float(y) / 100 * (b - a) for y, a, b in zip(one["yValues"], times, times[1:]))
        want = busy[int(one["seriesName"].split()[1])] if one["seriesName"] != "All CPUs" else \
            sum(busy.values()) / len(busy)
        assert abs(total - want) <= 1e-6 * want + 100, (one["seriesName"], total, want)


def check_operations(lines, size):
    profiles = {p["operation"]: p for p in t.report("profile", TRACE, "--limit", "0")["profiles"]}
    count, sums = collections.Counter(), collections.Counter()
    assert len(lines) == int(size)
    for line in lines:
        _, lasted, name, _ = [cell["content"] for cell in line["cells"]]
        count[name] += 1
        sums[name] += int(lasted)
    for name, profile in profiles.items():
        if name.startswith("syscall:"):
            assert (count[name], sums[name]) == (profile["count"], profile["sum_ns"]), name


def by_hand():
    with Server() as server:
        one = experiment(server)
        times = {"requested_timerange": whole(one)}
        assert one["nbEvents"] == t.report(TRACE)["coverage"]["events"]
        check_trees(lambda output: model(server, "data/%s/tree" % output, {}))
        tree = model(server, "timeGraph/threads/tree", {})
        items = [e["id"] for e in tree["entries"] if e["hasData"]]
        parents = {e["id"] for e in tree["entries"]} | {-1}
        assert all(e["parentId"] in parents for e in tree["entries"])
        rows = model(server, "timeGraph/threads/states", {**times, "requested_items": items})["rows"]
        check_states(tree["entries"], rows)
        for steps in (1, 2, 77, 5000):
            sampled = model(server, "timeGraph/threads/states", {
                "requested_timerange": {**whole(one), "nbTimes": steps}, "requested_items": items})["rows"]
            check_sampled(rows, sampled)
            assert sum(len(r["states"]) for r in sampled) <= steps * len(items)
        # a range within: states keep their true begins and ends
        middle = (one["start"] + one["end"]) // 2
        cut = model(server, "timeGraph/threads/states", {
            "requested_timerange": {"start": middle, "end": middle + 1000000}, "requested_items": items})["rows"]
        check_sampled(rows, cut)
        for row in cut:
            for state in row["states"]:
                assert state["start"] <= middle + 1000000 and state["end"] > middle
        # a window of a tree is that of --from and --to
        third = (one["end"] - one["start"]) // 3
        begin, end = one["start"] + third, one["start"] + 2 * third
        same_rows(rows_of_tree(model(server, "data/waits/tree", {"requested_timerange": {"start": begin, "end": end}})),
                  t.report("overview", TRACE, "--limit", "0", "--from", "%dns" % begin, "--to", "%dns" % end)["waits"])


def resources():
    """Interrupts of CPUs, and what devices had, add up to their profiles; the queue's chart to the same."""
    for trace in (TRACE, t.trace("two-hosts-client")):
        with Server(traces=(trace,)) as server:
            one = experiment(server)
            profiles = {p["operation"]: p for p in t.report(
                "profile", trace, "--limit", "0", *(a for kind in ("irq", "softirq", "vector", "block-served")
                                                    for a in ("--operation", kind + ":*")))["profiles"]}
            tree = model(server, "timeGraph/resources/tree", {})["entries"]
            by_id = {e["id"]: e for e in tree}
            rows = model(server, "timeGraph/resources/states", {"requested_timerange": whole(one),
                                                                "requested_items": list(by_id)})["rows"]
            count, sums, queue = collections.Counter(), collections.Counter(), {}
            for row in rows:
                name, parent = by_id[row["entryId"]]["labels"][0].split()[0], by_id[row["entryId"]]["parentId"]
                ends = [state["end"] for state in row["states"]]
                assert all(a <= state["start"] for a, state in zip(ends, row["states"][1:])), name
                if name == "CPU":
                    continue
                device = "block-served:" + name in profiles
                assert device or by_id[parent]["labels"][0].startswith("CPU "), name
                for state in row["states"]:
                    times = int(state["label"]) if device else 1
                    count[name] += 1
                    sums["block-served:" + name if device else name] += times * (state["end"] - state["start"])
                if device:
                    queue["block-served:" + name] = row
            assert sums == {name: p["sum_ns"] for name, p in profiles.items() if p["sum_ns"]}, (sums, profiles.keys())
            assert all(count[name] == p["count"] for name, p in profiles.items() if not name.startswith("block-")), count
            charts = model(server, "XY/disk-queue/tree", {})["entries"]
            assert {"block-served:" + e["labels"][0] for e in charts} == set(queue)
            for steps in (1, 50, 999):
                series = model(server, "XY/disk-queue/xy", {"requested_timerange": {**whole(one), "nbTimes": steps},
                                                            "requested_items": [e["id"] for e in charts]})["series"]
                for of in series:
                    times = of["xValues"] + [one["end"]]
                    total = sum(y * (b - a) for y, a, b in zip(of["yValues"], times, times[1:]))
                    want = sums["block-served:" + of["seriesName"]]
                    assert abs(total - want) < want * 1e-4 + 1000, (of["seriesName"], total, want)
            for row in queue.values():
                state = max(row["states"], key=lambda one: int(one["label"]))
                told = model(server, "timeGraph/resources/tooltip", {
                    "requested_times": [state["start"]], "requested_items": [row["entryId"]],
                    "requested_element": {"elementType": "STATE", "time": state["start"], "duration": 1}})
                assert told["Requests at once"] == state["label"] and "Request %s" % min(5, int(state["label"])) in told, told


def by_babeltrace(trace):
    """[(time, CPU, event, fields)] of one that has the context cpu_id alone, as another reader has them."""
    done = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", trace], stdout=subprocess.PIPE, check=True)
    found = []
    for line in done.stdout.decode().splitlines():
        seconds, ns, name, cpu, fields = re.match(
            r"\[(\d+)\.(\d{9})\] (?:\S+ )?(\w+): \{ cpu_id = (\d+) \}(.*)$", line).groups()
        found.append((int(seconds + ns), int(cpu), name, fields))
    return found


def plain(fields):
    """{ a = 0x10, b = "x" } as a=16, b="x"; None: there are lists, labels or nested ones, which are put otherwise."""
    if re.search(r"[\[\](:]", fields):
        return None
    inside = [part for part in re.findall(r"\{ ?(.*?) ?\}", fields) if part]
    return re.sub(r" = (?:0x([0-9A-F]+)|0([0-7]+)(?![^,]))?", lambda m: "=" + (
        str(int(m[1], 16)) if m[1] else str(int(m[2], 8)) if m[2] else ""), ", ".join(inside))


def events():
    """The table of events is what Babeltrace reads; any part of it is that part; searches, times."""
    want = by_babeltrace(TRACE)
    with Server() as server:
        ask = lambda **given: model(server, "table/events/lines", {"requested_table_" + key if key in ("index", "count", "column_ids")
                                                                  else key: value for key, value in given.items()})
        first = ask(index=0, count=10000)  # before anybody asked for the columns
        names = [column["name"] for column in model(server, "table/events/columns", {})]
        assert first["size"] == len(want) == experiment(server)["nbEvents"]
        lines = first["lines"] + ask(index=10000, count=10000)["lines"]
        rows = [dict(zip(names, (cell["content"] for cell in line["cells"]))) for line in lines]
        assert [line["index"] for line in lines] == list(range(len(want)))
        key = lambda row: (int(row["Time"]), int(row["CPU"]), row["Event"])
        assert [key(row)[0] for row in rows] == sorted(one[0] for one in want)
        assert collections.Counter(map(key, rows)) == collections.Counter(one[:3] for one in want)
        texts = {}
        for *which, fields in want:
            texts.setdefault(tuple(which), []).append(plain(fields))
        known = [texts[key(row)] for row in rows]
        same = sum(row["Fields"] in text for row, text in zip(rows, known))
        assert all(row["Fields"] in text or None in text for row, text in zip(rows, known)), \
            next((row, text) for row, text in zip(rows, known) if row["Fields"] not in text and None not in text)
        assert same > 0.9 * len(rows), (same, len(rows))
        for row in rows:  # who runs is who leaves
            if row["Event"] == "sched_switch" and row["TID"]:
                assert "prev_tid=%s," % row["TID"] in row["Fields"], row
        choice = random.Random(7)
        for _ in range(12):
            at, count = choice.randrange(len(rows)), choice.randrange(1, 40)
            assert ask(index=at, count=count)["lines"] == lines[at:at + count], (at, count)
            time_of = int(rows[at]["Time"]) - choice.randrange(3)
            low = ask(requested_times=[time_of], count=1)["lowIndex"]
            assert low == next(i for i, row in enumerate(rows) if int(row["Time"]) >= time_of)
        for column, text in (("Event", "block_rq"), ("Fields", "prev_comm=\"Xorg\""), ("Thread", "xinit")):
            hits = [i for i, row in enumerate(rows) if text in row[column]]
            assert hits, (column, text)
            for at in t.sample((0, len(rows) // 2, len(rows) - 1, hits[0], hits[-1]), 3):
                given = {"index": at, "count": 3, "table_search_expressions": {str(names.index(column)): text}}
                after, before = [i for i in hits if i >= at][:1], [i for i in hits if i <= at][-1:]
                for direction, hit in (("NEXT", after), ("PREVIOUS", before)):
                    answer = ask(**given, table_search_direction=direction)
                    assert [line["index"] for line in answer["lines"]][:1] == hit, (at, direction, hit)
                    assert all(bool(line["tags"]) == (line["index"] in hits) for line in answer["lines"])
        for column, text in (("Event", "^block_rq_(issue|complete)$"), ("Fields", "prev_comm=\"X(org|nest)\", .*prev_state=[1-9]"), ("TID", "^2.?1$")):
            hits = [i for i, row in enumerate(rows) if re.search(text, row[column])]
            assert hits, (column, text)
            answer = ask(index=0, count=40, table_search_expressions={str(names.index(column)): text}, table_search_direction="NEXT")
            assert answer["lowIndex"] == hits[0] and [line["index"] for line in answer["lines"] if line["tags"]] == \
                [i for i in hits if i < hits[0] + 40], (column, text)
        lines_of = "experiments/%s/outputs/table/events/lines" % experiment(server)["UUID"]
        for text, why in (("(", "missing"), ("x" * 999 + ".*", "1000 bytes"), ("((.*)*)*((.*)*)*((.*)*)*nowhere", "too many steps")):
            said = server.post(lines_of, {"requested_table_index": 0, "requested_table_count": 1, "table_search_direction": "NEXT",
                                          "table_search_expressions": {str(names.index("Fields")): text}}, status=400)
            assert why in said["detail"] and "LIMIT" not in said["detail"], (text, said)
        only = ask(index=5, count=2, column_ids=[3, 0])
        assert [[cell["content"] for cell in line["cells"]] for line in only["lines"]] == \
            [[row["Event"], row["Time"]] for row in rows[5:7]]
        assert ask(index=10 ** 9, count=5)["lines"] == [] and ask(requested_times=[2 ** 61], count=5)["lines"] == []
    with Server(traces=(t.trace("two-hosts-client"), t.trace("two-hosts-server")), program=t.FAST) as server:
        one = experiment(server)
        path = "table/events/lines"
        found = [model(server, path, {"requested_table_index": at, "requested_table_count": 10000})
                 for at in range(0, one["nbEvents"], 10000)]
        lines = [line for part in found for line in part["lines"]]
        assert found[0]["size"] == len(lines) == one["nbEvents"]
        assert len({line["cells"][1]["content"] for line in lines}) == 2
        for at in (1, 9000, len(lines) // 2, len(lines) - 4):
            assert model(server, path, {"requested_table_index": at, "requested_table_count": 3})["lines"] == lines[at:at + 3]
            when = int(lines[at]["cells"][0]["content"])
            low = model(server, path, {"requested_times": [when], "requested_table_count": 1})["lowIndex"]
            assert low == next(i for i, line in enumerate(lines) if int(line["cells"][0]["content"]) >= when)


def filtered():
    """filter_query_parameters: what does not match is dimmed, or left out; the facts are those of the tooltips."""
    with Server() as server:
        one = experiment(server)
        tree = model(server, "timeGraph/threads/tree", {})
        tids = {e["id"]: int(e["labels"][1]) for e in tree["entries"] if e["hasData"]}

        def states(dimmed=None, excluded=None, strategy=None, steps=None):
            given = {"filter_expressions_map": {**({"1": dimmed} if dimmed else {}), **({"4": excluded} if excluded else {})}}
            if strategy:
                given["strategy"] = strategy
            rows = model(server, "timeGraph/threads/states", {
                "requested_timerange": {**whole(one), **({"nbTimes": steps} if steps else {})}, "requested_items": list(tids),
                **({"filter_query_parameters": given} if dimmed or excluded else {})})["rows"]
            return {(r["entryId"], s["start"]): (s["end"], s.get("tags", 0)) for r in rows for s in r["states"]}

        everything = states()
        lasted = {key: end - key[1] for key, (end, _) in everything.items()}
        assert not any(tags for _, tags in everything.values())

        def same(given, match):
            tagged = {key: tags for key, (_, tags) in states(dimmed=given).items()}
            assert tagged == {key: 0 if match(key) else 1 for key in everything}, given
            assert set(states(excluded=given)) == {key for key in everything if match(key)}, given

        same(["duration>1ms"], lambda key: lasted[key] > 1000000)
        same(["duration<250us", "duration > 20000"], lambda key: 20000 < lasted[key] < 250000)
        same(["!(duration>1ms) || duration>0.1s"], lambda key: lasted[key] <= 1000000 or lasted[key] > 100000000)
        some = sorted(set(tids.values()))[len(tids) // 2]
        same(["thread == %d" % some], lambda key: tids[key[0]] == some)
        same(["thread!=%d && duration>1ms" % some], lambda key: tids[key[0]] != some and lasted[key] > 1000000)
        # any fact of the tooltip
        choice = random.Random(4)
        for text, key in (("poll", None), ("RECVmsg", None), ("\"working\"", None), ("seen", "certainty")):
            given = "%s contains %s" % (key, text) if key else text
            tagged = states(dimmed=[given])
            for at in choice.sample(sorted(everything), 40):
                tip = model(server, "timeGraph/threads/tooltip", {
                    "requested_times": [at[1]], "requested_items": [at[0]],
                    "requested_element": {"elementType": "STATE", "time": at[1], "duration": lasted[at]}})
                del tip["Begin"], tip["End"], tip["Duration"]
                facts = [value for name, value in tip.items() if not key or name.lower() == key]
                facts += [e["labels"][0] for e in tree["entries"] if e["id"] == at[0] and not key]
                want = any(text.strip('"').lower() in value.lower() for value in facts)
                assert tagged[at][1] == (0 if want else 1), (given, at, tip, tagged[at])
        # between the times that are asked for: each that matches is there, or another one before the same time
        sampled, deep = (states(excluded=["duration<2us"], strategy=s, steps=9) for s in ("SAMPLED", "DEEP"))
        matching = {key for key in everything if lasted[key] < 2000}
        assert set(sampled) <= set(deep) <= matching and len(deep) > len(sampled)
        step = lambda time: -((one["start"] - time) * 8 // (one["end"] - one["start"]))
        assert {(entry, step(time)) for entry, time in deep} == {(entry, step(time)) for entry, time in matching}
        for wrong in ("", "a &&", "(a", "a)", "!", "a ||", "(" * 100 + "a", "x" * 2000, 5, None, ["a"]):
            server.post("experiments/%s/outputs/timeGraph/threads/states" % one["UUID"], {
                "requested_timerange": whole(one), "requested_items": [],
                "filter_query_parameters": {"filter_expressions_map": {"1": [wrong]}}}, status=400)


WRITTEN = os.path.join(tempfile.gettempdir(), "whylate-served-%d" % os.getpid())


def by_pages():
    """A form's report is the command's, byte for byte; what needs more than was read is read again."""
    with Server() as server:
        for arguments in (("overview",), ("delay", "thread", THREAD), ("profile",), ("requests",), ("functions",), ("check",),
                          ("profile", "operation", "irq:*"), ("delay", "target", "sched_process_exec:nth=last"),
                          ("delay", "thread", THREAD, "what-if", "sleep %s = 0" % "Xorg")):
            query = "&".join("%s=%s" % (a, b.replace(" ", "%20")) for a, b in zip(arguments[1::2], arguments[2::2]))
            status, _, data = server.ask("GET", "/report/%s?%s&format=json" % (arguments[0], query))
            options = [w for a, b in zip(arguments[1::2], arguments[2::2]) for w in ("--" + a, b)]
            done = subprocess.run([t.WHYLATE, arguments[0], TRACE, "--format", "json", "--cache", "off", *options],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            if done.returncode:
                assert status == 400 and "title" in json.loads(data), (arguments, status)
            else:
                assert status == 200 and data == done.stdout, (arguments, status, data[:200])
        status, answer, page = server.ask("GET", "/ask")
        assert status == 200 and b"<form" in page and "default-src 'none'" in answer.headers["Content-Security-Policy"]
        for word in ("output", "save", "settings", "kallsyms", "cache", "budget", "junit", "binary-path", "anonymise-key"):
            assert ('name="%s"' % word).encode() not in page, word
            status, _, data = server.ask("GET", "/report/overview?%s=%s" % (word, WRITTEN))
            assert status == 400 and not os.path.exists(WRITTEN), (word, status, data)
        assert server.ask("GET", "/report/export?as=ctf")[0] == 404
        assert server.ask("GET", "/report/overview?format=html")[2][:15].lower() == b"<!doctype html>"


class Cells:
    """Packed states (src/page/page_cells.h), unpacked by another program than the page's own."""

    def __init__(self, answer):
        self.bytes, self.at, self.leaves = base64.b64decode(answer.get("data") or answer.get("steps")), 0, answer.get("leaves")

    def number(self):
        value = shift = 0
        while True:
            byte = self.bytes[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if not byte & 128:
                return value

    def until(self, stop, begin):
        """(begin, end, the leaf's key; None: merged)"""
        cells = []
        while self.at < stop:
            head = self.number()
            end, key = begin + (head >> 1), None
            if head & 1:
                self.number()
                present = self.bytes[self.at]
                self.at += bin(present).count("1")
            else:
                key, _, kind = self.leaves[self.number()]
                if kind in (4, 6):
                    self.number(), self.number()
                    if self.number():
                        self.number()
            cells.append((begin, end, key))
            begin = end
        return cells


def page_data(page):
    """The two blocks of data in a page."""
    return [json.loads(re.search('<script type="application/json" id="%s">(.*?)</script>' % name, page.decode(), re.S)[1])
            for name in ("report", "timeline-data")]


def by_picture():
    """What a page asks for when it is zoomed: the states that the protocol's time graph has, the lanes that a page of that
    window has, the path of the delay report."""
    with Server() as server:
        def shown(what, status=200, **parameters):
            got, _, data = server.ask("POST", "/shown/" + what, {"parameters": parameters})
            assert got == status, (what, got, data[:300])
            return json.loads(data)

        status, answer, page = server.ask("GET", "/")
        assert status == 200 and "connect-src 'self'" in answer.headers["Content-Security-Policy"]
        report, timeline = page_data(page)
        begin, end = report["window"]["begin"], report["window"]["end"]
        everything = {"base": str(begin), "end": str(end), "from": str(begin), "to": str(end), "threads": timeline["threads"]}
        tree = model(server, "timeGraph/threads/tree", {})
        entries = {e["id"]: int(e["labels"][1]) for e in tree["entries"] if e["hasData"]}
        rows = model(server, "timeGraph/threads/states", {"requested_timerange": {"start": begin, "end": end},
                                                          "requested_items": list(entries)})["rows"]
        truth = {entries[r["entryId"]]: [(s["start"], s["end"]) for s in r["states"]] for r in rows}
        tids = dict(zip(timeline["threads"], (row["tid"] for row in timeline["rows"])))
        timeline_threads = timeline["threads"]
        assert len(tids) == len(truth)
        third = (end - begin) // 3
        for a, b, asked in ((begin, end, 0), (begin, end, 1000000), (begin + third, end - third, 0), (end - 1000, end, 0),
                            (begin + third, begin + third + 16000, 0)):
            answer = shown("states", **{**everything, "from": str(a), "to": str(b)}, tolerance=asked)
            cells, tolerance = Cells(answer), answer["tolerance_ns"] # merged a little anyway, so that an answer is bounded
            assert asked <= tolerance <= max(asked, (b - a) // 16384)
            stops = [start for _, _, start in answer["rows"][1:]] + [len(cells.bytes)]
            for (thread, first, start), stop in zip(answer["rows"], stops):
                assert cells.at == start
                mine = cells.until(stop, first + begin)
                want = [(x, y) for x, y in truth[tids[thread]] if x < b and y > a]
                if tolerance == 0:
                    assert [cell[:2] for cell in mine] == want, (thread, a, b)
                else: # merged ones are shorter than the tolerance; they tile the same time
                    assert (mine[0][0], mine[-1][1]) == (want[0][0], want[-1][1])
                    assert {cell[:2] for cell in mine if cell[2]} >= {(x, y) for x, y in want if y - x >= tolerance}
                    assert all(y - x < 2 * tolerance for x, y, key in mine if key is None)
            assert set(answer["rows"][0]) and len(answer["rows"]) == sum(
                any(x < b and y > a for x, y in truth[tid]) for tid in tids.values())
        # the lanes of the whole window are the page's own, which has the 8 with most waiting, in parts a fourth as long
        lanes = shown("lanes", **everything)["lanes"]

        def alike(one, own):
            assert {**one, **dict.fromkeys(("waiting", "busy", "who"))} == {**own, **dict.fromkeys(("waiting", "busy", "who"))}, (one["name"], own["name"])
            for kind in set(one) & {"waiting", "busy"}:
                four = [own[kind][i:i + 4] for i in range(0, len(own[kind]), 4)]
                assert len(four) == len(one[kind]), (one["name"], len(four))
                # both are rounded, and what is not nothing is at least 1
                assert all(abs(sum(parts) / 4 - whole) <= 1 for parts, whole in zip(four, one[kind])), one["name"]
            return True
        for interrupt in (False, True):
            of = lambda all_of_them: [lane for lane in all_of_them if "waiting" in lane and "depth" not in lane and lane.get("interrupt", False) == interrupt]
            own = of(timeline["lanes"])
            assert own and len(of(lanes)) >= len(own) and all(map(alike, of(lanes), own)), interrupt
        busy = lambda all_of_them: [lane for lane in all_of_them if "busy" in lane and "held" not in lane]
        assert len(busy(lanes)) == len(busy(timeline["lanes"])) and all(map(alike, busy(lanes), busy(timeline["lanes"])))
        held = [lane for lane in timeline["lanes"] if "held" in lane]
        of_lanes = [lane for lane in lanes if "held" in lane]
        assert len(of_lanes) >= len(held) and all(map(alike, of_lanes, held))
        part = shown("lanes", **{**everything, "from": str(begin + third), "to": str(end - third)})["lanes"]
        assert 0 < sum(lane.get("ns", 0) for lane in part) < sum(lane.get("ns", 0) for lane in lanes)
        # the path
        status, _, page = server.ask("GET", "/report/delay?thread=%s&format=html" % THREAD)
        report, timeline = page_data(page)
        base = int(timeline["base"])
        answer = shown("steps", base=str(base), end=str(base + timeline["length_ns"]), to=str(base + timeline["length_ns"]),
                       threads=[timeline["path_of"]], **{"from": str(base)})
        steps, hops, at = Cells(answer), [], base
        while steps.at < len(steps.bytes):
            ns, thread = steps.number(), steps.number()
            hops.append([tids.get(thread - 1), at, at + ns])
            at += ns
        want = []
        for step in t.report("delay", TRACE, "--thread", THREAD, "--limit", "0")["critical_path"]:
            if want and want[-1][0] == step["tid"]:
                want[-1][2] = step["end"]
            else:
                want.append([step["tid"], step["begin"], step["end"]])
        assert hops == want, (hops[:3], want[:3])
        # a search: all states that say the word, in large or small letters, as the states themselves are packed
        found = shown("search", **everything, text="sOcKet")
        assert found["count"] == len(found["hits"]) > 2, found
        states = {tids[thread]: truth[tids[thread]] for thread in timeline_threads}
        for thread, first, ns, leaf, text in found["hits"]:
            assert (begin + first, begin + first + ns) in states[tids[thread]], (thread, first, ns)
            words = found["leaves"][leaf][:2] + [found["strings"][text]]
            assert any("socket" in word.lower() for word in words), words
        assert [hit[1] for hit in found["hits"]] == sorted(hit[1] for hit in found["hits"])
        waits = [wait for wait in t.report("overview", TRACE, "--limit", "0")["waits"] if (wait.get("resource") or {}).get("kind") == "socket"]
        named = {(tids[thread], begin + first) for thread, first, *_ in found["hits"]}
        assert waits and all((wait["tid"], wait["longest_begin"]) in named for wait in waits), waits[:2]
        assert shown("search", **everything, text="no such word")["hits"] == []
        for text in ("", "x" * 201, None, 5):
            shown("search", 400, **everything, text=text)
        # what is not asked for as it should be
        for wrong in ({"from": str(begin - 1)}, {"to": str(end + 1)}, {"from": str(end)}, {"base": begin}, {"threads": [-1]},
                      {"threads": [10 ** 9]}, {"threads": ["1"]}, {"threads": [0] * 5000}, {"tolerance": -1}, {"end": "x"}):
            for what in ("states", "lanes", "steps", "search"):
                shown(what, 400, **{**everything, "text": "x", **wrong})
        shown("steps", 400, **{**everything, "threads": [0, 1]})
        assert shown("states", **{**everything, "threads": []})["rows"] == []
        # a file asks nobody
        page = t.output("delay", TRACE, "--thread", THREAD, "--format", "html")
        assert b"connect-src 'none'" in page and b"fetch(" not in page and b'"served"' not in page


# --- who may ask, and what comes in -----------------------------------------------------------------------------------

def refused():
    with Server() as server:
        ask = lambda path="/tsp/api/health", method="GET", **headers: server.ask(
            method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})[0]
        assert ask() == 200
        assert ask(Host="evil.example") == 403
        assert ask(Host="evil.example:%d" % server.port) == 403
        assert ask(Host="127.0.0.1:1") == 403
        assert ask(Host="localhost:%d" % server.port) == 200
        assert ask(Origin="http://evil.example") == 403
        assert ask(Origin="null") == 403
        assert ask(Origin="http://127.0.0.1:%d" % server.port) == 200
        assert ask(Sec_Fetch_Site="cross-site") == 403
        assert ask("/", Sec_Fetch_Site="cross-site") == 200
        assert server.ask("OPTIONS", "/tsp/api/health", headers={"Origin": "http://evil.example"})[0] == 403
        assert server.ask("POST", "/tsp/api/traces", "{}", content_type="text/plain")[0] == 415
        for path in ("/../etc/passwd", "/tsp/api/../../etc/passwd", "/report/..%2f..%2fetc%2fpasswd", "/tsp/api/traces/%2e%2e"):
            assert ask(path) == 404, path
        for uri in ("/etc", TRACE + "/..", TRACE + "x", "file:///etc", "../" + os.path.basename(TRACE)):
            server.post("traces", {"uri": uri}, status=404)
        assert server.post("traces", {"uri": TRACE})["path"] == os.path.abspath(TRACE)
    with Server("--allow-origin", "http://viewer.example:3000") as server:
        status, answer, _ = server.ask("GET", "/tsp/api/health", headers={"Origin": "http://viewer.example:3000"})
        assert status == 200 and answer.headers["Access-Control-Allow-Origin"] == "http://viewer.example:3000"
        status, answer, _ = server.ask("OPTIONS", "/tsp/api/traces", headers={"Origin": "http://viewer.example:3000"})
        assert status == 204 and "POST" in answer.headers["Access-Control-Allow-Methods"]
        assert server.ask("GET", "/tsp/api/health", headers={"Origin": "http://viewer.example"})[0] == 403


def with_token():
    with Server("--listen", "127.0.0.1") as server:
        assert re.fullmatch("[0-9a-f]{32}", server.token)
        assert server.ask("GET", "/tsp/api/health")[0] == 401
        assert server.ask("GET", "/%s/tsp/api/health" % ("0" * 32))[0] == 401
        assert server.ask("GET", "/%s/tsp/api/health" % server.token)[0] == 200
        assert server.ask("GET", "/%s/" % server.token)[0] == 200
        assert server.ask("GET", "/tsp/api/health", headers={"Authorization": "Bearer " + server.token})[0] == 200
        assert server.ask("GET", "/tsp/api/health", headers={"Authorization": "Bearer " + server.token[:-1]})[0] == 401
        assert server.ask("GET", "/%s/tsp/api/health" % server.token, headers={"Host": "evil.example"})[0] == 403


def raw(server, data, wait=0.02):
    """Bytes as they are; what comes back within a moment."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=300) as connection:
        try:
            connection.sendall(data)
            connection.settimeout(wait)
            return connection.recv(65536)
        except OSError:
            return b""


OUTPUTS = ("timeGraph/threads/tree", "timeGraph/threads/states", "timeGraph/threads/arrows", "timeGraph/threads/tooltip",
           "timeGraph/resources/states", "timeGraph/locks/states", "timeGraph/critical-path/tree", "XY/cpu-use/xy",
           "genericXY/latencies/xy", "data/states/tree", "table/operations/lines", "table/events/lines", "table/events/columns", "threads/annotations", "threads/style",
           "critical-path")
SHOWN = ("/shown/states", "/shown/lanes", "/shown/steps", "/shown/search")
ODD = (None, True, [], {}, "", "x", 0, -1, 1, 2 ** 31, 2 ** 63 - 1, -2 ** 63, 2 ** 70, 1e308, -1e308, 0.5, [[]], [{}], ["1"],
       [-1], [2 ** 40], [0] * 5000, "\u0000", "ä" * 100, {"start": 0}, {"start": 0, "end": 1}, {"start": 5, "end": 1},
       {"start": -2 ** 62, "end": 2 ** 62, "nbTimes": 65536}, {"start": 0, "end": 2 ** 62, "nbTimes": 0},
       {"filter_expressions_map": {"1": ["!(a && b"], "4": 1}}, {"filter_expressions_map": {"4": ["a || !b"]}, "strategy": "DEEP"},
       {"start": "a", "end": []}, {"start": 1.5, "end": 1e18, "nbTimes": 2.5})
MEMBERS = ("requested_timerange", "requested_times", "requested_items", "requested_element", "requested_table_index",
           "requested_table_count", "requested_table_column_ids", "table_search_expressions", "table_search_direction",
           "requested_marker_categories", "filter_query_parameters", "thread", "start", "end", "uri", "name", "traces", "base", "from", "to", "tolerance",
           "threads", "text")


def malformed():
    """A thousand requests that are wrong in some way: each gets an answer or a closed connection, and none ends it."""
    choice = random.Random(25)
    with Server() as server:
        one = experiment(server)
        paths = ["experiments/%s/outputs/%s" % (one["UUID"], output) for output in OUTPUTS] + \
            ["traces", "experiments", "experiments/%s/bookmarks" % one["UUID"]]
        statuses = collections.Counter()
        for i in range(700):
            parameters = {choice.choice(MEMBERS): choice.choice(ODD) for _ in range(choice.randrange(5))}
            if i % 3 == 0:
                parameters["requested_timerange"] = {"start": one["start"], "end": one["end"], "nbTimes": 50}
            body = json.dumps({"parameters": parameters, "sourceTypeId": choice.choice((PATH_TYPE, 1, None, ""))})
            if i % 7 == 0:
                body = body[:choice.randrange(len(body) + 1)]
            status, _, data = server.ask("POST", choice.choice(["/tsp/api/" + path for path in paths] + list(SHOWN)), body)
            statuses[status] += 1
            assert status in (200, 204, 400, 404, 405, 409, 503), (status, body[:300], data[:300])
            if data:
                json.loads(data)
        assert statuses[200] and statuses[400] > 100, statuses
        line = b"POST /tsp/api/traces HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % server.port
        for i in range(300):
            kind = i % 10
            data = (choice.randbytes(choice.randrange(1, 300)) if kind < 3 else
                    line + b"Content-Length: -1\r\n\r\n" if kind == 3 else
                    line + b"Content-Length: 99999999999999999999\r\n\r\n" if kind == 4 else
                    line + b"X: " + b"y" * 100000 + b"\r\n\r\n" if kind == 5 else
                    line + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n" if kind == 6 else
                    line + b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{" if kind == 7 else
                    b"GET /" + b"%" * choice.randrange(1, 3000) + b" HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % server.port
                    if kind == 8 else b"GET / HTTP/9.9\r\n\r\n")
            raw(server, data, 0.005)
        # it is not read: who sends it may meet a closed connection before the answer
        answer = raw(server, line + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (2 << 20), 300)
        assert answer.startswith(b"HTTP/1.1 413 "), answer[:200]
        assert server.ask("POST", "/tsp/api/traces", b'{"parameters":' * 70000)[0] == 400
        server.alive()


def made_ahead():
    """The picture of the whole trace is made once the trace is read, before somebody asks: a process that has ended, and no
    other one when it is asked for."""
    with Server() as server:
        def ended():  # page faults of processes that have ended and were waited for
            with open("/proc/%d/stat" % server.process.pid, encoding="utf-8") as file:
                return int(file.read().rsplit(")", 1)[1].split()[8])

        t.until(ended, "a process that made the picture")
        before = ended()
        status, _, page = server.ask("GET", "/")
        assert status == 200 and page_data(page)[0]["schema"] == "whylate-trace-1"
        assert ended() == before


def workers(server):
    with open("/proc/%d/task/%d/children" % (server.process.pid, server.process.pid), encoding="ascii") as file:
        return file.read().split()


def two_at_once():
    """Clients get the same whether they are alone or not; one that goes away takes its question with it."""
    with Server() as server:
        one = experiment(server)
        base = "/tsp/api/experiments/%s/outputs/" % one["UUID"]
        body = json.dumps({"parameters": {"requested_timerange": {**whole(one), "nbTimes": 300}, "requested_items": list(range(400))}})
        paths = ("data/states/tree", "data/waits/tree", "timeGraph/threads/states", "XY/time-lapse/tree")
        alone = {path: server.ask("POST", base + path, body)[2] for path in paths}
        wrong = []

        def client(number):
            for i in range(12):
                path = paths[(number + i) % len(paths)]
                status, _, data = server.ask("POST", base + path, body)
                if (status, data) != (200, alone[path]):
                    wrong.append((path, status, data[:200]))

        clients = [threading.Thread(target=client, args=(n,)) for n in range(2)]
        for one_client in clients:
            one_client.start()
        for one_client in clients:
            one_client.join()
        assert not wrong, wrong[:3]
        for i in range(12): # other questions, so that none is kept
            with socket.create_connection(("127.0.0.1", server.port), timeout=300) as connection:
                connection.sendall(b"GET /report/profile?operation=*&limit=%d HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" %
                                   (i + 1, server.port))
        t.until(lambda: not workers(server), "workers of clients that went away ended")
        server.alive()


def bookmarks():
    with Server() as server:
        path = "experiments/%s/bookmarks" % experiment(server)["UUID"]
        mark = server.post(path, {"name": "here", "start": 1, "end": 2 ** 60})
        assert server.get(path) == [mark] and mark["end"] == 2 ** 60
        status, _, data = server.ask("PUT", "/tsp/api/%s/%s" % (path, mark["uuid"]),
                                     {"parameters": {"name": "there", "start": 3, "end": 3}})
        assert status == 200 and json.loads(data)["name"] == "there"
        assert server.get(path + "/" + mark["uuid"])["start"] == 3
        assert server.ask("DELETE", "/tsp/api/%s/%s" % (path, mark["uuid"]))[0] == 200
        assert server.get(path) == []
        server.get(path + "/" + mark["uuid"], 404)
        server.post(path, {"name": "", "start": 1, "end": 2}, 400)


def reading():
    """While a long trace is read: how far it has come; what needs all of it is answered when it is there; signals end it.
    What sanitizers look at is stopped early: all of it takes them twenty seconds."""
    trace = t.trace("zero-read")

    def so_far(server):
        status, _, page = server.ask("GET", "/")
        assert status == 200 and b"Reading the trace" in page and b"events so far" in page, page[:300]
        server.alive()
        first = experiment(server)
        assert first["indexingStatus"] == "RUNNING" and 0 < first["nbEvents"] < 1000000 and first["start"] <= first["end"], first
        second = experiment(server)
        assert second["nbEvents"] >= first["nbEvents"]
        return first, second

    def overview():
        done = t.run("overview", trace, "--limit", "0", "--reader", "babeltrace", "--format", "json", program=t.FAST)
        return json.loads(done.stdout)

    with Server("--reader", "babeltrace", traces=(trace,), program=t.FAST) as server:
        first, second = so_far(server)
        waits = model(server, "data/waits/tree", {}) # waits until it is there
        done = experiment(server)
        assert done["indexingStatus"] == "COMPLETED" and done["nbEvents"] > second["nbEvents"]
        want = overview()
        assert (done["UUID"], done["nbEvents"]) == (first["UUID"], want["coverage"]["events"])
        same_rows(rows_of_tree(waits), want["waits"])
        assert b"Reading" not in server.ask("GET", "/")[2][:2000]
    for number in t.sample((signal.SIGINT, signal.SIGTERM)):
        server = Server("--reader", "babeltrace", traces=(trace,))
        so_far(server)
        with socket.create_connection(("127.0.0.1", server.port)) as connection: # one that waits for the trace
            connection.sendall(b"GET /report/profile HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % server.port)
            assert b"rror" not in server.end(number)


def asked_twice():
    """What several clients ask at once is worked out once, and goes on when the one who asked first goes away."""
    with Server() as server:
        server.ask("GET", "/")  # which is made ahead: nobody works on it any more
        request = b"GET /report/profile?operation=*&limit=3 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % server.port
        first, second, third = [socket.create_connection(("127.0.0.1", server.port), timeout=300) for _ in range(3)]
        first.sendall(request)
        worker = t.until(lambda: workers(server), "somebody works on it")
        for connection in (second, third):
            connection.sendall(request)
        server.alive()
        first.close()
        server.alive()
        assert workers(server) in (worker, []), (worker, workers(server))
        for connection in (second, third):
            assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
            connection.close()


def signals():
    for number in (signal.SIGINT, signal.SIGTERM):
        server = Server()
        with socket.create_connection(("127.0.0.1", server.port)) as connection: # one question is still open
            connection.sendall(b"GET /report/profile?operation=* HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % server.port)
            time.sleep(0.05)
            assert b"rror" not in server.end(number)
    done = subprocess.run([t.WHYLATE, "serve", "/nonexistent"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 3, done
    with Server() as server:
        done = subprocess.run([t.WHYLATE, "serve", "--port", str(server.port), TRACE], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        assert done.returncode == 5 and b"cannot serve" in done.stderr, done


# --- the client of trace viewers --------------------------------------------------------------------------------------

def install():
    """Where the client is installed, as tests/setup.sh does it for ./check; here if it was not."""
    place = t.CACHE + "/tsp-client"
    if not os.path.isdir(place + "/node_modules/tsp-typescript-client"):
        assert shutil.which("node") and shutil.which("npm"), "install nodejs and npm: the client of trace viewers needs them"
        os.makedirs(place, exist_ok=True)
        shutil.copy(t.SOURCE + "/tests/tsp/package.json", place)
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=place,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=300)
        assert not done.returncode, "npm cannot install tsp-typescript-client: " + done.stdout.decode()[-2000:]
    return place + "/node_modules"


# Answers that are no 200, and are right: what the client has and the protocol has not, or what there is none of.
EXPECTED = {"openTrace of another": 404, "deleteTrace in use": 409, "updateExperiment": 405, "fetchXYToolTip": 404,
            "fetchConfigurationSourceType": 404, "fetchConfigurations": 404, "fetchConfiguration": 404,
            "createConfiguration": 405, "updateConfiguration": 404, "deleteConfiguration": 404}


def by_client():
    modules = install()
    with Server() as server:
        one = experiment(server)
        done = subprocess.run(["node", t.SOURCE + "/tests/tsp/client.js", server.url + "/tsp/api", TRACE, THREAD],
                              env={**os.environ, "NODE_PATH": modules}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False, timeout=300)
        assert done.returncode == 0, done.stderr.decode()[-2000:]
        results = json.loads(done.stdout)
        server.alive()
    for name, result in results.items():
        assert result["status"] == EXPECTED.get(name, 200), (name, result["status"], str(result["model"])[:300])
    of = lambda name: results[name]["model"]["model"]
    assert int(results["fetchExperiment"]["model"]["start"]) == one["start"]
    assert results["fetchExperiments without"]["model"] == [] and results["checkHealth"]["model"] == {"status": "UP"}
    assert results["fetchIdentifier"]["model"]["productId"] == "whylate"
    ids = [output["id"] for output in results["experimentOutputs with"]["model"]]
    assert "critical-path:1" in ids and len(ids) == len(set(ids)) == len(results["experimentOutputs"]["model"]) + 1
    check_states(of("threads tree")["entries"], of("threads states")["rows"])
    check_sampled(of("threads states")["rows"], of("threads sampled")["rows"])
    check_path(of("critical-path tree"), of("critical-path states")["rows"], of("critical-path arrows"))
    check_trees(lambda output: of(output + " tree"))
    names = {int(e["id"]): e["labels"][0] for e in of("latencies tree")["entries"]}
    check_histograms(names, of("latencies xy")["series"])
    check_lapses(of("time-lapse xy")["series"])
    check_lapses(of("disk xy")["series"], ["block-served:*"])
    check_cpu_use(of("cpu-use xy")["series"], one["start"], one["end"])
    check_operations(of("fetchTableLines")["lines"], of("fetchTableLines")["size"])
    findings = t.report("overview", TRACE, "--limit", "0")["findings"]
    have = sorted((int(a["time"]), int(a["duration"])) for a in of("threads annotations")["annotations"]["Findings"])
    assert have == sorted((f["example"]["begin"], f["example"]["end"] - f["example"]["begin"]) for f in findings
                          if "example" in f)
    styles = of("threads style")["styles"]
    for output in ("threads", "resources", "critical-path"):
        for row in of(output + " states")["rows"]:
            assert all(state["style"]["parentKey"] in styles for state in row["states"])
    assert of("threads tooltip")["State"]
    wakes = of("threads arrows")
    entries = {int(e["id"]) for e in of("threads tree")["entries"]}
    assert wakes and all({int(a["sourceId"]), int(a["targetId"])} <= entries for a in wakes)


tap.case("numbers are the JSON reports', to the ns", by_hand)
tap.case("what a page asks for when it is zoomed", by_picture)
tap.case("interrupts and devices among the resources", resources)
tap.case("the table of events", events)
tap.case("states are filtered", filtered)
tap.case("pages are the commands' reports; no form names a file", by_pages)
tap.case("other hosts, origins and paths are refused", refused)
tap.case("--listen: a token, in the path or as a header", with_token)
tap.case("a thousand malformed requests do not end it", malformed)
tap.case("two clients at once, and some that go away", two_at_once)
tap.case("what two ask is worked out once", asked_twice)
tap.case("the picture is made ahead", made_ahead)
tap.case("while the trace is read", reading)
tap.case("bookmarks", bookmarks)
tap.case("Ctrl-C and SIGTERM end it cleanly; what it cannot serve, it says", signals)
tap.case("the client of trace viewers: every method, and its objects are the JSON reports'", by_client)
sys.exit(tap.done())
