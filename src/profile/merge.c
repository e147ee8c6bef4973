/*
 * Adds one profile to another: each table of the source is interned in turn, and its ids are translated to the target's.
 * A share of a profile is added without the stacks, frames and threads that no row uses any more, so that a profile that
 * is merged into a new one again and again, a smaller share each time, does not grow.
 */
#include "profile/detail.h"
#include "profile/intern.h"
#include "profile/quality.h"
#include "profile/trie.h"

#include <errno.h>

struct share {
	uint32_t num, den;		/* the share of samples and periods to add */
	bool prunes;			/* add only what rows use */
};

struct merge_ids {			/* indexed by the source's ids */
	uint32_t *events, *threads, *names, *objects, *frames, *nodes;
	struct share share;
};

#define MERGE_UNUSED (KEYMAP_NONE - 1)	/* an id of the source that is not needed */

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

static uint64_t share_of(const struct share *share, uint64_t n)
{
	return (uint64_t)((unsigned __int128)n * share->num / share->den);
}

/* The row's share; false if nothing of it is left: less than a sixty-fourth of an average sample. */
static bool share_row(const struct tacho_profile *from, const struct share *share, struct tacho_profile_row *row)
{
	const struct tacho_profile_event *ev = &from->events.v[row->event];
	uint64_t average = ev->samples ? ev->period / ev->samples : 0;

	if (!share->prunes)
		return true;
	row->samples = (uint32_t)share_of(share, row->samples);
	row->period = share_of(share, row->period);
	return row->samples || row->period > average / 64;
}

/* Marks what the rows of the source use: everything else gets MERGE_UNUSED. */
static void mark_used(const struct tacho_profile *from, struct merge_ids *m)
{
	for (size_t i = 0; i < from->threads.n; i++)
		m->threads[i] = MERGE_UNUSED;
	for (size_t i = 1; i < from->objects.n; i++)
		m->objects[i] = MERGE_UNUSED;
	for (size_t i = 0; i < from->frames.n; i++)
		m->frames[i] = MERGE_UNUSED;
	for (size_t i = 1; i < from->nodes.n; i++)
		m->nodes[i] = MERGE_UNUSED;
	for (size_t i = 0; i < from->rows.n; i++) {
		struct tacho_profile_row row = from->rows.v[i];
		const struct tacho_profile_detail *d = tacho_profile_detail(from, row.detail);

		if (!share_row(from, &m->share, &row))
			continue;
		m->threads[row.thread] = 0;
		for (uint32_t n = row.node; n && m->nodes[n] == MERGE_UNUSED; n = from->nodes.v[n].parent) {
			m->nodes[n] = 0;
			m->frames[from->nodes.v[n].frame] = 0;
		}
		for (size_t k = 0; d && k < 4; k++) {
			uint32_t frame = (const uint32_t[]){ d->ip.frame, d->data.frame, d->from.frame, d->to.frame }[k];

			if (frame)
				m->frames[frame - 1] = 0;
		}
	}
	for (size_t i = 0; i < from->frames.n; i++)
		if (m->frames[i] != MERGE_UNUSED)
			m->objects[from->frames.v[i].code->object] = 0;
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
		ev->samples += share_of(&m->share, src->samples);
		ev->period += share_of(&m->share, src->period);
		ev->all_samples += share_of(&m->share, src->all_samples);
		ev->all_period += share_of(&m->share, src->all_period);
		ev->latency += share_of(&m->share, src->latency);
		ev->all_latency += share_of(&m->share, src->all_latency);
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
	for (size_t i = 0; i < from->name_text.n && !m->share.prunes; i++) {
		m->names[i] = profile_intern_name(p, from->name_text.v[i]);
		if (m->names[i] == KEYMAP_NONE)
			return -ENOMEM;
	}
	for (size_t i = 0; i < from->objects.n; i++) {
		if (m->objects[i] == MERGE_UNUSED)
			continue;
		m->objects[i] = profile_intern_object(p, &from->objects.v[i]);
		if (m->objects[i] == KEYMAP_NONE)
			return -ENOMEM;
	}
	for (size_t i = 0; i < from->threads.n; i++) {
		const struct tacho_profile_thread *t = &from->threads.v[i].pub;

		if (m->threads[i] == MERGE_UNUSED)
			continue;
		m->threads[i] = profile_intern_thread(p, t->pid, t->tid, t->comm);
		if (m->threads[i] == KEYMAP_NONE)
			return -ENOMEM;
	}
	return 0;
}

static uint32_t merge_frame(struct tacho_profile *p, const struct tacho_profile_frame *f,
			    const struct merge_ids *m)
{
	uint32_t name = m->share.prunes ? profile_intern_name(p, f->code->name) : m->names[f->code->symbol];
	struct frame_desc desc = {
		.symbol = name, .object = m->objects[f->code->object],
		.address = f->address, .offset = f->offset, .srcline = f->srcline, .space = f->space,
		.inlined = f->inlined, .jit = f->jit, .known = f->known,
	};

	if (name == KEYMAP_NONE)
		return KEYMAP_NONE;
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
		if (m->frames[i] == MERGE_UNUSED)
			continue;
		m->frames[i] = merge_frame(p, &from->frames.v[i], m);
		if (m->frames[i] == KEYMAP_NONE)
			return -ENOMEM;
	}
	for (size_t i = 1; i < from->nodes.n; i++) {
		const struct tacho_profile_node *n = &from->nodes.v[i];

		if (m->nodes[i] == MERGE_UNUSED)
			continue;
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
	d.trace = merge_value(p, from, src->trace, VALUE_TRACE);
	d.data_type = merge_value(p, from, src->data_type, VALUE_DATA_TYPE);
	d.data_member = merge_value(p, from, src->data_member, VALUE_DATA_MEMBER);
	if (d.trace == KEYMAP_NONE || d.data_type == KEYMAP_NONE || d.data_member == KEYMAP_NONE)
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

		if (!share_row(from, &m->share, &row))
			continue;
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

static void merge_quality(struct tacho_profile_quality *q, const struct tacho_profile_quality *add,
			  const struct share *share)
{
	q->samples += share_of(share, add->samples);
	q->lost += share_of(share, add->lost);
	q->lost_records += share_of(share, add->lost_records);
	q->bad_records += share_of(share, add->bad_records);
	q->throttled += share_of(share, add->throttled);
	q->raw_stacks += share_of(share, add->raw_stacks);
	if (add->first_s > 0 && (q->first_s == 0 || add->first_s < q->first_s))
		q->first_s = add->first_s;
	q->last_s = max_of(q->last_s, add->last_s);
}

static int merge(struct tacho_profile *p, const struct tacho_profile *from, struct share share)
{
	scoped(merge_ids_done) struct merge_ids m = { .share = share };
	int err = p->opts.split_comms || p->opts.once ? -EINVAL : merge_ids_init(&m, from);

	if (err == 0 && share.prunes)
		mark_used(from, &m);
	if (err == 0)
		err = merge_events(p, from, &m);
	if (err == 0)
		err = merge_names(p, from, &m);
	if (err == 0)
		err = merge_stacks(p, from, &m);
	if (err == 0)
		err = merge_rows(p, from, &m);
	if (err == 0)
		merge_quality(&p->quality, &from->quality, &share);
	return err ? err : quality_rows(p);
}

int tacho_profile_merge(struct tacho_profile *p, const struct tacho_profile *from)
{
	return merge(p, from, (struct share){ 1, 1, false });
}

int tacho_profile_merge_share(struct tacho_profile *p, const struct tacho_profile *from, uint32_t num, uint32_t den)
{
	if (!den || num > den)
		return -EINVAL;
	return merge(p, from, (struct share){ num, den, true });
}
