/*
 * Limits names that stand for events of several PMUs, such as cycles on a hybrid machine or imc/.../, to one of
 * these PMUs, or adds up what the core types count.
 */
#include "event/parse.h"

#include <errno.h>

#include "base/error.h"
#include "base/sized_opts.h"

static bool is_on_pmu(const struct event *ev)
{
	return ev->kind != TACHO_EVENT_SOFTWARE && ev->kind != TACHO_EVENT_TRACEPOINT &&
	       ev->kind != TACHO_EVENT_TOOL && ev->attr.type != PERF_TYPE_BREAKPOINT;
}

static bool is_core(const struct event *ev)
{
	return is_on_pmu(ev) && !(ev->flags & EVENT_UNCORE);
}

static bool is_wanted(const struct tacho *t, const struct event *ev)
{
	if (t->cpu_type && is_core(ev) && strcmp(ev->pmu, t->cpu_type) != 0)
		return false;
	return !t->pmu_filter || !is_on_pmu(ev) || !strcmp(ev->pmu, t->pmu_filter);
}

static int refuse_all(struct event_parser *p, struct str typed)
{
	error_set(p->e, -ENOENT, "PMU %s has no event '%.*s'", p->t->pmu_filter ? p->t->pmu_filter : p->t->cpu_type,
		  STR(typed));
	return parse_refuse(p, -ENOENT, typed);
}

/* Removes events of other PMUs. What remains is on one PMU, so there is nothing to merge. */
static int keep_wanted(struct event_parser *p, size_t first, struct str typed)
{
	struct event_list *list = p->list;
	size_t kept = first, n = list->n;

	for (size_t i = first; i < n; i++) {
		if (!is_wanted(p->t, &list->v[i])) {
			cpuset_done(&list->v[i].cpus);
			continue;
		}
		list->v[kept] = list->v[i];
		if (kept != i)
			list->v[kept].merge = list->v[kept].leader = (uint32_t)kept;
		kept++;
	}
	list->n = kept;
	return kept == first && n > first ? refuse_all(p, typed) : 0;
}

/* The counts of all core types become one, which has the name as it was typed. */
static void merge_core_types(struct event_parser *p, size_t first)
{
	for (size_t i = first; i < p->list->n; i++) {
		struct event *ev = &p->list->v[i];

		if (!is_core(ev) || !is_core(&p->list->v[first]) || p->list->n - first < 2)
			return;
		ev->merge = (uint32_t)first;
		if (p->open_names)
			ev->name = NULL;
	}
}

int scope_apply(struct event_parser *p, size_t first, struct str typed)
{
	int err = 0;

	if (p->t->cpu_type || p->t->pmu_filter)
		err = keep_wanted(p, first, typed);
	if (err == 0 && p->t->merge_cores)
		merge_core_types(p, first);
	return err;
}

static int find_core_type(struct tacho *t, const char *type, const char **name, struct tacho_error *e)
{
	scoped(buf_done) struct buf all = { 0 };
	const struct pmu_list *cores;
	int err = pmu_cores(t, &cores);

	if (err < 0)
		return error_nomem(e);
	for (size_t i = 0; i < cores->n; i++) {
		const char *own = cores->v[i]->name;

		buf_printf(&all, "%s%s", i ? ", " : "", own);
		if (strcmp(own, type) != 0 && !(str_starts(str_of(own), "cpu_") && !strcmp(own + 4, type)))
			continue;
		*name = own;
		return 0;
	}
	/* Without a PMU, hardware events can be named and are unsupported: as those of PMU cpu. */
	if (cores->n == 0 && strcmp(type, "cpu") == 0) {
		*name = "cpu";
		return 0;
	}
	error_set(e, -ENOENT, "there is no core type '%s'", type);
	error_hint(e, "core PMUs of this machine: %s", all.bytes && !buf_failed(&all) ? all.bytes : "none");
	return -ENOENT;
}

static int find_pmu(struct tacho *t, const char *name, struct tacho_error *e)
{
	struct name_guess g = GUESS(str_of(name));
	struct pmu *pmu;
	int err = pmu_find(t, str_of(name), &pmu);

	if (err > 0)
		return 0;
	if (err < 0)
		return error_nomem(e);
	error_set(e, -ENOENT, "there is no PMU '%s'", name);
	pmu_guess(t, &g);
	if (g.best[0])
		error_hint(e, "did you mean '%s'?", g.best);
	return -ENOENT;
}

int tacho_set_event_scope(struct tacho *t, const struct tacho_event_scope *scope, struct tacho_error *e)
{
	struct tacho_event_scope s;
	const char *core = NULL;
	char *cpu_type = NULL, *pmu = NULL;
	int err = opts_copy(&s, sizeof(s), scope, e);

	if (err == 0 && s.cpu_type)
		err = find_core_type(t, s.cpu_type, &core, e);
	if (err == 0 && s.pmu)
		err = find_pmu(t, s.pmu, e);
	if (err < 0)
		return err;
	cpu_type = core ? strdup(core) : NULL;
	pmu = s.pmu ? strdup(s.pmu) : NULL;
	if ((core && !cpu_type) || (s.pmu && !pmu)) {
		free(cpu_type);
		free(pmu);
		return error_nomem(e);
	}
	free(t->cpu_type);
	free(t->pmu_filter);
	t->cpu_type = cpu_type;
	t->pmu_filter = pmu;
	t->merge_cores = s.merge_cores;
	return 0;
}
