# SPDX-License-Identifier: MIT
"""The rooms of the house: which folder may use which, by includes and by calls; no circle of files (X.c and X.h are
one, and a call is an arrow too), no folder of more than 25 files, no name twice, no mutable global. Only src/cli and
the plugin know Babeltrace; only src/symbols/code.c, which runs in a process of its own, includes elfutils' headers; only
src/serve/http_library.h, which is the command's alone, libmicrohttpd's."""
import collections
import glob
import os
import re
import subprocess
import sys

from whylate_test import BUILD, SOURCE, Tap

# Each room, and those that it may use besides what these may. Above `run`, the rooms below it are free to use.
TABLE = {
    "util": "", "apart": "util",
    # what happened
    "event": "util", "kernel": "event", "metadata": "util", "reader": "metadata kernel", "skim": "reader", "foreign": "reader",
    "timeline": "kernel", "model": "timeline", "state": "model", "objects": "state", "tries": "objects", "locks": "tries", "disk": "objects", "net": "tries",
    "threads": "locks disk net",
    "guests": "state", "flow": "threads guests", "trace": "flow", "confine": "util", "symbols": "confine",
    # what is asked
    "run": "trace symbols", "parts": "run", "coverage": "ready parts", "samples": "run",
    # why
    "ready": "run", "contention": "ready", "lives": "run", "waits": "contention lives samples parts", "words": "waits", "path": "words", "imposed": "path", "latencies": "waits apart", "tracking": "latencies path",
    "calls": "tracking",
    # what reports share
    "report": "latencies path imposed coverage", "page": "report", "stands": "imposed coverage", "findings": "report tracking stands", "rules": "findings calls", "whatif": "rules", "traits": "report tracking apart", "limits": "report tracking", "settings": "report tracking",
    # a room a question: none uses another
    "overview": "page whatif limits settings", "delay": "page whatif limits settings", "profile": "page whatif limits traits",
    "requests": "page whatif limits settings traits", "functions": "page calls", "diff": "page whatif calls settings traits", "check": "page",
    "explain": "findings", "export": "whatif", "batch": "page findings limits settings apart foreign", "lami": "report tracking",
    # all of them
    "fleet": "batch",
    "commands": "overview delay profile requests functions diff check explain export batch lami",
    "record": "tracefs statedump", "remote": "record", "drill": "record report", "tracefs": "util", "statedump": "util", "selftest": "record report",
    "tsp": "commands", "serve": "tsp",
    "plugins/whylate": "commands", "sandbox": "report",
    "engines": "run", "input": "run foreign",
    "cli": "sandbox engines fleet serve drill selftest remote skim input plugins/whylate",
}
FILES_MAX = 25


# Variables of the whole program, and why they are.
HANDLER = "what a signal's handler needs"
GLOBALS = {
    **dict.fromkeys((("reader/mapped", name) for name in ("before", "list", "lock", "mapped_faulted", "page_bytes",
                                                           "users")), HANDLER + ": which file went away (SIGBUS)"),
    ("cli/reading", "one_graph"): "Babeltrace's library is the whole program's: one graph at a time",
    ("report/output", "made"): HANDLER + ": what is to be removed",
    ("report/output", "ours"): HANDLER + ": what is to be removed",
    ("cli/cut", "given_up"): "Babeltrace's graph that may not be freed is no leak",
    ("confine/confined", "question"): "of the confined child only: more than its stack should hold",
    ("confine/confine", "now"): "what the whole process has given up",
    ("report/terminal", "prepared"): "the process that waits to be the pager: there is one terminal",
    **dict.fromkeys((("event/kinds", name) for name in ("all", "made")), "names in order, made once of what does not change"),
    ("util/error", "q"): "GLib's own, of G_DEFINE_QUARK",
    ("util/spill", "trouble"): "the first error of any temporary file, like errno: stores say it, the report's end asks",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
tap = Tap()


def reach(room):
    """The rooms that a room may use."""
    found = set()
    for used in TABLE[room].split():
        found |= {used} | reach(used)
    return found


def sources():
    """{name: its file without the ending}, of all files; plugins/whylate/X, util/X"""
    names = {}
    for place in sorted(glob.glob(SOURCE + "/src/**/*.[ch]", recursive=True) +
                        glob.glob(SOURCE + "/plugins/whylate/*.[ch]")):
        path = os.path.relpath(place, SOURCE)
        names[path] = re.sub(r"^src/|\.[ch]$", "", path)
    return names


FILES = sources()


def room_of(name):
    return os.path.dirname(name)


def included(path):
    with open(SOURCE + "/" + path, encoding="utf-8") as file:
        return INCLUDE.findall(file.read())


def objects():
    """{name: (symbols defined, symbols wanted, mutable variables)} of what was built"""
    places = {}
    for path, name in FILES.items():
        if not path.endswith(".c"):
            continue
        folder, base = os.path.split(path)
        found = [o for o in glob.glob("%s/%s/*.o" % (BUILD, folder))
                 if re.sub(r"^.*-", "", os.path.basename(o)) == base[:-2] + ".o"]
        if not found:
            continue
        places[found[0]] = name
    built = {}
    # many files at once: "Symbols from FILE:", and its table
    tables = subprocess.run(["nm", "--format=sysv", *places], stdout=subprocess.PIPE, check=True).stdout.decode()
    for part in re.split(r"^\n*Symbols from (?=\S)", tables, flags=re.M)[1:]:
        name = places[part[:part.index(":\n")]]
        rows = [[cell.strip() for cell in line.split("|")] for line in part.splitlines() if line.count("|") == 6]
        built[name] = ({r[0] for r in rows if r[2] in "TDBRC"}, {r[0] for r in rows if r[2] == "U"},
                       {r[0] for r in rows if r[3] == "OBJECT" and not r[0].startswith("__") and
                        re.match(r"\.(data|bss|tdata|tbss)(\.(?!rel\.ro)|$)", r[6])})
    assert len(built) == len(places), (len(built), len(places))
    return built


def arrows(built):
    """{name: {name it uses: how}}"""
    uses = collections.defaultdict(dict)
    for path, name in FILES.items():
        for header in included(path):
            for place in ("src/" + header, "plugins/whylate/" + header):
                if FILES.get(place, name) != name:
                    uses[name].setdefault(FILES[place], "includes " + header)
    where = {symbol: name for name, (defined, _, _) in built.items() for symbol in defined}
    for name, (_, wanted, _) in built.items():
        for symbol in wanted:
            if where.get(symbol, name) != name:
                uses[name].setdefault(where[symbol], "uses %s()" % symbol)
    return uses


def circles(uses):
    """Tarjan's strongly connected components of more than one file."""
    number, low, stack, found = {}, {}, [], []

    def visit(name):
        number[name] = low[name] = len(number)
        stack.append(name)
        for other in uses.get(name, ()):
            if other not in number:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], number[other])
        if low[name] == number[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for name in sorted(uses):
        if name not in number:
            visit(name)
    return found


def libraries():
    plugin = set(os.listdir(SOURCE + "/plugins/whylate"))
    bad = []
    for path in FILES:
        if path.startswith(("src/cli/", "plugins/")):
            continue
        for header in included(path):
            if "babeltrace" in header or os.path.basename(header) in plugin:
                bad.append("%s: %s" % (path, header))
            if path != "src/serve/http_library.h" and "microhttpd" in header:
                bad.append("%s includes %s" % (path, header))
            if path != "src/symbols/code.c" and re.match(r"elfutils/|libelf\.h|gelf\.h|dwarf\.h|libiberty/", header):
                bad.append("%s: %s" % (path, header))
    tap.ok(not bad and len(FILES) > 100, "%d files of the core include no header of Babeltrace or elfutils" %
           len(FILES), *bad)
    symbols = subprocess.run(["nm", "-u", BUILD + "/libwhylate.a"], stdout=subprocess.PIPE,
                             check=True).stdout.decode()
    wanted = sorted(set(re.findall(r"\bU (_*bt_\w+)", symbols)))
    tap.ok(not wanted, "the core's library asks for no symbol of Babeltrace", *wanted)


def folders():
    rooms = collections.Counter(room_of(name) for name in FILES.values() for _ in [0])
    tap.ok(set(rooms) == set(TABLE), "every folder is in the table", *sorted(set(rooms) ^ set(TABLE)))
    large = ["%s: %d files" % at for at in sorted(rooms.items()) if at[1] > FILES_MAX]
    tap.ok(not large, "no folder has more than %d files" % FILES_MAX, *large)
    bases = collections.defaultdict(set)
    for path, name in FILES.items():
        bases[os.path.basename(name)].add(name)
    twice = [" ".join(sorted(names)) for names in bases.values() if len(names) > 1]
    tap.ok(not twice, "no two files have one name", *twice)


def house():
    built = objects()
    uses = arrows(built)
    tap.ok(len(built) > 100, "%d objects are looked at" % len(built))
    allowed = {room: reach(room) | {room} for room in TABLE}
    bad = ["%s %s of %s" % (name, how, other) for name, others in sorted(uses.items())
           for other, how in sorted(others.items()) if room_of(other) not in allowed.get(room_of(name), ())]
    tap.ok(not bad, "no file uses a room that its own may not", *bad)
    bad = [" ".join(circle) for circle in circles(uses)]
    tap.ok(not bad, "no files use each other in a circle", *bad)
    mutable = sorted("%s: %s" % (name, variable) for name, at in built.items() for variable in at[2]
                     if (name, re.sub(r"\.\d+$", "", variable)) not in GLOBALS)
    tap.ok(not mutable, "no variable is the whole program's", *mutable)


libraries()
folders()
house()
sys.exit(tap.done())
