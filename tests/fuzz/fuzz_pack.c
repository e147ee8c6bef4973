/*
 * Any bytes as a packed profile, and as the inside of one (so that a fuzzer need not learn how to
 * compress); what is taken is written and packed again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "profile/pack.h"

#include <tacho/output.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int put(void *arg, const void *bytes, size_t n)
{
	buf_put(arg, bytes, n);
	return 0;
}

static void try(const void *bytes, size_t n)
{
	struct buf out = { 0 }, again = { 0 };
	struct tacho_profile *p, *q;

	if (tacho_profile_new(&p, NULL, NULL) < 0 || tacho_profile_new(&q, NULL, NULL) < 0)
		abort();
	if (tacho_profile_unpack(p, bytes, n, NULL, NULL) == 0) {
		tacho_output_write(tacho_format_find("folded"), p, NULL, put, &out, NULL);
		if (tacho_profile_pack(p, NULL, put, &again, NULL) == 0 &&
		    tacho_profile_unpack(q, again.bytes, again.n, NULL, NULL) < 0)
			abort();
	}
	tacho_profile_free(q);
	buf_done(&out);
	buf_done(&again);
	tacho_profile_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf b = { 0 };
	size_t room = ZSTD_compressBound(size), n;
	char *at;

	try(data, size);
	if (size > PACK_RAW_MAX)
		return 0;
	buf_put(&b, PACK_HEAD, PACK_HEAD_BYTES);
	for (n = size; n >= 0x80; n >>= 7)
		buf_putc(&b, (char)(n | 0x80));
	buf_putc(&b, (char)n);
	at = buf_grow(&b, room);
	n = at ? ZSTD_compress(at, room, data, size, 1) : 0;
	if (at && !ZSTD_isError(n))
		try(b.bytes, b.n + n);
	buf_done(&b);
	return 0;
}
