/*
 * Work of the kernel. A work is known by its class, number and CPU: its events are requested (softirq_raise,
 * workqueue_activate_work), entry and exit. For the time of CPUs an interrupt comes before a softirq, which comes before the
 * task: what they take is not the task's.
 */
#include <tacho/kwork.h>

#include <errno.h>
#include <inttypes.h>

#include "base/cpuset.h"
#include "base/sized_opts.h"
#include "kernel/pass.h"

struct work_key {			/* without padding, for the hash map */
	uint64_t id;
	uint32_t kind, cpu;
};

struct work_row {
	struct tacho_kwork_row pub;
	uint64_t requested_ns, entered_ns;	/* 0: not */
	uint64_t delay_ns;		/* of the run that has begun; UINT64_MAX: unknown */
	bool is_hidden;			/* by the filter of names */
};

struct cpu_time {
	struct tacho_kwork_cpu pub;
	uint64_t since;			/* up to when its time is counted; 0: not yet */
	uint32_t tid;
	unsigned irqs, softirqs;	/* nested */
	bool is_running;		/* a switch was seen */
};

struct task_time {			/* of a thread on a CPU */
	uint32_t tid, cpu;
	uint64_t run_ns;
	const char *comm;
};

struct tacho_kwork {
	struct tacho_kwork_opts opts;
	struct kernel_pass pass;
	struct cpuset cpus;
	struct arena arena;
	struct map rows_by_key;
	struct { struct work_row **v; size_t n, cap; } rows;	/* addresses are stable, for the callback */
	struct { struct cpu_time *v; size_t n, cap; } cpu_times;
	struct int_map cpu_index, task_index;
	struct { struct task_time *v; size_t n, cap; } task_times;
	struct { struct tacho_kwork_task *v; size_t n, cap; } tasks;
};

static const char *const softirqs[] = { "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU" };

static bool is_wanted(const struct tacho_kwork *k, const struct kernel_sample *s, enum tacho_kwork_class kind)
{
	return s->time >= k->opts.from_ns && (!k->opts.to_ns || s->time <= k->opts.to_ns) && s->cpu < TACHO_KWORK_CPUS_MAX &&
	       (!k->opts.classes || k->opts.classes >> kind & 1) && (!k->opts.cpus || cpuset_has(&k->cpus, (int)s->cpu));
}

/* ---- the time of CPUs ---- */

static struct cpu_time *cpu_of(struct tacho_kwork *k, uint32_t cpu)
{
	struct cpu_time *c;
	uint32_t i;

	if (int_map_get(&k->cpu_index, cpu, &i))
		return &k->cpu_times.v[i];
	c = vec_add(&k->cpu_times);
	if (!c || int_map_put(&k->cpu_index, cpu, (uint32_t)(k->cpu_times.n - 1)) < 0)
		return NULL;
	c->pub.cpu = cpu;
	return c;
}

static struct task_time *task_of(struct tacho_kwork *k, uint32_t tid, uint32_t cpu)
{
	uint64_t key = (uint64_t)tid << 32 | cpu;
	struct task_time *t;
	uint32_t i;

	if (int_map_get(&k->task_index, key, &i))
		return &k->task_times.v[i];
	t = vec_add(&k->task_times);
	if (!t || int_map_put(&k->task_index, key, (uint32_t)(k->task_times.n - 1)) < 0)
		return NULL;
	t->tid = tid;
	t->cpu = cpu;
	return t;
}

/* Attributes the time since the last event of the CPU. */
static int advance(struct tacho_kwork *k, struct cpu_time *c, uint64_t time)
{
	uint64_t ns = c->since ? kernel_elapsed(c->since, time) : 0;
	struct task_time *t;

	c->since = time;
	if (!c->is_running || !ns)
		return 0;
	c->pub.total_ns += ns;
	if (c->irqs) {
		c->pub.irq_ns += ns;
	} else if (c->softirqs) {
		c->pub.softirq_ns += ns;
	} else if (!c->tid) {
		c->pub.idle_ns += ns;
	} else {
		t = task_of(k, c->tid, c->pub.cpu);
		if (!t)
			return -ENOMEM;
		t->run_ns += ns;
	}
	return 0;
}

static int count_irq(struct tacho_kwork *k, const struct kernel_sample *s, bool is_soft, bool is_entry)
{
	struct cpu_time *c;
	unsigned *depth;

	if (!(k->opts.classes >> TACHO_KWORK_SCHED & 1))
		return 0;
	c = cpu_of(k, s->cpu);
	if (!c || advance(k, c, s->time) < 0)
		return -ENOMEM;
	depth = is_soft ? &c->softirqs : &c->irqs;
	if (is_entry)
		(*depth)++;
	else if (*depth)
		(*depth)--;
	return 0;
}

enum { SWITCH_PREV_PID, SWITCH_PREV_COMM, SWITCH_NEXT_PID };

static int handle_switch(void *view, const struct kernel_sample *s)
{
	struct tacho_kwork *k = view;
	struct cpu_time *c;
	struct task_time *t;

	if (!is_wanted(k, s, TACHO_KWORK_SCHED))
		return 0;
	c = cpu_of(k, s->cpu);
	if (!c || advance(k, c, s->time) < 0)
		return -ENOMEM;
	t = task_of(k, (uint32_t)kernel_number(s, SWITCH_PREV_PID), s->cpu);
	if (!t)
		return -ENOMEM;
	t->comm = kernel_threads_comm(&k->pass.threads, kernel_text(s, SWITCH_PREV_COMM));
	if (!t->comm)
		return -ENOMEM;
	c->is_running = true;
	c->tid = (uint32_t)kernel_number(s, SWITCH_NEXT_PID);
	return 0;
}

/* ---- works ---- */

static int name_work(struct tacho_kwork *k, struct work_row *row, struct str name, uint64_t function)
{
	scoped(buf_done) struct buf text = { 0 };
	struct tacho_frame frame;

	if (row->pub.kind == TACHO_KWORK_IRQ) {
		buf_str(&text, name);
		buf_printf(&text, ":%" PRIu64, row->pub.id);
	} else if (row->pub.kind == TACHO_KWORK_SOFTIRQ) {
		buf_printf(&text, "(s)%s:%" PRIu64, row->pub.id < countof(softirqs) ? softirqs[row->pub.id] : "", row->pub.id);
	} else if (k->opts.symbols && tacho_symbols_resolve(k->opts.symbols, 0, TACHO_SPACE_KERNEL, function, &frame) > 0) {
		buf_printf(&text, "(w)%s", tacho_symbols_name(k->opts.symbols, frame.symbol));
	} else {
		buf_printf(&text, "(w)%#" PRIx64, function);
	}
	row->pub.name = buf_failed(&text) ? NULL : arena_text(&k->arena, buf_view(&text));
	row->is_hidden = row->pub.name && k->opts.name && !strstr(row->pub.name, k->opts.name);
	return row->pub.name ? 0 : -ENOMEM;
}

struct work_event {			/* what an event says about a work */
	enum tacho_kwork_class kind;
	uint64_t id, function;
	struct str name;
};

static struct work_row *find_row(const struct tacho_kwork *k, const struct kernel_sample *s, const struct work_event *ev)
{
	const struct work_key key = { .id = ev->id, .kind = ev->kind, .cpu = s->cpu };
	const uint64_t *found = map_get(&k->rows_by_key, str_n((const char *)&key, sizeof(key)));

	return found ? k->rows.v[*found] : NULL;
}

static struct work_row *row_of(struct tacho_kwork *k, const struct kernel_sample *s, const struct work_event *ev)
{
	struct work_key key = { .id = ev->id, .kind = ev->kind, .cpu = s->cpu };
	struct work_row *row = find_row(k, s, ev), **slot;
	const char *copy;

	if (row)
		return row;
	row = arena_alloc(&k->arena, sizeof(*row));
	copy = arena_str(&k->arena, str_n((const char *)&key, sizeof(key)));
	slot = row && copy ? vec_next(&k->rows) : NULL;
	if (!slot)
		return NULL;
	*slot = row;
	row->pub = (struct tacho_kwork_row){ .kind = ev->kind, .id = ev->id, .cpu = s->cpu };
	row->delay_ns = UINT64_MAX;
	if (name_work(k, row, ev->name, ev->function) < 0 || map_put(&k->rows_by_key, str_n(copy, sizeof(key)), k->rows.n - 1) < 0)
		return NULL;
	return row;
}

static void add_time(struct tacho_kwork_times *t, uint64_t from, uint64_t to)
{
	uint64_t ns = kernel_elapsed(from, to);

	t->n++;
	t->sum_ns += ns;
	if (ns > t->max_ns) {
		t->max_ns = ns;
		t->max_from_ns = from;
		t->max_to_ns = to;
	}
}

/* As in perf, the delay is counted from the last request. */
static int request(struct tacho_kwork *k, const struct kernel_sample *s, const struct work_event *ev)
{
	struct work_row *row = is_wanted(k, s, ev->kind) ? row_of(k, s, ev) : NULL;

	if (row)
		row->requested_ns = s->time;
	return row || !is_wanted(k, s, ev->kind) ? 0 : -ENOMEM;
}

static int enter(struct tacho_kwork *k, const struct kernel_sample *s, const struct work_event *ev)
{
	struct work_row *row;

	if (!is_wanted(k, s, ev->kind))
		return 0;
	row = row_of(k, s, ev);
	if (!row)
		return -ENOMEM;
	row->entered_ns = s->time;
	row->delay_ns = UINT64_MAX;
	if (row->requested_ns) {
		if (!row->is_hidden)
			add_time(&row->pub.delays, row->requested_ns, s->time);
		row->delay_ns = kernel_elapsed(row->requested_ns, s->time);
		row->requested_ns = 0;
	}
	return ev->kind == TACHO_KWORK_WORKQUEUE ? 0 : count_irq(k, s, ev->kind == TACHO_KWORK_SOFTIRQ, true);
}

static int leave(struct tacho_kwork *k, const struct kernel_sample *s, const struct work_event *ev)
{
	struct tacho_kwork_run run = { 0 };
	struct work_row *row;
	int err = 0;

	if (!is_wanted(k, s, ev->kind))
		return 0;
	row = find_row(k, s, ev);
	if (row && row->entered_ns && !row->is_hidden) {
		add_time(&row->pub.runs, row->entered_ns, s->time);
		run.row = &row->pub;
		run.from_ns = row->entered_ns;
		run.to_ns = max_of(s->time, row->entered_ns);
		run.delay_ns = row->delay_ns;
		err = k->opts.run ? k->opts.run(k->opts.arg, &run) : 0;
	}
	if (row)
		row->entered_ns = 0;
	if (err < 0)
		return err;
	return ev->kind == TACHO_KWORK_WORKQUEUE ? 0 : count_irq(k, s, ev->kind == TACHO_KWORK_SOFTIRQ, false);
}

enum { IRQ_NUMBER, IRQ_NAME };

static struct work_event irq_event(const struct kernel_sample *s)
{
	return (struct work_event){ .kind = TACHO_KWORK_IRQ, .id = kernel_number(s, IRQ_NUMBER), .name = kernel_text(s, IRQ_NAME) };
}

static struct work_event softirq_event(const struct kernel_sample *s)
{
	return (struct work_event){ .kind = TACHO_KWORK_SOFTIRQ, .id = kernel_number(s, IRQ_NUMBER) };
}

enum { WORK_ADDRESS, WORK_FUNCTION };

static struct work_event workqueue_event(const struct kernel_sample *s)
{
	return (struct work_event){ .kind = TACHO_KWORK_WORKQUEUE, .id = kernel_number(s, WORK_ADDRESS),
				    .function = kernel_number(s, WORK_FUNCTION) };
}

#define HANDLER(name, make_event, what)                                                \
	static int name(void *view, const struct kernel_sample *s)                         \
	{                                                                                   \
		struct work_event ev = make_event(s);                                       \
                                                                                            \
		return what(view, s, &ev);                                                  \
	}
HANDLER(handle_irq_entry, irq_event, enter)
HANDLER(handle_irq_exit, irq_event, leave)
HANDLER(handle_softirq_raise, softirq_event, request)
HANDLER(handle_softirq_entry, softirq_event, enter)
HANDLER(handle_softirq_exit, softirq_event, leave)
HANDLER(handle_work_activate, workqueue_event, request)
HANDLER(handle_work_start, workqueue_event, enter)
HANDLER(handle_work_end, workqueue_event, leave)

static const struct kernel_handler handlers[] = {
	{ "irq:irq_handler_entry", handle_irq_entry, { "irq", "name" } },
	{ "irq:irq_handler_exit", handle_irq_exit, { "irq" } },
	{ "irq:softirq_raise", handle_softirq_raise, { "vec" } },
	{ "irq:softirq_entry", handle_softirq_entry, { "vec" } },
	{ "irq:softirq_exit", handle_softirq_exit, { "vec" } },
	{ "workqueue:workqueue_activate_work", handle_work_activate, { "work", "?function" } },
	{ "workqueue:workqueue_execute_start", handle_work_start, { "work", "function" } },
	{ "workqueue:workqueue_execute_end", handle_work_end, { "work", "?function" } },
	{ "sched:sched_switch", handle_switch, { "prev_pid", "prev_comm", "next_pid" } },
};
static const struct kernel_view view = { .handlers = handlers, .n_handlers = countof(handlers) };

/* Rows of tasks from their times on each CPU. */
static int sum_tasks(struct tacho_kwork *k)
{
	struct int_map by_tid = { 0 };
	int err = 0;

	for (size_t i = 0; err == 0 && i < k->task_times.n; i++) {
		const struct task_time *t = &k->task_times.v[i];
		const struct cpu_time *c = cpu_of(k, t->cpu);
		struct tacho_kwork_task *task;
		uint32_t at;

		if (!t->tid || !t->run_ns || !c)
			continue;
		if (!int_map_get(&by_tid, t->tid, &at)) {
			at = (uint32_t)k->tasks.n;
			task = vec_add(&k->tasks);
			if (!task || int_map_put(&by_tid, t->tid, at) < 0) {
				err = -ENOMEM;
				break;
			}
			task->tid = t->tid;
		}
		task = &k->tasks.v[at];
		task->run_ns += t->run_ns;
		task->share += c->pub.total_ns ? (double)t->run_ns / (double)c->pub.total_ns : 0;
		if (t->comm)
			task->comm = t->comm;
	}
	int_map_done(&by_tid);
	return err;
}

static int read_recording(struct tacho_kwork *k, struct tacho_perfdata *pd, struct tacho_error *e)
{
	int err;

	if (k->opts.cpus && cpuset_parse(&k->cpus, str_of(k->opts.cpus)) < 0)
		return error_set(e, -EINVAL, "'%s' is not a list of CPUs", k->opts.cpus);
	if (kernel_pass_init(&k->pass, pd, &view, k) < 0)
		return error_nomem(e);
	k->pass.symbols = k->opts.symbols;
	err = kernel_pass_run(&k->pass, e);
	return err != -ENOMEM && err != -ENOENT && sum_tasks(k) < 0 ? error_nomem(e) : err;
}

int tacho_kwork_new(struct tacho_kwork **out, struct tacho_perfdata *pd, const struct tacho_kwork_opts *opts, struct tacho_error *e)
{
	struct tacho_kwork *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return error_nomem(e);
	err = opts_copy(&k->opts, sizeof(k->opts), opts, e);
	if (err < 0) {
		free(k);
		return err;
	}
	err = read_recording(k, pd, e);
	if (err == -ENOMEM || err == -ENOENT || err == -EINVAL) {
		tacho_kwork_free(k);
		return err;
	}
	*out = k;
	return err;
}

void tacho_kwork_free(struct tacho_kwork *k)
{
	if (!k)
		return;
	cpuset_done(&k->cpus);
	map_done(&k->rows_by_key);
	vec_done(&k->rows);
	vec_done(&k->cpu_times);
	vec_done(&k->task_times);
	vec_done(&k->tasks);
	int_map_done(&k->cpu_index);
	int_map_done(&k->task_index);
	arena_done(&k->arena);
	kernel_pass_done(&k->pass);
	free(k);
}

const struct tacho_kernel_totals *tacho_kwork_totals(const struct tacho_kwork *k)
{
	return &k->pass.totals;
}

const struct tacho_kwork_row *tacho_kwork_row(const struct tacho_kwork *k, size_t i)
{
	return i < k->rows.n ? &k->rows.v[i]->pub : NULL;
}

const struct tacho_kwork_cpu *tacho_kwork_cpu(const struct tacho_kwork *k, size_t i)
{
	return i < k->cpu_times.n ? &k->cpu_times.v[i].pub : NULL;
}

const struct tacho_kwork_task *tacho_kwork_task(const struct tacho_kwork *k, size_t i)
{
	return i < k->tasks.n ? &k->tasks.v[i] : NULL;
}
