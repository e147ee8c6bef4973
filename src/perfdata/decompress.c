/*
 * COMPRESSED (81) and COMPRESSED2 (83) records contain pieces of one zstd stream: the decompressor's state
 * continues from record to record, and the output may end in the middle of a record that continues in the
 * next piece. The output goes into blocks, so that every record is contiguous and can stay in the reorder queue.
 *
 * perf 6.16 to 7.1 writes wrong sizes when a chunk needs several COMPRESSED2 records: the sizes in the first
 * one are those of the whole chunk, although `size` has only 16 bits, and data_size of the others is garbage.
 *
 *	83 size=wrapped data_size=total - 16 | 65,519 bytes | 83 size data_size=? | bytes | ... pad
 *
 * A small file must not need much memory, so the output is bounded by the size of the input. The limits are far above
 * what recorders write: each record has another time, which takes at least a byte, and records with equal copies of a
 * large stack shrink to about a thousandth.
 *
 * In a correct record, data_size fits into size, so wrong ones are recognized, and the `size` of the other
 * records leads through the chunk.
 */
#include "perfdata/perfdata.h"

#include <errno.h>
#include <inttypes.h>
#include <zstd.h>
#include <zstd_errors.h>

#define CHUNK_HEADER 16u
#define CHUNK_PAYLOAD (RECORD_MAX - CHUNK_HEADER)
#define CHUNK_MAX (1u << 30)
#define OUTPUT_BYTES_MIN (64u << 20)	/* output that is always allowed */
#define OUTPUT_RECORDS_MIN (1u << 20)
#define OUTPUT_BYTES_RATIO 4096u	/* output per byte of input */
#define OUTPUT_RECORDS_RATIO 16u

void decompressor_done(struct decompressor *u, struct block_pool *pool)
{
	ZSTD_freeDCtx(u->zstd);
	block_unref(pool, u->out);
	*u = (struct decompressor){ 0 };
}

bool decompress_has_partial(const struct decompressor *u)
{
	return u->out && u->at < u->out->n;
}

int decompress_feed(struct perfdata_stream *s, const uint8_t *payload, size_t n, uint64_t offset)
{
	struct decompressor *u = &s->zstd;

	if (!u->zstd)
		u->zstd = ZSTD_createDCtx();
	if (!u->out)
		u->out = block_new(&s->pd->pool);
	if (!u->zstd || !u->out)
		return stream_fail(s, -ENOMEM, offset, "out of memory");
	u->in = payload;
	u->n_in = n;
	u->total_in += n;
	u->offset = offset;
	u->busy = true;
	return 0;
}

/* Makes space for at least one more record of the largest size. */
static bool reserve_output(struct decompressor *u, struct block_pool *pool)
{
	uint32_t rest = u->out->n - u->at;
	struct record_block *b = u->out;

	if (BLOCK_CAPACITY - b->n > RECORD_MAX)
		return true;
	if (b->refs > 1) {
		b = block_new(pool);
		if (!b)
			return false;
	}
	memmove(b->bytes, u->out->bytes + u->at, rest);
	if (b != u->out)
		block_unref(pool, u->out);
	u->out = b;
	b->n = rest;
	b->offset = u->offset;
	u->at = 0;
	return true;
}

static bool is_plausible_output(const struct decompressor *u)
{
	return u->total_out <= OUTPUT_BYTES_MIN + u->total_in * OUTPUT_BYTES_RATIO &&
	       u->n_records <= OUTPUT_RECORDS_MIN + u->total_in * OUTPUT_RECORDS_RATIO;
}

static int decompress_more(struct perfdata_stream *s)
{
	struct decompressor *u = &s->zstd;
	ZSTD_inBuffer in = { u->in, u->n_in, 0 };
	ZSTD_outBuffer out = { 0 };
	size_t r;

	if (!reserve_output(u, &s->pd->pool))
		return stream_fail(s, -ENOMEM, u->offset, "out of memory");
	if (!u->out->n)
		u->out->offset = u->offset;
	out.dst = u->out->bytes + u->out->n;
	out.size = BLOCK_CAPACITY - u->out->n;
	r = ZSTD_decompressStream(u->zstd, &out, &in);
	if (ZSTD_getErrorCode(r) == ZSTD_error_memory_allocation)
		return stream_fail(s, -ENOMEM, u->offset, "out of memory");
	if (ZSTD_isError(r))
		return stream_fail(s, -EBADMSG, u->offset, "the compressed data is damaged: %s",
				   ZSTD_getErrorName(r));
	if (in.pos == 0 && out.pos == 0 && u->n_in)
		return stream_fail(s, -EBADMSG, u->offset, "the compressed data makes no progress");
	u->in += in.pos;
	u->n_in -= in.pos;
	u->out->n += (uint32_t)out.pos;
	u->total_out += out.pos;
	u->busy = u->n_in || out.pos == out.size;
	if (!is_plausible_output(u))
		return stream_fail(s, -EBADMSG, u->offset, "%" PRIu64 " bytes of compressed data expand to more than %"
				   PRIu64 " bytes with %" PRIu64 " records, which no recorder writes",
				   u->total_in, u->total_out, u->n_records);
	return 1;
}

int decompress_next(struct perfdata_stream *s, struct tacho_record *rec)
{
	struct decompressor *u = &s->zstd;
	bool swap = s->swap;

	for (;;) {
		const uint8_t *at = u->out->bytes + u->at;
		uint32_t left = u->out->n - u->at;
		unsigned size = left < RECORD_HEADER_BYTES ? 0 : load_u16(at + 6, swap);
		int err;

		if (left >= RECORD_HEADER_BYTES && size < RECORD_HEADER_BYTES)
			return stream_fail(s, -EBADMSG, u->offset,
					   "the compressed data contains a record of %u bytes", size);
		if (size && size <= left) {
			*rec = (struct tacho_record){ .type = load_u32(at, swap),
						      .misc = load_u16(at + 4, swap),
						      .size = (uint16_t)size, .bytes = at,
						      .offset = u->offset, .swapped = swap };
			u->at += size;
			u->n_records++;
			return 1;
		}
		if (!u->busy)
			return 0;
		err = decompress_more(s);
		if (err <= 0)
			return err;
	}
}

static bool is_plausible_header(const uint8_t *at, bool swap)
{
	uint32_t type = load_u32(at, swap);

	return load_u16(at + 6, swap) >= RECORD_HEADER_BYTES && type > 0 && type < 128 &&
	       (type < 32 || type >= TACHO_RECORD_HEADER_ATTR);
}

/* Skips the padding after a chunk with wrong sizes, if there is any. */
static void skip_chunk_padding(struct perfdata_stream *s)
{
	unsigned pad = s->chunk_pad;

	s->chunk_pad = 0;
	if (!is_plausible_header(s->at, s->swap) && stream_fill(s, pad + RECORD_HEADER_BYTES) &&
	    is_plausible_header(s->at + pad, s->swap))
		s->at += pad;
}

static int feed_chunk_part(struct perfdata_stream *s, uint64_t payload)
{
	uint64_t offset = stream_offset(s);
	int err;

	if (!stream_fill(s, CHUNK_HEADER + payload))
		return stream_fail(s, -ENODATA, offset, "the file ends within a compressed record");
	err = decompress_feed(s, s->at + CHUNK_HEADER, payload, offset);
	s->at += CHUNK_HEADER + payload;
	s->pd->n_compressed2++;
	return err < 0 ? err : 1;
}

static int feed_next_chunk_part(struct perfdata_stream *s)
{
	bool swap = s->swap;
	uint32_t type = load_u32(s->at, swap);
	unsigned size = load_u16(s->at + 6, swap);

	if (type != TACHO_RECORD_COMPRESSED2 || size < CHUNK_HEADER || size > s->chunk_left)
		return stream_fail(s, -EBADMSG, stream_offset(s),
				   "a part of a compressed chunk is missing");
	s->chunk_left -= size;
	return feed_chunk_part(s, size - CHUNK_HEADER);
}

int feed_broken_chunk(struct perfdata_stream *s)
{
	bool swap = s->swap;
	uint64_t data, payload;

	if (s->chunk_left)
		return feed_next_chunk_part(s);
	if (s->chunk_pad)
		skip_chunk_padding(s);
	if (load_u32(s->at, swap) != TACHO_RECORD_COMPRESSED2 || !stream_fill(s, CHUNK_HEADER))
		return 0;
	data = load_u64(s->at + 8, swap);
	if (data + CHUNK_HEADER <= load_u16(s->at + 6, swap) || data > CHUNK_MAX)
		return 0;
	payload = min_of(data, (uint64_t)CHUNK_PAYLOAD);
	s->chunk_left = data - payload;
	s->chunk_pad = (uint8_t)(round_up8(data) - data);
	return feed_chunk_part(s, payload);
}
