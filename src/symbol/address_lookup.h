/*
 * For who has many addresses: where they lie, one after the other without a call for each, and what
 * will be looked up, announced before the first look. Tables of symbols are large, and samples jump
 * about in them.
 */
#ifndef SYMBOL_ADDRESS_LOOKUP_H
#define SYMBOL_ADDRESS_LOOKUP_H

#include "symbol/code_location.h"

struct spot_walk {
	uint32_t kernel;		/* not 0: the object of all, at offsets that are the addresses */
	struct spots_seen *seen;
	const struct process *proc;	/* NULL: nothing is known of it, and its addresses lie nowhere */
	uint64_t version;
};

/* Over addresses of one process and one known space. Holds until the symbols learn something. 0 or -ENOMEM. */
int symbols_walk(struct tacho_symbols *s, uint32_t pid, enum tacho_space space, struct spot_walk *out);

/* Whether the version decides alone where addresses lie: not while a program takes another one's place. */
static inline bool symbols_walk_lasts(const struct spot_walk *w)
{
	return !w->proc || !w->proc->before;
}
uint64_t symbols_kernel_version(const struct tacho_symbols *s);	/* the same for the kernel's */

/* Where an address lies, which is not the kernel's: of three addresses two lie where the one before does, so
 * who walks keeps that at hand. */
static inline struct interval spot_walk_at(const struct spot_walk *w, uint64_t ip)
{
	const struct spot_memo *m;

	if (!w->proc)
		return (struct interval){ .last = UINT64_MAX };
	m = spot_memo(w->seen, w->version, ip);
	if (spot_memo_has(m, w->version, ip))
		return m->where;
	m = spot_search(w->seen, w->proc, ip);
	if (m->version == w->version)
		return m->where;
	/* Of this address it is true, of the next one perhaps not. */
	return (struct interval){ ip, ip, m->where.bias, m->where.object };
}

void symbols_prefetch(const struct tacho_symbols *s, enum tacho_space space, const struct tacho_spot *spot);

#endif
