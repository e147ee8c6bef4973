/*
 * Puts the events that metrics need into groups, so that all events of one PMU for one metric are
 * counted at the same time. A metric whose events are all in an existing group shares that group;
 * metrics that need the most events are therefore planned first.
 */
#include "count/metric_set.h"

#include <errno.h>
#include <math.h>

#include "base/vec.h"
#include "event/pmu.h"

/* ---- event names of expressions ---- */

static int add_to_scratch_set(struct tacho_metric_set *ms, struct metric_name *n, struct tacho_error *e)
{
	size_t first = tacho_evset_size(ms->scratch);
	int err = tacho_evset_add(ms->scratch, n->text, e);
	const struct tacho_event *ev;
	struct str stem;

	if (err <= 0)
		return err;
	n->scratch = first;
	ev = tacho_evset_event(ms->scratch, first);
	stem = pmu_stem(str_of(ev->pmu));
	n->shown = arena_str(&ms->arena, str_of(ev->name));
	n->software = ev->kind == TACHO_EVENT_SOFTWARE || ev->kind == TACHO_EVENT_TRACEPOINT;
	n->topdown = str_starts(str_of(ev->name), "topdown-") ||
		     str_starts(str_of(ev->name), "PERF_METRICS.");
	n->core = ev->kind != TACHO_EVENT_TOOL && !n->software && !ev->system_wide;
	if (ev->kind != TACHO_EVENT_TOOL && !n->software)
		n->class_ = arena_str(&ms->arena, stem);
	return n->shown && (n->class_ || n->software || ev->kind == TACHO_EVENT_TOOL) ? 0 : -ENOMEM;
}

static int learn_event(struct tacho_metric_set *ms, struct metric_name *n)
{
	struct tacho_error e = { .column = -1 };
	int err = add_to_scratch_set(ms, n, &e);

	if (err >= 0 || err == -ENOMEM)
		return err < 0 ? err : 0;
	n->why = arena_str(&ms->arena, str_of(e.message));
	return n->why ? 0 : -ENOMEM;
}

int64_t metric_name_learn(struct tacho_metric_set *ms, const char *text)
{
	struct metric_name n = { .event = METRIC_NO_EVENT, .scratch = SIZE_MAX }, *slot;

	for (size_t i = 0; i < ms->names.n; i++)
		if (!strcmp(ms->names.v[i].text, text))
			return (int64_t)i;
	n.text = arena_str(&ms->arena, str_of(text));
	if (!n.text || learn_event(ms, &n) < 0)
		return -ENOMEM;
	slot = vec_add(&ms->names);
	if (!slot)
		return -ENOMEM;
	*slot = n;
	return (int64_t)ms->names.n - 1;
}

/* ---- groups ---- */

struct metric_event_group {
	uint32_t first;			/* index of its first member in the plan's members */
	uint32_t n;
};

struct metric_group_member {
	uint32_t name, event;
};

struct metric_plan {
	struct tacho_metric_set *ms;
	struct tacho_evset *set;
	struct { struct metric_event_group *v; size_t n, cap; } groups;
	struct { struct metric_group_member *v; size_t n, cap; } members;
	struct { uint32_t *v; size_t n, cap; } wanted;	/* names of the next group */
	struct tacho_error *e;
};

static int add_wanted(struct metric_plan *p, uint32_t name)
{
	uint32_t *slot;

	for (size_t i = 0; i < p->wanted.n; i++)
		if (p->wanted.v[i] == name)
			return 0;
	slot = vec_add(&p->wanted);
	if (!slot)
		return -ENOMEM;
	*slot = name;
	return 0;
}

static uint32_t event_in(const struct metric_plan *p, const struct metric_event_group *g, uint32_t name)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (p->members.v[g->first + i].name == name)
			return p->members.v[g->first + i].event;
	return METRIC_NO_EVENT;
}

static const struct metric_event_group *find_group(const struct metric_plan *p)
{
	for (size_t i = 0; i < p->groups.n && !p->ms->opts.no_share; i++) {
		size_t k = 0;

		while (k < p->wanted.n && event_in(p, &p->groups.v[i], p->wanted.v[k]) != METRIC_NO_EVENT)
			k++;
		if (k == p->wanted.n)
			return &p->groups.v[i];
	}
	return NULL;
}

/* Finds an event by name among those added since `first`: the first, if there are several PMU instances. */
static uint32_t added_event(const struct metric_plan *p, size_t first, const struct metric_name *n)
{
	for (size_t i = first; i < tacho_evset_size(p->set); i++) {
		const struct tacho_event *ev = tacho_evset_event(p->set, i);

		if (!strcmp(ev->name, n->shown))
			return ev->merge;
	}
	return METRIC_NO_EVENT;
}

static bool needs_slots_leader(const struct metric_plan *p)
{
	bool topdown = false;

	for (size_t i = 0; i < p->wanted.n; i++) {
		const struct metric_name *n = &p->ms->names.v[p->wanted.v[i]];

		if (!strcmp(n->text, "slots"))
			return false;
		topdown |= n->topdown;
	}
	return topdown;
}

/* In a group with topdown events slots comes first, because the kernel requires it as the leader. */
static void write_group_spec(struct metric_plan *p, struct buf *spec)
{
	bool alone = p->wanted.n == 1 && !needs_slots_leader(p);
	const char *comma = "";

	if (!alone)
		buf_putc(spec, '{');
	if (needs_slots_leader(p)) {
		buf_puts(spec, "slots");
		comma = ",";
	}
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < p->wanted.n; i++) {
			const struct metric_name *n = &p->ms->names.v[p->wanted.v[i]];

			if (!strcmp(n->text, "slots") != !pass)
				continue;
			buf_printf(spec, "%s%s", comma, n->text);
			comma = ",";
		}
	if (!alone)
		buf_puts(spec, "}:W");
}

static int record_members(struct metric_plan *p, size_t first)
{
	struct metric_event_group *g = vec_add(&p->groups);

	if (!g)
		return -ENOMEM;
	*g = (struct metric_event_group){ .first = (uint32_t)p->members.n };
	for (size_t i = 0; i < p->wanted.n; i++) {
		struct metric_name *n = &p->ms->names.v[p->wanted.v[i]];
		struct metric_group_member *m = vec_add(&p->members);

		if (!m)
			return -ENOMEM;
		*m = (struct metric_group_member){ p->wanted.v[i], added_event(p, first, n) };
		n->event = m->event;
		g->n++;
	}
	return 0;
}

/* Adds the wanted names as one group, unless an existing group contains all of them. */
static int add_or_find_group(struct metric_plan *p, const struct metric_event_group **out)
{
	scoped(buf_done) struct buf spec = { 0 };
	size_t first = tacho_evset_size(p->set);
	int err;

	*out = find_group(p);
	if (*out)
		return 0;
	write_group_spec(p, &spec);
	if (buf_failed(&spec))
		return -ENOMEM;
	err = tacho_evset_add(p->set, spec.bytes, p->e);
	if (err < 0)
		return err;
	err = record_members(p, first);
	if (err == 0)
		*out = &p->groups.v[p->groups.n - 1];
	return err;
}

/* ---- one metric ---- */

struct metric_inputs {
	const struct tacho_expr_input *v;
	size_t n;
	struct metric_source *sources;
};

static bool is_event(const struct metric_inputs *in, size_t i)
{
	return in->sources[i].kind == SOURCE_EVENT;
}

/* Class of an event: events of one class are grouped; NULL: counted alone. Software events are never
 * multiplexed; they join the group of the core PMU if the metric has one. */
static const char *class_of(const struct metric_plan *p, const struct metric_inputs *in, size_t i)
{
	const struct metric_name *n = &p->ms->names.v[in->sources[i].at];

	if (p->ms->opts.no_group && !n->topdown)	/* topdown events need slots in their group */
		return NULL;
	if (!n->software)
		return n->class_;
	for (size_t k = 0; k < in->n; k++)
		if (is_event(in, k) && p->ms->names.v[in->sources[k].at].core)
			return p->ms->names.v[in->sources[k].at].class_;
	return NULL;
}

static bool same_class(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* Plans input `i` and all later inputs of the same class as one group. */
static int plan_class(struct metric_plan *p, const struct metric_inputs *in, size_t i, uint32_t *events)
{
	const char *class_ = class_of(p, in, i);
	const struct metric_event_group *g;
	int err = 0;

	p->wanted.n = 0;
	for (size_t k = i; !err && k < in->n; k++)
		if (is_event(in, k) && (k == i || same_class(class_, class_of(p, in, k))))
			err = add_wanted(p, in->sources[k].at);
	if (!err)
		err = add_or_find_group(p, &g);
	for (size_t k = i; !err && k < in->n; k++)
		if (is_event(in, k) && (k == i || same_class(class_, class_of(p, in, k))))
			events[k] = event_in(p, g, in->sources[k].at);
	return err;
}

/* The number of PMU instances that an event sums. */
static double count_sources(const struct metric_plan *p, uint32_t event)
{
	unsigned n = 0;

	for (size_t i = 0; i < tacho_evset_size(p->set); i++)
		n += tacho_evset_event(p->set, i)->merge == event;
	return n ? n : NAN;
}

static void plan_source_counts(struct metric_plan *p, const struct metric_inputs *in, const uint32_t *events)
{
	for (size_t i = 0; i < in->n; i++)
		for (size_t k = 0; in->v[i].kind == TACHO_INPUT_SOURCE_COUNT && k < in->n; k++)
			if (in->v[k].kind == TACHO_INPUT_EVENT && events[k] != METRIC_NO_EVENT &&
			    !strcmp(in->v[i].name, in->v[k].name))
				in->sources[i].number = count_sources(p, events[k]);
}

static int plan_inputs(struct metric_plan *p, const struct tacho_expr *x, struct metric_source *sources)
{
	struct metric_inputs in = { .sources = sources };
	uint32_t *events;
	int err = 0;

	in.n = tacho_expr_inputs(x, &in.v);
	events = calloc(in.n + 1, sizeof(*events));
	if (!events)
		return -ENOMEM;
	for (size_t i = 0; i < in.n; i++)
		events[i] = METRIC_NO_EVENT;
	for (size_t i = 0; !err && i < in.n; i++)
		if (is_event(&in, i) && events[i] == METRIC_NO_EVENT)
			err = plan_class(p, &in, i, events);
	if (!err)
		plan_source_counts(p, &in, events);
	for (size_t i = 0; !err && i < in.n; i++)
		if (is_event(&in, i))
			sources[i].at = events[i];
	free(events);
	return err;
}

static int plan_use(struct metric_plan *p, struct metric_use *u)
{
	int err = plan_inputs(p, u->expr, u->sources);

	if (!err && u->threshold)
		err = plan_inputs(p, u->threshold, u->limits);
	return err == -ENOMEM ? error_nomem(p->e) : err;
}

/* How many events of the metric need a hardware counter. */
static size_t n_hardware_events(const struct tacho_metric_set *ms, const struct metric_use *u)
{
	const struct tacho_expr_input *in;
	size_t n = 0, all = tacho_expr_inputs(u->expr, &in);

	for (size_t i = 0; i < all; i++)
		n += u->sources[i].kind == SOURCE_EVENT && ms->names.v[u->sources[i].at].class_;
	return n;
}

/* Finds the event that the metric is shown with: its own first event, or that of the first metric it uses. */
static void find_home(struct tacho_metric_set *ms, struct metric_use *u)
{
	const struct tacho_expr_input *in;
	size_t n = tacho_expr_inputs(u->expr, &in);

	for (size_t i = 0; i < n && u->home == METRIC_NO_EVENT; i++) {
		if (u->sources[i].kind == SOURCE_EVENT)
			u->home = u->sources[i].at;
		else if (u->sources[i].kind == SOURCE_METRIC)
			u->home = ms->uses.v[u->sources[i].at].home;
	}
}

static int assign_homes(struct metric_plan *p)
{
	struct tacho_metric_set *ms = p->ms;
	uint32_t clock = METRIC_NO_EVENT;

	for (size_t i = 0; i < ms->uses.n; i++) {
		struct metric_use *u = &ms->uses.v[i];
		int err;

		find_home(ms, u);
		if (u->home != METRIC_NO_EVENT || u->hidden)
			continue;
		if (clock == METRIC_NO_EVENT) {		/* only constants: shown with duration_time */
			clock = (uint32_t)tacho_evset_size(p->set);
			err = tacho_evset_add(p->set, "duration_time", p->e);
			if (err < 0)
				return err;
		}
		u->home = clock;
	}
	return 0;
}

static size_t most_inputs(const struct tacho_metric_set *ms)
{
	const struct tacho_expr_input *in;
	size_t most = 0;

	for (size_t i = 0; i < ms->uses.n; i++) {
		const struct metric_use *u = &ms->uses.v[i];

		most = max_of(most, tacho_expr_inputs(u->expr, &in));
		if (u->threshold)
			most = max_of(most, tacho_expr_inputs(u->threshold, &in));
	}
	return most;
}

static int plan_uses(struct metric_plan *p)
{
	struct tacho_metric_set *ms = p->ms;
	size_t most = 0;
	int err = 0;

	/* The metrics with the most events first, so that others can share their groups. */
	for (size_t i = 0; i < ms->uses.n; i++)
		most = max_of(most, n_hardware_events(ms, &ms->uses.v[i]));
	ms->needed = calloc(ms->uses.n + 1, sizeof(*ms->needed));
	ms->values = calloc(ms->uses.n + 1, sizeof(*ms->values));
	ms->inputs = calloc(most_inputs(ms) + 1, sizeof(*ms->inputs));
	if (!ms->needed || !ms->values || !ms->inputs)
		return error_nomem(p->e);
	for (size_t n = most + 1; n-- > 0;)
		for (size_t i = 0; !err && i < ms->uses.n; i++)
			if (!ms->needed[i] && n_hardware_events(ms, &ms->uses.v[i]) >= n) {
				ms->needed[i] = true;
				err = plan_use(p, &ms->uses.v[i]);
			}
	return err;
}

int tacho_metric_set_plan(struct tacho_metric_set *ms, struct tacho_evset *set, struct tacho_error *e)
{
	struct metric_plan p = { .ms = ms, .set = set, .e = e };
	int err;

	if (ms->planned)
		return error_set(e, -EBUSY, "the metrics are planned already");
	err = plan_uses(&p);
	if (!err)
		err = assign_homes(&p);
	ms->planned = !err;
	vec_done(&p.groups);
	vec_done(&p.members);
	vec_done(&p.wanted);
	return err < 0 ? err : 0;
}
