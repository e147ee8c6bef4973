/* sys/probe.c: the attr size and features of each kernel version, probed at most once. */
#include "fake_kernel.h"

#include "sys/probe.h"

static void sizes(void **state)
{
	static const uint32_t sizes[] = { 64, 112, 120, 128, 136, 144 };

	for (size_t i = 0; i < countof(sizes); i++) {
		struct fake_kernel k = { .version = 612, .attr_bytes = sizes[i], .privileged = true };
		struct sys sys = { .ops = &fake_ops, .ops_arg = &k };
		struct probe p;

		probe_init(&p, &sys);
		assert_int_equal(probe_attr_bytes(&p), sizes[i]);
		assert_int_equal(probe_attr_bytes(&p), sizes[i]);
		assert_int_equal(k.n_opens, 1);
		assert_int_equal(probe_knows(&p, probe_feature("config3")), sizes[i] >= 136);
		assert_int_equal(probe_knows(&p, probe_feature("config4")), sizes[i] >= 144);
		assert_int_equal(k.n_opens, 1);
	}
}

/* "5.13" as 513, as the fake kernel counts. */
static int version_of(const char *since)
{
	int major, minor;

	assert_int_equal(sscanf(since, "%d.%d", &major, &minor), 2);
	return major * 100 + minor;
}

static void flags_by_release(void **state)
{
	static const int versions[] = { 404, 419, 504, 515, 601, 612, 619 };
	size_t n;
	const struct kernel_feature *features = probe_features(&n);

	for (size_t v = 0; v < countof(versions); v++) {
		struct fake_kernel k = { .version = versions[v], .attr_bytes = 144, .privileged = true };
		struct sys sys = { .ops = &fake_ops, .ops_arg = &k };
		struct probe p;
		unsigned opens;

		k.offline_cpu = -1;
		probe_init(&p, &sys);
		for (size_t i = 0; i < n; i++)
			if (features[i].kind == FEATURE_FLAG || features[i].kind == FEATURE_FORMAT)
				assert_int_equal(probe_knows(&p, &features[i]),
						 versions[v] >= version_of(features[i].since));
		opens = k.n_opens;
		for (size_t i = 0; i < n; i++)
			if (features[i].kind == FEATURE_FLAG)
				probe_knows(&p, &features[i]);
		assert_int_equal(k.n_opens, opens);
		assert_int_equal(fake_n_open(&k), 0);
	}
}

static void refused(void **state)
{
	struct fake_kernel k = { .version = 504, .attr_bytes = 112, .privileged = true };
	struct sys sys = { .ops = &fake_ops, .ops_arg = &k };
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE };
	struct probe p;

	probe_init(&p, &sys);
	assert_null(probe_refused(&p, &attr));
	assert_int_equal(k.n_opens, 0);		/* nothing was asked for, so nothing is probed */
	attr.flags = PERF_ATTR_KSYMBOL;
	assert_null(probe_refused(&p, &attr));
	attr.flags |= PERF_ATTR_SIGTRAP | PERF_ATTR_TEXT_POKE;
	assert_string_equal(probe_refused(&p, &attr)->name, "sigtrap");
	attr.config3 = 1;
	assert_string_equal(probe_refused(&p, &attr)->name, "config3");
	assert_null(probe_feature("no such word"));
}

static void newest_first(void **state)
{
	size_t n;
	const struct kernel_feature *features = probe_features(&n);

	for (size_t i = 1; i < n; i++)
		assert_true(version_of(features[i].since) <= version_of(features[i - 1].since));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(flags_by_release),
		cmocka_unit_test(refused),
		cmocka_unit_test(newest_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
