/*
 * Rollups. A counter's bucket stores the total at its end, so that buckets can be subtracted like
 * points, and the measured seconds, so that a gap is not taken for zero activity.
 */
#include "agent/store/rollup.h"

const int64_t rollup_bucket_ns[CHUNK_LEVELS] = { 0, 10000000000, 60000000000 };

void rollup_init(struct rollup *r, enum chunk_level level, enum metric_kind kind)
{
	*r = (struct rollup){ .kind = kind, .bucket_ns = rollup_bucket_ns[level] };
}

bool increase_since(const struct previous_point *last, int64_t start_ns, const struct chunk_point *p,
		    double *counts, double *seconds)
{
	bool same = last->known && last->start_ns == start_ns && p->count >= last->count;
	int64_t from = same ? last->time_ns : start_ns;

	if (last->known && p->time_ns <= last->time_ns)
		return false;
	if (!same &&
	    (start_ns <= 0 || start_ns >= p->time_ns || (last->known && start_ns < last->time_ns)))
		return false;
	*counts = (double)(p->count - (same ? last->count : 0));
	*seconds = (double)(p->time_ns - from) * 1e-9;
	return true;
}

static void add_rate(struct rollup *r, double rate)
{
	struct chunk_point *b = &r->open;

	b->min = b->n ? min_of(b->min, (float)rate) : (float)rate;
	b->max = b->n ? max_of(b->max, (float)rate) : (float)rate;
	b->n++;
}

static void add_counter(struct rollup *r, const struct chunk_point *p, int64_t start_ns)
{
	double counts, seconds;

	if (increase_since(&r->last, start_ns, p, &counts, &seconds) && seconds > 0) {
		r->open.seconds += (float)seconds;
		r->shares += p->share * seconds;
		add_rate(r, counts / seconds);
	}
	r->open.count = p->count;
}

static void add_gauge(struct rollup *r, const struct chunk_point *p)
{
	r->sum += p->value;
	add_rate(r, p->value);
}

/* Outputs the open bucket and clears it. */
static void close_bucket(struct rollup *r, struct chunk_point *out)
{
	*out = r->open;
	out->time_ns = r->from_ns;
	out->share = r->open.seconds > 0 ? min_of(r->shares / (double)r->open.seconds, 1.0) : 1;
	out->value = r->open.n ? r->sum / r->open.n : 0;
	r->open = (struct chunk_point){ 0 };
	r->sum = r->shares = 0;
}

bool rollup_add(struct rollup *r, const struct chunk_point *p, int64_t start_ns,
		struct chunk_point *out)
{
	int64_t from = p->time_ns - p->time_ns % r->bucket_ns;
	bool closed = r->from_ns && from != r->from_ns && r->open.n;

	if (closed)
		close_bucket(r, out);
	r->from_ns = from;
	r->open.state = p->state;
	if (r->kind == METRIC_COUNTER)
		add_counter(r, p, start_ns);
	else
		add_gauge(r, p);
	r->last = (struct previous_point){ true, p->time_ns, start_ns, p->count };
	return closed;
}
