#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Faults around us: outputs that cannot be written, signals, closed pipes and streams, no temporary space, limits, and
traces that change, shrink or grow while they are read. One clear line, the right status (interface.md, "Exit
status"), nothing left behind, what was there before as it was. Bad input and options are in badinput.t."""
import functools
import glob
import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

import whylate_test as t

tap = t.Tap()
NO_TRACE, DAMAGE, OUTPUT = 3, 4, 5
STARTUP = t.trace("startup-chain")
LARGE = t.trace("lock-lapse")
HELD = t.trace("zero-read")     # a million events: more than is kept in memory, whatever is asked of it
HELD_PROFILE = ("profile", "--operation", "irq:*", HELD)     # of few operations, as that takes half the time
ASAN = bool(t.preload())
COMMANDS = (["delay", "--thread", "all"], ["overview"], ["profile"], ["functions"])
FORMATS = ([*COMMANDS[0], "--format", "csv"], *([*c, "--format", f] for c in COMMANDS for f in ("text", "json")))


def one_line(done, status, *words):
    err = done.stderr.decode()
    assert done.returncode == status, (done.returncode, err)
    assert err.count("\n") == 1 and err.startswith("whylate: "), err
    for word in words:
        assert word in err, (word, err)


def with_limit(which, value):
    return {"preexec_fn": lambda: resource.setrlimit(which, (value, value))}


def full_device():
    for command in FORMATS:
        one_line(t.run(*command, STARTUP, "--output", "/dev/full"), OUTPUT, "/dev/full", "No space left")
        with open("/dev/full", "wb") as full:
            one_line(t.run(*command, STARTUP, stdout=full), OUTPUT, "standard output", "No space left")
    for words in (["--help"], ["delay", "--help"], ["--version"], ["delay", "--json-schema"]):
        with open("/dev/full", "wb") as full:
            one_line(t.run(*words, stdout=full), OUTPUT, "standard output", "No space left")


def size_limit():
    """RLIMIT_FSIZE, SIGXFSZ as it is: every format, an old file kept, whatever it was."""
    for command in FORMATS:
        with tempfile.TemporaryDirectory() as place:
            for before in (None, b"before\n"):
                if before:
                    with open(place + "/out", "wb") as file:
                        file.write(before)
                done = t.run(*command, STARTUP, "--limit", "0", "--output", place + "/out",
                             **with_limit(resource.RLIMIT_FSIZE, 500))
                one_line(done, OUTPUT, place + "/out", "ulimit -f")
                assert os.listdir(place) == (["out"] if before else []), os.listdir(place)
            with open(place + "/out", "rb") as file:
                assert file.read() == b"before\n"


def plugin_size_limit():
    """Babeltrace has SIGXFSZ as it is: the plugin gets an error nevertheless."""
    with tempfile.TemporaryDirectory() as place:
        old = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, old[1]))
        try:
            done = t.babeltrace2(STARTUP, "--component=sink.whylate.delay",
                                 '--params=thread="all",output="%s/out"' % place)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, old)
        assert done.returncode > 0 and b"File too large" in done.stderr, (done.returncode, done.stderr)
        assert not os.listdir(place), os.listdir(place)


def existing_file():
    """It keeps its mode, a link stays a link, and one that may not be written is not replaced."""
    with tempfile.TemporaryDirectory() as place:
        real, link = place + "/real", place + "/link"
        with open(real, "w", encoding="ascii") as file:
            file.write("before\n")
        os.chmod(real, 0o640)
        os.symlink("real", link)
        t.output("overview", STARTUP, "--output", link)
        assert os.path.islink(link) and stat.S_IMODE(os.stat(real).st_mode) == 0o640
        with open(real, "rb") as file:
            assert file.read() == t.output("overview", STARTUP)
        assert sorted(os.listdir(place)) == ["link", "real"]


def unnamed():
    """While it is written, a report's file has no name: kill -9 leaves nothing, or all of it."""
    name = "a report's file has no name before it is whole"
    seen, left = set(), []
    for _ in range(50):     # on a busy machine who looks may be late: once more, then
        with tempfile.TemporaryDirectory() as place:
            with subprocess.Popen([t.WHYLATE, "delay", "--thread", "all", "--limit", "0", "--format", "json", LARGE,
                                   "--output", place + "/out"], stderr=subprocess.PIPE,
                                  preexec_fn=lambda: os.nice(10)) as process:
                while process.poll() is None and not seen:
                    time.sleep(0.001)
                    seen |= set(os.listdir(place))
                    for fd in glob.glob("/proc/%d/fd/*" % process.pid):
                        try:
                            path = os.readlink(fd)
                        except OSError:
                            continue
                        seen |= {path} if path.startswith(place) else set()
                    seen -= {"out", place + "/out"}     # its name once it is whole
                process.kill()
            left = os.listdir(place)
            if left == ["out"]:
                with open(place + "/out", encoding="utf-8") as file:
                    left = [] if json.load(file)["schema"] else left
        if seen:
            break
    if any(not path.endswith("(deleted)") for path in seen):
        return tap.skip(name, "a file system without O_TMPFILE")
    return tap.ok(not left and len(seen) == 1, name, left, seen)


def closed_streams():
    """A closed standard output is no place for a report, nor for a file that is opened."""
    def close(*fds):
        return {"preexec_fn": lambda: [os.close(fd) for fd in fds], "stdout": None}
    one_line(t.run("overview", STARTUP, **close(1)), OUTPUT, "standard output")
    one_line(t.run(*HELD_PROFILE, program=t.FAST, **close(0, 1)), OUTPUT, "standard output")
    with tempfile.TemporaryDirectory() as place:
        done = t.run("overview", STARTUP, "--output", place + "/out", **close(0, 1))
        assert (done.returncode, done.stderr) == (0, b""), done
        with open(place + "/out", "rb") as file:
            assert file.read() == t.output("overview", STARTUP)


def stopped_after(command, wait, number):
    """The process that was sent the signal, whether it had ended before, and what it left: the file as it was, or a whole report."""
    with tempfile.TemporaryDirectory() as place:
        os.mkdir(place + "/tmp")
        with open(place + "/out", "w", encoding="ascii") as file:
            file.write("before\n")
        env = dict(os.environ, TMPDIR=place + "/tmp")
        if command[0] == "babeltrace2" and ASAN:
            env["LD_PRELOAD"] = t.preload()
        with subprocess.Popen([word.replace("OUT", place + "/out") for word in command], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=env) as process:
            time.sleep(wait)
            ended = process.poll() is not None
            process.send_signal(number)
            out, err = process.communicate()
        left = os.listdir(place) + os.listdir(place + "/tmp")
        with open(place + "/out", "rb") as file:
            found = file.read()
    assert sorted(left) == ["out", "tmp"], left
    kept = found == b"before\n"
    assert kept or json.loads(found)["schema"], found[-200:]
    return process.returncode, ended, out, err, kept


def signals(wait):
    """In reading, analysing and writing (the three take 0.2 to 2 s here)."""
    command = [t.FAST, "delay", "--thread", "all", "--limit", "0", "--format", "json", HELD, LARGE, "--output", "OUT"]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        status, ended, out, err, kept = stopped_after(command, wait, number)
        assert status in (0, -number) and not out and not err, (number, status, out, err)
        assert not (kept and (ended or status == 0)), (number, status)


def nohup():
    """A signal that is ignored stays so."""
    with subprocess.Popen([t.FAST, "overview", HELD], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as process:
        time.sleep(0.1)
        process.send_signal(signal.SIGHUP)
        out, err = process.communicate()
    assert (process.returncode, err) == (0, b"") and out, (process.returncode, err)


def plugin_signals(wait):
    """Babeltrace's own SIGINT: it ends with a status of its own, and there is no report."""
    command = ["babeltrace2", "--plugin-path=" + t.PLUGINS, LARGE, "--component=sink.whylate.delay",
               '--params=thread="all",limit=0,format="json",output="OUT"']
    status, ended, _, err, kept = stopped_after(command, wait, signal.SIGINT)
    if not ended and status:      # else it came after the report
        assert status in (1, 2, -signal.SIGINT) and kept, (status, err, kept)


def closed_pipe():
    """whylate | head -1, in every format; SIGPIPE ends it, quietly. Long reports are those of the program without sanitizers."""
    for program, trace, command in ((program, trace, command) for command in FORMATS
                                    for program, trace in ((t.FAST, LARGE), (t.WHYLATE, STARTUP))):
        with subprocess.Popen([program, *command, trace, "--limit", "0"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.read(1)
            process.stdout.close()
            err = process.stderr.read()
        assert process.returncode in (0, -signal.SIGPIPE) and not err, (command, process.returncode, err)


def temporary_space():
    """Without room for a temporary file all is kept in memory: the same report, and it is said. Once with sanitizers, which
    take twenty times as long for it, and of few operations."""
    with tempfile.TemporaryDirectory() as place:
        os.mkdir(place + "/none")
        os.rmdir(place + "/none")
        whole = functools.cache(lambda *asked: json.loads(t.run(*asked, program=t.FAST).stdout))
        cases = [(place + "/none", {}, "No such file"), ("/proc", {}, ""),
                 (place, with_limit(resource.RLIMIT_FSIZE, 100000), "File too large")]
        for directory, limit, why in cases:
            fast = directory == "/proc" or limit
            asked = ("profile", "--operation", "*" if fast else "irq:*", HELD, "--format", "json")
            done = t.run(*asked, env=dict(os.environ, TMPDIR=directory), program=t.FAST if fast else t.WHYLATE, **limit)
            one_line(done, 0, directory, why, "TMPDIR")
            report = json.loads(done.stdout)
            told = [m for m in report["coverage"]["missing"] if "TMPDIR" in m]
            assert len(told) == 1 and directory in told[0], report["coverage"]["missing"]
            report["coverage"]["missing"].remove(told[0])
            assert report == whole(*asked, "--reader", "direct")
        assert not os.listdir(place)


def full_temporary():
    with tempfile.TemporaryDirectory() as place:
        if os.getuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", place], check=False,
                                         stderr=subprocess.DEVNULL).returncode:
            return tap.skip("temporary files on a full file system", "no right to mount one")
        try:
            whole = t.run(*HELD_PROFILE, program=t.FAST).stdout
            done = t.run(*HELD_PROFILE, program=t.FAST, env=dict(os.environ, TMPDIR=place))
            left = os.listdir(place)
        finally:
            subprocess.run(["umount", place], check=True)
        good = (done.returncode == 0 and done.stderr.count(b"\n") == 1 and b"No space left" in done.stderr and not left and
                [l for l in whole.split(b"\n") if l not in done.stdout.split(b"\n")] == [])
        return tap.ok(good, "temporary files on a full file system", done.stderr, left)


def limits():
    """Few descriptors and a small stack are enough; too little memory is one line, and SIGABRT."""
    whole = t.output("delay", "--thread", "all", LARGE)
    stack = 1 << 20 if ASAN else 256 << 10
    for which, value in ((resource.RLIMIT_NOFILE, 8), (resource.RLIMIT_STACK, stack), (resource.RLIMIT_CORE, 0)):
        done = t.run("delay", "--thread", "all", LARGE, **with_limit(which, value))
        assert (done.returncode, done.stderr, done.stdout) == (0, b"", whole), (which, done.returncode, done.stderr)
    if ASAN:
        return
    done = t.run("profile", "--operation", "*", HELD, **with_limit(resource.RLIMIT_AS, 110 << 20))
    if done.returncode == NO_TRACE:
        one_line(done, NO_TRACE, "Cannot allocate memory")
    elif done.returncode:
        one_line(done, -signal.SIGABRT, "memory")


def streams(directory):
    return [path for path in t.kernel_files(directory) if not path.endswith("metadata")]


def held(program, change, lines=1000):
    """What print_events prints if `change()` is called when `lines` lines have been printed: it waits there. Its lines,
    status and messages."""
    with subprocess.Popen(program, env={**os.environ, "HOLD_AT": str(lines)}, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        read = [process.stdout.readline() for _ in range(lines)]
        change()
        process.stdin.close()
        rest, err = process.stdout.read(), process.stderr.read()
    return [l for l in b"".join(read + [rest]).split(b"\n") if l], process.returncode, err


@functools.cache
def whole_lines():
    """What print_events prints of the whole trace."""
    program = [os.path.join(t.BUILD, "print_events"), "direct", LARGE]
    return frozenset(subprocess.run(program, stdout=subprocess.PIPE, check=True).stdout.split(b"\n"))


def while_reading(change):
    """The same with `change(files)` of a copy's streams, and before it the lines of the whole trace."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(LARGE, place + "/t")
        program = [os.path.join(t.BUILD, "print_events"), "direct", place + "/t"]
        return whole_lines(), *held(program, lambda: change(streams(place + "/t")))


def shrinks(cut):
    """A file cut under its reader: what is there is read, no event is made up, the rest is a gap."""
    def change(files):
        for path in files:
            os.truncate(path, cut(os.path.getsize(path)))
    whole, lines, status, err = while_reading(change)
    assert status == 0, (status, err)
    events = [l for l in lines if b" kind=" in l]
    assert 1000 < len(events) + 10 < len(whole), (len(events), len(whole))
    # the one event that was being handed over then may have lost its text, which lies in the file
    strange = [l for l in events if l not in whole]
    assert len(strange) <= 1, strange[:3]
    assert [l for l in lines if b" kind=" not in l and l not in whole], "no gap"


def disappears():
    """A file that is removed, or replaced by rename, is read to its end all the same."""
    def change(files):
        os.unlink(files[0])
        with open(files[1] + ".new", "wb") as file:
            file.write(b"something else")
        os.rename(files[1] + ".new", files[1])
    whole, lines, status, err = while_reading(change)
    assert status == 0 and set(lines) | {b""} == whole, (status, err, len(lines), len(whole))


def shrinks_for_the_command():
    """The same for the whole command, at some moment: a report that says so, never a signal."""
    with tempfile.TemporaryDirectory() as place:
        seen = set()
        for wait in (0.02, 0.05, 0.1, 0.2):
            shutil.copytree(HELD, place + "/t")
            with subprocess.Popen([t.WHYLATE, "delay", "--thread", "all", "--format", "json", place + "/t"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                time.sleep(wait)
                for path in streams(place + "/t"):
                    os.truncate(path, 0)
                out, err = process.communicate()
            seen.add(process.returncode)
            assert process.returncode in (0, NO_TRACE, DAMAGE) and err.count(b"\n") <= 1, (process.returncode, err)
            if process.returncode == DAMAGE:
                assert any(d["what"] and "shorter" in d["what"] for d in json.loads(out)["coverage"]["damage"])
            shutil.rmtree(place + "/t")
        print("# statuses:", sorted(seen))


def grows():
    """A trace that is still being written: what was there is reported, with status 4, and where a CPU's buffer was not
    written yet is a gap up to the end of the others."""
    files = {}
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(LARGE, place + "/t")
        path = max(streams(place + "/t"), key=lambda f: len(t.packets(f)))
        at = t.packets(path)[-1][0]
        with open(path, "r+b") as file:
            file.seek(at)
            files["rest"] = file.read()
            file.truncate(at)
        program = [os.path.join(t.BUILD, "print_events"), "direct", place + "/t"]
        still = subprocess.run(program, stdout=subprocess.PIPE, check=True).stdout.split(b"\n")[:-1]

        def more_comes():
            with open(path, "ab") as file:
                file.write(files["rest"])
        lines, _, _ = held(program, more_comes)
    known = set(still)
    more = [l for l in lines if l not in known]
    assert len(more) == 1 and b" kind=" not in more[0], more     # one gap is all that differs: up to the others' end,
    have = set(lines)                                            # where a stream that only ends early loses all the rest
    less = [l for l in still if l not in have]
    assert len(less) <= 1 and all(b" kind=" not in l for l in less), less
    assert [l for l in lines if l in known] == [l for l in still if l not in less]


tap.case("a full device: every output and format", full_device)
tap.case("the limit on files' size: every format, old files kept", size_limit)
tap.case("plugin: the limit on files' size", plugin_size_limit)
tap.case("an existing file: mode and link stay", existing_file)
unnamed()
tap.case("closed standard streams", closed_streams)
for delay in t.sample((0.01, 0.15, 0.5, 1), 2):
    tap.case("SIGINT, SIGTERM, SIGHUP after %g s" % delay, signals, delay)
tap.case("SIGHUP ignored", nohup)
for delay in t.sample((0.1, 0.6, 1), 2):
    tap.case("plugin: SIGINT after %g s" % delay, plugin_signals, delay)
tap.case("a closed pipe: every format", closed_pipe)
tap.case("no temporary space", temporary_space)
full_temporary()
tap.case("limits on descriptors, stack, memory", limits)
tap.case("streams cut to nothing while they are read", shrinks, lambda size: 0)
tap.case("streams cut by a third while they are read", shrinks, lambda size: size * 2 // 3 + 17)
tap.case("streams removed and replaced while they are read", disappears)
tap.case("streams cut while the command reads", shrinks_for_the_command)
tap.case("a trace that is still being written", grows)
sys.exit(tap.done())
