#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings of causes that are known beforehand (traces/README.md, truth.tsv): the first two sentences of the verdict on
the thread that was late name who or what must be changed, and the first three entries of the overview do; what only looks
alike is not said. Patterns are of the causes as the README has them, not of whylate's sentences."""
import re
import sys

import whylate_test as t

tap = t.Tap()

# recording, late thread, what its verdict must name, what it must not, what the overview must name
CASES = (
    ("affinity", "webproc", ["CPU 0", "dbproc", "affinity|pinned"], ["quota|throttled"], ["dbproc"]),
    ("barrier", "rowcalc-0", ["rowcalc-2"], ["next request"], ["rowcalc-2"]),
    ("core-dump", "crashmon", ["crashsrv", "core"], [r"crashsrv \(\d+\)\S* ran its own code"], ["crashsrv"]),
    ("delayed-ack", "ackclient", ["delayed.ACK|delayed acknowledg", "Nagle", "ackserver"], ["retransm|sent again"], ["delayed|Nagle"]),
    ("dirty-mmap", "mapwriter", ["dirty pages reached their limit", "page faults on /map.dat", "its own"], [r"memory\.high"], ["dirty pages"]),
    ("dirty-throttle", "smalllog", ["dirty", "bulkcopy"], [], ["bulkcopy|dirty|vda"]),
    ("dm-delay", "dmuser", ["dm-0|slowmap"], ["next request"], ["dm-0|slowmap"]),
    ("fsfreeze", "journal", ["backupd", "file system was frozen"], ["next request"], ["backupd"]),
    ("fsync-bystander", "ledger", ["bulkcopy"], [], ["bulkcopy"]),
    ("io-max", "capped", [r"io\.max"], [], [r"io\.max|thrott"]),
    ("lockfile-poll", "latejob", ["deployer", "lock"], [], ["deployer"]),
    ("make-chain", "make", ["job-[abd]"], [r"\): job-c"], ["job-[abd]"]),
    ("mem-high", "overhigh", [r"memory\.high"], ["wait for each other"], ["memory"]),
    ("modprobe-wait", "mounter", ["modprobe"], [], ["modprobe"]),
    ("nginx-retry", "webuser", ["8101", "hungapp"], [], ["8101|hungapp"]),
    ("overlay-copyup", "containerapp", ["overlay file system copies it up", "/ov/m/f1"], ["sleeps by its own timer"], []),
    ("pidns-wait", "nsparent", ["nschild"], ["kthreadd|rcu_gp"], ["nschild"]),
    ("pool-wait", "poolw-0", ["dbsim"], [], ["dbsim"]),
    ("rwlock-starve", "wrlate", ["rdslow-0", "rdslow-1"], [r"held by rdslow-\d \(\d+\) for 3\d\d"], ["rdslow"]),
    ("arp-missing", "mirrord", [r"10\.77\.0\.9:80", "EHOSTUNREACH"], ["packets from"], []),
    ("chain4", "webreq", ["zipper"], [], ["zipper"]),
    ("reset-retry", "ordercli", ["ECONNRESET"], ["next request"], ["ECONNRESET"]),
    ("uring-server", "uclient", ["storesrv"], [], ["storesrv"]),
    ("vfork-slow", "launcher", ["vfork"], [], []),
    ("linger-batch", "producer", ["sender"], ["lock|until producer"], ["sender"]),
    # three threads of a process that hung: the signal is told of one, and wakes all
    ("permit-leak", "jobs2", [r"waited in futex on futex 0x\S+ until it was killed by signal 9 \(SIGKILL\) from watchq"],
     ["until it was killed[^.]*\\. Without it", "in kill"], []),
    ("sig-handler", "timersvc", [r"ran its own code, 71\d\.\d ms of it in its handler of signal 14 .SIGALRM."], ["sent by"], ["timersvc"]),
    ("gc-signal", "mut0", ["gcthr"], ["next request"], ["gcthr"]),
    ("cpu-offline", "crunch1", ["crunch0"], ["steal"], []),
    ("cg-freeze", "askcli", ["jobsrv", "frozen"], ["next request"], []),
    ("addr-in-use", "newapi", ["oldapi", "EADDRINUSE"], [], ["oldapi"]),
    ("umount-busy", "releasemgr", ["viewerd", "EBUSY"], [], ["viewerd"]),
    ("mmap-enomem", "statjob", ["ENOMEM"], ["next request"], ["ENOMEM"]),
    ("sem-disk", "exportd", ["importd", "vda"], ["next request"], ["vda"]),
    # signal_deliver says 9 of every signal that ends a process without a core dump
    ("lock-standby", "nodey", ["held by nodex", r"until it was killed by signal 15 \(SIGTERM\) from labmain"], ["labmain \\(260\\) held", "SIGKILL"], []),
    ("clock-batch", "prodc", ["flushd"], [r"\block|until batchd"], ["flushd"]),
    ("terminal-held", "buildr", [r"for usrterm \(257\) in write on /dev/pts/0"], ["kworker"], ["usrterm"]),
    ("kmsg-console", "metercli", [r"meterd worked for 47\d\.\d ms in write on /dev/kmsg"], [], ["meterd"]),
    ("splice-proxy", "tunnl", ["origin", "idle until its next request"], [], ["origin"]),
    ("lock-killed", "auditd", ["ledgerd", "SIGKILL"], ["watchq slept"], []),
    ("mutex-hang", "sync2", ["SIGKILL"], ["held by", "watchq slept"], []),
    ("give-up", "askcli", ["slowsrv", "time limit"], ["next request"], ["slowsrv"]),
    ("stop-holder", "tuned1", ["tuned0", "opsshell"], ["next request"], ["tuned0|opsshell"]),
    ("rt-datagram", "udpcli", ["rtloop", "pinned"], [], ["rtloop"]),
    ("rw-prefer", "lookup0", ["scanner", "to read, behind one who waits to write"], ["next request"], ["scanner"]),
    ("self-call", "pagecli", ["monosrv"], ["next request"], ["monosrv"]),
    ("epoll-others", "clib", ["bkend"], ["clia"], ["bkend"]),
    ("barrier-disk", "calc0", ["calc2", "vda"], ["next request"], ["vda"]),
    ("ports-out", "scraper", ["between tries: connect .*EADDRNOTAVAIL"], [], ["EADDRNOTAVAIL"]),
    ("mq-full", "invoicer", ["printd"], ["next request"], ["printd"]),
    ("dl-throttle", "codec", ["SCHED_DEADLINE"], ["cgroup"], []),
    # 60 periods of 40 ms, of which it works 4: the rest, 23 to 43 ms, it waits for the next one
    ("ok-deadline", "sampler", [r"slept 60 times, 23 to 43 ms each, by its own timer \(sched_yield\)"], [r"done until"], []),
    ("loop-dev", "ledgerd", ["vda"], [], ["vda"]),
    ("rt-busy", "motionctl", ["sched_rt_runtime_us"], ["housekeep"], []),
    ("spin-yield", "spinner", ["sched_yield", "spins until another thread", "preparer"], ["polite"], []),
    ("sqlite-busy", "sqlwriter", ["sqlholder"], [], ["sqlholder"]),
    ("syn-drop", "synclient-3", ["SYN", "lazyserver|7300"], [], ["lazyserver|7300"]),
    ("tbf-shape", "uploader", ["queue|queuing", r"\blo\b"], ["retransm|delayed"], ["queue|queuing"]),
    # of the same kinds, by other programs
    ("cond-timed", "batcher", ["producer"], [], []),
    ("connect-timeout", "probe", [r"10\.77\.0\.9:80"], [], []),
    ("curl-retry", "deploychk", ["8090", "warmweb"], ["refused|lost|nothing came|own time limit"], []),
    ("dm-crypt", "vaultread", ["vdd"], ["next request"], []),
    ("dns-retry", "265", ["5353|namesrv"], [], ["namesrv|5353"]),
    ("flock-retry", "reportgen", ["nightly"], [], []),
    ("gil-wait", "uiloop", ["cruncher"], [], []),
    ("keepalive-loss", "longwait", [r"10\.9\.0\.2:7000", "keep-alive"], ["sent again|retransm"], ["quietsrv|10.9.0.2"]),
    ("loss-bulk", "bulksend", ["sent again|retransm|lost"], [], []),
    ("mem-swap", "bigtable", ["swap", "vdd"], [], []),
    ("taskset-parent", "renderp", ["indexp", "affinity|pinned"], ["quota|throttled"], []),
    ("wait-n", "jobpool", ["load-[acd]"], [r"\): load-b"], []),
    # look alike, are something else
    ("fsync-alone", "soloaudit", ["vdd"], ["written by|data of"], []),
    ("http-poller", "metricsd", ["sleep|slept"], ["alike|not ready|tried"], []),
    ("idle-poll", "payjob", ["taxcalc"], ["idled"], []),
    ("nap-check", "tickwork", ["clock_nanosleep"], ["statwriter|tries|tried"], []),
    ("server-nap", "perlbill", ["perltax", "select|nanosleep|slept|sleep"], ["delayed|Nagle|sent again|retransm"], []),
    ("spawn-many", "spawner", ["tiny.*60 processes"], ["quota|throttled|affinity|pinned"], []),
    ("two-hogs", "midjob", ["hogleft|hogright"], ["quota|throttled|affinity|pinned"], []),
)


def entries(name):
    """The overview's list of who and what others waited for, an entry each, as on the screen."""
    text = t.output("overview", "--full", t.trace(name)).decode()
    part = re.search(r"^Who and what others waited for.*?\n(.*?)\n\n", text, re.M | re.S).group(1)
    found = []
    for line in part.split("\n"):
        if re.match(r"  \S", line):
            found.append(line)
        else:
            found[-1] += " " + line.strip()
    return [e.split(" whylate delay ")[0] for e in found if not re.match(r"  (In all|\[)", e)]


def check(name, thread, must, must_not, overview):
    verdict = t.report("delay", t.trace(name), "--thread", thread, "--limit", "1")["verdict"][:2]
    for pattern in must:
        assert re.search(pattern, "\n".join(verdict), re.I), (pattern, verdict)
    for pattern in must_not:
        assert not re.search(pattern, "\n".join(verdict), re.I), (pattern, verdict)
    first = "\n".join(entries(name)[:3]) if overview else ""
    for pattern in overview:
        assert re.search(pattern, first, re.I), (pattern, first)


for case in CASES:
    tap.case("%s: why %s was late" % case[:2], check, *case)
sys.exit(tap.done())
