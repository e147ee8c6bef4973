/*
 * The flame graph as an HTML page: the picture, and below it a table of functions with their self and total shares. The
 * page loads nothing from the network; its Content-Security-Policy forbids it.
 */
#include "output/flame.h"

#include "output/flame_css.h"
#include "output/flame_js.h"
#include "output/page_css.h"
#include "output/page_js.h"

#define MAX_FUNCTIONS 1000u

static void put_share(struct buf *b, uint64_t part, uint64_t whole)
{
	double share = whole ? 100.0 * (double)part / (double)whole : 0;

	buf_printf(b, "<td class=\"n\" data-v=\"%llu\">%.2f %%<i style=\"width:%.1f%%\"></i></td>",
		   (unsigned long long)part, share, share);
}

static void put_function(const struct flame *f, struct buf *b, const struct flame_function *fn)
{
	const struct tacho_profile_frame *frame = tacho_profile_frame(f->o->p, fn->frame);
	scoped(buf_done) struct buf name = { 0 };
	char color[8];

	put_line_label(&name, frame);
	kind_color(color, kind_of(frame), buf_view(&name));
	buf_puts(b, "<tr>");
	put_share(b, fn->self, f->tree.v[0].total);
	put_share(b, fn->total, f->tree.v[0].total);
	buf_printf(b, "<td class=\"f\"><b style=\"background:%s\"></b><span>", color);
	put_xml(b, buf_view(&name));
	buf_puts(b, "</span></td><td class=\"o\">");
	put_xml(b, str_of(frame->code->object_name));
	buf_puts(b, "</td></tr>\n");
	if (buf_failed(&name))
		b->bad = true;
}

static void put_functions(const struct flame *f)
{
	struct buf *b = &f->o->out->b;
	size_t n = min_of(f->functions.n, (size_t)MAX_FUNCTIONS);

	if (!n)
		return;
	buf_puts(b, "<section>\n<h2>Functions</h2>\n<p>");
	if (n < f->functions.n)
		buf_printf(b, "The %zu heaviest of %zu. ", n, f->functions.n);
	buf_puts(b,
		 "A click on a function marks it in the graph; a search above filters this "
		 "table.</p>\n"
		 "<table id=\"functions\">\n<thead><tr><th class=\"n sorted\" "
		 "tabindex=\"0\">itself</th>"
		 "<th class=\"n\" tabindex=\"0\">with callees</th><th tabindex=\"0\">function</th>"
		 "<th tabindex=\"0\">object</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < n && out_flush_full(f->o->out); i++)
		put_function(f, b, &f->functions.v[i]);
	buf_puts(b, "</tbody>\n</table>\n</section>\n");
}

static int write_html(struct output *o)
{
	struct buf *b = &o->out->b;
	struct flame f;
	int err = flame_init(&f, o, true);

	if (err)
		return err;
	buf_puts(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
		    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
	flame_put_title(&f, b);
	buf_printf(b, "</title>\n<style>\n%s%s</style>\n</head>\n<body>\n<main>\n", flame_css,
		   page_css);
	flame_put_svg(&f, false);
	buf_puts(b, "</main>\n");
	put_functions(&f);
	buf_printf(b, "<script>\n%s%s</script>\n</body>\n</html>\n", flame_js, page_js);
	flame_done(&f);
	return 0;
}

const struct writer html_writer = {
	.format = { "html", ".html", "flame graph and table of functions as a page", true },
	.write = write_html, .joins_threads = true,
};
