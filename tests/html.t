# SPDX-License-Identifier: MIT
"""--format html, opened in a real browser (headless Chromium): the page is one file that asks the network for
nothing; it has the very JSON that --format json writes, and shows its figures; clicks, keys and zooming do
what they say. Screenshots stay in the test cache, in html/."""
import base64
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from browser import ActionChains, Browser, By, Keys, WebDriverException, duration, have_browser
from whylate_test import CACHE, SOURCE, Tap, babeltrace2, output, run, sample, trace

TARGET = ("--target", "sched_process_exec filename=*/autostart")


def blocks(page):
    """The two blocks of data in a page, as text."""
    return [re.search('<script type="application/json" id="%s">(.*?)</script>' % name, page, re.S).group(1)
            for name in ("report", "timeline-data")]


def check_json(command, *arguments):
    """The report in the page is what --format json writes, but that no < is in it."""
    page = output(command, *arguments, "--format", "html").decode()
    report, _ = blocks(page)
    assert "<" not in report, "a < in the data"
    assert report.replace("\\u003c", "<") == output(command, *arguments, "--format", "json").decode(), "another report"


def check_alone(page):
    """Nothing but what the page holds may run or be loaded: the policy names both by their hashes."""
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1)
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        inside = re.findall("<%s>(.*?)</%s>" % (tag, tag), page, re.S)
        assert len(inside) == 1, "%d blocks <%s>" % (len(inside), tag)
        digest = base64.b64encode(hashlib.sha256(inside[0].encode()).digest()).decode()
        assert "%s 'sha256-%s'" % (directive, digest) in policy, directive + " names another hash"
    assert "default-src 'none'" in policy and "unsafe" not in policy, policy
    without = page
    for block in blocks(page):
        without = without.replace(block, "")
    assert not re.search(r"\b(eval|Function)\s*\(|innerHTML|https?://(?!www\.w3\.org/2000/svg)", without), "eval, or an address"
    assert len(without.encode()) < 160000, "%d bytes besides the data" % len(without.encode())


class Unpacker:
    """The timeline's cells, unpacked by another program than the page's own."""

    def __init__(self, timeline):
        self.timeline = timeline
        self.blocked = [leaf[2] in (4, 6) for leaf in timeline["leaves"]]

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if not byte & 128:
                return value

    def row(self, level, row):
        """(begin, end, leaf or None, ns of each class if merged) of each cell."""
        starts = level["rows"] + [None]
        self.data = base64.b64decode(level["data"])
        self.at, stop = starts[row], starts[row + 1]
        stop = len(self.data) if stop is None else stop
        now, cells = self.timeline["rows"][row]["from"], []
        while self.at < stop:
            head = self.number()
            begin, now = now, now + (head >> 1)
            if head & 1:
                self.number()
                present = self.data[self.at]
                self.at += 1
                kinds = [kind for kind in range(7) if present >> kind & 1]
                shares = [self.data[self.at + i] for i in range(len(kinds) - 1)]
                self.at += len(shares)
                shares.append(255 - sum(shares))
                cells.append((begin, now, None, {k: s / 255 * (now - begin) for k, s in zip(kinds, shares)}))
                continue
            leaf = self.number()
            if self.blocked[leaf]:
                self.number(), self.number()
                if self.number():
                    self.number()
            cells.append((begin, now, leaf, {self.timeline["leaves"][leaf][2]: now - begin}))
        return cells


WIB = {"working": (0, 1), "interrupted": (2, 3), "blocked": (4, 6), "unknown": (5,)}


def check_levels(name, *arguments):
    """Each level's cells tile the thread's part of the window, whatever is merged; their sums by state are the
    summary's: exactly in an exact level, else within a 255th of what is merged."""
    report, timeline = [json.loads(block) for block in blocks(
        output("delay", *arguments, "--limit", "5", "--format", "html", trace(name)).decode())]
    unpacker, compared = Unpacker(timeline), 0
    assert timeline["levels"][-1]["exact"] or name == "zero-read", "not exact"
    places = {(row["host"], row["tid"], row["from"]): i for i, row in enumerate(timeline["rows"])}
    for level in timeline["levels"]:
        for thread in report["threads"]:
            row = places[thread["host"], thread["tid"], thread["begin"] - int(timeline["base"])]
            cells = unpacker.row(level, row)
            ends = timeline["rows"][row]["from"], timeline["rows"][row]["to"]
            assert (cells[0][0], cells[-1][1]) == ends, (thread["name"], ends)
            assert all(cell[1] > cell[0] for cell in cells)
            if level["tolerance_ns"]:
                assert len(cells) <= 2 * (ends[1] - ends[0]) / level["tolerance_ns"] + 1, "too many cells"
            if ends[1] - ends[0] != thread["end"] - thread["begin"]:
                continue
            sums = {node["path"][0]: node["ns"] for node in thread["summary"]["children"]}
            merged = sum(cell[1] - cell[0] for cell in cells if cell[2] is None)
            assert not (level["exact"] and merged), "merged, in an exact level"
            for key, kinds in WIB.items():
                ns = sum(cell[3].get(kind, 0) for cell in cells for kind in kinds)
                assert abs(ns - sums.get(key, 0)) <= merged / 100, (thread["name"], level["tolerance_ns"], key, ns, sums.get(key))
                compared += 1
    assert compared > 20, "nothing was compared"


# --- in a browser -----------------------------------------------------------------------

def worth_of(one):
    """A range, once more than a twentieth of what it took is not sure; only: less than three quarters of it."""
    least, most = max(one["saved_from_ns"], 0), one["saved_to_ns"]
    if most - least <= 0.05 * one["ns"]:
        return ("only " if most < 0.75 * one["ns"] else "") + duration(one["saved_ns"])
    return "%s to %s" % (duration(least), duration(most)) if least else "up to " + duration(most)


def check_verdict(lines, report):
    """The verdict's sentences, each with what it would be worth if that were gone."""
    saved = {one["sentence"]: worth_of(one) for one in report["worth"]}
    assert saved and len(lines) == len(report["verdict"]), (lines, report["worth"])
    for i, line in enumerate(lines):
        sentence = re.sub(r"\W", "", report["verdict"][i])
        text = re.sub(r"\W", "", line)
        assert text.startswith(sentence), (line, sentence)
        if i in saved:
            assert text[len(sentence):] == re.sub(r"\W", "", "Without it, %s sooner" % saved[i]), (line, saved[i])
        else:
            assert text == sentence, line


def check_answer(browser):
    """startup-chain: the first screen says, before anything is clicked, that Xorg's naps took most."""
    browser.open("startup", "delay", SOURCE + "/traces/startup-chain", *TARGET)
    report = json.loads(output("delay", SOURCE + "/traces/startup-chain", *TARGET, "--format", "json"))
    lines = [element.text.replace("\n", " ") for element in browser.all(".verdict li")]
    check_verdict(lines, report)
    first = browser.all(".verdict li")[0]
    assert "Xorg" in first.text and "slept 40 times" in first.text, first.text
    assert first.rect["y"] + first.rect["height"] < 600, "below the first screen"
    assert browser.js("return document.querySelector('#canvas').getBoundingClientRect().top") < 760, "no timeline on the first screen"
    assert "12,809 events" in browser.text(".coverage"), browser.text(".coverage")
    browser.picture("startup-chain")


def check_figures(browser):
    """The tables' figures are the JSON's."""
    report = json.loads(output("delay", SOURCE + "/traces/startup-chain", *TARGET, "--format", "json"))
    rows = [[cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th,td")] for row in browser.all("#path .columns > div:first-child tbody tr")]
    expected = [["%s (%d)" % (one["name"], one["tid"]), duration(one["ns"])] for one in report["critical_path_totals"]["by_thread"]]
    assert [row[:2] for row in rows] == expected and len(rows) > 5, (rows, expected)
    total = browser.text(".wib summary .number"), browser.text("#thread option:checked")
    longest = max(report["threads"], key=lambda thread: thread["end"] - thread["begin"])
    assert total[0] == duration(longest["summary"]["ns"]) and total[1].startswith("xinit (221)"), total
    # exact times: those of xinit's wait in pselect6 are in the text, with all nanoseconds
    wait, = [wait for wait in longest["causality"] if wait["leaf"] == "blocked/syscall:pselect6"]
    said = browser.js("const row = whylate.rows.findIndex((row) => row.tid === 221); return whylate.linesAbout("
                      "whylate.cellAt(row, arguments[0], 1e5))", wait["begin"] - report["window"]["begin"])
    assert "{:,} ns".format(wait["ns"]) in said[2], said
    assert "%09d" % (wait["begin"] % 10**9) in said[3] and "%09d" % (wait["end"] % 10**9) in said[3], said
    assert "socket:pair#1" in said[1] and "Xorg (222) in syscall:write" in said[4], said


def check_tree(browser):
    """From the tree to the timeline and back: the same wait."""
    browser.open("startup")
    assert browser.shown()[0] == 0
    browser.click("#causality .waits .show")
    row, begin, end = browser.js("const s = whylate.timeline.selected; return [whylate.rows[s.row].name, s.begin, s.end]")
    assert row == "xinit" and abs(end - begin - 853744950) < 2e6, (row, begin, end)
    shown = browser.shown()
    assert shown[0] < begin and shown[1] > end and shown[1] - shown[0] < 2 * (end - begin), shown
    assert "Xorg (222)" in browser.text("#details"), browser.text("#details")
    browser.click("#to-tree")
    assert "xinit (221)" in browser.text(".here > summary") and duration(end - begin) in browser.text(".here > summary")
    # one level down, a nap of Xorg's
    browser.click(".here details.wait > summary")
    browser.click(".here details.wait .show")
    assert browser.js("const s = whylate.timeline.selected; return [whylate.rows[s.row].name, s.key]") == \
        ["Xorg", "blocked/syscall:clock_nanosleep"]
    assert "timer of 30.00 ms armed by itself" in browser.text("#details"), browser.text("#details")
    browser.click("#to-tree")
    assert "Xorg (222)" in browser.text(".here > summary"), browser.text(".here > summary")
    browser.js("whylate.timeline.show(0, 1e12)")
    browser.keys(Keys.ESCAPE)
    # search: the next state of that name, and the next
    browser.js("document.getElementById('canvas').focus()")
    browser.keys(Keys.ESCAPE)
    browser.click("#search")
    browser.keys("clock_nanosleep", Keys.ENTER)
    where = "const s = whylate.timeline.selected; return [whylate.rows[s.row].name, s.key, s.begin, s.end]"
    assert browser.js(where)[:2] == ["Xorg", "working/syscall:clock_nanosleep"], browser.js(where)
    browser.keys(Keys.ENTER)
    name, key, begin, end = browser.js(where)
    assert (name, key) == ("Xorg", "blocked/syscall:clock_nanosleep"), (name, key)
    assert duration(end - begin) in browser.text("#details"), browser.text("#details")


def check_zoom(browser):
    """Buttons, wheel, dragging: the picture changes as it should, and stays inside the window."""
    browser.open("startup")
    whole = browser.shown()
    browser.click("#zoom-in")
    half = browser.shown()
    assert abs((half[1] - half[0]) * 2 - (whole[1] - whole[0])) < 10, half
    browser.click("#zoom-all")
    assert browser.shown() == whole
    canvas = browser.driver.find_element(By.ID, "canvas")
    browser.js("arguments[0].scrollIntoView({block: 'center'})", canvas)
    box = canvas.rect
    browser.click("#zoom-in")
    before = browser.shown()
    ActionChains(browser.driver).move_to_element_with_offset(canvas, 100, 20).click_and_hold().move_by_offset(-200, 0).release().perform()
    browser.settle()
    after = browser.shown()
    per_pixel = (before[1] - before[0]) / (box["width"] - browser.js("return whylate.timeline.left"))
    assert abs(after[0] - before[0] - 200 * per_pixel) < 3 * per_pixel, (before, after)
    browser.js("for (let i = 0; i < 60; i++) whylate.timeline.zoom(0.5, 1e6)")
    assert browser.shown()[1] - browser.shown()[0] == 100, browser.shown()
    browser.js("for (let i = 0; i < 60; i++) whylate.timeline.zoom(2)")
    assert browser.shown() == whole
    assert not browser.complaints(), browser.complaints()


def pixels(browser, tid, begin, end):
    """The colours along the lower edge of a thread's band, over the middle half of a stretch."""
    return browser.js("""const t = whylate.timeline, [tid, begin, end] = arguments;
        t.show(begin, end); t.paint();
        const y = t.place.get(whylate.rows.findIndex((row) => row.tid === tid)) + 4 + 16 - 2;
        const data = t.context.getImageData(t.left + (t.width - t.left) / 4, y, (t.width - t.left) / 2, 1).data;
        return [...new Array(data.length / 4).keys()].map((i) => [...data.slice(i * 4, i * 4 + 3)])""", tid, begin, end)


def check_drawn(browser):
    """What is drawn is what the report says: user code blue, a system call light blue, and a wait hatched in dark red, dimmed
    as the path is elsewhere, over all of the longest instance of each; the names of the colours are the style's."""
    browser.open("startup")
    report = json.loads(output("delay", SOURCE + "/traces/startup-chain", *TARGET, "--format", "json"))
    thread, = [thread for thread in report["threads"] if thread["name"] == "xinit"]
    base, found = report["window"]["begin"], {}
    for part in thread["summary"]["children"]:
        for node in part["children"]:
            first = max(thread["instances"][str(node["id"])], key=lambda one: one["ns"])
            found.setdefault(part["key"] if node["key"] != "working/user" else "user", (first["begin"] - base, first["end"] - base))
    for key, color in (("user", {(29, 95, 184)}), ("working", {(122, 179, 232)})):
        colors = {tuple(color) for color in pixels(browser, 221, *found[key])}
        assert colors == color, (key, colors)
    red = pixels(browser, 221, *found["blocked"])
    assert all(r > g + 20 and r > b + 20 for r, g, b in red) and len({tuple(color) for color in red}) > 1, red[:20]


def check_path(browser):
    """The critical path on the rows: who has most of it first, with its share; undimmed where it is, dimmed beside it."""
    browser.open("startup")
    totals = json.loads(output("delay", SOURCE + "/traces/startup-chain", *TARGET, "--format", "json"))["critical_path_totals"]["by_thread"]
    lines = browser.js("return whylate.timeline.lines.filter((row) => row >= 0).map((row) => [whylate.rows[row].tid, whylate.timeline.shares.get(row) || 0])")
    on_path = [line for line in lines if line[1]]
    assert on_path == [[one["tid"], one["ns"]] for one in totals] and lines[:len(on_path)] == on_path, (lines, totals)
    hops = browser.js("return whylate.timeline.hops.map(({row, begin, end}) => [whylate.rows[row].tid, begin, end])")
    assert hops[0][1] == 0 and hops[-1][2] == browser.js("return whylate.length_ns")
    assert all(a[2] == b[1] and a[0] != b[0] for a, b in zip(hops, hops[1:])), "hops do not tile the window"
    # xinit waits for Xorg there: its row is dimmed, Xorg's is not
    begin, end = next((begin, end) for tid, begin, end in hops if tid == 222 and end - begin > 8e8)
    dark = [min(sum(color) for color in pixels(browser, tid, begin, end)) for tid in (221, 222)]
    assert dark[0] > dark[1] + 100, dark


def check_linked(browser):
    """A sentence of the verdict shows its pieces; where one is stands in the address, and Back goes back."""
    browser.open("startup")
    whole = browser.shown()
    browser.click(".verdict li:nth-child(2) button")
    marked = browser.js("return whylate.timeline.marked.map(([row, begin, ns]) => [whylate.rows[row].tid, begin, ns])")
    report = json.loads(output("delay", SOURCE + "/traces/startup-chain", *TARGET, "--format", "json"))
    assert {tid for tid, _, _ in marked} == {223} and "x-session (223)" in report["verdict"][1], marked
    said = re.search(r"\((\S+ \S+)\)", report["verdict"][1]).group(1)
    assert duration(sum(ns for _, _, ns in marked)) == said, (sum(ns for _, _, ns in marked), said)
    shown, place = browser.shown(), browser.js("return location.hash")
    assert shown != whole and "sentence=1" in place, (shown, place)
    browser.js("history.back(); return new Promise(done => setTimeout(done, 200))")
    assert browser.shown() == whole and not browser.all(".verdict li.chosen"), browser.shown()
    browser.open("startup", fragment=place)
    assert [round(one) for one in browser.shown()] == [round(one) for one in shown], (browser.shown(), shown)
    assert len(browser.all(".verdict li.chosen")) == 1


def check_index(browser):
    """The index of many traces: each leads to its own page, and says what that says; it fits a narrow window."""
    with tempfile.TemporaryDirectory() as directory:
        lines = output("batch", trace("futex"), trace("lost"), "--quiet", "--index", directory + "/index.html",
                       "--pages", directory + "/pages").decode().splitlines()
        for width in (1300, 390):
            browser.size(width, 900)
            browser.driver.get("file://" + directory + "/index.html")
            assert browser.js("return document.documentElement.scrollWidth") <= width and not browser.complaints()
            # nothing beside the screen: no table or picture that is moved, no word of a picture cut at its edge, or smaller than 8 pixels
            assert browser.js("return [...document.querySelectorAll('.scroll')].every((one) => one.scrollWidth <= one.clientWidth)")
            boxes = browser.js("""return [...document.querySelectorAll('svg.fleet text')].map((one) => one.getBoundingClientRect())
                .filter((box) => box.width).map(({left, right, height}) => [left, right, height])""")
            assert boxes and all(left >= 0 and right <= width and height >= 8 for left, right, height in boxes), boxes
            # each value has its column's title before it where rows are paragraphs
            titles = browser.js("""return [...document.querySelectorAll('tbody td')].filter((one) => one.textContent).map((one) =>
                [one.closest('table').querySelectorAll('thead th')[one.cellIndex].textContent, getComputedStyle(one, '::before').content])""")
            assert len(titles) > 100 and all(shown == ('"%s "' % title if width == 390 else "none") for title, shown in titles), titles[:9]
            browser.picture("index-%d" % width)
        browser.any_size()
        for line in map(json.loads, lines):
            browser.driver.get("file://" + directory + "/index.html")
            browser.driver.find_element(By.LINK_TEXT, line["trace"]).click()
            assert browser.js("return document.documentElement.dataset.ready") == "yes", browser.complaints()
            assert "%s event" % format(line["events"], ",") in browser.text("body") or line["lost_events"], line["trace"]
            assert browser.js("return JSON.parse(document.getElementById('report').textContent).coverage.discarded_events") == \
                line["lost_events"]


def check_lanes(browser):
    """Bottlenecks have lanes; a click on a device lists the waits for it, which add up to its lane."""
    browser.open("overview", "overview", SOURCE + "/traces/startup-chain")
    lanes = browser.js("return whylate.lanes.map((lane) => [lane.name, lane.ns || 0])")
    assert "device:vda" in dict(lanes) and ["cpu:0", 0] in lanes and ["cpu:1", 0] in lanes, lanes
    line, = [i for i, row in enumerate(browser.all("#answer tbody tr"), 1) if row.text.startswith("device:vda")]
    browser.click("#answer tbody tr:nth-child(%d) button" % line)
    hits = browser.js("return whylate.timeline.search.hits.filter((hit) => /^blocked.*device:vda/.test(hit.text)).map((hit) => "
                      "[hit.begin, hit.end, whylate.cellAt(hit.row, hit.begin, 0).kind])")
    counted = sum(end - begin for begin, end, kind in hits if kind == 4)
    assert len(hits) > 10 and counted == dict(lanes)["device:vda"], (len(hits), counted, lanes)
    assert "x-session (223)" in browser.text("#hits") and " of " in browser.text("#found"), browser.text("#found")
    # a CPU is busy as long as threads ran or were interrupted on it: all but waits and what is ready without one
    busy = browser.js("""return whylate.lanes.filter((lane) => lane.busy).reduce((sum, lane) =>
        sum + lane.busy.reduce((a, b) => a + b, 0) / 255 / lane.busy.length, 0)""")
    assert 0.3 < busy < 2, busy
    # where parts are narrower than a pixel: busy for every second one is half as high, waits are as high as the highest
    tall = browser.js("""return [true, false].map((busy) => {
        const [, two] = picturesOfLane(Array.from({length: 4096}, (_, i) => (i % 2 ? 0 : 255)), 255, '#000000', busy),
            column = two.getContext('2d').getImageData(9, 0, 1, two.height).data;
        return column.filter((value, i) => i % 4 === 3 && value).length / two.height; })""")
    assert tall == [0.5, 1], tall


def check_interrupts(browser):
    """Interrupts have lanes: of all threads, what the summaries of these add up to."""
    arguments = ("delay", SOURCE + "/traces/startup-chain", "--thread", "all", "--limit", "0")
    browser.open("all-threads", *arguments)
    sums = {}
    for thread in json.loads(output(*arguments, "--format", "json"))["threads"]:
        for part in thread["summary"]["children"]:
            for node in part["children"] if part["key"] == "interrupted" else ():
                name = node["key"].split("/", 1)[1]
                sums[name] = sums.get(name, 0) + node["ns"]
    names = browser.js("return whylate.lanes.filter((lane) => lane.interrupt).map((lane) => lane.name)")
    assert any(re.fullmatch(r"softirq:\d+ \([A-Z_]+\)", name) for name in names), names
    lanes = [(name.split(" ")[0], ns) for name, ns in
             browser.js("return whylate.lanes.filter((lane) => lane.interrupt).map((lane) => [lane.name, lane.ns])")]
    wanted = sorted(((name, ns) for name, ns in sums.items() if name not in ("preempted", "wait-cpu")), key=lambda one: -one[1])[:4]
    assert len(wanted) == 4 and [tuple(lane) for lane in lanes] == wanted, (lanes, wanted)


def check_holders(browser):
    """Who held a lock when: of a flock() as its calls say."""
    browser.open("web", "overview", trace("web-mixed"))
    text = subprocess.run(["babeltrace2", "--clock-seconds", trace("web-mixed")], stdout=subprocess.PIPE, check=True).stdout.decode()
    held, asked, since = 0, {}, None
    for line in text.splitlines():
        found = re.match(r"\[([\d.]+)\].* syscall_(entry|exit)_flock: \{ cpu_id = (\d+) \}, \{ (?:fd = (\d+), cmd = (\d+)|ret = (-?\d+)) \}", line)
        if not found:
            continue
        at, where, cpu, fd, command, ret = found.groups()
        if where == "entry":
            asked[cpu] = (fd, command)
            if (fd, command) == ("3", "8") and since:
                held += float(at) - since
        elif asked.pop(cpu, None) == ("3", "2") and ret == "0":
            since = float(at)
    window = json.loads(output("overview", trace("web-mixed"), "--format", "json"))["window"]
    assert since and text.rindex("fd = 3, cmd = 2") > text.rindex("fd = 3, cmd = 8") # it has it at the end
    held += window["end"] / 1e9 - since
    lane, = browser.js("return whylate.lanes.filter((lane) => lane.held && lane.name === 'file:/applock')")
    rows = browser.js("return whylate.rows.map((row) => row.name)")
    part = browser.js("return whylate.length_ns") / len(lane["busy"]) / 1e9
    mine = sum(busy / 255 * part for busy, who in zip(lane["busy"], lane["who"]) if who and rows[who - 1] == "lockholder")
    assert held > 0.9 and abs(mine - held) < 20 * part, (mine, held)
    assert "held file:/applock" in browser.js("return whylate.lanes.filter((lane) => lane.held).map(laneName).join()")
    assert "Lock held" in browser.text("#picture .legend")


def check_depth(browser):
    """How many requests a device served at once: in all, what its latencies add up to."""
    asked = ("profile", trace("disk-read"), "--operation", "block-served:*", "--operation", "syscall:*", "--limit", "0")
    browser.open("depth", *asked)
    wanted = {one["operation"].split(":")[1]: one["sum_ns"] for one in json.loads(output(*asked, "--format", "json"))["profiles"]
              if one["operation"].startswith("block-served:")}
    lanes = browser.js("return whylate.lanes.filter((lane) => lane.depth)")
    assert wanted and {lane["name"]: lane["ns"] for lane in lanes} == {"requests at " + disk: ns for disk, ns in wanted.items()}
    part = browser.js("return whylate.length_ns") / len(lanes[0]["waiting"])
    drawn = sum(lanes[0]["waiting"]) / 16 * part
    assert abs(drawn - lanes[0]["ns"]) < 1 / 16 * part * sum(map(bool, lanes[0]["waiting"])), (drawn, lanes[0]["ns"])
    assert "Requests at a device" in browser.text("#picture .legend")


def check_waited_depth(browser):
    """Without operations on record: the requests that somebody waited for, a part of all that the device served, at any time."""
    browser.open("depth", "profile", trace("disk-read"), "--operation", "block-served:*", "--operation", "syscall:*", "--limit", "0")
    whole = browser.js("return whylate.lanes.filter((lane) => lane.depth)")
    browser.open("depth-delay", "delay", trace("disk-read"), "--thread", "all", "--limit", "0")
    lane, = browser.js("return whylate.lanes.filter((lane) => lane.depth)")
    all_of, = (one for one in whole if one["name"] + ", waited for" == lane["name"])
    assert 0 < lane["ns"] <= all_of["ns"], (lane["ns"], all_of["ns"])
    more = [(part, a, b) for part, (a, b) in enumerate(zip(lane["waiting"], all_of["waiting"])) if a > b]
    assert not more, more[:5]
    assert "Requests at a device" in browser.text("#picture .legend")


def check_statistics(browser):
    """What the shown part went to: of xinit's wait, all its time; and it follows the zoom."""
    browser.open("startup")
    browser.js("document.getElementById('statistics').open = true")
    begin, end = browser.js("const hop = whylate.timeline.hops.find((hop) => hop.end - hop.begin > 8e8); return [hop.begin, hop.end]")
    browser.js("whylate.timeline.show(arguments[0], arguments[1]); return new Promise(done => setTimeout(done, 400))", begin, end)
    rows = {row[0]: row[1:] for row in ([cell.text for cell in line.find_elements(By.CSS_SELECTOR, "th,td")]
                                       for line in browser.all("#statistics .inside > .scroll tbody tr"))}
    assert rows["xinit (221)"][:5] == ["0 ns", "0 ns", "0 ns", "0 ns", duration(end - begin)], rows
    assert "socket:pair#1" in browser.text("#statistics .columns"), browser.text("#statistics .columns")


FLAME = """const {tree} = whylate.flames.find(({id}) => id === arguments[0]), [from, to] = arguments[1] || [0, whylate.length_ns];
    const plain = ({name, kind, ns, count, children}) => [name, kind, ns, count, [...children.values()].map(plain)];
    return plain(tree(whylate.timeline, from, to))"""


def leaves(node, way=()):
    """(names down to it, ns) of each box's time that no box below it has."""
    name, _, ns, _, below = node
    rest = ns - sum(child[2] for child in below)
    return ([((*way, name), rest)] if rest else []) + [one for child in below for one in leaves(child, (*way, name))]


def check_flame(browser):
    """The flame graph of the path adds up to the path, by thread as the JSON's totals; of a part of time, to that part; what
    naps xinit's wait was for is below that wait."""
    browser.open("startup")
    totals = json.loads(output("delay", SOURCE + "/traces/startup-chain", *TARGET, "--format", "json"))["critical_path_totals"]["by_thread"]
    tree = browser.js(FLAME, "path")
    assert tree[2] == browser.js("return whylate.length_ns"), tree[2]
    sums = {}
    for way, ns in leaves(tree):
        sums[way[-2]] = sums.get(way[-2], 0) + ns
    assert sums == {"%s (%d)" % (one["name"], one["tid"]): one["ns"] for one in totals}, (sums, totals)
    naps = sum(ns for way, ns in leaves(tree) if way[1:4] == ("xinit (221)", "waited in pselect6 on socket:pair#1", "Xorg (222)")
               and way[4].startswith("clock_nanosleep on"))
    assert duration(naps) == "799.3 ms", naps  # as the verdict has it
    part = browser.js(FLAME, "path", [1e8, 2.5e8])
    assert part[2] == 1.5e8, part[2]
    # off the CPU: what is blocked or ready, of all rows; and what ended xinit's wait
    waits = {way: ns for way, ns in leaves(browser.js(FLAME, "waits"))}
    wait, = [ns for way, ns in waits.items() if way[1:4] == ("xinit (221)", "pselect6", "on socket:pair#1") and "Xorg (222)" in way[4]]
    assert abs(wait - 853744950) < 2e6, wait  # with a wake-up in vain: two waits
    # on the page: a box is zoomed to, by the mouse and by keys, and follows the timeline
    browser.js("document.querySelector('#flame').scrollIntoView()")
    browser.settle()
    browser.js("return new Promise(done => setTimeout(done, 200))")
    boxes = browser.js("return [...document.querySelectorAll('#flame .frame')].map((box) => [box.textContent, box.getBoundingClientRect().width])")
    width = boxes[0][1]
    assert [round(1000 * one[1] / width) for one in boxes if one[0] == "Xorg (222)"] == [round(1000 * 853744950 / tree[2])], boxes
    browser.js("[...document.querySelectorAll('#flame .frame')].find((box) => box.textContent === 'Xorg (222)').click()")
    assert duration(853744950) in browser.text("#flame [role=status]"), browser.text("#flame [role=status]")
    browser.keys(Keys.ARROW_DOWN)
    assert "clock_nanosleep" in browser.js("return document.activeElement.getAttribute('aria-label')")
    browser.keys(Keys.ESCAPE)
    assert duration(tree[2]) in browser.text("#flame [role=status]")
    browser.keys("/")
    browser.keys("clock_nanosleep")
    assert duration(sum(ns for way, ns in leaves(tree) if any("clock_nanosleep" in name for name in way))) in browser.text("#flame [role=status]")
    browser.js("whylate.timeline.show(1e8, 2.5e8); return new Promise(done => setTimeout(done, 400))")
    assert "of 150.0 ms" in browser.text("#flame [role=status]"), browser.text("#flame [role=status]")


def check_samples(browser):
    """On a CPU: the samples' stacks, as many and of as much time as `functions` has."""
    browser.open("samples", "delay", trace("samples"), "--thread", "all")
    wanted, found = {}, {}
    for one in json.loads(output("functions", trace("samples"), "--limit", "0", "--format", "json"))["sampled"]:
        was = wanted.get(one["name"], (0, 0))
        wanted[one["name"]] = was[0] + one["samples"], was[1] + one["ns"]
    for name, _, ns, samples, _ in browser.js(FLAME, "cpu")[4]:
        name = re.sub(r" \(\d+\)$", "", name)
        was = found.get(name, (0, 0))
        found[name] = was[0] + samples, was[1] + ns
    found = {name: one for name, one in found.items() if name in wanted}  # `functions` leaves out the tracer's and the kernel's threads
    assert {"copier", "true"} <= set(wanted) and found == wanted, (found, wanted)


def check_slept(browser):
    """Off the CPU: below the call the kernel's functions in which threads fell asleep, with the time that `functions` has."""
    browser.open("callstack", "delay", trace("callstack"), "--thread", "grep")
    report = json.loads(output("functions", trace("callstack"), "--limit", "0", "--format", "json"))
    wanted, = [one for one in report["waits"] if one["name"] == "grep" and one["leaf"] == "blocked/syscall:read"]
    assert wanted["kernel"][-1] == "io_schedule" and not wanted["user"], wanted
    found = sum(ns for way, ns in leaves(browser.js(FLAME, "waits")) if way[1].startswith("grep (") and way[2:3 + len(wanted["kernel"])] == ("read", *wanted["kernel"]))
    assert found == wanted["ns"], (found, wanted["ns"])
    # what `samples` has recorded is no stack of a wait: call and cause alone
    browser.open("samples")
    assert browser.js("return whylate.data.samples.waits") == []
    assert browser.js(FLAME, "waits")[2] > 0


def check_requests(browser):
    """Every request is a point, with its latency; the causes of a bar and the steps of a way are the JSON's, and add up."""
    arguments = ("requests", trace("web-mixed"))
    browser.open("requests", *arguments)
    report = json.loads(output(*arguments, "--limit", "0", "--format", "json"))
    base, kinds = report["window"]["begin"], browser.js("return whylate.data.kinds")
    points = {one[0]: one for one in browser.js("return whylate.data.points")}
    assert {id: one[1:3] for id, one in points.items()} == {one["id"]: [one["begin"] - base, one["ns"]] for one in report["requests"]}
    for request in report["requests"]:
        sums = {}
        for cause in request["causes"]:
            sums[cause["kind"]] = sums.get(cause["kind"], 0) + cause["ns"]
        flat = points[request["id"]][3]
        assert {kinds[flat[i]]: flat[i + 1] for i in range(0, len(flat), 2)} == sums, request["id"]
    # the slowest ones' ways tile them, and each cause has as much on its way as in its sum
    by_id = {one["id"]: one for one in report["requests"]}
    for id, *steps in browser.js("return whylate.data.waterfalls"):
        request = by_id[id]
        assert steps[0][1] == request["begin"] - base and steps[-1][1] + steps[-1][2] == request["end"] - base
        assert all(a[1] + a[2] == b[1] for a, b in zip(steps, steps[1:])), id
        sums = {}
        for _, _, ns, kind, text in steps:
            sums[kinds[kind]] = sums.get(kinds[kind], 0) + ns
        flat = points[id][3]
        assert sums == {kinds[flat[i]]: flat[i + 1] for i in range(0, len(flat), 2)}, id
    assert browser.js("return whylate.data.waterfalls.length") == 20
    # what is shown: the slowest is chosen, on the rows of its threads; another by a click in the table
    slowest = sorted(report["requests"], key=lambda one: -one["ns"])
    rows = [[cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th,td")] for row in browser.all("#slowest tbody tr")]
    assert [row[:2] for row in rows] == [["#%d" % one["id"], duration(one["ns"])] for one in slowest[:20]], rows
    assert browser.text("#picture p strong") == "Request %d" % slowest[0]["id"]
    browser.click("#slowest tbody tr:nth-child(5) button")
    assert browser.text("#picture p strong") == "Request %d" % slowest[4]["id"]
    ends = browser.js("const {path, shares} = whylate.timeline; return [path[0].begin, path.at(-1).end, [...shares.values()].reduce((a, b) => a + b)]")
    assert ends == [slowest[4]["begin"] - base, slowest[4]["end"] - base, slowest[4]["ns"]], ends
    assert browser.text("#answer .headline p") == report["answer"][0]
    # the ways are drawn, no way longer than it may be; all requests go in and come out
    ways = browser.js("return whylate.data.ways")
    assert ways["nodes"][0][1] == ways["nodes"][-1][1] == len(report["requests"]) and 4 <= len(ways["nodes"])
    assert sum(node[2] for node in ways["nodes"]) == sum(one["ns"] for one in report["requests"])
    assert len(browser.all("#ways .node")) == len(ways["nodes"]) and len(browser.all("#ways .way")) == len(ways["edges"])
    browser.picture("requests")


def check_functions(browser):
    """The walk and the calls over time are the JSON's, to the ns."""
    arguments = ("functions", trace("ust-func"))
    browser.open("functions", *arguments)
    report = json.loads(output(*arguments, "--format", "json"))
    walk = browser.js("return [...document.querySelectorAll('#walk .frame')].slice(0, 3).map((box) => box.getAttribute('aria-label'))")
    thread, = report["threads"]
    assert walk[1].startswith("%s: %s, 100 %%" % (thread["name"], duration(thread["tree"]["inclusive"]["ns"]))), walk
    main = [node for node in thread["tree"]["children"] if node["name"] == "main"][0]
    assert walk[2].startswith("main: %s, " % duration(main["inclusive"]["ns"])) and walk[2].endswith("1 call"), walk
    assert browser.text("#answer .headline p") == report["answer"][0]
    calls, = json.loads(output(*arguments, "--timeline", "--limit", "0", "--format", "json"))["timeline"]
    base = report["window"]["begin"]
    wanted = sorted(((one["begin"] - base, one["ns"], one["depth"], one["name"]) for one in calls["rectangles"] if one["kind"] in ("call", "interrupt")),
                    key=lambda one: (-one[1], one[2], one[0]))[:5000]
    found = browser.js("return whylate.data.calls.map(([row, depth, begin, ns, kind, text]) => [begin, ns, depth, whylate.data.strings[text]])")
    assert sorted(map(tuple, found)) == sorted(wanted), (len(found), len(wanted), found[:3], wanted[:3])
    browser.picture("functions")


def check_diff(browser):
    """The latencies of both sides, and the two requests side by side, are what `requests` has of them."""
    arguments = ("diff", trace("web-mixed"), "--slow-fast", "p80")
    browser.open("diff", *arguments)
    report = json.loads(output(*arguments, "--limit", "0", "--format", "json"))
    latencies = {one["id"]: one["ns"] for one in json.loads(output("requests", trace("web-mixed"), "--limit", "0", "--format", "json"))["requests"]}
    sides = browser.js("return whylate.data.sides")
    for side, drawn in zip("ab", sides):
        assert drawn["latencies"] == sorted(latencies[id] for id in report[side]["requests"]), side
        steps = drawn["steps"]
        assert steps[0][0] == 0 and all(a[0] + a[1] == b[0] for a, b in zip(steps, steps[1:])), side
        assert sum(step[1] for step in steps) == latencies[report["alignment"][side]], side
        apart = sum(step[1] for step in steps if step[5] >= 0)
        assert apart == sum(one[side + "_ns"] for one in report["alignment"]["divergences"]), side
    rows = [row.text for row in browser.all("#causes tbody tr")]
    assert len(rows) == 15 and duration(report["causes"][0]["difference"]) in rows[0] and report["causes"][0]["label"] in rows[0], rows[0]
    assert browser.all("svg.two-histograms") and browser.text("#answer .headline p") == report["answer"][0]
    browser.picture("diff")
    # of a target: both ways, from their begin to their end
    arguments = ("diff", *TARGET, SOURCE + "/traces/startup-chain", trace("whatif-startup"))
    browser.open("diff-target", *arguments)
    target = json.loads(output(*arguments, "--format", "json"))["target"]
    assert [sum(step[1] for step in side["steps"]) for side in browser.js("return whylate.data.sides")] == [target["a_ns"], target["b_ns"]]


def check_check(browser):
    """What can be answered, and the commands to record with, to be copied."""
    browser.open("check", "check", trace("lost"))
    report = json.loads(output("check", trace("lost"), "--format", "json"))
    assert [row.text.split()[0] for row in browser.all("#answer tbody tr")] == [one["command"] for one in report["commands"]]
    assert browser.text("#record code") == report["record_with"] and len(browser.all("#findings .card")) == len(report["findings"])
    assert [element.text for element in browser.all("#answer .headline p")] == report["answer"]


def check_bounded(browser):
    """A page stays below 3 MB whatever the trace, and says what it leaves out: here of a report of more than 8 MB."""
    arguments = ("delay", trace("zero-read"), "--thread", "all", "--limit", "0")
    assert len(output(*arguments, "--format", "json")) > 8e6
    browser.open("bounded", *arguments)
    assert os.path.getsize(browser.made["bounded"]) < 3e6, os.path.getsize(browser.made["bounded"])
    for more in sample((("functions", trace("zero-read"), "--timeline", "--limit", "0"), ("requests", trace("zero-read"), "--preset", "syscall:read", "--limit", "0"))):
        assert len(output(*more, "--format", "html")) < 3e6, more
    left = browser.js("return whylate.report.threads_omitted")
    assert left and "no room for all" in browser.text(".chooser"), left


def check_million(browser):
    """A million events: the page opens in under 3 s, frames take a fraction of a 60th of a second to draw at any zoom, both
    of processor time, and what is merged is said."""
    seconds = browser.open("zero-read", "delay", trace("zero-read"), "--thread", "all")
    assert 0 < seconds < 3, "%.1f s" % seconds
    assert os.path.getsize(browser.made["zero-read"]) < 3e6
    assert "are merged" in browser.text(".timeline"), "it is not said that states are merged"
    begin = browser.spent()
    browser.js("""const t = whylate.timeline;
        for (const part of [1, 0.1, 0.01, 0.001, 0.0001])
            for (let i = 0; i < 20; i++) {
                const length = part * whylate.length_ns;
                t.show((1 - part) * 0.5 * length / part + i * length / 100, (1 - part) * 0.5 * length / part + i * length / 100 + length);
                t.paint();
            }""")
    each = (browser.spent() - begin) / 100
    assert 0 < each < 0.016, each


WHAT_IF = "thread=Xorg leaf=*nanosleep: 0"


def waited_for(step):
    """What a step of either path waited for: behind a file is its device."""
    if step.get("cause", {}).get("kind") == "block-device":
        return ["device:" + step["cause"]["label"].split(",")[0]]
    return [step["resource"]["name"], "%(kind)s:%(name)s" % step["resource"]] if step.get("resource") else [""]


def spent(steps, tid, leaf, resource):
    """Of a path in the JSON, what a thread spent in a state on a resource."""
    return sum(step["ns"] for step in steps if (step["tid"], step["leaf"]) == (tid, leaf) and resource in waited_for(step))


def check_what_if(browser):
    """Both paths are drawn on one scale, each as long as it is, with what is saved; their sums are those of the JSON's
    steps; keys go from part to part."""
    asked = ("delay", SOURCE + "/traces/startup-chain", *TARGET, "--what-if", WHAT_IF)
    browser.open("what-if", *asked)
    report = json.loads(output(*asked, "--format", "json"))
    answer = report["what_if"]
    lengths = answer["recorded_end"] - answer["recorded_begin"], answer["time"] - answer["begin"]
    assert lengths[0] - lengths[1] == answer["saved_ns"] > 7e8, answer
    assert duration(answer["saved_ns"]) + " sooner" in browser.text("#what-if h2"), browser.text("#what-if h2")
    assert [head.text for head in browser.all("#what-if h3")] == \
        ["Recorded: " + duration(lengths[0]), "Re-timed: " + duration(lengths[1])]
    assert [line.text for line in browser.all("#what-if ul.what-if li")] == [" ".join(line.split()) for line in answer["verdict"]]
    assert [one.text for one in browser.all("#what-if .c-saved")] == [duration(answer["saved_ns"]) + " sooner"]
    data = browser.js("return whylate.data.what_if")
    for name, length in zip(("recorded", "retimed"), lengths):
        ends = [0] + [begin + ns for _, _, _, begin, ns in data[name]]
        assert [begin for _, _, _, begin, _ in data[name]] == ends[:-1] and ends[-1] == length, (name, ends[-3:], length)
    wide = browser.js("""return [...document.querySelectorAll('#what-if .track')].map((track) => track.clientWidth /
        [...track.querySelectorAll('.states span:not(.c-saved)')].reduce((sum, one) => sum + one.getBoundingClientRect().width, 0))""")
    assert abs(wide[0] - 1) < 0.01 and abs(wide[1] - lengths[0] / lengths[1]) < 0.05 * wide[1], (wide, lengths)
    # the sums: of each part that is told, in both paths, and of all that is not
    tids, leaves, strings = browser.js("return [whylate.rows.map((row) => row.tid), whylate.data.leaves, whylate.data.strings]")
    rows = [[cell.text for cell in row.find_elements(By.CSS_SELECTOR, "td")] for row in browser.all("#what-if tbody tr")]
    left = list(lengths)
    for (row, leaf, resource, *sums), cells in zip(data["sums"], rows):
        expected = [spent(steps, tids[row], leaves[leaf][0], strings[resource]) for steps in (report["critical_path"], answer["path"])]
        assert sums == expected and cells[1:3] == [duration(ns) for ns in sums], (sums, expected, cells)
        left = [rest - ns for rest, ns in zip(left, sums)]
    assert rows[0][2] == "0 ns" and rows[0][3] == rows[0][1] + " less", rows[0]
    assert len(rows) == len(data["sums"]) + 1 and rows[-1][1:3] == [duration(ns) for ns in left], (rows[-1], left)
    # by keys: the last part is the target's own
    browser.js("document.querySelectorAll('#what-if .track')[1].focus()")
    browser.keys(Keys.END)
    said = browser.text("#what-if .retimed:nth-of-type(2) [role=status]")
    assert said.startswith("autostart (226)"), said
    # of the recorded one, a part leads to the timeline
    whole = browser.shown()
    browser.js("document.querySelectorAll('#what-if .track')[0].focus()")
    browser.keys(Keys.HOME, Keys.ENTER)
    assert browser.shown() != whole, whole
    assert not browser.complaints(), browser.complaints()
    browser.picture("what-if")


def what_if_rows(browser, name, *asked):
    """The cells of the page's tables of --what-if, and the JSON's answer."""
    browser.open(name, *asked)
    assert not browser.complaints(), browser.complaints()
    return ([[cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th,td") if not cell.find_elements(By.CSS_SELECTOR, ".pair")]
             for row in browser.all("#what-if tbody tr")],
            json.loads(output(*asked, "--format", "json"))["what_if"])


def change(before, after):
    return "%s %s" % (duration(abs(after - before)), "less" if after < before else "more") if after != before else "the same"


def check_what_if_figure(browser, times):
    """Two bars a row, [(recorded, re-timed), …], on one scale; a legend says which is which, in the bars' colours."""
    pairs = browser.all("#what-if .pair")
    assert [pair.get_attribute("aria-label") for pair in pairs] == \
        ["%s recorded, %s re-timed" % (duration(before), duration(after)) for before, after in times]
    wide = [browser.js("return [...arguments[0].children].map((one) => one.getBoundingClientRect().width / arguments[0].clientWidth)", pair)
            for pair in pairs]
    most = max(max(pair) for pair in times)
    assert all(abs(width - ns / most) < 0.01 for pair, of in zip(wide, times) for width, ns in zip(pair, of)), (wide, times)
    colour = "return [...arguments[0].querySelectorAll(arguments[1])].map((one) => getComputedStyle(one).backgroundColor)"
    legend, = browser.all("#what-if ul.legend")
    assert [one.split(",")[0] for one in legend.text.split("\n")] == ["above: recorded", "below: re-timed"], legend.text
    assert browser.js(colour, legend, ".swatch") == browser.js(colour, pairs[0], ":scope > span"), legend.text
    tops = browser.js("return [...arguments[0].children].map((one) => one.getBoundingClientRect().top)", pairs[0])
    assert tops[0] < tops[1], tops


def check_what_if_sums(browser):
    """overview, profile and requests: recorded beside re-timed, as the JSON has them."""
    halved = ("--what-if", "leaf=blocked/*nanosleep: x0.5")
    rows, found = what_if_rows(browser, "what-if-overview", "overview", trace("futex"), *halved)
    threads = [["%s (%d)" % (one["name"], one["tid"]), duration(one["recorded_ns"]), duration(one["recorded_ns"] - one["saved_ns"]),
                change(0, -one["saved_ns"])] for one in found["threads"]]
    assert rows[:len(threads)] == threads and len(rows) == len(threads) + len(found["stands_out"]), (rows, threads)
    check_what_if_figure(browser, [(one["recorded_ns"], one["recorded_ns"] - one["saved_ns"]) for one in found["threads"]])
    rows, found = what_if_rows(browser, "what-if-profile", "profile", trace("fork4"), "--what-if", "leaf=blocked/*: x0.5")
    operations = [[one["recorded"]["sum_ns"], one["changed"]["sum_ns"], one["recorded"]["p99_ns"], one["changed"]["p99_ns"]]
                  for one in found["operations"]]
    assert [[row[2], row[3], row[4], row[6], row[7]] for row in rows] == \
        [[duration(one[0]), duration(one[1]), change(*one[:2]), *("none" if ns is None else duration(ns) for ns in one[2:])]
         for one in operations], (rows, operations)
    check_what_if_figure(browser, [one[:2] for one in operations])
    rows, found = what_if_rows(browser, "what-if-requests", "requests", trace("web-mixed"), *halved)
    lengths = [(found["recorded"][key], found["changed"][key]) for key in ("mean_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns")]
    assert [row[1:] for row in rows] == [[duration(one[0]), duration(one[1]), change(*one)] for one in lengths], (rows, lengths)
    check_what_if_figure(browser, lengths)
    assert "%d would be shorter, %d longer" % (found["sooner"], found["later"]) in browser.text("#what-if"), browser.text("#what-if")


def check_what_if_diff(browser):
    """diff: the way that is compared, and the calls whose mean changes, as the JSON has them; the others are counted."""
    rows, found = what_if_rows(browser, "what-if-diff", "diff", trace("futex"), "--what-if", "leaf=blocked/*nanosleep: x0.5")
    report = json.loads(output("diff", trace("futex"), "--what-if", "leaf=blocked/*nanosleep: x0.5", "--format", "json"))
    changed = [one for one in report["calls"] if one["a_count"] and one["b_count"] and round(one["a_mean"]) != round(one["b_mean"])]
    times = [(report["changed_most"]["a_ns"], report["changed_most"]["b_ns"])] + \
        [(round(one["a_mean"]), round(one["b_mean"])) for one in changed]
    assert times[0][0] - times[0][1] > 7e7 and {"futex", "clock_nanosleep"} <= {one["name"] for one in changed}, times
    assert [row[1:] for row in rows] == [[duration(a), duration(b), change(a, b)] for a, b in times], (rows, times)
    said = browser.text("#what-if")
    assert "%d stretches" % found["picked"]["count"] in said and found["orders"][0] in said, said
    assert "%d other system calls take as long" % (len(report["calls"]) - len(changed)) in said, said
    browser.open("what-if-diff-web", "diff", trace("web-mixed"), "--what-if", "leaf=blocked/*nanosleep: x0.5")
    sides = json.loads(output("diff", trace("web-mixed"), "--what-if", "leaf=blocked/*nanosleep: x0.5", "--format", "json"))
    assert "the mean of %d requests" % len(sides["a"]["requests"]) in browser.text("#what-if tbody"), browser.text("#what-if tbody")
    assert duration(round(sides["a"]["mean"])) in browser.text("#what-if tbody")
    # of 40 the one that the rule changes most is drawn, twice: 98.7 ms as recorded, not the median of 16.8
    assert sides["alignment"]["a"] == sides["alignment"]["b"] and sides["alignment"]["a_matched_ns"] > 9e7, sides["alignment"]
    assert "The request that changes most" in browser.text("#two-ways") and "medians" not in browser.text("#two-ways")


def check_flame_address(browser):
    """The box that a flame graph is zoomed to, and what is searched in it, are in the address: it opens there, Back goes back."""
    browser.open("startup", "delay", SOURCE + "/traces/startup-chain", *TARGET)
    browser.js("document.getElementById('flame').scrollIntoView()")
    browser.js("return new Promise(done => setTimeout(done, 300))")
    browser.click("[data-flame=waits]")
    browser.click("#flame .icicle [aria-level='2']")
    browser.click("#flame .icicle [aria-level='3']")
    chosen = "return document.querySelector('#flame .icicle [aria-selected=true]').getAttribute('aria-label')"
    label, place = browser.js(chosen), browser.js("return location.hash")
    assert "flame=waits" in place and place.count("in=") == 2, place
    browser.driver.back()
    browser.settle()
    assert browser.js("return location.hash").count("in=") == 1 and browser.js(chosen) != label
    browser.open("startup", fragment=place + "&find=Xorg")
    assert browser.js(chosen) == label, (browser.js(chosen), label)
    assert browser.js("return document.querySelector('#flame input').value") == "Xorg"
    assert not browser.complaints(), browser.complaints()


def check_lane_click(browser):
    """A click on a CPU's lane selects who ran there then, and searches nothing; one on an interrupt's finds its states."""
    browser.open("web-overview", "overview", trace("web-mixed"))
    at = """const t = whylate.timeline, at = whylate.lanes.findIndex((lane) => lane.name === arguments[0]), lane = whylate.lanes[at];
        t.reveal(-2 - at); t.paint();
        const list = lane.who || lane.waiting, part = list.findIndex((value) => value);
        let place; t.eachLine((row, y, height) => { if (row === -2 - at) place = y + height / 2; });
        const box = t.canvas.getBoundingClientRect(), x = t.x((part + 0.5) / list.length * whylate.length_ns);
        for (const type of ['pointerdown', 'pointerup'])
            t.canvas.dispatchEvent(new PointerEvent(type, {clientX: box.left + x, clientY: box.top + place, pointerId: 1, bubbles: true}));
        return lane.who ? whylate.rows[lane.who[part] - 1].tid : null"""
    browser.js("Element.prototype.setPointerCapture = () => {}")  # there is no such pointer
    tid = browser.js(at, "cpu:0")
    assert browser.js("return whylate.rows[whylate.timeline.selected.row].tid") == tid
    assert browser.js("return document.getElementById('search').value") == ""
    names = browser.js("return whylate.lanes.filter((lane) => lane.interrupt).map((lane) => lane.name)")
    for name in ["cpu:waiting"] + names[:2]:
        browser.js(at, name)
        assert browser.js("return whylate.timeline.search.hits.length"), (name, browser.js("return document.getElementById('search').value"))


def check_pinch(browser):
    """Two fingers that part zoom: what was between them stays there; one that is lifted ends it."""
    browser.open("startup", "delay", SOURCE + "/traces/startup-chain", *TARGET)
    browser.js("document.getElementById('canvas').scrollIntoView({block: 'center'})")
    left, top, wide = browser.js("const t = whylate.timeline, b = t.canvas.getBoundingClientRect(); return [b.left + t.left, b.top + 60, b.width - t.left]")
    touch = lambda kind, *xs: browser.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {
        "type": kind, "touchPoints": [{"x": x, "y": top, "id": i} for i, x in enumerate(xs)]})
    time_at = lambda x: browser.js("return whylate.timeline.time(arguments[0] - whylate.timeline.canvas.getBoundingClientRect().left)", x)
    whole = browser.shown()
    middle = left + wide / 2
    before = time_at(middle)
    touch("touchStart", middle - 50)
    touch("touchStart", middle - 50, middle + 50)
    touch("touchMove", middle - 75, middle + 75)
    touch("touchMove", middle - 100, middle + 100)
    touch("touchEnd")
    browser.settle()
    shown = browser.shown()
    assert abs((shown[1] - shown[0]) / (whole[1] - whole[0]) - 0.5) < 0.02, (shown, whole)
    assert abs(time_at(middle) - before) < (shown[1] - shown[0]) / 100, (before, time_at(middle))
    assert browser.js("return whylate.timeline.selected") is None, "a pinch is no click"


def check_nobody_asks(browser):
    """Without requests the page has the text's hint of what to try; who does not live in view has no row."""
    browser.open("no-requests", "requests", trace("futex"))
    text = " ".join(output("requests", trace("futex")).decode().split())
    note = browser.text("#answer .headline .note")
    assert "--preset client, process or syscall:NAME" in note and note in text, note
    browser.open("requests", "requests", trace("web-mixed"))
    away = """const t = whylate.timeline, seen = [];
        t.eachLine((row) => row >= 0 && seen.push(row));
        return [seen, whylate.rows.map(({from, to}) => from < t.to && to > t.from), [...t.shares.keys()]]"""
    seen, alive, shares = browser.js(away)
    assert sorted(set(seen) | set(shares)) == sorted({row for row, lives in enumerate(alive) if lives} | set(shares)) and not all(alive)
    assert "%d threads that did not live" % (len(alive) - len(seen)) in browser.text("#away"), browser.text("#away")
    browser.click("#zoom-all")
    assert len(browser.js(away)[0]) == len(alive)


def check_graph_ways(browser):
    """No arrow of the graph crosses a box: points along each lie outside of all boxes but its own two."""
    for name in ("overview", "web-overview"):
        browser.open(name)
        crossed = browser.js("""const boxes = [...document.querySelectorAll('#graph .node > rect')].map((one) => one.getBBox());
            return [...document.querySelectorAll('#graph .edge')].flatMap((edge) => {
                const length = edge.getTotalLength(), found = [];
                for (let at = 4; at < length - 4; at += 3) {
                    const {x, y} = edge.getPointAtLength(at);
                    if (boxes.some((b) => x > b.x + 1 && x < b.x + b.width - 1 && y > b.y + 1 && y < b.y + b.height - 1)) found.push([x, y]);
                }
                return found.length ? [[edge.textContent, found[0]]] : [];
            })""")
        assert not crossed and browser.js("return document.querySelectorAll('#graph .edge').length"), (name, crossed)


def check_keys(browser):
    """Everything of the timeline without a mouse."""
    browser.open("startup")
    whole = browser.shown()
    browser.js("document.getElementById('canvas').focus()")
    browser.keys("+")
    assert browser.shown()[1] - browser.shown()[0] < whole[1] - whole[0]
    browser.keys("0")
    assert browser.shown() == whole
    browser.keys(*[Keys.ARROW_DOWN] * 6)  # the path, then by their share of it
    assert "xinit (221)" in browser.js("return document.getElementById('live').textContent")
    browser.keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    selected = browser.js("return whylate.timeline.selected")
    assert browser.js("return whylate.rows[arguments[0]].name", selected["row"]) == "xinit", selected
    browser.keys(Keys.ENTER)
    shown = browser.shown()
    assert shown[0] <= selected["begin"] and shown[1] >= selected["end"] and shown != whole, (shown, selected)
    browser.keys("f")
    assert browser.js("return whylate.timeline.open.size") == 1
    browser.keys(Keys.ESCAPE)
    assert browser.js("return whylate.timeline.selected") is None
    browser.keys("/")
    assert browser.js("return document.activeElement.id") == "search"
    browser.js("document.querySelector('#causality summary').focus()")
    was = browser.js("return document.querySelector('#causality details').open")
    browser.keys(Keys.ENTER)
    assert browser.js("return document.querySelector('#causality details').open") != was, "a branch is not opened by Enter"


def check_peaks(browser):
    """fork4: clone has two peaks; a click on each shows its causes, and an example in the timeline."""
    browser.open("fork4", "profile", trace("fork4"), "--operation", "syscall:clone")
    report = json.loads(output("profile", trace("fork4"), "--operation", "syscall:clone", "--format", "json"))
    profile, = report["profiles"]
    assert len(browser.all(".peak")) == len(profile["peaks"]) == 2
    # the text's sentences head it; what is said first is shown, and each shows its peak
    sentences = [one["sentence"] for one in report["answer"]]
    text = " ".join(output("profile", trace("fork4"), "--operation", "syscall:clone").decode().split())
    assert sentences and [one.text for one in browser.all("#answer .headline li")] == sentences, sentences
    assert all(sentence in text for sentence in sentences), sentences
    for number, one in list(enumerate(report["answer"], 1))[::-1]:
        browser.click("#answer .headline li:nth-child(%d) button" % number)
        assert "Peak %d" % one["peak"] in browser.text("#peak"), (one, browser.text("#peak"))
    browser.picture("fork4")
    colours = set(browser.js("return [...document.querySelectorAll('.histogram .column')].map((one) => one.getAttribute('class'))"))
    assert colours - {"column f-all"}, colours  # by what most of each peak's time went to
    for number, peak in enumerate(profile["peaks"], 1):
        browser.click('.peak[data-peak="%d"] text' % number)
        example = peak["roots"][0]["example"]
        panel = browser.text("#peak")
        assert "its own work" in panel and "{:,}".format(peak["count"]) in panel and duration(peak["sum_ns"]) in panel, panel
        assert "%s (%d)" % (example["name"], example["tid"]) in panel and duration(example["end"] - example["begin"]) in panel, panel
        ends = browser.js("const s = whylate.timeline.selected; return [whylate.rows[s.row].tid, s.begin, s.end]")
        assert ends[0] == example["tid"] and ends[2] - ends[1] == example["end"] - example["begin"], (ends, example)
        shown = browser.shown()
        assert shown[0] < ends[1] and shown[1] > ends[2] and shown[1] - shown[0] < 3 * (ends[2] - ends[1]), shown
    browser.js("document.querySelector('.peak').focus()")
    browser.keys(Keys.ENTER)
    assert "Peak 1" in browser.text("#peak"), "a peak is not chosen by Enter"


def check_commands(browser):
    """The commands that the page suggests are those of the text report: with the trace's path, times as a clock shows
    them, and what the user gave that decides what they mean. What is picked in the timeline can be pasted too."""
    for number, (zone, *more) in enumerate((("Asia/Kolkata",), ("Asia/Kolkata", "--utc"), ("UTC", "--from", "+1ms"))):
        os.environ["TZ"] = zone
        arguments = ("profile", trace("fork4"), "--operation", "syscall:clone", *more)
        text = output(*arguments).decode().replace("\\\n", " ")
        wanted = {" ".join(line.split()) for line in text.splitlines() if "whylate delay " in line}
        browser.open("commands%d" % number, *arguments)
        shown = set()
        for peak in range(len(browser.all(".peak"))):
            browser.click('.peak[data-peak="%d"] text' % (peak + 1))
            shown |= {browser.js("return arguments[0].textContent", element) for element in browser.all("#peak .command code")}
        assert wanted and wanted <= shown, (wanted, shown)
        for line in shown:
            output(*shlex.split(line)[1:])
    assert os.environ["TZ"] == "UTC"  # as tests/run has it
    # rounded outwards, by the length; the trace's own ends are not said
    lines = browser.js("return [[0, 100e6], [5e6, 5e6 + 100e6], [5e6, 5e6 + 1e5], [5e6, 5e6 + 7], [0, whylate.length_ns]]"
                       ".map(([from, to]) => whylate.commandFor(whylate.rows[0], from, to))")
    decimals = [len(re.search(r"--from [\d:]+\.(\d+)", line).group(1)) for line in lines[:4]]
    assert decimals == [3, 3, 6, 9] and re.search(r"--to \+\d+ns", lines[3]) and "--to" not in lines[4], lines


def check_compared(browser):
    """--compare draws both: the saved counts as frames over the bars, as many of each as the JSON has."""
    with tempfile.TemporaryDirectory() as directory:
        output("profile", trace("fork4"), "--operation", "syscall:clone", "--save", directory + "/before")
        arguments = ("profile", trace("lock-lapse"), "--operation", "syscall:clone", "--compare", directory + "/before")
        browser.open("compared", *arguments)
        profile, = json.loads(output(*arguments, "--format", "json"))["profiles"]
    drawn = browser.js("return [...document.querySelectorAll('.histogram .saved title')].map((one) => Number(/: ([\\d,]+) operation/.exec(one.textContent)[1].replace(/,/g, '')))")
    assert drawn == [one["count"] for one in profile["saved_buckets"]] and sum(drawn) > 1000, drawn
    assert len(browser.all(".histogram .column")) == len(profile["buckets"])


def check_lapse(browser):
    """The heat map has the counts of --time-lapse: what stands in each cell adds up to the profile."""
    arguments = ("profile", trace("lock-lapse"), "--thread", "writer-*", "--operation", "syscall:pwrite64", "--time-lapse", "250ms")
    browser.open("lapse", *arguments)
    profile, = json.loads(output(*arguments, "--format", "json"))["profiles"]
    counts = browser.js("return [...document.querySelectorAll('.heat .column title')].map(t => Number(/: ([\\d,]+) operation/.exec(t.textContent)[1].replace(/,/g, '')))")
    assert sum(counts) == profile["count"] and len(counts) == sum(len(row["counts"]) for row in profile["time_lapse"]["rows"]), sum(counts)
    browser.js("document.querySelector('.heat').scrollIntoView({block: 'center'})")
    browser.picture("lock-lapse")


def check_bottleneck(browser):
    """A bottleneck is said with its host, and leads to the waits for it."""
    hosts = [trace("two-hosts-client"), trace("two-hosts-server")]
    browser.open("two-hosts-overview", "overview", *hosts)
    knots = json.loads(output("overview", *hosts, "--format", "json"))["knots"]
    number, = [i for i, knot in enumerate(knots, 1) if not knot["threads"] and knot["resource"]["name"] == "vda"]
    lines = [one.text for one in browser.all("#answer .headline")]
    assert lines[number - 1].startswith("Bottleneck: device:vda on server: "), lines  # both hosts have a disk vda
    browser.click("#answer p.headline:nth-of-type(%d) button" % (number + 1))  # behind the section's first words
    assert browser.js("return document.getElementById('search').value") == "vda" and "vda" in browser.text("#hits")


def check_short_names(browser):
    """Where there is little room names are cut so that they differ still: threads of one name, futexes."""
    browser.size(390, 900)
    browser.open("web-overview", "overview", trace("web-mixed"))
    names = browser.js("""const t = whylate.timeline, room = t.left - 18, cut = (line) => { const [text, kept] = t.shortName(line); return t.cut(text, room, kept); };
        t.context.font = '12px system-ui, sans-serif';
        return [whylate.rows.map((row, i) => [row.name, row.tid, cut(i)]), whylate.lanes.map((lane, i) => [lane.name, cut(-2 - i)])]""")
    apps = [(tid, shown) for name, tid, shown in names[0] if name == "app"]
    assert len(apps) > 20 and all(shown.endswith(str(tid)) for tid, shown in apps), apps
    workers = [shown for name, _, shown in names[0] if name.startswith("kworker/")]
    assert len(workers) > 1 and len(set(workers)) == len(workers), workers
    futexes = [shown for name, shown in names[1] if name.startswith("futex:")]
    assert len(futexes) > 1 and len(set(futexes)) == len(futexes), futexes
    browser.any_size()


def check_overview(browser):
    """Who others waited for comes first, with the JSON's figures; the graph has the same waits as arrows."""
    browser.open("overview", "overview", SOURCE + "/traces/startup-chain")
    report = json.loads(output("overview", SOURCE + "/traces/startup-chain", "--format", "json"))
    rows = [[cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th,td")] for row in browser.all("#answer tbody tr")]
    assert [row[1] for row in rows] == [duration(one["ns"]) for one in report["waiting"]], rows
    assert rows[0][0] == "Xorg (222)", rows[0]
    arrows = browser.js("return [...document.querySelectorAll('.edge title')].map(t => t.textContent)")
    assert any(text.startswith("xinit (221) waited 853.7 ms for Xorg (222), 1 time, most on socket:pair#1") for text in arrows), arrows
    browser.picture("overview")
    # what stands out shows its pieces: those of the lock are the six waits for it, all of their time
    browser.open("web-overview", "overview", trace("web-mixed"))
    items = json.loads(output("overview", trace("web-mixed"), "--format", "json"))["stands_out"]
    lock, = [i for i, item in enumerate(items) if item["kind"] == "lock"]
    browser.click("#stands-out li:nth-child(%d) button" % (lock + 1))
    marked = browser.js("return whylate.timeline.marked.map(([row, begin, ns]) => [whylate.rows[row].name, ns])")
    assert len(marked) == items[lock]["count"] == 6 and {name for name, _ in marked} == {"app"}, marked
    assert sum(ns for _, ns in marked) == items[lock]["ns"], marked
    assert len(browser.all("#stands-out li.chosen")) == 1
    # what is concluded is marked so: the mutexes' owners are not seen
    browser.open("hang-overview", "overview", trace("hang"))
    assert "dead-1 (221), dead-2 (222)" in browser.text("#answer .bad") and "inferred" in browser.text("#answer .bad")


def check_names(browser):
    """Names in a trace are anybody's: one that is markup, or ends the data, is only a name."""
    browser.open("names", "overview", SOURCE + "/traces/startup-chain")
    path = browser.made["names"]
    evil = r"\u003c/script>\u003cimg src=x onerror=alert(1)>\u003cb>"
    with open(path, encoding="utf-8") as file:
        page = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(page.replace('"name": "Xorg"', '"name": "%s"' % evil))
    browser.open("names")
    assert "</script><img src=x onerror=alert(1)><b> (222)" in browser.text("#answer"), browser.text("#answer")[:300]
    assert not browser.all("img") and not browser.all("main b")


def check_looks(browser):
    """Light and dark by what the system prefers and by the switch; narrow screens scroll only inside tables; it prints."""
    browser.media(prefers_color_scheme="dark")
    browser.open("startup")
    dark = browser.js("return getComputedStyle(document.documentElement).backgroundColor")
    browser.picture("startup-chain-dark")
    browser.click("#theme")
    light = browser.js("return getComputedStyle(document.documentElement).backgroundColor")
    assert dark == "rgb(20, 24, 29)" and light != dark, (dark, light)
    browser.media()
    browser.size(400, 800)
    for name in ("startup", "what-if", "what-if-overview", "what-if-profile", "what-if-requests", "what-if-diff", "fork4", "overview", "requests", "functions", "diff", "check"):
        browser.open(name)
        charts = browser.js("return [...document.querySelectorAll('svg.histogram')].map((one) => one.getBoundingClientRect().right)")
        assert all(right <= 400 for right in charts) and (charts or name != "fork4"), charts
        wide = browser.js("return document.documentElement.scrollWidth")
        assert wide <= 400, "%s: %d pixels wide" % (name, wide)
        browser.picture(name + "-narrow")
    browser.any_size()
    browser.open("startup")
    corner = """const t = whylate.timeline; return [document.documentElement.dataset.theme,
        ...t.context.getImageData(4, t.height * devicePixelRatio - 4, 1, 1).data.slice(0, 3)]"""
    browser.click("#theme")
    assert browser.js(corner) == ["dark", 28, 34, 41], browser.js(corner)
    browser.js("dispatchEvent(new Event('beforeprint'))")
    assert browser.js(corner) == ["light", 255, 255, 255], browser.js(corner)
    browser.js("dispatchEvent(new Event('afterprint'))")
    assert browser.js(corner)[0] == "dark", browser.js(corner)
    pdf = browser.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
    assert len(pdf) > 20000, "an empty print"


def check_opens(browser):
    """Pages of the other traces open without a word on the console, and draw something."""
    for name in sample(("futex", "lost", "hang", "web-mixed", "two-hosts-client"), 3):
        browser.open(name, "delay", trace(name), "--thread", "all", "--limit", "5")
        assert browser.js("return whylate.timeline.frameTimes.length"), name
        browser.open(name + "-overview", "overview", trace(name))


def check_plugin():
    """format="html" as a parameter: the same page, byte for byte."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "page")
        done = babeltrace2(trace("polls"), "--component=sink.whylate.overview", '--params=format="html",output="%s"' % path)
        assert done.returncode == 0, done.stderr.decode()
        with open(path, "rb") as file:
            # the commands in it name no trace, as the plugin knows of none
            page = output("overview", trace("polls"), "--format", "html").replace(b"delay " + trace("polls").encode(), b"delay TRACE")
            assert file.read() == page, "another page"


def check_refused():
    for command, arguments, said in (("overview", ("--every", "1s"), "a page is of one report"), ("explain", (), "must be one of")):
        done = run(command, "--format", "html", *arguments, trace("polls"))
        assert done.returncode == 2 and said in done.stderr.decode(), (command, done.stderr.decode())


def axe_core():
    """The text of axe-core, from npm's registry; None and why, if it cannot be had."""
    place = os.path.join(CACHE, "axe")
    path = place + "/node_modules/axe-core/axe.min.js"
    if not shutil.which("npm"):
        return None, "npm is not installed"
    if not os.path.exists(path):
        os.makedirs(place, exist_ok=True)
        shutil.copy(SOURCE + "/tests/axe/package.json", place)
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=place, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False, timeout=300)
        if done.returncode:
            return None, "npm cannot install axe-core: " + done.stdout.decode()[-200:].replace("\n", " ")
    with open(path, encoding="utf-8") as file:
        return file.read(), ""


def check_accessible(browser):
    """axe-core finds nothing on any page, light or dark, with all branches open. Only colours are different in the dark."""
    axe, why = axe_core()
    if not axe:
        print("# not looked at: " + why)
        return
    for name, *arguments in sample((("startup",), ("what-if",), ("what-if-overview",), ("what-if-profile",), ("what-if-requests",), ("what-if-diff",), ("overview",), ("fork4",), ("requests",), ("functions",), ("diff",), ("check",))):
        for scheme, rules in (("light", {}), ("dark", {"runOnly": ["color-contrast", "link-in-text-block"]})):
            browser.media(prefers_color_scheme=scheme)
            browser.open(name, *arguments)
            browser.js("for (const one of document.querySelectorAll('details')) one.open = true; document.querySelector('#flame')?.scrollIntoView()")
            browser.js("return new Promise(done => setTimeout(done, 300))")
            browser.js(axe)
            found = browser.driver.execute_async_script(
                "axe.run(document, arguments[0]).then(({violations}) => arguments[1](violations.map(({id, impact, nodes}) => [id, impact, nodes[0].target.join(' ')])))",
                {"resultTypes": ["violations"], **rules})
            assert not found, (name, scheme, found)
    browser.media()


def in_browser(function, browser):
    try:
        function(browser)
    except WebDriverException as error:
        raise AssertionError(error.msg) from error


ONLY = os.environ.get("WHYLATE_HTML_ONLY")  # of those in a browser, the ones that match
tap = Tap()
tap.case("delay: the page holds what --format json writes", check_json, "delay", SOURCE + "/traces/startup-chain", *TARGET)
tap.case("overview: the same", check_json, "overview", trace("futex"))
tap.case("profile: the same", check_json, "profile", trace("fork4"))
tap.case("requests: the same", check_json, "requests", trace("web-mixed"))
tap.case("functions: the same", check_json, "functions", trace("ust-func"))
tap.case("diff: the same", check_json, "diff", trace("web-mixed"), "--slow-fast", "p80")
tap.case("check: the same", check_json, "check", trace("lost"))
for one in ("delay", "profile", "overview", "functions", "check"):
    tap.case("%s: a page by itself, under 160 KB besides its data" % one, lambda: check_alone(output(
        one, trace("futex"), "--format", "html", *(["--thread", "all"] if one == "delay" else [])).decode()))
tap.case("levels of detail tile all time, and add up: startup-chain", check_levels, "startup-chain", "--thread", "all")
tap.case("levels of detail tile all time, and add up: zero-read", check_levels, "zero-read", "--thread", "all")
tap.case("sink.whylate.overview with format=html", check_plugin)
tap.case("where there are no pages it is refused", check_refused)
IN_BROWSER = (("startup-chain: the first screen answers", check_answer), ("startup-chain: the figures are the JSON's", check_figures),
              ("tree and timeline lead to each other", check_tree), ("zooming and moving", check_zoom), ("what is drawn", check_drawn), ("the critical path on the rows", check_path),
              ("what if: two paths on one scale", check_what_if), ("what if: tables", check_what_if_sums), ("what if: diff", check_what_if_diff), ("flame graphs in the address", check_flame_address), ("a click on a lane", check_lane_click),
              ("two fingers", check_pinch), ("verdict and picture are linked", check_linked), ("a page is bounded", check_bounded), ("lanes, and the list of what was found", check_lanes),
              ("lanes of interrupts", check_interrupts), ("lanes of locks", check_holders), ("lanes of devices", check_depth), ("lanes of devices that were waited for", check_waited_depth), ("statistics of what is shown", check_statistics), ("flame graphs", check_flame), ("samples as a flame graph", check_samples), ("where threads fell asleep", check_slept), ("requests: points, ways, the slowest", check_requests), ("functions: the walk, and calls over time", check_functions),
              ("diff: two histograms, two ways", check_diff), ("check", check_check), ("batch: its index leads to pages", check_index), ("a million events", check_million), ("by keys alone", check_keys),
              ("fork4: two peaks, their causes and examples", check_peaks), ("its commands can be pasted", check_commands), ("profiles compared", check_compared), ("time-lapse as a heat map", check_lapse),
              ("a bottleneck's sentence", check_bottleneck), ("names where there is little room", check_short_names), ("overview: figures and graph", check_overview), ("the graph's arrows pass by its boxes", check_graph_ways), ("without requests, and rows of who lives", check_nobody_asks), ("names that are markup", check_names),
              ("light, dark, narrow, print", check_looks), ("accessible, says axe-core", check_accessible), ("other traces", check_opens))
if have_browser():
    the_browser = Browser()
    try:
        for title, function in IN_BROWSER:
            if not ONLY or re.search(ONLY, title):
                tap.case("in a browser: " + title, in_browser, function, the_browser)
    finally:
        the_browser.driver.quit()
else:
    for title, _ in IN_BROWSER:
        tap.skip("in a browser: " + title, "chromium-driver or python3-selenium is not installed")
sys.exit(tap.done())
