/*
 * A growing array of any type, as a few macros over a plain struct:
 *
 *	struct { struct event *v; size_t n, cap; } list = { 0 };
 *	struct event *e = vec_add(&list);	zeroed element, or NULL without memory
 *	struct event *e = vec_next(&list);	the same, but not zeroed: the caller fills all of it
 *	vec_done(&list);			frees the array, not what its elements own
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/defs.h"

#include <string.h>

/* A large array gets room that is beyond what malloc() keeps in its heap: growing then moves no bytes,
 * and pages that are never written cost nothing. */
#define VEC_LARGE ((size_t)1 << 20)
#define VEC_APART ((size_t)64 << 20)

static inline size_t vec_cap_after(size_t cap, size_t size)
{
	size_t want = cap ? cap * 2 : 8;

	if (sizeof(void *) < 8 || want > VEC_APART / size || want <= VEC_LARGE / size)
		return want;
	return VEC_APART / size + 1;
}

static inline bool vec_room_(void **v, size_t n, size_t *cap, size_t size)
{
	void *bigger;
	size_t want;

	if (n < *cap)
		return true;
	want = vec_cap_after(*cap, size);
	bigger = reallocarray(*v, want, size);
	if (!bigger)
		return false;
	*v = bigger;
	*cap = want;
	return true;
}

#define vec_next(l)                                                                                \
	({                                                                                         \
		__typeof__((l)->v) at_ = NULL;                                                     \
		void *v_ = (l)->v;                                                                 \
		if (vec_room_(&v_, (l)->n, &(l)->cap, sizeof(*(l)->v))) {                          \
			(l)->v = v_;                                                               \
			at_ = &(l)->v[(l)->n++];                                                   \
		}                                                                                  \
		at_;                                                                               \
	})
#define vec_add(l)                                                                                 \
	({                                                                                         \
		__typeof__((l)->v) new_ = vec_next(l);                                             \
		if (new_)                                                                          \
			memset(new_, 0, sizeof(*new_));                                            \
		new_;                                                                              \
	})
#define vec_done(l)                                                                                \
	do {                                                                                       \
		free((l)->v);                                                                      \
		(l)->v = NULL;                                                                     \
		(l)->n = (l)->cap = 0;                                                             \
	} while (0)

#endif
