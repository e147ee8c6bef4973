/*
 * Reads a recording once for `data convert`: sideband records update mappings and names, and each
 * sample is passed to the writer.
 */
#include "cli/files/convert.h"

#include <errno.h>

#include "base/error.h"
#include "cli/files/build_id_table.h"

static const char *kernel_function(void *arg, uint64_t address, uint64_t *offset)
{
	struct convert *c = arg;
	struct tacho_frame frame;

	if (tacho_symbols_resolve(c->symbols, 0, TACHO_SPACE_KERNEL, address, &frame) <= 0)
		return NULL;
	*offset = frame.symbol_offset;
	return tacho_symbols_name(c->symbols, frame.symbol);
}

/* *out is NULL if the recording has no such format. Returns 0 or -ENOMEM. */
static int find_trace(struct convert *c, uint64_t id, const struct tacho_trace_event **out)
{
	int err = c->trace ? 0 : tacho_perfdata_tracing(c->pd, &c->trace, NULL);

	*out = NULL;
	if (err < 0)
		return err == -ENOMEM ? err : 0;
	if (!c->trace_opts.size)
		c->trace_opts = (struct tacho_trace_opts){
			.size = sizeof(c->trace_opts), .swapped = tacho_perfdata_swapped(c->pd),
			.function = kernel_function, .arg = c,
		};
	*out = tacho_trace_find(c->trace, id);
	return 0;
}

/* Adds new events; in a recording from a pipe they may come between samples. */
static int add_new_events(struct convert *c)
{
	while (c->events.n < tacho_perfdata_n_events(c->pd)) {
		const struct tacho_file_event *file = tacho_perfdata_event(c->pd, c->events.n);
		struct convert_event *ev = vec_add(&c->events);

		if (!ev)
			return -ENOMEM;
		ev->file = file;
		ev->attr = file->attr;
		if (ev->attr->type == PERF_TYPE_TRACEPOINT && find_trace(c, ev->attr->config, &ev->trace) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Whether --time selects the sample. Counts it either way. */
static bool is_selected(struct convert *c, const struct tacho_sample *s)
{
	bool selected = time_filter_has(&c->times, s->time);

	if (selected)
		c->samples++;
	else
		c->skipped++;
	return selected;
}

/* Writes a sample with PERF_SAMPLE_READ values once for each counter. The raw data belong to the event that
 * was sampled. */
static int convert_counters(struct convert *c, size_t event, const struct tacho_record *rec,
		       struct tacho_sample *s, struct tacho_error *e)
{
	const uint8_t *raw = s->raw;
	int err = 0;

	for (size_t i = 0; i < s->read.n && err >= 0; i++) {
		size_t of = 0;

		err = tacho_perfdata_counted(c->pd, event, s, i, &of, &s->period);
		if (err < 0)
			return error_nomem(e);
		if (err == 0 || !is_selected(c, s))
			continue;
		s->raw = of == event ? raw : NULL;
		err = c->writer->sample(c, of, rec, s, e);
	}
	return err;
}

static int convert_sample(struct convert *c, const struct tacho_record *rec, struct tacho_error *e)
{
	int event = tacho_perfdata_event_of(c->pd, rec);
	struct tacho_sample s;

	c->scratch->used = 0;
	if (event < 0 || tacho_sample_decode(&s, rec, &c->events.v[event].file->layout, c->scratch) < 0) {
		c->bad_records++;
		return 0;
	}
	if (tacho_perfdata_has_values(c->events.v[event].file))
		return convert_counters(c, (size_t)event, rec, &s, e);
	if (!is_selected(c, &s))
		return 0;
	if ((s.type & PERF_SAMPLE_TIME) && s.time >= tacho_symbols_next_change(c->symbols) &&
	    tacho_symbols_advance(c->symbols, s.time) < 0)
		return error_nomem(e);
	return c->writer->sample(c, (size_t)event, rec, &s, e);
}

static int convert_sideband(struct convert *c, const struct tacho_record *rec, struct tacho_error *e)
{
	int event = tacho_perfdata_event_of(c->pd, rec), err;
	struct tacho_sideband o;

	if (rec->type >= TACHO_RECORD_HEADER_ATTR || !c->events.n)
		return 0;
	c->scratch->used = 0;
	err = tacho_sideband_decode(&o, rec, &c->events.v[event < 0 ? 0 : event].file->layout, c->scratch);
	if (err < 0) {
		c->bad_records += err != -EOPNOTSUPP;	/* a record type of a newer kernel is not damage */
		return 0;
	}
	if (tacho_symbols_feed(c->symbols, &o) == -ENOMEM)
		return error_nomem(e);
	return c->writer->sideband ? c->writer->sideband(c, &o, e) : 0;
}

static int convert_records(struct convert *c, struct tacho_error *e)
{
	struct tacho_record rec;
	int err, next;

	while ((next = tacho_perfdata_next(c->pd, &rec, e)) > 0) {
		if (add_new_events(c) < 0)
			return error_nomem(e);
		err = rec.type == TACHO_RECORD_SAMPLE ? convert_sample(c, &rec, e) : convert_sideband(c, &rec, e);
		if (err < 0)
			return err;
	}
	if (next == 0 && (tacho_symbols_failed(c->symbols) < 0 || tacho_trace_failed(c->trace) < 0))
		return error_nomem(e);
	return next;
}

int convert_run(struct convert *c, struct tacho_error *e)
{
	struct tacho_symbols_opts symbols = { .size = sizeof(symbols) };
	int err = tacho_symbols_new(&c->symbols, &symbols, e), finished;

	if (err < 0)
		return err;
	c->scratch = malloc(sizeof(*c->scratch));
	if (!c->scratch || add_new_events(c) < 0 || file_build_ids_feed(c->pd, c->symbols) < 0)
		return error_nomem(e);
	tacho_symbols_set_monotonic(c->symbols, tacho_perfdata_is_monotonic(c->pd));
	if (c->opts->time && (err = time_filter_init(&c->times, c->opts->time, c->pd, e)) < 0)
		return err;
	err = c->writer->open(c, e);
	if (err < 0)
		return err;
	err = convert_records(c, e);
	if (err < 0 && err != -EBADMSG && err != -ENODATA)
		return err;		/* writing failed, so do not finish the output */
	finished = c->writer->finish(c, err < 0 ? NULL : e);
	return err < 0 ? err : finished;
}

void convert_done(struct convert *c)
{
	if (c->writer)
		c->writer->close(c);
	vec_done(&c->events);
	time_filter_done(&c->times);
	tacho_trace_free(c->trace);
	tacho_symbols_free(c->symbols);
	tacho_perfdata_close(c->pd);
	free(c->scratch);
}
