/*
 * Constants of the machine that metrics use: CPUs, cores, sockets, TSC frequency, slots.
 */
#ifndef COUNT_MACHINE_VALUES_H
#define COUNT_MACHINE_VALUES_H

#include "event/event.h"
#include "sys/topology.h"

/* Returns false if the value is unknown on this machine, or if `tool` depends on what is counted. */
bool machine_value(struct tacho *t, const struct topology *topology, enum tool_event tool, uint64_t *out);

#endif
