/*
 * Resolution of an event of a vendor's list on the machine's PMUs; see vendor_resolve.c.
 */
#ifndef EVENT_VENDOR_ADD_H
#define EVENT_VENDOR_ADD_H

#include "event/parse.h"
#include "event/vendor.h"

/* Finds the PMUs that count the event, in natural order. If there is none, `why` is set. 0 or -ENOMEM. */
int vendor_pmus(struct tacho *t, struct vendor_list *l, const struct vendor_event *ev,
		struct pmu_list *out, char *why, size_t size);

/* Resolves the event on one PMU. Returns 1 if the event belongs to this PMU (out->why is set if it cannot be
 * counted), 0 if not, or -ENOMEM. */
int vendor_resolve_on(struct tacho *t, struct vendor_list *l, const struct vendor_event *ev,
		      const struct pmu *pmu, struct vendor_found *out);

#endif
