"""Every JSON is as its schema says (JSON Schema 2020-12), and the schema that
the command prints is the one that is shipped."""
import json
import sys

from jsonschema import Draft202012Validator

from whylate_test import SOURCE, Tap, output, trace

TARGET = "sched_process_exec filename=*/autostart"


def load(command):
    with open("%s/share/schema/whylate-%s-1.json" % (SOURCE, command), encoding="utf-8") as file:
        return json.load(file)


def check_schema(command):
    schema = load(command)
    Draft202012Validator.check_schema(schema)
    assert schema.get("$schema") == "https://json-schema.org/draft/2020-12/schema", "no $schema, or another draft"
    assert "properties" in schema, "it describes nothing"
    assert json.loads(output(command, "--json-schema")) == schema, "--json-schema prints another"


def check_report(command, arguments):
    report = json.loads(output(command, "--format", "json", *arguments))
    assert report["schema"] == "whylate-%s-1" % command, report["schema"]
    errors = list(Draft202012Validator(load(command)).iter_errors(report))
    assert not errors, "%d errors\n%s" % (len(errors), "\n".join(
        "%s: %s" % ("/".join(map(str, e.absolute_path)), e.message[:200]) for e in errors[:10]))


def check_refused(command, arguments, change):
    """The schema is no sieve: it refuses a report that lacks or misspells something."""
    report = json.loads(output(command, "--format", "json", *arguments))
    change(report)
    assert list(Draft202012Validator(load(command)).iter_errors(report)), "accepted"


def no_window(report):
    del report["window"]


def text_time(report):
    report["window"]["begin"] = str(report["window"]["begin"])


tap = Tap()
for name in ("delay", "overview"):
    tap.case("the schema of " + name, check_schema, name)
startup = trace("startup-chain")
tap.case("delay startup-chain, target", check_report, "delay", ["--target", TARGET, startup])
tap.case("delay startup-chain, one entry a list", check_report, "delay", ["--target", TARGET, "--limit", "1", startup])
tap.case("delay startup-chain, two threads, a window", check_report, "delay",
         ["--thread", "xinit", "--thread", "Xorg", "--last", "500ms", startup])
for name in ("pipe-chain", "hang", "snapshot", "lost", "wide", "signals", "polls", "cfs-quota", "two-hosts-server",
             "ust-func"):
    tap.case("delay %s, all threads" % name, check_report, "delay",
             ["--thread", "all", "--limit", "0", "--quiet", trace(name)])
for name in ("startup-chain", "lost", "snapshot", "web-mixed", "preempt"):
    tap.case("overview " + name, check_report, "overview", ["--quiet", trace(name)])
tap.case("overview of both hosts", check_report, "overview", trace("two-hosts-client", "two-hosts-server"))
for name in ("delay", "overview"):
    some = ["--target", TARGET] if name == "delay" else []
    tap.case(name + " without a window is refused", check_refused, name, some + [startup], no_window)
    tap.case(name + " with a time as text is refused", check_refused, name, some + [startup], text_time)
sys.exit(tap.done())
