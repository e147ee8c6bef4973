/*
 * Kinds of branches, by the names that -j and the term branch_type= have for them.
 */
#ifndef RECORD_BRANCH_TYPE_H
#define RECORD_BRANCH_TYPE_H

#include "base/str.h"

/* Its bit of branch_sample_type; 0: there is no such kind. */
uint64_t branch_type_bit(struct str name);
/* All that was named: where that is nothing but privileges, any branch is meant. */
uint64_t branch_types_or_any(uint64_t named);

#endif
