#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""requests.py - an independent, slow and obvious second implementation of the requests over network connections.

Usage: requests.py TRACE_DIR... [--preset server|client]

Prints a JSON list of requests in the order of their begins (see Request.json). Each host is looked at by itself, clocks are not
corrected. It shares no code with the program; the reader of `babeltrace2`'s text is that of latencies.py and oracle.py.

- Descriptors are followed per table: shared by threads and clone(CLONE_FILES), copied by fork; dup*, fcntl(F_DUPFD*), close,
  close_range, execve (close-on-exec) and the end of the last thread change it. A connection is closed with its last descriptor.
- A connection's end is a descriptor that accept* returned (a server's), that connect was called on and gave 0 or EINPROGRESS
  (a client's), or one that the statedump has as socket:[...]: a server's if its local port is less than its peer's, in the
  first packet queued by a thread inside its own write on it, outside of interrupts; with no such packet it is not listed.
- Reads are read, readv, recvfrom, recvmsg; writes write, writev, sendto, sendmsg, sendfile (its out_fd). Those that return > 0
  count, in this order: a read at its return, a write at its entry (the answer may come before the write returns). The close,
  at its entry, is the connection's end: nothing follows. A read that returns 0 (if not asked for 0), at its return, is the end
  of what is asked: it ends a request that has an answer; else the answer may still come.
- A server's request begins at the return of the first read that gets bytes after a write (or first of all) and ends at the
  return of the last write before the next such read or the connection's end. A client's begins at the entry of the first write
  after a read that got bytes (or first of all) and ends at the return of the last read before the next such write or the end.
- The first one on a connection begins earlier: a server's when the first bytes from that peer came (net_if_receive_skb, by the
  lengths in its headers), if accept* returned the connection; a client's at the entry of connect, if the thread that connected
  writes first, and neither read from nor wrote to another socket, nor called nanosleep, since the connect.
- With no write (client: read) it is unfinished, and ends with the connection, with the last of the threads that moved bytes on
  that end since it began, or with the host's last event. (What such a thread gives to another through a pipe is not looked at.)
  One whose first read (client: write) was before the trace is not listed.
- Parent of a server's request R: on R's host, of the client ends with the addresses the other way round, the newest one not
  newer than R's end; its newest request begun before R was written by a thread T. Of the server requests that T did a read
  for before that write, and that had not ended then, the parent is the one read last. For the first request of a client
  end: read before the connect by the thread that connected; if there is none, as for the later ones.
"""
import argparse
import bisect
import collections
import ipaddress
import itertools
import json
import re
import subprocess
import sys

from latencies import babeltrace2, classify, first_pass, read_events
from oracle import fields_of, find_traces, metadata_text, split_context

READS = {"read", "readv", "recvfrom", "recvmsg"}
WRITES = {"write", "writev", "sendto", "sendmsg", "sendfile", "sendfile64"}
OPENERS = {"open", "openat", "openat2", "creat", "socket", "epoll_create1", "eventfd2", "timerfd_create", "signalfd4",
           "inotify_init1", "memfd_create", "pidfd_open"}      # what they return is no connection's end, or not yet one
ACCEPTS, EXECS = {"accept", "accept4"}, {"execve", "execveat"}
DUPS = {"dup", "dup2", "dup3", "fcntl"}
SLEEPS = {"nanosleep", "clock_nanosleep"}
CALLS = SLEEPS | READS | WRITES | OPENERS | ACCEPTS | EXECS | DUPS | {"connect", "close", "close_range", "clone", "ioctl"}
O_CLOEXEC, CLONE_FILES, EINPROGRESS = 0o2000000, 0x400, 115
F_DUPFD, F_SETFD, F_DUPFD_CLOEXEC, FIONCLEX, FIOCLEX = 0, 2, 1030, 0x5450, 0x5451
Op = collections.namedtuple("Op", "at number what entry exit tid pid name fd life")      # what: read, write, last or end


def address(text, array, port):
    """(address, port) of an array of bytes, or 8 words of 16 bits, in babeltrace2's text; None if it is empty or missing."""
    m = re.search(array + r" = \[ (\[.*?) \]", text)
    if not m:
        return None
    values = [int(v, 0) for v in re.findall(r"\] = (\w+)", m.group(1))]
    ip = ipaddress.ip_address(b"".join(v.to_bytes(2 if len(values) == 8 else 1, "big") for v in values))
    return str(getattr(ip, "ipv4_mapped", None) or ip), port


class End:
    """One end of a connection, or any other open file (is_socket: the statedump, accept or connect says so)."""

    def __init__(self, role=None, peer=None, created=-1):
        self.role, self.peer, self.created, self.is_socket = role, peer, created, role is not None
        self.local = self.remote = self.connector = None    # addresses in packets; connect's thread
        self.references, self.ops, self.requests = 0, [], []


class Table:
    def __init__(self, slots=()):       # of {fd: [end, close on exec]}
        self.slots, self.users = {fd: list(slot) for fd, slot in slots}, set()
        for end, _ in self.slots.values():
            end.references += 1


class Request:
    def __init__(self, host, kind, end, op):
        self.host, self.kind, self.connection, self.first, self.last = host, kind, end, op, op
        self.begin = self.end = op.exit if kind == "server" else op.entry
        self.answered, self.reads, self.parent, self.name = False, [], None, op.name
        self.lives = {op.life}

    def finish(self, last, at):
        """With the operation that ended it, if no answer did, or with the trace."""
        if not self.answered:
            self.last = last or self.last
        if not self.answered:
            at = min(at, max(self.host.deaths.get(life, at) for life in self.lives))
        self.end = self.last.exit if self.answered else at
        self.name = self.last.name if self.answered or last else self.host.names.get(self.last.tid)

    def json(self, index):
        peer = self.connection.peer or self.connection.remote
        return {"host": self.host.name, "kind": self.kind, "begin": self.begin, "end": self.end, "begin_tid": self.first.tid,
                "end_tid": self.last.tid, "pid": self.last.pid, "name": self.name, "fd": self.first.fd,
                "peer": peer and ("[%s]:%d" if ":" in peer[0] else "%s:%d") % peer, "unfinished": not self.answered,
                "parent": index.get(self.parent)}


class Host:
    def __init__(self, name, traces):
        self.name, self.traces = name, traces
        self.names, self.pids, self.tables, self.by_address, self.by_inode = {}, {}, {}, {}, {}
        self.all_ends, self.calls, self.depth, self.current = {}, {}, collections.Counter(), {}
        self.last_event, self.number = None, itertools.count()
        self.came, self.naps = collections.defaultdict(list), collections.defaultdict(list)
        self.moved = collections.defaultdict(list)      # of a thread: its reads and writes
        self.lived, self.deaths = collections.Counter(), {}     # of a TID: so many lives that are over; when each ended
        with babeltrace2(traces, subprocess.DEVNULL) as process:        # who shares a table is told too late for the first events
            for raw in process.stdout:
                if b" lttng_statedump_process_state: " in raw:
                    self.on_lttng_statedump_process_state(0, 0, 0, fields_of(raw.decode("utf-8", "replace")))
                elif b" lttng_statedump_end: " in raw:
                    break
            process.kill()

    # -- descriptors --------------------------------------------------------------------------------------------------
    def set_table(self, tid, table):
        self.tables[tid] = table
        table.users.add(tid)

    def table(self, tid):
        if tid not in self.tables:
            self.set_table(tid, Table())
        return self.tables[tid]

    def end_at(self, tid, fd):
        """What a descriptor is; one that nobody told of is made up, as the statedump may still do so."""
        slots = self.table(tid).slots
        if fd not in slots:
            self.install(None, tid, fd, End(), False)
        return slots[fd][0]

    def install(self, ts, tid, fd, end, cloexec):
        table = self.table(tid)
        self.drop(ts, tid, table, fd)
        self.all_ends[end] = None
        end.references += 1
        table.slots[fd] = [end, bool(cloexec)]

    def drop(self, ts, tid, table, fd):
        if fd in table.slots:
            end = table.slots.pop(fd)[0]
            end.references -= 1
            if end.references == 0:
                self.log(end, "end", ts, ts, ts, tid, fd)

    def leave_table(self, ts, tid):
        table = self.tables.pop(tid, Table())
        table.users.discard(tid)
        for fd in list(table.slots) if not table.users else ():
            self.drop(ts, tid, table, fd)

    def log(self, end, what, at, entry, leave, tid, fd):
        if what in ("read", "write"):
            self.moved[tid].append((at, end))
        end.ops.append(Op(at, next(self.number), what, entry, leave, tid, self.pids.get(tid), self.names.get(tid), fd,
                         (tid, self.lived[tid])))

    # -- events -------------------------------------------------------------------------------------------------------
    def run(self):
        gaps, self.current = first_pass(self.traces)
        kinds, lost_until, has_context = {}, {}, any(t.has_context for t in self.traces)
        for ts, cpu, name, rest in read_events(self.traces):
            self.last_event = ts
            while gaps and gaps[0][0] <= ts:            # who runs there now, and in which call, is unknown
                _, end, lost = gaps.pop(0)
                self.calls.pop(self.current.pop(lost, None), None)
                self.depth[lost], lost_until[lost] = 0, end
            kind = kinds[name] = kinds.get(name) or classify(name) or (None,)
            if kind[0] in ("enter", "leave"):
                self.depth[cpu] = max(0, self.depth[cpu] + (1 if kind[0] == "enter" else -1))
                continue
            call = kind[0] in ("sysentry", "sysexit")
            method = getattr(self, "on_" + (kind[0] if call else name), None)
            if method:
                text = split_context(rest)[1] if has_context else rest
                method(ts, cpu, self.current.get(cpu), dict(fields_of(text), call=call and kind[1], text=text))
            if ts < lost_until.get(cpu, ts):
                self.current.pop(cpu, None)

    def on_sched_switch(self, ts, cpu, tid, f):
        self.names[f["prev_tid"]], self.names[f["next_tid"]] = f["prev_comm"], f["next_comm"]
        self.current[cpu] = f["next_tid"]

    def on_sched_process_fork(self, ts, cpu, tid, f):
        parent, child = f["parent_tid"], f["child_tid"]
        self.leave_table(ts, child)                     # of an earlier life of the TID
        self.calls.pop(child, None)
        self.names[child], self.pids[child] = f["child_comm"], f.get("child_pid", child)
        flags = self.calls.get(parent, (None, ts, {}, None))[2].get("flags")        # clone3's are not in the trace
        shared = self.pids.get(parent) == self.pids[child] if flags is None else flags & CLONE_FILES
        self.set_table(child, self.table(parent) if shared else Table(self.table(parent).slots.items()))

    def on_sched_process_exec(self, ts, cpu, tid, f):
        self.names[f["tid"]] = f["filename"].rsplit("/", 1)[-1][:15]
        self.exec(ts, f.get("old_tid", f["tid"]), f["tid"])

    def exec(self, ts, old, new):
        table = Table(self.table(old).slots.items())
        self.leave_table(ts, old)
        self.leave_table(ts, new)
        self.set_table(new, table)
        for fd in [fd for fd, (_, cloexec) in table.slots.items() if cloexec]:
            self.drop(ts, new, table, fd)

    def on_sched_process_exit(self, ts, cpu, tid, f):
        self.leave_table(ts, f["tid"])
        self.deaths[f["tid"], self.lived[f["tid"]]] = ts
        self.lived[f["tid"]] += 1

    def on_lttng_statedump_process_state(self, ts, cpu, _, f):
        tid, key = f["tid"], f.get("file_table_address", ("pid", f["pid"]))
        self.pids[tid], self.names[tid] = f["pid"], f["name"]
        if tid not in self.tables:
            self.set_table(tid, self.by_address.setdefault(key, Table()))
        self.by_address[key] = self.tables[tid]         # it may have been made by a fork before the statedump

    def on_lttng_statedump_file_descriptor(self, ts, cpu, tid, f):
        table = self.by_address.get(f.get("file_table_address", ("pid", f.get("pid"))))
        if table is None or not table.users:
            return
        user = min(table.users)                         # any of them
        end = self.end_at(user, f["fd"])
        if f["filename"].startswith("socket:["):
            known = self.by_inode.setdefault(f["filename"], end)
            known.is_socket = True
            if known is not end:                        # shared with another process
                known.ops += end.ops
                end.ops = []
                self.install(ts, user, f["fd"], known, False)
        table.slots[f["fd"]][1] = bool(int(str(f.get("flags", 0)), 8) & O_CLOEXEC)    # printed in octal

    def on_net_dev_queue(self, ts, cpu, tid, f):
        name, _, _, end = self.calls.get(tid, (None, 0, {}, None))
        if name not in WRITES | {"connect"} or self.depth[cpu] or end.local or "source_port" not in f:
            return
        if end.peer is None or end.peer[1] == f["dest_port"]:       # else it is another connection's
            end.local, end.remote = address(f["text"], " saddr", f["source_port"]), address(f["text"], " daddr", f["dest_port"])
            if end.role is None and name != "connect":
                end.role = "server" if f["source_port"] < f["dest_port"] else "client"

    def on_net_if_receive_skb(self, ts, cpu, tid, f):
        if "seq" not in f or "source_port" not in f:
            return
        peer = address(f["text"], " saddr", f["source_port"]), address(f["text"], " daddr", f["dest_port"])
        length = f["tot_len"] - 4 * f["ihl"] if "tot_len" in f else f["payload_len"]
        length -= 4 * f["data_offset"]
        if int(str(f["flags"]), 0) & 2:                 # SYN: another connection
            self.came[peer[0]].append([ts, None])
        elif length > 0 and self.came[peer[0]] and self.came[peer[0]][-1][1] is None:
            self.came[peer[0]][-1][1] = ts

    def on_sysentry(self, ts, cpu, tid, f):
        self.calls.pop(tid, None)
        name, end = f["call"], None
        if not tid or name not in CALLS:
            return
        if name in SLEEPS:
            self.naps[tid].append(ts)
        if name in READS or name in WRITES or name == "connect":
            end = self.end_at(tid, f.get("out_fd", f.get("fd")))
        if name == "connect":
            f["address"] = address(f["text"], " v[46]addr", f.get("dport"))
        elif name == "close":
            self.drop(ts, tid, self.table(tid), f["fd"])
        elif name == "close_range":
            table = self.table(tid)
            for fd in [fd for fd in table.slots if f["fd"] <= fd <= f["max_fd"] % 2 ** 32 and not f["flags"] & 4]:
                self.drop(ts, tid, table, fd)
        self.calls[tid] = (name, ts, f, end)

    def on_sysexit(self, ts, cpu, tid, answer):
        name, entry, f, end = self.calls.pop(tid, None) or (answer["call"], None, {}, None)
        if not tid or (entry is None and name not in ACCEPTS | OPENERS):    # of these the exit alone tells enough
            return
        ret, flags, fd = answer["ret"], f.get("flags", 0), f.get("out_fd", f.get("fd"))
        if name in READS and (ret > 0 or ret == 0 and f.get("count", f.get("size")) != 0):
            self.log(end, "read" if ret else "last", ts, entry, ts, tid, fd)
        elif name in WRITES and ret > 0:
            self.log(end, "write", entry, entry, ts, tid, fd)
        elif name in ACCEPTS and ret >= 0:
            new = End("server", address(answer["text"], " v[46]addr", answer.get("sport")), ts)
            self.install(ts, tid, ret, new, flags & O_CLOEXEC)
        elif name == "connect" and ret in (0, -EINPROGRESS) and f.get("family") != 0 and end.role != "server":
            end.role, end.peer, end.is_socket = "client", f["address"], True
            if end.connector is None:
                end.created, end.connector = entry, tid
        elif name in OPENERS and ret >= 0:
            self.install(ts, tid, ret, End(), (f.get("type", 0) if name == "socket" else flags) & O_CLOEXEC)
        elif name in EXECS and ret == 0:                # in case the trace has no sched_process_exec
            self.exec(ts, tid, tid)
        elif name in DUPS and ret >= 0 and f.get("cmd", F_DUPFD) in (F_DUPFD, F_DUPFD_CLOEXEC):
            old = f.get("oldfd", f.get("fildes", fd))
            if old != ret:
                self.install(ts, tid, ret, self.end_at(tid, old), flags & O_CLOEXEC or f.get("cmd") == F_DUPFD_CLOEXEC)
        elif ret == 0 and (name, f.get("cmd")) in (("fcntl", F_SETFD), ("ioctl", FIOCLEX), ("ioctl", FIONCLEX)):
            self.end_at(tid, fd)
            self.table(tid).slots[fd][1] = bool(f["arg"] & 1) if name == "fcntl" else f["cmd"] == FIOCLEX

    # -- requests -----------------------------------------------------------------------------------------------------
    def extract(self):
        for end in self.all_ends:
            self.extract_end(end)
        requests = [r for e in self.all_ends for r in e.requests]
        clients, read_by = collections.defaultdict(list), collections.defaultdict(list)
        for end in self.all_ends:
            if end.requests and end.role == "client" and end.local:
                clients[end.local].append(end)
        for op, request in sorted(((op, r) for r in requests for op in r.reads), key=lambda read: read[0], reverse=True):
            read_by[op.tid].append((op.exit, request))      # a thread's reads for server requests, newest first
        for request in requests:
            other = self.other_end(request.connection, clients)
            if request.kind == "server" and other:
                request.parent = self.parent(request, other, read_by)
        return requests

    def extract_end(self, end):
        begins, request = "read" if end.role == "server" else "write", None
        for op in sorted(end.ops) if end.is_socket and end.role else ():
            if op.what == begins:
                if request is None or request.answered:
                    if request:
                        request.finish(None, None)
                    request = Request(self, end.role, end, op)
                    if not end.requests:
                        request.begin = self.first_begin(end, request)
                    end.requests.append(request)
                request.last = op
                request.lives.add(op.life)
                request.reads += [op] if begins == "read" else []
            elif op.what == "end" or (op.what == "last" and request and request.answered):
                return request and request.finish(op, op.at)
            elif op.what == "last":
                continue
            elif request:
                request.last, request.answered = op, True
        return request and request.finish(None, self.last_event)

    def first_begin(self, end, request):
        if end.role == "server" and end.created >= 0:
            came = [data for syn, data in self.came[end.peer] if syn < end.created]
            return min(request.begin, came[-1] or request.begin) if came else request.begin
        tid = request.first.tid
        if end.role != "client" or end.connector != tid or \
                any(end.created < ts < request.begin for ts in self.naps[tid]) or \
                any(end.created < ts < request.begin and other is not end and (other.is_socket and other.role)
                    for ts, other in self.moved[tid]):
            return request.begin
        return end.created

    def other_end(self, end, clients):
        fits = [c for c in clients.get(end.peer or end.remote, ()) if c.created <= end.created or end.created < 0
                if end.local is None or c.remote == end.local]
        return max(fits, key=lambda c: c.created, default=None)

    def parent(self, request, other, read_by):
        def newest(tid, at):
            return next((r for ts, r in read_by[tid] if ts <= at and r.end > cause.begin), None)

        count = bisect.bisect_left(other.requests, request.begin, key=lambda r: r.begin)
        if count == 0:
            return None
        cause = other.requests[count - 1]
        return count == 1 and newest(other.connector, other.created) or newest(cause.first.tid, cause.begin)


def main():
    parser = argparse.ArgumentParser(description="requests over network connections in kernel traces, as JSON")
    parser.add_argument("traces", nargs="+", metavar="TRACE_DIR")
    parser.add_argument("--preset", choices=("server", "client"), default="server")
    options = parser.parse_args()
    hosts, requests = {}, []
    for trace in [t for top in options.traces for t in find_traces(top)]:
        clock = re.search(r"\bclock\s*\{[^}]*\buuid\s*=\s*\"?([0-9a-fA-F-]+)", metadata_text(trace.dir))
        hosts.setdefault((trace.env.get("hostname"), clock and clock.group(1)), []).append(trace)
    for (name, _), traces in hosts.items():
        host = Host(name, traces)
        host.run()
        requests += [r for r in host.extract() if r.kind == options.preset]
    requests.sort(key=lambda r: (r.begin, r.host.name, r.first.tid, r.first.fd))
    index = {r: i for i, r in enumerate(requests)}
    json.dump([r.json(index) for r in requests], sys.stdout, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
