#include "recorder/off_cpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "record/callchain_markers.h"
#include "record/perf_abi.h"
#include "sample/sampler.h"

#define TID_AT 28u			/* offsets in a sample, see SAMPLER_TYPE */
#define TIME_AT 32u
#define HELD_MAX (256u << 20)
#define SUMS_MAX 1000000u
#define MISC_SWITCH_OUT (1u << 13)
#define MISC_SWITCH_OUT_PREEMPT (1u << 14)	/* Linux 4.17 */

enum item_kind { ITEM_SAMPLE, ITEM_PREEMPTED, ITEM_RUNS, ITEM_EXIT };

struct off_cpu_item {
	uint64_t time, seq;
	uint32_t tid;
	enum item_kind kind;
	uint8_t *sample;		/* ITEM_SAMPLE; owned */
};

struct off_cpu_thread {
	uint8_t *sample;		/* of the context switch that it has not returned from; NULL: it runs. Owned */
	bool exited;			/* its last switch has no end */
	uint32_t first_sum;		/* index + 1; 0: none */
};

struct off_cpu_sum {			/* the times below the threshold of one thread at one stack */
	uint8_t *sample;		/* with the sum as its period; NULL: it was written. Owned */
	uint32_t next;			/* index + 1 of the thread's next one; 0: none */
};

/* ---- setting up ---- */

static int find_event(struct off_cpu *o, const char *name, struct tacho_error *e)
{
	size_t n = tacho_sampler_size(o->sampler);
	struct perf_event_attr attr = { 0 };
	const uint64_t *ids;
	size_t n_ids, i = 0;
	int err;

	while (i < n && strcmp(tacho_sampler_event(o->sampler, i)->name, name) != 0)
		i++;
	err = i < n ? tacho_sampler_attr(o->sampler, i, &attr, sizeof(attr), NULL) : -EINVAL;
	if (err < 0 || (attr.sample_type & (SAMPLER_TYPE | PERF_SAMPLE_PERIOD)) != (SAMPLER_TYPE | PERF_SAMPLE_PERIOD))
		return error_set(e, -EINVAL, "times off the CPU need the event %s, which is not open", name);
	if (attr.flags & PERF_ATTR_EXCLUDE_KERNEL) {
		error_set(e, -EACCES, "%s: context switches happen in the kernel, which this user may not sample", name);
		error_hint(e, "kernel.perf_event_paranoid of at most 1, root or CAP_PERFMON permit it");
		return -EACCES;
	}
	o->period_at = TIME_AT + 8;
	for (size_t k = 0; k < 4; k++)
		if (attr.sample_type & (const uint64_t[]){ PERF_SAMPLE_ADDR, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
							   PERF_SAMPLE_CPU }[k])
			o->period_at += 8;
	o->has_chains = (attr.sample_type & PERF_SAMPLE_CALLCHAIN) && !(attr.sample_type & PERF_SAMPLE_READ);
	o->has_user_chains = o->has_chains && !(attr.flags & PERF_ATTR_EXCLUDE_CALLCHAIN_USER);
	err = tacho_sampler_ids(o->sampler, i, &ids, &n_ids);
	for (size_t k = 0; err == 0 && k < n_ids; k++)
		err = int_map_put(&o->is_event, ids[k], 1);
	if (err == 0)		/* the tracker is the last event */
		err = tacho_sampler_attr(o->sampler, n - 1, &attr, sizeof(attr), NULL);
	return err < 0 ? err : tacho_layout_init(&o->tracker, &attr, sizeof(attr));
}

int off_cpu_new(struct off_cpu **out, struct tacho_sampler *s, const char *event, uint64_t threshold_ns,
		struct tacho_error *e)
{
	struct off_cpu *o = calloc(1, sizeof(*o));
	int err;

	if (!o)
		return error_nomem(e);
	o->sampler = s;
	o->threshold_ns = threshold_ns;
	o->scratch = malloc(sizeof(*o->scratch));
	err = o->scratch ? find_event(o, event, e) : error_nomem(e);
	if (err == 0)
		*out = take(o);
	off_cpu_free(o);
	return err;
}

void off_cpu_free(struct off_cpu *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->items.n; i++)
		free(o->items.v[i].sample);
	for (size_t i = 0; i < o->threads.n; i++)
		free(o->threads.v[i].sample);
	for (size_t i = 0; i < o->sums.n; i++)
		free(o->sums.v[i].sample);
	vec_done(&o->items);
	vec_done(&o->threads);
	vec_done(&o->sums);
	int_map_done(&o->is_event);
	int_map_done(&o->thread_of);
	int_map_done(&o->sum_of);
	free(o->scratch);
	free(o);
}

/* ---- records ---- */

static uint64_t word_at(const uint8_t *bytes, size_t at)
{
	uint64_t v;

	memcpy(&v, bytes + at, sizeof(v));
	return v;
}

static uint32_t tid_of(const uint8_t *sample)
{
	uint32_t tid;

	memcpy(&tid, sample + TID_AT, sizeof(tid));
	return tid;
}

static uint16_t size_of(const uint8_t *record)
{
	struct ring_header h;

	memcpy(&h, record, sizeof(h));
	return h.size;
}

static int add_item(struct off_cpu *o, struct off_cpu_item item)
{
	struct off_cpu_item *slot = item.tid ? vec_next(&o->items) : NULL;	/* not the idle thread */

	if (!slot) {
		free(item.sample);
		return item.tid ? -ENOMEM : 0;
	}
	item.seq = o->items.n;
	*slot = item;
	o->round_end = max_of(o->round_end, item.time);
	return 0;
}

/* Kernel threads mostly wait for work. Their chains have no user part. */
static bool is_kernel_thread(const struct off_cpu *o, const struct tacho_record *rec)
{
	size_t at = o->period_at + 8;
	uint64_t n;

	if (!o->has_user_chains || rec->size < at + 8)
		return false;
	n = word_at(rec->bytes, at);
	for (uint64_t i = 1; i <= n && at + 8 * i + 8 <= rec->size; i++)
		if (word_at(rec->bytes, at + 8 * i) == CONTEXT_USER)
			return false;
	return n > 0;
}

static int hold_sample(struct off_cpu *o, const struct tacho_record *rec)
{
	uint8_t *copy;

	o->n_held++;
	if (is_kernel_thread(o, rec))
		return 0;
	if (o->held_bytes + rec->size > HELD_MAX) {
		o->n_dropped++;
		return 0;
	}
	copy = malloc(rec->size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, rec->bytes, rec->size);
	o->held_bytes += rec->size;
	return add_item(o, (struct off_cpu_item){ .kind = ITEM_SAMPLE, .tid = tid_of(copy), .time = word_at(copy, TIME_AT),
						  .sample = copy });
}

static void drop_sample(struct off_cpu *o, uint8_t *sample)
{
	if (sample)
		o->held_bytes -= size_of(sample);
	free(sample);
}

static bool is_sample_of_event(const struct off_cpu *o, const struct tacho_record *rec)
{
	uint32_t unused;

	return rec->type == TACHO_RECORD_SAMPLE && rec->size >= o->period_at + 8 &&
	       int_map_get(&o->is_event, word_at(rec->bytes, 8), &unused);
}

static bool is_switch(const struct tacho_record *rec)
{
	return rec->type == TACHO_RECORD_SWITCH || rec->type == TACHO_RECORD_SWITCH_CPU_WIDE;
}

/* Takes note of a record of the tracker. */
static int note_record(struct off_cpu *o, const struct tacho_record *rec)
{
	struct tacho_sideband s;

	if (!is_switch(rec) && rec->type != TACHO_RECORD_EXIT)
		return 0;
	if (tacho_sideband_decode(&s, rec, &o->tracker, o->scratch) < 0)
		return 0;
	if (rec->type == TACHO_RECORD_EXIT)
		return add_item(o, (struct off_cpu_item){ .kind = ITEM_EXIT, .tid = s.task.tid, .time = s.id.time });
	if (!(rec->misc & MISC_SWITCH_OUT))
		return add_item(o, (struct off_cpu_item){ .kind = ITEM_RUNS, .tid = s.id.tid, .time = s.id.time });
	if (!(rec->misc & MISC_SWITCH_OUT_PREEMPT))
		return 0;
	return add_item(o, (struct off_cpu_item){ .kind = ITEM_PREEMPTED, .tid = s.id.tid, .time = s.id.time });
}

int off_cpu_write(void *off_cpu, const void *bytes, size_t n)
{
	struct off_cpu *o = off_cpu;
	struct tacho_record_iter it = { .at = bytes, .end = (const uint8_t *)bytes + n };
	const uint8_t *from = bytes;	/* of the records that are passed on together */
	struct tacho_record rec;
	int err = 0;

	while (err == 0 && tacho_record_next(&it, &rec) > 0) {
		bool held = is_sample_of_event(o, &rec), passed = !held && (o->keeps_switches || !is_switch(&rec));

		err = held ? hold_sample(o, &rec) : note_record(o, &rec);
		if (passed || err < 0)
			continue;
		if (rec.bytes > from)
			err = o->fn(o->arg, from, (size_t)(rec.bytes - from));
		from = rec.bytes + rec.size;
	}
	if (err == 0 && it.end > from)
		err = o->fn(o->arg, from, (size_t)(it.end - from));
	return err;
}

/* ---- matching ---- */

/* Two samples of a thread with the same stack are equal behind their periods. */
static uint64_t hash_of(const struct off_cpu *o, const uint8_t *sample)
{
	size_t at = o->period_at + 8;
	uint64_t hash = str_hash(str_n((const char *)sample + at, size_of(sample) - at));

	return hash ^ (word_at(sample, TID_AT - 4) * 0x9e3779b97f4a7c15ull);
}

static struct off_cpu_thread *thread_of(struct off_cpu *o, uint32_t tid)
{
	struct off_cpu_thread *t;
	uint32_t at;

	if (int_map_get(&o->thread_of, tid, &at))
		return &o->threads.v[at];
	t = vec_add(&o->threads);
	if (!t)
		return NULL;
	if (int_map_put(&o->thread_of, tid, (uint32_t)(o->threads.n - 1)) == 0)
		return t;
	o->threads.n--;
	return NULL;
}

static struct off_cpu_sum *new_sum(struct off_cpu *o, uint64_t hash)
{
	struct off_cpu_sum *sum = o->sums.n < SUMS_MAX ? vec_add(&o->sums) : NULL;

	if (!sum)
		return NULL;
	if (int_map_put(&o->sum_of, hash, (uint32_t)(o->sums.n - 1)) == 0)
		return sum;
	o->sums.n--;
	return NULL;
}

/* Takes the sample. */
static int add_to_sum(struct off_cpu *o, uint8_t *sample, uint64_t blocked_ns)
{
	struct off_cpu_thread *t = thread_of(o, tid_of(sample));
	uint64_t hash = hash_of(o, sample);
	struct off_cpu_sum *sum = NULL;
	uint32_t at;

	if (int_map_get(&o->sum_of, hash, &at))
		sum = &o->sums.v[at];
	else if (t)
		sum = new_sum(o, hash);
	if (sum && sum->sample) {
		blocked_ns += word_at(sum->sample, o->period_at);
		memcpy(sum->sample + o->period_at, &blocked_ns, sizeof(blocked_ns));
	}
	if (!sum || !t || sum->sample) {
		o->n_dropped += !sum || !t;
		drop_sample(o, sample);
		return 0;
	}
	memcpy(sample + o->period_at, &blocked_ns, sizeof(blocked_ns));
	*sum = (struct off_cpu_sum){ .sample = sample, .next = t->first_sum };
	t->first_sum = (uint32_t)(sum - o->sums.v) + 1;
	return 0;
}

/* Writes the sums of a thread, as samples of that time. */
static int write_sums(struct off_cpu *o, struct off_cpu_thread *t, uint64_t time)
{
	uint32_t at = t->first_sum;
	int err = 0;

	t->first_sum = 0;
	for (; at; at = o->sums.v[at - 1].next) {
		uint8_t *sample = take(o->sums.v[at - 1].sample);

		memcpy(sample + TIME_AT, &time, sizeof(time));
		if (err == 0)
			err = o->fn(o->arg, sample, size_of(sample));
		o->n_written++;
		drop_sample(o, sample);
	}
	return err;
}

/* Takes the sample. */
static int write_blocked(struct off_cpu *o, uint8_t *sample, uint64_t end)
{
	uint64_t start = word_at(sample, TIME_AT), blocked_ns = end > start ? end - start : 0;
	int err;

	if (blocked_ns < o->threshold_ns)
		return add_to_sum(o, sample, blocked_ns);
	memcpy(sample + o->period_at, &blocked_ns, sizeof(blocked_ns));
	memcpy(sample + TIME_AT, &end, sizeof(end));
	err = o->fn(o->arg, sample, size_of(sample));
	o->n_written++;
	drop_sample(o, sample);
	return err;
}

static int process(struct off_cpu *o, struct off_cpu_item *item)
{
	struct off_cpu_thread *t = thread_of(o, item->tid);
	uint8_t *sample;

	if (!t)
		return -ENOMEM;
	sample = take(t->sample);
	if (item->kind == ITEM_SAMPLE && !t->exited)
		t->sample = take(item->sample);
	if (item->kind == ITEM_SAMPLE || item->kind == ITEM_RUNS)
		drop_sample(o, take(item->sample));
	if (item->kind == ITEM_EXIT || item->kind == ITEM_RUNS)
		t->exited = item->kind == ITEM_EXIT;
	if (sample && item->kind == ITEM_RUNS)
		return write_blocked(o, sample, item->time);
	drop_sample(o, sample);
	/* A reader knows the thread's name until it ends. */
	return item->kind == ITEM_EXIT ? write_sums(o, t, item->time - 1) : 0;
}

static int compare_items(const void *pa, const void *pb)
{
	const struct off_cpu_item *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* Processes the items up to a time. */
static int process_until(struct off_cpu *o, uint64_t until)
{
	size_t n = 0;
	int err = 0;

	if (o->items.n)
		qsort(o->items.v, o->items.n, sizeof(*o->items.v), compare_items);
	while (err == 0 && n < o->items.n && o->items.v[n].time <= until)
		err = process(o, &o->items.v[n++]);
	for (size_t i = 0; i < n; i++)
		free(o->items.v[i].sample);
	if (n)
		memmove(o->items.v, o->items.v + n, (o->items.n - n) * sizeof(*o->items.v));
	o->items.n -= n;
	return err;
}

int off_cpu_end_round(struct off_cpu *o)
{
	int err = process_until(o, o->last_end);

	o->last_end = o->round_end;
	return err;
}

int off_cpu_finish(struct off_cpu *o)
{
	int err = process_until(o, UINT64_MAX);

	for (size_t i = 0; err == 0 && i < o->threads.n; i++)
		if (o->threads.v[i].sample)
			err = write_blocked(o, take(o->threads.v[i].sample), o->round_end);
	for (size_t i = 0; err == 0 && i < o->threads.n; i++)
		err = write_sums(o, &o->threads.v[i], o->round_end);
	return err;
}
