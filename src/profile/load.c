/*
 * Walks a file in the order of time: side-band records go to the symbols, samples become rows.
 * Tasks are kept per tid, with the id of (pid, tid, comm) as of now.
 */
#include "profile/profile.h"

#include "base/perf_abi.h"
#include "record/cursor.h"

#include <errno.h>

#define MISC_CPUMODE 7u
#define MISC_SWITCH_OUT (1u << 13)

struct task {
	uint32_t pid;
	uint32_t thread;		/* id, or KEYMAP_NONE: ask the symbols */
};

/* One counter whose values come with samples: what was counted since the last one is its period. */
struct counter {
	uint32_t event;			/* ours, or KEYMAP_NONE */
	uint64_t last;
};

struct waiting {			/* a sample in the batch of stacks */
	struct tacho_profile_row row;
	uint64_t time;
	bool raw_stack;
	uint32_t parallelism;
};

struct load {
	struct tacho_profile *profile;
	struct tacho_perfdata *pd;
	struct tacho_symbols *symbols;
	struct tacho_symbols *own;	/* the same, where they end with the file */
	struct stacks stacks;
	struct tacho_scratch *scratch;
	struct keymap task_of;		/* tid -> index */
	struct { struct task *v; size_t n, cap; } tasks;
	uint32_t *event_ids;		/* the file's -> ours */
	size_t n_event_ids;
	struct window *windows;
	size_t n_windows;
	struct keymap counter_of;	/* event id -> index, of those that samples carry values of */
	struct { struct counter *v; size_t n, cap; } counters;
	struct details details;
	int64_t running;		/* threads, by the switches so far; who begins is not told: 1 */
	uint32_t n_cpus;
	uint64_t lost_told, lost_counted;	/* by LOST records, and by LOST_SAMPLES at the end */
	struct waiting waiting[BATCH_MOST];	/* for their stacks' nodes */
};

static void load_done(struct load *l)
{
	details_done(&l->details);
	stacks_done(&l->stacks);
	tacho_symbols_free(l->own);
	keymap_done(&l->task_of);
	keymap_done(&l->counter_of);
	vec_done(&l->counters);
	vec_done(&l->tasks);
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

static struct counter *counter_at(struct load *l, uint64_t id)
{
	uint32_t at = keymap_get(&l->counter_of, id);
	struct counter *c;

	if (at != KEYMAP_NONE)
		return &l->counters.v[at];
	c = vec_add(&l->counters);
	if (!c || keymap_put(&l->counter_of, id, (uint32_t)(l->counters.n - 1)) < 0)
		return NULL;
	c->event = KEYMAP_NONE;
	for (size_t i = 0; i < l->n_event_ids; i++) {
		const struct tacho_file_event *fe = tacho_perfdata_event(l->pd, i);

		for (size_t k = 0; k < fe->n_ids; k++)
			if (fe->ids[k] == id)
				c->event = l->event_ids[i];
	}
	return c;
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
		first = cursor_word(times, tacho_perfdata_swapped(l->pd));
		last = cursor_word(times + 8, tacho_perfdata_swapped(l->pd));
	}
	if (f->shares.n && last <= first) {
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

/* The event that follows maps and tasks beside the others. */
static bool never_samples(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

static int cpus_are_there(const struct load *l, struct tacho_error *e)
{
	bool there = !l->profile->filter.by_cpu || tacho_perfdata_n_events(l->pd) == 0;

	for (size_t i = 0; i < tacho_perfdata_n_events(l->pd); i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(l->pd, i);

		if ((ev->layout.sample_type & PERF_SAMPLE_CPU) && !never_samples(ev->attr))
			there = true;
	}
	if (there)
		return 0;
	error_set(e, -EINVAL, "the samples do not say on which CPU they were taken");
	error_hint(e, "record with -a or --sample-cpu, or leave out the list of CPUs");
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

static int samples_settle(struct load *l);

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

static uint32_t thread_id(struct load *l, uint32_t pid, uint32_t tid)
{
	struct task *t = task_at(l, tid);

	if (!t)
		return KEYMAP_NONE;
	if (t->thread == KEYMAP_NONE || t->pid != pid) {
		t->pid = pid;
		t->thread = profile_thread(l->profile, pid, tid,
					   tacho_symbols_comm(l->symbols, pid, tid));
	}
	return t->thread;
}

static int forget_thread(struct load *l, uint32_t tid)
{
	struct task *t = task_at(l, tid);

	if (!t)
		return -ENOMEM;
	t->thread = KEYMAP_NONE;
	return 0;
}

/* What LOST records told as it happened is counted once more by the events themselves. */
static void note_lost(struct load *l, const struct tacho_other *o)
{
	uint64_t before = max_of(l->lost_told, l->lost_counted);

	*(o->type == TACHO_RECORD_LOST ? &l->lost_told : &l->lost_counted) += o->lost.lost;
	l->profile->quality.lost += max_of(l->lost_told, l->lost_counted) - before;
	l->profile->quality.lost_records++;
}

/* What the record changes in our own tables. */
static int note(struct load *l, const struct tacho_other *o)
{
	switch (o->type) {
	case TACHO_RECORD_COMM:
		return forget_thread(l, o->comm.tid);
	case TACHO_RECORD_FORK:
		return forget_thread(l, o->task.tid);
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

/* Switches may come out of order: how many run is never believed to be none, or more than CPUs. */
static void note_switch(struct load *l, bool out)
{
	int64_t n;

	l->running += out ? -1 : 1;
	n = min_of(l->running, (int64_t)l->n_cpus);
	l->details.parallelism = (uint32_t)max_of(n, (int64_t)1);
}

static uint32_t cpus_of(const struct tacho_perfdata *pd)
{
	size_t n;
	const uint8_t *cpus = tacho_perfdata_feature(pd, TACHO_FEATURE_NRCPUS, &n);
	struct cursor c = cursor_over(cpus, cpus ? n : 0, tacho_perfdata_swapped(pd));
	uint32_t most = cursor_u32(&c);

	return c.bad || !most ? UINT32_MAX : most;
}

static int take_other(struct load *l, const struct tacho_record *rec)
{
	int event = tacho_perfdata_event_of(l->pd, rec);
	const struct tacho_file_event *fe = event < 0 ? NULL : tacho_perfdata_event(l->pd, (size_t)event);
	struct tacho_other other;
	int err;

	if (rec->type >= TACHO_RECORD_HEADER_ATTR)
		return rec->type == TACHO_RECORD_HEADER_ATTR ? events_learn(l) : 0;
	/* What waits was sampled before this. */
	err = samples_settle(l);
	if (err < 0)
		return err;
	if (rec->type == TACHO_RECORD_SWITCH || rec->type == TACHO_RECORD_SWITCH_CPU_WIDE)
		note_switch(l, rec->misc & MISC_SWITCH_OUT);
	l->scratch->used = 0;
	err = tacho_other_decode(&other, rec, fe ? &fe->layout : NULL, l->scratch);
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

static int sample_settle(struct tacho_profile *p, struct waiting *w)
{
	struct tacho_profile_event *ev = &p->events.v[w->row.event];
	bool latency = p->opts.keep & TACHO_KEEP_PARALLELISM;

	ev->all_samples++;
	ev->all_period += w->row.period;
	if (latency)
		ev->all_latency += w->row.period * 1000 / w->parallelism;
	if (!profile_wants(p, &w->row) || (p->filter.by_parallelism &&
				    !cpuset_has(&p->filter.parallelism, (int)w->parallelism)))
		return 0;
	ev->samples++;
	ev->period += w->row.period;
	if (latency)
		ev->latency += w->row.period * 1000 / w->parallelism;
	quality_sample(&p->quality, w->time, w->raw_stack);
	if (p->opts.join_threads)
		w->row.thread = p->threads.v[w->row.thread].first;
	return profile_row(p, &w->row);
}

/* All samples that wait become rows. */
static int samples_settle(struct load *l)
{
	int err = stacks_resolve(&l->stacks);

	for (size_t i = 0; i < l->stacks.n && err == 0; i++) {
		l->waiting[i].row.node = l->stacks.batch[i].node;
		profile_rows_prefetch(l->profile, l->stacks.batch[i].node);
	}
	for (size_t i = 0; i < l->stacks.n && err == 0; i++)
		err = sample_settle(l->profile, &l->waiting[i]);
	stacks_clear(&l->stacks);
	return err;
}

/* A branch's stack is its target alone: it need not wait. */
static int settle_branch(struct load *l, const struct tacho_sample *s, const struct tacho_branch *branch,
			 struct waiting *w)
{
	struct tacho_profile_frame like;
	uint32_t frame;

	if (stacks_frame(&l->stacks, s->pid, TACHO_SPACE_UNKNOWN, branch->to, &like) < 0)
		return -ENOMEM;
	frame = profile_frame(l->profile, &like);
	w->row.node = frame == KEYMAP_NONE ? KEYMAP_NONE : profile_node(l->profile, 0, frame);
	return w->row.node == KEYMAP_NONE ? -ENOMEM : sample_settle(l->profile, w);
}

/* `file_event` is the file's number of it; `branch` may be NULL. */
static int add_sample(struct load *l, const struct tacho_sample *s, uint16_t misc, uint32_t event,
		      size_t file_event, const struct tacho_branch *branch)
{
	const struct tacho_profile *p = l->profile;
	enum tacho_space space = misc & MISC_CPUMODE;
	struct waiting waiting;
	struct tacho_profile_row row = {
		.event = event,
		.cpu = p->opts.per_cpu && (s->type & PERF_SAMPLE_CPU) ? (int32_t)s->cpu : -1,
		.time = p->opts.per_time ? s->time : 0, .cgroup = p->opts.per_cgroup ? s->cgroup : 0,
		.samples = 1, .period = s->period,
	};

	if (stacks_full(&l->stacks)) {
		int err = samples_settle(l);

		if (err < 0)
			return err;
	}
	row.thread = thread_id(l, s->pid, s->tid);
	if (row.thread == KEYMAP_NONE)
		return -ENOMEM;
	row.detail = details_sample(&l->details, l->pd, file_event, s, space, branch);
	if (row.detail == KEYMAP_NONE)
		return -ENOMEM;
	waiting = (struct waiting){ row, s->time, s->n_stack != 0, l->details.parallelism };
	if (branch)
		return settle_branch(l, s, branch, &waiting);
	l->waiting[l->stacks.n] = waiting;
	return stacks_add(&l->stacks, s->pid, s, space);
}

/* A sample with values stands for one of each counter, weighing what was counted since. */
static int add_values(struct load *l, struct tacho_sample *s, uint16_t misc, size_t file_event)
{
	for (size_t i = 0; i < s->read.n; i++) {
		struct tacho_read_value v = tacho_read_get(&s->read, i);
		struct counter *c = counter_at(l, v.id);
		int err;

		if (!c)
			return -ENOMEM;
		s->period = v.value - c->last;
		c->last = v.value;
		if (!s->period || c->event == KEYMAP_NONE)
			continue;
		err = add_sample(l, s, misc, c->event, file_event, NULL);
		if (err < 0)
			return err;
	}
	return 0;
}

static int add_branches(struct load *l, struct tacho_sample *s, uint16_t misc, size_t event)
{
	int err = 0;

	s->period = 1;
	for (size_t i = 0; i < s->n_branches && err == 0; i++)
		err = add_sample(l, s, misc, l->event_ids[event], event, &s->branches[i]);
	return err;
}

static int take_sample(struct load *l, const struct tacho_record *rec)
{
	int event = tacho_perfdata_event_of(l->pd, rec);
	struct tacho_sample s;

	if (event >= 0 && (size_t)event >= l->n_event_ids && events_learn(l) < 0)
		return -ENOMEM;
	l->scratch->used = 0;
	if (event < 0 || tacho_sample_decode(&s, rec, &tacho_perfdata_event(l->pd, (size_t)event)->layout,
					     l->scratch) < 0) {
		l->profile->quality.bad_records++;
		return 0;
	}
	if (l->profile->filter.by_cpu && !cpuset_has(&l->profile->filter.cpus, (int)s.cpu))
		return 0;
	if (!in_time(l, s.time))
		return 0;
	if (l->profile->opts.branches)
		return add_branches(l, &s, rec->misc, (size_t)event);
	if ((s.type & PERF_SAMPLE_READ) && (s.read.format & PERF_FORMAT_ID))
		return add_values(l, &s, rec->misc, (size_t)event);
	if (l->profile->opts.weigh)
		s.period = max_of(s.weight, (uint64_t)1);
	return add_sample(l, &s, rec->misc, l->event_ids[event], (size_t)event, NULL);
}

static int load_records(struct load *l, struct tacho_error *e)
{
	struct tacho_record rec;
	int err;

	while ((err = tacho_perfdata_next(l->pd, &rec, e)) > 0) {
		err = rec.type == TACHO_RECORD_SAMPLE ? take_sample(l, &rec) : take_other(l, &rec);
		if (err < 0)
			return error_nomem(e);
	}
	return samples_settle(l) < 0 ? error_nomem(e) : err;
}

static int load_prepare(struct load *l, struct tacho_error *e)
{
	int err = windows_learn(l, e);

	if (err == 0)
		err = cpus_are_there(l, e);
	if (err < 0)
		return err;
	l->details = (struct details){ .profile = l->profile, .stacks = &l->stacks,
				       .swapped = tacho_perfdata_swapped(l->pd), .parallelism = 1 };
	l->running = 1;
	l->n_cpus = cpus_of(l->pd);
	l->scratch = calloc(1, sizeof(*l->scratch));
	if (!l->scratch || stacks_init(&l->stacks, l->profile, l->symbols, !l->own) < 0 ||
	    events_learn(l) < 0 || build_ids_learn(l) < 0)
		return error_nomem(e);
	return 0;
}

static int load_all(struct load *l, struct tacho_error *e)
{
	int err = load_prepare(l, e);

	if (err == 0)
		err = load_records(l, e);
	if (l->stacks.words)
		stacks_objects(&l->stacks);
	if (err != -ENOMEM && quality_rows(l->profile) < 0)
		err = error_nomem(e);
	return err;
}

int tacho_profile_load(struct tacho_profile *p, struct tacho_perfdata *pd,
		       const struct tacho_symbols_opts *symbols, struct tacho_error *e)
{
	scoped(load_done) struct load l = { .profile = p, .pd = pd };
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
