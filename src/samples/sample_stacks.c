/* SPDX-License-Identifier: MIT */
/* See sample_stacks.h. */
#include "samples/sample_stacks.h"

#include <string.h>

#include "model/images.h"
#include "samples/programs.h"
#include "symbols/binaries.h"
#include "symbols/symbols.h"
#include "util/pattern.h"

#define LOWEST UINT64_C(0x10000) /* no code lies below */

struct named_stacks {
	GHashTable *known;     /* owned; struct stack_key -> struct sample_stack */
	GPtrArray *functions;  /* owned; struct code_function, which stay where they are */
	GHashTable *numbers;   /* owned; "name\nfile" -> number + 1 */
	GStringChunk *texts;   /* owned */
};

/* What tells stacks apart: the same addresses of another program are other functions. */
struct stack_key {
	uint32_t kernel, user, program;
	int32_t pid;
	uint16_t host;
	uint16_t kind; /* what decides whose its kernel part is */
};

static guint key_hash(gconstpointer data)
{
	const struct stack_key *key = data;

	return ((key->kernel * 31 + key->user) * 31 + key->program) * 31 + (guint) key->pid +
	       key->host + key->kind;
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, sizeof(struct stack_key)) == 0;
}

static void stack_free(void *data)
{
	struct sample_stack *stack = data;

	g_array_free(stack->frames, TRUE);
	g_free(stack);
}

static void *stacks_new(const struct session *session)
{
	struct named_stacks *stacks = g_new0(struct named_stacks, 1);

	(void) session;
	stacks->known = g_hash_table_new_full(key_hash, key_equal, g_free, stack_free);
	stacks->functions = g_ptr_array_new_with_free_func(g_free);
	stacks->numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	stacks->texts = g_string_chunk_new(4096);
	return stacks;
}

static void stacks_free(void *data)
{
	struct named_stacks *stacks = data;

	g_hash_table_destroy(stacks->known);
	g_ptr_array_free(stacks->functions, TRUE);
	g_hash_table_destroy(stacks->numbers);
	g_string_chunk_free(stacks->texts);
	g_free(stacks);
}

static struct named_stacks *stacks_of(const struct session *session)
{
	return (struct named_stacks *) session_make_once(session, stacks_new, stacks_free);
}

const struct code_function *sample_function(const struct session *session, uint32_t number)
{
	return g_ptr_array_index(stacks_of(session)->functions, number);
}

uint32_t sample_frame_name(const struct session *session, const struct sample_frame *frame)
{
	const char *name = sample_function(session, frame->function)->name;
	g_autofree char *inferred = frame->inferred ? g_strconcat(name, " (inferred)", NULL) : NULL;

	return intern_id(session->trace.model.names, inferred ? inferred : name);
}

/* The first file that is met with it. */
static void set_symbol(struct named_stacks *stacks, uint32_t number, const struct code_place *place,
		       const struct code *code)
{
	struct code_function *function = g_ptr_array_index(stacks->functions, number);

	if (function->binary || !code->symbol)
		return;
	function->binary = g_string_chunk_insert_const(stacks->texts, place->path);
	function->symbol = g_string_chunk_insert_const(stacks->texts, code->symbol);
}

static uint32_t function_number(struct named_stacks *stacks, const char *name, const char *file,
				bool kernel)
{
	char *key = g_strconcat(name, "\n", file ? file : kernel ? "\n" : "", NULL);
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(stacks->numbers, key));
	struct code_function function = {.kernel = kernel};

	if (number) {
		g_free(key);
		return number - 1;
	}
	function.name = g_string_chunk_insert_const(stacks->texts, name);
	function.file = file ? g_string_chunk_insert_const(stacks->texts, file) : NULL;
	g_ptr_array_add(stacks->functions, g_memdup2(&function, sizeof function));
	g_hash_table_insert(stacks->numbers, key, GUINT_TO_POINTER(stacks->functions->len));
	return stacks->functions->len - 1;
}

static void add(struct named_stacks *stacks, struct sample_stack *stack, const char *name,
		const char *file, uint32_t line, bool kernel)
{
	struct sample_frame frame = {.function = function_number(stacks, name, file, kernel),
				     .line = line};

	g_array_append_val(stack->frames, frame);
}

static struct sample_frame *last_frame(const struct sample_stack *stack)
{
	return &g_array_index(stack->frames, struct sample_frame, stack->frames->len - 1);
}

/* --- the kernel's part ---------------------------------------------------------------- */

static bool starts_with_one_of(const char *name, const char *const *starts)
{
	for (; name && *starts; starts++)
		if (g_str_has_prefix(name, *starts))
			return true;
	return false;
}

/* Where interrupts enter the kernel, over versions: arch/x86/entry, arch/arm64/kernel/entry*. */
static bool enters_interrupt(const char *name)
{
	static const char *const starts[] = {
		"asm_sysvec_",
		"asm_common_interrupt",
		"apic_timer_interrupt",
		"reschedule_interrupt",
		"call_function_",
		"ret_from_intr",
		"common_interrupt",
		"el1_irq",
		"el1h_64_irq",
		"el1_interrupt",
		"el0_irq",
		"el0t_64_irq",
		"el0_interrupt",
		NULL};

	return starts_with_one_of(name, starts);
}

static bool enters_kernel(const char *name)
{
	static const char *const starts[] = {
		"entry_",
		"do_syscall_64",
		"do_fast_syscall_32",
		"__do_fast_syscall_32",
		"do_int80_syscall_32",
		"ret_from_fork",
		"asm_",
		"secondary_startup",
		"el0_svc",
		"el0t_64_sync",
		"invoke_syscall",
		"do_el0_svc",
		NULL};

	return starts_with_one_of(name, starts);
}

struct kernel_part {
	const uint64_t *words;
	guint from, to; /* of words */
	bool exact;     /* the first is where it was interrupted, not a return address */
};

static const char *name_at(const struct session *session, const struct kernel_part *part, guint i)
{
	uint64_t address = part->words[i] - (part->exact && i == part->from ? 0 : 1);

	return symbol_at(session->found.symbols, address, NULL);
}

/* From `at` on; part->to: there is none. */
static guint next_entry(const struct session *session, const struct kernel_part *part, guint at)
{
	while (at < part->to && !enters_interrupt(name_at(session, part, at)))
		at++;
	return at;
}

static guint behind_entry(const struct session *session, const struct kernel_part *part, guint at)
{
	while (at < part->to && enters_interrupt(name_at(session, part, at)))
		at++;
	return at;
}

/* False: what the interrupt's is, and what the thread's, cannot be told. */
static bool find_part(const struct session *session, struct kernel_part *part, bool interrupted)
{
	guint at;

	while (part->from < part->to &&
	       symbol_is_tracers(session->found.symbols, part->words[part->from] - 1))
		part->from++;
	if (!interrupted)
		return true;
	at = next_entry(session, part, part->from);
	if (at == part->to)
		return false;
	part->from = behind_entry(session, part, at);
	part->exact = true;
	return true;
}

/* The functions from `from` to `to`. */
static void add_names(const struct session *session, struct named_stacks *stacks,
		      struct sample_stack *stack, const struct kernel_part *part, guint from,
		      guint to)
{
	static const char *const tracing[] = {"__traceiter_", "trace_event_", "perf_trace_", NULL};

	for (guint i = from; i < to; i++) {
		const char *name = name_at(session, part, i);

		if (stack->frames->len || !starts_with_one_of(name, tracing))
			add(stacks, stack, name ? name : UNKNOWN_FUNCTION, NULL, 0, true);
	}
}

/* False: user space's part is not of the same. */
static bool add_kernel(const struct session *session, struct named_stacks *stacks,
		       struct sample_stack *stack, const struct sample *sample)
{
	uint64_t words[CALLSTACK_WORDS];
	struct kernel_part part = {.words = words};
	guint at, last = 0;

	part.to = callstack_words(&session->trace.flow.callstacks, sample->kernel, words);
	if (part.to && words[part.to - 1] == UINT64_MAX) /* cut by the tracer */
		part.to--;
	if (!session->found.symbols ||
	    !find_part(session, &part, sample->source <= SAMPLE_INTERRUPT))
		return true;
	at = next_entry(session, &part, part.from);
	if (at < part.to && sample->in_softirq) { /* what that interrupted has no part in it */
		add_names(session, stacks, stack, &part, part.from, at);
		return false;
	}
	for (; at < part.to; at = next_entry(session, &part, last))
		last = behind_entry(session, &part, at);
	stack->in_interrupt = last > 0;
	while (MAX(part.from, last) < part.to &&
	       enters_kernel(name_at(session, &part, part.to - 1)))
		part.to--;
	if (stack->in_interrupt) {
		at = last;
		while (at > part.from && enters_interrupt(name_at(session, &part, at - 1)))
			at--;
		add_names(session, stacks, stack, &part, part.from, at);
		add(stacks, stack, INTERRUPTS_FUNCTION, NULL, 0, true);
	}
	add_names(session, stacks, stack, &part, MAX(part.from, last), part.to);
	return true;
}

/* --- user space's --------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
	const char *base = strrchr(path, '/');

	return base && base[1] ? base + 1 : path;
}

static const struct code *
code_at_place(const struct session *session, const struct code_place *place, uint64_t back)
{
	return place->path && place->offset != UINT64_MAX && place->offset >= back
		       ? binaries_code(session->found.binaries, place->path, place->id,
				       place->id_length, place->offset - back)
		       : NULL;
}

/* All calls that are inlined there. */
static void add_code(struct named_stacks *stacks, struct sample_stack *stack,
		     const struct code_place *place, const struct code *code)
{
	bool any = false;

	for (guint i = 0; code && i < code->frames->len; i++) {
		const struct code_frame *frame = &g_array_index(code->frames, struct code_frame, i);

		if (!frame->function)
			continue;
		add(stacks, stack, frame->function, frame->file, frame->line, false);
		if (i + 1 == code->frames->len) /* those before it are inlined */
			set_symbol(stacks, last_frame(stack)->function, place, code);
		any = true;
	}
	if (!any)
		add(stacks, stack, place->path ? base_name(place->path) : UNKNOWN_FUNCTION, NULL, 0,
		    false);
}

/* Whose frames nothing is beyond. */
static bool is_outermost(const struct code *code)
{
	static const char *const names[] = {"_start", "clone", "__clone", NULL};
	const struct code_frame *last =
		code && code->frames->len
			? &g_array_index(code->frames, struct code_frame, code->frames->len - 1)
			: NULL;

	return last && starts_with_one_of(last->function, names);
}

/* Who called the innermost function, if that is not what the call before the return address
 * calls. */
static void add_hidden(const struct session *session, struct named_stacks *stacks,
		       struct sample_stack *stack, const struct code_place *leaf,
		       const struct code *leaf_code, const struct code_place *caller,
		       const struct site *site)
{
	struct code_place target = *caller;
	const struct code_frame *function;
	const struct code *code;

	target.offset = site->target;
	code = code_at_place(session, &target, 0);
	if (!code || code->start != site->target || !code->frames->len)
		return; /* a stub that leads to another file's function */
	if (leaf_code && leaf_code->start == code->start && leaf->path &&
	    strcmp(leaf->path, caller->path) == 0)
		return;
	function = &g_array_index(code->frames, struct code_frame, code->frames->len - 1);
	if (!function->function)
		return;
	add(stacks, stack, function->function, function->file, function->line, false);
	set_symbol(stacks, last_frame(stack)->function, &target, code);
	last_frame(stack)->inferred = true;
}

static void add_user(const struct session *session, struct named_stacks *stacks,
		     struct sample_stack *stack, const struct thread *life,
		     const struct sample *sample)
{
	uint64_t words[CALLSTACK_WORDS];
	guint count = callstack_words(&session->trace.flow.callstacks, sample->user, words);
	struct code_place leaf = {0};
	const struct code *leaf_code = NULL;

	if (count && words[count - 1] == UINT64_MAX)
		count--;
	for (guint i = 0; i < count; i++) {
		struct code_place place = code_place_at(session, life, words[i], sample->time);
		const struct code *code = code_at_place(session, &place, i ? 1 : 0);
		struct site site = {SITE_UNKNOWN, 0};

		if (i && place.path && place.offset != UINT64_MAX)
			site = binaries_site(session->found.binaries, place.path, place.id,
					     place.id_length, place.offset);
		stack->cut = i && (words[i] < LOWEST || site.kind == SITE_NONE);
		if (stack->cut)
			return;
		if (i == 1 && site.kind == SITE_DIRECT)
			add_hidden(session, stacks, stack, &leaf, leaf_code, &place, &site);
		else if (i == 1 && leaf_code && leaf_code->frame == OWN_FRAME_NONE)
			/* main(), of libc's call, a callback */
			add(stacks, stack, UNKNOWN_FUNCTION, NULL, 0, false);
		if (!i) {
			leaf = place;
			leaf_code = code;
		}
		add_code(stacks, stack, &place, code);
	}
	stack->cut = count == 1 && !is_outermost(leaf_code);
}

/* --- both ----------------------------------------------------------------------------- */

const struct sample_stack *
sample_stack(const struct session *session, uint32_t thread, const struct sample *sample)
{
	struct named_stacks *stacks = stacks_of(session);
	const struct model *model = &session->trace.model;
	const struct thread *life = model_thread(model, thread);
	const struct loaded_image *program =
		model_program_at(model, life->host, thread_process(life), sample->time);
	struct stack_key key = {.kernel = sample->kernel,
				.user = sample->user,
				.program = program ? model_image_number(model, program) : 0,
				.pid = thread_process(life),
				.host = life->host,
				.kind = (uint16_t) ((sample->source <= SAMPLE_INTERRUPT) << 1 |
						    sample->in_softirq)};
	struct sample_stack *stack = g_hash_table_lookup(stacks->known, &key);

	if (stack)
		return stack;
	stack = g_new0(struct sample_stack, 1);
	stack->frames = g_array_new(FALSE, FALSE, sizeof(struct sample_frame));
	if (add_kernel(session, stacks, stack, sample))
		add_user(session, stacks, stack, life, sample);
	g_hash_table_insert(stacks->known, g_memdup2(&key, sizeof key), stack);
	return stack;
}

bool sample_stack_has(const struct session *session, const struct sample_stack *stack,
		      const char *pattern)
{
	for (guint i = 0; i < stack->frames->len; i++) {
		const struct sample_frame *frame =
			&g_array_index(stack->frames, struct sample_frame, i);

		if (pattern_match(pattern, sample_function(session, frame->function)->name))
			return true;
	}
	return false;
}
