/*
 * Threads with their names and processes with their maps, tracked from COMM, FORK, EXIT and MMAP
 * records.
 */
#ifndef SYMBOL_PROCESS_H
#define SYMBOL_PROCESS_H

#include "base/int_map.h"
#include "symbol/maps.h"
#include "symbol/interned_names.h"

struct process {
	uint32_t pid;
	struct maps *maps;
	bool proc_read;			/* its maps have been read from /proc */
	struct maps *before;		/* maps of the program before the last exec, or NULL */
	bool started;			/* the new program has started: `before` is obsolete */
	struct maps *jit;		/* functions of jitdump files, which replace what `maps` has there; or NULL */
	uint8_t ended;			/* 1: EXIT record seen; 2: seen before the last pruning */
};

struct thread {
	uint32_t tid, pid;
	uint32_t comm;			/* name id; 0: unknown */
	uint8_t ended;
};

struct processes {
	struct int_map by_pid, by_tid;	/* pid or tid -> index */
	struct { struct process *v; size_t n, cap; } procs;
	struct { struct thread *v; size_t n, cap; } threads;
	struct interned_names comms;
};

/* Finds or adds a process; NULL without memory. The pointer is valid until the next one is added. */
struct process *process_get(struct processes *p, uint32_t pid);
struct process *process_find(const struct processes *p, uint32_t pid);	/* NULL: unknown */
/* Access by a remembered index, which is cheaper than a search. The caller must check the pid, because
 * pruning moves entries. */
static inline struct process *process_at(const struct processes *p, uint32_t index)
{
	return index < p->procs.n ? &p->procs.v[index] : NULL;
}
static inline uint32_t process_index(const struct processes *p, const struct process *proc)
{
	return (uint32_t)(proc - p->procs.v);
}

/* Must be called before a mapping is added to the process. */
void process_before_map(struct process *proc, bool vdso);
int process_comm(struct processes *p, uint32_t pid, uint32_t tid, const char *name, bool exec);
/* copy_maps is false for synthesized FORK records, which are followed by the maps. */
int process_fork(struct processes *p, uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid,
		 bool copy_maps);
void process_exit(struct processes *p, uint32_t pid, uint32_t tid);
/* Drops processes and threads that had ended before the previous call. On -ENOMEM nothing is dropped. */
int processes_prune(struct processes *p);
/* ":TID" when the name is unknown. */
const char *process_comm_of(struct processes *p, uint32_t pid, uint32_t tid);
bool process_has_comm(const struct processes *p, uint32_t tid);
void processes_done(struct processes *p);

#endif
