/* SPDX-License-Identifier: MIT */
/* What a delay report is made of, computed once, and the parts that write it.
 *
 * Place: delay/. `data` of its reports is the struct delay.
 */
#ifndef WHYLATE_DELAY_DELAY_H
#define WHYLATE_DELAY_DELAY_H

#include "path/path.h"
#include "report/report.h"
#include "settings/configuration.h"
#include "waits/summary.h"
#include "whatif/what_if.h"
#include "whatif/worth.h"

struct delay {
	const struct session *session; /* borrowed */
	GArray *lineage;       /* struct stretch; empty without a single thread */
	struct path *path;     /* NULL without a single thread */
	GPtrArray *verdict;    /* strings */
	GArray *locks;         /* struct contention: that the reported threads waited for */
	GArray *findings;      /* struct finding: of these threads' waits */
	GArray *counts; /* struct counted: what the verdict's sentences are of */
	GArray *worths; /* struct worth: of the verdict's sentences */
	GArray *configuration; /* struct configuration: of the path */
	struct what_if *what_if; /* with --what-if; else NULL */
	GArray *threads;       /* struct stretch: each thread and its part of the window */
};

/* Its threads, those first that worked or were ready to run longest; of the same time by number.
 * struct stretch; freed by the caller. */
GArray *delay_most_active(const struct delay *delay);

void delay_json(const struct delay *delay, struct output *output);
void delay_text(const struct delay *delay, struct output *output);
/* On the page, with --what-if: rows for the threads of the new path; member "what_if" of the page's
 * second block, of a struct delay. */
struct page_rows;
struct packer;
void delay_page_rows(const struct delay *delay, struct page_rows *rows);
void delay_page_what_if(struct packer *packer, const void *delay, struct output *output);
void delay_csv(const struct delay *delay, struct output *output);

/* Of struct wait: with what ended it, who had its lock, and the waits inside it. */
extern const struct column wait_columns[];
/* Member "critical_path", of struct delay; its steps as CSV. */
extern const struct column critical_path_columns[];
void path_steps_csv(const struct report *report, const struct path *path);
/* Of struct path_totals, which is also `data`: sums by thread, resource and kind. */
extern const struct column path_totals_columns[];
extern const struct column thread_sum_columns[], resource_sum_columns[], kind_sum_columns[];

/* "Xorg (222)"; "the CPU, running"; "blocked/syscall: process": what a sum is of. */
char *thread_sum_label(const struct report *report, const void *total);
char *resource_sum_label(const struct report *report, const void *total);
char *kind_sum_label(const struct report *report, const void *total);

/* For people. "Xorg (pid 222)"; free with g_free(). */
char *thread_words(const struct session *session, uint32_t thread);
void text_interval(const struct report *report, int64_t begin, int64_t end);
/* Escaped. */
void text_escaped(struct output *output, const char *text);
/* The critical path in a line a thread, with its sums; with --path every step of it. */
void critical_path_text(const struct report *report);
void path_steps_text(const struct report *report);
/* The causality of a thread's waits; its states' summary and their instances. */
void causality_text(const struct report *report, const struct stretch *at);
/* `brief`: without nodes under 1 % of its time. */
void summary_text(const struct report *report, const struct stretch *at, bool brief);
void instances_text(const struct report *report, const struct stretch *at);

static inline bool is_kernel_thread(const struct session *session, uint32_t thread)
{
	return is_thread(thread) &&
	       thread_is_kernel(&session->trace.model, model_thread(&session->trace.model, thread));
}

#endif
