/* SPDX-License-Identifier: MIT */
/* See operation_option.h. */
#include "latencies/operation_option.h"

#include "latencies/operations.h"
#include "run/option_values.h"

/* What follows the colon is the trace's. */
static const char *const kinds[] = {
	"*",         "syscall:*", "function:*",      "irq:*",          "vector:*",
	"softirq:*", "hrtimer*",  "kvm-exit:*",      "block-queued:*", "block-served:*",
	"wait-cpu",  "blocked:*", "trap:page_fault", "guest-irq:*",    "busy",
	NULL};

const struct option option_operation = {
	"operation",
	"PATTERN",
	"profile these: 'syscall:read', 'irq:*', '*'; may be repeated\n(default 'syscall:*', and "
	"'busy' where it tells)",
	option_texts,
	AT(profile.operations),
	.words = kinds,
	.repeatable = true};

bool operations_check(struct options *options, GError **error)
{
	const GPtrArray *patterns = options->profile.operations;

	for (guint i = 0; i < patterns->len; i++)
		if (!operation_pattern_check(g_ptr_array_index(patterns, i), error))
			return false;
	return true;
}

void operations_want(const struct options *options, struct wanted *wanted)
{
	wanted->operations |= operations_wanted(options);
	wanted->facts |= operations_have_conditions(options);
}
