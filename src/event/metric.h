/*
 * Metrics of vendors' lists. Whatever its file's schema, a metric becomes plain strings, its formula an
 * expression in the one language of <tacho/metric.h>: aliases are spelled out, constants are #literals,
 * qualifiers (:c1:e1) are terms.
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

/* "" where the list says nothing. */
struct metric_def {
	const char *name, *legacy;	/* perfmon's thresholds call others by an older name */
	const char *groups;		/* "TopdownL1;Frontend" */
	const char *expr, *threshold;
	const char *unit, *desc, *parent;
	const char *sample;		/* what to sample with, as the list has it */
	double scale;
	uint32_t level;			/* in the top-down tree; 0: not of it */
};

struct metric_latency {
	const char *event;
	double mean;			/* cycles */
};

/* All that a context's lists hold. */
struct metric_defs {
	struct arena arena;
	struct { struct metric_def *v; size_t n, cap; } list;
	struct { struct metric_latency *v; size_t n, cap; } latencies;
	size_t bytes;
	size_t n_given, n_found;	/* lists of the context that were read */
};

/* metric_list.c: 0 or -ENOMEM. Those of this machine are looked for when `search` asks for it and no
 * list was given. */
int metric_defs_get(struct tacho *t, bool search, const struct metric_defs **out);
const struct metric_def *metric_defs_find(const struct metric_defs *d, const char *name);
void metric_defs_free(struct metric_defs *d);

/* metric_json.c: adds what the text holds, which is changed by the reading. 0, -EINVAL (no JSON),
 * -EFBIG or -ENOMEM. */
int metric_defs_read(struct metric_defs *d, char *text, size_t n);

/* What a formula's short names stand for. */
enum metric_alias_kind { ALIAS_EVENT, ALIAS_CONSTANT, ALIAS_METRIC };
struct metric_alias {
	enum metric_alias_kind kind;
	struct str alias, name;
};
struct metric_aliases {
	struct metric_alias *v;
	size_t n, cap;
};

/* metric_text.c: the formula with its aliases spelled out. False: too long. */
bool metric_text_formula(struct buf *out, struct str formula, const struct metric_aliases *aliases);

#endif
