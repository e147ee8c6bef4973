/*
 * Fallbacks for a refused perf_event_open(). The rules are tried in order. A rule that applies changes
 * the event's attr, leaves a note about it, and the event is opened again. If no rule applies,
 * the event fails, and explain.c writes the error message.
 *
 * Each rule applies at most once per event, because it removes the condition that it checks for. The
 * number of retries is therefore bounded.
 */
#include "count/evset_internal.h"

#include <errno.h>

#include "sys/limits.h"

struct refused_open {
	struct tacho_evset *set;
	uint32_t i;
	struct counted_event *ev;
	const struct event *event;
	struct perf_event_attr *attr;
	const struct cpu_tid *at;
	int err;
};

/* Before Linux 4.13, PERF_FORMAT_GROUP and inherit exclude each other. No note is needed: the members
 * are read one by one instead. */
static bool drop_group_inherit(const struct refused_open *r)
{
	bool in_samples = r->set->sampling.on && r->attr->sample_type & PERF_SAMPLE_READ;

	/* Samples need the values of the whole group: see drop_inherited_read(). */
	if (r->err != -EINVAL || !(r->attr->read_format & PERF_FORMAT_GROUP) || in_samples ||
	    !(r->attr->flags & PERF_ATTR_INHERIT) || r->set->no_group_inherit)
		return false;
	r->set->no_group_inherit = true;
	r->attr->read_format &= ~PERF_FORMAT_GROUP;
	return true;
}

/* PERF_ATTR_INHERIT_THREAD came with Linux 5.13. Without it an inherited event would follow children too. */
static bool drop_inherit_thread(const struct refused_open *r)
{
	if (r->err != -EINVAL || !(r->attr->flags & PERF_ATTR_INHERIT_THREAD) || r->set->no_inherit_thread ||
	    probe_knows(&r->set->probe, probe_feature("inherit_thread")))
		return false;
	r->set->no_inherit_thread = true;
	r->attr->flags &= ~(PERF_ATTR_INHERIT | PERF_ATTR_INHERIT_THREAD);
	set_note(r->set, NO_EVENT, "threads that the processes start later are not counted: following threads "
		 "but not children needs Linux 5.13");
	return true;
}

/* PERF_FORMAT_LOST came with Linux 6.0; older kernels refuse the whole attr. */
static bool drop_lost(const struct refused_open *r)
{
	if (r->err != -EINVAL || !(r->attr->read_format & PERF_FORMAT_LOST) ||
	    probe_knows(&r->set->probe, probe_feature("FORMAT_LOST")))
		return false;
	r->attr->read_format &= ~PERF_FORMAT_LOST;
	return true;
}

/* Drops one feature that this kernel does not know from a sampler's attr. Missing sample fields get a note,
 * missing kinds of sideband records do not. */
static bool drop_unknown(const struct refused_open *r)
{
	const struct kernel_feature *f;

	if ((r->err != -EINVAL && r->err != -E2BIG) || !r->set->sampling.on)
		return false;
	f = probe_refused(&r->set->probe, r->attr);
	if (!f || f->kind == FEATURE_FIELD)
		return false;
	if (f->kind == FEATURE_FLAG)
		r->attr->flags &= ~f->bit;
	else if (f->kind == FEATURE_FORMAT)
		r->attr->read_format &= ~f->bit;
	else if (f->kind == FEATURE_SAMPLE)
		r->attr->sample_type &= ~f->bit;
	else
		r->attr->branch_sample_type &= ~f->bit;
	/* PERF_SAMPLE_WEIGHT is the older form of PERF_SAMPLE_WEIGHT_STRUCT. */
	if (f->kind == FEATURE_SAMPLE && f->bit == PERF_SAMPLE_WEIGHT_STRUCT)
		r->attr->sample_type |= PERF_SAMPLE_WEIGHT;
	else if (f->kind == FEATURE_SAMPLE || f->kind == FEATURE_BRANCH)
		set_note(r->set, r->i, "%s: recorded without %s, which came with Linux %s",
			 r->ev->shown.name, f->name, f->since);
	else if (f->kind == FEATURE_FLAG && f->bit == PERF_ATTR_DEFER_CALLCHAIN)
		set_note(r->set, r->i, "%s: recorded without deferred call chains, which came with Linux %s", r->ev->shown.name,
			 f->since);
	return true;
}

/* Inherited events can have group values in their samples since Linux 6.12. */
static bool drop_inherited_read(const struct refused_open *r)
{
	if (r->err != -EINVAL || !r->set->sampling.on ||
	    !(r->attr->sample_type & PERF_SAMPLE_READ) || !(r->attr->flags & PERF_ATTR_INHERIT))
		return false;
	r->attr->flags &= ~PERF_ATTR_INHERIT;
	set_note(r->set, r->i, "%s: children are not followed, because this kernel does not put the "
		 "group's values into inherited samples", r->ev->shown.name);
	return true;
}

/* Retries without the request for a 64-bit counter: user space can read a 32-bit counter as well, because the
 * kernel accounts for its overflows. */
static bool drop_wide(const struct refused_open *r)
{
	if (r->err != -EOPNOTSUPP || !(r->attr->config1 & r->set->wide_bits))
		return false;
	r->attr->config1 &= ~r->set->wide_bits;
	return true;
}

/* Some PMUs cannot distinguish guests from the host and refuse exclude_guest. */
static bool drop_exclude_guest(const struct refused_open *r)
{
	if ((r->err != -EINVAL && r->err != -EOPNOTSUPP) || r->event->flags & EVENT_GUEST_GIVEN ||
	    !(r->attr->flags & PERF_ATTR_EXCLUDE_GUEST) ||
	    r->attr->type == PERF_TYPE_SOFTWARE || r->attr->type == PERF_TYPE_TRACEPOINT)
		return false;
	r->attr->flags &= ~PERF_ATTR_EXCLUDE_GUEST;
	r->ev->guest_dropped = true;
	set_note(r->set, r->i, "%s: counts guests too, because its PMU cannot exclude them",
		 r->ev->shown.name);
	return true;
}

/* The PMU of Apple's M1 requires exclude_guest. */
static bool add_exclude_guest(const struct refused_open *r)
{
	if (r->err != -EOPNOTSUPP || r->event->flags & EVENT_GUEST_GIVEN || r->ev->guest_dropped ||
	    r->attr->flags & (PERF_ATTR_EXCLUDE_GUEST | PERF_ATTR_EXCLUDE_HOST) ||
	    r->attr->type == PERF_TYPE_SOFTWARE || r->attr->type == PERF_TYPE_TRACEPOINT)
		return false;
	r->attr->flags |= PERF_ATTR_EXCLUDE_GUEST;
	set_note(r->set, r->i, "%s: counts the host only, because its PMU cannot count guests",
		 r->ev->shown.name);
	return true;
}

static bool lower_precise(const struct refused_open *r)
{
	uint64_t precise = r->attr->flags & PERF_ATTR_PRECISE_MASK;

	if ((r->err != -EINVAL && r->err != -EOPNOTSUPP && r->err != -ENOENT) || !precise ||
	    !(r->event->flags & EVENT_PRECISE_MAX))
		return false;
	r->attr->flags -= 1ULL << PERF_ATTR_PRECISE_SHIFT;
	if (!(r->attr->flags & PERF_ATTR_PRECISE_MASK) && !r->set->sampling.quiet_clock)
		set_note(r->set, r->i, "%s: not precise, because its PMU has no precise events",
			 r->ev->shown.name);
	return true;
}

/* Namespace records need privilege; mmap and task records do not. */
static bool drop_namespaces(const struct refused_open *r)
{
	if (r->err != -EACCES || !(r->attr->flags & PERF_ATTR_NAMESPACES))
		return false;
	r->attr->flags &= ~PERF_ATTR_NAMESPACES;
	set_note(r->set, r->i, "namespaces are not recorded, because the kernel reports them only with "
		 "CAP_PERFMON");
	return true;
}

/* Events that occur only in the kernel: with exclude_kernel they would silently count zero. */
static bool happens_in_kernel(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_TRACEPOINT)
		return true;
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		attr->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
		attr->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

/* Appends a modifier letter to an event name: "pmu/terms/u", "cycles:u", "cycles:pu". */
static const char *add_modifier(struct tacho_evset *set, const char *name, char letter)
{
	size_t n = strlen(name);
	bool has_letters = n && (name[n - 1] == '/' || strchr(name, ':'));
	const char *longer = set_text(set, has_letters ? "%s%c" : "%s:%c", name, letter);

	return longer ? longer : name;
}

/* perf_event_paranoid 2 forbids counting in the kernel, but not in user space. */
static bool exclude_kernel(const struct refused_open *r)
{
	const uint64_t excluded = PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV;
	const char *name = r->ev->shown.name;
	int paranoid = 2;

	if (r->err != -EACCES || r->event->flags & EVENT_PRIVILEGE_GIVEN ||
	    r->attr->flags & (PERF_ATTR_EXCLUDE_USER | PERF_ATTR_EXCLUDE_KERNEL) ||
	    r->set->opts.all_kernel || r->set->target.kind == TARGET_CPUS ||
	    happens_in_kernel(r->attr) || event_is_probe(r->ev->shown.pmu))
		return false;
	sys_sysctl_int(&r->set->t->sys, "kernel/perf_event_paranoid", &paranoid);
	if (paranoid < 2)
		return false;
	r->attr->flags |= excluded;
	r->ev->shown.name = add_modifier(r->set, name, 'u');
	set_note(r->set, r->i, "%s: counts user space only, because perf_event_paranoid is %d",
		 name, paranoid);
	return true;
}

/* Replaces cycles by a clock where there is no hardware PMU, if the caller allows that. */
static bool replace_cycles_by_clock(const struct refused_open *r)
{
	/* When sampling, perf falls back to cpu-clock for any target. */
	bool cpu_wide = r->set->target.kind == TARGET_CPUS || r->set->sampling.on;
	const char *clock = cpu_wide ? "cpu-clock" : "task-clock";

	if ((r->err != -ENOENT && r->err != -ENODEV && r->err != -ENXIO) ||
	    !r->set->opts.clock_fallback || r->attr->type != PERF_TYPE_HARDWARE ||
	    (r->attr->config & UINT32_MAX) != PERF_COUNT_HW_CPU_CYCLES)
		return false;
	if (!r->set->sampling.quiet_clock)
		set_note(r->set, r->i, "%s: counts %s instead, because this machine has no hardware "
			 "counters", r->ev->shown.name, clock);
	r->attr->type = PERF_TYPE_SOFTWARE;
	r->attr->config = cpu_wide ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_TASK_CLOCK;
	r->attr->config1 = r->attr->config2 = 0;
	r->attr->flags &= ~PERF_ATTR_PRECISE_MASK;
	r->ev->shown.name = clock;
	if (r->attr->flags & PERF_ATTR_EXCLUDE_KERNEL && !r->set->opts.all_user)
		r->ev->shown.name = add_modifier(r->set, clock, 'u');
	else if (r->attr->flags & PERF_ATTR_EXCLUDE_USER && !r->set->opts.all_kernel)
		r->ev->shown.name = add_modifier(r->set, clock, 'k');
	r->ev->shown.kind = TACHO_EVENT_SOFTWARE;
	r->ev->shown.pmu = "software";
	r->ev->shown.unit = "msec";
	r->ev->shown.scale = 1e-6;
	return true;
}

static bool (*const fallbacks[])(const struct refused_open *r) = {
	lower_precise, drop_namespaces, exclude_kernel, drop_exclude_guest, add_exclude_guest,
	drop_inherited_read, replace_cycles_by_clock,
};

/* Whether the thread has ended or the CPU was taken offline meanwhile. */
static bool place_is_gone(const struct refused_open *r)
{
	if (r->err == -ESRCH)
		return r->at->tid > 0;
	if (r->err == -ENODEV && r->at->cpu >= 0 && !r->ev->cgroup) {
		scoped(cpuset_done) struct cpuset online = { 0 };

		return sys_online_cpus(&r->set->t->sys, &online) == 0 &&
		       !cpuset_has(&online, r->at->cpu);
	}
	return false;
}

enum open_action open_fallback(struct tacho_evset *set, uint32_t i, const struct cpu_tid *at, int err)
{
	struct refused_open r = {
		.set = set, .i = i, .ev = &set->events.v[i], .event = set_event(set, i),
		.attr = &set->events.v[i].attr, .at = at, .err = err,
	};

	if (err == -EINTR)
		return OPEN_RETRY;
	if (err == -EMFILE)
		return !set->opts.keep_nofile && limits_raise_nofile() > 0 ? OPEN_RETRY : OPEN_STOP;
	if (err == -ENFILE)
		return OPEN_STOP;
	if (place_is_gone(&r)) {
		if (err == -ESRCH && set->opts.n_tids)		/* the user named the thread */
			set_note(set, NO_EVENT, NOTE_TASKS_GONE);
		return OPEN_SKIP_PLACE;
	}
	/* These rules change how values are read, not what is counted. */
	if (drop_inherit_thread(&r) || drop_group_inherit(&r) || drop_lost(&r) || drop_wide(&r) || drop_unknown(&r))
		return OPEN_RESTART_EVENT;
	if (set->opts.no_fallback)
		return OPEN_FAIL;
	for (size_t k = 0; k < countof(fallbacks); k++)
		if (fallbacks[k](&r))
			return OPEN_RESTART_EVENT;
	return OPEN_FAIL;
}
