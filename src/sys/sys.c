/*
 * The roots, the perf system calls, and reading small files below the roots.
 */
#include "sys/sys.h"

#include "base/io.h"
#include "base/num.h"
#include "base/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>

static int kernel_open(void *arg, struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		       unsigned long flags)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);

	(void)arg;
	return fd < 0 ? -errno : (int)fd;
}

static ssize_t kernel_read(void *arg, int fd, void *bytes, size_t n)
{
	ssize_t got = read(fd, bytes, n);

	(void)arg;
	return got < 0 ? -errno : got;
}

static int kernel_ioctl(void *arg, int fd, unsigned request, uintptr_t value)
{
	int ret = ioctl(fd, request, value);

	(void)arg;
	return ret < 0 ? -errno : ret;
}

static int kernel_close(void *arg, int fd)
{
	(void)arg;
	return close(fd) < 0 ? -errno : 0;
}

static uint64_t kernel_now_ns(void *arg)
{
	struct timespec ts;

	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

const struct sys_ops sys_kernel_ops = {
	.open = kernel_open,
	.read = kernel_read,
	.ioctl = kernel_ioctl,
	.close = kernel_close,
	.now_ns = kernel_now_ns,
};

int sys_init(struct sys *sys, const char *sysfs, const char *procfs, const char *tracefs)
{
	*sys = (struct sys){ .ops = &sys_kernel_ops };
	sys->sysfs = str_dup(str_of(sysfs ? sysfs : "/sys"));
	sys->procfs = str_dup(str_of(procfs ? procfs : "/proc"));
	if (tracefs)
		sys->tracefs_given = str_dup(str_of(tracefs));
	if (!sys->sysfs || !sys->procfs || (tracefs && !sys->tracefs_given)) {
		sys_done(sys);
		return -ENOMEM;
	}
	return 0;
}

void sys_done(struct sys *sys)
{
	free(sys->sysfs);
	free(sys->procfs);
	free(sys->tracefs);
	free(sys->tracefs_given);
	*sys = (struct sys){ 0 };
}

const char *sys_tracefs(struct sys *sys)
{
	char path[PATH_MAX];

	if (sys->tracefs)
		return sys->tracefs;
	if (sys->tracefs_given) {
		sys->tracefs = str_dup(str_of(sys->tracefs_given));
		return sys->tracefs;
	}
	if (tracefs_find(sys->sysfs, sys->procfs, path, sizeof(path)))
		sys->tracefs = str_dup(str_of(path));
	return sys->tracefs;
}

static int read_below(const char *root, char *out, size_t size, const char *fmt, va_list ap)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/", root);

	if (n < 0 || n >= (int)sizeof(path))
		return -ENAMETOOLONG;
	n += vsnprintf(path + n, sizeof(path) - (size_t)n, fmt, ap);
	if (n >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return io_read_small(AT_FDCWD, path, out, size);
}

int sys_read_sysfs(const struct sys *sys, char *out, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = read_below(sys->sysfs, out, size, fmt, ap);
	va_end(ap);
	return n;
}

int sys_read_procfs(const struct sys *sys, char *out, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = read_below(sys->procfs, out, size, fmt, ap);
	va_end(ap);
	return n;
}

int sys_sysctl_int(const struct sys *sys, const char *name, int *out)
{
	char text[32];
	int n = sys_read_procfs(sys, text, sizeof(text), "sys/%s", name);

	return n < 0 ? n : num_int(str_trim(str_of(text)), out);
}

static int by_natural_order(const void *a, const void *b)
{
	return str_natcmp(*(char *const *)a, *(char *const *)b);
}

static void closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

int sys_list_dir(const char *path, struct strlist *out)
{
	scoped(closedirp) DIR *dir = opendir(path);
	size_t first = out->n;
	struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.' && strlist_add(out, str_of(entry->d_name)) < 0)
			return -ENOMEM;
	if (out->n > first)
		qsort(out->v + first, out->n - first, sizeof(*out->v), by_natural_order);
	return 0;
}

int sys_online_cpus(const struct sys *sys, struct cpuset *out)
{
	char text[4096];
	int err = sys_read_sysfs(sys, text, sizeof(text), "devices/system/cpu/online");
	long n;

	if (err >= 0)
		return cpuset_parse(out, str_of(text));
	n = sysconf(_SC_NPROCESSORS_ONLN);
	for (int cpu = 0; cpu < n; cpu++) {
		err = cpuset_add(out, cpu);
		if (err < 0)
			return err;
	}
	return n > 0 ? 0 : err;
}
