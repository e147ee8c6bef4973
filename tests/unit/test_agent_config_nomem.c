/* agent/config*.c with the n-th allocation failing, for every n: an error, and nothing left behind.
 * (The event language is looked at with an allocator that works: it has a test of its own.) */
#include "agent/config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "agent_support.h"
#include "nomem.h"

static const char toml[] =
	"[agent]\nlisten = [\"${TACHO_TEST_NONE:-127.0.0.1:1}\"]\nlabels = { a = \"b\" }\nstore = \"x\"\n"
	"[profile]\nfrequency = 3\n[[source]]\nevents = [\"a,b\", { event = \"c\", name = \"d\" }]\n"
	"groups = [\"0-1\", { label = \"x\", cpus = \"2\" }]\n[[source]]\npids = [1]\nevents = \"x\"\n"
	"[[trigger]]\nwhen = \"rate(x) > 1\"\n";
static const char alumet[] =
	"[plugins.perf]\nevents = [\"PAGE_FAULTS#u\", { event = \"r1\", rename = \"x\" }]\n[plugins.csv]\n";
static const char collectd[] =
	"LoadPlugin cpu\n<Plugin intel_pmu>\nEventList \"/x\"\nHardwareEvents \"page-faults,cpu-clock\" "
	"\"nobody-knows\"\nCores \"0\"\nHardwareEvents \"all\"\nCores \"[0]\"\nDispatchMultiPmu true\n</Plugin>\n";

static void every_allocation_may_fail(void **state)
{
	static const char *const texts[] = { toml, alumet, collectd };
	static const char *const sets[] = { "profile.frequency=7", "agent.labels.x=y" };

	for (size_t i = 0; i < countof(texts); i++) {
		struct config_opts opts = { .path = put_file("test.conf", texts[i]), .sets = sets,
					    .n_sets = countof(sets) };
		unsigned long n_failed = 0;

		for (unsigned long n = 1;; n++) {
			struct tacho_error e = { 0 };
			struct agent_config *c = NULL;
			struct buf out = { 0 };
			int err;

			count = 0;
			fail_at = n;
			err = config_load(&c, &opts, &e);
			fail_at = 0;
			if (err && err != -ENOMEM)
				fail_msg("%d: %s", err, e.message);
			if (!err && count < n) {
				config_free(c);
				break;
			}
			/* What scans the machine may go without a piece of it; then the rest is there. */
			if (!err)
				assert_int_equal(config_show(c, true, &out), 0);
			buf_done(&out);
			config_free(c);
			n_failed++;
		}
		assert_true(n_failed > 50);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_may_fail) };

	return cmocka_run_group_tests(tests, dir_setup, dir_teardown);
}
