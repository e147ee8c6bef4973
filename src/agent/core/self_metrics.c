/*
 * Self metrics: a table with one row per metric, which has its name, unit and help text and the function
 * that returns its value.
 */
#include "agent/core/self_metrics.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "agent/core/collector.h"
#include "agent/http/server.h"
#include "agent/profiler/profiler.h"
#include "base/clock.h"

#define MAX_EXPORTERS 64

/* Inputs of all rows, gathered once per measurement. */
struct self_inputs {
	struct agent *agent;
	struct rusage usage;
	struct store_status store;
	struct profiler_status profiler;
	uint64_t rss_bytes, n_series;
	const struct exporter_status *exporter;		/* the exporter of the row, for exporter_rows */
};

struct self_metric_row {
	const char *name, *unit, *help;
	enum metric_kind kind;
	double (*value)(const struct self_inputs *f);
};

#define STAT(fn, field)                                                                            \
	static double fn(const struct self_inputs *f)                                              \
	{                                                                                          \
		return (double)f->agent->stats.field;                                              \
	}
STAT(ticks, ticks)
STAT(missed, missed_ticks)
STAT(reads, reads)
STAT(wakeups, wakeups)
STAT(requests, http_requests)
STAT(refused, http_refused)

#define FACT(fn, expr)                                                                             \
	static double fn(const struct self_inputs *f)                                              \
	{                                                                                          \
		return (double)(expr);                                                             \
	}
FACT(read_s, f->agent->stats.read_ns * 1e-9)
FACT(rss, f->rss_bytes)
FACT(series, f->n_series)
FACT(store_bytes, f->store.bytes)
FACT(store_points, f->store.n_points_written)
FACT(store_dropped, f->store.n_points_dropped)
FACT(store_salvages, f->store.n_salvages)
FACT(store_up, !f->store.last_error[0])
FACT(flush_took, f->store.flush_s)
FACT(samples, f->profiler.samples)
FACT(samples_lost, f->profiler.lost)
FACT(samples_broken, f->profiler.broken)
FACT(profiler_hz, f->profiler.frequency)
FACT(sent, f->exporter->sent_points)
FACT(dropped, f->exporter->dropped_points)
FACT(queued, f->exporter->queued_points)
FACT(queued_bytes, f->exporter->queued_bytes)
FACT(retries, f->exporter->retries)
FACT(lag, f->exporter->lag_s)
FACT(up, f->exporter->connected)

static double cpu_s(const struct self_inputs *f)
{
	const struct timeval *u = &f->usage.ru_utime, *s = &f->usage.ru_stime;

	return (double)(u->tv_sec + s->tv_sec) + (double)(u->tv_usec + s->tv_usec) * 1e-6;
}

static double closed_connections(const struct self_inputs *f)
{
	return f->agent->http ? (double)http_closed_connections(f->agent->http) : 0;
}

static const struct self_metric_row rows[] = {
	{ "cpu_seconds", "seconds", "CPU time the agent took", METRIC_COUNTER, cpu_s },
	{ "resident_bytes", "bytes", "memory the agent holds", METRIC_GAUGE, rss },
	{ "series", "", "series there are now", METRIC_GAUGE, series },
	{ "ticks", "", "times a source was read", METRIC_COUNTER, ticks },
	{ "missed_ticks", "", "times a source was due and could not be read", METRIC_COUNTER, missed },
	{ "reads", "", "counters read", METRIC_COUNTER, reads },
	{ "read_seconds", "seconds", "time spent reading counters", METRIC_COUNTER, read_s },
	{ "wakeups", "", "times the collector woke up", METRIC_COUNTER, wakeups },
	{ "http_requests", "", "requests answered", METRIC_COUNTER, requests },
	{ "http_refused", "", "requests refused", METRIC_COUNTER, refused },
	{ "http_closed", "", "connections closed because the client was too slow", METRIC_COUNTER, closed_connections },
	{ "store_bytes", "bytes", "size of the store", METRIC_GAUGE, store_bytes },
	{ "store_points", "", "points written to the store", METRIC_COUNTER, store_points },
	{ "store_dropped_points", "", "points the store could not keep", METRIC_COUNTER,
	  store_dropped },
	{ "store_salvages", "", "times a damaged store was replaced", METRIC_COUNTER, store_salvages },
	{ "store_up", "", "0: the store cannot be written", METRIC_GAUGE, store_up },
	{ "store_flush_seconds", "seconds", "time the last flush took", METRIC_GAUGE, flush_took },
	{ "profile_samples", "", "samples of the continuous profile", METRIC_COUNTER, samples },
	{ "profile_lost_samples", "", "samples that were lost", METRIC_COUNTER, samples_lost },
	{ "profile_broken_stacks", "", "samples whose stack could not be followed to its entry point", METRIC_COUNTER, samples_broken },
	{ "profile_frequency", "", "samples a second and CPU", METRIC_GAUGE, profiler_hz },
};

static const struct self_metric_row exporter_rows[] = {
	{ "exporter_sent_points", "", "points the receiver took", METRIC_COUNTER, sent },
	{ "exporter_dropped_points", "", "points given up", METRIC_COUNTER, dropped },
	{ "exporter_queued_points", "", "points that wait", METRIC_GAUGE, queued },
	{ "exporter_queued_bytes", "bytes", "bytes that wait", METRIC_GAUGE, queued_bytes },
	{ "exporter_retries", "", "times a send was repeated", METRIC_COUNTER, retries },
	{ "exporter_lag_seconds", "seconds", "age of the oldest that waits", METRIC_GAUGE, lag },
	{ "exporter_up", "", "1: the last send worked", METRIC_GAUGE, up },
};

struct self_metrics {
	struct agent *agent;
	uint32_t ids[countof(rows)];
	struct {
		char *name;
		uint32_t ids[countof(exporter_rows)];
		double last[countof(exporter_rows)], base[countof(exporter_rows)];
	} exporters[MAX_EXPORTERS];
	size_t n_exporters;
	struct point points[countof(rows) + MAX_EXPORTERS * countof(exporter_rows)];
	size_t n_points;
	int64_t last_ns;
};

/* Counters are stored as integers; times in nanoseconds. */
static double scale_of(const struct self_metric_row *row)
{
	return row->kind == METRIC_COUNTER && !strcmp(row->unit, "seconds") ? 1e-9 : 1;
}

/* Registers the rows of a table; `exporter` NULL: of the agent itself. */
static int add_series(struct self_metrics *s, const struct self_metric_row *table, size_t n,
		      char *exporter, uint32_t *ids)
{
	struct label labels[2] = { { "source", "agent" }, { "exporter", exporter } };
	char name[64];

	for (size_t i = 0; i < n; i++) {
		struct metric like = { .event = table[i].name, .name = name, .unit = table[i].unit,
				       .help = table[i].help, .kind = table[i].kind,
				       .scale = scale_of(&table[i]) };
		const struct metric *m;
		int64_t id;

		snprintf(name, sizeof(name), "tacho_%s", table[i].name);
		m = registry_metric(&s->agent->registry, &like);
		id = m ? registry_add(&s->agent->registry,
				      &(struct series_desc){ .metric = m,
							     .source = "agent",
							     .labels = labels,
							     .n_labels = exporter ? 2 : 1,
							     .start_ns = s->agent->started_ns })
		       : -ENOMEM;
		if (id < 0)
			return -ENOMEM;
		ids[i] = (uint32_t)id;
	}
	return 0;
}

int self_metrics_new(struct self_metrics **out, struct agent *a)
{
	struct self_metrics *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->agent = a;
	if (add_series(s, rows, countof(rows), NULL, s->ids) < 0) {
		free(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

void self_metrics_free(struct self_metrics *s)
{
	for (size_t i = 0; s && i < s->n_exporters; i++)
		free(s->exporters[i].name);
	free(s);
}

static uint64_t resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long long size = 0, resident = 0;

	if (f) {
		if (fscanf(f, "%llu %llu", &size, &resident) != 2)
			resident = 0;
		fclose(f);
	}
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void put_point(struct self_metrics *s, const struct self_metric_row *row, uint32_t id, double v)
{
	uint64_t count = row->kind == METRIC_COUNTER && v > 0 ? (uint64_t)(v / scale_of(row) + 0.5) : 0;

	s->points[s->n_points++] = (struct point){
		.series = id, .state = TACHO_COUNTING, .value = v, .count = count, .raw = count,
	};
}

/* An exporter restarted by a reload counts from 0 again; its series continue from their last values. */
static void measure_exporter(struct self_metrics *s, const struct self_inputs *f, int at)
{
	for (size_t i = 0; i < countof(exporter_rows); i++) {
		double v = exporter_rows[i].value(f), *last = &s->exporters[at].last[i];

		if (exporter_rows[i].kind == METRIC_COUNTER) {
			if (v < *last)
				s->exporters[at].base[i] += *last;
			*last = v;
			v += s->exporters[at].base[i];
		}
		put_point(s, &exporter_rows[i], s->exporters[at].ids[i], v);
	}
}

/* Index of an exporter's series, which are created on first use. -1: too many exporters or out of
 * memory. */
static int exporter_index(struct self_metrics *s, const char *name)
{
	for (size_t i = 0; i < s->n_exporters; i++)
		if (!strcmp(s->exporters[i].name, name))
			return (int)i;
	if (s->n_exporters == MAX_EXPORTERS)
		return -1;
	s->exporters[s->n_exporters].name = strdup(name);
	if (!s->exporters[s->n_exporters].name)
		return -1;
	if (add_series(s, exporter_rows, countof(exporter_rows), s->exporters[s->n_exporters].name,
		       s->exporters[s->n_exporters].ids) < 0) {
		free(s->exporters[s->n_exporters].name);
		return -1;
	}
	return (int)s->n_exporters++;
}

static void measure_exporters(struct self_metrics *s, struct self_inputs *f)
{
	struct exporter_status status[MAX_EXPORTERS];
	size_t n = s->agent->exporters
			   ? exporters_status(s->agent->exporters, status, countof(status)) : 0;

	for (size_t i = 0; i < n; i++) {
		int at = exporter_index(s, status[i].name);

		f->exporter = &status[i];
		if (at >= 0)
			measure_exporter(s, f, at);
	}
	f->exporter = NULL;
}

static uint64_t count_series(struct registry *r)
{
	uint64_t n = 0;

	pthread_rwlock_rdlock(&r->lock);
	for (size_t i = 0; i < r->n; i++)
		n += r->series[i] != NULL;
	pthread_rwlock_unlock(&r->lock);
	return n;
}

void self_metrics_measure(void *self, struct collector *c)
{
	struct self_metrics *s = self;
	struct self_inputs f = { .agent = s->agent };
	int64_t now = clock_wall_ns();
	struct point_batch b;

	getrusage(RUSAGE_SELF, &f.usage);
	f.rss_bytes = resident_bytes();
	f.n_series = count_series(&s->agent->registry);
	if (s->agent->store)
		store_status(s->agent->store, &f.store);
	if (s->agent->profiler)
		profiler_status(s->agent->profiler, &f.profiler);
	s->n_points = 0;
	for (size_t i = 0; i < countof(rows); i++)
		put_point(s, &rows[i], s->ids[i], rows[i].value(&f));
	measure_exporters(s, &f);
	b = (struct point_batch){ .source = "agent", .time_ns = now, .points = s->points,
			    .n_points = s->n_points,
			    .interval_ns = s->last_ns && now > s->last_ns
						   ? (uint64_t)(now - s->last_ns) : 0 };
	s->last_ns = now;
	collector_deliver(c, &b);
}
