/*
 * `tacho sched replay`: does again what the tasks of a recording did, with a thread for each of them, and measures how long
 * that takes. Threads burn CPU time, sleep and wake each other up; what else the tasks did is not replayed.
 */
#include "cli/sched/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <time.h>

#include "base/error.h"
#include "cli/kernel/input.h"
#include "cli/core/app.h"

#define COMMAND "sched replay"
#define STACK_BYTES (64u << 10)
#define MAX_TASK_NS (3600ULL * 1000000000)	/* so that a damaged recording does not run or sleep for ever */
#define CALIBRATION_ROUNDS 10
#define BURN_ROUNDS 1000

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Most of the time is spent outside the kernel. */
static void burn(uint64_t ns)
{
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < BURN_ROUNDS; i++)
			__asm__ volatile("");
}

static void sleep_ns(uint64_t ns)
{
	struct timespec left = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

/* ---- the threads ---- */

struct replay_run {
	struct replay_plan *plan;
	pthread_barrier_t start, end;
	bool stop;			/* read after `start` */
};

struct replay_thread {
	struct replay_run *run;
	struct replay_task *task;
	pthread_t thread;
};

static void take_steps(struct replay_plan *plan, struct replay_task *t)
{
	for (size_t i = 0; i < t->steps.n; i++) {
		const struct replay_step *step = &t->steps.v[i];

		if (step->kind == REPLAY_RUN)
			burn(step->ns);
		else if (step->kind == REPLAY_SLEEP)
			sleep_ns(step->ns);
		else if (step->kind == REPLAY_WAKE)
			sem_post(&plan->tasks.v[step->task]->wakeups);
		else
			while (sem_wait(&t->wakeups) < 0 && errno == EINTR)
				;
	}
}

static void *thread_main(void *arg)
{
	struct replay_thread *th = arg;
	struct replay_run *run = th->run;

	for (;;) {
		pthread_barrier_wait(&run->start);
		if (run->stop)
			return NULL;
		take_steps(run->plan, th->task);
		pthread_barrier_wait(&run->end);
	}
}

/* Starts a thread for each task that does something; returns how many, or a negative errno. */
static int start_threads(struct replay_run *run, struct replay_thread *threads, size_t n)
{
	size_t started = 0;
	pthread_attr_t attr;
	int err = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, max_of((size_t)PTHREAD_STACK_MIN, (size_t)STACK_BYTES));
	for (size_t i = 0; i < run->plan->tasks.n && err == 0 && started < n; i++) {
		struct replay_task *t = run->plan->tasks.v[i];

		if (!t->steps.n)
			continue;
		threads[started] = (struct replay_thread){ run, t, 0 };
		err = pthread_create(&threads[started].thread, &attr, thread_main, &threads[started]);
		started += !err;
	}
	pthread_attr_destroy(&attr);
	if (!err)
		return (int)started;
	/* Those that were started wait for the others at the barrier; the process ends, and with it the threads. */
	return -err;
}

/* ---- measurements ---- */

struct replay_result {
	double elapsed_ms, cpu_ms;
};

static struct replay_result run_once(struct replay_run *run)
{
	uint64_t start = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);

	pthread_barrier_wait(&run->start);
	pthread_barrier_wait(&run->end);
	return (struct replay_result){
		.elapsed_ms = (double)(now_ns(CLOCK_MONOTONIC) - start) / 1e6,
		.cpu_ms = (double)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1e6,
	};
}

/* The average of the last repetitions, of which each new one has the weight of 1 / `weight`. */
static double running_average(double average, double value, uint32_t round, uint32_t weight)
{
	return round == 1 ? value : (average * (weight - 1) + value) / weight;
}

/* One line at once, so that it can be watched. */
static int repeat(struct replay_run *run, uint32_t rounds)
{
	struct replay_result average = { 0 };
	uint32_t weight = rounds ? rounds : 10;

	for (uint32_t i = 1; !rounds || i <= rounds; i++) {
		struct replay_result r = run_once(run);
		struct buf line = { 0 };

		average.elapsed_ms = running_average(average.elapsed_ms, r.elapsed_ms, i, weight);
		average.cpu_ms = running_average(average.cpu_ms, r.cpu_ms, i, weight);
		buf_printf(&line, "#%-3" PRIu32 ": %0.3f, ravg: %0.2f, cpu: %0.2f / %0.2f\n", i, r.elapsed_ms, average.elapsed_ms,
			   r.cpu_ms, average.cpu_ms);
		if (print_out(COMMAND, &line))
			return EXIT_FAILED;
	}
	return 0;
}

static uint64_t shortest(void (*work)(uint64_t ns), uint64_t ns, clockid_t clock)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < CALIBRATION_ROUNDS; i++) {
		uint64_t start = now_ns(clock);

		work(ns);
		best = min_of(best, now_ns(clock) - start);
	}
	return best;
}

static void put_measurements(struct buf *out)
{
	buf_printf(out, "run measurement overhead: %" PRIu64 " nsecs\n", shortest(burn, 0, CLOCK_THREAD_CPUTIME_ID));
	buf_printf(out, "sleep measurement overhead: %" PRIu64 " nsecs\n", shortest(sleep_ns, 10000, CLOCK_MONOTONIC) - 10000);
	buf_printf(out, "the run test took %" PRIu64 " nsecs\n", shortest(burn, 1000000, CLOCK_THREAD_CPUTIME_ID));
	buf_printf(out, "the sleep test took %" PRIu64 " nsecs\n", shortest(sleep_ns, 1000000, CLOCK_MONOTONIC));
}

static void put_plan(const struct replay_plan *plan, struct buf *out)
{
	size_t n = 0;

	buf_printf(out, "nr_run_events:        %" PRIu64 "\nnr_sleep_events:      %" PRIu64 "\nnr_wakeup_events:     %" PRIu64 "\n",
		   plan->n_runs, plan->n_sleeps, plan->n_wakeups);
	if (plan->n_targetless)
		buf_printf(out, "target-less wakeups:  %" PRIu64 "\n", plan->n_targetless);
	for (size_t i = 0; i < plan->tasks.n; i++) {
		const struct replay_task *t = plan->tasks.v[i];

		if (t->steps.n)
			buf_printf(out, "task %6zu (%20s:%10" PRIu32 "), nr_events: %zu\n", n++, t->comm ? t->comm : "", t->tid,
				   t->steps.n);
	}
	buf_pad(out, '-', 60);
	buf_putc(out, '\n');
}

/* ---- the command ---- */

static size_t count_tasks(const struct replay_plan *plan)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->tasks.n; i++)
		n += plan->tasks.v[i]->steps.n > 0;
	return n;
}

static int check_plan(const struct replay_plan *plan)
{
	size_t n = count_tasks(plan);

	if (!n || n > REPLAY_TASKS_MAX) {
		message_text(COMMAND, n ? "the recording has more than %d tasks, each of which would be a thread" :
					  "the recording has no task that runs", REPLAY_TASKS_MAX);
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < plan->tasks.n; i++)
		if (plan->tasks.v[i]->run_ns > MAX_TASK_NS || plan->tasks.v[i]->sleep_ns > MAX_TASK_NS) {
			message_text(COMMAND, "task %" PRIu32 " would %s for more than an hour: replay a part with --time",
				     plan->tasks.v[i]->tid, plan->tasks.v[i]->run_ns > MAX_TASK_NS ? "run" : "sleep");
			return EXIT_FAILED;
		}
	return 0;
}

static int replay(struct replay_plan *plan, uint32_t rounds)
{
	size_t n = count_tasks(plan);
	struct replay_run run = { .plan = plan };
	struct replay_thread *threads = calloc(n, sizeof(*threads));
	int status, started;

	if (!threads)
		return EXIT_FAILED;
	for (size_t i = 0; i < plan->tasks.n; i++)
		sem_init(&plan->tasks.v[i]->wakeups, 0, 0);
	pthread_barrier_init(&run.start, NULL, (unsigned)n + 1);
	pthread_barrier_init(&run.end, NULL, (unsigned)n + 1);
	started = start_threads(&run, threads, n);
	if (started < 0) {
		message_text(COMMAND, "cannot start %zu threads: %s", n, strerror(-started));
		exit(EXIT_FAILED);
	}
	status = repeat(&run, rounds);
	run.stop = true;
	pthread_barrier_wait(&run.start);
	for (size_t i = 0; i < n; i++)
		pthread_join(threads[i].thread, NULL);
	free(threads);
	return status;
}

/* Names as of the end of the recording. */
static int name_tasks(struct replay_plan *plan, const struct tacho_sched *s)
{
	const struct tacho_sched_task *task;

	for (size_t i = 0; (task = tacho_sched_task(s, i)); i++) {
		struct replay_task *t;

		if (task->index >= plan->number.n || !plan->number.v[task->index])
			continue;
		t = plan->tasks.v[plan->number.v[task->index] - 1];
		t->comm = strdup(task->comm);
		if (!t->comm)
			return -ENOMEM;
	}
	return 0;
}

static int on_event(void *arg, const struct tacho_sched_event *ev)
{
	return replay_plan_event(arg, ev);
}

static int make_plan(struct replay_plan *plan, const struct sched_opts *o, struct tacho_perfdata *pd)
{
	struct tacho_sched_opts opts = { .size = sizeof(opts), .event = on_event, .arg = plan };
	struct tacho_error e = { .column = -1 };
	struct tacho_sched *s = NULL;
	struct time_window window;
	int err, status = EXIT_FAILED;

	if (!sched_time(COMMAND, o, pd, &window))
		return EXIT_USAGE;
	opts.from_ns = window.from_ns;
	opts.to_ns = window.to_ns;
	err = tacho_sched_new(&s, pd, &opts, &e);
	if (err < 0) {
		message_error(COMMAND, NULL, NULL, &e);
		return EXIT_FAILED;
	}
	err = tacho_sched_run(s, &e);
	replay_plan_finish(plan);
	if (err != -ENOMEM && name_tasks(plan, s) < 0)
		err = error_nomem(&e);
	status = kernel_status(COMMAND, tacho_sched_totals(s), err, &e);
	tacho_sched_free(s);
	return status;
}

static int replay_recording(const struct sched_opts *o, struct replay_plan *plan)
{
	struct buf head = { 0 };
	int status = check_plan(plan);

	if (status)
		return status;
	put_measurements(&head);
	put_plan(plan, &head);
	status = print_out(COMMAND, &head);
	return status ? status : replay(plan, o->repeat);
}

int sched_replay_run(void *opts, int argc, char **argv)
{
	const struct sched_opts *o = opts;
	scoped(replay_plan_done) struct replay_plan plan = { .n_runs = 0 };
	struct tacho_perfdata *pd;
	int status;

	if (argc) {
		message_text(COMMAND, "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	pd = kernel_open(COMMAND, o->input, o->force);
	if (!pd)
		return EXIT_FAILED;
	status = make_plan(&plan, o, pd);
	tacho_perfdata_close(pd);
	return status ? status : replay_recording(o, &plan);
}
