/*
 * Batches that wait for their source's flush interval, for sources that are read more often than
 * they are exported. A queue that exceeds its limit is flushed early.
 */
#ifndef AGENT_SOURCE_FLUSH_QUEUE_H
#define AGENT_SOURCE_FLUSH_QUEUE_H

#include "agent/core/series.h"

struct flush_queue {
	struct point_batch **v;	/* each is one allocation with its points */
	size_t n, cap, bytes;
};

#define FLUSH_QUEUE_MAX_BYTES (4u << 20)

/* Copies the batch. -ENOMEM: it was not added. */
int flush_queue_add(struct flush_queue *h, const struct point_batch *b);
void flush_queue_clear(struct flush_queue *h);	/* frees the batches */
void flush_queue_done(struct flush_queue *h);

#endif
