/*
 * Where a load or store found its data (PERF_SAMPLE_DATA_SRC), in perf's words.
 */
#ifndef REPORT_MEM_TEXT_H
#define REPORT_MEM_TEXT_H

#include "report/report.h"

/* The bits of `data_src` that the key COL_MEM, COL_TLB, COL_SNOOP, COL_LOCKED or COL_BLOCKED is about. */
uint64_t mem_part(enum hist_column key, uint64_t data_src);
void mem_text(enum hist_column key, uint64_t data_src, struct buf *out);

#endif
