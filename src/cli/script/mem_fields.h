/*
 * What a memory access was answered by, the word PERF_SAMPLE_DATA_SRC of a sample, in words.
 */
#ifndef CLI_SCRIPT_MEM_FIELDS_H
#define CLI_SCRIPT_MEM_FIELDS_H

#include "base/buf.h"

/* "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A" */
void data_src_text(struct buf *out, uint64_t data_src);

#endif
