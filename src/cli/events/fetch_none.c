/*
 * Stub for builds without libcurl: fetching fails with an error message.
 */
#include "cli/events/fetch.h"

#include <errno.h>

#include "base/error.h"

int fetch_open(struct fetch **out, uint32_t timeout_s, struct tacho_error *e)
{
	(void)out, (void)timeout_s;
	error_set(e, -EOPNOTSUPP, "this build has no HTTP client");
	error_hint(e, "build it with libcurl's headers, or name a directory with --from DIR");
	return -EOPNOTSUPP;
}

int fetch_get(struct fetch *f, struct fetch_job *job, struct tacho_error *e)
{
	(void)f, (void)job;
	return error_set(e, -EOPNOTSUPP, "this build has no HTTP client");
}

void fetch_close(struct fetch *f)
{
	(void)f;
}
