/*
 * Dotted names for Graphite and StatsD, which have no labels, or put them after the name as tags:
 *
 *	tacho.myhost.perf_context_switches.cpu_3.source_system
 *
 * and other code that the two exporters share.
 */
#ifndef AGENT_EXPORT_DOTTED_NAMES_H
#define AGENT_EXPORT_DOTTED_NAMES_H

#include "agent/export/exporter.h"
#include "agent/export/point_view.h"

/* First member of the settings of both exporters. */
struct dotted_settings {
	struct push_settings push;
	char *address, *prefix;
	int style;			/* 0: labels are part of the name; 1: labels follow as tags */
};

/* First member of the structs of both exporters. */
struct dotted_exporter {
	const struct dotted_settings *settings;
	const struct exporter_env *env;
	struct point_view points;
};

/* Checks the address and that the prefix contains none of the characters `refused`; `named`
 * describes them in messages. */
int dotted_check(const struct dotted_settings *s, const char *refused, const char *named,
		 struct tacho_error *e);
/* Allocates `size` bytes that begin with a struct dotted_exporter. Returns 0 or -ENOMEM. */
int dotted_open(void **out, size_t size, const void *settings, const struct exporter_env *env,
		struct tacho_error *e);
/* Appends prefix.host.metric.label_value ..., or with tags prefix.metric; the caller adds the tags. */
void dotted_put_name(struct buf *out, const struct dotted_exporter *d, const struct series *s);

/* Appends the labels as tags: `first` before the first, `sep` between them, `eq` between name and
 * value: ";cpu=3;host=me". */
void dotted_put_tags(struct buf *out, const struct series *s, const struct exporter_env *env,
		     const char *first, char sep, char eq);

/* Splits "host:port" or "[::1]:port". Returns 0 or -EINVAL. */
int address_split(const char *text, char host[256], char port[8]);
/* Returns a socket connected within `timeout_ms`, or a negative errno with the reason in *e. `type`
 * is SOCK_STREAM or SOCK_DGRAM. */
int address_connect(const char *text, int type, int timeout_ms, struct tacho_error *e);

#endif
