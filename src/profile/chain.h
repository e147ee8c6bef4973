/*
 * A sample's raw chain, taken apart. The words lie leaf first, in runs that markers put into a space:
 *
 *	KERNEL k0 k1 k2 USER u0 u1 u2		k0 is the leaf, u2 the outermost caller
 */
#ifndef PROFILE_CHAIN_H
#define PROFILE_CHAIN_H

#include "record/callchain_markers.h"

#include <tacho/profile.h>
#include <tacho/record.h>

#define WORDS_MAX 8192		/* a record is below 64 KiB */
#define RUNS_MAX 16		/* the kernel writes at most three */

struct run {
	const uint64_t *v;
	size_t n;
	enum tacho_space space;		/* unknown where no marker and not the sample told */
};

struct chain {
	struct run runs[RUNS_MAX];
	size_t n_runs;
};

/* Points into the sample: at most WORDS_MAX words of its chain, and the sampled address where that does not
 * have it. `space` is the sample's. */
void chain_make(struct chain *c, const struct tacho_profile_opts *o, const struct tacho_sample *sample,
		enum tacho_space space);

/* Just the words, of which `space` is where no marker stands before. */
void chain_split(struct chain *c, struct tacho_words w, enum tacho_space space);

#endif
