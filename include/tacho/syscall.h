#ifndef TACHO_SYSCALL_H
#define TACHO_SYSCALL_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * System calls: numbers, names, arguments, and the text of the values.
 *
 * One table has the calls of x86-64 and arm64 with a type for each argument. An argument that is a pointer is printed
 * with what it points to if that was captured when the call was made: tacho_syscall_captures() says what to copy,
 * tacho_syscall_tracer (<tacho/bpf.h>) copies it, and without that the address is printed.
 */
enum tacho_syscall_arch { TACHO_SYSCALL_X86_64, TACHO_SYSCALL_ARM64 };
#define TACHO_SYSCALL_ARGS 6
#define TACHO_SYSCALL_MAX 512		/* numbers are below this */

struct tacho_syscall;

/* The architecture of this machine, or -EOPNOTSUPP. */
TACHO_API int tacho_syscall_host_arch(void);
/* NULL: no such call. */
TACHO_API const struct tacho_syscall *tacho_syscall_by_nr(enum tacho_syscall_arch arch, uint64_t nr);
TACHO_API const struct tacho_syscall *tacho_syscall_by_name(const char *name);
/* The name of a call of a 32-bit program on that architecture; NULL: unknown. */
TACHO_API const char *tacho_syscall_name_32(enum tacho_syscall_arch arch, uint64_t nr);
/* The number, or -ENOSYS if the architecture has no such call. */
TACHO_API int tacho_syscall_nr(const struct tacho_syscall *sc, enum tacho_syscall_arch arch);
TACHO_API const char *tacho_syscall_name(const struct tacho_syscall *sc);
/* The name in the kernel's tracepoints of this call, sys_enter_NAME and sys_exit_NAME. */
TACHO_API const char *tacho_syscall_tracepoint_name(const struct tacho_syscall *sc);
TACHO_API unsigned tacho_syscall_n_args(const struct tacho_syscall *sc);
/* The kernel's name of the argument: "filename". Returns its length. */
TACHO_API size_t tacho_syscall_arg_name(const struct tacho_syscall *sc, unsigned arg, const char **name);
/* Whether the kernel writes what the argument points to, so that its value is known when the call returns. */
TACHO_API bool tacho_syscall_arg_is_output(const struct tacho_syscall *sc, unsigned arg);
/* Whether the argument is a file descriptor, or a path. */
TACHO_API bool tacho_syscall_arg_is_fd(const struct tacho_syscall *sc, unsigned arg);
TACHO_API bool tacho_syscall_arg_is_path(const struct tacho_syscall *sc, unsigned arg);
/* Whether a successful call returns a new file descriptor, an address, or nothing at all. */
TACHO_API bool tacho_syscall_returns_fd(const struct tacho_syscall *sc);
TACHO_API bool tacho_syscall_returns_address(const struct tacho_syscall *sc);
TACHO_API bool tacho_syscall_never_returns(const struct tacho_syscall *sc);

/*
 * Sets the bits of the calls that `expr` selects: names and globs separated by commas, "%file" and the other classes of
 * strace, "/REGEX", "all" and "none"; "!" at the start selects the others. Returns how many bits are set, or -EINVAL
 * with the position of the unknown name.
 */
TACHO_API int tacho_syscall_select(const char *expr, enum tacho_syscall_arch arch,
				   uint64_t bits[TACHO_SYSCALL_MAX / 64], struct tacho_error *e);

/* What to copy of an argument that is a pointer. */
enum tacho_capture_kind {
	TACHO_CAPTURE_NONE,
	TACHO_CAPTURE_STRING,		/* up to a NUL */
	TACHO_CAPTURE_BYTES,		/* max bytes, or fewer by length_from */
	TACHO_CAPTURE_STRINGS,		/* an array of pointers to strings, ended by NULL */
	TACHO_CAPTURE_POINTERS,		/* an array of pointers, ended by NULL, without the strings */
	TACHO_CAPTURE_IOVEC,		/* an array of struct iovec and the start of each buffer */
	TACHO_CAPTURE_MSGHDR,		/* a struct msghdr with its address, iovec, buffers and control data */
	TACHO_CAPTURE_FOLLOW,		/* max bytes, of which the first eight point to another eight */
	TACHO_CAPTURE_DIRENTS,		/* the number of directory entries, as `whole` of an empty part */
};
enum { TACHO_CAPTURE_AT_ENTRY = 1, TACHO_CAPTURE_AT_EXIT = 2 };
#define TACHO_LENGTH_RETURNED 6		/* other values: an argument's number */
#define TACHO_LENGTH_FIXED 7
#define TACHO_LENGTH_POINTED_TO 8	/* plus the number of an argument that points to the length (socklen_t) */
struct tacho_syscall_capture {
	uint8_t kind, when, length_from, reserved;
	uint16_t unit;			/* bytes per element of the length */
	uint16_t max;			/* bytes */
};
/* `string_bytes`: how much of a buffer is wanted (strace's -s). */
TACHO_API void tacho_syscall_captures(const struct tacho_syscall *sc, unsigned string_bytes,
				      struct tacho_syscall_capture out[TACHO_SYSCALL_ARGS]);

/* Captured memory is a sequence of parts, each followed by n bytes and padded to a multiple of eight. */
struct tacho_syscall_part {
	uint8_t arg;
	uint8_t index;			/* 0: what the argument points to; others: see TACHO_PART_ */
	uint16_t n;
	uint32_t whole;			/* the length before it was cut to the limit */
};
enum { TACHO_PART_MAIN, TACHO_PART_FIRST, TACHO_PART_LAST = 63,	/* strings and buffers of vectors, in order */
	TACHO_PART_NAME, TACHO_PART_CONTROL, TACHO_PART_VECTOR,
	TACHO_PART_SOCKET };		/* struct tacho_syscall_socket: what a descriptor refers to */
#define TACHO_PART_RETURNED 6		/* as `arg`: of the returned descriptor */

struct tacho_syscall_socket {
	uint64_t inode, peer_inode;	/* of a Unix socket's peer; 0: none */
	uint16_t family, type, protocol, state;	/* state: as of TCP */
	uint16_t local_port, remote_port, n_path, reserved;
	uint32_t local[4], remote[4];	/* addresses in network order; of netlink remote[0]: the port ID */
	char path[112];			/* of a Unix socket, n_path bytes */
};

struct tacho_syscall_call {
	size_t size;
	const struct tacho_syscall *sc;
	enum tacho_syscall_arch arch;
	uint64_t args[TACHO_SYSCALL_ARGS];
	bool returned;
	int64_t ret;			/* if it has returned */
	const void *entry_parts, *exit_parts;
	size_t n_entry_parts, n_exit_parts;
};

enum tacho_syscall_style { TACHO_SYSCALL_STRACE, TACHO_SYSCALL_PERF };
struct tacho_syscall_print_opts {
	size_t size;
	enum tacho_syscall_style style;
	unsigned string_bytes;		/* longer strings are cut; 0: 32 */
	bool all_strings;		/* do not abbreviate structs and argument vectors (strace's -v) */
	bool whole_names;		/* perf's style: O_RDONLY instead of RDONLY */
	/* Appends what is known of a descriptor, e.g. its path, to out[room]; returns the length, 0: nothing. NULL: none. */
	size_t (*fd_text)(void *arg, int fd, char *out, size_t room);
	void *arg;
	bool sockets;			/* print addresses of sockets that were captured */
};
/*
 * Write the text of an argument or of the returned value to out[room], truncated and NUL-terminated. Return the length
 * of the whole text, without the NUL, or -ENOMEM. The text of a value that was returned starts after "= ".
 */
TACHO_API ptrdiff_t tacho_syscall_print_arg(const struct tacho_syscall_call *call, unsigned arg,
					    const struct tacho_syscall_print_opts *opts, char *out, size_t room);
TACHO_API ptrdiff_t tacho_syscall_print_return(const struct tacho_syscall_call *call,
					       const struct tacho_syscall_print_opts *opts, char *out, size_t room);
/* How many arguments are shown: without those that the call ignores, such as the mode of open() without O_CREAT. */
TACHO_API unsigned tacho_syscall_used_args(const struct tacho_syscall_call *call);

/* "ENOENT" and "SIGCHLD"; NULL: unknown. */
TACHO_API const char *tacho_errno_name(int err);
TACHO_API const char *tacho_signal_name(int signal);

TACHO_END_DECLS
#endif
