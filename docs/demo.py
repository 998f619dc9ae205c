# SPDX-License-Identifier: MIT
"""Makes answer.svg and demo.svg, terminals that show what whylate prints of the shipped traces: tests/run docs/demo.py
DIRECTORY (make demo). The first is a picture, the second half a minute long: an SVG that its own style animates, so that
it needs no player and no script. Whoever asked for less motion sees the first screen alone. tests/docs.t makes both anew
and compares them with those in docs/."""
import os
import re
import shlex
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

from whylate_test import WHYLATE, trace

COLUMNS, ROWS = 80, 22
CELL, LINE, LEFT, TOP = 8.4, 18, 16, 44  # pixels
TYPING, PAUSE = 1.0, 0.3  # seconds
AUTOSTART = "sched_process_exec filename=*/autostart"

# what is asked, with what, on which traces (their first words are folders), so many seconds, and from which line on
SCENES = (
    ("A desktop took 1.2 s to start. What stands out?", ("startup-chain",), 7, None),
    ("Why was its last program not started sooner?", ("delay", "startup-chain", "--target", AUTOSTART), 6, "Why not sooner"),
    ("A web server: which requests were slow, and why?", ("requests", "web-mixed"), 5, "40 server requests"),
    ("Three writers: what makes half a percent of the writes slow?", ("profile", "lock-lapse", "--thread", "writer-*", "--operation",
                                                                     "syscall:pwrite64"), 5, "What took the time"),
    ("The desktop started sooner today. What changed?", ("diff", "startup-base", "startup-nap0"), 6, "Of the threads"),
)
COLOURS = re.compile("\033\\[([0-9;]*)m")
CLASSES = {"1": "b", "36": "p", "33": "w", "1;31": "r"}
STYLE = """
text { font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d7dce2; white-space: pre }
.c { fill: #8b98a5 } .p { fill: #7ee787 } .b { fill: #ffffff; font-weight: bold } .w { fill: #f2cc60 } .r { fill: #ff7b72; font-weight: bold }
"""


def place_of(name):
    """Where a trace is that a scene names; None: it is no trace."""
    if name.startswith("startup-") and name != "startup-chain":
        return os.path.join(trace("whatif-startup"), name)
    return trace(name) if name in ("startup-chain", "web-mixed", "lock-lapse") else None


def printed(words):
    """What it prints, where the traces are called as in the command."""
    with tempfile.TemporaryDirectory() as folder:
        for word in words:
            if place_of(word):
                os.symlink(os.path.abspath(place_of(word)), os.path.join(folder, word))
        done = subprocess.run([WHYLATE, *words, "--color", "always"], stdout=subprocess.PIPE, cwd=folder, check=True)
    return done.stdout.decode().splitlines()


def shown(words, begin):
    """The screen: from the line that begins so on, to a blank line or the last row."""
    lines = printed(words)
    first = next(i for i, line in enumerate(lines) if COLOURS.sub("", line).startswith(begin or ""))
    lines = lines[first:first + ROWS - 2]
    return lines if begin is None else lines[:next((i for i, line in enumerate(lines) if not line), len(lines))]


def text(row, content, style=""):
    """A line as wide as so many cells, whatever the font; its colours become classes."""
    plain = COLOURS.sub("", content)
    parts = COLOURS.split(content) # text, colour, text, colour, ...
    inner = "".join('<tspan class="%s">%s</tspan>' % (CLASSES[colour], escape(part)) if colour in CLASSES else escape(part)
                    for colour, part in zip(["0"] + parts[1::2], parts[::2]) if part)
    return '<text%s x="%d" y="%d" textLength="%g" lengthAdjust="spacingAndGlyphs">%s</text>' % (
        ' class="%s"' % style if style else "", LEFT, TOP + row * LINE, CELL * len(plain), inner)


def screen(question, words, begin):
    """The question, the command with what covers it while it is typed, and what comes out."""
    command = "$ whylate " + " ".join(shlex.quote(word) for word in words)
    rows = [text(0, "# " + question, "c")]
    cut = [command[:COLUMNS - 2] + " \\", "    " + command[COLUMNS - 2:].lstrip()] if len(command) > COLUMNS else [command]
    if len(cut) > 1:  # between words
        at = command.rindex(" ", 0, COLUMNS - 2)
        cut = [command[:at] + " \\", "    " + command[at + 1:]]
    rows += [text(1 + i, line, "p") for i, line in enumerate(cut)]
    output = [text(1 + len(cut) + i, line) for i, line in enumerate(shown(words, begin)[:ROWS - 1 - len(cut)]) if line]
    return rows, output, len(cut)


def frame(body, height, style=""):
    width = 2 * LEFT + COLUMNS * CELL
    dots = "".join('<circle cx="%d" cy="16" r="5.5" fill="%s"/>' % (20 + 18 * i, colour)
                   for i, colour in enumerate(("#ff5f57", "#febc2e", "#28c840")))
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%d" viewBox="0 0 %g %d" role="img">\n<style>%s%s</style>\n'
            '<rect width="100%%" height="100%%" rx="8" fill="#12161c"/>%s\n%s\n</svg>\n') % (
                width, height, width, height, STYLE, style, dots, "\n".join(body))


def answer():
    rows, output, _ = screen(SCENES[0][0], SCENES[0][1], None)
    last = max(int(line.split('y="')[1].split('"')[0]) for line in output)
    return frame(rows + output, last + 18)


def demo():
    """Each scene is visible for its time; a cover as wide as the line moves off the command while it is typed."""
    whole, at, body, style = sum(scene[2] for scene in SCENES) + 1.0, 0.0, [], []
    for number, (question, words, seconds, begin) in enumerate(SCENES):
        rows, output, commands = screen(question, words, begin)
        end = at + seconds

        def percent(time):
            return "%.2f%%" % (100 * time / whole)
        style += ["@keyframes s%d { 0%%, %s { opacity: 0 } %s, %s { opacity: 1 } %s, 100%% { opacity: 0 } }" % (
            number, percent(max(at - 0.01, 0)), percent(at), percent(end - 0.01), percent(end)),
                  "@keyframes t%d { 0%%, %s { transform: none } %s, 100%% { transform: translateX(%dpx) } }" % (
                      number, percent(at + PAUSE), percent(at + PAUSE + TYPING), COLUMNS * CELL),
                  "@keyframes o%d { 0%%, %s { opacity: 0 } %s, 100%% { opacity: 1 } }" % (
                      number, percent(at + PAUSE + TYPING + 0.2), percent(at + PAUSE + TYPING + 0.21))]
        style += ["#%s%d { animation: %s%d %gs infinite%s }" % (name, number, name, number, whole, timing)
                  for name, timing in (("s", ""), ("o", ""), ("t", " steps(60)"))]
        body += ['<g id="s%d"%s>' % (number, "" if number == 0 else ' opacity="0"'), *rows,
                 '<rect id="t%d" class="cover" x="%g" y="%d" width="%g" height="%d" fill="#12161c"/>' % (
                     number, LEFT + 2 * CELL, TOP + LINE - 14, COLUMNS * CELL, commands * LINE),
                 '<g id="o%d">' % number, *output, "</g></g>"]
        at = end
    still = "@media (prefers-reduced-motion: reduce) { * { animation: none !important } .cover { display: none } }"
    return frame(body, TOP + ROWS * LINE, "\n".join(style + [still, ""]))


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, picture in (("answer", answer()), ("demo", demo())):
        with open(os.path.join(sys.argv[1], name + ".svg"), "w", encoding="utf-8") as file:
            file.write(picture)
