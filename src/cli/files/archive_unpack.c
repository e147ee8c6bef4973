/*
 * Extracts archives into the build ID cache. Archives come from other machines and are not trusted:
 *
 *	- libarchive refuses absolute names, ".." and names that lead through a symbolic link
 *	  (ARCHIVE_EXTRACT_SECURE_*); ".." and absolute names are refused here as well;
 *	- entries may be files, directories and links of build IDs, .build-id/15/df...98 ->
 *	  ../../usr/bin/ls/15df...98; hard links, devices and sparse files are refused;
 *	- a file that exists is not touched: the same build ID means the same content;
 *	- an object may have at most OBJECT_MAX bytes;
 *	- what an archive of --all has beside the objects must be a recording, and gets a name of recordings;
 *	- a file whose extraction fails is deleted, and extraction ends at the first bad entry.
 *
 * Only tar archives are read, plain or compressed by bzip2, gzip, xz or zstd.
 */
#include "cli/files/archive.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/io.h"
#include "cli/files/libarchive.h"

#define OBJECT_MAX (16ll << 30)
#define INNER_MAX (4ll << 30)		/* the archive of objects in one of --all is held in memory */
#define EXTRACT_SECURELY                                                                            \
	(ARCHIVE_EXTRACT_SECURE_SYMLINKS | ARCHIVE_EXTRACT_SECURE_NODOTDOT |                        \
	 ARCHIVE_EXTRACT_SECURE_NOABSOLUTEPATHS | ARCHIVE_EXTRACT_NO_OVERWRITE)

/* An archive that is being read, and its current entry. */
struct tar_input {
	const char *path;
	struct archive *archive;
	struct archive_entry *entry;
	const char *name;		/* name of the current entry */
	char shown[256];		/* the name in messages, perhaps cut */
};

/* Reads the next entry's header. Returns 1, 0 at the end of the archive, or a negative errno. */
static int tar_next(struct tar_input *t, struct tacho_error *e)
{
	const char *reason, *name;
	int status = libarchive.read_next_header(t->archive, &t->entry), err;

	if (status == ARCHIVE_EOF)
		return 0;
	if (status >= ARCHIVE_WARN) {		/* a warning: a name that is not in the locale's charset */
		name = libarchive.entry_pathname(t->entry);
		if (name && strlen(name) < PATH_MAX) {
			t->name = name;
			snprintf(t->shown, sizeof(t->shown), "%s", name);
			str_make_printable(t->shown, strlen(t->shown));
			return 1;
		}
		return error_set(e, -EBADMSG, "'%s' has an entry without a usable name", t->path);
	}
	err = libarchive_error(t->archive);
	reason = libarchive.error_string(t->archive);
	return error_set(e, err, "'%s' is not a valid tar archive: %s", t->path, reason ? reason : strerror(-err));
}

static void tar_close(struct tar_input *t)
{
	if (t->archive)
		libarchive.read_free(t->archive);
	t->archive = NULL;
}

/* Opens the archive and reads its first entry. Returns the same values as tar_next(). */
static int tar_open(struct tar_input *t, int fd, const char *path, struct tacho_error *e)
{
	int err = libarchive_load(e);

	*t = (struct tar_input){ .path = path, .name = "" };
	if (err < 0)
		return err;
	t->archive = libarchive.read_new();
	if (!t->archive)
		return error_nomem(e);
	libarchive.read_support_format_tar(t->archive);
	libarchive.read_support_filter_bzip2(t->archive);
	libarchive.read_support_filter_gzip(t->archive);
	libarchive.read_support_filter_xz(t->archive);
	libarchive.read_support_filter_zstd(t->archive);
	if (libarchive.read_open_fd(t->archive, fd, 1 << 16) < ARCHIVE_WARN)
		return error_set(e, libarchive_error(t->archive), "cannot read '%s': %s", path,
				 libarchive.error_string(t->archive));
	return tar_next(t, e);
}

static int extraction_failed(const struct tar_input *t, struct archive *failed, struct tacho_error *e)
{
	const char *reason = libarchive.error_string(failed);
	int err = libarchive_error(failed);

	return error_set(e, err, "cannot unpack '%s': %s", t->shown, reason ? reason : strerror(-err));
}

static int refuse_entry(const struct tar_input *t, struct tacho_error *e)
{
	return error_set(e, -EBADMSG, "'%s' has an entry '%s' that does not belong into the build ID cache; "
			 "nothing more is unpacked", t->path, t->shown);
}

/* Whether this is a relative name without "..". */
static bool is_inside(const char *name)
{
	struct str rest = str_of(name), part;

	if (!*name || *name == '/')
		return false;
	while (str_cut(&rest, '/', &part))
		if (str_is(part, ".."))
			return false;
	return true;
}

/* Whether the entry is the link of a build ID, to a directory of the same ID two levels up or deeper:
 * ".build-id/15/df..." -> "../../usr/bin/ls/15df..." Any other link could make later commands write to, or remove, what
 * is not an object. */
static bool is_id_link(const struct tar_input *t)
{
	static const char hex[] = "0123456789abcdef";
	const char *target = libarchive.entry_symlink(t->entry), *id, *slash;

	if (strncmp(t->name, ".build-id/", 10) != 0 || !target || strncmp(target, "../../", 6) != 0)
		return false;
	id = t->name + 10;
	target += 6;
	slash = strrchr(target, '/');
	return strspn(id, hex) == 2 && id[2] == '/' && id[3] && strspn(id + 3, hex) == strlen(id + 3) &&
	       is_inside(target) && *target != '.' && slash && slash > target &&
	       strncmp(slash + 1, id, 2) == 0 && strcmp(slash + 3, id + 3) == 0;
}

static bool may_extract(const struct tar_input *t)
{
	if (!is_inside(t->name) || libarchive.entry_hardlink(t->entry) ||
	    libarchive.entry_sparse_count(t->entry))
		return false;
	switch (libarchive.entry_filetype(t->entry)) {
	case AE_IFREG: return libarchive.entry_size(t->entry) <= OBJECT_MAX;
	case AE_IFLNK: return is_id_link(t);
	case AE_IFDIR: return true;
	default: return false;
	}
}

/* Whether the entry exists already and need not be extracted. A dangling link is replaced. */
static bool exists(const struct tar_input *t, int dir)
{
	bool is_link = libarchive.entry_filetype(t->entry) == AE_IFLNK;

	return faccessat(dir, t->name, F_OK, is_link ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
}

/* Extracts one entry; `disk` writes to the current directory, which is also open as `dir`. */
static int extract_entry(const struct tar_input *t, struct archive *disk, int dir,
			 struct archive_unpacked *out, struct tacho_error *e)
{
	bool is_file = libarchive.entry_filetype(t->entry) == AE_IFREG;
	unsigned perm = libarchive.entry_perm(t->entry) & 0777;

	if (!may_extract(t))
		return refuse_entry(t, e);
	if (exists(t, dir)) {
		out->present_files += is_file;
		return 0;
	}
	libarchive.entry_set_perm(t->entry, is_file ? perm | 0400 : 0755);
	/* A refused entry is only a warning to archive_read_extract2(). */
	if (libarchive.read_extract2(t->archive, t->entry, disk) != ARCHIVE_OK) {
		if (is_file)	/* it did not exist before */
			unlinkat(dir, t->name, 0);
		return extraction_failed(t, t->archive, e);
	}
	out->new_files += is_file;
	return 0;
}

/* Extracts `t`, whose first entry has been read, into the cache. libarchive extracts into the current
 * directory only, so the process moves to the cache and stays there. */
static int unpack_objects(struct tar_input *t, struct cache_dir *cache, struct archive_unpacked *out,
			  struct tacho_error *e)
{
	struct archive *disk;
	int err = 0, more;

	if (fchdir(cache->fd) < 0)
		return error_set(e, -errno, "cannot enter '%s': %s", cache->path, strerror(errno));
	disk = libarchive.write_disk_new();
	if (!disk)
		return error_nomem(e);
	libarchive.write_disk_set_options(disk, EXTRACT_SECURELY);
	do {
		err = extract_entry(t, disk, cache->fd, out, e);
		more = err < 0 ? err : tar_next(t, e);
	} while (more > 0);
	libarchive.write_free(disk);
	return more;
}

/* The name for an unpacked recording: that of the entry if recordings are called so, otherwise perf.data, because an
 * archive must not create a file like .profile. NULL: the entry is not a plain file. */
static const char *recording_name(const struct tar_input *t)
{
	struct str name = str_of(t->name);

	if (strchr(t->name, '/') || !is_inside(t->name))
		return NULL;
	return isalnum((unsigned char)name.s[0]) && strstr(name.s, ".data") && str_is_printable(name) ? name.s :
													   "perf.data";
}

static bool is_recording(int fd)
{
	char magic[8];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       (memcmp(magic, "PERFILE2", 8) == 0 || memcmp(magic, "2ELIFREP", 8) == 0);
}

/* Gives the complete recording its name. */
static int name_recording(const char *temporary, const char *name, bool force, struct tacho_error *e)
{
	bool replace = force && io_is_regular_file(name);
	int err = 0;

	if (renameat2(AT_FDCWD, temporary, AT_FDCWD, name, replace ? 0 : RENAME_NOREPLACE) < 0)
		err = -errno;
	if (err == -EINVAL)		/* the file system cannot do it */
		err = link(temporary, name) < 0 ? -errno : 0;
	unlink(temporary);		/* rename() has removed it already */
	if (err == 0)
		return 0;
	if (err != -EEXIST)
		return error_set(e, err, "cannot write '%s': %s", name, strerror(-err));
	error_set(e, err, "'%s' exists already", name);
	if (force)
		error_hint(e, "it is not a regular file, so it is not overwritten");
	else
		error_hint(e, "--force overwrites it");
	return err;
}

/* Extracts the recording of an archive of --all into the current directory. */
static int unpack_recording(const struct tar_input *t, bool force, struct archive_unpacked *out,
			    struct tacho_error *e)
{
	char temporary[] = "perf.data.XXXXXX";
	const char *name = recording_name(t);
	scoped(closep) int fd = -1;
	int err;

	if (!name)
		return error_set(e, -EBADMSG, "'%s' has a recording called '%s', which is not a plain file name",
				 t->path, t->shown);
	if (out->recording)
		return error_set(e, -EBADMSG, "'%s' has more than one recording", t->path);
	out->recording = str_dup(str_of(name));
	if (!out->recording)
		return error_nomem(e);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return error_set(e, -errno, "cannot write to the current directory: %s", strerror(errno));
	if (libarchive.read_data_into_fd(t->archive, fd) < ARCHIVE_WARN)
		err = extraction_failed(t, t->archive, e);
	else if (!is_recording(fd))
		err = error_set(e, -EBADMSG, "'%s' in '%s' is not a recording", t->shown, t->path);
	else
		return name_recording(temporary, name, force, e);
	unlink(temporary);
	return err;
}

static int unpack_inner(const struct tar_input *t, int *inner, struct tacho_error *e)
{
	if (*inner >= 0 || libarchive.entry_size(t->entry) > INNER_MAX)
		return refuse_entry(t, e);
	*inner = memfd_create("symbols", MFD_CLOEXEC);
	if (*inner < 0)
		return error_set(e, -errno, "cannot unpack '%s': %s", t->shown, strerror(errno));
	return libarchive.read_data_into_fd(t->archive, *inner) < ARCHIVE_WARN ?
	       extraction_failed(t, t->archive, e) : 0;
}

/* Unpacks an archive of --all, whose first entry has been read: the recording and the archive of objects. */
static int unpack_all(struct tar_input *t, const struct archive_opts *o, struct cache_dir *cache,
		      struct archive_unpacked *out, struct tacho_error *e)
{
	scoped(closep) int inner = -1;
	struct tar_input objects;
	int err, more;

	do {
		if (libarchive.entry_filetype(t->entry) != AE_IFREG || libarchive.entry_hardlink(t->entry) ||
		    libarchive.entry_sparse_count(t->entry))
			err = refuse_entry(t, e);
		else if (strncmp(t->name, ARCHIVE_SYMBOLS, strlen(ARCHIVE_SYMBOLS)) == 0)
			err = unpack_inner(t, &inner, e);
		else
			err = unpack_recording(t, o->force, out, e);
		more = err < 0 ? err : tar_next(t, e);
	} while (more > 0);
	if (more < 0)
		return more;
	if (inner < 0 || lseek(inner, 0, SEEK_SET) < 0)
		return error_set(e, -EBADMSG, "'%s' has no archive of objects in it", t->path);
	more = tar_open(&objects, inner, t->path, e);
	if (more > 0)
		more = unpack_objects(&objects, cache, out, e);
	tar_close(&objects);
	return more;
}

int archive_unpack(const char *path, const struct archive_opts *o, struct cache_dir *cache,
		   struct archive_unpacked *out, struct tacho_error *e)
{
	scoped(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct tar_input t;
	int more;

	if (fd < 0)
		return error_set(e, -errno, "cannot open '%s': %s", path, strerror(errno));
	more = tar_open(&t, fd, path, e);
	if (more > 0)		/* the entries of an archive of --all are plain file names */
		more = strchr(t.name, '/') ? unpack_objects(&t, cache, out, e) : unpack_all(&t, o, cache, out, e);
	tar_close(&t);
	return more;
}
