/*
 * The registry of series. Only the collector's thread changes it; HTTP and SNMP read it under the
 * read lock. Ids are never reused. A series that ended keeps its last point for a while, so that a
 * late scrape still sees it, and is then freed: with short-lived processes, memory is bounded by the
 * series of the last minutes.
 */
#include "agent/core/series.h"

#include <errno.h>

#include "base/vec.h"

int registry_init(struct registry *r)
{
	*r = (struct registry){ 0 };
	return -pthread_rwlock_init(&r->lock, NULL);
}

static void series_free(struct series *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_labels; i++)
		free(s->labels[i].value);
	free(s->labels);
	free((char *)s->source);
	free(s->why);
	free(s);
}

static void metric_free(struct metric *m)
{
	if (!m)
		return;
	free((char *)m->event);
	free((char *)m->name);
	free((char *)m->unit);
	free((char *)m->help);
	free(m);
}

void registry_done(struct registry *r)
{
	for (size_t i = 0; i < r->n; i++)
		series_free(r->series[i]);
	for (size_t i = 0; i < r->n_metrics; i++)
		metric_free(r->metrics[i]);
	free(r->series);
	free(r->metrics);
	pthread_rwlock_destroy(&r->lock);
}

static bool metric_eq(const struct metric *a, const struct metric *b)
{
	return a->kind == b->kind && a->naming == b->naming && a->scale == b->scale &&
	       !strcmp(a->event, b->event) && !strcmp(a->name, b->name) && !strcmp(a->unit, b->unit);
}

static struct metric *metric_copy(const struct metric *like)
{
	struct metric *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	*m = *like;
	m->event = strdup(like->event);
	m->name = strdup(like->name);
	m->unit = strdup(like->unit ? like->unit : "");
	m->help = strdup(like->help ? like->help : "");
	if (m->event && m->name && m->unit && m->help)
		return m;
	metric_free(m);
	return NULL;
}

static bool reserve_pointer(void **v, size_t n, size_t *cap)
{
	return vec_reserve_one_(v, n, cap, sizeof(void *));
}

const struct metric *registry_metric(struct registry *r, const struct metric *like)
{
	struct metric *m = NULL;

	pthread_rwlock_wrlock(&r->lock);
	for (size_t i = 0; i < r->n_metrics && !m; i++)
		if (metric_eq(r->metrics[i], like))
			m = r->metrics[i];
	if (!m && reserve_pointer((void **)&r->metrics, r->n_metrics, &r->cap_metrics)) {
		m = metric_copy(like);
		if (m)
			r->metrics[r->n_metrics++] = m;
	}
	pthread_rwlock_unlock(&r->lock);
	return m;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct label *)a)->name, ((const struct label *)b)->name);
}

static int copy_labels(struct series *s, const struct label *labels, size_t n)
{
	s->labels = calloc(n ? n : 1, sizeof(*s->labels));
	if (!s->labels)
		return -ENOMEM;
	for (; s->n_labels < n; s->n_labels++) {
		s->labels[s->n_labels].name = labels[s->n_labels].name;
		s->labels[s->n_labels].value = strdup(labels[s->n_labels].value);
		if (!s->labels[s->n_labels].value)
			return -ENOMEM;
	}
	qsort(s->labels, n, sizeof(*s->labels), by_name);
	return 0;
}

static struct series *series_new(const struct series_desc *desc)
{
	struct series *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->metric = desc->metric;
	s->group_row = desc->group_row;
	s->start_ns = desc->start_ns;
	s->last.state = TACHO_NOT_COUNTED;
	s->source = strdup(desc->source);
	if (s->source && !copy_labels(s, desc->labels, desc->n_labels))
		return s;
	series_free(s);
	return NULL;
}

int64_t registry_add(struct registry *r, const struct series_desc *desc)
{
	struct series *s = series_new(desc);
	int64_t id = -ENOMEM;

	if (!s)
		return id;
	pthread_rwlock_wrlock(&r->lock);
	if (r->last_id < UINT32_MAX - 1 && reserve_pointer((void **)&r->series, r->n, &r->cap)) {
		r->series[r->n++] = s;
		s->id = ++r->last_id;
		s->last.series = s->id;
		r->generation++;
		id = s->id;
	}
	pthread_rwlock_unlock(&r->lock);
	if (id < 0)
		series_free(s);
	return id;
}

/* Ids are assigned in order, so series[id - 1] is the entry until earlier ones expire; each expired
 * one moves it by one. The search range is bounded by their number. */
size_t registry_lower_bound(const struct registry *r, uint32_t id)
{
	size_t holes = r->last_id - r->n;
	size_t low = id > holes ? id - holes - 1 : 0, high = min_of((size_t)(id ? id - 1 : 0), r->n);

	low = min_of(low, high);
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->series[mid]->id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct series *find_series(const struct registry *r, uint32_t id)
{
	size_t at = registry_lower_bound(r, id);

	return at < r->n && r->series[at]->id == id ? r->series[at] : NULL;
}

const struct series *registry_get(const struct registry *r, uint32_t id)
{
	return find_series(r, id);
}

/* A counter value that would fall keeps its old value: receivers treat a falling counter as a
 * restart. */
static void apply_point(struct series *s, const struct point *p, int64_t time_ns)
{
	bool counter = s->metric->kind == METRIC_COUNTER;

	/* A series that is added during a tick is younger than the tick, whose time its first point has. */
	if (!s->time_ns)
		s->start_ns = min_of(s->start_ns, time_ns);
	if (s->why && p->state <= TACHO_SCALED)
		free(take(s->why));
	s->offline = s->offline && p->state > TACHO_SCALED;
	s->last.state = p->state;
	s->time_ns = time_ns;
	if (counter && (p->count < s->last.count || p->value < s->last.value))
		return;
	s->last = *p;
}

void registry_apply(struct registry *r, const struct point_batch *b)
{
	pthread_rwlock_wrlock(&r->lock);
	for (size_t i = 0; i < b->n_points; i++) {
		struct series *s = find_series(r, b->points[i].series);

		if (s)
			apply_point(s, &b->points[i], b->time_ns);
	}
	pthread_rwlock_unlock(&r->lock);
}

static void set_state(struct registry *r, uint32_t id, enum tacho_state state, bool offline, const char *why)
{
	struct series *s;

	pthread_rwlock_wrlock(&r->lock);
	s = find_series(r, id);
	if (s) {
		s->last.state = state;
		s->offline = offline;
		free(s->why);
		s->why = why ? strdup(why) : NULL;
	}
	pthread_rwlock_unlock(&r->lock);
}

void registry_set_state(struct registry *r, uint32_t id, enum tacho_state state, const char *why)
{
	set_state(r, id, state, false, why);
}

void registry_set_offline(struct registry *r, uint32_t id, const char *why)
{
	set_state(r, id, TACHO_FAILED, true, why);
}

const char *series_state_name(const struct series *s)
{
	return s->offline ? "offline" : tacho_state_name(s->last.state);
}

void registry_end(struct registry *r, uint32_t id)
{
	struct series *s;

	pthread_rwlock_wrlock(&r->lock);
	s = find_series(r, id);
	if (s)
		s->ended = true;
	pthread_rwlock_unlock(&r->lock);
}

bool registry_revive(struct registry *r, uint32_t id)
{
	struct series *s;

	pthread_rwlock_wrlock(&r->lock);
	s = find_series(r, id);
	if (s)
		s->ended = false;
	pthread_rwlock_unlock(&r->lock);
	return s;
}

void registry_expire(struct registry *r, int64_t before_ns)
{
	size_t kept = 0;

	pthread_rwlock_wrlock(&r->lock);
	for (size_t i = 0; i < r->n; i++) {
		struct series *s = r->series[i];

		if (!s->ended || s->time_ns >= before_ns) {
			r->series[kept++] = s;
			continue;
		}
		series_free(s);
		r->generation++;
	}
	r->n = kept;
	pthread_rwlock_unlock(&r->lock);
}

const char *series_label(const struct series *s, const char *name)
{
	for (size_t i = 0; i < s->n_labels; i++)
		if (!strcmp(s->labels[i].name, name))
			return s->labels[i].value;
	return NULL;
}
