# SPDX-License-Identifier: MIT
"""Makes the pictures of docs/manual.md: tests/run tests/pictures.py DIRECTORY (make pictures)."""
import os
import sys

from browser import Browser, have_browser
from whylate_test import SOURCE, trace

TARGET = ("--target", "sched_process_exec filename=*/autostart")


def save(browser, directory, name):
    path = os.path.join(directory, name + ".png")
    browser.settle()
    browser.driver.save_screenshot(path)
    print("%s: %d KB" % (path, os.path.getsize(path) / 1000))


def make(browser, directory):
    browser.size(1100, 720)
    browser.open("startup-chain", "delay", SOURCE + "/traces/startup-chain", *TARGET)
    save(browser, directory, "delay")
    browser.size(1100, 560)
    browser.js("document.querySelector('#picture').scrollIntoView()")
    browser.click("#causality .waits .show")
    browser.js("""const t = whylate.timeline; t.open.add(whylate.rows.findIndex((row) => row.tid === 222)); t.resize();
        t.show(9.56e8, 9.92e8); document.querySelector('#picture').scrollIntoView()""")
    save(browser, directory, "timeline")
    browser.media(prefers_color_scheme="dark")
    browser.open("lock-lapse", "profile", trace("lock-lapse"), "--thread", "writer-*", "--operation", "syscall:pwrite64")
    browser.js("document.querySelector('#latencies').scrollIntoView()")
    browser.size(1100, 760)
    save(browser, directory, "profile-dark")


if not have_browser():
    sys.exit("pictures: chromium-driver and python3-selenium are needed")
os.makedirs(sys.argv[1], exist_ok=True)
the_browser = Browser()
try:
    make(the_browser, sys.argv[1])
finally:
    the_browser.driver.quit()
