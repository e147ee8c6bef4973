/*
 * The file around the data, while it grows and when it ends.
 *
 *	header | ids | attrs | features as they were at the begin, their list |
 *	data | list of features | the rest
 *
 * The list is where readers look for it, right behind the data, so more data goes over it. Nearly
 * all of that is written behind the list first, and the next list behind that: the file is as it
 * was. Then the header forgets the features, the few bytes go over the old list, and the header
 * tells of both. A kill leaves a complete file at any moment but between these three short calls,
 * and then one that has only the list in front, which other readers do not know. The lists are
 * short, since what they list has mostly been written before.
 *
 * UNFINISHED behind it all, where nobody looks who does not know it, tells a reader of ours that
 * the recorder did not come to its end. When the disk fills up, the file is cut back to the last
 * whole record and the header still gets its size.
 *
 * Blocks of a file that has become large are asked for in advance: a write into them costs the
 * file system half as much as one that has to find room. What is too much goes at the end.
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

/* The first `n` bytes of the parts are taken from them; returns how many they had. */
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

/* Writes the parts at `at`; *put is what went there, all of it or up to a failure. */
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

/* The header goes over the one that was there; nothing of the file moves. */
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

static void reserve(struct tacho_perfdata_writer *w, uint64_t end)
{
	if (end < LARGE || end <= w->reserved)
		return;
	/* The file's size stays, so that nobody reads zeros behind what was written. */
	if (fallocate(w->fd, FALLOC_FL_KEEP_SIZE, (off_t)end, RESERVE) == 0)
		w->reserved = end + RESERVE;
	else
		w->reserved = UINT64_MAX;	/* cannot be done here, or no room */
}

/* What stands behind the data that ends at `end`. */
static void make_tail(struct tacho_perfdata_writer *w, off_t end, bool finished, struct buf *out)
{
	head_compressed(w);
	head_features(w, (uint64_t)end, out);
	if (!finished)
		buf_put(out, UNFINISHED, UNFINISHED_BYTES);
}

/* What goes over the old list; from here on the file has none, until the header tells of one. */
static int write_over(struct tacho_perfdata_writer *w, const struct buf *over)
{
	int err = w->tail_bytes ? write_header(w, false) : 0;

	return err < 0 ? err : put_at(w->fd, over, data_end(w));
}

/* The data are there, `n` bytes more, and the list. */
static int tell_data(struct tacho_perfdata_writer *w, size_t n, const struct buf *tail)
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
	size_t n = parts_bytes(parts, n_parts), n_over = min_of(n, w->tail_bytes), behind = 0;
	off_t start = data_end(w);
	int err = 0, late;

	*put = 0;
	make_tail(w, start + (off_t)n, false, &tail);
	parts_take(parts, n_parts, n_over, &over);
	if (n == n_over)		/* too short to keep clear of the old list */
		buf_put(&over, tail.bytes, tail.n);
	if (buf_failed(&tail) || buf_failed(&over))
		return -ENOMEM;
	reserve(w, (uint64_t)start + n);
	parts[n_parts] = (struct iovec){ tail.bytes, n > n_over ? tail.n : 0 };
	err = put_parts(w->fd, parts, n_parts + 1, start + (off_t)n_over, &behind);
	late = write_over(w, &over);
	if (late < 0)
		return late;
	*put = n_over + behind;
	return err < 0 ? err : tell_data(w, n, &tail);
}

/* A list without the features that only stand behind it is as good as needed: those can be missed. */
static bool is_needed(const struct tacho_perfdata_writer *w, unsigned f)
{
	return w->there[f] && (w->front[f] || f == TACHO_FEATURE_COMPRESSED);
}

size_t writer_reclaimable_bytes(const struct tacho_perfdata_writer *w)
{
	size_t n = 0;

	for (unsigned f = 0; f < TACHO_FEATURE_MAX && !w->bare; f++)
		n += is_needed(w, f) ? 16 + (w->front[f] ? 0 : w->features[f].n) : 0;
	return n;
}

/* The list at the end; where there is no room for all, a short one. */
static int write_last(struct tacho_perfdata_writer *w, struct buf *tail)
{
	int err, again;

	make_tail(w, data_end(w), true, tail);
	err = write_over(w, tail);
	if (err == 0)
		return 0;
	for (unsigned f = 0; f < TACHO_FEATURE_MAX; f++)
		w->there[f] = is_needed(w, f);
	buf_clear(tail);
	make_tail(w, data_end(w), true, tail);
	again = write_over(w, tail);
	if (again < 0)
		buf_clear(tail);
	return err;
}

int writer_append_bare(struct tacho_perfdata_writer *w, struct iovec *parts, size_t n_parts, size_t *put)
{
	int err;

	reserve(w, w->bytes + parts_bytes(parts, n_parts));
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
	/* A failed write may have left a part of a record behind the last whole one. */
	err = w->failed && ftruncate(w->fd, end) < 0 ? -errno : 0;
	if (err == 0)
		err = write_last(w, &tail);
	end += (off_t)tail.n;
	head = write_header(w, tail.n > 0);
	/* An earlier list may reach further than the last, and blocks may be left over. */
	if (ftruncate(w->fd, end) < 0 && errno != EINVAL && err == 0)
		err = -errno;
	return head < 0 ? head : err;
}
