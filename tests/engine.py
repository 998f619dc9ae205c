# SPDX-License-Identifier: MIT
"""What the tests with engines have in common: an ordinary user in a directory of its own, forty traces, a whylate that can
be killed or held in a task, the sum of one machine."""
import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile

import whylate_test as t

TRACES = 40
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # daemons are ended all the same


def open_directory():
    """Where temporary files lie that any user comes to, as munged wants it of its socket."""
    def is_open(path):
        while os.stat(path).st_mode & stat.S_IXOTH and path != "/":
            path = os.path.dirname(path)
        return path == "/"

    return next((path for path in (os.path.realpath(tempfile.gettempdir()), "/tmp", "/var/tmp") if is_open(path)), None)


class Place:
    """As root, everything belongs to nobody, and is run as that, unless it `is_root`."""

    def __init__(self, is_root=False):
        self.directory = tempfile.TemporaryDirectory(prefix="whylate-", dir=open_directory())
        self.root = self.directory.name
        os.chmod(self.root, 0o755)
        self.user = pwd.getpwnam("nobody") if os.getuid() == 0 and not is_root else pwd.getpwuid(os.getuid())
        self.daemons = []
        self.environ = {"PATH": self.root + "/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": self.root + "/home",
                        "LC_ALL": "C.UTF-8", "USER": self.user.pw_name, "LOGNAME": self.user.pw_name}
        for name in ("bin", "home", "run", "traces", "signs"):
            os.mkdir(self.path(name))
        shutil.copy(t.WHYLATE, self.path("bin/whylate-itself"))
        self.write("bin/whylate", WRAPPER.replace("@ROOT@", self.root), 0o755)
        make_traces(self.path("traces"))
        self.own(self.root)

    def path(self, name):
        return os.path.join(self.root, name)

    def own(self, path):
        """Gives it to the user."""
        if os.getuid() == 0:
            subprocess.run(["chown", "-R", "%d:%d" % (self.user.pw_uid, self.user.pw_gid), path], check=True)

    def write(self, name, text, mode=0o644):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)
        self.own(self.path(name))

    def as_user(self):
        ids = {} if os.getuid() == self.user.pw_uid else {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []}
        return {"env": self.environ, "cwd": self.root, "stdin": subprocess.DEVNULL, **ids}

    def run(self, *words, status=0):
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=300, **self.as_user())
        assert status is None or done.returncode == status, (words, done)
        return done

    def daemon(self, *words, name=None):
        """In the foreground of a session of its own; ended by end()."""
        with open(self.path("run/%s.out" % (name or os.path.basename(words[0]))), "ab") as log:
            child = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True, **self.as_user())
        self.daemons.append(child)
        return child

    def sign(self, name):
        """Tells the whylate of a task what to do (WRAPPER)."""
        self.write("signs/" + name, "")

    def is_there(self, name):
        return os.path.exists(self.path(name))

    def end(self):
        for task in range(TRACES):  # nobody waits any more
            self.sign("go.%d" % task)
        for child in reversed(self.daemons):
            stop(child)
        self.directory.cleanup()


WRAPPER = """#!/bin/sh
# whylate, as a task runs it: --output lines/N.jsonl. kill.N: killed once; hold.N: the first one waits for go.N;
# so does the first one that sshd began.
for word; do
	case $word in
	lines/*.jsonl) task=${word#lines/}; task=${task%.jsonl} ;;
	esac
done
signs=@ROOT@/signs
[ -z "$task" ] && exec @ROOT@/bin/whylate-itself "$@"
rm "$signs/kill.$task" 2>/dev/null && kill -9 $$
held=
if [ "$SSH_CONNECTION" ] && mkdir "$signs/held.remote" 2>/dev/null; then
	# said last: from then on it may end at any time, and the next one of this task is not held
	held=1
	echo "$task" >"$signs/remote.new"
	mv "$signs/remote.new" "$signs/remote"
fi
if [ "$held" ] || { [ -e "$signs/hold.$task" ] && mkdir "$signs/held.$task" 2>/dev/null; }; then
	while [ -d "$signs" ] && [ ! -e "$signs/go.$task" ]; do sleep 0.1; done
	@ROOT@/bin/whylate-itself "$@"
	touch "$signs/late.$task"
	exit 0
fi
exec @ROOT@/bin/whylate-itself "$@"
"""


def stop(child, number=signal.SIGTERM):
    """Ends a daemon; it may have ended."""
    if child.poll() is None:
        child.send_signal(number)
        try:
            child.wait(20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def make_traces(root):
    """All different, as each has one stream more, an empty one, of another name; the last but one is damaged, the last is none."""
    source = t.trace("signals")
    for number in range(TRACES):
        place = "%s/%02d" % (root, number)
        shutil.copytree(source, place)
        subprocess.run(["chmod", "-R", "u+w", place], check=True)
        kernel = os.path.dirname(next(file for file in t.kernel_files(place) if file.endswith("/metadata")))
        with open("%s/none_%d" % (kernel, number), "w", encoding="utf-8"):
            pass
        if number == TRACES - 2:
            largest = max((f for f in t.kernel_files(place) if "metadata" not in f and os.path.isfile(f)), key=os.path.getsize)
            os.truncate(largest, os.path.getsize(largest) // 2 + 3)
        if number == TRACES - 1:
            os.unlink(kernel + "/metadata")


def free_ports(count):
    """Of the loopback; nobody takes them in between, but that cannot be promised."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def one_machine(place, *options):
    """The sum, as one process makes it."""
    place.run(place.path("bin/whylate-itself"), "batch", place.path("traces"), *options, "--quiet", "--merged",
              place.path("one.json"), "--output", "/dev/null", status=4)
    return same_bytes(place.path("one.json"))


def same_bytes(path):
    with open(path, "rb") as file:
        text = file.read()
    # what only --expect adds: nothing was missing
    return text.replace(b'"missing":[],', b"")
