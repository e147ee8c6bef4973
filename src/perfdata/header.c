/*
 * The header of a file or pipe:
 *
 *	  0 magic "PERFILE2"        8 header size: 104 file, 16 pipe, 72 a file without features
 *	 16 bytes per attr entry   24 attrs: offset, size     40 data: offset, size
 *	 56 obsolete, 16 bytes     72 a bitmap of 256 features
 *
 * All numbers are in the recorder's byte order, which follows from the magic. Sections may be in any order,
 * but must not overlap.
 */
#include "perfdata/perfdata.h"

#include <errno.h>
#include <inttypes.h>

#define MAGIC 0x32454c4946524550ULL		/* "PERFILE2", read on a little-endian machine */
#define MAGIC_V1 0x454c494646524550ULL		/* "PERFFILE" */
#define ENTRY_MIN (PERF_ATTR_SIZE_VER0 + 16)
#define ENTRY_MAX 4096

static int header_magic(const uint8_t *bytes, bool *swap, struct tacho_error *e)
{
	bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	uint64_t magic = load_u64(bytes, big);

	if (magic == MAGIC || magic == __builtin_bswap64(MAGIC)) {
		*swap = (magic != MAGIC) != big;
		return 0;
	}
	if (magic == MAGIC_V1 || magic == __builtin_bswap64(MAGIC_V1)) {
		error_set(e, -EOPNOTSUPP, "this is version 1 of the file format, from before Linux 2.6.35");
		error_hint(e, "only a perf of that time can read it");
		return -EOPNOTSUPP;
	}
	return error_set(e, -EINVAL, "this is not a perf.data file: it does not start with PERFILE2");
}

static struct section get_section(const uint8_t *at, bool swap)
{
	return (struct section){ load_u64(at, swap), load_u64(at + 8, swap) };
}

static bool hostname_set(const uint64_t *bits)
{
	return bits[0] >> TACHO_FEATURE_HOSTNAME & 1;
}

/*
 * The bitmap is an array of the recorder's longs. On a machine of the other byte order, a long may have had
 * four or eight bytes; every recorder writes HOSTNAME, so the interpretation that has this bit is the right
 * one.
 */
static void get_features(uint64_t *out, const uint8_t *at, bool swap)
{
	for (int i = 0; i < 4; i++)
		out[i] = load_u64(at + 8 * i, swap);
	if (!swap || hostname_set(out))
		return;
	for (int i = 0; i < 4; i++)
		out[i] = load_u32(at + 8 * i, true) |
			 (uint64_t)load_u32(at + 8 * i + 4, true) << 32;
	if (hostname_set(out))
		return;
	memset(out, 0, 4 * sizeof(*out));
	out[0] = 1ULL << TACHO_FEATURE_BUILD_ID;
}

static bool overlap(struct section a, struct section b)
{
	return a.size && b.size && a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

static int fail_beyond_end(struct section s, uint64_t field, const char *name, struct tacho_error *e)
{
	return error_set(e, -EBADMSG,
			 "byte %" PRIu64 ": the %s section (%" PRIu64 " bytes at %" PRIu64
			 ") is not within the file", field, name, s.size, s.offset);
}

static int check_overlap(const struct file_header *h, struct tacho_error *e)
{
	struct section head = { 0, FEATURES_AT };

	if (overlap(head, h->attrs) || overlap(head, h->data))
		return error_set(e, -EBADMSG, "byte %d: the %s section overlaps the header",
				 overlap(head, h->attrs) ? 24 : 40,
				 overlap(head, h->attrs) ? "attrs" : "data");
	if (overlap(h->attrs, h->data))
		return error_set(e, -EBADMSG,
				 "byte 24: the attrs section (at %" PRIu64
				 ") overlaps the data section (at %" PRIu64 ")",
				 h->attrs.offset, h->data.offset);
	return 0;
}

static int check_sections(const struct file_header *h, uint64_t file_size, struct tacho_error *e)
{
	uint64_t end;

	if (h->entry_bytes < ENTRY_MIN || h->entry_bytes > ENTRY_MAX)
		return error_set(e, -EBADMSG, "byte 16: invalid size of an attr entry: %" PRIu64 " bytes",
				 h->entry_bytes);
	if (__builtin_add_overflow(h->attrs.offset, h->attrs.size, &end) || end > file_size)
		return fail_beyond_end(h->attrs, 24, "attrs", e);
	if (h->attrs.size % h->entry_bytes)
		return error_set(e, -EBADMSG,
				 "byte 32: %" PRIu64 " bytes of attrs are not a multiple of the entry size %" PRIu64,
				 h->attrs.size, h->entry_bytes);
	if (__builtin_add_overflow(h->data.offset, h->data.size, &end) ||
	    h->data.offset > file_size)
		return fail_beyond_end(h->data, 40, "data", e);
	return check_overlap(h, e);
}

int header_parse(struct file_header *h, const uint8_t *bytes, uint64_t n, uint64_t file_size,
		 struct tacho_error *e)
{
	uint64_t size;
	int err;

	*h = (struct file_header){ 0 };
	if (n < PIPE_HEADER_BYTES)
		return error_set(e, -ENODATA, "byte %" PRIu64 ": the file ends within its header", n);
	err = header_magic(bytes, &h->swap, e);
	if (err < 0)
		return err;
	size = load_u64(bytes + 8, h->swap);
	h->pipe = size == PIPE_HEADER_BYTES;
	if (h->pipe)
		return 0;
	if (size != FEATURES_AT && size < FILE_HEADER_BYTES)
		return error_set(e, -EBADMSG, "byte 8: invalid header size: %" PRIu64 " bytes", size);
	if (size > n && !file_size) {
		error_set(e, -ESPIPE, "this is a perf.data file, which cannot be read from a pipe");
		error_hint(e, "open the file by its name, or record with '-o -'");
		return -ESPIPE;
	}
	if (size > n)
		return error_set(e, -ENODATA, "byte %" PRIu64 ": the file ends within its header", n);
	h->entry_bytes = load_u64(bytes + 16, h->swap);
	h->attrs = get_section(bytes + 24, h->swap);
	h->data = get_section(bytes + 40, h->swap);
	if (size >= FILE_HEADER_BYTES)
		get_features(h->features, bytes + FEATURES_AT, h->swap);
	return check_sections(h, file_size, e);
}
