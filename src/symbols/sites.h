/* SPDX-License-Identifier: MIT */
/* What the instructions of a binary say of recorded call stacks: the call before a return
 * address, and where a program must lie for its addresses to be what they are.
 *
 *   load_theme:  call parse_config          ◄── the call before the return address names the
 *   ► return address:  …                        function, also one that has no frame of its own
 *
 * Part of symbols/, over code.h, and like that for the process that reads the file (binary.h).
 * Addresses are offsets from where the file was loaded. x86-64 and AArch64 are known.
 *
 * A program's place is in no event of a kernel trace. It is fitted: a whole number of pages, all
 * addresses that ran in executable segments, return addresses behind calls whose targets lie in
 * them too, and mostly are functions. One place must fit better than any other, and most return
 * addresses must fit; else there is none: frames that a program does not keep give stacks of
 * rubbish.
 */
#ifndef WHYLATE_SYMBOLS_SITES_H
#define WHYLATE_SYMBOLS_SITES_H

#include "symbols/code.h"

enum site_kind {
	SITE_UNKNOWN,  /* the file does not say, or another machine's */
	SITE_NONE,     /* no call is before it: it is no return address */
	SITE_DIRECT,   /* of `target` */
	SITE_INDIRECT, /* of what a register or a table says */
	SITE_KINDS
};

struct site {
	uint8_t kind; /* enum site_kind */
	uint64_t target;
};

struct site site_before(struct code_file *file, uint64_t address);

/* Whether the function that begins there makes a frame of its own first (push %rbp; mov %rsp,%rbp;
 * on AArch64 stp x29, x30). */
enum own_frame frame_made_at(struct code_file *file, uint64_t start, uint64_t size);

enum fit_end {
	FIT_NONE,    /* no place fits */
	FIT_SEVERAL, /* two fit equally well */
	FIT_FOUND,
	FIT_ENDS
};

struct fit {
	uint8_t end; /* enum fit_end */
	uint64_t base;
	uint32_t returns, behind_calls; /* return addresses inside it; those behind calls */
};

#define FIT_ADDRESSES 512 /* of each kind; more say no more */

/* `ran`: addresses at which the processor was; `returns`: return addresses as recorded, some of
 * them perhaps rubbish. All as the process has them. */
struct fit fit_base(struct code_file *file, const uint64_t *ran, size_t ran_count,
		    const uint64_t *returns, size_t returns_count);

#endif
