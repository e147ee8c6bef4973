/*
 * Builds the payloads of features from values that the caller passes.
 */
#include "perfdata/writer.h"

#include <errno.h>
#include <time.h>

#define BUILD_ID_BYTES 20
#define BUILD_ID_HEAD (RECORD_HEADER_BYTES + 4 + 24)	/* header, pid, id with its length */
#define MISC_BUILD_ID_SIZE (1u << 15)

static size_t padded(size_t n)
{
	return (n + NAME_PAD - 1) / NAME_PAD * NAME_PAD;
}

void put_string(struct buf *b, struct str s)
{
	size_t n = padded(s.n + 1);

	put_u32(b, (uint32_t)n);
	buf_str(b, s);
	buf_pad(b, 0, n - s.n);
}

int tacho_writer_string(struct tacho_perfdata_writer *w, enum tacho_feature f, const char *text)
{
	scoped(buf_done) struct buf b = { 0 };

	if ((unsigned)f == 0 || (unsigned)f >= TACHO_FEATURE_MAX || !text)
		return -EINVAL;
	put_string(&b, str_of(text));
	return writer_set_feature(w, f, &b);
}

int tacho_writer_cmdline(struct tacho_perfdata_writer *w, const char *const *argv, size_t n)
{
	scoped(buf_done) struct buf b = { 0 };

	put_u32(&b, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		put_string(&b, str_of(argv[i]));
	return writer_set_feature(w, TACHO_FEATURE_CMDLINE, &b);
}

int tacho_writer_sample_time(struct tacho_perfdata_writer *w, uint64_t first_ns, uint64_t last_ns)
{
	scoped(buf_done) struct buf b = { 0 };

	put_u64(&b, first_ns);
	put_u64(&b, last_ns);
	return writer_set_feature(w, TACHO_FEATURE_SAMPLE_TIME, &b);
}

/* Appends an entry to the payload of a feature. If `counted`, the payload starts with the number of entries. */
static int append_entry(struct tacho_perfdata_writer *w, enum tacho_feature f, struct buf *entry,
		  bool counted)
{
	scoped(buf_done) struct buf b = { 0 };
	const struct buf *old = &w->features[f];
	uint32_t n = 0;

	if (counted) {
		if (w->present[f])
			memcpy(&n, old->bytes, sizeof(n));
		put_u32(&b, n + 1);
	}
	if (w->present[f])
		buf_put(&b, old->bytes + (counted ? sizeof(n) : 0),
			old->n - (counted ? sizeof(n) : 0));
	buf_str(&b, buf_view(entry));
	if (buf_failed(entry))
		return -ENOMEM;
	return writer_set_feature(w, f, &b);
}

int tacho_writer_group(struct tacho_perfdata_writer *w, const char *name, uint32_t leader,
		       uint32_t n)
{
	scoped(buf_done) struct buf entry = { 0 };

	if (!name || leader >= w->events.n || n < 2 || n > w->events.n - leader)
		return -EINVAL;
	put_string(&entry, str_of(name));
	put_u32(&entry, leader);
	put_u32(&entry, n);
	return append_entry(w, TACHO_FEATURE_GROUP_DESC, &entry, true);
}

/* An entry of BUILD_ID is a complete record, which is written to a pipe unchanged. perf 7.2 requires its size
 * to be a multiple of eight there. */
int tacho_writer_build_id(struct tacho_perfdata_writer *w, uint16_t misc, int32_t pid,
			  const void *id, size_t n, const char *path)
{
	scoped(buf_done) struct buf entry = { 0 };
	size_t path_n = path ? strlen(path) : 0, size = round_up8(BUILD_ID_HEAD + path_n + 1);

	if (!id || n == 0 || n > BUILD_ID_BYTES || path_n == 0 || path_n > 4096)
		return -EINVAL;
	put_header(&entry, TACHO_RECORD_BUILD_ID, misc | MISC_BUILD_ID_SIZE, size);
	put_u32(&entry, (uint32_t)pid);
	buf_put(&entry, id, n);
	buf_pad(&entry, 0, BUILD_ID_BYTES - n);
	buf_putc(&entry, (char)n);
	buf_pad(&entry, 0, 3);
	buf_put(&entry, path, path_n);
	buf_pad(&entry, 0, size - BUILD_ID_HEAD - path_n);
	if (buf_failed(&entry))
		return -ENOMEM;
	if (w->pipe && w->begun)
		return tacho_writer_records(w, entry.bytes, entry.n, NULL);
	return append_entry(w, TACHO_FEATURE_BUILD_ID, &entry, false);
}

static uint64_t nanoseconds(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * 1000000000u + (uint64_t)ts->tv_nsec;
}

/* CLOCKID is the resolution of the clock; CLOCK_DATA is a version, the clock id, and the same moment in wall clock
 * time and in this clock. */
int tacho_writer_clock(struct tacho_perfdata_writer *w, int clockid)
{
	struct timespec res, wall, now;
	struct buf b = { 0 };
	int err;

	if (clock_getres(clockid, &res) < 0 || clock_gettime(clockid, &now) < 0 ||
	    clock_gettime(CLOCK_REALTIME, &wall) < 0)
		return -errno;
	put_u64(&b, nanoseconds(&res));
	err = writer_set_feature(w, TACHO_FEATURE_CLOCKID, &b);
	if (err == 0) {
		put_u32(&b, 1);
		put_u32(&b, (uint32_t)clockid);
		put_u64(&b, nanoseconds(&wall));
		put_u64(&b, nanoseconds(&now));
		err = writer_set_feature(w, TACHO_FEATURE_CLOCK_DATA, &b);
	}
	buf_done(&b);
	return err;
}
