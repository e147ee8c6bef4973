/* Every exporter with the n-th allocation failing, for every n: nothing breaks, nothing leaks, and
 * with memory again the body is what it would have been. */
#include "agent/export/exporter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "agent_support.h"
#include "nomem.h"

static const struct metric clock_s = {
	.event = "task-clock", .name = "perf_task_clock", .unit = "seconds", .help = "time",
	.kind = METRIC_COUNTER, .scale = 1e-9,
};

static const char exports[] =
	"[agent]\nlabels = { rack = \"r1\" }\n"
	"[[export]]\ntype = \"remote_write\"\nurl = \"http://localhost:1\"\ntoken = \"t\"\n"
	"[[export]]\ntype = \"otlp\"\nurl = \"http://localhost:1\"\nheaders = { a = \"b\" }\n"
	"[[export]]\nname = \"plain\"\ntype = \"otlp\"\nurl = \"http://localhost:1\"\ngzip = false\n"
	"[[export]]\ntype = \"influxdb\"\nurl = \"http://localhost:1\"\nbucket = \"b\"\ntoken = \"t\"\n"
	"[[export]]\ntype = \"graphite\"\naddress = \"localhost:1\"\n"
	"[[export]]\ntype = \"statsd\"\n"
	"[[export]]\ntype = \"csv\"\npath = \"-\"\n"
	"[[export]]\ntype = \"jsonl\"\npath = \"-\"\n"
	"[[export]]\ntype = \"textfile\"\npath = \"x.prom\"\n"
	"[[export]]\ntype = \"pyroscope\"\nurl = \"http://localhost:1\"\ntenant = \"t\"\n";

/* Opens, encodes two batches of two series of which one has ended, closes. 0 or the first failure. */
static int64_t run_once(const struct export_config *x, const struct exporter_env *env, struct buf *body)
{
	struct point points[] = {
		{ .series = 1, .count = 5, .value = 5, .state = TACHO_SCALED, .enabled_ns = 2, .running_ns = 1 },
		{ .series = 2, .count = 7, .value = 7 },
	};
	struct point_batch batches[] = {
		{ .source = "sys", .time_ns = 2000000, .points = points, .n_points = 2 },
		{ .source = "sys", .time_ns = 4000000, .points = points, .n_points = 2 }
	};
	struct tacho_error e = { .column = -1 };
	int64_t n = 0;
	void *open;
	int err = x->type->open(&open, x->settings, env, &e);

	if (err < 0)
		return err;
	if (x->type->encode)
		n = x->type->encode(open, batches, 2, body);
	x->type->close(open);
	return n < 0 ? n : 0;
}

static void every_allocation_may_fail(void **state)
{
	struct label labels[] = { { "source", "sys" }, { "cpu", "0" } };
	struct tacho_error e = { .column = -1 };
	struct agent_config *cfg = NULL;
	struct registry registry;
	struct exporter_env env = { .registry = &registry, .host = "me" };

	if (load_with(&cfg, exports, NULL, &e) < 0)
		fail_msg("%s", e.message);
	env.config = cfg;
	registry_init(&registry);
	for (int i = 0; i < 2; i++)
		registry_add(&registry, &(struct series_desc){ registry_metric(&registry, &clock_s), "sys", labels, 2, 0, 7 });
	registry_end(&registry, 2);
	for (size_t i = 0; i < cfg->n_exports; i++) {
		struct buf good = { 0 };
		int64_t err;

		assert_int_equal(run_once(&cfg->exports[i], &env, &good), 0);
		for (unsigned long n = 1;; n++) {
			struct buf body = { 0 };

			count = 0;
			fail_at = n;
			err = run_once(&cfg->exports[i], &env, &body);
			fail_at = 0;
			if (err)
				assert_int_equal(err, -ENOMEM);
			else if (!str_eq(buf_view(&body), buf_view(&good)))
				fail_msg("%s: allocation %lu failed unnoticed", cfg->exports[i].name, n);
			buf_done(&body);
			if (count < n)
				break;
		}
		buf_done(&good);
	}
	registry_done(&registry);
	config_free(cfg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, dir_setup, dir_teardown);
}
