/*
 * Rows -> groups: equal values of all keys of a row. The rows of one group come together.
 */
#include "report/build.h"

#include <errno.h>

static int group_add(struct build *b, const uint64_t *values, const struct tacho_profile_row *r,
		     uint32_t *out)
{
	size_t n = b->h->opts->n_keys * sizeof(*values);
	struct hist_group *g = vec_add(&b->h->groups);
	char *key = g ? arena_str(&b->arena, str_n((const char *)values, n)) : NULL;

	if (!key)
		return -ENOMEM;
	memcpy(g->v, values, n);
	g->thread = r->thread;
	g->detail = r->detail;
	*out = (uint32_t)(b->h->groups.n - 1);
	return map_put(&b->by_values, str_n(key, n), *out);
}

static int group_look(struct build *b, const struct tacho_profile_row *r, uint32_t *out)
{
	const struct hist_opts *o = b->h->opts;
	uint64_t values[HIST_KEYS_MAX + 1] = { 0 };
	const uint64_t *hit;

	for (size_t i = 0; i < o->n_keys; i++)
		if (o->keys[i] >= COL_FIRST_KEY && o->keys[i] < COL_FIRST_OF_FRAME)
			values[i] = hist_row_value(b->h, o->keys[i], r);
	hit = map_get(&b->by_values, str_n((const char *)values, o->n_keys * sizeof(*values)));
	if (hit)
		*out = (uint32_t)*hit;
	else if (group_add(b, values, r, out) < 0)
		return -ENOMEM;
	b->group_of_thread[r->thread] = *out + 1;
	return 0;
}

static int group_find(struct build *b, const struct tacho_profile_row *r, uint32_t *out)
{
	if (!b->only_thread || !b->group_of_thread[r->thread])
		return group_look(b, r, out);
	*out = b->group_of_thread[r->thread] - 1;
	return 0;
}

/* Rows by group, each group's in the order they came. */
int rows_sort(struct build *b)
{
	size_t sum = 0;

	if (b->sorted)
		return 0;
	b->group_end = calloc(b->h->groups.n + 1, sizeof(*b->group_end));
	b->sorted = reallocarray(NULL, b->n_rows + 1, sizeof(*b->sorted));
	if (!b->group_end || !b->sorted)
		return -ENOMEM;
	for (size_t i = 0; i < b->n_rows; i++)
		if (b->group_of[i] != HIST_NONE)
			b->group_end[b->group_of[i]]++;
	for (size_t g = 0; g < b->h->groups.n; g++) {
		size_t n = b->group_end[g];

		b->group_end[g] = sum;
		sum += n;
	}
	for (size_t i = 0; i < b->n_rows; i++)
		if (b->group_of[i] != HIST_NONE)
			b->sorted[b->group_end[b->group_of[i]]++] = (uint32_t)i;
	return 0;
}

int groups_make(struct build *b)
{
	const struct hist_opts *o = b->h->opts;

	b->group_of = reallocarray(NULL, b->n_rows + 1, sizeof(*b->group_of));
	b->group_of_thread = calloc(tacho_profile_n_threads(b->h->profile) + 1, sizeof(uint32_t));
	if (!b->group_of || !b->group_of_thread)
		return -ENOMEM;
	b->only_thread = true;
	for (size_t i = 0; i < o->n_keys; i++)
		if (o->keys[i] >= COL_CPU && o->keys[i] < COL_FIRST_OF_FRAME)
			b->only_thread = false;
	b->by_rows = !o->chains || !o->children || o->samples || o->modes || o->latency ||
		     o->symbol_filter;	/* which asks where its first sample fell */
	for (size_t i = 0; i < b->n_rows; i++) {
		b->group_of[i] = HIST_NONE;
		b->by_rows = b->by_rows || !b->rows[i].node;
		if (b->event_of[b->rows[i].event] != HIST_NONE &&
		    group_find(b, &b->rows[i], &b->group_of[i]) < 0)
			return -ENOMEM;
	}
	return b->by_rows ? rows_sort(b) : 0;
}
