# SPDX-License-Identifier: MIT
"""What the tarball holds (make distdir), and that alone, builds the Debian package by dpkg-buildpackage, out of tree,
writes nothing into the source, and leaves nothing when it is uninstalled and cleaned. The package is judged by what is
in it, what it depends on and by lintian, and used from where dpkg-deb unpacks it: command, plugin, manual pages, LAMI."""
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

import whylate_test as t

tap = t.Tap()
MAKE = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "DESTDIR")  # what ./check's make tells those that it runs
# nothing is optimized, and no package with debugging symbols made: what is built is hardly run
OPTIONS = {"DEB_BUILD_OPTIONS": "nocheck noopt noautodbgsym parallel=2", "DEB_BUILD_PROFILES": "nocheck", "DEB_CFLAGS_STRIP": "-g"}


def command(*words, cwd=None, **environment):
    return subprocess.run(words, cwd=cwd, env={**{k: v for k, v in os.environ.items() if k not in MAKE}, **environment},
                          stdin=subprocess.DEVNULL, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)


def output(*words, **keywords):
    done = command(*words, **keywords)
    assert done.returncode == 0, "%s: status %d\n%s" % (" ".join(words), done.returncode, done.stdout.decode(errors="replace")[-4000:])
    return done.stdout.decode()


def sources(place):
    """The files of the tarball, where they may be built."""
    source = os.path.join(place, "whylate")
    output("make", "-s", "-C", t.BUILD, "distdir", "distdir=" + source)
    output("chmod", "-R", "u+w", source)
    for name in os.listdir(source + "/traces"):  # no build needs them; the sample is installed
        if name.endswith(".tar.xz"):
            os.remove(os.path.join(source, "traces", name))
    return source


def build(place, source):
    """Path of the package, of the changes file."""
    output("dpkg-buildpackage", "-b", "-uc", "-us", cwd=source, **OPTIONS)
    made = sorted(os.listdir(place))
    packages = [f for f in made if f.endswith(".deb")]
    assert len(packages) == 1, made
    return [os.path.join(place, f) for f in packages + [f for f in made if f.endswith(".changes")]]


def check_clean(place, source, before):
    """As make distcheck has it, without another build."""
    builds = source + "/debian/build"
    output("make", "-C", builds, "install", "DESTDIR=" + place + "/installed")
    assert "usr/bin/whylate" in files(place + "/installed")
    output("make", "-C", builds, "uninstall", "DESTDIR=" + place + "/installed")
    assert files(place + "/installed") == set(), "left by make uninstall"
    output("make", "-C", builds, "distclean")
    assert files(builds) == set(), "left by make distclean"
    # debhelper runs autoreconf first
    made = {name for name in files(source) - before if not name.startswith(("debian/", "autom4te.cache/")) and name[-1] != "~"}
    assert made == set() and before <= files(source), "written into the source: %s" % sorted(made)


def read(path):
    with open(os.path.join(t.SOURCE, path), encoding="utf-8") as file:
        return file.read()


def version():
    return re.search(r"^AC_INIT\(\[whylate\], \[([^]]+)\]", read("configure.ac"), re.M)[1]


def files(root):
    return {os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names}


def pages():
    """Manual pages, those too whose options are put in while building."""
    names = {page.replace(".man", ".1") for page in os.listdir(t.SOURCE + "/man")}
    return names - {"options.1", "page.awk"}


def lami():
    return re.search(r"^LAMI = (.*)$", read("Makefile.am"), re.M)[1].split()


def plugin():
    """Where Debian's Babeltrace looks for plugins."""
    directory = output("pkg-config", "--variable=plugindir", "babeltrace2").strip()
    directory = directory or output("pkg-config", "--variable=libdir", "babeltrace2").strip() + "/babeltrace2/plugins"
    return directory.lstrip("/") + "/babeltrace-plugin-whylate.so"


def check_contents(root):
    """What the source has to be installed, by its folders, is there; and nothing is anywhere else."""
    found = files(root)
    wanted = {"usr/bin/whylate", plugin(), "usr/share/bash-completion/completions/whylate"}
    wanted |= {"usr/bin/whylate-lami-" + name for name in lami()}
    wanted |= {"usr/share/man/man%s/%s.gz" % (page[-1], page) for page in pages()}
    wanted |= {"usr/share/man/man1/whylate-lami-%s.1.gz" % name for name in lami()}
    for folder, end in (("schema", ".json"), ("lttng", ".lttng"), ("lami", ".properties")):
        wanted |= {"usr/share/whylate/%s/%s" % (folder, f) for f in os.listdir(t.SOURCE + "/share/" + folder) if f.endswith(end)}
    wanted |= {"usr/share/whylate/schema/whylate-check-1.json"}  # made while building
    wanted |= {"usr/share/whylate/known-settings.conf"}
    sample = files(t.SOURCE + "/traces/startup-chain")
    wanted |= {"usr/share/whylate/sample/" + f for f in sample}
    assert sum(os.path.getsize(root + "/usr/share/whylate/sample/" + f) for f in sample) < 1 << 20
    wanted |= {"usr/share/doc/whylate/" + f for f in ("copyright", "changelog.gz", "manual.md.gz", "tracers.md.gz")}
    wanted |= {"usr/share/doc/whylate/html/%s.html" % page for page in pages()} | {"usr/share/doc/whylate/html/manual.css"}
    for name in ("README.md", "CHANGELOG.md"):  # compressed, if it is long enough for that
        either = {"usr/share/doc/whylate/" + name + end for end in ("", ".gz")} & found
        assert either, name
        wanted |= either
    assert wanted <= found, "missing: %s" % sorted(wanted - found)
    others = {f for f in found - wanted if not f.startswith("usr/share/doc/whylate/examples/")}
    assert {os.path.basename(f) for f in others} <= {"whylate.pc"}, sorted(others)
    assert not any("/include/" in f for f in found), sorted(found)


def check_build_depends():
    """What ./try installs to build it is what it needs as a package, but for what debhelper brings."""
    setup = re.search(r'^build_packages="([^"]*)"', read("tests/setup.sh"), re.M)[1].split()
    needed = re.search(r"^Build-Depends:\n((?: .*\n)+)", read("debian/control"), re.M)[1]
    missing = set(setup) - {"autoconf", "automake", "make", "gcc", "libc6-dev", "xz-utils"} - set(re.findall(r"^ ([\w.+-]+)", needed, re.M))
    assert not missing, "not in debian/control: %s" % sorted(missing)


def check_control(package):
    fields = dict(re.findall(r"^(\S+): (.*)$", output("dpkg-deb", "-f", package), re.M))
    assert fields["Version"] == version(), (fields["Version"], version())
    depends = {d.split(" ")[0] for d in fields["Depends"].split(", ")}
    # found by dpkg-shlibdeps: libraries only, no compiler, no tracer
    # Debian 13 and Ubuntu 24.04 have a time_t of 64 bits everywhere, and say so in libraries' names
    assert {"libbabeltrace2-0", "libc6", "libglib2.0-0", "libjansson4"} <= {d.removesuffix("t64") for d in depends}, depends
    assert all(d.startswith("lib") or d == "zlib1g" for d in depends), depends
    scripts = os.listdir(os.path.join(os.path.dirname(package), "control"))
    assert set(scripts) == {"control", "md5sums"}, "scripts run as root: %s" % scripts


def check_use(root):
    trace = os.path.join(root, "usr/share/whylate/sample")
    program = os.path.join(root, "usr/bin/whylate")
    asked = ("delay", trace, "--target", "sched_process_exec filename=*/autostart", "--format", "json", "--cache", "off")
    assert output(program, *asked).encode() == t.output(*asked), "it reports otherwise than the build"
    assert "whylate " + version() in output(program, "--version")
    assert output(os.path.join(root, "usr/bin/whylate-lami-blocked"), "--mi-version") == "1.0\n"
    assert '"results"' in output(os.path.join(root, "usr/bin/whylate-lami-states"), trace)


def check_plugin(root):
    place = os.path.join(root, os.path.dirname(plugin()))
    listed = output("babeltrace2", "--plugin-path=" + place, "list-plugins")
    assert re.search(r"^whylate:\s+Path: " + re.escape(place), listed, re.M | re.S), listed
    report = output("babeltrace2", "--plugin-path=" + place, t.SOURCE + "/traces/startup-chain",
                    "--component=sink.whylate.overview", "--params=format=\"json\"")
    assert report.encode() == t.output("overview", t.SOURCE + "/traces/startup-chain", "--format", "json"), "another report"


def check_pages(root):
    """Links lead to pages, and pages that were moved into others to these."""
    for folder in ("man1", "man7"):
        place = os.path.join(root, "usr/share/man", folder)
        for name in sorted(os.listdir(place)):
            with gzip.open(os.path.join(place, name), "rt", encoding="utf-8") as file:
                text = file.read()
            assert re.match(r'(\.\\".*\n)*\.TH ', text), name + " is no page"


def check_lintian(changes):
    # to another distribution, whose lintian runs here, it is not uploaded
    done = command("lintian", "--fail-on", "error", "--allow-root", "--suppress-tags", "bad-distribution-in-changes-file", changes,
                   LC_ALL="C")
    assert done.returncode == 0, done.stdout.decode()


def run_all(place):
    made = []
    source = sources(place)
    before = files(source)
    if not tap.case("dpkg-buildpackage builds it of the tarball's files", lambda: made.extend(build(place, source))):
        return
    package, changes = made
    root = os.path.join(place, "root")
    subprocess.run(["dpkg-deb", "-x", package, root], check=True)
    subprocess.run(["dpkg-deb", "-e", package, os.path.join(place, "control")], check=True)
    tap.case("what it installs, and nothing else", check_contents, root)
    tap.case("its version, what it depends on, and that it runs no scripts", check_control, package)
    tap.case("the command works, and reports what the build reports", check_use, root)
    tap.case("babeltrace2 finds the plugin, which reports the same", check_plugin, root)
    tap.case("manual pages", check_pages, root)
    tap.case("nothing is left when it is uninstalled and cleaned", check_clean, place, source, before)
    if shutil.which("lintian"):
        tap.case("lintian finds no error", check_lintian, changes)
    else:
        tap.skip("lintian finds no error", "it is not installed")


tap.case("packages to build it, in debian/control and tests/setup.sh", check_build_depends)
if not shutil.which("dpkg-buildpackage") or not shutil.which("dh"):
    tap.skip("the Debian package", "dpkg-dev and debhelper are not installed")
elif t.whole("the Debian package"):
    with tempfile.TemporaryDirectory(dir=t.CACHE) as temporary:
        run_all(temporary)
sys.exit(tap.done())
