/*
 * Opens the object to probe and its separate debug file. The functions come from both: the debug file has the full symbol
 * table, but a debug file of another build is never used.
 */
#include "probe/object.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "probe/dwarf.h"
#include "probe/probe.h"
#include "symbol/elf_embedded.h"
#include "symbol/object_files.h"

#define SHF_EXECINSTR 4u

static char *joined(const char *root, const char *path)
{
	struct buf b = { 0 };

	buf_puts(&b, root ? root : "");
	buf_puts(&b, path);
	return buf_take(&b);
}

/* Scripts and linker scripts (libc.so) have the names of programs and libraries, too. */
static bool is_elf(const char *path)
{
	scoped(elf_close) struct elf e = { .fd = -1 };

	return elf_open(&e, path) == 0;
}

/* Tries DIR/NAME for each directory of a list. Returns a path to be freed, or NULL. */
static char *find_in(const char *dirs, const char *name, int mode)
{
	struct str rest = str_of(dirs), dir;

	while (str_cut(&rest, ':', &dir)) {
		struct buf b = { 0 };
		char *path;

		buf_printf(&b, "%.*s/%s", STR(dir), name);
		path = buf_take(&b);
		if (path && io_is_accessible(path, mode) && is_elf(path))
			return path;
		free(path);
	}
	return NULL;
}

#if defined(__x86_64__)
#define LIBRARY_DIRS "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib"
#elif defined(__aarch64__)
#define LIBRARY_DIRS "/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib"
#else
#define LIBRARY_DIRS "/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib"
#endif

/* A name without directory is searched as the shell and the dynamic linker would, "libc" also as libc.so.6. */
static char *find_file(const char *name)
{
	static const char *const suffixes[] = { "", ".so", ".so.6", ".so.1", ".so.2", ".so.3" };
	const char *path = getenv("PATH");
	char *found = NULL;

	if (io_is_accessible(name, F_OK) || strchr(name, '/'))
		return strdup(name);
	found = path ? find_in(path, name, X_OK) : NULL;
	for (size_t i = 0; !found && i < countof(suffixes); i++) {
		scoped(freep) char *full = NULL;
		struct buf b = { 0 };

		buf_printf(&b, "%s%s", name, suffixes[i]);
		full = buf_take(&b);
		found = full ? find_in(LIBRARY_DIRS, full, R_OK) : NULL;
	}
	return found ? found : strdup(name);
}

static int resolve_path(struct probe_object *o, const struct probe_object_place *place, struct tacho_error *e)
{
	char real[PATH_MAX];
	scoped(freep) char *found = NULL;

	if (place->pid) {
		struct buf b = { 0 };

		buf_printf(&b, "/proc/%u/root", place->pid);
		o->root = buf_take(&b);
		o->path = strdup(place->path);
		if (!o->root || !o->path)
			return error_nomem(e);
		return o->path[0] == '/' ? 0 :
			error_set(e, -EINVAL, "'%s' must be an absolute path in the namespace of process %u",
				  place->path, place->pid);
	}
	found = find_file(place->path);
	if (!found)
		return error_nomem(e);
	if (!io_is_accessible(found, F_OK))
		return error_set(e, -errno, "cannot open '%s': %s", place->path, strerror(errno));
	/* realpath() takes the link /proc/PID/root for what it reads as, "/", although it leads to another namespace. */
	o->path = strdup(realpath(found, real) && io_same_file(found, real) ? real : found);
	return o->path ? 0 : error_nomem(e);
}

static int open_own(struct probe_object *o, struct tacho_error *e)
{
	const char *before = o->symfs ? o->symfs : o->root;
	scoped(freep) char *path = joined(before, o->path);
	int err = path ? elf_open(&o->own, path) : -ENOMEM;

	if (err == -ENOENT && o->symfs) {
		free(path);
		path = joined(o->root, o->path);
		err = path ? elf_open(&o->own, path) : -ENOMEM;
	}
	if (err == -ENOMEM)
		return error_nomem(e);
	if (err == -ENOEXEC) {
		error_set(e, err, "'%s' is not an ELF file", o->path);
		error_hint(e, "probe the program that interprets it, such as /usr/bin/python3");
		return err;
	}
	if (err < 0)
		return error_set(e, err, "cannot read '%s': %s", o->path,
				 err == -EBADMSG ? "the file is damaged" : strerror(-err));
	return 0;
}

static void open_debug(struct probe_object *o)
{
	scoped(freep) char *dir = files_build_id_dir();
	struct symbol_search search = { .symfs = o->symfs, .build_id_dir = dir ? dir : "", .procfs = "/proc",
					.machine = o->own.machine };
	scoped(freep) char *path = joined(o->root, o->path);
	struct object obj = { .path = path ? path : o->path };

	if (elf_find_section(&o->own, ".debug_info") || elf_find_section(&o->own, ".zdebug_info"))
		return;
	if (files_open_debug(&o->debug, &obj, &o->own, &search) < 0)
		o->debug = (struct elf){ .fd = -1 };
}

int probe_object_open(struct probe_object *o, const struct probe_object_place *place, struct tacho_error *e)
{
	int err;

	*o = (struct probe_object){ .own.fd = -1, .debug.fd = -1 };
	if (place->symfs) {
		o->symfs = strdup(place->symfs);
		if (!o->symfs)
			return error_nomem(e);
	}
	err = resolve_path(o, place, e);
	if (err >= 0)
		err = open_own(o, e);
	if (err >= 0) {
		open_debug(o);
		err = probe_functions_add(&o->functions, &o->own);
		if (err >= 0 && o->debug.size)
			err = probe_functions_add(&o->functions, &o->debug);
		if (err >= 0)
			err = probe_functions_finish(&o->functions);
		if (err < 0)
			error_nomem(e);
	}
	if (err < 0)
		probe_object_close(o);
	return err;
}

void probe_object_close(struct probe_object *o)
{
	probe_dwarf_close(o->dwarf);
	probe_functions_done(&o->functions);
	if (o->own.size)
		elf_close(&o->own);
	if (o->debug.size)
		elf_close(&o->debug);
	free(o->path);
	free(o->symfs);
	free(o->root);
	*o = (struct probe_object){ .own.fd = -1, .debug.fd = -1 };
}

bool probe_object_offset(const struct probe_object *o, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < o->own.n_segments; i++) {
		const struct elf_segment *s = &o->own.segments[i];

		if (s->type == ELF_PT_LOAD && address >= s->vaddr && address - s->vaddr < s->filesz) {
			*offset = address - s->vaddr + s->offset;
			return true;
		}
	}
	return false;
}

bool probe_object_is_code(const struct probe_object *o, uint64_t address)
{
	uint64_t offset;

	for (size_t i = 0; i < o->own.n_sections; i++) {
		const struct elf_section *s = &o->own.sections[i];

		if (s->flags & SHF_EXECINSTR && address >= s->addr && address - s->addr < s->size)
			return true;
	}
	return !o->own.n_sections && probe_object_offset(o, address, &offset);
}

bool probe_object_address(const struct probe_object *o, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < o->own.n_segments; i++) {
		const struct elf_segment *s = &o->own.segments[i];

		if (s->type == ELF_PT_LOAD && offset >= s->offset && offset - s->offset < s->filesz) {
			*address = offset - s->offset + s->vaddr;
			return true;
		}
	}
	return false;
}

void probed_file_free(struct probed_file *f)
{
	if (!f)
		return;
	probe_object_close(&f->object);
	free(f->typed);
	free(f);
}
