#!/bin/sh
# delay.sh TRACE [WHYLATE]: what the delay report costs beyond reading the
# trace. Five alternated runs of
#   babeltrace2 -o dummy TRACE
#   whylate delay --thread all --format json TRACE
# after one of each to warm the cache; prints the medians, their ratio and the
# peak resident memory of both. The budget is in ARCHITECTURE.md; not a test.
[ $# -ge 1 ] || { echo "usage: $0 TRACE [WHYLATE]" >&2; exit 2; }
exec /usr/bin/python3 - "$1" "${2:-${WHYLATE:-build/whylate}}" "${RUNS:-5}" <<'PYTHON'
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

trace, whylate, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
commands = {"babeltrace2": ["babeltrace2", "-o", "dummy", trace],
            "whylate": [whylate, "delay", "--thread", "all", "--format", "json", trace]}
results = {name: [] for name in commands}
for number in range(runs + 1):
    for name, command in commands.items():
        result = measure(command)
        if number:
            results[name].append(result)
medians = {}
for name, figures in results.items():
    times = [t for t, _ in figures]
    medians[name] = statistics.median(times)
    print("%-12s median %.3f s (%.3f to %.3f), peak memory %.1f MB" % (
        name, medians[name], min(times), max(times), max(m for _, m in figures)))
print("ratio        %.2f" % (medians["whylate"] / medians["babeltrace2"]))
PYTHON
