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
	t->pub = (struct tacho_profile_thread){ .pid = pid, .tid = tid, .comm = p->name_of.v[name] };
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
uint64_t frame_key(const struct tacho_profile_frame *f)
{
	uint64_t h = frame_key_common(f->symbol, f->object), address = f->address;

	if (f->srcfile || f->symbol_offset) {
		h = key_add(h, address);
		address = 0;
	}
	if (f->srcfile)
		h = key_add(key_add(h, (uintptr_t)f->srcfile), f->srcline);
	else if (f->symbol_offset)
		h = key_add(h, ~f->symbol_offset);
	return frame_key_at(h, address, f->offset, (uint32_t)f->space << 1 | f->inlined);
}

/* What is asked once. */
static uint8_t flags_of(const struct tacho_profile *p, const struct tacho_profile_frame *f)
{
	uint8_t flags = frame_is_start(f) ? FRAME_START : 0;

	if (!profile_filter_object(&p->filter, f->object_path, f->object_name) ||
	    !profile_filter_symbol(&p->filter, f->name))
		flags |= FRAME_LEAF_OUT;
	if (p->filter.by_parent && f->known && profile_filter_parent(&p->filter, f->name))
		flags |= FRAME_PARENT;
	return flags;
}

uint32_t profile_frame_keyed(struct tacho_profile *p, const struct tacho_profile_frame *like, uint64_t key)
{
	uint32_t *id = keymap_at(frames_of(p, like->known), key);
	const struct tacho_profile_object *o = &p->objects.v[like->object];
	struct tacho_profile_frame *f;
	uint8_t *flags;

	if (!id)
		return KEYMAP_NONE;
	if (*id)
		return *id - 1;
	f = vec_add(&p->frames);
	flags = f && vec_add(&p->outermost) ? vec_add(&p->frame_flags) : NULL;
	if (!flags)
		return KEYMAP_NONE;
	*f = *like;
	f->name = p->name_of.v[f->symbol];
	f->object_path = o->path;
	f->object_name = o->name;
	*flags = flags_of(p, f);
	p->some_out = p->some_out || (*flags & FRAME_LEAF_OUT);
	*id = (uint32_t)p->frames.n;
	return *id - 1;
}

uint32_t profile_frame(struct tacho_profile *p, const struct tacho_profile_frame *like)
{
	return profile_frame_keyed(p, like, frame_key(like));
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
