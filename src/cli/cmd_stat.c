/*
 * `tacho stat`: counts events while a command runs, for running processes, CPUs, cgroups or the
 * whole machine. This file holds the options and the order of things; see cli/stat.h for where
 * the steps are.
 */
#include "cli/stat.h"

#include "base/io.h"
#include "cli/term.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

static int add_word(void *opts, enum stat_word_kind kind, const char *text)
{
	struct stat_opts *o = opts;
	struct stat_word *w = vec_add(&o->words);

	if (!w)
		return -ENOMEM;
	*w = (struct stat_word){ kind, text };
	return 0;
}

static int add_events(void *opts, const char *arg, struct tacho_error *e)
{
	(void)e;
	return add_word(opts, WORD_EVENTS, arg);
}

static int add_metrics(void *opts, const char *arg, struct tacho_error *e)
{
	(void)e;
	return add_word(opts, WORD_METRICS, arg);
}

static int add_cgroups(void *opts, const char *arg, struct tacho_error *e)
{
	(void)e;
	return add_word(opts, WORD_CGROUPS, arg);
}

static int add_filter(void *opts, const char *arg, struct tacho_error *e)
{
	(void)e;
	return add_word(opts, WORD_FILTER, arg);
}

#define AT(field) offsetof(struct stat_opts, field)
static const struct option_row stat_rows[] = {
	{ OPT_GROUP, .help = "What to count" },
	{ OPT_CALL, 'e', "event", .arg = "EVENTS", .call = add_events, .complete = "event",
	  .help = "count these events (see tacho-events(7)); may be repeated" },
	{ OPT_CALL, 'M', "metrics", .arg = "METRICS", .call = add_metrics, .complete = "metric",
	  .help = "count what these metrics or metric groups need, and show them" },
	{ OPT_COUNT, 'd', "detailed", AT(detailed),
	  .help = "count caches too; -dd TLBs and -ddd prefetches as well" },
	{ OPT_FLAG, 0, "topdown", AT(topdown), .help = "break pipeline slots down, level 1" },
	{ OPT_UINT, 0, "td-level", AT(topdown_level), "N", "how deep --topdown goes" },
	{ OPT_FLAG, 'n', "null", AT(null_run), .help = "count nothing, only take the time" },
	{ OPT_CALL, 0, "filter", .arg = "FILTER", .call = add_filter,
	  .help = "count only what matches, of the tracepoints of the -e before it" },
	{ OPT_FLAG, 0, "all-user", AT(all_user), .help = "count in user space only" },
	{ OPT_FLAG, 0, "all-kernel", AT(all_kernel), .help = "count in the kernel only" },
	{ OPT_GROUP, .help = "Where to count" },
	{ OPT_FLAG, 'a', "all-cpus", AT(all_cpus), .help = "the whole machine" },
	{ OPT_STR, 'C', "cpu", AT(cpus), "CPUS", "these CPUs, e.g. 0-3,8", .complete = "cpu" },
	{ OPT_STR, 'p', "pid", AT(pids), "PIDS", "running processes with all their threads",
	  .complete = "pid" },
	{ OPT_STR, 't', "tid", AT(tids), "TIDS", "single threads" },
	{ OPT_STR, 'u', "uid", AT(user), "USER", "all processes of a user" },
	{ OPT_CALL, 'G', "cgroup", .arg = "NAMES", .call = add_cgroups,
	  .help = "a cgroup for each event before it; one name serves all (with -a or -C)" },
	{ OPT_STR, 0, "for-each-cgroup", AT(for_each_cgroup), "NAMES",
	  "all events in each of these cgroups; regular expressions too (with -a or -C)" },
	{ OPT_FLAG, 'i', "no-inherit", AT(no_inherit), .flags = OPTF_NEGATED,
	  .help = "do not follow threads and children started later" },
	{ OPT_GROUP, .help = "When to count" },
	{ OPT_MSEC, 'I', "interval-print", AT(interval_ms), "MSEC", "print every MSEC milliseconds" },
	{ OPT_UINT, 0, "interval-count", AT(interval_count), "N", "end after N intervals" },
	{ OPT_FLAG, 0, "interval-clear", AT(interval_clear),
	  .help = "clear the screen before each interval" },
	{ OPT_MSEC, 0, "timeout", AT(timeout_ms), "MSEC", "end after MSEC milliseconds" },
	{ OPT_INT, 'D', "delay", AT(delay_ms), "MSEC",
	  "start counting MSEC milliseconds after the start; -1: when --control says so",
	  .min = -1, .max = INT32_MAX },
	{ OPT_UINT, 'r', "repeat", AT(repeat), "N",
	  "run the command N times and show mean and spread; 0: until stopped" },
	{ OPT_STR, 0, "control", AT(control), "fd:CTL[,ACK]|fifo:CTL[,ACK]",
	  "take enable, disable, stop and ping from there; answer ack" },
	{ OPT_STR, 0, "pre", AT(pre), "COMMAND", "run before each measured command" },
	{ OPT_STR, 0, "post", AT(post), "COMMAND", "run after each measured command" },
	{ OPT_FLAG, 'S', "sync", AT(sync), .help = "write out dirty pages before each run" },
	{ OPT_GROUP, .help = "How to add up" },
	{ OPT_FLAG, 'A', "no-aggr", AT(no_aggr), .flags = OPTF_NEGATED,
	  .help = "show each CPU on its own" },
	{ OPT_FLAG, 0, "no-merge", AT(no_merge), .flags = OPTF_NEGATED,
	  .help = "show each PMU instance on its own" },
	{ OPT_FLAG, 0, "per-thread", AT(per_thread), .help = "per thread" },
	{ OPT_FLAG, 0, "per-core", AT(per_core), .help = "per physical core" },
	{ OPT_STR, 0, "per-cache", AT(per_cache), "LEVEL", "per cache of that level, L3 or the last",
	  .flags = OPTF_OPTIONAL, .value = "" },
	{ OPT_FLAG, 0, "per-cluster", AT(per_cluster), .help = "per cluster of cores" },
	{ OPT_FLAG, 0, "per-die", AT(per_die), .help = "per die" },
	{ OPT_FLAG, 0, "per-socket", AT(per_socket), .help = "per socket" },
	{ OPT_FLAG, 0, "per-node", AT(per_node), .help = "per memory node" },
	{ OPT_FLAG, 0, "no-scale", AT(no_scale), .flags = OPTF_NEGATED,
	  .help = "show multiplexed counts as they are, not scaled up" },
	{ OPT_GROUP, .help = "How to show it" },
	{ OPT_STR, 'x', "field-separator", AT(separator), "SEP", "print fields with SEP in between" },
	{ OPT_FLAG, 'j', "json-output", AT(json_lines), .help = "print one JSON object per row" },
	{ OPT_FLAG, 0, "json", AT(json),
	  .help = "print one JSON object per table, with reasons for what is missing" },
	{ OPT_STR, 'o', "output", AT(output), "FILE", "write to FILE", .complete = "file" },
	{ OPT_FLAG, 0, "append", AT(append), .help = "keep what FILE holds" },
	{ OPT_INT, 0, "log-fd", AT(log_fd), "FD", "write to this descriptor", .min = 0,
	  .max = INT32_MAX },
	{ OPT_FLAG, 0, "metric-only", AT(metric_only), .help = "show metrics, not counts" },
	{ OPT_FLAG, 0, "summary", AT(summary), .help = "with -I: the totals at the end" },
	{ OPT_FLAG, 0, "no-csv-summary", AT(no_csv_summary), .flags = OPTF_NEGATED,
	  .help = "with -I --summary -x: do not put 'summary' before the totals" },
	{ OPT_FLAG, 0, "table", AT(table), .help = "with -r: the time of each run" },
	{ OPT_FLAG, 'B', "big-num", AT(big_num), .help = "commas between thousands" },
	{ OPT_FLAG, 0, "no-big-num", AT(no_big_num), .flags = OPTF_NEGATED,
	  .help = "nothing between thousands, whatever the locale" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose),
	  .help = "show raw counts and what was not asked for; -vv: the events' attributes" },
	{ OPT_FLAG, 'q', "quiet", AT(quiet), .help = "print nothing" },
	{ OPT_FLAG, 0, "dump-attr", AT(dump_attr), .flags = OPTF_HIDDEN,
	  .help = "open, print every perf_event_attr, and end" },
	{ .kind = OPT_END },
};

/* Everything one invocation carries from step to step. */
struct session {
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
	bool counts_command;	/* the command itself is what is counted */
	bool headed;		/* the writer's head has been printed */
	int status, signal;
};

static void defaults(void *opts)
{
	struct stat_opts *o = opts;

	o->repeat = 1;
	o->log_fd = -1;
	o->topdown_level = 1;
}

static void done(void *opts)
{
	struct stat_opts *o = opts;

	vec_done(&o->words);
}

static int wrong(const char *text)
{
	report_text("stat", "%s", text);
	return EXIT_USAGE;
}

static enum tacho_per chosen_per(const struct stat_opts *o)
{
	if (o->per_thread)
		return TACHO_PER_THREAD;
	if (o->per_core)
		return TACHO_PER_CORE;
	if (o->per_cache)
		return TACHO_PER_CACHE;
	if (o->per_cluster)
		return TACHO_PER_CLUSTER;
	if (o->per_die)
		return TACHO_PER_DIE;
	if (o->per_socket)
		return TACHO_PER_SOCKET;
	if (o->per_node)
		return TACHO_PER_NODE;
	return o->no_aggr ? TACHO_PER_CPU : TACHO_PER_TOTAL;
}

static bool has_cgroups(const struct stat_opts *o)
{
	for (size_t i = 0; i < o->words.n; i++)
		if (o->words.v[i].kind == WORD_CGROUPS)
			return true;
	return o->for_each_cgroup != NULL;
}

/* Options that contradict each other, or lack one another; 0 or an exit status. */
static int check_options(struct stat_opts *o, int argc)
{
	int n_per = o->per_thread + o->per_core + (o->per_cache != NULL) + o->per_cluster +
		    o->per_die + o->per_socket + o->per_node + o->no_aggr;
	bool tasks = o->pids || o->tids || o->user;
	bool cpus = o->all_cpus || o->cpus;
	bool command = argc > 0;

	if (!tasks && !cpus && !command)
		o->all_cpus = cpus = true;
	if (n_per > 1)
		return wrong("only one of -A and the --per-... options can be used at a time");
	if (o->per_thread && command && !tasks && !cpus)
		return wrong("--per-thread needs -p, -t or -a: a command's threads are not known "
			     "before it runs");
	if (n_per && !o->per_thread && !cpus)
		return wrong("-A and the --per-... options need CPUs to tell apart: add -a or -C");
	if (has_cgroups(o) && !cpus)
		return wrong("cgroups can only be counted per CPU: add -a or -C");
	if (o->pids && o->tids)
		return wrong("-p and -t cannot be used together");
	if (o->all_user && o->all_kernel)
		return wrong("--all-user and --all-kernel leave nothing to count");
	if (o->repeat != 1 && !command)
		return wrong("-r needs a command to run again");
	if (o->repeat != 1 && o->interval_ms)
		return wrong("-r and -I cannot be used together");
	if ((o->separator != NULL) + o->json_lines + o->json > 1)
		return wrong("-x, -j and --json cannot be used together");
	if (o->output && o->log_fd >= 0)
		return wrong("-o and --log-fd cannot be used together");
	if (o->append && !o->output)
		return wrong("--append needs -o FILE");
	if (o->interval_count && !o->interval_ms)
		return wrong("--interval-count needs -I");
	if (o->timeout_ms && o->timeout_ms < 10)
		return wrong("--timeout has to be 10 milliseconds at least");
	if (o->metric_only && o->json)
		return wrong("--metric-only goes with the text, -x and -j");
	return 0;
}

static int cache_level(const char *text, int *out)
{
	*out = 0;
	if (!text || !*text)
		return 0;
	if ((text[0] | 32) == 'l' && text[1] >= '1' && text[1] <= '9' && !text[2]) {
		*out = text[1] - '0';
		return 0;
	}
	report_text("stat", "--per-cache takes a level like L2 or L3, not '%s'", text);
	return -EINVAL;
}

static int open_output(struct session *s)
{
	const struct stat_opts *o = s->o;

	s->out_fd = o->log_fd >= 0 ? o->log_fd : STDERR_FILENO;
	if (o->log_fd >= 0 && fcntl(o->log_fd, F_GETFD) < 0) {
		report_text("stat", "--log-fd %d is no open descriptor", o->log_fd);
		return -EBADF;
	}
	if (!o->output)
		return 0;
	s->out_fd = open(o->output, O_WRONLY | O_CREAT | O_CLOEXEC | (o->append ? O_APPEND : O_TRUNC),
			 0666);
	if (s->out_fd < 0) {
		report_text("stat", "cannot write '%s': %s", o->output, strerror(errno));
		return -errno;
	}
	return 0;
}

/* Thousands are set apart as the user's locale wants it; the C locale wants nothing. */
static char group_separator(const struct stat_opts *o)
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

		sep = text[0] && text[1] ? ' ' : text[0];	/* a multi-byte blank becomes a blank */
		freelocale(loc);
	}
	return sep;
}

static const struct stat_writer *chosen_writer(const struct stat_opts *o)
{
	if (o->separator)
		return &stat_csv;
	if (o->json_lines)
		return &stat_json_lines;
	return o->json ? &stat_json : &stat_text;
}

static int flush_out(struct session *s)
{
	int err = 0;

	if (buf_failed(&s->out))
		err = -ENOMEM;
	else if (!s->o->quiet)
		err = io_write_all(s->out_fd, s->out.bytes, s->out.n);
	buf_clear(&s->out);
	if (err < 0)
		report_text("stat", "cannot write the result: %s", strerror(-err));
	return err;
}

static int note_metric_names(struct session *s)
{
	struct stat_rows *rows = &s->rows;

	strlist_done(&s->metric_names);
	for (size_t i = 0; i < rows->list.n; i++) {
		const struct stat_row *row = &rows->list.v[i];

		if (!stat_same_place(&row->place, &rows->list.v[0].place))
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

/* Hands the rows to the writer. */
static int print_report(struct session *s)
{
	struct stat_report *r = &s->report;
	int err = s->o->metric_only ? note_metric_names(s) : 0;

	if (err < 0)
		return err;
	r->rows = s->rows.list.v;
	r->n_rows = s->rows.list.n;
	r->notes = tacho_evset_notes(s->set, &r->n_notes);
	if (!s->headed)
		s->writer->head(&s->out, r);
	s->headed = true;
	s->writer->rows(&s->out, r);
	s->writer->foot(&s->out, r);
	return flush_out(s);
}

static int on_interval(void *arg, double time_s)
{
	struct session *s = arg;
	double since = time_s - s->report.time_s;
	struct tacho_sums_opts sums = s->sums;
	int err;

	sums.since_last_read = true;
	tacho_evset_read(s->set, NULL);
	s->report.interval = true;
	s->report.time_s = time_s;
	err = stat_rows_make(&s->rows, s->set, &s->plan, &sums, since, true);
	if (err == 0 && s->o->interval_clear)
		buf_puts(&s->out, "\033[H\033[2J");
	return err < 0 ? err : print_report(s);
}

static void print_raw(const struct session *s)
{
	size_t n;
	const struct tacho_reading *r = tacho_evset_readings(s->set, &n);

	for (size_t i = 0; i < n; i++)
		fprintf(stderr, "%s: %llu %llu %llu\n", tacho_evset_event(s->set, r[i].event)->name,
			(unsigned long long)r[i].raw, (unsigned long long)r[i].enabled_ns,
			(unsigned long long)r[i].running_ns);
}

static void dump_attrs(const struct session *s, FILE *to)
{
	for (size_t i = 0; i < tacho_evset_size(s->set); i++) {
		unsigned char attr[256] = { 0 };
		int size = tacho_evset_attr(s->set, i, attr, sizeof(attr));
		scoped(freep) char *text = size < 0 ? NULL : tacho_attr_text(attr, sizeof(attr));

		if (text)
			fprintf(to, "event %s\n%s\n", tacho_evset_event(s->set, i)->name, text);
	}
}

/* The last rows: of an interval run its tail and perhaps the totals, else the totals. */
static int finish_rows(struct session *s, struct stat_loop *loop)
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
	}
	if (err == 0)
		err = stat_rows_make(&s->rows, s->set, &s->plan, &s->sums, loop->elapsed_s, true);
	r->elapsed_s = loop->elapsed_s;
	r->has_usage = loop->ended && s->counts_command;
	r->user_s = loop->usage.user_s;
	r->system_s = loop->usage.system_s;
	return err;
}

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* An error that concerns every event is told once and ends the run before it starts. */
static int check_opened(struct session *s, int n_counting)
{
	const struct tacho_sum *sums;
	int n;

	if (n_counting > 0 || tacho_evset_size(s->set) == 0)
		return 0;
	n = tacho_evset_sums(s->set, &s->sums, &sums);
	for (int i = 0; i < n; i++) {
		if (sums[i].state != TACHO_NOT_PERMITTED && sums[i].state != TACHO_FAILED)
			continue;
		report_text("stat", "%s: %s", tacho_evset_event(s->set, sums[i].event)->name,
			    sums[i].why ? sums[i].why : "cannot be counted");
		return -EACCES;
	}
	return 0;
}

static int open_set(struct session *s, struct tacho_command *cmd)
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
		report_error("stat", NULL, NULL, &e);
		return n;
	}
	return check_opened(s, n);
}

static int start_all(struct session *s, struct stat_loop *loop)
{
	struct tacho_error e = { .column = -1 };
	int err;

	loop->start = stat_now();
	if (s->o->delay_ms == 0 && !s->counts_command)
		tacho_evset_start(s->set);
	else if (s->o->delay_ms != 0 && !s->o->quiet)
		fputs("Events disabled\n", stderr);
	if (!loop->command)
		return 0;
	err = tacho_command_go(loop->command, &e);
	if (err < 0) {
		report_error("stat", NULL, NULL, &e);
		s->status = err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
	}
	return err;
}

static int run_hook(const char *command)
{
	int status;

	if (!command)
		return 0;
	status = system(command);
	if (status == 0)
		return 0;
	report_text("stat", "'%s' failed", command);
	return -EIO;
}

static int prepare_set(struct session *s)
{
	int err;

	stat_plan_done(&s->plan);
	s->plan = (struct stat_plan){ .target_cpu = s->target.evset.all_cpus ||
						    s->target.evset.cpus };
	tacho_evset_free(take(s->set));
	err = tacho_evset_new(&s->set, s->t);
	if (err == 0)
		err = stat_plan_set(s->o, s->set, &s->plan);
	if (err == 0 && s->writer == &stat_text && !s->plan.metrics.n)
		err = stat_plan_bystanders(s->set, &s->plan);
	s->report.has_cgroups = s->plan.has_cgroups;
	s->report.hide_unsupported = s->plan.by_default && !s->o->verbose;
	return err;
}

/* Events that only sockets and devices have are counted on all CPUs while the command runs. */
static void widen_target(struct session *s)
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

static int run_counted(struct session *s, struct stat_loop *loop)
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
	err = start_all(s, loop);
	if (err == 0)
		err = stat_loop_run(loop);
	s->signal = loop->signal;
	if (err == 0)
		err = finish_rows(s, loop);
	if (err == 0 && s->o->verbose)
		print_raw(s);
	if (loop->command && err == 0)
		s->status = exit_status(loop->usage.status);
	return err;
}

static void free_command(struct tacho_command **cmd)
{
	tacho_command_free(*cmd);
}

/* One run: a fresh set, the command held at its gate, counters, go, rows. */
static int run_once(struct session *s)
{
	scoped(free_command) struct tacho_command *cmd = NULL;
	struct stat_loop loop = { .opts = s->o, .on_interval = on_interval, .arg = s,
				  .usage.size = sizeof(loop.usage) };
	struct tacho_error e = { .column = -1 };
	int err = run_hook(s->o->pre);

	if (err == 0)
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
		err = tacho_command_spawn(&cmd, s->argv, &e);
		if (err < 0) {
			report_error("stat", NULL, NULL, &e);
			return err;
		}
	}
	loop.command = cmd;
	loop.set = s->set;
	err = run_counted(s, &loop);
	return err < 0 ? err : run_hook(s->o->post);
}

static int show_runs(struct session *s)
{
	struct stat_report *r = &s->report;

	r->runs = (unsigned)s->runs.elapsed.n;
	r->elapsed_each = s->runs.elapsed.v;
	r->elapsed_s = stat_mean(s->runs.elapsed.v, s->runs.elapsed.n, &r->elapsed_error_s);
	stat_runs_apply(&s->runs, &s->rows, s->set);
	return print_report(s);
}

static int run_repeated(struct session *s)
{
	const struct stat_opts *o = s->o;
	int err = 0;

	for (uint32_t i = 0; err == 0 && !s->signal && (o->repeat == 0 || i < o->repeat); i++) {
		err = run_once(s);
		if (err == 0)
			err = stat_runs_add(&s->runs, &s->rows, s->set, s->report.elapsed_s);
		if (err == 0 && o->repeat == 0) {
			err = show_runs(s);
			stat_runs_done(&s->runs);
			s->headed = false;
		}
	}
	if (err == 0 && o->repeat)
		err = show_runs(s);
	return err;
}

static int run_session(struct session *s)
{
	struct tacho_error e = { .column = -1 };
	int err = tacho_open(&s->t, NULL, &e);

	if (err < 0) {
		report_error("stat", NULL, NULL, &e);
		return err;
	}
	if (s->o->repeat != 1)
		return run_repeated(s);
	err = run_once(s);
	if (err < 0 || s->o->dump_attr)
		return err;
	if (s->o->interval_ms && !s->o->summary)
		return 0;
	s->report.runs = 1;
	return print_report(s);
}

static void end_session(struct session *s)
{
	stat_rows_done(&s->rows);
	stat_runs_done(&s->runs);
	tacho_evset_free(s->set);
	stat_plan_done(&s->plan);
	stat_target_done(&s->target);
	strlist_done(&s->metric_names);
	tacho_close(s->t);
	buf_done(&s->out);
	if (s->o->output && s->out_fd >= 0)
		close(s->out_fd);
}

static int stat_run(void *opts, int argc, char **argv)
{
	struct stat_opts *o = opts;
	struct session s = { .o = o, .argc = argc, .argv = argv, .out_fd = -1 };
	int status = check_options(o, argc), err;

	if (status)
		return status;
	s.writer = chosen_writer(o);
	s.counts_command = argc && !o->pids && !o->tids && !o->user && !o->all_cpus && !o->cpus;
	s.sums = (struct tacho_sums_opts){ .size = sizeof(s.sums), .per = chosen_per(o),
					   .no_merge = o->no_merge || o->no_aggr,
					   .no_scale = o->no_scale };
	err = cache_level(o->per_cache, &s.sums.cache_level);
	if (err == 0)
		err = stat_target_init(o, argc, argv, &s.target);
	if (err < 0)
		status = EXIT_USAGE;
	if (err == 0)
		err = open_output(&s);
	s.report = (struct stat_report){ .opts = o, .per = s.sums.per, .title = s.target.title,
					 .color = s.out_fd >= 0 && term_has_colors(s.out_fd),
					 .group_sep = group_separator(o) };
	if (err == 0)
		err = run_session(&s);
	end_session(&s);
	if (err < 0)
		return status ? status : s.status ? s.status : EXIT_FAILED;
	if (s.signal) {
		signal(s.signal, SIG_DFL);
		raise(s.signal);
	}
	return s.status;
}

const struct command cmd_stat = {
	.name = "stat",
	.summary = "count events while a command runs",
	.args = "[--] [COMMAND [ARG...]]",
	.rows = stat_rows,
	.opts_size = sizeof(struct stat_opts),
	.defaults = defaults,
	.run = stat_run,
	.done = done,
	.stops_at_word = true,
	.words = "command",
};
