/*
 * Numbers about the machine, used as tool events of a set and as #literals of metrics. Three exist for
 * metrics only: the number of Intel CHA units per socket, the scale of an event, and the retire latencies
 * from the table of an event list.
 */
#include "count/machine_values.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "base/io.h"
#include "base/num.h"
#include "event/metric.h"
#include "event/names.h"
#include "event/pmu.h"
#include "event/vendor.h"
#include "sys/arch.h"

#include <tacho/metric.h>

static unsigned count_cpus(const struct tacho *t, const char *file)
{
	scoped(cpuset_done) struct cpuset cpus = { 0 };
	char text[4096];

	if (sys_read_sysfs(&t->sys, text, sizeof(text), "devices/system/cpu/%s", file) < 0 ||
	    cpuset_parse(&cpus, str_trim(str_of(text))) < 0)
		return 0;
	return cpuset_count(&cpus);
}

static bool smt_on(const struct tacho *t, const struct topology *topology)
{
	char text[16];

	if (sys_read_sysfs(&t->sys, text, sizeof(text), "devices/system/cpu/smt/active") >= 0)
		return text[0] == '1';
	return topology->n_cores < topology->n;
}

static bool has_pmem(const struct tacho *t)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/firmware/acpi/tables/NFIT", t->sys.sysfs);
	return io_is_accessible(path, F_OK);
}

/* Operations that the core can issue per cycle, from Arm's core PMU. */
static uint64_t slots_per_cycle(struct tacho *t)
{
	const struct pmu_list *cores;
	uint64_t n = 0;
	char text[32];

	if (pmu_cores(t, &cores) < 0)
		return 0;
	for (size_t i = 0; i < cores->n && !n; i++)
		if (pmu_read(t, cores->v[i], text, sizeof(text), "caps", STR_LIT("slots")) >= 0 &&
		    num_u64(str_trim(str_of(text)), &n) < 0)
			n = 0;
	return n;
}

/* The "@ 2.60GHz" of the model name: the rate of the TSC on Intel CPUs. */
static uint64_t model_name_hz(const struct tacho *t)
{
	char text[8192];
	int n = sys_read_procfs(&t->sys, text, sizeof(text), "cpuinfo");
	struct str rest = str_n(text, (size_t)max_of(n, 0)), line;
	double ghz;

	while (rest.n && str_cut(&rest, '\n', &line)) {
		ptrdiff_t at = str_starts(line, "model name") ? str_find(line, '@') : -1;
		struct str rate = at < 0 ? str_n("", 0) :
				  str_trim(str_n(line.s + at + 1, line.n - (size_t)at - 1));

		if (str_ends(rate, "GHz") && num_double(str_n(rate.s, rate.n - 3), &ghz) == 0 && ghz > 0 &&
		    ghz < 100)
			return (uint64_t)(ghz * 1e9 + 0.5);
	}
	return 0;
}

/* On AMD CPUs the TSC runs at the nominal rate, which the firmware gives in MHz. */
static uint64_t nominal_hz(const struct tacho *t)
{
	uint64_t mhz = 0;
	char text[32];

	if (sys_read_sysfs(&t->sys, text, sizeof(text), "devices/system/cpu/cpu0/acpi_cppc/nominal_freq") < 0 ||
	    num_u64(str_trim(str_of(text)), &mhz) < 0 || mhz > 100000)
		return 0;
	return mhz * 1000000;
}

/* CPUID leaf 15h may be incomplete (Skylake servers) or empty (AMD). */
static uint64_t tsc_hz(const struct tacho *t)
{
	uint64_t hz = arch_tsc_hz();

	if (!hz)
		hz = model_name_hz(t);
	return hz ? hz : nominal_hz(t);
}

bool machine_value(struct tacho *t, const struct topology *topology, enum tool_event tool, uint64_t *out)
{
	uint64_t v = 0;

	switch (tool) {
	case TOOL_SMT_ON:
		*out = smt_on(t, topology);
		return true;
	case TOOL_HAS_PMEM:
		*out = has_pmem(t);
		return true;
	case TOOL_NUM_CPUS:
		v = count_cpus(t, "present");
		break;
	case TOOL_NUM_CPUS_ONLINE:
		v = topology->n;
		break;
	case TOOL_NUM_CORES:
		v = topology->n_cores;
		break;
	case TOOL_NUM_DIES:
		v = topology->n_dies;
		break;
	case TOOL_NUM_PACKAGES:
		v = topology->n_sockets;
		break;
	case TOOL_SYSTEM_TSC_FREQ:
		v = tsc_hz(t);
		break;
	case TOOL_SLOTS:
		v = slots_per_cycle(t);
		break;
	default:
		return false;
	}
	*out = v;
	return v != 0;
}

/* The number of uncore_cha_N PMUs: PMU N counts CHA N of every socket. */
static double chas_per_socket(struct tacho *t)
{
	const struct pmu_list *pmus;
	unsigned n = 0;

	if (pmu_all(t, &pmus) < 0)
		return NAN;
	for (size_t i = 0; i < pmus->n; i++)
		n += str_is(pmu_stem(str_of(pmus->v[i]->name)), "uncore_cha");
	return n ? n : NAN;
}

static double retire_latency(struct tacho *t, const char *event)
{
	const struct metric_defs *defs;

	if (metric_defs_get(t, true, &defs) < 0)
		return NAN;
	for (size_t i = 0; i < defs->latencies.n; i++)
		if (str_ieq(str_of(defs->latencies.v[i].event), str_of(event)))
			return defs->latencies.v[i].mean;
	return NAN;
}

/* The factor that converts the event's count to its unit. */
static double event_scale(struct tacho *t, const char *event)
{
	struct event_list list = { 0 };
	double scale = event_parse(t, event, EVENT_FOR_STAT, &list, NULL) > 0 ? list.v[0].scale : NAN;

	event_list_done(&list);
	return scale;
}

double tacho_metric_literal(struct tacho *t, const char *name)
{
	scoped(topology_done) struct topology topology = { 0 };
	struct generic g;
	uint64_t v;

	if (str_starts(str_of(name), "retire_latency:"))
		return retire_latency(t, name + strlen("retire_latency:"));
	if (str_starts(str_of(name), "scale:"))
		return event_scale(t, name + strlen("scale:"));
	if (str_ieq(str_of(name), STR_LIT("chas_per_socket")))
		return chas_per_socket(t);
	if (!generic_find_tool(str_of(name), &g) || topology_read(&topology, &t->sys) < 0)
		return NAN;
	return machine_value(t, &topology, g.tool, &v) ? (double)v : NAN;
}

bool tacho_metric_cpu_is(struct tacho *t, const char *pattern)
{
	char id[64];

	return vendor_cpu_id(t, id, sizeof(id)) == 0 &&
	       (vendor_cpu_matches(str_of(pattern), id) || str_ieq(str_of(pattern), str_of(id)));
}
