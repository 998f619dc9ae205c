/* SPDX-License-Identifier: MIT */
/* LAMI analyses of how often and how long: system calls and other operations, interrupts; see
 * lami.h. The figures are those of `whylate profile`.
 */
#include "lami/lami_latencies.h"

#include <string.h>

static int64_t mean_of(const struct profile *profile)
{
	int64_t count = (int64_t) MAX(profile->count, 1);

	return (profile->sum + (int64_t) profile->count / 2) / count;
}

GETTER(int64_t, mean, struct profile, mean_of(row));

const struct column lami_latency_columns[] = {
	{NULL, COLUMN_WHOLE, FIELD(struct profile, count), .lami = {"Count", ""}},
	{NULL, COLUMN_NS, FIELD(struct profile, sum), .lami = {"Total"}},
	{NULL, COLUMN_NS, FIELD(struct profile, min), .lami = {"Minimum"}},
	{NULL, COLUMN_NS, .number = mean, .lami = {"Mean"}},
	{NULL, COLUMN_NS, FIELD(struct profile, percentiles[0]), .lami = {"50 % up to"}},
	{NULL, COLUMN_NS, FIELD(struct profile, percentiles[1]), .lami = {"90 % up to"}},
	{NULL, COLUMN_NS, FIELD(struct profile, percentiles[2]), .lami = {"99 % up to"}},
	{NULL, COLUMN_NS, FIELD(struct profile, max), .lami = {"Maximum"}},
	{NULL, COLUMN_WHOLE, FIELD(struct profile, peaks), .lami = {"Peaks", "peaks"}},
	{NULL, COLUMN_WHOLE, FIELD(struct profile, spans_gap), .lami = {"Span lost events", ""}},
	{0}};

const char *lami_operation_detail(const struct report *report, const void *profile)
{
	const char *operation = ((const struct profile *) profile)->operation;
	const char *colon = strchr(operation, ':');

	(void) report;
	return colon ? colon + 1 : operation;
}

static void put_interrupt(const struct report *report, const void *row)
{
	const struct profile *profile = row;

	json_put_bool(report->output, "hard", PACK_KIND(profile->what) == OPERATION_IRQ);
	json_put_whole(report->output, "nr", PACK_NUMBER(profile->what));
	if (profile->label)
		json_put_text(report->output, "name", profile->label);
}

/* A table of latencies; `...` is what its first column is of. */
#define TABLE(name, title, unit, ...)                                                              \
	static const struct column name##_columns[] = {                                            \
		{NULL, __VA_ARGS__}, COLUMNS(lami_latency_columns), {0}};                          \
	static const struct lami_table name##_table = {#name, title, name##_columns, unit}

TABLE(syscalls, "Latencies of system calls", "calls", COLUMN_TEXT, .text = lami_operation_detail,
      .lami = {"System call", .class = LAMI_SYSCALL});
TABLE(operations, "Latencies of other operations", "operations", COLUMN_TEXT,
      FIELD(struct profile, operation), .lami = {"Operation"});
TABLE(irqs, "Interrupt handlers", "interrupts", COLUMN_WRITTEN, .write = put_interrupt,
      .lami = {"IRQ", .class = LAMI_IRQ});
TABLE(softirqs, "SoftIRQs", "softIRQs", COLUMN_WRITTEN, .write = put_interrupt,
      .lami = {"SoftIRQ", .class = LAMI_IRQ});
TABLE(vectors, "Interrupt vectors", "interrupts", COLUMN_TEXT, .text = lami_operation_detail,
      .lami = {"Vector"});
TABLE(callbacks, "Callbacks of high-resolution timers", "calls", COLUMN_TEXT,
      .text = lami_operation_detail, .lami = {"Callback"});

struct profiles *lami_profiles(const struct lami_writer *writer, GError **error)
{
	guint resolution = writer->report.session->asked.options->profile.resolution;

	return profiles_new(writer->report.session, resolution ? resolution : 1, error);
}

void lami_kinds(struct lami_writer *writer, const struct profiles *profiles,
		const struct lami_table *table, uint32_t kinds)
{
	lami_begin(writer, table);
	for (guint i = 0; i < profiles->list->len && !lami_is_full(writer); i++) {
		const struct profile *profile = g_ptr_array_index(profiles->list, i);

		if (kinds >> PACK_KIND(profile->what) & 1 && profile->count)
			lami_row(writer, profile);
	}
}

static bool write_latencies(struct lami_writer *writer, GError **error)
{
	struct profiles *profiles = lami_profiles(writer, error);

	if (!profiles)
		return false;
	lami_kinds(writer, profiles, &syscalls_table, 1u << OPERATION_SYSCALL);
	lami_kinds(writer, profiles, &operations_table, ~(1u << OPERATION_SYSCALL));
	profiles_free(profiles);
	return true;
}

static bool write_interrupts(struct lami_writer *writer, GError **error)
{
	struct profiles *profiles = lami_profiles(writer, error);

	if (!profiles)
		return false;
	lami_kinds(writer, profiles, &irqs_table, 1u << OPERATION_IRQ);
	lami_kinds(writer, profiles, &softirqs_table, 1u << OPERATION_SOFTIRQ);
	lami_kinds(writer, profiles, &vectors_table, 1u << OPERATION_VECTOR);
	lami_kinds(writer, profiles, &callbacks_table, 1u << OPERATION_HRTIMER);
	profiles_free(profiles);
	return true;
}

const struct lami_analysis lami_latencies = {
	.name = "latencies",
	.title = "whylate: latencies of operations",
	.description = "How often and how long: system calls, or what --operation names.",
	.tags = {"syscall", "stats"},
	.command = "profile",
	.operations = "syscall:*",
	.needs = {EV_SYSCALL_ENTRY},
	.tables = {&syscalls_table, &operations_table},
	.write = write_latencies};

const struct lami_analysis lami_interrupts = {
	.name = "interrupts",
	.title = "whylate: interrupts and softIRQs",
	.description = "How often and how long interrupt handlers, vectors, softIRQs and timers' "
		       "callbacks ran.",
	.tags = {"interrupt", "stats"},
	.command = "profile",
	.operations = "irq:* softirq:* vector:* hrtimer*",
	.needs = {EV_IRQ_ENTRY, EV_SOFTIRQ_ENTRY, EV_VECTOR_ENTRY, EV_HRTIMER_EXPIRE_ENTRY},
	.tables = {&irqs_table, &softirqs_table, &vectors_table, &callbacks_table},
	.write = write_interrupts};
