# SPDX-License-Identifier: MIT
"""The overview's first screen: on recordings with known causes one of its first three items names the kind of
trouble, who did it or had it, and the object; where nothing was wrong it says so; and it fits a screen.
Sources of the causes: traces/README.md and the programs' own notes (truth.tsv)."""
import collections
import functools
import os
import re
import shlex
import subprocess

import whylate_test as t

tap = t.Tap()

# recording: any of these kinds, and all of these patterns, in one item among the first three
STANDS_OUT = {
    "affinity": ("cpu", "dbproc", "webproc", "pinned"),
    "cfs-quota": ("quota", "boxed", "throttled"),
    "cond-timed": ("lock|process", "batcher", "producer"),
    "connect-timeout": ("timeout", "curl", r"10\.77\.0\.9"),
    # the pool's waits of web-3: 541.7 + 528.7 ms and some of 10 (truth.tsv)
    "conn-pool": ("timer", r"web-N \(2 threads\) waited 2\.0\d\d s", r"web-3 \(271\) most: 1\.0\d\d s", "report-a slept 2 times, 500 ms each"),
    "core-dump": ("child", "crashmon", "crashsrv", "dumped its core"),
    "delayed-ack": ("delayed-ack", "ackclient", "ackserver"),
    "dirty-mmap": ("page-fault", "mapwriter", "/map.dat", "dirty pages of its own"),
    "dirty-throttle": ("device", "smalllog", "vda", "bulkcopy"),
    "disk-read": ("page-fault|device", "diskread", "vda", "in a page fault"),
    "dm-crypt": ("device", "vaultread", "vdd"),
    "dm-delay": ("device", "dmuser", "dm-0"),
    # catalogd's reads of the second in which the backup ran: 69 + 221 + 201 + 219 + 98 ms, by babeltrace2's text
    "backup-queue": ("device", r"browser \(263\) waited 805\.3 ms", r"for catalogd \(245\) in read", "the disk vdd, kept busy by bk-read2"),
    "barrier": ("process", "rowcalc-N", r"rowcalc-2 \(268\)", "worked for"),
    "barrier-turns": ("process", r"case \(3 threads\)", "in futex", "worked for"),
    "dns-fallback": ("timeout", "mailerpy", "127.0.0.2:53", "deadns"),
    "dns-retry": ("timeout", "127.0.0.1:5353", "namesrv"),
    "flock-retry": ("lock", "reportgen", "nightly"),
    "enospc-retry": ("failure", "appender", "/full/app.log", "ENOSPC", r"until cleaner \(451\) removed /full/old0 \(inferred\)"),
    "fsfreeze": ("lock", "journal", "file system of /mnt/fz to be thawed", r"backupd \(272\) had frozen"),
    "fsync-alone": ("device", "soloaudit", "vdd"),
    "fsync-bystander": ("device", "ledger", "bulkcopy", "vdd"),
    # four naps of 30 ms, however many wait for them
    "futex": ("lock|convoy", "lock-0", "0x557997d0d080", r"lock-0 \(216\) slept \d+ times, \d+ µs to 30 ms each, 12\d\.\d ms in all"),
    "gil-wait": ("lock", "uiloop", "cruncher"),
    "give-up": ("timeout", r"askcli \(259\) waited 89\d\.\d ms", r"15 times", "in poll until its own time limit", r"slowsrv \(260\)\) did not answer",
                r"meanwhile slowsrv \(260\) worked for 8\d\d"),
    "hang": ("deadlock", "dead-1", "dead-2"),
    "ide-pio": ("interrupt", "player", "IRQ 14", "ata_piix"),
    "io-max": ("quota", "capped", "io.max"),
    "lock-lapse": ("lock|convoy", "writer-", "/shared.dat", "flusher"),
    # mailrun's first try to its success: 1.384 s (truth.tsv), of which its own short programs take a part
    "lock-folder": ("lock", r"mailrun \(264\) waited 1\.\d\d\d s", r"/tmp/q\.lock of nightly \(262\)", "meanwhile crunch"),
    "lockfile-poll": ("lock", "latejob", "deployer", r"\.lock"),
    "loss-bulk": ("retransmission", "bulksend", "sent again"),
    "make-chain": ("child", "make", "job-a", "job-d"),
    "make-jobserver": ("child", "make", "job-a2"),
    "mem-high": ("memory", "overhigh", r"memory\.high"),
    "mem-swap": ("swap", "bigtable", "vdd"),
    "membarrier": ("softirq", "gcjit", "membarrier", "RCU grace period"),
    "modprobe-wait": ("process", "mounter", "mount", "modprobe"),
    # w3 has it for 708 and 784 ms (truth.tsv), nearly all of that in fsync
    "mutex-fsync": ("lock", r"tillN \(3 threads\) waited 4\.\d+ s", r"meanwhile w3 \(254\) waited 86 times, .*, 1\.3\d\d s in all, for the disk vdd"),
    "nginx-retry": ("timeout", "webuser", "hungapp", "8101"),
    "pidns-wait": ("child", "nsparent", "nschild-0"),
    "pipe-chain": ("device", "stage-c", "vda"),
    # 40 readings, each 40 ms after the one before
    "pipe-throttle": ("timer", r"store \(265\) waited 1\.6\d\d s", r"for limiter \(264\) in read", "limiter slept 40 times"),
    "polls": ("timer|process", "poller", "feeder"),
    "overlay-copyup": ("device", "containerapp", "/ov/m/f1 for writing", "overlay file system copies it up"),
    "pool-wait": ("timer|process", "poolw-", "dbsim", r"for 2\.0\d\d s of it they waited for one another first \(a semaphore or a pool: their turn\)"),
    "preempt": ("cpu", "victim", "hog-0", "hog-1"),
    "rt-throttle": ("quota", "rtloop", "sched_rt_runtime_us"),
    # and not udpsrv, which waits for the next question
    "rt-datagram": ("cpu", r"rtloop \(262\) and 8 others kept udpcli \(260\) off the CPU for 1\.41\d s",
                    r"rtloop is more urgent \(real-time 50 against nice 0\); other CPUs were idle, but it is pinned to this one. Without"),
    "rwlock-starve": ("lock", "wrlate", "rdslow-0", "rdslow-1"),
    "server-nap": ("timer", "perlbill", "perltax"),
    "signals": ("stopped", "stoppee", "stopper"),
    "arp-missing": ("timeout", r"mirrord \(274\) waited 2\.43", r"EHOSTUNREACH: no host was found at 10\.77\.0\.9:80"),
    "chain4": ("process", r"nightjob \(264\) waited", r"zipper \(263\) in read: zipper worked"),
    "drop-caches": ("device", "catalogd", r"vda \(/cold\.bin\)", r"janitor \(268\) had emptied the page cache"),
    "pipe-deadlock": ("timeout", "filterx", "in write on pipe #2, until it was killed by signal 9 .SIGKILL. from watchdog",
                      r"wrapper \(260\), its parent, was stuck in a write on pipe #1: it seems that each waits for the other to read"),
    "reset-retry": ("failure", r"ordercli \(255\) waited 1\.80\d s", "12 times", "read on 127.0.0.1:7800 failed 2 times with ECONNRESET"),
    "uring-server": ("process", r"uclient \(260\) waited 1\.0\d\d s", r"for storesrv \(261\) in io_uring_enter: storesrv worked"),
    "seccomp-notify": ("process", r"jobrun \(261\) waited 1\.0\d\d s", "25 times", r"for sandboxd \(262\) .*: sandboxd worked"),
    "vfork-slow": ("process", r"launcher \(260\) waited", "in vfork: true .several processes. worked for"),
    "linger-batch": ("timer", r"producer \(258\) waited 1\.3\d\d s", r"for sender \(260\) in futex: sender waited 9 times, 150 ms each", "until its own time limit"),
    "gc-signal": ("process", r"mutN \(3 threads\) waited 2\.1\d\d s", r"for gcthr \(263\) in rt_sigsuspend: gcthr worked for 7\d\d"),
    "cpu-offline": ("cpu", "crunch[01]", r"CPU 1 was offline for 73\d\.\d ms, taken offline by powerd \(256\)"),
    "cg-freeze": ("stopped", r"jobsrv \(260\) was stopped for 1\.1\d\d s", "5 times", "cgroup was frozen", r"pausectl \(261\)"),
    "addr-in-use": ("failure", r"newapi \(260\) waited 1\.05\d s", "bind on an Internet socket failed 7 times with EADDRINUSE",
                    r"until oldapi \(261\) closed the socket that it listened at"),
    "umount-busy": ("failure", r"releasemgr \(258\) waited 1\.40\d s", "umount on /mnt/rel failed 7 times with EBUSY",
                    r"until viewerd \(259\) closed /mnt/rel/doc"),
    "mmap-enomem": ("failure", r"statjob \(258\) waited 1\.4[45]\d s", "mmap failed 8 times with ENOMEM"),
    "sem-disk": ("device", r"importd \(260\) waited 2\.\d+ s", r"disk vda \(/imp\.bin\)", r"also late: exportd \(261\) \(2\.0"),
    "lock-killed": ("lock", r"auditd \(257\) waited 1\.79\d s", r"in flock for the lock of /led\.lck, which ledgerd \(258\) held",
                    r"ledgerd \(258\) waited 1\.79\d s in read on socket pair#1"),
    "mutex-hang": ("deadlock", r"cachesrv \(261\) hung for 1\.44\d s", "sync1", "for the lock 0x55c39b3170a0", r"the last to begin to wait was sync1 \(262\)",
                   r"until it was killed by signal 9 \(SIGKILL\) from watchq \(260\)"),
    "cpu-limit": ("process", r"waitcli \(260\) waited 1\.03\d s", r"for batchk \(262\) in wait4", r"batchk \(262\) ended by signal 24 \(SIGXCPU\)"),
    "fork-lock": ("deadlock", r"jobchild \(263\) hung for 1\.70\d s", "for the lock 0x5610f4d6f0c0", r"forked from batchd \(261\), which had 2 threads"),
    "epoll-others": ("process", r"clib \(261\) waited 949\.1 ms", r"for gwx \(263\) in read, which waited for bkend \(262\) in epoll_wait: bkend worked for 949\.1 ms"),
    # 727.7 ms in the handler in all, between signal_deliver and rt_sigreturn without interrupts (babeltrace2's text), of which so much made pingh wait
    "sig-handler": ("process", r"pingh \(259\) waited 557\.0 ms", r"timersvc worked for 554\.4 ms, 40\d\.\d ms of it in its handler of signal 14 .SIGALRM.\."),
    "fifo-server": ("device", r"bulk \(258\) waited 1\.33\d s", r"for cmdd \(257\) in read, which waited in fsync for the disk vda"),
    # 700 writes to /dev/kmsg of 478.0 ms in all, by babeltrace2's text, interrupts and all
    "kmsg-console": ("process", r"metercli \(263\) waited 586\.5 ms", r"for meterd \(262\) in read", r"47\d\.\d ms of it in write on /dev/kmsg\."),
    "splice-proxy": ("timer", r"pagecli \(263\) waited 1\.79\d s", r"tunnl \(262\) in read, which waited for origin \(261\) in splice: origin slept"),
    # nobody gave it up: a signal of labmain ended the wait, and nodey
    "lock-standby": ("lock", r"nodey \(262\) waited 3\.087 s", r"for the lock of /lead\.lck, which nodex \(261\) held"),
    # both moved themselves to the cgroup; of the 682 ms that both were on CPUs, by babeltrace2's switches, logship was 77.6 %
    # as often as truth.tsv has `retried`
    "udp-drop": ("timeout", r"browser \(272\) waited 1\.60\d s .*most of 4 waits", r"for webfront \(254\) in read, which waited in poll until its own time limit of 400", r"nameserv \(253\), which read the question .* and has been in recvfrom since\) did not answer"),
    # babeltrace2: its net_dev_queue has no net_dev_xmit of that buffer, as all others of lo have
    "udp-qdisc": ("timeout", r"thermostat \(250\) waited 800\.9 ms", r"tempd \(248\), which has been in recvfrom since\) did not answer, as the queueing discipline of lo dropped the question"),
    "quota-woken": ("quota", r"resize-b \(242\) was throttled for 5\.1\d\d s", "also late: dispatcher"),
    "mmap-lock": ("process", r"query \(282\) waited 79\d\.\d ms", r"for gc-protect \(281\) in mmap: gc-protect worked for 79\d\.\d ms in mprotect; both need .* \(mmap_lock, inferred\)"),
    "veth-delay": ("network", r"control \(265\) waited 1\.00\d s", r"packets were 5\d\.\d+ ms in the queueing discipline of w0 \(its shaper"),
    "swap-cgroup": ("swap", r"visitor \(268\) waited 3\.99\d s", r"for catalog \(243\) in read, which waited in a page fault for swap on vdd"),
    "udp-lost-chain": ("timeout", r"browser \(274\) waited 1\.25\d s", r"for tax \(251\) in recvfrom, which waited in poll until its own time limit of 2\d\d\.\d ms: 10\.9\.0\.2:9704 \(rates \(250\), .*\) did not answer"),
    # the row is locked from 603.34 to 606.28 (truth.tsv), checkout asks at 603.86; its backend's last wait, of 1.366 s, ends as
    # postgres (272) sends it SIGURG (babeltrace2)
    "pg-idletx": ("timer", r"postgres \(274\) waited 2\.0\d+ s .*for postgres \(272\) in epoll_wait, which waited for stockfix \(268\) in epoll_wait, which waited for bash \(201\)", r"sleep .* slept 10 times"),
    # asked before the trace: it begins at 35.367678, stockfix' timer expires at 36.232102 (babeltrace2)
    "pg-before": ("timer", r"checkout \(282\) waited 864\.8 ms", r"for postgres \(285\) in read, which waited for postgres \(287\) in epoll_wait, which waited for stockfix"),
    "watchdog": ("timeout", r"pricer \(258\) waited 349\.4 ms .* in read on pipe /tmp/feed, until it was killed by signal 9"),
    "scrub-late": ("device", r"notesdb-0 \(273\) waited 1\.7\d+ s .*the disk vde", r"also late: writer \(272\)"),
    # truth.tsv: six logins of 3.65 s in all, before avatar's
    "aio-hash": ("process", r"avatar \(265\) waited 3\.63\d s .*for authsvc \(245\) in read", r"3\.3\d\d s of that went to loginbot \(264\), which was served first"),
    # the answer that took longest: net_if_rx at 47.458118, net_if_receive_skb at 47.552527, both on CPU 1 (babeltrace2)
    "rx-backlog": ("network", r"trader \(257\) waited 823\.4 ms", r"packets from 127\.0\.0\.1:7001; for 8\d\d\.\d ms of it they lay in the receive queue of CPU 1, .* \(meanwhile ksoftirqd/1"),
    "quota-busy": ("quota", r"imgd \(255\) was throttled for 1\.\d+ s", "also late: cdn"),
    "quota-neighbour": ("quota", r"pricesv \(264\) was throttled for 2\.1\d\d s", r"its cgroup had used up its CPU quota, of which logship \(266\) took 7[78] %", "also late: cartsv"),
    # two cgroups, two quotas, filled at the same time
    "quota-two": ("quota", r"stocksv \(258\) was throttled for 80\d", r"its cgroup had used up its CPU quota \(inferred\)", r"also late: fronts"),
    # asked for at .718972 (expires 1796042946.750050000, 31.03 ms ahead), fired at .650543, after clock_settime at .743694 (babeltrace2)
    "clock-set": ("timer", r"tickcli \(259\) waited 2\.233 s", r"during one of these sleeps, of 931\.6 ms instead of 31\.03 ms, timesvc \(260\) set the clock"),
    # the condition is waited for until the same time of day again, as an item comes between
    "clock-batch": ("timer", r"prodc \(262\) waited 1\.52\d s", r"for flushd \(264\) in read", r"of 618\.8 ms instead of 18\.00 ms, ntpq \(263\) set the clock"),
    "robust-mutex": ("process", r"bankC \(263\) waited 399\.9 ms", r"bankA \(261\) had the lock from bankB \(262\), which was killed by signal 9 .SIGKILL. from opsx \(264\) and held it"),
    "stale-connection": ("timeout", r"pw1 \(264\) waited 2\.110 s", r"127\.0\.0\.1:9804 \(olddb \(260\), which accepted the connection and has not read, and has been in pause since\) did not answer",
                         r"also late: apisv \(261\) \(2\.110 s\) and apicli"),
    "pipe-held": ("timer|process", r"deployx \(261\) waited 1\.675 s", r"for watchd \(270\) in read: watchd \(several processes\) slept 15 times"),
    # 70 forks of agentm (265), babeltrace2's text
    "agent-burst": ("cpu", r"agentm \(265\) started these 70 processes chkpart", r"also late: ordsv \(263\) \(583\.1 ms\)"),
    "rx-steered": ("softirq", r"softIRQ NET_RX took 485\.6 ms", r"for packets from 127\.0\.0\.1 to port 9841 of sinkd \(263\) from calcw \(265\)"),
    # by a pipe it asks, by netlink it is told
    "netlink-told": ("timer", r"onlinewt \(264\) waited 1\.805 s", r"for ifupd \(263\) in recvfrom, which waited for leased \(262\) in recvfrom: leased slept 6 times"),
    # ^S at .175983, ^Q at .775739, exit_write at .777503, and the same 1.3 s later (babeltrace2)
    "terminal-held": ("timer", r"buildr \(255\) waited 1\.1[78]\d s", r"for usrterm \(257\) in write on /dev/pts/0: usrterm slept 2 times"),
    "eventfd-pool": ("process", r"mainui \(257\) waited 25\d\.\d ms", "bgw1", "bgw0"),
    "flock-cycle": ("deadlock", r"mover \(261\) waited for the lock of /b\.lck, which packer \(262\) had, and packer \(262\) for the lock of /a\.lck",
                    r"none went on for 1\.529 s"),
    "rw-prefer": ("lock", r"writerx \(262\) waited 976", r"which scanner \(261\)", r"also late: lookup0 \(263\) \(9\d\d\.\d ms\) and lookup1 \(264\) \(8\d\d"),
    "self-call": ("timeout", r"monosrv \(261\) waited 1\.87\d s", r"127\.0\.0\.1:8701, where monosrv \(261\) listens itself, did not answer", r"also late: pagecli"),
    "permit-leak": ("deadlock", r"permapp \(257\) hung for 1\.51\d s", r"jobs1 \(259\) and jobs0 \(258\) had ended before"),
    "pool-hang": ("deadlock", r"taskapp \(261\) hung for 1\.70\d s", r"all of its 3 threads", r"the last to begin to wait was wrk1 \(263\)"),
    "barrier-disk": ("device", r"calc2 \(261\) waited 93\d\.\d ms", r"in pread64 for", r"also late: calc0 \(259\) \(8\d\d\.\d ms\) and 3 more", r"disk vda \(/sim\.bin\); 22 requests"),
    "ports-out": ("failure", r"scraper \(260\) waited 5\.2\d\d s", "connect on 127.0.0.1:8200 failed 26 times with EADDRNOTAVAIL", "never succeeded"),
    "mq-full": ("process", r"invoicer \(256\) waited 2\.1\d\d s .*; 26 times", r"for printd \(257\) in mq_timedsend: printd worked"),
    "dl-throttle": ("quota", r"codec \(265\) was throttled for 1\.850 s", "22 times", "SCHED_DEADLINE"),
    "lock-quota": ("lock", r"apiserv \(263\)", r"sidecar \(262\) held", "sidecar \\(262\\) was throttled"),
    "loop-dev": ("device", "ledgerd", "kworker/u4:1", "disk vda"),
    "rt-busy": ("quota", r"motionctl \(261\) was throttled", "4 times, 298 to 303 ms each", "sched_rt_runtime_us"),
    "spin-yield": ("failure", r"spinner \(266\) spun for 40[0-6]\.\d ms", "21,9\\d\\d calls of sched_yield", r"preparer \(265\) ran most"),
    "spool-poll": ("failure", "jobrunner", "was made already by feeder", "the next try was due only after the pause"),
    "spawn-many": ("child", "spawner", "tiny"),
    "sqlite-busy": ("lock", "sqlwriter", "sqlholder", r"x\.db"),
    "lost": ("lost-events", "267,955 events"),
    "startup-chain": ("timer", "xinit", "Xorg", "40 times"),
    "stop-server": ("stopped", "logincli", "authsrv", "opsguy", "SIGSTOP"),
    "syn-drop": ("retransmission", "synclient-", "lazyserver", "SYN"),
    # truth.tsv: the fork took 242.5 ms; each waited a part of that in read, at a fault
    "fork-stall": ("process", r"req-N \(2 threads\) waited 37\d\.\d ms", r"for saver \(242\)", "in clone", "mmap_lock", r"also late: shop \(270\)"),
    # truth.tsv: both gave up, after 701.8 and 706.2 ms
    "mutual-ask": ("timeout", r"order-svc \(243\) waited 70\d\.\d ms", "own time limit of 700.0 ms", "127.0.0.1:9061"),
    # babeltrace2: net_if_receive_skb has acknowledgements with window_size = 0 (05:10:12.850794145 and on)
    # its loss probes' bytes had all come (net_if_receive_skb): nothing was lost
    "slow-reader": ("network", r"feeder \(249\) waited 607\.7 ms", r"indexer \(246\) did not read: its receive window was closed"),
    # babeltrace2: accept from 03:38:40.354811 to 43.450219; SYNs come at 40.392, 41.429 and 43.442, one is answered
    "syn-firewall": ("retransmission", r"billing \(267\) waited 3\.049 s", "SYN to 127.0.0.1:7360", r"ledger \(249\) waited for connections", "firewall"),
    "taskset-parent": ("cpu", "indexp", "renderp", "pinned"),
    "tbf-shape": ("network", "uploader", "queueing discipline of lo"),
    "timerslack": ("wake-up", r"napper \(264\) overslept by 1\.06", "timer slack", "up to 60.00 ms more"),
    # cc-core's token took 522.8 ms (truth.tsv), of which 279.5 with cc-net, through cc-gui
    "token-pipe": ("process", r"cc-core \(267\) waited 2\d\d\.\d ms", r"for cc-gui \(269\) in read", "cc-gui worked"),
    "two-hogs": ("cpu", "midjob", "hogleft", "hogright"),
    "two-hosts-client": ("network", "python3", r"10\.9\.0\.1:7000"),
    "ust-func": ("device", "proxyapp", "fsync", "vda"),
    "wait-n": ("child|timer", "jobpool", "load-d", "load-a"),
    "stop-holder": ("stopped", r"tuned0 \(259\) was stopped for 1\.400 s", r"by opsshell \(258\)", r"also late: tuned1 \(260\), through tuned0 \(259\) \(1\.39\d s\)"),
    "web-mixed": ("device", "webclient", "nginx", "app", "vda"),
    "wide": ("device", "fsync", "vda"),
    "zero-read": ("cpu", "zeroread"),
}
# a second thing that has to be said of the same recording
AS_WELL = {
    "slow-reader": ("process", r"feeder \(249\) waited 489\.7 ms", r"for indexer \(246\) in write: indexer worked"),
    "mutual-ask": ("timeout", r"stock-svc \(242\) waited 70\d\.\d ms", r"127.0.0.1:9062 \(order-svc \(243\), which has been in poll since\)"),
    "chain4": ("lock", "appsrv", r"nightjob \(264\) held", r"zipper \(263\) worked", "webreq"),
    "dirty-throttle": ("device", "bulkcopy"),
    "hang": ("lock", "flock-wait", "hang", "/tmp/lockfile"),
    "pipe-deadlock": ("timeout", "wrapper", "in write on pipe #1, until it was killed by signal 9 .SIGKILL. from watchdog"),
    "oom-restart": ("memory", r"leaky \(263\) was killed by the kernel to free memory \(OOM killer", "as were 2 more of that name",
                    r"supervz \(262\) started the next one 25\d\.\d ms later"),
    "lock-quota": ("quota", "sidecar", "cgroup had used up its CPU quota"),
    "make-chain": ("device", "job-b", "vda"),
    # the bursts of truth.tsv: feed took 60 to 117 ms then, and 10 to 15 else
    "rps-flood": ("network", r"feed \(286\) waited 1\.534 s", "in read for packets from 127.0.0.1:8080", "lay in the receive queue of CPU 1"),
    # cpu.stat of its cgroup says throttled; thumbd (265) left to a kworker first, and its CPU idled 94 times meanwhile (sched_switch)
    "quota-both": ("quota", r"webd \(2 threads\) waited", r"for thumbd \(274\) in read: thumbd was throttled", "cgroup had used up its CPU quota"),
    # logrotd's 5 MB before each of the late fsyncs (truth.tsv); it waits for its own
    "rotate-fsync": ("lock", r"orderd-N \(3 threads\) waited 3\.295 s", r"orderd-log \(268\) and 3 others held", r"the disk was busy with data of logrotd \(273\)"),
    "rt-busy": ("cpu", r"motionctl \(261\)", r"kept housekeep \(260\) off the CPU"),
    "spool-poll": ("process", "feeder", "for jobrunner"),
    "syn-drop": ("timer|process", "synclient-", "lazyserver"),
    "web-mixed": ("lock", "app", "lockholder", "/applock"),
    "pipe-chain": ("timer|process", "stage-b", "stage-c"),
}
# busy, but healthy; their own sleeps; their own children's work
NOTHING = ("ok-busypoll", "ok-paced", "ok-deadline", "ok-film", "ok-pty", "ok-beats", "ok-progress", "ok-timed-pool", "ok-leader", "ok-pause-exit", "ok-sched-idle", "ok-two-addresses", "ok-pipeline", "ok-reset", "ok-accept-mutex", "ok-ahead", "ok-flusher", "ok-clock-set", "ok-followers", "ok-idle-ways", "ok-tail", "ok-terminal", "crew-broadcast", "crew-unnamed", "hiccup-disk", "http-poller", "nap-check", "ok-batchcpu", "ok-compile", "ok-cron", "ok-eventloop", "ok-fifo", "ok-gzip", "ok-pubsub", "ok-pushed", "ok-shmqueue", "ok-threads", "ok-uring", "ok-web", "ok-workers")
TRACER = re.compile(r"\b(lttng|lttng-\w+|Client manageme)\b")


@functools.cache
def items(name):
    return t.report("overview", t.trace(name), "--quiet")["stands_out"]


def stands_out(name, wanted):
    kind, *patterns = wanted
    found = items(name)[:3]
    assert any(re.fullmatch(kind, one["kind"]) and all(re.search(p, one["sentence"]) for p in patterns)
               for one in found), (wanted, [(one["kind"], one["sentence"]) for one in found])


def nothing(name):
    assert items(name) == [], items(name)
    assert b"Nothing stands out" in t.output("overview", t.trace(name), "--quiet")


def recording_itself():
    """buyer is ready for 1.34 s, while CPU 1 polls for ever and CPU 0 has, most often, lttng-consumerd (sched_switch)."""
    said = " ".join(t.output("overview", t.trace("ok-busypoll"), "--quiet").decode().split())
    assert re.search(r"Nothing stands out but what the recording itself may have made longer: CPU: reader \(263\) and 17 others kept buyer "
                     r"\(264\) off the CPU for 1\.340 s .*; the tracer itself had this CPU or another one for 852\.3 ms of that", said), said[:700]


def pause():
    """Where nothing stands out, one long wait is told: a part of hiccup-disk's fsync of 98.6 ms (truth.tsv). Many as long are
    not, as in ok-web."""
    said = " ".join(t.output("overview", t.trace("hiccup-disk"), "--quiet").decode().split())
    found = re.search(r"Nothing stands out but one wait, of ([\d.]+) ms: Device: metricsd \(260\).*in fsync.*disk vda", said)
    assert found and 98.6 / 2 < float(found[1]) < 98.6, said
    # priorities that they got as they ran: chrt(1) sets its own and goes on
    said = " ".join(t.output("overview", t.trace("rt-hiccup"), "--quiet").decode().split())
    # off the CPU at 10:26:39.495266, next switched in 234.0 ms later; moved to another CPU's queue in between (babeltrace2)
    assert re.search(r"but one wait, of 234\.0 ms: CPU: rtbatch .* kept paycli \(257\) off the CPU .*; rtbatch is more urgent "
                     r"\(real-time 20 against nice 0\)", said), said[:700]
    assert b"but one wait" not in t.output("overview", t.trace("ok-web"), "--quiet")


def on_cpu(name):
    """Of each thread by TID: ns between being switched in and out, of the text that babeltrace2 prints."""
    done = subprocess.run(["babeltrace2", "--clock-seconds", t.trace(name)], stdout=subprocess.PIPE, check=True)
    since, ns = {}, collections.Counter()
    for line in done.stdout.decode().splitlines():
        found = re.match(r"\[(\d+)\.(\d+)\].* sched_switch: .*cpu_id = (\d+).* prev_tid = (\d+),.* next_tid = (\d+)", line)
        if found:
            time = int(found[1]) * 10 ** 9 + int(found[2])
            if found[3] in since:
                ns[found[4]] += time - since[found[3]]
            since[found[3]] = time
    del ns["0"]
    return ns


def busiest():
    """ok-gzip: it works most of its life, in its own code. All that it is on a CPU for is its work, but for interrupts."""
    said = " ".join(t.output("overview", t.trace("ok-gzip"), "--quiet").decode().split())
    found = re.search(r"Busiest was gzip \((\d+)\), at work for ([\d.]+) s \((\d+) % of its life\): ([\d.]+) s in its own code\.", said)
    ran = on_cpu("ok-gzip")
    assert found and found[1] == ran.most_common(1)[0][0], (said, ran.most_common(2))
    assert 0.9 < float(found[2]) * 1e9 / ran[found[1]] <= 1 and int(found[3]) > 50 and float(found[4]) < float(found[2]), said
    assert "--thread " + found[1] in said
    assert b"Busiest" not in t.output("overview", t.trace("ok-web"), "--quiet") # nobody works for half its life


def barrier(name, last):
    """What the threads say that they spent in pthread_barrier_wait() (truth.tsv; not the one that is last each time) they
    waited for who was last, but for what they were interrupted, and without a CPU: barrier has two for four threads."""
    with open(os.path.join(t.trace(name), "truth.tsv"), encoding="utf-8") as truth:
        told = sum(int(line.split("ns=")[1]) for line in truth if line.split("\t")[2] != last)
    one = items(name)[0]
    assert one["threads"] == 3 and 0.85 * told < one["ns"] < told, (one, told)


def log_feed():
    """applogd passes on what appfeed, which it made, prints each 30 ms by its own timer: nobody is late. web1 to web3 are, by
    the one request that catalog works 600 ms for."""
    sentences = [one["sentence"] for one in items("log-feed")]
    assert not any("applogd" in sentence for sentence in sentences), sentences
    assert any(re.search("webN .* for nginx .* for catalog .*: catalog worked for", sentence) for sentence in sentences), sentences


def network_sum():
    """tbf-shape: what a queueing discipline keeps is the network's, though the shell waits for uploader as for a child: it
    is the most of uploader's wait, and no other thread of the chain has more than its own work."""
    report = t.report("overview", t.trace("tbf-shape"), "--quiet")
    wait, sums = report["stands_out"][0], report["waited_for"]
    assert sums["network_ns"] > wait["ns"] / 2 and sums["network_ns"] > 2 * sums["child_ns"], (wait, sums)


def screen(name):
    """25 lines of 80 columns; items as JSON has them; shares and amounts are possible ones; nobody of the tracer."""
    lines = t.output("overview", t.trace(name), "--quiet").decode().rstrip("\n").split("\n")
    assert len(lines) <= 25 and all(len(line) <= 80 for line in lines), lines
    report = t.report("overview", t.trace(name), "--quiet")
    found = report["stands_out"]
    assert len(found) <= 5, found
    text = " ".join(" ".join(lines).split())
    length = report["window"]["end"] - report["window"]["begin"]
    findings = {f["id"] for f in t.report("overview", t.trace(name), "--quiet", "--limit", "0")["findings"]}
    for number, one in enumerate(found):
        assert 0 < one["share"] <= 1 and 0 < one["worth_ns"] <= one["ns"], one
        assert one["worth_ns"] <= length and one["ns"] <= length * one["threads"], (length, one)
        for who in (one["thread"], one["subject"]):
            assert not who or not TRACER.match(who["name"]), one
        shown = re.sub(r"\s+", " ", one["sentence"])
        assert number > 2 or shown in re.sub(r" +whylate explain s-\w+", "", text) or "explain" in text, one
        assert one["finding"] in findings, one
    explained = t.output("explain", found[0]["finding"], t.trace(name), "--quiet").decode() if found else ""
    assert not found or found[0]["sentence"][:40] in " ".join(explained.split()), explained[:400]


def pasted(name):
    """What JSON says to run next can be run, with the trace's path for TRACE."""
    found = items(name)
    assert found, name
    for one in found:
        words = [t.trace(name) if word == "TRACE" else word for word in shlex.split(one["command"])]
        assert words[:2] == ["whylate", "explain"] and words[2] == one["finding"], words
        assert one["sentence"][:40] in " ".join(t.output(*words[1:], "--quiet").decode().split()), words


def hidden(name):
    """Hidden names are as alike as the names: the same items of as many threads."""
    def shape(*options):
        return [(one["kind"], one["threads"], one["worth_ns"], one["thread"] and one["thread"]["tid"])
                for one in t.report("overview", t.trace(name), "--quiet", *options)["stands_out"]]
    assert shape() == shape("--anonymise"), (shape(), shape("--anonymise"))


def bounded(name, *paths):
    """Of a whole system `delay` shows the threads that were not blocked longest, says how many, and what shows the rest."""
    places = [os.path.join(t.trace(name), path) for path in paths]
    text = t.output("delay", *places, "--thread", "all", "--quiet").decode()
    threads = t.report("delay", *places, "--thread", "all", "--limit", "0", "--quiet")["threads"]

    def busy(thread):
        return thread["summary"]["ns"] - sum(one["ns"] for one in thread["summary"]["children"] if one["key"] == "blocked")

    shown = [int(tid) for tid in re.findall(r"^State summary of .*?\((?:pid|tid) (\d+)", text, re.M)]
    assert len(shown) == 20 < len(threads), (len(shown), len(threads))
    assert "Of the 20 of %d threads that" % len(threads) in " ".join(text.split())
    longest = sorted(map(busy, threads), reverse=True)[:20]
    of_tid = [{busy(one) for one in threads if one["tid"] == tid} for tid in shown]
    assert all(ns in of for ns, of in zip(longest, of_tid)), (longest, of_tid)
    assert text.count("\n") < 600 and "State instances" not in text and "--limit 0 of all" in " ".join(text.split())
    everything = t.output("delay", *places, "--thread", "all", "--limit", "0", "--quiet").decode()
    for heading in ("State summary of", "State instances of"):
        assert len(re.findall("^" + heading, everything, re.M)) == len(threads), heading


def part():
    """The first line says of a part of the trace that it is one, and what the count of events is of."""
    whole = t.report("overview", t.trace("pipe-chain"), "--quiet")["window"]
    middle = (whole["begin"] + whole["end"]) // 2
    text = " ".join(t.output("overview", t.trace("pipe-chain"), "--from", "%dns" % middle, "--quiet").decode().split())
    assert re.search(r" \(of 1\.\d+ s that were recorded\); [\d,]+ events in the whole trace, none lost", text), text[:300]
    text = " ".join(t.output("overview", t.trace("pipe-chain"), "--quiet").decode().split())
    assert "that were recorded" not in text and "in the whole trace" not in text


tap.case("guest-host: the threads of two whole systems", bounded, "guest-host", "guest", "host")
tap.case("pipe-chain: the threads of one", bounded, "pipe-chain", "")
tap.case("the first line of a part", part)
for recording in ("futex", "pool-wait", "syn-drop", "web-mixed", "rwlock-starve", "pidns-wait"):
    tap.case(recording + ": the same with names hidden", hidden, recording)
for recording in ("startup-chain", "make-chain", "hang"):
    tap.case(recording + ": commands to paste", pasted, recording)
for recording, expected in STANDS_OUT.items():
    tap.case(recording + ": what stands out", stands_out, recording, expected)
for recording, expected in AS_WELL.items():
    tap.case(recording + ": what does so as well", stands_out, recording, expected)
for recording in NOTHING:
    tap.case(recording + ": nothing", nothing, recording)
for recording in t.sample(("startup-chain", "futex", "hang", "web-mixed", "syn-drop", "lost", "fork4", "snapshot", "nap-check", "two-hosts-client")):
    tap.case(recording + ": a screen", screen, recording)
tap.case("barrier: the others wait for the last one, as long as they say", barrier, "barrier", "268")
tap.case("barrier-turns: all wait, by turns", barrier, "barrier-turns", None)
tap.case("log-feed: whom a logger hears steadily is not waited for", log_feed)
tap.case("a shaper's time is the network's", network_sum)
tap.case("ok-busypoll: what they lost is the recording's", recording_itself)
tap.case("nothing stands out, but for one pause", pause)
tap.case("nothing stands out: who worked most, and at what", busiest)
tap.done()
