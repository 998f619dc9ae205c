# SPDX-License-Identifier: MIT
"""What is kept of a trace for further questions: the answers are those of the trace, byte for byte; what is stale,
damaged or not the user's own is not believed; the directory stays within its bounds.

Whether an answer came from what was kept is seen from outside: a file that is used keeps its inode and has its time of
change set; one that is written is a new inode."""
import functools
import os
import re
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

from whylate_test import CACHE, SOURCE, TRACES, WHYLATE, Tap, run, sample, trace

TARGET = "sched_process_exec filename=*/autostart"  # of startup-chain, as in sameness.t
random.seed(6)


SHIPPED = trace(*TRACES)


def images(directory):
    """{path: (inode, time of change)} of what is kept."""
    found = {}
    for name in os.listdir(directory):
        status = os.stat(os.path.join(directory, name))
        found[os.path.join(directory, name)] = (status.st_ino, status.st_mtime_ns)
    return found


def image(directory):
    """The one file that is kept."""
    names = list(images(directory))
    assert len(names) == 1 and names[0].endswith(".image"), names
    return names[0]


def answer(*arguments, **keywords):
    """Status, standard output, and standard error without what took how long (--verbose)."""
    done = run(*arguments, **keywords)
    return done.returncode, done.stdout, re.sub(rb"^whylate: reading \d+ events took .*\n", b"", done.stderr, flags=re.M)


KNOWN = {}


def off(*arguments, fresh=False):
    """The answer of a recorded trace is known the second time; `fresh`: it has changed since."""
    if fresh or arguments not in KNOWN:
        KNOWN[arguments] = answer(*arguments, "--cache", "off")
    return KNOWN[arguments]


def how(directory, before):
    """How the last run came to its answer: what was kept changed from `before` to what is there now."""
    after = images(directory)
    if after == before:
        return "neither"
    if {p: i for p, (i, _) in after.items()} == {p: i for p, (i, _) in before.items()}:
        return "used"
    return "written"


def asked(directory, expected, *arguments, **keywords):
    """The answer is that without a cache, and came as `expected`."""
    time.sleep(0.02)  # the file system's clock has ticks, of 10 ms at most
    before = images(directory)
    got = answer(*arguments, "--cache", directory, **keywords)
    came = how(directory, before)
    assert came == expected, "%s: %s instead of %s" % (" ".join(arguments), came, expected)
    wanted = off(*arguments, fresh=not arguments[-1] in SHIPPED)
    assert got == wanted, "%s: with a cache (%s) status %d, %d and %d bytes; without %d, %d and %d" % (
        " ".join(arguments), came, got[0], len(got[1]), len(got[2]), wanted[0], len(wanted[1]), len(wanted[2]))
    return got


def copy_of(name, inside):
    """A copy of a recorded trace with its times, which are of long ago."""
    place = os.path.join(inside, name)
    shutil.copytree(trace(name), place)
    return place


def streams(place):
    """Its stream files, the largest first."""
    found = [os.path.join(folder, n) for folder, _, names in os.walk(place) for n in names
             if n != "metadata" and not n.endswith(".idx") and n != "kallsyms"]
    return sorted(found, key=lambda path: (-os.path.getsize(path), path))


def set_back(path):
    os.utime(path, ns=(1600000000 * 10**9 + 1, 1600000000 * 10**9 + 1))


def in_directory(function):
    """Runs a case with a new directory for what is kept, and one for traces."""
    @functools.wraps(function)
    def case(*arguments):
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            directory = os.path.join(scratch, "kept")
            os.mkdir(directory, 0o700)
            function(directory, scratch, *arguments)
    return case


# --- the same answers -------------------------------------------------------------------------------------------

@in_directory
def every_command(directory, _, *places):
    whole = ["--thread", "all", "--format", "json"]
    asked(directory, "written", "delay", *whole, *places)
    asked(directory, "used", "delay", *whole, *places)
    asked(directory, "used", "overview", "--format", "json", "--limit", "0", *places)
    asked(directory, "written", "profile", "--operation", "*", "--format", "json", *places)
    asked(directory, "used", "profile", "--operation", "*", "--format", "json", *places)
    asked(directory, "written", "functions", "--format", "json", *places)
    asked(directory, "used", "functions", "--limit", "0", *places)
    asked(directory, "used", "delay", "--thread", "all", "--verbose", *places)
    asked(directory, "used", "overview", "--format", "json", "--limit", "0", *places)


@in_directory
def profiles(directory, _):
    """What was recorded for one profile is not taken for another, of fewer operations; resources are recorded with what
    is known of each operation."""
    place = trace("lock-lapse")
    asked(directory, "written", "profile", "--operation", "*", place)
    asked(directory, "written", "profile", place)
    asked(directory, "used", "profile", "--thread", "writer-*", place)
    asked(directory, "used", "profile", "--per", "resource", place)
    asked(directory, "used", "profile", "--resource", "file:*", place)
    asked(directory, "used", "profile", place)
    asked(directory, "written", "profile", "--operation", "blocked:*", place)
    asked(directory, "used", "profile", "--operation", "blocked:*", place)


@in_directory
def windows(directory, _):
    place = trace("startup-chain")
    asked(directory, "written", "delay", "--thread", "xinit", place)
    for arguments in (["--thread", "Xorg"], ["--thread", "xinit", "--from", "+100ms", "--to", "+800ms"],
                      ["--process", "xinit", "--format", "csv"], ["--thread", "xinit", "--path", "--last", "200ms"],
                      ["--thread", "nobody"], ["--thread", "xinit", "--from", "+99999s"],
                      ["--thread", "xinit", "--host", "nowhere"]):
        asked(directory, "used", "delay", *arguments, place)


@in_directory
def events(directory, _):
    """Events that options name are looked for in the trace; errors about them are the same."""
    place = trace("startup-chain")
    asked(directory, "written", "delay", "--target", TARGET, place)
    for arguments in (["--target", TARGET], ["--target", "sched_process_exec nth=last"],
                      ["--target", "sched_wakeup comm=Xorg nth=7"], ["--target", "sched_process_exec nth=2"],
                      ["--thread", "Xorg", "--from", "sched_process_fork", "--to", "sched_switch next_comm=Xorg nth=50"],
                      ["--target", "syscall_entry_openat filename=*.so*", "--format", "json"],
                      ["--target", "sched_switch $ctx.tid=1"], ["--target", "sched_process_exec nth=4000"],
                      ["--target", "sched_process_exec colour=red"], ["--target", "sched_proces_exec"],
                      ["--target", "sched_process_exec filename=/nowhere"]):
        asked(directory, "used", "delay", *arguments, place)
    # so many reads are not noted one by one (PLACES_MAX), but looked for
    place = trace("zero-read")
    asked(directory, "written", "delay", "--thread", "dd", place)
    for arguments in sample((["--target", "syscall_entry_read nth=100000"], ["--target", "syscall_*_read count=512 nth=70000"],
                             ["--target", "syscall_entry_read count=123456"], ["--target", "syscall_exit_* ret=0 nth=last"])):
        asked(directory, "used", "delay", "--limit", "3", *arguments, place)


@in_directory
def hosts(directory, _):
    places = trace("two-hosts-client", "two-hosts-server")
    asked(directory, "written", "delay", "--thread", "all", *places)
    asked(directory, "used", "delay", "--target", "sched_switch nth=900", *places)
    asked(directory, "used", "delay", "--target", "sched_switch nth=last", *places)
    asked(directory, "used", "overview", "--format", "json", *places)
    asked(directory, "written", "overview", *reversed(places))  # the first host's clock counts
    shifted = ["--clock-offset", "+3s"]
    asked(directory, "written", "overview", *shifted, *places)
    asked(directory, "used", "delay", "--target", "sched_switch nth=900", *shifted, *places)
    asked(directory, "neither", "overview", "--clock-offset", "nowhere=3s", *places)


@in_directory
def damaged(directory, scratch):
    """A damaged trace is said to be so, and where, each time; also when it has been moved."""
    place = copy_of("futex", scratch)
    for path in streams(place)[:2]:
        with open(path, "r+b") as file:
            file.truncate(os.path.getsize(path) * 2 // 3)
        set_back(path)
    first = asked(directory, "written", "overview", "--format", "json", place)
    assert first[0] == 4, "status %d" % first[0]
    assert asked(directory, "used", "overview", "--format", "json", place) == first
    for name in ("sched_switch", "sched_wakeup", "syscall_entry_futex"):
        asked(directory, "used", "delay", "--target", name + " nth=20", place)
        asked(directory, "used", "delay", "--target", name + " nth=last", place)
    os.rename(place, place + "-moved")
    again = asked(directory, "used", "overview", "--full", place + "-moved")
    assert again[0] == 4 and b"futex-moved/" in again[1], again[1][-2000:]


@in_directory
def moved(directory, scratch):
    """What lies beside the trace is found where the trace is now."""
    place = copy_of("callstack", scratch)
    question = ["profile", "--operation", "syscall:read"]
    first = asked(directory, "written", *question, place)
    os.rename(place, place + "-moved")
    again = asked(directory, "used", *question, place + "-moved")
    # the commands that are suggested name the place, and are folded by its length
    one, other = ("".join(x.decode().replace("\\", "").split()).replace("-moved", "") for x in (first[1], again[1]))
    assert b"filemap_get_pages" in again[1] and again[0] == first[0] and one == other


@in_directory
def mistaken(directory, _):
    """A trace that was read for a question that could not be answered need not be read again."""
    place = trace("futex")
    assert asked(directory, "written", "delay", "--thread", "nobody", place)[0] == 2
    asked(directory, "used", "delay", "--thread", "all", place)


tap = Tap()
# these have nothing that the others lack, and take long: all of them with WHYLATE_LONG=1
LARGE = () if os.environ.get("WHYLATE_LONG") else ("zero-read", "lock-lapse", "fork4")
for name in sample((n for n in TRACES if n not in LARGE), 8):
    tap.case("%s: the same bytes read, kept and without" % name, every_command, trace(name))
for case in (profiles, windows, events, hosts, damaged, moved, mistaken):
    tap.case("the same bytes: " + case.__name__, case)


# --- stale ----------------------------------------------------------------------------------------------------------

@in_directory
def changed(directory, scratch, what, change):
    place = copy_of("futex", scratch)
    asked(directory, "written", "overview", place)
    change(streams(place)[0], os.path.join(os.path.dirname(streams(place)[0]), "metadata"))
    asked(directory, "written", "overview", place)
    assert len(images(directory)) == 2, what


def touch(stream, _):
    status = os.stat(stream)
    os.utime(stream, ns=(status.st_atime_ns, status.st_mtime_ns + 1))


def cut(stream, _):
    status = os.stat(stream)
    os.truncate(stream, status.st_size - 4096)
    os.utime(stream, ns=(status.st_atime_ns, status.st_mtime_ns))


def rename(stream, _):
    os.rename(stream, stream + "x")


def remove(stream, _):
    os.unlink(stream)


def other_name(_, metadata):
    with open(metadata, "rb") as file:
        text = file.read()
    at = text.index(b'hostname = "') + len(b'hostname = "')
    with open(metadata, "wb") as file:
        file.write(text[:at] + b"X" + text[at + 1:])
    set_back(metadata)


for change in (touch, cut, rename, remove, other_name):
    tap.case("a trace that was changed is read again: " + change.__name__, changed, change.__name__, change)


@in_directory
def being_written(directory, scratch):
    """What was changed just now may change again, unseen by the file system's clock."""
    place = copy_of("futex", scratch)
    os.utime(streams(place)[0])
    asked(directory, "neither", "overview", place)
    set_back(streams(place)[0])
    asked(directory, "written", "overview", place)


tap.case("a trace that was changed a moment ago is not kept", being_written)


@in_directory
def other_program(directory, scratch):
    """Another program of the same name and version may see a trace otherwise."""
    place, program = trace("futex"), os.path.join(scratch, "whylate")
    shutil.copy2(os.path.realpath(WHYLATE), program)
    set_back(program)
    asked(directory, "written", "overview", place)
    subprocess.run([program, "overview", "--cache", directory, place], check=True, stdout=subprocess.DEVNULL)
    assert len(images(directory)) == 2, images(directory)
    asked(directory, "used", "overview", place)


tap.case("what another program kept is not used", other_program)


# --- damaged and hostile ----------------------------------------------------------------------------------------------

@in_directory
def spoiled(directory, _, what, spoil, rounds):
    place = trace("hang")
    wanted = off("overview", "--format", "json", place)
    asked(directory, "written", "overview", "--format", "json", place)
    path = image(directory)
    with open(path, "rb") as file:
        sound = file.read()
    for number in range(rounds):
        spoil(path, sound, number)
        before = images(directory)
        got = answer("overview", "--format", "json", "--cache", directory, place)
        assert got == wanted, "%s, round %d: %s" % (what, number, got[2].decode(errors="replace")[-2000:])
        assert how(directory, before) == "written", "%s, round %d: used" % (what, number)
        with open(path, "rb") as file:
            assert len(file.read()) == len(sound), "it was not replaced"


def rewrite(path, data):
    with open(path, "r+b") as file:
        file.truncate(0)
        file.write(data)


HEAD, ALIGN = 192, 65536  # the head's room has its end unused: image_file.h


def flip(path, sound, _):
    place = random.choice([random.randrange(HEAD - 8), random.randrange(ALIGN, len(sound))])
    data = bytearray(sound)
    data[place] ^= 1 << random.randrange(8)
    rewrite(path, bytes(data))


def flip_head(path, sound, number):
    data = bytearray(sound)
    data[number * 4 + random.randrange(4)] ^= random.randrange(1, 256)
    rewrite(path, bytes(data))


def shorten(path, sound, number):
    rewrite(path, sound[:[0, 1, HEAD, ALIGN, len(sound) - 1][number] if number < 5 else random.randrange(len(sound))])


def lengthen(path, sound, number):
    rewrite(path, sound + bytes(1 << number))


def swap(path, sound, _):
    """Two pieces change places."""
    size = 64
    a, b = sorted(random.sample(range(ALIGN // size, len(sound) // size), 2))
    data = bytearray(sound)
    data[a * size:a * size + size], data[b * size:b * size + size] = (
        sound[b * size:b * size + size], sound[a * size:a * size + size])
    if bytes(data) == sound:
        return flip(path, sound, 0)
    return rewrite(path, bytes(data))


for spoil, rounds in ((flip, 40), (flip_head, 46), (shorten, 12), (lengthen, 8), (swap, 10)):
    tap.case("a damaged file is not used, but replaced: %s" % spoil.__name__, spoiled, spoil.__name__, spoil, rounds)


@in_directory
def not_own(directory, _):
    """What somebody else may have written is not read; what is no file is let be, or replaced."""
    place = trace("hang")
    asked(directory, "written", "overview", place)
    path = image(directory)
    os.chmod(path, 0o620)
    asked(directory, "written", "overview", place)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    if os.geteuid() == 0:
        os.chown(path, 12345, 12345)
        asked(directory, "written", "overview", place)
        assert os.stat(path).st_uid == 0
    shutil.move(path, path + ".other")
    os.symlink(path + ".other", path)
    asked(directory, "written", "overview", place)
    assert not os.path.islink(path)
    os.unlink(path)
    os.mkfifo(path)
    answer("overview", "--cache", directory, place)
    assert stat.S_ISREG(os.stat(path).st_mode)
    os.unlink(path)
    os.mkdir(path)
    asked(directory, "neither", "overview", place)


tap.case("what is not the user's own file is not read", not_own)


@in_directory
def wrong_trace(directory, _):
    """The file of another trace under this one's name."""
    asked(directory, "written", "overview", trace("hang"))
    path = image(directory)
    asked(directory, "written", "overview", trace("polls"))
    other, = set(images(directory)) - {path}
    shutil.copy2(other, path)
    asked(directory, "written", "overview", trace("hang"))


tap.case("a file of another trace is not used", wrong_trace)


# --- around it ----------------------------------------------------------------------------------------------------------

@in_directory
def at_once(directory, _):
    place = trace("pipe-chain")
    wanted = off("delay", "--thread", "all", place)[1]
    for _ in range(3):
        many = [subprocess.Popen([WHYLATE, "delay", "--thread", "all", "--cache", directory, place],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(8)]
        for process in many:
            out, errors = process.communicate()
            assert process.returncode == 0 and out == wanted and not errors, errors
        os.utime(image(directory))
        asked(directory, "used", "delay", "--thread", "all", place)
        with open(image(directory), "r+b") as file:
            file.truncate(1 << 17)


tap.case("eight runs at once", at_once)


@in_directory
def no_place(directory, scratch):
    """Without a directory, or room in it, the trace is read, and nothing is said."""
    place, file = trace("hang"), os.path.join(scratch, "file")
    wanted = off("overview", place)
    with open(file, "w", encoding="utf-8"):
        pass
    for where in (file, file + "/below", "/proc/whylate", "/dev/null"):
        assert answer("overview", "--cache", where, place) == wanted, where
    got = answer("overview", "--cache", directory, place,
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200000, 200000)))
    assert got == wanted and not os.listdir(directory), os.listdir(directory)
    new = os.path.join(directory, "a", "b")
    assert answer("overview", "--cache", new, place) == wanted
    image(new)
    assert stat.S_IMODE(os.stat(new).st_mode) == 0o700


tap.case("no directory, no room", no_place)


@in_directory
def bounded(directory, _):
    """The least recently used ones go; what is larger than all the room is not kept."""
    places = dict(zip("abc", trace("hang", "polls", "signals")))
    names, sizes = {}, {}
    for key, place in places.items():
        before = set(images(directory))
        asked(directory, "written", "overview", place)
        names[key], = set(images(directory)) - before
        sizes[key] = os.path.getsize(names[key])
        os.unlink(names[key])
    two = max(sizes["a"] + sizes["b"], sizes["a"] + sizes["c"])
    room = -(-two // 2**20)
    assert room * 2**20 < sum(sizes.values()), sizes
    env = dict(os.environ, WHYLATE_CACHE_SIZE=str(room))
    for key, expected in (("a", "written"), ("b", "written"), ("a", "used"), ("c", "written")):
        asked(directory, expected, "overview", places[key], env=env)
    assert set(images(directory)) == {names["a"], names["c"]}, images(directory)
    old = os.path.join(directory, "new-abcdef")
    with open(old, "wb") as file:
        file.write(b"left over")
    set_back(old)
    asked(directory, "written", "overview", places["b"], env=env)
    assert set(images(directory)) == {names["b"], names["c"]}, images(directory)
    env["WHYLATE_CACHE_SIZE"] = "0"
    os.unlink(names["b"])
    asked(directory, "neither", "overview", places["b"], env=env)


tap.case("within bounds, and the least recently used goes", bounded)


def is_writing(pid, directory):
    """It has a file open there that has no name yet: the image."""
    try:
        return any(os.readlink("/proc/%d/fd/%s" % (pid, fd)).startswith(directory + "/#")
                   for fd in os.listdir("/proc/%d/fd" % pid))
    except OSError:
        return False


@in_directory
def ended(directory, _):
    """A signal while the file is written leaves none unfinished."""
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        for _ in range(20):  # the file may be whole before the signal comes
            process = subprocess.Popen(
                [WHYLATE, "overview", "--format", "json", "--cache", directory, trace("callstack")],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                preexec_fn=lambda: os.nice(10))  # so that who watches wakes up in time on a busy machine
            while process.poll() is None and not is_writing(process.pid, directory):
                time.sleep(0.0001)
            process.send_signal(sign)
            status = process.wait()
            left = os.listdir(directory)
            assert status in (0, -sign), status
            assert all(n.endswith(".image") for n in left), left
            for name in left:
                os.unlink(os.path.join(directory, name))
            if status == -sign and not left:
                break
        else:
            raise AssertionError("signal %d never came while the file was written" % sign)


tap.case("no unfinished file after a signal", ended)


@in_directory
def by_itself(directory, scratch):
    """auto keeps what is long (two million events); what is short is read again."""
    env = dict(os.environ, XDG_CACHE_HOME=directory)
    for arguments in ([], ["--cache", "auto"]):
        assert answer("overview", *arguments, trace("futex"), env=env)[0] == 0
        assert not os.listdir(directory), os.listdir(directory)
    # zero-read has a million
    place = os.path.join(scratch, "long")
    subprocess.run([sys.executable, SOURCE + "/tests/bench/repeat.py", trace("zero-read"), "2", place], check=True)
    for folder, _, names in os.walk(place):
        for name in names:
            set_back(os.path.join(folder, name))
    question = ["delay", "--thread", "dd", "--limit", "1", place]
    wanted = off(*question)
    if os.geteuid() == 0:  # with sudo, it may be another user's home: nothing of root's is left there
        os.chown(directory, 12345, 12345)
        assert answer(*question, env=env) == wanted
        assert not os.listdir(directory), os.listdir(directory)
        os.chown(directory, 0, 0)
    assert answer(*question, env=env) == wanted
    path = image(os.path.join(directory, "whylate"))
    before = os.stat(path)
    assert answer(*question, "--reader", "direct", env=env) == wanted
    after = os.stat(path)
    assert after.st_ino == before.st_ino and after.st_mtime_ns > before.st_mtime_ns, "not used"


tap.case("by itself, only of long traces", by_itself)
sys.exit(tap.done())
