/*
 * A sample's call chain as the kernel wrote it: leaf first, in runs of addresses; a marker before each run
 * gives its space.
 *
 *	KERNEL k0 k1 k2 USER u0 u1 u2		k0 is the leaf, u2 the outermost caller
 */
#ifndef PROFILE_CHAIN_H
#define PROFILE_CHAIN_H

#include "record/callchain_markers.h"

#include <tacho/profile.h>
#include <tacho/record.h>

#define MAX_CHAIN_ENTRIES 8192	/* a record is smaller than 64 KiB */
#define MAX_CHAIN_RUNS 16	/* the kernel writes at most three */

struct chain_run {
	const uint64_t *v;
	size_t n;
	enum tacho_space space;		/* unknown if neither a marker nor the sample gives it */
};

struct chain {
	struct chain_run runs[MAX_CHAIN_RUNS];
	size_t n_runs;
};

/* Sets *c to the sample's chain, cut according to the options. The sampled address is added as leaf if the
 * chain does not begin with it. Addresses after MAX_CHAIN_ENTRIES are ignored. `space` is the space of the
 * sampled address. The chain points into the sample. */
void chain_make(struct chain *c, const struct tacho_profile_opts *o, const struct tacho_sample *sample,
		enum tacho_space space);

/* Splits a chain at its markers; `space` is that of addresses before the first marker. */
void chain_split(struct chain *c, struct tacho_words w, enum tacho_space space);

#endif
