/*
 * Keeping an existing output file as FILE.old; see output_file.h.
 */
#include "cli/record/output_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "cli/core/command.h"

/* Removes only `data` and data.N; other files in the directory were not written by tacho. */
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

/* Devices such as /dev/null and empty files are not renamed to FILE.old. */
bool file_has_old(const char *path)
{
	struct stat st;

	return file_is_recorded_directory(path) ||
	       (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0);
}

/* Renames FILE to FILE.old. */
static int keep_old(const char *path)
{
	scoped(buf_done) struct buf old = { 0 };
	bool folder = file_is_recorded_directory(path);
	int err = 0;

	if (!file_has_old(path))
		return 0;
	buf_printf(&old, "%s.old", path);
	if (buf_failed(&old))
		return -ENOMEM;
	if (file_is_recorded_directory(old.bytes))
		err = file_remove_recording(old.bytes);
	else if (folder)		/* a directory cannot be renamed to an existing file */
		io_discard(old.bytes);
	if (err < 0)
		return err;
	return rename(path, old.bytes) < 0 ? -errno : 0;
}

void file_discard(const char *path)
{
	if (file_is_recorded_directory(path))
		file_remove_recording(path);
	else
		io_discard(path);
}

char *file_first_name(const char *path)
{
	scoped(buf_done) struct buf name = { 0 };

	if (!file_has_old(path))
		return str_dup(str_of(path));
	buf_printf(&name, "%s.new", path);
	if (!buf_failed(&name))
		file_discard(name.bytes);
	return buf_take(&name);
}

int file_take_name(const char *command, char **name, const char *path)
{
	scoped(freep) char *taken = NULL;
	int err;

	if (strcmp(*name, path) == 0)
		return 0;
	taken = str_dup(str_of(path));
	err = taken ? keep_old(path) : -ENOMEM;
	if (err < 0) {
		message_text(command, "cannot rename '%s' to '%s.old': %s", path, path, strerror(-err));
		return err;
	}
	if (rename(*name, path) < 0) {
		err = -errno;
		message_text(command, "cannot rename '%s' to '%s': %s", *name, path, strerror(-err));
		return err;
	}
	free(*name);
	*name = take(taken);
	return 0;
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
