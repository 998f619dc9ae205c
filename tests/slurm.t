# SPDX-License-Identifier: MIT
"""whylate batch --plan slurm, with Slurm's own daemons on the loopback, as an ordinary user: a task killed, a node lost and
back with its old task, the controller restarted; the sum is one machine's, byte for byte."""
import os
import shutil
import signal
import socket
import sys
import time

import engine
import whylate_test as t

tap = t.Tap()
OPTIONS = ("--fail-if", "p99(syscall:*) > 900s")

CONFIGURATION = """ClusterName=whylate
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={root}/run/munge.socket
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={root}/run/state
SlurmdSpoolDir={root}/run/spool.%n
SlurmctldPidFile={root}/run/slurmctld.pid
SlurmdPidFile={root}/run/slurmd.%n.pid
SlurmctldLogFile={root}/run/slurmctld.log
SlurmdLogFile={root}/run/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SlurmdTimeout=5
SlurmctldTimeout=5
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


class Cluster:
    def __init__(self, place):
        self.place = place
        place.environ["SLURM_CONF"] = place.path("slurm.conf")
        place.write("slurm.conf", CONFIGURATION.format(host=socket.gethostname().split(".")[0], user=place.user.pw_name,
                                                       root=place.root, ports=engine.free_ports(3)))
        # no cgroup is asked for; where none is mounted, slurmd looks for one unless it is told which kind
        place.write("cgroup.conf", "CgroupPlugin=cgroup/v1\n")
        os.mkdir(place.path("run/state"))
        place.write("run/munge.key", "k" * 64, 0o600)
        place.own(place.path("run"))
        self.munge = place.daemon("munged", "-F", "--key-file", place.path("run/munge.key"), "--socket",
                                  place.path("run/munge.socket"), "--pid-file", place.path("run/munged.pid"), "--log-file",
                                  place.path("run/munged.log"), "--seed-file", place.path("run/munged.seed"))
        t.until(lambda: place.is_there("run/munge.socket"), "munged")
        self.controller = place.daemon("slurmctld", "-D")
        self.nodes = {name: place.daemon("slurmd", "-D", "-N", name, name=name) for name in ("n1", "n2")}

    def ask(self, *words, status=0):
        time.sleep(0.2)  # it is asked again and again
        return self.place.run(*words, status=status).stdout.decode().strip()

    def states(self):
        return dict(line.split() for line in self.ask("sinfo", "-hN", "-o", "%N %t", status=None).splitlines())

    def queue(self):
        """{array's task, or the whole job: (number, state, node)} of what has not ended"""
        rows = (line.split("|") for line in self.ask("squeue", "-hr", "-o", "%K|%A|%t|%N", status=None).splitlines())
        return {row[0]: tuple(row[1:]) for row in rows}

    def restart_controller(self):
        engine.stop(self.controller)
        self.controller = self.place.daemon("slurmctld", "-D")
        t.until(lambda: "UP" in self.ask("scontrol", "ping", status=None), "the controller's return")


def check(place):
    cluster = Cluster(place)
    t.until(lambda: list(cluster.states().values()) == ["idle", "idle"], "two idle nodes")
    place.run("whylate", "batch", "--plan", "slurm", "--output", place.path("job"), place.path("traces"), *OPTIONS)
    place.sign("kill.3")
    place.sign("hold.7")
    merge = place.run(place.path("job/run")).stdout.decode().split()[-1]
    t.until(lambda: place.is_there("signs/held.7"), "task 7")
    node = t.until(lambda: cluster.queue().get("7", ("", "", ""))[2], "the node of task 7")
    cluster.restart_controller()
    # only the daemon: what it started goes on, as on a machine that the network lost
    engine.stop(cluster.nodes[node], signal.SIGKILL)
    # a task that is requeued waits two minutes, unless it is told not to
    t.until(lambda: cluster.queue().get("7", ("", "", ""))[1] == "PD", "task 7 in the queue again")
    place.sign("go.7")
    t.until(lambda: place.is_there("signs/late.7"), "the end of the old task 7")
    assert place.is_there("job/lines/7.jsonl")
    cluster.nodes[node] = place.daemon("slurmd", "-D", "-N", node, name=node)

    def ended():
        for task, (number, state, _) in cluster.queue().items():
            if state == "PD" and task.isdigit():
                cluster.ask("scontrol", "update", "jobid=" + number, "starttime=now", status=None)
        return merge not in (number for number, _, _ in cluster.queue().values())

    t.until(ended, "the merge")
    with open(place.path("job/log/merge.log"), encoding="utf-8") as file:
        said = file.read()
    assert "40 traces: 38 good, 1 not read, 1 not whole" in said and "missing" not in said, said
    assert not place.is_there("signs/kill.3") and len(os.listdir(place.path("job/lines"))) == 40
    assert engine.same_bytes(place.path("job/sum.json")) == engine.one_machine(place, *OPTIONS)


if not all(shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") for name in ("slurmctld", "slurmd", "munged", "sbatch")):
    tap.ok(False, "the packages slurm-wlm and munge are installed")
else:
    PLACE = engine.Place()
    try:
        tap.case("Slurm: a task killed, a node lost and back, the controller restarted", check, PLACE)
    finally:
        PLACE.end()
sys.exit(tap.done())
