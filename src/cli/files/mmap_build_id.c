/*
 * The record that is written, in this machine's byte order:
 *
 *	 0 header		 8 pid, tid		16 address, length, offset in the file
 *	40 length of the build ID, 3 bytes of zero, 20 bytes of build ID
 *	64 protection, flags	72 path, padded to 8	   sample_id trailer
 */
#include "cli/files/mmap_build_id.h"

#include <errno.h>
#include <sys/mman.h>

#include "record/perf_abi.h"

#define MISC_MMAP_DATA (1u << 13)
#define MISC_BUILD_ID (1u << 14)
#define HEADER_BYTES 8u
#define MAX_RECORD 65528u		/* the largest multiple of 8 in 16 bits */

static size_t trailer_bytes(const struct tacho_layout *lay)
{
	uint64_t fields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
			  PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

	return lay->sample_id_all ? 8u * (size_t)__builtin_popcountll(lay->sample_type & fields) : 0;
}

static void put(struct buf *out, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_putc(out, (char)(v >> 8 * (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? i : n - 1 - i)));
}

int mmap_with_build_id(struct buf *out, const struct tacho_record *rec, const struct tacho_sideband *decoded,
		       const struct tacho_layout *layout, const struct file_object *obj)
{
	const struct tacho_mmap *m = &decoded->mmap;
	bool old = rec->type == TACHO_RECORD_MMAP, data = rec->misc & MISC_MMAP_DATA;
	size_t trailer = trailer_bytes(layout), path = (strlen(m->path) + 8) / 8 * 8;
	size_t size = 72 + path + trailer;

	if (rec->size < HEADER_BYTES + trailer || size > MAX_RECORD)
		return -EBADMSG;
	buf_clear(out);
	put(out, TACHO_RECORD_MMAP2, 4);
	put(out, rec->misc | MISC_BUILD_ID, 2);
	put(out, size, 2);
	put(out, m->pid, 4);
	put(out, m->tid, 4);
	put(out, m->addr, 8);
	put(out, m->len, 8);
	put(out, m->pgoff, 8);
	put(out, obj->n, 1);
	put(out, 0, 3);
	buf_put(out, obj->id, obj->n);
	buf_pad(out, 0, sizeof(obj->id) - obj->n);
	put(out, old ? (uint64_t)(data ? PROT_READ : PROT_EXEC) : m->prot, 4);
	put(out, old ? MAP_PRIVATE : m->flags, 4);
	buf_puts(out, m->path);
	buf_pad(out, 0, path - strlen(m->path));
	buf_put(out, rec->bytes + rec->size - trailer, trailer);
	return buf_failed(out) ? -ENOMEM : 0;
}
