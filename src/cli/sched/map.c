/*
 * `tacho sched map`: a line per switch, with a column per CPU that shows the short name of the task that runs there.
 *
 *	  *A0 .     12638.938198 secs A0 => migration/0:18
 *	   A0 *B0   12638.942126 secs B0 => rcu_preempt:15
 *
 * The asterisk marks the CPU of the switch, a dot an idle CPU. With --task-name, other tasks are shown as a dash, and only
 * switches to and from the named tasks have a line.
 */
#include "cli/sched/sched.h"

#include <errno.h>
#include <inttypes.h>

#include "base/cpuset.h"
#include "base/error.h"
#include "base/int_map.h"
#include "base/num.h"
#include "base/vec.h"
#include "cli/core/terminal.h"
#include "cli/kernel/input.h"
#include "cli/sched/output.h"

#define COMMAND "sched map"
#define COLOR_OF_TASKS "34"		/* blue */
#define COLOR_OF_CPUS "41"		/* on red */

struct map_task {
	char letters[3];		/* "A0"; empty: not shown yet */
	const char *announced;		/* the name that its last "A0 => NAME" had */
	bool colored;
};

struct map_column {			/* a CPU */
	uint32_t cpu;
	const struct tacho_sched_task *task;	/* NULL: not known yet */
	bool seen;
};

struct sched_map {
	const struct sched_opts *o;
	struct sched_output out;
	struct json json;
	struct cpuset cpus, color_cpus;
	struct int_map color_tids;
	struct strlist names;		/* of --task-name */
	struct { struct map_task *v; size_t n, cap; } tasks;	/* by index */
	struct { struct map_column *v; size_t n, cap; } columns;	/* by CPU; with --compact in the order of appearance */
	struct int_map column_of;	/* with --compact: CPU -> index */
	char next_letter, next_digit;
	bool idle_announced;		/* all idle tasks are one */
	bool colors;
};

/* ---- tasks ---- */

static bool name_matches(const struct sched_map *m, const struct tacho_sched_task *task)
{
	for (size_t i = 0; i < m->names.n; i++)
		if (m->o->fuzzy ? strstr(task->comm, m->names.v[i]) != NULL : !strcmp(task->comm, m->names.v[i]))
			return true;
	return !m->names.n;
}

static struct map_task *map_task(struct sched_map *m, const struct tacho_sched_task *task)
{
	while (m->tasks.n <= task->index)
		if (!vec_add(&m->tasks))
			return NULL;
	return &m->tasks.v[task->index];
}

/* A0 to Z0, A1 to Z1 and so on; after Z9, letters are given again. */
static void give_letters(struct sched_map *m, struct map_task *t)
{
	t->letters[0] = m->next_letter;
	t->letters[1] = m->next_digit;
	if (m->next_letter++ < 'Z')
		return;
	m->next_letter = 'A';
	m->next_digit = m->next_digit < '9' ? (char)(m->next_digit + 1) : '0';
}

/* What a column shows of a task. */
static const char *letters_of(struct sched_map *m, const struct tacho_sched_task *task)
{
	struct map_task *t;

	if (!task)
		return "  ";
	if (task->idle)
		return ". ";
	if (!name_matches(m, task))
		return "- ";
	t = map_task(m, task);
	if (!t) {
		m->out.text.bad = true;		/* out of memory */
		return "- ";
	}
	if (!t->letters[0])
		give_letters(m, t);
	t->colored = int_map_find(&m->color_tids, task->tid);
	return t->letters;
}

/* ---- columns ---- */

static struct map_column *add_column(struct sched_map *m, uint32_t cpu)
{
	struct map_column *c = vec_add(&m->columns);

	if (c)
		c->cpu = cpu;
	return c;
}

static struct map_column *compact_column(struct sched_map *m, uint32_t cpu)
{
	struct map_column *c;
	uint32_t index;

	if (int_map_get(&m->column_of, cpu, &index))
		return &m->columns.v[index];
	c = add_column(m, cpu);
	return c && int_map_put(&m->column_of, cpu, (uint32_t)(m->columns.n - 1)) == 0 ? c : NULL;
}

static struct map_column *column_of(struct sched_map *m, uint32_t cpu)
{
	if (m->o->compact)
		return compact_column(m, cpu);
	while (m->columns.n <= cpu)
		if (!add_column(m, (uint32_t)m->columns.n))
			return NULL;
	return &m->columns.v[cpu];
}

static bool shows_cpu(const struct sched_map *m, uint32_t cpu)
{
	return !m->cpus.n_words || cpuset_has(&m->cpus, (int)cpu);
}

static void put_styled(struct sched_map *m, const char *color, const char *text)
{
	struct buf *out = &m->out.text;

	if (m->colors && color)
		buf_printf(out, "\033[%sm%s\033[m", color, text);
	else
		buf_puts(out, text);
}

/* "*A0 " */
static void put_plain_column(struct sched_map *m, const struct map_column *c, uint32_t cpu)
{
	const char *letters = letters_of(m, c->task);

	buf_put(&m->out.text, (const char[]){ c->cpu == cpu ? '*' : ' ', letters[0], letters[1], ' ' }, 4);
}

static void put_columns(struct sched_map *m, uint32_t cpu)
{
	for (size_t i = 0; i < m->columns.n; i++) {
		const struct map_column *c = &m->columns.v[i];
		const char *letters, *color_cpu, *color_task;

		if (!shows_cpu(m, c->cpu))
			continue;
		if (!m->colors) {
			put_plain_column(m, c, cpu);
			continue;
		}
		letters = letters_of(m, c->task);
		color_cpu = cpuset_has(&m->color_cpus, (int)c->cpu) ? COLOR_OF_CPUS : NULL;
		color_task = c->task && c->task->index < m->tasks.n && m->tasks.v[c->task->index].colored ? COLOR_OF_TASKS : NULL;
		put_styled(m, color_cpu, c->cpu == cpu ? "*" : " ");
		put_styled(m, color_task, letters);
		buf_putc(&m->out.text, ' ');
	}
}

/* ---- lines ---- */

/* "A0 => NAME:TID" when the task appears first, or has another name. */
static void put_announcement(struct sched_map *m, const struct tacho_sched_task *task, const char *letters)
{
	struct map_task *t = map_task(m, task);

	if (!t || t->announced == task->comm || !name_matches(m, task) || (task->idle && m->idle_announced))
		return;
	t->announced = task->comm;
	m->idle_announced |= task->idle;
	put_styled(m, t->colored ? COLOR_OF_TASKS : NULL, letters);
	if (task->idle)
		buf_puts(&m->out.text, " => swapper:0");
	else
		buf_printf(&m->out.text, " => %s:%" PRIu32, task->comm, task->tid);
}

static void put_line(struct sched_map *m, const struct tacho_sched_event *ev, bool is_first)
{
	struct buf *out = &m->out.text;

	buf_puts(out, "  ");
	put_columns(m, ev->cpu);
	buf_puts(out, "  ");
	sched_put_time(out, ev->time, 12);
	buf_puts(out, " secs ");
	put_announcement(m, ev->other, letters_of(m, ev->other));
	if (m->o->compact && is_first)
		buf_printf(out, " (CPU %" PRIu32 ")", ev->cpu);
	buf_putc(out, '\n');
}

static void put_json(struct sched_map *m, const struct tacho_sched_event *ev)
{
	struct json *j = &m->json;

	json_begin(j, '{');
	json_member(j, "time_ns", u64, ev->time);
	json_member(j, "cpu", u64, ev->cpu);
	json_member(j, "name", strn, str_trim(str_of(letters_of(m, ev->other))));
	json_member(j, "comm", str, ev->other->comm);
	json_member(j, "tid", u64, ev->other->tid);
	json_end(j);
}

static int on_event(void *arg, const struct tacho_sched_event *ev)
{
	struct sched_map *m = arg;
	struct map_column *c;
	bool is_first;

	if (ev->kind != TACHO_SCHED_SWITCH)
		return 0;
	c = column_of(m, ev->cpu);
	if (!c)
		return -ENOMEM;
	is_first = !c->seen;
	c->seen = true;
	c->task = ev->other;
	if (!shows_cpu(m, ev->cpu) || (m->names.n && !name_matches(m, ev->other) && !name_matches(m, ev->task)))
		return 0;
	if (m->o->json)
		put_json(m, ev);
	else
		put_line(m, ev, is_first);
	return sched_output_line(&m->out);
}

/* ---- the command ---- */

static int parse_options(struct sched_map *m)
{
	const struct sched_opts *o = m->o;
	struct str rest = str_of(o->color_pids), word;
	uint32_t tid;

	if ((o->cpus && (cpuset_parse(&m->cpus, str_of(o->cpus)) < 0 || cpuset_empty(&m->cpus))) ||
	    (o->color_cpus && cpuset_parse(&m->color_cpus, str_of(o->color_cpus)) < 0)) {
		message_text(COMMAND, "--cpus and --color-cpus take numbers and ranges such as 0-3,8");
		return EXIT_USAGE;
	}
	while (o->color_pids && str_cut(&rest, ',', &word)) {
		if (num_u32(str_trim(word), &tid) < 0) {
			message_text(COMMAND, "--color-pids takes numbers, not '%.*s'", STR(word));
			return EXIT_USAGE;
		}
		if (int_map_put(&m->color_tids, tid, 1) < 0)
			return EXIT_FAILED;
	}
	rest = str_of(o->task_names);
	while (o->task_names && str_cut(&rest, ',', &word))
		if (word.n && strlist_add(&m->names, str_trim(word)) < 0)
			return EXIT_FAILED;
	if (!o->fuzzy || m->names.n)
		return 0;
	message_text(COMMAND, "--fuzzy-name needs --task-name");
	return EXIT_USAGE;
}

static int write_map(struct sched_map *m, struct tacho_sched *s)
{
	struct tacho_error e = { .column = -1 };
	int err, status;

	m->json = (struct json){ .out = &m->out.text };
	if (m->o->json) {
		json_begin(&m->json, '{');
		json_member(&m->json, "schema", str, "tacho.sched-map/1");
		json_key(&m->json, "switches");
		json_begin(&m->json, '[');
	}
	err = tacho_sched_run(s, &e);
	if (err == -ENOENT || err == -ENOMEM)
		buf_clear(&m->out.text);
	else if (m->o->json) {
		json_end(&m->json);
		json_end(&m->json);
		buf_putc(&m->out.text, '\n');
	}
	status = sched_output_close(&m->out);
	return status ? status : kernel_status(COMMAND, tacho_sched_totals(s), err, &e);
}

static int analyse(struct sched_map *m, struct tacho_perfdata *pd)
{
	struct tacho_sched_opts opts = { .size = sizeof(opts), .switches_only = true, .event = on_event, .arg = m };
	struct tacho_error e = { .column = -1 };
	struct tacho_sched *s = NULL;
	struct time_window window;
	int status = EXIT_FAILED;

	if (!sched_time(COMMAND, m->o, pd, &window))
		return EXIT_USAGE;
	opts.from_ns = window.from_ns;
	opts.to_ns = window.to_ns;
	if (tacho_sched_new(&s, pd, &opts, &e) < 0)
		message_error(COMMAND, NULL, NULL, &e);
	else if (sched_output_open(&m->out, COMMAND, NULL))
		status = write_map(m, s);
	tacho_sched_free(s);
	return status;
}

static void map_view_done(struct sched_map *m)
{
	cpuset_done(&m->cpus);
	cpuset_done(&m->color_cpus);
	int_map_done(&m->color_tids);
	int_map_done(&m->column_of);
	strlist_done(&m->names);
	vec_done(&m->tasks);
	vec_done(&m->columns);
}

int sched_map_run(void *opts, int argc, char **argv)
{
	const struct sched_opts *o = opts;
	scoped(map_view_done) struct sched_map m = { .o = o, .next_letter = 'A', .next_digit = '0' };
	struct tacho_perfdata *pd;
	int status;

	if (argc) {
		message_text(COMMAND, "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	status = parse_options(&m);
	if (status)
		return status;
	m.colors = term_has_colors(STDOUT_FILENO);
	pd = kernel_open(COMMAND, o->input, o->force);
	if (!pd)
		return EXIT_FAILED;
	status = analyse(&m, pd);
	tacho_perfdata_close(pd);
	return status;
}
