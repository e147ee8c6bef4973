/* agent/source/cpu_times.c: busy time from readings that the kernel rounds to ticks. */
#include "agent/source/cpu_times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define SECOND 1000000000ull
#define TICK 10000000ull

static uint64_t to_ticks(uint64_t ns)
{
	return ns / TICK * TICK;
}

/* Readings once a second, delayed by up to 7 ms, of a CPU that is busy for this share of each second. */
static uint64_t busy_after(unsigned seconds, uint64_t busy_ns_per_s)
{
	struct cpu_time_counters c = { 0 };
	uint64_t late = 0;

	for (unsigned i = 0; i <= seconds; i++) {
		uint64_t at = 1000 * SECOND + i * SECOND + late, busy = (at - 1000 * SECOND) / 1000 * (busy_ns_per_s / 1000000);
		struct tacho_cpu_times t = { .size = sizeof(t), .idle_ns = to_ticks(at - busy - at / 50), .iowait_ns = to_ticks(at / 50),
					     .user_ns = to_ticks(busy) };

		cpu_times_add(&c, &t, at);
		late = (late * 31 + 1234567) % 7000000;
	}
	return c.total_ns[CPU_BUSY];
}

static void an_idle_cpu_is_idle(void **state)
{
	(void)state;
	assert_true(busy_after(1000, 0) <= 3 * TICK);
}

static void a_busy_cpu_is_busy(void **state)
{
	uint64_t quarter = busy_after(1000, 250000000), all = busy_after(1000, 980000000);

	(void)state;
	assert_in_range(quarter, 250 * SECOND - 3 * TICK, 250 * SECOND + 3 * TICK);
	assert_in_range(all, 980 * SECOND - 3 * TICK, 980 * SECOND + 3 * TICK);
}

/* iowait may go back; a CPU that was offline starts again. */
static void times_never_fall(void **state)
{
	struct cpu_time_counters c = { 0 };
	struct tacho_cpu_times t = { .size = sizeof(t), .idle_ns = 5 * SECOND, .iowait_ns = SECOND, .steal_ns = 0 };
	uint64_t before;

	(void)state;
	cpu_times_add(&c, &t, 10 * SECOND);
	t.iowait_ns -= SECOND / 2;
	cpu_times_add(&c, &t, 11 * SECOND);
	assert_int_equal(c.total_ns[CPU_BUSY], SECOND);		/* not more than has passed */
	assert_int_equal(c.total_ns[CPU_IOWAIT], 0);
	t.idle_ns += 30 * SECOND;				/* more than rounding explains */
	cpu_times_add(&c, &t, 12 * SECOND);
	before = c.total_ns[CPU_BUSY];
	cpu_times_add(&c, &t, 13 * SECOND);
	assert_int_equal(c.total_ns[CPU_BUSY] - before, SECOND - 100000000);
	cpu_times_interrupt(&c);
	before = c.total_ns[CPU_BUSY];
	cpu_times_add(&c, &t, 100 * SECOND);
	assert_int_equal(c.total_ns[CPU_BUSY], before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_cpu_is_idle),
		cmocka_unit_test(a_busy_cpu_is_busy),
		cmocka_unit_test(times_never_fall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
