/*
 * Which samples count: lists of names and numbers, CPUs, a caller's pattern. Times are in times.c.
 * Everything is asked once per thread or frame and remembered there.
 */
#include "profile/profile.h"

#include "base/num.h"

#include <errno.h>

static int list_parse(struct strlist *out, const char *text)
{
	struct str rest = str_of(text), head;

	while (text && str_cut(&rest, ',', &head))
		if (head.n && strlist_add(out, head) < 0)
			return -ENOMEM;
	return 0;
}

static int numbers_parse(struct numbers *out, const char *text, const char *what,
			 struct tacho_error *e)
{
	struct str rest = str_of(text), head;

	while (text && str_cut(&rest, ',', &head)) {
		uint32_t *slot = vec_add(out);

		if (!slot)
			return error_nomem(e);
		if (num_u32(str_trim(head), slot) < 0) {
			error_set(e, -EINVAL, "'%.*s' is no %s", STR(head), what);
			error_at(e, (size_t)(head.s - text), head.n);
			return -EINVAL;
		}
	}
	return 0;
}

static int cpus_parse(struct cpuset *out, const char *text, bool *is_there, struct tacho_error *e)
{
	int err = cpuset_parse(out, str_of(text));

	if (err == -ENOMEM)
		return error_nomem(e);
	if (err < 0) {
		error_set(e, err, "'%s' is no list of CPUs", text);
		error_hint(e, "numbers and ranges with commas: 0-3,8");
		return err;
	}
	*is_there = true;
	return 0;
}

static int regex_parse(regex_t *out, const char *text, bool *is_there, struct tacho_error *e)
{
	char why[120];
	int err = regcomp(out, text, REG_EXTENDED | REG_NOSUB);

	if (err) {
		regerror(err, out, why, sizeof(why));
		return error_set(e, -EINVAL, "'%s' is no regular expression: %s", text, why);
	}
	*is_there = true;
	return 0;
}

int profile_filter_init(struct filter *f, const struct tacho_profile_opts *opts, struct tacho_error *e)
{
	int err;

	if (list_parse(&f->comms, opts->comms) < 0 || list_parse(&f->objects, opts->objects) < 0 ||
	    list_parse(&f->symbols, opts->symbols) < 0)
		return error_nomem(e);
	err = numbers_parse(&f->pids, opts->pids, "process id", e);
	if (err == 0)
		err = numbers_parse(&f->tids, opts->tids, "thread id", e);
	if (err == 0 && opts->cpus)
		err = cpus_parse(&f->cpus, opts->cpus, &f->by_cpu, e);
	if (err == 0 && opts->counted_cpus)
		err = cpus_parse(&f->counted_cpus, opts->counted_cpus, &f->by_counted_cpu, e);
	if (err == 0 && opts->parent)
		err = regex_parse(&f->parent, opts->parent, &f->by_parent, e);
	if (err == 0 && opts->ignore_callees)
		err = regex_parse(&f->end, opts->ignore_callees, &f->ends, e);
	if (err == 0 && opts->parallelism) {
		err = cpuset_parse(&f->parallelism, str_of(opts->parallelism));
		f->by_parallelism = err == 0;
		if (err < 0)
			error_set(e, err, "'%s' is no list of numbers and ranges", opts->parallelism);
	}
	f->by_sample = f->by_parallelism || f->by_counted_cpu;
	if (err == 0 && opts->time)
		err = times_parse(f, opts->time, e);
	return err;
}

void profile_filter_done(struct filter *f)
{
	strlist_done(&f->comms);
	strlist_done(&f->objects);
	strlist_done(&f->symbols);
	vec_done(&f->pids);
	vec_done(&f->tids);
	cpuset_done(&f->cpus);
	cpuset_done(&f->parallelism);
	cpuset_done(&f->counted_cpus);
	vec_done(&f->windows);
	vec_done(&f->shares);
	if (f->by_parent)
		regfree(&f->parent);
	if (f->ends)
		regfree(&f->end);
	f->by_parent = f->ends = false;
}

static bool list_has(const struct strlist *l, const char *text)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i], text) == 0)
			return true;
	return false;
}

static bool numbers_have(const struct numbers *l, uint32_t number)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == number)
			return true;
	return false;
}

bool profile_filter_comm(const struct filter *f, const char *comm)
{
	return !f->comms.n || list_has(&f->comms, comm);
}

bool profile_filter_task(const struct filter *f, uint32_t pid, uint32_t tid)
{
	return (!f->pids.n || numbers_have(&f->pids, pid)) &&
	       (!f->tids.n || numbers_have(&f->tids, tid));
}

bool profile_filter_object(const struct filter *f, const char *path, const char *name)
{
	return !f->objects.n || list_has(&f->objects, path) || list_has(&f->objects, name);
}

bool profile_filter_symbol(const struct filter *f, const char *name)
{
	return !f->symbols.n || list_has(&f->symbols, name);
}

bool profile_filter_parent(const struct filter *f, const char *name)
{
	return regexec(&f->parent, name, 0, NULL, 0) == 0;
}

bool profile_filter_end(const struct filter *f, const char *name)
{
	return regexec(&f->end, name, 0, NULL, 0) == 0;
}
