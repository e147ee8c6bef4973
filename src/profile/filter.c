/*
 * Parses and applies the filters of a profile. Time ranges are parsed in base/time_ranges.c.
 */
#include "profile/filter.h"

#include "base/function_name.h"
#include "base/num.h"

#include <errno.h>

static int parse_names(struct strlist *out, const char *text)
{
	struct str rest = str_of(text), head;

	while (text && str_cut(&rest, ',', &head))
		if (head.n && strlist_add(out, head) < 0)
			return -ENOMEM;
	return 0;
}

static int parse_functions(struct strlist *out, const char *text)
{
	struct str rest = str_of(text), head;

	while (text && function_name_cut(&rest, &head))
		if (head.n && strlist_add(out, head) < 0)
			return -ENOMEM;
	return 0;
}

static int parse_numbers(struct number_list *out, const char *text, const char *what,
			 struct tacho_error *e)
{
	struct str rest = str_of(text), head;

	while (text && str_cut(&rest, ',', &head)) {
		uint32_t *slot = vec_add(out);

		if (!slot)
			return error_nomem(e);
		if (num_u32(str_trim(head), slot) < 0) {
			error_set(e, -EINVAL, "'%.*s' is not a %s", STR(head), what);
			error_at(e, (size_t)(head.s - text), head.n);
			return -EINVAL;
		}
	}
	return 0;
}

static int parse_cpus(struct cpuset *out, const char *text, bool *is_set, struct tacho_error *e)
{
	int err = cpuset_parse(out, str_of(text));

	if (err == -ENOMEM)
		return error_nomem(e);
	if (err < 0) {
		error_set(e, err, "'%s' is not a list of CPUs", text);
		error_hint(e, "numbers and ranges with commas: 0-3,8");
		return err;
	}
	*is_set = true;
	return 0;
}

static int parse_regex(regex_t *out, const char *text, bool *is_set, struct tacho_error *e)
{
	char why[120];
	int err = regcomp(out, text, REG_EXTENDED | REG_NOSUB);

	if (err) {
		regerror(err, out, why, sizeof(why));
		return error_set(e, -EINVAL, "'%s' is not a regular expression: %s", text, why);
	}
	*is_set = true;
	return 0;
}

int profile_filter_init(struct profile_filter *f, const struct tacho_profile_opts *opts, struct tacho_error *e)
{
	int err;

	if (parse_names(&f->comms, opts->comms) < 0 || parse_names(&f->objects, opts->objects) < 0 ||
	    parse_functions(&f->symbols, opts->symbols) < 0)
		return error_nomem(e);
	err = parse_numbers(&f->pids, opts->pids, "process id", e);
	if (err == 0)
		err = parse_numbers(&f->tids, opts->tids, "thread id", e);
	if (err == 0 && opts->cpus)
		err = parse_cpus(&f->cpus, opts->cpus, &f->by_cpu, e);
	if (err == 0 && opts->counted_cpus)
		err = parse_cpus(&f->counted_cpus, opts->counted_cpus, &f->by_counted_cpu, e);
	if (err == 0 && opts->parent)
		err = parse_regex(&f->parent, opts->parent, &f->by_parent, e);
	if (err == 0 && opts->ignore_callees)
		err = parse_regex(&f->end, opts->ignore_callees, &f->by_end, e);
	if (err == 0 && opts->parallelism) {
		err = cpuset_parse(&f->parallelism, str_of(opts->parallelism));
		f->by_parallelism = err == 0;
		if (err < 0)
			error_set(e, err, "'%s' is not a list of numbers and ranges", opts->parallelism);
	}
	f->by_sample = f->by_parallelism || f->by_counted_cpu;
	if (err == 0 && opts->time)
		err = time_ranges_parse(&f->times, opts->time, false, e);
	f->by_time = err == 0 && opts->time;
	return err;
}

void profile_filter_done(struct profile_filter *f)
{
	strlist_done(&f->comms);
	strlist_done(&f->objects);
	strlist_done(&f->symbols);
	vec_done(&f->pids);
	vec_done(&f->tids);
	cpuset_done(&f->cpus);
	cpuset_done(&f->parallelism);
	cpuset_done(&f->counted_cpus);
	time_ranges_done(&f->times);
	if (f->by_parent)
		regfree(&f->parent);
	if (f->by_end)
		regfree(&f->end);
	f->by_parent = f->by_end = false;
}

static bool names_contain(const struct strlist *l, const char *text)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i], text) == 0)
			return true;
	return false;
}

static bool numbers_contain(const struct number_list *l, uint32_t number)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == number)
			return true;
	return false;
}

bool profile_filter_comm(const struct profile_filter *f, const char *comm)
{
	return !f->comms.n || names_contain(&f->comms, comm);
}

bool profile_filter_task(const struct profile_filter *f, uint32_t pid, uint32_t tid)
{
	return (!f->pids.n || numbers_contain(&f->pids, pid)) &&
	       (!f->tids.n || numbers_contain(&f->tids, tid));
}

bool profile_filter_object(const struct profile_filter *f, const char *path, const char *name)
{
	return !f->objects.n || names_contain(&f->objects, path) || names_contain(&f->objects, name);
}

bool profile_filter_symbol(const struct profile_filter *f, const char *name)
{
	for (size_t i = 0; i < f->symbols.n; i++)
		if (function_name_is(str_of(f->symbols.v[i]), name))
			return true;
	return !f->symbols.n;
}

bool profile_filter_parent(const struct profile_filter *f, const char *name)
{
	return regexec(&f->parent, name, 0, NULL, 0) == 0;
}

bool profile_filter_end(const struct profile_filter *f, const char *name)
{
	return regexec(&f->end, name, 0, NULL, 0) == 0;
}
