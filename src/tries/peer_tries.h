/* SPDX-License-Identifier: MIT */
/* Connections that are refused until somebody listens; reads that find nothing until somebody
 * writes.
 *
 *   connect = ECONNREFUSED … = 0    until a listen() of a socket of that family: which address
 *                                   it is of is not recorded, so if several processes did it
 *                                   meanwhile, nobody is named
 *   read = EAGAIN … > 0             until a write to the same pipe or pair of sockets
 *
 * Place: tries/, over tries.h.
 */
#ifndef WHYLATE_TRIES_PEER_TRIES_H
#define WHYLATE_TRIES_PEER_TRIES_H

#include "tries/tries.h"

/* connect(), listen(), read() and its kin, write() and its kin have ended with `ret`. */
void peer_connected(struct flow *flow, uint32_t index, int64_t ret);
void peer_listens(struct flow *flow, uint32_t index, int64_t ret);
/* Who wrote last to `object`, an interned key, since the thread found nothing there: NO_THREAD. */
uint32_t peer_input_maker(struct flow *flow, uint32_t index, uint32_t object);
void peer_read(struct flow *flow, uint32_t index, int64_t ret);
void peer_written(struct flow *flow, uint32_t index, int64_t ret);
/* The address of a socket is that of a file. */
bool socket_is_unix(struct flow *flow, uint32_t index);

#endif
