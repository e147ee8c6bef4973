/*
 * `tacho stat report`: prints the counts of a perf.data file written by `stat record`, with the aggregation
 * of the recording or another one.
 */
#include "cli/stat/file.h"

#include <errno.h>

#include "base/error.h"
#include "base/io.h"
#include "cli/core/input.h"
#include "cli/core/terminal.h"

#define AT(field) offsetof(struct stat_opts, field)
static const struct option_row report_rows[] = {
	{ OPT_GROUP, .help = "What to read" },
	{ OPT_STR, 'i', "input", AT(input), "FILE", INPUT_HELP,
	  .complete = "file" },
	{ OPT_FLAG, 'f', "force", AT(force), NULL, "read a file that belongs to another user" },
	{ OPT_GROUP, .help = "How to aggregate (default: as recorded)" },
	{ OPT_FLAG, 'A', "no-aggr", AT(no_aggr), .flags = OPTF_NEGATED, .help = "show each CPU separately" },
	{ OPT_FLAG, 0, "per-thread", AT(per_thread), .help = "per thread" },
	{ OPT_FLAG, 0, "per-core", AT(per_core), .help = "per physical core" },
	{ OPT_FLAG, 0, "per-die", AT(per_die), .help = "per die" },
	{ OPT_FLAG, 0, "per-socket", AT(per_socket), .help = "per socket" },
	{ OPT_FLAG, 0, "per-node", AT(per_node), .help = "per memory node" },
	{ OPT_FLAG, 0, "no-scale", AT(no_scale), .flags = OPTF_NEGATED,
	  .help = "show multiplexed counts unscaled" },
	{ OPT_GROUP, .help = "How to show it" },
	{ OPT_STR, 'x', "field-separator", AT(separator), "SEP", "print fields separated by SEP" },
	{ OPT_FLAG, 'j', "json-output", AT(json_lines), .help = "print one JSON object per row" },
	{ OPT_FLAG, 0, "json", AT(json), .help = "print one JSON object per table" },
	{ OPT_FLAG, 0, "summary", AT(summary), .help = "print the totals after the intervals" },
	{ OPT_STR, 'o', "output", AT(output), "FILE", "write to FILE", .complete = "file" },
	{ OPT_FLAG, 0, "append", AT(append), .help = "append to FILE" },
	{ OPT_INT, 0, "log-fd", AT(log_fd), "FD", "write to this file descriptor", .min = 0,
	  .max = INT32_MAX },
	{ OPT_FLAG, 'B', "big-num", AT(big_num), .help = "separate thousands by commas" },
	{ OPT_FLAG, 0, "no-big-num", AT(no_big_num), .flags = OPTF_NEGATED,
	  .help = "do not separate thousands, whatever the locale" },
	{ .kind = OPT_END },
};

struct stat_report_session {
	struct stat_opts *o;
	struct stat_input in;
	struct stat_rows rows;
	struct stat_plan plan;
	struct stat_report report;
	const struct stat_writer *writer;
	struct buf out;
	int fd;
	bool head_written, warned;
};

/* Adds the metrics that can be computed from the file's events, as `stat` does without -M. */
static int plan_metrics(struct stat_report_session *s)
{
	struct tacho *t = NULL;
	struct tacho_evset *set = NULL;
	int err = tacho_open(&t, NULL, NULL);

	if (err == 0)
		err = tacho_evset_new(&set, t);
	for (size_t i = 0; err >= 0 && i < tacho_perfdata_n_events(s->in.pd); i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(s->in.pd, i);

		err = tacho_evset_add_attr(set, ev->attr, ev->attr_size, ev->name, NULL);
		if (err == -E2BIG)	/* an attr of a newer kernel; no built-in metric uses it */
			err = 0;
	}
	if (err >= 0)
		err = stat_plan_implied_metrics(set, &s->plan);
	tacho_evset_free(set);
	tacho_close(t);
	return err < 0 ? err : 0;
}

static enum tacho_per shown_per(struct stat_report_session *s)
{
	enum tacho_per per = stat_chosen_per(s->o);

	if (per == TACHO_PER_TOTAL)
		per = s->in.per;
	if (per != TACHO_PER_CACHE && per != TACHO_PER_CLUSTER)
		return per;
	if (!s->warned)
		message_text("stat report", "recorded per %s, but the file has no information about that: "
			     "showing each CPU", stat_per_name(per));
	s->warned = true;
	return TACHO_PER_CPU;
}

/* Checks that the file has the counts per CPU or per thread that the aggregation requires. */
static int check_per(const struct stat_report_session *s, enum tacho_per per, struct tacho_error *e)
{
	bool cpus = false, threads = false;

	for (size_t i = 0; i < s->in.counters.n; i++)
		cpus |= s->in.counters.v[i].seen && s->in.counters.v[i].cpu >= 0;
	for (size_t i = 0; i < s->in.n_threads; i++)
		threads |= s->in.tids[i] >= 0;
	if (per == TACHO_PER_THREAD && !threads)
		return error_set(e, -EINVAL, "the file has counts of CPUs, not of threads: --per-thread "
				 "is not possible");
	if (per != TACHO_PER_TOTAL && per != TACHO_PER_THREAD && !cpus && s->in.has_stats)
		return error_set(e, -EINVAL, "the file has counts of threads, not of CPUs: -A and --per-... "
				 "are not possible");
	return 0;
}

static int flush_output(struct stat_report_session *s)
{
	int err = buf_failed(&s->out) ? -ENOMEM : io_write_all(s->fd, s->out.bytes, s->out.n);

	buf_clear(&s->out);
	if (err < 0)
		message_text("stat report", "cannot write the result: %s", strerror(-err));
	return err;
}

static int print_round(struct stat_report_session *s, double since_s, bool all, struct tacho_error *e)
{
	struct stat_report *r = &s->report;
	bool no_scale = s->o->no_scale || !s->in.scale;
	int err;

	r->per = shown_per(s);
	err = check_per(s, r->per, e);
	if (err == 0)
		err = stat_input_rows(&s->in, &s->rows, r->per, no_scale, all);
	if (err == 0)
		err = stat_rows_finish(&s->rows, &s->plan, since_s, r->per, false);
	if (err < 0)
		return err;
	r->rows = s->rows.list.v;
	r->n_rows = s->rows.list.n;
	if (!s->head_written)
		s->writer->head(&s->out, r);
	s->head_written = true;
	s->writer->rows(&s->out, r);
	s->writer->foot(&s->out, r);
	return flush_output(s);
}

/* Reads the first round. Only then is the configuration of the recording known. */
static int first_round(struct stat_report_session *s)
{
	if (s->head_written)
		return 0;
	s->o->interval_ms = (uint32_t)min_of(s->in.interval_ms, (uint64_t)UINT32_MAX);
	s->report.title = s->in.title;
	if (s->writer != &stat_text || s->o->interval_ms)
		return 0;
	s->plan.target_cpu = s->in.n_threads == 1 && s->in.tids[0] == -1;
	return plan_metrics(s);
}

static int print_interval(struct stat_report_session *s, double time_s, struct tacho_error *e)
{
	double since = time_s - s->report.time_s;

	s->report.interval = true;
	s->report.time_s = time_s;
	return print_round(s, since, false, e);
}

static int print_totals(struct stat_report_session *s, double elapsed_s, struct tacho_error *e)
{
	s->report.interval = false;
	s->report.summary = s->o->interval_ms != 0;
	s->report.elapsed_s = elapsed_s;
	s->report.runs = 1;
	return print_round(s, elapsed_s, true, e);
}

static int print_rounds(struct stat_report_session *s, struct tacho_error *e)
{
	enum stat_round_kind kind;
	uint64_t time_ns = 0;
	bool final = false;
	int err;

	while ((err = stat_input_round(&s->in, &kind, &time_ns, e)) > 0) {
		err = first_round(s);
		if (err == 0 && kind == STAT_ROUND_INTERVAL)
			err = print_interval(s, (double)time_ns * 1e-9, e);
		else if (err == 0)
			err = print_totals(s, (double)time_ns * 1e-9, e);
		final |= kind == STAT_ROUND_FINAL;
		if (err < 0)
			return err == -ENOMEM ? error_nomem(e) : err;
	}
	if (err < 0)
		return err;
	if (!s->head_written) {
		error_set(e, -ENODATA, "'%s' holds no counts", s->o->input);
		error_hint(e, "'%s stat record' writes such files; '%s report' and '%s script' read the "
			      "others", program_name, program_name, program_name);
		return -ENODATA;
	}
	return s->o->summary && !final ? print_totals(s, (double)time_ns * 1e-9, e) : 0;
}

static void close_session(struct stat_report_session *s)
{
	stat_rows_done(&s->rows);
	stat_plan_done(&s->plan);
	stat_input_close(&s->in);
	buf_done(&s->out);
	if (s->o->output && s->fd >= 0)
		close(s->fd);
}

static int report_run(void *opts, int argc, char **argv)
{
	struct stat_opts *o = opts;
	struct stat_report_session s = { .o = o };
	struct tacho_error e = { .column = -1 };
	int err, status = stat_check_output_options(o);

	if (status)
		return status;
	if (argc > 0) {
		message_text("stat report", "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	if (o->separator && strcmp(o->separator, "\\t") == 0)	/* an unquoted \t from a shell */
		o->separator = "\t";
	o->input = input_choose("stat report", o->input);
	if (!o->input)
		return EXIT_FAILED;
	s.fd = stat_open_output(o);
	if (s.fd < 0)
		return EXIT_FAILED;
	s.writer = stat_chosen_writer(o);
	s.report = (struct stat_report){ .opts = o, .color = term_has_colors(s.fd),
					 .group_sep = stat_group_separator(o) };
	err = stat_input_open(&s.in, o->input, o->force, &e);
	if (err == 0)
		err = print_rounds(&s, &e);
	if (err < 0 && e.code)
		message_error("stat report", NULL, NULL, &e);
	else if (err == 0 && tacho_perfdata_warning(s.in.pd))
		message_text("stat report", "%s", tacho_perfdata_warning(s.in.pd));
	close_session(&s);
	return err < 0 ? EXIT_FAILED : 0;
}

const struct command cmd_stat_report = {
	.name = "stat-report",
	.summary = "print counts that 'stat record' wrote; also 'stat report'",
	.rows = report_rows,
	.opts_size = sizeof(struct stat_opts),
	.defaults = stat_defaults,
	.run = report_run,
	.done = stat_done,
};
