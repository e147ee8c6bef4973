/*
 * For LD_PRELOAD: the machine seems to have FAKE_CPUS CPUs. The list of CPUs in /sys is read from the file FAKE_ONLINE, and
 * an event of CPU n is opened on CPU n modulo the number of CPUs that the machine has.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

long syscall(long number, ...);
int openat64(int dir, const char *path, int flags, ...);

static int real_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
}

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	static int n_cpus;
	long arg[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	if (!next) {
		n_cpus = real_cpus();
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	}
	if (number == SYS_perf_event_open && (int)arg[2] >= 0)
		arg[2] = (int)arg[2] % n_cpus;
	return next(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

int openat64(int dir, const char *path, int flags, ...)
{
	static int (*next)(int, const char *, int, ...);
	const char *fake = getenv("FAKE_ONLINE");
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	if (!next)
		next = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat64");
	if (fake && strcmp(path, "/sys/devices/system/cpu/online") == 0)
		path = fake;
	return next(dir, path, flags, mode);
}
