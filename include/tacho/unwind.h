#ifndef TACHO_UNWIND_H
#define TACHO_UNWIND_H

#include <tacho/record.h>
#include <tacho/symbol.h>

TACHO_BEGIN_DECLS

/*
 * Unwinding: from the registers and the copy of the stack in a sample (PERF_SAMPLE_REGS_USER and STACK_USER) to a
 * call chain as the kernel would have written it. The rules come from the call frame information of the objects
 * that are mapped, in tables that are built once per object and cached by build ID. x86-64 and arm64.
 *
 *	new -> unwind, unwind ... -> free
 */
struct tacho_unwinder;

/* Whether stacks of that machine can be unwound. `machine` as below. */
TACHO_API bool tacho_unwinder_supports(uint16_t machine);
/* `symbols` must outlive the unwinder; records are fed to it as usual. `machine`: ELF e_machine of the recording, 0:
 * this one. */
TACHO_API int tacho_unwinder_new(struct tacho_unwinder **out, struct tacho_symbols *symbols, uint16_t machine,
				 struct tacho_error *e);
TACHO_API void tacho_unwinder_free(struct tacho_unwinder *u);

/* Unwinds the sample's user stack, according to the records fed so far. Returns 1 and the whole chain in *chain: that of
 * the sample (the kernel's part), then the user's. It is valid until the next call. Return addresses of the user's part
 * are reduced by one, so that they lie in the call instruction. Returns 0 if the sample has no copy of a stack or
 * already has a user chain, or if the machine is not supported; -ENOMEM. */
TACHO_API int tacho_unwinder_unwind(struct tacho_unwinder *u, const struct tacho_sample *sample,
				    struct tacho_words *chain);

/* Makes a record with the sample's whole chain instead of the copy of its stack and, unless `keep_regs`, its user
 * registers. `sample` is `rec` decoded by `layout`, which must have PERF_SAMPLE_CALLCHAIN and PERF_SAMPLE_STACK_USER; the
 * byte order must be this machine's. *out is valid until the next call. A sample whose stack cannot be unwound keeps its
 * chain, or gets one of the sampled address. 0, -EBADMSG, -ENOMEM. */
TACHO_API int tacho_unwinder_rewrite(struct tacho_unwinder *u, const struct tacho_record *rec,
				     const struct tacho_sample *sample, const struct tacho_layout *layout, bool keep_regs,
				     struct tacho_record *out);
/* Changes the struct perf_event_attr of such an event to that of the new records. 0 or -EINVAL. */
TACHO_API int tacho_unwinder_rewrite_attr(void *attr, size_t size, bool keep_regs);

struct tacho_unwind_counts {
	size_t size;
	uint64_t stacks, frames;
	uint64_t whole;			/* stacks that were walked up to their outermost frame */
	uint64_t truncated;		/* the copy of the stack was too short */
	uint64_t no_rule, irregular, invalid;	/* stacks that ended at such a frame */
};
TACHO_API int tacho_unwinder_counts(const struct tacho_unwinder *u, struct tacho_unwind_counts *out);

TACHO_END_DECLS
#endif
