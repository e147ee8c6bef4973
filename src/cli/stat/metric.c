/*
 * Metrics by name: -M, --topdown, and power and memory bandwidth for `stat -a`. The library puts
 * their events into groups; this file adds the metric sets to the plan of `stat`.
 */
#include "cli/stat/stat.h"

#include <errno.h>
#include <math.h>

#include "base/error.h"
#include "cli/stat/topdown.h"

static int new_metric_set(struct stat_plan *plan, struct tacho_metric_set **out)
{
	const struct tacho_metric_set_opts opts = { .size = sizeof(opts), .target_cpu = plan->target_cpu,
						    .core_wide = plan->core_wide,
						    .no_threshold = plan->opts->metric_no_threshold,
						    .no_group = plan->opts->metric_no_group,
						    .no_share = plan->opts->metric_no_merge };
	struct tacho_metric_set **slot = vec_add(&plan->metric_sets);
	int err = slot ? tacho_metric_set_new(slot, plan->t, &opts) : -ENOMEM;

	if (err < 0 && slot)
		plan->metric_sets.n--;
	if (err == 0)
		*out = *slot;
	return err;
}

/* The others are counted; if there are none, this error ends the command. */
static int note_refused(struct stat_plan *plan, const char *list, const struct tacho_error *e)
{
	if (!plan->missing_in) {
		plan->missing_in = list;
		plan->missing_error = *e;
	}
	return 0;
}

static bool is_marked(const struct stat_plan *plan, const char *metric)
{
	for (size_t i = 0; i < plan->missing.n; i++)
		if (!strcmp(plan->missing.v[i].metric.name, metric))
			return true;
	return false;
}

/* Keeps the metrics that cannot be computed here, to mark them in the output. */
static int mark_missing(struct stat_plan *plan, const struct tacho_metric_set *ms)
{
	const struct tacho_metric_missing *missing;
	size_t n = tacho_metric_set_missing(ms, &missing);

	for (size_t i = 0; i < n; i++) {
		const struct tacho_metric *m = &missing[i].metric;
		struct stat_missing_metric *mark;

		if (is_marked(plan, m->name))
			continue;
		mark = vec_add(&plan->missing);
		if (!mark)
			return -ENOMEM;
		mark->event = (struct tacho_event){ .size = sizeof(mark->event), .pmu = "", .unit = "", .scale = 1,
						    .name = missing[i].needs ? missing[i].needs : m->name };
		mark->metric = (struct stat_metric){ .name = m->name, .unit = m->unit, .value = NAN, .asked = true };
		mark->why = missing[i].why;
	}
	return 0;
}

int stat_add_metrics(struct stat_plan *plan, const char *list, struct tacho_error *e)
{
	struct str rest = str_of(list), one;
	struct tacho_metric_set *ms = NULL;
	int err = new_metric_set(plan, &ms);

	if (err < 0)
		return error_nomem(e);
	while (err >= 0 && str_cut(&rest, ',', &one)) {
		scoped(freep) char *name = str_dup(str_trim(one));

		err = name ? tacho_metric_set_add(ms, name, e) : error_nomem(e);
		if (err < 0 && err != -ENOMEM && e->column < 0)
			error_at(e, (size_t)(one.s - list), one.n);
		if (err < 0 && err != -ENOMEM && err != -ENOENT)
			err = note_refused(plan, list, e);
	}
	if (err >= 0)
		err = mark_missing(plan, ms);
	return err < 0 ? err : tacho_metric_set_plan(ms, plan->set, e);
}

int stat_add_topdown(struct stat_plan *plan, uint32_t level, struct tacho_error *e)
{
	struct tacho_metric_set *ms = NULL;
	int err = new_metric_set(plan, &ms);

	if (err < 0)
		return error_nomem(e);
	err = topdown_add(plan->t, ms, level, e);
	return err < 0 ? err : tacho_metric_set_plan(ms, plan->set, e);
}

int stat_add_system_metrics(struct stat_plan *plan)
{
	struct tacho_metric_set *ms = NULL;
	int err = new_metric_set(plan, &ms);

	if (err == 0)
		err = tacho_metric_set_add(ms, "System", NULL);
	if (err > 0)
		return tacho_metric_set_plan(ms, plan->set, NULL);
	return err == -ENOMEM ? err : 0;
}

size_t stat_n_set_metrics(const struct stat_plan *plan)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->metric_sets.n; i++)
		n += tacho_metric_set_size(plan->metric_sets.v[i]);
	return n;
}

static bool in_same_cgroup(const struct tacho_event *a, const struct tacho_event *b)
{
	return a->cgroup && b->cgroup && strcmp(a->cgroup, b->cgroup) == 0;
}

const struct tacho_event *stat_event_in_copy(const struct stat_plan *plan, const struct tacho_event *base,
				       uint32_t at, const struct tacho_event *beside)
{
	size_t n = tacho_evset_size(plan->set);

	if (n == plan->n_events || base == beside || !plan->n_events)
		return base;
	for (size_t i = at; i < n; i += plan->n_events)
		if (in_same_cgroup(tacho_evset_event(plan->set, i), beside))
			return tacho_evset_event(plan->set, i);
	return base;
}
