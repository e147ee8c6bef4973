/*
 * tacho_sampler_next(): every record once, in the order of time across CPUs, with its event and decoded by its layout;
 * time-outs; the end of the target.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <tacho/tacho.h>

#define PAGES 300

static struct tacho_sampler *sampler_on(struct tacho *t, const char *spec, const struct tacho_sampler_opts *opts)
{
	struct tacho_sampler *s;
	struct tacho_error e;

	assert_int_equal(tacho_sampler_new(&s, t), 0);
	assert_true(tacho_sampler_add(s, spec, &e) > 0);
	if (tacho_sampler_open(s, opts, &e) < 1)
		fail_msg("%s", e.message);
	return s;
}

static void touch_pages(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	for (size_t i = 0; i < n; i++)
		p[i * page] = 1;
	munmap(p, n * page);
}

static void work(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		touch_pages(PAGES);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 120);
}

/* A child that waits for a byte, then works, as its own child does. Returns its pid. */
static pid_t start_pair(int *gate)
{
	int fds[2];
	pid_t pid;
	char go;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(fds[1]);
		if (read(fds[0], &go, 1) != 1)
			_exit(1);
		pid = fork();
		work();
		if (pid > 0)
			waitpid(pid, NULL, 0);
		_exit(0);
	}
	close(fds[0]);
	*gate = fds[1];
	return pid;
}

static void everything_in_order(void **state)
{
	struct tacho *t;
	int gate, pid = (assert_int_equal(tacho_open(&t, NULL, NULL), 0), start_pair(&gate)), got;
	struct tacho_sampler *s = sampler_on(t, "page-faults:u,cpu-clock:u", TACHO_OPTS(tacho_sampler_opts, .fields = TACHO_FIELD_ADDR | TACHO_FIELD_CPU,
					     .period = 1000, .target = TACHO_OPTS(tacho_evset_opts, .pids = &pid, .n_pids = 1)));
	struct tacho_sampler_stats stats = { .size = sizeof(stats) };
	const struct tacho_live_record *r;
	uint64_t last = 0, n_samples = 0, n_faults = 0, n_exits = 0;

	assert_int_equal(tacho_sampler_start(s), 0);
	assert_int_equal(write(gate, "", 1), 1);
	while ((got = tacho_sampler_next(s, &r, 5000)) == 1) {
		uint64_t time = tacho_record_time(r->record, r->layout);

		assert_true(r->event < 3);
		assert_true(time >= last);
		last = time;
		n_exits += r->record->type == TACHO_RECORD_EXIT;
		if (r->record->type == TACHO_RECORD_EXIT || r->record->type == TACHO_RECORD_MMAP2)
			assert_int_equal(r->event, 2);
		if (!r->sample)
			continue;
		n_samples++;
		assert_true(r->event < 2);
		assert_int_equal(r->sample->time, time);
		assert_true(r->sample->tid != 0 && r->sample->type & 1);
		n_faults += r->event == 0;
	}
	assert_int_equal(got, -ESRCH);
	assert_int_equal(tacho_sampler_next(s, &r, 0), -ESRCH);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(n_exits, 2);
	assert_true(n_samples > 0);
	assert_int_equal(tacho_sampler_stats(s, SIZE_MAX, &stats), 0);
	assert_int_equal(n_samples, stats.samples);
	assert_int_equal(tacho_sampler_stats(s, 0, &stats), 0);
	assert_int_equal(n_faults, stats.samples);
	close(gate);
	tacho_sampler_free(s);
	tacho_close(t);
	(void)state;
}

/* Two events whose samples have different fields. */
static int check_layouts(void *arg, const void *bytes, size_t n)
{
	static struct tacho_scratch scratch;
	struct tacho_record_iter it = { .at = bytes, .end = (const uint8_t *)bytes + n };
	struct { struct tacho_sampler *s; size_t n[3]; } *seen = arg;
	struct tacho_record rec;

	while (tacho_record_next(&it, &rec) == 1) {
		uint32_t event = 77;
		const struct tacho_layout *lay = tacho_sampler_layout(seen->s, &rec, &event);
		struct tacho_sample sample;
		struct tacho_sideband other;

		assert_non_null(lay);
		assert_true(event < 3);
		seen->n[event]++;
		if (rec.type != TACHO_RECORD_SAMPLE) {
			assert_int_equal(tacho_sideband_decode(&other, &rec, lay, &scratch), 0);
			continue;
		}
		assert_int_equal(tacho_sample_decode(&sample, &rec, lay, &scratch), 0);
		assert_int_equal(sample.chain.n > 0, event == 0);
	}
	return 0;
}

static void layouts_of_records(void **state)
{
	struct { struct tacho_sampler *s; size_t n[3]; } seen = { 0 };
	struct tacho *t;

	assert_int_equal(tacho_open(&t, NULL, NULL), 0);
	assert_null(tacho_sampler_layout(NULL, NULL, NULL));
	seen.s = sampler_on(t, "page-faults/call-graph=fp/u,cpu-clock:u", TACHO_OPTS(tacho_sampler_opts, .period = 1));
	assert_null(tacho_sampler_layout(seen.s, NULL, NULL));
	assert_int_equal(tacho_sampler_start(seen.s), 0);
	work();
	assert_int_equal(tacho_sampler_stop(seen.s), 0);
	assert_true(tacho_sampler_drain(seen.s, check_layouts, &seen) > 0);
	assert_true(seen.n[0] > 0);
	assert_true(seen.n[1] > 0);
	tacho_sampler_free(seen.s);
	tacho_close(t);
	(void)state;
}

static void nothing_to_return(void **state)
{
	struct tacho *t;
	struct tacho_sampler *s;
	const struct tacho_live_record *r = NULL;
	struct timespec begin, end;

	assert_int_equal(tacho_open(&t, NULL, NULL), 0);
	assert_int_equal(tacho_sampler_new(&s, t), 0);
	assert_int_equal(tacho_sampler_next(s, &r, 0), -EBADF);
	assert_int_equal(tacho_sampler_next(NULL, &r, 0), -EBADF);
	tacho_sampler_free(s);
	s = sampler_on(t, "page-faults:u", TACHO_OPTS(tacho_sampler_opts, .period = 1));
	while (tacho_sampler_next(s, &r, 0) == 1)	/* what opening itself caused */
		;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	assert_int_equal(tacho_sampler_next(s, &r, 250), 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_true((end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000 >= 249);
	assert_int_equal(tacho_sampler_start(s), 0);
	touch_pages(10);
	assert_int_equal(tacho_sampler_next(s, &r, -1), 1);
	assert_int_equal(r->event, 0);
	tacho_sampler_free(s);
	tacho_close(t);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_in_order),
		cmocka_unit_test(layouts_of_records),
		cmocka_unit_test(nothing_to_return),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
