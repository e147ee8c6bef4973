/*
 * Which objects samples were taken in, so that only their build ids have to be found: who has
 * mapped what is followed from the records of maps and tasks, and every (process, page) that a
 * sample names is looked up once. Memory goes with the processes that live, not with the length
 * of the recording.
 */
#ifndef SAMPLE_OBJECTS_H
#define SAMPLE_OBJECTS_H

#include "base/arena.h"
#include "base/map.h"

#define OBJECTS_CACHE 16384		/* pages that were just looked up */
#define OBJECTS_KERNEL_PID (-1)		/* whose maps the modules are */

struct object {
	const char *path;
	uint8_t build_id[20], n_build_id;
	bool kernel, hit;
};

struct mapped {
	uint64_t start, end;
	uint32_t object;
};

struct process {
	int32_t pid;
	bool dying;			/* has ended; its last samples may be still to come */
	struct { struct mapped *v; size_t n, cap; } maps;
};

struct objects {
	struct { struct object *v; size_t n, cap; } list;
	struct map by_path;		/* -> index into list */
	struct arena names;
	struct process *slots;		/* open addressing by pid; pid 0: free */
	size_t n_slots, cap;
	size_t n_dying;
	uint64_t *seen;			/* OBJECTS_CACHE keys */
	bool kernel_hit;
};

void objects_done(struct objects *o);

/* The object called `path`, made where it is new. -ENOMEM, else its index. */
int objects_intern(struct objects *o, struct str path, bool kernel);
/* All return 0 or -ENOMEM. `build_id` may be NULL. */
int objects_mmap(struct objects *o, int32_t pid, uint64_t start, uint64_t len, struct str path,
		 const uint8_t *build_id, size_t n_build_id);
int objects_fork(struct objects *o, int32_t pid, int32_t parent);
void objects_exec(struct objects *o, int32_t pid);
void objects_exit(struct objects *o, int32_t pid);
/* A drain is over: who had ended before it is forgotten. */
void objects_round(struct objects *o);

void objects_hit_slowly(struct objects *o, int32_t pid, uint64_t ip);

static inline uint64_t objects_key(int32_t pid, uint64_t ip)
{
	return (ip >> 12) * 0x9e3779b97f4a7c15ULL ^ (uint64_t)(uint32_t)pid << 1 ^ 1;
}

/* A sample's ip; costs a load and a compare where it is known already. */
static inline void objects_hit(struct objects *o, int32_t pid, uint64_t ip)
{
	uint64_t key = objects_key(pid, ip);

	if (o->seen && o->seen[key >> 20 & (OBJECTS_CACHE - 1)] == key)
		return;
	objects_hit_slowly(o, pid, ip);
}

#endif
