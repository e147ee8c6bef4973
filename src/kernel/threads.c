/*
 * Threads by ID: a table of pages for the IDs that a kernel can give, because most events look up a thread, and a hash map
 * for all others, which only a damaged file has.
 */
#include "kernel/threads.h"

#include <errno.h>

#define N_PAGES (KERNEL_TIDS_MAX / KERNEL_TID_PAGE)

int kernel_threads_init(struct kernel_threads *t, size_t thread_bytes)
{
	*t = (struct kernel_threads){ .thread_bytes = max_of(thread_bytes, sizeof(struct kernel_thread)) };
	t->pages = calloc(N_PAGES, sizeof(*t->pages));
	return t->pages ? 0 : -ENOMEM;
}

void kernel_threads_done(struct kernel_threads *t)
{
	for (size_t i = 0; t->pages && i < N_PAGES; i++)
		free(t->pages[i]);
	free(t->pages);
	int_map_done(&t->others);
	vec_done(&t->all);
	arena_done(&t->arena);
	map_done(&t->comms);
}

struct kernel_thread *kernel_threads_find_other(const struct kernel_threads *t, uint32_t tid)
{
	uint32_t index;

	return int_map_get(&t->others, tid, &index) ? t->all.v[index] : NULL;
}

static int set_slot(struct kernel_threads *t, struct kernel_thread *thread)
{
	struct kernel_thread ***page = &t->pages[thread->tid / KERNEL_TID_PAGE % N_PAGES];

	if (thread->tid >= KERNEL_TIDS_MAX)
		return int_map_put(&t->others, thread->tid, thread->index);
	if (!*page)
		*page = calloc(KERNEL_TID_PAGE, sizeof(**page));
	if (!*page)
		return -ENOMEM;
	(*page)[thread->tid % KERNEL_TID_PAGE] = thread;
	return 0;
}

struct kernel_thread *kernel_threads_add_hidden(struct kernel_threads *t, uint32_t tid)
{
	struct kernel_thread *thread = arena_alloc(&t->arena, t->thread_bytes), **slot;

	if (!thread)
		return NULL;
	slot = vec_add(&t->all);
	if (!slot)
		return NULL;
	*slot = thread;
	thread->index = (uint32_t)(t->all.n - 1);
	thread->tid = tid;
	thread->pid = thread->ppid = UINT32_MAX;
	return thread;
}

struct kernel_thread *kernel_threads_add(struct kernel_threads *t, uint32_t tid)
{
	struct kernel_thread *thread = kernel_threads_add_hidden(t, tid);

	return thread && set_slot(t, thread) == 0 ? thread : NULL;
}

const char *kernel_threads_comm(struct kernel_threads *t, struct str name)
{
	const uint64_t *known = map_get(&t->comms, name);
	char *text, *key;

	if (known)
		return (const char *)(uintptr_t)*known;
	text = arena_text(&t->arena, name);
	key = arena_str(&t->arena, name);
	if (!text || !key || map_put(&t->comms, str_n(key, name.n), (uintptr_t)text) < 0)
		return NULL;
	return text;
}
