/*
 * For who takes millions of records and looks at a few words of each: many at once, without a view made
 * of each.
 */
#ifndef PERFDATA_BATCH_READER_H
#define PERFDATA_BATCH_READER_H

#include <tacho/perfdata.h>

/* Up to n of the records that come next, oldest first; they lie in the mapped file until it is closed, are whole,
 * and of this machine's byte order. 0: those that come next do not, and tacho_perfdata_next() has to be asked. */
size_t perfdata_take_batch(struct tacho_perfdata *pd, const uint8_t **out, size_t n);
/* The view of one that was taken. */
void perfdata_batch_record(const struct tacho_perfdata *pd, const uint8_t *at, struct tacho_record *out);
/* Where in a sample stands the id that tells its event. 0: there is one event as yet; where samples have no id, it is
 * further than any is long. */
uint32_t perfdata_sample_id_offset(const struct tacho_perfdata *pd);

#endif
