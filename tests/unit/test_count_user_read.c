/* count/user_read.c: reading counters through fake mapped pages, also while another thread updates them. */
#include "count/user_read.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/defs.h"
#include "sys/arch.h"

static uint64_t counters[8];
static uint32_t last_index;

static uint64_t fake_counter(uint32_t index)
{
	last_index = index;
	return __atomic_load_n(&counters[index], __ATOMIC_RELAXED);
}

static void widths(void **state)
{
	static const unsigned all[] = { 32, 40, 48, 64 };

	for (size_t i = 0; i < countof(all); i++) {
		uint64_t mask = all[i] == 64 ? UINT64_MAX : (1ULL << all[i]) - 1;
		struct perf_event_mmap_page page = { .index = 3, .offset = 5000,
						     .capabilities = PERF_PAGE_USER_RDPMC,
						     .pmc_width = (uint16_t)all[i],
						     .time_enabled = 70, .time_running = 60 };
		struct user_read_value v;

		/* The kernel initialises counters with negative numbers. */
		counters[2] = (uint64_t)-1000 & mask;
		assert_int_equal(user_read(&page, fake_counter, &v), 0);
		assert_int_equal(last_index, 2);
		assert_int_equal(v.value, 4000);
		assert_int_equal(v.enabled_ns, 70);
		assert_int_equal(v.running_ns, 60);
		counters[2] = 1000;
		assert_int_equal(user_read(&page, fake_counter, &v), 0);
		assert_int_equal(v.value, 6000);
		/* Bits above the width are noise. */
		counters[2] = 1000 | ~mask;
		assert_int_equal(user_read(&page, fake_counter, &v), 0);
		assert_int_equal(v.value, 6000);
	}
}

static void not_readable(void **state)
{
	struct perf_event_mmap_page page = { .index = 1, .capabilities = PERF_PAGE_USER_RDPMC,
					     .pmc_width = 48 };
	struct user_read_value v = { .value = 77 };

	page.index = 0;			/* not on the hardware now */
	assert_int_equal(user_read(&page, fake_counter, &v), -EAGAIN);
	page.index = 1;
	page.capabilities = 0;		/* not allowed */
	assert_int_equal(user_read(&page, fake_counter, &v), -EAGAIN);
	page.capabilities = PERF_PAGE_USER_RDPMC;
	page.pmc_width = 0;
	assert_int_equal(user_read(&page, fake_counter, &v), -EAGAIN);
	page.pmc_width = 65;
	assert_int_equal(user_read(&page, fake_counter, &v), -EAGAIN);
	page.pmc_width = 48;
	page.lock = 1;			/* a writer that never ends */
	assert_int_equal(user_read(&page, fake_counter, &v), -EBUSY);
	assert_int_equal(v.value, 77);
}

/* The writer increases offset + counter, moves the event between counters, and
 * takes it off the hardware from time to time. */
static struct perf_event_mmap_page shared = { .index = 1, .capabilities = PERF_PAGE_USER_RDPMC,
					      .pmc_width = 40 };
static bool stop;

static void *write_page(void *arg)
{
	uint64_t total = 0;

	for (uint32_t round = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); round++) {
		uint32_t index = round % 5;
		uint64_t start = (uint64_t)-(int64_t)(1000 + round % 77) & ((1ULL << 40) - 1);

		__atomic_store_n(&shared.lock, shared.lock + 1, __ATOMIC_SEQ_CST);
		if (index)
			__atomic_store_n(&counters[index - 1], start, __ATOMIC_SEQ_CST);
		__atomic_store_n(&shared.index, index, __ATOMIC_SEQ_CST);
		total += 10;
		__atomic_store_n(&shared.offset, (int64_t)(total + 1000 + round % 77), __ATOMIC_SEQ_CST);
		__atomic_store_n(&shared.lock, shared.lock + 1, __ATOMIC_SEQ_CST);
		for (int i = 0; i < 50; i++)
			__asm__ volatile("" ::: "memory");
	}
	return NULL;
}

static void while_it_changes(void **state)
{
	unsigned n_new = 0;
	uint64_t before = 0;
	pthread_t writer;

	assert_int_equal(pthread_create(&writer, NULL, write_page, NULL), 0);
	for (unsigned i = 0; i < 200000 || n_new < 100; i++) {
		struct user_read_value v;

		assert_true(i < 1000000000);
		if (user_read(&shared, fake_counter, &v) < 0) {
			if (i % 1000 == 0)
				sched_yield();	/* the writer may be waiting for this CPU in the middle of an update */
			continue;
		}
		/* A torn read would be off by about a thousand, or by 2^40. */
		assert_true(v.value >= before);
		assert_int_equal(v.value % 10, 0);
		n_new += v.value > before;
		before = v.value;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(writer, NULL);
}

static void this_processor(void **state)
{
	uint64_t a = arch_timestamp(), b = arch_timestamp();

	assert_true(b >= a);
	if (!arch_can_read_counters())
		assert_int_equal(arch_counter_max(), 0);
	else
		assert_true(arch_counter_max() >= 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(widths),
		cmocka_unit_test(not_readable),
		cmocka_unit_test(while_it_changes),
		cmocka_unit_test(this_processor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
