/*
 * The steps that recorders share before the first byte is written.
 */
#include "cli/file_make.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"

/* A recording that is a directory holds `data` and data.N; what else lies there is not ours. */
int file_remove_recording(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *d;

	if (!dir)
		return -errno;
	while ((d = readdir(dir))) {
		const char *rest = d->d_name + 5;

		if (strcmp(d->d_name, "data") == 0 ||
		    (strncmp(d->d_name, "data.", 5) == 0 && rest[strspn(rest, "0123456789")] == '\0'))
			unlinkat(dirfd(dir), d->d_name, 0);
	}
	closedir(dir);
	return rmdir(path) < 0 ? -errno : 0;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool file_is_recorded_directory(const char *path)
{
	scoped(buf_done) struct buf data = { 0 };

	buf_printf(&data, "%s/data", path);
	return is_directory(path) && !buf_failed(&data) && access(data.bytes, F_OK) == 0;
}

int file_keep_old(const char *path)
{
	scoped(buf_done) struct buf old = { 0 };
	bool folder = file_is_recorded_directory(path);
	struct stat st;
	int err = 0;

	/* /dev/null and the like stay; an empty file is not worth keeping. */
	if (stat(path, &st) < 0 || (!folder && (!S_ISREG(st.st_mode) || st.st_size == 0)))
		return 0;
	buf_printf(&old, "%s.old", path);
	if (buf_failed(&old))
		return -ENOMEM;
	if (file_is_recorded_directory(old.bytes))
		err = file_remove_recording(old.bytes);
	else if (folder)		/* goes over no file */
		io_discard(old.bytes);
	if (err < 0)
		return err;
	return rename(path, old.bytes) < 0 ? -errno : 0;
}

int file_cmdline(struct strlist *out)
{
	scoped(buf_done) struct buf text = { 0 };
	struct str rest, word;

	if (io_read("/proc/self/cmdline", IO_FILE_MAX, &text) < 0)
		return 0;
	rest = buf_view(&text);
	while (str_cut(&rest, '\0', &word))
		if ((word.n || rest.n) && strlist_add(out, word) < 0)
			return -ENOMEM;
	return 0;
}
