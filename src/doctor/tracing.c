/*
 * Tracing: where tracepoints, probes and BPF come from, and whether this user gets at them.
 */
#include "doctor/check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "base/io.h"
#include "sys/kernel_trial.h"

static const char *const places[] = { "kernel/tracing", "kernel/debug/tracing" };

/* Where tracefs is or should be: the place that exists but may not be read, else the usual. */
static void place_of_tracefs(const struct patient *p, char *out, size_t size)
{
	for (size_t i = 0; i < countof(places); i++) {
		snprintf(out, size, "%.200s/%s", p->t->sys.sysfs, places[i]);
		if (access(out, F_OK) == 0)
			return;
	}
	snprintf(out, size, "%.200s/%s", p->t->sys.sysfs, places[0]);
}

/*
 * tracefs belongs to root (mode 700), its files are 0440 and 0640. Only the gid option reaches the
 * files inside, so opening it to a group is the remedy that works; mode alone is not.
 */
static bool check_tracefs(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	const char *tracefs = sys_tracefs(&p->t->sys);
	int why = errno;
	char place[256];

	(void)c;
	if (tracefs) {
		finding_value(f, "%s", tracefs);
		finding_say(f, TACHO_OK, "mounted and readable: tracepoints can be listed and opened");
		return true;
	}
	place_of_tracefs(p, place, sizeof(place));
	if (why == EACCES) {
		finding_value(f, "%.100s", place);
		finding_say(f, TACHO_LIMITED, "mounted, but this user may not read it: tracepoints cannot be "
			    "named");
		finding_fix(f, "mount -o remount,mode=750,gid=%u %s", (unsigned)getgid(), place);
		return true;
	}
	finding_value(f, "not mounted");
	finding_say(f, TACHO_NO, "no tracepoints, and no probes through files");
	remedy_mount(p, f, "tracefs", place);
	return true;
}

static bool check_debugfs(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	scoped(buf_done) struct buf mounts = { 0 };
	bool needed = p->host.version_major && (p->host.version_major < 4 ||
		      (p->host.version_major == 4 && p->host.version_minor < 1));
	char path[PATH_MAX];

	(void)c;
	snprintf(path, sizeof(path), "%s/self/mountinfo", p->t->sys.procfs);
	if (io_read(path, 4u << 20, &mounts) == 0 && mounts.n && strstr(mounts.bytes, " - debugfs ")) {
		finding_value(f, "mounted");
		finding_say(f, TACHO_OK, "tracefs shows below it, too");
		return true;
	}
	finding_value(f, "not mounted");
	if (!needed) {
		finding_say(f, TACHO_INFO, "not needed: tracefs stands alone since Linux 4.1");
		return true;
	}
	finding_say(f, TACHO_NO, "before Linux 4.1 tracepoints are only found below it");
	remedy_mount(p, f, "debugfs", "/sys/kernel/debug");
	return true;
}

static bool has_pmu(const struct patient *p, const char *name)
{
	for (size_t i = 0; i < p->pmus.n; i++)
		if (strcmp(p->pmus.v[i], name) == 0)
			return true;
	return false;
}

/* Probes come from a PMU of their own (4.17) or from a file of tracefs. */
static bool check_probe(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	const char *tracefs = sys_tracefs(&p->t->sys);
	char path[PATH_MAX] = "";
	bool pmu = has_pmu(p, c->word), file, writable;

	if (tracefs)
		snprintf(path, sizeof(path), "%s/%s_events", tracefs, c->word);
	file = path[0] && faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) == 0;
	writable = file && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
	if ((pmu && host_is_perfmon(&p->host)) || writable) {
		finding_value(f, "%s%s%s", pmu ? "PMU" : "", pmu && file ? ", " : "",
			      file ? "tracefs" : "");
		finding_say(f, TACHO_OK, "%s can be placed", c->title);
	} else if (pmu || file) {
		finding_value(f, "not permitted");
		finding_say(f, TACHO_LIMITED, "the kernel has them, but this user may not place any");
		remedy_capability(p, f, HOST_CAP_PERFMON);
	} else if (tracefs) {
		finding_value(f, "none");
		finding_say(f, TACHO_NO, "%s", c->loss);
	} else {
		finding_value(f, "none");
		finding_say(f, TACHO_NO, "no %s PMU, and no tracefs to look further", c->word);
	}
	return true;
}

static bool check_bpf(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	int err = trial_bpf();

	(void)c;
	if (err == 0) {
		finding_value(f, "loads");
		finding_say(f, TACHO_OK, "a program for perf events was loaded: the kernel can summarise");
	} else if (err == -EPERM || err == -EACCES) {
		finding_value(f, "not permitted");
		finding_say(f, TACHO_LIMITED, "no BPF programs for this user: summaries are made in user space");
		if (!host_has_cap(&p->host, HOST_CAP_BPF))
			remedy_capability(p, f, HOST_CAP_BPF);
	} else {
		finding_value(f, "%s", err == -ENOSYS ? "not in this kernel" : strerror(-err));
		finding_say(f, TACHO_NO, "no BPF programs: summaries are made in user space");
	}
	return true;
}

static bool check_unprivileged_bpf(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	int value = p->host.unprivileged_bpf_disabled;

	(void)c;
	if (value == HOST_UNKNOWN)
		return false;
	finding_value(f, "%d", value);
	finding_say(f, TACHO_INFO, "%s", value ? "BPF needs CAP_BPF, and CAP_PERFMON for tracing" :
		    "socket filters load without rights, tracing programs do not");
	return true;
}

static bool check_btf(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	char path[PATH_MAX];

	(void)c;
	snprintf(path, sizeof(path), "%s/kernel/btf/vmlinux", p->t->sys.sysfs);
	if (access(path, R_OK) == 0) {
		finding_value(f, "there");
		finding_say(f, TACHO_OK, "BPF programs adapt themselves to this kernel's structures");
	} else {
		finding_value(f, "none");
		finding_say(f, TACHO_NO, "BPF programs that read kernel structures cannot be loaded; the "
			    "kernel needs CONFIG_DEBUG_INFO_BTF");
	}
	return true;
}

const struct doctor_check tracing_checks[] = {
	{ "tracefs", "tracefs", "list, stat, record, trace, probe", check_tracefs, 0, NULL, NULL },
	{ "debugfs", "debugfs", "list, stat, record, trace", check_debugfs, 0, NULL, NULL },
	{ "kprobes", "kprobes", "probe, record, trace", check_probe, 0, "kprobe",
	  "kernel functions cannot be probed: built without CONFIG_KPROBE_EVENTS" },
	{ "uprobes", "uprobes", "probe, record, trace", check_probe, 0, "uprobe",
	  "user functions cannot be probed: built without CONFIG_UPROBE_EVENTS" },
	{ "bpf", "BPF", "trace, record --off-cpu", check_bpf, 0, NULL, NULL },
	{ "unprivileged-bpf", "unprivileged_bpf_disabled", "trace, record --off-cpu",
	  check_unprivileged_bpf, 0, NULL, NULL },
	{ "btf", "BTF", "trace, record --off-cpu", check_btf, 0, NULL, NULL },
	{ .id = NULL },
};
