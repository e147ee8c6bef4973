/*
 * Looks up call chains as the kernel wrote them. While a task's maps do not change, equal callers have equal
 * addresses, so a hash of the addresses, the task's owner and the state of its maps finds their node in
 * recent_nodes. Only if this lookup fails are the addresses converted to code locations (chain_entries.c).
 * The leaf may be any instruction of its function, so it is not part of the hash; leaf_regions gives its code
 * location.
 */
#include "profile/chain_entries.h"

#include <errno.h>

int stacks_task_context(struct stack_resolver *s, uint32_t pid, uint32_t thread, struct task_context *out)
{
	struct address_lookup lookup;

	if (entries_prepare_unmapped(s, TACHO_SPACE_USER) < 0 ||
	    symbols_lookup_begin(s->symbols, pid, TACHO_SPACE_USER, &lookup) < 0)
		return -ENOMEM;
	out->pid = pid;
	out->owner = profile_node_owner(s->profile, thread);
	out->hash_seed = key_add(owner_hash(out->owner), lookup.version);
	out->hash_seed = key_add(out->hash_seed, symbols_kernel_version(s->symbols));
	return address_lookup_is_stable(&lookup);
}

static inline uint64_t leaf_region_tag(const struct task_context *task, enum tacho_space space)
{
	return task->hash_seed ^ (uint64_t)space << 32;
}

static inline struct leaf_region *leaf_region_slot(const struct stack_resolver *s, uint64_t tag, uint64_t ip)
{
	return &s->leaf_regions[((ip >> INTERVAL_REGION_BITS) * 0x9e3779b97f4a7c15ull + tag) >> 32 & (LEAF_REGIONS - 1)];
}

static inline bool leaf_region_matches(const struct leaf_region *r, uint64_t tag, uint64_t ip)
{
	return (r->tag == tag) & (ip >= r->start) & (ip <= r->last);
}

static __attribute__((noinline)) int leaf_region_fill(struct stack_resolver *s, const struct task_context *task,
						      enum tacho_space space, uint64_t ip, struct leaf_region *out)
{
	struct interval in = { .last = UINT64_MAX };
	struct address_lookup lookup;

	if (entries_prepare_unmapped(s, space) < 0 || symbols_lookup_begin(s->symbols, task->pid, space, &lookup) < 0)
		return -ENOMEM;
	if (lookup.kernel)
		in.object = lookup.kernel;
	else
		in = address_lookup_find(&lookup, ip);
	*out = (struct leaf_region){ .tag = leaf_region_tag(task, space), .start = in.start, .last = in.last,
				     .space = (uint8_t)space,
				     .mapping = mapping_of_exact(s, mapping_of_interval(s, &in, space)) };
	return 0;
}

/* Adds `first` and up to three more addresses at v + 2 to the hash; *max becomes the greatest address. If there are fewer
 * than three, an earlier one is used instead. Branchless, since the lengths of chains are unpredictable; the two
 * products do not depend on each other. */
static inline uint64_t hash_up_to_four(uint64_t h, uint64_t first, const uint64_t *v, size_t more, uint64_t *max)
{
	static const uint8_t indexes[][3] = { { 0, 0, 0 }, { 2, 2, 2 }, { 2, 3, 3 }, { 2, 3, 4 } };
	const uint8_t *at = indexes[min_of(more, countof(indexes) - 1)];
	uint64_t b = v[at[0]], c = v[at[1]], d = v[at[2]];

	*max = max_of(max_of(*max, b), max_of(c, d));
	return key_mul(h ^ first, b ^ 0xb04f79a5353c7351ull) + key_mul(c ^ 0xe4d1475cd022b795ull, d ^ 0x107d4465c97d1261ull);
}

/* The hash of the chain's first marker and its callers, without the leaf between them. */
static inline uint64_t hash_callers(const struct tacho_words *chain, uint64_t h, bool *single_space)
{
	const uint64_t *v = chain->v;
	uint64_t max = 0;

	h = hash_up_to_four(h, v[0], v, chain->n - 2, &max);
	for (size_t i = 5; i < chain->n; i += 4) {
		max = max_of(max, v[i]);
		h = hash_up_to_four(h, v[i], v + i - 1, chain->n - i - 1, &max);
	}
	*single_space = max < CONTEXT_FIRST;
	return key_add(h, chain->n);		/* distinguishes chains in which an address was hashed
						 * twice */
}

const struct leaf_region *stacks_leaf_region(struct stack_resolver *s, const struct task_context *task, enum tacho_space space,
					     uint64_t ip)
{
	uint64_t tag = leaf_region_tag(task, space);
	struct leaf_region *r = leaf_region_slot(s, tag, ip);

	return leaf_region_matches(r, tag, ip) || leaf_region_fill(s, task, space, ip, r) == 0 ? r : NULL;
}

/* Fills in a stack that consists of its leaf. */
static inline void fill_leaf(const struct task_context *task, const struct leaf_region *r, uint64_t ip, struct sample_stack *to)
{
	to->leaf.spot.offset = (ip - r->mapping.bias) & r->mapping.mask;
	to->leaf.spot.object = r->mapping.object;
	to->leaf.key = key_add(r->mapping.hash_seed, to->leaf.spot.offset);
	to->leaf.space = r->space;
	to->leaf.exact = true;
	to->entries = &to->leaf;
	to->n = 1;
	to->n_resolved = 0;
	to->node = 0;
	to->owner = task->owner;
	to->dropped = false;
}

void stacks_add_leaf(struct stack_resolver *s, const struct task_context *task, const struct leaf_region *r, uint64_t ip)
{
	struct sample_stack *to = &s->batch[s->n++];

	fill_leaf(task, r, ip, to);
	to->has_callers = false;
	list_by_kind(s, to, false);
}

int stacks_add_raw(struct stack_resolver *s, const struct task_context *task, struct tacho_words chain)
{
	enum tacho_space space = chain.v[0] == CONTEXT_USER ? TACHO_SPACE_USER : TACHO_SPACE_KERNEL;
	const struct leaf_region *r = stacks_leaf_region(s, task, space, chain.v[1]);
	struct sample_stack *to = &s->batch[s->n];

	if (!r)
		return -ENOMEM;
	s->n++;
	fill_leaf(task, r, chain.v[1], to);
	to->has_callers = chain.n > 2;
	to->pid = task->pid;
	to->chain = chain;
	to->callers_hash = hash_callers(&chain, task->hash_seed, &to->single_space);
	s->n_raw += chain.n;
	__builtin_prefetch(recent_node_slot(s, to->callers_hash));
	list_by_kind(s, to, to->has_callers);
	return 0;
}
