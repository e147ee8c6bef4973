/*
 * Output files of recordings: first names, FILE.old, and FILE.2 ...; see output_file.h.
 *
 * An existing FILE is exchanged with the new file in one step (RENAME_EXCHANGE), so that FILE always exists, and
 * is then renamed to FILE.old. If it turns out that the file so replaced is still written by another recorder,
 * both are exchanged back.
 */
#include "cli/record/output_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/io.h"
#include "cli/core/command.h"

#define MAX_NAMES 1000			/* names that are tried until one does not exist */

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

/* Whether the file is kept as FILE.old when a new one takes its name. Empty files are not. */
static bool is_worth_keeping(const char *path)
{
	struct stat st;

	return file_is_recorded_directory(path) ||
	       (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0);
}

/* Whether a recorder that is still running writes this file. */
static bool is_being_written(const char *path)
{
	scoped(closep) int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

static void discard(const char *path)
{
	if (file_is_recorded_directory(path))
		file_remove_recording(path);
	else if (is_directory(path))
		rmdir(path);
	else
		io_discard(path);
}

static int report_failure(const char *command, const char *path, int err)
{
	message_text(command, "cannot write '%s': %s", path, strerror(-err));
	return err;
}

/*
 * Follows a symbolic link that belongs to root or to the user, so that /dev/stdout and a link to a larger disk are
 * usable and the file is replaced where it is. Links of other users are not followed, but replaced.
 */
static int resolve(struct output_file *f, const char *path)
{
	struct stat link, target;

	f->wanted = str_dup(str_of(path));
	if (!f->wanted)
		return -ENOMEM;
	if (lstat(path, &link) < 0 || !S_ISLNK(link.st_mode) || (link.st_uid && link.st_uid != geteuid()))
		return 0;
	if (stat(path, &target) < 0) {
		f->in_place = errno == ENOENT;
		return 0;
	}
	if (S_ISREG(target.st_mode) || S_ISDIR(target.st_mode)) {
		free(f->wanted);
		f->wanted = realpath(path, NULL);
	}
	return f->wanted ? 0 : -errno;
}

static int open_in_place(struct output_file *f, const char *path)
{
	f->path = str_dup(str_of(path));
	if (!f->path)
		return -ENOMEM;
	f->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return f->fd < 0 ? -errno : 0;
}

/* Creates the file or directory `path`, which must not exist, and locks it. */
static int create_new(struct output_file *f, const char *path)
{
	if (f->directory && mkdir(path, 0700) < 0)
		return -errno;
	f->fd = open(path, f->directory ? O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
					: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (f->fd < 0)
		return -errno;
	flock(f->fd, LOCK_EX | LOCK_NB);	/* some network file systems have no locks */
	return 0;
}

static int create_unique(struct output_file *f)
{
	int err = -EEXIST;

	for (int i = 0; i < MAX_NAMES && err == -EEXIST; i++) {
		struct buf name = { 0 };
		uint32_t random;

		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -EIO;
		buf_printf(&name, "%s.%08x.part", f->wanted, random);
		free(f->path);
		f->path = buf_take(&name);
		err = f->path ? create_new(f, f->path) : -ENOMEM;
	}
	return err;
}

int output_file_create(struct output_file *f, const char *command, const char *path, bool directory)
{
	struct stat st;
	int err;

	*f = (struct output_file){ .fd = -1, .directory = directory };
	err = resolve(f, path);
	if (err == 0 && stat(f->wanted, &st) == 0) {
		if (S_ISDIR(st.st_mode) && !file_is_recorded_directory(f->wanted) && !directory)
			err = -EISDIR;
		else
			f->in_place |= !directory && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
	}
	if (err == 0)
		err = f->in_place ? open_in_place(f, path) : create_unique(f);
	if (err < 0) {
		report_failure(command, path, err);
		output_file_done(f);
	}
	return err;
}

int file_rename_to_new(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (access(to, F_OK) == 0)		/* the file system does not support RENAME_NOREPLACE */
		return -EEXIST;
	return rename(from, to) < 0 ? -errno : 0;
}

/* Renames `from` to FILE.old, which is replaced. */
static int rename_to_old(const char *from, const char *file)
{
	scoped(buf_done) struct buf old = { 0 };
	int err = 0;

	buf_printf(&old, "%s.old", file);
	if (buf_failed(&old))
		return -ENOMEM;
	if (file_is_recorded_directory(old.bytes))
		err = file_remove_recording(old.bytes);
	else if (is_directory(from))		/* a directory cannot be renamed to an existing file */
		io_discard(old.bytes);
	if (err < 0)
		return err;
	return rename(from, old.bytes) < 0 ? -errno : 0;
}

static int exchange(const char *a, const char *b)
{
	return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) < 0 ? -errno : 0;
}

/* Gives the file the name FILE and keeps the existing one as FILE.old. -EBUSY if that is being written. */
static int replace(const char *part, const char *file)
{
	int err = exchange(part, file);

	if (err == -EINVAL || err == -ENOSYS) {	/* the file system does not support RENAME_EXCHANGE */
		err = rename_to_old(file, file);
		return err < 0 ? err : file_rename_to_new(part, file);
	}
	if (err < 0)
		return err;
	err = is_being_written(part) ? -EBUSY : rename_to_old(part, file);
	if (err < 0)
		exchange(part, file);
	return err;
}

/* Tries to give the file the name FILE. -EBUSY if another recorder is writing FILE. */
static int take_wanted(const struct output_file *f)
{
	int err = -EEXIST;

	for (int i = 0; i < MAX_NAMES && (err == -EEXIST || err == -ENOENT); i++) {
		err = file_rename_to_new(f->path, f->wanted);
		if (err != -EEXIST)
			return err;
		if (is_being_written(f->wanted))
			return -EBUSY;
		if (is_worth_keeping(f->wanted))
			err = replace(f->path, f->wanted);
		else
			err = rename(f->path, f->wanted) < 0 ? -errno : 0;
	}
	return err;
}

/* Gives the file the first of the names FILE.2, FILE.3 ... that does not exist; *name is that name. */
static int take_numbered(const struct output_file *f, struct buf *name)
{
	int err = -EEXIST;

	for (int i = 2; i < MAX_NAMES && err == -EEXIST; i++) {
		buf_clear(name);
		buf_printf(name, "%s.%d", f->wanted, i);
		err = buf_failed(name) ? -ENOMEM : file_rename_to_new(f->path, name->bytes);
	}
	return err;
}

int output_file_take_name(struct output_file *f, const char *command, bool quiet)
{
	scoped(buf_done) struct buf name = { 0 };
	bool busy;
	int err;

	if (!f->path || f->in_place)
		return 0;
	buf_puts(&name, f->wanted);
	err = buf_failed(&name) ? -ENOMEM : take_wanted(f);
	busy = err == -EBUSY;
	if (busy)
		err = take_numbered(f, &name);
	if (err < 0) {
		message_text(command, "cannot rename '%s' to '%s': %s", f->path, f->wanted, strerror(-err));
		return err;
	}
	free(f->path);
	f->path = buf_take(&name);
	if (busy && f->path && !quiet)
		message_text(command, "another recorder is writing '%s', so this recording is written to '%s'",
			     f->wanted, f->path);
	return f->path ? 0 : -ENOMEM;
}

void output_file_done(struct output_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	free(f->wanted);
	*f = (struct output_file){ .fd = -1 };
}

void output_file_discard(struct output_file *f)
{
	if (f->path)
		discard(f->path);
	output_file_done(f);
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
