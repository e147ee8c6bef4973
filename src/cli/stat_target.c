/*
 * On what `stat` counts: processes, threads, a user, CPUs, the machine, or a command, and how
 * the report calls it.
 */
#include "cli/stat.h"

#include "base/cpuset.h"
#include "base/error.h"
#include "base/num.h"

#include <errno.h>
#include <pwd.h>

static int parse_ids(const char *text, const char *option, int **out, size_t *n)
{
	struct str rest = str_of(text), one;
	struct {
		int *v;
		size_t n, cap;
	} list = { 0 };

	while (str_cut(&rest, ',', &one)) {
		int *at = vec_add(&list);

		if (!at || num_int(str_trim(one), at) < 0 || *at <= 0) {
			struct tacho_error e;

			error_set(&e, -EINVAL, "'%.*s' is no process or thread number", STR(one));
			error_at(&e, (size_t)(one.s - text), one.n);
			error_hint(&e, "give numbers with commas between them, e.g. 812,4711");
			report_error("stat", option, text, &e);
			vec_done(&list);
			return -EINVAL;
		}
	}
	*out = list.v;
	*n = list.n;
	return 0;
}

static int find_user(const char *text, uint32_t *uid)
{
	struct passwd *pw;

	if (num_u32(str_of(text), uid) == 0)
		return 0;
	pw = getpwnam(text);
	if (!pw) {
		report_text("stat", "no user is called '%s'", text);
		return -EINVAL;
	}
	*uid = pw->pw_uid;
	return 0;
}

static int check_cpus(const char *text)
{
	scoped(cpuset_done) struct cpuset set = { 0 };
	struct tacho_error e;

	if (cpuset_parse(&set, str_of(text)) == 0 && !cpuset_empty(&set))
		return 0;
	error_set(&e, -EINVAL, "'%s' is no list of CPUs", text);
	error_hint(&e, "write numbers and ranges, e.g. 0-3,8");
	report_error("stat", "-C", text, &e);
	return -EINVAL;
}

static char *make_title(const struct stat_opts *o, int argc, char **argv)
{
	struct buf b = { 0 };

	if (o->pids)
		buf_printf(&b, "process id '%s'", o->pids);
	else if (o->tids)
		buf_printf(&b, "thread id '%s'", o->tids);
	else if (o->cpus)
		buf_printf(&b, "'CPU(s) %s'", o->cpus);
	else if (o->user)
		buf_printf(&b, "user '%s'", o->user);
	else if (o->all_cpus || o->per_thread)
		buf_puts(&b, "'system wide'");
	else
		for (int i = 0; i < argc; i++)
			buf_printf(&b, "%s%s%s", i ? " " : "'", argv[i], i + 1 < argc ? "" : "'");
	return buf_take(&b);
}

int stat_target_init(const struct stat_opts *o, int argc, char **argv, struct stat_target *t)
{
	bool tasks = o->pids || o->tids;
	int err = 0;

	t->evset = (struct tacho_evset_opts){
		.size = sizeof(t->evset),
		.cpus = o->cpus,
		.all_cpus = (o->all_cpus || (o->per_thread && !tasks)) && !o->cpus && !tasks,
		.per_thread = o->per_thread,
		.no_inherit = o->no_inherit,
		.all_user = o->all_user,
		.all_kernel = o->all_kernel,
	};
	if (o->pids)
		err = parse_ids(o->pids, "-p", &t->pids, &t->evset.n_pids);
	if (err == 0 && o->tids)
		err = parse_ids(o->tids, "-t", &t->tids, &t->evset.n_tids);
	if (err == 0 && o->cpus)
		err = check_cpus(o->cpus);
	if (err == 0 && o->user) {
		t->evset.by_uid = true;
		err = find_user(o->user, &t->evset.uid);
	}
	t->evset.pids = t->pids;
	t->evset.tids = t->tids;
	t->title = make_title(o, argc, argv);
	return err < 0 ? err : t->title ? 0 : -ENOMEM;
}

void stat_target_done(struct stat_target *t)
{
	free(t->pids);
	free(t->tids);
	free(t->title);
}
