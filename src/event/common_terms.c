/*
 * The terms that every event accepts (name, period, cpu ...), one row each: the kind of value, whether the
 * term is allowed when only counting, and the function that applies it to the event.
 */
#include "event/parse.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "record/branch_type.h"
#include "base/num.h"

enum value_kind { VALUE_NUMBER, VALUE_SWITCH, VALUE_STRING };

struct fixed_row {
	const char *key;
	enum value_kind kind;
	bool counting;			/* allowed when only counting */
	int (*apply)(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n);
};

static int refuse_value(struct event_parser *p, const struct term *term)
{
	return parse_refuse(p, -EINVAL, term->value.n ? term->value : term->where);
}

static int copy_value(struct event_parser *p, const struct term *term, const char **out)
{
	*out = parse_str(p, term->value);
	return *out ? 0 : -ENOMEM;
}

static int check_limit(struct event_parser *p, const struct term *term, uint64_t n, uint64_t max)
{
	if (n <= max)
		return 0;
	error_set(p->e, -EINVAL, "%.*s may be at most %llu", SHOW(term->key), (unsigned long long)max);
	return refuse_value(p, term);
}

/* Refuses config terms for tracepoints and breakpoints, whose config words contain their id and address. */
static int check_config_allowed(struct event_parser *p, const struct event *ev, const struct term *term)
{
	const char *kind = ev->kind == TACHO_EVENT_TRACEPOINT ? "tracepoint" :
			   ev->kind == TACHO_EVENT_BREAKPOINT ? "breakpoint" :
			   ev->kind == TACHO_EVENT_TOOL	      ? "tool event" : NULL;

	if (!kind)
		return 0;
	error_set(p->e, -EINVAL, "%.*s cannot be set for a %s", SHOW(term->key), kind);
	return parse_refuse(p, -EINVAL, term->where);
}

static int apply_config(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	int err = check_config_allowed(p, ev, term);

	if (!err)
		ev->attr.config = n;
	return err;
}

static int apply_config1(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	int err = check_config_allowed(p, ev, term);

	if (!err)
		ev->attr.config1 = n;
	return err;
}

static int apply_config2(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	int err = check_config_allowed(p, ev, term);

	if (!err)
		ev->attr.config2 = n;
	return err;
}

static int apply_config3(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	int err = check_config_allowed(p, ev, term);

	if (!err)
		ev->attr.config3 = n;
	return err;
}

static int apply_config4(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	int err = check_config_allowed(p, ev, term);

	if (!err)
		ev->attr.config4 = n;
	return err;
}

static int apply_name(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	(void)n;
	return copy_value(p, term, &ev->name);
}

static int refuse_period_and_freq(struct event_parser *p, const struct term *term)
{
	error_set(p->e, -EINVAL, "an event has either a period or a freq, not both");
	return parse_refuse(p, -EINVAL, term->where);
}

static int apply_period(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	if (ev->terms.freq_given)
		return refuse_period_and_freq(p, term);
	ev->terms.period_given = true;
	/* When only counting, a period would cause needless interrupts. */
	if (!(p->flags & EVENT_FOR_STAT))
		ev->attr.sample_period = n;
	return check_limit(p, term, n, INT64_MAX);
}

static int apply_freq(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	if (ev->terms.period_given)
		return refuse_period_and_freq(p, term);
	ev->terms.freq_given = true;
	ev->attr.sample_freq = n;
	ev->attr.flags |= PERF_ATTR_FREQ;
	return check_limit(p, term, n, UINT32_MAX);
}

/* Returns whether every item of `list`, separated by '+' or ',', is in `words`. */
static bool all_known(struct str list, const char *const *words, size_t n_words)
{
	size_t start = 0;

	for (size_t i = 0; i <= list.n; i++) {
		bool known = false;

		if (i < list.n && list.s[i] != '+' && list.s[i] != ',')
			continue;
		for (size_t k = 0; k < n_words; k++)
			known |= str_is(str_n(list.s + start, i - start), words[k]);
		if (!known)
			return false;
		start = i + 1;
	}
	return true;
}

/* Converts a list of branch kinds, separated by '+' or ',', to bits. Returns 0 if one is unknown. */
static uint64_t parse_branch_kinds(struct str list)
{
	uint64_t bits = 0;
	size_t start = 0;

	for (size_t i = 0; i <= list.n; i++) {
		uint64_t bit;

		if (i < list.n && list.s[i] != '+' && list.s[i] != ',')
			continue;
		bit = branch_type_bit(str_n(list.s + start, i - start));
		if (!bit)
			return 0;
		bits |= bit;
		start = i + 1;
	}
	return branch_types_or_any(bits);
}

static int apply_branch_type(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	bool none = str_is(term->value, "no");

	(void)n;
	ev->terms.branches_given = true;
	ev->terms.branch_type = none ? 0 : parse_branch_kinds(term->value);
	if (none || ev->terms.branch_type)
		return 0;
	error_set(p->e, -EINVAL, "'%.*s' is not a kind of branch", SHOW(term->value));
	error_hint(p->e, "kinds are u k hv any any_call any_ret ind_call ind_jmp call cond abort_tx "
		   "in_tx no_tx save_type stack hw_index priv counter; several as 'any_call,u'");
	return refuse_value(p, term);
}

static int apply_call_graph(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	static const char *const kinds[] = { "fp", "dwarf", "lbr", "no" };

	(void)n;
	for (size_t i = 0; i < countof(kinds); i++)
		if (str_is(term->value, kinds[i]))
			return copy_value(p, term, &ev->terms.call_graph);
	error_set(p->e, -EINVAL, "call-graph cannot be '%.*s'", SHOW(term->value));
	error_hint(p->e, "use fp, dwarf, lbr or no");
	return refuse_value(p, term);
}

static int apply_aux_action(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	static const char *const kinds[] = { "start-paused", "pause", "resume" };

	(void)n;
	if (all_known(term->value, kinds, countof(kinds)))
		return copy_value(p, term, &ev->terms.aux_action);
	error_set(p->e, -EINVAL, "aux-action cannot be '%.*s'", SHOW(term->value));
	error_hint(p->e, "use start-paused, pause or resume");
	return refuse_value(p, term);
}

static int apply_stack_size(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	ev->terms.stack_size = (uint32_t)n;
	return check_limit(p, term, n, 65528);	/* the largest multiple of 8 in 16 bits */
}

static int apply_max_stack(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	ev->terms.max_stack = (uint32_t)n;
	return check_limit(p, term, n, UINT16_MAX);
}

static int apply_nr(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	ev->terms.nr = (uint32_t)n;
	return check_limit(p, term, n, UINT32_MAX);
}

static int apply_aux_sample_size(struct event_parser *p, struct event *ev, const struct term *term,
				 uint64_t n)
{
	ev->terms.aux_sample_size = (uint32_t)n;
	return check_limit(p, term, n, UINT16_MAX);
}

static int8_t on_off(uint64_t n)
{
	return n ? 1 : -1;
}

static int apply_time(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	(void)p, (void)term;
	ev->terms.time = on_off(n);
	return 0;
}

static int apply_inherit(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	(void)p, (void)term;
	ev->terms.inherit = on_off(n);
	return 0;
}

static int apply_no_inherit(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	return apply_inherit(p, ev, term, !n);
}

static int apply_overwrite(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	(void)p, (void)term;
	ev->terms.overwrite = on_off(n);
	return 0;
}

static int apply_no_overwrite(struct event_parser *p, struct event *ev, const struct term *term,
			      uint64_t n)
{
	return apply_overwrite(p, ev, term, !n);
}

static int apply_percore(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	(void)p, (void)term;
	ev->flags &= ~EVENT_PERCORE;
	ev->flags |= n ? EVENT_PERCORE : 0;
	return 0;
}

static int apply_aux_output(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	(void)p, (void)term;
	ev->terms.aux_output = on_off(n);
	return 0;
}

static int apply_metric_id(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	(void)n;
	return copy_value(p, term, &ev->terms.metric_id);
}

static int apply_ratio(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	(void)n;
	if (num_double(term->value, &ev->terms.ratio_to_prev) == 0 && ev->terms.ratio_to_prev > 0 &&
	    isfinite(ev->terms.ratio_to_prev))
		return 0;
	error_set(p->e, -EINVAL, "ratio-to-prev needs a positive number, not '%.*s'",
		  SHOW(term->value));
	return refuse_value(p, term);
}

/* cpu=3, cpu=0-3, or cpu=PMU for the CPUs of a PMU; may be repeated. */
static int apply_cpu(struct event_parser *p, struct event *ev, const struct term *term, uint64_t n)
{
	struct pmu *pmu = NULL;
	int err = cpuset_parse(&ev->cpus, term->value);

	(void)n;
	if (err == 0)
		return 0;
	if (err == -ENOMEM)
		return error_nomem(p->e);
	err = err == -ERANGE ? 0 : pmu_find(p->t, term->value, &pmu);
	if (err > 0)
		err = pmu_load(p->t, pmu);
	if (err < 0)
		return error_set(p->e, err, "cannot read the PMU '%.*s' in sysfs", SHOW(term->value));
	if (!pmu) {
		error_set(p->e, -EINVAL, "'%.*s' is neither a CPU, a range of CPUs nor a PMU",
			  SHOW(term->value));
		return refuse_value(p, term);
	}
	for (int cpu = cpuset_next(&pmu->cpus, -1); cpu >= 0; cpu = cpuset_next(&pmu->cpus, cpu))
		if (cpuset_add(&ev->cpus, cpu) < 0)
			return error_nomem(p->e);
	return 0;
}

static const struct fixed_row rows[] = {
	{ "config", VALUE_NUMBER, true, apply_config },
	{ "config1", VALUE_NUMBER, true, apply_config1 },
	{ "config2", VALUE_NUMBER, true, apply_config2 },
	{ "config3", VALUE_NUMBER, true, apply_config3 },
	{ "config4", VALUE_NUMBER, true, apply_config4 },
	{ "name", VALUE_STRING, true, apply_name },
	{ "period", VALUE_NUMBER, true, apply_period },
	{ "percore", VALUE_SWITCH, true, apply_percore },
	{ "metric-id", VALUE_STRING, true, apply_metric_id },
	{ "cpu", VALUE_STRING, true, apply_cpu },
	{ "freq", VALUE_NUMBER, false, apply_freq },
	{ "branch_type", VALUE_STRING, false, apply_branch_type },
	{ "time", VALUE_SWITCH, false, apply_time },
	{ "call-graph", VALUE_STRING, false, apply_call_graph },
	{ "stack-size", VALUE_NUMBER, false, apply_stack_size },
	{ "max-stack", VALUE_NUMBER, false, apply_max_stack },
	{ "nr", VALUE_NUMBER, false, apply_nr },
	{ "inherit", VALUE_SWITCH, false, apply_inherit },
	{ "no-inherit", VALUE_SWITCH, false, apply_no_inherit },
	{ "overwrite", VALUE_SWITCH, false, apply_overwrite },
	{ "no-overwrite", VALUE_SWITCH, false, apply_no_overwrite },
	{ "aux-output", VALUE_SWITCH, false, apply_aux_output },
	{ "aux-action", VALUE_STRING, false, apply_aux_action },
	{ "aux-sample-size", VALUE_NUMBER, false, apply_aux_sample_size },
	{ "ratio-to-prev", VALUE_STRING, false, apply_ratio },
};

static const struct fixed_row *row_find(struct str key)
{
	for (size_t i = 0; i < countof(rows); i++)
		if (str_is(key, rows[i].key))
			return &rows[i];
	return NULL;
}

bool term_is_fixed(struct str key)
{
	return row_find(key) != NULL;
}

/* Checks and converts the term's value. A term without a value means 1. */
static int parse_term_value(struct event_parser *p, const struct fixed_row *row, const struct term *term,
		     uint64_t *n)
{
	int err;

	if (row->kind == VALUE_STRING) {
		if (term->has_value && term->value.n)
			return 0;
		error_set(p->e, -EINVAL, "the term '%s' needs a value: %s=...", row->key, row->key);
		return parse_refuse(p, -EINVAL, term->where);
	}
	err = term_number(p, term, n);
	if (err < 0 || row->kind == VALUE_NUMBER || *n <= 1)
		return err;
	error_set(p->e, -EINVAL, "%s is 0 or 1", row->key);
	return refuse_value(p, term);
}

static int apply_driver_config(struct event_parser *p, struct event *ev, const struct term *term)
{
	const char *before = ev->terms.driver_config;
	struct buf joined = { 0 };

	if (before) {
		buf_puts(&joined, before);
		buf_putc(&joined, ',');
	}
	buf_str(&joined, term->key);
	ev->terms.driver_config = buf_failed(&joined) ? NULL : parse_str(p, buf_view(&joined));
	buf_done(&joined);
	return ev->terms.driver_config ? 0 : error_nomem(p->e);
}

static int apply_row(struct event_parser *p, const struct fixed_row *row, struct event *ev,
		     const struct term *term)
{
	uint64_t n = 1;
	int err;

	if ((p->flags & EVENT_FOR_STAT) && !row->counting) {
		error_set(p->e, -EINVAL, "the term '%s' is for sampling and has no effect when counting",
			  row->key);
		return parse_refuse(p, -EINVAL, term->where);
	}
	err = parse_term_value(p, row, term, &n);
	return err < 0 ? err : row->apply(p, ev, term, n);
}

int term_apply_fixed(struct event_parser *p, struct term_list *l, struct event *ev)
{
	for (size_t i = 0; i < l->n; i++) {
		struct term *term = &l->v[i];
		const struct fixed_row *row = term->driver ? NULL : row_find(term->key);
		int err = 0;

		if (term->driver)
			err = apply_driver_config(p, ev, term);
		else if (row)
			err = apply_row(p, row, ev, term);
		if (err < 0)
			return err;
		term->used = term->used || term->driver || row;
	}
	return 0;
}

void term_fixed_names(const struct event_parser *p, struct buf *out, struct name_guess *g)
{
	for (size_t i = 0; i < countof(rows); i++) {
		if ((p->flags & EVENT_FOR_STAT) && !rows[i].counting)
			continue;
		buf_puts(out, out->n ? ", " : "");
		buf_puts(out, rows[i].key);
		guess_try(g, str_of(rows[i].key));
	}
}

int term_refuse_rest(struct event_parser *p, const struct term_list *l, const char *of)
{
	struct buf names = { 0 };
	const struct term *term = NULL;

	for (size_t i = 0; i < l->n && !term; i++)
		if (!l->v[i].used)
			term = &l->v[i];
	if (!term)
		return 0;

	struct name_guess g = GUESS(term->key);

	term_fixed_names(p, &names, &g);
	error_set(p->e, -EINVAL, "%s has no term '%.*s'; it has %s", of, SHOW(term->key),
		  names.bytes ? names.bytes : "none");
	if (g.best[0])
		error_hint(p->e, "did you mean '%s'?", g.best);
	buf_done(&names);
	return parse_refuse(p, -EINVAL, term->where);
}
