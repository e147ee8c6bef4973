/*
 * What to do about a refused open. Rules are tried in order; each one either changes the
 * event's attr, leaves a note about it and asks for another try, or passes. What no rule
 * mends is the event's end, and explain.c finds the words.
 *
 * A rule is tried at most once per event because it checks for what it takes away: the ladder
 * only goes down.
 */
#include "count/evset_internal.h"

#include <errno.h>

#include "sys/limits.h"

struct rung {
	struct tacho_evset *set;
	uint32_t i;
	struct counted *ev;
	const struct event *event;
	struct perf_event_attr *attr;
	const struct pair *at;
	int err;
};

/* Before 4.13 a group could not be read as one when children inherit it. Not worth a note:
 * the members are read one by one instead. */
static bool drop_group_inherit(const struct rung *r)
{
	bool in_samples = r->set->sampling.on && r->attr->sample_type & PERF_SAMPLE_READ;

	/* In samples the group's values are what was asked for: see drop_inherited_read(). */
	if (r->err != -EINVAL || !(r->attr->read_format & PERF_FORMAT_GROUP) || in_samples ||
	    !(r->attr->flags & PERF_ATTR_INHERIT) || r->set->no_group_inherit)
		return false;
	r->set->no_group_inherit = true;
	r->attr->read_format &= ~PERF_FORMAT_GROUP;
	return true;
}

/* PERF_FORMAT_LOST came with Linux 6.0; older kernels refuse the whole attr. */
static bool drop_lost(const struct rung *r)
{
	if (r->err != -EINVAL || !(r->attr->read_format & PERF_FORMAT_LOST) ||
	    probe_knows(&r->set->probe, probe_feature("FORMAT_LOST")))
		return false;
	r->attr->read_format &= ~PERF_FORMAT_LOST;
	return true;
}

/* What a sampler asks for beyond the first kernels' words: it is left out where this kernel has
 * never heard of it. Records of maps and tasks go without a word, samples' fields with one. */
static bool drop_unknown(const struct rung *r)
{
	const struct feature *f;

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
	/* Weights in one word came before those in three. */
	if (f->kind == FEATURE_SAMPLE && f->bit == PERF_SAMPLE_WEIGHT_STRUCT)
		r->attr->sample_type |= PERF_SAMPLE_WEIGHT;
	else if (f->kind == FEATURE_SAMPLE || f->kind == FEATURE_BRANCH)
		set_note(r->set, r->i, "%s: recorded without %s, which came with Linux %s",
			 r->ev->shown.name, f->name, f->since);
	return true;
}

/* Inherited events carry group values in their samples since 6.12. */
static bool drop_inherited_read(const struct rung *r)
{
	if (r->err != -EINVAL || !r->set->sampling.on ||
	    !(r->attr->sample_type & PERF_SAMPLE_READ) || !(r->attr->flags & PERF_ATTR_INHERIT))
		return false;
	r->attr->flags &= ~PERF_ATTR_INHERIT;
	set_note(r->set, r->i, "%s: children are not followed, because this kernel does not put the "
		 "group's values into inherited samples", r->ev->shown.name);
	return true;
}

/* A counter of 32 bits can be read from user space as well; the kernel adds up what overflows. */
static bool drop_wide(const struct rung *r)
{
	if (r->err != -EOPNOTSUPP || !(r->attr->config1 & r->set->wide_bits))
		return false;
	r->attr->config1 &= ~r->set->wide_bits;
	return true;
}

/* Some PMUs cannot tell guests from the host and refuse to be asked. */
static bool drop_exclude_guest(const struct rung *r)
{
	if ((r->err != -EINVAL && r->err != -EOPNOTSUPP) || r->event->flags & EVENT_GUEST_GIVEN ||
	    !(r->attr->flags & PERF_ATTR_EXCLUDE_GUEST) ||
	    r->attr->type == PERF_TYPE_SOFTWARE || r->attr->type == PERF_TYPE_TRACEPOINT)
		return false;
	r->attr->flags &= ~PERF_ATTR_EXCLUDE_GUEST;
	r->ev->guest_dropped = true;
	set_note(r->set, r->i, "%s: counts guests too, because its PMU cannot leave them out",
		 r->ev->shown.name);
	return true;
}

/* Apple's M1 counts only with guests left out. */
static bool add_exclude_guest(const struct rung *r)
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

static bool lower_precise(const struct rung *r)
{
	uint64_t precise = r->attr->flags & PERF_ATTR_PRECISE_MASK;

	if ((r->err != -EINVAL && r->err != -EOPNOTSUPP && r->err != -ENOENT) || !precise ||
	    !(r->event->flags & EVENT_PRECISE_MAX))
		return false;
	r->attr->flags -= 1ULL << PERF_ATTR_PRECISE_SHIFT;
	if (!(r->attr->flags & PERF_ATTR_PRECISE_MASK) && !r->set->sampling.quiet_clock)
		set_note(r->set, r->i, "%s: not precise, because its PMU has no precise counting",
			 r->ev->shown.name);
	return true;
}

/* The kernel tells of namespaces to the privileged only, of maps and tasks to everybody. */
static bool drop_namespaces(const struct rung *r)
{
	if (r->err != -EACCES || !(r->attr->flags & PERF_ATTR_NAMESPACES))
		return false;
	r->attr->flags &= ~PERF_ATTR_NAMESPACES;
	set_note(r->set, r->i, "namespaces are not recorded, because the kernel tells of them only with "
		 "CAP_PERFMON");
	return true;
}

/* Events that happen inside the kernel: without it they would count a silent zero. */
static bool happens_in_kernel(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_TRACEPOINT)
		return true;
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		attr->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
		attr->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

/* A PMU's name ends in a slash and takes letters right behind it; others may have some already. */
static const char *with_letter(struct tacho_evset *set, const char *name, char letter)
{
	size_t n = strlen(name);
	bool has_letters = n && (name[n - 1] == '/' || strchr(name, ':'));
	const char *longer = set_text(set, has_letters ? "%s%c" : "%s:%c", name, letter);

	return longer ? longer : name;
}

/* perf_event_paranoid 2 hides the kernel's side; the event's own side may still be had. */
static bool exclude_kernel(const struct rung *r)
{
	const uint64_t sides = PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV;
	const char *name = r->ev->shown.name;
	int paranoid = 2;

	if (r->err != -EACCES || r->event->flags & EVENT_PRIVILEGE_GIVEN ||
	    r->attr->flags & (PERF_ATTR_EXCLUDE_USER | PERF_ATTR_EXCLUDE_KERNEL) ||
	    r->set->opts.all_kernel || r->set->target.kind == TARGET_CPUS ||
	    happens_in_kernel(r->attr))
		return false;
	sys_sysctl_int(&r->set->t->sys, "kernel/perf_event_paranoid", &paranoid);
	if (paranoid < 2)
		return false;
	r->attr->flags |= sides;
	r->ev->shown.name = with_letter(r->set, name, 'u');
	set_note(r->set, r->i, "%s: counts user space only, because perf_event_paranoid is %d",
		 name, paranoid);
	return true;
}

/* Only cycles, and only when asked: the nearest clock in place of a PMU that is not there. */
static bool clock_instead(const struct rung *r)
{
	/* Sampling, perf's readers know cpu-clock as the stand-in, whatever the target. */
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
		r->ev->shown.name = with_letter(r->set, clock, 'u');
	else if (r->attr->flags & PERF_ATTR_EXCLUDE_USER && !r->set->opts.all_kernel)
		r->ev->shown.name = with_letter(r->set, clock, 'k');
	r->ev->shown.kind = TACHO_EVENT_SOFTWARE;
	r->ev->shown.pmu = "software";
	r->ev->shown.unit = "msec";
	r->ev->shown.scale = 1e-6;
	return true;
}

static bool (*const rungs[])(const struct rung *r) = {
	lower_precise, drop_namespaces, exclude_kernel, drop_exclude_guest, add_exclude_guest,
	drop_inherited_read, clock_instead,
};

/* Places that disappear while we look: a thread that ended, a CPU that was unplugged. */
static bool place_is_gone(const struct rung *r)
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

enum step ladder_step(struct tacho_evset *set, uint32_t i, const struct pair *at, int err)
{
	struct rung r = {
		.set = set, .i = i, .ev = &set->events.v[i], .event = set_event(set, i),
		.attr = &set->events.v[i].attr, .at = at, .err = err,
	};

	if (err == -EINTR)
		return STEP_AGAIN;
	if (err == -EMFILE)
		return limits_raise_nofile() > 0 ? STEP_AGAIN : STEP_END;
	if (err == -ENFILE)
		return STEP_END;
	if (place_is_gone(&r)) {
		if (err == -ESRCH && set->opts.n_tids)		/* somebody named it */
			set_note(set, NO_EVENT, NOTE_GONE);
		return STEP_SKIP;
	}
	/* These change how values are fetched, not what is counted. */
	if (drop_group_inherit(&r) || drop_lost(&r) || drop_wide(&r) || drop_unknown(&r))
		return STEP_REOPEN;
	if (set->opts.no_fallback)
		return STEP_FAIL;
	for (size_t k = 0; k < countof(rungs); k++)
		if (rungs[k](&r))
			return STEP_REOPEN;
	return STEP_FAIL;
}
