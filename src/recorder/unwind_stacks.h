/*
 * Unwinds stacks while recording: samples with a copy of the user stack are written with a plain call chain
 * instead, which makes the file 50 times smaller.
 *
 * Within a round all records are sorted by time, and the maps are those at the time of each sample. So that the
 * records of mappings are complete, the tracker's rings are drained once more after those of the samples.
 */
#ifndef RECORDER_UNWIND_STACKS_H
#define RECORDER_UNWIND_STACKS_H

#include "base/buf.h"
#include "base/int_map.h"

#include <tacho/recorder.h>
#include <tacho/unwind.h>

struct perf_event_attr;

struct stack_event {			/* an event of the sampler */
	struct tacho_layout layout;
	bool has_stack;			/* its samples have a copy of the stack */
	bool keeps_regs;		/* user registers were requested apart from that */
};

struct round_record {			/* a record of the current round */
	uint64_t time;
	size_t at;			/* offset in stack_recorder.round */
};

struct stack_recorder {
	struct tacho_symbols *symbols;
	struct tacho_unwinder *unwinder;
	struct tacho_scratch *scratch;
	struct { struct stack_event *v; size_t n, cap; } events;
	struct int_map event_of_id;	/* id in a record -> index */
	struct buf round;		/* records as they were drained */
	struct buf next;		/* the tracker's records that arrived meanwhile, for the next round */
	struct { struct round_record *v; size_t n, cap; } order;
	struct buf out;			/* records to be written */
	unsigned rounds;
};

/* Whether an open event of the sampler records copies of the stack. */
bool stack_recorder_is_needed(const struct tacho_sampler *s);
int stack_recorder_new(struct stack_recorder **out, const struct tacho_sampler *s);	/* 0 or a negative errno */
void stack_recorder_free(struct stack_recorder *r);
void stack_recorder_stats(const struct stack_recorder *r, struct tacho_recorder_stats *out);
/* Changes an event's attr to describe the samples that are written. */
void stack_recorder_attr(const struct stack_recorder *r, size_t event, struct perf_event_attr *attr);
/* Takes note of mappings and tasks in records that are written elsewhere. 0, -ENOMEM. A tacho_bytes_fn. */
int stack_recorder_feed(void *stack_recorder, const void *bytes, size_t n);
/* Drains all rings, and passes the records to `fn`. As tacho_sampler_drain(). */
int64_t stack_recorder_drain(struct stack_recorder *r, struct tacho_sampler *s, tacho_bytes_fn *fn, void *arg);

#endif
