/* SPDX-License-Identifier: MIT */
/* See chain.h. */
#include "words/chain.h"

#include "event/results.h"
#include "waits/cause_kinds.h"
#include "waits/reason_words.h"
#include "waits/reasons.h"
#include "words/names.h"

#define CHAIN_MAX 5 /* waits of a chain; of a longer one the first two and the last two */

void append_clause(GString *text, const struct session *session, const struct block *block)
{
	const struct reason *reason = block_reason(session, block);
	g_autofree char *clause = NULL;

	if (reason && reason->kind == REASON_UNCONNECTED && result_is_unreachable(reason->result))
		clause = g_strdup(" until the network gave an error");
	else if (reason && (reason->kind == REASON_GIVEN_UP ||
			    (reason->kind == REASON_UNCONNECTED && reason->result)))
		clause = g_strdup(" until TCP gave it up");
	else if (reason && reason_info(reason)->cause == CAUSE_TIMEOUT)
		clause = g_strdup(reason->flags & REASON_LATE ? "" : " until its own time limit");
	else if (reason)
		clause = reason_clause(session, reason);
	if (clause)
		g_string_append(text, clause);
}

static bool is_frozen(const struct session *session, const struct link *link)
{
	const struct reason *reason = link->block ? block_reason(session, link->block) : NULL;

	return reason && reason->kind == REASON_FROZEN;
}

void append_chain(GString *text, const struct session *session, const struct naming *naming,
		  const struct link *links, guint count, uint32_t last, const char *amount)
{
	for (guint i = 0; i < count; i++) {
		const struct link *link = &links[i];

		if (i)
			g_string_append(text, ", which");
		if (i == 2 && count > CHAIN_MAX) {
			i = count - 3;
			g_string_append_printf(text, " waited through %u more for ",
					       count - CHAIN_MAX);
			naming->append(text, naming->of, links[i + 1].thread, NO_THREAD);
			continue;
		}
		if (is_frozen(session, link))
			g_string_append_printf(text, " was frozen%s with its cgroup by ",
					       i ? "" : amount);
		else
			g_string_append_printf(text, " waited%s for ", i ? "" : amount);
		naming->append(text, naming->of, i + 1 < count ? links[i + 1].thread : last,
			       link->thread);
		if (is_frozen(session, link))
			continue;
		g_string_append(text, " in ");
		append_where(text, session, link->leaf, link->resource, link->ending);
		if (link->shared && !(i + 1 < count && links[i + 1].shared))
			g_string_append(text, " (a semaphore or a pool: its turn)");
		if (link->block)
			append_clause(text, session, link->block);
	}
}
