/*
 * Tool events, which tacho computes instead of counting them: elapsed time, user and system time, and
 * constants of the machine that metrics use.
 *
 * User and system time come from /proc, so their resolution is the kernel's clock tick. For a command
 * that tacho has waited for, the exact times are used.
 */
#include "count/evset_internal.h"

#include <errno.h>
#include <sys/resource.h>

#include "count/machine_values.h"

static uint64_t timeval_ns(struct timeval tv)
{
	return (uint64_t)tv.tv_sec * 1000000000ULL + (uint64_t)tv.tv_usec * 1000;
}

static bool is_time(enum tool_event tool)
{
	return tool == TOOL_USER_TIME || tool == TOOL_SYSTEM_TIME;
}

static bool needs_times(struct tacho_evset *set)
{
	for (size_t i = 0; i < set->events.n; i++)
		if (is_time(set_event(set, i)->tool))
			return true;
	return false;
}

static int task_times(struct tacho_evset *set, struct proc_times *out)
{
	struct proc_times sum = { 0 }, one;
	int found = 0;

	for (size_t i = 0; i < set->target.pids.n; i++) {
		int pid = set->target.pids.v[i];

		if (!command_times(pid, &one) && proc_times(&set->t->sys, pid, &one) < 0)
			continue;
		sum.user_ns += one.user_ns;
		sum.system_ns += one.system_ns;
		found++;
	}
	*out = sum;
	return found ? 0 : -ESRCH;
}

/* CPU times of the target since it started. The times of a process that ended are lost. */
static int target_times(struct tacho_evset *set, struct proc_times *out)
{
	struct rusage ru;

	switch (set->target.kind) {
	case TARGET_CPUS:
		return proc_system_times(&set->t->sys, set->opts.all_cpus ? NULL : &set->target.cpus,
					 out);
	case TARGET_TASKS:
		return task_times(set, out);
	case TARGET_SELF:
		if (getrusage(RUSAGE_THREAD, &ru) < 0)
			return -errno;
		out->user_ns = timeval_ns(ru.ru_utime);
		out->system_ns = timeval_ns(ru.ru_stime);
		return 0;
	}
	return -EINVAL;
}

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

void tool_start(struct tacho_evset *set)
{
	struct tool_clock *clock = &set->clock;

	if (clock->runs || !set->has_tools)
		return;
	clock->runs = true;
	clock->since_ns = sys_now_ns(&set->t->sys);
	if (needs_times(set))
		clock->times_failed = target_times(set, &clock->base) < 0;
}

/* Sums the times of all periods in which the clock ran, including the current one. */
static void measure_times(struct tacho_evset *set, uint64_t *sum_ns, struct proc_times *sum)
{
	struct tool_clock *clock = &set->clock;
	struct proc_times now = { 0 };

	*sum_ns = clock->sum_ns;
	*sum = clock->sum;
	if (!clock->runs)
		return;
	*sum_ns += since(sys_now_ns(&set->t->sys), clock->since_ns);
	if (!needs_times(set) || target_times(set, &now) < 0)
		return;
	sum->user_ns += since(now.user_ns, clock->base.user_ns);
	sum->system_ns += since(now.system_ns, clock->base.system_ns);
}

void tool_stop(struct tacho_evset *set)
{
	struct tool_clock *clock = &set->clock;

	if (!set->has_tools)
		return;
	measure_times(set, &clock->sum_ns, &clock->sum);
	clock->runs = false;
}

static bool same_core(const struct topology_cpu *a, const struct topology_cpu *b)
{
	return a->socket == b->socket && a->die == b->die && a->cluster == b->cluster &&
	       a->core == b->core;
}

/* Whether all hardware threads of each counted core are counted. */
static bool is_core_wide(struct tacho_evset *set)
{
	const struct topology *t = set_topology(set);
	const struct cpuset *cpus = &set->target.cpus;

	if (set->target.kind != TARGET_CPUS)
		return false;
	for (size_t a = 0; a < t->n; a++)
		for (size_t b = 0; b < t->n; b++)
			if (cpuset_has(cpus, t->cpus[a].cpu) && !cpuset_has(cpus, t->cpus[b].cpu) &&
			    same_core(&t->cpus[a], &t->cpus[b]))
				return false;
	return true;
}

/* A constant of the machine or the target. Returns false if it is unknown here. */
static bool constant_value(struct tacho_evset *set, enum tool_event tool, uint64_t *out)
{
	if (tool == TOOL_CORE_WIDE) {
		*out = is_core_wide(set);
		return true;
	}
	if (tool == TOOL_TARGET_CPU) {
		*out = set->target.kind == TARGET_CPUS;
		return true;
	}
	return machine_value(set->t, set_topology(set), tool, out);
}

static void set_reading(struct tacho_reading *r, uint64_t value, bool is_level, uint64_t elapsed_ns)
{
	r->last_value = is_level ? value : since(value, r->value);
	r->value = r->raw = is_level ? value : max_of(value, r->value);
	r->last_enabled_ns = r->last_running_ns = since(elapsed_ns, r->enabled_ns);
	r->enabled_ns = r->running_ns = elapsed_ns;
	r->state = TACHO_COUNTING;
}

static void read_tool(struct tacho_evset *set, uint32_t i, uint64_t elapsed_ns,
		      const struct proc_times *times)
{
	struct counted_event *ev = &set->events.v[i];
	struct tacho_reading *r = &set->readings[ev->first];
	enum tool_event tool = set_event(set, i)->tool;
	uint64_t value = 0;

	if (ev->state != TACHO_COUNTING)
		return;
	if (is_time(tool) && set->clock.times_failed) {
		r->state = TACHO_NOT_COUNTED;
	} else if (tool == TOOL_DURATION_TIME) {
		set_reading(r, elapsed_ns, false, elapsed_ns);
	} else if (is_time(tool)) {
		set_reading(r, tool == TOOL_USER_TIME ? times->user_ns : times->system_ns, false, elapsed_ns);
	} else if (constant_value(set, tool, &value)) {
		set_reading(r, value, true, elapsed_ns);
	} else {
		ev->state = r->state = TACHO_UNSUPPORTED;
		ev->why = set_text(set, "%s is not known on this machine", ev->shown.name);
	}
	set->counters[ev->first].last_raw = r->last_value;
}

void tool_read(struct tacho_evset *set)
{
	struct proc_times times;
	uint64_t elapsed_ns;

	measure_times(set, &elapsed_ns, &times);
	for (uint32_t i = 0; i < set->events.n; i++)
		if (set_event(set, i)->kind == TACHO_EVENT_TOOL)
			read_tool(set, i, elapsed_ns, &times);
}
