/* Takes the places of the profiler and the exporters until they are there. */
#include "agent/http_.h"
#include "agent/profiler.h"

#include <errno.h>

#include "base/error.h"

int profiler_start(struct profiler **out, struct agent *a, struct tacho_error *e)
{
	(void)out, (void)a;
	return error_set(e, -EOPNOTSUPP, "this build has none");
}
void profiler_stop(struct profiler *p) { (void)p; }
int profiler_frequency(struct profiler *p, uint64_t hz) { (void)p, (void)hz; return -EOPNOTSUPP; }
void profiler_status(struct profiler *p, struct profiler_status *out) { (void)p; *out = (struct profiler_status){ .why = "none" }; }
int profiler_record(struct agent *a, uint64_t length_ns, int action, const char *dir, const char *name, char **path, struct tacho_error *e)
{
	(void)a, (void)length_ns, (void)action, (void)dir, (void)name, (void)path;
	return error_set(e, -EOPNOTSUPP, "this build has none");
}
void page_profiles(struct request *q) { request_fail(q, 501, "none"); }
void page_flame(struct request *q) { request_fail(q, 501, "none"); }
void page_heatmap(struct request *q) { request_fail(q, 501, "none"); }
