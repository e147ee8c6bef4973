/* sys/topology.c: two sockets with hyperthreads, and machines with little information in sysfs. */
#include "fake_kernel.h"

#include "sys/topology.h"

static void cpu_file(const struct fake_machine *m, int cpu, const char *file, int value)
{
	char path[192], text[16];

	snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/%s", cpu, file);
	snprintf(text, sizeof(text), "%d\n", value);
	fake_file(m, path, text);
}

static void cache(const struct fake_machine *m, int cpu, int index, int level, const char *type, int id)
{
	char path[128];

	snprintf(path, sizeof(path), "cache/index%d/level", index);
	cpu_file(m, cpu, path, level);
	snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/cache/index%d/type", cpu, index);
	fake_file(m, path, type);
	if (id < 0)
		return;
	snprintf(path, sizeof(path), "cache/index%d/id", index);
	cpu_file(m, cpu, path, id);
}

/* Eight CPUs: socket cpu / 4, core (cpu / 2) % 2, two threads each. */
static void two_sockets(struct fake_machine *m)
{
	fake_file(m, "sys/devices/system/cpu/online", "0-7\n");
	fake_file(m, "sys/devices/system/node/node0/cpulist", "0-3\n");
	fake_file(m, "sys/devices/system/node/node1/cpulist", "4-7\n");
	for (int cpu = 0; cpu < 8; cpu++) {
		cpu_file(m, cpu, "topology/physical_package_id", cpu / 4);
		cpu_file(m, cpu, "topology/die_id", 0);
		cpu_file(m, cpu, "topology/cluster_id", -1);
		cpu_file(m, cpu, "topology/core_id", cpu / 2 % 2);
		cache(m, cpu, 0, 1, "Data", cpu / 2);
		cache(m, cpu, 1, 1, "Instruction", 99);
		cache(m, cpu, 2, 2, "Unified", cpu / 2);
		cache(m, cpu, 3, 3, "Unified", cpu / 4);
	}
}

static void a_server(void **state)
{
	struct fake_machine m;
	struct topology t;
	struct sys sys;

	fake_machine_init(&m);
	two_sockets(&m);
	assert_int_equal(sys_init(&sys, m.sysfs, m.procfs, NULL), 0);
	assert_int_equal(topology_read(&t, &sys), 0);
	assert_int_equal(t.n, 8);
	assert_int_equal(t.n_sockets, 2);
	assert_int_equal(t.n_dies, 2);
	assert_int_equal(t.n_cores, 4);
	for (int cpu = 0; cpu < 8; cpu++) {
		const struct topology_cpu *at = topology_cpu(&t, cpu);

		assert_int_equal(at->socket, cpu / 4);
		assert_int_equal(at->core, cpu / 2 % 2);
		assert_int_equal(at->cluster, 0);
		assert_int_equal(at->node, cpu / 4);
		assert_int_equal(at->cache_id[1], cpu / 2);
		assert_int_equal(at->cache_id[3], cpu / 4);
		assert_int_equal(at->last_level, 3);
	}
	assert_null(topology_cpu(&t, 8));
	topology_done(&t);
	sys_done(&sys);
	fake_machine_done(&m);
}

static void machine_without_topology(void **state)
{
	struct fake_machine m;
	struct topology t;
	struct sys sys;

	fake_machine_init(&m);
	fake_file(&m, "sys/devices/system/cpu/online", "1,5\n");
	cache(&m, 5, 0, 2, "Unified", -1);
	fake_file(&m, "sys/devices/system/cpu/cpu5/cache/index0/shared_cpu_list", "1,5\n");
	assert_int_equal(sys_init(&sys, m.sysfs, m.procfs, NULL), 0);
	assert_int_equal(topology_read(&t, &sys), 0);
	assert_int_equal(t.n, 2);
	assert_int_equal(t.n_sockets, 1);
	assert_int_equal(topology_cpu(&t, 1)->node, -1);
	assert_int_equal(topology_cpu(&t, 1)->last_level, 0);
	assert_int_equal(topology_cpu(&t, 5)->cache_id[2], 1);	/* without an id: its first sharer */
	topology_done(&t);
	sys_done(&sys);
	fake_machine_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server),
		cmocka_unit_test(machine_without_topology),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
