/*
 * The tables at the end of `tacho sched timehist -s`: tasks by how long they ran, idle time of CPUs, totals.
 */
#include "cli/sched/timehist.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"

struct run_summary {
	const struct tacho_sched_task **tasks;	/* that ran, most time first */
	size_t n;
	uint64_t n_runs, run_ns, window_ns;
	uint32_t n_cpus;
};

static int by_run_time(const void *a, const void *b)
{
	const struct tacho_sched_task *x = *(const struct tacho_sched_task *const *)a, *y = *(const struct tacho_sched_task *const *)b;

	if (x->run_ns != y->run_ns)
		return x->run_ns > y->run_ns ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

static bool is_in_summary(const struct timehist *t, const struct tacho_sched_task *task)
{
	return task->runs.n && !task->idle && (!t->pids.n || int_map_find(&t->pids, task->pid)) &&
	       (!t->tids.n || int_map_find(&t->tids, task->tid));
}

static bool summary_init(struct run_summary *s, const struct timehist *t)
{
	const struct tacho_sched_task *task;
	uint64_t first, last;
	size_t n = 0;

	*s = (struct run_summary){ .n = 0 };
	while (tacho_sched_task(t->sched, n))
		n++;
	s->tasks = calloc(n + 1, sizeof(*s->tasks));
	if (!s->tasks)
		return false;
	for (size_t i = 0; i < n; i++) {
		task = tacho_sched_task(t->sched, i);
		if (task->idle && !t->o->idle_hist)
			s->n_runs += task->runs.n;
		if (!is_in_summary(t, task))
			continue;
		s->tasks[s->n++] = task;
		s->n_runs += task->runs.n;
		s->run_ns += task->run_ns;
	}
	qsort(s->tasks, s->n, sizeof(*s->tasks), by_run_time);
	for (uint32_t cpu = 0; cpu < tacho_sched_n_cpus(t->sched); cpu++)
		s->n_cpus += tacho_sched_has_cpu(t->sched, cpu);
	tacho_sched_window(t->sched, &first, &last);
	s->window_ns = last > first ? last - first : 0;
	return true;
}

static void summary_done(struct run_summary *s)
{
	free(s->tasks);
}

/* The standard error of the mean, in percent of it. */
static double deviation(const struct tacho_sched_runs *r)
{
	if (r->n < 2 || r->mean_ns <= 0)
		return 0;
	return 100.0 * sqrt(r->m2 / (double)(r->n - 1) / (double)r->n) / r->mean_ns;
}

/* ---- text ---- */

static void put_ms(struct buf *out, uint64_t ns, int width)
{
	buf_printf(out, "%*" PRIu64 ".%03" PRIu64 " ", width, ns / 1000000, ns % 1000000 / 1000);
}

static void put_titles(const struct timehist *t, struct buf *out)
{
	const struct sched_opts *o = t->o;
	int width = (int)t->name_width;

	if (o->idle_hist)
		buf_printf(out, "\nIdle-time summary\n%*s  parent  sched-out    idle-time   min-idle    avg-idle    max-idle  stddev  migrations\n",
			   width, "comm");
	else if (o->state)
		buf_printf(out, "\nWait-time summary\n%*s  parent   sched-in     run-time      sleep      iowait     preempt       delay\n",
			   width, "comm");
	else
		buf_printf(out, "\nRuntime summary\n%*s  parent   sched-in     run-time    min-run     avg-run     max-run  stddev  migrations\n",
			   width, "comm");
	buf_printf(out, "%*s            (count)       (msec)     (msec)      (msec)      (msec)       %s\n", width, "",
		   o->state ? "(msec)" : "%");
	buf_pad(out, '-', 117);
	buf_putc(out, '\n');
}

static void put_task(struct timehist *t, const struct tacho_sched_task *task, struct buf *out)
{
	const struct timehist_name *name = timehist_name(t, task);
	const struct tacho_sched_runs *r = &task->runs;

	if (!name) {
		out->bad = true;
		return;
	}
	buf_right(out, str_n(name->text, name->n), t->name_width);
	buf_printf(out, "  %6d  %9" PRIu64 "  ", task->ppid == UINT32_MAX ? -1 : (int)task->ppid, r->n);
	put_ms(out, task->run_ns, 7);
	if (t->o->state) {
		put_ms(out, task->sleep_ns, 6);
		put_ms(out, task->io_ns, 7);
		put_ms(out, task->preempted_ns, 7);
		put_ms(out, task->delay_ns, 7);
	} else {
		put_ms(out, r->min_ns, 6);
		put_ms(out, (uint64_t)r->mean_ns, 7);
		put_ms(out, r->max_ns, 7);
		buf_printf(out, "%7.2f  %6" PRIu32, deviation(r), task->n_migrations);
	}
	buf_putc(out, '\n');
}

static void put_tasks(struct timehist *t, const struct run_summary *s, struct buf *out)
{
	size_t n_exited = 0;

	put_titles(t, out);
	for (size_t i = 0; i < s->n; i++) {
		if (s->tasks[i]->has_exited)
			n_exited++;
		else
			put_task(t, s->tasks[i], out);
	}
	if (n_exited == s->n)
		buf_puts(out, "<no still running tasks>\n");
	if (n_exited)
		buf_puts(out, "\nTerminated tasks:\n");
	for (size_t i = 0; i < s->n; i++)
		if (s->tasks[i]->has_exited)
			put_task(t, s->tasks[i], out);
}

static void put_idle(const struct timehist *t, const struct run_summary *s, struct buf *out)
{
	const struct tacho_sched_task *idle;

	buf_puts(out, "\nIdle stats:\n");
	for (uint32_t cpu = 0; cpu < tacho_sched_n_cpus(t->sched); cpu++) {
		idle = tacho_sched_idle_task(t->sched, cpu);
		buf_printf(out, "    CPU %2" PRIu32 " ", cpu);
		if (idle && idle->runs.n) {
			buf_puts(out, "idle for ");
			put_ms(out, idle->run_ns, 6);
			buf_printf(out, " msec  (%6.2f%%)\n",
				   s->window_ns ? 100.0 * (double)idle->run_ns / (double)s->window_ns : 0);
		} else {
			buf_puts(out, tacho_sched_has_cpu(t->sched, cpu) ? "never idle\n" : "idle entire time window\n");
		}
	}
}

static int by_cpu_and_time(const void *a, const void *b)
{
	const struct idle_chain *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->ns > y->ns ? -1 : x->ns < y->ns ? 1 : strcmp(x->text, y->text);
}

static void put_idle_chains(struct timehist *t, struct buf *out)
{
	const struct tacho_sched_task *idle;
	size_t i = 0;

	if (t->idle_chains.n)
		qsort(t->idle_chains.v, t->idle_chains.n, sizeof(*t->idle_chains.v), by_cpu_and_time);
	buf_puts(out, "\nIdle stats by callchain:\n");
	for (uint32_t cpu = 0; cpu < tacho_sched_n_cpus(t->sched); cpu++) {
		idle = tacho_sched_idle_task(t->sched, cpu);
		buf_printf(out, "  CPU %2" PRIu32 ":", cpu);
		put_ms(out, idle ? idle->run_ns : 0, 6);
		buf_puts(out, " msec\n");
		buf_printf(out, "  %16s  %8s  %s\n", "Idle time (msec)", "Count", "Callchains");
		buf_puts(out, "  ----------------  --------  --------------------------------------------------\n");
		for (; i < t->idle_chains.n && t->idle_chains.v[i].cpu == cpu; i++) {
			const struct idle_chain *c = &t->idle_chains.v[i];

			buf_puts(out, "  ");
			put_ms(out, c->ns, 12);
			buf_printf(out, " %8" PRIu64 "  %s\n", c->n, strchr(c->text, ' ') + 1);
		}
		buf_putc(out, '\n');
	}
}

static void put_totals(const struct timehist *t, const struct run_summary *s, struct buf *out)
{
	buf_printf(out, "\n    Total number of unique tasks: %zu\n", s->n);
	buf_printf(out, "Total number of context switches: %" PRIu64 "\n", s->n_runs);
	buf_puts(out, "           Total run time (msec): ");
	put_ms(out, s->run_ns, 2);
	buf_puts(out, "\n    Total scheduling time (msec): ");
	put_ms(out, s->window_ns, 2);
	buf_printf(out, " (x %" PRIu32 ")\n", tacho_sched_n_cpus(t->sched));
}

void timehist_put_summary(struct timehist *t, struct buf *out)
{
	scoped(summary_done) struct run_summary s;

	if (!summary_init(&s, t)) {
		out->bad = true;
		return;
	}
	put_tasks(t, &s, out);
	put_idle(t, &s, out);
	if (t->o->idle_hist && t->chains)
		put_idle_chains(t, out);
	put_totals(t, &s, out);
}

/* ---- JSON ---- */

static void json_task_sums(const struct tacho_sched_task *task, struct json *j)
{
	const struct tacho_sched_runs *r = &task->runs;

	json_begin(j, '{');
	json_member(j, "comm", str, task->comm);
	json_member(j, "tid", u64, task->tid);
	sched_json_id(j, "pid", task->pid);
	sched_json_id(j, "ppid", task->ppid);
	json_member(j, "exited", bool, task->has_exited);
	json_member(j, "runs", u64, r->n);
	json_member(j, "run_ns", u64, task->run_ns);
	json_member(j, "min_run_ns", u64, r->min_ns);
	json_member(j, "mean_run_ns", double, r->mean_ns);
	json_member(j, "max_run_ns", u64, r->max_ns);
	json_member(j, "standard_error_percent", double, deviation(r));
	json_member(j, "sleep_ns", u64, task->sleep_ns);
	json_member(j, "io_ns", u64, task->io_ns);
	json_member(j, "preempted_ns", u64, task->preempted_ns);
	json_member(j, "delay_ns", u64, task->delay_ns);
	json_member(j, "pre_migration_ns", u64, task->pre_migration_ns);
	json_member(j, "migrations", u64, task->n_migrations);
	json_end(j);
}

static void json_cpus(const struct timehist *t, struct json *j)
{
	const struct tacho_sched_task *idle;

	json_key(j, "cpus");
	json_begin(j, '[');
	for (uint32_t cpu = 0; cpu < tacho_sched_n_cpus(t->sched); cpu++) {
		idle = tacho_sched_idle_task(t->sched, cpu);
		if (!tacho_sched_has_cpu(t->sched, cpu))
			continue;
		json_begin(j, '{');
		json_member(j, "cpu", u64, cpu);
		json_member(j, "idle_ns", u64, idle ? idle->run_ns : 0);
		json_end(j);
	}
	json_end(j);
}

void timehist_json_summary(struct timehist *t, struct json *j)
{
	scoped(summary_done) struct run_summary s;

	if (!summary_init(&s, t)) {
		j->out->bad = true;
		return;
	}
	json_key(j, "tasks");
	json_begin(j, '[');
	for (size_t i = 0; i < s.n; i++)
		json_task_sums(s.tasks[i], j);
	json_end(j);
	json_cpus(t, j);
	json_member(j, "switches", u64, s.n_runs);
	json_member(j, "run_ns", u64, s.run_ns);
	json_member(j, "window_ns", u64, s.window_ns);
	json_member(j, "lost_events", u64, tacho_sched_totals(t->sched)->lost);
}
