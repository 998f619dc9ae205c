/* SPDX-License-Identifier: MIT */
/* Putting down and adding up; see path_sums.h. */
#include "path/path_sums.h"

#include <string.h>

#include "ready/host_span.h"
#include "ready/runners.h"
#include "waits/state_names.h"

bool piece_is_ready(const struct piece *piece)
{
	return leaf_is_ready(piece->leaf) || span_is_hosts_ready(piece->leaf);
}

/* "hog-0 52 %, hog-1 47 %", or why the CPU was idle. */
static struct cause cpu_cause(const struct session *session, const struct piece *piece)
{
	struct span span = {piece->begin, piece->end, piece->leaf, piece->ref};
	struct cause cause = cause_of_kind(CAUSE_WAIT_CPU);
	struct runners runners = {0};
	struct ready ready = runners_add(&runners, session, piece->thread, &span);
	GString *text;

	cause.label = ready_label(&ready);
	if (!cause.label) {
		text = g_string_new(NULL);
		runners_append(&runners, text);
		g_string_append(text, ready.kind == READY_PINNED ? "; " : "");
		runners_append_pinned(&runners, session, piece->thread, text);
		cause.label = g_string_free(text, FALSE);
	}
	cause.kind = ready_cause_kind(ready.kind);
	cause.inferred = ready.kind == READY_THROTTLED;
	runners_clear(&runners);
	return cause;
}

/* Of a guest: what its virtual CPU's thread waited for on the host. */
static bool hosts_wait(const struct session *session, const struct piece *piece, struct wait *wait)
{
	struct span span = {piece->begin, piece->end, piece->leaf, piece->ref}, outside;
	uint32_t vcpu = span_is_hosts(piece->leaf)
				? host_span(session, piece->thread, &span, &outside)
				: NO_THREAD;

	if (!is_thread(vcpu) || !leaf_is_blocked(outside.leaf))
		return false;
	*wait = wait_of(session, vcpu, &outside);
	return true;
}

/* Of a piece that is neither blocked nor ready. */
static enum cause_kind running_kind(uint32_t leaf)
{
	switch (PACK_KIND(leaf)) {
	case LEAF_UNKNOWN:
		return CAUSE_UNKNOWN;
	case LEAF_HOST:
		return CAUSE_WAIT_CPU;
	case LEAF_INT_SOFTIRQ:
		return CAUSE_SOFTIRQ;
	case LEAF_INT_IRQ:
	case LEAF_INT_VECTOR:
	case LEAF_INT_HRTIMER:
		return CAUSE_IRQ;
	default:
		return CAUSE_CPU;
	}
}

enum cause_kind piece_cause_kind(const struct session *session, const struct piece *piece)
{
	struct span span = {piece->begin, piece->end, piece->leaf, piece->ref};
	struct wait wait;

	if (piece->block) {
		wait = piece_wait(piece);
		return wait_cause_kind(session, &wait);
	}
	if (piece_is_ready(piece))
		return ready_cause_kind(ready_of(session, piece->thread, &span).kind);
	if (hosts_wait(session, piece, &wait))
		return wait_cause_kind(session, &wait);
	return running_kind(piece->leaf);
}

struct cause piece_cause(const struct session *session, const struct piece *piece)
{
	struct wait wait;

	if (piece->block) {
		wait = piece_wait(piece);
		return wait_cause(session, &wait);
	}
	if (hosts_wait(session, piece, &wait))
		return wait_cause(session, &wait);
	return piece_is_ready(piece) ? cpu_cause(session, piece)
				     : cause_of_kind(running_kind(piece->leaf));
}

uint32_t piece_resource(const struct session *session, const struct piece *piece)
{
	uint32_t resource = piece->block ? block_waits_for(session, piece->block) : 0;
	const char *key = "unknown";

	if (resource)
		return resource;
	if (leaf_wib(piece->leaf) == WIB_WORKING)
		key = "cpu:running";
	else if (span_is_hosts(piece->leaf))
		key = "cpu:host";
	else if (piece_is_ready(piece))
		key = "cpu:waiting";
	else if (leaf_wib(piece->leaf) == WIB_INTERRUPTED)
		key = "cpu:interrupts";
	else if (PACK_KIND(piece->leaf) == LEAF_BLOCK_STOPPED ||
		 PACK_KIND(piece->leaf) == LEAF_BLOCK_TRACED)
		key = "signal";
	return intern_id(session->trace.model.names, key);
}

/* Sums by a number: a thread, a resource, a kind of state with a kind of cause. */
struct sums {
	GArray *list;      /* struct total */
	GHashTable *index; /* number -> place in it, from 1 */
};

static void add_to_sums(struct sums *sums, guint number, const struct total *fresh,
			const struct piece *piece)
{
	int64_t ns = piece->end - piece->begin;
	gpointer key = GUINT_TO_POINTER(number);
	guint at = GPOINTER_TO_UINT(g_hash_table_lookup(sums->index, key));
	struct total *total;

	if (!at) {
		g_array_append_vals(sums->list, fresh, 1);
		at = sums->list->len;
		g_hash_table_insert(sums->index, key, GUINT_TO_POINTER(at));
	}
	total = &g_array_index(sums->list, struct total, at - 1);
	total->count++;
	total->ns += ns;
	total->wib[leaf_wib(piece->leaf)] += ns;
}

/* Largest first, then the thread that came first, … */
static int largest_first(gconstpointer a, gconstpointer b)
{
	const struct total *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->leaf != y->leaf)
		return x->leaf < y->leaf ? -1 : 1;
	if (x->cause != y->cause)
		return x->cause < y->cause ? -1 : 1;
	return x->resource < y->resource ? -1 : x->resource > y->resource;
}

void path_totals_init(struct path_totals *totals, const struct session *session,
		      const struct path *path)
{
	struct sums sums[3]; /* by thread, resource, kind */

	for (size_t i = 0; i < G_N_ELEMENTS(sums); i++)
		sums[i] = (struct sums) {g_array_new(FALSE, FALSE, sizeof(struct total)),
					 g_hash_table_new(NULL, NULL)};
	*totals = (struct path_totals) {.threads = sums[0].list,
					.resources = sums[1].list,
					.kinds = sums[2].list};
	for (guint i = 0; i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);
		struct total thread = {.thread = piece->thread};
		struct total resource = {.resource = piece_resource(session, piece)};
		struct total kind = {.leaf = piece->leaf,
				     .cause = piece_cause_kind(session, piece)};

		add_to_sums(&sums[0], thread.thread, &thread, piece);
		add_to_sums(&sums[1], resource.resource, &resource, piece);
		add_to_sums(&sums[2], PACK_KIND(kind.leaf) << 8 | (guint) kind.cause, &kind, piece);
		totals->ns += piece->end - piece->begin;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(sums); i++) {
		g_array_sort(sums[i].list, largest_first);
		g_hash_table_destroy(sums[i].index);
	}
	totals->functions = function_totals_new(session, path);
}

void path_totals_clear(struct path_totals *totals)
{
	g_array_free(totals->threads, TRUE);
	g_array_free(totals->resources, TRUE);
	g_array_free(totals->kinds, TRUE);
	g_array_free(totals->functions, TRUE);
}
