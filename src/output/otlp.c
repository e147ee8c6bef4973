/*
 * OpenTelemetry profiles: a ProfilesData message of opentelemetry-proto 1.10 and later (package v1development), which is
 * also the body of an export request. It is not compressed.
 *
 *	ProfilesData -> ResourceProfiles of a process -> Profile of an event -> Sample -> stack, attributes
 *	     `-> dictionary, see otlp_dictionary.h
 *
 * A sample is identified by its stack, thread and CPU. If the times of the samples can be converted to wall-clock time it has a
 * value and a timestamp per observation, otherwise one value, the sum.
 */
#include "output/otlp_dictionary.h"

#include <errno.h>

/* Field numbers, by message. */
enum { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY = 2, RP_RESOURCE = 1, RP_SCOPE_PROFILES = 2,
       RESOURCE_ATTRIBUTE = 1, KV_KEY = 1, KV_VALUE = 2, ANY_STRING = 1, ANY_INT = 3, SP_SCOPE = 1,
       SP_PROFILE = 2, SCOPE_NAME = 1, SCOPE_VERSION = 2, PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2,
       PROFILE_TIME = 3, PROFILE_DURATION = 4, PROFILE_PERIOD_TYPE = 5, PROFILE_PERIOD = 6,
       PROFILE_ATTRIBUTES = 11, SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES = 2, SAMPLE_VALUES = 4,
       SAMPLE_TIMESTAMPS = 5, TYPE_NAME = 1, TYPE_UNIT = 2 };

struct otlp_writer {
	struct output *o;
	struct otlp_dictionary d;
	const struct tacho_profile_row *rows;
	uint32_t *order;			/* row ids by process, event and identity of the sample */
	size_t n;
	bool timed;				/* all samples have times, which can be converted */
	uint64_t from_ns, to_ns;		/* the range of times, in the clock of the samples */
	struct buf resource, scope, profile, sample, values, times, part;
};

/* ---- the order of rows ---- */

struct row_order {
	const struct tacho_profile *p;
	const struct tacho_profile_row *rows;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_process(const void *pa, const void *pb, void *arg)
{
	const struct row_order *by = arg;
	const struct tacho_profile_row *a = &by->rows[*(const uint32_t *)pa], *b = &by->rows[*(const uint32_t *)pb];
	int c = compare_u64(tacho_profile_thread(by->p, a->thread)->pid, tacho_profile_thread(by->p, b->thread)->pid);

	c = c ? c : compare_u64(a->event, b->event);
	c = c ? c : compare_u64(a->thread, b->thread);
	c = c ? c : compare_u64((uint64_t)(int64_t)a->cpu, (uint64_t)(int64_t)b->cpu);
	c = c ? c : compare_u64(a->node, b->node);
	return c ? c : compare_u64(a->time, b->time);
}

static int sort_rows(struct otlp_writer *w)
{
	struct row_order by = { w->o->p, w->rows };

	w->n = tacho_profile_n_rows(w->o->p);
	w->order = reallocarray(NULL, w->n + 1, sizeof(*w->order));
	if (!w->order)
		return -ENOMEM;
	for (size_t i = 0; i < w->n; i++)
		w->order[i] = (uint32_t)i;
	qsort_r(w->order, w->n, sizeof(*w->order), by_process, &by);
	return 0;
}

static const struct tacho_profile_row *row_at(const struct otlp_writer *w, size_t i)
{
	return &w->rows[w->order[i]];
}

static uint32_t pid_at(const struct otlp_writer *w, size_t i)
{
	return tacho_profile_thread(w->o->p, row_at(w, i)->thread)->pid;
}

static bool same_sample(const struct tacho_profile_row *a, const struct tacho_profile_row *b)
{
	return a->thread == b->thread && a->cpu == b->cpu && a->node == b->node;
}

static void find_times(struct otlp_writer *w)
{
	const struct tacho_output_opts *opts = w->o->opts;

	w->timed = opts->wall_offset_ns != 0;
	w->from_ns = UINT64_MAX;
	for (size_t i = 0; i < w->n; i++) {
		w->timed = w->timed && w->rows[i].time;
		w->from_ns = min_of(w->from_ns, w->rows[i].time);
		w->to_ns = max_of(w->to_ns, w->rows[i].time + 1);
	}
	if (opts->from_ns)
		w->from_ns = min_of(w->from_ns, opts->from_ns);
	w->to_ns = max_of(w->to_ns, opts->to_ns);
}

/* ---- samples ---- */

static bool counts_samples(const struct otlp_writer *w, uint32_t event)
{
	return w->o->opts->weight == TACHO_WEIGHT_SAMPLES || tacho_profile_event(w->o->p, event)->period == 0;
}

static uint64_t weight_of(const struct otlp_writer *w, const struct tacho_profile_row *r)
{
	return min_of(counts_samples(w, r->event) ? (uint64_t)r->samples : r->period, (uint64_t)INT64_MAX);
}

static void put_packed(struct buf *out, unsigned field, struct buf *packed)
{
	pb_bytes(out, field, buf_view(packed));
	out->bad = out->bad || buf_failed(packed);
	buf_clear(packed);
}

static void put_time(struct buf *out, uint64_t time)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(time >> 8 * i);
	buf_put(out, bytes, sizeof(bytes));
}

static void put_sample_attributes(struct otlp_writer *w, const struct tacho_profile_row *r)
{
	const struct tacho_profile_thread *t = tacho_profile_thread(w->o->p, r->thread);

	pb_varint(&w->part, otlp_number_attribute(&w->d, "thread.id", t->tid));
	pb_varint(&w->part, otlp_text_attribute(&w->d, "thread.name", t->comm));
	if (r->cpu >= 0)
		pb_varint(&w->part, otlp_number_attribute(&w->d, "cpu.logical_number", (uint64_t)r->cpu));
	put_packed(&w->sample, SAMPLE_ATTRIBUTES, &w->part);
}

/* One sample from equal rows. */
static void put_sample(struct otlp_writer *w, size_t from, size_t to)
{
	const struct tacho_profile_row *first = row_at(w, from);
	uint64_t sum = 0;

	pb_u64(&w->sample, SAMPLE_STACK, otlp_stack(&w->d, first->node));
	put_sample_attributes(w, first);
	for (size_t i = from; i < to; i++) {
		const struct tacho_profile_row *r = row_at(w, i);

		sum = min_of(sum + weight_of(w, r), (uint64_t)INT64_MAX);
		if (w->timed) {
			pb_varint(&w->values, weight_of(w, r));
			put_time(&w->times, r->time + (uint64_t)w->o->opts->wall_offset_ns);
		}
	}
	if (!w->timed)
		pb_varint(&w->values, sum);
	put_packed(&w->sample, SAMPLE_VALUES, &w->values);
	put_packed(&w->sample, SAMPLE_TIMESTAMPS, &w->times);
	pb_message(&w->profile, PROFILE_SAMPLE, &w->sample);
	buf_clear(&w->sample);
}

/* ---- profiles of an event ---- */

static void put_value_type(struct otlp_writer *w, unsigned field, const char *name, const char *unit)
{
	pb_u64(&w->part, TYPE_NAME, otlp_string(&w->d, name));
	pb_u64(&w->part, TYPE_UNIT, otlp_string(&w->d, unit));
	pb_message(&w->profile, field, &w->part);
	buf_clear(&w->part);
}

/* The clock events are called "cpu", as by other profilers; the attribute perf.event has the event's name. */
static void put_types(struct otlp_writer *w, uint32_t event)
{
	const struct tacho_profile_event *ev = tacho_profile_event(w->o->p, event);
	bool clock = event_is_clock(ev->name);
	const char *name = clock ? "cpu" : ev->name, *unit = clock ? "nanoseconds" : "count";

	if (counts_samples(w, event))
		put_value_type(w, PROFILE_SAMPLE_TYPE, "samples", "count");
	else
		put_value_type(w, PROFILE_SAMPLE_TYPE, name, unit);
	if (!ev->period)
		return;
	put_value_type(w, PROFILE_PERIOD_TYPE, name, unit);
	pb_u64(&w->profile, PROFILE_PERIOD, min_of(ev->period / max_of(ev->samples, 1ull), (uint64_t)INT64_MAX));
}

static void put_profile(struct otlp_writer *w, size_t from, size_t to)
{
	uint32_t event = row_at(w, from)->event;
	size_t start = from;

	put_types(w, event);
	for (size_t i = from + 1; i <= to; i++)
		if (i == to || !same_sample(row_at(w, start), row_at(w, i))) {
			put_sample(w, start, i);
			start = i;
		}
	if (w->timed)
		pb_fixed64(&w->profile, PROFILE_TIME, w->from_ns + (uint64_t)w->o->opts->wall_offset_ns);
	if (w->to_ns > w->from_ns && w->from_ns)
		pb_u64(&w->profile, PROFILE_DURATION, w->to_ns - w->from_ns);
	pb_varint(&w->part, otlp_text_attribute(&w->d, "perf.event", tacho_profile_event(w->o->p, event)->name));
	put_packed(&w->profile, PROFILE_ATTRIBUTES, &w->part);
	pb_message(&w->scope, SP_PROFILE, &w->profile);
	buf_clear(&w->profile);
}

/* ---- resources: processes ---- */

static void put_resource_attribute(struct otlp_writer *w, const char *key, const char *text, uint64_t number)
{
	struct buf value = { 0 };

	if (text) {
		otlp_put_utf8(&w->part, str_of(text));
		pb_message(&value, ANY_STRING, &w->part);
	} else {
		pb_varint(&value, ANY_INT << 3);
		pb_varint(&value, number);
	}
	buf_clear(&w->part);
	pb_bytes(&w->part, KV_KEY, str_of(key));
	pb_message(&w->part, KV_VALUE, &value);
	pb_message(&w->sample, RESOURCE_ATTRIBUTE, &w->part);
	buf_clear(&w->part);
	buf_done(&value);
}

static void put_resource(struct otlp_writer *w, size_t first_row)
{
	const struct tacho_output_opts *opts = w->o->opts;
	const struct tacho_profile_thread *t = tacho_profile_thread(w->o->p, row_at(w, first_row)->thread);
	struct tacho_output_attribute own[PROCESS_ATTRIBUTES_MAX];
	size_t n = process_attributes(w->o, t->pid, own);

	for (size_t i = 0; i < opts->n_resource; i++)
		put_resource_attribute(w, opts->resource[i].name, opts->resource[i].value, 0);
	for (size_t i = 0; i < n; i++)
		put_resource_attribute(w, own[i].name, own[i].value, 0);
	put_resource_attribute(w, "process.pid", NULL, t->pid);
	put_resource_attribute(w, "process.executable.name", t->process, 0);
	pb_message(&w->resource, RP_RESOURCE, &w->sample);
	buf_clear(&w->sample);
}

static void put_scope(struct otlp_writer *w)
{
	pb_bytes(&w->part, SCOPE_NAME, STR_LIT("tacho"));
	pb_bytes(&w->part, SCOPE_VERSION, STR_LIT(TACHO_VERSION));
	pb_message(&w->scope, SP_SCOPE, &w->part);
	buf_clear(&w->part);
}

/* Appends a message as a field of the output and clears it. Returns false when the writer should give up. */
static bool put_field(struct otlp_writer *w, unsigned field, struct buf *message)
{
	pb_message(&w->o->out->b, field, message);
	buf_clear(message);
	return out_flush_full(w->o->out) && !w->d.failed;
}

static bool put_process(struct otlp_writer *w, size_t from, size_t to)
{
	size_t start = from;

	put_resource(w, from);
	put_scope(w);
	for (size_t i = from + 1; i <= to; i++)
		if (i == to || row_at(w, i)->event != row_at(w, start)->event) {
			put_profile(w, start, i);
			start = i;
		}
	pb_message(&w->resource, RP_SCOPE_PROFILES, &w->scope);
	buf_clear(&w->scope);
	return put_field(w, DATA_RESOURCE_PROFILES, &w->resource);
}

static void put_data(struct otlp_writer *w)
{
	size_t start = 0;

	find_times(w);
	for (size_t i = 1; i <= w->n; i++)
		if (i == w->n || pid_at(w, i) != pid_at(w, start)) {
			if (!put_process(w, start, i))
				return;
			start = i;
		}
	otlp_dictionary_put(&w->d, &w->resource);
	put_field(w, DATA_DICTIONARY, &w->resource);
}

static int write_otlp(struct output *o)
{
	struct otlp_writer w = { .o = o, .rows = tacho_profile_rows(o->p) };
	int err = otlp_dictionary_init(&w.d, o->p);

	if (!err)
		err = sort_rows(&w);
	if (!err)
		put_data(&w);
	if (!err && (w.d.failed || buf_failed(&w.part)))
		err = -ENOMEM;
	buf_done(&w.resource);
	buf_done(&w.scope);
	buf_done(&w.profile);
	buf_done(&w.sample);
	buf_done(&w.values);
	buf_done(&w.times);
	buf_done(&w.part);
	free(w.order);
	otlp_dictionary_done(&w.d);
	return err;
}

const struct writer otlp_writer = {
	.format = { "otlp", ".otlp.pb", "OpenTelemetry profiles (protobuf, v1development)", false },
	.write = write_otlp,
	.wants_time = true,
};
