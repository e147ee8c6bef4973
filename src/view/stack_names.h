/*
 * Names of the functions in stacks. The mappings of processes come from a sampler's tracker, so that stacks of processes
 * that have ended are named too.
 */
#ifndef VIEW_STACK_NAMES_H
#define VIEW_STACK_NAMES_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "bpf/view_program.h"

#include <tacho/sampler.h>
#include <tacho/symbol.h>

struct stack_names {
	struct tacho_symbols *symbols;
	struct tacho_sampler *own;	/* opened for its tracker only; NULL: the caller's */
	struct tacho_scratch *scratch;
	struct tacho_layout layout;	/* of synthesized records */
	struct buf *records;		/* if not NULL: records that describe mappings and tasks are stored here, and only the
					 * kernel's functions have names */
	struct arena texts;
	struct map interned;
};

/* `sampler` is open, or NULL: one is opened whose tracker is drained by stack_names_update(). */
int stack_names_init(struct stack_names *n, struct tacho *t, struct tacho_sampler *sampler, bool with_processes,
		     struct buf *records, struct tacho_error *e);
void stack_names_done(struct stack_names *n);
int stack_names_feed(struct stack_names *n, const struct tacho_record *rec, const struct tacho_sideband *s);
int stack_names_update(struct stack_names *n);	/* reads what the own tracker has recorded */
/* The name of a function, valid as long as *n. NULL: out of memory. */
const char *stack_names_get(struct stack_names *n, uint32_t pid, bool is_kernel, uint64_t ip, bool is_caller);

#endif
