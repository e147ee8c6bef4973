/*
 * Selecting samples between two events: sequences of events and which of them are selected.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/defs.h"
#include "record/perf_abi.h"

#include <tacho/perfdata.h>

static const struct perf_event_attr attr = {
	.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .sample_type = PERF_SAMPLE_IDENTIFIER,
};

/* A recording of events a, b and c, without any record. */
static struct tacho_perfdata *events_abc(int *fd)
{
	static const char *const names[] = { "a", "b", "c" };
	struct tacho_perfdata_writer *w;
	struct tacho_perfdata *pd;
	char path[64];

	*fd = memfd_create("switch", MFD_CLOEXEC);
	assert_true(*fd >= 0);
	assert_int_equal(tacho_writer_open(&w, *fd, NULL, NULL), 0);
	for (uint64_t i = 0; i < countof(names); i++) {
		uint64_t id = i + 1;

		assert_int_equal(tacho_writer_event(w, names[i], &attr, sizeof(attr), &id, 1), 0);
	}
	assert_int_equal(tacho_writer_begin(w, NULL), 0);
	assert_int_equal(tacho_writer_finish(w, NULL), 0);
	tacho_writer_free(w);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", *fd);
	assert_int_equal(tacho_perfdata_open(&pd, path, NULL, NULL), 0);
	return pd;
}

static const struct { const char *on, *off; bool show; const char *events, *let; } runs[] = {
	{ NULL, NULL, false, "abcabc", "abcabc" },
	{ "a", NULL, false, "bcabacb", "bacb" },
	{ "a", NULL, true, "bcabacb", "abacb" },
	{ NULL, "b", false, "cacbcabc", "cac" },
	{ NULL, "b", true, "cacbcabc", "cacb" },
	{ "a", "b", false, "cbcaccabbcac", "ccac" },
	{ "a", "b", true, "cbcaccabbcac", "accabac" },
	{ "a", "a", false, "bcacbabcac", "cbc" },
	{ "a", "a", true, "bcacbabcac", "acbaac" },
	{ "c", "b", false, "ababa", "" },
};

static void switch_sequences(void **state)
{
	int fd;
	struct tacho_perfdata *pd = events_abc(&fd);

	(void)state;
	for (size_t i = 0; i < countof(runs); i++) {
		struct tacho_switch sw = { .on = runs[i].on, .off = runs[i].off, .show = runs[i].show };
		char let[32] = "";
		size_t n = 0;

		assert_int_equal(tacho_switch_check(&sw, pd, NULL), 0);
		for (const char *at = runs[i].events; *at; at++)
			if (tacho_switch_lets(&sw, pd, (size_t)(*at - 'a')))
				let[n++] = *at;
		assert_string_equal(let, runs[i].let);
	}
	tacho_perfdata_close(pd);
	close(fd);
}

/* Events are looked up when needed if tacho_switch_check() was not called. */
static void switch_unchecked(void **state)
{
	int fd;
	struct tacho_perfdata *pd = events_abc(&fd);
	struct tacho_switch sw = { .on = "c" };

	(void)state;
	assert_false(tacho_switch_lets(&sw, pd, 0));
	assert_false(tacho_switch_lets(&sw, pd, 2));
	assert_true(tacho_switch_lets(&sw, pd, 0));
	tacho_perfdata_close(pd);
	close(fd);
}

static void switch_names(void **state)
{
	int fd;
	struct tacho_perfdata *pd = events_abc(&fd);
	struct tacho_error e = { 0 };
	struct tacho_switch on = { .on = "d", .off = "a" }, off = { .on = "a", .off = "d" };

	(void)state;
	assert_int_equal(tacho_switch_check(&on, pd, &e), -EINVAL);
	assert_non_null(strstr(e.message, "'d'"));
	assert_int_equal(tacho_switch_check(&off, pd, NULL), -EINVAL);
	tacho_perfdata_close(pd);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switch_sequences),
		cmocka_unit_test(switch_unchecked),
		cmocka_unit_test(switch_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
