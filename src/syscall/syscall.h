/*
 * Functions shared by the files of syscall/: the table of calls, the types of their arguments and the printers of values.
 */
#ifndef SYSCALL_SYSCALL_H
#define SYSCALL_SYSCALL_H

#include <tacho/syscall.h>

#include "base/buf.h"
#include "base/defs.h"

enum {					/* classes that do not follow from the arguments' types */
	SYSCALL_PROCESS = 1 << 0,
	SYSCALL_SIGNAL = 1 << 1,
	SYSCALL_IPC = 1 << 2,
	SYSCALL_NETWORK = 1 << 3,
	SYSCALL_MEMORY = 1 << 4,
	SYSCALL_CREDS = 1 << 5,
	SYSCALL_CLOCK = 1 << 6,
	SYSCALL_STATS = 1 << 7,
	SYSCALL_PURE = 1 << 8,
};

struct tacho_syscall {
	const char *name;
	int16_t nr[2];			/* by enum tacho_syscall_arch; -1: none */
	uint16_t classes;
	/*
	 * "NAME:TYPE ..." by argument. ">" before the type: the kernel writes what it points to. "[2]" after it: the
	 * length is argument 2; "[*2]": argument 2 points to it; "[ret]": it is the returned value.
	 */
	const char *args;
};
extern const struct tacho_syscall syscall_table[];
extern const size_t n_syscalls;

struct flag_name {
	const char *name;
	uint64_t value;
};

/* Names of numbers or of bits; in the latter case the bits in `field` are a number. */
struct flag_set {
	const char *name;		/* as a type in syscall_table */
	const char *prefix;		/* of the names, which perf's style leaves out: "O_" */
	bool is_mask;
	uint64_t field;
	const struct flag_name *v;
	size_t n;
	const char *unknown;		/* comment on unknown numbers: "ARCH_???"; NULL: none */
};
const struct flag_set *flag_set_find(struct str name);

struct syscall_value;
typedef void value_printer(struct syscall_value *x);

struct arg_type {
	const char *name;
	value_printer *print;
	uint8_t capture;		/* enum tacho_capture_kind */
	uint16_t bytes;			/* of the copy; 0: by string_bytes */
	uint16_t unit;			/* bytes per element, of a length */
	bool both;			/* copied when the call starts and when it returns */
};

struct arg_spec {
	struct str name;
	const struct arg_type *type;	/* NULL: flags */
	const struct flag_set *flags;
	bool output;
	uint8_t length_from;		/* as tacho_syscall_capture.length_from */
};

struct call_spec {
	uint8_t n;
	bool returns_fd, returns_address, never_returns;
	struct arg_spec args[TACHO_SYSCALL_ARGS];
};
const struct call_spec *call_spec_of(const struct tacho_syscall *sc);
const struct arg_type *arg_type_find(struct str name);

/* A value that is printed. */
struct syscall_value {
	const struct tacho_syscall_call *call;
	const struct tacho_syscall_print_opts *opts;
	const struct arg_spec *spec;
	unsigned arg;
	uint64_t v;
	struct buf *out;
};

static inline bool is_perf_style(const struct syscall_value *x)
{
	return x->opts->style == TACHO_SYSCALL_PERF;
}

/* Captured memory of an argument: *n bytes, or NULL if it was not captured. *whole is the length before it was cut. */
const void *value_part(const struct syscall_value *x, unsigned index, size_t *n, uint32_t *whole);
/* The part of this argument and index in one sequence of parts, or NULL. */
const struct tacho_syscall_part *find_part(const void *parts, size_t n, unsigned arg, unsigned index);
void show_ready_fds(struct syscall_value *x);
void show_selected_fds(struct syscall_value *x);

/* The main part if it has at least n bytes; otherwise prints NULL or the address, and returns NULL. */
const void *value_struct(struct syscall_value *x, size_t n);
void show_address(struct syscall_value *x);

/* flags.c */
void show_flags(struct syscall_value *x, const struct flag_set *set, uint64_t v);
void show_flags_named(struct syscall_value *x, const char *set, uint64_t v);
const char *flag_name_of(const char *set, uint64_t v);

/* string.c: bytes as a C string, as strace prints it. `cut`: append "..." */
void show_quoted(struct buf *out, const void *bytes, size_t n, bool cut);
/* Bytes of a buffer of `whole` bytes of which n were captured, limited to string_bytes. */
void show_buffer(struct syscall_value *x, const void *bytes, size_t n, size_t whole);
void show_path_bytes(struct syscall_value *x, const void *bytes, size_t n);

void show_fd(struct syscall_value *x, int fd);
/* Prints the socket that was captured for the descriptor. false: there is none. */
bool show_socket(struct syscall_value *x);
void show_mode(struct buf *out, uint32_t mode);
void show_sigset(struct syscall_value *x, uint64_t set);
void show_signal(struct syscall_value *x, uint64_t sig);
void show_sockaddr(struct syscall_value *x, const uint8_t *bytes, size_t n);
void show_iovec(struct syscall_value *x, uint64_t address, unsigned index, bool addresses);

/* Printers of arg_types[], by file. */
value_printer show_int, show_uint, show_long, show_ulong, show_hex, show_x32, show_pointer, show_addr, show_size,
	show_offset, show_id, show_pid, show_at, show_fd_arg, show_mode_arg, show_omode, show_mknod, show_dev,
	show_offset_pointer, show_changed_offset, show_hex_pointer, show_signal_arg, show_open_flags, show_socket_type,
	show_protocol, show_clone_flags, show_futex_op, show_futex_value, show_futex_time, show_futex_address,
	show_futex_value3, show_clock_id;
value_printer show_path, show_string, show_buffer_arg, show_strings, show_environment, show_iovec_arg,
	show_iovec_addresses, show_msghdr, show_bytes_list, show_hex_buffer, show_new_flags;
value_printer show_stat, show_statfs, show_statx, show_dirents, show_rlimit, show_rusage, show_utsname,
	show_sysinfo, show_tms, show_wait_status, show_fd_pair, show_int_list, show_id_list, show_id_pointer,
	show_int_pointer, show_ulong_pointer, show_cpu_mask, show_clone_args, show_open_how, show_perf_attr,
	show_sembufs, show_capability, show_capability_header, show_capability_data, show_timer_id, show_tid_pointer,
	show_mempolicy_pointer;
value_printer show_timespec, show_timespec_rest, show_timespecs, show_timeval, show_timevals, show_itimerval,
	show_itimerspec, show_time_pointer;
value_printer show_sigset_arg, show_sigaction, show_siginfo, show_sigaltstack, show_pselect_sigset, show_sigevent,
	show_restored_mask;
value_printer show_sockaddr_arg, show_socklen, show_sockopt, show_sockval;
value_printer show_pollfds, show_fd_set, show_epoll_event, show_epoll_events;
value_printer show_ioctl_command, show_ioctl_arg, show_fcntl_arg, show_prctl_arg, show_mount_data;

#endif
