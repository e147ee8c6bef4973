#ifndef TACHO_EVENTLIST_H
#define TACHO_EVENTLIST_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * Vendors' event lists: names such as L2_RQSTS.ALL_CODE_RD and their encodings. After a list has been added
 * to the context, tacho_evset_add() accepts its names; names known to the kernel take precedence. If no list
 * was added, lists for this CPU are searched for when a name is unknown: in the file or directory in the
 * variable EVENTMAP, $XDG_DATA_HOME/tacho/events, $XDG_CACHE_HOME/tacho/events, $XDG_CACHE_HOME/pmu-events
 * and /usr/share/tacho/events.
 */

/*
 * Adds a file: JSON of Intel (both forms), the kernel or Arm, or PerfSpect's text; or a mapfile.csv or a
 * directory with one, which selects the files for this CPU. Returns the number of events added, or
 * -ENOENT, -EINVAL (not a valid list), -EFBIG, -ENOMEM or another negative errno.
 */
TACHO_API int tacho_eventlist_add(struct tacho *t, const char *path, struct tacho_error *e);

/* One event of a list. Borrowed: valid for the call. */
struct tacho_listed {
	size_t size;
	const char *name;
	const char *desc;	/* short description, or "" */
	const char *details;	/* long description, or "" */
	const char *topic;	/* its topic in the list, or the name of the list's file */
	const char *pmu;	/* "cpu", "uncore_cha": the name for all instances of the PMU */
	const char *terms;	/* "event=0x35,umask=0xc817fe01" for this machine's PMU, or NULL if it cannot
				 * be counted here */
	const char *asked;	/* the terms as written in the list */
	const char *reason;	/* why it cannot be counted here, or NULL */
	const char *notice;	/* a term that was left out, a filter that is not set, or NULL */
	const char *errata;	/* or "" */
	const char *counters;	/* counters that can count it: "0,1,2,3", or "" */
	const char *unit;	/* of the count times `scale`, or "" */
	double scale;
	uint64_t period;	/* recommended sampling period; 0: none */
	bool deprecated;
	bool precise;		/* can be sampled precisely (PEBS) */
	bool must_be_precise;	/* is only meaningful if sampled precisely */
	const char *file;
};

/*
 * Calls `fn` for each event called `name` (case is ignored), or for all events if `name` is NULL, in the order
 * of lists and names. A non-zero return value ends the walk and is returned; otherwise returns the number of
 * events or a negative errno. If no list was added, the lists found for this CPU are used.
 */
TACHO_API int tacho_eventlist_walk(struct tacho *t, const char *name,
				   int (*fn)(void *arg, const struct tacho_listed *event), void *arg,
				   struct tacho_error *e);

/* One row of a mapfile.csv. Borrowed: valid for the call. */
struct tacho_mapped {
	size_t size;
	const char *file;	/* a path below the mapfile's directory: "SKX/events/skylakex_core.json" */
	const char *type;	/* "core", "hybridcore", "uncore", "metrics" ... */
	const char *pmu;	/* on hybrid CPUs the core type it is for: "cpu_atom"; else "" */
	bool events;		/* a list of events; false: metrics or other data */
};

/*
 * Calls `fn` for each file that the mapfile has for the CPU ("GenuineIntel-6-55-4"; NULL: this one).
 * A non-zero return value ends the walk and is returned. Otherwise returns the number of files, -ENOENT if
 * there is none for the CPU, -EINVAL if a path is not below the mapfile's directory, or another negative errno.
 */
TACHO_API int tacho_eventlist_map(struct tacho *t, const char *mapfile, const char *cpu,
				  int (*fn)(void *arg, const struct tacho_mapped *file), void *arg,
				  struct tacho_error *e);
/* The name of this CPU in mapfiles; on Arm its MIDR. 0 or -ENOENT. */
TACHO_API int tacho_eventlist_cpu(struct tacho *t, char *out, size_t size, struct tacho_error *e);

TACHO_END_DECLS
#endif
