/*
 * Batches that wait for their source's flush: read often, told seldom. Bounded: what exceeds the
 * bound is told earlier.
 */
#ifndef AGENT_SOURCE_FLUSH_QUEUE_H
#define AGENT_SOURCE_FLUSH_QUEUE_H

#include "agent/core/series.h"

struct flush_queue {
	struct point_batch **v;	/* each with its points behind it */
	size_t n, cap, bytes;
};

#define HELD_MAX_BYTES (4u << 20)

/* Copies the batch. -ENOMEM: nothing was kept. */
int held_add(struct flush_queue *h, const struct point_batch *b);
void held_clear(struct flush_queue *h);	/* frees the batches */
void held_done(struct flush_queue *h);

#endif
