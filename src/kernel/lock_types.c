/*
 * Kinds of locks, by the flags of lock:contention_begin.
 */
#include <tacho/lock.h>

#include "base/str.h"
#include "kernel/lock_types.h"

static const struct {
	uint32_t flags;
	const char *detailed, *name;
} kinds[] = {
	{ 0, "semaphore", "semaphore" },
	{ LOCK_SPIN, "spinlock", "spinlock" },
	{ LOCK_SPIN | LOCK_READ, "rwlock:R", "rwlock" },
	{ LOCK_SPIN | LOCK_WRITE, "rwlock:W", "rwlock" },
	{ LOCK_READ, "rwsem:R", "rwsem" },
	{ LOCK_WRITE, "rwsem:W", "rwsem" },
	{ LOCK_RT, "rt-mutex", "rt-mutex" },
	{ LOCK_RT | LOCK_READ, "rwlock-rt:R", "rwlock-rt" },
	{ LOCK_RT | LOCK_WRITE, "rwlock-rt:W", "rwlock-rt" },
	{ LOCK_PERCPU | LOCK_READ, "pcpu-sem:R", "percpu-rwsem" },
	{ LOCK_PERCPU | LOCK_WRITE, "pcpu-sem:W", "percpu-rwsem" },
	{ LOCK_MUTEX, "mutex", "mutex" },
	{ LOCK_MUTEX | LOCK_SPIN, "mutex", "mutex" },
};

const char *tacho_lock_type(uint32_t flags, bool detail)
{
	for (size_t i = 0; i < countof(kinds); i++)
		if (kinds[i].flags == (flags & LOCK_FLAGS))
			return detail ? kinds[i].detailed : kinds[i].name;
	return "unknown";
}

size_t tacho_lock_type_flags(const char *type, uint32_t *out, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < countof(kinds); i++) {
		if (strcmp(type, kinds[i].detailed) != 0 && strcmp(type, kinds[i].name) != 0)
			continue;
		if (n < max)
			out[n] = kinds[i].flags;
		n++;
	}
	return n;
}
