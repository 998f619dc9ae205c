/* SPDX-License-Identifier: MIT */
/* whylate's core in one place: what a program that links it, a test, or a new
 * analysis needs to see. No Babeltrace in it.
 *
 *   command_options(), options_set()     what is asked
 *   session_new()                        a run
 *   session->trace.sink                  is fed: what the traces are (add_host(), declare()), then
 *                                        events in order of time (event(), lose()): event/sink.h
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

#include "commands/commands.h"
#include "run/anonymise.h"
#include "symbols/binaries.h"
#include "waits/causality.h"
#include "coverage/coverage.h"
#include "findings/findings.h"
#include "limits/judge.h"
#include "limits/limits.h"
#include "imposed/wait_groups.h"
#include "path/path.h"
#include "latencies/profile.h"
#include "latencies/roots.h"
#include "profile/saved.h"
#include "run/feed.h"
#include "run/finish.h"
#include "run/session.h"
#include "waits/summary.h"
#include "symbols/symbols.h"
#include "event/event.h"
#include "event/kinds.h"
#include "report/report.h"
#include "util/error.h"

#endif
