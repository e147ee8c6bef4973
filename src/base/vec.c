#include "base/vec.h"

/* A large array gets room that is beyond what malloc() keeps in its heap: growing then moves no bytes,
 * and pages that are never written cost nothing. It takes that room step by step, and of each step
 * the kernel hands out the pages at once, which costs less than one by one as they are written. */
#define VEC_LARGE ((size_t)1 << 20)
#define VEC_APART ((size_t)64 << 20)
#define VEC_STEP ((size_t)256 << 10)

static bool double_up(void **v, size_t *cap, size_t size)
{
	size_t want = *cap ? *cap * 2 : 8;
	void *bigger = reallocarray(*v, want, size);

	if (!bigger)
		return false;
	*v = bigger;
	*cap = want;
	return true;
}

/* A block with room for a step behind `have` bytes, or NULL without memory. */
static void *move_apart(void *v, size_t have)
{
	void *to;

	if (have > VEC_LARGE)
		return have > SIZE_MAX / 2 ? NULL : realloc(v, max_of(VEC_APART, have * 2));
	to = large_alloc(VEC_APART);
	if (!to)
		return NULL;
	memcpy(to, v, have);
	free(v);
	return to;
}

bool vec_grow_(void **v, size_t *cap, size_t size)
{
	size_t have = *cap * size, room = sizeof(void *) < 8 || !*v ? 0 : large_usable_bytes(*v);
	void *at = *v;

	if (room == 0 || have * 2 <= VEC_LARGE || size > VEC_STEP)
		return double_up(v, cap, size);
	if (room - have < VEC_STEP)
		at = move_apart(at, have);
	if (!at)
		return false;
	large_prefault((char *)at + have, VEC_STEP);
	*v = at;
	*cap = (have + VEC_STEP) / size;
	return true;
}
