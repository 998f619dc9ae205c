# SPDX-License-Identifier: MIT
"""LAMI 1.0: the whylate-lami-* programs are asked as Trace Compass asks them, and what they answer is judged by
rules of its parser and of the specification (lttng/lami-spec 1.0.1), written down here anew; figures are those of the
commands' JSON, and of babeltrace2's text where that is simple."""
import collections
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import whylate_test as t

tap = t.Tap()
PROGRAMS = tempfile.mkdtemp(prefix="whylate-lami-", dir=t.CACHE)
CONFIGS = t.SOURCE + "/share/lami"
CLASSES = ("bool number string ratio timestamp duration size bitrate time-range syscall process path fd irq cpu disk "
           "part netif unknown mixed").split()


def properties(path):
    with open(path, encoding="ascii") as file:
        return dict(line.rstrip("\n").split("=", 1) for line in file if line.strip() and line[0] != "#")


ANALYSES = {p["command"]: p["name"] for p in (properties(os.path.join(CONFIGS, f)) for f in sorted(os.listdir(CONFIGS)))}


def ask(command, *arguments, merged=False, environment=None):
    """A program's CompletedProcess; `merged`: standard error is part of its output, as in the first three phases."""
    return subprocess.run([os.path.join(PROGRAMS, command), *arguments], stdin=subprocess.DEVNULL, check=False, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT if merged else subprocess.PIPE, env=environment)


# --- what Trace Compass makes of the answers ----------------------------------------------------------------------


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value):
    return is_integer(value) or isinstance(value, float)


def check_bounds(data):
    assert "value" in data or ("low" in data and "high" in data), data
    low, value, high = (data.get(key) for key in ("low", "value", "high"))
    for bound, infinite in ((low, "-inf"), (high, "+inf")):
        assert bound is None or is_number(bound) or bound == infinite, data
    if is_number(value) and is_number(low):
        assert low <= value, data
    if is_number(value) and is_number(high):
        assert value <= high, data


def check_data(data):
    """A data object, by its class: the fields that it must have, and what they must be."""
    kind = data["class"]
    assert kind in CLASSES and kind != "mixed", data
    if kind in ("number", "ratio", "bitrate"):
        check_bounds(data)
        assert is_number(data.get("value", 0)), data
    elif kind in ("timestamp", "duration", "size"):
        check_bounds(data)
        assert is_integer(data.get("value", 0)), data
    elif kind == "time-range":
        assert data["begin"]["class"] == data["end"]["class"] == "timestamp", data
        check_data(data["begin"])
        check_data(data["end"])
        assert data["begin"]["value"] <= data["end"]["value"], data
    elif kind in ("syscall", "disk", "part", "netif"):
        assert isinstance(data["name"], str) and data["name"], data
    elif kind == "process":
        assert isinstance(data.get("name", ""), str), data
        assert all(is_integer(data[key]) for key in ("pid", "tid") if key in data), data
    elif kind == "irq":
        assert is_integer(data["nr"]) and isinstance(data.get("hard", True), bool), data
        assert isinstance(data.get("name", ""), str), data
    elif kind in ("path", "string"):
        assert isinstance(data["path" if kind == "path" else "value"], str), data
    elif kind == "bool":
        assert isinstance(data["value"], bool), data
    elif kind in ("cpu", "fd"):
        assert is_integer(data["id" if kind == "cpu" else "fd"]), data


def check_columns(columns):
    for column in columns:
        assert column.get("class", "mixed") in CLASSES, column
        assert isinstance(column["title"], str) and column["title"], column
        assert "unit" not in column or column["class"] == "number", column


@functools.lru_cache(maxsize=None)
def metadata(command):
    done = ask(command, "--metadata", merged=True)
    assert done.returncode == 0, done
    found = json.loads("".join(done.stdout.decode().split("\n")))
    assert found["mi-version"] == {"major": 1, "minor": 0}, found["mi-version"]
    assert all(is_integer(found["version"][key]) for key in ("major", "minor", "patch")), found["version"]
    assert isinstance(found["title"], str) and isinstance(found["description"], str), found
    assert found["tags"] and all(isinstance(tag, str) for tag in found["tags"] + found["authors"]), found
    assert found["table-classes"], found
    for table in found["table-classes"].values():
        assert isinstance(table["title"], str) and table["title"], table
        check_columns(table["column-descriptions"])
    return found


def split_progress(text):
    """Lines before the first that begins with a brace, and what follows, joined as Trace Compass joins it."""
    lines = text.split("\n")
    first = next(i for i, line in enumerate(lines) if re.match(r"\s*\{", line))
    return lines[:first], "".join(lines[first:])


def check_progress(lines):
    last = 0.0
    for line in lines:
        value, _, message = line.partition(" ")
        assert re.fullmatch(r"\d(\.\d+)?", value) and message == message.strip(), line
        assert last <= float(value) <= 1, lines
        last = float(value)


def tables(command, *arguments):
    """{table class: [row]} of a result, each table and cell judged by the metadata."""
    done = ask(command, *arguments)
    assert done.returncode == 0, (command, arguments, done.stdout[:500], done.stderr)
    progress, text = split_progress(done.stdout.decode())
    assert "--output-progress" in arguments or not progress, progress
    check_progress(progress)
    found = {}
    for table in json.loads(text)["results"]:
        check_data(table["time-range"])
        assert table["time-range"]["class"] == "time-range", table["time-range"]
        assert table["class"] in metadata(command)["table-classes"], table["class"]
        columns = metadata(command)["table-classes"][table["class"]]["column-descriptions"]
        assert table["class"] not in found and table["data"], table["class"]
        for row in table["data"]:
            assert len(row) == len(columns), (row, columns)
            for cell, column in zip(row, columns):
                if cell is None:
                    continue
                check_data(cell)
                assert column.get("class", "mixed") in ("mixed", cell["class"]) or cell["class"] == "unknown", (cell, column)
        found[table["class"]] = table["data"]
        found[table["class"], "range"] = (table["time-range"]["begin"]["value"], table["time-range"]["end"]["value"])
    return found


def plain(cell):
    """A cell as a value to compare: a process is its TID, a time range a pair."""
    if cell is None or cell["class"] == "unknown":
        return None
    kind = cell["class"]
    if kind == "time-range":
        return cell["begin"]["value"], cell["end"]["value"]
    return cell[{"process": "tid", "irq": "nr", "path": "path"}.get(kind, "name" if kind in ("syscall", "disk") else "value")]


def rows(command, table, columns, *arguments):
    """Columns, by title, of a table's rows, plain."""
    titles = [c["title"] for c in metadata(command)["table-classes"][table]["column-descriptions"]]
    places = [titles.index(column) for column in columns]
    return [tuple(plain(row[i]) for i in places) for row in tables(command, *arguments).get(table, [])]


def same(got, wanted):
    assert len(wanted) > 0, "nothing to compare"
    wrong = next(((a, b) for a, b in zip(got, wanted) if a != b), None)
    assert got == wanted, "%d rows instead of %d; first difference: %r, wanted %r" % (
        len(got), len(wanted), *(wrong or (None, None)))


# --- protocol -----------------------------------------------------------------------------------------------------


def check_first_phases(command):
    done = ask(command, "--mi-version", merged=True)
    assert done.returncode == 0 and re.fullmatch(r"\d{1,3}\.\d{1,3}", done.stdout.decode().strip()), done
    assert done.stdout == b"1.0\n", done
    assert metadata(command)["title"] == ANALYSES[command], "the title and the properties' name differ"


def check_compatibility(command):
    done = ask(command, "--test-compatibility", t.trace("web-mixed"), merged=True)
    assert done.returncode == 0 and not done.stdout, done
    # a trace is what Trace Compass takes for one: the directory with metadata
    inner = os.path.dirname(t.kernel_files(t.trace("web-mixed"))[0])
    done = ask(command, "--test-compatibility", inner, merged=True)
    assert done.returncode == 0 and not done.stdout, done
    # with what it has configured, in any order
    done = ask(command, t.trace("web-mixed"), "--limit", "3", "--test-compatibility", merged=True)
    assert done.returncode == 0 and not done.stdout, done


def check_incompatible(command, *arguments):
    done = ask(command, *arguments, merged=True)
    assert done.returncode != 0, done
    assert json.loads(done.stdout)["error-message"], done


def check_error(command, *arguments, says):
    """Status, one object on standard output, and lines on standard error."""
    done = ask(command, *arguments)
    assert done.returncode not in (0, 4), done
    _, text = split_progress(done.stdout.decode())
    found = json.loads(text)
    assert set(found) == {"error-message", "error-code"} and found["error-code"] == done.returncode, found
    assert says in found["error-message"] and says in done.stderr.decode(), done


def without_blocks(directory):
    """A trace whose metadata declares no block event: its declarations have other names."""
    source = t.trace("signals")
    copy = os.path.join(directory, "other")
    shutil.copytree(source, copy)
    for place, _, files in os.walk(copy):
        if "metadata" in files:
            path = os.path.join(place, "metadata")
            os.chmod(path, 0o644)
            with open(path, "rb") as file:
                data = file.read()
            with open(path, "wb") as file:
                file.write(data.replace(b'"block_rq_', b'"blopp_rq_'))
    return copy


def check_other_events(directory):
    other = without_blocks(directory)
    check_incompatible("whylate-lami-block", "--test-compatibility", other)
    done = ask("whylate-lami-interrupts", "--test-compatibility", other, merged=True)
    assert done.returncode == 0 and not done.stdout, done


def check_progress_lines():
    done = ask("whylate-lami-latencies", "--output-progress", "--cache=off", t.trace("zero-read"))
    lines, _ = split_progress(done.stdout.decode())
    values = [float(line.split(" ")[0]) for line in lines]
    # a million events: one line each 65,536, as steps over the whole
    assert len(set(values)) > 10 and values == sorted(values) and 0 < values[0] < 0.2 and values[-1] == 0.9, lines
    assert done.stderr == b"", done.stderr


def check_window():
    trace = t.trace("web-mixed")
    whole = t.report("overview", trace)["window"]
    begin, end = whole["begin"] + 500000000, whole["begin"] + 900000000
    for command in ANALYSES:
        extra = ["--thread", "lockholder"] if command.endswith("-path") else []
        words = ask(command, "--output-progress", "--begin", str(begin), "--end", str(end), *extra, trace).stdout
        spelled = ask(command, "--end=%d" % begin, *extra, trace, "--output-progress", "--begin=%d" % end).stdout
        assert words == spelled and words, command
        found = tables(command, "--begin", str(begin), "--end", str(end), *extra, trace)
        assert {v for k, v in found.items() if isinstance(k, tuple)} == {(begin, end)}, command
        # a window that reaches over the trace's ends is the part that the trace has
        assert ask(command, "--begin", "0", "--end", str(2**62), *extra, trace).stdout == ask(command, *extra, trace).stdout


def check_limit():
    trace = t.trace("web-mixed")
    for command in ANALYSES:
        extra = ["--thread", "lockholder"] if command.endswith("-path") else []
        every = tables(command, *extra, trace)
        assert ask(command, "--limit", "unlimited", *extra, trace).stdout == ask(command, *extra, trace).stdout, command
        few = tables(command, "--limit=2", *extra, "--", trace)
        for name, data in few.items():
            assert isinstance(name, tuple) or data == every[name][:2], (command, name)


# --- figures ------------------------------------------------------------------------------------------------------


def tid(thread):
    return thread["tid"] if thread else None


def resource(found):
    if not found:
        return None
    if found["kind"] in ("file", "device") or found["name"] == found["kind"]: # "poll" and the like are kinds alone
        return found["name"]
    return found["kind"] + ":" + found["name"]


def check_blocked(name):
    trace = t.trace(name)
    report = t.report("overview", trace, "--limit", "0", "--quiet")
    same(rows("whylate-lami-blocked", "waits", ("Thread", "State", "Ended by", "Inferred", "Waits", "Time", "Longest",
                                                "Spans lost events"), trace),
         [(w["tid"], w["leaf"], w["cause"]["kind"], w["cause"]["certainty"] == "inferred", w["count"], w["ns"],
           w["longest_ns"], w["spans_gap"]) for w in report["waits"]])
    same(rows("whylate-lami-blocked", "imposed",
              ("Thread", "Others waited", "While it worked", "While it was ready", "While it slept",
               "While it waited for a device", "While a limit kept it back", "While it waited for the network", "While it did not answer", "While it did else",
               "For the CPU it had", "Waiters", "Its wait"), trace),
         [(w.get("tid"), w["ns"], *(w.get(k) for k in ("working_ns", "wait_cpu_ns", "sleep_ns", "device_ns", "limit_ns", "network_ns", "silence_ns",
                                                       "other_ns", "ran_ns")), w["waiters"],
           (w["example"]["begin"], w["example"]["end"])) for w in report["waiting"]])


def check_resources():
    trace = t.trace("web-mixed")
    report = t.report("overview", trace, "--limit", "0")
    got = rows("whylate-lami-blocked", "waits", ("For",), trace)
    same(got, [(resource(w.get("resource")),) for w in report["waits"]])
    data = tables("whylate-lami-blocked", trace)["waits"]
    assert {"path", "string"} <= {row[2]["class"] for row in data if row[2]}, "no file, or nothing else"


def check_waits(name):
    trace = t.trace(name)
    report = t.report("delay", trace, "--thread", "all", "--limit", "0", "--depth", "2", "--quiet")
    idle = {(i["tid"]) for i in t.report("overview", trace, "--limit", "0", "--quiet")["threads"]}
    wanted = [w for thread in report["threads"] if thread["tid"] in idle for w in thread["causality"]]
    wanted.sort(key=lambda w: (-w["ns"], w["begin"]))
    got = rows("whylate-lami-waits", "waits", ("Thread", "Wait", "State", "Ended by", "Which was", "Led to",
                                               "Which worked", "And waited itself"), trace)
    same(sorted(got, key=str), sorted(
        [(w["tid"], (w["begin"], w["end"]), w["leaf"], w["cause"]["kind"], w["cause"]["label"] or None,
          tid(w.get("share")), w.get("share", {}).get("working_ns"), w.get("share", {}).get("blocked_ns"))
         for w in wanted], key=str))
    assert [b - a for _, (a, b), *_ in got] == [w["ns"] for w in wanted], "not the longest first"


def check_states(name):
    trace = t.trace(name)
    report = t.report("delay", trace, "--thread", "all", "--limit", "0", "--quiet")
    wanted = {}
    for thread in report["threads"]:
        life = [thread["tid"], (thread["begin"], thread["end"])]
        wib = {node["key"]: node["ns"] for node in thread["summary"]["children"]}
        wanted[tuple(life)] = tuple(wib.get(k, 0) for k in ("working", "interrupted", "blocked", "unknown"))
    got = {row[:2]: row[2:] for row in rows("whylate-lami-states", "threads", (
        "Thread", "Alive in the window", "Working", "Interrupted", "Blocked", "Unknown"), trace)}
    assert got == wanted and wanted, "sums differ"
    assert all(sum(ns) == end - begin for (_, (begin, end)), ns in got.items()), "they do not sum to its life"
    leaves = collections.Counter()
    for thread in report["threads"]:
        for node in thread["summary"]["children"]:
            for leaf in node["children"] or [node]:
                leaves[thread["tid"], leaf["key"], leaf["ns"], leaf["count"]] += 1
    found = collections.Counter(rows("whylate-lami-states", "states", ("Thread", "State", "Time", "Instances"), trace))
    assert found == leaves and leaves, (found - leaves, leaves - found)


def check_path():
    trace = t.SOURCE + "/traces/startup-chain"
    target = ("--target", "sched_process_exec filename=*/autostart")
    report = t.report("delay", trace, *target, "--limit", "0")
    same(rows("whylate-lami-path", "steps", ("Thread", "Step", "State"), trace, *target),
         [(p["tid"], (p["begin"], p["end"]), p["leaf"]) for p in report["critical_path"]])
    same(rows("whylate-lami-path", "threads", ("Thread", "Time", "Working", "Interrupted", "Blocked"), *target, trace),
         [(x["tid"], x["ns"], x["working_ns"], x["interrupted_ns"], x["blocked_ns"])
          for x in report["critical_path_totals"]["by_thread"]])
    same(rows("whylate-lami-path", "kinds", ("State", "Cause", "Time", "Steps"), *target, trace),
         [(x["leaf"], x["kind"], x["ns"], x["count"]) for x in report["critical_path_totals"]["by_kind"]])
    # recorded on purpose: Xorg slept 40 times while the desktop waited for it (traces/README.md)
    slept = [row for row in tables("whylate-lami-path", *target, trace)["steps"]
             if row[0]["name"] == "Xorg" and row[2]["value"] == "blocked/syscall:clock_nanosleep"]
    assert len(slept) == 40, len(slept)


def check_locks(name):
    trace = t.trace(name)
    report = t.report("overview", trace, "--limit", "0", "--quiet")
    same(rows("whylate-lami-locks", "locks", ("Kind", "Waits", "Waiting", "Waiters", "Longest queue", "Held by nobody known",
                                              "Waited longest", "Its wait", "Hand-overs in a convoy",
                                              "Priority inversion by", "Inferred"), trace),
         [(k["kind"], k["waits"], k["ns"], k["waiters"], k["queue"], k["between_ns"], k["longest"]["tid"],
           (k["longest"]["begin"], k["longest"]["end"]), k.get("convoy", {}).get("handovers"),
           tid(k.get("priority_inversion")), k["certainty"] == "inferred") for k in report["locks"]])
    same(rows("whylate-lami-locks", "holders", ("Kind", "Holder", "Others waited", "Inferred"), trace),
         [(k["kind"], h["tid"], h["ns"], h["certainty"] == "inferred") for k in report["locks"] for h in k["holders"]])
    wanted = [(i, m["tid"], m["since"], tid(m["owner"]), d["certainty"] == "inferred")
              for i, d in enumerate(report["deadlocks"], 1) for m in d["threads"]]
    got = rows("whylate-lami-locks", "deadlocks", ("Deadlock", "Thread", "Until the window's end", "Owner",
                                                   "Suspected only"), trace)
    assert [(n, thread, since, owner, only) for n, thread, (since, _), owner, only in got] == wanted, (got, wanted)
    return got


def check_deadlock():
    """Recorded on purpose: dead-1 and dead-2 wait for each other (traces/README.md), which a kernel trace only suggests."""
    assert check_locks("hang"), "no deadlock"
    found = [row for row in tables("whylate-lami-locks", t.trace("hang"))["deadlocks"]]
    assert {row[1]["name"] for row in found} == {"dead-1", "dead-2"} and all(row[5]["value"] for row in found), found


LATENCIES = ("Count", "Total", "Minimum", "50 % up to", "90 % up to", "99 % up to", "Maximum", "Peaks", "Span lost events")


def figures(profile):
    return (profile["count"], profile["sum_ns"], profile["min_ns"], profile["p50_ns"], profile["p90_ns"],
            profile["p99_ns"], profile["max_ns"], len(profile["peaks"]), profile["spans_gap"])


def profiles(trace, *patterns):
    options = [word for pattern in patterns for word in ("--operation", pattern)]
    return t.report("profile", trace, "--limit", "0", "--quiet", *options)["profiles"]


def named(profile):
    return profile["operation"].partition(":")[2]


def check_latencies(name):
    trace = t.trace(name)
    wanted = profiles(trace, "syscall:*")
    same(rows("whylate-lami-latencies", "syscalls", ("System call", *LATENCIES), trace),
         [(named(p), *figures(p)) for p in wanted])
    for mean, (count, total) in zip(rows("whylate-lami-latencies", "syscalls", ("Mean",), trace),
                                    [(p["count"], p["sum_ns"]) for p in wanted]):
        assert abs(mean[0] - total / count) <= 0.5, (mean, total, count)


def check_other_latencies():
    trace = t.trace("web-mixed")
    got = tables("whylate-lami-latencies", "--operation=wait-cpu", "--operation", "syscall:read", trace)
    assert len(got["syscalls"]) == 1 and len(got["operations"]) == 1, got
    profile, = profiles(trace, "wait-cpu")
    same(rows("whylate-lami-latencies", "operations", ("Operation", *LATENCIES), "--operation", "wait-cpu", trace),
         [("wait-cpu", *figures(profile))])
    irqs = profiles(trace, "irq:*")  # here they are operations as any other
    assert irqs, "no interrupt"
    same(rows("whylate-lami-latencies", "operations", ("Operation", *LATENCIES), "--operation", "irq:*", trace),
         [(p["operation"], *figures(p)) for p in irqs])


def check_peaks(name):
    trace = t.trace(name)
    wanted = profiles(trace, "syscall:*")
    same(rows("whylate-lami-peaks", "peaks", ("Operation", "Peak", "Operations", "Time", "Search for root causes"), trace),
         [(p["operation"], k["peak"], k["count"], k["sum_ns"], k["status"]) for p in wanted for k in p["peaks"]])
    roots = [(p["operation"], k["peak"], " > ".join(r["path"]), r["maxcount"], r["ns"], r["example"]["tid"],
              (r["example"]["begin"], r["example"]["end"]))
             for p in wanted for k in p["peaks"] for r in k["roots"] + ([k["most_time"]] if "most_time" in k else [])]
    same(rows("whylate-lami-peaks", "root-causes", ("Operation", "Peak", "Path", "Among the largest parts of", "Time",
                                                    "Example", "Example, when"), trace), roots)


@functools.lru_cache(maxsize=None)
def block_events(name):
    """(time, event, (device, sector)) of babeltrace2's text; a flush has no sectors."""
    text = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", t.trace(name)], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode("utf-8", "replace")
    return [(int(m[1] + m[2]), m[3], (m[4], m[5] if m[6] != "0" else "flush")) for m in re.finditer(
        r"^\[(\d+)\.(\d{9})\] \S+ (block_rq_issue|block_rq_complete): .*\bdev = (\d+), sector = (\d+), "
        r"nr_sector = (\d+),", text, re.M)]


def check_block(name):
    """Each request is from an issue to the next completion of its device and sector."""
    trace = t.trace(name)
    issued, wanted = {}, []
    for time, event, place in block_events(name):
        if event == "block_rq_issue":
            issued[place] = time
        elif place in issued:
            wanted.append((issued.pop(place), time))
    got = rows("whylate-lami-block", "requests", ("Request", "Served", "Queued"), trace)
    served = collections.Counter((end - ns, end) for (_, end), ns, _ in got)
    # two at one place at once cannot be told apart
    assert served and sum((served - collections.Counter(wanted)).values()) <= len(got) // 50, (
        served - collections.Counter(wanted))
    assert len(got) >= 0.95 * len(wanted), (len(got), len(wanted))
    for table, pattern in (("served", "block-served:*"), ("queued", "block-queued:*")):
        try:
            found = profiles(trace, pattern)
        except AssertionError:
            found = [] # refused: it has none
        assert rows("whylate-lami-block", table, ("Disk", *LATENCIES), trace) == [(named(p), *figures(p)) for p in found]
        if table == "served":
            assert sum(ns for _, ns, _ in got) == sum(p["sum_ns"] for p in found)
        else:
            assert sum(queued or 0 for _, _, queued in got) <= sum(p["sum_ns"] for p in found)
    return got


def check_queued():
    got = check_block("wide")
    known = [(begin, end, ns, queued) for (begin, end), ns, queued in got if queued is not None]
    assert len(known) > 10 and all(end - begin == ns + queued for begin, end, ns, queued in known), known[:3]


def check_interrupts(name):
    trace = t.trace(name)
    for table, title, pattern in (("irqs", "IRQ", "irq:*"), ("softirqs", "SoftIRQ", "softirq:*")):
        same(rows("whylate-lami-interrupts", table, (title, *LATENCIES), trace),
             [(int(named(p)), *figures(p)) for p in profiles(trace, pattern)])
    for row in tables("whylate-lami-interrupts", trace)["softirqs"]:
        assert row[0]["hard"] is False and (row[0]["nr"] != 3 or row[0]["name"] == "NET_RX"), row[0]
    same(rows("whylate-lami-interrupts", "vectors", ("Vector", *LATENCIES), trace),
         [(named(p), *figures(p)) for p in profiles(trace, "vector:*")])


def check_handlers(name):
    """Count, sum, shortest and longest of each IRQ and softIRQ, from entries and exits in babeltrace2's text: handlers of
    one CPU do not interrupt each other, nor do softIRQs."""
    text = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", t.trace(name)], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode("utf-8", "replace")
    entered, found = {}, collections.defaultdict(list)
    for m in re.finditer(r"^\[(\d+)\.(\d{9})\] \S+ irq_(handler|softirq)_(entry|exit): \{ cpu_id = (\d+) \}, \{ "
                         r"(?:irq|vec) = (\d+)", text, re.M):
        time, kind, place = int(m[1] + m[2]), m[3], (m[3], m[5], m[6])
        if m[4] == "entry":
            entered[place] = time
        elif place in entered:
            found[kind, int(m[6])].append(time - entered.pop(place))
    wanted = {key: (len(ns), sum(ns), min(ns), max(ns)) for key, ns in found.items()}
    got = {}
    for table, title, kind in (("irqs", "IRQ", "handler"), ("softirqs", "SoftIRQ", "softirq")):
        for row in rows("whylate-lami-interrupts", table, (title, "Count", "Total", "Minimum", "Maximum"), t.trace(name)):
            got[kind, row[0]] = row[1:]
    assert len(wanted) > 4 and got == wanted, (got, wanted)


def check_requests(name, *arguments):
    trace = t.trace(name)
    report = t.report("requests", trace, "--limit", "0", *arguments)
    wanted = sorted(report["requests"], key=lambda r: (-r["ns"], r["begin"]))
    got = rows("whylate-lami-requests", "requests", ("Number", "Request", "When", "Largest cause", "Which was", "Of it"),
               *arguments, trace)
    same(sorted(got), sorted((r["id"], r["label"], (r["begin"], r["end"]), r["causes"][0]["kind"], r["causes"][0]["label"],
                              r["causes"][0]["ns"]) for r in wanted))
    assert [end - begin for _, _, (begin, end), *_ in got] == [r["ns"] for r in wanted], "not the slowest first"
    same(rows("whylate-lami-requests", "causes", ("Cause", "Which was", "Time", "Requests"), *arguments, trace),
         [(c["kind"], c["label"], c["ns"], c["requests"]) for c in report["summary"]])


def check_lost():
    trace = t.trace("lost")
    gaps = t.report("overview", trace, "--quiet")["coverage"]["gaps"]
    got = [row for row in rows("whylate-lami-states", "coverage", ("What", "When", "How many"), trace) if row[1]]
    assert len(gaps) > 10
    same(sorted(got, key=str), sorted([("events of CPU %d lost" % g["cpu"], (g["begin"], g["end"]), g["events"])
                                       for g in gaps], key=str))
    marked = [row for row in rows("whylate-lami-waits", "waits", ("Thread", "Spans lost events"), trace) if row[1]]
    assert marked, "no wait is marked"


def check_damaged(directory):
    """What can be read is reported with status 0, and a row says what could not."""
    copy = os.path.join(directory, "cut")
    shutil.copytree(t.trace("signals"), copy)
    stream = max((f for f in t.kernel_files(copy) if "metadata" not in f), key=os.path.getsize)
    os.chmod(stream, 0o644)
    offset, size = t.packets(stream)[-1]
    os.truncate(stream, offset + size // 2)
    done = ask("whylate-lami-states", copy)
    assert done.returncode == 0 and json.loads(done.stdout)["results"], done
    said = [what for what, in rows("whylate-lami-states", "coverage", ("What",), copy)]
    assert any(os.path.basename(stream) in what for what in said), said
    assert ask("whylate-lami-states", "--strict", copy).returncode == 4


def check_hosts():
    """Threads of several hosts have their host's name with theirs."""
    both = t.trace("two-hosts-client", "two-hosts-server")
    names = {row[0]["name"] for row in tables("whylate-lami-states", *both)["threads"]}
    assert {"python3 on client", "python3 on server"} <= names, sorted(names)


def check_lists():
    with open(t.SOURCE + "/Makefile.am", encoding="utf-8") as file:
        made = re.search(r"^LAMI = (.*)$", file.read(), re.M)[1].split()
    with open(t.SOURCE + "/man/whylate-lami.1", encoding="utf-8") as file:
        page = file.read().replace("\\-", "-")
    assert ["whylate-lami-" + name for name in sorted(made)] == sorted(ANALYSES), (made, sorted(ANALYSES))
    for command in ANALYSES:
        assert re.search(r"^\.B %s$" % command, page, re.M), command + " is not in the manual page"
        for table in metadata(command)["table-classes"].values():
            assert table["title"] in page, "%s: %s is not in the manual page" % (command, table["title"])


def run_all(directory):
    for command in ANALYSES:
        os.symlink(t.WHYLATE, os.path.join(PROGRAMS, command))
    os.symlink(t.WHYLATE, os.path.join(PROGRAMS, "whylate-lami-nothing"))
    tap.case("programs, their configurations and the manual page agree", check_lists)
    for command in ANALYSES:
        tap.case(command + ": version and metadata", check_first_phases, command)
        tap.case(command + ": a trace that it can analyse", check_compatibility, command)
        tap.case(command + ": no trace", check_incompatible, command, "--test-compatibility", directory)
        tap.case(command + ": an error when it runs", lambda c=command: check_error(c, directory, says="not a trace"))
    tap.case("a trace without the events that an analysis is of", check_other_events, directory)
    tap.case("wrong options", lambda: [check_error("whylate-lami-waits", *words, t.trace("signals"), says=says) for words, says in (
        (["--begin", "yesterday"], "--begin 'yesterday'"), (["--limit=0"], "--limit '0'"), (["--limit", "x"], "--limit 'x'"),
        (["--format", "json"], "--format"), (["--from=1"], "--from=1"), (["--thread", "none-such"], "none-such"),
        (["--begin", "1", "--end", "2"], "not inside the trace"))])
    tap.case("no trace named", lambda: check_error("whylate-lami-waits", says="no trace given"))
    tap.case("a critical path of no thread in particular", lambda: check_error("whylate-lami-path", t.trace("signals"), says="--thread"))
    tap.case("a name that is no analysis", check_incompatible, "whylate-lami-nothing", "--metadata")
    tap.case("progress", check_progress_lines)
    tap.case("windows", check_window)
    tap.case("limits", check_limit)
    for name in ("web-mixed", "lost"):
        tap.case("blocked: figures of overview, " + name, check_blocked, name)
        tap.case("waits: figures of delay, " + name, check_waits, name)
        tap.case("states: figures of delay, " + name, check_states, name)
        tap.case("latencies: figures of profile, " + name, check_latencies, name)
    tap.case("blocked: files, devices and others", check_resources)
    tap.case("path: figures of delay, and Xorg's naps", check_path)
    for name in ("futex", "web-mixed", "wide"):
        tap.case("locks: figures of overview, " + name, check_locks, name)
    tap.case("locks: a deadlock", check_deadlock)
    tap.case("latencies: of other operations", check_other_latencies)
    for name in ("lock-lapse", "disk-read"):
        tap.case("peaks: figures of profile, " + name, check_peaks, name)
    tap.case("block: each request as babeltrace2's text has it", check_block, "disk-read")
    tap.case("block: queues", check_queued)
    tap.case("interrupts: figures of profile", check_interrupts, "web-mixed")
    tap.case("interrupts: as babeltrace2's text has them", check_handlers, "web-mixed")
    tap.case("requests: figures of requests", check_requests, "web-mixed")
    tap.case("requests: of another kind", check_requests, "web-mixed", "--preset", "syscall:fsync")
    tap.case("lost events", check_lost)
    tap.case("a damaged trace", check_damaged, directory)
    tap.case("several hosts", check_hosts)


with tempfile.TemporaryDirectory(dir=t.CACHE) as place:
    run_all(place)
shutil.rmtree(PROGRAMS)
sys.exit(tap.done())
