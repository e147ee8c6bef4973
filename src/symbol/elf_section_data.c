/*
 * Decompresses in steps: the output buffer doubles with each step, up to the size in the header, so
 * that a small file that claims to be large cannot make us allocate a gigabyte.
 */
#include "symbol/elf_section_data.h"

#include "symbol/inflate.h"

#include <errno.h>
#include <stdio.h>
#include <zstd.h>
#include <zstd_errors.h>

#define SHF_COMPRESSED 0x800u
#define STEP_MIN 65536u
#define HEADER_BYTES_MAX ((uint64_t)24)

enum { CH_ZLIB = 1, CH_ZSTD = 2 };

struct compressed_section {
	uint32_t kind;
	uint64_t size;			/* uncompressed, according to the header */
	const uint8_t *bytes;
	size_t n;
};

const struct elf_section *elf_find_debug(const struct elf *e, const char *name)
{
	const struct elf_section *s = elf_find_section(e, name);
	char old[40];

	if (!s) {
		snprintf(old, sizeof(old), ".z%s", name + 1);
		s = elf_find_section(e, old);
	}
	return s && s->type != ELF_SHT_NOBITS && s->size ? s : NULL;
}

static bool is_old(const struct elf *e, const struct elf_section *s)
{
	return strncmp(elf_section_name(e, s), ".zdebug", 7) == 0;
}

static bool is_compressed_section(const struct elf *e, const struct elf_section *s)
{
	return is_old(e, s) || s->flags & SHF_COMPRESSED;
}

/* .zdebug_*: "ZLIB" and the size as 8 bytes, big endian. */
static int old_header(const struct buf *raw, struct compressed_section *out)
{
	const uint8_t *p = (const uint8_t *)raw->bytes;

	if (raw->n < 12 || memcmp(p, "ZLIB", 4) != 0)
		return -EBADMSG;
	*out = (struct compressed_section){ .kind = CH_ZLIB, .bytes = p + 12, .n = raw->n - 12 };
	for (size_t i = 4; i < 12; i++)
		out->size = out->size << 8 | p[i];
	return 0;
}

static int new_header(const struct elf *e, const struct buf *raw, struct compressed_section *out)
{
	const uint8_t *p = (const uint8_t *)raw->bytes;
	size_t n = e->wide ? 24 : 12;

	if (raw->n < n)
		return -EBADMSG;
	*out = (struct compressed_section){
		.kind = (uint32_t)elf_uint(e->swap, p, 4),
		.size = e->wide ? elf_uint(e->swap, p + 8, 8) : elf_uint(e->swap, p + 4, 4),
		.bytes = p + n, .n = raw->n - n,
	};
	return 0;
}

/* Grows the buffer for the next step, never beyond `size`. Returns NULL without memory. */
static char *grow_output(struct buf *out, size_t done, uint64_t size, size_t *room)
{
	*room = (size_t)min_of(size - done, (uint64_t)max_of(done, (size_t)STEP_MIN));
	return buf_grow(out, *room);
}

static void advance_output(struct buf *out, size_t n)
{
	out->n += n;
	out->bytes[out->n] = '\0';
}

static int decompress_zstd_stream(ZSTD_DCtx *z, const struct compressed_section *in, struct buf *out)
{
	ZSTD_inBuffer from = { in->bytes, in->n, 0 };
	size_t done = 0, room;

	while (done < in->size) {
		char *at = grow_output(out, done, in->size, &room);
		ZSTD_outBuffer to = { at, room, 0 };
		size_t before = from.pos, left;

		if (!at)
			return -ENOMEM;
		left = ZSTD_decompressStream(z, &to, &from);
		advance_output(out, to.pos);
		done += to.pos;
		if (ZSTD_isError(left))
			return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? -ENOMEM : -EBADMSG;
		if (!to.pos && from.pos == before)
			return -EBADMSG;
	}
	return 0;
}

static int decompress_zstd_section(const struct compressed_section *in, struct buf *out)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();
	int err = z ? decompress_zstd_stream(z, in, out) : -ENOMEM;

	ZSTD_freeDCtx(z);
	return err;
}

/* The header of a compressed section, and as much of its contents as was read. */
static int read_header(const struct elf *e, const struct elf_section *s, const struct buf *raw, struct compressed_section *out)
{
	return is_old(e, s) ? old_header(raw, out) : new_header(e, raw, out);
}

uint64_t elf_section_data_size(const struct elf *e, const struct elf_section *s)
{
	scoped(buf_done) struct buf raw = { 0 };
	struct compressed_section in = { 0 };

	if (!is_compressed_section(e, s))
		return s->size;
	return elf_read(e, s->offset, min_of(s->size, HEADER_BYTES_MAX), &raw) == 0 && read_header(e, s, &raw, &in) == 0 ?
	       in.size : 0;
}

int elf_read_section_data(const struct elf *e, const struct elf_section *s, struct buf *out)
{
	scoped(buf_done) struct buf raw = { 0 };
	struct compressed_section in = { 0 };
	int err;

	if (!is_compressed_section(e, s))
		return elf_read_section(e, s, out);
	err = elf_read_section(e, s, &raw);
	if (err == 0)
		err = read_header(e, s, &raw, &in);
	if (err < 0)
		return err;
	if (in.size > ELF_PIECE_MAX)
		return -EFBIG;
	if (in.kind == CH_ZLIB)
		return inflate_bytes(in.bytes, in.n, in.size, out);
	return in.kind == CH_ZSTD ? decompress_zstd_section(&in, out) : -EOPNOTSUPP;
}
