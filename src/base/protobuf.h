/*
 * The wire format of protocol buffers: appending fields to a buffer, and reading them one by one. Fields
 * that are zero or empty are omitted, as in proto3.
 */
#ifndef BASE_PROTOBUF_H
#define BASE_PROTOBUF_H

#include "base/buf.h"

void pb_varint(struct buf *b, uint64_t v);				/* a bare varint */
void pb_u64(struct buf *b, unsigned field, uint64_t v);
/* Eight bytes, written even if the value is 0: members of a oneof must be present. */
void pb_fixed64(struct buf *b, unsigned field, uint64_t v);
void pb_double(struct buf *b, unsigned field, double v);
void pb_bytes(struct buf *b, unsigned field, struct str bytes);	/* strings and encoded messages, too */
/* Like pb_bytes(), but written even if it is empty: an element of a repeated field. */
void pb_element(struct buf *b, unsigned field, struct str bytes);
/* A nested message that was built in another buffer; if that buffer has failed, `b` fails, too. */
void pb_message(struct buf *b, unsigned field, const struct buf *m);

/* One decoded field: a number (varint or fixed size), or bytes that point into the message. */
struct pb_field {
	uint64_t number;	/* field number */
	uint64_t value;
	struct str bytes;
};

/* Decodes the first field of *rest and advances it. Returns 1, 0 at the end, or -EBADMSG. */
int pb_next(struct str *rest, struct pb_field *out);

#endif
