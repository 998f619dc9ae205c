# SPDX-License-Identifier: MIT
"""Pages of `whylate serve` in a real browser (headless Chromium): what is zoomed in on is fetched, and drawn as it is;
click, search and keyboard; narrow windows; forms; no complaint on the console. Screenshots stay in the test cache, in html/."""
import json
import os
import re
import subprocess
import sys
import urllib.request

from browser import Browser, By, Keys, have_browser
from whylate_test import CACHE, WHYLATE, Tap, report, trace, until

NAME, THREAD = "zero-read", "dd"


class Server:
    def __init__(self, path, *options):
        self.process = subprocess.Popen([WHYLATE, "serve", "--cache", "off", *options, path], stdout=subprocess.PIPE)
        self.url = re.search(r" at (http://\S+)", self.process.stdout.readline().decode())[1]

    def spent(self):
        """Seconds of processor time, its workers' that have ended too: the same whatever else the machine does."""
        with open("/proc/%d/stat" % self.process.pid, encoding="utf-8") as file:
            return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:15])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.process.terminate()
        assert self.process.wait(timeout=300) == 0


def load(browser, address):
    """The page at that address, once its picture is there."""
    browser.driver.get("about:blank")
    browser.complaints()
    browser.driver.get(address)
    wait(browser, "document.documentElement.dataset.ready === 'yes'")
    quiet(browser)


def quiet(browser):
    complaints = browser.complaints()
    assert not complaints, complaints


def wait(browser, condition):
    until(lambda: browser.js("return !!(%s)" % condition), condition)


def fetched(browser):
    """Until what is in view is there."""
    browser.settle()
    wait(browser, "(s => !s.busy && !s.timer && !s.rowsLacking().length && !s.lanesLack())(whylate.served)")
    browser.settle()


def exact_row(browser):
    """The row in view with most states there, and a state in its middle, as the page describes it."""
    return browser.js("""
        const {timeline} = whylate, time = Math.floor((timeline.from + timeline.to) / 2);
        let best = null;
        timeline.eachLine((row, y, height) => {
            if (row < 0 || y > timeline.height) return;
            const cell = whylate.cellAt(row, time, timeline.nsPerPixel);
            if (cell && (!best || cell.ns < best.ns)) best = {row, ns: cell.ns, begin: cell.begin, end: cell.end, merged: cell.merged};
        });
        return {...best, tid: whylate.rows[best.row].tid, host: whylate.rows[best.row].host};""")


def zoomed(browser, server):
    """At each zoom what is drawn are the states that the Trace Server Protocol has."""
    load(browser, server.url)
    browser.picture("served-whole")
    base = int(browser.js("return String(TIMELINE.base)"))
    length = browser.js("return whylate.length_ns")
    assert not browser.js("return TIMELINE.levels.at(-1).exact"), "the page has all itself: this tests nothing"
    answers, before = 0, server.spent()
    for part in (3, 10, 100, 1000, 10000, 100000):
        middle, half = length * 0.41, length / 2 / part
        browser.js("whylate.timeline.show(arguments[0], arguments[1])", middle - half, middle + half)
        fetched(browser)
        answers += len(browser.js("return whylate.served.times.splice(0)"))
        quiet(browser)
        state = exact_row(browser)
        if part < 10000:
            continue
        assert not state["merged"], (part, state)
        # by the protocol
        ask = lambda path, parameters=None: json.load(urllib.request.urlopen(urllib.request.Request(
            server.url + "tsp/api/experiments" + path, json.dumps({"parameters": parameters}).encode() if parameters else None,
            {"Content-Type": "application/json"})))
        one = ask("")[0]["UUID"]
        tree = ask("/%s/outputs/timeGraph/threads/tree" % one, {"requested_times": [base + state["begin"]]})["model"]["entries"]
        items = [e["id"] for e in tree if e["hasData"] and e["metadata"]["tid"] == [state["tid"]]]
        rows = ask("/%s/outputs/timeGraph/threads/states" % one, {
            "requested_timerange": {"start": base + int(state["begin"]), "end": base + int(state["end"]) - 1},
            "requested_items": items})["model"]["rows"]
        have = [(s["start"] - base, s["end"] - base) for row in rows for s in row["states"]]
        assert have == [(state["begin"], state["end"])], (part, state, have)
    browser.picture("served-zoomed")
    # a picture of a whole trace and one of a part of it say the same
    each = (server.spent() - before) / answers
    assert each < 1, each
    before = browser.spent()
    browser.js("for (let i = 0; i < 50; i++) whylate.timeline.paint()")
    each = (browser.spent() - before) / 50
    assert 0 < each < 0.05, each


def used(browser, server):
    """Click, search and keys, in a picture that was fetched; and the report of what was clicked."""
    load(browser, server.url)
    wait(browser, "document.querySelector('#answer li, #answer a')")
    browser.js("whylate.timeline.element.scrollIntoView()")
    length = browser.js("return whylate.length_ns")
    browser.click("canvas:not(#minimap)")
    for _ in range(8):
        browser.keys("+")
    fetched(browser)
    begin, end = browser.shown()
    assert end - begin <= length / 250, (begin, end)
    browser.keys("d")
    fetched(browser)
    assert browser.shown()[0] > begin
    browser.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    assert browser.js("return !!whylate.timeline.selected")
    link = browser.driver.find_element(By.PARTIAL_LINK_TEXT, "Why: the report").get_attribute("href")
    assert "/report/delay?thread=" in link, link
    search = browser.driver.find_element(By.CSS_SELECTOR, "input[type=search], #search")
    search.clear()  # the click may have been on a lane, whose name is then looked for
    search.send_keys(THREAD, Keys.ENTER)
    wait(browser, "whylate.timeline.search.at >= 0")
    assert "not found" not in browser.text("#picture")
    # the server searches all that was recorded, not only what the page has in detail
    search.clear()
    search.send_keys("syscall:read", Keys.ENTER)
    wait(browser, "whylate.timeline.search.text === 'syscall:read' && whylate.timeline.search.at >= 0")
    hits = browser.js("const {hits, left} = whylate.timeline.search; return hits.length + left")
    own = browser.js("return hitsOf('syscall:read').length")
    assert hits > own, (hits, own)
    # also in threads that the picture has no row for: here it is told that it has none for one of them
    row = browser.js("return whylate.rows.findIndex((row) => row.name === arguments[0])", THREAD)
    number = browser.js("const {threads} = whylate.data, [number] = threads.splice(arguments[0], 1, threads[0]); "
                        "rowOfThread.delete(number); return number", row)
    search.clear()
    search.send_keys(THREAD, Keys.ENTER)
    wait(browser, "whylate.timeline.search.text === '%s' && whylate.timeline.search.hits.some((one) => one.row < 0)" % THREAD)
    browser.js("const {hits} = whylate.timeline.search; goToHit(whylate.timeline, hits.findIndex((one) => one.row < 0))")
    assert "%s (" % THREAD in browser.text("#picture") and "has no row in this picture" in browser.text("#picture")
    assert browser.driver.find_element(By.PARTIAL_LINK_TEXT, "Why: the report").get_attribute("href").count("thread=") == 1
    browser.js("const {threads} = whylate.data, [row, number] = arguments; threads[row] = number; rowOfThread.set(number, row)", row, number)
    quiet(browser)
    load(browser, link)
    assert browser.text("h1") == "whylate delay"
    browser.driver.find_element(By.LINK_TEXT, "Whole trace").click()
    wait(browser, "document.documentElement.dataset.ready === 'yes' && whylate.served")
    assert browser.text("h1") == "whylate trace"
    browser.driver.find_element(By.LINK_TEXT, "Ask").click()
    wait(browser, "document.forms.length > 3")
    form = browser.driver.find_element(By.CSS_SELECTOR, "form[action='report/delay']")
    form.find_element(By.NAME, "thread").send_keys(THREAD)
    browser.picture("served-ask")
    form.find_element(By.CSS_SELECTOR, "button").click()
    wait(browser, "document.documentElement.dataset.ready === 'yes' && whylate.served")
    assert browser.js("return whylate.report.schema") == "whylate-delay-1"
    quiet(browser)


def narrow(browser, server):
    browser.size(390, 800)
    for page in ("", "ask", "report/overview?format=html"):
        browser.driver.get(server.url + page)
        if page != "ask":
            wait(browser, "document.documentElement.dataset.ready === 'yes'")
        browser.settle()
        assert browser.js("return document.documentElement.scrollWidth") <= 390, page
        browser.picture("served-390-%s" % (page.split("?")[0].replace("/", "-") or "whole"))
        quiet(browser)
    browser.any_size()


def reading(browser):
    """The page says how far reading has come, and then is the picture, without a hand."""
    server = Server(trace(NAME), "--reader", "babeltrace")
    browser.driver.get(server.url)
    assert "events so far" in browser.text("main"), browser.text("main")
    browser.picture("served-reading")
    wait(browser, "document.documentElement.dataset.ready === 'yes'")
    assert browser.text("h1") == "whylate trace"
    quiet(browser)
    server.end()


def ended(browser):
    """Where the server has gone the page says so, and what it has stays."""
    server = Server(trace(NAME))
    load(browser, server.url)
    server.end()
    browser.js("whylate.timeline.show(1000000, 2000000)")
    wait(browser, "!document.getElementById('server-note').hidden")
    assert "did not answer" in browser.text("#server-note")
    browser.complaints()


tap = Tap()
if have_browser():
    BROWSER, SERVER = Browser(), Server(trace(NAME))
    try:
        tap.case("zoomed in, what is drawn are the states there, to the ns", zoomed, BROWSER, SERVER)
        tap.case("click, search, keys, links and forms", used, BROWSER, SERVER)
        tap.case("a window of 390 pixels", narrow, BROWSER, SERVER)
        tap.case("while the trace is read", reading, BROWSER)
        tap.case("a server that has ended", ended, BROWSER)
        tap.case("it ends when it is told to", SERVER.end)
    finally:
        BROWSER.driver.quit()
else:
    tap.skip("in a browser", "there is none: chromium, chromium-driver and python3-selenium")
sys.exit(tap.done())
