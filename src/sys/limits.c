/*
 * RLIMIT_NOFILE. It is raised only after an open has failed with EMFILE.
 */
#include "sys/limits.h"

#include <errno.h>
#include <sys/resource.h>

int limits_raise_nofile(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	if (limit.rlim_cur == limit.rlim_max)
		return 0;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) < 0 ? -errno : 1;
}

uint64_t limits_nofile(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? 0 : limit.rlim_cur;
}
