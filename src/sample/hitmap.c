/*
 * Implementation of the hitmap: a hash table by pid, with a vector of mappings per process.
 *
 * Mappings are stored in order of arrival, and a lookup takes the newest one that contains the address;
 * munmap therefore needs no handling. The page cache is cleared whenever a new mapping may change what a
 * cached page belongs to, which happens mostly while programs start.
 */
#include "sample/hitmap.h"

#include <errno.h>

#include "base/vec.h"

#define MAPS_MAX 8192			/* per process */

static size_t home_slot(const struct hitmap *o, int32_t pid)
{
	return (size_t)((uint32_t)pid * 0x9e3779b1u >> 7) & (o->cap - 1);
}

static struct hit_process *find_process(const struct hitmap *o, int32_t pid)
{
	if (!o->cap || !pid)
		return NULL;
	for (size_t i = home_slot(o, pid);; i = (i + 1) & (o->cap - 1)) {
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
		size_t k = home_slot(&bigger, o->slots[i].pid);

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

/* Finds or creates a process. Returns NULL without memory. */
static struct hit_process *get_process(struct hitmap *o, int32_t pid)
{
	struct hit_process *p = find_process(o, pid);
	size_t i;

	if (p || !pid)
		return p;
	if (o->n_slots * 2 >= o->cap && grow(o) < 0)
		return NULL;
	for (i = home_slot(o, pid); o->slots[i].pid; i = (i + 1) & (o->cap - 1))
		;
	o->n_slots++;
	o->slots[i].pid = pid;
	return &o->slots[i];
}

/* Removes slot i and moves later entries of its probe sequence up. */
static void remove_process(struct hitmap *o, size_t i)
{
	size_t hole = i;

	vec_done(&o->slots[i].maps);
	o->n_slots--;
	for (size_t k = (i + 1) & (o->cap - 1); o->slots[k].pid; k = (k + 1) & (o->cap - 1)) {
		size_t home = home_slot(o, o->slots[k].pid);

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
	free(o->page_cache);
	vec_done(&o->list);
	map_done(&o->by_path);
	arena_done(&o->names);
	*o = (struct hitmap){ 0 };
}

static void clear_page_cache(struct hitmap *o)
{
	free(take(o->page_cache));
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

/* Drops mappings that the new one covers completely. In a process with MAPS_MAX mappings the older half is
 * dropped as well. */
static void drop_covered_mappings(struct hit_process *p, uint64_t start, uint64_t end)
{
	size_t kept = 0;

	for (size_t i = p->maps.n >= MAPS_MAX ? MAPS_MAX / 2 : 0; i < p->maps.n; i++)
		if (p->maps.v[i].start < start || p->maps.v[i].end > end)
			p->maps.v[kept++] = p->maps.v[i];
	p->maps.n = kept;
}

int hitmap_mmap(struct hitmap *o, const struct hitmap_new_mapping *new)
{
	int object = hitmap_intern(o, new->path, new->pid == HITMAP_KERNEL_PID);
	struct hit_process *p = object < 0 ? NULL : get_process(o, new->pid);
	uint64_t start = new->start;
	uint64_t end = new->len > UINT64_MAX - start ? UINT64_MAX : start + new->len;
	struct hit_object *known;
	struct hit_mapping *m;

	if (!p)
		return -ENOMEM;
	drop_covered_mappings(p, start, end);
	m = vec_add(&p->maps);
	if (!m)
		return -ENOMEM;
	*m = (struct hit_mapping){ start, end, (uint32_t)object };
	known = &o->list.v[object];
	known->pid = new->pid;
	if (new->build_id && new->n_build_id) {
		known->n_build_id = (uint8_t)min_of(new->n_build_id, sizeof(known->build_id));
		memcpy(known->build_id, new->build_id, known->n_build_id);
	}
	clear_page_cache(o);
	return 0;
}

int hitmap_fork(struct hitmap *o, int32_t pid, int32_t parent)
{
	struct hit_process *child = get_process(o, pid), *from = find_process(o, parent);

	if (!child)
		return -ENOMEM;
	child->maps.n = 0;		/* the pid may have been reused */
	child->exited = false;
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
	struct hit_process *p = find_process(o, pid);

	if (p && p->maps.n) {
		p->maps.n = 0;
		clear_page_cache(o);
	}
}

void hitmap_exit(struct hitmap *o, int32_t pid)
{
	struct hit_process *p = find_process(o, pid);

	if (!p || p->exited)
		return;
	p->exited = true;
	o->n_exited++;
}

/* Samples are drained after the tracker's records, so at the end of a round all samples of the processes
 * whose EXIT record was in that round have been seen. */
void hitmap_round(struct hitmap *o)
{
	if (!o->n_exited)
		return;
	o->n_exited = 0;
	for (size_t i = 0; i < o->cap; i++)
		while (o->slots[i].pid && o->slots[i].exited)
			remove_process(o, i);
}

void hitmap_hit_uncached(struct hitmap *o, int32_t pid, uint64_t ip)
{
	const struct hit_process *p = find_process(o, pid);
	uint64_t key = hitmap_key(pid, ip);

	if (!o->page_cache)
		o->page_cache = calloc(HITMAP_CACHE, sizeof(*o->page_cache));
	for (size_t i = p ? p->maps.n : 0; i-- > 0;)
		if (ip >= p->maps.v[i].start && ip < p->maps.v[i].end) {
			o->list.v[p->maps.v[i].object].hit = true;
			break;
		}
	if (o->page_cache)
		o->page_cache[key >> 20 & (HITMAP_CACHE - 1)] = key;
}
