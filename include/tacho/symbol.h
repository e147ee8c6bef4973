#ifndef TACHO_SYMBOL_H
#define TACHO_SYMBOL_H

#include <tacho/record.h>

TACHO_BEGIN_DECLS

/*
 * Symbol resolution: from an address to the object mapped there and the function in it. Processes,
 * their maps and names are tracked from records in the order they are fed. Objects (ELF files, the
 * kernel, modules, JIT maps) are read once, into sorted symbol tables.
 *
 *	new -> feed, resolve, feed ... -> free
 *
 * Names and objects are interned: equal ids mean equal text, and ids are small and dense.
 */
struct tacho_symbols;

struct tacho_symbols_opts {
	size_t size;
	const char *symfs;		/* a directory that is searched for objects first */
	const char *vmlinux, *kallsyms;	/* use these files instead of searching */
	const char *build_id_dir;	/* NULL: $PERF_BUILDID_DIR, or ~/.debug */
	const char *procfs;		/* NULL: /proc */
	bool no_demangle;
	bool short_names;		/* C++ functions without parameters: "f" instead of "f(int)" */
	bool live;			/* the processes are running: use /proc/PID/root and /proc/PID/maps */
	uint32_t machine;		/* ELF e_machine of the recording, 0: this one */
	bool force;			/* read JIT maps of any owner; else only those of root, our own
					 * and those of the owner of the running process */
	/* Called while a file is downloaded from the debuginfod servers of $DEBUGINFOD_URLS, with bytes, `total` 0 if unknown;
	 * at its end with done = UINT64_MAX. Non-zero cancels it. May be NULL. `live` sessions download nothing. */
	int (*progress)(void *arg, const char *name, uint64_t done, uint64_t total);
	void *progress_arg;
};

TACHO_API int tacho_symbols_new(struct tacho_symbols **out, const struct tacho_symbols_opts *opts,
				struct tacho_error *e);
TACHO_API void tacho_symbols_free(struct tacho_symbols *s);

/* Handles MMAP, MMAP2, COMM, FORK, EXIT and KSYMBOL records; ignores all others. Returns 0 or -ENOMEM. */
TACHO_API int tacho_symbols_feed(struct tacho_symbols *s, const struct tacho_sideband *rec);
/* For long-running callers: drops processes and threads whose EXIT record was fed before the previous call.
 * If the symbol tables exceed `max_bytes` (0: no limit), drops those not used since the previous call; they are
 * read again when needed. If debug data exceed it, the largest are closed, and their objects have no inlined functions any
 * more. Returns 0 or -ENOMEM. */
TACHO_API int tacho_symbols_prune(struct tacho_symbols *s, size_t max_bytes);
/*
 * JIT compilers may replace code without a record: their jitdump files tell when. Before resolving an address of time
 * `time` or later than the last one, callers check whether that time has been reached:
 *
 *	if (time >= tacho_symbols_next_change(s))
 *		tacho_symbols_advance(s, time);
 *
 * Both are cheap. UINT64_MAX: nothing will change. advance() returns 0 or -ENOMEM.
 */
TACHO_API uint64_t tacho_symbols_next_change(const struct tacho_symbols *s);
TACHO_API int tacho_symbols_advance(struct tacho_symbols *s, uint64_t time);
/* Whether the times of the records are those of CLOCK_MONOTONIC, which jitdump files use: see
 * tacho_perfdata_is_monotonic(). To be called before the first record. */
TACHO_API void tacho_symbols_set_monotonic(struct tacho_symbols *s, bool monotonic);
/* Sets the build ID of an object path, as listed in a file's build-id table. */
TACHO_API int tacho_symbols_set_build_id(struct tacho_symbols *s, const char *path,
					 const uint8_t *id, size_t n, bool kernel);

enum tacho_space { TACHO_SPACE_UNKNOWN, TACHO_SPACE_KERNEL, TACHO_SPACE_USER, TACHO_SPACE_HYPERVISOR,
		   TACHO_SPACE_GUEST_KERNEL, TACHO_SPACE_GUEST_USER };	/* misc & 7 */

struct tacho_frame {
	uint32_t symbol;		/* name id; 0: unknown */
	uint32_t object;		/* object id; 0: unknown */
	uint64_t symbol_offset;		/* ip - start of the symbol */
	uint64_t object_address;	/* address as in the ELF file, as addr2line expects */
	uint64_t object_offset;		/* offset in the file, as perf's field dsoff */
	enum tacho_space space;
};

/* Resolves `ip` in process `pid`, according to the records fed so far. Always fills *out. Returns 1 when a symbol
 * was found, 0 when not, -ENOMEM. Repeated calls for the same address are cheap. */
TACHO_API int tacho_symbols_resolve(struct tacho_symbols *s, uint32_t pid, enum tacho_space space,
				    uint64_t ip, struct tacho_frame *out);

/*
 * A code location: an object and an offset in it. Equal spots have equal frames, in every process and at
 * any time, so anything derived from a frame (a line of text, a row) can be cached by its spot, which is
 * found much faster than the frame. The one exception: with `live`, a JIT may name a spot later that
 * has no symbol now.
 */
struct tacho_spot {
	uint64_t offset;
	uint32_t object;		/* 0: nothing is mapped there; otherwise opaque */
};
/* Finds the spots of n addresses of one process, according to the records fed so far. Returns 0 or -ENOMEM. */
TACHO_API int tacho_symbols_spots(struct tacho_symbols *s, uint32_t pid, enum tacho_space space,
				   const uint64_t *ips, size_t n, struct tacho_spot *out);

/* Resolves a spot of that space, whose object must not be 0, at any later time. For a kernel spot the current
 * maps of the kernel are used. Returns like tacho_symbols_resolve(). */
TACHO_API int tacho_symbols_resolve_spot(struct tacho_symbols *s, enum tacho_space space,
					  const struct tacho_spot *spot, struct tacho_frame *out);

TACHO_API const char *tacho_symbols_name(const struct tacho_symbols *s, uint32_t symbol);	/* "[unknown]" for 0 */
struct tacho_object_info {
	size_t size;
	const char *path;		/* "/usr/lib/...", "[kernel.kallsyms]", "[vdso]", "[ext4]" */
	const char *short_name;		/* base name, as in perf's columns */
	const uint8_t *build_id;
	size_t n_build_id;
	bool kernel, jit;
	bool has_symbols;
	const char *why;		/* the reason if there are no symbols ("no such file", "stripped"
					 * ...) */
	uint64_t mapped_bytes;		/* of its longest executable mapping; 0: unknown */
	char symbol_source;		/* where its symbols are from, as in perf's 'report -v': 'd' the file itself,
					 * 'l' and 'b' its separate debug file, found by its link or build ID, 'B' and
					 * 'D' the build-id cache (file, debug file), 'n' .gnu_debugdata, 'k' kallsyms,
					 * 'v' vmlinux, 'K' module, 'j' a JIT map; 'e' the recording itself; 0: it has no symbols */
};
TACHO_API int tacho_symbols_object(const struct tacho_symbols *s, uint32_t object,
				   struct tacho_object_info *out);
TACHO_API size_t tacho_symbols_n_objects(const struct tacho_symbols *s);
/* The command name of a thread; ":TID" when it is unknown. */
TACHO_API const char *tacho_symbols_comm(const struct tacho_symbols *s, uint32_t pid, uint32_t tid);
/* Start and length of the frame's symbol. Returns 0 or -ENOENT. */
TACHO_API int tacho_symbols_range(const struct tacho_symbols *s, const struct tacho_frame *f,
				  uint64_t *start, uint64_t *length);

/* The source file and line of a frame, from the line tables of the object or its separate debug file. Returns
 * 1 if they are known, 0 if not, or -ENOMEM. *file is owned by `s`. The first call for an object reads its
 * line tables. */
TACHO_API int tacho_symbols_srcline(struct tacho_symbols *s, const struct tacho_frame *f,
				    const char **file, uint32_t *line);

/* A function that the compiler has inlined at a frame's address. */
struct tacho_inline {
	uint32_t symbol;		/* name id; 0: unknown */
	uint32_t call_line;		/* the position of the call; 0 and NULL: unknown or not asked for */
	const char *call_file;		/* owned by the symbols, until tacho_symbols_prune() */
};
#define TACHO_INLINES_MAX 128
/* Finds the functions that are inlined at a frame, by the debug data of its object: out[0] is the innermost one, which
 * tacho_symbols_srcline() is a line of, and the last one is called by the frame's symbol. `is_caller`: the frame is not
 * the leaf of its stack, so its address is after a call instruction. Returns how many there are, at most `max`; 0 also
 * without debug data; -ENOMEM. The first call for an object opens its debug data. */
TACHO_API int tacho_symbols_inlines(struct tacho_symbols *s, const struct tacho_frame *f, bool is_caller, bool with_calls,
				    struct tacho_inline *out, size_t max);

/* Opens the separate debug file of a program or library: the one that its symbols are read from. Of `opts` only symfs,
 * build_id_dir, progress and live are used; `live` downloads nothing. Returns a file descriptor, -EEXIST if the file has its
 * symbols itself, -ENOENT if there is no debug file, or another negative errno. */
TACHO_API int tacho_debug_file_open(const char *path, const struct tacho_symbols_opts *opts, struct tacho_error *e);

/*
 * Symbols that are embedded in a recording, so that it can be read where its objects are missing: the functions, source lines
 * and inlined functions at the addresses of its samples.
 *
 *	new -> add, add ... -> write -> free
 *
 * The symbols that it is made from should have been made with no_demangle: names are demangled by the reader.
 */
struct tacho_embedding;
TACHO_API int tacho_embedding_new(struct tacho_embedding **out, struct tacho_symbols *s);	/* 0 or -ENOMEM */
TACHO_API void tacho_embedding_free(struct tacho_embedding *b);
/* Adds addresses of one process, according to the records that were fed so far. Returns 0 or -ENOMEM. */
TACHO_API int tacho_embedding_add(struct tacho_embedding *b, uint32_t pid, enum tacho_space space, const uint64_t *ips, size_t n);
/* Resolves all addresses and passes the bytes for tacho_symbols_set_embedded() to `fn`, at once. Returns 0, -ENOMEM, or the
 * error of `fn`. */
TACHO_API int tacho_embedding_write(struct tacho_embedding *b, int (*fn)(void *arg, const void *bytes, size_t n), void *arg);
/* Uses embedded symbols where an object's own are missing. The bytes are copied. To be called before anything is resolved.
 * Returns 0, -EBADMSG, -EOPNOTSUPP for those of a newer version, -EFBIG, -ENOMEM. */
TACHO_API int tacho_symbols_set_embedded(struct tacho_symbols *s, const void *bytes, size_t n);

/* Machine code: of one function, see tacho_code_get(), or from an address on. */
struct tacho_code_view {
	size_t size;
	const uint8_t *bytes;
	size_t n_bytes;
	uint64_t start;			/* address of the first byte, as in the ELF file */
	uint32_t machine;		/* ELF e_machine */
	bool wide, big_endian;		/* 64 bit; byte order */
	const char *path;		/* the file that was read */
};
/* Reads at most `max` bytes of code from a frame's address on: fewer at the end of the segment. The code comes from the
 * object's file, from the vdso of this machine, from a jitdump file, or for the kernel from the vmlinux of its symbols or
 * from /proc/kcore. *out is valid until the next call. Returns 0, -ENOENT if there is no such file or no code at the
 * address, -ESTALE if only a file of another build exists, -EACCES, -ENOMEM ... */
TACHO_API int tacho_symbols_code(struct tacho_symbols *s, const struct tacho_frame *f, size_t max,
				 struct tacho_code_view *out);

/* Whether a name, a frame or a source line that was returned since tacho_symbols_new() is incomplete because memory
 * ran out: 0 or -ENOMEM. Programs that print one line per sample need not check every call. */
TACHO_API int tacho_symbols_failed(const struct tacho_symbols *s);

/* Reads the build ID of an ELF file, up to 20 bytes. Returns its length or a negative errno. */
TACHO_API int tacho_build_id_of_file(const char *path, uint8_t out[20]);

/*
 * The machine code of one function, read from its object's file.
 *
 *	new -> get, name ... -> free
 */
struct tacho_code;

struct tacho_object_id {		/* identifies a file and its build */
	const char *path;
	const uint8_t *build_id;	/* NULL: do not check */
	size_t n_build_id;
};

/* Reads the function that contains `address` (as in the ELF file). Of `opts` only symfs, build_id_dir, procfs,
 * no_demangle and short_names are used. Returns 0, -ENOENT when the file or the address is missing, -ESTALE when only a file of
 * another build exists, -ENOEXEC, -EBADMSG, -ENOMEM. */
TACHO_API int tacho_code_new(struct tacho_code **out, const struct tacho_symbols_opts *opts,
			     const struct tacho_object_id *id, uint64_t address, struct tacho_error *e);
TACHO_API void tacho_code_free(struct tacho_code *c);
TACHO_API void tacho_code_get(const struct tacho_code *c, struct tacho_code_view *out);
/* Continues with another function of the same object: views that were taken before are invalid. The options that
 * tacho_code_new() was given must still exist. Returns 0, -ENOENT or another negative errno. */
TACHO_API int tacho_code_move(struct tacho_code *c, uint64_t address);
/* The source file and line of an address of the same object. Returns 1 if they are known, 0 if not, or -ENOMEM. *file is
 * owned by `c`. */
TACHO_API int tacho_code_line(struct tacho_code *c, uint64_t address, const char **file, uint32_t *line);
struct tacho_code_inline {
	const char *name;		/* NULL: unknown */
	const char *call_file;		/* the position of the call; NULL: unknown */
	uint32_t call_line;
};
/* The functions that are inlined at an address of the same object, innermost first. Texts are owned by `c`. Returns how many
 * there are, at most `max`; 0 also without debug data; -ENOMEM. */
TACHO_API int tacho_code_inlines(struct tacho_code *c, uint64_t address, struct tacho_code_inline *out, size_t max);
/* The symbol at an address of the same object, and the offset into it; NULL when there is none. */
TACHO_API const char *tacho_code_name(const struct tacho_code *c, uint64_t address, uint64_t *offset);

TACHO_END_DECLS
#endif
