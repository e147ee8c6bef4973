/*
 * Drains rings in plain memory: records at all positions relative to the wrap, of all sizes, and invalid
 * records. The output must be equal to the input, and each piece must consist of whole records.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "sample/sampler.h"

#include <tacho/record.h>

#include "base/fork_generation.h"

#define RING 4096
#define ID 77

struct fixture {
	struct perf_event_mmap_page page;
	_Alignas(8) uint8_t data[RING];
	struct tacho_evset set;		/* open, by this process */
	struct tacho_sampler s;
	struct sampler_count count;
	struct buf put, got;
	bool whole;			/* every piece so far consisted of whole records */
};

static struct sampler_ring *start(struct fixture *f, uint64_t position)
{
	struct sampler_ring *r;

	memset(f, 0, sizeof(*f));
	f->page.data_head = f->page.data_tail = position;
	f->whole = true;
	f->set.is_open = f->s.is_open = true;
	f->set.generation = fork_generation();
	f->s.set = &f->set;
	f->s.counts = &f->count;
	f->s.n_counts = 1;
	assert_int_equal(int_map_put(&f->s.ids, ID, 0), 0);
	r = vec_add(&f->s.rings);
	assert_non_null(r);
	ring_over(&r->ring, &f->page, f->data, RING);
	return r;
}

static void end(struct fixture *f)
{
	vec_done(&f->s.rings);
	int_map_done(&f->s.ids);
	hitmap_done(&f->s.hitmap);
	buf_done(&f->s.bounce);
	buf_done(&f->put);
	buf_done(&f->got);
}

/* Appends at head, wrapping, as the kernel does, and also to a linear buffer for comparison. */
static void put_bytes(struct fixture *f, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		f->data[(f->page.data_head + i) % RING] = ((const uint8_t *)bytes)[i];
	f->page.data_head += n;
	buf_put(&f->put, bytes, n);
}

/* A sample of `size` bytes: id, ip, pid and tid, time, and padding. */
static void put_sample(struct fixture *f, size_t size, uint64_t time)
{
	uint64_t words[512] = { 0 };
	struct ring_header h = { TACHO_RECORD_SAMPLE, 2, (uint16_t)size };

	for (size_t i = 5; i < size / 8; i++)
		words[i] = time * 1000 + i;
	memcpy(words, &h, sizeof(h));
	words[1] = ID;
	words[2] = 0x400000 + time;
	words[3] = 5;
	words[4] = time;
	put_bytes(f, words, size);
}

static int take_bytes(void *arg, const void *bytes, size_t n)
{
	struct fixture *f = arg;
	size_t at = 0;

	while (at + 8 <= n) {
		struct ring_header h;

		memcpy(&h, (const uint8_t *)bytes + at, sizeof(h));
		if (h.size < 8)
			break;
		at += h.size;
	}
	f->whole &= at == n;
	buf_put(&f->got, bytes, n);
	return 0;
}

static void assert_same(const struct fixture *f)
{
	assert_true(f->whole);
	assert_int_equal(f->got.n, f->put.n);
	if (f->put.n)
		assert_memory_equal(f->got.bytes, f->put.bytes, f->put.n);
	assert_int_equal(f->page.data_tail, f->page.data_head);
}

/* Every start of the ring, with records of every small size up to the ring's end and beyond. */
static void ring_every_wrap(void **state)
{
	static struct fixture f;

	for (size_t size = 40; size <= 200; size += 8)
		for (uint64_t from = RING - 240; from < RING + 16; from += 8) {
			start(&f, from);
			for (int i = 1; i <= 8; i++)
				put_sample(&f, size, (uint64_t)i);
			assert_int_equal(tacho_sampler_drain(&f.s, take_bytes, &f), f.put.n);
			assert_same(&f);
			assert_int_equal(f.count.stats.samples, 8);
			assert_int_equal(f.count.stats.first_ns, 1);
			assert_int_equal(f.count.stats.last_ns, 8);
			end(&f);
		}
}

static void ring_many_rounds(void **state)
{
	static struct fixture f;
	uint64_t time = 1, n = 0;

	start(&f, UINT64_MAX - 4 * RING + 1);		/* the positions themselves wrap too */
	for (int round = 0; round < 200; round++) {
		size_t size = 40 + (size_t)(round * 56 % 1000) / 8 * 8;

		for (size_t room = RING; room >= size; room -= size, n++)
			put_sample(&f, size, time++);
		assert_true(tacho_sampler_drain(&f.s, take_bytes, &f) > 0);
	}
	assert_same(&f);
	assert_int_equal(f.count.stats.samples, n);
	end(&f);
}

static void ring_full_and_empty(void **state)
{
	static struct fixture f;

	start(&f, 8 * 33);
	assert_int_equal(tacho_sampler_drain(&f.s, take_bytes, &f), 0);
	put_sample(&f, RING - 64, 1);
	put_sample(&f, 64, 2);
	assert_int_equal(tacho_sampler_drain(&f.s, take_bytes, &f), RING);
	assert_same(&f);
	end(&f);
}

/* Invalid record sizes: nothing is output, and the drain fails. */
static void ring_broken(void **state)
{
	static const uint16_t sizes[] = { 0, 4, 7, 12, 48, UINT16_MAX };
	static struct fixture f;

	for (size_t i = 0; i < countof(sizes); i++) {
		uint64_t words[5] = { 0 };
		struct ring_header h = { TACHO_RECORD_SAMPLE, 0, sizes[i] };

		start(&f, RING - 16);
		memcpy(words, &h, sizeof(h));
		put_bytes(&f, words, sizeof(words));
		assert_int_equal(tacho_sampler_drain(&f.s, take_bytes, &f), -EBADMSG);
		assert_int_equal(f.got.n, 0);
		end(&f);
	}
	start(&f, 0);
	f.page.data_head = 10 * RING;		/* further ahead than the ring's size */
	assert_int_equal(tacho_sampler_drain(&f.s, take_bytes, &f), -EBADMSG);
	end(&f);
}

static int refuse_bytes(void *arg, const void *bytes, size_t n)
{
	return -ENOSPC;
}

/* Records that could not be written stay in the ring. */
static void ring_refused(void **state)
{
	static struct fixture f;

	start(&f, 0);
	put_sample(&f, 40, 1);
	assert_int_equal(tacho_sampler_drain(&f.s, refuse_bytes, &f), -ENOSPC);
	assert_int_equal(f.page.data_tail, 0);
	end(&f);
}

static void ring_losses(void **state)
{
	static struct fixture f;
	const struct ring_header lost = { TACHO_RECORD_LOST, 0, 32 };
	const struct ring_header more = { TACHO_RECORD_LOST_SAMPLES, 0, 24 };
	const struct ring_header pause = { TACHO_RECORD_THROTTLE, 0, 32 };
	uint64_t words[4] = { 0, ID, 5, 0 };

	start(&f, RING - 24);
	memcpy(words, &lost, 8);
	put_bytes(&f, words, 32);
	words[1] = 3;
	words[2] = ID;
	memcpy(words, &more, 8);
	put_bytes(&f, words, 24);
	memcpy(words, &pause, 8);
	put_bytes(&f, words, 32);
	assert_int_equal(tacho_sampler_drain(&f.s, take_bytes, &f), 88);
	assert_same(&f);
	assert_int_equal(f.count.lost_in_records, 8);
	assert_int_equal(f.count.stats.throttled, 1);
	end(&f);
}

/* An overwrite ring is written from high to low addresses, and its oldest record may be incomplete. */
static void ring_newest_first(void **state)
{
	static struct fixture f;
	struct sampler_ring *r = start(&f, 0);
	struct ring_span span;
	int n = 0;

	assert_int_equal(ring_newest(&r->ring).n, 0);
	for (; n < 50; n++) {
		struct ring_header h = { TACHO_RECORD_SAMPLE, 0, 120 };

		f.page.data_head -= 120;
		memcpy(&f.data[f.page.data_head % RING], &h, sizeof(h));
		span = ring_newest(&r->ring);
		assert_int_equal(span.n, min_of(n + 1, RING / 120) * 120);
	}
	end(&f);
}

static void mmap_at(struct hitmap *h, int pid, uint64_t start_, const char *path)
{
	const struct hitmap_new_mapping m = { .pid = pid, .start = start_, .len = 0x1000, .path = str_of(path) };

	assert_int_equal(hitmap_mmap(h, &m), 0);
}

static bool was_hit(const struct hitmap *h, const char *path)
{
	for (size_t i = 0; i < h->list.n; i++)
		if (strcmp(h->list.v[i].path, path) == 0)
			return h->list.v[i].hit;
	return false;
}

static void hitmap_follows(void **state)
{
	struct hitmap h = { 0 };

	mmap_at(&h, 10, 0x1000, "/a");
	mmap_at(&h, 10, 0x5000, "/b");
	assert_int_equal(hitmap_fork(&h, 11, 10), 0);
	hitmap_hit(&h, 10, 0x1800);
	assert_true(was_hit(&h, "/a"));
	assert_false(was_hit(&h, "/b"));
	hitmap_exec(&h, 10);
	hitmap_hit(&h, 10, 0x5800);
	assert_false(was_hit(&h, "/b"));	/* removed by the exec, but the child still has it */
	hitmap_hit(&h, 11, 0x5800);
	assert_true(was_hit(&h, "/b"));
	mmap_at(&h, 11, 0x5000, "/c");		/* replaces the mapping */
	hitmap_hit(&h, 11, 0x5800);
	assert_true(was_hit(&h, "/c"));
	hitmap_done(&h);
}

/* Processes that have exited are removed, and the others can still be found. */
static void hitmap_forgets(void **state)
{
	struct hitmap h = { 0 };

	for (int pid = 1; pid <= 3000; pid++) {
		mmap_at(&h, pid, 0x1000, "/x");
		if (pid > 10) {
			hitmap_exit(&h, pid - 10);
			hitmap_round(&h);
		}
	}
	assert_int_equal(h.n_slots, 10);
	assert_true(h.cap < 1024);
	mmap_at(&h, 2995, 0x9000, "/y");
	hitmap_hit(&h, 2995, 0x9000);
	assert_true(was_hit(&h, "/y"));
	hitmap_done(&h);
}

/* Mappings replace those they cover, and the number of mappings per process is limited. */
static void hitmap_stays_small(void **state)
{
	struct hitmap h = { 0 };

	for (int i = 0; i < 100; i++)
		mmap_at(&h, 7, 0x1000, "/x");
	for (size_t i = 0; i < h.cap; i++)
		assert_true(h.slots[i].maps.n <= 1);
	for (uint64_t i = 0; i < 20000; i++)
		mmap_at(&h, 7, 0x100000 + i * 0x1000, "//anon");
	for (size_t i = 0; i < h.cap; i++)
		assert_true(h.slots[i].maps.n <= 8192);
	hitmap_done(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_every_wrap),   cmocka_unit_test(ring_many_rounds),
		cmocka_unit_test(ring_full_and_empty), cmocka_unit_test(ring_broken),
		cmocka_unit_test(ring_refused),	     cmocka_unit_test(ring_losses),
		cmocka_unit_test(ring_newest_first), cmocka_unit_test(hitmap_follows),
		cmocka_unit_test(hitmap_forgets),    cmocka_unit_test(hitmap_stays_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
