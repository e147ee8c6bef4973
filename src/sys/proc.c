/*
 * Reads processes and threads from /proc. A process may end at any moment: processes that end during a walk
 * are left out. Only a process that the caller named by its number must exist.
 */
#include "sys/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/io.h"
#include "base/num.h"
#include "base/vec.h"

#define SCANS_MAX 5
#define PIDFD_OF_THREAD O_EXCL	/* PIDFD_THREAD of newer headers */

void idlist_done(struct idlist *l)
{
	vec_done(l);
}

int idlist_add(struct idlist *l, int id)
{
	int *slot = vec_add(l);

	if (!slot)
		return -ENOMEM;
	*slot = id;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

void idlist_sort(struct idlist *l)
{
	size_t kept = 0;

	if (l->n < 2)
		return;
	qsort(l->v, l->n, sizeof(*l->v), by_number);
	for (size_t i = 0; i < l->n; i++)
		if (kept == 0 || l->v[kept - 1] != l->v[i])
			l->v[kept++] = l->v[i];
	l->n = kept;
}

static void closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/* Appends the directory's entries that are numbers. */
static int list_numbers(const char *path, struct idlist *out)
{
	scoped(closedirp) DIR *dir = opendir(path);
	struct dirent *entry;
	int id, err;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (num_int(str_of(entry->d_name), &id) < 0)
			continue;
		err = idlist_add(out, id);
		if (err < 0)
			return err;
	}
	return 0;
}

static bool same_ids(const int *a, size_t n_a, const int *b, size_t n_b)
{
	return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof(*a)) == 0);
}

int proc_threads(const struct sys *sys, int pid, struct idlist *out)
{
	scoped(idlist_done) struct idlist last = { 0 };
	char path[PATH_MAX];
	int err;

	snprintf(path, sizeof(path), "%s/%d/task", sys->procfs, pid);
	for (int scan = 0; scan < SCANS_MAX; scan++) {
		struct idlist now = { 0 };
		bool settled;

		err = list_numbers(path, &now);
		if (err < 0) {
			idlist_done(&now);
			return err == -ENOENT ? -ESRCH : err;
		}
		idlist_sort(&now);
		settled = scan && same_ids(now.v, now.n, last.v, last.n);
		idlist_done(&last);
		last = now;
		if (settled)
			break;
	}
	for (size_t i = 0; i < last.n; i++) {
		err = idlist_add(out, last.v[i]);
		if (err < 0)
			return err;
	}
	return last.n ? 0 : -ESRCH;
}

int proc_all(const struct sys *sys, struct idlist *out)
{
	int err = list_numbers(sys->procfs, out);

	if (err == 0)
		idlist_sort(out);
	return err;
}

/* The second number of the Uid line is the effective user ID. */
int proc_uid(const struct sys *sys, int pid, uint32_t *out)
{
	char text[4096];
	unsigned long real, effective;
	const char *line;
	int n = sys_read_procfs(sys, text, sizeof(text), "%d/status", pid);

	if (n < 0)
		return n;
	line = strstr(text, "\nUid:");
	if (!line || sscanf(line + 5, "%lu %lu", &real, &effective) != 2)
		return -EBADMSG;
	*out = (uint32_t)effective;
	return 0;
}

int proc_of_user(const struct sys *sys, uint32_t uid, struct idlist *out)
{
	scoped(idlist_done) struct idlist all = { 0 };
	int err = proc_all(sys, &all);
	uint32_t owner;

	if (err < 0)
		return err;
	for (size_t i = 0; i < all.n; i++) {
		if (proc_uid(sys, all.v[i], &owner) < 0 || owner != uid)
			continue;
		err = idlist_add(out, all.v[i]);
		if (err < 0)
			return err;
	}
	return 0;
}

void proc_comm(const struct sys *sys, int tid, char *out, size_t size)
{
	if (sys_read_procfs(sys, out, size, "%d/comm", tid) < 0)
		out[0] = '\0';
	str_make_printable(out, strlen(out));
}

static uint64_t ticks_ns(uint64_t ticks)
{
	long per_second = sysconf(_SC_CLK_TCK);

	return num_muldiv(ticks, 1000000000ULL, per_second > 0 ? (uint64_t)per_second : 100);
}

int proc_times(const struct sys *sys, int pid, struct proc_times *out)
{
	unsigned long long user, system;
	long long child_user, child_system;
	const char *after_name;
	char text[2048];
	int n = sys_read_procfs(sys, text, sizeof(text), "%d/stat", pid);

	if (n < 0)
		return n == -ENOENT ? -ESRCH : n;
	/* The name in brackets may itself contain blanks and brackets; the other fields follow the last bracket. */
	after_name = strrchr(text, ')');
	if (!after_name ||
	    sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld",
		   &user, &system, &child_user, &child_system) != 4)
		return -EBADMSG;
	out->user_ns = ticks_ns(user + (uint64_t)child_user);
	out->system_ns = ticks_ns(system + (uint64_t)child_system);
	return 0;
}

int proc_parent(const struct sys *sys, int pid, int *parent, uint64_t *start_ns)
{
	const char *after_name;
	unsigned long long start;
	char text[2048];
	int n = sys_read_procfs(sys, text, sizeof(text), "%d/stat", pid);

	if (n < 0)
		return n == -ENOENT ? -ESRCH : n;
	after_name = strrchr(text, ')');
	if (!after_name ||
	    sscanf(after_name + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		   parent, &start) != 2)
		return -EBADMSG;
	*start_ns = ticks_ns(start);
	return 0;
}

int proc_cpu_ns(int pid, uint64_t *out)
{
	struct timespec used;
	clockid_t clock;
	int err = clock_getcpuclockid(pid, &clock);

	if (err)
		return -err;
	if (clock_gettime(clock, &used) < 0)
		return -errno;
	*out = (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
	return 0;
}

/* Adds the times of a line of /proc/stat: "cpu" or "cpuN", then user nice system idle iowait irq softirq ...
 * in ticks. Returns false at the end of the CPU lines (or after the "cpu" line if all CPUs are wanted). */
static bool add_cpu_times(struct str line, const struct cpuset *cpus, struct proc_times *sum)
{
	unsigned long long user, nice, system, irq, softirq;
	struct str word;
	char text[256];
	int cpu;

	if (!str_starts(line, "cpu"))
		return false;
	snprintf(text, sizeof(text), "%.*s", STR(line));
	str_cut(&line, ' ', &word);
	if (cpus && (num_int(str_n(word.s + 3, word.n - 3), &cpu) < 0 || !cpuset_has(cpus, cpu)))
		return true;
	if (!cpus && word.n != 3)
		return false;
	if (sscanf(text, "%*s %llu %llu %llu %*u %*u %llu %llu", &user, &nice, &system, &irq,
		   &softirq) != 5)
		return false;
	sum->user_ns += ticks_ns(user + nice);
	sum->system_ns += ticks_ns(system + irq + softirq);
	return true;
}

int proc_system_times(const struct sys *sys, const struct cpuset *cpus, struct proc_times *out)
{
	scoped(buf_done) struct buf text = { 0 };
	struct proc_times sum = { 0 };
	char path[PATH_MAX];
	struct str rest, line;
	int err;

	snprintf(path, sizeof(path), "%s/stat", sys->procfs);
	err = io_read(path, IO_FILE_MAX, &text);
	if (err < 0)
		return err;
	rest = buf_view(&text);
	while (str_cut(&rest, '\n', &line))
		if (!add_cpu_times(line, cpus, &sum))
			break;
	*out = sum;
	return 0;
}

bool proc_alive(int tid)
{
	return kill(tid, 0) == 0 || errno != ESRCH;
}

int proc_watch(int tid)
{
	int fd = -1;

#ifdef SYS_pidfd_open
	fd = (int)syscall(SYS_pidfd_open, tid, 0);
	if (fd < 0 && errno != ESRCH)
		fd = (int)syscall(SYS_pidfd_open, tid, PIDFD_OF_THREAD);
#endif
	if (fd >= 0)
		return fd;
	return proc_alive(tid) ? -EOPNOTSUPP : -ESRCH;
}
