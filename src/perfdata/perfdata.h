/*
 * The room's own picture of an opened perf.data:
 *
 *	file (map or descriptor) -> stream (records, decompressed) -> order (by time) -> next()
 *
 * A plain file is one stream; a directory is one per file in it. Records of a mapped file are
 * views into the map. All others live in blocks: aligned pieces of memory that are counted per
 * record waiting in them, so that nothing is ever copied to be sorted.
 */
#ifndef PERFDATA_PERFDATA_H
#define PERFDATA_PERFDATA_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "record/perf_abi.h"
#include "base/vec.h"
#include "record/cursor.h"
#include "record/record.h"

#include <tacho/perfdata.h>

#define FILE_HEADER_BYTES 104
#define PIPE_HEADER_BYTES 16
enum { PIPE_UPDATE_UNIT, PIPE_UPDATE_SCALE, PIPE_UPDATE_NAME };	/* what an EVENT_UPDATE tells */
#define FEATURES_AT 72			/* the bitmap's place in the header */
#define RECORD_MAX 65535
#define EVENTS_MAX (1u << 18)
#define META_MAX (256u << 20)		/* records about the file, all together */
#define BLOCK_BYTES (512u << 10)	/* and their alignment; holds eight of the largest records */

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
	struct record_block *next;		/* in the list of free ones */
	uint32_t refs;			/* the stream's own, and one per record that waits */
	uint32_t n;			/* bytes in use */
	uint64_t offset;		/* in the stream: of bytes[0], or of what it was made from */
	uint8_t bytes[];
};
#define BLOCK_CAPACITY (BLOCK_BYTES - sizeof(struct record_block))

struct block_pool {
	struct record_block *free;
	size_t n_free;
	size_t n;			/* in use: what ordering may not let grow */
};

struct record_block *block_new(struct block_pool *pool);	/* one reference; NULL without memory */
void block_unref(struct block_pool *pool, struct record_block *b);
void block_pool_done(struct block_pool *pool);

static inline struct record_block *block_of(const uint8_t *at)
{
	return (struct record_block *)(at - ((uintptr_t)at & (BLOCK_BYTES - 1)));
}

/* ---- one file's bytes ---- */
struct input_file {
	char *path;
	int fd;				/* -1: none */
	const uint8_t *map;		/* NULL: read in pieces */
	uint64_t size;			/* of the map */
	uint64_t dropped;		/* bytes at its start that were given back to the kernel */
	uint64_t mtime_s;
};

/* -EINVAL for what is there and is no file: a FIFO in a directory would be waited for without end. */
int check_regular_file(const char *path, struct tacho_error *e);
int input_file_open(struct input_file *f, const char *path, const struct tacho_perfdata_opts *opts,
	      struct tacho_error *e);
void input_file_close(struct input_file *f);
/* Nothing below `offset` is looked at any more (or soon): keep resident memory small. */
void input_file_drop_pages(struct input_file *f, uint64_t offset);
#define DROP_BYTES (32u << 20)		/* it does so in pieces of this size */

struct file_header {
	uint64_t entry_bytes;		/* an attr and its section of ids */
	struct section attrs, data;
	uint64_t features[4];
	bool swap, pipe;
};
/* Decides what kind of file it is and checks what it claims. */
/* `file_size` 0: a pipe. */
int header_parse(struct file_header *h, const uint8_t *bytes, uint64_t n, uint64_t file_size,
		 struct tacho_error *e);

/* ---- compressed records ---- */
struct decompressor {
	struct ZSTD_DCtx_s *zstd;
	const uint8_t *in;		/* what is still to be fed, inside the stream's bytes */
	size_t n_in;
	struct record_block *out;
	uint32_t at;			/* the next record in `out` */
	uint64_t offset;		/* of the record that is being unpacked */
	bool busy;			/* there may be more to take out without further input */
};

/* ---- one stream of records ---- */
struct record_stream {
	struct tacho_perfdata *pd;
	struct input_file *file;
	const uint8_t *at, *end;	/* unread bytes, in the map or in `block` */
	const uint8_t *base;		/* offset = base_offset + (at - base) */
	uint64_t base_offset;
	struct record_block *block;		/* NULL: mapped */
	uint64_t cut;			/* bytes that the header promised and the file has not */
	uint64_t meta_end;		/* records below were taken notice of already */
	uint64_t skip;			/* bytes behind the last record that are no records */
	bool skip_is_trace;		/* and are TRACING_DATA */
	bool died;			/* the end is where the recorder died: no error there */
	bool ended;
	bool swap;			/* the other byte order */
	uint64_t chunk_left;		/* of a chunk written by the broken writer: see compress.c */
	uint8_t chunk_pad;
	struct decompressor unpack;
	int failed;			/* sticky; `error` says why */
	struct tacho_error error;
};

void stream_init_mapped(struct record_stream *s, struct tacho_perfdata *pd, struct input_file *f, uint64_t from,
		uint64_t to);
int stream_init_fd(struct record_stream *s, struct tacho_perfdata *pd, struct input_file *f);
void stream_done(struct record_stream *s);
/* 1, 0, or a negative errno that stays. Decompressed; out-of-line payloads are passed over. */
int stream_next(struct record_stream *s, struct tacho_record *rec);
/* Records lie at s->at as they are, one behind the other. */
static inline bool stream_is_plain(const struct record_stream *s)
{
	return !(s->skip || s->chunk_left || s->chunk_pad || s->unpack.out || s->ended);
}
/* The same as stream_next(), for nearly all records of nearly all files; false: ask that one. */
static inline bool stream_next_fast(struct record_stream *s, struct tacho_record *rec)
{
	bool swap = s->swap;

	if (s->end - s->at < (ptrdiff_t)RECORD_HEADER_BYTES || !stream_is_plain(s))
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
/* The same, before decompression; broken chunks are fed to the unpacker and not returned. */
int stream_next_raw(struct record_stream *s, struct tacho_record *rec);
int stream_fail(struct record_stream *s, int code, uint64_t offset, const char *fmt, ...) printf_like(4, 5);
/* At least n bytes at s->at, or false at the end; n is at most BLOCK_CAPACITY. */
bool stream_fill(struct record_stream *s, size_t n);
/* Passes over what lies behind the last record and is none. 0 or failed. */
int stream_skip_payload(struct record_stream *s);
/* Passes over n bytes; false when there are fewer. `out`, when given, gets them appended. */
bool stream_skip(struct record_stream *s, uint64_t n, struct buf *out);
static inline uint64_t stream_offset(const struct record_stream *s)
{
	return s->base_offset + (uint64_t)(s->at - s->base);
}

/* Takes the payload of a record 81 or 83, which stays where it is until decompress_next() returns
 * 0. `n` is the payload's length. */
int decompress_feed(struct record_stream *s, const uint8_t *payload, size_t n, uint64_t offset);
int decompress_next(struct record_stream *s, struct tacho_record *rec);	/* 1, 0: feed more, or failed */
bool decompress_has_partial(const struct decompressor *u);			/* a record is half there */
void decompressor_done(struct decompressor *u, struct block_pool *pool);
/* The chunk at s->at is one of those with a wrong size (or a part of it): feeds its payload and
 * passes over it. 1, 0 when it is not, or failed. */
int feed_broken_chunk(struct record_stream *s);

/* ---- time order within a stream ---- */
struct queued_record {
	uint64_t time;
	const uint8_t *at;
};

struct reorder_queue {
	struct queued_record *v, *spare;
	size_t n, cap, spare_cap;
	size_t head, ready, sorted;	/* [head, ready) may be delivered, [head, sorted) is sorted */
	uint64_t newest, limit;		/* of all seen; of all seen before the last round */
	const uint8_t *given;		/* keeps the block of the record delivered last */
	bool drained;			/* the stream has ended */
};

/* As stream_next(), oldest first. */
int reorder_next(struct reorder_queue *o, struct record_stream *s, struct tacho_record *rec);
/* Up to n of those that reorder_next() will give without reading on. */
size_t reorder_peek(const struct reorder_queue *o, const struct record_stream *s, struct tacho_record *out, size_t n);
/* The same, given as they lie in the mapped file, where they stay; those that do not end it. */
size_t reorder_take_batch(struct reorder_queue *o, struct record_stream *s, const uint8_t **out, size_t n);
void reorder_done(struct reorder_queue *o, struct record_stream *s);
/* Sorts by time, stable, fast on a few ascending runs. The first `sorted` are in order already;
 * `spare` has room for n. */
void sort_entries(struct queued_record *v, size_t sorted, size_t n, struct queued_record *spare);
/* How many of the sorted entries are not newer than `time`. */
size_t entries_until(const struct queued_record *v, size_t n, uint64_t time);

/* What reorder_next() does for nearly all records of a mapped file; false: ask that one. */
static inline bool reorder_next_fast(struct reorder_queue *o, const struct record_stream *s, struct tacho_record *rec)
{
	const struct input_file *f = s->file;
	const uint8_t *at;
	uint64_t offset;

	if (o->head == o->ready || s->block || o->given)
		return false;
	at = o->v[o->head].at;
	offset = (uintptr_t)at - (uintptr_t)s->base;
	if (offset >= f->size || offset > f->dropped + 2ULL * DROP_BYTES)
		return false;
	o->head++;
	record_fill(rec, at, s->base_offset + offset, s->swap);
	return true;
}

/* ---- events and features ---- */
struct event_id_slot {
	uint64_t id;
	uint32_t event;			/* index + 1; 0: free */
};

struct event_id_map {
	struct event_id_slot *slots;
	size_t n, cap;			/* cap is a power of two */
};

int event_id_put(struct event_id_map *t, uint64_t id, uint32_t event);
int event_id_get(const struct event_id_map *t, uint64_t id);		/* -1: not there */

/* counted.c: a counter's value in the last sample that had it. */
struct counter_value {
	uint64_t id, value;
	uint32_t tid;			/* 0: of all threads */
	bool used;
};

struct counter_values {
	struct counter_value *slots;
	size_t n, cap;			/* cap is a power of two */
};

/* Where the id and the time of a record are: bytes from its start, and from its end. */
struct record_offsets {
	uint32_t sample_id, sample_time;
	uint32_t other_id, other_time;
};
#define OFFSET_NONE (1u << 20)		/* further than any record is long */
#define OFFSETS_NONE ((struct record_offsets){ OFFSET_NONE, OFFSET_NONE, OFFSET_NONE, OFFSET_NONE })
struct record_offsets record_offsets_of(const struct tacho_layout *lay);

/* The word at one of these places in a record of `size` bytes; 0 where there is none. A word is as
 * long as the header: one comparison keeps it clear of either end. */
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
	char *text;			/* of those that are a string */
	uint64_t offset;		/* in the file or stream */
	bool there;
};

struct event_row {
	struct tacho_file_event pub;
	char *name, *unit;		/* in the arena; what pub points to */
	bool named;			/* by the file rather than by its attr */
};

struct event_slot {
	struct event_row *row;
};

struct input {				/* a stream with its file and its order */
	struct input_file file;
	struct record_stream stream;
	struct reorder_queue order;
	struct tacho_record head;	/* the oldest of this stream */
	uint64_t head_time;
	int state;			/* 1: head is there; 0: ended; negative: failed */
	bool primed;
};

struct input_slot {
	struct input *src;
};

struct tacho_perfdata {
	bool ordered;
	struct file_header header;
	struct arena arena;
	struct { struct event_slot *v; size_t n, cap; } events;
	struct event_id_map ids;
	struct counter_values counted;
	uint64_t n_ids;			/* of all events: bounded by what the file can hold */
	struct record_offsets where;		/* of the first event: all others must agree on ids */
	bool where_same;		/* times lie at the same place in all of them */
	struct { struct record_offsets *v; size_t n, cap; } wheres;	/* per event, where not */
	struct feature_section features[TACHO_FEATURE_MAX];
	struct { struct input_slot *v; size_t n, cap; } sources;
	size_t current;
	struct block_pool pool;
	struct buf lead;		/* what a pipe said before its data, to be returned first */
	size_t lead_at;
	bool lead_done;
	uint64_t meta_bytes;		/* of records that were taken notice of */
	bool crowded;			/* ordering had to let records go early, and told it */
	struct buf warning;
	bool defers;			/* some attr says that chains come in two parts */
	struct deferred_chains *defer;		/* samples that wait for the rest of theirs */
	struct tacho_error damage;	/* code 0: none */
};

/* defer.c: call chains whose user part comes in a record of its own. */
int deferred_chains_next(struct tacho_perfdata *pd, struct tacho_record *rec, struct tacho_error *e);
void deferred_chains_free(struct deferred_chains *d);
/* reader.c: the next record in the order of time. */
int reader_next_ordered(struct tacho_perfdata *pd, struct tacho_record *rec, struct tacho_error *e);

int attrs_read(struct tacho_perfdata *pd, const struct input_file *f, struct tacho_error *e);
/* One event from `n` bytes of attr in file order and `n_ids` ids behind. */
int attrs_add(struct tacho_perfdata *pd, const uint8_t *attr, size_t n, const uint8_t *ids,
	      uint64_t n_ids);
/* Its size field, checked against the room it has: 64 to `room`; 0 when it cannot be. */
size_t attrs_size(const uint8_t *attr, size_t room, bool swap);
void attr_to_host(struct perf_event_attr *out, const uint8_t *attr, size_t n, bool swap);
/* "cycles", "L1-dcache-load-misses", "r1a8": the best that an attr alone can add_warning. */
void attr_name(const struct perf_event_attr *attr, char *out, size_t size);
int record_offsets_add(struct tacho_perfdata *pd, const struct tacho_layout *lay);

/* Ours ends a file with this as long as it is not finished. */
#define UNFINISHED "tacho: unfinished"
#define UNFINISHED_BYTES 18		/* with the zero */
/* Right before the data: what a list of features, and their bits before it, end with. */
#define FRONT_LIST "tacho: features"
#define FRONT_LIST_BYTES 16		/* with the zero */
int features_read(struct tacho_perfdata *pd, const struct input_file *f);
int features_read_front(struct tacho_perfdata *pd, const struct input_file *f);
int feature_set(struct tacho_perfdata *pd, unsigned f, const uint8_t *at, size_t n);
int features_name_events(struct tacho_perfdata *pd);	/* EVENT_DESC, GROUP_DESC, ARCH */

/* Records that describe the rest. Returns 1 when it was one, 0 when not, -ENOMEM. */
int pipe_take_metadata(struct tacho_perfdata *pd, const struct tacho_record *rec);
/* Reads ahead up to the first record that is data, so that events are known after opening. */
int pipe_read_ahead(struct tacho_perfdata *pd, struct record_stream *s);
bool pipe_lead_next(struct tacho_perfdata *pd, struct tacho_record *rec);

int dir_open(struct tacho_perfdata *pd, const char *path, const struct tacho_perfdata_opts *opts,
	     struct tacho_error *e);
struct input *input_add(struct tacho_perfdata *pd);
void add_warning(struct tacho_perfdata *pd, const char *fmt, ...) printf_like(2, 3);
/* Something outside the records is damaged: told by the last call of next. */
void add_damage(struct tacho_perfdata *pd, const char *fmt, ...) printf_like(2, 3);

/* The time of a record in this file, 0 where it has none. */
uint64_t record_time(const struct tacho_perfdata *pd, const struct tacho_record *rec);

#endif
