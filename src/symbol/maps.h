/*
 * The mappings of one address space: sorted intervals that do not overlap, because a new mapping
 * replaces whatever it covers. A forked process shares its parent's maps until one of them changes
 * (copy on write). Every change gives a new `version`, unique among all maps, so a lookup cached under
 * a version never becomes wrong.
 */
#ifndef SYMBOL_MAPS_H
#define SYMBOL_MAPS_H

#include "base/defs.h"

#define MAPS_JIT_MOST (4u << 20)	/* functions of JIT compilers per process */
#define MAPS_MOST 65536		/* intervals per process; default vm.max_map_count is 65530 */

struct interval {
	uint64_t start, last;		/* inclusive: a mapping may end at 2^64 */
	uint64_t bias;			/* address - bias = offset in the object */
	uint32_t object;
};

#define INTERVAL_EMPTY ((struct interval){ .start = 1 })

/* Branchless: the outcome is unpredictable. */
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

/* These replace *m with a copy when it is shared. Return 0, -ENOMEM, -E2BIG. */
int maps_insert(struct maps **m, struct interval add);
int maps_remove(struct maps **m, uint64_t start, uint64_t last);
/* The same for functions in maps of their own, with a higher limit. */
int maps_insert_function(struct maps **m, struct interval add);
/* Adds many intervals at once, in any order; where they overlap, those that are in *m already or come first stay. */
int maps_add_all(struct maps **m, const struct interval *add, size_t n);
int maps_touch(struct maps **m);		/* gives *m a new version. 0, -ENOMEM */
/* Adds only the parts that are not mapped yet. */
int maps_insert_below(struct maps **m, struct interval add);

const struct interval *maps_find(const struct maps *m, uint64_t address);
/* The interval that contains the address, or the gap around it, with object 0. */
struct interval maps_around(const struct maps *m, uint64_t address);

#endif
