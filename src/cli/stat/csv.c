/*
 * -x SEP: one line per event and place. The fields are in perf 7's order:
 *
 *	[time or "summary"] [place [counters]] value unit event [cgroup] [variance%] run-time
 *	percent-running metric-value metric-unit
 *
 * Further metrics of the same row follow on lines whose first fields are empty.
 */
#include "cli/stat/stat.h"

#include <math.h>
#include <stdio.h>

static void put_prefix(struct buf *out, const struct stat_report *r, const struct stat_row *row)
{
	const char *sep = r->opts->separator;
	char name[96];

	if (r->interval)
		buf_printf(out, "%.9f%s", r->time_s, sep);
	else if (r->summary && !r->opts->no_csv_summary)
		buf_printf(out, "summary%s", sep);
	if (row->place.per == TACHO_PER_TOTAL)
		return;
	stat_place_name(&row->place, name, sizeof(name));
	buf_printf(out, "%s%s", name, sep);
	if (row->place.per != TACHO_PER_CPU && row->place.per != TACHO_PER_THREAD)
		buf_printf(out, "%u%s", row->n_counters, sep);
}

static void put_metric(struct buf *out, const char *sep, const struct stat_metric *m)
{
	char number[64] = "";

	if (!isnan(m->value))
		stat_metric_number(number, sizeof(number), m->value);
	buf_printf(out, "%s%s%s%s  %s\n", sep, number, sep, m->unit, m->name);
}

static void put_row(struct buf *out, const struct stat_report *r, const struct stat_row *row)
{
	const char *sep = r->opts->separator, *missing = stat_placeholder(row->state);
	char name[256];

	put_prefix(out, r, row);
	if (missing)
		buf_puts(out, missing);
	else
		buf_fixed(out, row->value, row->event->scale == 1 ? 0 : 2);
	buf_printf(out, "%s%s%s%s%s", sep, row->event->unit, sep,
		   stat_event_name(r, row, name, sizeof(name)), sep);
	if (r->has_cgroups)
		buf_printf(out, "%s%s", row->event->cgroup ? row->event->cgroup : "", sep);
	if (r->runs > 1)
		buf_printf(out, "%.2f%%%s", row->variance_percent, sep);
	buf_u64(out, row->running_ns);
	buf_printf(out, "%s%.2f", sep, row->share * 100);
	if (!row->n_metrics) {
		buf_printf(out, "%s%s\n", sep, sep);
		return;
	}
	put_metric(out, sep, &row->metrics[0]);
	for (size_t i = 1; i < row->n_metrics; i++) {
		put_prefix(out, r, row);
		for (int k = r->has_cgroups ? 5 : 4; k; k--)
			buf_puts(out, sep);
		put_metric(out, sep, &row->metrics[i]);
	}
}

static void csv_head(struct buf *out, const struct stat_report *r)
{
	stat_write_date(out, r);
	if (!r->opts->metric_only)
		return;
	if (r->opts->interval_ms)
		buf_printf(out, "time%s", r->opts->separator);
	if (r->per != TACHO_PER_TOTAL)
		buf_printf(out, "%s%s", stat_per_name(r->per), r->opts->separator);
	if (r->per != TACHO_PER_TOTAL && r->per != TACHO_PER_CPU && r->per != TACHO_PER_THREAD)
		buf_printf(out, "ctrs%s", r->opts->separator);
	if (r->has_cgroups)
		buf_printf(out, "cgroup%s", r->opts->separator);
	for (size_t i = 0; i < r->n_metric_names; i++)
		buf_printf(out, "%s%s", r->metric_names[i], r->opts->separator);
	buf_putc(out, '\n');
}

static void metric_rows(struct buf *out, const struct stat_report *r)
{
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct stat_row *row = &r->rows[i];
		bool new_line = !i || !stat_same_line(row, &row[-1]);

		if (new_line && i)
			buf_putc(out, '\n');
		if (new_line)
			put_prefix(out, r, row);
		if (new_line && r->has_cgroups)
			buf_printf(out, "%s%s", row->event->cgroup ? row->event->cgroup : "",
				   r->opts->separator);
		for (size_t m = 0; m < row->n_metrics; m++) {
			char number[64] = "";

			if (!isnan(row->metrics[m].value))
				stat_metric_number(number, sizeof(number), row->metrics[m].value);
			buf_printf(out, "%s%s", number, r->opts->separator);
		}
	}
	buf_putc(out, '\n');
}

static void csv_rows(struct buf *out, const struct stat_report *r)
{
	if (r->opts->metric_only) {
		metric_rows(out, r);
		return;
	}
	for (size_t i = 0; i < r->n_rows; i++)
		if (!stat_hidden(r, &r->rows[i]))
			put_row(out, r, &r->rows[i]);
}

static void csv_foot(struct buf *out, const struct stat_report *r)
{
	(void)out;
	(void)r;
}

const struct stat_writer stat_csv = { csv_head, csv_rows, csv_foot };
