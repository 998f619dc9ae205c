/* SPDX-License-Identifier: MIT */
/* Functions: where time goes along the calls of threads, one question after the other.
 *
 * Place: functions/, behind `whylate functions`, over call_tree.h and frames.h. What is in the tree
 * is summed by function, call paths that take a good part of the time are picked (the walk), calls
 * that did not return and waits with recorded call stacks are listed. Calls that stand out are in
 * stand_outs.h. Sources: CrossWalk (the walk: breadth first, from `--threshold` of the time on),
 * spTracer (nested calls between two events).
 */
#ifndef WHYLATE_FUNCTIONS_FUNCTIONS_H
#define WHYLATE_FUNCTIONS_FUNCTIONS_H

#include "functions/found_calls.h"
#include "functions/wait_stacks.h"

/* Takes `requests`: the time in which threads work on those listed is looked at; NULL: all. */
struct functions *functions_new(const struct session *session, struct user_requests *requests);
/* False and `error` (usage): --function names none that is called. */
bool functions_check(const struct functions *functions, GError **error);
void functions_free(struct functions *functions);

/* A node's --metric time, of the thread's own, but for what it waited at leisure (waits/idle.h). */
int64_t functions_busy_time(const struct functions *functions, uint32_t node);
/* --metric's time of a root's outermost functions of user space; where none were recorded, of all
 * of the threads' lives. What shares are of. */
int64_t functions_scope(const struct functions *functions, uint32_t root);
/* The node's --metric time; of a thread that was waited for all of its time meanwhile, as that was
 * time blocked. */
int64_t functions_node_time(const struct functions *functions, uint32_t node);
/* The node is a bottleneck: its --metric time is at least --threshold percent of that. */
bool functions_is_bottleneck(const struct functions *functions, uint32_t root, uint32_t node);

#endif
