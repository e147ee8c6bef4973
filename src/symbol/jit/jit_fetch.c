/*
 * Copies the perf map of a process in a container to where readers of a recording look for it. Anyone in the container
 * can write to its /tmp, and everyone to ours: symbolic links are not followed, the map must belong to the process's user,
 * and the copy replaces whatever has its name.
 */
#include <tacho/jit.h>

#include "symbol/jit/jit_files.h"
#include "symbol/jit/perfmap.h"

#include "base/error.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#define COPY_BYTES 65536u

struct fetched_map {
	char path[48], temporary[64];	/* of the copy */
	int from, to;
	struct stat st;			/* of the map */
	uid_t owner;			/* of the process */
};

static bool same_inode(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether the process's map already has the name at which readers look for it. */
static bool is_in_place(const char *tmp_path, int pid, int inner_pid)
{
	struct stat own, theirs;

	return pid == inner_pid && stat("/tmp", &own) == 0 && stat(tmp_path, &theirs) == 0 && same_inode(&own, &theirs);
}

/* Opens the map. 1, 0: there is none to be copied, or a negative errno. */
static int open_map(struct fetched_map *m, int pid, struct tacho_error *e)
{
	char path[64], name[32];
	scoped(closep) int tmp = -1;
	struct stat process;
	int inner;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	inner = (int)jit_inner_pid(path, (uint32_t)pid);
	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &process) < 0)
		return 0;
	m->owner = process.st_uid;
	snprintf(path, sizeof(path), "/proc/%d/root/tmp", pid);
	if (is_in_place(path, pid, inner))
		return 0;
	tmp = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (tmp < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 :
			error_set(e, -errno, "cannot open /tmp of process %d: %s", pid, strerror(errno));
	snprintf(name, sizeof(name), "perf-%d.map", inner);
	m->from = openat(tmp, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (m->from < 0)
		return errno == ENOENT ? 0 : error_set(e, -errno, "cannot open %s of process %d: %s", name, pid,
						       strerror(errno));
	if (fstat(m->from, &m->st) < 0 || !S_ISREG(m->st.st_mode) || m->st.st_size > (off_t)PERFMAP_MAX)
		return error_set(e, -EINVAL, "%s of process %d is not a usable file", name, pid);
	if (m->st.st_uid != m->owner && m->st.st_uid != 0 && m->st.st_uid != geteuid())
		return error_set(e, -EPERM, "%s of process %d belongs to another user", name, pid);
	return m->st.st_size > 0;
}

/* Whether an earlier copy has everything that the map has now. */
static bool is_copied(const struct fetched_map *m)
{
	struct stat st;

	return lstat(m->path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_size == m->st.st_size &&
	       st.st_mtime >= m->st.st_mtime;
}

static int copy_bytes(const struct fetched_map *m)
{
	char bytes[COPY_BYTES];
	int64_t left = m->st.st_size;

	while (left > 0) {
		ssize_t n = read(m->from, bytes, (size_t)min_of(left, (int64_t)sizeof(bytes)));
		int err;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		err = io_write_all(m->to, bytes, (size_t)n);
		if (err < 0)
			return err;
		left -= n;
	}
	return 0;
}

static int copy_map(struct fetched_map *m, struct tacho_error *e)
{
	int err;

	m->to = mkostemp(m->temporary, O_CLOEXEC);
	if (m->to < 0)
		return error_set(e, -errno, "cannot create a file in /tmp: %s", strerror(errno));
	err = copy_bytes(m);
	if (err == 0 && rename(m->temporary, m->path) < 0)
		err = -errno;
	if (err < 0)
		unlink(m->temporary);
	return err < 0 ? error_set(e, err, "cannot write %s: %s", m->path, strerror(-err)) : 1;
}

int tacho_jit_fetch_map(int pid, struct tacho_error *e)
{
	struct fetched_map m = { .from = -1, .to = -1 };
	int err;

	snprintf(m.path, sizeof(m.path), "/tmp/perf-%d.map", pid);
	snprintf(m.temporary, sizeof(m.temporary), "%s.XXXXXX", m.path);
	err = open_map(&m, pid, e);
	if (err > 0)
		err = is_copied(&m) ? 0 : copy_map(&m, e);
	closep(&m.from);
	closep(&m.to);
	return err;
}
