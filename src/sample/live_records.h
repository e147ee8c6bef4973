/*
 * The records that tacho_sampler_next() has read from the rings and not returned yet.
 */
#ifndef SAMPLE_LIVE_RECORDS_H
#define SAMPLE_LIVE_RECORDS_H

struct live_records;

void live_records_free(struct live_records *live);	/* NULL is fine */

#endif
