/*
 * Samples on their way to lines. Most of the time goes into waiting for memory: the text of a spot
 * lies anywhere in many megabytes. So up to BATCH_SAMPLES of them are decoded, then the spots of
 * all their frames are found, then the texts, and at last the lines are put; each step asks for the
 * memory that the next one reads.
 */
#include "cli/script/script.h"

#include <errno.h>

#include "record/callchain_markers.h"

enum { MOST_RUNS = 8 };		/* what one more sample must find room for, with RECENT_WORDS */

static bool is_wanted(struct script *s, const struct shown *x)
{
	const struct tacho_sample *sample = &x->sample;
	struct script_filter *f = &s->filter;

	if (f->times.n && !filter_has_time(f, sample->time))
		return false;
	if (f->by_cpu && !(x->ev->file->layout.sample_type & PERF_SAMPLE_CPU)) {
		s->without_cpu = true;
		return false;
	}
	if (f->by_cpu && !cpuset_has(&f->cpus, (int)sample->cpu))
		return false;
	return filter_has_comm(f, x->who.comm) && filter_has_task(f, sample->pid, sample->tid) &&
	       filter_has_place(f, s->symbols, x->who.misc, sample) &&
	       tacho_switch_lets(&f->between, s->pd, (size_t)(x->ev - s->events.v));
}

/* 1: it is in *x; 0: it is not to be shown. */
static int decode(struct script *s, const struct tacho_record *rec, struct shown *x)
{
	int i = tacho_perfdata_event_of(s->pd, rec), err;
	struct tacho_sample *sample = &x->sample;
	struct recent *r;

	x->ev = i < 0 ? NULL : &s->events.v[i];
	if (!x->ev || (!x->ev->fields && !s->opts->json && !x->ev->values))
		return 0;
	err = tacho_sample_decode_again(sample, rec, &x->ev->file->layout, s->scratch);
	if (err)
		return err;
	r = recent_thread(s, sample->pid, sample->tid);
	x->who = (struct script_who){ sample->pid, sample->tid, sample->cpu, sample->time, rec->misc,
				      rec->type, r->comm, r->n_comm, r };
	return x->ev->values || !s->filter.any || is_wanted(s, x);
}

/* False: there is no room for one more. */
static bool add_run(struct batch *b, const struct shown *x, enum tacho_space space, const uint64_t *ips,
		    size_t n)
{
	if (!n)
		return true;
	if (b->n_runs == BATCH_RUNS || n > BATCH_FRAMES - b->n_frames)
		return false;
	b->runs[b->n_runs++] = (struct frame_run){
		.ips = ips, .n = n, .space = space, .pid = x->who.pid, .fields = x->ev->fields,
		.spots = b->spots + b->n_frames, .hashes = b->hashes + b->n_frames,
		.texts = b->texts + b->n_frames,
	};
	b->n_frames += n;
	return true;
}

/* The runs among some words of the chain, which are kept on the way. False: it takes the slow way, for
 * want of room or because nobody knows what follows. */
static bool add_words(struct batch *b, const struct shown *x, size_t from, size_t to,
		      enum tacho_space *space)
{
	const struct tacho_words *chain = &x->sample.chain;
	uint64_t *kept = x->who.recent->words + RECENT_WORDS - chain->n;

	for (size_t i = from; i < to; i++) {
		kept[i] = chain->v[i];
		if (chain->v[i] < CONTEXT_FIRST)
			continue;
		if (!add_run(b, x, *space, chain->v + from, i - from) || !context_space(chain->v[i], space))
			return false;
		from = i + 1;
	}
	return add_run(b, x, *space, chain->v + from, to - from);
}

/* The chain's runs but for what the last sample of its thread has put already. */
static void plan_chain(struct script *s, struct batch *b, struct shown *x)
{
	const struct tacho_words *chain = &x->sample.chain;
	enum tacho_space space = TACHO_SPACE_USER, was = TACHO_SPACE_USER;
	struct recent *r = x->who.recent;
	size_t first = b->n_runs;

	x->shared = recent_shared(r, s, x->ev, chain);
	if (x->shared)
		was = recent_space(r, x->shared);
	x->looked_up = add_words(b, x, 0, chain->n - x->shared, &space);
	if (x->looked_up && x->shared && was != space) {
		x->looked_up = add_words(b, x, chain->n - x->shared, chain->n, &space);
		x->shared = 0;
	}
	x->runs = b->runs + first;
	x->n_runs = b->n_runs - first;
	if (x->looked_up)
		recent_keep(r, s, x);
	else
		r->n = x->shared = 0;
}

static void plan(struct script *s, struct batch *b, struct shown *x)
{
	x->looked_up = false;
	x->n_runs = x->shared = 0;
	if (s->opts->json || !x->ev->chains || !(x->ev->fields & FIELD_IP))
		return;
	if (s->opts->max_stack || s->opts->stop_bt.n || (x->sample.type & PERF_SAMPLE_STACK_USER) ||
	    x->sample.chain.n > RECENT_WORDS)
		x->who.recent->n = 0;
	else
		plan_chain(s, b, x);
}

static bool is_full(const struct script *s, const struct batch *b)
{
	return b->n == BATCH_SAMPLES || b->n_frames > BATCH_FRAMES - RECENT_WORDS ||
	       b->n_runs > BATCH_RUNS - MOST_RUNS || s->scratch->used;	/* by the last one */
}

static void show(struct script *s, const struct shown *x)
{
	struct script_event *ev = x->ev;

	if (!ev->trace && ev->attr->type == PERF_TYPE_TRACEPOINT && (ev->fields & FIELD_TRACE))
		script_trace(s, ev);
	if (s->opts->json)
		json_sample(s, ev, &x->sample, &x->who);
	else
		line_sample(s, x);
	ev->sink->samples++;
}

static void batch_start(struct script *s)
{
	struct batch *b = s->batch;

	frame_texts_trim(&s->frames);
	b->n = b->n_runs = b->n_frames = 0;
}

/* What else was sampled is the leader's, also where it stands for a tracepoint of the group. */
static void show_as(struct script *s, struct shown *x, struct script_event *sampled)
{
	const struct tacho_trace_event *own = x->ev->trace;

	if (!sampled->trace && x->sample.raw && sampled->attr->type == PERF_TYPE_TRACEPOINT)
		script_trace(s, sampled);
	x->ev->trace = sampled->trace;
	show(s, x);
	x->ev->trace = own;
	sink_line(s, x->ev->sink);
}

/* One that carries values is shown for each counter that counted something. */
static int show_values(struct script *s, struct shown *x)
{
	struct script_event *sampled = x->ev;
	size_t event = (size_t)(sampled - s->events.v), of;
	uint64_t period = x->sample.period;
	int err = 0;

	if (!(x->sample.type & PERF_SAMPLE_CPU))
		x->who.cpu = NO_CPU;
	for (size_t i = 0; i < x->sample.read.n && err >= 0; i++) {
		err = tacho_perfdata_counted(s->pd, event, &x->sample, i, &of, &x->sample.period);
		if (err <= 0 || of >= s->events.n)
			continue;
		x->ev = &s->events.v[of];
		if ((!x->ev->fields && !s->opts->json) || (s->filter.any && !is_wanted(s, x)))
			continue;
		batch_start(s);
		plan(s, s->batch, x);
		err = frame_runs_look_up(s, s->batch->runs, s->batch->n_runs);
		if (err == 0)
			show_as(s, x, sampled);
	}
	x->sample.period = period;
	return err < 0 ? err : 1;
}

static bool has_values(const struct script *s, const struct tacho_record *rec)
{
	int i = s->values ? tacho_perfdata_event_of(s->pd, rec) : -1;

	return i >= 0 && s->events.v[i].values;
}

int batch_show(struct script *s, const struct tacho_record *recs, size_t n)
{
	struct batch *b = s->batch;
	size_t i;
	int err;

	batch_start(s);
	s->scratch->used = 0;
	if (has_values(s, &recs[0])) {
		err = decode(s, &recs[0], &b->shown[0]);
		if (err < 0 && !s->n_bad++)
			s->first_bad = recs[0].offset;
		return err == 1 ? show_values(s, &b->shown[0]) : 1;
	}
	for (i = 0; i < n && recs[i].type == TACHO_RECORD_SAMPLE && !is_full(s, b); i++) {
		if (has_values(s, &recs[i]))
			break;
		struct shown *x = &b->shown[b->n];

		err = decode(s, &recs[i], x);
		if (err == 1) {
			b->n++;
			plan(s, b, x);
		} else if (err < 0 && !s->n_bad++) {
			s->first_bad = recs[i].offset;
		}
	}
	if (frame_runs_look_up(s, b->runs, b->n_runs) < 0)
		return -ENOMEM;
	for (size_t k = 0; k < b->n; k++)
		show(s, &b->shown[k]);
	for (size_t k = 0; k < b->n; k++)
		sink_line(s, b->shown[k].ev->sink);
	return (int)i;
}
