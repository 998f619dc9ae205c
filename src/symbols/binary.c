/* SPDX-License-Identifier: MIT */
/* Questions to the child that reads a binary, and its answers: see binary.h.
 *
 *   the child opens the file before its first answer
 *   question: the address, 8 bytes; OPENING: how the file was opened; longer: what is asked, the
 *     number of addresses that ran, the addresses, 8 each
 *   answer to SITE and FIT: struct site, struct fit
 *   answer to OPENING: trouble, 1 byte; why, text
 *   answer to others: number of frames, 1 byte; start, size, 8 each; frames: function, file, text
 *     each; line, 4 bytes; symbol, text
 *   text: its bytes, and a 0; empty: not known
 */
#include "symbols/binary.h"

#include <string.h>

#include "confine/confined.h"

#define OPENING UINT64_MAX
enum { ASK_SITE = 1, ASK_FIT };
#define FRAMES_MAX 40 /* that fit into a message, with the longest texts */
#define FUNCTION_MAX 1000
#define FILE_MAX 500
#define WHY_MAX 1000

struct binary {
	char *path, *debug;
	uint8_t id[CODE_ID_MAX];
	size_t id_length;
	struct confined *confined;
	GByteArray *answer;
	GHashTable *known; /* uint64_t -> struct code, NULL if nothing is known */
	GHashTable *sites; /* uint64_t -> struct site */
	enum code_trouble trouble;
	char *why;
	bool awake;

	/* only in the child */
	struct code_file *file;
	bool tried;
	enum code_trouble opened;
	char *problem;
};

/* --- the child ------------------------------------------------------------- */

static void put_text(GByteArray *answer, const char *text)
{
	g_byte_array_append(answer, (const guint8 *) (text ? text : ""),
			    (guint) strlen(text ? text : "") + 1);
}

/* The begin of a long name, the end of a long path. */
static void put_shortened(GByteArray *answer, const char *text, size_t most, bool end)
{
	static const char dots[] = "…";
	size_t length = text ? strlen(text) : 0, kept = most - strlen(dots);

	if (length > most && end)
		g_byte_array_append(answer, (const guint8 *) dots, (guint) strlen(dots));
	if (length > most)
		g_byte_array_append(answer, (const guint8 *) (end ? text + length - kept : text),
				    (guint) kept);
	put_text(answer, length <= most ? text : end ? "" : dots);
}

static void put_frame(GByteArray *answer, const struct code_frame *frame)
{
	put_shortened(answer, frame->function, FUNCTION_MAX, false);
	put_shortened(answer, frame->file, FILE_MAX, true);
	g_byte_array_append(answer, (const guint8 *) &frame->line, sizeof frame->line);
}

static void put_code(GByteArray *answer, const struct code *code)
{
	guint count = code->frames->len;
	guint8 kept = (guint8) MIN(count, FRAMES_MAX);

	g_byte_array_append(answer, &kept, 1);
	g_byte_array_append(answer, &code->frame, 1);
	g_byte_array_append(answer, (const guint8 *) &code->start, sizeof code->start);
	g_byte_array_append(answer, (const guint8 *) &code->size, sizeof code->size);
	for (guint i = 0; i < kept; i++) /* of too many the last, which is the function */
		put_frame(answer, &g_array_index(code->frames, struct code_frame,
						 i + 1 < kept ? i : count - 1));
	/* one that is cut is no symbol */
	put_text(answer,
		 code->symbol && strlen(code->symbol) <= FUNCTION_MAX ? code->symbol : NULL);
}

static void serve_longer(struct binary *binary, const uint64_t *words, size_t count,
			 GByteArray *answer)
{
	uint64_t ran = MIN(words[1], count - 2);

	if (!binary->file)
		return;
	if (words[0] == ASK_SITE) {
		struct site site = site_before(binary->file, words[2]);

		g_byte_array_append(answer, (const guint8 *) &site, sizeof site);
	} else {
		struct fit fit =
			fit_base(binary->file, words + 2, ran, words + 2 + ran, count - 2 - ran);

		g_byte_array_append(answer, (const guint8 *) &fit, sizeof fit);
	}
}

static void serve(void *data, const void *question, size_t length, GByteArray *answer)
{
	struct binary *binary = data;
	uint64_t address = OPENING, words[2 + 2 * FIT_ADDRESSES];
	struct code code;

	memcpy(&address, question, MIN(length, sizeof address));
	if (!binary->tried)
		binary->opened = code_open(binary->path, binary->id, binary->id_length,
					   binary->debug, &binary->file, &binary->problem);
	binary->tried = true;
	if (address == OPENING) {
		guint8 trouble = (guint8) binary->opened;

		g_byte_array_append(answer, &trouble, 1);
		put_shortened(answer, binary->problem, WHY_MAX, false);
		return;
	}
	if (length >= 3 * sizeof *words) {
		memcpy(words, question, MIN(length, sizeof words));
		serve_longer(binary, words, MIN(length, sizeof words) / sizeof *words, answer);
		return;
	}
	code_init(&code);
	if (binary->file && code_at(binary->file, address, &code))
		code.frame = (uint8_t) frame_made_at(binary->file, code.start, code.size);
	put_code(answer, &code);
	code_clear(&code);
}

/* --- the parent: an answer may be anything ---------------------------------- */

struct reading {
	const guint8 *at, *end;
	bool bad;
};

static void take(struct reading *reading, void *to, size_t size)
{
	if (reading->bad || (size_t) (reading->end - reading->at) < size) {
		reading->bad = true;
		memset(to, 0, size);
		return;
	}
	memcpy(to, reading->at, size);
	reading->at += size;
}

/* Valid UTF-8 without control characters; NULL: empty. */
static char *take_text(struct reading *reading)
{
	size_t left = (size_t) (reading->end - reading->at);
	const guint8 *end = reading->bad || !left ? NULL : memchr(reading->at, 0, left);
	char *text;

	if (!end) {
		reading->bad = true;
		return NULL;
	}
	text = end > reading->at ? g_utf8_make_valid((const char *) reading->at, end - reading->at)
				 : NULL;
	reading->at = end + 1;
	for (char *c = text; c && *c; c++)
		if (g_ascii_iscntrl(*c))
			*c = '?';
	return text;
}

static void free_code(void *data)
{
	struct code *code = data;

	if (code)
		code_clear(code);
	g_free(code);
}

/* NULL: nothing is known; `reading->bad`: it is no answer. */
static struct code *take_code(struct reading *reading)
{
	struct code *code = g_new(struct code, 1);
	guint8 count = 0;

	code_init(code);
	take(reading, &count, 1);
	take(reading, &code->frame, 1);
	reading->bad |= code->frame >= OWN_FRAMES;
	take(reading, &code->start, sizeof code->start);
	take(reading, &code->size, sizeof code->size);
	for (guint i = 0; i < count && !reading->bad; i++) {
		struct code_frame frame = {0};

		frame.function = take_text(reading);
		frame.file = take_text(reading);
		take(reading, &frame.line, sizeof frame.line);
		g_array_append_val(code->frames, frame);
	}
	code->symbol = take_text(reading);
	if (!reading->bad && count)
		return code;
	free_code(code);
	return NULL;
}

static void give_up(struct binary *binary, char *why)
{
	confined_stop(binary->confined);
	binary->awake = false;
	g_free(binary->why);
	binary->trouble = CODE_UNREADABLE;
	binary->why = why;
}

static bool ask_words(struct binary *binary, const uint64_t *words, size_t count,
		      struct reading *reading)
{
	enum confined_end end = confined_ask(binary->confined, words, count * sizeof *words,
					     binary->answer, BINARY_TIMEOUT);
	const char *why = confined_why(binary->confined);

	binary->awake = end == CONFINED_ANSWERED;
	*reading = (struct reading) {binary->answer->data,
				     binary->answer->data + binary->answer->len, false};
	if (end == CONFINED_CRASHED)
		give_up(binary, g_strdup_printf("is damaged: elfutils, which reads it, crashed "
						"(%s)",
						why));
	else if (end == CONFINED_SLOW)
		give_up(binary, g_strdup_printf("is damaged or very large: elfutils, which reads "
						"it, gave %s",
						why));
	else if (end == CONFINED_NONE)
		give_up(binary, g_strdup_printf("was not read: no process for it: %s", why));
	return binary->awake;
}

static bool ask(struct binary *binary, uint64_t address, struct reading *reading)
{
	return ask_words(binary, &address, 1, reading);
}

bool binary_is_open(const struct binary *binary)
{
	return binary->trouble == CODE_FINE || binary->trouble == CODE_EXPORTS;
}

static void open_it(struct binary *binary)
{
	struct reading reading;
	guint8 trouble = 0;
	char *why;

	if (!ask(binary, OPENING, &reading))
		return;
	take(&reading, &trouble, 1);
	why = take_text(&reading);
	if (reading.bad || trouble > CODE_STRIPPED || (trouble == CODE_FINE) != !why) {
		g_free(why);
		give_up(binary, g_strdup("is damaged: elfutils made no sense of it"));
		return;
	}
	binary->trouble = (enum code_trouble) trouble;
	binary->why = why;
	if (!binary_is_open(binary))
		binary_rest(binary);
}

struct binary *binary_open(const char *path, const uint8_t *id, size_t id_length, const char *debug)
{
	struct binary *binary = g_new0(struct binary, 1);

	binary->path = g_strdup(path);
	binary->debug = g_strdup(debug);
	binary->id_length = MIN(id_length, CODE_ID_MAX);
	if (id_length)
		memcpy(binary->id, id, binary->id_length);
	binary->answer = g_byte_array_new();
	binary->known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_code);
	binary->sites = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	binary->confined = confined_new(serve, binary);
	open_it(binary);
	return binary;
}

void binary_free(struct binary *binary)
{
	if (!binary)
		return;
	confined_free(binary->confined);
	g_hash_table_destroy(binary->known);
	g_hash_table_destroy(binary->sites);
	g_byte_array_free(binary->answer, TRUE);
	g_free(binary->why);
	g_free(binary->path);
	g_free(binary->debug);
	g_free(binary);
}

enum code_trouble binary_trouble(const struct binary *binary)
{
	return binary->trouble;
}

const char *binary_why(const struct binary *binary)
{
	return binary->why;
}

const char *binary_path(const struct binary *binary)
{
	return binary->path;
}

const struct code *binary_at(struct binary *binary, uint64_t address)
{
	struct code *code = NULL;
	struct reading reading;
	void *found;

	if (g_hash_table_lookup_extended(binary->known, &address, NULL, &found))
		return found;
	if (!binary_is_open(binary) || address == OPENING ||
	    g_hash_table_size(binary->known) >= BINARY_ADDRESSES_MAX ||
	    !ask(binary, address, &reading))
		return NULL;
	code = take_code(&reading);
	if (reading.bad) {
		give_up(binary, g_strdup("is damaged: elfutils made no sense of it"));
		return NULL;
	}
	g_hash_table_insert(binary->known, g_memdup2(&address, sizeof address), code);
	return code;
}

struct site binary_site(struct binary *binary, uint64_t address)
{
	uint64_t question[] = {ASK_SITE, 1, address};
	struct site site = {SITE_UNKNOWN, 0}, *known;
	struct reading reading;

	known = g_hash_table_lookup(binary->sites, &address);
	if (known)
		return *known;
	if (!binary_is_open(binary) || g_hash_table_size(binary->sites) >= BINARY_ADDRESSES_MAX ||
	    !ask_words(binary, question, G_N_ELEMENTS(question), &reading))
		return site;
	take(&reading, &site, sizeof site);
	if (reading.bad || site.kind >= SITE_KINDS)
		site = (struct site) {SITE_UNKNOWN, 0};
	g_hash_table_insert(binary->sites, g_memdup2(&address, sizeof address),
			    g_memdup2(&site, sizeof site));
	return site;
}

struct fit binary_fit(struct binary *binary, const uint64_t *ran, size_t ran_count,
		      const uint64_t *returns, size_t returns_count)
{
	uint64_t question[2 + 2 * FIT_ADDRESSES] = {ASK_FIT, MIN(ran_count, FIT_ADDRESSES)};
	size_t behind = MIN(returns_count, FIT_ADDRESSES);
	struct fit fit = {.end = FIT_NONE}, none = fit;
	struct reading reading;

	memcpy(question + 2, ran, question[1] * sizeof *ran);
	memcpy(question + 2 + question[1], returns, behind * sizeof *returns);
	if (!binary_is_open(binary) || question[1] + behind == 0 ||
	    !ask_words(binary, question, 2 + question[1] + behind, &reading))
		return none;
	take(&reading, &fit, sizeof fit);
	return reading.bad || fit.end >= FIT_ENDS ? none : fit;
}

void binary_rest(struct binary *binary)
{
	confined_stop(binary->confined);
	binary->awake = false;
}

bool binary_is_awake(const struct binary *binary)
{
	return binary->awake;
}
