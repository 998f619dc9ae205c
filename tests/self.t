#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""whylate check --self, on installations made of this build's program, plugin and data: whole ones, and such with one
thing wrong. Versions are held against pkg-config's."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from jsonschema import Draft202012Validator

import whylate_test as t

tap = t.Tap()
PARTS = ["reading", "babeltrace", "page", "plugin", "schemas", "sandbox", "functions", "temporary", "cache", "serve", "lttng", "ftrace", "perf"]
# what this kernel, or whatever the tests run in, may be without
OPTIONAL = {"sandbox"}
RECORDERS = {"lttng", "ftrace", "perf"}
LIBRARIES = {"Babeltrace": "babeltrace2", "GLib": "glib-2.0", "Jansson": "jansson", "elfutils": "libdw", "SQLite": "sqlite3",
             "libmicrohttpd": "libmicrohttpd", "zlib": "zlib", "Zstandard": "libzstd"}


def built(path):
    return os.path.join(t.BUILD if os.path.exists(os.path.join(t.BUILD, path)) else t.SOURCE, path)


def schema(name):
    return built("share/schema/whylate-%s-1.json" % name)


def install(root):
    """bin/whylate and what it looks for beside it."""
    os.makedirs(root + "/bin")
    os.makedirs(root + "/share/whylate/schema")
    os.makedirs(root + "/empty")
    shutil.copy2(t.WHYLATE, root + "/bin/whylate")
    shutil.copytree(t.SOURCE + "/traces/startup-chain", root + "/share/whylate/sample", ignore=shutil.ignore_patterns("README*"))
    for folder in {t.SOURCE, t.BUILD}:
        for name in os.listdir(folder + "/share/schema"):
            if name.endswith(".json"):
                shutil.copy(folder + "/share/schema/" + name, root + "/share/whylate/schema")


def ask(root, *arguments, **environment):
    """No program is found, so nothing of this machine's tracers is asked."""
    given = {**os.environ, "BABELTRACE_PLUGIN_PATH": t.PLUGINS, "PATH": root + "/empty", "XDG_CACHE_HOME": root + "/cache",
             "HOME": root, "WHYLATE_TRACEFS": root + "/empty", **environment}
    return t.run("check", "--self", *arguments, program=root + "/bin/whylate", env=given)


def report(root, *arguments, **environment):
    done = ask(root, "--format", "json", *arguments, **environment)
    assert done.returncode in (0, 1), done
    made = json.loads(done.stdout)
    assert made["works"] == (done.returncode == 0) == (not any(p["state"] == "fails" for p in made["parts"])), (done.returncode, made)
    return made, {p["name"]: p for p in made["parts"]}


def whole(root):
    made, parts = report(root)
    assert list(parts) == PARTS, list(parts)
    assert {n for n, p in parts.items() if p["state"] != "works"} <= RECORDERS | OPTIONAL, parts
    assert {n for n, p in parts.items() if p["records"]} == RECORDERS, parts
    assert parts["lttng"]["state"] == parts["perf"]["state"] == "without", parts
    assert "apt-get install lttng-tools" in parts["lttng"]["says"] and "perf" in parts["perf"]["says"]
    assert made["program"] == os.path.realpath(root + "/bin/whylate"), made["program"]
    assert made["system"].split()[1] == os.uname().release, made["system"]
    assert not os.path.exists(root + "/cache"), "it made a directory"
    with open(schema("self"), encoding="utf-8") as file:
        errors = list(Draft202012Validator(json.load(file)).iter_errors(made))
    assert not errors, errors[0].message


def versions(root):
    """Each library that pkg-config knows is of the version that it says."""
    made, _ = report(root)
    assert [x["name"] for x in made["libraries"]] == list(LIBRARIES)
    for library in made["libraries"]:
        said = subprocess.run(["pkg-config", "--modversion", LIBRARIES[library["name"]]], stdout=subprocess.PIPE, check=True)
        assert said.stdout.decode().strip() == library["version"], (library, said.stdout)


def one_wrong(root, name, says, state="fails", **environment):
    _, parts = report(root, **environment)
    others = {n for n, p in parts.items() if n not in RECORDERS and n != name and p["state"] == "fails"}
    assert not others, parts
    assert parts[name]["state"] == state and says in parts[name]["says"], parts[name]


def other_schema(root):
    with open(root + "/share/whylate/schema/whylate-delay-1.json", "a", encoding="utf-8") as file:
        file.write(" \n")
    one_wrong(root, "schemas", "whylate-delay-1.json")
    shutil.rmtree(root + "/share/whylate/schema")
    one_wrong(root, "schemas", "--json-schema", state="without")


def damaged_sample(root):
    """It says what the program itself said."""
    path = root + "/share/whylate/sample"
    metadata, = [os.path.join(d, f) for d, _, names in os.walk(path) for f in names if f == "metadata"]
    os.truncate(metadata, 0)
    _, parts = report(root)
    assert {n for n, p in parts.items() if p["state"] == "fails"} == {"reading", "babeltrace", "page"}, parts
    said = t.run("overview", path).stderr.decode().strip()
    assert said and said.split(path)[-1] in parts["reading"]["says"], (said, parts["reading"])
    shutil.rmtree(path)
    _, parts = report(root)
    assert parts["reading"]["state"] == "without" and "babeltrace" not in parts and "page" not in parts, parts


def text(root):
    """The same as JSON, for people; the answer first."""
    made, parts = report(root)
    printed = ask(root).stdout.decode()
    assert printed.startswith("whylate %s works: " % made["tool"]["version"]), printed
    for name, part in parts.items():
        word = {"works": "yes", "without": "no", "fails": "fails"}[part["state"]]
        assert re.search(r"^  %-10s  %s( |$)" % (name, word), printed, re.M), (name, printed)
    assert ask(root).stdout.decode() == printed, "twice the same"
    broken = ask(root, BABELTRACE_PLUGIN_PATH="")
    assert broken.returncode == 1 and broken.stdout.startswith(b"whylate %s: 1 of 13 parts does not work: plugin.\n" %
                                                               made["tool"]["version"].encode()), broken


def refused(root):
    for more, status, why in ((["somewhere"], 2, b"takes no TRACE"), (["--format", "html"], 2, b"no page"),
                              (["--output", root + "/none/x"], 5, b"none/x")):
        done = ask(root, *more)
        assert done.returncode == status and why in done.stderr and not done.stdout, (more, done)
    with open(schema("self"), encoding="utf-8") as file:
        assert t.output("check", "--self", "--json-schema").decode() == file.read()
    path = root + "/report"
    assert ask(root, "--output", path).returncode == 0
    with open(path, "rb") as file:
        assert file.read() == ask(root).stdout


def fresh(check, *arguments, **keywords):
    with tempfile.TemporaryDirectory(dir=t.CACHE) as folder:
        install(folder + "/root")
        check(folder + "/root", *arguments, **keywords)


tap.case("a whole installation", fresh, whole)
tap.case("the libraries' versions", fresh, versions)
tap.case("no plugin", lambda: fresh(one_wrong, "plugin", "BABELTRACE_PLUGIN_PATH", BABELTRACE_PLUGIN_PATH=""))
tap.case("no room for temporary files", lambda: fresh(one_wrong, "temporary", "TMPDIR", TMPDIR="/nowhere"))
tap.case("schemas of another version, and none", fresh, other_schema)
tap.case("a sample that cannot be read, and none", fresh, damaged_sample)
tap.case("as text", fresh, text)
tap.case("what is refused, --output, --json-schema", fresh, refused)
sys.exit(tap.done())
