/*
 * Slots: see the header. A key is the metric's name and all labels, which is what a receiver takes
 * for the identity of a series as well.
 */
#include "agent/source/counter_series.h"

#include <errno.h>

#include "base/vec.h"

void slots_done(struct counter_table *s)
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

/* A series that ended and comes back (a CPU that was offline) is a new one for the registry once
 * the old has expired. */
static int64_t revive(struct counter_series *slot, struct registry *r, const struct metric *m,
		      const char *source, const struct label *labels, size_t n_labels,
		      int group_row, int64_t now_ns)
{
	bool there = registry_revive(r, slot->series);
	int64_t id;

	slot->ended = slot->offline = false;
	if (there)
		return 0;
	id = registry_add(r, m, source, labels, n_labels, group_row, now_ns);
	if (id < 0)
		return id;
	*slot = (struct counter_series){ .series = (uint32_t)id, .scale = m->scale, .key = slot->key };
	return 0;
}

static int64_t add(struct counter_table *s, char *key)
{
	struct counter_series *slot = key ? vec_add(s) : NULL;

	if (!slot) {
		free(key);
		return -ENOMEM;
	}
	slot->key = key;
	if (map_put(&s->by_key, str_of(key), s->n - 1) < 0) {
		free(key);
		s->n--;
		return -ENOMEM;
	}
	return (int64_t)s->n - 1;
}

int64_t slots_get(struct counter_table *s, struct registry *r, const struct metric *m,
		  const char *source, const struct label *labels, size_t n_labels, int group_row,
		  int64_t now_ns)
{
	char *key = make_key(m, labels, n_labels);
	const uint64_t *found = key ? map_get(&s->by_key, str_of(key)) : NULL;
	int64_t at = found ? (int64_t)*found : -1, err;

	if (found)
		free(key);
	else
		at = add(s, key);
	if (at < 0)
		return at;
	err = revive(&s->v[at], r, m, source, labels, n_labels, group_row, now_ns);
	if (err < 0)
		return err;
	s->v[at].present = true;
	return at;
}

void slots_end_absent(struct counter_table *s, struct registry *r)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->v[i].present && !s->v[i].ended && !s->v[i].offline) {
			registry_end(r, s->v[i].series);
			s->v[i].ended = true;
		}
}

size_t slots_ended(const struct counter_table *s, struct registry *r)
{
	size_t n = 0;

	pthread_rwlock_rdlock(&r->lock);
	for (size_t i = 0; i < s->n; i++)
		n += s->v[i].ended && registry_get(r, s->v[i].series);
	pthread_rwlock_unlock(&r->lock);
	return n;
}

/* ---- forgetting ---- */

#define MANY 64

/* Numbers those that stay anew; returns how many do. */
static size_t renumber(const struct counter_table *s, struct registry *r, uint32_t *map)
{
	size_t kept = 0;

	pthread_rwlock_rdlock(&r->lock);
	for (size_t i = 0; i < s->n; i++) {
		bool gone = s->v[i].ended && !registry_get(r, s->v[i].series);

		map[i] = gone ? UINT32_MAX : (uint32_t)kept++;
	}
	pthread_rwlock_unlock(&r->lock);
	return kept;
}

static int map_again(const struct counter_table *s, const uint32_t *map, struct map *out)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < s->n; i++)
		if (map[i] != UINT32_MAX)
			err = map_put(out, str_of(s->v[i].key), map[i]);
	return err;
}

static void move_slots(struct counter_table *s, const uint32_t *map, size_t kept)
{
	for (size_t i = 0; i < s->n; i++)
		if (map[i] == UINT32_MAX)
			free(s->v[i].key);
		else
			s->v[map[i]] = s->v[i];
	s->n = kept;
}

uint32_t *slots_compact(struct counter_table *s, struct registry *r)
{
	scoped(freep) uint32_t *map = s->n > MANY ? calloc(s->n, sizeof(*map)) : NULL;
	struct map fresh = { 0 };
	size_t kept;

	if (!map)
		return NULL;
	kept = renumber(s, r, map);
	if (s->n - kept < MANY || s->n - kept < s->n / 2)
		return NULL;
	if (map_again(s, map, &fresh) < 0) {
		map_done(&fresh);		/* another time */
		return NULL;
	}
	move_slots(s, map, kept);
	map_done(&s->by_key);
	s->by_key = fresh;
	return take(map);
}

void slot_keep(struct counter_series *slot, const struct tacho_sum *row)
{
	slot->last = true;
	slot->base.state = row->state;
	slot->base.count += row->count;
	slot->base.raw += row->raw;
	slot->base.enabled_ns += row->enabled_ns;
	slot->base.running_ns += row->running_ns;
}

void slot_point(const struct counter_series *slot, const struct point *open, struct point *out)
{
	const struct point *base = &slot->base;

	*out = (struct point){
		.series = slot->series,
		.state = open->state,
		.count = base->count + open->count,
		.raw = base->raw + open->raw,
		.enabled_ns = base->enabled_ns + open->enabled_ns,
		.running_ns = base->running_ns + open->running_ns,
	};
	out->value = (double)out->count * slot->scale;
}
