# SPDX-License-Identifier: MIT
"""Calls that failed: as many of each call and error as babeltrace2 prints in its text, and who they were of, by the
switches there; on the first screen if no item tells of them, and nobody had an answer elsewhere at once."""
import collections
import re
import subprocess

import whylate_test as t

tap = t.Tap()

# asm-generic/errno.h, by docs/semantics.md, "Calls that failed"
ERRORS = {5: "EIO", 12: "ENOMEM", 23: "ENFILE", 24: "EMFILE", 27: "EFBIG", 28: "ENOSPC", 30: "EROFS", 35: "EDEADLK", 37: "ENOLCK",
          105: "ENOBUFS", 116: "ESTALE", 117: "EUCLEAN", 122: "EDQUOT", 99: "EADDRNOTAVAIL", 100: "ENETDOWN", 101: "ENETUNREACH",
          102: "ENETRESET", 103: "ECONNABORTED", 104: "ECONNRESET", 111: "ECONNREFUSED", 112: "EHOSTDOWN", 113: "EHOSTUNREACH",
          1: "EPERM", 13: "EACCES", 16: "EBUSY", 26: "ETXTBSY", 32: "EPIPE", 98: "EADDRINUSE"}
ON_CONNECTIONS = ("connect", "read", "readv", "recvfrom", "recvmsg", "write", "writev", "sendto", "sendmsg", "splice")


def error_of(call, result):
    if result == -110:
        return "ETIMEDOUT" if call in ON_CONNECTIONS else None
    if result == -11:
        return "EAGAIN" if call in ("clone", "clone3", "fork", "vfork") else None
    return ERRORS.get(-result)


def printed(name):
    """(TID, call, error): how often, in babeltrace2's text."""
    done = subprocess.run(["babeltrace2", t.trace(name)], stdout=subprocess.PIPE, check=True)
    current, found = {}, collections.Counter()
    for line in done.stdout.decode(errors="replace").splitlines():
        cpu = re.search(r"cpu_id = (\d+)", line)
        switch = re.search(r" sched_switch: .* next_tid = (\d+)", line)
        failed = re.search(r" syscall_exit_(\w+): .* ret = (-\d+|0x\w+|\d{19,})\b", line)
        if switch:
            current[cpu[1]] = int(switch[1])
        elif failed:
            result = int(failed[2], 0)
            error = error_of(failed[1], result if result < 0 else result - 2 ** 64) # mmap prints it as an address
            if error:
                found[current.get(cpu[1]), failed[1], error] += 1
    return found


def counted(name):
    """All of them, those of several threads of one name with the first's number."""
    report = t.report("overview", t.trace(name), "--limit", "0", "--quiet")
    calls, wanted = collections.Counter(), printed(name)
    for one in report["failed_calls"]:
        calls[one["call"], one["error"]] += one["count"]
        assert wanted[one["thread"]["tid"], one["call"], one["error"]] > 0, one
        assert -error_number(one["error"]) == one["result"] and one["begin"] <= one["end"], one
        if one["threads"] == 1:
            assert wanted[one["thread"]["tid"], one["call"], one["error"]] == one["count"], (one, wanted)
    assert calls == sum((collections.Counter({key[1:]: count}) for key, count in wanted.items()), collections.Counter()), (calls, wanted)


def error_number(name):
    return {"EAGAIN": 11, "ETIMEDOUT": 110, **{text: number for number, text in ERRORS.items()}}[name]


def screen(name):
    return " ".join(t.output("overview", t.trace(name), "--quiet").decode().split())


def told():
    """What nothing waits for, by the programs' own notes: after 29 answers gateway refused 32 for 700 ms; ledger took no
    order any more once its file system was full."""
    said = screen("breaker")
    assert re.search(r"\[failed\] gateway \(242\): recvfrom on socket \S+ failed with ECONNRESET \(the other end reset the "
                     r"connection\) at \[15:50:54\.204932578\]; inventory \(240\) had the other end Nothing else stands out", said), said
    said = screen("disk-full-once")
    assert re.search(r"\[failed\] ledger \(238\): write on /small/ledger\.db failed with ENOSPC \(no space left\)", said), said


def elsewhere():
    """Of two addresses of a name nobody listens at the first, each time."""
    assert "[failed]" not in screen("ok-two-addresses")
    one, = t.report("overview", t.trace("ok-two-addresses"), "--quiet")["failed_calls"]
    assert one["count"] == one["elsewhere"] == 60 and one["resource"]["name"] == "[::1]:8300", one
    assert "connected to another address at once" in t.output("overview", t.trace("ok-two-addresses"), "--full", "--quiet").decode().replace("\n     ", "")


def unasked():
    """Each client had its whole reply; resets reach who reads for a next request."""
    assert "[failed]" not in screen("ok-reset")
    one, = t.report("overview", t.trace("ok-reset"), "--quiet")["failed_calls"]
    assert one["error"] == "ECONNRESET" and one["count"] == one["unasked"] == 35 and one["threads"] == 35, one


def named_by_items():
    """An item tells: enospc-retry's own pauses between two tries."""
    assert "[failed]" not in screen("enospc-retry") and "ENOSPC" in screen("enospc-retry")


def window():
    """Of those before the window none is told."""
    whole = t.report("overview", t.trace("disk-full-once"), "--quiet")
    after = t.report("overview", t.trace("disk-full-once"), "--from", "%dns" % (whole["failed_calls"][0]["end"] + 1), "--quiet")
    assert whole["failed_calls"] and after["failed_calls"] == [], after["failed_calls"]


for recording in ("breaker", "disk-full-once", "ok-two-addresses", "ok-reset", *t.sample(("enospc-retry", "keepalive-loss", "mmap-enomem", "ports-out",
                                                                             "reset-retry", "rt-hiccup", "umount-busy", "wide", "web-mixed"))):
    tap.case(recording + ": as many as there are", counted, recording)
tap.case("on the first screen", told)
tap.case("connected elsewhere at once", elsewhere)
tap.case("no answer was due", unasked)
tap.case("an item names the error", named_by_items)
tap.case("in the window only", window)
tap.done()
