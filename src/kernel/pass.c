/*
 * Reads the records. Most recordings are mapped files of this byte order whose samples have their fields at offsets that follow
 * from sample_type, up to the call chain and the raw data; those are read where they lie, many at a time. All others are
 * decoded one by one.
 */
#include "kernel/pass.h"

#include <errno.h>

#include "kernel/fields.h"
#include "kernel/sideband.h"
#include "perfdata/batch_reader.h"
#include "record/perf_abi.h"
#include "record/sample_offsets.h"

#define MAX_READ 1024u			/* records per batch */
#define PREFETCH_DISTANCE 16u		/* records between a record's prefetch and its use */
#define DIRECT_NEEDS (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

int kernel_pass_init(struct kernel_pass *p, struct tacho_perfdata *pd, const struct kernel_view *view, void *data)
{
	*p = (struct kernel_pass){ .pd = pd, .view = view, .data = data, .swapped = tacho_perfdata_swapped(pd) };
	p->totals.size = sizeof(p->totals);
	p->scratch = calloc(1, sizeof(*p->scratch));
	return !p->scratch || kernel_threads_init(&p->threads, view->thread_bytes) < 0 ? -ENOMEM : 0;
}

void kernel_pass_done(struct kernel_pass *p)
{
	kernel_threads_done(&p->threads);
	tacho_trace_free(p->formats);
	free(p->events);
	free(p->scratch);
}

/* ---- events ---- */

static const struct kernel_handler *find_handler(const struct kernel_view *view, const struct tacho_trace_event *format)
{
	const struct kernel_handler *any = NULL;

	for (size_t i = 0; format && i < view->n_handlers; i++) {
		if (!strcmp(tacho_trace_name(format), view->handlers[i].event))
			return &view->handlers[i];
		if (!strcmp(view->handlers[i].event, "*"))
			any = &view->handlers[i];
	}
	return any;
}

static void set_offsets(struct kernel_event *ev, uint64_t type)
{
	ev->decoded = (type & DIRECT_NEEDS) != DIRECT_NEEDS || (type & PERF_SAMPLE_READ);
	ev->has_chain = (type & PERF_SAMPLE_CALLCHAIN) != 0;
	ev->task = (uint16_t)sample_field_offset(type, PERF_SAMPLE_TID);
	ev->time = (uint16_t)sample_field_offset(type, PERF_SAMPLE_TIME);
	ev->cpu = (uint16_t)sample_field_offset(type, PERF_SAMPLE_CPU);
	ev->period = (uint16_t)sample_field_offset(type, PERF_SAMPLE_PERIOD);
	ev->after = (uint16_t)sample_leading_end(type);
	ev->min_size = (uint16_t)(ev->after + sizeof(uint32_t) + (ev->has_chain ? sizeof(uint64_t) : 0));
}

static void add_event(struct kernel_pass *p, struct kernel_event *ev, uint32_t index)
{
	const struct tacho_file_event *fe = tacho_perfdata_event(p->pd, index);
	const struct perf_event_attr *attr = fe->attr;

	*ev = (struct kernel_event){ .index = index };
	if (fe->attr_size < offsetof(struct perf_event_attr, sample_period) || attr->type != PERF_TYPE_TRACEPOINT ||
	    !(fe->layout.sample_type & PERF_SAMPLE_RAW) || !p->formats)
		return;
	ev->format = tacho_trace_find(p->formats, attr->config);
	ev->handler = find_handler(p->view, ev->format);
	if (ev->handler && !kernel_fields_find(ev))
		ev->handler = NULL;
	set_offsets(ev, fe->layout.sample_type);
}

/* A pipe may describe further events, and their formats, between its records. */
static int learn_events(struct kernel_pass *p, struct tacho_error *e)
{
	size_t n = tacho_perfdata_n_events(p->pd);
	struct kernel_event *bigger = reallocarray(p->events, n + 1, sizeof(*bigger));
	int err = 0;

	if (!bigger)
		return error_nomem(e);
	p->events = bigger;
	if (!p->formats)
		err = tacho_perfdata_tracing(p->pd, &p->formats, e);
	if (err < 0 && err != -ENOENT && err != -ENODATA)
		return err;
	for (size_t i = p->n_events; i < n; i++)
		add_event(p, &p->events[i], (uint32_t)i);
	p->n_events = n;
	p->id_offset = perfdata_sample_id_offset(p->pd);
	memset(p->ids, 0, sizeof(p->ids));
	return tacho_trace_failed(p->formats) < 0 ? error_nomem(e) : 0;
}

static bool has_handlers(const struct kernel_pass *p)
{
	for (size_t i = 0; i < p->n_events; i++)
		if (p->events[i].handler)
			return true;
	return false;
}

static struct kernel_event *event_of_record(struct kernel_pass *p, const struct tacho_record *rec)
{
	int event = tacho_perfdata_event_of(p->pd, rec);

	if (event >= 0 && (size_t)event >= p->n_events && learn_events(p, NULL) == -ENOMEM)
		p->out_of_memory = true;
	return event < 0 || (size_t)event >= p->n_events ? NULL : &p->events[event];
}

/* Fills a slot of the cache. NULL: there is no such event. */
static __attribute__((noinline)) struct kernel_event *find_event(struct kernel_pass *p, const uint8_t *at,
								 struct kernel_id_slot *slot, uint64_t id)
{
	struct tacho_record rec;
	struct kernel_event *ev;

	perfdata_batch_record(p->pd, at, &rec);
	ev = event_of_record(p, &rec);
	if (ev)
		*slot = (struct kernel_id_slot){ id, ev };
	return ev;
}

static inline struct kernel_event *event_of_sample(struct kernel_pass *p, const uint8_t *at, uint32_t size)
{
	struct kernel_id_slot *slot;
	uint64_t id;

	if (!p->id_offset)
		return p->n_events ? p->events : NULL;
	if (size < p->id_offset + sizeof(id))
		return NULL;
	id = load_u64(at + p->id_offset, false);
	slot = &p->ids[id % KERNEL_ID_SLOTS];
	return slot->event && slot->id == id ? slot->event : find_event(p, at, slot, id);
}

/* ---- samples ---- */

static inline int deliver(struct kernel_pass *p, const struct kernel_event *ev, const struct kernel_sample *s)
{
	if (s->n_raw < ev->min_raw) {
		p->totals.damaged++;
		return 0;
	}
	p->totals.delivered++;
	if (!p->totals.first_ns)
		p->totals.first_ns = s->time;
	p->totals.last_ns = s->time;
	return ev->handler->handle(p->data, s);
}

/* Moves *raw from a call chain to the raw data after it. False: the record is too short. */
static inline bool skip_chain(const uint8_t *at, uint32_t size, uint32_t *raw, struct tacho_words *chain)
{
	uint64_t n = load_u64(at + *raw, false);
	uint32_t first = *raw + (uint32_t)sizeof(n);

	if (n > (size - first - sizeof(uint32_t)) / sizeof(n) || (uintptr_t)at % sizeof(n))
		return false;
	*chain = (struct tacho_words){ (const uint64_t *)(at + first), n };
	*raw = first + (uint32_t)(n * sizeof(n));
	return true;
}

/* Reads a sample at its known offsets. False: it is too short. */
static inline bool read_direct(const struct kernel_event *ev, const uint8_t *at, uint32_t size, struct kernel_sample *s)
{
	uint32_t raw = ev->after;

	if (ev->decoded || size < ev->min_size || (ev->has_chain && !skip_chain(at, size, &raw, &s->chain)))
		return false;
	s->n_raw = load_u32(at + raw, false);
	raw += (uint32_t)sizeof(s->n_raw);
	if (s->n_raw > size - raw)
		return false;
	s->raw = at + raw;
	s->pid = load_u32(at + ev->task, false);
	s->tid = load_u32(at + ev->task + 4, false);
	s->time = load_u64(at + ev->time, false);
	s->cpu = load_u32(at + ev->cpu, false);
	s->period = 1;
	if (ev->period)
		s->period = load_u64(at + ev->period, false);
	return true;
}

static bool decode_sample(struct kernel_pass *p, const struct kernel_event *ev, const struct tacho_record *rec,
			  struct kernel_sample *s)
{
	struct tacho_sample *d = &p->sample;

	memset(d, 0, sizeof(*d));
	if (tacho_sample_decode(d, rec, &tacho_perfdata_event(p->pd, ev->index)->layout, p->scratch) < 0)
		return false;
	s->raw = d->raw;
	s->n_raw = d->n_raw;
	s->chain = d->chain;
	s->pid = d->type & PERF_SAMPLE_TID ? d->pid : UINT32_MAX;
	s->tid = d->type & PERF_SAMPLE_TID ? d->tid : UINT32_MAX;
	s->time = d->time;
	s->cpu = d->type & PERF_SAMPLE_CPU ? d->cpu : UINT32_MAX;
	s->period = d->period;
	return true;
}

/* A sample whose fields are not at known offsets, or that is damaged. */
static __attribute__((noinline)) int read_undirected(struct kernel_pass *p, const uint8_t *at, struct kernel_sample *s)
{
	struct tacho_record rec;

	perfdata_batch_record(p->pd, at, &rec);
	if (decode_sample(p, s->event, &rec, s))
		return deliver(p, s->event, s);
	p->totals.damaged++;
	return 0;
}

/* A sample of this byte order in a mapped file. */
static inline int read_sample(struct kernel_pass *p, const uint8_t *at, uint32_t size)
{
	struct kernel_event *ev = event_of_sample(p, at, size);
	struct kernel_sample s;

	p->totals.samples++;
	if (!ev) {
		p->totals.damaged++;
		return 0;
	}
	if (!ev->handler)
		return 0;
	s.event = ev;
	s.swapped = false;
	s.misc = load_u16(at + 4, false);
	s.chain = (struct tacho_words){ 0 };
	if (read_direct(ev, at, size, &s))
		return deliver(p, ev, &s);
	return read_undirected(p, at, &s);
}

static int handle_sample(struct kernel_pass *p, const struct tacho_record *rec)
{
	struct kernel_sample s = { .swapped = rec->swapped, .misc = rec->misc };

	p->totals.samples++;
	s.event = event_of_record(p, rec);
	if (s.event && !s.event->handler)
		return 0;
	if (!s.event || !decode_sample(p, s.event, rec, &s)) {
		p->totals.damaged++;
		return 0;
	}
	return deliver(p, s.event, &s);
}

/* ---- records ---- */

static int handle_record(struct kernel_pass *p, const struct tacho_record *rec)
{
	return rec->type == TACHO_RECORD_SAMPLE ? handle_sample(p, rec) : kernel_sideband(p, rec);
}

static inline int read_record(struct kernel_pass *p, const uint8_t *at)
{
	uint32_t type = load_u32(at, false), size = load_u16(at + 6, false);
	struct tacho_record rec;

	if (type == TACHO_RECORD_SAMPLE)
		return read_sample(p, at, size);
	perfdata_batch_record(p->pd, at, &rec);
	return kernel_sideband(p, &rec);
}

/* Records are read in time order, not in file order, so the CPU's hardware prefetcher does not help. */
static inline void prefetch_record(const uint8_t *at)
{
	for (size_t line = 0; line < 192; line += 64)
		__builtin_prefetch(at + line);
}

static int read_batches(struct kernel_pass *p)
{
	const uint8_t *at[MAX_READ + PREFETCH_DISTANCE];
	int err = 0;
	size_t n;

	while (err == 0 && (n = perfdata_take_batch(p->pd, at, MAX_READ)) > 0) {
		for (size_t i = 0; i < PREFETCH_DISTANCE; i++)
			at[n + i] = at[n - 1];
		for (size_t i = 0; i < n && err == 0; i++) {
			prefetch_record(at[i + PREFETCH_DISTANCE]);
			err = read_record(p, at[i]);
		}
	}
	return err;
}

static int no_events(const struct kernel_pass *p, struct tacho_error *e)
{
	const char *first = p->view->handlers[0].event;

	error_set(e, -ENOENT, "the recording has none of the tracepoints that this needs, such as %s%s", first,
		  p->formats ? "" : ": it has no formats of tracepoints");
	return -ENOENT;
}

int kernel_pass_run(struct kernel_pass *p, struct tacho_error *e)
{
	struct tacho_record rec;
	int err = learn_events(p, e), handled = 0;

	if (err < 0)
		return err;
	if (!has_handlers(p) && !tacho_perfdata_is_pipe(p->pd))
		return no_events(p, e);
	while (handled == 0 && (err = tacho_perfdata_next(p->pd, &rec, e)) > 0) {
		handled = handle_record(p, &rec);
		if (handled == 0)
			handled = read_batches(p);
		if (p->out_of_memory)
			handled = -ENOMEM;
	}
	if (handled < 0)
		return handled == -ENOMEM ? error_nomem(e) : error_set(e, handled, "the events cannot be shown: %s", strerror(-handled));
	return err < 0 || has_handlers(p) ? err : no_events(p, e);
}

struct kernel_thread *kernel_thread_slow(struct kernel_pass *p, uint32_t tid)
{
	struct kernel_thread *t = kernel_threads_find(&p->threads, tid);

	return t ? t : kernel_threads_add(&p->threads, tid);
}
