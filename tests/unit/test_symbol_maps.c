/*
 * Address spaces: later mappings cut earlier ones, forks share until one changes, exec begins
 * anew; and the names of threads.
 */
#include "symbol_support.h"

#include "symbol/process.h"

#include <errno.h>

static void insert(struct maps **m, uint64_t start, uint64_t last, uint32_t object)
{
	assert_int_equal(maps_insert(m, (struct interval){ start, last, start, object }), 0);
}

static uint32_t at(const struct maps *m, uint64_t address)
{
	const struct interval *i = maps_find(m, address);

	return i ? i->object : 0;
}

static void check_sorted(const struct maps *m)
{
	for (size_t i = 0; i < m->n; i++) {
		assert_true(m->v[i].start <= m->v[i].last);
		assert_true(i == 0 || m->v[i - 1].last < m->v[i].start);
	}
}

static void expect_around(const struct maps *m, uint64_t address, struct interval is)
{
	struct interval found = maps_around(m, address);

	assert_int_equal(found.start, is.start);
	assert_int_equal(found.last, is.last);
	assert_int_equal(found.object, is.object);
}

static void maps_gaps(void **state)
{
	struct maps *m = maps_new();

	expect_around(m, 77, (struct interval){ .start = 0, .last = UINT64_MAX });
	insert(&m, 0x1000, 0x1fff, 1);
	insert(&m, 0x4000, 0x4fff, 2);
	expect_around(m, 0, (struct interval){ .start = 0, .last = 0xfff });
	expect_around(m, 0x1fff, (struct interval){ .start = 0x1000, .last = 0x1fff, .object = 1 });
	expect_around(m, 0x2000, (struct interval){ .start = 0x2000, .last = 0x3fff });
	expect_around(m, 0x3fff, (struct interval){ .start = 0x2000, .last = 0x3fff });
	expect_around(m, UINT64_MAX, (struct interval){ .start = 0x5000, .last = UINT64_MAX });
	insert(&m, 0, 0xfff, 3);
	insert(&m, 0x5000, UINT64_MAX, 4);
	expect_around(m, 0, (struct interval){ .start = 0, .last = 0xfff, .object = 3 });
	expect_around(m, UINT64_MAX, (struct interval){ .start = 0x5000, .last = UINT64_MAX, .object = 4 });
	maps_unref(m);
}

static void maps_cut(void **state)
{
	struct maps *m = maps_new();

	insert(&m, 0x1000, 0x4fff, 1);
	insert(&m, 0x2000, 0x2fff, 2);		/* in the middle */
	assert_int_equal(m->n, 3);
	assert_int_equal(at(m, 0x1fff), 1);
	assert_int_equal(at(m, 0x2000), 2);
	assert_int_equal(at(m, 0x3000), 1);
	assert_int_equal(maps_find(m, 0x3000)->bias, 0x1000);	/* still the same object's offsets */
	insert(&m, 0x800, 0x17ff, 3);		/* over the front */
	assert_int_equal(at(m, 0x1000), 3);
	assert_int_equal(at(m, 0x1800), 1);
	insert(&m, 0x4800, 0x5fff, 4);		/* over the end */
	assert_int_equal(at(m, 0x47ff), 1);
	assert_int_equal(at(m, 0x5000), 4);
	insert(&m, 0, UINT64_MAX, 5);		/* over all */
	assert_int_equal(m->n, 1);
	insert(&m, UINT64_MAX, UINT64_MAX, 6);
	insert(&m, 0, 0, 7);
	assert_int_equal(at(m, 0), 7);
	assert_int_equal(at(m, 1), 5);
	assert_int_equal(at(m, UINT64_MAX), 6);
	check_sorted(m);
	assert_int_equal(maps_remove(&m, 0x100, 0x1ff), 0);
	assert_int_equal(at(m, 0x100), 0);
	assert_int_equal(at(m, 0x200), 5);
	check_sorted(m);
	maps_unref(m);
}

static void maps_below(void **state)
{
	struct maps *m = maps_new();

	insert(&m, 0x2000, 0x2fff, 1);
	insert(&m, 0x5000, 0x5fff, 2);
	assert_int_equal(maps_insert_below(&m, (struct interval){ 0x1000, 0x7fff, 0, 3 }), 0);
	assert_int_equal(m->n, 5);
	assert_int_equal(at(m, 0x1000), 3);
	assert_int_equal(at(m, 0x2000), 1);
	assert_int_equal(at(m, 0x3000), 3);
	assert_int_equal(at(m, 0x5fff), 2);
	assert_int_equal(at(m, 0x7fff), 3);
	assert_int_equal(maps_insert_below(&m, (struct interval){ 0, UINT64_MAX, 0, 4 }), 0);
	assert_int_equal(at(m, UINT64_MAX), 4);
	assert_int_equal(at(m, 0x5000), 2);
	check_sorted(m);
	maps_unref(m);
}

/* Against an array with one cell per address. */
static void maps_model(void **state)
{
	enum { CELLS = 512 };
	uint32_t cells[CELLS] = { 0 };
	struct maps *m = maps_new();
	uint64_t seed = 7;

	for (uint32_t i = 1; i < 3000; i++) {
		uint64_t a, b;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		a = (seed >> 33) % CELLS;
		b = min_of(a + (seed >> 50) % 64, (uint64_t)CELLS - 1);
		if (i % 5 == 0)
			assert_int_equal(maps_remove(&m, a, b), 0);
		else
			insert(&m, a, b, i);
		for (uint64_t c = a; c <= b; c++)
			cells[c] = i % 5 == 0 ? 0 : i;
		check_sorted(m);
		for (uint64_t c = 0; c < CELLS; c++)
			assert_int_equal(at(m, c), cells[c]);
	}
	maps_unref(m);
}

static void maps_limit(void **state)
{
	struct maps *m = maps_new();
	int err = 0;

	for (uint64_t i = 0; err == 0 && i < MAPS_MOST + 10; i++)
		err = maps_insert(&m, (struct interval){ i * 2, i * 2, 0, 1 });
	assert_int_equal(err, -E2BIG);
	maps_unref(m);
}

static void map_in(struct processes *p, uint32_t pid, uint64_t start, uint32_t object, bool vdso)
{
	struct process *proc = process_get(p, pid);

	process_before_map(proc, vdso);
	insert(&proc->maps, start, start + 0xfff, object);
}

static uint32_t in(struct processes *p, uint32_t pid, uint64_t address)
{
	const struct process *proc = process_find(p, pid);
	uint32_t object = proc ? at(proc->maps, address) : 0;

	return !object && proc && proc->before ? at(proc->before, address) : object;
}

static void process_forks(void **state)
{
	struct processes p = { 0 };
	uint64_t version;

	map_in(&p, 10, 0x1000, 1, false);
	assert_int_equal(process_fork(&p, 20, 20, 10, 10, true), 0);
	assert_ptr_equal(process_find(&p, 10)->maps, process_find(&p, 20)->maps);
	version = process_find(&p, 10)->maps->version;
	map_in(&p, 20, 0x2000, 2, false);
	assert_int_equal(in(&p, 20, 0x1000), 1);
	assert_int_equal(in(&p, 20, 0x2000), 2);
	assert_int_equal(in(&p, 10, 0x2000), 0);
	assert_int_equal(process_find(&p, 10)->maps->version, version);
	assert_true(process_find(&p, 20)->maps->version != version);
	/* A thread changes nothing, and what was found at the start has its maps told later. */
	assert_int_equal(process_fork(&p, 10, 11, 10, 10, true), 0);
	assert_int_equal(process_fork(&p, 30, 30, 10, 10, false), 0);
	assert_int_equal(in(&p, 30, 0x1000), 0);
	/* The pid is used again. */
	assert_int_equal(process_fork(&p, 20, 20, 30, 30, true), 0);
	assert_int_equal(in(&p, 20, 0x2000), 0);
	assert_int_equal(process_fork(&p, 10, 10, 10, 10, true), 0);
	assert_int_equal(in(&p, 10, 0x1000), 1);
	processes_done(&p);
}

static void process_execs(void **state)
{
	struct processes p = { 0 };

	map_in(&p, 10, 0x1000, 1, false);
	assert_int_equal(process_comm(&p, 10, 10, "new", true), 0);
	map_in(&p, 10, 0x5000, 2, false);
	assert_int_equal(in(&p, 10, 0x5000), 2);
	assert_int_equal(in(&p, 10, 0x1000), 1);	/* the call to exec is still being served */
	map_in(&p, 10, 0x9000, 3, true);
	assert_int_equal(in(&p, 10, 0x1000), 1);
	map_in(&p, 10, 0x6000, 4, false);		/* the new program maps its libraries */
	assert_int_equal(in(&p, 10, 0x1000), 0);
	assert_int_equal(in(&p, 10, 0x5000), 2);
	/* A new name alone does not mean exec. */
	assert_int_equal(process_comm(&p, 10, 10, "renamed", false), 0);
	map_in(&p, 10, 0x7000, 5, false);
	assert_int_equal(in(&p, 10, 0x5000), 2);
	processes_done(&p);
}

static void process_names(void **state)
{
	struct processes p = { 0 };

	assert_string_equal(process_comm_of(&p, 0, 0), "swapper");
	assert_string_equal(process_comm_of(&p, 5, 7), ":7");
	assert_string_equal(process_comm_of(&p, (uint32_t)-1, (uint32_t)-1), ":-1");
	process_comm(&p, 5, 5, "main", false);
	assert_string_equal(process_comm_of(&p, 5, 5), "main");
	assert_string_equal(process_comm_of(&p, 5, 7), ":7");
	process_fork(&p, 1, 1, 0, 0, true);
	assert_string_equal(process_comm_of(&p, 1, 1), "swapper");
	process_fork(&p, 5, 7, 5, 5, true);
	assert_string_equal(process_comm_of(&p, 5, 7), "main");
	process_comm(&p, 5, 7, "worker", false);
	assert_string_equal(process_comm_of(&p, 5, 7), "worker");
	assert_string_equal(process_comm_of(&p, 5, 5), "main");
	process_fork(&p, 8, 8, 5, 7, true);
	assert_string_equal(process_comm_of(&p, 8, 8), "worker");
	processes_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_cut),	 cmocka_unit_test(maps_below),
		cmocka_unit_test(maps_gaps),
		cmocka_unit_test(maps_model),	 cmocka_unit_test(maps_limit),
		cmocka_unit_test(process_forks), cmocka_unit_test(process_execs),
		cmocka_unit_test(process_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
