/*
 * Rows of views of sums: what was added since the last call, with names for stacks. Rows that look the same are added up.
 */
#include "view/view_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct sum_row {			/* a row of a view of sums, before rows that look the same are added up */
	struct view_key key;
	struct view_sum sum;
	const char **frames;		/* names: of the kernel, then of user space, then of the waker */
	uint32_t n_frames[VIEW_STACKS];
	struct str identity;		/* all that is shown; owned */
};

struct sum_rows {
	struct tacho_view *v;
	bool since_last;
	struct { struct sum_row *v; size_t n, cap; } rows;
	struct map by_identity;
};

static int add_row(void *arg, const struct view_key *key, const struct view_sum *sum)
{
	struct sum_rows *all = arg;
	struct view_sum *before = sum_table_get(&all->v->before, key, SIZE_MAX), now = *sum;
	struct sum_row *row;

	if (!before)
		return -ENOMEM;
	if (all->since_last) {
		now.count -= before->count;
		now.sum -= before->sum;
		for (size_t i = 0; i < VIEW_LEVELS; i++)
			now.levels[i] -= before->levels[i];
	}
	*before = *sum;
	if (!now.count)
		return 0;
	row = vec_add(&all->rows);
	if (!row)
		return -ENOMEM;
	row->key = *key;
	row->sum = now;
	return 0;
}

static int name_stacks(struct tacho_view *v, struct sum_row *row)
{
	struct view_stacks stacks;
	const char **at;
	bool ok = true;
	int err = view_stacks_read(v, &row->key, &stacks);

	if (err < 0)
		return err;
	memcpy(row->n_frames, stacks.n, sizeof(row->n_frames));
	at = row->frames = calloc(stacks.n[0] + stacks.n[1] + stacks.n[2] + 1, sizeof(*row->frames));
	if (!row->frames)
		return -ENOMEM;
	for (uint32_t k = 0; k < VIEW_STACKS; k++)
		for (uint32_t i = 0; i < stacks.n[k]; i++)
			ok &= (*at++ = stack_names_get(&v->names, stacks.pid, k != 1, stacks.ips[k][i], i > 0)) != NULL;
	return ok ? 0 : -ENOMEM;
}

static int identify(struct tacho_view *v, struct sum_row *row)
{
	scoped(buf_done) struct buf b = { 0 };
	int err = v->has_names ? name_stacks(v, row) : 0;

	view_rows_of_key(&v->rows, &row->key);
	for (size_t i = 0; i < v->plan.n_columns; i++)
		if (v->plan.columns[i].title)
			buf_printf(&b, "%s\n", v->rows.values[i].text);
	for (uint32_t i = 0; err == 0 && i < row->n_frames[0] + row->n_frames[1] + row->n_frames[2]; i++)
		buf_put(&b, &row->frames[i], sizeof(row->frames[i]));	/* names are interned */
	buf_putc(&b, '\0');
	row->identity.n = b.n;
	row->identity.s = buf_take(&b);
	return err < 0 ? err : row->identity.s ? 0 : -ENOMEM;
}

static void add_sum(struct view_sum *to, const struct view_sum *from)
{
	to->count += from->count;
	to->sum += from->sum;
	for (size_t i = 0; i < VIEW_LEVELS; i++)
		to->levels[i] += from->levels[i];
}

static void free_row(struct sum_row *row)
{
	free(row->frames);
	free((char *)row->identity.s);
}

/* Rows that look the same become one: addresses in one function, or processes that are not shown. */
static int join_rows(struct sum_rows *all)
{
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; err == 0 && i < all->rows.n; i++) {
		struct sum_row row = all->rows.v[i];
		const uint64_t *known;

		all->rows.v[i] = (struct sum_row){ 0 };
		err = identify(all->v, &row);
		known = err == 0 ? map_get(&all->by_identity, row.identity) : NULL;
		if (known) {
			add_sum(&all->rows.v[*known].sum, &row.sum);
			free_row(&row);
			continue;
		}
		if (err == 0)
			err = map_put(&all->by_identity, row.identity, n);
		all->rows.v[n++] = row;
	}
	all->rows.n = max_of(n, err == 0 ? n : all->rows.n);
	return err;
}

static int by_weight(const void *pa, const void *pb)
{
	const struct sum_row *a = pa, *b = pb;
	uint64_t x = a->sum.sum ? a->sum.sum : a->sum.count, y = b->sum.sum ? b->sum.sum : b->sum.count;

	if (x != y)
		return x > y ? -1 : 1;
	return str_cmp(a->identity, b->identity);
}

static int by_weight_reversed(const void *a, const void *b)
{
	return by_weight(b, a);
}

static int pass_rows(struct sum_rows *all, tacho_view_row_fn *fn, void *arg)
{
	struct tacho_view *v = all->v;
	bool reversed = v->info.has_histogram || v->info.has_stacks;
	int err = 0;

	if (all->rows.n)
		qsort(all->rows.v, all->rows.n, sizeof(*all->rows.v), reversed ? by_weight_reversed : by_weight);
	for (size_t i = 0; err == 0 && i < all->rows.n; i++) {
		const struct sum_row *r = &all->rows.v[i];
		struct tacho_view_row row = { .size = sizeof(row), .values = v->rows.values, .count = r->sum.count, .sum = r->sum.sum,
			.n_kernel_stack = r->n_frames[0], .n_user_stack = r->n_frames[1], .n_waker_stack = r->n_frames[2],
			.kernel_stack = r->frames };

		row.user_stack = r->frames ? r->frames + r->n_frames[0] : NULL;
		row.waker_stack = r->frames ? row.user_stack + r->n_frames[1] : NULL;
		if (v->info.has_histogram) {
			row.levels = (const uint64_t *)r->sum.levels;
			row.n_levels = VIEW_LEVELS;
		}
		view_rows_of_key(&v->rows, &r->key);
		err = fn(arg, &row);
	}
	return err;
}

int view_each_sum(struct tacho_view *v, bpf_view_sum_fn *fn, void *arg)
{
	const struct sum_table *sums = v->sampled ? sampled_view_sums(v->sampled) : NULL;
	int err = v->bpf ? bpf_view_sums(v->bpf, fn, arg) : 0;

	for (size_t i = 0; err == 0 && sums && i < sums->sums.n; i++)
		err = fn(arg, sums->sums.v[i].key, &sums->sums.v[i].sum);
	return err;
}

int tacho_view_sums(struct tacho_view *v, bool since_last, tacho_view_row_fn *fn, void *arg)
{
	struct sum_rows all = { .v = v, .since_last = since_last };
	int err = v->has_names ? stack_names_update(&v->names) : 0;

	if (err == 0)
		err = view_each_sum(v, add_row, &all);
	if (err == 0)
		err = join_rows(&all);
	if (err == 0)
		err = pass_rows(&all, fn, arg);
	for (size_t i = 0; i < all.rows.n; i++)
		free_row(&all.rows.v[i]);
	vec_done(&all.rows);
	map_done(&all.by_identity);
	return err;
}
