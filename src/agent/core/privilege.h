/*
 * What the agent may do, once it has opened what it needs: the capabilities that counting asks for
 * and no others, and no system call that an instrument has no use for. Both hold for every thread,
 * also those that run already.
 */
#ifndef AGENT_CORE_PRIVILEGE_H
#define AGENT_CORE_PRIVILEGE_H

#include "agent/core/agent.h"

/* At the start: limits go up as far as they may. */
void privilege_raise_limits(void);
/* Gives up the rest, unless [agent] keep_privileges says otherwise. What fails is told in the log;
 * the agent runs on with what it has. */
void privilege_drop(struct agent *a);

/* seccomp.c: installs the filter for all threads. 0, or a negative errno. */
int seccomp_deny(void);
bool seccomp_denies(const char *name);		/* for tests: whether the list has it */

#endif
