/*
 * Equal things get one id: names, objects, events, threads, frames, nodes and rows.
 */
#include "profile/profile.h"

#include <errno.h>

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

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
	bool *out = vec_add(&p->thread_out);
	struct tacho_profile_thread *t = out && name != KEYMAP_NONE ? vec_add(&p->threads) : NULL;

	if (!t)
		return KEYMAP_NONE;
	*t = (struct tacho_profile_thread){ .pid = pid, .tid = tid, .comm = p->name_of.v[name] };
	*out = !profile_filter_task(&p->filter, pid, tid) || !profile_filter_comm(&p->filter, comm);
	if (keymap_put(&p->thread_ids, key, (uint32_t)(p->threads.n - 1)) < 0)
		return KEYMAP_NONE;
	return (uint32_t)(p->threads.n - 1);
}

uint32_t profile_thread(struct tacho_profile *p, uint32_t pid, uint32_t tid, const char *comm)
{
	uint64_t key = mix(key_pair(pid, tid), str_hash(str_of(comm)));

	for (;; key++) {
		uint32_t id = keymap_get(&p->thread_ids, key);
		const struct tacho_profile_thread *t = id != KEYMAP_NONE ? &p->threads.v[id] : NULL;

		if (!t)
			return thread_new(p, key, pid, tid, comm);
		if (t->pid == pid && t->tid == tid && strcmp(t->comm, comm) == 0)
			return id;
	}
}

/* ---- frames ---- */

static uint64_t frame_hash(const struct tacho_profile_frame *f)
{
	uint64_t h = mix(key_pair(f->symbol, f->object), f->address);

	return mix(mix(h, f->offset), (uint64_t)f->space << 1 | f->inlined);
}

static bool frame_same(const struct tacho_profile_frame *a, const struct tacho_profile_frame *b)
{
	return a->symbol == b->symbol && a->object == b->object && a->address == b->address &&
	       a->offset == b->offset && a->space == b->space && a->inlined == b->inlined;
}

/* Doubles a table of id + 1 by asking for each id's hash again. */
static int slots_grow(uint32_t **slots, size_t *cap, size_t n,
		      uint64_t (*hash)(const struct tacho_profile *, size_t),
		      const struct tacho_profile *p)
{
	size_t want = *cap ? *cap * 2 : 1024;
	uint32_t *bigger = calloc(want, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	for (size_t id = 0; id < n; id++) {
		size_t i = hash(p, id) & (want - 1);

		while (bigger[i])
			i = (i + 1) & (want - 1);
		bigger[i] = (uint32_t)id + 1;
	}
	free(*slots);
	*slots = bigger;
	*cap = want;
	return 0;
}

static uint64_t frame_hash_at(const struct tacho_profile *p, size_t id)
{
	return frame_hash(&p->frames.v[id]);
}

static uint32_t frame_new(struct tacho_profile *p, const struct tacho_profile_frame *like,
			  size_t slot)
{
	struct tacho_profile_frame *f = vec_add(&p->frames);
	uint8_t *flags = f ? vec_add(&p->frame_flags) : NULL;
	const struct tacho_profile_object *o = &p->objects.v[like->object];

	if (!flags)
		return KEYMAP_NONE;
	*f = *like;
	f->name = p->name_of.v[f->symbol];
	f->object_path = o->path;
	f->object_name = o->name;
	if (!profile_filter_object(&p->filter, o->path, o->name) || !profile_filter_symbol(&p->filter, f->name))
		*flags |= FRAME_LEAF_OUT;
	if (p->filter.by_parent && f->known && profile_filter_parent(&p->filter, f->name))
		*flags |= FRAME_PARENT;
	p->frame_slots[slot] = (uint32_t)p->frames.n;
	return (uint32_t)(p->frames.n - 1);
}

uint32_t profile_frame(struct tacho_profile *p, const struct tacho_profile_frame *like)
{
	size_t i;

	if (p->frames.n * 3 >= p->frame_cap * 2 &&
	    slots_grow(&p->frame_slots, &p->frame_cap, p->frames.n, frame_hash_at, p) < 0)
		return KEYMAP_NONE;
	for (i = frame_hash(like) & (p->frame_cap - 1); p->frame_slots[i];
	     i = (i + 1) & (p->frame_cap - 1))
		if (frame_same(&p->frames.v[p->frame_slots[i] - 1], like))
			return p->frame_slots[i] - 1;
	return frame_new(p, like, i);
}

/* ---- nodes ---- */

uint32_t profile_node(struct tacho_profile *p, uint32_t parent, uint32_t frame)
{
	uint64_t key = key_pair(parent, frame);
	uint32_t id = keymap_get(&p->children, key);
	struct tacho_profile_node *n;

	if (id != KEYMAP_NONE)
		return id;
	n = vec_add(&p->nodes);
	if (!n)
		return KEYMAP_NONE;
	*n = (struct tacho_profile_node){ parent, frame };
	id = (uint32_t)(p->nodes.n - 1);
	if (p->filter.by_parent) {
		uint8_t *has = vec_add(&p->node_parent);

		if (!has)
			return KEYMAP_NONE;
		*has = p->node_parent.v[parent] || (p->frame_flags.v[frame] & FRAME_PARENT);
	}
	return keymap_put(&p->children, key, id) < 0 ? KEYMAP_NONE : id;
}

/* ---- rows ---- */

static uint64_t row_hash(const struct tacho_profile_row *r)
{
	uint64_t h = mix(key_pair(r->thread, r->node), key_pair(r->event, (uint32_t)r->cpu));

	return r->cgroup ? mix(h, r->cgroup) : h;
}

static uint64_t row_hash_at(const struct tacho_profile *p, size_t id)
{
	return row_hash(&p->rows.v[id]);
}

static bool row_same(const struct tacho_profile_row *a, const struct tacho_profile_row *b)
{
	return a->node == b->node && a->thread == b->thread && a->event == b->event &&
	       a->cpu == b->cpu && a->cgroup == b->cgroup;
}

static int row_new(struct tacho_profile *p, const struct tacho_profile_row *add, uint32_t *slot)
{
	struct tacho_profile_row *r = vec_add(&p->rows);

	if (!r)
		return -ENOMEM;
	*r = *add;
	if (slot)
		*slot = (uint32_t)p->rows.n;
	return 0;
}

int profile_row(struct tacho_profile *p, const struct tacho_profile_row *add)
{
	size_t i;

	if (p->opts.per_time)
		return row_new(p, add, NULL);
	if (p->rows.n * 3 >= p->row_cap * 2 &&
	    slots_grow(&p->row_slots, &p->row_cap, p->rows.n, row_hash_at, p) < 0)
		return -ENOMEM;
	for (i = row_hash(add) & (p->row_cap - 1); p->row_slots[i]; i = (i + 1) & (p->row_cap - 1)) {
		struct tacho_profile_row *r = &p->rows.v[p->row_slots[i] - 1];

		if (row_same(r, add)) {
			r->samples += add->samples;
			r->period += add->period;
			return 0;
		}
	}
	return row_new(p, add, &p->row_slots[i]);
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
