/*
 * Latency of block devices. A request is known by its device and first sector from its issue to its completion. One that
 * completes in parts counts when its first part does.
 */
#include <tacho/blockio.h>

#include <errno.h>

#include "base/histogram.h"
#include "kernel/pass.h"

#define SECTOR 512
#define ROWS_MAX 4096			/* a damaged file must not have a histogram for each request */

struct request_key {			/* without padding, for the hash map */
	uint64_t sector, device;
};

struct block_row {
	struct tacho_blockio_row pub;
	struct histogram latency;
};

struct tacho_blockio {
	struct kernel_pass pass;
	uint64_t from_ns, to_ns;
	struct arena arena;
	struct map issued;		/* request -> time of its issue; 0: completed */
	struct int_map row_index;
	struct { struct block_row *v; size_t n, cap; } rows;
};

static bool is_in_time(const struct tacho_blockio *b, const struct kernel_sample *s)
{
	return s->time >= b->from_ns && (!b->to_ns || s->time <= b->to_ns);
}

enum { RQ_DEV, RQ_SECTOR, RQ_NR_SECTOR, RQ_RWBS };

static struct request_key key_of(const struct kernel_sample *s)
{
	return (struct request_key){ .sector = kernel_number(s, RQ_SECTOR), .device = (uint32_t)kernel_number(s, RQ_DEV) };
}

static int handle_issue(void *view, const struct kernel_sample *s)
{
	struct tacho_blockio *b = view;
	const struct request_key key = key_of(s);
	const struct str bytes = str_n((const char *)&key, sizeof(key));
	const char *copy;

	if (!is_in_time(b, s))
		return 0;
	if (map_get(&b->issued, bytes))
		return map_put(&b->issued, bytes, s->time);	/* the key that is there stays */
	copy = arena_str(&b->arena, bytes);
	return copy ? map_put(&b->issued, str_n(copy, sizeof(key)), s->time) : -ENOMEM;
}

/* The kind is one of the first letters of "WS", "RA", "FF", "DS". */
static char op_of(struct str rwbs)
{
	for (size_t i = 0; i < rwbs.n; i++)
		if (rwbs.s[i] == 'R' || rwbs.s[i] == 'W' || rwbs.s[i] == 'D')
			return rwbs.s[i];
	return rwbs.n && rwbs.s[0] == 'F' ? 'F' : '?';
}

static struct block_row *row_of(struct tacho_blockio *b, uint32_t device, char op)
{
	uint64_t key = (uint64_t)device << 8 | (uint8_t)op;
	struct block_row *row;
	uint32_t i;

	if (int_map_get(&b->row_index, key, &i))
		return &b->rows.v[i];
	if (b->rows.n == ROWS_MAX)
		return &b->rows.v[0];
	row = vec_add(&b->rows);
	if (!row || int_map_put(&b->row_index, key, (uint32_t)(b->rows.n - 1)) < 0)
		return NULL;
	row->pub = (struct tacho_blockio_row){ .device = device, .op = op, .min_ns = UINT64_MAX };
	return row;
}

static int handle_complete(void *view, const struct kernel_sample *s)
{
	struct tacho_blockio *b = view;
	const struct request_key key = key_of(s);
	const struct str bytes = str_n((const char *)&key, sizeof(key));
	const uint64_t *issued = map_get(&b->issued, bytes);
	struct block_row *row;
	uint64_t ns;

	if (!is_in_time(b, s))
		return 0;
	row = row_of(b, (uint32_t)key.device, op_of(kernel_text(s, RQ_RWBS)));
	if (!row)
		return -ENOMEM;
	if (!issued || !*issued) {
		row->pub.n_unknown++;
		return 0;
	}
	ns = kernel_elapsed(*issued, s->time);
	row->pub.n++;
	row->pub.bytes += (uint32_t)kernel_number(s, RQ_NR_SECTOR) * (uint64_t)SECTOR;
	row->pub.sum_ns += ns;
	row->pub.min_ns = min_of(row->pub.min_ns, ns);
	row->pub.max_ns = max_of(row->pub.max_ns, ns);
	if (histogram_add(&row->latency, ns) < 0)
		return -ENOMEM;
	return map_put(&b->issued, bytes, 0);
}

#define RQ_FIELDS { "dev", "sector", "nr_sector", "rwbs" }
static const struct kernel_handler handlers[] = {
	{ "block:block_rq_issue", handle_issue, RQ_FIELDS },
	{ "block:block_rq_complete", handle_complete, RQ_FIELDS },
};
static const struct kernel_view view = { .handlers = handlers, .n_handlers = countof(handlers) };

static int by_device(const void *a, const void *b)
{
	const struct tacho_blockio_row *x = &((const struct block_row *)a)->pub, *y = &((const struct block_row *)b)->pub;

	return x->device != y->device ? (x->device < y->device ? -1 : 1) : x->op - y->op;
}

int tacho_blockio_new(struct tacho_blockio **out, struct tacho_perfdata *pd, uint64_t from_ns, uint64_t to_ns, struct tacho_error *e)
{
	struct tacho_blockio *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return error_nomem(e);
	b->from_ns = from_ns;
	b->to_ns = to_ns;
	if (kernel_pass_init(&b->pass, pd, &view, b) < 0) {
		tacho_blockio_free(b);
		return error_nomem(e);
	}
	err = kernel_pass_run(&b->pass, e);
	if (err == -ENOMEM || err == -ENOENT) {
		tacho_blockio_free(b);
		return err;
	}
	if (b->rows.n)
		qsort(b->rows.v, b->rows.n, sizeof(*b->rows.v), by_device);
	*out = b;
	return err;
}

void tacho_blockio_free(struct tacho_blockio *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->rows.n; i++)
		histogram_done(&b->rows.v[i].latency);
	vec_done(&b->rows);
	map_done(&b->issued);
	int_map_done(&b->row_index);
	arena_done(&b->arena);
	kernel_pass_done(&b->pass);
	free(b);
}

const struct tacho_kernel_totals *tacho_blockio_totals(const struct tacho_blockio *b)
{
	return &b->pass.totals;
}

const struct tacho_blockio_row *tacho_blockio_row(const struct tacho_blockio *b, size_t i)
{
	return i < b->rows.n ? &b->rows.v[i].pub : NULL;
}

uint64_t tacho_blockio_percentile(const struct tacho_blockio *b, size_t i, double percent)
{
	return i < b->rows.n ? histogram_percentile(&b->rows.v[i].latency, percent) : 0;
}
