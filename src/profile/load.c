/*
 * Loads a recording: its records are read in the order of time, and each sample is added to a row. The stacks of samples
 * are resolved in batches (stacks.h), so a decoded sample waits as struct pending_sample until its batch is full or the
 * maps change. Samples that fast_path.c accepts are not decoded at all.
 */
#include "profile/load.h"

#include "profile/quality.h"
#include "profile/trie.h"
#include "record/perf_abi.h"

#include <errno.h>

#define MISC_CPUMODE 7u

static void load_done(struct load *l)
{
	details_done(&l->details);
	stacks_done(&l->stacks);
	fast_path_done(&l->fast);
	tacho_unwinder_free(l->unwinder);
	tacho_symbols_free(l->own);
	keymap_done(&l->task_index);
	vec_done(&l->tasks);
	running_done(&l->running);
	free(l->scratch);
	free(l->event_ids);
	free(l->windows);
}

/* ---- from the batch to rows ---- */

/* Counts a sample whose node is known, and adds its row if the filters accept it. */
static int add_sample_row(struct load *l, struct pending_sample *w)
{
	struct tacho_profile *p = l->profile;
	struct tacho_profile_event *ev = &p->events.v[w->row.event];
	bool latency = p->opts.keep & TACHO_KEEP_PARALLELISM;

	ev->all_samples += w->row.samples;
	ev->all_period += w->row.period;
	if (latency)
		ev->all_latency += w->row.period * 1000 / w->parallelism;
	if (w->filtered || !profile_row_passes(p, &w->row))
		return 0;
	ev->samples += w->row.samples;
	ev->period += w->row.period;
	if (latency)
		ev->latency += w->row.period * 1000 / w->parallelism;
	p->quality.samples += w->row.samples;
	p->quality.raw_stacks += w->raw_stack;
	load_note_time(l, w->time);
	if (p->opts.join_threads)
		w->row.thread = p->threads.v[w->row.thread].first_of_comm;
	return profile_add_row(p, &w->row);
}

static int add_pending_row(struct load *l, struct pending_sample *w)
{
	bool dropped = !w->counted_already && l->stacks.batch[w - l->pending].dropped;
	int err = dropped ? 0 : w->counted_already ? profile_add_row(l->profile, &w->row) : add_sample_row(l, w);

	if (err == 0 && w->leaf_tag)
		fast_path_remember_leaf(l, w);
	return err;
}

/* Whether a sample's node already has a row is unpredictable, and the two cases run different code, so
 * samples whose node has no row are processed after all others, in their order. */
int load_flush(struct load *l)
{
	struct pending_sample *with_row[MAX_BATCH], *without_row[MAX_BATCH];
	size_t n_with_row = 0, n_without_row = 0;
	int err = stacks_resolve(&l->stacks);

	for (size_t i = 0; i < l->stacks.n && err == 0; i++) {
		struct pending_sample *w = &l->pending[i];
		bool has_row;

		w->row.node = l->stacks.batch[i].node;
		has_row = profile_rows_prefetch(l->profile, w->row.node) & !l->profile->opts.per_time;
		with_row[n_with_row] = without_row[n_without_row] = w;
		n_with_row += has_row;
		n_without_row += !has_row;
	}
	for (size_t i = 0; i < n_with_row && err == 0; i++)
		err = add_pending_row(l, with_row[i]);
	for (size_t i = 0; i < n_without_row && err == 0; i++)
		err = add_pending_row(l, without_row[i]);
	stacks_clear(&l->stacks);
	return err;
}

int load_change_code(struct load *l, uint64_t time)
{
	if (time == UINT64_MAX)		/* the sample has no time */
		return 0;
	if (load_flush(l) < 0 || tacho_symbols_advance(l->symbols, time) < 0)
		return -ENOMEM;
	fast_path_forget_tasks(&l->fast);
	l->next_change = tacho_symbols_next_change(l->symbols);
	return 0;
}

/* The stack of a branch is its target alone, so it is not batched. */
static int add_branch_row(struct load *l, const struct tacho_sample *s, const struct tacho_branch *branch,
			  struct pending_sample *w)
{
	struct frame_desc desc;
	uint32_t frame;

	if (stacks_frame(&l->stacks, s->pid, TACHO_SPACE_UNKNOWN, branch->to, &desc) < 0)
		return -ENOMEM;
	if (l->profile->opts.resolved && !desc.known)
		return 0;
	frame = profile_intern_frame(l->profile, &desc);
	w->row.node = frame == KEYMAP_NONE ? KEYMAP_NONE :
		      profile_intern_outermost(l->profile, profile_node_owner(l->profile, w->row.thread), frame);
	return w->row.node == KEYMAP_NONE ? -ENOMEM : add_sample_row(l, w);
}

/* ---- samples ---- */

static bool is_filtered(const struct load *l, const struct tacho_sample *s)
{
	const struct profile_filter *f = &l->profile->filter;

	return (f->by_parallelism && !cpuset_has(&f->parallelism, (int)l->details.parallelism)) ||
	       (f->by_counted_cpu && !((s->type & PERF_SAMPLE_CPU) && cpuset_has(&f->counted_cpus, (int)s->cpu)));
}

static void fill_pending(struct pending_sample *w, const struct load *l, const struct tacho_sample *s)
{
	const struct tacho_profile_opts *o = &l->profile->opts;

	w->row.cpu = o->per_cpu && (s->type & PERF_SAMPLE_CPU) ? (int32_t)s->cpu : -1;
	w->row.time = o->per_time ? s->time : 0;
	w->row.samples = o->weight_is_count ? (uint32_t)min_of(max_of(s->weight, UINT64_C(1)), (uint64_t)UINT32_MAX) : 1;
	w->row.period = s->period;
	w->time = s->time;
	w->raw_stack = s->n_stack != 0 && !o->no_chains;
	w->filtered = l->profile->filter.by_sample && is_filtered(l, s);
	w->counted_already = false;
	w->leaf_tag = 0;
	w->parallelism = l->details.parallelism;
}

/* Adds the sample's stack to the batch. A stack dump is unwound first, by the maps as they are now. */
static int add_stack(struct load *l, const struct tacho_sample *s, enum tacho_space space, struct pending_sample *w)
{
	struct tacho_sample unwound;
	int got;

	if (!w->raw_stack)
		return stacks_add(&l->stacks, w->row.thread, s, space);
	if (!l->unwinder &&
	    tacho_unwinder_new(&l->unwinder, l->symbols, tacho_perfdata_event(l->pd, 0)->layout.machine, NULL) < 0)
		return -ENOMEM;
	unwound = *s;
	got = tacho_unwinder_unwind(l->unwinder, s, &unwound.chain);
	w->raw_stack = got == 0;
	return got < 0 ? got : stacks_add(&l->stacks, w->row.thread, &unwound, space);
}

/* `event` is the event id in the profile, `file_event` the index in the file of the event that the record
 * belongs to; `branch` may be NULL. */
static int add_sample(struct load *l, const struct tacho_sample *s, uint16_t misc, uint32_t event,
		      size_t file_event, const struct tacho_branch *branch)
{
	const struct tacho_profile_opts *o = &l->profile->opts;
	enum tacho_space space = misc & MISC_CPUMODE;
	int err = stacks_full(&l->stacks) ? load_flush(l) : 0;
	struct pending_sample *w = &l->pending[l->stacks.n];

	if (err < 0)
		return err;
	fill_pending(w, l, s);
	w->row.event = event;
	w->row.thread = load_thread(l, s->pid, s->tid);
	w->row.detail = 0;
	if (o->keep || o->n_fields)
		w->row.detail = details_sample(&l->details, l->pd, file_event, s, space, branch);
	if (w->row.thread == KEYMAP_NONE || w->row.detail == KEYMAP_NONE)
		return -ENOMEM;
	return branch ? add_branch_row(l, s, branch, w) : add_stack(l, s, space, w);
}

static bool in_time(const struct load *l, uint64_t time)
{
	if (!l->n_windows)
		return true;
	for (size_t i = 0; i < l->n_windows; i++)
		if (time >= l->windows[i].from_ns && time <= l->windows[i].to_ns)
			return true;
	return false;
}

static bool passes_selection(struct load *l, const struct tacho_sample *s, size_t event)
{
	const struct profile_filter *f = &l->profile->filter;

	return in_time(l, s->time) && (!has_switch_filter(l) || tacho_switch_lets(&l->event_switch, l->pd, event)) &&
	       (!f->by_cpu || cpuset_has(&f->cpus, (int)s->cpu));
}

static inline bool is_selected(struct load *l, const struct tacho_sample *s, size_t event)
{
	return !l->selects_samples || passes_selection(l, s, event);
}

/* A sample with counter values (PERF_SAMPLE_READ) counts as one sample of each counter of the group; its
 * period is the increment since the previous sample. tacho_perfdata_counted() must be called for rejected
 * samples, too, to compute the increment. */
static int add_values(struct load *l, struct tacho_sample *s, uint16_t misc, size_t file_event)
{
	uint64_t period = s->period;
	int err = 0;

	for (size_t i = 0; i < s->read.n && err >= 0; i++) {
		size_t of = 0;

		err = tacho_perfdata_counted(l->pd, file_event, s, i, &of, &s->period);
		if (err > 0 && of < l->n_event_ids && is_selected(l, s, of))
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

/* A sampled thread is running, even if it was switched in before the recording. */
static int note_running(struct load *l, const struct tacho_sample *s)
{
	int err = running_on(&l->running, s->tid);

	l->details.parallelism = running_n(&l->running, l->n_cpus);
	return err;
}

static int load_sample(struct load *l, const struct tacho_record *rec)
{
	int event = tacho_perfdata_event_of(l->pd, rec);
	const struct tacho_file_event *fe = event < 0 ? NULL : tacho_perfdata_event(l->pd, (size_t)event);
	struct tacho_sample *s = &l->sample;

	if (fe && (size_t)event >= l->n_event_ids && load_file_events(l) < 0)
		return -ENOMEM;
	if (!fe || tacho_sample_decode_again(s, rec, &fe->layout, l->scratch) < 0) {
		load_note_bad(l, rec);
		return 0;
	}
	if ((s->type & PERF_SAMPLE_TIME) && load_reach_time(l, s->time) < 0)
		return -ENOMEM;
	if (l->running.recorded && note_running(l, s) < 0)
		return -ENOMEM;
	if ((s->type & PERF_SAMPLE_READ) && (s->read.format & PERF_FORMAT_ID) && !l->profile->opts.branches)
		return add_values(l, s, rec->misc, (size_t)event);
	if (!is_selected(l, s, (size_t)event))
		return 0;
	if (l->profile->opts.branches)
		return add_branches(l, s, rec->misc, (size_t)event);
	if (l->profile->opts.weigh)
		s->period = max_of(s->weight, (uint64_t)1);
	return add_sample(l, s, rec->misc, l->event_ids[event], (size_t)event, NULL);
}

int load_record(struct load *l, const struct tacho_record *rec)
{
	return rec->type == TACHO_RECORD_SAMPLE ? load_sample(l, rec) : load_sideband(l, rec);
}

/* ---- the whole file ---- */

static int load_records(struct load *l, struct tacho_error *e)
{
	struct tacho_record rec;
	int err;

	while ((err = tacho_perfdata_next(l->pd, &rec, e)) > 0)
		if (load_record(l, &rec) < 0 || fast_path_read(l) < 0)
			return error_nomem(e);
	return load_flush(l) < 0 ? error_nomem(e) : err;
}

static int load_prepare(struct load *l, struct tacho_error *e)
{
	int err = load_file_filters(l, e);

	if (err < 0)
		return err;
	l->details = (struct details){ .profile = l->profile, .stacks = &l->stacks,
				       .swapped = tacho_perfdata_swapped(l->pd), .parallelism = 1 };
	l->n_cpus = load_file_n_cpus(l->pd);
	l->next_change = tacho_symbols_next_change(l->symbols);
	tacho_symbols_set_monotonic(l->symbols, tacho_perfdata_is_monotonic(l->pd));
	l->selects_samples = l->n_windows || has_switch_filter(l) || l->profile->filter.by_cpu;
	for (size_t i = 0; i < RECENT_THREADS; i++)
		l->recent_threads[i].thread = KEYMAP_NONE;
	l->scratch = calloc(1, sizeof(*l->scratch));
	if (!l->scratch || stacks_init(&l->stacks, l->profile, l->symbols, !l->own) < 0 ||
	    load_file_events(l) < 0 || load_file_build_ids(l) < 0 || fast_path_open(l) < 0)
		return error_nomem(e);
	return 0;
}

static int load_all(struct load *l, struct tacho_error *e)
{
	int err;

	if (l->profile->closed)
		return error_set(e, -EINVAL, "the profile was created with `once`, so it cannot load a second file");
	err = load_prepare(l, e);
	if (err == 0)
		err = load_records(l, e);
	if (err == 0 && l->own && tacho_symbols_failed(l->own) < 0)
		err = error_nomem(e);
	if (err == 0 && has_switch_filter(l))
		err = tacho_switch_check(&l->event_switch, l->pd, e);
	fast_path_add_totals(l);
	if (l->stacks.entries)
		stacks_update_objects(&l->stacks);
	quality_times(&l->profile->quality, l->first_ns, l->last_ns);
	if (err != -ENOMEM && l->own && load_last_comms(l) < 0)
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
