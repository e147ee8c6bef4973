/*
 * The code decides once per file whether the profile allows the fast path, and determines the offsets of the
 * sample fields once per event. A sample then takes a few loads at known offsets, and the data of its thread
 * comes from a small cache that is invalidated when maps or comms change. All other records take the slow
 * path (load_record()), in order.
 */
#include "profile/load.h"

#include "perfdata/batch_reader.h"
#include "record/perf_abi.h"
#include "record/record.h"
#include "record/sample_offsets.h"
#include "profile/trie.h"
#include "symbol/address_lookup.h"

#include <errno.h>

#define MAX_READ 1024u			/* maximum number of records per batch */
#define PREFETCH_DISTANCE 16u		/* records between a record's prefetch and its use */
#define NEEDED (PERF_SAMPLE_IP | PERF_SAMPLE_TID)
#define MISC_CPUMODE 7u

/* ---- which samples qualify ---- */

/* Filters that look at the fields of a sample, or into its stack. */
static bool has_sample_filter(const struct profile_filter *f)
{
	return f->by_sample || f->by_cpu || f->by_parent || f->by_time || f->by_parallelism || f->by_counted_cpu || f->by_end;
}

/* Filters that look at threads and leaf frames only; see profile_row_passes(). */
static bool has_row_filter(const struct profile_filter *f)
{
	return f->comms.n || f->objects.n || f->symbols.n || f->pids.n || f->tids.n;
}

/* Whether rows store only event, thread and stack, and whether these are enough to accept a sample. */
static bool is_plain_profile(const struct load *l)
{
	const struct tacho_profile_opts *o = &l->profile->opts;

	return !l->selects_samples && !has_sample_filter(&l->profile->filter) && !o->keep && !o->n_fields && !o->per_cpu &&
	       !o->per_time && !o->branches && !o->weigh && !o->weight_is_count && !o->resolved && !o->max_stack;
}

static struct fast_event fast_event_of(const struct tacho_layout *lay, uint32_t id, bool no_chains)
{
	uint64_t type = lay->sample_type;

	return (struct fast_event){
		.has_chain = type & PERF_SAMPLE_CALLCHAIN, .leaf_only = no_chains || !(type & PERF_SAMPLE_CALLCHAIN),
		.ip = sample_field_offset(type, PERF_SAMPLE_IP), .task = sample_field_offset(type, PERF_SAMPLE_TID),
		.time = sample_field_offset(type, PERF_SAMPLE_TIME),
		.period = sample_field_offset(type, PERF_SAMPLE_PERIOD), .chain = sample_leading_end(type), .fixed_period = lay->period, .event = id,
		.usable = (type & NEEDED) == NEEDED && !(type & ~(SAMPLE_LEADING_FIELDS | (uint64_t)PERF_SAMPLE_CALLCHAIN)),
	};
}

/* Samples whose stacks are their addresses are added to rows found by address. */
static int open_leaf_rows(struct load *l)
{
	const struct tacho_profile_opts *o = &l->profile->opts;
	struct fast_path *fast = &l->fast;
	size_t n = l->own ? LEAF_ROWS : LEAF_ROWS_SMALL;
	bool any = false;

	for (size_t i = 0; i < fast->n_events; i++)
		any = any || (fast->events[i].leaf_only && fast->events[i].usable);
	if (!any)
		return 0;
	fast->leaf_rows = calloc(2 * n, sizeof(*fast->leaf_rows));
	fast->leaf_row_mask = n - 1;
	fast->leaf_ranges = !o->per_address && !o->per_srcline && !l->stacks.inlines;
	fast->filters_code = !l->stacks.inlines && (l->profile->filter.objects.n || l->profile->filter.symbols.n);
	fast->leaf_row_shift = fast->leaf_ranges || fast->filters_code ? LEAF_ROW_BITS : 0;
	return fast->leaf_rows ? 0 : -ENOMEM;
}

int fast_path_open(struct load *l)
{
	struct fast_path *fast = &l->fast;
	size_t n = l->n_event_ids;

	fast->id_offset = perfdata_sample_id_offset(l->pd);
	fast->generation = 1;
	fast->filters = has_row_filter(&l->profile->filter);
	if (!is_plain_profile(l) || !n || fast->id_offset >= UINT16_MAX)
		return 0;
	fast->events = calloc(n, sizeof(*fast->events));
	if (!fast->events)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		fast->events[i] = fast_event_of(&tacho_perfdata_event(l->pd, i)->layout, l->event_ids[i],
						l->profile->opts.no_chains);
	fast->n_events = n;
	return open_leaf_rows(l);
}

/* A recording from a pipe may describe another event between its records. From then on samples may have ids
 * although earlier samples had none, so the fast path is no longer used. */
static bool is_usable(const struct load *l)
{
	return l->fast.n_events && l->fast.n_events == tacho_perfdata_n_events(l->pd);
}

void fast_path_add_totals(struct load *l)
{
	for (size_t i = 0; i < l->fast.n_events; i++) {
		const struct fast_event *from = &l->fast.events[i];
		struct tacho_profile_event *to = &l->profile->events.v[from->event];

		to->samples += from->n;
		to->all_samples += from->n + from->n_rejected;
		to->period += from->sum;
		to->all_period += from->sum + from->sum_rejected;
		l->profile->quality.samples += from->n;
	}
}

void fast_path_done(struct fast_path *fast)
{
	free(take(fast->events));
	free(take(fast->leaf_rows));
}

void fast_path_forget_tasks(struct fast_path *fast)
{
	fast->generation++;
}

/* ---- samples ---- */

static inline uint64_t read_u64(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/* Fills a slot of the cache of ids. NULL: there is no such event, or its samples take the slow path. */
static struct fast_event *find_event(struct load *l, const uint8_t *at, struct fast_event_id *slot, uint64_t id)
{
	struct tacho_record rec;
	int event;

	perfdata_batch_record(l->pd, at, &rec);
	event = tacho_perfdata_event_of(l->pd, &rec);
	if (event < 0 || (size_t)event >= l->fast.n_events || !l->fast.events[event].usable)
		return NULL;
	*slot = (struct fast_event_id){ id, &l->fast.events[event] };
	return slot->event;
}

static inline struct fast_event *event_of_sample(struct load *l, const uint8_t *at, uint32_t size)
{
	struct fast_path *fast = &l->fast;
	struct fast_event_id *slot;
	uint64_t id;

	if (!fast->id_offset)
		return fast->events->usable ? fast->events : NULL;
	if (size < fast->id_offset + sizeof(id))
		return NULL;
	id = read_u64(at + fast->id_offset);
	slot = &fast->ids[id % FAST_EVENT_IDS];
	return slot->event && slot->id == id ? slot->event : find_event(l, at, slot, id);
}

/* Returns 1, 0 if the task's stacks cannot take the fast path, or -ENOMEM. */
static __attribute__((noinline)) int find_task(struct load *l, struct fast_task *t, uint32_t pid, uint32_t tid)
{
	uint32_t thread = load_thread(l, pid, tid);
	int err;

	if (thread == KEYMAP_NONE)
		return -ENOMEM;
	t->generation = 0;
	t->pid = pid;
	t->tid = tid;
	t->thread = l->profile->opts.join_threads && !l->fast.filters ? l->profile->threads.v[thread].first_of_comm : thread;
	err = stacks_task_context(&l->stacks, pid, thread, &t->context);
	t->row_seed = key_mix(t->thread + 1ull);
	if (err > 0)
		t->generation = l->fast.generation;
	return err;
}

static inline int task_of_sample(struct load *l, const uint8_t *at, struct fast_task **out)
{
	struct fast_task *t;
	uint32_t pid, tid;

	memcpy(&pid, at, sizeof(pid));
	memcpy(&tid, at + sizeof(pid), sizeof(tid));
	t = *out = &l->fast.tasks[tid % FAST_TASKS];
	if (t->tid == tid && t->pid == pid && t->generation == l->fast.generation)
		return 1;
	return find_task(l, t, pid, tid);
}

/* The chain of a sample, if it has one and all of it lies in the record. */
static inline bool chain_of_sample(const struct fast_event *ev, const uint8_t *at, uint32_t size, struct tacho_words *out)
{
	uint32_t first = ev->chain + 8;

	if (size < first)
		return false;
	*out = (struct tacho_words){ (const uint64_t *)(at + first), read_u64(at + ev->chain) };
	return out->n <= (size - first) / sizeof(*out->v);
}

/* Whether the chain begins with a marker and the sampled address. */
static inline bool begins_with_leaf(const struct fast_event *ev, const uint8_t *at, const struct tacho_words *chain)
{
	const uint64_t *v = chain->v;

	return (uintptr_t)at % sizeof(*v) == 0 && chain->n >= 2 && v[1] == read_u64(at + ev->ip) && v[1] < CONTEXT_FIRST &&
	       (v[0] == CONTEXT_USER || v[0] == CONTEXT_KERNEL);
}

/* The space of the sampled address, from the record's header, if it is one that the fast path knows. */
static inline bool space_of_sample(const uint8_t *at, enum tacho_space *out)
{
	uint16_t misc;

	memcpy(&misc, at + 4, sizeof(misc));
	*out = misc & MISC_CPUMODE;
	return *out == TACHO_SPACE_USER || *out == TACHO_SPACE_KERNEL;
}

static inline bool stack_of_sample(const struct fast_event *ev, const uint8_t *at, uint32_t size, struct tacho_words *chain,
				   enum tacho_space *space)
{
	if (ev->has_chain && !chain_of_sample(ev, at, size, chain))
		return false;
	return ev->leaf_only ? size >= ev->chain && space_of_sample(at, space) : begins_with_leaf(ev, at, chain);
}

/*
 * ---- rows by location ----
 *
 * A range of code with one row is in a slot of its start, and in those of recent samples in it. An offset whose slot has
 * another range is looked up by the start of its range.
 */

static inline struct leaf_row *leaf_row_slot(const struct fast_path *fast, uint64_t tag, uint64_t offset)
{
	return &fast->leaf_rows[key_add(tag, offset >> fast->leaf_row_shift) & fast->leaf_row_mask];
}

static inline struct leaf_row *leaf_start_slot(const struct fast_path *fast, uint64_t tag, uint64_t start)
{
	return &fast->leaf_rows[fast->leaf_row_mask + 1 + (key_add(tag, start) & fast->leaf_row_mask)];
}

static inline bool leaf_row_has(const struct leaf_row *slot, uint64_t tag, uint64_t offset)
{
	uint64_t at = offset - slot->first;

	return (slot->tag == tag) & (at <= slot->length) & (at >= slot->lowest);
}

/* The locations around the leaf's for which symbol tables give the same. False: unknown. */
static bool span_of_leaf(const struct load *l, const struct leaf_region *r, uint64_t offset, struct span *out)
{
	const struct tacho_spot spot = { offset, r->mapping.object };

	*out = (struct span){ offset, UINT64_MAX - offset };
	return r->mapping.object && symbols_span(l->symbols, r->space, &spot, out);
}

/* Looks up the range of a location whose own slot has another one. */
static __attribute__((noinline)) bool copy_leaf_row(struct load *l, const struct leaf_region *r, uint64_t tag, uint64_t offset,
						     struct leaf_row *slot)
{
	const struct leaf_row *start;
	struct span span;

	if (!(l->fast.leaf_ranges || l->fast.filters_code) || !span_of_leaf(l, r, offset, &span))
		return false;
	start = leaf_start_slot(&l->fast, tag, offset - span.before);
	if (!leaf_row_has(start, tag, offset))
		return false;
	*slot = *start;
	return true;
}

/* Adds the sample to the row of an earlier one. False: there is none. */
static inline bool add_to_leaf_row(struct load *l, const struct leaf_region *r, uint64_t tag, uint64_t offset, uint64_t period)
{
	struct leaf_row *slot = leaf_row_slot(&l->fast, tag, offset);
	struct tacho_profile_row *row;

	if (!leaf_row_has(slot, tag, offset) && !copy_leaf_row(l, r, tag, offset, slot))
		return false;
	row = &l->profile->rows.v[slot->row];
	if (row->samples == UINT32_MAX)
		return false;
	row->samples++;
	row->period += period;
	return true;
}

/* Stores what happens to samples in the span around `offset`; to those before `offset` only if !from_here. */
static void put_leaf_row(struct fast_path *fast, uint64_t tag, uint64_t offset, struct span span, bool from_here, uint32_t row)
{
	const uint64_t longest = UINT32_MAX;
	struct leaf_row to = { .tag = tag, .row = row };

	if (span.before > longest)
		span.before = 0;
	to.first = offset - span.before;
	to.length = (uint32_t)min_of(span.before + min_of(span.after, longest), longest);
	to.lowest = from_here ? (uint32_t)span.before : 0;
	*leaf_start_slot(fast, tag, to.first) = *leaf_row_slot(fast, tag, offset) = to;
}

/* The tag of code that a filter rejects. */
static inline uint64_t rejected_tag(const struct leaf_region *r)
{
	return key_add(r->mapping.hash_seed, LEAF_REJECTED) | 1;
}

void fast_path_remember_leaf(struct load *l, const struct pending_sample *w)
{
	const struct chain_entry *leaf = &l->stacks.batch[w - l->pending].leaf;
	uint32_t frame = l->profile->nodes.v[w->row.node].frame, row = profile_find_row(l->profile, &w->row);
	const struct tacho_profile_frame *f = &l->profile->frames.v[frame];
	const struct leaf_region region = { .mapping = { .object = leaf->spot.object }, .space = leaf->space };
	bool rejected = row == KEYMAP_NONE && l->fast.filters_code && l->profile->any_leaf_filtered &&
			(l->profile->frame_flags.v[frame] & FRAME_LEAF_FILTERED);
	bool unknown = !f->known && !rejected;
	struct span span;

	/* A JIT may still name its address, and replace the code there. */
	if ((row == KEYMAP_NONE && !rejected) || (f->jit && !f->known))
		return;
	if (f->jit || (!l->fast.leaf_ranges && !rejected) || (unknown && l->profile->opts.split_unknown) ||
	    !span_of_leaf(l, &region, leaf->spot.offset, &span))
		span = (struct span){ 0, 0 };
	if (rejected)
		put_leaf_row(&l->fast, w->rejected_tag, leaf->spot.offset, span, false, LEAF_REJECTED);
	else
		put_leaf_row(&l->fast, w->leaf_tag, leaf->spot.offset, span, unknown && l->profile->opts.lowest_unknown, row);
}

/* ---- all samples ---- */

struct fast_sample {
	struct fast_event *event;
	struct fast_task *task;
	uint64_t time, period, ip;
	struct tacho_words chain;
	enum tacho_space space;		/* of `ip`, if the stack is `ip` alone */
};

static inline void count_accepted(struct load *l, const struct fast_sample *s)
{
	s->event->n++;
	s->event->sum += s->period;
	load_note_time(l, s->time);
}

/* The sample's place in the batch, whose stack is still to be added; NULL if out of memory. */
static struct pending_sample *add_pending(struct load *l, const struct fast_sample *s)
{
	struct pending_sample *w;

	if (stacks_full(&l->stacks) && load_flush(l) < 0)
		return NULL;
	w = &l->pending[l->stacks.n];
	w->counted_already = !l->fast.filters;
	if (!l->fast.filters)
		count_accepted(l, s);
	w->raw_stack = w->filtered = false;
	w->parallelism = 1;
	w->time = s->time;
	w->leaf_tag = 0;
	w->row = (struct tacho_profile_row){
		.event = s->event->event, .thread = s->task->thread, .cpu = -1, .samples = 1, .period = s->period,
	};
	return w;
}

/* Whether a filter rejects the code at this offset, which is then counted. */
static inline bool reject_leaf(struct load *l, const struct fast_sample *s, const struct leaf_region *r, uint64_t offset)
{
	uint64_t tag = rejected_tag(r);
	struct leaf_row *slot = leaf_row_slot(&l->fast, tag, offset);

	if (!leaf_row_has(slot, tag, offset) && !copy_leaf_row(l, r, tag, offset, slot))
		return false;
	s->event->n_rejected++;
	s->event->sum_rejected += s->period;
	return true;
}

static int add_leaf(struct load *l, const struct fast_sample *s)
{
	const struct leaf_region *r = stacks_leaf_region(&l->stacks, &s->task->context, s->space, s->ip);
	struct pending_sample *w;
	uint64_t tag, offset;

	if (!r)
		return -ENOMEM;
	offset = (s->ip - r->mapping.bias) & r->mapping.mask;
	tag = key_add(r->mapping.hash_seed ^ s->task->row_seed, s->event->event) | 1;
	if (l->fast.filters_code && reject_leaf(l, s, r, offset))
		return 0;
	if (add_to_leaf_row(l, r, tag, offset, s->period)) {
		count_accepted(l, s);
		return 0;
	}
	w = add_pending(l, s);
	if (!w)
		return -ENOMEM;
	w->leaf_tag = tag;
	w->rejected_tag = rejected_tag(r);
	stacks_add_leaf(&l->stacks, &s->task->context, r, s->ip);
	return 0;
}

/* Returns 1, 0 if the sample must take the slow path, or -ENOMEM. */
static int read_sample(struct load *l, const uint8_t *at, uint32_t size)
{
	struct fast_sample s = { .event = event_of_sample(l, at, size) };
	const struct fast_event *ev = s.event;
	int err;

	if (!ev || !stack_of_sample(ev, at, size, &s.chain, &s.space))
		return 0;
	s.time = ev->time ? read_u64(at + ev->time) : 0;
	if (ev->time && load_reach_time(l, s.time) < 0)
		return -ENOMEM;
	err = task_of_sample(l, at + ev->task, &s.task);
	if (err <= 0)
		return err;
	s.ip = read_u64(at + ev->ip);
	s.period = ev->period ? read_u64(at + ev->period) : ev->fixed_period;
	if (ev->leaf_only)
		return add_leaf(l, &s) < 0 ? -ENOMEM : 1;
	return add_pending(l, &s) && stacks_add_raw(&l->stacks, &s.task->context, s.chain) == 0 ? 1 : -ENOMEM;
}

/* ---- records ---- */

static int read_record(struct load *l, const uint8_t *at)
{
	struct tacho_record rec;
	uint32_t type;
	uint16_t size;
	int err;

	memcpy(&type, at, sizeof(type));
	memcpy(&size, at + 6, sizeof(size));
	err = type == TACHO_RECORD_SAMPLE ? read_sample(l, at, size) : 0;
	if (err != 0)
		return min_of(err, 0);
	perfdata_batch_record(l->pd, at, &rec);
	return load_record(l, &rec);
}

/* Records are read in time order, not in file order, so the CPU's hardware prefetcher does not help. */
static inline void prefetch_record(const uint8_t *at)
{
	for (size_t line = 0; line < 192; line += 64)
		__builtin_prefetch(at + line);
}

int fast_path_read(struct load *l)
{
	const uint8_t *at[MAX_READ + PREFETCH_DISTANCE];
	int err = 0;
	size_t n;

	while (is_usable(l) && err == 0 && (n = perfdata_take_batch(l->pd, at, MAX_READ)) > 0) {
		for (size_t i = 0; i < PREFETCH_DISTANCE; i++)
			at[n + i] = at[n - 1];
		for (size_t i = 0; i < n && err == 0; i++) {
			prefetch_record(at[i + PREFETCH_DISTANCE]);
			err = read_record(l, at[i]);
		}
	}
	return err;
}
