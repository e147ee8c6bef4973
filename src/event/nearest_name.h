/*
 * Finds the name for a "did you mean" hint. It copies the best candidate, so that candidates need to be
 * valid only during the call.
 *
 *	struct name_guess g = GUESS(word); guess_try() for each candidate; then g.best, "" if none is near
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

/* printf arguments for "%.*s" in error messages: at most the first 100 bytes of a word. */
#define SHOW(x) (int)min_of((x).n, (size_t)100), ((x).n ? (x).s : "")

#endif
