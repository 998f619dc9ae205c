/* SPDX-License-Identifier: MIT */
/* The words of reasons, as struct reason_info has them: a file for each room that finds some.
 *
 * Place: waits/, under reasons.c, whose table names them.
 */
#ifndef WHYLATE_WAITS_REASON_WORDS_H
#define WHYLATE_WAITS_REASON_WORDS_H

#include "waits/wait.h"

/* Of disk/: requests that were kept back, and for whom one was busy. */
char *io_limit_label(const struct session *session, const struct wait *wait,
		     const struct reason *reason);
char *device_holds_label(const struct session *session, const struct wait *wait,
			 const struct reason *reason);
char *flush_label(const struct session *session, const struct wait *wait,
		  const struct reason *reason);
char *dirty_label(const struct session *session, const struct wait *wait,
		  const struct reason *reason);

/* Of net/ and threads/: waits that the waiter's own time limit ended, though they were for
 * somebody. */
char *unanswered_label(const struct session *session, const struct wait *wait,
		       const struct reason *reason);
char *unconnected_label(const struct session *session, const struct wait *wait,
			const struct reason *reason);
char *given_up_label(const struct session *session, const struct wait *wait,
		     const struct reason *reason);
char *unended_label(const struct session *session, const struct wait *wait,
		    const struct reason *reason);
char *unlocked_label(const struct session *session, const struct wait *wait,
		     const struct reason *reason);

/* Of tries that fail until somebody makes a difference (tries/tries.h). */
char *try_label(const struct session *session, const struct wait *wait,
		const struct reason *reason);
char *try_fails_label(const struct session *session, const struct wait *wait,
		      const struct reason *reason);
char *try_lock_label(const struct session *session, const struct wait *wait,
		     const struct reason *reason);
char *answer_label(const struct session *session, const struct wait *wait,
		   const struct reason *reason);
char *read_locked_label(const struct session *session, const struct wait *wait,
			const struct reason *reason);
char *try_futex_label(const struct session *session, const struct wait *wait,
		      const struct reason *reason);

/* Of what TCP did (net/transport_waits.h). */
char *again_label(const struct session *session, const struct wait *wait,
		  const struct reason *reason);
char *delayed_label(const struct session *session, const struct wait *wait,
		    const struct reason *reason);
char *queue_label(const struct session *session, const struct wait *wait,
		  const struct reason *reason);
/* Of threads/: sleeps for memory, frozen cgroups. */
char *memory_high_label(const struct session *session, const struct wait *wait,
			const struct reason *reason);
char *reclaim_label(const struct session *session, const struct wait *wait,
		    const struct reason *reason);
char *frozen_label(const struct session *session, const struct wait *wait,
		   const struct reason *reason);
char *files_frozen_label(const struct session *session, const struct wait *wait,
			 const struct reason *reason);

/* Of guests/: what a guest waited for on its host. */
char *machine_label(const struct session *session, const struct wait *wait,
		    const struct reason *reason);
char *late_timer_label(const struct session *session, const struct wait *wait,
		       const struct reason *reason);

/* Behind who waited, and where: ", until /x was there"; free with g_free(). NULL: there is no more
 * to say. */
char *reason_clause(const struct session *session, const struct reason *reason);

#endif
