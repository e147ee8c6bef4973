/*
 * Data shared by the files of `tacho snoop`: its options, the running view, and the writers of its rows.
 */
#ifndef CLI_SNOOP_SNOOP_H
#define CLI_SNOOP_SNOOP_H

#include "base/buf.h"
#include "cli/core/command.h"

#include <tacho/evset.h>
#include <tacho/view.h>

struct snoop_opts {
	const char *pid, *user, *cgroup, *by, *unit, *output;
	bool by_process, no_bpf, json, svg, totals, timestamps, milliseconds, failed;
	double interval_s, duration_s, min_ms;
	uint64_t count;			/* of intervals or rows */
	uint32_t ring_kb, max_rows;
};

struct snoop {
	const struct snoop_opts *o;
	const struct snoop_writer *writer;
	struct tacho *lib;
	struct tacho_view *view;
	const struct tacho_view_info *info;
	struct tacho_command *command;
	int *pids;
	size_t n_pids;
	const char *name;
	const char **args;		/* functions or expressions */
	size_t n_args;
	double interval_s;
	uint64_t count;
	char **command_argv;
	struct buf out;
	int out_fd;
	bool is_screen;			/* a summary on a terminal, which is drawn again and again */
	bool write_failed;
	uint64_t n_rows, n_intervals, lost_reported;
	uint64_t n_tables;		/* of the writer: how many were begun */
};

/* How rows are written. begin and end surround the rows of a summary; begin comes once before the rows of events. */
struct snoop_writer {
	void (*begin)(struct snoop *s);
	void (*row)(struct snoop *s, const struct tacho_view_row *row);
	void (*end)(struct snoop *s);
};
extern const struct snoop_writer snoop_text, snoop_json, snoop_svg;

/* snoop_loop.c: runs the view until its end. Returns an exit status. */
int snoop_loop(struct snoop *s);
void snoop_flush(struct snoop *s);

/* histogram_text.c */
struct level_histogram {
	const uint64_t *levels;
	uint32_t n;
	const char *unit;
};
void level_histogram_put(struct buf *out, const struct level_histogram *h, unsigned width);
/* The limits of a level: 0 and 1, 2 and 3, 4 and 7 ... */
void level_histogram_limits(uint32_t level, uint64_t *low, uint64_t *high);
/* The level below which at least this share of the values is; -1: there are none. */
int level_histogram_percentile(const struct level_histogram *h, double share);

#endif
