#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kinds.py [--write]: do the schemas name the kinds of causes that the program knows?

The kinds are the rows of CAUSE_KINDS in src/waits/cause_kinds.h. With --write the lists that differ are written anew
(`make schemas`), else they are printed and the status is 1."""
import glob
import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def known():
    with open(os.path.join(TOP, "src/waits/cause_kinds.h"), encoding="utf-8") as file:
        return re.findall(r'^\tKIND\(\w+, "([a-z-]+)"', file.read(), re.M)


def renewed(text, kinds):
    """The schema's text with all kinds in each list of them; what only that list has stays at its end."""
    def rewrite(match):
        indent, listed = match.group(1), re.findall(r'"([^"]+)"', match.group(2))
        if "block-device" not in listed or set(kinds) <= set(listed) and not set(listed) - set(kinds) - OTHERS:
            return match.group(0)
        rows = kinds + [kind for kind in listed if kind in OTHERS]
        return '%s"enum": [\n%s\n%s]' % (indent, ",\n".join('%s  "%s"' % (indent, row) for row in rows), indent)
    return re.sub(r'^( *)"enum": \[([^]]*)\]', rewrite, text, flags=re.M)


OTHERS = {"other-request", "call"}  # what requests' time is put down to besides: request_costs.h
differ = []
for path in sorted(glob.glob(os.path.join(TOP, "share/schema/*.json"))):
    with open(path, encoding="utf-8") as schema:
        before = schema.read()
    after = renewed(before, known())
    if before != after:
        differ.append(os.path.basename(path))
    if before != after and "--write" in sys.argv:
        with open(path, "w", encoding="utf-8") as schema:
            schema.write(after)
if differ:
    print(*differ, "written" if "--write" in sys.argv else "other kinds of causes than src/waits/cause_kinds.h")
sys.exit(bool(differ) and "--write" not in sys.argv)
