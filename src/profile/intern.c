/*
 * Equal things get one id: names, objects, events, threads and frames. Nodes and rows: trie.c.
 */
#include "profile/profile.h"

#include <errno.h>

uint32_t profile_name(struct tacho_profile *p, const char *text)
{
	const uint64_t *hit = map_get(&p->names, str_of(text));
	const char **slot;
	char *copy;

	if (hit)
		return (uint32_t)*hit;
	copy = arena_str(&p->arena, str_of(text));
	slot = copy ? vec_add(&p->name_of) : NULL;
	if (!slot)
		return KEYMAP_NONE;
	*slot = copy;
	if (map_put(&p->names, str_of(copy), p->name_of.n - 1) < 0) {
		p->name_of.n--;
		return KEYMAP_NONE;
	}
	return (uint32_t)(p->name_of.n - 1);
}

uint32_t profile_object(struct tacho_profile *p, const struct tacho_profile_object *like)
{
	const uint64_t *hit = map_get(&p->object_ids, str_of(like->path));
	struct tacho_profile_object *o;
	char *path, *name;

	if (hit)
		return (uint32_t)*hit;
	path = arena_str(&p->arena, str_of(like->path));
	name = arena_str(&p->arena, str_of(like->name));
	o = path && name ? vec_add(&p->objects) : NULL;
	if (!o)
		return KEYMAP_NONE;
	*o = *like;
	o->path = path;
	o->name = name;
	o->why = like->why ? arena_str(&p->arena, str_of(like->why)) : NULL;
	if (map_put(&p->object_ids, str_of(path), p->objects.n - 1) < 0) {
		p->objects.n--;
		return KEYMAP_NONE;
	}
	return (uint32_t)(p->objects.n - 1);
}

uint32_t profile_event(struct tacho_profile *p, const char *name)
{
	struct tacho_profile_event *ev;
	char *copy;

	for (size_t i = 0; i < p->events.n; i++)
		if (strcmp(p->events.v[i].name, name) == 0)
			return (uint32_t)i;
	copy = arena_str(&p->arena, str_of(name));
	ev = copy ? vec_add(&p->events) : NULL;
	if (!ev)
		return KEYMAP_NONE;
	ev->name = copy;
	ev->leader = (uint32_t)(p->events.n - 1);
	ev->group_size = 1;
	return ev->leader;
}

static uint32_t thread_new(struct tacho_profile *p, uint64_t key, uint32_t pid, uint32_t tid,
			   const char *comm)
{
	uint32_t name = profile_name(p, comm);
	struct thread_row *t = name != KEYMAP_NONE ? vec_add(&p->threads) : NULL;
	uint32_t id = (uint32_t)(p->threads.n - 1);

	if (!t)
		return KEYMAP_NONE;
	comm = p->name_of.v[name];
	t->pub = (struct tacho_profile_thread){ .pid = pid, .tid = tid, .comm = comm, .last = comm,
						.process = comm };
	t->out = !profile_filter_task(&p->filter, pid, tid) || !profile_filter_comm(&p->filter, comm);
	t->first = keymap_get(&p->comm_threads, name);
	if (t->first == KEYMAP_NONE) {
		t->first = id;
		if (keymap_put(&p->comm_threads, name, id) < 0)
			return KEYMAP_NONE;
	}
	return keymap_put(&p->thread_ids, key, id) < 0 ? KEYMAP_NONE : id;
}

uint32_t profile_thread(struct tacho_profile *p, uint32_t pid, uint32_t tid, const char *comm)
{
	uint64_t key = key_add(key_pair(pid, tid), str_hash(str_of(comm)));

	for (;; key++) {
		uint32_t id = keymap_get(&p->thread_ids, key);
		const struct tacho_profile_thread *t = tacho_profile_thread(p, id);

		if (!t)
			return thread_new(p, key, pid, tid, comm);
		if (t->pid == pid && t->tid == tid && strcmp(t->comm, comm) == 0)
			return id;
	}
}

/* ---- frames ---- */

/* A wide hash stands for the frame: looking it up touches nothing else. */
uint64_t frame_key(const struct frame_like *f)
{
	uint64_t h = frame_key_common(f->symbol, f->object, (uint32_t)f->space << 1 | f->inlined);
	uint64_t address = f->address;

	if (f->srcfile)
		h = key_add(key_add(h, (uintptr_t)f->srcfile), f->srcline);
	return frame_key_at(h, address, f->offset);
}

/* What is asked once. */
static uint8_t flags_of(const struct tacho_profile *p, const struct tacho_profile_frame *f)
{
	uint8_t flags = frame_is_start(f) ? FRAME_START : 0;

	if (!profile_filter_object(&p->filter, f->code->object_path, f->code->object_name) ||
	    !profile_filter_symbol(&p->filter, f->code->name))
		flags |= FRAME_LEAF_OUT;
	if (p->filter.by_parent && f->known && profile_filter_parent(&p->filter, f->code->name))
		flags |= FRAME_PARENT;
	if (p->filter.ends && f->known && profile_filter_end(&p->filter, f->code->name))
		flags |= FRAME_END;
	return flags;
}

static const struct tacho_profile_code *code_new(struct tacho_profile *p, const struct frame_like *like)
{
	const struct tacho_profile_object *o = &p->objects.v[like->object];
	struct tacho_profile_code *c = arena_alloc(&p->arena, sizeof(*c));
	const struct tacho_profile_code **slot = c ? vec_add(&p->codes) : NULL;

	if (!slot)
		return NULL;
	*c = (struct tacho_profile_code){
		.symbol = like->symbol, .object = like->object, .name = p->name_of.v[like->symbol],
		.object_path = o->path, .object_name = o->name, .srcfile = like->srcfile,
	};
	*slot = c;
	return c;
}

const struct tacho_profile_code *profile_code(struct tacho_profile *p, const struct frame_like *like)
{
	uint64_t key = key_pair(like->symbol, like->object);
	const struct tacho_profile_code *c;
	uint32_t *id;

	if (like->srcfile)
		key = key_add(key_mix(key), (uintptr_t)like->srcfile);
	id = keymap_at(&p->code_ids, key);
	if (!id)
		return NULL;
	if (*id)
		return p->codes.v[*id - 1];
	c = code_new(p, like);
	*id = c ? (uint32_t)p->codes.n : 0;
	return c;
}

/* Whether anybody asks for the flags of frames. */
static bool are_flagged(const struct tacho_profile *p)
{
	const struct filter *f = &p->filter;

	return !p->opts.unjudged || f->objects.n || f->symbols.n || f->by_parent || f->ends;
}

static int flag_frame(struct tacho_profile *p, const struct tacho_profile_frame *f)
{
	uint8_t *flags = vec_next(&p->frame_flags);

	if (!flags)
		return -ENOMEM;
	*flags = flags_of(p, f);
	p->some_out = p->some_out || (*flags & FRAME_LEAF_OUT);
	return 0;
}

uint32_t profile_frame_new(struct tacho_profile *p, const struct frame_like *like,
			   const struct tacho_profile_code *code)
{
	struct tacho_profile_frame *f = vec_next(&p->frames);
	struct outermost *first = f ? vec_next(&p->outermost) : NULL;

	if (!first) {
		p->frames.n -= f != NULL;
		return KEYMAP_NONE;
	}
	*first = (struct outermost){ 0 };
	*f = (struct tacho_profile_frame){
		.code = code, .address = like->address, .offset = like->offset, .srcline = like->srcline,
		.space = (uint8_t)like->space, .inlined = like->inlined, .jit = like->jit, .known = like->known,
	};
	if (are_flagged(p) && flag_frame(p, f) < 0) {
		p->frames.n--;
		p->outermost.n--;
		return KEYMAP_NONE;
	}
	return (uint32_t)(p->frames.n - 1);
}

uint32_t profile_frame(struct tacho_profile *p, const struct frame_like *like)
{
	uint32_t *id = keymap_at(frames_of(p, like->known), frame_key(like));
	const struct tacho_profile_code *code;

	if (!id)
		return KEYMAP_NONE;
	if (*id)
		return *id - 1;
	code = profile_code(p, like);
	*id = code ? profile_frame_new(p, like, code) + 1 : 0;	/* 0 again without memory */
	return *id - 1;
}

int profile_cgroup(struct tacho_profile *p, uint64_t id, const char *path)
{
	struct cgroup_name *c;

	if (tacho_profile_cgroup(p, id))
		return 0;
	c = vec_add(&p->cgroups);
	if (!c)
		return -ENOMEM;
	c->id = id;
	c->path = arena_str(&p->arena, str_of(path));
	return c->path ? 0 : -ENOMEM;
}
