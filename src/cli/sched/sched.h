/*
 * The options of `tacho sched` and its verbs. The analyses are in <tacho/sched.h>; here they are drawn.
 */
#ifndef CLI_SCHED_SCHED_H
#define CLI_SCHED_SCHED_H

#include "base/json.h"
#include "base/time_ranges.h"
#include "cli/core/command.h"

#include <tacho/sched.h>

struct sched_opts {
	const char *input, *sort, *percentiles, *time, *cpus, *pids, *tids, *prios;
	const char *color_cpus, *color_pids, *task_names;	/* map */
	const char *vmlinux, *kallsyms, *symfs;
	const char *output, *format;				/* export, stats record */
	const char *procfs;					/* stats */
	bool force, json, per_thread;
	bool wakeups, migrations, next, cpu_visual, state, show_prio, pre_migrations, idle_hist, summary, with_summary;
	bool call_graph, compact, fuzzy, explain;
	uint32_t max_stack, repeat;
};

int sched_latency_run(void *opts, int argc, char **argv);
int sched_timehist_run(void *opts, int argc, char **argv);
int sched_map_run(void *opts, int argc, char **argv);
int sched_export_run(void *opts, int argc, char **argv);
int sched_replay_run(void *opts, int argc, char **argv);

/* The one range of --time; all zero without it. Prints a message and returns false if it is wrong. */
bool sched_time(const char *command, const struct sched_opts *o, const struct tacho_perfdata *pd, struct time_window *out);
/* "123.456789": seconds and microseconds, right-aligned in at least 8 columns, at most 23. */
void sched_put_time(struct buf *out, uint64_t ns, unsigned width);
/* A number that is not known if it is UINT32_MAX: null. */
void sched_json_id(struct json *j, const char *key, uint32_t id);

#endif
