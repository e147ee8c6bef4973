/*
 * Branch types: the names accepted by -j and by the event term branch_type=.
 */
#ifndef RECORD_BRANCH_TYPE_H
#define RECORD_BRANCH_TYPE_H

#include "base/str.h"

/* The bit of branch_sample_type for this name; 0: unknown name. */
uint64_t branch_type_bit(struct str name);
/* Adds "any" if `named` has only privilege levels (u, k, hv), which select no branches by themselves. */
uint64_t branch_types_or_any(uint64_t named);

#endif
