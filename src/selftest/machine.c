/* SPDX-License-Identifier: MIT */
/* What analysing finds on this machine: the sandbox, names of functions, room for temporary files;
 * see selftest.h.
 */
#include "selftest/selftest.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "confine/confine.h"
#include "symbols/binary.h"
#include "util/spill.h"

#define KNOWN "qsort" /* a function of the C library, which is here for sure */
#define DEBUG_PATH ":.debug:/usr/lib/debug"

/* A function is looked up as those of recorded programs are: elfutils in a child. */
static void look_at_names(struct selftest *test)
{
	void *function = dlsym(RTLD_DEFAULT, KNOWN);
	const struct code_frame *frame = NULL;
	struct binary *binary;
	const struct code *code;
	Dl_info found;

	if (!function || !dladdr(function, &found) || !found.dli_fname) {
		selftest_add(test, "functions", PART_WITHOUT,
			     g_strdup("not tried: the C library is not loaded as a file"));
		return;
	}
	binary = binary_open(found.dli_fname, NULL, 0, DEBUG_PATH);
	code = binary_at(binary,
			 (uint64_t) ((const char *) function - (const char *) found.dli_fbase));
	if (code && code->frames->len)
		frame = &g_array_index(code->frames, struct code_frame, code->frames->len - 1);
	if (frame && frame->function)
		selftest_add(
			test, "functions", PART_WORKS,
			g_strdup_printf("of programs are named, tried on %s; %s", found.dli_fname,
					frame->file ? "their source lines are known"
						    : "source lines and inlined functions are of "
						      "programs with debug information, as of "
						      "-dbgsym packages"));
	else
		selftest_add(test, "functions", PART_FAILS,
			     g_strdup_printf("no function has a name in %s: %s", found.dli_fname,
					     binary_why(binary) ? binary_why(binary)
								: "elfutils finds none"));
	binary_free(binary);
}

static void look_at_temporary(struct selftest *test)
{
	int fd = spill_open();

	if (fd >= 0) {
		close(fd);
		selftest_add(test, "temporary", PART_WORKS,
			     g_strdup_printf("files of long traces go to %s", spill_place()));
	} else {
		selftest_add(test, "temporary", PART_FAILS,
			     g_strdup_printf("no file can be made in %s: %s; TMPDIR=DIRECTORY "
					     "names another place",
					     spill_place(), g_strerror(errno)));
	}
}

static void look_at_sandbox(struct selftest *test)
{
	struct confine_state state = confine_offered();
	bool whole = !state.off && state.files && state.calls;

	selftest_add(test, "sandbox", whole ? PART_WORKS : PART_WITHOUT, confine_text(&state));
}

void look_at_machine(struct selftest *test)
{
	look_at_sandbox(test);
	look_at_names(test);
	look_at_temporary(test);
}
