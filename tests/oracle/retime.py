#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second, slow and obvious way to re-time a recorded run (semantics.md, "What if"), over the SQLite export.

    retime.py DATABASE RULE [TID]...     each line: TID and its last time in the re-timed run
    retime.py DATABASE RULE calls        each line: a system call, how many there are that were seen whole, and what
                                         they took in all and at most, as recorded and re-timed

RULE is thread=PATTERN leaf=PATTERN: CHANGE, as --what-if has it. Every stretch of every thread is kept with its old
and its new end; nothing is left out, merged or looked up quickly. Only the hinge of each wait (what its end moves
with) is taken from the export. Factors of work must be whole numbers: the export cuts stretches where calls begin,
and halves of the parts are not the half of the whole."""
import bisect
import fnmatch
import heapq
import math
import sqlite3
import sys


class Stretch:
    def __init__(self, begin, end, leaf, cpu, gap):
        self.begin, self.end, self.leaf, self.cpu, self.gap = begin, end, leaf, cpu, gap
        self.hinge = None

    def off_cpu(self):
        return self.leaf.startswith("blocked/") or self.leaf in ("interrupted/preempted", "interrupted/wait-cpu")


class Life:
    def __init__(self, number, host, tid, name, parent, begin):
        self.number, self.host, self.tid, self.name, self.parent, self.begin = number, host, tid, name, parent, begin
        self.stretches = []
        self.next = 0  # the stretch that is not over
        self.old, self.new = [], []
        self.stepping = False

    def key(self):
        return self.stretches[self.next].end if self.old else self.begin

    def over(self):
        return bool(self.old) and self.next == len(self.stretches)


class Rule:
    def __init__(self, text):
        selectors, change = text.rsplit(":", 1)
        words = dict(word.split("=", 1) for word in selectors.split())
        self.thread, self.leaf = words.get("thread", "*"), words.get("leaf", "*")
        change = change.strip()
        self.factor = float(change[1:]) if change[0] == "x" else 0.0

    def change(self, life, stretch, length):
        if not (fnmatch.fnmatchcase(life.name, self.thread) and fnmatch.fnmatchcase(stretch.leaf, self.leaf)):
            return length
        return math.floor(self.factor * length + 0.5)


class Run:
    """One recorded run under one rule."""
    def __init__(self, path, rule):
        database = sqlite3.connect(path)
        self.rule = rule
        self.lives = {}
        self.cpus = {}
        self.first = min(row[0] for row in database.execute("SELECT begin FROM hosts"))
        for row in database.execute("SELECT thread, host, tid, name, parent, begin FROM threads ORDER BY thread"):
            self.lives[row[0]] = Life(*row)
        blocks = {row[0]: row[1:] for row in
                  database.execute("SELECT block, hinge, hinge_thread, hinge_time FROM blocks")}
        last_block = None
        for thread, begin, end, leaf, cpu, block, gap in database.execute(
                "SELECT thread, begin, end, leaf, cpu, block, spans_gap FROM intervals ORDER BY interval"):
            stretches = self.lives[thread].stretches
            if block is not None and block == last_block:
                stretches[-1].end = end
                continue
            last_block = block
            stretches.append(Stretch(begin, end, leaf, cpu, gap))
            if block is not None:
                stretches[-1].hinge = blocks[block]
        for host, cpu, begin, end, thread in database.execute(
                "SELECT host, cpu, begin, end, thread FROM runs WHERE thread IS NOT NULL ORDER BY run"):
            self.cpus.setdefault((host, cpu), []).append((begin, end, thread))
        self.play()

    def at(self, thread, time):
        """When `thread` reaches what it reached at `time`, as far as it has been played."""
        life = self.lives[thread]
        if not life.old:
            return time
        if time <= life.old[-1]:
            i = bisect.bisect_right(life.old, time) - 1
            if i < 0:
                return life.new[0] + time - life.old[0]
            if life.old[i] == time:
                return life.new[i]
            return life.new[i] + ((time - life.old[i]) * (life.new[i + 1] - life.new[i])
                                  // (life.old[i + 1] - life.old[i]))
        begin = life.new[-1]
        if life.over() or life.stretches[life.next].off_cpu():
            return begin + time - life.old[-1]
        stretch = life.stretches[life.next]
        length = stretch.end - stretch.begin
        return begin + (time - stretch.begin) * self.rule.change(life, stretch, length) // length

    def play_up_to(self, thread, time):
        life = self.lives[thread]
        while not life.over() and life.key() <= time and not life.stepping:
            self.step(life)

    def ready(self, life, stretch):
        """As long as it was, less what is done sooner on that CPU by others."""
        gained = 0
        for begin, end, thread in self.cpus.get((life.host, stretch.cpu), []):
            begin, end = max(begin, stretch.begin), min(end, stretch.end)
            if begin < end and thread != life.number:
                gained += (end - begin) - (self.at(thread, end) - self.at(thread, begin))
        length = stretch.end - stretch.begin
        return length if stretch.gap else max(length - gained, 0)

    def wait(self, stretch, begin):
        """How long a wait takes that now begins at `begin`."""
        hinge, thread, time = stretch.hinge
        if hinge == "time":
            return max(stretch.end - begin, 0)
        if hinge == "thread" and thread is not None:
            self.play_up_to(thread, time)
            return max(self.at(thread, time) + stretch.end - time - begin, 0)
        return stretch.end - stretch.begin

    def step(self, life):
        life.stepping = True
        if not life.old:
            born = life.parent is not None and life.begin > self.first
            if born:
                self.play_up_to(life.parent, life.begin)
            life.old.append(life.begin)
            life.new.append(self.at(life.parent, life.begin) if born else life.begin)
        else:
            stretch = life.stretches[life.next]
            if stretch.hinge:
                length = self.wait(stretch, life.new[-1])
            elif stretch.off_cpu():
                length = self.ready(life, stretch)
            else:
                length = stretch.end - stretch.begin
            new = life.new[-1] + self.rule.change(life, stretch, length)
            life.old.append(stretch.end)
            life.new.append(new)
            life.next += 1
        life.stepping = False

    def play(self):
        heap = [(life.key(), life.number) for life in self.lives.values() if life.stretches]
        heapq.heapify(heap)
        while heap:
            key, number = heapq.heappop(heap)
            life = self.lives[number]
            if life.over():
                continue
            if life.key() == key:
                self.step(life)
            if not life.over():
                heapq.heappush(heap, (life.key(), number))


def calls(path, run):
    sums = {}
    for thread, name, begin, end in sqlite3.connect(path).execute(
            'SELECT thread, name, begin, "end" FROM syscalls WHERE ns IS NOT NULL'):
        old, new = end - begin, run.at(thread, end) - run.at(thread, begin)
        count, *rest = sums.get(name, (0, 0, 0, 0, 0))
        sums[name] = (count + 1, rest[0] + old, max(rest[1], old), rest[2] + new, max(rest[3], new))
    for name, numbers in sorted(sums.items()):
        print(name, *numbers)


def main():
    run = Run(sys.argv[1], Rule(sys.argv[2]))
    if sys.argv[3:] == ["calls"]:
        calls(sys.argv[1], run)
        return
    wanted = {int(tid) for tid in sys.argv[3:]}
    for life in run.lives.values():
        if life.old and (not wanted or life.tid in wanted):
            print(life.tid, life.new[-1])


if __name__ == "__main__":
    main()
