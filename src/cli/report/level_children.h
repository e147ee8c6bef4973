/*
 * What the levels of a hierarchy include with their callees: the samples that have any function of a command, or of an
 * object in a command, in their call chain. This is not the sum over the functions, because many are in one chain.
 */
#ifndef CLI_REPORT_LEVEL_CHILDREN_H
#define CLI_REPORT_LEVEL_CHILDREN_H

#include "base/arena.h"
#include "base/map.h"
#include "cli/report/report.h"

struct level_children {
	const struct tacho_report *report;	/* of all levels */
	const struct tacho_report_column *levels[TACHO_REPORT_KEYS_MAX];
	struct tacho_report *of_level[TACHO_REPORT_KEYS_MAX];	/* sorted by the first keys; NULL: the last level */
	struct map entries[TACHO_REPORT_KEYS_MAX];	/* texts of the keys -> index of the entry */
	struct arena texts;
	size_t n;
};

/* Without `children` in the report, this does nothing. 0 or -ENOMEM; in both cases level_children_done() releases *l. */
int level_children_init(struct level_children *l, const struct tacho_report *r,
			const struct tacho_report_column *const *levels, size_t n);
void level_children_done(struct level_children *l);
/* Sets *out to the value of overhead_children or latency_children for the part of `e` up to `level`, which is not the last
 * one. 0 or -ENOMEM. */
int level_children_value(const struct level_children *l, size_t level, const struct tacho_report_entry *e,
			 const struct tacho_report_column *c, size_t event, uint64_t *out);

#endif
