/*
 * Which objects samples were taken in, so that only their build ids have to be found: who has
 * mapped what is followed from the records of maps and tasks, and every (process, page) that a
 * sample names is looked up once. Memory goes with the processes that live, not with the length
 * of the recording.
 */
#ifndef SAMPLE_HITMAP_H
#define SAMPLE_HITMAP_H

#include "base/arena.h"
#include "base/map.h"

#define HITMAP_CACHE 16384		/* pages that were just looked up */
#define HITMAP_KERNEL_PID (-1)		/* whose maps the modules are */

struct hit_object {
	const char *path;
	uint8_t build_id[20], n_build_id;
	bool kernel, hit;
	int32_t pid;			/* the last that mapped it without a build id; 0: none */
};

struct hit_mapping {
	uint64_t start, end;
	uint32_t object;
};

struct hit_process {
	int32_t pid;
	bool dying;			/* has ended; its last samples may be still to come */
	struct { struct hit_mapping *v; size_t n, cap; } maps;
};

struct hitmap {
	struct { struct hit_object *v; size_t n, cap; } list;
	struct map by_path;		/* -> index into list */
	struct arena names;
	struct hit_process *slots;		/* open addressing by pid; pid 0: free */
	size_t n_slots, cap;
	size_t n_dying;
	uint64_t *seen;			/* HITMAP_CACHE keys */
	bool kernel_hit;
};

void hitmap_done(struct hitmap *o);

/* The object called `path`, made where it is new. -ENOMEM, else its index. */
int hitmap_intern(struct hitmap *o, struct str path, bool kernel);
/* All return 0 or -ENOMEM. `build_id` may be NULL. */
int hitmap_mmap(struct hitmap *o, int32_t pid, uint64_t start, uint64_t len, struct str path,
		 const uint8_t *build_id, size_t n_build_id);
int hitmap_fork(struct hitmap *o, int32_t pid, int32_t parent);
void hitmap_exec(struct hitmap *o, int32_t pid);
void hitmap_exit(struct hitmap *o, int32_t pid);
/* A drain is over: who had ended before it is forgotten. */
void hitmap_round(struct hitmap *o);

void hitmap_hit_slowly(struct hitmap *o, int32_t pid, uint64_t ip);

static inline uint64_t hitmap_key(int32_t pid, uint64_t ip)
{
	return (ip >> 12) * 0x9e3779b97f4a7c15ULL ^ (uint64_t)(uint32_t)pid << 1 ^ 1;
}

/* A sample's ip; costs a load and a compare where it is known already. */
static inline void hitmap_hit(struct hitmap *o, int32_t pid, uint64_t ip)
{
	uint64_t key = hitmap_key(pid, ip);

	if (o->seen && o->seen[key >> 20 & (HITMAP_CACHE - 1)] == key)
		return;
	hitmap_hit_slowly(o, pid, ip);
}

#endif
