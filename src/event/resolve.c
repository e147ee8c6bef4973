/*
 * Resolves a name to events. The generic tables are searched first, which needs no file access, except
 * that hardware events need the list of core PMUs: on hybrid machines there is one event per core type.
 * Then sysfs, vendors' lists and libpfm4 are searched.
 */
#include "event/parse.h"

#include <errno.h>

#include "base/num.h"

/* Used for `cpu/.../` if sysfs has no core PMU: parsing succeeds, opening the event fails as not supported.
 * */
static struct pmu no_cpu = { .name = "cpu", .type = PERF_TYPE_RAW, .loaded = true, .core = true };

static bool in_capitals(struct str word)
{
	for (size_t i = 0; i < word.n; i++)
		if (word.s[i] >= 'a' && word.s[i] <= 'z')
			return false;
	return true;
}

/* Alumet's names take precedence over sysfs only in upper case: some PMUs have events such as cpu_cycles. */
static bool find_generic(struct str word, struct generic *out)
{
	return generic_find(word, out) || (in_capitals(word) && generic_find_alumet(word, out));
}

static const char *generic_pmu(const struct generic *g)
{
	return g->kind == TACHO_EVENT_SOFTWARE ? "software" :
	       g->kind == TACHO_EVENT_TOOL     ? "tool" : "cpu";
}

/* `named`: the config comes from a name, and a config= term does not override it. */
static int add_generic(struct event_parser *p, const struct generic *g, const struct pmu *pmu,
		       struct term_list *terms, bool named, struct event **out)
{
	struct event *ev;
	int err = parse_add(p, g->kind, pmu ? pmu->name : generic_pmu(g), &ev);

	if (err < 0)
		return err;
	ev->attr.type = g->type;
	ev->tool = g->tool;
	ev->unit = g->unit;
	ev->scale = g->scale;
	*out = ev;
	err = terms ? term_apply_fixed(p, terms, ev) : 0;
	if (named)
		ev->attr.config = g->config;
	return err < 0 ? err : pmu ? pmu_event_set_cpus(p, pmu, ev) : 0;
}

int resolve_name_hybrid(struct event_parser *p, struct str word, const struct term_list *terms,
			const struct pmu *pmu, struct event *ev)
{
	struct buf b = { 0 };

	if (ev->name)
		return 0;
	buf_printf(&b, "%s/%.*s", pmu->name, STR(word));
	if (terms && terms->text.n)
		buf_printf(&b, ",%.*s", STR(terms->text));
	buf_putc(&b, '/');
	ev->name = buf_failed(&b) ? NULL : parse_str(p, buf_view(&b));
	p->open_names = true;
	buf_done(&b);
	return ev->name ? 0 : error_nomem(p->e);
}

static int add_hardware(struct event_parser *p, const struct generic *g, struct str word,
			struct term_list *terms)
{
	const struct pmu_list *cores;
	struct event *ev;
	int err = pmu_cores(p->t, &cores);

	if (err < 0)
		return error_nomem(p->e);
	if (cores->n < 2)
		return add_generic(p, g, cores->n ? cores->v[0] : NULL, terms, true, &ev);
	for (size_t i = 0; i < cores->n; i++) {
		err = add_generic(p, g, cores->v[i], terms, true, &ev);
		if (err < 0)
			return err;
		ev->attr.config |= (uint64_t)cores->v[i]->type << 32;
		err = resolve_name_hybrid(p, word, terms, cores->v[i], ev);
		if (err < 0)
			return err;
	}
	return 0;
}

static int add_found(struct event_parser *p, const struct generic *g, struct str word,
		     struct term_list *terms)
{
	struct event *ev;
	int err;

	if (g->kind == TACHO_EVENT_HARDWARE || g->kind == TACHO_EVENT_CACHE)
		err = add_hardware(p, g, word, terms);
	else
		err = add_generic(p, g, NULL, terms, true, &ev);
	if (err < 0 || !terms)
		return err;
	return term_refuse_rest(p, terms, g->kind == TACHO_EVENT_SOFTWARE ? "a software event" :
				g->kind == TACHO_EVENT_TOOL ? "a tool event" : "a hardware event");
}

/* Merges the counts of all instances of a PMU (uncore_imc_0, uncore_imc_1 ...). */
void resolve_merge_instance(struct event_parser *p, size_t first, const struct pmu *pmu)
{
	size_t last = p->list->n - 1;
	struct str stem = pmu_stem(str_of(pmu->name));

	for (size_t i = first; !pmu->core && i < last; i++)
		if (str_eq(stem, pmu_stem(str_of(p->list->v[i].pmu)))) {
			p->list->v[last].merge = p->list->v[i].merge;
			return;
		}
}

/* Selects PMUs: returns 1, 0, or -ENOMEM. */
typedef int (*wanted_fn)(struct event_parser *p, struct str word, struct pmu *pmu);

/* Adds an event on each PMU that `wanted` selects. Errors of single PMUs are ignored if the event can be
 * added on another one: a pattern may match PMUs without that event. Returns 1, 0 if no PMU was
 * selected, or the first error. */
static int add_on_all(struct event_parser *p, wanted_fn wanted, struct str word, struct term_list *terms)
{
	struct tacho_error first_error = { 0 }, now, *e = p->e;
	const struct pmu_list *all;
	size_t first = p->list->n;
	int err = pmu_all(p->t, &all), first_err = 0;

	for (size_t i = 0; err >= 0 && i < all->n; i++) {
		size_t before = p->list->n;

		err = wanted(p, word, all->v[i]);
		if (err <= 0)
			continue;
		p->e = &now;
		err = pmu_event_add(p, all->v[i], terms);
		p->e = e;
		if (err >= 0) {
			resolve_merge_instance(p, first, all->v[i]);
			continue;
		}
		parse_drop(p->list, before);
		if (!first_err) {
			first_err = err;
			first_error = now;
		}
		if (err != -ENOMEM && err != -E2BIG)
			err = 0;
	}
	if (err == -ENOMEM)
		return error_nomem(e);
	if (err >= 0 && p->list->n > first)
		return 1;
	if (first_err && e)
		*e = first_error;
	return err < 0 ? err : first_err;
}

static int wanted_by_name(struct event_parser *p, struct str word, struct pmu *pmu)
{
	(void)p;
	return pmu_matches(word, str_of(pmu->name));
}

static int wanted_core(struct event_parser *p, struct str word, struct pmu *pmu)
{
	int err = pmu_load(p->t, pmu);

	(void)word;
	return err == -ENOMEM ? err : err >= 0 && pmu->core;
}

static int wanted_by_event(struct event_parser *p, struct str word, struct pmu *pmu)
{
	struct pmu_alias alias;
	int err = pmu_alias(p->t, pmu, word, &alias);

	return err == -ENOMEM ? err : err > 0;
}

/* Adds an event, given without a PMU, on all PMUs that have it. Returns 1, 0 if none has it, or an error. */
static int add_by_event(struct event_parser *p, struct str word, struct term_list *terms)
{
	if (str_has_glob(word))
		return 0;
	if (term_list_push_front(terms, word) < 0)
		return error_nomem(p->e);
	return add_on_all(p, wanted_by_event, word, terms);
}

/* Adds one of the kernel's topdown-* events for an Intel PERF_METRICS name. */
static int add_topdown(struct event_parser *p, const char *name)
{
	scoped(term_list_done) struct term_list terms = { 0 };

	return add_by_event(p, str_of(name), &terms);
}

/* Adds a hint for an unknown name: it may be a PMU or a tracepoint system, or a similar name exists. */
static void hint_word(struct event_parser *p, struct str word)
{
	struct name_guess g = GUESS(word);
	struct pmu *pmu;

	if (pmu_find(p->t, word, &pmu) > 0) {
		error_hint(p->e, "'%.*s' is a PMU; write %.*s/event/", SHOW(word), SHOW(word));
		return;
	}
	if (tracepoint_has_system(p->t, word)) {
		error_hint(p->e, "'%.*s' is a group of tracepoints; write %.*s:NAME or %.*s:*",
			   SHOW(word), SHOW(word), SHOW(word));
		return;
	}
	generic_guess(&g);
	pmu_guess(p->t, &g);
	vendor_guess(p->t, &g);
	if (g.near.distance != 1)
		tracepoint_guess(p->t, &g);
	if (g.best[0])
		error_hint(p->e, "did you mean '%s'?", g.best);
	else
		error_hint(p->e, "`tacho list` shows every event there is");
}

static int refuse_word(struct event_parser *p, struct str word)
{
	error_set(p->e, -ENOENT, "no event is called '%.*s'", SHOW(word));
	if (p->e)
		hint_word(p, word);
	return parse_refuse(p, -ENOENT, word);
}

int resolve_word(struct event_parser *p, struct str word)
{
	scoped(term_list_done) struct term_list terms = { 0 };
	struct generic g;
	bool found = find_generic(word, &g);
	int err;

	if (found && g.tool != TOOL_SLOTS)
		return add_found(p, &g, word, NULL);
	err = add_by_event(p, word, &terms);
	if (err)
		return err < 0 ? err : 0;
	if (found || generic_find_alumet(word, &g))
		return add_found(p, &g, word, NULL);
	err = resolve_listed(p, word, NULL);
	if (!err && vendor_topdown(word))
		err = add_topdown(p, vendor_topdown(word));
	if (!err)
		err = resolve_pfm(p, word, false);
	return err < 0 ? err : err ? 0 : refuse_word(p, word);
}

static int refuse_table_term(struct event_parser *p, struct str word, const struct term *term)
{
	struct name_guess g = GUESS(term->key);

	generic_guess(&g);
	error_set(p->e, -EINVAL, "PMU %.*s has no event '%.*s'", SHOW(word), SHOW(term->key));
	if (g.best[0])
		error_hint(p->e, "did you mean '%s'?", g.best);
	return parse_refuse(p, -EINVAL, term->where);
}

/* Adds events of PMUs that are in the generic tables: software/cs,name=foo/, tool/duration_time/. The first
 * term that has no value and is not a common term must be an event. */
static int add_table_pmu(struct event_parser *p, struct str word, struct term_list *terms,
			 bool (*find)(struct str, struct generic *), struct generic g)
{
	struct event *ev;
	bool named = false;
	int err;

	for (size_t i = 0; i < terms->n && !named; i++) {
		struct term *term = &terms->v[i];

		if (term->has_value || term->driver || term_is_fixed(term->key))
			continue;
		named = find(term->key, &g) ||
			(g.kind == TACHO_EVENT_SOFTWARE && term->key.s[0] == 'r' &&
			 num_hex(str_n(term->key.s + 1, term->key.n - 1), &g.config) == 0);
		term->used = named;
		if (!named)
			return refuse_table_term(p, word, term);
	}
	if (g.kind == TACHO_EVENT_TOOL && !named) {
		error_set(p->e, -EINVAL, "tool/.../ needs the name of a tool event");
		error_hint(p->e, "for example tool/duration_time/");
		return parse_refuse(p, -EINVAL, word);
	}
	err = add_generic(p, &g, NULL, terms, named, &ev);
	return err < 0 ? err : term_refuse_rest(p, terms, ev->pmu);
}

/* Adds a hint that this machine lacks the tracing unit, if the name is that of one. */
static bool hint_tracer(struct event_parser *p, struct str word)
{
	static const struct { const char *pmu, *what; } tracers[] = {
		{ "intel_pt", "Intel Processor Trace" }, { "intel_bts", "Intel Branch Trace Store" },
		{ "arm_spe", "Arm's Statistical Profiling Extension" },
		{ "cs_etm", "Arm CoreSight tracing" }, { "hisi_ptt", "HiSilicon PCIe tracing" },
	};

	for (size_t i = 0; i < countof(tracers); i++)
		if (str_starts(word, tracers[i].pmu)) {
			error_hint(p->e, "this machine has no %s, or its hypervisor does not show it",
				   tracers[i].what);
			return true;
		}
	return false;
}

static int refuse_pmu(struct event_parser *p, struct str word)
{
	struct name_guess g = GUESS(word);

	error_set(p->e, -ENOENT, str_has_glob(word) ? "no PMU matches '%.*s'" :
		  "no PMU and no event is called '%.*s'", SHOW(word));
	if (p->e && !hint_tracer(p, word)) {
		generic_guess(&g);
		guess_try(&g, STR_LIT("cpu"));
		pmu_guess(p->t, &g);
		if (g.best[0])
			error_hint(p->e, "did you mean '%s'?", g.best);
		else
			error_hint(p->e, "`tacho list pmu` shows the events of every PMU");
	}
	return parse_refuse(p, -ENOENT, word);
}

/* Adds events on the PMUs named before the slash. Returns 1, 0 if there is no such PMU, or an error. */
static int add_by_pmu(struct event_parser *p, struct str word, struct term_list *terms)
{
	struct pmu *pmu;
	int err = pmu_find(p->t, word, &pmu);

	if (err < 0)
		return error_nomem(p->e);
	if (err > 0) {
		err = pmu_event_add(p, pmu, terms);
		return err < 0 ? err : 1;
	}
	err = add_on_all(p, wanted_by_name, word, terms);
	if (err || !str_is(word, "cpu"))
		return err;
	err = add_on_all(p, wanted_core, word, terms);
	if (err)
		return err;
	err = pmu_event_add(p, &no_cpu, terms);
	return err < 0 ? err : 1;
}

int resolve_terms(struct event_parser *p, struct str word, struct term_list *terms)
{
	static const struct generic software = { .kind = TACHO_EVENT_SOFTWARE, .unit = "",
						 .type = PERF_TYPE_SOFTWARE, .scale = 1 };
	static const struct generic tool = { .kind = TACHO_EVENT_TOOL, .unit = "",
					     .type = TOOL_TYPE, .scale = 1 };
	struct generic g;
	int err;

	if (str_is(word, "software"))
		return add_table_pmu(p, word, terms, generic_find_software, software);
	if (str_is(word, "tool"))
		return add_table_pmu(p, word, terms, generic_find_tool, tool);
	if (find_generic(word, &g))
		return add_found(p, &g, word, terms);
	err = add_by_pmu(p, word, terms);
	if (err == 0)
		err = add_by_event(p, word, terms);
	if (err)
		return err < 0 ? err : 0;
	/* Remove the term that add_by_event() has inserted. */
	if (terms->n && terms->v[0].key.s == word.s && !terms->v[0].has_value)
		term_list_drop_front(terms);
	if (generic_find_alumet(word, &g))
		return add_found(p, &g, word, terms);
	err = resolve_listed(p, word, terms);
	return err < 0 ? err : err ? 0 : refuse_pmu(p, word);
}

int resolve_number(struct event_parser *p, uint32_t type, uint64_t config, struct term_list *terms)
{
	const char *pmu = type == PERF_TYPE_SOFTWARE ? "software" :
			  type == PERF_TYPE_TRACEPOINT ? "tracepoint" :
			  type == PERF_TYPE_BREAKPOINT ? "breakpoint" : "cpu";
	struct event *ev;
	int err = parse_add(p, TACHO_EVENT_RAW, pmu, &ev);

	if (err < 0)
		return err;
	ev->attr.type = type;
	ev->attr.config = config;
	err = term_apply_fixed(p, terms, ev);
	return err < 0 ? err : term_refuse_rest(p, terms, "a raw event");
}

bool resolve_knows(struct str word)
{
	struct generic g;

	return find_generic(word, &g) || generic_find_alumet(word, &g);
}
