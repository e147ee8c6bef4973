/*
 * Reads the chunks of a damaged store from its pages, whatever the state of the tree above them.
 */
#ifndef AGENT_STORE_SALVAGE_PAGES_H
#define AGENT_STORE_SALVAGE_PAGES_H

#include "agent/store/store_internal.h"

/* Calls fn for each row that looks like a chunk, in any order; rows may be outdated versions. If fn returns
 * non-zero, the walk ends and returns that. Otherwise returns 0, or a negative errno. */
int salvage_pages(const char *path, int (*fn)(void *arg, const struct closed_chunk *c), void *arg);

#endif
