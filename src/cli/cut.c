/* SPDX-License-Identifier: MIT */
/* Cutting a window out of traces: Babeltrace's own filter.utils.trimmer and
 * sink.ctf.fs, one graph for each trace; see cli.h.
 *
 *   source.ctf.fs ─► filter.utils.muxer ─► filter.utils.trimmer ─► sink.ctf.fs
 *
 * What is written is what was recorded: all events of the window, with the
 * clock as it was (a host's own, where the session has brought several
 * together). A statedump outside the window is not in it.
 *
 * The directory gets its name when all is in it. A child waits meanwhile, and
 * removes what there is if this process ends in any way before that: a signal's
 * handler could not, as the names are Babeltrace's. Another one writes, since
 * sink.ctf.fs of 2.0.4 aborts where a file cannot be made or written.
 */
#include "cli/graph.h"

#include <errno.h>
#include <ftw.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "messages.h"
#include "util/error.h"

/* --- the directory ---------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void) status;
	(void) kind;
	(void) where;
	return remove(path) != 0 && errno != ENOENT;
}

static void remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

struct keeper {
	pid_t pid;
	int done; /* the child's end of it closes with this process */
	char *directory; /* owned */
};

/* What the keeper tells; less than PIPE_BUF, so in one piece. */
struct kept {
	int code; /* errno of making it */
	char directory[4000];
};

/* The child: makes the directory, so that no end of its parent leaves one that nobody knows of;
 * then waits for the word that all is well, or for the end of who should say it. */
static void keep(struct kept *kept, int made, int done)
{
	char word;
	ssize_t got;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	if (!g_mkdtemp_full(kept->directory, 0700))
		kept->code = errno;
	got = write(made, kept, sizeof *kept);
	if (got == sizeof *kept && !kept->code) {
		do
			got = read(done, &word, 1);
		while (got < 0 && errno == EINTR);
	}
	if (!kept->code && got != 1)
		remove_tree(kept->directory);
	_exit(0);
}

/* False: errno says why there is no directory beside `output`. */
static bool keeper_begin(struct keeper *keeper, const char *output)
{
	struct kept kept = {0};
	int made[2], done[2];
	ssize_t got;

	if (pipe(made) != 0)
		return false;
	if (pipe(done) != 0) {
		close(made[0]);
		close(made[1]);
		return false;
	}
	if (g_snprintf(kept.directory, sizeof kept.directory, "%s.XXXXXX", output) >=
	    (int) sizeof kept.directory)
		kept.code = ENAMETOOLONG;
	fflush(NULL);
	keeper->pid = kept.code ? -1 : fork();
	if (keeper->pid == 0) {
		close(made[0]);
		close(done[1]);
		keep(&kept, made[1], done[0]);
	}
	close(made[1]);
	close(done[0]);
	keeper->done = done[1];
	do
		got = read(made[0], &kept, sizeof kept);
	while (got < 0 && errno == EINTR);
	close(made[0]);
	keeper->directory = g_strdup(kept.directory);
	errno = got == sizeof kept || kept.code ? kept.code : EIO;
	return !errno;
}

/* `whole`: the directory has its name; else it is removed. */
static void keeper_end(struct keeper *keeper, bool whole)
{
	ssize_t written = whole ? write(keeper->done, "", 1) : 0;

	(void) written;
	close(keeper->done);
	while (keeper->pid > 0 && waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR)
		;
	g_clear_pointer(&keeper->directory, g_free);
}

static bool set_cut_error(const char *output, int code, GError **error)
{
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT, "cannot write the trace %s: %s",
		    output, g_strerror(code));
	return false;
}

/* Nothing is there, or a directory with nothing in it. */
static bool is_free(const char *output, GError **error)
{
	GDir *directory = g_dir_open(output, 0, NULL);
	bool empty = directory && !g_dir_read_name(directory);

	if (directory)
		g_dir_close(directory);
	if (empty || (!directory && !g_file_test(output, G_FILE_TEST_EXISTS)))
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "--output %s: it exists already; name a new directory", output);
	return false;
}

/* --- one trace ------------------------------------------------------------------------ */

static bt_value *trimmer_parameters(int64_t from, int64_t to)
{
	bt_value *parameters = bt_value_map_create();
	const char *const names[] = {"begin", "end"};
	const int64_t times[] = {from, to};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *text =
			g_strdup_printf("%s%" PRIu64 ".%09" PRIu64, times[i] < 0 ? "-" : "",
					(uint64_t) ABS(times[i]) / 1000000000,
					(uint64_t) ABS(times[i]) % 1000000000);

		bt_value_map_insert_string_entry(parameters, names[i], text);
	}
	return parameters;
}

static bt_value *sink_parameters(const char *directory, bool lossy)
{
	bt_value *parameters = bt_value_map_create();

	bt_value_map_insert_bool_entry(parameters, "ignore-discarded-events", lossy);
	bt_value_map_insert_bool_entry(parameters, "ignore-discarded-packets", lossy);
	bt_value_map_insert_string_entry(parameters, "path", directory);
	bt_value_map_insert_bool_entry(parameters, "assume-single-trace", BT_TRUE);
	bt_value_map_insert_bool_entry(parameters, "quiet", BT_TRUE);
	/* 2.1 would write CTF 2, for which this graph's messages are too old; 2.0 does not know the
	 * parameter */
	if (bt_version_get_minor() >= 1)
		bt_value_map_insert_string_entry(parameters, "ctf-version", "1");
	return parameters;
}

static const bt_component_filter *
add_filter(bt_graph *graph, const bt_plugin *utils, const char *name, const bt_value *parameters)
{
	const bt_component_class_filter *class =
		bt_plugin_borrow_filter_component_class_by_name_const(utils, name);
	const bt_component_filter *filter = NULL;

	if (class)
		bt_graph_add_filter_component(graph, class, name, parameters, BT_LOGGING_LEVEL_NONE,
					      &filter);
	return filter;
}

static bool connect(bt_graph *graph, const bt_port_output *from, const bt_port_input *to)
{
	return from && to &&
	       bt_graph_connect_ports(graph, from, to, NULL) == BT_GRAPH_CONNECT_PORTS_STATUS_OK;
}

static bool build(bt_graph *graph, const bt_plugin *ctf, const bt_plugin *utils,
		  GPtrArray *directories, const bt_value *trim, const bt_value *place)
{
	const bt_component_class_sink *class =
		bt_plugin_borrow_sink_component_class_by_name_const(ctf, "fs");
	const bt_component_source *source = graph_add_source(graph, ctf, directories, 0, 0);
	const bt_component_filter *muxer = add_filter(graph, utils, "muxer", NULL);
	const bt_component_filter *trimmer = add_filter(graph, utils, "trimmer", trim);
	const bt_component_sink *sink = NULL;

	if (!class || !source || !muxer || !trimmer ||
	    bt_graph_add_sink_component(graph, class, "cut", place, BT_LOGGING_LEVEL_NONE, &sink) !=
		    BT_GRAPH_ADD_COMPONENT_STATUS_OK ||
	    !graph_connect_all(graph, source, muxer))
		return false;
	return connect(graph, bt_component_filter_borrow_output_port_by_index_const(muxer, 0),
		       bt_component_filter_borrow_input_port_by_index_const(trimmer, 0)) &&
	       connect(graph, bt_component_filter_borrow_output_port_by_index_const(trimmer, 0),
		       bt_component_sink_borrow_input_port_by_index_const(sink, 0));
}

/* What is cut, and where from. */
struct cut {
	const bt_plugin *ctf, *utils;
	GPtrArray *directories; /* borrowed; struct trace_directory */
	int64_t from, to; /* by the trace's own clock */
};

/* `lossy`: it will not say which events were lost. */
static bool cut_run(const struct cut *cut, const char *directory, bool lossy, GError **error)
{
	bt_value *trim = trimmer_parameters(cut->from, cut->to);
	bt_value *place = sink_parameters(directory, lossy);
	const struct trace_directory *first = g_ptr_array_index(cut->directories, 0);
	bt_graph *graph = bt_graph_create(0);
	bool ok = build(graph, cut->ctf, cut->utils, cut->directories, trim, place) &&
		  bt_graph_run(graph) == BT_GRAPH_RUN_STATUS_OK;

	bt_value_put_ref(trim);
	bt_value_put_ref(place);
	if (!ok) {
		g_autofree char *cause = messages_library_error();

		cause[strcspn(cause, ":")] = 0; /* what follows are addresses of its objects */
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT,
			    "Babeltrace cannot cut the trace %s: %s", first->path,
			    *cause ? cause : "it did not say why");
	}
	if (ok)
		bt_graph_put_ref(graph); /* after a failure it would crash; the process ends */
	bt_current_thread_clear_error();
	return ok;
}

/* Babeltrace 2.0 can write lost events only where they lie between two whole packets, and the
 * trimmer cuts inside packets: then it is done again without them. */
static bool cut_one(const struct cut *cut, const char *directory, bool has_gaps, bool *lossy,
		    GError **error)
{
	g_autoptr(GError) first = NULL;

	if (cut_run(cut, directory, false, has_gaps ? &first : error))
		return true;
	if (!has_gaps)
		return false;
	remove_tree(directory);
	*lossy = true;
	return cut_run(cut, directory, true, error);
}

/* --- all of them ------------------------------------------------------------------------ */

/* Where below the output a trace goes: as it lay below what the user named, which comes before
 * that where several were named. */
static char *place_of(const char *trace, GPtrArray *paths)
{
	for (guint i = 0; i < paths->len; i++) {
		const char *path = g_ptr_array_index(paths, i);
		g_autofree char *base = g_path_get_basename(path);
		size_t length = strlen(path);
		const char *rest = trace + length;

		while (length && path[length - 1] == '/')
			length--;
		if (strncmp(trace, path, length) != 0 || (trace[length] && trace[length] != '/'))
			continue;
		rest = trace + length + strspn(trace + length, "/");
		if (paths->len == 1)
			return g_strdup(*rest ? rest : base);
		return g_build_filename(base, rest, NULL);
	}
	return g_path_get_basename(trace);
}

/* The host that a trace is of, NULL. */
static const struct host *host_of(const struct session *session, const struct found_trace *trace)
{
	const struct trace_directory *directory = g_ptr_array_index(trace->directories, 0);
	const char *hostname = metadata_text(directory->metadata, "hostname");

	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, i);

		if (g_strcmp0(host->uuid, trace->uuid) == 0 ||
		    g_strcmp0(host->hostname, hostname) == 0)
			return host;
	}
	return NULL;
}

/* The session's time as the trace's own clock has it. */
static int64_t own_time(const struct host *host, int64_t time)
{
	struct clock_line back;

	if (!host)
		return time;
	back = clock_line_inverse(&host->clock.line);
	return clock_line_at(&back, time);
}

static bool cut_all(const struct session *session, GPtrArray *paths, GPtrArray *traces,
		    int64_t from, int64_t to, const char *directory, bool *lossy, GError **error)
{
	const bt_plugin *ctf = graph_plugin("ctf"), *utils = graph_plugin("utils");
	bool ok = ctf && utils;

	if (!ok)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "Babeltrace's plugins 'ctf' and 'utils' are not installed (Debian: "
			    "libbabeltrace2-0); BABELTRACE_PLUGIN_PATH may name where they are");
	for (guint i = 0; i < traces->len && ok; i++) {
		const struct found_trace *trace = g_ptr_array_index(traces, i);
		const struct trace_directory *first = g_ptr_array_index(trace->directories, 0);
		g_autofree char *below = place_of(first->path, paths);
		g_autofree char *place = g_build_filename(directory, below, NULL);
		g_autofree char *above = g_path_get_dirname(place);
		const struct host *host = host_of(session, trace);
		struct cut cut = {ctf, utils, trace->directories, own_time(host, from),
				  own_time(host, to)};

		if (host && (host->begin > to || host->end < from))
			continue; /* nothing of it */
		/* the sink makes the last one itself */
		if (g_mkdir_with_parents(above, 0777) != 0)
			ok = set_cut_error(above, errno, error);
		else
			ok = cut_one(&cut, place, !host || host->gaps->len || trace->user, lossy,
				     error);
	}
	bt_plugin_put_ref(ctf);
	bt_plugin_put_ref(utils);
	return ok;
}

/* What the child that writes tells. */
struct cut_told {
	bool lossy;
	char message[1000]; /* "": it is written */
};

/* The child. */
static void write_and_tell(const struct session *session, GPtrArray *paths, GPtrArray *traces,
			   int64_t from, int64_t to, const char *directory, int tell)
{
	struct cut_told told = {0};
	g_autoptr(GError) error = NULL;
	ssize_t written;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!cut_all(session, paths, traces, from, to, directory, &told.lossy, &error))
		g_strlcpy(told.message, error->message, sizeof told.message);
	written = write(tell, &told, sizeof told); /* less than PIPE_BUF: in one piece */
	_exit(written == sizeof told ? error ? error->code : 0 : WHYLATE_ERROR_OUTPUT);
}

static bool cut_apart(const struct session *session, GPtrArray *paths, GPtrArray *traces,
		      int64_t from, int64_t to, const char *directory, bool *lossy, GError **error)
{
	struct cut_told told = {0};
	int ends[2], status = 0;
	ssize_t got;
	pid_t child;

	if (pipe(ends) != 0)
		return set_cut_error(directory, errno, error);
	fflush(NULL);
	child = fork();
	if (child == 0)
		write_and_tell(session, paths, traces, from, to, directory, ends[1]);
	close(ends[1]);
	do
		got = read(ends[0], &told, sizeof told);
	while (got < 0 && errno == EINTR);
	close(ends[0]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	*lossy = told.lossy;
	if (child < 0)
		return set_cut_error(directory, errno, error);
	if (got == sizeof told && !*told.message)
		return true;
	if (got == sizeof told)
		g_set_error(error, WHYLATE_ERROR, WEXITSTATUS(status), "%s", told.message);
	else
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT,
			    "Babeltrace cannot cut the trace: it was ended by signal %d (%s), as "
			    "2.0 does where a file cannot be written; make room, or write "
			    "elsewhere",
			    WTERMSIG(status), strsignal(WTERMSIG(status)));
	return false;
}

/* As mkdir() would have made it. */
static void open_up(const char *directory)
{
	mode_t mask = umask(0);

	umask(mask);
	chmod(directory, 0777 & ~mask);
}

bool cut_window(const struct session *session, GPtrArray *paths, int64_t from, int64_t to,
		const char *output, GError **error)
{
	g_autoptr(GPtrArray) traces = traces_find(paths, error);
	g_autofree char *trimmed = g_strdup(output);
	struct keeper keeper = {0};
	bool ok, lossy = false;

	if (!traces || !traces_fit_babeltrace(traces, error) || !is_free(output, error))
		return false;
	while (strlen(trimmed) > 1 && g_str_has_suffix(trimmed, "/"))
		trimmed[strlen(trimmed) - 1] = 0;
	ok = keeper_begin(&keeper, trimmed) || set_cut_error(output, errno, error);
	ok = ok && cut_apart(session, paths, traces, from, to, keeper.directory, &lossy, error);
	if (ok) {
		open_up(keeper.directory);
		if (g_rename(keeper.directory, trimmed) != 0)
			ok = set_cut_error(output, errno, error);
	}
	keeper_end(&keeper, ok);
	if (ok && lossy) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_DAMAGE,
			    "%s is written, but does not say which events the tracer lost, as "
			    "Babeltrace 2.0 cannot write that of a packet that was cut; the whole "
			    "trace does",
			    output);
		return false;
	}
	return ok;
}
