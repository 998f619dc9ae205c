/* SPDX-License-Identifier: MIT */
/* Seeking the files of a trace's binaries: see binaries.h. */
#include "symbols/binaries.h"

#include <string.h>

#include "symbols/binary.h"

#define LEVELS_UP 3 /* as for kallsyms: OUT/archives/CHUNK/kernel */
#define DEBUG_PLACE "usr/lib/debug"

/* A file that a trace names. */
struct image_file {
	char *key;              /* owned; path and build-id */
	const char *path, *base; /* borrowed: of key */
	const uint8_t *id;      /* borrowed: of key */
	size_t id_length;
	struct binary *binary;  /* owned; NULL: none that can be used */
	enum binary_state state;
	GString *tried;         /* owned; paths where there was no file */
	GString *refused;       /* owned; what was found and is no use, and why */
	GHashTable *names;      /* owned; offset -> what it is called, borrowed */
	guint nameless;         /* of these, in no function of it */
};

struct binaries {
	GPtrArray *given;       /* owned; absolute paths */
	GPtrArray *beside;      /* owned; directories */
	char *debug;            /* owned; for libdw */
	GHashTable *files;      /* owned; key (GBytes) -> struct image_file */
	GQueue awake;           /* struct image_file, borrowed; the one asked last first */
	GStringChunk *texts;    /* owned; all names, each once */
};

static void file_free(void *data)
{
	struct image_file *file = data;

	binary_free(file->binary);
	g_hash_table_destroy(file->names);
	g_string_free(file->tried, TRUE);
	g_string_free(file->refused, TRUE);
	g_free(file->key);
	g_free(file);
}

struct binaries *binaries_new(const GPtrArray *given, const char *beside)
{
	struct binaries *binaries = g_new0(struct binaries, 1);
	GString *debug = g_string_new(":.debug"); /* beside the binary, and in .debug there */
	g_autofree char *directory = g_strdup(beside);

	binaries->given = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; given && i < given->len; i++) {
		char *whole = g_canonicalize_filename(g_ptr_array_index(given, i), NULL);

		g_ptr_array_add(binaries->given, whole);
		g_string_append_printf(debug, ":%s:%s/" DEBUG_PLACE, whole, whole);
	}
	g_string_append(debug, ":/" DEBUG_PLACE);
	binaries->debug = g_string_free(debug, FALSE);
	binaries->beside = g_ptr_array_new_with_free_func(g_free);
	for (int level = 0; directory && level <= LEVELS_UP; level++) {
		char *above = g_path_get_dirname(directory);

		g_ptr_array_add(binaries->beside, directory);
		directory = above;
	}
	binaries->files = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
						(GDestroyNotify) g_bytes_unref, file_free);
	binaries->texts = g_string_chunk_new(4096);
	g_queue_init(&binaries->awake);
	return binaries;
}

void binaries_free(struct binaries *binaries)
{
	if (!binaries)
		return;
	g_queue_clear(&binaries->awake);
	g_hash_table_destroy(binaries->files);
	g_ptr_array_free(binaries->given, TRUE);
	g_ptr_array_free(binaries->beside, TRUE);
	g_string_chunk_free(binaries->texts);
	g_free(binaries->debug);
	g_free(binaries);
}

/* --- finding --------------------------------------------------------------- */

static enum binary_state state_of(const struct image_file *file, const struct binary *binary)
{
	switch (binary_trouble(binary)) {
	case CODE_FINE:
		return file->id_length ? BINARY_NAMED : BINARY_UNCHECKED;
	case CODE_EXPORTS:
		return BINARY_EXPORTS;
	case CODE_STRIPPED:
		return BINARY_STRIPPED;
	case CODE_OTHER_ID:
		return BINARY_OTHER;
	case CODE_NOT_ELF:
	case CODE_UNREADABLE:
		break;
	}
	return BINARY_UNREADABLE;
}

/* A stripped one of the right build says more than another build, and that more than what is no
 * binary at all. */
static int rank(enum binary_state state)
{
	static const int ranks[] = {
		[BINARY_NAMED] = 6,    [BINARY_UNCHECKED] = 5, [BINARY_EXPORTS] = 4,
		[BINARY_STRIPPED] = 3, [BINARY_OTHER] = 2,     [BINARY_UNREADABLE] = 1,
		[BINARY_MISSING] = 0};

	return ranks[state];
}

/* Tries the file at `place` (owned by this); true: nothing better can be found. */
static bool try_file(const struct binaries *binaries, struct image_file *file, char *place)
{
	g_autofree char *path = place;
	struct binary *binary;
	enum binary_state state;

	if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
		g_string_append_printf(file->tried, "%s%s", file->tried->len ? ", " : "", path);
		return false;
	}
	binary = binary_open(path, file->id, file->id_length, binaries->debug);
	state = state_of(file, binary);
	if (binary_why(binary))
		g_string_append_printf(file->refused, "%s%s %s", file->refused->len ? "; " : "",
				       path, binary_why(binary));
	if (rank(state) > rank(file->state))
		file->state = state;
	if (binary_is_open(binary) && file->state == state) { /* better than another, if any */
		binary_free(file->binary);
		file->binary = g_steal_pointer(&binary);
	}
	binary_free(binary);
	return state == BINARY_NAMED || state == BINARY_UNCHECKED;
}

/* ".build-id/ab/cdef….debug" below `place` (owned by this). */
static bool try_debug_file(const struct binaries *binaries, struct image_file *file, char *place)
{
	g_autofree char *directory = place, *id = build_id_text(file->id, file->id_length);
	g_autofree char *name = g_strconcat(id + 2, ".debug", NULL);

	id[2] = 0;
	return try_file(binaries, file, g_build_filename(directory, ".build-id", id, name, NULL));
}

static void find_debug_file(const struct binaries *binaries, struct image_file *file)
{
	if (file->id_length < 2)
		return;
	for (guint i = 0; i < binaries->given->len; i++) {
		const char *directory = g_ptr_array_index(binaries->given, i);

		if (try_debug_file(binaries, file, g_strdup(directory)) ||
		    try_debug_file(binaries, file, g_build_filename(directory, DEBUG_PLACE, NULL)))
			return;
	}
	try_debug_file(binaries, file, g_strdup("/" DEBUG_PLACE));
}

static void find(const struct binaries *binaries, struct image_file *file)
{
	bool has_place = *file->path == '/'; /* not as "[vdso]" */

	for (guint i = 0; has_place && i < binaries->given->len; i++) {
		const char *directory = g_ptr_array_index(binaries->given, i);

		if (try_file(binaries, file, g_build_filename(directory, file->path, NULL)) ||
		    try_file(binaries, file, g_build_filename(directory, file->base, NULL)))
			return;
	}
	for (guint i = 0; has_place && i < binaries->beside->len; i++) {
		const char *directory = g_ptr_array_index(binaries->beside, i);

		if (try_file(binaries, file, g_build_filename(directory, file->base, NULL)) ||
		    try_file(binaries, file, g_build_filename(directory, "bin", file->base, NULL)))
			return;
	}
	if (has_place && file->id_length && try_file(binaries, file, g_strdup(file->path)))
		return;
	find_debug_file(binaries, file);
}

static struct image_file *file_of(struct binaries *binaries, const char *path, const uint8_t *id,
				  size_t id_length)
{
	size_t length = strlen(path) + 1;
	size_t whole = length + (id_length = MIN(id_length, CODE_ID_MAX));
	char *key = g_malloc(whole);
	struct image_file *file;
	GBytes *bytes;

	memcpy(key, path, length);
	if (id_length)
		memcpy(key + length, id, id_length);
	bytes = g_bytes_new_static(key, whole);
	file = g_hash_table_lookup(binaries->files, bytes);
	if (file) {
		g_bytes_unref(bytes);
		g_free(key);
		return file;
	}
	file = g_new0(struct image_file, 1);
	file->key = key;
	file->path = key;
	file->base = strrchr(key, '/') && strrchr(key, '/')[1] ? strrchr(key, '/') + 1 : key;
	file->id = (const uint8_t *) key + length;
	file->id_length = id_length;
	file->state = BINARY_MISSING;
	file->names = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	file->tried = g_string_new(NULL);
	file->refused = g_string_new(NULL);
	g_hash_table_insert(binaries->files, bytes, file);
	find(binaries, file);
	return file;
}

/* --- asking ---------------------------------------------------------------- */

/* Puts those asleep that were asked longest ago. */
static void keep_few_awake(struct binaries *binaries, struct image_file *asked)
{
	if (g_queue_peek_head(&binaries->awake) == asked)
		return;
	g_queue_remove(&binaries->awake, asked);
	g_queue_push_head(&binaries->awake, asked);
	while (g_queue_get_length(&binaries->awake) > BINARIES_AWAKE) {
		struct image_file *oldest = g_queue_pop_tail(&binaries->awake);

		binary_rest(oldest->binary);
	}
}

static const struct code *code_of(struct binaries *binaries, struct image_file *file,
				  uint64_t offset)
{
	const struct code *code;

	if (!file->binary || !binary_is_open(file->binary))
		return NULL;
	keep_few_awake(binaries, file);
	code = binary_at(file->binary, offset);
	if (!binary_is_open(file->binary)) {
		file->state = BINARY_UNREADABLE;
		g_string_printf(file->refused, "%s %s", binary_path(file->binary),
				binary_why(file->binary));
	}
	return code;
}

const struct code *binaries_code(struct binaries *binaries, const char *path, const uint8_t *id,
				 size_t id_length, uint64_t offset)
{
	return code_of(binaries, file_of(binaries, path, id, id_length), offset);
}

bool binaries_has(struct binaries *binaries, const char *path, const uint8_t *id, size_t id_length)
{
	const struct image_file *file = file_of(binaries, path, id, id_length);

	return file->binary && binary_is_open(file->binary);
}

struct site binaries_site(struct binaries *binaries, const char *path, const uint8_t *id,
			  size_t id_length, uint64_t offset)
{
	struct image_file *file = file_of(binaries, path, id, id_length);

	if (!file->binary || !binary_is_open(file->binary))
		return (struct site) {SITE_UNKNOWN, 0};
	keep_few_awake(binaries, file);
	return binary_site(file->binary, offset);
}

struct fit binaries_fit(struct binaries *binaries, const char *path, const uint64_t *ran,
			size_t ran_count, const uint64_t *returns, size_t returns_count)
{
	struct image_file *file = file_of(binaries, path, NULL, 0);

	if (!file->binary || !binary_is_open(file->binary))
		return (struct fit) {.end = FIT_NONE};
	keep_few_awake(binaries, file);
	return binary_fit(file->binary, ran, ran_count, returns, returns_count);
}

static const char *keep(struct binaries *binaries, const char *text)
{
	return g_string_chunk_insert_const(binaries->texts, text);
}

static const char *name_of(struct binaries *binaries, struct image_file *file, uint64_t offset)
{
	const struct code *code = code_of(binaries, file, offset);
	g_autofree char *text = NULL;

	if (code && g_array_index(code->frames, struct code_frame, 0).function)
		return keep(binaries, g_array_index(code->frames, struct code_frame, 0).function);
	file->nameless++;
	text = g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x", file->base, (guint64) offset);
	return keep(binaries, text);
}

const char *binaries_function(struct binaries *binaries, const char *path, const uint8_t *id,
			      size_t id_length, uint64_t base, uint64_t address)
{
	struct image_file *file = file_of(binaries, path, id, id_length);
	uint64_t offset = address - base;
	const char *name = g_hash_table_lookup(file->names, &offset);

	if (name)
		return name;
	if (g_hash_table_size(file->names) >= BINARY_ADDRESSES_MAX)
		return file->base;
	name = name_of(binaries, file, offset);
	g_hash_table_insert(file->names, g_memdup2(&offset, sizeof offset), (void *) name);
	return name;
}

const char *binaries_address(struct binaries *binaries, uint64_t address)
{
	char text[32];

	g_snprintf(text, sizeof text, "0x%" G_GINT64_MODIFIER "x", (guint64) address);
	return keep(binaries, text);
}

/* --- what is to be said ----------------------------------------------------- */

static char *missing_text(const struct image_file *file)
{
	if (*file->path != '/')
		return g_strdup_printf("%s has no file: its functions have no names here.",
				       file->path);
	return g_strdup_printf("%s was not found: its functions have no names here. Tried: "
			       "%s. --binary-path DIR says where it is.",
			       file->path, file->tried->str);
}

static char *note_text(const struct image_file *file)
{
	switch (file->state) {
	case BINARY_NAMED:
		return file->nameless ? g_strdup_printf("%s: %u addresses are in no function that "
							"%s names.",
							file->path, file->nameless,
							binary_path(file->binary))
				      : NULL;
	case BINARY_UNCHECKED:
		return g_strdup_printf("%s was taken for the traced %s unchecked: the trace does "
				       "not say its build-id.",
				       binary_path(file->binary), file->path);
	case BINARY_EXPORTS:
		return file->nameless
			       ? g_strdup_printf("%s: %u addresses are not named: %s.", file->path,
						 file->nameless, file->refused->str)
			       : NULL;
	case BINARY_MISSING:
		return missing_text(file);
	case BINARY_OTHER:
	case BINARY_STRIPPED:
	case BINARY_UNREADABLE:
		break;
	}
	return g_strdup_printf("%s: its functions have no names here: %s.", file->path,
			       file->refused->str);
}

static void free_note(void *data)
{
	struct binary_note *note = data;

	g_free(note->text);
	g_free(note);
}

/* By path, then by build-id. */
static int by_path(gconstpointer a, gconstpointer b)
{
	const struct image_file *x = *(const struct image_file *const *) a;
	const struct image_file *y = *(const struct image_file *const *) b;
	int order = strcmp(x->path, y->path);

	if (!order && x->id_length != y->id_length)
		order = x->id_length < y->id_length ? -1 : 1;
	return order ? order : memcmp(x->id, y->id, x->id_length);
}

GPtrArray *binaries_notes(const struct binaries *binaries)
{
	GPtrArray *notes = g_ptr_array_new_with_free_func(free_note);
	GPtrArray *files = g_ptr_array_new();
	GHashTableIter iterator;
	void *file;

	g_hash_table_iter_init(&iterator, binaries->files);
	while (g_hash_table_iter_next(&iterator, NULL, &file))
		g_ptr_array_add(files, file);
	g_ptr_array_sort(files, by_path);
	for (guint i = 0; i < files->len; i++) {
		const struct image_file *one = g_ptr_array_index(files, i);
		struct binary_note *note;
		char *text = note_text(one);

		if (!text)
			continue;
		note = g_new(struct binary_note, 1);
		*note = (struct binary_note) {one->path, one->state, text};
		g_ptr_array_add(notes, note);
	}
	g_ptr_array_free(files, TRUE);
	return notes;
}
