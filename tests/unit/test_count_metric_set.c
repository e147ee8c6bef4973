/* count/metric_set.c, metric_group.c: which events a set of metrics needs, in which groups, and the
 * values, on a machine with a core PMU and two memory controllers. */
#include "fake_kernel.h"

#include <math.h>

#include "sys/arch.h"

struct bench {
	struct fake_machine machine;
	struct fake_kernel kernel;
	struct tacho *t;
	struct tacho_evset *set;
	struct tacho_metric_set *ms;
	struct tacho_error e;
};

static const char list[] =
	"[{\"EventName\": \"UOPS.MS\", \"EventCode\": \"0xc2\", \"UMask\": \"0x4\"},"
	" {\"EventName\": \"UOPS.ALL\", \"EventCode\": \"0xc2\", \"UMask\": \"0x2\"},"
	" {\"EventName\": \"NOT.HERE\", \"EventCode\": \"0x1\", \"Unit\": \"CXLCM\"},"
	" {\"MetricName\": \"ms_share\", \"MetricExpr\": \"cpu@UOPS.MS\\\\,cmask\\\\=1@ / UOPS.ALL\","
	"  \"ScaleUnit\": \"100%\", \"MetricGroup\": \"Uops\", \"MetricThreshold\": \"ms_share > 0.4 & rate > 0\"},"
	" {\"MetricName\": \"rate\", \"MetricExpr\": \"UOPS.ALL / duration_time\", \"MetricGroup\": \"Uops\"},"
	" {\"MetricName\": \"many\", \"MetricExpr\": \"(UOPS.ALL + cycles + instructions) / (branches + branch\\\\-misses)\","
	"  \"MetricGroup\": \"Big\"},"
	" {\"MetricName\": \"twice\", \"MetricExpr\": \"ms_share * 2 + page\\\\-faults\", \"MetricGroup\": \"Refs\"},"
	" {\"MetricName\": \"gone\", \"MetricExpr\": \"NOT.HERE / cycles\", \"MetricGroup\": \"Uops\"},"
	" {\"MetricName\": \"unknown\", \"MetricExpr\": \"NO_SUCH.EVENT + 1\", \"MetricGroup\": \"\"},"
	" {\"MetricName\": \"wrong\", \"MetricExpr\": \"1 +\", \"MetricGroup\": \"\"},"
	" {\"MetricName\": \"self\", \"MetricExpr\": \"other + 1\", \"MetricGroup\": \"\"},"
	" {\"MetricName\": \"other\", \"MetricExpr\": \"self + 1\", \"MetricGroup\": \"\"},"
	" {\"MetricName\": \"per_unit\", \"MetricExpr\": \"cas_count_read / source_count(cas_count_read)\", \"MetricGroup\": \"\"},"
	" {\"MetricName\": \"constant\", \"MetricExpr\": \"#num_cpus * 3\", \"MetricGroup\": \"\"},"
	" {\"MetricName\": \"chas\", \"MetricExpr\": \"#chas_per_socket if #target_cpu else cycles\", \"MetricGroup\": \"\"}]";

static void add_pmu(const struct fake_machine *m, const char *pmu, const char *type, const char *const *files)
{
	char path[192];

	snprintf(path, sizeof(path), "sys/bus/event_source/devices/%s/type", pmu);
	fake_file(m, path, type);
	for (; *files; files += 2) {
		snprintf(path, sizeof(path), "sys/bus/event_source/devices/%s/%s", pmu, files[0]);
		fake_file(m, path, files[1]);
	}
}

static void bench_init(struct bench *b)
{
	static const char *const core[] = {
		"format/event", "config:0-7\n", "format/umask", "config:8-15\n", "format/cmask", "config:24-31\n",
		"events/slots", "event=0x0,umask=0x4\n", "events/topdown-retiring", "event=0x0,umask=0x80\n",
		"events/topdown-bad-spec", "event=0x0,umask=0x81\n", "events/topdown-fe-bound",
		"event=0x0,umask=0x82\n", "events/topdown-be-bound", "event=0x0,umask=0x83\n", NULL };
	static const char *const imc[] = {
		"format/event", "config:0-7\n", "cpumask", "0\n", "events/cas_count_read", "event=0x5\n",
		"events/cas_count_read.scale", "6.103515625e-5\n", "events/cas_count_read.unit", "MiB\n",
		"events/cas_count_write", "event=0x6\n", NULL };
	static const char *const power[] = {
		"format/event", "config:0-7\n", "cpumask", "0\n", "events/energy-pkg", "event=0x02\n",
		"events/energy-pkg.scale", "0.5\n", "events/energy-pkg.unit", "Joules\n", NULL };
	char path[256];

	memset(b, 0, sizeof(*b));
	fake_machine_init(&b->machine);
	add_pmu(&b->machine, "cpu", "4\n", core);
	add_pmu(&b->machine, "uncore_imc_0", "20\n", imc);
	add_pmu(&b->machine, "uncore_imc_1", "21\n", imc);
	add_pmu(&b->machine, "power", "22\n", power);
	fake_file(&b->machine, "list.json", list);
	setenv("XDG_CACHE_HOME", b->machine.dir, 1);
	b->kernel = (struct fake_kernel){ .version = 612, .release = "6.12", .privileged = true,
					  .has_pmu = true, .n_hardware = 4 };
	b->t = fake_context(&b->machine, &b->kernel);
	snprintf(path, sizeof(path), "%s/list.json", b->machine.dir);
	assert_true(tacho_eventlist_add(b->t, path, &b->e) >= 2);
	assert_int_equal(tacho_evset_new(&b->set, b->t), 0);
	assert_int_equal(tacho_metric_set_new(&b->ms, b->t, NULL), 0);
}

static void bench_done(struct bench *b)
{
	tacho_metric_set_free(b->ms);
	tacho_evset_free(b->set);
	assert_int_equal(fake_n_open(&b->kernel), 0);
	tacho_close(b->t);
	fake_machine_done(&b->machine);
}

static void plan(struct bench *b, const char *const *names)
{
	for (; *names; names++)
		if (tacho_metric_set_add(b->ms, *names, &b->e) < 1)
			fail_msg("%s: %s", *names, b->e.message);
	if (tacho_metric_set_plan(b->ms, b->set, &b->e) < 0)
		fail_msg("plan: %s", b->e.message);
}

/* "{a b} c": the set's groups and events, instances once. */
static void groups(const struct bench *b, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < tacho_evset_size(b->set); i++) {
		const struct tacho_event *ev = tacho_evset_event(b->set, i);

		if (ev->merge != i)
			continue;
		n += (size_t)snprintf(out + n, size - n, "%s%s%s%s", n && ev->leader == i ? " " : n ? "," : "",
				      ev->leader == i && ev->group_size > 1 ? "{" : "", ev->name,
				      ev->leader + ev->group_size == i + 1 && ev->group_size > 1 ? "}" : "");
	}
}

static void check_groups(const char *const *names, const char *expected)
{
	struct bench b;
	char text[512];

	bench_init(&b);
	plan(&b, names);
	groups(&b, text, sizeof(text));
	assert_string_equal(text, expected);
	bench_done(&b);
}

#define NAMES(...) (const char *const[]){ __VA_ARGS__, NULL }

static void ratios_stay_together(void **state)
{
	check_groups(NAMES("ms_share"), "{cpu/UOPS.MS,cmask=1/,UOPS.ALL}");
	/* The smaller metric needs no group of its own. */
	check_groups(NAMES("rate", "ms_share"), "{cpu/UOPS.MS,cmask=1/,UOPS.ALL}");
	/* One event in common does not make a common group. */
	check_groups(NAMES("ms_share", "many"),
		     "{UOPS.ALL,cycles,instructions,branches,branch-misses} {cpu/UOPS.MS,cmask=1/,UOPS.ALL}");
	check_groups(NAMES("twice"), "{cpu/UOPS.MS,cmask=1/,UOPS.ALL} page-faults");
	check_groups(NAMES("insn_per_cycle", "CPUs_utilized"), "{instructions,cycles} task-clock");
	check_groups(NAMES("constant"), "duration_time");
}

static void apart_on_request(void **state)
{
	struct tacho_metric_set_opts opts = { .size = sizeof(opts), .no_group = true };
	struct bench b;
	char text[512];

	for (int i = 0; i < 2; i++) {
		bench_init(&b);
		tacho_metric_set_free(b.ms);
		assert_int_equal(tacho_metric_set_new(&b.ms, b.t, &opts), 0);
		plan(&b, NAMES("rate", "ms_share", "tma_retiring"));
		groups(&b, text, sizeof(text));
		assert_string_equal(text, i ? "{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,topdown-be-bound}"
				    " {cpu/UOPS.MS,cmask=1/,UOPS.ALL} UOPS.ALL" :
				    "{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,topdown-be-bound}"
				    " cpu/UOPS.MS,cmask=1/ UOPS.ALL");
		bench_done(&b);
		opts = (struct tacho_metric_set_opts){ .size = sizeof(opts), .no_share = true,
						       .no_threshold = true };
	}
}

static void slots_lead(void **state)
{
	check_groups(NAMES("tma_frontend_bound"),
		     "{slots,topdown-fe-bound,topdown-retiring,topdown-bad-spec,topdown-be-bound}");
	check_groups(NAMES("TopdownL1"),
		     "{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,topdown-be-bound}");
}

static void controllers(void **state)
{
	check_groups(NAMES("memory_bandwidth_read", "energy_package"), "cas_count_read power/energy-pkg/");
}

static double one_per_event(void *arg, uint32_t event)
{
	(void)arg;
	return 100 * (event + 1);
}

static double value_of(struct bench *b, const char *name, bool *alarming)
{
	const struct tacho_metric_counts counts = { .size = sizeof(counts), .count = one_per_event,
						    .elapsed_s = 2 };

	for (size_t i = 0; i < tacho_metric_set_size(b->ms); i++)
		if (!strcmp(tacho_metric_set_metric(b->ms, i)->name, name))
			return tacho_metric_set_value(b->ms, i, &counts, alarming);
	fail_msg("no %s", name);
	return 0;
}

static void values(void **state)
{
	struct bench b;
	bool alarming;

	bench_init(&b);
	plan(&b, NAMES("twice", "ms_share", "per_unit", "constant", "energy_package", "rate",
		       "memory_bandwidth_read"));
	assert_true(value_of(&b, "ms_share", &alarming) == 50);		/* 100 / 200, in percent */
	assert_true(alarming);
	/* Another metric's value has no scale. Event 5 is page-faults. */
	assert_true(value_of(&b, "twice", &alarming) == 1 + 100 * 6);
	assert_false(alarming);
	assert_true(value_of(&b, "rate", NULL) == 200 / 2e9);
	assert_true(value_of(&b, "constant", NULL) == 12);
	assert_true(value_of(&b, "per_unit", NULL) == 100 * 3 / 2.0);
	assert_true(value_of(&b, "energy_package", NULL) == 100 * 5 * 0.5 / 2);
	assert_true(value_of(&b, "memory_bandwidth_read", NULL) == 100 * 3 * 64 / 2e6);
	assert_int_equal(tacho_metric_set_size(b.ms), 7);
	bench_done(&b);
}

static void refused(const char *name, int code, const char *words)
{
	struct bench b;

	bench_init(&b);
	assert_int_equal(tacho_metric_set_add(b.ms, name, &b.e), code);
	if (!strstr(b.e.message, words))
		fail_msg("%s: %s", name, b.e.message);
	bench_done(&b);
}

static void refusals(void **state)
{
	refused("gone", -EOPNOTSUPP, "metric 'gone' needs 'NOT.HERE': 'NOT.HERE' cannot be counted here");
	refused("unknown", -EOPNOTSUPP, "needs 'NO_SUCH.EVENT': no event is called");
	refused("wrong", -EINVAL, "metric 'wrong': the expression has an unexpected end (at column 4)");
	refused("self", -ELOOP, "refers to itself");
	refused("ms_shore", -ENOENT, "no metric or metric group is called 'ms_shore'");
	refused("energy_ram", -EOPNOTSUPP, "#scale:power/energy-ram/");
}

static void groups_go_on(void **state)
{
	struct bench b;
	size_t n;

	bench_init(&b);
	assert_int_equal(tacho_metric_set_add(b.ms, "Uops", &b.e), 2);
	assert_non_null(strstr(tacho_metric_set_left_out(b.ms, &n)[0], "metric 'gone' needs"));
	assert_int_equal(n, 1);
	bench_done(&b);
}

static void branches(void **state)
{
	const struct tacho_metric_set_opts opts = { .size = sizeof(opts), .target_cpu = true };
	struct bench b;

	check_groups(NAMES("chas"), "cycles");
	bench_init(&b);
	tacho_metric_set_free(b.ms);
	assert_int_equal(tacho_metric_set_new(&b.ms, b.t, &opts), 0);
	assert_int_equal(tacho_metric_set_add(b.ms, "chas", &b.e), -EOPNOTSUPP);
	assert_non_null(strstr(b.e.message, "'#chas_per_socket': its value is unknown on this machine"));
	bench_done(&b);
}

static double count_of(void *arg, uint32_t event)
{
	const struct tacho_sum *sums;
	int n = tacho_evset_sums(arg, NULL, &sums);

	for (int i = 0; i < n; i++)
		if (sums[i].event == event && sums[i].state <= TACHO_SCALED)
			return (double)sums[i].count;
	return NAN;
}

/* After opening, a group with more events than there are counters is split, with a note; the others are not. */
static void on_the_counters(void **state)
{
	struct tacho_metric_counts counts = { .size = sizeof(counts), .count = count_of, .elapsed_s = 1 };
	const struct tacho_note *notes;
	struct bench b;
	int tid = 4711;
	size_t n;

	bench_init(&b);
	plan(&b, NAMES("ms_share", "many"));
	assert_int_equal(tacho_evset_open(b.set, TACHO_OPTS(tacho_evset_opts, .tids = &tid, .n_tids = 1), &b.e), 7);
	notes = tacho_evset_notes(b.set, &n);
	assert_int_equal(n, 1);
	assert_non_null(strstr(notes[0].text, "the group of UOPS.ALL did not fit"));
	for (int i = 0; i < FAKE_FDS; i++)
		if (b.kernel.fds[i].used)
			b.kernel.fds[i].rate = b.kernel.fds[i].attr.config >> 24 ? 0.001 : 0.004;
	tacho_evset_start(b.set);
	fake_advance(&b.kernel, 1000000, 0.5);
	assert_int_equal(tacho_evset_read(b.set, &b.e), 7);
	counts.arg = b.set;
	assert_true(fabs(tacho_metric_set_value(b.ms, 0, &counts, NULL) - 25) < 1e-6);
	assert_true(fabs(tacho_metric_set_value(b.ms, 1, &counts, NULL) - 1.5) < 1e-6);
	bench_done(&b);
}

/* Arm's core PMU has no topdown events, but architectural events and the number of slots per cycle. */
static void arm_slots(void **state)
{
	static const char *const core[] = {
		"cpus", "0-3\n", "caps/slots", "0x00000008\n", "format/event", "config:0-15\n",
		"events/stall_slot_frontend", "event=0x3e\n", "events/stall_slot_backend", "event=0x3d\n",
		"events/stall_slot", "event=0x3f\n", "events/cpu_cycles", "event=0x11\n", "events/op_retired",
		"event=0x3a\n", "events/op_spec", "event=0x3b\n", NULL };
	const struct tacho_metric_counts counts = { .size = sizeof(counts), .count = one_per_event };
	struct bench b = { .kernel = { .version = 612, .release = "6.12", .privileged = true } };
	char text[512];

	fake_machine_init(&b.machine);
	add_pmu(&b.machine, "armv8_pmuv3_0", "8\n", core);
	setenv("XDG_DATA_HOME", b.machine.dir, 1);
	setenv("XDG_CACHE_HOME", b.machine.dir, 1);
	b.t = fake_context(&b.machine, &b.kernel);
	assert_int_equal(tacho_evset_new(&b.set, b.t), 0);
	assert_int_equal(tacho_metric_set_new(&b.ms, b.t, NULL), 0);
	plan(&b, NAMES("tma_frontend_bound", "tma_retiring"));
	groups(&b, text, sizeof(text));
	assert_string_equal(text, "{op_retired,op_spec,stall_slot,cpu_cycles} {stall_slot_frontend,cpu_cycles}");
	assert_true(fabs(tacho_metric_set_value(b.ms, 0, &counts, NULL) - 100 * 5 / (8 * 6.0)) < 1e-9);
	assert_true(fabs(tacho_metric_set_value(b.ms, 1, &counts, NULL) - 50 * (1 - 3 / 32.0)) < 1e-9);
	bench_done(&b);
}

/* If CPUID has no TSC frequency, it is taken from the model name or the firmware. */
static void rate_of_the_tsc(void **state)
{
	uint64_t told = arch_tsc_hz();
	struct bench b;

	bench_init(&b);
	fake_file(&b.machine, "sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq", "2400\n");
	assert_true(tacho_metric_literal(b.t, "SYSTEM_TSC_FREQ") == (told ? (double)told : 2.4e9));
	fake_file(&b.machine, "proc/cpuinfo", "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Gold 6142 CPU @ 2.60GHz\n");
	assert_true(tacho_metric_literal(b.t, "system_tsc_freq") == (told ? (double)told : 2.6e9));
	fake_file(&b.machine, "proc/cpuinfo", "model name\t: Toy @ fastGHz\nmodel name : @ 1e9GHz\n");
	assert_true(tacho_metric_literal(b.t, "system_tsc_freq") == (told ? (double)told : 2.4e9));
	assert_true(isnan(tacho_metric_literal(b.t, "no_such")));
	bench_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ratios_stay_together), cmocka_unit_test(apart_on_request),
		cmocka_unit_test(slots_lead),
		cmocka_unit_test(controllers), cmocka_unit_test(values), cmocka_unit_test(refusals),
		cmocka_unit_test(groups_go_on), cmocka_unit_test(branches), cmocka_unit_test(on_the_counters),
		cmocka_unit_test(arm_slots), cmocka_unit_test(rate_of_the_tsc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
