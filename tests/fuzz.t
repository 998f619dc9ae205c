#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fuzzing: the corpora replayed, and then libFuzzer for a while on each target, from a fixed
seed, so that it tries the same inputs again (make fuzz: others).

WHYLATE_FUZZ is a build directory with --enable-fuzzing (./check has one); without it the programs
of this build only replay. FUZZ_TIME: seconds a target, 5 if it is not said; FUZZ_CORPUS: a
directory where new inputs are kept (make fuzz); FUZZ_TARGETS: some of them only."""
import os
import subprocess
import sys
import tempfile

import whylate_test as t

TARGETS = {"events": 8000, "foreign": 20000, "metadata": 6000, "options": 600, "packets": 8000, "saved": 8000, "symbols": 1000}  # bytes
PROGRAMS = os.environ.get("WHYLATE_FUZZ")
SECONDS = int(os.environ.get("FUZZ_TIME", "5"))
KEPT = os.environ.get("FUZZ_CORPUS")
CORPUS = os.path.join(t.SOURCE, "tests", "fuzz", "corpus")
HERE = os.path.join(t.SOURCE, "tests", "fuzz")

tap = t.Tap()


def run(target, folder, *arguments, seconds):
    program = os.path.join(PROGRAMS or t.BUILD, "fuzz_" + target)
    env = dict(os.environ, TMPDIR=folder)   # what a target leaves that is ended in the middle
    done = subprocess.run([program, *arguments], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False, timeout=seconds, cwd=folder)
    log = done.stderr.decode(errors="replace").split("\n")
    assert done.returncode == 0, "\n".join(
        line for line in log if not line.startswith(("#", "\tNEW", "INFO"))) + "\nagain: " + " ".join(
            [program, *arguments])
    return log


def replay(target):
    inputs = os.path.join(CORPUS, target)
    assert len(os.listdir(inputs)) > 5, os.listdir(inputs)
    with tempfile.TemporaryDirectory() as folder:
        run(target, folder, *(["-runs=0", "-timeout=60"] if PROGRAMS else []), inputs, seconds=600)


def fuzz(target):
    words = os.path.join(HERE, target + ".dict")
    place = KEPT or tempfile.mkdtemp(prefix="whylate-crash-")  # an input that was found stays
    kept = os.path.join(place, target)
    os.makedirs(kept, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        log = run(target, folder, "-seed=%d" % (0 if KEPT else 1), "-max_total_time=%d" % SECONDS, "-max_len=%d" % TARGETS[target],
                  "-timeout=20", "-rss_limit_mb=1500", "-artifact_prefix=%s/%s-" % (place, target),
                  *(["-dict=" + words] if os.path.exists(words) else []), kept, os.path.join(CORPUS, target),
                  seconds=SECONDS * 2 + 600)
    print("# %s: %s" % (target, [line for line in log if line.startswith("Done ")][0]))
    if not KEPT:
        for name in os.listdir(kept):
            os.unlink(os.path.join(kept, name))
        os.rmdir(kept)
        os.rmdir(place)


for name in os.environ.get("FUZZ_TARGETS", "").split() or TARGETS:
    tap.case("%s: the corpus" % name, replay, name)
    if PROGRAMS:
        tap.case("%s: %d s" % (name, SECONDS), fuzz, name)
sys.exit(tap.done())
