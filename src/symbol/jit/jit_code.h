/*
 * Code of JIT compilers that is described by jitdump files: which function is where in the memory of a process, at the
 * time of the current record. The functions are intervals in process.jit.
 */
#ifndef SYMBOL_JIT_CODE_H
#define SYMBOL_JIT_CODE_H

#include "symbol/objects.h"
#include "symbol/process.h"

struct jit_timeline {			/* a dump in a process */
	uint32_t pid, object;
	size_t next;			/* the first event that has not happened yet */
	int64_t shift_ns;		/* what is added to its times to get those of the recording */
	bool timed;			/* else all events have happened already */
};

struct jit_code {
	struct { struct jit_timeline *v; size_t n, cap; } timelines;
	uint64_t next_ns;		/* time of the next event of any of them; UINT64_MAX: none */
	bool monotonic;			/* the recording has the times of CLOCK_MONOTONIC */
};

/* Where the functions of a process are, and what is known about the mapping of its dump. */
struct jit_mapping {
	uint32_t pid;
	uint64_t time;			/* when it was mapped; 0: not known */
};

/* Called when a process maps a dump. Reads it, and adds its functions to the process. 0 or -ENOMEM. */
int jit_code_mapped(struct jit_code *j, struct processes *p, struct object *dump, const struct symbol_search *search,
		    const struct jit_mapping *mapping);
/* Applies all events up to that time. 0 or -ENOMEM. */
int jit_code_advance(struct jit_code *j, struct processes *p, const struct objects *objects, uint64_t time);
/* Live mode: reads what a running process has appended to its dumps. 0 or -ENOMEM. */
int jit_code_refresh(struct jit_code *j, struct processes *p, const struct objects *objects, uint32_t pid);
void jit_code_done(struct jit_code *j);

#endif
