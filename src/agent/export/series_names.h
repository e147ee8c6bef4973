/*
 * The names under which an exporter sends series: the keys `rename_events` and `rename_labels` of [[export]]. A renamed series is a
 * copy of the registry's with another metric or other labels, made when it is first sent, so that encoders need not know about it.
 */
#ifndef AGENT_EXPORT_SERIES_NAMES_H
#define AGENT_EXPORT_SERIES_NAMES_H

#include "agent/export/exporter.h"

struct series_names;

/* *out is NULL if nothing is renamed. Returns 0, -EINVAL with a message, or -ENOMEM. */
int series_names_new(struct series_names **out, const struct push_settings *s, struct tacho_error *e);
void series_names_free(struct series_names *n);		/* NULL is fine */
/* The series as it is sent, valid until series_names_forget() or the end of the registry's lock; NULL if out of memory.
 * `n` may be NULL: the series itself. */
const struct series *series_names_get(struct series_names *n, const struct series *s);
/* Frees copies of series that the registry does not have any more. */
void series_names_forget(struct series_names *n, const struct registry *r);

#endif
