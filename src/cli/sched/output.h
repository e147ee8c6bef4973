/*
 * Output that may be long: written to stdout or a file piece by piece.
 */
#ifndef CLI_SCHED_OUTPUT_H
#define CLI_SCHED_OUTPUT_H

#include "base/buf.h"

#define SCHED_OUTPUT_BYTES (64u << 10)

struct sched_output {
	struct buf text;
	int fd;
	int err;			/* sticky: the first failure */
	const char *command, *path;	/* for the message; path NULL: stdout */
};

/* Opens `path` (NULL: stdout). False: a message was printed. */
bool sched_output_open(struct sched_output *o, const char *command, const char *path);
void sched_output_flush(struct sched_output *o);
/* To be called after each line. Returns 0 or the negative errno of a failure, after which nothing should be added. */
static inline int sched_output_line(struct sched_output *o)
{
	if (o->text.n >= SCHED_OUTPUT_BYTES)
		sched_output_flush(o);
	return o->err;
}
/* Writes the rest and closes. Returns an exit status, after a message if something could not be written. */
int sched_output_close(struct sched_output *o);

#endif
