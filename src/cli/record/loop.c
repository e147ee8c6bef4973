/*
 * Waiting while events are recorded. One ppoll() waits for the rings (one descriptor that is ready
 * when any of them is filled enough), the command's end, the control channel, and the next
 * of a few moments. Once a second the rings are drained anyway and the file is made complete, so
 * that what a killed recorder leaves behind is not older than that.
 */
#include "cli/record/record.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "cli/core/terminal.h"

#define TICK_S 1.0

static volatile sig_atomic_t caught, told_to_switch;

static void catch(int sig)
{
	if (sig == SIGUSR2)
		told_to_switch = 1;
	else
		caught = sig;
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

struct moments {			/* INFINITY: never */
	double start, tick, turn, next_file;
	size_t range;			/* of -D: the one that comes, or that `on` is in */
	bool on;
	bool shows_progress;
};

/* When the next range begins, or this one ends. */
static double next_turn(const struct record_plan *plan, const struct moments *m)
{
	const struct record_range *r;

	if (m->range >= plan->ranges.n)
		return INFINITY;
	r = &plan->ranges.v[m->range];
	return m->start + (m->on ? r->to_s : r->from_s);
}

/* -D: on or off. 1 when the last range is over. */
static int turn(struct record_loop *loop, struct moments *m)
{
	m->on = !m->on;
	if (m->on)
		tacho_sampler_start(loop->sampler);
	else
		tacho_sampler_stop(loop->sampler);
	if (!loop->opts->quiet)
		fputs(m->on ? "Events enabled\n" : "Events disabled\n", stderr);
	m->range += !m->on;
	m->turn = next_turn(loop->plan, m);
	return m->range == loop->plan->ranges.n;
}

int record_drain(struct record_loop *loop, bool last)
{
	struct record_file *f = loop->file;
	int64_t got;
	int err = 0;

	const struct tacho_sampler_opts *o = &loop->plan->sampler;
	bool snapshot = !o->aux_snapshot || o->overwrite || loop->snapshot_due;

	if (snapshot && last)
		got = tacho_sampler_snapshot(loop->sampler, record_file_write, f);
	else
		got = tacho_sampler_drain(loop->sampler, record_file_write, f);
	if (got > 0)
		err = record_file_round(f);
	else if (got < 0 && !f->error.message[0])
		message_text("record", "a ring buffer could not be read: %s", strerror((int)-got));
	return got < 0 ? (int)got : err;
}

static int switch_file(struct record_loop *loop)
{
	int err = record_drain(loop, true);

	return err < 0 ? err : record_file_switch(loop->file);
}

/* -S: the newest of the AUX areas, and on. */
static int take_snapshot(struct record_loop *loop)
{
	int err;

	loop->snapshot_due = true;
	err = record_drain(loop, true);
	loop->snapshot_due = loop->plan->snapshot_at_end;
	return err;
}

static const struct tacho_event *event_of(const void *sampler, size_t i)
{
	return tacho_sampler_event(sampler, i);
}

static int attr_of(const void *sampler, size_t i, void *attr, size_t size)
{
	return tacho_sampler_attr(sampler, i, attr, size, NULL);
}

static int start_event(void *sampler, size_t i)
{
	return tacho_sampler_start_event(sampler, i);
}

static int stop_event(void *sampler, size_t i)
{
	return tacho_sampler_stop_event(sampler, i);
}

static bool obey_event(const struct record_loop *loop, struct str word)
{
	struct control_events events = { .command = "record", .set = loop->sampler, .event = event_of,
					 .attr = attr_of, .start = start_event, .stop = stop_event,
					 .n = tacho_sampler_size(loop->sampler) };

	return control_events_obey(&events, word);
}

static bool obey(void *arg, struct str word)
{
	struct record_loop *loop = arg;

	if (str_is(word, "enable"))
		tacho_sampler_start(loop->sampler);
	else if (str_is(word, "disable"))
		tacho_sampler_stop(loop->sampler);
	else if (str_is(word, "stop"))
		loop->told_to_stop = true;
	else if (str_is(word, "snapshot") &&
		 (loop->plan->switches || loop->opts->snapshot || loop->opts->overwrite))
		told_to_switch = 1;
	else
		return str_is(word, "ping") || obey_event(loop, word);
	return true;
}

static void show_progress(const struct record_loop *loop, const struct moments *m, double now)
{
	struct tacho_sampler_stats stats = { .size = sizeof(stats) };
	uint64_t bytes = loop->file->bytes_total + record_file_bytes(loop->file);

	tacho_sampler_stats(loop->sampler, SIZE_MAX, &stats);
	fprintf(stderr, "\r%.0f s, %llu samples, %.1f MB, %llu lost ", now - m->start,
		(unsigned long long)stats.samples, (double)bytes / 1048576.0,
		(unsigned long long)stats.lost);
}

/* What is due at `now`: 1 when the recording is over. */
static int act(struct record_loop *loop, struct moments *m, double now)
{
	const struct record_plan *plan = loop->plan;
	uint64_t bytes = record_file_bytes(loop->file);
	int err;

	if (now >= m->turn && turn(loop, m))
		return 1;
	if (now >= m->tick) {
		m->tick = now + TICK_S;
		if (m->shows_progress)
			show_progress(loop, m, now);
		err = record_file_checkpoint(loop->file);
		if (err < 0)
			return err;
	}
	loop->full = plan->max_bytes && loop->file->bytes_total + bytes >= plan->max_bytes;
	if (loop->full)
		return 1;
	if (told_to_switch || now >= m->next_file || (plan->switch_bytes && bytes >= plan->switch_bytes)) {
		told_to_switch = 0;
		m->next_file = plan->switch_s > 0 ? now + plan->switch_s : INFINITY;
		if (loop->opts->snapshot)
			return take_snapshot(loop);
		return plan->switches ? switch_file(loop) : record_drain(loop, true);
	}
	return 0;
}

static struct timespec until(double when, double now)
{
	double s = when - now > 0 ? when - now : 0;

	return (struct timespec){ .tv_sec = (time_t)s,
				  .tv_nsec = (long)((s - (double)(time_t)s) * 1e9) };
}

/* Waits for the next thing to happen and empties the rings. 1: the recording is over. */
static int wait_once(struct record_loop *loop, const struct moments *m, const sigset_t *mask)
{
	struct pollfd fds[4] = { { .fd = tacho_sampler_fd(loop->sampler), .events = POLLIN },
				 { .fd = -1, .events = POLLIN },
				 { .fd = control_poll_fd(&loop->control), .events = POLLIN },
				 { .fd = loop->file->threads.failed_fd, .events = POLLIN } };
	double now = now_s(), next = fmin(fmin(m->tick, m->turn), m->next_file);
	bool over = false;
	struct timespec ts;
	int err;

	if (loop->command)
		fds[1].fd = tacho_command_fd(loop->command);
	if (loop->command && fds[1].fd < 0)	/* no pidfd (before 5.3): look now and then */
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
		err = record_drain(loop, false);
		if (err < 0)
			return err;
	}
	return over || loop->told_to_stop || fds[3].revents;
}

static const int heeded[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR2 };

static void set_signals(const struct record_plan *plan, sigset_t *before, struct sigaction *old)
{
	struct sigaction sa = { .sa_handler = catch };
	sigset_t block;

	caught = told_to_switch = 0;
	sigemptyset(&block);
	for (size_t i = 0; i < countof(heeded); i++) {
		sigaction(heeded[i], NULL, &old[i]);
		if (heeded[i] == SIGHUP && old[i].sa_handler == SIG_IGN)
			continue;		/* nohup stays in force */
		if (heeded[i] == SIGUSR2 && !plan->switches && !plan->sampler.aux_snapshot)
			continue;
		sigaddset(&block, heeded[i]);
		sigaction(heeded[i], &sa, NULL);
	}
	sigprocmask(SIG_BLOCK, &block, before);
}

/* A command that outlives the recording is ended; a second signal to us kills it. */
static void end_command(struct record_loop *loop)
{
	int ended = 0;

	tacho_command_kill(loop->command, SIGTERM);
	caught = 0;
	while (ended == 0 || ended == -EINTR) {
		ended = tacho_command_wait(loop->command, true, &loop->usage);
		if (caught)
			tacho_command_kill(loop->command, SIGKILL);
	}
	loop->ended = ended > 0;
}

int record_loop_run(struct record_loop *loop)
{
	struct sigaction old[countof(heeded)];
	struct moments m = { .start = now_s(), .next_file = INFINITY };
	sigset_t before;
	int over = 0;

	loop->snapshot_due = loop->plan->snapshot_at_end;
	set_signals(loop->plan, &before, old);
	m.tick = m.start + TICK_S;
	m.shows_progress = !loop->opts->quiet && !loop->file->pipe && term_is_tty(STDERR_FILENO);
	m.turn = next_turn(loop->plan, &m);
	if (loop->plan->switch_s > 0)
		m.next_file = m.start + loop->plan->switch_s;
	while (!over && !caught) {
		over = wait_once(loop, &m, &before);
		if (!over && !caught)
			over = act(loop, &m, now_s());
	}
	loop->signal = caught;
	tacho_sampler_stop(loop->sampler);
	if (m.shows_progress)
		fputs("\r\033[K", stderr);
	if (loop->full && !loop->opts->quiet)
		fprintf(stderr, "[ %s record: %s size limit reached (%llu KB), stopping session ]\n",
			program_name, program_name, (unsigned long long)loop->plan->max_bytes >> 10);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (loop->command && !loop->ended)
		end_command(loop);
	for (size_t i = 0; i < countof(heeded); i++)
		sigaction(heeded[i], &old[i], NULL);
	return over < 0 ? over : 0;
}
