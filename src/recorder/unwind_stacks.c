/*
 * Memory is bounded by the size of the rings: a round holds at most what they held.
 */
#include "recorder/unwind_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "record/perf_abi.h"
#include "record/replace_chain.h"
#include "sample/sampler.h"

#define ROUNDS_PER_PRUNE 64u		/* how often ended processes are forgotten */
#define RECORDS_PER_LOOK 128u
#define WRITE_BYTES (256u << 10)

/* ---- events ---- */

static bool attr_of(const struct tacho_sampler *s, size_t i, struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	return tacho_sampler_attr(s, i, attr, sizeof(*attr), NULL) == 0;
}

bool stack_recorder_is_needed(const struct tacho_sampler *s)
{
	struct perf_event_attr attr;

	if (!tacho_unwinder_supports(0))
		return false;

	for (size_t i = 0; i < tacho_sampler_size(s); i++)
		if (attr_of(s, i, &attr) && (attr.sample_type & PERF_SAMPLE_STACK_USER))
			return true;
	return false;
}

static int add_event(struct stack_recorder *r, const struct tacho_sampler *s, size_t i)
{
	struct stack_event *ev = vec_add(&r->events);
	struct perf_event_attr attr;
	const uint64_t *ids;
	size_t n_ids;
	int err;

	if (!ev)
		return -ENOMEM;
	if (!attr_of(s, i, &attr))	/* could not be opened */
		return 0;
	ev->has_stack = attr.sample_type & PERF_SAMPLE_STACK_USER;
	ev->keeps_regs = s->opts.regs_user != 0;
	err = tacho_layout_init(&ev->layout, &attr, sizeof(attr));
	if (err == 0)
		err = tacho_sampler_ids(s, i, &ids, &n_ids);
	for (size_t k = 0; err == 0 && k < n_ids; k++)
		err = int_map_put(&r->event_of_id, ids[k], (uint32_t)i);
	return err;
}

int stack_recorder_new(struct stack_recorder **out, const struct tacho_sampler *s)
{
	const struct tacho_symbols_opts opts = { .size = sizeof(opts), .live = true };
	struct stack_recorder *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->scratch = malloc(sizeof(*r->scratch));
	err = r->scratch ? tacho_symbols_new(&r->symbols, &opts, NULL) : -ENOMEM;
	if (err == 0)
		err = tacho_unwinder_new(&r->unwinder, r->symbols, 0, NULL);
	for (size_t i = 0; err == 0 && i < tacho_sampler_size(s); i++)
		err = add_event(r, s, i);
	if (err < 0)
		stack_recorder_free(r);
	else
		*out = r;
	return err;
}

void stack_recorder_free(struct stack_recorder *r)
{
	if (!r)
		return;
	tacho_unwinder_free(r->unwinder);
	tacho_symbols_free(r->symbols);
	int_map_done(&r->event_of_id);
	vec_done(&r->events);
	vec_done(&r->order);
	buf_done(&r->round);
	buf_done(&r->next);
	buf_done(&r->out);
	free(r->scratch);
	free(r);
}

void stack_recorder_stats(const struct stack_recorder *r, struct tacho_recorder_stats *out)
{
	struct tacho_unwind_counts counts = { .size = sizeof(counts) };

	tacho_unwinder_counts(r->unwinder, &counts);
	out->stacks = counts.stacks;
	out->whole_stacks = counts.whole;
	out->truncated_stacks = counts.truncated;
}

void stack_recorder_attr(const struct stack_recorder *r, size_t event, struct perf_event_attr *attr)
{
	if (event < r->events.n && r->events.v[event].has_stack)
		record_replace_chain_attr(attr, r->events.v[event].keeps_regs);
}

/* ---- records ---- */

/* The event of a record. Records without an ID belong to the first event. */
static const struct stack_event *event_of(const struct stack_recorder *r, const struct tacho_record *rec)
{
	uint32_t i = 0;

	int_map_get(&r->event_of_id, tacho_record_id(rec, &r->events.v[0].layout), &i);
	return &r->events.v[i < r->events.n ? i : 0];
}

static struct tacho_record record_at(const uint8_t *bytes)
{
	struct ring_header h;

	memcpy(&h, bytes, sizeof(h));
	return (struct tacho_record){ .type = h.type, .misc = h.misc, .size = h.size, .bytes = bytes };
}

static int feed(struct stack_recorder *r, const struct tacho_record *rec)
{
	struct tacho_sideband sideband;

	if (rec->type == TACHO_RECORD_SAMPLE || tacho_sideband_decode(&sideband, rec, NULL, r->scratch) < 0)
		return 0;
	return tacho_symbols_feed(r->symbols, &sideband);
}

int stack_recorder_feed(void *stack_recorder, const void *bytes, size_t n)
{
	struct stack_recorder *r = stack_recorder;
	const uint8_t *at = bytes, *end = at + n;
	int err = 0;

	while (err == 0 && end - at >= (ptrdiff_t)sizeof(struct ring_header)) {
		struct tacho_record rec = record_at(at);

		if (rec.size < sizeof(struct ring_header) || rec.size > end - at)
			return -EBADMSG;
		err = feed(r, &rec);
		at += rec.size;
	}
	return err;
}

/* Appends the sample with an unwound chain to the output. A sample that cannot be decoded is written as it is:
 * its reader reports the damage. */
static int rewrite_sample(struct stack_recorder *r, const struct tacho_record *rec, const struct stack_event *ev)
{
	struct tacho_record written = *rec;
	struct tacho_sample sample;
	int err = tacho_sample_decode(&sample, rec, &ev->layout, r->scratch);

	if (err == 0)
		err = tacho_unwinder_rewrite(r->unwinder, rec, &sample, &ev->layout, ev->keeps_regs, &written);
	if (err < 0 && err != -EBADMSG)
		return err;
	buf_put(&r->out, written.bytes, written.size);
	return buf_failed(&r->out) ? -ENOMEM : 0;
}

static int process_record(struct stack_recorder *r, const struct tacho_record *rec)
{
	const struct stack_event *ev;
	int err;

	if (rec->type == TACHO_RECORD_SAMPLE) {
		ev = event_of(r, rec);
		if (ev->has_stack)
			return rewrite_sample(r, rec, ev);
	}
	err = feed(r, rec);
	buf_put(&r->out, rec->bytes, rec->size);
	return buf_failed(&r->out) ? -ENOMEM : err;
}

/* ---- rounds ---- */

static int collect(void *arg, const void *bytes, size_t n)
{
	struct buf *to = arg;

	buf_put(to, bytes, n);
	return buf_failed(to) ? -ENOMEM : 0;
}

/* Records without a time, such as AUX data, stay behind the record before them. */
static int list_records(struct stack_recorder *r)
{
	const uint8_t *bytes = (const uint8_t *)r->round.bytes;
	uint64_t last = 0;

	r->order.n = 0;
	for (size_t at = 0; at < r->round.n;) {
		struct tacho_record rec = record_at(bytes + at);
		struct round_record *o = vec_next(&r->order);
		uint64_t time;

		if (!o)
			return -ENOMEM;
		time = tacho_record_time(&rec, &event_of(r, &rec)->layout);
		last = time == UINT64_MAX ? last : time;
		*o = (struct round_record){ last, at };
		at += rec.size;
	}
	return 0;
}

static int compare_times(const void *pa, const void *pb)
{
	const struct round_record *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static int write_out(struct stack_recorder *r, tacho_bytes_fn *fn, void *arg)
{
	int err = r->out.n ? fn(arg, r->out.bytes, r->out.n) : 0;

	buf_clear(&r->out);
	return err;
}

static int process_round(struct stack_recorder *r, struct tacho_sampler *s, tacho_bytes_fn *fn, void *arg)
{
	int64_t err = list_records(r);

	if (err < 0)
		return (int)err;
	qsort(r->order.v, r->order.n, sizeof(*r->order.v), compare_times);
	for (size_t i = 0; i < r->order.n && err >= 0; i++) {
		struct tacho_record rec = record_at((const uint8_t *)r->round.bytes + r->order.v[i].at);

		err = process_record(r, &rec);
		if (err >= 0 && r->out.n >= WRITE_BYTES)
			err = write_out(r, fn, arg);
		/* The tracker's rings are small, and a round may take long: a new program's tables are built. */
		if (err >= 0 && i % RECORDS_PER_LOOK == RECORDS_PER_LOOK - 1)
			err = sampler_drain_tracker(s, collect, &r->next);
	}
	return err < 0 ? (int)err : write_out(r, fn, arg);
}

int64_t stack_recorder_drain(struct stack_recorder *r, struct tacho_sampler *s, tacho_bytes_fn *fn, void *arg)
{
	struct buf taken = r->round;
	int64_t got, more;
	int err;

	r->round = r->next;
	r->next = taken;
	buf_clear(&r->next);
	got = tacho_sampler_drain(s, collect, &r->round);
	more = got < 0 ? got : sampler_drain_tracker(s, collect, &r->round);
	if (more < 0)
		return more;
	err = r->round.n ? process_round(r, s, fn, arg) : 0;
	if (err >= 0 && ++r->rounds % ROUNDS_PER_PRUNE == 0)
		err = tacho_symbols_prune(r->symbols, 0);
	return err < 0 ? err : got + more;
}
