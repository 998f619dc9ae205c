/* SPDX-License-Identifier: MIT */
/* The limits' outcome as JUnit's XML, which build servers show: a limit is a test case.
 *
 * Place: limits/. No one standard says what the format is; written is what the schema of Ant's
 * JUnit task and that of Jenkins' xunit plugin have in common, with all that either requires:
 * one testsuite in testsuites; properties, system-out, system-err; failure for a limit that is
 * exceeded, error for one that was not judged, skipped for one that does not apply.
 */
#include <string.h>
#include <time.h>

#include "limits/judge.h"
#include "report/report.h"
#include "run/command.h"
#include "limits/limits_report.h"

/* XML has no place for most control characters, not even escaped. */
static char *escaped(const char *text)
{
	g_autofree char *safe = text_safe(text);
	g_autofree char *valid = g_utf8_make_valid(safe, -1);

	return g_markup_escape_text(valid, -1);
}

static guint count_of(const GPtrArray *judged, enum outcome outcome)
{
	guint count = 0;

	for (guint i = 0; i < judged->len; i++)
		count += ((const struct judgement *) g_ptr_array_index(judged, i))->outcome ==
			 outcome;
	return count;
}

static void head(const struct session *session, FILE *file)
{
	const GPtrArray *judged = session->found.judged;
	const char *host =
		session->trace.model.hosts->len ? trace_host_name(&session->trace, 0) : "localhost";
	g_autofree char *safe = escaped(host);
	time_t begin = (time_t) (session->asked.from / 1000000000);
	char stamp[32] = "1970-01-01T00:00:00", counts[128];
	struct tm tm;

	if (gmtime_r(&begin, &tm) && tm.tm_year >= 0 && tm.tm_year < 8100)
		strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &tm);
	g_snprintf(counts, sizeof counts, "tests=\"%u\" failures=\"%u\" errors=\"%u\"", judged->len,
		   count_of(judged, OUTCOME_EXCEEDED), count_of(judged, OUTCOME_NOT_JUDGED));
	fprintf(file,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
		"  <testsuite name=\"whylate.%s\" %s skipped=\"%u\" hostname=\"%s\" "
		"timestamp=\"%s\" time=\"%.3f\" package=\"whylate\" id=\"0\">\n    <properties/>\n",
		session->asked.options->command->name, counts,
		count_of(judged, OUTCOME_NOT_APPLIED), safe, stamp,
		(double) (session->asked.to - session->asked.from) / 1e9);
}

static void test_case(const struct session *session, const struct judgement *judgement, FILE *file)
{
	static const char *const elements[] = {[OUTCOME_EXCEEDED] = "failure",
					       [OUTCOME_NOT_JUDGED] = "error",
					       [OUTCOME_NOT_APPLIED] = "skipped"};
	const struct limit *limit = judgement->limit;
	g_autofree char *name = escaped(limit->name ? limit->name : limit->text);
	g_autofree char *text = judgement_text(judgement), *message = escaped(text);

	fprintf(file, "    <testcase name=\"%s\" classname=\"whylate.%s\" time=\"0\"", name,
		session->asked.options->command->name);
	if (judgement->outcome == OUTCOME_KEPT)
		fputs("/>\n", file);
	else if (judgement->outcome == OUTCOME_NOT_APPLIED)
		fprintf(file, ">\n      <skipped message=\"%s\"/>\n    </testcase>\n", message);
	else
		fprintf(file,
			">\n      <%s message=\"%s\" type=\"limit\">%s</%s>\n    </testcase>\n",
			elements[judgement->outcome], message, message,
			elements[judgement->outcome]);
}

bool junit_write(const struct session *session, GError **error)
{
	struct output output;
	bool ok;

	if (!session->asked.options->junit || !session->found.judged)
		return true;
	ok = output_open(&output, session->asked.options->junit, error);
	if (ok) {
		head(session, output.file);
		for (guint i = 0; i < session->found.judged->len; i++)
			test_case(session, g_ptr_array_index(session->found.judged, i),
				  output.file);
		fputs("    <system-out/>\n    <system-err/>\n  </testsuite>\n</testsuites>\n",
		      output.file);
		ok = output_commit(&output, error);
	}
	output_clear(&output);
	return ok;
}
