/*
 * State shared by the files of tacho_list(): the selection, the caller's function, and whether any event
 * can be opened at all.
 */
#ifndef EVENT_LIST_H
#define EVENT_LIST_H

#include "event/event.h"

struct lister {
	struct tacho *t;
	const struct tacho_list_opts *opts;
	int (*fn)(void *arg, const struct tacho_listing *item);
	void *arg;
	int refused;			/* errno from opening a dummy event; 0: it can be opened */
};

/* Passes the item to the caller's function if it is selected. Returns that function's result, or 0. */
int lister_emit(struct lister *l, const struct tacho_listing *item);
/* Returns false if nothing of this class and PMU can be selected. */
bool lister_wants(const struct lister *l, const char *class_, const char *pmu);

/* Tries to open an attr on the calling thread, or on `cpu` unless that is negative. If the thread's event is
 * refused, tries again with exclude_kernel. 0 or a negative errno. */
int probe_attr(struct tacho *t, const struct perf_event_attr *attr, int cpu);
const char *probe_why(int err);		/* the reason as a static string */

/* list_pmu.c, list_vendor.c, list_trace.c */
int list_pmus(struct lister *l);
int list_vendor(struct lister *l);
int list_tracepoints(struct lister *l);

#endif
