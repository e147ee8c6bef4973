/*
 * Groups rows by thread, in the order they were recorded.
 */
#include "output/output.h"

#include <errno.h>

int thread_rows_init(struct thread_rows *t, const struct tacho_profile *p)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(p);
	size_t n = tacho_profile_n_rows(p), n_threads = tacho_profile_n_threads(p);

	*t = (struct thread_rows){ .order = calloc(n + 1, sizeof(*t->order)),
				   .start = calloc(n_threads + 2, sizeof(*t->start)) };
	if (!t->order || !t->start) {
		thread_rows_done(t);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		t->start[rows[i].thread + 2]++;
	for (size_t i = 2; i < n_threads + 2; i++)
		t->start[i] += t->start[i - 1];
	for (size_t i = 0; i < n; i++)		/* afterwards start[t + 1] has the value that start[t + 2] had */
		t->order[t->start[rows[i].thread + 1]++] = (uint32_t)i;
	return 0;
}

int rows_need_times(const struct output *o)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(o->p);

	for (size_t i = 0; i < tacho_profile_n_rows(o->p); i++)
		if (rows[i].event == o->event && rows[i].time)
			return 0;
	error_set(o->e, -ENODATA, "the samples have no times");
	error_hint(o->e, "'record -T' takes them; folded, pprof, speedscope and flame graphs need none");
	return -ENODATA;
}

void thread_rows_done(struct thread_rows *t)
{
	free(t->order);
	free(t->start);
	*t = (struct thread_rows){ 0 };
}
