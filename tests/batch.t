# SPDX-License-Identifier: MIT
"""whylate batch: a line for each trace, the broken one too; what lines add up to is exact, in any order and grouping;
the page; exit status."""
import base64
import collections
import csv
import hashlib
import html
import html.parser
import itertools
import json
import os
import pty
import random
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import urllib.parse

import whylate_test as t
from jsonschema import Draft202012Validator

tap = t.Tap()
NAMES = ("fork1", "disk-read", "pipe-chain", "futex", "hang", "lost")
DIRECTORY = tempfile.TemporaryDirectory()
ROOT = DIRECTORY.name
with open(t.SOURCE + "/share/schema/whylate-batch-1.json", encoding="utf-8") as schema_file:
    SCHEMA = Draft202012Validator(json.load(schema_file))


def make_fleet(root):
    """Snapshots as they are dropped; one is cut, one has no metadata, one is something else."""
    for name in NAMES:
        shutil.copytree(t.trace(name), os.path.join(root, "fleet", name))
    subprocess.run(["chmod", "-R", "u+w", root], check=True)
    cut = os.path.join(root, "fleet", "pipe-chain")
    largest = max((f for f in t.kernel_files(cut) if "metadata" not in f and os.path.isfile(f)), key=os.path.getsize)
    os.truncate(largest, os.path.getsize(largest) // 2 + 3)
    headless = os.path.dirname(t.kernel_files(os.path.join(root, "fleet", "hang"))[0])
    os.unlink(headless + "/metadata")
    garbage = os.path.dirname(t.kernel_files(os.path.join(root, "fleet", "futex"))[0])
    with open(garbage + "/metadata", "wb") as file:
        file.write(bytes(random.Random(1).randrange(256) for _ in range(4000)))


def batch(*arguments, stdin=b""):
    return subprocess.run([t.WHYLATE, "batch", *arguments], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, timeout=600)


def lines_of(done):
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    for line in lines:
        errors = list(SCHEMA.iter_errors(line))
        assert not errors, "%s: %s" % (line.get("trace"), [e.message[:300] for e in errors[0].context] or errors[0].message[:300])
    return lines


def check_fleet():
    """One line each, in order, whatever the number of processes; what is wrong is said; status 4."""
    done = batch(ROOT + "/fleet")
    lines = lines_of(done)
    assert done.returncode == 4, done.stderr
    by_name = {line["trace"][len(ROOT) + 7:].split("/")[0]: line for line in lines}
    assert list(by_name) == sorted(NAMES) and len(lines) == len(NAMES), list(by_name)
    status = {name: line["status"] for name, line in by_name.items()}
    assert status == {"disk-read": 0, "fork1": 0, "lost": 0, "pipe-chain": 4, "hang": 3, "futex": 3}, status
    assert by_name["pipe-chain"]["trouble"] == ["not-whole"] and "trouble" not in by_name["hang"], by_name["pipe-chain"]
    for name in ("hang", "futex", "pipe-chain"):
        assert by_name[name]["messages"], name
        assert by_name[name]["trace"].encode() in done.stderr, done.stderr
    assert by_name["pipe-chain"]["damaged"] and by_name["pipe-chain"]["events"] > 0
    assert "profiles" not in by_name["hang"]
    assert by_name["lost"]["lost_events"] > 0
    for jobs in ("1", "7"):
        assert batch(ROOT + "/fleet", "--jobs", jobs).stdout == done.stdout
    return done.stdout


def check_lines():
    """A line has what the reports of that trace have."""
    line, = lines_of(batch(t.trace("fork1"), "--limit", "0"))
    profile = t.report("profile", t.trace("fork1"), "--resolution", "16", "--limit", "0")
    wanted = {p["operation"]: ({str(b["bucket"]): b["count"] for b in p["buckets"]}, p["count"], p["sum_ns"],
                               p["min_ns"], p["max_ns"]) for p in profile["profiles"]}
    got = {p["operation"]: (p["buckets"], p["count"], p["sum_ns"], p["min_ns"], p["max_ns"]) for p in line["profiles"]}
    assert got == wanted
    overview = t.report("overview", t.trace("fork1"), "--limit", "0")
    ids = {one["id"] for one in line["findings"]}
    assert {one["id"] for one in overview["findings"]} <= ids
    assert line["hosts"] == overview["hosts"] and line["window"] == overview["window"]


def merged(*lines, more=()):
    done = batch("--merge", *more, stdin=b"\n".join(json.dumps(line).encode() for line in lines) + b"\n")
    result, = lines_of(done)
    assert result["status"] == done.returncode, (result["status"], done)
    return result


def check_exact():
    """Counts, sums and buckets are those of a profile over both recordings (--save, --resume)."""
    lines = lines_of(batch(t.trace("fork1"), t.trace("fork4")))
    both = merged(*lines)
    saved = ROOT + "/saved"
    t.output("profile", t.trace("fork1"), "--resolution", "16", "--save", saved)
    report = t.report("profile", t.trace("fork4"), "--resume", saved, "--force", "--limit", "0")
    wanted = {p["operation"]: ({str(b["bucket"]): b["count"] for b in p["buckets"]}, p["count"], p["sum_ns"],
                               p["min_ns"], p["max_ns"]) for p in report["profiles"]}
    got = {p["operation"]: (p["buckets"], p["count"], p["sum_ns"], p["min_ns"], p["max_ns"]) for p in both["profiles"]}
    assert got == wanted
    # percentiles lie in what is said of them: of one trace it is known exactly
    one = merged(lines[1])
    exact = {p["operation"]: p for p in t.report("profile", t.trace("fork4"), "--limit", "0")["profiles"]}
    for p in one["profiles"]:
        for key in ("p50_ns", "p90_ns", "p99_ns"):
            low, high = p[key]
            assert low <= exact[p["operation"]][key] <= high <= low * 1.05 + 1, (p["operation"], key)
    for name in ("events", "lost_events"):
        assert both[name] == sum(line[name] for line in lines)


def check_order():
    """Any order and any grouping give the same bytes."""
    lines = lines_of(batch(ROOT + "/fleet", t.trace("startup-chain"), "--fail-if", "a: p99(syscall:*) > 5ms",
                           "--fail-if", "blocked(thread=*) per process > 90% if blocked > 1s"))
    lines = [line for line in lines]
    expected = merged(*lines)
    rng = random.Random(7)
    for _ in range(4):
        rng.shuffle(lines)
        assert merged(*lines) == expected
        at = rng.randrange(1, len(lines))
        assert merged(merged(*lines[:at]), merged(*lines[at:])) == expected, at
    assert merged(expected) == expected


def check_halves():
    """--map over parts and --merge are as batch --merged; paths come as arguments or on standard input."""
    paths = [t.trace(n) for n in ("fork1", "disk-read", "signals")]
    whole = batch(*paths, "--merged", ROOT + "/merged", "--quiet")
    parts = [batch("--map", paths[0]), batch("--map", stdin="\n".join(paths[1:]).encode())]
    assert [p.returncode for p in parts] == [0, 0]
    lines = [json.loads(line) for p in parts for line in p.stdout.splitlines()]
    assert [line["trace"] for line in lines] == paths
    got = merged(*lines)
    with open(ROOT + "/merged", encoding="utf-8") as file:
        wanted = json.load(file)
    # the whole looked below the directories it was given
    for one in (got, wanted):
        for key in one["traces"]:
            key["trace"] = key["trace"].rstrip("/").split("/")[-1]
        for finding in one["findings"]:
            finding["worst_trace"] = finding["worst_trace"].split("/")[-1]
        for measure in one["outliers"]["measures"]:
            for largest in measure["largest"]:
                largest["trace"] = largest["trace"].rstrip("/").split("/")[-1]
    assert got == wanted
    assert whole.returncode == 0


def check_limits():
    """Over each, and over all together: exceeded only by what is sure."""
    paths = [t.trace("fork1"), t.trace("fork4")]
    each = [t.report("profile", p, "--operation", "syscall:clone", "--limit", "0")["profiles"][0] for p in paths]
    count = [p["count"] for p in each]
    # more than either has, but fewer than both
    limit = "count(syscall:clone) > %d" % max(count)
    done = batch(*paths, "--fail-if", limit, "--merged", ROOT + "/limits")
    assert done.returncode == 1 and [line["status"] for line in lines_of(done)] == [0, 0]
    with open(ROOT + "/limits", encoding="utf-8") as file:
        one, = json.load(file)["limits"]
    assert (one["outcome"], one["value"], one["traces_exceeded"]) == ("exceeded", sum(count), 0), one
    # exceeded by one trace
    slow = max(p["max_ns"] for p in each)
    done = batch(*paths, "--fail-if", "max(syscall:clone) >= %dns" % slow, "--quiet")
    assert done.returncode == 1 and sorted(line["status"] for line in lines_of(done)) == [0, 1]
    assert not done.stderr
    # nothing to judge
    done = batch(*paths, "--fail-if", "max(syscall:nothing) > 1s")
    assert done.returncode == 4
    for line in lines_of(done):
        assert line["status"] == 4 and line["trouble"] == ["limit-not-judged"], line["trouble"]
        assert "max(syscall:nothing)" in line["messages"][0] and "no such operation" in line["messages"][0], line["messages"]
    assert done.stderr.count(b"limit not judged: max(syscall:nothing)") == 2, done.stderr


def check_grouping():
    """Chunks of a recording are one trace, snapshots are several, a directory without any has a line."""
    source = t.kernel_files(t.trace("futex"))
    for place in ("s/archives/20260101-1/kernel", "s/archives/20260102-2/kernel", "f/snapshot-1/kernel", "f/snapshot-2/kernel"):
        os.makedirs(os.path.join(ROOT, "units", place))
        for file in source:
            if os.path.isfile(file):
                shutil.copy(file, os.path.join(ROOT, "units", place))
    os.makedirs(ROOT + "/empty/x")
    done = batch(ROOT + "/units", ROOT + "/empty")
    lines = lines_of(done)
    assert [line["trace"][len(ROOT):] for line in lines] == ["/units/f/snapshot-1", "/units/f/snapshot-2", "/units/s", "/empty"]
    assert lines[3]["status"] == 3 and done.returncode == 4
    assert batch(ROOT + "/empty").returncode == 3
    assert batch(ROOT + "/nothing here").returncode == 3
    assert batch("--merge", stdin=b"").returncode == 3
    assert batch().returncode == 2
    assert batch(ROOT, "--map", "--merge").returncode == 2


def check_bad_lines():
    """Lines that are none are passed over and said; sums go on."""
    line, = lines_of(batch(t.trace("fork1")))
    good = merged(line)
    text = json.dumps(line).encode()
    done = batch("--merge", stdin=b"no line\n" + text + b"\n[]\n{\"schema\": \"whylate-batch-1\"}\n\n" + text[:100] + b"\n")
    got, = lines_of(done)
    assert done.returncode == 4 and got["bad_lines"] == 4 and got["profiles"] == good["profiles"], got["bad_lines"]
    assert b"standard input, line 1" in done.stderr and b"line 6" in done.stderr, done.stderr
    # numbers that make no sense
    for change in ({"sum_ns": -5}, {"buckets": {"99999": 3, "x": 1, "5": -1}}, {"count": "many"}, {"sum_ns": 2**63 - 1}):
        other = json.loads(text)
        other["profiles"][0].update(change)
        done = batch("--merge", stdin=json.dumps(other).encode() + b"\n" + text)
        assert done.returncode == 0, (change, done)
        json.loads(done.stdout)


class Reader(html.parser.HTMLParser):
    """Tags are closed as they are opened; what would come from elsewhere."""

    def __init__(self):
        super().__init__()
        self.open, self.count, self.text, self.links = [], collections.Counter(), [], []
        self.parts, self.ids = [], []

    def handle_starttag(self, tag, attrs):
        self.count[tag] += 1
        for key, value in attrs:
            assert key != "src" and (key != "href" or tag == "a" and re.fullmatch(r"#[\w-]+|[\w./%-]+", value)), attrs
            if key == "href":
                (self.parts if value.startswith("#") else self.links).append(value)
            elif key == "id":
                self.ids.append("#" + value)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text.append(data)


def check_page():
    """Every trace is on it; text is escaped; nothing is loaded."""
    strange = ROOT + "/<b>strange & \"quoted\""
    shutil.copytree(t.trace("signals"), strange)
    done = batch(ROOT + "/fleet", strange, "--index", ROOT + "/index.html", "--fail-if", "max(syscall:*) > 1ms")
    assert done.returncode == 1
    with open(ROOT + "/index.html", encoding="utf-8") as file:
        page = file.read()
    reader = Reader()
    reader.feed(page)
    text = "".join(reader.text)
    assert not reader.open and reader.count["b"] == 0 and reader.count["script"] == 0, reader.open
    assert {"#limits", "#traces", "#latencies"} <= set(reader.parts) <= set(reader.ids), (reader.parts, reader.ids)
    sums = re.findall(r"^whylate: (\d+ traces: .*)$", done.stderr.decode(), re.M)
    assert len(sums) == 1 and sums[0] in text, (sums, text[:300])  # the same words as on standard error
    for line in lines_of(done):
        assert line["trace"] in text, line["trace"]
    assert "could not be read" in text and "a limit is exceeded" in text
    assert len(page) < 100000 and not re.search(r"https?:|url\(", page)
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1)
    style = base64.b64encode(hashlib.sha256(re.search("<style>(.*?)</style>", page, re.S).group(1).encode()).digest()).decode()
    assert "default-src 'none'" in policy and "style-src 'sha256-%s'" % style in policy and "unsafe" not in policy, policy


def another(trace, place, number=0):
    """A trace like that one, but not the same: it has one stream more, an empty one."""
    shutil.copytree(trace, place)
    subprocess.run(["chmod", "-R", "u+w", place], check=True)
    kernel = os.path.dirname(next(file for file in t.kernel_files(place) if file.endswith("/metadata")))
    with open("%s/none_%d" % (kernel, number), "w", encoding="utf-8"):
        pass


def report_of_page(path):
    with open(path, encoding="utf-8") as file:
        return json.loads(re.search('id="report">(.*?)</script>', file.read(), re.S).group(1))


def check_own_pages():
    """A trace that could be read has a page of its own, with what `overview` says; the index leads there, wherever it is;
    where none is asked for stands what makes it."""
    root, limit = ROOT + "/own", "max(syscall:*) > 1ms"
    shutil.copytree(t.trace("signals"), root + "/a b/signals")
    another(t.trace("signals"), root + "/c/signals")
    os.makedirs(root + "/none")
    os.makedirs(root + "/index")
    asked = (root + "/a b", root + "/c", root + "/none", "--fail-if", limit, "--pages", root + "/p & q/r", "--index", root + "/index/i.html")
    done = batch(*asked)
    lines = lines_of(done)
    assert ["page" in line for line in lines] == ["events" in line for line in lines] and len(lines) == 3, lines
    pages = [line["page"] for line in lines if "page" in line]
    assert len(set(pages)) == 2 == len(os.listdir(root + "/p & q/r")), pages
    for line in lines:
        if "page" in line:
            report = subprocess.run([t.WHYLATE, "overview", line["trace"], "--fail-if", limit, "--format", "json"],
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
            assert report.returncode == line["status"] == 1 and report_of_page(line["page"]) == json.loads(report.stdout)
    with open(root + "/index/i.html", encoding="utf-8") as file:
        page = file.read()
    reader = Reader()
    reader.feed(page)
    lead = {os.path.normpath(root + "/index/" + urllib.parse.unquote(link)) for link in reader.links}
    assert lead == set(pages) and "make its page" not in page, (lead, pages)
    # the halves: the sum keeps them; a page that was there before is not taken for a new one
    half = batch("--map", pages and lines[0]["trace"], "--pages", root + "/p & q/r")
    assert merged(*lines_of(half))["traces"][0]["page"] == pages[0]
    assert batch(*asked).stdout == done.stdout
    # a page that cannot be written: the lines are as they were, and the run says so
    where = root + "/places"
    page, = (line["page"] for line in lines_of(batch(root + "/c", "--pages", where)))
    os.unlink(page)
    os.mkdir(page)
    lost = batch(root + "/c", "--pages", where)
    line, = lines_of(lost)
    assert lost.returncode == 5 and line["status"] == 0 and "page" not in line, lost
    assert b"1 page could not be written" in lost.stderr and "its page was not written" in line["messages"], lost
    # nowhere to write to: said, and the rest goes on
    with open(root + "/file", "w", encoding="utf-8"):
        pass
    refused = batch(root + "/c", "--pages", root + "/file/p")
    assert refused.returncode == 5 and b"cannot make" in refused.stderr, refused
    assert batch("--merge", "--pages", root + "/x").returncode == 2
    batch(root + "/c", "--index", root + "/index/i.html")
    with open(root + "/index/i.html", encoding="utf-8") as file:
        page = file.read()
    command = re.search("<code>whylate (--format html [^<]*)</code>", page).group(1)
    os.chdir(root + "/index")
    t.output(*shlex.split(html.unescape(command)))
    assert report_of_page(root + "/index/page.html")["schema"] == "whylate-overview-1"


def check_lossy_page():
    """A trace that lost events is not called good."""
    done = batch(*t.trace("lost", "polls"), "--index", ROOT + "/lossy.html")
    assert [line["status"] for line in lines_of(done)] == [0, 0]
    with open(ROOT + "/lossy.html", encoding="utf-8") as file:
        page = file.read()
    assert b"2 traces: 1 good, 1 read, but events were lost" in done.stderr, done.stderr
    assert "2 traces: 1 good, 1 read, but events were lost; " in page, page[:900]
    assert re.search('<td[^>]* class="bad"[^>]*>read, but events were lost', page), "not marked"


def recording(number, begin, cost, per_call=None, recorded=True, **settings):
    """A trace's line by hand: 2 s from `begin`, in which db took 2 * `cost` ms."""
    line = {"schema": "whylate-batch-1", "kind": "trace", "trace": "/t/%02d" % number, "status": 0, "messages": [],
            "hosts": [], "window": {"begin": begin * 10**9, "end": (begin + 2) * 10**9}, "events": 1, "lost_events": 0,
            "lost_packets": 0, "damaged": False, "limits": [], "findings": [], "resolution": 16, "profiles": []}
    values = {kind: {name.replace("_", "."): value for name, value in named.items()} for kind, named in settings.items()}
    line["settings"] = {"recorded": recorded, "values": values, "costs_ns": {"db": 2 * cost * 10**6, "all programs": 10**9}}
    if per_call is not None:
        line["settings"]["means_ns"] = {"syscall:fsync": per_call * 1000}
    return line


def check_large_page():
    """Of 1,010 traces the page has the rows of 1,000: what is not good, then that in which most stands out; and says so."""
    lines = [recording(number, 10, 1) for number in range(1010)]
    example = {"host": 0, "tid": 1, "pid": 1, "name": "db", "begin": 10 * 10**9, "end": 11 * 10**9}
    for line in lines[20:]:
        line["findings"] = [{"id": "s-aaaaaa", "kind": "answer", "title": "db waits", "ns": 10**6, "count": 1, "threads": 1,
                             "spans_gap": False, "example": example}]
    lines[3]["lost_events"], lines[1009]["status"], lines[500]["findings"][0]["ns"] = 1, 4, 1
    merged(*lines, more=("--index", ROOT + "/large.html"))
    with open(ROOT + "/large.html", encoding="utf-8") as file:
        page = file.read()
    rows = [int(name) for name in re.findall('<th scope="row"[^>]*><code>/t/([0-9]+)<', page)]
    # 988 have findings and are good, one of them a smaller one; of the 19 in which nothing stands out the first ones stay
    wanted = [3] + [number for number in range(1010) if number >= 20]
    wanted = sorted(wanted + [number for number in range(20) if number != 3][:1000 - len(wanted)])
    assert sorted(rows) == wanted and len(rows) == 1000, (len(rows), set(rows) ^ set(wanted))
    assert "10 more have no row: those in which least stands out." in page
    for line in lines[:1005]:
        line["lost_events"] = 1
    merged(*lines, more=("--index", ROOT + "/large.html"))
    with open(ROOT + "/large.html", encoding="utf-8") as file:
        assert "10 more have no row, and 6 of them are not good" in file.read()


def check_settings():
    """Settings of many recordings, in groups by their values: what goes with a cost, what does not, what cannot be told."""
    # the setting turns by turn, 100 and 10 ms of db's: of 12! / (6! 6!) = 924 arrangements two part them as well; a second
    # setting of the first half, and all have a name of their own
    lines = [recording(i, 10 * i, 100 + i if i % 2 else 10 + i, sysctl={"vm_x": str(i < 6), "kernel_name": str(i)},
                       process={"db": "db -s %d" % (i % 2)}, package={"libc": "2"}) for i in range(12)]
    got = merged(*lines)["settings"]
    assert (got["recorded"], got["tried"], got["names"], got["common"]) == (12, 2, 1, {"package": {"libc": "2"}}), got
    first, second = got["differences"]
    assert first["settings"] == [{"kind": "process", "name": "db"}] and first["outcome"] == "goes-with", first
    assert abs(first["p"] - 2 * 2 / 924) < 1e-5 and not first["in_order"], first
    # medians of 101, 103 … 111 and of 10, 12 … 20; each second of two
    assert [(g["traces"], g["ns"], g["values"]) for g in first["groups"]] == [
        (6, 106 * 10**6, ["db -s 1"]), (6, 15 * 10**6, ["db -s 0"])] and first["ns"] == 91 * 10**6, first
    assert first["sentence"].startswith("process db: db took 106.0 ms of each second in 6 recordings ('db -s 1'), 15.00 ms"), first
    assert second["settings"] == [{"kind": "sysctl", "name": "vm.x"}] and second["outcome"] == "chance", second
    # what was recorded one after the other may be so because of the time; two settings that change together are one
    lines = [recording(i, 10 * i, 100 if i < 6 else 10, process={"db": str(i < 6)}, file={"/etc/db.conf": str(i < 6)})
             for i in range(12)]
    one, = merged(*lines)["settings"]["differences"]
    assert one["in_order"] and len(one["settings"]) == 2 and one["outcome"] == "goes-with", one
    assert "one group after the other" in one["sentence"] and "1 more differs between the same recordings" in one["sentence"]
    # 2 and 2: p is a third at best
    one, = merged(*lines[4:8])["settings"]["differences"]
    assert one["outcome"] == "too-few" and "too few" in one["sentence"], one
    # … of recordings without settings beside them only what they show themselves; a longer one is not dearer
    lines = [recording(i, 10 * i, 50, recorded=False, process={"db": str(i % 2)}, read={"/etc/hosts": "db"} if i % 2 else {})
             for i in range(12)]
    for line in lines[::2]:
        line["window"]["end"] += 2 * 10**9
        line["settings"]["costs_ns"]["db"] *= 2
    one, = merged(*lines)["settings"]["differences"]
    assert one["settings"] == [{"kind": "read", "name": "/etc/hosts"}] and one["outcome"] == "chance" and one["ns"] == 0, one
    # operations that were asked for: means instead of times; one has none
    lines = [recording(i, 10 * i, 50, 200 if i % 2 else 300, sysctl={"kernel_x": str(i % 2)}) for i in range(13)]
    del lines[12]["settings"]["means_ns"]
    one, = merged(*lines)["settings"]["differences"]
    assert (one["cost"], one["of"], one["ns"], one["outcome"]) == ("syscall:fsync", "operation", 100000, "goes-with"), one
    # sums of sums, in any order
    rng = random.Random(3)
    wanted = merged(*lines)
    for _ in range(3):
        rng.shuffle(lines)
        assert merged(merged(*lines[:5]), merged(*lines[5:])) == wanted == merged(wanted)


def check_settings_of_traces():
    """A line has what lies beside its trace; with names replaced none of it; the page lists what differs."""
    root = ROOT + "/set"
    for i in range(2):
        another(t.trace("fork1"), "%s/%d" % (root, i), i)
        with open("%s/%d/settings" % (root, i), "w", encoding="utf-8") as file:
            file.write("# whylate settings 1\nsysctl\tvm.<x>\t%d\nprocess\ta\tone\nprocess\ta\ttwo\nnote\tfile\t1\n" % i)
    done = batch(root, "--index", ROOT + "/set.html", "--merged", ROOT + "/set.json")
    for i, line in enumerate(lines_of(done)):
        values = line["settings"]["values"]
        assert line["settings"]["recorded"] and values["sysctl"] == {"vm.<x>": str(i)} and values["process"] == {"a": "one; two"}
        assert values["host"]["name"] == line["hosts"][0]["hostname"] and "note" not in values
        assert line["settings"]["costs_ns"]["all programs"] > 0 and "means_ns" not in line["settings"]
    with open(ROOT + "/set.json", encoding="utf-8") as file:
        one, = json.load(file)["settings"]["differences"]
    assert one["settings"] == [{"kind": "sysctl", "name": "vm.<x>"}] and one["outcome"] == "too-few", one
    with open(ROOT + "/set.html", encoding="utf-8") as file:
        page = file.read()
    assert "Settings and inputs that differ" in page and "sysctl vm.&lt;x&gt;" in page and "vm.<x>" not in page
    assert b"settings differ between these traces: too few traces" in done.stderr, done.stderr
    line = lines_of(batch(root + "/0", "--operation", "syscall:clone"))[0]
    profile, = line["profiles"]
    assert line["settings"]["means_ns"] == {"syscall:clone": profile["sum_ns"] // profile["count"]}
    with open(ROOT + "/key", "wb") as file:
        file.write(b"k" * 32)
    assert "settings" not in lines_of(batch(root + "/0", "--anonymise", "--anonymise-key", ROOT + "/key"))[0]


def in_terminal(*arguments):
    """What a terminal gets on standard output."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([t.WHYLATE, "batch", *arguments], stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # nobody has the other end any more
            break
        if not piece:
            break
        text += piece
    os.close(ours)
    return process.wait(), text.decode().replace("\r\n", "\n")


def check_text():
    """A terminal gets what the traces add up to: each trace and its outcome, what stands out before waits of shells and of the
    tracer; lines where they are asked for, or go elsewhere."""
    lines = lines_of(batch(ROOT + "/fleet"))
    status, text = in_terminal(ROOT + "/fleet", "--limit", "0")
    assert status == 4 and text == batch("--format", "text", ROOT + "/fleet", "--limit", "0").stdout.decode()
    assert text.startswith("6 traces: 2 good, 1 read, but events were lost, 2 not read, 1 not whole"), text[:200]
    words = " ".join(text.split())
    found = {one["id"]: one for line in lines for one in line.get("findings", [])}
    headings = [words.index(one) for one in ("What stands out s-", "Who and what others waited for (", "Slow operations and single waits (")]
    assert headings == sorted(headings), headings
    for id, one in found.items():
        place = words.rindex(" %s " % id)
        group = {"answer": 0, "imposer": 1}.get(one["kind"], 2)
        assert headings[group] < place and place < [*headings, len(words)][group + 1], (id, one["kind"])
    for line in lines:
        kinds = [one["kind"] == "answer" for one in line.get("findings", [])]
        assert kinds == sorted(kinds, reverse=True), "an answer behind others"
        assert not [one for one in line.get("findings", []) if one["kind"] == "peak" and one["example"] and
                    one["example"]["name"].startswith("lttng-")], line["trace"]
    status, text = in_terminal("--format", "json", ROOT + "/fleet", "--limit", "20")
    assert [json.loads(line) for line in text.splitlines()] == lines
    merged = batch("--merge", "--format", "text", stdin=batch(ROOT + "/fleet").stdout)
    assert merged.stdout.decode().startswith("6 traces: 2 good")
    refused = batch("--map", "--format", "text", ROOT + "/fleet")
    assert refused.returncode == 2 and b"nothing is added up" in refused.stderr, refused.stderr


def check_pictures():
    """The page's pictures: a mark for each trace by host, by what stands out, and by operation, with its mean; linked to its page."""
    with tempfile.TemporaryDirectory() as scratch:
        done = batch(ROOT + "/fleet", "--index", scratch + "/index.html", "--pages", scratch + "/pages", "--merged", scratch + "/sum.json")
        assert done.returncode == 4, done.stderr
        with open(scratch + "/index.html", encoding="utf-8") as file:
            page = file.read()
        with open(scratch + "/sum.json", encoding="utf-8") as file:
            traces = [one for one in json.load(file)["traces"] if "window" in one]
    pictures = {title: re.search("<h2>%s</h2>.*?<svg(.*?)</svg>" % title, page, re.S).group(1)
                for title in ("Hosts over time", "What stood out over time", "Latencies over time")}
    for title in ("Hosts over time", "What stood out over time"):
        marks = re.findall('<a href="(pages/[^"]+)"><g><title>([^<]*)</title>', pictures[title])
        told = sum(int((re.search(r"the largest of (\d+) traces", words) or [0, "1"])[1]) for _, words in marks)
        assert told == len(traces), (title, told, len(traces))
    rows = re.findall(r"<g><title>(\S+): ([\d]+) operations, mean ([^,]+), longest ([^<;]+)", pictures["Latencies over time"])
    known = {(one["trace"], each["count"], each["max_ns"]): each["sum_ns"] / each["count"] for one in traces for each in one["latencies"]}
    assert len(rows) > 8, rows
    for trace, count, mean, longest in rows:
        fit = [ns for (name, number, most), ns in known.items() if (name, number, length(most)) == (trace, int(count), longest)]
        assert any(length(int(ns)) == mean for ns in fit), (trace, count, mean, longest)


def check_tables():
    """CSV and SQLite have the same rows, which are the sum's, to the ns."""
    with tempfile.TemporaryDirectory() as scratch:
        done = batch(ROOT + "/fleet", "--tables", scratch + "/tables", "--merged", scratch + "/sum.json")
        assert done.returncode == 4, done.stderr
        with open(scratch + "/sum.json", encoding="utf-8") as file:
            merged = json.load(file)
        assert sorted(os.listdir(scratch + "/tables")) == ["findings.csv", "fleet.sqlite", "latencies.csv", "operations.csv", "traces.csv"]
        found = {}
        base = sqlite3.connect(scratch + "/tables/fleet.sqlite")
        for name in ("traces", "latencies", "findings", "operations"):
            with open("%s/tables/%s.csv" % (scratch, name), encoding="utf-8", newline="") as file:
                head, *rows = csv.reader(file)
            cursor = base.execute("SELECT * FROM " + name)
            assert [one[0] for one in cursor.description] == head, head
            assert [["" if cell is None else str(cell) for cell in row] for row in cursor] == rows and rows, name
            found[name] = [dict(zip(head, row)) for row in rows]
        base.close()
    assert [(one["trace"], int(one["status"]), one["events"]) for one in found["traces"]] == \
        [(one["trace"], one["status"], str(one.get("events", ""))) for one in merged["traces"]]
    assert [(one["id"], int(one["ns"]), int(one["traces"]), one["title"]) for one in found["findings"]] == \
        [(one["id"], one["ns"], one["traces"], one["title"]) for one in merged["findings"]]
    assert [(one["operation"], int(one["sum_ns"])) for one in found["operations"]] == [(one["operation"], one["sum_ns"]) for one in merged["profiles"]]
    assert [(one["trace"], one["operation"], int(one["max_ns"])) for one in found["latencies"]] == \
        [(one["trace"], each["operation"], each["max_ns"]) for one in merged["traces"] for each in one.get("latencies", [])]
    refused = batch("--map", "--tables", "somewhere", ROOT + "/fleet")
    assert refused.returncode == 2, refused.stderr


def length(ns):
    """As the reports have it."""
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        value = ns / scale
        if value >= 0.9995:
            return "%.*f %s" % (0 if value >= 999.5 else 1 if value >= 99.95 else 2 if value >= 9.995 else 3, value, unit)
    return "%d ns" % ns


def check_all_shipped():
    """All shipped traces, one of them cut: a line each."""
    out = batch(*t.trace(*t.TRACES), ROOT + "/fleet/pipe-chain", "--limit", "3")
    lines = lines_of(out)
    bad = [line["trace"] for line in lines if line["status"]]
    assert out.returncode == 4 and len(bad) == 1 and "fleet/pipe-chain" in bad[0], bad
    assert len(lines) == len(t.TRACES) + 1, len(lines)


make_fleet(ROOT)
tap.case("a fleet's traces, three of them broken", check_fleet)
tap.case("a line says what the reports say", check_lines)
tap.case("sums are exact", check_exact)
tap.case("order and grouping do not matter", check_order)
tap.case("the halves as processes of their own", check_halves)
tap.case("limits over each and over all", check_limits)
tap.case("what is one trace", check_grouping)
tap.case("lines that are none", check_bad_lines)
tap.case("the page", check_page)
tap.case("a page of each trace", check_own_pages)
tap.case("the page and lost events", check_lossy_page)
tap.case("the page of very many traces", check_large_page)
tap.case("settings that differ", check_settings)
tap.case("settings beside traces", check_settings_of_traces)
tap.case("as text", check_text)
tap.case("pictures over time", check_pictures)
tap.case("tables", check_tables)
tap.case("all shipped traces", check_all_shipped)
sys.exit(tap.done())
