/*
 * Two JSON formats. -j writes the format of perf 7: one object per line, with perf's keys in perf's order; a
 * row without a value also has `state` and `reason`. --json writes tacho's own format: one object per table,
 * with a schema, plain numbers, and null with a reason for a missing value.
 */
#include "cli/stat/stat.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>

static void put_text(struct buf *out, const char *key, const char *value)
{
	buf_printf(out, "%s\"%s\" : ", out->n && out->bytes[out->n - 1] == '{' ? "" : ", ", key);
	json_quote(out, str_of(value));
}

static void put_place(struct buf *out, const struct stat_report *r, const struct stat_row *row)
{
	char name[96];

	buf_putc(out, '{');
	if (r->interval)
		buf_printf(out, "\"interval\" : %.9f", r->time_s);
	if (row->place.per == TACHO_PER_TOTAL)
		return;
	stat_place_name(&row->place, name, sizeof(name));
	put_text(out, stat_per_name(row->place.per),
		 row->place.per == TACHO_PER_CPU ? name + 3 : name);
	if (row->place.per == TACHO_PER_CPU && row->place.socket >= 0)
		buf_printf(out, ", \"socket\" : \"%d\", \"die\" : \"%d\", \"node\" : \"%d\"",
			   row->place.socket, row->place.die, row->place.node);
	if (row->place.per != TACHO_PER_CPU && row->place.per != TACHO_PER_THREAD)
		buf_printf(out, ", \"counters\" : %u", row->n_counters);
}

static void put_metric(struct buf *out, const struct stat_metric *m)
{
	buf_printf(out, ", \"metric-value\" : \"%f\"", m->value);
	buf_puts(out, ", \"metric-unit\" : ");
	buf_printf(out, "\"%s  %s\"", m->unit, m->name);
}

static void write_line(struct buf *out, const struct stat_report *r, const struct stat_row *row)
{
	const char *missing = stat_placeholder(row->state);
	char number[64], name[256];

	put_place(out, r, row);
	snprintf(number, sizeof(number), "%f", row->value);
	put_text(out, "counter-value", missing ? missing : number);
	put_text(out, "unit", row->event->unit);
	put_text(out, "event", stat_event_name(r, row, name, sizeof(name)));
	if (r->has_cgroups)
		put_text(out, "cgroup", row->event->cgroup ? row->event->cgroup : "");
	if (r->runs > 1)
		buf_printf(out, ", \"variance\" : %.2f", row->variance_percent);
	buf_puts(out, ", \"event-runtime\" : ");
	buf_u64(out, row->running_ns);
	buf_printf(out, ", \"pcnt-running\" : %.2f", row->share * 100);
	if (missing && row->why) {
		put_text(out, "state", tacho_state_name(row->state));
		put_text(out, "reason", row->why);
	}
	if (row->n_metrics)
		put_metric(out, &row->metrics[0]);
	buf_puts(out, "}\n");
	for (size_t i = 1; i < row->n_metrics; i++) {
		put_place(out, r, row);
		buf_printf(out, "%s\"metric-value\" : \"%f\"",
			   out->n && out->bytes[out->n - 1] == '{' ? "" : ", ", row->metrics[i].value);
		buf_printf(out, ", \"metric-unit\" : \"%s  %s\"}\n", row->metrics[i].unit,
			   row->metrics[i].name);
	}
}

static void write_metric_lines(struct buf *out, const struct stat_report *r)
{
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct stat_row *row = &r->rows[i];
		bool new_line = !i || !stat_same_line(row, &row[-1]);

		if (new_line) {
			if (i)
				buf_puts(out, "}\n");
			put_place(out, r, row);
			if (r->has_cgroups)
				put_text(out, "cgroup", row->event->cgroup ? row->event->cgroup : "");
		}
		for (size_t m = 0; m < row->n_metrics; m++) {
			char key[256], number[64] = "none";

			snprintf(key, sizeof(key), "%s  %s", row->metrics[m].unit,
				 row->metrics[m].name);
			if (!isnan(row->metrics[m].value))
				stat_metric_number(number, sizeof(number), row->metrics[m].value);
			put_text(out, key, number);
		}
	}
	if (r->n_rows)
		buf_puts(out, "}\n");
}

static void write_nothing(struct buf *out, const struct stat_report *r)
{
	(void)out;
	(void)r;
}

static void write_lines(struct buf *out, const struct stat_report *r)
{
	if (r->opts->metric_only) {
		write_metric_lines(out, r);
		return;
	}
	for (size_t i = 0; i < r->n_rows; i++)
		if (!stat_hidden(r, &r->rows[i]))
			write_line(out, r, &r->rows[i]);
}

const struct stat_writer stat_json_lines = { write_nothing, write_lines, write_nothing };

static void write_table_metrics(struct json *j, const struct stat_row *row)
{
	json_key(j, "metrics");
	json_begin(j, '[');
	for (size_t i = 0; i < row->n_metrics; i++) {
		json_begin(j, '{');
		json_member(j, "name", str, row->metrics[i].name);
		json_member(j, "value", double, row->metrics[i].value);
		json_member(j, "unit", str, row->metrics[i].unit);
		json_end(j);
	}
	json_end(j);
}

static void write_table_row(struct json *j, const struct stat_report *r, const struct stat_row *row)
{
	bool missing = stat_placeholder(row->state) != NULL;
	char place[96];

	json_begin(j, '{');
	json_member(j, "event", str, row->event->name);
	json_member(j, "pmu", str, row->event->pmu);
	if (row->event->cgroup)
		json_member(j, "cgroup", str, row->event->cgroup);
	if (row->place.per != TACHO_PER_TOTAL) {
		stat_place_name(&row->place, place, sizeof(place));
		json_member(j, stat_per_name(row->place.per), str, place);
	}
	if (row->place.per == TACHO_PER_CPU && row->place.socket >= 0) {
		json_member(j, "socket", i64, row->place.socket);
		json_member(j, "die", i64, row->place.die);
		json_member(j, "node", i64, row->place.node);
	}
	json_member(j, "counters", u64, row->n_counters);
	json_member(j, "state", str, tacho_state_name(row->state));
	json_member(j, "value", double, missing ? NAN : row->value);
	json_member(j, "unit", str, row->event->unit);
	if (missing)
		json_member(j, "reason", str, row->why ? row->why : "the target never ran on a CPU");
	json_member(j, "enabled_ns", u64, row->enabled_ns);
	json_member(j, "running_ns", u64, row->running_ns);
	if (row->state == TACHO_SCALED)
		json_member(j, "error_percent", double, row->error_percent);
	if (r->runs > 1)
		json_member(j, "variance_percent", double, row->variance_percent);
	if (row->lost)
		json_member(j, "lost", u64, row->lost);
	if (row->n_metrics)
		write_table_metrics(j, row);
	json_end(j);
}

static void write_table(struct buf *out, const struct stat_report *r)
{
	struct json j = { .out = out };

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.stat/1");
	json_member(&j, "target", str, r->title);
	if (r->interval)
		json_member(&j, "time_s", double, r->time_s);
	else
		json_member(&j, "elapsed_s", double, r->elapsed_s);
	if (r->summary)
		json_member(&j, "summary", bool, true);
	if (r->runs > 1) {
		json_member(&j, "runs", u64, r->runs);
		json_member(&j, "elapsed_error_s", double, r->elapsed_error_s);
	}
	if (r->has_usage && !r->interval) {
		json_member(&j, "user_s", double, r->user_s);
		json_member(&j, "system_s", double, r->system_s);
	}
	json_key(&j, "events");
	json_begin(&j, '[');
	for (size_t i = 0; i < r->n_rows; i++)
		write_table_row(&j, r, &r->rows[i]);
	json_end(&j);
	json_key(&j, "notes");
	json_begin(&j, '[');
	for (size_t i = 0; i < r->n_notes; i++)
		json_str(&j, r->notes[i].text);
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}

const struct stat_writer stat_json = { write_nothing, write_table, write_nothing };
