/*
 * `tacho sched timehist`: what its files share. timehist.c runs the analysis and writes the lines, timehist_summary.c the
 * tables at the end, timehist_chain.c call chains.
 */
#ifndef CLI_SCHED_TIMEHIST_H
#define CLI_SCHED_TIMEHIST_H

#include "base/int_map.h"
#include "base/cpuset.h"
#include "base/map.h"
#include "base/vec.h"
#include "cli/sched/output.h"
#include "cli/sched/sched.h"

#define TIMEHIST_NAME_BYTES 32

struct timehist_name {			/* "comm[tid/pid]" of a task, padded with blanks */
	const char *comm;
	uint32_t pid, n;
	char text[TIMEHIST_NAME_BYTES];
};

struct idle_chain {			/* idle time of one CPU after one call chain */
	char *text;
	uint32_t cpu;
	uint64_t ns, n;
};

struct timehist {
	const struct sched_opts *o;
	struct sched_output out;
	struct json json;
	struct tacho_sched *sched;
	struct int_map pids, tids;	/* of -p and -t; empty: all */
	struct cpuset cpus, prios;	/* of -C and --prio; empty: all */
	unsigned name_width;
	uint64_t seconds;		/* of the last time written */
	char seconds_text[48];		/* "   12638." */
	size_t n_seconds_text;
	uint32_t n_columns;		/* CPUs of -V */
	bool lines;			/* no -s */
	bool chains;			/* the recording has them, and they are shown */
	struct { struct timehist_name *v; size_t n, cap; } names;	/* by index of the task */
	struct { struct idle_chain *v; size_t n, cap; } idle_chains;
	struct map idle_chain_index;	/* "CPU text" -> index */
};

const struct timehist_name *timehist_name_slow(struct timehist *t, const struct tacho_sched_task *task);
/* The name of a task; at least TIMEHIST_NAME_BYTES are readable. NULL: out of memory. */
static inline const struct timehist_name *timehist_name(struct timehist *t, const struct tacho_sched_task *task)
{
	const struct timehist_name *name = task->index < t->names.n ? &t->names.v[task->index] : NULL;

	return name && name->comm == task->comm && name->pid == task->pid ? name : timehist_name_slow(t, task);
}

/* Appends the functions of a call chain, innermost first, but not those of the scheduler itself. */
void timehist_put_chain(struct timehist *t, const struct tacho_sched_event *ev, const char *separator, struct buf *out);
/* Adds idle time to its call chain. 0 or -ENOMEM. */
int timehist_add_idle_chain(struct timehist *t, const struct tacho_sched_event *ev);
void timehist_chains_done(struct timehist *t);

void timehist_put_summary(struct timehist *t, struct buf *out);
void timehist_json_summary(struct timehist *t, struct json *j);

#endif
