/* SPDX-License-Identifier: MIT */
/* Two guests on one disk of their host; see shared_disk.h. */
#include "guests/shared_disk.h"

#include <string.h>

#include "guests/machines.h"

#define WAIT_MIN INT64_C(200000) /* ns: shorter waits are not asked about */
#define OTHER_OF 4 /* the other machine had the disk for a fourth of the wait */
#define NO_MACHINE UINT32_MAX /* of a thread: none's */

struct asked {
	uint16_t host;
	uint32_t disk; /* interned name */
	uint32_t thread; /* who asked for it */
	uint32_t sectors;
	int64_t begin, end;
	int64_t since; /* the disk was at it since then, until its end */
};

struct share {
	int64_t busy; /* ns */
	uint64_t bytes;
};

struct sharing {
	const struct model *model;
	struct timeline *timeline;
	const GArray *machines;
	GArray *owners; /* uint32_t: of each thread the place in `machines`, or NO_MACHINE */
	GArray *requests; /* struct asked: by host, disk and end */
	struct share *shares; /* of each machine; behind them what is none's */
};

/* --- requests ------------------------------------------------------------------------------- */

static int by_disk_and_end(gconstpointer a, gconstpointer b)
{
	const struct asked *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->disk != y->disk)
		return x->disk < y->disk ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void find_requests(struct sharing *sharing)
{
	const struct asked *before = NULL;

	for (uint32_t i = 1; i < sharing->timeline->details.used; i++) {
		const struct wake_detail *detail = detail_at(sharing->timeline, i);
		struct asked asked;

		if (detail->kind != DETAIL_REQUEST || !detail->begin || detail->served < 0 ||
		    !is_thread(detail->thread))
			continue;
		asked = (struct asked) {
			.host = model_thread(sharing->model, detail->thread)->host,
			.disk = detail->text,
			.thread = is_thread(detail->behalf) ? detail->behalf : detail->thread,
			.sectors = detail->sectors,
			.begin = detail->begin,
			.end = detail->begin + detail->served,
		};
		g_array_append_val(sharing->requests, asked);
	}
	g_array_sort(sharing->requests, by_disk_and_end);
	for (guint i = 0; i < sharing->requests->len; i++) {
		struct asked *asked = &g_array_index(sharing->requests, struct asked, i);

		asked->since = asked->begin;
		if (before && before->host == asked->host && before->disk == asked->disk)
			asked->since = MAX(asked->since, before->end);
		before = asked;
	}
}

/* The first request of that disk that ended after `time`. */
static guint first_after(const struct sharing *sharing, uint16_t host, uint32_t disk, int64_t time)
{
	const struct asked asked = {.host = host, .disk = disk, .end = time, .begin = INT64_MAX};
	guint low = 0, high = sharing->requests->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (by_disk_and_end(&g_array_index(sharing->requests, struct asked, middle),
				    &asked) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* --- whose ---------------------------------------------------------------------------------- */

static uint32_t owner_of(const struct sharing *sharing, uint32_t index)
{
	return g_array_index(sharing->owners, uint32_t, index);
}

static void find_owners(struct sharing *sharing)
{
	for (uint32_t i = 0; i < sharing->model->thread_count; i++) {
		const struct thread *thread = model_thread(sharing->model, i);
		uint32_t owner = NO_MACHINE;

		for (guint j = 0; j < sharing->machines->len && owner == NO_MACHINE; j++) {
			const struct machine *machine =
				&g_array_index(sharing->machines, struct machine, j);

			if (machine_has(sharing->model,
					model_thread(sharing->model, machine->leader), thread))
				owner = j;
		}
		g_array_append_val(sharing->owners, owner);
	}
}

/* What the disk did in (from, to], in `sharing->shares`; bytes in all. */
static uint64_t sum_up(struct sharing *sharing, uint16_t host, uint32_t disk, int64_t from,
		       int64_t to)
{
	const GArray *requests = sharing->requests;
	guint none = sharing->machines->len;
	uint64_t bytes = 0;

	memset(sharing->shares, 0, (none + 1) * sizeof *sharing->shares);
	for (guint i = first_after(sharing, host, disk, from); i < requests->len; i++) {
		const struct asked *asked = &g_array_index(requests, struct asked, i);
		uint32_t owner = owner_of(sharing, asked->thread);
		struct share *share = &sharing->shares[owner == NO_MACHINE ? none : owner];

		if (asked->host != host || asked->disk != disk || asked->end > to)
			break;
		share->busy += MAX(asked->end - MAX(asked->since, from), 0);
		share->bytes += (uint64_t) asked->sectors * 512;
		bytes += (uint64_t) asked->sectors * 512;
	}
	return bytes;
}

/* --- reasons -------------------------------------------------------------------------------- */

/* The machine, other than `own`, that the disk was busy with longest; NULL: none's. */
static const struct share *other_of(const struct sharing *sharing, uint32_t own, int64_t length)
{
	const struct share *most = NULL;
	guint none = sharing->machines->len;

	for (guint i = 0; i < none; i++)
		if (i != own && (!most || sharing->shares[i].busy > most->busy))
			most = &sharing->shares[i];
	return most && most->busy > 0 && most->busy >= length / OTHER_OF &&
			       most->busy > sharing->shares[own].busy &&
			       most->busy >= sharing->shares[none].busy
		       ? most
		       : NULL;
}

/* The request that ended the wait, at once or through a worker; NULL: none did. */
static const struct wake_detail *
request_of(const struct sharing *sharing, const struct block *block)
{
	const struct wake_detail *detail =
		block->detail ? detail_at(sharing->timeline, block->detail) : NULL;

	if (detail && detail->kind == DETAIL_WORK && detail->behind)
		detail = detail_at(sharing->timeline, detail->behind);
	return detail && detail->kind == DETAIL_REQUEST && detail->begin ? detail : NULL;
}

static void explain(struct sharing *sharing, uint32_t index, const struct span *span)
{
	uint16_t host = model_thread(sharing->model, index)->host;
	struct block *block = block_at(sharing->timeline, span->ref);
	const struct wake_detail *request = block->reason ? NULL : request_of(sharing, block);
	struct reason reason = reason_of_kind(REASON_FLUSH);
	g_autofree char *key = NULL;
	const struct share *other;

	if (!request)
		return;
	reason.text = request->text;
	reason.begin = MAX(request->begin - MAX(request->queued, 0), span->begin);
	if (span->end - reason.begin < WAIT_MIN)
		return;
	reason.number = sum_up(sharing, host, reason.text, reason.begin, span->end);
	other = other_of(sharing, owner_of(sharing, index), span->end - reason.begin);
	if (!other)
		return;
	key = g_strconcat("device:", intern_text(sharing->model->names, reason.text), NULL);
	reason.object = intern_id(sharing->model->names, key);
	reason.thread =
		g_array_index(sharing->machines, struct machine, other - sharing->shares).leader;
	reason.ns = other->busy;
	reason.amount = other->bytes;
	block->reason = reason_new(sharing->timeline, &reason);
}

void shared_disk_apply(const struct model *model, struct timeline *timeline, const GArray *machines)
{
	struct sharing sharing = {.model = model, .timeline = timeline, .machines = machines};

	if (!machines || machines->len < 2)
		return;
	sharing.owners = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	sharing.requests = g_array_new(FALSE, FALSE, sizeof(struct asked));
	sharing.shares = g_new(struct share, machines->len + 1);
	find_owners(&sharing);
	find_requests(&sharing);
	for (uint32_t i = 0; sharing.requests->len && i < model->thread_count; i++) {
		const struct thread *thread = model_thread(model, i);
		struct track_pos pos = {0, 0};
		struct span span;

		if (owner_of(&sharing, i) == NO_MACHINE)
			continue;
		while (track_read_off_cpu(timeline, &thread->track, &pos, thread->end, &span))
			if (leaf_is_blocked(span.leaf))
				explain(&sharing, i, &span);
	}
	g_free(sharing.shares);
	g_array_free(sharing.requests, TRUE);
	g_array_free(sharing.owners, TRUE);
}
