/*
 * Tracing checks: tracefs, debugfs, kprobes, uprobes, BPF and BTF, and whether this user may use them.
 */
#include "doctor/check.h"

#include <tacho/bpf.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "base/io.h"

static const char *const places[] = { "kernel/tracing", "kernel/debug/tracing" };

/* Where tracefs is or should be mounted: the first of the usual directories that exists, else the usual one. */
static void find_tracefs_dir(const struct doctor *d, char *out, size_t size)
{
	for (size_t i = 0; i < countof(places); i++) {
		snprintf(out, size, "%.200s/%s", d->t->sys.sysfs, places[i]);
		if (io_is_accessible(out, F_OK))
			return;
	}
	snprintf(out, size, "%.200s/%s", d->t->sys.sysfs, places[0]);
}

/* tracefs belongs to root: its directories have mode 700, its files 0440 and 0640. CAP_DAC_READ_SEARCH, which is
 * among the capabilities of the fix, reads it without changes of the mount. */
static bool check_tracefs(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	const char *tracefs = sys_tracefs(&d->t->sys);
	int why = errno;
	char place[256];

	(void)c;
	if (tracefs) {
		finding_value(f, "%s", tracefs);
		finding_set(f, TACHO_OK, "mounted and readable: tracepoints can be listed and opened");
		return true;
	}
	find_tracefs_dir(d, place, sizeof(place));
	if (why == EACCES) {
		finding_value(f, "%.100s", place);
		finding_set(f, TACHO_LIMITED, "mounted, but this user may not read it: tracepoints cannot be "
			    "used by name");
		fix_capability(d, f);
		return true;
	}
	finding_value(f, "not mounted");
	finding_set(f, TACHO_NO, "no tracepoints, and no probes through tracefs");
	fix_mount(d, f, "tracefs", place);
	return true;
}

static bool check_debugfs(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	scoped(buf_done) struct buf mounts = { 0 };
	bool needed = d->host.version_major && (d->host.version_major < 4 ||
		      (d->host.version_major == 4 && d->host.version_minor < 1));
	char path[PATH_MAX];

	(void)c;
	snprintf(path, sizeof(path), "%s/self/mountinfo", d->t->sys.procfs);
	if (io_read(path, 4u << 20, &mounts) == 0 && mounts.n && strstr(mounts.bytes, " - debugfs ")) {
		finding_value(f, "mounted");
		finding_set(f, TACHO_OK, "tracefs is also visible below it");
		return true;
	}
	finding_value(f, "not mounted");
	if (!needed) {
		finding_set(f, TACHO_INFO, "not needed: tracefs is a separate file system since Linux 4.1");
		return true;
	}
	finding_set(f, TACHO_NO, "before Linux 4.1, tracepoints are available below debugfs only");
	fix_mount(d, f, "debugfs", "/sys/kernel/debug");
	return true;
}

static bool has_pmu(const struct doctor *d, const char *name)
{
	for (size_t i = 0; i < d->pmus.n; i++)
		if (strcmp(d->pmus.v[i], name) == 0)
			return true;
	return false;
}

/* Probes are created through the kprobe and uprobe PMUs (Linux 4.17) or through tracefs. */
static bool check_probe(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	const char *tracefs = sys_tracefs(&d->t->sys);
	char path[PATH_MAX] = "";
	bool pmu = has_pmu(d, c->word), file, writable;

	if (tracefs)
		snprintf(path, sizeof(path), "%s/%s_events", tracefs, c->word);
	file = path[0] && io_is_accessible(path, F_OK);
	writable = file && io_is_accessible(path, W_OK);
	if ((pmu && host_is_perfmon(&d->host)) || writable) {
		finding_value(f, "%s%s%s", pmu ? "PMU" : "", pmu && file ? ", " : "",
			      file ? "tracefs" : "");
		finding_set(f, TACHO_OK, "%s can be created", c->title);
	} else if (pmu || file) {
		finding_value(f, "not permitted");
		finding_set(f, TACHO_LIMITED, "the kernel supports them, but this user may not create any");
		fix_capability(d, f);
	} else if (tracefs) {
		finding_value(f, "none");
		finding_set(f, TACHO_NO, "%s", c->loss);
	} else {
		finding_value(f, "none");
		finding_set(f, TACHO_NO, "no %s PMU and no tracefs", c->word);
	}
	return true;
}

/* Every command works without BPF, at a higher cost. */
static bool check_bpf(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	struct tacho_error e = { .column = -1 };
	int err = tacho_bpf_probe(&e);

	(void)c;
	if (err == 0) {
		finding_value(f, "loads");
		finding_set(f, TACHO_OK, "summaries are made in the kernel");
	} else if (err == -EPERM || err == -EACCES) {
		finding_value(f, "not permitted");
		finding_set(f, TACHO_LIMITED, "summaries are made from samples, which costs more CPU time: %.200s",
			    e.message);
		fix_capability(d, f);
	} else {
		finding_value(f, "none");
		finding_set(f, TACHO_INFO, "summaries are made from samples, which costs more CPU time: %.300s",
			    e.message);
	}
	return true;
}

static bool check_unprivileged_bpf(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	int value = d->host.unprivileged_bpf_disabled;

	(void)c;
	if (value == HOST_UNKNOWN)
		return false;
	finding_value(f, "%d", value);
	finding_set(f, TACHO_INFO, "%s", value ? "BPF needs CAP_BPF, and CAP_PERFMON for tracing" :
		    "unprivileged users can load socket filters, but no tracing programs");
	return true;
}

static bool check_btf(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	char path[PATH_MAX];

	(void)c;
	snprintf(path, sizeof(path), "%s/kernel/btf/vmlinux", d->t->sys.sysfs);
	if (io_is_accessible(path, R_OK)) {
		finding_value(f, "available");
		finding_set(f, TACHO_INFO, "BPF programs adapt to this kernel's structures");
	} else {
		finding_value(f, "none");
		finding_set(f, TACHO_INFO, "the BPF programs of tacho cannot be loaded: they read kernel structures");
	}
	return true;
}

const struct doctor_check tracing_checks[] = {
	{ "tracefs", "tracefs", "list, stat, record", check_tracefs, 0, NULL, NULL },
	{ "debugfs", "debugfs", "list, stat, record", check_debugfs, 0, NULL, NULL },
	{ "kprobes", "kprobes", "stat, record", check_probe, 0, "kprobe",
	  "kernel functions cannot be probed: built without CONFIG_KPROBE_EVENTS" },
	{ "uprobes", "uprobes", "stat, record", check_probe, 0, "uprobe",
	  "user functions cannot be probed: built without CONFIG_UPROBE_EVENTS" },
	{ "bpf", "BPF", NULL, check_bpf, 0, NULL, NULL },
	{ "unprivileged-bpf", "unprivileged_bpf_disabled", NULL, check_unprivileged_bpf, 0, NULL, NULL },
	{ "btf", "BTF", NULL, check_btf, 0, NULL, NULL },
	{ .id = NULL },
};
