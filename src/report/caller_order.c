/*
 * perf's order of entries with call graphs: among entries with equal values, callers come before what they call.
 * Depths are compared within a thread only, so this is not a consistent order, and perf_merge_order.h says
 * how ties between threads are printed as perf does. Here the entries of each thread are sorted, and cut into
 * blocks: entries that are equal up to the last row key compare alike to all entries of other threads.
 */
#include <errno.h>

#include "report/distinct_values.h"
#include "report/perf_merge_order.h"
#include "report/sort_by_key.h"

#define FEW 256			/* with fewer entries, their combinations of values are not worth counting */
#define CHUNK 64		/* entries whose numbers are looked up together */
#define COLLISIONS_MAX 16	/* per entry, on average */

struct caller_order {
	const struct ranks *ranks;
	struct report *r;
	struct perf_merge merge;	/* its owners are threads */
	size_t n_above, n_row;		/* keys before the depth; keys up to the last row key */
	uint32_t *owner_of;		/* per thread: + 1 */
	size_t n_owners;
	uint32_t *sorted, *block_of;	/* per place, as in struct perf_merge */
	uint32_t *frames;		/* per place */
	uint64_t *repeats;		/* as in struct tacho_report */
	uint32_t *slices;		/* per owner: where its places end */
	bool single;			/* each entry is a block */
	struct distinct_values combinations;	/* of the current slice */
	uint32_t *spare;		/* space for all entries, twice */
	uint32_t base, owner;		/* of the current slice */
	uint32_t rank;			/* the next one */
	bool tie;			/* blocks of different owners have equal ranks */
};

static void caller_order_done(struct caller_order *c)
{
	vec_done(&c->merge.runs);
	vec_done(&c->merge.blocks);
	free(c->owner_of);
	free(c->sorted);
	free(c->slices);
	free(c->block_of);
	free(c->frames);
	free(c->repeats);
	free(c->spare);
	distinct_values_done(&c->combinations);
}

/* ---- owners ---- */

static struct order_run *run_add(struct caller_order *c, uint32_t group)
{
	uint32_t *owner = &c->owner_of[c->r->groups.v[group].thread];
	struct order_run *run = c->merge.runs.n ? &c->merge.runs.v[c->merge.runs.n - 1] : NULL;

	if (!*owner)
		*owner = (uint32_t)++c->n_owners;
	if (run && run->owner == *owner - 1)
		return run;
	run = vec_next(&c->merge.runs);
	if (run)
		run->owner = *owner - 1;
	return run;
}

/* Where the group's entries end: entries are stored group by group, so a binary search finds it. */
static uint32_t group_end(const struct report *r, uint32_t from, uint32_t group)
{
	uint32_t end = (uint32_t)r->n_order;

	while (from < end) {
		uint32_t half = from + (end - from) / 2;

		if (r->entries.v[r->order[half]].group <= group)
			from = half + 1;
		else
			end = half;
	}
	return end;
}

static int find_runs(struct caller_order *c)
{
	const struct report *r = c->r;

	for (uint32_t i = 0; i < r->n_order;) {
		uint32_t group = r->entries.v[r->order[i]].group;
		struct order_run *run = run_add(c, group);

		if (!run)
			return -ENOMEM;
		run->end = i = group_end(r, i, group);
	}
	return 0;
}

/* All entries of an owner, in the order they have: a counting sort of the runs. */
static int make_slices(struct caller_order *c)
{
	const struct report *r = c->r;
	const struct perf_merge *m = &c->merge;
	uint32_t *next = c->slices = calloc(c->n_owners + 1, sizeof(*c->slices));
	uint32_t from = 0, sum = 0;

	if (!next)
		return -ENOMEM;
	for (size_t i = 0; i < m->runs.n; from = m->runs.v[i++].end)
		next[m->runs.v[i].owner] += m->runs.v[i].end - from;
	for (size_t i = 0; i < c->n_owners; i++) {
		uint32_t n = next[i];

		next[i] = sum;
		sum += n;
	}
	from = 0;
	for (size_t i = 0; i < m->runs.n; i++) {
		uint32_t n = m->runs.v[i].end - from, *to = &next[m->runs.v[i].owner];

		memcpy(c->sorted + *to, r->order + from, n * sizeof(*c->sorted));
		*to += n;
		from += n;
	}
	return 0;
}

/* ---- blocks ---- */

static int block_add(struct caller_order *c, uint32_t from, uint32_t end)
{
	struct order_block *b = vec_next(&c->merge.blocks);

	if (!b)
		return -ENOMEM;
	*b = (struct order_block){ .from = from, .end = end, .owner = c->owner };
	for (uint32_t p = from; p < end; p++)
		c->block_of[p] = (uint32_t)c->merge.blocks.n - 1;
	return 0;
}

/* For key_sort: items that are equal up to the last row key are a block. */
static int block_take(struct key_sort *s, size_t from, size_t n)
{
	struct caller_order *c = s->arg;
	uint32_t at = c->base + (uint32_t)from;

	return block_add(c, at, at + (uint32_t)n);
}

/* Makes each entry a block: entries of other owners are equal to those of a block in all keys so far. */
static int split_blocks(struct caller_order *c)
{
	uint32_t p = 0;

	c->single = true;
	c->merge.blocks.n = 0;
	for (c->owner = 0; c->owner < c->n_owners; c->owner++)
		for (; p < c->slices[c->owner]; p++)
			if (block_add(c, p, p + 1) < 0)
				return -ENOMEM;
	return 0;
}

static bool is_one_group(const struct report *r, const uint32_t *entries, size_t n)
{
	return n && r->entries.v[entries[0]].group == r->entries.v[entries[n - 1]].group;
}

/* ---- a slice with few combinations of values ---- */

/* Looks up one number of each of some entries. */
static void fill_numbers(const struct key_sort *s, const uint32_t *entries, size_t n, size_t column,
			 size_t at,
			 uint64_t (*out)[DISTINCT_NUMBERS])
{
	const struct report *r = s->ranks->r;
	const struct tacho_report_entry *v = r->entries.v;
	const uint64_t *first;
	size_t stride;

	if (column >= TACHO_REPORT_KEYS_MAX || !is_value(key_at(r, column))) {
		for (size_t i = 0; i < n; i++)
			out[i][at] = key_sort_number(s, &v[entries[i]], NULL, column);
		return;
	}
	first = report_values(r, key_at(r, column), deciding_event(r), &stride);
	for (size_t i = 0; i < n; i++)
		out[i][at] = ~first[entries[i] * stride];
}

/* The columns to combine. False if there are too many, or one is of frames. */
static bool columns_to_combine(const struct key_sort *s, size_t *combined, size_t *n)
{
	for (size_t at = key_sort_next_column(s, 0); at < s->n_columns; at = key_sort_next_column(s, at + 1)) {
		const struct column *c = key_sort_key(s, at);

		if (*n == DISTINCT_NUMBERS || (c && is_frame_key(c)))
			return false;
		combined[(*n)++] = s->columns[at];
	}
	return true;
}

/* Whether there are few combinations for so many entries, and they are found quickly. */
static bool combinations_help(const struct distinct_values *k, size_t n)
{
	return k->n <= n / 2 && k->n_collisions / COLLISIONS_MAX <= n;
}

/* Finds the combinations of a slice's entries; their indices per place go into block_of. False: they do not help. */
static bool find_combinations(struct caller_order *c, const struct key_sort *s, size_t n)
{
	size_t combined[DISTINCT_NUMBERS], n_combined = 0;
	const uint32_t *entries = c->sorted + c->base;
	uint32_t *combination_of = c->block_of + c->base;
	uint64_t numbers[CHUNK][DISTINCT_NUMBERS] = { 0 };
	size_t stride;
	const uint64_t *self = report_values(c->r, column_by_id(TACHO_COLUMN_OVERHEAD), 0, &stride);

	if (!columns_to_combine(s, combined, &n_combined) || distinct_values_clear(&c->combinations, n) < 0)
		return false;
	for (size_t at = 0; at < n && combinations_help(&c->combinations, n); at += CHUNK) {
		size_t some = min_of(n - at, (size_t)CHUNK);

		for (size_t k = 0; k < n_combined; k++)
			fill_numbers(s, entries + at, some, combined[k], k, numbers);
		for (size_t i = 0; i < some; i++) {
			int64_t combination = distinct_values_add(&c->combinations, numbers[i], entries[at + i]);

			if (combination < 0)
				return false;
			combination_of[at + i] = (uint32_t)combination;
			distinct_value_note(&c->combinations.v[combination], self[entries[at + i] * stride]);
		}
	}
	return combinations_help(&c->combinations, n);
}

/* Sorts the combinations, then distributes their entries. */
static int sort_combinations(struct caller_order *c, struct key_sort *s)
{
	struct distinct_values *k = &c->combinations;
	int err = key_sort_reserve(s, k->n);

	for (uint32_t i = 0; i < k->n && err == 0; i++) {
		c->spare[i] = k->v[i].first;
		s->v[i].item = i;
	}
	s->entry_of = c->spare;
	s->equal = NULL;
	if (err == 0)
		err = key_sort_run(s, 0, k->n, 0);
	s->entry_of = NULL;
	s->equal = block_take;
	return err;
}

static int sort_by_combinations(struct caller_order *c, struct key_sort *s, size_t n)
{
	struct distinct_values *k = &c->combinations;
	const struct tacho_report_entry *entries = c->r->entries.v;
	uint32_t *items = c->sorted + c->base, *frames = c->frames + c->base, at = 0;
	uint32_t *next = c->spare + n;	/* per combination: where its next entry goes */
	int err = sort_combinations(c, s);

	if (err < 0)
		return err;
	for (size_t i = 0; i < k->n; i++) {
		next[s->v[i].item] = at;
		at += k->v[s->v[i].item].n;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t to = next[c->block_of[c->base + i]]++;

		c->spare[to] = items[i];
		frames[to] = entries[items[i]].frame;
	}
	memcpy(items, c->spare, n * sizeof(*items));
	for (size_t i = 0; i < k->n && err == 0; i++) {
		uint32_t combination = s->v[i].item;

		err = block_take(s, next[combination] - k->v[combination].n, k->v[combination].n);
		if (err == 0)
			c->merge.blocks.v[c->merge.blocks.n - 1].even = s->one_group && !k->v[combination].mixed;
	}
	return err;
}

/* ---- slices ---- */

static int sort_by_keys(struct caller_order *c, struct key_sort *s, size_t n)
{
	uint32_t *items = c->sorted + c->base;
	int err = key_sort_list(s, items, n);

	for (size_t i = 0; i < n; i++)
		c->frames[c->base + i] = c->r->entries.v[items[i]].frame;
	return err;
}

/* By the keys that are left, with their frames. */
static int sort_block(struct caller_order *c, struct key_sort *rest, const struct order_block *b)
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
	err = key_sort_run(rest, 0, n, 0);
	for (uint32_t i = 0; i < n; i++) {
		items[i] = old_items[rest->v[i].item];
		frames[i] = old_frames[rest->v[i].item];
	}
	return err;
}

static int sort_slice(struct caller_order *c, struct key_sort *s, struct key_sort *rest)
{
	size_t n = c->slices[c->owner] - c->base, first = c->merge.blocks.n, most = 0;
	int err;

	rest->one_group = s->one_group = is_one_group(c->r, c->sorted + c->base, n);
	err = n > FEW && find_combinations(c, s, n) ? sort_by_combinations(c, s, n) : sort_by_keys(c, s, n);
	for (size_t i = first; i < c->merge.blocks.n; i++)
		most = max_of(most, (size_t)(c->merge.blocks.v[i].end - c->merge.blocks.v[i].from));
	if (err == 0)
		err = key_sort_reserve(rest, most);
	for (size_t i = first; i < c->merge.blocks.n && err == 0; i++)
		err = sort_block(c, rest, &c->merge.blocks.v[i]);
	return err;
}

static int sort_slices(struct caller_order *c)
{
	scoped(key_sort_done) struct key_sort s = { .ranks = c->ranks, .equal = block_take, .arg = c };
	scoped(key_sort_done) struct key_sort rest = { .ranks = c->ranks };
	int err = 0;

	key_sort_add_keys(&s, 0, c->n_above);
	s.columns[s.n_columns++] = SORT_BY_DEPTH;
	key_sort_add_keys(&s, c->n_above, c->n_row);
	key_sort_add_keys(&rest, c->n_row, c->r->opts.n_keys);
	for (c->owner = c->base = 0; c->owner < c->n_owners && err == 0; c->owner++) {
		err = sort_slice(c, &s, &rest);
		c->base = c->slices[c->owner];
	}
	return err;
}

/* ---- ranks of blocks ---- */

/* For key_sort: items are the first places of blocks. */
static int rank_take(struct key_sort *s, size_t from, size_t n)
{
	struct caller_order *c = s->arg;
	const struct order_block *first = &c->merge.blocks.v[c->block_of[s->v[from].item]];

	for (size_t i = from; i < from + n; i++) {
		struct order_block *b = &c->merge.blocks.v[c->block_of[s->v[i].item]];

		b->rank = c->rank;
		c->tie = c->tie || b->owner != first->owner;
	}
	c->rank++;
	return 0;
}

/* By all keys in which the entries of a block are equal, without the depth. */
static int rank_blocks(struct caller_order *c)
{
	const struct perf_merge *m = &c->merge;
	scoped(key_sort_done) struct key_sort s = {
		.ranks = c->ranks, .entry_of = c->sorted, .equal = rank_take, .arg = c,
	};

	key_sort_add_keys(&s, 0, c->single ? c->r->opts.n_keys : c->n_row);
	if (c->single)
		s.columns[s.n_columns++] = SORT_BY_ENTRY;
	if (key_sort_reserve(&s, m->blocks.n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < m->blocks.n; i++)
		s.v[i].item = m->blocks.v[i].from;
	c->tie = false;
	c->rank = 0;
	return key_sort_run(&s, 0, m->blocks.n, 0);
}

/* ---- the order ---- */

static int caller_order_alloc(struct caller_order *c)
{
	const struct report *r = c->r;

	c->owner_of = calloc(tacho_profile_n_threads(r->profile) + 1, sizeof(*c->owner_of));
	c->sorted = reallocarray(NULL, r->n_order + 1, sizeof(*c->sorted));
	c->block_of = reallocarray(NULL, r->n_order + 1, sizeof(*c->block_of));
	c->frames = reallocarray(NULL, r->n_order + 1, sizeof(*c->frames));
	c->spare = reallocarray(NULL, r->n_order + 1, 2 * sizeof(*c->spare));
	c->repeats = calloc(r->n_order / 64 + 1, sizeof(*c->repeats));
	return c->owner_of && c->sorted && c->block_of && c->frames && c->spare && c->repeats ? 0 : -ENOMEM;
}

static int merge_blocks(struct caller_order *c)
{
	c->merge.order = c->r->order;
	c->merge.n = c->r->n_order;
	c->merge.sorted = c->sorted;
	c->merge.block_of = c->block_of;
	c->merge.spare = c->spare;
	return perf_merge(&c->merge);
}

/* Places -> entries, with the shortcuts for those who print a million of them. */
static void take_order(struct caller_order *c)
{
	struct report *r = c->r;
	uint32_t before = NONE;

	for (size_t k = 0; k < r->n_order; k++) {
		uint32_t place = r->order[k], block = c->block_of[place];

		if (block == before && c->merge.blocks.v[block].even)
			c->repeats[k / 64] |= 1ULL << k % 64;
		before = block;
		r->order[k] = c->sorted[place];
		c->spare[k] = c->frames[place];
	}
	r->order_frames = take(c->spare);
	r->repeats = take(c->repeats);
}

int order_callers_first(struct ranks *ranks, size_t n_above)
{
	scoped(caller_order_done) struct caller_order c = {
		.ranks = ranks, .r = ranks->r, .n_above = n_above, .n_row = n_above,
	};
	int err = caller_order_alloc(&c);

	for (size_t k = n_above; k < c.r->opts.n_keys; k++)
		if (is_row_key(key_at(c.r, k)))
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
		err = split_blocks(&c) < 0 ? -ENOMEM : rank_blocks(&c);
	if (err == 0)
		err = merge_blocks(&c);
	if (err == 0)
		take_order(&c);
	return err;
}
