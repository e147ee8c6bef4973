/*
 * For who has many addresses: where they lie, one after the other without a call for each, and what
 * will be looked up, announced before the first look. Tables of symbols are large, and samples jump
 * about in them.
 */
#ifndef SYMBOL_WALK_H
#define SYMBOL_WALK_H

#include "symbol/spot.h"

struct spot_walk {
	uint32_t kernel;		/* not 0: the object of all, at offsets that are the addresses */
	struct spots_seen *seen;
	const struct process *proc;
	const struct spot_memo *at;	/* where nothing is known of the process, all of it, with nothing there */
	uint64_t version;
};

/* Over addresses of one process and one known space. Holds until the symbols learn something. 0 or -ENOMEM. */
int symbols_walk(struct tacho_symbols *s, uint32_t pid, enum tacho_space space, struct spot_walk *out);

/* Not of the kernel's. Of three addresses two lie where the one before does. */
static inline struct tacho_spot spot_walk_next(struct spot_walk *w, uint64_t ip)
{
	if (!spot_memo_has(w->at, w->version, ip)) {
		w->at = spot_memo(w->seen, w->version, ip);
		if (!spot_memo_has(w->at, w->version, ip))
			w->at = spot_search(w->seen, w->proc, ip);
	}
	return (struct tacho_spot){ w->at->where.object ? ip - w->at->where.bias : 0, w->at->where.object };
}

void symbols_prefetch(const struct tacho_symbols *s, enum tacho_space space, const struct tacho_spot *spot);

#endif
