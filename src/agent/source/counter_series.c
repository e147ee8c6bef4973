/*
 * The series of a source's counters, in a table by identity. The identity is the metric's name and
 * all labels, by which receivers identify a series as well.
 */
#include "agent/source/counter_series.h"

#include <errno.h>

#include "base/vec.h"

void counter_table_done(struct counter_table *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].key);
	vec_done(s);
	map_done(&s->by_key);
}

static char *make_key(const struct metric *m, const struct label *labels, size_t n)
{
	struct buf b = { 0 };

	buf_puts(&b, m->name);
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%c%s=%s", 1, labels[i].name, labels[i].value);
	return buf_take(&b);
}

/* Continues the series of an existing entry. If its registry series has ended and expired meanwhile
 * (e.g. its CPU was offline), a new one is added. */
static int continue_series(struct counter_series *counter, struct registry *r,
			   const struct series_desc *desc)
{
	bool exists = registry_revive(r, counter->series);
	int64_t id;

	counter->ended = counter->offline = false;
	if (exists)
		return 0;
	id = registry_add(r, desc);
	if (id < 0)
		return (int)id;
	*counter = (struct counter_series){ .series = (uint32_t)id, .scale = desc->metric->scale,
					    .metric = desc->metric, .key = counter->key };
	return 0;
}

static int64_t add_entry(struct counter_table *s, char *key)
{
	struct counter_series *counter = key ? vec_add(s) : NULL;

	if (!counter) {
		free(key);
		return -ENOMEM;
	}
	counter->key = key;
	if (map_put(&s->by_key, str_of(key), s->n - 1) < 0) {
		free(key);
		s->n--;
		return -ENOMEM;
	}
	return (int64_t)s->n - 1;
}

int64_t counter_table_get(struct counter_table *s, struct registry *r, const struct series_desc *desc)
{
	char *key = make_key(desc->metric, desc->labels, desc->n_labels);
	const uint64_t *found = key ? map_get(&s->by_key, str_of(key)) : NULL;
	int64_t at;
	int err;

	if (found) {
		at = (int64_t)*found;
		free(key);
	} else {
		at = add_entry(s, key);
	}
	if (at < 0)
		return at;
	err = continue_series(&s->v[at], r, desc);
	if (err < 0)
		return err;
	s->v[at].present = true;
	return at;
}

void counter_table_end_absent(struct counter_table *s, struct registry *r)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->v[i].present && !s->v[i].ended && !s->v[i].offline && !s->v[i].stays) {
			registry_end(r, s->v[i].series);
			s->v[i].ended = true;
		}
}

size_t counter_table_count_ended(const struct counter_table *s, struct registry *r)
{
	size_t n = 0;

	pthread_rwlock_rdlock(&r->lock);
	for (size_t i = 0; i < s->n; i++)
		n += s->v[i].ended && registry_get(r, s->v[i].series);
	pthread_rwlock_unlock(&r->lock);
	return n;
}

/* ---- removing expired series ---- */

#define COMPACT_MIN 64

/* Assigns new indexes to the entries whose series still exist; returns how many. */
static size_t assign_new_indexes(const struct counter_table *s, struct registry *r, uint32_t *map)
{
	size_t n_kept = 0;

	pthread_rwlock_rdlock(&r->lock);
	for (size_t i = 0; i < s->n; i++) {
		bool gone = s->v[i].ended && !registry_get(r, s->v[i].series);

		map[i] = gone ? UINT32_MAX : (uint32_t)n_kept++;
	}
	pthread_rwlock_unlock(&r->lock);
	return n_kept;
}

static int rebuild_map(const struct counter_table *s, const uint32_t *map, struct map *out)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < s->n; i++)
		if (map[i] != UINT32_MAX)
			err = map_put(out, str_of(s->v[i].key), map[i]);
	return err;
}

static void move_entries(struct counter_table *s, const uint32_t *map, size_t n_kept)
{
	for (size_t i = 0; i < s->n; i++)
		if (map[i] == UINT32_MAX)
			free(s->v[i].key);
		else
			s->v[map[i]] = s->v[i];
	s->n = n_kept;
}

uint32_t *counter_table_compact(struct counter_table *s, struct registry *r)
{
	scoped(freep) uint32_t *map = s->n > COMPACT_MIN ? calloc(s->n, sizeof(*map)) : NULL;
	struct map fresh = { 0 };
	size_t n_kept;

	if (!map)
		return NULL;
	n_kept = assign_new_indexes(s, r, map);
	if (s->n - n_kept < COMPACT_MIN || s->n - n_kept < s->n / 2)
		return NULL;
	if (rebuild_map(s, map, &fresh) < 0) {
		map_done(&fresh);		/* try again next time */
		return NULL;
	}
	move_entries(s, map, n_kept);
	map_done(&s->by_key);
	s->by_key = fresh;
	return take(map);
}

void counter_series_add_base(struct counter_series *counter, const struct tacho_sum *row)
{
	counter->last = true;
	counter->base.state = row->state;
	counter->base.count += row->count;
	counter->base.raw += row->raw;
	counter->base.enabled_ns += row->enabled_ns;
	counter->base.running_ns += row->running_ns;
}

void counter_series_point(const struct counter_series *counter, const struct point *open,
			  struct point *out)
{
	const struct point *base = &counter->base;

	*out = (struct point){
		.series = counter->series,
		.state = open->state,
		.count = base->count + open->count,
		.raw = base->raw + open->raw,
		.enabled_ns = base->enabled_ns + open->enabled_ns,
		.running_ns = base->running_ns + open->running_ns,
	};
	out->value = (double)out->count * counter->scale;
}
