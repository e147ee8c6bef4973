/*
 * How complete a profile's data is: leaves without a symbol, stacks that end too early, and the times of its samples.
 */
#ifndef PROFILE_QUALITY_H
#define PROFILE_QUALITY_H

#include "profile/profile.h"

/* Whether nothing can have called this frame, so that a stack that ends there is complete. */
bool frame_is_start(const struct tacho_profile_frame *f);
/* Extends the range of times to include these; 0: no sample has a time. */
void quality_times(struct tacho_profile_quality *q, uint64_t first_ns, uint64_t last_ns);
/* Adds a row's unresolved leaves and broken stacks to the counts. */
void quality_row(struct tacho_profile *p, const struct tacho_profile_row *r);
/* Recounts the unresolved leaves and broken stacks of all rows. 0 or -ENOMEM. */
int quality_rows(struct tacho_profile *p);

#endif
