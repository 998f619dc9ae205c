/* SPDX-License-Identifier: MIT */
/* Presets to lttng's lines; see plan.h. */
#include "record/plan.h"

#include <string.h>

const char *const preset_names[] = {"minimal", "normal", "full", NULL};
const char *const preset_texts[] = {
	"who ran, who waited and who woke whom: no system calls, timers, disks",
	"all that the analyses need",
	"also what writes dirty pages back, and the TID with each event"};

/* Events by channel and the first preset that has them. A pattern that fits no event of the
 * kernel (x86_* elsewhere) is no error to LTTng, a name that it does not have is. */
static const struct {
	enum preset from;
	const char *channel, *events;
} lines[] = {
	{PRESET_MINIMAL, "switches", "sched_switch"},
	{PRESET_MINIMAL, "hot", "sched_waking*,sched_wakeup*"},
	{PRESET_MINIMAL, "hot", "irq_handler_*,irq_softirq_*,x86_irq_vectors_*"},
	{PRESET_NORMAL, "hot", "sched_migrate_task*,sched_pi_setprio*,power_cpu_idle*"},
	{PRESET_NORMAL, "hot", "x86_exceptions_page_fault_*,timer_hrtimer_*"},
	{PRESET_NORMAL, "hot", "block_rq_*,block_bio_*,block_split*"},
	{PRESET_NORMAL, "hot", "net_dev_queue*,net_dev_xmit*,net_if_receive_skb*"},
	{PRESET_NORMAL, "hot", "workqueue_*,timer_start*,timer_expire_*"},
	{PRESET_NORMAL, "hot", "writeback_balance_dirty_pages*,jbd2_*_commit*"},
	{PRESET_NORMAL, "hot", "mm_vmscan_direct_reclaim_*,mm_vmscan_memcg_reclaim_*"},
	{PRESET_FULL, "hot",
	 "block_getrq*,writeback_queue*,writeback_exec*,writeback_pages_written*"},
	{PRESET_MINIMAL, "cold", "lttng_statedump_*,sched_process_*"},
	{PRESET_NORMAL, "cold", "signal_generate*,signal_deliver*"},
};

/* Of each CPU. A flight recorder keeps them in memory, in small pieces: each snapshot ends
 * the piece that is written to three times over, and so takes three pieces of the past. */
static const struct {
	const char *name, *size, *count, *ring_size, *ring_count;
} channels[] = {{"switches", "2M", "8", "256K", "64"},
		{"hot", "4M", "8", "512K", "64"},
		{"cold", "1M", "4", "64K", "64"},
		{"ticks", "1M", "8", "256K", "16"}};

/* Appends one line; the list ends with NULL. */
static void G_GNUC_NULL_TERMINATED add_line(GPtrArray *plan, const char *first, ...)
{
	GPtrArray *line = g_ptr_array_new();
	va_list list;

	g_ptr_array_add(line, g_strdup("lttng"));
	va_start(list, first);
	for (const char *word = first; word; word = va_arg(list, const char *))
		g_ptr_array_add(line, g_strdup(word));
	va_end(list);
	g_ptr_array_add(line, NULL);
	g_ptr_array_add(plan, g_ptr_array_free(line, FALSE));
}

static GPtrArray *plan_new(void)
{
	return g_ptr_array_new_with_free_func((GDestroyNotify) g_strfreev);
}

/* Where what the table puts into a channel goes: switches are alone only with call stacks. */
static const char *channel_of(const struct recording *recording, const char *channel)
{
	bool alone = recording->callstacks || recording->samples;

	return strcmp(channel, "switches") == 0 && !alone ? "hot" : channel;
}

static bool has_channel(const struct recording *recording, const char *channel)
{
	return strcmp(channel, "ticks") == 0 ? recording->samples
					     : strcmp(channel_of(recording, channel), channel) == 0;
}

static void add_channels(const struct recording *recording, GPtrArray *plan, const char *session)
{
	for (size_t i = 0; i < G_N_ELEMENTS(channels); i++) {
		bool ring = recording->snapshot;
		g_autofree char *size = g_strconcat(
			"--subbuf-size=", ring ? channels[i].ring_size : channels[i].size, NULL);
		g_autofree char *count = g_strconcat(
			"--num-subbuf=", ring ? channels[i].ring_count : channels[i].count, NULL);

		if (has_channel(recording, channels[i].name))
			add_line(plan, "enable-channel", "--kernel", session, size, count,
				 ring ? "--overwrite" : "--discard", channels[i].name, NULL);
	}
}

static void add_events(const struct recording *recording, GPtrArray *plan, const char *session,
		       const char *channel, const char *events)
{
	g_autofree char *to = g_strconcat("--channel=", channel_of(recording, channel), NULL);

	add_line(plan, "enable-event", "--kernel", session, to, events, NULL);
}

static void add_context(GPtrArray *plan, const char *session, const char *channel, const char *type)
{
	g_autofree char *to = g_strconcat("--channel=", channel, NULL);
	g_autofree char *what = g_strconcat("--type=", type, NULL);

	add_line(plan, "add-context", "--kernel", session, to, what, NULL);
}

/* What a sample is made of: the expiry of a timer, which interrupts whatever runs. Ticks are such
 * timers too, wherever the kernel has high-resolution ones, and need no probes of x86's own. Of the
 * idle loop there is nothing to be told. */
static void add_samples(const struct recording *recording, GPtrArray *plan, const char *session)
{
	g_autoptr(GString) filter = g_string_new("--filter=$ctx.tid != 0");

	if (recording->hertz && recording->clock_function)
		g_string_append_printf(filter, " && function == 0x%" G_GINT64_MODIFIER "x",
				       (guint64) recording->clock_function);
	if (recording->preset < PRESET_NORMAL) /* where the interrupt ends */
		add_events(recording, plan, session, "hot", "timer_hrtimer_expire_*");
	add_line(plan, "enable-event", "--kernel", session, "--channel=ticks", filter->str,
		 "timer_hrtimer_expire_entry", NULL);
	add_context(plan, session, "ticks", "callstack-user");
	add_context(plan, session, "ticks", "callstack-kernel");
	add_context(plan, session, "switches", "callstack-user");
}

/* Of a program's function LTTng 2.13 can tell the begin alone. */
static void add_probes(const struct recording *recording, GPtrArray *plan, const char *session)
{
	for (guint i = 0; i < recording->functions->len; i++) {
		const char *name = g_ptr_array_index(recording->functions, i);
		g_autofree char *function = g_strconcat("--function=", name, NULL);

		add_line(plan, "enable-event", "--kernel", session, "--channel=hot", function, name,
			 NULL);
	}
	for (guint i = 0; i < recording->entries->len; i++) {
		const char *entry = g_ptr_array_index(recording->entries, i);
		g_autofree char *place = g_strconcat("--userspace-probe=elf:", entry, NULL);

		add_line(plan, "enable-event", "--kernel", session, "--channel=hot", place,
			 strrchr(entry, ':') + 1, NULL);
	}
}

/* What -finstrument-functions calls, by lttng-ust; and which files lie where. */
static void add_hooks(GPtrArray *plan, const char *session)
{
	add_line(plan, "enable-channel", "--userspace", session, "--subbuf-size=2M",
		 "--num-subbuf=8", "--discard", "calls", NULL);
	add_line(plan, "enable-event", "--userspace", session, "--channel=calls",
		 "lttng_ust_cyg_profile*,lttng_ust_statedump*,lttng_ust_dl*,lttng_ust_lib*", NULL);
	add_line(plan, "add-context", "--userspace", session, "--channel=calls", "--type=vpid",
		 "--type=vtid", NULL);
}

GPtrArray *plan_probes(const struct recording *recording)
{
	g_autofree char *session = g_strconcat("--session=", recording->session, NULL);
	GPtrArray *plan = plan_new();

	add_probes(recording, plan, session);
	return plan;
}

GPtrArray *plan_begin(const struct recording *recording)
{
	g_autofree char *session = g_strconcat("--session=", recording->session, NULL);
	g_autofree char *output = g_strconcat("--output=", recording->output, NULL);
	GPtrArray *plan = plan_new();

	if (recording->snapshot)
		add_line(plan, "create", recording->session, "--snapshot", output, NULL);
	else
		add_line(plan, "create", recording->session, output, NULL);
	add_channels(recording, plan, session);
	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
		if (lines[i].from <= recording->preset)
			add_events(recording, plan, session, lines[i].channel, lines[i].events);
	if (recording->network)
		add_events(recording, plan, session, "hot", "net_*,skb_*,napi_*");
	if (recording->guests)
		add_events(recording, plan, session, "hot", "kvm_*");
	if (recording->preset >= PRESET_NORMAL)
		add_line(plan, "enable-event", "--kernel", session, "--channel=hot", "--syscall",
			 "--all", NULL);
	add_probes(recording, plan, session);
	if (recording->hooks)
		add_hooks(plan, session);
	/* after a gap, and in a ring, the tid names who runs before the next switch */
	if (recording->preset == PRESET_FULL || recording->snapshot)
		add_context(plan, session, "hot", "tid");
	if (recording->samples)
		add_samples(recording, plan, session);
	if (recording->callstacks || recording->samples)
		add_context(plan, session, "switches", "callstack-kernel");
	if (recording->trigger) {
		g_autofree char *trigger = g_strchomp(g_strdup(recording->trigger));
		g_auto(GStrv) parts = g_strsplit(trigger, " ", 2);
		g_autofree char *name = g_strconcat("--name=", recording->session, NULL);
		g_autofree char *event = g_strconcat("--name=", parts[0], NULL);
		g_autofree char *filter = g_strconcat("--filter=", parts[1] ? parts[1] : "", NULL);
		g_autofree char *action = g_strconcat("--action=snapshot-session", NULL);

		if (parts[1])
			add_line(plan, "add-trigger", name, "--condition=event-rule-matches",
				 "--type=kernel:tracepoint", event, filter, action,
				 recording->session, NULL);
		else
			add_line(plan, "add-trigger", name, "--condition=event-rule-matches",
				 "--type=kernel:tracepoint", event, action, recording->session,
				 NULL);
	}
	add_line(plan, "start", recording->session, NULL);
	return plan;
}

GPtrArray *plan_end(const struct recording *recording)
{
	g_autofree char *session = g_strconcat("--session=", recording->session, NULL);
	GPtrArray *plan = plan_new();

	if (recording->trigger)
		add_line(plan, "remove-trigger", recording->session, NULL);
	if (recording->snapshot)
		add_line(plan, "regenerate", "statedump", session, NULL);
	add_line(plan, "stop", recording->session, NULL);
	if (recording->snapshot)
		add_line(plan, "snapshot", "record", session, NULL);
	add_line(plan, "destroy", recording->session, NULL);
	return plan;
}

GPtrArray *plan_snapshot(const char *session)
{
	g_autofree char *of = g_strconcat("--session=", session, NULL);
	GPtrArray *plan = plan_new();

	add_line(plan, "regenerate", "statedump", of, NULL);
	add_line(plan, "stop", session, NULL); /* else what is written is written over */
	add_line(plan, "snapshot", "record", of, NULL);
	add_line(plan, "start", session, NULL);
	return plan;
}

char *plan_line(const char *const *arguments)
{
	g_autoptr(GString) line = g_string_new(NULL);

	for (const char *const *word = arguments; *word; word++) {
		bool plain =
			(*word)[strspn(*word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					      "0123456789-_=,./:+@%")] == 0 &&
			**word;
		g_autofree char *quoted = plain ? g_strdup(*word) : g_shell_quote(*word);

		g_string_append_printf(line, "%s%s", line->len ? " " : "", quoted);
	}
	return g_string_free(g_steal_pointer(&line), FALSE);
}
