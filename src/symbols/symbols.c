/* SPDX-License-Identifier: MIT */
/* Reading kallsyms: see symbols.h.
 *
 *   ffffffff8135b3a0 T vfs_read
 *   ffffffffc0334010 t lttng_tracepoint [lttng_tracer]
 */
#include "symbols/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/error.h"

#define MODULES 0xffffffffa0000000u /* x86-64: where modules begin */

struct symbol {
	uint64_t address;
	uint32_t name, module; /* offsets in `text`; module 0: the kernel */
};

struct symbols {
	GArray *list;  /* struct symbol, by address */
	GString *text; /* names, each ended by 0; begins with one empty */
};

static uint32_t keep(struct symbols *symbols, const char *text)
{
	uint32_t offset = (uint32_t) symbols->text->len;

	g_string_append_len(symbols->text, text, (gssize) strlen(text) + 1);
	return offset;
}

/* The modules come one after the other: most often the last one again. */
static uint32_t keep_module(struct symbols *symbols, const char *module)
{
	for (guint i = symbols->list->len; i-- > 0;) {
		uint32_t known = g_array_index(symbols->list, struct symbol, i).module;

		if (known && strcmp(symbols->text->str + known, module) == 0)
			return known;
		if (known)
			break;
	}
	return keep(symbols, module);
}

/* False: the line is none of kallsyms. */
static bool add_line(struct symbols *symbols, const char *line)
{
	unsigned long long address;
	char type, name[512], module[128];
	size_t digits = strspn(line, "0123456789abcdefABCDEF");
	int fields = sscanf(line, "%llx %c %511s [%127[^]]]", &address, &type, name, module);
	struct symbol symbol = {.address = address};

	if (fields < 3 || digits < 8 || line[digits] != ' ' || line[digits + 1] == 0 ||
	    line[digits + 2] != ' ')
		return false;
	if (!strchr("tTwW", type) || !address)
		return true;
	symbol.name = keep(symbols, name);
	symbol.module = fields == 4 ? keep_module(symbols, module) : 0;
	g_array_append_val(symbols->list, symbol);
	return true;
}

static int by_address(gconstpointer a, gconstpointer b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

struct symbols *symbols_new(const char *path, GError **error)
{
	struct symbols *symbols;
	FILE *file = fopen(path, "r");
	g_autoptr(GError) wrong = NULL;
	char line[1024];
	unsigned number = 0;

	if (!file) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "--kallsyms %s: %s", path,
			    g_strerror(errno));
		return NULL;
	}
	symbols = g_new0(struct symbols, 1);
	symbols->list = g_array_new(FALSE, FALSE, sizeof(struct symbol));
	symbols->text = g_string_new(NULL);
	g_string_append_c(symbols->text, 0);
	while (fgets(line, sizeof line, file)) {
		number++;
		if (!add_line(symbols, line)) {
			g_set_error(&wrong, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
				    "--kallsyms %s: line %u is not a line of kallsyms: it must be "
				    "'ADDRESS TYPE NAME'",
				    path, number);
			break;
		}
	}
	if (!wrong && !number)
		g_set_error(&wrong, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "--kallsyms %s: %s", path,
			    ferror(file) ? "cannot be read" : "is empty");
	else if (!wrong && !symbols->list->len)
		g_set_error(&wrong, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--kallsyms %s: has no addresses of functions; copy /proc/kallsyms as "
			    "root, others see only zeros",
			    path);
	fclose(file);
	if (wrong) {
		symbols_free(symbols);
		g_propagate_error(error, g_steal_pointer(&wrong));
		return NULL;
	}
	g_array_sort(symbols->list, by_address);
	return symbols;
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	g_array_free(symbols->list, TRUE);
	g_string_free(symbols->text, TRUE);
	g_free(symbols);
}

const char *symbol_at(const struct symbols *symbols, uint64_t address, const char **module)
{
	guint low = 0, high = symbols ? symbols->list->len : 0;
	const struct symbol *symbol;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(symbols->list, struct symbol, middle).address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	symbol = &g_array_index(symbols->list, struct symbol, low - 1);
	if (!symbol->module && address >= MODULES)
		return NULL; /* a module's, and the map is of the kernel only */
	/* several names of one place: the first one listed */
	while (low > 1 && symbol[-1].address == symbol->address) {
		symbol--;
		low--;
	}
	if (module)
		*module = symbol->module ? symbols->text->str + symbol->module : NULL;
	return symbols->text->str + symbol->name;
}

bool symbol_is_tracers(const struct symbols *symbols, uint64_t word)
{
	const char *module = NULL;

	if (!symbol_at(symbols, word, &module))
		return word >= MODULES;
	return module && g_str_has_prefix(module, "lttng");
}

static bool is_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (g_str_has_prefix(name, *names))
			return true;
	return false;
}

GPtrArray *callpath_new(const struct symbols *symbols, const uint64_t *words, guint count)
{
	static const char *const inner[] = {"__traceiter_", "__schedule", "schedule", NULL};
	static const char *const outer[] = {
		"entry_",
		"do_syscall_64",
		"do_fast_syscall_32",
		"__do_fast_syscall_32",
		"ret_from_fork",
		"asm_",
		NULL};
	GPtrArray *path = g_ptr_array_new_with_free_func(g_free);
	guint first = 0;

	if (count && words[count - 1] == UINT64_MAX) /* cut by the tracer */
		count--;
	while (first < count && symbol_is_tracers(symbols, words[first]))
		first++;
	for (guint i = count; i-- > first;) {
		/* a return address: the call is before it */
		const char *name = symbol_at(symbols, words[i] - 1, NULL);

		if (!name)
			g_ptr_array_add(path, g_strdup_printf("0x%" G_GINT64_MODIFIER "x",
							      (guint64) words[i]));
		else if (path->len || !is_of(name, outer))
			g_ptr_array_add(path, g_strdup(name));
	}
	while (path->len && is_of(g_ptr_array_index(path, path->len - 1), inner))
		g_ptr_array_set_size(path, (gint) path->len - 1);
	return path;
}
