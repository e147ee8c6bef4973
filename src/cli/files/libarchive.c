/*
 * Loads libarchive by its soname, libarchive.so.13. Version 3 has had a stable ABI since 2011.
 */
#include "cli/files/libarchive.h"

#include <errno.h>

#include "base/defs.h"
#include "base/error.h"
#include "base/shared_library.h"

#define SONAME "libarchive.so.13"

struct libarchive libarchive;

static bool load_functions(struct libarchive *l)
{
#define LOAD(name)                                                                                  \
	*(void **)&l->name = shared_library_find(l->handle, "archive_" #name);                                    \
	if (!l->name)                                                                               \
		return false;
	LIBARCHIVE_FUNCTIONS(LOAD)
#undef LOAD
	*(void **)&l->error_code = shared_library_find(l->handle, "archive_errno");
	return l->error_code != NULL;
}

int libarchive_load(struct tacho_error *e)
{
	struct libarchive *l = &libarchive;

	if (l->handle)
		return 0;
	l->handle = shared_library_open(SONAME);
	if (l->handle && load_functions(l))
		return 0;
	if (l->handle)
		shared_library_close(l->handle);
	l->handle = NULL;
	error_set(e, -EOPNOTSUPP, "%s, which reads and writes archives, cannot be loaded", SONAME);
	error_hint(e, "install libarchive13");
	return -EOPNOTSUPP;
}

int libarchive_error(struct archive *a)
{
	int code = libarchive.error_code(a);

	if (code == EILSEQ)		/* libarchive's code for damaged input */
		return -EBADMSG;
	return code > 0 && code < 4096 ? -code : -EIO;
}
