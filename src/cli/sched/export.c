/*
 * `tacho sched export`: writes a recording of the scheduler in the format of another program.
 */
#include "cli/sched/export.h"

#include <errno.h>

#include "base/error.h"
#include "base/io.h"
#include "cli/core/terminal.h"
#include "cli/kernel/input.h"

#define COMMAND "sched export"

static const struct sched_format *const formats[] = { &sched_format_perfetto, &sched_format_ftrace, &sched_format_chrome };

static const struct sched_format *find_format(const char *name)
{
	for (size_t i = 0; i < countof(formats); i++)
		if (!strcmp(name, formats[i]->name))
			return formats[i];
	message_text(COMMAND, "'%s' is not a format: perfetto, ftrace or chrome", name);
	return NULL;
}

struct export_run {
	struct sched_export x;
	const struct sched_format *format;
	uint64_t n_events, n_switches;	/* exported */
};

static int on_event(void *arg, const struct tacho_sched_event *ev)
{
	struct export_run *run = arg;
	int err;

	/* Only whole events: no switch is moved to the end of the selected time. */
	if (ev->sample_ns && ev->sample_ns != ev->time)
		return 0;
	if (!run->x.first_ns)
		run->x.first_ns = ev->time;
	run->n_events++;
	run->n_switches += ev->kind == TACHO_SCHED_SWITCH;
	err = run->format->event(&run->x, ev);
	return err < 0 ? err : sched_output_line(&run->x.out);
}

static int write_all(struct export_run *run, struct tacho_error *e)
{
	struct sched_export *x = &run->x;
	int err = run->format->begin ? run->format->begin(x) : 0, read;

	if (err < 0)
		return error_nomem(e);
	read = tacho_sched_run(x->sched, e);
	if (read != -ENOENT && read != -ENOMEM && run->format->end && !x->out.err)
		err = run->format->end(x);
	return err < 0 ? error_nomem(e) : read;
}

/* A trace without switches looks like a machine on which nothing ran. */
static int report_missing(const struct export_run *run)
{
	if (run->n_switches)
		return 0;
	message_text(COMMAND, "%s no event sched:sched_switch, so the trace %s",
		     run->x.o->time ? "in this time the recording has" : "the recording has",
		     run->n_events ? "does not show which task ran when" : "is empty");
	return run->n_events ? 0 : EXIT_FAILED;
}

static int export_to(struct export_run *run, const char *path)
{
	struct tacho_error e = { .column = -1 };
	struct sched_export *x = &run->x;
	int err, status;

	if (!sched_output_open(&x->out, COMMAND, path))
		return EXIT_FAILED;
	err = write_all(run, &e);
	if (run->format->done)
		run->format->done(x);
	if (err == -ENOENT || err == -ENOMEM)
		buf_clear(&x->out.text);
	status = sched_output_close(&x->out);
	if (status || err == -ENOENT || err == -ENOMEM)
		io_discard(x->out.path ? x->out.path : "");
	if (status == 0)
		status = kernel_status(COMMAND, tacho_sched_totals(x->sched), err, &e);
	return status ? status : report_missing(run);
}

static bool has_chains(const struct tacho_perfdata *pd)
{
	enum { SAMPLE_CALLCHAIN = 1 << 5 };

	for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++)
		if (tacho_perfdata_event(pd, i)->layout.sample_type & SAMPLE_CALLCHAIN)
			return true;
	return false;
}

static int export_recording(const struct sched_opts *o, const struct sched_format *format, struct tacho_perfdata *pd)
{
	struct export_run run = { .x = { .o = o, .pd = pd }, .format = format };
	struct tacho_symbols_opts symbols = { .size = sizeof(symbols) };
	struct tacho_sched_opts opts = { .size = sizeof(opts), .everything = true, .event = on_event, .arg = &run };
	struct tacho_error e = { .column = -1 };
	struct time_window window;
	int status = EXIT_FAILED;

	if (!sched_time(COMMAND, o, pd, &window))
		return EXIT_USAGE;
	opts.from_ns = window.from_ns;
	opts.to_ns = window.to_ns;
	run.x.chains = format->symbols && has_chains(pd);
	if (run.x.chains)
		opts.symbols = &symbols;
	if (tacho_sched_new(&run.x.sched, pd, &opts, &e) < 0)
		message_error(COMMAND, NULL, NULL, &e);
	else
		status = export_to(&run, o->output);
	tacho_sched_free(run.x.sched);
	return status;
}

static bool can_write(const struct sched_opts *o, const struct sched_format *format)
{
	const char *input = o->input ? o->input : "perf.data", *output = o->output ? o->output : "-";
	bool to_stdout = !strcmp(output, "-");

	if (to_stdout && format->binary && term_is_tty(STDOUT_FILENO)) {
		message_text(COMMAND, "%s is not text: give a file with -o", format->name);
		return false;
	}
	if (!to_stdout && io_same_file(input, output)) {
		message_text(COMMAND, "'%s' cannot be input and output", input);
		return false;
	}
	return true;
}

int sched_export_run(void *opts, int argc, char **argv)
{
	const struct sched_opts *o = opts;
	const struct sched_format *format = find_format(o->format ? o->format : "perfetto");
	struct tacho_perfdata *pd;
	int status;

	if (argc)
		message_text(COMMAND, "'%s' is not expected here", argv[0]);
	if (argc || !format)
		return EXIT_USAGE;
	if (!can_write(o, format))
		return EXIT_USAGE;
	pd = kernel_open(COMMAND, o->input, o->force);
	if (!pd)
		return EXIT_FAILED;
	status = export_recording(o, format, pd);
	tacho_perfdata_close(pd);
	return status;
}
