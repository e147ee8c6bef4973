/*
 * Rows as JSON: an object per line. A row of events has its time and the values of its columns; one of sums has
 * its keys, the count, the sum, and the levels of the histogram or the stacks. Numbers are exact: times are in nanoseconds.
 */
#include "cli/snoop/snoop.h"

#include "base/clock.h"
#include "base/json.h"

#define SCHEMA 1

static void begin(struct snoop *s)
{
	struct json j = { .out = &s->out };

	if (s->n_tables++)
		return;
	json_begin(&j, '{');
	json_member(&j, "schema", u64, SCHEMA);
	json_member(&j, "view", str, s->info->name);
	json_member(&j, "in_kernel", bool, !tacho_view_why_samples(s->view));
	json_member(&j, "why_samples", str, tacho_view_why_samples(s->view));
	if (s->info->has_histogram)
		json_member(&j, "unit", str, s->info->unit);
	json_end(&j);
	buf_putc(&s->out, '\n');
}

static void put_stack(struct json *j, const char *key, const char *const *names, uint32_t n)
{
	json_key(j, key);
	json_begin(j, '[');
	for (uint32_t i = 0; i < n; i++)
		json_str(j, names[i]);
	json_end(j);
}

static void put_levels(struct json *j, const struct tacho_view_row *row)
{
	json_key(j, "histogram");
	json_begin(j, '[');
	for (uint32_t i = 0; i < row->n_levels; i++) {
		uint64_t low, high;

		if (!row->levels[i])
			continue;
		level_histogram_limits(i, &low, &high);
		json_begin(j, '{');
		json_member(j, "from", u64, low);
		json_member(j, "to", u64, high);
		json_member(j, "count", u64, row->levels[i]);
		json_end(j);
	}
	json_end(j);
}

static void put_sums(struct snoop *s, struct json *j, const struct tacho_view_row *row)
{
	json_member(j, "count", u64, row->count);
	if (s->info->sum_key && (s->info->has_histogram || s->o->totals || s->info->has_stacks))
		json_member(j, s->info->sum_key, u64, row->sum);
	if (s->info->has_histogram)
		put_levels(j, row);
	if (s->info->has_stacks) {
		put_stack(j, "kernel_stack", row->kernel_stack, row->n_kernel_stack);
		put_stack(j, "user_stack", row->user_stack, row->n_user_stack);
		if (row->n_waker_stack)
			put_stack(j, "waker_stack", row->waker_stack, row->n_waker_stack);
	}
}

static void put_row(struct snoop *s, const struct tacho_view_row *row)
{
	struct json j = { .out = &s->out };

	json_begin(&j, '{');
	json_member(&j, "time_ns", i64, s->info->is_summary ? clock_wall_ns() : row->wall_ns);
	for (uint32_t i = 0; i < s->info->n_columns; i++) {
		const struct tacho_view_column *c = &s->info->columns[i];

		if (!c->key[0] || (c->title && !strcmp(c->title, "STACK")))
			continue;
		json_key(&j, c->key);
		if (row->values[i].is_number)
			json_i64(&j, row->values[i].number);
		else
			json_str(&j, row->values[i].text);
	}
	if (s->info->is_summary)
		put_sums(s, &j, row);
	json_end(&j);
	buf_putc(&s->out, '\n');
}

static void end(struct snoop *s)
{
	(void)s;
}

const struct snoop_writer snoop_json = { begin, put_row, end };
