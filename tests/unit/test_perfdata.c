/*
 * perf.data, written and read back; order, compression, payloads behind records, and damage: files
 * cut at many places and with bytes changed at random must be read up to the damage and no further,
 * without a crash, a leak or an endless loop.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/io.h"
#include "perfdata/perfdata.h"

#define SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
		     PERF_SAMPLE_RAW)

static const struct perf_event_attr attr = {
	.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .sample_period = 1,
	.sample_type = SAMPLE_TYPE, .flags = PERF_ATTR_SAMPLE_ID_ALL,
};
static const uint64_t first_ids[] = { 11, 12 }, second_ids[] = { 21 };

struct place {			/* a file in memory, with a name to open it by */
	int fd;
	char path[64];
};

static struct place place_new(void)
{
	struct place p = { .fd = memfd_create("perfdata", MFD_CLOEXEC) };

	assert_true(p.fd >= 0);
	snprintf(p.path, sizeof(p.path), "/proc/self/fd/%d", p.fd);
	return p;
}

static struct place place_with(const void *bytes, size_t n)
{
	struct place p = place_new();

	assert_int_equal(io_write_all(p.fd, bytes, n), 0);
	return p;
}

static struct buf place_read(struct place p)
{
	struct buf b = { 0 };

	assert_int_equal(io_read(p.path, 1u << 30, &b), 0);
	return b;
}

/* Where the data begins, as the header has it. */
static uint64_t data_offset(const struct buf *file)
{
	uint64_t at = 0;

	assert_true(file->n > 48);
	memcpy(&at, file->bytes + 40, sizeof(at));
	return at;
}

static uint64_t first_in(struct place p)
{
	struct buf file = place_read(p);
	uint64_t at = data_offset(&file);

	buf_done(&file);
	return at;
}

static void put(struct buf *b, const void *v, size_t n)
{
	buf_put(b, v, n);
}

static void put_record(struct buf *b, uint32_t type, size_t body)
{
	uint16_t rest[2] = { 2, (uint16_t)(8 + body) };

	put(b, &type, 4);
	put(b, rest, 4);
}

/* A sample with `n_raw` bytes that do not compress. */
static void put_sample(struct buf *b, uint64_t id, uint64_t time, uint32_t n_raw)
{
	static uint64_t seed = 88172645463325252ULL;
	uint64_t ip = 0x400000 + time;
	uint32_t pid[2] = { 7, 7 };

	put_record(b, TACHO_RECORD_SAMPLE, 32 + 4 + n_raw);
	put(b, &id, 8);
	put(b, &ip, 8);
	put(b, pid, 8);
	put(b, &time, 8);
	put(b, &n_raw, 4);
	for (uint32_t i = 0; i < n_raw; i++) {
		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		buf_putc(b, (char)seed);
	}
}

static void put_round(struct buf *b)
{
	put_record(b, TACHO_RECORD_FINISHED_ROUND, 0);
}

static struct tacho_perfdata_writer *writer_on(int fd, bool pipe, int level)
{
	struct tacho_perfdata_writer *w;

	assert_int_equal(tacho_writer_open(&w, fd, TACHO_OPTS(tacho_writer_opts, .pipe = pipe,
							       .compress_level = level), NULL), 0);
	assert_int_equal(tacho_writer_event(w, "cpu-clock", &attr, sizeof(attr), first_ids, 2), 0);
	assert_int_equal(tacho_writer_event(w, "task-clock", &attr, 64, second_ids, 1), 0);
	return w;
}

static void write_all(int fd, bool pipe, int level, const struct buf *data)
{
	struct tacho_perfdata_writer *w = writer_on(fd, pipe, level);
	struct tacho_error e = { 0 };

	assert_int_equal(tacho_writer_string(w, TACHO_FEATURE_HOSTNAME, "here"), 0);
	assert_int_equal(tacho_writer_group(w, "{g}", 0, 2), 0);
	assert_int_equal(tacho_writer_begin(w, &e), 0);
	assert_int_equal(tacho_writer_records(w, data->bytes, data->n, &e), 0);
	assert_int_equal(tacho_writer_finish(w, &e), 0);
	tacho_writer_free(w);
}

struct seen {
	uint64_t times[20000];
	size_t n, n_all;
	uint64_t first_offset;
	int err;
	struct tacho_error e;
};

static struct seen seen;
static size_t n_predicted;		/* records that tacho_perfdata_ahead() gave before they came */

/* A peeked record is the next one that is returned. */
struct predicted {
	struct tacho_record recs[5];
	size_t n, at;
};

static void check_predicted(struct predicted *f, const struct tacho_perfdata *pd,
			   const struct tacho_record *rec)
{
	if (f->at < f->n) {
		const struct tacho_record *said = &f->recs[f->at++];

		assert_ptr_equal(said->bytes, rec->bytes);
		assert_int_equal(said->type, rec->type);
		assert_int_equal(said->misc, rec->misc);
		assert_int_equal(said->size, rec->size);
		assert_int_equal(said->offset, rec->offset);
		assert_int_equal(said->swapped, rec->swapped);
		n_predicted++;
	}
	if (f->at == f->n) {
		f->n = tacho_perfdata_ahead(pd, f->recs, countof(f->recs));
		f->at = 0;
		assert_true(f->n <= countof(f->recs));
	}
}

/* Reads everything; times of samples are kept in the order they came in. */
static void read_path(const char *path, bool ordered)
{
	struct tacho_file_facts facts = { .size = sizeof(facts) };
	struct predicted expected_next = { .n = 0 };
	struct tacho_perfdata *pd;
	struct tacho_record rec;
	uint64_t position = 0;

	n_predicted = 0;
	memset(&seen, 0, sizeof(seen));
	seen.err = tacho_perfdata_open(&pd, path,
				       TACHO_OPTS(tacho_perfdata_opts, .ordered = ordered), &seen.e);
	if (seen.err < 0)
		return;
	while ((seen.err = tacho_perfdata_next(pd, &rec, &seen.e)) > 0) {
		int event = tacho_perfdata_event_of(pd, &rec);

		assert_true(tacho_perfdata_position(pd) >= position);
		position = tacho_perfdata_position(pd);
		seen.n_all++;
		check_predicted(&expected_next, pd, &rec);
		if (rec.type != TACHO_RECORD_SAMPLE || event < 0)
			continue;
		if (seen.n == 0)
			seen.first_offset = rec.offset;
		if (seen.n < countof(seen.times))
			seen.times[seen.n++] = tacho_record_time(
				&rec, &tacho_perfdata_event(pd, (size_t)event)->layout);
	}
	tacho_perfdata_facts(pd, &facts);
	if (seen.err == 0 && facts.data_size && facts.data_offset + facts.data_size <= facts.file_size)
		assert_int_equal(tacho_perfdata_position(pd), facts.data_offset + facts.data_size);
	assert_int_equal(expected_next.at, expected_next.n);
	assert_true(ordered || n_predicted == 0);
	/* A failure stays. */
	assert_int_equal(tacho_perfdata_next(pd, &rec, NULL), seen.err);
	tacho_perfdata_close(pd);
}

static void assert_times(const uint64_t *want, size_t n)
{
	assert_int_equal(seen.err, 0);
	assert_int_equal(seen.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(seen.times[i], want[i]);
}

static void round_trip(void **state)
{
	static const uint64_t times[] = { 5, 3, 9 };
	struct buf data = { 0 };
	struct tacho_perfdata *pd;
	struct tacho_file_facts facts = { .size = sizeof(facts) };

	put_sample(&data, 11, 5, 12);
	put_sample(&data, 21, 3, 4);
	put_sample(&data, 12, 9, 100);
	for (int level = 0; level < 4; level += 3) {
		for (int pipe = 0; pipe < 2; pipe++) {
			struct place p = place_new();

			write_all(p.fd, pipe, level, &data);
			read_path(p.path, false);
			assert_times(times, 3);
			assert_int_equal(tacho_perfdata_open(&pd, p.path, NULL, NULL), 0);
			assert_int_equal(tacho_perfdata_n_events(pd), 2);
			assert_string_equal(tacho_perfdata_event(pd, 1)->name, "task-clock");
			assert_int_equal(tacho_perfdata_event(pd, 0)->attr_size, 128);
			assert_int_equal(tacho_perfdata_event(pd, 0)->n_ids, 2);
			assert_int_equal(tacho_perfdata_event(pd, 1)->group_size, 2);
			assert_int_equal(tacho_perfdata_event(pd, 1)->leader, 0);
			assert_null(tacho_perfdata_event(pd, 2));
			assert_string_equal(tacho_perfdata_string(pd, TACHO_FEATURE_HOSTNAME), "here");
			assert_null(tacho_perfdata_string(pd, TACHO_FEATURE_ARCH));
			assert_int_equal(tacho_perfdata_is_pipe(pd), pipe);
			assert_int_equal(tacho_perfdata_facts(pd, &facts), 0);
			assert_true(facts.file_size > data.n / 2);
			assert_null(tacho_perfdata_warning(pd));
			tacho_perfdata_close(pd);
			close(p.fd);
		}
	}
	buf_done(&data);
}

static void a_real_pipe(void **state)
{
	static const uint64_t times[] = { 3, 5, 9 };
	struct buf data = { 0 };
	char path[64];
	int fds[2];

	put_sample(&data, 11, 5, 12);
	put_sample(&data, 21, 3, 4);
	put_round(&data);
	put_sample(&data, 12, 9, 100);
	for (int level = 0; level < 2; level++) {
		assert_int_equal(pipe(fds), 0);
		write_all(fds[1], true, level, &data);
		close(fds[1]);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
		read_path(path, true);
		assert_times(times, 3);
		close(fds[0]);
	}
	buf_done(&data);
}

/* Rounds: at each mark what is not newer than all before the last mark may leave. */
static void in_order(void **state)
{
	static const uint64_t input[] = { 10, 30, 20, 40, 0, 35, 45, 41, 0, 50, 44, 60, 0, 55 };
	static const uint64_t want[] = { 10, 20, 30, 35, 40, 41, 44, 45, 50, 55, 60 };

	for (int rounds = 0; rounds < 2; rounds++) {
		for (int kind = 0; kind < 4; kind++) {
			struct buf data = { 0 };
			struct place p = place_new();

			for (size_t i = 0; i < countof(input); i++) {
				if (input[i])
					put_sample(&data, i % 2 ? 11 : 21, input[i], 4);
				else if (rounds)
					put_round(&data);
			}
			write_all(p.fd, kind & 1, kind & 2, &data);
			read_path(p.path, true);
			assert_times(want, countof(want));
			assert_true(kind & 2 || kind & 1 || seen.first_offset == first_in(p));
			close(p.fd);
			buf_done(&data);
		}
	}
}

/* Equal times leave in the order of the file. */
static void stable(void **state)
{
	struct buf data = { 0 };
	struct place p = place_new();
	struct tacho_perfdata *pd;
	struct tacho_record rec;
	uint64_t last = 0, last_time = 0;

	for (uint64_t i = 0; i < 5000; i++)
		put_sample(&data, 11, 1 + (i * 7919) % 13, 4);
	write_all(p.fd, false, 0, &data);
	assert_int_equal(tacho_perfdata_open(&pd, p.path,
					     TACHO_OPTS(tacho_perfdata_opts, .ordered = true), NULL), 0);
	while (tacho_perfdata_next(pd, &rec, NULL) > 0) {
		uint64_t time = tacho_record_time(&rec, &tacho_perfdata_event(pd, 0)->layout);

		assert_true(time > last_time || (time == last_time && rec.offset > last));
		last = rec.offset;
		last_time = time;
	}
	assert_int_equal(last_time, 13);
	tacho_perfdata_close(pd);
	close(p.fd);
	buf_done(&data);
}

/* Records of all lengths, some megabytes: blocks are filled, carried over and given back. */
static void large_and_compressed(void **state)
{
	static uint64_t want[6000];
	struct buf data = { 0 };

	for (uint32_t i = 0; i < countof(want); i++) {
		put_sample(&data, 11, want[i] = i + 1, i * 37 % 2000);
		if (i % 500 == 499)
			put_round(&data);
	}
	for (int kind = 0; kind < 4; kind++) {
		struct place p = place_new();

		write_all(p.fd, kind & 1, kind & 2 ? 1 : 0, &data);
		read_path(p.path, false);
		assert_times(want, countof(want));
		read_path(p.path, true);
		assert_times(want, countof(want));
		assert_true(n_predicted > countof(want) / 2);
		close(p.fd);
	}
	buf_done(&data);
}

/* As perf 7 writes them: COMPRESSED2, the length of the payload in the record, aligned. Readers count them. */
static void compressed_records(void **state)
{
	struct place p = place_new();
	struct buf data = { 0 }, file;
	struct tacho_perfdata *pd;
	struct tacho_record rec;
	unsigned n = 0;

	for (uint32_t i = 0; i < 300; i++)
		put_sample(&data, 11, i + 1, 1000);
	write_all(p.fd, false, 1, &data);
	file = place_read(p);
	for (size_t at = data_offset(&file), size; at + 16 <= file.n && load_u32((const uint8_t *)file.bytes + at, false) ==
	     TACHO_RECORD_COMPRESSED2; at += size, n++) {
		uint64_t payload = load_u64((const uint8_t *)file.bytes + at + 8, false);

		size = load_u16((const uint8_t *)file.bytes + at + 6, false);
		assert_int_equal(at % 8, data_offset(&file) % 8);
		assert_int_equal(size % 8, 0);
		assert_true(payload > 0 && payload <= size - 16 && payload > size - 24);
	}
	assert_true(n >= 2);
	assert_int_equal(tacho_perfdata_open(&pd, p.path, NULL, NULL), 0);
	while (tacho_perfdata_next(pd, &rec, NULL) > 0)
		;
	assert_int_equal(tacho_perfdata_n_compressed(pd, TACHO_RECORD_COMPRESSED2), n);
	assert_int_equal(tacho_perfdata_n_compressed(pd, TACHO_RECORD_COMPRESSED), 0);
	tacho_perfdata_close(pd);
	close(p.fd);
	buf_done(&data);
	buf_done(&file);
}

/* A chunk as perf 6.16 to 7.1 writes it when it needs several records 83. */
static void put_broken_chunk(struct buf *out, ZSTD_CCtx *z, const struct buf *data)
{
	ZSTD_inBuffer in = { data->bytes, data->n, 0 };
	size_t start = out->n, left;
	uint64_t noise = 0xfeedfacecafebeefULL, total;
	uint16_t size;

	do {
		static char bytes[65519];
		ZSTD_outBuffer o = { bytes, sizeof(bytes), 0 };

		left = ZSTD_compressStream2(z, &o, &in, ZSTD_e_flush);
		put_record(out, TACHO_RECORD_COMPRESSED2, 8 + o.pos);
		put(out, &noise, 8);
		put(out, bytes, o.pos);
	} while (left);
	total = out->n - start;
	assert_true(total > 65535);
	size = (uint16_t)round_up8(total);
	memcpy(out->bytes + start + 6, &size, 2);
	total -= 16;
	memcpy(out->bytes + start + 8, &total, 8);
}

static void broken_chunks(void **state)
{
	static uint64_t want[900];
	ZSTD_CCtx *z = ZSTD_createCCtx();
	struct buf data[3] = { 0 }, all = { 0 };

	for (uint32_t i = 0; i < countof(want); i++)
		put_sample(&data[i / 300], 11, want[i] = i + 1, 1000);
	for (int padded = 0; padded < 2; padded++) {
		buf_clear(&all);
		ZSTD_CCtx_reset(z, ZSTD_reset_session_only);
		for (int k = 0; k < 3; k++) {
			size_t start = all.n;

			put_broken_chunk(&all, z, &data[k]);
			if (padded)
				buf_pad(&all, 0, round_up8(all.n - start) - (all.n - start));
			put_round(&all);
		}
		for (int pipe = 0; pipe < 2; pipe++) {
			struct place p = place_new();

			write_all(p.fd, pipe, 0, &all);
			read_path(p.path, pipe);
			assert_times(want, countof(want));
			close(p.fd);
		}
	}
	for (int k = 0; k < 3; k++)
		buf_done(&data[k]);
	buf_done(&all);
	ZSTD_freeCCtx(z);
}

/* Record 71 has a payload behind it that looks like anything. */
static void aux_payload(void **state)
{
	static const uint64_t times[] = { 1, 2 };
	uint64_t body[5] = { 0 };
	struct buf data = { 0 };

	for (int pass = 0; pass < 2; pass++) {
		struct place p = place_new();

		buf_clear(&data);
		put_sample(&data, 11, 1, 4);
		body[0] = pass ? 1ULL << 40 : 700000;
		put_record(&data, TACHO_RECORD_AUXTRACE, sizeof(body));
		put(&data, body, sizeof(body));
		buf_pad(&data, (char)0xff, 700000);
		put_sample(&data, 11, 2, 4);
		write_all(p.fd, true, 0, &data);
		read_path(p.path, false);
		if (pass == 0)
			assert_times(times, 2);
		else
			assert_int_equal(seen.err, -ENODATA);
		assert_int_equal(seen.times[0], 1);
		close(p.fd);
	}
	buf_done(&data);
}

static void empty_data(void **state)
{
	struct buf data = { 0 };
	struct place p = place_new();

	buf_put(&data, "", 0);
	write_all(p.fd, false, 0, &data);
	read_path(p.path, true);
	assert_int_equal(seen.err, 0);
	assert_int_equal(seen.n_all, 1);
	close(p.fd);
	buf_done(&data);
}

/* The writer makes the names of events and the description of the compression itself, also if those of another file are
 * copied before or after. */
static void own_features_are_not_copied(void **state)
{
	static const enum tacho_feature own[] = { TACHO_FEATURE_EVENT_DESC, TACHO_FEATURE_COMPRESSED };
	struct place p = place_new();
	struct tacho_perfdata_writer *w;
	struct tacho_perfdata *pd;
	size_t n = 0;

	assert_int_equal(tacho_writer_open(&w, p.fd, NULL, NULL), 0);
	assert_int_equal(tacho_writer_event(w, "mine", &attr, 64, NULL, 0), 0);
	for (size_t i = 0; i < countof(own); i++)
		assert_int_equal(tacho_writer_feature(w, own[i], "others", 7), 0);
	assert_int_equal(tacho_writer_begin(w, NULL), 0);
	for (size_t i = 0; i < countof(own); i++)
		assert_int_equal(tacho_writer_feature(w, own[i], "others", 7), 0);
	assert_int_equal(tacho_writer_finish(w, NULL), 0);
	tacho_writer_free(w);
	assert_int_equal(tacho_perfdata_open(&pd, p.path, NULL, NULL), 0);
	assert_null(tacho_perfdata_feature(pd, TACHO_FEATURE_COMPRESSED, &n));
	assert_string_equal(tacho_perfdata_event(pd, 0)->name, "mine");
	tacho_perfdata_close(pd);
	close(p.fd);
}

static void writer_refuses(void **state)
{
	struct place p = place_new();
	struct tacho_perfdata_writer *w;
	struct tacho_error e = { 0 };
	uint64_t few[1000] = { 0 }, *many = calloc(9000, 8);
	struct { struct perf_event_attr attr; uint64_t later; } newer = { .attr = attr };

	assert_int_equal(tacho_writer_open(&w, p.fd, TACHO_OPTS(tacho_writer_opts,
								 .compress_level = 99), &e), -EINVAL);
	assert_int_equal(tacho_writer_open(&w, p.fd, NULL, &e), 0);
	assert_int_equal(tacho_writer_begin(w, &e), -EINVAL);
	assert_string_equal(e.message, "no event was added to the recording");
	assert_int_equal(tacho_writer_event(w, "x", &attr, 63, NULL, 0), -EINVAL);
	assert_int_equal(tacho_writer_event(w, NULL, &attr, 64, NULL, 0), -EINVAL);
	assert_int_equal(tacho_writer_event(w, "x", &newer, sizeof(newer), NULL, 0), 0);
	newer.later = 1;
	assert_int_equal(tacho_writer_event(w, "x", &newer, sizeof(newer), NULL, 0), -E2BIG);
	assert_int_equal(tacho_writer_event(w, "x", &attr, 64, few, 1000), 0);
	assert_int_equal(tacho_writer_event(w, "x", &attr, 64, NULL, 1), -EINVAL);
	assert_int_equal(tacho_writer_feature(w, 0, "", 0), -EINVAL);
	assert_int_equal(tacho_writer_feature(w, TACHO_FEATURE_HOSTNAME, NULL, 4), -EINVAL);
	assert_int_equal(tacho_writer_build_id(w, 2, -1, "", 21, "x"), -EINVAL);
	assert_int_equal(tacho_writer_records(w, "", 0, &e), -EINVAL);
	assert_int_equal(tacho_writer_begin(w, &e), 0);
	assert_int_equal(tacho_writer_event(w, "x", &attr, 64, NULL, 0), -EBUSY);
	tacho_writer_free(w);
	w = writer_on(p.fd, true, 0);
	assert_non_null(many);
	assert_int_equal(tacho_writer_event(w, "many", &attr, 64, many, 9000), 0);
	assert_int_equal(tacho_writer_begin(w, &e), -E2BIG);
	tacho_writer_free(w);
	free(many);
	close(p.fd);
}

/* RLIMIT_FSIZE simulates a full disk: complete records stay and are read. */
static void file_size_limit(void **state)
{
	struct tacho_perfdata *pd;
	struct rlimit limit, old;
	struct buf data = { 0 };
	int err = 0;

	put_sample(&data, 11, 7, 1000);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	for (int level = 0; level < 2; level++) {
		struct place p = place_new();
		struct tacho_perfdata_writer *w = writer_on(p.fd, false, level);

		assert_int_equal(tacho_writer_string(w, TACHO_FEATURE_HOSTNAME, "here"), 0);
		assert_int_equal(tacho_writer_begin(w, NULL), 0);
		limit = old;
		limit.rlim_cur = 300000;
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		for (int i = 0; i < 10000 && err == 0; i++) {
			buf_clear(&data);
			put_sample(&data, 11, 7, 1000);
			err = tacho_writer_records(w, data.bytes, data.n, NULL);
		}
		assert_int_equal(err, -EFBIG);
		assert_int_equal(tacho_writer_finish(w, NULL), -EFBIG);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		tacho_writer_free(w);
		read_path(p.path, false);
		assert_int_equal(seen.err, 0);
		assert_true(seen.n > 100 && seen.n < 400);
		/* There was room for the list, and it is not the one in front. */
		assert_int_equal(tacho_perfdata_open(&pd, p.path, NULL, NULL), 0);
		assert_string_equal(tacho_perfdata_string(pd, TACHO_FEATURE_HOSTNAME), "here");
		assert_null(tacho_perfdata_warning(pd));
		tacho_perfdata_close(pd);
		close(p.fd);
		err = 0;
	}
	buf_done(&data);
}

/* /dev/full takes nothing at all. */
static void disk_full(void **state)
{
	scoped(closep) int fd = open("/dev/full", O_RDWR | O_CLOEXEC);
	struct tacho_perfdata_writer *w = writer_on(fd, false, 0);
	struct tacho_error e = { 0 };

	assert_int_equal(tacho_writer_begin(w, &e), -ENOSPC);
	assert_non_null(strstr(e.message, "No space left"));
	tacho_writer_free(w);
}

static struct buf small_file(bool pipe, int level)
{
	struct buf data = { 0 }, file;
	struct place p = place_new();

	for (uint32_t i = 0; i < 200; i++) {
		put_sample(&data, i % 3 ? 11 : 21, 1 + (i * 31) % 50 + i / 50 * 60, i % 90);
		if (i % 50 == 49)
			put_round(&data);
	}
	write_all(p.fd, pipe, level, &data);
	file = place_read(p);
	close(p.fd);
	buf_done(&data);
	return file;
}

static void check_damaged(const void *bytes, size_t n)
{
	struct place p = place_with(bytes, n);

	for (int ordered = 0; ordered < 2; ordered++) {
		read_path(p.path, ordered);
		assert_true(seen.err <= 0);
		assert_true(seen.err == 0 || seen.e.message[0]);
		assert_true(seen.n_all < 100000);
	}
	close(p.fd);
}

static void truncated(void **state)
{
	for (int kind = 0; kind < 4; kind++) {
		struct buf file = small_file(kind & 1, kind & 2);
		size_t whole = file.n, step = 97;

		for (size_t n = 0; n < whole; n += step)
			check_damaged(file.bytes, n);
		buf_done(&file);
	}
}

/* What a cut file keeps: all records that are there whole, then the offset. */
static void truncated_keeps(void **state)
{
	struct buf file = small_file(false, 0);
	size_t last = 0;

	for (size_t n = data_offset(&file) + 10; n < 10000; n += 200) {
		struct place p = place_with(file.bytes, n);

		read_path(p.path, false);
		assert_int_equal(seen.err, -ENODATA);
		assert_non_null(strstr(seen.e.message, "byte "));
		assert_true(seen.n >= last);
		last = seen.n;
		close(p.fd);
	}
	assert_true(last > 50);
	buf_done(&file);
}

/* After each flush the file is complete, whether little or much goes over the list and behind it. */
static void grows(void **state)
{
	static const uint32_t raw[] = { 4, 4, 300, 4, 60000, 12, 60000, 20, 276, 4 };
	struct place p = place_new();
	struct tacho_perfdata_writer *w = writer_on(p.fd, false, 0);

	assert_int_equal(tacho_writer_string(w, TACHO_FEATURE_HOSTNAME, "here"), 0);
	assert_int_equal(tacho_writer_begin(w, NULL), 0);
	for (size_t i = 0; i < countof(raw); i++) {
		struct tacho_perfdata *pd;
		struct buf data = { 0 };

		put_sample(&data, 11, i, 4);
		put_sample(&data, 11, i, raw[i]);
		assert_int_equal(tacho_writer_records(w, data.bytes, data.n, NULL), 0);
		if (i == 5)
			assert_int_equal(tacho_writer_string(w, TACHO_FEATURE_ARCH, "late"), 0);
		assert_int_equal(tacho_writer_flush(w, NULL), 0);
		buf_done(&data);
		read_path(p.path, false);
		assert_int_equal(seen.err, 0);
		assert_int_equal(seen.n, 2 * (i + 1));
		for (size_t k = 0; k < seen.n; k++)
			assert_int_equal(seen.times[k], k / 2);
		assert_int_equal(tacho_perfdata_open(&pd, p.path, NULL, NULL), 0);
		assert_string_equal(tacho_perfdata_string(pd, TACHO_FEATURE_HOSTNAME), "here");
		assert_string_equal(i < 5 ? "late" : tacho_perfdata_string(pd, TACHO_FEATURE_ARCH), "late");
		assert_non_null(strstr(tacho_perfdata_warning(pd), "was killed"));
		tacho_perfdata_close(pd);
	}
	assert_int_equal(tacho_writer_finish(w, NULL), 0);
	tacho_writer_free(w);
	read_path(p.path, false);
	assert_int_equal(seen.n, 2 * countof(raw));
	close(p.fd);
}

/* Killed while the header names no features: those in front are found. */
static void list_in_front(void **state)
{
	struct buf file = small_file(false, 0);
	size_t list = data_offset(&file);

	memset(file.bytes + 72, 0, 32);
	for (int known = 1; known >= 0; known--) {
		struct place p = place_with(file.bytes, file.n);
		struct tacho_perfdata *pd;

		assert_int_equal(tacho_perfdata_open(&pd, p.path, NULL, NULL), 0);
		if (known) {
			assert_string_equal(tacho_perfdata_string(pd, TACHO_FEATURE_HOSTNAME), "here");
			assert_non_null(strstr(tacho_perfdata_warning(pd), "did not end properly"));
		} else {	/* a complete file of another writer, which has no features */
			assert_null(tacho_perfdata_string(pd, TACHO_FEATURE_HOSTNAME));
			assert_null(tacho_perfdata_warning(pd));
		}
		tacho_perfdata_close(pd);
		read_path(p.path, false);
		assert_int_equal(seen.n, 200);
		close(p.fd);
		file.bytes[list - 1] ^= 1;
	}
	for (size_t at = 72 + 32; at < list; at++) {
		char was = file.bytes[at];

		file.bytes[at] = (char)0xff;
		check_damaged(file.bytes, file.n);
		file.bytes[at] = was;
	}
	buf_done(&file);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed ^= *seed << 13, *seed ^= *seed >> 17, *seed ^= *seed << 5;
	return *seed;
}

static void mutated(void **state)
{
	uint32_t seed = 2463534242u;

	for (int i = 0; i < 2000; i++) {
		struct buf file = small_file(i & 1, i & 2);
		/* Half of the changes hit the first kilobyte: header, attrs, first records. */
		size_t reach = i & 4 ? file.n : min_of(file.n, (size_t)1024);

		for (uint32_t k = 1 + next_random(&seed) % 8; k; k--) {
			char *at = file.bytes + next_random(&seed) % reach;

			*at = next_random(&seed) % 3 ? (char)next_random(&seed) : (char)-1;
		}
		check_damaged(file.bytes, file.n);
		buf_done(&file);
	}
}

/* ---- samples with values ---- */

/* What one value adds: its event in the tens, what it counted in the ones; -1: nothing. */
static int counted(struct tacho_perfdata *pd, size_t event, uint32_t tid, uint64_t id, uint64_t value)
{
	uint64_t words[] = { value, id }, n = 0;
	struct tacho_sample s = { .tid = tid, .read = { .n = 1, .words = { words, 2 }, .format = PERF_FORMAT_ID } };
	size_t of = 0;
	int err = tacho_perfdata_counted(pd, event, &s, 0, &of, &n);

	assert_true(err >= 0);
	return err ? (int)(of * 10 + n) : -1;
}

static void values_since(void **state)
{
	struct perf_event_attr inherited = attr;
	struct place p = place_new();
	struct tacho_perfdata_writer *w = writer_on(p.fd, false, 0);
	static const uint64_t third_ids[] = { 31 };
	struct tacho_perfdata *pd;

	(void)state;
	inherited.flags |= PERF_ATTR_INHERIT;
	assert_int_equal(tacho_writer_event(w, "page-faults", &inherited, sizeof(inherited), third_ids, 1), 0);
	assert_int_equal(tacho_writer_begin(w, NULL), 0);
	assert_int_equal(tacho_writer_finish(w, NULL), 0);
	tacho_writer_free(w);
	assert_int_equal(tacho_perfdata_open(&pd, p.path, NULL, NULL), 0);
	assert_int_equal(counted(pd, 0, 7, 11, 3), 3);
	assert_int_equal(counted(pd, 0, 8, 11, 8), 5);		/* all threads have one counter */
	assert_int_equal(counted(pd, 0, 7, 12, 4), 4);
	assert_int_equal(counted(pd, 0, 7, 21, 2), 12);		/* of the other event */
	assert_int_equal(counted(pd, 0, 7, 21, 2), -1);
	assert_int_equal(counted(pd, 0, 7, 99, 2), -1);		/* of none */
	assert_int_equal(counted(pd, 2, 7, 31, 6), 26);
	assert_int_equal(counted(pd, 2, 8, 31, 2), 22);		/* each thread has its own */
	assert_int_equal(counted(pd, 2, 7, 31, 9), 23);
	assert_int_equal(counted(pd, 2, 8, 31, 1), 21);		/* a new one with an old number */
	for (uint32_t i = 1; i < 5000; i++)
		assert_int_equal(counted(pd, 2, i * 7919, 31, 5), 25);
	for (uint32_t i = 1; i < 5000; i++)
		assert_int_equal(counted(pd, 2, i * 7919, 31, 6), 21);
	assert_int_equal(counted(pd, 9, 7, 11, 9), -1);
	tacho_perfdata_close(pd);
	close(p.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(a_real_pipe),
		cmocka_unit_test(in_order),
		cmocka_unit_test(stable),
		cmocka_unit_test(large_and_compressed),
		cmocka_unit_test(compressed_records),
		cmocka_unit_test(broken_chunks),
		cmocka_unit_test(aux_payload),
		cmocka_unit_test(values_since),
		cmocka_unit_test(empty_data),
		cmocka_unit_test(own_features_are_not_copied),
		cmocka_unit_test(writer_refuses),
		cmocka_unit_test(file_size_limit),
		cmocka_unit_test(disk_full),
		cmocka_unit_test(truncated),
		cmocka_unit_test(truncated_keeps),
		cmocka_unit_test(grows),
		cmocka_unit_test(list_in_front),
		cmocka_unit_test(mutated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
