/*
 * `tacho stat`: counts events while a command runs, for running processes, CPUs, cgroups or the
 * whole machine. This file runs the steps in order; stat.h lists the files that implement them.
 */
#include "cli/stat/stat.h"

#include "base/io.h"
#include "cli/events/list_option.h"
#include "cli/core/app.h"
#include "cli/core/run_command.h"
#include "cli/stat/file.h"
#include "cli/core/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>

/* The state of one invocation, shared by all steps. */
struct stat_session {
	struct stat_opts *o;
	int argc;
	char **argv;
	struct tacho *t;
	struct stat_target target;
	struct stat_plan plan;
	struct tacho_evset *set;
	struct stat_rows rows;
	struct stat_runs runs;
	struct tacho_sums_opts sums;
	struct stat_report report;
	struct strlist metric_names;
	const struct stat_writer *writer;
	struct buf out;
	int out_fd;
	bool counts_command;	/* only the command is counted (no -p, -a, -C ...) */
	bool head_written;	/* the writer's header has been printed */
	struct stat_file file;	/* output file of `stat record` */
	int status, signal;
};

static int parse_cache_level(const char *text, int *out)
{
	*out = 0;
	if (!text || !*text)
		return 0;
	if ((text[0] | 32) == 'l' && text[1] >= '1' && text[1] <= '9' && !text[2]) {
		*out = text[1] - '0';
		return 0;
	}
	message_text("stat", "--per-cache takes a level like L2 or L3, not '%s'", text);
	return -EINVAL;
}

int stat_open_output(const struct stat_opts *o)
{
	int fd;

	if (o->log_fd >= 0 && fcntl(o->log_fd, F_GETFD) < 0) {
		message_text("stat", "--log-fd %d is not an open file descriptor", o->log_fd);
		return -EBADF;
	}
	if (!o->output)
		return o->log_fd >= 0 ? o->log_fd : STDERR_FILENO;
	fd = open(o->output, O_WRONLY | O_CREAT | O_CLOEXEC | (o->append ? O_APPEND : O_TRUNC), 0666);
	if (fd < 0) {
		fd = -errno;
		message_text("stat", "cannot write '%s': %s", o->output, strerror(-fd));
	}
	return fd;
}

/* The thousands separator of the user's locale; the C locale has none. */
char stat_group_separator(const struct stat_opts *o)
{
	static const char *const names[] = { "LC_ALL", "LC_NUMERIC", "LANG" };
	const char *locale = NULL;
	locale_t loc;
	char sep = 0;

	if (o->no_big_num)
		return 0;
	if (o->big_num)
		return ',';
	for (size_t i = 0; i < countof(names) && (!locale || !*locale); i++)
		locale = getenv(names[i]);
	if (!locale || !*locale || strcmp(locale, "C") == 0 || strncmp(locale, "C.", 2) == 0 ||
	    strcmp(locale, "POSIX") == 0)
		return 0;
	loc = newlocale(LC_NUMERIC_MASK, locale, (locale_t)0);
	if (loc) {
		const char *text = nl_langinfo_l(THOUSEP, loc);

		sep = text[0] && text[1] ? ' ' : text[0];	/* multi-byte: use a blank */
		freelocale(loc);
	}
	return sep;
}

const struct stat_writer *stat_chosen_writer(const struct stat_opts *o)
{
	if (o->separator)
		return &stat_csv;
	if (o->json_lines)
		return &stat_json_lines;
	return o->json ? &stat_json : &stat_text;
}

static int flush_output(struct stat_session *s)
{
	int err = 0;

	if (buf_failed(&s->out))
		err = -ENOMEM;
	else if (!s->o->quiet)
		err = io_write_all(s->out_fd, s->out.bytes, s->out.n);
	buf_clear(&s->out);
	if (err < 0)
		message_text("stat", "cannot write the result: %s", strerror(-err));
	return err;
}

static int collect_metric_names(struct stat_session *s)
{
	struct stat_rows *rows = &s->rows;

	strlist_done(&s->metric_names);
	for (size_t i = 0; i < rows->list.n; i++) {
		const struct stat_row *row = &rows->list.v[i];

		if (!stat_same_line(row, &rows->list.v[0]))
			continue;
		for (size_t m = 0; m < row->n_metrics; m++) {
			scoped(buf_done) struct buf name = { 0 };

			buf_printf(&name, "%s  %s", row->metrics[m].unit, row->metrics[m].name);
			if (buf_failed(&name) || strlist_add(&s->metric_names, buf_view(&name)) < 0)
				return -ENOMEM;
		}
	}
	s->report.metric_names = (const char *const *)s->metric_names.v;
	s->report.n_metric_names = s->metric_names.n;
	return 0;
}

/* Formats the rows, which cover `elapsed_s` seconds, with the writer and prints the result. */
static int print_report(struct stat_session *s, double elapsed_s)
{
	struct stat_report *r = &s->report;
	int err = stat_rows_finish(&s->rows, &s->plan, elapsed_s, r->per, s->o->metric_only);

	if (err == 0 && s->o->metric_only)
		err = collect_metric_names(s);
	if (err < 0)
		return err;
	r->rows = s->rows.list.v;
	r->n_rows = s->rows.list.n;
	r->notes = tacho_evset_notes(s->set, &r->n_notes);
	if (!s->head_written)
		s->writer->head(&s->out, r);
	s->head_written = true;
	s->writer->rows(&s->out, r);
	s->writer->foot(&s->out, r);
	return flush_output(s);
}

static int on_interval(void *arg, double time_s)
{
	struct stat_session *s = arg;
	double since = time_s - s->report.time_s;
	struct tacho_sums_opts sums = s->sums;
	int err;

	sums.since_last_read = true;
	tacho_evset_read(s->set, NULL);
	s->report.interval = true;
	s->report.time_s = time_s;
	err = s->o->record ? stat_file_round(&s->file, s->set, STAT_ROUND_INTERVAL, time_s) : 0;
	if (err == 0)
		err = stat_rows_make(&s->rows, s->set, &sums);
	if (err == 0 && s->o->interval_clear) {
		buf_puts(&s->out, "\033[H\033[2J");
		s->head_written = false;	/* the header was cleared with the screen */
	}
	return err < 0 ? err : print_report(s, since);
}

static void print_raw_counts(const struct stat_session *s)
{
	size_t n;
	const struct tacho_reading *r = tacho_evset_readings(s->set, &n);

	for (size_t i = 0; i < n; i++)
		fprintf(stderr, "%s: %llu %llu %llu\n", tacho_evset_event(s->set, r[i].event)->name,
			(unsigned long long)r[i].raw, (unsigned long long)r[i].enabled_ns,
			(unsigned long long)r[i].running_ns);
}

static void dump_attrs(const struct stat_session *s, FILE *to)
{
	for (size_t i = 0; i < tacho_evset_size(s->set); i++) {
		unsigned char attr[256] = { 0 };
		int size = tacho_evset_attr(s->set, i, attr, sizeof(attr));
		scoped(freep) char *text = size < 0 ? NULL : tacho_attr_text(attr, sizeof(attr));

		if (text)
			fprintf(to, "event %s\n%s\n", tacho_evset_event(s->set, i)->name, text);
	}
}

/* Computes the last rows: with -I, the incomplete last interval and the totals; otherwise the totals. */
static int finish_rows(struct stat_session *s, struct stat_loop *loop)
{
	struct stat_report *r = &s->report;
	int err = 0;

	if (s->o->interval_ms) {
		if (!s->o->interval_count && loop->elapsed_s - r->time_s > s->o->interval_ms * 1e-4)
			err = on_interval(s, loop->elapsed_s);
		else
			tacho_evset_read(s->set, NULL);
		r->interval = false;
		r->summary = true;
	} else {
		tacho_evset_read(s->set, NULL);
		if (s->o->record)
			err = stat_file_round(&s->file, s->set, STAT_ROUND_FINAL, loop->elapsed_s);
	}
	if (err == 0)
		err = stat_rows_make(&s->rows, s->set, &s->sums);
	r->elapsed_s = loop->elapsed_s;
	r->has_usage = loop->ended && s->counts_command;
	r->user_s = loop->usage.user_s;
	r->system_s = loop->usage.system_s;
	return err;
}

/* If no event can be counted because of permissions or limits, prints the reason and ends before the run
 * starts. */
static int check_opened(struct stat_session *s, int n_counting)
{
	const struct tacho_sum *sums;
	int n;

	if (n_counting > 0 || tacho_evset_size(s->set) == 0)
		return 0;
	n = tacho_evset_sums(s->set, &s->sums, &sums);
	for (int i = 0; i < n; i++) {
		if (sums[i].state != TACHO_NOT_PERMITTED && sums[i].state != TACHO_FAILED)
			continue;
		message_text("stat", "%s: %s", tacho_evset_event(s->set, sums[i].event)->name,
			     sums[i].why ? sums[i].why : "cannot be counted");
		return -EACCES;
	}
	return 0;
}

static int open_set(struct stat_session *s, struct tacho_command *cmd)
{
	struct tacho_evset_opts opts = s->target.evset;
	int pid = cmd ? tacho_command_pid(cmd) : 0;
	struct tacho_error e = { .column = -1 };
	int n;

	if (s->counts_command) {
		opts.pids = &pid;
		opts.n_pids = 1;
		opts.enable_on_exec = s->o->delay_ms == 0;
	}
	n = tacho_evset_open(s->set, &opts, &e);
	if (n < 0) {
		message_error("stat", NULL, NULL, &e);
		return n;
	}
	return check_opened(s, n);
}

static int start_counting(struct stat_session *s, struct stat_loop *loop)
{
	loop->start = stat_now();
	if (s->o->delay_ms == 0 && !s->counts_command)
		tacho_evset_start(s->set);
	else if (s->o->delay_ms != 0 && !s->o->quiet)
		fputs("Events disabled\n", stderr);
	return run_command_release(loop->command, "stat", &s->status);
}

static int run_hook(const char *command)
{
	int status;

	if (!command)
		return 0;
	status = system(command);
	if (status == 0)
		return 0;
	message_text("stat", "'%s' failed", command);
	return -EIO;
}

static int prepare_set(struct stat_session *s)
{
	int err;

	stat_plan_done(&s->plan);
	s->plan = (struct stat_plan){ .t = s->t, .target_cpu = s->target.evset.all_cpus ||
						    s->target.evset.cpus,
				      .core_wide = s->target.evset.all_cpus };
	tacho_evset_free(take(s->set));
	err = tacho_evset_new(&s->set, s->t);
	if (err == 0)
		err = stat_plan_set(s->o, s->set, &s->plan);
	if (err == 0 && s->writer == &stat_text && !s->plan.metrics.n && !s->plan.metric_sets.n && !s->o->interval_ms)
		err = stat_plan_implied_metrics(s->set, &s->plan);
	s->report.has_cgroups = s->plan.has_cgroups;
	s->report.hide_unsupported = s->plan.by_default && !s->o->verbose;
	return err;
}

/* Uncore events cannot be counted per task: if there are only such events, they are counted on all CPUs while
 * the command runs. */
static void widen_target(struct stat_session *s)
{
	size_t n = tacho_evset_size(s->set);

	for (size_t i = 0; i < n; i++)
		if (!tacho_evset_event(s->set, i)->system_wide)
			return;
	if (!s->counts_command || !n)
		return;
	s->counts_command = false;
	s->target.evset.all_cpus = s->plan.target_cpu = true;
}

static int run_counted(struct stat_session *s, struct stat_loop *loop)
{
	int err;

	widen_target(s);
	err = open_set(s, loop->command);

	if (err < 0)
		return err;
	if (s->o->verbose > 1)
		dump_attrs(s, stderr);
	if (s->o->dump_attr) {
		dump_attrs(s, stdout);
		return 0;
	}
	if (s->o->record)
		err = stat_file_begin(&s->file, s->set, s->sums.per);
	if (err == 0)
		err = start_counting(s, loop);
	if (err == 0)
		err = stat_file_take_name(&s->file);
	if (err == 0)
		err = stat_loop_run(loop);
	s->signal = loop->signal;
	if (err == 0)
		err = finish_rows(s, loop);
	if (err == 0 && s->o->record)
		err = stat_file_finish(&s->file);
	if (err == 0 && s->o->verbose)
		print_raw_counts(s);
	if (loop->command && err == 0)
		s->status = run_command_exit_status(loop->usage.status);
	return err;
}

static void free_command(struct tacho_command **cmd)
{
	tacho_command_free(*cmd);
}

static void close_control(struct stat_loop *loop)
{
	control_close(&loop->control);
}

/* Performs one run: creates the event set, forks the command, if there is one, and holds it before exec,
 * opens the counters, starts counting, and computes the rows. */
static int run_once(struct stat_session *s)
{
	scoped(free_command) struct tacho_command *cmd = NULL;
	scoped(close_control) struct stat_loop loop = {
		.opts = s->o, .on_interval = on_interval, .arg = s, .control = { .fd = -1, .ack = -1 },
		.usage.size = sizeof(loop.usage),
	};
	int err = run_hook(s->o->pre);

	if (err < 0)
		return err;
	err = prepare_set(s);
	if (err == 0)
		err = control_open(&loop.control, "stat", s->o->control);
	if (err < 0) {
		s->status = EXIT_USAGE;
		return err;
	}
	if (s->o->sync)
		sync();
	if (s->argc) {
		err = run_command_hold(&cmd, "stat", s->argv);
		if (err < 0)
			return err;
	}
	loop.command = cmd;
	loop.set = s->set;
	err = run_counted(s, &loop);
	return err < 0 ? err : run_hook(s->o->post);
}

static int print_runs(struct stat_session *s)
{
	struct stat_report *r = &s->report;

	r->runs = (unsigned)s->runs.elapsed.n;
	r->elapsed_each = s->runs.elapsed.v;
	r->elapsed_s = stat_mean(s->runs.elapsed.v, s->runs.elapsed.n, &r->elapsed_error_s);
	stat_runs_apply(&s->runs, &s->rows, s->set);
	return print_report(s, r->elapsed_s);
}

static int run_repeated(struct stat_session *s)
{
	const struct stat_opts *o = s->o;
	int err = 0;

	for (uint32_t i = 0; err == 0 && !s->signal && (o->repeat == 0 || i < o->repeat); i++) {
		err = run_once(s);
		if (err == 0)
			err = stat_runs_add(&s->runs, &s->rows, s->set, s->report.elapsed_s);
		if (err == 0 && o->repeat == 0) {
			err = print_runs(s);
			stat_runs_done(&s->runs);
			s->head_written = false;
		}
	}
	if (err == 0 && o->repeat)
		err = print_runs(s);
	return err;
}

/* --cputype, --pmu-filter and --hybrid-merge */
static int set_event_scope(struct stat_session *s)
{
	const struct stat_opts *o = s->o;
	const struct tacho_event_scope scope = { .size = sizeof(scope), .cpu_type = o->cpu_type,
						 .pmu = o->pmu_filter, .merge_cores = o->hybrid_merge };
	struct tacho_error e = { .column = -1 };
	int err = tacho_set_event_scope(s->t, &scope, &e);

	if (err < 0)
		message_error("stat", NULL, NULL, &e);
	if (err == -ENOENT)
		s->status = EXIT_USAGE;
	return err;
}

static int run_session(struct stat_session *s)
{
	struct tacho_error e = { .column = -1 };
	int err = tacho_open(&s->t, NULL, &e);

	if (err < 0) {
		message_error("stat", NULL, NULL, &e);
		return err;
	}
	err = set_event_scope(s);
	if (err < 0)
		return err;
	err = event_lists_add("stat", s->t, &s->o->event_lists);
	if (err < 0)
		return err;
	if (s->o->repeat != 1)
		return run_repeated(s);
	err = run_once(s);
	if (err < 0 || s->o->dump_attr)
		return err;
	if (s->o->interval_ms && !s->o->summary)
		return 0;
	s->report.runs = 1;
	return print_report(s, s->report.elapsed_s);
}

static void end_session(struct stat_session *s)
{
	stat_file_done(&s->file);
	stat_rows_done(&s->rows);
	stat_runs_done(&s->runs);
	stat_plan_done(&s->plan);
	tacho_evset_free(s->set);
	stat_target_done(&s->target);
	strlist_done(&s->metric_names);
	tacho_close(s->t);
	buf_done(&s->out);
	if (s->o->output && s->out_fd >= 0)
		close(s->out_fd);
}

static int count_run(void *opts, int argc, char **argv)
{
	struct stat_opts *o = opts;
	struct stat_session s = { .o = o, .argc = argc, .argv = argv, .out_fd = -1,
			     .file = { .opts = o, .path = o->record, .fd = -1, .out.fd = -1 } };
	int status = stat_check_options(o, argc), err;

	if (status)
		return status;
	if (o->separator && strcmp(o->separator, "\\t") == 0)	/* an unquoted \t from a shell */
		o->separator = "\t";
	s.writer = stat_chosen_writer(o);
	s.counts_command = argc && !o->pids && !o->tids && !o->user && !o->all_cpus && !o->cpus;
	s.sums = (struct tacho_sums_opts){ .size = sizeof(s.sums), .per = stat_chosen_per(o),
					   .no_merge = o->no_merge || o->no_aggr,
					   .no_scale = o->no_scale,
					   .percore_threads = o->percore_show_thread };
	err = parse_cache_level(o->per_cache, &s.sums.cache_level);
	if (err == 0)
		err = stat_target_init(o, argc, argv, &s.target);
	if (err < 0)
		status = EXIT_USAGE;
	if (err == 0) {
		s.out_fd = stat_open_output(o);
		err = min_of(s.out_fd, 0);
	}
	s.report = (struct stat_report){ .opts = o, .per = s.sums.per, .title = s.target.title,
					 .color = s.out_fd >= 0 && term_has_colors(s.out_fd),
					 .group_sep = stat_group_separator(o) };
	if (err == 0)
		err = run_session(&s);
	end_session(&s);
	message_if_out_of_memory("stat", err);
	if (err < 0)
		return status ? status : s.status ? s.status : EXIT_FAILED;
	if (s.signal) {
		signal(s.signal, SIG_DFL);
		raise(s.signal);
	}
	return s.status;
}

/* `stat record` has the options of `stat`, but -o names the perf.data file. */
static int record_run(void *opts, int argc, char **argv)
{
	struct stat_opts *o = opts;

	o->record = o->output ? o->output : "perf.data";
	o->output = NULL;
	if (strcmp(o->record, "-") == 0 && term_is_tty(STDOUT_FILENO)) {
		message_text("stat", "a recording cannot be written to a terminal; name a file with -o");
		return EXIT_USAGE;
	}
	return count_run(o, argc, argv);
}

static int by_run(struct stat_opts *o, int argc, char **argv)
{
	int status = stat_check_options(o, argc);

	if (status)
		return status;
	if (o->interval_ms || o->repeat != 1 || o->delay_ms || o->timeout_ms || o->no_aggr || o->per_thread || o->per_core ||
	    o->per_socket || o->per_die || o->per_node || o->per_cluster || o->per_cache || o->topdown || o->null_run ||
	    o->control || o->detailed) {
		message_text("stat", "--by counts events by a field; it cannot be combined with intervals, repetition, metrics or "
			     "other ways to aggregate");
		return EXIT_USAGE;
	}
	if (!event_args_have(&o->event_args, EVENT_ARG_EVENTS)) {
		message_text("stat", "--by needs the tracepoints to count: -e SYSTEM:NAME");
		return EXIT_USAGE;
	}
	return stat_by_field(o, argc, argv);
}

static int stat_run(void *opts, int argc, char **argv)
{
	static const struct command record = {
		.name = "stat", .args = "record [-o FILE] [--] [COMMAND [ARG...]]",
		.rows = stat_option_rows, .run = record_run, .stops_at_non_option = true,
	};

	if (argc && strcmp(argv[0], "record") == 0)
		return command_run_on(&record, opts, argc, argv);
	if (argc && strcmp(argv[0], "report") == 0)
		return command_run_on(&cmd_stat_report, opts, argc, argv);
	return ((struct stat_opts *)opts)->by ? by_run(opts, argc, argv) : count_run(opts, argc, argv);
}

const struct command cmd_stat = {
	.name = "stat",
	.summary = "count events while a command runs",
	.args = "[record|report] [--] [COMMAND [ARG...]]",
	.rows = stat_option_rows,
	.opts_size = sizeof(struct stat_opts),
	.defaults = stat_defaults,
	.run = stat_run,
	.done = stat_done,
	.stops_at_non_option = true,
	.complete_args = "command",
};
