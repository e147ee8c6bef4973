/*
 * The writers on a small hand-made profile: exact folded stacks and d3 JSON, reversed and compared trees, boxes too narrow to
 * draw, and names that contain markup.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tacho/output.h>

#include "base/buf.h"
#include "base/protobuf.h"
#include "profile/frame.h"
#include "profile/intern.h"
#include "profile/trie.h"

#define EVIL "a<script>\"&'\x01\xff]]>;b"

struct fixture {
	struct tacho_profile *p;
	uint32_t event, thread;
};

static uint32_t frame(struct fixture *f, const char *name, const char *object)
{
	struct tacho_profile_object ob = { .path = object, .name = object };
	struct frame_desc like = { .space = TACHO_SPACE_USER, .known = name != NULL };

	like.object = profile_intern_object(f->p, &ob);
	like.symbol = name ? profile_intern_name(f->p, name) : 0;
	return profile_intern_frame(f->p, &like);
}

static void begin(struct fixture *f, const char *comm)
{
	assert_int_equal(tacho_profile_new(&f->p, NULL, NULL), 0);
	f->event = profile_intern_event(f->p, "cycles");
	f->thread = profile_intern_thread(f->p, 7, 7, comm);
}

/* A stack, outermost first; "!" stands for a frame without a symbol. */
static void stack(struct fixture *f, const char *const *names, uint64_t samples, uint64_t period)
{
	struct tacho_profile_row row = { .event = f->event, .thread = f->thread, .cpu = -1,
					 .samples = samples, .period = period };

	for (; *names; names++)
		row.node = profile_intern_node(f->p, row.node,
					frame(f, strcmp(*names, "!") ? *names : NULL, "/bin/app"));
	assert_int_equal(profile_add_row(f->p, &row), 0);
	f->p->events.v[f->event].samples += samples;
	f->p->events.v[f->event].period += period;
}
#define STACK(f, samples, period, ...)                                                             \
	stack(f, (const char *const[]){ __VA_ARGS__, NULL }, samples, period)

static int keep(void *arg, const void *bytes, size_t n)
{
	buf_put(arg, bytes, n);
	return 0;
}

static char *written(const struct fixture *f, const char *format,
		     const struct tacho_output_opts *opts)
{
	struct buf out = { 0 };
	struct tacho_error e = { .column = -1 };

	assert_int_equal(tacho_output_write(tacho_format_find(format), f->p, opts, keep, &out, &e),
			 0);
	return buf_take(&out);
}

static void small(struct fixture *f)
{
	begin(f, "app");
	STACK(f, 3, 300, "main", "work", "leaf");
	STACK(f, 1, 100, "main", "work");
	STACK(f, 2, 50, "main", "other", "leaf");
	STACK(f, 1, 10, "main", "!", "!", "leaf");
}

static void folded_is_sorted_and_exact(void **state)
{
	struct fixture f;
	char *text;

	small(&f);
	text = written(&f, "folded", NULL);
	assert_string_equal(text, "app;main;[/bin/app];[/bin/app];leaf 1\n"
				  "app;main;other;leaf 2\napp;main;work 1\napp;main;work;leaf 3\n");
	free(text);
	text = written(&f, "folded", TACHO_OPTS(tacho_output_opts, .weight = TACHO_WEIGHT_PERIOD));
	assert_non_null(strstr(text, "app;main;work;leaf 300\n"));
	free(text);
	tacho_profile_free(f.p);
}

/* Values include the callees; siblings are sorted by name. */
static void d3_nests_children(void **state)
{
	struct fixture f;
	char *text;

	begin(&f, "a\"b");
	STACK(&f, 3, 300, "main", "work", "leaf");
	STACK(&f, 2, 50, "main", "!");
	text = written(&f, "d3", NULL);
	assert_string_equal(text, "{\"name\":\"all\",\"value\":350,\"children\":["
				  "{\"name\":\"a\\\"b\",\"value\":350,\"children\":["
				  "{\"name\":\"main\",\"object\":\"/bin/app\",\"value\":350,\"children\":["
				  "{\"name\":\"[/bin/app]\",\"object\":\"/bin/app\",\"value\":50},"
				  "{\"name\":\"work\",\"object\":\"/bin/app\",\"value\":300,\"children\":["
				  "{\"name\":\"leaf\",\"object\":\"/bin/app\",\"value\":300}]}]}]}]}\n");
	free(text);
	tacho_profile_free(f.p);
}

static void reverse_starts_with_the_leaf(void **state)
{
	struct fixture f;
	char *text;

	small(&f);
	text = written(&f, "folded", TACHO_OPTS(tacho_output_opts, .reverse = true));
	assert_non_null(strstr(text, "leaf;work;main;app 3\n"));
	assert_non_null(strstr(text, "work;main;app 1\n"));
	assert_non_null(strstr(text, "leaf;other;main;app 2\n"));
	free(text);
	tacho_profile_free(f.p);
}

static void equal_names_of_two_objects_meet_in_folded_text(void **state)
{
	struct fixture f;
	struct tacho_profile_row row = { .cpu = -1, .samples = 1, .period = 1 };
	char *text;

	begin(&f, "app");
	for (int i = 0; i < 2; i++) {
		row.node = profile_intern_node(f.p, 0, frame(&f, "main", i ? "/bin/a" : "/bin/b"));
		assert_int_equal(profile_add_row(f.p, &row), 0);
	}
	f.p->events.v[0].samples = f.p->events.v[0].period = 2;
	text = written(&f, "folded", NULL);
	assert_string_equal(text, "app;main 2\n");
	free(text);
	tacho_profile_free(f.p);
}

static void boxes_that_no_pixel_shows_are_left_out(void **state)
{
	struct fixture f;
	char *text;

	begin(&f, "app");
	STACK(&f, 1, 1000000, "main", "large");
	STACK(&f, 1, 1, "main", "tiny");
	text = written(&f, "svg", NULL);
	assert_non_null(strstr(text, "<title>large\n"));
	assert_null(strstr(text, "tiny"));
	free(text);
	for (int all = 0; all < 2; all++) {
		text = written(&f, "svg",
			       TACHO_OPTS(tacho_output_opts, .min_pixels = all ? -1 : 0.0001));
		assert_non_null(strstr(text, "<title>tiny\n"));
		free(text);
	}
	tacho_profile_free(f.p);
}

static void runs_without_symbols_are_one_box(void **state)
{
	struct fixture f;
	char *text, *first;

	small(&f);
	text = written(&f, "svg", NULL);
	first = strstr(text, "<title>[/bin/app]\n");
	assert_non_null(first);
	assert_null(strstr(first + 1, "<title>[/bin/app]\n"));
	free(text);
	tacho_profile_free(f.p);
}

static void names_never_become_markup(void **state)
{
	static const char *const formats[] = { "svg", "html" };
	struct fixture f;

	begin(&f, EVIL);
	STACK(&f, 5, 5, EVIL, "x");
	for (size_t i = 0; i < 2; i++) {
		char *text = written(&f, formats[i], TACHO_OPTS(tacho_output_opts, .title = EVIL));

		assert_null(strstr(text, "a<script>"));
		assert_null(strstr(text, "]]>;b"));
		assert_non_null(strstr(
			text, "a&lt;script&gt;&quot;&amp;&#39;\xef\xbf\xbd\xef\xbf\xbd]]&gt;;b"));
		free(text);
	}
	char *text = written(&f, "folded", NULL);
	assert_string_equal(text, "a<script>\"&'??]]>:b;a<script>\"&'??]]>:b;x 5\n");
	free(text);
	tacho_profile_free(f.p);
}

static void differences_have_texts_and_colours(void **state)
{
	struct fixture before, after;
	char *text;

	begin(&before, "app");
	STACK(&before, 1, 50, "main", "grew");
	STACK(&before, 1, 50, "main", "shrank");
	begin(&after, "app");
	STACK(&after, 1, 150, "main", "grew");
	STACK(&after, 1, 50, "main", "shrank");
	text = written(&after, "svg", TACHO_OPTS(tacho_output_opts, .before = before.p));
	assert_non_null(strstr(
		text, "<title>grew\n/bin/app\n150 events, 75.00 %, before 50.00 % (+25.00)"));
	assert_non_null(strstr(
		text, "<title>shrank\n/bin/app\n50 events, 25.00 %, before 50.00 % (-25.00)"));
	free(text);
	tacho_profile_free(before.p);
	tacho_profile_free(after.p);
}

static void every_format_writes_something_and_passes_failures_on(void **state)
{
	struct fixture f;

	small(&f);
	for (size_t i = 0; i < f.p->rows.n; i++)
		f.p->rows.v[i].time = 1000000000ull * (i + 1);
	for (const struct tacho_format *const *all = tacho_formats(); *all; all++) {
		char *text = written(&f, (*all)->name, NULL);

		assert_true(strlen(text) > 0);
		assert_ptr_equal(tacho_format_find((*all)->name), *all);
		free(text);
	}
	tacho_profile_free(f.p);
}

static int refuse(void *arg, const void *bytes, size_t n)
{
	return -ENOSPC;
}

static void failures_come_back(void **state)
{
	const struct tacho_format *folded = tacho_format_find("folded");
	struct tacho_error e = { .column = -1 };
	struct fixture f;

	begin(&f, "app");
	assert_int_equal(tacho_output_write(folded, f.p, NULL, refuse, NULL, &e), -ENODATA);
	STACK(&f, 1, 1, "main");
	assert_int_equal(tacho_output_write(folded, f.p, NULL, refuse, NULL, &e), -ENOSPC);
	assert_int_equal(e.code, -ENOSPC);
	assert_non_null(strstr(e.message, strerror(ENOSPC)));
	assert_int_equal(tacho_output_write(folded, f.p,
					    TACHO_OPTS(tacho_output_opts, .event = "none"), refuse,
					    NULL, &e),
			 -ENOENT);
	assert_string_equal(e.hint, "its events: cycles");
	tacho_profile_free(f.p);
}

/* Formats that place samples by their time need times. */
static void formats_of_times_need_them(void **state)
{
	static const char *const names[] = { "chrome", "heatmap" };
	struct fixture f;

	small(&f);
	for (size_t i = 0; i < countof(names); i++) {
		struct tacho_error e = { .column = -1 };
		struct buf out = { 0 };

		assert_int_equal(tacho_output_write(tacho_format_find(names[i]), f.p, NULL, keep, &out, &e),
				 -ENODATA);
		assert_string_equal(e.message, "the samples have no times");
		buf_done(&out);
	}
	tacho_profile_free(f.p);
}

static void file_names_select_the_format(void **state)
{
	assert_string_equal(tacho_format_of_path("x.svg")->name, "svg");
	assert_string_equal(tacho_format_of_path("x.heatmap.svg")->name, "heatmap");
	assert_string_equal(tacho_format_of_path("x.speedscope.json")->name, "speedscope");
	assert_string_equal(tacho_format_of_path("x.d3.json")->name, "d3");
	assert_string_equal(tacho_format_of_path("x.json")->name, "json");
	assert_string_equal(tacho_format_of_path("x.pb.gz")->name, "pprof");
	assert_null(tacho_format_of_path("x.png"));
}

/* The number of fields `number` of a message; *last is the last of them. */
static unsigned fields(struct str message, uint64_t number, struct str *last)
{
	struct pb_field f;
	unsigned n = 0;

	while (pb_next(&message, &f) > 0)
		if (f.number == number) {
			n++;
			*last = f.bytes;
		}
	return n;
}

static struct str nth_field(struct str message, uint64_t number, unsigned n)
{
	struct pb_field f;

	while (pb_next(&message, &f) > 0)
		if (f.number == number && n-- == 0)
			return f.bytes;
	return str_n("", 0);
}

static void inline_into(struct fixture *f, struct tacho_profile_row *row, const char *name, bool inlined)
{
	struct frame_desc like = { .space = TACHO_SPACE_USER, .known = true, .inlined = inlined };
	struct tacho_profile_object ob = { .path = "/bin/app", .name = "app" };

	like.object = profile_intern_object(f->p, &ob);
	like.symbol = profile_intern_name(f->p, name);
	row->node = profile_intern_node(f->p, row->node, profile_intern_frame(f->p, &like));
}

/* main -> outer, into which two functions are inlined -> leaf: three locations, one of them with three lines. */
static void inlined_functions_share_a_location(void **state)
{
	struct tacho_profile_row row = { .cpu = -1, .samples = 2, .period = 20 };
	struct str dictionary, locations, stacks, one;
	struct fixture f;
	struct buf out = { 0 };
	char *text;

	begin(&f, "app");
	inline_into(&f, &row, "main", false);
	inline_into(&f, &row, "outer", false);
	inline_into(&f, &row, "middle", true);
	inline_into(&f, &row, "inner", true);
	inline_into(&f, &row, "leaf", false);
	assert_int_equal(profile_add_row(f.p, &row), 0);
	f.p->events.v[0].samples = 2;
	f.p->events.v[0].period = 20;
	assert_int_equal(tacho_output_write(tacho_format_find("otlp"), f.p, NULL, keep, &out, NULL), 0);
	assert_int_equal(fields(buf_view(&out), 2, &dictionary), 1);
	assert_int_equal(fields(dictionary, 7, &stacks), 2);	/* with element 0 */
	assert_int_equal(fields(stacks, 1, &one), 1);
	assert_int_equal(one.n, 3);
	assert_memory_equal(one.s, "\x01\x02\x03", 3);	/* leaf; outer with what it contains; main */
	assert_int_equal(fields(dictionary, 2, &locations), 4);
	assert_int_equal(fields(locations, 3, &one), 1);
	assert_int_equal(fields(nth_field(dictionary, 2, 2), 3, &one), 3);
	assert_int_equal(fields(dictionary, 3, &one), 6);	/* five functions and element 0 */
	buf_done(&out);
	text = written(&f, "firefox", NULL);
	assert_non_null(strstr(text, "\"inlineDepth\": [0, 0, 1, 2, 0]"));
	free(text);
	tacho_profile_free(f.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded_is_sorted_and_exact),
		cmocka_unit_test(d3_nests_children),
		cmocka_unit_test(reverse_starts_with_the_leaf),
		cmocka_unit_test(equal_names_of_two_objects_meet_in_folded_text),
		cmocka_unit_test(boxes_that_no_pixel_shows_are_left_out),
		cmocka_unit_test(runs_without_symbols_are_one_box),
		cmocka_unit_test(names_never_become_markup),
		cmocka_unit_test(differences_have_texts_and_colours),
		cmocka_unit_test(every_format_writes_something_and_passes_failures_on),
		cmocka_unit_test(failures_come_back),
		cmocka_unit_test(formats_of_times_need_them),
		cmocka_unit_test(inlined_functions_share_a_location),
		cmocka_unit_test(file_names_select_the_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
