/*
 * Extracts from a perf_event_attr the fields that determine the layout of its records. The attr of an
 * older kernel is shorter; the missing fields are zero.
 */
#include "record/record.h"

#include <errno.h>

int tacho_layout_init(struct tacho_layout *out, const void *attr, size_t size)
{
	struct perf_event_attr a = { 0 };

	if (!attr || size < PERF_ATTR_SIZE_VER0)
		return -EINVAL;
	memcpy(&a, attr, min_of(size, sizeof(a)));

	*out = (struct tacho_layout){
		.sample_type = a.sample_type,
		.read_format = a.read_format,
		.branch_type = a.branch_sample_type,
		.regs_user = a.sample_regs_user,
		.regs_intr = a.sample_regs_intr,
		.period = a.flags & PERF_ATTR_FREQ ? 1 : a.sample_period,
		.sample_id_all = a.flags & PERF_ATTR_SAMPLE_ID_ALL,
	};
	return 0;
}
