#include "symbol/spot.h"

const struct interval *spot_search(struct spots_seen *seen, const struct process *proc, uint64_t ip)
{
	const struct interval *where = maps_find(proc->maps, ip);

	if (!where && proc->before)
		return maps_find(proc->before, ip);	/* the maps may come to lie over a part of it */
	if (where)
		*spot_memo(seen, proc->maps->version, ip) =
			(struct spot_memo){ proc->maps->version, *where };
	return where;
}
