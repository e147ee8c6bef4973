/*
 * Kernel checks: release, size of perf_event_attr, supported features, and restrictions by hypervisor,
 * container, lockdown, security modules and seccomp.
 */
#include "doctor/check.h"

#include <errno.h>
#include <stdio.h>

#include "sys/probe.h"
#include "sys/kernel_trial.h"

static bool is_before(const struct host_facts *h, int major, int minor)
{
	return h->version_major < major || (h->version_major == major && h->version_minor < minor);
}

static bool check_release(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	const struct host_facts *h = &d->host;

	(void)c;
	finding_value(f, "%s", h->release);
	if (!h->version_major)
		finding_set(f, TACHO_INFO, "the release has no version number, so features are detected by trying them");
	else if (is_before(h, 4, 0))
		finding_set(f, TACHO_LIMITED, "older than 4.0, the oldest kernel that tacho supports");
	else if (is_before(h, 5, 8))
		finding_set(f, TACHO_LIMITED, "older than 5.8: CAP_PERFMON does not exist, "
			    "CAP_SYS_ADMIN is needed instead");
	else if (is_before(h, 6, 0))
		finding_set(f, TACHO_OK, "older than 6.0: events do not count their lost samples, "
			    "which are summed from the records instead");
	else
		finding_set(f, TACHO_OK, "new enough for all counting and sampling");
	return true;
}

/* The sizes of perf_event_attr, newest first, with the newest field of each. */
static const struct { int size; const char *has, *lacks; } sizes[] = {
	{ PERF_ATTR_SIZE_VER9, "config4 (6.19)", NULL },
	{ PERF_ATTR_SIZE_VER8, "config3 (6.3)", "config4 (6.19)" },
	{ PERF_ATTR_SIZE_VER7, "sig_data (5.13)", "config3 (6.3)" },
	{ 120, "aux_sample_size (5.5)", "sig_data (5.13)" },
	{ 112, "sample_max_stack (4.8)", "aux_sample_size (5.5)" },
	{ 0, "the first fields", "sample_max_stack (4.8)" },
};

static bool check_attr_size(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	int size = trial_attr_size(&d->t->sys);
	size_t i = 0;

	(void)c;
	if (size < 0) {
		finding_set(f, size == -ENOSYS ? TACHO_NO : TACHO_INFO, "%s",
			    size == -ENOSYS && d->host.seccomp != 2 ?
			    "perf_event_open is missing: the kernel was built without CONFIG_PERF_EVENTS" :
			    "perf_event_open is refused before the kernel looks at the event");
		fix_open(d, f, size, 2);
		return true;
	}
	finding_value(f, "%d bytes", size);
	while (size < sizes[i].size)
		i++;
	if (sizes[i].lacks)
		finding_set(f, TACHO_OK, "events may use the fields up to %s, not yet %s", sizes[i].has,
			    sizes[i].lacks);
	else
		finding_set(f, TACHO_OK, "events may use every field up to %s", sizes[i].has);
	return true;
}

/* Every feature is probed, because distributions backport features to older versions. */
static bool check_features(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	size_t n, known = 0, at = 0;
	const struct kernel_feature *features = probe_features(&n);
	struct probe probe;
	char lacks[240] = "";

	(void)c;
	if (d->self_error < 0)
		return false;
	probe_init(&probe, &d->t->sys);
	for (size_t i = 0; i < n; i++) {
		if (probe_knows(&probe, &features[i]))
			known++;
		else if (at < sizeof(lacks))
			at += (size_t)snprintf(lacks + at, sizeof(lacks) - at, "%s%s (%s)",
					       at ? ", " : "", features[i].name, features[i].since);
	}
	finding_value(f, "%zu of %zu", known, n);
	if (known == n)
		finding_set(f, TACHO_OK, "the kernel supports every perf_events feature that tacho uses");
	else
		finding_set(f, TACHO_INFO, "not in this kernel: %s%s", lacks,
			    at >= sizeof(lacks) ? " ..." : "");
	return true;
}

static bool check_hypervisor(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	(void)c;
	if (!d->host.hypervisor[0])
		return false;
	finding_value(f, "%s", d->host.hypervisor);
	finding_set(f, TACHO_INFO, "a virtual machine: hardware counters exist only if the "
		    "hypervisor provides them, and no event shows stolen time");
	return true;
}

static bool check_container(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	(void)c;
	if (!d->host.container[0] && !d->host.user_namespace)
		return false;
	finding_value(f, "%s%s", d->host.container[0] ? d->host.container : "user namespace",
		      d->host.container[0] && d->host.user_namespace ? ", user namespace" : "");
	finding_set(f, TACHO_INFO, "%s", d->host.user_namespace ?
		    "capabilities held in a user namespace do not count for perf_events" :
		    "settings can be changed on the host only, capabilities when the container is started");
	if (!d->host.container[0])
		finding_fix(f, "exit  # leave the user namespace, and run tacho outside it");
	return true;
}

static bool check_lockdown(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	const char *mode = d->host.lockdown;

	(void)c;
	finding_value(f, "%s", mode[0] ? mode : "not in this kernel");
	if (strcmp(mode, "confidentiality") == 0) {
		finding_set(f, TACHO_LIMITED, "no kprobes, no tracefs, no kernel registers in samples, "
			    "no BPF that reads kernel memory");
		finding_fix(f, "lockdown=integrity  # on the kernel's command line; then reboot");
	} else if (strcmp(mode, "integrity") == 0) {
		finding_set(f, TACHO_OK, "debugfs and model-specific registers are locked; counting and "
			    "sampling are not affected");
	} else {
		finding_set(f, TACHO_OK, "nothing is locked down");
	}
	return true;
}

static bool check_lsm(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	(void)c;
	if (!d->host.lsm[0])
		return false;
	finding_value(f, "%s", d->host.lsm);
	finding_set(f, TACHO_INFO, "%s", strstr(d->host.lsm, "selinux") ?
		    "the SELinux policy may refuse perf_event_open (class perf_event)" :
		    "none of these has its own rules for perf_events");
	return true;
}

static bool check_seccomp(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	bool refused = d->self_error == -EPERM || d->self_error == -ENOSYS;

	(void)c;
	finding_value(f, "%s", d->host.seccomp == 0 ? "off" : d->host.seccomp == 1 ? "strict" : "filter");
	if (d->host.seccomp == 0) {
		finding_set(f, TACHO_OK, "no system call is filtered");
	} else if (!refused) {
		finding_set(f, TACHO_OK, "the filter allows perf_event_open");
	} else {
		finding_set(f, TACHO_NO, "the filter most likely refuses perf_event_open");
		fix_open(d, f, d->self_error, 2);
	}
	return true;
}

#define ALL "stat, record, agent"

const struct doctor_check kernel_checks[] = {
	{ "kernel", "kernel release", ALL, check_release, 0, NULL, NULL },
	{ "attr-size", "perf_event_attr", ALL, check_attr_size, 0, NULL, NULL },
	{ "features", "perf_events features", ALL, check_features, 0, NULL, NULL },
	{ "hypervisor", "hypervisor", "stat, record, agent", check_hypervisor, 0, NULL, NULL },
	{ "container", "container", ALL, check_container, 0, NULL, NULL },
	{ "lockdown", "lockdown", "record, report", check_lockdown, 0, NULL, NULL },
	{ "lsm", "security modules", ALL, check_lsm, 0, NULL, NULL },
	{ "seccomp", "seccomp", ALL, check_seccomp, 0, NULL, NULL },
	{ .id = NULL },
};
