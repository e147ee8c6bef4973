/*
 * Every allocation of every writer fails once: -ENOMEM is returned and nothing leaks (checked when run under the
 * sanitizers).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacho/output.h>

#include "profile/frame.h"
#include "profile/intern.h"
#include "profile/trie.h"
#include "nomem.h"

static uint32_t function(struct tacho_profile *p, const char *name)
{
	struct tacho_profile_object ob = { .path = "/bin/app", .name = "app", .n_build_id = 20 };
	struct frame_desc like = { .space = TACHO_SPACE_USER, .known = name != NULL };

	like.object = profile_intern_object(p, &ob);
	like.symbol = name ? profile_intern_name(p, name) : 0;
	return profile_intern_frame(p, &like);
}

/* A few hundred stacks of two threads, deep enough to make every table grow. */
static struct tacho_profile *made(void)
{
	struct tacho_profile *p;
	char name[16];

	assert_int_equal(tacho_profile_new(&p, NULL, NULL), 0);
	profile_intern_event(p, "cycles");
	for (uint32_t i = 0; i < 300; i++) {
		struct tacho_profile_row row = { .cpu = -1, .samples = 1, .period = 100 + i,
						 .time = 1000000000ull + i * 7000000ull };

		row.thread = profile_intern_thread(p, 7, 7 + i % 2, i % 2 ? "one" : "two");
		for (uint32_t k = 0; k < 5 + i % 7; k++) {
			snprintf(name, sizeof(name), "f%u", (i * k) % 61);
			row.node = profile_intern_node(p, row.node, function(p, (i * k) % 61 ? name : NULL));
		}
		assert_int_equal(profile_add_row(p, &row), 0);
		p->events.v[0].samples++;
		p->events.v[0].period += row.period;
	}
	return p;
}

static int swallow(void *arg, const void *bytes, size_t n)
{
	*(size_t *)arg += n;
	return 0;
}

static void each_fails(const char *format, const struct tacho_profile *p,
		       const struct tacho_output_opts *opts)
{
	unsigned long n = 0;
	size_t bytes = 0;
	int err;

	do {
		struct tacho_error e = { .column = -1 };

		count = 0;
		fail_at = ++n;
		err = tacho_output_write(tacho_format_find(format), p, opts, swallow, &bytes, &e);
		fail_at = 0;
		assert_true(err == 0 || err == -ENOMEM);
		if (err)
			assert_int_equal(e.code, -ENOMEM);
	} while (err);
	assert_true(n > 1);
}

static void every_writer_survives(void **state)
{
	struct tacho_profile *p = made();

	for (const struct tacho_format *const *f = tacho_formats(); *f; f++)
		each_fails((*f)->name, p, NULL);
	tacho_profile_free(p);
}

static void so_do_turned_and_compared_ones(void **state)
{
	struct tacho_profile *p = made();

	each_fails("svg", p, TACHO_OPTS(tacho_output_opts, .reverse = true));
	each_fails("svg", p, TACHO_OPTS(tacho_output_opts, .before = p));
	tacho_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_writer_survives),
		cmocka_unit_test(so_do_turned_and_compared_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
