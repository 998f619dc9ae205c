/* SPDX-License-Identifier: MIT */
/* Columns of requests; see request_known.h. */
#include "traits/request_known.h"

#include <string.h>

#include "latencies/operations.h"
#include "parts/make_parts.h"
#include "tracking/exchange_lists.h"

#define TOUCHES_MAX (UINT32_C(1) << 22) /* of a request and a thing: of more nothing is known */
#define CHAIN_MOST 16 /* what a request touched is looked through up to here, then looked up */

/* A request touched a thing. */
struct touch {
	uint32_t row, thing; /* its number in `names` */
	uint32_t next; /* place from 1 of another one of the row; 0: none */
};

struct touches {
	GArray *list; /* owned; struct touch, as they were met */
	GArray *chains; /* owned; struct chain, of each row */
	struct idmap seen; /* row and thing, of those that are in no chain */
};

struct chain {
	uint32_t first, length; /* place from 1 in the list, 0: none */
};

struct side_walk {
	const struct user_requests *requests; /* borrowed */
	struct request_known *known; /* borrowed */
	guint side;
	guint32 *rows; /* owned; by place in the list from 1: row + 1 of it, or of the one that it
			  is part of; 0: none */
	struct idmap
		services; /* its first thread, whose port it is, the port -> number in `names` */
	struct idmap things; /* kind and interned name of the session -> number in `names` */
};

static uint32_t name_of(struct request_known *known, const char *text)
{
	return intern_id(known->names, text);
}

/* --- which requests ------------------------------------------------------------------------- */

static void make_rows(struct side_walk *walk)
{
	const struct user_requests *requests = walk->requests;
	g_autofree guint32 *listed = user_requests_listed_places(requests);
	g_autofree guint32 *row_of = g_new0(guint32, requests->listed->len + 1);
	guint count = requests->listed->len, step = (count + REQUEST_ROWS - 1) / REQUEST_ROWS;
	uint32_t passed = 0;

	walk->known->spread |= step > 1;
	for (guint i = 0; i < count; i += MAX(step, 1)) {
		uint32_t place = g_array_index(requests->listed, uint32_t, i);
		const struct user_request *at = user_request_at(requests, place);
		struct request_row row = {.place = place,
					  .side = walk->side,
					  .ns = at->end - at->begin};

		pages_pass_to(&requests->list, &passed, place);
		if (at->unfinished || at->spans_gap)
			continue;
		for (guint k = 0; k < REQUEST_FIXED; k++)
			row.values[k] = FIELD_NONE;
		g_array_append_val(walk->known->rows, row);
		row_of[i + 1] = walk->known->rows->len;
	}
	walk->rows = g_new0(guint32, requests->list.used + 1);
	for (guint i = 1; i <= requests->list.used; i++)
		walk->rows[i] = row_of[listed[i]];
}

static struct request_row *row_at(const struct side_walk *walk, guint32 row)
{
	return row ? &g_array_index(walk->known->rows, struct request_row, row - 1) : NULL;
}

/* Its own row, not that of the one that it is part of. */
static struct request_row *row_of_request(const struct side_walk *walk, guint place)
{
	struct request_row *row = row_at(walk, walk->rows[place + 1]);

	return row && row->place == place ? row : NULL;
}

/* --- who asked whom ------------------------------------------------------------------------- */

/* "10.0.0.9" of "socket:10.0.0.9:3456". */
static char *address_of(const char *key)
{
	const char *text = g_str_has_prefix(key, "socket:") ? key + strlen("socket:") : key;
	const char *colon = strrchr(text, ':');

	if (!colon || !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1))
		return g_strdup(text);
	return g_strndup(text, (gsize) (colon - text));
}

static const char *first_name(const struct side_walk *walk, const struct user_request *request)
{
	return is_thread(request->first)
		       ? session_thread_name(walk->requests->session, request->first)
		       : "";
}

static uint32_t service_of(struct side_walk *walk, const struct user_request *request)
{
	const struct session *session = walk->requests->session;
	const struct channel_end *end = request->channel ? end_at(session, request->channel) : NULL;
	bool far = session->asked.options->requests.preset == PRESET_CLIENT && end &&
		   end->remote_port;
	uint32_t port = far ? end->remote_port : end ? end->local_port : 0, number;
	uint64_t key = (uint64_t) request->first << 32 | (uint32_t) far << 16 | port;
	g_autofree char *service = NULL;

	if (!port)
		return name_of(walk->known, first_name(walk, request));
	number = idmap_get(&walk->services, key);
	if (number != IDMAP_NONE)
		return number;
	service = far ? g_strdup_printf("port %u", port)
		      : g_strdup_printf("%s, port %u", first_name(walk, request), port);
	number = name_of(walk->known, service);
	idmap_set(&walk->services, key, number);
	return number;
}

/* Who wrote what it began with. */
static uint32_t asker_of(const struct side_walk *walk, const struct user_request *request)
{
	const struct user_requests *requests = walk->requests;
	const struct session *session = requests->session;
	uint32_t peer = request->channel ? requests->peers[request->channel] : 0, write;

	if (session->asked.options->requests.preset == PRESET_CLIENT)
		return name_of(walk->known, first_name(walk, request));
	if (!peer || peer == request->channel || !requests->writes)
		return 0;
	write = exchange_before(session, requests->writes, peer, request->begin);
	if (!write)
		return 0;
	return name_of(walk->known,
		       session_thread_name(session, exchange_at(session, write)->thread));
}

static void parties(struct side_walk *walk, const struct user_request *request, int64_t *values)
{
	const struct session *session = walk->requests->session;
	const struct model *model = &session->trace.model;
	uint32_t asker = asker_of(walk, request), service = service_of(walk, request);

	if (asker)
		values[REQUEST_ASKED_BY] = asker;
	if (service)
		values[REQUEST_SERVICE] = service;
	if (model->hosts->len > 1 && is_thread(request->first))
		values[REQUEST_HOST] = name_of(
			walk->known,
			model_host(model, model_thread(model, request->first)->host)->hostname);
	if (request->channel) {
		const struct channel_end *end = end_at(session, request->channel);

		if (end->remote) {
			g_autofree char *from = address_of(session_text(session, end->remote));

			values[REQUEST_FROM] = name_of(walk->known, from);
		}
		values[REQUEST_BYTES_IN] = values[REQUEST_BYTES_OUT] = 0;
	}
}

/* --- what was before it --------------------------------------------------------------------- */

struct before {
	uint32_t nth;
	int64_t end; /* of the one before */
};

static struct before *before_of(struct idmap *map, GArray *list, uint64_t key)
{
	uint32_t at = idmap_get(map, key);
	struct before none = {0, FIELD_NONE};

	if (at == IDMAP_NONE) {
		at = list->len;
		g_array_append_val(list, none);
		idmap_set(map, key, at);
	}
	return &g_array_index(list, struct before, at);
}

static void count_before(struct before *before, const struct user_request *request, int64_t *values,
			 enum request_field nth, enum request_field since)
{
	before->nth++;
	if (values) {
		values[nth] = before->nth;
		if (before->end != FIELD_NONE && request->begin >= before->end)
			values[since] = request->begin - before->end;
	}
	before->end = MAX(before->end, request->end);
}

/* The nth of a connection is known only where its begin was seen. */
static void orders(const struct side_walk *walk)
{
	const struct user_requests *requests = walk->requests;
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(struct before));
	struct idmap threads, channels;

	idmap_init(&threads);
	idmap_init(&channels);
	for (guint i = 0; i < requests->list.used; i++) {
		const struct user_request *at = user_request_at(requests, i);
		struct request_row *row = row_of_request(walk, i);
		int64_t *values = row ? row->values : NULL;
		const struct channel_end *end =
			at->channel ? end_at(requests->session, at->channel) : NULL;
		struct before *on;

		pages_pass(&requests->list, i);
		if (is_thread(at->first))
			count_before(before_of(&threads, list, at->first), at, values, REQUEST_NTH,
				     REQUEST_SINCE);
		if (!end)
			continue;
		on = before_of(&channels, list, at->channel);
		count_before(on, at, values, REQUEST_NTH_ON, REQUEST_SINCE_ON);
		if (values && end->opened == INT64_MIN)
			values[REQUEST_NTH_ON] = FIELD_NONE;
		if (values && end->opened != INT64_MIN && on->nth == 1 && end->role == ROLE_SERVER)
			values[REQUEST_ACCEPT] = MAX(end->opened - at->begin, 0);
	}
	idmap_clear(&threads);
	idmap_clear(&channels);
}

/* Requests of one service, as the walk meets their begins. */
struct service {
	GArray *ends; /* owned; int64_t, ascending */
	guint begun, ended;
};

static void service_clear(gpointer data)
{
	g_array_free(((struct service *) data)->ends, TRUE);
}

static int ascending(gconstpointer a, gconstpointer b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return x < y ? -1 : x > y;
}

/* Others of its service that had begun and not ended. */
static void flights(struct side_walk *walk)
{
	const struct user_requests *requests = walk->requests;
	g_autoptr(GArray) services = g_array_new(FALSE, FALSE, sizeof(struct service));
	g_autofree uint32_t *of = g_new(uint32_t, requests->list.used + 1);
	struct idmap places;

	g_array_set_clear_func(services, service_clear);
	idmap_init(&places);
	for (guint i = 0; i < requests->list.used; i++) {
		const struct user_request *at = user_request_at(requests, i);
		uint32_t name = service_of(walk, at);
		struct service *service;

		pages_pass(&requests->list, i);
		of[i] = idmap_get(&places, name);
		if (of[i] == IDMAP_NONE) {
			struct service fresh = {g_array_new(FALSE, FALSE, sizeof(int64_t)), 0, 0};

			of[i] = services->len;
			g_array_append_val(services, fresh);
			idmap_set(&places, name, of[i]);
		}
		service = &g_array_index(services, struct service, of[i]);
		g_array_append_val(service->ends, at->end);
	}
	for (guint i = 0; i < services->len; i++)
		g_array_sort(g_array_index(services, struct service, i).ends, ascending);
	for (guint i = 0; i < requests->list.used; i++) {
		const struct user_request *at = user_request_at(requests, i);
		struct service *service = &g_array_index(services, struct service, of[i]);
		struct request_row *row = row_of_request(walk, i);

		pages_pass(&requests->list, i);
		while (service->ended < service->begun &&
		       g_array_index(service->ends, int64_t, service->ended) <= at->begin)
			service->ended++;
		if (row)
			row->values[REQUEST_IN_FLIGHT] = service->begun - service->ended;
		service->begun++;
	}
	idmap_clear(&places);
}

/* --- what was moved and done for it --------------------------------------------------------- */

static void bytes(const struct side_walk *walk)
{
	const struct user_requests *requests = walk->requests;
	const struct pages *store = &requests->session->trace.timeline.exchanges;

	for (uint32_t i = 1; requests->of_exchange && i < store->used; i++) {
		const struct exchange *exchange = exchange_at(requests->session, i);
		uint32_t place = requests->of_exchange[i];
		struct request_row *row;

		pages_pass(store, i);
		user_requests_read(requests, 1);
		row = place ? row_of_request(walk, place - 1) : NULL;
		if (!row || exchange->kind > EXCHANGE_WRITE ||
		    exchange->end != user_request_at(requests, place - 1)->channel)
			continue;
		row->values[exchange->kind == EXCHANGE_READ ? REQUEST_BYTES_IN
							    : REQUEST_BYTES_OUT] += exchange->bytes;
	}
}

/* A file, a device, or a connection to where somebody serves. */
static bool is_telling(const char *object)
{
	const char *port = strrchr(object, ':');

	if (g_str_has_prefix(object, "socket:"))
		return port && g_ascii_strtoull(port + 1, NULL, 10) < PORT_GIVEN;
	return g_str_has_prefix(object, "file:") || g_str_has_prefix(object, "device:");
}

enum thing { THING_OBJECT = 1, THING_CALL, THING_PROGRAM };

/* The number in `names` of a thing; 0: it says nothing. */
static uint32_t thing_of(struct side_walk *walk, enum thing kind, uint32_t number)
{
	const struct session *session = walk->requests->session;
	uint64_t key = (uint64_t) kind << 32 | number;
	uint32_t thing = idmap_get(&walk->things, key);
	g_autofree char *text = NULL;

	if (thing != IDMAP_NONE)
		return thing;
	if (kind == THING_CALL)
		text = g_strconcat("call:", session_text(session, number), NULL);
	else if (kind == THING_PROGRAM)
		text = g_strconcat("program:", session_thread_name(session, number), NULL);
	else if (is_telling(session_text(session, number)))
		text = g_strdup(session_text(session, number));
	thing = text ? name_of(walk->known, text) : 0;
	idmap_set(&walk->things, key, thing);
	return thing;
}

static void touches_init(struct touches *touches, guint rows)
{
	touches->list = g_array_new(FALSE, FALSE, sizeof(struct touch));
	touches->chains = g_array_new(FALSE, TRUE, sizeof(struct chain));
	g_array_set_size(touches->chains, rows);
	idmap_init(&touches->seen);
}

static void touches_clear(struct touches *touches)
{
	g_array_unref(touches->list);
	g_array_unref(touches->chains);
	idmap_clear(&touches->seen);
}

/* Few touch more than a few things, which lie close to each other. */
static void touch(struct touches *touches, guint32 row, uint32_t thing)
{
	struct touch at = {row, thing, 0};
	struct chain *chain;
	uint64_t key = (uint64_t) row << 32 | thing;

	if (!row || !thing || touches->list->len > TOUCHES_MAX)
		return;
	chain = &g_array_index(touches->chains, struct chain, row - 1);
	for (uint32_t i = chain->first; i;) {
		const struct touch *other = &g_array_index(touches->list, struct touch, i - 1);

		if (other->thing == thing)
			return;
		i = other->next;
	}
	if (chain->length < CHAIN_MOST) {
		at.next = chain->first;
		chain->first = touches->list->len + 1;
		chain->length++;
	} else if (idmap_get(&touches->seen, key) != IDMAP_NONE) {
		return;
	} else {
		idmap_set(&touches->seen, key, 1);
	}
	g_array_append_val(touches->list, at);
}

/* Where the newest call of a thread ended, and for whom. */
struct newest {
	guint32 row;
	uint32_t cpu;
};

static void place_calls(struct request_row *row, struct newest *newest, guint32 number,
			const struct operation *operation)
{
	if (operation->cpu == OPERATION_CPU_UNKNOWN)
		return;
	if (row->values[REQUEST_CPU] == FIELD_NONE) {
		row->values[REQUEST_CPU] = operation->cpu;
		row->values[REQUEST_MIGRATED] = 0;
	}
	if (newest->row == number && newest->cpu != operation->cpu)
		row->values[REQUEST_MIGRATED] = 1;
	*newest = (struct newest) {number, operation->cpu};
}

static void deeds(struct side_walk *walk, struct touches *touches)
{
	const struct user_requests *requests = walk->requests;
	const struct session *session = requests->session;
	const struct pages *store = &session->trace.timeline.operations;
	g_autofree struct newest *newest =
		g_new0(struct newest, session->trace.model.thread_count + 1);

	for (guint i = 0; i < requests->working.used; i++) {
		const struct working *at = working_at(requests, i);

		pages_pass(&requests->working, i);
		touch(touches, walk->rows[at->request],
		      walk->rows[at->request] ? thing_of(walk, THING_PROGRAM, at->thread) : 0);
	}
	for (uint32_t i = 1; i < store->used; i++) {
		const struct operation *operation = operation_at(store, i);
		int64_t until;
		uint32_t place, object;
		guint32 row;

		pages_pass(store, i);
		if (PACK_KIND(operation->what) != OPERATION_SYSCALL || operation->half ||
		    !operation_has_thread(operation))
			continue;
		place = user_request_of(requests, operation->thread, operation->begin, &until);
		row = place ? walk->rows[place] : 0;
		if (!row)
			continue;
		object = operation_resource(session, operation);
		touch(touches, row, thing_of(walk, THING_CALL, PACK_NUMBER(operation->what)));
		if (object)
			touch(touches, row, thing_of(walk, THING_OBJECT, object));
		place_calls(row_at(walk, row), &newest[operation->thread], row, operation);
	}
}

/* --- all ------------------------------------------------------------------------------------ */

struct often {
	uint32_t thing;
	guint count;
	guint rank; /* of its kind: what it was done to says most, … */
	guint place; /* … then what was met first */
};

static int most_often(gconstpointer a, gconstpointer b)
{
	const struct often *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->place < y->place ? -1 : 1;
}

/* Of traits that pick the same requests the first field is told: a file rather than a call. */
static int by_rank(gconstpointer a, gconstpointer b)
{
	const struct often *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return most_often(a, b);
}

static guint rank_of(const char *thing)
{
	return g_str_has_prefix(thing, "call:") ? 1 : g_str_has_prefix(thing, "program:") ? 2 : 0;
}

/* Which things are columns, and their bits in the rows. */
static void choose_touched(struct request_known *known, const GArray *touches)
{
	guint count = intern_count(known->names);
	g_autofree struct often *often = g_new0(struct often, count + 1);
	g_autofree guint8 *bit = g_new0(guint8, count + 1);
	guint kept = 0;

	if (touches->len > TOUCHES_MAX)
		return;
	for (guint i = 0; i < touches->len; i++) {
		struct often *at = &often[g_array_index(touches, struct touch, i).thing];

		at->place = at->count++ ? at->place : i;
	}
	for (guint i = 0; i < count; i++)
		if (often[i].count >= REQUEST_TOUCHED_LEAST && often[i].count < known->rows->len) {
			struct often at = often[i];

			at.thing = i;
			at.rank = rank_of(intern_text(known->names, i));
			often[kept++] = at;
		}
	qsort(often, kept, sizeof *often, most_often);
	kept = MIN(kept, REQUEST_TOUCHED);
	qsort(often, kept, sizeof *often, by_rank);
	for (guint i = 0; i < kept; i++) {
		g_array_append_val(known->touched, often[i].thing);
		known->objects += often[i].rank == 0;
		bit[often[i].thing] = (guint8) (i + 1);
	}
	for (guint i = 0; i < touches->len; i++) {
		const struct touch *at = &g_array_index(touches, struct touch, i);

		if (bit[at->thing])
			g_array_index(known->rows, struct request_row, at->row - 1).touched |=
				UINT64_C(1) << (bit[at->thing] - 1);
	}
}

/* One side alone, with names of its own. */
struct known_side {
	const struct user_requests *requests; /* borrowed */
	struct request_known *known; /* owned */
	struct touches touches; /* owned */
};

/* A side (part_maker). */
static void know_side(const struct session *session, guint part, void *data)
{
	struct known_side *side = &((struct known_side *) data)[part];
	const struct user_requests *requests = side->requests;
	struct request_known *known = g_new0(struct request_known, 1);
	struct side_walk walk = {.requests = requests, .known = known, .side = part};

	side->known = known;
	known->names = intern_new();
	known->rows = g_array_sized_new(FALSE, FALSE, sizeof(struct request_row),
					MIN(requests->listed->len, REQUEST_ROWS) + 1);
	known->touched = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	idmap_init(&walk.things);
	idmap_init(&walk.services);
	make_rows(&walk);
	touches_init(&side->touches, known->rows->len);
	for (guint i = 0; i < known->rows->len; i++) {
		struct request_row *row = &g_array_index(known->rows, struct request_row, i);
		const struct user_request *at = user_request_at(requests, row->place);

		user_requests_read(requests, READ_AT_RANDOM);
		parties(&walk, at, row->values);
		row->values[REQUEST_INNER] = 0;
		row->values[REQUEST_WHEN] = at->begin - session->asked.from;
	}
	for (guint i = 0; i < requests->list.used; i++) {
		struct request_row *row = row_at(&walk, walk.rows[i + 1]);

		pages_pass(&requests->list, i);
		if (row && row->place != i)
			row->values[REQUEST_INNER]++;
	}
	orders(&walk);
	flights(&walk);
	bytes(&walk);
	deeds(&walk, &side->touches);
	idmap_clear(&walk.things);
	idmap_clear(&walk.services);
	g_free(walk.rows);
}

/* The second side behind the first one, by its names. */
static void append_side(struct known_side *first, const struct known_side *second)
{
	struct request_known *known = first->known;
	const struct request_known *other = second->known;
	guint before = known->rows->len, count = intern_count(other->names);
	g_autofree uint32_t *numbers = g_new0(uint32_t, count + 1);

	for (guint i = 1; i < count; i++)
		numbers[i] = name_of(known, intern_text(other->names, i));
	g_array_append_vals(known->rows, other->rows->data, other->rows->len);
	for (guint i = before; i < known->rows->len; i++) {
		int64_t *values = g_array_index(known->rows, struct request_row, i).values;

		for (guint c = 0; c < REQUEST_FIXED; c++)
			if (request_field_is_named(c) && values[c] != FIELD_NONE)
				values[c] = numbers[values[c]];
	}
	for (guint i = 0; i < second->touches.list->len; i++) {
		struct touch at = g_array_index(second->touches.list, struct touch, i);

		at.row += before;
		at.thing = numbers[at.thing];
		g_array_append_val(first->touches.list, at);
	}
	known->spread |= other->spread;
}

struct request_known *request_known_new(const struct user_requests *const *sides, guint count)
{
	struct known_side known[2] = {{.requests = sides[0]},
				      {.requests = sides[count > 1 ? 1 : 0]}};
	const struct session *const of[2] = {known[0].requests->session,
					     known[1].requests->session};

	if (count > 1)
		parts_make_sides(of, know_side, known);
	else
		know_side(of[0], 0, known);
	if (count > 1) {
		append_side(&known[0], &known[1]);
		request_known_free(known[1].known);
		touches_clear(&known[1].touches);
	}
	choose_touched(known[0].known, known[0].touches.list);
	touches_clear(&known[0].touches);
	return known[0].known;
}

void request_known_free(struct request_known *known)
{
	if (!known)
		return;
	intern_free(known->names);
	g_array_free(known->rows, TRUE);
	g_array_free(known->touched, TRUE);
	g_free(known);
}

int64_t request_value(const struct request_row *row, guint column)
{
	return column < REQUEST_FIXED ? row->values[column]
				      : (int64_t) (row->touched >> (column - REQUEST_FIXED) & 1);
}

static const struct {
	const char *name;
	enum field_type type;
	bool named;
} fixed_columns[REQUEST_FIXED] = {
	[REQUEST_ASKED_BY] = {"asked_by", FIELD_VALUE, true},
	[REQUEST_FROM] = {"asked_from", FIELD_VALUE, true},
	[REQUEST_SERVICE] = {"service", FIELD_VALUE, true},
	[REQUEST_HOST] = {"host", FIELD_VALUE, true},
	[REQUEST_BYTES_IN] = {"bytes_in", FIELD_NUMBER},
	[REQUEST_BYTES_OUT] = {"bytes_out", FIELD_NUMBER},
	[REQUEST_ACCEPT] = {"accept_ns", FIELD_NUMBER},
	[REQUEST_NTH_ON] = {"nth_on_connection", FIELD_NUMBER},
	[REQUEST_NTH] = {"nth_of_thread", FIELD_NUMBER},
	[REQUEST_SINCE_ON] = {"since_previous_on_connection_ns", FIELD_NUMBER},
	[REQUEST_SINCE] = {"since_previous_ns", FIELD_NUMBER},
	[REQUEST_IN_FLIGHT] = {"in_flight", FIELD_NUMBER},
	[REQUEST_INNER] = {"inner", FIELD_NUMBER},
	[REQUEST_CPU] = {"cpu", FIELD_VALUE},
	[REQUEST_MIGRATED] = {"migrated", FIELD_MET},
	[REQUEST_WHEN] = {"begin_ns", FIELD_NUMBER},
};

enum field_type request_type(guint column)
{
	return column < REQUEST_FIXED ? fixed_columns[column].type : FIELD_MET;
}

const char *request_field_name(guint column)
{
	return column < REQUEST_FIXED ? fixed_columns[column].name : "touched";
}

bool request_field_is_named(guint column)
{
	return column < REQUEST_FIXED && fixed_columns[column].named;
}
