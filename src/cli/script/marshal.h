/*
 * Writes values in the format of Python's marshal module, which python3 reads faster than any text. A tuple and a list
 * begin with the number of their elements, which follow one after the other.
 */
#ifndef CLI_SCRIPT_MARSHAL_H
#define CLI_SCRIPT_MARSHAL_H

#include "base/buf.h"

void marshal_none(struct buf *out);
void marshal_u64(struct buf *out, uint64_t v);
void marshal_i64(struct buf *out, int64_t v);
void marshal_bytes(struct buf *out, const void *bytes, size_t n);
/* A str; bytes that are not UTF-8 become the lone surrogates that os.fsdecode() gives. */
void marshal_text(struct buf *out, struct str s);
void marshal_string(struct buf *out, const char *s);	/* the same; NULL gives None */
void marshal_tuple(struct buf *out, size_t n);
void marshal_list(struct buf *out, size_t n);
/* Begins a list whose length is not known yet; returns what marshal_end_list() takes. */
size_t marshal_begin_list(struct buf *out);
void marshal_end_list(struct buf *out, size_t at, size_t n);

#endif
