/*
 * Walks a file in the order of time: side-band records go to the symbols, samples become rows.
 * Tasks are kept per tid, with the id of (pid, tid, comm) as of now.
 */
#include "profile/load.h"

#include "record/perf_abi.h"
#include "record/cursor.h"

#include <errno.h>

#define MISC_CPUMODE 7u
#define MISC_SWITCH_OUT (1u << 13)

static void load_done(struct load *l)
{
	details_done(&l->details);
	stacks_done(&l->stacks);
	lane_done(&l->lane);
	tacho_symbols_free(l->own);
	keymap_done(&l->task_of);
	vec_done(&l->tasks);
	running_done(&l->running);
	free(l->scratch);
	free(l->event_ids);
	free(l->windows);
}

/* ---- what the file tells before its records ---- */

static uint32_t event_id(struct load *l, size_t i)
{
	const struct tacho_file_event *fe = tacho_perfdata_event(l->pd, i);
	uint32_t id = profile_event(l->profile, fe->name ? fe->name : "unknown");
	const struct perf_event_attr *attr = fe->attr;

	if (id != KEYMAP_NONE) {
		struct tacho_profile_event *ev = &l->profile->events.v[id];

		ev->has_chains |= (fe->layout.sample_type & PERF_SAMPLE_CALLCHAIN) != 0;
		ev->tracepoint = fe->attr_size >= sizeof(attr->type) &&
				 attr->type == PERF_TYPE_TRACEPOINT;
		l->running.told |= fe->attr_size >= PERF_ATTR_FLAGS_END && (attr->flags & PERF_ATTR_CONTEXT_SWITCH);
	}
	return id;
}

/* A pipe may tell of events while it is read. */
static int events_learn(struct load *l)
{
	size_t n = tacho_perfdata_n_events(l->pd);
	uint32_t *bigger = reallocarray(l->event_ids, n + 1, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	l->event_ids = bigger;
	for (size_t i = l->n_event_ids; i < n; i++) {
		l->event_ids[i] = event_id(l, i);
		if (l->event_ids[i] == KEYMAP_NONE)
			return -ENOMEM;
	}
	for (size_t i = l->n_event_ids; i < n; i++) {
		const struct tacho_file_event *fe = tacho_perfdata_event(l->pd, i);
		struct tacho_profile_event *ev = &l->profile->events.v[l->event_ids[i]];

		if (fe->leader < n) {
			ev->leader = l->event_ids[fe->leader];
			ev->group_size = max_of(fe->group_size, 1u);
		}
	}
	l->n_event_ids = n;
	return 0;
}

static int windows_learn(struct load *l, struct tacho_error *e)
{
	const struct filter *f = &l->profile->filter;
	uint64_t first = 0, last = 0;
	const uint8_t *times;
	size_t n;

	if (!f->by_time)
		return 0;
	times = tacho_perfdata_feature(l->pd, TACHO_FEATURE_SAMPLE_TIME, &n);
	if (times && n >= 16) {
		first = load_u64(times, tacho_perfdata_swapped(l->pd));
		last = load_u64(times + 8, tacho_perfdata_swapped(l->pd));
	}
	if (f->shares.n && (!last || last < first)) {	/* equal: there is one sample */
		error_set(e, -EINVAL, "the file does not say when its first and last sample were");
		error_hint(e, "give the times in seconds: 12.5,13");
		return -EINVAL;
	}
	l->windows = reallocarray(NULL, f->windows.n + f->shares.n, sizeof(*l->windows));
	if (!l->windows)
		return error_nomem(e);
	l->n_windows = times_resolve(f, first, last, l->windows);
	return 0;
}

static bool by_switch(const struct load *l)
{
	return l->between.on || l->between.off;
}

static int switches_learn(struct load *l, struct tacho_error *e)
{
	const struct tacho_profile_opts *o = &l->profile->opts;

	l->between = (struct tacho_switch){ .on = o->switch_on, .off = o->switch_off, .show = o->show_switches };
	return by_switch(l) && tacho_perfdata_n_events(l->pd) ? tacho_switch_check(&l->between, l->pd, e) : 0;
}

/* The event that follows maps and tasks beside the others. */
static bool never_samples(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

static int cpus_are_there(const struct load *l, struct tacho_error *e)
{
	const struct filter *f = &l->profile->filter;
	bool there = (!f->by_cpu && !f->by_counted_cpu) || tacho_perfdata_n_events(l->pd) == 0;

	for (size_t i = 0; i < tacho_perfdata_n_events(l->pd); i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(l->pd, i);

		if ((ev->layout.sample_type & PERF_SAMPLE_CPU) && !never_samples(ev->attr))
			there = true;
	}
	if (there)
		return 0;
	error_set(e, -EINVAL, "the samples do not say on which CPU they were taken");
	error_hint(e, "record with -a or --sample-cpu, or choose no CPUs");
	return -EINVAL;
}

/* The build-id table: (header, pid, id of 20 bytes, its length, 3 bytes, path) after the other. */
static int build_ids_learn(struct load *l)
{
	size_t n, at = 0;
	const uint8_t *table = tacho_perfdata_feature(l->pd, TACHO_FEATURE_BUILD_ID, &n);
	bool swap = tacho_perfdata_swapped(l->pd);

	while (table && n - at > 36) {
		struct cursor c = cursor_over(table + at, n - at, swap);
		uint16_t misc, size;
		const uint8_t *id;
		const char *path;
		uint8_t n_id;

		cursor_u32(&c);
		misc = cursor_u16(&c);
		size = cursor_u16(&c);
		if (size <= 36 || size > n - at)
			break;
		id = table + at + 12;
		/* Bit 15 says that the length is given; before 5.10 it was always 20. */
		n_id = misc & (1u << 15) ? min_of(id[20], 20) : 20;
		path = (const char *)table + at + 36;
		if (memchr(path, '\0', size - 36u) &&
		    tacho_symbols_set_build_id(l->symbols, path, id, n_id,
					       (misc & MISC_CPUMODE) == TACHO_SPACE_KERNEL) == -ENOMEM)
			return -ENOMEM;
		at += size;
	}
	return 0;
}

/* ---- tasks ---- */

static struct task *task_at(struct load *l, uint32_t tid)
{
	uint32_t at = keymap_get(&l->task_of, tid);
	struct task *t;

	if (at != KEYMAP_NONE)
		return &l->tasks.v[at];
	t = vec_add(&l->tasks);
	if (!t || keymap_put(&l->task_of, tid, (uint32_t)(l->tasks.n - 1)) < 0)
		return NULL;
	t->thread = KEYMAP_NONE;
	return t;
}

static struct met *met_at(struct load *l, uint32_t tid)
{
	return &l->met[tid % MET_SLOTS];
}

static uint32_t thread_find(struct load *l, uint32_t pid, uint32_t tid)
{
	struct task *t = task_at(l, tid);

	if (!t)
		return KEYMAP_NONE;
	if (t->thread == KEYMAP_NONE || t->pid != pid) {
		t->pid = pid;
		t->thread = profile_thread(l->profile, pid, tid,
					   tacho_symbols_comm(l->symbols, pid, tid));
	}
	*met_at(l, tid) = (struct met){ tid, pid, t->thread };
	return t->thread;
}

uint32_t load_thread(struct load *l, uint32_t pid, uint32_t tid)
{
	const struct met *m = met_at(l, tid);

	if (m->tid == tid && m->pid == pid && m->thread != KEYMAP_NONE)
		return m->thread;
	return thread_find(l, pid, tid);
}

static int forget_thread(struct load *l, uint32_t tid)
{
	struct task *t = task_at(l, tid);

	if (!t)
		return -ENOMEM;
	t->thread = KEYMAP_NONE;
	met_at(l, tid)->thread = KEYMAP_NONE;
	return 0;
}

/* What LOST records told as it happened is counted once more by the events themselves. */
static void note_lost(struct load *l, const struct tacho_sideband *o)
{
	uint64_t before = max_of(l->lost_told, l->lost_counted);

	*(o->type == TACHO_RECORD_LOST ? &l->lost_told : &l->lost_counted) += o->lost.lost;
	l->profile->quality.lost += max_of(l->lost_told, l->lost_counted) - before;
	l->profile->quality.lost_records++;
}

static int note_switch(struct load *l, const struct tacho_sideband *o)
{
	uint32_t tid = o->type == TACHO_RECORD_EXIT ? o->task.tid : o->id.tid;
	int err = 0;

	l->running.told |= o->type != TACHO_RECORD_EXIT;
	if (o->type == TACHO_RECORD_EXIT || (o->misc & MISC_SWITCH_OUT))
		running_off(&l->running, tid);
	else
		err = running_on(&l->running, tid);
	l->details.parallelism = running_n(&l->running, l->n_cpus);
	return err;
}

/* What the record changes in our own tables. */
static int note(struct load *l, const struct tacho_sideband *o)
{
	switch (o->type) {
	case TACHO_RECORD_COMM:
		return forget_thread(l, o->comm.tid);
	case TACHO_RECORD_FORK:
		return forget_thread(l, o->task.tid);
	case TACHO_RECORD_SWITCH:
	case TACHO_RECORD_SWITCH_CPU_WIDE:
	case TACHO_RECORD_EXIT:
		return note_switch(l, o);
	case TACHO_RECORD_CGROUP:
		return profile_cgroup(l->profile, o->cgroup.id, o->cgroup.path);
	case TACHO_RECORD_LOST:
	case TACHO_RECORD_LOST_SAMPLES:
		note_lost(l, o);
		return 0;
	case TACHO_RECORD_THROTTLE:
		l->profile->quality.throttled++;
		return 0;
	default:
		return 0;
	}
}


static uint32_t cpus_of(const struct tacho_perfdata *pd)
{
	size_t n;
	const uint8_t *cpus = tacho_perfdata_feature(pd, TACHO_FEATURE_NRCPUS, &n);
	struct cursor c = cursor_over(cpus, cpus ? n : 0, tacho_perfdata_swapped(pd));
	uint32_t most = cursor_u32(&c);

	return c.bad || !most ? UINT32_MAX : most;
}

static bool tells_of_maps(const struct tacho_record *rec)
{
	switch (rec->type) {
	case TACHO_RECORD_MMAP:
	case TACHO_RECORD_MMAP2:
	case TACHO_RECORD_COMM:
	case TACHO_RECORD_FORK:
	case TACHO_RECORD_EXIT:
	case TACHO_RECORD_KSYMBOL:
	case TACHO_RECORD_TEXT_POKE:
		return true;
	default:
		return false;
	}
}

static int take_other(struct load *l, const struct tacho_record *rec)
{
	int event = tacho_perfdata_event_of(l->pd, rec);
	const struct tacho_file_event *fe = event < 0 ? NULL : tacho_perfdata_event(l->pd, (size_t)event);
	struct tacho_sideband other;
	int err;

	if (rec->type >= TACHO_RECORD_HEADER_ATTR)
		return rec->type == TACHO_RECORD_HEADER_ATTR ? events_learn(l) : 0;
	if (tells_of_maps(rec)) {
		if (load_settle(l) < 0)		/* what waits was sampled before this */
			return -ENOMEM;
		lane_forget(&l->lane);
	}
	l->scratch->used = 0;
	err = tacho_sideband_decode(&other, rec, fe ? &fe->layout : NULL, l->scratch);
	if (err == -EOPNOTSUPP)
		return 0;
	if (err < 0) {
		l->profile->quality.bad_records++;
		return 0;
	}
	err = note(l, &other);
	return err < 0 ? err : tacho_symbols_feed(l->symbols, &other) == -ENOMEM ? -ENOMEM : 0;
}

/* ---- samples ---- */

static bool in_time(const struct load *l, uint64_t time)
{
	if (!l->n_windows)
		return true;
	for (size_t i = 0; i < l->n_windows; i++)
		if (time >= l->windows[i].from_ns && time <= l->windows[i].to_ns)
			return true;
	return false;
}

static void note_sample(struct load *l, const struct waiting *w)
{
	struct tacho_profile_quality *q = &l->profile->quality;

	q->samples++;
	q->raw_stacks += w->raw_stack;
	load_time(l, w->time);
}

static int sample_settle(struct load *l, struct waiting *w)
{
	struct tacho_profile *p = l->profile;
	struct tacho_profile_event *ev = &p->events.v[w->row.event];
	bool latency = p->opts.keep & TACHO_KEEP_PARALLELISM;

	ev->all_samples++;
	ev->all_period += w->row.period;
	if (latency)
		ev->all_latency += w->row.period * 1000 / w->parallelism;
	if (w->out || !profile_wants(p, &w->row))
		return 0;
	ev->samples++;
	ev->period += w->row.period;
	if (latency)
		ev->latency += w->row.period * 1000 / w->parallelism;
	note_sample(l, w);
	if (p->opts.join_threads)
		w->row.thread = p->threads.v[w->row.thread].first;
	return profile_row(p, &w->row);
}

/* The row of a sample whose node is known, and what else it counts for. */
static int waiting_settle(struct load *l, struct waiting *w)
{
	if (w->counted)
		return profile_row(l->profile, &w->row);
	return l->stacks.batch[w - l->waiting].nameless ? 0 : sample_settle(l, w);
}

/* Which samples are the first of their row nobody can foretell, so these come behind all others, in their order. */
int load_settle(struct load *l)
{
	struct waiting *again[BATCH_MOST], *first[BATCH_MOST];
	size_t n_again = 0, n_first = 0;
	int err = stacks_resolve(&l->stacks);

	for (size_t i = 0; i < l->stacks.n && err == 0; i++) {
		struct waiting *w = &l->waiting[i];
		bool has;

		w->row.node = l->stacks.batch[i].node;
		has = profile_rows_prefetch(l->profile, w->row.node) & !l->profile->opts.per_time;
		again[n_again] = first[n_first] = w;
		n_again += has;
		n_first += !has;
	}
	for (size_t i = 0; i < n_again && err == 0; i++)
		err = waiting_settle(l, again[i]);
	for (size_t i = 0; i < n_first && err == 0; i++)
		err = waiting_settle(l, first[i]);
	stacks_clear(&l->stacks);
	return err;
}

/* A branch's stack is its target alone: it need not wait. */
static int settle_branch(struct load *l, const struct tacho_sample *s, const struct tacho_branch *branch,
			 struct waiting *w)
{
	struct frame_like like;
	uint32_t frame;

	if (stacks_frame(&l->stacks, s->pid, TACHO_SPACE_UNKNOWN, branch->to, &like) < 0)
		return -ENOMEM;
	if (l->profile->opts.resolved && !like.known)
		return 0;
	frame = profile_frame(l->profile, &like);
	w->row.node = frame == KEYMAP_NONE ? KEYMAP_NONE :
		      profile_outermost(l->profile, profile_owner(l->profile, w->row.thread), frame);
	return w->row.node == KEYMAP_NONE ? -ENOMEM : sample_settle(l, w);
}

static bool is_out(const struct load *l, const struct tacho_sample *s)
{
	const struct filter *f = &l->profile->filter;

	return (f->by_parallelism && !cpuset_has(&f->parallelism, (int)l->details.parallelism)) ||
	       (f->by_counted_cpu && !((s->type & PERF_SAMPLE_CPU) && cpuset_has(&f->counted_cpus, (int)s->cpu)));
}

/* What the sample itself tells. */
static void waiting_fill(struct waiting *w, const struct load *l, const struct tacho_sample *s)
{
	const struct tacho_profile_opts *o = &l->profile->opts;

	w->row.cpu = o->per_cpu && (s->type & PERF_SAMPLE_CPU) ? (int32_t)s->cpu : -1;
	w->row.time = o->per_time ? s->time : 0;
	w->row.samples = 1;
	w->row.period = s->period;
	w->time = s->time;
	w->raw_stack = s->n_stack != 0;
	w->out = l->profile->filter.by_sample && is_out(l, s);
	w->counted = false;
	w->parallelism = l->details.parallelism;
}

/* `file_event` is the file's number of it; `branch` may be NULL. */
static int add_sample(struct load *l, const struct tacho_sample *s, uint16_t misc, uint32_t event,
		      size_t file_event, const struct tacho_branch *branch)
{
	const struct tacho_profile_opts *o = &l->profile->opts;
	enum tacho_space space = misc & MISC_CPUMODE;
	int err = stacks_full(&l->stacks) ? load_settle(l) : 0;
	struct waiting *w = &l->waiting[l->stacks.n];

	if (err < 0)
		return err;
	waiting_fill(w, l, s);
	w->row.event = event;
	w->row.thread = load_thread(l, s->pid, s->tid);
	w->row.detail = 0;
	if (o->keep || o->n_fields)
		w->row.detail = details_sample(&l->details, l->pd, file_event, s, space, branch);
	if (w->row.thread == KEYMAP_NONE || w->row.detail == KEYMAP_NONE)
		return -ENOMEM;
	return branch ? settle_branch(l, s, branch, w) : stacks_add(&l->stacks, w->row.thread, s, space);
}

static bool is_picked(struct load *l, const struct tacho_sample *s, size_t event)
{
	const struct filter *f = &l->profile->filter;

	return in_time(l, s->time) && (!by_switch(l) || tacho_switch_lets(&l->between, l->pd, event)) &&
	       (!f->by_cpu || cpuset_has(&f->cpus, (int)s->cpu));
}

static inline bool is_kept(struct load *l, const struct tacho_sample *s, size_t event)
{
	return !l->picks || is_picked(l, s, event);
}

/* A sample with values stands for one of each counter, weighing what was counted since, also where that
 * is not kept. */
static int add_values(struct load *l, struct tacho_sample *s, uint16_t misc, size_t file_event)
{
	uint64_t period = s->period;
	int err = 0;

	for (size_t i = 0; i < s->read.n && err >= 0; i++) {
		size_t of = 0;

		err = tacho_perfdata_counted(l->pd, file_event, s, i, &of, &s->period);
		if (err > 0 && of < l->n_event_ids && is_kept(l, s, of))
			err = add_sample(l, s, misc, l->event_ids[of], file_event, NULL);
	}
	s->period = period;
	return min_of(err, 0);
}

static int add_branches(struct load *l, struct tacho_sample *s, uint16_t misc, size_t event)
{
	int err = 0;

	s->period = 1;
	for (size_t i = 0; i < s->n_branches && err == 0; i++)
		err = add_sample(l, s, misc, l->event_ids[event], event, &s->branches[i]);
	return err;
}

/* Who is sampled runs. */
static int note_running(struct load *l, const struct tacho_sample *s)
{
	int err = running_on(&l->running, s->tid);

	l->details.parallelism = running_n(&l->running, l->n_cpus);
	return err;
}

static int take_sample(struct load *l, const struct tacho_record *rec)
{
	int event = tacho_perfdata_event_of(l->pd, rec);
	const struct tacho_file_event *fe = event < 0 ? NULL : tacho_perfdata_event(l->pd, (size_t)event);
	struct tacho_sample *s = &l->sample;

	if (fe && (size_t)event >= l->n_event_ids && events_learn(l) < 0)
		return -ENOMEM;
	if (!fe || tacho_sample_decode_again(s, rec, &fe->layout, l->scratch) < 0) {
		l->profile->quality.bad_records++;
		return 0;
	}
	if (l->running.told && note_running(l, s) < 0)
		return -ENOMEM;
	if ((s->type & PERF_SAMPLE_READ) && (s->read.format & PERF_FORMAT_ID) && !l->profile->opts.branches)
		return add_values(l, s, rec->misc, (size_t)event);
	if (!is_kept(l, s, (size_t)event))
		return 0;
	if (l->profile->opts.branches)
		return add_branches(l, s, rec->misc, (size_t)event);
	if (l->profile->opts.weigh)
		s->period = max_of(s->weight, (uint64_t)1);
	return add_sample(l, s, rec->misc, l->event_ids[event], (size_t)event, NULL);
}

int load_record(struct load *l, const struct tacho_record *rec)
{
	return rec->type == TACHO_RECORD_SAMPLE ? take_sample(l, rec) : take_other(l, rec);
}

static int load_records(struct load *l, struct tacho_error *e)
{
	struct tacho_record rec;
	int err;

	while ((err = tacho_perfdata_next(l->pd, &rec, e)) > 0)
		if (load_record(l, &rec) < 0 || lane_take(l) < 0)
			return error_nomem(e);
	return load_settle(l) < 0 ? error_nomem(e) : err;
}

/* One of a file before keeps its name where this one does not know it. */
static int last_name(struct load *l, uint32_t pid, uint32_t tid, bool before, const char **out)
{
	const char *comm = tacho_symbols_comm(l->symbols, pid, tid);
	uint32_t name = profile_name(l->profile, comm);

	if (name == KEYMAP_NONE)
		return -ENOMEM;
	if (!before || comm[0] != ':')
		*out = l->profile->name_of.v[name];
	return 0;
}

/* The name that a thread ends with may be one that no sample had. */
static int last_names(struct load *l)
{
	for (size_t i = 0; i < l->profile->threads.n; i++) {
		struct tacho_profile_thread *t = &l->profile->threads.v[i].pub;
		bool before = i < l->n_threads_before;

		if (last_name(l, t->pid, t->tid, before, &t->last) < 0 ||
		    last_name(l, t->pid, t->pid, before, &t->process) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int load_prepare(struct load *l, struct tacho_error *e)
{
	int err = windows_learn(l, e);

	if (err == 0)
		err = cpus_are_there(l, e);
	if (err == 0)
		err = switches_learn(l, e);
	if (err < 0)
		return err;
	l->details = (struct details){ .profile = l->profile, .stacks = &l->stacks,
				       .swapped = tacho_perfdata_swapped(l->pd), .parallelism = 1 };
	l->n_cpus = cpus_of(l->pd);
	l->picks = l->n_windows || by_switch(l) || l->profile->filter.by_cpu;
	for (size_t i = 0; i < MET_SLOTS; i++)
		l->met[i].thread = KEYMAP_NONE;
	l->scratch = calloc(1, sizeof(*l->scratch));
	if (!l->scratch || stacks_init(&l->stacks, l->profile, l->symbols, !l->own) < 0 ||
	    events_learn(l) < 0 || build_ids_learn(l) < 0 || lane_open(l) < 0)
		return error_nomem(e);
	return 0;
}

static int load_all(struct load *l, struct tacho_error *e)
{
	int err;

	if (l->profile->closed)
		return error_set(e, -EINVAL, "a profile that is loaded once takes no second file");
	err = load_prepare(l, e);
	if (err == 0)
		err = load_records(l, e);
	if (err == 0 && by_switch(l))
		err = tacho_switch_check(&l->between, l->pd, e);
	lane_close(l);
	if (l->stacks.words)
		stacks_objects(&l->stacks);
	quality_times(&l->profile->quality, l->first_ns, l->last_ns);
	if (err != -ENOMEM && l->own && last_names(l) < 0)
		err = error_nomem(e);
	if (err != -ENOMEM && quality_rows(l->profile) < 0)
		err = error_nomem(e);
	if (l->profile->opts.once)
		profile_close(l->profile);
	return err;
}

int tacho_profile_load(struct tacho_profile *p, struct tacho_perfdata *pd,
		       const struct tacho_symbols_opts *symbols, struct tacho_error *e)
{
	scoped(load_done) struct load l = { .profile = p, .pd = pd, .n_threads_before = p->threads.n };
	int err = tacho_symbols_new(&l.own, symbols, e);

	l.symbols = l.own;
	return err < 0 ? err : load_all(&l, e);
}

int tacho_profile_load_next(struct tacho_profile *p, struct tacho_perfdata *pd,
			    struct tacho_symbols *symbols, struct tacho_error *e)
{
	scoped(load_done) struct load l = { .profile = p, .pd = pd, .symbols = symbols };

	return load_all(&l, e);
}
