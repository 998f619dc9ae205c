/* SPDX-License-Identifier: MIT */
/* Finding guests among hosts; see guests.h. */
#include "guests/guests.h"

#include <stdlib.h>
#include <string.h>

#include "guests/fit.h"
#include "util/error.h"

#define OUTSIDE_OF 20 /* a moment of so many may be outside: clocks, and damage */
#define CHANCE_OF 10 /* by chance one of so many would have to be, or times tell nothing */
#define BETTER 4 /* … and so many times as many as are */

/* A machine that a host may run on. */
struct candidate {
	const struct machine *machine;
	struct fit fit;
	bool found; /* its clock was searched for, as nothing else tells of it */
};

/* --- what was given ------------------------------------------------------------------------ */

bool guest_parse(const char *text, char **guest, char **process, GError **error)
{
	const char *mark = strrchr(text, '=');

	if (!mark || mark == text || !mark[1]) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "must be NAME=PID or NAME=PROCESS, as in web=4711");
		return false;
	}
	*guest = g_strndup(text, (gsize) (mark - text));
	*process = g_strdup(mark + 1);
	return true;
}

char *machine_name(const struct model *model, const struct machine *machine)
{
	const struct thread *leader = model_thread(model, machine->leader);
	const char *name = intern_text(model->names, leader->name);

	return g_strdup_printf("%s (%d)", *name ? name : "?",
			       machine->pid >= 0 ? machine->pid : leader->tid);
}

static bool is_named(const struct model *model, const struct machine *machine, const char *process)
{
	char *end;
	gint64 pid = g_ascii_strtoll(process, &end, 10);

	if (!*end)
		return pid == machine->pid;
	return strcmp(intern_text(model->names, model_thread(model, machine->leader)->name),
		      process) == 0;
}

/* The machine that was given for the host; NULL: none was. */
static const struct machine *given_machine(const struct model *model, const GArray *machines,
					   const GPtrArray *given, uint16_t host)
{
	const char *hostname = model_host(model, host)->hostname;

	for (guint i = 0; i < given->len; i++) {
		g_autofree char *guest = NULL, *process = NULL;

		if (!guest_parse(given->pdata[i], &guest, &process, NULL) ||
		    g_strcmp0(guest, hostname) != 0)
			continue;
		for (guint k = 0; machines && k < machines->len; k++) {
			const struct machine *machine = &g_array_index(machines, struct machine, k);

			if (machine->host != host && is_named(model, machine, process))
				return machine;
		}
	}
	return NULL;
}

static bool check_given(const struct model *model, const GArray *machines, const GPtrArray *given,
			GError **error)
{
	for (guint i = 0; i < given->len; i++) {
		g_autofree char *guest = NULL, *process = NULL;
		g_autoptr(GString) names = g_string_new(NULL);
		bool host = false, machine = false;

		if (!guest_parse(given->pdata[i], &guest, &process, error))
			return false;
		for (guint k = 0; k < model->hosts->len; k++)
			host |= g_strcmp0(model_host(model, k)->hostname, guest) == 0;
		for (guint k = 0; machines && k < machines->len; k++) {
			const struct machine *at = &g_array_index(machines, struct machine, k);
			g_autofree char *name = machine_name(model, at);

			machine |= is_named(model, at, process);
			g_string_append_printf(names, "%s%s", k ? ", " : "", name);
		}
		if (host && machine)
			continue;
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    host ? "--guest '%s': no traced process '%s' has threads that run "
				   "virtual CPUs; those that have: %s"
				 : "--guest '%s': no trace is of a host '%s'",
			    (const char *) given->pdata[i], host ? process : guest,
			    names->len ? names->str : "none");
		return false;
	}
	return true;
}

/* --- which fits ----------------------------------------------------------------------------- */

static bool have_common_time(const struct host *a, const struct host *b)
{
	return a->clock.group == b->clock.group;
}

/* How far the difference of the two clocks may be off, as known so far; what was given is taken as
 * it is. */
static int64_t known_error(const struct host *a, const struct host *b)
{
	if (a->clock.known == CLOCK_GIVEN || b->clock.known == CLOCK_GIVEN || a->clock.error < 0 ||
	    b->clock.error < 0)
		return 0;
	return a->clock.error + b->clock.error;
}

static bool try_machine(const struct model *model, const struct timeline *timeline, uint16_t guest,
			struct candidate *candidate)
{
	const struct host *inside = model_host(model, guest);
	const struct host *outside = model_host(model, candidate->machine->host);
	struct moments moments;
	int64_t from, to;
	bool ok = moments_init(&moments, model, timeline, guest, candidate->machine);

	candidate->found = !have_common_time(inside, outside);
	if (candidate->found) {
		from = moments.begin - clock_line_at(&inside->clock.line, inside->end);
		to = moments.end - clock_line_at(&inside->clock.line, inside->begin);
	} else {
		to = known_error(inside, outside);
		from = -to;
	}
	ok = ok && fit_find(&moments, from, to, &candidate->fit);
	moments_clear(&moments);
	return ok;
}

/* Nothing speaks against it. */
static bool fits(const struct fit *fit)
{
	return fit->outside <= 1 + fit->moments / OUTSIDE_OF;
}

/* Another machine, or another time, would not fit so well. */
static bool is_telling(const struct candidate *candidate)
{
	const struct fit *fit = &candidate->fit;

	return (int64_t) fit->chance * CHANCE_OF >= fit->moments &&
	       (int64_t) fit->outside * BETTER <= fit->chance &&
	       (!candidate->found || fit->second == UINT32_MAX ||
		fit->second >= BETTER * fit->outside + fit->moments / OUTSIDE_OF);
}

static void set_vcpus(const struct model *model, uint16_t guest, const struct machine *machine)
{
	const struct host *inside = model_host(model, guest);

	for (guint i = 0; i < machine->vcpus->len; i++) {
		const struct vcpu *vcpu = &g_array_index(machine->vcpus, struct vcpu, i);
		uint32_t at = idmap_get(&inside->cpu_index, vcpu->number);

		if (at != IDMAP_NONE)
			((struct cpu *) g_ptr_array_index(inside->cpus, at))->vcpu = vcpu->thread;
	}
}

/* The clock of the two that is not the reference's follows the other's. */
static void set_clock(struct model *model, uint16_t guest, const struct candidate *candidate)
{
	uint16_t other = candidate->machine->host, moved = guest ? guest : other;
	struct host_clock *clock = &model_host(model, moved)->clock;
	const struct host_clock *from = &model_host(model, guest ? other : guest)->clock;
	int64_t error = from->error < 0 ? -1 : from->error + candidate->fit.error;
	struct host *inside = model_host(model, guest);

	if (clock->known == CLOCK_GIVEN ||
	    (!candidate->found && clock->error >= 0 && clock->error <= error))
		return;
	clock->line.offset += guest ? candidate->fit.difference : -candidate->fit.difference;
	clock->error = error;
	inside->guest.refined = !candidate->found;
	if (!candidate->found)
		return;
	clock->known = CLOCK_RUNS;
	clock->group = from->group;
	clock->neighbour = guest ? other : guest;
}

static void take(struct model *model, uint16_t guest, const struct candidate *candidate,
		 enum guest_known known)
{
	struct host *host = model_host(model, guest);

	host->guest = (struct guest) {.machine = candidate->machine->leader,
				      .known = (uint8_t) known,
				      .moments = candidate->fit.moments,
				      .outside = candidate->fit.outside,
				      .chance = candidate->fit.chance};
	set_vcpus(model, guest, candidate->machine);
	if (candidate->fit.moments)
		set_clock(model, guest, candidate);
}

/* The best of those that fit; the rest tells how sure that is. */
static void match_host(struct model *model, const struct timeline *timeline, const GArray *machines,
		       uint16_t guest)
{
	struct candidate best = {0};
	guint tried = 0, telling = 0;

	for (guint i = 0; i < machines->len; i++) {
		struct candidate at = {.machine = &g_array_index(machines, struct machine, i)};

		if (at.machine->host == guest)
			continue;
		tried++;
		if (!try_machine(model, timeline, guest, &at) || !fits(&at.fit))
			continue;
		telling += is_telling(&at);
		if (!best.machine || (int64_t) at.fit.outside * best.fit.moments <
					     (int64_t) best.fit.outside * at.fit.moments)
			best = at;
	}
	if (!best.machine)
		return;
	if (telling == 1 && is_telling(&best))
		take(model, guest, &best, GUEST_SEEN);
	else if (tried == 1 && model->hosts->len == 2 && !best.found)
		take(model, guest, &best, GUEST_ONLY);
	else if (!best.found || telling)
		model_host(model, guest)->guest.known = GUEST_UNCLEAR;
}

bool guests_match(struct model *model, const struct timeline *timeline, const GArray *machines,
		  const GPtrArray *given, GError **error)
{
	if (given && !check_given(model, machines, given, error))
		return false;
	if (!machines || model->hosts->len < 2)
		return true;
	for (uint16_t i = 0; i < model->hosts->len; i++) {
		struct candidate candidate = {
			.machine = given ? given_machine(model, machines, given, i) : NULL};

		if (!candidate.machine) {
			match_host(model, timeline, machines, i);
			continue;
		}
		if (!try_machine(model, timeline, i, &candidate) ||
		    (candidate.found && !is_telling(&candidate)))
			candidate.fit = (struct fit) {0};
		take(model, i, &candidate, GUEST_GIVEN);
	}
	return true;
}
