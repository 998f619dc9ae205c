/* SPDX-License-Identifier: MIT */
/* See kept.h. */
#include "serve/kept.h"

#include <string.h>

#define KEPT_BYTES (16u << 20)

struct kept {
	char *key; /* owned */
	struct answer answer;
};

static void kept_free(struct kept *kept)
{
	g_free(kept->key);
	answer_clear(&kept->answer);
	g_free(kept);
}

void kept_init(struct kept_answers *kept)
{
	g_queue_init(&kept->list);
	kept->bytes = 0;
}

void kept_clear(struct kept_answers *kept)
{
	g_queue_clear_full(&kept->list, (GDestroyNotify) kept_free);
}

bool kept_find(struct kept_answers *kept, const char *key, struct answer *answer)
{
	for (GList *at = kept->list.head; at; at = at->next) {
		struct kept *one = at->data;

		if (strcmp(one->key, key) != 0)
			continue;
		g_queue_unlink(&kept->list, at);
		g_queue_push_head_link(&kept->list, at);
		*answer = answer_copy(&one->answer);
		return true;
	}
	return false;
}

void kept_add(struct kept_answers *kept, const char *key, const struct answer *answer)
{
	size_t size = g_bytes_get_size(answer->bytes);
	struct kept *one;

	if (answer->status != 200 || size > KEPT_BYTES / 2)
		return;
	one = g_new(struct kept, 1);
	*one = (struct kept) {g_strdup(key), answer_copy(answer)};
	g_queue_push_head(&kept->list, one);
	kept->bytes += size;
	while (kept->bytes > KEPT_BYTES) {
		struct kept *last = g_queue_pop_tail(&kept->list);

		kept->bytes -= g_bytes_get_size(last->answer.bytes);
		kept_free(last);
	}
}
