/*
 * `trace record` writes system calls to a perf.data file, and -i prints those of a file. Strings are not in such a file,
 * so their addresses are printed.
 */
#include "cli/trace/trace.h"

#include <errno.h>

#include "base/error.h"
#include "cli/core/app.h"

extern const struct command cmd_record;

static int learn_file_events(struct trace *t, struct tacho_perfdata *pd)
{
	size_t n = tacho_perfdata_n_events(pd);

	t->n_events = n;
	t->events = calloc(n + 1, sizeof(*t->events));
	t->scratch = calloc(1, sizeof(*t->scratch));
	if (!t->events || !t->scratch)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct tacho_file_event *f = tacho_perfdata_event(pd, i);
		uint64_t config = 0;

		if (f->attr_size >= 16)
			memcpy(&config, (const char *)f->attr + 8, sizeof(config));
		t->events[i].name = f->name;
		t->events[i].layout = f->layout;
		t->events[i].kind = !strncmp(f->name, "raw_syscalls:sys_enter", 22) ? TRACE_ENTRY :
				    !strncmp(f->name, "raw_syscalls:sys_exit", 21) ? TRACE_EXIT :
				    strchr(f->name, ':') ? TRACE_TRACEPOINT : TRACE_OTHER;
		t->events[i].format = t->formats ? tacho_trace_find(t->formats, config) : NULL;
	}
	return 0;
}

static int handle_record(struct trace *t, struct tacho_perfdata *pd, const struct tacho_record *rec)
{
	int event = tacho_perfdata_event_of(pd, rec);

	if (rec->type == TACHO_RECORD_SAMPLE)
		return event >= 0 && t->events[event].kind != TRACE_OTHER ? trace_handle_sample(t, &t->events[event], rec) : 0;
	if (rec->type < 64 && t->n_events)
		return trace_handle_sideband(t, &t->events[max_of(event, 0)].layout, rec);
	return 0;
}

int trace_run_replay(struct trace *t)
{
	struct tacho_perfdata_opts opts = { .size = sizeof(opts), .ordered = true, .force = t->o->force };
	struct tacho_error e = { .column = -1 };
	struct tacho_perfdata *pd = NULL;
	struct tacho_record rec;
	int err = tacho_perfdata_open(&pd, t->o->input, &opts, &e);

	t->command_started = true;
	if (err == 0)
		err = tacho_perfdata_tracing(pd, &t->formats, &e);
	if (err == -ENODATA || err == -ENOENT)
		err = 0;
	if (err == 0)
		err = learn_file_events(t, pd);
	while (err == 0 && !t->stop && (err = tacho_perfdata_next(pd, &rec, &e)) > 0)
		err = handle_record(t, pd, &rec);
	trace_finish_pending(t);
	trace_flush(t);
	if (err < 0 && e.message[0])
		message_error("trace", NULL, NULL, &e);
	if (t->sampler_lost)
		message_text("trace", "%llu events were lost while recording", (unsigned long long)t->sampler_lost);
	message_if_out_of_memory("trace", err);
	trace_sampler_close(t);
	tacho_perfdata_close(pd);
	return err < 0 ? EXIT_FAILED : 0;
}

int trace_run_record(int argc, char **argv)
{
	static const char *const fixed[] = { "record", "-e", "raw_syscalls:sys_enter,raw_syscalls:sys_exit", "-c", "1", "-m", "1024" };
	const char **args = calloc(countof(fixed) + (size_t)argc + 1, sizeof(*args));
	int status;

	if (!args)
		return EXIT_FAILED;
	memcpy(args, fixed, sizeof(fixed));
	memcpy(args + countof(fixed), argv, (size_t)argc * sizeof(*argv));
	status = command_run(&cmd_record, (int)countof(fixed) + argc, (char **)args);
	free(args);
	return status;
}
