/*
 * Spans of CPUs and tasks. A task runs, waits for a CPU since its wakeup or preemption, sleeps, or is blocked; or it is in a system
 * call of input or output, from the tracepoint of its start to that of its end.
 */
#include <tacho/timechart.h>

#include <errno.h>

#include "base/sized_opts.h"
#include "kernel/pass.h"
#include "kernel/timechart_io.h"

#define CPUS_MAX 8192u
#define IDLE_END UINT32_MAX		/* the state of cpu_idle when the CPU wakes up */
#define STATE_MASK 0xff			/* of prev_state: bits above tell that the task was preempted */
#define STATE_UNINTERRUPTIBLE 2

enum chart_state { CHART_UNKNOWN, CHART_RUNNING, CHART_WAITING, CHART_SLEEPING, CHART_BLOCKED };

struct chart_task {
	uint32_t tid, cpu;
	enum chart_state state;
	uint64_t since;
	const char *comm;
	uint64_t call_since;		/* of the system call it is in; 0: none */
	enum tacho_timechart_kind call;
	int32_t fd;
};

struct chart_cpu {
	uint64_t idle_since, frequency_since;
	uint32_t idle_state, frequency;
	bool is_idle;
};

struct time_chart {
	struct tacho_timechart_opts opts;
	struct kernel_pass pass;
	struct int_map task_index;
	struct { struct chart_task *v; size_t n, cap; } tasks;
	struct chart_cpu *cpus;		/* CPUS_MAX */
	struct kernel_handler *handlers;
	struct kernel_view view;
};

static bool is_in_time(const struct time_chart *c, const struct kernel_sample *s)
{
	return s->time >= c->opts.from_ns && (!c->opts.to_ns || s->time <= c->opts.to_ns);
}

static struct chart_task *task_of(struct time_chart *c, uint32_t tid)
{
	struct chart_task *t;
	uint32_t i;

	if (int_map_get(&c->task_index, tid, &i))
		return &c->tasks.v[i];
	t = vec_add(&c->tasks);
	if (!t || int_map_put(&c->task_index, tid, (uint32_t)(c->tasks.n - 1)) < 0)
		return NULL;
	t->tid = tid;
	return t;
}

/* The span of a state that ends; sleeping is none. */
static int end_state(struct time_chart *c, const struct chart_task *t, uint64_t time)
{
	struct tacho_timechart_span span = { .from_ns = t->since, .to_ns = time, .cpu = t->cpu, .tid = t->tid, .comm = t->comm };

	if (!t->tid || t->state == CHART_UNKNOWN || t->state == CHART_SLEEPING || time <= t->since)
		return 0;
	span.kind = t->state == CHART_RUNNING ? TACHO_TIMECHART_RUN : t->state == CHART_WAITING ? TACHO_TIMECHART_WAIT :
								       TACHO_TIMECHART_BLOCKED;
	if (!span.comm)
		span.comm = "";
	return c->opts.span(c->opts.arg, &span);
}

static int change(struct time_chart *c, struct chart_task *t, enum chart_state state, uint64_t time)
{
	int err = end_state(c, t, time);

	t->state = state;
	t->since = time;
	return err;
}

static int name_task(struct time_chart *c, struct chart_task *t, struct str name)
{
	t->comm = kernel_threads_comm(&c->pass.threads, name);
	return t->comm ? 0 : -ENOMEM;
}

enum { SWITCH_PREV_PID, SWITCH_PREV_COMM, SWITCH_PREV_STATE, SWITCH_NEXT_PID, SWITCH_NEXT_COMM };

static int handle_switch(void *view, const struct kernel_sample *s)
{
	struct time_chart *c = view;
	unsigned state = (unsigned)kernel_number(s, SWITCH_PREV_STATE) & STATE_MASK;
	struct chart_task *t;
	int err;

	if (!is_in_time(c, s))
		return 0;
	t = task_of(c, (uint32_t)kernel_number(s, SWITCH_PREV_PID));
	if (!t || name_task(c, t, kernel_text(s, SWITCH_PREV_COMM)) < 0)
		return -ENOMEM;
	err = change(c, t, !state ? CHART_WAITING : state & STATE_UNINTERRUPTIBLE ? CHART_BLOCKED : CHART_SLEEPING, s->time);
	t = err < 0 ? NULL : task_of(c, (uint32_t)kernel_number(s, SWITCH_NEXT_PID));
	if (err < 0)
		return err;
	if (!t || name_task(c, t, kernel_text(s, SWITCH_NEXT_COMM)) < 0)
		return -ENOMEM;
	t->cpu = t->state == CHART_WAITING ? t->cpu : s->cpu;
	err = change(c, t, CHART_RUNNING, s->time);
	t->cpu = s->cpu;
	return err;
}

enum { WAKE_PID };

static int handle_wakeup(void *view, const struct kernel_sample *s)
{
	struct time_chart *c = view;
	struct chart_task *t;

	if (!is_in_time(c, s))
		return 0;
	t = task_of(c, (uint32_t)kernel_number(s, WAKE_PID));
	if (!t)
		return -ENOMEM;
	return t->state == CHART_SLEEPING || t->state == CHART_BLOCKED ? change(c, t, CHART_WAITING, s->time) : 0;
}

enum { POWER_STATE, POWER_CPU };

static int end_idle(struct time_chart *c, uint32_t cpu, uint64_t time)
{
	struct chart_cpu *p = &c->cpus[cpu];
	struct tacho_timechart_span span = { .kind = TACHO_TIMECHART_IDLE, .from_ns = p->idle_since, .to_ns = time, .cpu = cpu,
					     .value = p->idle_state };

	if (!p->is_idle || time <= p->idle_since)
		return 0;
	return c->opts.span(c->opts.arg, &span);
}

static int handle_idle(void *view, const struct kernel_sample *s)
{
	struct time_chart *c = view;
	uint32_t state = (uint32_t)kernel_number(s, POWER_STATE);
	uint64_t cpu = kernel_number(s, POWER_CPU);
	int err;

	if (!is_in_time(c, s) || cpu >= CPUS_MAX)
		return 0;
	err = end_idle(c, (uint32_t)cpu, s->time);
	c->cpus[cpu].is_idle = state != IDLE_END;
	c->cpus[cpu].idle_state = state;
	c->cpus[cpu].idle_since = s->time;
	return err;
}

static int end_frequency(struct time_chart *c, uint32_t cpu, uint64_t time)
{
	struct chart_cpu *p = &c->cpus[cpu];
	struct tacho_timechart_span span = { .kind = TACHO_TIMECHART_FREQUENCY, .from_ns = p->frequency_since, .to_ns = time, .cpu = cpu,
					     .value = p->frequency };

	if (!p->frequency || time <= p->frequency_since)
		return 0;
	return c->opts.span(c->opts.arg, &span);
}

static int handle_frequency(void *view, const struct kernel_sample *s)
{
	struct time_chart *c = view;
	uint64_t cpu = kernel_number(s, POWER_CPU);
	int err;

	if (!is_in_time(c, s) || cpu >= CPUS_MAX)
		return 0;
	err = end_frequency(c, (uint32_t)cpu, s->time);
	c->cpus[cpu].frequency = (uint32_t)kernel_number(s, POWER_STATE);
	c->cpus[cpu].frequency_since = s->time;
	return err;
}

static const struct kernel_handler handlers[] = {
	{ "sched:sched_switch", handle_switch, { "prev_pid", "prev_comm", "prev_state", "next_pid", "next_comm" } },
	{ "sched:sched_waking", handle_wakeup, { "pid" } },
	{ "sched:sched_wakeup", handle_wakeup, { "pid" } },
	{ "power:cpu_idle", handle_idle, { "state", "cpu_id" } },
	{ "power:cpu_frequency", handle_frequency, { "state", "cpu_id" } },
};

/* ---- input and output ---- */

enum { ENTER_FD, ENTER_EPFD };

static int32_t file_of(const struct kernel_sample *s)
{
	return kernel_has(s, ENTER_FD) ? (int32_t)kernel_number(s, ENTER_FD) : kernel_has(s, ENTER_EPFD) ? (int32_t)kernel_number(s, ENTER_EPFD) : -1;
}

static enum tacho_timechart_kind kind_of(const struct time_chart *c, const struct kernel_sample *s)
{
	return chart_call((size_t)(s->event->handler - c->handlers - countof(handlers)) / 2)->kind;
}

static int handle_call(void *view, const struct kernel_sample *s)
{
	struct time_chart *c = view;
	struct chart_task *t;

	if (!is_in_time(c, s))
		return 0;
	t = task_of(c, s->tid);
	if (!t)
		return -ENOMEM;
	t->call = kind_of(c, s);
	t->call_since = s->time;
	t->fd = file_of(s);
	return 0;
}

enum { RETURN_VALUE };

/* The end of another call than the one that began follows from lost events. */
static int handle_return(void *view, const struct kernel_sample *s)
{
	struct time_chart *c = view;
	const struct kernel_thread *thread = kernel_threads_find(&c->pass.threads, s->tid);
	struct chart_task *t = task_of(c, s->tid);
	struct tacho_timechart_span span = { .kind = kind_of(c, s), .to_ns = s->time, .cpu = s->cpu, .tid = s->tid,
					     .result = (int64_t)kernel_number(s, RETURN_VALUE) };

	if (!t)
		return -ENOMEM;
	span.from_ns = t->call_since;
	span.fd = t->fd;
	t->call_since = 0;
	if (!span.from_ns || span.kind != t->call || span.to_ns < span.from_ns || !is_in_time(c, s))
		return 0;
	span.comm = thread && thread->comm ? thread->comm : t->comm ? t->comm : "";
	return c->opts.span(c->opts.arg, &span);
}

/* Handlers of the calls follow those of `handlers`, an enter and an exit each. */
static int add_calls(struct time_chart *c)
{
	size_t n = 0;

	while (chart_call(n))
		n++;
	c->handlers = calloc(countof(handlers) + 2 * n, sizeof(*c->handlers));
	if (!c->handlers)
		return -ENOMEM;
	memcpy(c->handlers, handlers, sizeof(handlers));
	for (size_t i = 0; i < n; i++) {
		struct kernel_handler *h = &c->handlers[countof(handlers) + 2 * i];

		h[0] = (struct kernel_handler){ chart_call(i)->enter, handle_call, { "?fd", "?epfd" } };
		h[1] = (struct kernel_handler){ chart_call(i)->exit, handle_return, { "ret" } };
	}
	c->view = (struct kernel_view){ .handlers = c->handlers, .n_handlers = countof(handlers) + 2 * n };
	return 0;
}

/* Spans that last when the recording ends. */
static int end_all(struct time_chart *c)
{
	uint64_t end = c->pass.totals.last_ns;
	int err = 0;

	for (size_t i = 0; err == 0 && i < c->tasks.n; i++)
		err = end_state(c, &c->tasks.v[i], end);
	for (uint32_t cpu = 0; err == 0 && cpu < CPUS_MAX; cpu++) {
		err = end_idle(c, cpu, end);
		if (err == 0)
			err = end_frequency(c, cpu, end);
	}
	return err;
}

static int read_recording(struct time_chart *c, struct tacho_perfdata *pd, struct tacho_error *e)
{
	int err, ended;

	c->cpus = calloc(CPUS_MAX, sizeof(*c->cpus));
	if (!c->cpus || add_calls(c) < 0 || kernel_pass_init(&c->pass, pd, &c->view, c) < 0)
		return error_nomem(e);
	err = kernel_pass_run(&c->pass, e);
	if (err == -ENOMEM || err == -ENOENT)
		return err;
	if (c->opts.to_ns && c->pass.totals.last_ns > c->opts.to_ns)
		c->pass.totals.last_ns = c->opts.to_ns;
	if (c->pass.totals.first_ns < c->opts.from_ns)
		c->pass.totals.first_ns = c->opts.from_ns;
	ended = end_all(c);
	return ended < 0 ? error_set(e, ended, "the chart cannot be drawn") : err;
}

int tacho_timechart(struct tacho_perfdata *pd, const struct tacho_timechart_opts *opts, struct tacho_kernel_totals *totals,
		    struct tacho_error *e)
{
	struct time_chart c = { 0 };
	int err = opts_copy(&c.opts, sizeof(c.opts), opts, e);

	if (err < 0)
		return err;
	err = read_recording(&c, pd, e);
	*totals = c.pass.totals;
	kernel_pass_done(&c.pass);
	int_map_done(&c.task_index);
	vec_done(&c.tasks);
	free(c.cpus);
	free(c.handlers);
	return err;
}
