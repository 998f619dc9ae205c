# SPDX-License-Identifier: MIT
"""Manners at a terminal: its width is kept, a pager shows what its rows do not hold and nothing else, letters are
those of the locale, progress tells percent and time left, and a reader that has enough is no trouble."""
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios

from whylate_test import WHYLATE, Tap, run, trace

STARTUP = trace("startup-chain")


def shown(columns, rows, *arguments, **env):
    """What a terminal of that size gets on standard output, and the exit status."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen([WHYLATE, *arguments], stdin=slave, stdout=slave, stderr=subprocess.PIPE, close_fds=True,
                               env=dict(os.environ, TERM="xterm", **env))
    os.close(slave)
    text = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    os.close(master)
    return text.decode().replace("\r\n", "\n"), process.wait()


def check_width(columns, *arguments):
    """No line but a command that can be pasted, or a word, is wider."""
    text, status = shown(columns, 50, *arguments, STARTUP, "--no-pager")
    assert status == 0
    lines = [line for line in text.split("\n") if not re.match(r" *(whylate |--)|.*\\$", line)]
    wide = [line for line in lines if len(line) > columns
            and " " in line[len(line) - len(line.lstrip()):columns + 1]]
    assert not wide and len(lines) > 20, wide[:5]
    return lines


def check_widths():
    """A wide terminal is used, up to 200 columns."""
    longest = [max(map(len, check_width(columns, "overview", "--full"))) for columns in (80, 160, 400)]
    assert longest[0] <= 80 < longest[1] <= 160 and longest[1] < longest[2] <= 200, longest


def check_pager():
    with tempfile.TemporaryDirectory() as place:
        pager = "sed s/^/PAGED:/"
        text, status = shown(80, 24, "overview", "--full", STARTUP, WHYLATE_PAGER=pager, PAGER="false")
        assert status == 0 and all(line.startswith("PAGED:") for line in text.split("\n")[:-1]), text[:200]
        text, _ = shown(80, 24, "overview", "--full", STARTUP, PAGER=pager)
        assert text.startswith("PAGED:")
        for no in (("--no-pager",), ("--output", place + "/file"), ("--format", "json")):
            text, _ = shown(80, 24, "overview", "--full", STARTUP, *no, WHYLATE_PAGER=pager)
            assert "PAGED:" not in text, no
        text, _ = shown(80, 5000, "overview", "--full", STARTUP, WHYLATE_PAGER=pager)
        assert "PAGED:" not in text and text.startswith("Host"), "it is short enough"
        for none in ("", "cat", "no-such-program"):
            text, status = shown(80, 24, "overview", "--full", STARTUP, WHYLATE_PAGER=none)
            assert status == 0 and text.startswith("Host"), none
    assert b"PAGED" not in run("overview", "--full", STARTUP, env=dict(os.environ, WHYLATE_PAGER="sed s/^/PAGED:/")).stdout


def check_left():
    """A pager that is left early is no error that is told."""
    text, _ = shown(80, 5, "delay", "--thread", "all", "--limit", "0", STARTUP, WHYLATE_PAGER="head -n 3")
    assert text.count("\n") == 3 and "whylate:" not in text, text


def check_letters():
    utf8 = run("delay", "--thread", "Xorg", STARTUP).stdout
    for locale in ({"LC_ALL": "C"}, {"LC_ALL": "", "LC_CTYPE": "", "LANG": ""}, {"LC_ALL": "", "LANG": "de_DE.ISO-8859-1"}):
        ascii_text = run("delay", "--thread", "Xorg", STARTUP, env=dict(os.environ, **locale)).stdout
        assert "\u00b5s".encode() in utf8 and max(ascii_text) < 0x80 and b" us" in ascii_text, locale
        assert ascii_text == utf8.replace("\u00b5".encode(), b"u")
    json = run("delay", "--thread", "Xorg", "--format", "json", STARTUP, env=dict(os.environ, LC_ALL="C")).stdout
    assert json == run("delay", "--thread", "Xorg", "--format", "json", STARTUP).stdout


def check_colours():
    """They say what the words say: a title is bold, a command cyan, what spans lost events yellow, a caution red; without
    them the text is the same."""
    for name, arguments, coloured in (
            ("startup-chain", ("overview",), ("\033[1m1  ", "  \033[36mwhylate explain ")),
            ("lost", ("delay", "--thread", "bash", "--quiet"), ("\033[1;31mCAUTION: ", "\033[33m[spans lost events]\033[0m"))):
        text = run(*arguments, "--color", "always", trace(name)).stdout.decode()
        plain = run(*arguments, "--color", "never", trace(name)).stdout.decode()
        assert all(part in text for part in coloured), text[:500]
        assert re.sub("\033\\[[0-9;]*m", "", text) == plain and "\033" not in plain


def check_head(ignored):
    """`whylate TRACE | head`."""
    process = subprocess.Popen([WHYLATE, "delay", "--thread", "all", "--limit", "0", trace("web-mixed")],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN if ignored else signal.SIG_DFL))
    process.stdout.read(10)
    process.stdout.close()
    assert not process.stderr.read()
    assert process.wait() != 0


def check_progress():
    said = run("overview", "--progress", "always", "--cache", "off", trace("callstack")).stderr.decode()
    assert re.search(r"\rwhylate: reading, \d+ %, \d+ s left ", said), said[:300]


def check_permission():
    """What may not be read is said to be so, wherever in the trace it is."""
    if os.geteuid() == 0:
        as_nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    else:
        as_nobody = []
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        copy = place + "/trace"
        subprocess.run(["cp", "-r", STARTUP, copy], check=True)
        subprocess.run(["chmod", "-R", "a+rX", copy], check=True)
        kernel = next(d for d, _, files in os.walk(copy) if "metadata" in files)
        os.mkdir(place + "/above")
        os.rename(copy, place + "/above/trace")
        copy, kernel = place + "/above/trace", kernel.replace("/trace", "/above/trace", 1)
        for path in (place + "/above", copy, kernel, kernel + "/metadata", kernel + "/ch_0"):
            mode = os.stat(path).st_mode
            os.chmod(path, 0)
            done = subprocess.run([*as_nobody, WHYLATE, copy], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=dict(os.environ, HOME=place), check=False)
            os.chmod(path, mode)
            assert done.returncode in (3, 4) and b"Permission denied" in done.stderr, (path, done.returncode, done.stderr)


tap = Tap()
for each in (("overview", "--full"), ("delay", "--thread", "Xorg"), ("profile",), ("check",), ("functions",), ("overview", "--help"),
             ("functions", "--help")):
    for size in (40, 80):
        tap.case("%d columns, %s" % (size, " ".join(each)), check_width, size, *each)
tap.case("wide terminals", check_widths)
tap.case("a pager", check_pager)
tap.case("a pager that is left", check_left)
tap.case("letters of the locale", check_letters)
tap.case("colours", check_colours)
tap.case("head", check_head, False)
tap.case("head, where SIGPIPE is ignored", check_head, True)
tap.case("progress", check_progress)
tap.case("no permission", check_permission)
sys.exit(tap.done())
