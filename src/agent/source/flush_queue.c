/* A queue of copied batches. */
#include "agent/source/flush_queue.h"

#include <errno.h>

#include "base/vec.h"

int flush_queue_add(struct flush_queue *h, const struct point_batch *b)
{
	size_t bytes = sizeof(*b) + b->n_points * sizeof(*b->points);
	struct point_batch *copy = malloc(bytes), **place = copy ? vec_add(h) : NULL;

	if (!place) {
		free(copy);
		return -ENOMEM;
	}
	*copy = *b;
	copy->points = (struct point *)(copy + 1);
	memcpy(copy + 1, b->points, b->n_points * sizeof(*b->points));
	*place = copy;
	h->bytes += bytes;
	return 0;
}

void flush_queue_clear(struct flush_queue *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->v[i]);
	h->n = 0;
	h->bytes = 0;
}

void flush_queue_done(struct flush_queue *h)
{
	flush_queue_clear(h);
	vec_done(h);
}
