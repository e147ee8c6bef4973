/*
 * The quality of a profile as JSON: one schema for all commands that print it.
 */
#include <tacho/profile.h>

#include "base/json.h"

char *tacho_profile_quality_json(const struct tacho_profile *p)
{
	struct tacho_profile_quality q = { .size = sizeof(q) };
	struct buf text = { 0 };
	struct json j = { .out = &text };

	tacho_profile_quality(p, &q);
	json_begin(&j, '{');
	json_member(&j, "samples", u64, q.samples);
	json_member(&j, "lost", u64, q.lost);
	json_member(&j, "lost_records", u64, q.lost_records);
	json_member(&j, "throttled", u64, q.throttled);
	json_member(&j, "broken_stacks", u64, q.broken_stacks);
	json_member(&j, "unresolved", u64, q.unresolved);
	json_member(&j, "raw_stacks", u64, q.raw_stacks);
	json_member(&j, "bad_records", u64, q.bad_records);
	json_member(&j, "first_s", double, q.first_s);
	json_member(&j, "last_s", double, q.last_s);
	json_end(&j);
	return buf_take(&text);
}
