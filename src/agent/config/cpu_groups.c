/*
 * The grammar of Cores. It is kept to the letter, oddities too (octal numbers, what follows a
 * bracket, long strings that are cut), because files rely on it; what an oddity leaves out is noted.
 */
#include "agent/config/cpu_groups.h"

#include <errno.h>
#include <stdio.h>

#include "base/cpuset.h"
#include "base/error.h"
#include "base/vec.h"

/* One string being read. */
struct cpu_group_parser {
	struct str text;
	size_t at;
	struct core_group *group;	/* the numbers, in order, each once */
	size_t cap;
	struct cpuset seen;
	struct tacho_error *e;
};

static int refuse(struct cpu_group_parser *s, size_t at, const char *why)
{
	error_set(s->e, -EINVAL, "'%.*s' is no list of CPUs: %s", (int)min_of(s->text.n, (size_t)60),
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

/* As strtoul() with base 0: blanks before it, 0x for hexadecimal, 0 for octal. */
static int number(struct cpu_group_parser *s, struct str item, size_t *at, long *out)
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
			return refuse(s, begin + from, "the number is too large");
	}
	if (*at == from)
		return refuse(s, begin + from, "a number is missing");
	*out = v;
	return 0;
}

static int add_cpu(struct cpu_group_parser *s, int cpu)
{
	struct core_group *g = s->group;
	void *v = g->cpus;

	if (cpuset_has(&s->seen, cpu))
		return 0;
	if (g->n_cpus == CORES_MAX)
		return 1;
	if (cpuset_add(&s->seen, cpu) || !vec_reserve_one_(&v, g->n_cpus, &s->cap, sizeof(*g->cpus)))
		return error_nomem(s->e);
	g->cpus = v;
	g->cpus[g->n_cpus++] = cpu;
	return 0;
}

/* Returns 1 when there was more than fits. */
static int read_item(struct cpu_group_parser *s, struct str item)
{
	size_t at = 0, begin = (size_t)(item.s - s->text.s);
	long from, to;
	int err = number(s, item, &at, &from);

	if (err)
		return err;
	to = from;
	if (at < item.n && item.s[at] == '-') {
		at++;
		err = number(s, item, &at, &to);
		if (err)
			return err;
	}
	if (at < item.n)
		return refuse(s, begin + at, item.s[at] == ' ' ? "a blank after a number" :
								  "a digit, ',' or '-' is expected");
	for (long cpu = min_of(from, to); cpu <= max_of(from, to) && !err; cpu++)
		err = add_cpu(s, (int)cpu);
	return err;
}

static int read_list(struct cpu_group_parser *s, struct str list, struct cores *out)
{
	struct str item;
	int err = 0;

	while (err == 0 && str_cut(&list, ',', &item))
		if (item.n)
			err = read_item(s, item);
	if (err == 1) {
		char note[128];

		snprintf(note, sizeof(note), "Cores: a list of more than %d CPUs ends after those", CORES_MAX);
		err = strlist_add(&out->notes, str_of(note)) ? error_nomem(s->e) : 0;
	}
	if (!err && !s->group->n_cpus)
		return refuse(s, 0, "no CPU is named");
	return err;
}

static int add_group(struct cores *out, struct str label, const int *cpus, size_t n,
		     struct tacho_error *e)
{
	struct core_group *g = vec_add(out);

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

static int add_single(struct cores *out, int cpu, struct tacho_error *e)
{
	char label[16];

	snprintf(label, sizeof(label), "%d", cpu);
	return add_group(out, str_of(label), &cpu, 1, e);
}

static int add_singles(struct cores *out, const struct core_group *cpus, struct tacho_error *e)
{
	int err = 0;

	for (size_t i = 0; i < cpus->n_cpus && !err; i++)
		err = add_single(out, cpus->cpus[i], e);
	return err;
}

static int cut_long(struct cpu_group_parser *s, struct str *list, struct cores *out)
{
	char note[200];

	if (list->n <= CORES_TEXT_MAX)
		return 0;
	list->n = CORES_TEXT_MAX;
	snprintf(note, sizeof(note), "Cores: of a string that is longer only the first %d characters count",
		 CORES_TEXT_MAX);
	return strlist_add(&out->notes, str_of(note)) ? error_nomem(s->e) : 0;
}

static int read_word(struct cpu_group_parser *s, struct cores *out)
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
			return refuse(s, s->text.n, "']' is missing");
		err = read_list(s, str_n(list.s, (size_t)end), out);
		return err ? err : add_singles(out, s->group, s->e);
	}
	err = cut_long(s, &list, out);
	if (!err)
		err = read_list(s, list, out);
	return err ? err : add_group(out, s->text, s->group->cpus, s->group->n_cpus, s->e);
}

static int every_cpu(struct cores *out, int n_cpus, struct tacho_error *e)
{
	int err = 0;

	if (n_cpus > CORES_MAX) {
		error_set(e, -EINVAL, "Cores \"\" is meant for at most %d CPUs, and there are %d", CORES_MAX,
			  n_cpus);
		error_hint(e, "name them in lists, or use per = \"cpu\" in a tacho.toml");
		return -EINVAL;
	}
	for (int cpu = 0; cpu < n_cpus && !err; cpu++)
		err = add_single(out, cpu, e);
	return err;
}

/* No CPU may be in two groups, nor be one that the machine does not have. */
static int check_groups(const struct cores *out, int n_cpus, struct tacho_error *e)
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

static int parse(struct cores *out, const struct str *words, size_t n, int n_cpus,
		 struct tacho_error *e)
{
	if (n == 0 || (n == 1 && !words[0].n))
		return every_cpu(out, n_cpus, e);
	if (n > CORES_MAX)
		return error_set(e, -EINVAL, "Cores has more than %d strings", CORES_MAX);
	for (size_t i = 0; i < n; i++) {
		struct core_group cpus = { 0 };
		struct cpu_group_parser s = { .text = words[i], .group = &cpus, .e = e };
		int err;

		out->bad = i;
		if (words[i].n)
			err = read_word(&s, out);
		else
			err = error_set(e, -EINVAL, "an empty string has to be the only one of Cores");
		free(cpus.cpus);
		cpuset_done(&s.seen);
		if (err)
			return err;
	}
	return check_groups(out, n_cpus, e);
}

int cores_parse(struct cores *out, const struct str *words, size_t n, int n_cpus,
		struct tacho_error *e)
{
	int err;

	*out = (struct cores){ 0 };
	err = parse(out, words, n, n_cpus, e);
	if (err) {
		size_t bad = out->bad;

		cores_done(out);
		out->bad = bad;
	}
	return err;
}

void core_groups_free(struct core_group *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].label);
		free(v[i].cpus);
	}
	free(v);
}

void cores_done(struct cores *c)
{
	core_groups_free(c->v, c->n);
	strlist_done(&c->notes);
	*c = (struct cores){ 0 };
}
