/*
 * AUX areas: a second ring buffer of an event, which a tracing unit (Intel PT and BTS, Arm SPE and
 * CoreSight) fills directly. The kernel does not interpret its contents; PERF_RECORD_AUX records in the
 * event's normal ring say how far it was filled.
 *
 *	page 0 | data pages | ... aux pages		one file descriptor, two mappings
 *	         tail .. head    aux_tail .. aux_head	all four only ever grow
 *
 * The contents of an area are output as AUXTRACE records: a header with CPU, thread and position, followed
 * by the data. In streaming mode the kernel may overwrite data once it was output. In overwrite mode
 * (snapshots) the unit overwrites the area all the time, and aux_snapshot() outputs its current contents.
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
	uint64_t tail;				/* output up to here */
	bool overwrite;
	bool mapped;				/* mapped by aux_map() */
};

struct aux_output {		/* destination of AUXTRACE records, and their description of the area */
	uint32_t number;	/* index of the area */
	int32_t cpu, tid;
	struct buf *scratch;
	tacho_bytes_fn *fn;
	void *arg;		/* passed to fn */
};

/* Returns whether events of this PMU fill an AUX area. */
bool aux_is_pmu(const char *pmu);

/* Uses existing memory as an AUX area (for tests). */
void aux_over(struct aux *a, struct perf_event_mmap_page *page, const void *data, uint64_t size,
	      bool overwrite);
/* Maps `pages` (a power of two) after the ring that `page` controls. 0 or a negative errno. */
int aux_map(struct aux *a, int fd, struct perf_event_mmap_page *page, uint32_t pages,
	    bool overwrite);
void aux_unmap(struct aux *a);		/* may be called twice */

/* Outputs the data since the last call and releases it to the kernel. Both functions return the number of
 * bytes output, or the negative errno that out->fn returned. */
int64_t aux_drain(struct aux *a, const struct aux_output *out);
/* For an overwrite area whose event is stopped: outputs the newest `limit` bytes (0: all) that were not
 * part of an earlier snapshot. */
int64_t aux_snapshot(struct aux *a, const struct aux_output *out, uint64_t limit);

#endif
