/*
 * Downloads programs and debug files by build ID from debuginfod servers, where $DEBUGINFOD_URLS names some. libdebuginfod
 * (elfutils), which is loaded on first use, keeps them in its own cache, below ~/.cache/debuginfod_client.
 */
#ifndef SYMBOL_DEBUGINFOD_H
#define SYMBOL_DEBUGINFOD_H

#include "symbol/objects.h"

enum debuginfod_kind { DEBUGINFOD_EXECUTABLE, DEBUGINFOD_DEBUGINFO };

struct debuginfod;

/* Called while `name` is downloaded, `total` 0: unknown; once more with done = UINT64_MAX at its end. Non-zero cancels it. */
typedef int (*debuginfod_progress)(void *arg, const char *name, uint64_t done, uint64_t total);

/* *out is NULL if $DEBUGINFOD_URLS is not set. 0 or -ENOMEM. */
int debuginfod_new(struct debuginfod **out, debuginfod_progress progress, void *arg);
void debuginfod_free(struct debuginfod *d);
/* Sets *path to the downloaded file, to be freed. Returns 0, -ENOENT if the servers do not have it, -EOPNOTSUPP if the library is
 * missing, or another negative errno; then the servers are not asked again. `d` may be NULL. */
int debuginfod_find(struct debuginfod *d, enum debuginfod_kind kind, const struct build_id *id, const char *name,
		    char **path);

#endif
