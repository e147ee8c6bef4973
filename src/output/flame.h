/*
 * A flame graph before it is drawn: the tree, what is visible of it, and the picture as SVG. The
 * HTML page holds the same picture.
 */
#ifndef OUTPUT_FLAME_H
#define OUTPUT_FLAME_H

#include "output/output.h"

struct flame {
	const struct output *o;
	struct call_tree tree;		/* visible boxes only, sorted */
	uint32_t width, depth;		/* pixels; the deepest level */
	bool fixed_width;		/* asked for; else the script fills the window */
	double most_change;		/* the largest change of a share, for colours */
	struct { struct flame_function *v; size_t n, cap; } functions;	/* of the HTML page's table */
};

struct flame_function {
	uint32_t frame;
	uint64_t self, total;		/* recursion is counted once */
};

int flame_init(struct flame *f, const struct output *o, bool with_functions);
void flame_done(struct flame *f);
/* The <svg> element; `alone` makes it a document with style and script of its own. */
void flame_put_svg(struct flame *f, bool alone);
void flame_put_title(const struct flame *f, struct buf *b);	/* as XML text */
/* "1,234 samples of cycles" and where it came from, as XML text. */
void flame_put_summary(const struct flame *f, struct buf *b);

#endif
