/*
 * Threads with their names, and processes with their maps, as records tell of them.
 */
#ifndef SYMBOL_PROCESS_H
#define SYMBOL_PROCESS_H

#include "symbol/idmap.h"
#include "symbol/maps.h"
#include "symbol/interned_names.h"

struct process {
	uint32_t pid;
	struct maps *maps;
	bool looked;			/* /proc was asked about it */
	struct maps *before;		/* those of the program before exec, or NULL */
	bool started;			/* the new program's code runs: `before` is over */
	uint8_t ended;			/* 1: told to be over; 2: before the last pruning */
};

struct thread {
	uint32_t tid, pid;
	uint32_t comm;			/* name id; 0: never told */
	uint8_t ended;
};

struct processes {
	struct idmap by_pid, by_tid;	/* to an index */
	struct { struct process *v; size_t n, cap; } procs;
	struct { struct thread *v; size_t n, cap; } threads;
	struct interned_names comms;
};

/* Finds or makes; NULL without memory. The pointer holds until the next one is made. */
struct process *process_get(struct processes *p, uint32_t pid);
struct process *process_find(const struct processes *p, uint32_t pid);	/* NULL: unknown */
/* A guess is cheaper than a search: who is at the index may be another by now, but each pid is there once. */
static inline struct process *process_at(const struct processes *p, uint32_t index)
{
	return index < p->procs.n ? &p->procs.v[index] : NULL;
}
static inline uint32_t process_index(const struct processes *p, const struct process *proc)
{
	return (uint32_t)(proc - p->procs.v);
}

/* To be called before something is mapped into it. */
void process_before_map(struct process *proc, bool vdso);
int process_comm(struct processes *p, uint32_t pid, uint32_t tid, const char *name, bool exec);
/* copy_maps: false for forks that stand for threads found at the start (their maps follow). */
int process_fork(struct processes *p, uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid,
		 bool copy_maps);
void process_exit(struct processes *p, uint32_t pid, uint32_t tid);
/* Drops those that had ended before the last call. 0 or -ENOMEM, which leaves them. */
int processes_prune(struct processes *p);
/* ":TID" where it was never told. */
const char *process_comm_of(struct processes *p, uint32_t pid, uint32_t tid);
bool process_has_comm(const struct processes *p, uint32_t tid);
void processes_done(struct processes *p);

#endif
