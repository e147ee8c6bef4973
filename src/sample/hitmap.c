/*
 * Processes and their maps, as small vectors behind a table of pids.
 *
 * Maps are kept in the order they came; the newest that covers an address is the one that counts,
 * so what an munmap freed needs no attention. The cache of pages is emptied whenever a map
 * changes what a known page means; that is when programs start, not when they run.
 */
#include "sample/hitmap.h"

#include <errno.h>

#include "base/vec.h"

#define MAPS_MAX 8192			/* per process */

static size_t home_of(const struct hitmap *o, int32_t pid)
{
	return (size_t)((uint32_t)pid * 0x9e3779b1u >> 7) & (o->cap - 1);
}

static struct hit_process *find(const struct hitmap *o, int32_t pid)
{
	if (!o->cap || !pid)
		return NULL;
	for (size_t i = home_of(o, pid);; i = (i + 1) & (o->cap - 1)) {
		if (o->slots[i].pid == pid)
			return &o->slots[i];
		if (!o->slots[i].pid)
			return NULL;
	}
}

static int grow(struct hitmap *o)
{
	struct hitmap bigger = *o;

	bigger.cap = o->cap ? o->cap * 2 : 256;
	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < o->cap; i++) {
		size_t k = home_of(&bigger, o->slots[i].pid);

		if (!o->slots[i].pid)
			continue;
		while (bigger.slots[k].pid)
			k = (k + 1) & (bigger.cap - 1);
		bigger.slots[k] = o->slots[i];
	}
	free(o->slots);
	*o = bigger;
	return 0;
}

/* The process, made where it is new; NULL without memory. */
static struct hit_process *of_pid(struct hitmap *o, int32_t pid)
{
	struct hit_process *p = find(o, pid);
	size_t i;

	if (p || !pid)
		return p;
	if (o->n_slots * 2 >= o->cap && grow(o) < 0)
		return NULL;
	for (i = home_of(o, pid); o->slots[i].pid; i = (i + 1) & (o->cap - 1))
		;
	o->n_slots++;
	o->slots[i].pid = pid;
	return &o->slots[i];
}

/* Takes slot i out and closes the gap in its chain. */
static void drop_slot(struct hitmap *o, size_t i)
{
	size_t hole = i;

	vec_done(&o->slots[i].maps);
	o->n_slots--;
	for (size_t k = (i + 1) & (o->cap - 1); o->slots[k].pid; k = (k + 1) & (o->cap - 1)) {
		size_t home = home_of(o, o->slots[k].pid);

		if (((k - home) & (o->cap - 1)) < ((k - hole) & (o->cap - 1)))
			continue;
		o->slots[hole] = o->slots[k];
		hole = k;
	}
	o->slots[hole] = (struct hit_process){ 0 };
}

void hitmap_done(struct hitmap *o)
{
	for (size_t i = 0; i < o->cap; i++)
		vec_done(&o->slots[i].maps);
	free(o->slots);
	free(o->seen);
	vec_done(&o->list);
	map_done(&o->by_path);
	arena_done(&o->names);
	*o = (struct hitmap){ 0 };
}

static void forget_seen(struct hitmap *o)
{
	free(take(o->seen));
}

int hitmap_intern(struct hitmap *o, struct str path, bool kernel)
{
	const uint64_t *known = map_get(&o->by_path, path);
	struct hit_object *object;
	char *copy;

	if (known)
		return (int)*known;
	copy = arena_str(&o->names, path);
	object = copy ? vec_add(&o->list) : NULL;
	if (!object)
		return -ENOMEM;
	object->path = copy;
	object->kernel = kernel;
	if (map_put(&o->by_path, str_n(copy, path.n), o->list.n - 1) < 0) {
		o->list.n--;
		return -ENOMEM;
	}
	return (int)(o->list.n - 1);
}

/* What the new map covers is gone; of a process that maps for ever the older half goes too. */
static void make_way(struct hit_process *p, uint64_t start, uint64_t end)
{
	size_t kept = 0;

	for (size_t i = p->maps.n >= MAPS_MAX ? MAPS_MAX / 2 : 0; i < p->maps.n; i++)
		if (p->maps.v[i].start < start || p->maps.v[i].end > end)
			p->maps.v[kept++] = p->maps.v[i];
	p->maps.n = kept;
}

int hitmap_mmap(struct hitmap *o, int32_t pid, uint64_t start, uint64_t len, struct str path,
		 const uint8_t *build_id, size_t n_build_id)
{
	int object = hitmap_intern(o, path, pid == HITMAP_KERNEL_PID);
	struct hit_process *p = object < 0 ? NULL : of_pid(o, pid);
	uint64_t end = len > UINT64_MAX - start ? UINT64_MAX : start + len;
	struct hit_object *known;
	struct hit_mapping *m;

	if (!p)
		return -ENOMEM;
	make_way(p, start, end);
	m = vec_add(&p->maps);
	if (!m)
		return -ENOMEM;
	*m = (struct hit_mapping){ start, end, (uint32_t)object };
	known = &o->list.v[object];
	if (!build_id || !n_build_id) {
		known->pid = pid;
	} else {
		known->n_build_id = (uint8_t)min_of(n_build_id, sizeof(known->build_id));
		memcpy(known->build_id, build_id, known->n_build_id);
	}
	forget_seen(o);
	return 0;
}

int hitmap_fork(struct hitmap *o, int32_t pid, int32_t parent)
{
	struct hit_process *child = of_pid(o, pid), *from = find(o, parent);

	if (!child)
		return -ENOMEM;
	child->maps.n = 0;		/* the number was another's before */
	child->dying = false;
	if (!from || from == child)
		return 0;
	for (size_t i = 0; i < from->maps.n; i++) {
		struct hit_mapping *m = vec_add(&child->maps);

		if (!m)
			return -ENOMEM;
		*m = from->maps.v[i];
	}
	return 0;
}

void hitmap_exec(struct hitmap *o, int32_t pid)
{
	struct hit_process *p = find(o, pid);

	if (p && p->maps.n) {
		p->maps.n = 0;
		forget_seen(o);
	}
}

void hitmap_exit(struct hitmap *o, int32_t pid)
{
	struct hit_process *p = find(o, pid);

	if (!p || p->dying)
		return;
	p->dying = true;
	o->n_dying++;
}

/* Samples are drained behind the records of maps and tasks: those of a process whose end was
 * told have all been seen by now. */
void hitmap_round(struct hitmap *o)
{
	if (!o->n_dying)
		return;
	o->n_dying = 0;
	for (size_t i = 0; i < o->cap; i++)
		while (o->slots[i].pid && o->slots[i].dying)
			drop_slot(o, i);
}

void hitmap_hit_slowly(struct hitmap *o, int32_t pid, uint64_t ip)
{
	const struct hit_process *p = find(o, pid);
	uint64_t key = hitmap_key(pid, ip);

	if (!o->seen)
		o->seen = calloc(HITMAP_CACHE, sizeof(*o->seen));
	for (size_t i = p ? p->maps.n : 0; i-- > 0;)
		if (ip >= p->maps.v[i].start && ip < p->maps.v[i].end) {
			o->list.v[p->maps.v[i].object].hit = true;
			break;
		}
	if (o->seen)
		o->seen[key >> 20 & (HITMAP_CACHE - 1)] = key;
}
