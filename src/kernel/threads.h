/*
 * The threads of a recording, by thread ID, with their process and name as of the current time of the pass. An ID that is
 * used again is a new thread. Threads are never removed, and their addresses do not change.
 */
#ifndef KERNEL_THREADS_H
#define KERNEL_THREADS_H

#include "base/arena.h"
#include "base/int_map.h"
#include "base/map.h"
#include "base/vec.h"

#define KERNEL_TIDS_MAX (4u << 20)	/* the kernel's limit of thread IDs */
#define KERNEL_TID_PAGE 256u

struct kernel_thread {
	uint32_t index;			/* in kernel_threads.all */
	uint32_t tid;
	uint32_t pid, ppid;		/* UINT32_MAX: unknown */
	bool has_exited;
	const char *comm;		/* printable and interned: equal names are equal pointers; NULL: unknown */
};

struct kernel_threads {
	struct kernel_thread ***pages;	/* of KERNEL_TID_PAGE threads, by ID */
	struct int_map others;		/* IDs above KERNEL_TIDS_MAX -> index + 1 */
	struct { struct kernel_thread **v; size_t n, cap; } all;	/* in the order of their first appearance */
	struct arena arena;
	struct map comms;
	size_t thread_bytes;
};

int kernel_threads_init(struct kernel_threads *t, size_t thread_bytes);	/* 0 or -ENOMEM */
void kernel_threads_done(struct kernel_threads *t);
struct kernel_thread *kernel_threads_find_other(const struct kernel_threads *t, uint32_t tid);
/* Adds a thread that is not found by its ID, such as the idle tasks, which are all 0. NULL: out of memory. */
struct kernel_thread *kernel_threads_add_hidden(struct kernel_threads *t, uint32_t tid);
/* Adds a thread, which replaces the one that had this ID. NULL: out of memory. */
struct kernel_thread *kernel_threads_add(struct kernel_threads *t, uint32_t tid);
/* Interns a name. NULL: out of memory. */
const char *kernel_threads_comm(struct kernel_threads *t, struct str name);

static inline struct kernel_thread *kernel_threads_find(const struct kernel_threads *t, uint32_t tid)
{
	struct kernel_thread **page;

	if (tid >= KERNEL_TIDS_MAX)
		return kernel_threads_find_other(t, tid);
	page = t->pages[tid / KERNEL_TID_PAGE];
	return page ? page[tid % KERNEL_TID_PAGE] : NULL;
}

#endif
