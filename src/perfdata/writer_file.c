/*
 * Keeps the file valid while data is appended, and completes it at the end.
 *
 *	header | ids | attrs | features known at the begin, list of these |
 *	data | list of all features | payloads of the others, UNFINISHED mark
 *
 * Readers expect the list of features (the tail) directly after the data, so appended data overwrites it. To
 * keep the file valid, nearly all of the new data is written after the old tail first, followed by the new
 * tail. Then three short calls: the header is rewritten without features, the first few bytes of the data
 * overwrite the old tail, and the header is rewritten with the new size and the features. If the recorder is
 * killed, the file is complete, except between these three calls; then it has only the list before the data,
 * which other readers do not know. The tails are short, because most payloads are before the data.
 *
 * The UNFINISHED mark, which other readers ignore, shows our reader that the recorder was killed. When the
 * disk is full, the file is truncated after the last complete record and the header gets its size.
 *
 * Once the file is large, blocks are allocated in advance: writing into allocated blocks costs the file system
 * half as much. Unused blocks are released at the end.
 */
#include "perfdata/writer.h"

#include <errno.h>
#include <fcntl.h>

#define LARGE (2u << 20)
#define RESERVE (16u << 20)

static off_t data_end(const struct tacho_perfdata_writer *w)
{
	return (off_t)(w->data_offset + w->bytes);
}

/* Removes the first `n` bytes from the parts, appending them to `out` if not NULL; returns how many there were. */
static size_t parts_take(struct iovec *parts, size_t n_parts, size_t n, struct buf *out)
{
	size_t taken = 0;

	for (size_t i = 0; i < n_parts && taken < n; i++) {
		size_t part = min_of(n - taken, parts[i].iov_len);

		if (part == 0)
			continue;
		if (out)
			buf_put(out, parts[i].iov_base, part);
		parts[i].iov_base = (char *)parts[i].iov_base + part;
		parts[i].iov_len -= part;
		taken += part;
	}
	return taken;
}

static size_t parts_bytes(const struct iovec *parts, size_t n_parts)
{
	size_t n = 0;

	for (size_t i = 0; i < n_parts; i++)
		n += parts[i].iov_len;
	return n;
}

/* Writes the parts at offset `at`; *put is the number of bytes written, also after a failure. */
static int put_parts(int fd, struct iovec *parts, size_t n_parts, off_t at, size_t *put)
{
	for (*put = 0; parts_bytes(parts, n_parts);) {
		ssize_t n = pwritev(fd, parts, (int)n_parts, at + (off_t)*put);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		*put += parts_take(parts, n_parts, (size_t)n, NULL);
	}
	return 0;
}

static int put_at(int fd, const struct buf *b, off_t at)
{
	struct iovec part = { b->bytes, b->n };
	size_t put;

	return buf_failed(b) ? -ENOMEM : put_parts(fd, &part, 1, at, &put);
}

/* Overwrites the header in place. */
static int write_header(struct tacho_perfdata_writer *w, bool features)
{
	scoped(buf_done) struct buf head = { 0 };
	int err;

	head_header(w, w->bytes, features, &head);
	err = put_at(w->fd, &head, 0);
	if (err == 0 && !features)
		w->tail_bytes = 0;
	return err;
}

static void preallocate(struct tacho_perfdata_writer *w, uint64_t end)
{
	if (end < LARGE || end <= w->reserved)
		return;
	/* KEEP_SIZE: readers must not see zeros after the written data. */
	if (fallocate(w->fd, FALLOC_FL_KEEP_SIZE, (off_t)end, RESERVE) == 0)
		w->reserved = end + RESERVE;
	else
		w->reserved = UINT64_MAX;	/* not supported by the file system, or disk full */
}

/* Builds the bytes after the data, which ends at offset `end`. */
static void make_tail(struct tacho_perfdata_writer *w, off_t end, bool finished, struct buf *out)
{
	head_compressed(w);
	head_features(w, (uint64_t)end, out);
	if (!finished)
		buf_put(out, UNFINISHED, UNFINISHED_BYTES);
}

/* Overwrites the old tail. From here on the header lists no features, until it is rewritten. */
static int overwrite_tail(struct tacho_perfdata_writer *w, const struct buf *over)
{
	int err = w->tail_bytes ? write_header(w, false) : 0;

	return err < 0 ? err : put_at(w->fd, over, data_end(w));
}

/* Updates the header after `n` bytes of data and a new tail have been written. */
static int commit_data(struct tacho_perfdata_writer *w, size_t n, const struct buf *tail)
{
	int err;

	w->bytes += n;
	err = write_header(w, true);
	if (err < 0) {
		w->bytes -= n;
		return err;
	}
	w->tail_bytes = tail->n;
	w->stale = false;
	return 0;
}

int writer_append_data(struct tacho_perfdata_writer *w, struct iovec *parts, size_t n_parts, size_t *put)
{
	scoped(buf_done) struct buf over = { 0 }, tail = { 0 };
	size_t n = parts_bytes(parts, n_parts), n_over = min_of(n, w->tail_bytes), n_after = 0;
	off_t start = data_end(w);
	int err = 0, late;

	*put = 0;
	make_tail(w, start + (off_t)n, false, &tail);
	parts_take(parts, n_parts, n_over, &over);
	if (n == n_over)		/* the new tail would overlap the old one */
		buf_put(&over, tail.bytes, tail.n);
	if (buf_failed(&tail) || buf_failed(&over))
		return -ENOMEM;
	preallocate(w, (uint64_t)start + n);
	parts[n_parts] = (struct iovec){ tail.bytes, n > n_over ? tail.n : 0 };
	err = put_parts(w->fd, parts, n_parts + 1, start + (off_t)n_over, &n_after);
	late = overwrite_tail(w, &over);
	if (late < 0)
		return late;
	*put = n_over + n_after;
	return err < 0 ? err : commit_data(w, n, &tail);
}

/* Whether a feature must stay if the disk is full. Features whose payload is after the data can be
 * omitted. */
static bool is_needed(const struct tacho_perfdata_writer *w, unsigned f)
{
	return w->present[f] && (w->front[f] || f == TACHO_FEATURE_COMPRESSED);
}

size_t writer_reclaimable_bytes(const struct tacho_perfdata_writer *w)
{
	size_t n = 0;

	for (unsigned f = 0; f < TACHO_FEATURE_MAX && !w->bare; f++)
		n += is_needed(w, f) ? 16 + (w->front[f] ? 0 : w->features[f].n) : 0;
	return n;
}

/* Writes the final tail; if the disk is full, one with only the needed features. */
static int write_final_tail(struct tacho_perfdata_writer *w, struct buf *tail)
{
	int err, again;

	make_tail(w, data_end(w), true, tail);
	err = overwrite_tail(w, tail);
	if (err == 0)
		return 0;
	for (unsigned f = 0; f < TACHO_FEATURE_MAX; f++)
		w->present[f] = is_needed(w, f);
	buf_clear(tail);
	make_tail(w, data_end(w), true, tail);
	again = overwrite_tail(w, tail);
	if (again < 0)
		buf_clear(tail);
	return err;
}

int writer_append_bare(struct tacho_perfdata_writer *w, struct iovec *parts, size_t n_parts, size_t *put)
{
	int err;

	preallocate(w, w->bytes + parts_bytes(parts, n_parts));
	err = put_parts(w->fd, parts, n_parts, data_end(w), put);
	w->bytes += err == 0 ? *put : 0;
	return err;
}

int writer_finish_file(struct tacho_perfdata_writer *w)
{
	scoped(buf_done) struct buf tail = { 0 };
	off_t end = data_end(w);
	int err, head;

	if (w->bare)
		return ftruncate(w->fd, end) < 0 && errno != EINVAL ? -errno : 0;
	/* A failed write may have left an incomplete record. */
	err = w->failed && ftruncate(w->fd, end) < 0 ? -errno : 0;
	if (err == 0)
		err = write_final_tail(w, &tail);
	end += (off_t)tail.n;
	head = write_header(w, tail.n > 0);
	/* An earlier tail may have been longer, and preallocated blocks may be left. */
	if (ftruncate(w->fd, end) < 0 && errno != EINVAL && err == 0)
		err = -errno;
	return head < 0 ? head : err;
}
