/*
 * The kernel: its release, the size of its perf_event_attr, and the walls around it.
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

static bool check_release(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	const struct host_facts *h = &p->host;

	(void)c;
	finding_value(f, "%s", h->release);
	if (!h->version_major)
		finding_say(f, TACHO_INFO, "the release says no version, so features are found by trying");
	else if (is_before(h, 4, 0))
		finding_say(f, TACHO_LIMITED, "older than 4.0, the oldest kernel tacho is written for");
	else if (is_before(h, 5, 8))
		finding_say(f, TACHO_LIMITED, "older than 5.8: CAP_PERFMON does not exist, "
			    "CAP_SYS_ADMIN is needed in its place");
	else if (is_before(h, 6, 0))
		finding_say(f, TACHO_OK, "older than 6.0: events do not count their own lost samples, "
			    "these are summed from the records");
	else
		finding_say(f, TACHO_OK, "new enough for all counting and sampling");
	return true;
}

/* The sizes of the struct and what each brought, newest first. */
static const struct { int size; const char *has, *lacks; } sizes[] = {
	{ PERF_ATTR_SIZE_VER9, "config4 (6.19)", NULL },
	{ PERF_ATTR_SIZE_VER8, "config3 (6.3)", "config4 (6.19)" },
	{ PERF_ATTR_SIZE_VER7, "sig_data (5.13)", "config3 (6.3)" },
	{ 120, "aux_sample_size (5.5)", "sig_data (5.13)" },
	{ 112, "sample_max_stack (4.8)", "aux_sample_size (5.5)" },
	{ 0, "the first fields", "sample_max_stack (4.8)" },
};

static bool check_attr_size(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	int size = trial_attr_size(&p->t->sys);
	size_t i = 0;

	(void)c;
	if (size < 0) {
		finding_say(f, size == -ENOSYS ? TACHO_NO : TACHO_INFO, "%s",
			    size == -ENOSYS && p->host.seccomp != 2 ?
			    "perf_event_open is missing: the kernel was built without CONFIG_PERF_EVENTS" :
			    "perf_event_open is refused before the kernel looks at the event");
		remedy_open(p, f, size, 2);
		return true;
	}
	finding_value(f, "%d bytes", size);
	while (size < sizes[i].size)
		i++;
	if (sizes[i].lacks)
		finding_say(f, TACHO_OK, "events may use the fields up to %s, not yet %s", sizes[i].has,
			    sizes[i].lacks);
	else
		finding_say(f, TACHO_OK, "events may use every field up to %s", sizes[i].has);
	return true;
}

/* Each is asked of the kernel; distributions move features between versions. */
static bool check_features(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	size_t n, known = 0, at = 0;
	const struct kernel_feature *features = probe_features(&n);
	struct probe probe;
	char lacks[240] = "";

	(void)c;
	if (p->self_error < 0)
		return false;
	probe_init(&probe, &p->t->sys);
	for (size_t i = 0; i < n; i++) {
		if (probe_knows(&probe, &features[i]))
			known++;
		else if (at < sizeof(lacks))
			at += (size_t)snprintf(lacks + at, sizeof(lacks) - at, "%s%s (%s)",
					       at ? ", " : "", features[i].name, features[i].since);
	}
	finding_value(f, "%zu of %zu", known, n);
	if (known == n)
		finding_say(f, TACHO_OK, "the kernel knows every part of the interface that tacho knows");
	else
		finding_say(f, TACHO_INFO, "not in this kernel: %s%s", lacks,
			    at >= sizeof(lacks) ? " ..." : "");
	return true;
}

static bool check_hypervisor(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	(void)c;
	if (!p->host.hypervisor[0])
		return false;
	finding_value(f, "%s", p->host.hypervisor);
	finding_say(f, TACHO_INFO, "a virtual machine: hardware counters are there only if the "
		    "hypervisor hands them on, and time stolen by it shows in no event");
	return true;
}

static bool check_container(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	(void)c;
	if (!p->host.container[0] && !p->host.user_namespace)
		return false;
	finding_value(f, "%s%s", p->host.container[0] ? p->host.container : "user namespace",
		      p->host.container[0] && p->host.user_namespace ? ", user namespace" : "");
	finding_say(f, TACHO_INFO, "%s", p->host.user_namespace ?
		    "capabilities held in a user namespace do not count for perf_events and BPF" :
		    "settings belong to the host, capabilities to who started the container");
	return true;
}

static bool check_lockdown(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	const char *mode = p->host.lockdown;

	(void)c;
	finding_value(f, "%s", mode[0] ? mode : "not in this kernel");
	if (strcmp(mode, "confidentiality") == 0) {
		finding_say(f, TACHO_LIMITED, "no kprobes, no tracefs, no kernel registers in samples, "
			    "no BPF that reads kernel memory");
		finding_fix(f, "lockdown=integrity  # on the kernel's command line; then reboot");
	} else if (strcmp(mode, "integrity") == 0) {
		finding_say(f, TACHO_OK, "debugfs and model-specific registers are closed, counting and "
			    "sampling are not touched");
	} else {
		finding_say(f, TACHO_OK, "nothing is locked");
	}
	return true;
}

static bool check_lsm(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	(void)c;
	if (!p->host.lsm[0])
		return false;
	finding_value(f, "%s", p->host.lsm);
	finding_say(f, TACHO_INFO, "%s", strstr(p->host.lsm, "selinux") ?
		    "SELinux may refuse perf_event_open by its own policy (class perf_event)" :
		    "none of these has rules of its own for perf_events");
	return true;
}

static bool check_seccomp(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	bool refused = p->self_error == -EPERM || p->self_error == -ENOSYS;

	(void)c;
	finding_value(f, "%s", p->host.seccomp == 0 ? "off" : p->host.seccomp == 1 ? "strict" : "filter");
	if (p->host.seccomp == 0) {
		finding_say(f, TACHO_OK, "no system call is filtered");
	} else if (!refused) {
		finding_say(f, TACHO_OK, "the filter lets perf_event_open pass");
	} else {
		finding_say(f, TACHO_NO, "the filter most likely refuses perf_event_open");
		remedy_open(p, f, p->self_error, 2);
	}
	return true;
}

#define ALL "stat, record, top, trace"

const struct doctor_check kernel_checks[] = {
	{ "kernel", "kernel release", ALL, check_release, 0, NULL, NULL },
	{ "attr-size", "perf_event_attr", ALL, check_attr_size, 0, NULL, NULL },
	{ "features", "perf_events features", ALL, check_features, 0, NULL, NULL },
	{ "hypervisor", "hypervisor", "stat, record, top", check_hypervisor, 0, NULL, NULL },
	{ "container", "container", ALL, check_container, 0, NULL, NULL },
	{ "lockdown", "lockdown", "record, trace, probe", check_lockdown, 0, NULL, NULL },
	{ "lsm", "security modules", ALL, check_lsm, 0, NULL, NULL },
	{ "seccomp", "seccomp", ALL, check_seccomp, 0, NULL, NULL },
	{ .id = NULL },
};
