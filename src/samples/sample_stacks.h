/* SPDX-License-Identifier: MIT */
/* A sample's stack by the names of its functions, innermost first: the kernel's, then those of user
 * space.
 *
 *   recorded                                        the thread's
 *   lttng_…, sysvec_apic_timer_interrupt,     ─►    clear_user_erms, iov_iter_zero, read_iter_zero,
 *   asm_sysvec_…, clear_user_erms, iov_iter_zero,   …, vfs_read │ read, main
 *   …, do_syscall_64, entry_… │ read, main
 *
 * Place: samples/. Of a stack that an interrupt recorded the thread's part begins behind the
 * interrupt's entry. If another one's lies further out, that one interrupted the thread, and the
 * first one that: what lies between is of a softIRQ, or of the way out. Where events tell of the
 * softIRQ, its functions end there; else the thread's own come behind INTERRUPTS_FUNCTION. Calls
 * inlined at an address are frames of their own. A function without a frame hides who called it:
 * the direct call before the first return address names that one (symbols/sites.h); of an indirect
 * call it is not known. A recorded return address that no call stands before ends the stack: it is
 * rubbish, of a program built without frame pointers; so is one that has only the address that ran.
 */
#ifndef WHYLATE_SAMPLES_SAMPLE_STACKS_H
#define WHYLATE_SAMPLES_SAMPLE_STACKS_H

#include "run/session.h"
#include "timeline/sample.h"

#define UNKNOWN_FUNCTION "[unknown]"
#define INTERRUPTS_FUNCTION "[interrupts]" /* what is called by it is theirs */

struct code_function {
	const char *name; /* of a file without names that file's; UNKNOWN_FUNCTION */
	const char *file; /* of its source; NULL: not known */
	bool kernel;
	const char *binary, *symbol; /* where a probe can be set on it; NULL: not known */
};

struct sample_frame {
	uint32_t function; /* sample_function() */
	uint32_t line; /* 0: not known */
	bool inferred; /* it has no frame on the recorded stack: the call names it */
};

struct sample_stack {
	GArray *frames; /* struct sample_frame */
	bool cut; /* its user space's part breaks off */
	bool in_interrupt; /* … of which no event tells: nothing of the thread's ran */
};

/* Kept by the session. */
const struct sample_stack *
sample_stack(const struct session *session, uint32_t thread, const struct sample *sample);
/* A function that `pattern` fits is on it. */
bool sample_stack_has(const struct session *session, const struct sample_stack *stack,
		      const char *pattern);
/* "spin", "render_glyphs (inferred)": interned in the trace's names. */
uint32_t sample_frame_name(const struct session *session, const struct sample_frame *frame);
const struct code_function *sample_function(const struct session *session, uint32_t number);

#endif
