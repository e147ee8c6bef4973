/*
 * The Common Trace Format 1.8: a directory with the text file `metadata`, which describes the events, and one
 * binary file of packets per CPU, `perf_stream_N`. A packet:
 *
 *	header	magic, UUID, stream ID (always 0)
 *	context	first and last time, content size and packet size in bits, lost events so far, CPU
 *	events	u32 ID, u64 time, fields; all in this machine's byte order and unaligned
 */
#ifndef CLI_FILES_CTF_H
#define CLI_FILES_CTF_H

#include "cli/files/convert.h"

/* ---- streams: ctf_stream.c ---- */
#define CTF_CPUS_MAX 16384u

struct ctf_stream {
	struct buf events;		/* encoded events of the current packet */
	uint64_t first_ns, last_ns;	/* times of the first and last event in the packet */
	uint64_t lost;			/* lost events since the start of the trace */
	uint32_t n;			/* number of events in the packet */
};

struct ctf_streams {
	int dir;			/* descriptor of the trace's directory; borrowed */
	uint8_t uuid[16];
	struct ctf_stream **v;		/* indexed by CPU; NULL: no stream yet */
	size_t n;
	uint64_t bytes;			/* bytes written */
};

/* Begins an event and returns the CPU's packet, to which the caller appends the fields; NULL: no memory.
 * Times in a stream must not decrease, so an earlier time is replaced by the last one. */
struct buf *ctf_event(struct ctf_streams *s, uint32_t cpu, uint64_t time_ns, uint32_t id);
int ctf_lost(struct ctf_streams *s, uint32_t cpu, uint64_t n);	/* 0 or -ENOMEM */
int ctf_flush_full(struct ctf_streams *s, uint32_t cpu);	/* after each event; writes a full packet */
int ctf_flush_all(struct ctf_streams *s);
void ctf_streams_done(struct ctf_streams *s);
/* Deletes the files of a trace in the directory. */
void ctf_remove(int dir);

/* ---- fields: ctf_field.c ---- */
/* Describes the fields of an event's samples for the metadata, one line per field. */
void ctf_describe_sample(struct buf *out, const struct convert_event *ev);
/* Appends the fields described by ctf_describe_sample(). */
void ctf_put_sample(struct buf *out, const struct convert_event *ev, const struct tacho_sample *s,
		    bool swapped);
/* Describes an integer or string field. */
void ctf_describe_int(struct buf *out, unsigned bits, bool is_signed, bool hex, const char *name);
void ctf_describe_string(struct buf *out, const char *name);
/* Appends a NUL-terminated string; unprintable bytes become \xNN. */
void ctf_put_string(struct buf *out, const void *bytes, size_t n);
/* Appends a string in double quotes, for the metadata. */
void ctf_quote(struct buf *out, const char *text);
extern const char *const ctf_byte_order;	/* "le" or "be" */

#endif
