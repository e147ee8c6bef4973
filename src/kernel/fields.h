/*
 * Looking up the fields of a handler in the format of its event.
 */
#ifndef KERNEL_FIELDS_H
#define KERNEL_FIELDS_H

#include "kernel/pass.h"

/* Fills in ev->fields and ev->min_raw by the format. False: a field is missing that the handler cannot do without. */
bool kernel_fields_find(struct kernel_event *ev);

#endif
