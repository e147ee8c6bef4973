/*
 * The children of a node, but the root, are those that name it as their parent, in ascending order; numbers
 * are those that were added, until they are cleared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/node_children.h"

#define N 20000

static uint32_t next_number(void)
{
	static uint32_t x = 2463534242u;

	x ^= x << 13;
	x ^= x >> 17;
	return x ^= x << 5;
}

/* One in `strays` is not below the node before it, but below any. */
static void tree_make(struct tacho_profile_node *nodes, uint32_t n, uint32_t strays)
{
	nodes[0] = (struct tacho_profile_node){ 0 };
	for (uint32_t i = 1; i < n; i++)
		nodes[i].parent = next_number() % strays ? i - 1 : next_number() % i;
}

static void lists_are_right(uint32_t n, uint32_t strays)
{
	static struct tacho_profile_node nodes[N];
	static uint32_t last[N];
	struct node_children b;
	uint32_t n_found = 0, n_below = 0;

	tree_make(nodes, n, strays);
	for (uint32_t i = 1; i < n; i++)
		n_below += nodes[i].parent != 0;
	memset(last, 0, sizeof(last));
	assert_int_equal(node_children_init(&b, nodes, n), 0);
	for (uint32_t at = 1; at < n; at++) {
		uint32_t list, child;

		for (child = node_children_first(&b, at, &list); child; child = node_children_next(&b, &list)) {
			assert_true(child < n && child > last[at]);
			assert_int_equal(nodes[child].parent, at);
			last[at] = child;
			n_found++;
		}
	}
	assert_int_equal(n_found, n_below);
	node_children_done(&b);
}

static void children_are_found(void **state)
{
	(void)state;
	lists_are_right(1, 1);
	lists_are_right(2, 1);
	lists_are_right(64, 2);
	lists_are_right(65, 3);
	lists_are_right(N, 1);		/* strays alone */
	lists_are_right(N, 4);
	lists_are_right(N, N);
}

static void numbers_stay_until_cleared(void **state)
{
	static uint64_t want[N];
	struct node_numbers m;

	(void)state;
	assert_int_equal(node_numbers_init(&m, N), 0);
	for (int round = 0; round < 3; round++) {
		memset(want, 0, sizeof(want));
		for (int i = 0; i < 3000; i++) {
			uint32_t at = i % 2 ? next_number() % N : N - 1 - (uint32_t)i % 40;

			want[at] += (uint64_t)i << 33 | 1;
			assert_int_equal(node_number_add(&m, at, (uint64_t)i << 33 | 1), 0);
		}
		for (uint32_t at = 0; at < N; at++)
			assert_int_equal(node_number(&m, at), want[at]);
		node_numbers_clear(&m);
	}
	for (uint32_t at = 0; at < N; at++)
		assert_int_equal(node_number(&m, at), 0);
	node_numbers_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_are_found),
		cmocka_unit_test(numbers_stay_until_cleared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
