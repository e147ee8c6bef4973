/*
 * A sorted array: processes have tens to hundreds of maps, which are searched far more often than
 * changed, and most changes are appended at the end.
 */
#include "symbol/maps.h"

#include <errno.h>
#include <string.h>

static uint64_t next_version(void)
{
	static uint64_t last;

	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

struct maps *maps_new(void)
{
	struct maps *m = calloc(1, sizeof(*m));

	if (m) {
		m->refs = 1;
		m->version = next_version();
	}
	return m;
}

struct maps *maps_ref(struct maps *m)
{
	m->refs++;
	return m;
}

void maps_unref(struct maps *m)
{
	if (!m || --m->refs)
		return;
	free(m->v);
	free(m);
}

/* Makes *m unshared, with capacity for `extra` more intervals, and gives it a new version. */
static int make_own(struct maps **m, size_t extra)
{
	struct maps *own = *m;
	size_t want = own->n + extra;

	if (own->refs > 1) {
		own = maps_new();
		if (!own)
			return -ENOMEM;
		own->cap = max_of(want, (size_t)8);
		own->v = calloc(own->cap, sizeof(*own->v));
		if (!own->v) {
			maps_unref(own);
			return -ENOMEM;
		}
		if ((*m)->n)
			memcpy(own->v, (*m)->v, (*m)->n * sizeof(*own->v));
		own->n = (*m)->n;
		maps_unref(*m);
		*m = own;
	} else if (want > own->cap) {
		size_t cap = max_of(want, own->cap ? own->cap * 2 : 8);
		struct interval *bigger = reallocarray(own->v, cap, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		own->v = bigger;
		own->cap = cap;
	}
	own->version = next_version();
	return 0;
}

/* The first interval that ends at or after the address. */
static size_t first_reaching(const struct maps *m, uint64_t address)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (m->v[mid].last < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void open_gap(struct maps *m, size_t at, size_t remove, size_t add)
{
	memmove(&m->v[at + add], &m->v[at + remove], (m->n - at - remove) * sizeof(*m->v));
	m->n = m->n - remove + add;
}

/* Replaces everything from start to last by `add`, or by nothing when it is NULL. */
static void cut(struct maps *m, uint64_t start, uint64_t last, const struct interval *add)
{
	size_t from = first_reaching(m, start), to = from, n = 0;
	struct interval piece[3];

	while (to < m->n && m->v[to].start <= last)
		to++;
	if (to > from && m->v[from].start < start) {
		piece[n] = m->v[from];
		piece[n++].last = start - 1;
	}
	if (add)
		piece[n++] = *add;
	if (to > from && m->v[to - 1].last > last) {
		piece[n] = m->v[to - 1];
		piece[n++].start = last + 1;
	}
	open_gap(m, from, to - from, n);
	for (size_t i = 0; i < n; i++)
		m->v[from + i] = piece[i];
}

int maps_insert(struct maps **m, struct interval add)
{
	int err;

	if ((*m)->n >= MAPS_MOST)
		return -E2BIG;
	err = make_own(m, 2);
	if (err < 0)
		return err;
	cut(*m, add.start, add.last, &add);
	return 0;
}

int maps_insert_function(struct maps **m, struct interval add)
{
	int err = (*m)->n < MAPS_JIT_MOST ? make_own(m, 2) : -E2BIG;

	if (err == 0)
		cut(*m, add.start, add.last, &add);
	return err;
}

static int compare_starts(const void *pa, const void *pb)
{
	const struct interval *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

int maps_add_all(struct maps **m, const struct interval *add, size_t n)
{
	size_t kept = 0;
	int err = (*m)->n + n <= MAPS_JIT_MOST ? make_own(m, n) : -E2BIG;
	struct maps *own = *m;

	if (err < 0 || !n)
		return err;
	memcpy(own->v + own->n, add, n * sizeof(*add));
	own->n += n;
	qsort(own->v, own->n, sizeof(*own->v), compare_starts);
	for (size_t i = 0; i < own->n; i++)
		if (!kept || own->v[i].start > own->v[kept - 1].last)
			own->v[kept++] = own->v[i];
	own->n = kept;
	return 0;
}

int maps_touch(struct maps **m)
{
	return make_own(m, 0);
}

int maps_remove(struct maps **m, uint64_t start, uint64_t last)
{
	int err = make_own(m, 2);

	if (err < 0)
		return err;
	cut(*m, start, last, NULL);
	return 0;
}

int maps_insert_below(struct maps **m, struct interval add)
{
	uint64_t at = add.start;
	int err = 0;

	while (err == 0) {
		size_t i = first_reaching(*m, at);
		struct interval piece = add;

		if (i < (*m)->n && (*m)->v[i].start <= at) {	/* occupied: continue after it */
			if ((*m)->v[i].last >= add.last)
				return 0;
			at = (*m)->v[i].last + 1;
			continue;
		}
		piece.start = at;
		if (i < (*m)->n && (*m)->v[i].start <= add.last)
			piece.last = (*m)->v[i].start - 1;
		err = maps_insert(m, piece);
		if (piece.last == add.last)
			break;
		at = piece.last + 1;
	}
	return err;
}

const struct interval *maps_find(const struct maps *m, uint64_t address)
{
	size_t i = first_reaching(m, address);

	return i < m->n && m->v[i].start <= address ? &m->v[i] : NULL;
}

struct interval maps_around(const struct maps *m, uint64_t address)
{
	size_t i = first_reaching(m, address);

	if (i < m->n && m->v[i].start <= address)
		return m->v[i];
	return (struct interval){ .start = i ? m->v[i - 1].last + 1 : 0,
				  .last = i < m->n ? m->v[i].start - 1 : UINT64_MAX };
}
