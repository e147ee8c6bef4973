/*
 * Assigns ids to names, objects, events and threads; equal ones have the same id. Frames: frame.c; nodes and
 * rows: trie.c.
 */
#include "profile/intern.h"

#include <errno.h>

uint32_t profile_intern_name(struct tacho_profile *p, const char *text)
{
	const uint64_t *hit = map_get(&p->names, str_of(text));
	const char **slot;
	char *copy;

	if (hit)
		return (uint32_t)*hit;
	copy = arena_str(&p->arena, str_of(text));
	slot = copy ? vec_add(&p->name_text) : NULL;
	if (!slot)
		return KEYMAP_NONE;
	*slot = copy;
	if (map_put(&p->names, str_of(copy), p->name_text.n - 1) < 0) {
		p->name_text.n--;
		return KEYMAP_NONE;
	}
	return (uint32_t)(p->name_text.n - 1);
}

uint32_t profile_intern_object(struct tacho_profile *p, const struct tacho_profile_object *desc)
{
	const uint64_t *hit = map_get(&p->object_ids, str_of(desc->path));
	struct tacho_profile_object *o;
	char *path, *name;

	if (hit)
		return (uint32_t)*hit;
	path = arena_str(&p->arena, str_of(desc->path));
	name = arena_str(&p->arena, str_of(desc->name));
	o = path && name ? vec_add(&p->objects) : NULL;
	if (!o)
		return KEYMAP_NONE;
	*o = *desc;
	o->path = path;
	o->name = name;
	o->why = desc->why ? arena_str(&p->arena, str_of(desc->why)) : NULL;
	if (map_put(&p->object_ids, str_of(path), p->objects.n - 1) < 0) {
		p->objects.n--;
		return KEYMAP_NONE;
	}
	return (uint32_t)(p->objects.n - 1);
}

uint32_t profile_intern_event(struct tacho_profile *p, const char *name)
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
	uint32_t name = profile_intern_name(p, comm);
	struct thread_entry *t = name != KEYMAP_NONE ? vec_add(&p->threads) : NULL;
	uint32_t id = (uint32_t)(p->threads.n - 1);

	if (!t)
		return KEYMAP_NONE;
	comm = p->name_text.v[name];
	t->pub = (struct tacho_profile_thread){ .pid = pid, .tid = tid, .comm = comm, .last = comm,
						.process = comm };
	t->filtered = !profile_filter_task(&p->filter, pid, tid) || !profile_filter_comm(&p->filter, comm);
	t->first_of_comm = keymap_get(&p->comm_threads, name);
	if (t->first_of_comm == KEYMAP_NONE) {
		t->first_of_comm = id;
		if (keymap_put(&p->comm_threads, name, id) < 0)
			return KEYMAP_NONE;
	}
	return keymap_put(&p->thread_ids, key, id) < 0 ? KEYMAP_NONE : id;
}

uint32_t profile_intern_thread(struct tacho_profile *p, uint32_t pid, uint32_t tid, const char *comm)
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

int profile_add_cgroup(struct tacho_profile *p, uint64_t id, const char *path)
{
	struct cgroup_name *c;

	if (tacho_profile_cgroup(p, id))
		return 0;
	c = vec_add(&p->cgroups);
	if (!c)
		return -ENOMEM;
	c->id = id;
	c->path = arena_text(&p->arena, str_of(path));
	return c->path ? 0 : -ENOMEM;
}
