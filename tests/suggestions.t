# SPDX-License-Identifier: MIT
"""Every command that a report suggests can be pasted: on each shipped trace it succeeds and answers what was meant.
Names with spaces and quotes, days apart and several hosts keep it so."""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from whylate_test import FAST, SANITIZED, SOURCE, WHYLATE, Tap, output, report, run, sample, trace

ALL = sorted({entry.split(".")[0] for entry in os.listdir(SOURCE + "/traces")} - {"README"})


def suggested(text):
    """The commands in a report, each in one line; no end of a sentence in brackets that goes on there."""
    lines = re.sub(r" \\\n +", " ", text.decode()).split("\n")
    return [line.strip() for line in lines if re.match(r" *whylate ", line) and line.count("(") == line.count(")")]


def pasted(command, *more):
    """What a shell makes of it; whylate must succeed."""
    with tempfile.TemporaryDirectory() as place:
        os.symlink(WHYLATE, place + "/whylate")
        env = dict(os.environ, PATH=place + ":" + os.environ["PATH"])
        done = subprocess.run(["sh", "-c", " ".join((command,) + more)], env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=600)
    # lost events are told of with status 0
    assert done.returncode == 0, "%s: status %d, %s" % (command, done.returncode, done.stderr.decode())
    return done.stdout


def meant(overview):
    """The (tid, begin, end) that an overview speaks of, from its JSON."""
    found = []
    for row in overview["waiting"]:
        if row["example"]:
            found.append((row["example"]["tid"], row["example"]["begin"], row["example"]["end"]))
    for row in overview["waits"]:
        found.append((row["tid"], row["longest_begin"], row["longest_begin"] + row["longest_ns"]))
    return found


def answers(command, spoken_of, kept):
    """The command's JSON is about what it says. What it reads is kept for the next one: the report is the same, which
    cache.t holds against both."""
    words = shlex.split(command)
    if words[1] == "export":
        return
    answer = json.loads(pasted(command, "--format", "json", "--cache", kept))
    if words[1] == "requests":
        assert answer["requests"], command + ": no request"
    if words[1] == "profile" and "--operation" in words:
        name = words[words.index("--operation") + 1]
        assert [row["operation"] for row in answer["profiles"]] == [name], command
        assert name != "syscall:ioctl" or b"sandboxd" in output("overview", words[2]), "the tracer's own"
    if words[1] == "explain":
        assert answer["finding"]["id"] == words[2], command
    if words[1] == "functions":
        assert answer["functions"] or answer["threads"], command
    if words[1] != "delay":
        return
    assert answer["threads"] or answer["target"], command
    if "--thread" in words:
        tid = int(words[words.index("--thread") + 1])
        assert tid in [row["tid"] for row in answer["threads"]], command
    if "--from" not in words and "--to" not in words:
        return
    begin, end = answer["window"]["begin"], answer["window"]["end"]
    fits = [(a, b) for who, a, b in spoken_of if who == tid and begin <= a and b <= end
            and end - begin <= 1.11 * (b - a) + 2]
    assert fits, "%s: holds nothing that was meant" % command


def some_of_each(commands):
    """At most three that differ in numbers and names only: the first, the middle one and the last."""
    shapes = {}
    for command in commands:
        shape = " ".join(word for word in shlex.split(command) if word.startswith("--") or word.isalpha())
        shapes.setdefault(shape, []).append(command)
    return [one for like in shapes.values() for one in ([like[0], like[len(like) // 2], like[-1]] if len(like) > 3 else like)]


def check_overview(name):
    """The overview is the sanitized build's, so that every recording is read by it once, but for two that take long with
    nothing in them that others have not; what it suggests is asked of this."""
    place = trace(name)
    done = run("overview", "--full", "--quiet", place, program=FAST if name in ("zero-read", "guest-pair") else SANITIZED + "/whylate")
    if done.returncode == 3:  # it has user space's events only
        return
    assert done.returncode == 0, (done.returncode, done.stderr.decode(errors="replace"))
    text = done.stdout
    commands = suggested(text)
    assert commands or b"Next" not in text
    assert not [c for c in commands if "TRACE" in c], commands
    spoken_of = meant(report("overview", "--limit", "0", "--quiet", place))
    with tempfile.TemporaryDirectory() as kept:
        for command in some_of_each(sorted(set(commands))):
            answers(command, spoken_of, kept)


def check_others(name, *arguments):
    commands = suggested(output(*arguments, "--quiet", trace(name)))
    assert commands, "none"
    for command in sorted(set(commands))[:12]:
        assert "TRACE" not in command
        pasted(command, ">/dev/null")


def check_name():
    """A name that a shell would take apart."""
    with tempfile.TemporaryDirectory() as place:
        odd = place + "/it's my $trace"
        shutil.copytree(trace("futex"), odd)
        commands = suggested(output("overview", "--full", odd))
        assert len(commands) > 3
        for command in commands:
            assert shlex.split(command).count(odd) == 1, command
            pasted(command, ">/dev/null")


def check_times():
    """Readable ones, and no more digits than it takes."""
    text = output("overview", "--full", trace("futex")).decode()
    assert not re.search(r"--(from|to) \d+ns", text)
    froms = re.findall(r"--from (\S+)", text)
    assert froms and all(re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3}(\d{3}){0,2}", t) for t in froms), froms


def check_zone():
    """--utc is given again; without, times are of the zone that the report has."""
    place = trace("futex")
    env = dict(os.environ, TZ="Asia/Kathmandu")
    local = suggested(run("overview", "--full", place, env=env).stdout)
    world = suggested(run("overview", "--full", "--utc", place, env=env).stdout)
    assert [c for c in local if "--from 15:01:56" in c] and not [c for c in local if "--utc" in c], local
    assert [c for c in world if "--from 09:16:56" in c] and all(c.endswith(" --utc") for c in world), world


def check_requests(name, any_there):
    there = [c for c in suggested(output("overview", "--full", trace(name))) if c.startswith("whylate requests ")]
    assert bool(there) == any_there, there


def check_limit():
    """What exceeded a limit is told with the command that shows it; its status says so too."""
    done = run("profile", "--fail-if", "p99(syscall:pread64) > 1ms", trace("disk-read"))
    commands = suggested(done.stdout.split(b"\n\n")[0])
    assert done.returncode == 1 and len(commands) == 1, commands
    pasted(commands[0], ">/dev/null")


def check_hidden():
    """The trace's name may tell whose it is."""
    text = output("overview", "--full", "--anonymise", trace("futex"))
    assert b"futex --" not in text and trace("futex").encode() not in text
    assert all(" TRACE" in c for c in suggested(text))


tap = Tap()
for each in sample(ALL, 10):
    tap.case("overview of %s: each command answers" % each, check_overview, each)
tap.case("web-mixed has requests", check_requests, "web-mixed", True)
tap.case("futex has none", check_requests, "futex", False)
tap.case("profile", check_others, "futex", "profile")
tap.case("requests", check_others, "web-mixed", "requests")
tap.case("requests, asked in another way", check_others, "web-mixed", "requests", "--preset", "client")
tap.case("a limit that is exceeded", check_limit)
tap.case("a trace with an odd name", check_name)
tap.case("times can be read", check_times)
tap.case("times of day as the report's", check_zone)
tap.case("--anonymise hides the trace's name", check_hidden)
sys.exit(tap.done())
