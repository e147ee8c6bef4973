/*
 * Resolves the stacks of a batch to nodes. A running hash is computed over the code locations of a stack,
 * starting with the outermost caller, and recent_nodes maps the hash of a prefix to its node: a stack that
 * was sampled recently takes one lookup, a new stack only the entries after its longest known prefix. Nodes
 * evicted from recent_nodes are looked up frame by frame. The hashes are 64 bits wide: with ten million
 * prefixes, one recording in some hundred thousand has a collision.
 *
 * All tables together are far larger than the CPU's caches, and each lookup needs the result of the one
 * before. So a batch is resolved in steps: each step looks up, for all stacks, the data that the previous
 * step has prefetched, and prefetches for the next step. A step is one plain loop over stacks of one kind, so
 * that many cache misses overlap.
 *
 *	stack -> node of the callers or of the longest prefix -> frames of the remaining entries -> their nodes
 */
#include "profile/chain_entries.h"

#include "base/large_memory.h"

#include <errno.h>

int stacks_init(struct stack_resolver *s, struct tacho_profile *p, struct tacho_symbols *symbols, bool small)
{
	size_t n_nodes = small || p->opts.no_chains ? RECENT_NODES_SMALL : RECENT_NODES;
	size_t n_frames = small ? RECENT_FRAMES_SMALL : RECENT_FRAMES;

	*s = (struct stack_resolver){ .profile = p, .symbols = symbols, .recent_node_mask = n_nodes - 1,
				      .recent_frame_mask = n_frames - 1 };
	s->inlines = !p->opts.no_inlines && !p->opts.no_chains;
	s->exact_salt = !s->inlines ? 0 : 0x8cb92ba72f3d8dd7ull;
	s->unmapped_mask = p->opts.split_unknown || p->opts.lowest_unknown || p->opts.per_address ? UINT64_MAX : 0;
	s->entries = reallocarray(NULL, MAX_BATCH_ENTRIES, sizeof(*s->entries));
	s->pending = reallocarray(NULL, MAX_PENDING, sizeof(*s->pending));
	s->recent_nodes = large_alloc_huge(n_nodes * sizeof(*s->recent_nodes));
	s->leaf_regions = calloc(LEAF_REGIONS, sizeof(*s->leaf_regions));
	s->recent_frames = calloc(n_frames, sizeof(*s->recent_frames));
	if (!s->entries || !s->pending || !s->recent_nodes || !s->leaf_regions || !s->recent_frames)
		return -ENOMEM;
	memset(s->recent_nodes, 0, n_nodes * sizeof(*s->recent_nodes));
	return 0;
}

void stacks_done(struct stack_resolver *s)
{
	vec_done(&s->name_ids);
	vec_done(&s->object_ids);
	vec_done(&s->new_locations);
	vec_done(&s->expansions);
	vec_done(&s->expanded);
	vec_done(&s->expanded_chain);
	free(take(s->entries));
	free(take(s->pending));
	free(take(s->recent_nodes));
	free(take(s->leaf_regions));
	free(take(s->recent_frames));
	keymap_done(&s->location_frames);
}

int stacks_add(struct stack_resolver *s, uint32_t thread, const struct tacho_sample *sample, enum tacho_space space)
{
	struct sample_stack *to = &s->batch[s->n++];
	struct chain c;
	int err;

	*to = (struct sample_stack){ .owner = profile_node_owner(s->profile, thread) };
	chain_make(&c, &s->profile->opts, sample, space);
	entries_begin(s, to);
	err = entries_add_chain(s, sample->pid, &c, to);
	s->n_entries += to->n;
	list_by_kind(s, to, to->n >= 2);
	return err;
}

/* ---- step 1: nodes of known callers and prefixes ---- */

static uint32_t recent_node(const struct stack_resolver *s, uint64_t key)
{
	return recent_cache_get(s->recent_nodes, s->recent_node_mask, key);
}

/* Return addresses repeat, but a leaf may be any instruction of its function: the callers are looked up by the hash of
 * their addresses, the leaf later by its frame. Stacks whose callers are found stay in `with_callers`. */
static void find_recent_callers(struct stack_resolver *s)
{
	size_t known = 0;

	s->n_new_callers = 0;
	for (size_t i = 0; i < s->n_with_callers; i++) {
		struct sample_stack *st = s->with_callers[i];
		uint32_t node = recent_node(s, st->callers_hash);
		bool is_known = node != KEYMAP_NONE;

		st->node = node & -(uint32_t)is_known;
		s->with_callers[known] = s->new_callers[s->n_new_callers] = st;
		known += is_known;
		s->n_new_callers += !is_known;
	}
	s->n_with_callers = known;
}

/* Adds the entries of a raw chain whose callers were not found. */
static int add_raw_entries(struct stack_resolver *s, struct sample_stack *st)
{
	struct tacho_words all = st->chain;
	struct chain_run run = { all.v + 1, all.n - 1, st->leaf.space };
	struct chain c;
	int err;

	entries_begin(s, st);
	if (st->single_space) {
		err = entries_add_run(s, st->pid, &run, st);
	} else {
		chain_split(&c, all, run.space);
		err = entries_add_chain(s, st->pid, &c, st);
	}
	s->n_entries += st->n;
	return err;
}

static int add_missing_entries(struct stack_resolver *s)
{
	for (size_t i = 0; i < s->n_new_callers; i++) {
		struct sample_stack *st = s->new_callers[i];

		if (st->has_callers && add_raw_entries(s, st) < 0)
			return -ENOMEM;
		if (st->n > 1) {	/* the first two lookups of find_longest_prefix() */
			__builtin_prefetch(recent_node_slot(s, st->entries[st->n - 2].prefix));
			__builtin_prefetch(recent_node_slot(s, st->entries[(st->n - 1) / 2 - (st->n > 2)].prefix));
		}
	}
	return 0;
}

static bool find_prefix(struct stack_resolver *s, struct sample_stack *st, size_t n)
{
	uint32_t found = recent_node(s, st->entries[n - 1].prefix);

	if (found == KEYMAP_NONE)
		return false;
	st->n_resolved = n;
	st->node = found;
	return true;
}

/* A binary search: if a prefix is known, most shorter ones are. */
static void find_longest_prefix(struct stack_resolver *s, struct sample_stack *st)
{
	size_t low = 0, high = st->n > 2 ? st->n - 2 : 0;

	if (st->n < 2 || find_prefix(s, st, st->n - 1))
		return;
	while (low < high) {
		size_t mid = low + (high - low + 1) / 2;

		if (find_prefix(s, st, mid))
			low = mid;
		else
			high = mid - 1;
	}
}

/* ---- step 2: frames ---- */

static struct recent_entry *recent_frame_slot(const struct stack_resolver *s, uint64_t key)
{
	return &s->recent_frames[key & s->recent_frame_mask];
}

/* Puts an entry whose frame is not in recent_frames into `pending`: entries in objects from the front, unmapped ones from
 * the back, so that each kind is one loop without unpredictable branches. */
static void list_pending_entry(struct stack_resolver *s, struct chain_entry *w)
{
	const struct keymap *m = w->spot.object ? &s->location_frames : &s->profile->unknown_frame_ids;
	const struct recent_entry *l = recent_frame_slot(s, w->key);

	keymap_prefetch(m, w->key);
	w->frame = l->id - 1;
	s->pending[s->n_pending] = s->pending[s->pending_unmapped - 1] = w;
	s->n_pending += (w->spot.object != 0) & ((l->key != w->key) | !l->id);
	s->pending_unmapped -= w->spot.object == 0;
}

/* Lists the entries after the known prefixes, and all leaves. */
static void list_pending_entries(struct stack_resolver *s)
{
	s->n_pending = 0;
	s->pending_unmapped = MAX_PENDING;
	for (size_t i = 0; i < s->n_new_callers; i++)
		for (size_t k = s->new_callers[i]->n_resolved; k + 1 < s->new_callers[i]->n; k++)
			list_pending_entry(s, &s->new_callers[i]->entries[k]);
	for (size_t i = 0; i < s->n; i++)
		if (s->batch[i].n)
			list_pending_entry(s, &s->batch[i].entries[s->batch[i].n - 1]);
}

/* The key of an unmapped location is the key of its frame, so one lookup finds or adds it. KEYMAP_NONE if out
 * of memory. */
static uint32_t unmapped_frame(struct stack_resolver *s, const struct chain_entry *w)
{
	struct unmapped_frames *n = &s->unmapped[w->space % countof(s->unmapped)];
	uint32_t *id = keymap_at(&s->profile->unknown_frame_ids, w->key);

	if (!id)
		return KEYMAP_NONE;
	if (*id)
		return *id - 1;
	n->desc.address = n->desc.offset = w->spot.offset;
	*id = profile_add_frame(s->profile, &n->desc, n->code) + 1;
	return *id - 1;
}

static int add_new_location(struct stack_resolver *s, struct chain_entry *w)
{
	struct new_location *f = vec_next(&s->new_locations);

	if (!f)
		return -ENOMEM;
	f->entry = w;
	symbols_prefetch(s->symbols, w->space, &w->spot);
	return 0;
}

/* Looks up the frames of known locations; the other locations are appended to `new_locations`. */
static int find_frames(struct stack_resolver *s)
{
	for (size_t i = s->pending_unmapped; i < MAX_PENDING; i++) {
		s->pending[i]->frame = unmapped_frame(s, s->pending[i]);
		if (s->pending[i]->frame == KEYMAP_NONE)
			return -ENOMEM;
	}
	for (size_t i = 0; i < s->n_pending; i++) {
		struct chain_entry *w = s->pending[i];

		w->frame = keymap_get(&s->location_frames, w->key);
		if (w->frame != KEYMAP_NONE)
			*recent_frame_slot(s, w->key) = (struct recent_entry){ w->key, w->frame + 1 };
		else if (add_new_location(s, w) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int resolve_new_locations(struct stack_resolver *s)
{
	for (size_t i = 0; i < s->new_locations.n; i++) {
		struct new_location *f = &s->new_locations.v[i];

		if (stacks_describe(s, f) < 0)
			return -ENOMEM;
		keymap_prefetch(frame_index(s->profile, f->desc.known), frame_key(&f->desc));
	}
	return 0;
}

static int add_new_frames(struct stack_resolver *s)
{
	for (size_t i = 0; i < s->new_locations.n; i++) {
		struct chain_entry *w = s->new_locations.v[i].entry;
		const struct frame_desc *desc = &s->new_locations.v[i].desc;

		if (stacks_add_frames(s, &s->new_locations.v[i], &w->frame) < 0)
			return -ENOMEM;
		if ((desc->known || !desc->jit) &&	/* a JIT may still name this address */
		    keymap_put(&s->location_frames, w->key, w->frame) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Prefetches the slots in which the first missing node of each stack will be looked up. Frames of new
 * locations are not known yet; for these the prefetch is useless, but harmless. */
static void prefetch_parents(const struct stack_resolver *s)
{
	for (size_t i = 0; i < s->n_leaf_only; i++)
		if (s->leaf_only[i]->n)
			profile_outermost_prefetch(s->profile, s->leaf_only[i]->entries[0].frame);
	for (size_t i = 0; i < s->n_with_callers; i++) {
		const struct sample_stack *st = s->with_callers[i];

		profile_child_prefetch(s->profile, st->node, st->entries[st->n_resolved].frame);
	}
	for (size_t i = 0; i < s->n_new_callers; i++) {
		const struct sample_stack *st = s->new_callers[i];

		if (st->n_resolved == 0 && st->n)
			profile_outermost_prefetch(s->profile, st->entries[0].frame);
		else if (st->n_resolved < st->n)
			profile_child_prefetch(s->profile, st->node, st->entries[st->n_resolved].frame);
	}
}

static int find_all_frames(struct stack_resolver *s)
{
	int err;

	list_pending_entries(s);
	for (size_t i = 0; i < s->n; i++)
		profile_node_prefetch(s->profile, s->batch[i].node);
	err = find_frames(s);
	if (err == 0)
		err = resolve_new_locations(s);
	prefetch_parents(s);
	return err < 0 ? err : add_new_frames(s);
}

/* ---- options that change stacks ---- */

/* The frames of an entry, the outermost first. */
static const uint32_t *frames_of(const struct stack_resolver *s, const struct chain_entry *w, size_t *n)
{
	const struct frame_expansion *e;

	*n = 1;
	if (!(w->frame & FRAME_EXPANDED))
		return &w->frame;
	e = &s->expansions.v[w->frame & ~FRAME_EXPANDED];
	*n = e->n;
	return s->expanded.v + e->first;
}

static bool ends_stack(const struct stack_resolver *s, const struct chain_entry *w)
{
	size_t n;
	const uint32_t *frames = frames_of(s, w, &n);

	for (size_t i = 0; i < n; i++)
		if (s->profile->frame_flags.v[frames[i]] & FRAME_END)
			return true;
	return false;
}

/* opts.resolved: entries without a symbol are removed. A known prefix has no such entries; its hash still
 * covers all entries of the chain. */
static void drop_unresolved(struct stack_resolver *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct sample_stack *st = &s->batch[i];
		size_t n = st->n_resolved;

		st->dropped = true;
		for (size_t k = st->n_resolved; k < st->n; k++) {
			size_t n_frames;
			bool known = s->profile->frames.v[*frames_of(s, &st->entries[k], &n_frames)].known;

			st->dropped = !known;
			if (known)
				st->entries[n++] = st->entries[k];
		}
		st->n = n;
	}
}

/* opts.ignore_callees: a stack ends with its outermost matching function. A known prefix contains no match,
 * because the stack that it came from has been cut. */
static void cut_ignored_callees(struct stack_resolver *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct sample_stack *st = &s->batch[i];

		for (size_t k = st->n_resolved; k < st->n; k++)
			if (ends_stack(s, &st->entries[k]))
				st->n = k + 1;
	}
}

/* After entries were removed, the kinds of the stacks are not known any more: handles all stacks as new. */
static void list_all_as_new(struct stack_resolver *s)
{
	s->n_leaf_only = s->n_with_callers = 0;
	s->n_new_callers = s->n;
	for (size_t i = 0; i < s->n; i++)
		s->new_callers[i] = &s->batch[i];
}

/* ---- step 3: nodes ---- */

static void remember_node(struct stack_resolver *s, uint64_t key, uint32_t node)
{
	*recent_node_slot(s, key) = (struct recent_entry){ key, node + 1 };
}

/* Replaces entries by entries of single frames. 0 or -ENOMEM. */
static int expand_chain(struct stack_resolver *s, const struct chain_entry *entries, size_t n)
{
	s->expanded_chain.n = 0;
	for (size_t i = 0; i < n; i++) {
		size_t n_frames;
		const uint32_t *frames = frames_of(s, &entries[i], &n_frames);

		for (size_t k = 0; k < n_frames; k++) {
			struct chain_entry *to = vec_next(&s->expanded_chain);

			if (!to)
				return -ENOMEM;
			to->frame = frames[k];
		}
	}
	return 0;
}

/* All nodes below a new node are new. They are not put into recent_nodes: most prefixes seen once never
 * repeat, and would only evict others. */
static int append_new_nodes(struct stack_resolver *s, struct sample_stack *st, size_t from)
{
	if (s->expansions.n) {
		if (expand_chain(s, st->entries + from, st->n - from) < 0)
			return -ENOMEM;
		st->node = profile_add_chain(s->profile, st->node, s->expanded_chain.v, s->expanded_chain.n);
		return st->node == KEYMAP_NONE ? -ENOMEM : 0;
	}
	st->node = profile_add_chain(s->profile, st->node, st->entries + from, st->n - from);
	return st->node == KEYMAP_NONE ? -ENOMEM : 0;
}

/* The node of an entry's innermost frame below the stack's current node; KEYMAP_NONE if out of memory. */
static uint32_t add_entry_nodes(struct stack_resolver *s, const struct sample_stack *st, const struct chain_entry *w)
{
	uint32_t node = st->node;
	size_t n;
	const uint32_t *frames = frames_of(s, w, &n);

	for (size_t i = 0; i < n && node != KEYMAP_NONE; i++)
		node = node ? profile_intern_node(s->profile, node, frames[i]) :
			      profile_intern_outermost(s->profile, st->owner, frames[i]);
	return node;
}

static int add_nodes(struct stack_resolver *s, struct sample_stack *st)
{
	uint32_t first_new = (uint32_t)s->profile->nodes.n;

	for (size_t i = st->n_resolved; i < st->n; i++) {
		const struct chain_entry *w = &st->entries[i];

		st->node = add_entry_nodes(s, st, w);
		if (st->node == KEYMAP_NONE)
			return -ENOMEM;
		if (i + 1 == st->n)
			break;
		if (st->node >= first_new)
			return append_new_nodes(s, st, i + 1);
		remember_node(s, w->prefix, st->node);
	}
	profile_node_prefetch(s->profile, st->node);
	return 0;
}

/* Raw callers are added to recent_nodes when they are seen for the second time. */
static void remember_callers(struct stack_resolver *s, const struct sample_stack *st, uint32_t first_new)
{
	uint32_t callers = st->node;
	size_t n_frames = 0;

	if (st->has_callers)
		frames_of(s, &st->entries[st->n - 1], &n_frames);
	for (; n_frames; n_frames--)
		callers = s->profile->nodes.v[callers].parent;
	if (st->has_callers && callers < first_new)
		remember_node(s, st->callers_hash, callers);
}

int stacks_resolve(struct stack_resolver *s)
{
	uint32_t first_new = (uint32_t)s->profile->nodes.n;
	int err;

	find_recent_callers(s);
	err = add_missing_entries(s);
	for (size_t i = 0; i < s->n_new_callers && err == 0; i++)
		find_longest_prefix(s, s->new_callers[i]);
	if (err == 0)
		err = find_all_frames(s);
	if (err == 0 && s->profile->opts.resolved)
		drop_unresolved(s);
	if (err == 0 && s->profile->filter.by_end)
		cut_ignored_callees(s);
	if (s->profile->opts.resolved || s->profile->filter.by_end)
		list_all_as_new(s);
	for (size_t i = 0; i < s->n && err == 0; i++)
		err = add_nodes(s, &s->batch[i]);
	for (size_t i = 0; i < s->n_new_callers && err == 0; i++)
		remember_callers(s, s->new_callers[i], first_new);
	return err;
}

void stacks_clear(struct stack_resolver *s)
{
	s->n = s->n_leaf_only = s->n_with_callers = s->n_entries = s->n_raw = s->new_locations.n = 0;
}
