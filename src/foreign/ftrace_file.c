/* SPDX-License-Identifier: MIT */
/* Headers, sections and options of a trace.dat; see ftrace_file.h.
 *
 * Version 6 is one thing after the other; version 7 has sections, found by options. What is
 * damaged is left out; without any format or any data there is nothing to read.
 */
#include "foreign/ftrace_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "foreign/format.h"
#include "util/error.h"

#define MAGIC "\x17\x08\x44tracing"
#define MAGIC_SIZE 10
#define OPTIONS_MAX 4096 /* sections of options: each leads to the next */
#define CPUS_MAX 65536
#define PAGE_MAX (UINT32_C(1) << 24)

enum option {
	OPTION_DONE,
	OPTION_DATE,
	OPTION_CPUSTAT,
	OPTION_BUFFER,
	OPTION_TRACECLOCK,
	OPTION_UNAME,
	OPTION_OFFSET = 7,
	OPTION_CPUCOUNT = 8,
	OPTION_VERSION = 9,
	OPTION_TSC2NSEC = 14,
	OPTION_HEADERS = 16,
	OPTION_EVENTS = 18,
};

static void buffer_clear(gpointer data)
{
	struct trace_buffer *buffer = data;

	g_free(buffer->name);
	g_free(buffer->clock);
	g_array_free(buffer->cpus, TRUE);
}

void ftrace_file_free(struct ftrace_file *file)
{
	if (!file)
		return;
	g_ptr_array_free(file->tracepoints, TRUE);
	g_array_free(file->buffers, TRUE);
	g_free(file->hostname);
	g_free(file->kernel);
	g_free(file->machine);
	g_free(file->tracer);
	g_free(file->clock);
	g_free(file->trouble);
	mapped_free(file->file);
	g_free(file->path);
	g_free(file);
}

bool ftrace_file_is(const char *path)
{
	FILE *file = fopen(path, "re");
	char head[MAGIC_SIZE];
	bool is = file && fread(head, 1, sizeof head, file) == sizeof head &&
		  memcmp(head, MAGIC, sizeof head) == 0;

	if (file)
		fclose(file);
	return is;
}

static void note_trouble(struct ftrace_file *file, const char *what)
{
	if (!file->trouble)
		file->trouble = g_strdup(what);
}

static void read_formats(struct ftrace_file *file, struct bytes *bytes)
{
	if (!formats_read(bytes, file->tracepoints))
		note_trouble(file, "the descriptions of its events are cut or damaged");
}

/* --- options ------------------------------------------------------------------------------ */

/* "Linux tracebox 6.1.0 x86_64", or with the kernel's build before the machine */
static void read_uname(struct ftrace_file *file, const char *text)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	guint count = g_strv_length(words);

	if (file->hostname || count < 3 || !g_utf8_validate(text, -1, NULL))
		return;
	file->hostname = g_strdup(words[1]);
	file->kernel = g_strdup(words[2]);
	if (count > 3)
		file->machine = g_strdup(words[count - 1]);
}

/* "local [mono] boot", or the word alone */
static char *clock_in(const char *text)
{
	const char *begin = strchr(text, '['), *end = begin ? strchr(begin, ']') : NULL;

	if (end)
		return g_strndup(begin + 1, (gsize) (end - begin - 1));
	return strpbrk(text, " \n") ? NULL : g_strdup(text);
}

static void add_cpu(struct trace_buffer *buffer, uint32_t cpu, uint64_t offset, uint64_t size)
{
	struct cpu_data data = {cpu, offset, size};

	if (size)
		g_array_append_val(buffer->cpus, data);
}

static struct trace_buffer *add_buffer(struct ftrace_file *file, const char *name)
{
	struct trace_buffer buffer = {.name = g_utf8_make_valid(name, -1), .page = file->page};

	buffer.cpus = g_array_new(FALSE, FALSE, sizeof(struct cpu_data));
	g_array_append_val(file->buffers, buffer);
	return &g_array_index(file->buffers, struct trace_buffer, file->buffers->len - 1);
}

/* Version 6: per CPU, in their order, where its data is. */
static void read_cpus(struct trace_buffer *buffer, struct bytes *bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count && i < CPUS_MAX && !bytes->bad; i++) {
		uint64_t offset = bytes_u64(bytes), size = bytes_u64(bytes);

		add_cpu(buffer, i, offset, size);
	}
}

static struct bytes whole(const struct ftrace_file *file)
{
	return (struct bytes) {mapped_bytes(file->file), mapped_length(file->file), 0, file->swap,
			       false};
}

static void read_buffer(struct ftrace_file *file, struct bytes *option)
{
	uint64_t at = bytes_u64(option);
	struct trace_buffer *buffer = add_buffer(file, bytes_text(option));
	struct bytes all = whole(file), place;
	uint32_t count;

	if (file->version < 7) {
		place = bytes_part(&all, at, UINT64_MAX);
		if (strcmp(bytes_text(&place), "flyrecord") == 0)
			read_cpus(buffer, &place, file->cpu_count);
		return;
	}
	buffer->clock = g_utf8_make_valid(bytes_text(option), -1);
	buffer->page = bytes_u32(option);
	count = bytes_u32(option);
	for (uint32_t i = 0; i < count && i < CPUS_MAX && !option->bad; i++) {
		uint32_t cpu = bytes_u32(option);
		uint64_t offset = bytes_u64(option), size = bytes_u64(option);

		if (!option->bad)
			add_cpu(buffer, cpu, offset, size);
	}
	place = bytes_part(&all, at, 16);
	bytes_u16(&place);
	buffer->packed = bytes_u16(&place) & 1;
	if (option->bad || buffer->page < 64 || buffer->page > PAGE_MAX)
		note_trouble(file, "what it says of its buffers is damaged");
	if (buffer->page < 64 || buffer->page > PAGE_MAX)
		buffer->page = file->page;
}

/* A section of version 7, unpacked into `room` where it is packed. Empty: it cannot be read. */
static struct bytes section(struct ftrace_file *file, uint64_t at, uint16_t id, GByteArray *room)
{
	struct bytes all = whole(file), head = bytes_part(&all, at, 16), none = {.bad = true}, part;
	uint16_t found = bytes_u16(&head), flags = bytes_u16(&head);
	uint32_t packed, unpacked;
	uint64_t size;

	bytes_u32(&head);
	size = bytes_u64(&head);
	if (head.bad || found != id)
		return none;
	part = bytes_part(&all, at + 16, size);
	if (!(flags & 1))
		return part;
	packed = bytes_u32(&part);
	unpacked = bytes_u32(&part);
	if (!bytes_take(&part, packed) ||
	    !bytes_unpack(file->packing, part.begin + 8, packed, room, unpacked))
		return none;
	return (struct bytes) {room->data, room->len, 0, file->swap, false};
}

static void read_section(struct ftrace_file *file, uint64_t at, uint16_t id)
{
	g_autoptr(GByteArray) room = g_byte_array_new();
	struct bytes bytes = section(file, at, id, room);

	if (bytes.bad)
		note_trouble(file, "the descriptions of its events are damaged");
	else if (id == OPTION_HEADERS)
		file->word = formats_word(&bytes);
	else
		read_formats(file, &bytes);
}

static void add_offset(struct ftrace_file *file, const char *text, int64_t unit)
{
	int64_t offset;

	if (__builtin_mul_overflow(g_ascii_strtoll(text, NULL, 0), unit, &offset) ||
	    __builtin_add_overflow(file->offset, offset, &file->offset)) {
		note_trouble(file, "its options are cut or damaged");
		file->offset = 0;
	}
}

static void read_option(struct ftrace_file *file, uint16_t id, struct bytes *option)
{
	g_autofree char *text = g_strndup((const char *) option->begin, option->size);

	switch (id) {
	case OPTION_DATE: /* the time of day less the clock's, in µs */
		add_offset(file, text, 1000);
		file->dated = true;
		break;
	case OPTION_OFFSET: /* ns, whatever the user wanted */
		add_offset(file, text, 1);
		break;
	case OPTION_BUFFER:
		read_buffer(file, option);
		break;
	case OPTION_TRACECLOCK:
		if (!file->clock)
			file->clock = clock_in(g_strstrip(text));
		break;
	case OPTION_UNAME:
		read_uname(file, text);
		break;
	case OPTION_CPUCOUNT:
		file->cpu_count = bytes_u32(option);
		break;
	case OPTION_VERSION:
		if (!file->tracer && g_utf8_validate(text, -1, NULL))
			file->tracer = g_strndup(text, strcspn(text, " "));
		break;
	case OPTION_TSC2NSEC:
		file->cycle_multiplier = bytes_u32(option);
		file->cycle_shift = bytes_u32(option);
		break;
	case OPTION_HEADERS:
	case OPTION_EVENTS:
		read_section(file, bytes_u64(option), id);
		break;
	}
}

/* Returns where the next options are, 0: nowhere. */
static uint64_t read_options(struct ftrace_file *file, struct bytes *bytes)
{
	while (!bytes->bad && bytes->at < bytes->size) {
		uint16_t id = bytes_u16(bytes);
		uint32_t size = id == OPTION_DONE && file->version < 7 ? 0 : bytes_u32(bytes);
		struct bytes option = bytes_part(bytes, bytes->at, size);

		if (id == OPTION_DONE)
			return file->version < 7 || bytes->bad ? 0 : bytes_u64(&option);
		if (!bytes_take(bytes, size))
			break;
		read_option(file, id, &option);
	}
	note_trouble(file, "its options are cut or damaged");
	return 0;
}

static void read_sections(struct ftrace_file *file, uint64_t at)
{
	struct bytes all = whole(file);

	for (int i = 0; at && i < OPTIONS_MAX; i++) {
		struct bytes head = bytes_part(&all, at, 16), options;

		if (bytes_u16(&head) != OPTION_DONE || head.bad) {
			note_trouble(file, "its options are cut or damaged");
			return;
		}
		bytes_u16(&head);
		bytes_u32(&head);
		options = bytes_part(&all, at + 16, bytes_u64(&head));
		at = read_options(file, &options);
	}
}

/* --- version 6 ---------------------------------------------------------------------------- */

static void read_in_order(struct ftrace_file *file, struct bytes *bytes)
{
	const uint8_t *word;
	uint64_t size;

	file->word = formats_word(bytes);
	formats_pass_own(bytes);
	read_formats(file, bytes);
	size = bytes_u32(bytes); /* kallsyms */
	bytes_take(bytes, size);
	size = bytes_u32(bytes); /* printk */
	bytes_take(bytes, size);
	size = bytes_u64(bytes); /* command lines */
	bytes_take(bytes, size);
	file->cpu_count = bytes_u32(bytes);
	word = bytes_take(bytes, 10);
	if (word && memcmp(word, "options  ", 10) == 0) {
		read_options(file, bytes);
		word = bytes_take(bytes, 10);
	}
	if (word && memcmp(word, "flyrecord", 10) == 0) {
		struct trace_buffer *buffer = add_buffer(file, "");

		read_cpus(buffer, bytes, file->cpu_count);
	}
	if (bytes->bad)
		note_trouble(file, "it is cut or damaged before its data");
}

/* --- the file ----------------------------------------------------------------------------- */

static enum packing packing_of(struct ftrace_file *file, const char *name)
{
	if (strcmp(name, "zstd") == 0)
		return PACKED_ZSTD;
	if (strcmp(name, "zlib") == 0)
		return PACKED_ZLIB;
	if (strcmp(name, "none") != 0)
		note_trouble(file, "it is packed in a way that is not known");
	return PACKED_NOT;
}

static void read_file(struct ftrace_file *file)
{
	struct bytes bytes = whole(file);

	bytes_take(&bytes, MAGIC_SIZE);
	file->version = (int) g_ascii_strtoll(bytes_text(&bytes), NULL, 10);
	file->big = bytes_u8(&bytes) == 1;
	file->swap = bytes.swap = file->big != (G_BYTE_ORDER == G_BIG_ENDIAN);
	bytes_u8(&bytes);
	file->page = bytes_u32(&bytes);
	if (file->page < 64 || file->page > PAGE_MAX) {
		note_trouble(file, "its header is damaged");
		file->page = 4096;
	}
	if (file->version < 7) {
		read_in_order(file, &bytes);
		return;
	}
	file->packing = packing_of(file, bytes_text(&bytes));
	bytes_text(&bytes); /* its version */
	read_sections(file, bytes_u64(&bytes));
}

static bool has_data(const struct ftrace_file *file)
{
	for (guint i = 0; i < file->buffers->len; i++)
		if (g_array_index(file->buffers, struct trace_buffer, i).cpus->len)
			return true;
	return false;
}

struct ftrace_file *ftrace_file_open(const char *path, GError **error)
{
	struct ftrace_file *file = g_new0(struct ftrace_file, 1);

	file->path = g_strdup(path);
	file->word = 8;
	file->tracepoints = g_ptr_array_new_with_free_func(tracepoint_free);
	file->buffers = g_array_new(FALSE, FALSE, sizeof(struct trace_buffer));
	g_array_set_clear_func(file->buffers, buffer_clear);
	file->file = mapped_new(path);
	if (!file->file)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "cannot read the trace %s: %s", path, g_strerror(errno));
	else
		read_file(file);
	if (file->file && (!has_data(file) || !file->tracepoints->len))
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "%s has no event that could be read: %s", path,
			    file->trouble ? file->trouble : "trace-cmd recorded none");
	else if (file->file)
		return file;
	ftrace_file_free(file);
	return NULL;
}
