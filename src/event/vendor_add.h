/*
 * Between a list's event and the event language: the PMUs it means, and adding it to what is parsed.
 */
#ifndef EVENT_VENDOR_ADD_H
#define EVENT_VENDOR_ADD_H

#include "event/parse.h"
#include "event/vendor.h"

/* The PMUs that count it, in natural order; where there are none, `why` says so. 0 or -ENOMEM. */
int vendor_pmus(struct tacho *t, struct vendor_list *l, const struct vendor_event *ev,
		struct pmu_list *out, char *why, size_t size);

/* The event on this PMU, which need not count it: 1 it does (`why` tells when it cannot), 0 it does not,
 * or -ENOMEM. */
int vendor_resolve_on(struct tacho *t, struct vendor_list *l, const struct vendor_event *ev,
		      const struct pmu *pmu, struct vendor_found *out);

#endif
