/*
 * Information about a file besides its samples: --header-only shows how it was recorded, --stats counts its records by
 * type; --tasks and --mmaps (tasks.c) show processes and their mappings.
 */
#include "cli/report/report.h"

#include <inttypes.h>

#include "base/error.h"
#include "cli/files/header_text.h"
#include "cli/core/app.h"
#include "cli/report/tasks.h"

#define KINDS 256
#define FIRST_OWN TACHO_RECORD_HEADER_ATTR

struct record_counts {
	uint64_t all, of[KINDS];
	struct event_sample_counts {
		uint64_t samples, lost;
	} *events;
	size_t n_events;
	struct tacho_scratch *scratch;
};

static const char *const own_names[] = {
	"ATTR", "EVENT_TYPE", "TRACING_DATA", "BUILD_ID", "FINISHED_ROUND", "ID_INDEX",
	"AUXTRACE_INFO", "AUXTRACE", "AUXTRACE_ERROR", "THREAD_MAP", "CPU_MAP", "STAT_CONFIG", "STAT",
	"STAT_ROUND", "EVENT_UPDATE", "TIME_CONV", "FEATURE", "COMPRESSED", "FINISHED_INIT",
	"COMPRESSED2", "BPF_METADATA", "SCHEDSTAT_CPU", "SCHEDSTAT_DOMAIN",
};

static const char *kind_name(uint32_t type)
{
	const char *name = tacho_record_name(type);

	if (type >= FIRST_OWN && type - FIRST_OWN < countof(own_names))
		return own_names[type - FIRST_OWN];
	return name ? name + strlen("PERF_RECORD_") : "UNKNOWN";
}

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

static void put_counts(const struct record_counts *c, const struct tacho_perfdata *pd, struct buf *out)
{
	buf_puts(out, "\nAggregated stats:\n");
	buf_printf(out, "%16s events: %10" PRIu64 "\n", "TOTAL", c->all);
	for (uint32_t i = 0; i < KINDS; i++)
		if (c->of[i])
			buf_printf(out, "%16s events: %10" PRIu64 "  (%4.1f%%)\n", kind_name(i), c->of[i],
				   100.0 * (double)c->of[i] / (double)c->all);
	for (size_t i = 0; i < c->n_events; i++) {
		const struct event_sample_counts *ev = &c->events[i];

		if (ev->samples || ev->lost)
			buf_printf(out, "%s stats:\n", tacho_perfdata_event(pd, i)->name);
		if (ev->samples)
			buf_printf(out, "%16s events: %10" PRIu64 "\n", "SAMPLE", ev->samples);
		if (ev->lost)
			buf_printf(out, "%16s events: %10" PRIu64 "\n", "LOST_SAMPLES", ev->lost);
	}
}

static int print_stats(struct tacho_perfdata *pd, struct buf *out, struct tacho_error *e)
{
	size_t n = tacho_perfdata_n_events(pd);
	scoped(freep) struct event_sample_counts *events = calloc(n + 1, sizeof(*events));
	scoped(freep) struct tacho_scratch *scratch = malloc(sizeof(*scratch));
	struct record_counts c = { .events = events, .n_events = n, .scratch = scratch };
	struct tacho_record rec;
	int err;

	if (!events || !scratch)
		return error_nomem(e);
	while ((err = tacho_perfdata_next(pd, &rec, e)) > 0) {
		c.all++;
		c.of[min_of(rec.type, KINDS - 1u)]++;
		if ((rec.type == TACHO_RECORD_SAMPLE || rec.type == TACHO_RECORD_LOST_SAMPLES) &&
		    count_event(&c, pd, &rec) < 0)
			return error_nomem(e);
	}
	put_counts(&c, pd, out);
	return err;
}

int report_info(const struct report_opts *o, struct tacho_perfdata *pd)
{
	struct tacho_error e = { .column = -1 };
	struct buf out = { 0 };
	int err = 0, status, printed = 0;

	if (o->header || o->header_only)
		file_header(pd, o->show_info, &out);
	if (o->header_only) {
		err = tacho_perfdata_damage(pd, &e);
	} else {
		err = o->stats ? print_stats(pd, &out, &e) : report_tasks(pd, o->mmaps, &out, &printed, &e);
	}
	status = print_out("report", &out);
	if (printed)
		status = printed;
	if (err < 0)
		message_error("report", NULL, NULL, &e);
	return err < 0 ? EXIT_FAILED : status;
}
