/*
 * The text table of `tacho report`: column widths, titles and rows, shared by the flat table and
 * the hierarchy.
 */
#ifndef CLI_REPORT_TABLE_H
#define CLI_REPORT_TABLE_H

#include "base/json.h"
#include "report/report.h"

#define HIST_WIDTH_MAX 10000
#define HIST_FLUSH_BYTES (64u << 10)

#define HIST_NUMBERS 512

struct hist_number {			/* as it was printed */
	uint64_t value;
	uint8_t column, event;
	uint8_t n;			/* 0: nothing yet */
	char text[29];
};

struct hist_head {			/* what precedes the last column's text, as it was printed last */
	const struct hist_entry *entry;	/* NULL: of none */
	const char *object;
	size_t n;
	char text[512];
};

struct hist_table {
	struct hist *hist;
	size_t n;
	size_t width[HIST_KEYS_MAX + 4];
	size_t each[HIST_KEYS_MAX + 4];	/* of the values of a group, side by side */
	bool fixed[HIST_KEYS_MAX + 4];
	struct hist_number numbers[HIST_NUMBERS];
	bool heads;			/* entries of one group, object and values have equal heads */
	bool plain;			/* the last column is just a symbol's text */
	struct hist_head head;
};

void hist_table_init(struct hist_table *t, struct hist *h);
void hist_table_titles(const struct hist_table *t, struct buf *out);
void hist_table_row(struct hist_table *t, size_t k, struct buf *out);	/* of the k-th entry */
bool hist_is_listed(const struct hist *h, const struct hist_entry *e);	/* above --percent-limit */

/* ---- writers ---- */
int hist_graph(struct chain_walk *w, const struct hist_entry *e, struct buf *out);
/* Entries whose value is less have no graph. */
uint64_t hist_graph_least(const struct hist *h);
/* What has come together in `out` is written from time to time by flush(), which empties it. */
struct hist_sink {
	struct buf out;
	int (*flush)(struct hist_sink *sink);	/* 0 or a negative errno */
};
int hist_text(struct hist *h, bool titles, struct hist_sink *sink);
int hist_tree(struct hist *h, bool titles, struct hist_sink *sink);
/* One event's object, within the array that is open. */
int hist_json(struct hist *h, struct json *j);

#endif
