/*
 * Determines the target of `stat` from the options (processes, threads, a user, CPUs, the machine, or a
 * command), and its title in the output.
 */
#include "cli/stat/stat.h"

#include <errno.h>

#include "cli/core/target_args.h"

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
		.apart = o->control,
		.bpf_counters = o->bpf_counters,
	};
	if (o->pids)
		err = target_ids("stat", "-p", o->pids, &t->pids, &t->evset.n_pids);
	if (err == 0 && o->tids)
		err = target_ids("stat", "-t", o->tids, &t->tids, &t->evset.n_tids);
	if (err == 0 && o->cpus)
		err = target_cpus("stat", o->cpus);
	if (err == 0 && o->user) {
		t->evset.by_uid = true;
		err = target_user("stat", o->user, &t->evset.uid);
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
