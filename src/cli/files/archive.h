/*
 * `tacho archive`: the objects of a recording as a tar archive in the layout of the build ID cache,
 * so that `tar xf FILE -C ~/.debug` on another machine also installs them.
 *
 *	cmd_archive.c     options, file names
 *	archive_pack.c    which objects are packed, from the cache or from their own path
 *	archive_unpack.c  extraction into the cache, and nowhere else
 *	archive_none.c    replaces the last two in a build without libarchive
 *	libarchive.c      loads the library
 */
#ifndef CLI_FILES_ARCHIVE_H
#define CLI_FILES_ARCHIVE_H

#include "cli/files/build_id_cache.h"
#include "cli/core/command.h"
#include "cli/files/recorded_objects.h"

struct archive_opts {
	bool all, unpack, force;
	const char *output, *exclude;
};

struct archive_compression {
	const char *suffix;		/* suffix of the archive's name: ".tar.gz" */
	const char *filter;		/* libarchive's filter name: "gzip"; NULL: not compressed */
	const char *symbols;		/* name of the inner archive of --all */
};

#define ARCHIVE_SYMBOLS "perf.symbols.tar"	/* prefix of the names of inner archives */

/* Writes an archive of the objects to `fd`. Returns the number of packed objects, or a negative errno. */
int archive_objects(const struct archive_opts *o, const struct file_objects *objects,
		    const struct archive_compression *c, int fd, struct tacho_error *e);
/* Writes an archive that contains the recording and `symbols` (a descriptor), the archive of its objects. */
int archive_all(const char *recording, int symbols, const struct archive_compression *c, int fd,
		struct tacho_error *e);

struct archive_unpacked {
	uint64_t new_files, present_files;	/* number of files extracted; skipped because they exist */
	char *recording;		/* name of the recording extracted from an archive of --all */
};
/* Extracts into `cache`, and the recording of an archive of --all into the current directory. May change
 * the current directory. */
int archive_unpack(const char *path, const struct archive_opts *o, struct cache_dir *cache,
		   struct archive_unpacked *out, struct tacho_error *e);

#endif
