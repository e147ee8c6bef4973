/* count/sums.c, tool_events.c: places, merged PMU instances, per-package events, tool events. */
#include "fake_kernel.h"

#include "count/evset_internal.h"

struct bench {
	struct fake_machine machine;
	struct fake_kernel kernel;
	struct tacho *t;
	struct tacho_evset *set;
	struct tacho_error e;
};

static void cpu_file(const struct fake_machine *m, int cpu, const char *file, int value)
{
	char path[128], text[16];

	snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/%s", cpu, file);
	snprintf(text, sizeof(text), "%d\n", value);
	fake_file(m, path, text);
}

/* Four CPUs: two sockets of one core with two threads; each socket is a node with one L2. */
static void bench_init(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	fake_machine_init(&b->machine);
	for (int cpu = 0; cpu < 4; cpu++) {
		char path[96];

		cpu_file(&b->machine, cpu, "topology/physical_package_id", cpu / 2);
		cpu_file(&b->machine, cpu, "topology/core_id", 0);
		cpu_file(&b->machine, cpu, "cache/index0/level", 2);
		cpu_file(&b->machine, cpu, "cache/index0/id", 10 + cpu / 2);
		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/cache/index0/type", cpu);
		fake_file(&b->machine, path, "Unified\n");
	}
	fake_file(&b->machine, "sys/devices/system/node/node0/cpulist", "0-1\n");
	fake_file(&b->machine, "sys/devices/system/node/node1/cpulist", "2-3\n");
	for (int i = 0; i < 2; i++) {
		char path[96];

		snprintf(path, sizeof(path), "sys/bus/event_source/devices/uncore_imc_%d/type", i);
		fake_file(&b->machine, path, i ? "31\n" : "30\n");
		snprintf(path, sizeof(path), "sys/bus/event_source/devices/uncore_imc_%d/cpumask", i);
		fake_file(&b->machine, path, "0,2\n");
		snprintf(path, sizeof(path), "sys/bus/event_source/devices/uncore_imc_%d/format/event", i);
		fake_file(&b->machine, path, "config:0-7\n");
		snprintf(path, sizeof(path), "sys/bus/event_source/devices/uncore_imc_%d/events/reads", i);
		fake_file(&b->machine, path, "event=4\n");
		snprintf(path, sizeof(path),
			 "sys/bus/event_source/devices/uncore_imc_%d/events/reads.scale", i);
		fake_file(&b->machine, path, "0.5\n");
		snprintf(path, sizeof(path), "sys/bus/event_source/devices/uncore_imc_%d/events/reads.unit",
			 i);
		fake_file(&b->machine, path, "MiB\n");
	}
	b->kernel = (struct fake_kernel){ .version = 612, .privileged = true };
	b->t = fake_context(&b->machine, &b->kernel);
	assert_int_equal(tacho_evset_new(&b->set, b->t), 0);
}

static void bench_done(struct bench *b)
{
	tacho_evset_free(b->set);
	tacho_close(b->t);
	fake_machine_done(&b->machine);
}

static void bench_count(struct bench *b, const char *spec, struct tacho_evset_opts opts)
{
	opts.size = sizeof(opts);
	if (tacho_evset_add(b->set, spec, &b->e) < 0)
		fail_msg("%s", b->e.message);
	assert_true(tacho_evset_open(b->set, &opts, &b->e) > 0);
	assert_int_equal(tacho_evset_start(b->set), 0);
	fake_advance(&b->kernel, 1000000, 1);
	assert_true(tacho_evset_read(b->set, &b->e) >= 0);
}

static int sums(struct bench *b, enum tacho_per per, bool no_merge, const struct tacho_sum **out)
{
	return tacho_evset_sums(b->set, TACHO_OPTS(tacho_sums_opts, .per = per, .no_merge = no_merge), out);
}

static void places(void **state)
{
	static const struct { enum tacho_per per; int n; unsigned counters; } cases[] = {
		{ TACHO_PER_TOTAL, 1, 4 },  { TACHO_PER_CPU, 4, 1 },	{ TACHO_PER_CORE, 2, 2 },
		{ TACHO_PER_CACHE, 2, 2 },  { TACHO_PER_CLUSTER, 2, 2 }, { TACHO_PER_DIE, 2, 2 },
		{ TACHO_PER_SOCKET, 2, 2 }, { TACHO_PER_NODE, 2, 2 },
	};
	struct bench b;

	bench_init(&b);
	bench_count(&b, "page-faults,task-clock", (struct tacho_evset_opts){ .all_cpus = true });
	for (size_t i = 0; i < countof(cases); i++) {
		const struct tacho_sum *rows;

		assert_int_equal(sums(&b, cases[i].per, false, &rows), 2 * cases[i].n);
		for (int k = 0; k < cases[i].n; k++) {
			assert_int_equal(rows[k].event, 0);
			assert_int_equal(rows[k].place.per, cases[i].per);
			assert_int_equal(rows[k].n_counters, cases[i].counters);
			assert_int_equal(rows[k].count, 1000 * cases[i].counters);
			assert_int_equal(rows[k].enabled_ns, 1000000 * cases[i].counters);
		}
	}
	bench_done(&b);
}

static void place_names(void **state)
{
	const struct tacho_sum *rows;
	struct bench b;

	bench_init(&b);
	bench_count(&b, "page-faults", (struct tacho_evset_opts){ .all_cpus = true });
	sums(&b, TACHO_PER_CORE, false, &rows);
	assert_int_equal(rows[1].place.socket, 1);
	assert_int_equal(rows[1].place.core, 0);
	assert_int_equal(rows[1].place.cpu, -1);
	sums(&b, TACHO_PER_CACHE, false, &rows);
	assert_int_equal(rows[1].place.cache_level, 2);
	assert_int_equal(rows[1].place.cache_id, 11);
	sums(&b, TACHO_PER_NODE, false, &rows);
	assert_int_equal(rows[1].place.node, 1);
	assert_int_equal(rows[1].place.socket, -1);
	sums(&b, TACHO_PER_CPU, false, &rows);
	assert_int_equal(rows[3].place.cpu, 3);
	bench_done(&b);
}

static void threads(void **state)
{
	const int tids[] = { 30, 10, 20 };
	const struct tacho_sum *rows;
	struct bench b;

	bench_init(&b);
	fake_file(&b.machine, "proc/20/comm", "twenty\n");
	bench_count(&b, "page-faults", (struct tacho_evset_opts){ .tids = tids, .n_tids = 3 });
	assert_int_equal(sums(&b, TACHO_PER_THREAD, false, &rows), 3);
	assert_int_equal(rows[0].place.tid, 10);
	assert_int_equal(rows[1].place.tid, 20);
	assert_string_equal(rows[1].place.comm, "twenty");
	assert_int_equal(rows[2].place.tid, 30);
	bench_done(&b);
}

/* A process on given CPUs: one counter per thread and CPU. */
static void threads_on_cpus(void **state)
{
	const int tids[] = { 10, 20 };
	const struct tacho_sum *rows;
	struct bench b;

	bench_init(&b);
	bench_count(&b, "page-faults", (struct tacho_evset_opts){ .tids = tids, .n_tids = 2, .cpus = "1,3" });
	assert_int_equal(fake_n_open(&b.kernel), 4);
	assert_int_equal(sums(&b, TACHO_PER_THREAD, false, &rows), 2);
	assert_int_equal(rows[1].count, 2000);
	assert_int_equal(sums(&b, TACHO_PER_CPU, false, &rows), 2);
	assert_int_equal(rows[1].place.cpu, 3);
	bench_done(&b);
}

/* imc/reads/ counts on every memory controller; they are one row unless no_merge is set. */
static void merged_instances(void **state)
{
	const struct tacho_sum *rows;
	struct bench b;

	bench_init(&b);
	bench_count(&b, "page-faults,imc/reads/", (struct tacho_evset_opts){ .all_cpus = true });
	assert_int_equal(tacho_evset_size(b.set), 3);
	assert_int_equal(sums(&b, TACHO_PER_TOTAL, false, &rows), 2);
	assert_int_equal(rows[1].count, 4000);		/* 2 controllers x 2 sockets */
	assert_true(rows[1].value == 2000);		/* scale 0.5 */
	assert_string_equal(tacho_evset_event(b.set, 1)->unit, "MiB");
	assert_int_equal(sums(&b, TACHO_PER_SOCKET, false, &rows), 4);
	assert_int_equal(rows[3].place.socket, 1);
	assert_int_equal(rows[3].count, 2000);
	assert_int_equal(sums(&b, TACHO_PER_TOTAL, true, &rows), 3);
	assert_int_equal(rows[2].count, 2000);
	assert_int_equal(tacho_evset_event(b.set, rows[0].event)->n_cpus, 0);
	assert_int_equal(tacho_evset_event(b.set, rows[1].event)->n_cpus, 2);
	bench_done(&b);
}

/* The CPU that reads an uncore unit has its socket, die and node; CPUs that count core events have not. */
static void readers_say_where(void **state)
{
	const struct tacho_sum *rows;
	struct bench b;

	bench_init(&b);
	bench_count(&b, "page-faults,imc/reads/", (struct tacho_evset_opts){ .all_cpus = true });
	assert_int_equal(sums(&b, TACHO_PER_CPU, true, &rows), 8);	/* 4 CPUs, 2 controllers x 2 sockets */
	assert_int_equal(rows[3].place.cpu, 3);
	assert_int_equal(rows[3].place.socket, -1);
	assert_int_equal(rows[5].place.cpu, 2);
	assert_int_equal(rows[5].place.socket, 1);
	assert_int_equal(rows[5].place.node, 1);
	assert_int_equal(rows[5].place.die, 0);
	assert_int_equal(rows[7].place.socket, 1);
	assert_string_equal(tacho_evset_event(b.set, rows[7].event)->pmu, "uncore_imc_1");
	bench_done(&b);
}

/* AMD's L3: two in a package, each read by one CPU of the cpumask, and marked "once per package" in the list. */
static void units_of_one_package_add_up(void **state)
{
	const struct tacho_sum *rows;
	struct bench b;

	bench_init(&b);
	fake_file(&b.machine, "sys/bus/event_source/devices/uncore_imc_0/cpumask", "0-1\n");
	fake_file(&b.machine, "sys/bus/event_source/devices/uncore_imc_0/events/reads.per-pkg", "1\n");
	bench_count(&b, "uncore_imc_0/reads/", (struct tacho_evset_opts){ .all_cpus = true });
	assert_int_equal(sums(&b, TACHO_PER_TOTAL, false, &rows), 1);
	assert_int_equal(rows[0].count, 2000);
	assert_int_equal(sums(&b, TACHO_PER_SOCKET, false, &rows), 1);
	assert_int_equal(rows[0].count, 2000);
	bench_done(&b);
}

/* A per-package event that is opened on both CPUs of a package is counted on the first only. */
static void once_per_package(void **state)
{
	const struct tacho_sum *rows;
	struct bench b;

	bench_init(&b);
	assert_int_equal(tacho_evset_add(b.set, "page-faults", &b.e), 1);
	b.set->list.v[0].flags |= EVENT_PER_PKG;	/* as a .per-pkg file would mark it */
	assert_int_equal(tacho_evset_open(b.set, TACHO_OPTS(tacho_evset_opts, .all_cpus = true), &b.e), 1);
	tacho_evset_start(b.set);
	fake_advance(&b.kernel, 1000000, 1);
	tacho_evset_read(b.set, &b.e);
	assert_int_equal(sums(&b, TACHO_PER_TOTAL, false, &rows), 1);
	assert_int_equal(rows[0].count, 2000);
	assert_int_equal(sums(&b, TACHO_PER_CPU, false, &rows), 4);
	assert_int_equal(rows[3].count, 1000);
	bench_done(&b);
}

static void computed_events(void **state)
{
	static const struct { const char *name; uint64_t count; } cases[] = {
		{ "duration_time", 1000000 }, { "num_cpus", 4 }, { "num_cpus_online", 4 },
		{ "num_cores", 2 },	      { "num_packages", 2 }, { "num_dies", 2 },
		{ "smt_on", 1 },	      { "has_pmem", 0 },     { "core_wide", 1 },
		{ "target_cpu", 1 },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		const struct tacho_sum *rows;
		struct bench b;

		bench_init(&b);
		bench_count(&b, cases[i].name, (struct tacho_evset_opts){ .all_cpus = true });
		assert_int_equal(sums(&b, TACHO_PER_TOTAL, false, &rows), 1);
		assert_int_equal(rows[0].state, TACHO_COUNTING);
		assert_int_equal(rows[0].count, cases[i].count);
		bench_done(&b);
	}
}

/* user_time and system_time of the machine are differences of /proc/stat. */
static void system_times(void **state)
{
	uint64_t tick = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	const struct tacho_sum *rows;
	struct bench b;

	bench_init(&b);
	fake_file(&b.machine, "proc/stat", "cpu  100 0 30 0 0 0 0\n");
	assert_int_equal(tacho_evset_add(b.set, "user_time,system_time", &b.e), 2);
	assert_int_equal(tacho_evset_open(b.set, TACHO_OPTS(tacho_evset_opts, .all_cpus = true), &b.e), 2);
	tacho_evset_start(b.set);
	fake_file(&b.machine, "proc/stat", "cpu  107 3 35 0 0 1 1\n");
	fake_advance(&b.kernel, 1000, 1);
	tacho_evset_read(b.set, &b.e);
	assert_int_equal(sums(&b, TACHO_PER_TOTAL, false, &rows), 2);
	assert_int_equal(rows[0].count, 10 * tick);
	assert_int_equal(rows[1].count, 7 * tick);
	bench_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places),
		cmocka_unit_test(place_names),
		cmocka_unit_test(threads),
		cmocka_unit_test(threads_on_cpus),
		cmocka_unit_test(merged_instances),
		cmocka_unit_test(readers_say_where),
		cmocka_unit_test(units_of_one_package_add_up),
		cmocka_unit_test(once_per_package),
		cmocka_unit_test(computed_events),
		cmocka_unit_test(system_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
