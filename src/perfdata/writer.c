/*
 * Writing perf.data:
 *
 *	file:  header | ids | attrs | features, their list | data ... | list of features, more of them
 *	pipe:  header | attrs, features as records | data ...
 *
 * The header of a file is updated after each write of data, so that the file is valid at any moment; see
 * writer_file.c. Before the first write, its data size is 0, which readers interpret as a killed recorder;
 * they then read all complete records.
 */
#include "perfdata/writer.h"

#include <errno.h>
#include <zstd.h>

#include "base/io.h"
#include "base/sized_opts.h"

#define WAIT_BYTES (64u << 10)
#define NAME_MAX_BYTES 4000

int tacho_writer_open(struct tacho_perfdata_writer **out, int fd,
		      const struct tacho_writer_opts *opts, struct tacho_error *e)
{
	struct tacho_writer_opts o;
	struct tacho_perfdata_writer *w;
	int err = opts_copy(&o, sizeof(o), opts, e);

	if (err < 0)
		return err;
	if (o.compress_level < 0 || o.compress_level > ZSTD_maxCLevel())
		return error_set(e, -EINVAL, "the compression level must be between 1 and %d, not %d",
				 ZSTD_maxCLevel(), o.compress_level);
	w = calloc(1, sizeof(*w));
	if (!w)
		return error_nomem(e);
	w->fd = fd;
	w->pipe = o.pipe;
	w->bare = o.bare;
	w->level = o.compress_level;
	if (w->level) {
		w->zstd = ZSTD_createCCtx();
		if (!w->zstd) {
			free(w);
			return error_nomem(e);
		}
		ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, w->level);
	}
	*out = w;
	return 0;
}

void tacho_writer_free(struct tacho_perfdata_writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->events.n; i++) {
		free(w->events.v[i].name);
		free(w->events.v[i].ids);
	}
	vec_done(&w->events);
	for (size_t i = 0; i < TACHO_FEATURE_MAX; i++)
		buf_done(&w->features[i]);
	buf_done(&w->waiting);
	buf_done(&w->packed);
	ZSTD_freeCCtx(w->zstd);
	free(w);
}

int tacho_writer_event(struct tacho_perfdata_writer *w, const char *name, const void *attr,
		       size_t size, const uint64_t *ids, size_t n_ids)
{
	const uint8_t *bytes = attr;
	struct written_event *ev;

	if (w->begun)
		return -EBUSY;
	if (!attr || size < PERF_ATTR_SIZE_VER0 || !name || strlen(name) > NAME_MAX_BYTES || n_ids > UINT32_MAX || (n_ids && !ids))
		return -EINVAL;
	for (size_t i = sizeof(ev->attr); i < size; i++)
		if (bytes[i])
			return -E2BIG;
	ev = vec_add(&w->events);
	if (!ev)
		return -ENOMEM;
	memcpy(&ev->attr, attr, min_of(size, sizeof(ev->attr)));
	ev->name = str_dup(str_of(name));
	ev->ids = malloc(n_ids * sizeof(*ids) + 1);
	if (!ev->name || !ev->ids) {
		free(ev->name);
		free(ev->ids);
		w->events.n--;
		return -ENOMEM;
	}
	if (n_ids)
		memcpy(ev->ids, ids, n_ids * sizeof(*ids));
	ev->n_ids = n_ids;
	return 0;
}

bool writer_features_closed(const struct tacho_perfdata_writer *w)
{
	return w->finished || (w->pipe && w->begun);
}

int writer_set_feature(struct tacho_perfdata_writer *w, enum tacho_feature f, struct buf *b)
{
	if (buf_failed(b))
		return -ENOMEM;
	if (writer_features_closed(w))
		return -EBUSY;
	buf_done(&w->features[f]);
	w->features[f] = *b;
	w->present[f] = true;
	w->front[f] = 0;
	w->stale = true;
	*b = (struct buf){ 0 };
	return 0;
}

int tacho_writer_feature(struct tacho_perfdata_writer *w, enum tacho_feature f,
			 const void *payload, size_t n)
{
	struct buf b = { 0 };
	int err;

	if ((unsigned)f == 0 || (unsigned)f >= TACHO_FEATURE_MAX || (n && !payload))
		return -EINVAL;
	if (f == TACHO_FEATURE_EVENT_DESC || f == TACHO_FEATURE_COMPRESSED)
		return writer_features_closed(w) ? -EBUSY : 0;	/* the writer generates these features */
	buf_put(&b, payload, n);
	err = writer_set_feature(w, f, &b);
	buf_done(&b);
	return err;
}

static int write_failed(struct tacho_perfdata_writer *w, int err, struct tacho_error *e)
{
	w->failed = err;
	error_set(e, err, "cannot write the data: %s", strerror(-err));
	if (err == -ENOSPC)
		error_hint(e, "the data written before that can be read");
	return err;
}

int tacho_writer_begin(struct tacho_perfdata_writer *w, struct tacho_error *e)
{
	scoped(buf_done) struct buf head = { 0 };
	int err;

	if (w->begun)
		return 0;
	if (w->bare) {
		w->begun = true;
		return 0;
	}
	if (w->events.n == 0)
		return error_set(e, -EINVAL, "no event was added to the recording");
	w->attr_bytes = PERF_ATTR_SIZE_VER7;
	for (size_t i = 0; i < w->events.n; i++) {
		const struct perf_event_attr *a = &w->events.v[i].attr;

		w->attr_bytes = max_of(w->attr_bytes, a->config4 ? PERF_ATTR_SIZE_VER9 :
						      a->config3 ? PERF_ATTR_SIZE_VER8 : 0u);
	}
	err = head_event_desc(w);
	if (err == 0)
		err = w->pipe ? head_pipe(w, &head, e) : head_file(w, &head);
	if (err < 0 && err != -ENOMEM)
		return err;
	if (err < 0 || buf_failed(&head))
		return error_nomem(e);
	err = io_write_all(w->fd, head.bytes, head.n);
	if (err < 0)
		return write_failed(w, err, e);
	w->begun = true;
	return 0;
}

/* The number of bytes that belong to complete records, if `n` bytes of the parts were written. */
static size_t complete_record_bytes(const struct iovec *parts, size_t n)
{
	size_t complete = 0;

	for (size_t i = 0; i < FILE_PARTS; i++) {
		size_t written = min_of(n, parts[i].iov_len), at = 0;

		for (uint64_t size = 1; size && at < written; at += size)
			size = writer_record_bytes((const uint8_t *)parts[i].iov_base + at, written - at);
		complete += at;
		if (at < parts[i].iov_len)
			break;
		n -= written;
	}
	return complete;
}

static int write_pipe(struct tacho_perfdata_writer *w, const struct iovec *parts)
{
	int err = 0;

	for (size_t i = 0; i < FILE_PARTS && err == 0; i++) {
		err = io_write_all(w->fd, parts[i].iov_base, parts[i].iov_len);
		w->bytes += err == 0 ? parts[i].iov_len : 0;
	}
	return err;
}

/* Compresses the records of all parts; the result replaces the first part. */
static int compress_parts(struct tacho_perfdata_writer *w, struct iovec *parts)
{
	int err = 0;

	buf_clear(&w->packed);
	for (size_t i = 0; i < FILE_PARTS && err == 0; i++)
		err = parts[i].iov_len ? compress_records(w, parts[i].iov_base, parts[i].iov_len) : 0;
	parts[0] = (struct iovec){ w->packed.bytes, w->packed.n };
	parts[1] = (struct iovec){ 0 };
	return err;
}

/* Writes the waiting records and `n` more bytes. */
static int write_records(struct tacho_perfdata_writer *w, const void *bytes, size_t n,
		     struct tacho_error *e)
{
	struct iovec parts[FILE_PARTS] = { { w->waiting.bytes, w->waiting.n }, { (void *)bytes, n } };
	struct iovec used[FILE_PARTS + 1];
	size_t put = 0;
	int err;

	if (w->level) {
		err = compress_parts(w, parts);
		if (err < 0) {		/* the compressor's state cannot be restored */
			w->failed = err;
			return error_set(e, err, "cannot compress the data: %s", strerror(-err));
		}
	}
	memcpy(used, parts, sizeof(parts));
	err = w->pipe ? write_pipe(w, parts) :
	      w->bare ? writer_append_bare(w, used, FILE_PARTS, &put) :
			writer_append_data(w, used, FILE_PARTS, &put);
	if (err < 0)
		w->bytes += complete_record_bytes(parts, put - min_of(put, writer_reclaimable_bytes(w)));
	buf_clear(&w->waiting);		/* not before, because parts[0] points to it */
	return err < 0 ? write_failed(w, err, e) : 0;
}

static int write_waiting(struct tacho_perfdata_writer *w, struct tacho_error *e)
{
	if (w->failed)
		return write_failed(w, w->failed, e);
	return w->waiting.n ? write_records(w, NULL, 0, e) : 0;
}

int tacho_writer_flush(struct tacho_perfdata_writer *w, struct tacho_error *e)
{
	struct iovec none[1];
	size_t put;
	int err = write_waiting(w, e);

	if (err == 0 && w->stale && w->bytes && !w->pipe && !w->bare && !w->finished)
		err = writer_append_data(w, none, 0, &put);
	return err < 0 && !w->failed ? write_failed(w, err, e) : err;
}

int tacho_writer_records(struct tacho_perfdata_writer *w, const void *bytes, size_t n,
			 struct tacho_error *e)
{
	if (!w->begun || w->finished)
		return error_set(e, -EINVAL, "records can only be written between begin and finish");
	if (w->failed)
		return write_failed(w, w->failed, e);
	if (w->waiting.n + n < WAIT_BYTES) {
		buf_put(&w->waiting, bytes, n);
		return buf_failed(&w->waiting) ? error_nomem(e) : 0;
	}
	return write_records(w, bytes, n, e);
}

uint64_t tacho_writer_bytes(const struct tacho_perfdata_writer *w)
{
	return w->bytes + w->waiting.n;
}

int tacho_writer_finish(struct tacho_perfdata_writer *w, struct tacho_error *e)
{
	scoped(buf_done) struct buf round = { 0 };
	int err, first;

	if (w->finished)
		return 0;
	first = tacho_writer_begin(w, e);
	if (first < 0)
		return first;
	/* An empty data section would mean that the recorder was killed. */
	if (!w->failed && !w->bare && w->bytes == 0 && w->waiting.n == 0) {
		put_header(&round, TACHO_RECORD_FINISHED_ROUND, 0, RECORD_HEADER_BYTES);
		first = buf_failed(&round) ? error_nomem(e) :
					     tacho_writer_records(w, round.bytes, round.n, e);
	}
	if (first == 0)
		first = write_waiting(w, e);
	err = w->pipe ? 0 : writer_finish_file(w);
	w->finished = true;
	if (first < 0 || err == 0)
		return first;
	return error_set(e, err, "cannot finish the file: %s", strerror(-err));
}
