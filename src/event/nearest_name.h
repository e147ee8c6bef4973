/*
 * A "did you mean" that keeps its own copy of the best candidate, so that candidates may live
 * in a directory listing or on the stack.
 *
 *	start with GUESS(word) -> try, try ... -> the best, or an empty string
 */
#ifndef EVENT_NEAREST_NAME_H
#define EVENT_NEAREST_NAME_H

#include "base/str.h"

struct name_guess {
	struct str_nearest near;
	char best[160];
};

#define GUESS(typed) { .near = { .word = (typed) } }

void guess_try(struct name_guess *g, struct str candidate);

/* What error messages show of a word: all of it, within reason. */
#define SHOW(x) (int)min_of((x).n, (size_t)100), ((x).n ? (x).s : "")

#endif
