/* SPDX-License-Identifier: MIT */
/* The tables as an SQLite database: written in one transaction to a temporary
 * file that has lost its name before the first row, and copied to where it is
 * wanted when all is in it, so that nothing half-written is left anywhere.
 *
 * Part of export/. No journal: nothing is ever rolled back. Indices are made at
 * the end, which is quicker than to keep them up. Source: SQLite's C interface;
 * "PRAGMA journal_mode", "locking_mode": with OFF and EXCLUSIVE the file is not
 * opened again by its name.
 */
#include "export/export_formats.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "config.h"
#include "export/export_tables.h"
#include "util/error.h"
#include "util/spill.h"

#define SCHEMA_VERSION 1 /* PRAGMA user_version; grows when a column changes its meaning */

struct database {
	sqlite3 *sqlite;
	int fd;          /* of the same file, to read it */
	sqlite3_stmt *inserts[TABLE_COUNT];
	int column[TABLE_COUNT];
	int trouble;     /* first error: an SQLITE_ code; SQLITE_OK */
};

static bool note(struct database *database, int code)
{
	if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW)
		return true;
	if (database->trouble == SQLITE_OK)
		database->trouble = code;
	return false;
}

static bool run(struct database *database, const char *sql)
{
	return database->trouble == SQLITE_OK &&
	       note(database, sqlite3_exec(database->sqlite, sql, NULL, NULL, NULL));
}

/* --- the file -------------------------------------------------------------------- */

/* What SQLite sorts indexes in goes where all temporary files go: by itself it prefers /var/tmp,
 * which the sandbox does not let it write to. Set once for the process; SQLite keeps it. */
static void sort_in_spill_place(void)
{
	if (!sqlite3_temp_directory)
		sqlite3_temp_directory = sqlite3_mprintf("%s", spill_place());
}

/* No signal ends the program between the file's making and the loss of its name. */
static bool open_unnamed(struct database *database)
{
	g_autofree char *name = g_build_filename(spill_place(), "whylate-XXXXXX", NULL);
	sigset_t all, before;
	int code;

	sort_in_spill_place();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	database->fd = mkostemp(name, O_CLOEXEC);
	if (database->fd < 0) {
		database->trouble = SQLITE_CANTOPEN;
	} else {
		code = sqlite3_open_v2(name, &database->sqlite,
				       SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
		if (note(database, code))
			run(database, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; "
				      "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE");
		unlink(name);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return database->trouble == SQLITE_OK;
}

/* False: it could not be read back. What cannot be written, the file itself knows. */
static bool copy_out(const struct database *database, FILE *file)
{
	char buffer[65536];
	off_t at = 0;
	ssize_t got;

	while ((got = pread(database->fd, buffer, sizeof buffer, at)) > 0) {
		fwrite(buffer, 1, (size_t) got, file);
		at += got;
	}
	return got == 0;
}

/* --- tables ---------------------------------------------------------------------- */

static void create(struct database *database, const struct table_spec *table)
{
	g_autoptr(GString) sql = g_string_new(NULL);

	g_string_printf(sql, "CREATE TABLE \"%s\" (", table->name);
	for (const struct export_column *column = table->columns; column->name; column++)
		g_string_append_printf(sql, "%s\"%s\" %s", column == table->columns ? "" : ", ",
				       column->name, column->type);
	g_string_append(sql, ")");
	run(database, sql->str);
}

static void prepare(struct database *database, enum table table)
{
	g_autoptr(GString) sql = g_string_new(NULL);
	bool first = true;

	g_string_printf(sql, "INSERT INTO \"%s\" VALUES (", table_specs[table].name);
	for (const struct export_column *column = table_specs[table].columns; column->name;
	     column++) {
		g_string_append(sql, first ? "?" : ",?");
		first = false;
	}
	g_string_append(sql, ")");
	if (database->trouble == SQLITE_OK)
		note(database, sqlite3_prepare_v2(database->sqlite, sql->str, -1,
						  &database->inserts[table], NULL));
}

static void put_integer(enum table table, int64_t value, void *data)
{
	struct database *database = data;

	if (database->trouble == SQLITE_OK)
		note(database, sqlite3_bind_int64(database->inserts[table],
						  ++database->column[table], value));
}

static void put_none(enum table table, void *data)
{
	((struct database *) data)->column[table]++; /* as it was left: no value */
}

/* Names of the trace may be any bytes; text in a database is UTF-8. */
static void put_text(enum table table, const char *value, void *data)
{
	struct database *database = data;
	g_autofree char *valid = NULL;

	if (!value) {
		put_none(table, data);
		return;
	}
	if (!g_utf8_validate(value, -1, NULL))
		valid = g_utf8_make_valid(value, -1);
	if (database->trouble == SQLITE_OK)
		note(database,
		     sqlite3_bind_text(database->inserts[table], ++database->column[table],
				       valid ? valid : value, -1, SQLITE_TRANSIENT));
}

static void put_end(enum table table, void *data)
{
	struct database *database = data;

	if (database->trouble != SQLITE_OK)
		return;
	note(database, sqlite3_step(database->inserts[table]));
	sqlite3_reset(database->inserts[table]);
	sqlite3_clear_bindings(database->inserts[table]);
	database->column[table] = 0;
}

/* What the rows are of: names and values. */
static void put_about(struct database *database, const struct session *session)
{
	char *sql = sqlite3_mprintf(
		"CREATE TABLE about (name TEXT PRIMARY KEY, value);"
		"INSERT INTO about VALUES ('tool', %Q), ('begin', %lld), ('end', %lld),"
		" ('min_duration', %lld);"
		"PRAGMA user_version=%d",
		"whylate " PACKAGE_VERSION, (long long) session->asked.from,
		(long long) session->asked.to, (long long) session->asked.options->min_duration,
		SCHEMA_VERSION);

	run(database, sql);
	sqlite3_free(sql);
}

static void fill(struct database *database, struct walk *walk)
{
	struct row_sink sink = {.wanted = (1u << TABLE_COUNT) - 1,
				.integer = put_integer,
				.text = put_text,
				.none = put_none,
				.end = put_end,
				.data = database};

	put_about(database, walk->session);
	for (int t = 0; t < TABLE_COUNT; t++) {
		create(database, &table_specs[t]);
		prepare(database, (enum table) t);
	}
	tables_write(walk, &sink);
	run(database,
	    "CREATE INDEX intervals_of ON intervals (thread, begin);"
	    "CREATE INDEX blocks_of ON blocks (thread, begin);"
	    "CREATE INDEX wakeups_of ON wakeups (woken, time);"
	    "CREATE INDEX wakeups_by ON wakeups (waker, time);"
	    "CREATE INDEX syscalls_of ON syscalls (thread, begin);"
	    "CREATE INDEX counted_runs_of ON counted_runs (thread, begin);"
	    "COMMIT");
}

bool export_sqlite(struct walk *walk, FILE *file, GError **error)
{
	struct database database = {.fd = -1};
	bool ok = open_unnamed(&database);

	if (ok)
		fill(&database, walk);
	for (int t = 0; t < TABLE_COUNT; t++)
		sqlite3_finalize(database.inserts[t]);
	note(&database, sqlite3_close(database.sqlite));
	ok = database.trouble == SQLITE_OK;
	if (!ok)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT,
			    "cannot write the database in %s: %s; TMPDIR=DIRECTORY names another "
			    "place",
			    spill_place(), sqlite3_errstr(database.trouble));
	else if (!session_interrupted(walk->session) && !copy_out(&database, file)) {
		ok = false;
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT,
			    "cannot read back the database in %s: %s", spill_place(),
			    g_strerror(errno));
	}
	if (database.fd >= 0)
		close(database.fd);
	return ok;
}
