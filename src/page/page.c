/* SPDX-License-Identifier: MIT */
/* The page around the data; see page.h. The template's parts are put in where it says
 * {{style}}, {{script}} and so on; a content security policy names style and script by
 * their hashes, so that nothing else in the file can run, whatever a trace's names say.
 */
#include "page/page.h"

#include <string.h>

#include "page_parts.h"
#include "page/page_timeline.h"
#include "report/report.h"
#include "run/command.h"

/* The scripts of a page, in the order in which they are one: a timeline has all of TIMELINE. */
static const char *const first_scripts[] = {page_data_js, page_ui_js, page_icicle_js};
static const char *const timeline_scripts[] = {
	page_cells_js,      page_lanes_js,    page_band_js,  page_pixels_js,
	page_paint_js,      page_timeline_js, page_place_js, page_search_js,
	page_statistics_js, page_events_js,   page_trees_js};
static const struct page_kind {
	const char *command;
	bool has_timeline;
	const char *scripts[5];
} page_kinds[] = {
	{"delay",
	 true,
	 {page_graph_js, page_flame_js, page_what_if_parts_js, page_what_if_js, page_delay_js}},
	{"overview",
	 true,
	 {page_graph_js, page_what_if_parts_js, page_what_if_sums_js, page_delay_js,
	  page_overview_js}},
	{"requests",
	 true,
	 {page_graph_js, page_ways_js, page_what_if_parts_js, page_what_if_sums_js,
	  page_requests_js}},
	{"functions", true, {page_ways_js, page_functions_js}},
	{"diff", false, {page_ways_js, page_what_if_parts_js, page_what_if_sums_js, page_diff_js}},
	{"check", false, {page_check_js}},
	{"profile",
	 true,
	 {page_plots_js, page_what_if_parts_js, page_what_if_sums_js, page_profile_js}},
	{"serve", true, {page_trace_js}}, /* of the whole trace */
};

const char *page_looks(void)
{
	return page_report_css;
}

char *page_hash(const char *text)
{
	GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA256);
	guint8 digest[32];
	gsize size = sizeof digest;
	g_autofree char *base64 = NULL;

	g_checksum_update(checksum, (const guchar *) text, -1);
	g_checksum_get_digest(checksum, digest, &size);
	g_checksum_free(checksum);
	base64 = g_base64_encode(digest, size);
	return g_strconcat("sha256-", base64, NULL);
}

/* The report's lists end where it has so many bytes; those that follow are short, and behind
 * FULL_BYTES as good as empty: lists in lists in lists of twenty rows would go on for ever. */
#define REPORT_BYTES (1000u << 10)
#define ROWS_ANYWAY 20
#define FULL_BYTES (1200u << 10)
#define ROWS_LEAST 1

/* --- the report's JSON inside a <script> ---------------------------------- */

/* No "<" but those of the page itself: in JSON it stands only in strings. */
static ssize_t write_escaped(void *cookie, const char *bytes, size_t size)
{
	struct page *page = cookie;
	FILE *file = page->file;
	size_t at = 0;

	page->written += size;

	while (at < size) {
		const char *sign = memchr(bytes + at, '<', size - at);
		size_t part = sign ? (size_t) (sign - bytes) - at : size - at;

		if (fwrite(bytes + at, 1, part, file) != part ||
		    (sign && fputs("\\u003c", file) == EOF))
			return 0;
		at += part + (sign != NULL);
	}
	return (ssize_t) size;
}

static FILE *escaped_new(struct page *page)
{
	static const cookie_io_functions_t functions = {.write = write_escaped};
	FILE *escaped = fopencookie(page, "w", functions);

	if (!escaped)
		g_error("out of memory");
	return escaped;
}

/* --- the page ------------------------------------------------------------- */

/* What stands in the template before `mark` from `text` on; `text` moves behind the mark. */
static void put_until(FILE *file, const char **text, const char *mark)
{
	const char *at = strstr(*text, mark);

	if (!at)
		g_error("the page's template lacks %s", mark);
	fwrite(*text, 1, (size_t) (at - *text), file);
	*text = at + strlen(mark);
}

static const struct page_kind *kind_of(const struct session *session)
{
	const char *name = session->asked.options->command->name;

	for (size_t i = 0; i < G_N_ELEMENTS(page_kinds); i++)
		if (strcmp(page_kinds[i].command, name) == 0)
			return &page_kinds[i];
	g_error("%s has no page", name);
}

static void append_all(GString *script, const char *const *parts, size_t count)
{
	for (size_t i = 0; i < count && parts[i]; i++)
		g_string_append(script, parts[i]);
}

static GString *script_new(const struct session *session)
{
	const struct page_kind *kind = kind_of(session);
	GString *script = g_string_new("'use strict';\n");

	append_all(script, first_scripts, G_N_ELEMENTS(first_scripts));
	if (kind->has_timeline)
		append_all(script, timeline_scripts, G_N_ELEMENTS(timeline_scripts));
	if (kind->has_timeline && session->asked.options->served)
		g_string_append(script, page_served_js);
	append_all(script, kind->scripts, G_N_ELEMENTS(kind->scripts));
	return g_string_append(script, page_main_js);
}

static bool is_full(void *data, unsigned rows)
{
	const struct page_rows *page = data;

	if (*page->written > FULL_BYTES)
		return rows >= ROWS_LEAST;
	return *page->written > REPORT_BYTES && rows >= ROWS_ANYWAY;
}

static void put_title(const struct session *session, FILE *file)
{
	g_autofree char *title = NULL, *safe = NULL;

	if (session->asked.target != NO_THREAD)
		title = g_strdup_printf("whylate %s: %s", session->asked.options->command->name,
					session_thread_name(session, session->asked.target));
	else
		title = g_strdup_printf("whylate %s: %s", session->asked.options->command->name,
					session->trace.model.hosts->len
						? trace_host_name(&session->trace, 0)
						: "no host");
	safe = g_utf8_make_valid(title, -1);
	g_free(title);
	title = g_markup_escape_text(safe, -1);
	fputs(title, file);
}

void page_begin(struct page *page, const struct session *session, struct output *output)
{
	g_autoptr(GString) script = script_new(session);
	g_autofree char *style_hash = page_hash(page_report_css),
			*script_hash = page_hash(script->str);
	const char *text = page_report_html;

	*page = (struct page) {.file = output->file};
	page_rows_init(&page->rows, session);
	page->rows.written = &page->written;
	page->watch = (struct json_watch) {page_rows_add, page_rows_mention, is_full, &page->rows};
	put_until(output->file, &text, "{{style-hash}}");
	fputs(style_hash, output->file);
	put_until(output->file, &text, "{{script-hash}}");
	fputs(script_hash, output->file);
	put_until(output->file, &text, "{{connect}}");
	fputs(session->asked.options->served ? "'self'" : "'none'", output->file);
	put_until(output->file, &text, "{{title}}");
	put_title(session, output->file);
	put_until(output->file, &text, "{{style}}");
	fputs(page_report_css, output->file);
	put_until(output->file, &text, "{{report}}");
	page->json = *output;
	page->json.file = escaped_new(page);
	page->json.watch = &page->watch;
}

void page_end(struct page *page, const struct page_parts *parts)
{
	g_autoptr(GString) script = script_new(page->rows.session);
	const char *text = strstr(page_report_html, "{{report}}") + strlen("{{report}}");

	fclose(page->json.file);
	put_until(page->file, &text, "{{timeline}}");
	page->json.file = escaped_new(page);
	page->json.watch = NULL;
	page_timeline(&page->rows,
		      &(struct page_asked) {kind_of(page->rows.session)->has_timeline,
					    page->has_leads},
		      parts, &page->json);
	fclose(page->json.file);
	put_until(page->file, &text, "{{script}}");
	fputs(script->str, page->file);
	fputs(text, page->file);
	page_rows_clear(&page->rows);
}
