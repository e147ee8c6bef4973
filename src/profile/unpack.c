/*
 * Adds a packed profile to a profile: the rows in range, with only those names, threads, frames and stacks that they
 * refer to. Everything was read and checked before (packed_lists.h). All ids are KEYMAP_NONE if memory ran out.
 */
#include "profile/pack.h"

#include <errno.h>

#include "base/sized_opts.h"
#include "profile/intern.h"
#include "profile/packed_lists.h"
#include "profile/quality.h"
#include "profile/trie.h"

static uint32_t name_id(struct tacho_profile *p, struct packed_profile *k, uint32_t i)
{
	if (!k->name_ids[i])
		k->name_ids[i] = profile_intern_name(p, k->names[i]) + 1;
	return k->name_ids[i] - 1;
}

static uint32_t object_id(struct tacho_profile *p, struct packed_profile *k, uint32_t i)
{
	if (!k->object_ids[i])
		k->object_ids[i] = profile_intern_object(p, &k->objects[i]) + 1;
	return k->object_ids[i] - 1;
}

static uint32_t thread_id(struct tacho_profile *p, struct packed_profile *k, uint32_t i)
{
	const struct packed_thread *t = &k->threads[i];

	if (!k->thread_ids[i])
		k->thread_ids[i] = profile_intern_thread(p, t->pid, t->tid, k->names[t->comm]) + 1;
	return k->thread_ids[i] - 1;
}

static uint32_t frame_new(struct tacho_profile *p, struct packed_profile *k, const struct packed_frame *f)
{
	struct frame_desc desc = {
		.symbol = name_id(p, k, f->symbol), .object = object_id(p, k, f->object),
		.space = f->space, .inlined = f->flags & PACK_FRAME_INLINED,
		.jit = f->flags & PACK_FRAME_JIT, .known = f->flags & PACK_FRAME_KNOWN,
		.address = f->address, .offset = f->symbol_offset ? f->symbol_offset : f->offset,
		.srcline = f->srcline,
	};

	if (desc.symbol == KEYMAP_NONE || desc.object == KEYMAP_NONE)
		return KEYMAP_NONE;
	if (f->srcfile) {
		uint32_t file = name_id(p, k, f->srcfile - 1);

		if (file == KEYMAP_NONE)
			return KEYMAP_NONE;
		desc.srcfile = p->name_text.v[file];
	}
	return profile_intern_frame(p, &desc);
}

static uint32_t frame_id(struct tacho_profile *p, struct packed_profile *k, uint32_t i)
{
	if (!k->frame_ids[i])
		k->frame_ids[i] = frame_new(p, k, &k->frames[i]) + 1;
	return k->frame_ids[i] - 1;
}

/* Walks up to the first node that was added, then down again, adding the others. On the way up, each node's `parent` is
 * replaced by the child it was reached from, so no stack is needed. */
static uint32_t node_id(struct tacho_profile *p, struct packed_profile *k, uint32_t i)
{
	uint32_t child = 0, at = i;

	while (at && !k->node_ids[at]) {
		uint32_t up = k->nodes[at].parent;

		k->nodes[at].parent = child;
		child = at;
		at = up;
	}
	while (child) {
		uint32_t next = k->nodes[child].parent, ours = at ? k->node_ids[at] - 1 : 0;
		uint32_t frame = frame_id(p, k, k->nodes[child].frame);

		k->nodes[child].parent = at;
		k->node_ids[child] = frame == KEYMAP_NONE ? 0 : profile_intern_node(p, ours, frame) + 1;
		if (!k->node_ids[child])
			return KEYMAP_NONE;
		at = child;
		child = next;
	}
	return i ? k->node_ids[i] - 1 : 0;
}

static int add_events(struct tacho_profile *p, struct packed_profile *k)
{
	for (size_t i = 0; i < k->n_events; i++) {
		uint32_t id = profile_intern_event(p, k->events[i].name);

		if (id == KEYMAP_NONE)
			return -ENOMEM;
		k->event_ids[i] = id;
		p->events.v[id].has_chains |= k->events[i].has_chains;
		p->events.v[id].tracepoint |= k->events[i].tracepoint;
	}
	for (size_t i = 0; i < k->n_events; i++) {
		p->events.v[k->event_ids[i]].leader = k->event_ids[k->events[i].leader];
		p->events.v[k->event_ids[i]].group_size = max_of(k->events[i].group_size, 1u);
	}
	return 0;
}

static void widen_times(struct tacho_profile_quality *q, uint64_t time)
{
	double s = (double)time / 1e9;

	if (!time)
		return;
	if (q->first_s == 0 || s < q->first_s)
		q->first_s = s;
	q->last_s = max_of(q->last_s, s);
}

static int add_row(struct tacho_profile *p, struct packed_profile *k, const struct tacho_profile_row *from)
{
	struct tacho_profile_row row = *from;
	struct tacho_profile_event *ev = &p->events.v[k->event_ids[from->event]];

	row.event = k->event_ids[from->event];
	row.thread = thread_id(p, k, from->thread);
	row.node = node_id(p, k, from->node);
	if (row.thread == KEYMAP_NONE || row.node == KEYMAP_NONE)
		return -ENOMEM;
	ev->all_samples += row.samples;
	ev->all_period += row.period;
	if (!profile_row_passes(p, &row))
		return 0;
	ev->samples += row.samples;
	ev->period += row.period;
	p->quality.samples += row.samples;
	widen_times(&p->quality, row.time);
	quality_row(p, &row);
	row.cpu = p->opts.per_cpu ? row.cpu : -1;
	row.time = p->opts.per_time ? row.time : 0;
	if (p->opts.join_threads)
		row.thread = p->threads.v[row.thread].first_of_comm;
	return profile_add_row(p, &row);
}

static int add_all(struct tacho_profile *p, struct packed_profile *k, const struct tacho_unpack_opts *o)
{
	uint64_t to = o->to_ns ? o->to_ns : UINT64_MAX;
	int err = add_events(p, k);

	for (size_t i = 0; i < k->n_rows && err == 0; i++) {
		const struct tacho_profile_row *r = &k->rows[i];

		if (r->time < o->from_ns || r->time >= to)
			continue;
		if (p->filter.by_cpu && (r->cpu < 0 || !cpuset_has(&p->filter.cpus, r->cpu)))
			continue;
		err = add_row(p, k, r);
	}
	p->quality.lost += k->quality.lost;
	p->quality.throttled += k->quality.throttled;
	p->quality.raw_stacks += k->quality.raw_stacks;
	p->quality.lost_records += k->quality.lost_records;
	p->quality.bad_records += k->quality.bad_records;
	return err;
}

static int error_unpack(int err, struct tacho_error *e)
{
	if (err == -EBADMSG)
		return error_set(e, err, "this is not a packed profile, or it is damaged");
	if (err == -EPROTO)
		return error_set(e, err, "the profile was packed by a newer version");
	return err == -ENOMEM ? error_nomem(e) : err;
}

int tacho_profile_unpack(struct tacho_profile *p, const void *bytes, size_t n,
			 const struct tacho_unpack_opts *opts, struct tacho_error *e)
{
	scoped(packed_done) struct packed_profile k = { 0 };
	struct tacho_unpack_opts o;
	int err = opts_copy(&o, sizeof(o), opts, e);

	if (err < 0)
		return err;
	if (p->opts.split_comms || p->opts.once)
		return error_set(e, -EINVAL, "a profile created with `%s` cannot unpack others",
				 p->opts.once ? "once" : "split_comms");
	if (p->filter.by_time)
		return error_set(e, -EINVAL, "a profile with a filter of time cannot unpack others: give the range to unpack instead");
	err = packed_read(&k, bytes, n);
	if (err == 0)
		err = add_all(p, &k, &o);
	return error_unpack(err, e);
}
