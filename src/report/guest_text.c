/* SPDX-License-Identifier: MIT */
/* What is said of a host that is a guest of another: text_guest() of report.h.
 *
 * Which machine it is, how that was found out, and with which other guest its virtual CPUs share a
 * CPU of the host: where that one's ran while one of its own was ready.
 */
#include "report/report.h"

#include "ready/cpu_runs.h"
#include "util/when.h"
#include "words/times.h"

#define BESIDE_MAX 8 /* pairs of virtual CPUs that are looked at */
#define BESIDE_MIN 100 /* 1/100 of the window: less is not told */

struct beside {
	uint32_t thread; /* runs a virtual CPU of another machine */
	uint32_t cpu; /* the host's */
	int64_t ns;
};

struct sharing {
	const struct session *session;
	const struct thread *own;
	uint32_t cpu;
	guint count;
	struct beside list[BESIDE_MAX];
};

static void add_run(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct sharing *sharing = data;
	const struct thread *other =
		is_thread(thread) ? model_thread(&sharing->session->trace.model, thread) : NULL;
	guint i = 0;

	if (!other || !other->vcpu || other->pid == sharing->own->pid)
		return;
	while (i < sharing->count &&
	       (sharing->list[i].thread != thread || sharing->list[i].cpu != sharing->cpu))
		i++;
	if (i == BESIDE_MAX)
		return;
	if (i == sharing->count)
		sharing->list[sharing->count++] = (struct beside) {thread, sharing->cpu, 0};
	sharing->list[i].ns += end - begin;
}

static void find_beside(struct sharing *sharing, uint32_t vcpu)
{
	const struct session *session = sharing->session;
	struct spans spans;
	struct span span;

	sharing->own = model_thread(&session->trace.model, vcpu);
	spans_begin(&spans, session, vcpu, session->asked.from, session->asked.to);
	while (spans_next(&spans, &span)) {
		if (!leaf_is_ready(span.leaf))
			continue;
		sharing->cpu = span.ref;
		each_run(session, sharing->own->host, span.ref, span.begin, span.end, add_run,
			 sharing);
	}
}

static void append_beside(GString *line, const struct session *session, const struct host *guest)
{
	const struct model *model = &session->trace.model;
	struct sharing sharing = {.session = session};
	char length[32];

	for (guint i = 0; i < guest->cpus->len; i++) {
		const struct cpu *cpu = g_ptr_array_index(guest->cpus, i);

		if (is_thread(cpu->vcpu))
			find_beside(&sharing, cpu->vcpu);
	}
	for (guint i = 0; i < sharing.count; i++) {
		const struct beside *at = &sharing.list[i];

		if (at->ns * BESIDE_MIN < session->asked.to - session->asked.from)
			continue;
		g_string_append_printf(
			line,
			"; shared CPU %u of %s with %s (%d), which ran there for %s "
			"while it was ready to run",
			at->cpu,
			trace_host_name(&session->trace, model_thread(model, at->thread)->host),
			session_thread_name(session, at->thread),
			model_thread(model, at->thread)->tid, when_duration(length, at->ns));
	}
}

/* How it was found out: a kernel does something only while its virtual CPUs run. */
static void append_fit(GString *line, const struct guest *guest)
{
	char moments[32], outside[32], chance[32];

	count_text(moments, guest->moments);
	count_text(outside, guest->outside);
	count_text(chance, guest->chance);
	if (guest->outside)
		g_string_append_printf(line,
				       " (of %s moments at which it did something, %s are "
				       "at times when its virtual CPUs did not run; of another "
				       "machine about %s would be)",
				       moments, outside, chance);
	else
		g_string_append_printf(line,
				       " (its virtual CPUs ran at all %s moments at which it did "
				       "something; those of another machine would not have at "
				       "about %s of them)",
				       moments, chance);
}

void text_guest(GString *line, const struct session *session, const struct host *host)
{
	const struct model *model = &session->trace.model;
	const struct guest *guest = &host->guest;
	const struct thread *machine;

	if (guest->known == GUEST_UNCLEAR)
		g_string_append(line, "; a guest, perhaps: several virtual machines fit as well "
				      "(say which: --guest)");
	if (!is_thread(guest->machine))
		return;
	machine = model_thread(model, guest->machine);
	g_string_append_printf(line, "; guest of %s: %s (%d)",
			       trace_host_name(&session->trace, machine->host),
			       session_own_name(session, guest->machine), machine->tid);
	for (guint i = 0; i < host->cpus->len; i++) {
		const struct cpu *cpu = g_ptr_array_index(host->cpus, i);

		if (is_thread(cpu->vcpu))
			g_string_append_printf(line, ", CPU %u is %s (%d)", cpu->id,
					       session_own_name(session, cpu->vcpu),
					       model_thread(model, cpu->vcpu)->tid);
	}
	if (guest->known == GUEST_GIVEN)
		g_string_append(line, ", as given");
	else if (guest->known == GUEST_ONLY)
		g_string_append(line, " (inferred: there is no other)");
	if (guest->moments)
		append_fit(line, guest);
	append_beside(line, session, host);
}
