/* SPDX-License-Identifier: MIT */
/* Columns of operations, from the first to the last; see known_of.h.
 *
 * Where a file is read and written is followed by descriptor, from its open() or lseek() on: a
 * descriptor that two processes share, or dup() made, is not followed.
 */
#include "traits/known_of.h"

#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "traits/taken.h"

#define ADDRESS_MIN (INT64_C(1) << 40) /* an unsigned value from here on is an address, no size */

/* What a call's result is, and what it does with the place in a file. */
enum call_sort {
	CALL_UNKNOWN, /* not looked up yet */
	CALL_OTHER,
	CALL_SIZE, /* returns a size or a count */
	CALL_ID, /* … a number that names something: which one says little */
	CALL_OPEN, /* … a descriptor, of a file at its begin */
	CALL_READ, /* … a size; goes on from where the file is */
	CALL_AT, /* … a size; is told where in the file */
	CALL_SEEK, /* returns where the file is */
};

#define WANTED_OWN ((1u << KNOWN_OWN) - 1) /* columns */

struct turn {
	uint32_t nth;
	int64_t end;
};

/* A descriptor's file. */
struct file_place {
	int64_t at;  /* where it is; FIELD_NONE: not known */
	int64_t end; /* where the last one ended that read or wrote; FIELD_NONE: none */
};

struct known_walk {
	const struct session *session; /* borrowed */
	uint32_t wanted; /* bits: columns */
	struct shapes *shapes; /* owned */
	struct operation_fields decoded; /* of the operation `number`, 0: of none */
	uint32_t number;
	GArray *sorts; /* owned; guint8: enum call_sort by interned name */
	struct idmap threads; /* profile and thread -> its place in turns */
	GArray *turns; /* owned; struct turn */
	struct idmap objects; /* profile and object -> how many so far */
	struct idmap files; /* host, process and descriptor -> its place in `places` */
	GArray *places; /* owned; struct file_place */
	struct idmap calls_before; /* thread -> interned call */
	GArray *names; /* owned; uint32_t: interned name of each thread, 0: not looked up */
	struct idmap object_sorts; /* interned object -> interned sort */
	uint32_t file_sort, ret, pos, offset, began_cpu, in_flight; /* interned names */
	uint32_t descriptors[7];
};

static uint32_t name_of(const struct session *session, const char *text)
{
	return intern_id(session->trace.model.names, text);
}

struct known_walk *known_walk_new(const struct session *session, uint32_t wanted)
{
	static const char *const descriptors[] = {"fd",     "epfd",  "ufd",   "dfd",
						  "fildes", "in_fd", "out_fd"};
	struct known_walk *walk = g_new0(struct known_walk, 1);

	walk->session = session;
	walk->wanted = wanted;
	walk->shapes = shapes_new(session);
	walk->sorts = g_array_new(FALSE, TRUE, sizeof(guint8));
	walk->names = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	g_array_set_size(walk->names, session->trace.model.thread_count + 1);
	walk->file_sort = name_of(session, "file");
	walk->turns = g_array_new(FALSE, TRUE, sizeof(struct turn));
	walk->places = g_array_new(FALSE, TRUE, sizeof(struct file_place));
	idmap_init(&walk->threads);
	idmap_init(&walk->objects);
	idmap_init(&walk->files);
	idmap_init(&walk->calls_before);
	idmap_init(&walk->object_sorts);
	walk->ret = name_of(session, "ret");
	walk->pos = name_of(session, "pos");
	walk->offset = name_of(session, "offset");
	walk->began_cpu = name_of(session, "began_cpu");
	walk->in_flight = name_of(session, "in_flight");
	for (size_t i = 0; i < G_N_ELEMENTS(descriptors); i++)
		walk->descriptors[i] = name_of(session, descriptors[i]);
	return walk;
}

void known_walk_free(struct known_walk *walk)
{
	shapes_free(walk->shapes);
	g_array_free(walk->sorts, TRUE);
	g_array_free(walk->turns, TRUE);
	g_array_free(walk->names, TRUE);
	g_array_free(walk->places, TRUE);
	idmap_clear(&walk->threads);
	idmap_clear(&walk->objects);
	idmap_clear(&walk->files);
	idmap_clear(&walk->calls_before);
	idmap_clear(&walk->object_sorts);
	g_free(walk);
}

static bool wants(const struct known_walk *walk, enum known column)
{
	return walk->wanted & 1u << (KNOWN_OWN + column);
}

/* --- what calls do -------------------------------------------------------------------------- */

static enum call_sort sort_of_name(const char *call)
{
	static const struct {
		enum call_sort sort;
		const char *calls;
	} table[] = {
		{CALL_READ, " read write readv writev "},
		{CALL_AT, " pread64 pwrite64 preadv pwritev preadv2 pwritev2 "},
		{CALL_SEEK, " lseek "},
		{CALL_OPEN, " open openat openat2 creat "},
		{CALL_SIZE,
		 " recvfrom recvmsg recvmmsg sendto sendmsg sendmmsg recv send getdents getdents64 "
		 "splice tee vmsplice sendfile sendfile64 copy_file_range poll ppoll select "
		 "pselect6 epoll_wait epoll_pwait epoll_pwait2 futex getrandom readlink readlinkat "
		 "io_submit io_getevents io_uring_enter listxattr getxattr process_vm_readv "
		 "semtimedop "},
		{CALL_ID,
		 " socket accept accept4 dup dup2 dup3 fcntl eventfd2 epoll_create1 signalfd4 "
		 "timerfd_create inotify_init1 memfd_create pidfd_open fork vfork clone clone3 "
		 "wait4 waitid getpid gettid getppid getpgrp getpgid setsid getsid set_tid_address "
		 "getuid geteuid getgid getegid mmap brk mremap shmat shmget semget msgget umask "
		 "inotify_add_watch "},
	};
	g_autofree char *word = g_strconcat(" ", call, " ", NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
		if (strstr(table[i].calls, word))
			return table[i].sort;
	return CALL_OTHER;
}

static enum call_sort sort_of(struct known_walk *walk, uint32_t name)
{
	guint8 *sort;

	if (name >= walk->sorts->len)
		g_array_set_size(walk->sorts, name + 1);
	sort = &g_array_index(walk->sorts, guint8, name);
	if (!*sort)
		*sort = (guint8) sort_of_name(session_text(walk->session, name));
	return *sort;
}

/* Numbers of which more is more. */
static bool is_amount(const char *field)
{
	static const char fields[] =
		" count len length size nbytes nr nr_segs vlen iovcnt nfds n maxevents pos offset "
		"timeout timeout_msecs old_len new_len usec backlog nbytes msgsz bufsize bufsiz "
		"buflen sigsetsize sectors depth distance in_flight optlen rlen newlen to_submit "
		"min_complete ";
	g_autofree char *word = g_strconcat(" ", field, " ", NULL);

	return strstr(fields, word) != NULL;
}

static enum field_type type_of(struct known_walk *walk, const struct operation *operation,
			       uint32_t name)
{
	enum call_sort sort;

	if (name != walk->ret || PACK_KIND(operation->what) != OPERATION_SYSCALL)
		return is_amount(session_text(walk->session, name)) ? FIELD_NUMBER : FIELD_VALUE;
	sort = sort_of(walk, PACK_NUMBER(operation->what));
	return sort == CALL_SIZE || sort == CALL_READ || sort == CALL_AT || sort == CALL_SEEK
		       ? FIELD_NUMBER
		       : FIELD_VALUE;
}

/* Which descriptor or new process it was is of no use: that it was one is. */
static int64_t value_of(struct known_walk *walk, const struct operation *operation,
			const struct operation_field *field)
{
	enum call_sort sort;

	if (field->wide && (field->value >= ADDRESS_MIN || field->value < 0))
		return KNOWN_ADDRESS;
	if (field->name != walk->ret || field->value < 0 ||
	    PACK_KIND(operation->what) != OPERATION_SYSCALL)
		return field->value;
	sort = sort_of(walk, PACK_NUMBER(operation->what));
	return sort == CALL_ID || sort == CALL_OPEN ? 0 : field->value;
}

static bool is_descriptor(const struct known_walk *walk, uint32_t name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(walk->descriptors); i++)
		if (walk->descriptors[i] == name)
			return true;
	return false;
}

/* Those of the operation that the walk is at: decoded once, and only where they are asked for. */
static const struct operation_fields *fields_at(struct known_walk *walk, uint32_t number)
{
	if (walk->number != number)
		operation_fields(walk->shapes, number, &walk->decoded);
	walk->number = number;
	return &walk->decoded;
}

/* The column of a field; KNOWN_OWN: there is no room for it. `hint`: where it may well be. */
static guint column_of(struct known_walk *walk, const struct operation *operation,
		       struct known_fields *fields, uint32_t name, guint hint)
{
	guint at = 0;

	if (hint < fields->count && fields->at[hint].name == name)
		return hint;
	while (at < fields->count && fields->at[at].name != name)
		at++;
	if (at < fields->count || at == KNOWN_OWN)
		return at;
	fields->at[at].name = name;
	fields->at[at].type = type_of(walk, operation, name);
	fields->count++;
	return at;
}

/* Operations of a profile have the same fields in the same order, mostly. */
static void own_values(struct known_walk *walk, const struct operation *operation,
		       const struct operation_fields *from, struct known_fields *fields,
		       int64_t *values)
{
	guint next = 0;

	for (uint32_t i = 0; i < from->count; i++) {
		const struct operation_field *field = &from->at[i];
		guint at;

		if (field->name == walk->began_cpu || is_descriptor(walk, field->name))
			continue;
		at = column_of(walk, operation, fields, field->name, next);
		next = at + 1;
		if (at < KNOWN_OWN && walk->wanted & 1u << at)
			values[at] = value_of(walk, operation, field);
	}
}

/* --- files ---------------------------------------------------------------------------------- */

static struct file_place *place_at(struct known_walk *walk, const struct operation *operation,
				   int64_t fd)
{
	const struct thread *thread = model_thread(&walk->session->trace.model, operation->thread);
	uint64_t key = (uint64_t) thread->host << 54 | ((uint64_t) thread->pid & 0x3fffff) << 32 |
		       (uint32_t) fd;
	uint32_t at = idmap_get(&walk->files, key);
	struct file_place none = {FIELD_NONE, FIELD_NONE};

	if (at == IDMAP_NONE) {
		at = walk->places->len;
		g_array_append_val(walk->places, none);
		idmap_set(&walk->files, key, at);
	}
	return &g_array_index(walk->places, struct file_place, at);
}

static int64_t number_of(const struct operation_fields *fields, uint32_t name)
{
	const struct operation_field *field = operation_field(fields, name);

	return field ? field->value : FIELD_NONE;
}

/* Where in its file the call began, if that is known. */
static int64_t begins_at(const struct known_walk *walk, enum call_sort sort,
			 const struct operation_fields *fields, const struct file_place *place)
{
	int64_t pos;

	if (sort == CALL_READ)
		return place->at;
	pos = number_of(fields, walk->pos);
	return pos != FIELD_NONE ? pos : number_of(fields, walk->offset);
}

/* Of a call on a file: it is known which one, and its fields are. */
static struct file_place *place_of(struct known_walk *walk, const struct operation *operation,
				   const struct operation_fields *fields)
{
	int64_t fd = number_of(fields, walk->descriptors[0]);

	return fd != FIELD_NONE && operation_has_thread(operation)
		       ? place_at(walk, operation, fd)
		       : NULL;
}

static int64_t distance_of(struct known_walk *walk, const struct operation *operation,
			   enum call_sort sort, const struct operation_fields *fields)
{
	const struct file_place *place;
	int64_t at;

	if (sort != CALL_READ && sort != CALL_AT)
		return FIELD_NONE;
	place = place_of(walk, operation, fields);
	at = place ? begins_at(walk, sort, fields, place) : FIELD_NONE;
	return at == FIELD_NONE || place->end == FIELD_NONE ? FIELD_NONE : llabs(at - place->end);
}

static void move_place(struct known_walk *walk, const struct operation *operation,
		       enum call_sort sort, const struct operation_fields *fields)
{
	int64_t ret = number_of(fields, walk->ret), at;
	struct file_place *place;

	if (ret == FIELD_NONE || ret < 0 || !operation_has_thread(operation))
		return;
	if (sort == CALL_OPEN) {
		*place_at(walk, operation, ret) = (struct file_place) {0, FIELD_NONE};
		return;
	}
	place = place_of(walk, operation, fields);
	if (!place)
		return;
	if (sort == CALL_SEEK) {
		place->at = ret;
		return;
	}
	at = begins_at(walk, sort, fields, place);
	if (at == FIELD_NONE)
		return;
	place->end = at + ret;
	if (sort == CALL_READ)
		place->at = at + ret;
}

/* --- all ------------------------------------------------------------------------------------ */

static uint32_t sort_of_object(struct known_walk *walk, uint32_t object)
{
	uint32_t sort = idmap_get(&walk->object_sorts, object);
	const char *text;

	if (sort != IDMAP_NONE)
		return sort;
	text = session_text(walk->session, object);
	{
		g_autofree char *head = g_strndup(text, strcspn(text, ":"));

		sort = name_of(walk->session, head);
	}
	idmap_set(&walk->object_sorts, object, sort);
	return sort;
}

static struct turn *state_of(struct known_walk *walk, uint32_t key, uint32_t thread)
{
	uint64_t both = (uint64_t) key << 32 | thread;
	uint32_t at = idmap_get(&walk->threads, both);
	struct turn none = {0, FIELD_NONE};

	if (at == IDMAP_NONE) {
		at = walk->turns->len;
		g_array_append_val(walk->turns, none);
		idmap_set(&walk->threads, both, at);
	}
	return &g_array_index(walk->turns, struct turn, at);
}

static int64_t name_of_thread(struct known_walk *walk, uint32_t thread)
{
	uint32_t *name;

	if (thread >= walk->names->len)
		return FIELD_NONE;
	name = &g_array_index(walk->names, uint32_t, thread);
	if (!*name)
		*name = name_of(walk->session, session_thread_name(walk->session, thread));
	return *name;
}

/* `values`: NULL: it only counts. */
static void turn_values(struct known_walk *walk, uint32_t key, const struct operation *operation,
			int64_t *values)
{
	struct turn *state = state_of(walk, key, operation->thread);
	int64_t end = state->end;

	state->nth++;
	state->end = MAX(end, operation_end(operation));
	if (!values)
		return;
	values[KNOWN_NTH] = state->nth;
	if (end != FIELD_NONE && operation->begin >= end)
		values[KNOWN_SINCE] = operation->begin - end;
}

static void thread_values(struct known_walk *walk, const struct operation *operation,
			  int64_t *values)
{
	uint32_t before = idmap_get(&walk->calls_before, operation->thread);

	if (before != IDMAP_NONE)
		values[KNOWN_BEFORE] = before;
	if (wants(walk, KNOWN_THREAD))
		values[KNOWN_THREAD] = name_of_thread(walk, operation->thread);
}

/* As turn_values(). */
static void object_values(struct known_walk *walk, uint32_t key, const struct operation *operation,
			  int64_t *values)
{
	uint32_t object = operation_resource(walk->session, operation), count = 0;
	uint64_t both = (uint64_t) key << 32 | object;

	if (!object)
		return;
	if (wants(walk, KNOWN_NTH_ON)) {
		count = idmap_get(&walk->objects, both);
		count = count == IDMAP_NONE ? 1 : count + 1;
		idmap_set(&walk->objects, both, count);
	}
	if (!values)
		return;
	values[KNOWN_OBJECT] = object;
	values[KNOWN_SORT] = sort_of_object(walk, object);
	if (values[KNOWN_SORT] == walk->file_sort && count)
		values[KNOWN_NTH_ON] = count;
}

/* An operation that stayed on its CPU all the time lost it to nobody. */
static int64_t taker_of(struct known_walk *walk, const struct operation *operation)
{
	uint32_t taker = operation->off_cpu || PACK_KIND(operation->what) == OPERATION_WAIT_CPU
				 ? cpu_taker(walk->session, operation)
				 : NO_THREAD;

	return is_thread(taker) ? name_of_thread(walk, taker) : 0;
}

static void cpu_values(struct known_walk *walk, const struct operation *operation, int64_t *values)
{
	int state = -1;

	if (!operation_has_thread(operation))
		return;
	if (wants(walk, KNOWN_TAKER))
		values[KNOWN_TAKER] = taker_of(walk, operation);
	if (wants(walk, KNOWN_IDLE_STATE) && PACK_KIND(operation->what) == OPERATION_WAIT_CPU)
		state = idle_state_before(walk->session, operation);
	if (state >= 0)
		values[KNOWN_IDLE_STATE] = state;
}

/* The kinds whose object is theirs to begin with: of a wait it is what it waited for. */
static bool has_object(int kind)
{
	return kind == OPERATION_SYSCALL || kind == OPERATION_IRQ;
}

static bool wants_object(const struct known_walk *walk)
{
	return wants(walk, KNOWN_OBJECT) || wants(walk, KNOWN_SORT);
}

static void walk_values(struct known_walk *walk, uint32_t key, const struct operation *operation,
			int64_t *values)
{
	if (operation_has_thread(operation) && (wants(walk, KNOWN_NTH) || wants(walk, KNOWN_SINCE)))
		turn_values(walk, key, operation, values);
	if (has_object(PACK_KIND(operation->what)) &&
	    (wants(walk, KNOWN_NTH_ON) || (values && wants_object(walk))))
		object_values(walk, key, operation, values);
}

void known_count(struct known_walk *walk, uint32_t key, uint32_t number)
{
	walk_values(walk, key, operation_at(&walk->session->trace.timeline.operations, number),
		    NULL);
}

void known_values(struct known_walk *walk, uint32_t key, struct known_fields *fields,
		  uint32_t number, int64_t *values)
{
	const struct session *session = walk->session;
	const struct operation *operation =
		operation_at(&session->trace.timeline.operations, number);
	int kind = PACK_KIND(operation->what);
	int64_t *fixed = values + KNOWN_OWN;

	for (guint i = 0; i < KNOWN_COLUMNS; i++)
		values[i] = FIELD_NONE;
	if (walk->wanted & WANTED_OWN)
		own_values(walk, operation, fields_at(walk, number), fields, values);
	walk_values(walk, key, operation, fixed);
	if (operation_has_thread(operation))
		thread_values(walk, operation, fixed);
	cpu_values(walk, operation, fixed);
	if (kind == OPERATION_SYSCALL && wants(walk, KNOWN_DISTANCE))
		fixed[KNOWN_DISTANCE] =
			distance_of(walk, operation, sort_of(walk, PACK_NUMBER(operation->what)),
				    fields_at(walk, number));
	if ((kind == OPERATION_QUEUED || kind == OPERATION_SERVED) && operation->ref)
		fixed[KNOWN_CALL] = operation->ref;
	if (session->trace.model.hosts->len > 1)
		fixed[KNOWN_HOST] = model_operation_host(&session->trace.model, operation);
	if (operation->cpu != OPERATION_CPU_UNKNOWN)
		fixed[KNOWN_CPU] = operation->cpu;
	if (wants(walk, KNOWN_MIGRATED) && operation->cpu != OPERATION_CPU_UNKNOWN) {
		const struct operation_field *began =
			operation_field(fields_at(walk, number), walk->began_cpu);

		if (began)
			fixed[KNOWN_MIGRATED] = began->value != operation->cpu;
	}
	fixed[KNOWN_WHEN] = operation->begin - session->asked.from;
}

void known_pass(struct known_walk *walk, uint32_t number)
{
	const struct operation *operation =
		operation_at(&walk->session->trace.timeline.operations, number);
	enum call_sort sort;

	if (PACK_KIND(operation->what) == OPERATION_SYSCALL && operation_has_thread(operation)) {
		if (wants(walk, KNOWN_BEFORE))
			idmap_set(&walk->calls_before, operation->thread,
				  PACK_NUMBER(operation->what));
		sort = wants(walk, KNOWN_DISTANCE) ? sort_of(walk, PACK_NUMBER(operation->what))
						   : CALL_OTHER;
		if (sort >= CALL_OPEN)
			move_place(walk, operation, sort, fields_at(walk, number));
	}
	facts_pass(&walk->session->trace.timeline, number);
}

static const struct {
	const char *name;
	enum field_type type;
} fixed_columns[KNOWN_FIXED] = {
	[KNOWN_OBJECT] = {"object", FIELD_VALUE},
	[KNOWN_SORT] = {"object_kind", FIELD_VALUE},
	[KNOWN_CALL] = {"issued_in", FIELD_VALUE},
	[KNOWN_THREAD] = {"thread", FIELD_VALUE},
	[KNOWN_HOST] = {"host", FIELD_VALUE},
	[KNOWN_CPU] = {"cpu", FIELD_VALUE},
	[KNOWN_MIGRATED] = {"migrated", FIELD_MET},
	[KNOWN_TAKER] = {"cpu_taken_by", FIELD_MET},
	[KNOWN_IDLE_STATE] = {"idle_state", FIELD_VALUE},
	[KNOWN_DISTANCE] = {"distance", FIELD_NUMBER},
	[KNOWN_BEFORE] = {"after", FIELD_VALUE},
	[KNOWN_NTH_ON] = {"nth_on_file", FIELD_NUMBER},
	[KNOWN_NTH] = {"nth_of_thread", FIELD_NUMBER},
	[KNOWN_SINCE] = {"since_previous_ns", FIELD_NUMBER},
	[KNOWN_WHEN] = {"begin_ns", FIELD_NUMBER},
};

enum field_type known_type(const struct known_fields *fields, guint column)
{
	return column < KNOWN_OWN ? fields->at[column].type
				  : fixed_columns[column - KNOWN_OWN].type;
}

bool known_is_named(guint column)
{
	guint known = column - KNOWN_OWN;

	return column >= KNOWN_OWN &&
	       (known <= KNOWN_THREAD || known == KNOWN_TAKER || known == KNOWN_BEFORE);
}

bool known_is_followed(const struct session *session, const struct known_fields *fields,
		       guint column)
{
	static const char followed[] = " ret count len length size nbytes sectors distance depth "
				       "in_flight bufsiz buflen bufsize rlen ";
	g_autofree char *word = NULL;

	if (column >= KNOWN_OWN)
		return column - KNOWN_OWN == KNOWN_DISTANCE || column - KNOWN_OWN == KNOWN_SINCE;
	if (column >= fields->count || fields->at[column].type != FIELD_NUMBER)
		return false;
	word = g_strconcat(" ", session_text(session, fields->at[column].name), " ", NULL);
	return strstr(followed, word) != NULL;
}

const char *known_name(const struct session *session, const struct known_fields *fields,
		       guint column)
{
	return column < KNOWN_OWN ? session_text(session, fields->at[column].name)
				  : fixed_columns[column - KNOWN_OWN].name;
}
