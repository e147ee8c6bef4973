#ifndef TACHO_TASK_WATCH_H
#define TACHO_TASK_WATCH_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * Tells when processes on this machine start, execute a program and end, for programs that count processes by name:
 * a process can be counted from its beginning, and one that lives for milliseconds is not missed. The kernel
 * reports this through a ring buffer per CPU, which needs CAP_PERFMON or perf_event_paranoid <= 0.
 *
 *	open -> (fd is readable) -> read, read ... -> close
 *
 * A watch is used by one thread at a time and borrows the `struct tacho` it came from.
 */
struct tacho_task_watch;

enum tacho_task_event {
	TACHO_TASK_START,		/* a process was forked */
	TACHO_TASK_EXEC,		/* it executed a program, which changes its name */
	TACHO_TASK_END,			/* its first thread has ended */
	TACHO_TASK_LOST,		/* the ring buffer was full: look at /proc */
};

struct tacho_task_change {
	size_t size;
	enum tacho_task_event event;
	int pid;			/* 0 for TACHO_TASK_LOST */
	int parent;			/* TACHO_TASK_START: the process that forked it; else 0 */
};

/* Watches the CPUs that are online now. Returns 0, or -EACCES with a hint, -EMFILE, -ENOMEM ... */
TACHO_API int tacho_task_watch_open(struct tacho_task_watch **out, struct tacho *t,
				    struct tacho_error *e);
TACHO_API void tacho_task_watch_close(struct tacho_task_watch *w);
/* A descriptor that polls readable when there is something to read; owned by the watch. */
TACHO_API int tacho_task_watch_fd(const struct tacho_task_watch *w);
/* Calls `fn` for each change since the last call, without waiting. Changes of one CPU come in order; those of
 * different CPUs may be swapped, so a process can end before it starts. If `fn` returns non-zero, the remaining
 * changes are dropped and that is returned. Otherwise returns 0, or -EBADMSG if a ring buffer has an invalid
 * record. */
TACHO_API int tacho_task_watch_read(struct tacho_task_watch *w,
				    int (*fn)(void *arg, const struct tacho_task_change *c), void *arg);

TACHO_END_DECLS
#endif
