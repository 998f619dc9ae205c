# SPDX-License-Identifier: MIT
"""whylate batch --plan: what it writes and refuses; GNU parallel over two hosts, one of them lost in the middle of a task;
Kubernetes' manifests against the fields of its API; the systemd timer. Slurm has slurm.t."""
import contextlib
import datetime
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import engine
import whylate_test as t
from jsonschema import Draft202012Validator

tap = t.Tap()
OPTIONS = ("--fail-if", "p99(syscall:*) > 900s", "--limit", "5")
SSHD = "/usr/sbin/sshd"


def tell(pid, number):
    """A signal, unless the process has ended by itself meanwhile."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


class Host:
    """A second host, with its own network if we may make one, else another port; its disk is ours."""

    def __init__(self, place):
        self.place, self.link = place, "wl%d" % os.getpid()
        self.address, self.inside = "127.0.0.1", []
        self.has_network = os.getuid() == 0 and self.make_network()
        port = engine.free_ports(1)[0]
        for key in () if place.is_there("run/user_key") else ("host", "user"):
            place.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", place.path("run/%s_key" % key))
        shutil.copy(place.path("run/user_key.pub"), place.path("run/authorized_keys"))
        place.write("sshd_config", "Port %d\nListenAddress %s\nHostKey %s\nAuthorizedKeysFile %s\nStrictModes no\nUsePAM no\n"
                    "PermitRootLogin yes\nPidFile none\nMaxStartups 100\n" % (
                        port, self.address, place.path("run/host_key"), place.path("run/authorized_keys")))
        place.write("ssh_config", "Host second\nHostName %s\nPort %d\nUser %s\nIdentityFile %s\nBatchMode yes\n"
                    "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n" % (
                        self.address, port, place.user.pw_name, place.path("run/user_key")))
        if os.getuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        self.sshd = place.daemon(*self.inside, SSHD, "-D", "-e", "-f", place.path("sshd_config"), name="sshd")
        t.until(lambda: place.run("ssh", "-F", place.path("ssh_config"), "second", "true", status=None).returncode == 0, "sshd")

    def make_network(self):
        def ip(*words):
            return subprocess.run(["ip", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0

        if not ip("netns", "add", self.link):
            return False
        net = "10.213.%d" % (os.getpid() % 250)
        if not (ip("link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", self.link) and
                ip("addr", "add", net + ".1/30", "dev", self.link) and ip("link", "set", self.link, "up") and
                ip("-n", self.link, "addr", "add", net + ".2/30", "dev", "eth0") and ip("-n", self.link, "link", "set", "eth0", "up")):
            ip("netns", "del", self.link)
            return False
        self.address, self.inside = net + ".2", ["ip", "netns", "exec", self.link]
        return True

    def processes(self):
        """sshd, and those that it began for its connections: what they do is theirs."""
        found, new = [], [self.sshd.pid]
        while new:
            found += new
            rows = (line.split(None, 2) for line in subprocess.check_output(["ps", "-eo", "pid=,ppid=,comm="]).decode().splitlines())
            new = [int(pid) for pid, parent, name in rows if int(parent) in found and int(pid) not in found and name.startswith("sshd")]
        return found

    def lose(self, number):
        """sshd and its connections end (SIGKILL), or are not heard of any more (SIGSTOP)."""
        seen = []
        while seen != (now := self.processes()):  # it may have begun another one meanwhile
            for pid in now:
                tell(pid, signal.SIGSTOP)
            seen = now
        if number == signal.SIGKILL:
            for pid in reversed(seen):
                tell(pid, signal.SIGKILL)

    def end(self):
        if self.sshd.poll() is None:
            for pid in self.processes():
                tell(pid, signal.SIGKILL)
        engine.stop(self.sshd)
        if self.has_network:
            subprocess.run(["ip", "netns", "del", self.link], check=False)


def check_parallel(place, number):
    """The second host is lost in the middle of a task that waits, and is not heard of again; another task is killed."""
    for name in ("job", "signs"):
        shutil.rmtree(place.path(name), ignore_errors=True)
    place.write("run/job.out", "")
    os.mkdir(place.path("signs"))
    host = Host(place)
    try:
        place.run("whylate", "batch", "--plan", "parallel", "--output", place.path("job"), place.path("traces"), *OPTIONS)
        place.environ["WHYLATE"] = place.path("bin/whylate")
        place.environ["PARALLEL_SHELL"] = "/bin/sh"
        # what the job says comes behind that, and counts less: it waits longer
        place.environ["SSH"] = "ssh -F %s -o ServerAliveInterval=1 -o ConnectTimeout=3" % place.path("ssh_config")
        place.sign("kill.3")
        run = place.daemon(place.path("job/run"), "--sshlogin", "2/second,2/:", name="job")
        t.until(lambda: place.is_there("signs/remote") or run.poll() is not None, "a task on the second host")
        assert run.poll() is None
        host.lose(number)
        assert run.wait(300) == 4  # the sum's status: a trace is damaged
    finally:
        host.end()
    with open(place.path("run/job.out"), encoding="utf-8") as file:
        said = file.read()
    assert "40 traces: 38 good, 1 not read, 1 not whole" in said and "missing" not in said, said
    with open(place.path("job/log/jobs"), encoding="utf-8") as file:
        tried = [line.split("\t") for line in file.read().splitlines()[1:]]
    with open(place.path("signs/remote"), encoding="ascii") as file:
        task = file.read().strip()
    # the one that was lost has ended elsewhere
    assert [(row[1], row[6]) for row in tried if row[8].endswith("/task " + task)] == [(":", "0")], tried
    assert not place.is_there("signs/kill.3") and not place.is_there("signs/late." + task)
    assert engine.same_bytes(place.path("job/sum.json")) == engine.one_machine(place, *OPTIONS)


def check_plan(place):
    """Each trace is in one task; copies are left out; options go on to the tasks; what cannot be is refused."""
    shutil.copytree(place.path("traces/00"), place.path("more/copy of '00'"))
    job = place.path("a job's")
    done = place.run("whylate", "batch", "--plan", "slurm", "--output", job, place.path("traces"), place.path("more"), *OPTIONS,
                     "--pages", "pages")
    assert b"40 traces in 40 tasks" in done.stderr and b"copy of '00'/" not in b"".join(done.stderr.splitlines()[-1:]), done.stderr
    assert b"left out, as it is a copy" in done.stderr, done.stderr
    listed = []
    for task in range(40):
        with open(job + "/tasks/%d" % task, encoding="utf-8") as file:
            listed += file.read().splitlines()
    with open(job + "/list", encoding="utf-8") as file:
        rows = [line.rpartition("\t") for line in file.read().splitlines()]
    assert sorted(listed) == sorted(row[2] for row in rows) and len(set(listed)) == 40
    assert sum(bool(row[0]) for row in rows) == 40 - 1 and len({row[0] for row in rows}) == 40  # one has no metadata
    for task in ("7", "7"):  # again: the same file
        place.run(job + "/task", task)
    with open(job + "/lines/7.jsonl", encoding="utf-8") as file:
        line, = file.read().splitlines()
    assert len(json.loads(line)["limits"]) == 1 and len(json.loads(line)["findings"]) <= 5
    assert os.path.dirname(json.loads(line)["page"]) == place.path("pages")
    done = place.run(job + "/merge", status=4)
    with open(job + "/sum.json", encoding="utf-8") as file:
        assert len(json.load(file)["missing"]) == 39 and b"39 traces are missing" in done.stderr
    for words, status in ((("--output", job), 5), (("--map",), 2), (("--merge",), 2), (("--expect", job + "/list"), 2),
                          (("--anonymise",), 2), (("--plan", "pbs"), 2)):
        place.run("whylate", "batch", "--plan", "slurm", place.path("traces"), *words, status=status)


# What batch/v1's Job, core/v1's PodSpec, Container, Volume and VolumeMount have, as far as a job of ours may need it: types
# and requirements of the API reference, Kubernetes 1.29. A field that is not here is not in the API, or needs a thought.
def obj(required=(), **properties):
    return {"type": "object", "additionalProperties": False, "required": list(required), "properties": properties}


NAME = {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63}
COUNT, TEXT, FLAG = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}, {"type": "string", "minLength": 1}, {"type": "boolean"}
QUANTITY = {"type": "string", "pattern": "^[0-9]+(m|Ki|Mi|Gi)?$"}
MANIFEST = obj(
    ("apiVersion", "kind", "metadata", "spec"), apiVersion={"const": "batch/v1"}, kind={"const": "Job"}, metadata=obj(("name",), name=NAME),
    spec=obj(("template",), completionMode={"enum": ["NonIndexed", "Indexed"]}, completions=COUNT, parallelism=COUNT, backoffLimit=COUNT,
             backoffLimitPerIndex=COUNT, maxFailedIndexes=COUNT,
             template=obj(("spec",), spec=obj(
                 ("containers", "restartPolicy"), restartPolicy={"enum": ["Never", "OnFailure"]},
                 containers={"type": "array", "minItems": 1, "items": obj(
                     ("name", "image"), name=NAME, image=TEXT, command={"type": "array", "items": TEXT},
                     resources=obj(requests=obj(cpu=QUANTITY, memory=QUANTITY)),
                     volumeMounts={"type": "array", "items": obj(("name", "mountPath"), name=NAME, readOnly=FLAG, subPath=TEXT,
                                                                 mountPath={"type": "string", "pattern": "^/[^:]*$"})})},
                 volumes={"type": "array", "items": obj(("name", "persistentVolumeClaim"), name=NAME, persistentVolumeClaim=obj(
                     ("claimName",), claimName=NAME, readOnly=FLAG))}))))


def check_manifests(place):
    job = place.path("k8s")
    place.run("whylate", "batch", "--plan", "k8s", "--output", job, place.path("traces"), place.path("more"))
    for name in ("map", "merge"):
        with open(job + "/%s.json" % name, encoding="utf-8") as file:
            manifest = json.load(file)
        errors = [error.message for error in Draft202012Validator(MANIFEST).iter_errors(manifest)]
        assert not errors, errors
        spec, pod = manifest["spec"], manifest["spec"]["template"]["spec"]
        container, = pod["containers"]
        # rules of its validation that no type says
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
        assert len({mount["mountPath"] for mount in container["volumeMounts"]}) == len(container["volumeMounts"]) == 3
        if name == "map":
            assert spec["completionMode"] == "Indexed" and spec["completions"] == 40 and pod["restartPolicy"] == "Never"
            assert spec["maxFailedIndexes"] <= spec["completions"] <= 10**5 and spec["parallelism"] <= 10**4
            assert "backoffLimitPerIndex" in spec and container["command"] == [job + "/task", "$(JOB_COMPLETION_INDEX)"]
        else:
            assert container["command"] == [job + "/merge"]
    for script in ("run", "task", "merge"):
        place.run("sh", "-n", job + "/" + script)


def check_timer(place):
    """As systemd looks at them."""
    units = t.SOURCE + "/share/systemd"
    for name in ("whylate-batch.service", "whylate-batch.timer"):
        shutil.copy(units + "/" + name, place.path("run/" + name))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", place.path("run/whylate-batch.timer"),
                           place.path("run/whylate-batch.service")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=60)
    said = [line for line in done.stdout.decode().splitlines() if "whylate-batch" in line and "not executable" not in line]
    assert not said, said
    with open(place.path("run/whylate-batch.service"), encoding="utf-8") as file:
        command = re.search("^ExecStart=/bin/sh -c '(.*)'$", file.read(), re.M).group(1).replace("$$", "$").replace("%%", "%")
    os.makedirs(place.path("days"))
    for ago in (0, 1):  # midnight may come in between
        day = (datetime.date.today() - datetime.timedelta(ago)).isoformat()
        os.symlink(place.path("traces"), place.path("days/" + day))
    place.environ.update(TRACES=place.path("days"), RESULTS=place.path("run"), FLAGS="--limit=3 --quiet")
    place.run("/bin/sh", "-c", command, status=4)
    sums = [name for name in os.listdir(place.path("run")) if re.fullmatch(r"\d{4}-\d\d-\d\d\.json", name)]
    with open(place.path("run/" + sums[0]), encoding="utf-8") as file:
        assert len(json.load(file)["traces"]) == 40


PLACE = engine.Place(is_root=True)
try:
    tap.case("what is planned", check_plan, PLACE)
    tap.case("Kubernetes' manifests", check_manifests, PLACE)
    tap.case("the systemd timer", check_timer, PLACE)
    if not all(shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") for name in ("parallel", "sshd", "ssh")):
        tap.ok(False, "the packages parallel, openssh-client and openssh-server are installed")
    else:
        tap.case("GNU parallel: a task killed, a host whose sshd is killed", check_parallel, PLACE, signal.SIGKILL)
        tap.case("GNU parallel: a task killed, a host that falls silent", check_parallel, PLACE, signal.SIGSTOP)
finally:
    PLACE.end()
sys.exit(tap.done())
