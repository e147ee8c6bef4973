/*
 * Internal declarations of the perf.data reader:
 *
 *	input file (mapped or descriptor) -> stream (records, decompressed) -> reorder queue (by time) -> next()
 *
 * A plain file is one stream; a directory has one stream per file. Records of a mapped file are views into
 * the mapping. All others are stored in blocks: aligned pieces of memory whose reference count includes each
 * queued record, so that records are never copied for sorting.
 */
#ifndef PERFDATA_PERFDATA_H
#define PERFDATA_PERFDATA_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file_map.h"
#include "base/int_map.h"
#include "record/perf_abi.h"
#include "base/vec.h"
#include "record/cursor.h"
#include "record/record.h"

#include <tacho/perfdata.h>

#define FILE_HEADER_BYTES 104
#define PIPE_HEADER_BYTES 16
enum { PIPE_UPDATE_UNIT, PIPE_UPDATE_SCALE, PIPE_UPDATE_NAME };	/* kinds of EVENT_UPDATE */
#define FEATURES_AT 72			/* offset of the feature bitmap in the header */
#define RECORD_MAX 65535
#define EVENTS_MAX (1u << 18)
#define META_MAX (256u << 20)		/* total bytes of metadata records */
#define BLOCK_BYTES (512u << 10)	/* size and alignment; holds eight of the largest records */

static inline uint64_t round_up8(uint64_t n)
{
	return (n + 7) & ~7ULL;
}

static inline void record_fill(struct tacho_record *rec, const uint8_t *at, uint64_t offset,
			       bool swap)
{
	rec->type = load_u32(at, swap);
	rec->misc = load_u16(at + 4, swap);
	rec->size = load_u16(at + 6, swap);
	rec->bytes = at;
	rec->offset = offset;
	rec->swapped = swap;
}

struct section {
	uint64_t offset, size;
};

/* ---- blocks ---- */
struct record_block {
	struct record_block *next;	/* in the free list */
	uint32_t refs;			/* one of the stream, and one per queued record */
	uint32_t n;			/* bytes in use */
	uint64_t offset;		/* offset in the stream of bytes[0], or of the compressed record it
					 * came from */
	uint8_t bytes[];
};
#define BLOCK_CAPACITY (BLOCK_BYTES - sizeof(struct record_block))

struct block_pool {
	struct record_block *free;
	size_t n_free;
	size_t n;			/* blocks in use; the reorder queue limits them */
};

struct record_block *block_new(struct block_pool *pool);	/* has one reference; NULL if out of memory */
void block_unref(struct block_pool *pool, struct record_block *b);
void block_pool_done(struct block_pool *pool);

static inline struct record_block *block_of(const uint8_t *at)
{
	return (struct record_block *)(at - ((uintptr_t)at & (BLOCK_BYTES - 1)));
}

/* ---- an input file ---- */
struct input_file {
	char *path;
	int fd;				/* -1: none */
	const uint8_t *map;		/* NULL: read with read() */
	uint64_t size;			/* size of the mapping */
	struct file_map mapping;	/* what `map` points to */
	uint64_t dropped;		/* bytes at its start that were released with MADV_DONTNEED */
	uint64_t mtime_s;
};

/* -EINVAL if `path` exists and is not a regular file: opening a FIFO in a directory would block forever. */
int check_regular_file(const char *path, struct tacho_error *e);
int input_file_open(struct input_file *f, const char *path, const struct tacho_perfdata_opts *opts,
	      struct tacho_error *e);
void input_file_close(struct input_file *f);
/* Releases the pages below `offset`, which are not needed soon, to keep resident memory small. */
void input_file_drop_pages(struct input_file *f, uint64_t offset);
#define DROP_BYTES (1u << 20)		/* granularity of input_file_drop_pages() */
#define DROP_LAG_BYTES (8u << 20)	/* pages that are kept while records are sorted */

struct file_header {
	uint64_t entry_bytes;		/* size of an attr with its section of ids */
	struct section attrs, data;
	uint64_t features[4];
	bool swap, pipe;
};
/* Decodes and checks the header. `file_size` is 0 if the input is a pipe. */
int header_parse(struct file_header *h, const uint8_t *bytes, uint64_t n, uint64_t file_size,
		 struct tacho_error *e);

/* ---- compressed records ---- */
struct decompressor {
	struct ZSTD_DCtx_s *zstd;
	const uint8_t *in;		/* remaining input, within the bytes of the stream */
	size_t n_in;
	struct record_block *out;
	uint32_t at;			/* the next record in `out` */
	uint64_t offset;		/* offset of the compressed record */
	uint64_t total_in, total_out, n_records;	/* so far; bounded, see decompress.c */
	bool busy;			/* more output may be available without further input */
};

/* ---- one stream of records ---- */
struct perfdata_stream {
	struct tacho_perfdata *pd;
	struct input_file *file;
	const uint8_t *at, *end;	/* unread bytes, in the mapping or in `block` */
	const uint8_t *base;		/* offset = base_offset + (at - base) */
	uint64_t base_offset;
	struct record_block *block;		/* NULL: mapped */
	uint64_t missing;		/* bytes of data that are in the header's size but not in the file */
	uint64_t meta_end;		/* metadata records below this offset were processed already */
	uint64_t payload_left;		/* bytes after the last record that are its payload */
	bool payload_is_tracing;	/* the payload is that of TRACING_DATA */
	bool recorder_died;		/* the file ends where the recorder was killed: not an error */
	bool ended;
	bool swap;			/* other byte order than this machine's */
	uint64_t chunk_left;		/* bytes left of a chunk with wrong sizes: see decompress.c */
	uint8_t chunk_pad;
	struct decompressor zstd;
	int failed;			/* sticky; details are in `error` */
	struct tacho_error error;
};

void stream_init_mapped(struct perfdata_stream *s, struct tacho_perfdata *pd, struct input_file *f, uint64_t from,
		uint64_t to);
int stream_init_fd(struct perfdata_stream *s, struct tacho_perfdata *pd, struct input_file *f);
void stream_done(struct perfdata_stream *s);
/* Returns 1 with a record, 0 at the end, or a negative errno, which all further calls return, too. Records
 * are decompressed, payloads after records are skipped. */
int stream_next(struct perfdata_stream *s, struct tacho_record *rec);
/* Whether s->at is the start of a record that can be returned without decompression. */
static inline bool stream_at_record(const struct perfdata_stream *s)
{
	return !(s->payload_left || s->chunk_left || s->chunk_pad || s->zstd.out || s->ended);
}
/* The fast path of stream_next(): records that need no special handling. False: call stream_next(). */
static inline bool stream_next_fast(struct perfdata_stream *s, struct tacho_record *rec)
{
	bool swap = s->swap;

	if (s->end - s->at < (ptrdiff_t)RECORD_HEADER_BYTES || !stream_at_record(s))
		return false;
	rec->type = load_u32(s->at, swap);
	rec->size = load_u16(s->at + 6, swap);
	if (rec->type >= TACHO_RECORD_HEADER_ATTR || rec->size < RECORD_HEADER_BYTES ||
	    rec->size > s->end - s->at)
		return false;
	record_fill(rec, s->at, s->base_offset + (uint64_t)(s->at - s->base), swap);
	s->at += rec->size;
	return true;
}
/* Like stream_next(), but before decompression. Chunks with wrong sizes go to the decompressor and are not
 * returned. */
int stream_next_raw(struct perfdata_stream *s, struct tacho_record *rec);
int stream_fail(struct perfdata_stream *s, int code, uint64_t offset, const char *fmt, ...) printf_like(4, 5);
/* Reads until at least n <= BLOCK_CAPACITY bytes are available at s->at; false at the end of the file. */
bool stream_fill(struct perfdata_stream *s, size_t n);
/* Skips the payload after the last record. Returns 0 or a negative errno. */
int stream_skip_payload(struct perfdata_stream *s);
/* Skips n bytes and appends them to `out`, if not NULL. False: fewer bytes were left. */
bool stream_skip_bytes(struct perfdata_stream *s, uint64_t n, struct buf *out);
static inline uint64_t stream_offset(const struct perfdata_stream *s)
{
	return s->base_offset + (uint64_t)(s->at - s->base);
}

/* Starts decompressing the payload of a COMPRESSED or COMPRESSED2 record, which must stay in place until
 * decompress_next() returns 0. `n` is the length of the payload. */
int decompress_feed(struct perfdata_stream *s, const uint8_t *payload, size_t n, uint64_t offset);
int decompress_next(struct perfdata_stream *s, struct tacho_record *rec);	/* 1, 0: needs more input, or a negative errno */
bool decompress_has_partial(const struct decompressor *u);	/* part of a record is left */
void decompressor_done(struct decompressor *u, struct block_pool *pool);
/* If the record at s->at is (part of) a chunk with wrong sizes, decompresses and skips it. Returns 1, 0 if it
 * is not, or a negative errno. */
int feed_broken_chunk(struct perfdata_stream *s);

/* ---- time order within a stream ---- */
struct queued_record {
	uint64_t time;
	const uint8_t *at;
};

struct reorder_queue {
	struct queued_record *v, *spare;
	size_t n, cap, spare_cap;
	size_t head, ready, sorted;	/* [head, ready) may be returned, [head, sorted) is sorted */
	uint64_t newest, limit;		/* newest time so far; newest time before the last round */
	const uint8_t *returned;	/* the record returned last, whose block is still referenced */
	bool drained;			/* the stream has ended */
};

/* Like stream_next(), but returns the oldest record first. */
int reorder_next(struct reorder_queue *o, struct perfdata_stream *s, struct tacho_record *rec);
/* Fills in up to n records that reorder_next() will return without reading further. */
size_t reorder_peek(const struct reorder_queue *o, const struct perfdata_stream *s, struct tacho_record *out, size_t n);
/* Removes up to n records and stores pointers to them; stops at the first one that is not in a mapped file. */
size_t reorder_take_batch(struct reorder_queue *o, struct perfdata_stream *s, const uint8_t **out, size_t n);
void reorder_done(struct reorder_queue *o, struct perfdata_stream *s);
/* Stable sort by time, fast if there are few ascending runs. The first `sorted` entries are in order
 * already; `spare` has space for n. */
void sort_entries(struct queued_record *v, size_t sorted, size_t n, struct queued_record *spare);
/* The number of sorted entries that are not newer than `time`. */
size_t entries_until(const struct queued_record *v, size_t n, uint64_t time);

/* The fast path of reorder_next() for mapped files. False: call reorder_next(). */
static inline bool reorder_next_fast(struct reorder_queue *o, const struct perfdata_stream *s, struct tacho_record *rec)
{
	const struct input_file *f = s->file;
	const uint8_t *at;
	uint64_t offset;

	if (o->head == o->ready || s->block || o->returned)
		return false;
	at = o->v[o->head].at;
	offset = (uintptr_t)at - (uintptr_t)s->base;
	if (offset >= f->size || offset > f->dropped + 2ULL * DROP_LAG_BYTES)
		return false;
	o->head++;
	record_fill(rec, at, s->base_offset + offset, s->swap);
	return true;
}

/* ---- events and features ---- */
/* group_sample_weights.c: the value of a counter in the last sample that had it. */
struct counter_value {
	uint64_t id, value;
	uint32_t tid;			/* 0: the counter is not inherited */
	bool used;
};

struct counter_values {
	struct counter_value *slots;
	size_t n, cap;			/* cap is a power of two */
};

/* Offsets of the id and the time in a record: from the start of a sample, from the end of other records. */
struct record_offsets {
	uint32_t sample_id, sample_time;
	uint32_t other_id, other_time;
};
#define OFFSET_NONE (1u << 20)		/* larger than any record */
#define OFFSETS_NONE ((struct record_offsets){ OFFSET_NONE, OFFSET_NONE, OFFSET_NONE, OFFSET_NONE })
struct record_offsets record_offsets_of(const struct tacho_layout *lay);

/* The word at such an offset in a record of `size` bytes; 0 if there is none. A word is as long as the
 * header, so one comparison checks both ends. */
static inline uint64_t record_word_at(const uint8_t *at, uint32_t type, uint32_t size, uint32_t sample,
				  uint32_t other, bool swap)
{
	bool is_sample = type == TACHO_RECORD_SAMPLE;
	uint32_t from = is_sample ? sample : other;

	if (from + RECORD_HEADER_BYTES > size)
		return 0;
	return load_u64(at + (is_sample ? from : size - from), swap);
}

static inline uint64_t record_time_at(const struct record_offsets *w, const uint8_t *at, uint32_t type,
				  uint32_t size, bool swap)
{
	uint64_t time = record_word_at(at, type, size, w->sample_time, w->other_time, swap);

	return time == UINT64_MAX ? 0 : time;
}

struct feature_section {
	const uint8_t *at;
	size_t n;
	char *text;			/* if the feature is a string */
	uint64_t offset;		/* in the file or stream */
	bool present;
};

struct event_row {
	struct tacho_file_event pub;
	char *name, *unit;		/* in the arena; pub points to them */
	bool named;			/* the name is from the file, not derived from the attr */
};

struct event_slot {
	struct event_row *row;
};

struct perfdata_input {			/* a stream with its file and its reorder queue */
	struct input_file file;
	struct perfdata_stream stream;
	struct reorder_queue order;
	struct tacho_record head;	/* the next record */
	uint64_t head_time;
	int state;			/* 1: head is valid; 0: ended; negative: failed */
	bool head_loaded;
};

struct input_slot {
	struct perfdata_input *src;
};

struct tacho_perfdata {
	bool ordered;
	struct file_header header;
	struct arena arena;
	struct { struct event_slot *v; size_t n, cap; } events;
	struct int_map ids;		/* from an id to the index of its event */
	struct counter_values counted;
	uint64_t n_ids;			/* number of ids of all events; bounded by the size of the file */
	struct record_offsets offsets;	/* offsets in records of the first event; the offset of the id is
					 * valid for all events */
	bool same_time_offset;		/* the offset of the time is the same in all events */
	struct { struct record_offsets *v; size_t n, cap; } event_offsets;	/* offsets per event */
	struct feature_section features[TACHO_FEATURE_MAX];
	struct { struct input_slot *v; size_t n, cap; } sources;
	size_t current;
	struct block_pool pool;
	struct buf lead;		/* records before the data of a pipe, to be returned first */
	size_t lead_at;
	bool lead_done;
	uint64_t n_compressed, n_compressed2;	/* records that were decompressed */
	uint64_t meta_bytes;		/* total size of the metadata records so far */
	bool queue_overflowed;		/* records left the reorder queue early; the warning was given */
	struct buf warning;
	bool has_deferred_chains;	/* some attr has defer_callchain set */
	struct deferred_chains *deferred;	/* samples that wait for the user part of their chain */
	struct tacho_error damage;	/* code 0: none */
};

/* deferred_callchain.c: call chains whose user part comes in a separate record. */
int deferred_chains_next(struct tacho_perfdata *pd, struct tacho_record *rec, struct tacho_error *e);
void deferred_chains_free(struct deferred_chains *d);
/* reader.c: the next record in time order. */
int reader_next_ordered(struct tacho_perfdata *pd, struct tacho_record *rec, struct tacho_error *e);

int attrs_read(struct tacho_perfdata *pd, const struct input_file *f, struct tacho_error *e);
/* Adds an event: an attr of `n` bytes and `n_ids` ids, both in the byte order of the file. */
int attrs_add(struct tacho_perfdata *pd, const uint8_t *attr, size_t n, const uint8_t *ids,
	      uint64_t n_ids);
/* The size field of the attr; 0 if it is not between 64 and `max_bytes`. */
size_t attrs_size(const uint8_t *attr, size_t max_bytes, bool swap);
void attr_to_host(struct perf_event_attr *out, const uint8_t *attr, size_t n, bool swap);
/* "cycles", "L1-dcache-load-misses", "r1a8": a name derived from the attr alone. */
void attr_name(const struct perf_event_attr *attr, char *out, size_t size);
int record_offsets_add(struct tacho_perfdata *pd, const struct tacho_layout *lay);

/* Our writer ends a file with this text until the recording is finished. */
#define UNFINISHED "tacho: unfinished"
#define UNFINISHED_BYTES 18		/* with the NUL */
/* The end of the list of features that our writer stores directly before the data. */
#define FRONT_LIST "tacho: features"
#define FRONT_LIST_BYTES 16		/* with the NUL */
int features_read(struct tacho_perfdata *pd, const struct input_file *f);
/* Whether our writer's list of features is before the data. */
bool features_has_front_list(const struct file_header *h, const struct input_file *f);
int features_read_front(struct tacho_perfdata *pd, const struct input_file *f);
int feature_set(struct tacho_perfdata *pd, unsigned f, const uint8_t *at, size_t n);
int features_name_events(struct tacho_perfdata *pd);	/* applies EVENT_DESC, GROUP_DESC, ARCH */

/* Processes a metadata record (HEADER_ATTR, HEADER_FEATURE, EVENT_UPDATE). Returns 1, 0 for other records, or -ENOMEM. */
int pipe_take_metadata(struct tacho_perfdata *pd, const struct tacho_record *rec);
/* Reads ahead to the first data record, so that the events are known after opening. */
int pipe_read_ahead(struct tacho_perfdata *pd, struct perfdata_stream *s);
bool pipe_lead_next(struct tacho_perfdata *pd, struct tacho_record *rec);

int dir_open(struct tacho_perfdata *pd, const char *path, const struct tacho_perfdata_opts *opts,
	     struct tacho_error *e);
struct perfdata_input *input_add(struct tacho_perfdata *pd);
/* Adds to the text of tacho_perfdata_warning(). */
void add_warning(struct tacho_perfdata *pd, const char *fmt, ...) printf_like(2, 3);
/* Damage outside the records, which the last call of tacho_perfdata_next() reports. */
void add_damage(struct tacho_perfdata *pd, const char *fmt, ...) printf_like(2, 3);

/* The index of the event with this id, or -1. */
static inline int event_of_id(const struct tacho_perfdata *pd, uint64_t id)
{
	const struct int_map_slot *slot = int_map_find(&pd->ids, id);

	return slot ? (int)slot->value : -1;
}

/* The time of a record of this file, 0 if it has none. */
uint64_t record_time(const struct tacho_perfdata *pd, const struct tacho_record *rec);

#endif
