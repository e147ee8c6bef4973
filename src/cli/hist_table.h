/*
 * The text table of `tacho report`: column widths, titles and rows, shared by the flat table and
 * the hierarchy.
 */
#ifndef CLI_HIST_TABLE_H
#define CLI_HIST_TABLE_H

#include "cli/hist.h"

#define HIST_WIDTH_MAX 10000
#define HIST_FLUSH_BYTES (64u << 10)

struct hist_number {			/* as it was printed last */
	uint64_t value;
	size_t event, n;		/* n 0: nothing yet */
	char text[40];
};

struct hist_head {			/* what precedes the last column, as it was printed last */
	const struct hist_entry *entry;	/* NULL: of none */
	size_t n;
	char text[512];
};

struct hist_table {
	struct hist *hist;
	size_t n;
	size_t width[HIST_KEYS_MAX + 4];
	bool fixed[HIST_KEYS_MAX + 4];
	struct hist_number last[HIST_KEYS_MAX + 4];
	bool heads;			/* entries of one group, object and values have equal heads */
	struct hist_head head;
};

void hist_table_init(struct hist_table *t, struct hist *h);
void hist_table_titles(const struct hist_table *t, struct buf *out);
void hist_table_row(struct hist_table *t, const struct hist_entry *e, struct buf *out);
bool hist_is_listed(const struct hist *h, const struct hist_entry *e);	/* above --percent-limit */

#endif
