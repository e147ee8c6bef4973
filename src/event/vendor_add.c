/*
 * Adds events of vendors' lists to a parsed event list. Event names of the kernel and its PMUs take
 * precedence over names in lists. If several lists (one per core type) have a name, an event is added
 * for each list.
 */
#include "event/vendor_add.h"

#include <errno.h>
#include <stdio.h>

#include "base/vec.h"

struct vendor_adder {
	struct event_parser *p;
	struct str word;
	struct term_list *typed;	/* terms that the user gave after the name */
	size_t first;			/* index of the first event to be added */
	bool known;			/* some list has the name */
	struct buf last;		/* the last event added, as pmu/terms/ */
	struct tacho_error refused;	/* the first error */
};

static int add_term(struct term_list *l, struct str key, struct str value, struct str where)
{
	struct term *term = vec_add(l);

	if (!term)
		return -ENOMEM;
	*term = (struct term){ .key = key, .value = value, .has_value = value.s, .where = where };
	return 0;
}

/* Joins the terms in the list and the terms that the user gave after the name. */
static int join_terms(struct vendor_adder *a, const char *terms, struct term_list *out)
{
	struct str rest = str_of(terms), one, key;
	int err = 0;

	while (!err && str_cut(&rest, ',', &one)) {
		str_cut(&one, '=', &key);
		err = add_term(out, key, one, a->word);
	}
	for (size_t i = 0; !err && a->typed && i < a->typed->n; i++) {
		struct term *term = vec_add(out);

		if (!term)
			return -ENOMEM;
		*term = a->typed->v[i];
	}
	return err;
}

static int finish_added(struct vendor_adder *a, struct vendor_list *l, const struct vendor_event *ev,
			const struct pmu *pmu)
{
	struct event *added = &a->p->list->v[a->p->list->n - 1];
	const char *unit = vendor_str(l, ev->unit);

	added->scale = ev->scale;
	if (*unit) {
		added->unit = parse_str(a->p, str_of(unit));
		if (!added->unit)
			return -ENOMEM;
	}
	if (ev->flags & VENDOR_PER_PKG)
		added->flags |= EVENT_PER_PKG;
	if ((ev->flags & VENDOR_MUST_PRECISE) && !(a->p->flags & EVENT_FOR_STAT) &&
	    !(added->attr.flags & PERF_ATTR_PRECISE_MASK))
		added->attr.flags |= 1ULL << PERF_ATTR_PRECISE_SHIFT;
	resolve_merge_instance(a->p, a->first, pmu);
	return 0;
}

static void log_warnings(struct vendor_adder *a, struct vendor_list *l, const struct vendor_event *ev,
			 const struct vendor_found *found)
{
	const char *name = vendor_str(l, ev->name), *errata = vendor_str(l, ev->errata);
	struct tacho *t = a->p->t;

	if (found->notice[0])
		tacho_log(t, ev->filter ? TACHO_LOG_INFO : TACHO_LOG_WARN, "%s: %s", name, found->notice);
	if (ev->flags & VENDOR_DEPRECATED)
		tacho_log(t, TACHO_LOG_WARN, "%s is deprecated according to its list", name);
	if (*errata)
		tacho_log(t, TACHO_LOG_WARN, "%s has errata: %s", name, errata);
	if ((ev->flags & VENDOR_MUST_PRECISE) && (a->p->flags & EVENT_FOR_STAT))
		tacho_log(t, TACHO_LOG_WARN, "%s is meant for precise sampling; its plain count may be 0",
			  name);
}

static int add_on_pmus(struct vendor_adder *a, struct vendor_list *l, const struct vendor_event *ev,
		  struct vendor_found *found)
{
	scoped(term_list_done) struct term_list terms = { 0 };
	struct pmu_list pmus = { 0 };
	const struct pmu_list *cores;
	char why[64];
	int err = vendor_pmus(a->p->t, l, ev, &pmus, why, sizeof(why));

	if (!err)
		err = join_terms(a, found->terms.bytes, &terms);
	if (err < 0)
		err = error_nomem(a->p->e);
	if (err >= 0 && pmu_cores(a->p->t, &cores) < 0)
		err = error_nomem(a->p->e);
	for (size_t i = 0; err >= 0 && i < pmus.n; i++) {
		err = pmu_event_add(a->p, pmus.v[i], &terms);
		if (err >= 0)
			err = finish_added(a, l, ev, pmus.v[i]);
		if (err >= 0 && pmus.v[i]->core && cores->n > 1)
			err = resolve_name_hybrid(a->p, a->word, a->typed, pmus.v[i],
						  &a->p->list->v[a->p->list->n - 1]);
	}
	if (err >= 0)
		log_warnings(a, l, ev, found);
	vec_done(&pmus);
	return err;
}

/* Several lists (versions of one list, or from different sources) may have the same event; add it once. */
static bool is_repeated(struct vendor_adder *a, const struct vendor_found *found)
{
	struct buf now = { 0 };
	bool same;

	buf_printf(&now, "%s/%s/", found->pmu, found->terms.bytes);
	same = now.n && a->last.n && str_eq(buf_view(&now), buf_view(&a->last));
	buf_done(&a->last);
	a->last = now;
	return same;
}

static int add_event(struct vendor_adder *a, struct vendor_list *l, const struct vendor_event *ev)
{
	struct vendor_found found = { 0 };
	int err = vendor_resolve(a->p->t, l, ev, &found);

	a->known = true;
	if (err < 0)
		error_nomem(a->p->e);
	else if (!found.why[0])
		err = is_repeated(a, &found) ? 0 : add_on_pmus(a, l, ev, &found);
	else if (!a->refused.code) {
		error_set(&a->refused, -EOPNOTSUPP, "'%.*s' cannot be counted here: %s", SHOW(a->word),
			  found.why);
		error_hint(&a->refused, "it is an event of %.300s", l->path);
	}
	vendor_found_done(&found);
	return err;
}

static int add_from(struct vendor_adder *a, const struct vendor_lists *lists)
{
	int err = 0;

	for (size_t i = 0; err >= 0 && i < lists->n; i++) {
		size_t n;
		const struct vendor_event *ev = vendor_find(lists->v[i], a->word, &n);

		for (size_t k = 0; err >= 0 && k < n; k++)
			err = add_event(a, lists->v[i], &ev[k]);
	}
	return err;
}

int resolve_listed(struct event_parser *p, struct str word, struct term_list *terms)
{
	struct vendor_adder a = { .p = p, .word = word, .typed = terms, .first = p->list->n };
	struct vendor_set *set;
	int err;

	if (str_has_glob(word))
		return 0;
	err = vendor_get(p->t, false, &set);
	if (err < 0)
		return error_nomem(p->e);
	err = add_from(&a, &set->given);
	if (err >= 0 && !a.known) {
		err = vendor_get(p->t, true, &set);
		if (err < 0)
			return error_nomem(p->e);
		err = add_from(&a, &set->found);
	}
	buf_done(&a.last);
	if (err < 0)
		return err;
	if (p->list->n > a.first)
		return 1;
	if (!a.known)
		return 0;
	if (p->e)
		*p->e = a.refused;
	return parse_refuse(p, -EOPNOTSUPP, word);
}

static int slashed_from(struct event_parser *p, const struct vendor_lists *lists, const struct pmu *pmu,
			struct str word, struct vendor_slashed *out)
{
	struct vendor_found found = { 0 };
	int got = 0;

	for (size_t i = 0; !got && i < lists->n; i++) {
		struct vendor_list *l = lists->v[i];
		size_t n;
		const struct vendor_event *ev = vendor_find(l, word, &n);

		for (size_t k = 0; !got && k < n; k++) {
			got = vendor_resolve_on(p->t, l, &ev[k], pmu, &found);
			/* For a core event that no PMU here can count, report why. */
			if (!got && pmu->core && !*vendor_str(l, ev[k].pmu) && found.why[0])
				got = 1;
			if (got <= 0)
				continue;
			buf_str(&out->terms, buf_view(&found.terms));
			snprintf(out->unit, sizeof(out->unit), "%s", vendor_str(l, ev[k].unit));
			out->scale = ev[k].scale;
			out->per_pkg = ev[k].flags & VENDOR_PER_PKG;
		}
	}
	if (got > 0 && found.why[0]) {
		error_set(p->e, -EOPNOTSUPP, "'%.*s' cannot be counted here: %s", SHOW(word), found.why);
		got = parse_refuse(p, -EOPNOTSUPP, word);
	} else if (got > 0 && found.notice[0]) {
		tacho_log(p->t, TACHO_LOG_INFO, "%.*s: %s", SHOW(word), found.notice);
	}
	vendor_found_done(&found);
	return got == -ENOMEM || buf_failed(&out->terms) ? error_nomem(p->e) : got;
}

int vendor_slashed(struct event_parser *p, const struct pmu *pmu, struct str word, struct vendor_slashed *out)
{
	struct vendor_set *set;
	int err = vendor_get(p->t, false, &set), got;

	if (err < 0)
		return error_nomem(p->e);
	got = slashed_from(p, &set->given, pmu, word, out);
	if (got)
		return got;
	if (vendor_get(p->t, true, &set) < 0)
		return error_nomem(p->e);
	return slashed_from(p, &set->found, pmu, word, out);
}

const char *vendor_topdown(struct str word)
{
	static const struct { const char *listed, *kernel; } names[] = {
		{ "PERF_METRICS.RETIRING", "topdown-retiring" },
		{ "PERF_METRICS.BAD_SPECULATION", "topdown-bad-spec" },
		{ "PERF_METRICS.FRONTEND_BOUND", "topdown-fe-bound" },
		{ "PERF_METRICS.BACKEND_BOUND", "topdown-be-bound" },
		{ "PERF_METRICS.HEAVY_OPERATIONS", "topdown-heavy-ops" },
		{ "PERF_METRICS.BRANCH_MISPREDICTS", "topdown-br-mispredict" },
		{ "PERF_METRICS.FETCH_LATENCY", "topdown-fetch-lat" },
		{ "PERF_METRICS.MEMORY_BOUND", "topdown-mem-bound" },
	};

	for (size_t i = 0; i < countof(names); i++)
		if (str_ieq(word, str_of(names[i].listed)))
			return names[i].kernel;
	return NULL;
}

static void guess_from(const struct vendor_lists *lists, struct name_guess *g)
{
	for (size_t i = 0; i < lists->n; i++)
		for (size_t k = 0; k < lists->v[i]->head->n; k++)
			guess_try(g, str_of(vendor_str(lists->v[i], lists->v[i]->v[k].name)));
}

void vendor_guess(struct tacho *t, struct name_guess *g)
{
	struct vendor_set *set;

	if (vendor_get(t, false, &set) < 0)
		return;
	guess_from(&set->given, g);
	guess_from(&set->found, g);
}
