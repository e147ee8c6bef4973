/*
 * Metrics of vendors' lists. Whatever the file's schema, a metric is converted to plain strings and its
 * formula to an expression in the language of <tacho/metric.h>: aliases are replaced by event names, constants
 * by #literals, and qualifiers (:c1:e1) by terms.
 *
 *	file --metric_json--> fields, aliases --metric_text--> expressions --> metric_defs
 */
#ifndef EVENT_METRIC_H
#define EVENT_METRIC_H

#include "base/buf.h"
#include "event/event.h"

#define METRIC_MAX 8192u		/* metrics of all lists together */
#define METRIC_TEXT_MAX (1u << 20)	/* bytes of one expression */
#define METRIC_BYTES_MAX (64u << 20)	/* of all strings together */

/* Strings are "" if the list does not have them. */
struct metric_def {
	const char *name, *legacy;	/* legacy: an older name, used in perfmon's thresholds */
	const char *groups;		/* "TopdownL1;Frontend" */
	const char *expr, *threshold;
	const char *unit, *desc, *parent;
	const char *sample;		/* events to sample with, as in the list */
	double scale;
	uint32_t level;			/* level in the top-down tree; 0: not part of it */
};

struct metric_latency {
	const char *event;
	double mean;			/* mean latency in cycles */
};

/* The metrics of all lists of a context. */
struct metric_defs {
	struct arena arena;
	struct { struct metric_def *v; size_t n, cap; } list;
	struct { struct metric_latency *v; size_t n, cap; } latencies;
	size_t bytes;
	size_t n_given, n_found;	/* number of lists of vendor_set.given and .found read so far */
};

/* metric_list.c: 0 or -ENOMEM. With `search`, and if no list was added, this machine's lists are searched. */
int metric_defs_get(struct tacho *t, bool search, const struct metric_defs **out);
const struct metric_def *metric_defs_find(const struct metric_defs *d, const char *name);
void metric_defs_free(struct metric_defs *d);

/* metric_json.c: adds the metrics in `text`, which is modified. 0, -EINVAL (not JSON), -EFBIG or -ENOMEM. */
int metric_defs_read(struct metric_defs *d, char *text, size_t n);

/* Aliases: short names in a formula, and the names or constants that replace them. */
enum metric_alias_kind { ALIAS_EVENT, ALIAS_CONSTANT, ALIAS_METRIC };
struct metric_alias {
	enum metric_alias_kind kind;
	struct str alias, name;
};
struct metric_aliases {
	struct metric_alias *v;
	size_t n, cap;
};

/* metric_text.c: writes the formula with aliases replaced. Returns false if the result is too long. */
bool metric_text_formula(struct buf *out, struct str formula, const struct metric_aliases *aliases);

#endif
