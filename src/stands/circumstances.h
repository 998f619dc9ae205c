/* SPDX-License-Identifier: MIT */
/* What somebody had done that no chain of waits shows: emptied the page cache, set the clock by
 * which a timer runs, died with a lock; or what they share that has no name.
 *
 * Place: stands/, for the sentences. Source: proc(5), /proc/sys/vm/drop_caches; clock_settime(2),
 * "Timers"; get_robust_list(2); the kernel's mm/mmap.c (mmap_write_lock()).
 */
#ifndef WHYLATE_STANDS_CIRCUMSTANCES_H
#define WHYLATE_STANDS_CIRCUMSTANCES_H

#include "stands/fact.h"

/* Who first opened that file for writing, if nine tenths of what the fact adds up, reads or page
 * faults, came after; else NO_THREAD. */
uint32_t cache_dropped_before(const struct session *session, const struct fact *fact);
/* "; the disk was busy with data of logrotd (273)": where whom it waited for waited for a disk, if
 * the reasons of half of that name one thread, of another process. */
void append_disk_filler(GString *text, const struct session *session, const struct fact *fact);
/* "; during one of these sleeps, of 931.7 ms instead of 31.03 ms, timesvc (260) set the clock by
 * which it ran" */
void append_clock_set(GString *text, const struct session *session, const struct fact *fact);
/* "; bankA (261) had the lock from bankB (262), which was killed by signal 9 (SIGKILL) from opsx
 * (264) and held it" */
void append_left_lock(GString *text, const struct session *session, const struct fact *fact);
/* A thread waited for another one of its process, which has the lock of their address space
 * (inferred). */
bool fact_is_of_address_space(const struct session *session, const struct fact *fact);
/* "; both need the lock of the memory of their process (mmap_lock, inferred)" */
void append_address_space(GString *text, const struct session *session, const struct fact *fact);
/* When threads of `tracers` (by thread) had a CPU of that host, whichever: struct span (begin, end)
 * that do not overlap, in order. Free with g_array_unref(). */
GArray *tracer_runs(const struct session *session, const bool *tracers, uint16_t host);
/* So much of the fact's parts lies in these runs; ns. */
int64_t fact_beside(const struct fact *fact, const GArray *runs);
/* "; for 357.1 ms of it nothing at all was recorded there, not even …": of what interrupts took. */
void append_nothing_recorded(GString *text, const struct session *session, const struct fact *fact);

#endif
