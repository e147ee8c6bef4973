/*
 * `tacho timechart`: records switches of tasks and states of CPUs, and draws them over time.
 */
#include "cli/timechart/timechart.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/int_map.h"
#include "base/num.h"
#include "base/vec.h"
#include "cli/core/app.h"
#include "cli/kernel/input.h"
#include "cli/kernel/record.h"

#define CPUS_MAX 8192u

#define AT(field) offsetof(struct timechart_opts, field)
#define KIND_ROWS                                                                                        \
	{ OPT_FLAG, 'P', "power-only", AT(power_only), NULL, "only CPUs: idle states and frequencies" }, \
	{ OPT_FLAG, 'T', "tasks-only", AT(tasks_only), NULL, "only tasks" }

static int parse_time(const char *arg, uint64_t *ns, struct tacho_error *e)
{
	if (num_u64(str_of(arg), ns) < 0 && num_duration_ns(str_of(arg), ns) < 0)
		return error_set(e, -EINVAL, "'%s' is not a time such as 500, 10us or 1ms", arg);
	return 0;
}

static int set_min_time(void *opts, const char *arg, struct tacho_error *e)
{
	return parse_time(arg, &((struct timechart_opts *)opts)->io_min_ns, e);
}

static int set_merge_distance(void *opts, const char *arg, struct tacho_error *e)
{
	return parse_time(arg, &((struct timechart_opts *)opts)->io_merge_ns, e);
}

static const struct option_row timechart_rows[] = {
	KERNEL_INPUT_ROWS(struct timechart_opts),
	KERNEL_TIME_ROW(struct timechart_opts),
	{ OPT_STR, 'o', "output", AT(output), "FILE", "the picture (default output.svg); - is stdout", .complete = "file" },
	{ OPT_UINT, 'w', "width", AT(width), "N", "width of the time axis in pixels (default 1000)", .min = 100, .max = 20000 },
	KIND_ROWS,
	{ OPT_UINT, 'n', "proc-num", AT(n_tasks), "N", "the N tasks that run longest (default 15)", .min = 1, .max = 2000 },
	{ OPT_LIST, 'p', "process", AT(processes), "PROCESS", "these tasks, by name or ID, instead" },
	{ OPT_STR, 0, "highlight", AT(highlight), "NS|NAME", "mark tasks that run longer, or have this name" },
	{ OPT_FLAG, 't', "topology", AT(topology), NULL, "CPUs of a core next to each other" },
	NOTED(0, "symfs", "DIR", "the picture has no symbols"),
	{ OPT_GROUP, .help = "Recordings of input and output" },
	{ OPT_FLAG, 0, "io-skip-eagain", AT(io_skip_eagain), NULL, "leave out calls that ended with EAGAIN" },
	{ OPT_CALL, 0, "io-min-time", 0, "TIME", "draw calls at least that long: nanoseconds, or with us or ms (default 1ms)",
	  .call = set_min_time },
	{ OPT_CALL, 0, "io-merge-dist", 0, "TIME", "unite calls that are that close (default 1us)", .call = set_merge_distance },
	{ .kind = OPT_END },
};

static void timechart_defaults(void *opts)
{
	struct timechart_opts *o = opts;

	o->width = 1000;
	o->n_tasks = 15;
	o->output = "output.svg";
	o->io_min_ns = 1000000;
	o->io_merge_ns = 1000;
}

/* ---- the model ---- */

struct chart_reader {
	struct chart_model m;
	struct int_map tasks, cpus;	/* ID -> position */
};

static struct chart_row *row_of(struct chart_reader *r, bool of_cpu, uint32_t id, uint32_t *index)
{
	struct int_map *map = of_cpu ? &r->cpus : &r->tasks;
	struct chart_row *row;

	if (int_map_get(map, id, index))
		return of_cpu ? &r->m.cpus.v[*index] : &r->m.tasks.v[*index];
	*index = (uint32_t)(of_cpu ? r->m.cpus.n : r->m.tasks.n);
	row = of_cpu ? vec_add(&r->m.cpus) : vec_add(&r->m.tasks);
	if (!row || int_map_put(map, id, *index) < 0)
		return NULL;
	row->id = id;
	return row;
}

/* The end of a span as it is drawn. */
static uint64_t drawn_end(const struct chart_model *m, const struct tacho_timechart_span *s)
{
	uint64_t end = s->from_ns + m->o->io_min_ns;

	return chart_is_io(s->kind) && end > s->from_ns ? max_of(s->to_ns, end) : s->to_ns;
}

/* The errno of a result; 0: it is not an error. */
static int32_t error_of(int64_t result)
{
	enum { ERRNO_MAX = 4095 };

	return result < 0 && result >= -ERRNO_MAX ? (int32_t)-result : 0;
}

/* Whether a call continues the task's last one of its kind: the same file, the same error, and close to it. */
static struct chart_span *find_near(struct chart_model *m, const struct chart_row *row, const struct tacho_timechart_span *s)
{
	struct chart_span *last = row->last_io[s->kind] ? &m->spans.v[row->last_io[s->kind] - 1] : NULL;
	int32_t error = error_of(s->result);

	return last && last->fd == s->fd && last->error == error && last->from_ns <= s->from_ns &&
	       (s->from_ns <= last->to_ns || s->from_ns - last->to_ns <= m->o->io_merge_ns) ? last : NULL;
}

static void count_io(struct chart_model *m, struct chart_row *row, struct chart_span *span, const struct tacho_timechart_span *s)
{
	/* Results of sync and poll are not bytes. */
	bool moves_data = s->kind != TACHO_TIMECHART_SYNC && s->kind != TACHO_TIMECHART_POLL && s->result > 0;

	span->n_calls++;
	span->call_ns += s->to_ns - s->from_ns;
	span->to_ns = max_of(span->to_ns, drawn_end(m, s));
	span->bytes += moves_data ? (uint64_t)s->result : 0;
	row->io_bytes += moves_data ? (uint64_t)s->result : 0;
	m->max_bytes = max_of(m->max_bytes, span->bytes);
	m->has_io = true;
}

static int add_task_span(struct chart_reader *r, const struct tacho_timechart_span *s, uint32_t *index)
{
	struct chart_row *row = row_of(r, false, s->tid, index);
	uint64_t ns = s->to_ns - s->from_ns;

	if (!row)
		return -ENOMEM;
	if (!row->comm || strcmp(row->comm, s->comm) != 0) {
		free(row->comm);
		row->comm = str_dup(str_of(s->comm));
		if (!row->comm)
			return -ENOMEM;
	}
	row->run_ns += s->kind == TACHO_TIMECHART_RUN ? ns : 0;
	row->wait_ns += s->kind == TACHO_TIMECHART_WAIT ? ns : 0;
	row->blocked_ns += s->kind == TACHO_TIMECHART_BLOCKED ? ns : 0;
	return 0;
}

static struct chart_span *new_span(struct chart_model *m, const struct tacho_timechart_span *s, uint32_t task)
{
	struct chart_span *slot = vec_next(&m->spans);

	if (!slot)
		return NULL;
	*slot = (struct chart_span){ .kind = s->kind, .from_ns = s->from_ns, .to_ns = s->to_ns, .cpu = s->cpu, .value = s->value, .task = task };
	if (chart_is_io(s->kind)) {
		slot->fd = s->fd;
		slot->error = error_of(s->result);
		m->tasks.v[task].last_io[s->kind] = (uint32_t)m->spans.n;
	}
	return slot;
}

static int add_span(void *arg, const struct tacho_timechart_span *s)
{
	struct chart_reader *r = arg;
	struct chart_span *slot;
	uint32_t task = 0, unused;
	bool is_task = chart_of_task(s->kind);

	if (s->cpu >= CPUS_MAX || (r->m.o->io_skip_eagain && chart_is_io(s->kind) && s->result == -EAGAIN))
		return 0;
	if (is_task && add_task_span(r, s, &task) < 0)
		return -ENOMEM;
	if ((!is_task || s->kind == TACHO_TIMECHART_RUN) && !row_of(r, true, s->cpu, &unused))
		return -ENOMEM;
	slot = chart_is_io(s->kind) ? find_near(&r->m, &r->m.tasks.v[task], s) : NULL;
	if (!slot)
		slot = new_span(&r->m, s, task);
	if (!slot)
		return -ENOMEM;
	if (chart_is_io(s->kind))
		count_io(&r->m, &r->m.tasks.v[task], slot, s);
	return 0;
}

/* ---- what is shown ---- */

static int by_run_time(const void *a, const void *b, void *arg)
{
	const struct chart_model *m = arg;
	const struct chart_row *x = &m->tasks.v[*(const uint32_t *)a], *y = &m->tasks.v[*(const uint32_t *)b];

	if (m->has_io && x->io_bytes != y->io_bytes)
		return x->io_bytes > y->io_bytes ? -1 : 1;
	return x->run_ns != y->run_ns ? (x->run_ns > y->run_ns ? -1 : 1) : x->id < y->id ? -1 : x->id > y->id;
}

static bool is_chosen(const struct timechart_opts *o, const struct chart_row *t)
{
	for (size_t i = 0; i < o->processes.n; i++) {
		uint32_t id;

		if (!strcmp(o->processes.v[i], t->comm) || (num_u32(str_of(o->processes.v[i]), &id) == 0 && id == t->id))
			return true;
	}
	return !o->processes.n;
}

static void highlight(const struct timechart_opts *o, struct chart_row *t)
{
	uint64_t ns;

	if (o->highlight)
		t->is_highlighted = num_u64(str_of(o->highlight), &ns) == 0 ? t->run_ns >= ns : !strcmp(o->highlight, t->comm);
}

static int choose_tasks(struct chart_model *m)
{
	scoped(freep) uint32_t *order = calloc(max_of(m->tasks.n, (size_t)1), sizeof(*order));
	uint32_t n = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < m->tasks.n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, m->tasks.n, sizeof(*order), by_run_time, m);
	for (size_t i = 0; i < m->tasks.n && (n < m->o->n_tasks || m->o->processes.n); i++) {
		struct chart_row *t = &m->tasks.v[order[i]];

		if (!is_chosen(m->o, t))
			continue;
		t->is_shown = true;
		t->lane = m->n_lanes++;
		highlight(m->o, t);
		n++;
	}
	return 0;
}

/* The position of a CPU: its number, or with --topology by socket and core. */
static uint64_t cpu_order(const struct tacho_perfdata *pd, bool topology, uint32_t cpu)
{
	struct tacho_cpu_topology t;
	struct tacho_cpu_position p;

	if (!topology || tacho_perfdata_topology(pd, &t) < 0 || !tacho_topology_cpu(&t, cpu, &p))
		return cpu;
	return (uint64_t)(uint32_t)p.socket << 48 | (uint64_t)(uint16_t)p.core << 32 | cpu;
}

static void choose_cpus(struct chart_model *m, const struct tacho_perfdata *pd)
{
	for (size_t n = 0; n < m->cpus.n; n++) {
		struct chart_row *next = NULL;

		for (size_t i = 0; i < m->cpus.n; i++)
			if (!m->cpus.v[i].is_shown && (!next || cpu_order(pd, m->o->topology, m->cpus.v[i].id) <
							       cpu_order(pd, m->o->topology, next->id)))
				next = &m->cpus.v[i];
		if (!next)
			return;
		next->is_shown = true;
		next->lane = m->n_lanes++;
	}
}

static int by_start(const void *a, const void *b)
{
	const struct chart_span *x = a, *y = b;

	return x->from_ns != y->from_ns ? (x->from_ns < y->from_ns ? -1 : 1) : x->to_ns < y->to_ns ? -1 : x->to_ns > y->to_ns;
}

/* With -P, tasks do not make CPUs busy. */
static int arrange(struct chart_model *m, const struct tacho_perfdata *pd)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->spans.n; i++)
		if (m->o->power_only ? !chart_of_task(m->spans.v[i].kind) : !m->o->tasks_only || chart_of_task(m->spans.v[i].kind))
			m->spans.v[kept++] = m->spans.v[i];
	m->spans.n = kept;
	if (kept)
		qsort(m->spans.v, kept, sizeof(*m->spans.v), by_start);
	if (!m->o->tasks_only)
		choose_cpus(m, pd);
	return m->o->power_only ? 0 : choose_tasks(m);
}

/* ---- the command ---- */

static int write_picture(const struct timechart_opts *o, struct buf *out)
{
	bool to_stdout = !strcmp(o->output, "-");
	int fd = to_stdout ? STDOUT_FILENO : open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), status;

	if (fd < 0) {
		message_text("timechart", "cannot write %s: %s", o->output, strerror(errno));
		buf_done(out);
		return EXIT_FAILED;
	}
	status = print_fd("timechart", fd, o->output, out);
	if (!to_stdout)
		close(fd);
	return status;
}

static int draw(struct chart_reader *r, const struct kernel_source *source)
{
	const struct timechart_opts *o = r->m.o;
	struct buf out = { 0 };
	int status;

	if (arrange(&r->m, source->pd) < 0) {
		message_text("timechart", "out of memory");
		return EXIT_FAILED;
	}
	timechart_draw(&r->m, &out);
	status = write_picture(o, &out);
	if (status == 0)
		message_text("timechart", "written %.3f seconds of %zu tasks and %zu CPUs to %s", (double)(r->m.to_ns - r->m.from_ns) / 1e9,
			     r->m.tasks.n, r->m.cpus.n, o->output);
	return status;
}

static int draw_recording(const struct timechart_opts *o)
{
	struct tacho_kernel_totals totals = { .size = sizeof(totals) };
	struct chart_reader r = { .m = { .o = o } };
	struct tacho_error e = { .column = -1 };
	struct kernel_source source;
	int status, err;

	if (kernel_source_open(&source, "timechart", &o->source, false) < 0)
		return EXIT_FAILED;
	err = tacho_timechart(source.pd, TACHO_OPTS(tacho_timechart_opts, .from_ns = source.time.from_ns, .to_ns = source.time.to_ns,
						     .span = add_span, .arg = &r), &totals, &e);
	status = kernel_status("timechart", &totals, err, &e);
	if (err != -ENOENT && err != -ENOMEM) {
		int drawn;

		r.m.from_ns = totals.first_ns;
		r.m.to_ns = max_of(totals.last_ns, totals.first_ns);
		drawn = draw(&r, &source);
		status = max_of(status, drawn);
	}
	for (size_t i = 0; i < r.m.tasks.n; i++)
		free(r.m.tasks.v[i].comm);
	vec_done(&r.m.tasks);
	vec_done(&r.m.cpus);
	vec_done(&r.m.spans);
	int_map_done(&r.tasks);
	int_map_done(&r.cpus);
	kernel_source_done(&source);
	return status;
}

static const struct option_row record_rows[] = {
	KIND_ROWS,
	{ OPT_STR, 'o', "output", AT(record_output), "FILE", "the recording (default perf.data)", .complete = "file" },
	{ OPT_FLAG, 'I', "io-only", AT(io_only), NULL, "record system calls of input and output instead" },
	REFUSED('g', "callchain", "the picture has no call chains"),
	{ .kind = OPT_END },
};

/* The recorder's own calls are left out: each of them would make more of them. */
static int record_io(const struct timechart_opts *o, int argc, char **argv)
{
	const char *const args[] = { "-a", "-R", "-c", "1", "--exclude-perf", o->record_output ? "-o" : NULL, o->record_output, NULL };
	struct { struct kernel_record_event *v; size_t n, cap; } events = { 0 };
	struct { char (*v)[64]; size_t n, cap; } names = { 0 };
	const char *call;
	int status = EXIT_FAILED;
	bool failed = false;

	for (size_t i = 0; (call = tacho_timechart_call(i)) != NULL && !failed; i++)
		for (int is_exit = 0; is_exit < 2 && !failed; is_exit++) {
			char (*name)[64] = vec_add(&names);

			failed = !name || !vec_add(&events);
			if (!failed)
				snprintf(*name, sizeof(*name), "syscalls:sys_%s_%s", is_exit ? "exit" : "enter", call);
		}
	failed = failed || !vec_add(&events);
	for (size_t i = 0; !failed && i < names.n; i++)
		events.v[i] = (struct kernel_record_event){ .name = names.v[i], .optional = i > 1 };	/* not all architectures have all */
	if (failed)
		message_text("timechart record", "out of memory");
	else
		status = kernel_record(args, events.v, argc, argv);
	vec_done(&names);
	vec_done(&events);
	return status;
}

static int record_run(void *opts, int argc, char **argv)
{
	static const struct kernel_record_event tasks[] = {
		{ .name = "sched:sched_switch" }, { .name = "sched:sched_waking", .instead = "sched:sched_wakeup" },
	}, power[] = {
		{ .name = "power:cpu_idle", .optional = true }, { .name = "power:cpu_frequency", .optional = true },
	};
	const struct timechart_opts *o = opts;
	const char *const args[] = { "-a", "-R", "-c", "1", o->record_output ? "-o" : NULL, o->record_output, NULL };
	struct kernel_record_event events[countof(tasks) + countof(power) + 1] = { 0 };
	size_t n = 0;

	if (o->power_only + o->tasks_only + o->io_only > 1) {
		message_text("timechart record", "only one of -P, -T and -I can be given");
		return EXIT_USAGE;
	}
	if (o->io_only)
		return record_io(o, argc, argv);
	for (size_t i = 0; !o->power_only && i < countof(tasks); i++)
		events[n++] = tasks[i];
	for (size_t i = 0; !o->tasks_only && i < countof(power); i++)
		events[n++] = power[i];
	return kernel_record(args, events, argc, argv);
}

static int timechart_run(void *opts, int argc, char **argv)
{
	const struct timechart_opts *o = opts;

	if (argc) {
		message_text("timechart", "'%s' is not expected here: 'timechart record' records", argv[0]);
		return EXIT_USAGE;
	}
	if (o->power_only && o->tasks_only) {
		message_text("timechart", "-P and -T cannot be used together");
		return EXIT_USAGE;
	}
	return draw_recording(o);
}

static const struct command cmd_timechart_record = {
	.name = "timechart record", .summary = "record switches of tasks and states of CPUs", .args = "[--] [COMMAND [ARG...]]",
	.rows = record_rows, .opts_size = sizeof(struct timechart_opts), .run = record_run, .stops_at_non_option = true,
};
static const struct command *const timechart_verbs[] = { &cmd_timechart_record, NULL };

const struct command cmd_timechart = {
	.name = "timechart", .summary = "draw what CPUs and tasks did over time", .args = "[record] [OPTIONS]", .rows = timechart_rows,
	.opts_size = sizeof(struct timechart_opts), .defaults = timechart_defaults, .run = timechart_run, .verbs = timechart_verbs,
	.stops_at_non_option = true, .complete_args = "record",
};
