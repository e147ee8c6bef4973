/*
 * The keys of every push exporter.
 */
#include "agent/export/exporter.h"

#define AT(field) offsetof(struct push_settings, field)
const struct config_key push_keys[] = {
	{ KEY_DURATION, "flush", AT(flush_ns), "10s",
	  "how long points are collected before they are sent", .min = 100000000,
	  .max = 240000000000 }, /* ended series are kept for five minutes */
	{ KEY_DURATION, "timeout", AT(timeout_ns), "10s", "how long to wait for the receiver",
	  .min = 100000000, .max = 600000000000 },
	{ KEY_BYTES, "queue", AT(queue_bytes), "64M",
	  "maximum size of the queue, on disk or in memory, while the receiver is unreachable",
	  .min = 4096 },
	{ KEY_U64, "max_points", AT(max_points), "10000", "maximum number of points in one message",
	  .min = 1, .max = 1000000 },
	{ KEY_STRINGS, "sources", AT(sources), NULL, "export only these sources; not set: all" },
	{ KEY_STRINGS, "keep_series", AT(keep), NULL,
	  "export only these series: EVENT or EVENT{label=\"value\"}, with globs; not set: all" },
	{ KEY_STRINGS, "drop_series", AT(drop), NULL, "do not export these series" },
	{ KEY_PAIRS, "rename_events", AT(events), NULL,
	  "other names of events: { \"context-switches\" = \"switches\" }; they are exported exactly as written here, without prefix and unit" },
	{ KEY_PAIRS, "rename_labels", AT(labels), NULL,
	  "other names of labels: { cgroup = \"service\", pid = \"\" }; a label without a name is not exported" },
	{ .kind = KEY_END },
};
