#ifndef TACHO_EVENTLIST_H
#define TACHO_EVENTLIST_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * Vendors' event lists: names such as L2_RQSTS.ALL_CODE_RD, and what has to be programmed for them.
 * Once a list is added to the context, tacho_evset_add() knows its names, after the kernel's own.
 * Without one it looks for the lists of this CPU when it meets a name that nobody knows: the file or
 * directory that EVENTMAP names, $XDG_DATA_HOME/tacho/events, $XDG_CACHE_HOME/tacho/events,
 * $XDG_CACHE_HOME/pmu-events and /usr/share/tacho/events.
 */

/*
 * Adds a file: Intel's JSON in both its forms, the kernel's, Arm's, or PerfSpect's text; or a
 * mapfile.csv or a directory with one, which chooses the files for this CPU. Returns how many events
 * were added, or -ENOENT, -EINVAL (not understood), -EFBIG, -ENOMEM or another negative errno.
 */
TACHO_API int tacho_eventlist_add(struct tacho *t, const char *path, struct tacho_error *e);

/* One event of a list. Borrowed: valid for the call. */
struct tacho_listed {
	size_t size;
	const char *name;
	const char *desc;	/* a sentence, or "" */
	const char *details;	/* all that the list says, or "" */
	const char *topic;	/* the list's own heading, or the name of its file */
	const char *pmu;	/* "cpu", "uncore_cha": the name that means all of its instances */
	const char *terms;	/* "event=0x35,umask=0xc817fe01", as this machine's PMU takes them, or
				 * NULL where it cannot be counted here */
	const char *asked;	/* what the list asks for, whatever the machine */
	const char *reason;	/* why it cannot be counted here, or NULL */
	const char *notice;	/* what had to be left out, a filter that is not set, or NULL */
	const char *errata;	/* or "" */
	const char *counters;	/* the counters that can count it: "0,1,2,3", or "" */
	const char *unit;	/* of the count times `scale`, or "" */
	double scale;
	uint64_t period;	/* what the list recommends for sampling, 0: nothing */
	bool deprecated;
	bool precise;		/* can be sampled precisely (PEBS) */
	bool must_be_precise;	/* and has to be */
	const char *file;
};

/*
 * Calls `fn` for each event that is called `name`, in any case, or for all where `name` is NULL, in
 * order of the lists and of names. A value other than 0 ends the walk and is returned; else the
 * number of events, or a negative errno. Without a list that was added, those of this CPU are walked.
 */
TACHO_API int tacho_eventlist_walk(struct tacho *t, const char *name,
				   int (*fn)(void *arg, const struct tacho_listed *event), void *arg,
				   struct tacho_error *e);

/* One row of a mapfile.csv. Borrowed: valid for the call. */
struct tacho_mapped {
	size_t size;
	const char *file;	/* a path below the mapfile's directory: "SKX/events/skylakex_core.json" */
	const char *type;	/* "core", "hybridcore", "uncore", "metrics" ... */
	const char *pmu;	/* on cores of several kinds the one it is for: "cpu_atom"; else "" */
	bool events;		/* a list of events; else metrics or the like */
};

/*
 * Calls `fn` for each file that the mapfile has for the CPU ("GenuineIntel-6-55-4"; NULL: this one).
 * A value other than 0 ends the walk and is returned. Returns the number of files, -ENOENT where it
 * has none for the CPU, -EINVAL where a name leads out of the mapfile's directory, or another
 * negative errno.
 */
TACHO_API int tacho_eventlist_map(struct tacho *t, const char *mapfile, const char *cpu,
				  int (*fn)(void *arg, const struct tacho_mapped *file), void *arg,
				  struct tacho_error *e);
/* This CPU as mapfiles call it, or its MIDR on Arm. 0 or -ENOENT. */
TACHO_API int tacho_eventlist_cpu(struct tacho *t, char *out, size_t size, struct tacho_error *e);

TACHO_END_DECLS
#endif
