/*
 * The keys of `tacho report` that look into the details of rows.
 */
#ifndef REPORT_DETAIL_KEYS_H
#define REPORT_DETAIL_KEYS_H

#include "report/report.h"

/* What rows with these details are told apart by. */
uint64_t hist_detail_value(const struct hist *h, enum hist_column key, uint32_t id);
/* `samples` is how many the entry has: some keys show a sum over them. */
void hist_detail_text(const struct hist *h, enum hist_column key, uint32_t id, uint64_t samples,
		      struct buf *out);
/* How wide the column is at least, as in perf. */
size_t hist_detail_width(const struct hist *h, enum hist_column key, uint32_t id);
int hist_detail_cmp(const struct hist *h, enum hist_column key, uint32_t a, uint32_t b);
/* The bits of enum tacho_keep that the key needs. */
uint32_t hist_detail_keep(enum hist_column key);

#endif
