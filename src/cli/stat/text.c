/*
 * Writes the text output in the layout of perf 7: value, unit, event, and after a # the metrics. A
 * multiplexed event is shown with the share of time it was counted and, unlike in perf, an error estimate.
 */
#include "cli/stat/stat.h"

#include "cli/core/terminal.h"

#include <math.h>
#include <stdio.h>

#define VALUE_WIDTH 18
#define UNIT_WIDTH 4
#define NAME_WIDTH 32
#define CGROUP_WIDTH 16

/* The width of the place column, and whether the number of counters follows it. */
static const struct { int width; bool counters; } places[] = {
	[TACHO_PER_THREAD] = { 25, false }, [TACHO_PER_CPU] = { 6, false },
	[TACHO_PER_CORE] = { 18, true },    [TACHO_PER_CACHE] = { 22, true },
	[TACHO_PER_CLUSTER] = { 20, true }, [TACHO_PER_DIE] = { 12, true },
	[TACHO_PER_SOCKET] = { 6, true },   [TACHO_PER_NODE] = { 6, true },
};

static void group_digits(char *out, size_t size, const char *digits, char sep)
{
	const char *point = strchr(digits, '.');
	size_t whole = point ? (size_t)(point - digits) : strlen(digits), n = 0;

	for (size_t i = 0; i < whole && n + 2 < size; i++) {
		if (i && (whole - i) % 3 == 0 && digits[i - 1] != '-')
			out[n++] = sep;
		out[n++] = digits[i];
	}
	snprintf(out + n, size - n, "%s", point ? point : "");
}

static void put_value(struct buf *out, const struct stat_report *r, const struct stat_row *row)
{
	const char *missing = stat_placeholder(row->state);
	char digits[64], grouped[96];
	size_t from = out->n;

	if (missing) {
		if (r->color)
			buf_puts(out, TERM_DIM);
		buf_right(out, str_of(missing), VALUE_WIDTH);
		if (r->color)
			buf_puts(out, TERM_PLAIN);
		return;
	}
	buf_fixed(out, row->value, row->event->scale == 1 ? 0 : 2);
	if (r->group_sep && !buf_failed(out)) {
		snprintf(digits, sizeof(digits), "%s", out->bytes + from);
		group_digits(grouped, sizeof(grouped), digits, r->group_sep);
		out->n = from;
		buf_puts(out, grouped);
	}
	buf_align(out, from, VALUE_WIDTH);
}

static void put_time(struct buf *out, double time_s)
{
	size_t from = out->n;

	buf_fixed(out, time_s, 9);
	buf_align(out, from, 16);
	buf_putc(out, ' ');
}

static void put_place(struct buf *out, const struct stat_report *r, const struct stat_row *row)
{
	char name[96];
	enum tacho_per per = row ? row->place.per : r->per;

	if (r->interval)
		put_time(out, r->time_s);
	if (per == TACHO_PER_TOTAL || !row)
		return;
	if (per == TACHO_PER_THREAD) {
		buf_printf(out, "%16s-%-8d", row->place.comm ? row->place.comm : "?",
			   row->place.tid);
		return;
	}
	stat_place_name(&row->place, name, sizeof(name));
	buf_printf(out, "%-*s ", places[per].width, name);
	if (places[per].counters)
		buf_printf(out, "%4u ", row->n_counters);
}

static void put_metric(struct buf *out, const struct stat_report *r, const struct stat_metric *m)
{
	char number[64];
	const char *color = r->color && m->alarming ? TERM_RED : "";

	stat_metric_number(number, sizeof(number), m->value);
	buf_printf(out, " # %s%8s%s %s  %s", color, number, *color ? TERM_PLAIN : "", m->unit, m->name);
}

static void put_quality(struct buf *out, const struct stat_report *r, const struct stat_row *row)
{
	if (stat_placeholder(row->state))
		return;
	if (r->runs > 1 && row->variance_percent > 0)
		buf_printf(out, "  ( +- %5.2f%% )", row->variance_percent);
	if (row->state != TACHO_SCALED)
		return;
	if (isnan(row->error_percent))
		buf_printf(out, "  (%.2f%%)", row->share * 100);
	else
		buf_printf(out, "  (%.2f%%, +- %.2f%%)", row->share * 100, row->error_percent);
}

static void end_line(struct buf *out, size_t from)
{
	while (out->n > from && out->bytes[out->n - 1] == ' ')
		out->n--;
	buf_putc(out, '\n');
}

static void put_row(struct buf *out, const struct stat_report *r, const struct stat_row *row)
{
	size_t from = out->n, column;
	char name[256];

	put_place(out, r, row);
	put_value(out, r, row);
	buf_putc(out, ' ');
	buf_left(out, str_of(row->event->unit), UNIT_WIDTH);
	buf_putc(out, ' ');
	buf_left(out, str_of(stat_event_name(r, row, name, sizeof(name))), NAME_WIDTH);
	if (r->has_cgroups)
		buf_printf(out, " %s", row->event->cgroup ? row->event->cgroup : "");
	column = out->n - from;
	for (size_t i = 0, shown = 0; i < row->n_metrics; i++) {
		if (stat_placeholder(row->state) && !row->metrics[i].asked)
			continue;
		if (shown++) {
			end_line(out, from);
			from = out->n;
			buf_pad(out, ' ', column);
		}
		put_metric(out, r, &row->metrics[i]);
	}
	put_quality(out, r, row);
	end_line(out, from);
}

static bool is_row_hidden(const struct stat_report *r, const struct stat_row *row)
{
	if (row->place.per == TACHO_PER_THREAD && r->n_rows > 1 && r->opts->all_cpus)
		return stat_placeholder(row->state) || row->count == 0;
	return stat_hidden(r, row);
}

/* Writes the columns before the metrics: place and cgroup. */
static void put_line_head(struct buf *out, const struct stat_report *r, const struct stat_row *row)
{
	put_place(out, r, row);
	if (r->has_cgroups)
		buf_printf(out, " %-*s", CGROUP_WIDTH, row->event->cgroup ? row->event->cgroup : "");
}

static void put_metric_table(struct buf *out, const struct stat_report *r)
{
	size_t column = 0, from = out->n;

	if (r->n_rows)
		put_line_head(out, r, &r->rows[0]);
	column = out->n - from;
	out->n = from;
	if (!r->interval) {
		buf_pad(out, ' ', column);
		for (size_t i = 0; i < r->n_metric_names; i++)
			buf_printf(out, " %s ", r->metric_names[i]);
		buf_putc(out, '\n');
	}
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct stat_row *row = &r->rows[i];
		bool new_line = !i || !stat_same_line(row, &row[-1]);
		char number[64];

		if (new_line && i)
			buf_putc(out, '\n');
		if (new_line)
			put_line_head(out, r, row);
		for (size_t m = 0; m < row->n_metrics; m++) {
			stat_metric_number(number, sizeof(number), row->metrics[m].value);
			buf_printf(out, " %*s ",
				   (int)(strlen(row->metrics[m].unit) +
					 strlen(row->metrics[m].name) + 2), number);
		}
	}
	buf_putc(out, '\n');
}

static void put_interval_head(struct buf *out, const struct stat_report *r)
{
	buf_puts(out, "#           time ");
	if (r->per == TACHO_PER_THREAD)
		buf_printf(out, "%16s-%-8s", "comm", "pid");
	else if (r->per != TACHO_PER_TOTAL)
		buf_printf(out, "%-*s ", places[r->per].width, stat_per_name(r->per));
	if (places[r->per].counters)
		buf_puts(out, "ctrs ");
	if (r->opts->metric_only && r->has_cgroups)
		buf_printf(out, " %-*s", CGROUP_WIDTH, "cgroup");
	if (r->opts->metric_only)
		for (size_t i = 0; i < r->n_metric_names; i++)
			buf_printf(out, " %s ", r->metric_names[i]);
	else
		buf_printf(out, "%*s unit events", VALUE_WIDTH, "counts");
	buf_putc(out, '\n');
}

static void text_head(struct buf *out, const struct stat_report *r)
{
	stat_write_date(out, r);
	if (r->opts->interval_ms) {
		put_interval_head(out, r);
		return;
	}
	buf_printf(out, "\n Performance counter stats for %s", r->title);
	if (r->opts->repeat > 1)
		buf_printf(out, " (%u runs)", r->runs);
	buf_puts(out, ":\n\n");
}

static void text_rows(struct buf *out, const struct stat_report *r)
{
	if (r->opts->metric_only) {
		put_metric_table(out, r);
		return;
	}
	for (size_t i = 0; i < r->n_rows; i++)
		if (!is_row_hidden(r, &r->rows[i]))
			put_row(out, r, &r->rows[i]);
}

/* Prints each reason once, with all events that it applies to. */
static void put_reasons(struct buf *out, const struct stat_report *r)
{
	for (size_t i = 0; i < r->n_rows; i++) {
		const char *why = r->rows[i].why, *comma = "";
		bool seen = !why || (i && why == r->rows[i - 1].why);

		for (size_t k = 0; !seen && k < i; k++)
			seen = r->rows[k].why && strcmp(r->rows[k].why, why) == 0;
		if (seen)
			continue;
		buf_putc(out, ' ');
		for (size_t k = i; k < r->n_rows; k++) {
			if (!r->rows[k].why || strcmp(r->rows[k].why, why) != 0 ||
			    (k > i && r->rows[k].event == r->rows[k - 1].event))
				continue;
			buf_printf(out, "%s%s", comma, r->rows[k].event->name);
			comma = ", ";
		}
		buf_printf(out, ": %s\n", why);
	}
	for (size_t i = 0; i < r->n_notes; i++)
		buf_printf(out, " %s\n", r->notes[i].text);
}

static void put_runs_table(struct buf *out, const struct stat_report *r)
{
	double most = 0;

	buf_puts(out, "       # Table of individual measurements:\n");
	for (unsigned i = 0; i < r->runs; i++)
		most = fmax(most, fabs(r->elapsed_each[i] - r->elapsed_s));
	for (unsigned i = 0; i < r->runs; i++) {
		double off = r->elapsed_each[i] - r->elapsed_s;

		buf_printf(out, "%18.9f (%+.9f) ", r->elapsed_each[i], off);
		buf_pad(out, '#', most > 0 ? 1 + (size_t)(9 * fabs(off) / most) : 1);
		buf_putc(out, '\n');
	}
	buf_puts(out, "\n       # Final result:\n");
}

static void text_foot(struct buf *out, const struct stat_report *r)
{
	if (r->opts->interval_ms && !r->summary)
		return;
	buf_putc(out, '\n');
	if (r->runs > 1 && r->opts->table)
		put_runs_table(out, r);
	if (r->runs > 1)
		buf_printf(out, "%18.9f +- %.9f seconds time elapsed  ( +- %5.2f%% )\n\n",
			   r->elapsed_s, r->elapsed_error_s,
			   r->elapsed_s > 0 ? 100 * r->elapsed_error_s / r->elapsed_s : 0);
	else
		buf_printf(out, "%18.9f seconds time elapsed\n\n", r->elapsed_s);
	if (r->has_usage && r->runs <= 1)
		buf_printf(out, "%18.9f seconds user\n%18.9f seconds sys\n\n", r->user_s,
			   r->system_s);
	put_reasons(out, r);
}

const struct stat_writer stat_text = { text_head, text_rows, text_foot };
