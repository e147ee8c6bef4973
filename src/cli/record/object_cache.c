/*
 * Puts the objects that samples were taken in into the build ID cache, so that the recording can be resolved after
 * its programs were rebuilt or updated. Most are in the cache already; then it costs one system call each. What
 * cannot be cached is reported with -v only: the recording is complete without it.
 *
 * The symbols of the running kernel take 50 ms to read and some megabytes. They are cached if the samples extend over a
 * second, so that short recordings stay quick.
 */
#include "cli/record/record.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/io.h"
#include "cli/files/build_id_cache.h"
#include "cli/files/build_id_table.h"

#include <tacho/symbol.h>

#define OBJECT_MAX (1u << 30)		/* larger files are not cached */

#define LONG_NS 1000000000u		/* from this length on, the kernel's symbols are cached */

struct object_cacher {
	const struct record_opts *opts;
	bool wants_kernel;
	struct cache_dir dir;
};

static bool has_build_id(int fd, const struct tacho_sampled_object *o)
{
	uint8_t id[20];
	char path[32];
	int n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = tacho_build_id_of_file(path, id);
	/* Kernels pad build IDs to 20 bytes, so only the shorter length is compared. */
	return n > 0 && memcmp(id, o->build_id, min_of((size_t)n, (size_t)o->n_build_id)) == 0;
}

/* Opens the path if it is a file of the object's build. */
static int open_build(const char *path, const struct tacho_sampled_object *o)
{
	int fd = io_open_regular(path);

	if (fd < 0 || has_build_id(fd, o))
		return fd;
	close(fd);
	return -ESTALE;
}

/* Opens the object's file: as a process that maps it sees it, which may run in a container or after the program was
 * deleted, or else as this process does. */
static int open_object(const struct tacho_sampled_object *o, const char *path)
{
	struct buf name = { 0 };
	int fd = -ENOENT;

	if (o->pid) {
		buf_printf(&name, "/proc/%d/root%s", o->pid, path);
		fd = buf_failed(&name) ? -ENOMEM : open_build(name.bytes, o);
		buf_clear(&name);
		buf_printf(&name, "/proc/%d/exe", o->pid);
		if (fd < 0 && !buf_failed(&name))
			fd = open_build(name.bytes, o);
		buf_done(&name);
	}
	return fd < 0 ? open_build(path, o) : fd;
}

/* Whether the kernel shows addresses: without permission all of them are 0. */
static bool has_addresses(struct str kallsyms)
{
	struct str line;

	while (str_cut(&kallsyms, '\n', &line))
		if (line.n > 16 && strspn(line.s, "0") < 16)
			return true;
	return false;
}

static int cache_kernel(struct object_cacher *c, const char *id)
{
	scoped(buf_done) struct buf text = { 0 };
	int err = io_read("/proc/kallsyms", IO_FILE_MAX, &text);

	if (err < 0)
		return err;
	return has_addresses(buf_view(&text)) ? cache_add_kallsyms(&c->dir, id, buf_view(&text)) : -EACCES;
}

static int cache_object(void *arg, const struct tacho_sampled_object *o)
{
	static const char mark[] = " (deleted)";
	struct object_cacher *c = arg;
	struct str path = str_of(o->path);
	scoped(freep) char *plain = NULL;
	scoped(closep) int fd = -1;
	char id[41];
	struct stat st;
	int err;

	build_id_text(o->build_id, o->n_build_id, id);
	if (cache_has(&c->dir, id))
		return 0;
	if (o->kernel && c->wants_kernel && str_is(path, "[kernel.kallsyms]")) {
		err = cache_kernel(c, id);
		if (err < 0 && c->opts->verbose)
			message_text("record", "no copy of the kernel's symbols in the build ID cache: %s", strerror(-err));
	}
	if (path.n == 0 || path.s[0] != '/' || o->kernel)
		return 0;
	if (str_ends(path, mark))
		path.n -= sizeof(mark) - 1;
	plain = str_dup(path);
	if (!plain)
		return -ENOMEM;
	fd = open_object(o, plain);
	err = fd < 0 ? fd : fstat(fd, &st) < 0 ? -errno : st.st_size > OBJECT_MAX ? -EFBIG : 0;
	if (err == 0)
		err = cache_add_open(&c->dir, fd, plain, id);
	if (err < 0 && err != -EEXIST && c->opts->verbose)
		message_text("record", "no copy of '%s' in the build ID cache: %s", plain, strerror(-err));
	return 0;
}

void record_cache_objects(const struct record_opts *o, struct tacho_sampler *s)
{
	struct tacho_sampler_stats stats = { .size = sizeof(stats) };
	struct object_cacher c = { .opts = o, .dir.fd = -1 };
	struct tacho_error e = { .column = -1 };
	int err;

	if (!cache_is_own(NULL)) {
		if (o->verbose)
			message_text("record", "the build ID cache is not updated: it belongs to another user, or "
				     "there is no home directory");
		return;
	}
	tacho_sampler_stats(s, SIZE_MAX, &stats);
	c.wants_kernel = stats.last_ns - stats.first_ns >= LONG_NS;
	err = cache_open(&c.dir, NULL, true, &e);
	if (err == 0)
		tacho_sampler_objects(s, o->all_build_ids, cache_object, &c);
	else if (o->verbose)
		message_error("record", NULL, NULL, &e);
	cache_close(&c.dir);
}
