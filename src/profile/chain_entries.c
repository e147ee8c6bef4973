/*
 * Converts each address of a chain to a code location, and computes a running hash of the locations, starting
 * with the outermost caller. recent_nodes maps the hash of a prefix to its node, also for other processes
 * that have the same objects mapped at other addresses.
 */
#include "profile/chain_entries.h"

#include <errno.h>

/* There may be millions of frames at unmapped addresses, so the properties that they share are looked up once
 * per space. */
int entries_prepare_unmapped(struct stack_resolver *s, enum tacho_space space)
{
	struct unmapped_frames *n = &s->unmapped[(size_t)space % countof(s->unmapped)];

	if (n->ready)
		return 0;
	if (stacks_frame_unmapped(s, space, &n->desc) < 0)
		return -ENOMEM;
	n->code = profile_intern_code(s->profile, &n->desc);
	if (!n->code)
		return -ENOMEM;
	n->ready = true;
	n->key = frame_key_common(n->desc.symbol, n->desc.object, (uint32_t)n->desc.space << 1);
	return 0;
}

/* Returns the hash of all entries up to this one; `h` is the hash of those before. */
static inline uint64_t entry_fill(struct chain_entry *w, const struct address_mapping *m, uint64_t ip,
				  enum tacho_space space, uint64_t h)
{
	uint64_t offset = (ip - m->bias) & m->mask, key = key_add(m->hash_seed, offset);

	h = key_add(h, key);
	w->spot.offset = offset;
	w->spot.object = m->object;
	w->key = key;
	w->prefix = h;
	w->space = (uint8_t)space;
	w->exact = false;
	return h;
}

/* The innermost entry of a run: its address is exact, as no call leads from it to the entry before. */
static inline uint64_t innermost_fill(const struct stack_resolver *s, struct chain_entry *w, struct address_mapping m,
				      const struct chain_run *run, uint64_t h)
{
	m = mapping_of_exact(s, m);
	h = entry_fill(w, &m, run->v[0], run->space, h);
	w->exact = true;
	return h;
}

/* fill_kernel_run() and fill_user_run() fill in a run's entries, outermost first, and return the hash of the
 * last entry. */
static uint64_t fill_kernel_run(const struct stack_resolver *s, const struct chain_run *run, uint32_t object, uint64_t h,
				struct chain_entry *w)
{
	const struct address_mapping all = { object_hash_seed(object, run->space), 0, UINT64_MAX, object };

	for (size_t i = run->n; --i > 0;)
		h = entry_fill(w++, &all, run->v[i], run->space, h);
	return innermost_fill(s, w, all, run, h);
}

static uint64_t fill_user_run(const struct stack_resolver *s, const struct chain_run *run, const struct address_lookup *lookup,
			      uint64_t h, struct chain_entry *w)
{
	struct interval in = INTERVAL_EMPTY;
	struct address_mapping mapping = { 0 };
	const uint64_t *v = run->v;

	for (size_t i = run->n; i-- > 0;) {
		if (!interval_has(&in, v[i])) {
			in = address_lookup_find(lookup, v[i]);
			mapping = mapping_of_interval(s, &in, run->space);
		}
		if (!i)
			break;
		h = entry_fill(w++, &mapping, v[i], run->space, h);
	}
	return innermost_fill(s, w, mapping, run, h);
}

static int add_run(struct stack_resolver *s, uint32_t pid, const struct chain_run *run, uint64_t *h,
		   struct sample_stack *to)
{
	struct chain_entry *w = to->entries + to->n;
	struct address_lookup lookup;

	if (entries_prepare_unmapped(s, run->space) < 0 || symbols_lookup_begin(s->symbols, pid, run->space, &lookup) < 0)
		return -ENOMEM;
	*h = lookup.kernel ? fill_kernel_run(s, run, lookup.kernel, *h, w) : fill_user_run(s, run, &lookup, *h, w);
	to->n += run->n;
	return 0;
}

static enum tacho_space space_of_address(uint64_t ip)
{
	return ip >> 63 ? TACHO_SPACE_KERNEL : TACHO_SPACE_USER;
}

/* Adds a run whose space is given neither by a marker nor by the sample; it is derived from the addresses. */
static int add_mixed_run(struct stack_resolver *s, uint32_t pid, const struct chain_run *run, uint64_t *h,
			 struct sample_stack *to)
{
	size_t from, end = run->n;
	int err = 0;

	for (; end && err == 0; end = from) {
		enum tacho_space space = space_of_address(run->v[end - 1]);

		for (from = end - 1; from && space_of_address(run->v[from - 1]) == space;)
			from--;
		err = add_run(s, pid, &(struct chain_run){ run->v + from, end - from, space }, h, to);
	}
	return err;
}

int entries_add_chain(struct stack_resolver *s, uint32_t pid, const struct chain *c, struct sample_stack *to)
{
	uint64_t h = owner_hash(to->owner);
	int err = 0;

	for (size_t r = c->n_runs; r-- > 0 && err == 0;) {
		const struct chain_run *run = &c->runs[r];

		err = run->space ? add_run(s, pid, run, &h, to) : add_mixed_run(s, pid, run, &h, to);
	}
	return err;
}

int entries_add_run(struct stack_resolver *s, uint32_t pid, const struct chain_run *run, struct sample_stack *to)
{
	uint64_t h = owner_hash(to->owner);

	return add_run(s, pid, run, &h, to);
}
