/*
 * Runs a view with stacks for a time, or while a command runs, and writes the profile.
 */
#include "cli/stacks/stacks.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/num.h"
#include "cli/core/app.h"
#include "cli/core/run_command.h"
#include "cli/core/target_args.h"
#include "cli/core/terminal.h"
#include "cli/files/profile_export.h"

#define POLL_NS UINT64_C(200000000)
#define SLOW_POLL_NS UINT64_C(5000000000)	/* in the kernel there is nothing to do meanwhile; the tracker's ring wakes us */

struct stacks_session {
	struct stacks_run *r;
	const struct tacho_format *format;	/* NULL: text */
	bool as_table;
	struct tacho *lib;
	struct tacho_view *view;
	struct tacho_command *command;
	int *pids;
	double duration_s;
};

static int refuse(const struct stacks_run *r, const char *text)
{
	message_text(r->command, "%s", text);
	return EXIT_USAGE;
}

static int choose_format(struct stacks_session *s)
{
	const struct stacks_opts *o = s->r->o;
	const char *name = o->format ? o->format : s->r->default_format;

	if (!o->format && o->output && strcmp(o->output, "-") != 0) {
		s->format = tacho_format_of_path(o->output);
		if (s->format)
			return 0;
	}
	if (!strcmp(name, "table") || !strcmp(name, "stacks")) {
		s->as_table = !strcmp(name, "table");
		return 0;
	}
	s->format = tacho_format_find(name);
	if (s->format)
		return 0;
	message_text(s->r->command, "unknown format '%s'; use table, stacks or one that 'tacho export --list' shows", name);
	return EXIT_USAGE;
}

/* [SECONDS] [-- COMMAND ...] */
static int parse_args(struct stacks_session *s, int argc, char **argv, char ***command)
{
	const struct stacks_opts *o = s->r->o;
	int n = 0;

	s->duration_s = o->duration_s;
	if (argc && strcmp(argv[0], "--") != 0) {
		if (num_double(str_of(argv[0]), &s->duration_s) < 0) {
			message_text(s->r->command, "'%s' is not a number of seconds; a command comes after --", argv[0]);
			return EXIT_USAGE;
		}
		n = 1;
	}
	if (n < argc && strcmp(argv[n], "--") != 0) {
		message_text(s->r->command, "'%s' is not expected here; a command comes after --", argv[n]);
		return EXIT_USAGE;
	}
	*command = n < argc && argv[n + 1] ? argv + n + 1 : NULL;
	if (s->duration_s < 0 || s->duration_s > 1e8)
		return refuse(s->r, "the number of seconds is out of range");
	if (o->all_cpus && (o->pid || o->user || o->cgroup))
		return refuse(s->r, "-a is the whole machine: it cannot be used with -p, -u or -G");
	if (*command && o->pid)
		return refuse(s->r, "a command cannot be combined with -p");
	return 0;
}

static int open_view(struct stacks_session *s)
{
	const struct stacks_opts *o = s->r->o;
	struct tacho_view_opts *v = &s->r->v;
	struct tacho_error e = { .column = -1 };
	bool is_limited = s->command && !o->all_cpus;
	int err;

	if (o->pid && target_ids(s->r->command, "-p", o->pid, &s->pids, &v->n_pids) < 0)
		return EXIT_USAGE;
	if (o->user && target_user(s->r->command, o->user, &v->uid) < 0)
		return EXIT_USAGE;
	v->pids = s->pids;
	v->by_uid = o->user != NULL;
	v->cgroup = o->cgroup;
	v->follow = is_limited;
	v->by = s->r->by;
	v->no_bpf = o->no_bpf;
	v->keeps_maps = true;
	err = tacho_open(&s->lib, NULL, &e);
	if (err == 0)
		err = tacho_view_open(&s->view, s->lib, s->r->view, v, &e);
	if (err == 0 && is_limited)
		err = tacho_view_add_process(s->view, tacho_command_pid(s->command));
	if (err < 0)
		message_error(s->r->command, v->event && e.column >= 0 ? "-e" : NULL, v->event, &e);
	return err == -EINVAL || err == -ENOENT ? EXIT_USAGE : err < 0 ? EXIT_FAILED : 0;
}

static int no_row(void *arg, const struct tacho_view_row *row)
{
	(void)arg, (void)row;
	return 0;
}

static bool have_ended(const struct stacks_session *s)
{
	for (size_t i = 0; i < s->r->v.n_pids; i++)
		if (kill(s->pids[i], 0) == 0 || errno != ESRCH)
			return false;
	return s->r->v.n_pids > 0;
}

static int loop(struct stacks_session *s, const struct run_signals *signals, struct tacho_usage *usage, bool *ended)
{
	struct pollfd fds[2] = { { .fd = tacho_view_fd(s->view), .events = POLLIN },
				 { .fd = s->command ? tacho_command_fd(s->command) : -1, .events = POLLIN } };
	uint64_t now = clock_mono_ns(), end = s->duration_s > 0 ? now + (uint64_t)llround(s->duration_s * 1e9) : UINT64_MAX;
	uint64_t poll = tacho_view_why_samples(s->view) || s->r->v.n_pids ? POLL_NS : SLOW_POLL_NS;
	int err = 0;

	while (err == 0 && now < end && !*ended && !run_signals_ending() && !have_ended(s)) {
		uint64_t wait = min_of(end - now, poll);
		struct timespec timeout = { .tv_sec = (time_t)(wait / 1000000000), .tv_nsec = (long)(wait % 1000000000) };

		ppoll(fds, 2, &timeout, &signals->before);
		err = tacho_view_read(s->view, false, no_row, NULL);
		*ended = s->command && tacho_command_wait(s->command, false, usage) > 0;
		now = clock_mono_ns();
	}
	return err;
}

static void report_lost(const struct stacks_session *s)
{
	const char *why;
	uint64_t n = tacho_view_lost(s->view, &why);

	if (n)
		message_text(s->r->command, "%llu events were lost: %s", (unsigned long long)n, why);
}

static int write_text(const struct stacks_session *s, const struct tacho_profile *p)
{
	const struct stacks_opts *o = s->r->o;
	bool to_file = o->output && strcmp(o->output, "-") != 0;
	struct buf out = { 0 };
	int fd, status;

	if (s->as_table)
		stacks_put_table(p, o->top, &out);
	else
		stacks_put_stacks(p, s->r->weighs_time, o->top, &out);
	if (!to_file)
		return print_out(s->r->command, &out);
	fd = open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		message_text(s->r->command, "%s cannot be written: %s", o->output, strerror(errno));
		buf_done(&out);
		return EXIT_FAILED;
	}
	status = print_fd(s->r->command, fd, o->output, &out);
	close(fd);
	return status;
}

static int write_profile(const struct stacks_session *s)
{
	const struct stacks_opts *o = s->r->o;
	struct tacho_profile_opts opts = { .size = sizeof(opts), .no_inlines = o->no_inlines };
	struct tacho_output_opts out = { .size = sizeof(out), .title = o->title, .reverse = o->reverse };
	struct tacho_error e = { .column = -1 };
	struct tacho_profile *p = NULL;
	int status;

	if (s->r->weighs_time)
		out.weight = TACHO_WEIGHT_PERIOD;
	if (s->format)
		tacho_format_wants(s->format, &opts);
	if (tacho_view_profile(s->view, &opts, &p, &e) < 0) {
		message_error(s->r->command, NULL, NULL, &e);
		return EXIT_FAILED;
	}
	status = s->format ? profile_write(s->r->command, s->format, p, &out, o->output) : write_text(s, p);
	tacho_profile_free(p);
	return status;
}

static void announce(const struct stacks_session *s)
{
	const char *why = tacho_view_why_samples(s->view);

	if (term_is_tty(STDERR_FILENO) && !s->command && s->duration_s <= 0)
		message_text(s->r->command, "%s; end it with Ctrl-C%s%s", tacho_view_info(s->view)->summary, why ? "; on samples: " : "",
			     why ? why : "");
}

static int collect(struct stacks_session *s)
{
	struct tacho_usage usage = { .size = sizeof(usage) };
	struct run_signals signals;
	bool ended = false, cut;
	int status = 0, err;

	announce(s);
	run_signals_catch(&signals, false);
	err = run_command_release(s->command, s->r->command, &status);
	if (err == 0)
		err = loop(s, &signals, &usage, &ended);
	cut = s->command && !ended;
	if (err == 0)
		err = tacho_view_read(s->view, true, no_row, NULL);
	if (cut && !status)
		run_command_end(s->command, run_signals_ending() ? run_signals_ending() : SIGTERM, &signals, &usage);
	run_signals_restore(&signals);
	if (s->command && ended)
		status = run_command_exit_status(usage.status);
	message_if_out_of_memory(s->r->command, err);
	if (err < 0)
		return EXIT_FAILED;
	report_lost(s);
	err = write_profile(s);
	return err ? err : status;
}

int stacks_run(struct stacks_run *r, int argc, char **argv)
{
	struct stacks_session s = { .r = r };
	char **command = NULL;
	int status = parse_args(&s, argc, argv, &command);

	if (!status)
		status = choose_format(&s);
	if (!status && r->o->output && strcmp(r->o->output, "-") != 0 && !profile_can_write(r->command, r->o->output))
		status = EXIT_FAILED;
	if (!status && command && run_command_hold(&s.command, r->command, command) < 0)
		status = EXIT_FAILED;
	if (!status)
		status = open_view(&s);
	if (!status)
		status = collect(&s);
	tacho_view_close(s.view);
	tacho_close(s.lib);
	tacho_command_free(s.command);
	free(s.pids);
	return status;
}
