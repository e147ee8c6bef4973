/*
 * Snappy's block format, required by remote write: compressed by libsnappy, or valid but
 * uncompressed in builds without it.
 */
#ifndef AGENT_EXPORT_SNAPPY_H
#define AGENT_EXPORT_SNAPPY_H

#include "base/buf.h"

int snappy_block(struct str in, struct buf *out);	/* appends; 0 or -ENOMEM */

#endif
