/*
 * Filters of names: patterns combined with & | ! and parentheses: "str* & !(*_l | __*)".
 */
#ifndef PROBE_FILTER_H
#define PROBE_FILTER_H

#include "base/error.h"
#include "base/str.h"

#define FILTER_NODES_MAX 256u

struct name_filter {
	struct name_filter_node { char op; struct str pattern; uint16_t left, right; } v[FILTER_NODES_MAX];
	uint16_t n, root;
};

/* The filter borrows the text. 0 or -EINVAL with the position of the error. */
int name_filter_parse(struct name_filter *f, struct str text, struct tacho_error *e);
bool name_filter_matches(const struct name_filter *f, struct str name);

#endif
