/*
 * An object's own file is searched in this order:
 *
 *	SYMFS/path
 *	/proc/PID/root/path		live mode: the process may run in a container
 *	path				a " (deleted)" suffix is ignored if the build ID is known
 *	/proc/PID/root/path		for recordings, if the build ID is known
 *	/proc/PID/map_files/...		a deleted or replaced file that is still mapped
 *	/proc/PID/exe			a deleted program that still runs
 *	CACHE/.build-id/xx/rest/elf
 *	debuginfod servers		for recordings, if $DEBUGINFOD_URLS names some
 *
 * and, if it has no .symtab, its symbols:
 *
 *	the file named by .gnu_debuglink: in the same directory, in its .debug, below /usr/lib/debug
 *	CACHE/.build-id/xx/rest/debug
 *	SYMFS/usr/lib/debug/.build-id/xx/rest.debug, or the same without SYMFS
 *	debuginfod servers
 *	its own section .gnu_debugdata (see load_symbols.c)
 *
 * A file whose build ID differs is never used, nor in live mode one that has replaced the mapped file: wrong names are worse
 * than none.
 */
#include "symbol/object_files.h"

#include "symbol/debuginfod.h"
#include "symbol/elf_embedded.h"
#include "symbol/mapped_file.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define DEBUG_ROOT "/usr/lib/debug"

static int check_match(const struct elf *e, const struct build_id *want, uint32_t machine)
{
	uint8_t id[BUILD_ID_MAX];
	int n;

	if (machine && e->machine != machine)
		return -EXDEV;
	if (!want->n)
		return 0;
	n = elf_build_id(e, id);
	if (n == -ENOMEM)
		return n;
	/* Kernels pad build IDs to 20 bytes, so only the shorter length is compared. */
	if (n <= 0 || memcmp(id, want->bytes, min_of((size_t)n, (size_t)want->n)) != 0)
		return -ESTALE;
	return 0;
}

bool files_is_host(uint32_t machine)
{
	scoped(elf_close) struct elf self = { .fd = -1 };

	return !machine || elf_open(&self, "/proc/self/exe") < 0 || self.machine == machine;
}

/* Takes ownership of `path`, which is NULL if it could not be allocated. */
static int try_open(struct elf *out, char *path, const struct build_id *want, uint32_t machine)
{
	scoped(freep) char *owned = path;
	int err;

	if (!owned)
		return -ENOMEM;
	err = elf_open(out, owned);
	if (err == -ENOEXEC)
		err = elf_open_compressed(out, owned);
	if (err < 0)
		return err;
	err = check_match(out, want, machine);
	if (err < 0)
		elf_close(out);
	return err;
}

static char *joined(const char *a, const char *b)
{
	struct buf text = { 0 };

	buf_puts(&text, a);
	buf_puts(&text, b);
	return buf_take(&text);
}

char *files_build_id_dir(void)
{
	const char *dir = getenv("PERF_BUILDID_DIR"), *home = getenv("HOME");
	struct buf text = { 0 };

	if (dir && *dir)
		buf_puts(&text, dir);
	else
		buf_printf(&text, "%s/.debug", home ? home : "");
	return buf_take(&text);
}

char *files_by_build_id(const char *dir, const struct build_id *id, const char *tail)
{
	struct buf text = { 0 };

	buf_printf(&text, "%s/.build-id/%02x/", dir, id->bytes[0]);
	for (size_t i = 1; i < id->n; i++)
		buf_printf(&text, "%02x", id->bytes[i]);
	buf_puts(&text, tail);
	return buf_take(&text);
}

/* The more specific of two errors: "exists but does not match" is preferred to "missing". */
static int more_specific_error(int before, int now)
{
	if (now == 0 || now == -ENOMEM)
		return now;
	return before == -ENOENT || before == -ENOTDIR ? now : before;
}

/* The file at the object's path. Takes ownership of `path`. */
static int try_path(struct elf *out, char *path, const struct object *obj, const struct symbol_search *search)
{
	int err = try_open(out, path, &obj->build_id, search->machine);

	if (err == 0 && search->live && mapped_file_is_replaced(obj, out->fd)) {
		elf_close(out);
		return -ESTALE;
	}
	return err;
}

static int try_live(struct elf *out, const struct object *obj, const struct symbol_search *search,
		    const char *path)
{
	struct buf text = { 0 };

	if (!obj->pid || (!search->live && !obj->build_id.n))
		return -ENOENT;
	buf_printf(&text, "%s/%u/root%s", search->procfs, obj->pid, path);
	return try_path(out, buf_take(&text), obj, search);
}

static int try_mapped(struct elf *out, const struct object *obj, const struct symbol_search *search)
{
	int err = mapped_file_open(out, obj, search);

	if (err < 0)
		return err;
	err = check_match(out, &obj->build_id, search->machine);
	if (err < 0)
		elf_close(out);
	return err;
}

static struct str without_deleted_suffix(struct str path)
{
	struct str mark = STR_LIT(" (deleted)");

	return str_ends(path, mark.s) ? str_n(path.s, path.n - mark.n) : path;
}

/* The file of a deleted program remains readable while it runs. */
static int try_exe(struct elf *out, const struct object *obj, const struct symbol_search *search)
{
	scoped(freep) char *link = NULL;
	struct buf text = { 0 };
	char target[4200];
	ssize_t n;

	if (!obj->pid || (!search->live && !obj->build_id.n))
		return -ENOENT;
	buf_printf(&text, "%s/%u/exe", search->procfs, obj->pid);
	link = buf_take(&text);
	if (!link)
		return -ENOMEM;
	n = readlink(link, target, sizeof(target));
	if (n <= 0 || !str_eq(without_deleted_suffix(str_n(target, (size_t)n)),
			      without_deleted_suffix(str_of(obj->path))))
		return -ENOENT;
	return try_open(out, take(link), &obj->build_id, search->machine);
}

int files_open_cached(struct elf *out, const struct object *obj, const char *name,
		      const struct symbol_search *search)
{
	if (!obj->build_id.n)
		return -ENOENT;
	return try_open(out, files_by_build_id(search->build_id_dir, &obj->build_id, name),
			&obj->build_id, search->machine);
}

/* Opens a file from a debuginfod server. -ENOENT also if no server can be reached. */
static int try_download(struct elf *out, const struct object *obj, enum debuginfod_kind kind, const struct build_id *id,
			const struct symbol_search *search)
{
	char *path = NULL;
	int err = obj->kind == OBJECT_FILE ? debuginfod_find(search->downloads, kind, id, obj->short_name, &path) : -ENOENT;

	if (err < 0)
		return err == -ENOMEM ? err : -ENOENT;
	return try_open(out, path, id, search->machine);
}

int files_open_object(struct elf *out, const struct object *obj, const struct symbol_search *search)
{
	const char *path = obj->file ? obj->file : obj->path;
	const char *deleted = strstr(path, " (deleted)");
	scoped(freep) char *plain = NULL;
	int err = -ENOENT;

	if (deleted && obj->build_id.n) {
		plain = str_dup(str_n(path, (size_t)(deleted - path)));
		if (!plain)
			return -ENOMEM;
		path = plain;
	}
	if (path[0] == '/') {
		if (search->symfs)
			err = try_open(out, joined(search->symfs, path), &obj->build_id, search->machine);
		if (err < 0 && err != -ENOMEM && search->live)
			err = more_specific_error(err, try_live(out, obj, search, path));
		if (err < 0 && err != -ENOMEM)
			err = more_specific_error(err, try_path(out, strdup(path), obj, search));
		if (err < 0 && err != -ENOMEM && !search->live)
			err = more_specific_error(err, try_live(out, obj, search, path));
		if (err < 0 && err != -ENOMEM)
			err = more_specific_error(err, try_mapped(out, obj, search));
		if (err < 0 && err != -ENOMEM)
			err = more_specific_error(err, try_exe(out, obj, search));
	}
	if (err < 0 && err != -ENOMEM)
		err = more_specific_error(err, files_open_cached(out, obj, "/elf", search));
	if (err < 0 && err != -ENOMEM)
		err = more_specific_error(err, try_download(out, obj, DEBUGINFOD_EXECUTABLE, &obj->build_id, search));
	return err;
}

/* Opens a debug file; refuses one without a full symbol table. */
static int try_debug(struct elf *out, char *path, const struct build_id *want, uint32_t machine)
{
	int err = try_open(out, path, want, machine);

	if (err == 0 && !elf_find_type(out, ELF_SHT_SYMTAB)) {
		elf_close(out);
		return -ENOENT;
	}
	return err;
}

static int try_debuglink(struct elf *out, const struct object *obj, const struct elf *own,
			 const struct build_id *want, const struct symbol_search *search)
{
	static const struct { const char *before, *between; } locations[] = {
		{ "", "" }, { "", ".debug/" }, { DEBUG_ROOT, "" },
	};
	const char *path = obj->path, *slash = strrchr(path, '/');
	const char *root = search->symfs ? search->symfs : "";
	scoped(freep) char *link = NULL;
	int err = elf_debuglink(own, &link);

	if (err < 0 || !slash || path[0] != '/')
		return err < 0 ? err : -ENOENT;
	err = -ENOENT;
	for (size_t i = 0; err < 0 && err != -ENOMEM && i < countof(locations); i++) {
		struct buf text = { 0 };

		buf_printf(&text, "%s%s%.*s/%s%s", root, locations[i].before, (int)(slash - path), path,
			   locations[i].between, link);
		err = try_debug(out, buf_take(&text), want, own->machine);
	}
	return err;
}

/* By build ID below the directory of debug files. */
static int try_debug_root(struct elf *out, const struct build_id *want, uint32_t machine, const struct symbol_search *search)
{
	scoped(freep) char *root = search->symfs ? joined(search->symfs, DEBUG_ROOT) : NULL;
	int err = -ENOENT;

	if (search->symfs)
		err = root ? try_debug(out, files_by_build_id(root, want, ".debug"), want, machine) : -ENOMEM;
	if (err < 0 && err != -ENOMEM)
		err = try_debug(out, files_by_build_id(DEBUG_ROOT, want, ".debug"), want, machine);
	return err;
}

int files_open_debug(struct elf *out, const struct object *obj, const struct elf *own,
		     const struct symbol_search *search)
{
	uint32_t machine = own ? own->machine : search->machine;
	struct build_id want = obj->build_id;
	int err = -ENOENT, n;

	if (own && !want.n) {
		n = elf_build_id(own, want.bytes);
		want.n = n > 0 ? (uint8_t)n : 0;
	}
	if (own)
		err = try_debuglink(out, obj, own, &want, search);
	if (!want.n)
		return err;
	if (err < 0 && err != -ENOMEM)
		err = try_debug(out, files_by_build_id(search->build_id_dir, &want, "/debug"), &want,
				machine);
	if (err < 0 && err != -ENOMEM)
		err = try_debug_root(out, &want, machine, search);
	if (err < 0 && err != -ENOMEM)
		err = try_download(out, obj, DEBUGINFOD_DEBUGINFO, &want, search);
	return err;
}
