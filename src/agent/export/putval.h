/*
 * A point in collectd's text protocol: one PUTVAL line, with the identifiers of either generation of
 * collectd's intel_pmu plugin or our own.
 *
 *	generation 1	HOST/intel_pmu-GROUP/counter-EVENT			scaled
 *	generation 2	HOST/intel_pmu-GROUP:PMU/pmu_counter-EVENT		scaled raw enabled running
 *	ours		HOST/tacho-SOURCE-PLACE:PMU/pmu_counter-EVENT		the same four
 *
 * Gauges use collectd's type gauge; the agent's self metrics use derive, gauge or total_time_in_ms.
 */
#ifndef AGENT_EXPORT_PUTVAL_H
#define AGENT_EXPORT_PUTVAL_H

#include "agent/core/series.h"

#define PUTVAL_PART_MAX                                                                            \
	127 /* collectd truncates longer parts, which could make two identifiers equal */

/* Appends "PUTVAL "HOST/..." interval=1.000 TIME:VALUE...\n". */
void putval_line(struct buf *out, const char *host, const struct series *s, const struct point *p,
		 int64_t time_ns, uint64_t interval_ns);
/* HOST/PLUGIN-INSTANCE/TYPE-INSTANCE, neither quoted nor escaped. */
void putval_identifier(struct buf *out, const char *host, const struct series *s);

/* The CPUs, process or cgroup: "0-3", "cpu2", "socket0-core1", "pid7-bash". */
void putval_place(struct buf *out, const struct series *s);

#endif
