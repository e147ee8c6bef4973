/*
 * Details of rows: equal details have one id, rows with different details are different, and merging copies details with
 * their frames and values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/detail.h"
#include "profile/frame.h"
#include "profile/intern.h"
#include "profile/trie.h"

static struct tacho_profile *new_profile(void)
{
	struct tacho_profile *p = NULL;

	assert_int_equal(tacho_profile_new(&p, NULL, NULL), 0);
	return p;
}

static uint32_t frame_of(struct tacho_profile *p, const char *symbol, const char *file, uint32_t line)
{
	struct tacho_profile_object o = { .path = "prog", .name = "prog" };
	struct frame_desc f = { .known = true, .space = TACHO_SPACE_USER, .srcline = line };

	f.symbol = profile_intern_name(p, symbol);
	f.object = profile_intern_object(p, &o);
	f.srcfile = file ? p->name_text.v[profile_intern_name(p, file)] : NULL;
	return profile_intern_frame(p, &f);
}

static uint32_t text_of(struct tacho_profile *p, uint32_t kind, const char *text)
{
	struct tacho_profile_value v = { .bytes = text, .n_bytes = strlen(text), .text = text, .size = 16,
					 .is_string = true };

	return profile_intern_value(p, kind, &v);
}

static void add_row(struct tacho_profile *p, uint32_t detail)
{
	struct tacho_profile_row r = { .cpu = -1, .samples = 1, .period = 10, .detail = detail };

	r.event = profile_intern_event(p, "cpu-clock");
	r.thread = profile_intern_thread(p, 7, 7, "w");
	r.node = profile_intern_node(p, 0, frame_of(p, "main", NULL, 0));
	assert_int_equal(profile_add_row(p, &r), 0);
}

static void equal_details_are_one(void **state)
{
	struct tacho_profile *p = new_profile();
	struct tacho_profile_detail a = { .weight = 3 }, b = { .weight = 4 };
	uint32_t first = profile_intern_detail(p, &a), second = profile_intern_detail(p, &b);

	assert_int_not_equal(first, second);
	assert_int_equal(profile_intern_detail(p, &a), first);
	assert_int_equal(tacho_profile_detail(p, second)->weight, 4);
	assert_null(tacho_profile_detail(p, 0));
	assert_null(tacho_profile_detail(p, 99));
	add_row(p, first);
	add_row(p, second);
	add_row(p, first);
	add_row(p, 0);
	assert_int_equal(tacho_profile_n_rows(p), 3);
	assert_int_equal(tacho_profile_rows(p)[0].samples, 2);
	tacho_profile_free(p);
}

/* Values are one by their bytes and the field they are of. */
static void values_by_bytes(void **state)
{
	struct tacho_profile *p = new_profile();
	uint32_t a = text_of(p, 0, "bash"), b = text_of(p, 1, "bash"), c = text_of(p, 0, "sh");

	assert_int_not_equal(a, b);
	assert_int_not_equal(a, c);
	assert_int_equal(text_of(p, 0, "bash"), a);
	assert_string_equal(tacho_profile_value(p, c)->text, "sh");
	assert_int_equal(tacho_profile_value(p, c)->n_bytes, 2);
	assert_null(tacho_profile_value(p, 0));
	tacho_profile_free(p);
}

static void lines_make_frames(void **state)
{
	struct tacho_profile *p = new_profile();
	uint32_t a = frame_of(p, "f", "f.c", 3), b = frame_of(p, "f", "f.c", 4);

	assert_int_not_equal(a, b);
	assert_int_not_equal(frame_of(p, "f", "g.c", 3), a);
	assert_int_equal(frame_of(p, "f", "f.c", 3), a);
	tacho_profile_free(p);
}

static void merging_carries_details(void **state)
{
	struct tacho_profile *to = new_profile(), *from = new_profile();
	struct tacho_profile_detail d = { .branch = 2 };
	const struct tacho_profile_detail *got;
	const struct tacho_profile_frame *f;

	frame_of(to, "other", NULL, 0);		/* so that ids differ */
	text_of(to, 5, "x");
	d.from.frame = frame_of(from, "caller", "c.c", 12) + 1;
	d.trace = text_of(from, TACHO_FIELDS_MAX, "a=1");
	d.fields[2] = text_of(from, 2, "bash");
	add_row(from, profile_intern_detail(from, &d));
	assert_int_equal(tacho_profile_merge(to, from), 0);
	got = tacho_profile_detail(to, tacho_profile_rows(to)[0].detail);
	assert_non_null(got);
	assert_int_equal(got->branch, 2);
	f = tacho_profile_frame(to, got->from.frame - 1);
	assert_string_equal(f->code->name, "caller");
	assert_string_equal(f->code->srcfile, "c.c");
	assert_int_equal(f->srcline, 12);
	assert_string_equal(tacho_profile_value(to, got->trace)->text, "a=1");
	assert_string_equal(tacho_profile_value(to, got->fields[2])->text, "bash");
	assert_int_equal(got->fields[0], 0);
	tacho_profile_free(from);
	assert_string_equal(f->code->srcfile, "c.c");
	tacho_profile_free(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_details_are_one), cmocka_unit_test(values_by_bytes),
		cmocka_unit_test(lines_make_frames), cmocka_unit_test(merging_carries_details),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
