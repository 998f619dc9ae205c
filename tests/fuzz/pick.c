/* SPDX-License-Identifier: MIT */
/* main() of a fuzz target that chooses among inputs: prints the names of a few small ones
 * that together reach every region of the code that all of them reach. For corpus.sh.
 *
 * Built with clang -fprofile-instr-generate, whose counters it reads after each input
 * (compiler-rt, InstrProfiling.h). Greedy set cover: the input with most that is new for
 * its size first. Source: V. Chvatal, A greedy heuristic for the set-covering problem, 1979.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "target.h"

#define FIXED_COST 200 /* bytes that a file costs besides its own */

uint64_t *__llvm_profile_begin_counters(void);
uint64_t *__llvm_profile_end_counters(void);
void __llvm_profile_reset_counters(void);

struct input {
	const char *path;
	gsize length;
	GArray *reached; /* uint32_t: counters that are not zero */
	bool taken;
};

static void run(struct input *input)
{
	g_autofree char *bytes = NULL;
	const uint64_t *counters = __llvm_profile_begin_counters();
	size_t count = (size_t) (__llvm_profile_end_counters() - counters);

	if (!g_file_get_contents(input->path, &bytes, &input->length, NULL))
		exit(2);
	input->reached = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	__llvm_profile_reset_counters();
	LLVMFuzzerTestOneInput((const uint8_t *) bytes, input->length);
	for (size_t i = 0; i < count; i++) {
		uint32_t number = (uint32_t) i;

		if (counters[i])
			g_array_append_val(input->reached, number);
	}
}

static double worth(const struct input *input, const bool *known)
{
	guint fresh = 0;

	for (guint i = 0; i < input->reached->len; i++)
		fresh += !known[g_array_index(input->reached, uint32_t, i)];
	return fresh / (double) (input->length + FIXED_COST);
}

/* NULL: none has anything new. What an input is worth only falls, so one whose old worth
 * is less than the best need not be looked at. */
static struct input *best_of(struct input *inputs, int count, double *worths, const bool *known)
{
	struct input *best = NULL;
	double most = 0;

	for (int i = 0; i < count; i++) {
		if (inputs[i].taken || worths[i] <= most)
			continue;
		worths[i] = worth(&inputs[i], known);
		if (worths[i] > most) {
			most = worths[i];
			best = &inputs[i];
		}
	}
	return best;
}

int main(int argc, char **argv)
{
	struct input *inputs = g_new0(struct input, argc), *best;
	double *worths = g_new(double, argc);
	bool *known = g_new0(bool, __llvm_profile_end_counters() - __llvm_profile_begin_counters());

	for (int i = 1; i < argc; i++) {
		inputs[i - 1].path = argv[i];
		run(&inputs[i - 1]);
		worths[i - 1] = G_MAXDOUBLE;
	}
	while ((best = best_of(inputs, argc - 1, worths, known))) {
		best->taken = true;
		for (guint i = 0; i < best->reached->len; i++)
			known[g_array_index(best->reached, uint32_t, i)] = true;
		puts(best->path);
	}
	return 0;
}
