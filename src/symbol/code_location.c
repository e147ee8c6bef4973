#include "symbol/code_location.h"

const struct spot_memo *spot_search(struct spots_seen *seen, const struct process *proc, uint64_t ip)
{
	struct interval where = maps_around(proc->maps, ip);
	struct spot_memo *memo = spot_memo(seen, proc->maps->version, ip);
	const struct interval *before;

	if (!where.object && proc->before) {	/* the maps may come to lie over a part of it */
		before = maps_find(proc->before, ip);
		seen->passing.where = before ? *before : where;
		return &seen->passing;
	}
	*memo = (struct spot_memo){ proc->maps->version, where };
	return memo;
}
