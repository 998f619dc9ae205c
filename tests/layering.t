# SPDX-License-Identifier: MIT
"""The core knows nothing of Babeltrace: below src/ only src/cli includes its
headers (or the plugin's, which do), and the core's library asks for none of
its symbols. Only src/symbols/code.c, which runs in a process of its own, includes
those of elfutils."""
import os
import re
import subprocess
import sys

from whylate_test import BUILD, SOURCE, Tap

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)

tap = Tap()
plugin = set(os.listdir(SOURCE + "/plugins/whylate"))
count = 0
for folder, _, files in sorted(os.walk(SOURCE + "/src")):
    for name in sorted(files):
        place = os.path.relpath(os.path.join(folder, name), SOURCE)
        if not name.endswith((".c", ".h")) or place.startswith("src/cli/"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            included = INCLUDE.findall(file.read())
        bad = [i for i in included if "babeltrace" in i or os.path.basename(i) in plugin]
        if place != "src/symbols/code.c":
            bad += [i for i in included if re.match(r"elfutils/|libelf\.h|gelf\.h|dwarf\.h|libiberty/", i)]
        count += 1
        if bad:
            tap.ok(False, place + " includes no header of Babeltrace or elfutils", *bad)
tap.ok(count > 20, "%d files of the core include no header of Babeltrace" % count)
symbols = subprocess.run(["nm", "-u", BUILD + "/.libs/libwhylate.a"], stdout=subprocess.PIPE,
                         check=True).stdout.decode()
wanted = sorted(set(re.findall(r"\bU (_*bt_\w+)", symbols)))
tap.ok(not wanted, "the core's library asks for no symbol of Babeltrace", *wanted)
sys.exit(tap.done())
