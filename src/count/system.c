/*
 * Lists what events can count on: processes, control groups, CPUs.
 */
#include "count/evset_internal.h"

#include <errno.h>
#include <tacho/system.h>

#include "sys/cgroup.h"
#include "sys/proc.h"
#include "sys/usage.h"

int tacho_processes(struct tacho *t, int (*fn)(void *arg, const struct tacho_process *p), void *arg)
{
	scoped(idlist_done) struct idlist all = { 0 };
	int err = proc_all(&t->sys, &all);
	char comm[64];

	for (size_t i = 0; err == 0 && i < all.n; i++) {
		struct tacho_process p = { .size = sizeof(p), .pid = all.v[i], .comm = comm };

		if (proc_uid(&t->sys, p.pid, &p.uid) < 0)
			continue;		/* it has ended meanwhile */
		proc_comm(&t->sys, p.pid, comm, sizeof(comm));
		err = fn(arg, &p);
	}
	return err;
}

int tacho_process_find(struct tacho *t, int pid, int (*fn)(void *arg, const struct tacho_process *p), void *arg)
{
	char comm[64];
	struct tacho_process p = { .size = sizeof(p), .pid = pid, .comm = comm };
	int err = proc_uid(&t->sys, pid, &p.uid);

	if (err == 0)
		err = proc_parent(&t->sys, pid, &p.parent, &p.start_ns);
	if (err < 0)
		return err == -ENOENT ? -ESRCH : err;
	proc_comm(&t->sys, pid, comm, sizeof(comm));
	return fn(arg, &p);
}

int tacho_cgroups(struct tacho *t, int (*fn)(void *arg, const char *path), void *arg)
{
	scoped(strlist_done) struct strlist all = { 0 };
	int err = cgroup_list(&t->sys, &all);

	for (size_t i = 0; err == 0 && i < all.n; i++)
		err = fn(arg, all.v[i]);
	return err;
}

int tacho_cgroup_mount(struct tacho *t, char *out, size_t size)
{
	return cgroup_mount(&t->sys, out, size);
}

int tacho_online_cpus(struct tacho *t, char *out, size_t size)
{
	scoped(cpuset_done) struct cpuset cpus = { 0 };
	scoped(buf_done) struct buf text = { 0 };
	int err = sys_online_cpus(&t->sys, &cpus);

	if (err < 0)
		return err;
	cpuset_print(&cpus, &text);
	if (buf_failed(&text))
		return -ENOMEM;
	if (text.n >= size)
		return -ERANGE;
	memcpy(out, text.bytes, text.n + 1);
	return (int)text.n;
}

int tacho_cpu_times(struct tacho *t, int (*fn)(void *arg, const struct tacho_cpu_times *c), void *arg)
{
	return usage_cpus(&t->sys, fn, arg);
}

int tacho_process_usages(struct tacho *t, int (*fn)(void *arg, const struct tacho_process_usage *p), void *arg)
{
	scoped(idlist_done) struct idlist all = { 0 };
	int err = proc_all(&t->sys, &all);
	char comm[TACHO_COMM_MAX];

	for (size_t i = 0; err == 0 && i < all.n; i++) {
		struct tacho_process_usage p = { .size = sizeof(p) };

		if (usage_process(&t->sys, all.v[i], &p, comm) == 0)	/* else it has ended meanwhile */
			err = fn(arg, &p);
	}
	return err;
}

int tacho_process_cgroup(struct tacho *t, int pid, char *out, size_t size)
{
	return usage_process_cgroup(&t->sys, pid, out, size);
}

int tacho_process_command_line(struct tacho *t, int pid, char *out, size_t size)
{
	return usage_command_line(&t->sys, pid, out, size);
}

int tacho_cgroup_cpu(struct tacho *t, const char *path, uint64_t *cpu_ns)
{
	return usage_cgroup(&t->sys, path, cpu_ns);
}
