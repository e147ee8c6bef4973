/*
 * The tables of frames and codes. A frame is found by a 64-bit hash alone, so that a lookup reads one cache line.
 */
#include "profile/frame.h"

#include "profile/quality.h"
#include "profile/trie.h"

#include <errno.h>

uint64_t frame_key(const struct frame_desc *f)
{
	uint64_t h = frame_key_common(f->symbol, f->object, (uint32_t)f->space << 1 | f->inlined);

	if (f->srcfile)
		h = key_add(key_add(h, (uintptr_t)f->srcfile), f->srcline);
	return frame_key_at(h, f->address, f->offset);
}

static uint8_t frame_flags_of(const struct tacho_profile *p, const struct tacho_profile_frame *f)
{
	uint8_t flags = frame_is_start(f) ? FRAME_START : 0;

	if (f->code->object == 0 && !f->known)
		flags |= FRAME_UNMAPPED;
	if (!profile_filter_object(&p->filter, f->code->object_path, f->code->object_name) ||
	    !profile_filter_symbol(&p->filter, f->code->name))
		flags |= FRAME_LEAF_FILTERED;
	if (p->filter.by_parent && f->known && profile_filter_parent(&p->filter, f->code->name))
		flags |= FRAME_PARENT;
	if (p->filter.by_end && f->known && profile_filter_end(&p->filter, f->code->name))
		flags |= FRAME_END;
	return flags;
}

static const struct tacho_profile_code *code_new(struct tacho_profile *p, const struct frame_desc *desc)
{
	const struct tacho_profile_object *o = &p->objects.v[desc->object];
	struct tacho_profile_code *c = arena_alloc(&p->arena, sizeof(*c));
	const struct tacho_profile_code **slot = c ? vec_add(&p->codes) : NULL;

	if (!slot)
		return NULL;
	*c = (struct tacho_profile_code){
		.symbol = desc->symbol, .object = desc->object, .name = p->name_text.v[desc->symbol],
		.object_path = o->path, .object_name = o->name, .srcfile = desc->srcfile,
		.symbol_size = desc->symbol_size,
	};
	*slot = c;
	return c;
}

const struct tacho_profile_code *profile_intern_code(struct tacho_profile *p, const struct frame_desc *desc)
{
	uint64_t key = key_pair(desc->symbol, desc->object);
	const struct tacho_profile_code *c;
	uint32_t *id;

	if (desc->srcfile)
		key = key_add(key_mix(key), (uintptr_t)desc->srcfile);
	id = keymap_at(&p->code_ids, key);
	if (!id)
		return NULL;
	if (*id)
		return p->codes.v[*id - 1];
	c = code_new(p, desc);
	*id = c ? (uint32_t)p->codes.n : 0;
	return c;
}

/* Whether any option reads the flags of frames. */
static bool needs_frame_flags(const struct tacho_profile *p)
{
	const struct profile_filter *f = &p->filter;

	return !p->opts.unjudged || f->objects.n || f->symbols.n || f->by_parent || f->by_end;
}

static int add_frame_flags(struct tacho_profile *p, const struct tacho_profile_frame *f)
{
	uint8_t *flags = vec_next(&p->frame_flags);

	if (!flags)
		return -ENOMEM;
	*flags = frame_flags_of(p, f);
	p->any_leaf_filtered = p->any_leaf_filtered || (*flags & FRAME_LEAF_FILTERED);
	return 0;
}

uint32_t profile_add_frame(struct tacho_profile *p, const struct frame_desc *desc,
			   const struct tacho_profile_code *code)
{
	struct tacho_profile_frame *f = vec_next(&p->frames);
	struct outermost_node *first = f ? vec_next(&p->outermost) : NULL;

	if (!first) {
		p->frames.n -= f != NULL;
		return KEYMAP_NONE;
	}
	*first = (struct outermost_node){ 0 };
	*f = (struct tacho_profile_frame){
		.code = code, .address = desc->address, .offset = desc->offset, .srcline = desc->srcline,
		.space = (uint8_t)desc->space, .inlined = desc->inlined, .jit = desc->jit, .known = desc->known,
	};
	if (needs_frame_flags(p) && add_frame_flags(p, f) < 0) {
		p->frames.n--;
		p->outermost.n--;
		return KEYMAP_NONE;
	}
	return (uint32_t)(p->frames.n - 1);
}

uint32_t profile_intern_frame(struct tacho_profile *p, const struct frame_desc *desc)
{
	uint32_t *id = keymap_at(frame_index(p, desc->known), frame_key(desc));
	const struct tacho_profile_code *code;

	if (!id)
		return KEYMAP_NONE;
	if (*id)
		return *id - 1;
	code = profile_intern_code(p, desc);
	/* KEYMAP_NONE + 1 is 0, so the slot stays free if out of memory. */
	*id = code ? profile_add_frame(p, desc, code) + 1 : 0;
	return *id - 1;
}
