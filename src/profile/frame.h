/*
 * Frames: a symbol of an object, or an address where no symbol is known. Frames that differ only in their
 * address share one struct tacho_profile_code.
 */
#ifndef PROFILE_FRAME_H
#define PROFILE_FRAME_H

#include "profile/profile.h"

/* Flags of a frame, computed once: which filters it matches, and whether a stack that ends at it is
 * complete. */
enum {
	FRAME_LEAF_FILTERED = 1,	/* samples with this leaf are rejected */
	FRAME_PARENT = 2,		/* matches opts.parent */
	FRAME_START = 4,		/* it has no caller: see frame_is_start() */
	FRAME_END = 8,			/* matches opts.ignore_callees */
	FRAME_UNMAPPED = 16,		/* nothing is mapped at its address */
};

/* A frame to be looked up or added: like struct tacho_profile_frame, with ids of the profile. */
struct frame_desc {
	uint32_t symbol, object;
	const char *srcfile;		/* from name_text, or NULL */
	uint32_t symbol_size;
	uint64_t address, offset;
	uint32_t srcline;
	enum tacho_space space;
	bool inlined, jit, known;
};

/* The id of the frame, which is added if it is new; KEYMAP_NONE if out of memory. */
uint32_t profile_intern_frame(struct tacho_profile *p, const struct frame_desc *desc);
/* Adds a frame that is in no index yet. KEYMAP_NONE if out of memory. */
uint32_t profile_add_frame(struct tacho_profile *p, const struct frame_desc *desc,
			   const struct tacho_profile_code *code);
/* NULL if out of memory. */
const struct tacho_profile_code *profile_intern_code(struct tacho_profile *p, const struct frame_desc *desc);

/* The index for the frame, and its key in this index. Keys are 64-bit hashes; frames with equal keys are
 * assumed to be equal. */
static inline struct keymap *frame_index(struct tacho_profile *p, bool known)
{
	return known ? &p->symbol_frame_ids : &p->unknown_frame_ids;
}
uint64_t frame_key(const struct frame_desc *f);
/* frame_key() in two steps: the first does not depend on the address, and the second gives each address a
 * different key. At an unmapped address the offset is equal to the address. */
static inline uint64_t frame_key_common(uint32_t symbol, uint32_t object, uint32_t kind)
{
	return key_add(key_mix(key_pair(symbol, object)), kind);
}
static inline uint64_t frame_key_at(uint64_t common, uint64_t address, uint64_t offset)
{
	uint64_t h = key_add(common, address);

	return offset == address ? h : key_add(h, offset);
}

#endif
