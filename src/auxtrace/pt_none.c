/* A build without the header of libipt. */
#include "auxtrace/auxtrace.h"

#include <errno.h>

static int open_none(struct trace_decoder **out, struct expansion *x, const struct aux_queue *q, struct tacho_error *e)
{
	(void)out;
	(void)x;
	(void)q;
	error_set(e, -EOPNOTSUPP, "the recording has traces of Intel PT, but this tacho was built without libipt");
	error_hint(e, "build it where libipt-dev is installed");
	return -EOPNOTSUPP;
}

const struct trace_decoder_kind pt_decoder_kind = { .kind = TRACE_INTEL_PT, .open = open_none };

int pt_packets(const uint8_t *bytes, size_t n, int (*fn)(void *arg, const char *line, size_t n), void *arg)
{
	(void)bytes;
	(void)n;
	(void)fn;
	(void)arg;
	return -EOPNOTSUPP;
}
