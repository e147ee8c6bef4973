/*
 * Rows of waits that are not read from a recording: sums of waits are added to them, with the filters and call chains of
 * recordings.
 */
#ifndef KERNEL_LOCK_ROWS_H
#define KERNEL_LOCK_ROWS_H

#include <tacho/lock.h>

struct lock_sum {			/* waits that are the same but for their time */
	uint64_t who, lock;		/* thread or cgroup, and address of the lock, as far as they are needed */
	uint32_t flags;
	struct tacho_words chain;	/* of the kernel */
	uint64_t n, wait_ns, max_ns, min_ns;
};

int lock_rows_new(struct tacho_lock **out, const struct tacho_lock_opts *opts, struct tacho_error *e);
/* These return 0 or -ENOMEM. */
int lock_rows_add(struct tacho_lock *l, const struct lock_sum *s);
int lock_rows_set_comm(struct tacho_lock *l, size_t i, const char *comm);
int lock_rows_set_name(struct tacho_lock *l, size_t i, const char *name);
void lock_rows_set_lost(struct tacho_lock *l, uint64_t n);

#endif
