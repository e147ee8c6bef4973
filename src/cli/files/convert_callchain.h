/*
 * Replaces the copies of stacks in a recording by the call chains that unwinding them gives, for
 * `tacho inject --convert-callchain`. Records must come in time order, in this machine's byte order.
 */
#ifndef CLI_FILES_CONVERT_CALLCHAIN_H
#define CLI_FILES_CONVERT_CALLCHAIN_H

#include "base/buf.h"

#include <tacho/perfdata.h>
#include <tacho/unwind.h>

struct stack_converter {
	struct tacho_symbols *symbols;		/* which objects are mapped where */
	struct tacho_unwinder *unwinder;
	struct tacho_scratch *scratch;
	uint64_t n_samples;			/* that were rewritten */
};

/* Returns 0; -EOPNOTSUPP if stacks of the recording's machine cannot be unwound; -ENOMEM. */
int stack_converter_init(struct stack_converter *c, const struct tacho_perfdata *pd, struct tacho_error *e);
void stack_converter_done(struct stack_converter *c);

/* Copies the event's attr as that of the new samples. 0, -EINVAL or -ENOMEM. */
int stack_converter_attr(const struct tacho_file_event *ev, struct buf *out);
/* *rec becomes the record to write instead, valid until the next call. 0 or -ENOMEM. */
int stack_converter_record(struct stack_converter *c, const struct tacho_perfdata *pd, struct tacho_record *rec);

#endif
