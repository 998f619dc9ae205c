/* SPDX-License-Identifier: MIT */
/* Packets at a time that cannot be.
 *
 * Place: reader/, between finding the packets and putting them in order.
 */
#ifndef WHYLATE_READER_OUTLIERS_H
#define WHYLATE_READER_OUTLIERS_H

#include "reader/stream_state.h"

/* Takes the packets that are too far from the others out of the streams from `first` on,
 * which are those of one trace, and the streams that have none left out of the list; what
 * is taken out counts as lost in its file. */
void streams_drop_far(GPtrArray *streams, guint first);

#endif
