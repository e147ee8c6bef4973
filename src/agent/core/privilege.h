/*
 * Reduces privileges once everything is open: keeps only the capabilities needed for counting, and
 * denies system calls that the agent does not need. Both apply to every thread, including those that
 * already run.
 */
#ifndef AGENT_CORE_PRIVILEGE_H
#define AGENT_CORE_PRIVILEGE_H

#include "agent/core/agent.h"

/* At the start: raises the soft limit of locked memory to the hard limit. */
void privilege_raise_limits(void);
/* Drops privileges unless [agent] keep_privileges is set. Failures are logged; the agent continues
 * with the privileges it has. */
void privilege_drop(struct agent *a);

/* seccomp.c: installs the filter for all threads. Returns 0 or a negative errno. */
int seccomp_deny(void);
bool seccomp_denies(const char *name); /* for tests: whether the filter denies this system call */

#endif
