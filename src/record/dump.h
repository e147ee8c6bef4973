/*
 * Printing a record: dump_record() walks over its fields and names each of them once; the emitters
 * (text, JSON) know nothing about records. So all output formats show the same fields.
 */
#ifndef RECORD_DUMP_H
#define RECORD_DUMP_H

#include "base/buf.h"
#include "record/record.h"

/* An emitter. `key` is NULL for the elements of a list. */
struct dump_ops {
	void (*open)(void *to, const char *key, char kind);	/* '{' or '[' */
	void (*close)(void *to);
	void (*number)(void *to, const char *key, uint64_t v);
	void (*address)(void *to, const char *key, uint64_t v);	/* any number shown in hexadecimal */
	void (*text)(void *to, const char *key, const char *s);
	void (*names)(void *to, const char *key, const char *const *names, size_t n);
	void (*bytes)(void *to, const char *key, const void *bytes, size_t n);
};

struct dump {
	const struct dump_ops *ops;
	void *to;
};

/* Prints the header of the record, then its fields, or its bytes if it cannot be decoded. Returns 0 or
 * -ENOMEM. */
int dump_record(const struct dump *d, const struct tacho_record *rec,
		const struct tacho_layout *lay);

/* Parts of a record: dump_sample.c, dump_sideband.c, dump.c. */
void dump_sample(const struct dump *d, const struct tacho_sample *s,
		 const struct tacho_layout *lay);
void dump_sideband(const struct dump *d, const struct tacho_sideband *o);
void dump_chain(const struct dump *d, const char *key, struct tacho_words chain);
void dump_read(const struct dump *d, const char *key, const struct tacho_read *r);

/* Prints the names of the bits set in `v`, lowest bit first. Bits without a name are omitted. */
#define DUMP_FLAGS_MAX 32
void dump_flags(const struct dump *d, const char *key, uint64_t v, const char *const *names,
		size_t n);
/* Prints the name of the value `v`, or the number if it has no name. */
void dump_choice(const struct dump *d, const char *key, uint64_t v, const char *const *names,
		 size_t n);

/* Appends two hexadecimal digits per byte. */
void dump_hex(struct buf *out, const void *bytes, size_t n);

#define dump_open(d, key, kind) (d)->ops->open((d)->to, key, kind)
#define dump_close(d) (d)->ops->close((d)->to)
#define dump_number(d, key, v) (d)->ops->number((d)->to, key, v)
#define dump_address(d, key, v) (d)->ops->address((d)->to, key, v)
#define dump_text(d, key, s) (d)->ops->text((d)->to, key, s)
#define dump_bytes(d, key, p, n) (d)->ops->bytes((d)->to, key, p, n)

#endif
