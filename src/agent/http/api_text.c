/*
 * Status, events, series and exporters as plain text, for ?format=text and `tacho agent ctl`.
 */
#include "agent/http/request.h"

#include <time.h>

#include "agent/core/collector.h"
#include "agent/core/metric_names.h"
#include "agent/profiler/profiler.h"
#include "base/clock.h"

bool request_wants_text(struct request *q)
{
	const char *format = request_arg(q, "format");

	if (!format || strcmp(format, "text") != 0)
		return false;
	q->type = "text/plain; charset=utf-8";
	return true;
}

static void put_store(struct agent *a, struct buf *out)
{
	struct store_status st;

	if (!a->store) {
		buf_puts(out, "history        none\n");
		return;
	}
	store_status(a->store, &st);
	buf_printf(out, "history        %.1f MB, %llu points written, %llu dropped%s%s\n", (double)st.bytes * 1e-6,
		   (unsigned long long)st.n_points_written, (unsigned long long)st.n_points_dropped,
		   st.last_error[0] ? "; " : "", st.last_error);
	if (st.salvaged[0])
		buf_printf(out, "               %s\n", st.salvaged);
}

static void put_profiler(struct agent *a, struct buf *out)
{
	struct profiler_status st = { 0 };

	if (a->profiler)
		profiler_status(a->profiler, &st);
	if (!a->profiler)
		buf_puts(out, "profile        could not be started; see the log\n");
	else if (!st.running)
		buf_printf(out, "profile        off: %s\n", st.why);
	else
		buf_printf(out, "profile        %s, %llu samples a second and CPU; %llu so far, %llu lost%s%s\n",
			   st.event, (unsigned long long)st.frequency, (unsigned long long)st.samples,
			   (unsigned long long)st.lost, st.why[0] ? "; " : "", st.why);
}

void text_status(struct request *q)
{
	struct agent *a = q->agent;
	struct buf *out = &q->out;
	time_t since = (time_t)(a->started_ns / 1000000000);
	char text[32] = "";
	struct tm tm;

	if (localtime_r(&since, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	buf_printf(out, "agent          tacho %s on %s, process %d, since %s\n", TACHO_VERSION, a->host, getpid(),
		   text);
	pthread_rwlock_rdlock(&a->config_lock);
	if (a->config->path)
		buf_printf(out, "configuration  %s (%s), %zu sources, %zu exports\n", a->config->path, a->config->kind,
			   a->config->n_sources, a->config->n_exports);
	else
		buf_printf(out, "configuration  built in, %zu sources\n", a->config->n_sources);
	pthread_rwlock_unlock(&a->config_lock);
	if (*http_url(q->http))
		buf_printf(out, "page           %s\n", http_url(q->http));
	buf_printf(out, "reads          %llu of sources, %llu missed\n", (unsigned long long)a->stats.ticks,
		   (unsigned long long)a->stats.missed_ticks);
	put_store(a, out);
	put_profiler(a, out);
}

static int put_event(void *arg, const struct event_status *st)
{
	const char *state = st->paused ? "paused" : tacho_state_name(st->state);
	struct buf *out = arg;

	buf_printf(out, "%-12s %-32s %s", st->source, st->original, state);
	if (st->state == TACHO_SCALED)
		buf_printf(out, ", ran %.0f %% of the time", st->share * 100);
	buf_printf(out, "%s%s\n", st->why ? ": " : "", st->why ? st->why : "");
	return 0;
}

void text_events(struct request *q)
{
	collector_events(q->agent->collector, put_event, &q->out);
}

void text_series(struct request *q)
{
	const struct registry *r = &q->agent->registry;
	struct buf *out = &q->out;

	pthread_rwlock_rdlock(&q->agent->registry.lock);
	for (size_t i = 0; i < r->n; i++) {
		const struct series *s = r->series[i];

		buf_puts(out, s->metric->event);
		/* the comm of a process may contain any characters */
		for (size_t k = 0; k < s->n_labels; k++) {
			buf_printf(out, "%s%s=", k ? "," : "{", s->labels[k].name);
			json_quote(out, str_of(s->labels[k].value));
		}
		buf_puts(out, s->n_labels ? "} " : " ");
		if (s->last.state <= TACHO_SCALED && s->time_ns)
			metric_put_number(out, s->last.value);
		else
			buf_printf(out, "<%s>", tacho_state_name(s->last.state));
		buf_printf(out, "%s%s%s\n", s->metric->unit[0] ? " " : "", s->metric->unit,
			   s->ended ? " (ended)" : "");
	}
	pthread_rwlock_unlock(&q->agent->registry.lock);
}

void text_exporters(struct request *q)
{
	struct exporter_status st[64];
	size_t n = q->agent->exporters ? exporters_status(q->agent->exporters, st, countof(st)) : 0;

	for (size_t i = 0; i < n; i++)
		buf_printf(&q->out, "%-16s %-13s %-4s %llu points sent, %llu wait (%.0f s), %llu dropped%s%s\n",
			   st[i].name, st[i].type, st[i].connected ? "up" : "down",
			   (unsigned long long)st[i].sent_points, (unsigned long long)st[i].queued_points, st[i].lag_s,
			   (unsigned long long)st[i].dropped_points, st[i].last_error[0] ? "; " : "", st[i].last_error);
	if (n == 0)
		buf_puts(&q->out, "the configuration has no [[export]]\n");
}
