# SPDX-License-Identifier: MIT
"""An independent reader of user-space traces, from babeltrace2's text: function calls by a stack for each thread.

The text is asked for with the clock's own values (--clock-cycles), and the kernel trace's distance from the epoch is
added: LTTng measures it for each trace anew, not always the same."""
import functools
import os
import re
import subprocess
from collections import namedtuple

Call = namedtuple("Call", "tid address begin end depth parent")  # parent: a Call's place in the list, or None
LINE = re.compile(rb"\[(?P<clock>[0-9.]+)\](?: \(\S+\))?(?: \S+)? (?P<name>\S+): (?P<rest>.*)$")


def directories(path, wanted):
    """The user-space traces (or the others) at or below `path`."""
    found = [directory for directory, _, files in os.walk(path) if "metadata" in files]
    return sorted(d for d in found if ("/ust/" in d or d.endswith("/ust")) == wanted)


def text(directory, *options):
    command = ["babeltrace2", *options, "--no-delta", directory]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.splitlines()


def offset(path):
    """Nanoseconds from the clock's zero to the epoch, as the kernel trace says."""
    kernel = directories(path, False)[0]
    first = [text(kernel, option)[0].split(b"]")[0].lstrip(b"[") for option in ("--clock-cycles", "--clock-seconds")]
    seconds, ns = first[1].split(b".")
    return int(seconds) * 10 ** 9 + int(ns) - int(first[0])


def events(path):
    """(time, name, text of the rest) of each user-space event, in order of time."""
    found = []
    shift = None
    for directory in directories(path, True):
        shift = offset(path) if shift is None else shift
        for line in text(directory, "--clock-cycles"):
            match = LINE.match(line)
            found.append((int(match["clock"]) + shift, match["name"].decode(), match["rest"].decode()))
    return sorted(found, key=lambda event: event[0])


def count_events(path):
    return len(events(path))


def number(rest, field):
    return int(re.search(r"\b%s = (0x[0-9A-Fa-f]+|-?\d+)" % field, rest).group(1), 0)


@functools.lru_cache(None)
def calls(path):
    """Every call that was seen to begin and to end; each thread's calls must nest."""
    found, open_calls = [], {}
    for time, name, rest in events(path):
        if not name.startswith("lttng_ust_cyg_profile"):
            continue
        tid, address = number(rest, "vtid"), number(rest, "addr")
        stack = open_calls.setdefault(tid, [])
        if name.endswith(":func_entry"):
            parent = stack[-1] if stack else None
            stack.append(len(found))
            found.append(Call(tid, address, time, None, len(stack), parent))
        else:
            assert stack and found[stack[-1]].address == address, (tid, hex(address), time)
            at = stack.pop()
            found[at] = found[at]._replace(end=time)
    assert all(call.end is not None for call in found)
    return found


def names(path, binary):
    """{address in the process: function} of the traced program, from `nm` and where the statedump says it was loaded."""
    base = next(number(rest, "baddr") for _, name, rest in events(path)
                if name == "lttng_ust_statedump:bin_info" and re.search(r'path = "[^"]*/%s"' % os.path.basename(binary), rest))
    lines = subprocess.run(["nm", binary], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    return {base + int(line.split()[0], 16): line.split()[2] for line in lines if line.split()[1] in "tT"}
