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
	const char **frames;		/* names: of the kernel, then of user space */
	uint32_t n_kernel, n_user;
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

static size_t read_stack(const struct tacho_view *v, int id, uint64_t ips[VIEW_STACK])
{
	int n = v->bpf && id >= 0 ? bpf_view_stack(v->bpf, id, ips) : 0;

	if (!v->bpf)
		return stack_table_get(sampled_view_stacks(v->sampled), id, ips, VIEW_STACK);
	return (size_t)max_of(n, 0);
}

/* The process that the user stack is of: the number of the column PID, which such views always have. */
static uint32_t process_of(const struct tacho_view *v, const struct view_key *key)
{
	size_t number = 0;

	for (size_t i = 0; i < v->plan.n_columns; i++) {
		const struct view_operand *o = &v->plan.program.row[i];

		if (o->source == VIEW_PID)
			return number < VIEW_KEY_NUMBERS ? (uint32_t)key->numbers[number] : 0;
		number += !view_is_text(o->source) && o->source != VIEW_KERNEL_STACK && o->source != VIEW_USER_STACK;
	}
	return 0;
}

/* The innermost functions of the kernel that are there only because the stack was taken. */
static uint32_t n_frames_of_bpf(const char *const *names, uint32_t n)
{
	static const char *const prefixes[] = { "bpf_prog_", "bpf_trace_run", "__bpf_trace_", "__traceiter_", "trace_call_bpf",
		"perf_trace_run_bpf_submit", "perf_trace_", "perf_call_bpf_", "bpf_get_stackid" };
	uint32_t found = 0;

	for (uint32_t i = 0; i < n && i < found + 4; i++)
		for (size_t k = 0; k < countof(prefixes); k++)
			if (str_starts(str_of(names[i]), prefixes[k]))
				found = i + 1;
	return found;
}

static int name_stacks(struct tacho_view *v, struct sum_row *row)
{
	uint64_t kernel[VIEW_STACK], user[VIEW_STACK];
	uint32_t pid = process_of(v, &row->key), skip;
	bool ok = true;

	row->n_kernel = (uint32_t)read_stack(v, row->key.stacks[0], kernel);
	row->n_user = (uint32_t)read_stack(v, row->key.stacks[1], user);
	row->frames = calloc(row->n_kernel + row->n_user + 1, sizeof(*row->frames));
	if (!row->frames)
		return -ENOMEM;
	for (uint32_t i = 0; i < row->n_kernel; i++)
		ok &= (row->frames[i] = stack_names_get(&v->names, 0, true, kernel[i], i > 0)) != NULL;
	for (uint32_t i = 0; i < row->n_user; i++)
		ok &= (row->frames[row->n_kernel + i] = stack_names_get(&v->names, pid, false, user[i], i > 0)) != NULL;
	if (!ok)
		return -ENOMEM;
	skip = n_frames_of_bpf(row->frames, row->n_kernel);
	memmove(row->frames, row->frames + skip, (row->n_kernel + row->n_user - skip) * sizeof(*row->frames));
	row->n_kernel -= skip;
	return 0;
}

static int identify(struct tacho_view *v, struct sum_row *row)
{
	scoped(buf_done) struct buf b = { 0 };
	int err = v->has_names ? name_stacks(v, row) : 0;

	view_rows_of_key(&v->rows, &row->key);
	for (size_t i = 0; i < v->plan.n_columns; i++)
		if (v->plan.columns[i].title)
			buf_printf(&b, "%s\n", v->rows.values[i].text);
	for (uint32_t i = 0; err == 0 && i < row->n_kernel + row->n_user; i++)
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
			.n_kernel_stack = r->n_kernel, .n_user_stack = r->n_user, .kernel_stack = r->frames };

		row.user_stack = r->frames ? r->frames + r->n_kernel : NULL;
		if (v->info.has_histogram) {
			row.levels = (const uint64_t *)r->sum.levels;
			row.n_levels = VIEW_LEVELS;
		}
		view_rows_of_key(&v->rows, &r->key);
		err = fn(arg, &row);
	}
	return err;
}

int tacho_view_sums(struct tacho_view *v, bool since_last, tacho_view_row_fn *fn, void *arg)
{
	struct sum_rows all = { .v = v, .since_last = since_last };
	const struct sum_table *sums = v->sampled ? sampled_view_sums(v->sampled) : NULL;
	int err = v->has_names ? stack_names_update(&v->names) : 0;

	if (err == 0 && v->bpf)
		err = bpf_view_sums(v->bpf, add_row, &all);
	for (size_t i = 0; err == 0 && sums && i < sums->sums.n; i++)
		err = add_row(&all, sums->sums.v[i].key, &sums->sums.v[i].sum);
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
