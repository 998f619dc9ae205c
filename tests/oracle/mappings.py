#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mappings.py - an independent, slow and obvious second implementation of what page faults are on.

Usage: mappings.py TRACE_DIR...

Prints a JSON list of [begin, tid, key] of all waits in page faults in user mode, outside of system calls ("Page faults" in
docs/semantics.md). It shares no code with the program. Pages are in a dict, one entry each; descriptors are followed by open,
close and fork only, as mmap of what was opened in the trace needs no more. For x86-64, without swap and lost events.
"""
import json
import sys

from oracle import fields_of, find_traces, read_events

PAGE = 4096


class Space:
    def __init__(self, program=None):
        self.program, self.pages, self.heap, self.end = program, {}, None, None

    def copy(self):
        other = Space(self.program)
        other.pages, other.heap, other.end = dict(self.pages), self.heap, self.end
        return other

    def fill(self, begin, size, key):
        for page in range(begin // PAGE, (begin + size + PAGE - 1) // PAGE):
            self.pages.pop(page, None)
            if key:
                self.pages[page] = key

    def key(self, address):
        if address // PAGE in self.pages:
            return self.pages[address // PAGE]
        if self.heap is not None and self.heap <= address < self.end:
            return "heap"
        if 0x7ffbf8000000 <= address < 0x800000000000 and not 0x7ffff0000000 <= address < 0x7ffff8000000:
            return "stack"
        if self.program is None:
            return None
        top = (max(self.pages) + 1) * PAGE if self.pages else None
        if address >= 0x700000000000:
            return "loader" if top is None or top <= address < top + (64 << 20) else None
        if self.heap is None or 0 < self.heap - address < 1 << 30:
            return "file:" + self.program
        return None


class Process:
    def __init__(self, space, files):
        self.space, self.files, self.call, self.args, self.fault = space, files, None, None, None


def run(events):
    threads, running, out = {}, {}, []
    for ts, cpu, name, _, text in events:
        f = fields_of(text)
        now = running.get(cpu)
        t = threads.setdefault(now, Process(Space(), {})) if now else None
        if name == "sched_switch":
            p = threads.setdefault(f["prev_tid"], Process(Space(), {}))
            if f["prev_tid"] and f["prev_state"] in (1, 2) and p.fault is not None and not p.call:
                out.append([ts, f["prev_tid"], p.space.key(p.fault)])
            running[cpu] = f["next_tid"]
        elif name == "sched_process_fork":
            parent = threads.setdefault(f["parent_tid"], Process(Space(), {}))
            thread = f["child_tid"] != f["child_pid"]
            flags = parent.args.get("flags", 0) if parent.call == "clone" else 0
            shares = thread or flags & 0x100 or parent.call == "vfork"
            threads[f["child_tid"]] = child = Process(parent.space if shares else parent.space.copy(),
                                                      parent.files if thread else dict(parent.files))
            child.call, child.args = parent.call, {}
        elif name == "sched_process_exec":
            p = threads.setdefault(f["tid"], Process(Space(), {}))
            p.space = Space(f["filename"])
        elif not t:
            continue
        elif name.startswith("x86_exceptions_page_fault"):
            t.fault = f["address"]
        elif name.startswith("syscall_entry_"):
            t.call, t.args, t.fault = name[len("syscall_entry_"):], f, None
            if t.call == "unknown" or t.call == "rt_sigreturn":
                t.call = None if f.get("id", 15) == 15 else t.call
        elif name.startswith("syscall_exit_"):
            call, a, ret = name[len("syscall_exit_"):], t.args or {}, f.get("ret", -1)
            known, t.call, t.args, t.fault = t.call == call, None, None, None
            if not known or not isinstance(ret, int) or ret < 0:
                continue
            if call in ("open", "openat"):
                t.files[ret] = a["filename"]
            elif call == "close":
                t.files.pop(a["fd"], None)
            elif call == "mmap" and a["flags"] & 0x20:
                t.space.fill(ret, a["len"], "stack" if a["flags"] & 0x20000 else "anonymous")
            elif call == "mmap":
                path = t.files.get(a["fd"])
                t.space.fill(ret, a["len"], "file:" + path if path and path[0] == "/" else None)
            elif call == "munmap":
                t.space.fill(a["addr"], a["len"], None)
            elif call == "mremap":
                key = t.space.pages.get(a["addr"] // PAGE)
                t.space.fill(a["addr"], a["old_len"], None)
                t.space.fill(ret, a["new_len"], key)
            elif call == "brk":
                t.space.heap = min(ret, t.space.heap or ret)
                t.space.end = ret
    return out


if __name__ == "__main__":
    json.dump(run(read_events(find_traces(sys.argv[1]))[0]), sys.stdout)
