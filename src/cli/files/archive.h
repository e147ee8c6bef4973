/*
 * `tacho archive` from the inside: the objects of a recording as a tar archive in the layout of the
 * cache of objects, so that `tar xf FILE -C ~/.debug` on another machine is all it takes.
 *
 *	cmd_archive.c     the options, names of files
 *	archive_pack.c    which objects, from the cache or from where they lie
 *	archive_unpack.c  into the cache, and nowhere else
 *	filter.c tar_write.c tar_read.c
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

#define ARCHIVE_SYMBOLS "perf.symbols.tar"	/* within an archive of --all */

/* Packs the objects into `fd` with `program` (NULL: not at all). How many, or a negative errno. */
int archive_objects(const struct archive_opts *o, const struct file_objects *objects,
		    const char *program, int fd, struct tacho_error *e);
/* An archive around the recording and the packed objects in `symbols`. */
int archive_all(const char *recording, int symbols, const char *program, int fd, struct tacho_error *e);

struct unpacked {
	uint64_t objects, kept;		/* files that are new, and that were there */
	char *recording;		/* of an archive of --all */
};
int archive_unpack(const char *path, const struct archive_opts *o, struct cache_dir *cache,
		   struct unpacked *done, struct tacho_error *e);

#endif
