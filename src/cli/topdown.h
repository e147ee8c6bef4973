/*
 * Which metrics make up the top-down tree: those of the CPU's lists, or the built-in first level.
 */
#ifndef CLI_TOPDOWN_H
#define CLI_TOPDOWN_H

#include <tacho/tacho.h>

/* Adds the tree's metrics down to `level`. How many, or -EOPNOTSUPP and others with what is wrong. */
int topdown_add(struct tacho *t, struct tacho_metric_set *ms, uint32_t level, struct tacho_error *e);

#endif
