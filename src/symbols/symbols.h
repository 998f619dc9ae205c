/* SPDX-License-Identifier: MIT */
/* Names of kernel addresses, from a copy of /proc/kallsyms.
 *
 * Place: symbols/. Call stacks and callbacks are recorded as addresses; the
 * traced kernel's symbols lie beside the trace, or --kallsyms names them.
 * Without them addresses are shown.
 */
#ifndef WHYLATE_SYMBOLS_SYMBOLS_H
#define WHYLATE_SYMBOLS_SYMBOLS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct symbols;

/* Errors are WHYLATE_ERROR_USAGE: the file cannot be read, has no symbols, or
 * its addresses are all zero (as /proc/kallsyms shows them to users). */
struct symbols *symbols_new(const char *path, GError **error);
void symbols_free(struct symbols *symbols);

/* The function at `address`, "vfs_read"; NULL if none is known. Owned by
 * `symbols`. `module`: what it belongs to, NULL for the kernel itself. */
const char *symbol_at(const struct symbols *symbols, uint64_t address, const char **module);

/* The address is of the tracer's own functions. */
bool symbol_is_tracers(const struct symbols *symbols, uint64_t address);

/* The functions of a recorded call stack from the outermost to the innermost,
 * as far as they say something: not the tracer's own, the switch to another
 * thread, or the way into the kernel. `words` are innermost first. Owned
 * strings; `symbols` may be NULL. */
GPtrArray *callpath_new(const struct symbols *symbols, const uint64_t *words, guint count);

#endif
