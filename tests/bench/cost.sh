#!/bin/sh
# SPDX-License-Identifier: MIT
# cost.sh TRACE [WHYLATE]: what whylate costs beyond reading the trace. Five
# alternated runs of
#   babeltrace2 -o dummy TRACE
#   whylate delay --thread all --format json TRACE
#   whylate overview --format json TRACE
#   whylate profile --format json TRACE                  all system calls, with roots
#   whylate profile --operation '*' --format json TRACE  every kind of operation
#   whylate requests --format json TRACE                 a server's requests
#   whylate diff --slow-fast p90 --format json TRACE     the slow ones against the others
#   whylate functions --format json TRACE                calls, of all programs' threads
# after one of each to warm the cache; prints the medians, their ratios to the
# first and the peak resident memory. The budgets are in docs/performance.md; not a
# test. That memory does not follow the number of operations shows on two traces
# of different size (or one with --to, OPTIONS='--to +1s'; repeat.py makes long ones).
# Nothing is kept of the trace (--cache off); OPTIONS='--cache DIR' measures second questions.
# OPTIONS='--reader babeltrace' measures the other way in, which is the plugin's.
[ $# -ge 1 ] || { echo "usage: $0 TRACE [WHYLATE]" >&2; exit 2; }
exec /usr/bin/python3 - "$1" "${2:-${WHYLATE:-build/whylate}}" "${RUNS:-5}" "${OPTIONS:-}" <<'PYTHON'
import os, statistics, subprocess, sys, time

def measure(command):
    """Wall time in s and peak resident memory in MB of one run."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    taken = time.monotonic() - begin
    if os.waitstatus_to_exitcode(status) not in (0, 4):
        sys.exit("%s: status %d" % (" ".join(command), os.waitstatus_to_exitcode(status)))
    return taken, usage.ru_maxrss / 1024

trace, whylate, runs, options = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4].split()
json = ["--format", "json", "--cache", "off", *options, trace]
commands = {"babeltrace2": ["babeltrace2", "-o", "dummy", trace],
            "delay": [whylate, "delay", "--thread", "all", *json],
            "overview": [whylate, "overview", *json],
            "profile": [whylate, "profile", *json],
            "profile '*'": [whylate, "profile", "--operation", "*", *json],
            "requests": [whylate, "requests", *json],
            "diff": [whylate, "diff", "--slow-fast", "p90", *json],
            "functions": [whylate, "functions", *json]}
results = {name: [] for name in commands}
for number in range(runs + 1):
    for name, command in commands.items():
        result = measure(command)
        if number:
            results[name].append(result)
for name, figures in results.items():
    times = [t for t, _ in figures]
    median = statistics.median(times)
    base = statistics.median(t for t, _ in results["babeltrace2"])
    print("%-12s median %.3f s (%.3f to %.3f), ratio %.2f, peak memory %.1f MB" % (
        name, median, min(times), max(times), median / base, max(m for _, m in figures)))
PYTHON
