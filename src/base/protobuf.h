/*
 * Protocol buffers: fields appended to a buffer in the wire format, and read one by one. Fields that
 * are zero or empty are left out, as proto3 has it.
 */
#ifndef BASE_PROTOBUF_H
#define BASE_PROTOBUF_H

#include "base/buf.h"

void pb_varint(struct buf *b, uint64_t v);				/* a bare varint */
void pb_u64(struct buf *b, unsigned field, uint64_t v);
/* Eight bytes, there even where they are 0: a member of a oneof is not left out. */
void pb_fixed64(struct buf *b, unsigned field, uint64_t v);
void pb_double(struct buf *b, unsigned field, double v);
void pb_bytes(struct buf *b, unsigned field, struct str bytes);	/* also strings and messages */
/* As pb_bytes(), but an empty one is there too: elements of repeated fields count. */
void pb_element(struct buf *b, unsigned field, struct str bytes);
/* A message that was built apart; its failure is handed on. */
void pb_message(struct buf *b, unsigned field, const struct buf *m);

/* One field that was read: a number (a varint, or fixed bytes), or bytes of the message. */
struct pb_field {
	uint64_t number;	/* which field */
	uint64_t value;
	struct str bytes;
};

/* Takes the first field off *rest. 1, 0 at the end, or -EBADMSG where it is no such message. */
int pb_next(struct str *rest, struct pb_field *out);

#endif
