/* SPDX-License-Identifier: MIT */
/* --anonymise: names and paths are replaced before a report is made.
 *
 * Place: run/, the last step of session_finish(): what the user named has been looked for by
 * then, and nothing has been made of names yet. It is done where names are kept (interned texts,
 * threads, hosts, damages), so that no report and no export has to think of it.
 *
 *   thread, program   thread-3                 not those of the kernel and of the tracer
 *   host              host-1
 *   path              /etc/name-7/name-8       each component by itself; the directories that every
 *                                              system has at its top, and numbers, stay
 *   address           addr-2:80                not loopback; the port stays
 *
 * The same name is replaced by the same text wherever it occurs: numbers in order of the threads
 * and texts of the (first) trace, or with a key the same in every trace that is read with that key.
 * Numbers tell nothing of the names; what is made with a key tells them to who has it.
 * Kernel names stay (system calls, functions, devices), as do TIDs, times and counts.
 */
#ifndef WHYLATE_RUN_ANONYMISE_H
#define WHYLATE_RUN_ANONYMISE_H

#include <glib.h>
#include <stdbool.h>

struct anonymiser;
struct options;
struct session;

enum anonymous { ANONYMOUS_THREAD, ANONYMOUS_NAME, ANONYMOUS_HOST, ANONYMOUS_ADDRESS };

/* `key_file` NULL: numbers. NULL and an error (usage) if it cannot be read or is empty. */
struct anonymiser *anonymiser_new(const char *key_file, GError **error);
void anonymiser_free(struct anonymiser *anonymiser);

/* What stands for the text; owned by the anonymiser. */
const char *anonymous_text(struct anonymiser *anonymiser, enum anonymous kind, const char *text);
/* A path, component by component; free with g_free(). */
char *anonymous_path(struct anonymiser *anonymiser, const char *path);

/* What stands for an interned text that is a resource, a path or an address; NULL: it stays. Free
 * with g_free(). */
char *anonymous_key(struct anonymiser *anonymiser, const char *text);
/* A name that an option gives, as reports may show it: itself without --anonymise, and if it is a
 * number. */
const char *option_shown(const struct options *options, enum anonymous kind, const char *text);

/* Replaces all names of the session; nothing without --anonymise. */
void session_anonymise(struct session *session);

#endif
