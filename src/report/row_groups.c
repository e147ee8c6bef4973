/*
 * Rows -> groups: rows with equal values of all row keys. Rows can then be sorted by group.
 */
#include "report/build.h"

#include <errno.h>

static int group_add(struct build *b, const uint64_t *values, const struct tacho_profile_row *row,
		     uint32_t *out)
{
	struct report *r = b->r;
	size_t n = r->opts.n_keys * sizeof(*values);
	struct report_group *g = vec_add(&r->groups);
	char *key = g ? arena_str(&b->arena, str_n((const char *)values, n)) : NULL;

	if (!key)
		return -ENOMEM;
	memcpy(g->values, values, n);
	g->thread = row->thread;
	g->detail = row->detail;
	*out = (uint32_t)(r->groups.n - 1);
	return map_put(&b->by_values, str_n(key, n), *out);
}

/* Keys of details are 0 for rows without any. */
static uint64_t row_value(struct report *r, const struct column *c, const struct tacho_profile_row *row)
{
	if (!is_row_key(c) || (c->pub.kind != TACHO_REPORT_ROW_KEY && !row->detail))
		return 0;
	return c->value(c, r, row);
}

static int group_by_values(struct build *b, const struct tacho_profile_row *row, uint32_t *out)
{
	struct report *r = b->r;
	uint64_t values[TACHO_REPORT_KEYS_MAX + 1] = { 0 };
	const uint64_t *known;

	for (size_t i = 0; i < r->opts.n_keys; i++)
		values[i] = row_value(r, key_at(r, i), row);
	known = map_get(&b->by_values, str_n((const char *)values, r->opts.n_keys * sizeof(*values)));
	if (known)
		*out = (uint32_t)*known;
	else if (r->out_of_memory || group_add(b, values, row, out) < 0)
		return -ENOMEM;
	b->group_of_thread[row->thread] = *out + 1;
	return 0;
}

static int group_find(struct build *b, const struct tacho_profile_row *row, uint32_t *out)
{
	if (!b->only_thread || !b->group_of_thread[row->thread])
		return group_by_values(b, row, out);
	*out = b->group_of_thread[row->thread] - 1;
	return 0;
}

/* A counting sort: rows of a group stay in the order of the profile. */
int rows_sort(struct build *b)
{
	size_t n_groups = b->r->groups.n, sum = 0;

	if (b->sorted)
		return 0;
	b->group_end = calloc(n_groups + 1, sizeof(*b->group_end));
	b->sorted = reallocarray(NULL, b->n_rows + 1, sizeof(*b->sorted));
	if (!b->group_end || !b->sorted)
		return -ENOMEM;
	for (size_t i = 0; i < b->n_rows; i++)
		if (b->group_of[i] != NONE)
			b->group_end[b->group_of[i]]++;
	for (size_t g = 0; g < n_groups; g++) {
		size_t n = b->group_end[g];

		b->group_end[g] = sum;
		sum += n;
	}
	for (size_t i = 0; i < b->n_rows; i++)
		if (b->group_of[i] != NONE)
			b->sorted[b->group_end[b->group_of[i]]++] = (uint32_t)i;
	return 0;
}

static bool are_keys_of_threads(const struct report *r)
{
	for (size_t i = 0; i < r->opts.n_keys; i++)
		if (is_row_key(key_at(r, i)) && !key_at(r, i)->of_thread)
			return false;
	return true;
}

int groups_make(struct build *b)
{
	const struct report *r = b->r;

	b->group_of = reallocarray(NULL, b->n_rows + 1, sizeof(*b->group_of));
	b->group_of_thread = calloc(tacho_profile_n_threads(r->profile) + 1, sizeof(uint32_t));
	if (!b->group_of || !b->group_of_thread)
		return -ENOMEM;
	b->only_thread = are_keys_of_threads(r);
	/* A symbol filter depends on the frame of an entry's first sample. */
	b->by_rows = !r->opts.callgraphs || !r->opts.children || r->n_value_sums || r->opts.symbol_filter;
	for (size_t i = 0; i < b->n_rows; i++) {
		b->group_of[i] = NONE;
		b->by_rows = b->by_rows || !b->rows[i].node;
		if (b->event_of[b->rows[i].event] != NONE && group_find(b, &b->rows[i], &b->group_of[i]) < 0)
			return -ENOMEM;
	}
	return b->by_rows ? rows_sort(b) : 0;
}
