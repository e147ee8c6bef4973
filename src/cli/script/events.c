/*
 * Sets up how each event of the recording is printed: its fields, its padded name and its output file.
 * In a recording from a pipe, events may be added between samples, so new ones are set up as they
 * appear.
 */
#include "cli/script/script.h"

#include <errno.h>
#include <fcntl.h>

#include "base/error.h"
#include "base/io.h"
#include "cli/core/fast_format.h"

void sink_write(struct script *s, struct script_sink *sink)
{
	int err = buf_failed(&sink->out) ? -ENOMEM : io_write_all(sink->fd, sink->out.bytes, sink->out.n);

	if (err && !s->write_error)
		s->write_error = err;
	sink->bytes += sink->out.n;
	buf_clear(&sink->out);
}

static int sink_open(struct script *s, struct script_event *ev, struct tacho_error *e)
{
	struct script_sink *sink = calloc(1, sizeof(*sink));
	struct buf path = { 0 };

	if (!sink)
		return error_nomem(e);
	buf_printf(&path, "%s.%s.dump", s->opts->input, ev->file->name);
	sink->path = buf_take(&path);
	ev->sink = sink;
	sink->fd = -1;
	if (!sink->path)
		return error_nomem(e);
	for (char *c = sink->path + strlen(s->opts->input); *c; c++)
		if (*c == '/')		/* event names may contain slashes: cpu/cycles/ */
			*c = '_';
	sink->fd = open(sink->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (sink->fd < 0)
		return error_set(e, -errno, "cannot write '%s': %s", sink->path, strerror(errno));
	return 0;
}

static int make_label(struct script *s, struct script_event *ev)
{
	struct buf label = { 0 };

	buf_printf(&label, "%*s: ", (int)min_of(s->name_width, (size_t)4096), ev->file->name);
	ev->n_label = label.n;
	buf_pad(&label, '\0', FORMAT_SLACK);
	ev->label = buf_take(&label);
	return ev->label ? 0 : -ENOMEM;
}

static const char *kernel_function(void *arg, uint64_t address, uint64_t *offset)
{
	struct script *s = arg;
	struct tacho_frame frame;

	if (tacho_symbols_resolve(s->symbols, 0, TACHO_SPACE_KERNEL, address, &frame) <= 0)
		return NULL;
	*offset = frame.symbol_offset;
	return tacho_symbols_name(s->symbols, frame.symbol);
}

int script_trace(struct script *s, struct script_event *ev)
{
	int err;

	if (!s->trace) {
		err = tacho_perfdata_tracing(s->pd, &s->trace, NULL);
		if (err)
			return err;
		s->trace_opts = (struct tacho_trace_opts){
			.size = sizeof(s->trace_opts), .swapped = tacho_perfdata_swapped(s->pd),
			.function = kernel_function, .arg = s,
		};
	}
	ev->trace = tacho_trace_find(s->trace, ev->attr->config);
	return ev->trace ? 0 : -ENOENT;
}

static bool is_tracker(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

/* The dummy event for sideband records always has a CPU. Like perf, its lines omit the CPU if another
 * software event has none. */
static bool lacks_cpu(const struct tacho_file_event *ev)
{
	const struct perf_event_attr *attr = ev->attr;

	return attr->type == PERF_TYPE_SOFTWARE && !is_tracker(attr) &&
	       !(ev->layout.sample_type & PERF_SAMPLE_CPU);
}

static int event_add(struct script *s, size_t i, struct tacho_error *e)
{
	struct script_event *ev = vec_add(&s->events);
	int err;

	if (!ev)
		return error_nomem(e);
	ev->file = tacho_perfdata_event(s->pd, i);
	ev->attr = ev->file->attr;
	ev->chains = (ev->file->layout.sample_type & PERF_SAMPLE_CALLCHAIN) && !s->opts->hide_chains;
	ev->values = tacho_perfdata_has_values(ev->file);
	s->values |= ev->values;
	ev->sink = &s->sink;
	err = fields_of_event(&s->fields, ev->file, ev->chains, &ev->fields, e);
	if (err)
		return err;
	if (is_tracker(ev->attr) && s->lacks_cpu)
		ev->fields &= ~(uint32_t)FIELD_CPU;
	hwtrace_event(&s->fields, ev);
	ev->has_fields_after_ip = extra_fields_has_after_ip(ev);
	if (make_label(s, ev))
		return error_nomem(e);
	if (script_shows_trace(s, ev) && (script_trace(s, ev) == -ENOMEM || trace_fields_of_event(s, ev) < 0))
		return error_nomem(e);
	if (s->opts->per_event_dump)
		return sink_open(s, ev, e);
	return 0;
}

int script_events(struct script *s, struct tacho_error *e)
{
	size_t n = tacho_perfdata_n_events(s->pd);
	int err = 0;

	s->state_version++;	/* the array of events may have moved */
	for (size_t i = s->events.n; i < n; i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(s->pd, i);

		s->name_width = max_of(s->name_width, strlen(ev->name));
		s->lacks_cpu |= lacks_cpu(ev);
	}
	for (size_t i = s->events.n; i < n && !err; i++)
		err = event_add(s, i, e);
	return err;
}

void script_events_done(struct script *s)
{
	for (size_t i = 0; i < s->events.n; i++) {
		struct script_event *ev = &s->events.v[i];

		free(ev->label);
		vec_done(&ev->trace_fields);
		if (ev->sink == &s->sink || !ev->sink)
			continue;
		if (ev->sink->fd >= 0)
			close(ev->sink->fd);
		buf_done(&ev->sink->out);
		free(ev->sink->path);
		free(ev->sink);
	}
	vec_done(&s->events);
}
