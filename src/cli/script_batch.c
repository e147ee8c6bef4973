/*
 * Samples on their way to lines. Most of the time goes into waiting for memory: the text of a spot
 * lies anywhere in many megabytes. So up to BATCH_SAMPLES of them are decoded, then the spots of
 * all their frames are found, then the texts, and at last the lines are put; each step asks for the
 * memory that the next one reads.
 */
#include "cli/script.h"

#include <errno.h>

enum { LONGEST_CHAIN = 136, MOST_RUNS = 8 };	/* what one more sample must find room for */

static bool is_wanted(struct script *s, const struct script_event *ev, const struct tacho_sample *sample)
{
	const struct script_filter *f = &s->filter;

	if (f->times.n && !filter_has_time(f, sample->time))
		return false;
	if (f->by_cpu && !(ev->file->layout.sample_type & PERF_SAMPLE_CPU)) {
		s->without_cpu = true;
		return false;
	}
	return !f->by_cpu || cpuset_has(&f->cpus, (int)sample->cpu);
}

/* 1: it is in *x; 0: it is not to be shown. */
static int decode(struct script *s, const struct tacho_record *rec, struct shown *x)
{
	int i = tacho_perfdata_event_of(s->pd, rec), err;
	struct tacho_sample *sample = &x->sample;
	struct recent *r;

	x->ev = i < 0 ? NULL : &s->events.v[i];
	if (!x->ev || (!x->ev->fields && !s->opts->json))
		return 0;
	err = tacho_sample_decode(sample, rec, &x->ev->file->layout, s->scratch);
	if (err)
		return err;
	if (!is_wanted(s, x->ev, sample))
		return 0;
	r = recent_thread(s, sample->pid, sample->tid);
	x->who = (struct script_who){ sample->pid, sample->tid, sample->cpu, sample->time, rec->misc,
				      rec->type, r->comm, r->n_comm, r };
	return filter_has_comm(&s->filter, r->comm) &&
	       filter_has_task(&s->filter, sample->pid, sample->tid) &&
	       filter_has_place(&s->filter, s->symbols, rec->misc, sample);
}

struct run_maker {
	struct batch *b;
	const struct shown *x;
	bool full;
};

static void make_run(void *arg, enum tacho_space space, const uint64_t *ips, size_t n)
{
	struct run_maker *m = arg;
	struct batch *b = m->b;

	if (b->n_runs == BATCH_RUNS || n > BATCH_FRAMES - b->n_frames) {
		m->full = true;
		return;
	}
	b->runs[b->n_runs++] = (struct frame_run){
		.ips = ips, .n = n, .space = space, .pid = m->x->who.pid, .fields = m->x->ev->fields,
		.spots = b->spots + b->n_frames, .texts = b->texts + b->n_frames,
	};
	b->n_frames += n;
}

/* The chain's runs but for what the last sample of its thread has put already. */
static void plan_chain(struct script *s, struct batch *b, struct shown *x)
{
	const struct tacho_words *chain = &x->sample.chain;
	struct run_maker m = { b, x, false };
	enum tacho_space space = TACHO_SPACE_USER;
	struct recent *r = x->who.recent;
	size_t fresh;
	bool known;

	x->runs = b->runs + b->n_runs;
	x->shared = recent_shared(r, s, x->ev, chain);
	fresh = chain->n - x->shared;
	known = script_walk_words(chain->v, fresh, &space, make_run, &m);
	if (x->shared && known && r->spaces[x->shared - 1] != space) {
		known = script_walk_words(chain->v + fresh, x->shared, &space, make_run, &m);
		x->shared = 0;
	}
	x->n_runs = (size_t)(b->runs + b->n_runs - x->runs);
	x->looked_up = !m.full;
	if (known && !m.full)
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
	if (s->opts->max_stack || (x->sample.type & PERF_SAMPLE_STACK_USER))
		x->who.recent->n = 0;
	else
		plan_chain(s, b, x);
}

static bool is_full(const struct script *s, const struct batch *b)
{
	return b->n == BATCH_SAMPLES || b->n_frames > BATCH_FRAMES - LONGEST_CHAIN ||
	       b->n_runs > BATCH_RUNS - MOST_RUNS || s->scratch->used;	/* by the last one */
}

static int look_up(struct script *s, struct batch *b)
{
	int err = 0;

	for (size_t i = 0; i < b->n_runs && !err; i++)
		err = frame_run_spots(s, &b->runs[i]);
	for (size_t i = 0; i < b->n_runs && !err; i++)
		err = frame_run_texts(s, &b->runs[i]);
	return err;
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

int batch_show(struct script *s, const struct tacho_record *recs, size_t n)
{
	struct batch *b = s->batch;
	size_t i;
	int err;

	frame_texts_trim(&s->frames);
	b->n = b->n_runs = b->n_frames = 0;
	s->scratch->used = 0;
	for (i = 0; i < n && recs[i].type == TACHO_RECORD_SAMPLE && !is_full(s, b); i++) {
		struct shown *x = &b->shown[b->n];

		err = decode(s, &recs[i], x);
		if (err == 1) {
			b->n++;
			plan(s, b, x);
		} else if (err < 0 && !s->n_bad++) {
			s->first_bad = recs[i].offset;
		}
	}
	if (look_up(s, b) < 0)
		return -ENOMEM;
	for (size_t k = 0; k < b->n; k++)
		show(s, &b->shown[k]);
	for (size_t k = 0; k < b->n; k++)
		sink_line(s, b->shown[k].ev->sink);
	return (int)i;
}
