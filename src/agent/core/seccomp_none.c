/*
 * Replaces the seccomp filter in builds without libseccomp.
 */
#include "agent/core/privilege.h"

#include <errno.h>

bool seccomp_denies(const char *name)
{
	(void)name;
	return false;
}

int seccomp_deny(void)
{
	return -EOPNOTSUPP;
}
