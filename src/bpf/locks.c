/*
 * bpf_locks: the program is stopped before its maps are read, so that they do not change meanwhile.
 */
#include "bpf/locks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/defs.h"
#include "base/error.h"
#include "bpf/load_libbpf.h"
#include "bpf/locks.skel.h"

#define MAX_STACKS 16384u
#define MAX_TASKS 65536u

struct bpf_locks {
	struct locks_bpf *skel;
	int n_cpus;
};

static void set_cpus(struct locks_bpf *s, const struct cpuset *cpus)
{
	uint64_t *mask = (uint64_t *)(uintptr_t)s->rodata->cpus;

	for (int cpu = cpuset_next(cpus, -1); cpu >= 0 && cpu < LOCK_BPF_CPUS; cpu = cpuset_next(cpus, cpu))
		mask[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

static int set_sizes(struct locks_bpf *s, const struct bpf_locks_opts *o)
{
	int err = o->max_sums ? bpf_map__set_max_entries(s->maps.sums, o->max_sums) : 0;

	if (!err && o->by_stack)
		err = bpf_map__set_max_entries(s->maps.stacks, max_of(o->max_sums, MAX_STACKS));
	if (!err && o->has_tasks)
		err = bpf_map__set_max_entries(s->maps.tasks, MAX_TASKS);
	if (!err && o->n_cgroups)
		err = bpf_map__set_max_entries(s->maps.cgroups, (uint32_t)min_of(o->n_cgroups, (size_t)1 << 20));
	return err;
}

static int load(struct bpf_locks *l, const struct bpf_locks_opts *o, struct tacho_error *e)
{
	struct locks_bpf *s = l->skel = locks_bpf__open();
	int err;

	if (!s)
		return libbpf_error(-errno, e);
	s->rodata->by = o->by;
	s->rodata->by_lock = o->by_lock;
	s->rodata->by_stack = o->by_stack;
	s->rodata->has_tasks = o->has_tasks;
	s->rodata->follows = o->follows;
	s->rodata->has_cgroups = o->has_cgroups;
	s->rodata->has_cpus = o->cpus != NULL;
	if (o->cpus)
		set_cpus(s, o->cpus);
	bpf_program__set_autoload(s->progs.on_fork, o->has_tasks && o->follows);
	bpf_program__set_autoload(s->progs.on_free, o->has_tasks);
	err = set_sizes(s, o);
	if (!err)
		err = locks_bpf__load(s);
	if (err < 0)
		return libbpf_error(err, e);
	err = locks_bpf__attach(s);
	if (err != -ENOENT && err != -EINVAL)
		return err < 0 ? libbpf_error(err, e) : 0;
	return error_set(e, err, "the kernel has no tracepoints lock:contention_begin and contention_end: they came with Linux 5.19");
}

int bpf_locks_open(struct bpf_locks **out, const struct bpf_locks_opts *opts, struct tacho_error *e)
{
	struct bpf_locks *l;
	int err = libbpf_open(e);

	if (err < 0)
		return err;
	l = calloc(1, sizeof(*l));
	if (!l)
		return error_nomem(e);
	l->n_cpus = libbpf_num_possible_cpus();
	err = l->n_cpus < 0 ? libbpf_error(l->n_cpus, e) : load(l, opts, e);
	if (err < 0) {
		bpf_locks_close(l);
		return err;
	}
	*out = l;
	return 0;
}

void bpf_locks_close(struct bpf_locks *l)
{
	if (!l)
		return;
	if (l->skel)
		locks_bpf__destroy(l->skel);
	free(l);
}

static int add(int map, const void *key)
{
	const uint8_t one = 1;

	return bpf_map_update_elem(map, key, &one, BPF_ANY) < 0 ? -errno : 0;
}

int bpf_locks_add_task(struct bpf_locks *l, uint32_t tid)
{
	return add(bpf_map__fd(l->skel->maps.tasks), &tid);
}

int bpf_locks_add_cgroup(struct bpf_locks *l, uint64_t id)
{
	return add(bpf_map__fd(l->skel->maps.cgroups), &id);
}

void bpf_locks_start(struct bpf_locks *l)
{
	l->skel->bss->running = 1;
}

void bpf_locks_stop(struct bpf_locks *l)
{
	l->skel->bss->running = 0;
}

/* Adds up the CPUs. */
static struct lock_bpf_sum sum_of(const struct lock_bpf_sum *by_cpu, int n_cpus)
{
	struct lock_bpf_sum all = { .min_ns = UINT64_MAX };

	for (int i = 0; i < n_cpus; i++) {
		if (!by_cpu[i].n)
			continue;
		all.n += by_cpu[i].n;
		all.sum_ns += by_cpu[i].sum_ns;
		all.max_ns = max_of(all.max_ns, by_cpu[i].max_ns);
		all.min_ns = min_of(all.min_ns, by_cpu[i].min_ns);
	}
	return all;
}

static int each_sum(const struct bpf_locks *l, bpf_locks_fn *fn, void *arg)
{
	scoped(freep) struct lock_bpf_sum *by_cpu = calloc((size_t)l->n_cpus, sizeof(*by_cpu));
	int map = bpf_map__fd(l->skel->maps.sums), err = 0;
	struct lock_bpf_key key, *last = NULL;

	if (!by_cpu)
		return -ENOMEM;
	while (err == 0 && bpf_map_get_next_key(map, last, &key) == 0) {
		if (bpf_map_lookup_elem(map, &key, by_cpu) == 0) {
			struct lock_bpf_sum sum = sum_of(by_cpu, l->n_cpus);

			err = sum.n ? fn(arg, &key, &sum) : 0;
		}
		last = &key;
	}
	return err;
}

static int each_wait(const struct bpf_locks *l, bpf_locks_fn *fn, void *arg)
{
	int map = bpf_map__fd(l->skel->maps.waits), err = 0;
	uint64_t key[2], *last = NULL, now;
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	while (err == 0 && bpf_map_get_next_key(map, last, key) == 0) {
		struct lock_bpf_wait wait;

		if (bpf_map_lookup_elem(map, key, &wait) == 0 && wait.time < now) {
			uint64_t ns = now - wait.time;
			const struct lock_bpf_sum one = { 1, ns, ns, ns };

			err = fn(arg, &wait.key, &one);
		}
		last = key;
	}
	return err;
}

int bpf_locks_each(struct bpf_locks *l, bpf_locks_fn *fn, void *arg)
{
	int err = each_sum(l, fn, arg);

	return err < 0 ? err : each_wait(l, fn, arg);
}

int bpf_locks_stack(const struct bpf_locks *l, int64_t id, uint64_t ips[LOCK_BPF_FRAMES])
{
	struct lock_bpf_stack stack;

	if (bpf_map_lookup_elem(bpf_map__fd(l->skel->maps.stacks), &id, &stack) < 0)
		return -errno;
	memcpy(ips, stack.ips, LOCK_BPF_FRAMES * sizeof(*ips));
	return (int)min_of(stack.n, (uint64_t)LOCK_BPF_FRAMES);
}

bool bpf_locks_comm(const struct bpf_locks *l, uint32_t tid, char out[16])
{
	out[15] = '\0';
	if (bpf_map_lookup_elem(bpf_map__fd(l->skel->maps.comms), &tid, out) < 0)
		return false;
	out[15] = '\0';
	return true;
}

uint64_t bpf_locks_lost(const struct bpf_locks *l)
{
	scoped(freep) uint64_t *values = calloc((size_t)l->n_cpus, sizeof(*values));
	uint64_t n = 0;

	for (uint32_t what = 0; values && what < LOCK_BPF_LOST; what++)
		for (int i = 0; bpf_map_lookup_elem(bpf_map__fd(l->skel->maps.lost), &what, values) == 0 && i < l->n_cpus; i++)
			n += values[i];
	return n;
}
