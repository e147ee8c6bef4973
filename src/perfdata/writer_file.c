/*
 * The file around the data, while it grows and when it ends.
 *
 *	flush        header: the data has this size, no features
 *	checkpoint   the features as they are now go behind the data, then the header tells of them:
 *	             what a killed recorder leaves is complete, tracepoint formats and all
 *	more data    first the header forgets the features, then the data goes over them
 *
 * Between the last two a kill leaves a file without features, which is still good for everything
 * but the fields of tracepoints. When the disk fills up, the file is cut back to the last whole
 * record and the header still gets its size.
 *
 * Blocks of a file that has become large are asked for in advance: a write into them costs the
 * file system half as much as one that has to find room. What is too much goes at the end.
 */
#include "perfdata/writer.h"

#include <errno.h>
#include <fcntl.h>

#define DATA_SIZE_AT 48			/* where the header has the data's size */
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

int file_tell_size(struct tacho_perfdata_writer *w)
{
	return put_at(w->fd, &w->bytes, sizeof(w->bytes), DATA_SIZE_AT);
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

/* The features behind the data; where the file stands does not change. */
static int write_features(struct tacho_perfdata_writer *w, off_t *end)
{
	scoped(buf_done) struct buf out = { 0 };

	head_event_desc(w);
	head_compressed(w);
	head_features(w, (uint64_t)data_end(w), &out);
	if (buf_failed(&out))
		return -ENOMEM;
	*end = data_end(w) + (off_t)out.n;
	return put_at(w->fd, out.bytes, out.n, data_end(w));
}

/* The features are little beside the data that came since. */
bool file_worth_checkpoint(const struct tacho_perfdata_writer *w)
{
	return w->begun && !w->pipe && !w->bare && w->bytes - w->kept > 8 * w->tail_bytes;
}

int file_checkpoint(struct tacho_perfdata_writer *w)
{
	off_t end;
	bool written;

	if (w->has_tail)		/* nothing was written since */
		return 0;
	written = write_features(w, &end) == 0;
	w->kept = w->bytes;
	w->tail_bytes = written ? (uint64_t)(end - data_end(w)) : w->tail_bytes;
	/* Without room for them the header tells of the data only. */
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
		err = write_features(w, &end);
	if (err < 0)
		end = data_end(w);
	head = write_header(w, err == 0);
	/* An earlier checkpoint may reach further than the last, and blocks may be left over. */
	if (ftruncate(w->fd, end) < 0 && errno != EINVAL && err == 0)
		err = -errno;
	return head < 0 ? head : err;
}
