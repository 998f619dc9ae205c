"""The command and the plugin give the same bytes, for the same input and
options; and the plugin is there where Babeltrace looks for it."""
import sys

from whylate_test import Tap, babeltrace2, output, trace

TARGET = "sched_process_exec filename=*/autostart"


def same(component, directories, arguments, parameters):
    mine = output(component, *directories, *arguments)
    done = babeltrace2(*directories, "--component=sink.whylate." + component, "--params=" + parameters)
    assert done.returncode == 0, "babeltrace2: status %d\n%s" % (done.returncode, done.stderr.decode())
    assert len(mine) > 1000, "only %d bytes" % len(mine)
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
             ["--format", form], 'format="%s"' % form)
sys.exit(tap.done())
