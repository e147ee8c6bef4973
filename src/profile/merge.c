/*
 * Adds one profile to another: each table of the source is interned in turn, and its ids are translated to the target's.
 */
#include "profile/detail.h"
#include "profile/intern.h"
#include "profile/quality.h"
#include "profile/trie.h"

#include <errno.h>

struct merge_ids {			/* indexed by the source's ids */
	uint32_t *events, *threads, *names, *objects, *frames, *nodes;
};

static void merge_ids_done(struct merge_ids *m)
{
	free(m->events);
	free(m->threads);
	free(m->names);
	free(m->objects);
	free(m->frames);
	free(m->nodes);
}

static int merge_ids_init(struct merge_ids *m, const struct tacho_profile *from)
{
	m->events = calloc(from->events.n + 1, sizeof(uint32_t));
	m->threads = calloc(from->threads.n + 1, sizeof(uint32_t));
	m->names = calloc(from->name_text.n + 1, sizeof(uint32_t));
	m->objects = calloc(from->objects.n + 1, sizeof(uint32_t));
	m->frames = calloc(from->frames.n + 1, sizeof(uint32_t));
	m->nodes = calloc(from->nodes.n + 1, sizeof(uint32_t));
	return m->events && m->threads && m->names && m->objects && m->frames && m->nodes ? 0 : -ENOMEM;
}

static int merge_events(struct tacho_profile *p, const struct tacho_profile *from, struct merge_ids *m)
{
	for (size_t i = 0; i < from->events.n; i++) {
		const struct tacho_profile_event *src = &from->events.v[i];
		struct tacho_profile_event *ev;

		m->events[i] = profile_intern_event(p, src->name);
		if (m->events[i] == KEYMAP_NONE)
			return -ENOMEM;
		ev = &p->events.v[m->events[i]];
		ev->samples += src->samples;
		ev->period += src->period;
		ev->all_samples += src->all_samples;
		ev->all_period += src->all_period;
		ev->latency += src->latency;
		ev->all_latency += src->all_latency;
		ev->has_chains |= src->has_chains;
		ev->tracepoint |= src->tracepoint;
	}
	for (size_t i = 0; i < from->events.n; i++) {
		p->events.v[m->events[i]].leader = m->events[from->events.v[i].leader];
		p->events.v[m->events[i]].group_size = from->events.v[i].group_size;
	}
	return 0;
}

static int merge_names(struct tacho_profile *p, const struct tacho_profile *from, struct merge_ids *m)
{
	for (size_t i = 0; i < from->name_text.n; i++) {
		m->names[i] = profile_intern_name(p, from->name_text.v[i]);
		if (m->names[i] == KEYMAP_NONE)
			return -ENOMEM;
	}
	for (size_t i = 0; i < from->objects.n; i++) {
		m->objects[i] = profile_intern_object(p, &from->objects.v[i]);
		if (m->objects[i] == KEYMAP_NONE)
			return -ENOMEM;
	}
	for (size_t i = 0; i < from->threads.n; i++) {
		const struct tacho_profile_thread *t = &from->threads.v[i].pub;

		m->threads[i] = profile_intern_thread(p, t->pid, t->tid, t->comm);
		if (m->threads[i] == KEYMAP_NONE)
			return -ENOMEM;
	}
	return 0;
}

static uint32_t merge_frame(struct tacho_profile *p, const struct tacho_profile_frame *f,
			    const struct merge_ids *m)
{
	struct frame_desc desc = {
		.symbol = m->names[f->code->symbol], .object = m->objects[f->code->object],
		.address = f->address, .offset = f->offset, .srcline = f->srcline, .space = f->space,
		.inlined = f->inlined, .jit = f->jit, .known = f->known,
	};

	if (f->code->srcfile) {
		uint32_t id = profile_intern_name(p, f->code->srcfile);

		if (id == KEYMAP_NONE)
			return KEYMAP_NONE;
		desc.srcfile = p->name_text.v[id];
	}
	return profile_intern_frame(p, &desc);
}

/* Parents have smaller ids than their children, so one pass is enough. */
static int merge_stacks(struct tacho_profile *p, const struct tacho_profile *from, struct merge_ids *m)
{
	for (size_t i = 0; i < from->frames.n; i++) {
		m->frames[i] = merge_frame(p, &from->frames.v[i], m);
		if (m->frames[i] == KEYMAP_NONE)
			return -ENOMEM;
	}
	for (size_t i = 1; i < from->nodes.n; i++) {
		const struct tacho_profile_node *n = &from->nodes.v[i];

		m->nodes[i] = profile_intern_node(p, m->nodes[n->parent], m->frames[n->frame]);
		if (m->nodes[i] == KEYMAP_NONE)
			return -ENOMEM;
	}
	return 0;
}

static uint32_t merge_value(struct tacho_profile *p, const struct tacho_profile *from, uint32_t id,
			    uint32_t kind)
{
	const struct tacho_profile_value *v = tacho_profile_value(from, id);

	return v ? profile_intern_value(p, kind, v) : 0;
}

/* The detail's id in the target, or KEYMAP_NONE if out of memory. */
static uint32_t merge_detail(struct tacho_profile *p, const struct tacho_profile *from,
			     const struct merge_ids *m, uint32_t id)
{
	const struct tacho_profile_detail *src = tacho_profile_detail(from, id);
	struct tacho_profile_detail d;
	struct tacho_profile_place *places[] = { &d.ip, &d.data, &d.from, &d.to };

	if (!src)
		return 0;
	d = *src;
	for (size_t i = 0; i < countof(places); i++)
		if (places[i]->frame)
			places[i]->frame = m->frames[places[i]->frame - 1] + 1;
	d.trace = merge_value(p, from, src->trace, TACHO_FIELDS_MAX);
	if (d.trace == KEYMAP_NONE)
		return KEYMAP_NONE;
	for (uint32_t i = 0; i < TACHO_FIELDS_MAX; i++) {
		d.fields[i] = merge_value(p, from, src->fields[i], i);
		if (d.fields[i] == KEYMAP_NONE)
			return KEYMAP_NONE;
	}
	return profile_intern_detail(p, &d);
}

static int merge_rows(struct tacho_profile *p, const struct tacho_profile *from,
		      const struct merge_ids *m)
{
	for (size_t i = 0; i < from->rows.n; i++) {
		struct tacho_profile_row row = from->rows.v[i];

		row.event = m->events[row.event];
		row.thread = m->threads[row.thread];
		row.node = m->nodes[row.node];
		row.detail = merge_detail(p, from, m, row.detail);
		if (row.detail == KEYMAP_NONE)
			return -ENOMEM;
		if (profile_add_row(p, &row) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < from->cgroups.n; i++)
		if (profile_add_cgroup(p, from->cgroups.v[i].id, from->cgroups.v[i].path) < 0)
			return -ENOMEM;
	return 0;
}

static void merge_quality(struct tacho_profile_quality *q, const struct tacho_profile_quality *add)
{
	q->samples += add->samples;
	q->lost += add->lost;
	q->lost_records += add->lost_records;
	q->bad_records += add->bad_records;
	q->throttled += add->throttled;
	q->raw_stacks += add->raw_stacks;
	if (add->first_s > 0 && (q->first_s == 0 || add->first_s < q->first_s))
		q->first_s = add->first_s;
	q->last_s = max_of(q->last_s, add->last_s);
}

int tacho_profile_merge(struct tacho_profile *p, const struct tacho_profile *from)
{
	scoped(merge_ids_done) struct merge_ids m = { 0 };
	int err = p->opts.split_comms || p->opts.once ? -EINVAL : merge_ids_init(&m, from);

	if (err == 0)
		err = merge_events(p, from, &m);
	if (err == 0)
		err = merge_names(p, from, &m);
	if (err == 0)
		err = merge_stacks(p, from, &m);
	if (err == 0)
		err = merge_rows(p, from, &m);
	if (err == 0)
		merge_quality(&p->quality, &from->quality);
	return err ? err : quality_rows(p);
}
