/* SPDX-License-Identifier: MIT */
/* Exchanges: what threads read from and wrote to connections and pipes, and the
 * opening and closing of these. From them requests are told apart, and followed from
 * one thread to another.
 *
 * Place: timeline/, written by flow/ (exchanges.c) while reading, only if a request is
 * asked for (flow.exchanges_wanted); read by the analyses (requests.h). They are stored in
 * the order in which they take effect: what is written when the call begins, as it can
 * be read before the call returns; what is read when the call returns.
 *
 *   writer  ──┤ sendto           ├──            stored: ▲ here
 *   reader      ──┤ recvfrom   ├──                             ▲ here
 */
#ifndef WHYLATE_TIMELINE_EXCHANGE_H
#define WHYLATE_TIMELINE_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

enum exchange_kind {
	EXCHANGE_READ,
	EXCHANGE_WRITE,
	EXCHANGE_ACCEPT, /* of a listening socket: `end` is the connection made */
	EXCHANGE_CONNECT,
	EXCHANGE_CLOSE,  /* nobody has it open any more */
	EXCHANGE_DISK,   /* no connection's: a block request, from issue to completion, of
			    the thread that asked for it; `end` is the device's interned key */
	EXCHANGE_FILE,   /* a process's first read of a file; `end` is its interned key */
};

struct exchange {
	int64_t begin, end_time; /* ns: entry and return of the call; INT64_MAX: none seen */
	int64_t came; /* the first bytes read from a connection: when they came; 0: not known */
	uint32_t file;    /* EXCHANGE_DISK: interned key of the file, 0: not known */
	uint32_t through; /* … the kernel thread that issued it for `thread`, NO_THREAD */
	uint32_t thread;
	uint32_t end;    /* number of the struct channel_end */
	uint32_t call;   /* interned system call */
	uint32_t bytes;  /* moved; 0: none, it failed, or (read) the stream is at its end */
	uint8_t kind;    /* enum exchange_kind */
	bool failed;     /* the call returned an error */
};

enum channel_kind {
	CHANNEL_SOCKET,
	CHANNEL_PIPE, /* or a pair of sockets */
};
enum channel_role {
	ROLE_UNKNOWN,
	ROLE_SERVER,
	ROLE_CLIENT,
};

/* One end of a connection; a pipe, or a pair of sockets, as a whole. */
struct channel_end {
	int64_t opened;  /* accepted, connected; INT64_MIN: before it was seen */
	uint32_t key;    /* interned resource, as reports name it */
	uint32_t local, remote; /* interned "socket:ADDR:PORT", 0: not known */
	uint16_t local_port, remote_port;
	uint16_t host;
	uint8_t kind;    /* enum channel_kind */
	uint8_t role;    /* enum channel_role: as calls show it */
	bool datagrams;  /* … and each peer of the socket has an end of its own */
	bool unnamed;    /* `key` is only its descriptor: nothing has named it */
	int32_t fd;      /* its descriptor when it was met first */
};

#endif
