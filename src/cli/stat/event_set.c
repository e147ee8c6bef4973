/*
 * Builds the event set of `stat`: the events of -e and -M, with -G and --filter applied in the order of the
 * command line, or else the default events; and the events that metrics need.
 */
#include "cli/stat/stat.h"

#include "base/error.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

/* Returns the value of a #literal in an expression of the default metrics. */
static double plan_literal(void *arg, const char *name)
{
	const struct stat_plan *plan = arg;

	return strcmp(name, "target_cpu") == 0 ? plan->target_cpu : NAN;
}

static double no_event(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return NAN;
}

static bool set_has(const struct tacho_evset *set, const char *name)
{
	for (size_t i = 0; i < tacho_evset_size(set); i++)
		if (stat_event_covers(tacho_evset_event(set, i), name))
			return true;
	return false;
}

struct default_metrics {
	struct stat_plan *plan;
	struct tacho_evset *set;
	struct buf names;		/* events to add for the current metric, comma-separated */
	char *home;
	struct tacho_error *e;
};

/* Collects the events that a metric needs. duration_time is the clock of the run, not a counter. */
static int collect_event(void *arg, const char *name)
{
	struct default_metrics *adding = arg;

	if (!adding->home && strcmp(name, "duration_time") != 0) {
		adding->home = str_dup(str_of(name));
		if (!adding->home)
			return -ENOMEM;
	}
	if (strcmp(name, "duration_time") == 0 || set_has(adding->set, name))
		return 0;
	if (adding->names.n)
		buf_putc(&adding->names, ',');
	buf_puts(&adding->names, name);
	return 0;
}

/* Adds the collected events. They are not grouped: the kernel schedules each of them separately. */
static int add_metric_events(struct default_metrics *adding)
{
	if (buf_failed(&adding->names))
		return -ENOMEM;
	return adding->names.n ? tacho_evset_add(adding->set, adding->names.bytes, adding->e) : 0;
}

static void free_expr(struct tacho_expr **x)
{
	tacho_expr_free(*x);
}

/* Adds a metric that is shown in the row of the event *home. Takes ownership of *home and *expr. */
static int add_metric_use(struct stat_plan *plan, const struct tacho_metric *m, char **home,
		   struct tacho_expr **expr)
{
	struct stat_metric_use *use = vec_add(&plan->metrics);

	if (!use) {
		free(take(*home));
		return -ENOMEM;
	}
	use->metric = *m;
	use->home = take(*home);
	use->expr = take(*expr);
	return m->threshold ? tacho_expr_new(&use->threshold, m->threshold, NULL) : 0;
}

static int plan_metric(void *arg, const struct tacho_metric *m)
{
	struct default_metrics *adding = arg;
	struct stat_plan *plan = adding->plan;
	struct tacho_metric_env env = { .size = sizeof(env), .event = no_event,
					.literal = plan_literal, .arg = plan };
	scoped(free_expr) struct tacho_expr *expr = NULL;
	int err;

	for (size_t i = 0; i < plan->metrics.n; i++)
		if (strcmp(plan->metrics.v[i].metric.name, m->name) == 0)
			return 0;
	buf_clear(&adding->names);
	err = tacho_expr_new(&expr, m->expr, adding->e);
	if (err == 0)
		err = tacho_expr_events(expr, &env, collect_event, adding);
	if (err == 0)
		err = add_metric_events(adding);
	if (err < 0) {
		free(take(adding->home));
		return err;
	}
	return add_metric_use(plan, m, &adding->home, &expr);
}

static int plan_group(struct tacho_evset *set, struct stat_plan *plan, const char *name,
		      struct tacho_error *e)
{
	struct default_metrics adding = { .plan = plan, .set = set, .e = e };
	int err = tacho_metric_each(name, plan_metric, &adding, e);

	buf_done(&adding.names);
	return err < 0 ? err : 0;
}

static int add_metrics(void *plan, const char *metrics, struct tacho_error *e)
{
	return stat_add_metrics(plan, metrics, e);
}

static const char *const default_groups[] = { "Default", "Default2", "Default3", "Default4" };

static int plan_defaults(const struct stat_opts *o, struct tacho_evset *set,
			 struct stat_plan *plan, struct tacho_error *e)
{
	int err = 0;

	plan->by_default = true;
	for (unsigned i = 0; err >= 0 && i <= o->detailed && i < countof(default_groups); i++)
		err = plan_group(set, plan, default_groups[i], e);
	/* Power and memory bandwidth are measured for the whole machine only. */
	if (err >= 0 && plan->target_cpu)
		err = stat_add_system_metrics(plan);
	return err;
}

static bool names_events(const struct stat_opts *o)
{
	if (event_args_have(&o->event_args, EVENT_ARG_EVENTS) || event_args_have(&o->event_args, EVENT_ARG_METRICS))
		return true;
	return o->topdown || o->null_run;
}

int stat_plan_set(const struct stat_opts *o, struct tacho_evset *set, struct stat_plan *plan)
{
	struct tacho_error e = { .column = -1 };
	int err = 0;

	plan->set = set;
	plan->opts = o;
	if (!names_events(o)) {
		err = plan_defaults(o, set, plan, &e);
		if (err < 0) {
			message_error("stat", NULL, NULL, &e);
			return err;
		}
	}
	err = event_args_apply(&o->event_args, "stat", set, add_metrics, plan);
	if (err < 0)
		return err;
	plan->has_cgroups = event_args_have(&o->event_args, EVENT_ARG_CGROUPS);
	if (o->topdown)
		err = stat_add_topdown(plan, o->topdown_level, &e);
	if (err >= 0 && plan->missing_in && !tacho_evset_size(set)) {
		message_error("stat", "-M", plan->missing_in, &plan->missing_error);
		return plan->missing_error.code;
	}
	plan->n_events = tacho_evset_size(set);
	if (err >= 0 && o->for_each_cgroup) {
		plan->has_cgroups = true;
		err = tacho_evset_for_each_cgroup(set, o->for_each_cgroup, &e);
	}
	if (err < 0)
		message_error("stat", NULL, NULL, &e);
	return err < 0 ? err : 0;
}

struct implied_metrics {
	const struct tacho_evset *set;
	struct stat_plan *plan;
};

/* Returns the index of the event in the set, or TACHO_METRIC_NOT_COUNTED. */
static int64_t index_in_set(const struct tacho_evset *set, const char *name)
{
	for (size_t i = 0; i < tacho_evset_size(set); i++)
		if (stat_event_is(tacho_evset_event(set, i), name))
			return (int64_t)i;
	return TACHO_METRIC_NOT_COUNTED;
}

/* duration_time is the clock of the run, not a counter. */
static int64_t find_event(void *arg, const char *name)
{
	const struct implied_metrics *b = arg;

	return strcmp(name, "duration_time") == 0 ? TACHO_METRIC_NO_COUNTER : index_in_set(b->set, name);
}

static double implied_literal(void *arg, const char *name)
{
	return plan_literal(((struct implied_metrics *)arg)->plan, name);
}

/* A metric is shown in the row of its first event that is counted. */
static int add_implied_metric(void *arg, const struct tacho_metric *m, struct tacho_expr **expr,
			      const struct tacho_metric_event *events, size_t n_events)
{
	struct implied_metrics *b = arg;
	char *home = NULL;
	size_t i = 0;

	while (i < n_events && events[i].index < 0)
		i++;
	if (i == n_events)
		return 0;
	home = str_dup(str_of(events[i].name));
	return home ? add_metric_use(b->plan, m, &home, expr) : -ENOMEM;
}

int stat_plan_implied_metrics(struct tacho_evset *set, struct stat_plan *plan)
{
	struct implied_metrics b = { .set = set, .plan = plan };
	struct tacho_metric_matcher matcher = { .size = sizeof(matcher), .find = find_event,
						.literal = implied_literal, .match = add_implied_metric, .arg = &b };
	bool cpu = index_in_set(set, "cpu-clock") >= 0, task = index_in_set(set, "task-clock") >= 0;

	if (cpu != task)		/* if only one of them is counted, use it for any target */
		plan->target_cpu = cpu;
	if (cpu || task)
		plan->clock = plan->target_cpu ? "cpu-clock" : "task-clock";
	return tacho_metric_match(&matcher);
}

void stat_plan_done(struct stat_plan *plan)
{
	for (size_t i = 0; i < plan->metrics.n; i++) {
		free(plan->metrics.v[i].home);
		tacho_expr_free(plan->metrics.v[i].expr);
		tacho_expr_free(plan->metrics.v[i].threshold);
	}
	vec_done(&plan->metrics);
	vec_done(&plan->missing);
	for (size_t i = 0; i < plan->metric_sets.n; i++)
		tacho_metric_set_free(plan->metric_sets.v[i]);
	vec_done(&plan->metric_sets);
}
