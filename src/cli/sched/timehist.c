/*
 * `tacho sched timehist`: a line per switch, with how long the task ran and how long it waited before, in perf's columns.
 * A recording may have millions of them, so lines are put together without printf().
 */
#include "cli/sched/timehist.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/num.h"
#include "cli/core/app.h"
#include "cli/core/fast_format.h"
#include "cli/kernel/input.h"

#define COMMAND "sched timehist"
#define MAX_COLUMNS 4096u
#define LINE_BYTES (2 * MAX_COLUMNS + 600)	/* without a call chain */
#define TIMES_WIDTH 34			/* of the three columns of times */
#define DEFAULT_NAME_WIDTH 30

/* ---- what is shown ---- */

static bool selects(void *arg, const struct tacho_sched_task *task)
{
	const struct timehist *t = arg;

	return (!t->pids.n || int_map_find(&t->pids, task->pid)) && (!t->tids.n || int_map_find(&t->tids, task->tid)) &&
	       (!t->prios.n_words || task->prio < 0 || cpuset_has(&t->prios, task->prio));
}

static int parse_numbers(struct int_map *map, const char *text, const char *option)
{
	struct str rest = str_of(text), word;
	uint32_t number;

	while (str_cut(&rest, ',', &word)) {
		if (num_u32(str_trim(word), &number) < 0) {
			message_text(COMMAND, "%s takes numbers, not '%.*s'", option, STR(word));
			return EXIT_USAGE;
		}
		if (int_map_put(map, number, 1) < 0)
			return EXIT_FAILED;
	}
	return 0;
}

static int parse_set(struct cpuset *set, const char *text, const char *option)
{
	if (!text || (cpuset_parse(set, str_of(text)) == 0 && !cpuset_empty(set)))
		return 0;
	message_text(COMMAND, "%s takes numbers and ranges such as 0-3,8, not '%s'", option, text);
	return EXIT_USAGE;
}

/* ---- lines ---- */

static void render_name(struct timehist_name *name, const struct tacho_sched_task *task)
{
	int n;

	if (task->idle)
		n = snprintf(name->text, sizeof(name->text), "%s", task->comm);
	else if (task->pid != task->tid && task->pid != UINT32_MAX)
		n = snprintf(name->text, sizeof(name->text), "%s[%" PRIu32 "/%" PRIu32 "]", task->comm, task->tid, task->pid);
	else
		n = snprintf(name->text, sizeof(name->text), "%s[%" PRIu32 "]", task->comm, task->tid);
	name->comm = task->comm;
	name->pid = task->pid;
	name->n = (uint32_t)min_of(n, TIMEHIST_NAME_BYTES - 1);
	memset(name->text + name->n, ' ', TIMEHIST_NAME_BYTES - name->n);
}

const struct timehist_name *timehist_name_slow(struct timehist *t, const struct tacho_sched_task *task)
{
	struct timehist_name *name;

	while (t->names.n <= task->index)
		if (!vec_add(&t->names))
			return NULL;
	name = t->names.v ? &t->names.v[task->index] : NULL;
	if (!name)
		return NULL;
	if (name->comm != task->comm || name->pid != task->pid)
		render_name(name, task);
	return name;
}

/* As "%8lu.%06lu". Consecutive events are mostly in the same second. */
static inline char *put_time(struct timehist *t, char *at, uint64_t ns)
{
	uint64_t seconds = ns / 1000000000;

	if (seconds != t->seconds || !t->n_seconds_text) {
		char *end = format_dec(t->seconds_text, seconds, 8, ' ');

		*end = '.';
		t->n_seconds_text = (size_t)(end + 1 - t->seconds_text);
		t->seconds = seconds;
	}
	memcpy(at, t->seconds_text, sizeof(t->seconds_text));
	return format_dec6(at + t->n_seconds_text, ns % 1000000000 / 1000);
}

/* As "%6lu.%03lu ". */
static inline char *put_ms(char *at, uint64_t ns)
{
	uint64_t us = ns / 1000, digits;
	unsigned blanks;

	if (us >= 100000000) {
		at = format_dec(at, us / 1000, 6, ' ');
		*at++ = '.';
		at = format_dec(at, us % 1000, 3, '0');
		*at++ = ' ';
		return at;
	}
	digits = format_digits8(us);
	blanks = (unsigned)__builtin_ctzll(digits | 1ull << 32) & ~7u;		/* bits of leading zeros */
	digits = (digits | 0x3030303030303030ull) ^ (0x1010101010101010ull & ((1ull << blanks) - 1));
	*at = ' ';
	format_word(at + 1, digits);
	format_word(at + 7, digits >> 40);
	at[6] = '.';
	at[10] = ' ';
	return at + 11;
}

/* As " [%04u] ". */
static inline char *put_cpu(char *at, uint32_t cpu)
{
	format_word(at, 0x20ull);
	at[1] = '[';
	format_word(at + 2, (format_digits8(cpu) | 0x3030303030303030ull) >> 32);
	at[6] = ']';
	at[7] = ' ';
	return at + 8;
}

/* The mark of one CPU, in the column of that CPU. */
static char *put_mark(const struct timehist *t, char *at, uint32_t cpu, char mark)
{
	at = format_blanks(at, t->n_columns + 2);
	if (cpu < t->n_columns)
		at[-1 - (ptrdiff_t)(t->n_columns - cpu)] = mark;
	return at;
}

/* A name, at least as wide as the column, which grows with the longest name. */
static inline char *put_name(struct timehist *t, char *at, const struct timehist_name *name)
{
	memcpy(at, name->text, TIMEHIST_NAME_BYTES);
	if (name->n > t->name_width)
		t->name_width = name->n;
	return at + t->name_width;
}

static inline char *put_start(struct timehist *t, char *at, const struct tacho_sched_event *ev, char mark, const struct timehist_name *name)
{
	at = put_time(t, at, ev->time);
	at = put_cpu(at, ev->cpu);
	if (t->o->cpu_visual)
		at = put_mark(t, at, ev->cpu, mark);
	*at++ = ' ';
	at = put_name(t, at, name);
	*at++ = ' ';
	return at;
}

static char *put_prio(char *at, int32_t prio)
{
	char text[16];
	int n = snprintf(text, sizeof(text), " %-8" PRId32 " ", prio);

	return prio < 0 ? format_bytes(at, " -        ", 10) : format_bytes(at, text, (size_t)n);
}

static char *put_next(const struct timehist *t, char *at, const struct tacho_sched_task *next, uint32_t cpu)
{
	char text[30];
	int n;

	if (next->idle)
		n = snprintf(text, sizeof(text), "next: swapper/%" PRIu32 "[0]", cpu);
	else
		n = snprintf(text, sizeof(text), "next: %s[%" PRIu32 "]", next->comm, next->tid);
	n = min_of(n, (int)sizeof(text) - 1);
	*at++ = ' ';
	at = format_bytes(at, text, (size_t)n);
	return format_blanks(at, t->name_width > (unsigned)n ? t->name_width - (unsigned)n : 0);
}

static void put_chain(struct timehist *t, const struct tacho_sched_event *ev)
{
	buf_puts(&t->out.text, "   ");
	timehist_put_chain(t, ev, " <- ", &t->out.text);
}

static int put_switch(struct timehist *t, const struct tacho_sched_event *ev)
{
	const struct sched_opts *o = t->o;
	const struct timehist_name *name = timehist_name(t, ev->task);
	char *start = buf_reserve(&t->out.text, LINE_BYTES), *at = start;

	if (!start || !name)
		return -ENOMEM;
	at = put_start(t, at, ev, ev->task->idle ? 'i' : 's', name);
	if (o->show_prio)
		at = put_prio(at, ev->task->prio);
	at = put_ms(at, ev->sleep_ns + ev->io_ns + ev->preempted_ns);
	at = put_ms(at, ev->delay_ns);
	at = put_ms(at, ev->run_ns);
	if (o->pre_migrations)
		at = put_ms(at, ev->pre_migration_ns);
	if (o->state)
		at = format_bytes(at, (const char[]){ ' ', ' ', ' ', ' ', ' ', ev->state, ' ' }, 7);
	if (o->next)
		at = put_next(t, at, ev->other, ev->cpu);
	if (o->wakeups && !o->next)
		at = format_blanks(at, t->name_width + 2);
	*at = '\n';
	t->out.text.n += (size_t)(at - start);
	if (t->chains && !ev->task->idle) {
		put_chain(t, ev);
		buf_putc(&t->out.text, '\n');
	} else {
		t->out.text.n++;
	}
	return 0;
}

/* The line of a wakeup or a migration. */
static int put_other(struct timehist *t, const struct tacho_sched_event *ev)
{
	bool wakeup = ev->kind == TACHO_SCHED_WAKEUP;
	/* The name of the second task may move that of the first. */
	const struct timehist_name *other = timehist_name(t, ev->other), *name = timehist_name(t, ev->task);
	char *start = buf_reserve(&t->out.text, LINE_BYTES), *at = start;

	other = other && name ? timehist_name(t, ev->other) : NULL;
	if (!start || !other)
		return -ENOMEM;
	at = put_start(t, at, ev, wakeup ? ' ' : 'm', name);
	at = format_blanks(at, TIMES_WIDTH);
	at = wakeup ? format_bytes(at, "awakened: ", 10) : format_bytes(at, "migrated: ", 10);
	at = format_bytes(at, other->text, other->n);
	if (!wakeup) {
		at = format_bytes(at, " cpu ", 5);
		at = format_dec(at, ev->from_cpu, 0, ' ');
		at = format_bytes(at, " => ", 4);
		at = format_dec(at, ev->to_cpu, 0, ' ');
	}
	*at++ = '\n';
	t->out.text.n += (size_t)(at - start);
	return 0;
}

/* ---- JSON ---- */

static void json_task(struct json *j, const char *key, const struct tacho_sched_task *task)
{
	json_key(j, key);
	json_begin(j, '{');
	json_member(j, "comm", str, task->comm);
	json_member(j, "tid", u64, task->tid);
	sched_json_id(j, "pid", task->pid);
	json_end(j);
}

static void json_chain(struct timehist *t, const struct tacho_sched_event *ev, struct json *j)
{
	scoped(buf_done) struct buf text = { 0 };
	struct str rest, name;

	timehist_put_chain(t, ev, "\n", &text);
	json_key(j, "callchain");
	json_begin(j, '[');
	rest = buf_view(&text);
	while (str_cut(&rest, '\n', &name))
		json_strn(j, name);
	json_end(j);
	j->out->bad = j->out->bad || text.bad;
}

static void json_switch(struct timehist *t, const struct tacho_sched_event *ev, struct json *j)
{
	const char state[2] = { ev->state, '\0' };

	json_member(j, "state", str, state);
	json_member(j, "preempted", bool, ev->preempted);
	sched_json_id(j, "prio", ev->task->prio < 0 ? UINT32_MAX : (uint32_t)ev->task->prio);
	json_key(j, "start_ns");
	if (ev->start_ns)
		json_u64(j, ev->start_ns);
	else
		json_null(j);
	json_member(j, "start_estimated", bool, ev->start_estimated);
	json_member(j, "run_ns", u64, ev->run_ns);
	json_member(j, "sleep_ns", u64, ev->sleep_ns);
	json_member(j, "io_ns", u64, ev->io_ns);
	json_member(j, "preempted_ns", u64, ev->preempted_ns);
	json_member(j, "delay_ns", u64, ev->delay_ns);
	json_member(j, "pre_migration_ns", u64, ev->pre_migration_ns);
	if (t->chains && !ev->task->idle)
		json_chain(t, ev, j);
}

static void json_event(struct timehist *t, const struct tacho_sched_event *ev)
{
	static const char *const kinds[] = { "switch", "wakeup", "migration" };
	static const char *const others[] = { "next", "awakened", "migrated" };
	struct json *j = &t->json;

	json_begin(j, '{');
	json_member(j, "kind", str, kinds[ev->kind]);
	json_member(j, "time_ns", u64, ev->time);
	json_member(j, "cpu", u64, ev->cpu);
	json_task(j, "task", ev->task);
	json_task(j, others[ev->kind], ev->other);
	if (ev->kind == TACHO_SCHED_SWITCH)
		json_switch(t, ev, j);
	if (ev->kind == TACHO_SCHED_MIGRATION) {
		json_member(j, "from_cpu", u64, ev->from_cpu);
		json_member(j, "to_cpu", u64, ev->to_cpu);
	}
	json_end(j);
}

/* ---- events ---- */

static int on_event(void *arg, const struct tacho_sched_event *ev)
{
	struct timehist *t = arg;
	int err = 0;

	if (t->o->idle_hist && t->chains && ev->chain.n)
		err = timehist_add_idle_chain(t, ev);
	if (err < 0 || !t->lines)
		return err;
	if ((ev->kind == TACHO_SCHED_WAKEUP && !t->o->wakeups) || (ev->kind == TACHO_SCHED_MIGRATION && !t->o->migrations) ||
	    (t->cpus.n_words && ev->kind == TACHO_SCHED_SWITCH && !cpuset_has(&t->cpus, (int)ev->cpu)))
		return 0;
	if (t->o->json)
		json_event(t, ev);
	else
		err = ev->kind == TACHO_SCHED_SWITCH ? put_switch(t, ev) : put_other(t, ev);
	return err < 0 ? err : sched_output_line(&t->out);
}

static void put_columns(const struct timehist *t, struct buf *out, char fill)
{
	for (uint32_t i = 0; i < t->n_columns; i++)
		buf_putc(out, fill ? fill : "0123456789abcdef"[i % 16]);
}

static void put_heading_row(const struct timehist *t, struct buf *out, const char *const words[8])
{
	const struct sched_opts *o = t->o;

	buf_printf(out, "%15s %6s ", words[0], words[1]);
	if (o->cpu_visual) {
		buf_putc(out, ' ');
		put_columns(t, out, words[2][0]);
		buf_putc(out, ' ');
	}
	buf_printf(out, " %-*s", (int)t->name_width, words[3]);
	if (o->show_prio)
		buf_printf(out, "  %-8s", words[4]);
	buf_printf(out, "  %9s  %9s  %9s", words[5], words[6], words[7]);
}

static void put_heading(const struct timehist *t, struct buf *out)
{
	const struct sched_opts *o = t->o;
	char dots[64];

	put_heading_row(t, out, (const char *const[]){ "time", "cpu", "", "task name", "prio", "wait time", "sch delay", "run time" });
	buf_printf(out, "%s%s\n", o->pre_migrations ? "  pre-mig time" : "", o->state ? "  state" : "");
	put_heading_row(t, out, (const char *const[]){ "", "", " ", "[tid/pid]", "", "(msec)", "(msec)", "(msec)" });
	buf_printf(out, "%s\n", o->pre_migrations ? "     (msec)" : "");
	memset(dots, '-', sizeof(dots));
	dots[t->name_width] = '\0';
	put_heading_row(t, out, (const char *const[]){ "---------------", "------", "-", dots, "--------", "---------", "---------",
						       "---------" });
	buf_printf(out, "%s%s\n", o->pre_migrations ? "  ---------" : "", o->state ? "  -----" : "");
}

/* ---- the command ---- */

static bool has_chains(const struct tacho_perfdata *pd)
{
	enum { SAMPLE_CALLCHAIN = 1 << 5 };

	for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(pd, i);

		if (str_starts(str_of(ev->name), "sched:sched_switch") && (ev->layout.sample_type & SAMPLE_CALLCHAIN))
			return true;
	}
	return false;
}

static void begin_output(struct timehist *t)
{
	struct json *j = &t->json;

	if (!t->o->json) {
		if (t->lines)
			put_heading(t, &t->out.text);
		return;
	}
	*j = (struct json){ .out = &t->out.text };
	json_begin(j, '{');
	json_member(j, "schema", str, "tacho.sched-timehist/1");
	json_key(j, "events");
	json_begin(j, '[');
}

static void end_output(struct timehist *t)
{
	if (t->o->json) {
		json_end(&t->json);
		timehist_json_summary(t, &t->json);
		json_end(&t->json);
		buf_putc(&t->out.text, '\n');
	} else if (t->o->summary || t->o->with_summary) {
		timehist_put_summary(t, &t->out.text);
	}
}

static int run_analysis(struct timehist *t, const struct tacho_sched_opts *opts, struct tacho_perfdata *pd)
{
	struct tacho_error e = { .column = -1 };
	int err = tacho_sched_new(&t->sched, pd, opts, &e), status, written;

	if (err < 0) {
		message_error(COMMAND, NULL, NULL, &e);
		return EXIT_FAILED;
	}
	if (!sched_output_open(&t->out, COMMAND, NULL))
		return EXIT_FAILED;
	begin_output(t);
	err = tacho_sched_run(t->sched, &e);
	if (!t->out.err && err != -ENOENT && err != -ENOMEM)
		end_output(t);
	else
		buf_clear(&t->out.text);
	written = sched_output_close(&t->out);
	if (written)
		return written;
	status = kernel_status(COMMAND, tacho_sched_totals(t->sched), err, &e);
	if (tacho_sched_n_missed(t->sched) && !tacho_sched_totals(t->sched)->lost)
		message_text(COMMAND, "%" PRIu64 " switches are not in the recording, so some run times are estimates",
			     tacho_sched_n_missed(t->sched));
	return status;
}

static int analyse(struct timehist *t, struct tacho_perfdata *pd)
{
	const struct sched_opts *o = t->o;
	struct tacho_symbols_opts symbols = { .size = sizeof(symbols), .symfs = o->symfs, .vmlinux = o->vmlinux,
					      .kallsyms = o->kallsyms };
	struct tacho_sched_opts opts = { .size = sizeof(opts), .statistics = o->summary || o->with_summary || o->json,
					 .idle_only = o->idle_hist, .switches_only = !o->wakeups && !o->migrations, .event = on_event, .arg = t };
	struct tacho_cpu_counts n_cpus;
	struct time_window window;

	if (!sched_time(COMMAND, o, pd, &window))
		return EXIT_USAGE;
	opts.from_ns = window.from_ns;
	opts.to_ns = window.to_ns;
	if (t->pids.n || t->tids.n || t->prios.n_words)
		opts.selects = selects;
	t->n_columns = tacho_perfdata_cpu_counts(pd, &n_cpus) < 0 ? 0 : min_of(n_cpus.online, MAX_COLUMNS);
	t->chains = o->call_graph && has_chains(pd) && (t->lines || o->idle_hist);
	if (t->chains)
		opts.symbols = &symbols;
	else if (!t->lines && !o->idle_hist)
		opts.event = NULL;
	return run_analysis(t, &opts, pd);
}

static int check_options(struct timehist *t)
{
	const struct sched_opts *o = t->o;
	int err;

	if (o->summary && (o->wakeups || o->next)) {
		message_text(COMMAND, "-s prints no lines of events, so it cannot be combined with -w or -n; -S prints both");
		return EXIT_USAGE;
	}
	if (o->summary && o->cpus) {
		message_text(COMMAND, "-s prints the tables of all CPUs, so it cannot be combined with -C, which selects lines");
		return EXIT_USAGE;
	}
	err = o->pids ? parse_numbers(&t->pids, o->pids, "-p") : 0;
	if (!err && o->tids)
		err = parse_numbers(&t->tids, o->tids, "-t");
	if (!err)
		err = parse_set(&t->cpus, o->cpus, "-C");
	return err ? err : parse_set(&t->prios, o->prios, "--prio");
}

static void timehist_done(struct timehist *t)
{
	timehist_chains_done(t);
	tacho_sched_free(t->sched);
	int_map_done(&t->pids);
	int_map_done(&t->tids);
	cpuset_done(&t->cpus);
	cpuset_done(&t->prios);
	vec_done(&t->names);
}

int sched_timehist_run(void *opts, int argc, char **argv)
{
	const struct sched_opts *o = opts;
	scoped(timehist_done) struct timehist t = { .o = o, .name_width = DEFAULT_NAME_WIDTH, .lines = !o->summary };
	struct tacho_perfdata *pd;
	int status;

	if (argc) {
		message_text(COMMAND, "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	status = check_options(&t);
	if (status)
		return status;
	pd = kernel_open(COMMAND, o->input, o->force);
	if (!pd)
		return EXIT_FAILED;
	status = analyse(&t, pd);
	tacho_perfdata_close(pd);
	return status;
}
