/* agent/: sources are opened, read, paused, reloaded; counters never fall; states say why. */
#include "agent/collector_.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "base/clock.h"

static struct event_config plain_events[] = {
	{ .spec = "context-switches" },
	{ .spec = "{task-clock,page-faults}" },
	{ .spec = "cylces" },
	{ .spec = "page-faults", .refused = "not in any list" },
};
static struct core_group groups[] = { { "zero", (int[]){ 0 }, 1 } };

static struct source_config system_source(void)
{
	return (struct source_config){
		.name = "system", .events = plain_events, .n_events = countof(plain_events),
		.target = TARGET_SYSTEM, .per = PER_CPU, .interval_ns = 20000000, .flush_ns = 20000000,
	};
}

struct world {
	struct agent_config config;
	struct source_config sources[2];
	struct agent agent;
	size_t batches, points;
	uint64_t last[64];		/* count by series id */
};

static void hear(void *arg, const struct batch *b)
{
	struct world *w = arg;

	w->batches++;
	w->points += b->n_points;
	for (size_t i = 0; i < b->n_points; i++) {
		uint32_t id = b->points[i].series;

		assert_in_range(id, 1, countof(w->last) - 1);
		assert_true(b->points[i].count >= w->last[id]);
		w->last[id] = b->points[i].count;
	}
	if (w->batches >= 5)
		collector_stop(w->agent.collector);
}

static void world_start(struct world *w)
{
	struct tacho_error e = { .column = -1 };

	w->config.sources = w->sources;
	w->agent.config = &w->config;
	assert_int_equal(registry_init(&w->agent.registry), 0);
	assert_int_equal(collector_new(&w->agent.collector, &w->agent, &e), 0);
	assert_int_equal(collector_start(w->agent.collector, &e), 0);
}

static void world_end(struct world *w)
{
	collector_free(w->agent.collector);
	registry_done(&w->agent.registry);
}

static const struct series *find(struct world *w, const char *event, const char *label,
				 const char *value)
{
	for (uint32_t id = 1; id <= w->agent.registry.n; id++) {
		const struct series *s = registry_get(&w->agent.registry, id);
		const char *have = s && label ? series_label(s, label) : NULL;

		if (s && !strcmp(s->metric->event, event) && (!label || (have && !strcmp(have, value))))
			return s;
	}
	return NULL;
}

static int count_states(void *arg, const struct event_status *st)
{
	unsigned *n = arg;

	n[st->state]++;
	if (st->state >= TACHO_UNSUPPORTED)
		assert_non_null(st->why);
	return 0;
}

static void collector_counts(void **state)
{
	struct world w = { .config.n_sources = 1 };
	unsigned n[6] = { 0 };

	(void)state;
	w.sources[0] = system_source();
	world_start(&w);
	assert_int_equal(collector_listen(w.agent.collector, hear, &w), 0);
	assert_int_equal(collector_run(w.agent.collector), 0);
	assert_true(w.batches >= 5);
	assert_int_equal(collector_events(w.agent.collector, count_states, n), 0);
	assert_int_equal(n[TACHO_UNSUPPORTED], 2);
	if (n[TACHO_NOT_PERMITTED])
		skip();			/* this account may not count the machine */
	assert_int_equal(n[TACHO_COUNTING], 2);
	assert_true(find(&w, "task-clock", "cpu", "0")->last.value > 0);
	assert_string_equal(find(&w, "task-clock", "cpu", "0")->metric->unit, "seconds");
	assert_string_equal(find(&w, "context-switches", NULL, NULL)->metric->name,
			    "perf_context_switches");
	world_end(&w);
}

/* A changed file: what stayed goes on from where it was, what went ends. */
static void collector_reloads(void **state)
{
	struct world w = { .config.n_sources = 1 };
	struct agent_config next = { .n_sources = 1 };
	struct source_config changed, fewer;
	struct tacho_error e = { .column = -1 };
	struct source *before;
	uint32_t id;
	uint64_t count;

	(void)state;
	w.sources[0] = system_source();
	world_start(&w);
	usleep(20000);
	assert_int_equal(collector_read_now(w.agent.collector, NULL, &e), 0);
	before = w.agent.collector->sources[0];
	if (!find(&w, "task-clock", "cpu", "0"))
		skip();
	id = find(&w, "task-clock", "cpu", "0")->id;
	count = find(&w, "task-clock", "cpu", "0")->last.count;

	changed = system_source();
	changed.interval_ns *= 2;		/* the same counters, read less often */
	next.sources = &changed;
	assert_int_equal(collector_apply(w.agent.collector, &next, &e), 0);
	assert_ptr_equal(w.agent.collector->sources[0], before);
	assert_int_equal(before->interval_ns, 40000000);

	fewer = changed;
	fewer.events = plain_events + 1;	/* without context-switches */
	fewer.n_events = 1;
	next.sources = &fewer;
	assert_int_equal(collector_apply(w.agent.collector, &next, &e), 0);
	assert_int_equal(collector_read_now(w.agent.collector, "system", &e), 0);
	assert_int_equal(find(&w, "task-clock", "cpu", "0")->id, id);
	assert_true(find(&w, "task-clock", "cpu", "0")->last.count >= count);
	assert_true(find(&w, "context-switches", "cpu", "0")->ended);
	assert_false(find(&w, "page-faults", "cpu", "0")->ended);
	world_end(&w);
}

static void collector_groups(void **state)
{
	struct world w = { .config.n_sources = 1 };
	struct tacho_error e = { .column = -1 };

	(void)state;
	w.sources[0] = system_source();
	w.sources[0].per = PER_GROUPS;
	w.sources[0].groups = groups;
	w.sources[0].n_groups = 1;
	world_start(&w);
	assert_int_equal(collector_read_now(w.agent.collector, NULL, &e), 0);
	if (!find(&w, "context-switches", "group", "zero"))
		skip();
	assert_int_equal(find(&w, "context-switches", "group", "zero")->group_row, 1);
	assert_null(find(&w, "context-switches", "cpu", "0"));
	world_end(&w);
}

/* A process that ends: its last counts are kept, its series ends. */
static void collector_process(void **state)
{
	struct world w = { .config.n_sources = 1 };
	struct tacho_error e = { .column = -1 };
	int pid = fork(), status;

	(void)state;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);	/* a failed test must not leave it behind */
		pause();
		_exit(0);
	}
	w.sources[0] = system_source();
	w.sources[0].target = TARGET_PIDS;
	w.sources[0].pids = &pid;
	w.sources[0].n_pids = 1;
	w.sources[0].per = PER_PROCESS;
	world_start(&w);
	assert_int_equal(w.agent.collector->sources[0]->n_units, 1);
	assert_int_equal(collector_read_now(w.agent.collector, NULL, &e), 0);
	assert_non_null(find(&w, "task-clock", "comm", "test_agent_coll"));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_int_equal(source_refresh(w.agent.collector->sources[0], false), 0);
	assert_int_equal(w.agent.collector->sources[0]->n_units, 0);
	assert_true(find(&w, "task-clock", NULL, NULL)->ended);
	world_end(&w);
}

static void collector_command(void **state)
{
	struct world w = { .config.n_sources = 1 };
	char *words[] = { "true" };

	(void)state;
	w.sources[0] = system_source();
	w.sources[0].target = TARGET_COMMAND;
	w.sources[0].command = (struct strlist){ .v = words, .n = 1 };
	w.sources[0].per = PER_PROCESS;
	world_start(&w);
	w.agent.collector->ends_with_targets = true;
	assert_int_equal(collector_run(w.agent.collector), 0);
	assert_int_equal(w.agent.collector->sources[0]->usage.status, 0);
	assert_true(find(&w, "page-faults", NULL, NULL)->last.count > 0);
	world_end(&w);
}

/* Few descriptors: what comes first is opened, the rest says what it lacks. */
static void collector_budget(void **state)
{
	struct world w = { .config = { .n_sources = 1, .max_fds = 1 } };
	unsigned n[6] = { 0 };

	(void)state;
	w.sources[0] = system_source();
	world_start(&w);
	assert_int_equal(collector_events(w.agent.collector, count_states, n), 0);
	assert_true(n[TACHO_FAILED] >= 1);
	assert_true(w.agent.collector->fds.used <= 1);
	world_end(&w);
}

static void collector_actions(void **state)
{
	struct world w = { .config.n_sources = 1 };
	struct tacho_error e = { .column = -1 };
	uint64_t count;

	(void)state;
	w.sources[0] = system_source();
	world_start(&w);
	assert_int_equal(collector_pause(w.agent.collector, "sytsem", true, &e), -ENOENT);
	assert_string_equal(e.hint, "did you mean 'system'?");
	assert_int_equal(collector_interval(w.agent.collector, NULL, 10, &e), -EINVAL);
	assert_int_equal(collector_pause(w.agent.collector, NULL, true, &e), 0);
	if (!find(&w, "task-clock", "cpu", "0"))
		skip();
	assert_int_equal(collector_read_now(w.agent.collector, NULL, &e), 0);
	count = find(&w, "task-clock", "cpu", "0")->last.count;
	usleep(20000);
	assert_int_equal(collector_read_now(w.agent.collector, NULL, &e), 0);
	assert_int_equal(find(&w, "task-clock", "cpu", "0")->last.count, count);
	assert_int_equal(collector_pause(w.agent.collector, NULL, false, &e), 0);
	usleep(20000);
	assert_int_equal(collector_read_now(w.agent.collector, NULL, &e), 0);
	assert_true(find(&w, "task-clock", "cpu", "0")->last.count > count);
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collector_counts),
		cmocka_unit_test(collector_reloads),
		cmocka_unit_test(collector_groups),
		cmocka_unit_test(collector_process),
		cmocka_unit_test(collector_command),
		cmocka_unit_test(collector_budget),
		cmocka_unit_test(collector_actions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
