/*
 * Joins points with their series.
 */
#include "agent/export/point_view.h"

#include "agent/export/series_names.h"

#include <errno.h>

#include "base/vec.h"

int point_view_fill(struct point_view *p, const struct exporter_env *env, const struct point_batch *b,
		    size_t n, bool counted)
{
	p->n = 0;
	series_names_forget(env->names, env->registry);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < b[i].n_points; k++) {
			const struct point *point = &b[i].points[k];
			const struct series *s = registry_get(env->registry, point->series);
			struct viewed_point *viewed;

			if (!s || (counted && point->state > TACHO_SCALED))
				continue;
			s = series_names_get(env->names, s);
			viewed = s ? vec_add(p) : NULL;
			if (!viewed)
				return -ENOMEM;
			*viewed = (struct viewed_point){ s, point, b[i].time_ns, false };
		}
	return 0;
}

static int by_series(const void *a, const void *b)
{
	const struct viewed_point *x = a, *y = b;

	if (x->series->id != y->series->id)
		return x->series->id < y->series->id ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int by_metric(const void *a, const void *b)
{
	const struct metric *x = ((const struct viewed_point *)a)->series->metric;
	const struct metric *y = ((const struct viewed_point *)b)->series->metric;

	return x == y ? by_series(a, b) : (uintptr_t)x < (uintptr_t)y ? -1 : 1;
}

void point_view_sort(struct point_view *p, enum point_order order)
{
	if (p->n && order != POINTS_IN_BATCH_ORDER)
		qsort(p->v, p->n, sizeof(*p->v), order == POINTS_BY_SERIES ? by_series : by_metric);
}

void point_view_done(struct point_view *p)
{
	vec_done(p);
}

/* Index of a series in the sorted list, or where to insert it. */
static size_t find_index(const struct seen_series *s, uint32_t id)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->v[mid].series < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int add_series(struct seen_series *s, const struct viewed_point *k)
{
	size_t at = find_index(s, k->series->id);

	if (at == s->n || s->v[at].series != k->series->id) {
		if (!vec_add(s))
			return -ENOMEM;
		memmove(s->v + at + 1, s->v + at, (s->n - 1 - at) * sizeof(*s->v));
		s->v[at] = (struct seen_series_entry){ .series = k->series->id };
	}
	s->v[at].scaled = s->v[at].scaled || viewed_point_is_scaled(k);
	return 0;
}

int seen_series_update(struct seen_series *s, const struct exporter_env *env, struct point_view *p)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < p->n && !err; i++)
		err = add_series(s, &p->v[i]);
	for (size_t i = 0; i < s->n && !err; i++) {
		const struct series *x = registry_get(env->registry, s->v[i].series);
		struct viewed_point *end;

		x = x ? series_names_get(env->names, x) : NULL;
		end = x && x->ended ? vec_add(p) : NULL;
		if (end)	/* a millisecond later, because receivers have that resolution */
			*end = (struct viewed_point){ x, NULL, x->time_ns + 1000000, s->v[i].scaled };
		else if (x && x->ended)
			err = -ENOMEM;
		if (x && !x->ended)
			s->v[kept++] = s->v[i];
	}
	if (!err)
		s->n = kept;
	return err;
}

void seen_series_done(struct seen_series *s)
{
	vec_done(s);
}
