/*
 * Recognizes HotSpot JVMs by /proc.
 */
#ifndef SYMBOL_JVM_PROCESS_H
#define SYMBOL_JVM_PROCESS_H

#include <sys/types.h>

#include "base/buf.h"

#include <tacho/common.h>

struct jvm_process {
	int inner_pid;			/* its pid in its own pid namespace */
	uid_t uid;			/* effective, as this process sees them */
	gid_t gid;
};

/* Fills *out if the process /PROCFS/PID is a HotSpot JVM that handles SIGQUIT. As tacho_jvm_check(). */
int jvm_process_read(const char *procfs, int pid, struct jvm_process *out, struct tacho_error *e);

#endif
