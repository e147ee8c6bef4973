/*
 * Walking over records. Only the header is looked at: type, misc and size, eight bytes that never
 * lie across a ring's end. A header that is cut off or promises more than is there is where a
 * recorder died; a size below its own eight bytes is damage, for nothing tells where the next begins.
 */
#include "record/record.h"

#include <errno.h>

int tacho_record_next(struct tacho_record_iter *it, struct tacho_record *rec)
{
	size_t left = (size_t)(it->end - it->at);
	struct cursor c;

	if (left == 0)
		return 0;
	if (left < RECORD_HEADER_BYTES)
		return -ENODATA;

	c = cursor_over(it->at, RECORD_HEADER_BYTES, it->swapped);
	rec->type = cursor_u32(&c);
	rec->misc = cursor_u16(&c);
	rec->size = cursor_u16(&c);
	rec->bytes = it->at;
	rec->offset = it->offset;
	rec->swapped = it->swapped;
	if (rec->size < RECORD_HEADER_BYTES)
		return -EBADMSG;
	if (rec->size > left)
		return -ENODATA;
	it->at += rec->size;
	it->offset += rec->size;
	return 1;
}
