# SPDX-License-Identifier: MIT
"""Where nothing has the name that an option gives, those that exist are listed: the nearest first, a handful, and how
many more there are."""
import re
import sys

from whylate_test import Tap, run, trace


def listed(name, nearest, *arguments):
    """The nearest value is the first that the message lists; at most five are; the rest is counted."""
    done = run(*arguments, trace(name))
    said = done.stderr.decode()
    assert done.returncode == 2 and not done.stdout and said.count("\n") == 1, done
    values = re.findall(r"'([^']*)'", said.split("; ")[-1].split(" (whylate")[0])
    assert values and values[0] == nearest and len(values) <= 5, said
    return re.search(r" and (\d+) more", said)


tap = Tap()
STARTUP = "startup-chain"
tap.case("threads", listed, STARTUP, "Xorg", "delay", "--thread", "Xorgg")
tap.case("processes", listed, STARTUP, "xinit", "delay", "--process", "xinet")
tap.case("programs by their path", listed, STARTUP, "Xorg", "delay", "--thread", "/usr/bin/Xorg")
tap.case("hosts", lambda: run("overview", "--host", "trace", trace(STARTUP)).stderr.index(b"'tracebox'"))
tap.case("devices", listed, STARTUP, "device:vda", "profile", "--resource", "vdaa")
tap.case("files", listed, "lock-lapse", "file:/shared.dat", "profile", "--resource", "shared.dta")
tap.case("events", listed, STARTUP, "sched_switch", "overview", "--from", "sched_swich")
tap.case("a program for an event: its start is named, and events are", lambda: run(
    "delay", "--target", "Xorg", trace(STARTUP)).stderr.index(b"sched_process_exec filename=*/Xorg"))
tap.case("values of an event's field", listed, STARTUP, "/in/bin/autostart", "delay", "--target",
         "sched_process_exec filename=*/autostar")
tap.case("operations", listed, STARTUP, "syscall:close", "profile", "--operation", "syscall:closed")
tap.case("calls that are requests", listed, STARTUP, "syscall:read", "requests", "--preset", "syscall:reed")
tap.case("requests' labels", listed, "web-mixed", "nginx (213), asked by 127.0.0.1:34994", "requests", "--pick", "nginx (213), asked by 127.0.0.1:3499x")
tap.case("functions", listed, "ust-func", "store_create", "functions", "--function", "store_creat")


def check_rest():
    more = listed(STARTUP, "Xorg", "delay", "--thread", "Xorgg")
    assert more and int(more.group(1)) > 20, more


tap.case("the rest is counted", check_rest)
sys.exit(tap.done())
