/*
 * Information about a file besides its samples: --header-only shows how it was recorded, --stats counts its records by
 * type, -D prints them before; --tasks and --mmaps (tasks.c) show processes and their mappings.
 */
#include "cli/report/report.h"

#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "base/io.h"
#include "cli/files/header_text.h"
#include "cli/files/record_dump.h"
#include "cli/core/app.h"
#include "cli/report/tasks.h"

#define KINDS 256
#define DUMP_CHUNK_BYTES (256u << 10)

struct record_counts {
	uint64_t all, of[KINDS];
	struct event_sample_counts {
		uint64_t samples, lost;
	} *events;
	size_t n_events;
	struct tacho_scratch *scratch;
	uint64_t n_bad, first_bad;	/* -D: damaged records; offset of the first */
};

/* Counts one sample for each counter whose value the sample has. */
static int count_values(struct record_counts *c, struct tacho_perfdata *pd, size_t event,
			const struct tacho_record *rec)
{
	struct tacho_sample s;
	uint64_t counted;
	size_t of = 0;
	int err = 0;

	if (tacho_sample_decode(&s, rec, &tacho_perfdata_event(pd, event)->layout, c->scratch) < 0)
		return 0;
	for (size_t i = 0; i < s.read.n && err >= 0; i++) {
		err = tacho_perfdata_counted(pd, event, &s, i, &of, &counted);
		if (err > 0 && of < c->n_events)
			c->events[of].samples++;
	}
	return min_of(err, 0);
}

static int count_event(struct record_counts *c, struct tacho_perfdata *pd, const struct tacho_record *rec)
{
	int event = tacho_perfdata_event_of(pd, rec);
	const struct tacho_file_event *ev;
	struct tacho_sideband o;

	c->scratch->used = 0;
	if (event < 0 || (size_t)event >= c->n_events)
		return 0;
	ev = tacho_perfdata_event(pd, (size_t)event);
	if (rec->type != TACHO_RECORD_SAMPLE)
		c->events[event].lost += tacho_sideband_decode(&o, rec, &ev->layout, c->scratch) == 0 ? o.lost.lost : 0;
	else if (tacho_perfdata_has_values(ev))
		return count_values(c, pd, (size_t)event, rec);
	else
		c->events[event].samples++;
	return 0;
}

/* Records that the compressed ones were decompressed to are counted as well. */
static void count_compressed(struct record_counts *c, const struct tacho_perfdata *pd)
{
	static const uint32_t types[] = { TACHO_RECORD_COMPRESSED, TACHO_RECORD_COMPRESSED2 };

	for (size_t i = 0; i < countof(types); i++) {
		c->of[types[i]] = tacho_perfdata_n_compressed(pd, types[i]);
		c->all += c->of[types[i]];
	}
}

static void put_counts(const struct record_counts *c, const struct tacho_perfdata *pd, struct buf *out)
{
	buf_puts(out, "\nAggregated stats:\n");
	buf_printf(out, "%20s events: %10" PRIu64 "\n", "TOTAL", c->all);
	for (uint32_t i = 0; i < KINDS; i++)
		if (c->of[i])
			buf_printf(out, "%20s events: %10" PRIu64 "  (%4.1f%%)\n", record_kind_name(i), c->of[i],
				   100.0 * (double)c->of[i] / (double)c->all);
	for (size_t i = 0; i < c->n_events; i++) {
		const struct event_sample_counts *ev = &c->events[i];

		if (ev->samples || ev->lost)
			buf_printf(out, "%s stats:\n", tacho_perfdata_event(pd, i)->name);
		if (ev->samples)
			buf_printf(out, "%20s events: %10" PRIu64 "\n", "SAMPLE", ev->samples);
		if (ev->lost)
			buf_printf(out, "%20s events: %10" PRIu64 "\n", "LOST_SAMPLES", ev->lost);
	}
}

/* -D: prints the record; a part of the output is written when it is large. */
static int print_record(struct record_dump *dump, const struct tacho_record *rec, struct record_counts *c, struct buf *out)
{
	int err = record_dump_put(dump, rec, out);

	if (err == -EBADMSG && !c->n_bad++)
		c->first_bad = rec->offset;
	if (err == -ENOMEM)
		return err;
	if (out->n >= DUMP_CHUNK_BYTES) {
		err = io_write_all(STDOUT_FILENO, out->bytes, out->n);
		buf_clear(out);
		return err;
	}
	return 0;
}

static int print_stats(const struct report_opts *o, struct tacho_perfdata *pd, struct buf *out, struct tacho_error *e)
{
	size_t n = tacho_perfdata_n_events(pd);
	scoped(freep) struct event_sample_counts *events = calloc(n + 1, sizeof(*events));
	scoped(freep) struct tacho_scratch *scratch = malloc(sizeof(*scratch));
	scoped(record_dump_done) struct record_dump dump = { 0 };
	struct record_counts c = { .events = events, .n_events = n, .scratch = scratch };
	struct tacho_record rec;
	int err = 0;

	if (!events || !scratch)
		return error_nomem(e);
	if (o->dump)
		err = record_dump_init(&dump, o->input, pd, e);
	while (err >= 0 && (err = tacho_perfdata_next(pd, &rec, e)) > 0) {
		if (o->dump && (err = print_record(&dump, &rec, &c, out)) < 0)
			return error_set(e, err, "cannot write: %s", strerror(-err));
		c.all++;
		c.of[min_of(rec.type, KINDS - 1u)]++;
		if ((rec.type == TACHO_RECORD_SAMPLE || rec.type == TACHO_RECORD_LOST_SAMPLES) &&
		    count_event(&c, pd, &rec) < 0)
			return error_nomem(e);
	}
	count_compressed(&c, pd);
	put_counts(&c, pd, out);
	if (err == 0 && c.n_bad)
		err = error_set(e, -EBADMSG, "%" PRIu64 " records are damaged, the first at offset %#" PRIx64, c.n_bad, c.first_bad);
	return err;
}

int report_info(const struct report_opts *o, struct tacho_perfdata *pd, const char *command)
{
	struct tacho_error e = { .column = -1 };
	struct buf out = { 0 };
	int err = 0, status, printed = 0;

	if (o->header || o->header_only)
		file_header(pd, o->show_info, &out);
	if (o->header_only) {
		err = tacho_perfdata_damage(pd, &e);
	} else {
		err = o->stats || o->dump ? print_stats(o, pd, &out, &e) : report_tasks(pd, o->mmaps, &out, &printed, &e);
	}
	status = print_out(command, &out);
	if (printed)
		status = printed;
	if (err < 0)
		message_error(command, NULL, NULL, &e);
	return err < 0 ? EXIT_FAILED : status;
}
