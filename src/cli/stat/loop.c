/*
 * Waits while the counters run. One ppoll() waits for the end of the command (or of the counted threads), for
 * the control channel, and for the next of four deadlines: the interval's tick, the end of the start delay,
 * the time-out, and the next read for the error estimate. Ticks are at start + n * interval, so intervals do
 * not drift. Missed ticks are skipped.
 *
 * Without -I, the counters are read once after 100 ms. If they are multiplexed, they are read every 100 ms
 * from then on: the error estimate needs the variation of the rate between reads.
 */
#include "cli/stat/stat.h"

#include "cli/core/run_command.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>

#define RATE_SAMPLE_S 0.1	/* time between reads for the error estimate */
#define POLL_END_S 0.05	/* polling interval if no file descriptor reports the end of the target */

double stat_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static bool obey_control(void *arg, struct str word)
{
	struct stat_loop *loop = arg;

	if (str_is(word, "enable"))
		tacho_evset_start(loop->set);
	else if (str_is(word, "disable"))
		tacho_evset_stop(loop->set);
	else if (str_is(word, "stop"))
		loop->stop_requested = true;
	else
		return str_is(word, "ping") || control_events_obey("stat", loop->set, word);
	return true;
}

static bool multiplexed(const struct tacho_evset *set)
{
	size_t n;
	const struct tacho_reading *r = tacho_evset_readings(set, &n);

	for (size_t i = 0; i < n; i++)
		if (r[i].state == TACHO_SCALED || (r[i].enabled_ns && !r[i].running_ns))
			return true;
	return false;
}

struct deadlines {
	double start, tick, enable, timeout;	/* INFINITY: never */
	double sample;				/* next read for the error estimate */
	uint32_t n_intervals;
};

static double next_deadline(const struct deadlines *d)
{
	return fmin(fmin(d->tick, d->enable), fmin(d->timeout, d->sample));
}

/* Sets the deadlines relative to `now`, the time at which counting starts. */
static void set_deadlines(struct deadlines *d, const struct stat_opts *o, double now)
{
	*d = (struct deadlines){ .start = now, .tick = INFINITY, .enable = INFINITY,
				 .timeout = INFINITY, .sample = now + RATE_SAMPLE_S };
	if (o->interval_ms) {
		d->tick = now + o->interval_ms * 1e-3;
		d->sample = INFINITY;
	}
	if (o->timeout_ms)
		d->timeout = now + o->timeout_ms * 1e-3;
}

/* Handles the deadlines that have passed at `now`. Returns 0, 1 if the run has ended, or a negative errno. */
static int handle_deadlines(struct stat_loop *loop, struct deadlines *d, double now)
{
	const struct stat_opts *o = loop->opts;

	if (now >= d->enable) {
		d->enable = INFINITY;
		tacho_evset_start(loop->set);
		set_deadlines(d, o, stat_now());
		if (!o->quiet)
			fputs("Events enabled\n", stderr);
	}
	if (now >= d->sample) {
		tacho_evset_read(loop->set, NULL);
		d->sample = multiplexed(loop->set) ? now + RATE_SAMPLE_S : INFINITY;
	}
	if (now >= d->tick) {
		double period = o->interval_ms * 1e-3;
		int err = loop->on_interval(loop->arg, now - d->start);

		if (err < 0)
			return err;
		d->tick += period * fmax(1, ceil((stat_now() - d->tick) / period));
		if (o->interval_count && ++d->n_intervals >= o->interval_count)
			return 1;
	}
	if (now >= d->timeout)
		return 1;
	return 0;
}

static struct timespec until(double when, double now)
{
	double s = when > now && !isinf(when) ? when - now : 0;

	return (struct timespec){ .tv_sec = (time_t)s,
				  .tv_nsec = (long)((s - (double)(time_t)s) * 1e9) };
}

/* Gets the file descriptor that reports the end of the command or, without one, of all counted threads. If
 * there is none, *fd is -1, and *next is set to an earlier time, so that the end is detected by polling.
 * Returns 1 if all have ended. */
static int watch_target(const struct stat_loop *loop, double now, int *fd, double *next)
{
	int got = loop->command ? tacho_command_fd(loop->command) : tacho_evset_watch(loop->set);

	*fd = got < 0 ? -1 : got;
	if (!loop->command && got == -ESRCH)
		return 1;
	if (loop->command ? got < 0 : got == -EAGAIN)
		*next = fmin(*next, now + POLL_END_S);
	return 0;
}

/* Waits for the next event or deadline. Returns 1 if the run has ended, else 0. */
static int wait_once(struct stat_loop *loop, struct deadlines *d, const sigset_t *mask)
{
	struct pollfd fds[2] = { { .fd = -1, .events = POLLIN }, { .fd = -1, .events = POLLIN } };
	double now = stat_now(), next = next_deadline(d);
	struct timespec ts;
	int ended;

	if (watch_target(loop, now, &fds[0].fd, &next))
		return 1;
	fds[1].fd = control_poll_fd(&loop->control);
	ts = until(next, now);
	ppoll(fds, 2, isinf(next) ? NULL : &ts, mask);
	if (fds[1].revents)
		control_read(&loop->control, "stat",
			     "enable, disable (with an event's name, too), evlist, stop or ping", obey_control, loop);
	if (!loop->command || (!fds[0].revents && fds[0].fd >= 0))
		return loop->stop_requested;
	ended = tacho_command_wait(loop->command, false, &loop->usage);
	loop->ended = ended > 0;
	return loop->stop_requested || ended != 0;
}

int stat_loop_run(struct stat_loop *loop)
{
	struct run_signals signals;
	struct deadlines d;
	int over = 0;

	run_signals_catch(&signals, false);
	set_deadlines(&d, loop->opts, loop->start);
	if (loop->opts->delay_ms > 0)
		d = (struct deadlines){ .start = loop->start, .tick = INFINITY,
					.enable = loop->start + loop->opts->delay_ms * 1e-3,
					.timeout = INFINITY, .sample = INFINITY };
	while (!over && !run_signals_ending()) {
		over = wait_once(loop, &d, &signals.before);
		if (!over && !run_signals_ending())
			over = handle_deadlines(loop, &d, stat_now());
	}
	loop->signal = run_signals_ending();
	if (!loop->command)
		tacho_evset_stop(loop->set);
	if (loop->command && !loop->ended) {
		bool timed_out = stat_now() >= d.timeout;
		/* After Ctrl-C, the terminal has sent SIGINT to the command as well. */
		int signal = timed_out || (loop->signal && loop->signal != SIGINT) ? SIGTERM : 0;

		loop->ended = run_command_end(loop->command, signal, &signals, &loop->usage);
	}
	loop->elapsed_s = stat_now() - d.start;
	run_signals_restore(&signals);
	return over < 0 ? over : 0;
}
