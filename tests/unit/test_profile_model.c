/*
 * The profile's tables: interned entries, the trie, sums of rows, merging, filters, ranges of time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>

#include "profile/frame.h"
#include "profile/intern.h"
#include "profile/quality.h"
#include "profile/trie.h"

static struct tacho_profile *new_profile(const struct tacho_profile_opts *opts)
{
	struct tacho_profile *p = NULL;

	assert_int_equal(tacho_profile_new(&p, opts, NULL), 0);
	return p;
}

static uint32_t frame_of(struct tacho_profile *p, const char *symbol, const char *object)
{
	struct tacho_profile_object o = { .path = object, .name = object };
	struct frame_desc f = { .known = true, .space = TACHO_SPACE_USER };

	f.symbol = profile_intern_name(p, symbol);
	f.object = profile_intern_object(p, &o);
	return profile_intern_frame(p, &f);
}

/* "main;parse;read": outermost first. */
static uint32_t node_of(struct tacho_profile *p, const char *path)
{
	struct str rest = str_of(path), name;
	uint32_t node = 0;

	while (str_cut(&rest, ';', &name)) {
		char text[64];

		snprintf(text, sizeof(text), "%.*s", STR(name));
		node = profile_intern_node(p, node, frame_of(p, text, "prog"));
	}
	return node;
}

static void add_row(struct tacho_profile *p, const char *comm, const char *path, uint64_t period)
{
	struct tacho_profile_row r = { .cpu = -1, .samples = 1, .period = period };

	r.event = profile_intern_event(p, "cpu-clock");
	r.thread = profile_intern_thread(p, 7, 7, comm);
	r.node = node_of(p, path);
	assert_int_equal(profile_add_row(p, &r), 0);
}

/* Keys that wrap around the end of the table are found after it has grown. */
static void keymap_grows_in_place(void **state)
{
	struct keymap m = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 200000; i++) {
		size_t lines = m.n_lines;
		uint32_t *at = keymap_at(&m, key_mix(i + 1));

		assert_non_null(at);
		assert_int_equal(*at, 0);
		*at = i + 1;
		for (uint32_t k = 0; k <= i && lines != m.n_lines; k++)	/* it has grown */
			assert_int_equal(keymap_get(&m, key_mix(k + 1)), k);
	}
	keymap_done(&m);
}

/* A key inserted by keymap_at() without a value has none, also after the map has grown, and can still get one. */
static void keymap_takes_none_for_an_answer(void **state)
{
	struct keymap m = { 0 };

	assert_non_null(keymap_at(&m, 7));
	assert_int_equal(keymap_get(&m, 7), KEYMAP_NONE);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(keymap_put(&m, key_mix(i + 1), i), 0);
	assert_int_equal(keymap_get(&m, 7), KEYMAP_NONE);
	assert_int_equal(keymap_put(&m, 7, 3), 0);
	assert_int_equal(keymap_get(&m, 7), 3);
	keymap_done(&m);
}

static void keymap_holds_all_keys(void **state)
{
	struct keymap m = { 0 };

	assert_int_equal(keymap_get(&m, 0), KEYMAP_NONE);
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(keymap_put(&m, (uint64_t)i << 32 | i, i), 0);
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(keymap_get(&m, (uint64_t)i << 32 | i), i);
	assert_int_equal(keymap_get(&m, 1), KEYMAP_NONE);
	assert_int_equal(keymap_put(&m, 0, 9), 0);
	assert_int_equal(keymap_get(&m, 0), 9);
	assert_int_equal(m.n, 100000);
	keymap_done(&m);
}

static void equal_stacks_are_one_node(void **state)
{
	struct tacho_profile *p = new_profile(NULL);
	uint32_t a = node_of(p, "main;parse;read"), b = node_of(p, "main;parse");

	assert_int_equal(node_of(p, "main;parse;read"), a);
	assert_int_equal(tacho_profile_nodes(p)[a].parent, b);
	assert_int_equal(tacho_profile_n_nodes(p), 4);
	assert_int_not_equal(node_of(p, "parse"), b);
	assert_string_equal(tacho_profile_frame(p, tacho_profile_nodes(p)[a].frame)->code->name, "read");
	tacho_profile_free(p);
}

static void same_name_in_another_object_is_another_frame(void **state)
{
	struct tacho_profile *p = new_profile(NULL);
	uint32_t a = frame_of(p, "malloc", "libc.so"), b = frame_of(p, "malloc", "libjemalloc.so");

	assert_int_not_equal(a, b);
	assert_int_equal(tacho_profile_frame(p, a)->code->symbol, tacho_profile_frame(p, b)->code->symbol);
	assert_int_equal(frame_of(p, "malloc", "libc.so"), a);
	tacho_profile_free(p);
}

/* Small ids must not cancel out in the hashes of rows and frames. */
static void neighbours_stay_apart(void **state)
{
	struct tacho_profile *p = new_profile(NULL);
	uint32_t leaf = node_of(p, "main");

	for (uint32_t event = 0; event < 8; event++)
		for (uint32_t tid = 0; tid < 64; tid++)
			for (int32_t cpu = -1; cpu < 7; cpu++) {
				struct tacho_profile_row r = { .event = event, .thread = tid, .node = leaf,
							       .cpu = cpu, .samples = 1, .period = 1 };

				assert_int_equal(profile_add_row(p, &r), 0);
			}
	assert_int_equal(tacho_profile_n_rows(p), 8 * 64 * 8);
	for (uint32_t object = 0; object < 4; object++)
		for (uint64_t address = 0; address < 4096; address++) {
			struct frame_desc f = { .offset = address, .address = address };
			struct tacho_profile_object o = { .name = "x" };
			char path[16];

			snprintf(path, sizeof(path), "o%u", object);
			o.path = path;
			f.object = profile_intern_object(p, &o);
			profile_intern_frame(p, &f);
		}
	assert_int_equal(tacho_profile_n_frames(p), 4 * 4096 + 1);
	tacho_profile_free(p);
}

/* A row counts up to 2^32 samples; more go to another row. */
static void samples_may_be_very_many(void **state)
{
	struct tacho_profile *p = new_profile(NULL);
	struct tacho_profile_row r = { .node = node_of(p, "main"), .cpu = -1, .samples = 3000000000u, .period = 1 };
	uint64_t samples = 0, period = 0;

	for (int i = 0; i < 3; i++)
		assert_int_equal(profile_add_row(p, &r), 0);
	r.samples = 1;
	assert_int_equal(profile_add_row(p, &r), 0);
	assert_int_equal(tacho_profile_n_rows(p), 3);
	for (size_t i = 0; i < tacho_profile_n_rows(p); i++) {
		samples += tacho_profile_rows(p)[i].samples;
		period += tacho_profile_rows(p)[i].period;
	}
	assert_int_equal(samples, 9000000001);
	assert_int_equal(period, 4);
	assert_int_equal(tacho_profile_rows(p)[2].samples, 3000000001u);
	tacho_profile_free(p);
}

/* One and many nodes per frame, one and many children per node: all are found again. */
static void nodes_are_found_again_however_many(void **state)
{
	struct tacho_profile *p = new_profile(NULL);
	uint32_t parents[12], ids[12][12];
	char name[16];

	for (uint32_t i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "up%u", i);
		parents[i] = node_of(p, name);
	}
	for (uint32_t k = 0; k < 12; k++)
		for (uint32_t i = 0; i < 12; i++) {
			snprintf(name, sizeof(name), "down%u", k);
			ids[i][k] = profile_intern_node(p, parents[i], frame_of(p, name, "prog"));
		}
	assert_int_equal(tacho_profile_n_nodes(p), 1 + 12 + 12 * 12);
	for (uint32_t i = 0; i < 12; i++)
		for (uint32_t k = 0; k < 12; k++) {
			snprintf(name, sizeof(name), "down%u", k);
			assert_int_equal(profile_intern_node(p, parents[i], frame_of(p, name, "prog")), ids[i][k]);
		}
	assert_int_equal(tacho_profile_n_nodes(p), 1 + 12 + 12 * 12);
	tacho_profile_free(p);
}

static void rows_of_many_threads_stay_apart(void **state)
{
	struct tacho_profile *p = new_profile(NULL);
	char comm[16];

	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 20; i++) {
			snprintf(comm, sizeof(comm), "comm%d", i);
			add_row(p, comm, "main;work", 10);
		}
	assert_int_equal(tacho_profile_n_rows(p), 20);
	for (size_t i = 0; i < 20; i++)
		assert_int_equal(tacho_profile_rows(p)[i].period, 30);
	tacho_profile_free(p);
}

static void equal_rows_add_up(void **state)
{
	struct tacho_profile *p = new_profile(NULL);

	add_row(p, "a", "main;f", 10);
	add_row(p, "a", "main;f", 5);
	add_row(p, "b", "main;f", 1);
	assert_int_equal(tacho_profile_n_rows(p), 2);
	assert_int_equal(tacho_profile_rows(p)[0].period, 15);
	assert_int_equal(tacho_profile_rows(p)[0].samples, 2);
	assert_string_equal(tacho_profile_thread(p, tacho_profile_rows(p)[1].thread)->comm, "b");
	tacho_profile_free(p);
}

static void merged_profiles_add_up(void **state)
{
	struct tacho_profile *p = new_profile(NULL), *q = new_profile(NULL);

	add_row(p, "a", "main;f", 10);
	add_row(q, "z", "start;main", 3);
	add_row(q, "a", "main;f", 4);
	add_row(q, "a", "main;g", 2);
	assert_int_equal(tacho_profile_merge(p, q), 0);
	assert_int_equal(tacho_profile_n_rows(p), 3);
	assert_int_equal(tacho_profile_rows(p)[0].period, 14);
	assert_int_equal(tacho_profile_n_events(p), 1);
	assert_int_equal(tacho_profile_n_rows(q), 3);
	tacho_profile_free(p);
	tacho_profile_free(q);
}

static void shares_decay_to_nothing(void **state)
{
	struct tacho_profile *p = new_profile(NULL), *q;

	add_row(p, "a", "main;f", 640);
	add_row(p, "b", "main;g", 64);
	for (int i = 0; i < 4; i++) {
		q = new_profile(NULL);
		assert_int_equal(tacho_profile_merge_share(q, p, 1, 8), 0);
		tacho_profile_free(p);
		p = q;
		if (i == 0) {
			assert_int_equal(tacho_profile_n_rows(p), 2);
			assert_int_equal(tacho_profile_rows(p)[0].period, 80);
			assert_int_equal(tacho_profile_rows(p)[1].period, 8);
		}
	}
	assert_int_equal(tacho_profile_n_rows(p), 0);
	q = new_profile(NULL);
	assert_int_equal(tacho_profile_merge_share(q, p, 1, 1), 0);
	assert_int_equal(tacho_profile_n_threads(q), 0);
	assert_int_equal(tacho_profile_n_frames(q), 0);
	assert_int_equal(tacho_profile_n_nodes(q), 1);
	assert_int_equal(tacho_profile_merge_share(q, p, 2, 1), -EINVAL);
	assert_int_equal(tacho_profile_merge_share(q, p, 0, 0), -EINVAL);
	tacho_profile_free(p);
	tacho_profile_free(q);
}

static void add_row_of(struct tacho_profile *p, const char *event, const char *path, uint64_t period)
{
	struct tacho_profile_row r = { .cpu = -1, .samples = 1, .period = period };
	struct tacho_profile_event *ev;

	r.event = profile_intern_event(p, event);
	r.thread = profile_intern_thread(p, 7, 7, "a");
	r.node = node_of(p, path);
	ev = &p->events.v[r.event];
	ev->samples++;
	ev->period += period;
	assert_int_equal(profile_add_row(p, &r), 0);
}

static void on_and_off_cpu_become_wall_time(void **state)
{
	struct tacho_profile *p = new_profile(NULL), *wall = NULL;
	const struct tacho_profile_row *rows;
	struct tacho_error e = { .column = -1 };

	add_row_of(p, "cycles", "main;f", 1000);
	add_row_of(p, "offcpu-time", "main;f", 30);
	assert_int_equal(tacho_profile_wall_time(&wall, p, &e), -ENOENT);
	add_row_of(p, "cpu-clock:u", "main;f", 7);
	assert_int_equal(tacho_profile_wall_time(&wall, p, &e), 0);
	assert_int_equal(tacho_profile_n_events(wall), 1);
	assert_string_equal(tacho_profile_event(wall, 0)->name, "wall-time");
	assert_int_equal(tacho_profile_event(wall, 0)->period, 37);
	assert_int_equal(tacho_profile_n_rows(wall), 2);
	rows = tacho_profile_rows(wall);
	assert_int_equal(rows[0].period, 30);
	assert_string_equal(tacho_profile_frame(wall, tacho_profile_nodes(wall)[rows[0].node].frame)->code->name, "[off-CPU]");
	assert_int_equal(rows[1].period, 7);
	assert_int_equal(tacho_profile_nodes(wall)[rows[0].node].parent, rows[1].node);
	tacho_profile_free(wall);
	tacho_profile_free(p);
}

static void filters_are_lists(void **state)
{
	struct tacho_profile_opts opts = { .size = sizeof(opts), .comms = "cc1,ld", .pids = "1,2",
					   .objects = "libc.so.6", .symbols = "malloc,free",
					   .parent = "^sys_" };
	struct tacho_profile *p = new_profile(&opts);
	const struct profile_filter *f = &p->filter;

	assert_true(profile_filter_comm(f, "ld"));
	assert_false(profile_filter_comm(f, "l"));
	assert_true(profile_filter_task(f, 2, 99));
	assert_false(profile_filter_task(f, 3, 1));
	assert_true(profile_filter_object(f, "/lib/libc.so.6", "libc.so.6"));
	assert_false(profile_filter_object(f, "/lib/libm.so.6", "libm.so.6"));
	assert_true(profile_filter_symbol(f, "free"));
	assert_false(profile_filter_symbol(f, "freeze"));
	assert_true(profile_filter_parent(f, "sys_read"));
	assert_false(profile_filter_parent(f, "ksys_read"));
	tacho_profile_free(p);
}

static void bad_filters_are_refused(void **state)
{
	static const struct tacho_profile_opts bad[] = {
		{ .pids = "1,x" }, { .tids = "-1" }, { .cpus = "0-" }, { .parent = "(" }, { .time = "5" },
		{ .time = "2,1" }, { .time = "110%" }, { .time = "10%/0" }, { .time = "" },
		{ .time = "1.2.3," }, { .time = "50%-10%" },
	};

	for (size_t i = 0; i < countof(bad); i++) {
		struct tacho_profile_opts opts = bad[i];
		struct tacho_profile *p = NULL;
		struct tacho_error e = { 0 };

		opts.size = sizeof(opts);
		assert_true(tacho_profile_new(&p, &opts, &e) < 0);
		assert_true(e.message[0]);
		assert_null(p);
	}
}

static const struct { const char *text; uint64_t first, last; struct time_window w[3]; size_t n; } times[] = {
	{ "1.5,2", 0, 0, { { 1500000000, 2000000000 } }, 1 },
	{ ",2", 0, 0, { { 0, 2000000000 } }, 1 },
	{ "3,", 0, 0, { { 3000000000, UINT64_MAX } }, 1 },
	{ "1,2 5,6.000000001", 0, 0, { { 1000000000, 2000000000 }, { 5000000000, 6000000001 } }, 2 },
	{ "1, 2", 0, 0, { { 1000000000, 2000000000 } }, 1 },
	{ "3, 5,6", 0, 0, { { 3000000000, UINT64_MAX }, { 5000000000, 6000000000 } }, 2 },
	{ "0, 18446744069414584", 0, 0, { { 0, UINT64_MAX } }, 1 },
	{ "18446744073.5,18446744073.709551615", 0, 0, { { UINT64_MAX, UINT64_MAX } }, 1 },
	{ "10%-20%", 1000, 2000, { { 1100, 1199 } }, 1 },
	{ "10%/2,90%-100%", 1000, 2000, { { 1100, 1199 }, { 1900, 2000 } }, 2 },
	{ "50%", 1000, 2000, { { 1000, 1499 } }, 1 },
};

static void ranges_of_time(void **state)
{
	for (size_t i = 0; i < countof(times); i++) {
		struct tacho_profile_opts opts = { .size = sizeof(opts), .time = times[i].text };
		struct tacho_profile *p = new_profile(&opts);
		struct time_window w[8];

		assert_int_equal(time_ranges_resolve(&p->filter.times, times[i].first, times[i].last, w), times[i].n);
		for (size_t k = 0; k < times[i].n; k++) {
			assert_int_equal(w[k].from_ns, times[i].w[k].from_ns);
			assert_int_equal(w[k].to_ns, times[i].w[k].to_ns);
		}
		tacho_profile_free(p);
	}
}

static void where_stacks_may_end(void **state)
{
	struct tacho_profile_code code = { .name = "_start" };
	struct tacho_profile_frame f = { .code = &code, .known = true, .space = TACHO_SPACE_USER };

	assert_true(frame_is_start(&f));
	code.name = "malloc";
	assert_false(frame_is_start(&f));
	f.space = TACHO_SPACE_KERNEL;
	assert_true(frame_is_start(&f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keymap_holds_all_keys),
		cmocka_unit_test(keymap_grows_in_place),
		cmocka_unit_test(keymap_takes_none_for_an_answer),
		cmocka_unit_test(equal_stacks_are_one_node),
		cmocka_unit_test(same_name_in_another_object_is_another_frame),
		cmocka_unit_test(neighbours_stay_apart),
		cmocka_unit_test(samples_may_be_very_many),
		cmocka_unit_test(nodes_are_found_again_however_many),
		cmocka_unit_test(rows_of_many_threads_stay_apart),
		cmocka_unit_test(equal_rows_add_up),
		cmocka_unit_test(merged_profiles_add_up),
		cmocka_unit_test(shares_decay_to_nothing),
		cmocka_unit_test(on_and_off_cpu_become_wall_time),
		cmocka_unit_test(filters_are_lists),
		cmocka_unit_test(bad_filters_are_refused),
		cmocka_unit_test(ranges_of_time),
		cmocka_unit_test(where_stacks_may_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
