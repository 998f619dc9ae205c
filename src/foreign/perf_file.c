/* SPDX-License-Identifier: MIT */
/* Header, attributes, features and runs of a perf.data; see perf_file.h. */
#include "foreign/perf_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "foreign/format.h"
#include "util/error.h"

#define MAGIC_LITTLE "PERFILE2"
#define MAGIC_BIG "2ELIFREP"
#define PIPE_HEADER 16
#define CPUS_MAX 65536
#define IDS_MAX (UINT64_C(1) << 20) /* of one kind of event: one for each CPU or thread */

enum feature {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_DIRECTORY = 24,
	FEATURE_CLOCK_DATA = 29,
	FEATURES = 256,
};

#define TYPE_SOFTWARE 1
#define CONFIG_DUMMY 9 /* for records that are no samples */
#define FLAG_FREQUENCY 10 /* of perf_event_attr's bits: freq */
#define MISC_MMAP_BUILD_ID (1 << 14)
#define GONE " (deleted)" /* the kernel's */
#define PROTECTION_EXEC 4

static void cpu_free(gpointer data)
{
	struct perf_cpu *cpu = data;

	g_array_free(cpu->runs, TRUE);
	g_free(cpu);
}

static void thread_clear(gpointer data)
{
	g_free(((struct perf_thread *) data)->name);
}

void perf_file_free(struct perf_file *file)
{
	if (!file)
		return;
	g_ptr_array_free(file->tracepoints, TRUE);
	g_array_free(file->attributes, TRUE);
	g_hash_table_destroy(file->by_id);
	g_ptr_array_free(file->cpus, TRUE);
	g_array_free(file->threads, TRUE);
	g_hash_table_destroy(file->by_tid);
	g_hash_table_destroy(file->build_ids);
	g_string_chunk_free(file->texts);
	g_array_free(file->maps, TRUE);
	g_hash_table_destroy(file->in_exec);
	g_array_free(file->told, TRUE);
	g_free(file->hostname);
	g_free(file->kernel);
	g_free(file->machine);
	g_free(file->version);
	g_free(file->trouble);
	mapped_free(file->unpacked);
	mapped_free(file->file);
	g_free(file->path);
	g_free(file);
}

bool perf_file_is(const char *path)
{
	FILE *file = fopen(path, "re");
	char head[8];
	bool is = file && fread(head, 1, sizeof head, file) == sizeof head &&
		  (memcmp(head, MAGIC_LITTLE, 8) == 0 || memcmp(head, MAGIC_BIG, 8) == 0);

	if (file)
		fclose(file);
	return is;
}

static void note_trouble(struct perf_file *file, const char *what)
{
	if (!file->trouble)
		file->trouble = g_strdup(what);
}

/* --- attributes and features -------------------------------------------------------------- */

bool perf_samples(const struct perf_attribute *attribute)
{
	return attribute->type != PERF_TYPE_TRACEPOINT &&
	       !(attribute->type == TYPE_SOFTWARE && attribute->config == CONFIG_DUMMY);
}

/* struct perf_event_attr; `attr` is just that. */
static struct perf_attribute attribute_in(struct bytes *attr)
{
	struct perf_attribute attribute = {.type = bytes_u32(attr)};
	uint64_t flags, period;
	bool big = attr->swap != (G_BYTE_ORDER == G_BIG_ENDIAN);

	bytes_u32(attr); /* size */
	attribute.config = bytes_u64(attr);
	period = bytes_u64(attr);
	attribute.sample_type = bytes_u64(attr);
	attribute.read_format = bytes_u64(attr);
	flags = bytes_u64(attr);
	attribute.sample_id_all = flags >> (big ? 63 - 18 : 18) & 1;
	attribute.some_only =
		attribute.type == PERF_TYPE_TRACEPOINT &&
		(period > 1 || flags >> (big ? 63 - FLAG_FREQUENCY : FLAG_FREQUENCY) & 1);
	return attribute;
}

static void add_attribute(struct perf_file *file, struct bytes *attr, struct bytes *ids)
{
	struct perf_attribute attribute = attribute_in(attr);

	if (attr->bad || ids->size / 8 > IDS_MAX) {
		note_trouble(file, "its attributes are cut or damaged");
		return;
	}
	if (attribute.some_only)
		note_trouble(file, "not every event is in it: perf record -F or -c took some of "
				   "them only; -c 1 takes all");
	file->stacks |= perf_samples(&attribute) || attribute.sample_type & SAMPLE_CALLCHAIN;
	g_array_append_val(file->attributes, attribute);
	while (ids->size - ids->at >= 8) {
		gint64 id = (gint64) bytes_u64(ids);

		g_hash_table_insert(file->by_id, g_memdup2(&id, sizeof id),
				    GUINT_TO_POINTER(file->attributes->len));
	}
}

static void read_attributes(struct perf_file *file, const struct bytes *all, struct bytes part,
			    uint64_t entry)
{
	while (entry > 64 && part.size - part.at >= entry) {
		struct bytes attr = bytes_part(&part, part.at, entry - 16);
		struct bytes place = bytes_part(&part, part.at + entry - 16, 16), ids;
		uint64_t offset = bytes_u64(&place);

		ids = bytes_part(all, offset, bytes_u64(&place));
		add_attribute(file, &attr, &ids);
		bytes_take(&part, entry);
	}
}

/* What is told twice is as it was told first. */
static void take_text(struct bytes *bytes, char **to)
{
	uint32_t size = bytes_u32(bytes);
	const uint8_t *text = bytes_take(bytes, size);
	g_autofree char *copy = text ? g_strndup((const char *) text, size) : NULL;

	if (!*to && copy && *copy && g_utf8_validate(copy, -1, NULL))
		*to = g_steal_pointer(&copy);
}

/* As trace-cmd writes them in a file of its own. */
static void read_tracing_data(struct perf_file *file, struct bytes *bytes)
{
	bytes_take(bytes, 10); /* its magic */
	bytes_text(bytes); /* version */
	bytes->swap = (bytes_u8(bytes) == 1) != (G_BYTE_ORDER == G_BIG_ENDIAN);
	bytes_take(bytes, 1 + 4); /* words, pages */
	formats_word(bytes);
	formats_pass_own(bytes);
	if (!formats_read(bytes, file->tracepoints))
		note_trouble(file, "the descriptions of its events are cut or damaged");
}

/* Those of files that were replaced meanwhile have the kernel's word behind them. */
static const char *keep_path(const struct perf_file *file, const char *path)
{
	g_autofree char *whole = g_utf8_make_valid(path, -1);

	if (g_str_has_suffix(whole, GONE))
		whole[strlen(whole) - strlen(GONE)] = '\0';
	return g_string_chunk_insert_const(file->texts, whole);
}

static void set_build_id(const struct perf_file *file, struct perf_map *map, struct bytes id)
{
	const struct perf_map *known = g_hash_table_lookup(file->build_ids, map->path);

	if (!id.size && known) {
		memcpy(map->id, known->id, sizeof map->id);
		map->id_size = known->id_size;
		return;
	}
	while (id.size > BUILD_ID_SHORT && !id.begin[id.size - 1])
		id.size--; /* one of 16 bytes is filled up */
	map->id_size = id.size == BUILD_ID_SHORT ? BUILD_ID_SHORT : id.size ? BUILD_ID_SIZE : 0;
	if (id.size && id.size <= BUILD_ID_SIZE)
		memcpy(map->id, id.begin, id.size);
}

/* Records: head, PID, the build-id, padding, path. */
static void read_build_ids(struct perf_file *file, struct bytes *bytes)
{
	while (bytes->size - bytes->at >= PERF_HEAD) {
		struct bytes record = bytes_part(bytes, bytes->at, UINT64_MAX), id;
		struct perf_map map = {0};
		uint16_t size;

		bytes_take(&record, 6);
		size = bytes_u16(&record);
		if (size < PERF_HEAD || !bytes_take(bytes, size))
			return;
		record = bytes_part(&record, PERF_HEAD + 4, size - PERF_HEAD);
		id = bytes_part(&record, 0, BUILD_ID_SIZE);
		bytes_take(&record, BUILD_ID_SIZE + 4);
		map.path = keep_path(file, bytes_text(&record));
		set_build_id(file, &map, id);
		if (!record.bad)
			g_hash_table_insert(file->build_ids, (char *) map.path,
					    g_memdup2(&map, sizeof map));
	}
}

static void read_feature(struct perf_file *file, uint64_t feature, struct bytes *bytes)
{
	uint64_t of_day, of_clock;

	switch (feature) {
	case FEATURE_TRACING_DATA:
		read_tracing_data(file, bytes);
		break;
	case FEATURE_BUILD_ID:
		read_build_ids(file, bytes);
		break;
	case FEATURE_HOSTNAME:
		take_text(bytes, &file->hostname);
		break;
	case FEATURE_OSRELEASE:
		take_text(bytes, &file->kernel);
		break;
	case FEATURE_VERSION:
		take_text(bytes, &file->version);
		break;
	case FEATURE_ARCH:
		take_text(bytes, &file->machine);
		break;
	case FEATURE_DIRECTORY:
		file->in_parts = true;
		break;
	case FEATURE_CLOCK_DATA:
		bytes_u32(bytes); /* version */
		file->clock = bytes_u32(bytes);
		of_day = bytes_u64(bytes);
		of_clock = bytes_u64(bytes);
		file->dated = !bytes->bad;
		file->offset = file->dated ? (int64_t) (of_day - of_clock) : 0;
		break;
	}
}

static void read_features(struct perf_file *file, const struct bytes *all, uint64_t at,
			  const uint8_t *flags)
{
	struct bytes table = bytes_part(all, at, UINT64_MAX);

	for (unsigned i = 0; i < FEATURES; i++) {
		uint64_t word = bytes_as_u64(flags + i / 64 * 8, file->swap), offset, size;
		struct bytes feature;

		if (!(word >> i % 64 & 1))
			continue;
		offset = bytes_u64(&table);
		size = bytes_u64(&table);
		feature = bytes_part(all, offset, size);
		if (!table.bad)
			read_feature(file, i, &feature);
	}
	if (table.bad)
		note_trouble(file, "its end is cut off: perf did not finish it");
}

/* --- stamps ------------------------------------------------------------------------------- */

static const struct perf_attribute *attribute_of(const struct perf_file *file, uint64_t id)
{
	gint64 key = (gint64) id;
	guint index = GPOINTER_TO_UINT(g_hash_table_lookup(file->by_id, &key));

	return index ? &g_array_index(file->attributes, struct perf_attribute, index - 1) : NULL;
}

/* Whose sample this is: told first, or behind what all of the kind have in common. */
static const struct perf_attribute *
attribute_of_sample(const struct perf_file *file, const struct bytes *record)
{
	const struct perf_attribute *first =
		&g_array_index(file->attributes, struct perf_attribute, 0);
	uint64_t type = first->sample_type, at = PERF_HEAD;
	struct bytes id;

	if (file->attributes->len == 1)
		return first;
	if (!(type & SAMPLE_IDENTIFIER)) {
		if (!(type & SAMPLE_ID))
			return file->same_samples ? first : NULL;
		at += 8 * (uint64_t) __builtin_popcountll(
				  type & (SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR));
	}
	id = bytes_part(record, at, 8);
	return attribute_of(file, bytes_u64(&id));
}

static void read_stamp(struct bytes *bytes, uint64_t type, bool sample, struct perf_stamp *stamp)
{
	if (sample && type & SAMPLE_IDENTIFIER)
		bytes_take(bytes, 8);
	if (sample && type & SAMPLE_IP)
		bytes_take(bytes, 8);
	if (type & SAMPLE_TID) {
		stamp->pid = (int32_t) bytes_u32(bytes);
		stamp->tid = (int32_t) bytes_u32(bytes);
		stamp->has_tid = true;
	}
	if (type & SAMPLE_TIME) {
		stamp->time = bytes_u64(bytes);
		stamp->has_time = true;
	}
	if (sample && type & SAMPLE_ADDR)
		bytes_take(bytes, 8);
	if (type & SAMPLE_ID)
		bytes_take(bytes, 8);
	if (type & SAMPLE_STREAM_ID)
		bytes_take(bytes, 8);
	if (type & SAMPLE_CPU) {
		stamp->cpu = bytes_u32(bytes);
		stamp->has_cpu = true;
	}
}

bool perf_stamp(const struct perf_file *file, const struct bytes *record, struct perf_stamp *stamp)
{
	bool sample = bytes_as_u32(record->begin, file->swap) == PERF_SAMPLE;
	struct bytes bytes;
	uint64_t type, size;

	*stamp = (struct perf_stamp) {0};
	stamp->attribute = sample ? attribute_of_sample(file, record)
				  : &g_array_index(file->attributes, struct perf_attribute, 0);
	if (!stamp->attribute)
		return false;
	type = stamp->attribute->sample_type;
	if (sample) {
		bytes = bytes_part(record, PERF_HEAD, UINT64_MAX);
	} else {
		size = 8 * (uint64_t) __builtin_popcountll(
				   type & (SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID | SAMPLE_STREAM_ID |
					   SAMPLE_CPU | SAMPLE_IDENTIFIER));
		if (!stamp->attribute->sample_id_all || record->size < PERF_HEAD + size)
			return false;
		bytes = bytes_part(record, record->size - size, size);
	}
	read_stamp(&bytes, type, sample, stamp);
	return !bytes.bad;
}

/* --- runs --------------------------------------------------------------------------------- */

/* The last one's CPU, mostly. */
static struct perf_cpu *cpu_of(struct perf_file *file, uint32_t number)
{
	struct perf_cpu *cpu = file->cpus->len ? file->last : NULL;

	if (cpu && cpu->cpu == number)
		return cpu;
	for (guint i = 0; i < file->cpus->len; i++) {
		cpu = file->last = file->cpus->pdata[i];
		if (cpu->cpu == number)
			return cpu;
	}
	cpu = file->last = g_new0(struct perf_cpu, 1);
	cpu->cpu = number;
	cpu->runs = g_array_new(FALSE, FALSE, sizeof(struct perf_run));
	g_ptr_array_add(file->cpus, cpu);
	return cpu;
}

static void add_to_run(struct perf_cpu *cpu, uint64_t at, uint64_t size)
{
	struct perf_run run = {at, size}, *last;

	last = cpu->runs->len ? &g_array_index(cpu->runs, struct perf_run, cpu->runs->len - 1)
			      : NULL;
	if (last && last->offset + last->size == at)
		last->size += size;
	else
		g_array_append_val(cpu->runs, run);
}

static struct perf_thread *thread_of(struct perf_file *file, int32_t tid)
{
	struct perf_thread thread = {.tid = tid, .pid = -1, .ppid = -1};
	gpointer key = GINT_TO_POINTER(tid);
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(file->by_tid, key));

	if (!number) {
		g_array_append_val(file->threads, thread);
		number = file->threads->len;
		g_hash_table_insert(file->by_tid, key, GUINT_TO_POINTER(number));
	}
	return &g_array_index(file->threads, struct perf_thread, number - 1);
}

/* What perf found in /proc as it began has no time. */
static void note_thread(struct perf_file *file, struct bytes *record)
{
	uint32_t type = bytes_u32(record);
	struct perf_thread *thread;
	int32_t pid, other, tid;

	bytes_u32(record);
	pid = (int32_t) bytes_u32(record);
	other = (int32_t) bytes_u32(record);
	if (type == PERF_COMM) {
		const char *name = bytes_text(record);

		if (record->bad)
			return;
		thread = thread_of(file, other);
		g_free(thread->name);
		thread->name = g_utf8_make_valid(name, -1);
	} else {
		tid = (int32_t) bytes_u32(record);
		if (record->bad)
			return;
		thread = thread_of(file, tid);
		thread->ppid = tid == pid ? other : -1;
	}
	thread->pid = pid;
}

/* Where a program's code is elsewhere in the file than in memory, as of some linkers' (lld), its
 * place is wrong by as much: what is mapped of the file before that perf does not record. */
bool perf_map(const struct perf_file *file, const struct bytes *record, struct perf_map *map)
{
	struct bytes bytes = bytes_part(record, 0, UINT64_MAX), id = {0};
	uint32_t type = bytes_u32(&bytes), protection = PROTECTION_EXEC;
	uint64_t begin, length, offset;
	const char *path;
	uint16_t misc;

	*map = (struct perf_map) {0};
	misc = bytes_u16(&bytes);
	bytes_u16(&bytes);
	map->pid = (int32_t) bytes_u32(&bytes);
	map->tid = (int32_t) bytes_u32(&bytes);
	begin = bytes_u64(&bytes);
	length = bytes_u64(&bytes);
	offset = bytes_u64(&bytes);
	if (type == PERF_MMAP2) {
		id = bytes_part(&bytes, bytes.at + 4, BUILD_ID_SIZE);
		bytes_take(&bytes, 4 + BUILD_ID_SIZE); /* device, inode; or the build-id */
		protection = bytes_u32(&bytes);
		bytes_u32(&bytes); /* flags */
	}
	path = bytes_text(&bytes);
	if (bytes.bad || map->pid <= 0 || !(protection & PROTECTION_EXEC) || offset > begin ||
	    length > UINT64_MAX - begin || path[0] != '/' || path[1] == '/')
		return false;
	map->base = begin - offset;
	map->size = length + offset;
	map->path = keep_path(file, path);
	set_build_id(file, map, misc & MISC_MMAP_BUILD_ID ? id : (struct bytes) {0});
	return true;
}

/* Returns the bytes that follow the record and belong to it. */
static uint64_t own_record(struct perf_file *file, uint64_t at, uint32_t type, struct bytes *record)
{
	uint64_t size = record->size;
	struct bytes part;
	uint32_t length;

	bytes_take(record, PERF_HEAD);
	switch (type) {
	case PERF_HEADER_ATTR:
		part = bytes_part(record, PERF_HEAD + 4, 4);
		length = bytes_u32(&part);
		if (length >= 48 && length <= size - PERF_HEAD) {
			struct bytes attr = bytes_part(record, PERF_HEAD, length);
			struct bytes ids = bytes_part(record, PERF_HEAD + length, UINT64_MAX);

			add_attribute(file, &attr, &ids);
		}
		return 0;
	case PERF_HEADER_FEATURE: {
		uint64_t feature = bytes_u64(record);

		part = bytes_part(record, record->at, UINT64_MAX);
		read_feature(file, feature, &part);
		return 0;
	}
	case PERF_TRACING_DATA:
		length = bytes_u32(record);
		part = bytes_part(&file->records, at + size, length);
		read_tracing_data(file, &part);
		return (length + 7) / 8 * 8;
	case PERF_AUXTRACE:
		return bytes_u64(record);
	default:
		return 0;
	}
}

/* Begins a record there, as far as can be seen? */
static bool is_record(const struct perf_file *file, uint64_t at)
{
	struct bytes head = bytes_part(&file->records, at, PERF_HEAD);
	uint32_t type = bytes_u32(&head);
	uint16_t size;

	bytes_u16(&head);
	size = bytes_u16(&head);
	return !head.bad && type && type < 128 && size >= PERF_HEAD && size % 8 == 0 &&
	       at + size <= file->records.size;
}

/* The next place where one record follows another: what is before it is lost. */
static uint64_t next_records(const struct perf_file *file, uint64_t at)
{
	for (at += 8; at + PERF_HEAD <= file->records.size; at += 8) {
		uint64_t to = at;
		int found = 0;

		while (found < 4 && to < file->records.size && is_record(file, to)) {
			struct bytes size = bytes_part(&file->records, to + 6, 2);

			to += bytes_u16(&size);
			found++;
		}
		if (found == 4 || (found && to == file->records.size))
			return at;
	}
	return file->records.size;
}

static void sort_record(struct perf_file *file, uint64_t at, uint32_t type, struct bytes *record)
{
	struct perf_stamp stamp;
	bool stamped;

	if (!file->attributes->len)
		return;
	stamped = perf_stamp(file, record, &stamp);
	if (stamped && stamp.has_cpu && stamp.cpu < CPUS_MAX && (type == PERF_SAMPLE || stamp.time))
		add_to_run(cpu_of(file, stamp.cpu), at, record->size);
	else if (type == PERF_COMM || type == PERF_FORK)
		note_thread(file, record);
	else if (type == PERF_MMAP || type == PERF_MMAP2)
		g_array_append_val(file->maps, at);
	else if (type == PERF_SAMPLE && stamped && !stamp.has_cpu)
		note_trouble(file, "its samples say no CPU, and are left out: perf record -a, or "
				   "--sample-cpu, has them say it");
	else if (type == PERF_SAMPLE)
		file->damaged += record->size;
}

static void find_runs(struct perf_file *file)
{
	uint64_t at = 0;

	while (file->records.size - at >= PERF_HEAD) {
		struct bytes record = bytes_part(&file->records, at, PERF_HEAD);
		uint32_t type = bytes_u32(&record);
		uint16_t size;
		uint64_t next;

		bytes_u16(&record);
		size = bytes_u16(&record);
		if (!is_record(file, at)) {
			next = next_records(file, at);
			file->damaged += next - at;
			at = next;
			continue;
		}
		record = bytes_part(&file->records, at, size);
		next = at + size;
		if (type >= PERF_USER_TYPES)
			next += own_record(file, at, type, &record);
		else
			sort_record(file, at, type, &record);
		at = MIN(next, file->records.size);
	}
	file->damaged += file->records.size - at;
}

/* --- the file ----------------------------------------------------------------------------- */

/* The records, or why there are none. */
static const char *read_header(struct perf_file *file)
{
	struct bytes all = {mapped_bytes(file->file), mapped_length(file->file), 0, false, false};
	uint64_t size, entry, attributes, attributes_size, data, data_size;
	const uint8_t *magic = bytes_take(&all, 8), *flags;

	if (!magic)
		return "it is empty";
	file->swap = all.swap =
		(memcmp(magic, MAGIC_LITTLE, 8) == 0) == (G_BYTE_ORDER == G_BIG_ENDIAN);
	size = bytes_u64(&all);
	if (size == PIPE_HEADER) {
		file->records = bytes_part(&all, PIPE_HEADER, UINT64_MAX);
		return NULL;
	}
	entry = bytes_u64(&all);
	attributes = bytes_u64(&all);
	attributes_size = bytes_u64(&all);
	data = bytes_u64(&all);
	data_size = bytes_u64(&all);
	bytes_take(&all, 16); /* names of events, formerly */
	flags = bytes_take(&all, FEATURES / 8);
	if (!flags)
		return "it is cut in its header";
	read_attributes(file, &all, bytes_part(&all, attributes, attributes_size), entry);
	if (!data_size) { /* perf was killed: all that follows is records */
		note_trouble(file, "perf did not finish it");
		data_size = UINT64_MAX;
	} else {
		read_features(file, &all, data + data_size, flags);
	}
	file->records = bytes_part(&all, data, data_size);
	if (data_size != UINT64_MAX && file->records.size < data_size)
		file->damaged += data_size - file->records.size;
	return NULL;
}

static const char *read_file(struct perf_file *file)
{
	const char *why = read_header(file);

	if (why)
		return why;
	if (!perf_unpack(&file->records, &file->unpacked, &file->damaged, &why))
		return why;
	file->same_samples = true;
	find_runs(file);
	for (guint i = 1; i < file->attributes->len; i++)
		file->same_samples &=
			g_array_index(file->attributes, struct perf_attribute, i).sample_type ==
			g_array_index(file->attributes, struct perf_attribute, 0).sample_type;
	if (!file->attributes->len)
		return "it has no attributes";
	if (file->in_parts)
		return "perf record --threads keeps each thread's records in a file of its own, "
		       "which are not read; record without it";
	if (!file->cpus->len)
		return "its records say no time and CPU; perf record -a does";
	return NULL;
}

struct perf_file *perf_file_open(const char *path, GError **error)
{
	struct perf_file *file = g_new0(struct perf_file, 1);
	const char *why;

	file->path = g_strdup(path);
	file->clock = UINT32_MAX;
	file->tracepoints = g_ptr_array_new_with_free_func(tracepoint_free);
	file->attributes = g_array_new(FALSE, FALSE, sizeof(struct perf_attribute));
	file->by_id = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	file->cpus = g_ptr_array_new_with_free_func(cpu_free);
	file->threads = g_array_new(FALSE, FALSE, sizeof(struct perf_thread));
	g_array_set_clear_func(file->threads, thread_clear);
	file->by_tid = g_hash_table_new(NULL, NULL);
	file->texts = g_string_chunk_new(4096);
	file->build_ids = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	file->maps = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	file->in_exec = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
	file->told = g_array_new(FALSE, FALSE, sizeof(struct perf_map));
	file->file = mapped_new(path);
	why = file->file ? read_file(file) : g_strerror(errno);
	if (!why)
		return file;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
		    "%s has no event that could be read: %s", path,
		    file->trouble ? file->trouble : why);
	perf_file_free(file);
	return NULL;
}
