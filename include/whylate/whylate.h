/* whylate's core in one place: what a program that links it, a test, or a new
 * analysis needs to see. No Babeltrace in it.
 *
 *   options_init(), options_set()        what is asked
 *   session_new()                        a run
 *   session_add_host(), session_class()  what the traces are
 *   session_packet(), session_lost(), session_event()
 *                                        events in time order, struct event
 *   session_finish()                     target, window and threads resolved
 *   summary_new(), causality_new(), lineage_new(), path_new(), verdict_new(),
 *   coverage_init(), overview_new()      answers
 *   judgements_new(), finding_look_up()  verdicts on limits; a finding by its id
 *   report_write()                       … written as the options say
 *
 * ARCHITECTURE.md says what each folder holds and how to add an analysis.
 */
#ifndef WHYLATE_WHYLATE_H
#define WHYLATE_WHYLATE_H

#include "analysis/anonymise.h"
#include "analysis/binaries.h"
#include "analysis/causality.h"
#include "analysis/coverage.h"
#include "analysis/findings.h"
#include "analysis/judge.h"
#include "analysis/limits.h"
#include "analysis/options.h"
#include "analysis/overview.h"
#include "analysis/path.h"
#include "analysis/profile.h"
#include "analysis/roots.h"
#include "analysis/saved.h"
#include "analysis/session.h"
#include "analysis/summary.h"
#include "analysis/symbols.h"
#include "event/event.h"
#include "event/kinds.h"
#include "report/report.h"
#include "util/error.h"

#endif
