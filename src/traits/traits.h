/* SPDX-License-Identifier: MIT */
/* What sets some things apart from others of their kind, as it is told: at most three traits, each
 * a sentence with its counts.
 *
 *   29 of 29 returned 0 (no more entries); of the 104 others 46 did
 *
 * It never says that one causes the other. Place: traits/; found by apart/search.h. JSON of it is
 * `apart` of interface.md.
 */
#ifndef WHYLATE_TRAITS_TRAITS_H
#define WHYLATE_TRAITS_TRAITS_H

#include "apart/search.h"
#include "report/report.h"

/* A field and the values of it, in words. */
struct trait_told {
	char *field; /* owned */
	char *value; /* owned; NULL: a side of a threshold */
	int64_t from, to; /* of that; FIELD_NONE: no end */
	struct trait_told *and; /* owned; both hold; NULL: one alone */
	uint64_t in[2], out[2]; /* that have it, of all; of the slow ones, of the others */
	double p; /* after Holm's correction */
	int64_t explained; /* ns */
	char *sentence; /* owned */
};

struct traits {
	enum search_outcome outcome;
	uint32_t tried, fields; /* traits, of so many fields */
	bool sampled; /* the search saw a sample; counts are of all */
	GPtrArray *told; /* owned; struct trait_told */
};

struct traits *traits_new(const struct search_answer *answer);
void traits_free(gpointer traits);
void trait_told_free(gpointer told);

/* A part of a trait as a phrase of "OPERATIONS …": "returned 0", and what stands for it when it
 * is not said again: "did". */
struct phrase {
	char *text; /* owned */
	const char *again;
};
/* Takes the phrases: "29 of 29 returned 0; of the 104 others 46 did"; `who`: what the sides are
 * called, as in "29 of B's 29 returned 0; of A's 104 46 did"; NULL. */
char *trait_sentence(struct phrase *phrases, guint count, const uint64_t in[2],
		     const uint64_t out[2], const char *const who[2]);

/* JSON: "apart" and "apart_search", of a row that is a struct traits. */
extern const struct column traits_columns[];
/* A line for each trait; `whose`: "it", "B's". */
void traits_text(const struct traits *traits, const char *whose, int indent, struct output *output);

#endif
