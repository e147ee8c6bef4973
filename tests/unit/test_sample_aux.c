/*
 * AUX areas without hardware: a memory file stands for the mappings of an event, and the test fills it like a
 * tracing unit. The output must be equal to the input, over several wraps of the area.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/vec.h"
#include "sample/sampler.h"

#include <tacho/perfdata.h>
#include <tacho/record.h>

#include "base/fork_generation.h"

#define RING_PAGES 1
#define AUX_PAGES 2

struct fixture {
	int fd;
	struct tacho_evset set;		/* open, by this process */
	struct tacho_sampler s;
	struct sampler_count count;
	uint8_t *area;			/* the unit's mapping */
	uint64_t size;
	uint8_t next;			/* what the unit writes: 1, 2, 3 ... */
	struct buf put, got;		/* bytes written by the unit; data output */
	uint64_t expected;		/* the next piece's offset; UINT64_MAX: any */
	size_t n_pieces;
};

static struct sampler_ring *ring_of(struct fixture *f)
{
	return &f->s.rings.v[0];
}

/* Like an event: one descriptor with a control page, data pages and space for the area. */
static void start(struct fixture *f, bool overwrite)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct sampler_ring *r;

	memset(f, 0, sizeof(*f));
	f->fd = memfd_create("event", MFD_CLOEXEC);
	f->size = AUX_PAGES * page;
	assert_true(f->fd >= 0 && ftruncate(f->fd, (off_t)((1 + RING_PAGES) * page + f->size)) == 0);
	f->set.is_open = f->s.is_open = true;
	f->set.generation = fork_generation();
	f->s.set = &f->set;
	f->s.counts = &f->count;
	f->s.n_counts = 1;
	r = vec_add(&f->s.rings);
	assert_non_null(r);
	*r = (struct sampler_ring){ .cpu = 3, .tid = 44, .aux_fd = -1 };
	assert_int_equal(ring_map(&r->ring, f->fd, RING_PAGES, false), 0);
	assert_int_equal(aux_map(&r->aux, f->fd, r->ring.page, AUX_PAGES, overwrite), -EOPNOTSUPP);
	r->ring.page->data_offset = page;
	r->ring.page->data_size = RING_PAGES * page;
	assert_int_equal(aux_map(&r->aux, f->fd, r->ring.page, AUX_PAGES, overwrite), 0);
	assert_int_equal(r->ring.page->aux_offset, (1 + RING_PAGES) * page);
	assert_int_equal(r->ring.page->aux_size, f->size);
	f->area = mmap(NULL, f->size, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd,
		       (off_t)((1 + RING_PAGES) * page));
	assert_true(f->area != MAP_FAILED);
}

static void end(struct fixture *f)
{
	aux_unmap(&ring_of(f)->aux);
	aux_unmap(&ring_of(f)->aux);
	ring_unmap(&ring_of(f)->ring);
	munmap(f->area, f->size);
	vec_done(&f->s.rings);
	buf_done(&f->s.bounce);
	buf_done(&f->put);
	buf_done(&f->got);
	close(f->fd);
}

static void fill(struct fixture *f, size_t n)
{
	struct perf_event_mmap_page *page = ring_of(f)->ring.page;

	for (size_t i = 0; i < n; i++) {
		uint8_t byte = f->next = f->next == 255 ? 1 : (uint8_t)(f->next + 1);

		f->area[(page->aux_head + i) % f->size] = byte;
		buf_putc(&f->put, (char)byte);
	}
	page->aux_head += n;
}

static uint64_t word(const void *bytes, size_t at)
{
	uint64_t v;

	memcpy(&v, (const uint8_t *)bytes + at, sizeof(v));
	return v;
}

/* header | size | offset | reference | number tid | cpu - , and padding after the data */
static int take_piece(void *arg, const void *bytes, size_t n)
{
	struct fixture *f = arg;
	const uint8_t *b = bytes;
	uint64_t payload = word(b, 8), left = f->put.n - f->got.n;

	assert_int_equal(word(b, 0), (uint64_t)48 << 48 | TACHO_RECORD_AUXTRACE);
	assert_int_equal(n, 48 + payload);
	assert_int_equal(payload % 8, 0);
	assert_int_equal(word(b, 32), (uint64_t)44 << 32);
	assert_int_equal(word(b, 40), 3);
	if (f->expected != UINT64_MAX)
		assert_int_equal(word(b, 16), f->expected);
	f->expected = word(b, 16) + min_of(payload, left);
	buf_put(&f->got, b + 48, min_of(payload, left));
	f->n_pieces++;
	return 0;
}

static void assert_same(const struct fixture *f)
{
	assert_int_equal(f->got.n, f->put.n);
	assert_memory_equal(f->got.bytes, f->put.bytes, f->put.n);
}

static void aux_streams(void **state)
{
	static const size_t lengths[] = { 1, 8, 4095, 4096, 13, 5000 };
	static struct fixture f;

	start(&f, false);
	assert_int_equal(tacho_sampler_drain(&f.s, take_piece, &f), 0);
	for (int round = 0; round < 60; round++) {
		fill(&f, lengths[(size_t)round % countof(lengths)]);
		assert_true(tacho_sampler_drain(&f.s, take_piece, &f) > 0);
		assert_same(&f);
		/* free-running, never masked */
		assert_int_equal(ring_of(&f)->ring.page->aux_tail, f.put.n);
	}
	assert_true(f.put.n > 10 * f.size);
	fill(&f, f.size);
	assert_int_equal(tacho_sampler_drain(&f.s, take_piece, &f), f.size);
	assert_same(&f);
	end(&f);
}

static int refuse_bytes(void *arg, const void *bytes, size_t n)
{
	return -ENOSPC;
}

/* What could not be written stays; an impossible head is rejected. */
static void aux_refused(void **state)
{
	static struct fixture f;

	start(&f, false);
	fill(&f, 100);
	assert_int_equal(tacho_sampler_drain(&f.s, refuse_bytes, &f), -ENOSPC);
	assert_int_equal(ring_of(&f)->ring.page->aux_tail, 0);
	assert_int_equal(tacho_sampler_drain(&f.s, take_piece, &f), 100);
	ring_of(&f)->ring.page->aux_head += f.size + 1;
	assert_int_equal(tacho_sampler_drain(&f.s, take_piece, &f), -EBADMSG);
	end(&f);
}

/* The newest `n` bytes that the unit wrote, and nothing else. */
static void assert_snapshot(struct fixture *f, uint64_t limit, size_t n)
{
	const struct aux_output out = { 0, 3, 44, &f->s.bounce, take_piece, f };
	struct buf all = f->put;

	f->put = (struct buf){ 0 };
	if (n)
		buf_put(&f->put, all.bytes + all.n - n, n);
	buf_clear(&f->got);
	f->expected = UINT64_MAX;
	assert_int_equal(aux_snapshot(&ring_of(f)->aux, &out, limit), n);
	assert_int_equal(f->got.n, n);
	if (n)
		assert_memory_equal(f->got.bytes, f->put.bytes, n);
	buf_done(&f->put);
	f->put = all;
}

static void aux_snapshots(void **state)
{
	static struct fixture f;

	start(&f, true);
	assert_snapshot(&f, 0, 0);
	fill(&f, 1000);
	assert_int_equal(tacho_sampler_drain(&f.s, take_piece, &f), 0);	/* a drain does not output overwrite areas */
	assert_snapshot(&f, 0, 1000);
	assert_snapshot(&f, 0, 0);			/* nothing new */
	fill(&f, 2 * f.size);
	assert_snapshot(&f, 0, f.size);
	fill(&f, 300);
	assert_snapshot(&f, 0, 300);			/* the rest was in the last one */
	fill(&f, 3 * f.size + 77);
	assert_snapshot(&f, 1000, 1000);
	end(&f);
}

/* A unit whose head is reset to 0 at each wrap. */
static void aux_snapshot_of_masked_head(void **state)
{
	static struct fixture f;

	start(&f, true);
	fill(&f, f.size + 100);
	ring_of(&f)->ring.page->aux_head = 100;
	assert_snapshot(&f, 0, f.size);
	assert_snapshot(&f, 0, 0);
	end(&f);
}

static int write_bytes(void *arg, const void *bytes, size_t n)
{
	return tacho_writer_records(arg, bytes, n, NULL);
}

/* In a file, plain and compressed, the records before and after the data can be read. */
static void aux_in_a_file(void **state)
{
	static struct fixture f;
	const struct perf_event_attr attr = { .size = sizeof(attr), .sample_type = PERF_SAMPLE_IP };
	const uint64_t aux_record[4] = { (uint64_t)32 << 48 | TACHO_RECORD_AUX, 0, 5000, 0 };

	for (int level = 0; level < 2; level++) {
		scoped(closep) int fd = memfd_create("perf.data", MFD_CLOEXEC);
		struct tacho_perfdata_writer *w;
		struct tacho_perfdata *pd;
		struct tacho_record rec;
		unsigned seen[128] = { 0 };
		char path[64];

		start(&f, false);
		assert_int_equal(tacho_writer_open(&w, fd, TACHO_OPTS(tacho_writer_opts,
						   .compress_level = level), NULL), 0);
		assert_int_equal(tacho_writer_event(w, "x", &attr, sizeof(attr), NULL, 0), 0);
		assert_int_equal(tacho_writer_begin(w, NULL), 0);
		for (int round = 0; round < 20; round++) {
			memcpy((uint8_t *)(uintptr_t)ring_of(&f)->ring.data +
			       ring_of(&f)->ring.page->data_head % ring_of(&f)->ring.size,
			       aux_record, sizeof(aux_record));
			ring_of(&f)->ring.page->data_head += sizeof(aux_record);
			fill(&f, 5001);
			assert_int_equal(tacho_sampler_drain(&f.s, write_bytes, w), 32 + 5001);
		}
		assert_int_equal(tacho_writer_finish(w, NULL), 0);
		tacho_writer_free(w);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		assert_int_equal(tacho_perfdata_open(&pd, path, NULL, NULL), 0);
		while (tacho_perfdata_next(pd, &rec, NULL) > 0)
			seen[min_of(rec.type, 127u)]++;
		assert_int_equal(seen[TACHO_RECORD_AUX], 20);
		assert_int_equal(seen[TACHO_RECORD_AUXTRACE], 20);
		tacho_perfdata_close(pd);
		end(&f);
	}
}

/* A sysfs tree with a tracing unit. */
static struct tacho_sampler *sampler_on_desktop(struct tacho **t)
{
	struct tacho_sampler *s;

	assert_int_equal(tacho_open(t, TACHO_OPTS(tacho_opts, .sysfs = TEST_DATA "/host/desktop/sys"),
				    NULL), 0);
	assert_int_equal(tacho_sampler_new(&s, *t), 0);
	return s;
}

static void aux_attrs(void **state)
{
	struct tacho *t;
	struct tacho_sampler *s = sampler_on_desktop(&t);
	const struct counted_event *v;

	assert_int_equal(tacho_sampler_add(s, "intel_pt//,{intel_pt//,dummy,page-faults/aux-output/,"
					   "minor-faults/aux-sample-size=512/}", NULL), 5);
	s->opts.aux_sample_bytes = 4096;
	s->opts.aux_pages = 16;
	assert_int_equal(sampler_prepare(s, NULL), 0);
	v = s->set->events.v;
	assert_true(sampler_is_aux(s, 0) && sampler_is_aux(s, 1));
	assert_false(sampler_is_aux(s, 2) || sampler_is_aux(s, 5));
	assert_int_equal(v[0].attr.sample_period, 1);
	assert_int_equal(v[0].attr.flags & PERF_ATTR_FREQ, 0);
	assert_int_equal(v[0].attr.aux_watermark, 0);		/* no wakeup for samples */
	assert_int_equal(v[1].attr.aux_sample_size, 0);
	assert_int_equal(v[2].attr.aux_sample_size, 4096);
	assert_true(v[2].attr.sample_type & PERF_SAMPLE_AUX);
	assert_true(v[3].attr.flags & PERF_ATTR_AUX_OUTPUT);
	assert_int_equal(v[4].attr.aux_sample_size, 512);
	tacho_sampler_free(s);
	tacho_close(t);
	s = sampler_on_desktop(&t);
	assert_int_equal(tacho_sampler_add(s, "intel_pt//,dummy/aux-action=pause/", NULL), 2);
	s->opts.aux_pages = 16;
	assert_int_equal(sampler_prepare(s, NULL), 0);
	assert_int_equal(s->set->events.v[0].attr.aux_watermark, 4 * sysconf(_SC_PAGESIZE));
	assert_int_equal(s->set->events.v[1].attr.aux_action, 2);
	tacho_sampler_free(s);
	tacho_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aux_streams),	 cmocka_unit_test(aux_refused),
		cmocka_unit_test(aux_snapshots), cmocka_unit_test(aux_snapshot_of_masked_head),
		cmocka_unit_test(aux_in_a_file), cmocka_unit_test(aux_attrs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
