#ifndef TACHO_EVENT_H
#define TACHO_EVENT_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * What can be counted: names as a person types them, and a walk over all of them.
 */

enum tacho_event_kind {
	TACHO_EVENT_HARDWARE,	/* cycles, instructions ... */
	TACHO_EVENT_SOFTWARE,	/* page-faults, task-clock ... */
	TACHO_EVENT_CACHE,	/* LLC-load-misses ... */
	TACHO_EVENT_TRACEPOINT,	/* sched:sched_switch */
	TACHO_EVENT_RAW,	/* r1a8, and type:config */
	TACHO_EVENT_BREAKPOINT,	/* mem:0x1000/8:rw */
	TACHO_EVENT_PMU,	/* pmu/terms/ and the PMUs' own names */
	TACHO_EVENT_TOOL,	/* duration_time, num_cpus ...: computed, no kernel event */
};

/* One event of a set, as it was understood. Borrowed: valid while the set is. */
struct tacho_event {
	size_t size;
	const char *name;	/* as shown: what was typed, or its name= term */
	const char *pmu;	/* "software", "cpu", "uncore_imc_0", "tracepoint", "tool" ... */
	enum tacho_event_kind kind;
	const char *unit;	/* "msec", "Joules", ... or "" */
	double scale;		/* count * scale is in `unit`; 1 where there is none */
	const char *cgroup;	/* NULL: not limited to one */
	uint32_t leader;	/* index of its group's first event; its own when it leads or is alone */
	uint32_t group_size;	/* events in its group, 1: not grouped */
	uint32_t merge;		/* index of the first event that it adds up with: words such as
				 * imc/.../ expand to every instance of a PMU; else its own index */
	bool system_wide;	/* counts a socket or device: on CPUs only, never for one task */
	uint32_t n_cpus;	/* the CPUs that its PMU wants it opened on; 0: wherever the target is */
};

/* One thing that `tacho list` shows. Borrowed: valid for the call. */
struct tacho_listing {
	size_t size;
	const char *name;
	const char *alias;	/* another name for the same, or NULL */
	const char *kind;	/* "Hardware event", "Software event", "Hardware cache event",
				 * "Kernel PMU event", "Vendor event", "Tracepoint event", "Tool event", "Raw event
				 * descriptor", "Hardware breakpoint" */
	const char *class_;	/* the word that selects it: hw sw cache pmu vendor tracepoint tool raw
				 * bp */
	const char *pmu;	/* the PMU's name */
	const char *topic;	/* a heading, e.g. "software", "sched" */
	const char *unit;	/* or NULL */
	double scale;
	const char *desc;	/* one line, or NULL */
	const char *encoding;	/* "software/config=3/", or NULL where there is none to give */
	bool available;		/* opens here and now, as far as can be told without opening it */
	const char *why;	/* why not, or NULL */
	const char *long_desc;	/* all that is known of it, where that is more than `desc`; or NULL */
	bool deprecated;	/* says its list */
};

struct tacho_list_opts {
	size_t size;
	const char *const *words;	/* classes or globs; any match selects; none: everything */
	size_t n_words;
	const char *pmu;		/* only events of PMUs that match this glob */
	bool details;			/* fill in `encoding` (costs file reads) */
	bool probe;			/* try to open where the answer is not certain */
};

/* Calls `fn` for every event, sorted by class, PMU and name; a non-zero return ends the walk
 * and is returned. Otherwise 0 or a negative errno. */
TACHO_API int tacho_list(struct tacho *t, const struct tacho_list_opts *opts,
			 int (*fn)(void *arg, const struct tacho_listing *item), void *arg,
			 struct tacho_error *e);

/*
 * A perf_event_attr as lines "field: value", one per field that is not zero, in the ABI's
 * order; flags by name. `attr` has `size` bytes in the kernel's layout. The text is the
 * caller's to free; NULL without memory.
 */
TACHO_API char *tacho_attr_text(const void *attr, size_t size);

TACHO_END_DECLS
#endif
