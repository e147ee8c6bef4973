/*
 * The writers of `tacho report`: the flat table, the hierarchy, call graphs, JSON. The flat table and the hierarchy
 * share column widths, titles and rows.
 */
#ifndef CLI_REPORT_TABLE_H
#define CLI_REPORT_TABLE_H

#include "cli/report/report.h"

#define TABLE_WIDTH_MAX 10000
#define TABLE_FLUSH_BYTES (64u << 10)
#define TABLE_NUMBERS 512

struct printed_number {			/* a cache: rows repeat numbers, and printing one is slow */
	uint64_t value;
	uint8_t column, event;
	uint8_t n;			/* 0: empty */
	char text[29];
};

struct printed_head {			/* the text before the last column's, as it was printed last */
	const struct tacho_report_entry *entry;	/* NULL: none yet */
	const char *object;
	size_t n;
	char text[512];
};

struct table {
	const struct tacho_report *report;
	const struct report_view *view;
	size_t n;			/* columns */
	size_t width[VIEW_COLUMNS_MAX];
	size_t each[VIEW_COLUMNS_MAX];	/* of the values of a group's events, which are side by side */
	bool fixed[VIEW_COLUMNS_MAX];	/* -w gives the width */
	struct printed_number numbers[TABLE_NUMBERS];
	bool heads;			/* entries of one group, object and values have equal heads */
	bool plain;			/* the last column is just the text of a symbol */
	struct printed_head head;
};

void table_init(struct table *t, const struct tacho_report *r, const struct report_view *view);
void table_titles(const struct table *t, struct buf *out);
void table_row(struct table *t, size_t k, struct buf *out);	/* of the k-th entry in the order */
/* Whether the entry is above --percent-limit. */
bool table_lists(const struct tacho_report *r, const struct report_view *view, const struct tacho_report_entry *e);
/* The text of a key of the entry. */
void table_key_text(const struct tacho_report *r, const struct tacho_report_entry *e,
		    const struct tacho_report_column *c, struct buf *out);

/* Output is collected in `out`, and written and emptied by flush() from time to time. */
struct table_sink {
	struct buf out;
	int (*flush)(struct table_sink *sink);	/* 0 or a negative errno */
};

/* 0, -ENOMEM, or what flush() returned. */
int table_text(const struct tacho_report *r, const struct report_view *view, bool titles, struct table_sink *sink);
int hierarchy_text(const struct tacho_report *r, const struct report_view *view, bool titles,
		   struct table_sink *sink);
/* One event's object, in the array that is open. */
void table_json(const struct tacho_report *r, const struct report_view *view, struct json *j);

/* The call graph of an entry. 0 or -ENOMEM. */
int graph_text(const struct tacho_report *r, const struct report_view *view, struct tacho_callgraph *callgraph,
	       const struct tacho_report_entry *e, struct buf *out);
/* Entries with a smaller value have no graph. */
uint64_t graph_min_value(const struct tacho_report *r, const struct report_view *view);
/* The name of a frame, or its address. */
void frame_text(const struct tacho_profile_frame *f, struct buf *out);

#endif
