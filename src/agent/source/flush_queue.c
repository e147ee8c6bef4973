/* Batches that wait: see the header. */
#include "agent/source/flush_queue.h"

#include <errno.h>

#include "base/vec.h"

int held_add(struct held *h, const struct batch *b)
{
	size_t bytes = sizeof(*b) + b->n_points * sizeof(*b->points);
	struct batch *copy = malloc(bytes), **place = copy ? vec_add(h) : NULL;

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

void held_clear(struct held *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->v[i]);
	h->n = 0;
	h->bytes = 0;
}

void held_done(struct held *h)
{
	held_clear(h);
	vec_done(h);
}
