# SPDX-License-Identifier: MIT
"""What the tests in Python have in common: where things are (tests/run sets
the environment), running whylate and babeltrace2, recorded traces, TAP.

A test program makes a Tap, calls ok() for each case, and ends with
sys.exit(tap.done()). Nothing it writes is outside WHYLATE_TEST_CACHE and
temporary directories.
"""
import functools
import hashlib
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time
import traceback

# Whoever began the tests in the background, or by nohup, may have had these ignored: what they begin would
# not end by them either.
for _number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)

SOURCE = os.environ["WHYLATE_SOURCE"]
BUILD = os.environ["WHYLATE_BUILD"]
WHYLATE = os.environ["WHYLATE"]
# where damage is read that random bytes make: a build with sanitizers if there is one besides (tests/run)
SANITIZED = os.environ.get("WHYLATE_SANITIZED", BUILD)
# what is run hundreds of times for the same lines of code: a program without them if there is one besides
FAST = os.path.join(os.environ.get("WHYLATE_PLAIN") or BUILD, "whylate")
PLUGINS = os.environ["WHYLATE_PLUGIN_PATH"]
CACHE = os.environ["WHYLATE_TEST_CACHE"]

# the shipped traces, the one that takes longest first
TRACES = ("zero-read callstack lock-lapse fork4 ust-func web-mixed fork1 preempt disk-read wide "
          "two-hosts-client two-hosts-server pipe-chain futex startup-chain snapshot lost cfs-quota "
          "signals polls hang").split()


def sample(items, share=4):
    """What a sweep over many that are alike tries: all of them, but in ./check one in `share`, at least one. Which ones
    follows from what was built (WHYLATE_PART, see ./check): the same again, and others after a change."""
    items = list(items)
    seed = os.environ.get("WHYLATE_PART")
    if not seed:
        return items
    order = sorted(items, key=lambda item: hashlib.sha256(("%s %s" % (seed, item)).encode()).digest())
    chosen = order[:-(-len(items) // share)]
    print("# %d of %d; ./check --all tries all" % (len(chosen), len(items)))
    return [item for item in items if item in chosen]


def taken(name, share=4):
    """Whether to try one of many that are alike, by its name: sample() where they are not a list."""
    seed = os.environ.get("WHYLATE_PART")
    return not seed or hashlib.sha256(("%s %s" % (seed, name)).encode(errors="surrogateescape")).digest()[0] % share == 0


def whole(what):
    """Whether to try what takes long and seldom breaks: not in ./check, which says so."""
    if os.environ.get("WHYLATE_PART"):
        print("# %s: ./check --all" % what)
        return False
    return True


class Tap:
    """Test Anything Protocol on stdout."""

    def __init__(self):
        self.count = self.failed = 0

    def ok(self, good, name, *details):
        """One case; `details` are shown if it is not good."""
        self.count += 1
        self.failed += not good
        print("%sok %d - %s" % ("" if good else "not ", self.count, name.replace("#", "no. ")))
        if not good:
            for line in "\n".join(str(d) for d in details).split("\n")[:60]:
                print("#   " + line[:400])
        sys.stdout.flush()
        return good

    def skip(self, name, why):
        self.count += 1
        print("ok %d - %s # SKIP %s" % (self.count, name, why), flush=True)

    def case(self, name, function, *arguments):
        """One case that is good if function() raises nothing."""
        try:
            function(*arguments)
        except AssertionError as error:
            return self.ok(False, name, error, traceback.format_exc(limit=-2))
        except (KeyError, IndexError, TypeError, ValueError, OSError,
                subprocess.SubprocessError) as error:
            return self.ok(False, name, repr(error), traceback.format_exc(limit=-3))
        return self.ok(True, name)

    def done(self):
        print("1..%d" % self.count)
        return 1 if self.failed else 0


def until(happens, what, seconds=300):
    """Waits for a condition: however long it takes on a busy machine, unless it never comes. What happens() returned."""
    deadline = time.monotonic() + seconds
    while True:
        found = happens()
        if found:
            return found
        assert time.monotonic() < deadline, "it never came that " + what
        time.sleep(0.01)


@functools.cache
def trace(*names):
    """Directories of recorded traces, unpacked if need be: once in each test, as who looks is a shell."""
    out = subprocess.run([SOURCE + "/tests/unpack", *names], check=True, stdout=subprocess.PIPE)
    directories = out.stdout.decode().split("\n")[:-1]
    return directories if len(names) > 1 else directories[0]


def program(arguments):
    """Which of ./check's two builds is run. Of what a test with sanitizers runs, one in three has them there, others after
    each change: it takes five times as long. All of it with --all; every command, format and option in same.t."""
    named = [os.fsdecode(x) for x in arguments]
    return WHYLATE if taken(" ".join(x for x in named if "/" not in x), 3) else FAST


def run(*arguments, **keywords):
    """whylate ARGUMENT...: its CompletedProcess, output as bytes."""
    return subprocess.run([keywords.pop("program", None) or program(arguments), *arguments], stdin=subprocess.DEVNULL, stdout=keywords.pop("stdout", subprocess.PIPE),
                          stderr=subprocess.PIPE, check=False, timeout=600, **keywords)


def output(*arguments):
    """What whylate prints; it must succeed."""
    done = run(*arguments)
    assert done.returncode == 0, "whylate %s: status %d, %s" % (
        " ".join(arguments), done.returncode, done.stderr.decode(errors="replace"))
    return done.stdout


def report(*arguments):
    """The JSON that whylate prints, parsed."""
    return json.loads(output(*arguments, "--format", "json"))


@functools.cache
def preload():
    """The sanitizer's library that babeltrace2 must load first if the plugin needs it. With clang the plugin does not
    name it."""
    plugin = os.path.join(PLUGINS, "babeltrace-plugin-whylate.so")
    out = subprocess.run(["ldd", plugin], stdout=subprocess.PIPE, check=True).stdout.decode()
    found = re.search(r"=> (\S*/libasan\.so\S*)", out)
    if found:
        return found.group(1)
    wanted = subprocess.run(["nm", "-D", "-u", plugin], stdout=subprocess.PIPE, check=True).stdout
    if b" __asan_init" not in wanted:
        return ""
    name = "libclang_rt.asan-%s.so" % os.uname().machine
    return subprocess.run(["clang", "-print-file-name=" + name], stdout=subprocess.PIPE, check=True).stdout.decode().strip()


def babeltrace2(*arguments):
    """babeltrace2 --plugin-path=... ARGUMENT...: its CompletedProcess."""
    env = dict(os.environ)
    if preload():
        env["LD_PRELOAD"] = preload()
    return subprocess.run(["babeltrace2", "--plugin-path=" + PLUGINS, *arguments], env=env, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)


def unnamed(text, directories):
    """A report without the traces' names in suggested commands, which the plugin does not know, and with each such
    command in one line."""
    text = re.sub(rb" \\\n +", b" ", text)
    return text.replace(" ".join(directories).encode(), b"TRACE")


def packets(path):
    """(offset, size) of each packet, from the sizes in lttng-modules 2.13's packet context."""
    with open(path, "rb") as file:
        data = file.read()
    at, found = 0, []
    while at < len(data):
        size, = struct.unpack_from("<Q", data, at + 24 + 8 + 8 * 3)
        found.append((at, size // 8))
        at += size // 8
    return found


def kernel_files(directory):
    for place, _, files in os.walk(directory):
        if "metadata" in files and place.endswith("kernel"):
            return [os.path.join(place, f) for f in sorted(files)]
    raise AssertionError("no kernel trace in " + directory)
