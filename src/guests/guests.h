/* SPDX-License-Identifier: MIT */
/* Which traced host is a guest of which other: recorded at the same time, each by its own kernel.
 *
 *   host    CPU 0/KVM (277) of qemu (265)   ├ runs ┤ hosthog has the CPU ├ runs ┤
 *   guest   CPU 0                            gapp computes …              … goes on
 *
 * Found out by when the guest did something (fit.h): only while its virtual CPUs ran. That also
 * tells how far its clock is off, better than packets do, or where there are none. It is said how
 * sure that is (struct guest); where several machines fit as well, or nothing fits, nothing is
 * concluded.
 *
 * Place: guests/, called by trace_gather(): guests_match() when packets have set the clocks right
 * as far as they can, before any stored time is; guests_apply() (host_time.h, behind.h) after that.
 */
#ifndef WHYLATE_GUESTS_GUESTS_H
#define WHYLATE_GUESTS_GUESTS_H

#include "guests/machines.h"

/* Sets host.guest and cpu.vcpu of the hosts that are guests of others, and their clocks. `given`:
 * strings as guest_parse() takes them. Errors: one fits no host, or no machine. */
bool guests_match(struct model *model, const struct timeline *timeline, const GArray *machines,
		  const GPtrArray *given, GError **error);

/* Takes a --guest apart: the host's name into `*guest`, its process or PID into `*process`; both
 * owned by the caller. */
bool guest_parse(const char *text, char **guest, char **process, GError **error);

/* "qemu-system-x86 (265)"; free with g_free(). */
char *machine_name(const struct model *model, const struct machine *machine);

#endif
