/*
 * Runs a view until its time, its command or the user ends it, and writes rows as they come, or sums at intervals.
 */
#include "cli/snoop/snoop.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/io.h"
#include "cli/core/run_command.h"

#define POLL_NS 50000000		/* the longest time until an event is shown */

void snoop_flush(struct snoop *s)
{
	if (s->out.n && !s->write_failed && io_write_all(s->out_fd, s->out.bytes, s->out.n) < 0) {
		if (errno != EPIPE)
			message_text("snoop", "the output cannot be written");
		s->write_failed = true;
	}
	s->write_failed |= buf_failed(&s->out);
	buf_clear(&s->out);
}

static int on_row(void *arg, const struct tacho_view_row *row)
{
	struct snoop *s = arg;

	if (!s->info->is_summary && s->count && s->n_rows >= s->count)
		return 0;
	s->writer->row(s, row);
	s->n_rows++;
	if (s->out.n > 60000 && s->writer != &snoop_svg)
		snoop_flush(s);
	return 0;
}

static int print_sums(struct snoop *s, bool since_last)
{
	int err;

	s->n_rows = 0;
	s->writer->begin(s);
	err = tacho_view_sums(s->view, since_last, on_row, s);
	s->writer->end(s);
	snoop_flush(s);
	s->n_intervals++;
	return err;
}

static void report_lost(struct snoop *s)
{
	const char *why;
	uint64_t n = tacho_view_lost(s->view, &why);

	if (n <= s->lost_reported)
		return;
	snoop_flush(s);
	message_text("snoop", "%llu events were lost: %s", (unsigned long long)(n - s->lost_reported), why);
	s->lost_reported = n;
}

static bool has_all(const struct snoop *s)
{
	return s->count && (s->info->is_summary ? s->n_intervals : s->n_rows) >= s->count;
}

/* With -p: whether the processes have ended. */
static bool have_ended(const struct snoop *s)
{
	for (size_t i = 0; i < s->n_pids; i++)
		if (kill(s->pids[i], 0) == 0 || errno != ESRCH)
			return false;
	return s->n_pids > 0;
}

struct snoop_clock {
	uint64_t end_ns, next_ns;	/* of the run; of the interval. UINT64_MAX: never */
};

static uint64_t after(uint64_t now, double seconds)
{
	return seconds > 0 ? now + (uint64_t)llround(seconds * 1e9) : UINT64_MAX;
}

static int wait_and_read(struct snoop *s, const struct snoop_clock *clock, const struct run_signals *signals)
{
	struct pollfd fds[2] = { { .fd = tacho_view_fd(s->view), .events = POLLIN },
				 { .fd = s->command ? tacho_command_fd(s->command) : -1, .events = POLLIN } };
	uint64_t now = clock_mono_ns(), until = min_of(min_of(clock->end_ns, clock->next_ns), now + POLL_NS);
	struct timespec timeout = { .tv_nsec = (long)(until > now ? until - now : 0) };

	ppoll(fds, 2, &timeout, &signals->before);
	return tacho_view_read(s->view, false, on_row, s);
}

/* At the end of an interval. Without -i a terminal shows the sums so far. */
static int end_interval(struct snoop *s, struct snoop_clock *clock, uint64_t now)
{
	while (clock->next_ns <= now)
		clock->next_ns += (uint64_t)llround((s->interval_s > 0 ? s->interval_s : 1) * 1e9);
	return print_sums(s, s->interval_s > 0);
}

static int loop(struct snoop *s, const struct run_signals *signals, struct tacho_usage *usage, bool *ended)
{
	uint64_t start = clock_mono_ns();
	struct snoop_clock clock = { after(start, s->o->duration_s),
		s->info->is_summary ? after(start, s->interval_s > 0 ? s->interval_s : s->is_screen) : UINT64_MAX };
	int err = 0;

	while (err == 0 && !run_signals_ending() && !*ended && !has_all(s) && !s->write_failed) {
		uint64_t now;

		err = wait_and_read(s, &clock, signals);
		snoop_flush(s);
		report_lost(s);
		now = clock_mono_ns();
		if (err == 0 && now >= clock.next_ns)
			err = end_interval(s, &clock, now);
		if (now >= clock.end_ns || have_ended(s))
			break;
		if (s->command && tacho_command_wait(s->command, false, usage) > 0)
			*ended = true;
	}
	return err;
}

static int finish(struct snoop *s)
{
	int err = tacho_view_read(s->view, true, on_row, s);

	if (err == 0 && s->info->is_summary && !has_all(s))
		err = print_sums(s, s->interval_s > 0);
	snoop_flush(s);
	report_lost(s);
	return err;
}

int snoop_loop(struct snoop *s)
{
	struct tacho_usage usage = { .size = sizeof(usage) };
	struct run_signals signals;
	bool ended = false, cut;
	int status = 0, err;

	if (!s->info->is_summary)
		s->writer->begin(s);
	snoop_flush(s);
	run_signals_catch(&signals, false);
	err = run_command_release(s->command, "snoop", &status);
	if (err == 0)
		err = loop(s, &signals, &usage, &ended);
	cut = s->command && !ended;
	if (err == 0)
		err = finish(s);
	if (cut && !status)
		ended = run_command_end(s->command, run_signals_ending() ? run_signals_ending() : SIGTERM, &signals, &usage);
	run_signals_restore(&signals);
	if (s->command && ended && !cut)
		status = run_command_exit_status(usage.status);
	message_if_out_of_memory("snoop", err);
	return status ? status : err < 0 || s->write_failed ? EXIT_FAILED : 0;
}
