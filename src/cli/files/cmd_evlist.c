/*
 * `tacho evlist`: lists the events of a recording and their attributes.
 */
#include "cli/core/app.h"

#include "record/perf_abi.h"
#include "cli/files/evlist_text.h"

#include <tacho/trace.h>

struct evlist_opts {
	const char *input;
	bool force, frequency, group, trace_fields;
	unsigned verbose;
};

#define AT(field) offsetof(struct evlist_opts, field)
static const struct option_row evlist_rows[] = {
	{ OPT_STR, 'i', "input", AT(input), "FILE", "read FILE; - is stdin (default: perf.data)",
	  .complete = "file" },
	{ OPT_FLAG, 'f', "force", AT(force), NULL, "read a file that belongs to another user" },
	{ OPT_FLAG, 'F', "freq", AT(frequency), NULL, "print the frequency or period of each event" },
	{ OPT_FLAG, 'g', "group", AT(group), NULL, "print groups in braces" },
	{ OPT_FLAG, 0, "trace-fields", AT(trace_fields), NULL, "print the fields of tracepoints" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "print all fields of perf_event_attr" },
	{ .kind = OPT_END },
};

static void evlist_defaults(void *opts)
{
	struct evlist_opts *o = opts;

	o->input = "perf.data";
}

static void put_trace_fields(const struct tacho_perfdata *pd, uint64_t id, struct tacho_trace **trace,
			     struct buf *out)
{
	const struct tacho_trace_event *ev;
	const char *comma = "";

	if (!*trace && tacho_perfdata_tracing(pd, trace, NULL) < 0)
		return;
	ev = tacho_trace_find(*trace, id);
	if (!ev)
		return;
	buf_puts(out, ": trace_fields: ");
	for (size_t i = 0; i < tacho_trace_n_fields(ev); i++) {
		const char *name = tacho_trace_field(ev, i)->name;

		if (strncmp(name, "common_", 7) == 0)
			continue;
		buf_printf(out, "%s%s", comma, name);
		comma = ",";
	}
}

static void put_events(const struct tacho_perfdata *pd, const struct evlist_opts *o, struct buf *out)
{
	struct evlist_text text = { .verbose = o->verbose, .frequency = o->frequency, .group = o->group, .out = out };
	struct tacho_trace *trace = NULL;

	for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(pd, i);
		const struct perf_event_attr *attr = ev->attr;

		evlist_text_event(&text, ev, i);
		if (o->trace_fields && attr->type == PERF_TYPE_TRACEPOINT)
			put_trace_fields(pd, attr->config, &trace, out);
		else if (o->trace_fields)
			buf_puts(out, ": (not a tracepoint)");
		evlist_text_next(&text);
	}
	evlist_text_end(&text);
	tacho_trace_free(trace);
}

static int evlist_run(void *opts, int argc, char **argv)
{
	const struct evlist_opts *o = opts;
	struct tacho_perfdata_opts pd_opts = { .size = sizeof(pd_opts), .force = o->force };
	struct tacho_error e = { .column = -1 };
	struct tacho_perfdata *pd;
	struct buf out = { 0 };
	const char *warning;
	int damaged, written;

	if (argc > 0) {
		message_text("evlist", "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	if (tacho_perfdata_open(&pd, o->input, &pd_opts, &e) < 0) {
		message_error("evlist", NULL, NULL, &e);
		return EXIT_FAILED;
	}
	put_events(pd, o, &out);
	warning = tacho_perfdata_warning(pd);
	if (warning)		/* may be about event names */
		message_text("evlist", "%s", warning);
	damaged = tacho_perfdata_damage(pd, &e);
	if (damaged < 0)
		message_error("evlist", NULL, NULL, &e);
	tacho_perfdata_close(pd);
	written = print_out("evlist", &out);
	return damaged < 0 ? EXIT_FAILED : written;
}

const struct command cmd_evlist = {
	.name = "evlist",
	.summary = "list the events of a recording",
	.rows = evlist_rows,
	.opts_size = sizeof(struct evlist_opts),
	.defaults = evlist_defaults,
	.run = evlist_run,
};
