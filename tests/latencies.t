# SPDX-License-Identifier: MIT
"""The latencies of operations against tests/oracle/latencies.py, a slow and
obvious second implementation of the same definitions that pairs entries and
exits in babeltrace2's text: count, sum, minimum, maximum, percentiles and
buckets of every operation, and the time of the operations in each bucket; to
the nanosecond, on each shipped trace.

blocked:* and trap:page_fault are against tests/oracle/oracle.py, which knows
every wait, its waker and whether its begin was seen (profile.t).
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import ust
from whylate_test import CACHE, SOURCE, TRACES, Tap, output, sample, trace

ORACLE = SOURCE + "/tests/oracle/"


def functions(directory):
    """Those of the traced program, as `nm` has them: its calls are nothing that latencies.py reads."""
    program = directory + "/proxyapp"
    return ["function:" + name for name in ust.names(directory, program).values()] if os.path.exists(program) else []


def compare(directory, mine=(), theirs=()):
    """`mine`, `theirs`: the same options, for whylate and for latencies.py."""
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        with open(folder + "/whylate", "wb") as file:
            file.write(output("profile", directory, "--operation", "*", "--limit", "0", "--quiet",
                              "--format", "json", *mine))
        with open(folder + "/latencies", "wb") as file:
            subprocess.run([sys.executable, ORACLE + "latencies.py", *theirs, directory], stdout=file, check=True)
        done = subprocess.run([sys.executable, ORACLE + "compare_latencies.py", folder + "/whylate",
                               folder + "/latencies", *functions(directory)], stdout=subprocess.PIPE, check=False)
    said = done.stdout.decode()
    assert done.returncode == 0, said
    assert int(re.search(r"^0 differences in (\d+) operations", said).group(1)) > 0, said


def stamps(directory, pattern):
    """Times of the events whose line matches."""
    text = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", directory], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    return [int(m.group(1) + m.group(2)) for m in re.finditer(r"^\[(\d+)\.(\d{9})\] \S+ " + pattern, text, re.M)]


def windows(name):
    """One anywhere; one from a system call's entry to another one's exit, both
    in it; and one that begins a nanosecond later and ends one sooner."""
    directory = trace(name)
    entries, exits = stamps(directory, "syscall_entry_"), stamps(directory, "syscall_exit_")
    begin, end = entries[len(entries) // 4], exits[len(exits) * 3 // 4]
    for a, b in ((begin + 12345, begin + (end - begin) // 2), (begin, end), (begin + 1, end - 1)):
        compare(directory, ["--from", "%dns" % a, "--to", "%dns" % b], ["--from", str(a), "--to", str(b)])


def writers():
    """Operations of three threads only; the bursts' own long writes are not among them."""
    compare(trace("lock-lapse"), ["--thread", "writer-*"], ["--thread", "writer-*"])


def resolution(number):
    """Buckets of a third of an octave, and the finest."""
    compare(trace("fork4"), ["--resolution", number], ["--resolution", number])


def both_hosts():
    """Two hosts in one report: each one's state is its own, their operations are counted together."""
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        for name in ("two-hosts-client", "two-hosts-server"):
            shutil.copytree(trace(name), folder + "/" + name)
        compare(folder)


tap = Tap()
for one in sample(TRACES):
    tap.case("%s: the same latencies as the oracle" % one, compare, trace(one))
for one in sample(("3", "16")):
    tap.case("fork4: the same at resolution " + one, resolution, one)
tap.case("lock-lapse: the same of threads by name", writers)
for one in sample(("web-mixed", "lost")):
    tap.case("%s: the same in windows" % one, windows, one)
tap.case("both hosts: the same of two traces together", both_hosts)
sys.exit(tap.done())
