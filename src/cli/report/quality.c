/*
 * The quality of the data, in a few lines on stderr: on a terminal, with -v, or if some samples cannot be shown
 * completely.
 */
#include "cli/report/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/core/terminal.h"

#define NAMED 3			/* objects that are named */
#define WORTH_NAMING 1.0	/* per cent of the samples */

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* The object with the largest count up to `limit` that is not in seen[], or -1. */
static ptrdiff_t next_worst(const struct tacho_profile *p, bool broken, uint64_t limit,
			    const size_t *seen, size_t n_seen)
{
	ptrdiff_t best = -1;
	uint64_t most = 0;

	for (size_t i = 0; i < tacho_profile_n_objects(p); i++) {
		const struct tacho_profile_object *o = tacho_profile_object(p, i);
		uint64_t n = broken ? o->broken : o->unresolved;
		bool done = false;

		for (size_t k = 0; k < n_seen; k++)
			done = done || seen[k] == i;
		if (!done && n > most && n <= limit) {
			most = n;
			best = (ptrdiff_t)i;
		}
	}
	return best;
}

static void put_worst(const struct tacho_profile *p, bool broken, uint64_t samples, struct buf *out)
{
	size_t seen[NAMED], n = 0;

	while (n < NAMED) {
		ptrdiff_t at = next_worst(p, broken, UINT64_MAX, seen, n);
		const struct tacho_profile_object *o = at < 0 ? NULL : tacho_profile_object(p, (size_t)at);
		double part = o ? percent(broken ? o->broken : o->unresolved, samples) : 0;

		if (!o || part < WORTH_NAMING)
			break;
		buf_printf(out, "%s%s %.1f%%", n ? ", " : " (", o->name, part);
		if (!broken && o->why)
			buf_printf(out, ": %s", o->why);
		seen[n++] = (size_t)at;
	}
	if (n)
		buf_putc(out, ')');
}

static void put_remedies(const struct tacho_profile_quality *q, struct buf *out)
{
	if (percent(q->broken_stacks, q->samples) >= 10)
		buf_puts(out, "\n  stacks break in code built without frame pointers: build with "
			      "-fno-omit-frame-pointer, or record with --call-graph dwarf");
	if (percent(q->unresolved, q->samples) >= 10)
		buf_puts(out, "\n  names are missing where objects are stripped or gone: install their "
			      "debug packages, set DEBUGINFOD_URLS, or give --symfs");
	if (q->lost)
		buf_puts(out, "\n  samples were lost: record with a larger buffer (-m) or less often (-F)");
	if (q->throttled)
		buf_puts(out, "\n  the kernel slowed sampling down: record less often (-F)");
}

static void put_quality(const struct tacho_profile_quality *q, const struct tacho_profile *p,
			struct buf *out)
{
	buf_printf(out, "%" PRIu64 " samples in %.3f s, %" PRIu64 " lost, throttled %" PRIu64 " times",
		   q->samples, q->last_s - q->first_s, q->lost, q->throttled);
	if (q->bad_records)
		buf_printf(out, ", %" PRIu64 " damaged records were skipped", q->bad_records);
	buf_printf(out, "; %.1f%% without a name", percent(q->unresolved, q->samples));
	put_worst(p, false, q->samples, out);
	if (q->broken_stacks) {
		buf_printf(out, "; %.1f%% broken stacks", percent(q->broken_stacks, q->samples));
		put_worst(p, true, q->samples, out);
	}
}

static void warn_of_bad_records(const struct tacho_profile_quality *q)
{
	const char *name = tacho_record_name(q->bad_type), *prefix = "PERF_RECORD_";

	if (!q->bad_records)
		return;
	message_text("report", "%" PRIu64 " damaged record%s skipped, the first at offset %#" PRIx64 ": %s (%u) of %u bytes",
		     q->bad_records, q->bad_records == 1 ? " was" : "s were", q->bad_offset,
		     name ? name + strlen(prefix) : "unknown", q->bad_type, q->bad_size);
}

char *report_quality_text(const struct tacho_perfdata *pd, const struct tacho_profile *p)
{
	struct tacho_profile_quality q = { .size = sizeof(q) };
	const char *warning = tacho_perfdata_warning(pd);
	struct buf out = { 0 };

	tacho_profile_quality(p, &q);
	put_quality(&q, p, &out);
	if (q.raw_stacks)
		buf_printf(&out, "; %" PRIu64 " stacks are raw and not unwound", q.raw_stacks);
	if (warning)
		buf_printf(&out, "; %s", warning);
	return buf_take(&out);
}

bool report_wants_quality(const struct report_opts *o)
{
	return o->json || o->verbose || term_is_tty(STDERR_FILENO) || report_wants_browser(o);
}

/* Whether the file of the object is of another build than the recorded one, or is gone. */
static bool lacks_build(const struct tacho_profile_object *o)
{
	uint8_t id[20];
	int n;

	if (o->has_symbols || o->kernel || o->jit || !o->n_build_id || o->path[0] != '/')
		return false;
	n = tacho_build_id_of_file(o->path, id);
	return n <= 0 || memcmp(id, o->build_id, min_of((size_t)n, (size_t)o->n_build_id)) != 0;
}

/* Names the objects whose recorded build was found neither at their path nor in the build ID cache. */
static void warn_missing_builds(const struct tacho_profile *p, uint64_t samples)
{
	unsigned n = 0;

	for (size_t i = 0; i < tacho_profile_n_objects(p) && n < NAMED; i++) {
		const struct tacho_profile_object *o = tacho_profile_object(p, i);

		if (percent(o->unresolved, samples) < WORTH_NAMING || !lacks_build(o))
			continue;
		message_text("report", "%.1f%% of the samples have no name: '%s' has changed or is gone since it was "
			     "recorded, and the build ID cache has no copy of it",
			     percent(o->unresolved, samples), o->path);
		n++;
	}
}

void report_quality(const struct report_opts *o, const struct tacho_perfdata *pd,
		    const struct tacho_profile *p)
{
	struct tacho_profile_quality q = { .size = sizeof(q) };
	const char *warning = tacho_perfdata_warning(pd);
	struct buf out = { 0 };

	tacho_profile_quality(p, &q);
	if (warning)
		message_text("report", "%s", warning);
	warn_of_bad_records(&q);
	if (q.raw_stacks)
		message_text("report", "%" PRIu64 " samples have their user stack as a raw dump, which is not "
			     "unwound: they show their kernel part and innermost function", q.raw_stacks);
	warn_missing_builds(p, q.samples);
	if (!o->verbose && !term_is_tty(STDERR_FILENO))
		return;
	put_quality(&q, p, &out);
	put_remedies(&q, &out);
	if (!buf_failed(&out))
		message_text("report", "%s", out.bytes);
	buf_done(&out);
}
