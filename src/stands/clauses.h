/* SPDX-License-Identifier: MIT */
/* What most sentences of stands/ begin and end with: who lost how much by waiting for whom, and
 * what was done meanwhile.
 *
 *   app (4 threads) waited 65 ms in all (…) for db (6) in read, which waited …: db slept …
 *   append_victim()        append_amount()  append_waits() …                    append_deeds()
 *
 * Part of stands/, under sentence.c; words: words/.
 */
#ifndef WHYLATE_STANDS_CLAUSES_H
#define WHYLATE_STANDS_CLAUSES_H

#include "stands/fact.h"

/* "webclient (209)", "python3 (6 threads)", "lock-N (4 threads)" */
void append_victim(GString *text, const struct session *session, const struct fact *fact);
/* "was", of several threads "were". */
const char *fact_was(const struct fact *fact);
/* "33.8 ms (45 % of its life; 12 times, 1.0 to 9.2 ms each)"; of several threads "65 ms in all
 * (lock-3 (219) most: 23 ms, 62 % of its life)" */
void append_amount(GString *text, const struct session *session, const struct fact *fact);
const struct chain *main_chain(const struct fact *fact);
/* "6 threads app waited 33.8 ms (…) for nginx (80) in recvfrom, which waited for app (95) in
 * epoll_wait": the first `count` links of the chain, up to `last`. */
void append_waits(GString *text, const struct session *session, const struct fact *fact,
		  guint count, uint32_t last);
/* " on /sys/…": what the victim's own waits were on, if that says what for. */
void append_control(GString *text, const struct session *session, const struct fact *fact);
/* The waits, and where who is last in them waited for the root, which is to be said: "…, which
 * waited in fdatasync for "; `links_end`: the last link of the chain is that wait. */
void append_waits_to_root(GString *text, const struct session *session, const struct fact *fact,
			  bool links_end);
/* ": logd slept 30 ms and worked 3 ms; app (9) worked 2 ms". */
void append_deeds(GString *text, const struct session *session, const struct fact *fact,
		  const char *before, uint32_t it);
/* What more than half of the time that this took was on: interned key, 0. Of work (`works`) in its
 * call. */
uint32_t deed_was_on(const struct fact *fact, const struct deed *deed, bool works);
/* What the longest part's cause says, behind `before`. */
void append_told(GString *text, const struct session *session, const struct fact *fact,
		 const char *before);
const struct reason *told_reason(const struct session *session, const struct fact *fact);
bool has_chain(const struct fact *fact);
/* "while webclient (9) waited for nginx (8) in recvfrom": to whom it happened instead. */
void append_while(GString *text, const struct session *session, const struct fact *fact);

#endif
