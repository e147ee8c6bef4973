/*
 * Growing arrays. Small arrays double their capacity. A large array moves to a separate block that is much
 * larger than needed: growing then copies nothing, and pages that are never written cost nothing. The
 * capacity grows in steps, and the pages of each step are mapped at once, which is cheaper than one page
 * fault after the other.
 */
#include "base/vec.h"

#define VEC_LARGE ((size_t)1 << 20)		/* arrays above this size move to a separate block */
#define VEC_RESERVED ((size_t)64 << 20)		/* minimum size of such a block */
#define VEC_STEP ((size_t)256 << 10)

static bool double_capacity(void **v, size_t *cap, size_t size)
{
	size_t want = *cap ? *cap * 2 : 8;
	void *bigger = reallocarray(*v, want, size);

	if (!bigger)
		return false;
	*v = bigger;
	*cap = want;
	return true;
}

/* Moves the `have` bytes to a block with space for at least one more step; NULL if out of memory. */
static void *move_to_reserved(void *v, size_t have)
{
	void *to;

	if (have > VEC_LARGE)
		return have > SIZE_MAX / 2 ? NULL : realloc(v, max_of(VEC_RESERVED, have * 2));
	to = large_alloc(VEC_RESERVED);
	if (!to)
		return NULL;
	memcpy(to, v, have);
	free(v);
	return to;
}

bool vec_grow_(void **v, size_t *cap, size_t size)
{
	size_t have = *cap * size, usable = sizeof(void *) < 8 || !*v ? 0 : large_usable_bytes(*v);
	void *at = *v;

	if (usable == 0 || have * 2 <= VEC_LARGE || size > VEC_STEP)
		return double_capacity(v, cap, size);
	if (usable - have < VEC_STEP)
		at = move_to_reserved(at, have);
	if (!at)
		return false;
	large_prefault((char *)at + have, VEC_STEP);
	*v = at;
	*cap = (have + VEC_STEP) / size;
	return true;
}
