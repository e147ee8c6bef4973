#ifndef TACHO_KERNEL_H
#define TACHO_KERNEL_H

#include <tacho/perfdata.h>

TACHO_BEGIN_DECLS

/*
 * Views of the kernel: analyses of the tracepoints in a recording. What all of them share.
 */
struct tacho_kernel_totals {
	size_t size;
	uint64_t samples;		/* of all events, as read */
	uint64_t delivered;		/* of the events that the view uses */
	uint64_t damaged;		/* samples and records that cannot be decoded */
	uint64_t lost, lost_chunks;	/* events lost while recording, and how often */
	uint64_t first_ns, last_ns;	/* times of the delivered samples; 0: there are none */
};

TACHO_END_DECLS
#endif
