/*
 * Loads counters.bpf.c, shares maps of events with other programs, and reads the totals from mapped memory.
 */
#include "bpf/counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/error.h"
#include "bpf/load_libbpf.h"
#include "bpf/counters.skel.h"

#define TASKS_MIN 16384u		/* room for those that are started later */

struct bpf_counters {
	struct counters_bpf *skel;
	enum counter_target target;
	uint32_t n_events, n_buckets;
	int n_cpus;			/* possible ones */
	struct counter_total *totals;
	size_t bytes;
};

/* ---- maps of events ---- */

static void map_name(char out[16], uint64_t hash)
{
	snprintf(out, 16, "tacho%010llx", (unsigned long long)(hash & 0xffffffffff));
}

/* A map whose maker has put all events into it is frozen. */
static bool is_frozen(int fd)
{
	char path[64], line[100];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = strcmp(line, "frozen:\t1\n") == 0;
	if (f)
		fclose(f);
	return found;
}

static bool is_wanted(int fd, const char *name)
{
	struct bpf_map_info info = { 0 };
	uint32_t n = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &n) == 0 && info.type == BPF_MAP_TYPE_PERF_EVENT_ARRAY &&
	       strcmp(info.name, name) == 0 && is_frozen(fd);
}

int bpf_counters_find_events(uint64_t hash)
{
	char name[16];
	uint32_t id = 0;

	map_name(name, hash);
	while (bpf_map_get_next_id(id, &id) == 0) {
		int fd = bpf_map_get_fd_by_id(id);

		if (fd >= 0 && is_wanted(fd, name))
			return fd;
		if (fd >= 0)
			close(fd);
		else if (errno == EPERM)
			break;
	}
	return -ENOENT;
}

int bpf_counters_share_events(uint64_t hash, const int *fds, size_t n)
{
	const struct bpf_map_create_opts opts = { .sz = sizeof(opts), .map_flags = BPF_F_PRESERVE_ELEMS };
	int n_cpus = libbpf_num_possible_cpus(), fd;
	char name[16];

	if (n_cpus < 0)
		return n_cpus;
	map_name(name, hash);
	fd = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, name, 4, 4, (uint32_t)n_cpus, &opts);
	if (fd < 0)
		return -errno;
	for (uint32_t cpu = 0; cpu < n && cpu < (uint32_t)n_cpus; cpu++)
		if (fds[cpu] >= 0 && bpf_map_update_elem(fd, &cpu, &fds[cpu], BPF_ANY) < 0) {
			int err = -errno;

			close(fd);
			return err;
		}
	bpf_map_freeze(fd);		/* before Linux 5.2 the map is not shared */
	return fd;
}

/* ---- the programs ---- */

static void choose_programs(struct counters_bpf *s, const struct bpf_counters_opts *o)
{
	bool tasks = o->target == COUNTER_TASKS;

	bpf_program__set_autoload(s->progs.on_switch, o->target != COUNTER_ALL);
	bpf_program__set_autoload(s->progs.on_attach, o->target == COUNTER_CGROUPS);
	bpf_program__set_autoload(s->progs.on_fork, tasks && o->follows);
	bpf_program__set_autoload(s->progs.on_free, tasks);
	bpf_program__set_autoload(s->progs.on_exec, tasks);
	bpf_program__set_autoload(s->progs.on_prepare_exec, o->starts_at_exec_of != 0);
	bpf_program__set_autoload(s->progs.on_exec_start, o->starts_at_exec_of != 0);
}

static int set_sizes(struct bpf_counters *c, const struct bpf_counters_opts *o)
{
	uint64_t n = (uint64_t)c->n_cpus * o->n_buckets * o->n_events;
	int err = n > UINT32_MAX / sizeof(struct counter_total) ? -E2BIG :
		  bpf_map__set_max_entries(c->skel->maps.totals, (uint32_t)n);

	c->bytes = (size_t)n * sizeof(struct counter_total);
	if (!err && o->target == COUNTER_TASKS)
		err = bpf_map__set_max_entries(c->skel->maps.tasks,
					       (uint32_t)min_of(max_of(o->n_tasks * 2, (size_t)TASKS_MIN), (size_t)1 << 22));
	if (!err && o->n_cgroups)
		err = bpf_map__set_max_entries(c->skel->maps.buckets, (uint32_t)min_of(o->n_cgroups, (size_t)1 << 20));
	return err;
}

static int attach(struct bpf_program *p, struct bpf_link **link)
{
	if (bpf_program__fd(p) < 0)
		return 0;
	*link = bpf_program__attach(p);
	return *link ? 0 : -errno;
}

/* Links are in the skeleton, which detaches them. */
static int attach_followers(struct counters_bpf *s)
{
	int err = attach(s->progs.on_fork, &s->links.on_fork);

	if (!err)
		err = attach(s->progs.on_free, &s->links.on_free);
	if (!err)
		err = attach(s->progs.on_exec, &s->links.on_exec);
	return err;
}

static int load(struct bpf_counters *c, const struct bpf_counters_opts *o, struct tacho_error *e)
{
	struct counters_bpf *s = c->skel = counters_bpf__open();
	int err;

	if (!s)
		return libbpf_error(-errno, e);
	s->rodata->target = o->target;
	s->rodata->n_events = o->n_events;
	s->rodata->n_buckets = o->n_buckets;
	s->rodata->follows = o->follows;
	s->rodata->user = o->user;
	s->rodata->counts_switches = o->counts_switches;
	choose_programs(s, o);
	err = set_sizes(c, o);
	if (!err)
		err = counters_bpf__load(s);
	if (!err) {
		c->totals = mmap(NULL, c->bytes, PROT_READ, MAP_SHARED, bpf_map__fd(s->maps.totals), 0);
		err = c->totals == MAP_FAILED ? -errno : attach_followers(s);
	}
	if (err < 0)
		return libbpf_error(err, e);
	s->bss->starts_at_exec_of = o->starts_at_exec_of;
	return 0;
}

int bpf_counters_open(struct bpf_counters **out, const struct bpf_counters_opts *opts, struct tacho_error *e)
{
	struct bpf_counters *c;
	int err = libbpf_open(e);

	if (err < 0)
		return err;
	c = calloc(1, sizeof(*c));
	if (!c)
		return error_nomem(e);
	c->totals = MAP_FAILED;
	c->target = opts->target;
	c->n_events = opts->n_events;
	c->n_buckets = opts->n_buckets;
	c->n_cpus = libbpf_num_possible_cpus();
	err = c->n_cpus < 0 ? libbpf_error(c->n_cpus, e) : load(c, opts, e);
	if (err < 0) {
		bpf_counters_close(c);
		return err;
	}
	*out = c;
	return 0;
}

void bpf_counters_close(struct bpf_counters *c)
{
	if (!c)
		return;
	if (c->totals != MAP_FAILED)
		munmap(c->totals, c->bytes);
	if (c->skel)
		counters_bpf__destroy(c->skel);
	free(c);
}

int bpf_counters_attach(struct bpf_counters *c, struct tacho_error *e)
{
	struct counters_bpf *s = c->skel;
	int err = attach(s->progs.on_attach, &s->links.on_attach);

	if (!err)
		err = attach(s->progs.on_prepare_exec, &s->links.on_prepare_exec);
	if (err == -ENOENT || err == -EINVAL || err == -EOPNOTSUPP)	/* before Linux 6.10 there is no such tracepoint */
		err = attach(s->progs.on_exec_start, &s->links.on_exec_start);
	if (!err)
		err = attach(s->progs.on_switch, &s->links.on_switch);
	return err < 0 ? libbpf_error(err, e) : 0;
}

/* ---- use ---- */

static int update(int map, const void *key, const void *value)
{
	return bpf_map_update_elem(map, key, value, BPF_ANY) < 0 ? -errno : 0;
}

int bpf_counters_set_event(struct bpf_counters *c, uint32_t i, int map)
{
	return update(bpf_map__fd(c->skel->maps.events), &i, &map);
}

int bpf_counters_add_task(struct bpf_counters *c, uint32_t tid)
{
	const uint8_t one = 1;

	return update(bpf_map__fd(c->skel->maps.tasks), &tid, &one);
}

int bpf_counters_add_cgroup(struct bpf_counters *c, uint64_t id, uint32_t bucket)
{
	return update(bpf_map__fd(c->skel->maps.buckets), &id, &bucket);
}

void bpf_counters_start(struct bpf_counters *c)
{
	c->skel->bss->running = 1;
}

void bpf_counters_stop(struct bpf_counters *c)
{
	c->skel->bss->running = c->skel->bss->starts_at_exec_of = 0;
}

int bpf_counters_collect(struct bpf_counters *c, int cpu)
{
	struct bpf_test_run_opts opts = { .sz = sizeof(opts), .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = (uint32_t)cpu };

	return bpf_prog_test_run_opts(bpf_program__fd(c->skel->progs.collect), &opts) < 0 ? -errno : 0;
}

struct counter_total bpf_counters_total(const struct bpf_counters *c, int cpu, uint32_t bucket, uint32_t event)
{
	const volatile struct counter_total *t;

	if (cpu < 0 || cpu >= c->n_cpus || bucket >= c->n_buckets || event >= c->n_events)
		return (struct counter_total){ 0 };
	t = &c->totals[((size_t)cpu * c->n_buckets + bucket) * c->n_events + event];
	return (struct counter_total){ t->count, t->enabled_ns, t->running_ns };
}

uint64_t bpf_counters_tasks_lost(const struct bpf_counters *c)
{
	return c->skel->bss->tasks_lost;
}
