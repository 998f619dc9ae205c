# SPDX-License-Identifier: MIT
"""whylate batch --follow: a line for each chunk of a session when it is there, of a trace that is dropped when it is
complete; what is damaged or missing; how it ends. Chunks are renamed into place, as LTTng does, and lines waited for."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import whylate_test as t
from chunked import chunk_name, kernel_of, rotate

tap = t.Tap()


class Followed:
    """A directory that is followed, and a session whose chunks are put into it."""

    def __init__(self, *options, chunks=3, program=t.WHYLATE):
        self.directory = tempfile.TemporaryDirectory(dir=t.CACHE)
        self.root = os.path.realpath(self.directory.name)
        for name in ("fleet/session/archives", "fleet/session/.tmp_old_chunk/kernel", "later"):
            os.makedirs(self.path(name))
        # what LTTng is at: being moved, and being written
        shutil.copytree(kernel_of(t.trace("hang")), self.path("fleet/session/" + chunk_name(9)[:20] + "-9/kernel"))
        self.packets = rotate(kernel_of(t.trace("callstack")), self.path("later"), chunks)
        shutil.copytree(self.path("later"), self.path("whole"))
        if os.path.exists(self.path("later/kallsyms")):
            shutil.copy(self.path("later/kallsyms"), self.path("fleet/session"))
        self.output = self.path("lines")
        self.process = subprocess.Popen([program, "batch", "--follow", self.path("fleet"), "--output", self.output, *options],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def path(self, name):
        return os.path.join(self.root, name)

    def put(self, number):
        os.rename(self.path("later/archives/" + chunk_name(number)), self.path("fleet/session/archives/" + chunk_name(number)))

    def lines(self):
        """Those that are complete."""
        if not os.path.exists(self.output):
            return []
        with open(self.output, encoding="utf-8") as file:
            return [json.loads(line) for line in file.read().rpartition("\n")[0].splitlines()]

    def wait_for(self, count):
        return t.until(lambda: len(self.lines()) == count and self.lines(), "%d lines" % count)

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        self.said = b"".join(self.process.communicate(timeout=300)).decode()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        self.directory.cleanup()


def without(line, *names):
    return {name: line[name] for name in line if name not in names}


def chunks():
    """Each when it is there. They tile the recording, and each says what the whole one says of its window."""
    with Followed() as followed:
        for number in range(3):
            followed.put(number)
            line = followed.wait_for(number + 1)[-1]
            assert line["trace"] == followed.path("fleet/session/archives/" + chunk_name(number)) and line["status"] == 0, line
        assert followed.end() == 0, followed.said
        lines = followed.lines()
        assert len(lines) == 3 and "3 traces: 3 good" in followed.said, followed.said
        whole = json.loads(t.output("batch", followed.path("whole"), "--quiet"))
        assert lines[0]["window"]["begin"] == whole["window"]["begin"] and lines[2]["window"]["end"] >= whole["window"]["end"]
        assert [line["window"]["end"] for line in lines[:2]] == [line["window"]["begin"] for line in lines[1:]]
        assert sum(line["events"] for line in lines) == whole["events"]
        for line in lines:
            end = min(line["window"]["end"], whole["window"]["end"])
            of_window = json.loads(t.output("batch", followed.path("whole"), "--from", "%dns" % line["window"]["begin"],
                                            "--to", "%dns" % end, "--quiet"))
            # a wait that goes on at the chunk's end has no cause yet, so that settings' costs differ by it
            apart = ("trace", "identity", "hosts", "events", "window", "settings")
            assert without(line, *apart) == without(of_window, *apart), (line, of_window)


def dropped():
    """Traces by themselves, renamed or copied into place: the line that batch gives. The sum is that of batch."""
    with tempfile.TemporaryDirectory(dir=t.CACHE) as place:
        with Followed("--merged", place + "/sum") as followed:
            shutil.copytree(t.trace("hang"), followed.path("fleet/.copied"))
            os.rename(followed.path("fleet/.copied"), followed.path("fleet/snapshot-1"))
            followed.wait_for(1)
            shutil.copytree(t.trace("signals"), followed.path("fleet/snapshot-2"))
            lines = followed.wait_for(2)
            assert followed.end(signal.SIGTERM) == 0, followed.said
            paths = [followed.path("fleet/snapshot-%d" % number) for number in (1, 2)]
            expected = t.output("batch", *paths, "--quiet", "--merged", place + "/expected")
            assert lines == [json.loads(line) for line in expected.splitlines()]
        with open(place + "/sum", "rb") as file, open(place + "/expected", "rb") as other:
            assert file.read() == other.read()


def damaged():
    """A chunk without metadata is said to be none; one that never came, and that one, are packets lost before the next."""
    with Followed(chunks=4) as followed:
        followed.put(0)
        followed.wait_for(1)
        os.unlink(followed.path("later/archives/%s/kernel/metadata" % chunk_name(2)))
        followed.put(2)
        line = followed.wait_for(2)[1]
        assert line["status"] == 3 and line["messages"] and "events" not in line, line
        followed.put(3)
        line = followed.wait_for(3)[2]
        lost = sum(len(packets) for number in (1, 2) for packets in followed.packets[number].values())
        assert line["status"] == 0 and line["lost_packets"] == lost, (line["lost_packets"], lost)
        followed.put(1)  # too late: that time is over
        line = followed.wait_for(4)[3]
        assert line["status"] == 3 and "no event" in line["messages"][0], line["messages"]
        assert followed.end() == 4, followed.said


def limits():
    """A chunk beyond a limit says so, in its line and at the end; text is for people."""
    with Followed("--fail-if", "p50(syscall:openat) > 1ns", "--limit", "2") as followed:
        followed.put(0)
        line, = followed.wait_for(1)
        assert line["status"] == 1 and line["limits"][0]["outcome"] == "exceeded" and len(line["findings"]) == 2, line
        assert followed.end() == 1, followed.said
    with Followed("--format", "text", "--output", "-", chunks=2) as followed:
        followed.put(0)  # what the second CPU has behind the first one's end is the other line
        os.set_blocking(followed.process.stdout.fileno(), False)
        heard = []

        def two_lines():
            heard.append(followed.process.stdout.read() or b"")
            return b"".join(heard).count(b"\n") >= 2 and b"".join(heard).decode()

        first = t.until(two_lines, "the chunk's text").splitlines()[0]
        assert chunk_name(0) + ": good, host tracebox, " in first, first
        os.set_blocking(followed.process.stdout.fileno(), True)
        assert followed.end() == 0 and "2 traces: 2 good" in followed.said, followed.said


def refused():
    for words, status in ((("--map",), 2), (("--merge",), 2), (("--plan", "slurm"), 2), (("--pages", "pages"), 2),
                          (("--from", "+1s"), 2), (("--last", "1s"), 2)):
        done = subprocess.run([t.WHYLATE, "batch", "--follow", t.CACHE, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, timeout=300)
        assert done.returncode == status and b"--follow" in done.stderr, done
    done = subprocess.run([t.WHYLATE, "batch", t.CACHE, "--cache", t.CACHE], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, timeout=300)
    assert done.returncode == 2 and b"--follow" in done.stderr, done
    done = subprocess.run([t.WHYLATE, "batch", "--follow", "/nowhere"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, timeout=300)
    assert done.returncode == 3 and b"/nowhere" in done.stderr, done


QUESTIONS = (("delay", "--thread", "all"), ("overview",), ("profile",), ("requests",))


def answers(session, cache, program=t.FAST, questions=QUESTIONS):
    return [subprocess.run([program, *question, session, "--format", "json", "--cache", cache], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=300).stdout for question in questions]


def blank(session):
    """Its streams hold nothing any more, which nobody sees who does not read them."""
    for folder, _, names in os.walk(session):
        for name in names:
            path = os.path.join(folder, name)
            if name == "metadata":
                continue
            status = os.stat(path)
            with open(path, "r+b") as file:
                file.write(bytes(status.st_size))
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def image(program, questions, chunks):
    """With --cache the image of the whole session is kept, the last one only, and answers without the chunks what a run
    that reads them all answers; what was begun elsewhere is not in it."""
    with tempfile.TemporaryDirectory(dir=t.CACHE) as place, \
            Followed("--cache", place + "/new", chunks=4, program=program) as followed:
        cache = place + "/new"
        session = followed.path("fleet/session/archives")
        seen = None
        for number in range(chunks):
            followed.put(number)
            followed.wait_for(number + 1)
            names = t.until(lambda seen=seen: len(os.listdir(cache)) == 1 and os.listdir(cache) != seen and os.listdir(cache),
                            "the image of chunk %d" % number)  # what is being written has no name yet
            seen = names
            copy = followed.path("copy-%d" % number)
            shutil.copytree(session, copy)
            expected = answers(session, "off", program, questions)
            blank(session)
            assert answers(session, cache, program, questions) == expected and all(expected), number
            assert answers(session, "off", program, questions[:1]) != expected[:1], "it was not blank"
            for chunk in os.listdir(copy):  # for the next one: whoever reads all of them again
                shutil.copytree(os.path.join(copy, chunk), os.path.join(session, chunk), dirs_exist_ok=True)
        assert followed.end() == 0, followed.said


def no_image():
    """A chunk that comes behind its successor is not in order, and one with user space's events is not read whole: the
    image is not of them, and who asks reads all."""
    with tempfile.TemporaryDirectory(dir=t.CACHE) as cache, \
            Followed("--cache", cache, chunks=4, program=t.FAST) as followed:
        session = followed.path("fleet/session/archives")
        for count, number in enumerate((0, 2, 1)):
            followed.put(number)
            followed.wait_for(count + 1)
            assert answers(session, cache, questions=QUESTIONS[:2]) == answers(session, "off", questions=QUESTIONS[:2]), number
        assert followed.end() == 4, followed.said
    with tempfile.TemporaryDirectory(dir=t.CACHE) as cache, Followed("--cache", cache, chunks=2) as followed:
        user = next(folder for folder, names, _ in os.walk(t.trace("ust-func")) if "ust" in names)
        shutil.copytree(os.path.join(user, "ust"), followed.path("later/archives/%s/ust" % chunk_name(0)))
        followed.put(0)
        line = followed.wait_for(1)[0]
        assert "no image of the session is kept" in " ".join(line["messages"]), line
        followed.put(1)
        followed.wait_for(2)
        assert followed.end() == 0 and not os.listdir(cache), os.listdir(cache)


tap.case("a session's chunks", chunks)
tap.case("a session's image", image, t.FAST, QUESTIONS, 3)
tap.case("a session's image, by the program of this build", image, t.WHYLATE, QUESTIONS[:1], 2)
tap.case("no image of what is not whole", no_image)
tap.case("traces that are dropped", dropped)
tap.case("chunks damaged, missing, too late", damaged)
tap.case("limits, and text", limits)
tap.case("what it is refused with", refused)
sys.exit(tap.done())
