/*
 * Opening a tracing session by its options, starting, stopping, and closing it.
 */
#include "ftrace/ftrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/io.h"
#include "base/num.h"
#include "base/sized_opts.h"

static const struct flag_file {
	uint32_t flag;
	const char *file, *value;
	const char *since;		/* the version of Linux that has it; NULL: all */
} flag_files[] = {
	{ TACHO_FTRACE_INHERIT, "options/function-fork", "1", NULL },
	{ TACHO_FTRACE_STACK, "options/func_stack_trace", "1", NULL },
	{ TACHO_FTRACE_IRQ_INFO, "options/irq-info", "1", NULL },
	{ TACHO_FTRACE_NO_SLEEP_TIME, "options/sleep-time", "0", NULL },
	{ TACHO_FTRACE_NO_IRQS, "options/funcgraph-irqs", "0", NULL },
	{ TACHO_FTRACE_VERBOSE, "options/funcgraph-proc", "1", NULL },
	{ TACHO_FTRACE_VERBOSE, "options/funcgraph-abstime", "1", NULL },
	{ TACHO_FTRACE_VERBOSE, "options/latency-format", "1", NULL },
	{ TACHO_FTRACE_ARGS, "options/funcgraph-args", "1", "6.15" },
	{ TACHO_FTRACE_RETVAL, "options/funcgraph-retval", "1", "6.5" },
	{ TACHO_FTRACE_RETVAL_HEX, "options/funcgraph-retval", "1", "6.5" },
	{ TACHO_FTRACE_RETVAL_HEX, "options/funcgraph-retval-hex", "1", "6.5" },
	{ TACHO_FTRACE_RETADDR, "options/funcgraph-retaddr", "1", "6.13" },
};

static int set_flags(struct tacho_ftrace *f, struct tacho_error *e)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < countof(flag_files); i++) {
		if (!(f->opts.flags & flag_files[i].flag))
			continue;
		err = setting_write(f, flag_files[i].file, flag_files[i].value, e);
		if (err == -EOPNOTSUPP && flag_files[i].since)
			error_hint(e, "Linux has it since version %s, if it is configured", flag_files[i].since);
	}
	return err;
}

/* The threads of a process. */
static int list_threads(const struct tacho_ftrace *f, int pid, struct strlist *tids, struct tacho_error *e)
{
	struct strlist found = { 0 };
	char path[PATH_MAX];
	int err;

	snprintf(path, sizeof(path), "%s/%d/task", f->sys.procfs, pid);
	err = sys_list_dir(path, &found);
	if (err < 0)
		error_set(e, -ESRCH, "there is no process %d", pid);
	for (size_t i = 0; err == 0 && i < found.n; i++)
		if (strlist_add(tids, str_of(found.v[i])) < 0)
			err = error_nomem(e);
	strlist_done(&found);
	return err < 0 && err != -ENOMEM ? -ESRCH : err;
}

static int set_task_lists(struct tacho_ftrace *f, const struct strlist *tids, struct tacho_error *e)
{
	const struct tacho_ftrace_names names = { (const char *const *)tids->v, tids->n };
	int err = f->opts.tracer ? setting_list(f, "set_ftrace_pid", &names, e) : 0;

	if (err == 0 && f->opts.events.n)
		err = setting_list(f, "set_event_pid", &names, e);
	if (err == 0 && (f->opts.flags & TACHO_FTRACE_INHERIT) && f->opts.events.n)
		err = setting_write(f, "options/event-fork", "1", e);
	return err;
}

/* Without a selection of tasks, all but this one, which would trace its own reading. Kernels before 5.8 cannot do that. */
static int exclude_self(struct tacho_ftrace *f)
{
	char text[16];
	const char *const pid = text;
	const struct tacho_ftrace_names names = { &pid, 1 };
	int err;

	snprintf(text, sizeof(text), "%d", (int)getpid());
	err = f->opts.tracer ? setting_list(f, "set_ftrace_notrace_pid", &names, NULL) : 0;
	if (err == 0 && f->opts.events.n)
		err = setting_list(f, "set_event_notrace_pid", &names, NULL);
	return err == -ENOMEM ? err : 0;
}

static int set_tasks(struct tacho_ftrace *f, struct tacho_error *e)
{
	struct strlist tids = { 0 };
	char text[16];
	int err = 0;

	for (size_t i = 0; err == 0 && i < f->opts.n_pids; i++)
		err = list_threads(f, f->opts.pids[i], &tids, e);
	for (size_t i = 0; err == 0 && i < f->opts.n_tids; i++) {
		int n = snprintf(text, sizeof(text), "%d", f->opts.tids[i]);

		if (strlist_add(&tids, str_n(text, (size_t)n)) < 0)
			err = error_nomem(e);
	}
	if (err == 0)
		err = tids.n ? set_task_lists(f, &tids, e) : exclude_self(f);
	strlist_done(&tids);
	return err;
}

/* "3,ffffffff": 32 bits per group, the highest first. */
static int set_cpus(struct tacho_ftrace *f, struct tacho_error *e)
{
	scoped(cpuset_done) struct cpuset set = { 0 };
	scoped(buf_done) struct buf mask = { 0 };
	bool is_first = true;

	if (!f->opts.cpus)
		return 0;
	if (cpuset_parse(&set, str_of(f->opts.cpus)) < 0 || cpuset_empty(&set))
		return error_set(e, -EINVAL, "'%s' is not a list of CPUs", f->opts.cpus);
	for (size_t i = set.n_words * 2; i--;) {
		uint32_t group = (uint32_t)(set.words[i / 2] >> (i % 2 * 32));

		if (is_first && !group && i)
			continue;
		buf_printf(&mask, is_first ? "%x" : ",%08x", group);
		is_first = false;
	}
	return buf_failed(&mask) ? error_nomem(e) : setting_write(f, "tracing_cpumask", mask.bytes, e);
}

static int set_functions(struct tacho_ftrace *f, struct tacho_error *e)
{
	const struct { const char *file; const struct tacho_ftrace_names *names; } lists[] = {
		{ "set_ftrace_filter", &f->opts.functions },
		{ "set_ftrace_notrace", &f->opts.no_functions },
		{ "set_graph_function", &f->opts.graph_functions },
		{ "set_graph_notrace", &f->opts.no_graph_functions },
	};
	int err = 0;

	for (size_t i = 0; err == 0 && i < countof(lists); i++)
		err = setting_list(f, lists[i].file, lists[i].names, e);
	return err;
}

static int set_tracer(struct tacho_ftrace *f, struct tacho_error *e)
{
	int err = setting_write(f, "current_tracer", f->opts.tracer, e);

	return err == -EPERM ? refuse_functions(e) : err;
}

/* The tracer comes last, because it starts with the filters that exist then. */
static int set_all(struct tacho_ftrace *f, struct tacho_error *e)
{
	int err = setting_write(f, "tracing_on", "0", e);

	if (err == 0 && f->opts.buffer_bytes)
		err = setting_number(f, "buffer_size_kb", (f->opts.buffer_bytes + 1023) / 1024, e);
	if (err == 0)
		err = set_tasks(f, e);
	if (err == 0)
		err = set_cpus(f, e);
	if (err == 0)
		err = set_functions(f, e);
	if (err == 0 && f->opts.depth)
		err = setting_number(f, "max_graph_depth", f->opts.depth, e);
	if (err == 0 && f->opts.thresh_us)
		err = setting_number(f, "tracing_thresh", f->opts.thresh_us, e);
	if (err == 0)
		err = set_flags(f, e);
	if (err == 0)
		err = events_enable(f, e);
	if (err == 0 && f->opts.tracer)
		err = set_tracer(f, e);
	return err;
}

static int find_tracefs(struct tacho_ftrace *f, struct tacho_error *e)
{
	const char *root = sys_tracefs(&f->sys);

	if (root && strlen(root) >= sizeof(f->root))
		return error_set(e, -ENAMETOOLONG, "the path of tracefs is too long");
	snprintf(f->root, sizeof(f->root), "%s", root ? root : "/sys/kernel/tracing");
	if (root && io_is_accessible(root, R_OK | X_OK))
		return 0;
	if (errno == EACCES)
		return instance_refuse(f, -EACCES, f->root, e);
	error_set(e, -ENOENT, "the kernel cannot be traced: tracefs is not mounted");
	error_hint(e, "mount -t tracefs nodev /sys/kernel/tracing");
	return -ENOENT;
}

static int open_session(struct tacho_ftrace *f, struct tacho_error *e)
{
	int err = sys_init(&f->sys, NULL, f->opts.procfs, f->opts.tracefs);

	if (err < 0)
		return error_nomem(e);
	f->is_default_root = !f->opts.tracefs;
	err = find_tracefs(f, e);
	if (err < 0)
		return err;
	f->lock_fd = open(f->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->lock_fd < 0)
		return instance_refuse(f, -errno, f->root, e);
	err = restore_new(&f->restore, f->lock_fd);
	if (err < 0)
		return error_set(e, err, "cannot start the process that restores settings: %s", strerror(-err));
	setting_recover(f);
	err = instance_make(f, e);
	return err < 0 ? err : set_all(f, e);
}

int tacho_ftrace_open(struct tacho_ftrace **out, const struct tacho_ftrace_opts *opts, struct tacho_error *e)
{
	struct tacho_ftrace *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return error_nomem(e);
	f->lock_fd = f->state_fd = f->hold_fd = f->text_fd = -1;
	err = opts_copy(&f->opts, sizeof(f->opts), opts, e);
	if (err == 0)
		err = open_session(f, e);
	if (err < 0) {
		tacho_ftrace_close(f);
		return err;
	}
	*out = f;
	return 0;
}

static int switch_tracing(struct tacho_ftrace *f, const char *value, struct tacho_error *e)
{
	int err = setting_put(f, "tracing_on", value);

	return err < 0 ? instance_refuse(f, err, "tracing_on", e) : 0;
}

int tacho_ftrace_start(struct tacho_ftrace *f, struct tacho_error *e)
{
	return switch_tracing(f, "1", e);
}

int tacho_ftrace_stop(struct tacho_ftrace *f, struct tacho_error *e)
{
	return switch_tracing(f, "0", e);
}

void tacho_ftrace_close(struct tacho_ftrace *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n_buffers; i++)
		closep(&f->buffers[i].fd);
	closep(&f->text_fd);
	closep(&f->hold_fd);
	closep(&f->state_fd);
	restore_run(f->restore);
	closep(&f->lock_fd);
	free(f->buffers);
	free(f->page);
	free(f->event_ids);
	buf_done(&f->header);
	vec_done(&f->pending);
	sys_done(&f->sys);
	free(f);
}
