/*
 * Chrome's trace events (JSON): a process "CPUs" with a row per CPU that shows which task ran, and per task a row that shows
 * when it ran. An arrow leads from the task that wakes another one to the next run of the latter. Times are microseconds.
 */
#include "cli/sched/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/vec.h"

#define CPUS_ID 10000000u		/* of the process "CPUs", and added to its threads: no task has such a large ID */

struct wakeup_arrow {			/* of a task that is to run */
	uint64_t id;			/* 0: none */
};

struct chrome_sched {
	struct json j;
	uint64_t n_arrows;
	struct { struct wakeup_arrow *v; size_t n, cap; } arrows;	/* by index of the task */
};

static void put_microseconds(struct json *j, const char *key, uint64_t ns)
{
	char text[40];

	snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
	json_member(j, key, raw, text);
}

static uint32_t pid_of(const struct tacho_sched_task *t)
{
	return t->pid == UINT32_MAX ? t->tid : t->pid;
}

static void begin_event(struct json *j, const char *phase, uint32_t pid, uint32_t tid, uint64_t ns)
{
	json_begin(j, '{');
	json_member(j, "ph", str, phase);
	json_member(j, "pid", u64, pid);
	json_member(j, "tid", u64, tid);
	put_microseconds(j, "ts", ns);
}

static void put_run(struct json *j, const struct tacho_sched_event *ev, uint32_t pid, uint32_t tid, const char *name)
{
	const char state[2] = { ev->state, '\0' };

	begin_event(j, "X", pid, tid, ev->start_ns);
	json_member(j, "name", str, name);
	json_member(j, "cat", str, "sched");
	put_microseconds(j, "dur", ev->run_ns);
	json_key(j, "args");
	json_begin(j, '{');
	json_member(j, "cpu", u64, ev->cpu);
	json_member(j, "tid", u64, ev->task->tid);
	json_member(j, "end_state", str, state);
	put_microseconds(j, "delay_us", ev->delay_ns);
	put_microseconds(j, "wait_us", ev->sleep_ns + ev->io_ns + ev->preempted_ns);
	json_end(j);
	json_end(j);
}

/* One end of an arrow, which is attached to the run around it. */
static void put_arrow(struct json *j, const char *phase, const struct tacho_sched_task *t, uint64_t id, uint64_t ns)
{
	begin_event(j, phase, pid_of(t), t->tid, ns);
	json_member(j, "name", str, "wakeup");
	json_member(j, "cat", str, "wakeup");
	json_member(j, "id", u64, id);
	if (phase[0] == 'f')
		json_member(j, "bp", str, "e");
	json_end(j);
}

static struct wakeup_arrow *arrow_of(struct chrome_sched *c, const struct tacho_sched_task *t)
{
	while (c->arrows.n <= t->index)
		if (!vec_add(&c->arrows))
			return NULL;
	return &c->arrows.v[t->index];
}

static int put_switch(struct chrome_sched *c, const struct tacho_sched_event *ev)
{
	struct wakeup_arrow *arrow;
	char name[80];

	if (ev->task->idle || !ev->start_ns)
		return 0;
	snprintf(name, sizeof(name), "%s [%" PRIu32 "]", ev->task->comm, ev->task->tid);
	put_run(&c->j, ev, CPUS_ID, CPUS_ID + ev->cpu, name);
	put_run(&c->j, ev, pid_of(ev->task), ev->task->tid, "running");
	arrow = arrow_of(c, ev->task);
	if (!arrow)
		return -ENOMEM;
	if (arrow->id)
		put_arrow(&c->j, "f", ev->task, arrow->id, ev->start_ns);
	arrow->id = 0;
	return 0;
}

/* An idle task has no row, and a task may be woken up more than once before it runs. */
static int put_wakeup(struct chrome_sched *c, const struct tacho_sched_event *ev)
{
	struct wakeup_arrow *arrow = arrow_of(c, ev->other);

	if (!arrow)
		return -ENOMEM;
	if (ev->task->idle || arrow->id)
		return 0;
	arrow->id = ++c->n_arrows;
	put_arrow(&c->j, "s", ev->task, arrow->id, ev->time);
	return 0;
}

static int on_event(struct sched_export *x, const struct tacho_sched_event *ev)
{
	struct chrome_sched *c = x->state;

	if (ev->kind == TACHO_SCHED_SWITCH)
		return put_switch(c, ev);
	return ev->kind == TACHO_SCHED_WAKEUP ? put_wakeup(c, ev) : 0;
}

static void put_name(struct json *j, const char *what, uint32_t pid, uint32_t tid, const char *name)
{
	begin_event(j, "M", pid, tid, 0);
	json_member(j, "name", str, what);
	json_key(j, "args");
	json_begin(j, '{');
	json_member(j, "name", str, name);
	json_end(j);
	json_end(j);
}

static int begin(struct sched_export *x)
{
	struct chrome_sched *c = calloc(1, sizeof(*c));

	x->state = c;
	if (!c)
		return -ENOMEM;
	c->j = (struct json){ .out = &x->out.text };
	json_begin(&c->j, '{');
	json_member(&c->j, "displayTimeUnit", str, "ns");
	json_key(&c->j, "traceEvents");
	json_begin(&c->j, '[');
	return 0;
}

static int end(struct sched_export *x)
{
	struct chrome_sched *c = x->state;
	const struct tacho_sched_task *t;
	char name[32];

	put_name(&c->j, "process_name", CPUS_ID, CPUS_ID, "CPUs");
	for (uint32_t cpu = 0; cpu < tacho_sched_n_cpus(x->sched); cpu++) {
		snprintf(name, sizeof(name), "CPU %" PRIu32, cpu);
		put_name(&c->j, "thread_name", CPUS_ID, CPUS_ID + cpu, name);
	}
	for (size_t i = 0; (t = tacho_sched_task(x->sched, i)) && sched_output_line(&x->out) == 0; i++) {
		if (t->idle || !t->comm)
			continue;
		put_name(&c->j, "thread_name", pid_of(t), t->tid, t->comm);
		if (pid_of(t) == t->tid)
			put_name(&c->j, "process_name", t->tid, t->tid, t->comm);
	}
	json_end(&c->j);
	json_end(&c->j);
	buf_putc(&x->out.text, '\n');
	return 0;
}

static void done(struct sched_export *x)
{
	struct chrome_sched *c = x->state;

	if (c)
		vec_done(&c->arrows);
	free(c);
	x->state = NULL;
}

const struct sched_format sched_format_chrome = { .name = "chrome", .begin = begin, .event = on_event, .end = end, .done = done };
