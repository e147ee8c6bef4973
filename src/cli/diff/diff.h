/*
 * What the files of `tacho diff` share: its options, the recordings, and the rows of the table of one event.
 */
#ifndef CLI_DIFF_DIFF_H
#define CLI_DIFF_DIFF_H

#include "base/json.h"
#include "cli/core/command.h"

#include <tacho/report.h>

enum diff_compute { DIFF_DELTA_ABS, DIFF_DELTA, DIFF_RATIO, DIFF_WEIGHTED };

struct diff_opts {
	const char *compute_text;	/* -c */
	enum diff_compute compute;
	int64_t weight_old, weight_new;	/* of -c wdiff:OLD,NEW */
	bool baseline_only, period, formula, quiet, force, json, relative;
	int32_t order;			/* -o: the file whose column sorts the table; 0: the baseline */
	const char *sort, *separator, *percentage, *flame;
	const char *comms, *dsos, *symbols, *pids, *tids, *cpus, *time;
	const char *symfs, *kallsyms, *vmlinux;
	bool no_demangle;
	unsigned verbose;
};

struct diff_event {			/* how the kernel knows an event */
	uint32_t type;
	uint64_t config;
};

struct diff_file {			/* a recording; the first one is the baseline */
	const char *path;
	const char *time;		/* its part of --time; NULL: all */
	struct tacho_profile *profile;
	int32_t *sockets;		/* per CPU; NULL: unknown */
	size_t n_sockets;
	struct diff_event *events;	/* in the order of the profile's */
	size_t n_events;
};

struct diff_keys {
	struct tacho_report_fields *fields;
	const struct tacho_report_column *all[TACHO_REPORT_KEYS_MAX];	/* that tell rows apart */
	size_t n;
	bool hidden[TACHO_REPORT_KEYS_MAX];	/* a filter leaves one value: no column */
};

/* The table of one event: a row per combination of keys. */
struct diff_table {
	const struct diff_opts *o;
	const struct diff_keys *keys;
	const struct diff_file *files;
	size_t n_files;
	const char *event;
	const struct tacho_report *const *reports;	/* of the event in each file; NULL: the file does not have it */
	const struct tacho_report_join *join;
	const size_t *rows;		/* rows of the join that are shown, in this order */
	size_t n_rows;
};

static inline const struct tacho_report_cell_sum *diff_cells(const struct diff_table *t, size_t row)
{
	return &t->join->cells[row * t->join->n_reports];
}

/* ---- cli/diff/rows.c ---- */
/* The baseline has no such row. */
static inline bool diff_is_new(const struct tacho_report_cell_sum *cells)
{
	return !cells[0].entry;
}
double diff_percent(const struct diff_table *t, const struct tacho_report_cell_sum *cells, size_t file);
double diff_delta(const struct diff_table *t, const struct tacho_report_cell_sum *cells, size_t file);
double diff_ratio(const struct tacho_report_cell_sum *cells, size_t file);
int64_t diff_weighted(const struct diff_table *t, const struct tacho_report_cell_sum *cells, size_t file);
/* The rows to show, in their order: heap; *n is their number. NULL: out of memory. */
size_t *diff_rows(const struct diff_table *t, size_t *n);
/* The report that shows the keys of a row: the first file that has it. */
size_t diff_first_file(const struct diff_table *t, const struct tacho_report_cell_sum *cells);

/* ---- cli/diff/text.c ---- */
void diff_text(const struct diff_table *t, struct buf *out);
/* ---- cli/diff/json.c ---- */
void diff_json(const struct diff_table *t, struct json *j);

#endif
