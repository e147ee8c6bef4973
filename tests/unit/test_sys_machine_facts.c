/* sys/machine_facts.c: facts about a machine from a tree of files made here, and from an empty one. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "sys/machine_facts.h"

static char root[64];

static void put_file(const char *name, const char *text)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(io_make_parent_dirs(path, 0755), 0);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
	close(fd);
}

static int make_root(void **state)
{
	snprintf(root, sizeof(root), "/tmp/tacho-facts-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static void nothing_is_known(void **state)
{
	struct machine_facts m;

	assert_int_equal(machine_facts_read(&m, root, root), 0);
	assert_int_equal(m.hostname.n, 0);
	assert_int_equal(m.cpu_id.n, 0);
	assert_int_equal(m.memory_kb, 0);
	assert_int_equal(m.n_cpus, 1);
	assert_int_equal(m.cpus[0].core, UINT32_MAX);
	assert_int_equal(m.pmus.n, 0);
	assert_int_equal(m.nodes.n, 0);
	machine_facts_done(&m);
}

static void all_facts(void **state)
{
	struct machine_facts m;

	put_file("sys/kernel/hostname", "box\n");
	put_file("meminfo", "MemTotal:       1234 kB\nMemFree:  5 kB\n");
	put_file("cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 106\nmodel name\t: A CPU\n"
			    "stepping\t: 6\n");
	put_file("devices/system/cpu/present", "0-1\n");
	put_file("devices/system/cpu/online", "0\n");
	put_file("devices/system/cpu/cpu0/topology/core_id", "3\n");
	put_file("devices/system/cpu/cpu0/topology/physical_package_id", "1\n");
	put_file("devices/system/cpu/cpu0/topology/core_siblings_list", "0-1\n");	/* the older name */
	put_file("devices/system/cpu/cpu1/topology/package_cpus_list", "0-1\n");
	put_file("bus/event_source/devices/software/type", "1\n");
	put_file("bus/event_source/devices/cpu/type", "4\n");
	put_file("bus/event_source/devices/cpu/caps/branches", "32\n");
	put_file("bus/event_source/devices/cpu/caps/branch_counter_width", "2\n");
	put_file("bus/event_source/devices/broken/events/x", "");
	put_file("devices/system/node/node2/meminfo", "Node 2 MemTotal:   24080 kB\nNode 2 MemFree:    80 kB\n");
	put_file("devices/system/node/node2/cpulist", "0-1\n");
	put_file("devices/system/node/online", "2\n");
	assert_int_equal(machine_facts_read(&m, root, root), 0);
	assert_true(str_is(m.hostname, "box"));
	assert_true(str_is(m.cpu_model, "A CPU"));
	assert_true(str_is(m.cpu_id, "GenuineIntel,6,106,6"));
	assert_int_equal(m.memory_kb, 1234);
	assert_int_equal(m.n_cpus, 2);
	assert_int_equal(m.n_online, 1);
	assert_int_equal(m.cpus[0].core, 3);
	assert_int_equal(m.cpus[0].socket, 1);
	assert_int_equal(m.cpus[1].core, UINT32_MAX);
	assert_int_equal(m.packages.n, 1);
	assert_int_equal(m.cores.n, 0);
	assert_int_equal(m.pmus.n, 2);
	assert_true(str_is(m.pmus.v[0].name, "cpu"));
	assert_int_equal(m.pmus.v[0].type, 4);
	assert_int_equal(m.pmus.v[0].caps.n, 2);
	assert_true(str_is(m.pmus.v[0].caps.v[0].name, "branch_counter_width"));
	assert_true(str_is(m.pmus.v[0].caps.v[0].value, "2"));
	assert_int_equal(m.pmus.v[1].caps.n, 0);
	assert_int_equal(m.nodes.n, 1);
	assert_int_equal(m.nodes.v[0].node, 2);
	assert_int_equal(m.nodes.v[0].total_kb, 24080);
	assert_int_equal(m.nodes.v[0].free_kb, 80);
	assert_true(str_is(m.nodes.v[0].cpus, "0-1"));
	machine_facts_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_known),
		cmocka_unit_test(all_facts),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
