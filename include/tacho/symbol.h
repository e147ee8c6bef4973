#ifndef TACHO_SYMBOL_H
#define TACHO_SYMBOL_H

#include <tacho/record.h>

TACHO_BEGIN_DECLS

/*
 * From addresses to names: which object was mapped there, and which function that is. Processes,
 * their maps and names are followed from records in the order they are fed; objects (ELF files,
 * the kernel, modules, JIT maps) are read once and kept as sorted tables, by build id.
 *
 *	new -> feed, resolve, feed ... -> free
 *
 * Names and objects are interned: equal ids mean equal text, and ids are small and dense.
 */
struct tacho_symbols;

struct tacho_symbols_opts {
	size_t size;
	const char *symfs;		/* a directory to look for objects in first */
	const char *vmlinux, *kallsyms;	/* instead of what is found */
	const char *build_id_dir;	/* NULL: $PERF_BUILDID_DIR, or ~/.debug */
	const char *procfs;		/* NULL: /proc */
	bool no_demangle;
	bool demangle_params;		/* "f(int)" instead of "f" */
	bool live;			/* the processes run here and now: /proc/PID/root, /proc/PID/maps */
	uint32_t machine;		/* ELF e_machine of the recording, 0: this one */
	bool force;			/* JIT maps of anybody: else root's, one's own, and those of
					 * the owner of the process while it runs */
};

TACHO_API int tacho_symbols_new(struct tacho_symbols **out, const struct tacho_symbols_opts *opts,
				struct tacho_error *e);
TACHO_API void tacho_symbols_free(struct tacho_symbols *s);

/* MMAP, MMAP2, COMM, FORK, EXIT and KSYMBOL change what is known; others are ignored. 0 or -ENOMEM. */
TACHO_API int tacho_symbols_feed(struct tacho_symbols *s, const struct tacho_sideband *rec);
/* Forgets the maps and names of processes and threads whose EXIT had been fed before the last call,
 * and, where tables of symbols have more than `max_bytes` (0: any), those that were not used since
 * then, to be read again when needed: for one who follows a machine for days. 0 or -ENOMEM. */
TACHO_API int tacho_symbols_prune(struct tacho_symbols *s, size_t max_bytes);
/* A build id for an object path (from a file's build-id table). */
TACHO_API int tacho_symbols_set_build_id(struct tacho_symbols *s, const char *path,
					 const uint8_t *id, size_t n, bool kernel);

enum tacho_space { TACHO_SPACE_UNKNOWN, TACHO_SPACE_KERNEL, TACHO_SPACE_USER, TACHO_SPACE_HYPERVISOR,
		   TACHO_SPACE_GUEST_KERNEL, TACHO_SPACE_GUEST_USER };	/* misc & 7 */

struct tacho_frame {
	uint32_t symbol;		/* name id; 0: unknown */
	uint32_t object;		/* object id; 0: unknown */
	uint64_t symbol_offset;		/* ip - start of the symbol */
	uint64_t object_address;	/* in the object's own addresses: what addr2line wants */
	uint64_t object_offset;		/* in its file, as perf's dsoff shows it */
	enum tacho_space space;
};

/* The frame at `ip` of process `pid` as of what was fed so far. Always fills *out; returns 1 when
 * a symbol was found, 0 when not, -ENOMEM. Repeated calls for the same address are cheap. */
TACHO_API int tacho_symbols_resolve(struct tacho_symbols *s, uint32_t pid, enum tacho_space space,
				    uint64_t ip, struct tacho_frame *out);

/*
 * Where an address lies. Equal spots have equal frames, whichever process asks and whatever it
 * has mapped since, so that what was once made of a frame (a line of text, a row) can be kept under
 * its spot, which is found much faster than the frame. Only a running JIT (`live`) may name a
 * spot later that has no name now.
 */
struct tacho_spot {
	uint64_t offset;
	uint32_t object;		/* 0: nothing is known to be mapped there; else opaque */
};
/* The spots of n addresses of one process as of what was fed so far. 0 or -ENOMEM. */
TACHO_API int tacho_symbols_spots(struct tacho_symbols *s, uint32_t pid, enum tacho_space space,
				   const uint64_t *ips, size_t n, struct tacho_spot *out);

/* The frame at a spot, which must not be 0, of that space. It may be asked for later than the spot,
 * but where the kernel's maps have changed since, as of now. Returns as tacho_symbols_resolve(). */
TACHO_API int tacho_symbols_resolve_spot(struct tacho_symbols *s, enum tacho_space space,
					  const struct tacho_spot *spot, struct tacho_frame *out);

TACHO_API const char *tacho_symbols_name(const struct tacho_symbols *s, uint32_t symbol);	/* "[unknown]" for 0 */
struct tacho_object_info {
	size_t size;
	const char *path;		/* "/usr/lib/...", "[kernel.kallsyms]", "[vdso]", "[ext4]" */
	const char *short_name;		/* as perf's columns show it: base name */
	const uint8_t *build_id;
	size_t n_build_id;
	bool kernel, jit;
	bool has_symbols;
	const char *why;		/* why there are none ("no such file", "stripped" ...) */
};
TACHO_API int tacho_symbols_object(const struct tacho_symbols *s, uint32_t object,
				   struct tacho_object_info *out);
TACHO_API size_t tacho_symbols_n_objects(const struct tacho_symbols *s);
/* The command name of a thread: ":PID" where it was never told. */
TACHO_API const char *tacho_symbols_comm(const struct tacho_symbols *s, uint32_t pid, uint32_t tid);
/* Start and length of the symbol at that frame; 0 or -ENOENT. */
TACHO_API int tacho_symbols_range(const struct tacho_symbols *s, const struct tacho_frame *f,
				  uint64_t *start, uint64_t *length);

/* The file and line that the code at that frame was compiled from, by the object's line tables or
 * those of its separate debug file. 1 when they are known, 0 when not, -ENOMEM. *file lives as long
 * as `s`. The first call for an object reads its tables. */
TACHO_API int tacho_symbols_srcline(struct tacho_symbols *s, const struct tacho_frame *f,
				    const char **file, uint32_t *line);

/* The build id of an ELF file, up to 20 bytes; returns its length or a negative errno. */
TACHO_API int tacho_build_id_of_file(const char *path, uint8_t out[20]);

/*
 * The machine code of one function, read from its object's file.
 *
 *	new -> get, name ... -> free
 */
struct tacho_code;

struct tacho_object_id {		/* which file, of which build */
	const char *path;
	const uint8_t *build_id;	/* NULL: whatever is there */
	size_t n_build_id;
};
struct tacho_code_view {		/* valid until tacho_code_free() */
	size_t size;
	const uint8_t *bytes;
	size_t n_bytes;
	uint64_t start;			/* of the function, in the object's own addresses */
	uint32_t machine;		/* ELF e_machine */
	bool wide, big_endian;		/* 64 bit; byte order */
	const char *path;		/* of the file that was read */
};

/* The function around `address` (in the object's own addresses); of `opts` symfs, build_id_dir,
 * procfs and no_demangle are looked at. Returns 0, -ENOENT where the file or the address is not
 * there, -ESTALE where only a file of another build is, -ENOEXEC, -EBADMSG, -ENOMEM. */
TACHO_API int tacho_code_new(struct tacho_code **out, const struct tacho_symbols_opts *opts,
			     const struct tacho_object_id *id, uint64_t address, struct tacho_error *e);
TACHO_API void tacho_code_free(struct tacho_code *c);
TACHO_API void tacho_code_get(const struct tacho_code *c, struct tacho_code_view *out);
/* What stands at an address of the same object, and how far into it; NULL: nothing known. */
TACHO_API const char *tacho_code_name(const struct tacho_code *c, uint64_t address, uint64_t *offset);

TACHO_END_DECLS
#endif
