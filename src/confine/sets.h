/* SPDX-License-Identifier: MIT */
/* Who confines itself: what a process of that kind needs; see confine.h. */
#ifndef WHYLATE_CONFINE_SETS_H
#define WHYLATE_CONFINE_SETS_H

/* The build has sanitizers, which look into their own process. */
#if defined(__SANITIZE_ADDRESS__)
#define CONFINE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CONFINE_SANITIZED 1
#endif
#endif
#ifndef CONFINE_SANITIZED
#define CONFINE_SANITIZED 0
#endif

enum confine_set {
	CONFINE_ANALYSIS, /* reads files, computes, writes; starts processes, but no program */
	CONFINE_SERVER, /* … and answers at sockets that it has already */
	CONFINE_CHILD, /* reads files and answers who asks, at a socket that it has: nothing else */
};

#endif
