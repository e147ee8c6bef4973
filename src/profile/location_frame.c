/*
 * Describes the frame of an address for the profile: ids of names and objects in the symbol resolver are
 * translated to ids of the profile.
 */
#include "profile/intern.h"
#include "profile/stacks.h"

#include <errno.h>

/* The slot of `id` in a table that grows with the ids. New slots are 0. */
static uint32_t *slot_at(uint32_t **v, size_t *n, size_t *cap, uint32_t id)
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

static uint32_t name_id(struct stack_resolver *s, uint32_t symbol)
{
	uint32_t *slot = slot_at(&s->name_ids.v, &s->name_ids.n, &s->name_ids.cap, symbol);
	uint32_t id;

	if (!slot)
		return KEYMAP_NONE;
	if (*slot)
		return *slot - 1;
	id = profile_intern_name(s->profile, tacho_symbols_name(s->symbols, symbol));
	*slot = id == KEYMAP_NONE ? 0 : id + 1;
	return id;
}

static int describe_object(struct stack_resolver *s, uint32_t object, struct tacho_profile_object *out)
{
	struct tacho_object_info info = { .size = sizeof(info) };
	int err = tacho_symbols_object(s->symbols, object, &info);

	if (err < 0)
		return err;
	*out = (struct tacho_profile_object){
		.path = info.path, .name = info.short_name, .kernel = info.kernel, .jit = info.jit,
		.has_symbols = info.has_symbols, .why = info.why,
		.mapped_bytes = info.mapped_bytes, .symbol_source = info.symbol_source,
		.n_build_id = (uint8_t)min_of(info.n_build_id, sizeof(out->build_id)),
	};
	if (info.build_id)
		memcpy(out->build_id, info.build_id, out->n_build_id);
	return 0;
}

static uint32_t object_id(struct stack_resolver *s, uint32_t object)
{
	uint32_t *slot = slot_at(&s->object_ids.v, &s->object_ids.n, &s->object_ids.cap, object);
	struct tacho_profile_object desc;
	uint32_t id;

	if (!slot)
		return KEYMAP_NONE;
	if (*slot)
		return *slot - 1;
	if (describe_object(s, object, &desc) < 0)
		return 0;
	id = profile_intern_object(s->profile, &desc);
	*slot = id == KEYMAP_NONE ? 0 : id + 1;
	return id;
}

void stacks_update_objects(struct stack_resolver *s)
{
	struct tacho_profile_object desc, *o;

	for (uint32_t i = 1; i < s->object_ids.n; i++) {
		if (!s->object_ids.v[i] || describe_object(s, i, &desc) < 0)
			continue;
		o = &s->profile->objects.v[s->object_ids.v[i] - 1];
		o->has_symbols = o->has_symbols || desc.has_symbols;
		o->mapped_bytes = max_of(o->mapped_bytes, desc.mapped_bytes);
		o->symbol_source = o->symbol_source ? o->symbol_source : desc.symbol_source;
		o->why = !o->has_symbols && desc.why ?
			 arena_str(&s->profile->arena, str_of(desc.why)) : NULL;
	}
}

/* False if out of memory. */
static bool describe_srcline(struct stack_resolver *s, const struct tacho_frame *raw, struct frame_desc *f)
{
	const char *file = NULL;
	int got = tacho_symbols_srcline(s->symbols, raw, &file, &f->srcline);
	uint32_t id;

	if (got <= 0) {
		f->offset = f->known && !s->profile->opts.join_unlined ? raw->symbol_offset : 0;
		return got == 0;
	}
	id = profile_intern_name(s->profile, file);
	if (id == KEYMAP_NONE)
		return false;
	f->srcfile = s->profile->name_text.v[id];
	return true;
}

static uint32_t symbol_size(const struct stack_resolver *s, const struct tacho_frame *raw)
{
	uint64_t start, length;

	if (!raw->symbol || tacho_symbols_range(s->symbols, raw, &start, &length) < 0)
		return 0;
	return (uint32_t)min_of(length, (uint64_t)UINT32_MAX);
}

static int describe_frame(struct stack_resolver *s, const struct tacho_frame *raw, uint64_t ip,
		      struct frame_desc *out)
{
	const struct tacho_profile_opts *o = &s->profile->opts;

	*out = (struct frame_desc){ .known = raw->symbol != 0, .space = raw->space };
	out->symbol = name_id(s, raw->symbol);
	out->object = object_id(s, raw->object);
	if (out->symbol == KEYMAP_NONE || out->object == KEYMAP_NONE)
		return -ENOMEM;
	if (o->per_srcline && !describe_srcline(s, raw, out))
		return -ENOMEM;
	if (o->symbol_sizes)
		out->symbol_size = symbol_size(s, raw);
	out->jit = s->profile->objects.v[out->object].jit;
	if (out->known && o->per_address) {
		out->address = raw->object_address;
		out->offset = raw->symbol_offset;
	} else if (out->known) {
		out->address = raw->object_address - raw->symbol_offset;
	} else if (o->per_address || o->split_unknown) {
		out->address = raw->object ? raw->object_address : ip;
		out->offset = raw->object ? raw->object_offset : ip;
	}
	return 0;
}

int stacks_frame(struct stack_resolver *s, uint32_t pid, enum tacho_space space, uint64_t ip,
		 struct frame_desc *out)
{
	struct tacho_frame raw;

	if (tacho_symbols_resolve(s->symbols, pid, space, ip, &raw) < 0)
		return -ENOMEM;
	return describe_frame(s, &raw, ip, out);
}

int stacks_describe(struct stack_resolver *s, struct new_location *f)
{
	const struct chain_entry *w = f->entry;

	if (tacho_symbols_resolve_spot(s->symbols, w->space, &w->spot, &f->raw) < 0)
		return -ENOMEM;
	return describe_frame(s, &f->raw, w->spot.offset, &f->desc);
}

/* ---- inlined functions ---- */

/* Sets the source line of a frame to the position of a call. 0 or -ENOMEM. */
static int set_call_line(struct stack_resolver *s, const struct tacho_inline *call, struct frame_desc *f)
{
	uint32_t id;

	f->srcfile = NULL;
	f->srcline = 0;
	if (!s->profile->opts.per_srcline || !call->call_file)
		return 0;
	id = profile_intern_name(s->profile, call->call_file);
	if (id == KEYMAP_NONE)
		return -ENOMEM;
	f->srcfile = s->profile->name_text.v[id];
	f->srcline = call->call_line;
	return 0;
}

/* All copies of an inlined function in an object are one frame, unless frames have addresses or lines. */
static int describe_inline(struct stack_resolver *s, const struct frame_desc *outer, const struct tacho_inline *v,
			   struct frame_desc *out)
{
	*out = *outer;
	out->symbol = name_id(s, v->symbol);
	out->inlined = out->known = true;
	out->symbol_size = 0;
	if (!s->profile->opts.per_address)
		out->address = out->offset = 0;
	return out->symbol == KEYMAP_NONE ? -ENOMEM : 0;
}

static int add_expanded(struct stack_resolver *s, const struct frame_desc *desc)
{
	uint32_t *slot = vec_next(&s->expanded);

	if (!slot)
		return -ENOMEM;
	*slot = profile_intern_frame(s->profile, desc);
	return *slot == KEYMAP_NONE ? -ENOMEM : 0;
}

/* Adds the frames of a function and of the `n` functions inlined into it, v[0] being the innermost. */
static int add_expansion(struct stack_resolver *s, const struct frame_desc *function, const struct tacho_inline *v, int n,
			 uint32_t *out)
{
	struct frame_expansion *e = s->expansions.n < FRAME_EXPANDED - 1 ? vec_next(&s->expansions) : NULL;
	struct frame_desc desc = *function;

	if (!e)
		return -ENOMEM;
	*e = (struct frame_expansion){ (uint32_t)s->expanded.n, (uint32_t)n + 1 };
	if (set_call_line(s, &v[n - 1], &desc) < 0 || add_expanded(s, &desc) < 0)
		return -ENOMEM;
	for (int i = n - 1; i >= 0; i--) {
		if (describe_inline(s, function, &v[i], &desc) < 0 || (i && set_call_line(s, &v[i - 1], &desc) < 0) ||
		    add_expanded(s, &desc) < 0)
			return -ENOMEM;
	}
	*out = FRAME_EXPANDED | (uint32_t)(s->expansions.n - 1);
	return 0;
}

static int add_frame(struct stack_resolver *s, const struct new_location *f, uint32_t *out)
{
	*out = profile_intern_frame(s->profile, &f->desc);
	return *out == KEYMAP_NONE ? -ENOMEM : 0;
}

/* Adds the frame of an object's addresses without a symbol; its address is the lowest of those described so far. */
static int add_lowest_frame(struct stack_resolver *s, const struct new_location *f, uint32_t *out)
{
	uint64_t offset = f->raw.object ? f->raw.object_offset : f->entry->spot.offset;
	size_t n = s->profile->frames.n;
	struct tacho_profile_frame *frame;

	if (add_frame(s, f, out) < 0)
		return -ENOMEM;
	frame = &s->profile->frames.v[*out];
	if (*out == n || offset < frame->offset) {
		frame->address = f->raw.object ? f->raw.object_address : offset;
		frame->offset = offset;
	}
	return 0;
}

int stacks_add_frames(struct stack_resolver *s, const struct new_location *f, uint32_t *out)
{
	struct tacho_inline v[TACHO_INLINES_MAX];
	int n = !s->inlines ? 0 : tacho_symbols_inlines(s->symbols, &f->raw, !f->entry->exact,
							s->profile->opts.per_srcline, v, countof(v));

	if (n < 0)
		return n;
	if (n)
		return add_expansion(s, &f->desc, v, n, out);
	return s->profile->opts.lowest_unknown && !f->desc.known ? add_lowest_frame(s, f, out) : add_frame(s, f, out);
}

int stacks_frame_unmapped(struct stack_resolver *s, enum tacho_space space, struct frame_desc *out)
{
	struct tacho_frame raw = { .space = space };

	return describe_frame(s, &raw, 0, out);
}

int stacks_resolve_address(struct stack_resolver *s, uint32_t pid, enum tacho_space space, uint64_t address,
			   struct tacho_profile_place *out)
{
	struct frame_desc desc;
	struct tacho_frame raw;
	uint32_t frame;

	if (tacho_symbols_resolve(s->symbols, pid, space, address, &raw) < 0 ||
	    describe_frame(s, &raw, address, &desc) < 0)
		return -ENOMEM;
	frame = profile_intern_frame(s->profile, &desc);
	if (frame == KEYMAP_NONE)
		return -ENOMEM;
	*out = (struct tacho_profile_place){
		.address = address, .object_address = raw.object ? raw.object_address : address,
		.symbol_offset = raw.symbol_offset, .frame = frame + 1,
	};
	return 0;
}
