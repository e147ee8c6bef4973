/*
 * Names with dots, for Graphite and StatsD, which know no labels or write them behind the name:
 *
 *	tacho.myhost.perf_context_switches.cpu_3.source_system
 */
#ifndef AGENT_DOTTED_H
#define AGENT_DOTTED_H

#include "agent/exporter.h"

/* prefix.host.metric.label_value ... */
void dotted_name(struct buf *out, const struct series *s, const struct exporter_env *env, const char *prefix);
/* prefix.metric */
void plain_name(struct buf *out, const struct series *s, const char *prefix);
/* The labels: `first` before the first, `sep` before each other, `eq` within: ";cpu=3;host=me". */
void put_tags(struct buf *out, const struct series *s, const struct exporter_env *env, const char *first,
	      char sep, char eq);

/* "host:port", "[::1]:port", copied in parts. 0 or -EINVAL. */
int address_split(const char *text, char host[256], char port[8]);
/* A socket connected to the address, without waiting longer than that; or a negative errno with
 * the reason in *e. `type` is SOCK_STREAM or SOCK_DGRAM. */
int address_connect(const char *text, int type, int timeout_ms, struct tacho_error *e);

#endif
