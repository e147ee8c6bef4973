/*
 * Counts and samples itself, and checks what it gets. The test compiles it with the headers as they are, with structs that
 * have fewer members, as an earlier version had, and with structs that have more, and runs all three with one library.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacho/tacho.h>

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, e.message); \
			exit(1); \
		} \
	} while (0)

static struct tacho *t;
static struct tacho_error e;

static unsigned long work(void)
{
	volatile unsigned long sum = 0;

	for (unsigned long i = 0; i < 20000000; i++)
		sum += i;
	return sum;
}

/* Elements behind the first one are at the program's distance, and have nothing in members that the library does not know. */
static void check_counts(struct tacho_evset *set)
{
	static const struct tacho_sums_opts per_total = { .size = sizeof(per_total) };
	const struct tacho_reading *readings;
	const struct tacho_sum *sums;
	size_t n;

	CHECK(tacho_evset_read(set, &e) == 3);
	readings = tacho_evset_readings(set, &n);
	CHECK(n == 3);
	CHECK(tacho_evset_sums(set, &per_total, &sums) == 3);
	for (uint32_t i = 0; i < 3; i++) {
		CHECK(readings[i].event == i && readings[i].state == TACHO_COUNTING && readings[i].cpu == -1);
		CHECK(sums[i].event == i && sums[i].state == TACHO_COUNTING && sums[i].n_counters == 1);
		CHECK(sums[i].count == readings[i].value && sums[i].place.cpu == -1);
#ifdef GROWN
		CHECK(readings[i].later == 0 && sums[i].later == 0);
#endif
	}
	CHECK(sums[0].count > 100 && sums[0].count == sums[2].count && sums[1].count > 1000);
}

static void touch_pages(void)
{
	for (int i = 0; i < 10; i++) {
		char *pages = malloc(1 << 20);

		CHECK(pages);
		memset(pages, 1, 1 << 20);
		__asm__ volatile("" : : "r"(pages) : "memory");
		free(pages);
	}
}

static void count(void)
{
	struct tacho_evset *set;

	CHECK(tacho_evset_new(&set, t) == 0);
	CHECK(tacho_evset_add(set, "{page-faults:u,task-clock:u,faults:u}", &e) == 3);
	CHECK(tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .no_inherit = true), &e) == 3);
	CHECK(tacho_evset_start(set) == 0);
	touch_pages();
	CHECK(tacho_evset_stop(set) == 0);
	check_counts(set);
	tacho_evset_free(set);
}

static unsigned n_samples;

static void check_record(const struct tacho_record *rec, const struct tacho_layout *lay)
{
	static struct tacho_scratch scratch;
	static struct { struct tacho_sample sample, again; struct tacho_sideband other; unsigned char guard[64]; } at;

	memset(at.guard, 0xaa, sizeof(at.guard));
	if (rec->type == TACHO_RECORD_SAMPLE) {
		CHECK(tacho_sample_decode(&at.sample, rec, lay, &scratch) == 0);
		CHECK(at.sample.ip && at.sample.period == 1000000 && at.sample.id == tacho_record_id(rec, lay));
		CHECK(tacho_sample_decode_again(&at.again, rec, lay, &scratch) == 0);
		CHECK(memcmp(&at.sample, &at.again, sizeof(at.sample)) == 0);
#ifdef GROWN
		CHECK(at.sample.later == 0);
#endif
		n_samples++;
	} else {
		CHECK(tacho_sideband_decode(&at.other, rec, lay, &scratch) == 0);
		CHECK(at.other.type == rec->type);
	}
	for (size_t i = 0; i < sizeof(at.guard); i++)
		CHECK(at.guard[i] == 0xaa);
}

static void sample(void)
{
	const struct tacho_live_record *r;
	struct tacho_sampler *s;

	CHECK(tacho_sampler_new(&s, t) == 0);
	CHECK(tacho_sampler_add(s, "task-clock:u", &e) == 1);
	CHECK(tacho_sampler_open(s, TACHO_OPTS(tacho_sampler_opts, .period = 1000000,
			.target = TACHO_OPTS(tacho_evset_opts, .no_inherit = true)), &e) == 1);
	CHECK(tacho_sampler_start(s) == 0);
	work();
	CHECK(tacho_sampler_stop(s) == 0);
	while (tacho_sampler_next(s, &r, 0) == 1) {
		check_record(r->record, r->layout);
		CHECK(!r->sample || r->sample->period == 1000000);
	}
	CHECK(n_samples > 0);
	tacho_sampler_free(s);
}

static void measure(void)
{
	struct tacho_region region = TACHO_REGION("work");
	struct tacho_meter *meter;
	struct tacho_mark mark;

	CHECK(tacho_meter_open(&meter, t, "task-clock:u,page-faults:u", &e) == 0);
	CHECK(tacho_region_begin(meter, &mark) == 0);
	work();
	CHECK(tacho_region_end(meter, &mark, &region) == 0);
	CHECK(region.n == 1 && region.sum[0] > 100000);
	tacho_meter_close(meter);
}

#ifdef GROWN
static void unknown_options_are_refused(void)
{
	struct tacho_evset *set;

	CHECK(tacho_evset_new(&set, t) == 0);
	CHECK(tacho_evset_add(set, "task-clock:u", &e) == 1);
	CHECK(tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .later = 1), &e) == -E2BIG);
	CHECK(tacho_evset_open(set, TACHO_OPTS(tacho_evset_opts, .later = 0), &e) == 1);
	tacho_evset_free(set);
}
#endif

int main(void)
{
	CHECK(tacho_open(&t, NULL, &e) == 0);
	count();
	sample();
	measure();
#ifdef GROWN
	unknown_options_are_refused();
#endif
	tacho_close(t);
	return 0;
}
