/*
 * PERF_SAMPLE_DATA_SRC, which describes the source of a memory access's data, as text.
 */
#ifndef CLI_SCRIPT_MEM_FIELDS_H
#define CLI_SCRIPT_MEM_FIELDS_H

#include "base/buf.h"

/* Appends "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A". */
void data_src_text(struct buf *out, uint64_t data_src);

#endif
