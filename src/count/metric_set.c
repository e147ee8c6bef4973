/*
 * Choosing metrics: each becomes a use with its expression compiled, after the metrics it is made of.
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
	vec_done(&ms->open);
	free(ms->values);
	free(ms->inputs);
	free(ms->needed);
	tacho_evset_free(ms->scratch);
	arena_done(&ms->arena);
	free(ms);
}

/* ---- what expressions ask before anything is counted ---- */

static double literal(void *arg, const char *name)
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

static double ask(void *arg, enum tacho_input kind, const char *name)
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
					  .literal = literal, .arg = ms, .ask = ask };
}

/* ---- choosing ---- */

static int64_t find_use(const struct tacho_metric_set *ms, const char *name)
{
	for (size_t i = 0; i < ms->uses.n; i++)
		if (strcmp(ms->uses.v[i].metric.name, name) == 0)
			return (int64_t)i;
	return -1;
}

static int64_t choose(struct tacho_metric_set *ms, const struct tacho_metric *m, struct tacho_error *e);

struct wiring {
	struct tacho_metric_set *ms;
	const struct tacho_metric *metric;
	const struct tacho_expr_input *inputs;
	size_t n;
	struct metric_source *to;
	struct tacho_error *e;
};

static int refuse_missing(const struct wiring *w, const char *name, const char *why)
{
	error_set(w->e, -EOPNOTSUPP, "metric '%.100s' needs '%.200s': %.300s", w->metric->name, name, why);
	return -EOPNOTSUPP;
}

/* A name that the expression comes to ask for: another metric, or an event. */
static int wire(void *arg, const char *name)
{
	struct wiring *w = arg;
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
	at = found ? choose(w->ms, &other, w->e) : metric_name_learn(w->ms, name);
	if (at < 0)
		return at == -ENOMEM ? error_nomem(w->e) : (int)at;
	if (!found && !w->ms->names.v[at].shown)
		return refuse_missing(w, name, w->ms->names.v[at].why);
	*to = (struct metric_source){ found ? SOURCE_METRIC : SOURCE_EVENT, (uint32_t)at, NAN };
	return 0;
}

/* What is known before counting: literals and answers. source_count() comes with the plan. */
static void wire_constants(struct wiring *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct tacho_expr_input *in = &w->inputs[i];

		w->to[i].number = in->kind == TACHO_INPUT_LITERAL ? literal(w->ms, in->name) :
				  in->kind == TACHO_INPUT_EVENT ? NAN : ask(w->ms, in->kind, in->name);
	}
}

/* A literal that is not known matters where it does not stand in a branch that is never taken. */
static int check_literals(struct wiring *w, const struct tacho_expr *x, const struct tacho_metric_env *env)
{
	bool *needed = calloc(w->n + 1, sizeof(*needed));
	int err = needed ? 0 : -ENOMEM;

	if (needed)
		expr_needed(x, env, needed);
	for (size_t i = 0; !err && i < w->n; i++)
		if (needed[i] && w->inputs[i].kind == TACHO_INPUT_LITERAL && isnan(w->to[i].number)) {
			char name[256];

			snprintf(name, sizeof(name), "#%.250s", w->inputs[i].name);
			err = refuse_missing(w, name, "it is not known on this machine");
		}
	free(needed);
	return err;
}

static int wire_expr(struct tacho_metric_set *ms, struct metric_use *u, struct tacho_error *e)
{
	struct tacho_metric_env env = env_of(ms);
	struct wiring w = { .ms = ms, .metric = &u->metric, .e = e };
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
	wire_constants(&w);
	err = check_literals(&w, u->expr, &env);
	if (err == 0)
		err = tacho_expr_events(u->expr, &env, wire, &w);
	return err == -ENOMEM ? error_nomem(e) : err;
}

static int wire_limit(void *arg, const char *name)
{
	struct wiring *w = arg;
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
	return found < 0 ? found : wire(arg, name);
}

/* A threshold that cannot be had is none: it is not what was asked for. */
static int wire_threshold(struct tacho_metric_set *ms, struct metric_use *u)
{
	struct tacho_metric_env env = env_of(ms);
	struct wiring w = { .ms = ms, .metric = &u->metric };
	int err = u->metric.threshold ? tacho_expr_new(&u->threshold, u->metric.threshold, NULL) : -ENOENT;

	if (err < 0)
		return err == -ENOMEM ? err : 0;
	w.n = tacho_expr_inputs(u->threshold, &w.inputs);
	w.to = u->limits = calloc(w.n + 1, sizeof(*u->limits));
	if (!w.to)
		return -ENOMEM;
	wire_constants(&w);
	err = tacho_expr_events(u->threshold, &env, wire_limit, &w);
	if (err == 0 || err == -ENOMEM)
		return err;
	tacho_expr_free(take(u->threshold));
	return 0;
}

static int make_use(struct tacho_metric_set *ms, struct metric_use *u, struct tacho_error *e)
{
	int err = wire_expr(ms, u, e);

	if (err == 0 && !ms->opts.no_threshold && wire_threshold(ms, u) < 0)
		err = error_nomem(e);
	return err;
}

/* The metric's use, made if there is none: its index, or a negative errno. What it is made of comes
 * before it. */
static int64_t choose(struct tacho_metric_set *ms, const struct tacho_metric *m, struct tacho_error *e)
{
	struct metric_use u = { .metric = *m, .home = METRIC_NO_EVENT, .hidden = true }, *slot;
	int64_t at = find_use(ms, m->name);
	const char **open;
	int err;

	if (at >= 0)
		return at;
	for (size_t i = 0; i < ms->open.n; i++)
		if (!strcmp(ms->open.v[i], m->name))
			return error_set(e, -ELOOP, "metric '%.100s' is made of itself", m->name);
	if (ms->open.n >= METRIC_DEPTH_MAX || ms->uses.n >= METRIC_USES_MAX)
		return error_set(e, -E2BIG, "metric '%.100s' is made of too many others", m->name);
	open = vec_add(&ms->open);
	if (!open)
		return error_nomem(e);
	*open = m->name;
	err = make_use(ms, &u, e);
	ms->open.n--;
	slot = err == 0 ? vec_add(&ms->uses) : NULL;
	if (!slot) {
		use_done(&u);
		return err < 0 ? err : error_nomem(e);
	}
	*slot = u;
	return (int64_t)ms->uses.n - 1;
}

struct adding {
	struct tacho_metric_set *ms;
	struct tacho_error first;	/* what was wrong with the first that was left out */
	int n;
};

static int leave_out(struct tacho_metric_set *ms, const struct tacho_error *e)
{
	char *text = arena_str(&ms->arena, str_of(e->message));
	const char **slot = text ? vec_add(&ms->left_out) : NULL;

	if (!slot)
		return -ENOMEM;
	*slot = text;
	return 0;
}

static int add_metric(void *arg, const struct tacho_metric *m)
{
	struct adding *a = arg;
	struct tacho_error e = { .column = -1 };
	int64_t at = choose(a->ms, m, &e);

	if (at == -ENOMEM)
		return -ENOMEM;
	if (at < 0) {
		if (!a->first.code)
			a->first = e;
		return leave_out(a->ms, &e);
	}
	a->n += a->ms->uses.v[at].hidden;
	a->ms->uses.v[at].hidden = false;
	return 0;
}

int tacho_metric_set_add(struct tacho_metric_set *ms, const char *name, struct tacho_error *e)
{
	struct adding a = { .ms = ms };
	int err;

	if (ms->planned)
		return error_set(e, -EBUSY, "the metrics are planned already");
	err = tacho_metric_walk(ms->t, name, add_metric, &a, e);
	if (err < 0)
		return err == -ENOMEM ? error_nomem(e) : err;
	if (a.n || !a.first.code)
		return a.n;
	if (e)
		*e = a.first;
	return a.first.code;
}

/* ---- telling ---- */

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

static void need_sources(struct tacho_metric_set *ms, const struct tacho_expr *x,
			 const struct metric_source *sources)
{
	const struct tacho_expr_input *in;
	size_t n = x ? tacho_expr_inputs(x, &in) : 0;

	for (size_t i = 0; i < n; i++)
		if (sources[i].kind == SOURCE_METRIC)
			ms->needed[sources[i].at] = true;
}

/* Uses stand behind those they are made of: downwards for what is needed, upwards to compute it. */
static void compute_needed(struct tacho_metric_set *ms, size_t last, bool limit,
			   const struct tacho_metric_counts *counts)
{
	memset(ms->needed, 0, ms->uses.n * sizeof(*ms->needed));
	ms->needed[last] = true;
	if (limit)
		need_sources(ms, ms->uses.v[last].threshold, ms->uses.v[last].limits);
	for (size_t i = last + 1; i-- > 0;)
		if (ms->needed[i])
			need_sources(ms, ms->uses.v[i].expr, ms->uses.v[i].sources);
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
