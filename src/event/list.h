/*
 * What the walks behind tacho_list() share: the selection, the caller's function, and whether
 * events open at all here.
 */
#ifndef EVENT_LIST_H
#define EVENT_LIST_H

#include "event/event.h"

struct lister {
	struct tacho *t;
	const struct tacho_list_opts *opts;
	int (*fn)(void *arg, const struct tacho_listing *item);
	void *arg;
	int refused;			/* why not even a dummy event opens; 0: it does */
};

/* Hands the item over when the words select it; what `fn` returned, or 0. */
int lister_emit(struct lister *l, const struct tacho_listing *item);
/* False when no word can select anything of the class or below the PMU's name. */
bool lister_wants(const struct lister *l, const char *class_, const char *pmu);

/* Tries to open an attr on the calling thread, or on `cpu` where that is not negative.
 * 0 or a negative errno. What is refused with the kernel is tried without. */
int probe_attr(struct tacho *t, const struct perf_event_attr *attr, int cpu);
const char *probe_why(int err);		/* a static sentence */

/* list_pmu.c, list_vendor.c, list_trace.c */
int list_pmus(struct lister *l);
int list_vendor(struct lister *l);
int list_tracepoints(struct lister *l);

#endif
