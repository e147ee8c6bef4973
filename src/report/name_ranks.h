/*
 * What entries are sorted by, as numbers: names are ranked once, among those that are shown.
 */
#ifndef REPORT_NAME_RANKS_H
#define REPORT_NAME_RANKS_H

#include "report/report.h"

struct hist_ranks {
	struct hist *h;
	struct { uint32_t *v; size_t n, cap; } symbol;	/* per symbol id: place of its name */
	uint32_t *object;		/* per object id */
	uint32_t *of[HIST_KEYS_MAX];	/* per key: place of a group, or of a frame; NULL: numbers do */
	enum hist_column ranked;	/* the key at hand */
	bool by_frame;			/* it is ranked per frame */
};

/* h->order has what is shown. Notes the widths of names, too. 0 or -ENOMEM. */
int hist_ranks_init(struct hist_ranks *r, struct hist *h);
void hist_ranks_done(struct hist_ranks *r);
/* Whether the ranks of the key-th key of h->opts have 32 bits. */
bool hist_rank_is_short(const struct hist_ranks *r, size_t key);

/* Behind all ranks of names, in the order of addresses. Between those of users and of the kernel lies a
 * gap that no machine uses; those at its end stand a little further back than they should. */
static inline uint64_t hist_rank_of_address(uint64_t address)
{
	return address >> 63 ? address : address + (1ULL << 32);
}

/* What has no name comes last: by its address. */
static inline uint64_t hist_rank_of_frame(const struct hist_ranks *r, const struct tacho_profile_frame *f,
					  enum hist_column key)
{
	if (key == COL_DSO)
		return !f ? UINT32_MAX : f->code->object ? r->object[f->code->object] : UINT32_MAX - 1;
	if (!f)
		return UINT64_MAX;
	return f->known ? r->symbol.v[f->code->symbol] : hist_rank_of_address(f->offset);
}

/* The event that decides the order. */
static inline size_t hist_rank_event(const struct hist *h)
{
	return h->opts->group_sort < h->n_events ? h->opts->group_sort : 0;
}

/* The number that an entry with this frame has for the key-th key of h->opts; the least goes first. */
static inline uint64_t hist_rank_of(const struct hist_ranks *r, const struct hist_entry *e,
				    const struct tacho_profile_frame *f, size_t key)
{
	const struct hist *h = r->h;
	enum hist_column c = h->opts->keys[key];

	if (c < COL_FIRST_KEY)
		return ~hist_value(h, e, c, hist_rank_event(h));
	if (c >= COL_FIRST_OF_TEXTS)
		return e->frame == HIST_NONE ? UINT32_MAX : r->of[key][e->frame];
	if (c >= COL_FIRST_OF_FRAME)
		return hist_rank_of_frame(r, f, c);
	return r->of[key] ? r->of[key][e->group] : h->groups.v[e->group].v[key];
}

#endif
