/* count/open.c, open_fallback.c, explain.c: what each kernel version refuses, the fallbacks, and the
 * messages. */
#include "fake_kernel.h"

#include "count/evset_internal.h"

struct bench {
	struct fake_machine machine;
	struct fake_kernel kernel;
	struct tacho *t;
	struct tacho_evset *set;
	struct tacho_error e;
};

static void bench_init(struct bench *b, struct fake_kernel kernel)
{
	memset(b, 0, sizeof(*b));
	fake_machine_init(&b->machine);
	b->kernel = kernel;
	b->t = fake_context(&b->machine, &b->kernel);
	assert_int_equal(tacho_evset_new(&b->set, b->t), 0);
}

static void bench_done(struct bench *b)
{
	tacho_evset_free(b->set);
	assert_int_equal(fake_n_open(&b->kernel), 0);
	tacho_close(b->t);
	fake_machine_done(&b->machine);
}

static int add(struct bench *b, const char *spec)
{
	int n = tacho_evset_add(b->set, spec, &b->e);

	if (n < 0)
		print_message("%s: %s\n", spec, b->e.message);
	return n;
}

static const char *note(struct bench *b, size_t i)
{
	size_t n;
	const struct tacho_note *notes = tacho_evset_notes(b->set, &n);

	return i < n ? notes[i].text : "";
}

static const struct tacho_sum *sum(struct bench *b, size_t i)
{
	const struct tacho_sum *sums;

	assert_true(tacho_evset_sums(b->set, NULL, &sums) > (int)i);
	return &sums[i];
}

#define MUST_SAY(text, words) assert_non_null(strstr(text, words))

/* One set on seven kernel versions: bundled software events, hardware events, and one that is too new. */
static void every_kernel(void **state)
{
	static const struct { int version; const char *release; int n; unsigned reads; } kernels[] = {
		{ 404, "4.4.302", 4, 4 },  { 419, "4.19.325", 4, 2 },	{ 504, "5.4.290", 4, 2 },
		{ 515, "5.15.180", 5, 2 }, { 601, "6.1.153", 5, 2 },	{ 612, "6.12.48", 5, 2 },
		{ 619, "6.19.0", 5, 2 },
	};
	int tid = 4711;

	for (size_t i = 0; i < countof(kernels); i++) {
		struct bench b;

		bench_init(&b, (struct fake_kernel){ .version = kernels[i].version,
						     .release = kernels[i].release, .privileged = true,
						     .has_pmu = true, .n_hardware = 4 });
		assert_int_equal(add(&b, "page-faults,context-switches,{cycles,instructions},cgroup-switches"),
				 5);
		assert_int_equal(tacho_evset_open(b.set, TACHO_OPTS(tacho_evset_opts, .tids = &tid,
						  .n_tids = 1), &b.e), kernels[i].n);
		assert_int_equal(tacho_evset_start(b.set), 0);
		fake_advance(&b.kernel, 1000000, 1);
		assert_int_equal(tacho_evset_read(b.set, &b.e), kernels[i].n);
		/* One read for the bundle, one for the group; before 4.13 one for each event. */
		assert_int_equal(b.kernel.n_reads, kernels[i].reads);
		for (size_t k = 0; k < 4; k++) {
			assert_int_equal(sum(&b, k)->state, TACHO_COUNTING);
			assert_int_equal(sum(&b, k)->count, 1000);
		}
		if (kernels[i].version < 513) {
			assert_int_equal(sum(&b, 4)->state, TACHO_UNSUPPORTED);
			MUST_SAY(sum(&b, 4)->why, "came with Linux 5.13");
			MUST_SAY(sum(&b, 4)->why, kernels[i].release);
		} else {
			assert_int_equal(sum(&b, 4)->count, 1000);
		}
		bench_done(&b);
	}
}

/* The message names a field or bit that the kernel does not know, and the version that introduced it. */
static void refused_fields(void **state)
{
	static const struct { int version; uint64_t flags, config3, config4; const char *words; } cases[] = {
		{ 404, PERF_ATTR_NAMESPACES, 0, 0, "namespaces, which came with Linux 4.12" },
		{ 419, PERF_ATTR_CGROUP, 0, 0, "cgroup, which came with Linux 5.7" },
		{ 504, PERF_ATTR_BUILD_ID, 0, 0, "build_id, which came with Linux 5.12" },
		{ 515, 0, 1, 0, "config3, which came with Linux 6.3" },
		{ 601, 0, 0, 1, "config4, which came with Linux 6.19" },
		{ 612, PERF_ATTR_DEFER_OUTPUT, 0, 0, "defer_output, which came with Linux 6.19" },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
						.flags = cases[i].flags, .config3 = cases[i].config3,
						.config4 = cases[i].config4 };
		struct bench b;

		bench_init(&b, (struct fake_kernel){ .version = cases[i].version, .privileged = true });
		assert_int_equal(tacho_evset_add_attr(b.set, &attr, sizeof(attr), "mine", &b.e), 1);
		assert_int_equal(add(&b, "page-faults"), 1);
		assert_int_equal(tacho_evset_open(b.set, NULL, &b.e), 1);
		assert_int_equal(sum(&b, 0)->state, TACHO_UNSUPPORTED);
		MUST_SAY(sum(&b, 0)->why, cases[i].words);
		bench_done(&b);
	}
}

/* PERF_FORMAT_LOST is set for sampling events, and dropped without a note before Linux 6.0. */
static void lost_counts(void **state)
{
	const struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
					      .sample_period = 1000 };

	for (int version = 519; version <= 612; version += 93) {
		struct bench b;
		size_t n;

		bench_init(&b, (struct fake_kernel){ .version = version, .privileged = true,
						     .has_pmu = true, .n_hardware = 4 });
		assert_int_equal(tacho_evset_add_attr(b.set, &attr, sizeof(attr), "sampled", &b.e), 1);
		assert_int_equal(tacho_evset_open(b.set, NULL, &b.e), 1);
		tacho_evset_start(b.set);
		fake_advance(&b.kernel, 1000, 1);
		assert_int_equal(tacho_evset_read(b.set, &b.e), 1);
		assert_int_equal(tacho_evset_readings(b.set, &n)[0].lost, version >= 600 ? 7 : 0);
		assert_string_equal(note(&b, 0), "");
		bench_done(&b);
	}
}

static void paranoid_two(void **state)
{
	struct bench b;

	bench_init(&b, (struct fake_kernel){ .version = 612, .paranoid = 2, .has_pmu = true, .n_hardware = 4 });
	assert_int_equal(add(&b, "cycles,page-faults,context-switches,instructions:k,cpu/event=0x3c/"), 5);
	assert_int_equal(tacho_evset_open(b.set, NULL, &b.e), 3);
	assert_string_equal(note(&b, 0), "cycles: counts user space only, because perf_event_paranoid is 2");
	assert_string_equal(tacho_evset_event(b.set, 0)->name, "cycles:u");
	assert_string_equal(tacho_evset_event(b.set, 1)->name, "page-faults:u");
	assert_string_equal(tacho_evset_event(b.set, 4)->name, "cpu/event=0x3c/u");
	/* Context switches happen in the kernel: with exclude_kernel they would silently count zero. */
	assert_int_equal(sum(&b, 2)->state, TACHO_NOT_PERMITTED);
	MUST_SAY(sum(&b, 2)->why, "perf_event_paranoid is 2, which does not allow counting in the kernel");
	MUST_SAY(sum(&b, 2)->why, "run with CAP_PERFMON, or: sysctl -w kernel.perf_event_paranoid=1");
	assert_int_equal(sum(&b, 3)->state, TACHO_NOT_PERMITTED);
	bench_done(&b);
}

static void whole_set_refused(void **state)
{
	static const struct { struct fake_kernel kernel; bool all_cpus; const char *message, *hint; } cases[] = {
		{ { .version = 612, .paranoid = 2 }, true, "page-faults on CPU 0: perf_event_paranoid is 2, "
		  "and counting whole CPUs needs 0 or less",
		  "run with CAP_PERFMON, or: sysctl -w kernel.perf_event_paranoid=0" },
		{ { .version = 504, .release = "5.4.0", .paranoid = 2 }, true, "perf_event_paranoid is 2",
		  "run with CAP_SYS_ADMIN, or" },
		{ { .version = 612, .paranoid = 4, .debian = true }, false,
		  "perf_event_paranoid is 4, which does not let unprivileged users open any event",
		  "sysctl -w kernel.perf_event_paranoid=2" },
		{ { .version = 612, .privileged = true, .errno_open = EACCES }, false,
		  "the kernel refuses it even with privilege", "" },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		struct bench b;

		bench_init(&b, cases[i].kernel);
		assert_int_equal(add(&b, "page-faults"), 1);
		assert_int_equal(tacho_evset_open(b.set, TACHO_OPTS(tacho_evset_opts,
				 .all_cpus = cases[i].all_cpus), &b.e), -EACCES);
		MUST_SAY(b.e.message, cases[i].message);
		MUST_SAY(b.e.hint, cases[i].hint);
		bench_done(&b);
	}
}

static void seccomp(void **state)
{
	struct bench b;

	bench_init(&b, (struct fake_kernel){ .version = 612, .privileged = true, .errno_open = EPERM });
	fake_file(&b.machine, "proc/self/status", "Name:\tx\nUid:\t0\t0\t0\t0\n"
		  "CapEff:\t00000000a80425fb\nSeccomp:\t2\n");
	assert_int_equal(add(&b, "page-faults"), 1);
	assert_int_equal(tacho_evset_open(b.set, NULL, &b.e), -EACCES);
	MUST_SAY(b.e.message, "the seccomp filter of");
	MUST_SAY(b.e.message, "refuses perf_event_open");
	MUST_SAY(b.e.hint, "seccomp profile");
	bench_done(&b);
}

static void no_pmu(void **state)
{
	struct bench b;

	bench_init(&b, (struct fake_kernel){ .version = 612, .privileged = true });
	fake_file(&b.machine, "proc/cpuinfo", "flags\t\t: fpu hypervisor\nvendor_id : GenuineIntel\n");
	assert_int_equal(add(&b, "cycles,page-faults"), 2);
	assert_int_equal(tacho_evset_open(b.set, NULL, &b.e), 1);
	assert_int_equal(sum(&b, 0)->state, TACHO_UNSUPPORTED);
	MUST_SAY(sum(&b, 0)->why, "no hardware counters");
	MUST_SAY(sum(&b, 0)->why, "count cpu-clock or task-clock");
	bench_done(&b);
}

static void clock_instead_of_cycles(void **state)
{
	static const struct { bool all_cpus; const char *name; } cases[] = {
		{ false, "task-clock" }, { true, "cpu-clock" },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		struct bench b;

		bench_init(&b, (struct fake_kernel){ .version = 612, .privileged = true });
		assert_int_equal(add(&b, "cycles,instructions"), 2);
		assert_int_equal(tacho_evset_open(b.set, TACHO_OPTS(tacho_evset_opts, .clock_fallback = true,
				 .all_cpus = cases[i].all_cpus), &b.e), 1);
		assert_string_equal(tacho_evset_event(b.set, 0)->name, cases[i].name);
		assert_string_equal(tacho_evset_event(b.set, 0)->unit, "msec");
		MUST_SAY(note(&b, 0), "cycles: counts ");
		assert_int_equal(sum(&b, 1)->state, TACHO_UNSUPPORTED);
		bench_done(&b);
	}
}

static void strict_mode_changes_nothing(void **state)
{
	struct bench b;

	bench_init(&b, (struct fake_kernel){ .version = 612, .paranoid = 2 });
	assert_int_equal(add(&b, "page-faults"), 1);
	assert_int_equal(tacho_evset_open(b.set, TACHO_OPTS(tacho_evset_opts, .no_fallback = true,
			 .clock_fallback = true), &b.e), -EACCES);
	assert_string_equal(tacho_evset_event(b.set, 0)->name, "page-faults");
	bench_done(&b);
}

/* A PMU that refuses an event with and without exclude_guest: the two rules must not alternate forever. */
static void the_ladder_ends(void **state)
{
	struct bench b;

	bench_init(&b, (struct fake_kernel){ .version = 612, .privileged = true, .has_pmu = true,
					     .n_hardware = 4, .errno_open = EOPNOTSUPP });
	assert_int_equal(add(&b, "cycles"), 1);
	assert_true(tacho_evset_open(b.set, NULL, &b.e) <= 0);
	assert_true(b.kernel.n_opens < 100);
	bench_done(&b);
}

/* Threads are followed without children by a flag of Linux 5.13; before, nothing is inherited, or children would be. */
static void threads_without_children(void **state)
{
	int tid = 4711;

	(void)state;
	for (int version = 504; version <= 601; version += 97) {
		const uint64_t both = PERF_ATTR_INHERIT | PERF_ATTR_INHERIT_THREAD;
		struct perf_event_attr attr;
		struct bench b;

		bench_init(&b, (struct fake_kernel){ .version = version, .privileged = true });
		assert_int_equal(add(&b, "page-faults,cpu-clock"), 2);
		assert_int_equal(tacho_evset_open(b.set, TACHO_OPTS(tacho_evset_opts, .tids = &tid, .n_tids = 1,
								    .threads_only = true), &b.e), 2);
		for (size_t i = 0; i < 2; i++) {
			assert_true(tacho_evset_attr(b.set, i, &attr, sizeof(attr)) >= 0);
			assert_int_equal(attr.flags & both, version == 601 ? both : 0);
		}
		if (version == 601)
			assert_string_equal(note(&b, 0), "");
		else
			MUST_SAY(note(&b, 0), "needs Linux 5.13");
		bench_done(&b);
	}
}

/* A target that has not run is counting with 0 where the caller wants that. */
static void idle_targets(void **state)
{
	const struct tacho_sum *sums;
	struct bench b;
	int tid = 4711;

	(void)state;
	bench_init(&b, (struct fake_kernel){ .version = 601, .privileged = true });
	assert_int_equal(add(&b, "page-faults"), 1);
	assert_int_equal(tacho_evset_open(b.set, TACHO_OPTS(tacho_evset_opts, .tids = &tid, .n_tids = 1), &b.e), 1);
	assert_int_equal(tacho_evset_start(b.set), 0);
	assert_int_equal(tacho_evset_read(b.set, &b.e), 1);
	assert_int_equal(sum(&b, 0)->state, TACHO_NOT_COUNTED);
	assert_int_equal(tacho_evset_sums(b.set, TACHO_OPTS(tacho_sums_opts, .idle_counts = true), &sums), 1);
	assert_int_equal(sums[0].state, TACHO_COUNTING);
	assert_int_equal(sums[0].count, 0);
	bench_done(&b);
}

/* If inherit and group values in samples exclude each other, inherit is dropped. */
static void group_values_stay_in_samples(void **state)
{
	for (int version = 510; version <= 612; version += 102) {
		struct perf_event_attr attr;
		struct bench b;

		bench_init(&b, (struct fake_kernel){ .version = version, .privileged = true });
		b.set->sampling = (struct evset_sampling){ .on = true, .per_thread = true, .tracker = NO_EVENT };
		assert_int_equal(add(&b, "{page-faults,cpu-clock}"), 2);
		for (size_t i = 0; i < 2; i++) {
			b.set->events.v[i].attr.sample_type |= PERF_SAMPLE_READ;
			b.set->events.v[i].attr.read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
			b.set->events.v[i].attr.flags |= PERF_ATTR_INHERIT;
		}
		assert_int_equal(tacho_evset_open(b.set, NULL, &b.e), 2);
		for (size_t i = 0; i < 2; i++) {
			assert_true(tacho_evset_attr(b.set, i, &attr, sizeof(attr)) >= 0);
			assert_true(attr.read_format & PERF_FORMAT_GROUP);
			assert_int_equal(!!(attr.flags & PERF_ATTR_INHERIT), version == 612);
		}
		bench_done(&b);
	}
}

static void weak_groups_split(void **state)
{
	struct bench b;

	bench_init(&b, (struct fake_kernel){ .version = 612, .privileged = true, .has_pmu = true,
					     .n_hardware = 2 });
	assert_int_equal(add(&b, "{cycles,instructions,branches}:W"), 3);
	assert_int_equal(tacho_evset_open(b.set, NULL, &b.e), 3);
	MUST_SAY(note(&b, 0), "the group of cycles did not fit on the hardware as a whole, so its 3 events");
	assert_int_equal(fake_n_open(&b.kernel), 3);
	bench_done(&b);
}

static void strong_groups_do_not(void **state)
{
	struct bench b;

	bench_init(&b, (struct fake_kernel){ .version = 612, .privileged = true, .has_pmu = true,
					     .n_hardware = 2 });
	assert_int_equal(add(&b, "{cycles,instructions,branches}"), 3);
	assert_int_equal(tacho_evset_open(b.set, NULL, &b.e), 2);
	assert_int_equal(sum(&b, 2)->state, TACHO_UNSUPPORTED);
	MUST_SAY(sum(&b, 2)->why, "it does not fit into the group of cycles");
	MUST_SAY(sum(&b, 2)->why, "modifier W");
	bench_done(&b);
}

static void guest_bits_and_precision(void **state)
{
	struct perf_event_attr attr = { 0 };
	struct bench b;

	bench_init(&b, (struct fake_kernel){ .version = 612, .privileged = true, .has_pmu = true,
					     .n_hardware = 4, .refuses_guest_bits = true,
					     .imprecise = true });
	attr.type = PERF_TYPE_HARDWARE;
	attr.size = sizeof(attr);
	attr.flags = PERF_ATTR_EXCLUDE_GUEST;
	assert_int_equal(tacho_evset_add_attr(b.set, &attr, sizeof(attr), "host-cycles", &b.e), 1);
	assert_int_equal(add(&b, "instructions:P"), 1);
	assert_int_equal(tacho_evset_open(b.set, NULL, &b.e), 2);
	assert_string_equal(note(&b, 0), "host-cycles: counts guests too, because its PMU cannot exclude them");
	tacho_evset_attr(b.set, 1, &attr, sizeof(attr));
	assert_int_equal(attr.flags & PERF_ATTR_PRECISE_MASK, 0);
	bench_done(&b);
}

static void vanished_threads(void **state)
{
	const int tids[] = { 100, 200, 300 };
	struct bench b;
	size_t n;

	bench_init(&b, (struct fake_kernel){ .version = 612, .privileged = true, .gone_tid = 200 });
	assert_int_equal(add(&b, "page-faults,task-clock"), 2);
	assert_int_equal(tacho_evset_open(b.set, TACHO_OPTS(tacho_evset_opts, .tids = tids, .n_tids = 3),
					  &b.e), 2);
	tacho_evset_start(b.set);
	fake_advance(&b.kernel, 1000000, 1);
	assert_int_equal(tacho_evset_read(b.set, &b.e), 4);
	assert_int_equal(tacho_evset_readings(b.set, &n)[1].state, TACHO_NOT_COUNTED);
	assert_int_equal(n, 6);
	assert_int_equal(sum(&b, 0)->count, 2000);
	assert_int_equal(sum(&b, 0)->n_counters, 2);
	bench_done(&b);

	bench_init(&b, (struct fake_kernel){ .version = 612, .privileged = true, .gone_tid = 200 });
	assert_int_equal(add(&b, "page-faults"), 1);
	assert_int_equal(tacho_evset_open(b.set, TACHO_OPTS(tacho_evset_opts, .tids = tids + 1,
			 .n_tids = 1), &b.e), -ESRCH);
	MUST_SAY(b.e.message, "page-faults: thread 200 has ended");
	bench_done(&b);
}

static void offline_cpus(void **state)
{
	struct bench b;

	bench_init(&b, (struct fake_kernel){ .version = 612, .privileged = true, .offline_cpu = 2 });
	fake_file(&b.machine, "sys/devices/system/cpu/online", "0-1,3\n");
	assert_int_equal(add(&b, "page-faults"), 1);
	assert_int_equal(tacho_evset_open(b.set, TACHO_OPTS(tacho_evset_opts, .cpus = "0-2"), &b.e), 1);
	tacho_evset_start(b.set);
	fake_advance(&b.kernel, 1000000, 1);
	assert_int_equal(tacho_evset_read(b.set, &b.e), 2);
	assert_int_equal(sum(&b, 0)->n_counters, 2);
	bench_done(&b);
}

static void descriptor_limit(void **state)
{
	struct bench b;

	bench_init(&b, (struct fake_kernel){ .version = 612, .privileged = true, .max_fds = 16 });
	for (int i = 0; i < 100; i++)
		assert_int_equal(add(&b, "page-faults"), 1);
	assert_int_equal(tacho_evset_open(b.set, NULL, &b.e), -EMFILE);
	MUST_SAY(b.e.message, "100 events need 100 file descriptors here, and the limit is ");
	MUST_SAY(b.e.hint, "ulimit -Hn");
	bench_done(&b);
}

static void contradictions(void **state)
{
	static const struct { struct tacho_evset_opts opts; const char *words; } cases[] = {
		{ { .all_cpus = true, .by_uid = true }, "and single processes" },
		{ { .all_cpus = true, .cpus = "1" }, "and only the CPUs 1" },
		{ { .all_user = true, .all_kernel = true }, "exclude each other" },
		{ { .per_thread = true }, "needs processes" },
		{ { .enable_on_exec = true }, "exactly one process" },
		{ { .cpus = "x" }, "'x' is not a list of CPUs" },
		{ { .cpus = "77" }, "No supported events found: no CPU of '77' is online (online are 0-3)" },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		struct tacho_evset_opts opts = cases[i].opts;
		struct bench b;

		opts.size = sizeof(opts);
		bench_init(&b, (struct fake_kernel){ .version = 612, .privileged = true });
		assert_int_equal(add(&b, "page-faults"), 1);
		assert_int_equal(tacho_evset_open(b.set, &opts, &b.e), -EINVAL);
		MUST_SAY(b.e.message, cases[i].words);
		bench_done(&b);
	}
}

static void starting_with_an_exec(void **state)
{
	int pid = 4711;
	struct perf_event_attr attr;
	struct bench b;

	bench_init(&b, (struct fake_kernel){ .version = 612, .privileged = true });
	assert_int_equal(add(&b, "{page-faults,task-clock}"), 2);
	assert_int_equal(tacho_evset_open(b.set, TACHO_OPTS(tacho_evset_opts, .pids = &pid, .n_pids = 1,
			 .enable_on_exec = true), &b.e), 2);
	tacho_evset_attr(b.set, 0, &attr, sizeof(attr));
	assert_true(attr.flags & PERF_ATTR_ENABLE_ON_EXEC && attr.flags & PERF_ATTR_DISABLED);
	assert_true(attr.read_format & PERF_FORMAT_GROUP);
	tacho_evset_attr(b.set, 1, &attr, sizeof(attr));
	assert_false(attr.flags & (PERF_ATTR_ENABLE_ON_EXEC | PERF_ATTR_DISABLED));
	assert_false(attr.read_format & PERF_FORMAT_GROUP);
	assert_int_equal(b.kernel.n_enables, 0);
	bench_done(&b);
}

static void filters(void **state)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = 3 };

	for (int refuses = 0; refuses < 2; refuses++) {
		struct bench b;

		bench_init(&b, (struct fake_kernel){ .version = 612, .privileged = true,
						     .refuses_filters = refuses });
		assert_int_equal(tacho_evset_add_attr(b.set, &attr, sizeof(attr), "sched:switch", &b.e), 1);
		assert_int_equal(add(&b, "page-faults"), 1);
		assert_int_equal(tacho_evset_set_filter(b.set, 1, 1, "x == 1", &b.e), -EINVAL);
		MUST_SAY(b.e.message, "'page-faults' is not a tracepoint");
		assert_int_equal(tacho_evset_set_filter(b.set, 0, 1, "a == 1", &b.e), 0);
		assert_int_equal(tacho_evset_set_filter(b.set, 0, 1, "b == 2", &b.e), 0);
		assert_int_equal(tacho_evset_open(b.set, NULL, &b.e), refuses ? 1 : 2);
		if (refuses)
			MUST_SAY(sum(&b, 0)->why, "refuses the filter '(a == 1) && (b == 2)'; "
					"events/sched/switch/format below tracefs lists the fields");
		else
			assert_string_equal(b.kernel.filter_seen, "(a == 1) && (b == 2)");
		bench_done(&b);
	}
}

/* An uncore PMU counts on the CPUs of its cpumask, and never on a task. */
static void uncore_placement(void **state)
{
	for (int all = 0; all < 2; all++) {
		struct bench b;
		size_t n;

		bench_init(&b, (struct fake_kernel){ .version = 612, .privileged = true });
		fake_file(&b.machine, "sys/bus/event_source/devices/uncore_imc_0/type", "20\n");
		fake_file(&b.machine, "sys/bus/event_source/devices/uncore_imc_0/cpumask", "0,2\n");
		fake_file(&b.machine, "sys/bus/event_source/devices/uncore_imc_0/format/event", "config:0-7\n");
		assert_int_equal(add(&b, "uncore_imc_0/event=4/,page-faults"), 2);
		assert_int_equal(tacho_evset_open(b.set, TACHO_OPTS(tacho_evset_opts, .all_cpus = all), &b.e),
				 all ? 2 : 1);
		if (all) {
			const struct tacho_reading *r = tacho_evset_readings(b.set, &n);

			assert_int_equal(n, 6);
			assert_int_equal(r[0].cpu, 0);
			assert_int_equal(r[1].cpu, 2);
		} else {
			assert_int_equal(sum(&b, 0)->state, TACHO_UNSUPPORTED);
			MUST_SAY(sum(&b, 0)->why, "not for single tasks: count on all CPUs, or on some");
		}
		bench_done(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kernel),
		cmocka_unit_test(refused_fields),
		cmocka_unit_test(lost_counts),
		cmocka_unit_test(paranoid_two),
		cmocka_unit_test(whole_set_refused),
		cmocka_unit_test(seccomp),
		cmocka_unit_test(no_pmu),
		cmocka_unit_test(clock_instead_of_cycles),
		cmocka_unit_test(strict_mode_changes_nothing),
		cmocka_unit_test(the_ladder_ends),
		cmocka_unit_test(threads_without_children),
		cmocka_unit_test(idle_targets),
		cmocka_unit_test(group_values_stay_in_samples),
		cmocka_unit_test(weak_groups_split),
		cmocka_unit_test(strong_groups_do_not),
		cmocka_unit_test(guest_bits_and_precision),
		cmocka_unit_test(vanished_threads),
		cmocka_unit_test(offline_cpus),
		cmocka_unit_test(descriptor_limit),
		cmocka_unit_test(contradictions),
		cmocka_unit_test(starting_with_an_exec),
		cmocka_unit_test(filters),
		cmocka_unit_test(uncore_placement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
