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
#include "traits/called_from.h"
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

#define WANTED_OWN (KNOWN_BIT(KNOWN_OWN) - 1) /* columns */
enum { PLACE_KEPT = 1, PLACE_NONE }; /* whether a file has a place that moves */
#define RECENT 64 /* places that are looked up without a map, by a hash */

struct turn {
	uint32_t nth;
	int64_t end;
};

/* A descriptor's file. */
struct file_place {
	int64_t at;  /* where it is; FIELD_NONE: not known */
	int64_t end; /* where the last one ended that read or wrote; FIELD_NONE: none */
	bool met;
};

/* Things by a key of two numbers; most are looked up several times in a row. */
struct places {
	struct idmap map; /* key -> place in the list */
	GArray *list; /* owned; they are zero at first */
	struct {
		uint64_t key;
		uint32_t at;
	} recent[RECENT];
};

/* What moves a file's place: fields of calls. */
enum move { MOVE_FD, MOVE_RET, MOVE_POS, MOVE_OFFSET, MOVE_FIELDS };

/* A call on a file. */
struct at_file {
	enum call_sort sort;
	uint32_t has; /* bits: enum move */
	int64_t values[MOVE_FIELDS];
};

/* The wanted ones of a profile's own fields. */
struct own_picker {
	struct field_picker *picker;
	guint columns[KNOWN_OWN];
	guint count;
};

struct known_walk {
	const struct session *session; /* borrowed */
	uint64_t wanted; /* bits: columns … */
	uint64_t asked;  /* … of them those that known_values() fills */
	const struct file_kinds *kinds; /* borrowed; NULL */
	struct shapes *shapes; /* owned */
	struct field_picker *moves; /* owned; of the fields of enum move */
	struct field_picker *began; /* owned; of began_cpu alone */
	struct operation_fields decoded; /* of the operation it is at, where all are wanted */
	struct at_file at_file; /* of the operation `at_number`, 0: of none */
	uint32_t at_number;
	GHashTable *own; /* owned; struct known_fields -> struct own_picker, owned: where only some
			    columns are wanted */
	const struct known_fields *own_of; /* borrowed; looked up last */
	const struct own_picker *own_last; /* borrowed; … its own picker */
	GArray *sorts; /* owned; guint8: enum call_sort by interned name */
	struct places turns; /* profile and thread -> struct turn */
	struct places objects; /* profile and object -> uint32_t: how many so far */
	struct places files; /* host, process and descriptor -> struct file_place */
	uint32_t *calls_before; /* owned; by thread: interned call, 0: none */
	GArray *names; /* owned; uint32_t: interned name of each thread, 0: not looked up */
	struct idmap object_sorts; /* interned object -> interned sort */
	GArray *placed; /* owned; guint8 by interned object: PLACE_KEPT, PLACE_NONE; 0: not looked
			   up */
	uint32_t facts_passed[2]; /* facts_pass() */
	uint32_t callers_read;
	uint32_t file_sort, ret, began_cpu; /* interned names */
	uint32_t descriptors[7];
};

static uint32_t name_of(const struct session *session, const char *text)
{
	return intern_id(session->trace.model.names, text);
}

static void places_init(struct places *places, guint size)
{
	*places = (struct places) {.list = g_array_new(FALSE, TRUE, size)};
	idmap_init(&places->map);
}

static void places_clear(struct places *places)
{
	idmap_clear(&places->map);
	g_array_free(places->list, TRUE);
}

/* Its place in the list, with a new thing that is zero if there was none. */
static guint place_of_key(struct places *places, uint64_t key)
{
	guint slot = (guint) (key ^ key >> 32) % RECENT;
	uint32_t at;

	if (places->recent[slot].key == key && key)
		return places->recent[slot].at;
	at = idmap_get(&places->map, key);
	if (at == IDMAP_NONE) {
		at = places->list->len;
		g_array_set_size(places->list, at + 1);
		idmap_set(&places->map, key, at);
	}
	places->recent[slot].key = key;
	places->recent[slot].at = at;
	return at;
}

static void own_picker_free(gpointer data)
{
	struct own_picker *own = data;

	field_picker_free(own->picker);
	g_free(own);
}

struct known_walk *known_walk_new(const struct session *session, uint64_t wanted,
				  const struct file_kinds *kinds)
{
	static const char *const descriptors[] = {"fd",     "epfd",  "ufd",   "dfd",
						  "fildes", "in_fd", "out_fd"};
	static const char *const moves[MOVE_FIELDS] = {"fd", "ret", "pos", "offset"};
	uint32_t moved[MOVE_FIELDS];
	struct known_walk *walk = g_new0(struct known_walk, 1);

	walk->session = session;
	walk->kinds = kinds;
	walk->wanted = walk->asked = wanted;
	walk->shapes = shapes_new(session);
	walk->sorts = g_array_new(FALSE, TRUE, sizeof(guint8));
	walk->names = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	walk->placed = g_array_new(FALSE, TRUE, sizeof(guint8));
	g_array_set_size(walk->names, session->trace.model.thread_count + 1);
	walk->file_sort = name_of(session, "file");
	places_init(&walk->turns, sizeof(struct turn));
	places_init(&walk->objects, sizeof(uint32_t));
	places_init(&walk->files, sizeof(struct file_place));
	walk->calls_before = g_new0(uint32_t, session->trace.model.thread_count + 1);
	walk->own = g_hash_table_new_full(NULL, NULL, NULL, own_picker_free);
	idmap_init(&walk->object_sorts);
	walk->ret = name_of(session, "ret");
	walk->began_cpu = name_of(session, "began_cpu");
	walk->began = field_picker_new(walk->shapes, &walk->began_cpu, 1);
	for (size_t i = 0; i < G_N_ELEMENTS(moves); i++)
		moved[i] = name_of(session, moves[i]);
	walk->moves = field_picker_new(walk->shapes, moved, MOVE_FIELDS);
	for (size_t i = 0; i < G_N_ELEMENTS(descriptors); i++)
		walk->descriptors[i] = name_of(session, descriptors[i]);
	return walk;
}

void known_walk_free(struct known_walk *walk)
{
	field_picker_free(walk->moves);
	field_picker_free(walk->began);
	g_hash_table_destroy(walk->own);
	shapes_free(walk->shapes);
	g_array_free(walk->sorts, TRUE);
	g_array_free(walk->names, TRUE);
	g_array_free(walk->placed, TRUE);
	places_clear(&walk->turns);
	places_clear(&walk->objects);
	places_clear(&walk->files);
	g_free(walk->calls_before);
	idmap_clear(&walk->object_sorts);
	g_free(walk);
}

static bool wants(const struct known_walk *walk, enum known column)
{
	return walk->wanted & KNOWN_BIT(KNOWN_OWN + column);
}

static bool asks(const struct known_walk *walk, enum known column)
{
	return walk->asked & KNOWN_BIT(KNOWN_OWN + column);
}

void known_ask(struct known_walk *walk, uint64_t columns)
{
	walk->asked = columns;
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
		if (at < KNOWN_OWN)
			values[at] = value_of(walk, operation, field);
	}
}

/* The wanted ones of those that are there already. */
static const struct own_picker *picker_of(struct known_walk *walk, struct known_fields *fields)
{
	struct own_picker *own;
	uint32_t names[KNOWN_OWN];

	if (walk->own_of == fields)
		return walk->own_last;
	walk->own_of = fields;
	walk->own_last = own = g_hash_table_lookup(walk->own, fields);
	if (own)
		return own;
	own = g_new0(struct own_picker, 1);
	for (guint i = 0; i < fields->count; i++)
		if (walk->asked & KNOWN_BIT(i)) {
			names[own->count] = fields->at[i].name;
			own->columns[own->count++] = i;
		}
	own->picker = field_picker_new(walk->shapes, names, own->count);
	g_hash_table_insert(walk->own, fields, own);
	walk->own_last = own;
	return own;
}

static void some_own_values(struct known_walk *walk, const struct operation *operation,
			    uint32_t number, struct known_fields *fields, int64_t *values)
{
	const struct own_picker *own = picker_of(walk, fields);
	int64_t picked[KNOWN_OWN];
	uint32_t wide, has = own->count ? pick_fields(own->picker, number, picked, &wide) : 0;

	for (guint i = 0; i < own->count; i++) {
		struct operation_field field = {.name = fields->at[own->columns[i]].name,
						.wide = has && wide & 1u << i,
						.value = has & 1u << i ? picked[i] : 0};

		values[own->columns[i]] =
			has & 1u << i ? value_of(walk, operation, &field) : FIELD_NONE;
	}
}

/* --- objects -------------------------------------------------------------------------------- */

static uint32_t sort_of_object(struct known_walk *walk, uint32_t object)
{
	uint32_t sort = idmap_get(&walk->object_sorts, object);

	if (sort == IDMAP_NONE) {
		const char *text = session_text(walk->session, object);
		g_autofree char *head = g_strndup(text, strcspn(text, ":"));

		sort = name_of(walk->session, head);
		idmap_set(&walk->object_sorts, object, sort);
	}
	return sort;
}

/* Pipes, sockets and terminals have no place that a call goes on from. */
static bool has_place(struct known_walk *walk, uint32_t object)
{
	static const char *const without[] = {"file:/dev/zero",    "file:/dev/null",
					      "file:/dev/full",    "file:/dev/random",
					      "file:/dev/urandom", "file:/dev/tty"};
	guint8 *place;
	const char *text;

	if (object >= walk->placed->len)
		g_array_set_size(walk->placed, object + 1);
	place = &g_array_index(walk->placed, guint8, object);
	if (*place)
		return *place == PLACE_KEPT;
	text = session_text(walk->session, object);
	*place = g_str_has_prefix(text, "pipe:") || g_str_has_prefix(text, "socket:")
			 ? PLACE_NONE
			 : PLACE_KEPT;
	for (size_t i = 0; i < G_N_ELEMENTS(without); i++)
		if (strcmp(text, without[i]) == 0)
			*place = PLACE_NONE;
	return *place == PLACE_KEPT;
}

/* --- files ---------------------------------------------------------------------------------- */

static struct file_place *place_at(struct known_walk *walk, const struct operation *operation,
				   int64_t fd)
{
	const struct thread *thread = model_thread(&walk->session->trace.model, operation->thread);
	uint64_t key = (uint64_t) thread->host << 54 | ((uint64_t) thread->pid & 0x3fffff) << 32 |
		       (uint32_t) fd;
	guint at = place_of_key(&walk->files, key);
	struct file_place *place = &g_array_index(walk->files.list, struct file_place, at);

	if (!place->met)
		*place = (struct file_place) {FIELD_NONE, FIELD_NONE, true};
	return place;
}

/* Its fields are looked up once, and only of calls that go on from a place, or move it. */
static const struct at_file *at_file(struct known_walk *walk, const struct operation *operation,
				     uint32_t number)
{
	struct at_file *at = &walk->at_file;
	uint32_t wide;

	if (walk->at_number == number)
		return at;
	walk->at_number = number;
	at->sort =
		operation_has_thread(operation) && PACK_KIND(operation->what) == OPERATION_SYSCALL
			? sort_of(walk, PACK_NUMBER(operation->what))
			: CALL_OTHER;
	at->has = at->sort == CALL_OPEN || (at->sort > CALL_OPEN && has_place(walk, operation->ref))
			  ? pick_fields(walk->moves, number, at->values, &wide)
			  : 0;
	return at;
}

/* Where in its file the call began, if that is known. */
static int64_t begins_at(const struct at_file *at, const struct file_place *place)
{
	if (at->sort == CALL_READ)
		return place->at;
	return at->has & 1u << MOVE_POS      ? at->values[MOVE_POS]
	       : at->has & 1u << MOVE_OFFSET ? at->values[MOVE_OFFSET]
					     : FIELD_NONE;
}

static int64_t distance_of(struct known_walk *walk, const struct operation *operation,
			   uint32_t number)
{
	const struct at_file *file = at_file(walk, operation, number);
	const struct file_place *place;
	int64_t at;

	if ((file->sort != CALL_READ && file->sort != CALL_AT) || !(file->has & 1u << MOVE_FD))
		return FIELD_NONE;
	place = place_at(walk, operation, file->values[MOVE_FD]);
	at = begins_at(file, place);
	return at == FIELD_NONE || place->end == FIELD_NONE ? FIELD_NONE : llabs(at - place->end);
}

static void move_place(struct known_walk *walk, const struct operation *operation, uint32_t number)
{
	const struct at_file *file = at_file(walk, operation, number);
	int64_t ret = file->values[MOVE_RET], at;
	struct file_place *place;

	if (!(file->has & 1u << MOVE_RET) || ret < 0)
		return;
	if (file->sort == CALL_OPEN) {
		*place_at(walk, operation, ret) = (struct file_place) {0, FIELD_NONE, true};
		return;
	}
	if (!(file->has & 1u << MOVE_FD))
		return;
	place = place_at(walk, operation, file->values[MOVE_FD]);
	if (file->sort == CALL_SEEK) {
		place->at = ret;
		return;
	}
	at = begins_at(file, place);
	if (at == FIELD_NONE)
		return;
	place->end = at + ret;
	if (file->sort == CALL_READ)
		place->at = at + ret;
}

/* --- names and CPUs ------------------------------------------------------------------------- */

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

/* An operation that stayed on its CPU all the time lost it to nobody. */
static int64_t taker_of(struct known_walk *walk, const struct operation *operation)
{
	uint32_t taker = operation_may_stop(walk->session, operation) ||
					 PACK_KIND(operation->what) == OPERATION_WAIT_CPU
				 ? cpu_taker(walk->session, operation)
				 : NO_THREAD;

	return is_thread(taker) ? name_of_thread(walk, taker) : 0;
}

static void cpu_values(struct known_walk *walk, const struct operation *operation, int64_t *values)
{
	int state = -1;
	uint32_t who;

	if (!operation_has_thread(operation))
		return;
	if (asks(walk, KNOWN_TAKER))
		values[KNOWN_TAKER] = taker_of(walk, operation);
	who = asks(walk, KNOWN_INTERRUPTER) ? interrupter(walk->session, operation) : 0;
	if (who)
		values[KNOWN_INTERRUPTER] = who;
	if (asks(walk, KNOWN_IDLE_STATE) && PACK_KIND(operation->what) == OPERATION_WAIT_CPU)
		state = idle_state_before(walk->session, operation);
	if (state >= 0)
		values[KNOWN_IDLE_STATE] = state;
}

#define CALLERS_READ 4096 /* after so many, what was spilled and read leaves memory again */

static void caller_values(struct known_walk *walk, const struct operation *operation,
			  int64_t *values)
{
	struct called_from from;

	if (!asks(walk, KNOWN_USER_CALLER) && !asks(walk, KNOWN_USER_PATH) &&
	    !asks(walk, KNOWN_KERNEL_CALLER))
		return;
	from = called_from(walk->session, operation);
	if (from.user)
		values[KNOWN_USER_CALLER] = from.user;
	if (from.path)
		values[KNOWN_USER_PATH] = from.path;
	if (from.kernel)
		values[KNOWN_KERNEL_CALLER] = from.kernel;
	if (++walk->callers_read % CALLERS_READ == 0)
		pages_let_go(&walk->session->trace.timeline.samples);
}

/* The kinds whose object is theirs to begin with: of a wait it is what it waited for. */
static bool has_object(int kind)
{
	return kind == OPERATION_SYSCALL || kind == OPERATION_IRQ;
}

/* --- what was before it --------------------------------------------------------------------- */

static void count_turn(struct known_walk *walk, uint32_t key, const struct operation *operation,
		       struct known_history *history)
{
	guint at = place_of_key(&walk->turns, (uint64_t) key << 32 | operation->thread);
	struct turn *turn = &g_array_index(walk->turns.list, struct turn, at);

	turn->nth++;
	if (history) {
		history->nth = turn->nth;
		if (turn->nth > 1 && operation->begin >= turn->end)
			history->since = operation->begin - turn->end;
	}
	turn->end =
		turn->nth > 1 ? MAX(turn->end, operation_end(operation)) : operation_end(operation);
}

static void count_object(struct known_walk *walk, uint32_t key, const struct operation *operation,
			 struct known_history *history)
{
	uint32_t object = operation_resource(walk->session, operation), *count;
	guint at;

	if (!object || sort_of_object(walk, object) != walk->file_sort)
		return;
	at = place_of_key(&walk->objects, (uint64_t) key << 32 | object);
	count = &g_array_index(walk->objects.list, uint32_t, at);
	++*count;
	if (history)
		history->nth_on = *count;
}

void known_history(struct known_walk *walk, uint32_t key, uint32_t number,
		   struct known_history *history)
{
	const struct operation *operation =
		operation_at(&walk->session->trace.timeline.operations, number);
	bool has_thread = operation_has_thread(operation);

	if (history)
		*history = (struct known_history) {FIELD_NONE, FIELD_NONE, FIELD_NONE, FIELD_NONE,
						   FIELD_NONE};
	if (has_thread && (wants(walk, KNOWN_NTH) || wants(walk, KNOWN_SINCE)))
		count_turn(walk, key, operation, history);
	if (wants(walk, KNOWN_NTH_ON) && has_object(PACK_KIND(operation->what)))
		count_object(walk, key, operation, history);
	if (!history || !has_thread)
		return;
	if (walk->calls_before[operation->thread])
		history->before = walk->calls_before[operation->thread];
	if (wants(walk, KNOWN_DISTANCE))
		history->distance = distance_of(walk, operation, number);
}

/* --- all ------------------------------------------------------------------------------------ */

static void object_values(struct known_walk *walk, const struct operation *operation,
			  int64_t *values)
{
	uint32_t object = has_object(PACK_KIND(operation->what))
				  ? operation_resource(walk->session, operation)
				  : 0;
	uint32_t kind;

	if (!object)
		return;
	values[KNOWN_OBJECT] = object;
	values[KNOWN_SORT] = sort_of_object(walk, object);
	kind = asks(walk, KNOWN_FILE) && walk->kinds ? file_kind(walk->kinds, object) : 0;
	if (kind)
		values[KNOWN_FILE] = kind;
}

static void migration(struct known_walk *walk, const struct operation *operation, uint32_t number,
		      int64_t *values)
{
	int64_t began;
	uint32_t wide;

	if (operation->cpu != OPERATION_CPU_UNKNOWN &&
	    pick_fields(walk->began, number, &began, &wide))
		values[KNOWN_MIGRATED] = began != operation->cpu;
}

static void recorded_values(struct known_walk *walk, const struct operation *operation,
			    uint32_t number, struct known_fields *fields, int64_t *values)
{
	if ((walk->asked & WANTED_OWN) == WANTED_OWN) {
		operation_fields(walk->shapes, number, &walk->decoded);
		own_values(walk, operation, &walk->decoded, fields, values);
	} else if (walk->asked & WANTED_OWN) {
		some_own_values(walk, operation, number, fields, values);
	}
}

/* No value is known of those that are wanted. */
static void clear_values(const struct known_walk *walk, int64_t *values)
{
	for (uint64_t left = walk->asked & (KNOWN_BIT(KNOWN_COLUMNS) - 1); left; left &= left - 1)
		values[__builtin_ctzll(left)] = FIELD_NONE;
}

void known_values(struct known_walk *walk, struct known_fields *fields, uint32_t number,
		  const struct known_history *history, int64_t *values)
{
	const struct session *session = walk->session;
	const struct operation *operation =
		operation_at(&session->trace.timeline.operations, number);
	int kind = PACK_KIND(operation->what);
	int64_t *fixed = values + KNOWN_OWN;

	clear_values(walk, values);
	recorded_values(walk, operation, number, fields, values);
	if (!(walk->asked & ~WANTED_OWN))
		return;
	fixed[KNOWN_BEFORE] = history->before;
	fixed[KNOWN_DISTANCE] = history->distance;
	fixed[KNOWN_NTH_ON] = history->nth_on;
	fixed[KNOWN_NTH] = history->nth;
	fixed[KNOWN_SINCE] = history->since;
	if (asks(walk, KNOWN_OBJECT) || asks(walk, KNOWN_SORT) || asks(walk, KNOWN_FILE))
		object_values(walk, operation, fixed);
	caller_values(walk, operation, fixed);
	if (operation_has_thread(operation) && asks(walk, KNOWN_THREAD))
		fixed[KNOWN_THREAD] = name_of_thread(walk, operation->thread);
	cpu_values(walk, operation, fixed);
	if ((kind == OPERATION_QUEUED || kind == OPERATION_SERVED) && operation->ref)
		fixed[KNOWN_CALL] = operation->ref;
	if (session->trace.model.hosts->len > 1)
		fixed[KNOWN_HOST] = model_operation_host(&session->trace.model, operation);
	if (operation->cpu != OPERATION_CPU_UNKNOWN)
		fixed[KNOWN_CPU] = operation->cpu;
	if (asks(walk, KNOWN_MIGRATED))
		migration(walk, operation, number, fixed);
	fixed[KNOWN_WHEN] = operation->begin - session->asked.from;
}

void known_pass(struct known_walk *walk, uint32_t number)
{
	const struct operation *operation =
		operation_at(&walk->session->trace.timeline.operations, number);

	if (PACK_KIND(operation->what) == OPERATION_SYSCALL && operation_has_thread(operation)) {
		if (wants(walk, KNOWN_BEFORE))
			walk->calls_before[operation->thread] = PACK_NUMBER(operation->what);
		if (wants(walk, KNOWN_DISTANCE) && at_file(walk, operation, number)->has)
			move_place(walk, operation, number);
	}
	facts_pass(&walk->session->trace.timeline, walk->facts_passed, number);
}

static const struct {
	const char *name;
	enum field_type type;
} fixed_columns[KNOWN_FIXED] = {
	[KNOWN_OBJECT] = {"object", FIELD_VALUE},
	[KNOWN_SORT] = {"object_kind", FIELD_VALUE},
	[KNOWN_FILE] = {"file_kind", FIELD_VALUE},
	[KNOWN_CALL] = {"issued_in", FIELD_VALUE},
	[KNOWN_USER_CALLER] = {"user_caller", FIELD_VALUE},
	[KNOWN_USER_PATH] = {"user_path", FIELD_VALUE},
	[KNOWN_KERNEL_CALLER] = {"kernel_caller", FIELD_VALUE},
	[KNOWN_THREAD] = {"thread", FIELD_VALUE},
	[KNOWN_HOST] = {"host", FIELD_VALUE},
	[KNOWN_CPU] = {"cpu", FIELD_VALUE},
	[KNOWN_MIGRATED] = {"migrated", FIELD_MET},
	[KNOWN_TAKER] = {"cpu_taken_by", FIELD_MET},
	[KNOWN_INTERRUPTER] = {"interrupted_by", FIELD_VALUE},
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

	return column >= KNOWN_OWN && (known <= KNOWN_THREAD || known == KNOWN_TAKER ||
				       known == KNOWN_INTERRUPTER || known == KNOWN_BEFORE);
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
