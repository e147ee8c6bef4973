/*
 * Resolves call chains to nodes, in batches: samples are added to a batch until it is full or until the maps
 * change, then all of its stacks are resolved together.
 *
 *	address --> code location (object, offset) --> frame --> node (parent node, frame)
 *
 * A code location (struct tacho_spot) is the same in all processes that have the object mapped, wherever that is.
 */
#ifndef PROFILE_STACKS_H
#define PROFILE_STACKS_H

#include "profile/caches.h"
#include "profile/chain.h"
#include "profile/frame.h"
#include "profile/profile.h"

#define MAX_BATCH 64u
#define MAX_BATCH_ENTRIES 16384u
#define MAX_PENDING (MAX_BATCH_ENTRIES + MAX_BATCH + 2)	/* plus leaves; list_pending_entry() writes one
							 * element ahead at either end */

/* The frame of an entry at whose address functions are inlined: an index into stack_resolver.expansions. */
#define FRAME_EXPANDED 0x80000000u
struct frame_expansion {
	uint32_t first, n;		/* in stack_resolver.expanded: the function, then those inlined into it */
};

struct chain_entry {			/* one address of a call chain */
	struct tacho_spot spot;		/* its code location; object 0: nothing is mapped, offset is the address */
	uint64_t prefix;		/* hash of all entries from the outermost up to this one */
	uint64_t key;			/* hash of the code location; if nothing is mapped there, the key of
					 * the frame */
	uint32_t frame;
	uint8_t space;			/* enum tacho_space */
	bool exact;			/* the address of an instruction that was executing; false: of the one after a call */
};

/* Parameters to convert addresses of one mapped object, or unmapped addresses, to code locations and
 * hashes. */
struct address_mapping {
	uint64_t hash_seed;		/* seed of the hash of a location in this object */
	uint64_t bias, mask;		/* offset = (address - bias) & mask */
	uint32_t object;		/* 0: nothing is mapped; the hash is then the key of the frame */
};

struct leaf_region {			/* a range of addresses in which leaves were sampled recently */
	uint64_t tag;			/* hash of task, maps and space */
	uint64_t start, last;
	struct address_mapping mapping;
	uint8_t space;			/* enum tacho_space */
};

struct new_location {			/* a code location without a frame yet */
	struct chain_entry *entry;
	struct tacho_frame raw;
	struct frame_desc desc;
};

struct sample_stack {			/* the stack of one sample, outermost caller first */
	struct chain_entry *entries;
	size_t n, n_resolved;		/* `node` is the node of entry n_resolved - 1, or of the callers if
					 * they were found by hash */
	uint32_t node;
	uint32_t owner;			/* owner of its nodes, see profile_intern_outermost() */
	bool dropped;			/* opts.resolved: the leaf has no symbol, so the sample does not count */
	/* A raw chain has only its leaf as an entry, unless its callers are not found. */
	bool has_callers;		/* it is a raw chain with callers */
	bool single_space;		/* no marker among the callers switches the space */
	uint32_t pid;
	uint64_t callers_hash;		/* hash of the callers' addresses, the task and its maps */
	struct tacho_words chain;	/* borrowed until the batch is resolved */
	struct chain_entry leaf;
	uint8_t unused[24];		/* pads to two cache lines */
};

struct unmapped_frames {		/* frames of one space where nothing is mapped */
	bool ready;
	uint64_t key;			/* frame_key_common() of these frames */
	struct frame_desc desc;
	const struct tacho_profile_code *code;
};

struct stack_resolver {			/* while a file is loaded */
	struct tacho_profile *profile;
	struct tacho_symbols *symbols;
	struct { uint32_t *v; size_t n, cap; } name_ids, object_ids;	/* id in the symbol resolver -> id in
									 * the profile + 1 */
	struct sample_stack batch[MAX_BATCH];
	size_t n;
	/* The stacks of the batch by kind: without callers; with callers found in recent_nodes; with other callers. */
	struct sample_stack *leaf_only[MAX_BATCH + 1], *with_callers[MAX_BATCH + 1], *new_callers[MAX_BATCH + 1];
	size_t n_leaf_only, n_with_callers, n_new_callers;
	struct chain_entry *entries;	/* entries of all stacks of the batch */
	size_t n_entries;
	size_t n_raw;			/* number of addresses of raw chains in the batch that have no entries
					 * yet */
	struct chain_entry **pending;	/* entries without a frame; see list_pending_entries() */
	size_t n_pending, pending_unmapped;	/* number of entries at the front; index of the first entry at
						 * the back */
	struct { struct new_location *v; size_t n, cap; } new_locations;
	struct keymap location_frames;	/* hash of a code location -> frame, or FRAME_EXPANDED + index */
	struct { struct frame_expansion *v; size_t n, cap; } expansions;
	struct { uint32_t *v; size_t n, cap; } expanded;	/* ids of frames */
	struct { struct chain_entry *v; size_t n, cap; } expanded_chain;	/* for one call of profile_add_chain() */
	bool inlines;			/* stacks have frames for inlined functions */
	uint64_t exact_salt;		/* in the keys of exact locations, which differ in their inlined functions */
	struct unmapped_frames unmapped[8];	/* per space */
	uint64_t unmapped_mask;		/* the bits of an unmapped address that distinguish frames: all or
					 * none */
	/* caches.h */
	struct leaf_region *leaf_regions;
	struct recent_entry *recent_nodes;
	size_t recent_node_mask;
	struct recent_entry *recent_frames;
	size_t recent_frame_mask;
};

/* `small`: use small caches, for few samples. 0 or -ENOMEM. */
int stacks_init(struct stack_resolver *s, struct tacho_profile *p, struct tacho_symbols *symbols, bool small);
void stacks_done(struct stack_resolver *s);

static inline bool stacks_full(const struct stack_resolver *s)
{
	return s->n == MAX_BATCH || s->n_entries + s->n_raw > MAX_BATCH_ENTRIES - MAX_CHAIN_ENTRIES - MAX_CHAIN_RUNS;
}

/* Adds the stack of a thread's sample to the batch, which must not be full. The batch must be resolved before
 * new maps are passed to the symbol resolver. 0 or -ENOMEM. */
int stacks_add(struct stack_resolver *s, uint32_t thread, const struct tacho_sample *sample, enum tacho_space space);
/* Looks up or adds the node of each stack of the batch. 0 or -ENOMEM. */
int stacks_resolve(struct stack_resolver *s);
void stacks_clear(struct stack_resolver *s);

/* ---- raw chains (raw_chain.c) ---- */
struct task_context {			/* identifies a task's addresses until its maps change */
	uint64_t hash_seed;		/* seed of the hash of its callers: owner and state of the maps */
	uint32_t pid, owner;
};
/* Returns 1; 0 if an address cannot be identified from the maps alone (the process is between two programs);
 * or -ENOMEM. */
int stacks_task_context(struct stack_resolver *s, uint32_t pid, uint32_t thread, struct task_context *out);
/* Like stacks_add(), for a chain that begins with the marker CONTEXT_USER or CONTEXT_KERNEL and the sampled
 * address. The chain is borrowed until the batch is resolved. */
int stacks_add_raw(struct stack_resolver *s, const struct task_context *task, struct tacho_words chain);
/* The region of an address of the kernel or of a process, valid until the next call; NULL if out of memory. */
const struct leaf_region *stacks_leaf_region(struct stack_resolver *s, const struct task_context *task, enum tacho_space space,
					     uint64_t ip);
/* Like stacks_add(), for a sample whose stack is its address alone. */
void stacks_add_leaf(struct stack_resolver *s, const struct task_context *task, const struct leaf_region *r, uint64_t ip);

/* ---- single addresses (location_frame.c): 0 or -ENOMEM ---- */
/* The frame of an address, for profile_intern_frame(). */
int stacks_frame(struct stack_resolver *s, uint32_t pid, enum tacho_space space, uint64_t ip,
		 struct frame_desc *out);
/* Describes the frame of a new location. */
int stacks_describe(struct stack_resolver *s, struct new_location *f);
/* Adds the frames of a described location, also those of inlined functions. *out is a frame, or FRAME_EXPANDED + index. */
int stacks_add_frames(struct stack_resolver *s, const struct new_location *f, uint32_t *out);
/* Like stacks_frame(), for address 0 if nothing is mapped there. */
int stacks_frame_unmapped(struct stack_resolver *s, enum tacho_space space, struct frame_desc *out);
/* Resolves an address; its frame is added to the profile. */
int stacks_resolve_address(struct stack_resolver *s, uint32_t pid, enum tacho_space space, uint64_t address,
			   struct tacho_profile_place *out);
/* Updates the profile's objects after a load: whether the symbol resolver has found symbols for them. */
void stacks_update_objects(struct stack_resolver *s);

#endif
