/*
 * Reads the CPU topology. Core numbers repeat on every socket, and die numbers may, so a core is always
 * identified by socket, die and core together. In containers and on old kernels some of the files are
 * missing; a missing file leaves the default value and is not an error.
 */
#include "sys/topology.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/num.h"

#define CACHE_INDEXES 16

static int number(const struct sys *sys, int cpu, const char *file, int fallback)
{
	char text[32];
	int value;

	if (sys_read_sysfs(sys, text, sizeof(text), "devices/system/cpu/cpu%d/%s", cpu, file) < 0)
		return fallback;
	/* arm64 and others write -1 for unknown numbers. */
	return num_int(str_trim(str_of(text)), &value) < 0 || value < 0 ? fallback : value;
}

/* Some kernels and firmwares give no cache ID; the first CPU that shares the cache is used instead. */
static int first_sharer(const struct sys *sys, int cpu, int index)
{
	scoped(cpuset_done) struct cpuset sharers = { 0 };
	char text[4096];

	if (sys_read_sysfs(sys, text, sizeof(text),
			   "devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index) < 0)
		return cpu;
	if (cpuset_parse(&sharers, str_trim(str_of(text))) < 0)
		return cpu;
	return max_of(cpuset_next(&sharers, -1), 0);
}

static void read_caches(const struct sys *sys, struct topology_cpu *out)
{
	for (int level = 0; level <= TOPOLOGY_CACHES; level++)
		out->cache_id[level] = -1;
	for (int index = 0; index < CACHE_INDEXES; index++) {
		char file[64], type[32];
		int level, id;

		snprintf(file, sizeof(file), "cache/index%d/level", index);
		level = number(sys, out->cpu, file, 0);
		if (!level)
			break;
		if (level > TOPOLOGY_CACHES ||
		    sys_read_sysfs(sys, type, sizeof(type),
				   "devices/system/cpu/cpu%d/cache/index%d/type", out->cpu, index) < 0 ||
		    str_is(str_of(type), "Instruction"))
			continue;
		snprintf(file, sizeof(file), "cache/index%d/id", index);
		id = number(sys, out->cpu, file, -1);
		out->cache_id[level] = id >= 0 ? id : first_sharer(sys, out->cpu, index);
		out->last_level = max_of(out->last_level, level);
	}
}

static void read_nodes(const struct sys *sys, struct topology *t)
{
	scoped(strlist_done) struct strlist names = { 0 };
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/devices/system/node", sys->sysfs);
	if (sys_list_dir(path, &names) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		scoped(cpuset_done) struct cpuset cpus = { 0 };
		struct str name = str_of(names.v[i]);
		char text[4096];
		int node;

		if (!str_starts(name, "node") || num_int(str_n(name.s + 4, name.n - 4), &node) < 0 ||
		    sys_read_sysfs(sys, text, sizeof(text), "devices/system/node/%s/cpulist",
				   name.s) < 0 ||
		    cpuset_parse(&cpus, str_trim(str_of(text))) < 0)
			continue;
		for (size_t c = 0; c < t->n; c++)
			if (cpuset_has(&cpus, t->cpus[c].cpu))
				t->cpus[c].node = node;
	}
}

static bool same_socket(const struct topology_cpu *a, const struct topology_cpu *b)
{
	return a->socket == b->socket;
}

static bool same_die(const struct topology_cpu *a, const struct topology_cpu *b)
{
	return same_socket(a, b) && a->die == b->die;
}

static bool same_core(const struct topology_cpu *a, const struct topology_cpu *b)
{
	return same_die(a, b) && a->cluster == b->cluster && a->core == b->core;
}

static unsigned count_distinct(const struct topology *t,
			       bool (*same)(const struct topology_cpu *, const struct topology_cpu *))
{
	unsigned n = 0;

	for (size_t i = 0; i < t->n; i++) {
		size_t k = 0;

		while (k < i && !same(&t->cpus[k], &t->cpus[i]))
			k++;
		n += k == i;
	}
	return n;
}

static void read_cpu(const struct sys *sys, int cpu, struct topology_cpu *out)
{
	*out = (struct topology_cpu){
		.cpu = cpu,
		.socket = number(sys, cpu, "topology/physical_package_id", 0),
		.die = number(sys, cpu, "topology/die_id", 0),
		.cluster = number(sys, cpu, "topology/cluster_id", 0),
		.core = number(sys, cpu, "topology/core_id", 0),
		.node = -1,
	};
	read_caches(sys, out);
}

int topology_read(struct topology *out, const struct sys *sys)
{
	scoped(cpuset_done) struct cpuset online = { 0 };
	struct topology t = { 0 };
	int err = sys_online_cpus(sys, &online);

	if (err < 0)
		return err;
	t.cpus = calloc(max_of(cpuset_count(&online), 1u), sizeof(*t.cpus));
	if (!t.cpus)
		return -ENOMEM;
	for (int cpu = cpuset_next(&online, -1); cpu >= 0; cpu = cpuset_next(&online, cpu))
		read_cpu(sys, cpu, &t.cpus[t.n++]);
	read_nodes(sys, &t);
	t.n_sockets = count_distinct(&t, same_socket);
	t.n_dies = count_distinct(&t, same_die);
	t.n_cores = count_distinct(&t, same_core);
	*out = t;
	return 0;
}

void topology_done(struct topology *t)
{
	free(t->cpus);
	*t = (struct topology){ 0 };
}

const struct topology_cpu *topology_cpu(const struct topology *t, int cpu)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (t->cpus[mid].cpu == cpu)
			return &t->cpus[mid];
		if (t->cpus[mid].cpu < cpu)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}
