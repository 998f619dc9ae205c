/* SPDX-License-Identifier: MIT */
/* See packet_time.h. */
#include "net/packet_time.h"

#include <string.h>

#include "event/softirqs.h"
#include "objects/calls.h"

#define KNOWN 256 /* flows whose key need not be made again */

struct packet_keys {
	struct {
		uint64_t hash;
		uint32_t key;
	} known[KNOWN];
};

void packet_time_init(struct flow *flow)
{
	flow->packet_keys = NULL;
}

void packet_time_clear(struct flow *flow)
{
	g_free(flow->packet_keys);
	flow->packet_keys = NULL;
}

static uint32_t key_new(struct flow *flow, const struct event *event)
{
	uint32_t from = event->net.source_port, to = (uint16_t) event->net.dest_port;
	bool is_reply = from && from < to;
	uint32_t socket = socket_key(flow, &event->net.saddr, is_reply ? from : 0);
	const char *text;

	if (!socket)
		return event->net.device && *event->net.device
			       ? key_format(flow, "packets:came-on-%s", event->net.device)
			       : 0;
	text = intern_text(flow->names, socket) + strlen("socket:");
	if (is_reply)
		return key_format(flow, "packets:%s", text);
	/* the text ends in port 0 */
	return to ? key_format(flow, "packets:%.*sto-%u", (int) strlen(text) - 1, text, to)
		  : key_format(flow, "packets:%.*s", (int) strlen(text) - 2, text);
}

static uint32_t key_of(struct flow *flow, const struct event *event, uint64_t hash)
{
	uint64_t mixed = hash ^ (uint64_t) event->host << 56;

	if (!hash)
		return key_new(flow, event);
	if (!flow->packet_keys)
		flow->packet_keys = g_new0(struct packet_keys, 1);
	if (flow->packet_keys->known[hash % KNOWN].hash != mixed) {
		flow->packet_keys->known[hash % KNOWN].hash = mixed;
		flow->packet_keys->known[hash % KNOWN].key = key_new(flow, event);
	}
	return flow->packet_keys->known[hash % KNOWN].key;
}

/* The softIRQ for packets that the CPU is in, NULL. */
static struct frame *softirq_of(struct cpu *cpu)
{
	struct frame *frame = cpu->depth ? &cpu->frames[cpu->depth - 1] : NULL;

	return frame && (frame->what == PACK(FRAME_SOFTIRQ, SOFTIRQ_NET_RX) ||
			 frame->what == PACK(FRAME_SOFTIRQ, SOFTIRQ_NET_TX))
		       ? frame
		       : NULL;
}

/* One more packet of that kind in the frame's run: its time is named by the majority. */
static void vote(struct flow *flow, struct cpu *cpu, struct frame *frame, uint32_t key)
{
	struct thread *thread = flow_current(flow, cpu);
	struct interval *last;

	if (frame->label == key) {
		frame->votes++;
		return;
	}
	if (frame->votes) {
		frame->votes--;
		return;
	}
	frame->label = key;
	frame->votes = 1;
	if (!thread || track_empty(&thread->track))
		return;
	last = track_last(flow->timeline, &thread->track);
	if (last->leaf == PACK(LEAF_INT_SOFTIRQ, PACK_NUMBER(frame->what)))
		last->ref = key;
}

void packet_time_received(struct flow *flow, struct cpu *cpu, const struct event *event,
			  uint64_t hash)
{
	struct frame *frame = softirq_of(cpu);
	uint32_t key = frame ? key_of(flow, event, hash) : 0;

	if (key)
		vote(flow, cpu, frame, key);
}

static void note_receiver(struct host *host, uint32_t key, uint32_t thread)
{
	guint at = host->receivers_next % G_N_ELEMENTS(host->receivers);

	for (guint i = 0; i < G_N_ELEMENTS(host->receivers); i++)
		if (host->receivers[i].address == key) {
			host->receivers[i].thread = thread;
			return;
		}
	host->receivers_next++;
	host->receivers[at] = (struct listener) {key, thread};
}

void packet_time_left(struct flow *flow, struct cpu *cpu, const struct event *event,
		      uint32_t sender)
{
	struct frame *frame = softirq_of(cpu);
	uint32_t key;

	if (!frame || PACK_NUMBER(frame->what) != SOFTIRQ_NET_TX || !event->net.device ||
	    !*event->net.device)
		return;
	key = key_format(flow, "packets:sent-on-%s", event->net.device);
	vote(flow, cpu, frame, key);
	if (is_thread(sender))
		note_receiver(flow_host(flow, event), key, sender);
}

void packet_time_wakes(struct flow *flow, struct cpu *cpu, uint32_t woken)
{
	struct frame *frame = softirq_of(cpu);

	if (frame && frame->label)
		note_receiver(model_host(flow->model, flow_thread(flow, woken)->host), frame->label,
			      woken);
}
