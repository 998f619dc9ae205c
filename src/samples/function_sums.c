/* SPDX-License-Identifier: MIT */
/* See function_sums.h. */
#include "samples/function_sums.h"

#include <string.h>

#include "samples/share.h"
#include "util/when.h"

#define SOURCE_NONE (SAMPLE_OWN + 1)

struct line_count {
	uint32_t line, count;
};

struct count {
	uint32_t function;
	uint32_t samples, self, calling, inferred;
	uint32_t last;  /* the sample that was counted last, from 1: recursion counts once */
	GArray *lines;  /* owned; struct line_count */
};

struct function_sums {
	const struct session *session; /* borrowed */
	GHashTable *counts;  /* owned; function + 1 -> struct count */
	GHashTable *callers; /* owned; function and its caller (uint64_t) -> how often */
	GHashTable *inferred; /* owned; the same, of callers that have no frame */
	uint32_t samples, cut, in_interrupts;
	unsigned source; /* enum sample_source, SOURCE_NONE */
};

static void count_free(void *data)
{
	struct count *count = data;

	g_array_free(count->lines, TRUE);
	g_free(count);
}

struct function_sums *function_sums_new(const struct session *session)
{
	struct function_sums *sums = g_new0(struct function_sums, 1);

	sums->session = session;
	sums->counts = g_hash_table_new_full(NULL, NULL, NULL, count_free);
	sums->callers = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	sums->inferred = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	sums->source = SOURCE_NONE;
	return sums;
}

void function_sums_free(struct function_sums *sums)
{
	if (!sums)
		return;
	g_hash_table_destroy(sums->counts);
	g_hash_table_destroy(sums->callers);
	g_hash_table_destroy(sums->inferred);
	g_free(sums);
}

static struct count *count_of(struct function_sums *sums, uint32_t function)
{
	struct count *count = g_hash_table_lookup(sums->counts, GUINT_TO_POINTER(function + 1));

	if (count)
		return count;
	count = g_new0(struct count, 1);
	count->function = function;
	count->lines = g_array_new(FALSE, FALSE, sizeof(struct line_count));
	g_hash_table_insert(sums->counts, GUINT_TO_POINTER(function + 1), count);
	return count;
}

static void add_line(struct count *count, uint32_t line)
{
	struct line_count one = {line, 1};

	for (guint i = 0; i < count->lines->len; i++) {
		struct line_count *at = &g_array_index(count->lines, struct line_count, i);

		if (at->line != line)
			continue;
		at->count++;
		return;
	}
	if (line)
		g_array_append_val(count->lines, one);
}

static void add_caller(GHashTable *callers, uint32_t function, uint32_t caller)
{
	uint64_t key = (uint64_t) function << 32 | caller;
	gpointer *known = g_hash_table_lookup(callers, &key);

	g_hash_table_replace(callers, g_memdup2(&key, sizeof key),
			     GUINT_TO_POINTER(GPOINTER_TO_UINT(known) + 1));
}

static void begin_source(struct function_sums *sums, unsigned source)
{
	g_hash_table_remove_all(sums->counts);
	g_hash_table_remove_all(sums->callers);
	g_hash_table_remove_all(sums->inferred);
	sums->samples = sums->cut = sums->in_interrupts = 0;
	sums->source = source;
}

void function_sums_add(struct function_sums *sums, uint32_t thread, const struct sample *sample)
{
	const struct sample_stack *stack;
	const struct sample_frame *frame;

	if (sample->source > sums->source)
		return;
	stack = sample_stack(sums->session, thread, sample);
	if (!stack->frames->len)
		return;
	if (sample->source < sums->source)
		begin_source(sums, sample->source);
	if (stack->in_interrupt) {
		sums->in_interrupts++;
		return;
	}
	sums->samples++;
	sums->cut += stack->cut;
	for (guint i = 0; i < stack->frames->len; i++) {
		struct count *count;

		frame = &g_array_index(stack->frames, struct sample_frame, i);
		count = count_of(sums, frame->function);
		if (count->last == sums->samples)
			continue;
		count->last = sums->samples;
		count->samples++;
		count->self += i == 0;
		count->calling += i == 1;
		add_line(count, frame->line);
		count->inferred += frame->inferred;
		if (i == 1)
			add_caller(sums->callers, frame[-1].function, frame->function);
		if (i == 1 && frame->inferred)
			add_caller(sums->inferred, frame[-1].function, frame->function);
	}
}

void function_sums_add_all(struct function_sums *sums, uint32_t thread, int64_t begin, int64_t end)
{
	const struct session *session = sums->session;
	const struct pages *store = &session->trace.timeline.samples;
	const struct log *log = &model_thread(&session->trace.model, thread)->samples;

	for (uint32_t i = log->used ? sample_find(store, log, begin) : 0; i < log->used; i++) {
		const struct sample *sample = sample_at(store, log, i);

		if (sample->time > end)
			break;
		function_sums_add(sums, thread, sample);
	}
}

/* --- what they come to ---------------------------------------------------------------- */

/* Half the width of Wilson's interval. */
static double error_of(const struct function_sums *sums, uint32_t samples)
{
	if (sums->source == SAMPLE_OWN || sums->source == SAMPLE_SOFTIRQ)
		return -1;
	return share_error(samples, sums->samples);
}

static uint32_t main_line(const struct count *count)
{
	struct line_count most = {0, 0};

	for (guint i = 0; i < count->lines->len; i++) {
		const struct line_count *at = &g_array_index(count->lines, struct line_count, i);

		if (at->count > most.count || (at->count == most.count && at->line < most.line))
			most = *at;
	}
	return most.line;
}

static int by_name(const struct code_function *a, const struct code_function *b)
{
	int order = strcmp(a->name, b->name);

	return order ? order : g_strcmp0(a->file, b->file);
}

static int callers_first(gconstpointer a, gconstpointer b)
{
	const struct function_caller *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return by_name(x->function, y->function);
}

static GArray *callers_of(const struct function_sums *sums, uint32_t function)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct function_caller));
	GHashTableIter iterator;
	gpointer key, value;

	g_hash_table_iter_init(&iterator, sums->callers);
	while (g_hash_table_iter_next(&iterator, &key, &value)) {
		uint64_t pair = *(const uint64_t *) key;
		struct function_caller caller = {
			.function = sample_function(sums->session, (uint32_t) pair),
			.samples = GPOINTER_TO_UINT(value),
			.inferred = GPOINTER_TO_UINT(g_hash_table_lookup(sums->inferred, key))};

		if (pair >> 32 != function)
			continue;
		caller.share = (double) caller.samples / sums->samples;
		caller.error = error_of(sums, caller.samples);
		g_array_append_val(list, caller);
	}
	g_array_sort(list, callers_first);
	return list;
}

static int shares_first(gconstpointer a, gconstpointer b)
{
	const struct function_share *x = a, *y = b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	if (x->calling != y->calling)
		return x->calling > y->calling ? -1 : 1;
	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return by_name(x->function, y->function);
}

static void share_clear(void *share)
{
	g_array_free(((struct function_share *) share)->callers, TRUE);
}

/* What is left by rounding goes on to the next. */
static void share_out(const struct function_sums *sums, GArray *list, int64_t ns)
{
	uint64_t samples = 0;
	int64_t given = 0;

	for (guint i = 0; i < list->len; i++) {
		struct function_share *share = &g_array_index(list, struct function_share, i);
		int64_t until;

		samples += share->self;
		until = (int64_t) ((int128) ns * (int128) samples / sums->samples);
		share->ns = until - given;
		given = until;
	}
}

static GArray *list_of(const struct function_sums *sums, int64_t ns, bool inner)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct function_share));
	GHashTableIter iterator;
	gpointer value;

	g_array_set_clear_func(list, share_clear);
	g_hash_table_iter_init(&iterator, sums->counts);
	while (g_hash_table_iter_next(&iterator, NULL, &value)) {
		const struct count *count = value;
		struct function_share share = {
			.function = sample_function(sums->session, count->function),
			.line = main_line(count),
			.samples = count->samples,
			.self = count->self,
			.calling = count->calling,
			.inferred = count->inferred,
			.share = (double) count->samples / sums->samples,
			.self_share = (double) count->self / sums->samples,
			.error = error_of(sums, count->samples),
			.self_error = error_of(sums, count->self)};

		if (inner && !count->self)
			continue;
		share.callers = callers_of(sums, count->function);
		g_array_append_val(list, share);
	}
	g_array_sort(list, shares_first);
	share_out(sums, list, ns);
	return list;
}

struct functions_sampled
function_sums_take(const struct function_sums *sums, int64_t ns, bool inner)
{
	struct functions_sampled sampled = {.samples = sums->samples,
					    .cut = sums->cut,
					    .in_interrupts = sums->in_interrupts,
					    .source = (uint8_t) sums->source};

	if (sums->samples)
		sampled.functions = list_of(sums, ns, inner);
	return sampled;
}

struct functions_sampled sampled_in(const struct session *session, uint32_t thread, int64_t begin,
				    int64_t end, bool inner)
{
	struct functions_sampled sampled = {0};
	struct function_sums *sums;

	if (!model_thread(&session->trace.model, thread)->samples.used)
		return sampled;
	sums = function_sums_new(session);
	function_sums_add_all(sums, thread, begin, end);
	sampled = function_sums_take(sums, end - begin, inner);
	function_sums_free(sums);
	return sampled;
}

void sampled_clear(struct functions_sampled *sampled)
{
	g_clear_pointer(&sampled->functions, g_array_unref);
}
