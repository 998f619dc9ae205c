#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fuzzing: libFuzzer runs each target's corpus, and then makes inputs of it, from a fixed seed and
as many each time, so that it tries the same inputs again (make fuzz: others).

WHYLATE_FUZZ is a build directory with --enable-fuzzing (./check has one); without it the programs
of this build only replay the corpora. FUZZ_TIME: seconds a target, instead of a number of inputs;
FUZZ_CORPUS: a directory where new inputs are kept (make fuzz); FUZZ_TARGETS: some of them only."""
import os
import re
import subprocess
import sys
import tempfile

import whylate_test as t

# bytes, and inputs that take five seconds
TARGETS = {"events": (8000, 60), "foreign": (20000, 250), "metadata": (6000, 6000), "options": (600, 4000), "packets": (8000, 60),
           "saved": (8000, 800), "symbols": (1000, 80000)}
LONG = ("events", "packets")    # whose corpora take 30 seconds, and are tried in part
PROGRAMS = os.environ.get("WHYLATE_FUZZ")
SECONDS = int(os.environ.get("FUZZ_TIME", "0"))
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


def corpus(target):
    """Its files."""
    inputs = os.path.join(CORPUS, target)
    found = sorted(os.path.join(inputs, name) for name in os.listdir(inputs))
    assert len(found) > 5, found
    return t.sample(found) if target in LONG else found


def replay(target):
    """File by file: a directory is what libFuzzer adds to, for as long as it may."""
    with tempfile.TemporaryDirectory() as folder:
        run(target, folder, *corpus(target), seconds=600)


def fuzz(target):
    words = os.path.join(HERE, target + ".dict")
    inputs = corpus(target)
    sizes = [os.path.getsize(path) for path in inputs]
    length, more = TARGETS[target]
    more //= 6 if "WHYLATE_PART" in os.environ else 1   # ./check --all tries six times as many
    length = max(length, *sizes)    # what is longer is cut
    place = KEPT or tempfile.mkdtemp(prefix="whylate-crash-")  # an input that was found stays
    kept = os.path.join(place, target)
    os.makedirs(kept, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as links:
        for path in inputs:
            os.symlink(path, os.path.join(links, os.path.basename(path)))
        log = run(target, folder, "-seed=%d" % (0 if KEPT else 1), "-max_len=%d" % length,
                  "-max_total_time=%d" % SECONDS if SECONDS else "-runs=%d" % (len(sizes) + more),
                  "-timeout=20", "-rss_limit_mb=1500", "-artifact_prefix=%s/%s-" % (place, target),
                  *(["-dict=" + words] if os.path.exists(words) else []), kept, links,
                  seconds=SECONDS * 2 + 600)
    said = re.search(r"^Done (\d+) runs in \d+ second", "\n".join(log), re.M)
    print("# %s: %s" % (target, said[0]))
    assert SECONDS or int(said[1]) >= len(sizes) + more, said[0]
    if not KEPT:
        for name in os.listdir(kept):
            os.unlink(os.path.join(kept, name))
        os.rmdir(kept)
        os.rmdir(place)


for name in os.environ.get("FUZZ_TARGETS", "").split() or TARGETS:
    if PROGRAMS:
        tap.case("%s: the corpus, and what libFuzzer makes of it" % name, fuzz, name)
    else:
        tap.case("%s: the corpus" % name, replay, name)
sys.exit(tap.done())
