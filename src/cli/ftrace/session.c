/*
 * A tracing session: the command is held, tracing is set up for it and started, and its end (or a signal, or the end of
 * the processes) is waited for.
 */
#include "cli/ftrace/ftrace.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "cli/core/target_args.h"

#define DRAIN_MS 50

struct ftrace_run {
	const struct ftrace_opts *o;
	const struct ftrace_job *job;
	struct tacho_ftrace *f;
	struct tacho_command *cmd;
	struct run_signals signals;
	int *pids, *tids;
	size_t n_pids, n_tids;
	bool command_ended;
	struct tacho_usage usage;
};

static struct tacho_ftrace_names names_of(const struct strlist *l)
{
	return (struct tacho_ftrace_names){ (const char *const *)l->v, l->n };
}

static int open_session(struct ftrace_run *r)
{
	const struct ftrace_opts *o = r->o;
	struct tacho_error e = { .column = -1 };
	const int command = r->cmd ? tacho_command_pid(r->cmd) : 0;
	const bool everything = o->all_cpus || o->cpus;
	int err = tacho_ftrace_open(&r->f, TACHO_OPTS(tacho_ftrace_opts,
		.tracer = r->job->tracer, .functions = names_of(&o->functions), .no_functions = names_of(&o->no_functions),
		.graph_functions = names_of(&o->graph_functions), .no_graph_functions = names_of(&o->no_graph_functions),
		.events = names_of(&r->job->events), .pids = r->n_pids ? r->pids : command && !everything ? &command : NULL,
		.n_pids = r->n_pids ? r->n_pids : command && !everything, .tids = r->tids, .n_tids = r->n_tids, .cpus = o->cpus,
		.buffer_bytes = o->buffer_bytes, .depth = o->depth, .thresh_us = o->thresh_us,
		.flags = o->flags | (o->inherit ? TACHO_FTRACE_INHERIT : 0)), &e);

	if (err < 0)
		message_error(r->job->name, NULL, NULL, &e);
	return err;
}

static int start(struct ftrace_run *r)
{
	struct tacho_error e = { .column = -1 };
	int err = tacho_ftrace_start(r->f, &e);

	if (err < 0)
		message_error(r->job->name, NULL, NULL, &e);
	return err;
}

static bool has_ended(const int *ids, size_t n, const char *kind)
{
	char path[64];

	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "/proc/%d%s", ids[i], kind);
		if (access(path, F_OK) == 0)
			return false;
	}
	return true;
}

/* Whether the command, or everything that was given by -p or --tid, has ended. */
static bool target_ended(struct ftrace_run *r)
{
	if (r->cmd) {
		int ended = tacho_command_wait(r->cmd, false, &r->usage);

		r->command_ended = ended > 0;
		return ended != 0;
	}
	return (r->n_pids || r->n_tids) && has_ended(r->pids, r->n_pids, "") && has_ended(r->tids, r->n_tids, "/stat");
}

static void wait_for_more(const struct ftrace_run *r)
{
	struct pollfd fds[2] = { { .fd = -1, .events = POLLIN }, { .fd = -1, .events = POLLIN } };
	const struct timespec pause = { .tv_nsec = DRAIN_MS * 1000000l };

	if (r->cmd)
		fds[0].fd = tacho_command_fd(r->cmd);
	if (r->job->is_text)
		fds[1].fd = tacho_ftrace_fd(r->f);
	ppoll(fds, countof(fds), &pause, &r->signals.before);
}

static int fail(const struct ftrace_run *r, int err)
{
	if (err != -EPIPE)
		message_text(r->job->name, "cannot read what was traced: %s", strerror(-err));
	return err;
}

/* The first drain() opens the files, before the command starts. */
static int follow(struct ftrace_run *r)
{
	uint64_t start_at = clock_mono_ns() + (uint64_t)r->o->delay_ms * 1000000;
	bool is_delayed = r->o->delay_ms > 0;
	int err = 0;

	while (err == 0 && !run_signals_ending() && !target_ended(r)) {
		wait_for_more(r);
		if (is_delayed && clock_mono_ns() >= start_at) {
			err = start(r);
			is_delayed = false;
		}
		if (err == 0) {
			err = r->job->drain(r->job->arg, r->f, false);
			if (err < 0)
				return fail(r, err);
		}
	}
	return err;
}

static int finish(struct ftrace_run *r)
{
	struct tacho_error e = { .column = -1 };
	int err = tacho_ftrace_stop(r->f, &e);

	if (err < 0) {
		message_error(r->job->name, NULL, NULL, &e);
		return err;
	}
	err = r->job->drain(r->job->arg, r->f, true);
	return err < 0 ? fail(r, err) : 0;
}

static int trace_target(struct ftrace_run *r, int *status)
{
	int err = open_session(r);

	if (err == 0) {
		err = r->job->drain(r->job->arg, r->f, false);
		if (err < 0)
			return fail(r, err);
	}
	if (err == 0 && !r->o->delay_ms)
		err = start(r);
	if (err == 0)
		err = run_command_release(r->cmd, r->job->name, status);
	if (err == 0)
		err = follow(r);
	return err < 0 ? err : finish(r);
}

static int parse_targets(struct ftrace_run *r)
{
	int err = 0;

	if (r->o->cpus)
		err = target_cpus(r->job->name, r->o->cpus);
	if (err == 0 && r->o->pids)
		err = target_ids(r->job->name, "-p", r->o->pids, &r->pids, &r->n_pids);
	if (err == 0 && r->o->tids)
		err = target_ids(r->job->name, "--tid", r->o->tids, &r->tids, &r->n_tids);
	if (err == 0 && r->n_pids && r->n_tids) {
		message_text(r->job->name, "-p and --tid cannot be used together");
		err = -EINVAL;
	}
	return err;
}

static void warn_lost(struct ftrace_job *job, const struct tacho_ftrace *f)
{
	job->lost = tacho_ftrace_lost(f);
	if (job->lost && !job->is_text)
		message_text(job->name, "%" PRIu64 " events did not fit into the buffers and are missing; -m sets their size", job->lost);
}

int ftrace_session(const struct ftrace_opts *o, struct ftrace_job *job, int argc, char **argv, bool *done)
{
	struct ftrace_run r = { .o = o, .job = job, .usage = { .size = sizeof(r.usage) } };
	int status = EXIT_FAILED, err = parse_targets(&r);

	if (err < 0) {
		free(r.pids);
		free(r.tids);
		return EXIT_USAGE;
	}
	run_signals_catch(&r.signals, false);
	if (argc)
		err = run_command_hold(&r.cmd, job->name, argv);
	if (err == 0)
		err = trace_target(&r, &status);
	if (r.f && err == 0)
		warn_lost(job, r.f);
	tacho_ftrace_close(r.f);
	if (r.cmd && err == 0 && !r.command_ended)
		run_command_end(r.cmd, run_signals_ending() ? run_signals_ending() : SIGTERM, &r.signals, &r.usage);
	tacho_command_free(r.cmd);
	run_signals_restore(&r.signals);
	free(r.pids);
	free(r.tids);
	*done = err == 0;
	return err == 0 || err == -EPIPE ? 0 : status;
}
