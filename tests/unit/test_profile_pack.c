/*
 * Packed profiles: unpacking restores the profile, ranges and filters select rows, several profiles add up, and damaged
 * ones add nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "pack_support.h"

static struct tacho_profile *new_profile(struct tacho_profile_opts opts)
{
	struct tacho_profile *p = NULL;

	opts.size = sizeof(opts);
	assert_int_equal(tacho_profile_new(&p, &opts, NULL), 0);
	return p;
}

static struct tacho_profile *filled(uint32_t n)
{
	struct tacho_profile *p = new_profile((struct tacho_profile_opts){ .per_time = true, .per_cpu = true });

	pack_fill(p, n);
	return p;
}

static struct buf packed(const struct tacho_profile *p, int64_t shift_ns)
{
	struct buf b = { 0 };

	assert_int_equal(tacho_profile_pack(p, TACHO_OPTS(tacho_pack_opts, .shift_ns = shift_ns), pack_put,
					    &b, NULL), 0);
	assert_true(b.n > 10);
	return b;
}

static void folded(const struct tacho_profile *p, struct buf *out)
{
	assert_int_equal(tacho_output_write(tacho_format_find("folded"), p, NULL, pack_put, out, NULL), 0);
}

static void assert_same_folded(const struct tacho_profile *a, const struct tacho_profile *b)
{
	scoped(buf_done) struct buf x = { 0 }, y = { 0 };

	folded(a, &x);
	folded(b, &y);
	assert_string_equal(x.bytes, y.bytes);
}

static uint64_t samples_of(const struct tacho_profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < tacho_profile_n_rows(p); i++)
		n += tacho_profile_rows(p)[i].samples;
	return n;
}

static void unpacked_equals_packed(void **state)
{
	struct tacho_profile *p = filled(500);
	struct tacho_profile *q = new_profile((struct tacho_profile_opts){ .per_time = true, .per_cpu = true });
	struct tacho_profile_quality was = { .size = sizeof(was) }, is = { .size = sizeof(is) };
	scoped(buf_done) struct buf b = packed(p, 0);

	assert_true(b.n < 500 * 10);
	assert_int_equal(tacho_profile_unpack(q, b.bytes, b.n, NULL, NULL), 0);
	assert_same_folded(p, q);
	assert_int_equal(tacho_profile_n_rows(q), 500);
	for (size_t i = 0; i < 500; i++) {
		const struct tacho_profile_row *r = &p->rows.v[i], *s = &q->rows.v[i];

		assert_true(r->time == s->time && r->cpu == s->cpu && r->period == s->period);
	}
	for (size_t i = 1; i < tacho_profile_n_objects(p); i++) {
		const struct tacho_profile_object *o = tacho_profile_object(p, i), *found = NULL;

		for (size_t k = 0; k < tacho_profile_n_objects(q); k++)
			if (!strcmp(tacho_profile_object(q, k)->path, o->path))
				found = tacho_profile_object(q, k);
		assert_non_null(found);
		assert_memory_equal(found->build_id, o->build_id, 20);
		assert_true(found->kernel == o->kernel && found->has_symbols == o->has_symbols);
		assert_true(!found->why == !o->why && (!o->why || !strcmp(found->why, o->why)));
		assert_int_equal(found->unresolved, o->unresolved);
		assert_int_equal(found->broken, o->broken);
	}
	assert_int_equal(q->events.v[0].samples, p->events.v[0].samples);
	assert_int_equal(q->events.v[0].period, p->events.v[0].period);
	tacho_profile_quality(p, &was);
	tacho_profile_quality(q, &is);
	assert_true(was.lost == is.lost && was.unresolved == is.unresolved &&
		    was.broken_stacks == is.broken_stacks && was.samples == is.samples);
	tacho_profile_free(p);
	tacho_profile_free(q);
}

static void several_add_up(void **state)
{
	struct tacho_profile *p = filled(300), *q = new_profile((struct tacho_profile_opts){ 0 });
	struct tacho_profile *twice = new_profile((struct tacho_profile_opts){ 0 });
	scoped(buf_done) struct buf b = packed(p, 0);
	size_t nodes;

	assert_int_equal(tacho_profile_unpack(q, b.bytes, b.n, NULL, NULL), 0);
	nodes = tacho_profile_n_nodes(q);
	assert_true(tacho_profile_n_rows(q) < 300);
	assert_int_equal(tacho_profile_unpack(q, b.bytes, b.n, NULL, NULL), 0);
	assert_int_equal(tacho_profile_n_nodes(q), nodes);
	assert_int_equal(samples_of(q), 600);
	assert_int_equal(tacho_profile_merge(twice, p), 0);
	assert_int_equal(tacho_profile_merge(twice, p), 0);
	assert_same_folded(q, twice);
	tacho_profile_free(p);
	tacho_profile_free(q);
	tacho_profile_free(twice);
}

static void ranges_take_their_part(void **state)
{
	struct tacho_profile *p = filled(500);
	scoped(buf_done) struct buf b = packed(p, 5000000000);
	static const struct { uint64_t from_s, to_s, want; } cases[] = {
		{ 0, 0, 500 }, { 1005, 1006, 100 }, { 1000, 1005, 0 }, { 1009, 2000, 100 }, { 1009, 0, 100 },
		{ 1005, 1010, 500 }, { 1010, 1011, 0 },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		struct tacho_profile *q = new_profile((struct tacho_profile_opts){ 0 });

		assert_int_equal(tacho_profile_unpack(q, b.bytes, b.n,
						      TACHO_OPTS(tacho_unpack_opts,
								 .from_ns = cases[i].from_s * 1000000000,
								 .to_ns = cases[i].to_s * 1000000000), NULL), 0);
		assert_int_equal(samples_of(q), cases[i].want);
		if (!cases[i].want)
			assert_int_equal(tacho_profile_n_nodes(q), 1);
		tacho_profile_free(q);
	}
	tacho_profile_free(p);
}

static void filters_are_asked(void **state)
{
	struct tacho_profile *p = filled(500);
	scoped(buf_done) struct buf b = packed(p, 0);
	static const struct { struct tacho_profile_opts opts; uint64_t want; } cases[] = {
		{ { .comms = "one" }, 250 }, { { .comms = "three" }, 0 }, { { .tids = "7" }, 250 },
		{ { .pids = "8" }, 0 }, { { .cpus = "1-2" }, 250 }, { { .parent = "_start" }, 500 },
		{ { .parent = "_stop" }, 0 }, { { .comms = "two", .cpus = "0" }, 125 },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		struct tacho_profile *q = new_profile(cases[i].opts);

		assert_int_equal(tacho_profile_unpack(q, b.bytes, b.n, NULL, NULL), 0);
		assert_int_equal(samples_of(q), cases[i].want);
		assert_int_equal(q->events.v[0].samples, cases[i].want);
		tacho_profile_free(q);
	}
	tacho_profile_free(p);
}

static void times_of_the_profile_are_refused(void **state)
{
	struct tacho_profile *p = filled(5), *q = new_profile((struct tacho_profile_opts){ .time = "1,2" });
	scoped(buf_done) struct buf b = packed(p, 0);

	assert_int_equal(tacho_profile_unpack(q, b.bytes, b.n, NULL, NULL), -EINVAL);
	tacho_profile_free(p);
	tacho_profile_free(q);
}

static void closed_profiles_refuse_rows(void **state)
{
	static const struct tacho_profile_opts opts[] = { { .split_comms = true }, { .once = true } };
	struct tacho_profile *p = filled(5);
	scoped(buf_done) struct buf b = packed(p, 0);

	for (size_t i = 0; i < countof(opts); i++) {
		struct tacho_profile *q = new_profile(opts[i]);

		assert_int_equal(tacho_profile_unpack(q, b.bytes, b.n, NULL, NULL), -EINVAL);
		assert_int_equal(tacho_profile_merge(q, p), -EINVAL);
		assert_int_equal(tacho_profile_n_rows(q), 0);
		tacho_profile_free(q);
	}
	profile_close(p);
	assert_int_equal(tacho_profile_load(p, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(samples_of(p), 5);
	tacho_profile_free(p);
}

/* Each byte changed and each length cut: refused, or another profile that is whole in itself. */
static void damage_is_refused(void **state)
{
	struct tacho_profile *p = filled(60);
	scoped(buf_done) struct buf b = packed(p, 0);

	for (size_t i = 0; i < b.n; i++) {
		struct tacho_profile *q = new_profile((struct tacho_profile_opts){ 0 });
		int err = tacho_profile_unpack(q, b.bytes, i, NULL, NULL);

		assert_int_equal(err, -EBADMSG);
		b.bytes[i] ^= 0x41;
		err = tacho_profile_unpack(q, b.bytes, b.n, NULL, NULL);
		assert_true(err == 0 || err == -EBADMSG || (err == -EPROTO && i == 3));
		if (err < 0) {
			assert_int_equal(tacho_profile_n_rows(q), 0);
			assert_int_equal(tacho_profile_n_events(q), 0);
		}
		b.bytes[i] ^= 0x41;
		tacho_profile_free(q);
	}
	tacho_profile_free(p);
}

static void an_empty_one_is_fine(void **state)
{
	struct tacho_profile *p = new_profile((struct tacho_profile_opts){ 0 });
	scoped(buf_done) struct buf b = packed(p, 0);

	assert_int_equal(tacho_profile_unpack(p, b.bytes, b.n, NULL, NULL), 0);
	assert_int_equal(tacho_profile_n_rows(p), 0);
	tacho_profile_free(p);
}

static int full(void *arg, const void *bytes, size_t n)
{
	return -ENOSPC;
}

static void refusals_say_why(void **state)
{
	struct tacho_profile *p = filled(5);
	struct tacho_error e = { .column = -1 };

	assert_int_equal(tacho_profile_pack(p, NULL, full, NULL, &e), -ENOSPC);
	assert_int_equal(tacho_profile_pack(p, TACHO_OPTS(tacho_pack_opts, .level = 99), full, NULL, &e),
			 -EINVAL);
	assert_string_equal(e.message, "compression level 99 is out of range: it must be 1 to 19");
	tacho_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unpacked_equals_packed),
		cmocka_unit_test(several_add_up),
		cmocka_unit_test(ranges_take_their_part),
		cmocka_unit_test(filters_are_asked),
		cmocka_unit_test(times_of_the_profile_are_refused),
		cmocka_unit_test(closed_profiles_refuse_rows),
		cmocka_unit_test(damage_is_refused),
		cmocka_unit_test(an_empty_one_is_fine),
		cmocka_unit_test(refusals_say_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
