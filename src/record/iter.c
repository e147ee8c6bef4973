/*
 * Iterating over records. Only the header is read: type, misc and size, eight bytes that never wrap
 * around the end of a ring buffer. A killed recorder may leave an incomplete last record (-ENODATA).
 * A size below the eight bytes of the header is damage (-EBADMSG): the next record cannot be found.
 */
#include "record/record.h"

#include <errno.h>

/* struct perf_event_header */
struct wire_header {
	uint32_t type;
	uint16_t misc, size;
};
_Static_assert(sizeof(struct wire_header) == RECORD_HEADER_BYTES, "size of perf_event_header");

int tacho_record_next(struct tacho_record_iter *it, struct tacho_record *rec)
{
	size_t left = (size_t)(it->end - it->at);
	struct wire_header h;

	if (left < sizeof(h))
		return left ? -ENODATA : 0;
	memcpy(&h, it->at, sizeof(h));
	if (it->swapped) {
		h.type = __builtin_bswap32(h.type);
		h.misc = __builtin_bswap16(h.misc);
		h.size = __builtin_bswap16(h.size);
	}
	*rec = (struct tacho_record){ .type = h.type, .misc = h.misc, .size = h.size,
				      .bytes = it->at, .offset = it->offset,
				      .swapped = it->swapped };
	if (h.size < sizeof(h))
		return -EBADMSG;
	if (h.size > left)
		return -ENODATA;
	it->at += h.size;
	it->offset += h.size;
	return 1;
}
