/*
 * Packing the objects of a recording. One that is in the cache goes with all that the cache has of
 * it; else its file is taken, if it still is the one that was recorded.
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
#include "cli/core/compressor.h"
#include "cli/files/tar.h"

struct pack {
	const struct archive_opts *opts;
	struct cache_dir cache;
	struct buf excluded;		/* text, an id per line */
	int out;
	int n;
};

static int put_id_link(struct pack *p, const char *id, const char *folder, time_t mtime)
{
	scoped(buf_done) struct buf target = { 0 };
	char link[80];

	snprintf(link, sizeof(link), ".build-id/%.2s/%s", id, id + 2);
	buf_printf(&target, "../../%s", folder);
	return buf_failed(&target) ? -ENOMEM : tar_put_link(p->out, link, target.bytes, mtime);
}

static int put_one(struct pack *p, int dir, const char *file, const char *name)
{
	scoped(closep) int fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? tar_put_file(p->out, name, fd, &st) : 0;
}

/* The link, the folder and every file in it. */
static int put_cached(struct pack *p, const char *id)
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
	if (err == 0)
		err = tar_put_dir(p->out, folder, st.st_mtime);
	while (err == 0 && (entry = readdir(d))) {
		scoped(buf_done) struct buf name = { 0 };

		if (entry->d_name[0] == '.')
			continue;
		buf_printf(&name, "%s/%s", folder, entry->d_name);
		err = buf_failed(&name) ? -ENOMEM : put_one(p, fd, entry->d_name, name.bytes);
	}
	closedir(d);
	return err;
}

static bool same_id(const struct file_object *obj, const uint8_t *id, int n)
{
	return n > 0 && (size_t)n <= obj->n && memcmp(obj->id, id, (size_t)n) == 0;
}

static int put_kernel(struct pack *p, const struct file_object *obj, const char *id)
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
		return -EACCES;			/* addresses are hidden from us */
	buf_printf(&folder, "[kernel.kallsyms]/%s", id);
	buf_printf(&name, "%s/kallsyms", folder.bytes ? folder.bytes : "");
	if (buf_failed(&folder) || buf_failed(&name))
		return -ENOMEM;
	err = put_id_link(p, id, folder.bytes, 0);
	return err < 0 ? err : tar_put_bytes(p->out, name.bytes, symbols.bytes, symbols.n, 0);
}

static int put_file(struct pack *p, const struct file_object *obj, const char *id)
{
	scoped(buf_done) struct buf folder = { 0 }, name = { 0 };
	scoped(closep) int fd = -1;
	uint8_t own[20];
	struct stat st;
	int err = tacho_build_id_of_file(obj->path, own);

	if (err < 0)
		return err;
	if (!same_id(obj, own, err))
		return -ESTALE;
	fd = open(obj->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	buf_printf(&folder, "%s/%s", obj->path + 1, id);
	buf_printf(&name, "%s/elf", folder.bytes ? folder.bytes : "");
	if (buf_failed(&folder) || buf_failed(&name))
		return -ENOMEM;
	err = put_id_link(p, id, folder.bytes, st.st_mtime);
	return err < 0 ? err : tar_put_file(p->out, name.bytes, fd, &st);
}

static bool is_excluded(const struct pack *p, const char *id)
{
	struct str rest = buf_view(&p->excluded), line, word;

	while (str_cut(&rest, '\n', &line)) {
		line = str_trim(line);		/* lines of buildid-list will do */
		if (str_cut(&line, ' ', &word) && str_is(word, id))
			return true;
	}
	return false;
}

static const char *why(const struct file_object *obj, int err)
{
	if (err == -EACCES && obj->kernel)
		return "its symbols' addresses are hidden from this user (kptr_restrict)";

	switch (err) {
	case -ESTALE: return "it is not the one that was recorded any more";
	case -ENOENT: return "it is neither in the cache nor where it was";
	default: return strerror(-err);
	}
}

static int put_object(struct pack *p, const struct file_object *obj)
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
		err = put_file(p, obj, id);
	if (err == -EPIPE || err == -ENOSPC || err == -EIO || err == -ENOMEM)
		return err;
	if (err < 0 && strcmp(obj->path, "[vdso]") != 0)	/* its symbols are known everywhere */
		message_text("archive", "%s is left out: %s", obj->path, why(obj, err));
	p->n += err == 0;
	return 0;
}

static int read_excluded(struct pack *p, struct tacho_error *e)
{
	int err = p->opts->exclude ? io_read(p->opts->exclude, IO_FILE_MAX, &p->excluded) : 0;

	if (err < 0)
		error_set(e, err, "cannot read '%s': %s", p->opts->exclude, strerror(-err));
	return err;
}

static int packer_failed(const struct filter *f, int err, struct tacho_error *e)
{
	if (f->program && (err == -EIO || err == -EPIPE)) {
		error_set(e, err, "'%s' failed", f->program);
		error_hint(e, "is it installed, and is there room? -o FILE.tar needs no packer");
		return err;
	}
	return error_set(e, err, "cannot write the archive: %s", strerror(-err));
}

int archive_objects(const struct archive_opts *o, const struct file_objects *objects,
		    const char *program, int fd, struct tacho_error *e)
{
	struct pack p = { .opts = o, .cache.fd = -1 };
	struct filter f = { .fd = -1 };
	int err = read_excluded(&p, e), ended;

	if (err < 0)
		return err;
	cache_open(&p.cache, NULL, false, NULL);	/* there may be none */
	err = filter_pack(&f, program, fd);
	p.out = f.fd;
	for (size_t i = 0; err == 0 && i < objects->list.n; i++)
		err = put_object(&p, &objects->list.v[i]);
	if (err == 0)
		err = tar_put_end(p.out);
	ended = filter_end(&f);
	err = err ? err : ended;
	cache_close(&p.cache);
	buf_done(&p.excluded);
	return err < 0 ? packer_failed(&f, err, e) : p.n;
}

int archive_all(const char *recording, int symbols, const char *program, int fd, struct tacho_error *e)
{
	scoped(closep) int data = open(recording, O_RDONLY | O_CLOEXEC);
	const char *slash = strrchr(recording, '/');
	struct filter f = { .fd = -1 };
	struct stat st, packed;
	char name[64];
	int err, ended;

	if (data < 0 || fstat(data, &st) < 0 || fstat(symbols, &packed) < 0 || lseek(symbols, 0, SEEK_SET) < 0)
		return error_set(e, -errno, "cannot read '%s': %s", recording, strerror(errno));
	packed.st_mode = 0644;
	snprintf(name, sizeof(name), "%s%s", ARCHIVE_SYMBOLS, filter_suffix(program));
	err = filter_pack(&f, program, fd);
	if (err == 0)
		err = tar_put_file(f.fd, slash ? slash + 1 : recording, data, &st);
	if (err == 0)
		err = tar_put_file(f.fd, name, symbols, &packed);
	if (err == 0)
		err = tar_put_end(f.fd);
	ended = filter_end(&f);
	err = err ? err : ended;
	return err < 0 ? packer_failed(&f, err, e) : 0;
}
