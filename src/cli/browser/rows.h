/*
 * What the browser shows of a table, as lines: entries that pass the filters, and below those that
 * are unfolded their call chains. Nothing is made for what nobody looks at: an entry's chains are
 * merged when they are first unfolded, a line's text when it is drawn.
 *
 *	report order --filter--> shown ---+--- first_line: which line an entry begins at
 *	                                 \-- folds: per entry, its chains with what is open in them
 */
#ifndef CLI_BROWSER_ROWS_H
#define CLI_BROWSER_ROWS_H

#include "cli/report/table.h"
#include "cli/browser/screen.h"

#define ROWS_HOT 5.0		/* per cent from which on a share is hot, as in perf */
#define ROWS_WARM 0.5

/* ---- cli/browser/call_tree.c: the chains of one entry ---- */
struct fold_node {			/* frames that follow each other without a branch */
	uint32_t first, n;		/* in `frames` */
	uint32_t child, next;		/* UINT32_MAX */
	uint64_t weight, above;		/* its own; of all that stands above it */
	bool share;			/* shows its share: it is not all of what stands above */
	bool siblings, top;		/* there are others beside it; none above it */
	bool first_open, last_open;	/* the frames behind the first are shown; what follows is */
};

struct fold_line {
	uint32_t node, frame;		/* frame: which of the node's */
	uint32_t indent;
	char sign;			/* '+', '-' or ' ' */
};

struct fold {
	struct { struct fold_node *v; size_t n, cap; } nodes;
	struct { uint32_t *v; size_t n, cap; } frames;
	struct { struct fold_line *v; size_t n, cap; } lines;
	uint32_t top;			/* first node, UINT32_MAX */
	bool open;
};

/* Whether an entry has chains that are worth drawing. 0, 1 or -ENOMEM. */
struct rows;
int fold_has(const struct rows *r, const struct tacho_report_entry *e);
/* The entry's chains, all folded. 0 or -ENOMEM. */
int fold_new(struct fold **out, const struct rows *r, const struct tacho_report_entry *e);
void fold_free(struct fold *f);
void fold_set_all(struct fold *f, bool open);
int fold_lines(struct fold *f);		/* brings `lines` up to date; 0 or -ENOMEM */
/* Opens or closes what hangs at that line; false where nothing does. */
bool fold_toggle(struct fold *f, size_t line);

/* ---- cli/browser/hierarchy.c: the levels of --hierarchy ---- */
struct rows_item {			/* entries with equal keys up to a level */
	uint32_t level, from, to;	/* from, to: in the tree's order */
	uint32_t child, next;		/* items, UINT32_MAX; heaviest first */
	bool open;
};

struct tree_line {
	uint32_t item;
	uint32_t chain;			/* which of its chains' lines; UINT32_MAX: the item itself */
};

struct rows_tree {
	const struct tacho_report_column *levels[TACHO_REPORT_KEYS_MAX];
	size_t n_levels, n;
	uint32_t *order, *of;		/* entries by their keys; as they were shown then */
	struct { struct rows_item *v; size_t n, cap; } items;
	struct { uint64_t *v; size_t n, cap; } sums;	/* per item: periods per event, then each
							 * column of numbers per event */
	size_t n_sums;			/* ... of an item */
	struct { struct tree_line *v; size_t n, cap; } lines;
	uint32_t top;
	bool built;
};

/* ---- cli/browser/rows.c ---- */
struct rows_filter {
	const char *comm;		/* NULL: all */
	bool by_tid;
	uint32_t tid;
	const char *dso;		/* an object's short name */
	char *symbol;			/* part of a function's name; owned */
};

struct rows {
	struct tacho_report *report;
	const struct report_view *view;
	struct tacho_callgraph *callgraph;	/* NULL: no entry has chains */
	struct rows_tree *tree;		/* NULL: a flat table */
	struct rows_filter filter;
	double percent_limit;
	bool relative, verbose;
	const struct tacho_report_column *columns[VIEW_COLUMNS_MAX];
	size_t n_columns, width[VIEW_COLUMNS_MAX];
	uint32_t *shown;		/* entries */
	size_t n_shown;
	uint64_t *first_line;		/* n_shown + 1 */
	struct fold **folds;		/* per entry; NULL: never opened */
	uint8_t *has_chains;		/* per entry: 0 not asked yet, 1 no, 2 yes */
	uint64_t samples, period;	/* what the title tells */
	uint64_t totals[64], total_latency[64];	/* of the whole table */
};

struct rows_line {
	const struct tacho_report_entry *entry;
	const struct rows_item *item;	/* of a hierarchy; `entry` is its first; NULL: a flat table */
	uint32_t index;			/* of the entry */
	uint64_t home;			/* the line of the entry or item itself */
	const struct fold_line *chain;	/* NULL: the entry itself */
	const struct fold *fold;
	size_t nth;			/* of the chain's lines */
};

int rows_init(struct rows *r, struct tacho_report *report, const struct report_view *view, bool hierarchy);	/* 0 or -ENOMEM */
void rows_done(struct rows *r);
int rows_update(struct rows *r);	/* after a change of filter, verbose, relative or order */
int rows_limit(struct rows *r, double percent);	/* after a change of the limits: folds all */
uint64_t rows_count(const struct rows *r);
bool rows_at(const struct rows *r, uint64_t line, struct rows_line *out);
/* The frame of a line: the chain's or the entry's; NULL: none. */
const struct tacho_profile_frame *rows_frame(const struct rows *r, const struct rows_line *l);
/* '+', '-' or ' ': whether something can be unfolded at that line. */
char rows_sign(struct rows *r, const struct rows_line *l);
int rows_toggle(struct rows *r, uint64_t line);		/* one level: 1 changed, 0 not, -ENOMEM */
int rows_open_entry(struct rows *r, uint64_t line, bool open);	/* with all below it */
int rows_open_all(struct rows *r, bool open);
/* The line of text, from column `skip` of the table on. Calls `put` for each piece. */
typedef void rows_put(void *arg, enum screen_style style, const char *text);
void rows_draw(struct rows *r, const struct rows_line *l, size_t skip, rows_put *put, void *arg);
/* A number as it stands in the column for that event. */
void rows_draw_value(const struct rows *r, uint64_t value, size_t column, size_t event, rows_put *put, void *arg);
void rows_titles(const struct rows *r, size_t skip, struct buf *out);
/* Whether all that the line stands for has one value of the key. */
bool rows_tells(const struct rows *r, const struct rows_line *l, const struct tacho_report_column *key);
/* Where that entry or item is now; 0: nowhere. */
uint64_t rows_find(const struct rows *r, const struct rows_line *l);
enum screen_style rows_style(double percent);

int tree_new(struct rows *r);
void tree_free(struct rows_tree *t);
int tree_update(struct rows *r);	/* from r->shown and r->columns */
int tree_lines(struct rows *r);		/* after something opened or closed */
void tree_open(struct rows *r, uint32_t item, bool open);	/* with all below it, but for chains */
bool tree_is_leaf(const struct rows *r, const struct rows_item *it);
uint64_t tree_sum(const struct rows *r, const struct rows_item *it, size_t event);
void tree_draw(struct rows *r, const struct rows_line *l, char sign, rows_put *put, void *arg);
void tree_titles(const struct rows *r, struct buf *out);

#endif
