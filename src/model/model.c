/* SPDX-License-Identifier: MIT */
/* Hosts, CPUs and thread lives; see model.h. */
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/files.h"
#include "model/memory.h"

void model_init(struct model *model)
{
	*model = (struct model) {.names = intern_new(), .hosts = g_ptr_array_new()};
	pages_init(&model->threads, sizeof(struct thread), SIZE_MAX);
	model->free_threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	model->places = g_array_new(FALSE, TRUE, sizeof(struct place));
	g_array_set_size(model->places, 1);
	model->ids = g_array_new(FALSE, TRUE, sizeof(struct ids));
	idmap_init(&model->shared_places);
	model->images = g_array_new(FALSE, FALSE, sizeof(struct loaded_image));
	model->image_spaces = g_array_new(FALSE, FALSE, sizeof(struct image_space));
	idmap_init(&model->space_index);
}

static void cpu_free(gpointer data)
{
	struct cpu *cpu = data;

	log_clear(&cpu->runs);
	if (cpu->open)
		g_array_free(cpu->open, TRUE);
	g_free(cpu);
}

static void host_free(struct host *host)
{
	g_free(host->hostname);
	g_free(host->uuid);
	g_free(host->clock_uuid);
	g_free(host->kernel);
	g_free(host->tracer);
	g_ptr_array_free(host->cpus, TRUE);
	idmap_clear(&host->cpu_index);
	idmap_clear(&host->tids);
	g_array_free(host->gaps, TRUE);
	g_array_free(host->spins, TRUE);
	g_array_free(host->failures, TRUE);
	if (host->user_gaps)
		g_array_free(host->user_gaps, TRUE);
	g_byte_array_free(host->forgotten, TRUE);
	g_hash_table_destroy(host->tables);
	idmap_clear(&host->irq_names);
	idmap_clear(&host->disks);
	idmap_clear(&host->timers);
	g_array_free(host->armed, TRUE);
	idmap_clear(&host->requests);
	idmap_clear(&host->whole);
	idmap_clear(&host->packets);
	idmap_clear(&host->flows);
	idmap_clear(&host->works);
	idmap_clear(&host->writebacks);
	g_array_free(host->sent, TRUE);
	g_array_free(host->talks, TRUE);
	g_array_free(host->arrivals, TRUE);
	idmap_clear(&host->talk_index);
	idmap_clear(&host->tcp_ways);
	g_array_free(host->tcp, TRUE);
	g_array_free(host->tcp_listeners, TRUE);
	g_array_free(host->namespaces, TRUE);
	idmap_clear(&host->namespace_index);
	idmap_clear(&host->inner_tids);
	g_array_free(host->on_way, TRUE);
	g_array_free(host->dirtied, TRUE);
	g_array_free(host->served, TRUE);
	idmap_clear(&host->file_disks);
	idmap_clear(&host->fifos);
	idmap_clear(&host->file_endings);
	g_free(host);
}

struct user_stack *user_stack_new(void)
{
	struct user_stack *stack = g_new0(struct user_stack, 1);

	stack->frames = g_array_new(FALSE, FALSE, sizeof(struct user_frame));
	stack->seen = stack->from = INT64_MIN;
	stack->pid = NO_PID;
	return stack;
}

void user_stack_free(struct user_stack *stack)
{
	if (!stack)
		return;
	g_array_free(stack->frames, TRUE);
	g_free(stack);
}

void thread_clear(struct thread *thread)
{
	fd_table_leave(&thread->files);
	memory_leave(&thread->memory);
	track_clear(&thread->track);
	log_clear(&thread->samples);
	log_clear(&thread->counts);
	if (thread->flow.functions)
		g_array_free(thread->flow.functions, TRUE);
	if (thread->flow.values)
		g_byte_array_free(thread->flow.values, TRUE);
	user_stack_free(thread->flow.user);
	if (thread->flow.woke)
		g_array_free(thread->flow.woke, TRUE);
	if (thread->names)
		g_array_free(thread->names, TRUE);
	if (thread->handlings)
		g_array_free(thread->handlings, TRUE);
}

void model_clear(struct model *model)
{
	for (uint32_t i = 0; i < model->thread_count; i++)
		thread_clear(model_thread(model, i));
	g_array_free(model->free_threads, TRUE);
	for (guint i = 0; i < model->hosts->len; i++)
		host_free(model_host(model, i));
	g_ptr_array_free(model->hosts, TRUE);
	pages_clear(&model->threads);
	g_array_free(model->places, TRUE);
	g_array_free(model->ids, TRUE);
	idmap_clear(&model->shared_places);
	g_array_free(model->images, TRUE);
	g_array_free(model->image_spaces, TRUE);
	idmap_clear(&model->space_index);
	intern_free(model->names);
}

struct host *host_new(struct model *model)
{
	struct host *host = g_new0(struct host, 1);

	host->guest.machine = host->clock_set_by = NO_THREAD;
	host->cpus = g_ptr_array_new_with_free_func(cpu_free);
	host->gaps = g_array_new(FALSE, FALSE, sizeof(struct gap));
	host->spins = g_array_new(FALSE, FALSE, sizeof(struct spin));
	host->failures = g_array_new(FALSE, FALSE, sizeof(struct failure));
	host->forgotten = g_byte_array_new();
	host->tables = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, fd_table_release);
	host->armed = g_array_new(FALSE, FALSE, sizeof(struct wake_detail));
	host->on_way = g_array_new(FALSE, FALSE, sizeof(struct request));
	host->dirtied = g_array_new(FALSE, TRUE, sizeof(struct dirtied));
	host->served = g_array_new(FALSE, TRUE, sizeof(struct served));
	idmap_init(&host->file_disks);
	idmap_init(&host->fifos);
	idmap_init(&host->file_endings);
	idmap_init(&host->cpu_index);
	idmap_init(&host->tids);
	idmap_init(&host->irq_names);
	idmap_init(&host->disks);
	idmap_init(&host->timers);
	idmap_init(&host->requests);
	idmap_init(&host->whole);
	host->request_free = IDMAP_NONE;
	idmap_init(&host->packets);
	idmap_init(&host->flows);
	idmap_init(&host->works);
	idmap_init(&host->writebacks);
	host->sent = g_array_new(FALSE, TRUE, sizeof(struct sent));
	host->talks = g_array_new(FALSE, TRUE, sizeof(struct talk));
	host->arrivals = g_array_new(FALSE, FALSE, sizeof(struct arrival));
	idmap_init(&host->talk_index);
	idmap_init(&host->tcp_ways);
	host->tcp = g_array_new(FALSE, TRUE, sizeof(struct tcp_connection));
	host->tcp_listeners = g_array_new(FALSE, FALSE, sizeof(struct tcp_listener));
	idmap_init(&host->namespace_index);
	idmap_init(&host->inner_tids);
	host->namespaces = g_array_new(FALSE, FALSE, sizeof(struct pid_ns));
	host->known_from = host->counted_from = host->forgotten_by = INT64_MIN;
	host->passed_until = INT64_MIN;
	host->passed_from = INT64_MAX;
	host_set_versions(host, NULL, 0, 0, 0);
	g_ptr_array_add(model->hosts, host);
	return host;
}

static long version_number(int major, int minor, int patch)
{
	return major * 1000000L + minor * 1000L + patch;
}

/* lttng-modules that write the report form: 2.9.15+, 2.10.12+, 2.11.0+ */
static bool tracer_reports_states(int major, int minor, int patch)
{
	if (major != 2)
		return major > 2;
	return minor >= 11 || (minor == 10 && patch >= 12) || (minor == 9 && patch >= 15);
}

void host_set_tracer(struct host *host, const char *kernel, const char *tracer)
{
	/* since Linux 4.14 the tracepoint itself has the report form */
	host_set_versions(host, kernel, 0, 0, 0);
	if (host->encoding == STATES_RAW_NEW)
		host->encoding = STATES_REPORT;
	host->tracer = g_strdup(tracer);
}

void host_set_versions(struct host *host, const char *kernel, int major, int minor, int patch)
{
	int k[3] = {0, 0, 0};
	long release;

	if (kernel)
		sscanf(kernel, "%d.%d.%d", &k[0], &k[1], &k[2]);
	release = version_number(k[0], k[1], 0);
	if (release >= version_number(4, 14, 0))
		host->encoding =
			tracer_reports_states(major, minor, patch) ? STATES_REPORT : STATES_RAW_NEW;
	else
		host->encoding = STATES_RAW_OLD;
	if (!kernel) /* nothing said: today's kernels */
		host->encoding = STATES_REPORT;
	host->raw_preempted = release >= version_number(4, 8, 0)   ? 4096
			      : release >= version_number(4, 2, 0) ? 2048
			      : release >= version_number(3, 9, 0) ? 1024
								   : 512;
	g_free(host->kernel);
	host->kernel = g_strdup(kernel);
	g_free(host->tracer);
	host->tracer =
		major ? g_strdup_printf("lttng-modules %d.%d.%d", major, minor, patch) : NULL;
}

struct cpu *host_add_cpu(struct host *host)
{
	struct cpu *cpu = g_new0(struct cpu, 1);

	cpu->current = cpu->vcpu = NO_THREAD;
	cpu->first_packet = cpu->gap_end = cpu->last_switch = cpu->last_ipi = INT64_MIN;
	cpu->counted_at = INT64_MIN;
	cpu->priority = NO_PRIORITY;
	cpu->unknown_since = INT64_MIN;
	cpu->last_raise = -1;
	cpu->raiser.thread = NO_THREAD;
	for (int i = 0; i < SOFTIRQS_MAX; i++)
		cpu->raised[i].thread = NO_THREAD;
	cpu->last_woken = NO_THREAD;
	g_ptr_array_add(host->cpus, cpu);
	return cpu;
}

static void index_cpu(struct host *host, uint32_t index)
{
	struct cpu *cpu = g_ptr_array_index(host->cpus, index);

	idmap_set(&host->cpu_index, cpu->id, index);
	if (cpu->id < G_N_ELEMENTS(host->direct))
		host->direct[cpu->id] = cpu;
}

bool host_index_cpus(struct host *host)
{
	for (uint32_t i = 0; i < host->cpus->len; i++)
		index_cpu(host, i);
	return host->cpu_index.count == host->cpus->len;
}

struct cpu *host_cpu_slowly(struct host *host, uint32_t id)
{
	uint32_t index = idmap_get(&host->cpu_index, id);
	struct cpu *cpu;

	if (index != IDMAP_NONE)
		return g_ptr_array_index(host->cpus, index);
	cpu = host_add_cpu(host);
	cpu->id = id;
	index_cpu(host, host->cpus->len - 1);
	return cpu;
}

static enum switch_out report_out(int64_t state)
{
	if (state == 0 || (state & 0x100))
		return OUT_PREEMPTED;
	if (state & 0x30)
		return OUT_DEAD;
	if (state & 0x8)
		return OUT_TRACED;
	if (state & 0x4)
		return OUT_STOPPED;
	return (state & 0x80) ? OUT_IDLE : OUT_BLOCKED;
}

static enum switch_out raw_out(const struct host *host, int64_t state)
{
	int64_t dead = host->encoding == STATES_RAW_NEW ? 0x10 | 0x20 | 0x80 : 16 | 32 | 64;

	if (state == 0 || (state & host->raw_preempted))
		return OUT_PREEMPTED;
	if (state & dead)
		return OUT_DEAD;
	if (state & 8)
		return OUT_TRACED;
	return (state & 4) ? OUT_STOPPED : OUT_BLOCKED;
}

enum switch_out host_switch_out(const struct host *host, int64_t prev_state)
{
	enum switch_out out = host->encoding == STATES_REPORT ? report_out(prev_state)
							      : raw_out(host, prev_state);

	return out == OUT_IDLE ? OUT_BLOCKED : out;
}

bool host_is_idle_sleep(const struct host *host, int64_t prev_state)
{
	return host->encoding == STATES_REPORT && report_out(prev_state) == OUT_IDLE;
}

void host_add_gap(GArray *gaps, const struct gap *gap)
{
	struct gap added = *gap;

	added.furthest = gap->end;
	if (gaps->len) {
		const struct gap *last = &g_array_index(gaps, struct gap, gaps->len - 1);

		added.begin = MAX(added.begin, last->begin);
		added.end = MAX(added.end, added.begin);
		added.furthest = MAX(last->furthest, gap->end);
	}
	g_array_append_val(gaps, added);
}

void host_end_gaps(struct host *host)
{
	int64_t furthest = INT64_MIN;

	for (guint i = 0; i < host->gaps->len; i++) {
		struct gap *gap = &g_array_index(host->gaps, struct gap, i);

		if (gap->end == INT64_MAX) {
			gap->end = MAX(gap->begin, host->end);
			gap->to_the_end = true;
		}
		gap->furthest = furthest = MAX(furthest, gap->end);
	}
}

static const struct gap *gap_over(const GArray *gaps, int64_t begin, int64_t end)
{
	guint low = 0, high = gaps->len;

	/* the first gap that reaches past `begin`; `furthest` never falls */
	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(gaps, struct gap, middle).furthest > begin)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == gaps->len || g_array_index(gaps, struct gap, low).begin >= end)
		return NULL;
	return &g_array_index(gaps, struct gap, low);
}

const struct gap *host_gap_over(const struct host *host, int64_t begin, int64_t end)
{
	return gap_over(host->gaps, begin, end);
}

const struct gap *host_user_gap_over(const struct host *host, int64_t begin, int64_t end)
{
	return host->user_gaps ? gap_over(host->user_gaps, begin, end) : NULL;
}

int64_t host_lost_in(const struct host *host, int64_t begin, int64_t end)
{
	const struct gap *gap = gap_over(host->gaps, begin, end);
	const struct gap *last =
		host->gaps->len ? &g_array_index(host->gaps, struct gap, host->gaps->len - 1) : gap;
	int64_t lost = 0, until = begin;

	for (; gap && gap <= last && gap->begin < end; gap++) {
		int64_t from = MAX(gap->begin, until), to = MIN(gap->end, end);

		lost += MAX(0, to - from);
		until = MAX(until, to);
	}
	return lost;
}

int64_t host_gaps_ns(const struct host *host, uint32_t cpu)
{
	int64_t sum = 0;

	for (guint i = 0; i < host->gaps->len; i++) {
		const struct gap *gap = &g_array_index(host->gaps, struct gap, i);
		int64_t length;

		if ((cpu != UINT32_MAX && gap->cpu != cpu) || gap->end <= gap->begin)
			continue;
		if (__builtin_sub_overflow(gap->end, gap->begin, &length) ||
		    __builtin_add_overflow(sum, length, &sum))
			return INT64_MAX;
	}
	return sum;
}

int64_t host_last_gap_end(const struct host *host, int64_t time)
{
	const struct gap *last;

	if (!host->gaps->len)
		return INT64_MIN;
	last = &g_array_index(host->gaps, struct gap, host->gaps->len - 1);
	return MIN(last->furthest, time);
}

#define TID_MAX (1 << 22) /* linux/threads.h: PID_MAX_LIMIT */

void host_forget(struct host *host, int32_t tid, int64_t time)
{
	guint byte = (guint) tid / 8, length = host->forgotten->len;

	host->forgotten_by = MAX(host->forgotten_by, time);
	if (tid < 0 || tid >= TID_MAX)
		return;
	if (byte >= length) {
		g_byte_array_set_size(host->forgotten, byte + 1);
		memset(host->forgotten->data + length, 0, byte + 1 - length);
	}
	host->forgotten->data[byte] |= (guint8) (1u << tid % 8);
}

bool host_forgot(const struct host *host, int32_t tid)
{
	return tid >= 0 && (guint) tid / 8 < host->forgotten->len &&
	       (host->forgotten->data[tid / 8] & 1u << tid % 8);
}

/* A number that no thread has; its record is zero. */
static uint32_t thread_number(struct model *model)
{
	GArray *free = model->free_threads;
	uint32_t index;

	if (!free->len) {
		index = pages_reserve(&model->threads, 1);
		model->thread_count = index + 1;
		return index;
	}
	index = g_array_index(free, uint32_t, free->len - 1);
	g_array_set_size(free, free->len - 1);
	memset(model_thread(model, index), 0, sizeof(struct thread));
	return index;
}

uint32_t thread_new(struct model *model, uint32_t host, int32_t tid, int64_t begin)
{
	uint32_t index = thread_number(model);
	struct thread *thread = model_thread(model, index);

	thread->begin = begin;
	thread->end = thread->ends_from = INT64_MAX;
	thread->flow.fatal = thread->flow.exiting = thread->flow.reclaims = thread->flow.reclaimed =
		INT64_MIN;
	thread->tid = tid;
	thread->pid = thread->vcpu_number = -1;
	thread->host = (uint16_t) host;
	thread->parent = thread->pinned_by = thread->ended_sender = NO_THREAD;
	thread->priority = NO_PRIORITY;
	thread->pinned_at = INT64_MIN;
	thread->flow.cpu = NO_CPU;
	thread->flow.left = thread->flow.woken = INT64_MIN;
	for (guint i = 0; i < COUNTERS; i++)
		thread->flow.counters[i] = NO_COUNTER;
	thread->flow.unseen_from = thread->flow.unseen_until = INT64_MIN;
	thread->flow.call.child = thread->flow.asked_by = thread->flow.killer = NO_THREAD;
	thread->flow.sent_signal_by = thread->flow.handling.sender = NO_THREAD;
	idmap_set(&model_host(model, host)->tids, (uint32_t) tid, index);
	return index;
}

void thread_set_name(struct model *model, struct thread *thread, const char *comm, int64_t time)
{
	struct name_change change;

	if (!comm || !*comm)
		return;
	if (thread->name && strcmp(intern_text(model->names, thread->name), comm) == 0)
		return;
	change = (struct name_change) {thread->name_since, thread->name};
	if (thread->name) {
		if (!thread->names)
			thread->names = g_array_new(FALSE, FALSE, sizeof change);
		g_array_append_val(thread->names, change);
	}
	thread->name = intern_id(model->names, comm);
	thread->name_since = time;
}

uint32_t thread_name_at(const struct thread *thread, int64_t time)
{
	guint low = 0, high = thread->names ? thread->names->len : 0;

	if (!high || thread->name_since <= time)
		return thread->name;
	/* the last change at or before it; the first name holds before that too */
	while (low + 1 < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(thread->names, struct name_change, middle).time > time)
			high = middle;
		else
			low = middle;
	}
	return g_array_index(thread->names, struct name_change, low).name;
}

static bool number_follows(const char *text)
{
	return g_ascii_isdigit(*text);
}

/* The names that the kernel gives its threads (kthread_create() callers);
 * used only where no statedump says which they are. */
static bool has_kernel_name(const char *name)
{
	static const char *const whole[] = {
		"kthreadd",    "kdevtmpfs",  "kauditd",      "khungtaskd",   "oom_reaper",
		"kcompactd0",  "ksmd",       "khugepaged",   "kswapd0",      "netns",
		"kintegrityd", "kblockd",    "writeback",    "devfreq_wq",   "watchdogd",
		"rcu_gp",      "rcu_par_gp", "mm_percpu_wq", "slub_flushwq", "inet_frag_wq",
		"kstrp",       "mld",        "ipv6_addrconf"};
	static const char *const with_slash[] = {
		"kworker/",  "ksoftirqd/",    "migration/", "cpuhp/", "idle_inject/",
		"jbd2/",     "rcuc/",         "rcub/",      "rcuop/", "rcuog/",
		"rcuos/",    "watchdog/",     "kcompactd",  "kswapd", "ktimersoftd/",
		"ktimers/",  "backlog_napi/", "xfsaild/",   "xfs-",   "kdmflush/",
		"irq_work/", "posixcputmr/"};
	static const char *const prefix[] = {"rcu_",    "scsi_eh_", "scsi_tmf_", "ext4-rsv-conver",
					     "btrfs-",  "nvme-",    "ata_sff",   "md_",
					     "kmpath_", "iscsi_"};

	for (size_t i = 0; i < G_N_ELEMENTS(whole); i++)
		if (strcmp(name, whole[i]) == 0)
			return true;
	for (size_t i = 0; i < G_N_ELEMENTS(with_slash); i++)
		if (g_str_has_prefix(name, with_slash[i]))
			return true;
	for (size_t i = 0; i < G_N_ELEMENTS(prefix); i++)
		if (g_str_has_prefix(name, prefix[i]))
			return true;
	return g_str_has_prefix(name, "irq/") && number_follows(name + 4);
}

/* "Without a statedump, one that makes no system call and whose name has a kernel thread's
 * form": also where its record may be among what was lost. */
bool thread_is_kernel(const struct model *model, const struct thread *thread)
{
	const struct host *host = model_host(model, thread->host);

	if (thread->kernel)
		return true;
	if (thread->of_kthreadd)
		return !thread->execed;
	return (!host->has_statedump || host->gaps->len) && !thread->described &&
	       !thread->made_syscall && !thread->execed &&
	       has_kernel_name(intern_text(model->names, thread->name));
}

bool thread_is_ksoftirqd(const struct model *model, const struct thread *thread)
{
	const char *name = intern_text(model->names, thread->name);

	return g_str_has_prefix(name, "ksoftirqd/") && number_follows(name + 10);
}

struct talk *talk_at(const struct host *host, uint32_t number)
{
	struct talk *talk;

	if (!number || number > host->talk_count)
		return NULL;
	talk = &g_array_index(host->talks, struct talk, (number - 1) % TALKS_MAX);
	return talk->number == number ? talk : NULL;
}
