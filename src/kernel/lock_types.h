/*
 * The flags of lock:contention_begin.
 */
#ifndef KERNEL_LOCK_TYPES_H
#define KERNEL_LOCK_TYPES_H

enum { LOCK_SPIN = 1, LOCK_READ = 2, LOCK_WRITE = 4, LOCK_RT = 8, LOCK_PERCPU = 16, LOCK_MUTEX = 32, LOCK_FLAGS = 63 };

/* The flags of lock:lock_acquire. */
enum { LOCKDEP_TRY = 1, LOCKDEP_READ = 2 };

#endif
