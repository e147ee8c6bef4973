/*
 * What the program syscalls.bpf.c and its user exchange: the specification of each system call and the records in the
 * ring buffer. The parts after a record are those of <tacho/syscall.h>.
 */
#ifndef BPF_SYSCALL_RECORD_H
#define BPF_SYSCALL_RECORD_H

#include <linux/types.h>

#define SYSCALL_NUMBERS 512
#define SYSCALL_ARGS 6
#define SCRATCH_BYTES 24576
#define CAPTURE_LIMIT 16384		/* no part starts after this offset */
#define MAX_PART 4096
#define MAX_VECTOR 32			/* strings or buffers of a vector */

struct syscall_capture {		/* as struct tacho_syscall_capture */
	__u8 kind, when, length_from, reserved;
	__u16 unit, max;
};

struct syscall_spec {
	__u8 traced, captures_entry, captures_exit, reserved[5];
	struct syscall_capture args[8];	/* six are used */
};

struct syscall_config {
	__u32 all_tasks;		/* trace all but the excluded ones; otherwise those in the map */
	__u32 follow;			/* add children and threads of traced tasks */
	__u32 self;			/* the tracer's process, which is never traced */
	__u32 user, has_user;
	__u32 string_bytes;
	__u32 wakeup_bytes;
	__u32 has_cpus;
	__u32 has_cgroup;
	__u32 has_excluded;
	__u64 cpus[16];
};

enum record_type { RECORD_ENTRY = 1, RECORD_EXIT, RECORD_FORK, RECORD_EXEC, RECORD_TASK_EXIT, RECORD_COMM, RECORD_SIGNAL };

struct syscall_record {
	__u32 size;			/* with parts */
	__u16 type, cpu;
	__u64 time_ns;			/* CLOCK_MONOTONIC */
	__u32 pid, tid;
	__u32 nr;
	__u32 compat;			/* a 32-bit call, whose number has another meaning */
	__s64 v[SYSCALL_ARGS];		/* arguments; the returned value; other values by type */
};

#endif
