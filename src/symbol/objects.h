/*
 * The objects that addresses lie in: ELF files, the kernel and its modules, the vdso, JIT maps,
 * and memory without symbols. Each is known once by its path and identity, and read when the
 * first address in it is asked for.
 */
#ifndef SYMBOL_OBJECTS_H
#define SYMBOL_OBJECTS_H

#include "symbol/elf.h"
#include "symbol/symbol_table.h"

#include "base/arena.h"
#include "base/map.h"

enum object_kind {
	OBJECT_FILE,
	OBJECT_KERNEL,			/* [kernel.kallsyms] */
	OBJECT_MODULE,			/* [ext4], perhaps with the path of its file */
	OBJECT_VDSO,
	OBJECT_JIT,			/* /tmp/perf-PID.map */
	OBJECT_KSYMBOL,			/* one function the kernel made at run time (BPF) */
	OBJECT_PLAIN,			/* //anon, [heap], [stack]: never code with names */
};

struct build_id {
	uint8_t bytes[BUILD_ID_MAX];
	uint8_t n;			/* 0: unknown */
};

struct object {
	uint32_t id;
	enum object_kind kind;
	const char *path, *short_name;
	const char *file;		/* where a module's file is, or a path that is not fit to print;
					 * or NULL */
	struct build_id build_id;
	uint64_t device, inode;		/* that it was known by, of files without a build id; or 0 */
	uint32_t pid;			/* a process that has it mapped */
	bool compat;			/* mapped below 4 GiB: a 32-bit process's */
	bool loaded;
	int64_t read_ms;		/* JIT, live: when it was last read, and how long it was */
	uint64_t read_bytes;
	struct symbol_table table;
	struct elf_segment *segments;	/* PT_LOAD only */
	size_t n_segments;
	const char *why;		/* why there are no symbols */
	struct dwarf_lines *lines;	/* read when the first line is asked for; NULL: none */
	bool lines_read;
	uint32_t used_at;		/* the generation in which it was last asked for a symbol */
};

/* Where to look for files. */
struct symbol_search {
	const char *symfs, *build_id_dir, *procfs;
	bool live, force, no_demangle, demangle_params;
	uint32_t machine;		/* 0: whatever */
};

#define RECENT_FILES 64u

struct objects {
	struct object **v;		/* v[id - 1] */
	size_t n, cap;
	struct map by_key;
	struct object *met[RECENT_FILES];	/* files, by inode: each new process maps those that others have */
	struct map build_ids;		/* path -> index into `told` */
	struct { struct build_id *v; size_t n, cap; } told;	/* before the object was seen */
	struct arena text;
	struct interned_names *names;
	const struct symbol_search *search;
	uint32_t generation;		/* ends with each objects_evict() */
};

/* Packs the tables that were read since the last time, and forgets those of files and JITs that nobody
 * has asked for in the last generation, the longest unused first, until all have at most `max_bytes`.
 * They are read again when needed. */
void objects_evict(struct objects *o, size_t max_bytes);

/* What tells two objects of one path apart: container images, replaced files. */
struct object_identity {
	uint64_t device, inode;
	const uint8_t *build_id;
	size_t n_build_id;
};

/* Finds or makes. `identity` may be NULL. NULL without memory. */
struct object *objects_get(struct objects *o, enum object_kind kind, const char *path,
			   const struct object_identity *identity);
struct object *objects_at(const struct objects *o, uint32_t id);	/* NULL: no such id */
int objects_set_build_id(struct objects *o, const char *path, const uint8_t *id, size_t n);
void objects_done(struct objects *o);

/* Reads the symbols of files, modules, JIT maps and the vdso; afterwards `loaded` is set and,
 * where there are none, `why`. 0 or -ENOMEM. */
int object_load(struct object *obj, const struct symbol_search *search);
/* JIT maps of a running process grow: reads it again if it did. True when there is news. */
bool object_refresh(struct object *obj, const struct symbol_search *search);
/* From an offset in the file to the object's own addresses. */
uint64_t object_address(const struct object *obj, uint64_t offset);
/* "/lib/modules/.../snd-hda.ko.xz" -> "[snd_hda]"; false when it is no module's file. */
bool object_module_name(const char *path, char *out, size_t size);

/* In srcline.c: the line tables of a file or module, or of the kernel's vmlinux. 0 or -ENOMEM;
 * afterwards `lines_read` is set. */
int object_read_lines(struct object *obj, const struct symbol_search *search, const char *vmlinux);
void object_drop_lines(struct object *obj);

/* In vdso.c: the symbols of this process's own vdso. 0 or a negative errno. */
int vdso_load(struct object *obj);

#endif
