/*
 * The decoder of one queue of Intel PT.
 *
 *	pt_decoder.c	runs of bytes -> instructions and events (libipt), synchronization, errors, time
 *	pt_flow.c	instructions -> branches, samples, call stacks
 *	pt_events.c	events -> ends of instructions, samples of ptwrite, power ...
 */
#ifndef AUXTRACE_PT_DECODER_H
#define AUXTRACE_PT_DECODER_H

#include "auxtrace/auxtrace.h"
#include "auxtrace/libipt.h"

/* An instruction whose successor is not known yet. */
struct pt_pending {
	uint64_t ip;
	enum pt_insn_class class;
	uint8_t n_bytes, bytes[4];	/* the first bytes, for far transfers */
	bool in_tx;
	bool valid;
};

struct pt_decoder {
	struct trace_decoder base;
	struct expansion *x;
	const struct aux_queue *queue;
	const struct libipt *lib;
	struct pt_config config;
	struct pt_image *image;
	struct pt_insn_decoder *insn;	/* NULL: between two runs */
	size_t run;			/* of queue->runs: the next one to open */
	uint8_t *bytes;
	uint64_t n_bytes, run_offset;	/* of the current run; its offset in the trace of the queue */
	int status;			/* of libipt: events are pending, end of the stream */
	bool synced, ended;

	uint64_t ticks, time;		/* of the packets that were read last */
	bool has_time;
	uint64_t position, n_since_packet, loop_ip;	/* to notice endless loops: see is_endless() */
	unsigned loop_check;
	uint64_t psb_offset;
	struct running_task task;
	int nomem;			/* -ENOMEM: in the callback */

	struct pt_pending pending;
	struct synth_error failure;	/* not written yet: its end is not known */
	bool has_failure;
	bool in_tx;
	uint64_t n_insns;		/* since the start */
	uint64_t n_insns_sampled, next_sample;
	uint32_t cbr;
	struct tacho_branch *branches;	/* the last ones: a ring */
	size_t n_branches, next_branch;
	uint64_t *chain;
	struct call_stack *stack;	/* of the current task */
	uint32_t stack_tid;
};

/* pt_flow.c. All return 0 or a negative errno. */
int pt_insn_executed(struct pt_decoder *d, const struct pt_insn *insn, struct tacho_error *e);
/* The pending instruction continues at `to` (0: unknown, the trace ends); `flags` are added to its own. */
int pt_end_pending(struct pt_decoder *d, uint64_t to, uint32_t flags, struct tacho_error *e);
int pt_branch(struct pt_decoder *d, uint64_t from, uint64_t to, uint32_t flags, unsigned n_bytes, struct tacho_error *e);
/* Fills in the fields that all samples share. */
void pt_fill_sample(const struct pt_decoder *d, struct synth_sample *x, uint64_t ip);
/* Adds call chain and last branches, if they are asked for. */
int pt_fill_stacks(struct pt_decoder *d, struct synth_sample *x);

/* pt_events.c */
int pt_event_happened(struct pt_decoder *d, const struct pt_event *ev, struct tacho_error *e);
int pt_psb_sample(struct pt_decoder *d, struct tacho_error *e);
int pt_cbr_sample(struct pt_decoder *d, uint64_t ip, struct tacho_error *e);

/* pt_decoder.c */
/* A sample of the PSB packet before the current position, unless it has one. */
int pt_notice_psb(struct pt_decoder *d, struct tacho_error *e);
int pt_note_error(struct pt_decoder *d, enum synth_error_code code, uint64_t ip, struct tacho_error *e);

#endif
