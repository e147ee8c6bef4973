/*
 * Writes a profile in the format of pack.h.
 */
#include "profile/pack.h"

#include <errno.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/sized_opts.h"

static void put_number(struct buf *b, uint64_t v)
{
	char *at = buf_reserve(b, 10);
	size_t n = 0;

	if (!at)
		return;
	for (; v >= 0x80; v >>= 7)
		at[n++] = (char)(v | 0x80);
	at[n++] = (char)v;
	b->n += n;
}

static void put_bytes(struct buf *b, const void *bytes, size_t n)
{
	put_number(b, n);
	if (n)
		buf_put(b, bytes, n);
}

static void put_text(struct buf *b, const char *text)
{
	put_bytes(b, text ? text : "", text ? strlen(text) : 0);
}

/* The name id of a comm or source file. */
static uint64_t name_id(const struct tacho_profile *p, const char *text)
{
	const uint64_t *id = map_get(&p->names, str_of(text));

	return id ? *id : 0;
}

static void put_quality(const struct tacho_profile *p, struct buf *b)
{
	const struct tacho_profile_quality *q = &p->quality;

	put_number(b, q->lost);
	put_number(b, q->throttled);
	put_number(b, q->raw_stacks);
	put_number(b, q->lost_records);
	put_number(b, q->bad_records);
}

static void put_events(const struct tacho_profile *p, struct buf *b)
{
	put_number(b, p->events.n);
	for (size_t i = 0; i < p->events.n; i++) {
		const struct tacho_profile_event *ev = &p->events.v[i];

		put_text(b, ev->name);
		put_number(b, (ev->has_chains ? PACK_EVENT_CHAINS : 0u) |
			      (ev->tracepoint ? PACK_EVENT_TRACEPOINT : 0u));
		put_number(b, ev->leader);
		put_number(b, ev->group_size);
	}
}

static void put_objects(const struct tacho_profile *p, struct buf *b)
{
	put_number(b, p->objects.n);
	for (size_t i = 0; i < p->objects.n; i++) {
		const struct tacho_profile_object *o = &p->objects.v[i];

		put_text(b, o->path);
		put_text(b, o->name);
		put_text(b, o->why);
		put_number(b, (o->kernel ? PACK_OBJECT_KERNEL : 0u) | (o->jit ? PACK_OBJECT_JIT : 0u) |
			      (o->has_symbols ? PACK_OBJECT_SYMBOLS : 0u) |
			      (o->why ? PACK_OBJECT_WHY : 0u));
		put_bytes(b, o->build_id, o->n_build_id);
	}
}

static void put_threads(const struct tacho_profile *p, struct buf *b)
{
	put_number(b, p->threads.n);
	for (size_t i = 0; i < p->threads.n; i++) {
		const struct tacho_profile_thread *t = &p->threads.v[i].pub;

		put_number(b, t->pid);
		put_number(b, t->tid);
		put_number(b, name_id(p, t->comm));
	}
}

static void put_frames(const struct tacho_profile *p, struct buf *b)
{
	put_number(b, p->frames.n);
	for (size_t i = 0; i < p->frames.n; i++) {
		const struct tacho_profile_frame *f = &p->frames.v[i];

		put_number(b, f->code->symbol);
		put_number(b, f->code->object);
		put_number(b, f->space);
		put_number(b, (f->inlined ? PACK_FRAME_INLINED : 0u) | (f->jit ? PACK_FRAME_JIT : 0u) |
			      (f->known ? PACK_FRAME_KNOWN : 0u));
		put_number(b, f->address);
		put_number(b, f->known ? 0 : f->offset);
		put_number(b, f->code->srcfile ? name_id(p, f->code->srcfile) + 1 : 0);
		put_number(b, f->srcline);
		put_number(b, f->known ? f->offset : 0);
	}
}

static void put_nodes(const struct tacho_profile *p, struct buf *b)
{
	put_number(b, p->nodes.n - 1);
	for (size_t i = 1; i < p->nodes.n; i++)
		put_number(b, i - p->nodes.v[i].parent);
	for (size_t i = 1; i < p->nodes.n; i++)
		put_number(b, p->nodes.v[i].frame);
}

static void put_rows(const struct tacho_profile *p, int64_t shift_ns, struct buf *b)
{
	const struct tacho_profile_row *v = p->rows.v;
	uint64_t time = 0, node = 0;
	size_t n = p->rows.n;

	put_number(b, n);
	for (size_t i = 0; i < n; i++)
		put_number(b, v[i].event);
	for (size_t i = 0; i < n; i++)
		put_number(b, v[i].thread);
	for (size_t i = 0; i < n; node = v[i++].node)
		put_number(b, zigzag_encode((int64_t)(v[i].node - node)));
	for (size_t i = 0; i < n; i++)
		put_number(b, (uint64_t)((int64_t)v[i].cpu + 1));
	for (size_t i = 0; i < n; i++) {
		uint64_t at = v[i].time ? v[i].time + (uint64_t)shift_ns : 0;

		put_number(b, zigzag_encode((int64_t)(at - time)));
		time = at;
	}
	for (size_t i = 0; i < n; i++)
		put_number(b, v[i].samples);
	for (size_t i = 0; i < n; i++)
		put_number(b, v[i].period);
}

static void put_all(const struct tacho_profile *p, int64_t shift_ns, struct buf *b)
{
	put_quality(p, b);
	put_number(b, p->name_text.n);
	for (size_t i = 0; i < p->name_text.n; i++)
		put_text(b, p->name_text.v[i]);
	put_events(p, b);
	put_objects(p, b);
	put_threads(p, b);
	put_frames(p, b);
	put_nodes(p, b);
	put_rows(p, shift_ns, b);
}

static int compress(struct buf *out, const struct buf *raw, int level)
{
	size_t room = ZSTD_compressBound(raw->n), n;
	char *at = buf_grow(out, room);

	if (!at)
		return -ENOMEM;
	n = ZSTD_compress(at, room, raw->bytes, raw->n, level);
	if (ZSTD_isError(n))
		return ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation ? -ENOMEM : -EIO;
	out->n += n;
	return 0;
}

int tacho_profile_pack(const struct tacho_profile *p, const struct tacho_pack_opts *opts,
		       tacho_put put, void *arg, struct tacho_error *e)
{
	scoped(buf_done) struct buf raw = { 0 }, out = { 0 };
	struct tacho_pack_opts o;
	int err = opts_copy(&o, sizeof(o), opts, e);

	if (err < 0)
		return err;
	if (o.level < 0 || o.level > 19)
		return error_set(e, -EINVAL, "compression level %d is out of range: it must be 1 to 19", o.level);
	if (p->events.n > PACK_EVENTS_MAX)
		return error_set(e, -E2BIG, "more than %d events cannot be packed", PACK_EVENTS_MAX);
	put_all(p, o.shift_ns, &raw);
	if (buf_failed(&raw))
		return error_nomem(e);
	if (raw.n > PACK_RAW_MAX)
		return error_set(e, -E2BIG, "the profile is too large to be packed: %zu MiB", raw.n >> 20);
	buf_put(&out, PACK_HEAD, PACK_HEAD_BYTES);
	put_number(&out, raw.n);
	err = compress(&out, &raw, o.level ? o.level : 3);
	if (err == -ENOMEM || buf_failed(&out))
		return error_nomem(e);
	if (err < 0)
		return error_set(e, err, "the profile cannot be compressed");
	err = put(arg, out.bytes, out.n);
	return err < 0 ? error_set(e, err, "the packed profile cannot be written: %s", strerror(-err)) : 0;
}
