/*
 * The text table of `tacho report`: column widths, titles and rows, shared by the flat table and
 * the hierarchy.
 */
#ifndef CLI_REPORT_TABLE_H
#define CLI_REPORT_TABLE_H

#include "cli/report/hist.h"

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

#endif
