/*
 * Batch access to records, for readers that process millions of records and look at a few words of each:
 * many records per call, without filling in a struct tacho_record for each of them.
 */
#ifndef PERFDATA_BATCH_READER_H
#define PERFDATA_BATCH_READER_H

#include <tacho/perfdata.h>

/* Stores pointers to up to n of the next records, oldest first, and returns how many. They point into the mapped file,
 * are complete, in this machine's byte order, and valid until the file is closed. 0: no such records are ready; call
 * tacho_perfdata_next() instead. */
size_t perfdata_take_batch(struct tacho_perfdata *pd, const uint8_t **out, size_t n);
/* Fills in *out for a record from such a batch. */
void perfdata_batch_record(const struct tacho_perfdata *pd, const uint8_t *at, struct tacho_record *out);
/* The offset of the event id in a sample; 0 while there is only one event. If samples have no id, the offset is larger
 * than any record. */
uint32_t perfdata_sample_id_offset(const struct tacho_perfdata *pd);

#endif
