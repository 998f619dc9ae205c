/* SPDX-License-Identifier: MIT */
/* The options that say what a request is and costs, which `requests` and `diff` share; and those
 * that limit what another command (`functions`) looks at to requests.
 * Place: tracking/. */
#ifndef WHYLATE_TRACKING_REQUEST_OPTIONS_H
#define WHYLATE_TRACKING_REQUEST_OPTIONS_H

#include "run/command.h"

extern const struct option option_preset, option_begin, option_end, option_follow,
	option_request_metric, option_pick;

#define REQUEST_OPTIONS                                                                            \
	&option_preset, &option_begin, &option_end, &option_follow, &option_request_metric
#define REQUEST_LIMIT_OPTIONS                                                                      \
	&option_preset, &option_begin, &option_end, &option_follow, &option_pick

/* --begin and --end fit each other; keeps what both capture. */
bool request_options_check(struct options *options, GError **error);
/* Requests are asked for by some option. */
bool request_options_said(const struct options *options);
/* One of REQUEST_LIMIT_OPTIONS is given. */
bool request_options_limit(const struct options *options);
/* The trace has the call that is to be a request; else an error (usage). */
bool request_call_exists(const struct session *session, GError **error);
void requests_want(const struct options *options, struct wanted *wanted);

#endif
