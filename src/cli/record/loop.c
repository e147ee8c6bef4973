/*
 * The main loop of a recording. One ppoll() waits for the rings (the sampler's descriptor is ready when
 * one of them is filled to its watermark), the end of the command, the control channel, a failed reader
 * thread, and the next timer. Once a second the rings are drained unconditionally and the file is
 * brought into a valid state, so that at most one second is lost if the recorder is killed.
 */
#include "cli/record/record.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>

#include "cli/core/run_command.h"
#include "cli/core/terminal.h"

#define TICK_S 1.0

static bool switch_requested;		/* by the control channel or SIGUSR2 */

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

struct record_timers {			/* INFINITY: never */
	double start;			/* start of the recording */
	double tick;			/* checkpoint and progress */
	double toggle;			/* -D: begin or end of a range */
	double next_file;		/* --switch-output=TIME */
	size_t range;			/* index of the current range of -D, or of the next one */
	bool on;			/* currently in that range */
	bool shows_progress;
};

/* Time when the next range of -D begins, or the current range ends. */
static double next_toggle(const struct record_plan *plan, const struct record_timers *m)
{
	const struct record_range *r;

	if (m->range >= plan->ranges.n)
		return INFINITY;
	r = &plan->ranges.v[m->range];
	return m->start + (m->on ? r->to_s : r->from_s);
}

/* -D: enables or disables the events. Returns 1 at the end of the last range. */
static int toggle_events(struct record_loop *loop, struct record_timers *m)
{
	m->on = !m->on;
	if (m->on)
		tacho_sampler_start(loop->sampler);
	else
		tacho_sampler_stop(loop->sampler);
	if (!loop->opts->quiet)
		fputs(m->on ? "Events enabled\n" : "Events disabled\n", stderr);
	m->range += !m->on;
	m->toggle = next_toggle(loop->plan, m);
	return m->range == loop->plan->ranges.n;
}

bool record_takes_snapshot(const struct record_loop *loop)
{
	const struct tacho_sampler_opts *o = &loop->plan->sampler;

	return !o->aux_snapshot || o->overwrite || loop->snapshot_due;
}

static int drain(struct record_loop *loop, bool snapshot)
{
	struct tacho_error e = { .column = -1 };
	int64_t got = snapshot ? tacho_recorder_snapshot(loop->recorder, &e)
			       : tacho_recorder_drain(loop->recorder, &e);

	if (got < 0)
		message_error("record", NULL, NULL, &e);
	return (int)min_of(got, (int64_t)0);
}

static int switch_file(struct record_loop *loop)
{
	int err = drain(loop, record_takes_snapshot(loop));

	return err < 0 ? err : record_file_switch(loop->file);
}

/* -S: writes the current contents of the AUX areas. */
static int take_aux_snapshot(struct record_loop *loop)
{
	int err = drain(loop, true);

	loop->snapshot_due = loop->plan->snapshot_at_end;
	return err;
}

/* Executes a command from the control channel. Returns false if it is unknown. */
static bool obey(void *arg, struct str word)
{
	struct record_loop *loop = arg;

	if (str_is(word, "enable"))
		tacho_sampler_start(loop->sampler);
	else if (str_is(word, "disable"))
		tacho_sampler_stop(loop->sampler);
	else if (str_is(word, "stop"))
		loop->stop_requested = true;
	else if (str_is(word, "snapshot") &&
		 (loop->plan->switches || loop->opts->snapshot || loop->opts->overwrite))
		switch_requested = true;
	else
		return str_is(word, "ping") || control_events_obey("record", tacho_sampler_evset(loop->sampler), word);
	return true;
}

static void show_progress(const struct record_loop *loop, const struct record_timers *m, uint64_t bytes,
			  double now)
{
	struct tacho_sampler_stats stats = { .size = sizeof(stats) };

	tacho_sampler_stats(loop->sampler, SIZE_MAX, &stats);
	fprintf(stderr, "\r%.0f s, %llu samples, %.1f MB, %llu lost ", now - m->start,
		(unsigned long long)stats.samples, (double)bytes / 1048576.0,
		(unsigned long long)stats.lost);
}

/* Also with -q, because samples are missing from then on. */
static void report_cpu_changes(const struct record_loop *loop)
{
	struct tacho_error e = { .column = -1 };

	if (tacho_sampler_check_cpus(loop->sampler, &e) > 0)
		message_error("record", NULL, NULL, &e);
}

/* Performs the actions that are due at `now`: toggles events, checkpoints, switches files. Returns 1 when
 * the recording is over. */
static int run_due_actions(struct record_loop *loop, struct record_timers *m, double now)
{
	const struct record_plan *plan = loop->plan;
	struct tacho_recorder_stats stats = { .size = sizeof(stats) };
	struct tacho_error e = { .column = -1 };
	int err;

	tacho_recorder_stats(loop->recorder, &stats);
	if (now >= m->toggle && toggle_events(loop, m))
		return 1;
	if (now >= m->tick) {
		m->tick = now + TICK_S;
		if (m->shows_progress)
			show_progress(loop, m, stats.total_bytes, now);
		report_cpu_changes(loop);
		if (loop->opts->jit)
			record_jit_fetch(plan, loop->command && !loop->ended ? tacho_command_pid(loop->command) : 0);
		err = tacho_recorder_checkpoint(loop->recorder, &e);
		if (err < 0) {
			message_error("record", NULL, NULL, &e);
			return err;
		}
	}
	if (stats.is_full)
		return 1;
	switch_requested |= run_signals_take_usr2();
	if (switch_requested || now >= m->next_file || (plan->switch_bytes && stats.bytes >= plan->switch_bytes)) {
		switch_requested = false;
		m->next_file = plan->switch_s > 0 ? now + plan->switch_s : INFINITY;
		if (loop->opts->snapshot)
			return take_aux_snapshot(loop);
		return plan->switches ? switch_file(loop) : drain(loop, record_takes_snapshot(loop));
	}
	return 0;
}

static struct timespec until(double when, double now)
{
	double s = when - now > 0 ? when - now : 0;

	return (struct timespec){ .tv_sec = (time_t)s,
				  .tv_nsec = (long)((s - (double)(time_t)s) * 1e9) };
}

/* Waits for the next event or timer and drains the rings. Returns 1 when the recording is over. */
static int wait_once(struct record_loop *loop, const struct record_timers *m, const sigset_t *mask)
{
	struct pollfd fds[4] = { { .fd = tacho_sampler_fd(loop->sampler), .events = POLLIN },
				 { .fd = -1, .events = POLLIN },
				 { .fd = control_poll_fd(&loop->control), .events = POLLIN },
				 { .fd = tacho_recorder_error_fd(loop->recorder), .events = POLLIN } };
	double now = now_s(), next = fmin(fmin(m->tick, m->toggle), m->next_file);
	bool over = false;
	struct timespec ts;
	int err;

	if (loop->command)
		fds[1].fd = tacho_command_fd(loop->command);
	if (loop->command && fds[1].fd < 0)	/* no pidfd before Linux 5.3: check every 10 ms */
		next = fmin(next, now + 0.01);
	ts = until(next, now);
	if (ppoll(fds, countof(fds), &ts, mask) < 0 && errno != EINTR)
		return -errno;
	if (fds[2].revents)
		control_read(&loop->control, "record",
			     "enable, disable (with an event's name, too), evlist, stop or ping, with "
			     "--overwrite, -S or --switch-output snapshot", obey, loop);
	if (fds[0].revents) {
		loop->n_wakeups++;
		over = tacho_sampler_look(loop->sampler) == 1 && !loop->command;
	}
	if (loop->command && (fds[1].revents || fds[1].fd < 0) &&
	    tacho_command_wait(loop->command, false, &loop->usage) > 0)
		loop->ended = over = true;
	if (!over && (fds[0].revents || now_s() >= m->tick)) {
		err = drain(loop, false);
		if (err < 0)
			return err;
	}
	return over || loop->stop_requested || fds[3].revents;
}

int record_loop_run(struct record_loop *loop)
{
	struct record_timers m = { .start = now_s(), .next_file = INFINITY };
	struct tacho_recorder_stats stats = { .size = sizeof(stats) };
	struct run_signals signals;
	int over = 0;

	loop->snapshot_due = loop->plan->snapshot_at_end;
	switch_requested = false;
	run_signals_catch(&signals, loop->plan->switches || loop->plan->sampler.aux_snapshot);
	m.tick = m.start + TICK_S;
	m.shows_progress = !loop->opts->quiet && !loop->file->pipe && term_is_tty(STDERR_FILENO);
	m.toggle = next_toggle(loop->plan, &m);
	if (loop->plan->switch_s > 0)
		m.next_file = m.start + loop->plan->switch_s;
	while (!over && !run_signals_ending()) {
		over = wait_once(loop, &m, &signals.before);
		if (!over && !run_signals_ending())
			over = run_due_actions(loop, &m, now_s());
	}
	loop->signal = run_signals_ending();
	tacho_sampler_stop(loop->sampler);
	tacho_recorder_stats(loop->recorder, &stats);
	if (m.shows_progress)
		fputs("\r\033[K", stderr);
	if (stats.is_full && !loop->opts->quiet)
		fprintf(stderr, "[ %s record: %s size limit reached (%llu KB), stopping session ]\n",
			program_name, program_name, (unsigned long long)loop->plan->max_bytes >> 10);
	if (loop->command && !loop->ended)
		loop->ended = run_command_end(loop->command, SIGTERM, &signals, &loop->usage);
	run_signals_restore(&signals);
	return over < 0 ? over : 0;
}
