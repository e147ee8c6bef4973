/*
 * Built where the headers of elfutils are missing: probes are placed by symbol, offset and address only.
 */
#include "probe/dwarf.h"

#include <errno.h>

int probe_dwarf_get(struct probe_object *o, struct probe_dwarf **out)
{
	(void)o;
	(void)out;
	return -EOPNOTSUPP;
}

void probe_dwarf_close(struct probe_dwarf *d)
{
	(void)d;
}

int probe_find_dwarf(struct probe_dwarf *d, struct probe_object *o, const struct probe_request *r, struct probe_sites *out,
		     struct tacho_error *e)
{
	(void)d;
	(void)o;
	(void)r;
	(void)out;
	return error_set(e, -EOPNOTSUPP, "this build cannot read debug data");
}

int probe_dwarf_describe(struct probe_dwarf *d, uint64_t address, bool is_return, struct buf *out)
{
	(void)d;
	(void)address;
	(void)is_return;
	(void)out;
	return -EOPNOTSUPP;
}
