/*
 * Chooses between stdin and perf.data. `record COMMAND | report` must read the pipe; but stdin is also a pipe in jobs
 * of cron, in commands run by ssh, and in loops like `find ... | while read`. There no recording arrives: the first
 * bytes are looked at, without taking them out of the pipe, and the message says how to read a file.
 */
#include "cli/core/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/core/command.h"

#define MAGIC_BYTES 8u
#define NOTE_AFTER_MS 2000		/* a recorder that has just been started is faster */
#define STEP_MS 20

static bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* Waits until `fd` has the bytes of a magic number; returns false if it ends before. */
static bool wait_for_magic(const char *command, int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	int available = 0, timeout_ms = NOTE_AFTER_MS;

	for (;;) {
		int ready = poll(&wait, 1, timeout_ms);

		if (ready < 0 && errno != EINTR)
			return false;
		if (ready == 0) {
			message_text(command, "waiting for a recording on stdin, which is a pipe; use '-i perf.data' "
				     "to read the file");
			timeout_ms = -1;
		}
		if (ioctl(fd, FIONREAD, &available) < 0 || available >= (int)MAGIC_BYTES)
			return available >= (int)MAGIC_BYTES;
		if (ready > 0 && (wait.revents & (POLLHUP | POLLERR)))
			return false;
		if (ready > 0)			/* a part of it */
			nanosleep(&(struct timespec){ .tv_nsec = STEP_MS * 1000000 }, NULL);
	}
}

/* Whether the next bytes of the pipe are the magic number of a recording, in either byte order. They stay there. */
static bool holds_recording(int fd)
{
	char magic[MAGIC_BYTES];
	int copy[2];
	bool is;

	if (pipe2(copy, O_CLOEXEC) < 0)
		return true;			/* the reader will see */
	is = tee(fd, copy[1], sizeof(magic), 0) != (ssize_t)sizeof(magic) ||
	     read(copy[0], magic, sizeof(magic)) != (ssize_t)sizeof(magic) ||
	     memcmp(magic, "PERFILE2", sizeof(magic)) == 0 || memcmp(magic, "2ELIFREP", sizeof(magic)) == 0;
	close(copy[0]);
	close(copy[1]);
	return is;
}

const char *input_choose(const char *command, const char *given)
{
	if (given || !is_pipe(STDIN_FILENO))
		return given ? given : "perf.data";
	if (!wait_for_magic(command, STDIN_FILENO)) {
		message_text(command, "stdin is a pipe, and it ended without a recording; use '-i perf.data' to read the "
			     "file");
		return NULL;
	}
	if (!holds_recording(STDIN_FILENO)) {
		message_text(command, "stdin is a pipe that does not contain a recording; use '-i perf.data' to read the "
			     "file");
		return NULL;
	}
	return "-";
}
