/*
 * Error messages for a refused perf_event_open(): which event, on which CPU or thread, what the kernel
 * objected to (with the kernel version that introduced it, if it is too new), and the smallest
 * change that would fix it.
 *
 * perf_event_open() returns the same errno for many causes. The facts that distinguish them (paranoid
 * level, capabilities, container, PMUs) are gathered here only, after something failed.
 */
#include "count/evset_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "sys/host.h"
#include "sys/limits.h"

struct refusal {
	struct tacho_evset *set;
	uint32_t i;
	const struct counted_event *ev;
	const struct cpu_tid *at;
	int err;
	struct host_facts host;
	char where[48];			/* " on CPU 3", " for thread 77", "" */
	enum tacho_state state;
	struct buf why, hint;
};

static void find_where(struct refusal *r)
{
	if (r->at->cpu >= 0)
		snprintf(r->where, sizeof(r->where), " on CPU %d", r->at->cpu);
	else if (r->at->tid > 0 && r->set->target.tids.n > 1)
		snprintf(r->where, sizeof(r->where), " for thread %d", r->at->tid);
}

/* CAP_PERFMON came with Linux 5.8; before, CAP_SYS_ADMIN is needed. */
static const char *capability(const struct host_facts *h)
{
	bool old = h->version_major && (h->version_major < 5 ||
					(h->version_major == 5 && h->version_minor < 8));

	return old ? "CAP_SYS_ADMIN" : "CAP_PERFMON";
}

static void hint_paranoid(struct refusal *r, int level)
{
	buf_printf(&r->hint, "run with %s, or: sysctl -w kernel.perf_event_paranoid=%d",
		   capability(&r->host), level);
}

static bool is_hardware(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
	       attr->type == PERF_TYPE_RAW;
}

/* EPERM and ENOSYS mean that the system call itself is blocked: the kernel's own permission checks answer EACCES. */
static bool blocked_by_seccomp(const struct refusal *r)
{
	return (r->err == -EPERM || r->err == -ENOSYS) && r->host.seccomp == 2;
}

static void explain_seccomp(struct refusal *r)
{
	const char *name = r->host.container[0] ? r->host.container : "a container or sandbox";

	buf_printf(&r->why, "the seccomp filter of %s refuses perf_event_open", name);
	if (strcmp(r->host.container, "docker") == 0 || strcmp(r->host.container, "podman") == 0)
		buf_printf(&r->hint, "start it with --cap-add PERFMON, or --security-opt seccomp=FILE "
			   "with a profile that allows perf_event_open");
	else
		buf_puts(&r->hint, "allow perf_event_open in its seccomp profile");
}

static bool is_refused_by_policy(const struct host_facts *h)
{
	return strcmp(h->lockdown, "confidentiality") == 0 || strstr(h->lsm, "selinux") ||
	       strstr(h->lsm, "apparmor");
}

static void explain_privileged(struct refusal *r)
{
	if (strcmp(r->host.lockdown, "confidentiality") == 0) {
		buf_puts(&r->why, "kernel lockdown (confidentiality) refuses it even with privilege");
		buf_puts(&r->hint, "boot with lockdown=integrity or without lockdown");
	} else if (is_refused_by_policy(&r->host)) {
		buf_printf(&r->why, "a security module (%s) refuses it even with privilege",
			   r->host.lsm);
		buf_puts(&r->hint, "allow perf_event in its policy");
	} else {
		buf_puts(&r->why, "the kernel refuses it even with privilege");
		if (r->host.container[0])
			buf_puts(&r->hint, "the capability must be held in the initial user namespace, "
				 "outside this container");
	}
}

static void explain_permission(struct refusal *r)
{
	int paranoid = r->host.paranoid;
	bool kernel = !(r->ev->attr.flags & PERF_ATTR_EXCLUDE_KERNEL);

	r->state = TACHO_NOT_PERMITTED;
	if (blocked_by_seccomp(r)) {
		explain_seccomp(r);
	} else if (host_is_perfmon(&r->host)) {
		explain_privileged(r);
	} else if (event_is_probe(r->ev->shown.pmu)) {
		buf_puts(&r->why, "probes need CAP_PERFMON (CAP_SYS_ADMIN before Linux 5.8)");
		buf_puts(&r->hint, "run as root, or give tacho this capability: 'tacho doctor' shows how");
	} else if (r->set->target.kind == TARGET_CPUS && paranoid > 0) {
		buf_printf(&r->why, "perf_event_paranoid is %d, and counting whole CPUs needs 0 or less",
			   paranoid);
		hint_paranoid(r, 0);
	} else if (paranoid >= 3 && !kernel) {
		/* Levels 3 and 4 exist in Debian's and Ubuntu's kernels only. */
		buf_printf(&r->why, "perf_event_paranoid is %d, which does not let unprivileged "
			   "users open any event", paranoid);
		hint_paranoid(r, 2);
	} else if (paranoid >= 2 && kernel) {
		buf_printf(&r->why, "perf_event_paranoid is %d, which does not allow counting in the "
			   "kernel, and this event counts there", paranoid);
		hint_paranoid(r, 1);
	} else if (paranoid >= 2 && r->ev->attr.sample_type & PERF_SAMPLE_PHYS_ADDR) {
		buf_printf(&r->why, "perf_event_paranoid is %d, which hides physical addresses", paranoid);
		hint_paranoid(r, 1);
	} else if (r->at->tid > 0) {
		buf_printf(&r->why, "thread %d belongs to another user, or changed its credentials",
			   r->at->tid);
		buf_printf(&r->hint, "run as that user or with %s%s", capability(&r->host),
			   r->host.version_major < 6 ? " and CAP_SYS_PTRACE" : "");
	} else {
		buf_puts(&r->why, "the kernel does not permit it");
		buf_printf(&r->hint, "run with %s", capability(&r->host));
	}
}

static void explain_no_pmu(struct refusal *r)
{
	r->where[0] = '\0';		/* the CPU is irrelevant: the reason applies to all of them */
	if (r->host.hypervisor[0])
		buf_printf(&r->why, "this is a virtual machine (%s) without a virtual PMU, so there are "
			   "no hardware counters", r->host.hypervisor);
	else
		buf_puts(&r->why, "this machine shows no hardware counters");
	buf_puts(&r->hint, "enable the vPMU in the hypervisor, or count cpu-clock or task-clock");
}

/* The kernel version that introduced a software event; NULL: it existed in the first perf_events. */
static const char *software_event_since(const struct perf_event_attr *attr)
{
	if (attr->type != PERF_TYPE_SOFTWARE)
		return NULL;
	if (attr->config == PERF_COUNT_SW_CGROUP_SWITCHES)
		return "5.13";
	return attr->config == PERF_COUNT_SW_BPF_OUTPUT ? "4.4" : NULL;
}

static void explain_missing(struct refusal *r)
{
	const struct perf_event_attr *attr = &r->ev->attr;
	const char *since = software_event_since(attr);

	if (r->ev->cgroup && r->ev->cgroup_fd < 0)
		buf_printf(&r->why, "the cgroup %s is gone", r->ev->cgroup);
	else if (since)
		buf_printf(&r->why, "this event came with Linux %s, and this is %s", since,
			   r->host.release);
	else if (is_hardware(attr) && !event_has_core_pmu(r->set->t))
		explain_no_pmu(r);
	else if (is_hardware(attr))
		buf_puts(&r->why, "this processor has no such counter");
	else if (attr->type == PERF_TYPE_TRACEPOINT)
		buf_printf(&r->why, "no tracepoint has the number %" PRIu64, attr->config);
	else
		buf_puts(&r->why, "no PMU accepts it");
}

/* Whether the event can be opened alone, outside its group. */
static bool opens_alone(struct refusal *r)
{
	struct perf_event_attr attr = r->ev->attr;
	int fd = sys_perf_open(&r->set->t->sys, &attr, r->at->tid, r->at->cpu, -1,
			       PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		sys_perf_close(&r->set->t->sys, fd);
	return fd >= 0;
}

/* What is wrong with a hardware breakpoint. Returns false if nothing is known to be. */
static bool explain_breakpoint(struct refusal *r)
{
	const struct perf_event_attr *attr = &r->ev->attr;
	uint64_t len = attr->bp_len;

	if (attr->type != PERF_TYPE_BREAKPOINT)
		return false;
	if (attr->bp_type == HW_BREAKPOINT_X && len != sizeof(long))
		buf_printf(&r->why, "a breakpoint on execution has the length %zu, not %" PRIu64, sizeof(long), len);
	else if (len != 1 && len != 2 && len != 4 && len != 8)
		buf_printf(&r->why, "a watchpoint watches 1, 2, 4 or 8 bytes, not %" PRIu64, len);
#if defined(__x86_64__)
	else if (attr->bp_type == HW_BREAKPOINT_R)
		buf_puts(&r->why, "x86 has no watchpoints for reading alone; watch reads and writes");
	else if (attr->bp_type != HW_BREAKPOINT_X && attr->bp_addr % len)
		buf_printf(&r->why, "the address %#" PRIx64 " is not a multiple of the length %" PRIu64, attr->bp_addr, len);
#endif
	else
		return false;
	return true;
}

static void explain_invalid(struct refusal *r)
{
	const struct kernel_feature *f = probe_refused(&r->set->probe, &r->ev->attr);

	if (explain_breakpoint(r))
		return;
	if (f) {
		buf_printf(&r->why, "it needs %s, which came with Linux %s, and this is %s", f->name,
			   f->since, r->host.release);
	} else if (r->ev->leader != r->i && !r->ev->cgroup && opens_alone(r)) {
		buf_printf(&r->why, "it does not fit into the group of %s",
			   r->set->events.v[r->ev->leader].shown.name);
		buf_puts(&r->hint, "allow the group to be split (modifier W), or remove an event from it");
	} else if (r->ev->cgroup) {
		buf_printf(&r->why, "the kernel does not count it in the cgroup %s", r->ev->cgroup);
	} else if (r->set->sampling.on && r->ev->shown.system_wide) {
		buf_printf(&r->why, "the PMU %s can count but not sample", r->ev->shown.pmu);
		buf_puts(&r->hint, "count it with tacho stat -a");
	} else {
		buf_puts(&r->why, "the kernel refuses this combination (EINVAL)");
	}
}

static void explain_limit(struct refusal *r)
{
	r->state = TACHO_FAILED;
	buf_printf(&r->why, "the limit of %" PRIu64 " open file descriptors is reached", limits_nofile());
	buf_puts(&r->hint, "raise it with ulimit -n, or count fewer events, CPUs or threads");
}

static void explain_gone(struct refusal *r)
{
	r->state = TACHO_FAILED;
	if (r->err == -ENODEV && r->at->cpu >= 0)
		buf_printf(&r->why, "CPU %d is offline, or its PMU is gone", r->at->cpu);
	else if (r->err == -ENODEV)
		buf_puts(&r->why, "its PMU is gone");
	else if (r->at->tid > 0)
		buf_printf(&r->why, "thread %d has ended", r->at->tid);
	else
		buf_puts(&r->why, "the thread has ended");
}

static void explain_busy(struct refusal *r)
{
	r->state = TACHO_FAILED;
	if (r->err == -ENOSPC)
		buf_puts(&r->why, "all breakpoint registers are in use");
	else
		buf_puts(&r->why, "another user has this PMU exclusively");
	buf_puts(&r->hint, "stop its other user (a debugger, another profiler)");
}

static void explain_not_supported(struct refusal *r)
{
	if (r->ev->attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
		buf_puts(&r->why, "its PMU records no branches");
	else if (r->ev->attr.sample_period)
		buf_puts(&r->why, "its PMU has no interrupt, so it cannot use a sample period");
	else if (r->ev->attr.flags & PERF_ATTR_PRECISE_MASK)
		buf_puts(&r->why, "its PMU does not count at this precision");
	else
		buf_puts(&r->why, "its PMU cannot do this");
}

static void explain_other(struct refusal *r)
{
	r->state = TACHO_FAILED;
	buf_printf(&r->why, "the kernel says: %s", strerror(-r->err));
}

static const struct {
	int err;
	void (*fn)(struct refusal *r);
} causes[] = {
	{ -EACCES, explain_permission }, { -EPERM, explain_permission },
	{ -ENOENT, explain_missing },	 { -ENXIO, explain_missing },
	{ -EINVAL, explain_invalid },	 { -E2BIG, explain_invalid },
	{ -EOPNOTSUPP, explain_not_supported }, { -EMFILE, explain_limit },
	{ -ENFILE, explain_limit },	 { -ESRCH, explain_gone },
	{ -ENODEV, explain_gone },	 { -EBUSY, explain_busy },
	{ -ENOSPC, explain_busy },
};

static void explain_cause(struct refusal *r)
{
	if (r->err == -ENOSYS && blocked_by_seccomp(r)) {
		explain_permission(r);
		return;
	}
	if (r->err == -ENOSYS) {
		buf_puts(&r->why, "this kernel has no perf events (CONFIG_PERF_EVENTS)");
		return;
	}
	for (size_t i = 0; i < countof(causes); i++)
		if (causes[i].err == r->err) {
			causes[i].fn(r);
			return;
		}
	explain_other(r);
}

void explain_open(struct tacho_evset *set, uint32_t i, const struct cpu_tid *at, int err)
{
	struct counted_event *ev = &set->events.v[i];
	struct refusal r = { .set = set, .i = i, .ev = ev, .at = at, .err = err,
			     .state = TACHO_UNSUPPORTED };

	host_probe(&set->t->sys, &r.host);
	find_where(&r);
	explain_cause(&r);
	ev->state = r.state;
	ev->err = err;
	set_drop_notes(set, i);
	ev->hint = r.hint.n ? set_text(set, "%s", r.hint.bytes) : NULL;
	ev->cause = set_text(set, "%s%s: %s", ev->shown.name, r.where, r.why.n ? r.why.bytes : "");
	/* Without the event's name: a reason that many events share is printed once. */
	ev->why = set_text(set, "%s%s%s%s%s", r.where[0] ? r.where + 1 : "", r.where[0] ? ": " : "",
			   r.why.n ? r.why.bytes : "", ev->hint ? "; " : "", ev->hint ? ev->hint : "");
	if (!ev->why)
		ev->why = "out of memory";
	buf_done(&r.why);
	buf_done(&r.hint);
}

void explain_filter(struct tacho_evset *set, uint32_t i, int err)
{
	struct counted_event *ev = &set->events.v[i];
	char *path = set_text(set, "events/%s/format", ev->shown.name);

	/* The fields of sched:sched_switch are in events/sched/sched_switch/format. */
	for (char *c = path; c && *c; c++)
		if (*c == ':')
			*c = '/';
	ev->state = TACHO_FAILED;
	ev->err = err;
	if (err == -EINVAL)
		ev->why = set_text(set, "the kernel refuses the filter '%s'; %s below tracefs lists "
				   "the fields it can use", ev->filter, path ? path : "");
	else
		ev->why = set_text(set, "cannot set the filter '%s': %s", ev->filter,
				   strerror(-err));
	if (!ev->why)
		ev->why = "out of memory";
}

const char *explain_broken(void)
{
	return "it is pinned, and other events use the hardware counter it needs";
}

static size_t count_kernel_events(struct tacho_evset *set, size_t *n_not_permitted)
{
	size_t n = 0;

	*n_not_permitted = 0;
	for (uint32_t i = 0; i < set->events.n; i++) {
		if (set_event(set, i)->kind == TACHO_EVENT_TOOL)
			continue;
		n++;
		*n_not_permitted += set->events.v[i].state == TACHO_NOT_PERMITTED;
	}
	return n;
}

static int explain_descriptors(struct tacho_evset *set, int err, struct tacho_error *e)
{
	error_set(e, err, "%zu events need %zu file descriptors here, and the limit is %" PRIu64,
		  set->events.n, set->n_counters, limits_nofile());
	error_hint(e, "raise the hard limit (ulimit -Hn, LimitNOFILE=), or count fewer events, CPUs or "
		   "threads");
	return err;
}

int explain_event(const struct tacho_evset *set, uint32_t i, int err, struct tacho_error *e)
{
	const struct counted_event *ev = &set->events.v[i];

	if (ev->cause)
		error_set(e, err, "%s", ev->cause);
	else
		error_set(e, err, "%s: %s", ev->shown.name, ev->why);
	if (ev->hint)
		error_hint(e, "%s", ev->hint);
	return err;
}

/* The error of the whole set when no event could be opened, or when opening was abandoned. */
int explain_whole(struct tacho_evset *set, int err, struct tacho_error *e)
{
	size_t refused, n = count_kernel_events(set, &refused);

	if (err == -EMFILE || err == -ENFILE)
		return explain_descriptors(set, err, e);
	if (err < 0)
		return error_set(e, err, "cannot open the counters: %s", strerror(-err));
	for (uint32_t i = 0; n && i < set->events.n; i++) {
		const struct counted_event *ev = &set->events.v[i];

		if (set_event(set, i)->kind == TACHO_EVENT_TOOL)
			continue;
		if (refused < n && ev->err != -ESRCH)
			return 0;
		tacho_evset_close(set);
		err = ev->err == -ESRCH ? -ESRCH : -EACCES;
		return explain_event(set, i, err, e);
	}
	return 0;
}
