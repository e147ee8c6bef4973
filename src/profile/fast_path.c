/*
 * Whether a profile may go this way is asked once, and of each event where its samples have what. Then
 * a sample is a few loads from known places, and what belongs to its thread is at hand until a
 * record tells of new maps or names. Whatever does not fit goes the long way, in its turn.
 */
#include "profile/load.h"

#include "record/perf_abi.h"
#include "perfdata/batch_reader.h"
#include "record/record.h"

#include <errno.h>

#define TAKE_MOST 1024u		/* records at once */
#define AHEAD 16u			/* so long before they are looked at are they fetched */
#define BEFORE_CHAIN (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
		      PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |             \
		      PERF_SAMPLE_PERIOD)
#define NEEDED (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN)

/* ---- what goes this way ---- */

static bool filters(const struct filter *f)
{
	return f->comms.n || f->objects.n || f->symbols.n || f->pids.n || f->tids.n || f->by_sample || f->by_cpu ||
	       f->by_parent || f->by_time || f->by_parallelism || f->by_counted_cpu || f->ends;
}

static bool keeps_all(const struct load *l)
{
	const struct tacho_profile_opts *o = &l->profile->opts;

	return !l->picks && !filters(&l->profile->filter) && !o->keep && !o->n_fields && !o->per_cpu && !o->per_time &&
	       !o->branches && !o->weigh && !o->resolved && !o->no_chains && !o->max_stack;
}

/* All fields before the chain have eight bytes, and come in the order of this list. */
static uint32_t place_of(uint64_t type, uint64_t field)
{
	static const uint64_t order[] = { PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
					  PERF_SAMPLE_ADDR, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,
					  PERF_SAMPLE_PERIOD, PERF_SAMPLE_CALLCHAIN };
	uint32_t at = RECORD_HEADER_BYTES;

	for (size_t i = 0; order[i] != field; i++)
		at += type & order[i] ? 8 : 0;
	return type & field ? at : 0;
}

static struct lane_event event_of(const struct tacho_layout *lay, uint32_t id)
{
	uint64_t type = lay->sample_type;

	return (struct lane_event){
		.ip = place_of(type, PERF_SAMPLE_IP), .task = place_of(type, PERF_SAMPLE_TID),
		.time = place_of(type, PERF_SAMPLE_TIME), .period = place_of(type, PERF_SAMPLE_PERIOD),
		.chain = place_of(type, PERF_SAMPLE_CALLCHAIN), .same_period = lay->period, .event = id,
		.open = (type & NEEDED) == NEEDED && !(type & ~(BEFORE_CHAIN | (uint64_t)PERF_SAMPLE_CALLCHAIN)),
	};
}

int lane_open(struct load *l)
{
	struct lane *lane = &l->lane;
	size_t n = l->n_event_ids;

	lane->id_at = perfdata_sample_id_offset(l->pd);
	lane->age = 1;
	if (!keeps_all(l) || !n || lane->id_at >= UINT16_MAX)
		return 0;
	lane->events = calloc(n, sizeof(*lane->events));
	if (!lane->events)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		lane->events[i] = event_of(&tacho_perfdata_event(l->pd, i)->layout, l->event_ids[i]);
	lane->n_events = n;
	return 0;
}

/* A file that goes on to tell of events, as those do that were a pipe, may then tell them apart by ids. */
static bool is_open(const struct load *l)
{
	return l->lane.n_events && l->lane.n_events == tacho_perfdata_n_events(l->pd);
}

void lane_close(struct load *l)
{
	for (size_t i = 0; i < l->lane.n_events; i++) {
		const struct lane_event *from = &l->lane.events[i];
		struct tacho_profile_event *to = &l->profile->events.v[from->event];

		to->samples += from->n;
		to->all_samples += from->n;
		to->period += from->sum;
		to->all_period += from->sum;
		l->profile->quality.samples += from->n;
	}
}

void lane_done(struct lane *lane)
{
	free(take(lane->events));
}

void lane_forget(struct lane *lane)
{
	lane->age++;
}

/* ---- samples ---- */

static inline uint64_t word_at(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/* NULL: none, or one whose samples go the long way. */
static struct lane_event *event_find(struct load *l, const uint8_t *at, struct lane_id *memo, uint64_t id)
{
	struct tacho_record rec;
	int event;

	perfdata_batch_record(l->pd, at, &rec);
	event = tacho_perfdata_event_of(l->pd, &rec);
	if (event < 0 || (size_t)event >= l->lane.n_events || !l->lane.events[event].open)
		return NULL;
	*memo = (struct lane_id){ id, &l->lane.events[event] };
	return memo->event;
}

static inline struct lane_event *event_at(struct load *l, const uint8_t *at, uint32_t size)
{
	struct lane *lane = &l->lane;
	struct lane_id *memo;
	uint64_t id;

	if (!lane->id_at)
		return lane->events->open ? lane->events : NULL;
	if (size < lane->id_at + sizeof(id))
		return NULL;
	id = word_at(at + lane->id_at);
	memo = &lane->ids[id % LANE_IDS];
	return memo->event && memo->id == id ? memo->event : event_find(l, at, memo, id);
}

/* 1, 0 where its stacks cannot go this way, or -ENOMEM. */
static __attribute__((noinline)) int task_find(struct load *l, struct lane_task *t, uint32_t pid, uint32_t tid)
{
	uint32_t thread = load_thread(l, pid, tid);
	int err;

	if (thread == KEYMAP_NONE)
		return -ENOMEM;
	t->age = 0;
	t->pid = pid;
	t->tid = tid;
	t->thread = l->profile->opts.join_threads ? l->profile->threads.v[thread].first : thread;
	err = stacks_whose(&l->stacks, pid, thread, &t->whose);
	if (err > 0)
		t->age = l->lane.age;
	return err;
}

static inline int task_at(struct load *l, const uint8_t *at, struct lane_task **out)
{
	struct lane_task *t;
	uint32_t pid, tid;

	memcpy(&pid, at, sizeof(pid));
	memcpy(&tid, at + sizeof(pid), sizeof(tid));
	t = *out = &l->lane.tasks[tid % LANE_TASKS];
	if (t->tid == tid && t->pid == pid && t->age == l->lane.age)
		return 1;
	return task_find(l, t, pid, tid);
}

/* The chain, if it is one that begins with the sampled address. */
static inline bool chain_at(const struct lane_event *ev, const uint8_t *at, uint32_t size, struct tacho_words *out)
{
	uint32_t first = ev->chain + 8;
	const uint64_t *v = (const uint64_t *)(at + first);
	uint64_t n;

	if (size < first + 16 || (uintptr_t)at % sizeof(*v))
		return false;
	n = word_at(at + ev->chain);
	*out = (struct tacho_words){ v, n };
	return n >= 2 && n <= (size - first) / sizeof(*v) && v[1] == word_at(at + ev->ip) && v[1] < CONTEXT_FIRST &&
	       (v[0] == CONTEXT_USER || v[0] == CONTEXT_KERNEL);
}

/* 1, 0 where it has to go the long way, or -ENOMEM. */
static int sample_take(struct load *l, const uint8_t *at, uint32_t size)
{
	struct lane_event *ev = event_at(l, at, size);
	struct lane_task *task = NULL;
	struct tacho_words chain;
	struct waiting *w;
	uint64_t period;
	int err;

	if (!ev || !chain_at(ev, at, size, &chain))
		return 0;
	if (stacks_full(&l->stacks) && load_settle(l) < 0)
		return -ENOMEM;
	err = task_at(l, at + ev->task, &task);
	if (err <= 0)
		return err;
	period = ev->period ? word_at(at + ev->period) : ev->same_period;
	ev->n++;
	ev->sum += period;
	load_time(l, ev->time ? word_at(at + ev->time) : 0);
	w = &l->waiting[l->stacks.n];
	w->counted = true;
	w->row = (struct tacho_profile_row){
		.event = ev->event, .thread = task->thread, .cpu = -1, .samples = 1, .period = period,
	};
	return stacks_add_raw(&l->stacks, &task->whose, chain) < 0 ? -ENOMEM : 1;
}

/* ---- records ---- */

static int any_take(struct load *l, const uint8_t *at)
{
	struct tacho_record rec;
	uint32_t type;
	uint16_t size;
	int err;

	memcpy(&type, at, sizeof(type));
	memcpy(&size, at + 6, sizeof(size));
	err = type == TACHO_RECORD_SAMPLE ? sample_take(l, at, size) : 0;
	if (err != 0)
		return min_of(err, 0);
	perfdata_batch_record(l->pd, at, &rec);
	return load_record(l, &rec);
}

/* The records lie where they were written, not where they come in time: they are asked for early. */
static inline void fetch(const uint8_t *at)
{
	for (size_t line = 0; line < 192; line += 64)
		__builtin_prefetch(at + line);
}

int lane_take(struct load *l)
{
	const uint8_t *at[TAKE_MOST + AHEAD];
	int err = 0;
	size_t n;

	while (is_open(l) && err == 0 && (n = perfdata_take_batch(l->pd, at, TAKE_MOST)) > 0) {
		for (size_t i = 0; i < AHEAD; i++)
			at[n + i] = at[n - 1];
		for (size_t i = 0; i < n && err == 0; i++) {
			fetch(at[i + AHEAD]);
			err = any_take(l, at[i]);
		}
	}
	return err;
}
