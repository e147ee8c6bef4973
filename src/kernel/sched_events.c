/*
 * What tasks do, event by event. When a task leaves its CPU, it is known how long it ran, and how long it waited before that:
 *
 *	switched out      woken up    migrated    switched in        switched out
 *	     |  sleep, I/O     |         |             |      run         |
 *	     |                 |<------ delay -------->|
 *	                       |<------->| pre-migration
 *
 * Between being preempted and running again, all is delay. The time of the last switch is stored per CPU, the rest per task.
 *
 * Some switches are not recorded: Linux 6.18 was seen to drop all events of the idle task of one CPU. Then another task leaves
 * the CPU than the one that was switched to, and its start is estimated by its wakeup.
 */
#include "kernel/sched_events.h"

#include <errno.h>
#include <stdio.h>

#include "base/sized_opts.h"

/* ---- tasks ---- */

static int name_task(struct tacho_sched *s, struct sched_task *t, struct str name)
{
	t->thread.comm = kernel_threads_comm(&s->pass.threads, name);
	t->pub.comm = t->thread.comm;
	return t->pub.comm ? 0 : -ENOMEM;
}

/* Fills in what the public struct has when a task is seen for the first time. */
static int introduce_task(struct tacho_sched *s, struct sched_task *t)
{
	const struct kernel_thread *th = &t->thread;
	char name[16];

	if (!t->introduced)
		t->pub.prio = -1;
	t->introduced = true;
	t->pub.index = th->index;
	t->pub.tid = th->tid;
	t->pub.pid = th->pid;
	t->pub.ppid = th->ppid;
	t->pub.comm = th->comm;
	if (th->comm)
		return 0;
	snprintf(name, sizeof(name), ":%u", th->tid);
	t->pub.comm = kernel_threads_comm(&s->pass.threads, str_of(name));
	return t->pub.comm ? 0 : -ENOMEM;
}

static struct sched_task *task_slow(struct tacho_sched *s, uint32_t tid)
{
	struct sched_task *t = (struct sched_task *)kernel_thread(&s->pass, tid);

	return t && (t->introduced || introduce_task(s, t) == 0) ? t : NULL;
}

/* The task of a thread ID that is not 0; NULL: out of memory. */
static inline struct sched_task *task_of(struct tacho_sched *s, uint32_t tid)
{
	struct sched_task *t = (struct sched_task *)kernel_threads_find(&s->pass.threads, tid);

	return t && t->introduced ? t : task_slow(s, tid);
}

static struct sched_task *idle_task_slow(struct tacho_sched *s, uint32_t cpu)
{
	struct sched_task *t = (struct sched_task *)kernel_threads_add_hidden(&s->pass.threads, 0);

	if (!t || name_task(s, t, STR_LIT("<idle>")) < 0 || introduce_task(s, t) < 0)
		return NULL;
	t->thread.pid = t->pub.pid = 0;
	t->pub.idle = true;
	s->cpus.v[cpu].idle = t;
	return t;
}

static inline struct sched_task *idle_task(struct tacho_sched *s, uint32_t cpu)
{
	struct sched_task *t = s->cpus.v[cpu].idle;

	return t ? t : idle_task_slow(s, cpu);
}

static inline struct sched_task *task_on(struct tacho_sched *s, uint32_t tid, uint32_t cpu)
{
	return tid ? task_of(s, tid) : idle_task(s, cpu);
}

/* False: not a CPU, or out of memory. */
static bool has_cpu_slow(struct tacho_sched *s, uint32_t cpu)
{
	if (cpu >= TACHO_SCHED_CPUS_MAX)
		return false;
	while (s->cpus.n <= cpu)
		if (!vec_add(&s->cpus)) {
			s->pass.out_of_memory = true;
			return false;
		}
	return true;
}

static inline bool has_cpu(struct tacho_sched *s, uint32_t cpu)
{
	return cpu < s->cpus.n || has_cpu_slow(s, cpu);
}

static int reject(struct tacho_sched *s)
{
	s->pass.totals.damaged++;
	return s->pass.out_of_memory ? -ENOMEM : 0;
}

/* Delivers a record that is not a sample. */
static int emit_record(struct tacho_sched *s, enum tacho_sched_kind kind, const struct sched_task *t, uint64_t time)
{
	struct tacho_sched_event ev = { .kind = kind, .cpu = s->pass.sideband_cpu, .time = time, .task = &t->pub, .other = &t->pub };

	return s->opts.everything && s->opts.event && time ? s->opts.event(s->opts.arg, &ev) : 0;
}

static int on_comm(void *view, struct kernel_thread *thread, uint64_t time)
{
	struct sched_task *t = (struct sched_task *)thread;
	int err = introduce_task(view, t);

	return err < 0 ? err : emit_record(view, TACHO_SCHED_NAME, t, time);
}

static int on_fork(void *view, struct kernel_thread *thread, struct kernel_thread *parent, uint64_t time)
{
	struct sched_task *t = (struct sched_task *)thread;
	int err = introduce_task(view, t);

	(void)parent;
	t->pub.fork_ns = time;
	return err < 0 ? err : emit_record(view, TACHO_SCHED_FORK, t, time);
}

static int on_exited(void *view, struct kernel_thread *thread, uint64_t time)
{
	struct sched_task *t = (struct sched_task *)thread;
	int err = introduce_task(view, t);

	t->pub.has_exited = true;
	return err < 0 ? err : emit_record(view, TACHO_SCHED_EXIT, t, time);
}

/* ---- times ---- */

static inline bool selects(const struct tacho_sched *s, const struct sched_task *t)
{
	return !s->opts.selects || s->opts.selects(s->opts.arg, &t->pub);
}

static void add_run(struct tacho_sched_runs *r, uint64_t ns)
{
	double delta = (double)ns - r->mean_ns;

	r->min_ns = r->n ? min_of(r->min_ns, ns) : ns;
	r->max_ns = max_of(r->max_ns, ns);
	r->n++;
	r->mean_ns += delta / (double)r->n;
	r->m2 += delta * ((double)ns - r->mean_ns);
}

static void measure_wait(const struct sched_task *t, uint64_t start, struct tacho_sched_event *ev)
{
	uint64_t wait;

	if (t->ready_ns && t->ready_ns <= start) {
		ev->delay_ns = start - t->ready_ns;
		if (t->migrated_ns > t->ready_ns && t->migrated_ns < start)
			ev->pre_migration_ns = t->migrated_ns - t->ready_ns;
	}
	if (!t->out_ns || t->out_ns > start)
		return;
	wait = start - t->out_ns;
	if (t->out_state == 'R')
		ev->preempted_ns = wait;
	else if (t->out_state == 'D')
		ev->io_ns = wait;
	else
		ev->sleep_ns = wait;
}

/* Times of a task that ran from `start` (0: not known) to `end`. */
static void measure(struct tacho_sched *s, struct sched_task *t, uint64_t start, uint64_t end, struct tacho_sched_event *ev)
{
	struct tacho_sched_task *sums = &t->pub;

	ev->start_ns = start;
	if (start) {
		ev->run_ns = end > start ? end - start : 0;
		measure_wait(t, start, ev);
	}
	if (s->opts.statistics)
		add_run(&sums->runs, ev->run_ns);
	sums->run_ns += ev->run_ns;
	sums->delay_ns += ev->delay_ns;
	sums->sleep_ns += ev->sleep_ns;
	sums->io_ns += ev->io_ns;
	sums->preempted_ns += ev->preempted_ns;
	sums->pre_migration_ns += ev->pre_migration_ns;
}

/* The part of a run that is within the selected time; false: none is. */
static inline bool clip(const struct tacho_sched *s, uint64_t *start, uint64_t *end)
{
	if (s->opts.from_ns > *end)
		return false;
	if (*start && *start < s->opts.from_ns)
		*start = s->opts.from_ns;
	if (!s->opts.to_ns)
		return true;
	if (!*start || *start > s->opts.to_ns)
		return false;
	*end = min_of(*end, s->opts.to_ns);
	return true;
}

static inline bool in_time(const struct tacho_sched *s, uint64_t time)
{
	return time >= s->opts.from_ns && (!s->opts.to_ns || time <= s->opts.to_ns);
}

static inline int emit(struct tacho_sched *s, const struct tacho_sched_event *ev)
{
	return s->opts.event ? s->opts.event(s->opts.arg, ev) : 0;
}

/* ---- idle time ---- */

/* Stores the call chain of a task that leaves its CPU idle. */
static int keep_chain(struct sched_cpu *cpu, const struct kernel_sample *sample, const struct sched_task *t)
{
	buf_clear(&cpu->chain);
	buf_put(&cpu->chain, sample->chain.v, sample->chain.n * sizeof(*sample->chain.v));
	cpu->chain_pid = t->pub.pid;
	return cpu->chain.bad ? -ENOMEM : 0;
}

/* An idle task leaves its CPU: the idle time counts as that of the task before it. */
static int end_idle(struct tacho_sched *s, struct sched_cpu *cpu, uint64_t start, struct tacho_sched_event *ev)
{
	struct sched_task *last = cpu->before_idle;
	struct tacho_sched_event sums = { 0 };

	if (!last)
		return 0;
	measure(s, last, start, ev->time, &sums);
	cpu->before_idle = NULL;
	ev->chain = (struct tacho_words){ (const uint64_t *)cpu->chain.bytes, cpu->chain.n / sizeof(uint64_t) };
	ev->chain_pid = cpu->chain_pid;
	return emit(s, ev);
}

/* ---- events ---- */

static struct tacho_sched_event event_of(enum tacho_sched_kind kind, const struct kernel_sample *sample)
{
	return (struct tacho_sched_event){
		.kind = kind, .cpu = sample->cpu, .time = sample->time, .sample_ns = sample->time, .chain = sample->chain,
		.format = sample->event->format, .raw = sample->raw, .n_raw = sample->n_raw, .raw_swapped = sample->swapped,
	};
}

enum { SWITCH_PREV_PID, SWITCH_PREV_STATE, SWITCH_NEXT_PID, SWITCH_PREV_COMM, SWITCH_NEXT_COMM, SWITCH_PREV_PRIO,
       SWITCH_NEXT_PRIO };

static int name_new_tasks(struct tacho_sched *s, struct sched_task *prev, struct sched_task *next,
			  const struct kernel_sample *sample)
{
	if (!prev->thread.comm && name_task(s, prev, kernel_text(sample, SWITCH_PREV_COMM)) < 0)
		return -ENOMEM;
	return next->thread.comm ? 0 : name_task(s, next, kernel_text(sample, SWITCH_NEXT_COMM));
}

/* The start of a task that was not switched to in the recording; 0: not known. */
static __attribute__((noinline)) uint64_t estimate_start(struct tacho_sched *s, const struct sched_cpu *cpu, const struct sched_task *prev,
							 struct tacho_sched_event *ev)
{
	struct tacho_sched_event idle = { .kind = TACHO_SCHED_SWITCH };

	s->missed++;
	if (prev->ready_ns <= cpu->switch_ns || prev->ready_ns > ev->time)
		return 0;
	ev->start_estimated = true;
	if (cpu->current->pub.idle && !s->opts.idle_only)
		measure(s, cpu->current, cpu->switch_ns, prev->ready_ns, &idle);
	return prev->ready_ns;
}

/* When the task that leaves the CPU was switched to; 0: not known. */
static inline uint64_t start_of(struct tacho_sched *s, const struct sched_cpu *cpu, const struct sched_task *prev,
				struct tacho_sched_event *ev)
{
	return !cpu->current || cpu->current == prev ? cpu->switch_ns : estimate_start(s, cpu, prev, ev);
}

/* One switch, whose tasks are known: measures, delivers. */
static int switch_tasks(struct tacho_sched *s, struct sched_cpu *cpu, struct sched_task *prev, const struct kernel_sample *sample,
			struct tacho_sched_event *ev)
{
	uint64_t start = start_of(s, cpu, prev, ev);

	if (s->opts.idle_only && !prev->pub.idle) {
		cpu->before_idle = prev;
		if (ev->other->idle && keep_chain(cpu, sample, prev) < 0)
			return -ENOMEM;
	}
	if (!selects(s, prev) || (s->opts.idle_only && !prev->pub.idle && !ev->other->idle))
		return 0;
	if (clip(s, &start, &ev->time) && (!s->opts.idle_only || prev->pub.idle)) {
		int err;

		measure(s, prev, start, ev->time, ev);
		err = s->opts.idle_only ? end_idle(s, cpu, start, ev) : emit(s, ev);
		if (err)
			return err;
	}
	prev->out_ns = sample->time;
	prev->out_state = ev->state;
	prev->ready_ns = ev->state == 'R' ? ev->time : 0;
	prev->migrated_ns = 0;
	return 0;
}

/* There are so many switches that their events share one struct, which is not cleared as a whole each time. */
static void fill_switch(struct tacho_sched *s, const struct kernel_sample *sample, const struct sched_task *prev,
			const struct sched_task *next)
{
	struct tacho_sched_event *ev = &s->event;
	uint64_t state = kernel_number(sample, SWITCH_PREV_STATE);

	ev->kind = TACHO_SCHED_SWITCH;
	ev->cpu = sample->cpu;
	ev->time = ev->sample_ns = sample->time;
	ev->task = &prev->pub;
	ev->other = &next->pub;
	ev->state = prev->pub.idle ? 'I' : sched_state(&s->states, state);
	ev->prev_state = state;
	ev->preempted = ev->state == 'R' && (state & ~s->states.bits);
	ev->start_estimated = false;
	ev->start_ns = ev->run_ns = ev->delay_ns = ev->pre_migration_ns = 0;
	ev->sleep_ns = ev->io_ns = ev->preempted_ns = 0;
	ev->format = sample->event->format;
	ev->raw = sample->raw;
	ev->n_raw = sample->n_raw;
	ev->raw_swapped = sample->swapped;
	ev->chain = sample->chain;
	ev->chain_pid = prev->pub.pid;
}

static int handle_switch(void *view, const struct kernel_sample *sample)
{
	struct tacho_sched *s = view;
	struct sched_task *prev, *next;
	struct sched_cpu *cpu;
	int err;

	if (!has_cpu(s, sample->cpu))
		return reject(s);
	prev = task_on(s, (uint32_t)kernel_number(sample, SWITCH_PREV_PID), sample->cpu);
	next = task_on(s, (uint32_t)kernel_number(sample, SWITCH_NEXT_PID), sample->cpu);
	if (!prev || !next || ((!prev->thread.comm || !next->thread.comm) && name_new_tasks(s, prev, next, sample) < 0))
		return -ENOMEM;
	if (prev->pub.pid == UINT32_MAX)
		prev->pub.pid = prev->thread.pid = sample->pid;
	if (!s->states.bits)
		sched_states_read(&s->states, sample->event->format);
	if (prev->pub.prio < 0 && kernel_has(sample, SWITCH_PREV_PRIO))
		prev->pub.prio = (int32_t)kernel_number(sample, SWITCH_PREV_PRIO);
	if (kernel_has(sample, SWITCH_NEXT_PRIO))
		next->pub.prio = (int32_t)kernel_number(sample, SWITCH_NEXT_PRIO);
	fill_switch(s, sample, prev, next);
	cpu = &s->cpus.v[sample->cpu];
	err = switch_tasks(s, cpu, prev, sample, &s->event);
	if (!s->first_ns && sample->time >= s->opts.from_ns)
		s->first_ns = sample->time;
	if (!s->opts.to_ns || sample->time <= s->opts.to_ns)
		s->last_ns = sample->time;
	cpu->switch_ns = sample->time;
	cpu->current = next;
	cpu->seen = true;
	return err;
}

enum { WAKEUP_PID, WAKEUP_COMM, WAKEUP_CPU, WAKEUP_PRIO };

static int emit_wakeup(struct tacho_sched *s, struct sched_task *t, const struct kernel_sample *sample, bool is_new)
{
	struct tacho_sched_event ev = event_of(TACHO_SCHED_WAKEUP, sample);
	struct sched_task *waker = task_on(s, sample->tid == UINT32_MAX ? 0 : sample->tid, sample->cpu);

	if (!waker)
		return -ENOMEM;
	ev.task = &waker->pub;
	ev.other = &t->pub;
	ev.is_new = is_new;
	ev.to_cpu = (uint32_t)kernel_number(sample, WAKEUP_CPU);
	if (t->pub.prio < 0 && kernel_has(sample, WAKEUP_PRIO))
		t->pub.prio = (int32_t)kernel_number(sample, WAKEUP_PRIO);
	return selects(s, t) || selects(s, waker) ? emit(s, &ev) : 0;
}

static int wake_up(struct tacho_sched *s, const struct kernel_sample *sample, bool is_new)
{
	uint32_t tid = (uint32_t)kernel_number(sample, WAKEUP_PID);
	struct sched_task *t;

	if (!has_cpu(s, sample->cpu) || !tid)
		return reject(s);
	t = task_of(s, tid);
	if (!t || (!t->thread.comm && name_task(s, t, kernel_text(sample, WAKEUP_COMM)) < 0))
		return -ENOMEM;
	if (!t->ready_ns)
		t->ready_ns = sample->time;
	return !s->switches_only && in_time(s, sample->time) ? emit_wakeup(s, t, sample, is_new) : 0;
}

static int handle_wakeup(void *view, const struct kernel_sample *sample)
{
	return wake_up(view, sample, false);
}

static int handle_wakeup_new(void *view, const struct kernel_sample *sample)
{
	return wake_up(view, sample, true);
}

/* A tracepoint that changes nothing here. */
static int handle_other(void *view, const struct kernel_sample *sample)
{
	struct tacho_sched *s = view;
	struct tacho_sched_event ev = event_of(TACHO_SCHED_OTHER, sample);
	struct sched_task *t;

	if (!s->opts.everything || !s->opts.event || !in_time(s, sample->time))
		return 0;
	if (!has_cpu(s, sample->cpu))
		return reject(s);
	t = task_on(s, sample->tid == UINT32_MAX ? 0 : sample->tid, sample->cpu);
	if (!t)
		return -ENOMEM;
	ev.task = ev.other = &t->pub;
	return s->opts.event(s->opts.arg, &ev);
}

/* sched_wakeup follows sched_waking, possibly much later and on another CPU. */
static int handle_late_wakeup(void *view, const struct kernel_sample *sample)
{
	struct tacho_sched *s = view;

	return s->has_waking ? handle_other(view, sample) : handle_wakeup(view, sample);
}

enum { MIGRATE_PID, MIGRATE_FROM, MIGRATE_TO, MIGRATE_COMM };

static int emit_migration(struct tacho_sched *s, struct sched_task *t, const struct kernel_sample *sample)
{
	struct tacho_sched_event ev = event_of(TACHO_SCHED_MIGRATION, sample);
	struct sched_task *running = task_on(s, sample->tid == UINT32_MAX ? 0 : sample->tid, sample->cpu);

	if (!running)
		return -ENOMEM;
	ev.task = &running->pub;
	ev.other = &t->pub;
	ev.from_cpu = (uint32_t)kernel_number(sample, MIGRATE_FROM);
	ev.to_cpu = (uint32_t)kernel_number(sample, MIGRATE_TO);
	return selects(s, t) || selects(s, running) ? emit(s, &ev) : 0;
}

static int handle_migration(void *view, const struct kernel_sample *sample)
{
	struct tacho_sched *s = view;
	uint32_t tid = (uint32_t)kernel_number(sample, MIGRATE_PID);
	struct sched_task *t;

	if (!has_cpu(s, sample->cpu) || !tid)
		return reject(s);
	t = task_of(s, tid);
	if (!t || (!t->thread.comm && name_task(s, t, kernel_text(sample, MIGRATE_COMM)) < 0))
		return -ENOMEM;
	t->pub.n_migrations += in_time(s, sample->time);
	t->migrated_ns = sample->time;
	return !s->switches_only && in_time(s, sample->time) ? emit_migration(s, t, sample) : 0;
}

static const struct kernel_handler handlers[] = {
	{ "sched:sched_switch", handle_switch,
	  { "prev_pid", "prev_state", "next_pid", "?prev_comm", "?next_comm", "?prev_prio", "?next_prio" } },
	{ "sched:sched_waking", handle_wakeup, { "pid", "?comm", "?target_cpu", "?prio" } },
	{ "sched:sched_wakeup", handle_late_wakeup, { "pid", "?comm", "?target_cpu", "?prio" } },
	{ "sched:sched_wakeup_new", handle_wakeup_new, { "pid", "?comm", "?target_cpu", "?prio" } },
	{ "sched:sched_migrate_task", handle_migration, { "pid", "?orig_cpu", "?dest_cpu", "?comm" } },
	{ "*", handle_other, { NULL } },
};
/* The last handler is only needed for `everything`. */
static const struct kernel_view switch_view = {
	.handlers = handlers, .n_handlers = countof(handlers) - 1, .thread_bytes = sizeof(struct sched_task),
	.comm = on_comm, .fork = on_fork, .exited = on_exited,
};
static const struct kernel_view full_view = {
	.handlers = handlers, .n_handlers = countof(handlers), .thread_bytes = sizeof(struct sched_task),
	.comm = on_comm, .fork = on_fork, .exited = on_exited,
};

/* ---- the object ---- */

bool sched_has_waking(const struct tacho_perfdata *pd)
{
	for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++)
		if (str_starts(str_of(tacho_perfdata_event(pd, i)->name), "sched:sched_waking"))
			return true;
	return false;
}

static int prepare(struct tacho_sched *s, struct tacho_perfdata *pd, const struct tacho_sched_opts *opts, struct tacho_error *e)
{
	int err = opts_copy(&s->opts, sizeof(s->opts), opts, e);

	if (err < 0)
		return err;
	if (kernel_pass_init(&s->pass, pd, s->opts.everything ? &full_view : &switch_view, s) < 0)
		return error_nomem(e);
	s->has_waking = sched_has_waking(pd);
	s->switches_only = !s->opts.event || s->opts.idle_only || s->opts.switches_only;
	if (!s->opts.symbols)
		return 0;
	err = tacho_symbols_new(&s->symbols, s->opts.symbols, e);
	s->pass.symbols = s->symbols;
	return err;
}

int tacho_sched_new(struct tacho_sched **out, struct tacho_perfdata *pd, const struct tacho_sched_opts *opts,
		    struct tacho_error *e)
{
	struct tacho_sched *s = calloc(1, sizeof(*s));
	int err = s ? prepare(s, pd, opts, e) : error_nomem(e);

	if (err < 0) {
		tacho_sched_free(s);
		return err;
	}
	*out = s;
	return 0;
}

int tacho_sched_run(struct tacho_sched *s, struct tacho_error *e)
{
	int err = kernel_pass_run(&s->pass, e);

	return s->symbols && tacho_symbols_failed(s->symbols) < 0 ? error_nomem(e) : err;
}

void tacho_sched_free(struct tacho_sched *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->cpus.n; i++)
		buf_done(&s->cpus.v[i].chain);
	vec_done(&s->cpus);
	kernel_pass_done(&s->pass);
	tacho_symbols_free(s->symbols);
	free(s);
}

const struct tacho_kernel_totals *tacho_sched_totals(const struct tacho_sched *s)
{
	return &s->pass.totals;
}

const struct tacho_sched_task *tacho_sched_task(const struct tacho_sched *s, size_t i)
{
	return i < s->pass.threads.all.n ? &((struct sched_task *)s->pass.threads.all.v[i])->pub : NULL;
}

uint32_t tacho_sched_n_cpus(const struct tacho_sched *s)
{
	return (uint32_t)s->cpus.n;
}

const struct tacho_sched_task *tacho_sched_idle_task(const struct tacho_sched *s, uint32_t cpu)
{
	return cpu < s->cpus.n && s->cpus.v[cpu].idle ? &s->cpus.v[cpu].idle->pub : NULL;
}

bool tacho_sched_has_cpu(const struct tacho_sched *s, uint32_t cpu)
{
	return cpu < s->cpus.n && s->cpus.v[cpu].seen;
}

uint64_t tacho_sched_n_missed(const struct tacho_sched *s)
{
	return s->missed;
}

struct tacho_symbols *tacho_sched_symbols(const struct tacho_sched *s)
{
	return s->symbols;
}

void tacho_sched_window(const struct tacho_sched *s, uint64_t *first_ns, uint64_t *last_ns)
{
	*first_ns = s->first_ns;
	*last_ns = s->last_ns;
}
