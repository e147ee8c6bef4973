/*
 * From events to steps. A task that goes to sleep waits for the task that wakes it up; if it is woken up while a CPU is idle,
 * by a timer or a device, it sleeps for as long as in the recording. Steps depend on each other only in the order of time,
 * so that threads that follow them cannot wait for each other in a circle.
 */
#include "cli/sched/replay.h"

#include <errno.h>

static struct replay_task *add_task(struct replay_plan *plan, const struct tacho_sched_task *task)
{
	struct replay_task *t = calloc(1, sizeof(*t)), **slot = t ? vec_add(&plan->tasks) : NULL;

	if (!slot) {
		free(t);
		return NULL;
	}
	*slot = t;
	t->tid = task->tid;
	return t;
}

static struct replay_task *task_of(struct replay_plan *plan, const struct tacho_sched_task *task)
{
	struct replay_task *t;

	while (plan->number.n <= task->index)
		if (!vec_add(&plan->number))
			return NULL;
	if (plan->number.v[task->index])
		return plan->tasks.v[plan->number.v[task->index] - 1];
	t = add_task(plan, task);
	plan->number.v[task->index] = t ? (uint32_t)plan->tasks.n : 0;
	return t;
}

static int add_step(struct replay_task *t, enum replay_kind kind, uint64_t ns, uint32_t task)
{
	struct replay_step *step = vec_add(&t->steps);

	if (!step)
		return -ENOMEM;
	*step = (struct replay_step){ .kind = kind, .ns = ns, .task = task };
	return 0;
}

/* It sleeps no more, and no task is known to have woken it up: a timer, a device, or an event that was not recorded. */
static void end_sleep(struct replay_task *t, uint64_t time)
{
	struct replay_step *wait = &t->steps.v[t->steps.n - 1];

	t->sleeps = false;
	wait->kind = REPLAY_SLEEP;
	wait->ns = time > wait->ns ? time - wait->ns : 0;
}

/* The task has run until now. */
static int add_run(struct replay_plan *plan, struct replay_task *t, uint64_t time)
{
	uint64_t ns = t->run_from && time > t->run_from ? time - t->run_from : 0;

	t->run_from = time;
	if (!ns)
		return 0;
	if (__builtin_add_overflow(t->run_ns, ns, &t->run_ns))
		t->run_ns = UINT64_MAX;
	plan->n_runs++;
	return add_step(t, REPLAY_RUN, ns, 0);
}

static int leave_cpu(struct replay_plan *plan, const struct tacho_sched_event *ev)
{
	struct replay_task *t = task_of(plan, ev->task);

	if (!t)
		return -ENOMEM;
	if (t->sleeps)
		end_sleep(t, ev->time);
	if (add_run(plan, t, ev->time) < 0)
		return -ENOMEM;
	t->run_from = 0;
	if (ev->state == 'R')		/* it was preempted, and has nothing to wait for */
		return 0;
	t->sleeps = true;
	plan->n_sleeps++;
	return add_step(t, REPLAY_WAIT, ev->time, 0);
}

static int on_switch(struct replay_plan *plan, const struct tacho_sched_event *ev)
{
	struct replay_task *next;

	if (!ev->task->idle && leave_cpu(plan, ev) < 0)
		return -ENOMEM;
	if (ev->other->idle)
		return 0;
	next = task_of(plan, ev->other);
	if (!next)
		return -ENOMEM;
	if (next->sleeps)
		end_sleep(next, ev->time);
	next->run_from = ev->time;
	return 0;
}

static int on_wakeup(struct replay_plan *plan, const struct tacho_sched_event *ev)
{
	struct replay_task *t = task_of(plan, ev->other), *waker;

	if (!t)
		return -ENOMEM;
	plan->n_wakeups++;
	if (!t->sleeps) {
		plan->n_targetless++;
		return 0;
	}
	if (ev->task->idle || ev->task == ev->other) {
		end_sleep(t, ev->time);
		return 0;
	}
	t->sleeps = false;
	waker = task_of(plan, ev->task);
	if (!waker)
		return -ENOMEM;
	if (waker->sleeps)
		end_sleep(waker, ev->time);
	if (add_run(plan, waker, ev->time) < 0)
		return -ENOMEM;
	return add_step(waker, REPLAY_WAKE, 0, plan->number.v[ev->other->index] - 1);
}

int replay_plan_event(struct replay_plan *plan, const struct tacho_sched_event *ev)
{
	if (ev->kind == TACHO_SCHED_SWITCH)
		return on_switch(plan, ev);
	return ev->kind == TACHO_SCHED_WAKEUP ? on_wakeup(plan, ev) : 0;
}

void replay_plan_finish(struct replay_plan *plan)
{
	for (size_t i = 0; i < plan->tasks.n; i++) {
		struct replay_task *t = plan->tasks.v[i];

		t->steps.n -= t->sleeps;	/* it was not woken up any more */
		for (size_t s = 0; s < t->steps.n; s++)
			if (t->steps.v[s].kind == REPLAY_SLEEP && __builtin_add_overflow(t->sleep_ns, t->steps.v[s].ns, &t->sleep_ns))
				t->sleep_ns = UINT64_MAX;
	}
}

void replay_plan_done(struct replay_plan *plan)
{
	for (size_t i = 0; i < plan->tasks.n; i++) {
		free(plan->tasks.v[i]->comm);
		vec_done(&plan->tasks.v[i]->steps);
		free(plan->tasks.v[i]);
	}
	vec_done(&plan->tasks);
	vec_done(&plan->number);
}
