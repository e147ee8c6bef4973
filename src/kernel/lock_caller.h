/*
 * Who waits for a lock: the frames of a call chain after the functions that implement locks.
 */
#ifndef KERNEL_LOCK_CALLER_H
#define KERNEL_LOCK_CALLER_H

#include "base/int_map.h"

#include <tacho/lock.h>

struct lock_caller {
	struct tacho_symbols *symbols;	/* NULL: all chains are empty */
	uint32_t skip, max;
	struct int_map lock_functions;	/* symbol -> whether it implements locks */
	const char *const *functions;	/* parts of names that one of the frames must have */
	size_t n_functions;
	uint64_t frames[TACHO_LOCK_FRAMES_MAX];	/* of the last chain */
	size_t n_frames;
	bool is_selected;		/* by `functions` */
};

void lock_caller_done(struct lock_caller *c);
/* Finds the frames of a chain. 0 or -ENOMEM. */
int lock_caller_find(struct lock_caller *c, const struct tacho_words *chain);

#endif
