/*
 * CPU checks: which PMUs the kernel has, whether the NMI watchdog occupies a counter, and whether
 * counters can be read without a system call.
 */
#include "doctor/check.h"

#include <errno.h>
#include <stdio.h>

#include "event/pmu.h"

/* The kinds of PMU. These names are known; other PMUs are classified by what sysfs says about them. */
enum pmu_kind { KIND_CORE, KIND_ENERGY, KIND_TRACE, KIND_KERNEL, KIND_UNCORE, KIND_OTHER };

static const struct { const char *pattern; enum pmu_kind kind; } kinds[] = {
	{ "power", KIND_ENERGY },	{ "power_core", KIND_ENERGY },	{ "intel_pt", KIND_TRACE },
	{ "intel_bts", KIND_TRACE },	{ "cs_etm", KIND_TRACE },	{ "arm_spe_*", KIND_TRACE },
	{ "hisi_ptt*", KIND_TRACE },	{ "ibs_*", KIND_TRACE },	{ "software", KIND_KERNEL },
	{ "tracepoint", KIND_KERNEL },	{ "breakpoint", KIND_KERNEL },	{ "kprobe", KIND_KERNEL },
	{ "uprobe", KIND_KERNEL },	{ "uncore_*", KIND_UNCORE },	{ "msr", KIND_OTHER },
	{ "cstate_*", KIND_OTHER },
};

static enum pmu_kind kind_of(const struct doctor *d, const char *name)
{
	struct pmu *pmu;

	for (size_t i = 0; i < countof(kinds); i++)
		if (str_glob(str_of(kinds[i].pattern), str_of(name)))
			return kinds[i].kind;
	if (pmu_find(d->t, str_of(name), &pmu) <= 0 || pmu_load(d->t, pmu) < 0)
		return KIND_OTHER;
	return pmu->core ? KIND_CORE : pmu->uncore ? KIND_UNCORE : KIND_OTHER;
}

/* "cpu_core, cpu_atom"; ends in " and N more" if the list would not fit. Returns how many. */
static int list_kind(const struct doctor *d, enum pmu_kind kind, struct finding *f)
{
	size_t n = 0, room = sizeof(f->value) - 24;
	int found = 0, left_out = 0;

	for (size_t i = 0; i < d->pmus.n; i++) {
		const char *name = d->pmus.v[i];

		if (kind_of(d, name) != kind)
			continue;
		found++;
		if (left_out || n + strlen(name) + 2 > room) {
			left_out++;
			continue;
		}
		n += (size_t)snprintf(f->value + n, sizeof(f->value) - n, "%s%s", n ? ", " : "", name);
	}
	if (left_out)
		snprintf(f->value + n, sizeof(f->value) - n, " and %d more", left_out);
	return found;
}

static bool check_core(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	(void)c;
	if (list_kind(d, KIND_CORE, f) > 0) {
		finding_set(f, TACHO_OK, "cycles, instructions, branches and caches can be counted");
		return true;
	}
	finding_value(f, "none");
	if (d->host.hypervisor[0]) {
		finding_set(f, TACHO_NO, "this is a VM without a vPMU: cycles, instructions, branches and "
			    "caches cannot be counted, and cpu-clock is used instead of cycles");
		fix_vpmu(d, f);
	} else {
		finding_set(f, TACHO_NO, "the kernel has no driver for this CPU's counters: hardware events "
			    "cannot be counted, and cpu-clock is used instead of cycles");
	}
	return true;
}

static bool check_uncore(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	bool allowed = host_is_perfmon(&d->host) ||
		       (d->host.paranoid != HOST_UNKNOWN && d->host.paranoid <= 0);

	(void)c;
	if (list_kind(d, KIND_UNCORE, f) == 0) {
		finding_value(f, "none");
		finding_set(f, TACHO_INFO, "no memory controller, interconnect or shared cache can be counted");
		return true;
	}
	if (allowed) {
		finding_set(f, TACHO_OK, "memory controllers, interconnects and similar units can be counted per socket");
		return true;
	}
	finding_set(f, TACHO_LIMITED, "they count whole sockets, which this user is not allowed to do");
	fix_open(d, f, -EACCES, 0);
	return true;
}

static bool check_energy(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	(void)c;
	if (list_kind(d, KIND_ENERGY, f) == 0)
		return false;
	finding_set(f, TACHO_INFO, "%s", d->host.hypervisor[0] ?
		    "the energy PMU exists, but in a VM its counters often do not change" :
		    "energy of package, cores and memory in joules, per socket (stat -a -e power/.../)");
	return true;
}

static bool check_trace_pmus(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	(void)c;
	if (list_kind(d, KIND_TRACE, f) == 0)
		return false;
	finding_set(f, TACHO_OK, "hardware that traces or samples instructions");
	return true;
}

static bool check_kernel_pmus(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	(void)c;
	if (list_kind(d, KIND_KERNEL, f) == 0) {
		finding_value(f, "none");
		finding_set(f, TACHO_NO, "sysfs has no event sources: it is not mounted, or the kernel "
			    "was built without CONFIG_PERF_EVENTS");
		finding_fix(f, "mount -t sysfs sysfs /sys");
		return true;
	}
	finding_set(f, TACHO_OK, "events that the kernel counts in software");
	return true;
}

static bool check_other_pmus(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	(void)c;
	if (list_kind(d, KIND_OTHER, f) == 0)
		return false;
	finding_set(f, TACHO_INFO, "other event sources; `tacho list pmu` shows their events");
	return true;
}

static bool check_watchdog(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	(void)c;
	if (d->host.nmi_watchdog == HOST_UNKNOWN)
		return false;
	finding_value(f, "%s", d->host.nmi_watchdog ? "on" : "off");
	if (!d->host.nmi_watchdog || !d->core_pmu) {
		finding_set(f, TACHO_OK, "%s", d->core_pmu ? "it uses no counter" :
			    "there is no hardware counter that it could use");
		return true;
	}
	finding_set(f, TACHO_LIMITED, "it uses one hardware counter of every CPU, so groups that need all "
		    "counters are never scheduled");
	fix_sysctl(d, f, "kernel.nmi_watchdog=0");
	return true;
}

/* x86 has an rdpmc file in the PMU's directory; arm64 and riscv have one sysctl for all PMUs. */
static bool check_rdpmc(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	char text[16], path[128];

	(void)c;
	if (!d->core_pmu) {
		finding_value(f, "no");
		finding_set(f, TACHO_INFO, "without hardware counters every read is a system call");
		return true;
	}
	for (size_t i = 0; i < d->pmus.n; i++) {
		if (kind_of(d, d->pmus.v[i]) != KIND_CORE ||
		    sys_read_sysfs(&d->t->sys, text, sizeof(text), "bus/event_source/devices/%s/rdpmc",
				   d->pmus.v[i]) <= 0)
			continue;
		finding_value(f, "%s", text);
		if (text[0] != '0') {
			finding_set(f, TACHO_OK, "regions of code are measured without system calls");
			return true;
		}
		finding_set(f, TACHO_LIMITED, "reading a counter costs a system call");
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%.64s/rdpmc", d->pmus.v[i]);
		fix_sysfs(d, f, "1", path);
		return true;
	}
	if (d->host.perf_user_access == HOST_UNKNOWN)
		return false;
	finding_value(f, "%d", d->host.perf_user_access);
	if (d->host.perf_user_access) {
		finding_set(f, TACHO_OK, "regions of code are measured without system calls");
	} else {
		finding_set(f, TACHO_LIMITED, "reading a counter costs a system call");
		fix_sysctl(d, f, "kernel.perf_user_access=1");
	}
	return true;
}

const struct doctor_check cpu_checks[] = {
	{ "pmu-core", "core PMU", "stat, record, agent", check_core, 0, NULL, NULL },
	{ "pmu-uncore", "uncore PMUs", "stat -a", check_uncore, 0, NULL, NULL },
	{ "pmu-energy", "energy PMU", "stat -a", check_energy, 0, NULL, NULL },
	{ "pmu-trace", "tracing PMUs", "record", check_trace_pmus, 0, NULL, NULL },
	{ "pmu-software", "kernel's own PMUs", "stat, record, agent", check_kernel_pmus, 0, NULL, NULL },
	{ "pmu-other", "other PMUs", "stat", check_other_pmus, 0, NULL, NULL },
	{ "nmi-watchdog", "NMI watchdog", "stat", check_watchdog, 0, NULL, NULL },
	{ "rdpmc", "direct reads (rdpmc)", "libtacho regions", check_rdpmc, 0, NULL, NULL },
	{ .id = NULL },
};
