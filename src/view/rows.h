/*
 * Rows of a view as values with text.
 */
#ifndef VIEW_ROWS_H
#define VIEW_ROWS_H

#include "base/int_map.h"
#include "view/functions.h"
#include "view/plan.h"

struct view_rows {
	const struct view_plan *plan;
	const struct view_functions *functions;
	uint64_t first_ns;		/* time of the first row */
	int64_t wall_offset_ns;		/* of the wall clock to CLOCK_MONOTONIC */
	struct tacho_view_value values[VIEW_COLUMNS];
	char texts[VIEW_COLUMNS][VIEW_TEXT + 64];
	char disk[64];			/* name of `disk_dev` */
	uint64_t disk_dev;
};

void view_rows_init(struct view_rows *r, const struct view_plan *p, const struct view_functions *f);
/* Fills in r->values. The record is trusted to be complete, but not what is in it. */
void view_rows_of_record(struct view_rows *r, const struct view_record *rec);
void view_rows_of_key(struct view_rows *r, const struct view_key *key);

#endif
