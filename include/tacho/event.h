#ifndef TACHO_EVENT_H
#define TACHO_EVENT_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * Events by name: their kinds, and a list of all events of the machine.
 */

enum tacho_event_kind {
	TACHO_EVENT_HARDWARE,	/* cycles, instructions ... */
	TACHO_EVENT_SOFTWARE,	/* page-faults, task-clock ... */
	TACHO_EVENT_CACHE,	/* LLC-load-misses ... */
	TACHO_EVENT_TRACEPOINT,	/* sched:sched_switch */
	TACHO_EVENT_RAW,	/* r1a8, and type:config */
	TACHO_EVENT_BREAKPOINT,	/* mem:0x1000/8:rw */
	TACHO_EVENT_PMU,	/* pmu/terms/ and events named in sysfs */
	TACHO_EVENT_TOOL,	/* duration_time, num_cpus ...: computed, no kernel event */
};

/* One event of a set. Borrowed: valid as long as the set. */
struct tacho_event {
	size_t size;
	const char *name;	/* as given by the user, or its name= term */
	const char *pmu;	/* "software", "cpu", "uncore_imc_0", "tracepoint", "tool" ... */
	enum tacho_event_kind kind;
	const char *unit;	/* "msec", "Joules", ... or "" */
	double scale;		/* count * scale is in `unit`; 1 if there is no unit */
	const char *cgroup;	/* NULL: not limited to a cgroup */
	uint32_t leader;	/* index of the group leader; its own index if it is the leader or not
				 * grouped */
	uint32_t group_size;	/* number of events in its group; 1: not grouped */
	uint32_t merge;		/* index of the event to whose count this one is added: imc/.../ expands to
				 * an event per instance of a PMU; otherwise its own index */
	bool system_wide;	/* counts a socket or device: can be opened on CPUs, not for a task */
	uint32_t n_cpus;	/* number of CPUs its PMU requires it to be opened on; 0: no restriction */
};

/* One event listed by tacho_list(). Borrowed: valid for the call. */
struct tacho_listing {
	size_t size;
	const char *name;
	const char *alias;	/* another name of the event, or NULL */
	const char *kind;	/* "Hardware event", "Software event", "Hardware cache event",
				 * "Kernel PMU event", "Vendor event", "Tracepoint event", "Tool event", "Raw event
				 * descriptor", "Hardware breakpoint" */
	const char *class_;	/* the class name that selects it: hw sw cache pmu vendor tracepoint tool raw
				 * bp */
	const char *pmu;	/* the PMU's name */
	const char *topic;	/* a heading, e.g. "software", "sched" */
	const char *unit;	/* or NULL */
	double scale;
	const char *desc;	/* one line, or NULL */
	const char *encoding;	/* "software/config=3/", or NULL */
	bool available;		/* can be opened here, as far as known without opening it (see probe) */
	const char *why;	/* why it is not available, or NULL */
	const char *long_desc;	/* a longer description, or NULL */
	bool deprecated;	/* according to the vendor's list */
};

struct tacho_list_opts {
	size_t size;
	const char *const *words;	/* classes or glob patterns, of which an event must match one; none:
					 * all events */
	size_t n_words;
	const char *pmu;		/* only events of PMUs that match this glob pattern */
	bool details;			/* fill in `encoding` (reads more files) */
	bool probe;			/* try to open events whose availability is not certain */
};

/* Calls `fn` for every event, sorted by class, PMU and name. A non-zero return value ends the list
 * and is returned. Otherwise 0 or a negative errno. */
TACHO_API int tacho_list(struct tacho *t, const struct tacho_list_opts *opts,
			 int (*fn)(void *arg, const struct tacho_listing *item), void *arg,
			 struct tacho_error *e);

/*
 * Which PMUs the names of events stand for. It applies to all events that are added afterwards, also to those of
 * metrics. Software events, tracepoints and breakpoints are not affected.
 */
struct tacho_event_scope {	/* zero means the default in every field: every PMU that has the event */
	size_t size;		/* filled in by TACHO_OPTS */
	const char *cpu_type;	/* core events only on this core type of a hybrid CPU: "core", "cpu_atom" */
	const char *pmu;	/* events of PMUs only on this one: "uncore_imc_0" */
	bool merge_cores;	/* add up the counts of all core types: one event "cycles" */
};
/* Returns 0, -ENOENT (no such core type or PMU, with a hint) or -ENOMEM. */
TACHO_API int tacho_set_event_scope(struct tacho *t, const struct tacho_event_scope *scope,
				    struct tacho_error *e);

/*
 * Formats a perf_event_attr as lines "field: value", one per field that is not zero, in the order of the ABI,
 * with flags by name. `attr` has `size` bytes in the kernel's layout. The caller frees the text; NULL: out of
 * memory.
 */
TACHO_API char *tacho_attr_text(const void *attr, size_t size);

TACHO_END_DECLS
#endif
