/*
 * Numbers about the machine that metrics divide by.
 */
#ifndef COUNT_MACHINE_VALUES_H
#define COUNT_MACHINE_VALUES_H

#include "event/event.h"
#include "sys/topology.h"

/* False: it cannot be known here, or is a matter of what is counted. */
bool literal_number(struct tacho *t, const struct topology *topology, enum tool_event tool, uint64_t *out);

#endif
