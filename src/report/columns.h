/*
 * Columns: one row of the table in columns.c each. A new sort key is a row and the functions that it names.
 *
 * Functions of a column get the column itself, so that several rows share one function and differ in `part`.
 * A cell is what one entry has for a column.
 */
#ifndef REPORT_COLUMNS_H
#define REPORT_COLUMNS_H

#include "report/report.h"

struct report_cell {
	const struct tacho_profile_thread *thread;	/* of the group's first row */
	const struct tacho_profile_detail *detail;	/* of the same row; all zero if it has none */
	const struct tacho_profile_frame *frame;	/* NULL: no stack */
	uint64_t value;			/* of a row key: what its value() returned for the group's rows */
	uint64_t samples;		/* of the entry, all events together; 0 unless sums_samples */
};

/* Options that a profile needs for a column, besides the bits of enum tacho_keep. */
enum {
	NEEDS_CPU = 1, NEEDS_TIME = 2, NEEDS_SRCLINE = 4, NEEDS_ADDRESS = 8, NEEDS_STACKS = 16,
	NEEDS_SYMBOL_SIZE = 32,
};

struct column {
	struct tacho_report_column pub;
	uint32_t keep;			/* enum tacho_keep */
	unsigned needs;
	unsigned part;			/* for its functions */
	size_t min_width;		/* as in perf */
	bool of_thread;			/* of a ROW_KEY: equal threads have equal values */
	bool sums_samples;		/* print() needs cell.samples */
	bool one_report;		/* compare() only knows cells of the same report */

	/* VALUE: where its numbers are, or how much a row of the profile adds to the entry's sum. One of the
	 * two is set; sums of columns with neither are filled by entries.c. */
	const uint64_t *(*numbers)(const struct report *r, size_t event, size_t *stride);
	uint64_t (*amount)(const struct column *c, const struct report *r, const struct tacho_profile_row *row);

	/* Keys of a row: rows with equal values are one group. */
	uint64_t (*value)(const struct column *c, struct report *r, const struct tacho_profile_row *row);
	/* FRAME_KEY: appends the bytes by which frames are told apart. */
	void (*identity)(const struct report *r, const struct tacho_profile_frame *f, struct buf *out);

	/* All keys: the text without padding; its width if it is more than the length of the text, or NULL; the
	 * order, as strcmp(), of cells that differ, or NULL: smaller values first. */
	void (*print)(const struct column *c, const struct report *r, const struct report_cell *cell, struct buf *out);
	size_t (*width)(const struct column *c, const struct report *r, const struct report_cell *cell);
	int (*compare)(const struct column *c, const struct report *r, const struct report_cell *a,
		       const struct report_cell *b);
};

extern const struct column columns[];
extern const size_t n_columns;

static inline const struct column *column_of(const struct tacho_report_column *pub)
{
	return (const struct column *)pub;
}

static inline const struct column *column_by_id(enum tacho_report_column_id id)
{
	return column_of(tacho_report_column(id));
}

static inline bool is_value(const struct column *c)
{
	return c->pub.kind == TACHO_REPORT_VALUE;
}

/* Its values split rows into groups. */
static inline bool is_row_key(const struct column *c)
{
	return c->pub.kind != TACHO_REPORT_VALUE && c->pub.kind != TACHO_REPORT_FRAME_KEY;
}

static inline bool is_frame_key(const struct column *c)
{
	return c->pub.kind == TACHO_REPORT_FRAME_KEY;
}

/* The key of an index in the options, and the index of a key. */
static inline const struct column *key_at(const struct report *r, size_t key)
{
	return column_of(r->opts.keys[key]);
}

static inline size_t key_index(const struct report *r, const struct column *c)
{
	size_t at = 0;

	while (at < r->opts.n_keys && r->opts.keys[at] != &c->pub)
		at++;
	return at;
}

static inline bool has_key(const struct report *r, enum tacho_report_column_id id)
{
	return key_index(r, column_by_id(id)) < r->opts.n_keys;
}

/* ---- cells.c ---- */
void cell_fill(struct report_cell *cell, const struct report *r, const struct tacho_report_entry *e,
	       const struct column *c);
int cell_compare(const struct report *r, const struct column *c, const struct tacho_report_entry *a,
		 const struct tacho_report_entry *b);
#define ORIGIN_ADDRESS 18		/* opts.verbose: the width of the address before a symbol ... */
#define ORIGIN_WIDTH (ORIGIN_ADDRESS + 3)	/* ... and with the letter after it */
/* The width of a symbol or an object of this frame, which may be NULL. */
size_t symbol_width(const struct tacho_profile_frame *f);
size_t object_width(const struct report *r, const struct tacho_profile_frame *f);
/* Fills `out` with the text of the key. */
void cell_print(const struct report *r, const struct column *c, const struct tacho_report_entry *e, struct buf *out);
/* Copies `text` into the caller's memory as snprintf() would, and frees it. */
ptrdiff_t hand_out_text(struct buf *text, char *out, size_t room);

/* ---- shared by column_*.c ---- */
static inline int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* As strcmp(), of buffers that may be empty; frees them. */
int compare_texts(struct buf *a, struct buf *b);
int compare_values_descending(const struct column *c, const struct report *r,
			      const struct report_cell *a, const struct report_cell *b);
void print_value(const struct column *c, const struct report *r, const struct report_cell *cell,
		 struct buf *out);

/* ---- column_frame.c: texts of frames ---- */
char space_letter(const struct tacho_profile_frame *f);	/* 'k', '.' ...; f may be NULL */
/* The text of a frame without a symbol: "[.] 0x" and 16 digits. Returns its end; there is no NUL. Quick, because
 * a table may have a million of them. */
#define ADDRESS_TEXT_MAX 22
char *address_text(const struct tacho_profile_frame *f, char *at);
#define INLINED_SUFFIX " (inlined)"	/* as perf has it */
void symbol_text(const struct tacho_profile_frame *f, struct buf *out);
void srcline_text(const struct report *r, const struct tacho_profile_frame *f, struct buf *out);
/* As strcmp() of these texts. */
int compare_srcline_texts(const struct report *r, const struct tacho_profile_frame *a, const struct tacho_profile_frame *b);

#endif
