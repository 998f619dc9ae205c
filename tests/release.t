# SPDX-License-Identifier: MIT
"""What is handed out: one version everywhere; make release, with a key made for this: the signatures are good as
CONTRIBUTING.md has them checked, those of changed files are not; twice the same bytes."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import whylate_test as t

tap = t.Tap()


def read(path):
    with open(os.path.join(t.SOURCE, path), encoding="utf-8") as file:
        return file.read()


VERSION = re.search(r"^AC_INIT\(\[whylate\], \[([^]]+)\]", read("configure.ac"), re.M)[1]
NAME = "whylate-%s.tar.xz" % VERSION


def versions():
    assert t.output("--version").decode() == "whylate %s\n" % VERSION
    assert read("debian/changelog").startswith("whylate (%s) " % VERSION)
    assert re.search(r"^Version: +%s$" % re.escape(VERSION), read("packaging/whylate.spec"), re.M)
    assert re.search(r"^\* .* - %s-1$" % re.escape(VERSION), read("packaging/whylate.spec").split("%changelog")[1], re.M)
    assert re.search(r"^## ([0-9.]+)", read("CHANGELOG.md"), re.M)[1] == VERSION
    for path in ["README.md", "CONTRIBUTING.md"]:
        assert set(re.findall(r"whylate[_-]([0-9.]+[0-9])", read(path))) == {VERSION}, path
    for page in os.listdir(t.SOURCE + "/man"):
        for said in re.findall(r'^\.TH .*"whylate ([^"]*)"', read("man/" + page), re.M):
            assert said == VERSION, (page, said)


def command(*words, **keywords):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          **keywords)


def good(*words, **keywords):
    done = command(*words, **keywords)
    assert done.returncode == 0, "%s: %s" % (" ".join(words), done.stdout.decode()[-2000:])
    return done.stdout.decode()


def release(folder, environment):
    """The files that it makes, taken out of the build."""
    # the build's own file of make, in whose directory no other test writes tarballs
    good("make", "-C", t.BUILD, "release", env=environment)
    made = [NAME, NAME + ".sha256", NAME + ".asc", NAME + ".sha256.asc"]
    os.makedirs(folder)
    for name in made:
        shutil.move(os.path.join(t.BUILD, name), os.path.join(folder, name))


def recipe():
    """The lines of CONTRIBUTING.md."""
    text = read("CONTRIBUTING.md").split("## Hand out a version")[1].split("```")[1]
    lines = [line.split() for line in text.strip().split("\n")]
    assert [line[0] for line in lines] == ["gpg", "sha256sum"], lines
    return lines


def signed(folder):
    home = folder + "/keys"
    os.mkdir(home, 0o700)
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "DESTDIR", "TAR_OPTIONS")}
    environment.update(GNUPGHOME=home, XZ_OPT="-0")
    good("gpg", "--batch", "--passphrase", "", "--quick-generate-key", "Nobody <nobody@whylate.invalid>", "ed25519", "sign", "1d",
         env=environment)
    try:
        release(folder + "/first", environment)
        for line in recipe():
            good(*line, cwd=folder + "/first", env=environment)
        with open("%s/first/%s" % (folder, NAME), "r+b") as file:
            bytes_before = file.read()
            file.seek(len(bytes_before) // 2)
            file.write(bytes([bytes_before[len(bytes_before) // 2] ^ 1]))
        for line in recipe():
            assert command(*line, cwd=folder + "/first", env=environment).returncode != 0, line
        release(folder + "/second", {**environment, "TZ": "Pacific/Auckland"})
        with open("%s/second/%s" % (folder, NAME), "rb") as file:
            assert file.read() == bytes_before, "another tarball of the same files"
    finally:
        command("gpgconf", "--kill", "all", env=environment)


tap.case("one version", versions)
if t.whole("make release"):
    with tempfile.TemporaryDirectory(dir=t.CACHE) as temporary:
        tap.case("make release: its signatures, and the same bytes again", signed, temporary)
sys.exit(tap.done())
