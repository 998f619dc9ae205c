# SPDX-License-Identifier: MIT
"""The sandbox: what a command has given up before the first byte of a trace is parsed, and that all commands say the
same in it and without it.

A library that is loaded before all others (misbehave.c) does what a parser would that a trace has taken over. Whether
the kernel has Landlock is asked of the kernel; what one without it cannot refuse, it must be told that it is not."""
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import whylate_test as t

tap = t.Tap()
STARTUP = t.trace("startup-chain")
# struct landlock_ruleset_attr NULL, size 0, LANDLOCK_CREATE_RULESET_VERSION: its version (landlock(7))
LANDLOCK = max(ctypes.CDLL(None, use_errno=True).syscall(444, None, ctypes.c_size_t(0), 1), 0)
with open("/proc/self/status", encoding="ascii") as _file:
    SECCOMP = "\nSeccomp" in _file.read()
PLACE = tempfile.mkdtemp(dir=t.CACHE)
os.mkdir(PLACE + "/tmp")
os.mkdir(PLACE + "/outputs")
os.environ["TMPDIR"] = PLACE + "/tmp"     # all below it can be read, and what tests lay out is elsewhere
LIBRARY = PLACE + "/misbehave.so"
subprocess.run([os.environ.get("CC", "cc"), "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", LIBRARY,
                t.SOURCE + "/tests/misbehave.c", "-ldl"], check=True)


def misbehave(deed, *arguments, **more):
    """Status and standard error of a command whose parser does that."""
    env = dict(os.environ, MISBEHAVE=deed, LD_PRELOAD=" ".join(filter(None, [t.preload(), LIBRARY])), **more)
    done = t.run(*arguments, env=env)
    return done.returncode, done.stderr.decode(errors="replace") + done.stdout.decode(errors="replace")


ANALYSES = (["overview", STARTUP], ["delay", "--thread", "all", STARTUP], ["profile", STARTUP], ["requests", STARTUP],
            ["functions", STARTUP], ["check", STARTUP], ["diff", STARTUP, STARTUP],
            ["overview", "--reader", "babeltrace", STARTUP],
            ["overview", "--cache", PLACE + "/kept", STARTUP],
            ["overview", "--output", PLACE + "/outputs/out", STARTUP],
            ["export", "--as", "csv", "--output", PLACE + "/outputs/tables", STARTUP])


def refused(deed, reason):
    """Files: the command goes on, and got none."""
    for command in ANALYSES:
        status, said = misbehave(deed, *command)
        assert "%s: %s" % (deed, reason) in said and ": could" not in said, (command, said[:400])
        assert not status, (command, status, said[:400])


def killed(deed):
    """System calls: that is the end of it."""
    for command in ANALYSES:
        status, said = misbehave(deed, *command)
        assert status == -signal.SIGSYS and ": could" not in said and "it ran" not in said, (command, status, said[:400])


def no_shell():
    """It would be run by a child, which is ended."""
    for command in ANALYSES:
        said = misbehave("system", *command)[1]
        assert "system: " in said and ": could" not in said and "it ran" not in said, (command, said[:400])


def secrets():
    with tempfile.TemporaryDirectory(dir=PLACE) as place:
        secret = place + "/secret"
        with open(secret, "w", encoding="ascii") as file:
            file.write("secret")
        for deed in ("read /etc/passwd", "read " + secret, "write " + place + "/new", "write " + secret,
                     "read /proc/%d/environ" % os.getpid(), "write %s/new" % STARTUP):
            refused(deed, "Permission denied")
        assert os.listdir(place) == ["secret"]
        assert not os.path.exists(STARTUP + "/new")


def links():
    """A link in a trace leads nowhere; one that the user names does."""
    with tempfile.TemporaryDirectory(dir=PLACE) as place:
        shutil.copytree(STARTUP, place + "/trace")
        kernel = [d for d, _, files in os.walk(place + "/trace") if "metadata" in files][0]
        os.symlink("/etc/passwd", kernel + "/channel9_9")
        os.symlink(place + "/trace", place + "/link")
        done = t.run("overview", place + "/trace")
        assert b"Permission denied" in done.stdout + done.stderr and b"root:" not in done.stdout + done.stderr, done
        os.unlink(kernel + "/channel9_9")
        assert t.run("overview", place + "/link").returncode == 0


def beside():
    """Programs that lie beside a trace name its functions; the rest of that directory is not read."""
    with tempfile.TemporaryDirectory(dir=PLACE) as place:
        shutil.copytree(t.trace("ust-func"), place + "/out")
        with open(place + "/out/secret", "w", encoding="ascii") as file:
            file.write("secret")
        trace = place + "/out/ust-func"
        names = {one["name"] for one in t.report("functions", trace, "--limit", "0")["functions"]}
        assert "checksum" in names, names
        for path, reason in (("secret", "Permission denied"), ("proxyapp", "could")):
            status, said = misbehave("read %s/out/%s" % (place, path), "functions", trace)
            assert not status and "read %s/out/%s: %s" % (place, path, reason) in said, (path, status, said[:400])


def batch():
    """The line says how it ended, and the others are whole."""
    with tempfile.TemporaryDirectory(dir=PLACE) as place:
        for name in "ab":
            shutil.copytree(STARTUP, place + "/" + name)
        for deed, signal_name in (("connect", "Bad system call"), ("run", "Bad system call")):
            status, said = misbehave(deed, "batch", "--format", "json", place)
            lines = [json.loads(line) for line in said.split("\n") if line.startswith("{")]
            assert status and ": could" not in said and "it ran" not in said, said[:400]
            assert all(signal_name in " ".join(line["messages"]) for line in lines if line["kind"] == "trace"), said[:600]
        if LANDLOCK:
            status, said = misbehave("read /etc/passwd", "batch", "--format", "json", place)
            assert ": could" not in said and '"events"' in said, said[:400]


def server():
    """It answers at the socket that it has, and opens none."""
    status, said = misbehave("connect", "serve", STARTUP)
    assert status == -signal.SIGSYS and ": could" not in said, (status, said)


def off():
    _, said = misbehave("read /etc/passwd", "overview", STARTUP, WHYLATE_SANDBOX="off")
    assert "read /etc/passwd: could" in said, said[:400]
    done = t.run("overview", "--verbose", STARTUP, env=dict(os.environ, WHYLATE_SANDBOX="off"))
    assert b"the sandbox is off" in done.stderr, done.stderr


def told():
    said = t.run("overview", "--verbose", STARTUP).stderr.decode()
    files, calls = "files (Landlock %d)" % LANDLOCK in said, "system calls (seccomp)" in said
    assert files == bool(LANDLOCK) and calls == SECCOMP, said
    assert files or "Landlock" in said.replace("(Landlock", ""), said
    assert b"sandbox" not in t.run("overview", STARTUP).stderr


def same():
    """Commands, formats and outputs: with it and without it."""
    without = dict(os.environ, WHYLATE_SANDBOX="off")
    commands = [[c, "--format", f, *more] for c, more, formats in (
        ("overview", [], ("text", "json", "csv", "html")), ("delay", ["--thread", "all"], ("text", "json", "csv", "html", "folded")),
        ("profile", [], ("text", "json", "csv", "html")), ("requests", [], ("text", "json")),
        ("functions", [], ("text", "json")), ("check", [], ("text", "json"))) for f in formats]
    for command in commands:
        a, b = t.run(*command, STARTUP), t.run(*command, STARTUP, env=without)
        assert (a.returncode, a.stdout, a.stderr) == (b.returncode, b.stdout, b.stderr), (
            command, a.returncode, b.returncode, len(a.stdout), len(b.stdout), a.stderr, b.stderr)
    for kind in ("perfetto", "trace-event", "folded", "speedscope", "pprof", "csv", "sqlite", "ctf"):
        with tempfile.TemporaryDirectory(dir=PLACE) as place:
            found = []
            for name, env in (("with", None), ("without", without)):
                out = "%s/%s/deep/out" % (place, name) if kind in ("csv", "ctf") else "%s/%s" % (place, name)
                done = t.run("export", "--as", kind, "--output", out, STARTUP, **({"env": env} if env else {}))
                files = {}
                for at, _, names in os.walk(place):
                    for one in names:
                        path = os.path.join(at, one)
                        if "/" + name in path:
                            with open(path, "rb") as file:
                                files[os.path.relpath(path, place).replace(name, "", 1)] = file.read()
                            os.unlink(path)
                found.append((done.returncode, re.sub(b"with(out)?", b"", done.stderr), files))
            assert found[0] == found[1] and (found[0][0] or found[0][2]), (kind, found[0][0], found[0][1], found[1][1])


if LANDLOCK:
    tap.case("files that were not asked for are not read or written", secrets)
    tap.case("programs beside a trace are read", beside)
    tap.case("a link in a trace leads nowhere else", links)
if SECCOMP:
    for _deed in ("connect", "run"):
        tap.case("nothing is reached or run: " + _deed, killed, _deed)
    tap.case("no shell is run", no_shell)
    tap.case("of a batch", batch)
    tap.case("a server", server)
tap.case("off when that is asked for", off)
tap.case("--verbose says what holds", told)
tap.case("all commands say the same in it", same)
shutil.rmtree(PLACE)
sys.exit(tap.done())
