/*
 * Reads CPU times. One file is read per process and per control group, since this is done every second.
 */
#include "sys/usage.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/num.h"

static uint64_t ticks_to_ns(uint64_t ticks)
{
	long per_second = sysconf(_SC_CLK_TCK);

	return num_muldiv(ticks, 1000000000ULL, per_second > 0 ? (uint64_t)per_second : 100);
}

/* "cpuN user nice system idle iowait irq softirq steal ..."; guest times are part of user and nice. */
static bool parse_cpu(struct str line, struct tacho_cpu_times *out)
{
	unsigned long long t[8] = { 0 };
	char text[256];

	snprintf(text, sizeof(text), "%.*s", STR(line));
	if (sscanf(text, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &out->cpu, &t[0], &t[1], &t[2], &t[3],
		   &t[4], &t[5], &t[6], &t[7]) < 5 || out->cpu < 0)
		return false;
	out->user_ns = ticks_to_ns(t[0] + t[1]);
	out->system_ns = ticks_to_ns(t[2] + t[5] + t[6]);
	out->idle_ns = ticks_to_ns(t[3]);
	out->iowait_ns = ticks_to_ns(t[4]);
	out->steal_ns = ticks_to_ns(t[7]);
	return true;
}

int usage_cpus(const struct sys *sys, int (*fn)(void *arg, const struct tacho_cpu_times *c), void *arg)
{
	scoped(buf_done) struct buf text = { 0 };
	char path[PATH_MAX];
	struct str rest, line;
	int err;

	snprintf(path, sizeof(path), "%s/stat", sys->procfs);
	err = io_read(path, IO_FILE_MAX, &text);
	if (err < 0)
		return err;
	rest = buf_view(&text);
	while (err == 0 && str_cut(&rest, '\n', &line) && str_starts(line, "cpu")) {
		struct tacho_cpu_times c = { .size = sizeof(c) };

		if (line.n > 3 && line.s[3] != ' ' && parse_cpu(line, &c))
			err = fn(arg, &c);
	}
	return err;
}

int usage_process(const struct sys *sys, int pid, struct tacho_process_usage *out, char *comm)
{
	unsigned long long user, system, start;
	char text[2048], *name, *after_name;
	long threads, pages;
	int n = sys_read_procfs(sys, text, sizeof(text), "%d/stat", pid);

	if (n < 0)
		return n == -ENOENT ? -ESRCH : n;
	/* The name in brackets may itself contain blanks and brackets; the other fields follow the last bracket. */
	name = strchr(text, '(');
	after_name = strrchr(text, ')');
	if (!name || !after_name || after_name < name ||
	    sscanf(after_name + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %ld %*d %llu %*u %ld",
		   &out->parent, &user, &system, &threads, &start, &pages) != 6)
		return -EBADMSG;
	*after_name = '\0';
	snprintf(comm, TACHO_COMM_MAX, "%s", name + 1);
	str_make_printable(comm, strlen(comm));
	out->pid = pid;
	out->comm = comm;
	out->user_ns = ticks_to_ns(user);
	out->system_ns = ticks_to_ns(system);
	out->start_ns = ticks_to_ns(start);
	out->n_threads = threads > 0 ? (uint32_t)threads : 0;
	out->resident_bytes = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
	return 0;
}

int usage_process_cgroup(const struct sys *sys, int pid, char *out, size_t size)
{
	struct str rest, line, best = STR_LIT("/");
	char text[8192];
	bool fixed = false;
	int n = sys_read_procfs(sys, text, sizeof(text), "%d/cgroup", pid);

	if (n < 0)
		return n == -ENOENT ? -ESRCH : n;
	rest = str_of(text);
	while (!fixed && str_cut(&rest, '\n', &line)) {
		bool unified = str_starts(line, "0::");
		struct str number, controllers;

		if (!str_cut(&line, ':', &number) || !str_cut(&line, ':', &controllers))
			continue;
		if (line.n <= 1)
			continue;
		fixed = unified || str_is(controllers, "name=systemd");
		if (fixed || line.n > best.n)
			best = line;
	}
	if (best.n >= size)
		return -ENAMETOOLONG;
	snprintf(out, size, "%.*s", STR(best));
	str_make_printable(out, best.n);
	return 0;
}

int usage_command_line(const struct sys *sys, int pid, char *out, size_t size)
{
	int n = sys_read_procfs(sys, out, size, "%d/cmdline", pid);

	if (n < 0)
		return n == -ENOENT ? -ESRCH : n;
	for (int i = 0; i + 1 < n; i++)
		if (!out[i])
			out[i] = ' ';
	str_make_printable(out, strlen(out));
	return 0;
}

/* "rw,relatime,cpu,cpuacct 0 0" */
static bool has_option(struct str rest, const char *name)
{
	struct str options = rest, word;

	str_cut(&rest, ' ', &options);
	while (str_cut(&options, ',', &word))
		if (str_is(word, name))
			return true;
	return false;
}

/* The directory of the CPU accounting hierarchy: cpuacct of cgroup v1, else the unified one. */
static int accounting_mount(const struct sys *sys, char *out, size_t size, bool *v1)
{
	scoped(buf_done) struct buf text = { 0 };
	struct str rest, line, device, dir, type;
	char path[PATH_MAX];
	bool found = false;
	int err;

	snprintf(path, sizeof(path), "%s/mounts", sys->procfs);
	err = io_read(path, IO_FILE_MAX, &text);
	if (err < 0)
		return err;
	rest = buf_view(&text);
	*v1 = false;
	while (!*v1 && str_cut(&rest, '\n', &line)) {
		if (!str_cut(&line, ' ', &device) || !str_cut(&line, ' ', &dir) || !str_cut(&line, ' ', &type))
			continue;
		*v1 = str_is(type, "cgroup") && has_option(line, "cpuacct");
		if ((!*v1 && (found || !str_is(type, "cgroup2"))) || dir.n >= size)
			continue;
		snprintf(out, size, "%.*s", STR(dir));
		found = true;
	}
	return found ? 0 : -ENOENT;
}

int usage_cgroup(const struct sys *sys, const char *path, uint64_t *cpu_ns)
{
	char mount[PATH_MAX], file[PATH_MAX];
	scoped(buf_done) struct buf text = { 0 };
	struct str rest, line, word;
	uint64_t usec;
	bool v1;
	int err = accounting_mount(sys, mount, sizeof(mount), &v1);

	if (err < 0)
		return err;
	if ((size_t)snprintf(file, sizeof(file), "%s%s/%s", mount, path, v1 ? "cpuacct.usage" : "cpu.stat") >= sizeof(file))
		return -ENAMETOOLONG;
	err = io_read(file, 65536, &text);
	if (err < 0)
		return err;
	rest = buf_view(&text);
	if (v1)
		return num_u64(str_trim(rest), cpu_ns) < 0 ? -EBADMSG : 0;
	while (str_cut(&rest, '\n', &line))
		if (str_cut(&line, ' ', &word) && str_is(word, "usage_usec")) {
			if (num_u64(str_trim(line), &usec) < 0 || usec > UINT64_MAX / 1000)
				return -EBADMSG;
			*cpu_ns = usec * 1000;
			return 0;
		}
	return -ENOENT;
}
