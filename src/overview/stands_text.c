/* SPDX-License-Identifier: MIT */
/* See stands_text.h. */
#include "overview/stands_text.h"

int stand_lines(const struct stand *item, guint number, bool findable, struct output *output)
{
	g_autofree char *line = g_strdup_printf("%u  %s", number, item->sentence);
	g_autofree char *id = g_strconcat("[", item->id, "]", NULL);

	return text_wrapped_beside(output, line, 0, HANGING, findable ? id : NULL);
}

/* Most first; those that are 0 on both sides are left out. */
static int in_order(const int64_t waited[WAITED_FOR_COUNT], const struct stands *recorded,
		    int order[WAITED_FOR_COUNT])
{
	int count = 0;

	for (int i = 0; i < WAITED_FOR_COUNT; i++) {
		int at = count;

		if (!waited[i] && !(recorded && recorded->waited[i]))
			continue;
		for (; at > 0 && waited[order[at - 1]] < waited[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
		count++;
	}
	return count;
}

void waited_text(const struct stands *stands, const struct stands *recorded, struct output *output)
{
	static const char *const names[WAITED_FOR_COUNT] = {
		[FOR_CPU] = "CPU",
		[FOR_LOCK] = "locks",
		[FOR_DISK] = "disks",
		[FOR_NETWORK] = "network",
		[FOR_MEMORY] = "memory",
		[FOR_LIMIT] = "limits",
		[FOR_CHILDREN] = "child processes",
		[FOR_THREADS] = "other threads",
		[FOR_INTERRUPT] = "interrupts",
		[FOR_REST] = "other causes"};
	g_autoptr(GString)
		line = g_string_new(recorded ? "Waiting, by what it would be for (as recorded): "
					     : "Waiting, by what it was for: ");
	int order[WAITED_FOR_COUNT], count = in_order(stands->waited, recorded, order);
	char length[32], was[32];

	if (!count)
		return;
	for (int i = 0; i < count; i++) {
		g_string_append_printf(line, "%s%s %s", i ? ", " : "", names[order[i]],
				       when_duration(length, stands->waited[order[i]]));
		if (recorded)
			g_string_append_printf(line, " (%s)",
					       when_duration(was, recorded->waited[order[i]]));
	}
	g_string_append_printf(
		line,
		stands->waiters == 1
			? " (of %u thread; without own timers, the tracer)"
			: " (summed over %u threads, every one of a chain; without own "
			  "timers, idle servers, the tracer)",
		stands->waiters);
	text_wrapped_beside(output, line->str, 0, 2, NULL);
}
