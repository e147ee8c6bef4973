/*
 * The process that restores settings. It is forked without exec and uses only async-signal-safe calls, because the
 * program may have threads. It belongs to a session and has a name of its own, so that neither Ctrl-C nor a kill of the
 * program's process group or name reaches it.
 */
#include "ftrace/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/io.h"

#define CHANGES_MAX 512
#define BUSY_PAUSE_MS 2
#define BUSY_MAX_MS 5000
#define FD_LIMIT 65536

struct restore {
	int fd;				/* write end of the pipe */
	pid_t pid;
	size_t n;
	char log[RESTORE_MAX];
};

static void write_file(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0)
		return;
	if (*value)
		io_write_all(fd, value, strlen(value));
	close(fd);
}

/* A dying process closes its files one after the other: the instance is busy until the last one of its files is closed. */
static void remove_directory(const char *path)
{
	const struct timespec pause = { .tv_nsec = BUSY_PAUSE_MS * 1000000l };

	for (unsigned waited_ms = 0; rmdir(path) < 0 && errno == EBUSY && waited_ms < BUSY_MAX_MS; waited_ms += BUSY_PAUSE_MS)
		nanosleep(&pause, NULL);
}

static void undo(enum restore_kind kind, const char *path, const char *value)
{
	switch (kind) {
	case RESTORE_FILE: write_file(path, value); break;
	case RESTORE_DIRECTORY: remove_directory(path); break;
	case RESTORE_DELETE: unlink(path); break;
	}
}

void restore_apply(const char *log, size_t n)
{
	size_t starts[CHANGES_MAX] = { 0 }, n_changes = 0;

	for (size_t at = 0; at < n && n_changes < CHANGES_MAX;) {
		size_t path = strnlen(log + at, n - at) + 1, value;

		if (at + path >= n)
			break;
		value = strnlen(log + at + path, n - at - path) + 1;
		if (at + path + value > n)
			break;
		starts[n_changes++] = at;
		at += path + value;
	}
	while (n_changes--) {
		const char *change = log + starts[n_changes];

		undo((enum restore_kind)change[0], change + 1, change + strlen(change) + 1);
	}
}

size_t restore_encode(enum restore_kind kind, const char *path, const char *value, char *out, size_t room)
{
	size_t n_path = strlen(path) + 1, n_value = strlen(value) + 1;

	if (1 + n_path + n_value > room)
		return 0;
	out[0] = (char)kind;
	memcpy(out + 1, path, n_path);
	memcpy(out + 1 + n_path, value, n_value);
	return 1 + n_path + n_value;
}

static void close_others(unsigned first, unsigned last)
{
	if (first > last)
		return;
#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, last, 0) == 0)
		return;
#endif
	for (unsigned fd = first; fd <= min_of(last, (unsigned)FD_LIMIT); fd++)
		close((int)fd);
}

/* Keeps `lock_fd` and the pipe, which becomes file descriptor 0; the standard streams must not keep a reader of the
 * program's output waiting. */
static void close_files(int pipe_fd, int lock_fd)
{
	int null;

	dup2(pipe_fd, 0);
	if (lock_fd < 0) {
		close_others(1, ~0u);
	} else {
		close_others(1, (unsigned)lock_fd - 1);
		close_others((unsigned)lock_fd + 1, ~0u);
	}
	null = open("/dev/null", O_RDWR);
	if (null >= 0 && null < 2)
		dup2(null, null == 1 ? 2 : 1);
}

static void ignore_signals(void)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGUSR1, SIGUSR2, SIGALRM };

	for (size_t i = 0; i < countof(ignored); i++)
		signal(ignored[i], SIG_IGN);
}

__attribute__((noreturn)) static void wait_and_restore(struct restore *r, int pipe_fd, int lock_fd)
{
	ssize_t got;

	setsid();
	prctl(PR_SET_NAME, "ftrace-restore");
	ignore_signals();
	if (chdir("/") < 0)
		_exit(1);
	close_files(pipe_fd, lock_fd);
	r->n = 0;
	while (r->n < sizeof(r->log)) {
		got = read(0, r->log + r->n, sizeof(r->log) - r->n);
		if (got == 0 || (got < 0 && errno != EINTR))
			break;
		if (got > 0)
			r->n += (size_t)got;
	}
	restore_apply(r->log, r->n);
	_exit(0);
}

int restore_new(struct restore **out, int lock_fd)
{
	struct restore *r = calloc(1, sizeof(*r));
	int fds[2];

	if (!r)
		return -ENOMEM;
	if (pipe2(fds, O_CLOEXEC) < 0) {
		free(r);
		return -errno;
	}
	r->pid = fork();
	if (r->pid == 0)
		wait_and_restore(r, fds[0], lock_fd);
	close(fds[0]);
	r->fd = fds[1];
	if (r->pid < 0) {
		int err = -errno;

		close(fds[1]);
		free(r);
		return err;
	}
	*out = r;
	return 0;
}

/* Without SIGPIPE, should the other process have been killed. */
static int send_change(int fd, const char *bytes, size_t n)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
	int err;

	sigaction(SIGPIPE, &ignore, &old);
	err = io_write_all(fd, bytes, n);
	sigaction(SIGPIPE, &old, NULL);
	return err;
}

int restore_add(struct restore *r, enum restore_kind kind, const char *path, const char *value)
{
	size_t n = restore_encode(kind, path, value, r->log + r->n, sizeof(r->log) - r->n);
	int err;

	if (!n)
		return -EOVERFLOW;
	err = send_change(r->fd, r->log + r->n, n);
	if (err == 0)
		r->n += n;
	return err;
}

void restore_run(struct restore *r)
{
	int status = 0;
	pid_t ended;

	if (!r)
		return;
	close(r->fd);
	do
		ended = waitpid(r->pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended != r->pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		restore_apply(r->log, r->n);	/* it was killed */
	free(r);
}
