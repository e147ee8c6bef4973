/*
 * Reads the symbols of an object, once, when the first address in it is resolved.
 */
#include "symbol/objects.h"

#include "symbol/elf_embedded.h"
#include "symbol/embed/embedded.h"
#include "symbol/elf_section_data.h"
#include "symbol/elf_symbols.h"
#include "symbol/jit/jit_files.h"
#include "symbol/object_files.h"
#include "symbol/jit/perfmap.h"
#include "symbol/symbol_cache.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#define REFRESH_MS 200
#define ENTRY_BYTES 34u		/* length of _start in glibc and musl, at least */

static const char *reason_text(int err)
{
	switch (err) {
	case -ENOENT:
	case -ENOTDIR:
		return "no such file";
	case -EACCES:
	case -EPERM:
		return "no permission to read it";
	case -ESTALE:
		return "the file there is of another build";
	case -EXDEV:
		return "the file there is for another machine";
	case -ENOEXEC:
		return "not an ELF file";
	case -EBADMSG:
		return "the file is damaged";
	case -EOPNOTSUPP:
		return "it is packed, and the library that unpacks it is missing";
	case -EFBIG:
		return "its symbol table is too large";
	default:
		return "it could not be read";
	}
}

static int copy_segments(struct object *obj, const struct elf *e)
{
	obj->segments = calloc(e->n_segments ? e->n_segments : 1, sizeof(*obj->segments));
	if (!obj->segments)
		return -ENOMEM;
	for (size_t i = 0; i < e->n_segments; i++)
		if (e->segments[i].type == ELF_PT_LOAD)
			obj->segments[obj->n_segments++] = e->segments[i];
	return 0;
}

static void copy_build_id(struct object *obj, const struct elf *e)
{
	int n;

	if (obj->build_id.n)
		return;
	n = elf_build_id(e, obj->build_id.bytes);
	obj->build_id.n = n > 0 ? (uint8_t)n : 0;
}

/* Names the entry point of a stripped program, where each of its stacks ends. A shared library has none, or that of a
 * loader, and is not touched. */
static int add_entry_symbol(struct object *obj, const struct elf *own)
{
	bool interpreted = false;
	uint32_t name;

	for (size_t i = 0; i < own->n_segments; i++)
		interpreted |= own->segments[i].type == ELF_PT_INTERP;
	if (!own->entry || (own->type != ELF_ET_EXEC && !interpreted) || strstr(obj->path, ".so"))
		return 0;
	if (!obj->table.strings.n)
		buf_put(&obj->table.strings, "", 1);
	name = (uint32_t)obj->table.strings.n;
	buf_put(&obj->table.strings, "_start", sizeof("_start"));
	if (buf_failed(&obj->table.strings))
		return -ENOMEM;
	return symbol_table_add(&obj->table, own->entry, ENTRY_BYTES, name, SYMBOL_LOCAL);
}

/* `own` and `debug` may each be NULL. */
static int add_symbols(struct object *obj, const struct elf *own, const struct elf *debug,
		       struct symbol_cache_entry *cached)
{
	scoped(elf_dynamic_done) struct elf_dynamic dynamic = { 0 };
	int err, got;

	got = debug ? elf_add_symbols(debug, &obj->table, NULL) : 0;
	if (got >= 0 && own)
		got = elf_add_symbols(own, &obj->table, &dynamic);
	if (got < 0)
		return got;
	err = own ? elf_add_plt(own, &obj->table, &dynamic) : 0;
	if (err == -ENOMEM)
		return err;
	cached->usable = cached->usable && err >= 0;
	if (obj->table.n == 0)
		obj->why = "stripped: it has no symbols";
	return own && !debug && !elf_find_type(own, ELF_SHT_SYMTAB) ? add_entry_symbol(obj, own) : 0;
}

/* Reads segments, build ID and symbols; `first` is whichever of `own` and `debug` is not NULL. */
static int load_from_elf(struct object *obj, const struct elf *first, const struct elf *own,
			 const struct elf *debug, struct symbol_cache_entry *cached)
{
	int err = copy_segments(obj, first);

	if (err < 0)
		return err;
	copy_build_id(obj, first);
	if (own && !debug && !elf_find_type(own, ELF_SHT_SYMTAB))
		obj->why = "stripped: only exported functions have names";
	return symbol_cache_read(cached, &obj->table) ? 0 : add_symbols(obj, own, debug, cached);
}

struct symbol_files {			/* the files of one object */
	struct elf own, debug;
	int have_own, have_debug;	/* 0: open; else the error */
	bool embedded;			/* `debug` is mini debug info inside `own` */
};

static void symbol_files_close(struct symbol_files *b)
{
	elf_close(&b->own);
	elf_close(&b->debug);
}

static void symbol_files_open(struct symbol_files *b, const struct object *obj,
			      const struct symbol_search *search)
{
	bool whole;

	b->have_debug = -ENOENT;
	b->have_own = files_open_object(&b->own, obj, search);
	whole = b->have_own == 0 && elf_find_type(&b->own, ELF_SHT_SYMTAB);
	if (b->have_own == -ENOMEM || whole)
		return;
	b->have_debug = files_open_debug(&b->debug, obj, b->have_own == 0 ? &b->own : NULL, search);
	if (b->have_own == 0 && b->have_debug < 0 && b->have_debug != -ENOMEM) {
		b->have_debug = elf_open_minidebug(&b->debug, &b->own);
		b->embedded = b->have_debug == 0;
	}
}

static bool has_debug_info(const struct elf *e)
{
	return elf_find_debug(e, ".debug_info");
}

/* Notes that no file of the object has debug data, which would otherwise be found out by opening them again. If the file has
 * all its symbols, its debug file was not searched. */
static void note_debug_data(struct object *obj, const struct symbol_files *b)
{
	bool whole = b->have_own == 0 && elf_find_type(&b->own, ELF_SHT_SYMTAB);

	if (!whole && !(b->have_own == 0 && has_debug_info(&b->own)) && !(b->have_debug == 0 && has_debug_info(&b->debug)))
		obj->inlines_read = true;
}

/* Chooses the entry of the symbol cache. The cache is not used in live mode, where a long-running process
 * reads each object once, nor if the debug file could not be decompressed, because its library may be
 * installed later. */
static void choose_cache_entry(struct symbol_cache_entry *cached, const struct symbol_files *b,
			       const struct object *obj, const struct symbol_search *search)
{
	uint64_t number = str_hash(str_of(obj->path)) + (search->symfs ? str_hash(str_of(search->symfs)) : 0);

	if (!search->live && (b->have_debug == 0 || b->have_debug == -ENOENT))
		symbol_cache_for_elf(cached, number, b->have_own == 0 ? &b->own : NULL,
				     b->have_debug == 0 ? &b->debug : NULL, b->embedded);
}

/* The letter for where an open file of the object was found: see struct tacho_object_info. */
static char source_of(const struct elf *e, const struct symbol_search *search, enum object_kind kind, bool debug)
{
	char link[64], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", e->fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[max_of(n, 0)] = '\0';
	if (search->build_id_dir && *search->build_id_dir && str_starts(str_of(path), search->build_id_dir))
		return debug ? 'D' : 'B';
	if (debug)
		return strstr(path, "/.build-id/") ? 'b' : 'l';
	return kind == OBJECT_MODULE ? 'K' : 'd';
}

static char source_of_files(const struct symbol_files *b, const struct symbol_search *search, enum object_kind kind)
{
	if (b->have_debug == 0)
		return b->embedded ? 'n' : source_of(&b->debug, search, kind, true);
	return source_of(&b->own, search, kind, false);
}

static int load_elf(struct object *obj, const struct symbol_search *search, struct symbol_cache_entry *cached)
{
	scoped(symbol_files_close) struct symbol_files b = { .own = { .fd = -1 }, .debug = { .fd = -1 } };

	symbol_files_open(&b, obj, search);
	if (b.have_own == -ENOMEM || b.have_debug == -ENOMEM)
		return -ENOMEM;
	if (b.have_own < 0 && b.have_debug < 0)
		return b.have_own;
	obj->symbol_source = source_of_files(&b, search, obj->kind);
	note_debug_data(obj, &b);
	choose_cache_entry(cached, &b, obj, search);
	return load_from_elf(obj, b.have_own == 0 ? &b.own : &b.debug, b.have_own == 0 ? &b.own : NULL,
		       b.have_debug == 0 ? &b.debug : NULL, cached);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int load_jit(struct object *obj, const struct symbol_search *search)
{
	scoped(buf_done) struct buf path = { 0 };
	int err = jit_map_path(obj, search, &path);
	uid_t owner = jit_process_owner(obj->pid, search);

	obj->symbol_source = 'j';
	if (err < 0)
		return err;
	obj->read_ms = now_ms();
	if (search->live)
		err = perfmap_read_more(&obj->table, path.bytes, owner, search->force, &obj->map_position);
	else
		err = perfmap_read(&obj->table, path.bytes, owner, search->force);
	if (err == -EPERM)
		obj->why = "its map belongs to another user (--force reads it)";
	return min_of(err, 0);
}

bool object_refresh(struct object *obj, const struct symbol_search *search)
{
	scoped(buf_done) struct buf path = { 0 };

	if (obj->kind != OBJECT_JIT || !search->live || now_ms() - obj->read_ms < REFRESH_MS)
		return false;
	obj->read_ms = now_ms();
	if (jit_map_path(obj, search, &path) < 0 ||
	    perfmap_read_more(&obj->table, path.bytes, jit_process_owner(obj->pid, search), search->force,
			      &obj->map_position) <= 0)
		return false;
	obj->why = obj->table.n ? NULL : "its map has no lines";
	return true;
}

/* Uses our own vdso if it is from the recorded kernel, else the copy in the build-id cache. */
static int load_vdso(struct object *obj, const struct symbol_search *search,
		     struct symbol_cache_entry *cached)
{
	scoped(elf_close) struct elf e = { .fd = -1 };
	int err = files_is_host(search->machine) ? vdso_load(obj) : -EXDEV;

	obj->symbol_source = 'd';
	if ((err != -ESTALE && err != -EXDEV) || files_open_cached(&e, obj, "/vdso", search) < 0)
		return err;
	obj->why = NULL;
	return load_from_elf(obj, &e, &e, NULL, cached);
}

/* Uses the symbols in the recording, if the object has none, or not all. */
static int load_embedded(struct object *obj, const struct symbol_search *search)
{
	int err;

	obj->embedded = embedded_find(search->embedded, obj);
	if (!obj->embedded || (obj->table.n && !obj->why && obj->kind != OBJECT_JIT))
		return 0;
	err = embedded_add_segments(obj->embedded, obj);
	if (err == 0)
		err = embedded_add_symbols(search->embedded, obj->embedded, &obj->table);
	if (err == 0)
		err = symbol_table_finish(&obj->table);
	if (err == 0 && obj->embedded->functions.n) {
		obj->why = NULL;
		obj->symbol_source = 'e';
	}
	return err;
}

static int load_own(struct object *obj, const struct symbol_search *search)
{
	struct symbol_cache_entry cached = { .usable = false };
	int err = 0;

	switch (obj->kind) {
	case OBJECT_FILE:
	case OBJECT_MODULE:
		err = load_elf(obj, search, &cached);
		break;
	case OBJECT_VDSO:
		err = load_vdso(obj, search, &cached);
		break;
	case OBJECT_JIT:
		err = load_jit(obj, search);
		break;
	case OBJECT_PLAIN:
		obj->why = "memory without code";
		return 0;
	default:
		return 0;
	}
	if (err == 0 && obj->kind != OBJECT_JIT && !cached.found) {
		obj->table.to_compact = search->live || (cached.usable && !cached.fresh);
		err = symbol_table_finish(&obj->table);
	}
	if (err == 0)
		symbol_cache_write(&cached, &obj->table);
	if (err == 0 && search->live)
		symbol_table_compact(&obj->table);	/* the agent keeps it for days */
	if (err == 0)
		return 0;
	symbol_table_done(&obj->table);
	if (err == -ENOMEM)
		return err;
	if (obj->kind == OBJECT_JIT && err == -ENOENT)
		obj->why = "made at run time, and its maker left no perf-PID.map";
	else if (!obj->why)
		obj->why = reason_text(err);
	return 0;
}

int object_load(struct object *obj, const struct symbol_search *search)
{
	int err = load_own(obj, search);

	if (err == 0)
		err = load_embedded(obj, search);
	obj->loaded = err == 0;
	if (err < 0) {			/* reset, so that loading is tried again */
		symbol_table_done(&obj->table);
		free(take(obj->segments));
		obj->n_segments = 0;
	}
	return err;
}
