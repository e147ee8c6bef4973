/*
 * Where a load or store found its data (PERF_SAMPLE_DATA_SRC), as perf's columns print it.
 */
#ifndef REPORT_DATA_SOURCE_H
#define REPORT_DATA_SOURCE_H

#include "base/buf.h"

#include <tacho/report.h>

/* The bits of `data_src` that belong to the part. */
uint64_t data_src_bits(enum tacho_data_src_part part, uint64_t data_src);
void put_data_src_part(enum tacho_data_src_part part, uint64_t data_src, struct buf *out);

#endif
