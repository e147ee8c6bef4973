/*
 * Resolves pmu/terms/ with the PMU's format/ and events/ directories. Values are OR'ed into the config
 * words in order, as perf does. An event's name is replaced by the terms in its file. If the file has a
 * term with the value `?`, the user must give a term with the same key.
 */
#include "event/parse.h"

#include <errno.h>

#include "base/num.h"

struct pmu_event {
	struct event_parser *p;
	struct pmu *pmu;
	struct term_list *terms;
	struct event *ev;
	struct str alias;		/* event name among the terms; empty: none */
};

static void set_bits(struct event *ev, const struct pmu_format *f, uint64_t value)
{
	uint64_t bits = format_spread(f, value);

	switch (f->word) {
	case 0: ev->attr.config |= bits; break;
	case 1: ev->attr.config1 |= bits; break;
	case 2: ev->attr.config2 |= bits; break;
	case 3: ev->attr.config3 |= bits; break;
	default: ev->attr.config4 |= bits; break;
	}
}

static int refuse_format(struct pmu_event *x, struct str key, int err, struct str where)
{
	error_set(x->p->e, err, "cannot read the format of '%.*s' of PMU %s", SHOW(key),
		  x->pmu->name);
	return parse_refuse(x->p, err, where);
}

static int set_format(struct pmu_event *x, struct str key, const struct pmu_format *f,
		      uint64_t value, struct str where)
{
	unsigned width = format_width(f);

	if (width < 64 && value >> width) {
		error_set(x->p->e, -EINVAL, "0x%llx is too large: the term '%.*s' of PMU %s has %u bit%s",
			  (unsigned long long)value, SHOW(key), x->pmu->name, width,
			  width == 1 ? "" : "s");
		error_hint(x->p->e, "the largest value is 0x%llx", (1ULL << width) - 1);
		return parse_refuse(x->p, -EINVAL, where);
	}
	set_bits(x->ev, f, value);
	return 0;
}

/* Finds the user's value for a term whose value is `?` in the event's file. */
static int find_parameter(struct pmu_event *x, struct str key, struct str where, uint64_t *out)
{
	for (size_t i = 0; i < x->terms->n; i++) {
		struct term *term = &x->terms->v[i];

		if (!str_eq(term->key, key) || !term->has_value)
			continue;
		term->used = true;
		return term_number(x->p, term, out);
	}
	error_set(x->p->e, -EINVAL, "the event '%.*s' of PMU %s needs a value for '%.*s'", SHOW(where),
		  x->pmu->name, SHOW(key));
	error_hint(x->p->e, "write %s/%.*s,%.*s=.../", x->pmu->name, SHOW(where), SHOW(key));
	return parse_refuse(x->p, -EINVAL, where);
}

/* Returns the format of a whole config word if the key is config, config1 ... or config4. */
static bool config_word(struct str key, struct pmu_format *out)
{
	if (!str_starts(key, "config") || key.n > 7 ||
	    (key.n == 7 && (key.s[6] < '1' || key.s[6] > '4')))
		return false;
	*out = (struct pmu_format){ .word = key.n == 7 ? (uint8_t)(key.s[6] - '0') : 0,
				    .mask = UINT64_MAX };
	return true;
}

static int refuse_description(struct pmu_event *x, struct str text, struct str where)
{
	error_set(x->p->e, -EINVAL, "sysfs describes '%.*s' of PMU %s as '%.*s', which cannot be parsed",
		  SHOW(where), x->pmu->name, SHOW(text));
	return parse_refuse(x->p, -EINVAL, where);
}

static int alias_term(struct pmu_event *x, struct str text, struct str where)
{
	struct str rest = text, key;
	struct pmu_format f;
	uint64_t value = 1;
	int err;

	str_cut(&rest, '=', &key);
	key = str_trim(key);
	rest = str_trim(rest);
	if (str_is(key, "period"))	/* recommended sampling period */
		return 0;
	err = config_word(key, &f) ? 1 : pmu_format(x->p->t, x->pmu, key, &f);
	if (err < 0)
		return refuse_format(x, key, err, where);
	if (err == 0)
		return refuse_description(x, text, where);
	if (str_is(rest, "?"))
		err = find_parameter(x, key, where, &value);
	else if (rest.s && num_u64(rest, &value) < 0)
		return refuse_description(x, text, where);
	return err < 0 ? err : set_format(x, key, &f, value, where);
}

static int use_alias(struct pmu_event *x, struct term *term, const struct pmu_alias *alias)
{
	struct str rest = str_of(alias->terms), one;

	if (x->alias.n) {
		error_set(x->p->e, -EINVAL, "'%.*s' and '%.*s' are two events; only one can be given between "
			  "slashes", SHOW(x->alias), SHOW(term->key));
		error_hint(x->p->e, "write %s/%.*s/,%s/%.*s/", x->pmu->name, SHOW(x->alias),
			   x->pmu->name, SHOW(term->key));
		return parse_refuse(x->p, -EINVAL, term->where);
	}
	x->alias = term->key;
	while (str_cut(&rest, ',', &one)) {
		int err = str_trim(one).n ? alias_term(x, str_trim(one), term->where) : 0;

		if (err < 0)
			return err;
	}
	x->ev->scale = alias->scale;
	if (alias->unit[0]) {
		x->ev->unit = parse_str(x->p, str_of(alias->unit));
		if (!x->ev->unit)
			return -ENOMEM;
	}
	x->ev->flags |= (alias->per_pkg ? EVENT_PER_PKG : 0) | (alias->snapshot ? EVENT_SNAPSHOT : 0);
	return 0;
}

/* Applies a generic name between slashes: cpu/cycles/, software/cs/. Returns 1 if the term is one. */
static int use_generic(struct pmu_event *x, struct term *term)
{
	const struct pmu_list *cores;
	struct generic g;
	int err;

	if (x->pmu->type == PERF_TYPE_SOFTWARE && generic_find_software(term->key, &g)) {
		x->ev->kind = g.kind;
		x->ev->attr.config = g.config;
		return 1;
	}
	if (!x->pmu->core || !generic_find_hardware(term->key, &g))
		return 0;
	err = pmu_cores(x->p->t, &cores);
	if (err < 0)
		return error_nomem(x->p->e);
	x->ev->kind = g.kind;
	x->ev->attr.type = g.type;
	x->ev->attr.config = g.config;
	if (cores->n > 1)
		x->ev->attr.config |= (uint64_t)x->pmu->type << 32;
	return 1;
}

/* Applies a raw config, r1a or r0x1a. Returns 1 if the term is one. */
static int use_raw(struct pmu_event *x, struct term *term)
{
	uint64_t config;

	if (term->key.s[0] != 'r' || num_hex(str_n(term->key.s + 1, term->key.n - 1), &config) < 0)
		return 0;
	x->ev->attr.config |= config;
	return 1;
}

/* Applies an event of a vendor's list for this PMU. Returns 1 if the term is one. */
static int use_listed(struct pmu_event *x, struct term *term)
{
	struct pmu_alias alias = { 0 };
	struct vendor_slashed listed = { 0 };
	int err = vendor_slashed(x->p, x->pmu, term->key, &listed);

	if (err > 0 && listed.terms.n < sizeof(alias.terms)) {
		memcpy(alias.terms, listed.terms.bytes, listed.terms.n);
		memcpy(alias.unit, listed.unit, sizeof(alias.unit));
		alias.scale = listed.scale;
		alias.per_pkg = listed.per_pkg;
		err = use_alias(x, term, &alias);
		err = err < 0 ? err : 1;
	}
	buf_done(&listed.terms);
	return err;
}

static int refuse_term(struct pmu_event *x, const struct term *term)
{
	struct event_parser *p = x->p;
	struct name_guess g = GUESS(term->key);
	struct buf names = { 0 };

	pmu_format_names(p->t, x->pmu, &names, &g);
	term_fixed_names(p, &names, &g);
	error_set(p->e, -EINVAL, "PMU %s has no %s '%.*s'; it has %s", x->pmu->name,
		  term->has_value ? "term" : "event or term", SHOW(term->key),
		  names.bytes ? names.bytes : "none");
	if (g.best[0])
		error_hint(p->e, "did you mean '%s'?", g.best);
	buf_done(&names);
	return parse_refuse(p, -EINVAL, str_n(term->where.s, min_of(term->where.n, term->key.n)));
}

static int use_format(struct pmu_event *x, struct term *term, const struct pmu_format *f)
{
	uint64_t value;
	int err;

	if (!term->has_value && format_width(f) > 1) {
		error_set(x->p->e, -EINVAL, "the term '%.*s' of PMU %s needs a value: %.*s=...",
			  SHOW(term->key), x->pmu->name, SHOW(term->key));
		return parse_refuse(x->p, -EINVAL, term->where);
	}
	err = term_number(x->p, term, &value);
	return err < 0 ? err : set_format(x, term->key, f, value, term->where);
}

static int use_term(struct pmu_event *x, struct term *term)
{
	struct pmu_alias alias;
	struct pmu_format f;
	int err = 0;

	if (!term->has_value) {
		err = pmu_alias(x->p->t, x->pmu, term->key, &alias);
		if (err > 0)
			return use_alias(x, term, &alias);
		if (err == 0)
			err = use_generic(x, term);
	}
	if (err == 0) {
		err = pmu_format(x->p->t, x->pmu, term->key, &f);
		if (err > 0)
			return use_format(x, term, &f);
	}
	if (err == 0 && !term->has_value)
		err = use_raw(x, term);
	if (err == 0 && !term->has_value) {
		err = use_listed(x, term);
		if (err < 0)
			return err;
	}
	if (err == 0 && !term->used)
		return refuse_term(x, term);
	if (err < 0)
		return refuse_format(x, term->key, err, term->where);
	return 0;
}

int pmu_event_set_cpus(struct event_parser *p, const struct pmu *pmu, struct event *ev)
{
	const struct pmu_list *cores;

	if (pmu->uncore)
		ev->flags |= EVENT_UNCORE;
	if (!cpuset_empty(&ev->cpus) || (!pmu->uncore && !pmu->core))
		return 0;
	if (pmu->core && (pmu_cores(p->t, &cores) < 0 || cores->n < 2))
		return 0;
	return cpuset_copy(&ev->cpus, &pmu->cpus) < 0 ? error_nomem(p->e) : 0;
}

int pmu_event_add(struct event_parser *p, struct pmu *pmu, struct term_list *terms)
{
	struct pmu_event x = { .p = p, .pmu = pmu, .terms = terms };
	int err = pmu_load(p->t, pmu);

	if (err < 0)
		return error_set(p->e, err, "cannot read the PMU %s in sysfs", pmu->name);
	err = parse_add(p, TACHO_EVENT_PMU, pmu->name, &x.ev);
	if (err < 0)
		return err;
	x.ev->attr.type = pmu->type;
	for (size_t i = 0; i < terms->n; i++)
		terms->v[i].used = false;
	err = term_apply_fixed(p, terms, x.ev);
	for (size_t i = 0; err >= 0 && i < terms->n; i++)
		if (!terms->v[i].driver && !term_is_fixed(terms->v[i].key))
			err = use_term(&x, &terms->v[i]);
	return err < 0 ? err : pmu_event_set_cpus(p, pmu, x.ev);
}
