# SPDX-License-Identifier: MIT
"""Every source file says its licence, every C file is as .clang-format has it, and no line of C is longer than
100 columns (which clang-format leaves where a comment or text is)."""
import os
import re
import subprocess
import sys

from whylate_test import SOURCE, Tap

FORMAT = "clang-format-19"  # Debian 12 and 13 both have it; others format differently
FOLDERS = "src plugins include tests share man debian".split()
KINDS = re.compile(r"\.(c|h|py|t|sh|am|awk|js|css|html|[17])$|^(run|rules|unpack|guest|image|vm-build|vm-init)$")

tap = Tap()
unsigned, wide, c_files = [], [], []
for top in FOLDERS:
    for folder, folders, files in os.walk(os.path.join(SOURCE, top)):
        folders[:] = [f for f in folders if f not in ("corpus", "__pycache__")]
        for name in sorted(files):
            if not KINDS.search(name):
                continue
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            place = os.path.relpath(path, SOURCE)
            if text.startswith(".so "):
                continue  # a manual page that is a link: debhelper knows it by its first line
            if "SPDX-License-Identifier: " not in "".join(text.splitlines(True)[:2]):
                unsigned.append(place)
            if name.endswith((".c", ".h")):
                c_files.append(path)
                wide += ["%s:%d" % (place, i) for i, line in enumerate(text.splitlines(), 1)
                         if len(line.expandtabs(8)) > 100]
tap.ok(len(c_files) > 300, "%d C files are looked at" % len(c_files))
tap.ok(not unsigned, "every file begins with its licence", *unsigned)
tap.ok(not wide, "no line of C has more than 100 columns", *wide)
done = subprocess.run([FORMAT, "--dry-run", "-Werror", *c_files], check=False, stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE)
wrong = sorted(set(re.findall(r"^(\S+?:\d+):\d+: error", done.stderr.decode(), re.M)))
tap.ok(done.returncode == 0, "all C is as " + FORMAT + " puts it: " + FORMAT + " -i FILE mends it", *wrong)
sys.exit(tap.done())
