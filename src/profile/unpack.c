/*
 * Reads a packed profile (pack.h). Everything is read and checked first; then the rows in range are added, with only those
 * names, threads, frames and stacks that they refer to. The bytes are untrusted: the length of each list is limited by the
 * bytes that are left, each id by the length of its list.
 */
#include "profile/pack.h"

#include "profile/intern.h"
#include "profile/quality.h"
#include "profile/trie.h"

#include <errno.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/sized_opts.h"

struct packed_reader {			/* the bytes left to read; once `bad`, all numbers read are 0 */
	const uint8_t *at, *end;
	bool bad;
};

struct packed_frame {
	uint32_t symbol, object, srcfile, srcline;
	uint8_t space, flags;
	uint64_t address, offset, symbol_offset;
};

struct packed_thread {
	uint32_t pid, tid, comm;
};

struct packed_profile {
	struct arena arena;
	char *raw;
	struct tacho_profile_quality quality;
	const char **names;
	struct tacho_profile_event *events;
	struct tacho_profile_object *objects;
	struct packed_thread *threads;
	struct packed_frame *frames;
	struct tacho_profile_node *nodes;	/* from 1 on */
	struct tacho_profile_row *rows;
	size_t n_names, n_events, n_objects, n_threads, n_frames, n_nodes, n_rows;
	/* packed id -> the profile's id + 1; 0: not added yet */
	uint32_t *name_ids, *event_ids, *object_ids, *thread_ids, *frame_ids, *node_ids;
};

static void packed_done(struct packed_profile *k)
{
	free(k->raw);
	arena_done(&k->arena);
}

/* ---- reading ---- */

static uint64_t get_number(struct packed_reader *f)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && f->at < f->end; shift += 7) {
		uint8_t byte = *f->at++;

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	f->bad = true;
	f->at = f->end;
	return 0;
}

static uint32_t get_below(struct packed_reader *f, uint64_t limit)
{
	uint64_t v = get_number(f);

	if (v < limit)
		return (uint32_t)v;
	f->bad = true;
	return 0;
}

static struct str get_bytes(struct packed_reader *f)
{
	uint64_t n = get_number(f);
	struct str s = { (const char *)f->at, 0 };

	if (n > (uint64_t)(f->end - f->at)) {
		f->bad = true;
		return s;
	}
	s.n = (size_t)n;
	f->at += n;
	return s;
}

/* Returns NULL if out of memory, "" if the text is invalid. */
static const char *get_text(struct packed_reader *f, struct arena *a)
{
	struct str s = get_bytes(f);

	if (s.n && memchr(s.s, '\0', s.n)) {
		f->bad = true;
		return "";
	}
	return arena_str(a, s);
}

/* Reads a list's length into *n and allocates *list, and *ids if given. `bytes` is the least size of a packed entry, `size`
 * that of an unpacked one. 0, -EBADMSG or -ENOMEM. */
static int get_list(struct packed_reader *f, struct packed_profile *k, size_t bytes, size_t size, size_t *n, void *list,
		    uint32_t **ids)
{
	uint64_t count = get_number(f);
	void *v;

	if (f->bad || count > (uint64_t)(f->end - f->at) / bytes || count >= UINT32_MAX - 1)
		return -EBADMSG;
	*n = (size_t)count;
	v = arena_alloc(&k->arena, (*n + 1) * size);
	if (ids)
		*ids = arena_alloc(&k->arena, (*n + 1) * sizeof(**ids));
	memcpy(list, &v, sizeof(v));
	return v && (!ids || *ids) ? 0 : -ENOMEM;
}

static int read_names(struct packed_reader *f, struct packed_profile *k)
{
	int err = get_list(f, k, 1, sizeof(*k->names), &k->n_names, &k->names, &k->name_ids);

	for (size_t i = 0; i < k->n_names && err == 0; i++) {
		k->names[i] = get_text(f, &k->arena);
		err = k->names[i] ? 0 : -ENOMEM;
	}
	return err;
}

static int read_events(struct packed_reader *f, struct packed_profile *k)
{
	int err = get_list(f, k, 4, sizeof(*k->events), &k->n_events, &k->events, &k->event_ids);

	if (err == 0 && k->n_events > PACK_EVENTS_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < k->n_events && err == 0; i++) {
		struct tacho_profile_event *ev = &k->events[i];
		uint64_t flags;

		ev->name = get_text(f, &k->arena);
		flags = get_number(f);
		ev->has_chains = flags & PACK_EVENT_CHAINS;
		ev->tracepoint = flags & PACK_EVENT_TRACEPOINT;
		ev->leader = get_below(f, k->n_events);
		ev->group_size = get_below(f, k->n_events + 1);
		err = ev->name ? 0 : -ENOMEM;
	}
	return err;
}

static int read_objects(struct packed_reader *f, struct packed_profile *k)
{
	int err = get_list(f, k, 5, sizeof(*k->objects), &k->n_objects, &k->objects, &k->object_ids);

	for (size_t i = 0; i < k->n_objects && err == 0; i++) {
		struct tacho_profile_object *o = &k->objects[i];
		struct str id;
		uint64_t flags;

		o->path = get_text(f, &k->arena);
		o->name = get_text(f, &k->arena);
		o->why = get_text(f, &k->arena);
		if (!o->path || !o->name || !o->why)
			return -ENOMEM;
		flags = get_number(f);
		o->kernel = flags & PACK_OBJECT_KERNEL;
		o->jit = flags & PACK_OBJECT_JIT;
		o->has_symbols = flags & PACK_OBJECT_SYMBOLS;
		o->why = flags & PACK_OBJECT_WHY ? o->why : NULL;
		id = get_bytes(f);
		if (id.n > sizeof(o->build_id))
			return -EBADMSG;
		o->n_build_id = (uint8_t)id.n;
		if (id.n)
			memcpy(o->build_id, id.s, id.n);
	}
	return err;
}

static int read_threads(struct packed_reader *f, struct packed_profile *k)
{
	int err = get_list(f, k, 3, sizeof(*k->threads), &k->n_threads, &k->threads, &k->thread_ids);

	for (size_t i = 0; i < k->n_threads && err == 0; i++) {
		k->threads[i].pid = get_below(f, 1ull << 32);
		k->threads[i].tid = get_below(f, 1ull << 32);
		k->threads[i].comm = get_below(f, k->n_names);
	}
	return err;
}

static int read_frames(struct packed_reader *f, struct packed_profile *k)
{
	int err = get_list(f, k, 9, sizeof(*k->frames), &k->n_frames, &k->frames, &k->frame_ids);

	for (size_t i = 0; i < k->n_frames && err == 0; i++) {
		struct packed_frame *fr = &k->frames[i];

		fr->symbol = get_below(f, k->n_names);
		fr->object = get_below(f, k->n_objects);
		fr->space = (uint8_t)get_below(f, TACHO_SPACE_GUEST_USER + 1);
		fr->flags = (uint8_t)get_below(f, 8);
		fr->address = get_number(f);
		fr->offset = get_number(f);
		fr->srcfile = get_below(f, k->n_names + 1);
		fr->srcline = get_below(f, 1ull << 32);
		fr->symbol_offset = get_number(f);
	}
	return err;
}

static int read_nodes(struct packed_reader *f, struct packed_profile *k)
{
	int err = get_list(f, k, 2, sizeof(*k->nodes), &k->n_nodes, &k->nodes, &k->node_ids);

	if (err < 0)
		return err;
	for (size_t i = 1; i <= k->n_nodes; i++) {
		uint64_t up = get_number(f);

		if (!up || up > i)
			return -EBADMSG;
		k->nodes[i].parent = (uint32_t)(i - up);
	}
	for (size_t i = 1; i <= k->n_nodes; i++)
		k->nodes[i].frame = get_below(f, k->n_frames);
	return 0;
}

static int read_rows(struct packed_reader *f, struct packed_profile *k)
{
	int err = get_list(f, k, 7, sizeof(*k->rows), &k->n_rows, &k->rows, NULL);
	uint64_t time = 0;
	uint32_t node = 0;

	if (err < 0)
		return err;
	for (size_t i = 0; i < k->n_rows; i++)
		k->rows[i].event = get_below(f, k->n_events);
	for (size_t i = 0; i < k->n_rows; i++)
		k->rows[i].thread = get_below(f, k->n_threads);
	for (size_t i = 0; i < k->n_rows; i++) {
		node += (uint32_t)zigzag_decode(get_number(f));
		k->rows[i].node = node;
		if (node > k->n_nodes)
			return -EBADMSG;
	}
	for (size_t i = 0; i < k->n_rows; i++)
		k->rows[i].cpu = (int32_t)get_below(f, INT32_MAX) - 1;
	for (size_t i = 0; i < k->n_rows; i++)
		k->rows[i].time = time += (uint64_t)zigzag_decode(get_number(f));
	for (size_t i = 0; i < k->n_rows; i++)
		k->rows[i].samples = get_below(f, 1ull << 32);
	for (size_t i = 0; i < k->n_rows; i++)
		k->rows[i].period = get_number(f);
	return 0;
}

static int read_quality(struct packed_reader *f, struct packed_profile *k)
{
	k->quality.lost = get_number(f);
	k->quality.throttled = get_number(f);
	k->quality.raw_stacks = get_number(f);
	k->quality.lost_records = get_number(f);
	k->quality.bad_records = get_number(f);
	return 0;
}

static int read_all(struct packed_reader *f, struct packed_profile *k)
{
	static int (*const parts[])(struct packed_reader *f, struct packed_profile *k) = {
		read_quality, read_names, read_events, read_objects, read_threads, read_frames,
		read_nodes, read_rows,
	};
	int err = 0;

	for (size_t i = 0; i < countof(parts) && err == 0; i++) {
		err = parts[i](f, k);
		if (err == 0 && f->bad)
			err = -EBADMSG;
	}
	return err == 0 && f->at != f->end ? -EBADMSG : err;
}

/* Checks the header and decompresses the rest. */
static int decompress(struct packed_profile *k, const uint8_t *bytes, size_t n, struct packed_reader *out)
{
	struct packed_reader head = { bytes + PACK_HEAD_BYTES, bytes + n, false };
	uint64_t size;
	size_t got;

	if (n < PACK_HEAD_BYTES || memcmp(bytes, PACK_HEAD, PACK_HEAD_BYTES - 1) != 0)
		return -EBADMSG;
	if (bytes[PACK_HEAD_BYTES - 1] != PACK_VERSION)
		return -EPROTO;
	size = get_number(&head);
	if (head.bad || size > PACK_RAW_MAX)
		return -EBADMSG;
	k->raw = malloc((size_t)size + 1);
	if (!k->raw)
		return -ENOMEM;
	got = ZSTD_decompress(k->raw, (size_t)size, head.at, (size_t)(head.end - head.at));
	if (ZSTD_isError(got))
		return ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation ? -ENOMEM : -EBADMSG;
	if (got != size)
		return -EBADMSG;
	*out = (struct packed_reader){ (const uint8_t *)k->raw, (const uint8_t *)k->raw + got, false };
	return 0;
}

/* ---- adding to the profile; all ids are KEYMAP_NONE if out of memory ---- */

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
	struct packed_reader f;
	int err = opts_copy(&o, sizeof(o), opts, e);

	if (err < 0)
		return err;
	if (p->opts.split_comms || p->opts.once)
		return error_set(e, -EINVAL, "a profile created with `%s` cannot unpack others",
				 p->opts.once ? "once" : "split_comms");
	if (p->filter.by_time)
		return error_set(e, -EINVAL, "a profile with a filter of time cannot unpack others: give the range to unpack instead");
	err = decompress(&k, bytes, n, &f);
	if (err == 0)
		err = read_all(&f, &k);
	if (err == 0)
		err = add_all(p, &k, &o);
	return error_unpack(err, e);
}
