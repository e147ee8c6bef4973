/*
 * Builds the parts of a file around the data. Before it: header, ids, attrs, and the features known so far with
 * a list of them; after it: the list of all features and the payloads of the others. In a pipe, all of these are
 * records before the data: attrs first, because perf needs them to read the features, and then features,
 * because other readers stop at the first record that is neither.
 */
#include "perfdata/writer.h"

#include <errno.h>

#include "record/record.h"

static const char magic[8] = "PERFILE2";

static void put_attr(const struct tacho_perfdata_writer *w, const struct written_event *ev,
		     struct buf *out)
{
	struct perf_event_attr attr = ev->attr;

	attr.size = w->attr_bytes;
	buf_put(out, &attr, w->attr_bytes);
}

static void put_ids(const struct written_event *ev, struct buf *out)
{
	buf_put(out, ev->ids, ev->n_ids * sizeof(*ev->ids));
}

static void put_bits(const struct tacho_perfdata_writer *w, bool features, struct buf *out)
{
	uint64_t bits[4] = { 0 };

	for (unsigned f = 0; features && f < TACHO_FEATURE_MAX; f++)
		if (w->present[f])
			bits[f / 64] |= 1ULL << f % 64;
	buf_put(out, bits, sizeof(bits));
}

void head_header(const struct tacho_perfdata_writer *w, uint64_t data_bytes, bool features,
		 struct buf *out)
{
	uint64_t entry = w->attr_bytes + 16;

	buf_put(out, magic, sizeof(magic));
	put_u64(out, FILE_HEADER_BYTES);
	put_u64(out, entry);
	put_u64(out, w->attrs_offset);
	put_u64(out, entry * w->events.n);
	put_u64(out, w->data_offset);
	put_u64(out, data_bytes);
	put_u64(out, 0);
	put_u64(out, 0);
	put_bits(w, features, out);
}

/* This list is used by our reader if the recorder is killed while the list after the data is not valid.
 * Readers find it by its end, which is directly before the data. */
static void put_front_list(struct tacho_perfdata_writer *w, struct buf *out)
{
	buf_pad(out, 0, round_up8(out->n) - out->n);
	head_features(w, 0, out);
	put_bits(w, true, out);
	buf_put(out, FRONT_LIST, FRONT_LIST_BYTES);
}

int head_file(struct tacho_perfdata_writer *w, struct buf *out)
{
	scoped(buf_done) struct buf head = { 0 };
	uint64_t at = FILE_HEADER_BYTES;

	w->attrs_offset = at;
	for (size_t i = 0; i < w->events.n; i++)
		w->attrs_offset += w->events.v[i].n_ids * 8;
	buf_pad(out, 0, FILE_HEADER_BYTES);
	for (size_t i = 0; i < w->events.n; i++)
		put_ids(&w->events.v[i], out);
	for (size_t i = 0; i < w->events.n; i++) {
		put_attr(w, &w->events.v[i], out);
		put_u64(out, at);
		put_u64(out, w->events.v[i].n_ids * 8);
		at += w->events.v[i].n_ids * 8;
	}
	for (unsigned f = 0; f < TACHO_FEATURE_MAX; f++) {
		if (!w->present[f])
			continue;
		w->front[f] = out->n;
		buf_str(out, buf_view(&w->features[f]));
	}
	put_front_list(w, out);
	w->data_offset = out->n;
	head_header(w, 0, false, &head);
	if (buf_failed(&head) || buf_failed(out))
		return -ENOMEM;
	memcpy(out->bytes, head.bytes, head.n);
	return 0;
}

int head_event_desc(struct tacho_perfdata_writer *w)
{
	struct buf b = { 0 };
	int err;

	put_u32(&b, (uint32_t)w->events.n);
	put_u32(&b, w->attr_bytes);
	for (size_t i = 0; i < w->events.n; i++) {
		const struct written_event *ev = &w->events.v[i];

		put_attr(w, ev, &b);
		put_u32(&b, (uint32_t)ev->n_ids);
		put_string(&b, str_of(ev->name));
		put_ids(ev, &b);
	}
	err = writer_set_feature(w, TACHO_FEATURE_EVENT_DESC, &b);
	buf_done(&b);
	return err;
}

/* u32 version, type (1: zstd), level, ratio, and the maximal decompressed size of a record. */
void head_compressed(struct tacho_perfdata_writer *w)
{
	struct buf b = { 0 };

	if (!w->level)
		return;
	put_u32(&b, 0);
	put_u32(&b, 1);
	put_u32(&b, (uint32_t)w->level);
	put_u32(&b, w->n_packed ? (uint32_t)((w->n_raw + w->n_packed / 2) / w->n_packed) : 0);
	put_u32(&b, COMPRESS_SLICE);
	writer_set_feature(w, TACHO_FEATURE_COMPRESSED, &b);
	buf_done(&b);
}

void head_features(struct tacho_perfdata_writer *w, uint64_t offset, struct buf *out)
{
	for (unsigned f = 0; f < TACHO_FEATURE_MAX; f++)
		offset += w->present[f] ? 16 : 0;
	for (unsigned f = 0; f < TACHO_FEATURE_MAX; f++) {
		if (!w->present[f])
			continue;
		put_u64(out, w->front[f] ? w->front[f] : offset);
		put_u64(out, w->features[f].n);
		offset += w->front[f] ? 0 : w->features[f].n;
	}
	for (unsigned f = 0; f < TACHO_FEATURE_MAX; f++)
		if (w->present[f] && !w->front[f])
			buf_str(out, buf_view(&w->features[f]));
}

static int pipe_attr(const struct tacho_perfdata_writer *w, const struct written_event *ev,
		     struct buf *out, struct tacho_error *e)
{
	size_t n = RECORD_HEADER_BYTES + w->attr_bytes + 8 * ev->n_ids;

	if (n > RECORD_MAX)
		return error_set(e, -E2BIG, "event '%s' has %zu ids, but a pipe can only store %zu", ev->name,
				 ev->n_ids,
				 (RECORD_MAX - RECORD_HEADER_BYTES - (size_t)w->attr_bytes) / 8);
	put_header(out, TACHO_RECORD_HEADER_ATTR, 0, n);
	put_attr(w, ev, out);
	put_ids(ev, out);
	return 0;
}

/* perf reads EVENT_DESC only from files; in a pipe it derives names from the attrs ("cpu-clock:HG") unless there
 * is an EVENT_UPDATE record. */
static void pipe_name(const struct written_event *ev, struct buf *out)
{
	size_t n_name = strlen(ev->name), n = RECORD_HEADER_BYTES + 16 + round_up8(n_name + 1);

	if (!ev->n_ids || n > RECORD_MAX)
		return;
	put_header(out, TACHO_RECORD_EVENT_UPDATE, 0, n);
	put_u64(out, PIPE_UPDATE_NAME);
	put_u64(out, ev->ids[0]);
	buf_put(out, ev->name, n_name);
	buf_pad(out, 0, n - RECORD_HEADER_BYTES - 16 - n_name);
}

/* TRACING_DATA and BUILD_ID have their own record types. A payload that is too long for a record is omitted. */
static void pipe_feature(const struct tacho_perfdata_writer *w, unsigned f, struct buf *out)
{
	const struct buf *b = &w->features[f];
	size_t n = RECORD_HEADER_BYTES + 8 + round_up8(b->n);

	if (!w->present[f] || f == TACHO_FEATURE_TRACING_DATA || f == TACHO_FEATURE_BUILD_ID ||
	    n > RECORD_MAX)
		return;
	put_header(out, TACHO_RECORD_HEADER_FEATURE, 0, n);
	put_u64(out, f);
	buf_str(out, buf_view(b));
	buf_pad(out, 0, n - RECORD_HEADER_BYTES - 8 - b->n);
}

/* The older form of the record, with 12 bytes, because hotspot supports only this. */
static void pipe_tracing(const struct tacho_perfdata_writer *w, struct buf *out)
{
	const struct buf *b = &w->features[TACHO_FEATURE_TRACING_DATA];

	if (!w->present[TACHO_FEATURE_TRACING_DATA])
		return;
	put_header(out, TACHO_RECORD_TRACING_DATA, 0, RECORD_HEADER_BYTES + 4);
	put_u32(out, (uint32_t)round_up8(b->n));
	buf_str(out, buf_view(b));
	buf_pad(out, 0, round_up8(b->n) - b->n);
}

/* The entries of BUILD_ID are records, but perf sets their type to 0, and their size need not be a multiple of
 * eight. */
static void pipe_build_ids(const struct tacho_perfdata_writer *w, struct buf *out)
{
	const struct buf *b = &w->features[TACHO_FEATURE_BUILD_ID];
	size_t size;

	for (size_t at = 0; at + RECORD_HEADER_BYTES <= b->n; at += size) {
		size = load_u16(b->bytes + at + 6, false);
		if (size < RECORD_HEADER_BYTES || size > b->n - at)
			return;
		put_header(out, TACHO_RECORD_BUILD_ID, load_u16(b->bytes + at + 4, false),
			   round_up8(size));
		buf_put(out, b->bytes + at + RECORD_HEADER_BYTES, size - RECORD_HEADER_BYTES);
		buf_pad(out, 0, round_up8(size) - size);
	}
}

int head_pipe(struct tacho_perfdata_writer *w, struct buf *out, struct tacho_error *e)
{
	buf_put(out, magic, sizeof(magic));
	put_u64(out, PIPE_HEADER_BYTES);
	for (size_t i = 0; i < w->events.n; i++) {
		int err = pipe_attr(w, &w->events.v[i], out, e);

		if (err < 0)
			return err;
	}
	head_compressed(w);
	for (unsigned f = 0; f < TACHO_FEATURE_MAX; f++)
		pipe_feature(w, f, out);
	for (size_t i = 0; i < w->events.n; i++)
		pipe_name(&w->events.v[i], out);
	pipe_tracing(w, out);
	pipe_build_ids(w, out);
	return 0;
}
