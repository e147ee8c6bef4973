/*
 * Finds, opens and lists control groups.
 */
#include "sys/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/io.h"

#define DEPTH_MAX 64

/* One line of /proc/mounts: device, directory, type, options. */
struct mount_line {
	struct str dir, type, options;
};

static bool split_mount(struct str line, struct mount_line *out)
{
	struct str device;

	return str_cut(&line, ' ', &device) && str_cut(&line, ' ', &out->dir) &&
	       str_cut(&line, ' ', &out->type) && str_cut(&line, ' ', &out->options);
}

static bool has_option(struct str options, const char *name)
{
	struct str word;

	while (str_cut(&options, ',', &word))
		if (str_is(word, name))
			return true;
	return false;
}

/* The kernel writes blanks and other special characters of a mount point in octal: \040. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
		    from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
			*to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0');
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

int cgroup_mount(const struct sys *sys, char *out, size_t size)
{
	scoped(buf_done) struct buf text = { 0 };
	char path[PATH_MAX];
	struct str rest, line;
	struct mount_line mount;
	bool found = false;
	int err;

	snprintf(path, sizeof(path), "%s/mounts", sys->procfs);
	err = io_read(path, IO_FILE_MAX, &text);
	if (err < 0)
		return err;
	rest = buf_view(&text);
	while (str_cut(&rest, '\n', &line)) {
		bool v1;

		if (!split_mount(line, &mount))
			continue;
		v1 = str_is(mount.type, "cgroup") && has_option(mount.options, "perf_event");
		if (!v1 && (found || !str_is(mount.type, "cgroup2")))
			continue;
		if (mount.dir.n >= size)
			return -ENAMETOOLONG;
		snprintf(out, size, "%.*s", STR(mount.dir));
		unescape(out);
		found = true;
		if (v1)
			break;
	}
	return found ? 0 : -ENOENT;
}

static bool is_below(const char *path, const char *mount)
{
	size_t n = strlen(mount);

	return strncmp(path, mount, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

int cgroup_open(const struct sys *sys, const char *path)
{
	char mount[PATH_MAX], full[PATH_MAX];
	int err = cgroup_mount(sys, mount, sizeof(mount)), n, fd;

	if (err < 0)
		return err;
	if (is_below(path, mount))
		n = snprintf(full, sizeof(full), "%s", path);
	else
		n = snprintf(full, sizeof(full), "%s/%s", mount, path);
	if (n >= (int)sizeof(full))
		return -ENAMETOOLONG;
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int cgroup_check(const struct sys *sys, const char *path, struct tacho_error *e)
{
	scoped(closep) int fd = cgroup_open(sys, path);
	char mount[PATH_MAX];

	if (fd >= 0)
		return 0;
	if (cgroup_mount(sys, mount, sizeof(mount)) < 0) {
		error_set(e, fd, "no cgroup hierarchy with perf events is mounted, so '%s' cannot "
			  "be counted", path);
		error_hint(e, "mount -t cgroup2 none /sys/fs/cgroup");
		return fd;
	}
	error_set(e, fd, "no cgroup is called '%s' below %s: %s", path, mount, strerror(-fd));
	return fd;
}

static void closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static int by_name(const void *a, const void *b)
{
	return str_natcmp(*(char *const *)a, *(char *const *)b);
}

/* The directories below `path`, sorted. A group also has dozens of files, which are told apart without looking at each. */
static int list_groups(const char *path, struct strlist *out)
{
	scoped(closedirp) DIR *dir = opendir(path);
	struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		if (entry->d_type == DT_UNKNOWN &&
		    (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode)))
			continue;
		if (strlist_add(out, str_of(entry->d_name)) < 0)
			return -ENOMEM;
	}
	if (out->n > 1)
		qsort(out->v, out->n, sizeof(*out->v), by_name);
	return 0;
}

/* Appends the groups below `dir`, whose path relative to the mount point is `name`. A directory with two links has no
 * directories below it, so most groups need not be opened. */
static int list_below(const char *dir, const char *name, int depth, struct strlist *out)
{
	scoped(strlist_done) struct strlist names = { 0 };
	struct stat st;
	int err = depth > DEPTH_MAX || (depth && stat(dir, &st) == 0 && st.st_nlink == 2) ? 0 : list_groups(dir, &names);

	for (size_t i = 0; i < names.n && err == 0; i++) {
		char path[PATH_MAX], below[PATH_MAX];

		if (snprintf(path, sizeof(path), "%s/%s", dir, names.v[i]) >= (int)sizeof(path) ||
		    snprintf(below, sizeof(below), "%s%s%s", name, *name ? "/" : "", names.v[i]) >= (int)sizeof(below))
			continue;
		err = strlist_add(out, str_of(below)) < 0 ? -ENOMEM : list_below(path, below, depth + 1, out);
	}
	return err;
}

int cgroup_list(const struct sys *sys, struct strlist *out)
{
	char mount[PATH_MAX];
	int err = cgroup_mount(sys, mount, sizeof(mount));

	if (err < 0)
		return err;
	if (strlist_add(out, STR_LIT("/")) < 0)
		return -ENOMEM;
	return list_below(mount, "", 0, out);
}

static bool has_regex(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (strchr("^$*+?()[]{}|\\", name.s[i]))
			return true;
	return false;
}

static int add_once(struct strlist *out, struct str name)
{
	for (size_t i = 0; i < out->n; i++)
		if (str_is(name, out->v[i]))
			return 0;
	return strlist_add(out, name);
}

static int match_regex(const struct strlist *all, const char *pattern, struct strlist *out,
		       struct tacho_error *e)
{
	char reason[128];
	regex_t regex;
	int err = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);

	if (err) {
		regerror(err, &regex, reason, sizeof(reason));
		return error_set(e, -EINVAL, "'%s' is not a regular expression: %s", pattern, reason);
	}
	for (size_t i = 0; i < all->n; i++) {
		if (regexec(&regex, all->v[i], 0, NULL, 0) == 0)
			err = add_once(out, str_of(all->v[i]));
		if (err < 0)
			break;
	}
	regfree(&regex);
	return err < 0 ? error_nomem(e) : 0;
}

int cgroup_match(const struct sys *sys, const char *list, struct strlist *out,
		 struct tacho_error *e)
{
	scoped(strlist_done) struct strlist all = { 0 };
	struct str rest = str_of(list), word;
	int err;

	while (str_cut(&rest, ',', &word)) {
		scoped(freep) char *name = str_dup(word);

		if (!name)
			return error_nomem(e);
		if (!has_regex(word)) {
			err = add_once(out, word) < 0 ? error_nomem(e) : 0;
		} else {
			err = all.n ? 0 : cgroup_list(sys, &all);
			if (err < 0)
				return error_set(e, err, "cannot list the cgroups: %s",
						 strerror(-err));
			err = match_regex(&all, name, out, e);
		}
		if (err < 0)
			return err;
	}
	if (out->n == 0)
		return error_set(e, -ENOENT, "no cgroup matches '%s'", list);
	return 0;
}
