/*
 * The order where callers stand above what they call, if both have all of a thread's samples: depths
 * count within a thread only. What is equal up to there is one block for the entries of all other
 * threads, and hist_merge() puts these together.
 */
#include "report/sort_by_key.h"

#include <errno.h>

#include "report/distinct_values.h"

#define FEW 256			/* entries whose kinds are not worth counting */
#define CHUNK 64		/* entries whose numbers are looked up together */
#define MET_MOST 16		/* kinds that an entry meets on the way to its own, on average */

/* Depths count within a thread only: these are the owners of hist_merge(). */
struct callers {
	struct hist_ranks *r;
	struct hist_merge c;
	size_t n_above, n_row;		/* keys up to the depth; up to the last one of a row */
	uint32_t *owner_of;		/* per thread: + 1 */
	size_t n_owners;
	uint32_t *sorted, *block_of;
	uint32_t *frames;		/* per place */
	uint64_t *order_again;		/* as that of struct hist */
	uint32_t *slices;		/* per owner: where its places end */
	bool single;			/* each entry is a block */
	struct hist_kinds kinds;	/* of the slice at hand */
	uint32_t *spare;		/* room for all, twice */
	uint32_t base, owner;		/* of the slice at hand */
	uint32_t rank;			/* the next */
	bool tie;			/* different owners have the same */
};

static void callers_done(struct callers *c)
{
	vec_done(&c->c.runs);
	vec_done(&c->c.blocks);
	free(c->owner_of);
	free(c->sorted);
	free(c->slices);
	free(c->block_of);
	free(c->frames);
	free(c->order_again);
	free(c->spare);
	hist_kinds_done(&c->kinds);
}

static struct hist_run *run_add(struct callers *c, uint32_t group)
{
	uint32_t *owner = &c->owner_of[c->r->h->groups.v[group].thread];
	struct hist_run *run = c->c.runs.n ? &c->c.runs.v[c->c.runs.n - 1] : NULL;

	if (!*owner)
		*owner = (uint32_t)++c->n_owners;
	if (run && run->owner == *owner - 1)
		return run;
	run = vec_next(&c->c.runs);
	if (run)
		run->owner = *owner - 1;
	return run;
}

/* Entries lie group by group, in ascending order: those of one end where the next one's are found. */
static uint32_t group_end(const struct hist *h, uint32_t from, uint32_t group)
{
	uint32_t end = (uint32_t)h->n_order;

	while (from < end) {
		uint32_t half = from + (end - from) / 2;

		if (h->entries.v[h->order[half]].group <= group)
			from = half + 1;
		else
			end = half;
	}
	return end;
}

static int find_runs(struct callers *c)
{
	const struct hist *h = c->r->h;

	for (uint32_t i = 0; i < h->n_order;) {
		uint32_t group = h->entries.v[h->order[i]].group;
		struct hist_run *run = run_add(c, group);

		if (!run)
			return -ENOMEM;
		run->end = i = group_end(h, i, group);
	}
	return 0;
}

/* All entries of an owner come together, in the order they have. */
static int make_slices(struct callers *c)
{
	const struct hist *h = c->r->h;
	const struct hist_merge *v = &c->c;
	uint32_t *next = c->slices = calloc(c->n_owners + 1, sizeof(*c->slices));
	uint32_t from = 0, sum = 0;

	if (!next)
		return -ENOMEM;
	for (size_t i = 0; i < v->runs.n; from = v->runs.v[i++].end)
		next[v->runs.v[i].owner] += v->runs.v[i].end - from;
	for (size_t i = 0; i < c->n_owners; i++) {
		uint32_t n = next[i];

		next[i] = sum;
		sum += n;
	}
	from = 0;
	for (size_t i = 0; i < v->runs.n; i++) {
		uint32_t n = v->runs.v[i].end - from, *to = &next[v->runs.v[i].owner];

		memcpy(c->sorted + *to, h->order + from, n * sizeof(*c->sorted));
		*to += n;
		from += n;
	}
	return 0;
}

static int block_add(struct callers *c, uint32_t from, uint32_t end)
{
	struct hist_block *b = vec_next(&c->c.blocks);

	if (!b)
		return -ENOMEM;
	*b = (struct hist_block){ .from = from, .end = end, .owner = c->owner };
	for (uint32_t p = from; p < end; p++)
		c->block_of[p] = (uint32_t)c->c.blocks.n - 1;
	return 0;
}

/* What is equal up to the last key of a row is a block. */
static int block_take(struct hist_refine *f, size_t from, size_t n)
{
	struct callers *c = f->arg;
	uint32_t at = c->base + (uint32_t)from;

	return block_add(c, at, at + (uint32_t)n);
}

/* Where others do not see all of a block alike. */
static int blocks_split(struct callers *c)
{
	uint32_t p = 0;

	c->single = true;
	c->c.blocks.n = 0;
	for (c->owner = 0; c->owner < c->n_owners; c->owner++)
		for (; p < c->slices[c->owner]; p++)
			if (block_add(c, p, p + 1) < 0)
				return -ENOMEM;
	return 0;
}

static bool is_one_group(const struct hist *h, const uint32_t *entries, size_t n)
{
	return n && h->entries.v[entries[0]].group == h->entries.v[entries[n - 1]].group;
}

/* One number of each of some entries. Of values there are many. */
static void numbers_fill(const struct hist_refine *f, const uint32_t *entries, size_t n, size_t column,
			 size_t at, uint64_t (*out)[HIST_KIND_NUMBERS])
{
	const struct hist *h = f->r->h;
	const struct hist_entry *v = h->entries.v;
	const uint64_t *first;
	size_t stride;

	if (column >= HIST_KEYS_MAX || h->opts->keys[column] >= COL_FIRST_KEY) {
		for (size_t i = 0; i < n; i++)
			out[i][at] = hist_refine_number(f, &v[entries[i]], NULL, column);
		return;
	}
	first = hist_values(h, h->opts->keys[column], hist_rank_event(h), &stride);
	for (size_t i = 0; i < n; i++)
		out[i][at] = ~first[entries[i] * stride];
}

/* The columns to find kinds by. False where these are too many, or of frames. */
static bool kind_columns(const struct hist_refine *f, size_t *columns, size_t *n)
{
	for (size_t at = hist_refine_next(f, 0); at < f->n_columns; at = hist_refine_next(f, at + 1)) {
		if (*n == HIST_KIND_NUMBERS || hist_refine_is_key(f, at, COL_FIRST_OF_FRAME, COL_COUNT))
			return false;
		columns[(*n)++] = f->columns[at];
	}
	return true;
}

/* Few for so many entries, and found soon. */
static bool kinds_help(const struct hist_kinds *k, size_t n)
{
	return k->n <= n / 2 && k->n_met / MET_MOST <= n;
}

/* The kinds of a slice's entries, per entry in block_of. False where these do not help. */
static bool find_kinds(struct callers *c, const struct hist_refine *f, size_t n)
{
	size_t columns[HIST_KIND_NUMBERS], n_columns = 0;
	const uint32_t *entries = c->sorted + c->base;
	uint32_t *kind_of = c->block_of + c->base;
	uint64_t numbers[CHUNK][HIST_KIND_NUMBERS] = { 0 };
	size_t stride;
	const uint64_t *self = hist_values(c->r->h, COL_OVERHEAD, 0, &stride);

	if (!kind_columns(f, columns, &n_columns) || hist_kinds_clear(&c->kinds, n) < 0)
		return false;
	for (size_t at = 0; at < n && kinds_help(&c->kinds, n); at += CHUNK) {
		size_t some = min_of(n - at, (size_t)CHUNK);

		for (size_t k = 0; k < n_columns; k++)
			numbers_fill(f, entries + at, some, columns[k], k, numbers);
		for (size_t i = 0; i < some; i++) {
			int64_t kind = hist_kinds_add(&c->kinds, numbers[i], entries[at + i]);

			if (kind < 0)
				return false;
			kind_of[at + i] = (uint32_t)kind;
			hist_kind_note(&c->kinds.v[kind], self[entries[at + i] * stride]);
		}
	}
	return kinds_help(&c->kinds, n);
}

/* The kinds are sorted, and their entries dealt out. */
static int sort_by_kinds(struct callers *c, struct hist_refine *f, size_t n)
{
	struct hist_kind *kinds = c->kinds.v;
	const struct hist_entry *entries = c->r->h->entries.v;
	uint32_t *items = c->sorted + c->base, *frames = c->frames + c->base, at = 0;
	int err = hist_refine_room(f, c->kinds.n);

	for (uint32_t i = 0; i < c->kinds.n && err == 0; i++) {
		c->spare[i] = kinds[i].first;
		f->v[i].item = i;
	}
	f->entry_of = c->spare;
	f->equal = NULL;
	if (err == 0)
		err = hist_refine(f, 0, c->kinds.n, 0);
	f->entry_of = NULL;
	f->equal = block_take;
	if (err < 0)
		return err;
	for (size_t i = 0; i < c->kinds.n; i++) {
		kinds[f->v[i].item].first = at;
		at += kinds[f->v[i].item].n;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t to = kinds[c->block_of[c->base + i]].first++;

		c->spare[to] = items[i];
		frames[to] = entries[items[i]].frame;
	}
	memcpy(items, c->spare, n * sizeof(*items));
	for (size_t i = 0; i < c->kinds.n && err == 0; i++) {
		const struct hist_kind *k = &kinds[f->v[i].item];

		err = block_take(f, k->first - k->n, k->n);
		if (err == 0)
			c->c.blocks.v[c->c.blocks.n - 1].even = f->one_group && !k->mixed;
	}
	return err;
}

static int sort_by_refining(struct callers *c, struct hist_refine *f, size_t n)
{
	uint32_t *items = c->sorted + c->base;
	int err = hist_refine_list(f, items, n);

	for (size_t i = 0; i < n; i++)
		c->frames[c->base + i] = c->r->h->entries.v[items[i]].frame;
	return err;
}

/* By what is left, with their frames. */
static int sort_block(struct callers *c, struct hist_refine *rest, const struct hist_block *b)
{
	uint32_t *items = c->sorted + b->from, *frames = c->frames + b->from, n = b->end - b->from;
	uint32_t *old_items = c->spare, *old_frames = c->spare + n;
	int err;

	if (n < 2)
		return 0;
	memcpy(old_items, items, n * sizeof(*items));
	memcpy(old_frames, frames, n * sizeof(*frames));
	for (uint32_t i = 0; i < n; i++)
		rest->v[i].item = i;
	rest->entry_of = old_items;
	rest->frame_of = old_frames;
	err = hist_refine(rest, 0, n, 0);
	for (uint32_t i = 0; i < n; i++) {
		items[i] = old_items[rest->v[i].item];
		frames[i] = old_frames[rest->v[i].item];
	}
	return err;
}

static int sort_slice(struct callers *c, struct hist_refine *f, struct hist_refine *rest)
{
	size_t n = c->slices[c->owner] - c->base, first = c->c.blocks.n, most = 0;
	uint32_t *items = c->sorted + c->base;
	int err;

	rest->one_group = f->one_group = is_one_group(c->r->h, items, n);
	err = n > FEW && find_kinds(c, f, n) ? sort_by_kinds(c, f, n) : sort_by_refining(c, f, n);
	for (size_t i = first; i < c->c.blocks.n; i++)
		most = max_of(most, (size_t)(c->c.blocks.v[i].end - c->c.blocks.v[i].from));
	if (err == 0)
		err = hist_refine_room(rest, most);
	for (size_t i = first; i < c->c.blocks.n && err == 0; i++)
		err = sort_block(c, rest, &c->c.blocks.v[i]);
	return err;
}

static int sort_slices(struct callers *c)
{
	scoped(hist_refine_done) struct hist_refine f = { .r = c->r, .equal = block_take, .arg = c };
	scoped(hist_refine_done) struct hist_refine rest = { .r = c->r };
	int err = 0;

	hist_refine_by(&f, 0, c->n_above);
	f.columns[f.n_columns++] = HIST_BY_DEPTH;
	hist_refine_by(&f, c->n_above, c->n_row);
	hist_refine_by(&rest, c->n_row, c->r->h->opts->n_keys);
	for (c->owner = c->base = 0; c->owner < c->n_owners && err == 0; c->owner++) {
		err = sort_slice(c, &f, &rest);
		c->base = c->slices[c->owner];
	}
	return err;
}

/* Items are the first places of blocks. */
static int rank_take(struct hist_refine *f, size_t from, size_t n)
{
	struct callers *c = f->arg;
	const struct hist_block *first = &c->c.blocks.v[c->block_of[f->v[from].item]];

	for (size_t i = from; i < from + n; i++) {
		struct hist_block *b = &c->c.blocks.v[c->block_of[f->v[i].item]];

		b->rank = c->rank;
		c->tie = c->tie || b->owner != first->owner;
	}
	c->rank++;
	return 0;
}

/* The places of blocks by all keys in which they are equal, without the depth. */
static int rank_blocks(struct callers *c)
{
	const struct hist_merge *v = &c->c;
	scoped(hist_refine_done) struct hist_refine f = { .r = c->r, .entry_of = c->sorted, .equal = rank_take, .arg = c };

	hist_refine_by(&f, 0, c->single ? c->r->h->opts->n_keys : c->n_row);
	if (c->single)
		f.columns[f.n_columns++] = HIST_BY_ENTRY;
	if (hist_refine_room(&f, v->blocks.n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < v->blocks.n; i++)
		f.v[i].item = v->blocks.v[i].from;
	c->tie = false;
	c->rank = 0;
	return hist_refine(&f, 0, v->blocks.n, 0);
}

static int callers_alloc(struct callers *c)
{
	const struct hist *h = c->r->h;

	c->owner_of = calloc(tacho_profile_n_threads(h->profile) + 1, sizeof(*c->owner_of));
	c->sorted = reallocarray(NULL, h->n_order + 1, sizeof(*c->sorted));
	c->block_of = reallocarray(NULL, h->n_order + 1, sizeof(*c->block_of));
	c->frames = reallocarray(NULL, h->n_order + 1, sizeof(*c->frames));
	c->spare = reallocarray(NULL, h->n_order + 1, 2 * sizeof(*c->spare));
	c->order_again = calloc(h->n_order / 64 + 1, sizeof(*c->order_again));
	return c->owner_of && c->sorted && c->block_of && c->frames && c->spare && c->order_again ?
	       0 : -ENOMEM;
}

/* Places -> entries, and what spares those who show them a look at these. */
static void order_take(struct callers *c)
{
	struct hist *h = c->r->h;
	uint32_t before = HIST_NONE;

	for (size_t k = 0; k < h->n_order; k++) {
		uint32_t place = h->order[k], block = c->block_of[place];

		if (block == before && c->c.blocks.v[block].even)
			c->order_again[k / 64] |= 1ULL << k % 64;
		before = block;
		h->order[k] = c->sorted[place];
		c->spare[k] = c->frames[place];
	}
	h->order_frame = take(c->spare);
	h->order_again = take(c->order_again);
}

int hist_order_callers(struct hist_ranks *r, size_t n_above)
{
	struct hist *h = r->h;
	scoped(callers_done) struct callers c = { .r = r, .n_above = n_above, .n_row = n_above };
	int err = callers_alloc(&c);

	for (size_t k = n_above; k < h->opts->n_keys; k++)
		if (h->opts->keys[k] >= COL_FIRST_KEY && h->opts->keys[k] < COL_FIRST_OF_FRAME)
			c.n_row = k + 1;
	if (err == 0)
		err = find_runs(&c);
	if (err == 0)
		err = make_slices(&c);
	if (err == 0)
		err = sort_slices(&c);
	if (err == 0)
		err = rank_blocks(&c);
	if (err == 0 && c.tie)
		err = blocks_split(&c) < 0 ? -ENOMEM : rank_blocks(&c);
	c.c.order = h->order;
	c.c.n = h->n_order;
	c.c.sorted = c.sorted;
	c.c.block_of = c.block_of;
	c.c.spare = c.spare;
	if (err == 0)
		err = hist_merge(&c.c);
	if (err == 0)
		order_take(&c);
	return err;
}
