/* SPDX-License-Identifier: MIT */
/* See probes.h. */
#include "drill/probes.h"

#include <glob.h>
#include <string.h>

#define LIBRARY "liblttng-ust-cyg-profile.so"
#define HOOK "__cyg_profile_func_enter" /* that -finstrument-functions calls */

/* Of these a probe would call itself, or they are hooks of others. */
static bool is_tracers(const char *name, const char *module)
{
	static const char *const starts[] = {
		"lttng_",  "__event_probe__", "__traceiter_", "trace_event", "perf_trace_",
		"kprobe_", "kretprobe_",      "ftrace_",      "__fentry__",  "bpf_",
		NULL};

	if (module && g_str_has_prefix(module, "lttng"))
		return true;
	for (const char *const *start = starts; *start; start++)
		if (g_str_has_prefix(name, *start))
			return true;
	return false;
}

/* The next line's words, at most `most`; `text` moves on. The rest is in the last. */
static char **next_line(char **text, int most)
{
	char *end = strchr(*text, '\n'), *line = *text;

	*text = end ? end + 1 : line + strlen(line);
	if (end)
		*end = 0;
	return g_strsplit_set(line, " \t", most);
}

/* "vfs_read", "ext4_sync_file [ext4]" */
static bool take_list(struct probes *probes, const char *path)
{
	g_autofree char *text = NULL;
	char *at;

	if (!g_file_get_contents(path, &text, NULL, NULL) || !*text)
		return false;
	for (at = text; *at;) {
		g_auto(GStrv) words = next_line(&at, 2);
		const char *module = words[0] && words[1] ? words[1] : NULL;

		if (words[0] && *words[0] &&
		    !is_tracers(words[0], module && *module == '[' ? module + 1 : NULL))
			g_hash_table_add(probes->functions, g_strdup(words[0]));
	}
	return true;
}

/* Sections that kprobes keep out of, between these two symbols. */
static const char *const sections[][2] = {
	{"__kprobes_text_start", "__kprobes_text_end"},
	{"__noinstr_text_start", "__noinstr_text_end"},
	{"__entry_text_start", "__entry_text_end"},
	{"__cpuidle_text_start", "__cpuidle_text_end"},
	{"__static_call_text_start", "__static_call_text_end"},
};

static bool is_in_section(const guint64 (*places)[2], guint64 address)
{
	for (size_t i = 0; i < G_N_ELEMENTS(sections); i++)
		if (places[i][0] <= address && address < places[i][1])
			return true;
	return false;
}

static void find_sections(char *text, guint64 (*places)[2])
{
	for (size_t i = 0; i < G_N_ELEMENTS(sections); i++)
		for (int k = 0; k < 2; k++) {
			g_autofree char *word = g_strconcat(" ", sections[i][k], "\n", NULL);
			const char *found = strstr(text, word);

			places[i][k] = 0;
			while (found && found > text && found[-1] != '\n')
				found--;
			if (found)
				places[i][k] = g_ascii_strtoull(found, NULL, 16);
		}
}

/* "ffffffff81000200 t vfs_read", "… t ext4_sync_file\t[ext4]" */
static bool take_symbols(struct probes *probes, const char *path)
{
	g_autofree char *text = NULL;
	guint64 places[G_N_ELEMENTS(sections)][2];
	char *at;

	if (!g_file_get_contents(path, &text, NULL, NULL) || !*text)
		return false;
	find_sections(text, places);
	for (at = text; *at;) {
		g_auto(GStrv) words = next_line(&at, 4);
		guint count = g_strv_length(words);

		if (count < 3 || g_ascii_tolower(*words[1]) != 't')
			continue;
		if (!is_tracers(words[2], count > 3 && *words[3] == '[' ? words[3] + 1 : NULL) &&
		    !is_in_section(places, g_ascii_strtoull(words[0], NULL, 16)))
			g_hash_table_add(probes->functions, g_strdup(words[2]));
	}
	return true;
}

/* "0xffffffff81000200-0xffffffff81000240	native_load_gdt" */
static void leave_out(struct probes *probes, const char *path)
{
	g_autofree char *text = NULL;
	char *at;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return;
	for (at = text; *at;) {
		g_auto(GStrv) words = next_line(&at, 3);

		if (words[0] && words[1])
			g_hash_table_remove(probes->functions, words[1]);
	}
}

void probes_init(struct probes *probes, const char *root, const char *kallsyms)
{
	static const char *const lists[] = {"/sys/kernel/tracing/available_filter_functions",
					    "/sys/kernel/debug/tracing/available_filter_functions",
					    NULL};
	g_autofree char *symbols = g_strconcat(root, "/proc/kallsyms", NULL);
	g_autofree char *blacklist = g_strconcat(root, "/sys/kernel/debug/kprobes/blacklist", NULL);

	*probes = (struct probes) {
		.functions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.hooked = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
	if (kallsyms && take_symbols(probes, kallsyms))
		return;
	for (const char *const *list = lists; *list; list++) {
		g_autofree char *path = g_strconcat(root, *list, NULL);

		if (take_list(probes, path))
			return;
	}
	if (!take_symbols(probes, symbols))
		g_clear_pointer(&probes->functions, g_hash_table_destroy);
	else
		leave_out(probes, blacklist);
}

void probes_clear(struct probes *probes)
{
	g_clear_pointer(&probes->functions, g_hash_table_destroy);
	g_hash_table_destroy(probes->hooked);
}

bool probes_can(const void *data, const char *function)
{
	const struct probes *probes = data;

	return probes->functions ? g_hash_table_contains(probes->functions, function)
				 : *function != '[' && !is_tracers(function, NULL);
}

/* The hook's name is in the table of what it wants of others. */
static bool names_hook(const char *binary)
{
	GMappedFile *file = g_mapped_file_new(binary, FALSE, NULL);
	bool found = file && memmem(g_mapped_file_get_contents(file),
				    g_mapped_file_get_length(file), HOOK, sizeof HOOK);

	if (file)
		g_mapped_file_unref(file);
	return found;
}

bool probes_has_calls(const void *data, const char *binary)
{
	const struct probes *probes = data;
	gpointer known;

	if (!probes->runs_program)
		return false;
	if (!g_hash_table_lookup_extended(probes->hooked, binary, NULL, &known)) {
		known = GINT_TO_POINTER(names_hook(binary));
		g_hash_table_insert(probes->hooked, g_strdup(binary), known);
	}
	return GPOINTER_TO_INT(known);
}

char *probes_library(void)
{
	static const char *const places[] = {"/usr/lib/*/" LIBRARY "*", "/usr/lib64/" LIBRARY "*",
					     "/usr/lib/" LIBRARY "*", "/usr/local/lib/" LIBRARY "*",
					     NULL};
	char *found = NULL;

	for (const char *const *place = places; *place && !found; place++) {
		glob_t paths = {0};

		if (glob(*place, 0, NULL, &paths) == 0 && paths.gl_pathc)
			found = g_strdup(paths.gl_pathv[0]);
		globfree(&paths);
	}
	return found;
}
