/* SPDX-License-Identifier: MIT */
/* The store of operations; see operation.h. */
#include "timeline/operation.h"

void operation_append(struct pages *operations, uint32_t *newest, const struct operation *operation)
{
	uint32_t index = pages_reserve(operations, 1);
	struct operation *record = operation_at(operations, index);

	*record = *operation;
	record->previous = *newest;
	*newest = index;
}
