/*
 * Reads a packed profile (pack.h) into lists. The bytes are untrusted: the length of each list is limited by the
 * bytes that are left, each id by the length of its list.
 */
#include "profile/packed_lists.h"

#include <errno.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "profile/pack.h"

struct packed_reader {			/* the bytes left to read; once `bad`, all numbers read are 0 */
	const uint8_t *at, *end;
	bool bad;
};

void packed_done(struct packed_profile *k)
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

struct packed_sizes {
	size_t packed;			/* the least size of a packed entry */
	size_t entry;			/* the size of an unpacked one */
};

/* Reads a list's length into *n, and allocates *list for it. 0, -EBADMSG or -ENOMEM. */
static int get_list(struct packed_reader *f, struct packed_profile *k, struct packed_sizes size, size_t *n, void *list)
{
	uint64_t count = get_number(f);
	void *v;

	if (f->bad || count > (uint64_t)(f->end - f->at) / size.packed || count >= UINT32_MAX - 1)
		return -EBADMSG;
	*n = (size_t)count;
	v = arena_alloc(&k->arena, (*n + 1) * size.entry);
	memcpy(list, &v, sizeof(v));
	return v ? 0 : -ENOMEM;
}

/* The same, with an array for the ids that the entries get in the profile. */
static int get_list_with_ids(struct packed_reader *f, struct packed_profile *k, struct packed_sizes size, size_t *n,
			     void *list, uint32_t **ids)
{
	int err = get_list(f, k, size, n, list);

	if (err < 0)
		return err;
	*ids = arena_alloc(&k->arena, (*n + 1) * sizeof(**ids));
	return *ids ? 0 : -ENOMEM;
}

static int read_names(struct packed_reader *f, struct packed_profile *k)
{
	int err = get_list_with_ids(f, k, (struct packed_sizes){ 1, sizeof(*k->names) }, &k->n_names, &k->names,
				    &k->name_ids);

	for (size_t i = 0; i < k->n_names && err == 0; i++) {
		k->names[i] = get_text(f, &k->arena);
		err = k->names[i] ? 0 : -ENOMEM;
	}
	return err;
}

static int read_events(struct packed_reader *f, struct packed_profile *k)
{
	int err = get_list_with_ids(f, k, (struct packed_sizes){ 4, sizeof(*k->events) }, &k->n_events, &k->events,
				    &k->event_ids);

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
	int err = get_list_with_ids(f, k, (struct packed_sizes){ 5, sizeof(*k->objects) }, &k->n_objects, &k->objects,
				    &k->object_ids);

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
	int err = get_list_with_ids(f, k, (struct packed_sizes){ 3, sizeof(*k->threads) }, &k->n_threads, &k->threads,
				    &k->thread_ids);

	for (size_t i = 0; i < k->n_threads && err == 0; i++) {
		k->threads[i].pid = get_below(f, 1ull << 32);
		k->threads[i].tid = get_below(f, 1ull << 32);
		k->threads[i].comm = get_below(f, k->n_names);
	}
	return err;
}

static int read_frames(struct packed_reader *f, struct packed_profile *k)
{
	int err = get_list_with_ids(f, k, (struct packed_sizes){ 9, sizeof(*k->frames) }, &k->n_frames, &k->frames,
				    &k->frame_ids);

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
	int err = get_list_with_ids(f, k, (struct packed_sizes){ 2, sizeof(*k->nodes) }, &k->n_nodes, &k->nodes,
				    &k->node_ids);

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
	int err = get_list(f, k, (struct packed_sizes){ 7, sizeof(*k->rows) }, &k->n_rows, &k->rows);
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

int packed_read(struct packed_profile *k, const uint8_t *bytes, size_t n)
{
	struct packed_reader f;
	int err = decompress(k, bytes, n, &f);

	return err < 0 ? err : read_all(&f, k);
}
