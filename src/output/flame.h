/*
 * A flame graph: its visible boxes, and the picture as SVG, which is also part of the HTML page.
 */
#ifndef OUTPUT_FLAME_H
#define OUTPUT_FLAME_H

#include "output/tree.h"

struct flame {
	const struct output *o;
	struct call_tree tree;		/* visible boxes only, sorted */
	uint32_t width;			/* in pixels */
	uint32_t depth;			/* the deepest level */
	bool fixed_width;		/* opts.width was given; otherwise the script fills the window */
	double max_change;		/* the largest change of a share, for colours */
	struct strlist notes;		/* paragraphs, see flame_notes.c */
	const char *comm;		/* the command with the most samples; NULL: no sample has one */
	double comm_share;		/* of the samples, from 0 to 1 */
	size_t n_comms;			/* commands with samples */
	struct { struct flame_function *v; size_t n, cap; } functions;	/* of the HTML page's table, heaviest first */
};

struct flame_function {
	uint32_t frame;
	uint64_t self, total;		/* `total` counts recursive calls once */
};

int flame_init(struct flame *f, const struct output *o, bool with_functions);
void flame_done(struct flame *f);
/* Writes the <svg> element; with `alone`, a complete document that includes style and script. */
void flame_put_svg(struct flame *f, bool alone);
void flame_put_title(const struct flame *f, struct buf *b);	/* as XML text */
/* "1,234 samples of cycles in 2.50 s, 12 lost", as XML text. */
void flame_put_summary(const struct flame *f, struct buf *b);

/* ---- flame_notes.c ---- */
int flame_notes_init(struct flame *f);			/* 0 or -ENOMEM */
unsigned flame_notes_height(const struct flame *f);	/* in pixels */
void flame_put_notes(const struct flame *f, struct buf *b, unsigned y);

#endif
