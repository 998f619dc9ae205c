#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""whylate record and snapshot, against a lttng command that is played: what it is asked, in which order, and that
nothing is left behind by a failure or an interruption at any step. (The real one needs a kernel with LTTng's modules.)
What the presets record fulfils what the analyses need: their patterns against the names in `check`."""
import fcntl
import fnmatch
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import whylate_test as t
from played_lttng import Play

tap = t.Tap()
def records_a_program():
    play = Play()
    status, out, err = play.run("record", "--output", "o", "--", "sh", "-c", "echo hello; exit 3")
    assert status == 3 and out == "hello\n", (status, out, err)
    log = play.log()
    assert log[0].startswith("create whylate-") and log[0].endswith("--output=" + play.path + "/o"), log[0]
    start = [i for i, line in enumerate(log) if line.startswith("start ")]
    assert len(start) == 1 and log[start[0] + 1:][0].startswith("stop ") and log[-1].startswith("destroy "), log
    assert all(line.startswith(("enable-channel", "enable-event", "add-context"))
               for line in log[1:start[0]]), log
    pid = re.search(r"sched_process_exit tid=(\d+)", err).group(1)
    assert int(pid) > 1 and "whylate delay " + play.path + "/o --target" in err, err
    assert "--from 'sched_process_fork child_tid=%s'\n" % pid in err, err
    assert not os.path.exists(play.path + "/session")
    with open("/proc/kallsyms", encoding="ascii") as file:
        shown = any(line.split()[0].strip("0") for line in file)
    assert sorted(os.listdir(play.path + "/o")) == ["hostname", "interrupts", *["kallsyms"] * shown, "kernel", "settings"]
    assert ("/proc/kallsyms shows no addresses" in err) != shown, err  # never silently
    told = [line for line in err.split("\n") if "--cleanup" not in line]  # nor what this machine had before
    assert "being set up" in told[0] and told[1] == "whylate: recording to %s/o" % play.path, err  # while it takes seconds


def words():
    status, _, err = Play().run("record", "sleep", "1")
    assert status == 2 and "whylate record -- sleep 1\n" in err, err


def snapshot_of_nothing():
    status, _, err = Play(daemon=False).run("snapshot")
    assert status == 125 and "no session daemon" in err and "record --snapshot" in err, (status, err)
    play = Play()
    os.remove(play.path + "/bin/lttng")
    status, _, err = play.run("snapshot", PATH=play.path + "/bin")
    assert status == 125 and "apt-get install lttng-tools" in err, (status, err)


def two_at_once():
    """Two start a daemon: that of one ends at once, as the other's is there, but does not answer yet."""
    play = Play(daemon=False)
    with open(play.path + "/bin/lttng-sessiond", "w", encoding="ascii") as file:
        file.write('#!/bin/sh\n(sleep 1; : >"$PLAY/daemon") </dev/null >/dev/null 2>&1 &\nexit 1\n')
    status, _, err = play.run("record", "--output", "o", "--", "true")
    assert status == 0, (status, err)


def full_disk():
    """LTTng only says "Rotation failure" then."""
    play = Play()
    inside = ["unshare", "--map-root-user", "--mount", "sh", "-c",
              'mkdir disk && mount -t tmpfs -o size=64k none disk && exec "$0" "$@"', t.WHYLATE]
    done = subprocess.run(
        [*inside, "record", "--output", "disk/o", "--", "sh", "-c", "cat /dev/zero >disk/fill"], cwd=play.path,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False, timeout=600,
        env={**os.environ, "PLAY": play.path, "PATH": play.path + "/bin:" + os.environ["PATH"], "FAIL": "stop*",
             "SAY": "Rotation failure"})
    said = done.stderr.decode()
    assert done.returncode == 125 and "disk/o is full" in said and "whylate %s/disk/o" % play.path in said, said


def no_room_for_symbols():
    """The disk gets full by /proc/kallsyms, after LTTng has written: said as it is."""
    with open("/proc/kallsyms", encoding="ascii") as file:
        if not any(line.split()[0].strip("0") for line in file):
            return
    play = Play()
    os.mkdir(play.path + "/small")
    small = "mount -t tmpfs -o size=64k none small && exec %s record --output small/o -- true" % t.WHYLATE
    done = subprocess.run(["unshare", "--mount", "sh", "-c", small], cwd=play.path, stderr=subprocess.PIPE, check=False,
                          env={**os.environ, "PLAY": play.path, "PATH": play.path + "/bin:" + os.environ["PATH"]})
    err = done.stderr.decode()
    assert done.returncode == 0 and "No space left" in err and "--kallsyms FILE" in err, err
    assert "shows no addresses" not in err, err


def statuses():
    assert Play().run("record", "--", "sh", "-c", "kill -TERM $$")[0] == 128 + signal.SIGTERM
    status, _, err = Play().run("record", "--", "no-such-program-here")
    assert status == 127 and "no such program" in err, (status, err)
    play = Play()
    status, _, err = play.run("record", FAIL="enable-event*", SAY="Kernel tracer not available")
    assert status == 125 and "lttng-modules-dkms" in err and "modprobe" in err, (status, err)
    assert play.left(True) == [], play.left(True)
    if not os.path.exists("/proc/lttng"):  # nor where it says nothing at all
        status, _, err = Play().run("record", FAIL="enable-event*", SAY="-")
        assert status == 125 and "lttng-modules-dkms" in err, (status, err)


def every_failure():
    """Whatever line fails, up to start: 125, what it said, and nothing is left; not a word more was asked."""
    names = ["create*", "enable-channel*hot", "enable-channel*cold", "enable-event*sched_switch*", "enable-event*--all",
             "add-context*", "add-trigger*", "start*"]
    for fail in names:
        for daemon in (True, False):
            play = Play(daemon)
            status, _, err = play.run("record", "--snapshot", "--trigger", "sched_switch", "--output", "o", "--",
                                      "touch", "ran", FAIL=fail)
            assert status == 125 and "played" in err, (fail, status, err)
            assert play.left(daemon) == [], (fail, daemon, play.left(daemon))
    play = Play()  # at the end the session is destroyed all the same
    status, _, err = play.run("record", "--output", "o", "--", "true", FAIL="stop*")
    assert status == 125 and "played" in err and not os.path.exists(play.path + "/session"), (status, err)


def every_interruption():
    """At each slow step, by each signal: the step ends, nothing is left, and whylate ends by the signal."""
    for slow in ("create*", "enable-channel*hot", "enable-event*--all", "start*"):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            daemon = number != signal.SIGTERM
            play = Play(daemon)
            process = play.start("record", "--output", "o", "--", "touch", "ran", SLOW=slow)
            play.has_said(slow)
            process.send_signal(number)
            play.go()
            process.communicate(timeout=6000)
            assert process.returncode == -number, (slow, number, process.returncode)
            assert play.left(daemon) == [], (slow, number, play.left(daemon))


def interrupted_ending():
    """It ends all the same, and says where the recording is; only the report is left out."""
    for slow, number in (("stop*", signal.SIGINT), ("destroy*", signal.SIGTERM)):
        play = Play(number == signal.SIGINT)
        process = play.start("record", "--analyse", "--output", "o", "--", "sh", "-c", "exit 4", SLOW=slow)
        play.has_said(slow)
        process.send_signal(number)
        play.go()
        out, err = process.communicate(timeout=6000)
        assert process.returncode == 4 and out == b"" and b"recorded " in err, (slow, process.returncode, out, err)
        assert play.left(number == signal.SIGINT) == ["o"], (slow, play.left(number == signal.SIGINT))


def killed():
    """By SIGKILL, which nobody can answer: its daemon ends all the same, and with it the session in a kernel."""
    for slow, deaf in (("create*", ""), ("start*", ""), ("create*", "once")):
        play = Play(False)
        process = play.start("record", "--output", "o", "--", "sleep", "60", SLOW=slow, DEAF=deaf)
        play.has_said(slow)
        assert os.path.exists(play.path + "/daemon")
        process.kill()
        play.go()
        process.communicate(timeout=6000)
        t.until(lambda: not os.path.exists(play.path + "/daemon"), "the daemon ended, %s" % slow)
        assert slow == "create*" or play.left(False) == ["o"], play.left(False)
    dead = subprocess.Popen(["true"])
    dead.wait()
    for name, said in (("whylate-%d" % dead.pid, True), ("whylate-%d" % os.getpid(), False), ("whylate-x", False)):
        play = Play()  # what stays in a daemon that was there before is told of by the next
        with open(play.path + "/session", "w", encoding="ascii") as file:
            file.write(name)
        _, _, err = play.run("record", "--", "true")
        assert ("lttng destroy " + name in err) == said, (name, err)


def daemon_of_others():
    """The daemon that it started stays for the session that somebody made meanwhile, and no longer."""
    play = Play(False)
    with open(play.path + "/to-disk", "w", encoding="ascii") as file:
        file.write("other\n")
    status, _, err = play.run("record", "--output", "o", "--", "true")
    assert status == 0 and "other sessions (other)" in err and "recorded" in err, (status, err)
    time.sleep(1)
    assert os.path.exists(play.path + "/daemon") and not os.path.exists(play.path + "/session"), os.listdir(play.path)
    os.remove(play.path + "/to-disk")
    t.until(lambda: not os.path.exists(play.path + "/daemon"), "the daemon ended")


def until_told():
    """Without a program: Ctrl-C, a termination or the time ends it, as it should be."""
    for number in (signal.SIGINT, signal.SIGTERM):
        play = Play()
        process = play.start("record", "--output", "o")
        told = []
        while not told or b"recording to" not in told[-1]:
            told.append(process.stderr.readline())
            assert told[-1], told
        assert b"being set up" in told[-2] and b"Ctrl-C" in told[-1], told
        process.send_signal(number)
        _, err = process.communicate(timeout=600)
        assert process.returncode == 0 and b"recorded " in err, (process.returncode, err)
        assert play.log()[-1].startswith("destroy")
    begin = time.monotonic()
    assert Play().run("record", "--duration", "300ms")[0] == 0
    assert time.monotonic() - begin > 0.3
    play = Play()  # the time is over before the program: recorded till then, its status all the same
    status, _, err = play.run("record", "--duration", "100ms", "--", "sh", "-c", "sleep 1; exit 5")
    assert status == 5
    assert re.search(r"delay \S+ --thread \d+\n", err), err  # its exit is not in the trace
    play = Play()  # a Ctrl-C is the program's own
    process = play.start("record", "--", "sh", "-c", "trap 'exit 7' INT; echo on; while :; do sleep 0.05; done")
    assert process.stdout.readline() == b"on\n"
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=600)
    assert process.returncode == 7 and play.log()[-1].startswith("destroy"), process.returncode


def flight_recorder():
    play = Play()
    status, _, err = play.run("record", "--snapshot", "--output", "o", "--trigger", "sched_switch prev_prio < 0", "--", "true")
    log = play.log()
    assert "--target" in err and "--from" not in err, err  # the ring may have lost its birth
    assert status == 0 and "--snapshot" in log[1] and all("--overwrite" in x for x in log if "enable-channel" in x), log
    assert all("--num-subbuf=64" in x for x in log if "enable-channel" in x), log  # a snapshot costs three of them
    assert any("--type=tid" in x for x in log), log
    trigger, = [x for x in log if x.startswith("add-trigger")]
    assert "--filter=prev_prio < 0" in trigger and "--action=snapshot-session" in trigger, trigger
    assert [x.split()[0] for x in log[-5:]] == ["remove-trigger", "regenerate", "stop", "snapshot", "destroy"], log[-5:]
    play = Play()
    with open(play.path + "/to-disk", "w", encoding="ascii") as file:
        file.write("whylate-78\n")
    status, _, err = play.run("snapshot")
    assert status == 125 and "record --snapshot" in err, (status, err)
    with open(play.path + "/session", "w", encoding="ascii") as file:
        file.write("other\nwhylate-77\nwhylate-76\n")
    status, _, err = play.run("snapshot")
    assert status == 0 and "out/snapshot-1-20260101-000000-1" in err, (status, err)
    assert play.log()[-4:] == ["regenerate statedump --session=whylate-77", "stop whylate-77",
                               "snapshot record --session=whylate-77", "start whylate-77"], play.log()
    status, _, err = Play().run("snapshot")
    assert status == 125 and "record --snapshot" in err, (status, err)
    # several: lttng lists the newest first (2.13, tried); neither others' nor what is no flight recorder
    play = Play()
    with open(play.path + "/session", "w", encoding="ascii") as file:
        file.write("whylate-9 [active]\nauto-1\nwhylate-8 [inactive snapshot]\nwhylate-7\nwhylate-6\n")
    status, _, err = play.run("snapshot")
    assert status == 0 and "snapshot record --session=whylate-7" in play.log(), (status, err, play.log())


SCRIPT = t.SOURCE + "/share/examples/snapshot-when-slow"


class Watch(Play):
    """A recorder that runs, and the example script on it; each snapshot of it has a recorded one's trace."""

    def __init__(self):
        super().__init__()
        os.symlink(t.WHYLATE, self.path + "/bin/whylate")
        os.mkdir(self.path + "/state")
        with open(self.path + "/session", "w", encoding="ascii") as file:
            file.write("whylate-5\n")

    def watch(self, *arguments, **environment):
        done = subprocess.run([SCRIPT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=600,
                              env={**os.environ, "PLAY": self.path, "PATH": self.path + "/bin:" + os.environ["PATH"],
                                   "XDG_RUNTIME_DIR": self.path + "/state", "TRACE": t.trace("snapshot"), **environment})
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def written(self):
        try:
            return sorted(int(name.split("-")[-1]) for name in os.listdir(self.path + "/out") if name[0] != ".")
        except FileNotFoundError:
            return []


def watches():
    """What is slow, or fails, is written out with a report; what is neither costs nothing."""
    play = Watch()
    assert play.watch("5000", "true") == (0, "", "") and play.log() == [], play.log()
    status, out, err = play.watch("200", "sh", "-c", "sleep 0.3; exit 7")
    assert status == 7 and err == "" and play.written() == [1], (status, out, err)
    took = int(re.search(r"sh took (\d+) ms \(limit 200\) and ended with 7", out).group(1))
    assert 290 <= took < 30000, took
    with open(re.search(r" (/\S+/report.txt)$", out, re.M).group(1), encoding="utf-8") as file:
        assert "Waiting, by what it was for" in file.read()
    status, out, err = play.watch("0", "true")  # soon after: what is there says it
    assert (status, out, err) == (0, "", "") and play.written() == [1]
    status, out, err = play.watch("5000", "false", PAUSE="0")
    assert status == 1 and "false took" in out and play.written() == [1, 2], (status, out, err)


def watches_for_long():
    """Of many snapshots the newest stay, and what lies beside them is nobody's to remove."""
    play = Watch()
    os.makedirs(play.path + "/out/snapshot-of-mine")
    open(play.path + "/out/snapshot-1-1-1", "w", encoding="ascii").close()
    for k in range(4):
        status, out, err = play.watch("0", "true", PAUSE="0", KEEP="2")
        assert status == 0 and err == "", (k, status, out, err)
        os.utime(play.path + "/out/snapshot-1-20260101-000000-%d" % (k + 1), (k + 1000, k + 1000))  # as if long ago
    names = set(os.listdir(play.path + "/out")) - {".number"}
    assert names == {"snapshot-of-mine", "snapshot-1-1-1", "snapshot-1-20260101-000000-3",
                     "snapshot-1-20260101-000000-4"}, names


def watch_fails():
    for arguments in ((), ("5",), ("fast", "true"), ("-1", "true")):
        status, _, err = Watch().watch(*arguments)
        assert status == 125 and "usage" in err, (arguments, status, err)
    assert Watch().watch("0", "true", KEEP="many")[0] == 125
    play = Watch()
    os.remove(play.path + "/session")
    status, out, err = play.watch("0", "true")
    assert status == 125 and "no flight recorder" in err and out == "", (status, out, err)
    status, out, err = play.watch("0", "true", SESSION="other", FAIL="snapshot record*")
    assert status == 125 and "played" in err, (status, err)
    play = Watch()  # while one writes, another goes its way
    with open(play.path + "/state/whylate-snapshot", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert play.watch("0", "false") == (1, "", "") and play.log() == []
    assert play.watch("0", "false")[0] == 1 and play.written() == [1]


def triggers():
    """A trigger that cannot work is refused, once, and nothing is left; what LTTng says of a filter that it does not
    take is lttng-tools 2.13's."""
    def tried(trigger, **environment):
        play = Play(daemon=False)
        done = play.run("record", "--snapshot", "--trigger", trigger, "--output", "o", "--", "touch", "ran", **environment)
        return play, *done

    for trigger in ("", " x > 1", "(x)", "-a"):
        play, status, _, err = tried(trigger)
        assert status == 2 and err.count("--trigger") == 1 and play.log() == [], (trigger, status, err)
    for trigger in ("sched_swich", "sched_swich prev_prio < 0", "block_*"):
        play, status, _, err = tried(trigger)
        assert status == 125 and "no event of that name" in err and err.count("\n") == 2, (trigger, err)
        assert play.log() == ["list --kernel"] and play.left(False) == [], (trigger, play.log(), play.left(False))
    play, status, _, err = tried("sched_switch prev_prio <", FAIL="add-trigger*",
                                 SAY="Failed to register trigger: Invalid filter bytecode.")
    assert status == 125 and "does not take this filter" in err and err.count("\n") == 2, (status, err)
    assert play.left(False) == [] and not any(line.startswith("start") for line in play.log()), play.log()
    for trigger in ("sched_switch", "sched_*", "sched_switch ", 'sched_process_exec comm == "a b"'):
        play, status, _, err = tried(trigger)
        assert status == 0 and os.path.exists(play.path + "/ran"), (trigger, status, err)
        line, = [line for line in play.log() if line.startswith("add-trigger")]
        assert ("--filter=" in line) == ("comm" in trigger), line
    # no list, or one of another kind: LTTng itself decides
    assert tried("sched_swich", FAIL="list --kernel")[1] == 0


def refusals():
    for arguments, word in ((("record", "--preset", "huge"), "minimal"), (("record", "--duration", "soon"), "duration"),
                            (("record", "sleep"), "record -- sleep"), (("record", "--"), "no program"),
                            (("record", "--functions", "a b"), "kernel function"), (("record", "--trigger", "x"), "--snapshot"),
                            (("record", "--nonsense"), "--nonsense"), (("record", "--output"), "needs a value"),
                            (("record", "--snapshot=1"), "no value"), (("snapshot", "x"), "--session"),
                            (("snapshot", "--preset", "full"), "--preset"), (("record", "--session", "a/b"), "letters")):
        play = Play()
        status, _, err = play.run(*arguments)
        assert status == 2 and word in err and play.log() == [], (arguments, status, err)
    play = Play()
    os.mkdir(play.path + "/full")
    open(play.path + "/full/x", "w", encoding="ascii").close()
    status, _, err = play.run("record", "--output", "full")
    assert status == 125 and "not empty" in err and os.listdir(play.path + "/full") == ["x"], (status, err)
    empty = tempfile.mkdtemp()
    status, _, err = Play().run("record", PATH=empty)
    assert status == 125 and "lttng-tools" in err and "being set up" not in err, (status, err)


def dry_run():
    """What it shows is what it does."""
    arguments = ["record", "--preset", "full", "--callstacks", "--network", "--functions", "vfs_read,submit_bio",
                 "--session", "mine", "--output", "o"]
    play = Play()
    status, out, _ = play.run(*arguments, "--dry-run", "--", "true")
    assert status == 0 and play.log() == []
    shown = [shlex.split(line) for line in out.splitlines()]
    play.run(*arguments, "--", "true")
    done = [line for line in play.log()]
    assert [" ".join(line[1:]) for line in shown if line[0] == "lttng"] == done
    assert ["true"] in shown
    assert any("--function=vfs_read vfs_read" in line for line in done)
    assert any("--channel=switches --type=callstack-kernel" in line for line in done)


def guests():
    """--guests: KVM's events besides, and what to run in each guest is shown; without it neither."""
    play = Play()
    status, out, err = play.run("record", "--guests", "--preset", "minimal", "--duration", "2s", "--dry-run")
    assert status == 0 and re.search(r"enable-event --kernel .*--channel=hot .*kvm_\*", out), out
    assert "whylate record --preset minimal --duration 2000ms --output GUEST" in err and "whylate delay " in err, err
    status, out, err = play.run("record", "--preset", "full", "--dry-run")
    assert status == 0 and "kvm" not in out and "guest" not in err, (out, err)
    status, out, _ = play.run("record", "--guests", "--tracer", "perf", "--dry-run")
    assert status == 0 and "kvm:kvm_e" in out or not os.access("/sys/kernel/tracing/events", os.R_OK), out


def in_guests():
    """--guests=NAME=COMMAND: the guest records from before its host does until after it, by the line that its COMMAND gets,
    and its trace stands below the host's, which reports then know as its own. The guest is played: a shell with other
    programs. What it wrote there is removed."""
    host, guest = Play(), Play()
    os.symlink(t.WHYLATE, guest.path + "/bin/whylate")
    os.mkdir(guest.path + "/tmp")
    pair = t.trace("guest-host")
    there = "env PLAY=%s TMPDIR=%s/tmp PATH=%s/bin:$PATH RECORDED=%s sh -c" % ((guest.path,) * 3 + (pair + "/guest/guest-trace",))
    status, out, err = host.run("record", "--guests=web=" + there, "--preset", "minimal", "--network", "--output", "o", "--",
                                "sh", "-c", "cat %s/log; exit 3" % guest.path, RECORDED=pair + "/host")
    assert status == 3, (status, out, err)
    asked = out.splitlines()  # of the guest's lttng, when the program ran
    assert asked[-1].startswith(("start ", "--no-sessiond")) and not any(line.startswith("stop ") for line in asked), out
    assert any("--channel=hot" in line and "net_" in line for line in asked) and not any("kvm" in line for line in asked), out
    assert guest.log()[-1].startswith("destroy ") and os.listdir(guest.path + "/tmp") == [], guest.log()
    assert {"kernel", "hostname"} <= set(os.listdir(host.path + "/o/guests/web")), err
    with open("/proc/sys/kernel/hostname", encoding="utf-8") as file:
        assert "--host " + shlex.quote(file.read().strip()) in err, err
    report = t.report("delay", host.path + "/o", "--thread", "gapp", "--host", "guest")
    assert [h["guest"]["machine"]["pid"] for h in report["hosts"] if "guest" in h] == [265], report["hosts"]
    # one that does not get there: nothing is recorded, and the other one's ends
    host = Play()
    status, _, err = host.run("record", "--guests=web=" + there, "--guests=db=echo hello; exit 7; :", "--output", "o", "--", "true")
    assert status == 125 and "guest db does not record: 'echo hello; exit 7; :' ended before it did, with status 7" in err, (status, err)
    assert host.log() == [] and host.left(True) == [] and os.listdir(guest.path + "/tmp") == [], (host.log(), host.left(True))
    # one that breaks off: said, and the host's is whole
    status, _, err = host.run("record", "--guests=web=echo whylate: records; cat; echo junk; exit 9; :", "--output", "o", "--", "true")
    assert status == 125 and "guest web: its trace is not whole" in err and "recorded %s/o" % host.path in err, (status, err)
    status, out, err = host.run("record", "--guests=web=ssh web", "--dry-run", "--duration", "2s")
    assert status == 0 and shlex.split(out.splitlines()[0])[:2] == ["ssh", "web"] and "in each guest" not in err, (out, err)
    for wrong, said in (("web", "NAME=COMMAND"), ("=ssh", "NAME=COMMAND"), ("..=ssh", "NAME=COMMAND"), ("a/b=ssh", "NAME=COMMAND")):
        status, _, err = host.run("record", "--guests=" + wrong, "--dry-run")
        assert status == 2 and said in err, (wrong, err)
    status, _, err = host.run("record", "--guests=a=b", "--guests=a=c", "--dry-run")
    assert status == 2 and "twice" in err, err
    status, _, err = host.run("record", "--guests=a=b", "--snapshot")
    assert status == 2 and "--snapshot" in err, err


def samples():
    """--samples: timers' expiries and switches with both stacks, in channels of their own; what processes have mapped
    beside the trace; what it costs is said. A rate is a clock's, which needs root."""
    play = Play()
    status, _, err = play.run("record", "--samples", "--output", "o", "--", "sleep", "0.1")
    log = play.log()
    assert status == 0 and "samples a second" in err and "MB a minute" in err, err
    contexts = {tuple(re.search(r"--channel=(\w+) --type=(.*)", line).groups()) for line in log if line.startswith("add-context")}
    assert contexts == {(c, "callstack-" + s) for c in ("switches", "ticks") for s in ("user", "kernel")}, contexts
    ticks = [line for line in log if "--channel=ticks" in line and line.startswith("enable-event")]
    assert len(ticks) == 1 and ticks[0].endswith("--filter=$ctx.tid != 0 timer_hrtimer_expire_entry"), ticks
    with open(play.path + "/o/maps", encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert lines[0].startswith("# whylate maps 1:") and "process" == lines[1].split("\t")[0], lines[:2]
    assert any("/sleep" in line for line in lines), "the program itself"
    assert all("r-xp" in line or " 00000000 " in line for line in lines[1:] if not line.startswith("process\t"))
    status, out, _ = Play().run("record", "--samples=997", "--preset", "minimal", "--dry-run")
    assert status == 0 and "997 times a second" in out and "timer_hrtimer_expire_*" in out, out
    for value in ("5", "x", "20000"):
        status, _, err = Play().run("record", "--samples=" + value, "--dry-run")
        assert status == 2 and "10 to 10000" in err, err
    status, out, _ = Play().run("record", "--dry-run")
    assert "callstack" not in out and "ticks" not in out  # unasked nothing of it


def fulfils_needs():
    """Of the events that the program reads, what each preset records, and what the lines in whylate(1) do."""
    def patterns(preset):
        _, out, _ = Play().run("record", "--preset", preset, "--dry-run")
        return enabled(out)

    def enabled(out):
        found = []
        for line in out.splitlines():
            words = shlex.split(line)
            if words[:2] == ["lttng", "enable-event"]:
                found += ["system calls"] if "--syscall" in words else words[-1].split(",")
        return found

    # the table of events that the program reads; of several names of one kind the first is that of today's tracers
    with open(t.SOURCE + "/src/event/kinds.c", encoding="utf-8") as file:
        rows = re.findall(r'^\t\[EV_\w+\] =\s*\{\s*"([^"]+)"', file.read(), re.M)
    needs = [row.split()[0] for row in rows if not row.startswith("lttng_ust_") and row not in ("exit_syscall", "perf_sample")]
    needs += [name for row in rows for name in row.split() if name.startswith(("mm_vmscan_", "block_bio_"))]
    needs += ["system calls", "x86_irq_vectors_local_timer_entry", "x86_exceptions_page_fault_user",
              "x86_exceptions_page_fault_kernel"]
    # of a host of virtual machines only, and many: --guests
    assert {"kvm_x86_entry", "kvm_x86_exit"} <= set(needs)
    # what other tracers' probes tell, which LTTng's events of system calls have
    needs = [need for need in needs if not need.startswith(("kvm_", "call_"))]
    assert len(needs) > 60 and {"sched_switch", "net_dev_xmit", "lttng_statedump_interrupt"} <= set(needs), needs
    # for whom a worker writes back; workqueue_* says it too
    full_only = {"writeback_queue", "writeback_exec", "writeback_pages_written"}
    normal, full, minimal = patterns("normal"), patterns("full"), patterns("minimal")
    for need in needs:
        assert any(fnmatch.fnmatch(need, p) for p in normal) == (need not in full_only), need
        assert any(fnmatch.fnmatch(need, p) for p in full), need
    assert set(minimal) < set(normal) < set(full)
    with open(t.SOURCE + "/man/whylate.1", encoding="utf-8") as file:
        page = file.read().replace("\\-", "-").replace("\\(aq", "'").split("Recording a trace that tells enough")[1].splitlines()
    by_hand = enabled("\n".join(line for line in page if line.startswith("lttng ")))
    assert len(by_hand) > 10, by_hand
    for need in needs:
        assert need in full_only or any(fnmatch.fnmatch(need, p) for p in by_hand), need


tap.case("records while a program runs", records_a_program)
tap.case("the suggested line has all words", words)
tap.case("a snapshot where nothing records", snapshot_of_nothing)
tap.case("two begin at once", two_at_once)
tap.case("a full disk", full_disk)
tap.case("a disk that the symbols fill", no_room_for_symbols)
tap.case("statuses", statuses)
tap.case("a failure at each step leaves nothing", every_failure)
tap.case("an interruption at each step leaves nothing", every_interruption)
tap.case("an interruption while it ends", interrupted_ending)
tap.case("killed, it leaves no daemon", killed)
tap.case("its daemon stays for others", daemon_of_others)
tap.case("until Ctrl-C, or a time", until_told)
tap.case("flight recorder and snapshot", flight_recorder)
tap.case("snapshot-when-slow: what is slow or fails", watches)
tap.case("snapshot-when-slow: what is kept", watches_for_long)
tap.case("snapshot-when-slow: failures", watch_fails)
tap.case("triggers that cannot work", triggers)
tap.case("refusals", refusals)
tap.case("--dry-run shows what is done", dry_run)
tap.case("--guests", guests)
tap.case("--guests=NAME=COMMAND", in_guests)
tap.case("--samples", samples)
tap.case("the presets record what the analyses need", fulfils_needs)
sys.exit(tap.done())
