/*
 * -g python, -g FILE.py: the start of a script for a recording, with a function for each of its tracepoints. A file that
 * is not named is not overwritten.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io.h"
#include "cli/script/python.h"

#define STARTER_PATH "perf-script.py"

static const char head[] =
	"# Run it with: tacho script -s FILE, or perf script -s FILE\n"
	"import os\n"
	"import sys\n"
	"\n"
	"sys.path.append(os.environ.get('PERF_EXEC_PATH', '') + '/scripts/python/Perf-Trace-Util/lib/Perf/Trace')\n"
	"from perf_trace_context import *\n"
	"from Core import *\n"
	"\n"
	"\n"
	"def trace_begin():\n"
	"    print('begin')\n"
	"\n"
	"\n"
	"def trace_end():\n"
	"    print('end')\n";

static const char tail[] =
	"\n\n"
	"def trace_unhandled(event_name, context, fields, sample):\n"
	"    \"\"\"Tracepoints without a function of their own.\"\"\"\n"
	"    print(event_name, fields)\n"
	"\n\n"
	"def process_event(sample):\n"
	"    \"\"\"Samples of all events that are not tracepoints.\"\"\"\n"
	"    print(sample['ev_name'], sample['comm'], sample['sample']['time'], sample.get('symbol', '[unknown]'))\n";

static bool is_shown(const struct tacho_trace_field *f)
{
	return strncmp(f->name, "common_", 7) != 0;
}

static void put_function(const struct tacho_trace_event *ev, struct buf *out)
{
	const char *name = tacho_trace_name(ev), *colon = strchr(name, ':');
	size_t n = tacho_trace_n_fields(ev);

	buf_printf(out, "\n\ndef %.*s__%s(event_name, context, common_cpu, common_secs, common_nsecs,\n"
		   "        common_pid, common_comm, common_callchain", colon ? (int)(colon - name) : 0, name,
		   colon ? colon + 1 : name);
	for (size_t i = 0; i < n; i++)
		if (is_shown(tacho_trace_field(ev, i)))
			buf_printf(out, ", %s", tacho_trace_field(ev, i)->name);
	buf_puts(out, ", sample):\n    print(f'{common_secs}.{common_nsecs:09d} {common_comm} {common_pid} {event_name}");
	for (size_t i = 0; i < n; i++)
		if (is_shown(tacho_trace_field(ev, i)))
			buf_printf(out, " %s={%s}", tacho_trace_field(ev, i)->name, tacho_trace_field(ev, i)->name);
	buf_puts(out, "')\n");
}

static int put_functions(const char *input, bool force, struct buf *out, struct tacho_error *e)
{
	struct tacho_perfdata *pd = NULL;
	struct tacho_trace *trace = NULL;
	int err = tacho_perfdata_open(&pd, input, TACHO_OPTS(tacho_perfdata_opts, .force = force), e);

	if (err < 0)
		return err;
	if (tacho_perfdata_tracing(pd, &trace, NULL) == 0)
		for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++) {
			const struct perf_event_attr *attr = tacho_perfdata_event(pd, i)->attr;
			const struct tacho_trace_event *ev = attr->type == PERF_TYPE_TRACEPOINT ?
							     tacho_trace_find(trace, attr->config) : NULL;

			if (ev)
				put_function(ev, out);
		}
	tacho_trace_free(trace);
	tacho_perfdata_close(pd);
	return 0;
}

static int write_file(const char *path, bool overwrite, const struct buf *out, struct tacho_error *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (overwrite ? O_TRUNC : O_EXCL), 0666), err;

	if (fd < 0)
		return error_set(e, -errno, "cannot create '%s': %s", path, strerror(errno));
	err = io_write_all(fd, out->bytes, out->n);
	if (close(fd) < 0 && err == 0)
		err = -errno;
	return err < 0 ? error_set(e, err, "cannot write '%s': %s", path, strerror(-err)) : 0;
}

static bool is_python_file(const char *path)
{
	size_t n = strlen(path);

	return n > 3 && strcmp(path + n - 3, ".py") == 0;
}

int script_starter(const struct script_opts *o)
{
	scoped(buf_done) struct buf out = { 0 };
	struct tacho_error e = { .column = -1 };
	bool named = is_python_file(o->starter);
	const char *path = named ? o->starter : STARTER_PATH;
	int err;

	if (!named && strcmp(o->starter, "python") != 0 && strcmp(o->starter, "py") != 0) {
		message_text("script", "-g takes python or a FILE.py, not '%s'; Perl scripts are not supported", o->starter);
		return EXIT_USAGE;
	}
	buf_puts(&out, head);
	err = put_functions(o->input, o->force, &out, &e);
	buf_puts(&out, tail);
	if (err == 0 && buf_failed(&out))
		err = error_nomem(&e);
	if (err == 0)
		err = write_file(path, named, &out, &e);
	if (err < 0) {
		message_error("script", NULL, NULL, &e);
		return EXIT_FAILED;
	}
	message_text("script", "wrote %s", path);
	return 0;
}
