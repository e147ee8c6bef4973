/*
 * Rewrites a sample: gives it another call chain, and removes its copy of the user stack and the user registers.
 */
#ifndef RECORD_REPLACE_CHAIN_H
#define RECORD_REPLACE_CHAIN_H

#include "base/buf.h"

#include <tacho/record.h>

struct perf_event_attr;

/* Appends the new record to `out`. `sample` is `rec`, decoded by `lay`, which must have PERF_SAMPLE_CALLCHAIN and
 * PERF_SAMPLE_STACK_USER and this machine's byte order. The new record has neither stack nor, unless `keep_regs`,
 * user registers. The chain is cut if the record would be too large. 0, -EBADMSG, -ENOMEM. */
int record_replace_chain(const struct tacho_record *rec, const struct tacho_sample *sample,
			 const struct tacho_layout *lay, struct tacho_words chain, bool keep_regs, struct buf *out);
/* Changes the attr of such an event to that of the new records. */
void record_replace_chain_attr(struct perf_event_attr *attr, bool keep_regs);

#endif
