/*
 * Deferred call chains: samples wait for the user part of their chain and are completed by cookie and thread. Also
 * user parts that are missing, repeated, or too long for a record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "perfdata/perfdata.h"

#define SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |   \
		     PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)
#define KERNEL ((uint64_t)-128)
#define USER ((uint64_t)-512)
#define DEFERRED ((uint64_t)-640)

enum { ID = 3 };

static struct perf_event_attr attr = {
	.type = PERF_TYPE_SOFTWARE, .size = PERF_ATTR_SIZE_VER7, .sample_period = 1,
	.sample_type = SAMPLE_TYPE, .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
	.flags = PERF_ATTR_SAMPLE_ID_ALL | PERF_ATTR_DEFER_CALLCHAIN | PERF_ATTR_DEFER_OUTPUT,
};

struct made {
	int fd;
	char path[64];
	struct tacho_perfdata_writer *writer;
	struct buf rec;
};

static void put8(struct buf *b, uint64_t v) { buf_put(b, &v, 8); }

static void put_pair(struct buf *b, uint32_t one, uint32_t two)
{
	buf_put(b, &one, 4);
	buf_put(b, &two, 4);
}

static void begin(struct made *f, uint32_t type)
{
	buf_clear(&f->rec);
	put_pair(&f->rec, type, 0);
}

static void end(struct made *f)
{
	uint16_t size = (uint16_t)f->rec.n;

	memcpy(f->rec.bytes + 6, &size, 2);
	assert_int_equal(tacho_writer_records(f->writer, f->rec.bytes, f->rec.n, NULL), 0);
}

static struct made file_new(void)
{
	struct made f = { .fd = memfd_create("defer", 0) };
	uint64_t id = ID;

	snprintf(f.path, sizeof(f.path), "/proc/self/fd/%d", f.fd);
	assert_int_equal(tacho_writer_open(&f.writer, f.fd, TACHO_OPTS(tacho_writer_opts, .pipe = false), NULL), 0);
	assert_int_equal(tacho_writer_event(f.writer, "e", &attr, attr.size, &id, 1), 0);
	assert_int_equal(tacho_writer_begin(f.writer, NULL), 0);
	return f;
}

static void put_sample(struct made *f, uint32_t tid, uint64_t time, const uint64_t *chain, size_t n)
{
	begin(f, TACHO_RECORD_SAMPLE);
	put8(&f->rec, ID);
	put8(&f->rec, 0x1000);
	put_pair(&f->rec, 7, tid);
	put8(&f->rec, time);
	put8(&f->rec, 2);			/* a group of two: value and id each */
	for (int i = 0; i < 4; i++)
		put8(&f->rec, (uint64_t)i);
	put8(&f->rec, n);
	buf_put(&f->rec, chain, n * 8);
	put_pair(&f->rec, 4, 0x64636261);	/* raw: "abcd" after the chain */
	end(f);
}

static void put_deferred(struct made *f, uint32_t tid, uint64_t time, uint64_t cookie, size_t n)
{
	begin(f, TACHO_RECORD_CALLCHAIN_DEFERRED);
	put8(&f->rec, cookie);
	put8(&f->rec, n);
	for (size_t i = 0; i < n; i++)
		put8(&f->rec, i ? 0x5000 + i : USER);
	put_pair(&f->rec, 7, tid);
	put8(&f->rec, time);
	put8(&f->rec, ID);
	end(f);
}

static struct tacho_perfdata *file_read(struct made *f, bool ordered)
{
	struct tacho_perfdata *pd;

	assert_int_equal(tacho_writer_finish(f->writer, NULL), 0);
	tacho_writer_free(f->writer);
	assert_int_equal(tacho_perfdata_open(&pd, f->path, TACHO_OPTS(tacho_perfdata_opts, .ordered = ordered), NULL), 0);
	return pd;
}

static void file_done(struct made *f, struct tacho_perfdata *pd)
{
	tacho_perfdata_close(pd);
	buf_done(&f->rec);
	close(f->fd);
}

static struct tacho_scratch scratch;

/* The next record is a sample of that time, whose fields after the chain are unchanged. */
static struct tacho_sample next_sample(struct tacho_perfdata *pd, uint64_t time)
{
	struct tacho_record rec;
	struct tacho_sample s;

	assert_int_equal(tacho_perfdata_next(pd, &rec, NULL), 1);
	assert_int_equal(rec.type, TACHO_RECORD_SAMPLE);
	scratch.used = 0;
	assert_int_equal(tacho_sample_decode(&s, &rec, &tacho_perfdata_event(pd, 0)->layout, &scratch), 0);
	assert_int_equal(s.time, time);
	assert_int_equal(s.n_raw, 4);
	assert_memory_equal(s.raw, "abcd", 4);
	return s;
}

static void assert_chain(struct tacho_sample s, const uint64_t *want, size_t n)
{
	assert_int_equal(s.chain.n, n);
	assert_memory_equal(s.chain.v, want, n * 8);
}

static void joined_by_cookie_and_thread(void **state)
{
	static const uint64_t first[] = { KERNEL, 0xa, 0xb, DEFERRED, 100 };
	static const uint64_t second[] = { KERNEL, 0xc, DEFERRED, 100 };
	static const uint64_t other[] = { KERNEL, 0xd, DEFERRED, 100 };	/* of another thread */
	static const uint64_t plain[] = { KERNEL, 0xe };
	static const uint64_t first_whole[] = { KERNEL, 0xa, 0xb, USER, 0x5001, 0x5002 };
	static const uint64_t second_whole[] = { KERNEL, 0xc, USER, 0x5001, 0x5002 };
	struct made f = file_new();
	struct tacho_perfdata *pd;
	struct tacho_record rec;

	(void)state;
	put_sample(&f, 1, 10, first, 5);
	put_sample(&f, 2, 11, other, 4);
	put_sample(&f, 1, 12, second, 4);
	put_deferred(&f, 1, 13, 100, 3);
	put_sample(&f, 3, 14, plain, 2);
	put_deferred(&f, 1, 15, 999, 2);	/* no sample waits for it */
	pd = file_read(&f, true);
	assert_chain(next_sample(pd, 10), first_whole, 6);
	assert_chain(next_sample(pd, 12), second_whole, 5);
	assert_chain(next_sample(pd, 14), plain, 2);
	assert_int_equal(tacho_perfdata_next(pd, &rec, NULL), 1);
	assert_int_equal(rec.type, TACHO_RECORD_CALLCHAIN_DEFERRED);
	assert_chain(next_sample(pd, 11), other, 4);	/* at the end, unchanged */
	assert_int_equal(tacho_perfdata_next(pd, &rec, NULL), 0);
	assert_int_equal(tacho_perfdata_next(pd, &rec, NULL), 0);
	file_done(&f, pd);
}

static void unordered_records_do_not_wait(void **state)
{
	static const uint64_t chain[] = { KERNEL, 0xa, DEFERRED, 5 };
	struct made f = file_new();
	struct tacho_perfdata *pd;
	struct tacho_record rec;

	(void)state;
	put_sample(&f, 1, 10, chain, 4);
	put_deferred(&f, 1, 11, 5, 2);
	pd = file_read(&f, false);
	assert_chain(next_sample(pd, 10), chain, 4);
	assert_int_equal(tacho_perfdata_next(pd, &rec, NULL), 1);
	assert_int_equal(rec.type, TACHO_RECORD_CALLCHAIN_DEFERRED);
	file_done(&f, pd);
}

/* A completed record stays below 64 KiB: the outermost callers are dropped. */
static void too_long_for_a_record(void **state)
{
	static uint64_t chain[4000];
	struct made f = file_new();
	struct tacho_perfdata *pd;
	struct tacho_sample s;

	(void)state;
	for (size_t i = 0; i < 4000; i++)
		chain[i] = i ? 0xffff0000 + i : KERNEL;
	chain[3998] = DEFERRED;
	chain[3999] = 8;
	put_sample(&f, 1, 10, chain, 4000);
	put_deferred(&f, 1, 11, 8, 8000);
	pd = file_read(&f, true);
	s = next_sample(pd, 10);
	assert_true(s.chain.n > 8000 && s.chain.n < 8192);
	assert_int_equal(s.chain.v[3998], USER);
	assert_int_equal(s.chain.v[s.chain.n - 1], 0x5000 + s.chain.n - 1 - 3998);
	file_done(&f, pd);
}

/* Too many waiting samples: the oldest is returned unchanged. */
static void many_wait(void **state)
{
	uint64_t chain[] = { KERNEL, 0xa, DEFERRED, 0 };
	struct made f = file_new();
	struct tacho_perfdata *pd;
	struct tacho_record rec;
	size_t n = 0;

	(void)state;
	for (uint64_t i = 0; i < 5000; i++) {
		chain[3] = i;
		put_sample(&f, 1, 10 + i, chain, 4);
	}
	pd = file_read(&f, true);
	for (uint64_t i = 0; i < 5000; i++) {
		chain[3] = i;
		assert_chain(next_sample(pd, 10 + i), chain, 4);
		n++;
	}
	assert_int_equal(tacho_perfdata_next(pd, &rec, NULL), 0);
	assert_int_equal(n, 5000);
	file_done(&f, pd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joined_by_cookie_and_thread), cmocka_unit_test(unordered_records_do_not_wait),
		cmocka_unit_test(too_long_for_a_record), cmocka_unit_test(many_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
