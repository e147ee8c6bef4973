/*
 * AUX areas: a second ring beside that of an event's records, which a tracing unit (Intel PT and
 * BTS, Arm SPE and CoreSight) fills by itself. What lies in it has no framing that the kernel
 * knows of; AUX records in the first ring tell how far it was filled.
 *
 *	page 0 | data pages | ... aux pages		one descriptor, two maps
 *	         tail .. head    aux_tail .. aux_head	all four only ever grow
 *
 * It is handed out as AUXTRACE records: a header that says whose and from where, and the bytes
 * behind it. Streaming, what was handed out may be overwritten. A snapshot leaves the area to be
 * overwritten all the time, and takes what is there when somebody asks.
 */
#ifndef SAMPLE_AUX_H
#define SAMPLE_AUX_H

#include "base/buf.h"
#include "record/perf_abi.h"

#include <tacho/sampler.h>

struct aux {
	struct perf_event_mmap_page *page;	/* NULL: no area */
	const uint8_t *data;
	uint64_t size;				/* a power of two */
	uint64_t tail;				/* handed out up to here */
	bool overwrite;
	bool mapped;				/* by aux_map() */
};

struct aux_place {		/* whose it is, for the record */
	uint32_t number;	/* of the area */
	int32_t cpu, tid;
};

/* Whether events of that PMU fill an AUX area. */
bool aux_is_pmu(const char *pmu);

/* A view over memory that already lies there. */
void aux_over(struct aux *a, struct perf_event_mmap_page *page, const void *data, uint64_t size,
	      bool overwrite);
/* Maps `pages` (a power of two) behind the ring that `page` controls. 0 or a negative errno. */
int aux_map(struct aux *a, int fd, struct perf_event_mmap_page *page, uint32_t pages,
	    bool overwrite);
void aux_unmap(struct aux *a);		/* twice is fine */

/* Hands out what has come since the last time and lets it be overwritten. Both return how many
 * bytes were handed out, or what `fn` returned; `piece` is scratch. */
int64_t aux_drain(struct aux *a, const struct aux_place *at, struct buf *piece, tacho_bytes_fn *fn,
		  void *arg);
/* Of an overwrite area whose event is stopped: the newest `limit` bytes (0: all there are) that
 * have not been in an earlier snapshot. */
int64_t aux_snapshot(struct aux *a, const struct aux_place *at, uint64_t limit, struct buf *piece,
		     tacho_bytes_fn *fn, void *arg);

#endif
