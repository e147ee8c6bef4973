/*
 * Finds the separate debug file of a program, for those who want to store it.
 */
#include <tacho/symbol.h>

#include "symbol/debuginfod.h"
#include "symbol/object_files.h"

#include "base/error.h"
#include "base/sized_opts.h"

#include <errno.h>
#include <fcntl.h>

static int open_debug(const struct object *obj, const struct elf *own, const struct tacho_symbols_opts *o)
{
	scoped(elf_close) struct elf debug = { .fd = -1 };
	scoped(freep) char *dir = files_build_id_dir();
	struct symbol_search search = { .symfs = o->symfs, .build_id_dir = o->build_id_dir ? o->build_id_dir : dir,
					.procfs = o->procfs ? o->procfs : "/proc" };
	int err = dir ? 0 : -ENOMEM;

	if (err == 0 && !o->live)
		err = debuginfod_new(&search.downloads, o->progress, o->progress_arg);
	if (err == 0)
		err = files_open_debug(&debug, obj, own, &search);
	debuginfod_free(search.downloads);
	if (err < 0)
		return err;
	err = debug.fd < 0 ? -ENOENT : fcntl(debug.fd, F_DUPFD_CLOEXEC, 0);
	return err < 0 && errno > 0 ? -errno : err;
}

int tacho_debug_file_open(const char *path, const struct tacho_symbols_opts *opts, struct tacho_error *e)
{
	scoped(elf_close) struct elf own = { .fd = -1 };
	const char *slash = strrchr(path, '/');
	struct object obj = { .kind = OBJECT_FILE, .path = path, .short_name = slash ? slash + 1 : path };
	struct tacho_symbols_opts o;
	int err = opts_copy(&o, sizeof(o), opts, e), n;

	if (err == 0)
		err = elf_open(&own, path);
	if (err < 0)
		return error_set(e, err, "cannot read %s: %s", path, strerror(-err));
	if (elf_find_type(&own, ELF_SHT_SYMTAB))
		return error_set(e, -EEXIST, "%s has its symbols itself", path);
	n = elf_build_id(&own, obj.build_id.bytes);
	if (n == -ENOMEM)
		return error_nomem(e);
	obj.build_id.n = n > 0 ? (uint8_t)n : 0;
	err = open_debug(&obj, &own, &o);
	return err < 0 ? error_set(e, err, "there is no debug file of %s", path) : err;
}
