# SPDX-License-Identifier: MIT
"""The documents say what the command does: every option of --help stands in
the manual page and in the bash completion, and the other way round; manual
pages format without warnings; examples are what is printed."""
import functools
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from whylate_test import BUILD, SOURCE, Tap, output, run, trace

ANYWHERE = {"--help", "--version"}


def made(path):
    """What is made while building, or else in the source tree."""
    return os.path.join(BUILD if os.path.exists(os.path.join(BUILD, path)) else SOURCE, path)


def read(path):
    with open(made(path), encoding="utf-8") as file:
        return file.read()


def formatted(page):
    done = subprocess.run(["groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-P-c", "-rLL=200n", made("man/" + page)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    assert not done.stderr, done.stderr.decode()
    text = re.sub("\x1b\\[[0-9;]*m|.\b", "", done.stdout.decode())
    return text.replace("\N{HYPHEN}", "-").replace("\N{MINUS SIGN}", "-")


PAGES = sorted({page.replace(".man", ".1") for page in os.listdir(SOURCE + "/man")} -
               {"options.1", "page.awk", "whylate-snapshot.1"}) # that one is whylate-record.1
WORDS = re.findall(r"^  ([a-z]+) ", output("--help").decode(), re.M)
COMMANDS = [word for word in WORDS if "whylate-%s.1" % word in PAGES]


def options_in(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text))


def options_of(command):
    """Those that --help lists: what explains one may name another command's."""
    return set(re.findall(r"^  (--[a-z][a-z0-9-]*)", output(command, "--help").decode(), re.M))


def check_page(page):
    text = formatted(page)
    for section in ("NAME", "SYNOPSIS", "DESCRIPTION"):
        if section == "SYNOPSIS" and page == "whylate.7":
            continue # it is about words
        assert re.search("^%s$" % section, text, re.M), "no section " + section
    raw = read("man/" + page)
    assert re.search(r"^\.TH ", raw, re.M), "no .TH"


def lint(page):
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", made("man/" + page)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert not done.stdout, done.stdout.decode()


def check_manual(command):
    offered = options_of(command)
    page = formatted("whylate-%s.1" % command)
    said = options_in(page)
    # a page may speak of another command's options only in a line that names that command
    for line in joined(page).splitlines():
        if re.search(r"\b(lttng|babeltrace2|configure|whylate (?!%s))" % command, line):
            said -= options_in(line) - offered
    assert offered - ANYWHERE <= said, "not in the manual page: %s" % sorted(offered - ANYWHERE - said)
    assert said <= offered, "not an option: %s" % sorted(said - offered)


def check_parameters(command):
    """Options are parameters, except those that are for a terminal, or for the command's own way to cut traces."""
    offered = {o[2:] for o in options_of(command)}
    page = formatted("babeltrace2-sink.whylate.%s.7" % command)
    for name in sorted(offered - {"help", "version", "json-schema", "around", "cache", "glossary", "lead-in", "no-pager",
                                  "progress", "reader", "strict"}):
        assert re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(name), page), "no parameter " + name


def check_default(option, text):
    """The default that --help says stands in the manual page."""
    said = re.search(r"^  --%s (?:(?!\n  --).)*?\(default\s+([\w.]+)\)" % option, output("profile", "--help").decode(),
                     re.M | re.S)
    assert said, "--help says no default of --" + option
    entry = re.search(r"--%s .*?(?=^       --)" % option, text, re.M | re.S).group(0)
    assert re.search(r"(?<![\w.])%s(?![\w.]\d)" % re.escape(said.group(1)), entry), entry


def check_defaults():
    page = formatted("whylate-profile.1")
    for option in ("resolution", "maxcount-percentage", "min-operations", "threshold"):
        check_default(option, page)


def check_texts():
    """Every text of man/options.man is one of an option, and of a command that has it."""
    have = {command: {option[2:] for option in options_of(command)} for command in COMMANDS}
    heads = re.findall(r'^\.\\" OPTION (\S+) ?(.*)$', read("man/options.man"), re.M)[1:]
    assert len(heads) > 100, heads
    for name, commands in heads:
        for command in commands.split() or [c for c in COMMANDS if name in have[c]][:1] or ["no command"]:
            assert name in have.get(command, ()), "--%s is no option of %s" % (name, command)


def check_schema():
    """The commands that `check` answers for, and those that its schema lists."""
    answers = json.loads(output("check", "--format", "json", SOURCE + "/traces/startup-chain"))["commands"]
    schema = json.loads(output("check", "--json-schema"))
    listed = [enum for enum in enums(schema) if "overview" in enum]
    assert listed, "no enum of commands"
    for enum in listed:
        assert sorted(enum) == sorted(answer["command"] for answer in answers), enum


def enums(value):
    """All enums in a schema."""
    if isinstance(value, dict) and "enum" in value:
        yield value["enum"]
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from enums(part)


def complete(*words):
    """What the shell would offer after these words (the last one is begun)."""
    script = ('. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; '
              'f=$(complete -p whylate | sed -n "s/.*-F \\([^ ]*\\) .*/\\1/p"); '
              'COMPREPLY=(); "$f" whylate "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "--norc", "-c", script, "bash", made("share/completion/whylate"), *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr.decode()
    return {w.rstrip(" =") for w in done.stdout.decode().split("\n") if w.strip()}


def check_completion(command):
    offered = options_of(command)
    completed = complete("whylate", command, "--")
    assert offered == completed, "missing in the completion: %s; there but no option: %s" % (
        sorted(offered - completed), sorted(completed - offered))


def check_help_words():
    """help takes a command; as the first word both are offered."""
    commands = complete("whylate", "help", "")
    assert {"delay", "overview", "record", "snapshot"} <= commands and "help" not in commands, commands
    assert complete("whylate", "help", "de") == {"delay"}
    assert {"delay", "help"} <= complete("whylate", "")
    assert complete("whylate", "--format", "") == {"text", "json", "html"}  # of the overview


def check_values():
    """Words that an option takes, as the command lists them when it refuses one."""
    for option in ("--per", "--color", "--progress", "--reader"):
        refused = run("profile", option, "?", "TRACE").stderr.decode()
        words = set(re.search("must be one of (.*)", refused).group(1).split(", "))
        assert complete("whylate", "profile", option, "") == words, option
    assert complete("whylate", "profile", "--format", "") == {"text", "json", "html"}
    assert complete("whylate", "overview", "--format", "") == {"text", "json", "html"}
    assert complete("whylate", "check", "--format", "") == {"text", "json", "html"}
    assert complete("whylate", "delay", "--format", "") == {"text", "json", "csv", "html"}
    for option, values, commands in (
            ("--follow", "", ("requests", "diff", "functions")), ("--metric", "", ("requests", "diff", "functions")),
            ("--preset", "or syscall:NAME", ("requests", "diff", "functions")), ("--format", "", ("functions",))):
        for command in commands:
            refused = run(command, option, "?", "TRACE").stderr.decode()
            words = set(re.search("must be one of (.*)", refused).group(1).replace(values, "").strip(", ").split(", "))
            words |= {"syscall:"} if values else set()
            assert len(words) > 1 and complete("whylate", command, option, "") == words, (command, option, words)
    for option in ("--as", "--stacks", "--table"):
        refused = run("export", option, "?", "TRACE").stderr.decode()
        words = set(re.search("must be one of (.*)", refused).group(1).split(", "))
        assert complete("whylate", "export", option, "") == words, option
    assert complete("whylate", "requests", "--preset", "syscall", ":", "r") == set()  # no file names
    assert complete("whylate", "record", "--preset", "") == {"minimal", "normal", "full"}
    assert complete("whylate", "requests", "--format", "") == {"text", "json", "csv", "dot", "html"}
    assert complete("whylate", "diff", "--format", "") == {"text", "json", "html"}
    assert complete("whylate", "profile", "--operation", "'b") == {"block-queued:*", "block-served:*", "blocked:*", "busy"}
    assert complete("whylate", "profile", "--operation", "w") == {"wait-cpu"}
    for option in ("--save", "--compare", "--resume", "--kallsyms"):
        assert SOURCE + "/README.md" in complete("whylate", "profile", option, SOURCE + "/READ"), option


def check_kinds():
    """The kinds of operations that a report names are in the manual page and the completion."""
    text = output("profile", "--utc", trace("two-hosts-client")).decode()
    line = re.search(r"Operations in this trace: (.*?)\s+\(--operation", text, re.S).group(1)
    kinds = [kind.rstrip("*").rstrip(":") for kind in re.split(r",\s+", line)]
    assert "syscall" in kinds and "block-queued" in kinds and len(kinds) > 8, kinds
    page = formatted("whylate-profile.1")
    offered = {pattern.strip("'").rstrip("*").rstrip(":") for pattern in
               complete("whylate", "profile", "--operation", "")}
    for kind in kinds:
        assert re.search(r"^       %s(:|$|  )" % re.escape(kind), page, re.M), kind + " is not in the manual page"
        assert kind in offered, kind + " is not in the completion"


def check_rules():
    """Selectors of a rule, and values that need no trace; what stands before them stays."""
    error = run("delay", "--what-if", "x=y: 0", "trace").stderr.decode()
    selectors = set(re.search("there are (.*?); a rule", error).group(1).replace("=", "").split(", "))
    assert len(selectors) == 10, error
    for command in ("delay", "requests", "profile", "overview", "diff"):
        assert complete("whylate", command, "--what-if", "'") == selectors | {"best"}, command
    assert complete("whylate", "delay", "--what-if", "'thr") == {"thread"}
    assert complete("whylate", "delay", "--what-if", "'thread=Xorg lea") == {"thread=Xorg leaf"}
    assert complete("whylate", "delay", "--what-if", "'thread=Xorg leaf=interrupted/p") == {"thread=Xorg leaf=interrupted/preempted"}
    assert complete("whylate", "delay", "--what-if", "'cause=block-d") == {"cause=block-device"}


def check_commands():
    commands = set(WORDS)
    assert commands, "whylate --help lists no command"
    assert commands <= complete("whylate", ""), "completion lacks %s" % (commands - complete("whylate", ""))
    page = formatted("whylate.1")
    for command in commands:
        assert re.search(r"\b%s\b" % command, page), "whylate(1) lacks " + command
        assert output("help", command) == output(command, "--help"), "whylate help %s is another" % command


def check_exit_status():
    page = formatted("whylate.1")
    assert re.search("^EXIT STATUS$", page, re.M), "no section EXIT STATUS"
    section = page.split("EXIT STATUS")[-1]
    for status in "012345":
        assert re.search(r"\b%s\b" % status, section), "status %s is not explained" % status


def check_statuses(command):
    """The page's exit statuses are those that it ends with, each of which is met here."""
    section = formatted("whylate-%s.1" % command).split("EXIT STATUS\n", 1)[1]
    section = re.split(r"^\S", section, maxsplit=1, flags=re.M)[0]
    listed = {int(status) for status in re.findall(r"(?<![-\w(])(\d)(?![\w(])", section)}
    met = set()
    with tempfile.TemporaryDirectory() as place:
        damaged = shutil.copytree(trace("polls"), place + "/damaged")
        stream = max(glob.glob(damaged + "/**/*_0", recursive=True), key=os.path.getsize)
        os.truncate(stream, os.path.getsize(stream) // 3)
        good, more = [trace("polls")], []
        if command == "diff":
            more = [trace("polls")]
        elif command == "delay":
            more = ["--thread", "all"]
        elif command == "export":
            good = [*good, "--as", "trace-event"]
        elif command == "explain":
            some = [{row["id"] for row in json.loads(run("overview", "--limit", "0", "--format", "json", one).stdout)["findings"]}
                    for one in (trace("polls"), damaged)]
            good = [min(some[0] & some[1]), *good]
        good += more
        bad = [damaged if word == trace("polls") else word for word in good]
        none = [place + "/none" if word == trace("polls") else word for word in good]
        with open("/dev/full", "wb") as full:
            met.add(run(command, *good).returncode)
            met.add(run(command, *good, "--no-such-option").returncode)
            met.add(run(command, *none).returncode)
            met.add(run(command, *bad).returncode)
            met.add(run(command, *good, stdout=full).returncode)
        if b"--fail-if" in output(command, "--help"):
            met.add(run(command, *good, "--fail-if", "count(syscall:*) > 0").returncode)
        if command == "check":
            met.add(run(command, "--self", env={**os.environ, "TMPDIR": place + "/none"}).returncode)
    assert met == listed, (sorted(met), sorted(listed), section)


def check_diagnostics():
    """Messages and banners stand in whylate(1) as the program words them."""
    section = formatted("whylate.1").split("\nDIAGNOSTICS\n", 1)[1].split("\nENVIRONMENT\n", 1)[0]
    said = re.findall(r"^ {7}((?:the|a|has|no|limit|what|of) [^.\n]*[^.:;\n])$", section, re.M)
    assert len(said) == 12, said
    source = ""
    for path in glob.glob(SOURCE + "/src/*/*.c"):
        with open(path, encoding="utf-8") as file:
            source += re.sub(r'"\s*\n\s*"', "", file.read()).replace("%%", "%")
    for words in said:
        assert words in source, words


def joined(text):
    """Suggested commands in one line each."""
    return re.sub(r" \\\n +", " ", text)


def printed(*arguments):
    """Lines that the command prints, without the space around them. It is run where the traces are, as in the
    examples; the plugin says TRACE for what it does not know the name of."""
    with tempfile.TemporaryDirectory() as place:
        words = []
        for word in arguments:
            if os.path.isdir(word):
                os.symlink(word, place + "/" + os.path.basename(word))
                word = os.path.basename(word)
            words.append(word)
        done = run(*words, cwd=place)
    assert done.returncode == (1 if "--fail-if" in arguments else 0), done
    lines = {line.strip() for line in joined(done.stdout.decode()).splitlines()}
    names = [word for word in words if word not in arguments]
    return lines | {line.replace(" ".join(names), "TRACE") for line in lines if line.startswith("whylate ")}


def compare_lines(shown, real):
    shown = [line.strip() for line in joined("\n".join(shown)).split("\n")]
    shown = [line for line in shown if line and line != "..."]
    assert len(shown) > 3, "no example found"
    wrong = [line for line in shown if line not in real]
    assert not wrong, "not printed any more:\n" + "\n".join(wrong)


AUTOSTART = ("delay", SOURCE + "/traces/startup-chain", "--target",
             "sched_process_exec filename=*/autostart")
STARTUPS = ("diff", *(trace("whatif-startup") + "/startup-" + run for run in ("base", "nap0")), "--target",
            "sched_process_exec filename=*/autostart", "--utc")
APP = (trace("web-mixed"), "--process", "app")
UST = trace("ust-func")


def place_of(name):
    """Where a recording is that an example names, as from the root of the source tree or unpacked; None: it names none."""
    base = os.path.basename(name)
    if os.path.isdir(os.path.join(SOURCE, "traces", base)):
        return os.path.join(SOURCE, "traces", base)
    if os.path.exists(os.path.join(SOURCE, "traces", base + ".tar.xz")):
        return trace(base)
    return trace("whatif-startup") + "/" + base if base in ("startup-base", "startup-nap0") else None


@functools.lru_cache(None)
def printed_of(command):
    """Lines that a command prints that an example shows, without the space around them."""
    words = shlex.split(command)[1:]
    with tempfile.TemporaryDirectory() as place:
        for word in words:
            if place_of(word):
                os.makedirs(os.path.dirname(os.path.join(place, word)), exist_ok=True)
                os.symlink(os.path.abspath(place_of(word)), os.path.join(place, word))
        done = run(*words, cwd=place)
    assert done.returncode == (1 if "--fail-if" in words else 0), done
    return {line.strip() for line in joined(done.stdout.decode()).splitlines()}


def check_examples(document, least):
    """What README.md and the manual show below a command is what it prints now."""
    blocks = re.findall(r"^```\n(\$ whylate .*?)^```$", read(document), re.M | re.S)
    assert len(blocks) >= least, len(blocks)
    for block in blocks:
        lines = joined(block).splitlines()
        compare_lines(lines[1:], printed_of(lines[0][len("$ "):]))


def check_links():
    """What the documents link to is there: files, and headings of the manual, all of which its table of contents has."""
    for document in ("README.md", "docs/manual.md", "ARCHITECTURE.md", "CONTRIBUTING.md"):
        folder = os.path.dirname(os.path.join(SOURCE, document))
        for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", read(document)):
            path = os.path.normpath(os.path.join(folder, target)) if target else os.path.join(SOURCE, document)
            if target.startswith("html/"):  # made while building, and installed beside the document
                path = os.path.join(BUILD, "man", target)
            assert os.path.exists(path), (document, target)
            if anchor:
                with open(path, encoding="utf-8") as file:
                    heads = re.findall(r"^#+ (.*)$", file.read(), re.M)
                assert anchor in [re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads], (document, anchor)
    manual = read("docs/manual.md")
    assert re.findall(r"^- \[(.*)\]\(#", manual, re.M) == re.findall(r"^## (.*)$", manual, re.M)


def check_pictures():
    """The terminals in README.md show what is printed: made anew they are the same (make demo)."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([sys.executable, SOURCE + "/docs/demo.py", place], check=True)
        for name in ("answer.svg", "demo.svg"):
            with open(place + "/" + name, encoding="utf-8") as file:
                made_now = file.read().split("\n")
            kept = read("docs/" + name).split("\n")
            changed = [line for line in kept if line not in made_now]
            assert made_now == kept, "make demo writes it anew; not printed any more:\n" + "\n".join(changed)


def check_example(page, *arguments, number=0):
    """The first example with output in a manual page, or that number, is what is printed now."""
    section = read("man/" + page).split(".SH EXAMPLES")[1].split("\n.SH ")[0]
    block = re.findall(r"^\.nf\n(.*?)^\.fi$", section, re.M | re.S)[number]
    text = block.replace("\\-", "-").replace("\\(aq", "'").replace("\\&", "").replace("\\e", "\\")
    lines = text.split(".ft R\n", 1)[1].splitlines()
    compare_lines(lines, printed(*arguments))


tap = Tap()
for one in PAGES:
    tap.case("man/%s formats without warnings" % one, check_page, one)
    if shutil.which("mandoc"):
        tap.case("man/%s passes mandoc's lint" % one, lint, one)
for name in COMMANDS:
    tap.case("options of %s and its manual page" % name, check_manual, name)
for name in WORDS:
    tap.case("options of %s and the completion" % name, check_completion, name)
tap.case("texts of options are of options", check_texts)
tap.case("commands in the schema of check", check_schema)
tap.case("rules of --what-if in the completion", check_rules)
tap.case("commands, in --help, completion and whylate(1)", check_commands)
for name in ("delay", "profile", "export"):
    tap.case("parameters of sink.whylate." + name, check_parameters, name)
tap.case("defaults of profile's options, in --help and the manual page", check_defaults)
tap.case("values of options in the completion", check_values)
tap.case("completion of help", check_help_words)
tap.case("kinds of operations, in a report, the manual page and the completion", check_kinds)
tap.case("whylate(1) explains the exit status", check_exit_status)
tap.case("whylate(1) has the messages about traces as they are", check_diagnostics)
for one in ("overview", "delay", "profile", "requests", "functions", "diff", "export", "check", "explain", "batch"):
    tap.case("whylate-%s(1) lists the exit statuses that there are" % one, check_statuses, one)
tap.case("README.md shows what is printed", check_examples, "README.md", 0)
tap.case("the manual shows what is printed", check_examples, "docs/manual.md", 13)
tap.case("the documents' links lead somewhere", check_links)
tap.case("the pictures of terminals are what is printed", check_pictures)
tap.case("whylate-delay(1) shows what is printed", check_example, "whylate-delay.1", *AUTOSTART)
tap.case("whylate-overview(1) shows its first screen", check_example, "whylate-overview.1", "overview",
         SOURCE + "/traces/startup-chain", "--utc")
tap.case("whylate-overview(1) shows what is printed in full", lambda: check_example(
    "whylate-overview.1", "overview", "--full", SOURCE + "/traces/startup-chain", "--utc", number=1))
tap.case("whylate-profile(1) shows what is printed", check_example, "whylate-profile.1", "profile",
         trace("fork4"), "--operation", "syscall:clone", "--utc")
tap.case("whylate-requests(1) shows what is printed", check_example, "whylate-requests.1", "requests", *APP, "--limit", "4")
tap.case("whylate-requests(1) shows what is printed of one", lambda: check_example(
    "whylate-requests.1", "requests", trace("web-mixed"), "--pick", "14", number=1))
tap.case("whylate-diff(1) shows what is printed", check_example, "whylate-diff.1", "diff", *APP, "--slow-fast", "p80")
tap.case("whylate-diff(1) shows what is printed of two traces", lambda: check_example(
    "whylate-diff.1", "diff", *trace("fork1", "fork4"), number=1))
tap.case("whylate-diff(1) shows what is printed of a target", lambda: check_example(
    "whylate-diff.1", *STARTUPS, number=2))
for place, some in enumerate((
        (UST, "--limit", "6"), (trace("callstack"), "--thread", "grep", "--limit", "3"),
        (UST, "--function", "store_create", "--timeline", "--from", "lttng_ust_cyg_profile:func_entry", "--to", "+40ms",
         "--min-duration", "50us"), (trace("hang"),))):
    tap.case("whylate-functions(1) shows what is printed, example %d" % (place + 1), lambda: check_example(
        "whylate-functions.1", "functions", *some, number=place))
tap.case("whylate-export(1) shows what is printed", lambda: check_example(
    "whylate-export.1", "export", trace("pipe-chain"), "--as", "folded", "--thread", "stage-a", "--stacks", "waker",
    number=2))
tap.case("whylate-check(1) shows what is printed", check_example, "whylate-check.1", "check", trace("snapshot"))
tap.case("whylate-limits(7) shows what is printed", check_example, "whylate-limits.7", "profile", trace("disk-read"),
         "--fail-if", "p99(syscall:pread64) > 1ms")
tap.case("whylate-explain(1) shows what is printed", check_example, "whylate-explain.1", "explain", "w-aucdj3",
         SOURCE + "/traces/startup-chain")
tap.case("babeltrace2-sink.whylate.profile(7) shows what is printed", check_example,
         "babeltrace2-sink.whylate.profile.7", "profile", trace("disk-read"), "--operation", "syscall:pread64",
         "--peak", "3", "--limit", "1")
sys.exit(tap.done())
