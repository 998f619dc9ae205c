/* SPDX-License-Identifier: MIT */
/* See called_from.h. */
#include "traits/called_from.h"

#include <string.h>

#include "samples/sample_stacks.h"

#define CALLERS_MAX 4 /* functions of a path */

/* The thread's own event at that time; NULL: it has no stack. */
static const struct sample *sample_of(const struct session *session, const struct log *log,
				      int64_t time)
{
	const struct pages *store = &session->trace.timeline.samples;

	for (uint32_t i = sample_find(store, log, time - 1); i < log->used; i++) {
		const struct sample *sample = sample_at(store, log, i);

		if (sample->time != time)
			break;
		if (sample->source == SAMPLE_OWN)
			return sample;
	}
	return NULL;
}

/* What only hands a call on to the kernel. */
static bool is_of_libc(const struct code_function *function)
{
	static const char *const files[] = {"libc.so", "libc-2.",   "libpthread", "ld-linux",
					    "ld-musl", "libc.musl", "[vdso]",     "linux-vdso"};
	const char *file = function->binary ? strrchr(function->binary, '/') : NULL;

	file = file ? file + 1 : function->binary ? function->binary : function->name;
	for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
		if (g_str_has_prefix(file, files[i]))
			return true;
	return false;
}

/* "read", "__read", "__libc_read": of a program that has the C library in it. */
static bool is_wrapper(const char *name, const char *call)
{
	name += strspn(name, "_");
	if (g_str_has_prefix(name, "libc_"))
		name += strlen("libc_");
	return strcmp(name, call) == 0 || strcmp(name, "syscall") == 0;
}

static uint32_t name_of(const struct session *session, const struct code_function *function)
{
	bool named = function->kernel || function->symbol || function->file;
	g_autofree char *text = g_strconcat(function->name, named ? "()" : "", NULL);

	return strcmp(function->name, UNKNOWN_FUNCTION) == 0 ||
			       strcmp(function->name, INTERRUPTS_FUNCTION) == 0
		       ? 0 /* nobody knows who */
		       : intern_id(session->trace.model.names, text);
}

/* The functions of user space that are the program's own, outermost first: "main() > get()", and
 * the innermost of these. `call`: the system call, NULL: none. */
static void user_callers(const struct session *session, const struct sample_stack *stack,
			 const char *call, struct called_from *from)
{
	g_autoptr(GString) path = g_string_new(NULL);
	guint met = 0;
	bool outside = false;

	for (guint i = 0; i < stack->frames->len && met < CALLERS_MAX; i++) {
		const struct sample_frame *frame =
			&g_array_index(stack->frames, struct sample_frame, i);
		const struct code_function *function = sample_function(session, frame->function);
		uint32_t name;

		if (function->kernel || is_of_libc(function) ||
		    (!outside && call && is_wrapper(function->name, call)))
			continue;
		outside = true;
		name = name_of(session, function);
		if (!name)
			break;
		if (!met++)
			from->user = name;
		else
			g_string_prepend(path, " > ");
		g_string_prepend(path, session_text(session, name));
	}
	if (met > 1)
		from->path = intern_id(session->trace.model.names, path->str);
}

static uint32_t kernel_caller(const struct session *session, const struct sample_stack *stack,
			      const char *callee)
{
	bool met = false;

	for (guint i = 0; i < stack->frames->len; i++) {
		const struct sample_frame *frame =
			&g_array_index(stack->frames, struct sample_frame, i);
		const struct code_function *function = sample_function(session, frame->function);

		if (!function->kernel)
			break;
		if (met)
			return name_of(session, function);
		met = strcmp(function->name, callee) == 0;
	}
	return 0;
}

struct called_from called_from(const struct session *session, const struct operation *operation)
{
	struct called_from from = {0, 0, 0};
	int kind = PACK_KIND(operation->what);
	const struct sample *sample;
	const struct sample_stack *stack;
	const struct log *log;
	const char *name;

	if ((kind != OPERATION_SYSCALL && kind != OPERATION_FUNCTION) ||
	    !operation_has_thread(operation))
		return from;
	log = &model_thread(&session->trace.model, operation->thread)->samples;
	if (!log->used)
		return from;
	sample = sample_of(session, log, operation->begin);
	if (!sample && kind == OPERATION_SYSCALL)
		sample = sample_of(session, log, operation_end(operation));
	if (!sample)
		return from;
	stack = sample_stack(session, operation->thread, sample);
	name = session_text(session, PACK_NUMBER(operation->what));
	user_callers(session, stack, kind == OPERATION_SYSCALL ? name : NULL, &from);
	if (kind == OPERATION_FUNCTION)
		from.kernel = kernel_caller(session, stack, name);
	return from;
}
