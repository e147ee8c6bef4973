/*
 * The file around the data, while it grows and when it ends.
 *
 *	header | ids | attrs | features as they were at the begin | data | list of features | the rest
 *
 * The list is where readers look for it, right behind the data, so more data goes over it: the
 * header forgets the features, the data is written, the list behind it, and the header tells of
 * both. A kill leaves a complete file at any moment but between these few calls, and then one that
 * lacks its features. The list is short, since what it lists has mostly been written before.
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

static int put_at(int fd, const void *bytes, size_t n, off_t at)
{
	while (n) {
		ssize_t put = pwrite(fd, bytes, n, at);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put < 0 ? -errno : -EIO;
		bytes = (const char *)bytes + put;
		n -= (size_t)put;
		at += put;
	}
	return 0;
}

/* The header goes over the one that was there; nothing of the file moves. */
static int write_header(struct tacho_perfdata_writer *w, bool features)
{
	scoped(buf_done) struct buf head = { 0 };
	int err;

	head_header(w, w->bytes, features, &head);
	if (buf_failed(&head))
		return -ENOMEM;
	err = put_at(w->fd, head.bytes, head.n, 0);
	if (err == 0)
		w->has_tail = features;
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

int file_ready(struct tacho_perfdata_writer *w, size_t n)
{
	reserve(w, w->data_offset + w->bytes + n);
	return w->has_tail ? write_header(w, false) : 0;
}

/* What is behind the data; where the file stands does not change. */
static int write_tail(struct tacho_perfdata_writer *w, bool finished, off_t *end)
{
	scoped(buf_done) struct buf out = { 0 };

	head_compressed(w);
	head_features(w, (uint64_t)data_end(w), &out);
	if (!finished)
		buf_put(&out, UNFINISHED, UNFINISHED_BYTES);
	if (buf_failed(&out))
		return -ENOMEM;
	*end = data_end(w) + (off_t)out.n;
	return put_at(w->fd, out.bytes, out.n, data_end(w));
}

int file_complete(struct tacho_perfdata_writer *w)
{
	off_t end;

	bool written = write_tail(w, false, &end) == 0;

	w->stale = false;
	/* Without room for it the header tells of the data only. */
	return write_header(w, written);
}

int file_finish(struct tacho_perfdata_writer *w)
{
	off_t end = data_end(w);
	int err, head;

	if (w->bare)
		return ftruncate(w->fd, end) < 0 && errno != EINVAL ? -errno : 0;
	/* A failed write may have left a part of a record behind the last whole one. */
	err = w->failed && ftruncate(w->fd, end) < 0 ? -errno : 0;
	if (err == 0)
		err = write_tail(w, true, &end);
	if (err < 0)
		end = data_end(w);
	head = write_header(w, err == 0);
	/* An earlier list may reach further than the last, and blocks may be left over. */
	if (ftruncate(w->fd, end) < 0 && errno != EINVAL && err == 0)
		err = -errno;
	return head < 0 ? head : err;
}
