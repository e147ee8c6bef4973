/*
 * What `stat` counts: the words of -e, -M, -G and --filter in their order, the default set
 * where there are none, and the events that metrics need.
 */
#include "cli/stat.h"

#include "base/error.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

/* Metrics ask for these; duration_time is the run's own clock, so it is never a counter. */
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

struct plan_adding {
	struct stat_plan *plan;
	struct tacho_evset *set;
	struct buf names;		/* of the metric at hand, with commas */
	char *home;
	bool topdown;
	struct tacho_error *e;
};

static int note_event(void *arg, const char *name)
{
	struct plan_adding *adding = arg;

	if (!adding->home && strcmp(name, "duration_time") != 0) {
		adding->home = str_dup(str_of(name));
		if (!adding->home)
			return -ENOMEM;
	}
	adding->topdown |= strncmp(name, "topdown-", 8) == 0;
	if (strcmp(name, "duration_time") == 0 || set_has(adding->set, name))
		return 0;
	if (adding->names.n)
		buf_putc(&adding->names, ',');
	buf_puts(&adding->names, name);
	return 0;
}

/* Software events need no common schedule; the others go into a weak group so that their
 * ratio is taken over the same time. */
static int add_metric_events(struct plan_adding *adding, const struct tacho_metric *m)
{
	scoped(buf_done) struct buf spec = { 0 };

	if (!adding->names.n)
		return 0;
	if (adding->plan->by_default || strstr(m->groups, "software"))
		buf_str(&spec, buf_view(&adding->names));
	else
		buf_printf(&spec, "{%s%s}:W",
			   adding->topdown && !set_has(adding->set, "slots") ? "slots," : "",
			   adding->names.bytes);
	if (buf_failed(&spec))
		return -ENOMEM;
	return tacho_evset_add(adding->set, spec.bytes, adding->e);
}

/* Notes a metric that is shown with the event *home, which is taken over. */
static int add_use(struct stat_plan *plan, const struct tacho_metric *m, char **home)
{
	struct stat_metric_use *use = vec_add(&plan->metrics);
	int err;

	if (!use) {
		free(take(*home));
		return -ENOMEM;
	}
	use->metric = *m;
	use->home = take(*home);
	err = tacho_expr_new(&use->expr, m->expr, NULL);
	if (err == 0 && m->threshold)
		err = tacho_expr_new(&use->threshold, m->threshold, NULL);
	return err;
}

static int plan_metric(void *arg, const struct tacho_metric *m)
{
	struct plan_adding *adding = arg;
	struct stat_plan *plan = adding->plan;
	struct tacho_metric_env env = { .size = sizeof(env), .event = no_event,
					.literal = plan_literal, .arg = plan };
	int err;

	for (size_t i = 0; i < plan->metrics.n; i++)
		if (strcmp(plan->metrics.v[i].metric.name, m->name) == 0)
			return 0;
	buf_clear(&adding->names);
	adding->topdown = false;
	err = tacho_metric_events(m->expr, &env, note_event, adding, adding->e);
	if (err == 0)
		err = add_metric_events(adding, m);
	if (err < 0) {
		free(take(adding->home));
		return err;
	}
	return add_use(plan, m, &adding->home);
}

static int plan_metrics(struct tacho_evset *set, struct stat_plan *plan, const char *list,
			struct tacho_error *e)
{
	struct str rest = str_of(list), one;
	int err = 0;

	while (err >= 0 && str_cut(&rest, ',', &one)) {
		struct plan_adding adding = { .plan = plan, .set = set, .e = e };
		scoped(freep) char *name = str_dup(str_trim(one));

		err = name ? tacho_metric_each(name, plan_metric, &adding, e) : -ENOMEM;
		buf_done(&adding.names);
	}
	return err < 0 ? err : 0;
}

struct both {
	struct tacho_evset *set;
	struct stat_plan *plan;
};

static size_t set_size(void *to)
{
	return tacho_evset_size(((struct both *)to)->set);
}

static int set_add(void *to, const char *events, struct tacho_error *e)
{
	return tacho_evset_add(((struct both *)to)->set, events, e);
}

static int set_metrics(void *to, const char *metrics, struct tacho_error *e)
{
	struct both *b = to;

	return plan_metrics(b->set, b->plan, metrics, e);
}

static int set_cgroup(void *to, size_t first, size_t n, const char *path, struct tacho_error *e)
{
	return tacho_evset_set_cgroup(((struct both *)to)->set, first, n, path, e);
}

static int set_filter(void *to, size_t first, size_t n, const char *filter, struct tacho_error *e)
{
	return tacho_evset_set_filter(((struct both *)to)->set, first, n, filter, e);
}

static const char *const default_groups[] = { "Default", "Default2", "Default3", "Default4" };

static int plan_defaults(const struct stat_opts *o, struct tacho_evset *set,
			 struct stat_plan *plan, struct tacho_error *e)
{
	int err = 0;

	plan->by_default = true;
	for (unsigned i = 0; err >= 0 && i <= o->detailed && i < countof(default_groups); i++)
		err = plan_metrics(set, plan, default_groups[i], e);
	return err;
}

static bool names_events(const struct stat_opts *o)
{
	if (words_have(&o->words, WORD_EVENTS) || words_have(&o->words, WORD_METRICS))
		return true;
	return o->topdown || o->null_run;
}

static int plan_topdown(const struct stat_opts *o, struct tacho_evset *set,
			struct stat_plan *plan, struct tacho_error *e)
{
	int err;

	if (o->topdown_level > 1) {
		error_set(e, -EOPNOTSUPP, "top-down level %u is not known here", o->topdown_level);
		error_hint(e, "level 1 is; the deeper levels are the CPU vendor's metrics");
		return -EOPNOTSUPP;
	}
	err = plan_metrics(set, plan, "TopdownL1", e);
	if (err == -ENOENT) {
		error_set(e, -ENOENT, "this CPU shows no top-down events (slots, topdown-retiring ...)");
		error_hint(e, "they need an Intel core PMU of 2019 or later, not hidden by a virtual "
			      "machine; 'tacho doctor' tells what there is");
	}
	return err;
}

int stat_plan_set(const struct stat_opts *o, struct tacho_evset *set, struct stat_plan *plan)
{
	const struct words_target target = { &(struct both){ set, plan }, set_size, set_add,
					     set_metrics, set_cgroup, set_filter };
	struct tacho_error e = { .column = -1 };
	int err = 0;

	if (!names_events(o)) {
		err = plan_defaults(o, set, plan, &e);
		if (err < 0) {
			report_error("stat", NULL, NULL, &e);
			return err;
		}
	}
	err = words_apply(&o->words, "stat", &target);
	if (err < 0)
		return err;
	plan->has_cgroups = words_have(&o->words, WORD_CGROUPS);
	if (o->topdown)
		err = plan_topdown(o, set, plan, &e);
	if (err >= 0 && o->for_each_cgroup) {
		plan->has_cgroups = true;
		err = tacho_evset_for_each_cgroup(set, o->for_each_cgroup, &e);
	}
	if (err < 0)
		report_error("stat", NULL, NULL, &e);
	return err < 0 ? err : 0;
}

struct bystander {
	const struct tacho_evset *set;
	struct stat_plan *plan;
	bool complete;
	char *home;
};

static int look_for(void *arg, const char *name)
{
	struct bystander *b = arg;

	if (strcmp(name, "duration_time") == 0)
		return 0;
	for (size_t i = 0; i < tacho_evset_size(b->set); i++) {
		if (!stat_event_is(tacho_evset_event(b->set, i), name))
			continue;
		if (!b->home)
			b->home = str_dup(str_of(name));
		return b->home ? 0 : -ENOMEM;
	}
	b->complete = false;
	return 0;
}

static int plan_bystander(void *arg, const struct tacho_metric *m)
{
	struct bystander *b = arg;
	struct tacho_metric_env env = { .size = sizeof(env), .event = no_event,
					.literal = plan_literal, .arg = b->plan };
	int err;

	b->complete = true;
	err = tacho_metric_events(m->expr, &env, look_for, b, NULL);
	if (err < 0 || !b->complete || !b->home) {
		free(take(b->home));
		return err;
	}
	return add_use(b->plan, m, &b->home);
}

int stat_plan_bystanders(struct tacho_evset *set, struct stat_plan *plan)
{
	struct bystander b = { .set = set, .plan = plan };
	int n = tacho_metric_each(NULL, plan_bystander, &b, NULL);

	return n < 0 ? n : 0;
}

void stat_plan_done(struct stat_plan *plan)
{
	for (size_t i = 0; i < plan->metrics.n; i++) {
		free(plan->metrics.v[i].home);
		tacho_expr_free(plan->metrics.v[i].expr);
		tacho_expr_free(plan->metrics.v[i].threshold);
	}
	vec_done(&plan->metrics);
}
