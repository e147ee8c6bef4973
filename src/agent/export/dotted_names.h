/*
 * Names with dots, for Graphite and StatsD, which know no labels or write them behind the name:
 *
 *	tacho.myhost.perf_context_switches.cpu_3.source_system
 *
 * and what else the two have in common.
 */
#ifndef AGENT_EXPORT_DOTTED_NAMES_H
#define AGENT_EXPORT_DOTTED_NAMES_H

#include "agent/export/exporter.h"
#include "agent/export/point_view.h"

/* What their settings begin with. */
struct dotted_settings {
	struct push_settings push;
	char *address, *prefix;
	int style;			/* 0: labels in the name; 1: behind it, as tags */
};

/* What they begin with. */
struct dotted {
	const struct dotted_settings *settings;
	const struct exporter_env *env;
	struct point_view picks;
};

/* An address that is none, a prefix with one of those characters in it, which `named` calls by name. */
int dotted_check(const struct dotted_settings *s, const char *refused, const char *named,
		 struct tacho_error *e);
/* `size` bytes that begin with a struct dotted. 0 or -ENOMEM. */
int dotted_open(void **out, size_t size, const void *settings, const struct exporter_env *env,
		struct tacho_error *e);
/* prefix.host.metric.label_value ..., or with tags prefix.metric: those are the caller's to put where they
 * belong. */
void dotted_put_name(struct buf *out, const struct dotted *d, const struct series *s);

/* The labels: `first` before the first, `sep` before each other, `eq` within: ";cpu=3;host=me". */
void put_tags(struct buf *out, const struct series *s, const struct exporter_env *env, const char *first,
	      char sep, char eq);

/* "host:port", "[::1]:port", copied in parts. 0 or -EINVAL. */
int address_split(const char *text, char host[256], char port[8]);
/* A socket connected to the address, without waiting longer than that; or a negative errno with
 * the reason in *e. `type` is SOCK_STREAM or SOCK_DGRAM. */
int address_connect(const char *text, int type, int timeout_ms, struct tacho_error *e);

#endif
