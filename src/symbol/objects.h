/*
 * Objects (DSOs) that contain addresses: ELF files, the kernel and its modules, the vdso, perf maps of
 * JIT compilers, and memory without symbols. Each object is listed once, identified by its path and
 * build ID or inode. Its symbols are read when the first address in it is resolved.
 */
#ifndef SYMBOL_OBJECTS_H
#define SYMBOL_OBJECTS_H

#include "symbol/elf.h"
#include "symbol/jit/perfmap.h"
#include "symbol/symbol_table.h"

#include "base/arena.h"
#include "base/map.h"

enum object_kind {
	OBJECT_FILE,
	OBJECT_KERNEL,			/* [kernel.kallsyms] */
	OBJECT_MODULE,			/* [ext4]; `file` is set if its path is known */
	OBJECT_VDSO,
	OBJECT_JIT,			/* /tmp/perf-PID.map */
	OBJECT_JITDUMP,			/* /tmp/jit-PID.dump; offsets are those of the code in the file */
	OBJECT_KSYMBOL,			/* one function that the kernel generated (BPF) */
	OBJECT_PLAIN,			/* //anon, [heap], [stack]: never has symbols */
};

struct build_id {
	uint8_t bytes[BUILD_ID_MAX];
	uint8_t n;			/* 0: unknown */
};

struct object {
	uint32_t id;
	enum object_kind kind;
	const char *path, *short_name;
	const char *file;		/* path to open, if it differs from `path`: of a module, or with
					 * characters that must not be printed; else NULL */
	struct build_id build_id;
	uint64_t device, inode;		/* identity of a file without build ID, or 0 */
	uint32_t pid;			/* the first process that mapped it */
	uint64_t mapped_bytes;		/* of its longest mapping */
	char symbol_source;		/* as in struct tacho_object_info; 0: no symbols */
	bool compat;			/* mapped below 4 GiB by a 32-bit process */
	bool loaded;
	struct jit_dump *jit;		/* of OBJECT_JITDUMP, owner of `lines`; NULL: not read */
	int64_t read_ms;		/* perf map or jitdump in live mode: time of the last read */
	struct perfmap_position map_position;	/* ... and the part that has been read */
	struct symbol_table table;
	struct elf_segment *segments;	/* PT_LOAD only */
	size_t n_segments;
	const char *why;		/* reason why there are no symbols */
	struct dwarf_lines *lines;	/* source lines, read on first use; NULL: none */
	bool lines_read;
	struct object_inlines *inlines;	/* inlined functions, opened on first use; NULL: none */
	bool inlines_read;
	const struct embedded_object *embedded;	/* symbols that the recording has of it; NULL: none */
	uint32_t used_at;		/* objects.generation of the last lookup */
};

/* Where to search for files, and how to show names. */
struct symbol_search {
	const char *symfs, *build_id_dir, *procfs;
	bool live, force, no_demangle, short_names;
	uint32_t machine;		/* ELF e_machine; 0: any */
	struct debuginfod *downloads;	/* NULL: nothing is downloaded */
	const struct embedded *embedded;	/* symbols in the recording itself; NULL: none */
};

#define RECENT_FILES 64u

struct objects {
	struct object **v;		/* v[id - 1] */
	size_t n, cap;
	struct map by_key;
	struct object *recent[RECENT_FILES];	/* cache by inode: new processes map the same files */
	struct map build_ids;		/* path -> index into `table_build_ids` */
	struct { struct build_id *v; size_t n, cap; } table_build_ids;	/* from the file's build-id table */
	struct arena text;
	struct interned_names *names;
	const struct symbol_search *search;
	uint32_t generation;		/* incremented by objects_evict() */
};

/* Compacts new symbol tables, then drops those of files and JIT maps that were not used since the previous
 * call, least recently used first, until all tables together have at most `max_bytes`. Dropped tables are
 * read again when needed. If that is not enough, objects lose their inlined functions, those with the largest debug data
 * first. */
void objects_evict(struct objects *o, size_t max_bytes);

/* Distinguishes objects with the same path: files in different containers, replaced files. */
struct object_identity {
	uint64_t device, inode;
	const uint8_t *build_id;
	size_t n_build_id;
};

/* Finds or adds an object. `identity` may be NULL. Returns NULL without memory. */
struct object *objects_get(struct objects *o, enum object_kind kind, const char *path,
			   const struct object_identity *identity);
struct object *objects_at(const struct objects *o, uint32_t id);	/* NULL: no such id */
int objects_set_build_id(struct objects *o, const char *path, const uint8_t *id, size_t n);
void objects_done(struct objects *o);

/* Reads the symbols of files, modules, JIT maps and the vdso. Sets `loaded`, and `why` if there are no
 * symbols. Returns 0 or -ENOMEM. */
int object_load(struct object *obj, const struct symbol_search *search);
/* Reads the perf map of a running process again if it has grown. Returns true if it did. */
bool object_refresh(struct object *obj, const struct symbol_search *search);
/* Converts a file offset to an address as in the ELF file. */
uint64_t object_address(const struct object *obj, uint64_t offset);
/* Cuts the span around a file offset to those offsets that lie in the same symbol, or in the same gap between symbols. False:
 * not known, as the object's symbols are not read, or may still change. */
bool object_span(const struct object *obj, uint64_t offset, struct span *out);
/* "/lib/modules/.../snd-hda.ko.xz" -> "[snd_hda]"; false if it is not the file of a module. */
bool object_module_name(const char *path, char *out, size_t size);

/* srcline.c: reads the line tables of a file or module, or of the kernel's vmlinux, and sets `lines_read`.
 * Returns 0 or -ENOMEM. */
int object_read_lines(struct object *obj, const struct symbol_search *search, const char *vmlinux);
void object_drop_lines(struct object *obj);
/* Inlined functions: opened on first use. */
struct inlined_function;
struct inlines_search {
	const struct symbol_search *search;
	const char *vmlinux;		/* of the kernel's symbols, or NULL */
	struct interned_names *names;
};
/* Like inlines_find(), see symbol/inlines.h; 0 also without debug data. */
int object_find_inlines(struct object *obj, const struct inlines_search *in, uint64_t address, bool with_calls,
			struct inlined_function *out);
/* The source line of an address: from the cache, the unit's line table, or else those of the whole object. Returns 1, 0 if
 * there is none, -ENOMEM. */
int object_find_line(struct object *obj, const struct inlines_search *in, uint64_t address, const char **file, uint32_t *line);
size_t object_inlines_bytes(const struct object *obj);
void object_drop_inlines(struct object *obj);

/* vdso.c: opens this process's own vdso, if it is the object's; or reads its symbols. Returns 0 or a negative errno,
 * and may set obj->why. */
int vdso_open(struct elf *out, struct object *obj);
int vdso_load(struct object *obj);

/* symbols.c: the object of a spot in user space, NULL if unknown; and where its file is searched. */
struct tacho_symbols;
struct object *symbols_object(const struct tacho_symbols *s, uint32_t id);
/* symbols.c: data that another directory derives from the objects; it is pruned and freed with them. NULL until
 * it is set. */
void *symbols_attached(const struct tacho_symbols *s);
void symbols_attach(struct tacho_symbols *s, void *data, void (*free_data)(void *), void (*prune)(void *, size_t max_bytes));
const struct symbol_search *symbols_search(const struct tacho_symbols *s);

#endif
