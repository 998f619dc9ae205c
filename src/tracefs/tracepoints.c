/* SPDX-License-Identifier: MIT */
/* See tracepoints.h. */
#include "tracefs/tracepoints.h"

#include <stdlib.h>
#include <string.h>

/* From which preset on; they are in the order of enum preset. */
enum { MINIMAL, NORMAL, FULL };

static const struct {
	int from;
	const char *events;
} rows[] = {
	{MINIMAL, "sched:sched_switch"},
	{MINIMAL, "sched:sched_waking"},
	{MINIMAL, "sched:sched_wakeup"},
	{MINIMAL, "sched:sched_wakeup_new"},
	{MINIMAL, "sched:sched_process_*"},
	{MINIMAL, "irq:irq_handler_*"},
	{MINIMAL, "irq:softirq_*"},
	{MINIMAL, "irq_vectors:*_entry"},
	{MINIMAL, "irq_vectors:*_exit"},
	{NORMAL, "raw_syscalls:sys_*"},
	{NORMAL, "sched:sched_migrate_task"},
	{NORMAL, "sched:sched_pi_setprio"},
	{NORMAL, "power:cpu_idle"},
	{NORMAL, "exceptions:page_fault_*"},
	{NORMAL, "timer:hrtimer_*"},
	{NORMAL, "timer:timer_start"},
	{NORMAL, "timer:timer_expire_*"},
	{NORMAL, "block:block_rq_*"},
	{NORMAL, "block:block_bio_*"},
	{NORMAL, "block:block_split"},
	{NORMAL, "net:net_dev_queue"},
	{NORMAL, "net:net_dev_xmit"},
	{NORMAL, "net:netif_receive_skb"},
	{NORMAL, "workqueue:*"},
	{NORMAL, "writeback:balance_dirty_pages"},
	{NORMAL, "jbd2:jbd2_*_commit*"},
	{NORMAL, "vmscan:mm_vmscan_direct_reclaim_*"},
	{NORMAL, "vmscan:mm_vmscan_memcg_reclaim_*"},
	{NORMAL, "signal:signal_generate"},
	{NORMAL, "signal:signal_deliver"},
	{FULL, "block:block_getrq"},
	{FULL, "writeback:writeback_queue"},
	{FULL, "writeback:writeback_exec"},
	{FULL, "writeback:writeback_pages_written"},
};

static const char *const of_guests[] = {
	"kvm:kvm_entry",    "kvm:kvm_exit", "kvm:kvm_vcpu_wakeup", "kvm:kvm_apic_accept_irq",
	"kvm:kvm_inj_virq", "kvm:kvm_eoi",  "kvm:kvm_pv_eoi"};
static const char *const of_networks[] = {"net:*", "skb:*", "napi:*"};

static gint by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* Each event of the kernel that fits, which is a directory with its format. */
static void add_fitting(GPtrArray *list, const char *root, const char *pattern)
{
	g_auto(GStrv) parts = g_strsplit(pattern, ":", 2);
	g_autofree char *path = g_build_filename(root, "events", parts[0], NULL);
	guint first = list->len;
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *format = g_build_filename(path, name, "format", NULL);

		if (g_pattern_match_simple(parts[1], name) &&
		    g_file_test(format, G_FILE_TEST_EXISTS))
			g_ptr_array_add(list, g_strconcat(parts[0], ":", name, NULL));
	}
	if (dir)
		g_dir_close(dir);
	if (list->len > first)
		qsort(list->pdata + first, list->len - first, sizeof *list->pdata, by_text);
}

static void add(GPtrArray *list, const char *root, bool seen, const char *pattern)
{
	if (seen)
		add_fitting(list, root, pattern);
	else
		g_ptr_array_add(list, g_strdup(pattern));
}

GPtrArray *tracepoints_of(const char *root, int preset, bool network, bool guests)
{
	GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *path = g_build_filename(root, "events", NULL);
	bool seen = g_file_test(path, G_FILE_TEST_IS_DIR);

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (rows[i].from <= preset)
			add(list, root, seen, rows[i].events);
	for (size_t i = 0; network && i < G_N_ELEMENTS(of_networks); i++)
		add(list, root, seen, of_networks[i]);
	for (size_t i = 0; guests && i < G_N_ELEMENTS(of_guests); i++)
		add(list, root, seen, of_guests[i]);
	return list;
}
