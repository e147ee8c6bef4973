/*
 * The addresses of a call chain as entries: code location and hashes. Shared by stacks.c, raw_chain.c and
 * chain_entries.c only.
 */
#ifndef PROFILE_CHAIN_ENTRIES_H
#define PROFILE_CHAIN_ENTRIES_H

#include "profile/stacks.h"
#include "profile/trie.h"

#include "symbol/address_lookup.h"

/* Prepares s->unmapped for a space. 0 or -ENOMEM. */
int entries_prepare_unmapped(struct stack_resolver *s, enum tacho_space space);

/* The seed of the hash of locations in one object. The seeds of objects differ in the upper bits, which
 * offsets do not change, so locations with equal hashes have equal frames. */
static inline uint64_t object_hash_seed(uint32_t object, enum tacho_space space)
{
	return ~key_pair(object, space) * 0x9e3779b97f4a7c15ull;
}

/* The mapping of exact addresses in the same interval. */
static inline struct address_mapping mapping_of_exact(const struct stack_resolver *s, struct address_mapping m)
{
	m.hash_seed ^= m.object ? s->exact_salt : 0;
	return m;
}

static inline struct address_mapping mapping_of_interval(const struct stack_resolver *s, const struct interval *in,
							 enum tacho_space space)
{
	const struct unmapped_frames *n = &s->unmapped[(size_t)space % countof(s->unmapped)];

	if (in->object)
		return (struct address_mapping){ object_hash_seed(in->object, space), in->bias, UINT64_MAX, in->object };
	return (struct address_mapping){ n->key, 0, s->unmapped_mask, 0 };
}

/* The initial value of a stack's hash, which depends on the stack's owner. */
static inline uint64_t owner_hash(uint32_t owner)
{
	return key_mix(0x2545f4914f6cdd1dull + owner);
}

static inline struct recent_entry *recent_node_slot(const struct stack_resolver *s, uint64_t key)
{
	return &s->recent_nodes[key & s->recent_node_mask];
}

/* Adds a stack to the list of its kind. Whether a stack has callers, and whether these are found, is
 * unpredictable, and each step over the batch would branch on it; with a list per kind the decision is made
 * once, branchless. */
static inline void list_by_kind(struct stack_resolver *s, struct sample_stack *st, bool has_callers)
{
	s->leaf_only[s->n_leaf_only] = s->with_callers[s->n_with_callers] = st;
	s->n_leaf_only += !has_callers;
	s->n_with_callers += has_callers;
}

/* Starts the entries of a stack at the end of the batch's entries. */
static inline void entries_begin(struct stack_resolver *s, struct sample_stack *to)
{
	to->entries = s->entries + s->n_entries;
	to->n = 0;
}

/* Appends the entries of a chain to a stack, outermost first. Their running hash begins with the owner's
 * hash. 0 or -ENOMEM. */
int entries_add_chain(struct stack_resolver *s, uint32_t pid, const struct chain *c, struct sample_stack *to);
/* Like entries_add_chain(), for a chain that has one run. */
int entries_add_run(struct stack_resolver *s, uint32_t pid, const struct chain_run *run, struct sample_stack *to);

#endif
