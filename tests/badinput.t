# SPDX-License-Identifier: MIT
"""Bad input: each case gets one clear line on stderr, the right exit status
(interface.md, "Exit status"), nothing on stdout, and leaves no file behind."""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import ctf
from whylate_test import FAST, SOURCE, WHYLATE, Tap, babeltrace2, output, run, sample, taken, trace

# Leaks are told by their whole stack where Babeltrace has its own: tests/lsan.supp
WHOLE_STACKS = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":fast_unwind_on_malloc=0",
                    LIBBABELTRACE2_NO_DLCLOSE="1")
USAGE, NO_TRACE, DAMAGE, OUTPUT = 2, 3, 4, 5
STARTUP = trace("startup-chain")
ALL = ["delay", "--thread", "all"]
tap = Tap()


def text(data):
    return data.decode("utf-8", "replace")


def judge(done, statuses, words, partial=False):
    """`words`: what the message must name. `partial`: a report of what came before is allowed."""
    err = text(done.stderr)
    statuses = statuses if isinstance(statuses, tuple) else (statuses,)
    assert done.returncode in statuses, "status %d, must be %s; stderr: %s" % (done.returncode, statuses, err)
    assert err.endswith("\n") and err.count("\n") == 1, "stderr is not one line:\n" + err
    assert err.startswith("whylate: "), "stderr: " + err
    assert len(err) > len("whylate: ") + 12, "no message: " + err
    for word in words:
        assert word in err, "the message does not say %r: %s" % (word, err)
    assert partial or not done.stdout, "%d bytes on stdout" % len(done.stdout)


def told_apart(run_it):
    """The outcome of run_it(env); if something leaked, that with whole stacks (ten times as slow), by which Babeltrace's own
    leaks are told from ours."""
    done = run_it(os.environ)
    return run_it(WHOLE_STACKS) if b"LeakSanitizer" in done.stderr else done


def bad(name, status, arguments, *words, **keywords):
    """A command that must fail; also with --output, which must not come to be (asked of the fast program)."""
    partial = keywords.pop("partial", False)

    def both():
        judge(told_apart(lambda env: run(*arguments, env=env, **keywords)), status, words, partial)
        with tempfile.TemporaryDirectory() as folder:
            done = told_apart(lambda env: run(*arguments, "--output", folder + "/out", env=env, program=FAST, **keywords))
            judge(done, status, words, partial)
            left = os.listdir(folder)
            assert not left or partial and left == ["out"], "left behind: %s" % left
    if taken(name):
        tap.case(name, both)


def once(name, status, arguments, *words, **keywords):
    partial = keywords.pop("partial", False)
    tap.case(name, lambda: judge(run(*arguments, **keywords), status, words, partial))


def no_traces(folder):
    missing, empty, plain = folder + "/missing", folder + "/empty", folder + "/plain"
    os.mkdir(empty)
    with open(plain, "w", encoding="ascii") as file:
        file.write("no trace\n")
    bad("no such path", NO_TRACE, ALL + [missing], missing)
    bad("no such path, overview", NO_TRACE, ["overview", missing], missing)
    bad("no such path, without a command", NO_TRACE, [missing], missing)
    once("neither a command nor a trace", USAGE, ["dealy", STARTUP], "dealy")
    bad("a directory without a trace", NO_TRACE, ALL + [empty], empty)
    bad("a file instead of a directory", NO_TRACE, ALL + [plain], plain)
    bad("a trace and a path that is none", NO_TRACE, ALL + [STARTUP, missing], missing)
    bad("a user-space trace only", NO_TRACE, ALL + [trace("ust-func") + "/ust-func/ust"], "kernel")
    once("no trace given", USAGE, ["delay", "--thread", "all"])
    once("no trace given, overview", USAGE, ["overview"])
    once("no argument", USAGE, [])


def selections():
    target = ["delay", STARTUP, "--target"]
    bad("an unknown event in --target", USAGE, target + ["sched_proces_exec"], "sched_proces_exec", "sched_process_exec")
    bad("a known event without a match", USAGE, target + ["sched_process_exec filename=/nowhere"], "sched_process_exec")
    bad("an unknown field in --target", USAGE, target + ["sched_process_exec filenam=x"], "filenam")
    bad("nth too large", USAGE, target + ["sched_process_exec nth=1000"], "1000")
    for value in ("nth=0", "nth=x", "nth=-1"):
        bad("bad " + value, USAGE, target + ["sched_process_exec " + value], "nth")
    bad("an empty --target", USAGE, target + [""], "target")
    bad("a --target without an event", USAGE, target + ["filename=x"], "filename=x")
    bad("a --target with a word that is no key=value", USAGE, target + ["sched_process_exec autostart"], "autostart")
    for option, value in (("--thread", "999999"), ("--thread", "nobody"), ("--process", "999999"), ("--process", "nobody")):
        bad("unknown %s %s" % (option, value), USAGE, ["delay", STARTUP, option, value], option[2:], value)
    bad("an unknown --host", USAGE, ALL + [STARTUP, "--host", "elsewhere"], "elsewhere")
    once("delay of nothing", USAGE, ["delay", STARTUP], "--target")
    once("an empty --thread", USAGE, ["delay", STARTUP, "--thread", ""], "--thread")


def windows():
    for name, arguments in (
            ("a window before the trace", ["--from", "5ns", "--to", "10ns"]),
            ("a window after the trace", ["--from", "1995252395000000000ns"]),
            ("a window that ends before the trace", ["--to", "10ns"]),
            ("a window past the trace", ["--from", "+1000s"]),
            ("an empty window", ["--from", "+100ms", "--to", "+0ms"]),
            ("a window turned round", ["--from", "1795252396000000000ns", "--to", "1795252395500000000ns"])):
        bad(name, USAGE, ALL + [STARTUP] + arguments)
        bad(name + ", overview", USAGE, ["overview", STARTUP] + arguments)
    for value in ("yesterday", "25:00:00", "12:61:00", "12:00:61", "+", "-", "1x", "+5parsecs", "99999999999999999999ns",
                  "2026-13-01 00:00:00", "12:00:00.1234567890", ""):
        bad("bad time %r" % value, USAGE, ALL + [STARTUP, "--from=" + value], "from")
    bad("--from an event that is not there", USAGE, ALL + [STARTUP, "--from", "sched_process_exec filename=/no"])
    bad("--last nothing", USAGE, ALL + [STARTUP, "--last", "0"])
    bad("--last of no duration", USAGE, ALL + [STARTUP, "--last", "soon"], "last", "soon")


def before_the_command():
    wanted = output("delay", "--thread", "xinit", "--limit", "2", STARTUP)
    for words in (("--thread", "xinit", "--limit", "2", "delay"), ("--limit=2", "--thread=xinit", "delay"),
                  ("--limit", "2", "delay", "--thread", "xinit")):
        assert output(*words, STARTUP) == wanted, words
    assert output("--limit", "2", STARTUP) == output("overview", "--limit", "2", STARTUP)
    with tempfile.TemporaryDirectory() as place:  # a trace may be called so
        os.symlink(os.path.abspath(STARTUP), os.path.join(place, "delay"))
        said = subprocess.run([WHYLATE, "--limit", "1", "--cache", "off", "delay"], cwd=place, stdout=subprocess.PIPE, check=True)
        assert said.stdout.startswith(b"tracebox"), said.stdout[:100]


def options():
    for name, value in (("format", "xml"), ("limit", "-1"), ("limit", "many"), ("limit", "99999999999999999999"),
                        ("limit", ""), ("depth", "1.5"), ("min-duration", "fast"), ("color", "blue"),
                        ("progress", "maybe"), ("utc", "perhaps"), ("format", "")):
        bad("bad value --%s=%s" % (name, value), USAGE, ALL + [STARTUP, "--%s=%s" % (name, value)], name, value)
    once("an unknown option", USAGE, ALL + [STARTUP, "--frobnicate"], "frobnicate")
    once("an unknown option with a value", USAGE, ALL + [STARTUP, "--frobnicate=1"], "frobnicate")
    once("an unknown short option", USAGE, ALL + [STARTUP, "-q"], "-q")
    once("an unknown option before the command", USAGE, ["--frobnicate", STARTUP], "frobnicate")
    tap.case("options before the command, as many do", before_the_command)
    once("a command with a slip", USAGE, ["dealy", STARTUP], "'dealy'", "'delay'")
    once("an option with a slip", USAGE, ["delay", STARTUP, "--thraed", "Xorg"], "'thraed'", "'thread'")
    once("a duration without a unit", USAGE, ALL + [STARTUP, "--min-duration", "5"], "unit", "ms")
    once("a program as the target", USAGE, ["delay", STARTUP, "--target", "autostart"], "sched_process_exec",
         "filename=*/autostart")
    once("an option of another command", USAGE, ["overview", STARTUP, "--target", "sched_switch"], "target")
    once("csv of overview", USAGE, ["overview", STARTUP, "--format", "csv"], "csv")
    for name in ("target", "thread", "format", "limit", "from", "output"):
        once("--%s without its value" % name, USAGE, ["delay", STARTUP, "--" + name], "--" + name)


def plugin():
    def refused(parameters, *words, component="delay"):
        done = babeltrace2(STARTUP, "--component=sink.whylate." + component, "--params=" + parameters)
        assert done.returncode not in (0, -signal.SIGSEGV, -signal.SIGABRT), "status %d" % done.returncode
        assert not done.stdout, "%d bytes on stdout" % len(done.stdout)
        for word in words:
            assert word in text(done.stderr), "does not say %r: %s" % (word, text(done.stderr))
        for word in ("AddressSanitizer", "LeakSanitizer", "runtime error"):
            assert word not in text(done.stderr), text(done.stderr)
    for name, parameters, words in (
            ("an unknown parameter", 'thread="all",frobnicate=1', ("frobnicate",)),
            ("a bad value", 'thread="all",format="xml"', ("format", "xml")),
            ("a value of the wrong type", 'thread="all",limit={a=1}', ("limit",)),
            ("a number out of range", 'thread="all",limit=-1', ("limit", "-1")),
            ("a list where one is wanted", 'thread="all",format=["json","text"]', ("format",)),
            ("a bad list entry", 'thread=["all",{}]', ("thread",)),
            ("nothing to analyse", 'format="json"', ("target",)),
            ("an unknown event", 'target="sched_proces_exec"', ("sched_proces_exec", "sched_process_exec")),
            ("a bad target", 'target="sched_process_exec nth=0"', ("nth",)),
            ("an unknown thread", 'thread="nobody"', ("nobody",)),
            ("a full disk", 'thread="all",output="/dev/full"', ("/dev/full",))):
        tap.case("plugin: " + name, refused, parameters, *words)

    for name, parameters, words in (
            ("a number out of range", "resolution=17", ("resolution", "17")),
            ("a value of the wrong type", "peak={a=1}", ("peak",)),
            ("a number that is none", 'threshold="x"', ("threshold", "x")),
            ("force without resume", "force=yes", ("force", "resume")),
            ("an unknown operation", 'operation="syscall:raed"', ("syscall:raed", "syscall:read")),
            ("a saved file that is missing", 'resume="/nowhere/saved"', ("/nowhere/saved",)),
            ("a place where one cannot save", 'save="/nowhere/saved"', ("/nowhere/saved",))):
        tap.case("plugin: profile, " + name, lambda p, w: refused(p, *w, component="profile"), parameters, words)

    def not_kernel():
        done = babeltrace2(trace("ust-func") + "/ust-func/ust", "--component=sink.whylate.delay", '--params=thread="all"')
        assert done.returncode > 0 and "kernel" in text(done.stderr), "%d: %s" % (done.returncode, text(done.stderr))
    tap.case("plugin: a user-space trace only", not_kernel)


def damage(folder):
    folder += "/damage"
    os.mkdir(folder)
    def copy(name):
        """A copy of startup-chain to damage: its directory of streams."""
        shutil.copytree(STARTUP, folder + "/" + name)
        return folder + "/" + name + "/startup-chain/kernel"

    def overwrite(path, at, data):
        with open(path, "r+b") as file:
            file.seek(at)
            file.write(data)

    broken = (NO_TRACE, DAMAGE)
    for number, size in enumerate((10, 100, 4096, 5000, 100001)):
        place = copy("cut%d" % number)
        os.truncate(place + "/ch_0", size)
        bad("a stream cut to %d bytes" % size, broken, ALL + [place], partial=True)
    place = copy("magic")
    overwrite(place + "/ch_0", 0, b"\0" * 64)
    bad("a stream whose first packet is zeros", broken, ALL + [place], partial=True)
    place = copy("middle")
    overwrite(place + "/ch_0", os.path.getsize(place + "/ch_0") // 2, b"\xff" * 20000)
    bad("a stream overwritten in the middle", broken, ALL + [place], partial=True)
    place = copy("garbage")
    with open(place + "/metadata", "wb") as file:
        file.write(bytes(range(256)) * 40)
    bad("metadata that is garbage", NO_TRACE, ALL + [place])
    place = copy("empty")
    os.truncate(place + "/metadata", 0)
    bad("empty metadata", NO_TRACE, ALL + [place])
    place = copy("half")
    os.truncate(place + "/metadata", os.path.getsize(place + "/metadata") // 2)
    bad("metadata cut in half", broken, ALL + [place], partial=True)
    place = copy("no-streams")
    for name in ("ch_0", "ch_1"):
        os.unlink(place + "/" + name)
    bad("a trace without streams", NO_TRACE, ALL + [place])
    place = copy("no-events")
    for name in ("ch_0", "ch_1"):
        os.truncate(place + "/" + name, 0)
    bad("a trace with empty streams", NO_TRACE, ALL + [place])


def as_nobody(folder):
    """Directories and files that may not be read: told to a user who is not root."""
    if os.getuid() == 0 and not shutil.which("setpriv"):
        tap.skip("unreadable input", "root without setpriv")
        return
    copy, program = folder + "/unreadable", folder + "/whylate"
    shutil.copytree(STARTUP, copy)
    shutil.copy(WHYLATE, program)
    os.chmod(program, 0o755)
    # the tree may lie where that user may not look: he gets the suppressions too
    shutil.copy(SOURCE + "/tests/lsan.supp", folder + "/lsan.supp")
    known = "suppressions=%s/lsan.supp:print_suppressions=0" % folder
    prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.getuid() == 0 else []

    def try_it(path, mode, *words):
        os.chmod(path, mode)
        try:
            done = told_apart(lambda env: subprocess.run(
                prefix + [program] + ALL + [copy], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, check=False, cwd="/", env={**env, "LSAN_OPTIONS": known}, timeout=600))
            judge(done, NO_TRACE, words)
        finally:
            os.chmod(path, 0o755)
    kernel = copy + "/startup-chain/kernel"
    tap.case("a directory that may not be read", try_it, copy, 0, copy)
    tap.case("a directory below that may not be read", try_it, kernel, 0, kernel)
    tap.case("a directory that may not be listed, with metadata", try_it, kernel, 0o111, kernel, "Permission denied")
    tap.case("metadata that may not be read", try_it, kernel + "/metadata", 0, "metadata")
    tap.case("a stream that may not be read", try_it, kernel + "/ch_1", 0)

    def no_place():
        done = subprocess.run(prefix + [program] + ALL + [copy, "--output", folder + "/forbidden/out"], check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/",
                              env={**os.environ, "LSAN_OPTIONS": known})
        judge(done, OUTPUT, [folder + "/forbidden/out"])
    os.mkdir(folder + "/forbidden", 0o555)
    tap.case("--output where one may not write", no_place)


def outputs(folder):
    once("--output to a full device", OUTPUT, ALL + [STARTUP, "--output", "/dev/full"], "/dev/full")
    missing = folder + "/missing/out"
    once("--output into a missing directory", OUTPUT, ALL + [STARTUP, "--output", missing], missing)
    once("--output to a directory", OUTPUT, ALL + [STARTUP, "--output", folder], folder)
    with open("/dev/full", "wb") as full:
        tap.case("standard output is full", lambda: judge(stdout_to(full), OUTPUT, ["standard output"], True))

    def kept():
        """What was there before a failure is there after it."""
        path = folder + "/kept"
        with open(path, "w", encoding="ascii") as file:
            file.write("before\n")
        judge(run(*ALL, STARTUP, "--output", path, "--to", "10ns"), USAGE, [])
        judge(run(*ALL, STARTUP, "--output", path, "--format", "json", **limited(signal.SIG_IGN)), OUTPUT, [path])
        with open(path, encoding="ascii") as file:
            assert file.read() == "before\n", "it was changed"
        os.unlink(path)
    tap.case("--output fails: the old file is kept", kept)
    for name, action in (("SIGXFSZ ignored", signal.SIG_IGN), ("SIGXFSZ as it is", signal.SIG_DFL)):
        def too_large(action=action):
            place = tempfile.mkdtemp(dir=folder)
            done = run(*ALL, STARTUP, "--output", place + "/out", "--format", "json", **limited(action))
            left = os.listdir(place)
            judge(done, OUTPUT, [place + "/out"])
            assert not left, "left behind: %s" % left
        tap.case("--output over the size limit, " + name, too_large)

    def tiny():
        place = tempfile.mkdtemp(dir=folder)
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], check=False,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if mount.returncode:
            return tap.skip("--output on a full file system", "no right to mount one")
        try:
            def full():
                done = run(*ALL, STARTUP, "--output", place + "/out", "--format", "json")
                judge(done, OUTPUT, [place + "/out", "No space left"])
                assert not os.listdir(place), "left behind: %s" % os.listdir(place)
            return tap.case("--output on a full file system", full)
        finally:
            subprocess.run(["umount", place], check=True)
    tiny() if os.getuid() == 0 else tap.skip("--output on a full file system", "no right to mount one")

    def closed(restore):
        """whylate | head -1"""
        with subprocess.Popen([WHYLATE, *ALL, STARTUP, "--limit", "0", "--format", "json"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, restore_signals=restore) as process:
            process.stdout.readline()
            process.stdout.close()
            err = text(process.stderr.read())
            status = process.wait()
        if restore:
            assert (status, err) == (-signal.SIGPIPE, ""), "status %d: %s" % (status, err)
        else:
            assert (status, err) == (OUTPUT, ""), "status %d: %s" % (status, err)  # who read it has enough
    tap.case("a pipe closed early", closed, True)
    tap.case("a pipe closed early, SIGPIPE ignored", closed, False)


PROFILE = ["profile", STARTUP]


def profile_options(folder):
    for name, value in (("resolution", "0"), ("resolution", "17"), ("resolution", "1.5"), ("peak", "0"), ("peak", "first"),
                        ("maxcount-percentage", "101"), ("maxcount-percentage", "0"), ("min-operations", "0"),
                        ("time-lapse", "0"), ("time-lapse", "-1s"), ("time-lapse", "soon"), ("per", "nonsense"),
                        ("threshold", "x"), ("threshold", "0"), ("threshold", "-1"), ("threshold", "nan"),
                        ("threshold", "1e999"), ("force", "perhaps"), ("format", "csv"), ("format", "xml"),
                        ("operation", ""), ("resource", ""), ("save", ""), ("compare", ""), ("resume", ""), ("kallsyms", ""),
                        ("binary-path", ""), ("binary-path", "/::/"), ("binary-path", ":"), ("per", "")):
        bad("profile: bad value --%s=%s" % (name, value), USAGE, PROFILE + ["--%s=%s" % (name, value)], name, value)
    for name in ("operation", "resource", "per", "save", "resume", "threshold", "time-lapse", "kallsyms", "binary-path"):
        once("profile: --%s without its value" % name, USAGE, PROFILE + ["--" + name], "--" + name)
    bad("profile: a --time-lapse of a million steps", USAGE, PROFILE + ["--time-lapse", "1us"], "time-lapse")
    once("profile: --force without --resume", USAGE, PROFILE + ["--force"], "--force", "--resume")
    once("profile: --target", USAGE, PROFILE + ["--target", "sched_switch"], "target")
    once("delay with an option of profile", USAGE, ALL + [STARTUP, "--peak", "1"], "peak")
    bad("profile: an unknown operation", USAGE, PROFILE + ["--operation", "syscall:raed"], "syscall:raed", "syscall:read")
    bad("profile: an operation of no kind", USAGE, PROFILE + ["--operation", "raed"], "raed", "syscall:")
    bad("profile: one known and one unknown operation", USAGE,
        PROFILE + ["--operation", "syscall:read", "--operation", "irq:77"], "irq:77")
    bad("profile: an unknown --thread", USAGE, PROFILE + ["--thread", "nobody"], "nobody")
    bad("profile: a window outside", USAGE, PROFILE + ["--from", "+1000s"])
    bad("profile: a path that is missing", NO_TRACE, ["profile", folder + "/missing"], folder + "/missing")

    def no_symbols(name, content, *words):
        path = folder + "/" + name
        with open(path, "w", encoding="ascii") as file:
            file.write(content)
        bad("--kallsyms with " + name, USAGE, PROFILE + ["--kallsyms", path], "--kallsyms", path, *words)
    missing = folder + "/missing"
    bad("--kallsyms of a missing file", USAGE, PROFILE + ["--kallsyms", missing], "--kallsyms", missing)
    bad("--kallsyms of a directory", USAGE, PROFILE + ["--kallsyms", folder], "--kallsyms", folder)
    once("--binary-path of a missing directory", USAGE, PROFILE + ["--binary-path", folder + ":" + missing],
         "--binary-path", missing, "no such directory")
    once("--binary-path of a file", USAGE, PROFILE + ["--binary-path", SOURCE + "/README.md"], "--binary-path", "README.md",
         "not a directory")
    once("check with --binary-path", USAGE, ["check", STARTUP, "--binary-path", folder], "binary-path")
    no_symbols("garbage", "no symbols\n", "line 1")
    no_symbols("a bad second line", "ffffffff81000000 T _stext\nfrom here on\n", "line 2")
    no_symbols("addresses of zero", "0000000000000000 T _stext\n0000000000000000 t more\n", "root")
    no_symbols("nothing in it", "", "empty")


def saved_files(folder):
    """--save that cannot be written, and files that --compare and --resume cannot use."""
    for path in (folder + "/missing/saved", folder, "/dev/full"):
        bad("--save to " + os.path.basename(path), OUTPUT, PROFILE + ["--save", path], path)

    def too_large():
        place = tempfile.mkdtemp(dir=folder)
        with open(place + "/kept", "w", encoding="ascii") as file:
            file.write("before\n")
        for name in ("kept", "new"):
            judge(run(*PROFILE, "--save", place + "/" + name, **limited(signal.SIG_IGN)), OUTPUT, [place + "/" + name])
            assert os.listdir(place) == ["kept"], "left behind: %s" % os.listdir(place)
        with open(place + "/kept", encoding="ascii") as file:
            assert file.read() == "before\n", "it was changed"
    tap.case("--save over the size limit: nothing half-written, the old file is kept", too_large)
    contents = {"nothing": "", "no JSON": "no JSON\n", "JSON cut in half": '{"schema": "whylate-profile-1", "prof',
                "an empty object": "{}", "a list": "[1]", "a null": "null",
                "another schema": '{"schema": "whylate-delay-1"}', "no profiles": '{"schema": "whylate-profile-1"}',
                "profiles that are none": '{"schema": "whylate-profile-1", "profiles": 1}',
                "a profile that is none": '{"schema": "whylate-profile-1", "profiles": [1]}',
                "more after it": '{"schema": "whylate-profile-1", "profiles": []} {}',
                "a report of overview": text(run("overview", STARTUP, "--format", "json").stdout)}
    for option in ("--compare", "--resume"):
        bad(option + " of a missing file", USAGE, PROFILE + [option, folder + "/missing"], option, folder + "/missing")
        bad(option + " of a directory", USAGE, PROFILE + [option, folder], option, folder)
        for name, content in contents.items():
            path = folder + "/" + name.replace(" ", "-")
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
            bad("%s of %s" % (option, name), USAGE, PROFILE + [option, path], option, path)


def members(value, place=()):
    """Places of all members of a JSON value, of each list its first entry only."""
    if isinstance(value, dict):
        for key in value:
            yield place + (key,)
            yield from members(value[key], place + (key,))
    elif isinstance(value, list) and value:
        yield from members(value[0], place + (0,))


SWITCH = [("%s_%s" % (which, field), kind) for which in ("prev", "next")
          for field, kind in (("comm", "string"), ("tid", "i32"), ("prio", "i32"))] + [("prev_state", "i64")]


def few_reads(directory):
    """A trace of 28 events, as it is read 400 times: six calls of pread64, every other one waits for an interrupt."""
    trace = ctf.Trace({"sched_switch": SWITCH, "syscall_entry_pread64": [("fd", "i32")],
                       "sched_waking": [("comm", "string"), ("tid", "i32"), ("prio", "i32"), ("target_cpu", "i32")],
                       "irq_handler_entry": [("irq", "i32"), ("name", "string")], "irq_handler_exit": [("irq", "i32")],
                       "syscall_exit_pread64": [("ret", "i64")]})

    def to(at, prev, state, following):
        trace.event(at, 0, "sched_switch", prev_comm="p%d" % prev, prev_tid=prev, prev_prio=20, prev_state=state,
                    next_comm="p%d" % following, next_tid=following, next_prio=20)

    to(1000, 0, 0, 50)
    for i in range(6):
        at = 10_000 + i * 100_000
        trace.event(at, 0, "syscall_entry_pread64", fd=3)
        if i % 2:
            to(at + 1000, 50, 2, 0)
            trace.event(at + 50_000, 0, "irq_handler_entry", irq=7, name="disk")
            trace.event(at + 50_500, 0, "sched_waking", comm="p50", tid=50, prio=20, target_cpu=0)
            trace.event(at + 51_000, 0, "irq_handler_exit", irq=7)
            to(at + 52_000, 0, 0, 50)
        trace.event(at + 60_000 if i % 2 else at + 700, 0, "syscall_exit_pread64", ret=1)
    return trace.write(directory)


def one_moment(folder):
    """All that could be read has one time: no usage error, as nobody asked for a window, but no trace to report of."""
    trace = ctf.Trace({"sched_switch": SWITCH})
    for tid in (50, 51):
        trace.event(1000, 0, "sched_switch", prev_comm="p", prev_tid=tid, prev_prio=20, prev_state=0, next_comm="p",
                    next_tid=tid + 1, next_prio=20)
    place = trace.write(folder + "/moment")
    for arguments in (["overview", place], ["functions", place], ["profile", place]):
        once("%s: a trace of one moment" % arguments[0], NO_TRACE, arguments, "one moment")


def mutilated(folder):
    """A saved search of which one member is missing or of another kind: resumed and compared with, or refused. The fast
    program's: fuzz_saved reads such with sanitizers."""
    whole = folder + "/whole"
    profile = ["profile", few_reads(folder + "/reads"), "--operation", "syscall:pread64", "--limit", "1"]
    assert run(*profile, "--save", whole).returncode == 0
    with open(whole, encoding="utf-8") as file:
        text_of_it = file.read()

    def change(place, value, option):
        saved = json.loads(text_of_it)
        at = saved
        for key in place[:-1]:
            at = at[key]
        if value is None:
            del at[place[-1]]
        else:
            at[place[-1]] = value
        with open(folder + "/mutilated", "w", encoding="ascii") as file:
            json.dump(saved, file)
        done = run(*profile, option, folder + "/mutilated", "--format", "json", program=FAST)
        if done.returncode != 0:
            return judge(done, USAGE, [option, folder + "/mutilated"])
        assert not done.stderr, text(done.stderr)
        return json.loads(done.stdout)

    places = list(members(json.loads(text_of_it)))
    assert len(places) > 80, len(places)
    kinds = ["text", -1, [], {}, [0], 0.5, True]

    def bad_values(i, place):
        value = json.loads(text_of_it)
        for key in place:
            value = value[key]
        return [None, kinds[i % len(kinds)]] + [(1 << 63) - 1] * isinstance(value, int)

    def each(option):
        for i, place in sample(enumerate(places)):
            if place[0] not in ("schema", "profiles") and option == "--compare":
                continue
            for value in bad_values(i, place):
                try:
                    change(place, value, option)
                except (AssertionError, ValueError) as error:
                    raise AssertionError("%s = %s: %s" % ("/".join(map(str, place)), value, error)) from error
    for option in ("--resume", "--compare"):
        tap.case("%s with each member of a saved search changed or missing (%d)" % (option, len(places)), each, option)

    def deep():
        """Deeper than any search, and than a program would go."""
        for levels in (100, 3000):
            saved = json.loads(text_of_it)
            tree = saved["profiles"][0]["peaks"][0]["tree"]
            node = json.dumps({"node": "a", "maxcount": 1, "ns": 1, "operations": 1, "children": [0]})
            tree["children"] = ["here"]
            content = json.dumps(saved).replace('"here"', node.replace("0]}", "") * levels + "1" + "]}" * levels)
            with open(folder + "/deep", "w", encoding="ascii") as file:
                file.write(content)
            judge(run(*profile, "--resume", folder + "/deep"), USAGE, ["--resume", folder + "/deep"])
    tap.case("--resume of a tree too deep", deep)


def stdout_to(file):
    return run(*ALL, STARTUP, stdout=file)


def limited(action):
    """Files of at most 20,000 bytes, and what SIGXFSZ does."""
    def limit():
        signal.signal(signal.SIGXFSZ, action)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
    return {"preexec_fn": limit, "restore_signals": False}


with tempfile.TemporaryDirectory() as scratch:
    os.chmod(scratch, 0o755)
    no_traces(scratch)
    selections()
    windows()
    options()
    profile_options(scratch)
    saved_files(scratch)
    one_moment(scratch)
    mutilated(scratch)
    plugin()
    damage(scratch)
    as_nobody(scratch)
    outputs(scratch)
sys.exit(tap.done())
