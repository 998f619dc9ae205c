# SPDX-License-Identifier: MIT
"""Every JSON is as its schema says (JSON Schema 2020-12), and the schema that
the command prints is the one that is shipped."""
import functools
import json
import os
import sys
import tempfile

from jsonschema import Draft202012Validator

from whylate_test import BUILD, SOURCE, Tap, output, run, sample, trace

TARGET = "sched_process_exec filename=*/autostart"


def load(command):
    path = "/share/schema/whylate-%s-1.json" % command
    with open((BUILD if os.path.exists(BUILD + path) else SOURCE) + path, encoding="utf-8") as file:
        return json.load(file)


def check_schema(command):
    schema = load(command)
    Draft202012Validator.check_schema(schema)
    assert schema.get("$schema") == "https://json-schema.org/draft/2020-12/schema", "no $schema, or another draft"
    assert "properties" in schema, "it describes nothing"
    assert json.loads(output(command, "--json-schema")) == schema, "--json-schema prints another"


@functools.cache
def validator(command):
    return Draft202012Validator(load(command))


@functools.cache
def text(command, *arguments):
    """What is printed: once, for all cases that ask for the same."""
    return output(command, "--format", "json", *arguments)


def check_report(command, arguments):
    report = json.loads(text(command, *arguments))
    assert report["schema"] == "whylate-%s-1" % command, report["schema"]
    errors = list(validator(command).iter_errors(report))
    assert not errors, "%d errors\n%s" % (len(errors), "\n".join(
        "%s: %s" % ("/".join(map(str, e.absolute_path)), e.message[:200]) for e in errors[:10]))


def check_file(command, path):
    with open(path, encoding="utf-8") as file:
        errors = list(validator(command).iter_errors(json.load(file)))
    assert not errors, "%d errors, the first: %s" % (len(errors), errors[0].message[:400])


def check_refused(command, arguments, change):
    """The schema is no sieve: it refuses a report that lacks or misspells something."""
    report = json.loads(text(command, *arguments))
    change(report)
    assert next(validator(command).iter_errors(report), None), "accepted"


def check_saved(first, second):
    """What --save writes, and what --compare and --resume make of it."""
    with tempfile.TemporaryDirectory() as directory:
        saved, resumed = os.path.join(directory, "saved"), os.path.join(directory, "resumed")
        check_report("profile", ["--limit", "1", "--save", saved, first])
        check_file("profile", saved)
        check_report("profile", ["--compare", saved, second])
        check_report("profile", ["--compare", saved, "--limit", "1", "--operation", "*", second])
        check_report("profile", ["--resume", saved, "--force", first])
        check_report("profile", ["--resume", saved, "--force", "--limit", "0", "--save", resumed, second])
        check_file("profile", resumed)
        with open(resumed, encoding="utf-8") as file:
            profiles = json.load(file)["profiles"]
        assert any(profile["p50_ns"] is None for profile in profiles), "percentiles are known"
        assert any(root["example"] is None for profile in profiles for peak in profile["peaks"]
                   for root in peak.get("roots", [])), "all examples are known"


def check_partial(path):
    """Peaks that --peak leaves out are not searched."""
    arguments = ["--operation", "syscall:clone", "--peak", "2", path]
    check_report("profile", arguments)
    peaks = json.loads(output("profile", "--format", "json", *arguments))["profiles"][0]["peaks"]
    assert ["tree" in peak for peak in peaks] == [False, True], peaks


def searched(report):
    """A peak with root causes, the first one."""
    return next(peak for profile in report["profiles"] for peak in profile["peaks"] if peak["roots"])


def no_tree(report):
    del searched(report)["tree"]


def other_status(report):
    searched(report)["status"] = "found"


def other_path(report):
    searched(report)["roots"][0]["path"] = "/".join(searched(report)["roots"][0]["path"])


def misspelt_node(report):
    searched(report)["tree"]["children"][0]["max_count"] = 1


def no_own(report):
    del searched(report)["tree"]["own_ns"]


def two_scopes(report):
    report["profiles"][0]["scope"] = {"thread": "a (1)", "cpu": "CPU 0"}


def no_bucket_count(report):
    del report["profiles"][0]["buckets"][0]["count"]


def unnamed_kind(report):
    report["profiles"][0]["operation"] = "read"


def no_begin(report):
    del report["requests"][0]["begin"]


def other_cause(report):
    report["requests"][0]["causes"][0]["kind"] = "disk"


def no_inner(report):
    del report["requests"][0]["inner"]


def other_change(report):
    report["summary"][0]["user_can_change"] = ""


def other_metric(report):
    report["metric"] = "time"


def no_difference(report):
    del report["causes"][0]["difference"]


def other_part(report):
    report["calls"][0]["made_of"][0]["what"] = "work"


def no_steps(report):
    del report["alignment"]["divergences"][0]["a_steps"]


def text_mean(report):
    report["a"]["mean"] = "12.9 ms"


def whole_alignment(report):
    report["alignment"] = []


def no_second(report):
    del report["b_coverage"]


def no_window(report):
    del report["window"]


def text_time(report):
    report["window"]["begin"] = str(report["window"]["begin"])


def no_exclusive(report):
    del report["threads"][0]["tree"]["children"][0]["exclusive"]


def text_calls(report):
    report["functions"][0]["calls"] = "1"


def other_kind(report):
    report["threads"][0]["tree"]["kind"] = "process"


def no_stack(report):
    del report["stand_outs"][0]["stack"]


def unnamed_part(report):
    report["timeline"][0]["rectangles"][0]["kind"] = "state"


tap = Tap()
for name in ("delay", "overview", "profile", "requests", "diff", "functions", "explain", "batch"):
    tap.case("the schema of " + name, check_schema, name)
startup = trace("startup-chain")
tap.case("delay startup-chain, target", check_report, "delay", ["--target", TARGET, startup])
tap.case("delay startup-chain, one entry a list", check_report, "delay", ["--target", TARGET, "--limit", "1", startup])
tap.case("delay futex, one entry a list", check_report, "delay", ["--thread", "all", "--limit", "1", trace("futex")])
tap.case("delay startup-chain, two threads, a window", check_report, "delay",
         ["--thread", "xinit", "--thread", "Xorg", "--last", "500ms", startup])
for name in sample(("pipe-chain", "hang", "snapshot", "lost", "wide", "signals", "polls", "cfs-quota", "two-hosts-server",
             "ust-func", "futex", "lock-lapse", "web-mixed"), 8):
    limit = "1000" if name == "lock-lapse" else "0"  # 14 MB of the same
    tap.case("delay %s, all threads" % name, check_report, "delay",
             ["--thread", "all", "--limit", limit, "--quiet", trace(name)])
for name in sample(("startup-chain", "lost", "snapshot", "web-mixed", "preempt", "futex", "hang", "wide"), 8):
    tap.case("overview " + name, check_report, "overview", ["--quiet", trace(name)])
for name in sample(("fork4", "lock-lapse", "disk-read", "lost", "wide", "ust-func", "callstack", "snapshot", "web-mixed"), 8):
    tap.case("profile %s, every operation" % name, check_report, "profile",
             ["--operation", "*", "--quiet", trace(name)])
for name in sample(("fork4", "lost", "wide", "callstack")):
    tap.case("profile %s, every operation and path" % name, check_report, "profile",
             ["--operation", "*", "--limit", "0", "--depth", "0", "--quiet", trace(name)])
    tap.case("profile %s, one entry a list" % name, check_report, "profile",
             ["--operation", "*", "--limit", "1", "--quiet", trace(name)])
for name in ("thread", "process", "resource", "cpu"):
    tap.case("profile wide per %s, over time" % name, check_report, "profile",
             ["--operation", "*", "--per", name, "--time-lapse", "100ms", "--quiet", trace("wide")])
tap.case("profile lock-lapse, small buckets, one level", check_report, "profile",
         ["--resolution", "16", "--depth", "1", trace("lock-lapse")])
tap.case("profile lock-lapse, nothing there", check_report, "profile", ["--last", "1us", trace("lock-lapse")])
tap.case("profile of both hosts", check_report, "profile",
         ["--operation", "*", *trace("two-hosts-client", "two-hosts-server")])
tap.case("profile guest-vcpus, every operation", check_report, "profile",
         ["--operation", "*", "--quiet", trace("guest-vcpus") + "/host"])
tap.case("profile fork4, one peak", check_partial, trace("fork4"))
tap.case("profile fork4 and fork1: saved, compared, resumed", check_saved, *trace("fork4", "fork1"))
tap.case("overview of both hosts", check_report, "overview", trace("two-hosts-client", "two-hosts-server"))
LIMITS = ["--fail-if", "p99(syscall:*) > 1ms", "--fail-if", "a: blocked(thread=*) > 30% if blocked > 1ms", "--fail-if",
          "max(syscall:none) > 1s", "--fail-if", "max(syscall:none) > 1s if count > 0", "--quiet"]


def check_limits(command, arguments):
    done = run(command, "--format", "json", *LIMITS, *arguments)
    assert done.returncode == 1, done
    report = json.loads(done.stdout)
    assert [one["outcome"] for one in report["limits"]] == ["exceeded", "exceeded", "not-judged", "not-applied"]
    errors = list(validator(command).iter_errors(report))
    assert not errors, errors[0]


for name in ("overview", "profile", "requests", "delay"):
    tap.case("limits of " + name, check_limits, name,
             [*(("--thread", "all") if name == "delay" else ()), trace("web-mixed")])
METRICS = ("latency", "cpu", "wait", "disk-bytes", "disk-time", "net-bytes", "calls")
for name in sample(METRICS):
    tap.case("requests web-mixed, " + name, check_report, "requests",
             ["--metric", name, "--limit", "0", trace("web-mixed")])
    tap.case("diff web-mixed, " + name, check_report, "diff",
             ["--metric", name, "--slow-fast", "p80", trace("web-mixed")])
for name in sample(("lost", "snapshot", "wide", "ust-func", "startup-chain")):
    for preset in ("server", "client", "process", "syscall:*"):
        tap.case("requests %s, %s" % (name, preset), check_report, "requests",
                 ["--preset", preset, "--limit", "3", "--quiet", trace(name)])
tap.case("requests of both hosts", check_report, "requests",
         ["--preset", "client", "--limit", "0", *trace("two-hosts-client", "two-hosts-server")])
for name in ("0", "1"):
    tap.case("diff fork1 fork4, --limit " + name, check_report, "diff", ["--limit", name, *trace("fork1", "fork4")])
    tap.case("diff of two requests, --limit " + name, check_report, "diff",
             ["--limit", name, "--a", "2", "--b", "3", trace("web-mixed")])
tap.case("diff of the ways to a target", check_report, "diff",
         [*(os.path.join(trace("whatif-startup"), run) for run in ("startup-base", "startup-nap0")), "--target",
          "sched_process_exec filename=*/autostart"])
for name, some in (("delay", ["--thread", "job"]), ("requests", []), ("profile", ["--operation", "*"]), ("overview", []), ("diff", [])):
    for rule in ("thread=peerd leaf=blocked/*: x0.5", "thread=peerd leaf=working/user: x3", *(["best"] if name in ("delay", "requests", "profile") else [])):
        tap.case("%s --what-if '%s'" % (name, rule), check_report, name,
                 [*some, "--what-if", rule, os.path.join(trace("whatif-peer"), "base")])
tap.case("diff of two windows, processes", check_report, "diff",
         ["--preset", "process", "--a", "..+500ms", "--b", "+500ms..", startup])
for name in sample(("ust-func", "callstack", "hang", "lost", "snapshot", "startup-chain", "wide")):
    tap.case("functions of " + name, check_report, "functions", ["--quiet", trace(name)])
    tap.case("functions of %s, one entry a list" % name, check_report, "functions", ["--limit", "1", "--quiet", trace(name)])
for name in sample(("ust-func", "callstack", "lost")):
    tap.case("functions of %s, a timeline" % name, check_report, "functions",
             ["--timeline", "--limit", "0", "--metric", "cpu", "--quiet", trace(name)])
tap.case("functions of ust-func, of one of them", check_report, "functions", ["--function", "fact", trace("ust-func")])
tap.case("functions of both hosts", check_report, "functions", trace("two-hosts-client", "two-hosts-server"))
for change in (no_exclusive, text_calls, other_kind, no_stack, unnamed_part, no_window, text_time):
    tap.case("functions with %s is refused" % change.__name__.replace("_", " "), check_refused, "functions",
             ["--timeline", "--thread", "ls", "--min-duration", "1ms", trace("callstack")], change)
for change in (no_begin, other_cause, no_inner, other_change, other_metric, no_window, text_time):
    tap.case("requests with %s is refused" % change.__name__.replace("_", " "), check_refused, "requests",
             [trace("web-mixed")], change)
for change in (no_difference, other_part, no_steps, text_mean, whole_alignment, no_second):
    tap.case("diff with %s is refused" % change.__name__.replace("_", " "), check_refused, "diff",
             ["--slow-fast", "p80", trace("web-mixed")], change)
for name in ("delay", "overview", "profile"):
    some = ["--target", TARGET] if name == "delay" else []
    tap.case(name + " without a window is refused", check_refused, name, some + [startup], no_window)
    tap.case(name + " with a time as text is refused", check_refused, name, some + [startup], text_time)
for change in (no_tree, other_status, other_path, misspelt_node, no_own, two_scopes, no_bucket_count, unnamed_kind):
    tap.case("profile with %s is refused" % change.__name__.replace("_", " "), check_refused, "profile", [startup], change)
sys.exit(tap.done())
