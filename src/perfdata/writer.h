/*
 * The writer's inside, shared by the files that put together what it writes.
 */
#ifndef PERFDATA_WRITER_H
#define PERFDATA_WRITER_H

#include <sys/uio.h>

#include "perfdata/perfdata.h"

#define NAME_PAD 64		/* strings of features are padded to this, as perf does */

struct written_event {
	char *name;
	struct perf_event_attr attr;
	uint64_t *ids;
	size_t n_ids;
};

struct tacho_perfdata_writer {
	int fd;
	bool pipe, bare;
	int level;
	bool begun, finished;
	int failed;			/* sticky, of writing */
	struct { struct written_event *v; size_t n, cap; } events;
	struct buf features[TACHO_FEATURE_MAX];
	bool there[TACHO_FEATURE_MAX];
	uint64_t front[TACHO_FEATURE_MAX];	/* where it stands before the data; 0: behind it */
	uint32_t attr_bytes;		/* of every attr in the file */
	uint64_t attrs_offset, data_offset;
	uint64_t bytes;			/* of data that are in the file, whole records */
	struct buf waiting;		/* records that are not written yet */
	struct ZSTD_CCtx_s *zstd;
	struct buf packed;
	uint64_t n_raw, n_packed;	/* for the ratio */
	size_t tail_bytes;		/* behind the data; 0: the header tells of no features */
	bool stale;			/* some have changed since */
	uint64_t reserved;		/* blocks are there up to this offset; UINT64_MAX: no more */
};

static inline void put_u32(struct buf *b, uint32_t v)
{
	buf_put(b, &v, sizeof(v));
}

static inline void put_u64(struct buf *b, uint64_t v)
{
	buf_put(b, &v, sizeof(v));
}

static inline void put_header(struct buf *b, uint32_t type, uint16_t misc, size_t size)
{
	uint16_t rest[2] = { misc, (uint16_t)size };

	put_u32(b, type);
	buf_put(b, rest, sizeof(rest));
}

void put_string(struct buf *b, struct str s);		/* u32 length, text, padding */
/* Fills a feature from `b`, which is emptied; 0 or an errno. */
int writer_set_feature(struct tacho_perfdata_writer *w, enum tacho_feature f, struct buf *b);
bool writer_features_closed(const struct tacho_perfdata_writer *w);	/* for features */

/* What stands before the data, of a file (size 0: not finished) or of a pipe. */
int head_file(struct tacho_perfdata_writer *w, struct buf *out);
void head_header(const struct tacho_perfdata_writer *w, uint64_t data_bytes, bool features,
		 struct buf *out);
int head_pipe(struct tacho_perfdata_writer *w, struct buf *out, struct tacho_error *e);
void head_event_desc(struct tacho_perfdata_writer *w);
void head_compressed(struct tacho_perfdata_writer *w);
/* The features' list and the payloads that are not in front, to stand at `offset`. */
void head_features(struct tacho_perfdata_writer *w, uint64_t offset, struct buf *out);

/* writer_file.c: what a file needs beside its data. All return 0 or a negative errno. The parts,
 * FILE_PARTS of them at most and one more that is free, are used up; *put is how many of their
 * bytes are in the file after a failure. Without parts the features are written anew. */
#define FILE_PARTS 2
int writer_append_data(struct tacho_perfdata_writer *w, struct iovec *parts, size_t n_parts, size_t *put);
int writer_append_bare(struct tacho_perfdata_writer *w, struct iovec *parts, size_t n_parts, size_t *put);
/* Of the bytes that a full disk has taken: what the shortest list needs, so that others can read the file. */
size_t writer_reclaimable_bytes(const struct tacho_perfdata_writer *w);
int writer_finish_file(struct tacho_perfdata_writer *w);

/* How long the record at `at` is, with the payload behind it; 0: it is none, or not all there. */
uint64_t writer_record_bytes(const uint8_t *at, size_t left);
/* Appends records 81 (and those that stay as they are) to w->packed. */
int pack_records(struct tacho_perfdata_writer *w, const uint8_t *bytes, size_t n);

#define PACK_SLICE (128u << 10)		/* what one record 81 decompresses to, at most */

#endif
