/* SPDX-License-Identifier: MIT */
/* How states look: the styles of all outputs, by key.
 *
 * Part of tsp/. Blue is work, orange is ready or interrupted, red is waiting that somebody can do
 * something about; what waits for its own timer is pale. Colours differ in lightness too. The words
 * are those of the reports. Source of the properties: Trace Compass, StyleProperties.
 */
#include "tsp/outputs.h"

#include <string.h>

#include "waits/cause_kinds.h"

struct style {
	const char *key, *name, *color;
	double height;
};

static const struct style styles[] = {
	{"unknown", "Unknown", "#d9d9d9", 0.33},
	{"working-user", "Working in user space", "#08519c", 1.0},
	{"working-kernel", "Working in the kernel", "#4292c6", 1.0},
	{"interrupted", "Interrupted", "#fdae6b", 1.0},
	{"ready", "Ready, without a CPU", "#e6550d", 0.66},
	{"blocked", "Waiting", "#fcae91", 0.5},
	{"idle", "Idle", "#f0f0f0", 0.33},
	{"running", "Running", "#4292c6", 1.0},
	{"irq", "IRQ", "#fdae6b", 0.66},
	{"softirq", "softIRQ", "#fdd0a2", 0.66},
	{"device-busy", "Device has requests", "#67000d", 0.66},
	{"held", "Held", "#a50f15", 0.66},
	{"held-inferred", "Held, inferred", "#de7a6f", 0.66},
	{"finding", "Finding", "#756bb1", 1.0},
	{"lost", "Lost events", "#969696", 1.0},
};

static const char *color_of(enum cause_kind kind)
{
	switch (kind) {
	case CAUSE_TIMER:
	case CAUSE_STILL_BLOCKED:
		return "#fee5d9";
	case CAUSE_BLOCK_DEVICE:
		return "#67000d";
	case CAUSE_LOCK_OWNER:
	case CAUSE_DEADLOCK:
		return "#a50f15";
	case CAUSE_UNKNOWN:
		return "#d9d9d9";
	default:
		return "#ef6548";
	}
}

const char *state_style(uint32_t leaf)
{
	uint32_t kind = PACK_KIND(leaf);

	if (leaf_is_blocked(leaf))
		return "blocked";
	switch (leaf_wib(leaf)) {
	case WIB_WORKING:
		return kind == LEAF_WORK_USER || kind == LEAF_WORK_GUEST
			       ? "working-user"
			       : "working-kernel";
	case WIB_INTERRUPTED:
		return kind == LEAF_PREEMPTED || kind == LEAF_WAIT_CPU ? "ready" : "interrupted";
	case WIB_BLOCKED:
		return kind == LEAF_PREEMPTED || kind == LEAF_WAIT_CPU ? "ready" : "blocked";
	default:
		return kind == LEAF_WAIT_CPU ? "ready" : "unknown";
	}
}

void put_style(struct asking *asking, const char *key)
{
	json_begin(&asking->out, "style", '{', LINES_NOT);
	json_put_text(&asking->out, "parentKey", key);
	json_begin(&asking->out, "values", '{', LINES_NOT);
	json_end(&asking->out, '}');
	json_end(&asking->out, '}');
}

static void put(struct asking *asking, const char *key, const char *parent, const char *name,
		const char *color, double height)
{
	struct output *out = &asking->out;

	json_begin(out, key, '{', LINES_NOT);
	if (parent)
		json_put_text(out, "parentKey", parent);
	json_begin(out, "values", '{', LINES_NOT);
	json_put_text(out, "style-name", name);
	json_put_text(out, "style-group", parent ? "Waiting" : "States");
	json_put_text(out, "background-color", color);
	json_put_text(out, "color", color);
	json_put_real(out, "height", height);
	json_put_real(out, "opacity", 1.0);
	json_end(out, '}');
	json_end(out, '}');
}

void put_styles(struct asking *asking)
{
	for (size_t i = 0; i < G_N_ELEMENTS(styles); i++)
		put(asking, styles[i].key, NULL, styles[i].name, styles[i].color, styles[i].height);
	for (int kind = 0; kind < CAUSE_KIND_COUNT; kind++) {
		const char *name = cause_kind_text((enum cause_kind) kind);
		g_autofree char *key = g_strconcat("cause-", name, NULL);
		g_autofree char *words = g_strconcat("Waiting: ", name, NULL);

		put(asking, key, "blocked", words, color_of((enum cause_kind) kind), 0.5);
	}
}
