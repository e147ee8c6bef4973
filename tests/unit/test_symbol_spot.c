/*
 * Spots: equal for all processes that have the same part of the same object there, and never those
 * of what was mapped before.
 */
#include "symbol_support.h"

#include <tacho/symbol.h>

#include <stdio.h>

#define USER TACHO_SPACE_USER
#define KERNEL_IP 0xffffffff81000100ull
#define MODULE_IP 0xffffffffc0001000ull

static struct tacho_symbols *symbols(void)
{
	struct tacho_symbols_opts opts = { .size = sizeof(opts), .symfs = "/nowhere",
					   .build_id_dir = "/nowhere", .procfs = "/nowhere" };
	struct tacho_symbols *s;

	assert_int_equal(tacho_symbols_new(&s, &opts, NULL), 0);
	return s;
}

static void feed_map(struct tacho_symbols *s, uint32_t pid, uint64_t addr, uint64_t len, uint64_t pgoff,
		     const char *path)
{
	struct tacho_sideband rec = { .type = TACHO_RECORD_MMAP2, .misc = TACHO_SPACE_USER };

	rec.mmap = (struct tacho_mmap){ .pid = pid, .tid = pid, .addr = addr, .len = len,
					.pgoff = pgoff, .prot = 5, .path = path };
	assert_int_equal(tacho_symbols_feed(s, &rec), 0);
}

static void feed_fork(struct tacho_symbols *s, uint32_t pid, uint32_t ppid)
{
	struct tacho_sideband rec = { .type = TACHO_RECORD_FORK };

	rec.task.pid = rec.task.tid = pid;
	rec.task.ppid = rec.task.ptid = ppid;
	assert_int_equal(tacho_symbols_feed(s, &rec), 0);
}

static void feed_exec(struct tacho_symbols *s, uint32_t pid)
{
	struct tacho_sideband rec = { .type = TACHO_RECORD_COMM, .misc = 1u << 13 };

	rec.comm.pid = rec.comm.tid = pid;
	rec.comm.name = "x";
	assert_int_equal(tacho_symbols_feed(s, &rec), 0);
}

static struct tacho_spot spot_at(struct tacho_symbols *s, uint32_t pid, enum tacho_space space, uint64_t ip)
{
	struct tacho_spot spot, again;

	assert_int_equal(tacho_symbols_spots(s, pid, space, &ip, 1, &spot), 0);
	assert_int_equal(tacho_symbols_spots(s, pid, space, &ip, 1, &again), 0);	/* from the cache */
	assert_int_equal(spot.object, again.object);
	assert_int_equal(spot.offset, again.offset);
	return spot;
}

static bool same(struct tacho_spot a, struct tacho_spot b)
{
	return a.object == b.object && a.offset == b.offset;
}

static void spots_are_shared(void **state)
{
	struct tacho_symbols *s = symbols();

	feed_map(s, 1, 0x10000, 0x4000, 0x1000, "/lib/a");
	feed_map(s, 2, 0x7f0000000000, 0x4000, 0x1000, "/lib/a");
	feed_map(s, 3, 0x10000, 0x4000, 0x1000, "/lib/b");
	assert_true(spot_at(s, 1, USER, 0x10123).object != 0);
	assert_true(same(spot_at(s, 1, USER, 0x10123), spot_at(s, 2, USER, 0x7f0000000123)));
	assert_false(same(spot_at(s, 1, USER, 0x10123), spot_at(s, 1, USER, 0x10124)));
	assert_false(same(spot_at(s, 1, USER, 0x10123), spot_at(s, 3, USER, 0x10123)));
	assert_true(same(spot_at(s, 1, TACHO_SPACE_UNKNOWN, 0x10123), spot_at(s, 1, USER, 0x10123)));
	/* Unknown process, unmapped address: no spot. */
	assert_int_equal(spot_at(s, 4, USER, 0x10123).object, 0);
	assert_int_equal(spot_at(s, 1, USER, 0x14000).object, 0);
	assert_int_equal(spot_at(s, 1, TACHO_SPACE_GUEST_USER, 0x10123).object, 0);
	tacho_symbols_free(s);
}

/* A spot can be resolved after the process has mapped something else there, or has ended. */
static void spots_outlive_maps(void **state)
{
	struct tacho_symbols *s = symbols();
	struct tacho_frame now, later;
	struct tacho_spot spot;

	feed_map(s, 1, 0x10000, 0x4000, 0x1000, "/lib/a");
	spot = spot_at(s, 1, USER, 0x10123);
	assert_int_equal(tacho_symbols_resolve(s, 1, USER, 0x10123, &now), 0);
	feed_map(s, 1, 0x10000, 0x4000, 0, "/lib/b");
	feed_exec(s, 1);
	assert_int_equal(tacho_symbols_resolve_spot(s, USER, &spot, &later), 0);
	assert_memory_equal(&now, &later, sizeof(now));
	assert_int_not_equal(now.object, 0);
	tacho_symbols_free(s);
}

/* A cached gap is invalid once something is mapped there. */
static void gaps_are_filled(void **state)
{
	struct tacho_symbols *s = symbols();

	feed_map(s, 1, 0x10000, 0x1000, 0, "/lib/a");
	feed_map(s, 1, 0x20000, 0x1000, 0, "/lib/a");
	assert_int_equal(spot_at(s, 1, USER, 0x18000).object, 0);
	feed_map(s, 1, 0x18000, 0x1000, 0, "/lib/b");
	assert_int_not_equal(spot_at(s, 1, USER, 0x18000).object, 0);
	assert_int_equal(spot_at(s, 1, USER, 0x17fff).object, 0);
	feed_fork(s, 2, 1);
	assert_true(same(spot_at(s, 1, USER, 0x18000), spot_at(s, 2, USER, 0x18000)));
	tacho_symbols_free(s);
}

static void spots_follow_maps(void **state)
{
	struct tacho_symbols *s = symbols();
	struct tacho_spot old, other;

	feed_map(s, 1, 0x10000, 0x4000, 0, "/lib/a");
	old = spot_at(s, 1, USER, 0x11010);
	other = spot_at(s, 1, USER, 0x10010);
	feed_map(s, 1, 0x11000, 0x1000, 0, "/lib/b");	/* over its middle */
	assert_false(same(spot_at(s, 1, USER, 0x11010), old));
	assert_true(same(spot_at(s, 1, USER, 0x10010), other));
	assert_int_equal(spot_at(s, 1, USER, 0x12010).object, other.object);
	feed_map(s, 1, 0x11000, 0x1000, 0x1000, "/lib/a");	/* and back again */
	assert_true(same(spot_at(s, 1, USER, 0x11010), old));
	tacho_symbols_free(s);
}

static void spots_follow_tasks(void **state)
{
	struct tacho_symbols *s = symbols();
	struct tacho_spot a, b;

	feed_map(s, 1, 0x10000, 0x4000, 0, "/lib/a");
	feed_map(s, 2, 0x10000, 0x4000, 0, "/lib/b");
	a = spot_at(s, 1, USER, 0x10010);
	b = spot_at(s, 2, USER, 0x10010);
	feed_fork(s, 3, 1);
	assert_true(same(spot_at(s, 3, USER, 0x10010), a));
	feed_map(s, 3, 0x10000, 0x1000, 0, "/lib/c");	/* the child's alone */
	assert_false(same(spot_at(s, 3, USER, 0x10010), a));
	assert_true(same(spot_at(s, 1, USER, 0x10010), a));
	feed_fork(s, 3, 2);				/* the pid is reused */
	assert_true(same(spot_at(s, 3, USER, 0x10010), b));
	/* During exec samples belong to the old program, afterwards to the new one. */
	feed_exec(s, 3);
	assert_true(same(spot_at(s, 3, USER, 0x10010), b));
	feed_map(s, 3, 0x50000, 0x1000, 0, "/bin/new");
	assert_true(same(spot_at(s, 3, USER, 0x10010), b));
	feed_map(s, 3, 0x70000, 0x1000, 0, "[vdso]");
	feed_map(s, 3, 0x90000, 0x1000, 0, "/lib/d");
	assert_int_equal(spot_at(s, 3, USER, 0x10010).object, 0);
	assert_true(same(spot_at(s, 2, USER, 0x10010), b));
	tacho_symbols_free(s);
}

static void feed_kernel(struct tacho_symbols *s, uint64_t addr, uint64_t len, const char *path)
{
	struct tacho_sideband rec = { .type = TACHO_RECORD_MMAP, .misc = TACHO_SPACE_KERNEL };

	rec.mmap = (struct tacho_mmap){ .pid = UINT32_MAX, .addr = addr, .len = len, .path = path };
	assert_int_equal(tacho_symbols_feed(s, &rec), 0);
}

static void spots_of_the_kernel(void **state)
{
	struct tacho_symbols *s = symbols();
	struct tacho_spot k, m;

	feed_kernel(s, 0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text");
	feed_kernel(s, MODULE_IP, 0x1000, "[one]");
	k = spot_at(s, 1, TACHO_SPACE_KERNEL, KERNEL_IP);
	m = spot_at(s, 1, TACHO_SPACE_KERNEL, MODULE_IP + 8);
	assert_true(same(k, spot_at(s, 2, TACHO_SPACE_KERNEL, KERNEL_IP)));
	assert_true(same(k, spot_at(s, 2, TACHO_SPACE_UNKNOWN, KERNEL_IP)));
	feed_map(s, 1, 0x10000, 0x4000, 0, "/lib/a");	/* a program's maps do not matter */
	assert_true(same(k, spot_at(s, 1, TACHO_SPACE_KERNEL, KERNEL_IP)));
	feed_kernel(s, MODULE_IP, 0x1000, "[two]");	/* another module at the same address */
	assert_false(same(m, spot_at(s, 1, TACHO_SPACE_KERNEL, MODULE_IP + 8)));
	tacho_symbols_free(s);
}

enum { PIDS = 4, PAGES = 64 };
struct model { unsigned file, page; };	/* file 0: nothing */

/* Random maps and forks, compared with an array of pages. */
static void spots_by_chance(void **state)
{
	static struct model now[PIDS][PAGES];
	struct tacho_symbols *s = symbols();
	struct tacho_spot first[5][2 * PAGES] = { 0 };
	unsigned seed = 1;

	memset(now, 0, sizeof(now));
	for (unsigned step = 0; step < 4000; step++) {
		unsigned pid = (seed = seed * 1103515245 + 12345) >> 16 & (PIDS - 1);
		unsigned from = (seed = seed * 1103515245 + 12345) >> 16 & (PAGES - 1);
		unsigned n = 1 + ((seed = seed * 1103515245 + 12345) >> 16) % (PAGES - from);
		unsigned file = 1 + ((seed = seed * 1103515245 + 12345) >> 16 & 3);

		if (step % 16 == 15) {
			feed_fork(s, pid + 1, (pid + file) % PIDS + 1);
			memmove(now[pid], now[(pid + file) % PIDS], sizeof(now[pid]));
		} else {
			char path[] = { '/', (char)('0' + file), 0 };

			feed_map(s, pid + 1, from * 4096, n * 4096, n * 4096ull, path);
			for (unsigned i = 0; i < n; i++)
				now[pid][from + i] = (struct model){ file, n + i };
		}
		for (unsigned k = 0; k < 2 * PIDS; k++) {
			unsigned page = (seed = seed * 1103515245 + 12345) >> 16 & (PAGES - 1);
			struct model *m = &now[k % PIDS][page];
			struct tacho_spot spot = spot_at(s, k % PIDS + 1, USER, page * 4096 + 7);
			struct tacho_spot *known = &first[m->file][m->page];

			if (!m->file)
				assert_int_equal(spot.object, 0);
			else if (!known->object)
				*known = spot;
			else
				assert_true(same(spot, *known));
			assert_true(!m->file || (spot.object && spot.offset == m->page * 4096 + 7));
		}
	}
	tacho_symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spots_are_shared),    cmocka_unit_test(spots_follow_maps),
		cmocka_unit_test(spots_follow_tasks),  cmocka_unit_test(spots_of_the_kernel),
		cmocka_unit_test(spots_by_chance),     cmocka_unit_test(spots_outlive_maps),
		cmocka_unit_test(gaps_are_filled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
