/*
 * From a chain to a node. Each address becomes its spot, which is the same for all processes that
 * have the object mapped, wherever that is. A hash runs over these from the outermost on. The
 * prefixes met lately have their nodes in a table, so a chain like one before costs one look, and a
 * new one only its new words. What the table has forgotten is found again frame by frame. The hashes
 * are 64 bits wide: among ten million prefixes two meet by chance once in some hundred thousand files.
 *
 * As long as maps stay as they are, the same callers are the same addresses in the same order. So a chain
 * is first looked for as it came; only if that fails its addresses become spots.
 *
 * All tables together are far larger than the caches, and what a chain needs next is known only
 * after the look before. So some chains are taken together, step by step: each step looks at what
 * the one before has fetched, and fetches what the next will look at. A step is one plain loop over
 * all of a kind, so that the misses of many overlap.
 */
#include "profile/profile.h"

#include "base/large_memory.h"
#include "symbol/address_lookup.h"

#include <errno.h>

int stacks_init(struct stacks *s, struct tacho_profile *p, struct tacho_symbols *symbols, bool few)
{
	size_t slots = few ? LATELY_FEW : LATELY_SLOTS, spots = few ? SPOTS_FEW : SPOTS_SLOTS;

	*s = (struct stacks){ .profile = p, .symbols = symbols, .lately_mask = slots - 1, .spot_mask = spots - 1 };
	s->nowhere_mask = p->opts.split_unknown || p->opts.per_address ? UINT64_MAX : 0;
	s->words = reallocarray(NULL, BATCH_WORDS, sizeof(*s->words));
	s->todo = reallocarray(NULL, TODO_MOST, sizeof(*s->todo));
	s->nodes = large_alloc_huge(slots * sizeof(*s->nodes));
	s->regions = calloc(REGIONS, sizeof(*s->regions));
	s->spot_frames = calloc(spots, sizeof(*s->spot_frames));
	if (!s->words || !s->todo || !s->nodes || !s->regions || !s->spot_frames)
		return -ENOMEM;
	memset(s->nodes, 0, slots * sizeof(*s->nodes));
	return 0;
}

void stacks_done(struct stacks *s)
{
	vec_done(&s->names);
	vec_done(&s->objects);
	vec_done(&s->fresh);
	free(s->words);
	free(s->todo);
	free(s->nodes);
	free(s->regions);
	free(s->spot_frames);
	keymap_done(&s->frames);
	s->words = NULL;
	s->todo = NULL;
	s->nodes = NULL;
	s->regions = NULL;
	s->spot_frames = NULL;
}

/* ---- into the batch ---- */

static struct lately *lately_at(const struct stacks *s, uint64_t key)
{
	return &s->nodes[key & s->lately_mask];
}

/* What the frames of addresses where nothing is mapped have in common: there may be millions, so it
 * is asked for once. 0 or -ENOMEM. */
static int nowhere_ask(struct stacks *s, enum tacho_space space)
{
	struct nowhere *n = &s->nowhere[(size_t)space % countof(s->nowhere)];

	if (n->asked)
		return 0;
	if (stacks_frame_nowhere(s, space, &n->like) < 0)
		return -ENOMEM;
	n->code = profile_code(s->profile, &n->like);
	if (!n->code)
		return -ENOMEM;
	n->asked = true;
	n->key = frame_key_common(n->like.symbol, n->like.object, (uint32_t)n->like.space << 1);
	return 0;
}

/* What spots of one object begin their hash with. Offsets leave the upper bits alone, in which objects
 * differ: equal hashes, equal frames. */
static uint64_t object_key(uint32_t object, enum tacho_space space)
{
	return ~key_pair(object, space) * 0x9e3779b97f4a7c15ull;
}

static inline struct alike alike_at(const struct stacks *s, const struct interval *in, enum tacho_space space)
{
	const struct nowhere *n = &s->nowhere[(size_t)space % countof(s->nowhere)];

	if (in->object)
		return (struct alike){ object_key(in->object, space), in->bias, UINT64_MAX, in->object };
	return (struct alike){ n->key, 0, s->nowhere_mask, 0 };
}

/* Returns the hash of all words up to this one, where `h` is that of those before. */
static inline uint64_t word_put(struct stack_word *w, const struct alike *a, uint64_t ip, enum tacho_space space,
				uint64_t h)
{
	uint64_t offset = (ip - a->bias) & a->mask, key = key_add(a->common, offset);

	h = key_add(h, key);
	w->spot.offset = offset;
	w->spot.object = a->object;
	w->key = key;
	w->prefix = h;
	w->space = (uint8_t)space;
	return h;
}

/* Both put a run's words outermost first, and return the last one's hash. */
static uint64_t put_kernel(const struct run *run, uint32_t object, uint64_t h, struct stack_word *w)
{
	const struct alike all = { object_key(object, run->space), 0, UINT64_MAX, object };

	for (size_t i = run->n; i-- > 0;)
		h = word_put(w++, &all, run->v[i], run->space, h);
	return h;
}

static uint64_t put_user(const struct stacks *s, const struct run *run, const struct address_lookup *walk, uint64_t h,
			 struct stack_word *w)
{
	struct interval in = INTERVAL_EMPTY;
	struct alike alike = { 0 };
	const uint64_t *v = run->v;

	for (size_t i = run->n; i-- > 0;) {
		if (!interval_has(&in, v[i])) {
			in = address_lookup_find(walk, v[i]);
			alike = alike_at(s, &in, run->space);
		}
		h = word_put(w++, &alike, v[i], run->space, h);
	}
	return h;
}

static int run_take(struct stacks *s, uint32_t pid, const struct run *run, uint64_t *h, struct stack *to)
{
	struct stack_word *w = to->words + to->n;
	struct address_lookup walk;

	if (nowhere_ask(s, run->space) < 0 || symbols_lookup_begin(s->symbols, pid, run->space, &walk) < 0)
		return -ENOMEM;
	*h = walk.kernel ? put_kernel(run, walk.kernel, *h, w) : put_user(s, run, &walk, *h, w);
	to->n += run->n;
	return 0;
}

static enum tacho_space space_by(uint64_t ip)
{
	return ip >> 63 ? TACHO_SPACE_KERNEL : TACHO_SPACE_USER;
}

/* Where nothing tells the space, the addresses do. */
static int mixed_take(struct stacks *s, uint32_t pid, const struct run *run, uint64_t *h, struct stack *to)
{
	size_t from, end = run->n;
	int err = 0;

	for (; end && err == 0; end = from) {
		enum tacho_space space = space_by(run->v[end - 1]);

		for (from = end - 1; from && space_by(run->v[from - 1]) == space;)
			from--;
		err = run_take(s, pid, &(struct run){ run->v + from, end - from, space }, h, to);
	}
	return err;
}

/* Any chain, outermost word first. */
static int chain_take(struct stacks *s, uint32_t pid, const struct chain *c, uint64_t h, struct stack *to)
{
	int err = 0;

	for (size_t r = c->n_runs; r-- > 0 && err == 0;) {
		const struct run *run = &c->runs[r];

		err = run->space ? run_take(s, pid, run, &h, to) : mixed_take(s, pid, run, &h, to);
	}
	return err;
}

static uint64_t owner_key(uint32_t owner)
{
	return key_mix(0x2545f4914f6cdd1dull + owner);
}

static void words_begin(struct stacks *s, struct stack *to)
{
	to->words = s->words + s->n_words;
	to->n = 0;
}

/* Whether a stack has callers, and whether they are known, nobody can foretell, and each step would ask
 * again: so it is asked once, and each kind stands in a list of its own. */
static inline void list_stack(struct stacks *s, struct stack *st, bool deep)
{
	s->lone[s->n_lone] = s->deep[s->n_deep] = st;
	s->n_lone += !deep;
	s->n_deep += deep;
}

int stacks_add(struct stacks *s, uint32_t thread, const struct tacho_sample *sample, enum tacho_space space)
{
	struct stack *to = &s->batch[s->n++];
	struct chain c;
	int err;

	*to = (struct stack){ .owner = profile_owner(s->profile, thread) };
	chain_make(&c, &s->profile->opts, sample, space);
	words_begin(s, to);
	err = chain_take(s, sample->pid, &c, owner_key(to->owner), to);
	s->n_words += to->n;
	list_stack(s, to, to->n >= 2);
	return err;
}

/* ---- chains that are met again as they are ---- */

int stacks_whose(struct stacks *s, uint32_t pid, uint32_t thread, struct whose *out)
{
	struct address_lookup walk;

	if (nowhere_ask(s, TACHO_SPACE_USER) < 0 || symbols_lookup_begin(s->symbols, pid, TACHO_SPACE_USER, &walk) < 0)
		return -ENOMEM;
	out->pid = pid;
	out->owner = profile_owner(s->profile, thread);
	out->key = key_add(owner_key(out->owner), walk.version);
	out->key = key_add(out->key, symbols_kernel_version(s->symbols));
	return address_lookup_is_stable(&walk);
}

static inline uint64_t region_tag(const struct whose *whose, const uint64_t *chain)
{
	return whose->key ^ chain[0];
}

static inline struct region *region_at(const struct stacks *s, uint64_t tag, uint64_t ip)
{
	return &s->regions[((ip >> INTERVAL_REGION_BITS) * 0x9e3779b97f4a7c15ull + tag) >> 32 & (REGIONS - 1)];
}

static inline bool region_has(const struct region *r, uint64_t tag, uint64_t ip)
{
	return (r->tag == tag) & (ip >= r->start) & (ip <= r->last);
}

/* Of a sample that is the first there, or the first since another took its place. */
static __attribute__((noinline)) int region_find(struct stacks *s, const struct whose *whose, const uint64_t *chain,
						 struct region *out)
{
	enum tacho_space space = chain[0] == CONTEXT_USER ? TACHO_SPACE_USER : TACHO_SPACE_KERNEL;
	struct interval in = { .last = UINT64_MAX };
	struct address_lookup walk;

	if (nowhere_ask(s, space) < 0 || symbols_lookup_begin(s->symbols, whose->pid, space, &walk) < 0)
		return -ENOMEM;
	if (walk.kernel)
		in.object = walk.kernel;
	else
		in = address_lookup_find(&walk, chain[1]);
	*out = (struct region){ .tag = region_tag(whose, chain), .start = in.start, .last = in.last,
				.space = (uint8_t)space, .alike = alike_at(s, &in, space) };
	return 0;
}

/* Of `first` and up to three more words at v + 2, of which the greatest counts for *most; where there are fewer, one
 * before stands in. Nobody can foretell that, so no branch hangs on it. */
static inline uint64_t words_key(uint64_t h, uint64_t first, const uint64_t *v, size_t more, uint64_t *most)
{
	static const uint8_t places[][3] = { { 0, 0, 0 }, { 2, 2, 2 }, { 2, 3, 3 }, { 2, 3, 4 } };
	const uint8_t *at = places[min_of(more, countof(places) - 1)];
	uint64_t b = v[at[0]], c = v[at[1]], d = v[at[2]];

	*most = max_of(max_of(*most, b), max_of(c, d));
	return key_mul(h ^ first, b ^ 0xb04f79a5353c7351ull) + key_mul(c ^ 0xe4d1475cd022b795ull, d ^ 0x107d4465c97d1261ull);
}

/* Of the marker that a chain begins with and its callers, without the leaf between. */
static inline uint64_t callers_key(const struct tacho_words *chain, uint64_t h, bool *one_run)
{
	const uint64_t *v = chain->v;
	uint64_t most = 0;

	h = words_key(h, v[0], v, chain->n - 2, &most);
	for (size_t i = 5; i < chain->n; i += 4) {
		most = max_of(most, v[i]);
		h = words_key(h, v[i], v + i - 1, chain->n - i - 1, &most);
	}
	*one_run = most < CONTEXT_FIRST;
	return key_add(h, chain->n);		/* which tells apart where words stood in for others */
}

int stacks_add_raw(struct stacks *s, const struct whose *whose, struct tacho_words chain)
{
	uint64_t ip = chain.v[1], tag = region_tag(whose, chain.v);
	struct stack *to = &s->batch[s->n++];
	struct region *r = region_at(s, tag, ip);

	if (!region_has(r, tag, ip) && region_find(s, whose, chain.v, r) < 0)
		return -ENOMEM;
	to->leaf.spot.offset = (ip - r->alike.bias) & r->alike.mask;
	to->leaf.spot.object = r->alike.object;
	to->leaf.key = key_add(r->alike.common, to->leaf.spot.offset);
	to->leaf.space = r->space;
	to->words = &to->leaf;
	to->n = 1;
	to->done = 0;
	to->node = 0;
	to->owner = whose->owner;
	to->nameless = false;
	to->deep = chain.n > 2;
	to->pid = whose->pid;
	to->chain = chain;
	to->callers = callers_key(&chain, whose->key, &to->one_run);
	s->n_raw += chain.n;
	__builtin_prefetch(lately_at(s, to->callers));
	list_stack(s, to, to->deep);
	return 0;
}

/* ---- through it, step by step ---- */

static uint32_t known_node(const struct stacks *s, uint64_t key)
{
	return lately_get(s->nodes, s->lately_mask, key);
}

/* Return addresses come again and again, but a leaf may be any instruction of its function: so
 * the callers are looked for by their words, and the leaf by its frame. Those whose callers are known
 * stay in the list. */
static void look_for_callers(struct stacks *s)
{
	size_t known = 0;

	s->n_missed = 0;
	for (size_t i = 0; i < s->n_deep; i++) {
		struct stack *st = s->deep[i];
		uint32_t node = known_node(s, st->callers);
		bool is_known = node != KEYMAP_NONE;

		st->node = node & -(uint32_t)is_known;
		s->deep[known] = s->missed[s->n_missed] = st;
		known += is_known;
		s->n_missed += !is_known;
	}
	s->n_deep = known;
}

/* The words of those that were not known as they are. */
static int words_make(struct stacks *s, struct stack *st)
{
	struct tacho_words all = st->chain;
	struct run run = { all.v + 1, all.n - 1, st->leaf.space };
	uint64_t h = owner_key(st->owner);
	struct chain c;
	int err;

	words_begin(s, st);
	if (st->one_run) {
		err = run_take(s, st->pid, &run, &h, st);
	} else {
		chain_split(&c, all, run.space);
		err = chain_take(s, st->pid, &c, h, st);
	}
	s->n_words += st->n;
	return err;
}

static int look_for_words(struct stacks *s)
{
	for (size_t i = 0; i < s->n_missed; i++) {
		struct stack *st = s->missed[i];

		if (st->deep && words_make(s, st) < 0)
			return -ENOMEM;
		if (st->n > 1) {	/* where look_for_prefix() looks first */
			__builtin_prefetch(lately_at(s, st->words[st->n - 2].prefix));
			__builtin_prefetch(lately_at(s, st->words[(st->n - 1) / 2 - (st->n > 2)].prefix));
		}
	}
	return 0;
}

static bool look_for_first(struct stacks *s, struct stack *st, size_t n)
{
	uint32_t found = known_node(s, st->words[n - 1].prefix);

	if (found == KEYMAP_NONE)
		return false;
	st->done = n;
	st->node = found;
	return true;
}

/* Where a prefix is known, most of the shorter ones are. */
static void look_for_prefix(struct stacks *s, struct stack *st)
{
	size_t low = 0, high = st->n > 2 ? st->n - 2 : 0;

	if (st->n < 2 || look_for_first(s, st, st->n - 1))
		return;
	while (low < high) {
		size_t mid = low + (high - low + 1) / 2;

		if (look_for_first(s, st, mid))
			low = mid;
		else
			high = mid - 1;
	}
}

static struct lately *spot_lately(const struct stacks *s, uint64_t key)
{
	return &s->spot_frames[key & s->spot_mask];
}

/* Words that have no frame yet, those of objects from the front and others from the back: each kind is
 * then one loop whose end and branches can be foretold. */
static void list_word(struct stacks *s, struct stack_word *w)
{
	const struct keymap *m = w->spot.object ? &s->frames : &s->profile->other_frames;
	const struct lately *l = spot_lately(s, w->key);

	keymap_prefetch(m, w->key);
	w->frame = l->id - 1;
	s->todo[s->n_todo] = s->todo[s->todo_nowhere - 1] = w;
	s->n_todo += (w->spot.object != 0) & ((l->key != w->key) | !l->id);
	s->todo_nowhere -= w->spot.object == 0;
}

static void list_words(struct stacks *s)
{
	s->n_todo = 0;
	s->todo_nowhere = TODO_MOST;
	for (size_t i = 0; i < s->n_missed; i++)
		for (size_t k = s->missed[i]->done; k + 1 < s->missed[i]->n; k++)
			list_word(s, &s->missed[i]->words[k]);
	for (size_t i = 0; i < s->n; i++)
		if (s->batch[i].n)
			list_word(s, &s->batch[i].words[s->batch[i].n - 1]);
}

/* A place where nothing is mapped has the key of its frame. KEYMAP_NONE without memory. */
static uint32_t frame_nowhere(struct stacks *s, const struct stack_word *w)
{
	struct nowhere *n = &s->nowhere[w->space % countof(s->nowhere)];
	uint32_t *id = keymap_at(&s->profile->other_frames, w->key);

	if (!id)
		return KEYMAP_NONE;
	if (*id)
		return *id - 1;
	n->like.address = n->like.offset = w->spot.offset;
	*id = profile_frame_new(s->profile, &n->like, n->code) + 1;
	return *id - 1;
}

/* A spot that was not met yet waits for its symbol, and then for its place in the table of frames. */
static int fresh_add(struct stacks *s, struct stack_word *w)
{
	struct fresh_frame *f = vec_next(&s->fresh);

	if (!f)
		return -ENOMEM;
	f->word = w;
	symbols_prefetch(s->symbols, w->space, &w->spot);
	return 0;
}

static int look_for_symbols(struct stacks *s)
{
	for (size_t i = 0; i < s->fresh.n; i++) {
		struct fresh_frame *f = &s->fresh.v[i];

		if (stacks_frame_at(s, f->word->space, &f->word->spot, &f->like) < 0)
			return -ENOMEM;
		keymap_prefetch(frames_of(s->profile, f->like.known), frame_key(&f->like));
	}
	return 0;
}

static int look_for_frames(struct stacks *s)
{
	for (size_t i = s->todo_nowhere; i < TODO_MOST; i++) {
		s->todo[i]->frame = frame_nowhere(s, s->todo[i]);
		if (s->todo[i]->frame == KEYMAP_NONE)
			return -ENOMEM;
	}
	for (size_t i = 0; i < s->n_todo; i++) {
		struct stack_word *w = s->todo[i];

		w->frame = keymap_get(&s->frames, w->key);
		if (w->frame != KEYMAP_NONE)
			*spot_lately(s, w->key) = (struct lately){ w->key, w->frame + 1 };
		else if (fresh_add(s, w) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_frames(struct stacks *s)
{
	for (size_t i = 0; i < s->fresh.n; i++) {
		struct stack_word *w = s->fresh.v[i].word;
		const struct frame_like *like = &s->fresh.v[i].like;

		w->frame = profile_frame(s->profile, like);
		if (w->frame == KEYMAP_NONE)
			return -ENOMEM;
		if ((like->known || !like->jit) &&	/* a JIT may name it yet */
		    keymap_put(&s->frames, w->key, w->frame) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void lately_put(struct stacks *s, uint64_t key, uint32_t node)
{
	*lately_at(s, key) = (struct lately){ key, node + 1 };
}

/* Below a node that is new, all are. What is met once is not remembered, for most of it never comes again. */
static int add_new_nodes(struct stacks *s, struct stack *st, size_t from)
{
	st->node = profile_nodes_below(s->profile, st->node, st->words + from, st->n - from);
	return st->node == KEYMAP_NONE ? -ENOMEM : 0;
}

static int add_nodes(struct stacks *s, struct stack *st)
{
	uint32_t first_new = (uint32_t)s->profile->nodes.n;

	for (size_t i = st->done; i < st->n; i++) {
		const struct stack_word *w = &st->words[i];

		st->node = st->node ? profile_node(s->profile, st->node, w->frame) :
				      profile_outermost(s->profile, st->owner, w->frame);
		if (st->node == KEYMAP_NONE)
			return -ENOMEM;
		if (i + 1 == st->n)
			break;
		if (st->node >= first_new)
			return add_new_nodes(s, st, i + 1);
		lately_put(s, w->prefix, st->node);
	}
	profile_node_prefetch(s->profile, st->node);
	return 0;
}

/* A known prefix has no frame without a name in it, and its hash is still that of all its words. */
static void drop_nameless(struct stacks *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct stack *st = &s->batch[i];
		size_t n = st->done;

		st->nameless = true;
		for (size_t k = st->done; k < st->n; k++) {
			bool known = s->profile->frames.v[st->words[k].frame].known;

			st->nameless = !known;
			if (known)
				st->words[n++] = st->words[k];
		}
		st->n = n;
	}
}

/* A known prefix has no such function in it, since what was put there ended before. */
static void cut_callees(struct stacks *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct stack *st = &s->batch[i];

		for (size_t k = st->done; k < st->n; k++)
			if (s->profile->frame_flags.v[st->words[k].frame] & FRAME_END)
				st->n = k + 1;
	}
}

/* Words were left out: any stack may have any kind now. */
static void list_anew(struct stacks *s)
{
	s->n_lone = s->n_deep = 0;
	s->n_missed = s->n;
	for (size_t i = 0; i < s->n; i++)
		s->missed[i] = &s->batch[i];
}

/* Where the first of a stack's missing nodes hangs, or would. A frame that waits for its symbol is not known yet: then
 * what is fetched is of no use. */
static void fetch_parents(const struct stacks *s)
{
	for (size_t i = 0; i < s->n_lone; i++)
		if (s->lone[i]->n)
			profile_outermost_prefetch(s->profile, s->lone[i]->words[0].frame);
	for (size_t i = 0; i < s->n_deep; i++)
		profile_child_prefetch(s->profile, s->deep[i]->node, s->deep[i]->words[s->deep[i]->done].frame);
	for (size_t i = 0; i < s->n_missed; i++) {
		const struct stack *st = s->missed[i];

		if (st->done == 0 && st->n)
			profile_outermost_prefetch(s->profile, st->words[0].frame);
		else if (st->done < st->n)
			profile_child_prefetch(s->profile, st->node, st->words[st->done].frame);
	}
}

static int look_for_all_frames(struct stacks *s)
{
	int err;

	list_words(s);
	for (size_t i = 0; i < s->n; i++)
		profile_node_prefetch(s->profile, s->batch[i].node);
	err = look_for_frames(s);
	if (err == 0)
		err = look_for_symbols(s);
	fetch_parents(s);
	return err < 0 ? err : add_frames(s);
}

static void remember_callers(struct stacks *s, const struct stack *st, uint32_t first_new)
{
	uint32_t callers = s->profile->nodes.v[st->node].parent;

	if (st->deep && callers < first_new)
		lately_put(s, st->callers, callers);
}

int stacks_resolve(struct stacks *s)
{
	uint32_t first_new = (uint32_t)s->profile->nodes.n;
	int err;

	look_for_callers(s);
	err = look_for_words(s);
	for (size_t i = 0; i < s->n_missed && err == 0; i++)
		look_for_prefix(s, s->missed[i]);
	if (err == 0)
		err = look_for_all_frames(s);
	if (err == 0 && s->profile->opts.resolved)
		drop_nameless(s);
	if (err == 0 && s->profile->filter.ends)
		cut_callees(s);
	if (s->profile->opts.resolved || s->profile->filter.ends)
		list_anew(s);
	for (size_t i = 0; i < s->n && err == 0; i++)
		err = add_nodes(s, &s->batch[i]);
	for (size_t i = 0; i < s->n_missed && err == 0; i++)
		remember_callers(s, s->missed[i], first_new);
	return err;
}

void stacks_clear(struct stacks *s)
{
	s->n = s->n_lone = s->n_deep = s->n_words = s->n_raw = s->fresh.n = 0;
}
