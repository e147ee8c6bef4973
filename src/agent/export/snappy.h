/*
 * Snappy's block format, which remote write asks for: by libsnappy, or, where that is missing,
 * valid but not packed.
 */
#ifndef AGENT_EXPORT_SNAPPY_H
#define AGENT_EXPORT_SNAPPY_H

#include "base/buf.h"

int snappy_block(struct str in, struct buf *out);	/* appends; 0 or -ENOMEM */

#endif
