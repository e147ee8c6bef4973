/*
 * A growing array of any type: macros that work on a struct with the members v, n and cap.
 *
 *	struct { struct event *v; size_t n, cap; } list = { 0 };
 *	struct event *e = vec_add(&list);	appends a zeroed element; NULL if out of memory
 *	struct event *e = vec_next(&list);	like vec_add(), but uninitialized
 *	vec_reserve(&list, n)			makes space for n more elements; false if out of memory
 *	vec_done(&list);			frees the array, but not what its elements own
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/defs.h"
#include "base/large_memory.h"

#include <string.h>

bool vec_grow_(void **v, size_t *cap, size_t size);	/* false if out of memory */

static inline bool vec_reserve_one_(void **v, size_t n, size_t *cap, size_t size)
{
	return n < *cap || vec_grow_(v, cap, size);
}

#define vec_reserve(l, more)                                                                          \
	({                                                                                         \
		void *v_ = (l)->v;                                                                 \
		bool ok_ = true;                                                                   \
		while (ok_ && (l)->cap - (l)->n < (more)) {                                        \
			ok_ = vec_grow_(&v_, &(l)->cap, sizeof(*(l)->v));                          \
			(l)->v = v_;                                                               \
		}                                                                                  \
		ok_;                                                                               \
	})
#define vec_next(l)                                                                                \
	({                                                                                         \
		__typeof__((l)->v) at_ = NULL;                                                     \
		void *v_ = (l)->v;                                                                 \
		if (vec_reserve_one_(&v_, (l)->n, &(l)->cap, sizeof(*(l)->v))) {                          \
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
		large_free((l)->v);                                                                \
		(l)->v = NULL;                                                                     \
		(l)->n = (l)->cap = 0;                                                             \
	} while (0)

#endif
