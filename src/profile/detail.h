/*
 * Details: sample fields other than thread and stack that rows store. Values: texts and fields of
 * tracepoints.
 */
#ifndef PROFILE_DETAIL_H
#define PROFILE_DETAIL_H

#include "profile/profile.h"
#include "profile/stacks.h"

#include <tacho/trace.h>

struct details {			/* while a file is loaded */
	struct tacho_profile *profile;
	struct stack_resolver *stacks;	/* resolves addresses */
	struct tacho_trace *trace;	/* the file's tracepoint formats, after they have been read */
	bool no_trace;			/* the file has no formats */
	bool swapped;			/* the file has the other byte order */
	uint32_t parallelism;		/* number of running threads at the current sample */
	struct { struct details_event *v; size_t n, cap; } events;	/* events of the file */
	struct keymap accesses;		/* object and address of an instruction -> index in data_types + 1 */
	struct { struct details_data_type *v; size_t n, cap; } data_types;
	struct buf text;
};

void details_done(struct details *d);
/* The detail id of a sample; 0 if the options select no details, KEYMAP_NONE if out of memory. `branch` may
 * be NULL. */
uint32_t details_sample(struct details *d, const struct tacho_perfdata *pd, size_t event,
			const struct tacho_sample *s, enum tacho_space space,
			const struct tacho_branch *branch);

/* The id of an equal detail or value; KEYMAP_NONE if out of memory. */
uint32_t profile_intern_detail(struct tacho_profile *p, const struct tacho_profile_detail *desc);
/* Kinds of values, besides those of opts.fields by their index. */
enum { VALUE_TRACE = TACHO_FIELDS_MAX, VALUE_DATA_TYPE, VALUE_DATA_MEMBER };
/* `kind` distinguishes equal bytes of different fields. Bytes and text are copied. */
uint32_t profile_intern_value(struct tacho_profile *p, uint32_t kind, const struct tacho_profile_value *desc);

#endif
