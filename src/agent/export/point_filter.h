/*
 * Which series an exporter gets: the keys `keep_series` and `drop_series` of [[export]], lists of selectors as in conditions of triggers,
 * EVENT or EVENT{label="value",...}; events and values are globs.
 */
#ifndef AGENT_EXPORT_POINT_FILTER_H
#define AGENT_EXPORT_POINT_FILTER_H

#include "agent/export/exporter.h"

struct point_filter;
/* *out is NULL if nothing is filtered. -EINVAL with a message for an invalid selector. */
int point_filter_new(struct point_filter **out, const struct push_settings *s, struct tacho_error *e);
void point_filter_free(struct point_filter *f);
/* Copies the accepted points to `out`, which has room for all, and returns how many. Called in the collector's thread, the only
 * one that changes the registry. */
size_t point_filter_apply(struct point_filter *f, const struct registry *r, const struct point_batch *b, struct point *out);

#endif
