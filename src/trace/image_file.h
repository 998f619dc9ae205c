/* SPDX-License-Identifier: MIT */
/* The file of an image: how its bytes are written and read; see image.h. Internal to image*.c.
 */
#ifndef WHYLATE_TRACE_IMAGE_FILE_H
#define WHYLATE_TRACE_IMAGE_FILE_H

#include "timeline/timeline.h"
#include "util/digest.h"
#include "util/idmap.h"
#include "util/records.h"

#define IMAGE_KEY 32             /* bytes */
#define IMAGE_PIECE (1u << 18)   /* bytes written or summed at once */
#define IMAGE_ALIGN (1u << 16)   /* where stores begin: whole pages everywhere */

struct image_store {
	uint64_t offset;
	uint32_t used, record_size;
};

/* The first IMAGE_ALIGN bytes of the file. */
struct image_head {
	char magic[8];
	uint8_t key[IMAGE_KEY];
	uint64_t digest;       /* of the head with 0 here, and of what follows it */
	uint64_t size;         /* of the file */
	uint64_t rest;         /* offset of what is not stores */
	uint32_t operations_wanted;
	uint32_t resources_wanted;
	uint32_t exchanges_wanted;
	uint32_t facts_wanted;
	struct image_store stores[TIMELINE_STORES]; /* in the order of enum store */
};
_Static_assert(sizeof(struct image_head) == 8 + IMAGE_KEY + 5 * 8 + TIMELINE_STORES * 16,
	       "no byte of the head that is not set");

/* --- writing --- */
struct image_out {
	int fd;
	bool failed;
	bool (*go_on)(void);
	struct digest digest;
	uint64_t at;           /* offset of the buffer in the file */
	size_t used;
	char *buffer;          /* owned; IMAGE_PIECE */
	const GPtrArray *directories; /* borrowed; image.h */
};

void image_put(struct image_out *out, const void *bytes, size_t size);
/* Zeros up to the next multiple; the offset there. */
uint64_t image_align(struct image_out *out, size_t multiple);
void image_put_number(struct image_out *out, uint64_t number);
/* NULL is not "". */
void image_put_text(struct image_out *out, const char *text);
/* How many, and each as it is; NULL: none. */
void image_put_array(struct image_out *out, const GArray *array, size_t element);
void image_put_words(struct image_out *out, const uint32_t *words, uint32_t count);
void image_put_map(struct image_out *out, const struct idmap *map);

/* --- reading --- */
struct image_in {
	const char *bytes;     /* borrowed */
	uint64_t at, size;
	bool failed;           /* once true, all that is read is nothing */
	const GPtrArray *directories; /* borrowed; image.h */
	const struct timeline *timeline; /* borrowed; its stores are there */
	uint32_t names, hosts; /* how many there are, as far as is known */
};

/* `size` bytes, NULL if there are not so many. */
const void *image_take(struct image_in *in, uint64_t size);
/* The same, copied; zeros. */
void image_take_to(struct image_in *in, void *to, size_t size);
uint64_t image_take_number(struct image_in *in);
/* At most `most`; more: failed. */
uint32_t image_take_count(struct image_in *in, uint64_t most);
/* To be freed; may be NULL. */
char *image_take_text(struct image_in *in);
/* Puts what was written in the place of what `array` holds. */
void image_take_array(struct image_in *in, GArray *array, size_t element);
/* To be freed; `*count` is set. */
uint32_t *image_take_words(struct image_in *in, uint32_t *count);
void image_take_map(struct image_in *in, struct idmap *map);

/* --- the whole file --- */
/* Is the file of that key, whole and unharmed? Fills the head. */
bool image_is_sound(int fd, const uint8_t *key, struct image_head *head);
uint64_t image_head_digest(const struct image_head *head, const struct digest *rest);

/* --- contents: image_record.c --- */
void image_put_record(struct image_out *out, const struct record *record, const void *at);
/* `at`: a new one. */
void image_take_record(struct image_in *in, const struct record *record, void *at);

/* --- contents: image_containers.c --- */
/* How a member FIELD_CONTAINER is written and read. */
struct image_container {
	const struct record *record;
	const char *member;
	void (*put)(struct image_out *out, const void *member);
	void (*take)(struct image_in *in, void *member);
};

const struct image_container *
image_container(const struct record *record, const struct field *field);

#endif
