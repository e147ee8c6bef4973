/*
 * The file belongs to the JVM's user and is created anew, so that other users cannot prepare it. The process ID in its name
 * is that of the JVM's own pid namespace.
 */
#include "jvmti/dump.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x4a695444u
#define VERSION 1u
#define LINES_MAX_BYTES (8u << 20)

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#elif defined(__riscv)
#define MACHINE EM_RISCV
#else
#define MACHINE EM_NONE
#endif

enum { RECORD_LOAD = 0, RECORD_DEBUG_INFO = 2 };

struct dump_header {
	uint32_t magic, version, total_size, elf_mach, pad, pid;
	uint64_t timestamp, flags;
};

struct dump_record_head {
	uint32_t id, total_size;
	uint64_t timestamp;
};

struct dump_load {
	struct dump_record_head head;
	uint32_t pid, tid;
	uint64_t vma, code_addr, code_size, code_index;
};

struct dump_debug_info {
	struct dump_record_head head;
	uint64_t code_addr, nr_entry;
};

struct dump_line {
	uint64_t addr;
	int32_t line, discriminator;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int dump_fd = -1;
static uint64_t n_functions;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int create(const char *directory, char path[static PATH_MAX])
{
	int fd;

	if (snprintf(path, PATH_MAX, "%s/jit-%d.dump", directory && *directory ? directory : "/tmp", (int)getpid()) >= PATH_MAX)
		return -ENAMETOOLONG;
	unlink(path);			/* of an earlier process with this ID */
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

int dump_open(const char *directory)
{
	const struct dump_header header = { MAGIC, VERSION, sizeof(header), MACHINE, 0, (uint32_t)getpid(), now_ns(), 0 };
	char path[PATH_MAX];
	int err = 0, fd;

	pthread_mutex_lock(&lock);
	fd = dump_fd >= 0 ? -EEXIST : create(directory, path);
	if (fd < 0) {
		err = fd;
	} else if (write(fd, &header, sizeof(header)) != (ssize_t)sizeof(header) ||
		   mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
		err = errno ? -errno : -EIO;
		close(fd);
		unlink(path);		/* readers find a dump only by its mapping */
	} else {
		dump_fd = fd;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

/* Writes all parts; if that fails, the file is closed, because a record is incomplete. */
static void write_parts(struct iovec *part, int n)
{
	while (n && dump_fd >= 0) {
		ssize_t done = writev(dump_fd, part, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			close(dump_fd);
			dump_fd = -1;
			return;
		}
		for (; n && (size_t)done >= part->iov_len; part++, n--)
			done -= (ssize_t)part->iov_len;
		if (n) {
			part->iov_base = (char *)part->iov_base + done;
			part->iov_len -= (size_t)done;
		}
	}
}

static void write_lines(const struct dump_lines *l, const void *code, uint64_t time)
{
	struct dump_debug_info info = { .head = { RECORD_DEBUG_INFO, (uint32_t)(sizeof(info) + l->n_bytes), time },
					.code_addr = (uint64_t)(uintptr_t)code, .nr_entry = l->n };
	struct iovec parts[] = { { &info, sizeof(info) }, { l->bytes, l->n_bytes } };

	write_parts(parts, 2);
}

void dump_function(const char *name, const void *code, size_t size, const struct dump_lines *lines)
{
	size_t n_name = strlen(name) + 1;
	struct dump_load load = { .head = { RECORD_LOAD, (uint32_t)(sizeof(load) + n_name + size), now_ns() },
				  .pid = (uint32_t)getpid(), .tid = (uint32_t)syscall(SYS_gettid),
				  .vma = (uint64_t)(uintptr_t)code, .code_addr = (uint64_t)(uintptr_t)code, .code_size = size };
	struct iovec parts[] = { { &load, sizeof(load) }, { (void *)(uintptr_t)name, n_name },
				 { (void *)(uintptr_t)code, size } };

	if (size > INT32_MAX / 2)
		return;
	pthread_mutex_lock(&lock);
	if (lines && lines->n)
		write_lines(lines, code, load.head.timestamp);
	load.code_index = n_functions++;
	write_parts(parts, 3);
	pthread_mutex_unlock(&lock);
}

void dump_lines_add(struct dump_lines *l, uint64_t address, uint32_t line, const char *file)
{
	const struct dump_line entry = { .addr = address, .line = (int32_t)line };
	size_t n = sizeof(entry) + strlen(file) + 1;

	if (l->n_bytes + n > LINES_MAX_BYTES)
		return;
	if (l->n_bytes + n > l->capacity) {
		size_t capacity = (l->capacity + n) * 2;
		char *bytes = realloc(l->bytes, capacity);

		if (!bytes)
			return;
		l->bytes = bytes;
		l->capacity = capacity;
	}
	memcpy(l->bytes + l->n_bytes, &entry, sizeof(entry));
	memcpy(l->bytes + l->n_bytes + sizeof(entry), file, n - sizeof(entry));
	l->n_bytes += n;
	l->n++;
}

void dump_lines_done(struct dump_lines *l)
{
	free(l->bytes);
	*l = (struct dump_lines){ 0 };
}
