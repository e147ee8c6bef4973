/*
 * Recordings with hardware traces: commands read them through a temporary recording that also has the decoded samples.
 */
#ifndef CLI_FILES_TRACE_INPUT_H
#define CLI_FILES_TRACE_INPUT_H

#include <unistd.h>

#include <tacho/auxtrace.h>
#include <tacho/perfdata.h>

struct trace_input_opts {
	const char *command;
	const char *itrace;		/* of --itrace; NULL: not given */
	bool no_itrace;
	bool every_branch;		/* what is synthesised without --itrace: see tacho_itrace_default() */
	bool force, quiet;
	struct tacho_symbols_opts symbols;
};

/* The temporary recording. */
struct trace_input {
	int fd;				/* -1: there is none */
	char path[32];			/* as long as it is open */
};
static inline void trace_input_done(struct trace_input *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
}

/* Checks the letters of --itrace, which may be NULL: -EINVAL after a message. */
int trace_input_check(const char *command, const char *itrace);
/* Replaces an opened recording by one with the samples of its trace, if it has one. `path` is where *pd was opened, "-" is stdin.
 * *t, whose fd is -1, is filled in if there is a temporary recording. Prints how many errors the trace has. Returns 0 or a negative errno; *pd is closed only if it is replaced. */
int trace_input_expand(struct tacho_perfdata **pd, const char *path, const struct tacho_perfdata_opts *how,
		       const struct trace_input_opts *o, struct trace_input *t, struct tacho_error *e);

#endif
