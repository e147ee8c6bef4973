/*
 * `tacho topdown`: shows how the CPU's pipeline slots are used, level by level. All levels are counted in one
 * run; with --drill-down, each level is counted in a separate run, which only counts the nodes below the
 * bottleneck.
 */
#include "cli/stat/topdown.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/io.h"
#include "base/vec.h"
#include "cli/events/list_option.h"
#include "cli/stat/stat.h"
#include "cli/core/run_command.h"
#include "cli/core/target_args.h"
#include "cli/core/terminal.h"

struct topdown_opts {
	struct strlist event_lists;
	uint32_t level;
	bool drill_down, all_cpus;
	const char *pids;
	bool all, json;
	const char *output;
	bool sample;
	const char *sample_output;
};

#define AT(field) offsetof(struct topdown_opts, field)
static const struct option_row topdown_rows[] = {
	{ OPT_GROUP, .help = "What to count" },
	{ OPT_UINT, 'l', "level", AT(level), "N", "number of levels; default: 2, or fewer if no more are known",
	  .min = 1, .max = 16 },
	{ OPT_FLAG, 0, "drill-down", AT(drill_down),
	  .help = "run the command once for each level, counting only the nodes below the bottleneck" },
	EVENT_LIST_ROW(AT(event_lists)),
	{ OPT_FLAG, 'a', "all-cpus", AT(all_cpus), .help = "the whole machine, while the command runs" },
	{ OPT_STR, 'p', "pid", AT(pids), "PIDS", "these processes, while the command runs",
	  .complete = "pid" },
	{ OPT_GROUP, .help = "How to show it" },
	{ OPT_FLAG, 0, "all", AT(all), .help = "also show the children of nodes that are within their threshold" },
	{ OPT_FLAG, 0, "json", AT(json), .help = "print one JSON object" },
	{ OPT_STR, 'o', "output", AT(output), "FILE", "write to FILE", .complete = "file" },
	{ OPT_GROUP, .help = "Sampling the bottleneck" },
	{ OPT_FLAG, 0, "sample", AT(sample),
	  .help = "run the command again and sample the event that locates the bottleneck" },
	{ OPT_STR, 0, "sample-output", AT(sample_output), "FILE",
	  "write the samples to FILE instead of perf.data", .complete = "file" },
	{ .kind = OPT_END },
};

struct topdown_session {
	struct topdown_opts *o;
	int argc;
	char **argv;
	struct tacho *t;
	struct tacho_evset *set;
	struct tacho_metric_set *ms;
	struct topdown_tree tree;
	struct strlist left_out;
	struct buf title;
	uint32_t level;
	int *pids;
	size_t n_pids;
	int status, signal;
};

static int report_and_return(struct tacho_error *e)
{
	message_error("topdown", NULL, NULL, e);
	return e->code < 0 ? e->code : -EIO;
}

/* ---- one run ---- */

struct topdown_counts {
	double *v;
	size_t n;
};

static double event_count(void *arg, uint32_t event)
{
	const struct topdown_counts *c = arg;

	return event < c->n ? c->v[event] : NAN;
}

static void report_reasons(const struct tacho_evset *set, const struct tacho_sum *sums, int n)
{
	const char *last = NULL;

	for (int i = 0; i < n; i++) {
		if (!sums[i].why || (last && !strcmp(last, sums[i].why)))
			continue;
		last = sums[i].why;
		message_text("topdown", "%s: %s", tacho_evset_event(set, sums[i].event)->name, last);
	}
}

/* Reads the counters and adds the values of the metrics to the tree. */
static int read_values(struct topdown_session *s, double elapsed_s)
{
	size_t n_events = tacho_evset_size(s->set);
	struct topdown_counts c = { calloc(n_events + 1, sizeof(*c.v)), n_events };
	const struct tacho_metric_counts counts = { .size = sizeof(counts), .count = event_count, .arg = &c,
						    .elapsed_s = elapsed_s };
	const struct tacho_sum *sums;
	size_t first = s->tree.nodes.n;
	int n, err;

	tacho_evset_read(s->set, NULL);
	n = c.v ? tacho_evset_sums(s->set, NULL, &sums) : -ENOMEM;
	for (size_t i = 0; n >= 0 && i < n_events; i++)
		c.v[i] = NAN;
	for (int i = 0; i < n; i++)
		if (!stat_placeholder(sums[i].state))
			c.v[sums[i].event] = (double)sums[i].count;
	err = n < 0 ? n : topdown_add_values(&s->tree, s->ms, &counts);
	free(c.v);
	for (size_t i = first; err == 0 && i < s->tree.nodes.n; i++)
		if (!isnan(s->tree.nodes.v[i].value))
			return 0;
	if (err < 0)
		return err;
	report_reasons(s->set, sums, n);
	message_text("topdown", "none of the events was counted");
	return -ENODATA;
}

static int open_and_go(struct topdown_session *s, struct stat_loop *loop)
{
	int pid = loop->command ? tacho_command_pid(loop->command) : 0;
	bool of_command = loop->command && !s->o->all_cpus && !s->pids;
	struct tacho_evset_opts opts = { .size = sizeof(opts), .all_cpus = s->o->all_cpus && !s->pids,
					 .pids = of_command ? &pid : s->pids,
					 .n_pids = of_command ? 1 : s->n_pids,
					 .enable_on_exec = of_command };
	struct tacho_error e = { .column = -1 };
	int err = tacho_evset_open(s->set, &opts, &e);

	if (err < 0)
		return report_and_return(&e);
	loop->start = stat_now();
	if (!of_command)
		tacho_evset_start(s->set);
	return run_command_release(loop->command, "topdown", &s->status);
}

static void free_command(struct tacho_command **cmd)
{
	tacho_command_free(*cmd);
}

static int count_once(struct topdown_session *s)
{
	static const struct stat_opts plain = { .repeat = 1, .log_fd = -1 };
	scoped(free_command) struct tacho_command *cmd = NULL;
	struct stat_loop loop = { .opts = &plain, .set = s->set, .control = { .fd = -1, .ack = -1 },
				  .usage.size = sizeof(loop.usage) };
	int err = s->argc ? run_command_hold(&cmd, "topdown", s->argv) : 0;

	if (err < 0)
		return err;
	loop.command = cmd;
	err = open_and_go(s, &loop);
	if (err == 0)
		err = stat_loop_run(&loop);
	if (err == 0)
		err = read_values(s, loop.elapsed_s);
	s->signal = cmd ? loop.signal : 0;
	if (err == 0 && cmd)
		s->status = run_command_exit_status(loop.usage.status);
	return err;
}

static int note_left_out(struct topdown_session *s)
{
	size_t n;
	const char *const *texts = tacho_metric_set_left_out(s->ms, &n);

	for (size_t i = 0; i < n; i++)
		if (strlist_add(&s->left_out, str_of(texts[i])) < 0)
			return -ENOMEM;
	return 0;
}

/* Counts the nodes down to `level`, or the children of `parent`. Returns how many nodes; 0 if there are
 * none. */
static int count_nodes(struct topdown_session *s, uint32_t level, const struct tacho_metric *parent)
{
	const struct tacho_metric_set_opts opts = { .size = sizeof(opts), .target_cpu = s->o->all_cpus,
						    .core_wide = s->o->all_cpus };
	struct tacho_error e = { .column = -1 };
	int n, err;

	tacho_metric_set_free(take(s->ms));
	tacho_evset_free(take(s->set));
	err = tacho_evset_new(&s->set, s->t);
	if (err == 0)
		err = tacho_metric_set_new(&s->ms, s->t, &opts);
	if (err < 0)
		return err;
	n = parent ? topdown_add_below(s->t, s->ms, parent, &e) : topdown_add(s->t, s->ms, level, &e);
	if (n <= 0)
		return n < 0 && !parent ? report_and_return(&e) : 0;
	err = tacho_metric_set_plan(s->ms, s->set, &e);
	if (err < 0)
		return report_and_return(&e);
	err = note_left_out(s);
	if (err == 0)
		err = count_once(s);
	topdown_find_bottleneck(&s->tree);
	return err < 0 ? err : n;
}

static int count_levels(struct topdown_session *s)
{
	uint32_t deepest = topdown_deepest(s->t);
	int n;

	s->level = s->o->level ? s->o->level : max_of(min_of(s->o->drill_down ? 16u : 2u, deepest), 1u);
	n = count_nodes(s, s->o->drill_down ? 1 : s->level, NULL);
	while (n > 0 && s->o->drill_down && s->tree.bottleneck && !s->signal &&
	       s->tree.bottleneck->metric.level < s->level) {
		struct tacho_metric parent = s->tree.bottleneck->metric;

		n = count_nodes(s, 0, &parent);
		/* Stop if no child is beyond its threshold. */
		if (s->tree.bottleneck && !strcmp(s->tree.bottleneck->metric.name, parent.name))
			break;
	}
	return n < 0 ? n : 0;
}

/* ---- sampling the bottleneck ---- */

static int record_argv(const struct topdown_session *s, const char *event, struct strlist *out)
{
	const char *fixed[] = { program_name, "record", "-e", event, "-o",
				s->o->sample_output ? s->o->sample_output : "perf.data",
				s->o->pids ? "-p" : s->o->all_cpus ? "-a" : NULL, s->o->pids };
	int err = 0;

	for (size_t i = 0; !err && i < countof(fixed); i++)
		if (fixed[i])
			err = strlist_add(out, str_of(fixed[i]));
	for (size_t i = 0; !err && i < s->o->event_lists.n; i++) {
		err = strlist_add(out, STR_LIT("--event-list"));
		if (!err)
			err = strlist_add(out, str_of(s->o->event_lists.v[i]));
	}
	if (!err && s->argc)
		err = strlist_add(out, STR_LIT("--"));
	for (int i = 0; !err && i < s->argc; i++)
		err = strlist_add(out, str_of(s->argv[i]));
	return err ? err : strlist_add(out, str_n("", 0));
}

static void join_args(struct buf *out, const struct strlist *args)
{
	for (size_t i = 0; i + 1 < args->n; i++)
		buf_printf(out, "%s%s", i ? " " : "", args->v[i]);
}

/* Runs this program as `tacho record` with these arguments. */
static int run_record(struct strlist *args)
{
	int status = 0, err;
	pid_t pid;

	free(args->v[args->n - 1]);
	args->v[args->n - 1] = NULL;
	err = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args->v, environ);
	if (err) {
		message_text("topdown", "cannot start 'record': %s", strerror(err));
		return EXIT_FAILED;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILED;
	return run_command_exit_status(status);
}

static int write_out(const struct topdown_session *s, struct buf *out)
{
	int fd = s->o->output ? open(s->o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) :
				STDOUT_FILENO;
	int err = fd < 0 ? -errno : buf_failed(out) ? -ENOMEM : io_write_all(fd, out->bytes, out->n);

	if (s->o->output && fd >= 0 && close(fd) < 0 && !err)
		err = -errno;
	if (err < 0)
		message_text("topdown", "cannot write '%s': %s", s->o->output ? s->o->output : "the result",
			     strerror(-err));
	return err;
}

static int print_tree(struct topdown_session *s)
{
	scoped(freep) char *event = topdown_sample_event(s->t, &s->tree);
	scoped(strlist_done) struct strlist args = { 0 };
	scoped(buf_done) struct buf command = { 0 }, out = { 0 };
	struct topdown_report r = { .title = s->title.bytes, .level = s->level, .all = s->o->all,
				    .color = !s->o->output && term_has_colors(STDOUT_FILENO), .sample = event,
				    .left_out = (const char *const *)s->left_out.v,
				    .n_left_out = s->left_out.n };
	int err = event ? record_argv(s, event, &args) : -ENOMEM;

	if (err < 0)
		return err;
	join_args(&command, &args);
	if (buf_failed(&command))
		return -ENOMEM;
	r.command = command.bytes;
	(s->o->json ? topdown_json : topdown_text)(&out, &s->tree, &r);
	err = write_out(s, &out);
	if (err == 0 && s->o->sample)
		s->status = run_record(&args);
	return err;
}

/* ---- the command ---- */

static int check_options(const struct topdown_opts *o, int argc)
{
	const char *wrong = NULL;

	if (o->all_cpus && o->pids)
		wrong = "-a and -p cannot be used together";
	else if (!argc && !o->all_cpus && !o->pids)
		wrong = "needs a command, -a or -p";
	else if ((o->sample || o->drill_down) && !argc)
		wrong = "--sample and --drill-down need a command, which they run several times";
	else if (o->sample_output && !o->sample)
		wrong = "--sample-output needs --sample";
	if (wrong)
		message_text("topdown", "%s", wrong);
	return wrong ? EXIT_USAGE : 0;
}

static void make_title(struct topdown_session *s)
{
	if (s->o->pids)
		buf_printf(&s->title, "process id '%s'", s->o->pids);
	else if (s->o->all_cpus)
		buf_puts(&s->title, "'system wide'");
	for (int i = 0; !s->o->pids && !s->o->all_cpus && i < s->argc; i++)
		buf_printf(&s->title, "%s%s%s", i ? " " : "'", s->argv[i], i + 1 < s->argc ? "" : "'");
}

static int run_session(struct topdown_session *s)
{
	struct tacho_error e = { .column = -1 };
	int err = tacho_open(&s->t, NULL, &e);

	if (err < 0)
		return report_and_return(&e);
	err = event_lists_add("topdown", s->t, &s->o->event_lists);
	if (err == 0)
		err = count_levels(s);
	return err < 0 ? err : print_tree(s);
}

static int topdown_run(void *opts, int argc, char **argv)
{
	struct topdown_session s = { .o = opts, .argc = argc, .argv = argv };
	int status = check_options(s.o, argc), err = 0;

	if (status)
		return status;
	if (s.o->pids)
		err = target_ids("topdown", "-p", s.o->pids, &s.pids, &s.n_pids);
	if (err < 0)
		return EXIT_USAGE;
	make_title(&s);
	err = buf_failed(&s.title) ? -ENOMEM : run_session(&s);
	topdown_tree_done(&s.tree);
	tacho_metric_set_free(s.ms);
	tacho_evset_free(s.set);
	tacho_close(s.t);
	strlist_done(&s.left_out);
	buf_done(&s.title);
	free(s.pids);
	if (err < 0)
		return s.status ? s.status : EXIT_FAILED;
	if (s.signal) {
		signal(s.signal, SIG_DFL);
		raise(s.signal);
	}
	return s.status;
}

const struct command cmd_topdown = {
	.name = "topdown",
	.summary = "show where the pipeline's slots go, and what to sample next",
	.args = "[--] [COMMAND [ARG...]]",
	.rows = topdown_rows,
	.opts_size = sizeof(struct topdown_opts),
	.run = topdown_run,
	.stops_at_non_option = true,
	.complete_args = "command",
};
