# SPDX-License-Identifier: MIT
"""Which lines of whylate batch count: each trace once, whoever wrote its line, how often and where; torn lines; what was
expected; the same bytes in any order and grouping; memory that does not follow their number."""
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile

import whylate_test as t
from jsonschema import Draft202012Validator

tap = t.Tap()
DIRECTORY = tempfile.TemporaryDirectory()
ROOT = DIRECTORY.name
NAMES = ("fork1", "disk-read", "signals", "pipe-chain", "polls")
with open(t.SOURCE + "/share/schema/whylate-batch-1.json", encoding="utf-8") as schema_file:
    SCHEMA = Draft202012Validator(json.load(schema_file))
LIMITS = ("--fail-if", "a: p99(syscall:*) > 900s", "--fail-if", "blocked(thread=*) per process > 99.9% if blocked > 900s")


def batch(*arguments, stdin=b"", **more):
    return subprocess.run([t.WHYLATE, "batch", *arguments], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, timeout=600, **more)


def whole(done):
    """The sum, as bytes, that what was printed is."""
    assert done.stdout.count(b"\n") == 1, done
    line = json.loads(done.stdout)
    errors = [e.message[:300] for e in SCHEMA.iter_errors(line)]
    assert not errors and line["status"] == done.returncode, (errors, line["status"], done.returncode)
    return done.stdout


def merge(*lines, more=()):
    return batch("--merge", *more, stdin=b"".join(lines))


def counted(done):
    line = json.loads(whole(done))
    return [one["trace"] for one in line["traces"]], line


def make():
    """Five traces, the second one damaged; their lines as bytes."""
    paths = []
    for name in NAMES:
        paths.append("%s/traces/%s" % (ROOT, name))
        shutil.copytree(t.trace(name), paths[-1])
    subprocess.run(["chmod", "-R", "u+w", ROOT], check=True)
    largest = max((f for f in t.kernel_files(paths[1]) if "metadata" not in f and os.path.isfile(f)), key=os.path.getsize)
    os.truncate(largest, os.path.getsize(largest) // 2 + 3)
    paths = [json.loads(line)["trace"] for line in batch(*paths).stdout.splitlines()]  # as they are found below them
    done = batch("--map", *LIMITS, *paths, ROOT + "/nothing")
    assert done.returncode == 0, done  # the lines are written: there is nothing to try again
    lines = done.stdout.splitlines(keepends=True)
    assert [json.loads(line)["status"] for line in lines] == [0, 4, 0, 0, 0, 3], done.stderr
    return paths, lines


def check_same():
    """A copy elsewhere, a retry, a stray task's line: the trace counts once, and that is said."""
    wanted = json.loads(whole(merge(*LINES)))
    assert wanted["repeated"] == 0 and len(wanted["traces"]) == 6
    copy = ROOT + "/zz"
    shutil.copytree(PATHS[0], copy)  # other times, another name
    stray = batch("--map", *LIMITS, copy).stdout
    for more in ([LINES[0]], [stray], [stray, LINES[2], LINES[5]]):
        mixed = LINES + more
        random.Random(len(more)).shuffle(mixed)
        done = merge(*mixed)
        got = json.loads(whole(done))
        assert got.pop("repeated") == len(more) and b"counts once" in done.stderr, done.stderr
        assert got == {key: value for key, value in wanted.items() if key != "repeated"}, more
    # two snapshots of one session, of the same size, are two: only what is in them differs
    other = ROOT + "/other"
    shutil.copytree(PATHS[0], other)
    stream = max((f for f in t.kernel_files(other) if "metadata" not in f and os.path.isfile(f)), key=os.path.getsize)
    with open(stream, "r+b") as file:
        file.seek(-1, 2)
        last = file.read(1)
        file.seek(-1, 2)
        file.write(bytes([last[0] ^ 1]))
    names, _ = counted(merge(LINES[0], batch("--map", *LIMITS, other).stdout))
    assert len(names) == 2, names
    # given twice on one machine: a line each, counted once
    done = batch(*LIMITS, copy, PATHS[0], "--merged", ROOT + "/once")
    assert done.stdout.count(b"\n") == 2 and b"1 trace: 1 good; 1 came again, and were counted once" in done.stderr, done.stderr
    with open(ROOT + "/once", encoding="utf-8") as file:
        assert [one["trace"] for one in json.load(file)["traces"]] == [PATHS[0]]  # the first by name


def check_retry():
    """An answer stands before none, however they come; a line without an identity is known by its path."""
    failed = json.dumps({"schema": "whylate-batch-1", "kind": "trace", "trace": PATHS[2], "status": 4, "messages": ["killed"],
                         "trouble": ["no-answer"]}).encode() + b"\n"
    wanted = json.loads(whole(merge(*LINES)))
    for lines in ([failed] + LINES, LINES + [failed], [failed, failed] + LINES):
        got = json.loads(whole(merge(*lines)))
        assert got.pop("repeated") == len(lines) - 6 and got["traces"] == wanted["traces"] and got["statuses"] == wanted["statuses"]
    # … also where a sum was made in between
    early = whole(merge(failed, *LINES[:2]))
    got = json.loads(whole(merge(early, *LINES[2:])))
    assert got.pop("repeated") == 1 and got["traces"] == wanted["traces"] and got["profiles"] == wanted["profiles"]


def check_bytes():
    """Any order, any files, any tree: the same bytes; as one machine has them."""
    wanted = whole(merge(*LINES))
    one = batch(*LIMITS, *PATHS, ROOT + "/nothing", "--merged", ROOT + "/one")
    assert one.returncode == 4
    with open(ROOT + "/one", "rb") as file:
        assert file.read() == wanted
    rng = random.Random(11)
    for _ in range(5):
        lines = list(LINES)
        rng.shuffle(lines)
        files = []
        for number, line in enumerate(lines):
            files.append("%s/part.%d" % (ROOT, number))
            with open(files[-1], "wb") as file:
                file.write(line)
        rng.shuffle(files)
        assert whole(batch("--merge", *files)) == wanted
        at = rng.randrange(1, 6)
        tree = [whole(merge(*lines[:at])), whole(merge(whole(merge(*lines[at:]))))]
        rng.shuffle(tree)
        assert whole(merge(*tree)) == wanted
    again = whole(merge(wanted, wanted))
    assert json.loads(again) == dict(json.loads(wanted), repeated=5 + 1)


def check_sums_overlap():
    """A sum that shares some traces cannot be taken apart: refused, and said; one that brings nothing new is left out."""
    left, right = whole(merge(*LINES[:3])), whole(merge(*LINES[2:4]))
    for lines in ((left, right), (right, left)):
        done = merge(*lines)
        names, line = counted(done)
        assert names == sorted(PATHS[:3]) and line["bad_lines"] == 1 and done.returncode == 4, line["bad_lines"]
        assert b"1 of the 2 traces of this sum are in other lines too" in done.stderr, done.stderr
    names, line = counted(merge(LINES[1], left))
    assert line["repeated"] == 1 and line["bad_lines"] == 0 and len(names) == 3


def check_torn():
    """What is torn costs itself only, and its number is told."""
    wanted = json.loads(whole(merge(*LINES)))
    total = whole(merge(*LINES[:2]))
    cases = (
        (LINES[:1] + [LINES[1][:5000]] + LINES[1:], [2]),            # no newline: the next one begins in the same line
        ([LINES[0][:-1]] + LINES[1:], []),                           # only the newline is lost
        ([LINES[0][700:]] + LINES, [1]),                             # the head is lost
        ([b"\0" * 4096] + LINES, [1]),                               # a hole, as NFS leaves
        (LINES + [LINES[0][:4096]], [7]),                            # the end of the file
        ([b"not a line\n", b"[1]\n", b"{}\n"] + LINES, [1, 2, 3]),
        ([total[:-20]] + LINES, [1]),                                # a sum, cut in its list of traces
        ([total[:-20] + b"\n"] + LINES, [1]),
    )
    for lines, bad in cases:
        done = merge(*lines)
        got = json.loads(whole(done))
        assert got.pop("bad_lines") == len(bad) and got.pop("status") == 4, (bad, done.stderr)
        assert all(got[key] == wanted[key] for key in got), bad
        for number in bad:
            assert b"standard input, line %d: " % number in done.stderr, (bad, done.stderr)


def check_expected():
    """Which traces should be there: those that are not are named; others are left out."""
    listed = ROOT + "/list"

    def expect(*names):
        with open(listed, "w", encoding="utf-8") as file:
            file.write("".join(name + "\n" for name in names))
        return ("--expect", listed)

    good = [LINES[i] for i in (0, 2, 3)]
    names = [PATHS[i] for i in (0, 2, 3)]
    done = merge(*good, more=expect(*names))
    line = json.loads(whole(done))
    assert done.returncode == 0 and line["missing"] == [] and len(line["traces"]) == 3, done
    assert {key: value for key, value in line.items() if key != "missing"} == json.loads(whole(merge(*good)))
    done = merge(*good, more=expect(*names, PATHS[4], "/gone/a"))
    line = json.loads(whole(done))
    assert done.returncode == 4 and line["missing"] == sorted(["/gone/a", PATHS[4]]), line["missing"]
    assert b"2 traces are missing: /gone/a, " in done.stderr, done.stderr
    # a sum says what it missed, until it is there
    late = json.loads(whole(merge(done.stdout, LINES[4])))
    assert late["missing"] == ["/gone/a"] and late["status"] == 4
    # by another path, by its identity, with a slash; a line that was not asked for
    os.symlink(PATHS[0], ROOT + "/link")
    identity = json.loads(LINES[2])["identity"]
    done = merge(*good, LINES[4], more=expect(ROOT + "/link", identity + "\t/elsewhere/x", PATHS[3] + "/"))
    names, line = counted(done)
    assert done.returncode == 0 and line["missing"] == [] and PATHS[4] not in names and len(names) == 3, line["missing"]
    assert b"is not in the list that --expect names" in done.stderr, done.stderr
    # a sum with others in it cannot be taken apart, so that what is in it is missing
    done = merge(whole(merge(*good)), more=expect(PATHS[0], PATHS[2]))
    assert json.loads(whole(done))["missing"] == sorted([PATHS[0], PATHS[2]]) and b"--expect names" in done.stderr
    # where traces are looked for; where it has no place
    done = batch(ROOT + "/traces/fork1", "--merged", ROOT + "/found", *expect(PATHS[0], PATHS[2]))
    assert done.returncode == 4 and b"1 trace is missing: " in done.stderr, done
    assert batch("--map", PATHS[0], *expect(PATHS[0])).returncode == 2
    assert batch("--merge", "--expect", ROOT + "/no list", stdin=b"").returncode == 2


def check_one_piece():
    """A line is one write(2): a socket that keeps records apart has a record for each."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
    with subprocess.Popen([t.WHYLATE, "batch", "--map", *LIMITS, *PATHS], stdout=theirs, stderr=subprocess.DEVNULL) as writer:
        theirs.close()
        records = list(iter(lambda: ours.recv(4 << 20), b""))
        assert writer.wait() == 0
    assert records == LINES[:5], [len(record) for record in records]
    # twelve processes append to one file
    with open(ROOT + "/all", "ab") as file:
        writers = [subprocess.Popen([t.WHYLATE, "batch", "--map", *LIMITS, PATHS[i % 5]], stdout=file, stderr=subprocess.DEVNULL)
                   for i in range(12)]
        assert [writer.wait() for writer in writers] == [0] * 12
    with open(ROOT + "/all", "rb") as file:
        assert sorted(file.readlines()) == sorted(LINES[i % 5] for i in range(12))


def simulated(number):
    """A line by hand: hosts of a fleet, each with a name, latencies and costs of its own."""
    return json.dumps({
        "schema": "whylate-batch-1", "kind": "trace", "trace": "/var/traces/2026-11-21/host-%05d/snapshot-1" % number,
        "identity": "%032x" % (number * 0x9e3779b97f4a7c15f39cc0605cedc835 % 2**128), "status": 0, "messages": [], "hosts": [],
        "window": {"begin": number * 10**9, "end": (number + 2) * 10**9}, "events": 1000, "lost_events": 0, "lost_packets": 0,
        "damaged": False, "limits": [], "findings": [], "resolution": 16,
        "profiles": [{"operation": "syscall:read", "count": 3, "spans_gap": 0, "sum_ns": 3 * number, "min_ns": number,
                      "max_ns": number, "buckets": {str(200 + number % 50): 3}}],
        "settings": {"recorded": True, "values": {"host": {"name": "host-%d" % number}, "sysctl": {"vm.x": str(number % 3)}},
                     "costs_ns": {"all programs": 10**6 + number, "db": number}}}, separators=(",", ":")).encode() + b"\n"


def check_memory():
    """The sum of 100,000 lines, and of sums of them, in less than 100 MB."""
    count, parts = 100000 if t.whole("100,000 lines, not 25,000") else 25000, []
    for part in range(2):
        parts.append("%s/many.%d" % (ROOT, part))
        with open(parts[-1], "wb") as file:
            for number in range(part * count // 2, (part + 1) * count // 2):
                file.write(simulated(number))

    def measured(output, *files):
        with open(output, "wb") as file:
            child = subprocess.Popen([t.WHYLATE, "batch", "--merge", *files], stdout=file, stderr=subprocess.PIPE)
            child.stderr.read()
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0, child.returncode
        return used.ru_maxrss // 1024

    used = [measured(ROOT + "/flat", *parts)]
    for part in range(2):
        used.append(measured("%s/sum.%d" % (ROOT, part), parts[part]))
    used.append(measured(ROOT + "/tree", ROOT + "/sum.1", ROOT + "/sum.0"))
    assert "sanitize" in t.WHYLATE or max(used) < 100, used
    with open(ROOT + "/flat", "rb") as flat, open(ROOT + "/tree", "rb") as tree:
        text = flat.read()
        assert text == tree.read()
    line = json.loads(text)
    assert line["events"] == 1000 * count and len(line["traces"]) == count and line["profiles"][0]["count"] == 3 * count
    assert line["settings"]["recorded"] == 2000 and sum("settings" in one for one in line["traces"]) == 2000


def measured_line(number, mean, kernel):
    """20 operations of `mean` ns."""
    line = json.loads(simulated(number))
    line["profiles"] = [{"operation": "syscall:fsync", "count": 20, "spans_gap": 0, "sum_ns": 20 * mean, "min_ns": mean, "max_ns": mean,
                         "buckets": {"300": 20}}]
    line["settings"] = {"recorded": True, "values": {"host": {"name": "h%d" % number, "kernel": kernel}}, "costs_ns": {}}
    return json.dumps(line).encode() + b"\n"


def check_seen():
    """When the first and the last trace of a finding began; in how many it is."""
    begins = [json.loads(LINES[i])["window"]["begin"] for i in (0, 2, 3)]
    for grouped in (merge(*LINES[:4]), merge(whole(merge(*LINES[:1])), whole(merge(*LINES[1:4])))):
        for finding in json.loads(whole(grouped))["findings"]:
            has = [begin for begin, i in zip(begins, (0, 2, 3)) if any(one["id"] == finding["id"] for one in json.loads(LINES[i])["findings"])]
            damaged = json.loads(LINES[1])
            has += [damaged["window"]["begin"]] * any(one["id"] == finding["id"] for one in damaged["findings"])
            assert (finding["traces"], finding["first_seen"], finding["last_seen"]) == (len(has), min(has), max(has)), finding


def check_outliers():
    """One of thirty takes 20 times as long, and has a kernel that nobody else has; sums of sums tell the same."""
    lines = [measured_line(number, 10**6 + number * 10**4, "6.1") for number in range(29)]
    calm = json.loads(whole(merge(*lines)))["outliers"]
    assert calm["told"] == [] and calm["measures"][0]["traces"] == 29, calm["told"]
    slow = measured_line(29, 20 * 10**6, "6.12")
    done = merge(slow, *lines)
    one, = json.loads(whole(done))["outliers"]["told"]
    assert (one["of"], one["what"], one["ns"], one["count"]) == ("operation", "syscall:fsync", 20 * 10**6, 20), one
    assert one["trace"] == json.loads(slow)["trace"] and 10**6 < one["median_ns"] < 1.2 * 10**6, one
    assert one["excess_ns"] == 20 * (one["ns"] - one["median_ns"])
    # a host's name tells nothing: each has its own
    assert one["few_others_have"] == [{"kind": "host", "name": "kernel", "value": "6.12", "traces": 1, "of": 30}], one
    assert one["sentence"].encode() in done.stderr, done.stderr
    assert whole(merge(whole(merge(*lines[:9])), whole(merge(slow, *lines[9:])))) == done.stdout
    # too few for quartiles; too little time; of a wide spread it is one of many
    assert json.loads(whole(merge(slow, *lines[:6])))["outliers"]["told"] == []
    small = [measured_line(number, 1000 * (20 if number == 0 else 1), "6.1") for number in range(30)]
    assert json.loads(whole(merge(*small)))["outliers"]["told"] == []
    wide = [measured_line(number, int(10**6 * 1.11**number), "6.1") for number in range(30)]
    assert json.loads(whole(merge(*wide)))["outliers"]["told"] == []


PATHS, LINES = make()
tap.case("the same trace counts once", check_same)
tap.case("an answer stands before none", check_retry)
tap.case("the same bytes in any order and grouping", check_bytes)
tap.case("sums that share traces", check_sums_overlap)
tap.case("torn lines", check_torn)
tap.case("what was expected", check_expected)
tap.case("a line is one write", check_one_piece)
tap.case("findings, first and last seen", check_seen)
tap.case("traces that are far out", check_outliers)
tap.case("memory does not follow their number", check_memory)
sys.exit(tap.done())
