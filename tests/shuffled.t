#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What sets peaks apart, where there is nothing: the labels of recorded traces' operations are shuffled, and at most one
run in a hundred may claim anything (tests/unit/shuffle_labels.c). With WHYLATE_SHUFFLES=1000 the figures of
docs/semantics.md come out; as many as can be waited for are done else, and of so few two may."""
import os
import re
import subprocess
import sys

import whylate_test as t

TURNS = int(os.environ.get("WHYLATE_SHUFFLES", "20"))
NAMES = "disk-read startup-chain web-mixed"
ALL = "zero-read fork4 lock-lapse " + NAMES
tap = t.Tap()


def shuffled(name):
    done = subprocess.run([os.path.join(t.BUILD, "shuffle_labels"), str(TURNS), t.trace(name)], stdout=subprocess.PIPE,
                          check=True)
    text = done.stdout.decode()
    print("# %s: %s" % (name, ", ".join(text.splitlines())))
    claims = [tuple(map(int, found)) for found in re.findall(r"(\d+) of (\d+)$", text, re.M)]
    assert len(claims) == 2 and all(of == TURNS for _, of in claims), text
    assert all(claimed <= max(2, TURNS // 100) for claimed, _ in claims), text


for traced in (ALL if TURNS > 100 else NAMES).split():
    tap.case("%s: shuffled labels claim nothing" % traced, shuffled, traced)
sys.exit(tap.done())
