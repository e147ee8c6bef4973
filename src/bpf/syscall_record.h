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
#define MAX_ENVIRONMENT 16384
#define PART_ARG_ENVIRONMENT 1		/* parts of RECORD_EXEC after the file name; as TACHO_SYSCALL_ENVIRONMENT */

struct syscall_capture {		/* as struct tacho_syscall_capture */
	__u8 kind, when, length_from, reserved;
	__u16 unit, max;
};

struct syscall_spec {
	__u8 captures_entry, captures_exit;
	__u8 fd_args;			/* arguments that are descriptors, as bits */
	__u8 returns_fd, reserved[4];
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
	__u32 whole_calls;		/* no record of a call's start, unless memory is copied then */
	__u32 count_by;			/* enum tacho_syscall_count_by: no records of calls */
	__u32 counts_errors;		/* by number */
	__u32 sockets;			/* describe sockets that descriptors refer to */
	__u32 environment;		/* copy the environment of executed programs */
	__u32 skips_compat;		/* calls are selected by numbers, which are others in 32-bit programs */
	__u64 cpus[16];
	__u64 calls[SYSCALL_NUMBERS / 64];
};

enum record_type { RECORD_ENTRY = 1, RECORD_EXIT, RECORD_FORK, RECORD_EXEC, RECORD_TASK_EXIT, RECORD_COMM, RECORD_SIGNAL, RECORD_CALL };

struct syscall_record {
	__u32 size;			/* with parts */
	__u16 type, cpu;
	__u64 time_ns;			/* CLOCK_MONOTONIC */
	__u32 pid, tid;
	__u32 nr;
	__u32 compat;			/* a 32-bit call, whose number has another meaning */
	__s64 ret;			/* of RECORD_EXIT and RECORD_CALL */
	__u64 entry_ns;			/* of RECORD_CALL */
	__s64 v[SYSCALL_ARGS];		/* arguments; other values by type. RECORD_EXIT may end before them */
};

struct task_state {			/* of a traced task */
	__u64 entry_ns;
	__u32 nr;
	__u32 failed;			/* arguments whose memory could not be read at entry, as bits */
	__u8 in_call, compat, recorded;	/* recorded: there is a record of the start */
	__u8 waits_for_exec;		/* its calls are not counted until then */
	__u32 serial;			/* together with the thread ID never used again */
	__s64 args[SYSCALL_ARGS];
};

struct syscall_socket {			/* as struct tacho_syscall_socket */
	__u64 inode, peer_inode;
	__u16 family, type, protocol, state;
	__u16 local_port, remote_port, n_path, reserved;
	__u32 local[4], remote[4];
	char path[112];
};

struct count_key {
	__u64 id;			/* serial and thread ID; control group; 0 */
	__u32 nr;			/* bit 31: of a 32-bit program */
	__u32 cpu_or_error;		/* of counts: the CPU, unless by thread; of error counts: the errno */
};

struct call_count {
	__u64 calls, errors, sum_ns, min_ns, max_ns;
	__u64 squares_low, squares_high;	/* sum of the squares of the times */
};

#endif
