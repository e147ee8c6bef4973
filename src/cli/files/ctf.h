/*
 * The Common Trace Format 1.8: a directory with a text that describes the events, `metadata`, and a
 * binary file per CPU, `perf_stream_N`, of packets:
 *
 *	header	magic, uuid, class of stream (always 0)
 *	context	first and last time, size in bits twice, events lost so far, CPU
 *	events	u32 id, u64 time, its fields; all in this machine's byte order, none aligned
 */
#ifndef CLI_FILES_CTF_H
#define CLI_FILES_CTF_H

#include "cli/files/convert.h"

/* ---- streams: ctf_stream.c ---- */
#define CTF_CPUS_MAX 16384u

struct ctf_stream {
	struct buf events;		/* of the packet that is being filled */
	uint64_t first_ns, last_ns;	/* of it */
	uint64_t lost;			/* since the start */
	uint32_t n;
};

struct ctf_streams {
	int dir;			/* borrowed */
	uint8_t uuid[16];
	struct ctf_stream **v;		/* by CPU; NULL: none yet */
	size_t n;
	uint64_t bytes;			/* written */
};

/* The packet of that CPU with an event begun in it, for its fields to follow; NULL without memory.
 * Times of a stream never go back: one that would is the one before. */
struct buf *ctf_event(struct ctf_streams *s, uint32_t cpu, uint64_t time_ns, uint32_t id);
int ctf_lost(struct ctf_streams *s, uint32_t cpu, uint64_t n);	/* 0 or -ENOMEM */
int ctf_flush_full(struct ctf_streams *s, uint32_t cpu);	/* once an event is complete */
int ctf_flush_all(struct ctf_streams *s);
void ctf_streams_done(struct ctf_streams *s);
/* Removes what such a trace consists of. */
void ctf_remove(int dir);

/* ---- fields: ctf_field.c ---- */
/* What an event of the file looks like, one line per field. */
void ctf_describe_sample(struct buf *out, const struct convert_event *ev);
/* The same fields with the values of a sample. */
void ctf_put_sample(struct buf *out, const struct convert_event *ev, const struct tacho_sample *s,
		    bool swapped);
/* One integer or string field of an event of ours. */
void ctf_describe_int(struct buf *out, unsigned bits, bool is_signed, bool hex, const char *name);
void ctf_describe_string(struct buf *out, const char *name);
/* Bytes as a string; what cannot be printed as \xNN. */
void ctf_put_string(struct buf *out, const void *bytes, size_t n);
/* In double quotes, for the metadata. */
void ctf_quote(struct buf *out, const char *text);
extern const char *const ctf_byte_order;	/* "le" or "be" */

#endif
