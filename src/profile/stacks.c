/*
 * From a raw chain to a node. The words lie leaf first, in runs that markers put into a space:
 *
 *	KERNEL k0 k1 k2 USER u0 u1 u2		k0 is the leaf, u2 the outermost caller
 *
 * Each address becomes its spot, which is the same for all processes that have the object mapped,
 * wherever that is. A hash runs over these from the outermost on. The prefixes met lately have their
 * nodes in a table, so a chain like one before costs one look, and a new one only its new words.
 * What the table has forgotten is found again frame by frame. The hashes are 64 bits wide: among ten
 * million prefixes two meet by chance once in some hundred thousand files.
 *
 * All tables together are far larger than the caches, and what a chain needs next is known only
 * after the look before. So some chains are taken together, step by step: each step looks at what
 * the one before has fetched, and fetches what the next will look at.
 */
#include "profile/profile.h"

#include "base/perf_abi.h"

#include <errno.h>

#define MARKER_FIRST ((uint64_t)-4095)
#define MARKER_HYPERVISOR ((uint64_t)-32)
#define MARKER_KERNEL ((uint64_t)-128)
#define MARKER_USER ((uint64_t)-512)
#define MARKER_USER_DEFERRED ((uint64_t)-640)	/* a cookie follows; 6.19 */
#define MARKER_GUEST ((uint64_t)-2048)
#define MARKER_GUEST_KERNEL ((uint64_t)-2176)
#define MARKER_GUEST_USER ((uint64_t)-2560)

#define WORDS_MAX 8192		/* a record is below 64 KiB */
#define RUNS_MAX 16		/* the kernel writes at most three */

struct run {
	const uint64_t *v;
	size_t n;
	enum tacho_space space;
};

struct chain {
	struct run runs[RUNS_MAX];
	size_t n_runs;
};

int stacks_init(struct stacks *s, struct tacho_profile *p, struct tacho_symbols *symbols, bool few)
{
	size_t slots = few ? LATELY_FEW : LATELY_SLOTS;

	*s = (struct stacks){ .profile = p, .symbols = symbols, .lately_mask = slots - 1 };
	s->words = reallocarray(NULL, BATCH_WORDS, sizeof(*s->words));
	s->spots = reallocarray(NULL, WORDS_MAX, sizeof(*s->spots));
	s->nodes = calloc(slots, sizeof(*s->nodes));
	s->frames = calloc(slots, sizeof(*s->frames));
	return s->words && s->spots && s->nodes && s->frames ? 0 : -ENOMEM;
}

void stacks_done(struct stacks *s)
{
	vec_done(&s->names);
	vec_done(&s->objects);
	vec_done(&s->fresh);
	free(s->words);
	free(s->spots);
	free(s->nodes);
	free(s->frames);
	s->words = NULL;
	s->spots = NULL;
	s->nodes = s->frames = NULL;
}

/* ---- chains ---- */

static enum tacho_space space_after(uint64_t marker, enum tacho_space before)
{
	switch (marker) {
	case MARKER_HYPERVISOR:
		return TACHO_SPACE_HYPERVISOR;
	case MARKER_KERNEL:
		return TACHO_SPACE_KERNEL;
	case MARKER_USER:
		return TACHO_SPACE_USER;
	case MARKER_GUEST:
	case MARKER_GUEST_KERNEL:
		return TACHO_SPACE_GUEST_KERNEL;
	case MARKER_GUEST_USER:
		return TACHO_SPACE_GUEST_USER;
	default:
		return before;
	}
}

static void run_add(struct chain *c, const uint64_t *v, size_t n, enum tacho_space space)
{
	if (n && c->n_runs < RUNS_MAX)
		c->runs[c->n_runs++] = (struct run){ v, n, space };
}

static void chain_split(struct chain *c, struct tacho_words w, enum tacho_space space)
{
	size_t n = min_of(w.n, (size_t)WORDS_MAX), from = 0;

	for (size_t i = 0; i < n; i++) {
		if (w.v[i] < MARKER_FIRST)
			continue;
		run_add(c, w.v + from, i - from, space);
		space = space_after(w.v[i], space);
		if (w.v[i] == MARKER_USER_DEFERRED)
			i++;
		from = i + 1;
	}
	if (from < n)
		run_add(c, w.v + from, n - from, space);
}

static size_t chain_words(const struct chain *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_runs; i++)
		n += c->runs[i].n;
	return n;
}

/* Cuts to `most` words, which stay at the leaf's or at the outermost caller's end. */
static void chain_cut(struct chain *c, size_t most, bool keep_outermost)
{
	size_t over = chain_words(c);

	for (over = over > most ? over - most : 0; over && c->n_runs;) {
		struct run *r = keep_outermost ? &c->runs[0] : &c->runs[c->n_runs - 1];
		size_t cut = min_of(over, r->n);

		over -= cut;
		r->n -= cut;
		if (keep_outermost)
			r->v += cut;
		if (r->n)
			continue;
		c->n_runs--;
		if (keep_outermost)
			memmove(c->runs, c->runs + 1, c->n_runs * sizeof(*c->runs));
	}
}

static void chain_put_leaf(struct chain *c, const uint64_t *ip, enum tacho_space space)
{
	if (c->n_runs == RUNS_MAX)
		c->n_runs--;
	memmove(c->runs + 1, c->runs, c->n_runs * sizeof(*c->runs));
	c->runs[0] = (struct run){ ip, 1, space };
	c->n_runs++;
}

/* ---- into the batch ---- */

static struct lately *lately_at(const struct stacks *s, struct lately *table, uint64_t key)
{
	return &table[(key ^ key >> 32) & s->lately_mask];
}

/* Equal hashes: equal frames. */
static uint64_t spot_key(const struct tacho_spot *spot, enum tacho_space space)
{
	return key_mix(key_add(key_mix(~key_pair(spot->object, space)), spot->offset));
}

/* What the frames of addresses where nothing is mapped have in common: there may be millions, so it
 * is asked for once. NULL without memory. */
static struct nowhere *nowhere_of(struct stacks *s, enum tacho_space space, uint64_t ip)
{
	struct nowhere *n;

	if (space == TACHO_SPACE_UNKNOWN)
		space = ip >> 63 ? TACHO_SPACE_KERNEL : TACHO_SPACE_USER;
	n = &s->nowhere[(size_t)space % countof(s->nowhere)];
	if (n->asked)
		return n;
	if (stacks_frame_nowhere(s, space, &n->like) < 0)
		return NULL;
	n->asked = true;
	n->key = frame_key_common(n->like.symbol, n->like.object);
	return n;
}

static int word_put(struct stacks *s, const struct run *run, size_t i, struct stack_word *w)
{
	const struct tacho_profile_opts *o = &s->profile->opts;
	const struct nowhere *n;
	uint64_t address;

	*w = (struct stack_word){ .ip = run->v[i], .space = run->space };
	if (s->spots[i].object) {
		w->key = spot_key(&s->spots[i], run->space);
		return 0;
	}
	n = nowhere_of(s, run->space, w->ip);
	if (!n)
		return -ENOMEM;
	w->nowhere = true;
	address = o->split_unknown || o->per_address ? w->ip : 0;
	w->key = frame_key_at(n->key, address, address, (uint32_t)n->like.space << 1);
	return 0;
}

static int words_put(struct stacks *s, const struct chain *c, struct stack *to)
{
	uint64_t h = 0x2545f4914f6cdd1dull;
	struct stack_word *w = s->words + s->n_words;

	for (size_t r = c->n_runs; r-- > 0;) {
		const struct run *run = &c->runs[r];

		if (tacho_symbols_spots(s->symbols, to->pid, run->space, run->v, run->n, s->spots) < 0)
			return -ENOMEM;
		for (size_t i = run->n; i-- > 0; w++) {
			if (word_put(s, run, i, w) < 0)
				return -ENOMEM;
			h = w->prefix = key_add(h, w->key);
		}
	}
	to->words = s->words + s->n_words;
	to->n = (size_t)(w - to->words);
	s->n_words += to->n;
	return 0;
}

static void chain_make(struct chain *c, const struct tacho_profile_opts *o,
		       const struct tacho_sample *sample, enum tacho_space space)
{
	struct tacho_words w = sample->chain;
	size_t first = 0;

	c->n_runs = 0;
	if (o->no_chains)
		w.n = 0;
	/* The chain begins with the sampled address, unless that lies where chains were not asked
	 * for (the kernel, mostly). */
	while (first < w.n && w.v[first] >= MARKER_FIRST)
		first++;
	if ((sample->type & PERF_SAMPLE_IP) && (first == w.n || w.v[first] != sample->ip))
		run_add(c, &sample->ip, 1, space);
	chain_split(c, w, space);
	if (o->max_stack)
		chain_cut(c, o->max_stack, o->caller_first);
	if (o->max_stack && o->caller_first && c->n_runs && c->runs[0].v[0] != sample->ip)
		chain_put_leaf(c, &sample->ip, space);	/* the sample still fell there */
}

static void frame_prefetch(const struct stacks *s, const struct stack_word *w)
{
	if (w->nowhere)
		keymap_prefetch(&s->profile->other_frames, w->key);
	else
		__builtin_prefetch(lately_at(s, s->frames, w->key));
}

bool stacks_full(const struct stacks *s)
{
	return s->n == BATCH_MOST || s->n_words > BATCH_WORDS - WORDS_MAX - RUNS_MAX;
}

int stacks_add(struct stacks *s, uint32_t pid, const struct tacho_sample *sample, enum tacho_space space)
{
	struct stack *to = &s->batch[s->n++];
	struct chain c;

	chain_make(&c, &s->profile->opts, sample, space);
	*to = (struct stack){ .pid = pid };
	if (words_put(s, &c, to) < 0)
		return -ENOMEM;
	if (to->n > 1)
		__builtin_prefetch(lately_at(s, s->nodes, to->words[to->n - 2].prefix));
	if (to->n)
		frame_prefetch(s, &to->words[to->n - 1]);
	return 0;
}

/* ---- through it, step by step ---- */

static uint32_t known_node(const struct stacks *s, const struct stack_word *w)
{
	const struct lately *l = lately_at(s, s->nodes, w->prefix);

	return l->id && l->key == w->prefix ? l->id - 1 : KEYMAP_NONE;
}

/* Return addresses come again and again, but a leaf may be any instruction of its function: so
 * the callers are looked for by their words, and the leaf by its frame. */
static void look_for_callers(struct stacks *s, struct stack *st)
{
	if (st->n < 2)
		return;
	st->node = known_node(s, &st->words[st->n - 2]);
	if (st->node != KEYMAP_NONE) {
		st->done = st->n - 1;
		return;
	}
	for (size_t i = 0; i + 1 < st->n; i++) {
		__builtin_prefetch(lately_at(s, s->nodes, st->words[i].prefix));
		frame_prefetch(s, &st->words[i]);
	}
}

/* Where a prefix is known, most of the shorter ones are. */
static void look_for_prefix(struct stacks *s, struct stack *st)
{
	size_t low = 0, high = st->n > 1 ? st->n - 2 : 0;

	if (st->done == 0)
		for (st->node = 0; low < high;) {
			size_t mid = low + (high - low + 1) / 2;
			uint32_t found = known_node(s, &st->words[mid - 1]);

			if (found == KEYMAP_NONE) {
				high = mid - 1;
			} else {
				st->done = low = mid;
				st->node = found;
			}
		}
}

/* The same spot is the same frame, and a place where nothing is mapped has the key of its own. */
static uint32_t known_frame(const struct stacks *s, const struct stack_word *w)
{
	const struct lately *l;

	if (w->nowhere)
		return keymap_get(&s->profile->other_frames, w->key);
	l = lately_at(s, s->frames, w->key);
	return l->id && l->key == w->key ? l->id - 1 : KEYMAP_NONE;
}

/* What was not met lately is looked up, and then waits for its place in the table of frames. */
static int fresh_add(struct stacks *s, const struct stack *st, struct stack_word *w)
{
	struct fresh_frame *f = vec_next(&s->fresh);

	if (!f)
		return -ENOMEM;
	f->word = w;
	if (w->nowhere)
		return 0;
	if (stacks_frame(s, st->pid, w->space, w->ip, &f->like) < 0)
		return -ENOMEM;
	keymap_prefetch(frames_of(s->profile, f->like.known), frame_key(&f->like));
	return 0;
}

static int look_for_frames(struct stacks *s, struct stack *st)
{
	for (size_t i = st->done; i < st->n; i++) {
		struct stack_word *w = &st->words[i];

		w->frame = known_frame(s, w);
		if (w->frame == KEYMAP_NONE && fresh_add(s, st, w) < 0)
			return -ENOMEM;
		if (i == 0 && w->frame != KEYMAP_NONE)
			profile_outermost_prefetch(s->profile, w->frame);
	}
	profile_node_prefetch(s->profile, st->node);
	return 0;
}

static uint32_t frame_nowhere(struct stacks *s, const struct stack_word *w)
{
	struct nowhere *n = nowhere_of(s, w->space, w->ip);

	if (!n)
		return KEYMAP_NONE;
	if (s->profile->opts.split_unknown || s->profile->opts.per_address)
		n->like.address = n->like.offset = w->ip;
	return profile_frame_keyed(s->profile, &n->like, w->key);
}

static int add_frames(struct stacks *s)
{
	for (size_t i = 0; i < s->fresh.n; i++) {
		struct stack_word *w = s->fresh.v[i].word;
		const struct tacho_profile_frame *like = &s->fresh.v[i].like;

		w->frame = w->nowhere ? frame_nowhere(s, w) : profile_frame(s->profile, like);
		if (w->frame == KEYMAP_NONE)
			return -ENOMEM;
		if (!w->nowhere && (like->known || !like->jit))	/* a JIT may name it yet */
			*lately_at(s, s->frames, w->key) = (struct lately){ w->key, w->frame + 1 };
	}
	return 0;
}

static int add_nodes(struct stacks *s, struct stack *st)
{
	/* One before it in the batch may have been alike. */
	uint32_t now = st->done + 1 < st->n ? known_node(s, &st->words[st->n - 2]) : KEYMAP_NONE;
	uint32_t first_new = (uint32_t)s->profile->nodes.n;

	if (now != KEYMAP_NONE) {
		st->node = now;
		st->done = st->n - 1;
	}
	for (size_t i = st->done; i < st->n; i++) {
		const struct stack_word *w = &st->words[i];

		st->node = st->node < first_new ? profile_node(s->profile, st->node, w->frame) :
						  profile_node_new(s->profile, st->node, w->frame);
		if (st->node == KEYMAP_NONE)
			return -ENOMEM;
		if (i + 1 < st->n)
			*lately_at(s, s->nodes, w->prefix) = (struct lately){ w->prefix, st->node + 1 };
	}
	profile_node_prefetch(s->profile, st->node);
	return 0;
}

int stacks_resolve(struct stacks *s)
{
	int err = 0;

	for (size_t i = 0; i < s->n; i++)
		look_for_callers(s, &s->batch[i]);
	for (size_t i = 0; i < s->n; i++)
		look_for_prefix(s, &s->batch[i]);
	for (size_t i = 0; i < s->n && err == 0; i++)
		err = look_for_frames(s, &s->batch[i]);
	if (err == 0)
		err = add_frames(s);
	for (size_t i = 0; i < s->n && err == 0; i++)
		profile_children_prefetch(s->profile, s->batch[i].node);
	for (size_t i = 0; i < s->n && err == 0; i++)
		err = add_nodes(s, &s->batch[i]);
	return err;
}

void stacks_clear(struct stacks *s)
{
	s->n = s->n_words = s->fresh.n = 0;
}
