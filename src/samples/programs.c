/* SPDX-License-Identifier: MIT */
/* See programs.h. */
#include "samples/programs.h"

#include "model/images.h"
#include "samples/recorded_maps.h"
#include "symbols/binaries.h"
#include "timeline/sample.h"

/* Programs that can lie anywhere are put far below what is mapped later: x86-64 near 0x55…, AArch64
 * near 0xaa…; at 0x7f… and 0xff… are libraries, the stack and what the kernel shows. */
#define X86_MAPPED UINT64_C(0x7e0000000000)
#define X86_END UINT64_C(0x800000000000)
#define ARM_MAPPED UINT64_C(0xff0000000000)
#define LOWEST UINT64_C(0x10000) /* vm.mmap_min_addr: no code lies below */

/* One execution of a program, and its forks. */
struct program {
	const char *path; /* borrowed */
	GArray *ran, *returns; /* owned; uint64_t, each once */
	GHashTable *met; /* owned; numbers of stacks, and addresses */
	struct fit fit;
	bool fitted;
};

static void program_free(void *data)
{
	struct program *program = data;

	g_array_free(program->ran, TRUE);
	g_array_free(program->returns, TRUE);
	g_hash_table_destroy(program->met);
	g_free(program);
}

static struct program *program_of(GHashTable *programs, const struct session *session,
				  const struct loaded_image *image)
{
	gpointer key = GUINT_TO_POINTER(model_image_number(&session->trace.model, image));
	struct program *program = g_hash_table_lookup(programs, key);

	if (program)
		return program;
	program = g_new0(struct program, 1);
	program->path = session_text(session, image->path);
	program->ran = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	program->returns = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	program->met = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	g_hash_table_insert(programs, key, program);
	return program;
}

static bool may_be_program(uint64_t address)
{
	return address >= LOWEST && address < ARM_MAPPED &&
	       !(address >= X86_MAPPED && address < X86_END);
}

/* False: it was there already. */
static bool meet(struct program *program, uint64_t what)
{
	return g_hash_table_add(program->met, g_memdup2(&what, sizeof what));
}

static void add_stack(const struct session *session, struct program *program,
		      const struct thread *life, const struct sample *sample)
{
	uint64_t words[CALLSTACK_WORDS];
	guint count;

	if (!meet(program, sample->user)) /* no address is that low */
		return;
	count = callstack_words(&session->trace.flow.callstacks, sample->user, words);
	for (guint i = 0; i < count; i++) {
		GArray *list = i ? program->returns : program->ran;

		if (list->len < FIT_ADDRESSES && may_be_program(words[i]) &&
		    !model_image_at(&session->trace.model, life->host, thread_process(life),
				    words[i], sample->time) &&
		    meet(program, words[i] << 1 | !i))
			g_array_append_val(list, words[i]);
	}
}

static void add_thread(const struct session *session, GHashTable *programs, uint32_t thread)
{
	const struct model *model = &session->trace.model;
	const struct thread *life = model_thread(model, thread);

	for (uint32_t i = 0; i < life->samples.used; i++) {
		const struct sample *sample =
			sample_at(&session->trace.timeline.samples, &life->samples, i);
		const struct loaded_image *image =
			sample->user ? model_program_at(model, life->host, thread_process(life),
							sample->time)
				     : NULL;

		if (image)
			add_stack(session, program_of(programs, session, image), life, sample);
	}
}

/* Reports may come while the trace goes on: what they are of is added then. */
struct programs {
	GHashTable *table; /* owned; number of the image -> struct program */
	uint64_t events; /* of the trace, when samples were gathered last */
};

static void *programs_new(const struct session *session)
{
	struct programs *programs = g_new0(struct programs, 1);

	(void) session;
	programs->table = g_hash_table_new_full(NULL, NULL, NULL, program_free);
	return programs;
}

static void programs_free(void *data)
{
	struct programs *programs = data;

	g_hash_table_destroy(programs->table);
	g_free(programs);
}

static struct programs *programs_of(const struct session *session)
{
	return (struct programs *) session_make_once(session, programs_new, programs_free);
}

static void fit(const struct session *session, struct program *program)
{
	program->fitted = true;
	program->fit =
		binaries_fit(session->found.binaries, program->path,
			     (const uint64_t *) (void *) program->ran->data, program->ran->len,
			     (const uint64_t *) (void *) program->returns->data,
			     program->returns->len);
}

/* Of what is executed then; NULL: it is not known what that is. */
static struct program *program_at(const struct session *session, const struct thread *life,
				  int64_t time)
{
	const struct model *model = &session->trace.model;
	const struct loaded_image *image =
		model_program_at(model, life->host, thread_process(life), time);
	struct programs *programs = programs_of(session);
	struct program *program;

	if (!image)
		return NULL;
	program = program_of(programs->table, session, image);
	if (program->fit.end != FIT_FOUND && programs->events != session->trace.events) {
		programs->events = session->trace.events;
		for (uint32_t i = 0; i < model->thread_count; i++)
			add_thread(session, programs->table, i);
		program->fitted = false;
	}
	if (!program->fitted)
		fit(session, program);
	return program;
}

struct code_place code_place_at(const struct session *session, const struct thread *life,
				uint64_t address, int64_t time)
{
	const struct loaded_image *image = model_image_at(&session->trace.model, life->host,
							  thread_process(life), address, time);
	const struct mapped_file *mapped = NULL;
	struct code_place place = {0};
	const struct program *program;

	if (!image || image->from > time) /* what was loaded later may have been elsewhere */
		mapped = mapped_at(session, life, address, time);
	if (mapped) {
		place.path = mapped->path;
		place.offset = address - mapped->base;
		return place;
	}
	if (image) {
		place.path = session_text(session, image->path);
		place.id = image->build_id;
		place.id_length = image->build_id_length;
		place.offset = address - image->base;
		return place;
	}
	program = may_be_program(address) ? program_at(session, life, time) : NULL;
	if (program) { /* without a place its name is still known */
		place.path = program->path;
		place.offset =
			program->fit.end == FIT_FOUND ? address - program->fit.base : UINT64_MAX;
	}
	return place;
}

static int by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static char *note_of(const struct session *session, const struct program *program)
{
	if (program->fit.end == FIT_FOUND)
		return g_strdup_printf(
			"%s: no event says where it was loaded; 0x%" G_GINT64_MODIFIER
			"x is where its samples fit (%u of %u return addresses are "
			"behind calls there).",
			program->path, (guint64) program->fit.base, program->fit.behind_calls,
			program->fit.returns);
	if (!binaries_has(session->found.binaries, program->path, NULL, 0))
		return NULL; /* the notes of binaries say so */
	return g_strdup_printf("%s: %s, so its functions have no names: %s.", program->path,
			       program->fit.end == FIT_SEVERAL
				       ? "its samples fit several places in memory"
				       : "its samples fit no place in memory",
			       program->fit.end == FIT_SEVERAL
				       ? "more samples tell them apart"
				       : "the file is another build, or was built without frame "
					 "pointers (-fno-omit-frame-pointer keeps them)");
}

GPtrArray *program_notes(const struct session *session)
{
	GPtrArray *notes = g_ptr_array_new_with_free_func(g_free), *binaries;
	GHashTableIter iterator;
	gpointer value;

	if (!session->trace.timeline.samples.used)
		return notes;
	g_hash_table_iter_init(&iterator, programs_of(session)->table);
	while (g_hash_table_iter_next(&iterator, NULL, &value)) {
		const struct program *program = value;
		char *note = program->fitted ? note_of(session, program) : NULL;

		if (note)
			g_ptr_array_add(notes, note);
	}
	g_ptr_array_sort(notes, by_text);
	binaries = binaries_notes(session->found.binaries);
	for (guint i = 0; i < binaries->len; i++)
		g_ptr_array_add(notes, g_strdup(((struct binary_note *) binaries->pdata[i])->text));
	g_ptr_array_free(binaries, TRUE);
	if (!session->found.symbols)
		g_ptr_array_add(notes, g_strdup("The kernel's functions are left out of samples: "
						"there is no kallsyms beside the trace "
						"(--kallsyms FILE says where it is)."));
	return notes;
}
