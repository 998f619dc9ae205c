# SPDX-License-Identifier: MIT
"""The command and the plugin give the same bytes, for the same input and
options; and the plugin is there where Babeltrace looks for it."""
import sys
import tempfile

from whylate_test import Tap, babeltrace2, output, trace, unnamed

TARGET = "sched_process_exec filename=*/autostart"


def same(component, directories, arguments, parameters):
    mine = output(component, *directories, *arguments)
    done = babeltrace2(*directories, "--component=sink.whylate." + component, "--params=" + parameters)
    assert done.returncode == 0, "babeltrace2: status %d\n%s" % (done.returncode, done.stderr.decode())
    assert len(mine) > 1000, "only %d bytes" % len(mine)
    mine, done.stdout = unnamed(mine, directories), unnamed(done.stdout, directories)
    assert mine == done.stdout, "%d bytes by the command, %d by the plugin" % (len(mine), len(done.stdout))


tap = Tap()
startup = [trace("startup-chain")]
for form in ("json", "text", "csv"):
    tap.case("startup-chain, with the target, as " + form, same, "delay", startup,
             ["--target", TARGET, "--format", form], 'target="%s",format="%s"' % (TARGET, form))
tap.case("startup-chain, a window and limits", same, "delay", startup,
         ["--thread", "xinit", "--thread", "Xorg", "--from", "+100ms", "--to", "+800ms", "--format", "json",
          "--limit", "0", "--min-duration", "1ms"],
         'thread=["xinit","Xorg"],from="+100ms",to="+800ms",format="json",limit=0,min-duration="1ms"')
for name in ("pipe-chain", "futex", "wide"):
    tap.case(name + ", all threads", same, "delay", [trace(name)],
             ["--thread", "all", "--format", "json"], 'thread="all",format="json"')
tap.case("both hosts, all threads", same, "delay", trace("two-hosts-client", "two-hosts-server"),
         ["--thread", "all", "--format", "json"], 'thread="all",format="json"')
tap.case("lost, all threads", same, "delay", [trace("lost")],
         ["--thread", "all", "--format", "json", "--quiet"], 'thread="all",format="json",quiet=yes')
for form in ("json", "text"):
    tap.case("overview of pipe-chain, as " + form, same, "overview", [trace("pipe-chain")],
             ["--full", "--format", form], 'full=yes,format="%s"' % form)
for form in ("json", "text"):
    tap.case("profile of fork4, as " + form, same, "profile", [trace("fork4")],
             ["--format", form, "--operation", "syscall:clone", "--operation", "irq:*", "--time-lapse", "100ms",
              "--per", "cpu"],
             'format="%s",operation=["syscall:clone","irq:*"],time-lapse="100ms",per="cpu"' % form)
tap.case("profile of lock-lapse, numbers as numbers", same, "profile", [trace("lock-lapse")],
         ["--format", "json", "--thread", "writer-*", "--resolution", "2", "--peak", "2", "--maxcount-percentage", "50",
          "--min-operations", "5", "--depth", "3", "--limit", "4", "--resource", "file:*"],
         'format="json",thread="writer-*",resolution=2,peak=2,maxcount-percentage=50,min-operations=5,depth=3,limit=4,'
         'resource="file:*"')
for form in ("json", "text", "csv", "folded"):
    tap.case("functions of ust-func, as " + form, same, "functions", [trace("ust-func")],
             ["--format", form, "--threshold", "5", "--limit", "100"], 'format="%s",threshold=5,limit=100' % form)
tap.case("functions of ust-func, what blocked", same, "functions", [trace("ust-func")], ["--metric", "blocked"],
         'metric="blocked"')
tap.case("functions of callstack, a timeline", same, "functions", [trace("callstack")],
         ["--timeline", "--thread", "ls", "--function", "syscall:getdents64", "--depth", "4", "--min-duration", "1ms"],
         'timeline=yes,thread="ls",function="syscall:getdents64",depth=4,min-duration="1ms"')
tap.case("functions of both hosts", same, "functions", trace("two-hosts-client", "two-hosts-server"),
         ["--format", "json", "--limit", "0"], 'format="json",limit=0')
tap.case("profile of both hosts", same, "profile", trace("two-hosts-client", "two-hosts-server"),
         ["--format", "json", "--operation", "*"], 'format="json",operation="*"')


def symbols():
    """The kallsyms beside callstack is found both ways, and functions have names."""
    same("profile", [trace("callstack")], ["--format", "json", "--operation", "syscall:read"],
         'format="json",operation="syscall:read"')
    found = output("profile", trace("callstack"), "--format", "json", "--operation", "syscall:read")
    assert b"function:filemap_get_pages" in found and b"0xffffffff" not in found, "no symbols"


def saved():
    """Saved by the one and compared with by the other, and the other way round."""
    with tempfile.TemporaryDirectory() as folder:
        fork1, fork4 = trace("fork1", "fork4")
        output("profile", fork1, "--save", folder + "/command")
        done = babeltrace2(fork1, "--component=sink.whylate.profile", '--params=save="%s/plugin"' % folder)
        assert done.returncode == 0, done.stderr.decode()
        with open(folder + "/command", "rb") as one, open(folder + "/plugin", "rb") as other:
            assert one.read() == other.read(), "saved differently"
        for option in ("compare", "resume"):
            same("profile", [fork4], ["--" + option, folder + "/plugin", "--threshold", "64", "--format", "json"],
                 '%s="%s/plugin",threshold=64,format="json"' % (option, folder))
        same("profile", [fork4], ["--resume", folder + "/plugin", "--threshold", "0.01", "--force"],
             'resume="%s/plugin",threshold="0.01",force=yes' % folder)
        same("profile", [fork4], ["--compare", folder + "/plugin", "--threshold", "0.5"],
             'compare="%s/plugin",threshold=0.5' % folder)


tap.case("profile of callstack, symbols beside it", symbols)
tap.case("profiles saved, compared, resumed", saved)
sys.exit(tap.done())
