#ifndef TACHO_BLOCKIO_H
#define TACHO_BLOCKIO_H

#include <tacho/kernel.h>

TACHO_BEGIN_DECLS

/*
 * Requests to block devices and how long they took, from a recording of block:block_rq_issue and block_rq_complete.
 *
 *	new -> row, row ... -> free
 */
struct tacho_blockio;

struct tacho_blockio_row {		/* the requests of one kind to one device */
	uint32_t device;		/* major << 20 | minor */
	char op;			/* R, W, D (discard), F (flush), or ? */
	uint64_t n, bytes;		/* completed */
	uint64_t n_unknown;		/* completed, but their start was not recorded */
	uint64_t sum_ns, min_ns, max_ns;	/* from issue to completion; min_ns UINT64_MAX: none */
};

/* Reads a recording that was opened with `ordered`; from_ns and to_ns limit the time, to_ns 0: no limit. Returns 0; -ENOENT if it
 * has no such events; -ENOMEM; or the errno of the damage of a file, in which case *out has what comes before it. */
TACHO_API int tacho_blockio_new(struct tacho_blockio **out, struct tacho_perfdata *pd, uint64_t from_ns, uint64_t to_ns,
				struct tacho_error *e);
TACHO_API void tacho_blockio_free(struct tacho_blockio *b);	/* NULL is fine */
TACHO_API const struct tacho_kernel_totals *tacho_blockio_totals(const struct tacho_blockio *b);
/* By device and kind. NULL: i is too large. */
TACHO_API const struct tacho_blockio_row *tacho_blockio_row(const struct tacho_blockio *b, size_t i);
/* The latency that `percent` of a row's requests do not exceed, at most 1.6 % too large. */
TACHO_API uint64_t tacho_blockio_percentile(const struct tacho_blockio *b, size_t i, double percent);

TACHO_END_DECLS
#endif
