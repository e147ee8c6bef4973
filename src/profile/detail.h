/*
 * Details: what rows keep of their samples beyond thread and stack. Values: texts and fields of tracepoints.
 */
#ifndef PROFILE_DETAIL_H
#define PROFILE_DETAIL_H

#include "profile/profile.h"
#include "profile/stacks.h"

#include <tacho/trace.h>

struct details {			/* while a file is loaded */
	struct tacho_profile *profile;
	struct stack_resolver *stacks;	/* resolves addresses */
	struct tacho_trace *trace;	/* the file's tracepoint formats, once they were read */
	bool no_trace;			/* the file has no formats */
	bool swapped;			/* the file has the other byte order */
	uint32_t parallelism;		/* how many threads run at the current sample */
	struct { struct details_event *v; size_t n, cap; } events;	/* of the file */
	struct buf text;
};

void details_done(struct details *d);
/* The detail id of a sample; 0 if the options keep none, KEYMAP_NONE without memory. `branch` may be NULL. */
uint32_t details_sample(struct details *d, const struct tacho_perfdata *pd, size_t event,
			const struct tacho_sample *s, enum tacho_space space,
			const struct tacho_branch *branch);

/* The id of an equal detail or value; KEYMAP_NONE without memory. */
uint32_t profile_intern_detail(struct tacho_profile *p, const struct tacho_profile_detail *desc);
/* `kind` keeps equal bytes of different fields apart. Bytes and text are copied. */
uint32_t profile_intern_value(struct tacho_profile *p, uint32_t kind, const struct tacho_profile_value *desc);

#endif
