/*
 * `tacho evlist`: lists the events of a recording and their attributes.
 */
#include "cli/core/app.h"

#include <errno.h>
#include "cli/core/input.h"

#include "record/perf_abi.h"
#include "cli/files/attr_line.h"
#include "cli/files/evlist_text.h"

#include <tacho/trace.h>

struct evlist_opts {
	const char *input;
	bool force, frequency, group, trace_fields, json;
	unsigned verbose;
};

#define AT(field) offsetof(struct evlist_opts, field)
static const struct option_row evlist_rows[] = {
	{ OPT_STR, 'i', "input", AT(input), "FILE", INPUT_HELP,
	  .complete = "file" },
	{ OPT_FLAG, 'f', "force", AT(force), NULL, "read a file that belongs to another user" },
	{ OPT_FLAG, 'F', "freq", AT(frequency), NULL, "print the frequency or period of each event" },
	{ OPT_FLAG, 'g', "group", AT(group), NULL, "print groups in braces" },
	{ OPT_FLAG, 0, "trace-fields", AT(trace_fields), NULL, "print the fields of tracepoints" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "print all fields of perf_event_attr" },
	{ OPT_FLAG, 0, "json", AT(json), NULL, "print one JSON object with all of that" },
	{ .kind = OPT_END },
};

/* The format of a tracepoint; NULL: the recording does not have it. *trace is opened for the first one. */
static const struct tacho_trace_event *find_format(const struct tacho_perfdata *pd, uint64_t id,
						   struct tacho_trace **trace, struct buf *out)
{
	const struct tacho_trace_event *ev = NULL;
	int err = *trace ? 0 : tacho_perfdata_tracing(pd, trace, NULL);

	if (err == 0) {
		ev = tacho_trace_find(*trace, id);
		err = tacho_trace_failed(*trace);
	}
	out->bad |= err == -ENOMEM;
	return ev;
}

static void put_trace_fields(const struct tacho_perfdata *pd, uint64_t id, struct tacho_trace **trace,
			     struct buf *out)
{
	const struct tacho_trace_event *ev = find_format(pd, id, trace, out);
	const char *comma = "";

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

static void json_trace_fields(const struct tacho_perfdata *pd, uint64_t id, struct tacho_trace **trace, struct json *j)
{
	const struct tacho_trace_event *ev = find_format(pd, id, trace, j->out);

	if (!ev)
		return;
	json_key(j, "trace_fields");
	json_begin(j, '[');
	for (size_t i = 0; i < tacho_trace_n_fields(ev); i++)
		if (strncmp(tacho_trace_field(ev, i)->name, "common_", 7) != 0)
			json_str(j, tacho_trace_field(ev, i)->name);
	json_end(j);
}

static void json_event(const struct tacho_file_event *ev, struct json *j)
{
	json_member(j, "name", str, ev->name);
	json_member(j, "leader", u64, ev->leader);
	json_member(j, "group_size", u64, ev->group_size);
	json_member(j, "unit", str, ev->unit);
	json_member(j, "scale", double, ev->scale);
	json_key(j, "ids");
	json_begin(j, '[');
	for (size_t i = 0; i < ev->n_ids; i++)
		json_u64(j, ev->ids[i]);
	json_end(j);
	json_key(j, "attr");
	file_attr_json(ev, j);
}

static void json_events(const struct tacho_perfdata *pd, const struct evlist_opts *o, struct buf *out)
{
	struct tacho_trace *trace = NULL;
	struct json j = { .out = out };

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.evlist/1");
	json_member(&j, "file", str, o->input);
	json_key(&j, "events");
	json_begin(&j, '[');
	for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(pd, i);
		const struct perf_event_attr *attr = ev->attr;

		json_begin(&j, '{');
		json_event(ev, &j);
		if (attr->type == PERF_TYPE_TRACEPOINT)
			json_trace_fields(pd, attr->config, &trace, &j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
	tacho_trace_free(trace);
}

/* A stream has to be read to its end: attrs may come late, and only then is it known to be complete. */
static int read_stream(struct tacho_perfdata *pd, struct tacho_error *e)
{
	struct tacho_record rec;
	int err;

	if (!tacho_perfdata_is_pipe(pd))
		return tacho_perfdata_damage(pd, e);
	while ((err = tacho_perfdata_next(pd, &rec, e)) > 0)
		;
	return err;
}

static int evlist_run(void *opts, int argc, char **argv)
{
	struct evlist_opts *o = opts;
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
	o->input = input_choose("evlist", o->input);
	if (!o->input)
		return EXIT_FAILED;
	if (tacho_perfdata_open(&pd, o->input, &pd_opts, &e) < 0) {
		message_error("evlist", NULL, NULL, &e);
		return EXIT_FAILED;
	}
	damaged = read_stream(pd, &e);
	(o->json ? json_events : put_events)(pd, o, &out);
	warning = tacho_perfdata_warning(pd);
	if (warning)		/* may be about event names */
		message_text("evlist", "%s", warning);
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
	.run = evlist_run,
};
