/*
 * Prints samples in batches. The texts of frames are scattered over many megabytes, so that printing
 * samples one by one would spend most of its time on cache misses. Therefore each step is done for up
 * to BATCH_SAMPLES samples: decode, find the code locations of all frames, find their texts, write the
 * lines. Each step prefetches the memory that the next one reads.
 */
#include "cli/script/python.h"

#include <errno.h>

#include "record/callchain_markers.h"

enum { RUNS_PER_SAMPLE = 8 };	/* free runs needed to add a sample, besides MAX_CACHED_CHAIN frames */

static bool passes_filter(struct script *s, const struct batch_sample *x)
{
	const struct tacho_sample *sample = &x->sample;
	struct script_filter *f = &s->filter;

	if (!time_filter_has(&f->times, sample->time))
		return false;
	if (f->by_cpu && !(x->ev->file->layout.sample_type & PERF_SAMPLE_CPU)) {
		s->without_cpu = true;
		return false;
	}
	if (f->by_cpu && !cpuset_has(&f->cpus, (int)sample->cpu))
		return false;
	return filter_has_comm(f, x->head.comm) && filter_has_task(f, sample->pid, sample->tid) &&
	       filter_has_location(f, s->symbols, x->head.misc, sample) &&
	       tacho_switch_lets(&f->event_switch, s->pd, (size_t)(x->ev - s->events.v));
}

/* Returns 1 if *x is filled in, 0 if the sample is filtered out. */
static int decode_sample(struct script *s, const struct tacho_record *rec, struct batch_sample *x)
{
	int i = tacho_perfdata_event_of(s->pd, rec), err;
	struct tacho_sample *sample = &x->sample;
	struct thread_lines *r;

	x->ev = i < 0 ? NULL : &s->events.v[i];
	if (!x->ev || (!x->ev->fields && !script_shows_trace(s, x->ev) && !s->opts->json && !x->ev->values && !s->python))
		return 0;
	err = tacho_sample_decode_again(sample, rec, &x->ev->file->layout, s->scratch);
	if (err)
		return err;
	r = thread_lines_find(s, sample->pid, sample->tid);
	x->head = (struct line_head){ sample->pid, sample->tid, sample->cpu, sample->time, rec->misc,
				      rec->type, r->comm, r->n_comm, r };
	if (!tacho_insn_note_get(rec, &x->note))
		x->note = (struct tacho_insn_note){ 0 };
	return (x->ev->values && !s->python) || !s->filter.any || passes_filter(s, x);
}

/* Returns false if the batch is full. */
static bool add_run(struct sample_batch *b, const struct batch_sample *x, enum tacho_space space,
		    const uint64_t *ips, size_t n)
{
	if (!n)
		return true;
	if (b->n_runs == BATCH_RUNS || n > BATCH_FRAMES - b->n_frames)
		return false;
	b->runs[b->n_runs++] = (struct frame_run){
		.ips = ips, .n = n, .space = space, .pid = x->head.pid, .fields = x->ev->fields,
		.inlines = b->inlines, .exact = ips == x->sample.chain.v || ips[-1] >= CONTEXT_FIRST,
		.spots = b->spots + b->n_frames, .hashes = b->hashes + b->n_frames,
		.texts = b->texts + b->n_frames,
	};
	b->n_frames += n;
	return true;
}

/* Adds the runs of addresses between context markers in a range of chain entries, and caches the entries for
 * the thread's next sample. Returns false if the batch is full or a marker is unknown; the chain must be
 * printed without the batch then. */
static bool add_chain(struct sample_batch *b, const struct batch_sample *x, size_t from, size_t to,
		      enum tacho_space *space)
{
	const struct tacho_words *chain = &x->sample.chain;
	uint64_t *cached_chain = x->head.thread_lines->chain + MAX_CACHED_CHAIN - chain->n;

	for (size_t i = from; i < to; i++) {
		cached_chain[i] = chain->v[i];
		if (chain->v[i] < CONTEXT_FIRST)
			continue;
		if (!add_run(b, x, *space, chain->v + from, i - from) || !context_space(chain->v[i], space))
			return false;
		from = i + 1;
	}
	return add_run(b, x, *space, chain->v + from, to - from);
}

/* Adds the chain's runs, except for frames whose lines can be copied from the thread's last sample. */
static void plan_chain(struct script *s, struct sample_batch *b, struct batch_sample *x)
{
	const struct tacho_words *chain = &x->sample.chain;
	enum tacho_space space = TACHO_SPACE_USER, was = TACHO_SPACE_USER;
	struct thread_lines *r = x->head.thread_lines;
	size_t first = b->n_runs;

	x->shared = thread_lines_shared(r, s, x->ev, chain);
	if (x->shared)
		was = thread_lines_space(r, x->shared);
	x->looked_up = add_chain(b, x, 0, chain->n - x->shared, &space);
	if (x->looked_up && x->shared && was != space) {
		x->looked_up = add_chain(b, x, chain->n - x->shared, chain->n, &space);
		x->shared = 0;
	}
	x->runs = b->runs + first;
	x->n_runs = b->n_runs - first;
	if (x->looked_up)
		thread_lines_store(r, s, x);
	else
		r->n = x->shared = 0;
}

static void plan_lines(struct script *s, struct sample_batch *b, struct batch_sample *x)
{
	x->looked_up = false;
	x->n_runs = x->shared = 0;
	if (s->opts->json || s->python || !x->ev->chains || !(x->ev->fields & FIELD_IP))
		return;
	if (s->opts->max_stack || s->opts->stop_bt.n || (x->sample.type & PERF_SAMPLE_STACK_USER) ||
	    x->sample.chain.n > MAX_CACHED_CHAIN)
		x->head.thread_lines->n = 0;
	else
		plan_chain(s, b, x);
}

static bool is_full(const struct script *s, const struct sample_batch *b)
{
	return b->n == BATCH_SAMPLES || b->n_frames > BATCH_FRAMES - MAX_CACHED_CHAIN ||
	       b->n_runs > BATCH_RUNS - RUNS_PER_SAMPLE || s->scratch->used;	/* used by the last sample */
}

static void print_sample(struct script *s, const struct batch_sample *x)
{
	struct script_event *ev = x->ev;

	if (!ev->trace && script_shows_trace(s, ev) && script_trace(s, ev) == -ENOMEM)
		ev->sink->out.bad = true;
	if (s->python)
		python_sample(s, ev, &x->sample, &x->head);
	else if (s->opts->json)
		json_sample(s, ev, &x->sample, &x->head);
	else
		line_sample(s, x);
	ev->sink->samples++;
}

static void batch_start(struct script *s)
{
	struct sample_batch *b = s->batch;

	b->inlines = !s->opts->no_inline;
	frame_texts_trim(&s->frames);
	b->n = b->n_runs = b->n_frames = 0;
}

/* Prints a group's sample under the name of one of its counters. The raw data belong to the event
 * that was sampled, even if the counter is another tracepoint. */
static void print_as_counter(struct script *s, struct batch_sample *x, struct script_event *sampled)
{
	const struct tacho_trace_event *counter_trace = x->ev->trace;

	if (!sampled->trace && x->sample.raw && sampled->attr->type == PERF_TYPE_TRACEPOINT)
		script_trace(s, sampled);
	x->ev->trace = sampled->trace;
	print_sample(s, x);
	x->ev->trace = counter_trace;
	sink_write_if_full(s, x->ev->sink);
}

/* Prints the sample for the counter of x->ev. 1 if it is printed, 0 if an option leaves it out, or -ENOMEM. */
static int print_counter(struct script *s, struct batch_sample *x, struct script_event *sampled)
{
	int err;

	if ((!x->ev->fields && !script_shows_trace(s, x->ev) && !s->opts->json) || (s->filter.any && !passes_filter(s, x)))
		return 0;
	batch_start(s);
	plan_lines(s, s->batch, x);
	err = frame_runs_look_up(s, s->batch->runs, s->batch->n_runs);
	if (err == 0)
		print_as_counter(s, x, sampled);
	return err < 0 ? err : 1;
}

/* Prints a sample with PERF_SAMPLE_READ values once for each counter with a nonzero count, then its metrics. */
static int print_counters(struct script *s, struct batch_sample *x)
{
	struct script_event *sampled = x->ev;
	size_t event = (size_t)(sampled - s->events.v), of, printed = 0;
	bool metrics = s->fields.metrics && !s->opts->json;
	uint64_t period = x->sample.period;
	int err = metrics ? sampled_metrics_begin(s) : 0;

	if (!(x->sample.type & PERF_SAMPLE_CPU))
		x->head.cpu = NO_CPU;
	for (size_t i = 0; i < x->sample.read.n && err >= 0; i++) {
		err = tacho_perfdata_counted(s->pd, event, &x->sample, i, &of, &x->sample.period);
		if (err <= 0 || of >= s->events.n)
			continue;
		if (metrics)
			sampled_metrics_count(s, of, x->sample.period);
		x->ev = &s->events.v[of];
		err = print_counter(s, x, sampled);
		printed += err > 0;
	}
	x->sample.period = period;
	x->ev = sampled;
	if (metrics && printed && err >= 0)
		err = sampled_metrics_put(s, x);
	return err < 0 ? err : 1;
}

static bool has_values(const struct script *s, const struct tacho_record *rec)
{
	int i = s->values ? tacho_perfdata_event_of(s->pd, rec) : -1;

	return i >= 0 && s->events.v[i].values;
}

/* Whether a JIT compiler has replaced code before this sample, so that it needs the next batch. Negative: -ENOMEM. */
static int changes_code(struct script *s, const struct tacho_record *rec, bool first)
{
	uint64_t next = tacho_symbols_next_change(s->symbols), time;
	int i = next == UINT64_MAX ? -1 : tacho_perfdata_event_of(s->pd, rec);

	if (i < 0)
		return 0;
	time = tacho_record_time(rec, &s->events.v[i].file->layout);
	if (time == UINT64_MAX || time < next)
		return 0;
	if (!first)
		return 1;
	s->state_version++;
	return min_of(tacho_symbols_advance(s->symbols, time), 0);
}

int batch_print(struct script *s, const struct tacho_record *recs, size_t n)
{
	struct sample_batch *b = s->batch;
	size_t i;
	int err;

	batch_start(s);
	s->scratch->used = 0;
	if (changes_code(s, &recs[0], true) < 0)
		return -ENOMEM;
	if (has_values(s, &recs[0]) && !s->python) {
		err = decode_sample(s, &recs[0], &b->samples[0]);
		if (err < 0 && !s->n_bad++)
			s->first_bad = recs[0].offset;
		return err == 1 ? print_counters(s, &b->samples[0]) : 1;
	}
	for (i = 0; i < n && recs[i].type == TACHO_RECORD_SAMPLE && !is_full(s, b); i++) {
		if ((has_values(s, &recs[i]) && !s->python) || (i && changes_code(s, &recs[i], false)))
			break;
		struct batch_sample *x = &b->samples[b->n];

		err = decode_sample(s, &recs[i], x);
		if (err == 1) {
			b->n++;
			plan_lines(s, b, x);
		} else if (err < 0 && !s->n_bad++) {
			s->first_bad = recs[i].offset;
		}
	}
	if (frame_runs_look_up(s, b->runs, b->n_runs) < 0)
		return -ENOMEM;
	for (size_t k = 0; k < b->n; k++)
		print_sample(s, &b->samples[k]);
	for (size_t k = 0; k < b->n; k++)
		sink_write_if_full(s, b->samples[k].ev->sink);
	return (int)i;
}
