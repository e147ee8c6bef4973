/*
 * Batches that wait for their source's flush: read often, told seldom. Bounded: what exceeds the
 * bound is told earlier.
 */
#ifndef AGENT_SOURCE_FLUSH_QUEUE_H
#define AGENT_SOURCE_FLUSH_QUEUE_H

#include "agent/core/series.h"

struct held {
	struct batch **v;	/* each with its points behind it */
	size_t n, cap, bytes;
};

#define HELD_MAX_BYTES (4u << 20)

/* Copies the batch. -ENOMEM: nothing was kept. */
int held_add(struct held *h, const struct batch *b);
void held_clear(struct held *h);	/* frees the batches */
void held_done(struct held *h);

#endif
