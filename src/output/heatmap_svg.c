/*
 * A subsecond-offset heat map: a column per second, with a cell per 20 ms from bottom to top, darker with more samples. It
 * shows patterns that repeat every second, and single events. In a browser two clicks select a range of time, which is
 * shown as the --time option of other commands.
 *
 *	 .98 |          #
 *	 ... |  ##  #   #
 *	 .00 |_#_________
 *	      0 1 2 3 ... s
 */
#include "output/output.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "output/heatmap_css.h"
#include "output/heatmap_js.h"

enum { LEFT = 62, RIGHT = 20, TOP = 74, BOTTOM = 48 };
#define SECOND_NS 1000000000ull
#define MAX_SECONDS 100000ull

struct heatmap {
	struct output *o;
	uint64_t first_s;		/* the second of the first sample */
	size_t seconds, rows;
	uint64_t *cells;		/* numbers of samples, `rows` per second */
	uint64_t max;			/* largest value of a cell */
	double cell_w, cell_h, width, height;
};

static int count_samples(struct heatmap *h)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(h->o->p);
	size_t n = tacho_profile_n_rows(h->o->p);
	uint64_t first = UINT64_MAX, last = 0;
	int err = rows_need_times(h->o);

	if (err < 0)
		return err;
	for (size_t i = 0; i < n; i++) {
		if (rows[i].event != h->o->event || !rows[i].time)
			continue;
		first = min_of(first, rows[i].time / SECOND_NS);
		last = max_of(last, rows[i].time / SECOND_NS);
	}
	if (last - first >= MAX_SECONDS)
		return error_set(
			h->o->e, -EFBIG,
			"%llu seconds do not fit into a picture; select a range with --time",
			(unsigned long long)(last - first + 1));
	h->first_s = first;
	h->seconds = (size_t)(last - first + 1);
	h->cells = calloc(h->seconds * h->rows, sizeof(*h->cells));
	if (!h->cells)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint64_t t = rows[i].time;
		size_t at;

		if (rows[i].event != h->o->event || !t)
			continue;
		at = (size_t)(t / SECOND_NS - first) * h->rows +
		     (size_t)(t % SECOND_NS * h->rows / SECOND_NS);
		h->cells[at] += rows[i].samples;
		h->max = max_of(h->max, h->cells[at]);
	}
	return 0;
}

/* Perceptually even steps from pale yellow through orange and red to almost black. */
static void heat_color(char out[8], double heat)
{
	static const uint8_t stops[][3] = { { 255, 244, 214 }, { 254, 206, 129 }, { 250, 150, 80 },
					    { 226, 84, 70 },   { 163, 37, 87 },	  { 92, 18, 88 },
					    { 33, 10, 60 } };
	size_t last = countof(stops) - 1;
	double at = fmin(fmax(heat, 0), 1) * (double)last;
	size_t i = min_of((size_t)at, last - 1);
	double part = at - (double)i;
	unsigned c[3];

	for (int k = 0; k < 3; k++)
		c[k] = (unsigned)lrint(stops[i][k] + part * (stops[i + 1][k] - stops[i][k])) & 255;
	snprintf(out, 8, "#%02x%02x%02x", c[0], c[1], c[2]);
}

static void put_cells(const struct heatmap *h, struct buf *b)
{
	buf_puts(b, "<g id=\"cells\">\n");
	for (size_t i = 0; i < h->seconds * h->rows && out_flush_full(h->o->out); i++) {
		size_t second = i / h->rows, row = i % h->rows;
		char color[8];

		if (!h->cells[i])
			continue;
		heat_color(color, pow((double)h->cells[i] / (double)h->max, 0.8));
		buf_printf(b,
			   "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
			   "fill=\"%s\"><title>"
			   "%llu.%03u s: %llu samples</title></rect>\n",
			   LEFT + (double)second * h->cell_w,
			   TOP + (double)(h->rows - 1 - row) * h->cell_h, h->cell_w * 0.94,
			   h->cell_h * 0.92, color, (unsigned long long)(h->first_s + second),
			   (unsigned)(row * 1000 / h->rows), (unsigned long long)h->cells[i]);
	}
	buf_puts(b, "</g>\n");
}

/* Writes the labels of the axes at round intervals, at least 60 pixels apart. */
static void put_axes(const struct heatmap *h, struct buf *b)
{
	static const unsigned steps[] = { 1,   2,   5,	  10,	20,   30,   60,	  120,
					  300, 600, 1200, 1800, 3600, 7200, 14400 };
	size_t s = 0;

	while (s + 1 < countof(steps) && steps[s] * h->cell_w < 60)
		s++;
	for (size_t second = 0; second < h->seconds; second += steps[s])
		buf_printf(b, "<text class=\"axis\" x=\"%.1f\" y=\"%.1f\">%zu s</text>\n",
			   LEFT + (double)second * h->cell_w,
			   TOP + (double)h->rows * h->cell_h + 16, second);
	for (unsigned part = 0; part <= 4; part++)
		buf_printf(b, "<text class=\"axis left\" x=\"%d\" y=\"%.1f\">%u ms</text>\n",
			   LEFT - 6, TOP + (double)h->rows * h->cell_h * (4 - part) / 4 + 4,
			   part * 250);
}

static void put_legend(const struct heatmap *h, struct buf *b)
{
	double y = h->height - 16;

	buf_printf(b, "<text class=\"axis\" x=\"%d\" y=\"%.1f\">1</text>\n", LEFT, y + 9);
	for (unsigned i = 0; i < 24; i++) {
		char color[8];

		heat_color(color, i / 23.0);
		buf_printf(b, "<rect x=\"%u\" y=\"%.1f\" width=\"8\" height=\"10\" fill=\"%s\"/>\n",
			   LEFT + 12 + i * 8, y, color);
	}
	buf_printf(b, "<text class=\"axis\" x=\"%d\" y=\"%.1f\">%llu samples in %g ms</text>\n",
		   LEFT + 210, y + 9, (unsigned long long)h->max, 1000.0 / (double)h->rows);
}

static void put_head(const struct heatmap *h, struct buf *b)
{
	const struct tacho_profile_event *ev = tacho_profile_event(h->o->p, h->o->event);

	buf_printf(b,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg "
		   "xmlns=\"http://www.w3.org/2000/svg\" "
		   "class=\"heatmap\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
		   "data-first=\"%llu\" "
		   "data-rows=\"%zu\" data-seconds=\"%zu\" data-cell=\"%.4f %.4f\">\n",
		   h->width, h->height, h->width, h->height, (unsigned long long)h->first_s,
		   h->rows, h->seconds, h->cell_w, h->cell_h);
	buf_printf(
		b,
		"<style>\n%s</style>\n<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n",
		heatmap_css);
	buf_puts(b, "<text id=\"title\" x=\"10\" y=\"24\">");
	put_xml(b, str_of(h->o->opts->title ? h->o->opts->title : "When the samples were taken"));
	buf_puts(b, "</text>\n<text id=\"summary\" x=\"10\" y=\"42\">");
	put_grouped(b, ev->samples);
	buf_puts(b, " samples of ");
	put_xml(b, str_of(ev->name));
	buf_puts(b, "; a column is a second</text>\n<text id=\"range\" x=\"10\" y=\"62\"> </text>\n");
	buf_printf(b, "<rect class=\"field\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%.1f\"/>\n",
		   LEFT, TOP, (double)h->seconds * h->cell_w, (double)h->rows * h->cell_h);
}

static int write_heatmap(struct output *o)
{
	struct heatmap h = { .o = o, .rows = o->opts->rows ? o->opts->rows : 50 };
	struct buf *b = &o->out->b;
	double room = (o->opts->width ? o->opts->width : 1200) - LEFT - RIGHT;
	int err = count_samples(&h);

	if (err)
		return err;
	h.cell_w = fmin(fmax(room / (double)h.seconds, 3), 32);
	h.cell_h = fmax(450.0 / (double)h.rows, 2);
	h.width = fmax(LEFT + RIGHT + h.cell_w * (double)h.seconds, 640);
	h.height = TOP + BOTTOM + h.cell_h * (double)h.rows;
	put_head(&h, b);
	put_cells(&h, b);
	put_axes(&h, b);
	put_legend(&h, b);
	buf_printf(b, "<script><![CDATA[\n%s]]></script>\n</svg>\n", heatmap_js);
	free(h.cells);
	return 0;
}

const struct writer heatmap_writer = {
	.format = { "heatmap", ".heatmap.svg",
		    "when samples were taken, by the fraction of a second", true },
	.write = write_heatmap,
	.wants_time = true,
};
