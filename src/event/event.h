/*
 * The event room's face: names in, attrs out. A `struct tacho` (the library context) lives here
 * because everything above needs both the kernel and what was learned of its PMUs.
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
struct catalog;		/* the machine's PMUs, read once, as far as asked for: event/pmu.c */

struct tacho {
	struct sys sys;
	struct catalog *catalog;	/* made on first use */
	struct vendor_set *vendor;	/* vendors' event lists, made on first use: event/vendor.h */
	struct metric_defs *metrics;	/* those of the lists, made on first use: event/metric.h */
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
	TOOL_SLOTS,		/* known by name; unsupported without the PMU's own slots event */
};

/* Letters and terms that are not attr bits. */
#define EVENT_WEAK (1u << 0)		/* W: its group may be split */
#define EVENT_PRECISE_MAX (1u << 1)	/* P */
#define EVENT_LEADER_SAMPLING (1u << 2)	/* S */
#define EVENT_BPF (1u << 3)		/* b */
#define EVENT_RETIRE_LATENCY (1u << 4)	/* R */
#define EVENT_NO_REGROUP (1u << 5)	/* X */
#define EVENT_PRIVILEGE_GIVEN (1u << 6)	/* one of u k h was written */
#define EVENT_GUEST_GIVEN (1u << 7)	/* one of G H was written */
#define EVENT_PERCORE (1u << 8)
#define EVENT_PER_PKG (1u << 9)
#define EVENT_SNAPSHOT (1u << 10)
#define EVENT_UNCORE (1u << 11)		/* its PMU counts a socket or the like: needs a CPU, no task */

/* Per-event terms that only sampling uses; zero or NULL: not given. */
struct event_terms {
	const char *call_graph;		/* "fp", "dwarf", "lbr", "no" */
	uint64_t branch_type;		/* branch_sample_type, where branches_given */
	uint32_t stack_size, max_stack, nr, aux_sample_size;
	const char *aux_action;
	int8_t time, inherit, overwrite;	/* 0 not given, 1 on, -1 off */
	int8_t aux_output;
	bool period_given, freq_given, branches_given;
	const char *metric_id;
	const char *ratio_to_prev;
	const char *driver_config;	/* what followed '@', joined by commas */
};

struct event {
	const char *name;		/* as shown */
	const char *pmu;
	enum tacho_event_kind kind;
	enum tool_event tool;
	struct perf_event_attr attr;	/* type, config*, period/freq, bp, exclude and precise bits,
					 * pinned, exclusive; size, read_format, inherit and disabled
					 * are the opener's business */
	uint32_t flags;			/* EVENT_* */
	const char *unit;		/* "" where there is none */
	double scale;
	uint32_t leader;		/* index within its list; its own when alone */
	uint32_t group_size;
	const char *group_name;		/* NULL: none */
	uint32_t merge;			/* index of the first event whose count this one's adds to:
					 * instances of one uncore PMU; its own otherwise (also on
					 * hybrid cores and behind a tracepoint's glob) */
	struct cpuset cpus;		/* where the PMU (or a cpu= term) wants it; empty: anywhere */
	struct event_terms terms;
	uint32_t column, length;	/* in the spec */
};

/* Owns its strings through the arena; indexes above are into v. */
struct event_list {
	struct event *v;
	size_t n, cap;
	struct arena arena;
};

void event_list_done(struct event_list *list);

enum event_parse_flags {
	EVENT_FOR_STAT = 1,	/* refuse the terms that `perf stat` refuses (call-graph, freq ...) */
};

/* Parses `spec` and appends to `list` (which stays as it was on failure). Names are resolved
 * against t's sysfs and tracefs. Returns how many events were added, or -EINVAL (syntax),
 * -ENOENT (no such name), -EACCES (tracefs unreadable), -EOPNOTSUPP, -ENOMEM. */
int event_parse(struct tacho *t, const char *spec, unsigned flags, struct event_list *list,
		struct tacho_error *e);

/* True when sysfs shows a core PMU (cpu, cpu_core, cpu_atom, armv8_*, ... with format files or
 * type 4); without one, hardware, cache and raw events cannot count. */
bool event_has_core_pmu(struct tacho *t);

void catalog_free(struct catalog *c);

#endif
