#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The session profiles in share/lttng say what the presets of whylate record say: both are read here, the profiles as
XML, the presets as the lines that --dry-run shows, and compared; what the lines leave to lttng is compared with the
defaults that lttng-enable-channel(1) names. lttng's own schema (of liblttng-ctl0) takes the profiles."""
import os
import shlex
import subprocess
import sys
import xml.etree.ElementTree as xml

import whylate_test as t

tap = t.Tap()
FOLDER = t.SOURCE + "/share/lttng"
SCHEMA = "/usr/share/xml/lttng/session.xsd"
NAMES = [preset + mode for preset in ("minimal", "normal", "full", "samples") for mode in ("", "-snapshot")]
UNITS = {"k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def dry_run(name, *more):
    """The lines of `whylate record --dry-run` that the profile is of."""
    preset, _, mode = name.partition("-")
    asked = ["--preset", "normal", "--samples"] if preset == "samples" else ["--preset", preset]
    return t.output("record", *asked, *(["--snapshot"] if mode else []), "--session", "whylate-" + name,
                    "--output", "/var/lib/whylate/" + name, "--dry-run", *more)


def read_lines(name):
    """What these lines would have lttng do, up to the start."""
    found = {"channels": {}, "events": [], "contexts": []}
    out = dry_run(name).decode()
    for line in out.splitlines():
        command, *words = shlex.split(line)[1:]
        options = dict(word.partition("=")[::2] for word in words if word.startswith("--"))
        plain = [word for word in words if not word.startswith("--")]
        if command == "start":
            return found
        if command == "create":
            found.update(session=plain[0], output=options["--output"], snapshot="--snapshot" in options)
            continue
        assert options["--session"] == found["session"] and "--kernel" in options, line
        if command == "enable-channel":
            size = options["--subbuf-size"]
            found["channels"][plain[0]] = (int(size[:-1]) * UNITS[size[-1]], int(options["--num-subbuf"]),
                                           "OVERWRITE" if "--overwrite" in options else "DISCARD")
        elif command == "enable-event" and "--syscall" in options:
            assert "--all" in options and not plain, line
            found["events"].append((options["--channel"], "SYSCALL", "*", None))
        elif command == "enable-event":
            assert set(options) - {"--filter"} == {"--kernel", "--session", "--channel"}, line
            found["events"] += [(options["--channel"], "TRACEPOINT", event, options.get("--filter"))
                                for event in plain[0].split(",")]
        else:
            assert command == "add-context" and not plain, line
            found["contexts"].append((options["--channel"], options["--type"].upper().replace("-", "_")))
    raise AssertionError("no start: " + out)


def read_profile(name):
    """The same of a profile; nothing in it is left unread."""
    root = xml.parse("%s/%s.lttng" % (FOLDER, name)).getroot()
    assert root.tag == "sessions" and [child.tag for child in root] == ["session"]

    def members(node):
        """Tag to node, each tag once."""
        found = {child.tag: child for child in node}
        assert len(found) == len(node), (name, node.tag)
        return found

    def texts(node):
        assert not any(len(child) for child in node), (name, node.tag)
        return {tag: child.text for tag, child in members(node).items()}

    session = members(root[0])
    assert set(session) - {"attributes"} == {"name", "domains", "started", "output"}, session
    assert session["started"].text == "false"  # so that the output can be changed first
    snapshot = "attributes" in session
    if snapshot:
        assert texts(session["attributes"]) == {"snapshot_mode": "true"}
    place, = session["output"]
    if snapshot:
        assert place.tag == "snapshot_outputs"
        place, = place
        assert place.find("name").text == "snapshot-1" and place.find("max_size").text == "0"  # as lttng create has it
        place = place.find("consumer_output")
    assert place.tag == "consumer_output" and place.find("enabled").text == "true"
    destination, = place.find("destination")
    assert destination.tag == "path"
    found = {"session": session["name"].text, "output": destination.text, "snapshot": snapshot, "channels": {},
             "events": [], "contexts": []}

    domain, = session["domains"]
    parts = members(domain)
    assert parts.pop("type").text == "KERNEL" and parts.pop("buffer_type").text == "GLOBAL"
    assert list(parts) == ["channels"]
    for channel in parts["channels"]:
        assert channel.tag == "channel"
        lists = {tag: channel.find(tag) for tag in ("events", "contexts")}
        values = {child.tag: child.text for child in channel if child.tag not in lists}
        assert len(values) + sum(1 for node in lists.values() if node is not None) == len(channel)
        where = values.pop("name")
        found["channels"][where] = (int(values.pop("subbuffer_size")), int(values.pop("subbuffer_count")),
                                    values.pop("overwrite_mode"))
        # µs; the defaults for kernel channels in lttng-enable-channel(1), and of lttng-create(1) for snapshots
        assert values == {"enabled": "true", "switch_timer_interval": "0", "read_timer_interval": "200000",
                          "monitor_timer_interval": "1000000", "output_type": "MMAP" if snapshot else "SPLICE"}, values
        for event in lists["events"]:
            event = texts(event)
            assert event.pop("enabled") == "true"
            found["events"].append((where, event.pop("type"), event.pop("name"), event.pop("filter", None)))
            assert not event, event
        for context in [] if lists["contexts"] is None else lists["contexts"]:
            found["contexts"].append((where, texts(context).pop("type")))
    return found


def agree(name):
    lines, profile = read_lines(name), read_profile(name)
    for found in (lines, profile):
        found["events"].sort(key=str)  # the order in which they are enabled does not matter
        found["contexts"].sort()
        assert len(set(found["events"])) == len(found["events"]) > 5
    assert lines == profile, "%s\n%s" % (lines, profile)


def complete():
    """A profile for each preset in both modes, no other, and each is installed."""
    assert sorted(os.listdir(FOLDER)) == sorted([name + ".lttng" for name in NAMES] + ["profile.awk"])
    with open(t.SOURCE + "/Makefile.am", encoding="utf-8") as file:
        text = file.read()
    assert all("share/lttng/%s.lttng" % name in text for name in NAMES)


def made_anew():
    """profile.awk makes them of the lines, byte for byte, and takes no line that a profile cannot hold."""
    def made(name, *more):
        preset = name.partition("-")[0]
        return subprocess.run(["awk", "-v", "preset=" + preset, "-f", FOLDER + "/profile.awk"],
                              input=dry_run(name, *more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    for name in NAMES:
        with open("%s/%s.lttng" % (FOLDER, name), "rb") as file:
            assert made(name).stdout == file.read(), "make profiles"
    done = made("full", "--functions", "vfs_read")
    assert done.returncode == 1 and b"profile.awk" in done.stderr and not done.stdout, done


def schema():
    done = subprocess.run(["xmllint", "--noout", "--schema", SCHEMA, *["%s/%s.lttng" % (FOLDER, n) for n in NAMES]],
                          stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.stderr.decode()


for profile_name in NAMES:
    tap.case("the profile %s and the preset agree" % profile_name, agree, profile_name)
tap.case("a profile for each preset and mode", complete)
tap.case("made by profile.awk", made_anew)
tap.case("lttng's schema takes them", schema)
sys.exit(tap.done())
