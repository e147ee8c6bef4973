/*
 * Converts formulas of vendors' files to expressions: aliases are replaced by event names and constants.
 *
 *	a / b * c	a: UOPS_RETIRED.MS:c1:e1, b: TOPDOWN.SLOTS:perf_metrics, c: SYSTEM_TSC_FREQ
 *	[UOPS_RETIRED.MS/cmask=1,edge=1/] / [slots] * (#system_tsc_freq)
 */
#include "event/metric.h"

#include <ctype.h>
#include <stdio.h>

#include "base/num.h"

static const struct { const char *name, *text; } constants[] = {
	{ "SYSTEM_TSC_FREQ", "(#system_tsc_freq)" },
	{ "DURATIONTIMEINMILLISECONDS", "(duration_time / 1e6)" },
	{ "DURATIONTIMEINSECONDS", "(duration_time / 1e9)" },
	{ "SOCKET_COUNT", "(#num_packages)" },
	{ "CHAS_PER_SOCKET", "(#chas_per_socket)" },
	{ "CORES_PER_SOCKET", "(#num_cores / #num_packages)" },
	{ "THREADS_PER_CORE", "(#num_cpus_online / #num_cores)" },
	{ "HYPERTHREADING_ON", "(#smt_on)" },
	{ "system.sockets[0].cpus.count * system.socket_count", "(#num_cpus_online)" },
	{ "TSC", "[msr/tsc/]" },
	/* The formulas expect the energy registers' units of 61 and 15.6 microjoules; the kernel's are finer. */
	{ "FREERUN_PKG_ENERGY_STATUS", "([power/energy-pkg/] * #[scale:power/energy-pkg/] * 1e6 / 61)" },
	{ "UNC_PKG_ENERGY_STATUS", "([power/energy-pkg/] * #[scale:power/energy-pkg/] * 1e6 / 61)" },
	{ "FREERUN_DRAM_ENERGY_STATUS", "([power/energy-ram/] * #[scale:power/energy-ram/] * 1e6 / 15.6)" },
};

static const char *constant_text(struct str name)
{
	for (size_t i = 0; i < countof(constants); i++)
		if (str_is(name, constants[i].name))
			return constants[i].text;
	return NULL;
}

/* ---- events and their qualifiers ---- */

/* Qualifiers that consist of a prefix and a number, and the corresponding terms. */
static const struct { const char *qualifier, *term; } terms[] = {
	{ "ocr_msr_val=", "offcore_rsp=" }, { "amt", "any=" }, { "eq", "eq=" }, { "c", "cmask=" },
	{ "e", "edge=" }, { "i", "inv=" }, { "u", "umask=" },
};

static bool is_number(struct str s)
{
	uint64_t ignored;

	return num_u64(s, &ignored) == 0;
}

static struct str skip_prefix(struct str s, const char *prefix)
{
	size_t n = strlen(prefix);

	return str_n(s.s + n, s.n - n);
}

static void put_term(struct buf *out, struct str q, bool uncore)
{
	uint64_t value;

	if (uncore && q.n > 1 && q.s[0] == 'c' && is_number(skip_prefix(q, "c"))) {	/* uncore PMUs call it thresh */
		buf_printf(out, "thresh=%.*s", STR(skip_prefix(q, "c")));
		return;
	}
	for (size_t i = 0; i < countof(terms); i++)
		if (str_starts(q, terms[i].qualifier) && is_number(skip_prefix(q, terms[i].qualifier))) {
			buf_printf(out, "%s%.*s", terms[i].term, STR(skip_prefix(q, terms[i].qualifier)));
			return;
		}
	/* An uncore filter has two 32-bit words; the second is the upper half of config1. */
	if (str_starts(q, "filter1=") && num_u64(skip_prefix(q, "filter1="), &value) == 0)
		buf_printf(out, "config1=0x%llx", (unsigned long long)value << 32);
	else if (str_starts(q, "filter0="))
		buf_printf(out, "config1=%.*s", STR(skip_prefix(q, "filter0=")));
	else
		buf_str(out, q);
}

struct qualified_event {
	struct str name;
	struct buf terms;
	char privilege[4];
	bool latency, one_unit, perf_metrics;
};

static void take_qualifier(struct qualified_event *e, struct str q)
{
	size_t n = strlen(e->privilege);

	if (str_is(q, "retire_latency")) {
		e->latency = true;
	} else if (str_is(q, "one_unit")) {
		e->one_unit = true;
	} else if (str_is(q, "perf_metrics")) {
		e->perf_metrics = true;
	} else if (str_ieq(q, STR_LIT("SUP")) || str_is(q, "k")) {
		e->privilege[min_of(n, 2u)] = 'k';
	} else if (str_ieq(q, STR_LIT("USER")) || str_ieq(q, STR_LIT("USR")) || str_is(q, "u")) {
		e->privilege[min_of(n, 2u)] = 'u';
	} else if (q.n) {
		if (e->terms.n)
			buf_putc(&e->terms, ',');
		put_term(&e->terms, q, str_starts(e->name, "UNC_"));
	}
}

static void put_bracketed(struct buf *out, const struct qualified_event *e)
{
	if (e->perf_metrics && str_is(e->name, "TOPDOWN.SLOTS"))
		buf_puts(out, "[slots");
	else
		buf_printf(out, "[%.*s", STR(e->name));
	if (e->terms.n)
		buf_printf(out, "/%s/%s", e->terms.bytes, e->privilege);
	else if (e->privilege[0])
		buf_printf(out, ":%s", e->privilege);
	buf_putc(out, ']');
}

static void put_event(struct buf *out, struct str text)
{
	struct qualified_event e = { 0 };
	const char *constant = constant_text(text);
	struct str rest = text, q;

	if (constant) {
		buf_puts(out, constant);
		return;
	}
	if (str_find(text, '/') >= 0) {		/* power/energy-pkg/: already in perf's syntax */
		buf_printf(out, "[%.*s]", STR(text));
		return;
	}
	str_cut(&rest, ':', &e.name);
	while (str_cut(&rest, ':', &q))
		take_qualifier(&e, q);
	if (e.latency) {
		buf_printf(out, "#[retire_latency:%.*s]", STR(e.name));
	} else if (e.one_unit) {		/* the count is the sum of all instances: take the mean */
		buf_putc(out, '(');
		put_bracketed(out, &e);
		buf_puts(out, " / source_count(");
		put_bracketed(out, &e);
		buf_puts(out, "))");
	} else {
		put_bracketed(out, &e);
	}
	if (buf_failed(&e.terms))
		out->bad = true;
	buf_done(&e.terms);
}

static void put_constant(struct buf *out, struct str name)
{
	const char *text = constant_text(name);
	double number;

	if (text)
		buf_puts(out, text);
	else if (num_double(name, &number) == 0)
		buf_str(out, name);
	else
		buf_printf(out, "#[%.*s]", STR(name));
}

/* ---- the formula ---- */

struct formula_scan {
	struct str rest;
	const struct metric_aliases *aliases;
	struct buf *out;
};

static struct str take_chars(struct formula_scan *s, size_t n)
{
	struct str head = str_n(s->rest.s, n);

	s->rest = str_n(s->rest.s + n, s->rest.n - n);
	return head;
}

/* Length of a number, including an exponent as in "1e9". */
static size_t number_length(struct str s)
{
	size_t n = 0;

	while (n < s.n && (isalnum((unsigned char)s.s[n]) || s.s[n] == '.' ||
			   (n && (s.s[n] == '-' || s.s[n] == '+') && (s.s[n - 1] | 32) == 'e')))
		n++;
	return n;
}

static size_t word_length(struct str s)
{
	size_t n = 0;

	while (n < s.n && (isalnum((unsigned char)s.s[n]) || s.s[n] == '_'))
		n++;
	return n;
}

static const struct metric_alias *find_alias(const struct metric_aliases *l, struct str word)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->v[i].alias, word))
			return &l->v[i];
	return NULL;
}

static void put_word(struct formula_scan *s, struct str word)
{
	const struct metric_alias *a = find_alias(s->aliases, word);
	bool indexed = a && str_starts(s->rest, "[0]");

	if (indexed)		/* [0]: the first socket; the count is the sum of all: take the mean */
		buf_putc(s->out, '(');
	if (!a)
		buf_str(s->out, constant_text(word) ? str_of(constant_text(word)) : word);
	else if (a->kind == ALIAS_EVENT)
		put_event(s->out, a->name);
	else if (a->kind == ALIAS_CONSTANT)
		put_constant(s->out, a->name);
	else
		buf_printf(s->out, "[%.*s]", STR(a->name));
	if (indexed) {
		buf_puts(s->out, " / #num_packages)");
		take_chars(s, 3);
	}
}

/* PerfSpect writes names in brackets; some of them are constants. */
static void put_bracket(struct formula_scan *s)
{
	ptrdiff_t end = str_find(s->rest, ']');
	struct str name = end > 0 ? str_n(s->rest.s + 1, (size_t)end - 1) : str_n("", 0);

	if (name.n && constant_text(name)) {
		buf_puts(s->out, constant_text(name));
		take_chars(s, (size_t)end + 1);
	} else {
		buf_str(s->out, take_chars(s, end > 0 ? (size_t)end + 1 : s->rest.n));
	}
}

bool metric_text_formula(struct buf *out, struct str formula, const struct metric_aliases *aliases)
{
	struct formula_scan s = { formula, aliases, out };

	while (s.rest.n && out->n <= METRIC_TEXT_MAX && !buf_failed(out)) {
		unsigned char c = (unsigned char)s.rest.s[0];

		if (isdigit(c))
			buf_str(out, take_chars(&s, number_length(s.rest)));
		else if (isalpha(c) || c == '_')
			put_word(&s, take_chars(&s, word_length(s.rest)));
		else if (c == '[')
			put_bracket(&s);
		else
			buf_str(out, take_chars(&s, 1));
	}
	return out->n <= METRIC_TEXT_MAX;
}
