/* SPDX-License-Identifier: MIT */
/* Does a traced kernel run on these virtual CPUs, and by how much is its clock off?
 *
 * A kernel does something only while the thread of its virtual CPU runs on the host:
 *
 *   virtual CPU's thread   ├ runs ┤ off ├── runs ──┤  off  ├ runs ├
 *   moments of the guest     ·  ·         · ··  ·            · ·        fits
 *   the same, later               ·  ·         · ··  ·            · ·   does not
 *
 * So moments (a switch, a call's end, an interrupt) outside are counted for all differences of the
 * clocks in a range at once: each moment and each stretch off the CPU rules out the differences in
 * between. What is left with the fewest is the difference, and half its width the error.
 *
 * Place: guests/.
 */
#ifndef WHYLATE_GUESTS_FIT_H
#define WHYLATE_GUESTS_FIT_H

#include "guests/machines.h"

struct fit {
	int64_t difference, error; /* to be added to the guest's times; ns */
	uint32_t moments; /* compared at that difference */
	uint32_t outside; /* … the virtual CPU did not run */
	uint32_t chance; /* … would not, were the machine another one */
	uint32_t second; /* … at the next best difference that is another one; UINT32_MAX: none */
};

/* Moments of the guest's CPUs, and when their virtual CPUs did not run. */
struct moments {
	GArray *at; /* owned; struct moment */
	GArray *off; /* owned; struct off, by virtual CPU and time */
	int64_t begin, end; /* of the host's trace */
	int64_t off_ns; /* in all, over all virtual CPUs */
	guint vcpus;
};

/* All by the hosts' clocks as they are set. False: the machine has another number of CPUs. */
bool moments_init(struct moments *moments, const struct model *model,
		  const struct timeline *timeline, uint16_t guest, const struct machine *machine);
void moments_clear(struct moments *moments);

/* The best of the differences in [from, to]; false: too few moments to say. */
bool fit_find(const struct moments *moments, int64_t from, int64_t to, struct fit *fit);

#endif
