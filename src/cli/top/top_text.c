/*
 * `tacho top` as text and as JSON: one table, or one line, per refresh. On a terminal each table begins on an empty
 * screen and has as many entries as fit; the key q ends it, as does the end of the processes, but not the end of stdin.
 *
 *	   PerfTop:    1998 irqs/sec  kernel: 3.1%  exact: 0.0% lost: 0/0 drop: 0/0 [4000Hz cycles],  (all, 2 CPUs)
 */
#include "cli/top/top.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>

#include "base/clock.h"
#include "base/io.h"
#include "cli/core/run_command.h"
#include "cli/core/terminal.h"
#include "cli/report/table.h"

#define RULE_WIDTH 80
#define HEAD_LINES 10			/* of the screen, which are not entries */
#define FILE_ENTRIES 20			/* if stdout is not a terminal, as in perf */

struct text_top {
	const struct top_opts *o;
	struct top_feed *feed;
	struct top_live *live;
	bool clears, keys;		/* stdout is a terminal; stdin is one, and has keys */
	struct termios saved;
	unsigned n_printed;
};

/* ---- keys ---- */

static void keys_begin(struct text_top *t)
{
	struct termios raw;

	t->keys = !t->o->rep.json && term_is_tty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp() &&
		  tcgetattr(STDIN_FILENO, &t->saved) == 0;
	if (!t->keys)
		return;
	raw = t->saved;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

static void keys_end(const struct text_top *t)
{
	if (t->keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &t->saved);
}

/* Returns whether the user wants to quit. Without stdin, goes on without keys. */
static bool read_keys(struct text_top *t)
{
	char keys[64];
	ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));

	if (n <= 0 && !(n < 0 && errno == EINTR)) {
		keys_end(t);
		t->keys = false;
	}
	return n > 0 && (memchr(keys, 'q', (size_t)n) || memchr(keys, 'Q', (size_t)n));
}

/* ---- text ---- */

static double kernel_percent(const struct tacho_profile *p)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(p);
	const struct tacho_profile_node *nodes = tacho_profile_nodes(p);
	uint64_t all = 0, kernel = 0;

	for (size_t i = 0; i < tacho_profile_n_rows(p); i++) {
		const struct tacho_profile_frame *f =
			rows[i].node ? tacho_profile_frame(p, nodes[rows[i].node].frame) : NULL;

		all += rows[i].samples;
		kernel += f && f->space == TACHO_SPACE_KERNEL ? rows[i].samples : 0;
	}
	return all ? 100.0 * (double)kernel / (double)all : 0;
}

static void put_rule(struct buf *out)
{
	buf_pad(out, '-', RULE_WIDTH);
	buf_putc(out, '\n');
}

/* Without the event that only records mappings and tasks. */
static void put_event_names(const struct tacho_profile *p, struct buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < tacho_profile_n_events(p); i++)
		if (tacho_profile_event(p, i)->all_samples || !str_starts(str_of(tacho_profile_event(p, i)->name), "dummy"))
			buf_printf(out, "%s%s", n++ ? "," : "", tacho_profile_event(p, i)->name);
}

static void put_head(const struct text_top *t, struct buf *out)
{
	const struct top_window *w = &t->live->last;
	const struct tacho_profile *p = t->live->profile;
	const struct record_opts *r = &t->o->rec;

	put_rule(out);
	buf_printf(out, "   PerfTop: %7.0f irqs/sec  kernel:%4.1f%%  exact: 0.0%% lost: %" PRIu64 "/%" PRIu64 " drop: 0/0 [",
		   w->seconds > 0 ? (double)w->samples / w->seconds : 0, kernel_percent(p), w->lost, t->live->lost);
	if (r->period)
		buf_printf(out, "%" PRIu64 " ", r->period);
	else
		buf_printf(out, "%sHz ", r->freq ? r->freq : "4000");
	put_event_names(p, out);
	buf_printf(out, "],  (%s)\n", top_feed_target(t->feed));
	buf_puts(out, "   ");
	top_live_status(t->live, out);
	buf_putc(out, '\n');
	put_rule(out);
	buf_putc(out, '\n');
}

static int flush_stdout(struct table_sink *sink)
{
	int err = buf_failed(&sink->out) ? -ENOMEM : io_write_all(STDOUT_FILENO, sink->out.bytes, sink->out.n);

	buf_clear(&sink->out);
	return err;
}

/* How many entries of a table are shown. */
static size_t max_entries(const struct text_top *t)
{
	struct winsize size;

	if (t->o->entries)
		return t->o->entries;
	if (t->o->rep.json)
		return SIZE_MAX;
	if (!t->clears || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row == 0)
		return FILE_ENTRIES;
	return size.ws_row > HEAD_LINES ? size.ws_row - HEAD_LINES : 1;
}

static int put_table(const struct text_top *t, struct tacho_report *r, const struct report_view *view, struct json *json,
		     struct table_sink *sink)
{
	int err;

	r->n_order = min_of(r->n_order, max_entries(t));
	if (json) {
		table_json(r, view, json);
		return 0;
	}
	buf_puts(&sink->out, "# ");
	report_event_text(&t->o->rep, r, r->samples, &sink->out);
	buf_printf(&sink->out, ", Event count (approx.): %" PRIu64 "\n#\n", r->period);
	err = t->o->rep.hierarchy ? hierarchy_text(r, view, true, sink) : table_text(r, view, true, sink);
	buf_putc(&sink->out, '\n');
	return err;
}

static int put_tables(const struct text_top *t, struct json *json, struct table_sink *sink)
{
	const struct tacho_profile *p = t->live->profile;
	struct report_view view;
	int err = 0;

	report_view_init(&t->o->rep, p, &view);
	view.shown_widths = !t->o->rep.json;	/* a long name far below must not widen the screen */
	view.report.split_comms = false;	/* the live profile has all threads */
	if (view.report.n_values < TACHO_REPORT_KEYS_MAX)
		view.report.values[view.report.n_values++] = tacho_report_column(TACHO_COLUMN_SAMPLES);
	for (size_t i = 0; i < tacho_profile_n_events(p) && err == 0; i++) {
		scoped(report_freep) struct tacho_report *r = NULL;
		uint32_t members[TACHO_REPORT_EVENTS_MAX];
		size_t n = report_members(&t->o->rep, p, (uint32_t)i, members, countof(members));

		if (n)
			err = tacho_report_new(&r, p, &view.report, members, n, NULL);
		if (n && err == 0)
			err = put_table(t, r, &view, json, sink);
	}
	return err;
}

static int keep_text(struct table_sink *sink)
{
	return buf_failed(&sink->out) ? -ENOMEM : 0;
}

/* Appends the lines that fit on the terminal, each as far as it fits. */
static void put_clipped(struct buf *out, struct str text)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	struct str line;

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	for (unsigned row = 1; row < size.ws_row && str_cut(&text, '\n', &line); row++) {
		buf_put(out, line.s, min_of(line.n, (size_t)size.ws_col));
		buf_putc(out, '\n');
	}
}

static int print_text(const struct text_top *t)
{
	struct table_sink sink = { .flush = t->clears ? keep_text : flush_stdout };
	struct buf screen = { 0 };
	int err;

	put_head(t, &sink.out);
	err = put_tables(t, NULL, &sink);
	if (err == 0 && t->clears) {
		buf_puts(&screen, "\033[H\033[2J");
		put_clipped(&screen, buf_view(&sink.out));
		err = buf_failed(&screen) ? -ENOMEM : io_write_all(STDOUT_FILENO, screen.bytes, screen.n);
	} else if (err == 0) {
		err = sink.flush(&sink);
	}
	buf_done(&sink.out);
	buf_done(&screen);
	return err;
}

/* ---- JSON ---- */

static int print_json(const struct text_top *t)
{
	scoped(freep) char *quality = tacho_profile_quality_json(t->live->profile);
	const struct top_window *w = &t->live->last;
	struct buf out = { 0 };
	struct json j = { .out = &out };
	int err;

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.top/1");
	json_member(&j, "time", double, (double)clock_wall_ns() / 1e9);
	json_member(&j, "target", str, top_feed_target(t->feed));
	json_member(&j, "seconds", double, w->seconds);
	json_member(&j, "samples", u64, w->samples);
	json_member(&j, "lost", u64, w->lost);
	json_member(&j, "throttled", u64, w->throttled);
	json_member(&j, "own_cpu_percent", double, w->own_cpu);
	json_member(&j, "quality", raw, quality);
	json_key(&j, "events");
	json_begin(&j, '[');
	err = put_tables(t, &j, NULL);
	json_end(&j);
	json_end(&j);
	buf_putc(&out, '\n');
	if (err == 0)
		err = buf_failed(&out) ? -ENOMEM : io_write_all(STDOUT_FILENO, out.bytes, out.n);
	buf_done(&out);
	return err;
}

/* ---- the loop ---- */

static int print_window(struct text_top *t)
{
	struct top_window w;
	int err;

	if (!top_feed_take(t->feed, &w))
		return 0;
	err = top_live_add(t->live, &w);
	if (err == 0)
		err = t->o->rep.json ? print_json(t) : print_text(t);
	t->n_printed++;
	return err;
}

/* Returns a negative errno, or 1 when the user wants to quit, else 0. */
static int step(struct text_top *t, const sigset_t *mask)
{
	struct pollfd fds[] = { { .fd = top_feed_fd(t->feed), .events = POLLIN },
				{ .fd = t->keys ? STDIN_FILENO : -1, .events = POLLIN } };

	if (ppoll(fds, countof(fds), NULL, mask) < 0)
		return errno == EINTR ? 0 : -errno;
	if (fds[1].revents && read_keys(t))
		return 1;
	return fds[0].revents ? print_window(t) : 0;
}

static int run(struct text_top *t)
{
	struct run_signals signals;
	int err = 0;

	run_signals_catch(&signals, false);
	signal(SIGPIPE, SIG_IGN);
	keys_begin(t);
	while (err == 0 && !run_signals_ending() && !top_feed_ended(t->feed, NULL) &&
	       !(t->o->n_refreshes && t->n_printed >= t->o->n_refreshes))
		err = step(t, &signals.before);
	keys_end(t);
	run_signals_restore(&signals);
	return min_of(err, 0);
}

int top_text(const struct top_opts *o, struct top_feed *f, struct top_live *l)
{
	struct text_top t = { .o = o, .feed = f, .live = l };
	const char *why;
	int err;

	t.clears = !o->rep.json && term_is_tty(STDOUT_FILENO);
	if (*top_feed_notes(f))
		message_text("top", "%s", top_feed_notes(f));
	err = run(&t);
	if (top_feed_ended(f, &why))
		message_text("top", "%s", why);
	if (err < 0 && err != -EPIPE)
		message_text("top", "cannot write to stdout: %s", strerror(-err));
	message_if_out_of_memory("top", err);
	return err < 0 && err != -EPIPE ? EXIT_FAILED : 0;
}
