/*
 * The JSON format of speedscope: the frames, then a profile of type "sampled" per thread and event, the heaviest first. Equal
 * stacks are added up, which keeps the file small; so samples are not in the order of time.
 */
#include "output/output.h"

#include "base/json.h"
#include "base/vec.h"

#include <errno.h>

struct thread_profile {			/* of one thread and event */
	uint32_t thread, event;
	uint64_t weight;
};

struct speedscope {
	struct output *o;
	struct json j;
	struct thread_rows rows;
	struct { struct thread_profile *v; size_t n, cap; } profiles;
	struct { uint32_t *v; size_t n, cap; } path;
};

static int by_weight(const void *pa, const void *pb)
{
	const struct thread_profile *a = pa, *b = pb;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/* Weights of different events are not comparable: events in their order, then threads by weight. */
static int by_event(const void *pa, const void *pb)
{
	const struct thread_profile *a = pa, *b = pb;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	return by_weight(pa, pb);
}

static int list_profiles(struct speedscope *w)
{
	const struct tacho_profile *p = w->o->p;
	size_t n_events = tacho_profile_n_events(p);
	scoped(freep) uint64_t *weight = calloc(n_events + 1, sizeof(*weight));

	if (!weight)
		return -ENOMEM;
	for (uint32_t t = 0; t < tacho_profile_n_threads(p); t++) {
		memset(weight, 0, n_events * sizeof(*weight));
		for (size_t i = w->rows.start[t]; i < w->rows.start[t + 1]; i++) {
			const struct tacho_profile_row *r = &tacho_profile_rows(p)[w->rows.order[i]];

			weight[r->event] += row_weight(w->o, r);
		}
		for (uint32_t e = 0; e < n_events; e++) {
			struct thread_profile *one = weight[e] ? vec_add(&w->profiles) : NULL;

			if (weight[e] && !one)
				return -ENOMEM;
			if (one)
				*one = (struct thread_profile){ t, e, weight[e] };
		}
	}
	if (w->profiles.n)
		qsort(w->profiles.v, w->profiles.n, sizeof(*w->profiles.v), by_event);
	return 0;
}

static void put_frames(struct speedscope *w)
{
	json_key(&w->j, "shared");
	json_begin(&w->j, '{');
	json_key(&w->j, "frames");
	json_begin(&w->j, '[');
	for (size_t i = 0; i < tacho_profile_n_frames(w->o->p) && out_flush_full(w->o->out); i++) {
		const struct tacho_profile_frame *f = tacho_profile_frame(w->o->p, i);

		json_begin(&w->j, '{');
		json_key(&w->j, "name");
		json_raw(&w->j, "");
		put_label_json(w->j.out, f);
		json_member(&w->j, "file", str, f->code->srcfile ? f->code->srcfile : f->code->object_path);
		if (f->code->srcfile)
			json_member(&w->j, "line", u64, f->srcline);
		json_end(&w->j);
	}
	json_end(&w->j);
	json_end(&w->j);
}

static bool in_profile(const struct speedscope *w, const struct thread_profile *one, size_t i)
{
	return tacho_profile_rows(w->o->p)[w->rows.order[i]].event == one->event;
}

static int put_stacks(struct speedscope *w, const struct thread_profile *one)
{
	const struct tacho_profile_node *nodes = tacho_profile_nodes(w->o->p);

	json_key(&w->j, "samples");
	json_begin(&w->j, '[');
	for (size_t i = w->rows.start[one->thread]; i < w->rows.start[one->thread + 1]; i++) {
		w->path.n = 0;
		if (!in_profile(w, one, i) || !out_flush_full(w->o->out))
			continue;
		for (uint32_t at = tacho_profile_rows(w->o->p)[w->rows.order[i]].node; at;
		     at = nodes[at].parent) {
			uint32_t *frame = vec_add(&w->path);

			if (!frame)
				return -ENOMEM;
			*frame = nodes[at].frame;
		}
		json_begin(&w->j, '[');
		while (w->path.n)
			json_u64(&w->j, w->path.v[--w->path.n]);
		json_end(&w->j);
	}
	json_end(&w->j);
	return 0;
}

static int put_profile(struct speedscope *w, const struct thread_profile *one)
{
	const struct tacho_profile_thread *t = tacho_profile_thread(w->o->p, one->thread);
	const char *unit = weight_unit(w->o, one->event);
	scoped(buf_done) struct buf name = { 0 };
	int err;

	buf_printf(&name, "%s %u", t->comm, t->pid);
	if (t->tid != t->pid)
		buf_printf(&name, "/%u", t->tid);
	if (tacho_profile_n_events(w->o->p) > 1)
		buf_printf(&name, " %s", tacho_profile_event(w->o->p, one->event)->name);
	if (buf_failed(&name))
		return -ENOMEM;
	json_begin(&w->j, '{');
	json_member(&w->j, "type", str, "sampled");
	json_member(&w->j, "name", strn, buf_view(&name));
	json_member(&w->j, "unit", str, strcmp(unit, "ns") == 0 ? "nanoseconds" : "none");
	json_member(&w->j, "startValue", u64, 0);
	json_member(&w->j, "endValue", u64, one->weight);
	err = put_stacks(w, one);
	json_key(&w->j, "weights");
	json_begin(&w->j, '[');
	for (size_t i = w->rows.start[one->thread]; i < w->rows.start[one->thread + 1] && !err; i++)
		if (in_profile(w, one, i) && out_flush_full(w->o->out))
			json_u64(&w->j,
				 row_weight(w->o, &tacho_profile_rows(w->o->p)[w->rows.order[i]]));
	json_end(&w->j);
	json_end(&w->j);
	return err;
}

static int put_document(struct speedscope *w)
{
	int err = 0;

	json_begin(&w->j, '{');
	json_member(&w->j, "$schema", str, "https://www.speedscope.app/file-format-schema.json");
	json_member(&w->j, "exporter", str, "tacho " TACHO_VERSION);
	json_member(&w->j, "name", str, w->o->opts->title ? w->o->opts->title : "tacho");
	json_member(&w->j, "activeProfileIndex", u64, 0);
	put_frames(w);
	json_key(&w->j, "profiles");
	json_begin(&w->j, '[');
	for (size_t i = 0; i < w->profiles.n && !err; i++)
		err = put_profile(w, &w->profiles.v[i]);
	json_end(&w->j);
	json_end(&w->j);
	buf_putc(w->j.out, '\n');
	return err;
}

static int write_speedscope(struct output *o)
{
	struct speedscope w = { .o = o, .j = { .out = &o->out->b } };
	int err = thread_rows_init(&w.rows, o->p);

	if (!err)
		err = list_profiles(&w);
	if (!err)
		err = put_document(&w);
	thread_rows_done(&w.rows);
	vec_done(&w.profiles);
	vec_done(&w.path);
	return err;
}

const struct writer speedscope_writer = {
	.format = { "speedscope", ".speedscope.json", "speedscope.app", false },
	.write = write_speedscope,
};
