/*
 * Compressing records. Records of the kernel become pieces of one zstd stream, in COMPRESSED2 (83) records, as perf writes
 * them since 6.16; records of tools are written uncompressed between them, as readers expect. The compressor is flushed
 * after every slice, so that a slice can be decompressed without the following ones.
 *
 *	83 misc size | u64 bytes of the payload | payload | padding to a multiple of 8
 */
#include "perfdata/writer.h"

#include <errno.h>
#include <zstd.h>
#include <zstd_errors.h>

#define PACK_HEADER_BYTES 16u
#define PACK_MAX (RECORD_MAX / 8 * 8)	/* so that `size` can include the padding */

/* Completes the record whose payload of n bytes is in place, after the end of w->packed. */
static void finish_pack(struct tacho_perfdata_writer *w, size_t n)
{
	size_t size = (PACK_HEADER_BYTES + n + 7) / 8 * 8;
	char *at = w->packed.bytes + w->packed.n;
	struct { uint32_t type; uint16_t misc, size; uint64_t n; } head = {
		TACHO_RECORD_COMPRESSED2, 0, (uint16_t)size, n };

	memcpy(at, &head, sizeof(head));
	memset(at + PACK_HEADER_BYTES + n, 0, size - PACK_HEADER_BYTES - n);
	w->packed.n += size;
	w->n_packed += n;
}

/* Compresses one slice into as many records as needed. */
static int compress_slice(struct tacho_perfdata_writer *w, const uint8_t *bytes, size_t n)
{
	ZSTD_inBuffer in = { bytes, n, 0 };
	size_t left;

	do {
		char *at = buf_grow(&w->packed, PACK_MAX);
		ZSTD_outBuffer out = { 0 };

		if (!at)
			return -ENOMEM;
		out.dst = at + PACK_HEADER_BYTES;
		out.size = PACK_MAX - PACK_HEADER_BYTES;
		left = ZSTD_compressStream2(w->zstd, &out, &in, ZSTD_e_flush);
		if (ZSTD_isError(left))
			return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? -ENOMEM : -EIO;
		if (out.pos)
			finish_pack(w, out.pos);
	} while (left || in.pos < in.size);
	w->n_raw += n;
	return 0;
}

static int compress_run(struct tacho_perfdata_writer *w, const uint8_t *bytes, size_t n)
{
	int err = 0;

	for (size_t at = 0; at < n && err == 0; at += COMPRESS_SLICE)
		err = compress_slice(w, bytes + at, min_of(n - at, (size_t)COMPRESS_SLICE));
	return err;
}

uint64_t writer_record_bytes(const uint8_t *at, size_t left)
{
	uint64_t n = left < RECORD_HEADER_BYTES ? 0 : load_u16(at + 6, false);
	uint32_t type = n ? load_u32(at, false) : 0;

	if (n < RECORD_HEADER_BYTES || n > left)
		return 0;
	if (type == TACHO_RECORD_AUXTRACE && n >= 16)
		n += min_of(load_u64(at + 8, false), (uint64_t)left);
	if (type == TACHO_RECORD_TRACING_DATA && n >= 12)
		n += load_u32(at + 8, false);
	return n <= left ? n : 0;
}

int compress_records(struct tacho_perfdata_writer *w, const uint8_t *bytes, size_t n)
{
	size_t at = 0, run = 0;
	int err;

	while (at < n) {
		uint64_t size = writer_record_bytes(bytes + at, n - at);

		if (!size)
			return -EINVAL;
		if (load_u32(bytes + at, false) >= TACHO_RECORD_HEADER_ATTR) {
			err = compress_run(w, bytes + run, at - run);
			if (err < 0)
				return err;
			buf_put(&w->packed, bytes + at, size);
			run = at + size;
		}
		at += size;
	}
	err = compress_run(w, bytes + run, n - run);
	return err == 0 && buf_failed(&w->packed) ? -ENOMEM : err;
}
