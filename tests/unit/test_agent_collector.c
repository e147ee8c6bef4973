/* agent/core/collector*.c, agent/source/: sources are opened, read, paused, reloaded; counters never fall. */
#include "agent/core/collector_internal.h"

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
static struct cpu_group groups[] = { { "zero", (int[]){ 0 }, 1 } };

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

static void hear(void *arg, const struct point_batch *b)
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
	for (uint32_t id = 1; id <= w->agent.registry.last_id; id++) {
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
		skip();			/* no permission to count the whole machine */
	assert_int_equal(n[TACHO_COUNTING], 2);
	assert_true(find(&w, "task-clock", "cpu", "0")->last.value > 0);
	assert_string_equal(find(&w, "task-clock", "cpu", "0")->metric->unit, "seconds");
	assert_string_equal(find(&w, "context-switches", NULL, NULL)->metric->name,
			    "perf_context_switches");
	world_end(&w);
}

/* A changed configuration: series in both continue, removed ones end. */
static void collector_reloads(void **state)
{
	struct world w = { .config.n_sources = 1 };
	struct agent_config next = { .n_sources = 1 };
	struct source_config changed, fewer;
	struct tacho_error e = { .column = -1 };
	struct agent_source *before;
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

/* A process ends: its last counts are reported, its series ends. */
static void collector_process(void **state)
{
	struct world w = { .config.n_sources = 1 };
	struct tacho_error e = { .column = -1 };
	int pid = fork(), status;

	(void)state;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);	/* do not outlive a failed test */
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

/* Few file descriptors: the first events are opened, the others give the reason. */
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

/* ---- flush ---- */

struct ears {
	size_t flushed, live;
	int64_t last_ns;
};

static void hear_live(void *arg, const struct point_batch *b)
{
	struct ears *e = arg;

	(void)b;
	e->live++;
}

/* Batches arrive in the order of their times. */
static void hear_flushed(void *arg, const struct point_batch *b)
{
	struct ears *e = arg;

	assert_true(b->time_ns > e->last_ns);
	assert_true(b->n_points > 0);
	e->last_ns = b->time_ns;
	e->flushed++;
}

/* Flushes are due at multiples of the interval: start well before the next one. */
static void early_in(uint64_t flush_ns)
{
	while (flush_ns - clock_mono_ns() % flush_ns < 3000000000)
		usleep(10000);
}

/* Points are delivered when the flush is due; live listeners and the registry get them at once. */
static void collector_flushes(void **state)
{
	struct world w = { .config.n_sources = 1 };
	struct tacho_error e = { .column = -1 };
	struct ears ears = { 0 };

	(void)state;
	w.sources[0] = system_source();
	w.sources[0].flush_ns = 3600000000000;
	world_start(&w);
	assert_int_equal(collector_listen(w.agent.collector, hear_flushed, &ears), 0);
	assert_int_equal(collector_listen_live(w.agent.collector, hear_live, &ears), 0);
	if (!find(&w, "task-clock", "cpu", "0"))
		skip();
	early_in(w.sources[0].flush_ns);
	collector_lock(w.agent.collector);
	for (int i = 0; i < 5; i++) {
		usleep(1000);
		assert_true(collector_tick(w.agent.collector, w.agent.collector->sources[0]) >= 0);
	}
	collector_unlock(w.agent.collector);
	assert_int_equal(ears.live, 5);
	assert_int_equal(ears.flushed, 0);
	assert_true(find(&w, "task-clock", "cpu", "0")->last.value > 0);
	assert_int_equal(collector_read_now(w.agent.collector, NULL, &e), 0);
	assert_int_equal(ears.live, 6);
	assert_int_equal(ears.flushed, 6);
	collector_unlisten(w.agent.collector, hear_flushed, &ears);
	collector_unlisten(w.agent.collector, hear_live, &ears);
	world_end(&w);
}

/* A due flush delivers all queued batches. */
static void collector_flush_due(void **state)
{
	struct world w = { .config.n_sources = 1 };
	struct ears ears = { 0 };
	struct agent_source *s;

	(void)state;
	w.sources[0] = system_source();
	w.sources[0].flush_ns = 60000000000;
	world_start(&w);
	assert_int_equal(collector_listen(w.agent.collector, hear_flushed, &ears), 0);
	if (!find(&w, "task-clock", "cpu", "0"))
		skip();
	s = w.agent.collector->sources[0];
	early_in(w.sources[0].flush_ns);
	collector_lock(w.agent.collector);
	assert_true(collector_tick(w.agent.collector, s) >= 0);
	assert_int_equal(ears.flushed, 0);
	s->flush_at_ns = clock_mono_ns();
	usleep(1000);
	assert_true(collector_tick(w.agent.collector, s) >= 0);
	assert_int_equal(ears.flushed, 2);
	assert_true(s->flush_at_ns > clock_mono_ns());
	assert_int_equal(s->flush_queue.n, 0);
	collector_unlock(w.agent.collector);
	collector_unlisten(w.agent.collector, hear_flushed, &ears);
	world_end(&w);
}

/* ---- processes ---- */

#define N_CHILDREN 4

/* A child that works when told through its pipe, and sleeps otherwise. */
static int start_child(int *pipe_to)
{
	int ends[2], pid;
	char word;

	if (pipe(ends) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[1]);
		while (read(ends[0], &word, 1) == 1)
			for (clock_t end = clock() + CLOCKS_PER_SEC / 33; clock() < end;)
				;
		_exit(0);
	}
	close(ends[0]);
	*pipe_to = ends[1];
	return pid;
}

static uint64_t total(struct world *w)
{
	uint64_t sum = 0;

	for (uint32_t id = 1; id <= w->agent.registry.last_id; id++) {
		const struct series *s = registry_get(&w->agent.registry, id);

		if (s && !strcmp(s->metric->event, "task-clock"))
			sum += s->last.count;
	}
	return sum;
}

/* Reads until the count is reached; on a busy machine this may take long. */
static void read_until(struct world *w, uint64_t want)
{
	struct tacho_error e = { .column = -1 };

	for (int i = 0; i < 500 && total(w) < want; i++) {
		usleep(10000);
		assert_int_equal(collector_read_now(w->agent.collector, NULL, &e), 0);
	}
	assert_true(total(w) >= want);
}

static size_t count_own(const struct agent_source *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_units; i++)
		n += !s->units[i].other;
	return n;
}

/* Four processes of which two have series of their own. */
static void start_four(struct world *w, int pids[N_CHILDREN], int pipes[N_CHILDREN])
{
	static struct event_config clock_event[] = { { .spec = "task-clock" } };

	for (int i = 0; i < N_CHILDREN; i++)
		pids[i] = start_child(&pipes[i]);
	w->config.n_sources = 1;
	w->sources[0] = system_source();
	w->sources[0].events = clock_event;
	w->sources[0].n_events = 1;
	w->sources[0].target = TARGET_PIDS;
	w->sources[0].pids = pids;
	w->sources[0].n_pids = N_CHILDREN;
	w->sources[0].per = PER_PROCESS;
	w->sources[0].top = 2;
	world_start(w);
	assert_int_equal(w->agent.collector->sources[0]->n_units, N_CHILDREN);
	assert_int_equal(count_own(w->agent.collector->sources[0]), 2);
}

static void end_four(const int pids[N_CHILDREN], const int pipes[N_CHILDREN])
{
	int status;

	for (int i = 0; i < N_CHILDREN; i++) {
		close(pipes[i]);
		kill(pids[i], SIGKILL);		/* later children also hold its pipe open */
		waitpid(pids[i], &status, 0);
	}
}

/* Two of four processes, those that count most, have their own series. The others share one. */
static void collector_top(void **state)
{
	struct world w = { 0 };
	int pids[N_CHILDREN], pipes[N_CHILDREN];
	struct tacho_error e = { .column = -1 };
	const struct series *own;
	char text[16];
	struct agent_source *s;
	uint64_t before;

	(void)state;
	start_four(&w, pids, pipes);
	s = w.agent.collector->sources[0];
	assert_non_null(find(&w, "task-clock", "comm", "other"));

	assert_int_equal(write(pipes[3], "x", 1), 1);	/* the last was not among the first two */
	read_until(&w, 20000000);
	before = total(&w);
	assert_int_equal(source_refresh(s, false), 0);
	assert_int_equal(count_own(s), 2);
	snprintf(text, sizeof(text), "%d", pids[3]);
	assert_non_null(find(&w, "task-clock", "pid", text));
	assert_int_equal(write(pipes[3], "x", 1), 1);
	read_until(&w, before + 20000000);		/* the change lost no counts */
	own = find(&w, "task-clock", "pid", text);
	for (int i = 0; i < 500 && own->last.count < 10000000; i++) {	/* the first counts may be a rest of the earlier work */
		usleep(10000);
		assert_int_equal(collector_read_now(w.agent.collector, NULL, &e), 0);
	}
	assert_true(own->last.count >= 10000000);

	end_four(pids, pipes);
	assert_int_equal(source_refresh(s, false), 0);
	assert_int_equal(s->n_units, 0);
	assert_true(find(&w, "task-clock", "comm", "other")->ended);
	world_end(&w);
}

/* Two processes are promoted in one refresh: the first is not replaced by the second, though its count restarts. */
static void collector_top_at_once(void **state)
{
	struct world w = { 0 };
	int pids[N_CHILDREN], pipes[N_CHILDREN];
	struct agent_source *s;

	(void)state;
	start_four(&w, pids, pipes);
	s = w.agent.collector->sources[0];
	for (size_t i = 0; i < N_CHILDREN; i++)
		s->units[i].count = s->units[i].count_before + (s->units[i].other ? 500 + i : 100);
	assert_int_equal(source_refresh(s, false), 0);
	for (size_t i = 0; i < N_CHILDREN; i++)
		assert_int_equal(s->units[i].other, i < 2);
	end_four(pids, pipes);
	world_end(&w);
}

/* Processes that come and go by the dozen do not leave series behind by the dozen; one that stays gets its
 * own. */
static void collector_top_of_many(void **state)
{
	static struct event_config clock_event[] = { { .spec = "task-clock" } };
	struct world w = { .config.n_sources = 1 };
	size_t series = 0;
	struct agent_source *s;
	int pid, to, status;
	char text[16];

	(void)state;
	w.sources[0] = system_source();
	w.sources[0].events = clock_event;
	w.sources[0].n_events = 1;
	w.sources[0].target = TARGET_PIDS;
	w.sources[0].pids = &pid;
	w.sources[0].n_pids = 1;
	w.sources[0].per = PER_PROCESS;
	w.sources[0].top = 3;
	pid = start_child(&to);
	world_start(&w);
	s = w.agent.collector->sources[0];
	for (int i = 0; i < 20; i++) {
		int next, was = pid;

		pid = start_child(&next);
		close(to);
		kill(was, SIGKILL);
		waitpid(was, &status, 0);
		to = next;
		assert_int_equal(source_refresh(s, false), 0);
		assert_int_equal(s->n_units, 1);
	}
	for (size_t i = 0; i < w.agent.registry.n; i++)
		series += w.agent.registry.series[i] && w.agent.registry.series[i]->source &&
			  !strcmp(w.agent.registry.series[i]->source, w.sources[0].name);
	assert_true(series <= 2 * 3 + 1);
	assert_true(s->units[0].other);
	assert_non_null(find(&w, "task-clock", "comm", "other"));
	snprintf(text, sizeof(text), "%d", pid);
	for (int i = 0; i < 40 && s->units[0].other; i++) {
		assert_int_equal(write(to, "x", 1), 1);
		read_until(&w, total(&w) + 1000000);
		assert_int_equal(source_refresh(s, false), 0);
	}
	assert_false(s->units[0].other);
	assert_non_null(find(&w, "task-clock", "pid", text));
	registry_expire(&w.agent.registry, INT64_MAX);		/* expired series free their places */
	assert_int_equal(counter_table_count_ended(&s->counters, &w.agent.registry), 0);
	close(to);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	world_end(&w);
}

/* Counts between the last tick and the end of a process are reported. */
static void collector_last_words(void **state)
{
	struct world w = { .config.n_sources = 1 };
	struct tacho_error e = { .column = -1 };
	int to, pid = start_child(&to), status;
	uint64_t before;

	(void)state;
	w.sources[0] = system_source();
	w.sources[0].target = TARGET_PIDS;
	w.sources[0].pids = &pid;
	w.sources[0].n_pids = 1;
	w.sources[0].per = PER_PROCESS;
	world_start(&w);
	assert_int_equal(collector_read_now(w.agent.collector, NULL, &e), 0);
	before = total(&w);
	assert_int_equal(write(to, "x", 1), 1);
	close(to);
	waitpid(pid, &status, 0);
	assert_int_equal(source_refresh(w.agent.collector->sources[0], false), 0);
	assert_int_equal(collector_read_now(w.agent.collector, NULL, &e), 0);
	assert_true(total(&w) >= before + 20000000);
	assert_true(find(&w, "task-clock", NULL, NULL)->ended);
	world_end(&w);
}

/* Entries of expired series are removed; the others keep their series. */
static void slots_are_forgotten(void **state)
{
	const struct metric like = { .event = "e", .name = "n", .scale = 1 };
	const struct metric *m;
	struct counter_table counters = { 0 };
	struct registry r;
	scoped(freep) uint32_t *map = NULL;

	(void)state;
	assert_int_equal(registry_init(&r), 0);
	m = registry_metric(&r, &like);
	for (int i = 0; i < 300; i++) {
		char text[16];
		struct label label = { "pid", text };

		snprintf(text, sizeof(text), "%d", i);
		assert_int_equal(counter_table_get(&counters, &r, &(struct series_desc){ m, "s", &label, 1, 0, 1 }), i);
		counters.v[i].present = i % 3 == 0;
	}
	counter_table_end_absent(&counters, &r);
	assert_null(counter_table_compact(&counters, &r));		/* they have ended, but can still be seen */
	registry_expire(&r, INT64_MAX);
	map = counter_table_compact(&counters, &r);
	assert_non_null(map);
	assert_int_equal(counters.n, 100);
	for (uint32_t i = 0; i < 300; i++) {
		assert_int_equal(map[i], i % 3 ? UINT32_MAX : i / 3);
		if (i % 3 == 0)
			assert_int_equal(counters.v[map[i]].series, i + 1);
	}
	assert_int_equal(counter_table_get(&counters, &r, &(struct series_desc){ m, "s", &(struct label){ "pid", "33" }, 1, 0, 1 }), 11);
	assert_int_equal(counter_table_get(&counters, &r, &(struct series_desc){ m, "s", &(struct label){ "pid", "1" }, 1, 0, 1 }), 100);
	counter_table_done(&counters);
	registry_done(&r);
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
		cmocka_unit_test(collector_flushes),
		cmocka_unit_test(collector_flush_due),
		cmocka_unit_test(collector_top),
		cmocka_unit_test(collector_top_at_once),
		cmocka_unit_test(collector_top_of_many),
		cmocka_unit_test(collector_last_words),
		cmocka_unit_test(slots_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
