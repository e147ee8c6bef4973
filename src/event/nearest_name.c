/*
 * Finds the candidate nearest to a mistyped name; see nearest_name.h.
 */
#include "event/nearest_name.h"

void guess_try(struct name_guess *g, struct str candidate)
{
	if (candidate.n >= sizeof(g->best))
		return;
	str_nearest_try(&g->near, candidate);
	if (!candidate.n || g->near.best.s != candidate.s)
		return;
	memcpy(g->best, candidate.s, candidate.n);
	g->best[candidate.n] = '\0';
	g->near.best = str_n(g->best, candidate.n);
}
