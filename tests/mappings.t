# SPDX-License-Identifier: MIT
"""What page faults are on, against tests/oracle/mappings.py: every wait in one, of the traces that have any."""
import json
import subprocess
import sys

from whylate_test import SOURCE, Tap, output, trace


def faults_of(directory):
    report = json.loads(output("delay", "--thread", "all", "--limit", "0", "--format", "json", directory))
    for thread in report["threads"]:
        for wait in thread["causality"]:
            if wait["leaf"] != "blocked/trap:page_fault":
                continue
            resource = wait.get("resource")
            key = resource and ("file:" if resource["kind"] == "file" else "") + resource["name"]
            yield [wait["begin"], thread["tid"], key]


def compare(name):
    directory = trace(name)
    mine = sorted(faults_of(directory))
    theirs = sorted(json.loads(subprocess.run([sys.executable, SOURCE + "/tests/oracle/mappings.py", directory],
                                              stdout=subprocess.PIPE, check=True).stdout))
    assert mine and mine == theirs, [pair for pair in zip(mine, theirs) if pair[0] != pair[1]][:4] or (mine, theirs)


tap = Tap()
for one in ("disk-read", "fork4"):
    tap.case("%s: the same as the oracle" % one, compare, one)
sys.exit(tap.done())
