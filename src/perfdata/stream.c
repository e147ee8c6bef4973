/*
 * A stream of records out of a map or a descriptor. Damage ends it: what came before has been
 * returned, the failure stays and names the byte. Where the recorder died (it never told the
 * data's size) the same places are simply the end, with a warning.
 *
 * Two records have a payload behind them that their size does not count: TRACING_DATA (66) and
 * AUXTRACE (71). It is passed over when the next record is asked for; the former is kept as the
 * feature of that name.
 */
#include "perfdata/perfdata.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

void stream_init_mapped(struct record_stream *s, struct tacho_perfdata *pd, struct input_file *f, uint64_t from,
		uint64_t to)
{
	*s = (struct record_stream){ .pd = pd, .file = f, .at = f->map + from, .end = f->map + to,
			      .base = f->map, .swap = pd->header.swap };
}

int stream_init_fd(struct record_stream *s, struct tacho_perfdata *pd, struct input_file *f)
{
	*s = (struct record_stream){ .pd = pd, .file = f };
	s->block = block_new(&pd->pool);
	if (!s->block)
		return -ENOMEM;
	s->at = s->end = s->base = s->block->bytes;
	return 0;
}

void stream_done(struct record_stream *s)
{
	if (!s->pd)
		return;
	decompressor_done(&s->unpack, &s->pd->pool);
	block_unref(&s->pd->pool, take(s->block));
}

int stream_fail(struct record_stream *s, int code, uint64_t offset, const char *fmt, ...)
{
	bool many = s->pd->sources.n > 1;
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	s->ended = true;
	if (s->died) {
		add_warning(s->pd, "%s%sbyte %" PRIu64 ": %s; nothing behind it was read",
		     many ? s->file->path : "", many ? ": " : "", offset, text);
		return 0;
	}
	s->failed = code;
	error_set(&s->error, code, "%s%sbyte %" PRIu64 ": %s", many ? s->file->path : "",
		  many ? ": " : "", offset, text);
	return code;
}

/* The unread bytes move to a block's start, another one where records still wait in this. */
static bool make_room(struct record_stream *s)
{
	size_t left = (size_t)(s->end - s->at);
	struct record_block *b = s->block;

	s->base_offset = stream_offset(s);
	if (b->refs > 1) {
		b = block_new(&s->pd->pool);
		if (!b)
			return false;
	}
	memmove(b->bytes, s->at, left);
	b->offset = s->base_offset;
	if (b != s->block) {
		block_unref(&s->pd->pool, s->block);
		s->block = b;
	}
	s->at = s->base = b->bytes;
	s->end = b->bytes + left;
	return true;
}

bool stream_fill(struct record_stream *s, size_t n)
{
	while ((size_t)(s->end - s->at) < n) {
		ssize_t got;

		if (!s->block || s->file->fd < 0)
			return false;
		if (n > (size_t)(s->block->bytes + BLOCK_CAPACITY - s->at) && !make_room(s))
			return false;
		got = read(s->file->fd, (void *)s->end,
			   (size_t)(s->block->bytes + BLOCK_CAPACITY - s->end));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		s->end += got;
	}
	return true;
}

bool stream_skip(struct record_stream *s, uint64_t n, struct buf *out)
{
	while (n) {
		size_t some;

		if (!stream_fill(s, 1))
			return false;
		some = (size_t)min_of(n, (uint64_t)(s->end - s->at));
		if (out)
			buf_put(out, s->at, some);
		s->at += some;
		n -= some;
	}
	return true;
}

int stream_skip_payload(struct record_stream *s)
{
	uint64_t n = s->skip, offset = stream_offset(s);
	bool trace = s->skip_is_trace && offset >= s->meta_end;
	struct buf copy = { 0 };
	const uint8_t *at = s->at;
	int err = 0;

	if (!n)
		return 0;
	s->skip = 0;
	if (trace)
		s->pd->meta_bytes += n;
	if (trace && s->pd->meta_bytes > META_MAX)
		return stream_fail(s, -EBADMSG, offset, "%" PRIu64 " bytes of tracing data", n);
	if (!stream_skip(s, n, trace && s->block ? &copy : NULL))
		err = stream_fail(s, -ENODATA, offset, "the file ends within a payload of %" PRIu64
				  " bytes", n);
	else if (trace && s->block)
		err = feature_set(s->pd, TACHO_FEATURE_TRACING_DATA, (uint8_t *)copy.bytes, copy.n);
	else if (trace)
		err = feature_set(s->pd, TACHO_FEATURE_TRACING_DATA, at, n);
	buf_done(&copy);
	return err == -ENOMEM ? stream_fail(s, err, offset, "out of memory") : err;
}

static int stream_end(struct record_stream *s)
{
	uint64_t offset = stream_offset(s);
	size_t left = (size_t)(s->end - s->at);

	if (left)
		return stream_fail(s, -ENODATA, offset, "the file ends within a record's header");
	if (s->cut)
		return stream_fail(s, -ENODATA, offset, "the file ends here, %" PRIu64
				   " bytes of its data are missing", s->cut);
	if (decompress_has_partial(&s->unpack))
		return stream_fail(s, -ENODATA, s->unpack.offset,
				   "the compressed data ends within a record");
	s->ended = true;
	return 0;
}

/* The length of what follows AUXTRACE and TRACING_DATA. */
static int note_payload(struct record_stream *s, const struct tacho_record *rec)
{
	unsigned bytes = rec->type == TACHO_RECORD_AUXTRACE ? 8 : 4;
	const uint8_t *at = rec->bytes + RECORD_HEADER_BYTES;

	if (rec->size < RECORD_HEADER_BYTES + bytes)
		return stream_fail(s, -EBADMSG, rec->offset, "a record of type %u with %u bytes",
				   rec->type, rec->size);
	s->skip = bytes == 8 ? load_u64(at, rec->swapped) : load_u32(at, rec->swapped);
	s->skip_is_trace = rec->type == TACHO_RECORD_TRACING_DATA;
	return 1;
}

static int bad_size(struct record_stream *s, uint32_t type, unsigned size)
{
	return stream_fail(s, -EBADMSG, stream_offset(s), "a record of type %u cannot have %u bytes",
			   type, size);
}

int stream_next_raw(struct record_stream *s, struct tacho_record *rec)
{
	bool swap = s->swap;
	int err;

	if (s->ended)
		return s->failed;
	if (s->skip) {
		err = stream_skip_payload(s);
		if (err < 0 || s->ended)
			return err;
	}
	if (!stream_fill(s, RECORD_HEADER_BYTES))
		return stream_end(s);
	rec->type = load_u32(s->at, swap);
	if (rec->type == TACHO_RECORD_COMPRESSED2 || s->chunk_left || s->chunk_pad) {
		err = feed_broken_chunk(s);
		if (err != 0 || s->ended)
			return err;
		if (!stream_fill(s, RECORD_HEADER_BYTES))
			return stream_end(s);
		rec->type = load_u32(s->at, swap);
	}
	rec->misc = load_u16(s->at + 4, swap);
	rec->size = load_u16(s->at + 6, swap);
	if (rec->size < RECORD_HEADER_BYTES)
		return bad_size(s, rec->type, rec->size);
	if (!stream_fill(s, rec->size))
		return stream_fail(s, -ENODATA, stream_offset(s),
				   "the file ends within a record of %u bytes", rec->size);
	rec->bytes = s->at;
	rec->offset = stream_offset(s);
	rec->swapped = swap;
	s->at += rec->size;
	if (rec->type == TACHO_RECORD_AUXTRACE || rec->type == TACHO_RECORD_TRACING_DATA)
		return note_payload(s, rec);
	return 1;
}

/* Record 83 says how much of its body is payload; 81 is payload to its end. */
static int feed(struct record_stream *s, const struct tacho_record *rec)
{
	const uint8_t *body = rec->bytes + RECORD_HEADER_BYTES;
	size_t n = rec->size - RECORD_HEADER_BYTES;

	if (rec->type == TACHO_RECORD_COMPRESSED2) {
		if (n < 8)
			return bad_size(s, rec->type, rec->size);
		n = (size_t)min_of(load_u64(body, rec->swapped), (uint64_t)(n - 8));
		body += 8;
	}
	return decompress_feed(s, body, n, rec->offset);
}

int stream_next(struct record_stream *s, struct tacho_record *rec)
{
	int err;

	for (;;) {
		if (s->unpack.busy || decompress_has_partial(&s->unpack)) {
			err = decompress_next(s, rec);
			if (err != 0 || s->ended)
				return err;
		}
		err = stream_next_raw(s, rec);
		if (err <= 0)
			return err;
		if (s->unpack.busy)		/* a broken chunk was fed on the way */
			continue;
		if (rec->type == TACHO_RECORD_COMPRESSED || rec->type == TACHO_RECORD_COMPRESSED2) {
			err = feed(s, rec);
			if (err < 0 || s->ended)
				return err;
			continue;
		}
		if (rec->type >= TACHO_RECORD_HEADER_ATTR && rec->offset >= s->meta_end &&
		    pipe_take_metadata(s->pd, rec) < 0)
			return stream_fail(s, -ENOMEM, rec->offset, "out of memory");
		return 1;
	}
}
