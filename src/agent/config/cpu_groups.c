/*
 * Parser of collectd's option Cores. It accepts exactly what collectd accepts, including oddities
 * that existing files rely on: octal numbers, text after a closing bracket, long strings that are
 * cut. Ignored parts are noted.
 */
#include "agent/config/cpu_groups.h"

#include <errno.h>
#include <stdio.h>

#include "base/cpuset.h"
#include "base/error.h"
#include "base/vec.h"

/* State of parsing one string. */
struct cpu_group_parser {
	struct str text;
	size_t at;
	struct cpu_group *group;	/* the CPUs in order, without duplicates */
	size_t cap;
	struct cpuset seen;
	struct tacho_error *e;
};

static int syntax_error(struct cpu_group_parser *s, size_t at, const char *why)
{
	error_set(s->e, -EINVAL, "'%.*s' is not a list of CPUs: %s", (int)min_of(s->text.n, (size_t)60),
		  s->text.s, why);
	error_at(s->e, at, 1);
	return -EINVAL;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Parses a number like strtoul() with base 0: leading blanks, 0x for hexadecimal, 0 for octal. */
static int parse_number(struct cpu_group_parser *s, struct str item, size_t *at, long *out)
{
	size_t from, begin = (size_t)(item.s - s->text.s);
	int radix = 10;
	long v = 0;

	while (*at < item.n && (item.s[*at] == ' ' || (item.s[*at] >= '\t' && item.s[*at] <= '\r')))
		++*at;
	from = *at;
	if (item.n - *at > 2 && item.s[*at] == '0' && (item.s[*at + 1] | 32) == 'x' &&
	    digit_of(item.s[*at + 2]) < 16) {
		radix = 16;
		*at += 2;
	} else if (*at < item.n && item.s[*at] == '0') {
		radix = 8;
	}
	for (; *at < item.n && digit_of(item.s[*at]) < radix; ++*at) {
		v = v * radix + digit_of(item.s[*at]);
		if (v >= CPUSET_MAX)
			return syntax_error(s, begin + from, "the number is too large");
	}
	if (*at == from)
		return syntax_error(s, begin + from, "a number is missing");
	*out = v;
	return 0;
}

static int add_cpu(struct cpu_group_parser *s, int cpu)
{
	struct cpu_group *g = s->group;
	void *v = g->cpus;

	if (cpuset_has(&s->seen, cpu))
		return 0;
	if (g->n_cpus == CPU_GROUPS_MAX)
		return 1;
	if (cpuset_add(&s->seen, cpu) || !vec_reserve_one_(&v, g->n_cpus, &s->cap, sizeof(*g->cpus)))
		return error_nomem(s->e);
	g->cpus = v;
	g->cpus[g->n_cpus++] = cpu;
	return 0;
}

/* Returns 1 if the list had more than CPU_GROUPS_MAX CPUs. */
static int parse_item(struct cpu_group_parser *s, struct str item)
{
	size_t at = 0, begin = (size_t)(item.s - s->text.s);
	long from, to;
	int err = parse_number(s, item, &at, &from);

	if (err)
		return err;
	to = from;
	if (at < item.n && item.s[at] == '-') {
		at++;
		err = parse_number(s, item, &at, &to);
		if (err)
			return err;
	}
	if (at < item.n)
		return syntax_error(s, begin + at, item.s[at] == ' ' ? "a blank after a number" :
								  "expected a digit, ',' or '-'");
	for (long cpu = min_of(from, to); cpu <= max_of(from, to) && !err; cpu++)
		err = add_cpu(s, (int)cpu);
	return err;
}

static int parse_list(struct cpu_group_parser *s, struct str list, struct cpu_groups *out)
{
	struct str item;
	int err = 0;

	while (err == 0 && str_cut(&list, ',', &item))
		if (item.n)
			err = parse_item(s, item);
	if (err == 1) {
		char note[128];

		snprintf(note, sizeof(note), "Cores: only the first %d CPUs of a list are used",
			 CPU_GROUPS_MAX);
		err = strlist_add(&out->notes, str_of(note)) ? error_nomem(s->e) : 0;
	}
	if (!err && !s->group->n_cpus)
		return syntax_error(s, 0, "the list is empty");
	return err;
}

static int add_group(struct cpu_groups *out, struct str label, const int *cpus, size_t n,
		     struct tacho_error *e)
{
	struct cpu_group *g = vec_add(out);

	if (!g)
		return error_nomem(e);
	g->label = str_dup(label);
	g->cpus = calloc(n, sizeof(*g->cpus));
	if (!g->label || !g->cpus)
		return error_nomem(e);
	memcpy(g->cpus, cpus, n * sizeof(*cpus));
	g->n_cpus = n;
	return 0;
}

static int add_single(struct cpu_groups *out, int cpu, struct tacho_error *e)
{
	char label[16];

	snprintf(label, sizeof(label), "%d", cpu);
	return add_group(out, str_of(label), &cpu, 1, e);
}

static int add_singles(struct cpu_groups *out, const struct cpu_group *cpus, struct tacho_error *e)
{
	int err = 0;

	for (size_t i = 0; i < cpus->n_cpus && !err; i++)
		err = add_single(out, cpus->cpus[i], e);
	return err;
}

static int truncate_list(struct cpu_group_parser *s, struct str *list, struct cpu_groups *out)
{
	char note[200];

	if (list->n <= CPU_GROUPS_TEXT_MAX)
		return 0;
	list->n = CPU_GROUPS_TEXT_MAX;
	snprintf(note, sizeof(note), "Cores: only the first %d characters of a string are used",
		 CPU_GROUPS_TEXT_MAX);
	return strlist_add(&out->notes, str_of(note)) ? error_nomem(s->e) : 0;
}

static int parse_string(struct cpu_group_parser *s, struct cpu_groups *out)
{
	size_t blanks = 0;
	struct str list = s->text;
	ptrdiff_t end;
	int err;

	while (blanks < list.n && (list.s[blanks] == ' ' || list.s[blanks] == '\t'))
		blanks++;
	if (blanks < list.n && list.s[blanks] == '[') {
		list = str_n(list.s + blanks + 1, list.n - blanks - 1);
		end = str_find(list, ']');
		if (end < 0)
			return syntax_error(s, s->text.n, "']' is missing");
		err = parse_list(s, str_n(list.s, (size_t)end), out);
		return err ? err : add_singles(out, s->group, s->e);
	}
	err = truncate_list(s, &list, out);
	if (!err)
		err = parse_list(s, list, out);
	return err ? err : add_group(out, s->text, s->group->cpus, s->group->n_cpus, s->e);
}

static int add_every_cpu(struct cpu_groups *out, int n_cpus, struct tacho_error *e)
{
	int err = 0;

	if (n_cpus > CPU_GROUPS_MAX) {
		error_set(e, -EINVAL,
			  "Cores \"\" supports at most %d CPUs, and this machine has %d",
			  CPU_GROUPS_MAX, n_cpus);
		error_hint(e, "list the CPUs, or use per = \"cpu\" in a tacho.toml");
		return -EINVAL;
	}
	for (int cpu = 0; cpu < n_cpus && !err; cpu++)
		err = add_single(out, cpu, e);
	return err;
}

/* No CPU may be in two groups, and each must exist. */
static int check_groups(const struct cpu_groups *out, int n_cpus, struct tacho_error *e)
{
	struct cpuset seen = { 0 };
	int err = 0;

	for (size_t i = 0; i < out->n && !err; i++)
		for (size_t c = 0; c < out->v[i].n_cpus && !err; c++) {
			int cpu = out->v[i].cpus[c];

			if (n_cpus && cpu >= n_cpus)
				err = error_set(e, -ERANGE,
						"there is no CPU %d: the last one is %d", cpu,
						n_cpus - 1);
			else if (cpuset_has(&seen, cpu))
				err = error_set(e, -EEXIST, "CPU %d is in two groups of one Cores",
						cpu);
			else if (cpuset_add(&seen, cpu))
				err = error_nomem(e);
		}
	cpuset_done(&seen);
	return err;
}

static int parse_strings(struct cpu_groups *out, const struct str *words, size_t n, int n_cpus,
			 struct tacho_error *e)
{
	if (n == 0 || (n == 1 && !words[0].n))
		return add_every_cpu(out, n_cpus, e);
	if (n > CPU_GROUPS_MAX)
		return error_set(e, -EINVAL, "Cores has more than %d strings", CPU_GROUPS_MAX);
	for (size_t i = 0; i < n; i++) {
		struct cpu_group cpus = { 0 };
		struct cpu_group_parser s = { .text = words[i], .group = &cpus, .e = e };
		int err;

		out->bad = i;
		if (words[i].n)
			err = parse_string(&s, out);
		else
			err = error_set(e, -EINVAL, "an empty string must be the only value of Cores");
		free(cpus.cpus);
		cpuset_done(&s.seen);
		if (err)
			return err;
	}
	return check_groups(out, n_cpus, e);
}

int cpu_groups_parse(struct cpu_groups *out, const struct str *words, size_t n, int n_cpus,
		     struct tacho_error *e)
{
	int err;

	*out = (struct cpu_groups){ 0 };
	err = parse_strings(out, words, n, n_cpus, e);
	if (err) {
		size_t bad = out->bad;

		cpu_groups_done(out);
		out->bad = bad;
	}
	return err;
}

void cpu_group_array_free(struct cpu_group *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].label);
		free(v[i].cpus);
	}
	free(v);
}

void cpu_groups_done(struct cpu_groups *c)
{
	cpu_group_array_free(c->v, c->n);
	strlist_done(&c->notes);
	*c = (struct cpu_groups){ 0 };
}
