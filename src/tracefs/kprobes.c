/* SPDX-License-Identifier: MIT */
/* See kprobes.h. */
#include "tracefs/kprobes.h"

#include <string.h>

#include "tracefs/tracefs.h"

#define ARGUMENTS 2 /* of functions, that are looked at */

/* "@1" stands for the first argument. struct filename begins with its name, struct sockaddr_storage
 * with the family; port, addresses and path (of sun_path) follow as they are in memory. */
#define ADDRESS(at)                                                                                \
	"family=+0(" at "):u16 port=+2(" at "):u16 v4=+4(" at "):u32 v6a=+8(" at "):u64 "          \
	"v6b=+16(" at "):u64 path=+2(" at "):string"

/* The first function that the kernel has; their names changed over the years. */
static const struct {
	const char *name, *functions, *fields;
} probes[] = {
	{"file_name", "do_filp_open", "name=+0(+0(@2)):string"},
	{"connect", "__sys_connect_file security_socket_connect", ADDRESS("@2")},
	{"peer_address", "move_addr_to_user", ADDRESS("@1")},
};

/* Where arguments are, for kernels before 4.20, which do not know $arg1. */
static const struct {
	const char *machine, *registers[ARGUMENTS];
} calling[] = {
	{"x86_64", {"%di", "%si"}}, {"i?86", {"%ax", "%dx"}},    {"aarch64", {"%x0", "%x1"}},
	{"arm*", {"%r0", "%r1"}},   {"riscv64", {"%a0", "%a1"}}, {"ppc64*", {"%gpr3", "%gpr4"}},
	{"s390x", {"%r2", "%r3"}},  {"mips*", {"%r4", "%r5"}},   {"loongarch64", {"%r4", "%r5"}},
};

/* Where the first two arguments of a function are; false: not known. */
static bool find_arguments(const char *root, const char *machine, const char **places)
{
	g_autofree char *help = tracefs_read(root, "README", NULL);

	if (help && strstr(help, "$arg<N>")) {
		places[0] = "$arg1";
		places[1] = "$arg2";
		return true;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(calling); i++)
		if (g_pattern_match_simple(calling[i].machine, machine)) {
			memcpy(places, calling[i].registers, sizeof calling[i].registers);
			return true;
		}
	return false;
}

/* "ffffffff812a4b60 t do_filp_open", also where addresses are zeros. */
static bool has_function(const char *symbols, const char *name)
{
	for (const char *at = strstr(symbols, name); at; at = strstr(at + 1, name))
		if (at - symbols > 3 && at[-1] == ' ' && strchr("tT", at[-2]) && at[-3] == ' ' &&
		    strchr("\n\t", at[strlen(name)]))
			return true;
	return false;
}

static const char *function_of(char **names, const char *symbols)
{
	for (; *names; names++)
		if (has_function(symbols, *names))
			return *names;
	return NULL;
}

static char *with_arguments(const char *fields, const char *const *places)
{
	GString *text = g_string_new(fields);

	g_string_replace(text, "@1", places[0], 0);
	g_string_replace(text, "@2", places[1], 0);
	return g_string_free(text, FALSE);
}

GPtrArray *probes_of(const char *root, const char *group, const char *symbols, const char *machine)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *events = g_build_filename(root, "events", NULL);
	g_autofree char *file = g_build_filename(root, PROBES_FILE, NULL);
	const char *places[ARGUMENTS];

	if (g_file_test(events, G_FILE_TEST_EXISTS) && !g_file_test(file, G_FILE_TEST_EXISTS))
		return lines; /* built without kprobes */
	if (!find_arguments(root, machine, places))
		return lines;
	for (size_t i = 0; i < G_N_ELEMENTS(probes); i++) {
		g_auto(GStrv) names = g_strsplit(probes[i].functions, " ", -1);
		const char *function = function_of(names, symbols);
		g_autofree char *fields = with_arguments(probes[i].fields, places);

		if (function)
			g_ptr_array_add(lines, g_strdup_printf("p:%s/%s %s %s", group,
							       probes[i].name, function, fields));
	}
	return lines;
}

char *probe_name(const char *line)
{
	const char *name = strchr(line, ':') + 1;

	return g_strndup(name, strcspn(name, " "));
}
