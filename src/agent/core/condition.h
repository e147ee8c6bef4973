/*
 * Condition of a trigger, [[trigger]] when, in parsed form:
 *
 *	rate(context-switches) > 50000 for 5s
 *	value(resident_bytes{source="agent"}) >= 1e9
 *	max_rate(page-faults) > 1000 for 1m
 *
 * rate and value sum over all series of the event, max_rate and max_value take the largest; labels
 * in braces select series. Pure.
 */
#ifndef AGENT_CORE_CONDITION_H
#define AGENT_CORE_CONDITION_H

#include "base/str.h"

#include <tacho/common.h>

enum condition_func { CONDITION_RATE, CONDITION_VALUE, CONDITION_MAX_RATE, CONDITION_MAX_VALUE };
enum condition_op { CONDITION_GT, CONDITION_GE, CONDITION_LT, CONDITION_LE };

struct condition {
	enum condition_func func;
	enum condition_op op;
	char *event;			/* a glob */
	struct strlist labels;		/* name, value, name, value ... */
	double limit;
	uint64_t for_ns;
};

/* Returns 0, or -EINVAL with the column of the syntax error. */
int condition_parse(struct condition *out, const char *text, struct tacho_error *e);
void condition_done(struct condition *c);
bool condition_holds(const struct condition *c, double value);

#endif
