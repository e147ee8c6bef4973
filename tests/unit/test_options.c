/*
 * Sized options, of every call that takes them: a newer program may hand in a longer struct as long
 * as what is not known here is zero, an older one a shorter one, and none goes without a size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <tacho/tacho.h>
#include <unistd.h>

#include "base/defs.h"

enum { LATER = 16 }; /* bytes of a library to come */

static struct tacho_profile *profile;
static struct tacho *context;

static int ignore(void *arg, const void *bytes, size_t n)
{
	return 0;
}

static int listed(void *arg, const struct tacho_listing *item)
{
	return 0;
}

static int call_open(const void *opts, struct tacho_error *e)
{
	struct tacho *t = NULL;
	int err = tacho_open(&t, opts, e);

	tacho_close(t);
	return err;
}

static int call_list(const void *opts, struct tacho_error *e)
{
	return tacho_list(context, opts, listed, NULL, e);
}

static int call_evset(const void *opts, struct tacho_error *e)
{
	struct tacho_evset *set = NULL;
	int err = tacho_evset_new(&set, context);

	if (err == 0)
		err = tacho_evset_open(set, opts, e);
	tacho_evset_free(set);
	return min_of(err, 0);
}

static int call_perfdata(const void *opts, struct tacho_error *e)
{
	struct tacho_perfdata *pd = NULL;
	int err = tacho_perfdata_open(&pd, "/nonexistent/perf.data", opts, e);

	tacho_perfdata_close(pd);
	return err == -ENOENT ? 0 : err;
}

static int call_writer(const void *opts, struct tacho_error *e)
{
	struct tacho_perfdata_writer *w = NULL;
	int err = tacho_writer_open(&w, STDOUT_FILENO, opts, e);

	tacho_writer_free(w);
	return err;
}

static int call_symbols(const void *opts, struct tacho_error *e)
{
	struct tacho_symbols *s = NULL;
	int err = tacho_symbols_new(&s, opts, e);

	tacho_symbols_free(s);
	return err;
}

static int call_code(const void *opts, struct tacho_error *e)
{
	const struct tacho_object_id id = { .path = "/nonexistent/object" };
	struct tacho_code *c = NULL;
	int err = tacho_code_new(&c, opts, &id, 0, e);

	tacho_code_free(c);
	return err == -ENOENT ? 0 : err;
}

static int call_profile(const void *opts, struct tacho_error *e)
{
	struct tacho_profile *p = NULL;
	int err = tacho_profile_new(&p, opts, e);

	tacho_profile_free(p);
	return err;
}

static int call_pack(const void *opts, struct tacho_error *e)
{
	return tacho_profile_pack(profile, opts, ignore, NULL, e);
}

static int call_unpack(const void *opts, struct tacho_error *e)
{
	int err = tacho_profile_unpack(profile, "?", 1, opts, e);

	return err == -EBADMSG ? 0 : err;
}

static int call_output(const void *opts, struct tacho_error *e)
{
	int err = tacho_output_write(tacho_format_find("folded"), profile, opts, ignore, NULL, e);

	return err == -ENODATA ? 0 : err;
}

static const struct {
	const char *name;
	int (*call)(const void *opts, struct tacho_error *e);
	size_t size;
} calls[] = {
	{ "open", call_open, sizeof(struct tacho_opts) },
	{ "list", call_list, sizeof(struct tacho_list_opts) },
	{ "evset", call_evset, sizeof(struct tacho_evset_opts) },
	{ "perfdata", call_perfdata, sizeof(struct tacho_perfdata_opts) },
	{ "writer", call_writer, sizeof(struct tacho_writer_opts) },
	{ "symbols", call_symbols, sizeof(struct tacho_symbols_opts) },
	{ "code", call_code, sizeof(struct tacho_symbols_opts) },
	{ "profile", call_profile, sizeof(struct tacho_profile_opts) },
	{ "pack", call_pack, sizeof(struct tacho_pack_opts) },
	{ "unpack", call_unpack, sizeof(struct tacho_unpack_opts) },
	{ "output", call_output, sizeof(struct tacho_output_opts) },
};

/* Calls it with a struct of `size` bytes, the last of which is `last`. */
static int with(size_t i, size_t size, unsigned char last, struct tacho_error *e)
{
	_Alignas(max_align_t) unsigned char opts[1024] = { 0 };

	assert_true(size <= sizeof(opts));
	memcpy(opts, &size, sizeof(size));
	if (size > sizeof(size))
		opts[size - 1] = last;
	return calls[i].call(opts, e);
}

static void newer_and_older_programs(void **state)
{
	for (size_t i = 0; i < countof(calls); i++) {
		struct tacho_error e = { 0 };

		print_message("%s\n", calls[i].name);
		assert_int_equal(calls[i].call(NULL, NULL), 0);
		assert_int_equal(with(i, calls[i].size, 0, NULL), 0);
		assert_int_equal(with(i, sizeof(size_t), 0, NULL), 0);
		assert_int_equal(with(i, calls[i].size + LATER, 0, NULL), 0);
		assert_int_equal(with(i, calls[i].size + LATER, 1, &e), -E2BIG);
		assert_int_equal(e.code, -E2BIG);
		assert_non_null(strstr(e.message, tacho_version()));
		assert_int_equal(with(i, 0, 0, &e), -EINVAL);
		assert_int_equal(e.code, -EINVAL);
		assert_non_null(strstr(e.message, "size"));
	}
}

static int make_all(void **state)
{
	return tacho_open(&context, NULL, NULL) || tacho_profile_new(&profile, NULL, NULL);
}

static int free_all(void **state)
{
	tacho_profile_free(profile);
	tacho_close(context);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(newer_and_older_programs),
	};

	return cmocka_run_group_tests(tests, make_all, free_all);
}
