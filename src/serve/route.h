/* SPDX-License-Identifier: MIT */
/* From a request's path to who answers it. Place: serve/ (serve.h). */
#ifndef WHYLATE_SERVE_ROUTE_H
#define WHYLATE_SERVE_ROUTE_H

#include "tsp/asking.h"

struct route {
	const char *method;
	const char *path; /* words; "*": any, which is given to the handler */
	serve_handler *handler;
	bool apart; /* it takes long: in a process of its own */
};

/* Which route it is, NULL: none, and the answer says so. Path, query and body are taken; a body
 * that is no JSON is refused. */
const struct route *route_find(struct asking *asking, const char *path);
/* Answers: the route's handler. */
void route_take(struct asking *asking, const struct route *route);

#endif
