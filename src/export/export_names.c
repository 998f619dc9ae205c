/* SPDX-License-Identifier: MIT */
/* Names that people see in every format; see export_names.h. */
#include "export/export_names.h"

#include <string.h>

#include "report/report.h"
#include "waits/summary.h"

void state_names_init(struct state_names *names, const struct session *session)
{
	*names = (struct state_names) {session, g_hash_table_new_full(g_int64_hash, g_int64_equal,
								      g_free, NULL)};
}

void state_names_clear(struct state_names *names)
{
	g_hash_table_destroy(names->names);
}

static char *name_of(const struct session *session, uint32_t leaf, uint32_t waited_for)
{
	g_autofree char *label = NULL;

	switch (PACK_KIND(leaf)) {
	case LEAF_WORK_USER:
	case LEAF_WORK_KTHREAD:
	case LEAF_WORK_SYSCALL:
	case LEAF_WORK_GUEST:
	case LEAF_WORK_HALTED:
		return g_strdup("Working");
	case LEAF_PREEMPTED:
		return g_strdup("Ready: preempted");
	case LEAF_WAIT_CPU:
		return g_strdup("Ready: waiting for CPU");
	case LEAF_BLOCK_STOPPED:
		return g_strdup("Blocked: stopped by a signal");
	case LEAF_BLOCK_TRACED:
		return g_strdup("Blocked: stopped by its tracer");
	default:
		break;
	}
	if (leaf_is_blocked(leaf) && waited_for)
		return g_strconcat("Blocked: ", session_text(session, waited_for), NULL);
	if (PACK_KIND(leaf) == LEAF_BLOCK_FAULT)
		return g_strdup("Blocked: page fault");
	if (leaf_is_blocked(leaf))
		return g_strdup("Blocked");
	label = leaf_label(session, leaf);
	return g_steal_pointer(&label);
}

uint32_t state_name(struct state_names *names, const struct walk_state *state)
{
	const struct session *session = names->session;
	uint32_t waited_for = state->block ? block_waits_for(session, state->block) : 0;
	gint64 key = (gint64) ((guint64) state->span.leaf << 32 | waited_for), *kept;
	gpointer known = g_hash_table_lookup(names->names, &key);
	g_autofree char *name = NULL;
	uint32_t id;

	if (known)
		return GPOINTER_TO_UINT(known);
	name = name_of(session, state->span.leaf, waited_for);
	id = intern_id(session->trace.model.names, name);
	kept = g_new(gint64, 1);
	*kept = key;
	g_hash_table_insert(names->names, kept, GUINT_TO_POINTER(id));
	return id;
}

const char *state_category(const struct walk_state *state)
{
	static const char *const by_wib[] = {"unknown", "running", "interrupted", "blocked"};
	uint32_t kind = PACK_KIND(state->span.leaf);

	return kind == LEAF_PREEMPTED || kind == LEAF_WAIT_CPU
		       ? "ready"
		       : by_wib[leaf_wib(state->span.leaf)];
}

const char *run_name(const struct session *session, uint32_t thread)
{
	g_autofree char *name = NULL;

	if (thread == IDLE_THREAD)
		return "idle";
	if (!is_thread(thread))
		return "not known";
	name = g_strdup_printf("%s (%d)", session_thread_name(session, thread),
			       model_thread(&session->trace.model, thread)->tid);
	return session_text(session, intern_id(session->trace.model.names, name));
}

char *wake_context(const struct session *session, const struct block *block)
{
	if (block->kind == WAKER_UNKNOWN || block->kind == WAKER_NONE)
		return g_strdup("unknown");
	if (block->kind == WAKER_THREAD && PACK_KIND(block->context) != FRAME_SYSCALL)
		return g_strdup("thread");
	return frame_text(session, block->context, false);
}

char *export_json_quoted(const char *text)
{
	GString *quoted = g_string_new("\"");
	g_autofree char *valid = NULL;

	if (!g_utf8_validate(text, -1, NULL))
		valid = g_utf8_make_valid(text, -1);
	for (const unsigned char *p = (const unsigned char *) (valid ? valid : text); *p; p++) {
		if (*p == '"' || *p == '\\')
			g_string_append_c(quoted, '\\');
		if (*p < 0x20 || *p == 0x7f)
			g_string_append_printf(quoted, "\\u%04x", *p);
		else
			g_string_append_c(quoted, (char) *p);
	}
	g_string_append_c(quoted, '"');
	return g_string_free(quoted, FALSE);
}

void export_json_text(FILE *file, const char *text)
{
	g_autofree char *quoted = NULL;

	if (text_is_plain(text) && !strpbrk(text, "\"\\")) {
		fputc('"', file);
		fputs(text, file);
		fputc('"', file);
		return;
	}
	quoted = export_json_quoted(text);
	fputs(quoted, file);
}
