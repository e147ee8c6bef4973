/* agent/core/series.c: series are added, get points, end and expire; counters never fall. */
#include "agent/http/server.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct metric switches = {
	.event = "context-switches", .name = "perf_context_switches", .unit = "", .help = "switches",
	.kind = METRIC_COUNTER, .scale = 1,
};
static const struct metric ipc = {
	.event = "ipc", .name = "perf_ipc", .unit = "ratio", .kind = METRIC_GAUGE, .scale = 1,
};

static struct registry *fresh(void)
{
	static struct registry r;

	assert_int_equal(registry_init(&r), 0);
	return &r;
}

static uint32_t add(struct registry *r, const struct metric *like, const char *cpu)
{
	struct label labels[] = { { "source", "system" }, { "cpu", (char *)cpu } };
	const struct metric *m = registry_metric(r, like);
	int64_t id;

	assert_non_null(m);
	id = registry_add(r, &(struct series_desc){ m, "system", labels, countof(labels), 0, 1000 });
	assert_true(id > 0);
	return (uint32_t)id;
}

static void apply(struct registry *r, int64_t time_ns, struct point p)
{
	registry_apply(r, &(struct point_batch){ .source = "system", .time_ns = time_ns, .points = &p,
					   .n_points = 1 });
}

static void metrics_are_interned(void **state)
{
	struct registry *r = fresh();
	const struct metric *a = registry_metric(r, &switches), *b = registry_metric(r, &switches);

	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, &switches);
	assert_string_equal(a->event, "context-switches");
	assert_ptr_not_equal(registry_metric(r, &ipc), a);
	assert_string_equal(registry_metric(r, &ipc)->help, "");
	assert_int_equal(r->n_metrics, 2);
	registry_done(r);
}

static void labels_are_sorted_copies(void **state)
{
	struct registry *r = fresh();
	char cpu[] = "3";
	uint32_t id = add(r, &switches, cpu);
	const struct series *s = registry_get(r, id);

	cpu[0] = 'x';
	assert_int_equal(id, 1);
	assert_string_equal(s->labels[0].name, "cpu");
	assert_string_equal(series_label(s, "cpu"), "3");
	assert_string_equal(series_label(s, "source"), "system");
	assert_null(series_label(s, "pid"));
	assert_int_equal(s->start_ns, 1000);
	assert_int_equal(s->last.state, TACHO_NOT_COUNTED);
	registry_done(r);
}

static void counters_never_fall(void **state)
{
	struct registry *r = fresh();
	uint32_t id = add(r, &switches, "0");
	const struct series *s = registry_get(r, id);

	apply(r, 2000, (struct point){ .series = id, .count = 10, .value = 10 });
	assert_int_equal(s->last.count, 10);
	apply(r, 3000, (struct point){ .series = id, .state = TACHO_SCALED, .count = 9, .value = 9 });
	assert_int_equal(s->last.count, 10);
	assert_int_equal(s->last.state, TACHO_SCALED);
	assert_int_equal(s->time_ns, 3000);
	apply(r, 4000, (struct point){ .series = id, .count = 12, .value = 12 });
	assert_int_equal(s->last.count, 12);
	registry_done(r);
}

/* Added during a tick, whose time its first point has; later points may be older if the clock was set back. */
static void series_start_with_their_first_point(void **state)
{
	struct registry *r = fresh();
	uint32_t id = add(r, &switches, "0");
	const struct series *s = registry_get(r, id);

	apply(r, 900, (struct point){ .series = id, .count = 1, .value = 1 });
	assert_int_equal(s->start_ns, 900);
	apply(r, 800, (struct point){ .series = id, .count = 2, .value = 2 });
	assert_int_equal(s->start_ns, 900);
	registry_done(r);
}

static void gauges_may_fall(void **state)
{
	struct registry *r = fresh();
	uint32_t id = add(r, &ipc, "0");

	apply(r, 2000, (struct point){ .series = id, .value = 2 });
	apply(r, 3000, (struct point){ .series = id, .value = 0.5 });
	assert_true(registry_get(r, id)->last.value == 0.5);
	registry_done(r);
}

static void a_reason_goes_when_it_counts_again(void **state)
{
	struct registry *r = fresh();
	uint32_t id = add(r, &switches, "0");
	const struct series *s = registry_get(r, id);

	registry_set_state(r, id, TACHO_FAILED, "CPU 0 is offline");
	assert_int_equal(s->last.state, TACHO_FAILED);
	assert_string_equal(s->why, "CPU 0 is offline");
	apply(r, 2000, (struct point){ .series = id, .count = 1, .value = 1 });
	assert_null(s->why);
	registry_done(r);
}

static void an_ended_series_leaves_a_hole(void **state)
{
	struct registry *r = fresh();
	uint32_t first = add(r, &switches, "0"), second = add(r, &switches, "1");
	uint64_t generation = r->generation;

	apply(r, 2000, (struct point){ .series = first, .count = 1, .value = 1 });
	registry_end(r, first);
	registry_expire(r, 2000);
	assert_non_null(registry_get(r, first));
	assert_int_equal(r->generation, generation);
	registry_expire(r, 2001);
	assert_null(registry_get(r, first));
	assert_int_not_equal(r->generation, generation);
	assert_non_null(registry_get(r, second));
	assert_int_equal(add(r, &switches, "0"), 3);
	/* Points of expired and unknown series are ignored. */
	apply(r, 3000, (struct point){ .series = first, .count = 5 });
	apply(r, 3000, (struct point){ .series = 99, .count = 5 });
	registry_set_state(r, 0, TACHO_FAILED, "none");
	registry_end(r, 99);
	assert_null(registry_get(r, 0));
	registry_done(r);
}

/* Many short-lived processes: ids grow, memory does not. */
static void memory_of_ended_series_is_reused(void **state)
{
	struct registry *r = fresh();
	uint32_t first = add(r, &switches, "0"), ids[3] = { 0 };

	for (int round = 0; round < 1000; round++) {
		for (int i = 0; i < 3; i++) {
			ids[i] = add(r, &switches, "1");
			apply(r, round + 1, (struct point){ .series = ids[i], .count = (uint64_t)i, .value = i });
		}
		registry_end(r, ids[round % 3]);
		registry_expire(r, round);
		assert_int_equal(registry_get(r, first)->id, first);
		for (int i = 0; i < 3; i++) {
			assert_int_equal(registry_get(r, ids[i])->id, ids[i]);
			assert_int_equal(registry_get(r, ids[i])->last.count, i);
			registry_end(r, ids[i]);
		}
	}
	assert_int_equal(ids[2], 3001);
	assert_true(registry_revive(r, ids[2]));
	registry_expire(r, 5000);
	assert_false(registry_revive(r, ids[1]));
	assert_int_equal(r->n, 2);
	assert_true(r->cap < 64);
	assert_null(registry_get(r, 0));
	assert_null(registry_get(r, 1500));
	assert_null(registry_get(r, 3002));
	assert_null(registry_get(r, UINT32_MAX));
	assert_int_equal(registry_lower_bound(r, 2), 1);
	assert_int_equal(registry_lower_bound(r, 3001), 1);
	assert_int_equal(registry_lower_bound(r, 3002), 2);
	registry_done(r);
}

/* A metric has one line per set of labels, also right after a reload. */
static void ratios_that_ended_are_not_shown(void **state)
{
	struct registry *r = fresh();
	struct agent_config cfg = { 0 };
	uint32_t counter = add(r, &switches, "0"), before = add(r, &ipc, "0"), now = add(r, &ipc, "0");
	struct buf out = { 0 };

	apply(r, 1, (struct point){ .series = counter, .count = 7, .value = 7 });
	apply(r, 1, (struct point){ .series = before, .value = 1.5 });
	apply(r, 2, (struct point){ .series = now, .value = 2.5 });
	registry_end(r, before);
	registry_end(r, counter);
	prometheus_series(r, &cfg, false, true, &out);
	assert_non_null(strstr(out.bytes, "perf_context_switches_total{cpu=\"0\",source=\"system\"} 7\n"));
	assert_non_null(strstr(out.bytes, "} 2.5\n"));
	assert_null(strstr(out.bytes, "} 1.5\n"));
	buf_done(&out);
	registry_done(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_are_interned),
		cmocka_unit_test(labels_are_sorted_copies),
		cmocka_unit_test(counters_never_fall),
		cmocka_unit_test(series_start_with_their_first_point),
		cmocka_unit_test(gauges_may_fall),
		cmocka_unit_test(a_reason_goes_when_it_counts_again),
		cmocka_unit_test(an_ended_series_leaves_a_hole),
		cmocka_unit_test(memory_of_ended_series_is_reused),
		cmocka_unit_test(ratios_that_ended_are_not_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
