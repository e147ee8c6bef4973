/*
 * The flame graph as SVG. The picture is complete without the script, so that any viewer shows it; in a browser the script
 * reads each box's data-b (start, weight, level), fills the window and adds zoom, search and the icicle view.
 *
 *	<g data-b="0 120 1"><title>NAME \n OBJECT \n SHARES</title><rect .../><text>NAME</text></g>
 *
 * Boxes are written depth first: a box is followed by its callees.
 */
#include "output/flame.h"

#include <stdio.h>

#include "output/flame_css.h"
#include "output/flame_js.h"

enum { SIDE = 10, TOP = 74, BOX = 18, BOTTOM = 30 };
#define LETTER_WIDTH 7.2	/* in pixels, of the 12 pixel monospaced font */

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* The lower edge of the legend, below which the notes are. */
static unsigned legend_end(const struct flame *f)
{
	return TOP + (f->depth + 1) * BOX + BOTTOM;
}

static unsigned height(const struct flame *f)
{
	return legend_end(f) + flame_notes_height(f);
}

/* Weights of clock events are times, and shown as such. */
static void put_weight(const struct flame *f, struct buf *b, uint64_t weight)
{
	const char *unit = weight_unit(f->o, f->o->event);

	if (strcmp(unit, "ns") == 0) {
		buf_duration(b, (double)weight / 1e9);
		return;
	}
	put_grouped(b, weight);
	buf_printf(b, " %s", unit);
}

/* Writes the lines of the tooltip below the name. */
static void put_tooltip(const struct flame *f, struct buf *b, const struct tree_node *v)
{
	const struct tree_node *root = &f->tree.v[0];

	if (v->frame != TREE_NO_FRAME) {
		buf_putc(b, '\n');
		put_xml(b, str_of(tacho_profile_frame(f->o->p, v->frame)->code->object_path));
	}
	buf_putc(b, '\n');
	put_weight(f, b, v->total);
	buf_printf(b, ", %.2f %%", share_of(v->total, root->total));
	if (v->self && v->self != v->total)
		buf_printf(b, ", itself %.2f %%", share_of(v->self, root->total));
	if (f->o->opts->before) {
		double was = share_of(v->before, f->tree.before);

		buf_printf(b, ", before %.2f %% (%+.2f)", was, share_of(v->total, root->total) - was);
	}
}

/* Writes at most `letters` letters of a name, with an ellipsis if it is longer; does not split UTF-8
 * sequences. */
static void put_clipped(struct buf *b, struct str name, size_t letters)
{
	size_t n = 0, at = 0, cut = 0;

	while (at < name.n) {
		if (((unsigned char)name.s[at] & 0xc0) != 0x80) {
			if (n == letters - 1)
				cut = at;
			if (n++ == letters)
				break;
		}
		at++;
	}
	if (at == name.n) {
		put_xml(b, name);
	} else {
		put_xml(b, str_n(name.s, cut));
		buf_puts(b, "\xe2\x80\xa6");
	}
}

static void box_color(const struct flame *f, uint32_t node, struct str name, char out[8])
{
	const struct tree_node *v = &f->tree.v[node];
	double change;

	if (f->o->opts->before) {
		change = share_of(v->total, f->tree.v[0].total) - share_of(v->before, f->tree.before);
		change_color(out, f->max_change > 0 ? change / 100 / f->max_change : 0);
	} else if (v->frame == TREE_NO_FRAME) {
		kind_color(out, node ? KIND_COMM : KIND_ROOT, name);
	} else {
		kind_color(out, kind_of(tacho_profile_frame(f->o->p, v->frame)), name);
	}
}

static void put_box(const struct flame *f, uint32_t node, uint64_t start, uint32_t level)
{
	const struct tree_node *v = &f->tree.v[node];
	struct buf *b = &f->o->out->b;
	scoped(buf_done) struct buf name = { 0 };
	double scale = (f->width - 2.0 * SIDE) / (double)f->tree.v[0].total;
	double x = SIDE + (double)start * scale, w = (double)v->total * scale;
	uint32_t row = f->o->opts->icicle ? level : f->depth - level;
	double y = TOP + (double)row * BOX;
	size_t letters = w > 6 ? (size_t)((w - 6) / LETTER_WIDTH) : 0;
	char color[8];

	tree_label(&name, &f->tree, f->o, node);
	box_color(f, node, buf_view(&name), color);
	buf_printf(b, "<g data-b=\"%llu %llu %u\"><title>", (unsigned long long)start,
		   (unsigned long long)v->total, level);
	put_xml(b, buf_view(&name));
	put_tooltip(f, b, v);
	buf_printf(b,
		   "</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/>",
		   x, y, w, BOX - 1, color);
	if (letters >= 3) {
		buf_printf(b, "<text x=\"%.2f\" y=\"%.0f\">", x + 3, y + 12.5);
		put_clipped(b, buf_view(&name), letters);
		buf_puts(b, "</text>");
	}
	buf_puts(b, "</g>\n");
	if (buf_failed(&name))
		b->bad = true;
}

/* Writes the boxes depth first; start[node] is the weight to the left of the node. */
static void put_boxes(const struct flame *f)
{
	const struct tree_node *v = f->tree.v;
	scoped(freep) uint64_t *start = calloc(f->tree.n + 1, sizeof(*start));
	uint32_t at = 0, level = 0;

	if (!start) {
		f->o->out->b.bad = true;
		return;
	}
	for (;;) {
		put_box(f, at, start[at], level);
		if (!out_flush_full(f->o->out))
			return;
		if (v[at].child) {
			start[v[at].child] = start[at];
			at = v[at].child;
			level++;
			continue;
		}
		while (at && !v[at].next) {
			at = v[at].parent;
			level--;
		}
		if (!at)
			return;
		start[v[at].next] = start[at] + v[at].total;
		at = v[at].next;
	}
}

/* Writes the legend: the colours, with the share of the samples in each kind of code. */
static void put_legend(const struct flame *f, struct buf *b)
{
	uint64_t weight[N_KINDS];
	unsigned x = SIDE;

	buf_printf(b, "<g id=\"legend\" transform=\"translate(0 %u)\">\n", legend_end(f) - 9);
	kind_weights(f->o, weight);
	for (int kind = KIND_KERNEL; kind < N_KINDS && !f->o->opts->before; kind++) {
		char color[8], text[64];

		if (!weight[kind])
			continue;
		kind_color(color, (enum code_kind)kind, str_of("legend"));
		snprintf(text, sizeof(text), "%s %.1f %%", kind_names[kind],
			 share_of(weight[kind], weight[KIND_ROOT]));
		buf_printf(b, "<rect x=\"%u\" y=\"-9\" width=\"10\" height=\"10\" fill=\"%s\"/>"
			   "<text x=\"%u\" y=\"0\">%s</text>\n", x, color, x + 15, text);
		x += 15 + (unsigned)(LETTER_WIDTH * (double)strlen(text)) + 18;
	}
	buf_puts(b, "</g>\n");
}

static void put_background_and_title(const struct flame *f, struct buf *b)
{
	buf_puts(b, "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
	buf_printf(b, "<g id=\"head\">\n<text id=\"title\" x=\"%d\" y=\"24\">", SIDE);
	flame_put_title(f, b);
	buf_printf(b, "</text>\n<text id=\"summary\" x=\"%d\" y=\"42\">", SIDE);
	flame_put_summary(f, b);
	buf_puts(b, "</text>\n</g>\n");
}

void flame_put_svg(struct flame *f, bool alone)
{
	struct buf *b = &f->o->out->b;

	buf_printf(b,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" width=\"%u\" "
		   "height=\"%u\" "
		   "viewBox=\"0 0 %u %u\" data-total=\"%llu\" data-depth=\"%u\" data-icicle=\"%d\" "
		   "data-fluid=\"%d\">\n",
		   f->width, height(f), f->width, height(f), (unsigned long long)f->tree.v[0].total,
		   f->depth, f->o->opts->icicle, !f->fixed_width);
	if (alone)
		buf_printf(b, "<style>\n%s</style>\n", flame_css);
	put_background_and_title(f, b);
	put_legend(f, b);
	flame_put_notes(f, b, legend_end(f));
	buf_puts(b, "<g id=\"boxes\">\n");
	put_boxes(f);
	buf_puts(b, "</g>\n<g id=\"bar\"/>\n");
	if (alone)
		buf_printf(b, "<script><![CDATA[\n%s]]></script>\n", flame_js);
	buf_puts(b, "</svg>\n");
}

static int write_svg(struct output *o)
{
	struct flame f;
	int err = flame_init(&f, o, false);

	if (err)
		return err;
	buf_puts(&o->out->b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	flame_put_svg(&f, true);
	flame_done(&f);
	return 0;
}

const struct writer svg_writer = {
	.format = { "svg", ".svg", "flame graph: a picture with zoom and search", true },
	.write = write_svg, .joins_threads = true,
};
