/*
 * How long tasks wait for a CPU. A task is asleep, waits for a CPU since its wakeup or preemption, or runs. A delay ends when a
 * task that waits is switched to; nothing is stored per delay unless percentiles are wanted.
 *
 * As in perf, a wakeup of a task that is not asleep changes nothing: the event may come after the task was put on a run
 * queue by other means, and the delay is counted from then. If only one of several CPUs was recorded, the task may have gone to
 * sleep on another one, so every wakeup counts.
 */
#include <tacho/sched.h>

#include <errno.h>
#include <stdio.h>

#include "base/sized_opts.h"
#include "kernel/pass.h"
#include "kernel/sched_events.h"
#include "kernel/sched_states.h"

enum wait_state { ASLEEP, WAITING, RUNNING, UNORDERED };

struct latency_task {
	struct kernel_thread thread;
	bool seen;			/* some event was about it */
	enum wait_state state;
	uint64_t out_ns, wake_ns;	/* last switch away from it; since when it waits */
	struct tacho_sched_delays sums;
	struct { uint64_t *v; size_t n, cap; } delays;	/* only with keep_delays */
};

struct latency_row {
	struct tacho_sched_delays pub;
	uint64_t *delays;		/* of all its threads, sorted once a percentile was asked for */
	size_t n_delays;
	bool sorted;
};

struct tacho_sched_latency {
	struct tacho_sched_latency_opts opts;
	struct kernel_pass pass;
	struct tacho_sched_order order;
	struct sched_states states;
	bool single_cpu;		/* events of one of several CPUs were recorded */
	bool has_waking;		/* wakeups are taken from sched_waking, which comes earlier */
	uint32_t *current;		/* thread ID by CPU; UINT32_MAX: unknown */
	struct { struct latency_row *v; size_t n, cap; } rows;
};

/* ---- events ---- */

static inline bool counts(const struct tacho_sched_latency *l, const struct kernel_sample *s)
{
	return s->time >= l->opts.from_ns && (!l->opts.to_ns || s->time <= l->opts.to_ns) &&
	       (!l->opts.only_cpu || l->opts.cpu == s->cpu);
}

static void leave_cpu(struct latency_task *t, bool runnable, uint64_t time)
{
	t->seen = true;
	t->out_ns = time;
	t->state = runnable ? WAITING : ASLEEP;
	t->wake_ns = runnable ? time : 0;
}

/* The task that the event is about, which was in this state if it is a new one. NULL: out of memory. */
static inline struct latency_task *task_of(struct tacho_sched_latency *l, uint32_t tid, bool runnable, uint64_t time)
{
	struct latency_task *t = (struct latency_task *)kernel_thread(&l->pass, tid);

	if (t && !t->seen)
		leave_cpu(t, runnable, time);
	return t;
}

static int add_delay(struct tacho_sched_latency *l, struct latency_task *t, uint64_t time)
{
	struct tacho_sched_delays *sums = &t->sums;
	uint64_t delay = time - t->wake_ns, *kept;

	sums->delay_ns += delay;
	sums->n_delays++;
	if (delay > sums->max_delay_ns) {
		sums->max_delay_ns = delay;
		sums->max_from_ns = t->wake_ns;
		sums->max_to_ns = time;
	}
	if (!l->opts.keep_delays)
		return 0;
	kept = vec_next(&t->delays);
	if (!kept)
		return -ENOMEM;
	*kept = delay;
	return 0;
}

static int enter_cpu(struct tacho_sched_latency *l, struct latency_task *t, const struct kernel_sample *s)
{
	if (t->state != WAITING)
		return 0;
	t->state = s->time < t->wake_ns ? UNORDERED : RUNNING;
	return t->state == RUNNING && counts(l, s) ? add_delay(l, t, s->time) : 0;
}

enum { SWITCH_PREV_PID, SWITCH_PREV_STATE, SWITCH_NEXT_PID, SWITCH_PREV_COMM, SWITCH_NEXT_COMM };

static int name_task(struct tacho_sched_latency *l, struct kernel_thread *t, const struct kernel_sample *s, unsigned field)
{
	t->comm = kernel_threads_comm(&l->pass.threads, t->tid ? kernel_text(s, field) : STR_LIT("swapper"));
	return t->comm ? 0 : -ENOMEM;
}

static int handle_switch(void *view, const struct kernel_sample *s)
{
	struct tacho_sched_latency *l = view;
	uint32_t prev_tid = (uint32_t)kernel_number(s, SWITCH_PREV_PID), next_tid = (uint32_t)kernel_number(s, SWITCH_NEXT_PID);
	struct latency_task *prev = task_of(l, prev_tid, true, s->time), *next;

	if (!prev)
		return -ENOMEM;
	if (s->cpu >= TACHO_SCHED_CPUS_MAX) {
		l->pass.totals.damaged++;
		return 0;
	}
	l->order.switches++;
	l->order.wrong_switches += l->current[s->cpu] != UINT32_MAX && l->current[s->cpu] != prev_tid;
	l->current[s->cpu] = next_tid;
	if (!l->states.bits)
		sched_states_read(&l->states, s->event->format);
	leave_cpu(prev, sched_state(&l->states, kernel_number(s, SWITCH_PREV_STATE)) == 'R', s->time);
	next = task_of(l, next_tid, true, s->time);
	if (!next || (!prev->thread.comm && name_task(l, &prev->thread, s, SWITCH_PREV_COMM) < 0) ||
	    (!next->thread.comm && name_task(l, &next->thread, s, SWITCH_NEXT_COMM) < 0))
		return -ENOMEM;
	return enter_cpu(l, next, s);
}

enum { RUNTIME_PID, RUNTIME_RUNTIME };

static int handle_runtime(void *view, const struct kernel_sample *s)
{
	struct tacho_sched_latency *l = view;
	struct latency_task *t = task_of(l, (uint32_t)kernel_number(s, RUNTIME_PID), true, s->time);

	if (!t)
		return -ENOMEM;
	if (counts(l, s))
		t->sums.runtime_ns += kernel_number(s, RUNTIME_RUNTIME);
	return 0;
}

enum { WAKEUP_PID };

static int handle_wakeup(void *view, const struct kernel_sample *s)
{
	struct tacho_sched_latency *l = view;
	struct latency_task *t = task_of(l, (uint32_t)kernel_number(s, WAKEUP_PID), false, s->time);

	if (!t)
		return -ENOMEM;
	if (!l->single_cpu && t->state != ASLEEP)
		return 0;
	l->order.wakeups++;
	if (t->out_ns > s->time) {
		l->order.unordered++;
		return 0;
	}
	t->state = WAITING;
	t->wake_ns = s->time;
	return 0;
}

/* sched_wakeup follows sched_waking, possibly much later and on another CPU. */
static int handle_late_wakeup(void *view, const struct kernel_sample *s)
{
	struct tacho_sched_latency *l = view;

	return l->has_waking ? 0 : handle_wakeup(view, s);
}

static int handle_migration(void *view, const struct kernel_sample *s)
{
	struct tacho_sched_latency *l = view;
	struct latency_task *t;

	if (!l->single_cpu)
		return 0;
	t = task_of(l, (uint32_t)kernel_number(s, WAKEUP_PID), true, s->time);
	if (!t)
		return -ENOMEM;
	l->order.wakeups++;
	t->out_ns = t->wake_ns = s->time;
	return 0;
}

static const struct kernel_handler handlers[] = {
	{ "sched:sched_switch", handle_switch, { "prev_pid", "prev_state", "next_pid", "?prev_comm", "?next_comm" } },
	{ "sched:sched_stat_runtime", handle_runtime, { "pid", "runtime" } },
	{ "sched:sched_waking", handle_wakeup, { "pid" } },
	{ "sched:sched_wakeup", handle_late_wakeup, { "pid" } },
	{ "sched:sched_wakeup_new", handle_wakeup, { "pid" } },
	{ "sched:sched_migrate_task", handle_migration, { "pid" } },
};
static const struct kernel_view view = {
	.handlers = handlers, .n_handlers = countof(handlers), .thread_bytes = sizeof(struct latency_task),
};

/* ---- rows ---- */

static int by_comm_and_tid(const void *a, const void *b)
{
	const struct latency_task *x = *(struct latency_task *const *)a, *y = *(struct latency_task *const *)b;
	int by_comm = strcmp(x->thread.comm, y->thread.comm);

	return by_comm ? by_comm : x->thread.tid < y->thread.tid ? -1 : x->thread.tid > y->thread.tid;
}

static int by_tid(const void *a, const void *b)
{
	const struct latency_row *x = a, *y = b;

	return x->pub.tid < y->pub.tid ? -1 : x->pub.tid > y->pub.tid;
}

static void merge_sums(struct tacho_sched_delays *to, const struct tacho_sched_delays *from)
{
	to->n_threads++;
	to->runtime_ns += from->runtime_ns;
	to->n_delays += from->n_delays;
	to->delay_ns += from->delay_ns;
	if (from->max_delay_ns > to->max_delay_ns) {
		to->max_delay_ns = from->max_delay_ns;
		to->max_from_ns = from->max_from_ns;
		to->max_to_ns = from->max_to_ns;
	}
}

static int take_delays(struct latency_row *row, struct latency_task *t)
{
	uint64_t *bigger = t->delays.n ? reallocarray(row->delays, row->n_delays + t->delays.n, sizeof(*bigger)) : NULL;

	if (!t->delays.n)
		return 0;
	if (!bigger)
		return -ENOMEM;
	memcpy(bigger + row->n_delays, t->delays.v, t->delays.n * sizeof(*bigger));
	row->delays = bigger;
	row->n_delays += t->delays.n;
	vec_done(&t->delays);
	return 0;
}

static int add_to_rows(struct tacho_sched_latency *l, struct latency_task *t)
{
	struct latency_row *last = l->rows.n ? &l->rows.v[l->rows.n - 1] : NULL;

	if (!last || l->opts.per_thread || strcmp(last->pub.comm, t->thread.comm) != 0) {
		last = vec_add(&l->rows);
		if (!last)
			return -ENOMEM;
		last->pub.comm = t->thread.comm;
		last->pub.tid = t->thread.tid;
	}
	merge_sums(&last->pub, &t->sums);
	return take_delays(last, t);
}

static int name_unnamed(struct tacho_sched_latency *l, struct kernel_thread *t)
{
	char name[16];

	if (t->comm)
		return 0;
	snprintf(name, sizeof(name), ":%u", t->tid);
	t->comm = kernel_threads_comm(&l->pass.threads, str_of(name));
	return t->comm ? 0 : -ENOMEM;
}

/* Also tasks that were never delayed, because threads of a name are counted. */
static int make_rows(struct tacho_sched_latency *l)
{
	size_t n = l->pass.threads.all.n, n_tasks = 0;
	scoped(freep) struct latency_task **tasks = calloc(n + 1, sizeof(*tasks));
	int err = tasks ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && err == 0; i++) {
		struct latency_task *t = (struct latency_task *)l->pass.threads.all.v[i];

		err = name_unnamed(l, &t->thread);
		if (t->seen && t->thread.tid)
			tasks[n_tasks++] = t;
	}
	if (err == 0 && n_tasks)
		qsort(tasks, n_tasks, sizeof(*tasks), by_comm_and_tid);
	for (size_t i = 0; i < n_tasks && err == 0; i++)
		err = add_to_rows(l, tasks[i]);
	return err;
}

static void drop_undelayed(struct tacho_sched_latency *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->rows.n; i++)
		if (l->rows.v[i].pub.n_delays)
			l->rows.v[n++] = l->rows.v[i];
	l->rows.n = n;
	if (n)
		qsort(l->rows.v, n, sizeof(*l->rows.v), by_tid);
}

/* ---- the object ---- */

static bool is_single_cpu(const struct tacho_perfdata *pd)
{
	struct tacho_cpu_counts n;

	if (tacho_perfdata_cpu_counts(pd, &n) < 0 || n.online < 2)
		return false;
	for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++)
		if (str_starts(str_of(tacho_perfdata_event(pd, i)->name), "sched:sched_switch"))
			return tacho_perfdata_event(pd, i)->n_ids == 1;
	return false;
}

static int analyse(struct tacho_sched_latency *l, struct tacho_perfdata *pd, struct tacho_error *e)
{
	int err;

	l->current = calloc(TACHO_SCHED_CPUS_MAX, sizeof(*l->current));
	if (!l->current || kernel_pass_init(&l->pass, pd, &view, l) < 0)
		return error_nomem(e);
	memset(l->current, 0xff, TACHO_SCHED_CPUS_MAX * sizeof(*l->current));
	l->has_waking = sched_has_waking(pd);
	l->single_cpu = is_single_cpu(pd);
	err = kernel_pass_run(&l->pass, e);
	if (err == -ENOMEM || make_rows(l) < 0)
		return error_nomem(e);
	drop_undelayed(l);
	return err;
}

int tacho_sched_latency_new(struct tacho_sched_latency **out, struct tacho_perfdata *pd,
			    const struct tacho_sched_latency_opts *opts, struct tacho_error *e)
{
	struct tacho_sched_latency *l = *out = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return error_nomem(e);
	err = opts_copy(&l->opts, sizeof(l->opts), opts, e);
	return err < 0 ? err : analyse(l, pd, e);
}

void tacho_sched_latency_free(struct tacho_sched_latency *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->pass.threads.all.n; i++)
		vec_done(&((struct latency_task *)l->pass.threads.all.v[i])->delays);
	for (size_t i = 0; i < l->rows.n; i++)
		free(l->rows.v[i].delays);
	vec_done(&l->rows);
	kernel_pass_done(&l->pass);
	free(l->current);
	free(l);
}

const struct tacho_kernel_totals *tacho_sched_latency_totals(const struct tacho_sched_latency *l)
{
	return &l->pass.totals;
}

const struct tacho_sched_order *tacho_sched_latency_order(const struct tacho_sched_latency *l)
{
	return &l->order;
}

const struct tacho_sched_delays *tacho_sched_latency_row(const struct tacho_sched_latency *l, size_t i)
{
	return i < l->rows.n ? &l->rows.v[i].pub : NULL;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

uint64_t tacho_sched_latency_percentile(struct tacho_sched_latency *l, size_t i, double percent)
{
	struct latency_row *row = i < l->rows.n ? &l->rows.v[i] : NULL;
	size_t rank;

	if (!row || !row->n_delays)
		return 0;
	if (!row->sorted)
		qsort(row->delays, row->n_delays, sizeof(*row->delays), by_value);
	row->sorted = true;
	rank = (size_t)((double)row->n_delays * min_of(max_of(percent, 0.0), 100.0) / 100.0 + 0.999999999);
	return row->delays[min_of(max_of(rank, (size_t)1), row->n_delays) - 1];
}
