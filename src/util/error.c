/* SPDX-License-Identifier: MIT */
/* See error.h. */
#include "util/error.h"

G_DEFINE_QUARK(whylate - error - quark, whylate_error)

int error_status(const GError *error)
{
	int status = error->domain == WHYLATE_ERROR ? error->code : WHYLATE_ERROR_NO_TRACE;

	g_assert(status >= WHYLATE_ERROR_USAGE);
	return status;
}
