/*
 * The mount table is read only where the usual directories do not have tracefs. Its lines are "DEVICE DIR TYPE OPTIONS 0 0", with
 * blanks and backslashes in DIR as three octal digits. debugfs has tracefs below it, wherever that is.
 */
#include "base/tracefs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/io.h"

#define MOUNTS_BYTES_MAX (4u << 20)

static bool is_readable(const char *dir)
{
	char events[PATH_MAX];
	int n = snprintf(events, sizeof(events), "%s/events", dir);

	if (n < 0 || n >= (int)sizeof(events)) {
		errno = ENOENT;
		return false;
	}
	return io_is_accessible(events, R_OK | X_OK);
}

static bool is_octal(const char *s)
{
	return s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' && s[2] >= '0' && s[2] <= '7';
}

/* Appends a directory of the mount table with its escapes replaced. False if it does not fit. */
static bool put_dir(struct str dir, const char *after, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < dir.n && n < size; i++) {
		char c = dir.s[i];

		if (c == '\\' && dir.n - i > 3 && is_octal(dir.s + i + 1)) {
			c = (char)((dir.s[i + 1] - '0') * 64 + (dir.s[i + 2] - '0') * 8 + (dir.s[i + 3] - '0'));
			i += 3;
		}
		out[n++] = c;
	}
	if (n + strlen(after) >= size)
		return false;
	memcpy(out + n, after, strlen(after) + 1);
	return true;
}

static bool find_in_mounts(const char *procfs, char *out, size_t size, bool *denied)
{
	scoped(buf_done) struct buf mounts = { 0 };
	struct str rest, line, device, dir, type;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/self/mounts", procfs);
	if (io_read(path, MOUNTS_BYTES_MAX, &mounts) < 0)
		return false;
	rest = buf_view(&mounts);
	while (str_cut(&rest, '\n', &line)) {
		const char *after;

		if (!str_cut(&line, ' ', &device) || !str_cut(&line, ' ', &dir) || !str_cut(&line, ' ', &type))
			continue;
		after = str_is(type, "tracefs") ? "" : str_is(type, "debugfs") ? "/tracing" : NULL;
		if (!after || !put_dir(dir, after, out, size))
			continue;
		if (is_readable(out))
			return true;
		*denied |= errno == EACCES;
	}
	return false;
}

bool tracefs_find(const char *sysfs, const char *procfs, char *out, size_t size)
{
	static const char *const usual[] = { "kernel/tracing", "kernel/debug/tracing" };
	bool denied = false, is_own = !sysfs || strcmp(sysfs, "/sys") == 0;

	for (size_t i = 0; i < countof(usual); i++) {
		int n = snprintf(out, size, "%s/%s", sysfs ? sysfs : "/sys", usual[i]);

		if (n > 0 && (size_t)n < size && is_readable(out))
			return true;
		denied |= errno == EACCES;
	}
	/* A recorded tree of another machine has no mounts of this one. */
	if (is_own && find_in_mounts(procfs ? procfs : "/proc", out, size, &denied))
		return true;
	errno = denied ? EACCES : ENOENT;
	return false;
}
