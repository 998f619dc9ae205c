# SPDX-License-Identifier: MIT
"""--anonymise: no name of the trace is in any output, the numbers are the same, and names are replaced one to one.
The names are taken from babeltrace2's text here, not from whylate."""
import collections
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import whylate_test as t

tap = t.Tap()
DIRECTORY = tempfile.TemporaryDirectory()
KEY = os.path.join(DIRECTORY.name, "key")
with open(KEY, "w", encoding="utf-8") as key_file:
    key_file.write("a secret\n")

# words that are the kernel's, the tracer's or the report's own, whatever a thread or file has them for too
OWN = set("""app client server socket sh sleep signal timer poll read write lock file device cpu net host thread kernel
    memory swap null tty console stat cmdline self maps status comm proc sys dev events syscall user work request mem
    lttng tracebox-none name data config cache root bin lib etc run tmp usr var home boot opt writer reader""".split())


@functools.lru_cache(maxsize=None)
def names_of(name):
    """Names of user threads, components of paths, host names and addresses in the trace."""
    text = subprocess.run(["babeltrace2", "--no-delta", t.trace(name)], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode("utf-8", "replace")
    names, kernel, paths = set(), set(), set()
    for line in text.split("\n"):
        event = re.match(r"\[[^\]]*\] (\S+) (\w+):", line)
        if not event:
            continue
        names.add(event[1])  # the host
        if event[2] == "lttng_statedump_process_state":
            found = re.search(r'name = "([^"]*)", type = (\S+)', line)
            (kernel if found[2].startswith("1") else names).add(found[1])
        elif event[2].startswith(("sched_", "syscall_")):
            names |= set(re.findall(r'comm = "([^"]+)"', line))
            paths |= set(re.findall(r'(?:filename|pathname|path|oldname|newname) = "([^"]+)"', line))
            names |= {".".join(m) for m in re.findall(
                r"\[0\] = (\d+), \[1\] = (\d+), \[2\] = (\d+), \[3\] = (\d+) \]", line) if m[0] not in ("127", "0")}
    names |= {part for path in paths for part in path.split("/")}
    return {n for n in names - kernel if len(n) > 3 and n.lower() not in OWN and not re.fullmatch(r"[\d:x]+", n) and
            not n.startswith(("lttng", "swapper", "kworker", "ksoftirqd", "rcu", "migration", "jbd2", "irq/", "scsi"))}


def kernel_words():
    """What may be in a report anyway: words of its own, and the kernel's."""
    words = set()
    for place in ("share/schema", "man"):
        for file in os.listdir(os.path.join(t.SOURCE, place)):
            with open(os.path.join(t.SOURCE, place, file), encoding="utf-8") as stream:
                words |= set(re.findall(r"[\w.-]+", stream.read()))
    return words


WORDS = kernel_words()


def check_hidden(name, arguments, key=()):
    names = {n for n in names_of(name) if n not in WORDS}
    assert len(names) >= 3, names
    paths = t.trace(name)
    limit = () if arguments[0] == "check" else ("--limit", "0")
    plain = t.run(*arguments, paths, "--quiet", *limit)
    hidden = t.run(*arguments, paths, "--quiet", *limit, "--anonymise", *key)
    assert (plain.returncode, plain.stderr) == (hidden.returncode, hidden.stderr) == (plain.returncode, b""), hidden.stderr
    shown, text = plain.stdout.decode("utf-8", "replace"), hidden.stdout.decode("utf-8", "replace")

    def found(where):
        tokens = set(re.findall(r"[\w.+-]+", where)) | set(re.findall(r"[\w.+]+", where))
        return {n for n in names if (n in tokens if re.fullmatch(r"[\w.+-]+", n) else n in where)}

    assert not found(text), sorted(found(text))[:10]
    assert os.path.dirname(paths) not in text, "the path of the trace"
    return found(shown)


def numbers(value, into):
    """All numbers of a report, with the members that have them."""
    if isinstance(value, dict):
        for k, v in value.items():
            if isinstance(v, (int, float)):
                into[(k, v)] += 1
            else:
                numbers(v, into)
    elif isinstance(value, list):
        for v in value:
            numbers(v, into)
    return into


def check_numbers(command, name, *arguments):
    plain = t.report(command, t.trace(name), "--limit", "0", "--quiet", *arguments)
    hidden = t.report(command, t.trace(name), "--limit", "0", "--quiet", "--anonymise", *arguments)
    a, b = numbers(plain, collections.Counter()), numbers(hidden, collections.Counter())
    assert a == b, (list((a - b).items())[:5], list((b - a).items())[:5])


def threads_of(name, *arguments):
    report = t.report("delay", t.trace(name), "--thread", "all", "--limit", "1", "--quiet", *arguments)
    return {(one["tid"], one["begin"]): one["name"] for one in report["threads"]}


def check_one_to_one():
    """Threads of one name have one name, and those of two have two; the kernel's and the tracer's stay."""
    plain, hidden = threads_of("web-mixed"), threads_of("web-mixed", "--anonymise")
    pairs = {(plain[k], hidden[k]) for k in plain}
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs), pairs
    by_name = dict(pairs)
    assert by_name["kthreadd"] == "kthreadd" and by_name["lttng-consumerd"] == "lttng-consumerd"
    assert re.fullmatch(r"thread-\d+", by_name["nginx"]) and by_name["nginx"] != by_name["app"]


def check_key():
    """With a key the same name has the same text in every trace, with another key another one."""
    texts = []
    for name in ("fork1", "fork4"):
        plain, hidden = threads_of(name), threads_of(name, "--anonymise-key", KEY)
        texts.append({hidden[k] for k in plain if plain[k] == "forker"})
    assert texts[0] == texts[1] and len(texts[0]) == 1 and re.fullmatch("thread-[a-z2-7]{8}", min(texts[0])), texts
    other = os.path.join(DIRECTORY.name, "other")
    with open(other, "w", encoding="utf-8") as file:
        file.write("another")
    assert min(texts[0]) not in threads_of("fork1", "--anonymise-key", other).values()
    for bad in ("/nonexistent", "/dev/null"):
        assert t.run("overview", t.trace("fork1"), "--anonymise-key", bad).returncode == 2


def check_selection():
    """Options are given with the real names, and are not shown."""
    done = t.run("profile", t.trace("web-mixed"), "--thread", "nginx", "--process", "webclient", "--anonymise", "--fail-if",
                 "blocked(thread=nginx) > 1%", "--format", "json", "--quiet")
    assert done.returncode == 1 and b"nginx" not in done.stdout and b"webclient" not in done.stdout
    plain = t.run("profile", t.trace("web-mixed"), "--thread", "nginx", "--process", "webclient", "--fail-if",
                  "blocked(thread=nginx) > 1%", "--format", "json", "--quiet")
    assert json.loads(done.stdout)["limits"][0]["value"] == json.loads(plain.stdout)["limits"][0]["value"]
    both = t.trace("two-hosts-client", "two-hosts-server")
    a, b = (t.report("overview", *both, "--host", "client", "--quiet", "--limit", "0", *more) for more in ((), ("--anonymise",)))
    assert [one["tid"] for one in a["threads"]] == [one["tid"] for one in b["threads"]] and len(a["threads"]) > 0
    assert [h["hostname"] for h in b["hosts"]] == ["host-1", "host-2"]


def check_same_bytes():
    """Twice, and through Babeltrace: the same bytes; what is kept of the trace has its own names."""
    arguments = ("overview", t.trace("startup-chain"), "--anonymise", "--format", "json", "--quiet")
    first = t.output(*arguments)
    assert first == t.output(*arguments) == t.output(*arguments, "--reader", "babeltrace")
    cache = os.path.join(DIRECTORY.name, "cache")
    for _ in range(2):
        assert t.output(*arguments, "--cache", cache) == first
    plain = t.output(*arguments[:2], *arguments[3:])
    assert plain == t.output(*arguments[:2], *arguments[3:], "--cache", cache)  # kept now
    assert plain == t.output(*arguments[:2], *arguments[3:], "--cache", cache)
    assert t.output(*arguments, "--cache", cache) == first


def check_damage():
    """A damaged file's path."""
    place = os.path.join(DIRECTORY.name, "secret-customer")
    shutil.copytree(t.trace("signals"), place)
    subprocess.run(["chmod", "-R", "u+w", place], check=True)
    largest = max((f for f in t.kernel_files(place) if "metadata" not in f and os.path.isfile(f)), key=os.path.getsize)
    os.truncate(largest, os.path.getsize(largest) * 2 // 3 + 5)
    for form in ("text", "json"):
        plain = t.run("overview", place, "--format", form)
        hidden = t.run("overview", place, "--format", form, "--anonymise")
        assert plain.returncode == hidden.returncode == 4
        assert b"secret-customer" in plain.stdout and b"secret-customer" not in hidden.stdout
    done = t.run("batch", place, "--anonymise-key", KEY)
    assert done.returncode == 4 and b"secret-customer" not in done.stdout and json.loads(done.stdout)["events"] > 0
    assert t.run("batch", place, "--anonymise").returncode == 2


SHOWN = 0
REPORTS = [("web-mixed", ("overview",)), ("web-mixed", ("overview", "--format", "json")),
           ("startup-chain", ("delay", "--target", "sched_process_exec filename=*/autostart")),
           ("web-mixed", ("delay", "--thread", "all", "--format", "json")),
           ("web-mixed", ("delay", "--process", "webclient", "--format", "csv")),
           ("web-mixed", ("delay", "--process", "webclient", "--path")),
           ("web-mixed", ("profile", "--operation", "*")),
           ("web-mixed", ("profile", "--operation", "*", "--per", "resource", "--format", "json")),
           ("web-mixed", ("profile", "--per", "process"))]
REPORTS += [("web-mixed", ("requests", "--format", form)) for form in ("text", "json", "csv", "dot")]
REPORTS += [("web-mixed", ("diff", "--slow-fast", "p80", "--format", form)) for form in ("text", "json")]
REPORTS += [("web-mixed", ("check",)), ("web-mixed", ("batch", "--map")), ("futex", ("overview",)), ("hang", ("overview",)),
            ("two-hosts-server", ("overview", "--format", "json"))]
REPORTS += [("ust-func", ("functions", "--format", form)) for form in ("text", "json", "csv", "folded")]
REPORTS += [("ust-func", ("profile", "--operation", "function:*"))]
for which, words in REPORTS:
    counted = []
    if words[0] == "batch":
        tap.case("no name in %s of %s" % (" ".join(words), which), lambda: counted.append(
            check_hidden(which, words, ("--anonymise-key", KEY))))
    else:
        tap.case("no name in %s of %s" % (" ".join(words), which), lambda: counted.append(check_hidden(which, words)))
    SHOWN += len(counted[0]) if counted else 0
tap.ok(SHOWN > 50, "without the option there are names (%d)" % SHOWN)
for words in (("overview", "web-mixed"), ("delay", "web-mixed", "--process", "webclient"),
              ("profile", "web-mixed", "--operation", "*"), ("requests", "web-mixed"), ("diff", "web-mixed", "--slow-fast", "p80"),
              ("overview", "startup-chain"), ("requests", "two-hosts-server", "--preset", "client")):
    tap.case("the numbers of " + " ".join(words), check_numbers, *words)
tap.case("one to one", check_one_to_one)
tap.case("with a key", check_key)
tap.case("what is asked for", check_selection)
tap.case("the same bytes", check_same_bytes)
tap.case("paths of damaged files", check_damage)
sys.exit(tap.done())
