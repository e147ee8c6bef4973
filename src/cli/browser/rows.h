/*
 * The lines of a table: the entries that pass the filters, and the call chains of unfolded entries. All work
 * is lazy: the chains of an entry are merged when it is unfolded, and a line is formatted when it is drawn.
 *
 *	report order --filter--> shown ---+--- first_line: the line where an entry begins
 *	                                 \-- folds: per entry, its call tree and which nodes are open
 */
#ifndef CLI_BROWSER_ROWS_H
#define CLI_BROWSER_ROWS_H

#include "cli/report/level_children.h"
#include "cli/report/table.h"
#include "cli/browser/screen.h"

#include <regex.h>

#define ROWS_HOT 5.0		/* minimum percentage that is drawn as hot, as in perf */
#define ROWS_WARM 0.5

/* ---- call_tree.c: the chains of one entry ---- */
struct fold_node {			/* successive frames without a branch */
	uint32_t first, n;		/* range in `frames` */
	uint32_t child, next;		/* UINT32_MAX */
	uint64_t weight, above;		/* weight of the node; of its parent */
	bool share;			/* the share is shown, since it differs from the parent's */
	bool siblings, top;		/* the node has siblings; has no parent */
	bool first_open, last_open;	/* frames after the first are visible; children are */
};

struct fold_line {
	uint32_t node, frame;		/* frame: index within the node's frames */
	uint32_t indent;
	char sign;			/* '+', '-' or ' ' */
};

struct fold {
	struct { struct fold_node *v; size_t n, cap; } nodes;
	struct { uint32_t *v; size_t n, cap; } frames;
	struct { struct fold_line *v; size_t n, cap; } lines;
	uint32_t top;			/* first node; UINT32_MAX: none */
	bool open;
};

/* Whether an entry has call chains whose weight reaches the limits. Returns 0, 1 or -ENOMEM. */
struct rows;
int fold_has(const struct rows *r, const struct tacho_report_entry *e);
/* Merges the entry's chains; all nodes are folded. 0 or -ENOMEM. */
int fold_new(struct fold **out, const struct rows *r, const struct tacho_report_entry *e);
void fold_free(struct fold *f);
void fold_set_all(struct fold *f, bool open);
int fold_lines(struct fold *f);		/* updates `lines`; 0 or -ENOMEM */
/* Opens or closes the node part below a line; false if there is none. */
bool fold_toggle(struct fold *f, size_t line);

/* ---- hierarchy.c: the levels of --hierarchy ---- */
struct rows_item {			/* entries with equal keys up to a level */
	uint32_t level, from, to;	/* from, to: range in rows_tree.order */
	uint32_t child, next;		/* items, heaviest first; UINT32_MAX: none */
	bool open;
};

struct tree_line {
	uint32_t item;
	uint32_t chain;			/* index among its call chain lines; UINT32_MAX: the item itself */
};

struct rows_tree {
	const struct tacho_report_column *levels[TACHO_REPORT_KEYS_MAX];
	size_t n_levels, n;
	uint32_t *order;		/* entries sorted by their keys */
	uint32_t *of;			/* the shown entries that the tree was built from */
	struct { struct rows_item *v; size_t n, cap; } items;
	struct { uint64_t *v; size_t n, cap; } sums;	/* per item: periods of the events, then
							 * each numeric column's events, samples */
	size_t n_sums;			/* number of sums per item; the last are the samples of the events */
	struct level_children children;
	struct { struct tree_line *v; size_t n, cap; } lines;
	uint32_t top;
	bool built;
};

/* ---- rows.c ---- */
struct rows_filter {
	const char *comm;		/* NULL: all */
	bool by_tid;
	uint32_t tid;
	const char *dso;		/* short name of an object; NULL: all */
	char *symbol;			/* substring of function names, or a regular expression; NULL: all; owned */
	regex_t *pattern;		/* `symbol` as a regular expression; NULL: it is none; owned */
	bool by_socket;
	uint64_t socket;		/* value of the key socket */
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
	size_t fit[VIEW_COLUMNS_MAX];	/* widths on the screen: see rows_fit() */
	bool narrow;			/* addresses before symbols are not padded */
	uint32_t *shown;		/* indices of the entries that pass the filters */
	size_t n_shown;
	uint64_t *first_line;		/* n_shown + 1 line numbers */
	struct fold **folds;		/* per entry; NULL: never unfolded */
	uint8_t *has_chains;		/* per entry: CHAINS_... in rows.c */
	uint64_t samples, period;	/* totals shown in the title */
	uint64_t totals[64], total_latency[64];	/* totals of the whole table */
};

struct rows_line {
	const struct tacho_report_entry *entry;
	const struct rows_item *item;	/* hierarchy: `entry` is its first entry; NULL: flat table */
	uint32_t index;			/* index of the entry */
	uint64_t home;			/* line number of the entry or item itself */
	const struct fold_line *chain;	/* NULL: the entry itself */
	const struct fold *fold;
	size_t nth;			/* index within the call chain's lines */
};

/* Returns 0 or -ENOMEM. */
int rows_init(struct rows *r, struct tacho_report *report, const struct report_view *view, bool hierarchy);
void rows_done(struct rows *r);
int rows_update(struct rows *r);	/* call after a change of filter, verbose, relative or order */
int rows_limit(struct rows *r, double percent);	/* call after a change of the limits; folds all entries */
uint64_t rows_count(const struct rows *r);
bool rows_at(const struct rows *r, uint64_t line, struct rows_line *out);
/* Returns the frame of a line: that of its call chain line or of the entry. NULL: none. */
const struct tacho_profile_frame *rows_frame(const struct rows *r, const struct rows_line *l);
/* Returns the fold sign of a line: '+' (folded), '-' (open) or ' ' (nothing to unfold). */
char rows_sign(struct rows *r, const struct rows_line *l);
int rows_toggle(struct rows *r, uint64_t line);		/* one level; 1: changed, 0: unchanged, or -ENOMEM */
int rows_open_entry(struct rows *r, uint64_t line, bool open);	/* with all levels below */
int rows_open_all(struct rows *r, bool open);
typedef void rows_put(void *arg, enum screen_style style, const char *text);
/* Sets the widths with which lines are formatted, beginning with column `skip`: where they exceed `room` columns of the
 * screen, the widest keys are shortened, so that the last column is visible. 0: any width fits. */
void rows_fit(struct rows *r, size_t skip, size_t room);
/* Formats a line, beginning with column `skip`; calls `put` for each part with one style. */
void rows_draw(struct rows *r, const struct rows_line *l, size_t skip, rows_put *put, void *arg);
/* Formats a number as the column shows it for that event. */
void rows_draw_value(const struct rows *r, uint64_t value, size_t column, size_t event, rows_put *put, void *arg);
void rows_titles(const struct rows *r, size_t skip, struct buf *out);
/* Whether the key has the same value in all entries of the line. */
bool rows_line_has(const struct rows *r, const struct rows_line *l, const struct tacho_report_column *key);
/* Returns the current line number of an entry or item; 0 if it is hidden. */
uint64_t rows_find(const struct rows *r, const struct rows_line *l);
enum screen_style rows_style(double percent);

/* Whether the filter of functions accepts a frame. */
bool rows_symbol_passes(const struct rows *r, const struct tacho_profile_frame *f);
/* Sets filter.symbol; NULL: all functions. 0 or -ENOMEM. */
int rows_filter_symbol(struct rows *r, const char *text);

/* ---- open_lines.c: which lines are open, when a table is made again from another profile ---- */
struct open_lines {
	struct { uint64_t *v; size_t n, cap; } keys;	/* hashes */
};
int open_lines_save(struct open_lines *o, const struct rows *r);	/* 0 or -ENOMEM */
int open_lines_restore(const struct open_lines *o, struct rows *r);
void open_lines_done(struct open_lines *o);
int rows_fold(struct rows *r, size_t entry, struct fold **out);	/* *out NULL: it has no chains */
int rows_lines(struct rows *r);		/* call after folds or items were opened or closed */

int tree_new(struct rows *r);
void tree_free(struct rows_tree *t);
int tree_update(struct rows *r);	/* builds r->tree from r->shown and r->columns */
int tree_lines(struct rows *r);		/* call after an item was opened or closed */
void tree_open(struct rows *r, uint32_t item, bool open);	/* with all levels below, without chains */
bool tree_is_leaf(const struct rows *r, const struct rows_item *it);
uint64_t tree_sum(const struct rows *r, const struct rows_item *it, size_t event);
void tree_draw(struct rows *r, const struct rows_line *l, char sign, rows_put *put, void *arg);
void tree_titles(const struct rows *r, struct buf *out);

#endif
