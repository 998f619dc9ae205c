/* SPDX-License-Identifier: MIT */
/* Hosts, CPUs, threads and names in an image; see image.h.
 *
 * A structure is kept as it is in memory, but for what it points to: that is written behind
 * it, if anything reads it after trace_gather(), else it is as in a new one when it is
 * taken again. So a new plain member is kept without a word here, and a new pointer has to
 * be added to own_…(); one that is not is freed as what it was in another process, which
 * every test on an image would show.
 */
#include "trace/image_file.h"

#include <string.h>

#include "model/images.h"

/* --- hosts and CPUs ----------------------------------------------------------- */

/* What `host` points to is taken from `own` instead. */
static void own_host(struct host *host, const struct host *own)
{
	host->hostname = own->hostname;
	host->uuid = own->uuid;
	host->clock_uuid = own->clock_uuid;
	host->kernel = own->kernel;
	host->tracer = own->tracer;
	host->cpus = own->cpus;
	host->cpu_index = own->cpu_index;
	memcpy(host->direct, own->direct, sizeof host->direct);
	host->tids = own->tids;
	host->forgotten = own->forgotten;
	host->gaps = own->gaps;
	host->user_gaps = own->user_gaps;
	host->tables = own->tables;
	host->irq_names = own->irq_names;
	host->disks = own->disks;
	host->timers = own->timers;
	host->armed = own->armed;
	host->requests = own->requests;
	host->on_way = own->on_way;
	host->request_free = own->request_free;
	host->whole = own->whole;
	host->packets = own->packets;
	host->writebacks = own->writebacks;
	host->works = own->works;
	host->flows = own->flows;
	host->sent = own->sent;
	host->namespaces = own->namespaces;
	host->namespace_index = own->namespace_index;
}

static void put_cpu(struct image_out *out, const struct cpu *cpu)
{
	struct cpu copy = *cpu;

	copy.runs.chunks = NULL;
	copy.open = NULL;
	image_put(out, &copy, sizeof copy);
	image_put_words(out, cpu->runs.chunks, cpu->runs.chunk_count);
}

static void put_host(struct image_out *out, const struct host *host)
{
	struct host copy = *host;

	own_host(&copy, &(struct host) {0});
	image_put(out, &copy, sizeof copy);
	image_put_text(out, host->hostname);
	image_put_text(out, host->uuid);
	image_put_text(out, host->clock_uuid);
	image_put_text(out, host->kernel);
	image_put_text(out, host->tracer);
	image_put_number(out, host->cpus->len);
	for (guint i = 0; i < host->cpus->len; i++)
		put_cpu(out, g_ptr_array_index(host->cpus, i));
	image_put_map(out, &host->tids);
	image_put_map(out, &host->irq_names);
	image_put_map(out, &host->disks);
	image_put_map(out, &host->namespace_index);
	image_put_array(out, host->gaps, sizeof(struct gap));
	image_put_array(out, host->user_gaps, sizeof(struct gap));
	image_put_array(out, host->namespaces, sizeof(struct pid_ns));
}

static void take_cpu(struct image_in *in, struct host *host)
{
	struct cpu loaded, *cpu;

	image_take_to(in, &loaded, sizeof loaded);
	loaded.runs.chunks = image_take_words(in, &loaded.runs.chunk_count);
	loaded.runs.chunk_room = loaded.runs.chunk_count;
	loaded.open = NULL;
	cpu = host_cpu(host, loaded.id); /* new: ids differ */
	g_free(cpu->runs.chunks);
	*cpu = loaded;
}

static void take_host(struct image_in *in, struct model *model)
{
	struct host *host = host_new(model), own = *host;
	uint32_t cpus;

	image_take_to(in, host, sizeof *host);
	own_host(host, &own);
	g_free(host->kernel);
	g_free(host->tracer);
	host->hostname = image_take_text(in);
	host->uuid = image_take_text(in);
	host->clock_uuid = image_take_text(in);
	host->kernel = image_take_text(in);
	host->tracer = image_take_text(in);
	cpus = image_take_count(in, in->size / sizeof(struct cpu));
	for (uint32_t i = 0; i < cpus && !in->failed; i++)
		take_cpu(in, host);
	in->failed |= host->cpus->len != cpus;
	image_take_map(in, &host->tids);
	image_take_map(in, &host->irq_names);
	image_take_map(in, &host->disks);
	image_take_map(in, &host->namespace_index);
	image_take_array(in, host->gaps, sizeof(struct gap));
	host->user_gaps = g_array_new(FALSE, FALSE, sizeof(struct gap));
	image_take_array(in, host->user_gaps, sizeof(struct gap));
	image_take_array(in, host->namespaces, sizeof(struct pid_ns));
}

/* --- threads --------------------------------------------------------------------- */

static void own_thread(struct thread *thread)
{
	thread->names = NULL;
	thread->files = NULL;
	thread->flow.functions = NULL;
	thread->flow.user = NULL;
	thread->flow.woke = NULL;
	thread->track.chunks = NULL;
}

/* A flag first: most threads have none. */
static void put_user_stack(struct image_out *out, const struct user_stack *stack)
{
	image_put_number(out, stack != NULL);
	if (!stack)
		return;
	image_put_number(out, (uint64_t) stack->seen);
	image_put_number(out, (uint32_t) stack->pid);
	image_put_array(out, stack->frames, sizeof(struct user_frame));
}

static struct user_stack *take_user_stack(struct image_in *in)
{
	struct user_stack *stack;

	if (!image_take_number(in))
		return NULL;
	stack = g_new0(struct user_stack, 1);
	stack->seen = (int64_t) image_take_number(in);
	stack->pid = (int32_t) image_take_count(in, UINT32_MAX);
	stack->frames = g_array_new(FALSE, FALSE, sizeof(struct user_frame));
	image_take_array(in, stack->frames, sizeof(struct user_frame));
	return stack;
}

static void put_thread(struct image_out *out, const struct thread *thread)
{
	struct thread copy = *thread;

	own_thread(&copy);
	image_put(out, &copy, sizeof copy);
	image_put_array(out, thread->names, sizeof(struct name_change));
	image_put_words(out, thread->track.chunks, thread->track.chunk_count);
	put_user_stack(out, thread->flow.user);
}

static void take_thread(struct image_in *in, struct model *model, const struct timeline *timeline)
{
	uint32_t index = pages_reserve(&model->threads, 1);
	struct thread *thread = model_thread(model, index);

	model->thread_count = index + 1;
	image_take_to(in, thread, sizeof *thread);
	own_thread(thread);
	thread->names = g_array_new(FALSE, FALSE, sizeof(struct name_change));
	image_take_array(in, thread->names, sizeof(struct name_change));
	if (!thread->names->len) {
		g_array_free(thread->names, TRUE);
		thread->names = NULL;
	}
	thread->track.chunks = image_take_words(in, &thread->track.chunk_count);
	thread->track.chunk_room = thread->track.chunk_count;
	for (uint32_t i = 0; i < thread->track.chunk_count; i++)
		in->failed |= thread->track.chunks[i] >= timeline->intervals.used;
	thread->flow.user = take_user_stack(in);
	in->failed |= thread->host >= model->hosts->len;
}

/* Numbers in images and spaces lead to earlier ones. */
static void take_images(struct image_in *in, struct model *model)
{
	image_take_array(in, model->images, sizeof(struct loaded_image));
	image_take_array(in, model->image_spaces, sizeof(struct image_space));
	for (guint i = 0; i < model->images->len; i++)
		in->failed |= g_array_index(model->images, struct loaded_image, i).previous > i;
	for (guint i = 0; i < model->image_spaces->len; i++) {
		const struct image_space *space =
			&g_array_index(model->image_spaces, struct image_space, i);

		in->failed |= (space->parent != NO_SPACE && space->parent >= i) ||
			      (space->previous != NO_SPACE && space->previous >= i) ||
			      space->newest > model->images->len;
	}
	model_images_index(model);
}

/* --- all ------------------------------------------------------------------------- */

void image_put_model(struct image_out *out, const struct model *model)
{
	image_put_number(out, model->hosts->len);
	for (guint i = 0; i < model->hosts->len; i++)
		put_host(out, model_host(model, i));
	image_put_number(out, model->thread_count);
	for (uint32_t i = 0; i < model->thread_count; i++)
		put_thread(out, model_thread(model, i));
	image_put_array(out, model->places, sizeof(struct place));
	image_put_array(out, model->ids, sizeof(struct ids));
	image_put_array(out, model->images, sizeof(struct loaded_image));
	image_put_array(out, model->image_spaces, sizeof(struct image_space));
}

bool image_take_model(struct image_in *in, struct model *model, const struct timeline *timeline)
{
	uint32_t hosts = image_take_count(in, UINT16_MAX), threads;

	for (uint32_t i = 0; i < hosts && !in->failed; i++)
		take_host(in, model);
	threads = image_take_count(in, in->size / sizeof(struct thread));
	for (uint32_t i = 0; i < threads && !in->failed; i++)
		take_thread(in, model, timeline);
	image_take_array(in, model->places, sizeof(struct place));
	image_take_array(in, model->ids, sizeof(struct ids));
	take_images(in, model);
	return !in->failed && model->places->len > 0;
}
