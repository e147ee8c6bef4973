/*
 * Running a packer as a child, with a pipe to or from it.
 */
#include "cli/core/compressor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static const struct {
	const char *suffix, *program;
	const char *magic;
	size_t n_magic;
} packers[] = {
	{ ".bz2", "bzip2", "BZh", 3 },
	{ ".gz", "gzip", "\x1f\x8b", 2 },
	{ ".tgz", "gzip", "\x1f\x8b", 2 },
	{ ".xz", "xz", "\xfd" "7zXZ", 5 },
	{ ".zst", "zstd", "\x28\xb5\x2f\xfd", 4 },
};

const char *filter_for_name(const char *path)
{
	size_t n = strlen(path);

	for (size_t i = 0; i < countof(packers); i++) {
		size_t k = strlen(packers[i].suffix);

		if (n > k && strcmp(path + n - k, packers[i].suffix) == 0)
			return packers[i].program;
	}
	return n > 4 && strcmp(path + n - 4, ".tar") == 0 ? NULL : "";
}

const char *filter_suffix(const char *program)
{
	for (size_t i = 0; program && i < countof(packers); i++)
		if (strcmp(packers[i].program, program) == 0)
			return packers[i].suffix;
	return "";
}

const char *filter_for_bytes(const void *bytes, size_t n)
{
	for (size_t i = 0; i < countof(packers); i++)
		if (n >= packers[i].n_magic && memcmp(bytes, packers[i].magic, packers[i].n_magic) == 0)
			return packers[i].program;
	return NULL;
}

bool filter_is_there(const char *program)
{
	const char *path = getenv("PATH");
	char full[4096];

	while (path && *path) {
		size_t n = strcspn(path, ":");
		int len = snprintf(full, sizeof(full), "%.*s/%s", (int)min_of(n, (size_t)3000), path, program);

		if (len > 0 && access(full, X_OK) == 0)
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

static void child(const char *program, bool unpacks, int from, int to)
{
	signal(SIGPIPE, SIG_DFL);
	if (dup2(from, STDIN_FILENO) >= 0 && dup2(to, STDOUT_FILENO) >= 0)
		execlp(program, program, unpacks ? "-dc" : "-c", (char *)NULL);
	_exit(127);
}

static int start(struct filter *f, const char *program, bool unpacks, int file)
{
	int ends[2], pid;

	*f = (struct filter){ .program = program, .fd = -1, .pid = -1 };
	if (!program) {
		f->fd = fcntl(file, F_DUPFD_CLOEXEC, 3);
		return f->fd < 0 ? -errno : 0;
	}
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	signal(SIGPIPE, SIG_IGN);	/* a packer that died is told by its status */
	pid = fork();
	if (pid == 0)
		child(program, unpacks, unpacks ? file : ends[0], unpacks ? ends[1] : file);
	close(ends[unpacks]);
	if (pid < 0) {
		close(ends[!unpacks]);
		return -EAGAIN;
	}
	f->pid = pid;
	f->fd = ends[!unpacks];
	return 0;
}

int filter_pack(struct filter *f, const char *program, int to)
{
	return start(f, program, false, to);
}

int filter_unpack(struct filter *f, const char *program, int from)
{
	return start(f, program, true, from);
}

int filter_end(struct filter *f)
{
	int status = 0, err = 0;

	if (f->fd >= 0 && close(take_fd(f->fd)) < 0)
		err = -errno;
	if (f->pid > 0)
		while (waitpid(f->pid, &status, 0) < 0 && errno == EINTR)
			;
	f->pid = -1;
	return status ? -EIO : err;
}
