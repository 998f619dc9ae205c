/* SPDX-License-Identifier: MIT */
/* Facts as records; see fact.h. */
#include "stands/fact.h"

static const struct {
	const char *name, *title;
} kinds[] = {
#define STAND_ROW(kind, name, title) {name, title},
	STAND_KINDS(STAND_ROW)
#undef STAND_ROW
};

const char *stand_kind_name(enum stand_kind kind)
{
	return kinds[kind].name;
}

const char *stand_kind_title(enum stand_kind kind)
{
	return kinds[kind].title;
}

void fact_free(struct fact *fact)
{
	for (guint i = 0; i < fact->chains->len; i++)
		g_array_free(g_array_index(fact->chains, struct chain, i).links, TRUE);
	g_array_free(fact->chains, TRUE);
	g_array_free(fact->deeds, TRUE);
	g_array_free(fact->holders, TRUE);
	g_array_free(fact->works, TRUE);
	g_array_free(fact->files, TRUE);
	g_array_free(fact->parts, TRUE);
	g_array_free(fact->requests, TRUE);
	g_free(fact);
}

struct fact *fact_new(const struct fact *like)
{
	struct fact *fact = g_memdup2(like, sizeof *like);

	fact->deeds = g_array_new(FALSE, FALSE, sizeof(struct deed));
	fact->clock_set_by = fact->traced_by = fact->filler = NO_THREAD;
	fact->holders = g_array_new(FALSE, FALSE, sizeof(struct deed));
	fact->works = g_array_new(FALSE, FALSE, sizeof(struct deed));
	fact->files = g_array_new(FALSE, FALSE, sizeof(struct deed));
	fact->chains = g_array_new(FALSE, FALSE, sizeof(struct chain));
	fact->parts = g_array_new(FALSE, FALSE, sizeof(struct lost_part));
	fact->requests = g_array_new(FALSE, FALSE, sizeof(const struct wake_detail *));
	return fact;
}

static void add_deeds(GArray *to, const GArray *from)
{
	for (guint i = 0; i < from->len; i++)
		deeds_add(to, &g_array_index(from, struct deed, i));
}

static void add_chains(struct fact *to, const struct fact *from)
{
	for (guint i = 0; i < from->chains->len; i++) {
		const struct chain *at = &g_array_index(from->chains, struct chain, i);
		struct chain copy = *at;

		copy.links = g_array_sized_new(FALSE, FALSE, sizeof(struct link), at->links->len);
		g_array_append_vals(copy.links, at->links->data, at->links->len);
		g_array_append_val(to->chains, copy);
	}
}

void add_control(struct fact *fact, uint32_t control)
{
	fact->control = !fact->own || fact->control == control ? control : 0;
	fact->own = true;
}

static void add_told(struct told *to, const struct told *from)
{
	int64_t ns = to->ns + from->ns;

	if (!to->wait.block || (from->wait.block && from->longest > to->longest))
		*to = *from;
	to->ns = ns;
}

static void choose_told(struct fact *fact)
{
	const struct told *told =
		&fact->parts_told[fact->parts_told[1].ns > fact->parts_told[0].ns];

	fact->told = told->wait;
	fact->told_ns = told->longest;
	fact->inferred = told->inferred;
}

void fact_tell(struct fact *fact, const struct wait *wait, int64_t ns, bool after, bool inferred)
{
	struct told told = {*wait, ns, ns, inferred};

	add_told(&fact->parts_told[after], &told);
	choose_told(fact);
}

void fact_add(struct fact *to, const struct fact *from)
{
	to->ns += from->ns;
	to->count += from->count;
	to->waits += from->waits;
	to->tries += from->tries;
	to->reasons += from->reasons;
	to->leaders += from->leaders;
	to->faults += from->faults;
	to->child += from->child;
	to->piped += from->piped;
	to->spans_gap |= from->spans_gap;
	to->shortest = MIN(to->shortest, from->shortest);
	to->behind += from->behind;
	to->turns += from->turns;
	to->backlog += from->backlog;
	if (from->backlog_longest > to->backlog_longest) {
		to->backlog_longest = from->backlog_longest;
		to->backlog_cpu = from->backlog_cpu;
	}
	to->pinned += from->pinned;
	to->dirty += from->dirty;
	g_array_append_vals(to->requests, from->requests->data, from->requests->len);
	if (from->own)
		add_control(to, from->control);
	add_deeds(to->deeds, from->deeds);
	add_deeds(to->holders, from->holders);
	add_deeds(to->works, from->works);
	add_deeds(to->files, from->files);
	add_chains(to, from);
	g_array_append_vals(to->parts, from->parts->data, from->parts->len);
	for (guint i = 0; i < G_N_ELEMENTS(to->parts_told); i++)
		add_told(&to->parts_told[i], &from->parts_told[i]);
	choose_told(to);
}

static int most_chain(gconstpointer a, gconstpointer b)
{
	const struct chain *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->last < y->last ? -1 : x->last > y->last;
}

static uint32_t waiter_of(const struct chain *chain)
{
	return chain->links->len ? g_array_index(chain->links, struct link, 0).thread : chain->last;
}

void fact_sort(struct fact *fact)
{
	deeds_sort(fact->deeds);
	deeds_sort(fact->holders);
	deeds_sort(fact->works);
	deeds_sort(fact->files);
	g_array_sort(fact->chains, most_chain);
	for (guint i = 0; i < fact->chains->len; i++) {
		const struct chain *chain = &g_array_index(fact->chains, struct chain, i);

		if (waiter_of(chain) != fact->victim || chain->end <= chain->begin)
			continue; /* another victim's of that name */
		fact->begin = chain->begin;
		fact->end = chain->end;
		break;
	}
}

uint32_t chain_waits_for(const struct session *session, const struct chain *chain)
{
	const struct model *model = &session->trace.model;
	uint32_t thread;

	if (!chain->links->len)
		return NO_THREAD;
	thread = chain->links->len > 1 ? g_array_index(chain->links, struct link, 1).thread
				       : chain->last;
	return is_thread(thread) && !thread_is_kernel(model, model_thread(model, thread))
		       ? thread
		       : NO_THREAD;
}

int64_t fact_did(const struct fact *fact, enum did what)
{
	int64_t ns = 0;

	for (guint i = 0; i < fact->deeds->len; i++) {
		const struct deed *deed = &g_array_index(fact->deeds, struct deed, i);

		ns += deed->did == what ? deed->times.ns : 0;
	}
	return ns;
}

int64_t fact_meanwhile(const struct fact *fact, int64_t from, int64_t to)
{
	int64_t ns = 0;

	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);

		ns += MAX(0, MIN(part->end, to) - MAX(part->begin, from));
	}
	return ns;
}

static int by_doer(gconstpointer a, gconstpointer b)
{
	const struct lost_part *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* As deeds_add() tells them apart, and works by their call. */
static bool is_of(const struct lost_part *part, const struct deed *deed, bool works)
{
	if (part->name != deed->name || part->did != deed->did)
		return false;
	if (works)
		return part->call == deed->call;
	return part->object == deed->object && (deed->did != DID_SLEEP || part->call == deed->call);
}

struct times fact_times(const struct fact *fact, const struct deed *deed, bool works)
{
	g_autoptr(GArray) parts = NULL;
	struct times times = {0};

	if (fact->threads < 2)
		return deed->times;
	parts = g_array_new(FALSE, FALSE, sizeof(struct lost_part));
	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);

		if (is_of(part, deed, works))
			g_array_append_vals(parts, part, 1);
	}
	g_array_sort(parts, by_doer);
	for (guint i = 0, next; i < parts->len; i = next) {
		const struct lost_part *first = &g_array_index(parts, struct lost_part, i);
		int64_t end = first->end;

		for (next = i + 1; next < parts->len; next++) {
			const struct lost_part *other =
				&g_array_index(parts, struct lost_part, next);

			if (other->thread != first->thread || other->begin > end)
				break;
			end = MAX(end, other->end);
		}
		times_add(&times, end - first->begin, NULL);
	}
	return times.count ? times : deed->times;
}

uint32_t control_file(const struct session *session, const struct block *block)
{
	static const char *const places[] = {"file:/sys/", "file:/proc/", "file:/dev/"};
	uint32_t resource = block ? session_resource(session, block) : 0;

	for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
		if (g_str_has_prefix(session_text(session, resource), places[i]))
			return resource;
	return 0;
}
