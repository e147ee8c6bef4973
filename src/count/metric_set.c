/*
 * A set of metrics: adds metrics by name, compiles their expressions, resolves the names in them to events,
 * other metrics or constants, and computes values from counts. In uses[], a metric comes after all
 * metrics that its expression refers to.
 */
#include "count/metric_set.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/sized_opts.h"
#include "base/vec.h"

int tacho_metric_set_new(struct tacho_metric_set **out, struct tacho *t,
			 const struct tacho_metric_set_opts *opts)
{
	struct tacho_metric_set *ms = calloc(1, sizeof(*ms));
	int err = ms ? opts_copy(&ms->opts, sizeof(ms->opts), opts, NULL) : -ENOMEM;

	if (err == 0)
		err = tacho_evset_new(&ms->scratch, t);
	if (err < 0) {
		free(ms);
		return err;
	}
	ms->t = t;
	*out = ms;
	return 0;
}

static void use_done(struct metric_use *u)
{
	tacho_expr_free(u->expr);
	tacho_expr_free(u->threshold);
	free(u->sources);
	free(u->limits);
}

void tacho_metric_set_free(struct tacho_metric_set *ms)
{
	if (!ms)
		return;
	for (size_t i = 0; i < ms->uses.n; i++)
		use_done(&ms->uses.v[i]);
	vec_done(&ms->uses);
	vec_done(&ms->names);
	vec_done(&ms->left_out);
	vec_done(&ms->missing);
	vec_done(&ms->in_progress);
	free(ms->values);
	free(ms->inputs);
	free(ms->needed);
	tacho_evset_free(ms->scratch);
	arena_done(&ms->arena);
	free(ms);
}

/* ---- inputs that are known before counting ---- */

static double literal_value(void *arg, const char *name)
{
	const struct tacho_metric_set *ms = arg;

	if (str_ieq(str_of(name), STR_LIT("target_cpu")))
		return ms->opts.target_cpu;
	if (str_ieq(str_of(name), STR_LIT("core_wide")))
		return ms->opts.core_wide;
	return tacho_metric_literal(ms->t, name);
}

static double no_event(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return NAN;
}

static double answer_question(void *arg, enum tacho_input kind, const char *name)
{
	struct tacho_metric_set *ms = arg;
	int64_t i;

	if (kind == TACHO_INPUT_CPUID)
		return tacho_metric_cpu_is(ms->t, name);
	if (kind != TACHO_INPUT_HAS_EVENT)
		return NAN;
	i = metric_name_learn(ms, name);
	return i >= 0 && ms->names.v[i].shown;
}

static struct tacho_metric_env env_of(struct tacho_metric_set *ms)
{
	return (struct tacho_metric_env){ .size = sizeof(struct tacho_metric_env), .event = no_event,
					  .literal = literal_value, .arg = ms, .ask = answer_question };
}

/* ---- adding metrics ---- */

static int64_t find_use(const struct tacho_metric_set *ms, const char *name)
{
	for (size_t i = 0; i < ms->uses.n; i++)
		if (strcmp(ms->uses.v[i].metric.name, name) == 0)
			return (int64_t)i;
	return -1;
}

struct input_binding {
	struct tacho_metric_set *ms;
	const struct tacho_metric *metric;
	const struct tacho_expr_input *inputs;
	size_t n;
	struct metric_source *to;
	struct tacho_error *e;
};

static int refuse_missing(const struct input_binding *w, const char *name, const char *why)
{
	w->ms->needs = arena_str(&w->ms->arena, str_of(name));
	w->ms->why = arena_str(&w->ms->arena, str_of(why));
	error_set(w->e, -EOPNOTSUPP, "metric '%.100s' needs '%.200s': %.300s", w->metric->name, name, why);
	return -EOPNOTSUPP;
}

/* Resolves a name that the expression uses: another metric, or an event. */
static int bind_name(void *arg, const char *name)
{
	struct input_binding *w = arg;
	struct metric_source *to = w->to;
	struct tacho_metric other;
	int64_t at;
	int found = 0;

	for (size_t i = 0; i < w->n; i++)
		if (w->inputs[i].kind == TACHO_INPUT_EVENT && !strcmp(w->inputs[i].name, name))
			to = &w->to[i];
	if (!strcmp(name, "duration_time")) {
		to->kind = SOURCE_DURATION;
		return 0;
	}
	if (w->metric->listed)
		found = metric_find(w->ms->t, name, &other);
	if (found < 0)
		return error_nomem(w->e);
	at = found ? metric_use_add(w->ms, &other, w->e) : metric_name_learn(w->ms, name);
	if (at < 0)
		return at == -ENOMEM ? error_nomem(w->e) : (int)at;
	if (!found && !w->ms->names.v[at].shown)
		return refuse_missing(w, name, w->ms->names.v[at].why);
	*to = (struct metric_source){ found ? SOURCE_METRIC : SOURCE_EVENT, (uint32_t)at, NAN };
	return 0;
}

/* Fills in the inputs that are known before counting. source_count() is filled in by tacho_metric_set_plan(). */
static void bind_constants(struct input_binding *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct tacho_expr_input *in = &w->inputs[i];

		w->to[i].number = in->kind == TACHO_INPUT_LITERAL ? literal_value(w->ms, in->name) :
				  in->kind == TACHO_INPUT_EVENT ? NAN : answer_question(w->ms, in->kind, in->name);
	}
}

/* An unknown literal is an error only if the expression uses it, not in a branch that is never taken. */
static int check_literals(struct input_binding *w, const struct tacho_expr *x, const struct tacho_metric_env *env)
{
	bool *needed = calloc(w->n + 1, sizeof(*needed));
	int err = needed ? 0 : -ENOMEM;

	if (needed)
		expr_needed(x, env, needed);
	for (size_t i = 0; !err && i < w->n; i++)
		if (needed[i] && w->inputs[i].kind == TACHO_INPUT_LITERAL && isnan(w->to[i].number)) {
			char name[256];

			snprintf(name, sizeof(name), "#%.250s", w->inputs[i].name);
			err = refuse_missing(w, name, "its value is unknown on this machine");
		}
	free(needed);
	return err;
}

static int bind_expr(struct tacho_metric_set *ms, struct metric_use *u, struct tacho_error *e)
{
	struct tacho_metric_env env = env_of(ms);
	struct input_binding w = { .ms = ms, .metric = &u->metric, .e = e };
	struct tacho_error inner = { .column = -1 };
	int err = tacho_expr_new(&u->expr, u->metric.expr, &inner);

	if (err == -EINVAL)
		return error_set(e, -EINVAL, "metric '%.100s': %.200s (at column %d)", u->metric.name,
				 inner.message, inner.column + 1);
	if (err < 0)
		return error_nomem(e);
	w.n = tacho_expr_inputs(u->expr, &w.inputs);
	w.to = u->sources = calloc(w.n + 1, sizeof(*u->sources));
	if (!w.to)
		return error_nomem(e);
	bind_constants(&w);
	err = check_literals(&w, u->expr, &env);
	if (err == 0)
		err = tacho_expr_events(u->expr, &env, bind_name, &w);
	return err == -ENOMEM ? error_nomem(e) : err;
}

static int bind_threshold_name(void *arg, const char *name)
{
	struct input_binding *w = arg;
	struct tacho_metric other;
	int found = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (w->inputs[i].kind != TACHO_INPUT_EVENT || strcmp(w->inputs[i].name, name) != 0)
			continue;
		if (!strcmp(name, "value") || !strcmp(name, w->metric->name)) {
			w->to[i].kind = SOURCE_SELF;
			return 0;
		}
		found = w->metric->listed ? metric_find(w->ms->t, name, &other) : 0;
		if (found > 0 && !strcmp(other.name, w->metric->name)) {
			w->to[i].kind = SOURCE_SELF;
			return 0;
		}
	}
	return found < 0 ? found : bind_name(arg, name);
}

/* A threshold that cannot be computed here is dropped: the metric itself is still useful. */
static int bind_threshold(struct tacho_metric_set *ms, struct metric_use *u)
{
	struct tacho_metric_env env = env_of(ms);
	struct input_binding w = { .ms = ms, .metric = &u->metric };
	int err = u->metric.threshold ? tacho_expr_new(&u->threshold, u->metric.threshold, NULL) : -ENOENT;

	if (err < 0)
		return err == -ENOMEM ? err : 0;
	w.n = tacho_expr_inputs(u->threshold, &w.inputs);
	w.to = u->limits = calloc(w.n + 1, sizeof(*u->limits));
	if (!w.to)
		return -ENOMEM;
	bind_constants(&w);
	err = tacho_expr_events(u->threshold, &env, bind_threshold_name, &w);
	if (err == 0 || err == -ENOMEM)
		return err;
	tacho_expr_free(take(u->threshold));
	return 0;
}

static int compile_use(struct tacho_metric_set *ms, struct metric_use *u, struct tacho_error *e)
{
	int err = bind_expr(ms, u, e);

	if (err == 0 && !ms->opts.no_threshold && bind_threshold(ms, u) < 0)
		err = error_nomem(e);
	return err;
}

/* Returns the index of the metric in uses[], adding it, and before it the metrics it refers to, if it is not
 * there yet; or a negative errno. */
int64_t metric_use_add(struct tacho_metric_set *ms, const struct tacho_metric *m, struct tacho_error *e)
{
	struct metric_use u = { .metric = *m, .home = METRIC_NO_EVENT, .hidden = true }, *slot;
	int64_t at = find_use(ms, m->name);
	const char **open;
	int err;

	if (at >= 0)
		return at;
	for (size_t i = 0; i < ms->in_progress.n; i++)
		if (!strcmp(ms->in_progress.v[i], m->name))
			return error_set(e, -ELOOP, "metric '%.100s' refers to itself", m->name);
	if (ms->in_progress.n >= METRIC_DEPTH_MAX || ms->uses.n >= METRIC_USES_MAX)
		return error_set(e, -E2BIG, "metric '%.100s' refers to too many other metrics", m->name);
	open = vec_add(&ms->in_progress);
	if (!open)
		return error_nomem(e);
	*open = m->name;
	err = compile_use(ms, &u, e);
	ms->in_progress.n--;
	slot = err == 0 ? vec_add(&ms->uses) : NULL;
	if (!slot) {
		use_done(&u);
		return err < 0 ? err : error_nomem(e);
	}
	*slot = u;
	return (int64_t)ms->uses.n - 1;
}

struct metric_addition {
	struct tacho_metric_set *ms;
	struct tacho_error first;	/* the error of the first metric that was left out */
	int n;				/* number of metrics added */
};

int metric_describe_missing(struct tacho_metric_set *ms, const struct tacho_error *e,
			    struct tacho_metric_missing *out)
{
	out->needs = ms->needs;
	out->why = ms->why ? ms->why : arena_str(&ms->arena, str_of(e->message));
	return out->why ? 0 : -ENOMEM;
}

static int note_left_out(struct tacho_metric_set *ms, const struct tacho_metric *m, const struct tacho_error *e)
{
	char *text = arena_str(&ms->arena, str_of(e->message));
	const char **slot = text ? vec_add(&ms->left_out) : NULL;
	struct tacho_metric_missing *missing = slot ? vec_add(&ms->missing) : NULL;

	if (!missing)
		return -ENOMEM;
	*slot = text;
	*missing = (struct tacho_metric_missing){ .size = sizeof(*missing), .metric = *m };
	return metric_describe_missing(ms, e, missing);
}

static int add_metric(void *arg, const struct tacho_metric *m)
{
	struct metric_addition *a = arg;
	struct tacho_error e = { .column = -1 };
	int64_t at;

	a->ms->needs = a->ms->why = NULL;
	at = metric_use_add(a->ms, m, &e);

	if (at == -ENOMEM)
		return -ENOMEM;
	if (at < 0) {
		if (!a->first.code)
			a->first = e;
		return note_left_out(a->ms, m, &e);
	}
	a->n += a->ms->uses.v[at].hidden;
	a->ms->uses.v[at].hidden = false;
	return 0;
}

int tacho_metric_set_add(struct tacho_metric_set *ms, const char *name, struct tacho_error *e)
{
	struct metric_addition a = { .ms = ms };
	int err;

	if (ms->planned)
		return error_set(e, -EBUSY, "metrics must be added before tacho_metric_set_plan()");
	err = tacho_metric_walk(ms->t, name, add_metric, &a, e);
	if (err < 0)
		return err == -ENOMEM ? error_nomem(e) : err;
	if (a.n || !a.first.code)
		return a.n;
	if (e)
		*e = a.first;
	return a.first.code;
}

/* ---- looking up ---- */

static const struct metric_use *shown_use(const struct tacho_metric_set *ms, size_t i, size_t *at)
{
	for (size_t k = 0; k < ms->uses.n; k++) {
		if (ms->uses.v[k].hidden || i--)
			continue;
		*at = k;
		return &ms->uses.v[k];
	}
	return NULL;
}

size_t tacho_metric_set_size(const struct tacho_metric_set *ms)
{
	size_t n = 0;

	for (size_t i = 0; i < ms->uses.n; i++)
		n += !ms->uses.v[i].hidden;
	return n;
}

const struct tacho_metric *tacho_metric_set_metric(const struct tacho_metric_set *ms, size_t i)
{
	size_t at;
	const struct metric_use *u = shown_use(ms, i, &at);

	return u ? &u->metric : NULL;
}

uint32_t tacho_metric_set_home(const struct tacho_metric_set *ms, size_t i)
{
	size_t at;
	const struct metric_use *u = shown_use(ms, i, &at);

	return u ? u->home : METRIC_NO_EVENT;
}

const char *const *tacho_metric_set_left_out(const struct tacho_metric_set *ms, size_t *n)
{
	*n = ms->left_out.n;
	return ms->left_out.v;
}

size_t tacho_metric_set_missing(const struct tacho_metric_set *ms, const struct tacho_metric_missing **out)
{
	*out = ms->missing.v;
	return ms->missing.n;
}

/* ---- values ---- */

static double source_value(const struct tacho_metric_set *ms, const struct metric_source *s, double self,
			   const struct tacho_metric_counts *counts)
{
	switch (s->kind) {
	case SOURCE_EVENT:
		return s->at == METRIC_NO_EVENT ? NAN : counts->count(counts->arg, s->at);
	case SOURCE_METRIC:
		return ms->values[s->at];
	case SOURCE_DURATION:
		return counts->elapsed_s * 1e9;
	case SOURCE_SELF:
		return self;
	default:
		return s->number;
	}
}

static double compute(const struct tacho_metric_set *ms, const struct tacho_expr *x,
		      const struct metric_source *sources, double self,
		      const struct tacho_metric_counts *counts)
{
	const struct tacho_expr_input *in;
	size_t n = tacho_expr_inputs(x, &in);

	for (size_t i = 0; i < n; i++)
		ms->inputs[i] = source_value(ms, &sources[i], self, counts);
	return tacho_expr_compute(x, ms->inputs);
}

static void mark_needed(struct tacho_metric_set *ms, const struct tacho_expr *x,
			 const struct metric_source *sources)
{
	const struct tacho_expr_input *in;
	size_t n = x ? tacho_expr_inputs(x, &in) : 0;

	for (size_t i = 0; i < n; i++)
		if (sources[i].kind == SOURCE_METRIC)
			ms->needed[sources[i].at] = true;
}

/* A metric comes after the metrics it refers to, so a backward pass finds the metrics that are needed, and a
 * forward pass computes them. */
static void compute_needed(struct tacho_metric_set *ms, size_t last, bool limit,
			   const struct tacho_metric_counts *counts)
{
	memset(ms->needed, 0, ms->uses.n * sizeof(*ms->needed));
	ms->needed[last] = true;
	if (limit)
		mark_needed(ms, ms->uses.v[last].threshold, ms->uses.v[last].limits);
	for (size_t i = last + 1; i-- > 0;)
		if (ms->needed[i])
			mark_needed(ms, ms->uses.v[i].expr, ms->uses.v[i].sources);
	for (size_t i = 0; i <= last; i++)
		if (ms->needed[i])
			ms->values[i] = compute(ms, ms->uses.v[i].expr, ms->uses.v[i].sources, NAN, counts);
}

double tacho_metric_set_value(struct tacho_metric_set *ms, size_t i,
			      const struct tacho_metric_counts *counts, bool *alarming)
{
	size_t at = 0;
	const struct metric_use *u = ms->planned ? shown_use(ms, i, &at) : NULL;
	double value;

	if (alarming)
		*alarming = false;
	if (!u)
		return NAN;
	compute_needed(ms, at, alarming && u->threshold, counts);
	value = ms->values[at];
	if (alarming && u->threshold && !isnan(value))
		*alarming = compute(ms, u->threshold, u->limits, value, counts) > 0;
	return value * u->metric.scale;
}
