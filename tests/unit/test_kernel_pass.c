/*
 * The pass of the kernel's views: fields of tracepoints in recordings of several layouts, in the order of time, and what
 * becomes of samples, formats and records that are damaged.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "kernel/pass.h"
#include "record/perf_abi.h"
#include "wire.h"

#define LAYOUT (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW)
#define EVENT_ID 7u

static const char good_format[] =
	"name: move\nID: 77\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:s8 prio;\toffset:20;\tsize:1;\tsigned:1;\n"
	"\tfield:u64 delay;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] name;\toffset:32;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"x\"\n";

static void put_formats(struct buf *b, const char *format)
{
	uint64_t n = strlen(format);
	uint32_t one = 1, zero = 0, page = 4096;
	uint64_t none = 0;

	buf_put(b, "\x17\x08\x44tracing" "0.6\0" "\0\x08", 16);
	buf_put(b, &page, 4);
	buf_put(b, "header_page\0", 12), buf_put(b, &none, 8);
	buf_put(b, "header_event\0", 13), buf_put(b, &none, 8);
	buf_put(b, &zero, 4);
	buf_put(b, &one, 4), buf_put(b, "test\0", 5), buf_put(b, &one, 4);
	buf_put(b, &n, 8), buf_put(b, format, n);
	buf_put(b, &zero, 4), buf_put(b, &zero, 4);
}

struct recording {
	int fd;
	struct tacho_perfdata_writer *w;
	struct tacho_perfdata *pd;
	uint64_t sample_type;
};

static void recording_begin(struct recording *r, uint64_t sample_type, const char *format)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = 77,
					.sample_type = sample_type, .flags = PERF_ATTR_SAMPLE_ID_ALL, .sample_period = 1 };
	struct perf_event_attr other = attr;
	uint64_t id = EVENT_ID, other_id = EVENT_ID + 1;
	struct buf formats = { 0 };

	other.config = 78;
	r->sample_type = sample_type;
	r->fd = memfd_create("kernel", MFD_CLOEXEC);
	assert_true(r->fd >= 0);
	assert_int_equal(tacho_writer_open(&r->w, r->fd, NULL, NULL), 0);
	assert_int_equal(tacho_writer_event(r->w, "renamed", &attr, sizeof(attr), &id, 1), 0);
	assert_int_equal(tacho_writer_event(r->w, "test:other", &other, sizeof(other), &other_id, 1), 0);
	if (format) {
		put_formats(&formats, format);
		assert_int_equal(tacho_writer_feature(r->w, TACHO_FEATURE_TRACING_DATA, formats.bytes, formats.n), 0);
	}
	buf_done(&formats);
	assert_int_equal(tacho_writer_begin(r->w, NULL), 0);
}

static void add_record(struct recording *r, struct wire *w)
{
	while (w->n % 8)
		put(w, 0, 1);
	wire_size(w, w->n);
	assert_int_equal(tacho_writer_records(r->w, w->bytes, w->n, NULL), 0);
}

/* A sample of `n_raw` bytes of raw data, cut off from the whole event. */
static void add_sample(struct recording *r, uint64_t id, uint64_t time, uint32_t tid, size_t n_raw)
{
	uint8_t raw[48] = { 77 };
	struct wire w;
	int64_t delay = 1LL << 40;
	int32_t pid = -5;
	uint32_t where = 5u << 16 | 36;

	memcpy(raw + 8, "workwork", 8);
	memcpy(raw + 16, &pid, 4);
	raw[20] = (uint8_t)-20;
	memcpy(raw + 24, &delay, 8);
	memcpy(raw + 32, &where, 4);
	memcpy(raw + 36, "name\0", 5);
	wire_begin(&w, host_is_big(), TACHO_RECORD_SAMPLE, 0);
	put8(&w, id);
	put4(&w, 10), put4(&w, tid);
	put8(&w, time);
	put4(&w, 3), put4(&w, 0);
	if (r->sample_type & PERF_SAMPLE_READ)
		put8(&w, 1);
	if (r->sample_type & PERF_SAMPLE_CALLCHAIN)
		put8(&w, 2), put8(&w, 0x1000), put8(&w, 0x2000);
	put4(&w, (uint32_t)n_raw);
	put_bytes(&w, raw, n_raw);
	add_record(r, &w);
}

/* A record with the trailer of LAYOUT. */
static void add_task(struct recording *r, uint32_t type, uint32_t pid, uint32_t tid, const char *name)
{
	struct wire w;

	wire_begin(&w, host_is_big(), type, 0);
	put4(&w, pid);
	put4(&w, name ? tid : 10);
	if (name)
		put_name(&w, name);
	else
		put4(&w, tid), put4(&w, 10), put8(&w, 2);
	put4(&w, pid), put4(&w, tid), put8(&w, 2), put4(&w, 0), put4(&w, 0), put8(&w, EVENT_ID);
	add_record(r, &w);
}

static void recording_open(struct recording *r)
{
	char path[64];

	assert_int_equal(tacho_writer_finish(r->w, NULL), 0);
	tacho_writer_free(r->w);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", r->fd);
	assert_int_equal(tacho_perfdata_open(&r->pd, path, TACHO_OPTS(tacho_perfdata_opts, .ordered = true), NULL), 0);
}

static void recording_close(struct recording *r)
{
	tacho_perfdata_close(r->pd);
	close(r->fd);
}

struct seen {
	int n, result;
	uint64_t last_time;
	size_t n_chain;
};

static int see(void *view, const struct kernel_sample *s)
{
	struct seen *seen = view;

	seen->n++;
	assert_true(s->time >= seen->last_time);
	seen->last_time = s->time;
	seen->n_chain = s->chain.n;
	assert_int_equal(s->tid, 11);
	assert_int_equal(s->cpu, 3);
	assert_true(str_is(kernel_text(s, 0), "workwork"));
	assert_int_equal((int64_t)kernel_number(s, 1), -5);
	assert_int_equal((int64_t)kernel_number(s, 2), -20);
	assert_int_equal(kernel_number(s, 3), 1ULL << 40);
	assert_true(str_is(kernel_text(s, 4), "name"));
	assert_int_equal(kernel_bytes(s, 4).n, 5);
	assert_false(kernel_has(s, 5));
	assert_int_equal(kernel_number(s, 5), 0);
	return seen->result;
}

static const struct kernel_handler handlers[] = {
	{ "test:move", see, { "comm", "pid", "prio", "delay", "name", "?newer" } },
};
static const struct kernel_view view = { .handlers = handlers, .n_handlers = countof(handlers) };

static int run(struct recording *r, struct kernel_pass *p, struct seen *seen)
{
	assert_int_equal(kernel_pass_init(p, r->pd, &view, seen), 0);
	return kernel_pass_run(p, NULL);
}

static void kernel_pass_layouts(void **state)
{
	static const uint64_t layouts[] = { LAYOUT, LAYOUT | PERF_SAMPLE_CALLCHAIN, LAYOUT | PERF_SAMPLE_READ,
					    LAYOUT | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_READ };

	for (size_t i = 0; i < countof(layouts); i++) {
		struct recording r;
		struct kernel_pass p;
		struct seen seen = { 0 };

		recording_begin(&r, layouts[i], good_format);
		add_sample(&r, EVENT_ID, 300, 11, 44);
		add_sample(&r, EVENT_ID, 100, 11, 44);
		add_sample(&r, EVENT_ID + 1, 150, 11, 0);
		add_sample(&r, EVENT_ID, 200, 11, 44);
		recording_open(&r);
		assert_int_equal(run(&r, &p, &seen), 0);
		assert_int_equal(seen.n, 3);
		assert_int_equal(seen.n_chain, layouts[i] & PERF_SAMPLE_CALLCHAIN ? 2 : 0);
		assert_int_equal(p.totals.samples, 4);
		assert_int_equal(p.totals.delivered, 3);
		assert_int_equal(p.totals.damaged, 0);
		assert_int_equal(p.totals.first_ns, 100);
		assert_int_equal(p.totals.last_ns, 300);
		kernel_pass_done(&p);
		recording_close(&r);
	}
}

static void kernel_pass_threads(void **state)
{
	struct recording r;
	struct kernel_pass p;
	struct seen seen = { 0 };
	const struct kernel_thread *t;

	recording_begin(&r, LAYOUT, good_format);
	add_task(&r, TACHO_RECORD_COMM, 10, 10, "sh\033[1m");
	add_task(&r, TACHO_RECORD_FORK, 12, 12, NULL);
	add_task(&r, TACHO_RECORD_COMM, 12, 12, "true");
	add_task(&r, TACHO_RECORD_FORK, 13, UINT32_MAX - 1, NULL);
	add_task(&r, TACHO_RECORD_FORK, 14, 12, NULL);
	recording_open(&r);
	assert_int_equal(run(&r, &p, &seen), 0);
	assert_string_equal(kernel_threads_find(&p.threads, 10)->comm, "sh?[1m");
	assert_string_equal(kernel_threads_find(&p.threads, UINT32_MAX - 1)->comm, "sh?[1m");
	t = kernel_threads_find(&p.threads, 12);
	assert_int_equal(t->pid, 14);
	assert_string_equal(t->comm, "sh?[1m");		/* the ID was used again */
	assert_int_equal(p.threads.all.n, 4);
	assert_string_equal(p.threads.all.v[1]->comm, "true");
	assert_null(kernel_threads_find(&p.threads, 4000000));
	assert_null(kernel_threads_find(&p.threads, 5000000));
	kernel_pass_done(&p);
	recording_close(&r);
}

/* Every length of the raw data: samples that are too short for the fields are counted, not delivered. */
static void kernel_pass_short_samples(void **state)
{
	struct recording r;
	struct kernel_pass p;
	struct seen seen = { 0 };

	recording_begin(&r, LAYOUT, good_format);
	for (size_t n = 0; n < 36; n++)
		add_sample(&r, EVENT_ID, 100, 11, n);
	add_sample(&r, EVENT_ID, 100, 11, 44);
	add_sample(&r, 99, 100, 11, 44);
	recording_open(&r);
	assert_int_equal(run(&r, &p, &seen), 0);
	assert_int_equal(seen.n, 1);
	assert_int_equal(p.totals.damaged, 37);
	kernel_pass_done(&p);
	recording_close(&r);
}

static const struct { const char *what, *format; } unusable[] = {
	{ "no formats", NULL },
	{ "another event", "name: other\nID: 77\nformat:\n\tfield:int x;\toffset:0;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n" },
	{ "a field is missing", "name: move\nID: 77\nformat:\n\tfield:int pid;\toffset:0;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n" },
	{ "after any record",
	  "name: move\nID: 77\nformat:\n"
	  "\tfield:char comm[8];\toffset:65530;\tsize:8;\tsigned:0;\n\tfield:int pid;\toffset:0;\tsize:4;\tsigned:1;\n"
	  "\tfield:int prio;\toffset:0;\tsize:4;\tsigned:1;\n\tfield:int delay;\toffset:4294967295;\tsize:4;\tsigned:1;\n"
	  "\tfield:int name;\toffset:0;\tsize:4294967295;\tsigned:1;\n\nprint fmt: \"\"\n" },
};

static void kernel_pass_unusable(void **state)
{
	for (size_t i = 0; i < countof(unusable); i++) {
		struct recording r;
		struct kernel_pass p;
		struct seen seen = { 0 };

		recording_begin(&r, LAYOUT, unusable[i].format);
		add_sample(&r, EVENT_ID, 100, 11, 44);
		recording_open(&r);
		assert_int_equal(run(&r, &p, &seen), -ENOENT);
		assert_int_equal(seen.n, 0);
		kernel_pass_done(&p);
		recording_close(&r);
	}
}

static void kernel_pass_handler_fails(void **state)
{
	struct recording r;
	struct kernel_pass p;
	struct seen seen = { .result = -ECANCELED };

	recording_begin(&r, LAYOUT, good_format);
	add_sample(&r, EVENT_ID, 100, 11, 44);
	add_sample(&r, EVENT_ID, 101, 11, 44);
	recording_open(&r);
	assert_int_equal(run(&r, &p, &seen), -ECANCELED);
	assert_int_equal(seen.n, 1);
	kernel_pass_done(&p);
	recording_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_pass_layouts),
		cmocka_unit_test(kernel_pass_threads),
		cmocka_unit_test(kernel_pass_short_samples),
		cmocka_unit_test(kernel_pass_unusable),
		cmocka_unit_test(kernel_pass_handler_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
