/*
 * Histograms as SVG: a chart for each row, with a bar per power of two and the median and 99th percentile marked.
 */
#include "cli/snoop/snoop.h"

#include <inttypes.h>
#include <math.h>

enum { WIDTH = 760, LEFT = 60, TOP = 46, BAR_HEIGHT = 180, CHART = 290 };

static void begin(struct snoop *s)
{
	(void)s;			/* the height is known at the end: see end() */
}

static void put_escaped(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			buf_puts(out, "&lt;");
		else if (*text == '&')
			buf_puts(out, "&amp;");
		else
			buf_putc(out, *text);
	}
}

/* 1024 as "1K", 1048576 as "1M" */
static void put_short(struct buf *out, uint64_t v)
{
	static const char units[] = " KMGTPE";
	size_t unit = 0;

	while (v >= 1024 && v % 1024 == 0 && unit + 2 < sizeof(units)) {
		v /= 1024;
		unit++;
	}
	buf_printf(out, "%" PRIu64, v);
	if (unit)
		buf_putc(out, units[unit]);
}

struct chart {
	const struct snoop *s;
	const struct tacho_view_row *row;
	uint32_t first, n;		/* levels that are shown */
	uint64_t max;
	double top, bar_width;
};

static void put_title(struct buf *out, const struct chart *c)
{
	const struct tacho_view_info *info = c->s->info;

	buf_printf(out, "<text x=\"%d\" y=\"%.0f\" class=\"title\">", LEFT, c->top + 24);
	put_escaped(out, info->name);
	for (uint32_t i = 0; i < info->n_columns; i++) {
		if (!info->columns[i].title)
			continue;
		buf_printf(out, ", %s ", info->columns[i].key);
		put_escaped(out, c->row->values[i].text);
	}
	buf_printf(out, ": %" PRIu64 " events, %s</text>\n", c->row->count, info->unit);
}

static void put_bars(struct buf *out, const struct chart *c)
{
	double base = c->top + TOP + BAR_HEIGHT;

	for (uint32_t i = 0; i < c->n; i++) {
		uint64_t n = c->row->levels[c->first + i], low, high;
		double height = c->max ? (double)n * BAR_HEIGHT / (double)c->max : 0, x = LEFT + i * c->bar_width;

		level_histogram_limits(c->first + i, &low, &high);
		buf_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>%" PRIu64 " to %" PRIu64 " %s: %"
			   PRIu64 "</title></rect>\n", x, base - height, c->bar_width - 2, height, low, high, c->s->info->unit, n);
		buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"limit\">", x, base + 14);
		put_short(out, low);
		buf_puts(out, "</text>\n");
	}
	buf_printf(out, "<text x=\"%d\" y=\"%.1f\" class=\"count\">%" PRIu64 "</text>\n", LEFT - 6, base - BAR_HEIGHT + 8, c->max);
	buf_printf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", LEFT, WIDTH - 20, base, base);
}

static void put_percentile(struct buf *out, const struct chart *c, const char *name, double share)
{
	const struct level_histogram h = { c->row->levels, c->row->n_levels, NULL };
	int level = level_histogram_percentile(&h, share);
	double x;

	if (level < (int)c->first)
		return;
	x = LEFT + (double)(level - (int)c->first + 1) * c->bar_width - 1;
	buf_printf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" class=\"mark\"/>"
		   "<text x=\"%.1f\" y=\"%.1f\" class=\"mark\">%s</text>\n", x, x, c->top + TOP - 6, c->top + TOP + BAR_HEIGHT,
		   x + 3, c->top + TOP, name);
}

static void put_row(struct snoop *s, const struct tacho_view_row *row)
{
	struct chart c = { .s = s, .row = row, .top = (double)s->n_rows * CHART };
	uint32_t last = 0;

	c.first = row->n_levels;
	for (uint32_t i = 0; i < row->n_levels; i++) {
		c.max = max_of(c.max, row->levels[i]);
		if (!row->levels[i])
			continue;
		c.first = min_of(c.first, i);
		last = i;
	}
	if (c.first > last)
		return;
	c.n = last - c.first + 1;
	c.bar_width = fmin((WIDTH - LEFT - 20.0) / c.n, 60);
	put_title(&s->out, &c);
	put_bars(&s->out, &c);
	put_percentile(&s->out, &c, "p50", 0.5);
	put_percentile(&s->out, &c, "p99", 0.99);
}

static void end(struct snoop *s)
{
	struct buf body = s->out;

	s->out = (struct buf){ 0 };
	buf_printf(&s->out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%" PRIu64 "\" "
		   "font-family=\"sans-serif\" font-size=\"11\">\n<style>rect{fill:#3b78b5}rect:hover{fill:#e08a1e}line{stroke:#888}"
		   ".mark{stroke:none;fill:#b03030}line.mark{stroke:#b03030;stroke-dasharray:3 2}.title{font-size:14px}"
		   ".count{text-anchor:end}</style>\n<rect width=\"100%%\" height=\"100%%\" style=\"fill:#fff\"/>\n", WIDTH,
		   max_of(s->n_rows, UINT64_C(1)) * CHART);
	if (body.n)
		buf_put(&s->out, body.bytes, body.n);
	buf_puts(&s->out, "</svg>\n");
	s->out.bad |= body.bad;
	buf_done(&body);
}

const struct snoop_writer snoop_svg = { begin, put_row, end };
