/*
 * See process_memory.h.
 */
#include "view/process_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base/defs.h"
#include "base/io.h"

#define PAGE 4096

/* Page by page, because a text may end at the end of the last page that exists. */
size_t process_text(uint32_t pid, uint64_t address, char *out, size_t max)
{
	size_t n = 0;

	while (n + 1 < max) {
		size_t want = min_of(max - 1 - n, (size_t)(PAGE - (address + n) % PAGE));
		struct iovec to = { out + n, want }, from = { (void *)(uintptr_t)(address + n), want };
		ssize_t got = process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0);
		const char *end = got > 0 ? memchr(out + n, '\0', (size_t)got) : NULL;

		if (end)
			return (size_t)(end - out) + 1;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	if (!n)
		return 0;
	out[n] = '\0';
	return n + 1;
}

size_t process_argv(uint32_t pid, char *out, size_t max)
{
	char path[40];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, out, max - 1);
	close(fd);
	if (n <= 0)
		return 0;
	out[n] = '\0';
	return (size_t)n + (out[n - 1] != '\0');
}

size_t process_file_name(uint32_t pid, int fd, char *out, size_t max)
{
	char path[60], target[4096];
	const char *name;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/fd/%d", pid, fd);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return 0;
	target[n] = '\0';
	name = strrchr(target, '/');
	return (size_t)snprintf(out, max, "%.*s", (int)max - 1, name && name[1] ? name + 1 : target) + 1;
}

uint32_t process_file_mode(uint32_t pid, int fd)
{
	struct stat st;
	char path[60];

	snprintf(path, sizeof(path), "/proc/%u/fd/%d", pid, fd);
	return stat(path, &st) < 0 ? 0 : st.st_mode;
}
