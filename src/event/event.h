/*
 * Interface of event/: event names in, perf_event_attrs out. The library context `struct tacho` is defined
 * here because the layers above need both access to the kernel and the known PMUs.
 */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include "base/arena.h"
#include "base/cpuset.h"
#include "base/error.h"
#include "record/perf_abi.h"
#include "base/str.h"
#include "sys/sys.h"

#include <tacho/event.h>

struct vendor_set;
struct metric_defs;
struct probed_file;	/* the file of the last probe: probe/probe.h */
struct catalog;		/* the machine's PMUs, each read on first use: event/pmu.h */

struct tacho {
	struct sys sys;
	struct catalog *catalog;	/* created on first use, like vendor and metrics */
	struct vendor_set *vendor;	/* vendors' event lists: event/vendor.h */
	struct metric_defs *metrics;	/* metrics of these lists: event/metric.h */
	struct probed_file *probed;	/* or NULL */
	char *cpu_type, *pmu_filter;	/* tacho_set_event_scope(): names of PMUs, or NULL */
	bool merge_cores;
	void (*log)(void *arg, enum tacho_log_level level, const char *text);
	void *log_arg;
};

void tacho_log(const struct tacho *t, enum tacho_log_level level, const char *fmt, ...)
	printf_like(3, 4);

enum tool_event {
	TOOL_NONE,
	TOOL_DURATION_TIME,
	TOOL_USER_TIME,
	TOOL_SYSTEM_TIME,
	TOOL_NUM_CPUS,
	TOOL_NUM_CPUS_ONLINE,
	TOOL_NUM_CORES,
	TOOL_NUM_DIES,
	TOOL_NUM_PACKAGES,
	TOOL_SMT_ON,
	TOOL_SYSTEM_TSC_FREQ,
	TOOL_HAS_PMEM,
	TOOL_CORE_WIDE,
	TOOL_TARGET_CPU,
	TOOL_SLOTS,		/* not computed by tacho: supported if the PMU has a slots event */
};

/* Modifiers, terms and PMU properties that have no attr bit. */
#define EVENT_WEAK (1u << 0)		/* W: its group may be split */
#define EVENT_PRECISE_MAX (1u << 1)	/* P */
#define EVENT_LEADER_SAMPLING (1u << 2)	/* S */
#define EVENT_BPF (1u << 3)		/* b */
#define EVENT_RETIRE_LATENCY (1u << 4)	/* R */
#define EVENT_NO_REGROUP (1u << 5)	/* X */
#define EVENT_PRIVILEGE_GIVEN (1u << 6)	/* has one of the modifiers u k h */
#define EVENT_GUEST_GIVEN (1u << 7)	/* has one of the modifiers G H */
#define EVENT_PERCORE (1u << 8)
#define EVENT_PER_PKG (1u << 9)
#define EVENT_SNAPSHOT (1u << 10)
#define EVENT_UNCORE (1u << 11)		/* PMU of a socket or device: opened per CPU, not per task */

/* Per-event terms that only sampling uses; zero or NULL: not given. */
struct event_terms {
	const char *call_graph;		/* "fp", "dwarf", "lbr", "no" */
	uint64_t branch_type;		/* branch_sample_type; valid if branches_given */
	uint32_t stack_size, max_stack, nr, aux_sample_size;
	const char *aux_action;
	int8_t time, inherit, overwrite;	/* 0: not given, 1: on, -1: off */
	int8_t aux_output;
	bool period_given, freq_given, branches_given;
	const char *metric_id;
	double ratio_to_prev;
	const char *driver_config;	/* the @terms, joined by commas */
};

struct event {
	const char *name;		/* name to display */
	const char *pmu;
	enum tacho_event_kind kind;
	enum tool_event tool;
	struct perf_event_attr attr;	/* type, config*, period/freq, bp_*, exclude and precise bits,
					 * pinned, exclusive; size, read_format, inherit and disabled are set
					 * when it is opened */
	uint32_t flags;			/* EVENT_* */
	const char *unit;		/* "": none */
	double scale;
	uint32_t leader;		/* index of the group leader; its own index if it is not grouped */
	uint32_t group_size;
	const char *group_name;		/* NULL: none */
	uint32_t merge;			/* index of the event to whose count this one's is added: the first
					 * instance of an uncore PMU. Its own index for all other events,
					 * including those of hybrid cores and tracepoint patterns */
	struct cpuset cpus;		/* CPUs required by the PMU or a cpu= term; empty: any */
	struct event_terms terms;
	uint32_t column, length;	/* position in the spec */
};

/* The arena owns the strings of the events. `leader` and `merge` are indexes into v. */
struct event_list {
	struct event *v;
	size_t n, cap;
	struct arena arena;
};

/* A probe of its own: uprobe:FILE:FUNCTION, usdt:..., kprobe:... Its config1 is a pointer. */
static inline bool event_is_probe(const char *pmu)
{
	return strcmp(pmu, "uprobe") == 0 || strcmp(pmu, "kprobe") == 0;
}

void event_list_done(struct event_list *list);

enum event_parse_flags {
	EVENT_FOR_STAT = 1,	/* refuse sampling terms as `perf stat` does (call-graph, freq ...) */
};

/* Parses `spec` and appends its events to `list`, which is unchanged on failure. Names are resolved
 * against t's sysfs and tracefs. Returns the number of events added, or -EINVAL (syntax),
 * -ENOENT (no such name), -EACCES (tracefs unreadable), -EOPNOTSUPP, -ENOMEM. */
int event_parse(struct tacho *t, const char *spec, unsigned flags, struct event_list *list,
		struct tacho_error *e);

/* Returns whether sysfs shows a core PMU (cpu, cpu_core, cpu_atom, armv8_* ...). Without one, hardware,
 * cache and raw events cannot be counted. */
bool event_has_core_pmu(struct tacho *t);

void catalog_free(struct catalog *c);

#endif
