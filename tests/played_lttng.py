# SPDX-License-Identifier: MIT
"""The lttng command and its session daemon, played: for tests of what `whylate record` asks of them, where no kernel has
LTTng's modules."""
import fnmatch
import os
import subprocess
import tempfile

import whylate_test as t

LTTNG = r'''#!/bin/sh
# Plays lttng: writes its arguments down, knows one session (and shows more, the newest first), fails where FAIL fits, and where SLOW does waits until go() lets it.
# What it has recorded, in the end, is RECORDED.
line="$*"
echo "$line" >>"$PLAY/log"
case $line in
--no-sessiond\ list) test -e "$PLAY/daemon" || { echo "Error: No session daemon is available" >&2; exit 1; }
	test -e "$PLAY/session" && sed '/\[/!s/$/ [active snapshot]/; s/^/  1) /' "$PLAY/session"
	test -e "$PLAY/to-disk" && sed 's/^/  1) /; s/$/ [active]/' "$PLAY/to-disk"; exit 0 ;;
esac
test "$1" = --no-sessiond && shift
if [ "$FAIL" ]; then case $line in $FAIL)
	test "$SAY" = - || echo "Error: ${SAY:-played}" >&2; exit 1 ;; esac; fi
if [ "$SLOW" ]; then case $line in $SLOW)
	while test ! -e "$PLAY/bin/go" && test -e "$PLAY/bin"; do sleep 0.02; done # the end of the test is one of this, too
	rm -f "$PLAY/bin/go" ;; esac; fi
case $1 in
create) echo "$2" >"$PLAY/session"; echo "${line##*--output=}" >"$PLAY/bin/output"; mkdir -p "${line##*--output=}/kernel" ;;
destroy) test -e "$PLAY/session" || exit 0
	test -z "$RECORDED" || cp -r "$RECORDED/." "$(cat "$PLAY/bin/output")"
	rm "$PLAY/session" ;;
list) printf 'Kernel events:\n-------------\n      sched_switch (loglevel: TRACE_EMERG (0)) (type: tracepoint)\n'
	printf '      sched_process_exec (loglevel: TRACE_EMERG (0)) (type: tracepoint)\n' ;;
add-trigger) : >"$PLAY/trigger" ;;
remove-trigger) rm "$PLAY/trigger" ;;
snapshot) test "$2" = list-output && echo "[1] snapshot-1: file://$PLAY/out (max-size: 0)"
	test "$2" = record || exit 0
	mkdir -p "$PLAY/out"
	n=$(($(cat "$PLAY/out/.number" 2>/dev/null) + 1))
	echo $n >"$PLAY/out/.number"
	mkdir "$PLAY/out/snapshot-1-20260101-000000-$n"
	test -z "$TRACE" || cp -r "$TRACE/." "$PLAY/out/snapshot-1-20260101-000000-$n" ;;
esac
exit 0
'''
DAEMON = r'''#!/bin/sh
: >"$PLAY/daemon"
end='rm "$PLAY/daemon"; exit 0'
if [ "$DEAF" ]; then trap "trap '$end' TERM" TERM; else trap "$end" TERM; fi # a real one loses a SIGTERM while it begins
while :; do sleep 0.05; done
'''


# kernel tracing needs root: who is not is made so, of a user namespace
AS_ROOT = [] if os.geteuid() == 0 else ["/usr/bin/unshare", "--map-root-user"]


class Play:
    """A directory with the played programs; daemon: one runs already."""

    def __init__(self, daemon=True):
        self.folder = tempfile.TemporaryDirectory()
        self.path = self.folder.name
        os.mkdir(self.path + "/bin")
        for name, text in (("lttng", LTTNG), ("lttng-sessiond", DAEMON)):
            with open(self.path + "/bin/" + name, "w", encoding="ascii") as file:
                file.write(text)
            os.chmod(self.path + "/bin/" + name, 0o755)
        if daemon:
            open(self.path + "/daemon", "w", encoding="ascii").close()

    def start(self, *arguments, **environment):
        return subprocess.Popen(
            [*AS_ROOT, t.WHYLATE, *arguments], cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "PLAY": self.path, "PATH": self.path + "/bin:" + os.environ["PATH"], "WHYLATE_TRACEFS": "/nonexistent", **environment})

    def run(self, *arguments, **environment):
        process = self.start(*arguments, **environment)
        out, err = process.communicate(timeout=600)
        return process.returncode, out.decode(), err.decode()

    def has_said(self, pattern, times=1):
        """Waits until lttng was asked so."""
        t.until(lambda: sum(fnmatch.fnmatch(line, pattern) for line in self.log()) >= times, "lttng was asked " + pattern)

    def go(self):
        """The slow step that lttng is in, or the next one, ends."""
        open(self.path + "/bin/go", "w", encoding="ascii").close()

    def log(self):
        try:
            with open(self.path + "/log", encoding="ascii") as file:
                return [line for line in file.read().splitlines() if not line.startswith("--no-sessiond")]
        except FileNotFoundError:
            return []

    def left(self, daemon):
        """Session, trigger, daemon of ours, output: names of what is there and should not be."""
        names = set(os.listdir(self.path)) - {"bin", "log"} - ({"daemon"} if daemon else set())
        return sorted(names)
