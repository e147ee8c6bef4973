/*
 * The hitmap knows which objects (executables, libraries, kernel modules) samples were taken in, so that
 * only their build IDs have to be read at the end. It tracks the mappings of each process from mmap, comm,
 * fork and exit records, and looks up each (process, page) of a sample once. Its size depends on
 * the number of live processes, not on the length of the recording.
 */
#ifndef SAMPLE_HITMAP_H
#define SAMPLE_HITMAP_H

#include "base/arena.h"
#include "base/map.h"

#define HITMAP_CACHE 16384		/* entries of the page cache */
#define HITMAP_KERNEL_PID (-1)		/* kernel modules are mappings of this pid */

struct hit_object {
	const char *path;
	uint8_t build_id[20], n_build_id;
	bool kernel, hit;
	int32_t pid;			/* the last process that mapped it; 0: none */
};

struct hit_mapping {
	uint64_t start, end;
	uint32_t object;
};

struct hit_process {
	int32_t pid;
	bool exited;			/* its last samples may not have been drained yet */
	struct { struct hit_mapping *v; size_t n, cap; } maps;
};

struct hitmap {
	struct { struct hit_object *v; size_t n, cap; } list;
	struct map by_path;		/* -> index into list */
	struct arena names;
	struct hit_process *slots;		/* open addressing by pid; pid 0: free */
	size_t n_slots, cap;
	size_t n_exited;
	uint64_t *page_cache;		/* HITMAP_CACHE keys of pages already looked up; NULL: empty */
	bool kernel_hit;
};

void hitmap_done(struct hitmap *o);

/* Finds or creates the object with this path. Returns its index or -ENOMEM. */
int hitmap_intern(struct hitmap *o, struct str path, bool kernel);

struct hitmap_new_mapping {
	int32_t pid;
	uint64_t start, len;
	struct str path;
	const uint8_t *build_id;	/* NULL: unknown */
	size_t n_build_id;
};
int hitmap_mmap(struct hitmap *o, const struct hitmap_new_mapping *new);	/* 0 or -ENOMEM */
int hitmap_fork(struct hitmap *o, int32_t pid, int32_t parent);		/* 0 or -ENOMEM */
void hitmap_exec(struct hitmap *o, int32_t pid);
void hitmap_exit(struct hitmap *o, int32_t pid);
/* Call after all rings were drained: removes the processes that have exited. */
void hitmap_round(struct hitmap *o);

void hitmap_hit_uncached(struct hitmap *o, int32_t pid, uint64_t ip);

static inline uint64_t hitmap_key(int32_t pid, uint64_t ip)
{
	return (ip >> 12) * 0x9e3779b97f4a7c15ULL ^ (uint64_t)(uint32_t)pid << 1 ^ 1;
}

/* Marks the object at a sample's ip as hit. Costs one load and one compare if the page is cached. */
static inline void hitmap_hit(struct hitmap *o, int32_t pid, uint64_t ip)
{
	uint64_t key = hitmap_key(pid, ip);

	if (o->page_cache && o->page_cache[key >> 20 & (HITMAP_CACHE - 1)] == key)
		return;
	hitmap_hit_uncached(o, pid, ip);
}

#endif
