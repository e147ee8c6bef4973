/*
 * tacho_view: opens a view as BPF program or on samples, and passes its rows on.
 */
#include "view/view_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cpuset.h"
#include "base/error.h"
#include "base/sized_opts.h"
#include "sys/cgroup.h"

#define DEFAULT_RING_BYTES (8u << 20)
#define DEFAULT_SUMS 16384
#define DEFAULT_HISTOGRAMS 4096
#define N_STACKS 16384

/* The words of a view's columns, separated by commas. */
static void put_keys(const struct view_def *d, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < VIEW_COLUMNS; i++) {
		struct str rest = str_of(d->columns[i].by), word;

		while (rest.n && str_cut(&rest, ' ', &word)) {
			char text[32];

			snprintf(text, sizeof(text), "%.*s", STR(word));
			if (!strstr(out, text))
				n += (size_t)snprintf(out + n, size - n, "%s%s", n ? "," : "", text);
		}
	}
}

#define MAX_VIEWS 32

const struct tacho_view_info *const *tacho_views(void)
{
	static const struct tacho_view_info *list[MAX_VIEWS + 1];
	static struct tacho_view_info infos[MAX_VIEWS];
	static char keys[MAX_VIEWS][64];

	for (size_t i = 0; !list[i] && view_table[i] && i < MAX_VIEWS; i++) {
		put_keys(view_table[i], keys[i], sizeof(keys[i]));
		infos[i] = view_table[i]->info;
		infos[i].size = sizeof(infos[i]);
		infos[i].keys = keys[i];
		list[i] = &infos[i];
	}
	return list;
}

static const struct view_def *find_def(const char *name, struct tacho_error *e)
{
	struct str_nearest near = { .word = str_of(name) };

	for (size_t i = 0; view_table[i]; i++) {
		if (!strcmp(view_table[i]->info.name, name))
			return view_table[i];
		str_nearest_try(&near, str_of(view_table[i]->info.name));
	}
	error_set(e, -ENOENT, "no view is called '%s'", name);
	if (near.best.n)
		error_hint(e, "did you mean '%.*s'?", STR(near.best));
	return NULL;
}

static int check_options(const struct view_def *d, const struct tacho_view_opts *o, struct tacho_error *e)
{
	const char *name = d->info.name;

	if (d->info.is_machine_wide && (o->n_pids || o->follow || o->by_uid || o->cgroup))
		return error_set(e, -EINVAL, "%s cannot be limited to processes, users or cgroups: its events belong to none", name);
	if (d->info.arguments == TACHO_VIEW_NO_ARGUMENTS && o->n_args)
		return error_set(e, -EINVAL, "%s takes no arguments such as '%s'", name, o->args[0]);
	if (d->info.arguments == TACHO_VIEW_FUNCTIONS && !o->n_args) {
		error_set(e, -EINVAL, "%s needs a function or a tracepoint", name);
		error_hint(e, "such as c:malloc, 'c:str*', /usr/bin/bash:readline or t:sched:sched_switch");
		return -EINVAL;
	}
	if (d->info.arguments == TACHO_VIEW_EXPRESSIONS && !o->n_args) {
		error_set(e, -EINVAL, "%s needs an expression", name);
		error_hint(e, "such as 'p:c:malloc(size_t size):size_t:size' or 't:block:block_rq_issue():u32:args->bytes'");
		return -EINVAL;
	}
	if (o->by && !d->info.is_summary)
		return error_set(e, -EINVAL, "%s has a row for each event, and no keys", name);
	return 0;
}

/* The group's path from the mount point, "/a/b", its ID and how deep it is. */
static int find_cgroup(struct tacho_view *v, struct tacho_error *e)
{
	char mount[4096];
	const char *path = v->opts.cgroup;
	struct stat st = { 0 };
	int err = cgroup_check(&v->sys, path, e), fd;

	if (err == 0)
		err = cgroup_mount(&v->sys, mount, sizeof(mount));
	if (err < 0)
		return err;
	if (str_starts(str_of(path), mount))
		path += strlen(mount);
	if (asprintf(&v->cgroup, "%s%s", path[0] == '/' ? "" : "/", path) < 0) {
		v->cgroup = NULL;
		return error_nomem(e);
	}
	for (size_t n = strlen(v->cgroup); n > 1 && v->cgroup[n - 1] == '/'; n--)
		v->cgroup[n - 1] = '\0';
	fd = cgroup_open(&v->sys, v->opts.cgroup);
	if (fd < 0)
		return error_set(e, fd, "the cgroup '%s' cannot be opened: %s", v->opts.cgroup, strerror(-fd));
	fstat(fd, &st);
	close(fd);
	v->plan.program.cgroup = st.st_ino;
	v->opts.cgroup = v->cgroup;
	return 0;
}

static uint32_t depth_of(const char *path)
{
	uint32_t n = 0;

	for (const char *c = path; *c; c++)
		n += *c == '/' && c[1] && c[1] != '/';
	return n;
}

static int make_plan(struct tacho_view *v, bool sampled, struct tacho_error *e)
{
	struct view_program *p = &v->plan.program;
	uint64_t cgroup = p->cgroup;
	int err;

	if (v->is_planned)
		view_plan_done(&v->plan);
	v->is_planned = false;
	err = view_plan_init(&v->plan, &v->def, &v->opts, sampled, v->def.info.arguments ? &v->functions : NULL, e);
	if (err < 0)
		return err;
	v->is_planned = true;
	p->has_processes = (v->opts.n_pids || v->opts.follow);
	p->follows = p->has_processes && v->opts.follow;
	p->has_cgroup = v->cgroup != NULL;
	p->cgroup = cgroup;
	p->cgroup_level = v->cgroup ? depth_of(v->cgroup) : 0;
	p->wakeup_bytes = v->opts.ring_bytes / 8;
	p->has_functions = v->functions.list.n > 1;
	return 0;
}

/* Opens event i of a set for all processes, or for the only one that is wanted. */
static int open_function(struct tacho_view *v, const struct tacho_evset *set, size_t i, struct tacho_error *e)
{
	const struct probed_place *place = &v->functions.places.v[i];
	bool is_tracepoint = v->functions.list.v[place->function].is_tracepoint;
	bool one = !is_tracepoint && v->opts.n_pids == 1 && !v->opts.follow;
	struct perf_event_attr attr = { 0 };
	int fd = tacho_evset_attr(set, i, &attr, sizeof(attr));

	attr.size = sizeof(attr);
	if (!is_tracepoint)
		attr.config1 = (uintptr_t)v->functions.paths.v[place->path];
	if (fd >= 0)
		fd = sys_perf_open(&v->sys, &attr, one ? v->opts.pids[0] : -1, one ? -1 : 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return error_set(e, fd, "%s cannot be probed: %s", tacho_evset_event(set, i)->name, strerror(-fd));
	return fd;
}

/* Opens the event that is sampled on each CPU. */
static int attach_samples(struct tacho_view *v, struct tacho_error *e)
{
	scoped(cpuset_done) struct cpuset cpus = { 0 };
	int err = sys_online_cpus(&v->sys, &cpus), n = 0;

	for (int cpu = cpuset_next(&cpus, -1); err == 0 && cpu >= 0; cpu = cpuset_next(&cpus, cpu)) {
		struct perf_event_attr attr = v->sampled_attr;
		int fd = sys_perf_open(&v->sys, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd == -ENODEV)
			continue;		/* went offline */
		if (fd < 0)
			return error_set(e, fd, "%s cannot be sampled on CPU %d: %s", v->sampled_name, cpu, strerror(-fd));
		err = bpf_view_attach_samples(v->bpf, fd, e);
		n++;
	}
	return err < 0 ? err : n ? 0 : error_set(e, -ENODEV, "no CPU can be sampled");
}

static int attach_event(struct tacho_view *v, const struct tacho_evset *set, size_t i, bool is_return, struct tacho_error *e)
{
	uint32_t function = v->functions.places.v[i].function;
	int fd = open_function(v, set, i, e);

	return fd < 0 ? fd : bpf_view_attach(v->bpf, fd, v->functions.list.v[function].is_tracepoint, is_return, function, e);
}

static int attach_functions(struct tacho_view *v, struct tacho_error *e)
{
	const struct view_functions *f = &v->functions;
	const struct view_event *events = v->plan.program.events;
	int err = 0;

	/* Returns first, so that each call that is seen also has its return seen. */
	for (size_t i = 0; err == 0 && f->has_probes && events[1].n_steps && i < tacho_evset_size(f->returns); i++)
		err = attach_event(v, f->returns, i, true, e);
	for (size_t i = 0; err == 0 && f->calls && events[0].n_steps && i < tacho_evset_size(f->calls); i++)
		err = attach_event(v, f->calls, i, false, e);
	return err;
}

static int check_processes(const struct tacho_view_opts *o, struct tacho_error *e)
{
	for (size_t i = 0; i < o->n_pids; i++)
		if (o->pids[i] <= 0 || (kill(o->pids[i], 0) < 0 && errno == ESRCH))
			return error_set(e, -ESRCH, "there is no process %d", o->pids[i]);
	return 0;
}

static int add_processes(struct tacho_view *v, struct tacho_error *e)
{
	int err = 0;

	for (size_t i = 0; err == 0 && v->plan.program.has_processes && i < v->opts.n_pids; i++)
		err = tacho_view_add_process(v, v->opts.pids[i]);
	return err < 0 ? error_set(e, err, "processes cannot be selected: %s", strerror(-err)) : 0;
}

static bool is_of_samples(const struct view_def *d)
{
	return d->rules[0].event && !strcmp(d->rules[0].event, VIEW_SAMPLE);
}

static int open_in_kernel(struct tacho_view *v, struct tacho_error *e)
{
	struct bpf_view_opts o = { .program = &v->plan.program, .ring_bytes = v->opts.ring_bytes, .n_sums = v->opts.max_rows,
		.n_stacks = v->def.info.has_stacks ? N_STACKS : 0, .has_probes = v->functions.has_probes,
		.has_function_tracepoints = v->functions.has_tracepoints, .has_samples = is_of_samples(&v->def) };
	int err;

	for (size_t i = 0; i < v->plan.n_events; i++)
		if (!view_event_is_function(v->plan.events[i]) && strcmp(v->plan.events[i], VIEW_SAMPLE) != 0 && view_raw_of(v->plan.events[i]) < 0)
			o.tracepoints[i] = v->plan.events[i];
	err = bpf_view_open(&v->bpf, &o, e);
	if (err == 0)
		err = add_processes(v, e);
	if (err == 0)
		err = attach_functions(v, e);
	if (err == 0 && o.has_samples)
		err = attach_samples(v, e);
	if (err < 0) {
		bpf_view_close(v->bpf);
		v->bpf = NULL;
	}
	return err;
}

static int open_on_samples(struct tacho_view *v, struct tacho_error *e)
{
	int err = make_plan(v, true, e);

	if (err == 0)
		err = sampled_view_open(&v->sampled, v->t, &v->plan, v->def.info.arguments ? &v->functions : NULL, e);
	return err < 0 ? err : add_processes(v, e);
}

static void add_hint(struct tacho_error *e, const char *text)
{
	char before[sizeof(e->hint)];

	memcpy(before, e->hint, sizeof(before));
	error_hint(e, "%s%s%s", before, before[0] ? "; " : "", text);
}

/* Why neither way is possible: what the kernel's says, and what the other one says. */
static void join_errors(struct tacho_error *e, const struct tacho_error *kernel)
{
	struct tacho_error samples = *e;

	*e = *kernel;
	error_hint(e, "%s; on samples: %s", kernel->hint, samples.message);
}

static int open_either(struct tacho_view *v, struct tacho_error *e)
{
	struct tacho_error why = { .column = -1 };
	int err;

	if (v->opts.no_bpf) {
		snprintf(v->why_samples, sizeof(v->why_samples), "BPF programs are not wanted");
		return open_on_samples(v, e);
	}
	err = make_plan(v, false, e);
	if (err == -EACCES && e)
		add_hint(e, "besides, CAP_BPF and CAP_PERFMON are needed");
	if (err < 0)
		return err;
	err = open_in_kernel(v, &why);
	if (err == 0 || err == -ENOMEM) {
		if (err < 0 && e)
			*e = why;
		return err;
	}
	snprintf(v->why_samples, sizeof(v->why_samples), "%s", why.message);
	err = open_on_samples(v, e);
	if (err < 0 && e && (why.code == -EPERM || why.code == -EACCES))
		join_errors(e, &why);
	return err;
}

static int open_names(struct tacho_view *v, struct tacho_error *e)
{
	bool has_user_stacks = false;

	if (!v->def.info.has_stacks)
		return 0;
	for (size_t i = 0; i < v->plan.n_columns; i++)
		has_user_stacks |= v->plan.columns[i].part.source == VIEW_USER_STACK ||
				   v->plan.columns[i].part.source == VIEW_SLOT_USER_STACK;
	v->has_names = true;
	return stack_names_init(&v->names, v->t, v->sampled ? sampled_view_sampler(v->sampled) : NULL, has_user_stacks,
				v->opts.keeps_maps ? &v->records : NULL, e);
}

static void describe(struct tacho_view *v)
{
	v->info = v->def.info;
	v->info.has_histogram = v->plan.program.has_levels;
	v->info.columns = v->columns;
	v->info.n_columns = (uint32_t)v->plan.n_columns;
	v->info.unit = v->plan.program.unit == 1 ? "nsecs" : v->plan.program.unit == 1000 ? "usecs" :
		       v->plan.program.unit == 1000000 ? "msecs" : "value";
	for (size_t i = 0; i < v->plan.n_columns; i++) {
		const struct view_column *c = &v->plan.columns[i];

		v->columns[i] = (struct tacho_view_column){ .size = sizeof(v->columns[i]), .title = c->title, .key = c->key,
							    .width = c->width, .is_left = c->is_left };
	}
}

/* Whether the kernel can sample an event on the first CPU. */
static int try_event(struct tacho_view *v, const char *spec, struct tacho_error *e)
{
	struct perf_event_attr *attr = &v->sampled_attr;
	struct tacho_evset *set = NULL;
	int n = tacho_evset_new(&set, v->t), fd;

	if (n == 0)
		n = tacho_evset_add(set, spec, e);
	if (n > 1)
		n = error_set(e, -EINVAL, "'%s' is several events, and one is sampled", spec);
	if (n == 1) {
		tacho_evset_attr(set, 0, attr, sizeof(*attr));
		snprintf(v->sampled_name, sizeof(v->sampled_name), "%.63s", tacho_evset_event(set, 0)->name);
		attr->size = sizeof(*attr);
		attr->flags |= PERF_ATTR_FREQ;
		attr->sample_period = v->opts.freq;	/* a union with sample_freq */
		fd = sys_perf_open(&v->sys, attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
		n = fd < 0 ? error_set(e, fd, "%s cannot be sampled: %s", v->sampled_name, strerror(-fd)) : 0;
		if (fd >= 0)
			close(fd);
	}
	tacho_evset_free(set);
	return n;
}

/* Without an event: cycles, or cpu-clock without a PMU. What is not permitted here may be permitted on samples. */
static int find_event(struct tacho_view *v, struct tacho_error *e)
{
	int err;

	if (!v->opts.freq)
		v->opts.freq = 99;
	if (v->opts.event) {
		err = try_event(v, v->opts.event, e);
		return err == -EACCES || err == -EPERM ? 0 : err;
	}
	v->opts.event = "cycles";
	err = try_event(v, v->opts.event, e);
	if (err == 0)
		return 0;
	v->opts.event = "cpu-clock";
	err = try_event(v, v->opts.event, e);
	return err == -EACCES || err == -EPERM ? 0 : err;
}

static int find_functions(struct tacho_view *v, struct tacho_error *e)
{
	bool returns = false;
	int err = 0;

	if (v->def.info.arguments == TACHO_VIEW_EXPRESSIONS)
		return view_expressions_parse(&v->def, &v->texts, &v->functions, v->t, &v->opts, e);
	for (size_t i = 0; i < VIEW_RULES && v->def.rules[i].event; i++)
		returns |= !strcmp(v->def.rules[i].event, VIEW_RETURN);
	for (size_t i = 0; err == 0 && i < v->opts.n_args; i++)
		err = view_functions_add(&v->functions, v->t, v->opts.args[i], returns, e);
	return err;
}

static int open_view(struct tacho_view *v, const char *name, struct tacho_error *e)
{
	const struct view_def *def = find_def(name, e);
	int err = def ? check_options(def, &v->opts, e) : -ENOENT;

	if (err < 0)
		return err;
	v->def = *def;
	for (size_t i = 0; tacho_views()[i]; i++)
		if (!strcmp(tacho_views()[i]->name, name))
			v->def.info.keys = tacho_views()[i]->keys;
	if (!v->opts.ring_bytes)
		v->opts.ring_bytes = DEFAULT_RING_BYTES;
	if (!v->opts.max_rows)
		v->opts.max_rows = def->info.has_histogram ? DEFAULT_HISTOGRAMS : DEFAULT_SUMS;
	if (sys_init(&v->sys, NULL, NULL, NULL) < 0)
		return error_nomem(e);
	err = check_processes(&v->opts, e);
	if (err == 0 && v->opts.cgroup)
		err = find_cgroup(v, e);
	if (err == 0)
		err = is_of_samples(&v->def) ? find_event(v, e) : find_functions(v, e);
	if (err == 0 && v->opts.unit_ns && (!v->def.unit_ns || v->opts.totals))
		err = error_set(e, -EINVAL, "%s has no histogram of times here, so that there is no unit to choose", name);
	if (err == 0)
		err = open_either(v, e);
	if (err == 0)
		err = open_names(v, e);
	if (err < 0)
		return err;
	view_rows_init(&v->rows, &v->plan, &v->functions);
	describe(v);
	return 0;
}

int tacho_view_open(struct tacho_view **out, struct tacho *t, const char *name, const struct tacho_view_opts *opts,
		    struct tacho_error *e)
{
	struct tacho_view *v;
	int err;

	if (!out || !t || !name)
		return error_set(e, -EINVAL, "a view needs a context and a name");
	v = calloc(1, sizeof(*v));
	if (!v)
		return error_nomem(e);
	v->t = t;
	err = opts_copy(&v->opts, sizeof(v->opts), opts, e);
	if (err == 0)
		err = open_view(v, name, e);
	if (err < 0) {
		tacho_view_close(v);
		return err;
	}
	*out = v;
	return 0;
}

void tacho_view_close(struct tacho_view *v)
{
	if (!v)
		return;
	bpf_view_close(v->bpf);
	if (v->has_names)
		stack_names_done(&v->names);
	sampled_view_close(v->sampled);
	if (v->is_planned)
		view_plan_done(&v->plan);
	view_functions_done(&v->functions);
	argument_texts_done(&v->texts);
	sum_table_done(&v->before);
	sys_done(&v->sys);
	buf_done(&v->records);
	free(v->cgroup);
	free(v);
}

const struct tacho_view_info *tacho_view_info(const struct tacho_view *v)
{
	return &v->info;
}

const char *tacho_view_why_samples(const struct tacho_view *v)
{
	return v->sampled ? v->why_samples : NULL;
}

int tacho_view_add_process(struct tacho_view *v, int pid)
{
	if (pid <= 0 || !v->plan.program.has_processes)
		return -EINVAL;
	return v->bpf ? bpf_view_add_process(v->bpf, (uint32_t)pid) : sampled_view_add_process(v->sampled, (uint32_t)pid);
}

int tacho_view_fd(const struct tacho_view *v)
{
	/* A view of sums in the kernel has nothing in its ring, but its tracker may have. */
	if (v->bpf && v->has_names && v->names.own)
		return tacho_sampler_fd(v->names.own);
	return v->bpf ? bpf_view_fd(v->bpf) : sampled_view_fd(v->sampled);
}

static int on_record(void *arg, const struct view_record *rec)
{
	struct tacho_view *v = arg;
	struct tacho_view_row row = { .size = sizeof(row), .time_ns = rec->time, .values = v->rows.values,
				      .wall_ns = (int64_t)rec->time + v->rows.wall_offset_ns };

	view_rows_of_record(&v->rows, rec);
	return v->fn(v->arg, &row);
}

static int on_sideband(void *arg, const struct tacho_record *rec, const struct tacho_sideband *s)
{
	struct tacho_view *v = arg;

	return v->has_names ? stack_names_feed(&v->names, rec, s) : 0;
}

int tacho_view_read(struct tacho_view *v, bool last, tacho_view_row_fn *fn, void *arg)
{
	const struct sampled_calls calls = { .record = on_record, .sideband = on_sideband, .arg = v };
	int err = v->has_names ? stack_names_update(&v->names) : 0;

	v->fn = fn;
	v->arg = arg;
	if (err == 0)
		err = v->bpf ? bpf_view_drain(v->bpf, on_record, v) : sampled_view_drain(v->sampled, last, &calls);
	return min_of(err, 0);
}

uint64_t tacho_view_lost(struct tacho_view *v, const char **why)
{
	static const char *const causes[VIEW_LOST] = { "the buffer was full", "too many calls were in progress",
		"there are more rows than the limit", "stacks could not be stored",
		"their processes had ended before their files could be looked up" };
	uint64_t lost[VIEW_LOST] = { 0 }, missed = 0, sum;
	const char *cause = "another program was running on that CPU";

	if (v->bpf)
		bpf_view_lost(v->bpf, lost, &missed);
	else
		sampled_view_lost(v->sampled, lost);
	sum = missed;
	for (size_t i = VIEW_LOST; i--;) {
		sum += lost[i];
		if (lost[i])
			cause = causes[i];
	}
	snprintf(v->why_lost, sizeof(v->why_lost), "%s", cause);
	if (why)
		*why = v->why_lost;
	return sum;
}
