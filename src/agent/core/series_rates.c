/*
 * Rates of the series that a condition selects, and the condition's match against a series.
 */
#include "agent/core/series_rates.h"

#include <math.h>

#include "base/vec.h"

#define SECOND 1000000000ull

bool condition_selects(const struct condition *c, const struct series *s)
{
	if (!s || s->ended || s->last.state > TACHO_SCALED || !s->time_ns ||
	    !str_glob(str_of(c->event), str_of(s->metric->event)))
		return false;
	for (size_t i = 0; i + 1 < c->labels.n; i += 2) {
		const char *have = series_label(s, c->labels.v[i]);

		if (!have || strcmp(have, c->labels.v[i + 1]) != 0)
			return false;
	}
	return true;
}

/* The time between two points: from their own times, unless the wall clock was set in between. */
static uint64_t time_between(const struct series_rate *o, const struct series *s, uint64_t now_ns)
{
	int64_t wall = s->time_ns - o->time_ns, mono = (int64_t)(now_ns - o->seen_ns);

	return (uint64_t)(wall > 0 && llabs(wall - mono) < (int64_t)(2 * SECOND) ? wall : mono);
}

static void update_rate(struct series_rate *o, const struct series *s, uint64_t now_ns)
{
	if (s->time_ns != o->time_ns) {
		o->apart_ns = time_between(o, s, now_ns);
		o->rate = s->last.value >= o->value && o->apart_ns
				  ? (s->last.value - o->value) / ((double)o->apart_ns * 1e-9) : NAN;
		o->value = s->last.value;
		o->time_ns = s->time_ns;
		o->seen_ns = now_ns;
	} else if (now_ns - o->seen_ns > 2 * o->apart_ns + 2 * SECOND && o->apart_ns) {
		o->rate = NAN;		/* paused, or its source ended without notice */
	}
}

/* Finds the previous state of a series; series are visited in the order of their ids. */
static const struct series_rate *find_previous(const struct series_rates *r, size_t *at,
					       uint32_t series)
{
	while (*at < r->list.n && r->list.v[*at].series < series)
		++*at;
	return *at < r->list.n && r->list.v[*at].series == series ? &r->list.v[*at] : NULL;
}

static bool update_series(struct series_rates *fresh, const struct series_rates *r, size_t *at,
			  const struct series *s, uint64_t now_ns)
{
	const struct series_rate *before = find_previous(r, at, s->id);
	struct series_rate *o = vec_add(&fresh->list);

	if (!o)
		return false;
	*o = before ? *before : (struct series_rate){ .series = s->id, .value = s->last.value, .rate = NAN,
						  .time_ns = s->time_ns, .seen_ns = now_ns };
	update_rate(o, s, now_ns);
	return true;
}

double series_rates_update(struct series_rates *r, struct registry *reg, const struct condition *c,
			   uint64_t now_ns)
{
	bool largest = c->func == CONDITION_MAX_RATE, ok = true;
	struct series_rates fresh = { 0 };
	double v = NAN;
	size_t at = 0;

	pthread_rwlock_rdlock(&reg->lock);
	for (size_t i = 0; ok && i < reg->n; i++)
		if (condition_selects(c, reg->series[i]))
			ok = update_series(&fresh, r, &at, reg->series[i], now_ns);
	pthread_rwlock_unlock(&reg->lock);
	for (size_t i = 0; i < fresh.list.n; i++) {
		double x = fresh.list.v[i].rate;

		if (!isnan(x))
			v = isnan(v) ? x : largest ? fmax(v, x) : v + x;
	}
	series_rates_done(r);
	*r = fresh;
	return ok ? v : NAN;
}

void series_rates_done(struct series_rates *r)
{
	vec_done(&r->list);
}
