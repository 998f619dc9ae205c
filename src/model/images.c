/* SPDX-License-Identifier: MIT */
/* What processes have loaded; see images.h. */
#include "model/images.h"

#include <string.h>

#include "model/model.h"

static uint64_t key_of(uint16_t host, int32_t pid)
{
	return (uint64_t) host << 32 | (uint32_t) pid;
}

static struct loaded_image *image_at(const struct model *model, uint32_t number)
{
	return &g_array_index(model->images, struct loaded_image, number - 1);
}

static struct image_space *space_at(const struct model *model, uint32_t index)
{
	return &g_array_index(model->image_spaces, struct image_space, index);
}

static uint32_t space_new(struct model *model, uint16_t host, int32_t pid, uint32_t parent,
			  int64_t from)
{
	uint32_t before = idmap_get(&model->space_index, key_of(host, pid));
	struct image_space space = {.from = from,
				    .pid = pid,
				    .host = host,
				    .parent = parent,
				    .previous = before == IDMAP_NONE ? NO_SPACE : before};

	g_array_append_val(model->image_spaces, space);
	idmap_set(&model->space_index, key_of(host, pid), model->image_spaces->len - 1);
	return model->image_spaces->len - 1;
}

/* The process's space now; made if it has none. */
static uint32_t space_of(struct model *model, uint16_t host, int32_t pid)
{
	uint32_t space = idmap_get(&model->space_index, key_of(host, pid));

	return space == IDMAP_NONE ? space_new(model, host, pid, NO_SPACE, INT64_MIN) : space;
}

/* Its image at that address that has not been unloaded; NULL. */
static struct loaded_image *image_based(const struct model *model, uint32_t space, uint64_t base)
{
	for (uint32_t at = space_at(model, space)->newest; at; at = image_at(model, at)->previous)
		if (image_at(model, at)->base == base && image_at(model, at)->until == INT64_MAX)
			return image_at(model, at);
	return NULL;
}

static bool overlap(const struct loaded_image *a, const struct loaded_image *b)
{
	return a->base - b->base < b->size || b->base - a->base < a->size;
}

void model_image_loaded(struct model *model, const struct loaded_image *image, bool since)
{
	uint32_t space = space_of(model, image->host, image->pid);
	struct loaded_image *known = image_based(model, space, image->base), new = *image;

	if (known && known->path == image->path && known->size == image->size)
		return;
	if (!since) /* since the process is what it is, as far as is known */
		new.from = space_at(model, space)->from;
	/* what was there before must have gone, seen or not */
	for (uint32_t at = space_at(model, space)->newest; at; at = image_at(model, at)->previous) {
		struct loaded_image *old = image_at(model, at);

		if (!overlap(old, &new))
			continue;
		old->until = MIN(old->until, image->from);
		new.from = MAX(new.from, old->until);
	}
	new.until = INT64_MAX;
	new.previous = space_at(model, space)->newest;
	g_array_append_val(model->images, new);
	space_at(model, space)->newest = model->images->len;
}

void model_image_build_id(struct model *model, uint16_t host, int32_t pid, uint64_t base,
			  const uint8_t *bytes, uint32_t count)
{
	struct loaded_image *image = image_based(model, space_of(model, host, pid), base);

	if (!image || count > BUILD_ID_MAX)
		return;
	memcpy(image->build_id, bytes, count);
	image->build_id_length = (uint8_t) count;
}

void model_image_unloaded(struct model *model, uint16_t host, int32_t pid, uint64_t base,
			  int64_t time)
{
	struct loaded_image *image = image_based(model, space_of(model, host, pid), base);

	if (image)
		image->until = MAX(time, image->from);
}

void model_images_fork(struct model *model, uint16_t host, int32_t parent, int32_t child,
		       int64_t time)
{
	uint32_t from = idmap_get(&model->space_index, key_of(host, parent));

	if (from != IDMAP_NONE)
		space_new(model, host, child, from, time);
	else if (idmap_get(&model->space_index, key_of(host, child)) != IDMAP_NONE)
		space_new(model, host, child, NO_SPACE, time); /* the PID was another's before */
}

void model_images_exec(struct model *model, uint16_t host, int32_t pid, int64_t time)
{
	uint32_t space = idmap_get(&model->space_index, key_of(host, pid));

	if (space == IDMAP_NONE)
		return;
	for (uint32_t at = space_at(model, space)->newest; at; at = image_at(model, at)->previous)
		image_at(model, at)->until = MIN(image_at(model, at)->until, time);
	space_new(model, host, pid, NO_SPACE, time);
}

void model_image_program(struct model *model, uint16_t host, int32_t pid, uint32_t path,
			 int64_t time)
{
	uint32_t space = space_new(model, host, pid, NO_SPACE, time);
	struct loaded_image program = {.from = time,
				       .until = INT64_MAX,
				       .path = path,
				       .pic = true,
				       .pid = pid,
				       .host = host};

	g_array_append_val(model->images, program);
	space_at(model, space)->newest = model->images->len;
}

static bool is_in(const struct loaded_image *image, uint64_t address)
{
	return address - image->base < image->size;
}

/* At that time, else the first one after it, but not what only the parent loaded later. */
static const struct loaded_image *
find_in(const struct model *model, const struct image_space *space, uint64_t address, int64_t time,
	bool own)
{
	const struct loaded_image *later = NULL;

	for (uint32_t at = space->newest; at; at = image_at(model, at)->previous) {
		const struct loaded_image *image = image_at(model, at);

		if (!is_in(image, address) || image->until <= time)
			continue;
		if (image->from <= time)
			return image;
		if (own)
			later = image;
	}
	return later;
}

uint32_t model_image_number(const struct model *model, const struct loaded_image *image)
{
	return (uint32_t) (image - (const struct loaded_image *) (void *) model->images->data) + 1;
}

/* The space of the process at `time`, or its first one; NO_SPACE. */
static uint32_t space_then(const struct model *model, uint16_t host, int32_t pid, int64_t time)
{
	uint32_t index = idmap_get(&model->space_index, key_of(host, pid));

	if (index == IDMAP_NONE)
		return NO_SPACE;
	while (space_at(model, index)->from > time && space_at(model, index)->previous != NO_SPACE)
		index = space_at(model, index)->previous;
	return index;
}

const struct loaded_image *model_image_at(const struct model *model, uint16_t host, int32_t pid,
					  uint64_t address, int64_t time)
{
	uint32_t index = space_then(model, host, pid, time);
	const struct loaded_image *image = NULL;
	bool own = true;

	while (!image && index != NO_SPACE) {
		const struct image_space *space = space_at(model, index);

		image = find_in(model, space, address, time, own);
		own = false;
		time = MIN(time, space->from);
		index = space->parent;
	}
	return image;
}

const struct loaded_image *
model_program_at(const struct model *model, uint16_t host, int32_t pid, int64_t time)
{
	for (uint32_t index = space_then(model, host, pid, time);
	     index != NO_SPACE && space_at(model, index)->from <= time;
	     index = space_at(model, index)->parent)
		for (uint32_t at = space_at(model, index)->newest; at;
		     at = image_at(model, at)->previous)
			if (!image_at(model, at)->size && image_at(model, at)->from <= time)
				return image_at(model, at);
	return NULL;
}

bool model_images_index(struct model *model)
{
	bool fit = true;

	for (guint i = 0; i < model->images->len; i++)
		fit &= image_at(model, i + 1)->previous <= i;
	for (guint i = 0; i < model->image_spaces->len; i++) {
		const struct image_space *space = space_at(model, i);

		fit &= (space->parent == NO_SPACE || space->parent < i) &&
		       (space->previous == NO_SPACE || space->previous < i) &&
		       space->newest <= model->images->len;
		idmap_set(&model->space_index, key_of(space->host, space->pid), i);
	}
	return fit;
}
