#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""whylate record --drill: what it chooses to record next, from recordings whose functions are known by construction
(truth.tsv), and that rounds leave nothing behind; lttng is played. The real one is tests/vm/guest's."""
import os
import re
import shlex
import shutil
import signal
import sys
import tempfile
import time

import whylate_test as t
from played_lttng import AS_ROOT, Play

tap = t.Tap()
SAMPLES = t.trace("samples")


def lines(text):
    """Of each round its lttng lines, as words."""
    rounds = []
    for line in text.splitlines():
        if line.startswith("lttng create "):
            rounds.append([])
        if line.startswith("lttng "):
            rounds[-1].append(shlex.split(line))
    return rounds


def dry_run():
    """The rounds' lines from a recording. By its truth.tsv most work was spin's, for load_theme's parse_config and
    render_glyphs; beside it `copier` read /dev/zero: vfs_read > read_zero > clear_user_erms, which nothing is below.
    The program has the name of what it ran last."""
    arguments = ("record", "--drill", "30ms", "--session", "s", "--output", "/o", "--dry-run")
    status, out, err = Play().run(*arguments, "--", "true")
    assert status == 0 and not err, (status, err)
    only, = lines(out)
    assert "depends on it" in out and not any("probe" in word for line in only for word in line), out
    assert any("--type=callstack-user" in line for line in only), only
    play = Play()
    status, out, err = play.run(*arguments, "--after", SAMPLES, "--", "true")
    assert status == 0 and not err and play.log() == [], (status, err, play.log())
    first, second = lines(out)
    assert first == [[word.replace("/round-2", "/round-1") for word in line] for line in second
                     if not any(word.startswith(("--function=", "--userspace-probe=")) for word in line)]
    entries = {line[-2]: line[-1] for line in second if line[-2].startswith("--userspace-probe=")}
    assert entries == {"--userspace-probe=elf:/in/bin/sampled:" + name: name
                       for name in ("spin", "load_theme", "parse_config", "render_glyphs", "compress_block")}, entries
    functions = {line[-1] for line in second if line[-2].startswith("--function=")}
    assert {"vfs_read", "read_zero"} <= functions and "clear_user_erms" not in functions, functions
    told = " ".join(line[2:].strip() for line in out.splitlines() if line.startswith("# "))
    assert re.search(r"ran its own code: \d+ ± \d+ % of its own code in spin \(\d+ samples\) -- not explained yet", told), told
    assert "clock_nanosleep: timer" in told, told


def nothing_slow():
    status, out, _ = Play().run("record", "--drill", "100s", "--dry-run", "--after", SAMPLES, "--", "true")
    assert status == 0 and len(lines(out)) == 1 and "Nothing took 100.0 s or more" in out, (status, out)


def rounds():
    """On a running system: the first round asks for the functions that it sampled, the second has the same samples, so that
    nothing finer is left to ask for. A probe that the kernel refuses is left out, and said."""
    play = Play(daemon=False)
    status, out, err = play.run("record", "--drill", "30ms", "--duration", "100ms", "--output", "o", "--no-settings",
                                RECORDED=SAMPLES, FAIL="*sampled:load_theme*")
    assert status == 0, (status, out, err)
    assert sorted(os.listdir(play.path + "/o")) == ["round-1", "round-2"], os.listdir(play.path + "/o")
    log = play.log()
    assert [line.split()[0] for line in log if line.startswith(("create", "start", "stop", "destroy"))] == \
        ["create", "start", "stop", "destroy"] * 2, log
    second = log[log.index([line for line in log if line.startswith("destroy")][0]):]
    assert any("--userspace-probe=elf:/in/bin/sampled:spin spin" in line for line in second), second
    assert "sampled:load_theme cannot be probed, and is left out" in err, err
    assert "Round 1 (" in out and "Round 2 (" in out and "After 2 rounds" in out, out
    assert "What ran, by samples" in out, out  # the report over the last round
    assert play.left(False) == ["o"], play.left(False)


def goes_on():
    """From the rounds of an earlier drill: their functions are not asked for again."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("round-1", "round-2"):
            shutil.copytree(SAMPLES, folder + "/" + name, symlinks=True)
        status, out, _ = Play().run("record", "--drill", "30ms", "--dry-run", "--after", folder, "--", "true")
    assert status == 0 and len(lines(out)) == 2 and "# Round 2 (" in out and "# After 2 rounds" in out, out


def interrupted():
    """While it sets a round up, and while that lasts: the rounds before it stay, and no session does."""
    for slow in ("start *", ""):
        play = Play(daemon=False)
        process = play.start("record", "--drill", "30ms", "--duration", "4s" if not slow else "50ms", "--output", "o",
                             "--no-settings", RECORDED=SAMPLES, SLOW=slow)
        if slow:
            play.has_said("start *")
            play.go()
        play.has_said("create *round-2")
        play.has_said("start *", 2)
        if not slow:
            time.sleep(0.2)  # it lasts: a little later is as good, and for four seconds
        process.send_signal(signal.SIGTERM)
        if slow:
            play.go()
        out, err = process.communicate(timeout=600)
        assert process.returncode == -signal.SIGTERM, (process.returncode, err)
        assert not os.path.exists(play.path + "/session") and os.path.isdir(play.path + "/o/round-1"), play.left(False)
        assert play.left(False) == ["o"] and b"interrupted after round" in err, (play.left(False), err)
        assert b"Round 1 (" in out and b"What ran" not in out, out
    play = Play(daemon=False)  # before there is anything
    process = play.start("record", "--drill", "30ms", "--duration", "2s", "--output", "o", SLOW="create *")
    play.has_said("create *")
    process.send_signal(signal.SIGINT)
    play.go()
    process.communicate(timeout=600)
    assert process.returncode == -signal.SIGINT and play.left(False) == [], (process.returncode, play.left(False))


def recorder():
    """A flight recorder: what the first snapshot shows is added to the session that goes on, and the next one has it."""
    play = Play()
    process = play.start("record", "--drill", "30ms", "--snapshot", "--output", "out", "--no-settings", TRACE=SAMPLES)
    while b"Ctrl-C" not in process.stderr.readline():
        pass
    assert play.run("snapshot", "--no-settings", TRACE=SAMPLES)[0] == 0
    play.has_said("*--userspace-probe=elf:/in/bin/sampled:spin spin")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    log = play.log()
    assert process.returncode == 0, (process.returncode, err)
    assert sum(line.startswith("create") for line in log) == 1 and log[-1].startswith("destroy"), log
    assert any("--userspace-probe=elf:/in/bin/sampled:spin spin" in line for line in log), log
    assert b"Round 1 (" in out and b"Round 2 (" in out, out
    assert len([name for name in os.listdir(play.path + "/out") if name.startswith("snapshot-")]) == 2


def services():
    """--every: quiet rounds are not kept, and do not end it."""
    play = Play()
    process = play.start("record", "--drill", "100s", "--duration", "50ms", "--every", "100ms", "--output", "o",
                         "--no-settings", RECORDED=SAMPLES)
    play.has_said("create *", 3)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=600)
    assert process.returncode == -signal.SIGTERM, (process.returncode, err)
    assert sum(line.startswith("create") for line in play.log()) >= 3, play.log()
    assert not os.path.exists(play.path + "/session") and play.left(True) in ([], ["o"]), play.left(True)
    assert not os.path.exists(play.path + "/o") or len(os.listdir(play.path + "/o")) <= 1


def errors():
    for arguments, word in ((("--drill", "soon"), "10ms"), (("--drill", "0"), "drill"), (("--every", "5s"), "--drill"),
                            (("--drill", "1ms", "--every", "5s", "--", "true"), "services"),
                            (("--drill", "1ms", "--after", "/nowhere"), "no directory"),
                            (("--after", "/"), "--drill"), (("--drill", "1ms", "--analyse"), "report")):
        play = Play()
        status, _, err = play.run("record", *arguments)
        assert status == 2 and word in err and play.log() == [], (arguments, status, err)
    play = Play()
    status, _, err = play.run("record", "--drill", "1ms", "--", "no-such-program")
    assert status == 127 and "no such program" in err and play.log() == [], (status, err)
    status, _, err = Play().run("record", "--drill", "1ms", "--", "true", PATH=tempfile.mkdtemp())
    assert status in (125, 127) and ("lttng-tools" in err or "no such program" in err), (status, err)
    play = Play()  # the kernel's tracer is not there
    status, _, err = play.run("record", "--drill", "1ms", "--output", "o", "--", "true", FAIL="enable-channel*",
                              SAY="Kernel tracer not available")
    assert status == 125 and "lttng-modules-dkms" in err and play.left(True) == [], (status, err, play.left(True))
    play = Play()  # what was recorded is no trace
    status, _, err = play.run("record", "--drill", "1ms", "--output", "o", "--no-settings", "--", "true")
    assert status == 125 and "cannot be analysed" in err and not os.path.exists(play.path + "/session"), (status, err)
    play = Play()
    os.mkdir(play.path + "/full")
    open(play.path + "/full/x", "w", encoding="ascii").close()
    status, _, err = play.run("record", "--drill", "1ms", "--output", "full", "--", "true")
    assert status == 125 and "not empty" in err and play.log() == [], (status, err)
    if AS_ROOT or os.geteuid() == 0:
        status, _, err = Play().run("record", "--drill", "1ms", "--dry-run", "--after", "/", "--", "true")
        assert status != 0 and "cannot be analysed" in err, (status, err)


tap.case("--dry-run: each round's lines", dry_run)
tap.case("nothing slow", nothing_slow)
tap.case("rounds on a running system", rounds)
tap.case("--after: earlier rounds", goes_on)
tap.case("an interruption leaves the rounds before it, and no session", interrupted)
tap.case("a flight recorder's next snapshot is finer", recorder)
tap.case("--every: until a service is slow", services)
tap.case("errors", errors)
sys.exit(tap.done())
