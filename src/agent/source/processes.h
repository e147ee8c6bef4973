/*
 * The units of a source of processes. They are found by a scan of /proc at each refresh and, where the kernel
 * reports them (<tacho/task_watch.h>), as soon as they start:
 *
 *	start -> pending: counted, without series -> 250 ms old: a series of its own, or part of comm="other"
 *	                                          -> end: part of comm="other"
 *
 * So a process that lives for milliseconds is counted but leaves no series behind.
 */
#ifndef AGENT_SOURCE_PROCESSES_H
#define AGENT_SOURCE_PROCESSES_H

#include "agent/source/unit.h"

void processes_begin(struct agent_source *s);		/* a refresh begins */
/* For tacho_processes(); `source` is the agent_source. Adds the process if it matches. */
int processes_visit(void *source, const struct tacho_process *p);
int processes_end(struct agent_source *s);		/* decides which of them have series of their own */
/* Gives series to the pending units that are old enough. */
int processes_settle(struct agent_source *s);
/* The counts of a pending unit go to comm="other". */
int process_put_into_other(struct agent_source *s, struct source_unit *u);

/* top_processes.c: per = "process" with top = N. */
bool shows_top_processes(const struct agent_source *s);
/* Whether a further process may have series of its own. */
bool top_has_place(const struct agent_source *s);
/* Gives the processes that count most series of their own. */
int top_update(struct agent_source *s);

#endif
