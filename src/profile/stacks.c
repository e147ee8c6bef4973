/*
 * From a raw chain to a node. The words lie leaf first, in runs that markers put into a space:
 *
 *	KERNEL k0 k1 k2 USER u0 u1 u2		k0 is the leaf, u2 the outermost caller
 *
 * A hash runs over them from the outermost on, started anew with the version of the maps at each
 * run. The prefixes met lately have their nodes in a small table, so a chain like one before costs
 * one look, and a new one only its new words. What the table has forgotten is found again frame by
 * frame. The hashes are 64 bits wide: among ten million prefixes two meet by chance once in some
 * hundred thousand files.
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

int stacks_init(struct stacks *s, struct tacho_profile *p, struct tacho_symbols *symbols)
{
	*s = (struct stacks){ .profile = p, .symbols = symbols };
	s->hashes = reallocarray(NULL, WORDS_MAX + RUNS_MAX, sizeof(*s->hashes));
	s->path = reallocarray(NULL, WORDS_MAX + RUNS_MAX, sizeof(*s->path));
	s->nodes = calloc(LATELY_SLOTS, sizeof(*s->nodes));
	s->frames = calloc(LATELY_SLOTS, sizeof(*s->frames));
	return s->hashes && s->path && s->nodes && s->frames ? 0 : -ENOMEM;
}

void stacks_done(struct stacks *s)
{
	vec_done(&s->names);
	vec_done(&s->objects);
	free(s->hashes);
	free(s->path);
	free(s->nodes);
	free(s->frames);
	s->hashes = NULL;
	s->path = NULL;
	s->nodes = s->frames = NULL;
}

/* ---- frames ---- */

/* Room for `id` in a table of ids + 1. */
static uint32_t *remap_at(uint32_t **v, size_t *n, size_t *cap, uint32_t id)
{
	size_t want = *cap ? *cap : 256;
	uint32_t *bigger;

	if (id < *n)
		return *v + id;
	while (want <= id)
		want *= 2;
	bigger = reallocarray(*v, want, sizeof(*bigger));
	if (!bigger)
		return NULL;
	memset(bigger + *n, 0, (want - *n) * sizeof(*bigger));
	*v = bigger;
	*n = *cap = want;
	return bigger + id;
}

static uint32_t name_id(struct stacks *s, uint32_t symbol)
{
	uint32_t *slot = remap_at(&s->names.v, &s->names.n, &s->names.cap, symbol);
	uint32_t id;

	if (!slot)
		return KEYMAP_NONE;
	if (*slot)
		return *slot - 1;
	id = profile_name(s->profile, tacho_symbols_name(s->symbols, symbol));
	*slot = id == KEYMAP_NONE ? 0 : id + 1;
	return id;
}

static int object_like(struct stacks *s, uint32_t object, struct tacho_profile_object *out)
{
	struct tacho_object_info info = { .size = sizeof(info) };
	int err = tacho_symbols_object(s->symbols, object, &info);

	if (err < 0)
		return err;
	*out = (struct tacho_profile_object){
		.path = info.path, .name = info.short_name, .kernel = info.kernel, .jit = info.jit,
		.has_symbols = info.has_symbols, .why = info.why,
		.n_build_id = (uint8_t)min_of(info.n_build_id, sizeof(out->build_id)),
	};
	if (info.build_id)
		memcpy(out->build_id, info.build_id, out->n_build_id);
	return 0;
}

static uint32_t object_id(struct stacks *s, uint32_t object)
{
	uint32_t *slot = remap_at(&s->objects.v, &s->objects.n, &s->objects.cap, object);
	struct tacho_profile_object like;
	uint32_t id;

	if (!slot)
		return KEYMAP_NONE;
	if (*slot)
		return *slot - 1;
	if (object_like(s, object, &like) < 0)
		return 0;
	id = profile_object(s->profile, &like);
	*slot = id == KEYMAP_NONE ? 0 : id + 1;
	return id;
}

void stacks_objects(struct stacks *s)
{
	struct tacho_profile_object like, *o;

	for (uint32_t i = 1; i < s->objects.n; i++) {
		if (!s->objects.v[i] || object_like(s, i, &like) < 0)
			continue;
		o = &s->profile->objects.v[s->objects.v[i] - 1];
		o->has_symbols = o->has_symbols || like.has_symbols;
		o->why = !o->has_symbols && like.why ?
			 arena_str(&s->profile->arena, str_of(like.why)) : NULL;
	}
}

static uint32_t frame_resolve(struct stacks *s, uint32_t pid, enum tacho_space space, uint64_t ip)
{
	const struct tacho_profile_opts *o = &s->profile->opts;
	struct tacho_profile_frame f = { 0 };
	struct tacho_frame raw;

	if (tacho_symbols_resolve(s->symbols, pid, space, ip, &raw) < 0)
		return KEYMAP_NONE;
	f.known = raw.symbol != 0;
	f.symbol = name_id(s, raw.symbol);
	f.object = object_id(s, raw.object);
	if (f.symbol == KEYMAP_NONE || f.object == KEYMAP_NONE)
		return KEYMAP_NONE;
	f.space = raw.space;
	f.jit = s->profile->objects.v[f.object].jit;
	if (f.known)
		f.address = raw.object_address - (o->per_address ? 0 : raw.symbol_offset);
	else if (o->per_address || o->split_unknown) {
		f.address = raw.object ? raw.object_address : ip;
		f.offset = raw.object ? raw.object_offset : ip;
	}
	return profile_frame(s->profile, &f);
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

static uint64_t run_seed(const struct stacks *s, uint64_t h, enum tacho_space space,
			 uint32_t pid, uint32_t version)
{
	if (space == TACHO_SPACE_KERNEL)
		return key_add(h, key_pair(space, s->kernel_version));
	/* Version 0: nothing is mapped. The pid still matters to a JIT's names in other spaces. */
	return key_add(key_add(h, key_pair(space, version)), version ? 0 : pid);
}

/* Fills s->hashes: one per word from the outermost on. */
static size_t chain_hash(struct stacks *s, const struct chain *c, uint32_t pid, uint32_t version)
{
	uint64_t h = 0x2545f4914f6cdd1dull, *out = s->hashes;

	for (size_t r = c->n_runs; r-- > 0;) {
		const struct run *run = &c->runs[r];

		h = run_seed(s, h, run->space, pid, version);
		for (size_t i = run->n; i-- > 0;)
			*out++ = h = key_add(h, run->v[i]);
	}
	return (size_t)(out - s->hashes);
}

/* ---- what was met lately ---- */

static struct lately *lately_at(struct lately *table, uint64_t key)
{
	return &table[(key ^ key >> 32) % LATELY_SLOTS];
}

static uint32_t known_node(const struct stacks *s, uint64_t hash)
{
	const struct lately *l = lately_at(s->nodes, hash);

	return l->id && l->key == hash ? l->id - 1 : KEYMAP_NONE;
}

static void remember_node(struct stacks *s, uint64_t hash, uint32_t node)
{
	*lately_at(s->nodes, hash) = (struct lately){ hash, node + 1 };
}

/* The same address of the same maps is the same frame. */
static uint32_t frame_at(struct stacks *s, uint32_t pid, uint64_t seed, enum tacho_space space,
			 uint64_t ip)
{
	uint64_t key = key_mix(key_add(seed, ip));
	struct lately *l = lately_at(s->frames, key);
	uint32_t frame;

	if (l->id && l->key == key)
		return l->id - 1;
	frame = frame_resolve(s, pid, space, ip);
	if (frame != KEYMAP_NONE)
		*l = (struct lately){ key, frame + 1 };
	return frame;
}

/* An address that is new is most often one where nothing is mapped; that frame's place in the table
 * can be fetched before it is known. */
static void frame_prefetch(const struct stacks *s, uint64_t seed, enum tacho_space space, uint64_t ip)
{
	uint64_t key = key_mix(key_add(seed, ip));
	const struct lately *l = lately_at(s->frames, key);
	struct tacho_profile_frame f = { .space = space, .address = ip, .offset = ip };

	if (l->key != key && s->profile->opts.split_unknown)
		keymap_prefetch(&s->profile->other_frames, frame_key(&f));
}

static void run_prefetch(struct stacks *s, const struct run *run, uint64_t seed)
{
	for (size_t i = 0; i < run->n; i++)
		frame_prefetch(s, seed, run->space, run->v[i]);
}

/* The frames of the words of the hashes [done, n). */
static int chain_frames(struct stacks *s, const struct chain *c, uint32_t pid, uint32_t version,
			size_t done, size_t n)
{
	size_t at = 0;

	for (size_t r = c->n_runs; r-- > 0;) {
		const struct run *run = &c->runs[r];
		uint64_t seed = run_seed(s, 1, run->space, pid, version);

		if (at + run->n <= done) {
			at += run->n;
			continue;
		}
		run_prefetch(s, run, seed);
		for (size_t i = run->n; i-- > 0 && at < n; at++) {
			if (at < done)
				continue;
			s->path[at] = frame_at(s, pid, seed, run->space, run->v[i]);
			if (s->path[at] == KEYMAP_NONE)
				return -ENOMEM;
		}
	}
	return 0;
}

/* Adds the words of the hashes [done, n) below `node`. */
static uint32_t chain_add(struct stacks *s, const struct chain *c, uint32_t pid, uint32_t version,
			  size_t done, size_t n, uint32_t node)
{
	if (chain_frames(s, c, pid, version, done, n) < 0)
		return KEYMAP_NONE;
	profile_nodes_prefetch(s->profile, s->path + done, n - done);
	for (size_t at = done; at < n && node != KEYMAP_NONE; at++) {
		node = profile_node(s->profile, node, s->path[at]);
		if (node != KEYMAP_NONE)
			remember_node(s, s->hashes[at], node);
	}
	return node;
}

/* The node of the first `n` words. */
static uint32_t chain_callers(struct stacks *s, const struct chain *c, uint32_t pid, uint32_t version,
			      size_t n)
{
	uint32_t node = known_node(s, s->hashes[n - 1]), found;
	size_t low = 0, high = n - 1;

	if (node != KEYMAP_NONE)
		return node;
	/* Where a prefix is known, most of the shorter ones are. */
	for (node = 0; low < high;) {
		size_t mid = low + (high - low + 1) / 2;

		found = known_node(s, s->hashes[mid - 1]);
		if (found == KEYMAP_NONE) {
			high = mid - 1;
		} else {
			low = mid;
			node = found;
		}
	}
	return chain_add(s, c, pid, version, low, n, node);
}

/* Return addresses come again and again, but a leaf may be any instruction of its function: so
 * the callers are looked for by their words, and the leaf by its frame. */
static uint32_t chain_node(struct stacks *s, const struct chain *c, uint32_t pid, uint32_t version)
{
	size_t n = chain_hash(s, c, pid, version);
	uint32_t node = n > 1 ? chain_callers(s, c, pid, version, n - 1) : 0, frame;
	const struct run *leaf = &c->runs[0];

	if (!n || node == KEYMAP_NONE)
		return node;
	frame = frame_at(s, pid, run_seed(s, 1, leaf->space, pid, version), leaf->space, leaf->v[0]);
	return frame == KEYMAP_NONE ? KEYMAP_NONE : profile_node(s->profile, node, frame);
}

uint32_t stacks_node(struct stacks *s, uint32_t pid, uint32_t version,
		     const struct tacho_sample *sample, enum tacho_space space)
{
	const struct tacho_profile_opts *o = &s->profile->opts;
	struct tacho_words w = sample->chain;
	size_t first = 0;
	struct chain c;

	c.n_runs = 0;
	if (o->no_chains)
		w.n = 0;
	/* The chain begins with the sampled address, unless that lies where chains were not asked
	 * for (the kernel, mostly). */
	while (first < w.n && w.v[first] >= MARKER_FIRST)
		first++;
	if ((sample->type & PERF_SAMPLE_IP) && (first == w.n || w.v[first] != sample->ip))
		run_add(&c, &sample->ip, 1, space);
	chain_split(&c, w, space);
	if (o->max_stack)
		chain_cut(&c, o->max_stack, o->caller_first);
	if (o->max_stack && o->caller_first && c.n_runs && c.runs[0].v[0] != sample->ip)
		chain_put_leaf(&c, &sample->ip, space);	/* the sample still fell there */
	return chain_node(s, &c, pid, version);
}
