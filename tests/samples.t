# SPDX-License-Identifier: MIT
"""Call stacks as samples: `samples`, whose functions and their CPU time are known by construction (truth.tsv), on both
ways in, and the cache."""
import collections
import json
import re
import subprocess
import sys
import tempfile

import exports as readers
import whylate_test as t

tap = t.Tap()
PLACE = t.trace("samples")


def truth():
    """{function: CPU time in ns, interrupts included}"""
    sums = collections.Counter()
    with open(PLACE + "/truth.tsv", encoding="ascii") as file:
        for line in file:
            name, ns = re.search(r"\t(\w+) cpu_ns=(\d+)", line).groups()
            sums[name] += int(ns)
    return sums


def tree(thread, *arguments):
    """{key: node} of the thread's state summary"""
    report = t.report("delay", PLACE, "--thread", thread, "--limit", "0", *arguments)
    nodes = {}

    def walk(node):
        nodes[node["key"]] = node
        for child in node["children"]:
            walk(child)
    walk(report["threads"][0]["summary"])
    return nodes


def shares():
    """The README: of 113 samples in spin 71 return behind the call of render_glyphs, 38 of parse_config's, so 4 are
    compress_block's. At 8 of them, 4 and 4, the kernel's stack has a second interrupt's entry further out (Babeltrace's
    text): the tick came on the way out of that one, and the sample is not of the thread's own code. The functions' shares
    of their CPU time are truth.tsv's, by what chance allows."""
    found = {f["name"]: f for f in tree("272")["working/user"]["functions"]}
    known = truth()
    whole = sum(known[name] for name in ("render_glyphs", "parse_config", "compress_block"))
    assert found["spin"]["samples"] == 113 - 8 and tree("272")["working/user"]["interrupt_samples"] == 8, found["spin"]
    for name, samples in (("render_glyphs", 71 - 4), ("parse_config", 38 - 4), ("compress_block", 4)):
        assert found[name]["samples"] == found[name]["inferred"] == samples and found[name]["self"] == 0, found[name]
        assert abs(samples / (113 - 8) - known[name] / whole) <= found[name]["error"], (name, found[name], known)
        assert found[name]["file"].endswith("work.c"), found[name]
    assert "inferred" not in found["spin"] and "inferred" not in found["load_theme"], found
    assert all(caller["inferred"] == caller["samples"] for caller in found["spin"]["callers"]), found["spin"]
    lines = {}
    with open(PLACE + "/bin/work.c", encoding="ascii") as file:
        for number, line in enumerate(file, 1):
            for name in found:
                if "static" in line and " %s(" % name in line:
                    lines[name] = number
    for name in ("spin", "render_glyphs", "parse_config", "compress_block"):
        assert found[name]["line"] == lines[name], (found[name], lines)


def order():
    """What ran first, then who called it, then who is further out."""
    names = [f["name"] for f in tree("272")["working/user"]["functions"]]
    assert names[0] == "spin"
    assert names.index("render_glyphs") < names.index("parse_config") < names.index("compress_block")
    assert names.index("compress_block") < names.index("load_theme") and names.index("compress_block") < names.index("main")


def hidden():
    """Each sample in spin lacks its caller: the instruction before the first return address is a call of it."""
    spin, = [f for f in tree("272")["working/user"]["functions"] if f["name"] == "spin"]
    assert {c["name"] for c in spin["callers"]} == {"render_glyphs", "parse_config", "compress_block"}, spin
    assert sum(c["samples"] for c in spin["callers"]) == spin["self"]


def sums():
    """By self, functions add up to their node's time to the ns; shares are of all samples of it."""
    for thread in ("272", "273", "200"):
        for key, node in tree(thread).items():
            if "functions" not in node:
                continue
            assert sum(f["ns"] for f in node["functions"]) == node["ns"], key
            assert sum(f["self"] for f in node["functions"]) == node["samples"], key
            for f in node["functions"]:
                assert abs(f["share"] - f["samples"] / node["samples"]) < 1e-6, f


def kernel():
    """copier reads /dev/zero: the kernel clears the reader's memory. Its clear_user_erms fills nearly all samples."""
    read = tree("273")["working/syscall:read"]["functions"]
    assert read[0]["name"] == "clear_user_erms" and read[0]["kernel"] and read[0]["share"] > 0.9, read[0]
    assert read[0]["callers"][0]["name"] == "read_zero", read[0]
    assert not [f["name"] for f in read if f["name"].startswith(("lttng", "asm_sysvec_apic", "sysvec_apic", "entry_"))]


def recorded_twice():
    """Each tick is recorded by two channels, and is one interrupt: copier's calls have nearly all of the CPU time that
    it noted itself, which has interrupts in it."""
    noted, nodes = truth()["copier_syscalls"], tree("273")
    work = nodes["working/syscall:read"]["ns"] + nodes["working/syscall:write"]["ns"]
    assert 0.9 * noted < work <= noted, (work, noted)


def verdict():
    words = " ".join(t.report("delay", PLACE, "--thread", "272")["verdict"])
    assert re.search(r"ran its own code for [\d.]+ ms: \d+ ± \d+ % of its own code in spin \(work\.c:15\), called from render_glyphs "
                     r"\(\d+ ± \d+ %\) and parse_config", words), words


def exports():
    """On-CPU stacks add up to the time on the CPU, on-CPU and off-CPU ones to the thread's life, to the ns."""
    def folded(kind):
        text = t.output("export", PLACE, "--as", "folded", "--stacks", kind, "--thread", "273").decode()
        return {tuple(line.rsplit(" ", 1)[0].split(";")): int(line.rsplit(" ", 1)[1]) for line in text.splitlines()}
    nodes = tree("273")
    ran = folded("on-cpu")
    on_cpu = nodes["working"]["ns"] + sum(n["ns"] for k, n in nodes.items() if re.match(
        r"interrupted/(irq|vector|softirq|hrtimer)[^/]*$", k))
    assert sum(ran.values()) == on_cpu, (sum(ran.values()), on_cpu)
    assert sum(folded("all").values()) == nodes["total"]["ns"]
    longest = max(ran, key=ran.get)
    assert longest[1] == "copier" and "read" in longest and longest[-1] == "clear_user_erms", longest


def written(form, *arguments):
    with tempfile.NamedTemporaryFile() as file:
        t.output("export", *arguments, "--as", form, "--output", file.name)
        return (readers.perfetto_samples if form == "perfetto" else readers.speedscope_samples)(file.name)


def speedscope():
    """The samples one by one, with the time that each stands for: in spin as shares() has them, each an equal part of
    the state's time but for rounding; with what has no sample the time on the CPU, to the ns."""
    (name, samples), = written("speedscope", PLACE, "--thread", "272").items()
    assert "(272)" in name and name.endswith(": samples of what ran"), name
    nodes = tree("272")
    user = [(stack, ns) for stack, ns in samples if "working/user" in stack]
    callers = collections.Counter(stack[stack.index("spin") - 1] for stack, _ in user if "spin" in stack)
    assert callers == {"render_glyphs (inferred)": 71, "parse_config (inferred)": 38, "compress_block (inferred)": 4}, callers
    assert len(user) == nodes["working/user"]["samples"] + nodes["working/user"]["interrupt_samples"]
    assert sum(1 for stack, _ in user if "[interrupts]" in stack) == nodes["working/user"]["interrupt_samples"]
    assert sum(ns for _, ns in user) == nodes["working/user"]["ns"]
    assert all(abs(ns - nodes["working/user"]["ns"] / len(user)) <= 1 for _, ns in user)
    on_cpu = nodes["working"]["ns"] + sum(n["ns"] for k, n in nodes.items() if re.match(
        r"interrupted/(irq|vector|softirq|hrtimer)[^/]*$", k))
    assert sum(ns for _, ns in samples) == on_cpu
    without = [stack for stack, _ in samples if stack[-1] == "(no sample)"]
    assert len(without) == len({stack[0] for stack in without}) and all(len(stack) == 2 for stack in without)
    assert written("speedscope", t.trace("futex")) == {}  # it has no stacks


def perfetto():
    """The same as perf's samples. Those in spin are of ticks: they have the begin of one, as Babeltrace prints it."""
    samples = written("perfetto", PLACE, "--thread", "272")
    spin = [sample for sample in samples if "spin" in sample[3]]
    callers = collections.Counter(sample[3][sample[3].index("spin") - 1] for sample in spin)
    assert callers == {"render_glyphs (inferred)": 71, "parse_config (inferred)": 38, "compress_block (inferred)": 4}, callers
    # what the kernel did as a tick in spin ended lies on top of it
    assert all(sample[1:3] == (272, 272) and sample[4] == (sample[3][-1] != "spin") for sample in spin), spin[0]
    text = subprocess.run(["babeltrace2", "--clock-seconds", PLACE], stdout=subprocess.PIPE, check=True).stdout.decode()
    ticks = {int(second + part) for second, part in re.findall(r"^\[(\d+)\.(\d{9})\].* x86_irq_vectors_local_timer_entry:",
                                                               text, re.M)}
    times = [sample[0] for sample in spin]
    assert len(set(times)) == 113 and set(times) <= ticks, sorted(set(times) - ticks)[:3]
    assert written("perfetto", t.trace("futex")) == []


def functions():
    """The tree beside traced calls: a node's time is its children's and its own; all is the work."""
    tree_of, = [s for s in t.report("functions", PLACE, "--thread", "272")["sampled"] if s["tid"] == 272]
    names = {}

    def walk(node):
        names[node["name"]] = names.get(node["name"], 0) + node["samples"]
        assert node["ns"] == node["self_ns"] + sum(c["ns"] for c in node["children"]), node["name"]
        for child in node["children"]:
            walk(child)
    for child in tree_of["children"]:
        walk(child)
    assert (names["spin"], names["render_glyphs"], names["parse_config"], names["compress_block"]) == (113, 71, 38, 4)
    assert tree_of["ns"] + tree_of["unsampled_ns"] == tree("272")["working"]["ns"]


def roots(*arguments):
    """[root] of all peaks of a profile"""
    report = t.report("profile", PLACE, "--limit", "0", *arguments)
    return [root for profile in report["profiles"] for peak in profile["peaks"]
            for root in peak["roots"] + ([peak["most_time"]] if "most_time" in peak else [])]


def profiled():
    """copier's reads are on /dev/zero: their own work is all that the call worked, so these roots of the peaks have all
    samples of that between them; and the kernel's clearing of the reader's memory has nearly all of these."""
    own = [root for root in roots("--thread", "copier", "--operation", "syscall:read")
           if root["path"][1:] == ["working/syscall:read"]]
    read = tree("273")["working/syscall:read"]
    assert sum(root["samples"] for root in own) == read["samples"] and sum(root["ns"] for root in own) == read["ns"]
    for root in own:
        first = root["functions"][0]
        assert first["name"] == "clear_user_erms" and first["self"] > 0.9 * root["samples"], root
        assert sum(f["ns"] for f in root["functions"]) == root["ns"], root
        assert sum(f["self"] for f in root["functions"]) == root["samples"], root
    text = t.output("profile", PLACE, "--thread", "copier", "--operation", "syscall:read").decode()
    assert re.search(r"In its samples: \d+ ± \d+ % of that work in clear_user_erms \[kernel\], called from read_zero;",
                     " ".join(text.split())), text


def profiled_opposite():
    """Waits have no samples: while bash waited for its child nothing of it ran. No sample, no function: copier opened
    two files in 286 us. Fewer than five: no sentence. Nor of a trace without stacks."""
    waits = [root for root in roots("--thread", "bash") if root["path"][1:2] == ["blocked/child"]]
    assert waits and not any("functions" in root for root in waits if root["path"][-1] == "blocked/child"), waits
    opened = roots("--thread", "copier", "--operation", "syscall:openat")
    assert opened and not any("functions" in root or "samples" in root for root in opened), opened
    counts = [root.get("samples", 0) for root in roots("--operation", "syscall:*")]
    text = t.output("profile", PLACE, "--limit", "0", "--operation", "syscall:*").decode()
    assert [n for n in counts if 0 < n < 5] and text.count("In its samples: ") == sum(n >= 5 for n in counts), counts
    assert b"In its samples" not in t.output("profile", t.trace("futex"))


def by_name():
    """272 was bash for 10 ms, `sampled` for a second, and ended as `true`, which it exec'ed; 273 was `sampled` until it
    named itself copier, and is of the program sampled, too."""
    def tids(*arguments):
        report = t.report("delay", PLACE, *arguments)
        return [thread["tid"] for thread in report["threads"]]
    assert tids("--thread", "sampled") == tids("--thread", "samp*") == [272]
    assert tids("--thread", "true") == [272] and tids("--thread", "copier") == [273]
    assert tids("--thread", "bash") == [200]  # whose name it is now, not 272, which had it first
    assert tids("--process", "sampled") == [272, 273]
    assert t.run("delay", PLACE, "--thread", "sample").returncode == 2


def judged():
    """Limits on functions: what chance allows of the samples is taken both ways. `spin` is all that truth.tsv has of sampled."""
    cpu = sum(truth()[name] for name in ("render_glyphs", "parse_config", "compress_block"))
    for limit, status in (("cpu(function=spin) > %d ns" % (cpu // 2), 1), ("cpu(function=spin) > %d ns" % (2 * cpu), 0),
                          ("cpu(function=spin) > %d ns" % cpu, 4), ("cpu(function=clear_user*, thread=copier) > 50 %", 1),
                          ("cpu(function=clear_user*, thread=copier) < 50 %", 0), ("cpu(function=no_such) > 5s", 0)):
        done = t.run("overview", PLACE, "--fail-if", limit)
        assert done.returncode == status, (limit, done.returncode, done.stdout.decode()[:300])
    for limit in ("cpu > 3ms", "p99(syscall:read, function=x) > 3ms", "blocked(function=x) > 3ms", "cpu(function=x) > 3"):
        assert t.run("overview", PLACE, "--fail-if", limit).returncode == 2, limit
    assert t.run("overview", t.trace("futex"), "--fail-if", "cpu(function=x) > 1ms").returncode == 4  # no samples


def foretold():
    """A rule picks what a function took, within the samples' error; one that is not there is named with what is."""
    for name in ("parse_config", "render_glyphs"):
        out = json.loads(t.output("delay", PLACE, "--target", "sched_process_exec filename=/bin/true", "--what-if",
                                  "function=%s: 0" % name, "--format", "json"))["what_if"]
        assert abs(out["picked"]["ns"] - truth()[name]) < 0.12 * truth()[name], (name, out["picked"], truth()[name])
    done = t.run("delay", PLACE, "--target", "sched_process_exec filename=/bin/true", "--what-if", "function=parse_confg: 0")
    assert done.returncode == 2 and b"parse_config" in done.stderr, done.stderr


def both_ways():
    """Babeltrace's messages and the packets themselves give the same samples; so does the cache's image."""
    command = ["delay", PLACE, "--thread", "all", "--format", "json"]
    fast = t.run(*command, "--cache", "off").stdout
    assert fast == t.run(*command, "--cache", "off", "--reader", "babeltrace").stdout
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(2):
            assert fast == t.run(*command, "--cache", cache).stdout


tap.case("shares are those of truth.tsv", shares)
tap.case("the right functions first", order)
tap.case("callers without a frame", hidden)
tap.case("sums to the ns", sums)
tap.case("the kernel's functions", kernel)
tap.case("events that two channels record", recorded_twice)
tap.case("the verdict", verdict)
tap.case("flame graphs", exports)
tap.case("speedscope: samples one by one", speedscope)
tap.case("Perfetto: the same", perfetto)
tap.case("a tree beside traced calls", functions)
tap.case("root causes of peaks", profiled)
tap.case("root causes of what did not run", profiled_opposite)
tap.case("threads by the name that they had longest", by_name)
tap.case("limits on functions", judged)
tap.case("what if a function took no time", foretold)
tap.case("both ways in, and the cache", both_ways)
sys.exit(tap.done())
