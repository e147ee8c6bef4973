/*
 * `tacho snoop`: views of what the machine does, each made of a few events: see `tacho snoop --list`.
 */
#include "cli/snoop/snoop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/error.h"
#include "base/num.h"
#include "cli/core/app.h"
#include "cli/core/run_command.h"
#include "cli/core/target_args.h"
#include "cli/core/terminal.h"

struct snoop_all_opts {
	struct snoop_opts o;
	bool list;
};

#define AT(field) offsetof(struct snoop_all_opts, field)
static const struct option_row snoop_rows[] = {
	{ OPT_GROUP, .help = "Which events" },
	{ OPT_FLAG, 0, "list", AT(list), NULL, "list the views" },
	{ OPT_STR, 'p', "pid", AT(o.pid), "PIDS", "only these processes, e.g. 812,4711", .complete = "pid" },
	{ OPT_STR, 'u', "uid", AT(o.user), "USER", "only processes of this user" },
	{ OPT_STR, 'G', "cgroup", AT(o.cgroup), "NAME", "only processes in this cgroup and those below it" },
	{ OPT_DOUBLE, 0, "min", AT(o.min_ms), "MSEC", "leave out what took less than MSEC" },
	{ OPT_GROUP, .help = "How long" },
	{ OPT_DOUBLE, 'i', "interval", AT(o.interval_s), "SECONDS", "print sums every SECONDS, of that time" },
	{ OPT_U64, 'n', "count", AT(o.count), "N", "end after N intervals, or N rows of events" },
	{ OPT_DOUBLE, 'd', "duration", AT(o.duration_s), "SECONDS", "end after SECONDS" },
	{ OPT_GROUP, .help = "How to show it" },
	{ OPT_STR, 0, "by", AT(o.by), "KEYS", "what sums are kept apart by, e.g. process or disk,kind" },
	{ OPT_FLAG, 'P', "by-process", AT(o.by_process), NULL, "the same as --by process" },
	{ OPT_FLAG, 0, "totals", AT(o.totals), NULL, "a table of counts and total times instead of histograms" },
	{ OPT_FLAG, 'm', "milliseconds", AT(o.milliseconds), NULL, "histograms in milliseconds" },
	{ OPT_STR, 0, "unit", AT(o.unit), "UNIT", "unit of histograms: ns, us or ms", .complete = "ns us ms" },
	{ OPT_FLAG, 'T', "timestamp", AT(o.timestamps), NULL, "print the time before the sums of an interval" },
	{ OPT_FLAG, 0, "json", AT(o.json), NULL, "an object per line" },
	{ OPT_FLAG, 0, "svg", AT(o.svg), NULL, "histograms as a picture" },
	{ OPT_STR, 'o', "output", AT(o.output), "FILE", "write to FILE instead of stdout", .complete = "file" },
	{ OPT_GROUP, .help = "How to collect it" },
	{ OPT_FLAG, 0, "no-bpf", AT(o.no_bpf), NULL, "use samples of the events instead of a BPF program", .flags = OPTF_NEGATED },
	{ OPT_UINT, 0, "buffer", AT(o.ring_kb), "KB", "size of the buffer for rows of events (default 8192)", .min = 4, .max = 1048576 },
	{ OPT_UINT, 0, "max-rows", AT(o.max_rows), "N", "how many rows of sums there can be (default 16384, histograms 4096)",
	  .min = 1, .max = 1000000 },
	{ .kind = OPT_END },
};

static int refuse(const char *text)
{
	message_text("snoop", "%s", text);
	return EXIT_USAGE;
}

static int check(const struct snoop_opts *o)
{
	if (o->json && o->svg)
		return refuse("--json and --svg exclude each other");
	if (o->by && o->by_process)
		return refuse("--by and -P exclude each other");
	if (o->unit && o->milliseconds)
		return refuse("--unit and -m exclude each other");
	if (o->unit && strcmp(o->unit, "ns") != 0 && strcmp(o->unit, "us") != 0 && strcmp(o->unit, "ms") != 0)
		return refuse("--unit is ns, us or ms");
	if (o->interval_s < 0 || o->duration_s < 0 || o->min_ms < 0 || o->interval_s > 1e6 || o->duration_s > 1e8 || o->min_ms > 1e9)
		return refuse("a time is out of range");
	return 0;
}

static int list_views(void)
{
	struct buf out = { 0 };

	for (const struct tacho_view_info *const *v = tacho_views(); *v; v++)
		buf_printf(&out, "%-12s  %s\n", (*v)->name, (*v)->summary);
	return print_out("snoop", &out);
}

/* VIEW [ARG...] [INTERVAL [COUNT]] [-- COMMAND ...]: bcc's tools take the interval and count as arguments. */
static int take_numbers(struct snoop *s, const struct tacho_view_info *info)
{
	double interval;
	uint64_t count;

	s->interval_s = s->o->interval_s;
	s->count = s->o->count;
	if (s->n_args >= 2 && num_u64(str_of(s->args[s->n_args - 1]), &count) == 0 &&
	    num_double(str_of(s->args[s->n_args - 2]), &interval) == 0) {
		s->count = count;
		s->interval_s = interval;
		s->n_args -= 2;
	} else if (s->n_args >= 1 && num_double(str_of(s->args[s->n_args - 1]), &interval) == 0) {
		s->interval_s = interval;
		s->n_args--;
	}
	if (s->interval_s < 0 || s->interval_s > 1e6 || (s->interval_s > 0 && s->interval_s < 0.01))
		return refuse("an interval is a number of seconds from 0.01");
	if (s->interval_s > 0 && info && !info->is_summary)
		return refuse("this view prints events as they happen: it has no intervals");
	if (info && !info->is_summary && (s->o->totals || s->o->timestamps || s->o->max_rows))
		return refuse("this view prints events as they happen: it has no sums, which --totals, -T and --max-rows are for");
	return 0;
}

static const struct tacho_view_info *find_info(const char *name)
{
	for (const struct tacho_view_info *const *v = tacho_views(); *v; v++)
		if (!strcmp((*v)->name, name))
			return *v;
	return NULL;
}

static int open_output(struct snoop *s)
{
	s->out_fd = STDOUT_FILENO;
	if (s->o->output)
		s->out_fd = open(s->o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (s->out_fd < 0)
		message_text("snoop", "%s cannot be written: %s", s->o->output, strerror(errno));
	return s->out_fd < 0 ? EXIT_FAILED : 0;
}

static int open_view(struct snoop *s)
{
	const struct snoop_opts *o = s->o;
	const struct tacho_view_info *info = find_info(s->name);
	bool is_limited = s->command && info && !info->is_machine_wide;	/* to the command */
	struct tacho_view_opts v = { .size = sizeof(v), .pids = s->pids, .n_pids = s->n_pids, .follow = is_limited,
		.by_uid = o->user != NULL, .cgroup = o->cgroup, .min_ns = (uint64_t)(o->min_ms * 1e6),
		.by = o->by_process ? "process" : o->by, .args = s->args, .n_args = s->n_args, .no_bpf = o->no_bpf,
		.totals = o->totals, .ring_bytes = o->ring_kb * 1024, .max_rows = o->max_rows };
	struct tacho_error e = { .column = -1 };
	int err = 0;

	if (o->user && target_user("snoop", o->user, &v.uid) < 0)
		return EXIT_USAGE;
	if (o->unit || o->milliseconds)
		v.unit_ns = o->milliseconds || !strcmp(o->unit, "ms") ? 1000000 : !strcmp(o->unit, "us") ? 1000 : 1;
	err = tacho_open(&s->lib, NULL, &e);
	if (err == 0)
		err = tacho_view_open(&s->view, s->lib, s->name, &v, &e);
	if (err == 0 && is_limited)
		err = tacho_view_add_process(s->view, tacho_command_pid(s->command));
	if (err < 0) {
		if (!info && !e.hint[0])
			error_hint(&e, "'tacho snoop --list' lists them");
		message_error("snoop", NULL, NULL, &e);
		return err == -EINVAL || err == -ENOENT ? EXIT_USAGE : EXIT_FAILED;
	}
	s->info = tacho_view_info(s->view);
	return 0;
}

static int start(struct snoop *s)
{
	int status = 0;

	if (s->o->pid && target_ids("snoop", "-p", s->o->pid, &s->pids, &s->n_pids) < 0)
		return EXIT_USAGE;
	if (s->pids && s->command_argv)
		return refuse("a command cannot be combined with -p");
	if (s->command_argv && run_command_hold(&s->command, "snoop", s->command_argv) < 0)
		return EXIT_FAILED;
	status = open_view(s);
	if (status == 0 && s->o->svg && !s->info->has_histogram)
		status = refuse("this view has no histogram, and --svg draws histograms");
	if (status == 0)
		status = open_output(s);
	if (status)
		return status;
	s->is_screen = s->info->is_summary && !s->o->json && !s->o->svg && term_is_tty(s->out_fd);
	if (term_is_tty(STDERR_FILENO) && !s->command)
		message_text("snoop", "%s; end it with Ctrl-C%s%s", s->info->summary,
			     tacho_view_why_samples(s->view) ? "; on samples: " : "",
			     tacho_view_why_samples(s->view) ? tacho_view_why_samples(s->view) : "");
	return snoop_loop(s);
}

static int snoop_run(void *opts, int argc, char **argv)
{
	const struct snoop_all_opts *all = opts;
	struct snoop s = { .o = &all->o, .out_fd = STDOUT_FILENO,
			   .writer = all->o.json ? &snoop_json : all->o.svg ? &snoop_svg : &snoop_text };
	int status = check(&all->o), n = 1;

	if (status)
		return status;
	if (all->list)
		return list_views();
	if (!argc || !strcmp(argv[0], "--"))
		return refuse("which view? 'tacho snoop --list' lists them");
	s.name = argv[0];
	while (n < argc && strcmp(argv[n], "--") != 0)
		n++;
	s.args = (const char **)argv + 1;
	s.n_args = (size_t)n - 1;
	if (n < argc && n + 1 < argc)
		s.command_argv = argv + n + 1;
	status = take_numbers(&s, find_info(s.name));
	if (status == 0)
		status = start(&s);
	if (s.out_fd > STDOUT_FILENO)
		close(s.out_fd);
	tacho_view_close(s.view);
	tacho_close(s.lib);
	tacho_command_free(s.command);
	buf_done(&s.out);
	free(s.pids);
	return status;
}

const struct command cmd_snoop = {
	.name = "snoop",
	.summary = "show what programs, files, disks, sockets and functions do",
	.args = "VIEW [ARG...] [INTERVAL [COUNT]] [-- COMMAND...]",
	.rows = snoop_rows,
	.opts_size = sizeof(struct snoop_all_opts),
	.run = snoop_run,
	.keeps_double_dash = true,
	.complete_args = "view",
};
