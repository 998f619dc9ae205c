/* SPDX-License-Identifier: MIT */
/* The fields of an operation by name: what timeline/facts.h has of it.
 *
 * Place: latencies/.
 */
#ifndef WHYLATE_LATENCIES_OPERATION_FIELDS_H
#define WHYLATE_LATENCIES_OPERATION_FIELDS_H

#include "run/session.h"
#include "timeline/facts.h"

struct operation_field {
	uint32_t name; /* interned; of the shape, without its mark */
	bool wide; /* unsigned: it may be an address */
	int64_t value;
};

struct operation_fields {
	uint32_t count;
	struct operation_field at[FACTS_MAX];
};

/* No event has that field: it was seen beside the call's entry. */
bool operation_field_is_derived(const char *name);

/* What shapes are made of, looked up once. */
struct shapes;
struct shapes *shapes_new(const struct session *session);
void shapes_free(struct shapes *shapes);

/* Fills `fields`: of those of one name the first, a call's argument before what came back under
 * it. False: nothing is known. `operation`: its number in the store. */
bool operation_fields(struct shapes *shapes, uint32_t operation, struct operation_fields *fields);
/* NULL: it has none of that name. */
const struct operation_field *operation_field(const struct operation_fields *fields, uint32_t name);

/* For passes over millions of operations: only the fields of these names, PICKED_MAX at most. */
#define PICKED_MAX 32
struct field_picker;
struct field_picker *field_picker_new(struct shapes *shapes, const uint32_t *names, guint count);
void field_picker_free(struct field_picker *picker);
/* What operation_fields() has of these names, each at its name's place. Returns bits: which it has;
 * `wide`: of them those that may be addresses. */
uint32_t pick_fields(struct field_picker *picker, uint32_t operation, int64_t *values,
		     uint32_t *wide);

#endif
