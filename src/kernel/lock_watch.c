/*
 * Waits for locks that a BPF program adds up while they happen (bpf/locks.h). Types, locks and call chains are filtered, and
 * chains shortened to their caller, when the sums are read: with the code that does it for recordings.
 */
#include "kernel/lock_rows.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sized_opts.h"
#include "bpf/locks.h"
#include "sys/cgroup.h"
#include "sys/proc.h"

struct tacho_lock_watch {
	struct sys sys;
	struct tacho_lock_watch_opts opts;
	struct bpf_locks *bpf;
};

static enum lock_bpf_by bpf_by(enum tacho_lock_by by)
{
	switch (by) {
	case TACHO_LOCK_BY_TASK:
		return LOCK_BPF_TASK;
	case TACHO_LOCK_BY_OWNER:
		return LOCK_BPF_OWNER;
	case TACHO_LOCK_BY_CGROUP:
		return LOCK_BPF_CGROUP;
	default:
		return LOCK_BPF_NOTHING;
	}
}

static int cgroup_id(const struct sys *sys, const char *path, uint64_t *id)
{
	scoped(closep) int fd = cgroup_open(sys, path);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	*id = st.st_ino;
	return 0;
}

static int add_cgroups(struct tacho_lock_watch *w, const struct strlist *names)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < names->n; i++) {
		uint64_t id = 0;

		err = cgroup_id(&w->sys, names->v[i], &id);
		if (err == 0)
			err = bpf_locks_add_cgroup(w->bpf, id);
	}
	return err;
}

int tacho_lock_watch_add_process(struct tacho_lock_watch *w, int pid)
{
	scoped(idlist_done) struct idlist tids = { 0 };
	int err = w ? proc_threads(&w->sys, pid, &tids) : -EINVAL;

	for (size_t i = 0; err == 0 && i < tids.n; i++)
		err = bpf_locks_add_task(w->bpf, (uint32_t)tids.v[i]);
	return err;
}

static int add_targets(struct tacho_lock_watch *w, const struct strlist *cgroups, struct tacho_error *e)
{
	const struct tacho_lock_watch_opts *o = &w->opts;
	int err;

	for (size_t i = 0; i < o->n_pids; i++) {
		err = tacho_lock_watch_add_process(w, o->pids[i]);
		if (err < 0)
			return error_set(e, err, "cannot list the threads of process %d: %s", o->pids[i], strerror(-err));
	}
	for (size_t i = 0; i < o->n_tids; i++)
		if (bpf_locks_add_task(w->bpf, (uint32_t)o->tids[i]) < 0)
			return error_nomem(e);
	err = add_cgroups(w, cgroups);
	return err < 0 ? error_set(e, err, "cannot open the cgroups: %s", strerror(-err)) : 0;
}

static int load(struct tacho_lock_watch *w, struct tacho_error *e)
{
	scoped(strlist_done) struct strlist cgroups = { 0 };
	scoped(cpuset_done) struct cpuset cpus = { 0 };
	const struct tacho_lock_watch_opts *o = &w->opts;
	const struct tacho_lock_opts *rows = &o->rows;
	bool has_tasks = o->n_pids || o->n_tids || o->follow;
	int err = o->cpus ? cpuset_parse(&cpus, str_of(o->cpus)) : 0;

	if (err < 0 || (o->cpus && cpuset_empty(&cpus)))
		return err == -ENOMEM ? error_nomem(e) : error_set(e, -EINVAL, "'%s' is not a list of CPUs like 0-3,8", o->cpus);
	err = o->cgroups ? cgroup_match(&w->sys, o->cgroups, &cgroups, e) : 0;
	if (err < 0)
		return err;
	err = bpf_locks_open(&w->bpf, &(struct bpf_locks_opts){
		.by = bpf_by(rows->by), .by_lock = rows->by == TACHO_LOCK_BY_ADDRESS || rows->filter.n_addresses || rows->filter.n_names,
		.by_stack = rows->by == TACHO_LOCK_BY_CALLER || rows->filter.n_functions, .has_tasks = has_tasks,
		.follows = has_tasks && o->follow, .has_cgroups = cgroups.n > 0, .n_cgroups = cgroups.n,
		.cpus = o->cpus ? &cpus : NULL, .max_sums = o->max_rows }, e);
	return err < 0 ? err : add_targets(w, &cgroups, e);
}

int tacho_lock_watch_new(struct tacho_lock_watch **out, const struct tacho_lock_watch_opts *opts, struct tacho_error *e)
{
	struct tacho_lock_watch *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return error_nomem(e);
	err = sys_init(&w->sys, NULL, NULL, NULL) < 0 ? error_nomem(e) : opts_copy(&w->opts, sizeof(w->opts), opts, e);
	if (err == 0)
		err = load(w, e);
	if (err < 0) {
		tacho_lock_watch_free(w);
		return err;
	}
	*out = w;
	return 0;
}

void tacho_lock_watch_free(struct tacho_lock_watch *w)
{
	if (!w)
		return;
	bpf_locks_close(w->bpf);
	sys_done(&w->sys);
	free(w);
}

void tacho_lock_watch_start(struct tacho_lock_watch *w)
{
	bpf_locks_start(w->bpf);
}

void tacho_lock_watch_stop(struct tacho_lock_watch *w)
{
	bpf_locks_stop(w->bpf);
}

/* ---- the result ---- */

struct result {
	struct tacho_lock_watch *w;
	struct tacho_lock *l;
};

/* The first frames are those of the BPF program and of what calls it. */
static size_t n_bpf_frames(struct tacho_symbols *symbols, const uint64_t *ips, size_t n)
{
	static const char *const starts[] = { "bpf_prog_", "bpf_trace_", "__bpf_trace_", "__traceiter_" };
	struct tacho_frame frame;
	size_t i = 0;

	for (bool is_bpf = true; i < n && is_bpf; i += is_bpf) {
		const char *name = symbols && tacho_symbols_resolve(symbols, 0, TACHO_SPACE_KERNEL, ips[i], &frame) > 0 ?
				   tacho_symbols_name(symbols, frame.symbol) : "";

		is_bpf = false;
		for (size_t k = 0; k < countof(starts); k++)
			is_bpf |= str_starts(str_of(name), starts[k]);
	}
	return i;
}

static int on_sum(void *arg, const struct lock_bpf_key *key, const struct lock_bpf_sum *sum)
{
	struct result *r = arg;
	uint64_t ips[LOCK_BPF_FRAMES];
	int found = key->stack < 0 ? 0 : bpf_locks_stack(r->w->bpf, key->stack, ips);
	size_t n = (size_t)max_of(found, 0), skip = n_bpf_frames(r->w->opts.rows.symbols, ips, n);
	const struct lock_sum s = { .who = key->who, .lock = key->lock, .flags = (uint32_t)key->flags,
		.chain = { ips + skip, n - skip }, .n = sum->n, .wait_ns = sum->sum_ns, .max_ns = sum->max_ns, .min_ns = sum->min_ns };

	return lock_rows_add(r->l, &s);
}

static int name_tasks(struct result *r)
{
	int err = 0;

	for (size_t i = 0; err == 0 && tacho_lock_row(r->l, i); i++) {
		const struct tacho_lock_row *row = tacho_lock_row(r->l, i);
		char comm[16];

		if (row->tid != TACHO_LOCK_NO_OWNER && bpf_locks_comm(r->w->bpf, row->tid, comm))
			err = lock_rows_set_comm(r->l, i, comm);
	}
	return err;
}

/* Cgroups are known by their IDs; one that has been removed meanwhile has no name. */
static int name_cgroups(struct result *r)
{
	scoped(strlist_done) struct strlist all = { 0 };
	int err = cgroup_list(&r->w->sys, &all);

	for (size_t c = 0; err == 0 && c < all.n; c++) {
		uint64_t id = 0;

		if (cgroup_id(&r->w->sys, all.v[c], &id) < 0)
			continue;
		for (size_t i = 0; err == 0 && tacho_lock_row(r->l, i); i++)
			if (tacho_lock_row(r->l, i)->address == id)
				err = lock_rows_set_name(r->l, i, all.v[c]);
	}
	return err == -ENOENT ? 0 : err;
}

int tacho_lock_watch_read(struct tacho_lock_watch *w, struct tacho_lock **out, struct tacho_error *e)
{
	struct result r = { .w = w };
	int err = lock_rows_new(&r.l, &w->opts.rows, e);

	if (err < 0)
		return err;
	err = bpf_locks_each(w->bpf, on_sum, &r);
	if (err == 0)
		err = w->opts.rows.by == TACHO_LOCK_BY_CGROUP ? name_cgroups(&r) : name_tasks(&r);
	if (err < 0) {
		tacho_lock_free(r.l);
		return err == -ENOMEM ? error_nomem(e) : error_set(e, err, "cannot read the waits: %s", strerror(-err));
	}
	lock_rows_set_lost(r.l, bpf_locks_lost(w->bpf));
	*out = r.l;
	return 0;
}
