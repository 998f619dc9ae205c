#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./check's two builds print the same bytes, and the one with sanitizers finds nothing: every command, format and most
options (tests/same-output), without a trace, on a small one, and briefly on others, which have in them what it lacks:
requests, user-space functions, call stacks, several hosts. One is optimized by gcc, the other made by clang: what
depends on memory that nobody wrote, or on the order of arguments, differs."""
import os
import subprocess
import sys

import whylate_test as t

tap = t.Tap()
PLAIN = os.environ.get("WHYLATE_PLAIN")


def same(*words):
    done = subprocess.run([sys.executable, t.SOURCE + "/tests/same-output", PLAIN, t.BUILD, *words, "--jobs", "1"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    out = done.stdout.decode()
    assert done.returncode == 0, out
    print("# " + out.splitlines()[-1])


if PLAIN:
    # in ./check
    part = ["--part", os.environ["WHYLATE_PART"]] if "WHYLATE_PART" in os.environ else []
    tap.case("startup-chain: every command, format and most options", same, t.trace("startup-chain"), *part)
    for name in t.sample(("whatif-peer", "ust-func", "wide", "hang", "two-hosts-server"), 8):
        tap.case("%s: every command" % name, same, t.trace(name), "--quick")
    tap.case("callstack: functions", same, t.trace("callstack"), "--quick", "--only", "functions")
else:
    tap.skip("two builds print the same", "there is one build only; ./check has two")
sys.exit(tap.done())
