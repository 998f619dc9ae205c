#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of several hosts in one run. What is expected is from the client's
own notes (truth.tsv), from README.md of the traces, and from the packets as
babeltrace2 prints them, by computations that share nothing with whylate's."""
import json
import os
import re
import subprocess
import sys
import tempfile

import whylate_test as t

MS = 1000000
FRONT, DB = "10.9.0.1:7000", "127.0.0.1:5555"  # README: front.py and db.py
tap = t.Tap()
CLIENT, SERVER = t.trace("two-hosts-client", "two-hosts-server")


def delay(*arguments, traces=(CLIENT, SERVER)):
    return t.report("delay", *traces, *arguments)


def host_of(report, name):
    return [h for h in report["hosts"] if h["hostname"] == name][0]


# --- the clocks, from the packets --------------------------------------------

def packets(directory):
    """Each TCP packet between the hosts as (time, sent?, what it is)."""
    out = subprocess.run(["babeltrace2", "--clock-seconds", directory], stdout=subprocess.PIPE, check=True)
    for line in out.stdout.decode().split("\n"):
        if not re.search(r" net_(dev_queue|if_receive_skb): .*\"_tcp\" .*source_port", line) or '"lo"' in line:
            continue
        time = int(line[1:line.index("]")].replace(".", ""))
        fields = [re.search(r"[ {]%s = (\w+)" % f, line).group(1) for f in
                  ("source_port", "dest_port", "seq", "ack_seq", "flags", "tot_len", "id")]
        yield time, "net_dev_queue" in line, tuple(fields)


def bounds():
    """What is to be added to the server's clock, as (its time, at least or at
    most so much), from packets that are unique on both sides."""
    here, there = list(packets(CLIENT)), list(packets(SERVER))
    lower, upper = [], []
    for source, target, result in ((here, there, lower), (there, here, upper)):
        for time, sent, what in source:
            received = [r[0] for r in target if not r[1] and r[2] == what]
            if sent and len(received) == 1:
                result.append((received[0], time - received[0]) if result is lower
                              else (time, received[0] - time))
    return lower, upper


LOWER, UPPER = bounds()


def farthest():
    """How far from the middle a line that passes between the bounds can be, at
    the first and the last packet: all drifts up to 1000 ppm are tried."""
    times = [p[0] for p in LOWER + UPPER]
    first, last = min(times), max(times)
    middle = (max(p[1] for p in LOWER) + min(p[1] for p in UPPER)) / 2
    worst = 0
    for step in range(-4000, 4001):
        drift = step / 4e6
        low = max(d - drift * (x - first) for x, d in LOWER)
        high = min(d - drift * (x - first) for x, d in UPPER)
        if low <= high:
            for value in (low, high, low + drift * (last - first), high + drift * (last - first)):
                worst = max(worst, abs(value - middle))
    return worst


def clocks():
    assert len(LOWER) == 28 and len(UPPER) == 56, (len(LOWER), len(UPPER))  # lttng-events.md
    least, most = max(d for _, d in LOWER), min(d for _, d in UPPER)
    assert 815 * MS < least < most < 817 * MS, (least, most)  # README: about 0.816 s behind
    server = host_of(delay("--thread", "1"), "server")
    assert least <= server["clock_offset"] <= most, (server, least, most)
    assert abs(server["clock_offset"] - (least + most) / 2) <= 1, server
    assert (most - least) / 2 <= server["clock_error"] < MS, server
    assert abs(server["clock_error"] - farthest()) < 1000, (server, farthest())
    assert server["clock_packets"] == 84 and server["clock_packets_contradicting"] == 0, server
    assert server["clock_from"] == "packets" and "clock_drift" not in server, server
    client = host_of(delay("--thread", "1"), "client")
    assert (client["clock_offset"], client["clock_error"], client["clock_from"]) == (0, 0, "own"), client


def swapped():
    """The other one given first is the reference; the difference is the same, the
    other way round."""
    report = delay("--host", "client", "--thread", "python3", "--limit", "0", traces=(SERVER, CLIENT))
    assert [h["hostname"] for h in report["hosts"]] == ["server", "client"], report["hosts"]
    server, client = report["hosts"]
    first = host_of(delay("--thread", "1"), "server")
    assert server["clock_offset"] == 0 and abs(client["clock_offset"] + first["clock_offset"]) <= 1, client
    assert abs(client["clock_error"] - first["clock_error"]) < 2000, (client, first)
    waits = [w for w in report["threads"][0]["causality"] if w.get("share", {}).get("host") == 0]
    assert len(waits) == len([w for w in client_waits() if w.get("share", {}).get("host") == 1]), len(waits)


# --- each operation ------------------------------------------------------------

def truth():
    with open(CLIENT + "/truth.tsv", encoding="utf-8") as file:
        return [(int(b), kind, int(ns)) for b, kind, ns in (line.split() for line in file)]


WAITS = []


def client_waits():
    if not WAITS:
        WAITS.extend(delay("--host", "client", "--thread", "python3", "--limit", "0")["threads"][0]["causality"])
    return WAITS


def handed(wait, address, host):
    """The wait was ended by a packet from `address` of a thread on `host`."""
    assert wait["cause"]["kind"] == "network", wait["cause"]
    via = wait["via"][0]
    assert (via["kind"], via["label"], via["host"]) == ("packet", address, host), via
    assert wait["share"]["host"] == host and wait["share"]["tid"] == via["tid"], wait["share"]
    assert wait["begin"] < via["time"] <= wait["end"], via
    assert ("network_ns" in via) == (host != wait["host"]), via
    if "network_ns" in via:
        assert via["network_ns"] >= 0 and 0 < via["clock_error_ns"] < MS, via
        assert via["undecidable"] == (via["network_ns"] < via["clock_error_ns"]), via
        assert via["network_ns"] <= wait["end"] - via["time"] + MS, via
    return via


def operation(begin, kind, ns):
    """From the client over the network to front.py, over loopback to db.py, and
    there to what the client asked for."""
    inside = [w for w in client_waits() if begin <= w["begin"] and w["end"] <= begin + ns]
    assert len(inside) == 1 and inside[0]["leaf"] == "blocked/syscall:recvfrom", inside
    wait = inside[0]
    assert ns - wait["ns"] < 10 * MS, (ns, wait["ns"])
    handed(wait, FRONT, 1)
    child = max(wait["children"], key=lambda w: w["ns"])
    handed(child, DB, 1)
    share = child["share"]
    assert share["tid"] != wait["share"]["tid"], share
    waits = child["children"]
    disk = sum(w["ns"] for w in waits if w["cause"]["kind"] == "block-device" and "vda" in w["cause"]["label"])
    sleep = sum(w["ns"] for w in waits if w["leaf"] == "blocked/syscall:clock_nanosleep" and
                w["cause"]["kind"] == "timer")
    busy = share["working_ns"] + share["interrupted_ns"]
    parts = {"disk": disk, "sleep": sleep, "cpu": busy}
    reads = [w for w in waits if w["cause"]["kind"] == "block-device"]
    # six reads each; some are over before front.py has gone to sleep
    assert (4 <= len(reads) <= 6, sleep > 0) == (kind == "disk", kind == "sleep"), (kind, parts)
    assert kind == "disk" or not reads, (kind, reads)
    child["slow_network"] = wait["via"][0]["network_ns"] > wait["ns"] / 2 # and a fast disk
    if not child["slow_network"]:
        assert max(parts, key=parts.get) == kind, (kind, parts)
        assert parts[kind] > 0.7 * (share["working_ns"] + share["interrupted_ns"] + share["blocked_ns"]), parts
    if kind == "sleep":
        assert 30 * MS <= sleep < 33 * MS, sleep  # README: 30 ms
    return child


def operations():
    rows = truth()
    assert len(rows) == 30, len(rows)
    slow = []
    for begin, kind, ns in rows[3:]:
        if operation(begin, kind, ns)["slow_network"]:
            slow.append(begin)
    # of the 27, the packet of one was longer on its way than all the rest took: sent at
    # …214.861692207 by the server's clock, received at …215.714400399 by the client's
    assert slow == [rows[3][0]], slow
    assert 36 * MS < 714400399 + 1000 * MS - 861692207 - 815602674 < 38 * MS


def before():
    """The server's trace begins during the third one: nothing is invented before."""
    report = delay("--thread", "1")
    for begin, _, ns in truth()[:2]:
        assert begin + ns < host_of(report, "server")["begin"]
        for wait in client_waits():
            if begin <= wait["begin"] and wait["end"] <= begin + ns:
                assert "share" not in wait and wait["cause"]["kind"] == "network", wait


def paths():
    """The critical path of one of each kind: it tiles the window, and most of it
    is db.py's, in what was asked for."""
    for row in (6, 7, 8):
        begin, kind, ns = truth()[row]
        db = operation(begin, kind, ns)["share"]["tid"]
        wait = [w for w in client_waits() if begin <= w["begin"] and w["end"] <= begin + ns][0]
        report = delay("--host", "client", "--thread", "python3", "--from", "%dns" % wait["begin"], "--to",
                       "%dns" % wait["end"])
        pieces = report["critical_path"]
        assert pieces[0]["begin"] == wait["begin"] and pieces[-1]["end"] == wait["end"]
        assert all(a["end"] == b["begin"] for a, b in zip(pieces, pieces[1:]))
        assert all(p["ns"] == p["end"] - p["begin"] > 0 for p in pieces)
        assert {p["host"] for p in pieces} == {0, 1}
        wanted = {"disk": "blocked/syscall:pread", "cpu": "working/user", "sleep": "blocked/syscall:clock_nanosleep"}
        of_kind = sum(p["ns"] for p in pieces if p["host"] == 1 and p["tid"] == db and
                      p["leaf"].startswith(wanted[kind]))
        assert of_kind > 0.5 * wait["ns"], (kind, of_kind, wait["ns"])
        assert "(%d) on server" % db in report["verdict"][0], report["verdict"][0]


def profile():
    """The root of the client's slow calls is on the server."""
    report = t.report("profile", CLIENT, SERVER, "--host", "client", "--thread", "python3", "--operation",
                      "syscall:recvfrom")
    paths = [r["path"] for p in report["profiles"] for k in p["peaks"] for r in k["roots"]]
    server = [p for p in paths if "by:python3 on server" in p and "blocked/device:vda" in p]
    assert server, paths
    assert sum(1 for e in server[0] if e == "by:python3 on server") == 2, server[0]  # front, db


# --- by hand ------------------------------------------------------------------

def times(value, host, shift):
    """A report's value with the times of host 1 moved back by `shift`."""
    keys = ("begin", "end", "time", "since", "longest_begin")
    if isinstance(value, list):
        return [times(v, host, shift) for v in value]
    if not isinstance(value, dict):
        return value
    host = value.get("host", host)
    return {k: v - shift if host == 1 and k in keys and isinstance(v, int) else
            [line for line in v if line.startswith("CPU")] if k == "missing" else times(v, host, shift)
            for k, v in value.items() if k != "verdict"}


def by_hand(*names):
    """--clock-offset moves everything of a host and nothing else: all times that
    are kept, of two hosts with no packets between them, in every report."""
    traces = t.trace(*names)
    whole = ["--limit", "0"]
    for command in (["delay", "--thread", "all", *whole], ["overview", *whole],
                    ["profile", "--operation", "*", "--per", "thread", *whole]):
        for shift, text in ((1234567890, "1234567890ns"), (-50 * MS, "-50ms")):
            plain = t.report(*command, *traces)
            moved = t.report(*command, *traces, "--clock-offset", text)
            assert plain["hosts"][1]["clock_offset"] == 0, plain["hosts"]
            assert moved["hosts"][1]["clock_offset"] == shift, moved["hosts"]
            assert moved["hosts"][1]["clock_error"] is None and moved["hosts"][1]["clock_from"] == "given"
            for report in (plain, moved):
                del report["window"]
                report.pop("recordings", None)  # their windows
                for host in report["hosts"]:
                    del host["clock_offset"], host["clock_from"]
                for item in report.get("stands_out", []):
                    del item["command"]         # has --clock-offset too
                for item in report.get("failed_calls", []):
                    del item["sentence"]        # says when
            assert times(moved, 0, shift) == times(plain, 0, 0), command


def given():
    """The true offset given by hand: the same causes. One with the wrong sign: it
    is said, and no time is negative."""
    right = delay("--host", "client", "--thread", "python3", "--limit", "0", "--clock-offset", "server=815602674ns")
    mine = client_waits()
    theirs = right["threads"][0]["causality"]
    assert [w["ns"] for w in mine] == [w["ns"] for w in theirs]
    assert [w.get("share") for w in mine] == [w.get("share") for w in theirs]
    assert not right["coverage"]["missing"] or "true clock" not in " ".join(right["coverage"]["missing"])
    via = [w["via"][0] for w in theirs if "via" in w and "network_ns" in w["via"][0]]
    assert via and all(v["clock_error_ns"] is None and v["undecidable"] is False for v in via), via[:1]
    wrong = delay("--host", "client", "--thread", "python3", "--limit", "0", "--clock-offset", "server=+1.5s")
    assert "received before they were sent" in " ".join(wrong["coverage"]["missing"]), wrong["coverage"]
    text = json.dumps(wrong)
    assert not re.search(r'"(ns|network_ns|working_ns|blocked_ns|interrupted_ns)": -', text)


def same(traces, arguments, parameters):
    for component, more, extra in (("delay", ["--thread", "python3"], 'thread="python3",'), ("overview", [], ""),
                                   ("profile", [], "")):
        for form in ("json", "text"):
            mine = t.output(component, *traces, *more, *arguments, "--format", form)
            done = t.babeltrace2(*traces, "--component=sink.whylate." + component,
                                 '--params=%sformat="%s"%s' % (extra, form, parameters))
            assert done.returncode == 0, done.stderr.decode()
            mine, done.stdout = t.unnamed(mine, traces), t.unnamed(done.stdout, traces)
            assert mine == done.stdout and len(mine) > 1000, (component, form)


def connected():
    """babeltrace2 names its sources in the order given, and connects them in any (here: the other one)."""
    for traces in ((CLIENT, SERVER), (SERVER, CLIENT)):
        inputs = ['inputs=["%s"]' % os.path.dirname(t.kernel_files(path)[0]) for path in traces]
        done = t.babeltrace2("run", "--component=ctf:source.ctf.fs", "--params=" + inputs[0],
                             "--component=ctf-0:source.ctf.fs", "--params=" + inputs[1],
                             "--component=muxer:filter.utils.muxer", "--component=sink:sink.whylate.overview",
                             '--params=format="json"', "--connect=ctf-0:muxer", "--connect=ctf:muxer",
                             "--connect=muxer:sink")
        assert done.returncode == 0, done.stderr.decode()
        told = [h["hostname"] for h in json.loads(done.stdout)["hosts"]]
        assert told == ["client" if path == CLIENT else "server" for path in traces], told


def no_packets():
    """Two recordings that have nothing to do with each other."""
    traces = (CLIENT, t.trace("web-mixed"))
    report = delay("--thread", "all", "--limit", "0", traces=traces)
    other = report["hosts"][1]
    assert (other["clock_offset"], other["clock_error"], other["clock_from"]) == (0, None, "own"), other
    missing = [m for m in report["coverage"]["missing"] if "none match" in m]
    assert len(missing) == 1 and "client and" in missing[0] and "--clock-offset" in missing[0], missing
    for thread in report["threads"]:
        for wait in thread["causality"]:
            assert wait.get("share", thread)["host"] == thread["host"], wait
    assert re.search(rb"taken\s+as\s+it\s+is,\s+as\s+no\s+packets\s+match", t.output("overview", "--full", *traces))


def without_labels(node):
    """IRQs are named only if they are of one device on all hosts."""
    return {k: [without_labels(c) for c in v] if k == "children" else v for k, v in node.items() if k != "label"}


def alone():
    """Each host's states are what they are when it is analysed alone."""
    both = delay("--thread", "all", "--limit", "0")
    for number, (path, name) in enumerate(((CLIENT, "client"), (SERVER, "server"))):
        single = delay("--thread", "all", "--limit", "0", traces=(path,))
        offset = host_of(both, name)["clock_offset"]
        mine = [(x["tid"], x["begin"] - offset, without_labels(x["summary"])) for x in both["threads"]
                if x["host"] == number]
        assert len(mine) > 40
        assert mine == [(x["tid"], x["begin"], without_labels(x["summary"])) for x in single["threads"]], name


def window():
    """--from and --to are of the first host's clock, as is what is printed."""
    wait = [w for w in client_waits() if w.get("share", {}).get("host") == 1][-1]
    inner = max(wait["children"], key=lambda w: w["ns"])
    report = delay("--host", "server", "--thread", "all", "--from", "%dns" % inner["begin"], "--to",
                   "%dns" % inner["end"], "--limit", "0")
    found = [w for x in report["threads"] for w in x["causality"] if x["tid"] == inner["tid"]]
    assert (found[0]["begin"], found[0]["end"]) == (inner["begin"], inner["end"]), found[:1]


def targets():
    """A target is the first of all hosts by the common time; --host chooses."""
    offset = host_of(delay("--thread", "1"), "server")["clock_offset"]
    first = {}
    for name, path in (("client", CLIENT), ("server", SERVER)):
        out = subprocess.run(["babeltrace2", "--clock-seconds", path], stdout=subprocess.PIPE, check=True)
        found = [x for x in out.stdout.decode().split("\n") if " syscall_entry_recvfrom: " in x]
        first[name] = [int(x[1:x.index("]")].replace(".", "")) for x in found]
        first[name] = [x + offset * (name == "server") for x in first[name]]
        target = delay("--host", name, "--target", "syscall_entry_recvfrom nth=2")["target"]
        assert target["time"] == first[name][1] and target["host"] == (name == "server"), target
    both = sorted(first["client"] + first["server"])
    by_stamp = sorted(first["client"] + [x - offset for x in first["server"]])
    for nth in (2, 5, 20, 50):
        target = delay("--target", "syscall_entry_recvfrom nth=%d" % nth)["target"]
        assert target["time"] == both[nth - 1], (target, both[nth - 1])
    assert by_stamp[19] + offset * (by_stamp[19] not in first["client"]) != both[19]  # the clocks matter


def text():
    """Hosts and clocks are named in each report."""
    for command in (["delay", "--thread", "python3"], ["overview", "--full"], ["profile"]):
        out = t.output(*command, CLIENT, SERVER).decode()
        assert re.search(r"clock:\s+\+815\.6 ms,\s+±40\d\.\d µs\s+\(84\s+packets\)", out), out[:600]
        assert "clock:\n  the reference" in out or "clock: the reference" in out, out[:300]
        assert re.search(r"on\s+server", out) and re.search(r"on\s+client|  client", out), command
    alone_text = t.output("overview", "--full", CLIENT).decode()
    assert "clock:" not in alone_text and " on client" not in alone_text


def refused(*arguments):
    *rest, words = arguments
    done = t.run("overview", *rest)
    message = done.stderr.decode()
    assert done.returncode == 2, (done.returncode, message)
    for word in words:
        assert word in message, (word, message)


tap.case("the clocks lie between what the packets allow", clocks)
tap.case("the traces in the other order", swapped)
tap.case("every operation from the fourth on leads to its cause on the server", operations)
tap.case("nothing is known of the server before its trace", before)
tap.case("the critical path goes through both hosts", paths)
tap.case("a profile's roots are on the other host", profile)
# hand-overs, requests and PI locks; gaps; CPUs that begin late; locks; a deadlock and file locks;
# stops, signals and children
for second in t.sample(("wide", "lost", "snapshot", "futex", "hang", "signals")):
    tap.case("--clock-offset moves all of a host, " + second, by_hand, "polls", second)
tap.case("--clock-offset, right and wrong", given)
tap.case("the command and the plugin", same, (CLIENT, SERVER), [], "")
tap.case("the command and the plugin, the other order", same, (SERVER, CLIENT), [], "")
tap.case("the command and the plugin, --clock-offset", same, (CLIENT, SERVER), ["--clock-offset", "server=800ms"],
         ',clock-offset="server=800ms"')
tap.case("the plugin, sources connected in another order", connected)
tap.case("no packets match", no_packets)
tap.case("each host as if alone", alone)
tap.case("the window is of the first host's clock", window)
tap.case("targets of a host", targets)
tap.case("texts name the hosts", text)
tap.case("refused: no duration", refused, CLIENT, SERVER, "--clock-offset", "server=fast",
         ("--clock-offset 'server=fast'", "HOST=", "500ms"))
tap.case("refused: no such host", refused, CLIENT, SERVER, "--clock-offset", "mars=1s",
         ("--clock-offset 'mars=1s'", "no such other host", "server"))
tap.case("refused: the reference itself", refused, CLIENT, SERVER, "--clock-offset", "client=1s",
         ("client", "reference", "server"))
tap.case("refused: one host only", refused, CLIENT, "--clock-offset", "1s", ("--clock-offset '1s'", "no others"))
sys.exit(tap.done())
