/*
 * Internal declarations of the perf.data writer.
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
	int failed;			/* sticky error of a write */
	struct { struct written_event *v; size_t n, cap; } events;
	struct buf features[TACHO_FEATURE_MAX];
	bool present[TACHO_FEATURE_MAX];
	uint64_t front[TACHO_FEATURE_MAX];	/* offset of a payload before the data; 0: it is after the data */
	uint32_t attr_bytes;		/* size of every attr in the file */
	uint64_t attrs_offset, data_offset;
	uint64_t bytes;			/* bytes of data in the file, complete records only */
	struct buf waiting;		/* records that are not written yet */
	struct ZSTD_CCtx_s *zstd;
	struct buf packed;
	uint64_t n_raw, n_packed;	/* bytes before and after compression, for the ratio */
	size_t tail_bytes;		/* bytes after the data; 0: the header lists no features */
	bool stale;			/* features have changed since the tail was written */
	uint64_t reserved;		/* blocks are allocated up to this offset; UINT64_MAX: stop allocating */
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
/* Sets the payload of a feature to `b`, which is emptied. Returns 0 or a negative errno. */
int writer_set_feature(struct tacho_perfdata_writer *w, enum tacho_feature f, struct buf *b);
bool writer_features_closed(const struct tacho_perfdata_writer *w);	/* too late to set features */

/* The bytes before the data, of a file (its header says data size 0: not finished) or of a pipe. */
int head_file(struct tacho_perfdata_writer *w, struct buf *out);
void head_header(const struct tacho_perfdata_writer *w, uint64_t data_bytes, bool features,
		 struct buf *out);
int head_pipe(struct tacho_perfdata_writer *w, struct buf *out, struct tacho_error *e);
int head_event_desc(struct tacho_perfdata_writer *w);
void head_compressed(struct tacho_perfdata_writer *w);
/* The list of features, to be written at `offset`, and the payloads that are not before the data. */
void head_features(struct tacho_perfdata_writer *w, uint64_t offset, struct buf *out);

/* writer_file.c: writing data and features to a file. All return 0 or a negative errno. The array has at most
 * FILE_PARTS parts and one unused element, and is modified; after a failure, *put is the number of bytes
 * that were written. Without parts, only the features are written again. */
#define FILE_PARTS 2
int writer_append_data(struct tacho_perfdata_writer *w, struct iovec *parts, size_t n_parts, size_t *put);
int writer_append_bare(struct tacho_perfdata_writer *w, struct iovec *parts, size_t n_parts, size_t *put);
/* If the disk is full: how many of the written bytes must be given up for the shortest list of features, without
 * which other readers cannot read the file. */
size_t writer_reclaimable_bytes(const struct tacho_perfdata_writer *w);
int writer_finish_file(struct tacho_perfdata_writer *w);

/* The size of the record at `at`, with the payload after it; 0: it is invalid or incomplete. */
uint64_t writer_record_bytes(const uint8_t *at, size_t left);
/* Appends COMPRESSED2 records, and the records that are not compressed, to w->packed. */
int compress_records(struct tacho_perfdata_writer *w, const uint8_t *bytes, size_t n);

#define COMPRESS_SLICE (128u << 10)		/* maximum decompressed size of a COMPRESSED2 record */

#endif
