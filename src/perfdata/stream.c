/*
 * A stream of records from a mapped file or a descriptor. Damage ends the stream: the records before it have
 * been returned, and every further call returns the same error, with the offset of the damage. If the recorder
 * was killed (the header has no data size), damage is the end of the stream instead, with a warning.
 *
 * Two types of records are followed by a payload that is not included in their size: TRACING_DATA (66) and
 * AUXTRACE (71). It is skipped when the next record is read; that of TRACING_DATA becomes the feature of the
 * same name.
 */
#include "perfdata/perfdata.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

void stream_init_mapped(struct perfdata_stream *s, struct tacho_perfdata *pd, struct input_file *f, uint64_t from,
		uint64_t to)
{
	*s = (struct perfdata_stream){ .pd = pd, .file = f, .at = f->map + from, .end = f->map + to,
			      .base = f->map, .swap = pd->header.swap };
}

int stream_init_fd(struct perfdata_stream *s, struct tacho_perfdata *pd, struct input_file *f)
{
	*s = (struct perfdata_stream){ .pd = pd, .file = f };
	s->block = block_new(&pd->pool);
	if (!s->block)
		return -ENOMEM;
	s->at = s->end = s->base = s->block->bytes;
	return 0;
}

void stream_done(struct perfdata_stream *s)
{
	if (!s->pd)
		return;
	decompressor_done(&s->zstd, &s->pd->pool);
	block_unref(&s->pd->pool, take(s->block));
}

int stream_fail(struct perfdata_stream *s, int code, uint64_t offset, const char *fmt, ...)
{
	bool many = s->pd->sources.n > 1;
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	s->ended = true;
	if (s->recorder_died) {
		add_warning(s->pd, "%s%sbyte %" PRIu64 ": %s; the rest of the file was not read",
		     many ? s->file->path : "", many ? ": " : "", offset, text);
		return 0;
	}
	s->failed = code;
	error_set(&s->error, code, "%s%sbyte %" PRIu64 ": %s", many ? s->file->path : "",
		  many ? ": " : "", offset, text);
	return code;
}

/* Moves the unread bytes to the start of the block, or of a new one if this has queued records. */
static bool reserve_block(struct perfdata_stream *s)
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

bool stream_fill(struct perfdata_stream *s, size_t n)
{
	while ((size_t)(s->end - s->at) < n) {
		ssize_t got;

		if (!s->block || s->file->fd < 0)
			return false;
		if (n > (size_t)(s->block->bytes + BLOCK_CAPACITY - s->at) && !reserve_block(s))
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

bool stream_skip_bytes(struct perfdata_stream *s, uint64_t n, struct buf *out)
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

int stream_skip_payload(struct perfdata_stream *s)
{
	uint64_t n = s->payload_left, offset = stream_offset(s);
	bool trace = s->payload_is_tracing && offset >= s->meta_end;
	struct buf copy = { 0 };
	const uint8_t *at = s->at;
	int err = 0;

	if (!n)
		return 0;
	s->payload_left = 0;
	if (trace)
		s->pd->meta_bytes += n;
	if (trace && s->pd->meta_bytes > META_MAX)
		return stream_fail(s, -EBADMSG, offset, "%" PRIu64 " bytes of tracing data", n);
	if (!stream_skip_bytes(s, n, trace && s->block ? &copy : NULL))
		err = stream_fail(s, -ENODATA, offset, "the file ends within a payload of %" PRIu64
				  " bytes", n);
	else if (trace && s->block)
		err = feature_set(s->pd, TACHO_FEATURE_TRACING_DATA, (uint8_t *)copy.bytes, copy.n);
	else if (trace)
		err = feature_set(s->pd, TACHO_FEATURE_TRACING_DATA, at, n);
	buf_done(&copy);
	return err == -ENOMEM ? stream_fail(s, err, offset, "out of memory") : err;
}

static int stream_end(struct perfdata_stream *s)
{
	uint64_t offset = stream_offset(s);
	size_t left = (size_t)(s->end - s->at);

	if (left)
		return stream_fail(s, -ENODATA, offset, "the file ends within a record's header");
	if (s->missing)
		return stream_fail(s, -ENODATA, offset, "the file ends here, %" PRIu64
				   " bytes of its data are missing", s->missing);
	if (decompress_has_partial(&s->zstd))
		return stream_fail(s, -ENODATA, s->zstd.offset,
				   "the compressed data ends within a record");
	s->ended = true;
	return 0;
}

/* Reads the length of the payload after an AUXTRACE or TRACING_DATA record. */
static int note_payload(struct perfdata_stream *s, const struct tacho_record *rec)
{
	unsigned bytes = rec->type == TACHO_RECORD_AUXTRACE ? 8 : 4;
	const uint8_t *at = rec->bytes + RECORD_HEADER_BYTES;

	if (rec->size < RECORD_HEADER_BYTES + bytes)
		return stream_fail(s, -EBADMSG, rec->offset, "a record of type %u has only %u bytes",
				   rec->type, rec->size);
	s->payload_left = bytes == 8 ? load_u64(at, rec->swapped) : load_u32(at, rec->swapped);
	s->payload_is_tracing = rec->type == TACHO_RECORD_TRACING_DATA;
	return 1;
}

static int fail_bad_size(struct perfdata_stream *s, uint32_t type, unsigned size)
{
	return stream_fail(s, -EBADMSG, stream_offset(s), "a record of type %u has an invalid size of %u bytes",
			   type, size);
}

int stream_next_raw(struct perfdata_stream *s, struct tacho_record *rec)
{
	bool swap = s->swap;
	int err;

	if (s->ended)
		return s->failed;
	if (s->payload_left) {
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
		return fail_bad_size(s, rec->type, rec->size);
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

/* COMPRESSED2 has the length of its payload; COMPRESSED is payload to its end. */
static int feed_compressed(struct perfdata_stream *s, const struct tacho_record *rec)
{
	const uint8_t *body = rec->bytes + RECORD_HEADER_BYTES;
	size_t n = rec->size - RECORD_HEADER_BYTES;

	if (rec->type == TACHO_RECORD_COMPRESSED2) {
		if (n < 8)
			return fail_bad_size(s, rec->type, rec->size);
		n = (size_t)min_of(load_u64(body, rec->swapped), (uint64_t)(n - 8));
		body += 8;
		s->pd->n_compressed2++;
	} else {
		s->pd->n_compressed++;
	}
	return decompress_feed(s, body, n, rec->offset);
}

int stream_next(struct perfdata_stream *s, struct tacho_record *rec)
{
	int err;

	for (;;) {
		if (s->zstd.busy || decompress_has_partial(&s->zstd)) {
			err = decompress_next(s, rec);
			if (err != 0 || s->ended)
				return err;
		}
		err = stream_next_raw(s, rec);
		if (err <= 0)
			return err;
		if (s->zstd.busy)		/* stream_next_raw() has fed a chunk with wrong sizes */
			continue;
		if (rec->type == TACHO_RECORD_COMPRESSED || rec->type == TACHO_RECORD_COMPRESSED2) {
			err = feed_compressed(s, rec);
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
