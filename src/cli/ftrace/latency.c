/*
 * `ftrace latency`: a histogram of the time that functions take, or of the time between two tracepoints in a thread.
 */
#include "cli/ftrace/ftrace.h"

#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "base/histogram.h"
#include "base/int_map.h"
#include "base/json.h"
#include "base/vec.h"
#include "cli/core/app.h"

#define ROWS_MAX 22
#define BAR_WIDTH 46

struct latency {
	const struct ftrace_opts *o;
	uint64_t rows[ROWS_MAX];
	unsigned n_rows;
	uint64_t unit_ns;			/* of the histogram: 1 or 1000 */
	uint64_t count, total_ns, min_ns, max_ns;
	struct histogram histogram;		/* for percentiles */
	struct int_map started;			/* thread -> position in `starts` */
	struct { uint64_t *v; size_t n, cap; } starts;	/* time of the first event; 0: none is waiting for its second */
};

/* The first row is 0 to 1, the others double: 1-2, 2-4 ... With a range: 0 to min (or to the range), then steps. */
static unsigned row_of(const struct latency *l, uint64_t value)
{
	uint64_t first = l->o->min_latency ? l->o->min_latency : l->o->bucket_range, row;

	if (!l->o->bucket_range)
		row = value ? 64 - (unsigned)__builtin_clzll(value) : 0;
	else
		row = value < first ? 0 : 1 + (value - first) / l->o->bucket_range;
	return (unsigned)min_of(row, (uint64_t)l->n_rows - 1);
}

/* Where a row starts. */
static uint64_t row_start(const struct latency *l, unsigned row)
{
	uint64_t first = l->o->min_latency ? l->o->min_latency : l->o->bucket_range;

	if (!row)
		return 0;
	return l->o->bucket_range ? first + (uint64_t)(row - 1) * l->o->bucket_range : (uint64_t)1 << (row - 1);
}

static unsigned count_rows(const struct ftrace_opts *o)
{
	uint64_t first = o->min_latency ? o->min_latency : o->bucket_range;

	if (!o->bucket_range || !o->max_latency)
		return ROWS_MAX;
	return (unsigned)min_of((o->max_latency - first) / o->bucket_range + 2, (uint64_t)ROWS_MAX);
}

static int add_duration(struct latency *l, uint64_t ns)
{
	l->rows[row_of(l, ns / l->unit_ns)]++;
	l->min_ns = l->count ? min_of(l->min_ns, ns) : ns;
	l->max_ns = max_of(l->max_ns, ns);
	l->total_ns += ns;
	l->count++;
	return histogram_add(&l->histogram, ns);
}

static int add_call(void *arg, const struct tacho_ftrace_call *call)
{
	return add_duration(arg, call->duration_ns);
}

/* The idle tasks of all CPUs have the same thread ID. */
static uint64_t *start_of(struct latency *l, const struct tacho_ftrace_event *ev)
{
	uint64_t key = ev->tid ? ev->tid : (uint64_t)1 << 32 | ev->cpu, *at;
	uint32_t i;

	if (int_map_get(&l->started, key, &i))
		return &l->starts.v[i];
	at = vec_add(&l->starts);
	if (!at || int_map_put(&l->started, key, (uint32_t)(l->starts.n - 1)) < 0)
		return NULL;
	return at;
}

static int add_event(void *arg, const struct tacho_ftrace_event *ev)
{
	struct latency *l = arg;
	uint64_t *start = start_of(l, ev);
	int err = 0;

	if (!start)
		return -ENOMEM;
	if (ev->index == 1 && *start) {
		err = add_duration(l, ev->time_ns > *start ? ev->time_ns - *start : 0);
		*start = 0;
	}
	if (ev->index == 0)
		*start = ev->time_ns;
	return err;
}

static int drain(void *arg, struct tacho_ftrace *f, bool is_end)
{
	return tacho_ftrace_drain(f, TACHO_OPTS(tacho_ftrace_visitor, .arg = arg, .call = add_call, .event = add_event), is_end);
}

/* The unit of the histogram, or one that is `step` steps larger. */
static const char *unit_name(const struct latency *l, unsigned step)
{
	static const char *const names[] = { "ns", "us", "ms", "s " };

	return names[(l->unit_ns == 1 ? 0 : 1) + step];
}

/* "   512 - 1024 us |": the rows of powers of two change their unit at 1024. */
static void put_double_range(const struct latency *l, unsigned row, struct buf *out)
{
	uint64_t start = row_start(l, row);
	unsigned step = 0;

	for (; start >= 1024; start /= 1024)
		step++;
	buf_printf(out, "%6" PRIu64 " - ", start);
	if (row == l->n_rows - 1)
		buf_puts(out, "...  ");
	else
		buf_printf(out, "%4" PRIu64 " ", row ? start * 2 : 1);
	buf_printf(out, "%s |", unit_name(l, step));
}

/* "   300 -  600 us |", and from a thousand on "  1.20 - 1.50 ms |" */
static void put_step_range(const struct latency *l, unsigned row, struct buf *out)
{
	uint64_t start = row_start(l, row), end = row_start(l, row + 1);
	bool is_last = row == l->n_rows - 1, is_large = start >= 1000;

	if (is_large)
		buf_printf(out, "  %4.2f - ", (double)start / 1000);
	else
		buf_printf(out, "%6" PRIu64 " - ", start);
	if (is_last)
		buf_puts(out, "...  ");
	else if (is_large)
		buf_printf(out, "%4.2f ", (double)end / 1000);
	else
		buf_printf(out, "%4" PRIu64 " ", end);
	buf_printf(out, "%s |", unit_name(l, is_large));
}

static void put_row(const struct latency *l, unsigned row, struct buf *out)
{
	uint64_t length = l->count ? l->rows[row] * BAR_WIDTH / l->count : 0;

	if (l->o->hide_empty && !l->rows[row])
		return;
	(l->o->bucket_range ? put_step_range : put_double_range)(l, row, out);
	buf_printf(out, " %10" PRIu64 " | ", l->rows[row]);
	buf_pad(out, '#', (size_t)length);
	buf_pad(out, ' ', (size_t)(BAR_WIDTH - length));
	buf_puts(out, " |\n");
}

static void put_statistic(const struct latency *l, const char *name, double ns, struct buf *out)
{
	buf_printf(out, "%12s: %20.0f\n", name, ns / (double)l->unit_ns);
}

static const struct { const char *name; double percent; } percentiles[] = {
	{ "p50", 50 }, { "p90", 90 }, { "p99", 99 }, { "p99.9", 99.9 },
};

static void put_text(const struct latency *l, struct buf *out)
{
	buf_puts(out, "#   DURATION     |      COUNT | GRAPH                                          |\n");
	for (unsigned row = 0; row < l->n_rows; row++)
		put_row(l, row, out);
	buf_printf(out, "\n# statistics  (in %s)\n", l->unit_ns == 1 ? "nsec" : "usec");
	put_statistic(l, "total time", (double)l->total_ns, out);
	put_statistic(l, "avg time", l->count ? (double)l->total_ns / (double)l->count : 0, out);
	put_statistic(l, "max time", (double)l->max_ns, out);
	put_statistic(l, "min time", (double)l->min_ns, out);
	buf_printf(out, "%12s: %20" PRIu64 "\n", "count", l->count);
	for (size_t i = 0; i < countof(percentiles); i++)
		put_statistic(l, percentiles[i].name, (double)histogram_percentile(&l->histogram, percentiles[i].percent), out);
}

static void put_json_rows(const struct latency *l, struct json *j)
{
	json_key(j, "buckets");
	json_begin(j, '[');
	for (unsigned row = 0; row < l->n_rows; row++) {
		if (l->o->hide_empty && !l->rows[row])
			continue;
		json_begin(j, '{');
		json_member(j, "from_ns", u64, row_start(l, row) * l->unit_ns);
		json_key(j, "to_ns");
		if (row == l->n_rows - 1)
			json_null(j);
		else
			json_u64(j, row_start(l, row + 1) * l->unit_ns);
		json_member(j, "count", u64, l->rows[row]);
		json_end(j);
	}
	json_end(j);
}

static void put_json(const struct latency *l, uint64_t lost, struct buf *out)
{
	struct json j = { .out = out };

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.ftrace-latency/1");
	json_member(&j, "count", u64, l->count);
	json_member(&j, "lost", u64, lost);
	json_member(&j, "total_ns", u64, l->total_ns);
	json_key(&j, "min_ns");
	if (l->count)
		json_u64(&j, l->min_ns);
	else
		json_null(&j);
	json_member(&j, "max_ns", u64, l->max_ns);
	json_key(&j, "percentiles_ns");
	json_begin(&j, '{');
	for (size_t i = 0; l->count && i < countof(percentiles); i++)
		json_member(&j, percentiles[i].name, u64, histogram_percentile(&l->histogram, percentiles[i].percent));
	json_end(&j);
	put_json_rows(l, &j);
	json_end(&j);
	buf_putc(out, '\n');
}

static int check_range(const struct ftrace_opts *o)
{
	uint64_t first = o->min_latency ? o->min_latency : o->bucket_range;

	if (!o->bucket_range && (o->min_latency || o->max_latency)) {
		message_text("ftrace latency", "--%s-latency needs --bucket-range", o->min_latency ? "min" : "max");
		return -EINVAL;
	}
	if (o->max_latency && o->max_latency < first + o->bucket_range) {
		message_text("ftrace latency", "--max-latency must be at least %" PRIu64 ", where the second bucket ends",
			     first + o->bucket_range);
		return -EINVAL;
	}
	return 0;
}

static int choose_events(const struct ftrace_opts *o, struct ftrace_job *job)
{
	struct str rest = str_of(o->events), one;

	while (str_cut(&rest, ',', &one))
		if (strlist_add(&job->events, str_trim(one)) < 0)
			return -ENOMEM;
	if (job->events.n == 2)
		return 0;
	message_text("ftrace latency", "-e needs two tracepoints: -e syscalls:sys_enter_read,syscalls:sys_exit_read");
	return -EINVAL;
}

static int choose(const struct ftrace_opts *o, struct ftrace_job *job)
{
	if (!o->events && !o->functions.n) {
		message_text("ftrace latency", "what should be measured? -T FUNCTION, or -e EVENT,EVENT");
		return -EINVAL;
	}
	if (o->events && o->functions.n) {
		message_text("ftrace latency", "-T and -e cannot be used together");
		return -EINVAL;
	}
	if (o->events)
		return choose_events(o, job);
	job->tracer = "function_graph";
	return 0;
}

int ftrace_latency_run(void *opts, int argc, char **argv)
{
	const struct ftrace_opts *o = opts;
	struct latency l = { .o = o, .n_rows = count_rows(o), .unit_ns = o->use_nsec ? 1 : 1000 };
	struct ftrace_job job = { .name = "ftrace latency", .arg = &l, .drain = drain };
	struct buf out = { 0 };
	bool done = false;
	int status = EXIT_USAGE;

	if (check_range(o) == 0 && choose(o, &job) == 0)
		status = ftrace_session(o, &job, argc, argv, &done);
	if (done && !l.count && !o->json)
		message_text(job.name, "nothing was measured: %s", o->events ? "the events did not happen in one thread" :
			     "the functions were not called");
	if (done && o->json)
		put_json(&l, job.lost, &out);
	else if (done && l.count)
		put_text(&l, &out);
	if (done)
		status = print_out(job.name, &out);
	strlist_done(&job.events);
	histogram_done(&l.histogram);
	int_map_done(&l.started);
	vec_done(&l.starts);
	return status;
}
