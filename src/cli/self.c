/* SPDX-License-Identifier: MIT */
/* `whylate check --self`: the parts of the installation that only the command knows; see
 * selftest/selftest.h.
 *
 * The sample trace is read and reported by the program itself, run anew, as a user runs it:
 * what it needs besides (a sandbox, its libraries) works or fails as it would there. Exit status:
 * 0, or 1 if a part fails.
 */
#include <babeltrace2/babeltrace.h>
#include <jansson.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "input/cache.h"
#include "cli/cli.h"
#include "cli/graph.h"
#include "config.h"
#include "report/report.h"
#include "selftest/selftest.h"
#include "serve/serve.h"
#include "symbols/code.h"
#include "util/error.h"

#define PROGRAM "/proc/self/exe"
#define SAMPLE "sample"

/* --- what it is made of ---------------------------------------------------------------------- */

static void name_libraries(struct selftest *test)
{
	struct utsname name;
	g_autofree char *babeltrace =
		g_strdup_printf("%u.%u.%u", bt_version_get_major(), bt_version_get_minor(),
				bt_version_get_patch());
	g_autofree char *glib = g_strdup_printf("%u.%u.%u", glib_major_version, glib_minor_version,
						glib_micro_version);
	const char *http = http_library_version(NULL);

	test->program = g_file_read_link(PROGRAM, NULL);
	if (!test->program)
		test->program = g_strdup("a program that /proc does not name");
	if (uname(&name) == 0)
		test->system =
			g_strdup_printf("%s %s %s", name.sysname, name.release, name.machine);
	selftest_library(test, "Babeltrace", babeltrace);
	selftest_library(test, "GLib", glib);
	selftest_library(test, "Jansson", jansson_version_str());
	selftest_library(test, "elfutils", code_library_version());
	selftest_library(test, "SQLite", sqlite3_libversion());
	if (http)
		selftest_library(test, "libmicrohttpd", http);
	selftest_library(test, "zlib", zlibVersion());
	selftest_library(test, "Zstandard", ZSTD_versionString());
}

/* PREFIX/share/whylate: beside the program, wherever that was moved to, or as it was configured. */
static char *data_directory(const struct selftest *test)
{
	g_autofree char *bin = g_path_get_dirname(test->program);
	g_autofree char *beside = g_build_filename(bin, "..", "share", "whylate", NULL);

	if (g_file_test(beside, G_FILE_TEST_IS_DIR))
		return g_canonicalize_filename(beside, NULL);
	return g_strdup(PKGDATADIR);
}

/* --- the sample trace ------------------------------------------------------------------------ */

/* What an overview of it prints; NULL, and what was wrong, for people. */
static char *overview_of(const char *sample, const char *format, const char *reader, char **wrong)
{
	const char *const words[] = {PROGRAM,   "overview", sample,     "--format", format,
				     "--cache", "off",      "--reader", reader,     NULL};
	g_autoptr(GError) error = NULL;
	g_autofree char *said = NULL;
	char *printed = NULL;
	int status;

	if (!g_spawn_sync(NULL, (char **) words, NULL, G_SPAWN_DEFAULT, NULL, NULL, &printed, &said,
			  &status, &error)) {
		*wrong = g_strdup(error->message);
		return NULL;
	}
	if (g_spawn_check_wait_status(status, &error) && *printed)
		return printed;
	g_free(printed);
	*wrong = g_strdup_printf("%s: %s", error ? error->message : "nothing was printed",
				 g_strstrip(said));
	return NULL;
}

static void add_report(struct selftest *test, const char *name, const char *printed, bool good,
		       const char *works, const char *wrong)
{
	if (printed && good)
		selftest_add(test, name, PART_WORKS, g_strdup(works));
	else
		selftest_add(test, name, PART_FAILS,
			     g_strdup(wrong ? wrong : "what is printed is not whole"));
}

/* As it is read directly, and through Babeltrace: the same bytes. */
static void look_at_reading(struct selftest *test, const char *sample)
{
	g_autofree char *wrong = NULL, *wrong_babeltrace = NULL;
	g_autofree char *direct = overview_of(sample, "json", "direct", &wrong);
	g_autofree char *other = overview_of(sample, "json", "babeltrace", &wrong_babeltrace);
	json_t *json = direct ? json_loads(direct, 0, NULL) : NULL;
	const char *schema = json_string_value(json_object_get(json, "schema"));

	add_report(test, "reading", direct, g_strcmp0(schema, "whylate-overview-1") == 0,
		   "the sample trace is read, and its report as JSON is whole", wrong);
	add_report(test, "babeltrace", other, g_strcmp0(direct, other) == 0,
		   "read through Babeltrace the sample gives the same report", wrong_babeltrace);
	json_decref(json);
}

static void look_at_page(struct selftest *test, const char *sample)
{
	g_autofree char *wrong = NULL;
	g_autofree char *page = overview_of(sample, "html", "auto", &wrong);

	add_report(test, "page", page,
		   page && g_str_has_prefix(page, "<!doctype html>") &&
			   g_str_has_suffix(g_strchomp(page), "</html>"),
		   "its report as a page is whole", wrong);
}

static void look_at_sample(struct selftest *test, const char *data)
{
	g_autofree char *sample = g_build_filename(data, SAMPLE, NULL);

	if (!g_file_test(sample, G_FILE_TEST_IS_DIR)) {
		selftest_add(test, "reading", PART_WITHOUT,
			     g_strdup_printf("not tried: the sample trace is not at %s", sample));
		return;
	}
	look_at_reading(test, sample);
	look_at_page(test, sample);
}

/* --- what is installed beside the program ---------------------------------------------------- */

static guint classes_of_commands(void)
{
#define COUNT(...) +1
#define NONE(...)
	return COMMANDS(COUNT, NONE);
#undef COUNT
#undef NONE
}

static void look_at_plugin(struct selftest *test)
{
	const bt_plugin *plugin = graph_plugin("whylate");
	unsigned major = 0, minor = 0, patch = 0;
	g_autofree char *version = NULL;
	guint64 classes;

	if (!plugin) {
		selftest_add(test, "plugin", PART_FAILS,
			     g_strdup("babeltrace2 does not find it; "
				      "BABELTRACE_PLUGIN_PATH=DIRECTORY says where "
				      "babeltrace-plugin-whylate.so is"));
		return;
	}
	bt_plugin_get_version(plugin, &major, &minor, &patch, NULL);
	version = g_strdup_printf("%u.%u.%u", major, minor, patch);
	classes = bt_plugin_get_sink_component_class_count(plugin);
	if (strcmp(version, PACKAGE_VERSION) != 0)
		selftest_add(test, "plugin", PART_FAILS,
			     g_strdup_printf("%s is of version %s", bt_plugin_get_path(plugin),
					     version));
	else if (classes != classes_of_commands())
		selftest_add(test, "plugin", PART_FAILS,
			     g_strdup_printf("%s has %" G_GUINT64_FORMAT
					     " component classes instead of %u",
					     bt_plugin_get_path(plugin), classes,
					     classes_of_commands()));
	else
		selftest_add(test, "plugin", PART_WORKS, g_strdup(bt_plugin_get_path(plugin)));
	bt_plugin_put_ref(plugin);
}

/* The name of a schema's file that is not as the program prints it; NULL: there is none. */
static char *other_schema(const char *directory)
{
	const char *command, *text;

	for (size_t i = 0; (command = schema_at(i, &text)); i++) {
		g_autofree char *name = g_strdup_printf("whylate-%s-1.json", command);
		g_autofree char *path = g_build_filename(directory, name, NULL);
		g_autofree char *installed = NULL;

		if (!g_file_get_contents(path, &installed, NULL, NULL) ||
		    strcmp(installed, text) != 0)
			return g_steal_pointer(&path);
	}
	return NULL;
}

static void look_at_schemas(struct selftest *test, const char *data)
{
	g_autofree char *directory = g_build_filename(data, "schema", NULL);
	g_autofree char *other = other_schema(directory);

	if (!g_file_test(directory, G_FILE_TEST_IS_DIR))
		selftest_add(test, "schemas", PART_WITHOUT,
			     g_strdup_printf("not installed in %s; --json-schema prints them",
					     directory));
	else if (other)
		selftest_add(test, "schemas", PART_FAILS,
			     g_strdup_printf("%s is missing, or of another version", other));
	else
		selftest_add(test, "schemas", PART_WORKS, g_strdup(directory));
}

static void look_at_cache(struct selftest *test, const struct options *options)
{
	g_autofree char *directory = cache_directory(options);
	g_autofree char *above = NULL;

	if (!directory) {
		selftest_add(test, "cache", PART_WITHOUT,
			     g_strdup("nothing is kept: it is off, or the home directory is "
				      "somebody else's"));
		return;
	}
	/* it is made when it is first used */
	above = g_strdup(directory);
	while (!g_file_test(above, G_FILE_TEST_EXISTS) && strlen(above) > 1) {
		char *up = g_path_get_dirname(above);

		g_free(above);
		above = up;
	}
	if (access(above, W_OK | X_OK) == 0)
		selftest_add(test, "cache", PART_WORKS,
			     g_strdup_printf("what was read of long traces is kept in %s",
					     directory));
	else
		selftest_add(test, "cache", PART_WITHOUT,
			     g_strdup_printf("nothing is kept: %s cannot be written; "
					     "--cache DIRECTORY names another place",
					     directory));
}

static void look_at_server(struct selftest *test)
{
	g_autoptr(GError) error = NULL;
	const char *version = http_library_version(&error);

	if (version)
		selftest_add(test, "serve", PART_WORKS,
			     g_strdup_printf("traces can be served, by libmicrohttpd %s", version));
	else
		selftest_add(test, "serve", PART_WITHOUT, g_strdup(error->message));
}

/* --- all of it ------------------------------------------------------------------------------- */

static bool write_report(const struct selftest *test, const struct options *options, GError **error)
{
	struct output output;
	FILE *plain = NULL;
	bool ok = output_open(&output, options->output, error);

	if (!ok)
		return false;
	if (options->format == FORMAT_JSON)
		selftest_json(test, &output);
	else
		plain = text_dress(&output, false, false);
	if (options->format != FORMAT_JSON)
		selftest_text(test, &output);
	if (plain)
		text_undress(&output, plain);
	ok = output_commit(&output, error);
	output_clear(&output);
	return ok;
}

static void look_at_all(struct selftest *test, const struct options *options)
{
	g_autofree char *data = NULL;

	name_libraries(test);
	data = data_directory(test);
	look_at_sample(test, data);
	look_at_plugin(test);
	look_at_schemas(test, data);
	look_at_machine(test);
	look_at_cache(test, options);
	look_at_server(test);
	look_at_recorders(test);
}

int self_run(const struct options *options)
{
	g_autoptr(GError) error = NULL;
	struct selftest test;
	int status;

	selftest_init(&test);
	look_at_all(&test, options);
	if (!write_report(&test, options, &error))
		status = tell_error(NULL, error);
	else
		status = selftest_failures(&test) ? 1 : 0;
	selftest_clear(&test);
	return status;
}
