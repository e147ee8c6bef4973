/*
 * Rows as text: a table with bcc's columns, or a histogram or stacks per row.
 */
#include "cli/snoop/snoop.h"

#include <inttypes.h>
#include <time.h>

#include "base/clock.h"

static bool is_last_shown(const struct snoop *s, uint32_t column)
{
	for (uint32_t i = column + 1; i < s->info->n_columns; i++)
		if (s->info->columns[i].title)
			return false;
	return true;
}

/* The last cell of a line is not padded. */
static void put_cell(struct buf *out, const char *text, unsigned width, bool is_left, bool is_last)
{
	if (!is_left)
		buf_right(out, str_of(text), width);
	else if (is_last)
		buf_puts(out, text);
	else
		buf_left(out, str_of(text), width);
	buf_putc(out, is_last ? '\n' : ' ');
}

static bool has_sum(const struct snoop *s)
{
	return s->info->is_summary && s->info->sum_title && (s->o->totals || s->info->has_stacks);
}

static void put_titles(struct snoop *s)
{
	const struct tacho_view_info *info = s->info;

	for (uint32_t i = 0; i < info->n_columns; i++)
		if (info->columns[i].title)
			put_cell(&s->out, info->columns[i].title, info->columns[i].width, info->columns[i].is_left,
				 !info->is_summary && is_last_shown(s, i));
	if (info->is_summary)
		buf_printf(&s->out, "%10s%s%s\n", "COUNT", has_sum(s) ? "  " : "", has_sum(s) ? info->sum_title : "");
}

static void put_time(struct buf *out)
{
	time_t t = (time_t)(clock_wall_ns() / 1000000000);
	char text[20];
	struct tm tm;

	if (localtime_r(&t, &tm) && strftime(text, sizeof(text), "%H:%M:%S", &tm))
		buf_printf(out, "%s\n", text);
}

static bool is_table(const struct snoop *s)
{
	return !s->info->has_histogram && !s->info->has_stacks;
}

static void begin(struct snoop *s)
{
	if (s->is_screen)
		buf_puts(&s->out, "\033[H\033[2J");
	else if (s->info->is_summary && s->n_tables++)
		buf_putc(&s->out, '\n');
	if (s->info->is_summary && s->o->timestamps)
		put_time(&s->out);
	if (is_table(s))
		put_titles(s);
}

static void put_sum(struct snoop *s, const struct tacho_view_row *row)
{
	/* All sums are times, shown in the unit of their title. */
	bool in_ns = strstr(s->info->sum_title, "(ns)");

	if (in_ns)
		buf_printf(&s->out, "  %" PRIu64, row->sum);
	else
		buf_printf(&s->out, "  %.3f", (double)row->sum / 1e3);
}

static void put_table_row(struct snoop *s, const struct tacho_view_row *row)
{
	const struct tacho_view_info *info = s->info;

	for (uint32_t i = 0; i < info->n_columns; i++)
		if (info->columns[i].title)
			put_cell(&s->out, row->values[i].text, info->columns[i].width, info->columns[i].is_left,
				 !info->is_summary && is_last_shown(s, i));
	if (!info->is_summary)
		return;
	buf_printf(&s->out, "%10" PRIu64, row->count);
	if (has_sum(s))
		put_sum(s, row);
	buf_putc(&s->out, '\n');
}

/* "pid = 4711, comm = make" before a histogram or after a stack. */
static void put_keys(struct snoop *s, const struct tacho_view_row *row)
{
	const struct tacho_view_info *info = s->info;
	unsigned n = 0;

	for (uint32_t i = 0; i < info->n_columns; i++)
		if (info->columns[i].title && strcmp(info->columns[i].title, "STACK") != 0)
			buf_printf(&s->out, "%s%s = %s", n++ ? ", " : "", info->columns[i].key, row->values[i].text);
	if (n)
		buf_putc(&s->out, '\n');
}

static void put_histogram(struct snoop *s, const struct tacho_view_row *row)
{
	if (s->n_rows)
		buf_putc(&s->out, '\n');
	put_keys(s, row);
	level_histogram_put(&s->out, &(struct level_histogram){ row->levels, row->n_levels, s->info->unit }, 0);
}

static void put_frames(struct buf *out, const char *const *names, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		buf_printf(out, "  %s\n", names[i]);
}

static void put_stacks(struct snoop *s, const struct tacho_view_row *row)
{
	if (s->n_rows)
		buf_putc(&s->out, '\n');
	put_keys(s, row);
	put_frames(&s->out, row->kernel_stack, row->n_kernel_stack);
	if (row->n_kernel_stack && row->n_user_stack)
		buf_puts(&s->out, "  --\n");
	put_frames(&s->out, row->user_stack, row->n_user_stack);
	if (row->n_waker_stack)
		buf_puts(&s->out, "  -- woken by\n");
	put_frames(&s->out, row->waker_stack, row->n_waker_stack);
	buf_printf(&s->out, "    %" PRIu64, row->count);
	if (has_sum(s)) {
		put_sum(s, row);
		buf_puts(&s->out, " us");
	}
	buf_putc(&s->out, '\n');
}

static void put_row(struct snoop *s, const struct tacho_view_row *row)
{
	if (s->info->has_histogram)
		put_histogram(s, row);
	else if (s->info->has_stacks)
		put_stacks(s, row);
	else
		put_table_row(s, row);
}

static void end(struct snoop *s)
{
	(void)s;
}

const struct snoop_writer snoop_text = { begin, put_row, end };
