/*
 * The options of <Plugin intel_pmu> as read, before they are converted to sources. Strings are
 * borrowed from the files' arena.
 */
#ifndef AGENT_CONFIG_INTEL_PMU_OPTIONS_H
#define AGENT_CONFIG_INTEL_PMU_OPTIONS_H

#include "agent/config/collectd_syntax.h"
#include "agent/config/build.h"

enum pmu_report { REPORT_CACHE, REPORT_KERNEL, REPORT_SOFTWARE, N_REPORTS };
extern const char *const report_keys[N_REPORTS];	/* "ReportHardwareCacheEvents" ... */

/* One HardwareEvents option with its Cores. */
struct pmu_set {
	const struct conf_node *events, *cpu_groups;
	const char *file;		/* the file it is in */
};
enum { SETS_MAX = 1024 };

struct collectd_reader {
	struct agent_config *cfg;
	struct tacho_error *e;
	struct arena arena;
	unsigned depth, n_files;
	uint64_t interval_ns, plugin_interval_ns;
	struct str unixsock;		/* SocketFile of the unixsock plugin */
	struct str hostname;		/* Hostname: collectd's name for this machine */
	bool found, has_unixsock, has_report, has_aggregate, has_dispatch, no_merge;
	bool report[N_REPORTS];
	struct str event_list,
		filter; /* filter: glob for the files of the current Include; empty: all */
	struct conf_node *plugin;	/* first <Plugin intel_pmu>, for messages */
	const char *plugin_file;
	const struct conf_node *cpu_groups;	/* a Cores option before any HardwareEvents */
	const char *cores_file;
	struct pmu_set sets[SETS_MAX];
	size_t n_sets;
	struct strlist others;
};

/* "FILE:LINE:COLUMN: TEXT"; returns -EINVAL. */
int collectd_fail(struct collectd_reader *c, const char *file, struct toml_at at, const char *fmt, ...)
	printf_like(4, 5);
/* Adds the sources. */
int collectd_build(struct collectd_reader *c);

#endif
