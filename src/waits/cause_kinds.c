/* SPDX-License-Identifier: MIT */
/* The table of the kinds of causes; see cause_kinds.h. */
#include "waits/cause_kinds.h"

#include <glib.h>

const struct cause_info *cause_info(enum cause_kind kind)
{
#define CAUSE_ROW(kind, name, before, joint, naming, flags) {name, before, joint, naming, flags},
	static const struct cause_info infos[] = {CAUSE_KINDS(CAUSE_ROW)};
#undef CAUSE_ROW

	g_assert(kind < CAUSE_KIND_COUNT);
	return &infos[kind];
}

const char *cause_kind_text(enum cause_kind kind)
{
	return cause_info(kind)->name;
}
