/*
 * What is mapped where in one address space: sorted intervals that do not overlap, because a
 * later mapping cuts what it covers out of the earlier ones. A fork shares its parent's maps
 * until one of the two changes. `version` is new after every change, and no two sets of maps
 * ever have the same: an address looked up under a version stays right.
 */
#ifndef SYMBOL_MAPS_H
#define SYMBOL_MAPS_H

#include "base/defs.h"

#define MAPS_MOST 65536		/* intervals of one process; the kernel's default limit is 65530 */

struct interval {
	uint64_t start, last;		/* the last address in it: a map may end at 2^64 */
	uint64_t bias;			/* address - bias: offset in the object */
	uint32_t object;
};

#define INTERVAL_EMPTY ((struct interval){ .start = 1 })

/* Without a branch between the two: where addresses go next nobody can foretell. */
static inline bool interval_has(const struct interval *in, uint64_t address)
{
	return (address >= in->start) & (address <= in->last);
}

struct maps {
	struct interval *v;
	size_t n, cap;
	uint64_t version;
	uint32_t refs;
};

struct maps *maps_new(void);			/* one reference; NULL without memory */
struct maps *maps_ref(struct maps *m);
void maps_unref(struct maps *m);		/* NULL is fine */

/* Both replace *m by a copy when it is shared. 0, -ENOMEM, -E2BIG. */
int maps_insert(struct maps **m, struct interval add);
int maps_remove(struct maps **m, uint64_t start, uint64_t last);
/* Adds only where nothing is yet. */
int maps_insert_below(struct maps **m, struct interval add);

const struct interval *maps_find(const struct maps *m, uint64_t address);
/* The interval the address lies in, or the whole gap between two of them: then its object is 0. */
struct interval maps_around(const struct maps *m, uint64_t address);

#endif
