/*
 * For tests of the browser without a terminal: a grid of characters instead of the screen, keys from a list, and a small
 * hand-made profile. The end of the list closes the terminal.
 */
#ifndef TEST_BROWSER_SUPPORT_H
#define TEST_BROWSER_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/perf_abi.h"
#include "cli/browser/browser.h"
#include "cli/core/app.h"
#include "profile/frame.h"
#include "profile/intern.h"
#include "profile/trie.h"

#define GRID_ROWS 60
#define GRID_COLS 200
#define RESIZE_BASE 0x200000		/* a key that changes the size: RESIZE(rows, cols) */
#define RESIZE(rows, cols) (RESIZE_BASE + (rows) * 1000 + (cols))

/* main.c is not part of a test. */
const char *program_name = "tacho";
int print_out(const char *command, struct buf *b)
{
	(void)command;
	buf_done(b);
	return 1;
}

struct grid {
	char cells[GRID_ROWS][GRID_COLS + 1];
	char shown[GRID_ROWS * (GRID_COLS + 1) + 1];	/* the last screen, without blanks at the ends */
	enum screen_style styles[GRID_ROWS][GRID_COLS];
	const int *keys;
	size_t n_keys, at, puts, most_puts;
	bool over;			/* the keys are used up */
};

static void grid_put(struct screen *s, int row, int col, enum screen_style style, const char *text)
{
	struct grid *g = s->arg;

	g->puts++;
	assert_true(row >= 0 && row < s->rows && col >= 0);
	for (; *text; text++, col++) {
		assert_true(col < s->cols);
		assert_true((unsigned char)*text >= ' ');
		g->cells[row][col] = *text;
		g->styles[row][col] = style;
	}
}

static void grid_frame(struct screen *s, int row, int col, int rows, int cols)
{
	struct grid *g = s->arg;

	assert_true(row >= 0 && col >= 0 && rows >= 3 && cols >= 3);
	assert_true(row + rows <= s->rows && col + cols <= s->cols);
	for (int r = row; r < row + rows; r++)
		for (int c = col; c < col + cols; c++) {
			bool edge = r == row || r == row + rows - 1, side = c == col || c == col + cols - 1;

			g->cells[r][c] = edge && side ? '+' : edge ? '-' : side ? '|' : ' ';
		}
}

static void grid_clear(struct screen *s)
{
	struct grid *g = s->arg;

	g->puts = 0;
	for (int r = 0; r < GRID_ROWS; r++) {
		memset(g->cells[r], ' ', GRID_COLS);
		g->cells[r][GRID_COLS] = '\0';
	}
}

static void grid_show(struct screen *s)
{
	struct grid *g = s->arg;
	size_t n = 0;

	if (g->over)			/* what closes on its way out is of no interest */
		return;
	g->most_puts = max_of(g->most_puts, g->puts);
	for (int r = 0; r < s->rows; r++) {
		int end = s->cols;

		while (end && g->cells[r][end - 1] == ' ')
			end--;
		memcpy(g->shown + n, g->cells[r], (size_t)end);
		n += (size_t)end;
		g->shown[n++] = '\n';
	}
	g->shown[n] = '\0';
}

static int grid_key(struct screen *s)
{
	struct grid *g = s->arg;
	int key = g->at < g->n_keys ? g->keys[g->at++] : KEY_IS_GONE;

	g->over = g->over || key == KEY_IS_GONE;
	if (key < RESIZE_BASE)
		return key;
	s->rows = (key - RESIZE_BASE) / 1000;
	s->cols = (key - RESIZE_BASE) % 1000;
	return KEY_IS_RESIZE;
}

static void grid_close(struct screen *s)
{
	(void)s;
}

static const struct screen_ops grid_ops = {
	.put = grid_put, .frame = grid_frame, .clear = grid_clear, .show = grid_show, .key = grid_key,
	.close = grid_close,
};

/* ---- a recording ---- */

struct stage {				/* everything a browser needs */
	struct tacho_perfdata *pd;
	struct tacho_profile *p;
	struct report_opts opts;
	struct report_view view;
	struct grid grid;
	struct screen screen;
	char *file;
};

/* A file without samples, for the text about the file. */
static struct tacho_perfdata *empty_recording(void)
{
	int fd = memfd_create("perf.data", 0);
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_SOFTWARE };
	struct tacho_perfdata_writer *w = NULL;
	struct tacho_perfdata *pd = NULL;
	uint64_t id = 1;
	char path[64];

	assert_int_equal(tacho_writer_open(&w, fd, NULL, NULL), 0);
	assert_int_equal(tacho_writer_event(w, "cycles", &attr, sizeof(attr), &id, 1), 0);
	assert_int_equal(tacho_writer_string(w, TACHO_FEATURE_HOSTNAME, "testhost"), 0);
	assert_int_equal(tacho_writer_begin(w, NULL), 0);
	assert_int_equal(tacho_writer_finish(w, NULL), 0);
	tacho_writer_free(w);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(tacho_perfdata_open(&pd, path, TACHO_OPTS(tacho_perfdata_opts, .ordered = true),
					     NULL), 0);
	close(fd);
	return pd;
}

static uint32_t stage_frame(struct stage *s, const char *name, const char *object)
{
	struct tacho_profile_object ob = { .path = object, .name = strrchr(object, '/') ?
					   strrchr(object, '/') + 1 : object,
					   .kernel = object[0] == '[' };
	struct frame_desc desc = { .space = object[0] == '[' ? TACHO_SPACE_KERNEL :
					    TACHO_SPACE_USER, .known = true, .address = 0x1000 };

	desc.object = profile_intern_object(s->p, &ob);
	desc.symbol = profile_intern_name(s->p, name);
	return profile_intern_frame(s->p, &desc);
}

/* "object:name;object:name", outermost first. */
static void stage_stack(struct stage *s, const char *event, const char *comm, const char *stack,
			uint64_t period)
{
	struct tacho_profile_row row = { .cpu = -1, .samples = 1, .period = period };
	struct str rest = str_of(stack), word, object;
	struct tacho_profile_event *ev;
	char name[128], path[64];

	row.event = profile_intern_event(s->p, event);
	row.thread = profile_intern_thread(s->p, 7, comm[0], comm);
	while (str_cut(&rest, ';', &word)) {
		str_cut(&word, ':', &object);
		snprintf(path, sizeof(path), "%.*s", STR(object));
		snprintf(name, sizeof(name), "%.*s", STR(word));
		row.node = profile_intern_node(s->p, row.node, stage_frame(s, name, path));
	}
	assert_int_equal(profile_add_row(s->p, &row), 0);
	ev = &s->p->events.v[row.event];
	ev->samples++;
	ev->all_samples++;
	ev->period += period;
	ev->all_period += period;
	ev->has_chains = true;
}

static void stage_opts(struct stage *s)
{
	const char *list;

	s->opts.input = "-";
	s->opts.graph = (struct graph_opts){ .style = GRAPH_ABSOLUTE, .min_percent = 0.5 };
	s->screen = (struct screen){ .ops = &grid_ops, .rows = 12, .cols = 100, .arg = &s->grid };
	assert_int_equal(report_parse_keys(&s->opts, &list, NULL), 0);
	assert_int_equal(report_complete_keys(&s->opts, NULL), 0);
	report_view_init(&s->opts, s->p, &s->view);
	s->view.report.quantum_ns = 1;
}

static void stage_begin(struct stage *s)
{
	memset(s, 0, sizeof(*s));
	s->pd = empty_recording();
	assert_int_equal(tacho_profile_new(&s->p, NULL, NULL), 0);
}

/* Two threads, three objects, a branch below main. */
static void stage_small(struct stage *s)
{
	stage_begin(s);
	stage_stack(s, "cycles", "app", "/bin/app:main;/bin/app:parse;/lib/libc.so:memcpy", 500);
	stage_stack(s, "cycles", "app", "/bin/app:main;/bin/app:parse;/lib/libc.so:strlen", 200);
	stage_stack(s, "cycles", "app", "/bin/app:main;/bin/app:eval;[kernel.kallsyms]:do_fault", 200);
	stage_stack(s, "cycles", "tool", "/bin/tool:run", 100);
	stage_opts(s);
}

static void stage_end(struct stage *s)
{
	tacho_report_fields_free(s->opts.keys.fields);
	tacho_profile_free(s->p);
	tacho_perfdata_close(s->pd);
	free(s->file);
}

static int stage_press(struct stage *s, const int *keys, size_t n)
{
	s->grid.keys = keys;
	s->grid.n_keys = n;
	s->grid.at = 0;
	s->grid.over = false;
	free(s->file);
	s->file = NULL;
	return browser_run(&s->screen, &(struct browser_input){ &s->opts, s->pd, s->p, &s->view }, &s->file, NULL);
}

#endif
