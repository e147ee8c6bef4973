/*
 * Settings are files of tracefs. An instance has most of them for itself. Those that only tracefs has (and all of them, if
 * the whole machine's tracer is used) are shared: before the first change a lock is taken, and for each change the old value
 * is given to the process that restores it. A list that somebody else has filled is left alone.
 */
#include "ftrace/ftrace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/io.h"

#define VALUE_MAX 256

int setting_path(const char *dir, const char *file, char out[PATH_MAX])
{
	int n = snprintf(out, PATH_MAX, "%s/%s", dir, file);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

bool setting_has_word(const char *dir, const char *file, const char *word)
{
	scoped(buf_done) struct buf text = { 0 };
	char path[PATH_MAX];
	struct str rest, one;

	if (setting_path(dir, file, path) < 0 || io_read(path, 1u << 16, &text) < 0)
		return false;
	rest = str_trim(buf_view(&text));
	while (str_cut(&rest, ' ', &one))
		if (str_is(str_trim(one), word))
			return true;
	return false;
}

/* With a newline, because the kernel then reports an error at once, and not when the file is closed. */
static int put(const char *path, int flags, const char *value)
{
	scoped(closep) int fd = open(path, O_WRONLY | O_CLOEXEC | flags);
	char line[VALUE_MAX + 2];
	int n = snprintf(line, sizeof(line), "%s\n", value);

	if (fd < 0)
		return -errno;
	if (n >= (int)sizeof(line))
		return -EINVAL;
	return write(fd, line, (size_t)n) == n ? 0 : errno ? -errno : -EIO;
}

int setting_put(const struct tacho_ftrace *f, const char *file, const char *value)
{
	char path[PATH_MAX];
	int err = setting_path(f->dir, file, path);

	return err < 0 ? err : put(path, 0, value);
}

static void apply_state_file(void)
{
	scoped(closep) int fd = open(FTRACE_STATE_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	scoped(freep) char *log = malloc(RESTORE_MAX);
	struct stat st;
	ssize_t n;

	if (fd < 0 || !log || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
		return;
	n = read(fd, log, RESTORE_MAX);
	if (n > 0)
		restore_apply(log, (size_t)n);
	unlink(FTRACE_STATE_FILE);
}

void setting_recover(const struct tacho_ftrace *f)
{
	if (!f->is_default_root || !io_is_accessible(FTRACE_STATE_FILE, F_OK) || flock(f->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return;
	apply_state_file();
	flock(f->lock_fd, LOCK_UN);
}

/* From here on shared settings are this program's until it ends. The lock is released when the process that restores has
 * ended as well. */
static int lock_shared(struct tacho_ftrace *f, struct tacho_error *e)
{
	if (f->is_locked)
		return 0;
	if (flock(f->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		error_set(e, -EBUSY, "another tacho uses tracing settings that the whole machine shares");
		error_hint(e, "try again when its 'ftrace' command has ended");
		return -EBUSY;
	}
	f->is_locked = true;
	if (!f->is_default_root)
		return 0;
	if (restore_add(f->restore, RESTORE_DELETE, FTRACE_STATE_FILE, "") == 0)
		f->state_fd = open(FTRACE_STATE_FILE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return 0;
}

static int restore_later(struct tacho_ftrace *f, const char *path, const char *value, struct tacho_error *e)
{
	char change[PATH_MAX + VALUE_MAX + 8];
	size_t n = restore_encode(RESTORE_FILE, path, value, change, sizeof(change));
	int err = restore_add(f->restore, RESTORE_FILE, path, value);

	if (err < 0)
		return error_set(e, err, "the process that restores settings cannot be used: %s", strerror(-err));
	if (f->state_fd >= 0)
		io_write_all(f->state_fd, change, n);
	return 0;
}

/* The value to write back: "7 (expanded: 1408)" is 1408, "[local] global mono" is local. */
static struct str value_of(struct str text)
{
	const char *expanded = memmem(text.s, text.n, "(expanded: ", 11);
	ptrdiff_t from = str_find(text, '['), to = str_find(text, ']');
	struct str value;

	if (expanded)
		text = str_n(expanded + 11, (size_t)(text.s + text.n - expanded) - 11);
	else if (from >= 0 && to > from)
		text = str_n(text.s + from + 1, (size_t)(to - from) - 1);
	value = text;
	if (expanded)
		str_cut(&text, ')', &value);
	return str_trim(value);
}

static int save_value(struct tacho_ftrace *f, const char *path, struct tacho_error *e)
{
	char text[VALUE_MAX], value[VALUE_MAX];
	int n = io_read_small(AT_FDCWD, path, text, sizeof(text));

	if (n < 0)
		return instance_refuse(f, n, path, e);
	snprintf(value, sizeof(value), "%.*s", STR(value_of(str_n(text, (size_t)n))));
	return restore_later(f, path, value, e);
}

/* Where a setting is: in the instance or, shared, in tracefs. */
static int locate(const struct tacho_ftrace *f, const char *file, char path[PATH_MAX], bool *is_shared)
{
	int err = setting_path(f->dir, file, path);

	*is_shared = f->whole_machine;
	if (err == 0 && !f->whole_machine && !io_is_accessible(path, F_OK) && errno == ENOENT) {
		*is_shared = true;
		err = setting_path(f->root, file, path);
	}
	return err < 0 ? err : io_is_accessible(path, F_OK) ? 0 : -errno;
}

int setting_write(struct tacho_ftrace *f, const char *file, const char *value, struct tacho_error *e)
{
	char path[PATH_MAX];
	bool is_shared;
	int err = locate(f, file, path, &is_shared);

	if (err < 0)
		return instance_refuse(f, err, file, e);
	if (is_shared)
		err = lock_shared(f, e);
	/* On kernels such as 6.1 the options of a tracer are those of all instances, although each instance has the files. */
	if (err == 0 && (is_shared || str_starts(str_of(file), "options/")))
		err = save_value(f, path, e);
	if (err < 0)
		return err;
	err = put(path, 0, value);
	return err < 0 ? instance_refuse(f, err, path, e) : 0;
}

int setting_number(struct tacho_ftrace *f, const char *file, uint64_t value, struct tacho_error *e)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return setting_write(f, file, text, e);
}

/* An empty list has no lines, or one that says "#### all functions enabled ####" or "no pid". */
static int take_shared_list(struct tacho_ftrace *f, const char *path, struct tacho_error *e)
{
	char text[VALUE_MAX];
	int err = lock_shared(f, e), n;

	if (err < 0)
		return err;
	n = io_read_small(AT_FDCWD, path, text, sizeof(text));
	if (n < 0)
		return instance_refuse(f, n, path, e);
	if (n > 0 && text[0] != '#' && strcmp(text, "no pid") != 0) {
		error_set(e, -EBUSY, "%s is in use by another program: it is not empty", path);
		error_hint(e, "to empty it: echo >%s", path);
		return -EBUSY;
	}
	return restore_later(f, path, "", e);
}

int refuse_functions(struct tacho_error *e)
{
	error_set(e, -EPERM, "this kernel does not permit tracing of functions");
	error_hint(e, "kernel lockdown or a security policy forbids it; 'ftrace latency -e EVENT,EVENT' works without");
	return -EPERM;
}

static int refuse_value(int err, const char *path, const char *value, struct tacho_error *e)
{
	if (err == -EPERM)
		return refuse_functions(e);
	if (!strcmp(path + strlen(path) - strlen("_pid"), "_pid"))
		return error_set(e, -ESRCH, "task %s cannot be traced: %s", value, strerror(-err));
	if (err != -EINVAL && err != -ENOENT)
		return error_set(e, err, "cannot write '%s' to %s: %s", value, path, strerror(-err));
	error_set(e, -EINVAL, "no function of the kernel that can be traced matches '%s'", value);
	error_hint(e, "'ftrace -F PATTERN' lists those that can be traced");
	return -EINVAL;
}

static int add_value(const char *path, const char *value, struct tacho_error *e)
{
	int err;

	if (!*value || strlen(value) >= VALUE_MAX || strpbrk(value, " \t\n"))
		return error_set(e, -EINVAL, "'%s' is not a pattern of functions", value);
	err = put(path, O_APPEND, value);
	return err < 0 ? refuse_value(err, path, value, e) : 0;
}

int setting_list(struct tacho_ftrace *f, const char *file, const struct tacho_ftrace_names *values, struct tacho_error *e)
{
	char path[PATH_MAX];
	bool is_shared;
	int err;

	if (!values->n)
		return 0;
	err = locate(f, file, path, &is_shared);
	if (err < 0)
		return instance_refuse(f, err, file, e);
	if (is_shared)
		err = take_shared_list(f, path, e);
	for (size_t i = 0; err == 0 && i < values->n; i++)
		err = add_value(path, values->v[i], e);
	return err;
}
