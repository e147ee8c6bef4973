/*
 * Sort keys as numbers: each name or other text gets a rank among the texts that are shown.
 */
#ifndef REPORT_NAME_RANKS_H
#define REPORT_NAME_RANKS_H

#include "report/columns.h"

struct ranks {
	struct report *r;
	struct { uint32_t *v; size_t n, cap; } symbol;	/* per symbol id: the rank of its name */
	uint32_t *object;		/* per object id: the rank of its name */
	uint32_t *of_key[TACHO_REPORT_KEYS_MAX];	/* per key: ranks of groups, or of frames for a frame key; NULL:
						 * values are sorted as they are, or by symbol or object */
};

/* r->order has the entries that are shown. Also notes the widths of names. 0 or -ENOMEM. */
int ranks_init(struct ranks *k, struct report *r);
void ranks_done(struct ranks *k);

/* Whether the numbers of a key have 32 bits. */
static inline bool rank_is_short(const struct ranks *k, size_t key)
{
	return k->of_key[key] || key_at(k->r, key)->pub.id == TACHO_COLUMN_DSO;
}

/* Addresses sort after all ranks of names. Between the addresses of users and of the kernel is a gap that no
 * machine uses; the addresses at its lower end sort slightly later than they should. */
static inline uint64_t rank_of_address(uint64_t address)
{
	return address >> 63 ? address : address + (1ULL << 32);
}

/* Frames without an object are last. */
static inline uint64_t rank_of_object(const struct ranks *k, const struct tacho_profile_frame *f)
{
	return !f ? UINT32_MAX : f->code->object ? k->object[f->code->object] : UINT32_MAX - 1;
}

/* Frames without a symbol are last: by address. */
static inline uint64_t rank_of_symbol(const struct ranks *k, const struct tacho_profile_frame *f)
{
	if (!f)
		return UINT64_MAX;
	return f->known ? k->symbol.v[f->code->symbol] : rank_of_address(f->offset);
}

/* The event that decides the order. */
static inline size_t deciding_event(const struct report *r)
{
	return r->opts.group_sort < r->n_events ? r->opts.group_sort : 0;
}

/* The number of an entry with this frame for a key, given by its index in the options; the least is first. */
static inline uint64_t rank_of(const struct ranks *k, const struct tacho_report_entry *e,
			       const struct tacho_profile_frame *f, size_t key)
{
	const struct report *r = k->r;
	const struct column *c = key_at(r, key);

	if (is_value(c))
		return ~report_value(r, e, c, deciding_event(r));
	if (!is_frame_key(c))
		return k->of_key[key] ? k->of_key[key][e->group] : r->groups.v[e->group].values[key];
	if (c->pub.id == TACHO_COLUMN_DSO)
		return rank_of_object(k, f);
	if (c->pub.id == TACHO_COLUMN_SYMBOL)
		return rank_of_symbol(k, f);
	return e->frame == NONE ? UINT32_MAX : k->of_key[key][e->frame];
}

#endif
