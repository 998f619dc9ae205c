/* SPDX-License-Identifier: MIT */
/* From a request's path to who answers it. Place: serve/ (serve.h). */
#ifndef WHYLATE_SERVE_ROUTE_H
#define WHYLATE_SERVE_ROUTE_H

#include "tsp/asking.h"

enum route_how {
	AT_ONCE = 0,
	APART = 1, /* it takes long: in a process of its own */
	EARLY = 2, /* it can be answered while the trace is read */
};

struct route {
	const char *method;
	const char *path; /* words; "*": any, which is given to the handler */
	serve_handler *handler;
	unsigned how; /* enum route_how */
};

/* Which route it is, NULL: none, and the answer says so. Path, query and body are taken; a body
 * that is no JSON is refused. */
const struct route *route_find(struct asking *asking, const char *path);
/* Answers: the route's handler. */
void route_take(struct asking *asking, const struct route *route);

#endif
