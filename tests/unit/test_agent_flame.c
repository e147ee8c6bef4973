/*
 * Boxes of a flame graph: widths, positions, names, minimum width, comparison of two profiles.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/http/flame_tree.h"
#include "base/vec.h"
#include "pack_support.h"

/* "comm;main;f 3": a stack and its samples. */
static void add(struct tacho_profile *p, const char *comm, const char *path, uint64_t samples)
{
	struct tacho_profile_row row = { .cpu = -1, .samples = samples, .period = samples };
	struct str rest = str_of(path), part;

	row.event = profile_intern_event(p, "cpu-clock");
	row.thread = profile_intern_thread(p, 1, 1, comm);
	while (str_cut(&rest, ';', &part)) {
		char name[32];

		snprintf(name, sizeof(name), "%.*s", STR(part));
		row.node = profile_intern_node(p, row.node, pack_function(p, name[0] == '?' ? NULL : name,
								   name[0] == '_'));
	}
	assert_int_equal(profile_add_row(p, &row), 0);
}

static struct tacho_profile *first(void)
{
	struct tacho_profile *p;

	assert_int_equal(tacho_profile_new(&p, NULL, NULL), 0);
	add(p, "b", "main;f", 5);
	add(p, "b", "main", 2);
	add(p, "b", "main;?", 1);
	add(p, "a", "main;f;_sys", 3);
	return p;
}

static void assert_json(const struct flame_tree *t, bool base, double min, const char *want)
{
	scoped(buf_done) struct buf out = { 0 };
	struct json j = { .out = &out };

	json_begin(&j, '{');
	assert_int_equal(flame_tree_json(t, base, min, &j), 0);
	json_end(&j);
	assert_string_equal(out.bytes, want);
}

static void boxes_have_their_places(void **state)
{
	struct tacho_profile *p = first();
	struct flame_tree t;

	assert_int_equal(flame_tree_init(&t), 0);
	assert_int_equal(flame_tree_add(&t, p, 0, false), 0);
	assert_json(&t, false, 0,
		    "{\"names\": [\"all\", \"a\", \"b\", \"main\", \"f\", \"[app]\", \"_sys\"], "
		    "\"kinds\": [4, 5, 5, 1, 1, 4, 0], "
		    "\"levels\": [[0, 11, 0, 0], [0, 3, 1, 0, 3, 8, 2, 0], [0, 3, 3, 0, 3, 8, 3, 2], "
		    "[0, 3, 4, 0, 3, 1, 5, 1, 4, 5, 4, 5], [0, 3, 6, 3]]}");
	assert_json(&t, false, 0.5,
		    "{\"names\": [\"all\", \"b\", \"main\"], \"kinds\": [4, 5, 1], "
		    "\"levels\": [[0, 11, 0, 0], [3, 8, 1, 0], [3, 8, 2, 2]]}");
	flame_tree_done(&t);
	tacho_profile_free(p);
}

static void two_are_compared(void **state)
{
	struct tacho_profile *p = first(), *q;
	struct flame_tree t;

	assert_int_equal(tacho_profile_new(&q, NULL, NULL), 0);
	add(q, "b", "main;f", 4);
	add(q, "c", "gone", 9);
	assert_int_equal(flame_tree_init(&t), 0);
	assert_int_equal(flame_tree_add(&t, p, 0, false), 0);
	assert_int_equal(flame_tree_add(&t, q, 0, true), 0);
	assert_json(&t, true, 0.4,
		    "{\"names\": [\"all\", \"b\", \"main\", \"f\"], \"kinds\": [4, 5, 1, 1], "
		    "\"levels\": [[0, 11, 0, 0, 13], [3, 8, 1, 0, 4], [3, 8, 2, 2, 4], [4, 5, 3, 5, 4]]}");
	flame_tree_done(&t);
	tacho_profile_free(p);
	tacho_profile_free(q);
}

static void empty_profile_is_a_root(void **state)
{
	struct flame_tree t;

	assert_int_equal(flame_tree_init(&t), 0);
	assert_json(&t, false, 0.1, "{\"names\": [\"all\"], \"kinds\": [4], \"levels\": [[0, 0, 0, 0]]}");
	flame_tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boxes_have_their_places),
		cmocka_unit_test(two_are_compared),
		cmocka_unit_test(empty_profile_is_a_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
