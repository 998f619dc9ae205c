/* SPDX-License-Identifier: MIT */
/* See error.h. */
#include "util/error.h"

G_DEFINE_QUARK(whylate - error - quark, whylate_error)
