/*
 * Packs the objects of a recording. If an object is in the build ID cache, everything that the cache
 * has for it is packed; otherwise the file itself, provided it still has the recorded build ID. Entries
 * are owned by root and have the files' modification times, so packing the same objects again yields an
 * identical archive.
 */
#include "cli/files/archive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "base/error.h"
#include "base/io.h"
#include "cli/files/build_id_table.h"
#include "cli/files/libarchive.h"

/* An archive that is being written. */
struct tar_output {
	struct archive *archive;
	struct archive_entry *entry;	/* reused for each entry */
	int err;			/* first error that makes the archive unusable */
};

struct packer {
	const struct archive_opts *opts;
	struct cache_dir cache;
	struct buf excluded;		/* content of the --exclude-buildids file: an ID per line */
	struct tar_output tar;
	int n_packed;
};

/* Records an error if libarchive's `status` is a failure. Returns 0 or the first error. */
static int check_written(struct tar_output *t, ssize_t status)
{
	if (status < ARCHIVE_WARN && !t->err)
		t->err = t->archive ? libarchive_error(t->archive) : -ENOMEM;
	return t->err;
}

static int tar_open(struct tar_output *t, const struct archive_compression *c, int fd, struct tacho_error *e)
{
	int err = libarchive_load(e);

	if (err < 0)
		return err;
	t->archive = libarchive.write_new();
	t->entry = libarchive.entry_new();
	if (!t->archive || !t->entry)
		return error_nomem(e);
	check_written(t, libarchive.write_set_format_gnutar(t->archive));
	if (!t->err && c->filter)
		check_written(t, libarchive.write_add_filter_by_name(t->archive, c->filter));
	if (!t->err && c->filter && strcmp(c->filter, "gzip") == 0)
		libarchive.write_set_filter_option(t->archive, "gzip", "timestamp", NULL);
	if (!t->err)
		check_written(t, libarchive.write_open_fd(t->archive, fd));
	if (t->err)
		error_set(e, t->err, "cannot write the archive: %s", libarchive.error_string(t->archive));
	return t->err;
}

/* Completes the archive and frees it. `err`: result of packing so far. */
static int tar_close(struct tar_output *t, int err, struct tacho_error *e)
{
	const char *reason;

	if (err == 0 && t->archive)
		err = check_written(t, libarchive.write_close(t->archive));
	if (t->err) {
		reason = t->err == -EIO ? libarchive.error_string(t->archive) : NULL;
		error_set(e, t->err, "cannot write the archive: %s", reason ? reason : strerror(-t->err));
	} else if (err < 0 && e->code == 0) {
		error_set(e, err, "cannot write the archive: %s", strerror(-err));
	}
	if (t->archive)
		libarchive.write_free(t->archive);
	if (t->entry)
		libarchive.entry_free(t->entry);
	*t = (struct tar_output){ 0 };
	return err;
}

/* Prepares the next entry; its size or link target is set by the caller. */
static void begin_entry(struct tar_output *t, const char *name, unsigned mode, time_t mtime)
{
	libarchive.entry_clear(t->entry);
	libarchive.entry_set_pathname(t->entry, name);
	libarchive.entry_set_filetype(t->entry, mode & S_IFMT);
	libarchive.entry_set_perm(t->entry, mode & 0777);
	libarchive.entry_set_mtime(t->entry, mtime > 0 ? mtime : 0, 0);
	libarchive.entry_set_uname(t->entry, "root");
	libarchive.entry_set_gname(t->entry, "root");
	libarchive.entry_set_size(t->entry, 0);
}

static int put_header(struct tar_output *t)
{
	return t->err ? t->err : check_written(t, libarchive.write_header(t->archive, t->entry));
}

static int put_bytes(struct tar_output *t, const char *name, const struct buf *bytes)
{
	int err;

	begin_entry(t, name, S_IFREG | 0644, 0);
	libarchive.entry_set_size(t->entry, (int64_t)bytes->n);
	err = put_header(t);
	return err ? err : check_written(t, libarchive.write_data(t->archive, bytes->bytes, bytes->n));
}

static int put_link(struct tar_output *t, const char *name, const char *target, time_t mtime)
{
	begin_entry(t, name, S_IFLNK | 0777, mtime);
	libarchive.entry_set_symlink(t->entry, target);
	return put_header(t);
}

/* Writes a file as an entry of exactly st_size bytes: if the file has grown or shrunk meanwhile, libarchive
 * truncates it or pads it with zeros. */
static int put_open_file(struct tar_output *t, const char *name, int fd, const struct stat *st)
{
	char bytes[1 << 16];
	ssize_t n = 0;
	int err;

	begin_entry(t, name, S_IFREG | (st->st_mode & 0777), st->st_mtime);
	libarchive.entry_set_size(t->entry, st->st_size);
	err = put_header(t);
	while (err == 0 && ((n = read(fd, bytes, sizeof(bytes))) > 0 || (n < 0 && errno == EINTR)))
		if (n > 0)
			err = check_written(t, libarchive.write_data(t->archive, bytes, (size_t)n));
	if (err == 0 && n < 0)		/* an incomplete file would be worse than no archive */
		err = t->err = -errno;
	return err ? err : check_written(t, libarchive.write_finish_entry(t->archive));
}

static int put_id_link(struct packer *p, const char *id, const char *folder, time_t mtime)
{
	scoped(buf_done) struct buf target = { 0 };
	char link[80];

	snprintf(link, sizeof(link), ".build-id/%.2s/%s", id, id + 2);
	buf_printf(&target, "../../%s", folder);
	return buf_failed(&target) ? -ENOMEM : put_link(&p->tar, link, target.bytes, mtime);
}

static int put_file_at(struct packer *p, int dir, const char *file, const char *name)
{
	scoped(closep) int fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? put_open_file(&p->tar, name, fd, &st) : 0;
}

/* Packs a cache entry: the link of its build ID, its directory and all files in it. -ENOENT: not cached. */
static int put_cached(struct packer *p, const char *id)
{
	char folder[PATH_MAX];
	struct dirent *entry;
	struct stat st;
	DIR *d;
	int err, fd;

	if (p->cache.fd < 0 || cache_folder(&p->cache, id, folder, sizeof(folder)) < 0)
		return -ENOENT;
	fd = openat(p->cache.fd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d || fstat(fd, &st) < 0) {
		closep(&fd);
		return -ENOENT;
	}
	err = put_id_link(p, id, folder, st.st_mtime);
	if (err == 0) {
		begin_entry(&p->tar, folder, S_IFDIR | 0755, st.st_mtime);
		err = put_header(&p->tar);
	}
	while (err == 0 && (entry = readdir(d))) {
		scoped(buf_done) struct buf name = { 0 };

		if (entry->d_name[0] == '.')
			continue;
		buf_printf(&name, "%s/%s", folder, entry->d_name);
		err = buf_failed(&name) ? -ENOMEM : put_file_at(p, fd, entry->d_name, name.bytes);
	}
	closedir(d);
	return err;
}

static bool same_id(const struct file_object *obj, const uint8_t *id, int n)
{
	return n > 0 && (size_t)n <= obj->n && memcmp(obj->id, id, (size_t)n) == 0;
}

/* Packs the running kernel's symbols, /proc/kallsyms. */
static int put_kernel(struct packer *p, const struct file_object *obj, const char *id)
{
	scoped(buf_done) struct buf symbols = { 0 }, folder = { 0 }, name = { 0 };
	uint8_t running[20] = { 0 };
	int err = kernel_build_id(running);

	if (!same_id(obj, running, err))
		return -ESTALE;
	err = io_read("/proc/kallsyms", IO_FILE_MAX, &symbols);
	if (err < 0)
		return err;
	if (symbols.n < 17 || strncmp(symbols.bytes, "0000000000000000 ", 17) == 0)
		return -EACCES;			/* addresses are hidden by kptr_restrict */
	buf_printf(&folder, "[kernel.kallsyms]/%s", id);
	buf_printf(&name, "%s/kallsyms", folder.bytes ? folder.bytes : "");
	if (buf_failed(&folder) || buf_failed(&name))
		return -ENOMEM;
	err = put_id_link(p, id, folder.bytes, 0);
	return err < 0 ? err : put_bytes(&p->tar, name.bytes, &symbols);
}

static int put_uncached(struct packer *p, const struct file_object *obj, const char *id)
{
	scoped(buf_done) struct buf folder = { 0 }, name = { 0 };
	scoped(closep) int fd = -1;
	uint8_t id_now[20];
	struct stat st;
	int err = tacho_build_id_of_file(obj->path, id_now);

	if (err < 0)
		return err;
	if (!same_id(obj, id_now, err))
		return -ESTALE;
	fd = io_open_regular(obj->path);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	buf_printf(&folder, "%s/%s", obj->path + 1, id);
	buf_printf(&name, "%s/elf", folder.bytes ? folder.bytes : "");
	if (buf_failed(&folder) || buf_failed(&name))
		return -ENOMEM;
	err = put_id_link(p, id, folder.bytes, st.st_mtime);
	return err < 0 ? err : put_open_file(&p->tar, name.bytes, fd, &st);
}

/* Returns whether the ID is excluded. Lines may have the format of `buildid-list`: only the first word
 * counts. */
static bool is_excluded(const struct packer *p, const char *id)
{
	struct str rest = buf_view(&p->excluded), line, first;

	while (str_cut(&rest, '\n', &line)) {
		line = str_trim(line);
		if (str_cut(&line, ' ', &first) && str_is(first, id))
			return true;
	}
	return false;
}

static const char *omission_reason(const struct file_object *obj, int err)
{
	if (err == -EACCES && obj->kernel)
		return "its symbols' addresses are hidden from this user (kptr_restrict)";

	switch (err) {
	case -ESTALE: return "the file has changed since it was recorded";
	case -ENOENT: return "it is neither in the cache nor at its recorded path";
	default: return strerror(-err);
	}
}

static void report_omission(const struct file_object *obj, int err)
{
	scoped(buf_done) struct buf path = { 0 };

	buf_text(&path, str_of(obj->path));
	message_text("archive", "%s is left out: %s", buf_failed(&path) ? "an object" : path.bytes,
		     omission_reason(obj, err));
}

/* An object that cannot be packed is left out with a message. Fails only when the archive cannot be written. */
static int put_object(struct packer *p, const struct file_object *obj)
{
	char id[41];
	int err;

	build_id_text(obj->id, obj->n, id);
	if (obj->n < 4 || is_excluded(p, id))
		return 0;
	err = put_cached(p, id);
	if (err == -ENOENT && obj->kernel && strncmp(obj->path, "[kernel", 7) == 0)
		err = put_kernel(p, obj, id);
	else if (err == -ENOENT && obj->path[0] == '/')
		err = put_uncached(p, obj, id);
	if (p->tar.err || err == -ENOMEM)
		return err;
	if (err < 0 && strcmp(obj->path, "[vdso]") != 0)	/* each machine has its own vDSO */
		report_omission(obj, err);
	p->n_packed += err == 0;
	return 0;
}

int archive_objects(const struct archive_opts *o, const struct file_objects *objects,
		    const struct archive_compression *c, int fd, struct tacho_error *e)
{
	struct packer p = { .opts = o, .cache.fd = -1 };
	int err = o->exclude ? io_read(o->exclude, IO_FILE_MAX, &p.excluded) : 0;

	if (err < 0)
		return error_set(e, err, "cannot read '%s': %s", o->exclude, strerror(-err));
	cache_open(&p.cache, NULL, false, NULL);	/* there may be no cache */
	err = tar_open(&p.tar, c, fd, e);
	for (size_t i = 0; err == 0 && i < objects->list.n; i++)
		err = put_object(&p, &objects->list.v[i]);
	err = tar_close(&p.tar, err, e);
	cache_close(&p.cache);
	buf_done(&p.excluded);
	return err < 0 ? err : p.n_packed;
}

int archive_all(const char *recording, int symbols, const struct archive_compression *c, int fd,
		struct tacho_error *e)
{
	scoped(closep) int data = open(recording, O_RDONLY | O_CLOEXEC);
	const char *slash = strrchr(recording, '/');
	struct tar_output tar = { 0 };
	struct stat st, symbols_st;
	int err;

	if (data < 0 || fstat(data, &st) < 0 || fstat(symbols, &symbols_st) < 0 ||
	    lseek(symbols, 0, SEEK_SET) < 0)
		return error_set(e, -errno, "cannot read '%s': %s", recording, strerror(errno));
	symbols_st.st_mode = 0644;
	err = tar_open(&tar, c, fd, e);
	if (err == 0)
		err = put_open_file(&tar, slash ? slash + 1 : recording, data, &st);
	if (err == 0)
		err = put_open_file(&tar, c->symbols, symbols, &symbols_st);
	return tar_close(&tar, err, e);
}
