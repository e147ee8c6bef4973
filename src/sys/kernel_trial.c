/*
 * Trials: maps a ring buffer or queries a size, and releases it at once.
 */
#include "sys/kernel_trial.h"

#include <errno.h>
#include <sys/mman.h>

int trial_ring(int fd, unsigned pages)
{
	size_t n = (size_t)(pages + 1) * (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	munmap(at, n);
	return 0;
}

int trial_attr_size(const struct sys *sys)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = 1 };
	int fd = sys_perf_open(sys, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0) {		/* only a test's fake kernel accepts this */
		sys_perf_close(sys, fd);
		return -EINVAL;
	}
	return fd == -E2BIG && attr.size >= PERF_ATTR_SIZE_VER0 ? (int)attr.size : fd;
}
