/*
 * /metrics in Prometheus text format 0.0.4, or OpenMetrics 1.0 if the client accepts it.
 *
 * Counters have the suffix _total and, in OpenMetrics, their start time. A multiplexed counter is
 * an estimate, so its enabled and running times are exported as well. Series of events that cannot
 * be counted are absent; tacho_event_state gives their state.
 */
#include "agent/http/server.h"

#include <stdio.h>

#include "agent/core/collector.h"
#include "agent/core/metric_names.h"

/* Invalid UTF-8 is replaced: scrapers refuse the whole page otherwise. */
static void put_escaped(struct buf *out, const char *text, bool quotes)
{
	size_t plain = strcspn(text, quotes ? "\\\"\n" : "\\\n");

	while (text[plain]) {
		metric_put_utf8(out, str_n(text, plain));
		buf_putc(out, '\\');
		buf_putc(out, text[plain] == '\n' ? 'n' : text[plain]);
		text += plain + 1;
		plain = strcspn(text, quotes ? "\\\"\n" : "\\\n");
	}
	metric_put_utf8(out, str_n(text, plain));
}

static void put_label(struct buf *out, const char *name, const char *value, bool *first)
{
	buf_putc(out, *first ? '{' : ',');
	*first = false;
	buf_puts(out, name);
	buf_puts(out, "=\"");
	put_escaped(out, value, true);
	buf_putc(out, '"');
}

static void put_labels(struct buf *out, const struct agent_config *cfg, const struct series *s)
{
	struct label_view labels[LABELS_MAX];
	size_t n = metric_labels(s, cfg, NULL, labels);
	bool first = true;

	for (size_t i = 0; i < n; i++)
		put_label(out, labels[i].name, labels[i].value, &first);
	if (!first)
		buf_putc(out, '}');
}

static void put_metric_header(struct buf *out, const struct metric *m, const char *suffix,
			      const char *type, const char *help, bool om)
{
	buf_puts(out, "# HELP ");
	metric_put_full_name(out, m);
	buf_puts(out, suffix);
	buf_putc(out, ' ');
	put_escaped(out, help, om);
	buf_puts(out, "\n# TYPE ");
	metric_put_full_name(out, m);
	buf_puts(out, suffix);
	buf_printf(out, " %s\n", type);
	if (om && m->unit[0] && !*suffix && m->naming == NAMING_TACHO) {
		buf_puts(out, "# UNIT ");
		metric_put_full_name(out, m);
		buf_printf(out, " %s\n", m->unit);
	}
}

/* An ended counter shows its last value for a while. An ended gauge does not: its value is obsolete,
 * and its successor after a reload has the same name. */
static bool is_shown(const struct series *s)
{
	return s && s->time_ns && s->last.state <= TACHO_SCALED &&
	       !(s->ended && s->metric->kind == METRIC_GAUGE);
}

static void put_sample(struct buf *out, const struct agent_config *cfg, const struct series *s,
		       const char *suffix, double value)
{
	metric_put_full_name(out, s->metric);
	buf_puts(out, suffix);
	put_labels(out, cfg, s);
	buf_putc(out, ' ');
	metric_put_number(out, value);
	buf_putc(out, '\n');
}

/* Writes all series of a metric: the format requires them to be adjacent. */
static void put_family(struct buf *out, const struct agent_config *cfg, const struct series *const *v,
		       size_t n, bool om)
{
	const struct metric *m = v[0]->metric;
	bool counter = m->kind == METRIC_COUNTER, scaled = false;
	const char *total = metric_total_suffix(m);
	bool of_histogram = counter && !*total;

	/* OpenMetrics demands the suffix of what it calls a counter. */
	put_metric_header(out, m, om ? "" : total, of_histogram && om ? "unknown" : counter ? "counter" : "gauge", m->help, om);
	for (size_t i = 0; i < n; i++) {
		put_sample(out, cfg, v[i], total, v[i]->last.value);
		if (om && counter && !of_histogram)
			put_sample(out, cfg, v[i], "_created", (double)v[i]->start_ns * 1e-9);
		scaled = scaled || v[i]->last.running_ns < v[i]->last.enabled_ns;
	}
	if (!scaled || !counter)
		return;
	for (int k = 0; k < 2; k++) {
		const char *suffix = k ? "_running_seconds" : "_enabled_seconds";
		char with_total[40];

		buf_puts(out, "# HELP ");
		metric_put_full_name(out, m);
		buf_printf(out, "%s%s time the counter was %s\n", suffix, om ? "" : "_total",
			   k ? "on the hardware; less than enabled: the count is an estimate" : "enabled");
		buf_puts(out, "# TYPE ");
		metric_put_full_name(out, m);
		buf_printf(out, "%s%s counter\n", suffix, om ? "" : "_total");
		snprintf(with_total, sizeof(with_total), "%s_total", suffix);
		for (size_t i = 0; i < n; i++)
			put_sample(out, cfg, v[i], with_total,
				   (double)(k ? v[i]->last.running_ns : v[i]->last.enabled_ns) * 1e-9);
	}
}

static int by_family(const void *a, const void *b)
{
	const struct series *x = *(const struct series *const *)a, *y = *(const struct series *const *)b;
	int order = x->metric == y->metric ? 0 : strcmp(x->metric->name, y->metric->name);

	if (!order && x->metric != y->metric)
		order = strcmp(x->metric->unit, y->metric->unit);
	return order ? order : (x->id > y->id) - (x->id < y->id);
}

static bool same_family(const struct metric *a, const struct metric *b)
{
	return a == b || (!strcmp(a->name, b->name) && !strcmp(a->unit, b->unit) && a->kind == b->kind);
}

void prometheus_series(const struct registry *r, const struct agent_config *cfg, bool om, bool processes, struct buf *out)
{
	scoped(freep) const struct series **v = calloc(r->n + 1, sizeof(*v));
	size_t n = 0, from = 0;

	if (!v) {
		out->bad = true;
		return;
	}
	for (size_t i = 0; i < r->n; i++)
		if (is_shown(r->series[i]) && (processes || !series_label(r->series[i], "pid")))
			v[n++] = r->series[i];
	qsort(v, n, sizeof(*v), by_family);
	for (size_t i = 1; i <= n; i++)
		if (i == n || !same_family(v[i]->metric, v[from]->metric)) {
			put_family(out, cfg, v + from, i - from, om);
			from = i;
		}
}

static int put_state(void *arg, const struct event_status *st)
{
	struct buf *out = arg;
	bool first = true;

	buf_puts(out, "tacho_event_state");
	put_label(out, "source", st->source, &first);
	put_label(out, "event", st->event, &first);
	put_label(out, "state", st->paused ? "paused" : tacho_state_name(st->state), &first);
	buf_puts(out, "} 1\n");
	return 0;
}

void prometheus_text(struct agent *a, bool openmetrics, bool processes, struct buf *out)
{
	pthread_rwlock_rdlock(&a->config_lock);
	pthread_rwlock_rdlock(&a->registry.lock);
	prometheus_series(&a->registry, a->config, openmetrics, processes, out);
	pthread_rwlock_unlock(&a->registry.lock);
	if (a->collector) {
		buf_puts(out, "# HELP tacho_event_state 1 for the state that each configured event is in\n"
			      "# TYPE tacho_event_state gauge\n");
		collector_events(a->collector, put_state, out);
	}
	pthread_rwlock_unlock(&a->config_lock);
	if (openmetrics)
		buf_puts(out, "# EOF\n");
}
