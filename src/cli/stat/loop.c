/*
 * Waiting while counters run. One poll() waits for the command's end (or that of the counted
 * threads), the control channel and the next of three moments: the interval's tick, the end of
 * the start delay, the time-out.
 * Ticks are at start + n * interval, so intervals do not drift; ticks that were missed are
 * passed over, not made up for.
 *
 * A run without intervals still looks after 100 ms whether counters are being multiplexed, and
 * only then reads on at that pace: the spread of these readings is the error estimate.
 */
#include "cli/stat/stat.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#define SPREAD_TICK_S 0.1
#define LOOK_TICK_S 0.05	/* where no descriptor tells of an end */

static volatile sig_atomic_t caught;

static void catch(int sig)
{
	caught = sig;
}

double stat_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static const struct tacho_event *event_of(const void *set, size_t i)
{
	return tacho_evset_event(set, i);
}

static int attr_of(const void *set, size_t i, void *attr, size_t size)
{
	return tacho_evset_attr(set, i, attr, size);
}

static int start_event(void *set, size_t i)
{
	return tacho_evset_start_event(set, i);
}

static int stop_event(void *set, size_t i)
{
	return tacho_evset_stop_event(set, i);
}

static bool obey_event(const struct stat_loop *loop, struct str word)
{
	struct control_events events = { .command = "stat", .set = loop->set, .event = event_of, .attr = attr_of,
					 .start = start_event, .stop = stop_event,
					 .n = tacho_evset_size(loop->set) };

	return control_events_obey(&events, word);
}

static bool obey(void *arg, struct str word)
{
	struct stat_loop *loop = arg;

	if (str_is(word, "enable"))
		tacho_evset_start(loop->set);
	else if (str_is(word, "disable"))
		tacho_evset_stop(loop->set);
	else if (str_is(word, "stop"))
		loop->told_to_stop = true;
	else
		return str_is(word, "ping") || obey_event(loop, word);
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
	double start, tick, enable, timeout, spread;	/* INFINITY: never */
	uint32_t n_intervals;
};

static double next_of(const struct deadlines *d)
{
	return fmin(fmin(d->tick, d->enable), fmin(d->timeout, d->spread));
}

/* From the moment counting begins: intervals, time-outs and the time elapsed are its. */
static void set_deadlines(struct deadlines *d, const struct stat_opts *o, double now)
{
	*d = (struct deadlines){ .start = now, .tick = INFINITY, .enable = INFINITY,
				 .timeout = INFINITY, .spread = now + SPREAD_TICK_S };
	if (o->interval_ms) {
		d->tick = now + o->interval_ms * 1e-3;
		d->spread = INFINITY;
	}
	if (o->timeout_ms)
		d->timeout = now + o->timeout_ms * 1e-3;
}

/* What is due at `now`; returns a negative errno, or 1 when the run is over. */
static int act(struct stat_loop *loop, struct deadlines *d, double now)
{
	const struct stat_opts *o = loop->opts;

	if (now >= d->enable) {
		d->enable = INFINITY;
		tacho_evset_start(loop->set);
		set_deadlines(d, o, stat_now());
		if (!o->quiet)
			fputs("Events enabled\n", stderr);
	}
	if (now >= d->spread) {
		tacho_evset_read(loop->set, NULL);
		d->spread = multiplexed(loop->set) ? now + SPREAD_TICK_S : INFINITY;
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

	/* Rounded up to the next microsecond: waking a little early would mean waking twice. */
	return (struct timespec){ .tv_sec = (time_t)s,
				  .tv_nsec = (long)((s - (double)(time_t)s) * 1e9) };
}

/* What tells of the end of the command or, without one, of all that is counted. `fd` is -1 where
 * nothing does; then *next is when to look. Returns 1 when all has ended. */
static int watch_end(const struct stat_loop *loop, double now, int *fd, double *next)
{
	int got = loop->command ? tacho_command_fd(loop->command) : tacho_evset_watch(loop->set);

	*fd = got < 0 ? -1 : got;
	if (!loop->command && got == -ESRCH)
		return 1;
	if (loop->command ? got < 0 : got == -EAGAIN)
		*next = fmin(*next, now + LOOK_TICK_S);
	return 0;
}

/* Waits for the next thing to happen. Returns 1 when the run is over. */
static int wait_once(struct stat_loop *loop, struct deadlines *d, const sigset_t *mask)
{
	struct pollfd fds[2] = { { .fd = -1, .events = POLLIN }, { .fd = -1, .events = POLLIN } };
	double now = stat_now(), next = next_of(d);
	struct timespec ts;
	int ended;

	if (watch_end(loop, now, &fds[0].fd, &next))
		return 1;
	fds[1].fd = control_poll_fd(&loop->control);
	ts = until(next, now);
	ppoll(fds, 2, isinf(next) ? NULL : &ts, mask);
	if (fds[1].revents)
		control_read(&loop->control, "stat",
			     "enable, disable (with an event's name, too), evlist, stop or ping", obey, loop);
	if (!loop->command || (!fds[0].revents && fds[0].fd >= 0))
		return loop->told_to_stop;
	ended = tacho_command_wait(loop->command, false, &loop->usage);
	loop->ended = ended > 0;
	return loop->told_to_stop || ended != 0;
}

/* Lets a command that outlived the run end. The terminal has sent Ctrl-C to it as well; a
 * second signal to us kills it. */
static void end_command(struct stat_loop *loop, bool timed_out, const sigset_t *mask)
{
	struct deadlines never = { .tick = INFINITY, .enable = INFINITY, .timeout = INFINITY,
				   .spread = INFINITY };

	if (timed_out || (loop->signal && loop->signal != SIGINT))
		tacho_command_kill(loop->command, SIGTERM);
	caught = 0;
	loop->control.deaf = true;
	loop->told_to_stop = false;
	while (!wait_once(loop, &never, mask))
		if (caught)
			tacho_command_kill(loop->command, SIGKILL);
}

static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP };

static void set_signals(sigset_t *before, struct sigaction *old)
{
	struct sigaction sa = { .sa_handler = catch };
	sigset_t block;

	caught = 0;
	sigemptyset(&block);
	for (size_t i = 0; i < countof(ending_signals); i++) {
		sigaction(ending_signals[i], NULL, &old[i]);
		/* nohup stays in force; but a shell ignores SIGINT for all that it puts into the
		 * background, and scripts end a measurement there with just that. */
		if (ending_signals[i] == SIGHUP && old[i].sa_handler == SIG_IGN)
			continue;
		sigaddset(&block, ending_signals[i]);
		sigaction(ending_signals[i], &sa, NULL);
	}
	sigprocmask(SIG_BLOCK, &block, before);
}

int stat_loop_run(struct stat_loop *loop)
{
	struct sigaction old[countof(ending_signals)];
	struct deadlines d;
	sigset_t before;
	int over = 0;

	set_signals(&before, old);
	set_deadlines(&d, loop->opts, loop->start);
	if (loop->opts->delay_ms > 0)
		d = (struct deadlines){ .start = loop->start, .tick = INFINITY,
					.enable = loop->start + loop->opts->delay_ms * 1e-3,
					.timeout = INFINITY, .spread = INFINITY };
	while (!over && !caught) {
		over = wait_once(loop, &d, &before);
		if (!over && !caught)
			over = act(loop, &d, stat_now());
	}
	loop->signal = caught;
	if (!loop->command)
		tacho_evset_stop(loop->set);
	if (loop->command && !loop->ended)
		end_command(loop, stat_now() >= d.timeout, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	loop->elapsed_s = stat_now() - d.start;
	for (size_t i = 0; i < countof(ending_signals); i++)
		sigaction(ending_signals[i], &old[i], NULL);
	return over < 0 ? over : 0;
}
